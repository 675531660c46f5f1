//! Adversaries who know more than a promise covers: more than m terms, all holders of a term, terms that somebody lacks.
//!
//! People are drawn from the original, and the adversary is given something about each of them. Who knows all holders of a term
//! knows of everybody whether they have it: so does, for one person, who knows that a term is absent. For terms X that a person has
//! and Z that the person lacks, the expected number of candidates is
//!
//! ```text
//! E[s(X, not Z)] = sum over subsets S of Z of (-1)^|S| E[s(X and S)]
//! ```
//!
//! Beside it stands the same for an adversary of the promise, who knows m of these terms and nothing absent.
//!
//! Paper:      terrovitis2012, section 5, "Protection against stronger adversaries", which measures nothing
//! Promises:   exact under the placement law of [`reconstruct`](mod@crate::reconstruct); the same seed draws the same people
//! Assumes:    people are as likely to be anybody; the adversary knows nothing of how the release was made
//! Departs:    that some records are found and the others are left with fewer candidates, one after the other, is not followed up
//! Cost:       2^|Z| expectations a person
//! Checked by: tests/it/identity.rs, against all arrangements of small releases

use std::collections::BTreeMap;

use rand::RngExt;
use rand::seq::index;
use rayon::prelude::*;
use serde::Serialize;

use super::judge::Truth;
use crate::data::{RecordId, TermId};
use crate::generate::stream;
use crate::reconstruct::{Model, Work, expectation, expected_in_leaf, for_each_leaf};

/// People that are drawn, at most.
const PEOPLE: usize = 1_000;

/// The most terms of which an absence may be known: the work doubles with each.
pub const MOST_ABSENT: usize = 8;

/// How often a term is drawn that a person lacks, before there is none.
const DRAWS: usize = 100;

/// What an adversary knows of everybody who is drawn.
#[derive(Debug, Clone, Default)]
pub struct Adversary {
    /// How many random terms of the person.
    pub terms: usize,
    /// Terms of which all holders are known.
    pub all_holders: Vec<TermId>,
    /// Terms that are known to be absent, of those who lack them.
    pub absent: Vec<TermId>,
    /// How many random terms that the person lacks, drawn by how often they occur.
    pub random_absent: usize,
}

/// What such adversaries learn.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Stronger {
    /// How many terms of a person are known.
    pub terms: u64,
    /// Of how many terms all holders are known.
    pub all_holders: u64,
    /// How many terms may be known to be absent besides.
    pub absent: u64,
    /// How many people were drawn.
    pub people: u64,
    /// What is learned of them.
    pub learned: Learned,
    /// What an adversary of the promise learns of the same people, who knows m of the terms.
    pub promised: Learned,
    /// The mean share of all people who have the further term that is asked for: what is believed without the release's links.
    pub prior: f64,
}

/// What was learned, over people.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Learned {
    /// The mean number of candidates that the release leaves.
    pub candidates: f64,
    /// The least.
    pub fewest: f64,
    /// People with fewer than k candidates.
    pub below_k: u64,
    /// The mean probability of the right cluster, where it is known.
    pub cluster: Option<f64>,
    /// The mean probability of a further term that the person has.
    pub further: f64,
}

/// What is known of one person, and what is asked.
struct Target {
    leaf: Option<u32>,
    present: Vec<TermId>,
    absent: Vec<TermId>,
    /// What an adversary of the promise knows.
    promised: Vec<TermId>,
    /// A term that the person has and that is not known.
    further: Option<TermId>,
}

/// Simulates an adversary.
pub fn stronger(model: &Model, truth: &Truth<'_>, adversary: &Adversary, seed: u64) -> Stronger {
    let targets = draw(truth, adversary, model.release().header.m as usize, seed);
    let about = |target: &Target| {
        model.observer.check();
        let of = |present: &[TermId], absent: &[TermId]| One::new(model, target, present, absent);
        [of(&target.present, &target.absent), of(&target.promised, &[])]
    };
    let found: Vec<[One; 2]> = targets.par_iter().map(about).collect();
    let records = model.release().header.records as f64;
    let priors = targets.iter().filter_map(|target| target.further).map(|term| expectation(model, &[term]) / records);
    Stronger {
        terms: adversary.terms as u64,
        all_holders: adversary.all_holders.len() as u64,
        absent: (adversary.absent.len() + adversary.random_absent) as u64,
        people: targets.len() as u64,
        learned: summed(&found, 0, model.release().header.k),
        promised: summed(&found, 1, model.release().header.k),
        prior: mean(priors),
    }
}

