//! What two chunks alone allow: can a term of one meet a term of the other so often, and every refusal still have a reason?
//!
//! A term x' of the later chunk was refused by the earlier one because of some y': they are in one record at least and in
//! fewer than k. If x and y are to meet so often, not every y' is left. How often x' and y' meet depends on nothing but the
//! numbers of rows with x, with x' and with both, the same of y and y', and the number of records: of the meetings of x and
//! y that are asked for, i are with rows of x' and j with rows of y', and all other rows are free. If no y' is left for some
//! x', then x and y cannot meet so often.
//!
//! Paper:      ours; a closure as in ALGORITHMS.md B.5 that counts rows, where `closure.rs` only asks which are within which
//! Promises:   what is refuted is proved; for a single refusal nothing is missed
//! Assumes:    m = 2: with larger m the reason may be a larger set
//! Cost:       O(k^2) for each pair of terms of the two chunks, at worst
//! Checked by: tests/it/aware.rs, against all worlds of small clusters

use super::cut::Cut;
use super::world::{Guide, Wanted};

/// How many rows of a chunk hold two of its terms.
pub(super) struct Shares {
    n: usize,
    both: Vec<u32>,
}

impl Shares {
    pub(super) fn new(cut: &Cut) -> Self {
        let n = cut.terms.len();
        let mut both = vec![0; n * n];
        for (terms, count) in cut.chunks.iter().flat_map(|chunk| &chunk.rows) {
            for &a in terms {
                terms.iter().for_each(|&b| both[a as usize * n + b as usize] += count);
            }
        }
        Shares { n, both }
    }

    /// How the rows of a chunk are divided by two of its terms.
    #[inline]
    fn split(&self, wanted: u32, other: u32) -> Split {
        let at = |a: u32, b: u32| self.both[a as usize * self.n + b as usize];
        let both = at(wanted, other);
        let only = |term: u32| at(term, term).saturating_sub(both);
        Split { both, only_wanted: only(wanted), only_other: only(other) }
    }
}

/// Numbers of rows.
#[derive(Clone, Copy)]
struct Split {
    both: u32,
    only_wanted: u32,
    only_other: u32,
}

impl Split {
    fn any(self) -> u32 {
        self.both + self.only_wanted + self.only_other
    }
}

/// Whether a single refusal proves that no world holds a pair so often.
pub(super) fn is_refuted(cut: &Cut, shares: &Shares, wanted: Wanted<'_>) -> bool {
    let Some([x, y]) = pair(cut, wanted) else { return false };
    refused(cut, x).any(|other| !reasons(cut, shares, [x, y], other, wanted.times).any(|_| true))
}

/// The same with all refusals of the two chunks: a reason of one is none if it leaves none to another. Tells which reasons
/// are left, or nothing if that proves that no world holds the pair so often.
pub(super) fn reasons_left(cut: &Cut, shares: &Shares, wanted: Wanted<'_>) -> Option<Guide> {
    let Some([x, y]) = pair(cut, wanted) else { return Some(Guide { chunk: 0, reasons: Vec::new() }) };
    let mut left: Vec<(u32, Vec<u32>)> =
        refused(cut, x).map(|other| (other, reasons(cut, shares, [x, y], other, wanted.times).collect())).collect();
    loop {
        let mut is_changed = false;
        for i in 0..left.len() {
            let (refused, mut reasons) = std::mem::take(&mut left[i]);
            let n = reasons.len();
            reasons.retain(|&reason| {
                left.iter().enumerate().filter(|&(other, _)| other != i).all(|(_, (other, others))| {
                    others.iter().any(|&another| go_together(cut, shares, [refused, *other], [reason, another]))
                })
            });
            if reasons.is_empty() {
                return None;
            }
            is_changed |= reasons.len() < n;
            left[i] = (refused, reasons);
        }
        if !is_changed {
            return Some(Guide { chunk: cut.chunk_of[y as usize], reasons: left });
        }
    }
}

/// A pair across chunks, the term of the later chunk first.
fn pair(cut: &Cut, wanted: Wanted<'_>) -> Option<[u32; 2]> {
    match *wanted.terms {
        [x, y] if cut.chunk_of[x as usize] > cut.chunk_of[y as usize] => Some([x, y]),
        [x, y] => Some([y, x]),
        _ => None,
    }
}

/// The terms of the chunk of `x`, itself first: it is most often the one that shows something.
fn refused(cut: &Cut, x: u32) -> impl Iterator<Item = u32> {
    let others = cut.chunks[cut.chunk_of[x as usize] as usize].terms.iter().copied().filter(move |&other| other != x);
    std::iter::once(x).chain(others)
}

/// Because of which terms of the chunk of `y` another term of the chunk of `x` can have been refused there.
fn reasons(cut: &Cut, shares: &Shares, [x, y]: [u32; 2], refused: u32, times: u32) -> impl Iterator<Item = u32> {
    let of_refused = shares.split(x, refused);
    let tried = cut.tried_with(refused, cut.chunk_of[y as usize]).iter().copied();
    tried.filter(move |&reason| is_left(cut, of_refused, shares.split(y, reason), times))
}

/// Whether the second terms can meet in 1 to k - 1 records while the first ones meet in so many.
fn is_left(cut: &Cut, x: Split, y: Split, times: u32) -> bool {
    let Some(free) = cut.size.checked_sub(times) else { return false };
    (times.saturating_sub(x.only_wanted)..=times.min(x.both)).any(|i| {
        (times.saturating_sub(y.only_wanted)..=times.min(y.both)).any(|j| {
            let (p, q) = (x.both - i + x.only_other, y.both - j + y.only_other);
            let least = (i + j).saturating_sub(times) + (p + q).saturating_sub(free);
            let most = i.min(j) + p.min(q);
            least < cut.k && most > 0
        })
    })
}

/// Whether two terms can each be with a reason in fewer than k records. Rows of the terms must lie, but for k - 1 of each,
/// outside its reason: those with both terms outside both reasons, and those with any of them outside any.
fn go_together(cut: &Cut, shares: &Shares, [x, z]: [u32; 2], [y, w]: [u32; 2]) -> bool {
    let (terms, reasons) = (shares.split(x, z), shares.split(y, w));
    let (outside_both, outside_any) = (cut.size.saturating_sub(reasons.any()), cut.size.saturating_sub(reasons.both));
    let spare = 2 * cut.k.saturating_sub(1);
    terms.both <= outside_both + spare && terms.any() <= outside_any + spare
}
