//! Which links between terms are left? Pairs and triples as people have them, not only those of the most frequent terms.
//!
//! A *link* is a set of two or three terms that a record holds. It is drawn by its occurrences: every part of that size of every record is as
//! likely, so that a link counts as often as people have it. A release that shows every term but keeps none of them together loses
//! nothing by tlost, and little by tKd; here it does.
//!
//! ```text
//! pair error, triple error   mean of |s - s'| / ((s + s') / 2)              s in the original, s' expected
//! association error          sum of |I(a; b) - I'(a; b)| / sum of I(a; b)   mutual information of having a and having b, in bits
//! narrow links               share of pairs with upper < 2 lower            bounds over all possible originals
//! visible occurrences        share of (record, term) that record chunks and shared chunks show
//! ```
//!
//! The association error is 0 where nothing changed, and 1 where terms are published as if they were independent.
//!
//! Paper:      ours
//! Assumes:    I' is made of expected supports: of the pair, and of each of its terms; that of the pair within what theirs allow
//! Departs:    equal draws are asked once and counted as often as they were drawn
//! Cost:       an estimate for each different pair, an expectation for each different triple and term
//! Checked by: tests/it/measure.rs, against a slow implementation and by hand

use rand::RngExt;
use rand::seq::index;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::Serialize;

use crate::data::{Dataset, TermId, Transactions, itemset_supports, supports};
use crate::generate::stream;
use crate::reconstruct::{Estimate, Model, estimate, expectation};

/// So many pairs and as many triples are drawn for each random query.
const FOR_A_QUERY: usize = 5;

/// What is left of links.
#[derive(Debug, Clone, Serialize)]
pub struct Links {
    /// How many pairs were drawn, and as many triples. None if no record has so many terms.
    pub drawn: usize,
    /// The mean relative error of expected supports of pairs, from 0 to 2.
    pub pair_error: Option<f64>,
    /// The same of triples.
    pub triple_error: Option<f64>,
    /// How far the mutual information of pairs is off, as a share of what there is.
    pub association_error: Option<f64>,
    /// The share of pairs whose bounds are narrower than a factor of two.
    pub narrow: Option<f64>,
    /// The share of occurrences that record chunks and shared chunks show.
    pub visible: f64,
    /// The pairs, for tests.
    #[serde(skip)]
    pub pairs: Vec<Link>,
    /// The triples, for tests.
    #[serde(skip)]
    pub triples: Vec<Link>,
}

/// A link that was drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// Its terms, ascending.
    pub terms: Vec<TermId>,
    /// How often it was drawn.
    pub drawn: usize,
    /// How many records of the original hold it.
    pub truth: u32,
    /// How many do by the release; of a triple only the expectation is asked.
    pub estimate: Estimate,
}

pub(super) fn compare(
    original: &Dataset,
    model: &Model<'_>,
    chunks: &Transactions,
    n_queries: usize,
    seed: u64,
) -> Links {
    let n = FOR_A_QUERY * n_queries;
    let asked = |size: usize, estimate: &(dyn Fn(&[TermId]) -> Estimate + Sync)| {
        let drawn = draw(&original.records, size, n, seed);
        let sets: Vec<&[TermId]> = drawn.iter().map(|(terms, _)| &terms[..]).collect();
        let truths = itemset_supports(&original.records, original.n_terms(), &sets);
        let link = |((terms, drawn), &truth): (&(Vec<TermId>, usize), &u32)| Link {
            terms: terms.clone(),
            drawn: *drawn,
            truth,
            estimate: estimate(terms),
        };
        drawn.par_iter().zip(&truths).with_max_len(1).map(link).collect::<Vec<Link>>()
    };
    let pairs = asked(2, &|terms| estimate(model, terms));
    let triples = asked(3, &|terms| expected_alone(model, terms));
    let is_narrow = |link: &Link| f64::from(u8::from(link.estimate.upper < 2 * link.estimate.lower));
    let occurrences = original.records.n_incidences();
    Links {
        drawn: n,
        pair_error: mean(&pairs, relative_error),
        triple_error: mean(&triples, relative_error),
        association_error: association_error(original, model, &pairs),
        narrow: mean(&pairs, is_narrow),
        visible: if occurrences == 0 { 1.0 } else { chunks.n_incidences() as f64 / occurrences as f64 },
        pairs,
        triples,
    }
}

