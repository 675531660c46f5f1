//! What has been read of a column: a code for each row, and each different text once.
//!
//! Checked by: tests of `rows/mod.rs`

use std::borrow::Cow;

use super::roles::Planned;
use crate::data::table::{Column, Role, Sets};
use crate::data::{Dictionary, RecordId, TermId, Transactions};
use crate::error::{Error, Place, Result};
use crate::read::builder::too_long;
use crate::read::table::find_list_separator;
use crate::read::text::{bad_quote, field};

/// The code of a cell without a value.
pub(super) const MISSING: u32 = u32::MAX;

/// All integers up to this one are numbers of their own.
const LAST_INTEGER: f64 = (1_u64 << 53) as f64;

/// A column in the making.
pub(super) enum Sink {
    /// An identifier: nothing is kept.
    Skip,
    /// Cells of text; those of a set-valued column are taken apart in the end.
    Cells(Cells),
    /// Cells that are lists already.
    Lists(Lists),
}

#[derive(Default)]
pub(super) struct Cells {
    texts: Dictionary,
    codes: Vec<u32>,
    /// Where each text was met first; of a set-valued column only.
    lines: Vec<u64>,
}

#[derive(Default)]
pub(super) struct Lists {
    dictionary: Dictionary,
    records: Transactions,
    of_row: Vec<Option<RecordId>>,
    record: Vec<TermId>,
}

impl Sink {
    pub(super) fn new(column: &Planned) -> Self {
        match column.role {
            Role::Identifier => Sink::Skip,
            _ => Sink::Cells(Cells::default()),
        }
    }

    /// Adds a cell, which stands in the given line or row.
    #[inline]
    pub(super) fn push(
        &mut self,
        text: &str,
        column: &Planned,
        missing: &[String],
        file: &str,
        line: u64,
    ) -> Result<()> {
        let Sink::Cells(cells) = self else { return Ok(()) };
        if text.is_empty() || missing.iter().any(|missing| missing == text) {
            cells.codes.push(MISSING);
            return Ok(());
        }
        let n_texts = cells.texts.len();
        let code = cells.texts.intern(text);
        cells.codes.push(code);
        // A text is looked at when it is met first.
        if code as usize == n_texts {
            check(text, column, file, line)?;
            if column.role == Role::Set {
                cells.lines.push(line);
            }
        }
        Ok(())
    }

    /// Adds all that was read of the same column further down.
    pub(super) fn append(&mut self, after: Sink) {
        let (Sink::Cells(cells), Sink::Cells(after)) = (self, after) else { return };
        if cells.codes.is_empty() {
            *cells = after;
            return;
        }
        let mut rename = Vec::with_capacity(after.texts.len());
        for (i, text) in after.texts.iter().enumerate() {
            let n_texts = cells.texts.len();
            let code = cells.texts.intern(text);
            if code as usize == n_texts {
                cells.lines.extend(after.lines.get(i));
            }
            rename.push(code);
        }
        cells.codes.extend(after.codes.iter().map(|&code| rename.get(code as usize).copied().unwrap_or(MISSING)));
    }

    /// The different texts and the code of each row, unless nothing is kept.
    pub(super) fn into_cells(self) -> Option<(Dictionary, Vec<u32>)> {
        let Sink::Cells(Cells { texts, codes, .. }) = self else { return None };
        Some((texts, codes))
    }

    /// The column, unless it is an identifier or a set.
    pub(super) fn into_column(self, planned: &Planned) -> Option<Column> {
        self.into_cells().map(|(texts, codes)| column(planned, texts, codes))
    }

    /// The set-valued column.
    pub(super) fn into_sets(
        self,
        column: &Planned,
        file: &str,
        separator: Option<u8>,
        most_terms: usize,
    ) -> Result<Option<Sets>> {
        let lists = match self {
            Sink::Skip => return Ok(None),
            Sink::Lists(lists) => lists,
            Sink::Cells(cells) => cells.into_lists(column, file, separator, most_terms)?,
        };
        let Lists { dictionary, records, of_row, .. } = lists;
        Ok(Some(Sets { name: column.name.clone(), dictionary, records, of_row }))
    }
}

