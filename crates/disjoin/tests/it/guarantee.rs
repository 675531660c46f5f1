//! Guarantee 1 on thousands of random and adversarial datasets, judged by an oracle that knows nothing of the
//! algorithm.
//!
//! Whatever up to m terms of a person an adversary knows, some original that is consistent with the release must have k
//! such records, and in the root that holds the person's record. `worlds/` decides this exactly (see there for what an
//! original may look like). The datasets are small, since breaches come from corners and not from size: clusters below
//! k, chunks with hardly enough subrecords for the records, a shared chunk that takes a leaf's only filler away,
//! shared subrecords that most leaves rule out. These are the places where the paper's lemmas are wrong, and a run
//! with `paper_literal` must fall into them: if it does not, this file has become blind.

use crate::worlds::flow::Oracle;
use crate::worlds::guarantee::is_truthful;
use crate::worlds::{Violation, guarantee_violations, guarantee_violations_by_root, roots_of_leaves};
use disjoin::data::{Dataset, Interest};
use disjoin::protect::disassociation::{Grouping, Outcome, Params, disassociate};
use disjoin::release::{Disassociated, Node};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// Datasets per run. A reported seed can be looked at alone: `check(&Case::new(seed), Way::Published)`.
const N_CASES: u64 = 40_000;

#[test]
fn no_dataset_breaks_the_guarantee() {
    let failure = (0..N_CASES).into_par_iter().find_map_first(|seed| {
        let case = Case::new(seed);
        let fails = |way: Way| check(&case, way).err().map(|reason| format!("{way:?}: {reason}\n{}", case.report()));
        let ways = [Way::Published, Way::AlgorithmAware, Way::Layered, Way::LayeredAware, Way::WithInterest];
        ways.into_iter().find_map(fails)
    });
    if let Some(failure) = failure {
        panic!("{failure}");
    }
}

/// The control of the test above: the same datasets must reach the corners that it is about. Conflicts are counted in
/// the releases of the algorithm as printed, since the way to keep out of trouble may be to avoid them.
#[test]
fn datasets_reach_joint_clusters_and_conflicts() {
    let n = N_CASES / 4;
    let total = |way: Way| {
        let shape = |seed: u64| Case::new(seed).run(way).map_or([0; 4], |outcome| shape(&outcome.release));
        (0..n).into_par_iter().map(shape).reduce(|| [0; 4], |a, b| std::array::from_fn(|i| a[i] + b[i]))
    };
    let ([joint, nested, _, tight], [.., conflict, _]) = (total(Way::Published), total(Way::PaperLiteral));
    let told =
        format!("{joint} with joint clusters, {nested} nested, {tight} tight; as printed {conflict} with conflicts");
    println!("of {n} releases: {told}");
    // A chunk that all share makes one joint cluster of more than two simple ones; refining joins two at a time.
    let is_layered = |seed: u64| {
        let wide = |node: &Node| matches!(node, Node::Joint(joint) if joint.members.len() > 2);
        Case::new(seed).run(Way::LayeredAware).is_ok_and(|outcome| outcome.release.roots.iter().any(wide))
    };
    let layered = (0..n).into_par_iter().filter(|&seed| is_layered(seed)).count();
    println!("{layered} with common terms if layered");
    assert!(layered >= 50, "too few layers: {layered}");
    assert!(joint >= 1_000 && nested >= 100 && tight >= 1_000 && conflict >= 50, "too tame: {told}");
}

/// The second control: the algorithm as printed does break the guarantee, and the oracle sees it in random data.
#[test]
fn paper_literal_breaks_the_guarantee_on_random_data() {
    let broken = |seed: &u64| {
        let case = Case::new(*seed);
        case.run(Way::PaperLiteral)
            .is_ok_and(|outcome| !guarantee_violations(&case.dataset(), &outcome.release).is_empty())
    };
    let n_broken = (0..N_CASES / 4).into_par_iter().filter(broken).count();
    println!("{n_broken} of {} releases of the algorithm as printed break the guarantee", N_CASES / 4);
    assert!(n_broken > 0, "the oracle finds nothing wrong with an algorithm that is known to be wrong");
}

