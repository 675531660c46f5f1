//! Possible originals for somebody who knows how clusters are cut: the analysis against all worlds of small clusters.

use std::collections::{BTreeMap, BTreeSet};

use disjoin::Unobserved;
use disjoin::data::{Dataset, Dictionary};
use disjoin::generate::quest;
use disjoin::protect::disassociation::for_the_lab::ForTheLab;
use disjoin::protect::disassociation::{Params, disassociate};
use disjoin::reconstruct::aware::{Analysis, Breach, Cut, analyse, closed_pairs};
use disjoin::release::claim::Parameters;
use disjoin::release::open::InMemory;
use disjoin::release::{Chunk, Claim, CutRule, Node, Promise, Simple};
use disjoin::verify::{Truth, verify};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// A bit for each term.
type Record = u32;

const STEPS: u64 = 1_000_000;

// ---- A slow vertical partitioning, written from the paper alone ----------------------------------------------------------

fn mask(terms: &[u32]) -> Record {
    terms.iter().fold(0, |mask, term| mask | 1 << term)
}

fn terms_of(mask: Record) -> Vec<u32> {
    (0..32).filter(|term| mask >> term & 1 == 1).collect()
}

fn support(records: &[Record], set: Record) -> u32 {
    records.iter().filter(|&record| record & set == set).count() as u32
}

/// The sets of at most `most` of these terms, the empty one among them.
fn subsets(terms: &[u32], most: u32) -> Vec<Record> {
    let mut all = vec![0];
    for &term in terms {
        let more: Vec<Record> =
            all.iter().filter(|&set: &&Record| set.count_ones() < most).map(|set| set | 1 << term).collect();
        all.extend(more);
    }
    all
}

/// The domains of the record chunks, and the term chunk.
fn verpart(records: &[Record], k: u32, m: u32) -> (Vec<Record>, Record) {
    let terms = terms_of(records.iter().fold(0, |all, record| all | record));
    let (mut remain, rare): (Vec<u32>, Vec<u32>) = terms.into_iter().partition(|&t| support(records, 1 << t) >= k);
    remain.sort_by_key(|&t| (std::cmp::Reverse(support(records, 1 << t)), t));
    let mut chunks = Vec::new();
    while !remain.is_empty() {
        let mut chunk: Vec<u32> = Vec::new();
        for &term in &remain {
            let is_fine = |set: Record| matches!(support(records, set | 1 << term), n if n == 0 || n >= k);
            if subsets(&chunk, m - 1).into_iter().all(is_fine) {
                chunk.push(term);
            }
        }
        remain.retain(|term| !chunk.contains(term));
        chunks.push(mask(&chunk));
    }
    (chunks, mask(&rare))
}

fn publish(records: &[Record], k: u32, m: u32) -> Simple {
    let (domains, rare) = verpart(records, k, m);
    let chunk = |&domain: &Record| {
        let mut bag: BTreeMap<Vec<u32>, u32> = BTreeMap::new();
        for row in records.iter().map(|record| record & domain).filter(|row| *row != 0) {
            *bag.entry(terms_of(row)).or_default() += 1;
        }
        let mut chunk = Chunk::new(terms_of(domain));
        bag.iter().for_each(|(row, count)| chunk.push(row, *count));
        chunk
    };
    let mut record_chunks: Vec<Chunk> = domains.iter().map(chunk).collect();
    record_chunks.sort_unstable();
    Simple { size: records.len() as u32, record_chunks, term_chunk: terms_of(rare) }
}

// ---- All worlds ----------------------------------------------------------------------------------------------------------

/// Calls `visit` with every arrangement of a bag of rows, equal rows not told apart.
fn arrangements(rows: &mut Vec<(Record, usize)>, placed: &mut Vec<Record>, n: usize, visit: &mut dyn FnMut(&[Record])) {
    if placed.len() == n {
        return visit(placed);
    }
    for i in 0..rows.len() {
        if rows[i].1 > 0 {
            rows[i].1 -= 1;
            placed.push(rows[i].0);
            arrangements(rows, placed, n, visit);
            placed.pop();
            rows[i].1 += 1;
        }
    }
}

