//! Exact counts for PrivBasis: never published, only ever with noise.
//!
//! Promises:   what a record adds to counts depends on the record and on public choices alone, and is at most 1 in each of at most
//!             `limit` bases
//! Checked by: `counts_move_as_far_as_is_said`, `supports_are_sums_over_supersets` in `privbasis.rs`

use super::Known;
use crate::data::TermId;
use crate::observer::Observer;

/// What everything is counted in.
pub(super) struct Data<'a> {
    pub(super) known: &'a Known,
    pub(super) supports: Vec<u32>,
    pub(super) observer: &'a dyn Observer,
}

impl Data<'_> {
    /// Calls with the places of the items that each record has.
    pub(super) fn for_each_record(&self, items: &[TermId], mut call: impl FnMut(&[usize])) {
        let mut place = vec![usize::MAX; self.known.items.len()];
        items.iter().enumerate().for_each(|(i, &item)| place[item as usize] = i);
        let mut here = Vec::new();
        for record in self.known.records.iter() {
            self.observer.check();
            here.clear();
            here.extend(record.iter().map(|&term| place[term as usize]).filter(|&place| place != usize::MAX));
            if !here.is_empty() {
                call(&here);
            }
        }
    }

    /// Calls with what each record has of the bases that it touches: the basis, and a bit for each of its items.
    fn for_each_touch(&self, items: &[TermId], bases: &[Vec<usize>], mut call: impl FnMut(&mut Vec<(usize, usize)>)) {
        let mut holders = vec![Vec::new(); items.len()];
        for (number, basis) in bases.iter().enumerate() {
            basis.iter().enumerate().for_each(|(bit, &item)| holders[item].push((number, 1_usize << bit)));
        }
        let mut masks = vec![0_usize; bases.len()];
        let mut touched: Vec<(usize, usize)> = Vec::new();
        self.for_each_record(items, |places| {
            touched.clear();
            for &(number, bit) in places.iter().flat_map(|&place| &holders[place]) {
                if masks[number] == 0 {
                    touched.push((number, 0));
                }
                masks[number] |= bit;
            }
            touched.iter_mut().for_each(|(number, mask)| *mask = std::mem::take(&mut masks[*number]));
            call(&mut touched);
        });
    }

    /// How many records touch 0, 1, 2, ... bases.
    pub(super) fn touched(&self, items: &[TermId], bases: &[Vec<usize>]) -> Vec<u64> {
        let mut counts = vec![0; bases.len() + 1];
        self.for_each_touch(items, bases, |touched| counts[touched.len()] += 1);
        counts
    }

    /// For each basis, in how many records each set of its items is what they have of it; a record counts in `limit` bases at most.
    pub(super) fn histograms(&self, items: &[TermId], bases: &[Vec<usize>], limit: usize) -> Vec<Vec<i64>> {
        let mut counts: Vec<Vec<i64>> = bases.iter().map(|basis| vec![0; 1 << basis.len()]).collect();
        self.for_each_touch(items, bases, |touched| {
            if touched.len() > limit {
                // Where it has most first; of the others, ones that are spread over all bases.
                let hash = touched
                    .iter()
                    .fold(0, |hash, &(number, mask)| mix(hash ^ mix((number as u64) << 16 ^ mask as u64)));
                touched.sort_unstable_by_key(|&(number, mask)| {
                    (std::cmp::Reverse(mask.count_ones()), mix(hash ^ number as u64), number)
                });
            }
            touched.iter().take(limit).for_each(|&(number, mask)| counts[number][mask] += 1);
        });
        counts
    }
}

/// A number that looks random (the finalizer of splitmix64). Not secret: it spreads, nothing more.
fn mix(number: u64) -> u64 {
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

/// From how many records have exactly a set to how many have it.
pub(super) fn add_supersets(counts: &mut [i64]) {
    let mut bit = 1;
    while bit < counts.len() {
        for mask in (0..counts.len()).filter(|mask| mask & bit == 0) {
            counts[mask] = counts[mask].saturating_add(counts[mask | bit]);
        }
        bit <<= 1;
    }
}
