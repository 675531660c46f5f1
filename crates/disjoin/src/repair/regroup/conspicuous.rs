//! How clearly do distances tell the members of a group that were added from those that were in the records?
//!
//! Paper:      ours; the rows and columns are those of shao2017, section 5.1
//! Promises:   one half where an added member is as often nearer to its context as farther than an original one, 1 where it is
//!             always farther: of the same row and the same column, where attacks by gaps look, or of the whole table, where
//!             thresholds are; the clearer of both counts. Records whose contexts are not known, and members that are not,
//!             count nowhere
//! Assumes:    contexts stay what they were when they were taken: those of few records change with one exchange
//! Cost:       for each adversary a distance for each contextual item of a record and each member, once; sorting rows and
//!             columns
//! Checked by: tests in this file: all pairs are compared

use std::collections::{BTreeMap, HashMap};

use rayon::prelude::*;

use super::remembered::Remembered;
use crate::data::{RecordId, TermId, Transactions};

/// How far terms are from what records show ungeneralised.
pub(super) struct Fit<'a> {
    original: &'a Transactions,
    /// For each term the records that hold it, ascending.
    holders: &'a [Vec<RecordId>],
    contexts: Vec<Vec<TermId>>,
    adversaries: &'a [Remembered<'a>],
    /// What was asked before, of each adversary.
    known: Vec<HashMap<(RecordId, TermId), f64>>,
}

/// How a group's added members compare with its original ones.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Telling {
    /// Cells of one row or one column.
    lines: Pairs,
    /// Cells of the whole table.
    table: Pairs,
    /// How many cells were added.
    added: f64,
}

/// Pairs of an added and an original cell.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Pairs {
    all: f64,
    /// Those whose added cell is the farther one; ties count one half.
    farther: f64,
}

impl Pairs {
    fn share(&self) -> f64 {
        if self.all == 0.0 { 0.5 } else { self.farther / self.all }
    }
}

impl Telling {
    /// About how many added cells are found beyond those that are found blindly.
    pub(super) fn lead(&self) -> f64 {
        (self.lines.share().max(self.table.share()) - 0.5).max(0.0) * self.added
    }
}

impl<'a> Fit<'a> {
    /// `contexts` are what each record of the original shows ungeneralised.
    pub(super) fn new(
        original: &'a Transactions,
        holders: &'a [Vec<RecordId>],
        contexts: Vec<Vec<TermId>>,
        adversaries: &'a [Remembered<'a>],
    ) -> Self {
        Fit { original, holders, contexts, adversaries, known: vec![HashMap::new(); adversaries.len()] }
    }

    /// How clearly a group of these members would tell, to each adversary.
    pub(super) fn telling(&mut self, members: &[TermId]) -> Vec<Telling> {
        let mut rows: Vec<RecordId> = members.iter().flat_map(|&term| &self.holders[term as usize]).copied().collect();
        rows.sort_unstable();
        rows.dedup();
        let mut cells = Vec::with_capacity(rows.len() * members.len());
        let n_adversaries = self.adversaries.len();
        let to = |adversary: usize| {
            cells.clear();
            for &row in &rows {
                for &term in members {
                    let was_added = self.original.record(row).binary_search(&term).is_err();
                    cells.push((self.mean(adversary, row, term), was_added));
                }
            }
            compare(members.len(), &cells)
        };
        (0..n_adversaries).map(to).collect()
    }

    /// The mean distance of a term from the context of a record.
    fn mean(&mut self, adversary: usize, record: RecordId, term: TermId) -> f64 {
        let (contexts, adversaries) = (&self.contexts, self.adversaries);
        *self.known[adversary].entry((record, term)).or_insert_with(|| {
            let beside = contexts[record as usize].iter().filter(|&&other| other != term);
            average(beside.map(|&other| adversaries[adversary].get(other, term)))
        })
    }

    /// Of these terms the `n` that go best with the records of a group, and whose records go best with its members; a sample
    /// of each is asked. Distances of adversaries cannot be compared, but ranks can: the mean of those counts.
    pub(super) fn likeliest(&self, members: &[TermId], candidates: &[TermId], n: usize) -> Vec<TermId> {
        let mut ranks: BTreeMap<TermId, Vec<f64>> = BTreeMap::new();
        for adversary in self.adversaries {
            let nearest = self.nearest(adversary, members, candidates);
            for (rank, &term) in nearest.iter().enumerate() {
                ranks.entry(term).or_default().push(rank as f64 / nearest.len() as f64);
            }
        }
        let mut likely: Vec<(f64, TermId)> =
            ranks.into_iter().map(|(term, ranks)| (average(ranks.into_iter()), term)).collect();
        likely.sort_by(|a, b| a.0.total_cmp(&b.0));
        likely.into_iter().take(n).map(|(_, term)| term).collect()
    }

    /// The same terms from the likeliest on, as one adversary sees them; without those that he does not know.
    fn nearest(&self, adversary: &Remembered<'_>, members: &[TermId], candidates: &[TermId]) -> Vec<TermId> {
        /// Records that are asked, and items of each.
        const ASKED: usize = 6;
        const BESIDE: usize = 12;
        let sample = |terms: &[TermId]| -> Vec<RecordId> {
            let rows: Vec<RecordId> = terms.iter().flat_map(|&term| &self.holders[term as usize]).copied().collect();
            let step = rows.len().div_ceil(ASKED).max(1);
            rows.into_iter().step_by(step).collect()
        };
        let from = |rows: &[RecordId], term: TermId| {
            let beside = rows.iter().flat_map(|&row| {
                let context = &self.contexts[row as usize];
                context.iter().step_by(context.len().div_ceil(BESIDE).max(1))
            });
            average(beside.filter(|&&other| other != term).map(|&other| adversary.get(other, term)))
        };
        let here = sample(members);
        let mut far: Vec<(f64, TermId)> = candidates
            .par_iter()
            .map(|&term| {
                let there = sample(&[term]);
                (from(&here, term) + average(members.iter().map(|&member| from(&there, member))), term)
            })
            .filter(|(far, _)| far.is_finite())
            .collect();
        far.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        far.into_iter().map(|(_, term)| term).collect()
    }
}

