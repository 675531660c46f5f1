//! What a range of the guarded tree publishes before it is split: chunks of terms, chosen by the supports in the range alone.
//!
//! *Common* terms, in ranges that are not too large: from the most frequent on, a term is offered to the one common chunk if by the supports it is
//! likely to fit, otherwise it stays for the split. It fits if the chunk stays k^m-anonymous; if not it is refused. *Rare* terms: each
//! is a chunk by itself, which is always k^m-anonymous. Whoever knows all supports knows what was offered. What was refused stays
//! with the rows of the chunk, in its unit: see the theorem in `guarded.rs`.
//!
//! Paper:      ours; it takes the place of REFINE of terrovitis2012, whose chunks follow from what occurs together below
//! Promises:   chunks are k^m-anonymous, and leave room: whatever m parts of chunks and of the remainder meet in k records, the others
//!             are not empty, or no record has two parts. The remainder is empty or has k records
//! Departs:    probabilities are sums and products only: the same bits on every machine
//! Cost:       O(L) and the test of common terms: c^(m - 1) n / 64 for each of them, c of them, n records
//! Checked by: tests in this file, tests/it/guarded.rs

use super::Work;
use super::guarded::Tuning;
use super::range::{Index, Range};
use super::rows::TermRows;
use crate::data::TermId;
use crate::release::Chunk;

/// What a range publishes.
pub(super) struct Chosen {
    pub(super) chunks: Vec<Chunk>,
    /// Terms that were refused or dropped, ascending: the term chunk of the range.
    pub(super) listed: Vec<TermId>,
    /// For each term of the range, whether it is taken out of the records.
    pub(super) is_taken: Vec<bool>,
}

/// The terms of a chunk, and those that it refused.
#[derive(Default)]
struct Unit {
    terms: Vec<usize>,
    refused: Vec<usize>,
}

/// Chooses chunks; nothing if no term is fit for one.
pub(super) fn choose(range: &Range, index: &Index, is_root: bool, work: &Work<'_>) -> Option<Chosen> {
    let (k, m, n) = (work.params.k, work.params.m, range.len());
    let mut is_taken = vec![false; index.terms.len()];
    let common = Tuning::has_at_most(n, work.tuning.common_up_to, k).then(|| common_unit(index, n, work)).flatten();
    let mut units: Vec<Unit> = common.into_iter().collect();
    let taken = units.iter().flat_map(|unit| unit.terms.iter().chain(&unit.refused));
    taken.for_each(|&at| is_taken[at] = true);
    for at in rare_terms(index, n, is_root, work) {
        if !std::mem::replace(&mut is_taken[at], true) {
            units.push(Unit { terms: vec![at], refused: Vec::new() });
        }
    }
    if units.is_empty() {
        return None;
    }
    let rows_of = |unit: &Unit| match unit.terms[..] {
        [at] if unit.refused.is_empty() => u64::from(index.supports[at]),
        _ => index.n_rows_with(unit.terms.iter().chain(&unit.refused).copied()),
    };
    let mut n_rows: u64 = units.iter().map(rows_of).sum();
    let (filled, mut empty) = index.remainder(&is_taken, n);
    let mut listed: Vec<usize> = units.iter().flat_map(|unit| unit.refused.iter().copied()).collect();
    let mut n_parts = units.len() + 1;
    if filled.len() < k as usize {
        // A leaf of so few records would give them away: what they hold is listed here instead.
        listed.extend((0..is_taken.len()).filter(|&at| !std::mem::replace(&mut is_taken[at], true)));
        n_rows += filled.len() as u64;
        empty.extend(filled);
        n_parts -= 1;
    }
    let spare = n_rows.saturating_sub(empty.len() as u64);
    let kept = n_kept(units.len(), n_parts > units.len(), spare, (k, m));
    listed.extend(units.drain(kept..).flat_map(|unit| unit.terms));
    let mut listed: Vec<TermId> = listed.into_iter().map(|at| index.terms[at]).collect();
    listed.sort_unstable();
    let chunks = units.iter().map(|unit| project(range, index, &unit.terms)).collect();
    Some(Chosen { chunks, listed, is_taken })
}

