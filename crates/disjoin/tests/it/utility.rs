//! What matters most: utility sets and weights change how records are grouped, and nothing that is promised; how much is kept
//! is what counting pair by pair says.

use disjoin::data::{Dataset, Interest, TermId};
use disjoin::measure::{Kept, Options, measure};
use disjoin::protect::disassociation::{Grouping, Outcome, Params, disassociate};
use disjoin::release::claim::Parameters;
use disjoin::release::open::InMemory;
use disjoin::release::{Chunk, Claim, Node, Promise};
use disjoin::verify::{Truth, verify};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Baskets of 60 terms; "x0", "x1", "x2" go together in one record of sixteen, whatever else is there.
fn baskets(seed: u64) -> Dataset {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let record = |_| {
        let length = rng.random_range(1..6);
        let mut record: Vec<String> =
            (0..length).map(|_| format!("t{}", rng.random_range(0..60_u32).min(rng.random_range(0..60)))).collect();
        if rng.random_bool(0.06) {
            record.extend((0..3).filter(|_| rng.random_bool(0.8)).map(|i| format!("x{i}")));
        }
        record
    };
    Dataset::from_texts((0..2_000).map(record).collect::<Vec<_>>())
}

fn ids(data: &Dataset, texts: &[&str]) -> Vec<TermId> {
    let mut ids: Vec<TermId> = texts.iter().map(|text| data.dictionary.get(text).unwrap()).collect();
    ids.sort_unstable();
    ids
}

/// Protects, proves the promise, and measures.
fn kept(data: &Dataset, params: &Params, interest: &Interest) -> (Outcome, Option<Kept>) {
    let outcome = disassociate(data, params).unwrap();
    let &Params { k, m, max_cluster, refine, .. } = params;
    let parameters = Parameters { k, m, max_cluster, refine, cut: params.cut_rule(), sensitive: None };
    let claim = Claim::disassociation(parameters, Promise::AlgorithmAware, outcome.release.header.records);
    let truth = Truth { original: data, leaf_of: Some(&outcome.leaf_of) };
    let verdict = verify(&claim, InMemory::new(&outcome.release), Some(truth)).unwrap();
    assert!(verdict.holds, "{:?}", verdict.findings);
    let options = Options { interest: Some(interest), queries: 1, reconstructions: 1, top: 10, ..Options::default() };
    let report = measure(&mut InMemory::new(&outcome.release), data, &options).unwrap();
    (outcome, report.kept)
}

/// All chunks of a release with their terms as texts, each subrecord as often as it occurs.
fn subrecords(outcome: &Outcome) -> Vec<Vec<&str>> {
    fn chunks<'r>(node: &'r Node, all: &mut Vec<&'r Chunk>) {
        match node {
            Node::Simple(simple) => all.extend(&simple.record_chunks),
            Node::Joint(joint) => {
                all.extend(&joint.shared_chunks);
                joint.members.iter().for_each(|member| chunks(member, all));
            }
        }
    }
    let mut all = Vec::new();
    outcome.release.roots.iter().for_each(|root| chunks(root, &mut all));
    let texts = |terms: &[TermId]| terms.iter().map(|&t| outcome.release.dictionary.text(t)).collect::<Vec<_>>();
    all.iter()
        .flat_map(|chunk| chunk.subrecords())
        .flat_map(|(terms, count)| std::iter::repeat_n(texts(terms), count as usize))
        .collect()
}

#[test]
fn what_is_kept_is_what_counting_pair_by_pair_says() {
    for (seed, grouping) in [(1, Grouping::Layered), (2, Grouping::Paper), (3, Grouping::Layered)] {
        let data = baskets(seed);
        let sets = vec![ids(&data, &["x0", "x1", "x2", "t0"]), ids(&data, &["t9"]), ids(&data, &["t1", "t2"])];
        let interest = Interest { sets, weights: vec![(0, 3.0), (1, 0.0), (2, 0.5)] };
        let params = Params { grouping, algorithm_aware: true, interest: interest.clone(), ..Params::paper(4, 2) };
        let (outcome, kept) = kept(&data, &params, &interest);
        let kept = kept.unwrap();
        let released = subrecords(&outcome);
        let text = |t: TermId| data.dictionary.text(t);
        let original: Vec<Vec<&str>> = data.records.iter().map(|r| r.iter().map(|&t| text(t)).collect()).collect();
        let together = |rows: &[Vec<&str>], a: TermId, b: TermId| {
            rows.iter().filter(|row| row.contains(&text(a)) && row.contains(&text(b))).count() as f64
        };
        let mut shares = Vec::new();
        for set in &interest.sets {
            let pairs: Vec<(TermId, TermId)> = match set[..] {
                [only] => vec![(only, only)],
                _ => set.iter().flat_map(|&a| set.iter().filter(move |&&b| a < b).map(move |&b| (a, b))).collect(),
            };
            let sum = |rows: &[Vec<&str>]| pairs.iter().map(|&(a, b)| together(rows, a, b)).sum::<f64>();
            shares.push(sum(&released) / sum(&original));
        }
        assert_eq!(kept.sets, 3);
        assert!((kept.links.unwrap() - shares.iter().sum::<f64>() / 3.0).abs() < 1e-12);
        assert!((kept.worst.unwrap() - shares.iter().copied().reduce(f64::min).unwrap()).abs() < 1e-12);
        let weight = |t: TermId| interest.weights.iter().find(|(other, _)| *other == t).map_or(1.0, |(_, w)| *w);
        let weighed = |rows: &[Vec<&str>]| {
            let of = |t: TermId| weight(t) * together(rows, t, t);
            (0..data.n_terms() as TermId).map(of).sum::<f64>()
        };
        assert!((kept.weighed_occurrences.unwrap() - weighed(&released) / weighed(&original)).abs() < 1e-12);
    }
}

#[test]
fn more_is_kept_of_what_matters() {
    let data = baskets(5);
    let interest = Interest { sets: vec![ids(&data, &["x0", "x1", "x2"])], ..Interest::default() };
    for grouping in [Grouping::Layered, Grouping::Paper] {
        let plain = Params { grouping, algorithm_aware: true, ..Params::paper(5, 2) };
        let steered = Params { interest: interest.clone(), ..plain.clone() };
        let links = |params: &Params| kept(&data, params, &interest).1.unwrap().links.unwrap();
        let (before, after) = (links(&plain), links(&steered));
        assert!(after > before + 0.05, "{grouping:?}: {before} {after}");
    }
}

#[test]
fn nothing_that_matters_changes_nothing() {
    let data = baskets(6);
    let plain = Params { grouping: Grouping::Layered, algorithm_aware: true, ..Params::paper(5, 2) };
    let (release, kept) = kept(&data, &plain, &Interest::default());
    assert!(kept.is_none());
    // Weights of 1 are what every term has.
    let weights = (0..data.n_terms() as TermId).map(|t| (t, 1.0)).collect();
    let same = Params { interest: Interest { weights, ..Interest::default() }, ..plain };
    assert_eq!(disassociate(&data, &same).unwrap().release.roots, release.release.roots);
}