/// REFINE takes the z's from the leaf that needs them to keep its records from being empty.
#[test]
fn paper_literal_breaks_on_the_lemma_3_counterexample() {
    let records = ["a", "a", "b", "b", "ab", "z", "z", "pz", "p", "p", "p"];
    let case = Case::fixed("lemma 3 counterexample", &records, (3, 2, 8));
    assert!(violations(&case, Way::PaperLiteral).iter().any(|v| v.itemset == ["a", "b"] && v.candidates == 2));
    check(&case, Way::Published).unwrap_or_else(|reason| panic!("{reason}\n{}", case.report()));
}

/// HORPART leaves two records behind; nobody can hide among three in a cluster of two.
#[test]
fn paper_literal_breaks_on_small_clusters() {
    let case = Case::fixed("small cluster", &["ab", "ab", "ab", "a", "xy", "xw"], (3, 2, 6));
    assert!(violations(&case, Way::PaperLiteral).iter().any(|v| v.itemset == ["x", "y"] && v.candidates < 3));
    check(&case, Way::Published).unwrap_or_else(|reason| panic!("{reason}\n{}", case.report()));
}

/// Property 1 of the paper is kept, no leaf has too few subrecords of its own, and still three people are one too many:
/// X = {a,c,..} owns c, so that the shared chunk's four {c} lie in Y = {e,f,..} and Z = {g,..}, three records each. At
/// least one lies in Y, which leaves two for {d}: nobody with e and d can hide among three. Likewise for Z.
#[test]
fn paper_literal_breaks_on_property_1() {
    let mut records = vec!["abc", "abc", "acd", "a", "a", "a", "a", "a"];
    records.extend(["efbc", "efc", "efd", "e", "e", "e", "gc", "gc", "gd"]);
    let case = Case::fixed("property 1 counterexample", &records, (3, 2, 6));
    assert!(violations(&case, Way::PaperLiteral).iter().any(|v| v.itemset == ["d", "e"] && v.candidates == 2));
    check(&case, Way::Published).unwrap_or_else(|reason| panic!("{reason}\n{}", case.report()));
}

/// Protects a dataset and asks everything there is to ask about the release.
fn check(case: &Case, way: Way) -> Result<(), String> {
    let outcome = case.run(way)?;
    let (original, release) = (case.dataset(), &outcome.release);
    let claimed = (release.header.k, release.header.m, release.header.records);
    if claimed != (case.k, case.m, original.records.len() as u64) {
        return Err(format!("the header claims (k, m, records) = {claimed:?}"));
    }
    // Were the original no world of the release, its guarantee would be about other people.
    if !is_truthful(&original, release, &outcome.leaf_of) {
        return Err(format!(
            "the original is no world of the release {:?}\nleaf_of {:?}",
            release.roots, outcome.leaf_of
        ));
    }
    let violations = guarantee_violations(&original, release);
    if !violations.is_empty() {
        return Err(format!("fewer than k in the release: {violations:?}\n{:?}", release.roots));
    }
    let roots = roots_of_leaves(release);
    let root_of_record: Vec<usize> = outcome.leaf_of.iter().map(|&leaf| roots[leaf as usize]).collect();
    let violations = guarantee_violations_by_root(&original, release, &root_of_record);
    if !violations.is_empty() {
        return Err(format!("fewer than k in the record's own root: {violations:?}\n{:?}", release.roots));
    }
    Ok(())
}

fn violations(case: &Case, way: Way) -> Vec<Violation> {
    match case.run(way) {
        Ok(outcome) => guarantee_violations(&case.dataset(), &outcome.release),
        Err(reason) => panic!("{reason}\n{}", case.report()),
    }
}

