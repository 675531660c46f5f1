//! Which terms are found together most often: the K itemsets of the greatest support.
//!
//! Paper:      Zaki, Scalable Algorithms for Association Mining, IEEE TKDE 12(3), 2000: Eclat
//! Promises:   exactly the first K of all itemsets, ordered by support (descending), length, terms (ascending)
//! Assumes:    every term is less than `n_terms`
//! Departs:    K instead of a least support, which the search finds as it goes; the records of a set are numbered anew
//!             within those of its first term, so that bit sets stay short on sparse data
//! Cost:       (length choose 2) for each record over the terms that can still matter, twice, and for each set tried
//!             an intersection, of at most as many words as records hold its rarest term, and on sparse data of a 64th
//!             of them; memory of the order of the data, and K sets
//! Checked by: tests in this folder, against all subsets of all records
//!
//! Terms are taken by falling support, and each set is found from its rarest term on. So at any time the sets of the
//! frequent terms are known, and the search ends at the first term whose support the worst of K sets exceeds. Pairs
//! come first, by counting in a matrix, since with them the worst of the K best is nearly what it will be at the end.

mod best;
mod grow;
mod holders;
mod pairs;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;

pub(crate) use best::{Best, compare};

use crate::data::{TermId, Transactions, supports};
use crate::observer::{Observer, Unobserved};

/// What to look for.
#[derive(Clone, Copy)]
pub struct Mining<'a> {
    /// How many itemsets.
    pub k: usize,
    /// The least number of terms in an itemset.
    pub min_length: usize,
    /// The greatest number of terms in an itemset.
    pub max_length: usize,
    /// Two terms that must never be in one itemset, such as an item and its ancestor, in one order or the other.
    pub excludes: Option<&'a (dyn Fn(TermId, TermId) -> bool + Sync)>,
    /// Who watches.
    pub observer: &'a dyn Observer,
}

impl Mining<'_> {
    /// The K best itemsets of any length.
    pub fn top(k: usize) -> Self {
        Mining { k, min_length: 1, max_length: usize::MAX, excludes: None, observer: &Unobserved }
    }
}

/// Terms, and how many records hold them all.
#[derive(Debug, Clone, PartialEq)]
pub struct Itemset<S = u32> {
    /// The terms, ascending.
    pub terms: Vec<TermId>,
    /// The records that hold them: counted, or expected.
    pub support: S,
}

/// The K itemsets of the greatest support, best first; of equal support the shorter, then the lesser terms. Fewer if
/// there are not so many in the records. The same for any number of threads.
pub fn top_k(records: &Transactions, n_terms: usize, mining: &Mining<'_>) -> Vec<Itemset> {
    if mining.k == 0 || mining.min_length > mining.max_length {
        return Vec::new();
    }
    mining.observer.check();
    let items = Items::new(supports(records, n_terms));
    let search = Search::new(*mining);
    for &term in items.by_support.iter().take(mining.k) {
        search.offer(items.supports[term as usize], &[term]);
    }
    let pairs = pairs::count(records, &items, &search);
    grow::all(records, &items, &pairs, &search);
    search.best.into_inner().unwrap_or_else(PoisonError::into_inner).into_sorted()
}

/// The terms and their supports.
struct Items {
    supports: Vec<u32>,
    /// The terms that occur, the most frequent first.
    by_support: Vec<TermId>,
    /// Where each term stands there; those that do not occur, behind all.
    ranks: Vec<u32>,
}

impl Items {
    fn new(supports: Vec<u32>) -> Self {
        let mut by_support: Vec<TermId> = (0..).zip(&supports).filter(|&(_, &s)| s > 0).map(|(term, _)| term).collect();
        by_support.par_sort_unstable_by_key(|&term| (std::cmp::Reverse(supports[term as usize]), term));
        let mut ranks = vec![u32::MAX; supports.len()];
        by_support.iter().zip(0..).for_each(|(&term, rank)| ranks[term as usize] = rank);
        Items { supports, by_support, ranks }
    }

    /// How many of the most frequent terms may be part of a pair or more.
    fn n_open(&self, search: &Search<'_>) -> usize {
        self.by_support.partition_point(|&term| search.may_grow(self.supports[term as usize], 1))
    }
}

/// What all threads share: the best itemsets so far, and what a set must have to become one of them.
struct Search<'a> {
    mining: Mining<'a>,
    best: Mutex<Best<u32>>,
    /// The least [`key`] that is worth a look. It only ever rises: who reads an old value merely works more.
    floor: AtomicU64,
}

/// Support and length as one number: a better set has a greater one; only sets of the same differ by their terms.
fn key(support: u32, length: usize) -> u64 {
    u64::from(support) << 32 | u64::from(u32::MAX - u32::try_from(length).unwrap_or(u32::MAX))
}

impl<'a> Search<'a> {
    fn new(mining: Mining<'a>) -> Self {
        Search { mining, best: Mutex::new(Best::new(mining.k)), floor: AtomicU64::new(key(1, usize::MAX)) }
    }

    /// Whether an itemset of this support and length, or one that contains it, could be among the best.
    fn is_open(&self, support: u32, length: usize) -> bool {
        key(support, length.max(self.mining.min_length)) >= self.floor.load(Ordering::Relaxed)
    }

    /// Whether a larger itemset could be among the best.
    fn may_grow(&self, support: u32, length: usize) -> bool {
        length < self.mining.max_length && self.is_open(support, length + 1)
    }

    /// Whether two terms may be in one itemset.
    fn allows(&self, a: TermId, b: TermId) -> bool {
        self.mining.excludes.is_none_or(|excludes| !excludes(a, b) && !excludes(b, a))
    }

    /// Takes an itemset, its terms ascending, if it is asked for and good enough.
    fn offer(&self, support: u32, terms: &[TermId]) {
        if terms.len() < self.mining.min_length || !self.is_open(support, terms.len()) {
            return;
        }
        let mut best = self.best();
        best.offer(support, terms);
        if let Some(worst) = best.worst() {
            self.floor.fetch_max(key(worst.support, worst.terms.len()), Ordering::Relaxed);
        }
    }

    /// Whether the terms decide: an itemset of this support and length is neither better nor worse than the worst.
    fn is_tie(&self, support: u32, length: usize) -> bool {
        key(support, length.max(self.mining.min_length)) == self.floor.load(Ordering::Relaxed)
    }

    /// Whether an itemset would be taken.
    fn would_take(&self, support: u32, terms: &[TermId]) -> bool {
        self.best().worst().is_none_or(|worst| compare(support, terms, worst.support, &worst.terms).is_lt())
    }

    fn best(&self) -> MutexGuard<'_, Best<u32>> {
        self.best.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
