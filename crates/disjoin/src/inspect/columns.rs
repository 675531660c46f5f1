//! What do the columns of a table look like? A guess at the role of each, for people to decide.
//!
//! Promises:   names and counts only: no value of a cell is told
//! Assumes:    CSV with a header, not compressed; anything else has no columns
//! Cost:       one pass, and a set of the distinct values of each column
//! Checked by: tests in this file

use std::collections::HashSet;

use serde::Serialize;

use crate::read::Options;
use crate::read::text::{Rows, detect_separator, head, is_blank_row, validate};

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Column {
    /// Its name in the header.
    pub name: String,
    /// Rows in which it is not empty.
    pub filled: u64,
    /// Different values.
    pub distinct: u64,
    /// What it seems to be.
    pub seems: Role,
}

/// What a column is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Every row has a value of its own: it names people, or nearly so, and must not be published.
    Identifier,
    /// Cells are lists: the terms of a person.
    SetValued,
    /// Anything else; with other columns it may single people out.
    Other,
}

/// A table of fewer rows says little about what is unique by nature.
const FEW_ROWS: u64 = 10;

/// The columns of a table with a header; none if the bytes are something else.
pub fn columns(name: &str, bytes: &[u8], options: &Options) -> Vec<Column> {
    let Ok(text) = validate(name, bytes) else { return Vec::new() };
    let separator = options.separator.or_else(|| detect_separator(head(text), [b'\t', b';', b','], true));
    let Some(separator) = separator else { return Vec::new() };
    let mut rows = Rows::new(name, text, separator);
    let mut header = Vec::new();
    loop {
        match rows.next(&mut header) {
            Ok(Some(_)) if is_blank_row(&header) => {}
            Ok(Some(_)) => break,
            _ => return Vec::new(),
        }
    }
    let mut seen: Vec<HashSet<String>> = vec![HashSet::new(); header.len()];
    let (mut filled, mut lists) = (vec![0_u64; header.len()], vec![0_u64; header.len()]);
    let (mut n_rows, mut row) = (0, Vec::new());
    // What cannot be read further is for the reader to complain about.
    while let Ok(Some(_)) = rows.next(&mut row) {
        if row.len() != header.len() {
            continue;
        }
        n_rows += 1;
        for (i, cell) in row.iter().enumerate().filter(|(_, cell)| !cell.trim().is_empty()) {
            filled[i] += 1;
            lists[i] += u64::from(cell.contains([';', '|']) || (separator != b',' && cell.contains(',')));
            seen[i].insert(cell.clone().into_owned());
        }
    }
    if n_rows == 0 || header.len() < 2 {
        return Vec::new();
    }
    let column = |(i, name): (usize, &std::borrow::Cow<'_, str>)| {
        let distinct = seen[i].len() as u64;
        let is_unique = n_rows >= FEW_ROWS && distinct == filled[i] && 10 * filled[i] >= 9 * n_rows;
        let seems = match () {
            () if 5 * lists[i] >= filled[i] && filled[i] > 0 => Role::SetValued,
            () if is_unique => Role::Identifier,
            () => Role::Other,
        };
        Column { name: name.clone().into_owned(), filled: filled[i], distinct, seems }
    };
    header.iter().enumerate().map(column).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_guessed_by_what_cells_look_like() {
        let mut text = String::from("patient,sex,diagnoses\n");
        (0..20).for_each(|i| text.push_str(&format!("p{i},{},flu;d{}\n", if i % 2 == 0 { "f" } else { "m" }, i % 3)));
        let found = columns("x.csv", text.as_bytes(), &Options::default());
        let roles: Vec<(&str, u64, Role)> = found.iter().map(|c| (c.name.as_str(), c.distinct, c.seems)).collect();
        let expected = [("patient", 20, Role::Identifier), ("sex", 2, Role::Other), ("diagnoses", 3, Role::SetValued)];
        assert_eq!(roles, expected);
    }

    #[test]
    fn what_is_no_table_has_no_columns() {
        for text in ["", "1 2 3\n4 5\n", "one\ntwo\n", "\u{0}"] {
            assert_eq!(columns("x", text.as_bytes(), &Options::default()), [], "{text:?}");
        }
    }
}
