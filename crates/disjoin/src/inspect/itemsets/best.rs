//! The K best itemsets seen so far.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::Itemset;
use crate::data::TermId;

/// A number of records, counted or expected.
pub(crate) trait Support: Copy {
    /// The order of numbers, total.
    fn order(self, other: Self) -> Ordering;
}

impl Support for u32 {
    fn order(self, other: Self) -> Ordering {
        self.cmp(&other)
    }
}

impl Support for f64 {
    fn order(self, other: Self) -> Ordering {
        self.total_cmp(&other)
    }
}

/// The K best of the itemsets offered, each of which must be offered once.
///
/// Better is: more support, then fewer terms, then the lesser sequence of terms. Itemsets are never equal in this
/// order, so what is kept does not depend on the order in which they come.
#[derive(Debug)]
pub(crate) struct Best<S> {
    k: usize,
    /// The worst on top.
    heap: BinaryHeap<Ranked<S>>,
}

impl<S: Support> Best<S> {
    pub(crate) fn new(k: usize) -> Self {
        Best { k, heap: BinaryHeap::new() }
    }

    /// The one that the next good one will push out; none while there is room.
    pub(crate) fn worst(&self) -> Option<&Itemset<S>> {
        if self.heap.len() < self.k { None } else { self.heap.peek().map(|ranked| &ranked.0) }
    }

    /// Takes an itemset, its terms ascending, if it is among the K best so far.
    pub(crate) fn offer(&mut self, support: S, terms: &[TermId]) {
        if self.heap.len() < self.k {
            self.heap.push(Ranked(Itemset { terms: terms.to_vec(), support }));
        } else if let Some(mut worst) = self.heap.peek_mut()
            && compare(support, terms, worst.0.support, &worst.0.terms).is_lt()
        {
            let Itemset { terms: kept, support: kept_support } = &mut worst.0;
            kept.clear();
            kept.extend_from_slice(terms);
            *kept_support = support;
        }
    }

    /// All that were kept, best first.
    pub(crate) fn into_sorted(self) -> Vec<Itemset<S>> {
        self.heap.into_sorted_vec().into_iter().map(|ranked| ranked.0).collect()
    }
}

/// How two itemsets are ordered: less is better.
pub(crate) fn compare<S: Support>(support: S, terms: &[TermId], other_support: S, other_terms: &[TermId]) -> Ordering {
    let by_size = other_support.order(support).then(terms.len().cmp(&other_terms.len()));
    by_size.then_with(|| terms.cmp(other_terms))
}

/// An itemset in the order of [`compare`].
#[derive(Debug)]
struct Ranked<S>(Itemset<S>);

impl<S: Support> Ord for Ranked<S> {
    fn cmp(&self, other: &Self) -> Ordering {
        compare(self.0.support, &self.0.terms, other.0.support, &other.0.terms)
    }
}

impl<S: Support> PartialOrd for Ranked<S> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<S: Support> PartialEq for Ranked<S> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<S: Support> Eq for Ranked<S> {}
