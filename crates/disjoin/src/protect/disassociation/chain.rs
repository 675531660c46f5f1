//! The guarded chain: splits a range by one term after the other, each chosen by supports alone.
//!
//! Paper:      ours, after HORPART of terrovitis2012, of which it is the chain of "without" splits
//! Promises:   every part has at least k records, if the range has; which term splits follows from the supports in what is left of the range
//! Departs:    a term splits only if k records hold it and k do not (HORPART splits off what is too small, and then merges by
//!             what occurs together). Terms that few records hold come first, so that these stay together, and the rarest of them
//!             first; then the most frequent one. Ties by text. What no term can split stays whole, and is not cut by position
//! Cost:       O(L log L): each record leaves once, and its terms change their places in two heaps
//! Checked by: tests/it/guarded.rs

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Work;
use super::guarded::Tuning;
use super::range::Index;

/// The rows of each part, the last of them the rest; `filled` are the rows to split. One part: nothing could be split.
pub(super) fn split(index: &Index, filled: &[u32], is_taken: &[bool], max: usize, work: &Work<'_>) -> Vec<Vec<u32>> {
    if filled.is_empty() {
        return Vec::new();
    }
    let may_split =
        |at: usize| !is_taken.get(at).copied().unwrap_or(false) && !work.is_sensitive[index.terms[at] as usize];
    let mut chain = Chain::new(index, work, may_split, filled.len() as u32);
    let n_rows = filled.last().map_or(0, |&row| row as usize + 1);
    let mut is_left = vec![false; n_rows];
    filled.iter().for_each(|&row| is_left[row as usize] = true);
    let mut parts = Vec::new();
    let most_left = work.tuning.rest * f64::from(chain.left);
    while chain.left as usize >= max && f64::from(chain.left) >= most_left {
        let Some(term) = chain.next() else { break };
        let rows: Vec<u32> =
            index.holders(term).iter().copied().filter(|&row| is_left.get(row as usize) == Some(&true)).collect();
        for &row in &rows {
            is_left[row as usize] = false;
            index.row(row).iter().for_each(|&at| chain.supports[at as usize] -= 1);
        }
        chain.settle(index, &rows);
        parts.push(rows);
    }
    parts.push(filled.iter().copied().filter(|&row| is_left[row as usize]).collect());
    parts
}

/// The supports in what is left of a range.
struct Chain {
    k: u32,
    /// A term that no more records hold is rare: it splits before frequent ones.
    rare_up_to: u32,
    left: u32,
    supports: Vec<u32>,
    may_split: Vec<bool>,
    /// Some term's support, which may have fallen since.
    frequent: BinaryHeap<(u32, Reverse<u32>)>,
    /// Every support in the rare band, those that have fallen since among them.
    rare: BinaryHeap<Reverse<(u32, u32)>>,
}

impl Chain {
    fn new(index: &Index, work: &Work<'_>, may_split: impl Fn(usize) -> bool, left: u32) -> Self {
        let k = work.params.k;
        let is_first = Tuning::has_at_most(left as usize, work.tuning.first_up_to, k);
        let rare_up_to = if is_first { work.tuning.first.saturating_mul(k) } else { 0 };
        let supports = index.supports.clone();
        let may_split: Vec<bool> = (0..supports.len()).map(may_split).collect();
        let frequent = (0..).zip(&supports).filter(|&(at, &s)| s >= k && may_split[at as usize]);
        let frequent = frequent.map(|(at, &s)| (s, Reverse(at))).collect();
        let mut chain = Chain { k, rare_up_to, left, supports, may_split, frequent, rare: BinaryHeap::new() };
        (0..index.supports.len() as u32).for_each(|at| chain.note(at));
        chain
    }

    /// Notes a support that is in the rare band.
    fn note(&mut self, at: u32) {
        let support = self.supports[at as usize];
        if self.may_split[at as usize] && (self.k..=self.rare_up_to).contains(&support) {
            self.rare.push(Reverse((support, at)));
        }
    }

    /// Takes rows out of the count.
    fn settle(&mut self, index: &Index, rows: &[u32]) {
        self.left -= rows.len() as u32;
        let mut changed: Vec<u32> = rows.iter().flat_map(|&row| index.row(row)).copied().collect();
        changed.sort_unstable();
        changed.dedup();
        changed.into_iter().for_each(|at| self.note(at));
    }

    /// The term that splits next, if one may.
    fn next(&mut self) -> Option<usize> {
        let most = self.left.checked_sub(self.k)?;
        while let Some(&Reverse((support, at))) = self.rare.peek() {
            if self.supports[at as usize] != support {
                self.rare.pop();
            } else if support <= most {
                return Some(at as usize);
            } else {
                break;
            }
        }
        let mut too_many = Vec::new();
        let mut found = None;
        while let Some((support, Reverse(at))) = self.frequent.pop() {
            let now = self.supports[at as usize];
            if now < self.k {
                continue;
            } else if now < support {
                self.frequent.push((now, Reverse(at)));
            } else if now > most {
                too_many.push((support, Reverse(at)));
            } else {
                found = Some(at as usize);
                break;
            }
        }
        self.frequent.extend(too_many);
        found
    }
}
