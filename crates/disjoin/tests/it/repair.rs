//! Repair without the original: nobody is given away afterwards, and nothing that is still told has changed.

use disjoin::Unobserved;
use disjoin::attack::{Attack, Closure, Cover, Knowledge, View, Worlds};
use disjoin::data::Dataset;
use disjoin::protect::disassociation::{Params, disassociate};
use disjoin::release::claim::{Parameters, Sensitive};
use disjoin::release::open::InMemory;
use disjoin::release::{Chunk, Claim, CutRule, Disassociated, Header, Node, Promise, Simple};
use disjoin::repair::suppress::{Suppressed, suppress};
use disjoin::repair::{Mended, Stats, set_aside};
use disjoin::verify::{Truth, Verdict, verify};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// Records of some groups of terms that like to go together.
fn random_data(rng: &mut ChaCha8Rng) -> Dataset {
    let mut records: Vec<Vec<String>> = Vec::new();
    for _ in 0..rng.random_range(1..=5) {
        let (n, terms) = (rng.random_range(4..=12), rng.random_range(3..=9));
        let share = rng.random_range(0.3..0.8);
        let groups: Vec<usize> = (0..terms).map(|_| rng.random_range(0..3)).collect();
        let first = rng.random_range(0..4_u8);
        for _ in 0..n {
            let group: Vec<bool> = (0..3).map(|_| rng.random_bool(share)).collect();
            let mut record = Vec::new();
            for (term, &of) in (first..).zip(&groups) {
                if if rng.random_bool(0.75) { group[of] } else { rng.random_bool(share) } {
                    record.push(char::from(b'a' + term).to_string());
                }
            }
            if !record.is_empty() {
                records.push(record);
            }
        }
    }
    records.push(vec!["a".into()]);
    records.push(vec!["a".into(), "b".into()]);
    records.push(vec!["b".into()]);
    // The first record decides how terms are numbered: not by their texts.
    records.reverse();
    Dataset::from_texts(records)
}

fn claim(params: &Params, release: &Disassociated, sensitive: &[String], promise: Promise) -> Claim {
    let (&Params { k, m, max_cluster, refine, .. }, cut) = (params, params.cut_rule());
    let named = Sensitive { terms: sensitive.to_vec(), l: None, rule: None };
    let sensitive = (!sensitive.is_empty()).then_some(named);
    Claim::disassociation(Parameters { k, m, max_cluster, refine, cut, sensitive }, promise, release.header.records)
}

fn judge(claim: &Claim, release: &Disassociated, truth: Option<Truth<'_>>) -> Verdict {
    verify(claim, InMemory::new(release), truth).unwrap()
}

/// What the three attacks find for certain.
fn n_found(release: &Disassociated) -> usize {
    let view = View { release, cut: CutRule::Greedy, knowledge: &Knowledge::Anything, observer: &Unobserved };
    let attacks: [&dyn Attack; 3] = [&Cover, &Closure, &Worlds::OF_CUT];
    attacks.iter().map(|attack| attack.run(&view).found.len()).sum()
}

fn leaves(release: &Disassociated) -> Vec<&Simple> {
    release.roots.iter().flat_map(Node::leaves).collect()
}

/// Every chunk is a chunk of before without some terms, which the term chunk has now; everything else is as it was.
fn check_leaf(before: &Simple, after: &Simple) -> u64 {
    assert_eq!(before.size, after.size);
    let gone: Vec<u32> = after.term_chunk.iter().copied().filter(|t| !before.term_chunk.contains(t)).collect();
    assert!(before.term_chunk.iter().all(|t| after.term_chunk.contains(t)));
    let mut expected: Vec<Chunk> = Vec::new();
    for chunk in &before.record_chunks {
        let stays = |t: &u32| !gone.contains(t);
        let terms: Vec<u32> = chunk.terms.iter().copied().filter(stays).collect();
        let mut rows: Vec<(Vec<u32>, u32)> =
            chunk.subrecords().map(|(row, n)| (row.iter().copied().filter(stays).collect(), n)).collect();
        rows.retain(|(row, _)| !row.is_empty());
        rows.sort_unstable();
        let mut left = Chunk::new(terms);
        for same in rows.chunk_by(|a, b| a.0 == b.0) {
            left.push(&same[0].0, same.iter().map(|(_, n)| n).sum());
        }
        if !left.terms.is_empty() {
            expected.push(left);
        }
    }
    expected.sort_unstable();
    assert_eq!(expected, after.record_chunks);
    gone.len() as u64
}

