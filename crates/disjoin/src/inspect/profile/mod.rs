//! What is in each column of a table, and what could it be for? One pass over the rows, in bounded memory.
//!
//! Promises:   no value of a single person is shown: examples are values that at least five people share, everything else is a
//!             pattern that as many share. Where a column numbers people who have several rows, five rows of one person are one
//! Assumes:    a person is a row, unless a column is named as the number of a person; if another column turns out to number people,
//!             no example is shown
//! Cost:       linear in the cells. Memory: a million values in all columns together, sampled beyond that (`sample.rs`)
//! Checked by: tests in this file, `tests/it/roles`

mod kind;
mod names;
mod sample;
mod suggest;
mod tally;

use std::borrow::Cow;

use serde::Serialize;

use crate::read::rows::Seen;
use crate::read::values::{Choice, MISSING_TEXTS};
pub use kind::{Kind, is_free_text, is_near_unique};
use kind::{date_style, kind_of, number_style};
use names::{Meaning, meaning};
pub use sample::SHARED;
use sample::hash_of;
use suggest::suggest;
pub use suggest::{Question, ReadAs, Suggested, Suggestion};
use tally::{LIST_MARKS, Tally};

/// So many different values are kept of all columns together.
const VALUES: usize = 1 << 20;

/// So many examples are shown of a column.
const EXAMPLES: usize = 4;

/// A table, column by column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TableProfile {
    /// Its rows.
    pub rows: u64,
    /// Its columns, in order.
    pub columns: Vec<ColumnProfile>,
    /// The column that numbers people, if they have several rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub person: Option<Persons>,
}

/// A column that numbers people with several rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Persons {
    /// Its name.
    pub column: String,
    /// How many people there are.
    pub people: u64,
    /// How many rows they have.
    pub rows: u64,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ColumnProfile {
    /// Its name in the header.
    pub name: String,
    /// What it holds.
    pub kind: Kind,
    /// Cells without a value, those with a text that means so included.
    pub missing: u64,
    /// The texts that mean so, if the column has some.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing_texts: Vec<&'static str>,
    /// Different values.
    pub distinct: u64,
    /// Rows with a value that no other row has.
    pub own: u64,
    /// Whether both are estimates: there are too many values to keep.
    pub estimated: bool,
    /// Values that at least five people share.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<String>,
    /// Patterns that at least five people share, where values cannot be shown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub patterns: Vec<String>,
    /// How numbers and dates are written, in plain words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reading: Option<String>,
    /// What stands between the terms of a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list_separator: Option<char>,
    /// What it could be for.
    pub suggestion: Suggestion,
}

/// Looks at rows as they go by.
#[derive(Debug, Default)]
pub struct Profiler {
    names: Vec<String>,
    lists: Vec<bool>,
    tallies: Vec<Tally>,
    /// The column that is named as the number of a person.
    holder: Option<usize>,
    rows: u64,
}

impl Profiler {
    /// Takes the header, or a row, into account.
    pub fn see(&mut self, seen: Seen<'_>) {
        match seen {
            Seen::Header(names, lists) => {
                let most = (VALUES / names.len().max(1)).clamp(64, 1 << 16);
                self.names = names.to_vec();
                self.lists = (0..names.len()).map(|at| lists.contains(&at)).collect();
                self.tallies = names.iter().map(|_| Tally::new(most)).collect();
                self.holder = names.iter().position(|name| meaning(name) == Some(Meaning::Id));
            }
            Seen::Row(row) => self.row(row),
        }
    }

