//! Whose row is this? How sure an adversary who knows some terms of a person can be of the person's cluster and rows.
//!
//! The person may be anybody, and subrecords are placed by the law of [`reconstruct`](mod@crate::reconstruct). Given that the
//! person has all of X, a leaf P is the person's with probability E[s(X, P)] / E[s(X)]. A row, which is one subrecord of
//! a record chunk or shared chunk C, is the person's with probability
//!
//! ```text
//! sum over leaves P of  P(row lies in P) * prod over chunks i other than C of P(a record of P has X_i)  /  E[s(X)]
//! ```
//!
//! where only leaves count in which the row holds all that C owns of X there. In a simple cluster P that is
//! P(cluster) / s(X_C, C): rows with the same part of X cannot be told apart. Rows of chunks without a part of X are no
//! likelier than a record of the likeliest leaf, which is why E[s(X, P)] / |P| / E[s(X)] is the least that is reported.
//!
//! Paper:      terrovitis2012, section 3 (the guarantee is about candidates; probabilities are ours)
//! Promises:   exact under the placement law: what an adversary can hold who knows nothing of how the release was made
//! Assumes:    people are as likely to be anybody; a term of a term chunk is in records drawn evenly
//! Cost:       O(leaves with the itemset) and, for shared chunks, times their distinct rows; all pairs: O(pairs of terms
//!             in each leaf), and for each class of a shared chunk its terms times the terms of its root, the latter
//!             again for every 2^24 pairs of terms
//! Checked by: tests/it/identity.rs, against all arrangements of small releases

use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use rayon::prelude::*;
use serde::Serialize;

use crate::data::TermId;
use crate::reconstruct::{
    Bag, Entry, Model, TERM_CHUNK, Work, common_mask, expectation, expected_in_leaf, for_each_leaf, popcount,
};

/// How far a probability may be above 1/k by rounding errors.
const TOLERANCE: f64 = 1e-9;

/// Pairs of terms that are looked at together, half of them twice: 128 MB.
const MOST_PLACES: usize = 1 << 24;

/// What an adversary holds of a person after seeing the release.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Posterior {
    /// How many people are expected to have all that is known; at 0 the release says that nobody has.
    pub expected: f64,
    /// The simple clusters that the person may be in, numbered depth first, and the probability of each.
    pub clusters: Vec<(u32, f64)>,
    /// The highest re-identification risk: the probability that a published row is the person's.
    pub row: f64,
}

/// How sure adversaries are of rows, over many itemsets that they may know.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Risk {
    /// How many itemsets somebody may have.
    pub itemsets: u64,
    /// The largest probability of a row.
    pub worst: f64,
    /// The mean over the itemsets of the largest probability of a row.
    pub mean: f64,
    /// For how many itemsets a row has more than probability 1/k.
    pub above: u64,
}

/// What somebody who knows that a person has all terms of `known`, ascending, can say about where the person is.
pub fn posterior(model: &Model, known: &[TermId]) -> Posterior {
    let mut candidates = Vec::new();
    if known.is_empty() {
        let everybody = |(leaf, simple): (u32, u64)| Candidates { leaf, expected: simple as f64, held: Vec::new() };
        candidates.extend((0..).zip(model.leaves.iter().map(|leaf| leaf.size())).map(everybody));
    }
    let mut work = Work::default();
    for_each_leaf(model, known, |leaf, held| {
        let expected = expected_in_leaf(model, leaf, held, &mut work);
        if expected > 0.0 {
            candidates.push(Candidates { leaf, expected, held: held.to_vec() });
        }
    });
    let expected: f64 = candidates.iter().map(|leaf| leaf.expected).sum();
    if expected == 0.0 {
        return Posterior { expected, clusters: Vec::new(), row: 0.0 };
    }
    let root = |leaf: &Candidates| model.leaves[leaf.leaf as usize].root;
    let rows = candidates.chunk_by(|a, b| root(a) == root(b)).map(|leaves| likeliest_row(model, leaves));
    Posterior {
        expected,
        row: rows.fold(0.0, f64::max) / expected,
        clusters: candidates.iter().map(|leaf| (leaf.leaf, leaf.expected / expected)).collect(),
    }
}

