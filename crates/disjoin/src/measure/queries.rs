//! How good are the answers to random questions? Itemsets that somebody has, asked of the release.
//!
//! Paper:      ours; relative errors with a sanity bound as in Chen et al., PVLDB 4(11), 2011
//! Assumes:    somebody asks about what is there: a query is a random part of a random record, of 1 to 3 terms
//! Cost:       the estimates, and the records of the queries' terms in the original
//! Checked by: tests/it/measure.rs, against a slow implementation

use rand::RngExt;
use rand::seq::index;
use rayon::prelude::*;
use serde::Serialize;

use crate::data::{Dataset, TermId, itemset_supports};
use crate::generate::stream;
use crate::reconstruct::{Estimate, Model, estimate};

/// Queries have at most so many terms.
const MAX_TERMS: usize = 3;

/// Errors are divided by the true count, or by this share of all records where that is more.
const SANITY: f64 = 0.001;

/// How far answers were off.
#[derive(Debug, Clone, Serialize)]
pub struct QueryError {
    /// How many queries there were, equal ones once.
    pub queries: usize,
    /// The mean of |true - expected| / max(true, a thousandth of the records).
    pub mean: f64,
    /// Its median.
    pub median: f64,
    /// The share of queries whose true answer was within the bounds. Anything but 1 is a defect.
    pub within_bounds: f64,
    /// The share of queries whose true answer was within two deviations of the expectation.
    pub within_two_deviations: f64,
    /// The queries, for plots.
    #[serde(skip)]
    pub asked: Vec<Asked>,
}

/// A query with its true answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// The terms.
    pub terms: Vec<TermId>,
    /// How many records of the original have them.
    pub truth: u32,
    /// What the release says.
    pub estimate: Estimate,
}

pub(super) fn ask(original: &Dataset, model: &Model, n: usize, seed: u64) -> QueryError {
    ask_with(original, n, seed, |terms| estimate(model, terms))
}

/// The same, whatever is asked.
pub(super) fn ask_with(
    original: &Dataset,
    n: usize,
    seed: u64,
    estimate: impl Fn(&[TermId]) -> Estimate + Sync,
) -> QueryError {
    let queries = workload(original, n, seed);
    let sets: Vec<&[TermId]> = queries.iter().map(|terms| &terms[..]).collect();
    let truths = itemset_supports(&original.records, original.n_terms(), &sets);
    let answer =
        |(terms, &truth): (&Vec<TermId>, &u32)| Asked { terms: terms.clone(), truth, estimate: estimate(terms) };
    let asked: Vec<Asked> = queries.par_iter().zip(&truths).with_max_len(1).map(answer).collect();
    summarise(asked, original.records.len())
}

fn summarise(asked: Vec<Asked>, n_records: usize) -> QueryError {
    let least = SANITY * n_records as f64;
    let error = |asked: &Asked| {
        let truth = f64::from(asked.truth);
        (truth - asked.estimate.expected).abs() / truth.max(least)
    };
    let mut errors: Vec<f64> = asked.iter().map(error).collect();
    errors.sort_unstable_by(f64::total_cmp);
    let share = |holds: &dyn Fn(&Asked) -> bool| {
        let n = asked.iter().filter(|asked| holds(asked)).count();
        if asked.is_empty() { 1.0 } else { n as f64 / asked.len() as f64 }
    };
    QueryError {
        queries: asked.len(),
        mean: errors.iter().sum::<f64>() / errors.len().max(1) as f64,
        median: median(&errors),
        within_bounds: share(&|asked| (asked.estimate.lower..=asked.estimate.upper).contains(&u64::from(asked.truth))),
        within_two_deviations: share(&|asked| {
            (f64::from(asked.truth) - asked.estimate.expected).abs() <= 2.0 * asked.estimate.deviation
        }),
        asked,
    }
}

/// The value in the middle of sorted ones, or between the two that are.
fn median(sorted: &[f64]) -> f64 {
    match sorted.len() {
        0 => 0.0,
        n => (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0,
    }
}

/// Random parts of random records, each once.
fn workload(original: &Dataset, n: usize, seed: u64) -> Vec<Vec<TermId>> {
    let mut rng = stream(seed, "queries", 0);
    let mut queries = Vec::with_capacity(n);
    if original.records.is_empty() {
        return queries;
    }
    for i in 0..n {
        let record = original.records.record(rng.random_range(0..original.records.len() as u32));
        let size = (i % MAX_TERMS + 1).min(record.len());
        let mut terms: Vec<TermId> =
            index::sample(&mut rng, record.len(), size).into_iter().map(|at| record[at]).collect();
        terms.sort_unstable();
        queries.push(terms);
    }
    queries.sort_unstable();
    queries.dedup();
    queries
}
