//! The guarded grouping: what it publishes is true, verified and can be read; no set that a record holds has fewer than k candidates in what
//! is published; and at size, the witnesses of its theorem are protected again, byte for byte.
//!
//! That nobody is given away to those who run the program is `program_aware.rs`, exactly, on tiny data.

use crate::rerun::random;
use crate::worlds::Layout;
use crate::worlds::literal::{TermChunks, Terms, enumerate};
use crate::worlds::random::n_worlds_bound;
use disjoin::attack::judge;
use disjoin::attack::witness::Ground;
use disjoin::data::{Dataset, Transactions};
use disjoin::protect::disassociation::{Grouping, Outcome, Params, disassociate};
use disjoin::reconstruct::{Model, Sampling, estimate, reconstruct};
use disjoin::release::claim::Parameters;
use disjoin::release::open::{InMemory, JsonlWriter, RootStream, copy};
use disjoin::release::{Claim, Node, Promise, jsonl};
use disjoin::verify::{Truth, verify};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

fn guarded(k: u32, m: u32) -> Params {
    let params = Params { grouping: Grouping::Guarded, algorithm_aware: true, ..Params::paper(k, m) };
    Params { max_cluster: Params::usual_cluster(k, Grouping::Guarded), ..params }
}

fn text_of(outcome: &Outcome) -> String {
    let mut text = Vec::new();
    jsonl::write(&outcome.release, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

fn claim(params: &Params, outcome: &Outcome) -> Claim {
    let &Params { k, m, max_cluster, refine, .. } = params;
    let parameters = Parameters { k, m, max_cluster, refine, cut: params.cut_rule(), sensitive: None };
    assert_eq!(params.promise(), Promise::ProgramAware);
    Claim::disassociation(parameters, params.promise(), outcome.release.header.records)
}

fn check(rows: &[Vec<String>], params: &Params) -> Outcome {
    let data = Dataset::from_texts(rows);
    let outcome = disassociate(&data, params).unwrap();
    let release = &outcome.release;
    let truth = Truth { original: &data, leaf_of: Some(&outcome.leaf_of) };
    let verdict = verify(&claim(params, &outcome), InMemory::new(release), Some(truth)).unwrap();
    assert!(verdict.holds, "{:?} {rows:?}", verdict.findings);
    // Both encodings say the same.
    let text = text_of(&outcome);
    let read = jsonl::read(text.as_bytes(), "x").unwrap();
    assert_eq!(read.roots, release.roots);
    let mut copied = Vec::new();
    let mut memory = InMemory::new(release);
    let header = memory.header();
    let to = JsonlWriter::new(&mut copied, &header, "x").unwrap();
    copy(&mut memory, to, &disjoin::observer::Unobserved).unwrap();
    assert_eq!(String::from_utf8(copied).unwrap(), text);
    outcome
}

#[test]
fn what_is_published_is_true_and_verified() {
    let shapes = (0..6_000_u64).into_par_iter().map(|seed| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (n_records, n_terms) = (rng.random_range(12..120), rng.random_range(2..25));
        let rows = random(&mut rng, n_records, n_terms);
        let (k, m) = (rng.random_range(2..5), rng.random_range(1..4));
        let params =
            Params { max_cluster: rng.random_range(2 * k..4 * k), refine: rng.random_bool(0.9), ..guarded(k, m) };
        let outcome = check(&rows, &params);
        let mut shape = [0_u32; 4];
        let mut stack: Vec<(&Node, u32)> = outcome.release.roots.iter().map(|root| (root, 0)).collect();
        while let Some((node, depth)) = stack.pop() {
            match node {
                Node::Simple(simple) => shape[0] |= u32::from(simple.is_bare()),
                Node::Joint(joint) => {
                    shape[1] |= u32::from(!joint.term_chunk.is_empty());
                    shape[2] |= u32::from(depth > 0);
                    shape[3] |= u32::from(joint.shared_chunks.iter().any(|chunk| chunk.terms.len() > 1));
                    stack.extend(joint.members.iter().map(|member| (member, depth + 1)));
                }
            }
        }
        shape
    });
    let met = shapes.reduce(|| [0; 4], |a, b| std::array::from_fn(|i| a[i] + b[i]));
    println!(
        "of 6000 releases: {met:?} with leaves without chunks, with listed terms, nested, with several common terms"
    );
    assert!(met.iter().all(|&n| n > 20), "{met:?}");
}

/// Reading I0, whatever chunks the terms are in: all worlds are counted.
#[test]
fn every_set_has_k_candidates_in_what_is_published() {
    let counts = (0..4_000_u64).into_par_iter().map(|seed| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let n_records = rng.random_range(4..8);
        let rows = random(&mut rng, n_records, 5);
        let data = Dataset::from_texts(&rows);
        let (k, m) = (2, rng.random_range(1..4));
        let outcome = disassociate(&data, &Params { max_cluster: 4, ..guarded(k, m) }).unwrap();
        let layouts: Vec<Layout> = outcome.release.roots.iter().map(Layout::new).collect();
        if layouts.iter().map(n_worlds_bound).product::<f64>() > 3e5 {
            return (0, 0);
        }
        let bits = |record: &[u32]| -> Terms {
            record.iter().map(|&t| 1 << outcome.release.dictionary.get(data.dictionary.text(t)).unwrap()).sum()
        };
        let records: Vec<Terms> = data.records.iter().map(bits).collect();
        let sets: Vec<Terms> = (1..1 << 5)
            .filter(|set: &Terms| set.count_ones() <= m && records.iter().any(|record| record & set == *set))
            .collect();
        // The most that one root can have, and the others beside it.
        let mut most = vec![0; sets.len()];
        for layout in &layouts {
            let mut here = vec![0; sets.len()];
            enumerate(layout, TermChunks::Enumerated, |world| {
                for (most, set) in here.iter_mut().zip(&sets) {
                    *most = world.iter().flatten().filter(|&record| record & set == *set).count().max(*most);
                }
            });
            most.iter_mut().zip(here).for_each(|(most, here)| *most += here);
        }
        let few = most.iter().filter(|&&n| n < k as usize).count();
        assert_eq!(few, 0, "{rows:?} k {k} m {m} {}", text_of(&outcome));
        (1, sets.len())
    });
    let (releases, sets) = counts.reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    println!("{releases} releases, {sets} sets");
    assert!(releases > 1_500 && sets > 10_000, "{releases} {sets}");
}

