//! A generalized table: rows in classes that show the same quasi-identifiers, as data.csv holds them.
//!
//! Promises:   the file is a function of which rows are together and of their values: neither the order of rows in the
//!             input nor that of classes in the partition changes a byte. Rows that were removed leave no trace
//! Assumes:    values are texts that `read::rows` accepts; it reads the file back
//! Departs:    classes that show the same cells are one class: nobody who reads the file can tell them apart
//! Cost:       sorting; each class's cells are formatted once
//! Checked by: tests in this file, and `tests/it/table_release.rs`
//!
//! First come the quasi-identifiers, then sensitive columns, then the others, each in the order of the input. Fields
//! with a comma, a quote, a line end, or a blank at an end are quoted, as the single field of a row is if it is empty.
//! The set-valued column is not in this file.

mod claim;

use std::cmp::Ordering;
use std::io::{self, Write};

use rayon::prelude::*;

use crate::data::table::{Column, Role, Table};
use crate::data::{Cell, Partition};
pub use claim::{Associations, Classes, PublishedColumn, SetsClaim, TableClaim};
pub(super) use claim::{MINIMALITY, columns_as_published, hierarchy_of, names, occurring, unchecked_of_columns};

/// The name of the file.
pub const DATA: &str = "data.csv";

/// Classes that are formatted by one thread, and those that are in memory as text at a time.
pub(super) const TASK: usize = 64;
pub(super) const BATCH: usize = 4096;

/// The rows of a table in the order in which they are published.
#[derive(Debug, Clone)]
pub struct Generalized<'a> {
    table: &'a Table,
    rows: Vec<u32>,
    classes: Vec<Class>,
}

/// A class as everybody sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Class {
    pub(super) cells: Vec<String>,
    pub(super) end: usize,
}

/// The columns that are published, in the order of the file.
pub fn published_columns(table: &Table) -> Vec<&Column> {
    [Role::Quasi, Role::Sensitive, Role::Other].iter().flat_map(|&role| table.with_role(role)).collect()
}

/// Classes in the order of what they show, those that show the same as one; and their rows, class by class.
pub(super) fn classes_in_order(table: &Table, partition: &Partition) -> (Vec<u32>, Vec<Class>) {
    let quasi = table.quasi();
    let text = |(cell, column): (&Cell, &&Column)| cell.text(&column.domain);
    let texts = |cells: Vec<Cell>| -> Vec<String> { cells.iter().zip(&quasi).map(text).collect() };
    let mut found: Vec<(Vec<String>, usize)> =
        partition.cells(table).into_par_iter().map(texts).zip(0..partition.len()).collect();
    found.par_sort_unstable();

    let mut rows = Vec::with_capacity(partition.n_published());
    let mut classes: Vec<Class> = Vec::with_capacity(found.len());
    for (cells, class) in found {
        rows.extend_from_slice(partition.class(class));
        match classes.last_mut().filter(|last| last.cells == cells) {
            Some(last) => last.end = rows.len(),
            None => classes.push(Class { cells, end: rows.len() }),
        }
    }
    (rows, classes)
}

impl<'a> Generalized<'a> {
    /// Puts the classes of a partition in order, and the rows within each.
    pub fn new(table: &'a Table, partition: &Partition) -> Self {
        let (mut rows, classes) = classes_in_order(table, partition);
        let columns: Vec<&Column> = published_columns(table).split_off(table.quasi().len());
        let mut rest = &mut rows[..];
        let mut parts = Vec::with_capacity(classes.len());
        let mut start = 0;
        for class in &classes {
            let (part, after) = rest.split_at_mut(class.end - start);
            (rest, start) = (after, class.end);
            parts.push(part);
        }
        // Codes are in the order of values.
        let compare = |a: &u32, b: &u32| {
            let by = |column: &&Column| column.codes[*a as usize].cmp(&column.codes[*b as usize]);
            columns.iter().map(by).find(|order| *order != Ordering::Equal).unwrap_or(a.cmp(b))
        };
        parts.into_par_iter().for_each(|part| part.sort_unstable_by(compare));
        Generalized { table, rows, classes }
    }

    /// The number of classes that can be told apart.
    pub fn n_classes(&self) -> usize {
        self.classes.len()
    }

    /// The number of rows that are published.
    pub fn n_rows(&self) -> usize {
        self.rows.len()
    }

    /// What a class shows of the quasi-identifiers, in order.
    pub fn cells(&self, class: usize) -> &[String] {
        &self.classes[class].cells
    }

    /// The rows of a class, in the order of the file.
    pub fn rows(&self, class: usize) -> &[u32] {
        let start = class.checked_sub(1).map_or(0, |before| self.classes[before].end);
        &self.rows[start..self.classes[class].end]
    }

    /// The same rows, class by class in the order of the file.
    pub fn partition(&self) -> Partition {
        let mut partition = Partition::default();
        (0..self.n_classes()).for_each(|class| partition.push(self.rows(class)));
        partition
    }

    /// For each row of the table its class in the order of the file; none if it was removed.
    pub fn class_of(&self) -> Vec<Option<u32>> {
        let mut class_of = vec![None; self.table.n_rows()];
        for class in 0..self.n_classes() {
            self.rows(class).iter().for_each(|&row| class_of[row as usize] = Some(class as u32));
        }
        class_of
    }

