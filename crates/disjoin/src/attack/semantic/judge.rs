//! Was what an attack eliminated really added? Only here the original is looked at.
//!
//! Paper:      shao2017, section 6: recall, precision and F-score; table I: density
//! Promises:   counts are pooled over all tables (micro) and averaged over tables (macro); the density is that of the rows
//!             that were attacked
//! Assumes:    rows of the original are those of the release, in the same order
//! Cost:       a look-up for each cell
//! Checked by: tests in this file (figure 2), tests/semantic.rs

use std::collections::HashMap;

use serde::Serialize;

use super::super::judge::Rate;
use super::{GroupTable, Trace, View};
use crate::data::{Dataset, Dictionary, RecordId, TermId, Transactions};
use crate::error::{Error, Place, Result};

/// How an attack's eliminations compare with the original.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Score {
    /// Members in all rows that were not in the original.
    pub added: u64,
    /// Members that were.
    pub original: u64,
    /// The share of eliminated members that were added.
    pub precision: Rate,
    /// The share of added members that were eliminated.
    pub recall: Rate,
    /// The harmonic mean of both.
    pub f: f64,
    /// The means over tables, each as much as any other.
    pub mean_precision: f64,
    /// Over tables with something added.
    pub mean_recall: f64,
    /// Over tables with something added.
    pub mean_f: f64,
    /// The mean share of a generalised item's members that were in the original.
    pub density: f64,
    /// The counts of each table.
    #[serde(skip)]
    pub of_tables: Vec<Counts>,
}

/// The counts of one table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Rows.
    pub rows: u64,
    /// Members in all rows.
    pub cells: u64,
    /// Of these, those that were not in the original.
    pub added: u64,
    /// Those that were eliminated.
    pub eliminated: u64,
    /// Those that were eliminated and not in the original.
    pub right: u64,
}

impl Counts {
    /// The share of eliminated members that were added; 0 if none was eliminated.
    pub fn precision(&self) -> f64 {
        share(self.right, self.eliminated)
    }

    /// The share of added members that were eliminated; 0 if none was added.
    pub fn recall(&self) -> f64 {
        share(self.right, self.added)
    }

    /// The harmonic mean of both.
    pub fn f(&self) -> f64 {
        share(2 * self.right, self.eliminated + self.added)
    }

    /// The share of members that were in the original.
    pub fn density(&self) -> f64 {
        share(self.cells - self.added, self.cells)
    }
}

fn share(part: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { part as f64 / all as f64 }
}

/// The original, row by row as the release.
pub struct Truth<'a> {
    original: &'a Transactions,
    /// For each record of the release its record of the original, if they are not in the same order.
    origin: Option<&'a [RecordId]>,
}

/// An original in the terms of a release, and for each record of the release which record of the original it was.
///
/// Which of equal records is which does not matter. The original of another release is refused.
pub fn align(view: &View<'_>, dictionary: &Dictionary, original: &Dataset) -> Result<(Transactions, Vec<RecordId>)> {
    let mut group_of: Vec<Option<u32>> = vec![None; dictionary.len()];
    for (group, members) in (0..).zip(view.groups) {
        members.iter().for_each(|&term| group_of[term as usize] = Some(group));
    }
    let names: Vec<Option<TermId>> = original.dictionary.iter().map(|text| dictionary.get(text)).collect();
    let mut records = Transactions::default();
    let mut unclaimed: HashMap<Vec<u32>, Vec<RecordId>> = HashMap::new();
    for record in original.records.iter() {
        let mut terms: Vec<TermId> = record.iter().filter_map(|&term| names[term as usize]).collect();
        let mut groups: Vec<u32> = terms.iter().filter_map(|&term| group_of[term as usize]).collect();
        groups.sort_unstable();
        groups.dedup();
        // Of a record whose terms are all suppressed the release has nothing.
        if !groups.is_empty() {
            unclaimed.entry(groups).or_default().push(records.len() as RecordId);
            records.push(&mut terms);
        }
    }
    let mut origin = Vec::with_capacity(view.records.len());
    for record in view.records.iter() {
        let claimed = unclaimed.get_mut(record).and_then(Vec::pop).ok_or_else(|| {
            Error::input(Place::file("the original"), "has not the records that the release was made from")
                .with_hint("give the file and the input flags that disjoin protect was given")
        })?;
        origin.push(claimed);
    }
    Ok((records, origin))
}

impl<'a> Truth<'a> {
    /// An original in the terms of the release, and for each record of the release which one it was, if not the same.
    pub fn new(original: &'a Transactions, origin: Option<&'a [RecordId]>) -> Self {
        Truth { original, origin }
    }

    /// Whether the original of a record has a term.
    pub fn has(&self, record: RecordId, term: TermId) -> bool {
        let record = match self.origin {
            None => record,
            Some(origin) => match origin.get(record as usize) {
                Some(&record) => record,
                None => return false,
            },
        };
        (record as usize) < self.original.len() && self.original.record(record).binary_search(&term).is_ok()
    }
}

