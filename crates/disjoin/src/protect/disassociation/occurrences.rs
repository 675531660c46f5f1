//! Which rows hold which rare terms: one ascending list of rows a term, for bags that are mostly empty.
//!
//! Term chunks are sparse: a term of one is held by fewer than k records. Lists are then smaller than bit masks, and
//! a shared chunk is built in time proportional to the number of (row, term) incidences, however many leaves there are.

use crate::data::TermId;

/// Terms, ascending, each with the rows that hold it, ascending.
#[derive(Debug, Clone, Default)]
pub(super) struct Occurrences {
    pub(super) terms: Vec<TermId>,
    ends: Vec<u32>,
    rows: Vec<u32>,
}

impl Occurrences {
    /// No terms, and room for as many as there will be.
    pub(super) fn with_capacity(n_terms: usize, n_incidences: usize) -> Self {
        Occurrences {
            terms: Vec::with_capacity(n_terms),
            ends: Vec::with_capacity(n_terms),
            rows: Vec::with_capacity(n_incidences),
        }
    }

    /// Appends a term, which must be larger than those before it.
    pub(super) fn push(&mut self, term: TermId, rows: impl Iterator<Item = u32>) {
        self.terms.push(term);
        self.rows.extend(rows);
        self.ends.push(self.rows.len() as u32);
    }

    /// The rows that hold the term at `position`.
    pub(super) fn rows(&self, position: usize) -> &[u32] {
        &self.rows[self.start(position)..self.ends[position] as usize]
    }

    /// How many rows hold the term at `position`.
    pub(super) fn support(&self, position: usize) -> u32 {
        self.ends[position] - self.start(position) as u32
    }

    /// A copy with the terms for which `keep` says so.
    pub(super) fn filtered(&self, keep: impl Fn(TermId) -> bool) -> Occurrences {
        let kept = || (0..self.terms.len()).filter(|&i| keep(self.terms[i]));
        let n_incidences = kept().map(|i| self.support(i) as usize).sum();
        let mut copy = Occurrences::with_capacity(kept().count(), n_incidences);
        kept().for_each(|i| copy.push(self.terms[i], self.rows(i).iter().copied()));
        copy
    }

    fn start(&self, position: usize) -> usize {
        if position == 0 { 0 } else { self.ends[position - 1] as usize }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filtering_keeps_the_rows_of_what_stays() {
        let mut occurrences = Occurrences::default();
        for (term, rows) in [(2, vec![0, 5]), (3, vec![1]), (7, vec![]), (9, vec![2, 3, 4])] {
            occurrences.push(term, rows.into_iter());
        }
        let kept = occurrences.filtered(|term| term != 3);
        assert_eq!(kept.terms, [2, 7, 9]);
        let rows: Vec<&[u32]> = (0..3).map(|i| kept.rows(i)).collect();
        assert_eq!(rows, [&[0, 5][..], &[], &[2, 3, 4]]);
        assert_eq!((0..3).map(|i| kept.support(i)).collect::<Vec<_>>(), [2, 0, 3]);
    }
}
