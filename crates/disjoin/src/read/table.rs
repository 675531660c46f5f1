//! CSV with a header, where one column holds a list of terms and the others are ignored.
//!
//! A cell is a small basket line: terms between list separators, quoted inside the cell where they hold one. The list
//! separator is the one of `;`, `|` and `,` that occurs in the column outside quotes; if several occur, or none but
//! blanks do, it must be named. Cells written as arrays (`[...]`, `{...}`) are an error: they follow other rules.

use std::borrow::Cow;
use std::io::{self, Write};

use super::Options;
use super::builder::{Builder, Counts};
use super::long::{position_of, wrong_width};
use super::text::{Rows, bad_quote, detect_separator, field, head, is_blank_row, lines_with, write_fields};
use crate::data::Dataset;
use crate::error::{Error, Place, Result};
use crate::observer::Observer;

/// Reads the list column of a CSV table.
pub(super) fn read(name: &str, text: &str, options: &Options, observer: &dyn Observer) -> Result<(Dataset, Counts)> {
    let separator =
        options.separator.or_else(|| detect_separator(head(text), [b'\t', b';', b','], true)).unwrap_or(b',');
    let (column, cells) = list_cells(name, text, separator, options, observer)?;
    records(name, &column, &cells, options, observer)
}

/// Takes the cells of a list column apart: each is a record.
pub(super) fn records(
    name: &str,
    column: &str,
    cells: &Cells<'_>,
    options: &Options,
    observer: &dyn Observer,
) -> Result<(Dataset, Counts)> {
    let list_separator = match options.list_separator {
        Some(separator) => separator,
        None => find_list_separator(name, column, cells)?,
    };
    let mut builder = Builder::new(name, options.max_record_terms, observer);
    for (line, cell) in cells {
        let mut at = 0;
        loop {
            let (term, stop) =
                field(cell, at, list_separator, true).map_err(|problem| bad_quote(name, *line, problem))?;
            if list_separator != b' ' || !term.is_empty() {
                builder.term(&term);
            }
            at = stop + 1;
            if stop >= cell.len() {
                break;
            }
        }
        builder.end_record(*line)?;
    }
    Ok(builder.finish())
}

/// Writes a table of the one column `items`, with semicolons between the terms of a cell.
pub(super) fn write(dataset: &Dataset, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "items")?;
    let mut cell = Vec::new();
    // Where no cell has a semicolon, quotes say that blanks and commas belong to the terms.
    let is_plain = dataset.records.iter().all(|record| record.len() < 2);
    for record in dataset.records.iter() {
        cell.clear();
        let texts = record.iter().map(|&term| dataset.dictionary.text(term));
        match is_plain {
            true => texts.into_iter().for_each(|text| {
                cell.extend_from_slice(format!("\"{}\"", text.replace('"', "\"\"")).as_bytes());
            }),
            false => write_fields(texts, b';', &mut cell)?,
        }
        let cell = str::from_utf8(&cell).map_err(io::Error::other)?;
        writeln!(out, "\"{}\"", cell.replace('"', "\"\""))?;
    }
    Ok(())
}

/// Cells with their lines, or rows.
pub(super) type Cells<'a> = Vec<(u64, Cow<'a, str>)>;

/// The name of the list column, and its cells with their lines.
fn list_cells<'a>(
    name: &'a str,
    text: &'a str,
    separator: u8,
    options: &Options,
    observer: &dyn Observer,
) -> Result<(String, Cells<'a>)> {
    let mut rows = Rows::new(name, text, separator);
    let mut header = Vec::new();
    while rows.next(&mut header)?.is_some() && is_blank_row(&header) {}
    let position = match &options.column {
        Some(column) => position_of(name, &header, column)?,
        None if header.len() == 1 => 0,
        None => {
            let problem = "the table has several columns, and none is named as the list of terms";
            return Err(Error::input(Place::line(name, 1), problem)
                .with_hint(format!("name it with --column; the header has {}", header.join(", "))));
        }
    };
    let mut cells = Vec::new();
    let mut row = Vec::new();
    while let Some(line) = rows.next(&mut row)? {
        observer.check();
        if row.len() == header.len() {
            cells.push((line, row.swap_remove(position)));
        } else if !is_blank_row(&row) {
            return Err(wrong_width(name, line, row.len(), header.len()));
        }
    }
    Ok((header.swap_remove(position).into_owned(), cells))
}

