//! How many records satisfy a predicate? Certain bounds, the expectation and its deviation.
//!
//! Of a group with n records, side i (rows, a sensitive column, sets) has at least s_i and at most p_i records that satisfy its
//! conditions. Which records of one side are those of another is not published, so of all records of the group
//!
//! ```text
//! max(0, s_1 + ... + s_r - (r - 1) n)  ..  min(p_1, ..., p_r)
//! ```
//!
//! satisfy all, and both ends are attained if those of the sides are. Bounds of groups add up.
//!
//! Paper:      Fréchet's bounds; LeFevre, DeWitt, Ramakrishnan, KDD 2006, on counting by the uniform assumption
//! Promises:   the original's number of published records is within the bounds, whatever the original was. They are attained for
//!             cells that list or bound their values, and wherever those of [`Estimate`] are
//! Assumes:    for the expectation, that all values of a cell are as likely and independent, and all ways to put sides together
//! Departs:    records that were suppressed are not counted: how many there are is not published
//! Cost:       a pass over the rows, or over the counts, and one over the different cells of each column
//! Checked by: `tests/it/predicates.rs`, against all originals of small releases

use std::collections::BTreeMap;

use super::super::Estimate;
use super::super::estimate::for_each_part;
use super::cells::{Answer, Test};
use super::predicate::{Literal, Predicate, Written};
use super::{Asked, Side};
use crate::data::TermId;
use crate::error::Result;
use crate::release::cells::Value;

/// Values that a hint lists.
const LISTED: usize = 8;

/// An answer, and what should be said with it.
#[derive(Debug, Clone, PartialEq)]
pub struct Counted {
    /// The number of records.
    pub estimate: Estimate,
    /// What somebody should know.
    pub notes: Vec<Note>,
}

/// What should be said with an answer. No value that was asked for is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// A value is nowhere to be seen in its column: where it was written, the column, and values that are, nearest first.
    NotShown {
        /// The character where it begins, from 1.
        at: usize,
        /// The column.
        column: String,
        /// Values of the column.
        shown: Vec<String>,
    },
    /// Cells of a column are labels that nobody explained.
    Labels {
        /// The column.
        column: String,
    },
}

/// How many records of a group satisfy the conditions of one side.
#[derive(Debug, Clone, Copy, Default)]
struct Margin {
    sure: u64,
    possible: u64,
    mean: f64,
    /// The sum of squared probabilities; what the mean squared lacks to that of ordered pairs.
    squares: f64,
}

impl Margin {
    fn add(&mut self, answer: Answer, count: u64) {
        self.sure += count * u64::from(answer.sure);
        self.possible += count * u64::from(answer.possible);
        self.mean += count as f64 * answer.share;
        self.squares += count as f64 * answer.share * answer.share;
    }

    /// The mean number of ordered pairs of different records that satisfy them.
    fn pairs(&self) -> f64 {
        (self.mean * self.mean - self.squares).max(0.0)
    }
}

/// The conditions on one side.
struct Bound<'p> {
    side: usize,
    /// By column, those of rows.
    tests: BTreeMap<usize, Vec<Test>>,
    /// The terms of sets.
    terms: Vec<&'p Literal>,
}

