//! Which rows of a bag hold which terms: one bit mask a term, and the tests of anonymity on them.
//!
//! Paper:      terrovitis2012, section 3 (k^m-anonymity of a chunk), section 5 (k-anonymity in Property 1)
//! Assumes:    at most a few hundred rows, so that a mask is a few words
//! Cost:       a test of a pair of terms is one AND and one popcount for every 64 rows
//! Checked by: tests in this file against counting by hand, tests/it/guarantee.rs

use crate::data::TermId;
use crate::release::Chunk;

/// The rows of a bag, term by term.
#[derive(Debug, Clone, Default)]
pub(super) struct TermRows {
    /// The terms; the position of a term here is its index in all functions below.
    pub(super) terms: Vec<TermId>,
    /// `words` words for each term.
    masks: Vec<u64>,
    words: usize,
}

impl TermRows {
    pub(super) fn clear(&mut self, n_rows: usize) {
        self.terms.clear();
        self.masks.clear();
        self.words = n_rows.div_ceil(64);
    }

    /// Adds a term that no row holds yet; returns its index.
    pub(super) fn add(&mut self, term: TermId) -> usize {
        self.terms.push(term);
        self.masks.resize(self.masks.len() + self.words, 0);
        self.terms.len() - 1
    }

    #[inline]
    pub(super) fn set(&mut self, index: usize, row: usize) {
        self.masks[index * self.words + row / 64] |= 1 << (row % 64);
    }

    /// The rows that hold the term, ascending.
    pub(super) fn rows(&self, index: usize) -> impl Iterator<Item = u32> {
        self.mask(index).iter().zip(0..).flat_map(|(&word, w)| {
            let mut pending = word;
            std::iter::from_fn(move || {
                let row = (pending != 0).then(|| pending.trailing_zeros() + 64 * w);
                pending &= pending.wrapping_sub(1);
                row
            })
        })
    }

    #[inline]
    fn mask(&self, index: usize) -> &[u64] {
        &self.masks[index * self.words..(index + 1) * self.words]
    }

    /// Whether two terms always come together.
    pub(super) fn are_in_same_rows(&self, a: usize, b: usize) -> bool {
        self.mask(a) == self.mask(b)
    }

    /// The number of rows that hold the term.
    #[cfg(test)]
    fn support(&self, index: usize) -> u32 {
        count(self.mask(index))
    }

    /// The number of rows that hold at least one of the terms: |C|, since empty subrecords do not count.
    pub(super) fn n_nonempty(&self, indices: &[usize]) -> u32 {
        (0..self.words).map(|word| indices.iter().fold(0, |union, &i| union | self.mask(i)[word]).count_ones()).sum()
    }

    /// Whether the bag projected on `chunk` and `candidate` is k^m-anonymous, given that it is so on `chunk` alone
    /// and that `candidate` occurs at least k times.
    ///
    /// Only sets that contain the candidate are new: none of them may occur more than 0 and fewer than k times.
    pub(super) fn stays_km_anonymous(
        &self,
        chunk: &[usize],
        candidate: usize,
        k: u32,
        m: u32,
        scratch: &mut Vec<u64>,
    ) -> bool {
        let rows = self.mask(candidate);
        let pairs_hold = m < 2 || chunk.iter().all(|&i| allowed(count_and(rows, self.mask(i)), k));
        if m <= 2 || !pairs_hold {
            return pairs_hold;
        }
        scratch.clear();
        scratch.extend_from_slice(rows);
        !self.violates_deeper(chunk, 0, m - 1, k, scratch)
    }

    /// Whether some set of at most `left` terms of `chunk`, added to the set whose rows lie at `at` in `scratch`,
    /// occurs more than 0 and fewer than k times.
    fn violates_deeper(&self, chunk: &[usize], at: usize, left: u32, k: u32, scratch: &mut Vec<u64>) -> bool {
        let words = self.words;
        for (position, &i) in chunk.iter().enumerate() {
            let (rows, mask) = (&scratch[at..at + words], self.mask(i));
            let support = count_and(rows, mask);
            if !allowed(support, k) {
                return true;
            }
            // An unchanged set of rows brings nothing: the set without this term says the same with fewer terms.
            if support == 0 || left == 1 || support == count(rows) {
                continue;
            }
            let deeper = at + words;
            scratch.truncate(deeper);
            for word in 0..words {
                scratch.push(scratch[at + word] & self.mask(i)[word]);
            }
            if self.violates_deeper(&chunk[position + 1..], deeper, left - 1, k, scratch) {
                return true;
            }
        }
        false
    }

    /// The distinct non-empty subrecords of the projection on `chunk`, each with its count, in canonical order.
    /// `label` gives the number that stands for a term in the result.
    pub(super) fn project(&self, chunk: &[usize], label: impl Fn(usize) -> u32, scratch: &mut Projection) -> Chunk {
        scratch.columns.clear();
        scratch.columns.extend(chunk.iter().map(|&i| (label(i), i)));
        scratch.columns.sort_unstable();
        let mut published = Chunk::new(scratch.columns.iter().map(|&(term, _)| term).collect());
        let Projection { columns, items, rows } = scratch;
        items.clear();
        rows.clear();
        for word in 0..self.words {
            let mut pending = chunk.iter().fold(0, |union, &i| union | self.mask(i)[word]);
            while pending != 0 {
                let bit = pending & pending.wrapping_neg();
                pending ^= bit;
                let start = items.len();
                items.extend(columns.iter().filter(|&&(_, i)| self.mask(i)[word] & bit != 0).map(|&(term, _)| term));
                rows.push((start, items.len()));
            }
        }
        let items = items.as_slice();
        rows.sort_unstable_by(|a, b| items[a.0..a.1].cmp(&items[b.0..b.1]));
        for equal in rows.chunk_by(|a, b| items[a.0..a.1] == items[b.0..b.1]) {
            published.push(&items[equal[0].0..equal[0].1], equal.len() as u32);
        }
        published
    }
}

