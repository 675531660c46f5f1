//! Is what an attack concludes true? Only here, and in `background`, the original is looked at.
//!
//! Promises:   a statement is judged by the records of its cluster; shares come with a 95 % interval of Wilson
//! Assumes:    statements are alike and independent as far as the interval goes; without the custody map it is not known
//!             which records a cluster had, and a statement is judged by all records
//! Cost:       the original once more in memory; a pass over a cluster's records for each finding
//! Checked by: tests/it/attack.rs: by hand, and against counting in the original

use std::collections::HashSet;

use rand::RngExt;
use rand::seq::IndexedRandom;
use serde::Serialize;

use super::{Finding, Findings, Says};
use crate::data::{Dataset, RecordId, TermId, Transactions};
use crate::error::{Error, Place, Result};
use crate::generate::stream;
use crate::observer::{Observer, Unobserved};
use crate::release::{Chunk, Disassociated, Node, Simple};

/// How an attack's findings compare with the original.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Score {
    /// Findings.
    pub found: u64,
    /// Of these, how many are true.
    pub right: u64,
    /// The share of findings that are true.
    pub precision: Rate,
    /// Of all pairs of terms of different record chunks that some record of the cluster holds, the share that was
    /// found. Only for [`Says::Together`], and only if the clusters' records are known.
    pub recall: Option<Rate>,
    /// How many of those pairs were not found.
    pub missed: Option<u64>,
    /// How many people a true finding is about: their records hold its terms.
    pub people: u64,
}

/// Compares findings with the original. `k` is the number of candidates that was promised.
pub fn judge(findings: &Findings, truth: &Truth<'_>, k: u32) -> Score {
    let mut right = Vec::new();
    let mut people: HashSet<RecordId> = HashSet::new();
    for finding in &findings.found {
        let concerned = concerned(findings.says, finding, truth, k);
        if !concerned.is_empty() {
            right.push(finding);
            people.extend(concerned);
        }
    }
    let recall = (findings.says == Says::Together).then(|| truth.pairs_together()).flatten().map(|pairs| {
        let is_pair = |leaf: u32, a: TermId, b: TermId| pairs.contains(&(leaf, a, b)).then_some((leaf, a, b));
        let found: HashSet<(u32, TermId, TermId)> = right
            .iter()
            .flat_map(|finding| pairs_of(&finding.terms).filter_map(|(a, b)| is_pair(finding.leaf, a, b)))
            .collect();
        Rate::new(found.len() as u64, pairs.len() as u64)
    });
    let (n_found, n_right) = (findings.found.len() as u64, right.len() as u64);
    Score {
        found: n_found,
        right: n_right,
        precision: Rate::new(n_right, n_found),
        recall,
        missed: recall.map(|recall| recall.of - recall.hits),
        people: people.len() as u64,
    }
}

/// Whom a finding is about: the records that hold its terms, ascending; none if it is wrong.
///
/// This points to people. It is for whoever holds the original, and nobody else.
pub fn concerned(says: Says, finding: &Finding, truth: &Truth<'_>, k: u32) -> Vec<RecordId> {
    truth.observer.check();
    let mut holders = truth.holders(finding.leaf, &finding.terms);
    if !is_right(says, holders.len(), k) {
        holders.clear();
    }
    holders
}

/// The baseline: how often an adversary is right who has seen the clusters and guesses at random.
///
/// As many statements of the same kind as there are findings, each about a random cluster with two record chunks or more
/// and a random pair of terms of two of them.
pub fn baseline(findings: &Findings, truth: &Truth<'_>, k: u32, seed: u64) -> Rate {
    let chunks_of = |leaf: &Simple| leaf.record_chunks.iter().filter(|chunk| !chunk.terms.is_empty()).count();
    let leaves: Vec<u32> = (0..).zip(&truth.leaves).filter(|(_, leaf)| chunks_of(leaf) > 1).map(|(id, _)| id).collect();
    let mut rng = stream(seed, "attack/baseline", 0);
    let (mut right, mut guesses) = (0, 0);
    for _ in 0..findings.found.len() {
        truth.observer.check();
        let Some(&leaf) = leaves.choose(&mut rng) else { break };
        let holders = truth.holders(leaf, &random_pair(&truth.leaves[leaf as usize].record_chunks, &mut rng));
        right += u64::from(is_right(findings.says, holders.len(), k));
        guesses += 1;
    }
    Rate::new(right, guesses)
}

