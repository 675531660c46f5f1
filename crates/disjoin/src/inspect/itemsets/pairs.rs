//! Counts how many records hold two terms, for all pairs of the most frequent terms at once.

use rayon::prelude::*;

use super::{Items, Search};
use crate::data::{RecordId, TermId, Transactions};
use crate::observer::Observer;

/// The matrix has at most 8 million cells for each thread.
const MOST_TERMS: usize = 4096;

/// The supports of all pairs of the most frequent terms.
pub(super) struct Pairs {
    /// The terms, ascending, so that those of a record are in the order of the matrix.
    terms: Vec<TermId>,
    /// Where each term stands among them.
    places: Vec<u32>,
    /// The pair at places i < j is at j (j + 1) / 2 + i.
    counts: Vec<u32>,
}

/// Counts pairs and offers them. Begins with few terms, whose pairs show which further terms can matter.
pub(super) fn count(records: &Transactions, items: &Items, search: &Search<'_>) -> Pairs {
    let mut pairs = Pairs { terms: Vec::new(), places: Vec::new(), counts: Vec::new() };
    if search.mining.min_length > 2 || search.mining.max_length < 2 {
        return pairs; // They could not be offered, and so would not raise the floor.
    }
    let first = 64_usize.saturating_mul(search.mining.k).isqrt().clamp(64, MOST_TERMS);
    loop {
        let n_done = pairs.terms.len();
        let n_terms = items.n_open(search).min(if n_done == 0 { first } else { MOST_TERMS });
        if n_terms <= n_done {
            return pairs;
        }
        pairs = Pairs::new(records, items, n_terms, search.mining.observer);
        let is_done = |term: TermId| (items.ranks[term as usize] as usize) < n_done;
        for (j, &b) in pairs.terms.iter().enumerate() {
            search.mining.observer.check();
            for (&count, &a) in pairs.counts[start_of(j)..].iter().zip(&pairs.terms[..j]) {
                if search.is_open(count, 2) && !(is_done(a) && is_done(b)) && search.allows(a, b) {
                    search.offer(count, &[a, b]);
                }
            }
        }
    }
}

impl Pairs {
    /// Counts the pairs of the `n` most frequent terms.
    fn new(records: &Transactions, items: &Items, n: usize, observer: &dyn Observer) -> Self {
        let mut terms = items.by_support[..n].to_vec();
        terms.sort_unstable();
        let mut places = vec![u32::MAX; items.supports.len()];
        terms.iter().zip(0..).for_each(|(&term, place)| places[term as usize] = place);

        // A thread's own matrix must not cost more than its records.
        let n_parts = (records.n_incidences() / start_of(n).max(1 << 14)).clamp(1, rayon::current_num_threads());
        let part = records.len().div_ceil(n_parts).max(1);
        let parts = (0..records.len()).into_par_iter().step_by(part).map(|start| {
            let ids = start as RecordId..(start + part).min(records.len()) as RecordId;
            count_in(ids.map(|id| records.record(id)), &places, n, observer)
        });
        let sum = |mut counts: Vec<u32>, other: Vec<u32>| {
            counts.iter_mut().zip(other).for_each(|(count, more)| *count += more);
            counts
        };
        let counts = parts.reduce_with(sum).unwrap_or_default();
        Pairs { terms, places, counts }
    }

    /// How many of the most frequent terms were counted.
    pub(super) fn n_terms(&self) -> usize {
        self.terms.len()
    }

    /// Whether a term was counted.
    pub(super) fn has(&self, term: TermId) -> bool {
        self.places.get(term as usize).is_some_and(|&place| place != u32::MAX)
    }

    /// The support of a pair of terms that were counted.
    pub(super) fn support(&self, a: TermId, b: TermId) -> u32 {
        let (a, b) = (self.places[a as usize] as usize, self.places[b as usize] as usize);
        self.counts[start_of(a.max(b)) + a.min(b)]
    }
}

fn start_of(row: usize) -> usize {
    row * (row + 1) / 2
}

/// The matrix of some records.
fn count_in<'a>(
    records: impl Iterator<Item = &'a [TermId]>,
    places: &[u32],
    n: usize,
    observer: &dyn Observer,
) -> Vec<u32> {
    let mut counts = vec![0; start_of(n)];
    let mut held: Vec<u32> = Vec::new();
    for (at, record) in records.enumerate() {
        if at & 0x3ff == 0 {
            observer.check();
        }
        if held.len() < record.len() {
            held.resize(record.len(), 0);
        }
        // Each place is written, and overwritten if it was not meant to stay: no branch, no wrong guess.
        let mut n_held = 0;
        for &term in record {
            let place = places[term as usize];
            held[n_held] = place;
            n_held += usize::from((place as usize) < n);
        }
        BY_LENGTH[n_held.min(BY_LENGTH.len() - 1)](&held, &mut counts);
        for j in BY_LENGTH.len() - 1..n_held {
            count_row(held[j], &held[..j], &mut counts);
        }
    }
    counts
}

type CountPairs = fn(&[u32], &mut [u32]);

/// Most records are short, and nobody can guess how short. The processor would lose more time with wrong guesses of
/// when a loop ends than with counting; so there is one function without loops for each length, and one guess.
const BY_LENGTH: [CountPairs; 13] = [
    count_pairs::<0>,
    count_pairs::<1>,
    count_pairs::<2>,
    count_pairs::<3>,
    count_pairs::<4>,
    count_pairs::<5>,
    count_pairs::<6>,
    count_pairs::<7>,
    count_pairs::<8>,
    count_pairs::<9>,
    count_pairs::<10>,
    count_pairs::<11>,
    count_pairs::<12>,
];

/// Counts the pairs of the first `N` places.
fn count_pairs<const N: usize>(held: &[u32], counts: &mut [u32]) {
    if let Some(held) = held.first_chunk::<N>() {
        for j in 1..N {
            count_row(held[j], &held[..j], counts);
        }
    }
}

#[inline(always)]
fn count_row(place: u32, before: &[u32], counts: &mut [u32]) {
    let row = &mut counts[start_of(place as usize)..][..place as usize];
    before.iter().for_each(|&other| row[other as usize] += 1);
}
