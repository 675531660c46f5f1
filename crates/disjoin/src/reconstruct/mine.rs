//! The K itemsets of the greatest expected support, straight from a release.
//!
//! Expected supports fall as itemsets grow, because each further term is one more factor of at most 1. So itemsets are tried
//! length by length, each only if all of its parts were good enough. One pass over the leaves counts all candidates of
//! a length: in a leaf that may hold few terms, few of them are looked at.
//!
//! Paper:      agrawal1994 for the candidates; terrovitis2012 mines reconstructions instead
//! Promises:   exactly the first K itemsets by expected support (descending), length, terms (ascending); supports that
//!             agree to a millionth are equal
//! Cost:       a pass over the release for each length of itemsets
//! Checked by: tests/estimate.rs, against all itemsets of random releases

use std::collections::HashSet;

use super::level::level_expectations;
use super::model::{Bag, Model, TERM_CHUNK};
use super::pair_expectations;
use crate::data::mine::Best;
use crate::data::{Itemset, Mining, TermId};
use crate::error::{Error, Result};

/// More candidates of one length than this are not tried. It can only happen if short itemsets are not wanted.
const MANY: usize = 4_000_000;

/// The K itemsets that most records are expected to hold, best first; those that nobody can hold are left out.
///
/// An error if only long itemsets are wanted, and too many could be among the best.
pub fn top_expected(model: &Model, mining: &Mining<'_>) -> Result<Vec<Itemset<f64>>> {
    if mining.k == 0 || mining.min_length > mining.max_length {
        return Ok(Vec::new());
    }
    if mining.min_length > 2 && longest(model) < mining.min_length {
        return Ok(Vec::new());
    }
    let singles: Vec<f64> = single_expectations(model).into_iter().map(to_a_millionth).collect();
    let mut terms: Vec<TermId> = (0..singles.len() as TermId).filter(|&t| singles[t as usize] > 0.0).collect();
    terms.sort_unstable_by(|&a, &b| singles[b as usize].total_cmp(&singles[a as usize]).then(a.cmp(&b)));

    if mining.max_length == 1 {
        let best = terms.iter().take(mining.k);
        return Ok(best.map(|&term| Itemset { terms: vec![term], support: singles[term as usize] }).collect());
    }

    // A first look at the pairs of the most frequent terms tells which terms are worth a second one.
    let first = ((8 * mining.k) as f64).sqrt() as usize + 16;
    let mut n = terms.len().min(first);
    let mut floor = 0.0;
    let search = loop {
        let mut search = Search { mining: *mining, terms: &terms[..n], best: Best::new(mining.k), floor };
        let pairs = pair_expectations(model, &terms[..n]);
        terms.iter().take(mining.k).for_each(|&term| search.offer(singles[term as usize], vec![term]));
        let pairs: Vec<(Vec<u32>, f64)> = search.offer_pairs(&pairs);
        floor = search.find_floor(model, &pairs)?;
        let worth = terms.partition_point(|&term| search.may_grow(singles[term as usize]));
        if worth <= n {
            search.grow(model, pairs, usize::MAX)?;
            break search;
        }
        n = worth;
    };
    Ok(search.best.into_sorted())
}

/// No record can hold more terms than this: the longest subrecord of each chunk, and the whole term chunk.
fn longest(model: &Model) -> usize {
    let of_bag = |bag: &Bag| bag.chunk.subrecords().map(|(terms, _)| terms.len()).max().unwrap_or(0);
    let longest: Vec<usize> = model.bags.iter().map(of_bag).collect();
    let of_leaf = |leaf: u32| {
        let mut bags: Vec<u32> =
            model.owned(leaf).map(|(_, entry)| entry.bag).filter(|&bag| bag != TERM_CHUNK).collect();
        bags.sort_unstable();
        bags.dedup();
        let in_chunks: usize = bags.iter().map(|&bag| longest[bag as usize]).sum();
        in_chunks + model.leaves[leaf as usize].simple.term_chunk.len()
    };
    (0..model.leaves.len() as u32).map(of_leaf).max().unwrap_or(0)
}

/// Expected supports to a millionth: sums that differ by the order of their parts alone are equal.
pub(crate) fn to_a_millionth(expected: f64) -> f64 {
    (expected * 1e6).round() / 1e6
}

/// The expected support of every term. No placement matters: subrecords are somewhere.
fn single_expectations(model: &Model) -> Vec<f64> {
    let mut expected = vec![0.0; model.release.dictionary.len()];
    for bag in &model.bags {
        for (terms, count) in bag.chunk.subrecords() {
            terms.iter().for_each(|&term| expected[term as usize] += f64::from(count));
        }
    }
    for (leaf, id) in model.leaves.iter().zip(0..) {
        let (mean, _) = model.multiplicity_in(id);
        leaf.simple.term_chunk.iter().for_each(|&term| expected[term as usize] += mean);
    }
    expected
}