/// Each chunk's rows with the empty ones, equal ones once with their count.
fn bags(simple: &Simple) -> Vec<Vec<(Record, usize)>> {
    let bag = |chunk: &Chunk| {
        let mut bag: Vec<(Record, usize)> = chunk.subrecords().map(|(terms, n)| (mask(terms), n as usize)).collect();
        bag.push((0, simple.size as usize - chunk.n_subrecords() as usize));
        bag
    };
    simple.record_chunks.iter().map(bag).collect()
}

fn n_worlds(simple: &Simple) -> f64 {
    let factorial = |n: usize| (1..=n).map(|i| i as f64).product::<f64>();
    let of_bag = |bag: &Vec<(Record, usize)>| {
        factorial(simple.size as usize) / bag.iter().map(|(_, n)| factorial(*n)).product::<f64>()
    };
    bags(simple).iter().skip(1).map(of_bag).product()
}

/// Calls `visit` with every world in reading I0, the first chunk fixed, and whether it is one in reading I1.
fn worlds(simple: &Simple, k: u32, m: u32, visit: &mut dyn FnMut(&[Record], bool)) {
    let n = simple.size as usize;
    let mut bags = bags(simple);
    let first: Vec<Record> = match bags.is_empty() {
        true => vec![0; n],
        false => bags.remove(0).into_iter().flat_map(|(row, n)| vec![row; n]).collect(),
    };
    let published: BTreeSet<Record> = simple.record_chunks.iter().map(|chunk| mask(&chunk.terms)).collect();
    let fill = simple.term_chunk.len() * (k as usize - 1);
    add_bags(&first, &mut bags, &mut |world| {
        let empty = world.iter().filter(|record| **record == 0).count();
        if empty > 0 && simple.term_chunk.is_empty() {
            return;
        }
        let same = verpart(world, k, m).0.into_iter().collect::<BTreeSet<_>>() == published;
        visit(world, same && empty <= fill);
    });
}

fn add_bags(world: &[Record], bags: &mut Vec<Vec<(Record, usize)>>, visit: &mut dyn FnMut(&[Record])) {
    let Some(mut bag) = bags.pop() else { return visit(world) };
    let copy = bag.clone();
    arrangements(&mut bag, &mut Vec::new(), world.len(), &mut |placed| {
        let joined: Vec<Record> = world.iter().zip(placed).map(|(a, b)| a | b).collect();
        add_bags(&joined, bags, visit);
    });
    bags.push(copy);
}

/// For each itemset across chunks, the most records of any world in reading I1 that hold it.
fn brute_force(simple: &Simple, k: u32, m: u32) -> Option<BTreeMap<Vec<u32>, u32>> {
    let terms: Vec<u32> = simple.record_chunks.iter().flat_map(|chunk| chunk.terms.clone()).collect();
    let is_whole = |set: Record| simple.record_chunks.iter().any(|chunk| set & !mask(&chunk.terms) == 0);
    let mut most: Vec<(Record, u32)> =
        subsets(&terms, m).into_iter().filter(|&set| !is_whole(set)).map(|set| (set, 0)).collect();
    let mut any = false;
    worlds(simple, k, m, &mut |world, aware| {
        if aware {
            any = true;
            most.iter_mut().for_each(|(set, most)| *most = support(world, *set).max(*most));
        }
    });
    any.then(|| most.into_iter().map(|(set, most)| (terms_of(set), most)).collect())
}

// ---- Tests ---------------------------------------------------------------------------------------------------------------

fn cut_of(simple: &Simple, k: u32, m: u32) -> Cut {
    Cut::new(simple, k, m, simple.term_chunk.len() as u32 * (k - 1))
}

