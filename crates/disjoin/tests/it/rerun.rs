//! Running the program again: small releases are decided as by going through all datasets, ways that give sets away are seen, and
//! witnesses are found for what the guarded grouping promises.

use std::collections::{BTreeMap, BTreeSet};

use crate::program_aware::{Records, Space, bit, dataset, holders, shown};
use crate::worlds::literal::Terms;
use disjoin::Unobserved;
use disjoin::attack::witness::{Ground, sampled};
use disjoin::attack::{Attack, Findings, Knowledge, Looked, Reran, View, Worlds, judge, rerun};
use disjoin::data::Dataset;
use disjoin::protect::disassociation::{Grouping, Outcome, Params, disassociate};
use disjoin::release::{CutRule, Disassociated, Node, jsonl};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

fn guarded(k: u32, m: u32) -> Params {
    let params = Params { grouping: Grouping::Guarded, algorithm_aware: true, ..Params::paper(k, m) };
    Params { max_cluster: 2 * k, ..params }
}

fn layered(k: u32, m: u32) -> Params {
    Params { grouping: Grouping::Layered, max_cluster: 2 * k, algorithm_aware: true, ..Params::paper(k, m) }
}

fn merged(k: u32, m: u32) -> Params {
    Params { max_cluster: 2 * k, algorithm_aware: true, ..Params::paper(k, m) }
}

fn bytes(release: &Disassociated) -> Vec<u8> {
    let mut bytes = Vec::new();
    jsonl::write(release, &mut bytes).unwrap();
    bytes
}

/// The attack on what the program makes of a dataset with these parameters.
fn attacked(data: &Dataset, params: &Params, with_original: bool, witnesses: u64) -> (Outcome, Findings, Reran) {
    let outcome = disassociate(data, params).unwrap();
    let published = bytes(&outcome.release);
    let program = |other: &Dataset| {
        let again = disassociate(other, params).ok()?;
        (bytes(&again.release) == published).then_some(again.leaf_of)
    };
    let view = View {
        release: &outcome.release,
        cut: params.cut_rule(),
        knowledge: &Knowledge::Anything,
        observer: &Unobserved,
    };
    let truth = judge::Truth::new(data, None, &outcome.release).unwrap();
    let (findings, mut reran) = rerun(&view, &program);
    if with_original {
        reran = sampled(&view, &program, truth.records(), witnesses);
    }
    (outcome, findings, reran)
}

fn letters(records: &[&str]) -> Records {
    let mut records: Records = records.iter().map(|record| record.chars().map(|c| bit(&c.to_string())).sum()).collect();
    records.sort_unstable();
    records
}

fn sets(release: &Disassociated, findings: &Findings) -> BTreeSet<String> {
    let text = |terms: &[u32]| terms.iter().map(|&term| release.dictionary.text(term)).collect::<String>();
    findings.found.iter().map(|finding| text(&finding.terms)).collect()
}

#[test]
fn the_layered_grouping_and_the_papers_merging_give_a_pair_away() {
    let five = letters(&["c", "ab", "a", "bc", "c"]);
    let (outcome, findings, reran) = attacked(&dataset(&five), &layered(2, 2), false, 0);
    assert!(sets(&outcome.release, &findings).contains("ab"), "{findings:?} {reran:?}");
    assert_eq!((reran.looked, findings.coverage.open), (Looked::Exactly, 0));
    assert!(reran.with_witness < reran.itemsets && reran.originals > 0 && reran.originals < reran.runs, "{reran:?}");
    let (_, findings, reran) = attacked(&dataset(&five), &guarded(2, 2), false, 0);
    assert_eq!((findings.found.len(), reran.with_witness), (0, reran.itemsets), "{reran:?}");
    // Of all datasets of a space, the merging of small clusters gives some away.
    let all = Space { n: 5, terms: 3 }.datasets();
    let n_breached = |params: &Params| {
        let is_breached = |records: &&Records| !attacked(&dataset(records), params, false, 0).1.found.is_empty();
        all.par_iter().filter(is_breached).count()
    };
    let [paper, kept] = [merged(2, 2), guarded(2, 2)].map(|params| n_breached(&params));
    println!(
        "of {} datasets: the paper's merging gives sets of {paper} away, the guarded grouping of {kept}",
        all.len()
    );
    assert!(paper > 0 && kept == 0, "{paper} {kept}");
}