impl Asked<'_> {
    /// How many records satisfy a predicate.
    pub fn count(&self, predicate: &Predicate) -> Result<Counted> {
        let mut notes = Vec::new();
        let bound = self.bind(predicate, &mut notes)?;
        let margins: Vec<Vec<Margin>> = bound.iter().map(|bound| self.margins(bound)).collect();
        let (mut lower, mut upper, mut expected, mut variance) = (0, 0, 0.0, 0.0);
        for (group, &n) in self.sizes.iter().enumerate() {
            let of_group: Vec<Margin> = margins.iter().map(|side| side[group]).collect();
            let (least, most, mean, spread) = join(n, &of_group);
            lower += least;
            upper += most.max(least);
            expected += mean;
            variance += spread;
        }
        let expected = expected.clamp(lower as f64, upper as f64);
        let estimate = Estimate { lower, upper, expected, deviation: variance.max(0.0).sqrt() };
        Ok(Counted { estimate, notes })
    }

    /// Puts every condition to its side and column.
    fn bind<'p>(&self, predicate: &'p Predicate, notes: &mut Vec<Note>) -> Result<Vec<Bound<'p>>> {
        let mut bound: Vec<Bound<'p>> = Vec::new();
        for condition in &predicate.conditions {
            let (side, column) = self.find(&condition.column, predicate)?;
            let at = bound.iter().position(|bound| bound.side == side).unwrap_or_else(|| {
                bound.push(Bound { side, tests: BTreeMap::new(), terms: Vec::new() });
                bound.len() - 1
            });
            let cells = match &self.sides[side] {
                Side::Sets { name, sets } => {
                    let Written::Has(terms) = &condition.written else {
                        let hint = format!("write {name} has TERM, or {name} has {{TERM, TERM}}");
                        return Err(predicate.fault(condition.column.at, "the column holds sets of terms", hint));
                    };
                    let dictionary = &sets.model.release().dictionary;
                    let unknown = terms.iter().filter(|term| dictionary.get(&term.text).is_none());
                    notes.extend(unknown.map(|term| not_shown(term, name, dictionary.iter())));
                    bound[at].terms.extend(terms);
                    continue;
                }
                Side::Rows { columns, .. } => &columns[column].cells,
                Side::Values { cells, .. } => cells,
            };
            let test = cells.test(&condition.written, predicate)?;
            if let (Test::OneOf { values, not: false }, Written::Is { values: written, .. }) =
                (&test, &condition.written)
            {
                let is_unknown = |value: &Value| !value.text.is_empty() && !cells.shows(value);
                if values.iter().all(is_unknown) {
                    notes.extend(written.iter().map(|value| not_shown(value, &condition.column.text, cells.texts())));
                }
            }
            if cells.has_labels() {
                notes.push(Note::Labels { column: condition.column.text.clone() });
            }
            bound[at].tests.entry(column).or_default().push(test);
        }
        notes.dedup();
        Ok(bound)
    }

    /// The side and the column of a name.
    fn find(&self, name: &Literal, predicate: &Predicate) -> Result<(usize, usize)> {
        for (at, side) in self.sides.iter().enumerate() {
            match side {
                Side::Rows { columns, .. } => {
                    if let Some(column) = columns.iter().position(|asked| asked.column.name == name.text) {
                        return Ok((at, column));
                    }
                }
                Side::Values { name: own, .. } | Side::Sets { name: own, .. } if *own == name.text => {
                    return Ok((at, 0));
                }
                _ => {}
            }
        }
        let names = self.names();
        let near = nearest(&name.text, names.iter().copied());
        let guess = near.first().map_or(String::new(), |near| format!("did you mean {near}? "));
        let hint = format!("{guess}the columns are {}", names.join(", "));
        Err(predicate.fault(name.at, "the release has no such column", hint))
    }

    /// What one side says of each group.
    fn margins(&self, bound: &Bound<'_>) -> Vec<Margin> {
        let mut margins = vec![Margin::default(); self.sizes.len()];
        match &self.sides[bound.side] {
            Side::Rows { columns, group_of } => {
                let answers: Vec<(&[u32], Vec<Answer>)> = bound
                    .tests
                    .iter()
                    .map(|(&column, tests)| (&columns[column].column.codes[..], columns[column].cells.ask(tests)))
                    .collect();
                for (row, &group) in group_of.iter().enumerate() {
                    let mut all = Answer { sure: true, possible: true, share: 1.0 };
                    for (codes, answers) in &answers {
                        let one = answers[codes[row] as usize];
                        all.sure &= one.sure;
                        all.possible &= one.possible;
                        all.share *= one.share;
                    }
                    margins[group as usize].add(all, 1);
                }
            }
            Side::Values { cells, counts, .. } => {
                let tests: Vec<Test> = bound.tests.values().flatten().cloned().collect();
                let answers = cells.ask(&tests);
                for line in *counts {
                    margins[line.group as usize].add(answers[line.code as usize], u64::from(line.count));
                }
            }
            Side::Sets { sets, .. } => {
                let dictionary = &sets.model.release().dictionary;
                let known: Option<Vec<TermId>> = bound.terms.iter().map(|term| dictionary.get(&term.text)).collect();
                let Some(mut itemset) = known else { return margins };
                itemset.sort_unstable();
                itemset.dedup();
                let mut variances = vec![0.0; margins.len()];
                for_each_part(&sets.model, &itemset, |part| {
                    let Some(&class) = sets.class_of_root.get(part.root as usize) else { return };
                    let margin = &mut margins[class as usize];
                    margin.sure += part.lower;
                    margin.possible += part.upper;
                    margin.mean += part.expected;
                    variances[class as usize] += part.variance;
                });
                for (margin, variance) in margins.iter_mut().zip(variances) {
                    margin.mean = margin.mean.clamp(margin.sure as f64, margin.possible as f64);
                    // E[c (c - 1)] = V + E^2 - E.
                    margin.squares = margin.mean - variance;
                }
            }
        }
        margins
    }
}

/// The bounds, the mean and the variance of the records of a group that satisfy all sides.
fn join(n: u64, margins: &[Margin]) -> (u64, u64, f64, f64) {
    let sure: u64 = margins.iter().map(|margin| margin.sure).sum();
    let lower = sure.saturating_sub((margins.len() as u64).saturating_sub(1).saturating_mul(n));
    let upper = margins.iter().map(|margin| margin.possible).min().unwrap_or(n).min(n);
    let all = n as f64;
    let (mut mean, mut pairs) = (all, all * (all - 1.0));
    for margin in margins.iter().filter(|_| n > 0) {
        mean *= margin.mean / all;
        pairs *= if n > 1 { margin.pairs() / (all * (all - 1.0)) } else { 0.0 };
    }
    (lower, upper, mean, (pairs + mean - mean * mean).max(0.0))
}

fn not_shown<'a>(value: &Literal, column: &str, texts: impl Iterator<Item = &'a str>) -> Note {
    let texts: Vec<&str> = texts.collect();
    let near = nearest(&value.text, texts.iter().copied());
    let shown = match near.is_empty() && texts.len() <= LISTED {
        true => texts.into_iter().map(str::to_owned).collect(),
        false => near,
    };
    Note::NotShown { at: value.at, column: column.to_owned(), shown }
}

/// Names that are nearly this one, nearest first.
fn nearest<'a>(text: &str, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let most = 1 + text.chars().count() / 3;
    let lower = text.to_lowercase();
    let mut near: Vec<(usize, &str)> = names
        .map(|name| (strsim::damerau_levenshtein(&name.to_lowercase(), &lower), name))
        .filter(|(distance, _)| *distance <= most)
        .collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter().take(3).map(|(_, name)| name.to_owned()).collect()
}
