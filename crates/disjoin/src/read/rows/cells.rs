//! Rows of texts: from a database, or from wherever else.
//!
//! What has no value is an empty cell. The set-valued column may be an array by its type.
//!
//! Checked by: tests in this file, `crates/disjoin-databases/tests/it/same.rs`

use super::roles::{Planned, plan};
use super::sink::{Lists, Sink};
use super::{Body, Declared, Finished, TableIntake, n_missing};
use crate::data::Table;
use crate::data::table::Role;
use crate::error::{Error, Place, Result};
use crate::observer::{Observer, Unobserved};
use crate::read::array::elements;
use crate::read::builder::too_long;
use crate::read::records::not_a_format;
use crate::read::source::{Incoming, Rows, of_header};
use crate::read::text::check_separator;
use crate::read::{Format, Options};

/// Makes a table of rows, wherever they come from.
pub fn table_of_rows(rows: Rows<'_>, options: &Options, declared: &Declared) -> Result<(Table, TableIntake)> {
    table_of_rows_with(rows, options, declared, &Unobserved)
}

pub(in crate::read) fn table_of_rows_with(
    rows: Rows<'_>,
    options: &Options,
    declared: &Declared,
    observer: &dyn Observer,
) -> Result<(Table, TableIntake)> {
    check_separator("list-separator", declared.list_separator)?;
    if rows.format == Format::Database && !matches!(options.format, None | Some(Format::Table)) {
        return Err(not_a_format());
    }
    let Rows { name, header, arrays, rows, format, told } = rows;
    let mut body = Body::new(plan(&name, &header, declared).map_err(of_header)?);
    for &at in &arrays {
        if body.plan.get(at).is_some_and(|column| column.role == Role::Set) {
            body.sinks[at] = Sink::Lists(Lists::default());
        }
    }
    let mut rows = Incoming::new(&name, header.len(), rows, told.clone(), observer);
    for row in rows.by_ref() {
        let (number, row) = row?;
        for ((sink, column), cell) in body.sinks.iter_mut().zip(&body.plan).zip(&row) {
            let text = cell.as_deref().unwrap_or_default();
            match sink {
                Sink::Lists(lists) => push_array(lists, text, column, options.max_record_terms, &name, number)?,
                sink => sink.push(text, column, &declared.missing, &name, number)?,
            }
        }
        body.n_rows += 1;
    }
    let (bytes, sha256) = rows.finish();
    body.reading = told.reading();
    let Finished { table, reading, readings, people, several } =
        body.finish(&name, declared, options.max_record_terms)?;
    reading.notes().iter().for_each(|note| observer.warn(note));
    let (n_rows, missing) = (table.n_rows() as u64, n_missing(&table));
    let format = format.to_string();
    let intake = TableIntake {
        file: name,
        format,
        bytes,
        sha256,
        rows: n_rows,
        columns: header,
        missing,
        reading,
        column_readings: readings,
        people,
        several,
    };
    Ok((table, intake))
}

/// Adds a row to a column of arrays. As in Parquet, an item without a value is none.
fn push_array(lists: &mut Lists, text: &str, column: &Planned, most: usize, name: &str, number: u64) -> Result<()> {
    let fault = |problem| Error::input(Place::line(name, number).in_column(&column.name), problem);
    let items = if text.is_empty() { Vec::new() } else { elements(text).map_err(fault)? };
    if items.len() > most {
        return Err(too_long(name, number, most));
    }
    for item in items.into_iter().flatten() {
        lists.term(&item, column, name, number)?;
    }
    lists.end_row();
    Ok(())
}

#[cfg(test)]
mod tests {
    use Role::{Identifier, Quasi, Set};

    use super::*;

    fn cell(text: &str) -> Option<String> {
        (text != "-").then(|| text.to_owned())
    }

    fn made(rows: &[[&str; 3]], arrays: &[usize], options: &Options) -> Result<(Table, TableIntake)> {
        let roles = [("id", Identifier), ("a", Quasi), ("s", Set)].map(|(name, role)| (name.to_owned(), role)).to_vec();
        let declared = Declared { roles, numeric: vec!["a".into()], missing: vec!["NA".into()], ..Declared::default() };
        let header = ["id", "a", "s"].map(String::from).to_vec();
        let rows: Vec<_> = rows.iter().map(|row| Ok(row.iter().map(|text| cell(text)).collect())).collect();
        let rows = Rows { arrays: arrays.to_vec(), ..Rows::new("db", header, rows.into_iter()) };
        table_of_rows(rows, options, &declared)
    }

    #[test]
    fn rows_make_the_table_that_a_file_makes() {
        for (arrays, sets) in [(&[][..], ["p;q", "-", "q"]), (&[2], ["{p,NULL,\"q\"}", "-", "{q}"])] {
            let rows = [["x", "5", sets[0]], ["-", "-", sets[1]], ["-", "", sets[2]], ["-", "NA", "-"]];
            let (table, intake) = made(&rows, arrays, &Options::default()).unwrap();
            let column = &table.columns[0];
            let texts: Vec<&str> = column.codes.iter().map(|&code| column.domain.text(code)).collect();
            assert_eq!(texts, ["5", "", "", ""]);
            let sets = table.sets.unwrap();
            assert_eq!(sets.of_row, [Some(0), None, Some(1), None]);
            assert_eq!(sets.dictionary.iter().collect::<Vec<_>>(), ["p", "q"]);
            assert_eq!((intake.rows, intake.missing, intake.columns.len()), (4, 3, 3));
            assert_eq!((intake.format.as_str(), intake.file.as_str()), ("database", "db"));
        }
    }

    #[test]
    fn the_digest_knows_the_same_rows_again() {
        let digest = |rows: &[[&str; 3]]| made(rows, &[], &Options::default()).unwrap().1;
        let first = digest(&[["x", "1", "p"]]);
        assert_eq!((first.bytes, digest(&[["x", "1", "p"]]) == first), (3, true));
        for other in [["x1", "1", "p"], ["-", "1", "p"], ["", "1", "p"], ["x", "1", "-"]] {
            assert_ne!(digest(&[other]).sha256, first.sha256);
        }
        assert_ne!(digest(&[["-", "1", "p"]]).sha256, digest(&[["", "1", "p"]]).sha256);
    }

    #[test]
    fn faults_name_their_row_and_no_value() {
        let few = Options { max_record_terms: 1, ..Options::default() };
        let basket = Options { format: Some(Format::Basket), ..Options::default() };
        for (row, arrays, options, place) in [
            (["x", "secret", "-"], &[][..], Options::default(), "db:2 (column a): "),
            (["x", "-", "secret\u{7}"], &[], Options::default(), "db:2 (column s): "),
            (["x", "-", "{secret}"], &[], Options::default(), "db:2 (column s): the cell is written as an array"),
            (["x", "-", "secret"], &[2], Options::default(), "db:2 (column s): the cell is not an array"),
            (["x", "-", "{secret,b}"], &[2], few, "db:2: the record has more than 1 terms"),
            (["x", "-", "secret"], &[], basket, "format: "),
        ] {
            let error = made(&[["-", "-", "-"], row], arrays, &options).unwrap_err();
            assert!(error.to_string().starts_with(place), "{error}");
            assert!(!format!("{error:?}").contains("secret"), "{error:?}");
        }
    }
}