/// Whether a release has a joint cluster, a nested one, a shared subrecord that some leaf rules out, and a leaf without
/// term chunk; as numbers, to be added up.
fn shape(release: &Disassociated) -> [usize; 4] {
    let is_joint = |node: &Node| matches!(node, Node::Joint(_));
    let is_nested = |node: &Node| matches!(node, Node::Joint(joint) if joint.members.iter().any(is_joint));
    let has_conflict = |node: &Node| {
        let oracle = Oracle::new(node);
        let chunks = &oracle.layout().chunks;
        chunks.iter().any(|c| c.subrecords.iter().any(|s| c.leaves.clone().any(|leaf| !s.eligible[leaf])))
    };
    let is_tight = |node: &Node| node.leaves().iter().any(|leaf| leaf.term_chunk.is_empty());
    let any = |test: &dyn Fn(&Node) -> bool| usize::from(release.roots.iter().any(test));
    [any(&is_joint), any(&is_nested), any(&has_conflict), any(&is_tight)]
}

// ---- Datasets ------------------------------------------------------------------------------------------------------

/// How a dataset is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Published,
    AlgorithmAware,
    PaperLiteral,
    Layered,
    LayeredAware,
    /// The same, with utility sets and weights.
    WithInterest,
}

/// A dataset with parameters, made from its seed alone.
struct Case {
    name: String,
    records: Vec<Vec<String>>,
    k: u32,
    m: u32,
    max_cluster: u32,
}

type Records = Vec<Vec<usize>>;
type Generator = fn(&mut ChaCha8Rng, usize, usize) -> Records;

/// Each takes k and max_cluster as hints where breaches are near.
const GENERATORS: [(&str, Generator); 12] = [
    ("uniform", uniform),
    ("sparse", sparse),
    ("duplicates", duplicates),
    ("near cover", near_cover),
    ("blocks", blocks),
    ("zipf", zipf),
    ("lemma 3", lemma_3),
    ("conflict", conflict),
    ("nested conflict", nested_conflict),
    ("owned below", owned_below),
    ("tight conflict", tight_conflict),
    ("common terms", common_terms),
];

impl Case {
    fn new(seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let k = rng.random_range(2..=4_u32);
        let m = rng.random_range(1..=3);
        let max_cluster = rng.random_range(2 * k..=3 * k);
        let (name, generator) = GENERATORS[seed as usize % GENERATORS.len()];
        let mut records = generator(&mut rng, k as usize, max_cluster as usize);
        // Ids follow first appearance and break ties, so that the order of records is a part of the case.
        shuffle(&mut records, &mut rng);
        let records = records.into_iter().map(|r| r.into_iter().map(|t| format!("t{t}")).collect()).collect();
        Case { name: format!("seed {seed}, {name}"), records, k, m, max_cluster }
    }

    fn fixed(name: &str, records: &[&str], (k, m, max_cluster): (u32, u32, u32)) -> Self {
        let records = records.iter().map(|record| record.chars().map(String::from).collect()).collect();
        Case { name: name.to_owned(), records, k, m, max_cluster }
    }

    fn dataset(&self) -> Dataset {
        Dataset::from_texts(&self.records)
    }

    fn run(&self, way: Way) -> Result<Outcome, String> {
        let mut params = Params::paper(self.k, self.m);
        params.max_cluster = self.max_cluster;
        params.refine = true;
        params.lab.paper_literal = way == Way::PaperLiteral;
        params.algorithm_aware = matches!(way, Way::AlgorithmAware | Way::LayeredAware | Way::WithInterest);
        if matches!(way, Way::Layered | Way::LayeredAware | Way::WithInterest) {
            params.grouping = Grouping::Layered;
        }
        let data = self.dataset();
        if way == Way::WithInterest {
            params.interest = self.interest(data.n_terms() as u32);
        }
        disassociate(&data, &params).map_err(|error| format!("not protected: {error}"))
    }

