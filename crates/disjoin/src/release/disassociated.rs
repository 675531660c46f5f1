//! A disassociated dataset: clusters whose records are cut into chunks that are no longer linked.

use crate::data::{Dictionary, TermId};

/// What the first line of a release says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// How many records cannot be told apart.
    pub k: u32,
    /// How many terms of a person the adversary may know.
    pub m: u32,
    /// The number of records of the original.
    pub records: u64,
    /// How many pairs of a record and a term the original has, if that is published.
    pub occurrences: Option<u64>,
}

/// A whole release in memory. Term ids refer to `dictionary`.
#[derive(Debug, Clone)]
pub struct Disassociated {
    /// Parameters and number of records.
    pub header: Header,
    /// The terms' texts. In a canonical release they are sorted, so that their order discloses nothing.
    pub dictionary: Dictionary,
    /// Independent clusters, simple or joint.
    pub roots: Vec<Node>,
}

/// A cluster. The derived order is the canonical order of writing: it depends on the content alone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Node {
    /// A group of records, cut into record chunks and a term chunk.
    Simple(Simple),
    /// Clusters that share chunks.
    Joint(Joint),
}

/// A simple cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Simple {
    /// How many records were cut up.
    pub size: u32,
    /// Bags of subrecords over disjoint sets of terms.
    pub record_chunks: Vec<Chunk>,
    /// Terms of which only the presence is published, ascending.
    pub term_chunk: Vec<TermId>,
}

/// A joint cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Joint {
    /// The number of records of all members.
    pub size: u64,
    /// The clusters that were joined.
    pub members: Vec<Node>,
    /// Bags of subrecords whose owners may be in any member.
    pub shared_chunks: Vec<Chunk>,
    /// Terms of which only the presence in some member is published, ascending. Most joint clusters have none.
    pub term_chunk: Vec<TermId>,
}

/// A bag of non-empty subrecords over a set of terms, equal ones stored once with their count.
///
/// Subrecords lie in one array; a chunk costs four allocations however many subrecords it has.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Chunk {
    /// The chunk's domain, ascending.
    pub terms: Vec<TermId>,
    items: Vec<TermId>,
    ends: Vec<u32>,
    counts: Vec<u32>,
}

impl Chunk {
    /// An empty chunk over `terms`, which must be ascending.
    pub fn new(terms: Vec<TermId>) -> Self {
        debug_assert!(terms.is_sorted_by(|a, b| a < b));
        Chunk { terms, ..Chunk::default() }
    }

    /// Adds `count` subrecords equal to `terms`. Callers add each distinct subrecord once, in ascending order.
    pub fn push(&mut self, terms: &[TermId], count: u32) {
        self.items.extend_from_slice(terms);
        self.ends.push(self.items.len() as u32);
        self.counts.push(count);
    }

    /// A chunk read from outside, checked: no empty subrecord, no zero count, no subrecord twice or outside `terms`.
    pub(super) fn from_parts(
        terms: Vec<TermId>,
        mut subrecords: Vec<(Vec<TermId>, u32)>,
    ) -> Result<Self, &'static str> {
        subrecords.sort_unstable();
        let mut chunk = Chunk::new(terms);
        for (i, (items, count)) in subrecords.iter().enumerate() {
            if *count == 0 {
                return Err("a subrecord with a count of 0");
            }
            if items.is_empty() {
                return Err("an empty subrecord");
            }
            if items.iter().any(|item| chunk.terms.binary_search(item).is_err()) {
                return Err("a subrecord with a term outside its chunk");
            }
            if i > 0 && subrecords[i - 1].0 == *items {
                return Err("a subrecord stands twice in one chunk; equal ones are written once with their count");
            }
            chunk.push(items, *count);
        }
        Ok(chunk)
    }

    fn rename(&mut self, names: &[TermId]) {
        let mut renamed: Vec<(Vec<TermId>, u32)> =
            self.subrecords().map(|(terms, count)| (terms.to_vec(), count)).collect();
        renamed.iter_mut().for_each(|(terms, _)| rename_sorted(terms, names));
        renamed.sort_unstable();
        let mut terms = std::mem::take(&mut self.terms);
        rename_sorted(&mut terms, names);
        *self = Chunk::new(terms);
        renamed.iter().for_each(|(terms, count)| self.push(terms, *count));
    }

    /// The distinct subrecords with their counts.
    pub fn subrecords(&self) -> impl ExactSizeIterator<Item = (&[TermId], u32)> + Clone {
        (0..self.ends.len()).map(|i| self.subrecord(i))
    }

    /// The `i`-th distinct subrecord with its count.
    #[inline]
    pub fn subrecord(&self, i: usize) -> (&[TermId], u32) {
        let start = if i == 0 { 0 } else { self.ends[i - 1] as usize };
        (&self.items[start..self.ends[i] as usize], self.counts[i])
    }

    /// The number of distinct subrecords.
    pub fn n_distinct(&self) -> usize {
        self.ends.len()
    }

    /// The number of subrecords, equal ones counted each: |C| in the paper.
    pub fn n_subrecords(&self) -> u64 {
        self.counts.iter().map(|&c| u64::from(c)).sum()
    }

    /// How many subrecords contain all of `itemset` (ascending).
    pub fn support(&self, itemset: &[TermId]) -> u64 {
        let contains = |terms: &[TermId]| itemset.iter().all(|t| terms.binary_search(t).is_ok());
        self.subrecords().filter(|(terms, _)| contains(terms)).map(|(_, count)| u64::from(count)).sum()
    }
}

