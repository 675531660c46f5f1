//! k^m-anonymity by local recoding: similar records form blocks, and each block is generalised by itself.
//!
//! Records are sorted as bitmaps in Gray order, in which neighbours have most terms in common, and cut into blocks of one
//! size. A term may be itself in one block and generalised in another, so that less is lost than with one cut for
//! all; but a block has fewer records to hide in.
//!
//! Paper:      terrovitis2011, LRA; its body could not be read: see spec C.2
//! Promises:   in each block every set of at most m nodes that a record holds is held by at least k; so it is in all
//!             blocks together, whichever terms a node is taken for
//! Assumes:    the adversary knows at most m terms of a person, and only terms that the person has
//! Departs:    bits are ordered by support, the most frequent term first, which the paper may leave open
//! Cost:       a sort of the records, and for each block that of `apriori`; blocks are made on all cores
//! Checked by: tests/it/apriori.rs: all sets of each block counted; the order against Gray codes, in this file

use std::cmp::{Ordering, Reverse};

use rayon::prelude::*;

use super::apriori::{AprioriParams, CostRule, apriori};
use crate::data::{Cut, Hierarchy, RecordId, TermId, Transactions, supports};
use crate::error::{Error, Result};
use crate::observer::Observer;

/// What to promise, and how to choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocalParams {
    /// A set must be in so many records of its block, or in none. At least 2.
    pub k: u32,
    /// How many terms of a person an adversary may know. At least 1.
    pub m: u32,
    /// What a way to repair a set costs.
    pub cost: CostRule,
    /// The least number of records of a block, if there are so many. At least k.
    pub block: usize,
}

impl LocalParams {
    /// With the usual costs and blocks.
    pub fn new(k: u32, m: u32) -> Self {
        LocalParams { k, m, cost: CostRule::default(), block: (k as usize).saturating_mul(4000) }
    }
}

/// Blocks of records, each with its own cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalRecoding {
    /// The records of each block, and its cut. Every record is in one block.
    pub blocks: Vec<(Vec<RecordId>, Cut)>,
}

impl LocalRecoding {
    /// The normalized certainty penalty over all occurrences, as of [`Cut::ncp`].
    pub fn ncp(&self, records: &Transactions, hierarchy: &Hierarchy) -> f64 {
        let of_block = |(ids, cut): &(Vec<RecordId>, Cut)| {
            let block = records_of(records, ids);
            cut.ncp(&block, hierarchy) * block.n_incidences() as f64
        };
        self.blocks.iter().map(of_block).sum::<f64>() / (records.n_incidences() as f64).max(1.0)
    }
}

/// Generalises similar records together until each block is k^m-anonymous.
pub fn lra(
    records: &Transactions,
    hierarchy: &Hierarchy,
    params: &LocalParams,
    observer: &dyn Observer,
) -> Result<LocalRecoding> {
    let &LocalParams { k, m, cost, block } = params;
    let of_block = AprioriParams { k, m, cost };
    of_block.check()?;
    if block < k as usize {
        let problem =
            format!("must be at least k = {k}: the records of a block must be indistinguishable by themselves");
        return Err(Error::recipe("block", problem, "usual values are some hundred times k"));
    }
    let order = gray_order(records, hierarchy.n_terms(), observer)?;
    let n_blocks = (records.len() / block).max(1);
    let blocks = (0..n_blocks).into_par_iter().map(|at| {
        let mut ids = order[at * order.len() / n_blocks..(at + 1) * order.len() / n_blocks].to_vec();
        ids.sort_unstable();
        let cut = apriori(&records_of(records, &ids), hierarchy, &of_block, observer)?;
        Ok((ids, cut))
    });
    Ok(LocalRecoding { blocks: blocks.collect::<Result<_>>()? })
}

fn records_of(records: &Transactions, ids: &[RecordId]) -> Transactions {
    let mut block = Transactions::default();
    for &id in ids {
        block.push(&mut records.record(id).to_vec());
    }
    block
}

/// The records in Gray order of their bitmaps, the bits of frequent terms first; equal ones by number.
fn gray_order(records: &Transactions, n_terms: usize, observer: &dyn Observer) -> Result<Vec<RecordId>> {
    if records.all_terms().iter().any(|&term| term as usize >= n_terms) {
        return Err(Error::Internal("records have terms beyond the hierarchy"));
    }
    let supports = supports(records, n_terms);
    let mut by_support: Vec<TermId> = (0..n_terms as TermId).collect();
    by_support.sort_by_key(|&term| Reverse(supports[term as usize]));
    let mut rank = vec![0; n_terms];
    (0..).zip(&by_support).for_each(|(at, &term)| rank[term as usize] = at);
    let mut ranked = Transactions::default();
    ranked.append_renamed(records, &rank);
    let mut order: Vec<RecordId> = (0..records.len() as RecordId).collect();
    observer.check();
    order.sort_by(|&one, &other| gray(ranked.record(one), ranked.record(other)));
    Ok(order)
}

/// Compares two bitmaps, given as their set bits, as Gray codes.
fn gray(one: &[u32], other: &[u32]) -> Ordering {
    let common = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    // A bit of the number is the parity of the code's bits up to it: after an odd number of common bits it is turned over.
    let bit = |rest: &[u32], than: &[u32]| rest.first().is_some_and(|bit| than.first().is_none_or(|other| bit < other));
    let (one, other) = (&one[common..], &other[common..]);
    let order = bit(one, other).cmp(&bit(other, one));
    if common % 2 == 0 { order } else { order.reverse() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gray_order_is_that_of_gray_codes() {
        // The n-th Gray code is n ^ n/2; the first bit is the highest.
        let code = |n: u32| (0..6).filter(|bit| (n ^ n >> 1) >> (5 - bit) & 1 == 1).collect::<Vec<u32>>();
        for one in 0..64 {
            for other in 0..64 {
                assert_eq!(gray(&code(one), &code(other)), one.cmp(&other), "{one} {other}");
            }
        }
    }
}
