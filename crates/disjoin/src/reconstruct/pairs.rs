//! The expected supports of all pairs of a set of terms, in one pass over the release.
//!
//! Leaf by leaf, the terms that are there multiply as in `estimate.rs`, if different chunks own them. Pairs that one
//! chunk owns need no law: each of its subrecords lies somewhere, so those with both terms are counted once.
//!
//! Paper:      terrovitis2012, section 6; the closed form is ours
//! Promises:   the same as asking for each pair, up to rounding errors
//! Cost:       O(leaf, term) pairs of the release, plus the number of pairs of asked terms in each leaf
//! Checked by: tests/it/estimate.rs

use std::ops::Range;

use rayon::prelude::*;

use super::model::{Model, TERM_CHUNK, popcount};
use super::sample::Multiplicity;
use crate::data::TermId;

/// Terms of leaves that one task goes through at a time; sums are added in their order.
const RUN: usize = 1 << 15;

/// Bytes of sums that are made at once, if that is more than one task's.
const AT_ONCE: usize = 1 << 28;

/// Not asked for.
const NONE: u32 = u32::MAX;

/// The expected support of the `i`-th and `j`-th of `terms` at `i * n + j`, for i < j; other places hold 0.
pub fn pair_expectations(model: &Model, terms: &[TermId]) -> Vec<f64> {
    pair_expectations_since(model, terms, 0)
}

/// The same for those pairs alone that have one of the terms from the `seen`-th on.
pub(super) fn pair_expectations_since(model: &Model, terms: &[TermId], seen: usize) -> Vec<f64> {
    let n = terms.len() as u32;
    let partners = (0..n).map(|i| (i + 1).max(seen as u32)..n).collect();
    Asked::new(model, terms, partners).expectations(model, model.multiplicity)
}

/// For each window the expected supports of its pairs, in the order (0, 1), (0, 2), ..., (1, 2), ..., under another
/// assumption about the terms of term chunks than the model's. No term is in two windows.
pub(crate) fn pair_expectations_if(
    model: &Model,
    windows: &[Vec<TermId>],
    multiplicity: Multiplicity,
) -> Vec<Vec<f64>> {
    let terms = windows.concat();
    let mut partners: Vec<Range<u32>> = Vec::with_capacity(terms.len());
    for window in windows {
        let (first, end) = (partners.len() as u32, (partners.len() + window.len()) as u32);
        partners.extend((first..end).map(|i| i + 1..end));
    }
    let asked = Asked::new(model, &terms, partners);
    let sums = asked.expectations(model, multiplicity);
    let of_term = |i: usize| asked.partners[i].clone().map(move |j| (i, j as usize));
    let mut first = 0;
    let mut of_window = |window: &Vec<TermId>| {
        let places = first..first + window.len();
        first = places.end;
        places.flat_map(of_term).map(|(i, j)| sums[i * terms.len() + j]).collect()
    };
    windows.iter().map(&mut of_window).collect()
}

/// Which pairs are asked for.
struct Asked {
    /// For each term of the release, its place among those in question.
    place: Vec<u32>,
    /// For each of these, the places behind it that it is asked for with; neither their starts nor their ends ever fall.
    partners: Vec<Range<u32>>,
}

impl Asked {
    fn new(model: &Model, terms: &[TermId], partners: Vec<Range<u32>>) -> Self {
        let mut place = vec![NONE; model.release.dictionary.len()];
        (0..).zip(terms).for_each(|(i, &term)| place[term as usize] = i);
        Asked { place, partners }
    }

    fn expectations(&self, model: &Model, multiplicity: Multiplicity) -> Vec<f64> {
        let n = self.partners.len();
        let of_run = |roots: &Range<usize>| {
            model.observer.check();
            let mut sums = vec![0.0; n * n];
            roots.clone().for_each(|root| {
                model.observer.check();
                self.add_root(model, root, multiplicity, &mut sums);
            });
            sums
        };
        // A few runs a thread at a time, added in order: the result does not depend on the number of threads.
        let mut sums = vec![0.0; n * n];
        let at_once = (AT_ONCE / (8 * n * n).max(1)).clamp(1, 4 * rayon::current_num_threads());
        for runs in model.runs(RUN).chunks(at_once) {
            let parts: Vec<Vec<f64>> = runs.par_iter().with_max_len(1).map(of_run).collect();
            parts.iter().for_each(|part| sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += part));
        }
        sums
    }

    fn add_root(&self, model: &Model, root: usize, multiplicity: Multiplicity, sums: &mut [f64]) {
        let n = self.partners.len();
        let (leaves, bags) = model.roots[root].clone();
        let mut here: Vec<(u32, u32, f64)> = Vec::new();
        let mut first_mask: Vec<(u32, usize)> = Vec::new();
        for bag in &model.bags[bags.start as usize..bags.end as usize] {
            first_mask.clear();
            let asked = |(i, &term): (usize, &TermId)| {
                let place = self.place[term as usize];
                (place != NONE).then_some((place, i))
            };
            first_mask.extend(bag.chunk.terms.iter().enumerate().filter_map(asked));
            for (i, &(a, of_a)) in first_mask.iter().enumerate() {
                for &(b, of_b) in &first_mask[i + 1..] {
                    let (low, high) = (a.min(b), a.max(b));
                    if self.partners[low as usize].contains(&high) {
                        sums[low as usize * n + high as usize] += model.common(bag, of_a, of_b) as f64;
                    }
                }
            }
        }
        for leaf in leaves {
            let size = model.leaves[leaf as usize].size() as f64;
            let in_term_chunk = model.multiplicity_law(leaf, multiplicity).moments().0 / size;
            here.clear();
            for (term, entry) in model.owned(leaf) {
                let i = self.place[term as usize];
                if i != NONE && entry.weight > 0.0 {
                    let weight = if entry.bag == TERM_CHUNK { in_term_chunk } else { entry.weight };
                    here.push((i, entry.bag, weight));
                }
            }
            here.sort_unstable_by_key(|&(i, ..)| i);
            let (mut from, mut to) = (0, 0);
            for &(i, owner, p) in &here {
                let partners = &self.partners[i as usize];
                let before = |place: u32, at: usize| here[at..].iter().take_while(|other| other.0 < place).count();
                from += before(partners.start, from);
                to = to.max(from);
                to += before(partners.end, to);
                let (row, expected) = (&mut sums[i as usize * n..(i as usize + 1) * n], size * p);
                for &(j, other, q) in &here[from..to] {
                    let apart = owner != other || owner == TERM_CHUNK;
                    row[j as usize] += if apart { expected * q } else { 0.0 };
                }
            }
        }
    }
}

impl Model<'_> {
    /// How many subrecords of a bag have both of two terms, given by their positions in its domain.
    pub(crate) fn common(&self, bag: &super::model::Bag, a: usize, b: usize) -> u64 {
        self.rows(bag, a).iter().zip(self.rows(bag, b)).map(|(x, y)| popcount(&[x & y])).sum()
    }
}
