//! What is left of the possible originals for somebody who knows how clusters are cut.
//!
//! Every itemset of at most m terms across the chunks of a cluster is decided: a finding is one that no original cut as
//! published holds k times, though some hold it. Where nothing is left open, the cluster is proved: whoever knows m terms
//! and the algorithm finds no more than these.
//!
//! Paper:      ours, after barakat2016: see `reconstruct/aware/mod.rs`
//! Promises:   no cluster cut by the rule of the view has k records or more with the terms of a finding; in a proved cluster these are all
//! Assumes:    the order of `order.rs`; terms of a term chunk are rare, as they are unless they were said to be sensitive.
//!             For sets of record chunks, leaves of a joint cluster are looked at one by one: shared chunks count as if they could fill
//!             any records. Sets with terms of shared chunks are decided in small joint clusters (`shared.rs`), and not looked at in
//!             others, nor where chunks are shared by another rule than refining
//! Cost:       that of `reconstruct::aware::analyse` for each cluster
//! Checked by: tests/it/attack.rs; tests/it/aware.rs, against all worlds of small clusters

use std::collections::HashSet;

use rayon::prelude::*;

use super::{Attack, Coverage, Finding, Findings, Says, View, shared};
use crate::data::TermId;
use crate::reconstruct::aware::{Breach, Cut, analyse, filled_by_terms};
use crate::release::{Disassociated, Header, Node, Simple};

/// Decides every itemset, as far as the steps reach.
#[derive(Debug, Clone, Copy)]
pub struct Worlds {
    /// How many steps of a complete search an itemset is worth, if quicker ways fail.
    pub steps: u64,
    /// Whether clusters came to share chunks by refining.
    pub is_refined: bool,
}

impl Worlds {
    /// Only what follows from how clusters are cut: sets of record chunks.
    pub const OF_CUT: Worlds = Worlds { steps: 20_000, is_refined: false };
}

impl Default for Worlds {
    fn default() -> Self {
        Worlds { is_refined: true, ..Worlds::OF_CUT }
    }
}

impl Attack for Worlds {
    fn name(&self) -> &'static str {
        "worlds"
    }

    fn run(&self, view: &View<'_>) -> Findings {
        let leaves = Leaf::all(view.release);
        let of_leaf = |(number, leaf): (usize, &Leaf<'_>)| -> (Vec<Finding>, bool) {
            // A cluster of one chunk was not cut: nothing was refused, and no itemset is across chunks.
            if leaf.simple.record_chunks.len() < 2 {
                return (Vec::new(), true);
            }
            view.observer.check();
            let Some(cut) = leaf.cut(view) else { return (Vec::new(), false) };
            let analysis = analyse(&cut, self.steps, view.observer);
            let known = analysis.breaches.into_iter().filter(|breach| view.knowledge.has(&breach.terms));
            let is_proved = analysis.open.is_empty() && !analysis.contradiction;
            (known.map(|breach| finding(number, breach)).collect(), is_proved)
        };
        let decided: Vec<(Vec<Finding>, bool)> = leaves.par_iter().enumerate().map(of_leaf).collect();
        let (clusters, proved) =
            (leaves.len() as u64, decided.iter().filter(|(_, is_proved)| *is_proved).count() as u64);
        let coverage = Coverage { clusters, proved, open: clusters - proved };
        let mut found: Vec<Finding> = decided.into_iter().flat_map(|(found, _)| found).collect();
        if self.is_refined {
            found.extend(shared::findings(view));
            found.sort_by(|a, b| (a.leaf, &a.terms).cmp(&(b.leaf, &b.terms)));
        }
        Findings { attack: self.name(), says: Says::FewerThanK, found, coverage }
    }
}

/// What a breach says about its cluster: with certainty, if the cluster was cut as everybody knows.
pub(super) fn finding(leaf: usize, breach: Breach) -> Finding {
    Finding { leaf: leaf as u32, terms: breach.terms, learned: breach.learned, confidence: 1.0 }
}

/// A simple cluster in its place.
pub(super) struct Leaf<'r> {
    pub(super) simple: &'r Simple,
    /// How many subrecords the shared chunks above it have, which may lie in it.
    shared: u64,
}

impl<'r> Leaf<'r> {
    /// All simple clusters, depth first.
    pub(super) fn all(release: &'r Disassociated) -> Vec<Self> {
        let mut leaves = Vec::new();
        let mut stack: Vec<(&Node, u64)> = release.roots.iter().rev().map(|root| (root, 0)).collect();
        while let Some((node, shared)) = stack.pop() {
            match node {
                Node::Simple(simple) => leaves.push(Leaf { simple, shared }),
                Node::Joint(joint) => {
                    let here = joint.shared_chunks.iter().flat_map(|chunk| chunk.subrecords());
                    let shared = here.fold(shared, |sum, (_, count)| sum.saturating_add(count.into()));
                    stack.extend(joint.members.iter().rev().map(|member| (member, shared)));
                }
            }
        }
        leaves
    }

    /// How the cluster was cut; none if it cannot have been, as in a damaged release.
    pub(super) fn cut(&self, view: &View<'_>) -> Option<Cut> {
        let Header { k, m, .. } = view.release.header;
        let fill = fill(self.simple, self.shared, k);
        is_possible(self.simple).then(|| Cut::new(self.simple, k, m, fill).with_rule(view.cut))
    }
}

/// How many records of a cluster may be without a subrecord of its record chunks, because something else fills them: terms
/// of the term chunk, or subrecords of the shared chunks above.
pub(crate) fn fill(simple: &Simple, shared: u64, k: u32) -> u32 {
    filled_by_terms(simple, k).saturating_add(shared).min(simple.size.into()) as u32
}

/// Whether records can have had these chunks: no more subrecords than records, every term in one chunk, and known there.
pub(crate) fn is_possible(simple: &Simple) -> bool {
    let mut seen: HashSet<TermId> = HashSet::new();
    simple.record_chunks.iter().all(|chunk| {
        let rows: u64 = chunk.subrecords().map(|(_, count)| u64::from(count)).sum();
        let is_known = |terms: &[TermId]| terms.iter().all(|term| chunk.terms.binary_search(term).is_ok());
        rows <= simple.size.into()
            && chunk.terms.iter().all(|&term| seen.insert(term))
            && chunk.subrecords().all(|(terms, _)| is_known(terms))
    })
}