/// How many people are expected to have all of `present` and none of `absent`, in each cluster that may have some.
pub fn candidates(model: &Model, present: &[TermId], absent: &[TermId]) -> BTreeMap<u32, f64> {
    let mut of_leaf: BTreeMap<u32, f64> = BTreeMap::new();
    let mut work = Work::default();
    for subset in 0_usize..1 << absent.len() {
        let sign = if subset.count_ones() % 2 == 0 { 1.0 } else { -1.0 };
        let chosen = absent.iter().enumerate().filter(|(i, _)| subset >> i & 1 == 1).map(|(_, &term)| term);
        let mut terms: Vec<TermId> = present.iter().copied().chain(chosen).collect();
        terms.sort_unstable();
        terms.dedup();
        if terms.is_empty() {
            of_leaf.extend((0..).zip(model.leaves.iter().map(|leaf| leaf.size() as f64)));
        }
        for_each_leaf(model, &terms, |leaf, held| {
            *of_leaf.entry(leaf).or_default() += sign * expected_in_leaf(model, leaf, held, &mut work);
        });
    }
    of_leaf.retain(|_, expected| *expected > 1e-12);
    of_leaf
}

/// What is learned of one person.
struct One {
    candidates: f64,
    cluster: Option<f64>,
    further: Option<f64>,
}

impl One {
    fn new(model: &Model, target: &Target, present: &[TermId], absent: &[TermId]) -> Self {
        let of_leaf = candidates(model, present, absent);
        let all: f64 = of_leaf.values().sum();
        let share = |part: f64| if all > 0.0 { part / all } else { 0.0 };
        let further = target.further.map(|term| {
            let with: Vec<TermId> = present.iter().copied().chain([term]).collect();
            share(candidates(model, &with, absent).values().sum())
        });
        let cluster = target.leaf.map(|leaf| share(of_leaf.get(&leaf).copied().unwrap_or(0.0)));
        One { candidates: all, cluster, further }
    }
}

fn summed(found: &[[One; 2]], which: usize, k: u32) -> Learned {
    let ones = || found.iter().map(|both| &both[which]);
    let clusters: Vec<f64> = ones().filter_map(|one| one.cluster).collect();
    Learned {
        candidates: mean(ones().map(|one| one.candidates)),
        fewest: ones().map(|one| one.candidates).fold(f64::INFINITY, f64::min).min(f64::MAX),
        // Sums of shares of whole people are whole up to rounding.
        below_k: ones().filter(|one| one.candidates < f64::from(k) - 1e-9).count() as u64,
        cluster: (!clusters.is_empty()).then(|| mean(clusters.iter().copied())),
        further: mean(ones().filter_map(|one| one.further)),
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, n) = values.fold((0.0, 0_u64), |(sum, n), value| (sum + value, n + 1));
    if n == 0 { 0.0 } else { sum / n as f64 }
}

/// People with enough terms, and what is known of each.
fn draw(truth: &Truth<'_>, adversary: &Adversary, m: usize, seed: u64) -> Vec<Target> {
    let mut rng = stream(seed, "attack/stronger", 0);
    let records = truth.records();
    let enough: Vec<RecordId> =
        (0..).zip(records.iter()).filter(|(_, record)| record.len() >= adversary.terms).map(|(id, _)| id).collect();
    let mut chosen = index::sample(&mut rng, enough.len(), enough.len().min(PEOPLE)).into_vec();
    chosen.sort_unstable();
    let occurrences = records.all_terms();
    let target = |at: usize| {
        let id = enough[at];
        let record = records.record(id);
        let has = |term: &TermId| record.binary_search(term).is_ok();
        let order = index::sample(&mut rng, record.len(), record.len()).into_vec();
        let drawn: Vec<TermId> = order.iter().map(|&at| record[at]).collect();
        let mut present = drawn[..adversary.terms].to_vec();
        present.extend(adversary.all_holders.iter().copied().filter(has));
        let mut absent: Vec<TermId> =
            adversary.all_holders.iter().chain(&adversary.absent).copied().filter(|term| !has(term)).collect();
        for _ in 0..adversary.random_absent {
            let lacks = |term: &TermId| !has(term) && !absent.contains(term);
            let found = (0..DRAWS).map(|_| occurrences[rng.random_range(0..occurrences.len())]).find(lacks);
            absent.extend(found);
        }
        for terms in [&mut present, &mut absent] {
            terms.sort_unstable();
            terms.dedup();
        }
        let mut promised = drawn[..m.min(adversary.terms)].to_vec();
        promised.sort_unstable();
        let further = drawn[adversary.terms..].iter().copied().find(|term| present.binary_search(term).is_err());
        Target { leaf: truth.leaf_of(id), present, absent, promised, further }
    };
    chosen.into_iter().map(target).collect()
}
