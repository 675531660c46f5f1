//! Puts torn records together again: subrecords of different chunks belong together if their terms do.
//!
//! In each simple cluster, the first record chunk's subrecords begin a record each, and the other chunks' are matched to
//! the records one chunk after the other: by how related their terms are on average, as a score says that the adversary
//! brings along or learns from the release ([`co_occurrence`]). At last every term of the term chunk joins the record
//! that it suits best. What ends up in one record from different chunks is what the attack finds.
//!
//! Paper:      alshuhail2022, of which only abstract and introduction could be read: the three ways of matching, the order
//!             of the chunks and the score that needs nothing but the release are our reading
//! Assumes:    terms that go together elsewhere go together here. Findings are guesses; confidences rank them, and are no
//!             probabilities. Most pairs of a cluster are together in some record anyway, so that a share of true
//!             findings shows nothing without that of the baseline, random matching. What the adversary knows of people
//!             beforehand is not used
//! Cost:       for each leaf and chunk, rows * records * terms of both for the scores; `Optimal` O(rows^2 * records)
//! Checked by: tests/it/reassociate.rs, against random matching

use std::collections::{BTreeMap, HashMap};

use rayon::prelude::*;

use super::assignment::assign;
use super::{Attack, Coverage, Finding, Findings, Says, View};
use crate::data::TermId;
use crate::observer::Observer;
use crate::release::{Chunk, Disassociated, Node, Simple};

/// Larger clusters are matched greedily: the best assignment would take too long.
const MOST_RECORDS: usize = 600;

/// Normalized distances end here: terms that are never seen together.
const FARTHEST: f64 = 4.0;

/// Stands in for a pair that was never seen, so that it has a logarithm.
const UNSEEN: f64 = 0.5;

/// Semantic re-association.
#[derive(Debug, Clone, Copy)]
pub struct Reassociate<S> {
    /// How related two terms are, on any scale on which more is closer; infinite or no number if that is not known.
    ///
    /// It is asked with the terms in either order.
    pub score: S,
    /// How subrecords are matched.
    pub matching: Matching,
}

/// How subrecords of a chunk are matched to records.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Matching {
    /// The best pair first.
    Greedy,
    /// All pairs together as good as can be.
    Optimal,
    /// The best pair first, as long as it scores this much. The others stay alone.
    Threshold(f64),
}

impl<S: Fn(TermId, TermId) -> f64 + Sync> Attack for Reassociate<S> {
    fn name(&self) -> &'static str {
        match self.matching {
            Matching::Greedy => "reassociate-greedy",
            Matching::Optimal => "reassociate-optimal",
            Matching::Threshold(_) => "reassociate-threshold",
        }
    }

    fn run(&self, view: &View<'_>) -> Findings {
        let leaves: Vec<&Simple> = view.release.roots.iter().flat_map(Node::leaves).collect();
        let is_torn = |leaf: &Simple| leaf.record_chunks.len() + usize::from(!leaf.term_chunk.is_empty()) > 1;
        let open = leaves.iter().filter(|leaf| is_torn(leaf)).count() as u64;
        let coverage = Coverage { clusters: leaves.len() as u64, proved: leaves.len() as u64 - open, open };
        let of_leaf = |(leaf, simple): (usize, &&Simple)| {
            view.observer.check();
            let found = if is_torn(simple) { self.mend(simple, view.observer) } else { BTreeMap::new() };
            let finding = |((a, b), doubt): ((TermId, TermId), f64)| Finding {
                leaf: leaf as u32,
                terms: vec![a, b],
                learned: Vec::new(),
                confidence: 1.0 - doubt,
            };
            found.into_iter().map(finding).collect()
        };
        let parts: Vec<Vec<Finding>> = leaves.par_iter().enumerate().map(of_leaf).collect();
        let mut found: Vec<Finding> = parts.into_iter().flatten().collect();
        // Stable: findings of the same confidence stay in the order of leaves and terms.
        found.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
        Findings { attack: self.name(), says: Says::Together, found, coverage }
    }
}

