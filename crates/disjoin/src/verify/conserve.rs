//! Does the release tell the truth about its original? For those who have it: no record and no term may be lost.
//!
//! Paper:      terrovitis2012, section 3 (what chunks are projections of)
//! Promises:   with the custody map, no findings means that the original is one of the release's possible originals,
//!             every (record, term) incidence of it being published in exactly one place; without the map, that the
//!             numbers of records, the terms and their supports agree as far as the release tells them
//! Assumes:    the release's terms carry the ids of the original; unknown ones have ids beyond
//! Cost:       linear in the release and the original, up to logarithms
//! Checked by: tests/it/verify.rs

use super::rules::{Rule, Tally};
use crate::data::{Dataset, RecordId, TermId, supports};
use crate::observer::Observer;
use crate::release::{Chunk, Node, Simple};

/// Adds up over all roots how often a term may occur.
pub(super) struct Bounds {
    /// In chunks with counts.
    counted: Vec<u64>,
    /// In how many term chunks.
    term_chunks: Vec<u64>,
    /// How many records the clusters of these term chunks have.
    term_chunk_records: Vec<u64>,
}

impl Bounds {
    pub(super) fn new(original: &Dataset) -> Self {
        let zeros = || vec![0; original.n_terms()];
        Bounds { counted: zeros(), term_chunks: zeros(), term_chunk_records: zeros() }
    }

    /// Adds one root.
    pub(super) fn add(&mut self, node: &Node) {
        match node {
            Node::Simple(simple) => {
                self.add_chunks(&simple.record_chunks);
                self.add_listed(&simple.term_chunk, u64::from(simple.size));
            }
            Node::Joint(joint) => {
                joint.members.iter().for_each(|member| self.add(member));
                self.add_chunks(&joint.shared_chunks);
                self.add_listed(&joint.term_chunk, joint.size);
            }
        }
    }

    fn add_listed(&mut self, term_chunk: &[TermId], records: u64) {
        for &term in term_chunk {
            *at(&mut self.term_chunks, term) += 1;
            let most = at(&mut self.term_chunk_records, term);
            *most = most.saturating_add(records);
        }
    }

    fn add_chunks(&mut self, chunks: &[Chunk]) {
        for (terms, count) in chunks.iter().flat_map(Chunk::subrecords) {
            terms.iter().for_each(|&t| *at(&mut self.counted, t) += u64::from(count));
        }
    }

    /// Compares with the original, when all roots have been added; `records` are those of the release, `occurrences` what its
    /// header tells.
    pub(super) fn check(mut self, original: &Dataset, records: u64, occurrences: Option<u64>, tally: &mut Tally) {
        // Findings about the whole release stand at its header.
        let line = 1;
        let n_original = original.records.len() as u64;
        tally.check(Rule::OriginalRecords, line, records == n_original, || {
            format!("the release has {records} records, the original {n_original}")
        });
        let true_supports = supports(&original.records, original.n_terms());
        let n_terms = self.counted.len().max(self.term_chunks.len());
        self.counted.resize(n_terms, 0);
        self.term_chunks.resize(n_terms, 0);
        self.term_chunk_records.resize(n_terms, 0);
        let (mut n_lost, mut n_added, mut n_known, mut n_wrong) = (0, 0, 0, 0);
        let mut first_wrong = None;
        for term in 0..n_terms {
            let actual = true_supports.get(term).map_or(0, |&s| u64::from(s));
            let least = self.counted[term] + self.term_chunks[term];
            let most = self.counted[term] + self.term_chunk_records[term];
            match (actual > 0, least > 0) {
                (true, false) => n_lost += 1,
                (false, true) => n_added += 1,
                (false, false) => {}
                (true, true) => {
                    n_known += 1;
                    if !(least..=most).contains(&actual) {
                        n_wrong += 1;
                        first_wrong.get_or_insert((actual, least, most));
                    }
                }
            }
        }
        tally.count(Rule::OriginalTerms, line, n_known + n_lost + n_added, n_lost + n_added, || {
            format!("{n_lost} terms of the original are missing, {n_added} terms are not in the original")
        });
        tally.count(Rule::OriginalSupports, line, n_known, n_wrong, || {
            let (actual, least, most) = first_wrong.unwrap_or_default();
            format!("{n_wrong} terms, one of which is in {actual} records, where {least} to {most} were possible")
        });
        if let Some(told) = occurrences {
            let actual = original.records.n_incidences() as u64;
            tally.check(Rule::OriginalOccurrences, line, told == actual, || {
                format!("the release shows {told} occurrences of terms, the original has {actual}")
            });
        }
    }
}

fn at(values: &mut Vec<u64>, term: TermId) -> &mut u64 {
    if values.len() <= term as usize {
        values.resize(term as usize + 1, 0);
    }
    &mut values[term as usize]
}