/// Work space of [`TermRows::project`].
#[derive(Debug, Default)]
pub(super) struct Projection {
    columns: Vec<(TermId, usize)>,
    items: Vec<TermId>,
    rows: Vec<(usize, usize)>,
}

/// Builds chunks one after the other: each takes, in the order given, every remaining term that `admits` allows.
/// The first term of a chunk is always taken.
pub(super) fn greedy_chunks(
    mut remaining: Vec<usize>,
    mut admits: impl FnMut(&[usize], usize) -> bool,
) -> Vec<Vec<usize>> {
    let mut chunks = Vec::new();
    while !remaining.is_empty() {
        let mut chunk: Vec<usize> = Vec::new();
        remaining.retain(|&term| {
            // A chunk of one frequent term is always allowed; `admits` is asked all the same, to know of it.
            let taken = admits(&chunk, term) || chunk.is_empty();
            if taken {
                chunk.push(term);
            }
            !taken
        });
        chunks.push(chunk);
    }
    chunks
}

fn allowed(support: u32, k: u32) -> bool {
    support == 0 || support >= k
}

#[inline]
fn count(rows: &[u64]) -> u32 {
    rows.iter().map(|word| word.count_ones()).sum()
}

#[inline]
fn count_and(a: &[u64], b: &[u64]) -> u32 {
    a.iter().zip(b).map(|(a, b)| (a & b).count_ones()).sum()
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// Random bags, and the same counted by hand.
    fn random_rows(rng: &mut ChaCha8Rng) -> (TermRows, Vec<Vec<usize>>) {
        let (n_rows, n_terms) = (rng.random_range(1..150), rng.random_range(1..7));
        let mut rows = TermRows::default();
        rows.clear(n_rows);
        (0..n_terms).for_each(|t| {
            rows.add(t);
        });
        let density = rng.random_range(0.02..0.9);
        let held: Vec<Vec<usize>> = (0..n_rows)
            .map(|row| {
                let terms: Vec<usize> = (0..n_terms as usize).filter(|_| rng.random_bool(density)).collect();
                terms.iter().for_each(|&t| rows.set(t, row));
                terms
            })
            .collect();
        (rows, held)
    }

    fn is_km_anonymous(held: &[Vec<usize>], chunk: &[usize], k: u32, m: u32) -> bool {
        (1u32..1 << chunk.len()).filter(|set| set.count_ones() <= m).all(|set| {
            let wanted: Vec<usize> =
                chunk.iter().enumerate().filter(|&(i, _)| set >> i & 1 == 1).map(|(_, &t)| t).collect();
            let support = held.iter().filter(|terms| wanted.iter().all(|t| terms.contains(t))).count() as u32;
            support == 0 || support >= k
        })
    }

    #[test]
    fn the_incremental_test_agrees_with_counting_all_sets() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let (mut accepted, mut refused) = (0, 0);
        for _ in 0..2000 {
            let (rows, held) = random_rows(&mut rng);
            let (k, m) = (rng.random_range(2..6), rng.random_range(1..6));
            let frequent: Vec<usize> = (0..rows.terms.len()).filter(|&i| rows.support(i) >= k).collect();
            let mut scratch = Vec::new();
            let chunks = greedy_chunks(frequent, |chunk, candidate| {
                let verdict = rows.stays_km_anonymous(chunk, candidate, k, m, &mut scratch);
                let all: Vec<usize> = chunk.iter().copied().chain([candidate]).collect();
                assert_eq!(verdict, is_km_anonymous(&held, &all, k, m), "k={k} m={m} {held:?} {all:?}");
                *(if verdict { &mut accepted } else { &mut refused }) += 1;
                verdict
            });
            for chunk in &chunks {
                let nonempty = held.iter().filter(|terms| terms.iter().any(|t| chunk.contains(t))).count();
                assert_eq!(rows.n_nonempty(chunk) as usize, nonempty);
            }
        }
        assert!(accepted > 500 && refused > 500, "{accepted} {refused}");
    }

    #[test]
    fn projection_lists_each_distinct_subrecord_once_with_its_count() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        for _ in 0..500 {
            let (rows, held) = random_rows(&mut rng);
            let chunk: Vec<usize> = (0..rows.terms.len()).filter(|_| rng.random_bool(0.7)).collect();
            let mut expected = std::collections::BTreeMap::new();
            for terms in &held {
                let part: Vec<u32> = terms.iter().filter(|t| chunk.contains(t)).map(|&t| t as u32 + 7).collect();
                if !part.is_empty() {
                    *expected.entry(part).or_insert(0) += 1;
                }
            }
            let published = rows.project(&chunk, |i| i as u32 + 7, &mut Projection::default());
            let found: Vec<_> = published.subrecords().map(|(terms, count)| (terms.to_vec(), count)).collect();
            assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
        }
    }
}
