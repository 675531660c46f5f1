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

    /// Keeps the terms for which `keep` says so. `scratch` is work space.
    pub(super) fn retain(&mut self, mut keep: impl FnMut(TermId) -> bool, scratch: &mut Vec<(TermId, u32, u32)>) {
        scratch.clear();
        for i in 0..self.n_terms {
            if keep(self.data[i]) {
                scratch.push((self.data[i], self.start(i), self.end(i)));
            }
        }
        // What is written lies before what is still to be read: there are no more terms than before.
        let (old, n) = (self.n_terms, scratch.len());
        let mut end = 0;
        for (i, &(term, from, to)) in scratch.iter().enumerate() {
            let lists = 2 * old;
            self.data.copy_within(lists + from as usize..lists + to as usize, 2 * old + end);
            end += (to - from) as usize;
            self.data[i] = term;
        }
        self.data.copy_within(2 * old..2 * old + end, 2 * n);
        let mut end = 0;
        for (i, &(_, from, to)) in scratch.iter().enumerate() {
            end += to - from;
            self.data[n + i] = end;
        }
        self.data.truncate(2 * n + end as usize);
        self.n_terms = n;
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
        let mut kept = occurrences;
        kept.retain(|term| term != 3, &mut Vec::new());
        assert_eq!(kept.terms(), [2, 7, 9]);
        let rows: Vec<&[u32]> = (0..3).map(|i| kept.rows(i)).collect();
        assert_eq!(rows, [&[0, 5][..], &[], &[2, 3, 4]]);
        assert_eq!((0..3).map(|i| kept.support(i)).collect::<Vec<_>>(), [2, 0, 3]);
        kept.retain(|term| term == 9, &mut Vec::new());
        assert_eq!((kept.terms(), kept.rows(0)), (&[9][..], &[2, 3, 4][..]));
        kept.retain(|_| false, &mut Vec::new());
        assert!(kept.terms().is_empty());
    }
}