/// The original's records by simple cluster.
pub(super) struct Custody<'a> {
    original: &'a Dataset,
    leaf_of: &'a [u32],
    /// Records in order of their cluster.
    order: Vec<RecordId>,
    /// l, if no sensitive term may be more frequent in a cluster than one record in l.
    pub(super) multiplicity: Option<u32>,
}

impl<'a> Custody<'a> {
    pub(super) fn new(original: &'a Dataset, leaf_of: &'a [u32], multiplicity: Option<u32>) -> Self {
        let mut order: Vec<RecordId> = (0..leaf_of.len().min(original.records.len()) as RecordId).collect();
        order.sort_by_key(|&record| leaf_of[record as usize]);
        Custody { original, leaf_of, order, multiplicity }
    }

    /// Checks that the map speaks of all records, and of no cluster beyond the release's.
    pub(super) fn check_map(&self, n_leaves: u64, tally: &mut Tally) {
        let (n_map, n_records) = (self.leaf_of.len(), self.original.records.len());
        tally.check(Rule::CustodyMap, 1, n_map == n_records, || {
            format!("the map has {n_map} records, the original {n_records}")
        });
        let n_beyond = self.leaf_of.iter().filter(|&&leaf| u64::from(leaf) >= n_leaves).count();
        tally.check(Rule::CustodyMap, 1, n_beyond == 0, || {
            format!("{n_beyond} records are in clusters beyond the release's {n_leaves}")
        });
    }

    /// Checks one root whose first simple cluster has the number `first_leaf`, counted from 0 through the release.
    pub(super) fn check(
        &self,
        root: &Node,
        first_leaf: u64,
        sensitive: &[TermId],
        line: u64,
        tally: &mut Tally,
        observer: &dyn Observer,
    ) {
        let leaves = root.leaves();
        let records: Vec<&[RecordId]> = (first_leaf..).take(leaves.len()).map(|leaf| self.records_of(leaf)).collect();
        let mut sizes_agree = true;
        for (i, (leaf, records)) in leaves.iter().zip(&records).enumerate() {
            let (size, n) = (leaf.size as usize, records.len());
            sizes_agree &= size == n;
            tally.check(Rule::CustodyMap, line, size == n, || {
                format!("cluster {} has {size} records, the map sends {n} there", i + 1)
            });
        }
        // With wrong records in the clusters every chunk would differ, and say nothing more.
        if sizes_agree {
            let mut projection =
                Projection { custody: self, records, line, sensitive, tally, leaf: 0, joint: 0, observer };
            let left_over: usize = projection.node(root).iter().map(Vec::len).sum();
            tally.check(Rule::CustodyLeftOver, line, left_over == 0, || {
                format!("{left_over} terms of records are published nowhere")
            });
        }
    }

    fn records_of(&self, leaf: u64) -> &[RecordId] {
        let leaf_of = |record: &RecordId| u64::from(self.leaf_of[*record as usize]);
        let start = self.order.partition_point(|record| leaf_of(record) < leaf);
        let end = start + self.order[start..].partition_point(|record| leaf_of(record) == leaf);
        &self.order[start..end]
    }
}

/// Deals out the terms of a root's records to its chunks, from the leaves up: whoever has a term first, owns it.
struct Projection<'a> {
    custody: &'a Custody<'a>,
    records: Vec<&'a [RecordId]>,
    line: u64,
    sensitive: &'a [TermId],
    tally: &'a mut Tally,
    leaf: usize,
    joint: usize,
    observer: &'a dyn Observer,
}

