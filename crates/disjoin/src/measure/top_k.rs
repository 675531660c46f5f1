//! Are the most frequent itemsets of the original still the most frequent ones? tKd and its kin.
//!
//! Paper:      terrovitis2012, section 6 (equation 2) and section 7.1
//! Assumes:    itemsets of one term count, as the paper does not exclude them; the value without them is told as well
//! Departs:    ties at rank K are broken by length, then by term; the paper does not say how. `generous` counts an
//!             itemset as kept if its support suffices for a place among the K best, ties or not. tKd of expected
//!             supports is ours
//! Cost:       mining the original, one reconstruction, the chunks and the expected supports
//! Checked by: tests/it/measure.rs, against a slow implementation

use std::collections::HashSet;

use rayon::prelude::*;
use serde::Serialize;

use super::Options;
use crate::data::{Dataset, Hierarchy, TermId, Transactions, itemset_supports, supports};
use crate::error::Result;
use crate::inspect::{Itemset, Mining, top_k};
use crate::observer::Observer;
use crate::reconstruct::{Model, expectation, to_a_millionth, top_expected};

/// tKd of everything that an analyst may mine instead of the original.
#[derive(Debug, Clone, Serialize)]
pub struct TopK {
    /// How many itemsets were compared.
    pub k: usize,
    /// tKd: on one reconstruction.
    pub tkd: Deviation,
    /// tKd-a: on the chunks alone, itemsets across chunks not counted.
    pub tkd_a: Deviation,
    /// On expected supports.
    pub tkd_e: Deviation,
    /// tKd-ML2: on one reconstruction, with the ancestors of all terms in a taxonomy, if one was given.
    pub tkd_ml2: Option<Deviation>,
    /// The same for those itemsets that have at most m terms: the promise speaks of them.
    pub up_to_m: OfLength,
    /// And for those that have more.
    pub above_m: OfLength,
}

/// Itemsets of the original's K best of some lengths, and the share of them that is not among the K best of what was published.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct OfLength {
    /// How many of the K best are of these lengths.
    pub itemsets: usize,
    /// On one reconstruction.
    pub tkd: f64,
    /// On the chunks alone.
    pub tkd_a: f64,
    /// On expected supports.
    pub tkd_e: f64,
}

/// The share of the original's K best itemsets that are not among the K best of what was published.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Deviation {
    /// 1 - |FI and FI'| / |FI|.
    pub all: f64,
    /// The same for itemsets of two terms or more.
    pub at_least_two_terms: f64,
    /// The same, if ties at rank K are decided in favour of what was published.
    pub generous: f64,
}

pub(super) fn compare(
    original: &Dataset,
    best: &Best<u32>,
    model: &Model,
    reconstruction: &Transactions,
    chunks: &Transactions,
    options: &Options<'_>,
) -> Result<TopK> {
    let n_terms = original.n_terms();
    let observer = options.observer;
    let mining = larger(options.top, observer);
    let m = model.release().header.m as usize;
    let of = |records: &Transactions| {
        let supports = |sets: &[&[TermId]]| itemset_supports(records, n_terms, sets);
        let found = Best::of(records, n_terms, &mining);
        (best.deviation(&found, supports), best.lost_by_length(&found, m))
    };
    let expected = || {
        let support = |set: &&[TermId]| to_a_millionth(expectation(model, set));
        let supports = |sets: &[&[TermId]]| sets.par_iter().with_max_len(1).map(support).collect();
        let singles = top_expected(model, &Mining { max_length: 1, observer, ..Mining::top(options.top) })?;
        let found = Best::new(singles, top_expected(model, &mining)?, options.top);
        Ok((best.deviation(&found, supports), best.lost_by_length(&found, m)))
    };
    let with_ancestors = |hierarchy| multilevel(original, reconstruction, hierarchy, options.top, observer);
    let ((tkd, tkd_a), (tkd_e, tkd_ml2)) = rayon::join(
        || rayon::join(|| of(reconstruction), || of(chunks)),
        || rayon::join(expected, || options.hierarchy.map(with_ancestors)),
    );
    let ((tkd, drawn), (tkd_a, certain), (tkd_e, expected)) = (tkd, tkd_a, tkd_e?);
    let short = best.all.iter().filter(|itemset| itemset.terms.len() <= m).count();
    let of_length = |which: usize, itemsets: usize| OfLength {
        itemsets,
        tkd: share(drawn[which], itemsets),
        tkd_a: share(certain[which], itemsets),
        tkd_e: share(expected[which], itemsets),
    };
    let (up_to_m, above_m) = (of_length(0, short), of_length(1, best.all.len() - short));
    Ok(TopK { k: options.top, tkd, tkd_a, tkd_e, tkd_ml2, up_to_m, above_m })
}

/// tKd of records of the original's terms.
pub(super) fn deviation_of(
    best: &Best<u32>,
    published: &Transactions,
    n_terms: usize,
    k: usize,
    observer: &dyn Observer,
) -> Deviation {
    deviation(best, published, n_terms, &larger(k, observer))
}

