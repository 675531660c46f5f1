//! Occurrences of terms are deleted from subrecords until no cover problem is left: partial suppression, for comparison.
//!
//! A cover problem is a term x and an earlier chunk in which some y never comes without the other terms I that are at least
//! as frequent as x (`attack/cover.rs`). It is gone when a subrecord has y without all of I. So, in a subrecord that has all of
//! I, a z of I other than y is deleted: the one of the largest support for which every set of at most m terms stays at k or
//! more. Where there is none, x moves to the term chunk.
//!
//! Paper:      awad2019 (safe disassociation), of which only the abstract and the opening could be read: the aim and the means are
//!             theirs, the procedure is ours
//! Promises:   the attack `cover` finds nothing; every record chunk is k^m-anonymous if it was before; Lemma 2 holds if it did
//! Assumes:    the adversary does the cover test and nothing else. `closure` and `worlds` may still find something, and
//!             what they say rests on supports that were changed. Where occurrences were deleted, the release is no longer the
//!             projection of its original: no claim can be made for it, so this is for the lab
//! Departs:    deletions that do not lead to the end of their problem are taken back before x moves
//! Cost:       for each problem a pass over the terms and chunks of its cluster
//! Checked by: tests/it/repair.rs
//!
//! Why Lemma 2 stays. A subrecord that loses z still has y, so there are as many as before; a cluster in which a term moved has
//! a term chunk.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use rayon::prelude::*;
use serde::Serialize;

use super::set_aside::{Mended, rename};
use crate::data::TermId;
use crate::release::{Chunk, Disassociated, Header, Node, Simple};

/// A release after the suppression.
pub type Suppressed = Mended<Stats>;

/// How much less a release tells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Stats {
    /// Simple clusters.
    pub clusters: u64,
    /// Those in which something was suppressed or moved to the term chunk.
    pub clusters_changed: u64,
    /// Occurrences deleted, of terms that are still in a record chunk.
    pub occurrences_suppressed: u64,
    /// Terms that moved to a term chunk, counted in each cluster.
    pub terms_set_aside: u64,
    /// How often these terms stood in subrecords.
    pub occurrences_hidden: u64,
}

impl Stats {
    fn sum(self, other: Stats) -> Stats {
        sum_fields!(
            Stats { clusters, clusters_changed, occurrences_suppressed, terms_set_aside, occurrences_hidden },
            self,
            other
        )
    }
}

/// Deletes occurrences until no cover problem is left.
pub fn suppress(release: &Disassociated) -> Suppressed {
    // Ties between terms are broken by their texts.
    let (dictionary, rank) = release.dictionary.sorted();
    // What is deleted is no longer counted: the total would tell how much that is.
    let header = Header { occurrences: None, ..release.header };
    let mut n_leaves = 0;
    let mut numbered = Vec::with_capacity(release.roots.len());
    for root in &release.roots {
        numbered.push((root, n_leaves));
        n_leaves += root.leaves().len() as u32;
    }
    let mut parts: Vec<(Node, Vec<u32>, Stats)> = numbered
        .into_par_iter()
        .map(|(root, first_leaf)| {
            let mut root = root.clone();
            rename(&mut root, &rank);
            let mut leaves = first_leaf..;
            mend_node(root, header, &mut leaves)
        })
        .collect();
    parts.sort_by(|a, b| a.0.cmp(&b.0));
    let stats = parts.iter().fold(Stats::default(), |sum, (.., stats)| sum.sum(*stats));
    let (roots, leaves): (Vec<Node>, Vec<Vec<u32>>) = parts.into_iter().map(|(node, leaves, _)| (node, leaves)).unzip();
    Suppressed { release: Disassociated { header, dictionary, roots }, leaves: leaves.concat(), stats }
}

