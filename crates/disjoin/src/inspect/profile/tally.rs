//! What is counted of a column while its rows go by.
//!
//! Promises:   memory is bounded by the limits of its samples, whatever the number of rows
//! Checked by: tests of `profile/mod.rs`

use super::sample::Sample;
use crate::read::values::{DateEvidence, MISSING_TEXTS, NumberEvidence, NumberStyle};

/// What may stand between the terms of a cell.
pub(super) const LIST_MARKS: [char; 3] = [';', '|', ','];

/// Counts of a column.
#[derive(Debug)]
pub(super) struct Tally {
    /// Cells without text.
    pub(super) empty: u64,
    /// Cells with each of the texts that mean so in any table.
    pub(super) said_missing: [u64; MISSING_TEXTS.len()],
    /// Cells with any other text: the values.
    pub(super) values: u64,
    pub(super) numbers: NumberEvidence,
    pub(super) not_numbers: u64,
    /// Numbers that are no integers.
    pub(super) fractions: u64,
    /// Whether the integers go up by one from row to row.
    pub(super) is_counting: bool,
    last: Option<f64>,
    pub(super) dates: DateEvidence,
    pub(super) not_dates: u64,
    /// Dates but for their years of two digits.
    pub(super) short_years: u64,
    /// Texts of digits with a zero in front.
    pub(super) zeros_in_front: u64,
    /// Cells with each of the marks of lists.
    pub(super) lists: [u64; LIST_MARKS.len()],
    /// Terms between semicolons, bars or commas, whichever stands in the cell first; and their words.
    pub(super) terms: Sample,
    pub(super) n_terms: u64,
    pub(super) words_of_terms: u64,
    /// Words of all cells.
    pub(super) words: u64,
    pub(super) different: Sample,
    pub(super) patterns: Sample,
}

impl Tally {
    /// A column of which so many different values may be kept.
    pub(super) fn new(most: usize) -> Self {
        Tally {
            empty: 0,
            said_missing: [0; MISSING_TEXTS.len()],
            values: 0,
            numbers: NumberEvidence::default(),
            not_numbers: 0,
            fractions: 0,
            is_counting: true,
            last: None,
            dates: DateEvidence::default(),
            not_dates: 0,
            short_years: 0,
            zeros_in_front: 0,
            lists: [0; LIST_MARKS.len()],
            terms: Sample::new(most / 2),
            n_terms: 0,
            words_of_terms: 0,
            words: 0,
            different: Sample::new(most),
            patterns: Sample::new(most.min(256)),
        }
    }

    /// Counts a cell of somebody; `is_list` if the column is one of lists by its type.
    pub(super) fn add(&mut self, cell: &str, holder: u64, is_list: bool) {
        let text = cell.trim();
        if text.is_empty() {
            self.empty += 1;
            return;
        }
        if let Some(at) = MISSING_TEXTS.iter().position(|missing| *missing == text) {
            self.said_missing[at] += 1;
            return;
        }
        self.values += 1;
        self.different.add(text, holder);
        self.patterns.add(&pattern(text), holder);
        self.words += words(text);
        self.number(text);
        if !self.dates.add(text) {
            self.not_dates += 1;
            self.short_years += u64::from(has_short_year(text));
        }
        let mark = LIST_MARKS.iter().position(|&mark| text.contains(mark));
        if let Some(mark) = mark {
            self.lists[mark] += 1;
        }
        if mark.is_some() || is_list || self.n_terms > 0 {
            let mark = mark.map_or(';', |mark| LIST_MARKS[mark]);
            for term in text.split(mark).map(str::trim).filter(|term| !term.is_empty()) {
                self.terms.add(term, holder);
                self.n_terms += 1;
                self.words_of_terms += words(term);
            }
        }
    }

    fn number(&mut self, text: &str) {
        let is_digits = text.bytes().all(|byte| byte.is_ascii_digit());
        self.zeros_in_front += u64::from(is_digits && text.len() > 1 && text.starts_with('0'));
        if !self.numbers.add(text) {
            (self.not_numbers, self.is_counting) = (self.not_numbers + 1, false);
            return;
        }
        let value = NumberStyle::ALL.iter().find_map(|style| style.value(text));
        self.fractions += u64::from(value.is_some_and(|value| value.fract() != 0.0));
        self.is_counting &= self.last.is_none_or(|last| value == Some(last + 1.0));
        self.last = value;
    }

    /// Cells that say that there is no value.
    pub(super) fn n_said_missing(&self) -> u64 {
        self.said_missing.iter().sum()
    }
}

fn words(text: &str) -> u64 {
    text.split_whitespace().count() as u64
}

/// The shape of a text: `AA-999`. Letters are A or a, digits 9; what is long is cut.
pub(super) fn pattern(text: &str) -> String {
    const LONGEST: usize = 24;
    let shape = |c: char| match c {
        _ if c.is_numeric() => '9',
        _ if c.is_uppercase() => 'A',
        _ if c.is_alphabetic() => 'a',
        _ if c.is_control() => ' ',
        _ => c,
    };
    let mut pattern: String = text.chars().take(LONGEST).map(shape).collect();
    if text.chars().nth(LONGEST).is_some() {
        pattern.push('\u{2026}');
    }
    pattern
}

/// Whether a text is a date with a year of two digits.
fn has_short_year(text: &str) -> bool {
    let parts: Vec<&str> = text.split(['.', '/', '-']).collect();
    let is = |part: &str, most: u32| {
        (1..=2).contains(&part.len())
            && part.bytes().all(|byte| byte.is_ascii_digit())
            && part.parse().is_ok_and(|n: u32| n <= most)
    };
    matches!(parts[..], [first, second, year] if is(first, 31) && is(second, 31) && is(year, 99) && year.len() == 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_show_no_letter_and_no_digit() {
        assert_eq!(pattern("AB-123"), "AA-999");
        assert_eq!(pattern("\u{c9}mile Zola"), "Aaaaa Aaaa");
        assert_eq!(pattern(&"x".repeat(30)).chars().count(), 25);
        assert!(has_short_year("31.12.87") && !has_short_year("31.12.1987") && !has_short_year("1.2"));
    }
}
