//! How many records hold a term.

use super::Transactions;

/// The support of every term: entry `t` counts the records that contain term `t`.
pub fn supports(records: &Transactions, n_terms: usize) -> Vec<u32> {
    let mut counts = vec![0; n_terms];
    for &term in records.all_terms() {
        counts[term as usize] += 1;
    }
    counts
}
