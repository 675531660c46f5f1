//! The cover problem: why a term is not in an earlier chunk tells how rarely it goes with the terms there.
//!
//! Let x be in a chunk and I those terms of an earlier chunk that are at least as frequent as x. If some y of I never
//! comes without the rest of I, then k records or more with x and y would be k records or more with x and each of I, and
//! x would have been put into the earlier chunk. So fewer than k records hold x and y, and everybody who has them has all of I.
//!
//! Paper:      barakat2016, Definition 3, Lemma 1, Algorithm 1
//! Promises:   no cluster cut by VERPART has k records or more with the terms of a finding
//! Assumes:    the order of `order.rs`; the clusters were cut by VERPART, any k and m. Where terms were offered by another rule
//!             (`reconstruct/aware/weighed.rs`), none was refused, and nothing follows
//! Departs:    all earlier chunks are looked at, as in Algorithm 1, not the last one only, as in Definition 3. Algorithm 1
//!             as printed looks at the first term of a chunk only and never resets its maximum: see [`Counters`]
//! Cost:       O(v |T| + |C| log |C|) for a cluster of v chunks, |T| terms and |C| subrecords' terms
//! Checked by: tests/it/attack.rs: the paper's figure, a slow implementation, releases with and without the problem

use serde::Serialize;

use super::order::{Made, as_made};
use super::{Attack, Coverage, Finding, Findings, Says, View};
use crate::data::TermId;
use crate::release::{CutRule, Node, Simple};

/// Looks for cover problems.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cover;

impl Attack for Cover {
    fn name(&self) -> &'static str {
        "cover"
    }

    fn run(&self, view: &View<'_>) -> Findings {
        let mut found = Vec::new();
        let mut coverage = Coverage::default();
        for (leaf, simple) in (0..).zip(view.release.roots.iter().flat_map(Node::leaves)) {
            view.observer.check();
            let chunks = as_made(simple);
            coverage.clusters += 1;
            // The test misses pairs: only where no two chunks are, nothing is left to find.
            if chunks.len() < 2 {
                coverage.proved += 1;
            } else {
                coverage.open += 1;
            }
            for problem in problems(&chunks, view) {
                found.extend(problem.covered.iter().map(|&y| problem.finding(leaf, y)));
            }
        }
        found.sort_by(|a, b| (a.leaf, &a.terms).cmp(&(b.leaf, &b.terms)));
        Findings { attack: self.name(), says: Says::FewerThanK, found, coverage }
    }
}

/// What Algorithm 1 counts, in the readings that its print and its prose allow.
///
/// A breach is a term x and an earlier chunk with a covered y such that the adversary knows of x and y.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counters {
    /// As printed: only the first term of each chunk is looked at, and the maximum is carried from cluster to cluster.
    pub literal: u64,
    /// For each cluster the most breaches of a chunk.
    pub per_chunk: u64,
    /// For each cluster the most breaches of a term, as the prose has it.
    pub per_item: u64,
    /// Pairs of x and y, in all clusters.
    pub pairs: u64,
}

/// Counts breaches without a look at the original.
pub fn count(view: &View<'_>) -> Counters {
    let mut counters = Counters::default();
    let mut printed_max = 0;
    for simple in view.release.roots.iter().flat_map(Node::leaves) {
        let cluster = Cluster::count(simple, view);
        printed_max = printed_max.max(cluster.most_of_a_first_term);
        counters.literal += printed_max;
        counters.per_chunk += cluster.most_of_a_chunk;
        counters.per_item += cluster.most_of_a_term;
        counters.pairs += cluster.pairs;
    }
    counters
}

/// The counts of one cluster.
#[derive(Default)]
struct Cluster {
    most_of_a_first_term: u64,
    most_of_a_term: u64,
    most_of_a_chunk: u64,
    pairs: u64,
}

impl Cluster {
    fn count(simple: &Simple, view: &View<'_>) -> Self {
        let mut cluster = Cluster::default();
        let chunks = as_made(simple);
        let problems: Vec<Problem<'_>> = problems(&chunks, view).collect();
        for of_chunk in problems.chunk_by(|a, b| a.chunk == b.chunk) {
            cluster.most_of_a_chunk = cluster.most_of_a_chunk.max(of_chunk.len() as u64);
            for of_term in of_chunk.chunk_by(|a, b| a.term == b.term) {
                let breaches = of_term.len() as u64;
                cluster.most_of_a_term = cluster.most_of_a_term.max(breaches);
                if of_term[0].term == chunks[of_term[0].chunk].terms[0].0 {
                    cluster.most_of_a_first_term = cluster.most_of_a_first_term.max(breaches);
                }
            }
        }
        cluster.pairs = problems.iter().map(|problem| problem.covered.len() as u64).sum();
        cluster
    }
}

/// A term x of a chunk, and what an earlier chunk says about it.
struct Problem<'c> {
    /// x
    term: TermId,
    /// The chunk of x, in the order of making.
    chunk: usize,
    /// I: the terms of the earlier chunk that are at least as frequent as x, with their supports.
    preceding: &'c [(TermId, u64)],
    /// Each y of I that never comes without the rest of I, if the adversary knows of x and y.
    covered: Vec<TermId>,
}

impl Problem<'_> {
    fn finding(&self, leaf: u32, covered: TermId) -> Finding {
        let mut learned: Vec<TermId> =
            self.preceding.iter().map(|&(term, _)| term).filter(|&term| term != covered).collect();
        learned.sort_unstable();
        Finding { leaf, terms: pair(self.term, covered).into(), learned, confidence: 1.0 }
    }
}

/// The cover problems of a cluster, chunk by chunk and term by term. There is none where terms were not refused.
fn problems<'c>(chunks: &'c [Made<'c>], view: &'c View<'_>) -> impl Iterator<Item = Problem<'c>> {
    let knowledge = view.knowledge;
    let chunks = if view.cut == CutRule::Greedy { chunks } else { &[] };
    let together: Vec<Vec<u64>> = chunks.iter().map(supports_of_prefixes).collect();
    let of_term = move |chunk: usize, (term, support): (TermId, u64)| {
        let problem = |earlier: usize| {
            let terms = &chunks[earlier].terms;
            let preceding = &terms[..terms.partition_point(|&(_, other)| other >= support)];
            // The least frequent term of I stands last.
            let &(_, least) = preceding.last()?;
            if together[earlier][preceding.len() - 1] != least {
                return None;
            }
            let covered = preceding.iter().filter(|&&(_, other)| other == least).map(|&(other, _)| other);
            let covered: Vec<TermId> = covered.filter(|&other| knowledge.has(&pair(term, other))).collect();
            (!covered.is_empty()).then_some(Problem { term, chunk, preceding, covered })
        };
        (0..chunk).filter_map(problem).collect::<Vec<_>>()
    };
    chunks
        .iter()
        .enumerate()
        .flat_map(|(chunk, made)| made.terms.iter().map(move |&term| (chunk, term)))
        .flat_map(move |(chunk, term)| of_term(chunk, term))
}

/// At i, how many subrecords hold all of the i + 1 terms considered first.
fn supports_of_prefixes(made: &Made<'_>) -> Vec<u64> {
    let mut supports = vec![0; made.terms.len()];
    for (terms, count) in made.chunk.subrecords() {
        let held = made.terms.iter().take_while(|(term, _)| terms.binary_search(term).is_ok()).count();
        supports[..held].iter_mut().for_each(|support| *support += u64::from(count));
    }
    supports
}

fn pair(a: TermId, b: TermId) -> [TermId; 2] {
    if a < b { [a, b] } else { [b, a] }
}