    /// Two sets and some weights, by chance.
    fn interest(&self, n_terms: u32) -> Interest {
        let mut rng = ChaCha8Rng::seed_from_u64(self.records.len() as u64 * 1_000 + u64::from(n_terms));
        let sets = (0..2).map(|_| (0..n_terms).filter(|_| rng.random_bool(0.3)).collect()).collect();
        let some: Vec<u32> = (0..n_terms).filter(|_| rng.random_bool(0.3)).collect();
        Interest { sets, weights: some.into_iter().map(|t| (t, rng.random_range(0.0..5.0))).collect() }
    }

    fn report(&self) -> String {
        let Case { name, records, k, m, max_cluster } = self;
        let records: Vec<String> = records.iter().map(|record| record.join(" ")).collect();
        format!("case: {name}; k = {k}, m = {m}, max_cluster = {max_cluster}; records:\n  {}", records.join("\n  "))
    }
}

fn uniform(rng: &mut ChaCha8Rng, _: usize, _: usize) -> Records {
    let (n, n_terms, density) = (rng.random_range(6..=24), rng.random_range(3..=10), rng.random_range(0.1..0.6));
    (0..n).map(|_| random_record(rng, n_terms, |_| density)).collect()
}

/// Mostly single terms: records are easily left empty by a careless arrangement.
fn sparse(rng: &mut ChaCha8Rng, _: usize, _: usize) -> Records {
    let (n, n_terms) = (rng.random_range(6..=24), rng.random_range(3..=10));
    let record = |rng: &mut ChaCha8Rng| {
        let length = if rng.random_bool(0.8) { 1 } else { rng.random_range(2..=3) };
        (0..length).map(|_| rng.random_range(0..n_terms)).collect()
    };
    (0..n).map(|_| record(rng)).collect()
}

/// Few distinct records, many times: HORPART gets stuck, chunks hold whole records.
fn duplicates(rng: &mut ChaCha8Rng, _: usize, _: usize) -> Records {
    let (n, n_terms) = (rng.random_range(6..=24), rng.random_range(3..=8));
    let n_distinct = rng.random_range(1..=4);
    let distinct: Records = (0..n_distinct).map(|_| random_record(rng, n_terms, |_| 0.4)).collect();
    let copy = |rng: &mut ChaCha8Rng| {
        let mut record = distinct[rng.random_range(0..n_distinct)].clone();
        if rng.random_bool(0.1) {
            record.push(rng.random_range(0..n_terms));
        }
        record
    };
    (0..n).map(|_| copy(rng)).collect()
}

/// Chains a, ab, abc, ... beside terms that meet only the rare end of the chain.
fn near_cover(rng: &mut ChaCha8Rng, _: usize, _: usize) -> Records {
    let (n, length) = (rng.random_range(6..=20), rng.random_range(2..=5_usize));
    let record = |rng: &mut ChaCha8Rng| {
        let reach = rng.random_range(0..=length);
        let mut record: Vec<usize> = (0..reach).collect();
        if reach == 0 || rng.random_bool(if reach == length { 0.6 } else { 0.2 }) {
            record.push(length + rng.random_range(0..3));
        }
        record
    };
    (0..n).map(|_| record(rng)).collect()
}

/// Blocks with a term of their own, so that HORPART parts them, and terms that are frequent in one block and rare in
/// the others: in a record chunk here, in a shared chunk there.
fn blocks(rng: &mut ChaCha8Rng, k: usize, _: usize) -> Records {
    let (n_blocks, n_mixed) = (rng.random_range(2..=4), rng.random_range(1..=4));
    let home: Vec<usize> = (0..n_mixed).map(|_| rng.random_range(0..=n_blocks)).collect();
    let mut records = Vec::new();
    for block in 0..n_blocks {
        for _ in 0..rng.random_range(k..=2 * k) {
            let often = |t: usize| if home[t] == block { 0.8 } else { 0.25 };
            let mut record: Vec<usize> = (0..n_mixed).filter(|&t| rng.random_bool(often(t))).collect();
            if record.is_empty() || rng.random_bool(0.9) {
                record.push(n_mixed + block);
            }
            records.push(record);
        }
    }
    at_least(records, 6, rng)
}