fn random_records(rng: &mut ChaCha8Rng) -> Vec<Record> {
    let (n, terms) = (rng.random_range(4..=8), rng.random_range(3..=7));
    let share = rng.random_range(0.3..0.8);
    let groups: Vec<u32> = (0..terms).map(|_| rng.random_range(0..3)).collect();
    let mut records = Vec::new();
    while records.len() < n {
        // Some terms go together: chunks of one term each would not be much of a test.
        let group: Vec<bool> = (0..3).map(|_| rng.random_bool(share)).collect();
        let has = |rng: &mut ChaCha8Rng, t: u32| match rng.random_bool(0.75) {
            true => group[groups[t as usize] as usize],
            false => rng.random_bool(share),
        };
        let record = mask(&(0..terms).filter(|&t| has(rng, t)).collect::<Vec<_>>());
        if record != 0 {
            records.push(record);
        }
    }
    records
}

#[derive(Default, Debug)]
struct Counts {
    clusters: u64,
    with_breach: u64,
    breaches: u64,
    by_closure: u64,
    chunks_3: u64,
    not_possible: u64,
    /// Clusters that are not decided without a complete search.
    left_open: u64,
}

fn compare(seed: u64, m: u32) -> Option<Counts> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let records = random_records(&mut rng);
    let k = rng.random_range(2..=3);
    let simple = publish(&records, k, m);
    if simple.record_chunks.len() < 2 || n_worlds(&simple) > 3_000.0 {
        return None;
    }
    let most = brute_force(&simple, k, m).expect("the original is a world");
    let cut = cut_of(&simple, k, m);
    let analysis = analyse(&cut, STEPS, &Unobserved);
    assert!(!analysis.contradiction && analysis.open.is_empty(), "seed {seed}: {analysis:?}");
    let expected: Vec<&Vec<u32>> = most.iter().filter(|&(_, &n)| 0 < n && n < k).map(|(set, _)| set).collect();
    let found: Vec<&Vec<u32>> = analysis.breaches.iter().map(|breach| &breach.terms).collect();
    assert_eq!(found, expected, "seed {seed}, m {m}, k {k}: {records:?} {simple:?}");
    for closed in closed_pairs(&cut) {
        assert!(most[&closed.terms] < k, "seed {seed}: {closed:?}");
    }
    // What is told without a complete search is as true, though something may be left open.
    let quick = analyse(&cut, 0, &Unobserved);
    let is_told = |breach: &&Breach| !quick.open.contains(&breach.terms);
    let told: Vec<&Breach> = analysis.breaches.iter().filter(is_told).collect();
    assert_eq!(quick.breaches.iter().collect::<Vec<_>>(), told, "seed {seed}, m {m}, k {k}: {records:?} {simple:?}");
    let sets: Vec<(Record, Record)> = (analysis.breaches.iter())
        .map(|breach| (mask(&breach.terms), mask(&breach.terms) | mask(&breach.learned)))
        .collect();
    worlds(&simple, k, m, &mut |world, aware| {
        assert!(!aware || sets.iter().all(|&(set, with)| support(world, set) == support(world, with)), "seed {seed}");
    });
    Some(Counts {
        clusters: 1,
        with_breach: u64::from(!expected.is_empty()),
        breaches: expected.len() as u64,
        by_closure: analysis.breaches.iter().filter(|breach| breach.by_closure).count() as u64,
        chunks_3: u64::from(simple.record_chunks.len() > 2),
        not_possible: most.values().filter(|&&n| n == 0).count() as u64,
        left_open: u64::from(!quick.open.is_empty()),
    })
}

fn compare_many(seeds: std::ops::Range<u64>, m: u32) -> Counts {
    let sum = |a: Counts, b: Counts| {
        sum_fields!(Counts { clusters, with_breach, breaches, by_closure, chunks_3, not_possible, left_open }, a, b)
    };
    seeds.into_par_iter().filter_map(|seed| compare(seed, m)).reduce(Counts::default, sum)
}

#[test]
fn pairs_are_breached_as_all_worlds_say() {
    let counts = compare_many(0..11_000, 2);

    assert!(counts.clusters >= 5_000 && counts.chunks_3 >= 500, "{counts:?}");
    assert!(counts.with_breach >= 1_000 && counts.by_closure < counts.breaches, "{counts:?}");
    assert!(10 * counts.left_open < counts.clusters, "{counts:?}");
}

