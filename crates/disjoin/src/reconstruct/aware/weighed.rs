//! Data-independent assignment of terms to chunks: a term is offered to a chunk only where, by what will be published anyway, it is
//! likely to be let in.
//!
//! The paper offers every term to every chunk. So a term of a later chunk was refused by all earlier ones, and a reader
//! concludes from each refusal that fewer than k records hold some terms together. Here a term is offered to the first
//! chunk that is likely to take it; if that one refuses it, it goes to the term chunk, among the rare ones. Then a
//! term of a record chunk was refused by none, and there is nothing to conclude: which chunk a term was offered to follows
//! from the number of records, from its support and from the rows of the terms that the chunk had before.
//!
//! Whether a term x is let in is guessed as if its records lay anywhere among the s of the cluster: the number that
//! x shares with a term y is hypergeometric, and x is refused if it is one of 1, ..., k - 1 for some y. Terms of the chunk that
//! are in the same rows are asked once. How good the guess is matters for utility only.
//!
//! Why nobody is disclosed. Take any world of a published cluster (reading I0) in which each term of the term chunk is in
//! one record at least and in fewer than k. The same terms are frequent there, with the same supports, so they are
//! offered in the same order; each is offered to the same chunk, because the chunks have the same rows; and it is let in,
//! because the chunk is k^m-anonymous as published. So this world is cut as published. What is left to show is that
//! among these worlds there is one in which k records hold the terms in question: h chunks meet in k records, all other
//! subrecords lie in records of their own, and sum |C_i| - k (h - 1) records have something. The term chunk must fill the
//! rest, with fewer than k records each.
//!
//! A refused term may be known not to be rare, by a chunk that clusters share. How clusters came to share chunks is not
//! reckoned back (see THREAT_MODEL.md); and where one such term is known, it stands in nobody's way: it was offered to one
//! chunk, so let its records stay with the rows of that chunk, where it is refused again, and let the others lie as they like.
//!
//! Paper:      ours, against barakat2016 (cover problem); Lemma 2 of terrovitis2012 with k - 1 records for each rare term
//! Promises:   `analyse` finds exactly the itemsets that fewer than k records hold in all worlds cut as published, though
//!             some hold them
//! Assumes:    what the cluster's term chunk and the shared chunks can fill is given (`fill`)
//! Departs:    probabilities are sums and products only, without logarithms: the same bits on every machine
//! Cost:       O(min(s(x), s(y))) for each pair of terms that is weighed
//! Checked by: tests/it/aware.rs: all worlds of small clusters are cut again

use super::cut::Cut;
use std::collections::HashSet;

use super::{Analysis, Breach, Learned, itemsets, left_open};

/// A term is offered where it is let in with this probability at least. Found by trial: between 0.3 and 0.5 hardly
/// anything changes; below, terms are lost to term chunks, above, chunks fall apart.
const LIKELY: f64 = 0.4;

/// A cluster that takes more steps to look at is left open: no method makes such ones.
const STEPS: u64 = 200_000_000;

/// Whether a term of `support` records is offered to a chunk, given the supports of its terms so far, in the order in which
/// they came; of those that are in the same rows, only one.
pub fn is_offered(size: u32, k: u32, support: u32, others: impl IntoIterator<Item = u32>) -> bool {
    is_offered_within(size, k, support, others, &mut u64::MAX.clone())
}

/// The same, if so many steps suffice; none is left if they do not.
fn is_offered_within(size: u32, k: u32, support: u32, others: impl IntoIterator<Item = u32>, steps: &mut u64) -> bool {
    let mut let_in = 1.0;
    others.into_iter().all(|other| {
        let_in *= 1.0 - chance_of_few(size, k, support, other, steps);
        let_in >= LIKELY && *steps > 0
    })
}

/// The probability that two terms of `a` and `b` among n records share one record at least and fewer than k.
///
/// P[h] is proportional to w(h) with w(h + 1) / w(h) = (a - h)(b - h) / ((h + 1)(n - a - b + h + 1)).
fn chance_of_few(n: u32, k: u32, a: u32, b: u32, steps: &mut u64) -> f64 {
    /// Weights are scaled down before they overflow.
    const LARGE: f64 = 1e200;
    *steps = steps.saturating_sub(1);
    let least = (u64::from(a) + u64::from(b)).saturating_sub(n.into());
    let Some(least) = u32::try_from(least).ok().filter(|&least| least < k) else { return 0.0 };
    let free = f64::from(n) + 1.0 - f64::from(a) - f64::from(b);
    let (mut weight, mut few, mut all) = (1.0, 0.0, 0.0);
    for h in least..=a.min(b) {
        all += weight;
        if 0 < h && h < k {
            few += weight;
        }
        let ratio = f64::from(a - h) * f64::from(b - h) / ((f64::from(h) + 1.0) * (free + f64::from(h)));
        weight *= ratio;
        if weight > LARGE {
            (weight, few, all) = (weight / LARGE, few / LARGE, all / LARGE);
        }
        // Ratios fall. From here on no bit changes, however large the cluster is.
        *steps = steps.saturating_sub(1);
        if *steps == 0 || h >= k && (few == 0.0 || (ratio < 1.0 && all + weight == all)) {
            break;
        }
    }
    few / all
}

