//! How many people have all of these terms? Certain bounds, the expectation and its deviation, without sampling.
//!
//! In a leaf P of size s whose chunks i hold the parts X_i of the itemset X, chunks are placed independently and
//! evenly, so a given record holds all parts with probability prod_i s(X_i, C_i) / s, and
//!
//! ```text
//! E[s(X, P)] = s * prod_i s(X_i, C_i) / s
//! ```
//!
//! A term of the term chunk stands for a factor E[mu] / s, mu being its multiplicity; a part in a shared chunk for the
//! sum over the matching subrecords that may lie in P of 1 / N, N being the number of records where that subrecord may
//! lie. Supports and their expectations add up over leaves.
//!
//! Paper:      terrovitis2012, section 6 (lower bounds, the model of probabilities 1/|P|)
//! Promises:   the original's support is within the bounds, whatever the original was
//! Departs:    the paper's lower bound of an itemset that spans chunks is 0; here it is Fréchet's. Expectations in closed
//!             form are ours: the paper averages reconstructions
//! Assumes:    expectation and deviation are those of the placement law, which also allows empty records; where that
//!             puts the expectation outside the bounds, the nearest bound is reported
//! Cost:       O(leaves that may hold the itemset's rarest term), times log for the other terms
//! Checked by: tests/it/estimate.rs, against all worlds of random releases

use super::kind::Kinds;
use super::level::{Work, expected_in_leaf};
use super::model::{Entry, Model, Posting};
use super::own::Own;
use crate::data::TermId;

/// What a release says about the support of an itemset.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Estimate {
    /// No possible original has fewer such records.
    pub lower: u64,
    /// No possible original has more.
    pub upper: u64,
    /// The mean over all placements of the subrecords, or the nearest bound.
    pub expected: f64,
    /// The standard deviation over all placements.
    ///
    /// Exact unless subrecords of one shared chunk may lie in different sets of leaves; rather too large then.
    pub deviation: f64,
}

/// Estimates the number of records that contain all of `itemset`, whose terms are ascending and of the release's
/// dictionary. The empty itemset is in every record.
pub fn estimate(model: &Model, itemset: &[TermId]) -> Estimate {
    if itemset.is_empty() {
        let records = model.release.header.records;
        return Estimate { lower: records, upper: records, expected: records as f64, deviation: 0.0 };
    }
    let (mut lower, mut upper, mut expected, mut variance) = (0, 0, 0.0, 0.0);
    for_each_part(model, itemset, |part| {
        lower += part.lower;
        upper += part.upper;
        expected += part.expected;
        variance += part.variance;
    });
    Estimate { lower, upper, expected: expected.clamp(lower as f64, upper as f64), deviation: variance.sqrt() }
}

/// What a part of a root adds to an estimate.
pub(super) struct Part {
    pub(super) root: u32,
    pub(super) lower: u64,
    pub(super) upper: u64,
    pub(super) expected: f64,
    pub(super) variance: f64,
}

/// Goes through what adds up to the estimate of an itemset that is not empty, root by root.
pub(super) fn for_each_part(model: &Model, itemset: &[TermId], mut add: impl FnMut(Part)) {
    // Bounds cross only if no dataset has the release; a cluster that says so is not believed either way.
    let bounded = |root: u32, (lower, upper): (u64, u64), variance: f64| Part {
        root,
        lower,
        upper: upper.max(lower),
        expected: 0.0,
        variance,
    };
    // Leaves of the present root in which shared chunks take part: they depend on each other.
    let mut root = u32::MAX;
    let mut kinds = Kinds::default();
    let mut own = Own::default();
    let mut work = Work::default();
    for_each_leaf(model, itemset, |leaf, entries| {
        if model.leaves[leaf as usize].root != root {
            add(bounded(root, kinds.bounds(model), kinds.variance(model)));
            kinds.clear();
            root = model.leaves[leaf as usize].root;
        }
        let expected = expected_in_leaf(model, leaf, entries, &mut work);
        add(Part { root, lower: 0, upper: 0, expected, variance: 0.0 });
        own.fill(model, leaf, entries);
        if own.is_all {
            add(bounded(root, own.bounds(model), own.moments(model).variance()));
        } else {
            kinds.add(model, leaf, entries, &own);
        }
    });
    add(bounded(root, kinds.bounds(model), kinds.variance(model)));
}

/// The mean support of `itemset` over all placements: the part of [`estimate`] that costs least.
pub fn expectation(model: &Model, itemset: &[TermId]) -> f64 {
    if itemset.is_empty() {
        return model.release.header.records as f64;
    }
    let (mut expected, mut work) = (0.0, Work::default());
    for_each_leaf(model, itemset, |leaf, entries| expected += expected_in_leaf(model, leaf, entries, &mut work));
    expected
}

/// Calls `visit` for every leaf that owns all terms of the itemset, ascending, with how it holds each term.
pub(crate) fn for_each_leaf<'m>(model: &'m Model, itemset: &[TermId], mut visit: impl FnMut(u32, &[&'m Entry])) {
    let mut lists: Vec<&[Posting]> = itemset.iter().map(|&term| model.postings(term)).collect();
    let Some(rarest) = lists.iter().copied().min_by_key(|list| list.len()) else { return };
    let mut here = Vec::with_capacity(itemset.len());
    'leaves: for (at, posting) in rarest.iter().enumerate() {
        if at & 0x3f == 0 {
            model.observer.check();
        }
        here.clear();
        for list in &mut lists {
            *list = advance(list, posting.leaf);
            match list.first() {
                Some(found) if found.leaf == posting.leaf => here.push(model.entry(found)),
                _ => continue 'leaves,
            }
        }
        visit(posting.leaf, &here);
    }
}

/// What is left of a list from `leaf` on: a search in steps that double.
fn advance(list: &[Posting], leaf: u32) -> &[Posting] {
    let mut step = 1;
    while step < list.len() && list[step - 1].leaf < leaf {
        step *= 2;
    }
    let start = step / 2;
    let end = step.min(list.len());
    &list[start + list[start..end].partition_point(|posting| posting.leaf < leaf)..]
}