#[test]
fn triples_are_breached_as_all_worlds_say() {
    let counts = compare_many(1_000_000..1_011_000, 3);

    assert!(counts.clusters >= 5_000 && counts.with_breach >= 1_000, "{counts:?}");
}

/// Records of a few kinds each, as of customers of a large shop.
fn many_records(rng: &mut ChaCha8Rng) -> Vec<Record> {
    let (n, terms) = (rng.random_range(40..100), rng.random_range(12..28));
    let shares: Vec<f64> = (0..terms).map(|t| 0.7 / f64::from(1 + t % 14)).collect();
    let of_kind: Vec<u32> = (0..terms).map(|_| rng.random_range(0..4)).collect();
    let mut records = Vec::new();
    while records.len() < n {
        let kind = rng.random_range(0..4);
        let share = |t: usize| if of_kind[t] == kind { (2.0 * shares[t]).min(0.9) } else { 0.5 * shares[t] };
        let record = mask(&(0..terms).filter(|&t| rng.random_bool(share(t as usize))).collect::<Vec<_>>());
        if record != 0 {
            records.push(record);
        }
    }
    records
}

/// There are too many worlds of large clusters to look at, but they are decided too, and the original is one of them.
#[test]
fn large_clusters_are_decided() {
    let decided: Vec<[u64; 3]> = (0..200_u64)
        .into_par_iter()
        .map(|seed| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let records = many_records(&mut rng);
            let k = rng.random_range(3..=5);
            let simple = publish(&records, k, 2);
            let analysis = analyse(&cut_of(&simple, k, 2), 20_000, &Unobserved);
            assert!(!analysis.contradiction, "seed {seed}");
            for breach in &analysis.breaches {
                let (set, with) = (mask(&breach.terms), mask(&breach.terms) | mask(&breach.learned));
                assert!(support(&records, set) < k, "seed {seed}: {breach:?}");
                assert_eq!(support(&records, set), support(&records, with), "seed {seed}: {breach:?}");
            }
            [analysis.itemsets, analysis.breaches.len() as u64, analysis.open.len() as u64]
        })
        .collect();
    let sum = |i: usize| decided.iter().map(|counts| counts[i]).sum::<u64>();
    assert!(sum(0) > 20_000 && sum(1) > 1_000, "{} itemsets, {} breaches", sum(0), sum(1));
    assert!(1_000 * sum(2) < sum(0), "{} of {} itemsets are open", sum(2), sum(0));
}

/// A cluster in texts: the number of records, the chunks' rows with their counts, and the term chunk.
type InTexts = (u32, Vec<Vec<(Vec<String>, u32)>>, Vec<String>);

fn in_texts(simple: &Simple, dictionary: &Dictionary) -> InTexts {
    let texts = |terms: &[u32]| terms.iter().map(|&term| dictionary.text(term).to_owned()).collect::<Vec<_>>();
    let rows = |chunk: &Chunk| chunk.subrecords().map(|(terms, count)| (texts(terms), count)).collect::<Vec<_>>();
    let mut chunks: Vec<_> = simple.record_chunks.iter().map(rows).collect();
    chunks.sort_unstable();
    (simple.size, chunks, texts(&simple.term_chunk))
}

/// Gives every record something and every rare term fewer than k records, or nothing if that cannot be.
fn filled(world: &[Record], rare: &[u32], k: u32) -> Option<Vec<Record>> {
    let mut world = world.to_vec();
    let places = rare.iter().flat_map(|&term| std::iter::repeat_n(term, k as usize - 1));
    let mut used = 0;
    for (record, term) in world.iter_mut().filter(|record| **record == 0).zip(places) {
        *record = 1 << term;
        used |= *record;
    }
    rare.iter().filter(|&term| used >> term & 1 == 0).for_each(|term| world[0] |= 1 << term);
    world.iter().all(|&record| record != 0).then_some(world)
}

