//! Rows of texts become records: by a list column, or by an id and an item column.
//!
//! The columns are chosen as in CSV files with a header: those that the options name, else the only column, else the only
//! array, else two columns whose names look like an id and an item. Anything else is an error that lists the names. Lists
//! in a cell are taken apart as in CSV; arrays by their type are taken apart as the database writes them.
//!
//! Promises:   the records that the same table gives as a CSV file
//! Cost:       the cells of a list column are in memory until all are read: what separates their terms is known then
//! Checked by: tests in this file, `crates/disjoin-databases/tests/it/same.rs`

use std::borrow::Cow;

use super::array::elements;
use super::builder::{Builder, Counts};
use super::long::{Groups, choose_columns, position_of};
use super::recognise::{Kind, check_pairs, kind_of};
use super::source::{Incoming, Row, Rows, of_header};
use super::table;
use super::text::check_separator;
use super::{Format, Intake, Options, Parsed, made};
use crate::data::Dataset;
use crate::error::{Error, Place, Result};
use crate::observer::{Observer, Unobserved};

/// So many rows are looked at to tell items from lists.
const SAMPLE: usize = 1000;

/// Makes records of rows, wherever they come from.
pub fn sets_of_rows(rows: Rows<'_>, options: &Options) -> Result<(Dataset, Intake)> {
    sets_of_rows_with(rows, options, &Unobserved)
}

pub(super) fn sets_of_rows_with(
    rows: Rows<'_>,
    options: &Options,
    observer: &dyn Observer,
) -> Result<(Dataset, Intake)> {
    check_separator("list-separator", options.list_separator)?;
    let options = &options.with_person()?;
    let Rows { name, header, arrays, rows, format, told } = rows;
    let mut rows = Incoming::new(&name, header.len(), rows, told.clone(), observer);
    let sample: Vec<(u64, Row)> = rows.by_ref().take(SAMPLE).collect::<Result<_>>()?;
    let asked = if format == Format::Database { options.format } else { options.format.filter(|f| *f == Format::Long) };
    // The item column of a joined table has become the list.
    let item_column = options.item_column.clone().filter(|_| options.join.is_none());
    let options = &Options { format: asked, item_column, ..options.clone() };
    let columns = choose(&name, &header, &arrays, &sample, options).map_err(of_header)?;
    let names: Vec<Cow<'_, str>> = header.iter().map(|name| Cow::Borrowed(name.as_str())).collect();
    let is_list = matches!(columns, Columns::List(_));
    let person = options.person.as_ref().filter(|_| is_list);
    let person = person.map(|person| position_of(&name, &names, person)).transpose().map_err(of_header)?;
    let all = sample.into_iter().map(Ok).chain(rows.by_ref());
    let reader = Reader { name: &name, options, observer };
    let (dataset, counts) = match columns {
        Columns::List(at) => {
            let of = Lists { column: &header[at], at, person };
            if arrays.contains(&at) { reader.arrays(&of, all) } else { reader.lists(&of, all) }
        }
        Columns::Long { id, item } => reader.pairs(id, item, all),
    }?;
    let (bytes, sha256) = rows.finish();
    // In the long format whoever is named by an id is a person.
    let shape = if is_list { format } else { Format::Long };
    let parsed = Parsed { format: shape, dataset, counts, reading: told.reading() };
    let (dataset, intake) = made(&name, (bytes, sha256), parsed, options, observer)?;
    Ok((dataset, Intake { format, ..intake }))
}

enum Columns {
    List(usize),
    Long { id: usize, item: usize },
}

fn choose(
    name: &str,
    header: &[String],
    arrays: &[usize],
    sample: &[(u64, Row)],
    options: &Options,
) -> Result<Columns> {
    let names: Vec<Cow<'_, str>> = header.iter().map(|name| Cow::Borrowed(name.as_str())).collect();
    let is_long = match options.format {
        Some(Format::Long) => true,
        Some(Format::Table) => false,
        Some(_) => return Err(not_a_format()),
        None => options.column.is_none() && (options.id_column.is_some() || options.item_column.is_some()),
    };
    if is_long {
        let columns = choose_columns(name, &names, &[], options)?;
        return long(name, header, arrays, columns.id, columns.item);
    }
    if let Some(column) = &options.column {
        return position_of(name, &names, column).map(Columns::List);
    }
    let kinds: Vec<_> = header.iter().map(|name| kind_of(name)).collect();
    match (arrays, &kinds[..]) {
        ([at], _) => Ok(Columns::List(*at)),
        ([], [_]) => Ok(Columns::List(0)),
        ([], [Some(Kind::Id), Some(Kind::Item)]) if options.format.is_none() => pair(name, header, 0, 1, sample),
        ([], [Some(Kind::Item), Some(Kind::Id)]) if options.format.is_none() => pair(name, header, 1, 0, sample),
        _ => {
            let problem = "the table has several columns, and none is named as the list of terms";
            Err(Error::input(Place::file(name), problem).with_hint(format!(
                "name the list column with --column, or an --id-column and an --item-column; the table has {}",
                header.join(", ")
            )))
        }
    }
}

