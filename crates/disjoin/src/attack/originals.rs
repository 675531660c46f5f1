//! All possible originals of a few clusters, one by one: the definition of reading I0 as a program.
//!
//! A possible original gives every simple cluster as many records as it has, none of them empty. A record takes at most one
//! subrecord of each chunk on the way from its cluster to the root, and any terms of the term chunks there; all subrecords are taken, and
//! every term of a term chunk is in one record at least. A subrecord may lie in a cluster if no chunk further down has its terms.
//!
//! Paper:      terrovitis2012, section 3 (Guarantee 1)
//! Promises:   every bag of records for each cluster is visited, once; or it is told that they are too many
//! Assumes:    the conditions of `verify` that every release meets: domains of a cluster are disjoint
//! Cost:       their number, which is why only a handful of records is looked at
//! Checked by: tests in this file; tests/it/rerun.rs, against all datasets of a space

use std::collections::BTreeMap;
use std::ops::Range;

use crate::data::TermId;
use crate::release::{Chunk, Node, Simple};

/// A record, one bit for each term.
pub(super) type Bits = u64;

/// More ways than this to make up one record, and nothing is enumerated.
const MOST_WAYS: f64 = 4_096.0;

/// More records than this, and nothing is enumerated.
const MOST_RECORDS: u64 = 40;

/// Some clusters, laid out for going through their possible originals.
#[derive(Debug, Default)]
pub(super) struct Originals {
    /// The terms, ascending: the term of each bit.
    pub(super) terms: Vec<TermId>,
    pub(super) leaves: Vec<Leaf>,
    chunks: Vec<Bag>,
    /// Terms of a term chunk: some record of these leaves has each.
    listed: Vec<(Range<usize>, Bits)>,
}

/// A simple cluster.
#[derive(Debug, Default)]
pub(super) struct Leaf {
    pub(super) size: usize,
    /// The terms of each record chunk.
    pub(super) record_chunks: Vec<Bits>,
    /// The terms of shared chunks above it that no chunk further down has.
    pub(super) shared: Bits,
    /// Terms of term chunks, of this cluster and of those around it.
    free: Bits,
    /// What its records may be, and the subrecords that each takes: chunk and row.
    ways: Vec<(Bits, Vec<(usize, usize)>)>,
}

impl Leaf {
    /// The terms of record chunks and shared chunks.
    pub(super) fn covered(&self) -> Bits {
        self.record_chunks.iter().fold(self.shared, |all, chunk| all | chunk)
    }
}

#[derive(Debug)]
struct Bag {
    leaves: Range<usize>,
    domain: Bits,
    rows: Vec<(Bits, u32)>,
}

