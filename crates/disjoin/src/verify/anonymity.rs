//! Is a bag of subrecords k^m-anonymous? Counted anew, from the definition.
//!
//! Paper:      terrovitis2012, section 2 (k^m-anonymity of a chunk)
//! Promises:   a shortfall is found if and only if some set of at most m terms is contained in at least one
//!             subrecord and in fewer than k
//! Assumes:    subrecords ascending, as `release::Chunk` keeps them
//! Cost:       subsets are looked at only for subrecords that fewer than k contain: C(|q|, m) counts for such a q, each
//!             of them over at most k matches of its rarest term where the set is frequent; in large chunks each set once
//! Checked by: tests in this file (against counting all subsets of random bags)

use std::collections::HashSet;

use crate::data::TermId;
use crate::observer::Observer;
use crate::release::Chunk;

/// A chunk with more distinct subrecords is large.
const LARGE: usize = 500;

/// Subrecords of more terms are long: what is said of large chunks is true of them.
const LONG: u64 = 64;

/// A set of terms that too few subrecords contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shortfall {
    /// Position of a subrecord that contains the set, from 0.
    pub(super) subrecord: usize,
    /// How many terms the set has.
    pub(super) n_terms: usize,
    /// How many subrecords contain it.
    pub(super) support: u64,
}

/// That there are more sets to be counted than is worth it: nobody knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooMany;

/// Terms that are looked up for a chunk at least, and for each that stands in it: releases that are made need some thousands.
const LOOKS: u64 = 100_000_000;
const LOOKS_A_TERM: u64 = 2_000;

/// Sets of so many terms are not looked at one by one.
const DEEP: usize = 1_000;

/// A set of at most `m` terms that some, but fewer than `k` subrecords contain.
pub(super) fn km_shortfall(
    chunk: &Chunk,
    k: u64,
    m: usize,
    observer: &dyn Observer,
) -> Result<Option<Shortfall>, TooMany> {
    // What k equal subrecords contain needs no index; many chunks are made of nothing else.
    if m == 0 || chunk.subrecords().all(|(_, count)| u64::from(count) >= k) {
        return Ok(None);
    }
    let n_terms: u64 = chunk.subrecords().map(|(terms, _)| terms.len() as u64).sum();
    let mut left = LOOKS + LOOKS_A_TERM * n_terms;
    let index = Index::new(chunk);
    let mut chosen = Vec::new();
    // In a large chunk whole subrecords are rare, and few sets are in many of them: each is counted once.
    let is_large = chunk.n_distinct() > LARGE || n_terms > LONG * chunk.n_distinct() as u64;
    let mut frequent: HashSet<Vec<TermId>, foldhash::fast::RandomState> = HashSet::default();
    for (subrecord, (terms, count)) in chunk.subrecords().enumerate() {
        if subrecord & 0xff == 0 {
            observer.check();
        }
        // If k subrecords contain q, they contain all that q contains. Otherwise sets of m terms tell: a smaller set is
        // part of one of them and at least as frequent.
        if u64::from(count) >= k || (!is_large && index.support(terms, k, &mut left) >= k) {
            continue;
        }
        let size = m.min(terms.len());
        let mut count = |set: &[TermId]| {
            if left == 0 {
                return Some(Err(TooMany));
            }
            left = left.saturating_sub(set.len() as u64);
            if is_large && frequent.contains(set) {
                return None;
            }
            let support = index.support(set, k, &mut left);
            if is_large && support >= k {
                frequent.insert(set.to_vec());
            }
            (support < k).then_some(Ok(support))
        };
        let found = match size {
            _ if size == terms.len() => count(terms),
            DEEP.. => Some(Err(TooMany)),
            _ => first_subset(terms, size, &mut chosen, &mut count),
        };
        chosen.clear();
        if let Some(support) = found {
            return support.map(|support| Some(Shortfall { subrecord, n_terms: size, support }));
        }
    }
    Ok(None)
}

/// For each term of the domain the subrecords that contain it.
struct Index<'a> {
    domain: &'a [TermId],
    subrecords: Vec<(&'a [TermId], u32)>,
    ends: Vec<u32>,
    holders: Vec<u32>,
}

impl<'a> Index<'a> {
    fn new(chunk: &'a Chunk) -> Self {
        let domain = chunk.terms.as_slice();
        let subrecords: Vec<(&[TermId], u32)> = chunk.subrecords().collect();
        let positions = |terms: &'a [TermId]| terms.iter().filter_map(|t| domain.binary_search(t).ok());
        // `ends` holds counts, then starts, then, moved on by every holder, ends.
        let mut ends = vec![0u32; domain.len()];
        subrecords.iter().for_each(|(terms, _)| positions(terms).for_each(|p| ends[p] += 1));
        let mut total = 0;
        for end in &mut ends {
            total += std::mem::replace(end, total);
        }
        let mut holders = vec![0; total as usize];
        for (i, (terms, _)) in subrecords.iter().enumerate() {
            for p in positions(terms) {
                holders[ends[p] as usize] = i as u32;
                ends[p] += 1;
            }
        }
        Index { domain, subrecords, ends, holders }
    }

    fn holders(&self, term: TermId) -> &[u32] {
        let Ok(p) = self.domain.binary_search(&term) else { return &[] };
        let start = if p == 0 { 0 } else { self.ends[p - 1] };
        &self.holders[start as usize..self.ends[p] as usize]
    }