/// Compares what was eliminated with the original.
pub fn judge(tables: &[GroupTable], traces: &[Trace], truth: &Truth<'_>) -> Score {
    let (mut of_tables, mut densities) = (Vec::new(), (0.0, 0.0));
    for (table, trace) in tables.iter().zip(traces) {
        let was_added = |row: usize, column: usize| !truth.has(table.records[row], table.members[column]);
        let mut counts = Counts { rows: table.records.len() as u64, ..Counts::default() };
        for row in 0..table.records.len() {
            let added = (0..table.members.len()).filter(|&column| was_added(row, column)).count();
            counts.cells += table.members.len() as u64;
            counts.added += added as u64;
            densities.0 += 1.0 - share(added as u64, table.members.len() as u64);
            densities.1 += 1.0;
        }
        counts.eliminated = trace.steps.len() as u64;
        counts.right = trace.steps.iter().filter(|step| was_added(step.row, step.column)).count() as u64;
        of_tables.push(counts);
    }
    let sum = |of: fn(&Counts) -> u64| of_tables.iter().map(of).sum::<u64>();
    let [cells, added, eliminated, right] =
        [sum(|of| of.cells), sum(|of| of.added), sum(|of| of.eliminated), sum(|of| of.right)];
    let mean = |of: fn(&Counts) -> f64, counts: fn(&&Counts) -> bool| {
        let (total, n) = of_tables.iter().filter(counts).fold((0.0, 0.0), |(sum, n), table| (sum + of(table), n + 1.0));
        if n == 0.0 { 0.0 } else { total / n }
    };
    Score {
        added,
        original: cells - added,
        precision: Rate::new(right, eliminated),
        recall: Rate::new(right, added),
        f: share(2 * right, eliminated + added),
        mean_precision: mean(Counts::precision, |of| of.eliminated > 0),
        mean_recall: mean(Counts::recall, |of| of.added > 0),
        mean_f: mean(Counts::f, |of| of.added > 0),
        density: if densities.1 == 0.0 { 0.0 } else { densities.0 / densities.1 },
        of_tables,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Method, eliminate, tables};
    use super::*;
    use crate::data::Recoding;

    #[test]
    fn figure_2_has_a_density_of_three_eighths() {
        let original = Dataset::from_texts([
            vec!["heart disease", "blood pressure", "icd", "weakness", "dizziness"],
            vec!["anesthesia", "icd", "pain", "diabetes"],
            vec!["gangrene", "limbs", "injury"],
            vec!["knee", "injury"],
        ]);
        let term = |text: &str| original.dictionary.get(text).unwrap();
        let group = ["blood pressure", "icd", "limbs", "injury"].map(term).to_vec();
        let others = (0..original.n_terms() as TermId).filter(|term| !group.contains(term)).map(|term| vec![term]);
        let recoding = Recoding::from_groups(original.n_terms(), others.chain([group.clone()])).unwrap();
        let records = recoding.apply(&original.records);
        let view = View { groups: recoding.groups(), records: &records };
        let tables = tables(&view, &|a, b| f64::from(a.abs_diff(b)), None);
        assert_eq!((tables.coverage.generalised, tables.coverage.attacked), (1, 1));
        let traces = eliminate(&tables.tables, Method::Threshold, 0).unwrap();
        let score = judge(&tables.tables, &traces, &Truth::new(&original.records, None));
        assert_eq!((score.density, score.added, score.original), (0.375, 10, 6));
        // Another order of rows, told by the map, makes no difference.
        let mut turned = Transactions::default();
        for record in (0..4).rev() {
            turned.push(&mut original.records.record(record).to_vec());
        }
        let again = judge(&tables.tables, &traces, &Truth::new(&turned, Some(&[3, 2, 1, 0])));
        assert_eq!(again, score);
        // Nor does an order that nobody told, and other numbers of terms.
        let texts = |record: &[TermId]| {
            record.iter().map(|&term| original.dictionary.text(term).to_owned()).collect::<Vec<_>>()
        };
        let renamed = Dataset::from_texts(turned.iter().map(texts));
        let (aligned, origin) = align(&view, &original.dictionary, &renamed).unwrap();
        assert_eq!(judge(&tables.tables, &traces, &Truth::new(&aligned, Some(&origin))), score);
        let other = Dataset::from_texts([vec!["knee", "pain"]]);
        assert!(matches!(align(&view, &original.dictionary, &other), Err(Error::Input { .. })));
    }

    #[test]
    fn shares_are_those_of_counts() {
        let counts = Counts { rows: 2, cells: 10, added: 6, eliminated: 4, right: 3 };
        assert_eq!((counts.precision(), counts.recall(), counts.f(), counts.density()), (0.75, 0.5, 0.6, 0.4));
        assert_eq!(Counts::default().f(), 0.0);
    }
}