#[test]
fn bounds_enclose_the_truth_and_reconstructions_are_possible() {
    for seed in 0..300 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let rows = random(&mut rng, 60, 12);
        let data = Dataset::from_texts(&rows);
        let outcome = disassociate(&data, &guarded(3, 2)).unwrap();
        let model = Model::new(&outcome.release).unwrap();
        let id = |term: u32| outcome.release.dictionary.get(data.dictionary.text(term)).unwrap();
        for a in 0..data.n_terms() as u32 {
            for b in a..data.n_terms() as u32 {
                let support = data.records.iter().filter(|r| r.contains(&a) && r.contains(&b)).count() as u64;
                let mut set = vec![id(a), id(b)];
                set.sort_unstable();
                set.dedup();
                let found = estimate(&model, &set);
                assert!(found.lower <= support && support <= found.upper, "{seed}: {support} {found:?}");
            }
        }
        let drawn = reconstruct(&model, &Sampling::default(), 0);
        assert_eq!(drawn.records.len() as u64 + drawn.empty, 60);
    }
}

/// One dataset is made a witness of many sets, by the library's construction, and protected again.
#[test]
fn witnesses_of_the_theorem_are_published_alike() {
    let n_changed = (0..400_u64).into_par_iter().map(|seed| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (n_records, n_terms) = (rng.random_range(50..600), rng.random_range(5..60));
        let rows = random(&mut rng, n_records, n_terms);
        let data = Dataset::from_texts(&rows);
        let params = guarded(rng.random_range(2..6), rng.random_range(2..4));
        let outcome = disassociate(&data, &params).unwrap();
        let truth = judge::Truth::new(&data, None, &outcome.release).unwrap();
        let ground = Ground::new(&outcome.release, truth.records(), &outcome.leaf_of);
        let mut world = ground.world();
        for _ in 0..30 {
            if let Some(set) = ground.draw(&mut rng) {
                world.hold(&set, &mut rng);
            }
        }
        let other = world.dataset();
        assert_eq!(text_of(&disassociate(&other, &params).unwrap()), text_of(&outcome), "{seed}");
        let sorted = |records: &Transactions| {
            let mut records: Vec<Vec<u32>> = records.iter().map(<[u32]>::to_vec).collect();
            records.sort();
            records
        };
        u32::from(sorted(truth.records()) != sorted(&other.records))
    });
    let n_changed: u32 = n_changed.sum();
    assert!(n_changed > 300, "{n_changed}");
}

#[test]
fn deep_chains_do_not_overflow() {
    // A record of i terms for each i: every split nests.
    let rows: Vec<Vec<String>> = (0..3_000).map(|i: u32| (0..=i / 5).map(|t| format!("t{t:04}")).collect()).collect();
    check(&rows, &guarded(2, 2));
    // The same record over and over, and records that have nothing in common.
    check(&vec![vec!["a".to_owned(), "b".into(), "c".into()]; 20_000], &guarded(5, 3));
    let apart: Vec<Vec<String>> = (0..5_000).map(|i| vec![format!("x{i}")]).collect();
    check(&apart, &guarded(5, 2));
}