/// How many chunks leave room, if units have `spare` more rows than there are records without a remainder.
fn n_kept(n_chunks: usize, has_remainder: bool, spare: u64, (k, m): (u32, u32)) -> usize {
    // No record has two parts.
    if spare == 0 {
        return n_chunks;
    }
    let leaves_room = |v: &usize| {
        let n_parts = (*v + usize::from(has_remainder)).min(m as usize) as u64;
        spare >= u64::from(k) * n_parts.saturating_sub(1)
    };
    (0..=n_chunks).rev().find(leaves_room).unwrap_or(0)
}

/// Terms that are rare in the range, the more frequent ones first.
fn rare_terms(index: &Index, n: usize, is_root: bool, work: &Work<'_>) -> Vec<usize> {
    let (k, tuning) = (work.params.k, &work.tuning);
    let tenths = match () {
        () if Tuning::has_at_most(n, tuning.small, k) => tuning.rare_in_small,
        () if is_root => tuning.rare_at_root,
        () => tuning.rare,
    };
    let most = (u64::from(tenths) * u64::from(k) / 10).min(n as u64 / 3) as u32;
    let is_rare =
        |&at: &usize| (k..=most).contains(&index.supports[at]) && !work.is_sensitive[index.terms[at] as usize];
    let mut rare: Vec<usize> = (0..index.terms.len()).filter(is_rare).collect();
    rare.sort_by_key(|&at| std::cmp::Reverse(index.supports[at]));
    rare
}

/// The common terms, if there are any: those that meet each other in some share of k records or more, if all were independent.
fn common_unit(index: &Index, n: usize, work: &Work<'_>) -> Option<Unit> {
    let (k, m) = (work.params.k, work.params.m);
    let is_common = |&at: &usize| {
        let s = u64::from(index.supports[at]);
        s >= u64::from(k)
            && 10 * s * s >= n as u64 * u64::from(k) * u64::from(work.tuning.common)
            && !work.is_sensitive[index.terms[at] as usize]
    };
    let mut candidates: Vec<usize> = (0..index.terms.len()).filter(is_common).collect();
    candidates.sort_by_key(|&at| std::cmp::Reverse(index.supports[at]));
    let mut unit = Unit::default();
    let (mut rows, mut masks) = (TermRows::default(), Vec::new());
    rows.clear(n);
    // Places in `rows` of the terms that were let in, and their supports.
    let (mut chunk, mut supports): (Vec<usize>, Vec<u32>) = (Vec::new(), Vec::new());
    for at in candidates {
        work.observer.check();
        let support = index.supports[at];
        if !is_within_reason(&supports, support, n, m)
            || !is_offered(n, (k, m), support, &supports, work.tuning.misfits)
        {
            continue;
        }
        let place = rows.add(index.terms[at]);
        index.holders(at).iter().for_each(|&row| rows.set(place, row as usize));
        if rows.stays_km_anonymous(&chunk, place, k, m, &mut masks) {
            chunk.push(place);
            supports.push(support);
            unit.terms.push(at);
        } else {
            unit.refused.push(at);
        }
    }
    (!unit.terms.is_empty()).then_some(unit)
}

/// Whether a term of `support` among n records is likely to fit to the others, whose supports fall.
fn is_offered(n: usize, (k, m): (u32, u32), support: u32, others: &[u32], most: f64) -> bool {
    let mut left = most;
    take_misfits(n as f64, k, m.saturating_sub(1), f64::from(support), others, &mut left);
    left >= 0.0
}

/// Takes off, for every set of at most `size` of the others, the probability that it is with the term in a few records: 1 to k - 1. Stops
/// where nothing is left.
fn take_misfits(n: f64, k: u32, size: u32, expected: f64, others: &[u32], left: &mut f64) {
    if size == 0 {
        return;
    }
    for (i, &other) in others.iter().enumerate() {
        let expected = expected * f64::from(other) / n;
        *left -= chance_of_few(k, expected);
        if *left < 0.0 {
            return;
        }
        take_misfits(n, k, size - 1, expected, &others[i + 1..], left);
    }
}

/// The probability of 1 to k - 1 under the law of Poisson.
fn chance_of_few(k: u32, mean: f64) -> f64 {
    // From here on it is nothing: less than 10^-9.
    if mean > 40.0 + 4.0 * f64::from(k) {
        return 0.0;
    }
    let (mut weight, mut few, mut all) = (1.0, 0.0, 1.0);
    let mut h = 0.0;
    loop {
        h += 1.0;
        weight *= mean / h;
        all += weight;
        if h < f64::from(k) {
            few += weight;
        }
        if h >= f64::from(k) && h > mean && all + weight == all {
            return few / all;
        }
    }
}