/// The analysis of a cluster that was cut so.
pub(super) fn analyse(cut: &Cut) -> Analysis {
    let found = itemsets(cut, cut.m);
    let mut analysis = Analysis { itemsets: found.sets.len() as u64, ..Analysis::default() };
    let subrecords: u64 = cut.chunks.iter().flat_map(|chunk| &chunk.rows).map(|(_, count)| u64::from(*count)).sum();
    // Whether some world has `times` records in which subrecords of h chunks meet.
    let can_meet = |h: u64, times: u32| {
        subrecords + u64::from(cut.fill) >= u64::from(cut.size) + u64::from(times) * h.saturating_sub(1)
    };
    let mut steps = STEPS;
    analysis.contradiction = !can_meet(1, cut.k) || !is_cut_so(cut, &mut steps);
    if steps == 0 {
        return left_open(cut);
    }
    let most_chunks = u64::from(cut.m).min(cut.chunks.len() as u64);
    if analysis.contradiction || can_meet(most_chunks, cut.k) {
        return analysis;
    }
    if !found.are_all() {
        return left_open(cut);
    }
    let mut learned = Learned::default();
    for set in found.sets {
        let mut chunks: Vec<u32> = set.iter().map(|&term| cut.chunk_of[term as usize]).collect();
        chunks.sort_unstable();
        chunks.dedup();
        let h = chunks.len() as u64;
        if !can_meet(h, cut.k) && can_meet(h, 1) {
            analysis.breaches.push(Breach::new(cut, &set, false, &mut learned));
        }
    }
    analysis.breaches.sort_unstable_by(|a, b| a.terms.cmp(&b.terms));
    analysis
}

/// Whether every term of a record chunk was likely to be let in there, and into no earlier one: otherwise it would be
/// elsewhere, or in the term chunk.
fn is_cut_so(cut: &Cut, steps: &mut u64) -> bool {
    let is_first_of_its_rows = first_of_their_rows(cut);
    let mut is_offered = |x: u32, chunk: u32| {
        let others = cut.tried_with(x, chunk).iter().filter(|&&y| is_first_of_its_rows[y as usize]);
        let supports = others.map(|&y| cut.supports[y as usize]);
        is_offered_within(cut.size, cut.k, cut.supports[x as usize], supports, steps)
    };
    cut.refusals().all(|(x, earlier)| !is_offered(x, earlier))
        && (0..).zip(&cut.chunk_of).all(|(x, &own)| is_offered(x, own))
}

/// For each term, whether no term before it is in the same rows.
fn first_of_their_rows(cut: &Cut) -> Vec<bool> {
    let mut rows_of: Vec<Vec<u32>> = vec![Vec::new(); cut.terms.len()];
    for chunk in &cut.chunks {
        for ((terms, _), row) in chunk.rows.iter().zip(0..) {
            terms.iter().for_each(|&term| rows_of[term as usize].push(row));
        }
    }
    let mut is_first = vec![true; cut.terms.len()];
    for chunk in &cut.chunks {
        let mut met: HashSet<&[u32]> = HashSet::new();
        chunk.terms.iter().for_each(|&term| is_first[term as usize] = met.insert(&rows_of[term as usize]));
    }
    is_first
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(n: u32, r: u32) -> f64 {
        (0..r).map(|i| f64::from(n - i) / f64::from(i + 1)).product()
    }

    #[test]
    fn the_chance_is_that_of_the_hypergeometric_law() {
        for n in 2..40 {
            for (a, b) in (1..=n).flat_map(|a| (1..=n).map(move |b| (a, b))) {
                for k in 2..6 {
                    let meet = |h: u32| choose(a, h) * choose(n - a, b - h) / choose(n, b);
                    let few = (1..k).filter(|&h| h <= a.min(b) && b - h <= n - a);
                    let expected: f64 = few.map(meet).sum();
                    let found = chance_of_few(n, k, a, b, &mut u64::MAX.clone());
                    assert!((found - expected).abs() < 1e-9, "{n} {k} {a} {b}: {found} {expected}");
                }
            }
        }
    }

    #[test]
    fn large_clusters_do_not_overflow() {
        let few = chance_of_few(100_000, 5, 40_000, 50_000, &mut u64::MAX.clone());
        assert!((0.0..1e-9).contains(&few));
        assert!(is_offered(100_000, 5, 40_000, [50_000, 60_000]));
    }

    #[test]
    fn clusters_that_no_machine_holds_take_few_steps() {
        let half = 1 << 31;
        for (n, a, b) in
            [(u32::MAX, half, half), (u32::MAX, u32::MAX, u32::MAX), (5, u32::MAX, 3), (u32::MAX, 1 << 17, 1 << 17)]
        {
            let mut steps = 10_000_000;
            let few = chance_of_few(n, 5, a, b, &mut steps);
            assert!(steps > 0 && (few.is_nan() || (0.0..=1.0).contains(&few)), "{n} {a} {b}: {few}");
        }
    }

    #[test]
    fn terms_that_nearly_all_records_hold_are_offered_and_middling_ones_are_not() {
        assert!(is_offered(30, 5, 28, [30, 29]));
        assert!(!is_offered(30, 5, 10, [10]));
        assert!(is_offered(30, 5, 10, []));
    }
}
