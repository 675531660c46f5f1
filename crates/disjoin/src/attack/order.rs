//! In which order were the chunks of a cluster made? A release does not say: its chunks are sorted.
//!
//! Paper:      terrovitis2012, section 4, Algorithm VERPART
//! Promises:   chunks and their terms in the order in which VERPART came to them
//! Assumes:    terms are considered by falling support within the cluster, equally frequent ones by smaller id, which in
//!             a release is the order of their texts. Another tie-break can only change the order of chunks whose
//!             first terms are equally frequent
//! Cost:       O(|C| log |C|) for a cluster whose chunks hold |C| terms and subrecords' terms
//! Checked by: tests/it/attack.rs

use std::cmp::Reverse;

use crate::data::TermId;
use crate::release::{Chunk, Simple};

/// A record chunk, its terms as they were considered.
pub(super) struct Made<'a> {
    pub(super) chunk: &'a Chunk,
    /// Terms with their supports, the first considered first. Terms that nobody has are left out.
    pub(super) terms: Vec<(TermId, u64)>,
}

/// The record chunks of a cluster, the first made first.
///
/// A chunk takes the first term that the chunks before it left over, so chunks follow each other as their first terms do.
pub(super) fn as_made(leaf: &Simple) -> Vec<Made<'_>> {
    let mut chunks: Vec<Made<'_>> = leaf.record_chunks.iter().map(Made::new).collect();
    chunks.retain(|made| !made.terms.is_empty());
    chunks.sort_by_key(|made| considered(made.terms[0]));
    chunks
}

impl<'a> Made<'a> {
    fn new(chunk: &'a Chunk) -> Self {
        let mut supports = vec![0; chunk.terms.len()];
        for (terms, count) in chunk.subrecords() {
            for position in terms.iter().filter_map(|term| chunk.terms.binary_search(term).ok()) {
                supports[position] += u64::from(count);
            }
        }
        let mut terms: Vec<(TermId, u64)> = chunk.terms.iter().copied().zip(supports).collect();
        terms.retain(|&(_, support)| support > 0);
        terms.sort_unstable_by_key(|&term| considered(term));
        Made { chunk, terms }
    }
}

fn considered((term, support): (TermId, u64)) -> (Reverse<u64>, TermId) {
    (Reverse(support), term)
}