/// Two terms of different chunks, ascending; each pair is as likely as any other. Two chunks must have terms.
fn random_pair(chunks: &[Chunk], rng: &mut impl RngExt) -> [TermId; 2] {
    let terms: Vec<(usize, TermId)> =
        chunks.iter().enumerate().flat_map(|(i, chunk)| chunk.terms.iter().map(move |&term| (i, term))).collect();
    loop {
        let [a, b] = [0; 2].map(|_| terms[rng.random_range(0..terms.len())]);
        if a.0 != b.0 {
            return [a.1.min(b.1), a.1.max(b.1)];
        }
    }
}

fn is_right(says: Says, holders: usize, k: u32) -> bool {
    match says {
        Says::FewerThanK => (1..k as usize).contains(&holders),
        Says::Together => holders > 0,
    }
}

fn pairs_of(terms: &[TermId]) -> impl Iterator<Item = (TermId, TermId)> {
    terms.iter().enumerate().flat_map(|(i, &a)| terms[i + 1..].iter().map(move |&b| (a, b)))
}

/// The original, in the terms of its release.
pub struct Truth<'a> {
    records: Transactions,
    leaves: Vec<&'a Simple>,
    release: &'a Disassociated,
    observer: &'a dyn Observer,
    candidates: Candidates,
}

/// The records that can hold the terms of a finding.
enum Candidates {
    /// For each simple cluster its records.
    OfLeaf(Vec<Vec<RecordId>>),
    /// For each term its records: nobody knows the clusters'.
    OfTerm(Vec<Vec<RecordId>>),
}

impl<'a> Truth<'a> {
    /// An original and, if known, the simple cluster of each record, numbered depth first through the release.
    ///
    /// The original of another release is refused.
    pub fn new(original: &Dataset, leaf_of: Option<&[u32]>, release: &'a Disassociated) -> Result<Self> {
        let leaves: Vec<&Simple> = release.roots.iter().flat_map(Node::leaves).collect();
        let records = in_terms_of(release, original)?;
        let candidates = match leaf_of {
            Some(leaf_of) => Candidates::OfLeaf(records_of_leaves(leaf_of, &leaves, records.len())?),
            None => Candidates::OfTerm(records_of_terms(&records, release.dictionary.len())),
        };
        Ok(Truth { records, leaves, release, observer: &Unobserved, candidates })
    }

    /// The same, watched: judging by it can be stopped.
    #[must_use]
    pub fn watched(self, observer: &'a dyn Observer) -> Self {
        Truth { observer, ..self }
    }

    /// The records of the original, in the terms of the release.
    pub fn records(&self) -> &Transactions {
        &self.records
    }

    pub(super) fn release(&self) -> &Disassociated {
        self.release
    }

    /// The simple cluster of a record, if that is known.
    pub(super) fn leaf_of(&self, record: RecordId) -> Option<u32> {
        match &self.candidates {
            Candidates::OfLeaf(records) => {
                (0..).zip(records).find(|(_, records)| records.binary_search(&record).is_ok()).map(|(leaf, _)| leaf)
            }
            Candidates::OfTerm(_) => None,
        }
    }

    /// The records that hold all of `terms`: those of the cluster, or all if its records are not known.
    fn holders(&self, leaf: u32, terms: &[TermId]) -> Vec<RecordId> {
        let candidates: &[RecordId] = match &self.candidates {
            Candidates::OfLeaf(records) => records.get(leaf as usize).map_or(&[], |records| records),
            Candidates::OfTerm(records) => {
                let of_term = |&term: &TermId| records.get(term as usize).map_or(&[][..], |records| records);
                terms.iter().map(of_term).min_by_key(|records| records.len()).unwrap_or(&[])
            }
        };
        let holds = |record: &[TermId]| terms.iter().all(|term| record.binary_search(term).is_ok());
        candidates.iter().copied().filter(|&id| holds(self.records.record(id))).collect()
    }

    /// Clusters and pairs of terms of different record chunks that are together in a record, ascending.
    fn pairs_together(&self) -> Option<HashSet<(u32, TermId, TermId)>> {
        let Candidates::OfLeaf(records) = &self.candidates else { return None };
        let mut pairs = HashSet::new();
        for ((leaf, simple), ids) in (0..).zip(&self.leaves).zip(records) {
            let chunk_of =
                |term: &TermId| simple.record_chunks.iter().position(|chunk| chunk.terms.binary_search(term).is_ok());
            self.observer.check();
            for &id in ids {
                let terms: Vec<TermId> =
                    self.records.record(id).iter().copied().filter(|term| chunk_of(term).is_some()).collect();
                let across = pairs_of(&terms).filter(|(a, b)| chunk_of(a) != chunk_of(b));
                pairs.extend(across.map(|(a, b)| (leaf, a, b)));
            }
        }
        Some(pairs)
    }
}

