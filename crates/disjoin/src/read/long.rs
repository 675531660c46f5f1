//! Long CSV: one (id, item) pair a row.
//!
//! Rows of one id need not be adjacent; records come in the order of their ids' first appearance, and the ids are not
//! kept. The columns are those named in the options, else the one id-like and the one item-like name of the header, else
//! the first two. The first row is a header if the options name columns, if its names look like an id and an item, or
//! if its id is not a number while all others near it are. An empty id is an error, an empty item adds nothing.

use std::borrow::Cow;
use std::io::{self, Write};

use super::builder::{Counts, check_count, too_long};
use super::readings::{SEPARATORS, of_table};
use super::recognise::{Kind, kind_of, sample_rows};
use super::text::{Rows, head, is_blank_row, lines_with, write_fields};
use super::{Options, Separated};
use crate::data::{Dataset, Dictionary, TermId};
use crate::error::{Error, Place, Result};
use crate::observer::Observer;

/// Reads long CSV.
pub(super) fn read(name: &str, text: &str, options: &Options, observer: &dyn Observer) -> Result<Separated> {
    let separator = options.separator_or(|| find_separator(name, text, options))?;
    let mut rows = Rows::new(name, text, separator);
    let mut row = Vec::new();
    let mut line = rows.next(&mut row)?;
    while line.is_some() && is_blank_row(&row) {
        line = rows.next(&mut row)?;
    }
    let width = row.len();
    let header: Vec<String> = row.iter().map(|cell| cell.clone().into_owned()).collect();
    let columns = choose_columns(name, &row, &sample_rows(name, text, separator)?, options)?;
    // Names of columns may be told, values may not.
    let header = if columns.has_header { header } else { vec![String::new(); width] };
    if columns.has_header {
        line = rows.next(&mut row)?;
    }
    let mut groups = Groups::new(name, options.max_record_terms, observer);
    let mut blank_lines = 0;
    while let Some(number) = line {
        if !is_blank_row(&row) {
            if row.len() != width {
                return Err(wrong_width(name, number, row.len(), &header));
            }
            groups.add(&row[columns.id], &row[columns.item], number)?;
        } else {
            blank_lines += 1;
        }
        line = rows.next(&mut row)?;
    }
    let (dataset, mut counts) = groups.finish()?;
    (counts.blank_lines, counts.trimmed_cells) = (blank_lines, rows.trimmed());
    Ok((dataset, counts, separator))
}

/// As of a table; where nothing but spaces can separate, they do.
fn find_separator(name: &str, text: &str, options: &Options) -> Result<u8> {
    let occurs = lines_with(head(text), SEPARATORS, true).iter().any(|&lines| lines > 0);
    match occurs {
        true => of_table(name, text),
        false if options.id_column.is_none() && !head(text).trim().contains(' ') => Ok(b','),
        false => Ok(b' '),
    }
}

/// Writes long CSV; the ids are the records' numbers from 1.
pub(super) fn write(dataset: &Dataset, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "id,item")?;
    for (position, record) in dataset.records.iter().enumerate() {
        for &term in record {
            write!(out, "{},", position + 1)?;
            write_fields(std::iter::once(dataset.dictionary.text(term)), b',', out)?;
            writeln!(out)?;
        }
    }
    Ok(())
}

/// Where ids and items are, and whether the first row names the columns.
pub(super) struct Columns {
    pub(super) id: usize,
    pub(super) item: usize,
    has_header: bool,
}

