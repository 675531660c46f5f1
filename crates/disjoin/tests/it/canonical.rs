//! What is published is a function of the bag of records: neither the order of lines nor the order in which terms are met matters.

use disjoin::data::{Dataset, Interest};
use disjoin::protect::disassociation::{Grouping, Params, disassociate};
use disjoin::release::jsonl;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

fn published(rows: &[Vec<String>], params: &Params, sensitive: &[&str], heavy: &[&str]) -> Vec<u8> {
    let data = Dataset::from_texts(rows);
    let ids = |texts: &[&str]| -> Vec<u32> { texts.iter().filter_map(|text| data.dictionary.get(text)).collect() };
    let weights = ids(heavy).into_iter().map(|term| (term, 3.0)).collect();
    let interest = Interest { weights, ..Interest::default() };
    let params = Params { sensitive: ids(sensitive), interest, ..params.clone() };
    let outcome = disassociate(&data, &params).unwrap();
    // Each record is where its content says.
    assert_eq!(outcome.leaf_of.len(), rows.len());
    let mut text = Vec::new();
    jsonl::write(&outcome.release, &mut text).unwrap();
    text
}

#[test]
fn shuffled_lines_are_published_alike() {
    (0..10_000_u64).into_par_iter().for_each(|seed| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (n_records, n_terms) = (rng.random_range(6..40), rng.random_range(2..12));
        let share = rng.random_range(0.1..0.6);
        let mut record = |_| {
            let mut record: Vec<String> =
                (0..n_terms).filter(|_| rng.random_bool(share)).map(|t| format!("t{t}")).collect();
            if record.is_empty() {
                record.push("t0".into());
            }
            record
        };
        let rows: Vec<Vec<String>> = (0..n_records).map(&mut record).collect();
        let mut shuffled = rows.clone();
        shuffled.shuffle(&mut rng);
        shuffled.iter_mut().for_each(|record| record.shuffle(&mut rng));
        let (k, m) = (rng.random_range(2..4), rng.random_range(1..4));
        let guarded = Params { grouping: Grouping::Guarded, max_cluster: 3 * k, ..Params::new(k, m) };
        let sensitive: &[&str] = if rng.random_bool(0.2) { &["t1"] } else { &[] };
        for params in [Params::paper(k, m), Params::new(k, m), guarded] {
            let heavy: &[&str] =
                if params.grouping != Grouping::Guarded && rng.random_bool(0.2) { &["t2"] } else { &[] };
            let of = |rows: &[Vec<String>]| published(rows, &params, sensitive, heavy);
            assert_eq!(of(&rows), of(&shuffled), "{seed} {:?}", params.grouping);
        }
    });
}