/// A cluster in canonical order, and the former numbers of its leaves, which are the next ones, in this order.
fn mend_node(node: Node, header: Header, numbers: &mut impl Iterator<Item = u32>) -> (Node, Vec<u32>, Stats) {
    match node {
        Node::Simple(mut simple) => {
            let stats = mend(&mut simple, header);
            simple.record_chunks.sort_unstable();
            (Node::Simple(simple), numbers.take(1).collect(), stats)
        }
        Node::Joint(mut joint) => {
            let members = std::mem::take(&mut joint.members).into_iter();
            let mut members: Vec<_> = members.map(|member| mend_node(member, header, numbers)).collect();
            members.sort_by(|a, b| a.0.cmp(&b.0));
            let (mut leaves, mut stats) = (Vec::new(), Stats::default());
            for (member, of_member, done) in members {
                joint.members.push(member);
                leaves.extend(of_member);
                stats = stats.sum(done);
            }
            (Node::Joint(joint), leaves, stats)
        }
    }
}

fn mend(simple: &mut Simple, header: Header) -> Stats {
    let mut bags: Vec<Bag> = simple.record_chunks.iter().map(Bag::new).collect();
    let before: HashMap<TermId, u64> = bags.iter().flat_map(|bag| bag.tried.iter().copied()).collect();
    let mut aside = Vec::new();
    // Every round deletes an occurrence or moves a term, so there is a last one.
    while let Some(Problem { term, support, chunk, earlier }) = first_problem(&bags) {
        match bags[earlier].uncovered(support, header) {
            Some(mended) => bags[earlier] = mended,
            None => {
                bags[chunk].remove(term);
                aside.push(term);
            }
        }
    }
    let was = |term: &TermId| before.get(term).copied().unwrap_or(0);
    let lost = |&(term, support): &(TermId, u64)| was(&term).saturating_sub(support);
    let occurrences_suppressed: u64 = bags.iter().flat_map(|bag| &bag.tried).map(lost).sum();
    let stats = Stats {
        clusters: 1,
        clusters_changed: u64::from(occurrences_suppressed > 0 || !aside.is_empty()),
        occurrences_suppressed,
        terms_set_aside: aside.len() as u64,
        occurrences_hidden: aside.iter().map(was).sum(),
    };
    if stats.clusters_changed > 0 {
        simple.record_chunks = bags.iter().filter(|bag| !bag.terms.is_empty()).map(Bag::chunk).collect();
        simple.term_chunk.extend(aside);
        simple.term_chunk.sort_unstable();
    }
    stats
}

/// A term that a covered term of an earlier chunk tells of.
struct Problem {
    term: TermId,
    support: u64,
    /// The chunk of the term.
    chunk: usize,
    earlier: usize,
}

/// The first problem in the order in which chunks were made and terms were tried.
fn first_problem(bags: &[Bag]) -> Option<Problem> {
    let mut made: Vec<usize> = (0..bags.len()).filter(|&bag| !bags[bag].tried.is_empty()).collect();
    made.sort_by_key(|&bag| as_tried(&bags[bag].tried[0]));
    for (place, &chunk) in made.iter().enumerate() {
        for &(term, support) in &bags[chunk].tried {
            if let Some(&earlier) = made[..place].iter().find(|&&earlier| bags[earlier].is_covered(support)) {
                return Some(Problem { term, support, chunk, earlier });
            }
        }
    }
    None
}

fn as_tried(&(term, support): &(TermId, u64)) -> (Reverse<u64>, TermId) {
    (Reverse(support), term)
}

/// A record chunk that can be changed.
#[derive(Clone)]
struct Bag {
    terms: Vec<TermId>,
    rows: BTreeMap<Vec<TermId>, u32>,
    /// The terms that somebody has with their supports, in the order in which they were tried.
    tried: Vec<(TermId, u64)>,
}

impl Bag {
    fn new(chunk: &Chunk) -> Self {
        let rows = chunk.subrecords().map(|(row, count)| (row.to_vec(), count)).collect();
        let mut bag = Bag { terms: chunk.terms.clone(), rows, tried: Vec::new() };
        bag.count();
        bag
    }

    fn chunk(&self) -> Chunk {
        let mut chunk = Chunk::new(self.terms.clone());
        self.rows.iter().for_each(|(row, &count)| chunk.push(row, count));
        chunk
    }

