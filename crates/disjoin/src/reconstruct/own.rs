//! How many records of one leaf hold an itemset, as far as the leaf's own chunks go.
//!
//! In a leaf of size s, let chunk i hold the part X_i in a_i subrecords out of n_i. Nothing ties the chunks together, so
//! the records without part i can be chosen apart or together:
//!
//! * Fewest: max(0, s - sum_i (s - a_i)), Fréchet's bound. That no record may be empty does not raise it: place the
//!   chunks' gaps one after the other around a circle of the records. A term of the term chunk is in one record at
//!   least, and where it is alone there, in all those that the chunks cannot fill.
//! * Most: min_i a_i. If j records take all parts, the other s - j must be filled by what is left, or by the term chunk,
//!   whose terms can be anywhere.
//!
//! With Z the number of records that hold all parts if the chunks are placed at random, E[Z] = s prod_i a_i / s, and
//! E[Z (Z-1)] = s (s-1) prod_i a_i (a_i - 1) / (s (s-1)): the sum over pairs of records of the probability that both hold
//! all parts. A term of the term chunk stands for E[mu] and E[mu (mu-1)] in the place of a_i and a_i (a_i - 1).
//!
//! Paper:      terrovitis2012, section 6, for itemsets within one chunk; the rest is ours. For two chunks, Z is
//!             hypergeometric
//! Promises:   both bounds are attained by possible originals of a simple cluster, and enclose those of a leaf of a joint
//!             one; the moments are exact
//! Cost:       O(parts)
//! Checked by: tests/it/estimate.rs, against all worlds

use super::model::{Entry, Model, TERM_CHUNK, popcount};

/// The parts of an itemset in a leaf's own chunks.
#[derive(Default)]
pub(super) struct Own {
    leaf: u32,
    /// Record chunks, and how many of their subrecords hold the part.
    chunks: Vec<(u32, u64)>,
    /// How many terms are in the term chunk.
    in_term_chunk: u32,
    /// Whether no shared chunk takes part.
    pub(super) is_all: bool,
    words: Vec<u64>,
}

impl Own {
    /// Takes the parts from how the leaf holds each term.
    pub(super) fn fill(&mut self, model: &Model, leaf: u32, entries: &[&Entry]) {
        let bags = &model.leaves[leaf as usize].bags;
        self.leaf = leaf;
        self.chunks.clear();
        self.in_term_chunk = 0;
        self.is_all = true;
        for (i, entry) in entries.iter().enumerate() {
            if entry.bag == TERM_CHUNK {
                self.in_term_chunk += 1;
            } else if !bags.contains(&entry.bag) {
                self.is_all = false;
            } else if !self.chunks.iter().any(|(bag, _)| *bag == entry.bag) {
                let others = &entries[i + 1..];
                if others.iter().all(|other| other.bag != entry.bag) {
                    self.chunks.push((entry.bag, popcount(model.mask(entry))));
                } else {
                    common_mask(model, entry, others, &mut self.words);
                    self.chunks.push((entry.bag, popcount(&self.words)));
                }
            }
        }
    }

    /// The fewest and the most records that can hold all parts.
    pub(super) fn bounds(&self, model: &Model) -> (u64, u64) {
        (self.fewest(model), self.most(model))
    }

    /// The moments of the number of records that hold all parts.
    pub(super) fn moments(&self, model: &Model) -> Moments {
        let size = model.leaves[self.leaf as usize].size() as f64;
        let all_pairs = size * (size - 1.0);
        let (mut mean, mut pairs) = (size, all_pairs);
        let mut take = |n: f64, n_pairs: f64| {
            mean *= n / size;
            pairs *= if all_pairs > 0.0 { n_pairs / all_pairs } else { 0.0 };
        };
        self.chunks.iter().for_each(|&(_, a)| take(a as f64, a as f64 * (a as f64 - 1.0)));
        if self.in_term_chunk > 0 {
            let (n, n_pairs) = model.multiplicity_in(self.leaf);
            (0..self.in_term_chunk).for_each(|_| take(n, n_pairs));
        }
        Moments { mean, pairs }
    }

    fn fewest(&self, model: &Model) -> u64 {
        let leaf = &model.leaves[self.leaf as usize];
        let size = leaf.size();
        match self.in_term_chunk {
            0 => self.chunks.iter().fold(size, |common, (_, a)| (common + a).saturating_sub(size)),
            1 if self.chunks.is_empty() => {
                let filled: u64 = leaf.n_guests + sizes(model, self.leaf).sum::<u64>();
                let is_alone = leaf.simple.term_chunk.len() == 1;
                if is_alone { size.saturating_sub(filled).max(1) } else { 1 }
            }
            n => {
                let is_everywhere = self.chunks.iter().all(|&(_, a)| a == size);
                u64::from(is_everywhere && (n == 1 || size == 1))
            }
        }
    }

    fn most(&self, model: &Model) -> u64 {
        let leaf = &model.leaves[self.leaf as usize];
        let size = leaf.size();
        let Some(least) = self.chunks.iter().map(|&(_, a)| a).min() else { return size };
        if !leaf.simple.term_chunk.is_empty() {
            return least;
        }
        let takes_part = |bag: u32| self.chunks.iter().any(|&(part, _)| part == bag);
        let can_fill = |j: u64| {
            let left = leaf.bags.clone().zip(sizes(model, self.leaf));
            let left = left.map(|(bag, n)| if takes_part(bag) { n - j } else { n.min(size - j) });
            leaf.n_guests + left.sum::<u64>() >= size - j
        };
        (0..=least).rev().find(|&j| can_fill(j)).unwrap_or(0)
    }
}

/// E[Z] and E[Z (Z-1)] of a number of records.
pub(super) struct Moments {
    pub(super) mean: f64,
    pub(super) pairs: f64,
}

impl Moments {
    /// Var Z.
    pub(super) fn variance(&self) -> f64 {
        variance(self.mean, self.pairs)
    }
}

/// E[Z] + E[Z (Z-1)] - E[Z]^2. What is left of a difference of equal numbers is no variance.
pub(super) fn variance(mean: f64, pairs: f64) -> f64 {
    let variance = mean + pairs - mean * mean;
    if variance < 1e-12 * mean * mean { 0.0 } else { variance }
}

/// The subrecords of the bag of `first` that have its term and those of `others` that the same bag owns.
pub(crate) fn common_mask(model: &Model, first: &Entry, others: &[&Entry], words: &mut Vec<u64>) {
    words.clear();
    words.extend_from_slice(model.mask(first));
    for other in others.iter().filter(|other| other.bag == first.bag) {
        words.iter_mut().zip(model.mask(other)).for_each(|(word, other)| *word &= other);
    }
}

/// The numbers of subrecords of a leaf's record chunks.
fn sizes(model: &Model, leaf: u32) -> impl Iterator<Item = u64> {
    let bags = model.leaves[leaf as usize].bags.clone();
    bags.map(|bag| u64::from(model.bags[bag as usize].n_subrecords))
}