/// For each letter set the most records that hold it in a dataset that is published alike.
fn most(space: Space, params: &Params) -> BTreeMap<Vec<u8>, BTreeMap<Terms, u32>> {
    let sets = space.sets(params.m);
    let mut most: BTreeMap<Vec<u8>, BTreeMap<Terms, u32>> = BTreeMap::new();
    for records in space.datasets() {
        let Ok(outcome) = disassociate(&dataset(&records), params) else { continue };
        let of = most.entry(bytes(&outcome.release)).or_default();
        for &set in &sets {
            let known = of.entry(set).or_insert(0);
            *known = holders(&records, set).max(*known);
        }
    }
    most
}

/// For each leaf, the letters of chunks.
fn covered(outcome: &Outcome) -> Vec<Terms> {
    fn walk(node: &Node, above: Terms, of: &dyn Fn(&[u32]) -> Terms, leaves: &mut Vec<Terms>) {
        match node {
            Node::Simple(leaf) => {
                let own = leaf.record_chunks.iter().fold(0, |all, chunk| all | of(&chunk.terms));
                leaves.push(own | (above & !of(&leaf.term_chunk)));
            }
            Node::Joint(joint) => {
                let above = joint.shared_chunks.iter().fold(above, |all, chunk| all | of(&chunk.terms));
                joint.members.iter().for_each(|member| walk(member, above, of, leaves));
            }
        }
    }
    let dictionary = &outcome.release.dictionary;
    let of = |terms: &[u32]| terms.iter().map(|&t| bit(dictionary.text(t))).fold(0, |all, bit| all | bit);
    let mut leaves = Vec::new();
    outcome.release.roots.iter().for_each(|root| walk(root, 0, &of, &mut leaves));
    leaves
}

#[test]
fn small_releases_are_decided_as_by_all_datasets() {
    let space = Space { n: 5, terms: 4 };
    for params in [layered(2, 2), merged(2, 2), guarded(2, 2)] {
        let most = most(space, &params);
        let all = space.datasets();
        let counts = all.par_iter().step_by(17).map(|records| {
            let (outcome, findings, reran) = attacked(&dataset(records), &params, false, 0);
            if reran.looked != Looked::Exactly {
                return (0, 0);
            }
            let most = &most[&bytes(&outcome.release)];
            let found = sets(&outcome.release, &findings);
            let covered = covered(&outcome);
            for (&set, &n) in most {
                let is_held = records
                    .iter()
                    .zip(&outcome.leaf_of)
                    .any(|(record, &leaf)| record & set == set && covered[leaf as usize] & set == set);
                if is_held {
                    assert_eq!(found.contains(&shown(set)), n < params.k, "{} {records:?}", shown(set));
                }
            }
            assert!(found.iter().all(|set| most[&set.chars().map(|c| bit(&c.to_string())).sum()] < params.k));
            (1, found.len())
        });
        let (decided, found) = counts.reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
        println!("{:?}: {decided} releases decided, {found} sets without a witness", params.grouping);
        assert!(decided > 300 && (found > 0) == (params.grouping != Grouping::Guarded), "{decided} {found}");
    }
}

/// Few or many terms, some of them frequent.
pub(crate) fn random(rng: &mut ChaCha8Rng, n_records: usize, n_terms: u32) -> Vec<Vec<String>> {
    let (skew, length) = (rng.random_range(0.5..3.0), rng.random_range(0.5..4.0));
    let record = |_| {
        let mut record: Vec<String> = Vec::new();
        while record.is_empty() || rng.random_bool(length / (length + 1.0)) {
            let term = (f64::from(n_terms) * rng.random_range(0.0_f64..1.0).powf(skew)) as u32;
            record.push(format!("t{term:03}"));
        }
        record
    };
    (0..n_records).map(record).collect()
}

#[test]
fn every_drawn_set_of_the_guarded_grouping_has_a_witness() {
    let counts = (0..80_u64).into_par_iter().map(|seed| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (n_records, n_terms) = (rng.random_range(50..600), rng.random_range(5..60));
        let data = Dataset::from_texts(random(&mut rng, n_records, n_terms));
        let (k, m) = (rng.random_range(2..6), rng.random_range(2..4));
        let params = Params { max_cluster: rng.random_range(2 * k..4 * k), ..guarded(k, m) };
        let (_, findings, reran) = attacked(&data, &params, true, 60);
        assert_eq!((reran.looked, findings.found.len()), (Looked::Sampled, 0), "{seed}");
        (reran.with_witness, reran.itemsets, reran.runs, seed)
    });
    let counts: Vec<(u64, u64, u64, u64)> = counts.collect();
    let sum = |of: fn(&(u64, u64, u64, u64)) -> u64| counts.iter().map(of).sum::<u64>();
    let (with, all, runs) = (sum(|of| of.0), sum(|of| of.1), sum(|of| of.2));
    println!("{with} of {all} sets have a witness, {runs} runs of the program");
    let lacking: Vec<_> = counts.iter().filter(|of| of.0 < of.1).collect();
    assert!(with == all && all > 3_000, "{lacking:?}");
}