/// Mends a random release and checks what is left. Tells whether it was safe, how many terms were set aside, whether clusters
/// moved, whether some are joint, whether there are sensitive terms, and whether what was mended is still cut.
fn mended(seed: u64) -> [u64; 6] {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (k, m) = (rng.random_range(2..=4), rng.random_range(2..=3));
    let original = random_data(&mut rng);
    let sensitive = if rng.random_bool(0.2) { vec![String::from("c")] } else { Vec::new() };
    let params = Params {
        max_cluster: rng.random_range(2 * k..=8.max(3 * k)),
        refine: rng.random_bool(0.7),
        sensitive: sensitive.iter().filter_map(|term| original.dictionary.get(term)).collect(),
        ..Params::paper(k, m)
    };
    let plain = disassociate(&original, &params).unwrap();
    let promised = claim(&params, &plain.release, &sensitive, Promise::AlgorithmAware);
    let was_safe = n_found(&plain.release) == 0 && judge(&promised, &plain.release, None).holds;

    let Mended { release, leaves: order, stats } = set_aside(&plain.release, &promised.parameters, &Unobserved);

    let verdict = judge(&promised, &release, None);
    assert!(verdict.holds, "seed {seed}: {:?}", verdict.findings);
    let mut place = vec![0; order.len()];
    order.iter().zip(0..).for_each(|(&before, now)| place[before as usize] = now);
    let leaf_of: Vec<u32> = plain.leaf_of.iter().map(|&leaf| place[leaf as usize]).collect();
    let truth = Truth { original: &original, leaf_of: Some(&leaf_of) };
    let verdict = judge(&promised, &release, Some(truth));
    assert!(verdict.holds, "seed {seed}: {:?}", verdict.findings);
    assert_eq!(n_found(&release), 0, "seed {seed}");
    assert_eq!(release.clone().canonical().roots, release.roots, "seed {seed}");

    let (before, after) = (leaves(&plain.release), leaves(&release));
    let gone: u64 = order.iter().zip(&after).map(|(&was, now)| check_leaf(before[was as usize], now)).sum();
    assert_eq!((stats.terms_set_aside, stats.clusters), (gone, before.len() as u64), "seed {seed}");
    assert!(stats.occurrences_hidden >= gone * u64::from(k) && stats.clusters_changed <= gone, "seed {seed}");
    let is_cut = |(&was, now): (&u32, &&Simple)| now.record_chunks.len() > 1 && before[was as usize] != *now;
    let still_cut = order.iter().zip(&after).any(is_cut);
    if was_safe {
        assert_eq!(stats, Stats { clusters: stats.clusters, ..Stats::default() }, "seed {seed}");
        assert_eq!(release.roots, plain.release.roots, "seed {seed}");
    }
    // Once is enough.
    let again = set_aside(&release, &promised.parameters, &Unobserved);
    assert_eq!((again.release.roots, again.stats.clusters_changed), (release.roots, 0), "seed {seed}");
    let moved = order.iter().zip(0..).any(|(&before, now)| before != now);
    let joint = plain.release.roots.iter().any(|root| matches!(root, Node::Joint(_)));
    [
        u64::from(was_safe),
        gone,
        u64::from(moved),
        u64::from(joint),
        u64::from(!sensitive.is_empty()),
        u64::from(still_cut),
    ]
}

#[test]
fn mended_releases_give_nobody_away() {
    let outcomes: Vec<[u64; 6]> = (0..2_000_u64).into_par_iter().map(mended).collect();
    let n = |i: usize| outcomes.iter().filter(|outcome| outcome[i] > 0).count();
    let told = format!("{} safe, {} mended, {} reordered, {} with joints, {} sensitive", n(0), n(1), n(2), n(3), n(4));
    // Not all that is mended ends with one chunk.
    assert!(n(5) > 30, "{}", n(5));
    assert!(n(0) > 100 && n(1) > 500 && n(2) > 50 && n(3) > 100 && n(4) > 100, "{told}");
}

fn n_found_by(attack: &dyn Attack, release: &Disassociated) -> usize {
    attack
        .run(&View { release, cut: CutRule::Greedy, knowledge: &Knowledge::Anything, observer: &Unobserved })
        .found
        .len()
}

/// The sets of at most `most` terms, the empty one among them.
fn sets(terms: &[u32], most: usize) -> Vec<Vec<u32>> {
    let mut all = vec![Vec::new()];
    for &term in terms {
        let longer = |set: &Vec<u32>| [&set[..], &[term]].concat();
        all.extend(all.iter().filter(|set| set.len() < most).map(longer).collect::<Vec<_>>());
    }
    all
}

/// How often the terms of record chunks stand in subrecords.
fn n_occurrences(release: &Disassociated) -> u64 {
    let chunks = leaves(release).into_iter().flat_map(|leaf| &leaf.record_chunks);
    chunks.flat_map(Chunk::subrecords).map(|(row, count)| row.len() as u64 * u64::from(count)).sum()
}

