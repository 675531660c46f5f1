//! Distances that are asked for again and again, told from memory.
//!
//! Promises:   the same answers, bit for bit, whichever thread asks first
//! Assumes:    terms are compared with many others one after the other: what is known of a term is side by side
//! Cost:       8 bytes for each pair of terms of which one was asked about, a gigabyte at most: with more terms nothing is
//!             remembered
//! Checked by: tests in this file

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::attack::semantic::Distance;
use crate::data::TermId;

/// So many pairs at most.
const MOST: usize = 1 << 27;

/// The bits of what was not asked about yet: not a number, but not the one that unknown distances are.
const UNASKED: u64 = u64::MAX;

/// A distance with a memory.
pub(super) struct Remembered<'a> {
    distance: &'a Distance<'a>,
    n_terms: usize,
    /// For each term the distances from others; none if there are too many terms.
    rows: Vec<OnceLock<Vec<AtomicU64>>>,
}

impl<'a> Remembered<'a> {
    pub(super) fn new(distance: &'a Distance<'a>, n_terms: usize) -> Self {
        let n_rows = if n_terms.saturating_mul(n_terms) <= MOST { n_terms } else { 0 };
        Remembered { distance, n_terms, rows: (0..n_rows).map(|_| OnceLock::new()).collect() }
    }

    /// How far a term is from another.
    pub(super) fn get(&self, other: TermId, term: TermId) -> f64 {
        let Some(row) = self.rows.get(term as usize) else { return (self.distance)(other, term) };
        let known = &row.get_or_init(|| (0..self.n_terms).map(|_| AtomicU64::new(UNASKED)).collect())[other as usize];
        let bits = known.load(Ordering::Relaxed);
        if bits != UNASKED {
            return f64::from_bits(bits);
        }
        let told = (self.distance)(other, term);
        known.store(if told.is_nan() { f64::NAN } else { told }.to_bits(), Ordering::Relaxed);
        told
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use rayon::prelude::*;

    use super::*;

    #[test]
    fn what_was_asked_is_not_asked_again() {
        let asked = AtomicUsize::new(0);
        let distance = |a: TermId, b: TermId| {
            asked.fetch_add(1, Ordering::Relaxed);
            if a == b { -f64::NAN } else { f64::from(a) / f64::from(b + 1) }
        };
        let remembered = Remembered::new(&distance, 40);
        let pairs: Vec<(TermId, TermId)> = (0..40).flat_map(|a| (0..40).map(move |b| (a, b))).collect();
        let ask = || -> Vec<f64> { pairs.par_iter().map(|&(a, b)| remembered.get(a, b)).collect() };
        let (first, second) = (ask(), ask());
        assert_eq!(asked.load(Ordering::Relaxed), pairs.len());
        for ((&(a, b), first), second) in pairs.iter().zip(first).zip(second) {
            assert_eq!(first.is_nan(), a == b);
            assert!(a == b || first == second && first == distance(a, b));
        }
        // With too many terms it asks each time.
        let forgetful = Remembered::new(&distance, 1 << 20);
        let before = asked.load(Ordering::Relaxed);
        assert_eq!((forgetful.get(1, 2), forgetful.get(1, 2)), (distance(1, 2), distance(1, 2)));
        assert_eq!(asked.load(Ordering::Relaxed), before + 4);
    }
}