impl Projection<'_> {
    /// Checks the chunks under a node and returns what they leave of the records, without empty ones.
    fn node(&mut self, node: &Node) -> Vec<Vec<TermId>> {
        self.observer.check();
        match node {
            Node::Simple(simple) => self.simple(simple),
            Node::Joint(joint) => {
                self.joint += 1;
                let number = self.joint;
                let mut records = Vec::new();
                joint.members.iter().for_each(|member| records.extend(self.node(member)));
                let records = records.iter().map(Vec::as_slice);
                let parts = Parts::new(&joint.shared_chunks, &joint.term_chunk, records, self.observer);
                self.compare(&joint.shared_chunks, &parts, Rule::CustodySharedChunks, |chunk| {
                    format!("joint cluster {number}, shared chunk {chunk}")
                });
                if !joint.term_chunk.is_empty() {
                    self.present(&parts, || format!("joint cluster {number}"));
                }
                parts.left_over
            }
        }
    }

    fn simple(&mut self, simple: &Simple) -> Vec<Vec<TermId>> {
        let records = self.records.get(self.leaf).copied().unwrap_or_default();
        self.leaf += 1;
        let number = self.leaf;
        let transactions = &self.custody.original.records;
        let parts = Parts::new(
            &simple.record_chunks,
            &simple.term_chunk,
            records.iter().map(|&record| transactions.record(record)),
            self.observer,
        );
        self.compare(&simple.record_chunks, &parts, Rule::CustodyRecordChunks, |chunk| {
            format!("cluster {number}, record chunk {chunk}")
        });
        self.present(&parts, || format!("cluster {number}"));
        if let Some(l) = self.custody.multiplicity {
            self.diversity(records, l, number);
        }
        parts.left_over
    }

    fn present(&mut self, parts: &Parts, place: impl Fn() -> String) {
        let n_absent = parts.term_chunk_supports.iter().filter(|&&support| support == 0).count();
        self.tally.check(Rule::CustodyTermChunks, self.line, n_absent == 0, || {
            format!("{}: {n_absent} terms of its term chunk are in none of its records", place())
        });
    }

    fn compare(&mut self, chunks: &[Chunk], parts: &Parts, rule: Rule, place: impl Fn(usize) -> String) {
        for (i, (chunk, bag)) in chunks.iter().zip(&parts.bags).enumerate() {
            self.observer.check();
            let mut published: Vec<(&[TermId], u32)> = chunk.subrecords().collect();
            published.sort_unstable();
            let runs = bag.chunk_by(|a, b| a == b);
            let agree = runs.clone().count() == published.len()
                && runs.zip(&published).all(|(run, &(terms, count))| run[0] == terms && run.len() == count as usize);
            self.tally.check(rule, self.line, agree, || {
                let (n, m) = (chunk.n_subrecords(), bag.len());
                format!("{}: its {n} subrecords are not the {m} parts of the original's records", place(i + 1))
            });
        }
    }

    /// Counts from the records, wherever the term is published.
    fn diversity(&mut self, records: &[RecordId], l: u32, number: usize) {
        let transactions = &self.custody.original.records;
        let mut held: Vec<TermId> = records.iter().flat_map(|&record| transactions.record(record)).copied().collect();
        held.retain(|t| self.sensitive.binary_search(t).is_ok());
        held.sort_unstable();
        let Some(highest) = held.chunk_by(|a, b| a == b).map(<[TermId]>::len).max() else { return };
        let size = records.len() as u64;
        self.tally.check(Rule::DiversityMultiplicity, self.line, size >= u64::from(l) * highest as u64, || {
            format!(
                "cluster {number}: {highest} of its {size} records have the same sensitive term, more than 1 in {l}"
            )
        });
    }
}

/// Records cut by the chunks of one cluster.
struct Parts {
    /// For each chunk the non-empty parts, sorted.
    bags: Vec<Vec<Vec<TermId>>>,
    term_chunk_supports: Vec<u32>,
    /// What no chunk has, without empty records.
    left_over: Vec<Vec<TermId>>,
}

impl Parts {
    fn new<'r>(
        chunks: &[Chunk],
        term_chunk: &[TermId],
        records: impl Iterator<Item = &'r [TermId]>,
        observer: &dyn Observer,
    ) -> Self {
        // The term chunk comes first in the list of places, then the chunks.
        let mut places: Vec<(TermId, usize)> = term_chunk.iter().map(|&t| (t, 0)).collect();
        for (i, chunk) in chunks.iter().enumerate() {
            places.extend(chunk.terms.iter().map(|&t| (t, i + 1)));
        }
        places.sort_unstable();
        let mut parts = Parts {
            bags: vec![Vec::new(); chunks.len()],
            term_chunk_supports: vec![0; term_chunk.len()],
            left_over: Vec::new(),
        };
        let mut cut: Vec<(usize, TermId)> = Vec::new();
        for (at, record) in records.enumerate() {
            if at & 0x3ff == 0 {
                observer.check();
            }
            cut.clear();
            for &term in record {
                let i = places.partition_point(|&(t, _)| t < term);
                match places.get(i) {
                    Some(&(t, place)) if t == term => cut.push((place, term)),
                    _ => cut.push((usize::MAX, term)),
                }
            }
            cut.sort_unstable();
            for part in cut.chunk_by(|a, b| a.0 == b.0) {
                let terms: Vec<TermId> = part.iter().map(|&(_, term)| term).collect();
                match part[0].0 {
                    0 => terms.iter().filter_map(|t| term_chunk.binary_search(t).ok()).for_each(|i| {
                        parts.term_chunk_supports[i] += 1;
                    }),
                    usize::MAX => parts.left_over.push(terms),
                    place => parts.bags[place - 1].push(terms),
                }
            }
        }
        for bag in &mut parts.bags {
            observer.check();
            bag.sort_unstable();
        }
        parts
    }
}
