//! Terms that give people away move to the term chunk of their cluster: from the release alone.
//!
//! Where a refusal shows that fewer than k records hold some terms, the rarest of them leaves its record chunk. This is
//! repeated until nobody who knows how clusters are cut learns anything. What stays in record chunks keeps its counts.
//! The chunks are not cut anew, for that needs the original; so a term may be left whose refusal has lost its reason. Then
//! the last term of the last chunk goes as well: at the latest when one record chunk is left, nothing is wrong.
//!
//! Paper:      ours, after barakat2016 (cover problem); protect does the same with the original at hand
//! Promises:   if the release keeps the promise `published`, the repaired one keeps `algorithm-aware`; it is true of every
//!             original that the release is true of; the attacks cover, closure and worlds find nothing in it
//! Assumes:    nothing: a cluster that cannot be is left as it is, for `verify` to refuse. Whoever has the release as it was
//!             before still knows what it gave away
//! Departs:    clusters of more than 1024 records, which cannot be analysed, keep their first record chunk only
//! Cost:       an analysis (`reconstruct::aware`) of a cluster for each time that terms are moved to its term chunk
//! Checked by: tests/it/repair.rs
//!
//! Why the conditions of `published` stay. A chunk without some of its terms has the other sets as often as before. A
//! cluster that changed has a term chunk, so Lemma 2 holds. The cluster has the same terms of its own as before, so shared
//! chunks above it conflict with it as before and have the same room.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use rayon::prelude::*;
use serde::Serialize;

use crate::attack::worlds;
use crate::data::TermId;
use crate::observer::Observer;
use crate::reconstruct::aware::{Analysis, Cut, analyse, closed_pairs};
use crate::release::claim::Parameters;
use crate::release::{Chunk, Disassociated, Header, Joint, Node, Simple};
use crate::verify::{CUT_STEPS, cut_fill};

/// Larger clusters cannot be analysed.
const LARGEST: u32 = 1024;

/// A release after the repair.
#[derive(Debug, Clone)]
pub struct Mended<S = Stats> {
    /// The release in canonical order: the order in which it was before could disclose which terms were moved.
    pub release: Disassociated,
    /// The simple clusters, numbered depth first as before, in the order in which they stand now.
    pub leaves: Vec<u32>,
    /// What was done.
    pub stats: S,
}

/// How much less a release tells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Stats {
    /// Simple clusters.
    pub clusters: u64,
    /// Those in which terms were moved to the term chunk.
    pub clusters_changed: u64,
    /// Terms that moved to a term chunk, counted in each cluster.
    pub terms_set_aside: u64,
    /// How often these terms stood in subrecords.
    pub occurrences_hidden: u64,
}

impl Stats {
    fn sum(self, other: Stats) -> Stats {
        sum_fields!(Stats { clusters, clusters_changed, terms_set_aside, occurrences_hidden }, self, other)
    }
}

/// Sets terms aside until nobody who knows how clusters are cut is told more than was meant, given what the claim says about
/// the release.
pub fn set_aside(release: &Disassociated, claimed: &Parameters, observer: &dyn Observer) -> Mended {
    let sensitive = claimed.sensitive.iter().flat_map(|sensitive| &sensitive.terms);
    // Ties between terms are broken by their texts.
    let (dictionary, rank) = release.dictionary.sorted();
    let mut sensitive: Vec<TermId> = sensitive.filter_map(|text| dictionary.get(text)).collect();
    sensitive.sort_unstable();
    let mender = Mender { header: release.header, claimed, sensitive: &sensitive, observer };
    let mut n_leaves = 0;
    let mut numbered = Vec::with_capacity(release.roots.len());
    for root in &release.roots {
        numbered.push((root, n_leaves));
        n_leaves += root.leaves().len() as u32;
    }
    let mut parts: Vec<(Part, Stats)> = numbered
        .into_par_iter()
        .map(|(root, first_leaf)| {
            observer.check();
            let mut root = root.clone();
            rename(&mut root, &rank);
            let mut walk = Walk { mender, next_leaf: first_leaf, shared: Vec::new(), stats: Stats::default() };
            (walk.node(&root), walk.stats)
        })
        .collect();
    parts.sort_by(|(a, _), (b, _)| a.node.cmp(&b.node));
    let stats = parts.iter().fold(Stats::default(), |sum, (_, stats)| sum.sum(*stats));
    let leaves = parts.iter().flat_map(|(part, _)| part.leaves.iter().copied()).collect();
    let roots = parts.into_iter().map(|(part, _)| part.node).collect();
    // What moves to term chunks is no longer counted: whether the total may still be told was not asked.
    let header = Header { occurrences: None, ..release.header };
    Mended { release: Disassociated { header, dictionary, roots }, leaves, stats }
}