/// The probability that a person with all terms of `known`, ascending, has `item` too; 0 if nobody has `known`.
pub fn further(model: &Model, known: &[TermId], item: TermId) -> f64 {
    let before = expectation(model, known);
    match known.binary_search(&item) {
        _ if before == 0.0 => 0.0,
        Ok(_) => 1.0,
        Err(at) => {
            let mut more = known.to_vec();
            more.insert(at, item);
            expectation(model, &more) / before
        }
    }
}

/// How sure adversaries are who each know one of `itemsets`, terms ascending. Itemsets that nobody has do not count.
pub fn worst<I>(model: &Model, itemsets: I) -> Risk
where
    I: IntoIterator<Item: AsRef<[TermId]> + Sync>,
{
    model.observer.check();
    let itemsets: Vec<I::Item> = itemsets.into_iter().collect();
    let found: Vec<Posterior> = itemsets.par_iter().map(|known| posterior(model, known.as_ref())).collect();
    let mut tally = Tally::new(model);
    found.iter().filter(|found| found.expected > 0.0).for_each(|found| tally.add(found.row));
    tally.risk()
}

/// The same for all pairs of terms that somebody may have.
pub fn pairs_of_release(model: &Model) -> Risk {
    let n_terms = model.release().dictionary.len();
    let mut tally = Tally::new(model);
    // The smaller term of a pair answers for it. Those of a block fit into memory with all their partners.
    let block = (MOST_PLACES / n_terms.max(1)).max(1);
    for first in (0..n_terms).step_by(block) {
        let terms = first as TermId..n_terms.min(first + block) as TermId;
        let shared = SharedRows::new(model, terms.clone());
        let tallies: Vec<Tally> = terms
            .into_par_iter()
            .map_init(|| Partners::new(n_terms), |partners, term| partners.of(model, &shared, term))
            .collect();
        // Added in order: the result does not depend on the number of threads.
        tally = tallies.iter().fold(tally, Tally::plus);
    }
    tally.risk()
}

/// A leaf that may have people with all that is known.
struct Candidates<'m> {
    leaf: u32,
    /// How many are expected there.
    expected: f64,
    /// How the leaf holds each known term.
    held: Vec<&'m Entry>,
}

/// The largest probability of a row times the expected number of people, over the rows of one root.
fn likeliest_row(model: &Model, leaves: &[Candidates]) -> f64 {
    let mut most: f64 = 0.0;
    let (mut shared, mut words) = (Vec::new(), Vec::new());
    for leaf in leaves {
        most = most.max(leaf.expected / model.leaves[leaf.leaf as usize].size() as f64);
        for entry in leaf.held.iter().filter(|entry| entry.bag != TERM_CHUNK) {
            if is_shared(model, entry.bag) {
                shared.push(entry.bag);
            } else {
                common_mask(model, entry, &leaf.held, &mut words);
                most = most.max(leaf.expected / popcount(&words) as f64);
            }
        }
    }
    shared.sort_unstable();
    shared.dedup();
    shared.iter().map(|&bag| likeliest_shared_row(model, bag, leaves)).fold(most, f64::max)
}

/// What a leaf makes of the rows of a shared chunk.
struct Welcome {
    /// Which leaf of the bag it is.
    at: u32,
    /// The rows that hold all that the chunk owns of the known terms there; all rows if it owns none.
    rows: Option<Vec<u64>>,
    /// The expected number of people there, given that they have such a row.
    weight: f64,
}

fn likeliest_shared_row(model: &Model, id: u32, leaves: &[Candidates]) -> f64 {
    let bag = &model.bags[id as usize];
    let welcome = |leaf: &Candidates| {
        let expected = leaf.expected * bag.tilt_of(leaf.leaf);
        let rows = leaf.held.iter().find(|entry| entry.bag == id).map(|entry| {
            let mut rows = Vec::new();
            common_mask(model, entry, &leaf.held, &mut rows);
            rows
        });
        let weight = rows.as_ref().map_or(expected, |rows| expected / model.marginal(bag, leaf.leaf, rows));
        Welcome { at: leaf.leaf - bag.leaves.start, rows, weight }
    };
    let below = leaves.iter().filter(|leaf| bag.leaves.contains(&leaf.leaf));
    let welcomes: Vec<Welcome> = below.map(welcome).collect();
    let mut most: f64 = 0.0;
    for class in model.classes_of(bag) {
        let mut last = u32::MAX;
        for bit in class.bits.clone() {
            // Equal rows follow each other, and are as likely.
            let subrecord = model.occurrences[bag.first + bit as usize];
            if subrecord != last {
                let has = |rows: &Vec<u64>| rows[bit as usize / 64] >> (bit % 64) & 1 == 1;
                let here = welcomes.iter().filter(|to| class.may_lie(to.at) && to.rows.as_ref().is_none_or(has));
                most = most.max(here.map(|to| to.weight).sum::<f64>() / class.records);
            }
            last = subrecord;
        }
    }
    most
}