/// What is protected against somebody who knows the algorithm gives nobody away: worlds of a cluster, protected again by
/// the same algorithm, give the same cluster, and among them is one in which k records hold any itemset that anybody has.
#[test]
fn aware_releases_give_nobody_away() {
    let outcomes: Vec<[u64; 5]> = (0..4_000_u64)
        .into_par_iter()
        .map(|seed| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let (k, m) = (rng.random_range(2..=3), rng.random_range(2..=3));
            let records: Vec<Record> = (0..rng.random_range(1..=4)).flat_map(|_| random_records(&mut rng)).collect();
            let text = |term: u32| char::from(b'a' + term as u8).to_string();
            let original = Dataset::from_texts(records.iter().map(|&record| terms_of(record).into_iter().map(text)));
            let params = Params {
                max_cluster: rng.random_range(2 * k..=8.max(2 * k)),
                refine: rng.random_bool(0.5),
                algorithm_aware: true,
                ..Params::paper(k, m)
            };
            let aware = disassociate(&original, &params).unwrap();
            let claim = |params: &Params| {
                let &Params { k, m, max_cluster, refine, .. } = params;
                let parameters = Parameters { k, m, max_cluster, refine, cut: params.cut_rule(), sensitive: None };
                Claim::disassociation(parameters, Promise::AlgorithmAware, aware.release.header.records)
            };
            let truth = Truth { original: &original, leaf_of: Some(&aware.leaf_of) };
            let verdict = verify(&claim(&params), InMemory::new(&aware.release), Some(truth)).unwrap();
            assert!(verdict.holds, "seed {seed}: {:?} {:?}", verdict.findings, aware.release);
            let greedy = Params { algorithm_aware: false, ..params.clone() };
            let plain = disassociate(&original, &greedy).unwrap();
            let refused = !verify(&claim(&greedy), InMemory::new(&plain.release), None).unwrap().holds;
            let (mut clusters, mut worlds_cut) = (0, 0);
            for root in &aware.release.roots {
                let Node::Simple(simple) = root else { continue };
                if simple.record_chunks.len() < 2 || n_worlds(simple) > 200.0 {
                    continue;
                }
                let dictionary = &aware.release.dictionary;
                let published = in_texts(simple, dictionary);
                let terms: Vec<u32> = simple.record_chunks.iter().flat_map(|chunk| chunk.terms.clone()).collect();
                let mut most: Vec<(Record, u32)> = subsets(&terms, m).into_iter().map(|set| (set, 0)).collect();
                worlds(simple, k, m, &mut |world, _| {
                    let Some(world) = filled(world, &simple.term_chunk, k) else { return };
                    let texts = |&record: &Record| terms_of(record).into_iter().map(|term| dictionary.text(term));
                    let one_cluster = Params { max_cluster: simple.size.max(k) * 2, ..params.clone() };
                    let again = disassociate(&Dataset::from_texts(world.iter().map(texts)), &one_cluster).unwrap();
                    let Node::Simple(cluster) = &again.release.roots[0] else { panic!("one cluster") };
                    assert_eq!(in_texts(cluster, &again.release.dictionary), published, "seed {seed}: {world:?}");
                    most.iter_mut().for_each(|(set, most)| *most = support(&world, *set).max(*most));
                    worlds_cut += 1;
                });
                let given_away = most.iter().find(|&&(_, most)| 0 < most && most < k);
                assert!(given_away.is_none(), "seed {seed}: {given_away:?} {simple:?}");
                assert!(most.iter().any(|&(set, most)| set.count_ones() > 1 && most >= k), "seed {seed}: {simple:?}");
                clusters += 1;
            }
            [u64::from(refused), clusters, worlds_cut, aware.stats.terms_set_aside, plain.stats.terms_set_aside]
        })
        .collect();
    let sum = |i: usize| outcomes.iter().map(|outcome| outcome[i]).sum::<u64>();
    let told: Vec<u64> = (0..5).map(sum).collect();
    assert!(told[0] > 1_000 && told[1] > 200 && told[2] > 2_000 && told[3] > 200 && told[4] == 0, "{told:?}");
}