/// Terms that many records hold beside a few that are rare: the frequent ones are worth a chunk for all.
fn common_terms(rng: &mut ChaCha8Rng, k: usize, _: usize) -> Records {
    let (n_frequent, n_rare) = (rng.random_range(3..=6), rng.random_range(1..=2));
    let share = rng.random_range(0.5..0.95);
    let record = |rng: &mut ChaCha8Rng| {
        let mut record: Vec<usize> = (0..n_frequent).filter(|_| rng.random_bool(share)).collect();
        if record.is_empty() || rng.random_bool(0.5) {
            record.push(n_frequent + rng.random_range(0..n_rare));
        }
        record
    };
    (0..rng.random_range(4 * k..=24)).map(|_| record(rng)).collect()
}

fn zipf(rng: &mut ChaCha8Rng, _: usize, _: usize) -> Records {
    let (n, n_terms, scale) = (rng.random_range(6..=24), rng.random_range(4..=10), rng.random_range(0.4..1.0));
    (0..n).map(|_| random_record(rng, n_terms, |t| scale / (t + 1) as f64)).collect()
}

/// A leaf that has hardly enough subrecords and relies on a filler z, and leaves that lure z into a shared chunk.
fn lemma_3(rng: &mut ChaCha8Rng, k: usize, _: usize) -> Records {
    let (a, b, z) = (0, 1, 2);
    let both = rng.random_range(1..k);
    let mut records: Records = vec![vec![a, b]; both];
    records.extend(vec![vec![a]; k - both]);
    records.extend(vec![vec![b]; k - both]);
    records.extend(vec![vec![z]; rng.random_range(1..k)]);
    for other in 0..rng.random_range(1..=2) {
        let size = rng.random_range(k..2 * k);
        let n_lures = rng.random_range(1..=k.min(size));
        records.extend((0..size).map(|i| if i < n_lures { vec![3 + other, z] } else { vec![3 + other] }));
    }
    perturb(rng, records, 5, 0.05)
}

/// A shared chunk of two terms of which one leaf owns the first: its subrecords are forced into the other leaves, and
/// take the place of the second term there.
fn conflict(rng: &mut ChaCha8Rng, k: usize, _: usize) -> Records {
    let (a, o) = (0, 1);
    let mut records = Vec::new();
    let n_blocks = rng.random_range(2..=4);
    for block in 0..n_blocks {
        let size = rng.random_range(k..=2 * k);
        let (n_a, n_o) = (rng.random_range(0..k), rng.random_range(0..k));
        for i in 0..size {
            let mut record = vec![2 + block];
            // Block 0 has enough a's for a record chunk; the others have them in the term chunk, apart from the o's.
            if i < n_a || block == 0 {
                record.push(a);
            }
            if i >= n_a.min(size - n_o) && i < n_a.min(size - n_o) + n_o {
                record.push(o);
            }
            records.push(record);
        }
    }
    perturb(rng, records, 2 + n_blocks, 0.03)
}

/// Four blocks that share terms two by two and all together, for joins of joins.
fn nested_conflict(rng: &mut ChaCha8Rng, k: usize, _: usize) -> Records {
    let mut records = Vec::new();
    for block in 0..4 {
        let size = rng.random_range(k..=k + 2);
        let mut rows = vec![vec![block]; size];
        // 4, 5: shared by a pair; 6, 7: by all; each below k in its block unless it is the block's own.
        for (term, here) in [(4, block < 2), (5, block >= 2), (6, true), (7, rng.random_bool(0.7))] {
            let n = if rng.random_bool(0.15) { rng.random_range(k..=size) } else { rng.random_range(0..k) };
            let offset = rng.random_range(0..size);
            (0..if here { n } else { 0 }).for_each(|i| rows[(offset + i) % size].push(term));
        }
        records.extend(rows);
    }
    perturb(rng, records, 8, 0.02)
}