/// Chooses the columns by the first row and the rows near it.
pub(super) fn choose_columns(
    name: &str,
    first: &[Cow<'_, str>],
    sample: &[Vec<Cow<'_, str>>],
    options: &Options,
) -> Result<Columns> {
    if first.len() < 2 {
        let problem = "the long format needs two columns, an id and an item";
        return Err(Error::input(Place::line(name, 1), problem).with_hint("say what separates them with --separator"));
    }
    let of_kind = |kind| {
        let mut found = first.iter().enumerate().filter(move |(_, name)| kind_of(name) == Some(kind));
        (found.next().map(|(index, _)| index), found.next().is_some())
    };
    let ((id_like, more_ids), (item_like, more_items)) = (of_kind(Kind::Id), of_kind(Kind::Item));
    let named = options.id_column.is_some() || options.item_column.is_some();
    if named || (id_like.is_some() && item_like.is_some()) {
        let unsure = |wanted: &str| {
            Error::input(Place::line(name, 1), format!("cannot tell which column holds the {wanted}s"))
                .with_hint(format!("name it with --{wanted}-column; the header has {}", first.join(", ")))
        };
        let choose = |column: &Option<String>, like: Option<usize>, more: bool, wanted| match column {
            Some(column) => position_of(name, first, column),
            None => like.filter(|_| !more).ok_or_else(|| unsure(wanted)),
        };
        let id = choose(&options.id_column, id_like, more_ids, "id")?;
        let item = choose(&options.item_column, item_like, more_items, "item")?;
        if id == item {
            return Err(Error::recipe("item-column", "is the same as the id column", "name two different columns"));
        }
        return Ok(Columns { id, item, has_header: true });
    }
    let is_number = |row: &Vec<Cow<'_, str>>| row[0].parse::<f64>().is_ok();
    let has_header = match sample {
        [first, others @ ..] => !is_number(first) && !others.is_empty() && others.iter().all(is_number),
        [] => false,
    };
    Ok(Columns { id: 0, item: 1, has_header })
}

/// The position of a named column in a header.
pub(super) fn position_of(name: &str, header: &[Cow<'_, str>], column: &str) -> Result<usize> {
    let mut found = header.iter().enumerate().filter(|(_, name)| *name == column).map(|(index, _)| index);
    let fault = |problem: &str| {
        Error::input(Place::line(name, 1).in_column(column), problem)
            .with_hint(format!("the header has {}", header.join(", ")))
    };
    match (found.next(), found.next()) {
        (Some(index), None) => Ok(index),
        (Some(_), Some(_)) => Err(fault("the header has this name twice")),
        (None, _) => Err(fault("the header has no such name")),
    }
}

/// The error for a row that does not fit the header, by the names of columns; those of a file without a header are empty.
pub(super) fn wrong_width(name: &str, line: u64, fields: usize, header: &[String]) -> Error {
    let cells = |n: usize| if n == 1 { String::from("1 field") } else { format!("{n} fields") };
    let more = match header.get(fields) {
        None => format!(": field {} has no column", header.len() + 1),
        Some(column) if column.is_empty() => String::new(),
        Some(column) => format!(": nothing is left for the column {column}"),
    };
    let problem = format!("has {} where the first line has {}{more}", cells(fields), header.len());
    Error::input(Place::line(name, line), problem)
        .with_hint("quote fields that hold the separator, or say what separates them with --separator")
}

/// Collects (id, item) pairs into records.
pub(super) struct Groups<'a> {
    name: &'a str,
    limit: usize,
    ids: Dictionary,
    sizes: Vec<usize>,
    dictionary: Dictionary,
    pairs: Vec<(TermId, TermId)>,
    empty_terms: u64,
    observer: &'a dyn Observer,
}

impl<'a> Groups<'a> {
    pub(super) fn new(name: &'a str, limit: usize, observer: &'a dyn Observer) -> Self {
        Groups {
            name,
            limit,
            ids: Dictionary::default(),
            sizes: Vec::new(),
            dictionary: Dictionary::default(),
            pairs: Vec::new(),
            empty_terms: 0,
            observer,
        }
    }

    pub(super) fn add(&mut self, id: &str, item: &str, line: u64) -> Result<()> {
        self.observer.check();
        if id.is_empty() {
            return Err(Error::input(Place::line(self.name, line), "has no id"));
        }
        let group = self.ids.intern(id);
        if group as usize == self.sizes.len() {
            check_count(self.name, self.sizes.len() + 1)?;
            self.sizes.push(0);
        }
        if item.is_empty() {
            self.empty_terms += 1;
            return Ok(());
        }
        let size = &mut self.sizes[group as usize];
        *size += 1;
        if *size > self.limit {
            return Err(too_long(self.name, line, self.limit));
        }
        self.pairs.push((group, self.dictionary.intern(item)));
        Ok(())
    }

    pub(super) fn finish(self) -> Result<(Dataset, Counts)> {
        // A counting sort by group: `starts` moves from the beginning of each group to its end.
        let mut starts = Vec::with_capacity(self.sizes.len());
        let mut total = 0;
        for &size in &self.sizes {
            starts.push(total);
            total += size;
        }
        let mut terms = vec![0; total];
        for &(group, term) in &self.pairs {
            terms[starts[group as usize]] = term;
            starts[group as usize] += 1;
        }
        // Records come in the order of ids but terms in the order of rows: number the terms anew by first appearance.
        let mut dataset = Dataset::default();
        let mut counts = Counts { empty_terms: self.empty_terms, ..Counts::default() };
        let mut rename = vec![None; self.dictionary.len()];
        let mut record = Vec::new();
        for (&end, &size) in starts.iter().zip(&self.sizes) {
            record.clear();
            for &term in &terms[end - size..end] {
                let new =
                    *rename[term as usize].get_or_insert_with(|| dataset.dictionary.intern(self.dictionary.text(term)));
                record.push(new);
            }
            counts.empty_records += u64::from(record.is_empty());
            counts.duplicate_terms += dataset.records.push(&mut record) as u64;
        }
        Ok((dataset, counts))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, check_fault, read_as, round_trip, texts};
    use super::super::{Format, read_bytes};
    use super::*;

    #[test]
    fn rows_of_one_id_need_not_be_adjacent() {
        check("x.csv", "id,item\n7,b\n3,a\n7,c\n\n7,b\n", &[&["b", "c"], &["a"]]);
        check("x.tsv", "TransactionID\titemDescription\r\n7\tb, c\r\n3\ta\r\n7\tc\r\n", &[&["b, c", "c"], &["a"]]);
    }

    #[test]
    fn columns_may_be_named_or_guessed() {
        let read = |text: &str, id: Option<&str>, item: Option<&str>| {
            let options = Options {
                id_column: id.map(str::to_owned),
                item_column: item.map(str::to_owned),
                ..read_as(Format::Long)
            };
            read_bytes("x", text.as_bytes(), &options).map(|(dataset, _)| texts(&dataset))
        };
        assert_eq!(read("day,what,who\n1,a,x\n2,b,x\n", Some("who"), Some("what")).unwrap(), [["a", "b"]]);
        assert_eq!(read("1,a\n2,a\n1,b\n", None, None).unwrap(), [vec!["a", "b"], vec!["a"]]);
        assert_eq!(read("who,what\n1,a\n1,b\n", None, None).unwrap(), [["a", "b"]]);
        assert_eq!(read("1 a\n1 b\n", None, None).unwrap(), [["a", "b"]]);
        for (id, item) in [(Some("nobody"), Some("what")), (Some("who"), None), (Some("who"), Some("who"))] {
            assert!(read("who,what\n1,a\n", id, item).is_err());
        }
        assert!(read("user_id,order_id,product\n1,2,a\n", None, None).is_err());
    }

    #[test]
    fn what_is_left_out_is_counted() {
        let (dataset, intake) = read_bytes("x.csv", b"id,item\n1,\n2,a\n2,a\n2,\n", &Options::default()).unwrap();
        assert_eq!(texts(&dataset), [["a"]]);
        assert_eq!((intake.empty_records, intake.empty_terms, intake.duplicate_terms), (1, 2, 1));
    }

    #[test]
    fn faults_name_their_line() {
        check_fault("x.csv", "id,item\n1,a\n1\n1,b\n", Some(1));
        for (text, line) in [("id,item\n1,a\n1\n", 3), ("id,item\n1,a\n,b\n", 3), ("id,item\n1,a,b", 2), ("id\n1", 1)] {
            let error = read_bytes("x", text.as_bytes(), &read_as(Format::Long)).unwrap_err();
            assert!(matches!(&error, Error::Input { place, .. } if place.line == Some(line)), "{text:?}: {error}");
        }
        let limited = Options { max_record_terms: 2, ..Options::default() };
        let error = read_bytes("x.csv", b"id,item\n1,a\n2,a\n1,b\n1,c\n", &limited).unwrap_err();
        assert!(matches!(error, Error::Input { place, .. } if place.line == Some(5)));
    }

    #[test]
    fn round_trips() {
        round_trip(Format::Long, "x.csv", &read_as(Format::Long));
    }
}