/// How related terms are, as far as the release tells: minus the normalized Google distance, from -4 to 0, with the
/// release in the place of the web.
///
/// Pairs are counted where they are certain, within subrecords. Two terms in different chunks of a cluster are in no
/// subrecord of it together: what is said about them comes from other clusters and from shared chunks.
pub fn co_occurrence(release: &Disassociated) -> impl Fn(TermId, TermId) -> f64 + Sync + use<> {
    let mut terms = vec![0.0; release.dictionary.len()];
    let mut pairs: HashMap<(TermId, TermId), f64, foldhash::fast::RandomState> = HashMap::default();
    let mut count = |chunk: &Chunk| {
        for (subrecord, n) in chunk.subrecords() {
            for (i, &a) in subrecord.iter().enumerate() {
                terms[a as usize] += f64::from(n);
                subrecord[i + 1..].iter().for_each(|&b| *pairs.entry((a, b)).or_default() += f64::from(n));
            }
        }
    };
    let mut stack: Vec<&Node> = release.roots.iter().collect();
    let mut alone = Vec::new();
    while let Some(node) = stack.pop() {
        match node {
            Node::Simple(simple) => {
                simple.record_chunks.iter().for_each(&mut count);
                alone.extend(&simple.term_chunk);
            }
            Node::Joint(joint) => {
                joint.shared_chunks.iter().for_each(&mut count);
                alone.extend(&joint.term_chunk);
                stack.extend(&joint.members);
            }
        }
    }
    alone.iter().for_each(|&term: &TermId| terms[term as usize] += 1.0);
    let records = (release.header.records as f64 + 1.0).ln();
    move |a, b| {
        let together = pairs.get(&(a.min(b), a.max(b))).copied().unwrap_or(0.0) + UNSEEN;
        let (fa, fb) = ((terms[a as usize] + 1.0).ln(), (terms[b as usize] + 1.0).ln());
        let room = records - fa.min(fb);
        if room <= 0.0 {
            return if together.ln() >= fa.max(fb) { 0.0 } else { -FARTHEST };
        }
        -((fa.max(fb) - together.ln()) / room).clamp(0.0, FARTHEST)
    }
}

impl<S: Fn(TermId, TermId) -> f64 + Sync> Reassociate<S> {
    /// The pairs of terms that records get from different chunks, and how much doubt remains about each.
    fn mend(&self, leaf: &Simple, observer: &dyn Observer) -> BTreeMap<(TermId, TermId), f64> {
        let mut found = BTreeMap::new();
        let mut records: Vec<Vec<TermId>> = vec![Vec::new(); leaf.size as usize];
        for chunk in &leaf.record_chunks {
            observer.check();
            let all = chunk.subrecords().flat_map(|(terms, count)| std::iter::repeat_n(terms, count as usize));
            // A damaged release may have more rows than records; nobody can have those.
            let rows: Vec<&[TermId]> = all.take(records.len()).collect();
            let table = Table::new(&rows, &records, &self.score);
            let places = match self.matching {
                Matching::Optimal if records.len() <= MOST_RECORDS => table.optimal(observer),
                Matching::Optimal | Matching::Greedy => table.greedy(None),
                Matching::Threshold(least) => table.greedy(Some(least)),
            };
            for (row, place) in places.into_iter().enumerate() {
                let Some(place) = place else { continue };
                note(&mut found, rows[row], &records[place], table.score(row, place));
                records[place].extend_from_slice(rows[row]);
            }
        }
        for term in &leaf.term_chunk {
            observer.check();
            let term = std::slice::from_ref(term);
            let table = Table::new(&[term], &records, &self.score);
            let filled = (0..records.len()).filter(|&place| !records[place].is_empty());
            let first_best = filled.min_by(|&a, &b| table.score(0, b).total_cmp(&table.score(0, a)));
            let is_enough = |score: f64| !matches!(self.matching, Matching::Threshold(least) if score < least);
            // Records do not take the term in: two terms of the term chunk say nothing about each other.
            if let Some(place) = first_best.filter(|&place| is_enough(table.score(0, place))) {
                note(&mut found, term, &records[place], table.score(0, place));
            }
        }
        found
    }
}