/// The original's records in the ids of the release, which must be of the same records and terms.
fn in_terms_of(release: &Disassociated, original: &Dataset) -> Result<Transactions> {
    let (records, released) = (original.records.len() as u64, release.header.records);
    if records != released {
        return Err(refuse(format!("has {records} records, but the release was made from {released}")));
    }
    let names: Vec<Option<TermId>> = original.dictionary.iter().map(|text| release.dictionary.get(text)).collect();
    let released = terms_of(release);
    let known = names.iter().flatten().filter(|term| released.contains(term)).count();
    if known < names.len() {
        return Err(refuse(format!("has terms that the release lacks: {}", names.len() - known)));
    }
    if known < released.len() {
        return Err(refuse(format!("lacks terms that the release has: {}", released.len() - known)));
    }
    let names: Vec<TermId> = names.into_iter().flatten().collect();
    let mut renamed = Transactions::default();
    renamed.append_renamed(&original.records, &names);
    Ok(renamed)
}

fn terms_of(release: &Disassociated) -> HashSet<TermId> {
    let mut terms = HashSet::new();
    let mut nodes: Vec<&Node> = release.roots.iter().collect();
    while let Some(node) = nodes.pop() {
        match node {
            Node::Simple(simple) => {
                terms.extend(&simple.term_chunk);
                terms.extend(simple.record_chunks.iter().flat_map(|chunk| &chunk.terms));
            }
            Node::Joint(joint) => {
                terms.extend(&joint.term_chunk);
                terms.extend(joint.shared_chunks.iter().flat_map(|chunk| &chunk.terms));
                nodes.extend(&joint.members);
            }
        }
    }
    terms
}

fn records_of_leaves(leaf_of: &[u32], leaves: &[&Simple], n_records: usize) -> Result<Vec<Vec<RecordId>>> {
    let mut records: Vec<Vec<RecordId>> = vec![Vec::new(); leaves.len()];
    for (record, &leaf) in (0..).zip(leaf_of) {
        if let Some(records) = records.get_mut(leaf as usize) {
            records.push(record);
        }
    }
    let fits = leaf_of.len() == n_records
        && records.iter().zip(leaves).all(|(records, leaf)| records.len() as u64 == u64::from(leaf.size));
    if fits {
        Ok(records)
    } else {
        Err(refuse("does not have the clusters of the release, by the map of records to clusters".into()))
    }
}

fn records_of_terms(records: &Transactions, n_terms: usize) -> Vec<Vec<RecordId>> {
    let mut of_term = vec![Vec::new(); n_terms];
    for (id, record) in (0..).zip(records.iter()) {
        record.iter().for_each(|&term| of_term[term as usize].push(id));
    }
    of_term
}

fn refuse(problem: String) -> Error {
    Error::input(Place::file("the original"), problem)
        .with_hint("give the file and the input flags that disjoin protect was given")
}

/// A share with the interval in which it would lie for many more trials, by 95 %.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Rate {
    /// Successes.
    pub hits: u64,
    /// Trials.
    pub of: u64,
    /// hits / of, or 0 without a trial.
    pub share: f64,
    /// The interval's lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

/// The 97.5 % quantile of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;

impl Rate {
    /// A share with Wilson's interval, which unlike the usual one is right for few trials and for shares near 0 and 1.
    pub fn new(hits: u64, of: u64) -> Self {
        if of == 0 {
            return Rate { hits, of, share: 0.0, low: 0.0, high: 1.0 };
        }
        let (n, share) = (of as f64, hits as f64 / of as f64);
        let shrink = 1.0 + Z * Z / n;
        let centre = (share + Z * Z / (2.0 * n)) / shrink;
        let half = Z / shrink * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
        // The ends of an interval that reaches 0 or 1 do so exactly.
        let low = if hits == 0 { 0.0 } else { centre - half };
        let high = if hits == of { 1.0 } else { centre + half };
        Rate { hits, of, share, low, high }
    }
}
