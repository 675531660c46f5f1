//! The maximum support of an itemset by going through everything the chunks can do, worlds that look alike taken once.
//!
//! What the question can see of a record is which terms of the itemset it holds and whether it is empty; what it can
//! see of a leaf is the multiset of its records. Chunk after chunk, every distinct sight of the whole root is kept
//! once.
//!
//! One reduction, for term chunks: their terms are put into all records of their leaf. This never spoils a world (a
//! term of a term chunk may be in any number of records, no chunk sees it) and never lowers a support, so the maximum
//! over all worlds is attained with it.

use std::collections::HashSet;

use disjoin::data::TermId;

use super::Layout;

/// What shows of a record: a bit for each term of the itemset, and `NOT_EMPTY`.
type Sight = u8;
const NOT_EMPTY: Sight = 1 << 7;

/// As [`super::max_support`], for roots of up to about fourteen records.
pub(crate) fn max_support(layout: &Layout, itemset: &[TermId]) -> u64 {
    assert!(!itemset.is_empty() && itemset.len() < 7);
    let all: Sight = (1 << itemset.len()) - 1;
    let sight = |terms: &[TermId]| -> Sight {
        let held: Sight = itemset.iter().enumerate().map(|(i, t)| Sight::from(terms.contains(t)) << i).sum();
        held | if terms.is_empty() { 0 } else { NOT_EMPTY }
    };
    let start: Vec<Vec<Sight>> = layout.leaves.iter().map(|leaf| vec![sight(&leaf.term_chunk); leaf.size]).collect();
    let mut states = HashSet::from([start]);
    for chunk in &layout.chunks {
        let pieces: Vec<Piece> = (chunk.subrecords.iter())
            .map(|s| Piece { sight: sight(&s.terms), eligible: &s.eligible, left: s.count })
            .collect();
        let mut next = HashSet::new();
        for state in &states {
            let slots = chunk.leaves.clone().flat_map(|leaf| (0..state[leaf].len()).map(move |i| (leaf, i))).collect();
            let mut placing = Placing { before: state, slots, pieces: pieces.clone(), next: &mut next };
            placing.place(0, 0, &mut state.clone());
        }
        states = next;
    }
    let possible = states.iter().filter(|state| state.iter().flatten().all(|record| record & NOT_EMPTY != 0));
    let support = |state: &Vec<Vec<Sight>>| state.iter().flatten().filter(|&&record| record & all == all).count();
    possible.map(support).max().unwrap_or(0) as u64
}

#[derive(Clone)]
struct Piece<'a> {
    sight: Sight,
    eligible: &'a [bool],
    left: usize,
}

struct Placing<'a> {
    before: &'a [Vec<Sight>],
    slots: Vec<(usize, usize)>,
    pieces: Vec<Piece<'a>>,
    next: &'a mut HashSet<Vec<Vec<Sight>>>,
}

impl Placing<'_> {
    /// Tries every piece, and none, for the record at `slot`. Choice 0 is none, choice i + 1 is piece i.
    ///
    /// Records of a leaf are sorted, so that those that look alike are neighbours; among them only non-decreasing
    /// choices are tried, since any others lead to the same multiset. `least` is the neighbour's choice.
    fn place(&mut self, slot: usize, least: usize, state: &mut Vec<Vec<Sight>>) {
        let n_left: usize = self.pieces.iter().map(|piece| piece.left).sum();
        if n_left > self.slots.len() - slot {
            return;
        }
        let Some(&(leaf, record)) = self.slots.get(slot) else {
            let mut state = state.clone();
            state.iter_mut().for_each(|leaf| leaf.sort_unstable());
            self.next.insert(state);
            return;
        };
        let looks_like_last = record > 0 && self.before[leaf][record - 1] == self.before[leaf][record];
        for choice in if looks_like_last { least } else { 0 }..=self.pieces.len() {
            if choice == 0 {
                self.place(slot + 1, 0, state);
            } else if self.pieces[choice - 1].left > 0 && self.pieces[choice - 1].eligible[leaf] {
                self.pieces[choice - 1].left -= 1;
                state[leaf][record] |= self.pieces[choice - 1].sight;
                self.place(slot + 1, choice, state);
                state[leaf][record] = self.before[leaf][record];
                self.pieces[choice - 1].left += 1;
            }
        }
    }
}