/// Whether sets of m of these terms can be counted, here and by those who verify it.
fn is_within_reason(others: &[u32], support: u32, n: usize, m: u32) -> bool {
    let choose = |n: f64, r: u32| (0..r).map(|i| (n - f64::from(i)).max(0.0) / f64::from(i + 1)).product::<f64>();
    let held: f64 = others.iter().chain([&support]).map(|&s| f64::from(s)).sum::<f64>() / n as f64;
    // Twice as many terms as a record holds on average.
    let in_record = (2.0 * held + f64::from(m)).min(others.len() as f64 + 1.0);
    let n_words = n.div_ceil(64) as f64;
    others.len() < MOST
        && choose(others.len() as f64, m - 1) * n_words <= WORDS
        && choose(in_record, m) * n as f64 <= 1e7 + 100.0 * n as f64
}

/// Common terms at most, and words of 64 records that are looked at for one of them.
const MOST: usize = 500;
const WORDS: f64 = (1_u64 << 28) as f64;

/// The rows of the range, projected on some of its terms.
fn project(range: &Range, index: &Index, terms: &[usize]) -> Chunk {
    let mut domain: Vec<TermId> = terms.iter().map(|&at| index.terms[at]).collect();
    domain.sort_unstable();
    let mut chunk = Chunk::new(domain);
    if let [at] = *terms {
        chunk.push(&[index.terms[at]], index.supports[at]);
        return chunk;
    }
    let (mut items, mut rows): (Vec<TermId>, Vec<(usize, usize)>) = (Vec::new(), Vec::new());
    let mut is_in = vec![false; index.terms.len()];
    terms.iter().for_each(|&at| is_in[at] = true);
    for row in 0..range.len() as u32 {
        let start = items.len();
        items.extend(index.row(row).iter().filter(|&&at| is_in[at as usize]).map(|&at| index.terms[at as usize]));
        if items.len() > start {
            rows.push((start, items.len()));
        }
    }
    rows.sort_unstable_by(|a, b| items[a.0..a.1].cmp(&items[b.0..b.1]));
    for equal in rows.chunk_by(|a, b| items[a.0..a.1] == items[b.0..b.1]) {
        chunk.push(&items[equal[0].0..equal[0].1], equal.len() as u32);
    }
    chunk
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chance_is_that_of_the_law_of_poisson() {
        for (k, mean) in [(2, 0.5), (5, 1.0), (5, 4.0), (10, 30.0)] {
            let mut weight = f64::exp(-mean);
            let mut few = 0.0;
            for h in 1..k {
                weight *= mean / f64::from(h);
                few += weight;
            }
            assert!((chance_of_few(k, mean) - few).abs() < 1e-12, "{k} {mean}");
        }
        assert!(chance_of_few(5, 1e9) == 0.0 && chance_of_few(5, 59.0) < 1e-9);
    }

    #[test]
    fn sets_of_three_count_where_the_adversary_knows_three() {
        // Pairs meet in 32 records, three terms in 6.
        assert!(is_offered(1_000, (5, 2), 180, &[180, 180], 0.1));
        assert!(!is_offered(1_000, (5, 3), 180, &[180, 180], 0.1));
        assert!(is_offered(1_000, (5, 1), 5, &[200, 5], 0.0));
    }

    #[test]
    fn as_many_chunks_are_kept_as_leave_room() {
        // m = 2: two parts meet, and k rows are needed besides.
        assert_eq!(n_kept(7, true, 5, (5, 2)), 7);
        assert_eq!(n_kept(7, true, 4, (5, 2)), 0);
        assert_eq!(n_kept(7, false, 4, (5, 2)), 1);
        assert_eq!(n_kept(7, true, 0, (5, 2)), 7);
        assert_eq!(n_kept(7, true, 9, (5, 3)), 1);
        assert_eq!(n_kept(7, true, 10, (5, 3)), 7);
        assert_eq!(n_kept(7, true, 1, (5, 1)), 7);
    }

    #[test]
    fn dense_records_are_not_counted_for_ever() {
        assert!(is_within_reason(&[300; 20], 300, 300, 4));
        assert!(!is_within_reason(&[300; 100], 300, 300, 4));
        assert!(!is_within_reason(&[300; 500], 300, 300, 2));
    }
}
