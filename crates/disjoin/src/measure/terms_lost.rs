//! Which terms can no longer be found with others? tlost.
//!
//! Paper:      terrovitis2012, section 7.1: terms with support above k that are placed in term chunks
//! Assumes:    a term is lost if no record chunk or shared chunk anywhere has it; `tlost_any` reads the definition the
//!             other way: it is in the term chunk of some cluster
//! Departs:    counts terms with k records or more; "more than k", as printed, on demand
//! Cost:       a pass over the release
//! Checked by: tests/it/measure.rs, against a slow implementation

use serde::Serialize;

use crate::data::{Dataset, Transactions, supports};
use crate::release::{Disassociated, Node};

/// Terms of some frequency that are in term chunks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TermsLost {
    /// Terms that are frequent enough to count.
    pub considered: usize,
    /// The share of them in no record chunk or shared chunk.
    pub tlost: f64,
    /// The share of them in at least one term chunk.
    pub tlost_any: f64,
    /// For all terms by falling support: the share of their records in which the chunks no longer show them.
    #[serde(skip)]
    pub hidden_by_rank: Vec<f64>,
}

pub(super) fn count(
    original: &Dataset,
    release: &Disassociated,
    chunks: &Transactions,
    more_than_k: bool,
) -> TermsLost {
    let n_terms = original.n_terms();
    let (before, after) = (supports(&original.records, n_terms), supports(chunks, n_terms));
    let mut in_term_chunk = vec![false; n_terms];
    for (_, listed) in release.roots.iter().flat_map(Node::term_chunks) {
        listed.iter().for_each(|&term| in_term_chunk[term as usize] = true);
    }
    let least = u64::from(release.header.k) + u64::from(more_than_k);
    let counted: Vec<usize> = (0..n_terms).filter(|&term| u64::from(before[term]) >= least).collect();
    let share = |is_lost: &dyn Fn(usize) -> bool| {
        let lost = counted.iter().filter(|&&term| is_lost(term)).count();
        if counted.is_empty() { 0.0 } else { lost as f64 / counted.len() as f64 }
    };
    let mut by_rank: Vec<usize> = (0..n_terms).filter(|&term| before[term] > 0).collect();
    by_rank.sort_by_key(|&term| (std::cmp::Reverse(before[term]), term));
    TermsLost {
        considered: counted.len(),
        tlost: share(&|term| after[term] == 0),
        tlost_any: share(&|term| in_term_chunk[term]),
        hidden_by_rank: by_rank.iter().map(|&t| 1.0 - f64::from(after[t]) / f64::from(before[t])).collect(),
    }
}
