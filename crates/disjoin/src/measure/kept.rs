//! How much of what matters most is kept? The links inside utility sets, and the occurrences of weighted terms.
//!
//! For a utility set: how often two of its terms stand together in a subrecord of a record chunk or shared chunk, of how often
//! two of them are together in a record; for a set of one term: how often it stands in one, of how often it occurs. For weights:
//! the same of single terms, each occurrence counted as its term weighs.
//!
//! Paper:      ours; utility sets after spec I
//! Assumes:    a pair of terms of a record stands together in one chunk at most, as in every release that verifies
//! Cost:       a pass over the records and over the subrecords
//! Checked by: tests/it/utility.rs, against counting pair by pair

use serde::Serialize;

use crate::data::{Interest, TermId, Transactions, supports};

/// What is left of what matters most, from 0 to 1: 1 is all.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Kept {
    /// Utility sets of which somebody has a pair (or the only term).
    pub sets: usize,
    /// The share of their links that chunks show, mean over these sets.
    pub links: Option<f64>,
    /// The same of the set that lost most.
    pub worst: Option<f64>,
    /// The share of occurrences that chunks show, each weighted as its term is.
    pub weighed_occurrences: Option<f64>,
}

/// Compares the chunks with the records; nothing if nothing matters more than anything else.
pub(super) fn count(
    records: &Transactions,
    chunks: &Transactions,
    n_terms: usize,
    interest: &Interest,
) -> Option<Kept> {
    if interest.is_empty() {
        return None;
    }
    let (before, after) = (links(records, n_terms, &interest.sets), links(chunks, n_terms, &interest.sets));
    let shares: Vec<f64> =
        before.iter().zip(&after).filter(|(before, _)| **before > 0).map(|(&b, &a)| a as f64 / b as f64).collect();
    Some(Kept {
        sets: shares.len(),
        links: (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64),
        worst: shares.iter().copied().reduce(f64::min),
        weighed_occurrences: weighed(records, chunks, n_terms, interest),
    })
}

/// For each set how many pairs of its terms the records hold, each counted in every record; of a set of one how many hold it.
fn links(records: &Transactions, n_terms: usize, sets: &[Vec<TermId>]) -> Vec<u64> {
    let mut sets_of: Vec<Vec<u32>> = vec![Vec::new(); n_terms];
    for (number, set) in (0..).zip(sets) {
        set.iter().for_each(|&t| sets_of[t as usize].push(number));
    }
    let mut links = vec![0; sets.len()];
    let mut here = vec![0_u64; sets.len()];
    let mut seen = Vec::new();
    for record in records.iter() {
        for &set in record.iter().flat_map(|&t| &sets_of[t as usize]) {
            if here[set as usize] == 0 {
                seen.push(set);
            }
            here[set as usize] += 1;
        }
        for set in seen.drain(..) {
            let n = std::mem::take(&mut here[set as usize]);
            links[set as usize] += if sets[set as usize].len() == 1 { n } else { n * (n - 1) / 2 };
        }
    }
    links
}

fn weighed(records: &Transactions, chunks: &Transactions, n_terms: usize, interest: &Interest) -> Option<f64> {
    if interest.weights.is_empty() {
        return None;
    }
    let mut weights = vec![1.0; n_terms];
    interest.weights.iter().for_each(|&(t, weight)| weights[t as usize] = weight);
    let sum = |of: &Transactions| -> f64 {
        supports(of, n_terms).iter().zip(&weights).map(|(&support, weight)| f64::from(support) * weight).sum()
    };
    let all = sum(records);
    (all > 0.0).then(|| sum(chunks) / all)
}
