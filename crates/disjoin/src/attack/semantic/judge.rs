//! Was what an attack eliminated really added? Only here the original is looked at.
//!
//! Paper:      shao2017, section 6: recall, precision and F-score; table I: density
//! Promises:   counts are pooled over all tables (micro) and averaged over tables (macro); the density is that of the rows
//!             that were attacked
//! Assumes:    rows of the original are those of the release, in the same order; of a release with several recodings, that its
//!             custody tells whose record is where
//! Cost:       a look-up for each cell
//! Checked by: tests in this file (figure 2), tests/it/semantic.rs, which counts by definition where there are several recodings

use std::collections::HashMap;

use serde::Serialize;

use super::super::judge::Rate;
use super::{GroupTable, Trace, View};
use crate::data::{Dataset, Dictionary, RecordId, TermId, Transactions};
use crate::error::{Error, Place, Result};
use crate::release::recoded::Recoded;

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
#[derive(Clone, Copy)]
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
        let claimed = unclaimed
            .get_mut(record)
            .and_then(Vec::pop)
            .ok_or_else(|| foreign("has not the records that the release was made from"))?;
        origin.push(claimed);
    }
    Ok((records, origin))
}

/// The original of a whole release.
#[derive(Debug, Clone)]
pub struct Original {
    records: Transactions,
    origin: Vec<RecordId>,
}

impl Original {
    /// An original beside a release. `line_of` is for each record of the original the line that shows it, as custody tells; a
    /// release with several recodings cannot be judged without.
    pub fn new(release: &Recoded, original: &Dataset, line_of: Option<&[u32]>) -> Result<Self> {
        match (line_of, &release.blocks[..]) {
            (Some(line_of), _) => by_lines(release, original, line_of),
            (None, [block]) => {
                let view = View { groups: &block.groups, records: &block.bag.transactions() };
                let (records, origin) = align(&view, &release.dictionary, original)?;
                Ok(Original { records, origin })
            }
            (None, _) => {
                let problem =
                    "is not enough for a release with several recodings: whose record is in which is not published";
                let hint = "name the custody folder that disjoin protect wrote: --custody";
                Err(Error::input(Place::file("the original"), problem).with_hint(hint))
            }
        }
    }

    /// What it says of each record of the release, counted over all recodings.
    pub fn truth(&self) -> Truth<'_> {
        Truth::new(&self.records, Some(&self.origin))
    }
}

fn foreign(problem: &str) -> Error {
    let hint = "give the file and the input flags that disjoin protect was given";
    Error::input(Place::file("the original"), problem).with_hint(hint)
}

/// The same as [`align`], where it is told which record is where.
fn by_lines(release: &Recoded, original: &Dataset, line_of: &[u32]) -> Result<Original> {
    if line_of.len() != original.records.len() {
        return Err(foreign("has another number of records than its custody"));
    }
    let lines: Vec<(usize, usize)> = (0..)
        .zip(&release.blocks)
        .flat_map(|(block, of): (usize, _)| (0..of.bag.len()).map(move |line| (block, line)))
        .collect();
    let n_terms = release.dictionary.len();
    let group_of: Vec<_> = release.blocks.iter().map(|block| block.group_of_terms(n_terms)).collect();
    let names: Vec<Option<TermId>> = original.dictionary.iter().map(|text| release.dictionary.get(text)).collect();
    let mut records = Transactions::default();
    let mut unclaimed: Vec<Vec<RecordId>> = vec![Vec::new(); lines.len()];
    let mut terms: Vec<TermId> = Vec::new();
    for (record, &line) in original.records.iter().zip(line_of) {
        let strange =
            || foreign("has not the records that the release was made from, or not in the order of its custody");
        let &(block, at) = lines.get(line as usize).ok_or_else(strange)?;
        terms.clear();
        terms.extend(record.iter().filter_map(|&term| names[term as usize]));
        let shown = release.blocks[block].bag.items(at);
        let has = |item: &u32| terms.iter().any(|&term| group_of[block][term as usize] == Some(*item));
        if !shown.iter().all(has) {
            return Err(strange());
        }
        // Of a record that shows nothing the release has no row.
        if !shown.is_empty() {
            unclaimed[line as usize].push(records.len() as RecordId);
            records.push(&mut terms);
        }
    }
    let mut origin = Vec::with_capacity(records.len());
    for (&(block, at), mut of_line) in lines.iter().zip(unclaimed) {
        let bag = &release.blocks[block].bag;
        if !bag.items(at).is_empty() && of_line.len() != bag.count(at) as usize {
            return Err(foreign("has not as many records of each kind as the release"));
        }
        // The last first, as where nothing is told.
        of_line.reverse();
        origin.append(&mut of_line);
    }
    Ok(Original { records, origin })
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
