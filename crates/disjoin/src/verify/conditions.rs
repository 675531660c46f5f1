//! The conditions of the `published` promise, checked on one root of a release and nothing else.
//!
//! Paper:      terrovitis2012, Lemma 2, Property 1 and Lemma 3, with the corrections that make them true
//! Promises:   a root without findings keeps Guarantee 1 in reading I0 for every original that it is a truthful
//!             release of, and for each simple cluster by itself
//! Assumes:    nothing
//! Departs:    Lemma 2 is asked of every simple cluster by its own record chunks, and a shared chunk with conflicts
//!             must leave room besides being k-anonymous: with the paper's conditions alone the promise fails
//! Cost:       near-linear in the size of the root, apart from the anonymity of chunks (`anonymity.rs`)
//! Checked by: tests/it/verify.rs (against brute force over possible originals; one broken release for every rule)
//!
//! Why this suffices. Let S, |S| <= m, lie in a record r of the simple cluster P, and call a term's *place* the lowest
//! chunk on the way from P to the root that has it. For each chunk c that has a part of S, k subrecords that may lie in
//! P contain this part: in a record chunk because it is k^m-anonymous; in a shared chunk without conflicts likewise,
//! since its subrecords may lie anywhere below; in one with conflicts because r's own part stands there k times. Put
//! them into the same k records of P (P has k). What remains of a shared chunk finds free records one by one, since
//! the clusters in which a subrecord may lie have at least as many records as the chunk has subrecords. No record is
//! left empty, thanks to P's term chunk or to the number of its subrecords, wherever the shared ones lie.
//!
//! A member of a joint cluster may have no chunk of its own. Then the subrecords of this joint cluster fill it: there are k (h - 1) more
//! than such records, h being the number of parts that meet, or there is a term chunk, whose terms may be anywhere below it; none of
//! these has terms that stand below as well, so that they may lie anywhere. If P itself is such a member, any k records below will do.

use std::collections::HashMap;

use super::anonymity::km_shortfall;
use super::rules::{Rule, Tally};
use crate::data::TermId;
use crate::observer::Observer;
use crate::release::claim::Parameters;
use crate::release::{Chunk, Joint, Node, Simple};

/// What is asked of a root.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) parameters: &'a Parameters,
    pub(super) k: u32,
    pub(super) m: u32,
    /// Whether all that is shared must have been taken out of the clusters below: the promise is program-aware.
    pub(super) is_guarded: bool,
    /// Whether the claim names sensitive terms.
    pub(super) has_sensitive: bool,
    /// Those that the root's dictionary knows, ascending.
    pub(super) sensitive: &'a [TermId],
    pub(super) l: Option<u32>,
    pub(super) observer: &'a dyn Observer,
}

/// What a root consists of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) records: u64,
    pub(super) clusters: u64,
    pub(super) joint_clusters: u64,
    pub(super) record_chunks: u64,
    pub(super) shared_chunks: u64,
    pub(super) term_chunk_terms: u64,
}

/// Checks one root, which stands on `line`.
pub(super) fn check(root: &Node, asked: Asked<'_>, line: u64, tally: &mut Tally) -> Shape {
    let mut walk = Walk {
        asked,
        line,
        tally,
        shape: Shape::default(),
        sizes_before: vec![0],
        owned: matches!(root, Node::Joint(_)).then(HashMap::default),
        is_inside: false,
        scratch: Vec::new(),
    };
    walk.node(root);
    walk.shape
}

/// A run of simple clusters of the root, in order: from the first one to before the second.
type Run = (usize, usize);

struct Walk<'a> {
    asked: Asked<'a>,
    line: u64,
    tally: &'a mut Tally,
    shape: Shape,
    /// Records in the simple clusters before each one, and at the end in all that were met.
    sizes_before: Vec<u64>,
    /// For each term the simple clusters whose place for it has been met, as ascending runs; none kept for a root that
    /// shares nothing.
    owned: Option<HashMap<TermId, Vec<Run>, foldhash::fast::RandomState>>,
    /// Whether there is a joint cluster around.
    is_inside: bool,
    scratch: Vec<TermId>,
}

