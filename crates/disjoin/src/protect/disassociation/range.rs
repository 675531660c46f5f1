//! A range of records on its way through the guarded tree: what is left of them, and where each term is.
//!
//! Assumes:    no record is empty, terms of a record ascend
//! Cost:       linear in the incidences of the range, plus sorting its terms
//! Checked by: tests/it/guarded.rs

use crate::data::{RecordId, TermId, Transactions};

/// Records without the terms that were published further up.
#[derive(Debug, Clone, Default)]
pub(super) struct Range {
    /// Which records they are.
    pub(super) ids: Vec<RecordId>,
    terms: Vec<TermId>,
    ends: Vec<usize>,
}

impl Range {
    /// All records.
    pub(super) fn all(records: &Transactions) -> Self {
        let mut range = Range { ids: (0..records.len() as RecordId).collect(), ..Range::default() };
        range.terms.extend_from_slice(records.all_terms());
        let mut end = 0;
        range.ends.extend(records.iter().map(|record| {
            end += record.len();
            end
        }));
        range
    }

    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    /// Some of its rows, without the terms that are taken out.
    pub(super) fn part(&self, rows: &[u32], index: &Index, is_taken: &[bool]) -> Self {
        let mut part = Range { ids: Vec::with_capacity(rows.len()), ..Range::default() };
        for &row in rows {
            part.ids.push(self.ids[row as usize]);
            let left = index.row(row).iter().filter(|&&at| !is_taken.get(at as usize).copied().unwrap_or(false));
            part.terms.extend(left.map(|&at| index.terms[at as usize]));
            part.ends.push(part.terms.len());
        }
        part
    }
}

const NONE: u32 = u32::MAX;

/// Work space that is used for one range after the other.
pub(super) struct Scratch {
    /// For each term its place in the range at hand, or none.
    place: Vec<u32>,
}

impl Scratch {
    pub(super) fn new(n_terms: usize) -> Self {
        Scratch { place: vec![NONE; n_terms] }
    }
}

/// The terms of a range by their texts, and the rows that hold each. A term is called by its place among them.
pub(super) struct Index {
    /// Ascending.
    pub(super) terms: Vec<TermId>,
    pub(super) supports: Vec<u32>,
    /// The rows of each term, and where they end.
    holders: Vec<u32>,
    holders_ends: Vec<usize>,
    /// The places of each row's terms, ascending, and where they end.
    places: Vec<u32>,
    places_ends: Vec<usize>,
}

impl Index {
    pub(super) fn new(range: &Range, scratch: &mut Scratch) -> Self {
        let mut terms: Vec<TermId> = Vec::new();
        for &term in &range.terms {
            let place = &mut scratch.place[term as usize];
            if *place == NONE {
                *place = 0;
                terms.push(term);
            }
        }
        terms.sort_unstable();
        (0..).zip(&terms).for_each(|(at, &term)| scratch.place[term as usize] = at);
        let places: Vec<u32> = range.terms.iter().map(|&term| scratch.place[term as usize]).collect();
        terms.iter().for_each(|&term| scratch.place[term as usize] = NONE);
        let mut supports = vec![0_u32; terms.len()];
        places.iter().for_each(|&at| supports[at as usize] += 1);
        let mut next: Vec<usize> = Vec::with_capacity(terms.len());
        let mut end = 0;
        for &support in &supports {
            next.push(end);
            end += support as usize;
        }
        let mut holders = vec![0; places.len()];
        let mut start = 0;
        for (row, &end) in (0..).zip(&range.ends) {
            for &at in &places[start..end] {
                holders[next[at as usize]] = row;
                next[at as usize] += 1;
            }
            start = end;
        }
        Index { terms, supports, holders, holders_ends: next, places, places_ends: range.ends.clone() }
    }

    /// The terms of a row, by their places.
    #[inline]
    pub(super) fn row(&self, row: u32) -> &[u32] {
        let row = row as usize;
        &self.places[if row == 0 { 0 } else { self.places_ends[row - 1] }..self.places_ends[row]]
    }

    /// The rows that hold a term, ascending.
    pub(super) fn holders(&self, at: usize) -> &[u32] {
        &self.holders[self.holders_ends[at] - self.supports[at] as usize..self.holders_ends[at]]
    }

    /// The number of rows that hold any of some terms.
    pub(super) fn n_rows_with(&self, terms: impl IntoIterator<Item = usize>) -> u64 {
        let mut rows: Vec<u32> = terms.into_iter().flat_map(|at| self.holders(at)).copied().collect();
        rows.sort_unstable();
        rows.dedup();
        rows.len() as u64
    }

    /// The rows that hold something besides the terms that are taken out, and those that do not.
    pub(super) fn remainder(&self, is_taken: &[bool], n_rows: usize) -> (Vec<u32>, Vec<u32>) {
        let is_left = |at: &u32| !is_taken.get(*at as usize).copied().unwrap_or(false);
        (0..n_rows as u32).partition(|&row| self.row(row).iter().any(is_left))
    }
}