/// The closed form of the weighed rule says what all worlds say, however much the term chunk can fill.
#[test]
fn weighed_clusters_are_breached_as_all_worlds_say() {
    let (mut clusters, mut breached) = (0, 0);
    for seed in 0..3_000_u64 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (k, m) = (rng.random_range(2..=3), rng.random_range(2..=3));
        let records = random_records(&mut rng);
        let original =
            Dataset::from_texts(records.iter().map(|&record| terms_of(record).into_iter().map(|t| t.to_string())));
        let params = Params { max_cluster: 40, algorithm_aware: true, ..Params::paper(k, m) };
        let release = disassociate(&original, &params).unwrap().release;
        let Node::Simple(simple) = &release.roots[0] else { panic!("one cluster") };
        if simple.record_chunks.len() < 2 || n_worlds(simple) > 500.0 {
            continue;
        }
        for fill in 0..=simple.size {
            let terms: Vec<u32> = simple.record_chunks.iter().flat_map(|chunk| chunk.terms.clone()).collect();
            let is_whole = |set: Record| simple.record_chunks.iter().any(|chunk| set & !mask(&chunk.terms) == 0);
            let across = subsets(&terms, m).into_iter().filter(|&set| !is_whole(set));
            let mut most: Vec<(Record, u32)> = across.map(|set| (set, 0)).collect();
            // Whether there is a term chunk is for `fill` to say.
            let open = Simple { term_chunk: vec![31], ..simple.clone() };
            let mut is_possible = false;
            worlds(&open, k, m, &mut |world, _| {
                if world.iter().filter(|&&record| record == 0).count() <= fill as usize {
                    is_possible = true;
                    most.iter_mut().for_each(|(set, most)| *most = support(world, *set).max(*most));
                }
            });
            let mut expected: Vec<Vec<u32>> =
                most.iter().filter(|&&(_, n)| 0 < n && n < k).map(|&(set, _)| terms_of(set)).collect();
            expected.sort_unstable();
            let analysis = analyse(&Cut::new(simple, k, m, fill).with_rule(CutRule::Weighed), 0, &Unobserved);
            let found: Vec<Vec<u32>> = analysis.breaches.iter().map(|breach| breach.terms.clone()).collect();
            assert_eq!(
                (found, analysis.open.len(), analysis.contradiction),
                (expected, 0, !is_possible),
                "seed {seed} {fill}"
            );
            (clusters, breached) = (clusters + 1, breached + u64::from(!analysis.breaches.is_empty()));
        }
    }
    assert!(clusters > 500 && breached > 50, "{clusters} {breached}");
}

fn letters(text: &str) -> Record {
    mask(&text.bytes().map(|b| u32::from(b - b'a')).collect::<Vec<_>>())
}

fn records(rows: &[&str]) -> Vec<Record> {
    rows.iter().map(|row| letters(row)).collect()
}

/// How often each support of a pair occurs, over the worlds of both readings.
fn distribution(simple: &Simple, k: u32, pair: &str) -> [BTreeMap<u32, u64>; 2] {
    let pair = letters(pair);
    let mut counts = [BTreeMap::new(), BTreeMap::new()];
    worlds(simple, k, 2, &mut |world, aware| {
        *counts[0].entry(support(world, pair)).or_default() += 1;
        if aware {
            *counts[1].entry(support(world, pair)).or_default() += 1;
        }
    });
    counts
}