/// What separates the terms of these cells, if they tell.
pub(super) fn find_list_separator(name: &str, column: &str, cells: &Cells<'_>) -> Result<u8> {
    const CANDIDATES: [u8; 3] = [b';', b'|', b','];
    let ask = |line, problem: &str| {
        let place = Place::line(name, line).in_column(column);
        Err(Error::input(place, problem).with_hint("say what separates the terms of a cell with --list-separator"))
    };
    let mut found = None;
    let mut with_blank = None;
    for (line, cell) in cells {
        let trimmed = cell.trim();
        if (trimmed.starts_with('[') && trimmed.ends_with(']')) || (trimmed.starts_with('{') && trimmed.ends_with('}'))
        {
            let problem = "the cell is written as an array";
            return Err(Error::input(Place::line(name, *line).in_column(column), problem)
                .with_hint("write plain lists such as a;b, or convert the file to JSON lines or Parquet"));
        }
        let counts = lines_with(cell, CANDIDATES, true);
        for (&candidate, _) in CANDIDATES.iter().zip(counts).filter(|(_, count)| *count > 0) {
            if *found.get_or_insert(candidate) != candidate {
                return ask(
                    *line,
                    "semicolons, bars and commas occur in the cells: cannot tell which one separates terms",
                );
            }
        }
        if with_blank.is_none() && !trimmed.starts_with('"') && trimmed.contains([' ', '\t', '\n']) {
            with_blank = Some(*line);
        }
    }
    match (found, with_blank) {
        (Some(separator), _) => Ok(separator),
        (None, Some(line)) => ask(line, "cannot tell whether blanks separate terms or belong to them"),
        (None, None) => Ok(b';'),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check_fault, read_as, round_trip, texts};
    use super::super::{Format, read_bytes};
    use super::*;

    fn column(column: &str) -> Options {
        Options { column: Some(column.to_owned()), ..Options::default() }
    }

    #[test]
    fn one_column_is_read_and_the_others_are_not() {
        for text in [
            "age,codes,note\n30,b;a;b,x\n\n40,,\"two\nlines\"\n50, c ;a,\n",
            "age\tcodes\tnote\n30\tb|a|b\tx\n40\t\ty\n50\tc|a\t\n",
            "age;codes;note\n30;b,a,b;x\n40;;y\n50;\"c,a\";\n",
        ] {
            let (dataset, intake) = read_bytes("x.csv", text.as_bytes(), &column("codes")).unwrap();
            assert_eq!(texts(&dataset), [["b", "a"], ["a", "c"]].map(|record| record.map(str::to_owned)), "{text}");
            assert_eq!((intake.format, intake.empty_records, intake.duplicate_terms), (Format::Table, 1, 1));
        }
    }

    #[test]
    fn list_separators_may_be_named() {
        let options = Options { list_separator: Some(b' '), ..column("codes") };
        let (dataset, intake) = read_bytes("x.csv", b"age,codes\n30, a  b \n40,\"c;d\"\n", &options).unwrap();
        assert_eq!(texts(&dataset), [vec!["a", "b"], vec!["c;d"]]);
        assert_eq!(intake.empty_terms, 0);
    }

    #[test]
    fn faults_name_their_line() {
        for (text, line) in [
            ("age,codes\n30,a;b\n40,a|b\n", 3),
            ("age,codes\n30,a\n40,a b\n", 3),
            ("age,codes\n30,\"['a', 'b']\"\n", 2),
            ("age,codes\n30,a,b\n", 2),
            ("age,codes\n30,\"a;\nb\"\n40,\"\"\"a\"\n", 4),
            ("age,diagnoses\n30,a\n", 1),
            ("codes,codes\n30,a\n", 1),
        ] {
            let error = read_bytes("x.csv", text.as_bytes(), &column("codes")).unwrap_err();
            assert!(matches!(&error, Error::Input { place, .. } if place.line == Some(line)), "{text:?}: {error}");
        }
        check_fault("x.csv", "age,codes,note\n30,a;b,x\n40,a;c,y\n", Some(1));
        let error = read_bytes("x", b"age,codes\n30,a;b\n", &read_as(Format::Table)).unwrap_err();
        assert!(error.hint().is_some_and(|hint| hint.contains("age, codes")));
    }

    #[test]
    fn round_trips() {
        round_trip(Format::Table, "x.csv", &column("items"));
        round_trip(Format::Table, "x", &read_as(Format::Table));
    }
}