/// Renames all terms and leaves members where they are.
pub(super) fn rename(node: &mut Node, names: &[TermId]) {
    let members = match node {
        Node::Simple(_) => Vec::new(),
        Node::Joint(joint) => std::mem::take(&mut joint.members),
    };
    node.rename(names);
    if let Node::Joint(joint) = node {
        joint.members = members;
        joint.members.iter_mut().for_each(|member| rename(member, names));
    }
}

/// A mended cluster in canonical order, and the former numbers of its leaves in this order.
struct Part {
    node: Node,
    leaves: Vec<u32>,
}

struct Walk<'r> {
    mender: Mender<'r>,
    next_leaf: u32,
    /// The shared chunks above.
    shared: Vec<&'r Chunk>,
    stats: Stats,
}

impl<'r> Walk<'r> {
    fn node(&mut self, node: &'r Node) -> Part {
        let joint = match node {
            Node::Simple(simple) => {
                let mut simple = simple.clone();
                self.stats = self.stats.sum(self.mender.mend(&mut simple, &self.shared));
                simple.record_chunks.sort_unstable();
                self.next_leaf += 1;
                return Part { node: Node::Simple(simple), leaves: vec![self.next_leaf - 1] };
            }
            Node::Joint(joint) => joint,
        };
        let n_shared = self.shared.len();
        self.shared.extend(&joint.shared_chunks);
        let mut members: Vec<Part> = joint.members.iter().map(|member| self.node(member)).collect();
        self.shared.truncate(n_shared);
        members.sort_by(|a, b| a.node.cmp(&b.node));
        let leaves = members.iter().flat_map(|part| part.leaves.iter().copied()).collect();
        let members = members.into_iter().map(|part| part.node).collect();
        let shared_chunks = joint.shared_chunks.clone();
        let term_chunk = joint.term_chunk.clone();
        Part { node: Node::Joint(Joint { size: joint.size, members, shared_chunks, term_chunk }), leaves }
    }
}

/// Mends simple clusters whose terms are numbered by text.
#[derive(Clone, Copy)]
struct Mender<'r> {
    header: Header,
    claimed: &'r Parameters,
    /// Ascending.
    sensitive: &'r [TermId],
    observer: &'r dyn Observer,
}

