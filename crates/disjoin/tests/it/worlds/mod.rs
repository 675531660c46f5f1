//! Possible worlds of a disassociated release: what an adversary who holds the release cannot rule out.
//!
//! This is the reference against which protection and verification are tested. It sees a release and nothing else,
//! shares no code with `protect`, and uses none of the paper's lemmas: two of them are wrong in corner cases, which is
//! how a faithful implementation can pass every test that is built on them and still give people away.
//!
//! A *world* (reading I0) of one root is a bag of records for every leaf under it such that
//!
//! * a leaf of size s has exactly s records, none of them empty;
//! * in a leaf, a term is *owned* by the lowest place on the way from the leaf to the root that has it in its domain:
//!   the leaf's record chunks and term chunk, else the shared chunks of the lowest joint cluster that has it. Records
//!   hold no term that has no owner;
//! * for every record chunk or shared chunk: the non-empty parts that its owned terms leave of the records below it
//!   are, as a bag, the chunk's subrecords. Hence a record takes at most one subrecord of a chunk, and a subrecord
//!   can lie in a leaf only if the chunk owns all of its terms there (the subrecord is *eligible*);
//! * every term of a term chunk is in at least one of the records below it.
//!
//! Three answers to the same question, from the most literal to the fastest, each checked against the one before it in
//! `tests/it/oracle.rs`: [`literal`] walks through all worlds, [`states`] through all sets of worlds that look alike to
//! the question, [`flow`] decides by integer flows and is fast enough for millions of questions.

// Each test binary compiles this module for itself and uses a part of it.
#![allow(dead_code, unused_imports)]

pub(crate) mod flow;
pub(crate) mod guarantee;
pub(crate) mod letters;
pub(crate) mod literal;
pub(crate) mod random;
pub(crate) mod states;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use disjoin::data::TermId;
use disjoin::release::{Chunk, Node, Simple};

pub(crate) use guarantee::{Violation, guarantee_violations, guarantee_violations_by_root, roots_of_leaves};

/// The largest number of records of one root that contain all of `itemset` in the same world.
///
/// 0 if the root has no world, or if none of its worlds has a record with `itemset`.
pub(crate) fn max_support(root: &Node, itemset: &[TermId]) -> u64 {
    flow::Oracle::new(root).max_support(itemset)
}

/// One root laid out flat: its leaves in order, and all chunks with the leaves that they stretch over.
pub(crate) struct Layout {
    pub(crate) leaves: Vec<Leaf>,
    /// Record chunks and shared chunks, lower ones first.
    pub(crate) chunks: Vec<Bag>,
    /// Terms of term chunks of joint clusters, each with the leaves below: some record of these has it. Only [`literal`] knows them.
    pub(crate) listed: Vec<(Range<usize>, TermId)>,
}

/// A simple cluster as the definition of worlds sees it.
pub(crate) struct Leaf {
    pub(crate) size: usize,
    pub(crate) term_chunk: Vec<TermId>,
    /// Who answers for a term in this leaf's records. Terms without an entry cannot be in them.
    pub(crate) owner: BTreeMap<TermId, Owner>,
}

/// The place that owns a term in a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    TermChunk,
    /// Position in [`Layout::chunks`].
    Chunk(usize),
}

/// The subrecords of a chunk.
pub(crate) struct Bag {
    pub(crate) subrecords: Vec<Subrecord>,
    /// The leaves whose records may hold them.
    pub(crate) leaves: Range<usize>,
}

/// A distinct subrecord of a chunk.
pub(crate) struct Subrecord {
    pub(crate) terms: Vec<TermId>,
    pub(crate) count: usize,
    /// For each leaf of the root: can the subrecord lie there?
    pub(crate) eligible: Vec<bool>,
}

impl Layout {
    /// Lays out one root. Panics if it is not the shape of a release at all: a domain that overlaps another one of the
    /// same cluster, a subrecord outside its domain, a joint cluster whose size is not that of its members.
    pub(crate) fn new(root: &Node) -> Self {
        let mut layout = Layout { leaves: Vec::new(), chunks: Vec::new(), listed: Vec::new() };
        layout.add_node(root);
        for (id, chunk) in layout.chunks.iter_mut().enumerate() {
            for subrecord in &mut chunk.subrecords {
                let owned = |leaf: &Leaf| subrecord.terms.iter().all(|t| leaf.owner.get(t) == Some(&Owner::Chunk(id)));
                subrecord.eligible = layout.leaves.iter().map(owned).collect();
            }
        }
        layout
    }

