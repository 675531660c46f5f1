//! The rejection closure: pairs that one refusal alone keeps below k, found without looking at worlds.
//!
//! A term x of a later chunk was refused in chunk l, so with some y' among those it was tried with it is in one record at
//! least and fewer than k. F are the y' that can be meant: with the others x shares k records whatever the world, because
//! s(x) + s(y') - s >= k. A term y all of whose rows are in the rows of every term of F is with x in no more records than
//! the y' that is meant: fewer than k. So is a term all of whose rows are rows of x, in the place of x. The cover problem of barakat2016 is the case where F are all terms at least as
//! frequent as x.
//!
//! Paper:      ours; generalises barakat2016, section 3 (Lemma 1)
//! Promises:   in every possible original that the algorithm cuts as published, fewer than k records hold the pair. A single
//!             refusal can show more: a term of support k that is with y in k records is nowhere else. `pair.rs` counts this
//! Assumes:    the algorithm is vertical partitioning with the public order
//! Departs:    from ALGORITHMS.md B.5: with m > 2 the refusal may be for a larger set, so all terms count as F
//! Cost:       O(t |T|) ANDs of row masks for t terms and chunks of |T| terms
//! Checked by: tests/it/aware.rs, against all worlds of small clusters

use super::bits::Bits;
use super::cut::Cut;

/// A pair that fewer than k records hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Closed {
    pub(super) x: u32,
    pub(super) y: u32,
}

/// All pairs that the closure finds, x the later term.
pub(super) fn closed_pairs<const W: usize>(cut: &Cut) -> Vec<Closed> {
    // The rows of every term in its own chunk; how chunks lie to each other does not matter here.
    let mut rows = vec![Bits::<W>::EMPTY; cut.terms.len()];
    for chunk in &cut.chunks {
        let mut next = 0;
        for (terms, count) in &chunk.rows {
            (next..next + count).for_each(|at| terms.iter().for_each(|&term| rows[term as usize].insert(at)));
            next += count;
        }
    }
    let mut closed = Vec::new();
    for (x, l) in cut.refusals() {
        let may_be_few = |y: &u32| {
            let forced = (cut.supports[x as usize] + cut.supports[*y as usize]).saturating_sub(cut.size);
            cut.m > 2 || forced < cut.k
        };
        let meant = cut.tried_with(x, l).iter().filter(|y| may_be_few(y)).map(|&y| rows[y as usize]);
        let Some(common) = meant.reduce(|a, b| a.and(&b)) else { continue };
        let within = |chunk: u32, common: &Bits<W>| -> Vec<u32> {
            cut.chunks[chunk as usize].terms.iter().copied().filter(|&y| rows[y as usize].is_within(common)).collect()
        };
        let below = within(l, &common);
        for x in within(cut.chunk_of[x as usize], &rows[x as usize]) {
            closed.extend(below.iter().map(|&y| Closed { x, y }));
        }
    }
    closed.sort_unstable();
    closed.dedup();
    closed
}
