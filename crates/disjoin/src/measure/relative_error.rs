//! How far are the supports of pairs off? re and its kin, in windows of terms by rank.
//!
//! Paper:      terrovitis2012, section 6 (equation 3), section 7.1 and figure 7d
//! Assumes:    a window is 20 terms, 190 pairs ("the 200th-220th" could also be 21)
//! Departs:    where both supports are 0 the quotient has no value; such pairs are left out of the mean and counted.
//!             Since an estimate of 0.1 for a pair that nobody has counts as fully wrong, while a draw that happens to be 0
//!             is left out, `existing` also tells the mean over the pairs that the original has, the same for all
//!             estimates. The paper's label "10 (re-r5)" is read as re-r10
//! Cost:       a pass over each reconstruction; for expected supports a pass over the release
//! Checked by: tests/it/measure.rs, against a slow implementation

use rayon::prelude::*;
use serde::Serialize;

use super::Options;
use crate::data::{Dataset, TermId, Transactions, supports};
use crate::reconstruct::{Model, Multiplicity, Selection, pair_expectations_if, reconstruct_terms};

/// Ranks at which windows begin.
pub(super) const FIRST: [usize; 5] = [0, 100, 200, 300, 400];

/// Terms in a window.
const WIDTH: usize = 20;

/// How many reconstructions are averaged; the first is re itself.
const AVERAGED: [u64; 3] = [2, 5, 10];

/// The relative errors of the pairs of some consecutive terms, by falling support.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Window {
    /// The rank of its first term, from 0.
    pub first: usize,
    /// The number of its terms: 20, or fewer at the end.
    pub terms: usize,
    /// re: on one reconstruction.
    pub re: Error,
    /// re-a: by the chunks alone.
    pub re_a: Error,
    /// re-r2, re-r5, re-r10: the mean support of so many reconstructions.
    pub re_r: Vec<Averaged>,
    /// By expected supports.
    pub re_e: Error,
    /// By expected supports, if terms of term chunks are taken to occur between 1 and k-1 times, each as likely.
    pub re_u: Error,
}

/// The error of the mean of some reconstructions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Averaged {
    /// How many.
    pub reconstructions: u64,
    /// The error of their mean.
    pub error: Error,
}

/// The mean of |s_o - s_p| / ((s_o + s_p) / 2) over pairs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Error {
    /// Over the pairs for which it is defined; none if there are none.
    pub mean: Option<f64>,
    /// Pairs that neither the original nor the estimate has.
    pub skipped: usize,
    /// Over the pairs that the original has.
    pub existing: Option<f64>,
}

impl Error {
    /// Compares supports in the original with published ones.
    pub(super) fn new(original: &[f64], published: &[f64]) -> Self {
        let (mut sum, mut existing) = ((0.0, 0), (0.0, 0));
        for (&o, &p) in original.iter().zip(published) {
            if o + p > 0.0 {
                let error = (o - p).abs() / ((o + p) / 2.0);
                sum = (sum.0 + error, sum.1 + 1);
                if o > 0.0 {
                    existing = (existing.0 + error, existing.1 + 1);
                }
            }
        }
        let mean = |(sum, n): (f64, usize)| (n > 0).then(|| sum / n as f64);
        Error { mean: mean(sum), skipped: original.len() - sum.1, existing: mean(existing) }
    }
}

