//! Which sets of items are in some records of a bag, but in fewer than k? Counted from the definition.
//!
//! Paper:      terrovitis2008, definition of k^m-anonymity
//! Promises:   `rare` is empty if and only if every set of at most m items that some record has is in at least k
//! Assumes:    items of a record ascend
//! Cost:       a step for each set of at most m items of each record, on all cores; sets are followed only below records that
//!             occur fewer than k times
//! Checked by: tests in this file (against counting all subsets of random bags)

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use rayon::prelude::*;

use crate::observer::Observer;
use crate::release::recoded::Bag;

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Sets {
    /// Sets that were counted.
    pub(super) counted: u64,
    /// Of these, those in fewer than k records. What contains them is not counted any more.
    pub(super) rare: u64,
    /// The first of them, with the records that have them.
    pub(super) first: Vec<(Vec<u32>, u64)>,
    /// Whether there were too many to be counted all.
    pub(super) is_cut_short: bool,
    /// By size, if all are counted.
    by_size: Vec<OfSize>,
}

/// How many sets of one size some record has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct OfSize {
    /// All of them.
    pub(crate) sets: u64,
    /// Those in fewer than k records.
    pub(crate) below: u64,
    /// The fewest records that have one of them; 0 if there is none.
    pub(crate) fewest: u64,
}

impl OfSize {
    fn add(&mut self, OfSize { sets, below, fewest }: OfSize) {
        self.sets += sets;
        self.below += below;
        self.fewest = if self.fewest == 0 || fewest == 0 { self.fewest.max(fewest) } else { self.fewest.min(fewest) };
    }
}

/// Items that are looked at in a bag at least, and for each that stands in it: releases that are made need a few thousand.
const LOOKS: u64 = 20_000_000;
const LOOKS_AN_ITEM: u64 = 20_000;

/// Sets of more items are not followed one by one.
const DEEP: usize = 200;

/// Looks for sets of at most `m` of `n_items` items that are in some records, but in fewer than `k`.
pub(super) fn rare_sets(bag: &Bag, n_items: usize, k: u64, m: usize, shown: usize, observer: &dyn Observer) -> Sets {
    sets(bag, n_items, k, m, shown, false, observer)
}

/// Counts all sets of each size up to `m`, also those that contain a rare one; and whether there were too many for that.
pub(crate) fn count_sets(bag: &Bag, n_items: usize, k: u64, m: usize, observer: &dyn Observer) -> (Vec<OfSize>, bool) {
    let found = sets(bag, n_items, k, m, 0, true, observer);
    (found.by_size, found.is_cut_short)
}

fn sets(bag: &Bag, n_items: usize, k: u64, m: usize, shown: usize, all: bool, observer: &dyn Observer) -> Sets {
    if m == 0 {
        return Sets::default();
    }
    let whole: Vec<Tail> = (0..bag.len() as u32).map(|record| (record, 0)).collect();
    let n_held: u64 = bag.iter().map(|(items, _)| items.len() as u64).sum();
    let looks = AtomicU64::new(LOOKS.saturating_add(n_held.saturating_mul(LOOKS_AN_ITEM)));
    let empty = || Sets { by_size: if all { vec![OfSize::default(); m] } else { Vec::new() }, ..Sets::default() };
    let new = || Count { bag, k, shown, all, counts: vec![0; n_items], found: empty(), looks: &looks, observer };
    let mut top = new();
    let below = top.level(&whole, &[], m > 1);
    let count = |count: &mut Count<'_>, (item, tails): (u32, Vec<Tail>)| {
        count.follow(&tails, &mut vec![item], m - 1);
        std::mem::replace(&mut count.found, empty())
    };
    let parts: Vec<Sets> = below.into_par_iter().map_init(new, count).collect();
    parts.into_iter().fold(top.found, |mut all, part| {
        all.counted += part.counted;
        all.rare += part.rare;
        all.is_cut_short |= part.is_cut_short;
        all.by_size.iter_mut().zip(part.by_size).for_each(|(sum, of)| sum.add(of));
        let room = shown.saturating_sub(all.first.len());
        all.first.extend(part.first.into_iter().take(room));
        all
    })
}

/// What is left of a record behind an item: which record, and where in it that is.
type Tail = (u32, u32);

struct Count<'a> {
    bag: &'a Bag,
    k: u64,
    shown: usize,
    /// Rare sets are followed as well.
    all: bool,
    /// By item, all 0 between uses.
    counts: Vec<u64>,
    found: Sets,
    /// How many are left to all that count.
    looks: &'a AtomicU64,
    observer: &'a dyn Observer,
}