fn is_shared(model: &Model, bag: u32) -> bool {
    model.bags[bag as usize].leaves.len() > 1
}

/// For pairs of terms, how likely the likeliest row of a shared chunk with the one is together with the other, which
/// other chunks hold.
struct SharedRows {
    /// The smaller terms of the pairs.
    terms: Range<TermId>,
    n_terms: usize,
    /// For each smaller term and each term a probability, as bits: they are ordered as the numbers are.
    places: Vec<AtomicU64>,
}

impl SharedRows {
    fn new(model: &Model, terms: Range<TermId>) -> Self {
        let n_terms = model.release().dictionary.len();
        let n_places = terms.len() * n_terms;
        let places = std::iter::repeat_with(|| AtomicU64::new(0)).take(n_places).collect();
        let rows = SharedRows { terms, n_terms, places };
        model.roots.par_iter().for_each_init(
            || Beside { probability: vec![0.0; n_terms], seen: Vec::new() },
            |beside, (_, bags)| {
                model.observer.check();
                bags.clone().filter(|&bag| is_shared(model, bag)).for_each(|bag| rows.add_bag(model, bag, beside));
            },
        );
        rows
    }

    fn get(&self, smaller: TermId, larger: TermId) -> f64 {
        f64::from_bits(self.place(smaller, larger).load(Relaxed))
    }

    fn place(&self, smaller: TermId, larger: TermId) -> &AtomicU64 {
        &self.places[(smaller - self.terms.start) as usize * self.n_terms + larger as usize]
    }

    /// Rows of one class are together with each term of other chunks as likely as each other.
    fn add_bag(&self, model: &Model, id: u32, beside: &mut Beside) {
        let bag = &model.bags[id as usize];
        for class in model.classes_of(bag) {
            model.observer.check();
            for leaf in bag.leaves.clone().filter(|leaf| class.may_lie(leaf - bag.leaves.start)) {
                let in_leaf = model.leaves[leaf as usize].size() as f64 * bag.tilt_of(leaf) / class.records;
                let others = model.owned(leaf).filter(|(_, entry)| entry.bag != id && entry.weight > 0.0);
                others.for_each(|(other, entry)| beside.add(other, in_leaf * entry.weight));
            }
            let terms = terms_of_rows(model, bag, &class.bits);
            for other in beside.seen.drain(..) {
                let probability = std::mem::take(&mut beside.probability[other as usize]);
                for &term in &terms {
                    let (smaller, larger) = (term.min(other), term.max(other));
                    if self.terms.contains(&smaller) {
                        raise(self.place(smaller, larger), probability);
                    }
                }
            }
        }
    }
}

/// Makes a number larger, if it is not. Whoever comes first, the result is the same.
fn raise(place: &AtomicU64, to: f64) {
    if place.load(Relaxed) < to.to_bits() {
        place.fetch_max(to.to_bits(), Relaxed);
    }
}

/// The distinct terms of some rows of a bag.
fn terms_of_rows(model: &Model, bag: &Bag, bits: &Range<u32>) -> Vec<TermId> {
    let mut subrecords = model.occurrences[bag.first + bits.start as usize..bag.first + bits.end as usize].to_vec();
    subrecords.dedup();
    let mut terms: Vec<TermId> = subrecords.iter().flat_map(|&i| bag.chunk.subrecord(i as usize).0).copied().collect();
    terms.sort_unstable();
    terms.dedup();
    terms
}

/// How likely some row is together with each term.
struct Beside {
    probability: Vec<f64>,
    /// Terms whose probability is not 0.
    seen: Vec<TermId>,
}

impl Beside {
    fn add(&mut self, term: TermId, probability: f64) {
        let sum = &mut self.probability[term as usize];
        if *sum == 0.0 {
            self.seen.push(term);
        }
        *sum += probability;
    }
}

