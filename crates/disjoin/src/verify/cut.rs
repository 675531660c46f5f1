//! Does the way in which clusters were cut give anybody away?
//!
//! Paper:      barakat2016 for the cover problem; reading I1 of terrovitis2012's Guarantee 1
//! Promises:   if the rule holds, then for every set of at most m terms of different record chunks of a cluster there is a
//!             possible original of the cluster that vertical partitioning cuts as published and that holds it k times, or
//!             nobody can have it
//! Assumes:    the conditions of `conditions.rs` hold; the rule of cutting is the one that the claim tells. What the search for such originals
//!             finds is a proof however it was found, and it is compared with all worlds of small clusters
//! Departs:    grouping and sharing are not reckoned back (I2); terms of term chunks fill fewer than k records
//!             each, unless they are sensitive
//! Cost:       see `reconstruct::aware`
//! Checked by: tests/verify.rs, tests/aware.rs

use super::rules::{Rule, Tally};
use crate::data::TermId;
use crate::reconstruct::aware::{Analysis, Cut, analyse};
use crate::release::claim::Parameters;
use crate::release::{Chunk, Node, Simple};

/// Steps of a complete search for each itemset that is not decided sooner.
pub(crate) const STEPS: u64 = 20_000;

/// Checks all simple clusters below a root whose terms are numbered by text: ties are broken in this order. `sensitive` is
/// ascending.
pub(super) fn check(root: &Node, parameters: &Parameters, sensitive: &[TermId], line: u64, tally: &mut Tally) {
    let &Parameters { k, m, cut: rule, .. } = parameters;
    let mut number = 0;
    check_node(root, &mut Vec::new(), &mut |simple, shared| {
        number += 1;
        if simple.record_chunks.len() > 1 {
            let fill = fill(simple, shared, sensitive, k);
            let cut = Cut::new(simple, k, m, fill).with_rule(rule);
            let Analysis { itemsets, breaches, open, contradiction } = analyse(&cut, STEPS);
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
    });
}

fn check_node<'n>(node: &'n Node, shared: &mut Vec<&'n Chunk>, visit: &mut impl FnMut(&Simple, &[&Chunk])) {
    match node {
        Node::Simple(simple) => visit(simple, shared),
        Node::Joint(joint) => {
            let n = shared.len();
            shared.extend(&joint.shared_chunks);
            joint.members.iter().for_each(|member| check_node(member, shared, visit));
            shared.truncate(n);
        }
    }
}

/// How many records without a subrecord of a record chunk can be filled: by each term of the term chunk fewer than k, and
/// by shared subrecords that have no term of the cluster's own.
pub(crate) fn fill(simple: &Simple, shared: &[&Chunk], sensitive: &[TermId], k: u32) -> u32 {
    let is_own = |term: &TermId| {
        let mut domains = simple.record_chunks.iter().map(|chunk| &chunk.terms).chain([&simple.term_chunk]);
        domains.any(|terms| terms.binary_search(term).is_ok())
    };
    let rows = shared.iter().flat_map(|chunk| chunk.subrecords());
    let guests: u64 = rows.filter(|(terms, _)| !terms.iter().any(is_own)).map(|(_, count)| u64::from(count)).sum();
    // Sensitive terms may be in any number of records.
    let by_terms = match simple.term_chunk.iter().any(|term| sensitive.binary_search(term).is_ok()) {
        true => u64::from(simple.size),
        // One that Lemma 2 moved here may be in more, but that it was moved cannot be seen: not to be counted on.
        false => simple.term_chunk.len() as u64 * u64::from(k - 1),
    };
    guests.saturating_add(by_terms).min(u64::from(simple.size)) as u32
}