impl Count<'_> {
    fn follow(&mut self, tails: &[Tail], set: &mut Vec<u32>, left: usize) {
        for (item, tails) in self.level(tails, set, left > 1) {
            set.push(item);
            self.follow(&tails, set, left - 1);
            set.pop();
        }
    }

    /// Counts the set with each item behind it; what is left of the records that have them where more must be counted.
    fn level(&mut self, tails: &[Tail], set: &[u32], goes_on: bool) -> Vec<(u32, Vec<Tail>)> {
        self.observer.check();
        let bag = self.bag;
        let rest = |&(record, from): &Tail| &bag.items(record as usize)[from as usize..];
        let needed: u64 = tails.iter().map(|tail| rest(tail).len() as u64 + 1).sum();
        let taken = self.looks.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(needed));
        if taken.is_err() || set.len() > DEEP {
            self.found.is_cut_short = true;
            return Vec::new();
        }
        let mut items: Vec<u32> = Vec::new();
        for tail in tails {
            let count = u64::from(bag.count(tail.0 as usize));
            for &item in rest(tail) {
                let sum = &mut self.counts[item as usize];
                if *sum == 0 {
                    items.push(item);
                }
                *sum += count;
            }
        }
        items.sort_unstable();
        let mut below: Vec<(u32, Vec<Tail>)> = Vec::new();
        for &item in &items {
            let sum = std::mem::take(&mut self.counts[item as usize]);
            self.found.counted += 1;
            let is_rare = sum < self.k;
            if self.all {
                self.found.by_size[set.len()].add(OfSize { sets: 1, below: is_rare.into(), fewest: sum });
            }
            if is_rare {
                self.found.rare += 1;
                if self.found.first.len() < self.shown {
                    self.found.first.push(([set, &[item]].concat(), sum));
                }
            }
            if goes_on && (self.all || !is_rare) {
                below.push((item, Vec::new()));
                // A place in `below`, plus one.
                self.counts[item as usize] = below.len() as u64;
            }
        }
        if goes_on {
            for tail in tails {
                for (&item, at) in rest(tail).iter().zip(tail.1 + 1..) {
                    if let Some(place) = self.counts[item as usize].checked_sub(1) {
                        below[place as usize].1.push((tail.0, at));
                    }
                }
            }
            below.iter().for_each(|(item, _)| self.counts[*item as usize] = 0);
            // What a record has that occurs k times is in k records: only the others can have something rare.
            let is_open = |tail: &Tail| self.all || u64::from(bag.count(tail.0 as usize)) < self.k;
            below.retain(|(_, tails)| tails.iter().any(is_open));
        }
        below
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observer::Unobserved;
    use rand::{RngExt, SeedableRng};
    use std::collections::BTreeSet;

    /// All sets of at most m items of a record that no smaller rare set is part of, by counting every one of them.
    fn by_definition(bag: &Bag, k: u64, m: usize) -> BTreeSet<Vec<u32>> {
        let mut sets = BTreeSet::new();
        for (items, _) in bag.iter() {
            for mask in 1_u32..1 << items.len() {
                if mask.count_ones() as usize <= m {
                    let set = items.iter().enumerate().filter(|(at, _)| mask >> at & 1 == 1).map(|(_, &item)| item);
                    sets.insert(set.collect::<Vec<u32>>());
                }
            }
        }
        let support = |set: &[u32]| -> u64 {
            let has = |items: &[u32]| set.iter().all(|item| items.contains(item));
            bag.iter().filter(|(items, _)| has(items)).map(|(_, count)| u64::from(count)).sum()
        };
        sets.into_iter().filter(|set| support(set) < k).collect()
    }

    /// All sets that are counted by size: those below k are all rare ones, and the fewest records are those of some set.
    fn check_counts(bag: &Bag, n_items: usize, k: u64, m: usize, rare: &BTreeSet<Vec<u32>>) {
        let (sizes, is_cut_short) = count_sets(bag, n_items, k, m, &Unobserved);
        let (all, is_frequent) =
            (by_definition(bag, u64::MAX, m), |set: &Vec<u32>, k| !by_definition(bag, k, m).contains(set));
        for (of, size) in sizes.iter().zip(1..) {
            let sets: Vec<&Vec<u32>> = all.iter().filter(|set| set.len() == size).collect();
            let below = rare.iter().filter(|set| set.len() == size).count();
            assert_eq!((of.sets, of.below), (sets.len() as u64, below as u64));
            assert!(sets.iter().all(|set| is_frequent(set, of.fewest)));
            assert!(sets.is_empty() || sets.iter().any(|set| !is_frequent(set, of.fewest + 1)));
        }
        assert!(!is_cut_short && sizes.len() == m);
    }

    #[test]
    fn sets_are_rare_if_and_only_if_all_counting_says_so() {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(9);
        let mut bad = 0;
        for _ in 0..1000 {
            let n_items = rng.random_range(1..8);
            let density = rng.random_range(0.1..0.9);
            let mut records: Vec<Vec<u32>> = (0..rng.random_range(0..30))
                .map(|_| (0..n_items).filter(|_| rng.random_bool(density)).collect())
                .collect();
            records.sort();
            let mut bag = Bag::default();
            for same in records.chunk_by(|a, b| a == b) {
                bag.push(&same[0], same.len() as u32);
            }
            let (k, m) = (rng.random_range(1..6), rng.random_range(0..5));
            let found = rare_sets(&bag, n_items as usize, k, m, usize::MAX, &Unobserved);
            let rare = by_definition(&bag, k, m);
            assert_eq!(found.rare == 0, rare.is_empty());
            check_counts(&bag, n_items as usize, k, m, &rare);
            assert_eq!(found.rare as usize, found.first.len());
            assert!(found.first.iter().all(|(set, _)| rare.contains(set)));
            bad += usize::from(!rare.is_empty());
        }
        assert!((250..950).contains(&bad), "{bad}");
    }
}
