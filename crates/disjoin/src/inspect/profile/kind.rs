//! What a column holds, judged by all its cells and by its name.
//!
//! Promises:   numbers and dates are those that the reader of tables takes: the same code reads them. What is near-unique or free text is
//!             what `protect` refuses to publish as it is
//! Checked by: `tests/it/roles/kinds.rs`

use serde::Serialize;

use super::names::Meaning;
use super::tally::Tally;
use crate::read::values::{Choice, DateStyle, NumberStyle};

/// A smaller table says little about what is unique by nature.
const FEW_ROWS: u64 = 10;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// No cell has a value.
    Empty,
    /// Whole numbers.
    Integer,
    /// Numbers.
    Number,
    /// Days, with or without a time.
    Date,
    /// Short texts of one pattern with digits, whose beginnings mean something.
    Code,
    /// Words that many rows share.
    Category,
    /// Lists of terms.
    List,
    /// Sentences.
    FreeText,
    /// A value of its own in every row, or the number of a person.
    Identifier,
    /// A value of its own in many rows.
    NearUnique,
}

impl Kind {
    /// As people write it.
    pub fn text(self) -> &'static str {
        match self {
            Kind::Empty => "empty",
            Kind::Integer => "integer",
            Kind::Number => "number",
            Kind::Date => "date",
            Kind::Code => "code",
            Kind::Category => "category",
            Kind::List => "list",
            Kind::FreeText => "free text",
            Kind::Identifier => "identifier",
            Kind::NearUnique => "near-unique",
        }
    }
}

/// Whether so many rows have a value of their own, or of so few others, that the column leads to people.
pub fn is_near_unique(filled: u64, distinct: u64, own: u64) -> bool {
    filled > 1 && (10 * own >= filled || 2 * distinct >= filled)
}

/// Whether cells are sentences: several words on average, and rarely twice the same.
pub fn is_free_text(filled: u64, distinct: u64, words: u64) -> bool {
    filled > 0 && words >= 3 * filled && 10 * distinct >= 3 * filled
}

/// Judges a column; `is_list` if it is one of lists by its type.
pub(super) fn kind_of(tally: &Tally, meaning: Option<Meaning>, is_list: bool) -> Kind {
    let (values, distinct, own) = (tally.values, tally.different.distinct(), tally.different.own());
    let is_most = |not: u64| values > 0 && 10 * not <= values;
    let mostly_unique = values >= FEW_ROWS && 10 * own >= 9 * values;
    match () {
        () if values == 0 => Kind::Empty,
        () if is_list => Kind::List,
        () if is_most(tally.not_dates) => Kind::Date,
        () if is_most(tally.not_numbers) => numeric(tally, meaning, mostly_unique),
        () if has_lists(tally) => Kind::List,
        () if is_free_text(values, distinct, tally.words) => Kind::FreeText,
        () if mostly_unique => Kind::Identifier,
        () if is_of_persons(tally, meaning) => Kind::Identifier,
        () if meaning != Some(Meaning::Postcode) && values >= FEW_ROWS && is_near_unique(values, distinct, own) => {
            Kind::NearUnique
        }
        () if is_coded(tally) => Kind::Code,
        () => Kind::Category,
    }
}

fn numeric(tally: &Tally, meaning: Option<Meaning>, mostly_unique: bool) -> Kind {
    let is_whole = tally.fractions == 0;
    let names_people = matches!(meaning, Some(Meaning::Id | Meaning::Direct));
    match () {
        () if meaning == Some(Meaning::Postcode) || tally.zeros_in_front > 0 => match mostly_unique && names_people {
            true => Kind::Identifier,
            false => Kind::Code,
        },
        () if is_whole && mostly_unique && (names_people || tally.is_counting) => Kind::Identifier,
        () if is_whole && is_of_persons(tally, meaning) => Kind::Identifier,
        () if is_whole => Kind::Integer,
        () => Kind::Number,
    }
}

/// Whether the column numbers people who may have several rows: named so, and with few rows a value.
fn is_of_persons(tally: &Tally, meaning: Option<Meaning>) -> bool {
    let distinct = tally.different.distinct();
    matches!(meaning, Some(Meaning::Id | Meaning::Direct)) && distinct > 12 && 50 * distinct >= tally.values
}

/// Whether cells are lists: a mark in a fifth of them, between short terms that come again.
fn has_lists(tally: &Tally) -> bool {
    let marked: u64 = tally.lists.iter().sum();
    let come_again = tally.values < FEW_ROWS || 3 * tally.terms.distinct() <= 2 * tally.n_terms;
    5 * marked >= tally.values && marked > 0 && come_again && tally.words_of_terms <= 4 * tally.n_terms
}

/// Whether patterns with digits, and without blanks, are those of most cells, and there are more than a few values.
fn is_coded(tally: &Tally) -> bool {
    let is_code = |pattern: &str| pattern.contains('9') && !pattern.contains(' ') && pattern.len() <= 15;
    tally.different.distinct() > 5 && tally.patterns.share(is_code) >= 0.8
}

/// How numbers are written, if the column holds numbers.
pub(super) fn number_style(tally: &Tally) -> Choice<NumberStyle> {
    if tally.not_numbers > 0 { Choice::Unread } else { tally.numbers.choice(None) }
}

/// How dates are written, if the column holds dates.
pub(super) fn date_style(tally: &Tally) -> Choice<DateStyle> {
    if tally.not_dates > 0 { Choice::Unread } else { tally.dates.choice(None) }
}