fn expected_alone(model: &Model<'_>, terms: &[TermId]) -> Estimate {
    Estimate { lower: 0, upper: u64::MAX, expected: expectation(model, terms), deviation: 0.0 }
}

/// Over all draws.
fn mean(links: &[Link], of: impl Fn(&Link) -> f64) -> Option<f64> {
    let drawn: usize = links.iter().map(|link| link.drawn).sum();
    let sum: f64 = links.iter().map(|link| of(link) * link.drawn as f64).sum();
    (drawn > 0).then(|| sum / drawn as f64)
}

/// Somebody holds every link: the quotient has a value.
fn relative_error(link: &Link) -> f64 {
    let (before, after) = (f64::from(link.truth), link.estimate.expected);
    (before - after).abs() / ((before + after) / 2.0)
}

fn association_error(original: &Dataset, model: &Model<'_>, pairs: &[Link]) -> Option<f64> {
    let n = original.records.len() as f64;
    let before = supports(&original.records, original.n_terms());
    let mut terms: Vec<TermId> = pairs.iter().flat_map(|link| link.terms.iter().copied()).collect();
    terms.sort_unstable();
    terms.dedup();
    let expected: Vec<f64> = terms.par_iter().map(|&term| expectation(model, &[term])).collect();
    let after = |term: TermId| terms.binary_search(&term).map_or(0.0, |at| expected[at]);
    let (mut off, mut all) = (0.0, 0.0);
    for link in pairs {
        let (a, b) = (link.terms[0], link.terms[1]);
        let truth = mutual_information(
            n,
            [f64::from(before[a as usize]), f64::from(before[b as usize])],
            f64::from(link.truth),
        );
        let published = mutual_information(n, [after(a), after(b)], link.estimate.expected);
        off += (truth - published).abs() * link.drawn as f64;
        all += truth * link.drawn as f64;
    }
    (all > 0.0).then(|| off / all)
}

/// Of having one term and having another, in bits, by their supports and that of both in n records.
fn mutual_information(n: f64, [a, b]: [f64; 2], both: f64) -> f64 {
    let both = both.clamp((a + b - n).max(0.0), a.min(b).max(0.0));
    let cell = |count: f64, row: f64, column: f64| match count > 0.0 && row > 0.0 && column > 0.0 {
        true => count / n * (count * n / (row * column)).log2(),
        false => 0.0,
    };
    let sum =
        cell(both, a, b) + cell(a - both, a, n - b) + cell(b - both, n - a, b) + cell(n - a - b + both, n - a, n - b);
    sum.max(0.0)
}

/// Parts of `size` terms of records, each part of each record as likely; equal ones once with how often they were drawn.
fn draw(records: &Transactions, size: usize, n: usize, seed: u64) -> Vec<(Vec<TermId>, usize)> {
    let mut ends: Vec<f64> = Vec::with_capacity(records.len());
    let mut total = 0.0;
    for record in records.iter() {
        total += parts(record.len(), size);
        ends.push(total);
    }
    if total == 0.0 {
        return Vec::new();
    }
    let mut rng = stream(seed, "links", size as u64);
    let mut drawn: Vec<Vec<TermId>> = (0..n).map(|_| part(records, &ends, size, &mut rng)).collect();
    drawn.sort_unstable();
    drawn.chunk_by(|a, b| a == b).map(|equal| (equal[0].clone(), equal.len())).collect()
}

fn part(records: &Transactions, ends: &[f64], size: usize, rng: &mut ChaCha8Rng) -> Vec<TermId> {
    let at = rng.random_range(0.0..ends[ends.len() - 1]);
    let record = records.record(ends.partition_point(|&end| end <= at) as u32);
    let mut terms: Vec<TermId> = index::sample(rng, record.len(), size).into_iter().map(|i| record[i]).collect();
    terms.sort_unstable();
    terms
}

/// How many parts of `size` terms a record of `length` has.
fn parts(length: usize, size: usize) -> f64 {
    if length < size {
        return 0.0;
    }
    (0..size).map(|i| (length - i) as f64 / (i + 1) as f64).product()
}
