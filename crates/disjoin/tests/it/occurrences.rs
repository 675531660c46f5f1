//! A total that the verifier lets a release tell gives nobody away: brute force over all worlds of small clusters.
//!
//! Simple clusters are independent. So a world of the whole release with a given total is one world of each cluster
//! such that their hidden pairs add up: for each cluster it is enough to know which numbers of hidden pairs its worlds
//! have, and which of these numbers remain if k of its records are to hold some terms.

use std::collections::{BTreeMap, BTreeSet};

use crate::worlds::Layout;
use crate::worlds::guarantee::subsets;
use crate::worlds::letters::{chunk, leaf, release};
use crate::worlds::literal::{TermChunks, Terms, enumerate};
use crate::worlds::random::n_worlds_bound;
use disjoin::data::TermId;
use disjoin::release::claim::Parameters;
use disjoin::release::open::InMemory;
use disjoin::release::{Claim, CutRule, Disassociated, Node, Promise, Simple};
use disjoin::verify::{Rule, verify};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

#[test]
fn a_total_that_may_be_told_leaves_k_candidates_for_everything() {
    for (k, m) in [(3, 1), (3, 2), (4, 1)] {
        for promise in [Promise::Published, Promise::AlgorithmAware] {
            let mut pool: Vec<Cluster> = (0..400_u64)
                .into_par_iter()
                .filter_map(|seed| analyse(random_cluster(&mut ChaCha8Rng::seed_from_u64(seed), k), k, m, promise))
                .collect();
            // Chance seldom makes clusters of several record chunks that weighed cutting would make.
            for shape in [["a a a", "b b b"], ["a a a a", "b b b"], ["ab ab ab", "c c c"], ["ab ab ab", "cd cd cd"]] {
                let found = analyse(leaf(6, &shape, "yz"), k, m, promise);
                pool.extend(std::iter::repeat_n(found, pool.len() / 20).flatten());
            }
            let mixed = pool.iter().filter(|cluster| cluster.n_record_chunks > 1).count();
            assert!(pool.len() > 50 && (mixed > 10 || k > 3), "{} clusters, {mixed} of several chunks", pool.len());
            let counts = (0..250_u64).into_par_iter().map(|seed| {
                let mut rng = ChaCha8Rng::seed_from_u64(seed);
                let n_clusters = rng.random_range(4..=16);
                let clusters: Vec<&Cluster> = (0..n_clusters).map(|_| &pool[rng.random_range(0..pool.len())]).collect();
                try_all_totals(&clusters, k, m, promise)
            });
            let counts = counts.reduce(Counts::default, Counts::sum);
            println!("k = {k}, m = {m}, {promise:?}: {counts:?}");
            assert!(counts.told > 200 && counts.releases > 30, "tame: {counts:?}");
            // The rule is needed: among the totals that it refuses there are some that give people away. Only a single
            // term of a record chunk is held by k records in every world.
            let is_needed = m > 1 || promise == Promise::Published;
            assert!(!is_needed || counts.broken > 30, "tame: {counts:?}");
        }
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    /// Releases that may tell some total.
    releases: u64,
    /// Totals that may be told.
    told: u64,
    /// Totals that must not be told, and with which fewer than k records are left for somebody.
    broken: u64,
    /// Totals that must not be told, though nobody would be given away.
    cautious: u64,
}

impl Counts {
    fn sum(self, other: Counts) -> Counts {
        Counts {
            releases: self.releases + other.releases,
            told: self.told + other.told,
            broken: self.broken + other.broken,
            cautious: self.cautious + other.cautious,
        }
    }
}

/// Asks verifier and brute force about each total that some original has.
fn try_all_totals(clusters: &[&Cluster], k: u32, m: u32, promise: Promise) -> Counts {
    let mut release = of_clusters(clusters.iter().map(|cluster| cluster.node.clone()).collect(), k, m);
    let visible: u64 = clusters.iter().map(|cluster| cluster.visible).sum();
    // Which totals remain for each cluster and each set of terms of one of its records.
    let all = clusters.iter().fold(vec![true], |sum, cluster| add(&sum, &cluster.any));
    let mut remaining: Vec<Totals> = Vec::new();
    for (i, cluster) in clusters.iter().enumerate() {
        let others = clusters.iter().enumerate().filter(|(j, _)| *j != i);
        let others = others.fold(vec![true], |sum, (_, other)| add(&sum, &other.any));
        remaining.extend(cluster.with.iter().map(|with| add(&others, with)));
    }
    let mut counts = Counts::default();
    for hidden in (0..all.len()).filter(|&hidden| all[hidden]) {
        release.header.occurrences = Some(visible + hidden as u64);
        let holds = holds(&release, promise);
        let is_safe = remaining.iter().all(|totals| totals.get(hidden) == Some(&true));
        assert!(is_safe || !holds, "{hidden} hidden pairs may be told of {:?}", release.roots);
        counts.told += u64::from(holds);
        counts.broken += u64::from(!holds && !is_safe);
        counts.cautious += u64::from(!holds && is_safe);
    }
    counts.releases = u64::from(counts.told > 0);
    counts
}

/// Whether a number of hidden pairs can be, by number.
type Totals = Vec<bool>;

fn add(a: &[bool], b: &[bool]) -> Totals {
    let mut sum = vec![false; a.len() + b.len()];
    for (i, _) in a.iter().enumerate().filter(|(_, is_possible)| **is_possible) {
        b.iter().enumerate().for_each(|(j, is_possible)| sum[i + j] |= is_possible);
    }
    sum
}

/// A cluster that keeps its promise as long as no total is told.
#[derive(Clone)]
struct Cluster {
    node: Node,
    n_record_chunks: usize,
    visible: u64,
    /// The numbers of hidden pairs of all worlds.
    any: Totals,
    /// For each set of at most m terms that a record of some world holds, those of worlds in which k records hold it.
    with: Vec<Totals>,
}

fn random_cluster(rng: &mut ChaCha8Rng, k: u32) -> Node {
    let size = rng.random_range(k..=k + 2);
    let (n_counted, n_hidden) = (rng.random_range(0..=3), rng.random_range(0..=4));
    let n_terms: TermId = n_counted + n_hidden;
    let density = rng.random_range(0.3..0.95);
    let records: Vec<Vec<TermId>> =
        (0..size).map(|_| (0..n_terms).filter(|_| rng.random_bool(density)).collect()).collect();
    // The first terms stand in one or two record chunks.
    let split = rng.random_range(0..=n_counted);
    let part = |from: TermId, to: TermId| {
        let kept = |record: &Vec<TermId>| record.iter().copied().filter(|t| (from..to).contains(t)).collect();
        chunk(records.iter().map(kept))
    };
    let record_chunks: Vec<_> =
        [part(0, split), part(split, n_counted)].into_iter().filter(|chunk| chunk.n_distinct() > 0).collect();
    Node::Simple(Simple { size, record_chunks, term_chunk: (n_counted..n_terms).collect() })
}

/// None if the cluster does not keep its promise, or if it has too many worlds.
fn analyse(node: Node, k: u32, m: u32, promise: Promise) -> Option<Cluster> {
    let layout = Layout::new(&node);
    if n_worlds_bound(&layout) > 2e6 || !holds(&of_clusters(vec![node.clone()], k, m), promise) {
        return None;
    }
    let Node::Simple(simple) = &node else { return None };
    let is_aware = promise == Promise::AlgorithmAware;
    let hidden_terms: Terms = simple.term_chunk.iter().map(|t| 1 << t).sum();
    let all_terms: Vec<TermId> = layout.terms().into_iter().collect();
    let sets = subsets(&all_terms, m as usize).into_iter();
    let sets = sets.map(|set| set.iter().map(|t| 1 << t).sum::<Terms>());
    // Who reckons back through the algorithm is promised something about terms of record chunks only.
    let sets: Vec<Terms> = sets.filter(|set| !is_aware || set & hidden_terms == 0).collect();
    let most = simple.size as usize * simple.term_chunk.len();
    let mut any = vec![false; most + 1];
    let mut with: BTreeMap<Terms, Totals> = BTreeMap::new();
    let mut known: BTreeSet<Terms> = BTreeSet::new();
    enumerate(&layout, TermChunks::Enumerated, |world| {
        let records = &world[0];
        let support = |set: Terms| records.iter().filter(|&&record| record & set == set).count() as u32;
        // He also knows that terms of term chunks are in fewer than k records.
        if is_aware && simple.term_chunk.iter().any(|t| support(1 << t) >= k) {
            return;
        }
        let hidden: u32 = records.iter().map(|record| (record & hidden_terms).count_ones()).sum();
        any[hidden as usize] = true;
        for &set in &sets {
            let support = support(set);
            if support > 0 {
                known.insert(set);
            }
            if support >= k {
                with.entry(set).or_insert_with(|| vec![false; most + 1])[hidden as usize] = true;
            }
        }
    });
    // If a term had to fill k records or more, no world is left to somebody who thinks it cannot.
    if !any.contains(&true) {
        return None;
    }
    assert!(known.iter().all(|set| with.contains_key(set)), "unsafe though no total is told: {node:?}");
    let n_record_chunks = simple.record_chunks.len();
    let visible = simple.record_chunks.iter().flat_map(|chunk| chunk.subrecords());
    let visible = visible.map(|(terms, count)| terms.len() as u64 * u64::from(count)).sum();
    Some(Cluster { node, n_record_chunks, visible, any, with: with.into_values().collect() })
}

fn of_clusters(roots: Vec<Node>, k: u32, m: u32) -> Disassociated {
    let records = roots.iter().map(Node::size).sum();
    release(k, m, records, roots)
}

fn holds(release: &Disassociated, promise: Promise) -> bool {
    let cut = if promise == Promise::AlgorithmAware { CutRule::Weighed } else { CutRule::Greedy };
    let header = release.header;
    let parameters = Parameters { k: header.k, m: header.m, max_cluster: 30, refine: true, cut, sensitive: None };
    let claim = Claim::disassociation(parameters, promise, header.records);
    let verdict = verify(&claim, InMemory::new(release), None).unwrap();
    let told = verdict.checks.iter().any(|line| line.rule == Rule::OccurrencesLeaveRoom);
    assert_eq!(told, header.occurrences.is_some());
    verdict.holds
}