/// A column from codes by first appearance.
pub(super) fn column(planned: &Planned, texts: Dictionary, codes: Vec<u32>) -> Column {
    let (name, role) = (&planned.name, planned.role);
    match planned.numeric {
        // Every text has been checked to be a number.
        true => Column::from_number_codes(name, role, &texts, codes, |text| number(text).unwrap_or_default()),
        false => Column::from_codes(name, role, texts, codes),
    }
}

impl Cells {
    /// Takes each different cell apart once.
    fn into_lists(self, column: &Planned, file: &str, separator: Option<u8>, most_terms: usize) -> Result<Lists> {
        let cells: Vec<(u64, Cow<'_, str>)> =
            self.lines.iter().copied().zip(self.texts.iter().map(Cow::Borrowed)).collect();
        let separator = match separator {
            Some(separator) => separator,
            None => find_list_separator(file, &column.name, &cells)?,
        };
        let mut lists = Lists::default();
        let mut different = Vec::with_capacity(cells.len());
        for (line, cell) in &cells {
            let mut terms = Vec::new();
            let mut at = 0;
            while at <= cell.len() {
                let (term, stop) =
                    field(cell, at, separator, true).map_err(|problem| bad_quote(file, *line, problem))?;
                if !term.is_empty() {
                    terms.push(lists.dictionary.intern(&term));
                }
                at = stop + 1;
            }
            if terms.len() > most_terms {
                return Err(too_long(file, *line, most_terms));
            }
            different.push(terms);
        }
        for &code in &self.codes {
            lists.record.clear();
            lists.record.extend(different.get(code as usize).into_iter().flatten());
            lists.end_row();
        }
        Ok(lists)
    }
}

impl Lists {
    /// Adds a term to the set of the row.
    pub(super) fn term(&mut self, text: &str, column: &Planned, file: &str, row: u64) -> Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        let n_terms = self.dictionary.len();
        let term = self.dictionary.intern(text);
        self.record.push(term);
        if term as usize == n_terms { check(text, column, file, row) } else { Ok(()) }
    }

    /// Ends the row: repetitions collapse, and an empty set is none.
    pub(super) fn end_row(&mut self) {
        let id = self.records.len();
        self.records.push(&mut self.record);
        self.of_row.push((self.records.len() > id).then_some(id as RecordId));
        self.record.clear();
    }
}

/// Refuses a text that a release could not hold, or that is not the number it should be.
fn check(text: &str, column: &Planned, file: &str, line: u64) -> Result<()> {
    let refuse = |problem: &str, hint: &str| {
        Err(Error::input(Place::line(file, line).in_column(&column.name), problem).with_hint(hint))
    };
    let bytes = text.as_bytes();
    let is_foreign = |(i, &byte): (usize, &u8)| match byte {
        b'\t' | b'\n' => false,
        b'\r' => bytes.get(i + 1) != Some(&b'\n'),
        _ => byte < b' ' || byte == 0x7f,
    };
    if bytes.iter().enumerate().any(is_foreign) {
        return refuse("the cell holds a control character", "remove it: a published table is plain text");
    }
    if !column.numeric {
        return Ok(());
    }
    match number(text) {
        None => refuse(
            "the cell is not a number",
            "write numbers as 1234.5; texts that mean \"no value\" can be named with --missing; if the column holds \
             words, do not declare it numeric",
        ),
        Some(value) if !value.is_finite() => refuse("the cell is not a finite number", "remove it"),
        Some(value) if value.abs() > LAST_INTEGER && !text.contains(['.', 'e', 'E']) => refuse(
            "the cell is an integer of more digits than numbers keep",
            "such numbers are names: do not declare the column numeric",
        ),
        Some(_) => Ok(()),
    }
}

fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok()
}