impl Walk<'_> {
    fn node(&mut self, node: &Node) {
        self.asked.observer.check();
        match node {
            Node::Simple(simple) => self.simple(simple),
            Node::Joint(joint) => self.joint(joint),
        }
    }

    fn simple(&mut self, simple: &Simple) {
        let number = self.sizes_before.len();
        let size = u64::from(simple.size);
        self.sizes_before.push(self.n_records() + size);
        self.shape.records += size;
        self.shape.clusters += 1;
        self.shape.record_chunks += simple.record_chunks.len() as u64;
        self.shape.term_chunk_terms += simple.term_chunk.len() as u64;

        let (line, k) = (self.line, self.asked.k);
        let is_empty = simple.is_bare();
        if is_empty && self.is_inside {
            // Its records have what is in the chunks of the joint cluster around it, which `joint` looks at.
            return;
        }
        self.tally.check(Rule::EmptyCluster, line, !is_empty, || format!("cluster {number} has no chunk at all"));
        self.tally.check(Rule::ClusterSize, line, size >= u64::from(k), || {
            format!("cluster {number} has {size} records, fewer than k = {k}")
        });
        self.disjoint(&simple.record_chunks, &simple.term_chunk, || format!("cluster {number}"));
        for (i, chunk) in simple.record_chunks.iter().enumerate() {
            let place = || format!("cluster {number}, record chunk {}", i + 1);
            self.bag(chunk, size, place);
            self.anonymous(chunk, Rule::RecordChunkAnonymity, place);
        }
        if !is_empty {
            self.filling(simple, number);
        }
        self.diversity(simple, number);

        let leaf = number - 1;
        let domains = simple.record_chunks.iter().map(|chunk| &chunk.terms).chain([&simple.term_chunk]);
        self.own(domains.flatten(), (leaf, leaf + 1));
    }

    fn joint(&mut self, joint: &Joint) {
        self.shape.joint_clusters += 1;
        self.shape.shared_chunks += joint.shared_chunks.len() as u64;
        let number = self.shape.joint_clusters;
        let first = self.sizes_before.len() - 1;
        let was_inside = std::mem::replace(&mut self.is_inside, true);
        joint.members.iter().for_each(|member| self.node(member));
        self.is_inside = was_inside;
        let below: Run = (first, self.sizes_before.len() - 1);
        let size = self.sizes_before[below.1] - self.sizes_before[below.0];

        let (line, n_members) = (self.line, joint.members.len());
        self.tally.check(Rule::MemberSizes, line, n_members > 0 && joint.size == size, || {
            format!("joint cluster {number} has a size of {}, its {n_members} members have {size} together", joint.size)
        });
        self.shape.term_chunk_terms += joint.term_chunk.len() as u64;
        self.disjoint(&joint.shared_chunks, &joint.term_chunk, || format!("joint cluster {number}"));
        let mut has_conflicts = joint.term_chunk.iter().any(|&t| !self.owned_within(t, below).is_empty());
        self.tally.check(Rule::DisjointDomains, line, !has_conflicts, || {
            format!("joint cluster {number}: terms of its term chunk stand in clusters below as well")
        });
        for (i, chunk) in joint.shared_chunks.iter().enumerate() {
            let place = || format!("joint cluster {number}, shared chunk {}", i + 1);
            self.bag(chunk, size, place);
            if chunk.terms.iter().any(|&t| !self.owned_within(t, below).is_empty()) {
                has_conflicts = true;
                self.conflicting(chunk, below, place);
                if self.asked.is_guarded {
                    self.tally.check(Rule::DisjointDomains, line, false, || {
                        format!(
                            "{}: some of its terms stand in clusters below, which the guarded grouping never does",
                            place()
                        )
                    });
                }
            } else {
                self.anonymous(chunk, Rule::SharedChunkAnonymity, place);
            }
        }
        self.bare_members(joint, size, has_conflicts, number);
        // Only now, for the chunks of one joint do not stand below each other.
        let domains = joint.shared_chunks.iter().map(|chunk| &chunk.terms).chain([&joint.term_chunk]);
        self.own(domains.flatten(), below);
    }

    /// Members without a chunk of their own: the chunks of the joint cluster fill them, while parts meet elsewhere.
    fn bare_members(&mut self, joint: &Joint, size: u64, has_conflicts: bool, number: u64) {
        let is_bare = |member: &&Node| matches!(member, Node::Simple(simple) if simple.is_bare());
        let bare: u64 = joint.members.iter().filter(is_bare).map(Node::size).sum();
        if bare == 0 {
            return;
        }
        let Asked { k, m, .. } = self.asked;
        let n: u64 = joint.shared_chunks.iter().map(Chunk::n_subrecords).sum();
        let n_parts = joint.shared_chunks.len() as u64 + u64::from(bare < size);
        let needed = bare + u64::from(k) * n_parts.min(u64::from(m)).saturating_sub(1);
        // If there are just as many subrecords, then none lies where another part does.
        let is_filled = n >= needed || n == bare || !joint.term_chunk.is_empty();
        let holds = is_filled && !has_conflicts && size >= u64::from(k);
        self.tally.check(Rule::Filling, self.line, holds, || {
            format!("joint cluster {number} has {n} subrecords for {bare} records without chunks, fewer than {needed}")
        });
    }

    fn n_records(&self) -> u64 {
        self.sizes_before.last().copied().unwrap_or(0)
    }

    fn disjoint(&mut self, chunks: &[Chunk], term_chunk: &[TermId], place: impl Fn() -> String) {
        self.scratch.clear();
        self.scratch.extend(chunks.iter().flat_map(|chunk| &chunk.terms).chain(term_chunk));
        self.scratch.sort_unstable();
        let n_twice = self.scratch.windows(2).filter(|pair| pair[0] == pair[1]).count();
        self.tally.check(Rule::DisjointDomains, self.line, n_twice == 0, || {
            format!("{}: {n_twice} terms stand in more than one chunk", place())
        });
    }

    /// What every bag of subrecords must be, anonymous or not.
    fn bag(&mut self, chunk: &Chunk, size: u64, place: impl Fn() -> String) {
        self.scratch.clear();
        self.asked.observer.check();
        self.scratch.extend(chunk.subrecords().flat_map(|(terms, _)| terms));
        self.scratch.sort_unstable();
        self.scratch.dedup();
        // A term that no subrecord has could be told of, and then no k records have it.
        let (n_used, n_terms, n) = (self.scratch.len(), chunk.terms.len(), chunk.n_subrecords());
        self.tally.check(Rule::EmptyChunk, self.line, n > 0 && self.scratch == chunk.terms, || {
            format!("{}: its {n} subrecords hold {n_used} terms, it names {n_terms}", place())
        });
        self.tally
            .check(Rule::ChunkSize, self.line, n <= size, || format!("{}: {n} subrecords for {size} records", place()));
        if self.asked.has_sensitive {
            let n_sensitive = chunk.terms.iter().filter(|t| self.asked.sensitive.binary_search(t).is_ok()).count();
            self.tally.check(Rule::SensitivePlace, self.line, n_sensitive == 0, || {
                format!("{}: {n_sensitive} of its terms are sensitive", place())
            });
        }
    }

    fn anonymous(&mut self, chunk: &Chunk, rule: Rule, place: impl Fn() -> String) {
        let Asked { k, m, .. } = self.asked;
        let Ok(shortfall) = km_shortfall(chunk, u64::from(k), m as usize, self.asked.observer) else {
            return self.tally.check(rule, self.line, false, || {
                format!("{}: not decided, for there are too many sets of m = {m} terms to count", place())
            });
        };
        self.tally.check(rule, self.line, shortfall.is_none(), || match shortfall {
            Some(short) => format!(
                "{}: a set of {} terms of subrecord {} is in {} subrecords, fewer than k = {k}",
                place(),
                short.n_terms,
                short.subrecord + 1,
                short.support
            ),
            None => String::new(),
        });
    }

    /// Lemma 2, from the record chunks of the cluster alone: what it shares may lie elsewhere.
    fn filling(&mut self, simple: &Simple, number: usize) {
        let n: u64 = simple.record_chunks.iter().map(Chunk::n_subrecords).sum();
        let h = u64::from(self.asked.m).min(simple.record_chunks.len() as u64);
        let needed = u64::from(simple.size) + u64::from(self.asked.k) * h.saturating_sub(1);
        // A term that is not sensitive may be in any number of records; a sensitive one in as many as the claim allows.
        let is_sensitive = |term: &TermId| self.asked.sensitive.binary_search(term).is_ok();
        let fills_any = simple.term_chunk.iter().any(|term| !is_sensitive(term));
        let filled = simple.term_chunk.len() as u64 * u64::from(self.asked.parameters.most_of_sensitive(simple.size));
        let is_empty = simple.is_bare();
        // Subrecords that just suffice leave no record with two of them, whatever the original: no set spans chunks.
        let is_apart = simple.term_chunk.is_empty() && n == u64::from(simple.size);
        let holds = fills_any || (!is_empty && (n + filled >= needed || is_apart));
        self.tally.check(Rule::Filling, self.line, holds, || {
            format!("cluster {number} has {n} subrecords and {filled} terms to fill records, fewer than s + k(h - 1) = {needed}")
        });
    }

    fn diversity(&mut self, simple: &Simple, number: usize) {
        let Some(l) = self.asked.l else { return };
        let domains = simple.record_chunks.iter().map(|chunk| &chunk.terms).chain([&simple.term_chunk]);
        if domains.flatten().any(|t| self.asked.sensitive.binary_search(t).is_ok()) {
            self.tally.check(Rule::DiversitySize, self.line, simple.size >= l, || {
                format!("cluster {number} has a sensitive term and {} records, fewer than l = {l}", simple.size)
            });
        }
    }

    /// Property 1, and room: a shared chunk some of whose terms have a place below.
    fn conflicting(&mut self, chunk: &Chunk, below: Run, place: impl Fn() -> String) {
        let k = self.asked.k;
        let (mut n_rare, mut least_count) = (0, u32::MAX);
        let (mut n_tight, mut least_room) = (0, u64::MAX);
        let n = chunk.n_subrecords();
        let total = self.sizes_before[below.1] - self.sizes_before[below.0];
        let mut runs: Vec<Run> = Vec::new();
        for (terms, count) in chunk.subrecords() {
            n_rare += u64::from(count < k);
            least_count = least_count.min(count);
            runs.clear();
            terms.iter().for_each(|&t| runs.extend(self.owned_within(t, below)));
            let room = total - self.records_in(&mut runs);
            n_tight += u64::from(room < n);
            least_room = least_room.min(room);
        }
        self.tally.check(Rule::SharedChunkConflicts, self.line, n_rare == 0, || {
            let place = place();
            format!("{place}: {n_rare} distinct subrecords stand fewer than k = {k} times, one of them {least_count}")
        });
        self.tally.check(Rule::SharedChunkRoom, self.line, n_tight == 0, || {
            let place = place();
            format!("{place}: {n} subrecords, but one may lie in {least_room} records only ({n_tight} have this fault)")
        });
    }

    /// The simple clusters of `below` that have a place for `term` which has been met. Clusters are met in order and
    /// lower ones first, so these runs are the last ones, and do not overlap.
    fn owned_within(&self, term: TermId, below: Run) -> &[Run] {
        let runs = self.owned.as_ref().and_then(|owned| owned.get(&term)).map_or(&[][..], Vec::as_slice);
        &runs[runs.partition_point(|run| run.0 < below.0)..]
    }

    fn own<'t>(&mut self, terms: impl Iterator<Item = &'t TermId>, below: Run) {
        let Some(owned) = &mut self.owned else { return };
        for &term in terms {
            let runs = owned.entry(term).or_default();
            runs.truncate(runs.partition_point(|run| run.0 < below.0));
            runs.push(below);
        }
    }

    /// The number of records in the simple clusters of `runs`, each counted once.
    fn records_in(&self, runs: &mut [Run]) -> u64 {
        runs.sort_unstable();
        let (mut records, mut end) = (0, 0);
        for &mut (from, to) in runs {
            let from = from.max(end);
            if from < to {
                records += self.sizes_before[to] - self.sizes_before[from];
                end = to;
            }
        }
        records
    }
}