impl Originals {
    /// Lays out some clusters; none if there are too many terms or ways.
    pub(super) fn new<'r>(roots: impl Iterator<Item = &'r Node> + Clone) -> Option<Self> {
        if roots.clone().map(Node::size).sum::<u64>() > MOST_RECORDS {
            return None;
        }
        let mut all = Originals { terms: terms_of(roots.clone()), ..Originals::default() };
        if all.terms.len() > 64 {
            return None;
        }
        roots.for_each(|root| all.add(root));
        (0..all.leaves.len()).all(|leaf| all.find_ways(leaf).is_some()).then_some(all)
    }

    /// Calls `visit` with the records of each possible original, leaf by leaf. False if it takes more than so many looks at a record; then some
    /// were not visited.
    pub(super) fn visit(&self, steps: u64, visit: &mut dyn FnMut(&[Bits])) -> bool {
        let rows = self.chunks.iter().map(|bag| bag.rows.iter().map(|(_, count)| *count).collect()).collect();
        let mut walk = Walk { all: self, left: rows, records: Vec::new(), steps };
        walk.leaf(0, visit);
        walk.steps > 0
    }

    /// The terms of a record.
    pub(super) fn terms(&self, record: Bits) -> Vec<TermId> {
        (0..self.terms.len()).filter(|bit| record >> bit & 1 == 1).map(|bit| self.terms[bit]).collect()
    }

    fn bits(&self, terms: &[TermId]) -> Bits {
        let bit = |term: &TermId| self.terms.binary_search(term).map_or(0, |at| 1 << at);
        terms.iter().fold(0, |all, term| all | bit(term))
    }

    fn add(&mut self, node: &Node) {
        let first = self.leaves.len();
        match node {
            Node::Simple(Simple { size, record_chunks, term_chunk }) => {
                let free = self.bits(term_chunk);
                let domains = record_chunks.iter().map(|chunk| self.bits(&chunk.terms)).collect();
                self.leaves.push(Leaf { size: *size as usize, record_chunks: domains, free, ..Leaf::default() });
                self.add_chunks(record_chunks, first);
                self.listed.push((first..first + 1, free));
            }
            Node::Joint(joint) => {
                joint.members.iter().for_each(|member| self.add(member));
                let listed = self.bits(&joint.term_chunk);
                for leaf in first..self.leaves.len() {
                    let below = self.leaves[leaf].covered() | self.leaves[leaf].free;
                    let here = joint.shared_chunks.iter().fold(0, |all, chunk| all | self.bits(&chunk.terms));
                    self.leaves[leaf].shared |= here & !below;
                    self.leaves[leaf].free |= listed & !below;
                }
                self.add_chunks(&joint.shared_chunks, first);
                self.listed.push((first..self.leaves.len(), listed));
            }
        }
    }

    fn add_chunks(&mut self, chunks: &[Chunk], first: usize) {
        for chunk in chunks {
            let rows = chunk.subrecords().map(|(terms, count)| (self.bits(terms), count)).collect();
            self.chunks.push(Bag { leaves: first..self.leaves.len(), domain: self.bits(&chunk.terms), rows });
        }
    }

    /// What the records of a leaf may be; none if it is too much.
    fn find_ways(&mut self, number: usize) -> Option<()> {
        let leaf = &self.leaves[number];
        let above = || self.chunks.iter().enumerate().filter(|(_, bag)| bag.leaves.contains(&number));
        let n_ways = above().map(|(_, bag)| bag.rows.len() as f64 + 1.0).product::<f64>();
        if n_ways * 2_f64.powi(leaf.free.count_ones() as i32) > MOST_WAYS {
            return None;
        }
        let mut ways: Vec<(Bits, Vec<(usize, usize)>)> = vec![(0, Vec::new())];
        for (id, bag) in above() {
            // What a chunk further down has, and what stands in a term chunk, this one does not own here.
            let is_own = bag.leaves.len() == 1;
            let owned = if is_own { bag.domain } else { bag.domain & leaf.shared };
            for way in 0..ways.len() {
                let fits = |row: &(Bits, u32)| row.0 & !owned == 0 && row.0 & ways[way].0 == 0;
                let more: Vec<(Bits, Vec<(usize, usize)>)> = (bag.rows.iter().enumerate())
                    .filter(|(_, row)| fits(row))
                    .map(|(i, row)| (ways[way].0 | row.0, [&ways[way].1[..], &[(id, i)]].concat()))
                    .collect();
                ways.extend(more);
            }
        }
        let mut subset = leaf.free;
        let mut all: Vec<(Bits, Vec<(usize, usize)>)> = Vec::new();
        loop {
            all.extend(ways.iter().map(|(record, uses)| (record | subset, uses.clone())));
            if subset == 0 {
                break;
            }
            subset = (subset - 1) & leaf.free;
        }
        all.retain(|(record, _)| *record != 0);
        self.leaves[number].ways = all;
        Some(())
    }
}

fn terms_of<'r>(roots: impl Iterator<Item = &'r Node>) -> Vec<TermId> {
    let mut terms: BTreeMap<TermId, ()> = BTreeMap::new();
    let mut nodes: Vec<&Node> = roots.collect();
    while let Some(node) = nodes.pop() {
        let (chunks, listed) = match node {
            Node::Simple(simple) => (&simple.record_chunks, &simple.term_chunk),
            Node::Joint(joint) => {
                nodes.extend(&joint.members);
                (&joint.shared_chunks, &joint.term_chunk)
            }
        };
        terms.extend(chunks.iter().flat_map(|chunk| &chunk.terms).chain(listed).map(|&term| (term, ())));
    }
    terms.into_keys().collect()
}

/// A way through the possible originals.
struct Walk<'a> {
    all: &'a Originals,
    /// How many subrecords of each row of each chunk are left.
    left: Vec<Vec<u32>>,
    records: Vec<Bits>,
    /// How many steps may still be made.
    steps: u64,
}

