//! The expected supports of all pairs of a set of terms, in one pass over the release.
//!
//! Leaf by leaf, the terms that are there multiply as in `estimate.rs`, if different chunks own them. Pairs that one
//! chunk owns need no law: each of its subrecords lies somewhere, so those with both terms are counted once.
//!
//! Paper:      terrovitis2012, section 6; the closed form is ours
//! Promises:   the same as asking for each pair, up to rounding errors
//! Cost:       O(leaf, term) pairs of the release, plus the number of pairs of asked terms in each leaf
//! Checked by: tests/estimate.rs

use std::ops::Range;

use rayon::prelude::*;

use super::model::{Model, TERM_CHUNK, popcount};
use super::sample::Multiplicity;
use crate::data::TermId;

/// Terms of leaves that one task goes through at a time; sums are added in their order.
const RUN: usize = 1 << 15;

/// Not asked for.
const NONE: u32 = u32::MAX;

/// The expected support of the `i`-th and `j`-th of `terms` at `i * n + j`, for i < j; other places hold 0.
pub fn pair_expectations(model: &Model, terms: &[TermId]) -> Vec<f64> {
    pair_expectations_if(model, terms, model.multiplicity)
}

/// The same under another assumption about the terms of term chunks than the model's.
pub(crate) fn pair_expectations_if(model: &Model, terms: &[TermId], multiplicity: Multiplicity) -> Vec<f64> {
    let n = terms.len();
    let mut place = vec![NONE; model.release.dictionary.len()];
    (0..).zip(terms).for_each(|(i, &term)| place[term as usize] = i);
    let of_run = |roots: &Range<usize>| {
        let mut sums = vec![0.0; n * n];
        roots.clone().for_each(|root| add_root(model, root, multiplicity, &place, n, &mut sums));
        sums
    };
    // A few runs a thread at a time, added in order: the result does not depend on the number of threads.
    let mut sums = vec![0.0; n * n];
    for runs in model.runs(RUN).chunks(4 * rayon::current_num_threads()) {
        let parts: Vec<Vec<f64>> = runs.par_iter().map(of_run).collect();
        parts.iter().for_each(|part| sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += part));
    }
    sums
}

fn add_root(model: &Model, root: usize, multiplicity: Multiplicity, place: &[u32], n: usize, sums: &mut [f64]) {
    let (leaves, bags) = model.roots[root].clone();
    let at = |i: u32, j: u32| (i.min(j) as usize) * n + i.max(j) as usize;
    let mut here: Vec<(u32, u32, f64)> = Vec::new();
    let mut first_mask: Vec<(u32, usize)> = Vec::new();
    for bag in &model.bags[bags.start as usize..bags.end as usize] {
        first_mask.clear();
        let asked = |(i, &term): (usize, &TermId)| (place[term as usize] != NONE).then(|| (place[term as usize], i));
        first_mask.extend(bag.chunk.terms.iter().enumerate().filter_map(asked));
        for (i, &(a, of_a)) in first_mask.iter().enumerate() {
            for &(b, of_b) in &first_mask[i + 1..] {
                sums[at(a, b)] += model.common(bag, of_a, of_b) as f64;
            }
        }
    }
    for leaf in leaves {
        let size = model.leaves[leaf as usize].size() as f64;
        let in_term_chunk = multiplicity.moments(model.release.header.k, size as u32).0 / size;
        here.clear();
        for (term, entry) in model.owned(leaf) {
            let i = place[term as usize];
            if i != NONE && entry.weight > 0.0 {
                let weight = if entry.bag == TERM_CHUNK { in_term_chunk } else { entry.weight };
                here.push((i, entry.bag, weight));
            }
        }
        here.sort_unstable_by_key(|&(i, ..)| i);
        for (k, &(i, owner, p)) in here.iter().enumerate() {
            let (row, expected) = (&mut sums[i as usize * n..(i as usize + 1) * n], size * p);
            for &(j, other, q) in &here[k + 1..] {
                let apart = owner != other || owner == TERM_CHUNK;
                row[j as usize] += if apart { expected * q } else { 0.0 };
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