    /// How many subrecords contain `set`; counting stops when `enough` are found.
    fn support(&self, set: &[TermId], enough: u64, looks: &mut u64) -> u64 {
        let rarest = set.iter().map(|&t| self.holders(t)).min_by_key(|holders| holders.len());
        let mut support = 0;
        for &holder in rarest.unwrap_or_default() {
            *looks = looks.saturating_sub(set.len() as u64);
            let (terms, count) = self.subrecords[holder as usize];
            if set.iter().all(|t| terms.binary_search(t).is_ok()) {
                support += u64::from(count);
                if support >= enough {
                    break;
                }
            }
        }
        support
    }
}

/// Calls `test` with the subsets of `size` terms until it returns something.
fn first_subset<T>(
    terms: &[TermId],
    size: usize,
    chosen: &mut Vec<TermId>,
    test: &mut impl FnMut(&[TermId]) -> Option<T>,
) -> Option<T> {
    if chosen.len() == size {
        return test(chosen);
    }
    let missing = size - chosen.len();
    for first in 0..=terms.len().checked_sub(missing)? {
        chosen.push(terms[first]);
        if let Some(found) = first_subset(&terms[first + 1..], size, chosen, test) {
            return Some(found);
        }
        chosen.pop();
    }
    None
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// The definition: count every set of at most m terms of every subrecord.
    fn is_anonymous_by_definition(bag: &BTreeMap<Vec<TermId>, u32>, k: u64, m: u32) -> bool {
        let mut supports: BTreeMap<Vec<TermId>, u64> = BTreeMap::new();
        for (terms, &count) in bag {
            for code in 1_u32..1 << terms.len() {
                if code.count_ones() <= m {
                    let set = (0..terms.len()).filter(|i| code >> i & 1 == 1).map(|i| terms[i]).collect();
                    *supports.entry(set).or_default() += u64::from(count);
                }
            }
        }
        supports.values().all(|&support| support >= k)
    }

    #[test]
    fn agrees_with_counting_all_subsets() {
        let (mut anonymous, mut not) = (0, 0);
        for seed in 0..30_000 {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let (n_terms, n) = (rng.random_range(1..=8_u32), rng.random_range(1..=20));
            let density = rng.random_range(0.2..0.98);
            let mut bag: BTreeMap<Vec<TermId>, u32> = BTreeMap::new();
            for _ in 0..n {
                let terms: Vec<TermId> = (0..n_terms).filter(|_| rng.random_bool(density)).map(|t| 3 * t + 1).collect();
                if !terms.is_empty() {
                    *bag.entry(terms).or_default() += rng.random_range(1..=2);
                }
            }
            let mut chunk = Chunk::new((0..n_terms).map(|t| 3 * t + 1).collect());
            bag.iter().for_each(|(terms, &count)| chunk.push(terms, count));
            let (k, m) = (rng.random_range(2..=5), rng.random_range(1..=4));
            let found = km_shortfall(&chunk, k, m as usize, &crate::observer::Unobserved).unwrap();
            assert_eq!(found.is_none(), is_anonymous_by_definition(&bag, k, m), "seed {seed}: {bag:?}");
            if let Some(Shortfall { support, n_terms, .. }) = found {
                assert!(support > 0 && support < k && n_terms <= m as usize, "seed {seed}");
                not += 1;
            } else {
                anonymous += 1;
            }
        }
        assert!(anonymous > 1_000 && not > 1_000, "one-sided: {anonymous} anonymous, {not} not");
    }

    #[test]
    fn large_chunks_are_judged_like_small_ones() {
        let mut rng = ChaCha8Rng::seed_from_u64(9);
        let (mut anonymous, mut not) = (0, 0);
        for _ in 0..60 {
            let (k, m) = (rng.random_range(2..=8), rng.random_range(1..=3));
            let mut bag: BTreeMap<Vec<TermId>, u32> = BTreeMap::new();
            for _ in 0..3_000 {
                let terms: Vec<TermId> = (0..11).filter(|_| rng.random_bool(0.5)).collect();
                if !terms.is_empty() {
                    *bag.entry(terms).or_default() += 1;
                }
            }
            // Now and then a set that is held by few.
            if rng.random_bool(0.5) {
                let more = rng.random_range(1..6);
                bag.insert(vec![3, 11, 12], more);
                bag.insert(vec![11], 20);
                bag.insert(vec![12], 20);
            }
            let mut chunk = Chunk::new((0..13).collect());
            bag.iter().for_each(|(terms, &count)| chunk.push(terms, count));
            assert!(chunk.n_distinct() > LARGE);
            let found = km_shortfall(&chunk, k, m as usize, &crate::observer::Unobserved).unwrap();
            assert_eq!(found.is_none(), is_anonymous_by_definition(&bag, k, m), "{k} {m}");
            *if found.is_none() { &mut anonymous } else { &mut not } += 1;
        }
        assert!(anonymous > 5 && not > 5, "one-sided: {anonymous} anonymous, {not} not");
    }

    /// Figure 3's shared chunk is 3^2-anonymous though two of its three distinct subrecords stand once.
    #[test]
    fn figure_3() {
        let mut chunk = Chunk::new(vec![0, 1]);
        [(&[0][..], 1), (&[0, 1], 3), (&[1], 1)].iter().for_each(|(terms, count)| chunk.push(terms, *count));
        assert_eq!(km_shortfall(&chunk, 3, 2, &crate::observer::Unobserved), Ok(None));
        let expected = Shortfall { subrecord: 0, n_terms: 1, support: 4 };
        assert_eq!(km_shortfall(&chunk, 5, 2, &crate::observer::Unobserved), Ok(Some(expected)));
        assert_eq!(km_shortfall(&chunk, 5, 0, &crate::observer::Unobserved), Ok(None));
    }
}