#[test]
fn the_layered_grouping_lacks_witnesses() {
    let lacks = |seed: &u64| {
        let mut rng = ChaCha8Rng::seed_from_u64(*seed);
        let data = Dataset::from_texts(random(&mut rng, 60, 8));
        let (_, findings, reran) = attacked(&data, &layered(3, 2), true, 20);
        assert!(findings.found.is_empty() && reran.looked == Looked::Sampled);
        reran.with_witness < reran.itemsets
    };
    assert!((0..20).filter(lacks).count() > 5);
}

#[test]
fn nothing_is_decided_of_what_is_too_large_or_made_otherwise() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let data = Dataset::from_texts(random(&mut rng, 200, 30));
    let (outcome, findings, reran) = attacked(&data, &guarded(3, 2), false, 10);
    assert_eq!((reran.looked, reran.runs, findings.found.len()), (Looked::TooLarge, 0, 0));
    assert_eq!(findings.coverage.open, findings.coverage.clusters);
    let view = View {
        release: &outcome.release,
        cut: CutRule::Weighed,
        knowledge: &Knowledge::Anything,
        observer: &Unobserved,
    };
    let truth = judge::Truth::new(&data, None, &outcome.release).unwrap();
    let reran = sampled(&view, &|_: &Dataset| None, truth.records(), 10);
    assert_eq!((reran.looked, reran.itemsets), (Looked::NotReproduced, 0));
}

/// Sets are undone by none: what holds k times at the end is told by the dataset itself, and the records stay as many.
#[test]
fn witnesses_hold_what_they_are_made_for() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let data = Dataset::from_texts(random(&mut rng, 400, 40));
    let outcome = disassociate(&data, &guarded(4, 2)).unwrap();
    let truth = judge::Truth::new(&data, None, &outcome.release).unwrap();
    let ground = Ground::new(&outcome.release, truth.records(), &outcome.leaf_of);
    let mut n_held = 0;
    for _ in 0..1_000 {
        let Some(set) = ground.draw(&mut rng) else { continue };
        let mut world = ground.world();
        if ground.support(&set.terms) < 4 && world.hold(&set, &mut rng) {
            let made = world.dataset();
            let holders = made.records.iter().filter(|record| set.terms.iter().all(|term| record.contains(term)));
            assert_eq!(holders.count() as u32, world.support(&set.terms));
            assert!(world.support(&set.terms) >= 4 && made.records.len() == 400);
            assert_eq!(made.records.n_incidences(), data.records.n_incidences());
            n_held += 1;
        }
    }
    assert!(n_held > 50, "{n_held}");
}

// ---- Shared chunks, for somebody who knows how clusters are cut -----------------------------------------------------------

/// Every set that `worlds` finds is one that no dataset that is published alike holds k times, and {a, c} is found.
#[test]
fn worlds_finds_sets_with_shared_terms() {
    let shared = Params { max_cluster: 4, algorithm_aware: true, ..Params::paper(2, 2) };
    let found = |records: &Records, params: &Params| {
        let outcome = disassociate(&dataset(records), params).unwrap();
        let release = &outcome.release;
        let view = View { release, cut: params.cut_rule(), knowledge: &Knowledge::Anything, observer: &Unobserved };
        let [all, of_cut] = [Worlds::default(), Worlds::OF_CUT].map(|worlds| sets(release, &worlds.run(&view)));
        assert!(of_cut.is_subset(&all));
        all.difference(&of_cut).cloned().collect::<BTreeSet<String>>()
    };
    let example = letters(&["a", "a", "ac", "b", "b", "bc"]);
    assert_eq!(found(&example, &shared), ["ac".to_owned(), "bc".to_owned()].into());
    let space = Space { n: 6, terms: 3 };
    let mut n_found = 0;
    for params in [shared.clone(), Params { algorithm_aware: false, ..shared }] {
        let most = most(space, &params);
        for records in space.datasets() {
            let published = bytes(&disassociate(&dataset(&records), &params).unwrap().release);
            for set in found(&records, &params) {
                let set: Terms = set.chars().map(|c| bit(&c.to_string())).sum();
                assert!(most[&published][&set] < 2, "{} {records:?}", shown(set));
                n_found += 1;
            }
        }
    }
    println!("{n_found} sets found in joint clusters");
    assert!(n_found > 10, "{n_found}");
}