    fn row(&mut self, row: &[Cow<'_, str>]) {
        self.rows += 1;
        let person = self.holder.and_then(|at| row.get(at)).map(|cell| cell.trim()).filter(|cell| !cell.is_empty());
        let holder = person.map_or(self.rows, hash_of);
        for ((tally, is_list), cell) in self.tallies.iter_mut().zip(&self.lists).zip(row) {
            tally.add(cell, holder, *is_list);
        }
    }

    /// What was found.
    pub fn finish(self) -> TableProfile {
        let kinds: Vec<Kind> = self
            .tallies
            .iter()
            .zip(&self.names)
            .zip(&self.lists)
            .map(|((t, name), l)| kind_of(t, meaning(name), *l))
            .collect();
        let person = self.persons(&kinds);
        // Five rows may be one person's, and nobody counted whose they are.
        let withhold = person.is_some() && person != self.holder;
        let mut has_set = false;
        let columns = (0..self.names.len()).map(|at| {
            let mut column = self.column(at, kinds[at], withhold);
            if column.suggestion.role == Some(Suggested::Set) && std::mem::replace(&mut has_set, true) {
                column.suggestion.role = Some(Suggested::Identifier);
                column.suggestion.reason = "a list, and only one column of lists can be published with a table".into();
            }
            column
        });
        let columns: Vec<ColumnProfile> = columns.collect();
        let person = person.map(|at| Persons {
            column: self.names[at].clone(),
            people: self.tallies[at].different.distinct(),
            rows: self.tallies[at].values,
        });
        TableProfile { rows: self.rows, columns, person }
    }

    /// The column that numbers people with several rows: that of most people, if there are several.
    fn persons(&self, kinds: &[Kind]) -> Option<usize> {
        let repeats = |at: &usize| {
            let tally = &self.tallies[*at];
            let (values, distinct) = (tally.values, tally.different.distinct());
            let is_id = kinds[*at] == Kind::Identifier && meaning(&self.names[*at]) == Some(Meaning::Id);
            is_id && 20 * values >= 21 * distinct
        };
        let places = (0..kinds.len()).filter(repeats);
        places.max_by_key(|&at| (Some(at) == self.holder, self.tallies[at].different.distinct()))
    }

    fn column(&self, at: usize, kind: Kind, withhold: bool) -> ColumnProfile {
        let (tally, name) = (&self.tallies[at], &self.names[at]);
        let suggestion = suggest(tally, kind, meaning(name), self.rows);
        let texts = |shared: Vec<(&str, u64)>| -> Vec<String> {
            shared.into_iter().take(EXAMPLES).map(|(text, _)| text.to_owned()).collect()
        };
        let shows_values = !withhold
            && suggestion.role != Some(Suggested::Identifier)
            && matches!(kind, Kind::Category | Kind::Code | Kind::List | Kind::Integer | Kind::Number);
        let examples = match kind {
            _ if !shows_values => Vec::new(),
            Kind::List => texts(tally.terms.shared()),
            _ => texts(tally.different.shared()),
        };
        let patterns = match examples.is_empty() && !withhold && !matches!(kind, Kind::FreeText | Kind::List) {
            true => texts(tally.patterns.shared()),
            false => Vec::new(),
        };
        let is_typed = matches!(kind, Kind::Integer | Kind::Number | Kind::Date);
        let met = MISSING_TEXTS.iter().zip(tally.said_missing).filter(|(_, n)| *n > 0);
        let mark = tally.lists.iter().zip(LIST_MARKS).max_by_key(|(n, _)| **n).map(|(_, mark)| mark);
        ColumnProfile {
            name: name.clone(),
            kind,
            missing: tally.empty + tally.n_said_missing(),
            missing_texts: met.filter(|_| is_typed).map(|(text, _)| *text).collect(),
            distinct: tally.different.distinct(),
            own: tally.different.own(),
            estimated: !tally.different.is_exact(),
            examples,
            patterns,
            reading: reading_of(tally, kind),
            list_separator: mark.filter(|_| kind == Kind::List),
            suggestion,
        }
    }
}

/// How the numbers or dates of a column are written.
fn reading_of(tally: &Tally, kind: Kind) -> Option<String> {
    let mixed = |what: &str, not: u64| match not {
        0 => format!("{what} in several ways"),
        1 => format!("{what}, and one cell that is none"),
        _ => format!("{what}, and {not} cells that are none"),
    };
    match kind {
        Kind::Date => Some(match date_style(tally) {
            Choice::Read(style) => style.text().to_owned(),
            Choice::Ambiguous => "dates; no day is above 12, so that nothing shows which is the month".into(),
            Choice::Mixed | Choice::Unread => mixed("dates", tally.not_dates),
        }),
        Kind::Integer | Kind::Number => Some(match number_style(tally) {
            Choice::Read(style) => style.text().to_owned(),
            Choice::Ambiguous => "numbers; 1,234 may be a thousand, or one and a fraction".into(),
            Choice::Mixed | Choice::Unread => mixed("numbers", tally.not_numbers),
        }),
        _ if tally.short_years > 0 && 10 * tally.short_years >= 9 * tally.values => {
            Some("dates with years of two digits: the century is not known".into())
        }
        _ => None,
    }
}