    fn count(&mut self) {
        let mut supports: HashMap<TermId, u64> = HashMap::new();
        for (row, &count) in &self.rows {
            row.iter().for_each(|&term| *supports.entry(term).or_default() += u64::from(count));
        }
        self.tried = supports.into_iter().collect();
        self.tried.sort_unstable_by_key(as_tried);
    }

    /// I: the terms that are at least as frequent.
    fn preceding(&self, support: u64) -> &[(TermId, u64)] {
        &self.tried[..self.tried.partition_point(|&(_, other)| other >= support)]
    }

    /// Whether some term of I never comes without the rest of I.
    fn is_covered(&self, support: u64) -> bool {
        let preceding = self.preceding(support);
        let together: u64 = self.rows_with(preceding).map(|(_, count)| u64::from(count)).sum();
        preceding.last().is_some_and(|&(_, least)| together == least)
    }

    fn rows_with(&self, terms: &[(TermId, u64)]) -> impl Iterator<Item = (&Vec<TermId>, u32)> {
        let has_all = |row: &[TermId]| terms.iter().all(|(term, _)| row.binary_search(term).is_ok());
        self.rows.iter().map(|(row, &count)| (row, count)).filter(move |(row, _)| has_all(row))
    }

    /// The chunk with as few occurrences less as are needed so that a term of this support has no cover problem with it; none
    /// if that cannot be.
    fn uncovered(&self, support: u64, header: Header) -> Option<Bag> {
        let mut bag = self.clone();
        while bag.is_covered(support) {
            let (row, term) = bag.dispensable(support, header)?;
            bag.delete(&row, term);
        }
        Some(bag)
    }

    /// A subrecord with all of I, and a term that it can lose.
    fn dispensable(&self, support: u64, Header { k, m, .. }: Header) -> Option<(Vec<TermId>, TermId)> {
        let preceding = self.preceding(support);
        // Without the covered term itself, if there is but one: the others would cover it as before.
        let mut candidates = preceding;
        if let [others @ .., (_, least)] = preceding
            && others.last().is_none_or(|(_, other)| other > least)
        {
            candidates = others;
        }
        candidates.iter().find_map(|&(term, _)| {
            let can_lose = |row: &Vec<TermId>| {
                let others: Vec<TermId> = row.iter().copied().filter(|&other| other != term).collect();
                let with: Vec<(&Vec<TermId>, u32)> = self.rows_with(&[(term, 0)]).collect();
                are_above(&with, &others, m.saturating_sub(1), k)
            };
            let (row, _) = self.rows_with(preceding).find(|(row, _)| can_lose(row))?;
            Some((row.clone(), term))
        })
    }

    /// Deletes a term from one of the subrecords that are equal to `row`.
    fn delete(&mut self, row: &[TermId], term: TermId) {
        if let Some(count) = self.rows.get_mut(row) {
            *count -= 1;
            if *count == 0 {
                self.rows.remove(row);
            }
            let left: Vec<TermId> = row.iter().copied().filter(|&other| other != term).collect();
            *self.rows.entry(left).or_default() += 1;
        }
        self.count();
    }

    /// Deletes a term everywhere.
    fn remove(&mut self, term: TermId) {
        self.terms.retain(|&other| other != term);
        for (mut row, count) in std::mem::take(&mut self.rows) {
            row.retain(|&other| other != term);
            if !row.is_empty() {
                *self.rows.entry(row).or_default() += count;
            }
        }
        self.count();
    }
}

/// Whether more than k of these rows hold any set of at most `most` of the terms, the empty one among them.
fn are_above(rows: &[(&Vec<TermId>, u32)], terms: &[TermId], most: u32, k: u32) -> bool {
    let support: u64 = rows.iter().map(|&(_, count)| u64::from(count)).sum();
    support > u64::from(k)
        && (most == 0
            || terms.iter().enumerate().all(|(i, term)| {
                let with: Vec<_> = rows.iter().copied().filter(|(row, _)| row.binary_search(term).is_ok()).collect();
                are_above(&with, &terms[i + 1..], most - 1, k)
            }))
}
