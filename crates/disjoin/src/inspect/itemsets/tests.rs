//! Mining against the definition.

use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;

fn transactions(records: impl IntoIterator<Item = Vec<TermId>>) -> Transactions {
    let mut transactions = Transactions::default();
    for mut record in records {
        transactions.push(&mut record);
    }
    transactions
}

/// Counts every subset of every record, and sorts them.
fn by_definition(records: &Transactions, mining: &Mining<'_>) -> Vec<Itemset> {
    let mut counts: BTreeMap<Vec<TermId>, u32> = BTreeMap::new();
    for record in records.iter() {
        for subset in 1_u32..1 << record.len() {
            let terms = (0..record.len()).filter(|i| subset >> i & 1 == 1).map(|i| record[i]).collect();
            *counts.entry(terms).or_default() += 1;
        }
    }
    let is_allowed = |terms: &[TermId]| {
        let excludes = |a, b| mining.excludes.is_some_and(|excludes| excludes(a, b));
        (mining.min_length..=mining.max_length).contains(&terms.len())
            && !terms.iter().any(|&a| terms.iter().any(|&b| a != b && excludes(a, b)))
    };
    let mut all: Vec<Itemset> = counts.into_iter().map(|(terms, support)| Itemset { terms, support }).collect();
    all.retain(|itemset| is_allowed(&itemset.terms));
    // Terms are in order already, and the sort is stable.
    all.sort_by_key(|itemset| (std::cmp::Reverse(itemset.support), itemset.terms.len()));
    all.truncate(mining.k);
    all
}

fn pool(n_threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().expect("a few threads can be had")
}

fn check(records: &Transactions, n_terms: usize, mining: &Mining<'_>, pools: &[rayon::ThreadPool]) {
    let expected = by_definition(records, mining);
    for pool in pools {
        let (k, least, most) = (mining.k, mining.min_length, mining.max_length);
        let found = pool.install(|| top_k(records, n_terms, mining));
        assert_eq!(found, expected, "{records:?} k={k} length={least}..={most} threads={}", pool.current_num_threads());
    }
}

#[test]
fn the_best_are_those_by_definition() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let pools = [pool(1), pool(3)];
    for _ in 0..3000 {
        let n_terms: u32 = rng.random_range(1..11);
        let n_records = if rng.random_bool(0.1) { rng.random_range(60..200) } else { rng.random_range(0..20) };
        let density = rng.random_range(0.05..1.0);
        // Terms of different frequency, in an order other than that of their ids.
        let skew: Vec<f64> = (0..n_terms).map(|_| rng.random_range(0.3..1.0)).collect();
        let records = transactions(
            (0..n_records)
                .map(|_| (0..n_terms).filter(|&t| rng.random_bool(density * skew[t as usize])).collect::<Vec<_>>()),
        );
        let parents: Vec<u32> = (0..n_terms).map(|_| rng.random_range(0..n_terms)).collect();
        let excludes = |item: TermId, ancestor: TermId| parents[item as usize] == ancestor;
        let min_length = if rng.random_bool(0.5) { 1 } else { rng.random_range(1..6) };
        let mining = Mining {
            k: if rng.random_bool(0.3) { rng.random_range(0..2000) } else { rng.random_range(0..40) },
            min_length,
            max_length: if rng.random_bool(0.5) { usize::MAX } else { rng.random_range(1..7) },
            excludes: if rng.random_bool(0.3) { Some(&excludes) } else { None },
            observer: &crate::observer::Unobserved,
        };
        check(&records, n_terms as usize, &mining, &pools);
    }
}

/// More terms than the first matrix has, so that pairs are counted again, and some found while growing.
#[test]
fn many_terms_of_small_support() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let pools = [pool(1), pool(3)];
    for n_terms in [200, 6000] {
        for k in [1, 50, 700, 5000, 50_000] {
            let records = transactions((0..4000).map(|_| {
                let length = rng.random_range(1..7);
                (0..length).map(|_| (rng.random::<f64>().powi(2) * f64::from(n_terms)) as TermId).collect()
            }));
            let excludes = |a: TermId, b: TermId| a / 2 == b / 2;
            for (min_length, max_length) in [(1, usize::MAX), (2, 3), (3, usize::MAX), (2, 2)] {
                let excludes: Option<&(dyn Fn(TermId, TermId) -> bool + Sync)> =
                    if min_length == 2 { Some(&excludes) } else { None };
                let mining = Mining { k, min_length, max_length, excludes, observer: &crate::observer::Unobserved };
                check(&records, n_terms as usize, &mining, &pools);
            }
        }
    }
}

