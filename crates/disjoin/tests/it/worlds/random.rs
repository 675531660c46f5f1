//! Random roots that have at least one world: they are made from a random original.

use std::collections::{BTreeMap, BTreeSet};

use disjoin::data::TermId;
use disjoin::release::{Chunk, Joint, Node, Simple};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::Layout;
use super::letters::chunk;

/// Records of terms, leaf by leaf.
pub(crate) type Leaves = Vec<Vec<Vec<TermId>>>;

/// A random root with the original that it was made from, leaf by leaf.
///
/// Made by projecting a random original truthfully, so that it has at least one world. Every leaf sends each of its
/// terms to a random place on its way to the root; this makes terms that one leaf keeps and another one shares.
pub(crate) fn truthful(rng: &mut ChaCha8Rng, n_records: usize, n_terms: usize) -> (Node, Leaves) {
    let density = rng.random_range(0.15..0.7);
    let record = |rng: &mut ChaCha8Rng| -> Vec<TermId> {
        let mut terms: Vec<TermId> = (0..n_terms as TermId).filter(|_| rng.random_bool(density)).collect();
        if terms.is_empty() {
            terms.push(rng.random_range(0..n_terms as TermId));
        }
        terms
    };
    let n_leaves = rng.random_range(1..=4).min(n_records);
    let mut original = vec![Vec::new(); n_leaves];
    for i in 0..n_records {
        let leaf = if i < n_leaves { i } else { rng.random_range(0..n_leaves) };
        let terms = record(rng);
        original[leaf].push(terms);
    }

    let groups = ways_to_root(n_leaves, rng.random_range(0..3));
    let plan = planned(&original, &groups, |_, _, nested| match rng.random_range(0..8) {
        0..=2 => Place::Own(rng.random_range(0..2)),
        3 => Place::TermChunk,
        4 | 5 if nested => Place::Lower,
        4.. if n_leaves > 1 => Place::Root,
        _ => Place::Own(0),
    });
    let root = published(&original, &plan, &groups, rng.random_range(1..4));
    (root, original)
}

/// All leaves under one joint cluster, or the first two, or two and two, under one below it.
pub(crate) fn ways_to_root(n_leaves: usize, way: u32) -> Vec<Vec<usize>> {
    match (n_leaves, way) {
        (3.., 1) => std::iter::once(vec![0, 1]).chain((2..n_leaves).map(|leaf| vec![leaf])).collect(),
        (4, 2) => vec![vec![0, 1], vec![2, 3]],
        _ => (0..n_leaves).map(|leaf| vec![leaf]).collect(),
    }
}

/// For each leaf, where each of its terms goes.
pub(crate) type Plan = Vec<BTreeMap<TermId, Place>>;

/// The places that `choose` names for the terms of each leaf, which it is told together with whether the leaf has neighbours
/// below the root.
pub(crate) fn planned(
    original: &Leaves,
    groups: &[Vec<usize>],
    mut choose: impl FnMut(usize, TermId, bool) -> Place,
) -> Plan {
    let mut plan = Plan::new();
    for (leaf, records) in original.iter().enumerate() {
        let nested = groups.iter().any(|group| group.len() > 1 && group.contains(&leaf));
        let present: BTreeSet<TermId> = records.iter().flatten().copied().collect();
        plan.push(present.into_iter().map(|t| (t, choose(leaf, t, nested))).collect());
    }
    // The lowest domain wins: what a leaf sends to the root stops below if a neighbour has put it into the domain
    // there.
    for group in groups.iter().filter(|group| group.len() > 1) {
        let domain: BTreeSet<TermId> = (group.iter().flat_map(|&leaf| &plan[leaf]))
            .filter(|(_, place)| **place == Place::Lower)
            .map(|(&t, _)| t)
            .collect();
        for &leaf in group {
            let sent = plan[leaf].iter_mut().filter(|(t, place)| **place == Place::Root && domain.contains(t));
            sent.for_each(|(_, place)| *place = Place::Lower);
        }
    }
    plan
}

/// The root that is made by a plan. Terms are dealt to one or two shared chunks by a coin that depends on the term alone:
/// whether `split` divides it.
pub(crate) fn published(original: &Leaves, plan: &Plan, groups: &[Vec<usize>], split: TermId) -> Node {
    let non_empty = |chunks: [Chunk; 2]| chunks.into_iter().filter(|chunk| chunk.n_distinct() > 0).collect();
    let simple = |leaf: usize| {
        let kept = |place: Place| project(original, plan, &[leaf], |_, p| p == place);
        let record_chunks = non_empty([Place::Own(0), Place::Own(1)].map(kept));
        let term_chunk = plan[leaf].iter().filter(|(_, place)| **place == Place::TermChunk).map(|(&t, _)| t).collect();
        Node::Simple(Simple { size: original[leaf].len() as u32, record_chunks, term_chunk })
    };
    let join = |leaves: &[usize], members: Vec<Node>, place: Place| {
        let side = |first: bool| project(original, plan, leaves, |t, p| p == place && (t % split == 0) == first);
        let shared_chunks = non_empty([true, false].map(side));
        Node::Joint(Joint { size: members.iter().map(Node::size).sum(), members, shared_chunks, term_chunk: vec![] })
    };
    let member = |group: &Vec<usize>| match group[..] {
        [leaf] => simple(leaf),
        _ => join(group, group.iter().map(|&leaf| simple(leaf)).collect(), Place::Lower),
    };
    match original.len() {
        1 => simple(0),
        n_leaves => join(&(0..n_leaves).collect::<Vec<_>>(), groups.iter().map(member).collect(), Place::Root),
    }
}

/// Where the generator sends a term of a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Own(usize),
    TermChunk,
    Lower,
    Root,
}

/// The chunk of what `takes` picks from the records of `leaves`, given the term and the leaf's plan for it.
fn project(original: &Leaves, plan: &Plan, leaves: &[usize], takes: impl Fn(TermId, Place) -> bool) -> Chunk {
    let parts =
        leaves.iter().flat_map(|&leaf| original[leaf].iter().map(move |record| (record.iter().copied(), &plan[leaf])));
    chunk(parts.map(|(record, plan)| record.filter(|t| takes(*t, plan[t])).collect()))
}

/// No more worlds than this: every subrecord anywhere among the chunk's records, every term in any set of records.
pub(crate) fn n_worlds_bound(layout: &Layout) -> f64 {
    let mut bound = 1.0;
    for leaf in &layout.leaves {
        bound *= (2_f64.powi(leaf.size as i32) - 1.0).powi(leaf.term_chunk.len() as i32);
    }
    for (leaves, _) in &layout.listed {
        bound *= 2_f64.powi(layout.leaves[leaves.clone()].iter().map(|leaf| leaf.size as i32).sum());
    }
    for chunk in &layout.chunks {
        let mut free = layout.leaves[chunk.leaves.clone()].iter().map(|leaf| leaf.size).sum::<usize>();
        for subrecord in &chunk.subrecords {
            for i in 0..subrecord.count {
                bound *= free as f64 / (i + 1) as f64;
                free -= 1;
            }
        }
    }
    bound
}