/// The mean of what is known; not a number if nothing is.
fn average(distances: impl Iterator<Item = f64>) -> f64 {
    let known = distances.filter(|distance| distance.is_finite());
    let (sum, n) = known.fold((0.0, 0.0), |(sum, n), distance| (sum + distance, n + 1.0));
    sum / n
}

/// Compares the cells of a table, row after row: their distances, and whether they were added.
fn compare(n_columns: usize, cells: &[(f64, bool)]) -> Telling {
    let mut telling =
        Telling { added: cells.iter().filter(|cell| cell.1 && !cell.0.is_nan()).count() as f64, ..Telling::default() };
    let mut line = Vec::new();
    for row in cells.chunks(n_columns.max(1)) {
        line.clear();
        line.extend(row.iter().copied().filter(|cell| !cell.0.is_nan()));
        count(&mut line, &mut telling.lines);
    }
    for column in 0..n_columns {
        line.clear();
        line.extend(cells.iter().skip(column).step_by(n_columns).copied().filter(|cell| !cell.0.is_nan()));
        count(&mut line, &mut telling.lines);
    }
    line.clear();
    line.extend(cells.iter().copied().filter(|cell| !cell.0.is_nan()));
    count(&mut line, &mut telling.table);
    telling
}

/// Counts the pairs of some cells by ranks: each added one is farther than the original ones before it.
fn count(cells: &mut [(f64, bool)], pairs: &mut Pairs) {
    cells.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let n_added = cells.iter().filter(|cell| cell.1).count();
    pairs.all += (n_added * (cells.len() - n_added)) as f64;
    let mut originals = 0.0;
    for ties in cells.chunk_by(|a, b| a.0 == b.0) {
        let added = ties.iter().filter(|cell| cell.1).count() as f64;
        let original = ties.len() as f64 - added;
        pairs.farther += added * (originals + 0.5 * original);
        originals += original;
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::generate::stream;

    #[test]
    fn ranks_count_what_all_pairs_do() {
        for seed in 0..200 {
            let mut rng = stream(seed, "conspicuous", 0);
            let (n_rows, n_columns) = (rng.random_range(1..7_usize), rng.random_range(1..5_usize));
            let cells: Vec<(f64, bool)> = (0..n_rows * n_columns)
                .map(|_| match rng.random_range(0..6) {
                    0 => (f64::NAN, rng.random()),
                    distance => (f64::from(distance), rng.random()),
                })
                .collect();
            let mut slow = Telling::default();
            for (at, added) in cells.iter().enumerate().filter(|(_, cell)| cell.1 && !cell.0.is_nan()) {
                slow.added += 1.0;
                for (other, original) in cells.iter().enumerate().filter(|(_, cell)| !cell.1 && !cell.0.is_nan()) {
                    let farther = match added.0.total_cmp(&original.0) {
                        std::cmp::Ordering::Less => 0.0,
                        std::cmp::Ordering::Equal => 0.5,
                        std::cmp::Ordering::Greater => 1.0,
                    };
                    slow.table = Pairs { all: slow.table.all + 1.0, farther: slow.table.farther + farther };
                    if at / n_columns == other / n_columns || at % n_columns == other % n_columns {
                        slow.lines = Pairs { all: slow.lines.all + 1.0, farther: slow.lines.farther + farther };
                    }
                }
            }
            assert_eq!(compare(n_columns, &cells), slow);
        }
    }

    #[test]
    fn what_is_farther_tells() {
        let telling = |cells: &[(f64, bool)]| compare(2, cells).lead();
        assert_eq!(telling(&[(0.1, false), (0.9, true), (0.8, true), (0.2, false)]), 1.0);
        assert_eq!(telling(&[(0.9, false), (0.1, true), (0.2, true), (0.8, false)]), 0.0);
        assert_eq!(telling(&[(0.5, false), (0.5, true)]), 0.0);
        assert_eq!(telling(&[(0.5, true), (0.5, true)]), 0.0);
        assert_eq!(compare(0, &[]), Telling::default());
    }
}