impl Node {
    /// The number of records under this cluster.
    pub fn size(&self) -> u64 {
        match self {
            Node::Simple(simple) => u64::from(simple.size),
            Node::Joint(joint) => joint.size,
        }
    }

    /// The simple clusters under this one, in order.
    pub fn leaves(&self) -> Vec<&Simple> {
        let mut leaves = Vec::new();
        let mut stack = vec![self];
        while let Some(node) = stack.pop() {
            match node {
                Node::Simple(simple) => leaves.push(simple),
                Node::Joint(joint) => stack.extend(joint.members.iter().rev()),
            }
        }
        leaves
    }

    /// Renames every term and puts terms, subrecords, chunks and members into canonical order.
    ///
    /// With the ranks of [`Dictionary::sorted`], the order no longer depends on anything but the content.
    pub fn rename(&mut self, names: &[TermId]) {
        match self {
            Node::Simple(simple) => {
                rename_sorted(&mut simple.term_chunk, names);
                simple.record_chunks.iter_mut().for_each(|chunk| chunk.rename(names));
                simple.record_chunks.sort_unstable();
            }
            Node::Joint(joint) => {
                joint.members.iter_mut().for_each(|member| member.rename(names));
                joint.members.sort_unstable();
                joint.shared_chunks.iter_mut().for_each(|chunk| chunk.rename(names));
                joint.shared_chunks.sort_unstable();
                rename_sorted(&mut joint.term_chunk, names);
            }
        }
    }

    /// All term chunks under this cluster, each with the number of records in which its terms may be.
    pub fn term_chunks(&self) -> Vec<(u64, &[TermId])> {
        let mut chunks = Vec::new();
        let mut stack = vec![self];
        while let Some(node) = stack.pop() {
            match node {
                Node::Simple(simple) => chunks.push((u64::from(simple.size), &simple.term_chunk[..])),
                Node::Joint(joint) => {
                    chunks.push((joint.size, &joint.term_chunk[..]));
                    stack.extend(&joint.members);
                }
            }
        }
        chunks
    }
}

impl Simple {
    /// Whether it publishes nothing of its own: its records have what is in chunks around it.
    pub fn is_bare(&self) -> bool {
        self.record_chunks.is_empty() && self.term_chunk.is_empty()
    }
}

impl Disassociated {
    /// The same release with sorted dictionary and everything in canonical order.
    #[must_use]
    pub fn canonical(mut self) -> Self {
        let (dictionary, rank) = self.dictionary.sorted();
        self.roots.iter_mut().for_each(|root| root.rename(&rank));
        self.roots.sort_unstable();
        Disassociated { dictionary, ..self }
    }
}

fn rename_sorted(terms: &mut [TermId], names: &[TermId]) {
    terms.iter_mut().for_each(|t| *t = names[*t as usize]);
    terms.sort_unstable();
}