#[test]
fn barakat_figure_1() {
    // treatment a, oncologist b, cancer c, surgery d, side effects e, and three rare ones.
    let simple = publish(&records(&FIGURE_1), 3, 2);
    assert_eq!(simple.record_chunks.len(), 2);
    let of = |pairs: &[(u32, u64)]| -> BTreeMap<u32, u64> { pairs.iter().copied().collect() };
    assert_eq!(distribution(&simple, 3, "ce"), [of(&[(1, 12), (2, 36), (3, 12)]), of(&[(1, 12), (2, 12)])]);
    assert_eq!(distribution(&simple, 3, "cd"), [of(&[(2, 24), (3, 32), (4, 4)]), of(&[(2, 24)])]);
    let Analysis { breaches, open, .. } = analyse(&cut_of(&simple, 3, 2), STEPS, &Unobserved);
    let found: Vec<(Vec<u32>, Vec<u32>)> = breaches.iter().map(|b| (b.terms.clone(), b.learned.clone())).collect();
    assert_eq!(found, [(vec![2, 3], vec![0, 1]), (vec![2, 4], vec![0, 1, 3])]);
    assert!(open.is_empty() && breaches.iter().all(|breach| breach.by_closure));
}

/// The domains of the chunks in the order of making, and for each refusal of a term by one of them: the term, and those terms
/// of the chunk that were tried before it.
fn refusals(records: &[Record], k: u32, m: u32) -> Vec<(u32, Vec<u32>)> {
    let domains = verpart(records, k, m).0;
    let tried = |term: u32| (std::cmp::Reverse(support(records, 1 << term)), term);
    let mut refusals = Vec::new();
    for (made, &chunk) in domains.iter().enumerate() {
        for term in domains[made + 1..].iter().flat_map(|&domain| terms_of(domain)) {
            refusals.push((term, terms_of(chunk).into_iter().filter(|&other| tried(other) < tried(term)).collect()));
        }
    }
    refusals
}

/// How many of the refusals a world gives no reason for: only chance can have made them.
fn without_reason(world: &[Record], refusals: &[(u32, Vec<u32>)], k: u32, m: u32) -> i32 {
    let is_fine = |term: u32, set: Record| matches!(support(world, set | 1 << term), n if n == 0 || n >= k);
    let is_let_in = |(term, chunk): &&(u32, Vec<u32>)| subsets(chunk, m - 1).into_iter().all(|set| is_fine(*term, set));
    refusals.iter().filter(is_let_in).count() as i32
}

const FIGURE_1: [&str; 6] = ["abcdef", "abcdeg", "abc", "adeh", "abc", "bd"];

/// The worked numbers: how likely k records or more hold a pair, if refusals come by chance with probability rho.
#[test]
fn rejection_by_chance_leaves_figure_1_open() {
    let original = records(&FIGURE_1);
    let (simple, refusals) = (publish(&original, 3, 2), refusals(&original, 3, 2));
    assert_eq!(refusals, [(3, vec![0, 1, 2]), (4, vec![0, 1, 2])]);
    let probability = |pair: &str, weight: &dyn Fn(i32) -> f64| {
        let (mut held, mut all) = (0.0, 0.0);
        worlds(&simple, 3, 2, &mut |world, aware| {
            let unreasonable = without_reason(world, &refusals, 3, 2);
            assert_eq!(aware, unreasonable == 0);
            let weight = weight(unreasonable);
            all += weight;
            held += if support(world, letters(pair)) >= 3 { weight } else { 0.0 };
        });
        held / all
    };
    // 24 worlds have a reason for both refusals, 24 for one of them and 12 for none.
    let told = [("cd", [0.0, 0.0488, 0.0950, 0.2565], 0.60), ("ce", [0.0, 0.0012, 0.0045, 0.0335], 0.20)];
    for (pair, aware, unaware) in told {
        for (rho, expected) in [0.0_f64, 0.05, 0.1, 0.3].into_iter().zip(aware) {
            let found = probability(pair, &|unreasonable| rho.powi(unreasonable));
            assert!((found - expected).abs() <= 5e-5, "{pair} at {rho}: {found}");
        }
        assert!((probability(pair, &|_| 1.0) - unaware).abs() < 1e-12);
    }
}