    /// Writes data.csv, in large blocks.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let columns = published_columns(self.table);
        let mut header = Vec::new();
        write_row(columns.iter().map(|column| column.name.as_str()), &mut header);
        out.write_all(&header)?;
        let classes: Vec<usize> = (0..self.n_classes()).collect();
        for batch in classes.chunks(BATCH) {
            let texts: Vec<Vec<u8>> = batch.par_chunks(TASK).map(|classes| self.format(classes, &columns)).collect();
            texts.iter().try_for_each(|text| out.write_all(text))?;
        }
        Ok(())
    }

    fn format(&self, classes: &[usize], columns: &[&Column]) -> Vec<u8> {
        let (mut text, mut prefix) = (Vec::new(), Vec::new());
        for &class in classes {
            let cells = self.cells(class);
            prefix.clear();
            for cell in cells {
                write_field(cell, &mut prefix);
                prefix.push(b',');
            }
            for &row in self.rows(class) {
                let start = text.len();
                text.extend_from_slice(&prefix);
                for column in &columns[cells.len()..] {
                    write_field(column.domain.text(column.codes[row as usize]), &mut text);
                    text.push(b',');
                }
                end_row(start, &mut text);
            }
        }
        text
    }
}

/// Writes a line of comma-separated values that `read::rows` reads back.
pub fn write_row<'a>(fields: impl IntoIterator<Item = &'a str>, out: &mut Vec<u8>) {
    let start = out.len();
    for field in fields {
        write_field(field, out);
        out.push(b',');
    }
    end_row(start, out);
}

/// Turns the comma behind the last field into a line end. A row that would be a blank line gets quotes.
fn end_row(start: usize, out: &mut Vec<u8>) {
    out.pop();
    if out.len() == start {
        out.extend_from_slice(b"\"\"");
    }
    out.push(b'\n');
}

/// Writes one value of a line of comma-separated ones.
#[inline]
pub fn write_field(text: &str, out: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    let is_blank = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t' | b'\r'));
    let needs_quotes = bytes.iter().any(|byte| matches!(byte, b',' | b'"' | b'\n' | b'\r'))
        || is_blank(bytes.first())
        || is_blank(bytes.last())
        || text.starts_with('\u{feff}');
    if !needs_quotes {
        out.extend_from_slice(bytes);
        return;
    }
    out.push(b'"');
    for &byte in bytes {
        if byte == b'"' {
            out.push(b'"');
        }
        out.push(byte);
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(name: &str, role: Role, cells: &[&str]) -> Column {
        Column::words(name, role, cells.iter().map(|text| Some(*text).filter(|text| !text.is_empty())))
    }

    fn text(table: &Table, partition: &Partition) -> String {
        let mut text = Vec::new();
        Generalized::new(table, partition).write(&mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn classes_and_rows_are_in_order_of_what_they_show() {
        let columns = vec![
            words("note", Role::Other, &["z", "y", "x", "w", "v"]),
            words("ill", Role::Sensitive, &["flu", "hiv", "flu", "", "gout"]),
            Column::numbers("age", Role::Quasi, [30.0, 20.0, 25.0, 30.0, 7.0].map(Some)),
        ];
        let table = Table::new(5, columns, None);
        let mut partition = Partition::from_parts(Vec::new(), Vec::new(), vec![4]);
        partition.push(&[3, 0]);
        partition.push(&[2, 1]);
        assert_eq!(text(&table, &partition), "age,ill,note\n20..25,flu,x\n20..25,hiv,y\n30,flu,z\n30,,w\n");
        let generalized = Generalized::new(&table, &partition);
        assert_eq!(generalized.class_of(), [Some(1), Some(0), Some(0), Some(1), None]);
        assert_eq!((generalized.n_rows(), generalized.n_classes()), (4, 2));
    }

    #[test]
    fn classes_that_show_the_same_are_one() {
        // The word "*" and anything at all look the same.
        let table = Table::new(4, vec![words("w", Role::Quasi, &["*", "a", "*", "*"])], None);
        let mut partition = Partition::default();
        [&[0][..], &[1, 2], &[3]].iter().for_each(|rows| partition.push(rows));
        let generalized = Generalized::new(&table, &partition);
        assert_eq!((generalized.n_classes(), generalized.rows(0)), (1, &[0, 1, 2, 3][..]));
    }

    #[test]
    fn awkward_fields_are_quoted() {
        let mut line = Vec::new();
        write_row(["a", "b,c", "say \"x\"", " d", "e\t", "two\nlines", "", "\u{feff}"], &mut line);
        let expected = "a,\"b,c\",\"say \"\"x\"\"\",\" d\",\"e\t\",\"two\nlines\",,\"\u{feff}\"\n";
        assert_eq!(String::from_utf8(line).unwrap(), expected);
        let table = Table::new(2, vec![words("w", Role::Quasi, &["", ""])], None);
        let mut partition = Partition::default();
        partition.push(&[0, 1]);
        assert_eq!(text(&table, &partition), "w\n\"\"\n\"\"\n");
    }
}