/// Enough records for several threads to have a part each, and frequent terms as well as rare ones.
#[test]
fn many_records() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let records = transactions((0..30_000).map(|_| {
        let length = rng.random_range(1..8);
        (0..length).map(|_| (rng.random::<f64>().powi(3) * 80.0) as TermId).collect()
    }));
    let pools = [pool(1), pool(3)];
    for (k, min_length) in [(100, 1), (3000, 1), (500, 3)] {
        check(&records, 80, &Mining { min_length, ..Mining::top(k) }, &pools);
    }
}

/// All sets of `length` of the terms below `n`, in order.
fn combinations(length: usize, n: TermId) -> impl Iterator<Item = Vec<TermId>> {
    std::iter::successors(Some((0..length as TermId).collect()), move |last: &Vec<TermId>| {
        let i = (0..length).rfind(|&i| last[i] < n - (length - i) as TermId)?;
        Some(last[..i].iter().copied().chain(last[i] + 1..).take(length).collect())
    })
}

/// Records that are all equal have 2^60 itemsets of one support: only the rule for ties can tell them apart.
#[test]
fn equal_records_of_many_terms() {
    let records = transactions((0..100).map(|_| (0..60).collect()));
    for (k, min_length) in [(1000, 1), (300, 3), (300, 30), (300, 58), (7, 60)] {
        let found = top_k(&records, 60, &Mining { min_length, ..Mining::top(k) });
        let expected: Vec<_> = (min_length..=60).flat_map(|length| combinations(length, 60)).take(k).collect();
        assert_eq!(found.len(), expected.len());
        assert!(found.iter().zip(expected).all(|(found, terms)| found.support == 100 && found.terms == terms));
    }
    assert_eq!(top_k(&records, 60, &Mining::top(50_000)).len(), 50_000);
}

#[test]
fn a_record_of_thousands_of_terms() {
    let records = transactions([(0..3000).collect(), (0..5000).step_by(2).collect(), vec![7, 4]]);
    for min_length in [1, 2, 3, 4] {
        let found = top_k(&records, 5000, &Mining { min_length, ..Mining::top(500) });
        assert_eq!(found.len(), 500);
        assert_eq!(found[0].support, if min_length == 1 { 3 } else { 2 });
        assert!(found.iter().skip(1).all(|itemset| itemset.support == 2 && itemset.terms.len() == min_length));
    }
}

#[test]
fn nothing_to_find() {
    let empty = Transactions::default();
    assert!(top_k(&empty, 0, &Mining::top(10)).is_empty());
    assert!(top_k(&empty, 5, &Mining::top(10)).is_empty());
    let records = transactions([vec![1, 2]]);
    assert!(top_k(&records, 3, &Mining::top(0)).is_empty());
    assert!(top_k(&records, 3, &Mining { min_length: 3, ..Mining::top(10) }).is_empty());
    assert!(top_k(&records, 3, &Mining { min_length: 2, max_length: 1, ..Mining::top(10) }).is_empty());
    assert_eq!(top_k(&records, 3, &Mining::top(usize::MAX)).len(), 3);
}

/// Supports may be expectations.
#[test]
fn the_best_of_expected_supports() {
    let mut best = Best::new(3);
    for (support, terms) in [(0.5, vec![1]), (2.5, vec![3, 4]), (2.5, vec![7]), (2.5, vec![3, 5]), (2.25, vec![2])] {
        best.offer(support, &terms);
    }
    let kept: Vec<_> = best.into_sorted().into_iter().map(|itemset| (itemset.support, itemset.terms)).collect();
    assert_eq!(kept, [(2.5, vec![7]), (2.5, vec![3, 4]), (2.5, vec![3, 5])]);
}
