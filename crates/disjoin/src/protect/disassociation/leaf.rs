//! Cuts a leaf of the guarded tree into chunks.
//!
//! Terms are offered to chunks as in `vertical.rs` under the promise `algorithm-aware` (`reconstruct/aware/weighed.rs`): by supports and by
//! the rows of the chunk. A refused term stays with the rows of the chunk that refused it, in its unit; terms that fewer than k records
//! hold, and sensitive ones, are the remainder. Both are listed in the term chunk.
//!
//! Paper:      ours, after VERPART and Lemma 2 of terrovitis2012
//! Promises:   a leaf is a range of the theorem in `guarded.rs`, whose remainder is no part of what is promised
//! Assumes:    the leaf has at least k records
//! Departs:    chunks are dropped by the rows of all units, not by k - 1 records for each term of the term chunk; that condition is
//!             kept as well, for `verify` can see it
//! Cost:       O(v t |T| s/64), as `vertical.rs`
//! Checked by: tests/it/guarded.rs

use super::Work;
use super::range::{Index, Range, Scratch};
use super::rows::{Projection, TermRows};
use super::vertical::{Leaf, Offers, weighed_chunks};
use crate::data::TermId;

/// Cuts one leaf.
pub(super) fn cut(range: &Range, scratch: &mut Scratch, work: &Work<'_>) -> Leaf {
    let (k, m) = (work.params.k, work.params.m);
    let index = Index::new(range, scratch);
    let is_frequent = |&at: &usize| index.supports[at] >= k && !work.is_sensitive[index.terms[at] as usize];
    let (mut frequent, others): (Vec<usize>, Vec<usize>) = (0..index.terms.len()).partition(is_frequent);
    frequent.sort_by_key(|&at| std::cmp::Reverse(index.supports[at]));
    let mut rows = TermRows::default();
    rows.clear(range.len());
    for &at in &frequent {
        let place = rows.add(index.terms[at]);
        index.holders(at).iter().for_each(|&row| rows.set(place, row as usize));
    }
    let supports: Vec<u32> = frequent.iter().map(|&at| index.supports[at]).collect();
    let in_order: Vec<usize> = (0..frequent.len()).collect();
    let offers = Offers { size: range.len() as u32, k, supports: &supports };
    let mut masks = Vec::new();
    let lets_in = |chunk: &[usize], term: usize| rows.stays_km_anonymous(chunk, term, k, m, &mut masks);
    let (mut chunks, refused) = weighed_chunks(&in_order, &rows, offers, lets_in);

    let has_sensitive = others.iter().any(|&at| index.supports[at] >= k);
    let in_others = index.n_rows_with(others.iter().copied());
    let mut listed: Vec<TermId> = others.iter().map(|&at| index.terms[at]).collect();
    listed.extend(refused.iter().map(|&(_, term)| rows.terms[term]));
    let room = Room {
        size: range.len() as u64,
        in_units: units(&chunks, &refused).iter().map(|unit| u64::from(rows.n_nonempty(unit))).sum::<u64>() + in_others,
        k,
        m,
        has_sensitive,
    };
    while chunks.len() > 1 && !room.is_left(&chunks, &rows, listed.len()) {
        listed.extend(chunks.pop().into_iter().flatten().map(|term| rows.terms[term]));
    }
    listed.sort_unstable();
    let mut projection = Projection::default();
    let record_chunks = chunks.iter().map(|chunk| rows.project(chunk, |i| rows.terms[i], &mut projection)).collect();
    let n_kept: usize = chunks.iter().map(Vec::len).sum();
    let set_aside = (frequent.len() - n_kept) as u32;
    Leaf { size: range.len() as u32, record_chunks, hidden: listed, set_aside, ..Leaf::default() }
}

/// Each chunk with what it refused.
fn units(chunks: &[Vec<usize>], refused: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let mut units = chunks.to_vec();
    refused.iter().for_each(|&(chunk, term)| units[chunk].push(term));
    units
}

/// How much room a leaf leaves for parts that meet.
struct Room {
    size: u64,
    /// Rows of all units and of the remainder.
    in_units: u64,
    k: u32,
    m: u32,
    /// Whether a sensitive term may fill any number of records.
    has_sensitive: bool,
}

impl Room {
    fn is_left(&self, chunks: &[Vec<usize>], rows: &TermRows, n_listed: usize) -> bool {
        let in_chunks: u64 = chunks.iter().map(|chunk| u64::from(rows.n_nonempty(chunk))).sum();
        if n_listed == 0 && in_chunks == self.size {
            return true;
        }
        let needed = self.size + u64::from(self.k) * (chunks.len().min(self.m as usize) as u64 - 1);
        // What those can see who know that terms of term chunks are in fewer than k records, if they are.
        let seen = in_chunks + n_listed as u64 * u64::from(self.k - 1);
        self.in_units >= needed && (self.has_sensitive || seen >= needed)
    }
}
