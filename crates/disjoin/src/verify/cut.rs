//! Does the way in which clusters were cut give anybody away?
//!
//! Paper:      barakat2016 for the cover problem; reading I1 of terrovitis2012's Guarantee 1
//! Promises:   if the rule holds, then for every set of at most m terms of different record chunks of a cluster there is a
//!             possible original of the cluster that vertical partitioning cuts as published and that holds it k times, or
//!             nobody can have it
//! Assumes:    the conditions of `conditions.rs` hold; the rule of cutting is the one that the claim tells. What the search for
//!             such originals finds is a proof however it was found, and it is compared with all worlds of small clusters
//! Departs:    conclusions from grouping and sharing are not covered (I2); terms of term chunks fill fewer than k records
//!             each, unless they are sensitive
//! Cost:       see `reconstruct::aware`
//! Checked by: tests/it/verify.rs, tests/it/aware.rs

use super::rules::{Rule, Tally};
use crate::data::TermId;
use crate::observer::Observer;
use crate::reconstruct::aware::{Analysis, Cut, analyse};
use crate::release::claim::Parameters;
use crate::release::{Node, Simple};

/// Steps of a complete search for each itemset that is not decided sooner.
pub(crate) const STEPS: u64 = 20_000;

/// Checks all simple clusters below a root whose terms are numbered by text: ties are broken in this order. `sensitive` is
/// ascending.
pub(super) fn check(
    root: &Node,
    parameters: &Parameters,
    sensitive: &[TermId],
    line: u64,
    tally: &mut Tally,
    observer: &dyn Observer,
) {
    let &Parameters { k, m, cut: rule, .. } = parameters;
    for (number, simple) in (1..).zip(root.leaves()) {
        observer.check();
        if simple.record_chunks.len() > 1 {
            let fill = fill(simple, parameters, sensitive);
            let cut = Cut::new(simple, k, m, fill).with_rule(rule);
            let Analysis { itemsets, breaches, open, contradiction } = analyse(&cut, STEPS, observer);
            let unsafe_sets = if contradiction { itemsets } else { (breaches.len() + open.len()) as u64 };
            tally.count(Rule::CutGivesNothingAway, line, itemsets, unsafe_sets, || match contradiction {
                true => format!("cluster {number}: no possible original is cut into these record chunks"),
                false => format!(
                    "cluster {number}: fewer than k candidates for {} of {itemsets} sets of terms, not decided for {}",
                    breaches.len(),
                    open.len()
                ),
            });
        }
    }
}

/// How many records without a subrecord of a record chunk can be filled for certain, by each term of the term chunk fewer than
/// k. What is shared does not count: where it lies is open, and a shared term that filled k records here would have been
/// cut with the others.
pub(crate) fn fill(simple: &Simple, parameters: &Parameters, sensitive: &[TermId]) -> u32 {
    let by_term = |term: &TermId| match sensitive.binary_search(term) {
        Ok(_) => parameters.most_of_sensitive(simple.size),
        // One that Lemma 2 moved here may be in more, but that it was moved cannot be seen: not to be counted on.
        Err(_) => parameters.k - 1,
    };
    let filled: u64 = simple.term_chunk.iter().map(|term| u64::from(by_term(term))).sum();
    filled.min(u64::from(simple.size)) as u32
}