/// Refuses what is said of files only.
pub(super) fn not_a_format() -> Error {
    Error::recipe("format", "is for files, and these data are in a database", "leave it out, or say csv or long")
}

/// The two columns, if each row can be one item.
fn long(name: &str, header: &[String], arrays: &[usize], id: usize, item: usize) -> Result<Columns> {
    match [id, item].into_iter().find(|at| arrays.contains(at)) {
        None => Ok(Columns::Long { id, item }),
        Some(at) => Err(Error::input(Place::file(name).in_column(&header[at]), "is an array")
            .with_hint("name the list column with --column")),
    }
}

/// The two columns by their names, unless their cells contradict them.
fn pair(name: &str, header: &[String], id: usize, item: usize, sample: &[(u64, Row)]) -> Result<Columns> {
    let pairs: Vec<(&str, &str)> = sample.iter().map(|(_, row)| (text(row, id), text(row, item))).collect();
    check_pairs(name, &header.join(", "), &pairs)?;
    Ok(Columns::Long { id, item })
}

/// What has no value is empty.
fn text(row: &Row, at: usize) -> &str {
    row[at].as_deref().unwrap_or_default()
}

/// A column of lists, and the one that names people, if any does.
struct Lists<'a> {
    column: &'a str,
    at: usize,
    person: Option<usize>,
}

/// Whose rows are read, and how.
struct Reader<'a> {
    name: &'a str,
    options: &'a Options,
    observer: &'a dyn Observer,
}