struct Search<'a> {
    mining: Mining<'a>,
    /// The terms in question, by falling expectation. Itemsets are positions in it until they are offered.
    terms: &'a [TermId],
    best: Best<f64>,
    /// A support that the K-th best is known to have.
    floor: f64,
}

impl Search<'_> {
    fn allows(&self, i: u32, j: u32) -> bool {
        let (a, b) = (self.terms[i as usize], self.terms[j as usize]);
        self.mining.excludes.is_none_or(|excludes| !excludes(a, b) && !excludes(b, a))
    }

    /// Whether a larger itemset could be among the best.
    fn may_grow(&self, support: f64) -> bool {
        support > 0.0 && support >= self.floor && self.best.worst().is_none_or(|worst| support >= worst.support)
    }

    fn offer(&mut self, support: f64, mut terms: Vec<TermId>) {
        if support > 0.0 && (self.mining.min_length..=self.mining.max_length).contains(&terms.len()) {
            terms.sort_unstable();
            self.best.offer(support, &terms);
        }
    }

    fn offer_pairs(&mut self, expected: &[f64]) -> Vec<(Vec<u32>, f64)> {
        let n = self.terms.len() as u32;
        let mut pairs = Vec::new();
        for (i, j) in (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))) {
            let support = to_a_millionth(expected[(i * n + j) as usize]);
            if self.may_grow(support) && self.allows(i, j) {
                self.offer(support, vec![self.terms[i as usize], self.terms[j as usize]]);
                pairs.push((vec![i, j], support));
            }
        }
        pairs
    }

    /// If short itemsets are not wanted, nothing tells how good a pair must be. A quick search that goes on with the best
    /// of each length alone finds some itemsets that are wanted; the K-th best of all is as good as theirs.
    fn find_floor(&mut self, model: &Model, pairs: &[(Vec<u32>, f64)]) -> Result<f64> {
        if self.mining.min_length > 2 {
            let mut quick = Search { best: Best::new(self.mining.k), ..*self };
            quick.grow(model, pairs.to_vec(), 4 * self.mining.k.max(256))?;
            self.floor = self.floor.max(quick.best.worst().map_or(0.0, |worst| worst.support));
        }
        Ok(self.floor)
    }

    /// Tries itemsets of three terms, of four, and so on, given those of two in ascending order; goes on with the best of
    /// each length, `width` of them.
    fn grow(&mut self, model: &Model, mut sets: Vec<(Vec<u32>, f64)>, width: usize) -> Result<()> {
        for length in 3..=self.mining.max_length {
            sets.retain(|(_, support)| self.may_grow(*support));
            if sets.len() > width {
                sets.select_nth_unstable_by(width, |a, b| b.1.total_cmp(&a.1));
                sets.truncate(width);
                sets.sort_unstable_by(|a, b| a.0.cmp(&b.0));
            }
            let candidates = self.candidates(&sets)?;
            if candidates.is_empty() {
                break;
            }
            debug_assert!(candidates.iter().all(|set| set.len() == length));
            let expected = level_expectations(model, self.terms, &candidates);
            sets = candidates.into_iter().zip(expected.into_iter().map(to_a_millionth)).collect();
            for (set, support) in &sets {
                self.offer(*support, set.iter().map(|&i| self.terms[i as usize]).collect());
            }
        }
        Ok(())
    }

    /// Itemsets one longer than `sets`, ascending, all parts of which are among them.
    fn candidates(&self, sets: &[(Vec<u32>, f64)]) -> Result<Vec<Vec<u32>>> {
        let good: HashSet<&[u32]> = sets.iter().map(|(set, _)| &set[..]).collect();
        let mut candidates = Vec::new();
        for with_same_start in sets.chunk_by(|a, b| a.0[..a.0.len() - 1] == b.0[..b.0.len() - 1]) {
            for (i, (set, _)) in with_same_start.iter().enumerate() {
                for (other, _) in &with_same_start[i + 1..] {
                    let mut joined = set.clone();
                    joined.push(other[other.len() - 1]);
                    let is_good = |left_out: usize| {
                        let mut part = joined.clone();
                        part.remove(left_out);
                        good.contains(&part[..])
                    };
                    if (0..joined.len() - 2).all(is_good) {
                        candidates.push(joined);
                    }
                    if candidates.len() > MANY {
                        let problem = String::from("too many itemsets could be among the best of so many terms");
                        return Err(Error::Infeasible {
                            problem,
                            hint: String::from("ask for shorter ones, or fewer"),
                        });
                    }
                }
            }
        }
        Ok(candidates)
    }
}
