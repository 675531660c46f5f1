//! Sets inside the classes of a table: every class keeps the promise of disassociation by itself.

use disjoin::data::table::{Column, Role, Sets, Table};
use disjoin::data::{Dataset, Partition};
use disjoin::protect::disassociation::Params as SetParams;
use disjoin::protect::tabular::{Method, Params, anonymize};
use disjoin::protect::within::disassociate_within;
use disjoin::release::claim::{Claim, Parameters};
use disjoin::release::class_sets;
use disjoin::release::generalized::Generalized;
use disjoin::release::open::InMemory;
use disjoin::release::privacy_models::Criterion;
use disjoin::release::{CutRule, Disassociated, Header, Node, Promise};
use disjoin::verify::{Truth, verify};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn random_table(rng: &mut ChaCha8Rng) -> Table {
    let n = rng.random_range(6..60);
    let ages: Vec<Option<f64>> = (0..n).map(|_| Some(f64::from(rng.random_range(20..30)))).collect();
    let mut data = Dataset::default();
    let mut of_row = Vec::new();
    for _ in 0..n {
        let length = rng.random_range(0..5);
        let mut terms: Vec<u32> =
            (0..length).map(|_| data.dictionary.intern(&format!("t{}", rng.random_range(0..7)))).collect();
        of_row.push((!terms.is_empty()).then(|| data.records.len() as u32));
        data.records.push(&mut terms);
    }
    let sets = Sets { name: "codes".into(), dictionary: data.dictionary, records: data.records, of_row };
    Table::new(n, vec![Column::numbers("age", Role::Quasi, ages)], Some(sets))
}

/// The sets of some rows, as a dataset.
fn sets_of(table: &Table, rows: &[u32]) -> Dataset {
    let sets = table.sets.as_ref().unwrap();
    let texts = |&row: &u32| {
        let record = sets.of_row[row as usize].map(|record| sets.records.record(record)).unwrap_or_default();
        record.iter().map(|&term| sets.dictionary.text(term).to_owned()).collect::<Vec<_>>()
    };
    Dataset::from_texts(rows.iter().map(texts).filter(|record| !record.is_empty()))
}

#[test]
fn every_class_keeps_the_promise_by_itself() {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let mut with_sets = 0;
    for round in 0..300 {
        let table = random_table(&mut rng);
        let k = rng.random_range(2..4);
        let methods = [Method::LeastLoss, Method::Mondrian, Method::Mdav, Method::Hilbert];
        let criteria = vec![Criterion::KAnonymity { k }];
        let params = Params { method: methods[round % 4], criteria, most_removed: 0.5, seed: 1 };
        let Ok(partition) = anonymize(&table, &params, None) else { continue };
        let ordered = Generalized::new(&table, &partition).partition();
        let set_params = SetParams { algorithm_aware: round % 2 == 0, ..SetParams::new(k, 2) };
        let made = disassociate_within(table.sets.as_ref().unwrap(), &ordered, &set_params).unwrap();

        let parameters = Parameters {
            k,
            m: 2,
            max_cluster: set_params.max_cluster,
            refine: true,
            cut: if set_params.algorithm_aware { CutRule::Weighed } else { CutRule::Greedy },
            sensitive: None,
        };
        let promise = if set_params.algorithm_aware { Promise::AlgorithmAware } else { Promise::Published };
        for (class, rows) in ordered.classes().enumerate() {
            let of_class = |(root, &of): (&Node, &u32)| (of as usize == class).then(|| root.clone());
            let roots: Vec<Node> = made.release.roots.iter().zip(&made.class_of_root).filter_map(of_class).collect();
            let original = sets_of(&table, rows);
            assert_eq!(roots.iter().map(Node::size).sum::<u64>(), original.records.len() as u64);
            if original.records.is_empty() {
                continue;
            }
            with_sets += 1;
            assert!(original.records.len() >= k as usize, "a class with fewer than k sets");
            let records = original.records.len() as u64;
            let header = Header { k, m: 2, records, occurrences: None };
            let release = Disassociated { header, dictionary: made.release.dictionary.clone(), roots };
            let claim = Claim::disassociation(parameters.clone(), promise, records);
            let truth = Truth { original: &original, leaf_of: None };
            let verdict = verify(&claim, InMemory::new(&release), Some(truth)).unwrap();
            assert!(verdict.holds, "round {round}: {:?}", verdict.findings);
        }
    }
    assert!(with_sets > 500, "{with_sets}");
}

#[test]
fn sizes_are_read_back_by_class() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let table = random_table(&mut rng);
    let mut partition = Partition::default();
    partition.push(&(0..table.n_rows() as u32).collect::<Vec<_>>());
    let made = disassociate_within(table.sets.as_ref().unwrap(), &partition, &SetParams::new(2, 2)).unwrap();
    let mut text = Vec::new();
    class_sets::write(&made, &mut text).unwrap();
    let sizes = class_sets::sizes(&text[..], "sets.jsonl").unwrap();
    assert_eq!(sizes, [(1, made.release.header.records)]);
    // The same lines are disassociated data for whoever does not know classes.
    let read = disjoin::release::jsonl::read(&text[..], "sets.jsonl").unwrap();
    assert_eq!(read.roots.len(), made.release.roots.len());
}