/// tKd on records that are extended with the ancestors of their terms; no itemset holds a term and its ancestor.
fn multilevel(
    original: &Dataset,
    published: &Transactions,
    hierarchy: &Hierarchy,
    k: usize,
    observer: &dyn Observer,
) -> Deviation {
    multilevel_of(original, &hierarchy.extend(published), hierarchy, k, observer)
}

/// The same for records that have the ancestors already.
pub(super) fn multilevel_of(
    original: &Dataset,
    extended: &Transactions,
    hierarchy: &Hierarchy,
    k: usize,
    observer: &dyn Observer,
) -> Deviation {
    observer.check();
    let excludes = |above: TermId, below: TermId| hierarchy.is_ancestor(above, below);
    let mining = Mining { excludes: Some(&excludes), ..larger(k, observer) };
    let n_nodes = hierarchy.n_nodes();
    let best = Best::of(&hierarchy.extend(&original.records), n_nodes, &mining);
    deviation(&best, extended, n_nodes, &mining)
}

/// Itemsets of two terms or more. Single terms are found without a search.
pub(super) fn larger(k: usize, observer: &dyn Observer) -> Mining<'_> {
    Mining { min_length: 2, observer, ..Mining::top(k) }
}

pub(super) fn deviation(best: &Best<u32>, published: &Transactions, n_terms: usize, mining: &Mining<'_>) -> Deviation {
    let supports = |sets: &[&[TermId]]| itemset_supports(published, n_terms, sets);
    best.deviation(&Best::of(published, n_terms, mining), supports)
}

/// The K best itemsets of any length, and those of two terms or more.
pub(super) struct Best<S> {
    k: usize,
    all: Vec<Itemset<S>>,
    at_least_two_terms: Vec<Itemset<S>>,
}

impl Best<u32> {
    /// Of the original, which everything is compared with.
    pub(super) fn of_original(original: &Dataset, k: usize, observer: &dyn Observer) -> Self {
        Best::of(&original.records, original.n_terms(), &larger(k, observer))
    }

    fn of(records: &Transactions, n_terms: usize, mining: &Mining<'_>) -> Self {
        let singles = (0..).zip(supports(records, n_terms)).filter(|&(_, support)| support > 0);
        let singles = singles.map(|(term, support)| Itemset { terms: vec![term], support }).collect();
        Best::new(singles, top_k(records, n_terms, mining), mining.k)
    }

    /// How much of this is not in `found`; `supports` counts itemsets where `found` was found.
    fn deviation<S: Copy + PartialOrd + Default>(
        &self,
        found: &Best<S>,
        supports: impl Fn(&[&[TermId]]) -> Vec<S>,
    ) -> Deviation {
        let missing = missing(&self.all, &found.all);
        let floor = floor(&found.all, found.k);
        let suffices = |support: &S| *support > S::default() && floor.is_none_or(|floor| *support >= floor);
        let ties = supports(&missing).iter().filter(|support| suffices(support)).count();
        Deviation {
            all: share(missing.len(), self.all.len()),
            at_least_two_terms: lost(&self.at_least_two_terms, &found.at_least_two_terms),
            generous: share(missing.len() - ties, self.all.len()),
        }
    }
}

impl Best<u32> {
    /// How many of these are not in `found`: of at most m terms, and of more.
    fn lost_by_length<S>(&self, found: &Best<S>, m: usize) -> [usize; 2] {
        let missing = missing(&self.all, &found.all);
        let short = missing.iter().filter(|terms| terms.len() <= m).count();
        [short, missing.len() - short]
    }
}

impl<S: Copy + PartialOrd> Best<S> {
    /// The K best of any length are among the single terms and the K best of the larger itemsets.
    fn new(singles: Vec<Itemset<S>>, at_least_two_terms: Vec<Itemset<S>>, k: usize) -> Self
    where
        Itemset<S>: Clone,
    {
        let mut all = singles;
        all.extend(at_least_two_terms.iter().cloned());
        all.sort_by(|a, b| {
            let by_support = b.support.partial_cmp(&a.support).unwrap_or(std::cmp::Ordering::Equal);
            by_support.then(a.terms.len().cmp(&b.terms.len())).then_with(|| a.terms.cmp(&b.terms))
        });
        all.truncate(k);
        Best { k, all, at_least_two_terms }
    }
}

/// The share of `best` that is not in `found`.
fn lost<S>(best: &[Itemset], found: &[Itemset<S>]) -> f64 {
    share(missing(best, found).len(), best.len())
}

fn missing<'b, S>(best: &'b [Itemset], found: &[Itemset<S>]) -> Vec<&'b [TermId]> {
    let found: HashSet<&[TermId]> = found.iter().map(|itemset| &itemset.terms[..]).collect();
    best.iter().map(|itemset| &itemset.terms[..]).filter(|terms| !found.contains(terms)).collect()
}

/// The support of the last of K itemsets; if there are fewer, every support suffices. Zero never does.
fn floor<S: Copy>(found: &[Itemset<S>], k: usize) -> Option<S> {
    found.last().filter(|_| found.len() == k).map(|itemset| itemset.support)
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
