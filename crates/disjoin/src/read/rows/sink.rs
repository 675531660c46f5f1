//! What has been read of a column: a code for each row, and each different text once.
//!
//! Checked by: tests of `rows/mod.rs`

use std::borrow::Cow;

use super::roles::{Expected, Planned};
use super::typed::{column, is_big_integer};
use super::{ColumnReading, Declared};
use crate::data::table::{Column, Role, Sets};
use crate::data::{Dictionary, RecordId, TermId, Transactions};
use crate::error::{Error, Place, Result};
use crate::read::builder::too_long;
use crate::read::people::{Repeats, no_person};
use crate::read::reading::Reading;
use crate::read::table::find_lists;
use crate::read::values::{DateStyle, NumberStyle, numbers};

/// The code of a cell without a value.
pub(super) const MISSING: u32 = u32::MAX;

/// A column in the making.
pub(super) enum Sink {
    /// An identifier: nothing is kept.
    Skip,
    /// The same, where it is looked at whether values come back.
    Watch(Repeats),
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
    /// Of numbers and dates: where a text was met first that is not plain, or not in the order of the first.
    odd: Option<u64>,
}

#[derive(Default)]
pub(super) struct Lists {
    dictionary: Dictionary,
    records: Transactions,
    of_row: Vec<Option<RecordId>>,
    record: Vec<TermId>,
    /// Terms without text, and repetitions of a term in its set.
    empty_terms: u64,
    duplicate_terms: u64,
}

impl Sink {
    pub(super) fn new(column: &Planned) -> Self {
        match column.role {
            _ if column.person => Sink::Cells(Cells::default()),
            Role::Identifier if column.watched => Sink::Watch(Repeats::default()),
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
        let cells = match self {
            Sink::Cells(cells) => cells,
            Sink::Watch(repeats) => {
                repeats.push(text);
                return Ok(());
            }
            _ => return Ok(()),
        };
        let is_missing = text.is_empty() || missing.iter().any(|missing| missing == text);
        if is_missing && column.person {
            return Err(no_person(file, line));
        }
        if is_missing {
            cells.codes.push(MISSING);
            return Ok(());
        }
        let n_texts = cells.texts.len();
        let code = cells.texts.intern(text);
        cells.codes.push(code);
        // A text is looked at when it is met first.
        if code as usize == n_texts {
            if check(text, column, file, line)? {
                cells.odd.get_or_insert(line);
            }
            if column.role == Role::Set {
                cells.lines.push(line);
            }
        }
        Ok(())
    }

    /// Adds all that was read of the same column further down.
    pub(super) fn append(&mut self, after: Sink) {
        let (cells, after) = match (self, after) {
            (Sink::Cells(cells), Sink::Cells(after)) => (cells, after),
            (Sink::Watch(repeats), Sink::Watch(after)) => return repeats.append(after),
            _ => return,
        };
        if cells.codes.is_empty() {
            *cells = after;
            return;
        }
        cells.odd = cells.odd.or(after.odd);
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
    pub(super) fn into_column(
        self,
        planned: &Planned,
        declared: &Declared,
        file: &str,
    ) -> Option<Result<(Column, Option<ColumnReading>)>> {
        let Sink::Cells(Cells { texts, codes, odd, .. }) = self else { return None };
        Some(column(planned, texts, codes, odd, declared, file))
    }

    /// The set-valued column.
    pub(super) fn into_sets(
        self,
        column: &Planned,
        file: &str,
        separator: Option<u8>,
        most_terms: usize,
        reading: &mut Reading,
    ) -> Result<Option<Sets>> {
        let lists = match self {
            Sink::Skip | Sink::Watch(_) => return Ok(None),
            Sink::Lists(lists) => lists,
            Sink::Cells(cells) => cells.into_lists(column, file, separator, most_terms)?,
        };
        let Lists { dictionary, records, of_row, empty_terms, duplicate_terms, .. } = lists;
        (reading.empty_terms, reading.duplicate_terms) = (empty_terms, duplicate_terms);
        Ok(Some(Sets { name: column.name.clone(), dictionary, records, of_row }))
    }
}

impl Cells {
    /// Takes each different cell apart once.
    fn into_lists(self, column: &Planned, file: &str, separator: Option<u8>, most_terms: usize) -> Result<Lists> {
        let cells: Vec<(u64, Cow<'_, str>)> =
            self.lines.iter().copied().zip(self.texts.iter().map(Cow::Borrowed)).collect();
        let written = find_lists(file, &column.name, &cells, separator)?;
        let mut lists = Lists::default();
        let mut different = Vec::with_capacity(cells.len());
        // Terms without text, of each different cell.
        let mut empty = Vec::with_capacity(cells.len());
        for (line, cell) in &cells {
            let (mut terms, mut n_empty) = (Vec::new(), 0);
            written.each_term(file, &column.name, *line, cell, &mut |term| match term.is_empty() {
                true => n_empty += 1,
                false => terms.push(lists.dictionary.intern(term)),
            })?;
            empty.push(n_empty);
            if terms.len() > most_terms {
                return Err(too_long(file, *line, most_terms));
            }
            different.push(terms);
        }
        for &code in &self.codes {
            lists.empty_terms += empty.get(code as usize).copied().unwrap_or(0);
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
            self.empty_terms += 1;
            return Ok(());
        }
        let n_terms = self.dictionary.len();
        let term = self.dictionary.intern(text);
        self.record.push(term);
        if term as usize == n_terms { check(text, column, file, row).map(|_| ()) } else { Ok(()) }
    }

    /// Ends the row: repetitions collapse, and an empty set is none.
    pub(super) fn end_row(&mut self) {
        let id = self.records.len();
        self.duplicate_terms += self.records.push(&mut self.record) as u64;
        self.of_row.push((self.records.len() > id).then_some(id as RecordId));
        self.record.clear();
    }
}

/// Refuses a text that a release could not hold, or that is not the number or date it should be. Tells whether it is one that is
/// not written plainly.
fn check(text: &str, column: &Planned, file: &str, line: u64) -> Result<bool> {
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
    match column.expected {
        Expected::Numbers => match NumberStyle::Plain.value(text) {
            None if numbers::is_number(text) => Ok(true),
            None => refuse(
                "the cell is not a number",
                "write numbers as 1234.5; texts that mean \"no value\" can be named with --missing; if the column holds \
                 words, do not declare it numeric",
            ),
            Some(value) if !value.is_finite() => refuse("the cell is not a finite number", "remove it"),
            Some(value) if is_big_integer(text, value) => refuse(
                "the cell is an integer of more digits than numbers keep",
                "such numbers are names: do not declare the column numeric",
            ),
            Some(_) => Ok(false),
        },
        Expected::Dates => match DateStyle::ALL.map(|style| style.date(text).is_some()) {
            [false, false, false] => refuse(
                "the cell is not a date",
                "write dates as 2024-12-31, 31.12.2024 or 12/31/2024, with four digits of the year; texts that mean \"no \
                 value\" can be named with --missing; if the column holds words, do not declare it as dates",
            ),
            [_, day_first, month_first] => Ok(day_first != month_first),
        },
        Expected::Unsaid | Expected::Words | Expected::Codes => Ok(false),
    }
}
