//! The expected supports of all pairs of a set of terms, in one pass over the release.
//!
//! Leaf by leaf, the terms that are there multiply as in `estimate.rs`, if different chunks own them. Pairs that one
//! chunk owns need no law: each of its subrecords lies somewhere, so those with both terms are counted once.
//!
//! Paper:      terrovitis2012, section 6; the closed form is ours
//! Promises:   the same as asking for each pair, up to rounding errors
//! Cost:       O(leaf, term) pairs of the release, plus the number of pairs of asked terms in each leaf
//! Checked by: tests/estimate.rs

use rayon::prelude::*;

use super::model::{Model, TERM_CHUNK, popcount};
use crate::data::TermId;

/// Roots that one task goes through at a time; sums are added in their order.
const BLOCK: usize = 512;

/// Not asked for.
const NONE: u32 = u32::MAX;

/// The expected support of the `i`-th and `j`-th of `terms` at `i * n + j`, for i < j; other places hold 0.
pub fn pair_expectations(model: &Model, terms: &[TermId]) -> Vec<f64> {
    let n = terms.len();
    let mut place = vec![NONE; model.release.dictionary.len()];
    (0..).zip(terms).for_each(|(i, &term)| place[term as usize] = i);
    let blocks: Vec<usize> = (0..model.roots.len()).step_by(BLOCK).collect();
    let of_block = |&first: &usize| {
        let mut sums = vec![0.0; n * n];
        (first..model.roots.len().min(first + BLOCK)).for_each(|root| add_root(model, root, &place, n, &mut sums));
        sums
    };
    // As many blocks at a time as there are threads, added in order: the result does not depend on their number.
    let mut sums = vec![0.0; n * n];
    for blocks in blocks.chunks(rayon::current_num_threads()) {
        let parts: Vec<Vec<f64>> = blocks.par_iter().map(of_block).collect();
        parts.iter().for_each(|part| sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += part));
    }
    sums
}

fn add_root(model: &Model, root: usize, place: &[u32], n: usize, sums: &mut [f64]) {
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
        here.clear();
        for owned in model.owned(leaf) {
            let i = place[owned.term as usize];
            if i != NONE {
                let probability = match owned.bag {
                    TERM_CHUNK => model.multiplicity_in(leaf).0 / size,
                    bag => model.marginal(&model.bags[bag as usize], leaf, model.mask(bag, owned.mask)),
                };
                here.push((i, owned.bag, probability));
            }
        }
        for (k, &(i, owner, p)) in here.iter().enumerate() {
            for &(j, other, q) in &here[k + 1..] {
                if owner != other || owner == TERM_CHUNK {
                    sums[at(i, j)] += size * p * q;
                }
            }
        }
    }
}

impl Model<'_> {
    /// How many subrecords of a bag have both of two terms, given by their positions in its domain.
    fn common(&self, bag: &super::model::Bag, a: usize, b: usize) -> u64 {
        let words = bag.words();
        let mask = |at: usize| &self.masks[bag.first_mask + at * words..bag.first_mask + (at + 1) * words];
        mask(a).iter().zip(mask(b)).map(|(x, y)| popcount(&[x & y])).sum()
    }
}