/// The law behind these numbers is that of the implementation: a world is cut as published with probability (1 - rho) for each
/// term that was let in, and rho for each refusal without a reason.
#[test]
fn rejection_by_chance_follows_its_law() {
    const SEEDS: u64 = 20_000;
    let original = records(&FIGURE_1);
    let (simple, refusals) = (publish(&original, 3, 2), refusals(&original, 3, 2));
    let dictionary = Dataset::from_texts([["a", "b", "c", "d", "e", "f", "g", "h"]]).dictionary;
    let published = in_texts(&simple, &dictionary);
    let let_in: usize = simple.record_chunks.iter().map(|chunk| chunk.terms.len() - 1).sum();
    let mut chosen: BTreeMap<(i32, bool), Vec<Record>> = BTreeMap::new();
    worlds(&simple, 3, 2, &mut |world, _| {
        let many = support(world, letters("cd")) >= 3;
        let filled = filled(world, &simple.term_chunk, 3).unwrap();
        chosen.entry((without_reason(world, &refusals, 3, 2), many)).or_insert(filled);
    });
    assert!(chosen.keys().any(|&(unreasonable, many)| many && unreasonable == 1) && chosen.len() >= 3);
    chosen.insert((0, false), original);
    for ((unreasonable, _), world) in chosen {
        let texts = |&record: &Record| terms_of(record).into_iter().map(|term| dictionary.text(term));
        let data = Dataset::from_texts(world.iter().map(texts));
        let comes_out = |seed: u64| {
            let lab = ForTheLab::rejecting(0.3, seed);
            let release = disassociate(&data, &Params { lab, ..Params::paper(3, 2) }).unwrap().release;
            let Node::Simple(cluster) = &release.roots[0] else { panic!("one cluster") };
            in_texts(cluster, &release.dictionary) == published
        };
        let found = (0..SEEDS).into_par_iter().filter(|&seed| comes_out(seed)).count() as f64 / SEEDS as f64;
        let expected = 0.7_f64.powi(let_in as i32) * 0.3_f64.powi(unreasonable);
        let deviation = (expected * (1.0 - expected) / SEEDS as f64).sqrt();
        assert!((found - expected).abs() <= 4.0 * deviation, "{unreasonable}: {found} for {expected}");
    }
}

#[test]
fn rejection_by_chance_does_not_depend_on_threads() {
    let data = quest::quest(&quest::Params { records: 5_000, items: 300, ..quest::Params::program() }).unwrap();
    let roots = |threads: usize, seed: u64| {
        let params = Params { lab: ForTheLab::rejecting(0.3, seed), ..Params::paper(3, 2) };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| disassociate(&data, &params).unwrap().release.roots)
    };
    assert_eq!(roots(1, 1), roots(4, 1));
    assert_ne!(roots(4, 1), roots(4, 2));
}

#[test]
fn barakat_figure_3() {
    // Chunk 1 {a,b,c} twice, {a,b}, {a}; chunk 2 {e} twice; k = 2.
    let simple = publish(&records(&["abc", "abce", "ab", "ae"]), 2, 2);
    let counts = distribution(&simple, 2, "ce");
    assert_eq!(counts.clone().map(|counts| counts.values().sum::<u64>()), [6, 5]);
    assert_eq!(counts[1], [(0, 1), (1, 4)].into_iter().collect());
    let analysis = analyse(&cut_of(&simple, 2, 2), STEPS, &Unobserved);
    assert_eq!(analysis.breaches.iter().map(|breach| breach.terms.clone()).collect::<Vec<_>>(), [vec![2, 4]]);
}

#[test]
fn figure_2_of_terrovitis_is_safe() {
    // itunes a, flu b, madonna c, audi d, sony e, and three rare ones.
    let simple = publish(&records(&["abcfg", "cbhgde", "acdfe", "abh", "abcde"]), 3, 2);
    assert_eq!(distribution(&simple, 3, "ad").map(|counts| counts.values().sum::<u64>()), [10, 10]);
    let analysis = analyse(&cut_of(&simple, 3, 2), STEPS, &Unobserved);
    assert!(analysis.breaches.is_empty() && analysis.open.is_empty());
}