/// The larger terms that one term may be together with.
struct Partners {
    /// For each term, the expected number of people with both.
    expected: Vec<f64>,
    /// For each term, the largest probability that a row is the person's, times the expected number of people.
    row: Vec<f64>,
    /// The terms with an expected number of people.
    seen: Vec<TermId>,
}

impl Partners {
    fn new(n_terms: usize) -> Self {
        Partners { expected: vec![0.0; n_terms], row: vec![0.0; n_terms], seen: Vec::new() }
    }

    fn of(&mut self, model: &Model, shared: &SharedRows, term: TermId) -> Tally {
        let mut chunks = Vec::new();
        for (at, posting) in model.postings(term).iter().enumerate() {
            if at & 0x3f == 0 {
                model.observer.check();
            }
            let entry = model.entry(posting);
            if entry.weight > 0.0 {
                self.add_apart(model, term, posting.leaf, entry);
                chunks.extend((entry.bag != TERM_CHUNK).then_some(entry.bag));
            }
        }
        chunks.sort_unstable();
        chunks.dedup();
        chunks.iter().for_each(|&bag| self.add_common(model, bag, term));
        let mut tally = Tally::new(model);
        for other in self.seen.drain(..) {
            let expected = std::mem::take(&mut self.expected[other as usize]);
            let row = std::mem::take(&mut self.row[other as usize]);
            tally.add(row.max(shared.get(term, other)) / expected);
        }
        tally
    }

    /// What different chunks of a leaf hold, and rows of the leaf's own chunks.
    fn add_apart(&mut self, model: &Model, term: TermId, leaf: u32, entry: &Entry) {
        let is_own = |bag: u32| bag != TERM_CHUNK && !is_shared(model, bag);
        let (owner, p) = (entry.bag, entry.weight);
        let (size, is_in_own) = (model.leaves[leaf as usize].size() as f64, is_own(owner));
        for (other, entry) in model.owned(leaf) {
            let q = entry.weight;
            if other <= term || q == 0.0 || (entry.bag == owner && owner != TERM_CHUNK) {
                continue;
            }
            let row_of_term = if is_in_own { q } else { p * q };
            let row_of_other = if is_own(entry.bag) { p } else { p * q };
            self.add(other, size * p * q, row_of_term.max(row_of_other));
        }
    }

    /// Rows of one chunk that have both: each is somebody's.
    fn add_common(&mut self, model: &Model, bag: u32, term: TermId) {
        let bag = &model.bags[bag as usize];
        let Ok(at) = bag.chunk.terms.binary_search(&term) else { return };
        for (i, &other) in bag.chunk.terms.iter().enumerate().skip(at + 1) {
            let common = model.common(bag, at, i);
            if common > 0 {
                self.add(other, common as f64, 1.0);
            }
        }
    }

    fn add(&mut self, other: TermId, expected: f64, row: f64) {
        let at = other as usize;
        if self.expected[at] == 0.0 {
            self.seen.push(other);
        }
        self.expected[at] += expected;
        self.row[at] = self.row[at].max(row);
    }
}

/// A risk that is being added up.
#[derive(Clone, Copy)]
struct Tally {
    limit: f64,
    sum: f64,
    /// Its mean is not filled in.
    risk: Risk,
}

impl Tally {
    fn new(model: &Model) -> Self {
        let limit = 1.0 / f64::from(model.release().header.k) + TOLERANCE;
        Tally { limit, sum: 0.0, risk: Risk::default() }
    }

    fn add(&mut self, row: f64) {
        self.sum += row;
        self.risk.itemsets += 1;
        self.risk.worst = self.risk.worst.max(row);
        self.risk.above += u64::from(row > self.limit);
    }

    fn plus(self, other: &Tally) -> Tally {
        let risk = Risk {
            itemsets: self.risk.itemsets + other.risk.itemsets,
            worst: self.risk.worst.max(other.risk.worst),
            mean: 0.0,
            above: self.risk.above + other.risk.above,
        };
        Tally { sum: self.sum + other.sum, risk, ..self }
    }

    fn risk(self) -> Risk {
        let mean = if self.risk.itemsets == 0 { 0.0 } else { self.sum / self.risk.itemsets as f64 };
        Risk { mean, ..self.risk }
    }
}