/// Notes all pairs of terms of a row and a record. Records that say the same independently leave less doubt.
fn note(found: &mut BTreeMap<(TermId, TermId), f64>, row: &[TermId], record: &[TermId], score: f64) {
    let doubt = 1.0 / (1.0 + score.exp());
    for &a in row {
        for &b in record {
            *found.entry((a.min(b), a.max(b))).or_insert(1.0) *= doubt;
        }
    }
}

/// How well each row of a chunk suits each record.
struct Table {
    n_rows: usize,
    n_records: usize,
    scores: Vec<f64>,
    /// Which records have nothing yet.
    is_empty: Vec<bool>,
}

impl Table {
    /// Takes means over pairs of terms. Where nothing is known, as of an empty record, the mean of what is known stands
    /// in: a row that suits all records badly rather has one of its own.
    fn new<S: Fn(TermId, TermId) -> f64>(rows: &[&[TermId]], records: &[Vec<TermId>], score: &S) -> Self {
        let mut known: HashMap<(TermId, TermId), f64, foldhash::fast::RandomState> = HashMap::default();
        let mut scores: Vec<f64> = Vec::with_capacity(rows.len() * records.len());
        for (i, row) in rows.iter().enumerate() {
            if i > 0 && rows[i - 1] == *row {
                // Equal rows follow each other.
                scores.extend_from_within((i - 1) * records.len()..);
                continue;
            }
            for record in records {
                let (mut sum, mut n) = (0.0, 0.0);
                for &a in *row {
                    for &b in record {
                        let score = *known.entry((a, b)).or_insert_with(|| score(a, b));
                        if score.is_finite() {
                            sum += score;
                            n += 1.0;
                        }
                    }
                }
                scores.push(sum / n);
            }
        }
        let (sum, n) = scores.iter().filter(|score| !score.is_nan()).fold((0.0, 0.0), |(s, n), x| (s + x, n + 1.0));
        let neutral = if n == 0.0 { 0.0 } else { sum / n };
        scores.iter_mut().filter(|score| score.is_nan()).for_each(|score| *score = neutral);
        let is_empty = records.iter().map(Vec::is_empty).collect();
        Table { n_rows: rows.len(), n_records: records.len(), scores, is_empty }
    }

    fn score(&self, row: usize, record: usize) -> f64 {
        self.scores[row * self.n_records + record]
    }

    fn optimal(&self, observer: &dyn Observer) -> Vec<Option<usize>> {
        assign(&self.scores, self.n_records, observer).into_iter().map(Some).collect()
    }

    /// The best pairs first. Those that score less than `least` go to empty records, if there are any left.
    fn greedy(&self, least: Option<f64>) -> Vec<Option<usize>> {
        let is_enough = |row: usize, record: usize| least.is_none_or(|least| self.score(row, record) >= least);
        let mut places = vec![None; self.n_rows];
        let mut is_taken = vec![false; self.n_records];
        let pairs = (0..self.n_rows).flat_map(|row| (0..self.n_records).map(move |record| (row, record)));
        let mut pairs: Vec<(usize, usize)> = pairs
            .filter(|&(row, record)| (least.is_none() || !self.is_empty[record]) && is_enough(row, record))
            .collect();
        pairs.sort_by(|a, b| self.score(b.0, b.1).total_cmp(&self.score(a.0, a.1)));
        for (row, record) in pairs {
            if places[row].is_none() && !is_taken[record] {
                places[row] = Some(record);
                is_taken[record] = true;
            }
        }
        let mut free = (0..self.n_records).filter(|&record| self.is_empty[record] && !is_taken[record]);
        places.iter_mut().filter(|place| place.is_none()).for_each(|place| *place = free.next());
        places
    }
}