pub(super) fn windows(
    original: &Dataset,
    (model, multiplicity): (&Model, Multiplicity),
    first: &Transactions,
    chunks: &Transactions,
    options: &Options<'_>,
) -> Vec<Window> {
    let n_reconstructions = options.reconstructions;
    let pairs = Pairs::new(original);
    let observer = options.observer;
    let supports = |records: &Transactions| {
        observer.check();
        pairs.supports(records)
    };
    let (truth, certain, mut drawn) = (supports(&original.records), supports(chunks), vec![supports(first)]);
    let selection = Selection::new(model, &pairs.windows.concat());
    let draw = |nth: u64| supports(&reconstruct_terms(&selection, options.seed, nth));
    drawn.par_extend((1..n_reconstructions.max(1)).into_par_iter().map(draw));
    let expected = pair_expectations_if(model, &pairs.windows, multiplicity);
    observer.check();
    let uniform = pair_expectations_if(model, &pairs.windows, Multiplicity::Uniform);

    let mean_of = |n: u64, window: usize| -> Vec<f64> {
        let mut sums = vec![0.0; truth[window].len()];
        for draw in &drawn[..n as usize] {
            sums.iter_mut().zip(&draw[window]).for_each(|(sum, support)| *sum += support);
        }
        sums.iter().map(|sum| sum / n as f64).collect()
    };
    let window = |(i, terms): (usize, &Vec<TermId>)| Window {
        first: FIRST[i],
        terms: terms.len(),
        re: Error::new(&truth[i], &drawn[0][i]),
        re_a: Error::new(&truth[i], &certain[i]),
        re_r: (AVERAGED.into_iter().filter(|&n| n <= n_reconstructions))
            .map(|n| Averaged { reconstructions: n, error: Error::new(&truth[i], &mean_of(n, i)) })
            .collect(),
        re_e: Error::new(&truth[i], &expected[i]),
        re_u: Error::new(&truth[i], &uniform[i]),
    };
    pairs.windows.iter().enumerate().map(window).collect()
}

/// The pairs that are looked at.
pub(super) struct Pairs {
    windows: Vec<Vec<TermId>>,
    /// For each term, its window and its position there.
    place: Vec<Option<(u32, u32)>>,
}

impl Pairs {
    pub(super) fn new(original: &Dataset) -> Self {
        let supports = supports(&original.records, original.n_terms());
        let mut by_support: Vec<TermId> = (0..original.n_terms() as TermId).collect();
        by_support.sort_by_key(|&term| (std::cmp::Reverse(supports[term as usize]), term));
        let window = |first: usize| by_support.iter().skip(first).take(WIDTH).copied().collect();
        let windows: Vec<Vec<TermId>> =
            FIRST.map(window).into_iter().take_while(|terms: &Vec<TermId>| terms.len() > 1).collect();
        let mut place = vec![None; original.n_terms()];
        for (i, terms) in (0..).zip(&windows) {
            (0..).zip(terms).for_each(|(j, &term)| place[term as usize] = Some((i, j)));
        }
        Pairs { windows, place }
    }

    /// The windows, each with the rank of its first term.
    pub(super) fn windows(&self) -> impl Iterator<Item = (usize, &Vec<TermId>)> {
        FIRST.into_iter().zip(&self.windows)
    }

    /// The pairs of a window, in the order of [`Pairs::supports`], each ascending.
    pub(super) fn of(terms: &[TermId]) -> Vec<[TermId; 2]> {
        pairs_of(terms.len()).map(|(i, j)| [terms[i].min(terms[j]), terms[i].max(terms[j])]).collect()
    }

    /// The same for records that may have terms which the original does not have.
    pub(super) fn with_terms(mut self, n_terms: usize) -> Self {
        self.place.resize(n_terms, None);
        self
    }

    /// How many terms each window has.
    pub(super) fn lengths(&self) -> impl Iterator<Item = usize> {
        self.windows.iter().map(Vec::len)
    }

    /// For each window, the supports of its pairs: (0, 1), (0, 2), ..., (1, 2), ...
    pub(super) fn supports(&self, records: &Transactions) -> Vec<Vec<f64>> {
        let mut counts = vec![[0_u32; WIDTH * WIDTH]; self.windows.len()];
        let mut here: Vec<(u32, u32)> = Vec::new();
        for record in records.iter() {
            here.clear();
            here.extend(record.iter().filter_map(|&term| self.place[term as usize]));
            for (i, a) in here.iter().enumerate() {
                for b in here[i + 1..].iter().filter(|b| b.0 == a.0) {
                    counts[a.0 as usize][a.1.min(b.1) as usize * WIDTH + a.1.max(b.1) as usize] += 1;
                }
            }
        }
        let of_window = |(terms, counts): (&Vec<TermId>, &[u32; WIDTH * WIDTH])| {
            pairs_of(terms.len()).map(|(i, j)| f64::from(counts[i * WIDTH + j])).collect()
        };
        self.windows.iter().zip(&counts).map(of_window).collect()
    }
}

fn pairs_of(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(move |i| (i + 1..n).map(move |j| (i, j)))
}
