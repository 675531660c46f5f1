//! What suppression leaves, with every itemset counted.

use std::collections::BTreeMap;

use disjoin::Unobserved;
use disjoin::data::{TermId, Transactions};
use disjoin::protect::recoding::{suppress, suppress_partially};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The support of every set of at most m terms that any record has.
fn itemsets(records: &Transactions, m: u32) -> BTreeMap<Vec<TermId>, u32> {
    let mut supports = BTreeMap::new();
    for record in records.iter() {
        for mask in (1_u32..1 << record.len()).filter(|mask| mask.count_ones() <= m) {
            let set = record.iter().zip(0..).filter(|(_, at)| mask >> at & 1 == 1).map(|(&term, _)| term).collect();
            *supports.entry(set).or_insert(0) += 1;
        }
    }
    supports
}

#[test]
fn what_is_left_is_anonymous() {
    let mut rng = ChaCha8Rng::seed_from_u64(21);
    let (mut kept_all, mut kept_partly) = (0, 0);
    for round in 0..1000 {
        let n_terms = rng.random_range(1..=9);
        let density = rng.random_range(0.1..0.9);
        let mut records = Transactions::default();
        for _ in 0..rng.random_range(0..40) {
            records.push(&mut (0..n_terms as TermId).filter(|_| rng.random_bool(density)).collect());
        }
        let (k, m) = (rng.random_range(2..6), rng.random_range(1..4));
        let is_fine = |records: &Transactions| itemsets(records, m).values().all(|&support| support >= k);

        let all = suppress(&records, n_terms, k, m, &Unobserved).unwrap();
        let left = all.recoding.apply(&records);
        assert!(is_fine(&left), "round {round}");
        assert!(all.recoding.groups().iter().all(|group| group.len() == 1));
        assert_eq!(all.stats.occurrences_gone as usize, records.n_incidences() - left.n_incidences());
        assert_eq!(all.stats.records_gone as usize, records.len() - left.len());
        assert_eq!(all.stats.terms_gone as usize, all.recoding.suppressed().count());

        let part = suppress_partially(&records, n_terms, k, m, &Unobserved).unwrap();
        assert!(is_fine(&part.records), "round {round}");
        assert_eq!(part.stats.occurrences_gone as usize, records.n_incidences() - part.records.n_incidences());
        // Records only lose terms: in order, each is part of one of the original.
        let mut originals = records.iter();
        for rest in part.records.iter() {
            assert!(originals.any(|record| rest.iter().all(|term| record.contains(term))));
        }
        if is_fine(&records) {
            assert_eq!((left, &part.records), (records.clone(), &records));
        }
        kept_all += records.n_incidences() as u64 - all.stats.occurrences_gone;
        kept_partly += records.n_incidences() as u64 - part.stats.occurrences_gone;
    }
    println!("occurrences kept: {kept_all} everywhere, {kept_partly} partially");
    assert!(kept_partly > kept_all);
}

#[test]
fn threads_do_not_show() {
    let mut rng = ChaCha8Rng::seed_from_u64(22);
    let mut records = Transactions::default();
    for _ in 0..500 {
        records.push(&mut (0..30).filter(|_| rng.random_bool(0.2)).collect());
    }
    let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    for m in 1..4 {
        assert_eq!(
            one_thread.install(|| suppress(&records, 30, 4, m, &Unobserved)).unwrap(),
            suppress(&records, 30, 4, m, &Unobserved).unwrap()
        );
        let part = one_thread.install(|| suppress_partially(&records, 30, 4, m, &Unobserved)).unwrap();
        assert_eq!(part, suppress_partially(&records, 30, 4, m, &Unobserved).unwrap());
    }
}
