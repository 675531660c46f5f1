//! Which rows hold which rare terms: one ascending list of rows a term, for bags that are mostly empty.
//!
//! Term chunks are sparse: a term of one is held by fewer than k records. Lists are then smaller than bit masks, and
//! a shared chunk is built in time proportional to the number of (row, term) incidences, however many leaves there are.

use crate::data::TermId;

/// Terms, ascending, each with the rows that hold it, ascending.
///
/// All in one array, since there are many of these and each is small: the terms, the ends of their lists, the lists.
#[derive(Debug, Clone, Default)]
pub(super) struct Occurrences {
    n_terms: usize,
    data: Vec<u32>,
}

impl Occurrences {
    /// `terms` gives each term with its support, ascending; `rows` its rows, by position in `terms`.
    pub(super) fn new<R: Iterator<Item = u32>>(terms: &[(TermId, u32)], rows: impl Fn(usize) -> R) -> Self {
        let n_incidences: u32 = terms.iter().map(|&(_, support)| support).sum();
        let mut data = Vec::with_capacity(2 * terms.len() + n_incidences as usize);
        data.extend(terms.iter().map(|&(term, _)| term));
        let mut end = 0;
        data.extend(terms.iter().map(|&(_, support)| {
            end += support;
            end
        }));
        (0..terms.len()).for_each(|i| data.extend(rows(i)));
        Occurrences { n_terms: terms.len(), data }
    }

    /// The terms.
    pub(super) fn terms(&self) -> &[TermId] {
        &self.data[..self.n_terms]
    }

    /// The rows that hold the term at `position`.
    pub(super) fn rows(&self, position: usize) -> &[u32] {
        let lists = &self.data[2 * self.n_terms..];
        &lists[self.start(position) as usize..self.end(position) as usize]
    }

    /// How many rows hold the term at `position`.
    pub(super) fn support(&self, position: usize) -> u32 {
        self.end(position) - self.start(position)
    }

    /// A copy with the terms for which `keep` says so.
    pub(super) fn filtered(&self, keep: impl Fn(TermId) -> bool) -> Occurrences {
        let kept: Vec<usize> = (0..self.n_terms).filter(|&i| keep(self.data[i])).collect();
        let terms: Vec<(TermId, u32)> = kept.iter().map(|&i| (self.data[i], self.support(i))).collect();
        Occurrences::new(&terms, |i| self.rows(kept[i]).iter().copied())
    }

    fn start(&self, position: usize) -> u32 {
        if position == 0 { 0 } else { self.end(position - 1) }
    }

    fn end(&self, position: usize) -> u32 {
        self.data[self.n_terms + position]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filtering_keeps_the_rows_of_what_stays() {
        let lists = [vec![0, 5], vec![1], vec![], vec![2, 3, 4]];
        let occurrences = Occurrences::new(&[(2, 2), (3, 1), (7, 0), (9, 3)], |i| lists[i].iter().copied());
        let kept = occurrences.filtered(|term| term != 3);
        assert_eq!(kept.terms(), [2, 7, 9]);
        let rows: Vec<&[u32]> = (0..3).map(|i| kept.rows(i)).collect();
        assert_eq!(rows, [&[0, 5][..], &[], &[2, 3, 4]]);
        assert_eq!((0..3).map(|i| kept.support(i)).collect::<Vec<_>>(), [2, 0, 3]);
    }
}