impl Mender<'_> {
    fn mend(&self, simple: &mut Simple, shared: &[&Chunk]) -> Stats {
        let mut stats = Stats { clusters: 1, ..Stats::default() };
        while simple.record_chunks.len() > 1 && worlds::is_possible(simple) {
            self.observer.check();
            let tried = as_tried(simple);
            let aside = self.give_aways(simple, shared, &tried);
            if aside.is_empty() {
                break;
            }
            stats.clusters_changed = 1;
            stats.terms_set_aside += aside.len() as u64;
            let hidden = tried.iter().filter(|term| aside.contains(&term.id));
            stats.occurrences_hidden += hidden.map(|term| term.support).sum::<u64>();
            simple.record_chunks = simple.record_chunks.iter().filter_map(|chunk| without(chunk, &aside)).collect();
            simple.term_chunk.extend(aside);
            simple.term_chunk.sort_unstable();
        }
        stats
    }

    /// Terms without which less is given away; none if nothing is.
    fn give_aways(&self, simple: &Simple, shared: &[&Chunk], tried: &[Tried]) -> Vec<TermId> {
        let Header { k, m, .. } = self.header;
        // The chunk of the term that was tried first was made first.
        let first = tried.first().map(|term| term.chunk);
        if simple.size > LARGEST {
            return tried.iter().filter(|term| Some(term.chunk) != first).map(|term| term.id).collect();
        }
        // Those who verify and those who attack reckon differently with records that hold nothing else; both must be content.
        let n_shared = shared.iter().map(|chunk| chunk.n_subrecords()).fold(0, u64::saturating_add);
        let mut fills = vec![cut_fill(simple, self.claimed, self.sensitive), worlds::fill(simple, n_shared, k)];
        fills.dedup();
        for fill in fills {
            let cut = Cut::new(simple, k, m, fill).with_rule(self.claimed.cut);
            let mut itemsets: Vec<Vec<TermId>> = closed_pairs(&cut).into_iter().map(|pair| pair.terms).collect();
            if itemsets.is_empty() {
                let Analysis { breaches, open, contradiction, .. } = analyse(&cut, CUT_STEPS, self.observer);
                if contradiction {
                    return last_of_last_chunk(tried).into_iter().collect();
                }
                itemsets = breaches.into_iter().map(|breach| breach.terms).chain(open).collect();
            }
            if !itemsets.is_empty() {
                return one_of_each(itemsets, tried);
            }
        }
        Vec::new()
    }
}

/// A term of a record chunk.
struct Tried {
    id: TermId,
    support: u64,
    chunk: usize,
}

/// The terms of all record chunks, in the order in which they were tried.
fn as_tried(simple: &Simple) -> Vec<Tried> {
    let mut tried = Vec::new();
    for (number, chunk) in simple.record_chunks.iter().enumerate() {
        let mut supports: HashMap<TermId, u64> = HashMap::new();
        for (terms, count) in chunk.subrecords() {
            terms.iter().for_each(|&term| *supports.entry(term).or_default() += u64::from(count));
        }
        let support = |id: &TermId| supports.get(id).copied().unwrap_or(0);
        tried.extend(chunk.terms.iter().map(|id| Tried { id: *id, support: support(id), chunk: number }));
    }
    tried.sort_unstable_by_key(|term| (Reverse(term.support), term.id));
    tried
}

/// The rarest term of the chunk that was made last.
fn last_of_last_chunk(tried: &[Tried]) -> Option<TermId> {
    let opens = |at: &usize| !tried[..*at].iter().any(|earlier| earlier.chunk == tried[*at].chunk);
    let last = (0..tried.len()).rev().find(opens)?;
    tried.iter().rev().find(|term| term.chunk == tried[last].chunk).map(|term| term.id)
}

/// Of each itemset one term at least. The rarest goes first: it is missed least.
fn one_of_each(mut itemsets: Vec<Vec<TermId>>, tried: &[Tried]) -> Vec<TermId> {
    let mut aside = Vec::new();
    while !itemsets.is_empty() {
        let mut hits: HashMap<TermId, u64> = HashMap::new();
        itemsets.iter().flatten().for_each(|&term| *hits.entry(term).or_default() += 1);
        let concerned = tried.iter().filter_map(|term| Some((term.support, Reverse(*hits.get(&term.id)?), term.id)));
        let Some((.., best)) = concerned.min() else { break };
        itemsets.retain(|itemset| !itemset.contains(&best));
        aside.push(best);
    }
    aside
}

/// The chunk without some terms; none if nothing is left of it.
fn without(chunk: &Chunk, aside: &[TermId]) -> Option<Chunk> {
    let stays = |term: &TermId| !aside.contains(term);
    let terms: Vec<TermId> = chunk.terms.iter().copied().filter(stays).collect();
    if terms.is_empty() {
        return None;
    }
    let mut rows: BTreeMap<Vec<TermId>, u32> = BTreeMap::new();
    for (row, count) in chunk.subrecords() {
        *rows.entry(row.iter().copied().filter(stays).collect()).or_default() += count;
    }
    let mut left = Chunk::new(terms);
    rows.iter().filter(|(row, _)| !row.is_empty()).for_each(|(row, count)| left.push(row, *count));
    Some(left)
}
