//! What was done to a file so that it could be read. Nothing is left out, repaired or decided by content without being counted here.
//!
//! Promises:   counts and names of columns, sheets, encodings; never a value
//! Checked by: `crates/disjoin-cli/tests/it/messy.rs`

use serde::Serialize;

use super::encoding::{Encoding, Known};
use super::readings::{listed, named};

/// How a file was read, and what was repaired on the way. What does not apply is left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Reading {
    /// How its text is encoded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<Encoding>,
    /// Whether that was found out from its bytes: nobody said it, and it is not UTF-8.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub encoding_detected: bool,
    /// Encodings in which the same bytes are other letters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other_encodings: Vec<Encoding>,
    /// What stands between fields.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub separator: Option<char>,
    /// The sheet of a workbook.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sheet: Option<String>,
    /// Lines or rows without anything, left out; of baskets they are empty records.
    #[serde(skip_serializing_if = "is_zero")]
    pub blank_lines: u64,
    /// Cells or terms with blanks around them, which do not belong to them.
    #[serde(skip_serializing_if = "is_zero")]
    pub trimmed_cells: u64,
    /// Of a table: terms without text in the set-valued column, left out.
    #[serde(skip_serializing_if = "is_zero")]
    pub empty_terms: u64,
    /// Of a table: repetitions of a term within its set, collapsed.
    #[serde(skip_serializing_if = "is_zero")]
    pub duplicate_terms: u64,
    /// Rows of the sheet that are hidden; they were read.
    #[serde(skip_serializing_if = "is_zero")]
    pub hidden_rows: u64,
    /// Cells of the sheet that are merged with another, and were given its value.
    #[serde(skip_serializing_if = "is_zero")]
    pub merged_cells: u64,
    /// Cells of the sheet with a formula, of which the stored result was read.
    #[serde(skip_serializing_if = "is_zero")]
    pub formulas: u64,
    /// The columns that became one set-valued column.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub set_columns: Vec<String>,
    /// The table that was joined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub joined: Option<Joined>,
}

/// A table that was joined by a key.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Joined {
    /// The file's name as given.
    pub file: String,
    /// Its rows.
    pub rows: u64,
    /// Rows of the first table whose key the other does not have.
    pub unmatched_rows: u64,
    /// Different keys of the other table that the first does not have; their rows were left out.
    pub unmatched_keys: u64,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

impl Reading {
    pub(super) fn set_encoding(&mut self, known: Known) {
        let Known { encoding, is_detected, others } = known;
        (self.encoding, self.encoding_detected, self.other_encodings) = (Some(encoding), is_detected, others);
    }

    /// What somebody should know, in sentences.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let (Some(encoding), true) = (self.encoding, self.encoding_detected) {
            let others: Vec<String> = self.other_encodings.iter().map(ToString::to_string).collect();
            let more = match others.is_empty() {
                true => String::new(),
                false => format!("; other letters would come of {}", listed(&others, "and")),
            };
            notes.push(format!("the text was taken for {encoding}{more}: --encoding says it"));
        }
        let counts = [
            (self.blank_lines, "blank line was left out", "blank lines were left out"),
            (
                self.trimmed_cells,
                "cell had blanks around it, which were removed",
                "cells had blanks around them, which were removed",
            ),
            (
                self.empty_terms,
                "term without text was left out of its set",
                "terms without text were left out of their sets",
            ),
            (
                self.duplicate_terms,
                "repetition of a term within its set was collapsed",
                "repetitions of a term within its set were collapsed",
            ),
            (
                self.hidden_rows,
                "row of the sheet is hidden, and was read",
                "rows of the sheet are hidden, and were read",
            ),
            (
                self.merged_cells,
                "merged cell was given the value of its neighbour",
                "merged cells were given the value of their neighbour",
            ),
            (self.formulas, "formula was read by its stored result", "formulas were read by their stored results"),
        ];
        notes.extend(told(&counts));
        if let Some(joined) = &self.joined {
            let counts = [
                (
                    joined.unmatched_rows,
                    "row has a key that the joined table lacks",
                    "rows have a key that the joined table lacks",
                ),
                (
                    joined.unmatched_keys,
                    "key of the joined table has no row here, and was left out",
                    "keys of the joined table have no row here, and were left out",
                ),
            ];
            notes.extend(told(&counts));
        }
        notes
    }

    /// How it was read, in a few words: `commas between fields, utf-8`.
    pub fn how(&self) -> String {
        let separator = self.separator.map(|c| match named(c as u8) {
            "commas" if c != ',' => format!("{c} between fields"),
            named => format!("{named} between fields"),
        });
        let encoding = self.encoding.map(|encoding| encoding.to_string());
        let sheet = self.sheet.as_ref().map(|sheet| format!("sheet {sheet}"));
        separator.into_iter().chain(encoding).chain(sheet).collect::<Vec<_>>().join(", ")
    }
}

/// Sentences for what was counted, by one and by many.
pub(super) fn told(counts: &[(u64, &str, &str)]) -> Vec<String> {
    let some = counts.iter().filter(|(n, ..)| *n > 0);
    some.map(|&(n, one, many)| format!("{} {}", grouped(n), if n == 1 { one } else { many })).collect()
}

/// A number with commas between thousands, as reports write it.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