/// What it takes to make a term shared above that a leaf below owns: block 0 owns a, block 1 has it in its term chunk,
/// z brings the two together first, and a then brings in the other blocks. Block 0 can hold o's of the last join only
/// if the a's, which it cannot hold, leave them over.
fn owned_below(rng: &mut ChaCha8Rng, k: usize, _: usize) -> Records {
    let mut ids = [0, 1, 2];
    shuffle(&mut ids, rng);
    let [a, o, z] = ids;
    let n_blocks = rng.random_range(3..=4);
    let mut records = Vec::new();
    for block in 0..n_blocks {
        let size = rng.random_range(k + 1..=2 * k + 1);
        let mut rows = vec![vec![3 + block]; size];
        let rare = |rng: &mut ChaCha8Rng| rng.random_range(1..k.max(2));
        let n_a = if block == 0 { rng.random_range(k..=size) } else { rare(rng) };
        rows.iter_mut().take(n_a).for_each(|row| row.push(a));
        let n_o = if rng.random_bool(0.8) { rare(rng) } else { 0 };
        rows.iter_mut().rev().take(n_o).for_each(|row| row.push(o));
        if block < 2 {
            let offset = rng.random_range(0..size);
            (0..rare(rng)).for_each(|i| rows[(offset + i) % size].push(z));
        }
        records.extend(rows);
    }
    perturb(rng, records, 3 + n_blocks, 0.02)
}

/// As above, with leaves Y and Z of k records that are full of a's and o's. X owns a, so that the a's of Y and Z fill
/// the one and run over into the other, which has then less than k records left for the o's. The records of x and
/// y alone are there to make HORPART cut this way: a must never be the most frequent term.
fn tight_conflict(rng: &mut ChaCha8Rng, k: usize, max_cluster: usize) -> Records {
    let [a, o, z, x, y, w, v] = std::array::from_fn(|i| i);
    let n_a = rng.random_range(k.saturating_sub(2).max(1)..k);
    let mut records = Vec::new();
    records.extend((0..k).map(|i| if i == 0 { vec![x, a, o] } else { vec![x, a, z] }));
    records.extend(vec![vec![x]; max_cluster.max(3 * k - 1) - k]);
    records.extend((0..k).map(|i| if i < n_a { vec![y, w, a] } else { vec![y, w, o] }));
    records.extend(vec![vec![y]; max_cluster.max(2 * k) - k]);
    records.extend((0..k).map(|i| if i < n_a { vec![v, a] } else { vec![v, o] }));
    // Y's one z, the k-th of them.
    let first_y = max_cluster.max(3 * k - 1);
    records[first_y + rng.random_range(0..k)].push(z);
    perturb(rng, records, 7, 0.01)
}

fn random_record(rng: &mut ChaCha8Rng, n_terms: usize, chance: impl Fn(usize) -> f64) -> Vec<usize> {
    let record: Vec<usize> = (0..n_terms).filter(|&t| rng.random_bool(chance(t).min(1.0))).collect();
    if record.is_empty() { vec![rng.random_range(0..n_terms)] } else { record }
}

/// Adds a random term to some records, so that a shape is tried together with its neighbours.
fn perturb(rng: &mut ChaCha8Rng, mut records: Records, n_terms: usize, chance: f64) -> Records {
    if rng.random_bool(0.7) {
        for record in &mut records {
            if rng.random_bool(chance) {
                record.push(rng.random_range(0..n_terms));
            }
        }
    }
    at_least(records, 6, rng)
}

/// Repeats records until there are `n`.
fn at_least(mut records: Records, n: usize, rng: &mut ChaCha8Rng) -> Records {
    while records.len() < n {
        records.push(records[rng.random_range(0..records.len())].clone());
    }
    records
}

fn shuffle<T>(items: &mut [T], rng: &mut ChaCha8Rng) {
    for i in (1..items.len()).rev() {
        items.swap(i, rng.random_range(0..=i));
    }
}
