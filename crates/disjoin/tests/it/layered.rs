//! The layered grouping on data in which it applies: the promise is proved from the release, the total is told, supports of
//! common terms are kept, and the release does not depend on threads.

use disjoin::data::{Dataset, TermId, itemset_supports};
use disjoin::protect::disassociation::{Grouping, Params, disassociate};
use disjoin::reconstruct::{Model, estimate};
use disjoin::release::claim::Parameters;
use disjoin::release::open::InMemory;
use disjoin::release::{Claim, Node, Promise};
use disjoin::verify::{Truth, verify};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Thirty frequent terms, and ten others of which one record in seven has one or two.
fn baskets(seed: u64) -> Dataset {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let record = |_| {
        let mut record: Vec<String> =
            (0..30).filter(|_| rng.random_bool(0.35)).map(|t| format!("common {t}")).collect();
        let topic = rng.random_range(0..2);
        let n_rare = if rng.random_bool(0.15) { rng.random_range(1..=2) } else { 0 };
        for _ in 0..n_rare {
            record.push(format!("rare {}", 5 * topic + rng.random_range(0..5)));
        }
        if record.is_empty() {
            record.push("common 0".into());
        }
        record
    };
    Dataset::from_texts((0..3_000).map(record).collect::<Vec<_>>())
}

#[test]
fn layered_releases_keep_promise_and_counts() {
    let mut n_told = 0;
    for (seed, k, m) in [(1, 3, 2), (2, 5, 2), (3, 3, 3)] {
        let data = baskets(seed);
        let params = Params { grouping: Grouping::Layered, algorithm_aware: true, ..Params::paper(k, m) };
        let outcome = disassociate(&data, &params).unwrap();
        let release = &outcome.release;
        let joint = release.roots.iter().find_map(|root| match root {
            Node::Joint(joint) if joint.members.len() > 2 => Some(joint),
            _ => None,
        });
        assert!(joint.is_some_and(|joint| joint.shared_chunks[0].terms.len() >= 20), "no common chunk");
        // With a small k, or few rare terms, the total may leave too little room to be told.
        let told = release.header.occurrences;
        assert!(told.is_none_or(|told| told == data.records.n_incidences() as u64));
        n_told += u32::from(told.is_some());

        let &Params { max_cluster, refine, .. } = &params;
        let parameters = Parameters { k, m, max_cluster, refine, cut: params.cut_rule(), sensitive: None };
        let claim = Claim::disassociation(parameters, Promise::AlgorithmAware, release.header.records);
        let truth = Truth { original: &data, leaf_of: Some(&outcome.leaf_of) };
        let verdict = verify(&claim, InMemory::new(release), Some(truth)).unwrap();
        assert!(verdict.holds, "{:?}", verdict.findings);

        let model = Model::new(release).unwrap();
        for (a, b) in (0..6).flat_map(|a| (a + 1..6).map(move |b| (a, b))) {
            let texts = [format!("common {a}"), format!("common {b}")];
            let ids = |dictionary: &disjoin::data::Dictionary| -> Vec<TermId> {
                let mut ids: Vec<TermId> = texts.iter().filter_map(|text| dictionary.get(text)).collect();
                ids.sort_unstable();
                ids
            };
            let actual = itemset_supports(&data.records, data.n_terms(), &[&ids(&data.dictionary)])[0];
            let estimate = estimate(&model, &ids(&release.dictionary));
            let (lower, upper) = (estimate.lower, estimate.upper);
            assert!(lower <= u64::from(actual) && u64::from(actual) <= upper);
            // Only local records, which are few, leave anything open.
            assert!((estimate.expected - f64::from(actual)).abs() <= 0.02 * f64::from(actual), "{actual} {estimate:?}");
        }
    }
    assert!(n_told > 0, "no total was told");
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let data = baskets(4);
    let params = Params { grouping: Grouping::Layered, algorithm_aware: true, ..Params::paper(5, 2) };
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| disassociate(&data, &params).unwrap())
    };
    let (one, three) = (with(1), with(3));
    assert_eq!(one.release.roots, three.release.roots);
    assert_eq!(one.leaf_of, three.leaf_of);
}