fn n_in_term_chunks(release: &Disassociated) -> u64 {
    leaves(release).iter().map(|leaf| leaf.term_chunk.len() as u64).sum()
}

/// What one cluster tells less, occurrence by occurrence: how many were suppressed, and how many had terms that were moved.
fn less(before: &Simple, after: &Simple) -> [u64; 2] {
    let (mut suppressed, mut hidden) = (0, 0);
    for chunk in &before.record_chunks {
        for &term in &chunk.terms {
            let was = chunk.support(&[term]);
            match after.record_chunks.iter().find(|chunk| chunk.terms.contains(&term)) {
                Some(now) => {
                    assert!(now.terms.iter().all(|other| chunk.terms.contains(other)), "terms stay with theirs");
                    suppressed += was - now.support(&[term]);
                }
                None => {
                    assert!(after.term_chunk.contains(&term));
                    hidden += was;
                }
            }
        }
    }
    for chunk in &after.record_chunks {
        let was = before.record_chunks.iter().find(|other| other.terms.contains(&chunk.terms[0])).unwrap();
        assert!(sets(&chunk.terms, 3).iter().all(|set| chunk.support(set) <= was.support(set)), "nothing is made up");
    }
    [suppressed, hidden]
}

#[test]
fn suppression_leaves_no_cover_problem_but_others() {
    let outcomes: Vec<[u64; 7]> = (0..3_000_u64)
        .into_par_iter()
        .map(|seed| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let (k, m) = (rng.random_range(2..=4), rng.random_range(2..=3));
            let original = random_data(&mut rng);
            let largest = if rng.random_bool(0.6) { 8.max(3 * k) } else { 60 };
            let max_cluster = rng.random_range(2 * k..=largest);
            let params = Params { max_cluster, refine: rng.random_bool(0.7), ..Params::paper(k, m) };
            let before = disassociate(&original, &params).unwrap().release;
            let problems = n_found_by(&Cover, &before);

            let Suppressed { release, leaves: order, stats } = suppress(&before);

            assert_eq!(n_found_by(&Cover, &release), 0, "seed {seed}");
            for chunk in leaves(&release).into_iter().flat_map(|leaf| &leaf.record_chunks) {
                for set in sets(&chunk.terms, m as usize) {
                    let support = chunk.support(&set);
                    assert!(support == 0 || support >= u64::from(k), "seed {seed}: {set:?} {support} times");
                }
            }
            // Lemma 2 and the conditions of shared chunks stay as well.
            let promised = claim(&params, &release, &[], Promise::Published);
            let verdict = judge(&promised, &release, None);
            assert!(verdict.holds, "seed {seed}: {:?}", verdict.findings);
            assert_eq!(release.clone().canonical().roots, release.roots, "seed {seed}");
            assert_eq!(suppress(&release).release.roots, release.roots, "seed {seed}");

            let gone = stats.occurrences_suppressed + stats.occurrences_hidden;
            assert_eq!(n_occurrences(&before) - n_occurrences(&release), gone, "seed {seed}");
            assert_eq!(n_in_term_chunks(&release) - n_in_term_chunks(&before), stats.terms_set_aside, "seed {seed}");
            assert_eq!(stats.clusters, leaves(&before).len() as u64, "seed {seed}");
            let pairs = order.iter().zip(leaves(&release)).map(|(&was, now)| (leaves(&before)[was as usize], now));
            let changed = pairs.clone().filter(|(was, now)| was != now).count() as u64;
            assert_eq!((changed, gone > 0), (stats.clusters_changed, problems > 0), "seed {seed}");
            let told_less: Vec<[u64; 2]> = pairs.map(|(was, now)| less(was, now)).collect();
            let sum = |i: usize| told_less.iter().map(|of_leaf| of_leaf[i]).sum::<u64>();
            assert_eq!([sum(0), sum(1)], [stats.occurrences_suppressed, stats.occurrences_hidden], "seed {seed}");
            let moved = order.iter().zip(0..).any(|(&was, now)| was != now);
            [
                problems as u64,
                stats.occurrences_suppressed,
                stats.terms_set_aside,
                u64::from(moved),
                n_found_by(&Closure, &release) as u64,
                n_found_by(&Worlds::OF_CUT, &release) as u64,
                u64::from(before.roots.iter().any(|root| matches!(root, Node::Joint(_)))),
            ]
        })
        .collect();
    let n = |i: usize| outcomes.iter().filter(|outcome| outcome[i] > 0).count();
    let told: Vec<usize> = (0..7).map(n).collect();
    assert!(told[0] > 1_000 && told[1] > 100 && told[2] > 500 && told[3] > 5 && told[6] > 100, "{told:?}");
    // Those who do more than the cover test are not stopped.
    assert!(told[4] > 20 && told[5] > told[4], "{told:?}");
}