impl Walk<'_> {
    fn leaf(&mut self, leaf: usize, visit: &mut dyn FnMut(&[Bits])) {
        if leaf == self.all.leaves.len() {
            return visit(&self.records);
        }
        self.record(leaf, self.all.leaves[leaf].size, 0, visit);
    }

    /// Adds a record to a leaf that lacks so many: one that does not come before `first`, so that each bag is met once.
    fn record(&mut self, leaf: usize, lacking: usize, first: usize, visit: &mut dyn FnMut(&[Bits])) {
        if self.steps == 0 || !self.has_room(leaf, lacking) {
            return;
        }
        if lacking == 0 {
            if self.is_complete(leaf) {
                self.leaf(leaf + 1, visit);
            }
            return;
        }
        let all = self.all;
        for (way, (record, uses)) in all.leaves[leaf].ways.iter().enumerate().skip(first) {
            self.steps = self.steps.saturating_sub(1);
            if uses.iter().any(|&(chunk, row)| self.left[chunk][row] == 0) {
                continue;
            }
            uses.iter().for_each(|&(chunk, row)| self.left[chunk][row] -= 1);
            self.records.push(*record);
            self.record(leaf, lacking - 1, way, visit);
            self.records.pop();
            uses.iter().for_each(|&(chunk, row)| self.left[chunk][row] += 1);
        }
    }

    /// Whether what is left of each chunk finds records.
    fn has_room(&self, leaf: usize, lacking: usize) -> bool {
        let sizes = &self.all.leaves;
        self.all.chunks.iter().zip(&self.left).all(|(bag, left)| {
            let here = if bag.leaves.contains(&leaf) { lacking } else { 0 };
            let later = sizes.iter().enumerate().skip(leaf + 1).filter(|(i, _)| bag.leaves.contains(i));
            left.iter().sum::<u32>() as usize <= here + later.map(|(_, leaf)| leaf.size).sum::<usize>()
        })
    }

    /// Whether everything that ends with this leaf is there.
    fn is_complete(&self, leaf: usize) -> bool {
        let ends: Vec<usize> = (self.all.leaves.iter())
            .scan(0, |end, leaf| {
                *end += leaf.size;
                Some(*end)
            })
            .collect();
        let records = |leaves: &Range<usize>| {
            let start = if leaves.start == 0 { 0 } else { ends[leaves.start - 1] };
            &self.records[start..ends[leaves.end - 1]]
        };
        let ending = self.all.listed.iter().filter(|(leaves, _)| leaves.end == leaf + 1);
        ending
            .into_iter()
            .all(|(leaves, listed)| records(leaves).iter().fold(0, |all, record| all | record) & listed == *listed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::Joint;

    fn chunk(terms: &[TermId], rows: &[(&[TermId], u32)]) -> Chunk {
        let mut chunk = Chunk::new(terms.to_vec());
        rows.iter().for_each(|(terms, count)| chunk.push(terms, *count));
        chunk
    }

    fn all(root: &Node) -> Vec<Vec<Bits>> {
        let originals = Originals::new(std::iter::once(root)).unwrap();
        let mut seen = Vec::new();
        assert!(originals.visit(100_000, &mut |records| seen.push(records.to_vec())));
        seen
    }

    #[test]
    fn subrecords_of_two_chunks_meet_in_every_way() {
        let record_chunks = vec![chunk(&[0], &[(&[0], 2)]), chunk(&[1], &[(&[1], 2)])];
        let simple = |size, term_chunk| Node::Simple(Simple { size, record_chunks: record_chunks.clone(), term_chunk });
        let sorted = |mut record: Vec<Bits>| {
            record.sort_unstable();
            record
        };
        // Nothing else fills a record.
        let alone: Vec<Vec<Bits>> = all(&simple(3, vec![])).into_iter().map(sorted).collect();
        assert_eq!(alone, [vec![0b01, 0b10, 0b11]]);
        assert_eq!(all(&simple(2, vec![])), [vec![0b11, 0b11]]);
        // The third term is in one of two records that are alike, or in both.
        assert_eq!(all(&simple(2, vec![2])).len(), 2);
    }

    #[test]
    fn shared_subrecords_lie_in_any_leaf_that_has_not_their_terms() {
        let leaf = |term: TermId| {
            Node::Simple(Simple { size: 3, record_chunks: vec![chunk(&[term], &[(&[term], 3)])], term_chunk: vec![] })
        };
        let shared_chunks = vec![chunk(&[2], &[(&[2], 2)])];
        let joint = Joint { size: 6, members: vec![leaf(0), leaf(1)], shared_chunks, term_chunk: vec![] };
        // Two in one leaf, two in the other, one in each.
        assert_eq!(all(&Node::Joint(joint)).len(), 3);
    }
}