impl Reader<'_> {
    /// Records in the cells of a column.
    fn lists(&self, of: &Lists<'_>, rows: impl Iterator<Item = Result<(u64, Row)>>) -> Result<(Dataset, Counts)> {
        let &Lists { column, at, person } = of;
        let (mut cells, mut persons) = (table::Cells::new(), person.map(|_| Vec::new()));
        for row in rows {
            let (number, mut row) = row?;
            if let (Some(person), Some(persons)) = (person, &mut persons) {
                persons.push(Cow::from(row[person].clone().unwrap_or_default()));
            }
            cells.push((number, Cow::from(row.swap_remove(at).unwrap_or_default())));
        }
        table::records(self.name, column, &cells, persons.as_deref(), self.options, self.observer)
    }

    /// The same, where a cell is an array by its type.
    fn arrays(&self, of: &Lists<'_>, rows: impl Iterator<Item = Result<(u64, Row)>>) -> Result<(Dataset, Counts)> {
        let &Lists { column, at, person } = of;
        let mut builder = Builder::new(self.name, self.options.max_record_terms, self.observer);
        for row in rows {
            let (number, row) = row?;
            let fault = |problem| Error::input(Place::line(self.name, number).in_column(column), problem);
            if let Some(person) = person {
                builder.person(text(&row, person), number)?;
            }
            for element in row[at].as_deref().map_or(Ok(Vec::new()), elements).map_err(fault)? {
                let null = || fault("an item is null").with_hint("remove the nulls, or give them a name");
                builder.term(&element.ok_or_else(null)?);
            }
            builder.end_record(number)?;
        }
        Ok(builder.finish())
    }

    /// Records of rows with an id and an item each.
    fn pairs(
        &self,
        id: usize,
        item: usize,
        rows: impl Iterator<Item = Result<(u64, Row)>>,
    ) -> Result<(Dataset, Counts)> {
        let mut groups = Groups::new(self.name, self.options.max_record_terms, self.observer);
        for row in rows {
            let (number, row) = row?;
            groups.add(text(&row, id), text(&row, item), number)?;
        }
        groups.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::texts;
    use super::*;

    fn given(header: &[&str], arrays: &[usize], rows: &[&[&str]]) -> Rows<'static> {
        let cell = |text: &&str| (*text != "-").then(|| text.to_string());
        let rows: Vec<Result<Row>> = rows.iter().map(|row| Ok(row.iter().map(cell).collect())).collect();
        let header = header.iter().map(|name| name.to_string()).collect();
        Rows { arrays: arrays.to_vec(), ..Rows::new("db", header, rows.into_iter()) }
    }

    fn column(name: &str) -> Options {
        Options { column: Some(name.into()), ..Options::default() }
    }

    #[test]
    fn lists_and_arrays_and_pairs() {
        let rows: [&[&str]; 4] = [&["30", "b;a;b"], &["40", "-"], &["50", " c ;a"], &["60", ""]];
        let (dataset, intake) = sets_of_rows(given(&["age", "codes"], &[], &rows), &column("codes")).unwrap();
        assert_eq!(texts(&dataset), [["b", "a"], ["a", "c"]]);
        let counts = (intake.records, intake.empty_records, intake.duplicate_terms);
        assert_eq!((counts, intake.format, intake.file.as_str()), ((2, 2, 1), Format::Database, "db"));

        let rows: [&[&str]; 4] = [&["30", "{b,\"a;b\",b}"], &["40", "-"], &["50", "{c}"], &["60", "{}"]];
        for options in [Options::default(), column("codes")] {
            let (dataset, intake) = sets_of_rows(given(&["age", "codes"], &[1], &rows), &options).unwrap();
            assert_eq!(texts(&dataset), [vec!["b", "a;b"], vec!["c"]]);
            assert_eq!((intake.empty_records, intake.duplicate_terms), (2, 1));
        }

        let rows: [&[&str]; 4] = [&["b", "7"], &["a", "3"], &["c", "7"], &["-", "3"]];
        let named = |id: &str, item: &str| Options {
            id_column: Some(id.into()),
            item_column: Some(item.into()),
            ..Options::default()
        };
        for (header, options) in
            [(["product", "order_id"], Options::default()), (["what", "who"], named("who", "what"))]
        {
            let (dataset, intake) = sets_of_rows(given(&header, &[], &rows), &options).unwrap();
            assert_eq!(texts(&dataset), [vec!["b", "c"], vec!["a"]]);
            assert_eq!(intake.empty_terms, 1);
        }
    }

    #[test]
    fn what_can_be_read_in_two_ways_is_refused() {
        let as_format = |format| Options { format: Some(format), ..Options::default() };
        let id_only = Options { id_column: Some("who".into()), ..Options::default() };
        for (header, arrays, row, options, expected) in [
            (["who", "what"], &[][..], ["1", "a"], Options::default(), "db: the table has several columns"),
            (["who", "what"], &[0, 1], ["{1}", "{a}"], Options::default(), "db: the table has several columns"),
            (["id", "item"], &[], ["1", "a"], as_format(Format::Table), "db: the table has several columns"),
            (["id", "items"], &[], ["1", "a;b"], Options::default(), "db: the table (id, items) has one row for each"),
            (["who", "what"], &[], ["1", "a"], id_only, "db: cannot tell which column holds the items"),
            (["who", "what"], &[], ["1", "a"], column("why"), "db (column why): the header has no such name"),
            (["id", "item"], &[1], ["1", "{secret}"], as_format(Format::Long), "db (column item): is an array"),
            (["id", "item"], &[], ["1", "a"], as_format(Format::Basket), "format: is for files"),
            (["who", "what"], &[], ["1", "['secret']"], column("what"), "db:1 (column what): the cell is written as"),
            (["who", "what"], &[], ["1", "{secret,b}"], column("what"), "db:1 (column what): the cell is written as"),
            (["who", "what"], &[], ["1", "a secret"], column("what"), "db:1 (column what): cannot tell whether blanks"),
            (["who", "what"], &[1], ["1", "{secret"], column("what"), "db:1 (column what): the cell is not an array"),
            (["who", "what"], &[1], ["1", "{secret,NULL}"], column("what"), "db:1 (column what): an item is null"),
            (["who", "what"], &[1], ["1", "{}"], column("what"), "db: holds no record"),
            (["id", "item"], &[], ["-", "secret"], Options::default(), "db:1: has no id"),
        ] {
            let error = sets_of_rows(given(&header, arrays, &[&row]), &options).unwrap_err();
            assert!(error.to_string().starts_with(expected), "{error}");
            assert!(!format!("{error:?}").contains("secret"), "{error:?}");
        }
        let error = sets_of_rows(given(&["who", "what"], &[], &[]), &Options::default()).unwrap_err();
        assert!(error.hint().is_some_and(|hint| hint.contains("who, what")), "{error:?}");
        let error = sets_of_rows(given(&["a", "b"], &[], &[&["1"]]), &column("b")).unwrap_err();
        assert_eq!(error.to_string(), "db:1: the row has 1 cells where the header has 2");
    }
}