#[test]
fn one_occurrence_less_is_enough_where_there_is_one_to_spare() {
    // b never comes without a, so that c, refused by their chunk, is in fewer than 3 records with it.
    let chunks: [&[(&[u32], u32)]; 2] = [&[(&[0], 2), (&[0, 1], 5)], &[(&[2], 4)]];
    let release = simple(10, &chunks);
    assert_eq!(n_found_by(&Cover, &release), 1);
    let Suppressed { release, stats, .. } = suppress(&release);
    assert_eq!((stats.occurrences_suppressed, stats.terms_set_aside, stats.occurrences_hidden), (1, 0, 0));
    let rows: Vec<(&[u32], u32)> = leaves(&release)[0].record_chunks[0].subrecords().collect();
    assert_eq!(rows, [(&[0][..], 2), (&[0, 1], 4), (&[1], 1)]);
    // With none to spare, c moves.
    let Suppressed { release, stats, .. } = suppress(&simple(10, &[&[(&[0], 4), (&[0, 1], 3)], &[(&[2], 3)]]));
    assert_eq!((stats.occurrences_suppressed, stats.terms_set_aside, stats.occurrences_hidden), (0, 1, 3));
    assert_eq!(leaves(&release)[0].term_chunk, [2]);
}

fn simple(size: u32, chunks: &[&[(&[u32], u32)]]) -> Disassociated {
    let chunk = |rows: &&[(&[u32], u32)]| {
        let mut terms: Vec<u32> = rows.iter().flat_map(|(row, _)| row.iter().copied()).collect();
        terms.sort_unstable();
        terms.dedup();
        let mut chunk = Chunk::new(terms);
        rows.iter().for_each(|(row, count)| chunk.push(row, *count));
        chunk
    };
    let data = Dataset::from_texts([["a", "b", "c", "d", "e"]]);
    let root = Simple { size, record_chunks: chunks.iter().map(chunk).collect(), term_chunk: Vec::new() };
    let header = Header { k: 3, m: 2, records: u64::from(size), occurrences: None };
    Disassociated { header, dictionary: data.dictionary, roots: vec![Node::Simple(root)] }
}

#[test]
fn a_cluster_too_large_to_be_analysed_keeps_its_first_chunk() {
    let release = simple(3_000, &[&[(&[0, 1], 900), (&[1], 50)], &[(&[2, 3], 800), (&[3], 2_000)], &[(&[4], 700)]]);
    let promised = claim(&Params::paper(3, 2), &release, &[], Promise::AlgorithmAware);
    let mended = set_aside(&release, &promised.parameters, &Unobserved);
    let cluster = leaves(&mended.release)[0];
    assert_eq!((cluster.record_chunks.len(), &cluster.record_chunks[0].terms[..]), (1, &[2, 3][..]));
    assert_eq!(cluster.term_chunk, [0, 1, 4]);
    let stats = Stats { clusters: 1, clusters_changed: 1, terms_set_aside: 3, occurrences_hidden: 900 + 950 + 700 };
    assert_eq!(mended.stats, stats);
}

#[test]
fn chunks_that_no_original_is_cut_into_are_mended_too() {
    // b is as often with everybody as with nobody: it would have been let in with a.
    let release = simple(6, &[&[(&[0], 6)], &[(&[1], 6)]]);
    let promised = claim(&Params::paper(3, 2), &release, &[], Promise::AlgorithmAware);
    let mended = set_aside(&release, &promised.parameters, &Unobserved);
    assert_eq!(leaves(&mended.release)[0].term_chunk, [1]);
    assert!(!judge(&promised, &release, None).holds && judge(&promised, &mended.release, None).holds);
}

#[test]
fn what_cannot_be_is_left_for_verify_to_refuse() {
    let release = simple(2, &[&[(&[0], 6)], &[(&[1], 6)]]);
    let promised = claim(&Params::paper(3, 2), &release, &[], Promise::AlgorithmAware);
    let mended = set_aside(&release, &promised.parameters, &Unobserved);
    assert_eq!((&mended.release.roots, mended.stats.clusters_changed), (&release.roots, 0));
    assert!(!judge(&promised, &mended.release, None).holds);
}

/// What moves or goes changes what is counted, so that a total that was told is told no more.
#[test]
fn a_repaired_release_tells_no_total() {
    let mut release = simple(6, &[&[(&[0], 6)], &[(&[1], 6)]]);
    release.header.occurrences = Some(12);
    let promised = claim(&Params::paper(3, 2), &release, &[], Promise::AlgorithmAware);
    assert_eq!(set_aside(&release, &promised.parameters, &Unobserved).release.header.occurrences, None);
    assert_eq!(suppress(&release).release.header.occurrences, None);
}