    /// The number of records of each leaf, in order.
    pub(crate) fn sizes(&self) -> Vec<usize> {
        self.leaves.iter().map(|leaf| leaf.size).collect()
    }

    /// All terms that can be in a record.
    pub(crate) fn terms(&self) -> BTreeSet<TermId> {
        self.leaves.iter().flat_map(|leaf| leaf.owner.keys().copied()).collect()
    }

    /// The definition at the top of this file, read out for one candidate: `world[leaf][record]` lists terms.
    pub(crate) fn is_world(&self, world: &[Vec<Vec<TermId>>]) -> bool {
        let sizes: Vec<usize> = world.iter().map(Vec::len).collect();
        let owned = |leaf: usize, t: &TermId| self.leaves[leaf].owner.contains_key(t);
        let records = || world.iter().enumerate().flat_map(|(leaf, records)| records.iter().map(move |r| (leaf, r)));
        sizes == self.sizes()
            && records().all(|(leaf, record)| !record.is_empty() && record.iter().all(|t| owned(leaf, t)))
            && self
                .leaves
                .iter()
                .zip(world)
                .all(|(leaf, records)| leaf.term_chunk.iter().all(|t| records.iter().any(|record| record.contains(t))))
            && self.chunks.iter().enumerate().all(|(id, chunk)| {
                let mut bag: BTreeMap<Vec<TermId>, usize> = BTreeMap::new();
                for (leaf, record) in records().filter(|(leaf, _)| chunk.leaves.contains(leaf)) {
                    let owner = &self.leaves[leaf].owner;
                    let part: BTreeSet<TermId> =
                        record.iter().copied().filter(|t| owner.get(t) == Some(&Owner::Chunk(id))).collect();
                    if !part.is_empty() {
                        *bag.entry(part.into_iter().collect()).or_default() += 1;
                    }
                }
                bag == chunk.subrecords.iter().map(|s| (s.terms.clone(), s.count)).collect()
            })
    }

    fn add_node(&mut self, node: &Node) {
        let first = self.leaves.len();
        match node {
            Node::Simple(simple) => self.add_leaf(simple),
            Node::Joint(joint) => {
                joint.members.iter().for_each(|member| self.add_node(member));
                let size: usize = self.leaves[first..].iter().map(|leaf| leaf.size).sum();
                assert_eq!(joint.size, size as u64, "a joint cluster is as large as its leaves together");
                self.add_chunks(&joint.shared_chunks, first);
                for &term in &joint.term_chunk {
                    let below = &mut self.leaves[first..];
                    below
                        .iter_mut()
                        .for_each(|leaf| *leaf.owner.entry(term).or_insert(Owner::TermChunk) = Owner::TermChunk);
                    self.listed.push((first..self.leaves.len(), term));
                }
            }
        }
    }

    fn add_leaf(&mut self, simple: &Simple) {
        let owner: BTreeMap<TermId, Owner> = simple.term_chunk.iter().map(|&t| (t, Owner::TermChunk)).collect();
        for chunk in &simple.record_chunks {
            assert!(!chunk.terms.iter().any(|t| owner.contains_key(t)), "record chunk and term chunk share a term");
        }
        let first = self.leaves.len();
        self.leaves.push(Leaf { size: simple.size as usize, term_chunk: simple.term_chunk.clone(), owner });
        self.add_chunks(&simple.record_chunks, first);
    }

    /// Adds the chunks of one cluster. Lower clusters have been added before, so whoever has a term keeps it.
    fn add_chunks(&mut self, chunks: &[Chunk], first_leaf: usize) {
        let mut domain = BTreeSet::new();
        for chunk in chunks {
            let id = self.chunks.len();
            assert!(chunk.terms.iter().all(|&t| domain.insert(t)), "two chunks of one cluster share a term");
            for leaf in &mut self.leaves[first_leaf..] {
                for &t in &chunk.terms {
                    leaf.owner.entry(t).or_insert(Owner::Chunk(id));
                }
            }
            // Equal subrecords are added up, should a chunk list them apart.
            let mut bag: BTreeMap<Vec<TermId>, usize> = BTreeMap::new();
            for (terms, count) in chunk.subrecords() {
                let inside = terms.iter().all(|t| chunk.terms.contains(t));
                assert!(inside && !terms.is_empty(), "a subrecord is empty or outside its chunk's domain");
                *bag.entry(terms.to_vec()).or_default() += count as usize;
            }
            let subrecords =
                bag.into_iter().map(|(terms, count)| Subrecord { terms, count, eligible: Vec::new() }).collect();
            self.chunks.push(Bag { subrecords, leaves: first_leaf..self.leaves.len() });
        }
    }
}
