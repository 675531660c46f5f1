//! Checks the oracle of `worlds/` before anything is checked with it.
//!
//! * *Published numbers*: counts of worlds and distributions of supports from the papers' figures. They would catch a
//!   misread definition: empty records allowed, records taken as unlabelled, ownership forgotten.
//! * *Definition*: on random toy releases the enumerator must visit exactly the assignments of terms to records that
//!   the definition accepts. It would catch an enumerator that skips or invents worlds.
//! * *Differential*: enumerator, state search and flow must agree on random releases with conflicts between shared
//!   chunks and leaves. It would catch an error in the argument behind the flow, the one that runs in `guarantee.rs`.
//! * *Known breaches*: releases that satisfy the paper's lemmas and still give people away must be reported. A bug here
//!   would make every release look safe.

use std::collections::{BTreeMap, BTreeSet};

use crate::worlds::flow::Oracle;
use crate::worlds::guarantee::is_truthful;
use crate::worlds::letters::{bits, ids, joint, leaf, release, support};
use crate::worlds::literal::{TermChunks, Terms, enumerate};
use crate::worlds::random::{n_worlds_bound, truthful};
use crate::worlds::{Layout, guarantee_violations, guarantee_violations_by_root, max_support, roots_of_leaves, states};
use disjoin::data::{Dataset, TermId};
use disjoin::release::Node;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

// ---- Published numbers ---------------------------------------------------------------------------------------------

/// Barakat et al. 2016, Figure 1b: o = Oncologist, t = Treatment, c = Cancer, s = Surgery, e = Side Effects.
#[test]
fn cover_paper_figure_1_has_sixty_arrangements() {
    let root = leaf(6, &["otc otc otc otc t o", "se se se s"], "vnh");
    let arrangements = arrangements_with_first_chunk_fixed(&root, "otc");
    assert_eq!(arrangements.len(), 60);
    assert_eq!(supports(&arrangements, "ce"), BTreeMap::from([(1, 12), (2, 36), (3, 12)]));
    assert_eq!(supports(&arrangements, "cs"), BTreeMap::from([(2, 24), (3, 32), (4, 4)]));
    // The term chunk fills the empty records, so that every arrangement is part of a world.
    assert_eq!(max_support(&root, &ids("ce")), 3);
    assert_eq!(max_support(&root, &ids("cs")), 4);
    assert_eq!(max_support(&root, &ids("vnh")), 6);
}

/// Barakat et al. 2016, Figure 3 (the smallest cluster that fits the text).
#[test]
fn cover_paper_figure_3_has_six_arrangements() {
    let root = leaf(4, &["abc abc ab a", "e e"], "");
    let arrangements = arrangements_with_first_chunk_fixed(&root, "abc");
    assert_eq!(arrangements.len(), 6);
    assert_eq!(max_support(&root, &ids("ce")), 2);
}

/// Terrovitis et al. 2012, Figure 2b, cluster P1: i = itunes, f = flu, m = madonna, a = audi a4, s = sony tv.
#[test]
fn disassociation_paper_figure_2_has_ten_arrangements() {
    let root = leaf(5, &["ifm fm im if ifm", "as as as"], "krv");
    let arrangements = arrangements_with_first_chunk_fixed(&root, "ifm");
    assert_eq!(arrangements.len(), 10);
    assert_eq!(supports(&arrangements, "ia"), BTreeMap::from([(2, 6), (3, 4)]));
    assert_eq!(max_support(&root, &ids("ia")), 3);
}

/// Terrovitis et al. 2012, Figure 4: the cluster is too small for its chunks, and the original is the only world.
#[test]
fn disassociation_paper_figure_4_gives_the_record_away() {
    let root = leaf(5, &["a a a", "bc bc bc"], "");
    let arrangements = arrangements_with_first_chunk_fixed(&root, "a");
    assert_eq!(arrangements.len(), 10);
    let worlds: Vec<_> = arrangements.into_iter().filter(|world| world.iter().flatten().all(|&r| r != 0)).collect();
    assert_eq!(worlds.len(), 3);
    assert_eq!(supports(&worlds, "ab"), BTreeMap::from([(1, 3)]));
    assert_eq!(max_support(&root, &ids("ab")), 1);
    // Moving c to the term chunk is the paper's repair.
    assert_eq!(max_support(&leaf(5, &["a a a", "b b b"], "c"), &ids("ab")), 3);
}

/// The join that Lemma 3 allows and that empties the term chunk which the first leaf relied on. All records are
/// labelled here, those of the second leaf too, and no chunk is fixed.
#[test]
fn lemma_3_counterexample_has_12390_worlds() {
    let root = lemma_3_counterexample();
    let mut n_worlds = 0;
    let mut most = 0;
    enumerate(&Layout::new(&root), TermChunks::Enumerated, |world| {
        n_worlds += 1;
        most = most.max(support(world, bits("ab")));
    });
    assert_eq!((n_worlds, most), (12_390, 2));
    assert_eq!(max_support(&root, &ids("ab")), 2);
    // Before the join there was no harm.
    assert_eq!(max_support(&leaf(7, &["a a a", "b b b"], "z"), &ids("ab")), 3);
}

/// Terrovitis et al. 2012, Figure 5 as reconstructed from the text: the unsafe chunk, and the safe ones.
#[test]
fn disassociation_paper_figure_5_needs_the_split() {
    let tree = |top: &[&str]| {
        let left = joint(vec![leaf(3, &["ax ax ax"], ""), leaf(3, &["b b b"], "")], &["e e e"]);
        let right = joint(vec![leaf(3, &["c c c"], ""), leaf(3, &["d d d"], "")], &["f f f"]);
        joint(vec![left, right], top)
    };
    assert_eq!(max_support(&tree(&["ao ao ao o"]), &ids("xo")), 1);
    assert_eq!(max_support(&tree(&["a a a", "o o o o"]), &ids("xo")), 3);
}

// ---- Known breaches ------------------------------------------------------------------------------------------------

/// Property 1 of the paper asks for a 2-anonymous shared chunk, for it has `a`, which is in a record chunk below. It is
/// 2-anonymous. But both {a} fit only into the first leaf, where they leave room for a single {o}.
#[test]
fn property_1_does_not_imply_the_guarantee() {
    let root = joint(vec![leaf(3, &["x x x"], ""), leaf(3, &["a a a"], "")], &["a a o o"]);
    assert_eq!(max_support(&root, &ids("xo")), 1);
    assert_eq!(states::max_support(&Layout::new(&root), &ids("xo")), 1);
    let mut supports = BTreeSet::new();
    enumerate(&Layout::new(&root), TermChunks::Enumerated, |world| {
        supports.insert(support(world, bits("xo")));
    });
    assert_eq!(supports, BTreeSet::from([0, 1]));

    let original = Dataset::from_texts([["x", "a"], ["x", "a"], ["x", "o"], ["a", "a"], ["a", "a"], ["a", "o"]]);
    let release = release(2, 2, 6, vec![root]);
    assert!(is_truthful(&original, &release, &[0, 0, 0, 1, 1, 1]));
    let found: Vec<_> =
        guarantee_violations(&original, &release).into_iter().map(|v| (v.itemset.concat(), v.candidates)).collect();
    assert_eq!(found, [("xo".to_owned(), 1)]);
}

#[test]
fn lemma_3_counterexample_is_reported() {
    let texts = ["a", "a", "b", "b", "ab", "z", "z", "pz", "p", "p", "p"];
    let original = dataset(&texts);
    let release = release(3, 2, 11, vec![lemma_3_counterexample()]);
    assert!(is_truthful(&original, &release, &[0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1]));
    let found: Vec<_> =
        guarantee_violations(&original, &release).into_iter().map(|v| (v.itemset.concat(), v.candidates)).collect();
    // Besides {a, b}: the first leaf has 7 records and 6 subrecords of its own, so that one z lies there for certain.
    assert_eq!(found, [("ab".to_owned(), 2), ("zp".to_owned(), 2)]);
}

/// Two roots can supply candidates together where neither does alone, and a term that is not in the release has none.
#[test]
fn roots_add_up_unless_asked_apart() {
    let original = dataset(&["ab", "a", "ab", "a", "c"]);
    let split = release(3, 2, 5, vec![leaf(2, &["a a"], "b"), leaf(3, &["a a"], "bc")]);
    assert_eq!(roots_of_leaves(&split), [0, 1]);
    assert!(is_truthful(&original, &split, &[0, 0, 1, 1, 1]));
    assert_eq!(guarantee_violations(&original, &split), []);
    let apart = guarantee_violations_by_root(&original, &split, &[0, 0, 1, 1, 1]);
    let apart: Vec<_> = apart.into_iter().map(|v| (v.root, v.itemset.concat(), v.candidates)).collect();
    let expected = [(0, "a", 2), (0, "ab", 2), (0, "b", 2), (1, "a", 2), (1, "ab", 2)];
    assert_eq!(apart, expected.map(|(root, itemset, n)| (Some(root), itemset.to_owned(), n)));

    let without_c = release(3, 2, 5, vec![leaf(5, &["a a a a"], "b")]);
    let lost: Vec<_> =
        guarantee_violations(&original, &without_c).into_iter().map(|v| (v.itemset.concat(), v.candidates)).collect();
    assert_eq!(lost, [("c".to_owned(), 0)]);
    assert!(!is_truthful(&original, &without_c, &[0; 5]));
}

/// Releases that contradict themselves have no world, and so no candidates.
#[test]
fn contradictions_have_no_world() {
    for root in [
        // Five records, four subrecords, nothing to fill the fifth with.
        leaf(5, &["a a a a"], ""),
        // More subrecords than records.
        leaf(2, &["a a a"], "b"),
        // `a` is in all leaves' own chunks, so that the shared {a} lies nowhere.
        joint(vec![leaf(2, &["a a"], ""), leaf(2, &["b b"], "a")], &["a"]),
    ] {
        let oracle = Oracle::new(&root);
        assert!(!oracle.has_world());
        assert_eq!(oracle.max_support(&ids("a")), 0);
        assert_eq!(states::max_support(&Layout::new(&root), &ids("a")), 0);
        enumerate(&Layout::new(&root), TermChunks::Enumerated, |world| panic!("{world:?} is not a world"));
    }
}

// ---- Definition and differential -----------------------------------------------------------------------------------

/// Walks through all assignments of terms to records, world or not, and asks the definition about each.
#[test]
fn enumerator_visits_exactly_the_worlds_of_the_definition() {
    let mut n_worlds = 0;
    for seed in 0..150 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (n_records, n_terms) = if seed % 2 == 0 { (3, 4) } else { (4, 3) };
        let (root, _) = truthful(&mut rng, n_records, n_terms);
        let layout = Layout::new(&root);
        let mut visited = BTreeSet::new();
        enumerate(&layout, TermChunks::Enumerated, |world| {
            assert!(visited.insert(world.to_vec()), "seed {seed}: the same world twice");
        });
        let mut accepted = BTreeSet::new();
        for code in 0_u64..1 << (n_records * n_terms) {
            let mut record = (0..n_records as u64).map(|i| code >> (i * n_terms as u64) & ((1 << n_terms) - 1));
            let world: Vec<Vec<Terms>> =
                layout.leaves.iter().map(|leaf| record.by_ref().take(leaf.size).collect()).collect();
            let listed: Vec<Vec<Vec<TermId>>> =
                world.iter().map(|leaf| leaf.iter().map(|&record| listed(record)).collect()).collect();
            if layout.is_world(&listed) {
                accepted.insert(world);
            }
        }
        assert_eq!(visited, accepted, "seed {seed}: {root:?}");
        n_worlds += accepted.len();
    }
    assert!(n_worlds > 1_000, "the releases are too rigid to tell anything: {n_worlds} worlds");
}

/// Up to seven records: all worlds can be walked through, and all itemsets asked about.
#[test]
fn all_three_agree_on_tiny_releases() {
    let mut seen = Seen::default();
    for seed in 0..1_500 {
        let mut rng = ChaCha8Rng::seed_from_u64(1_000_000 + seed);
        let (n_records, n_terms) = (rng.random_range(3..=7), rng.random_range(2..=6));
        let (root, original) = truthful(&mut rng, n_records, n_terms);
        let layout = Layout::new(&root);
        if n_worlds_bound(&layout) > 3e5 {
            continue;
        }
        assert!(layout.is_world(&original), "seed {seed}: the generator lies: {root:?}");
        let terms: Vec<TermId> = (0..n_terms as TermId).collect();
        let itemsets = crate::worlds::guarantee::subsets(&terms, 4);
        let mut most = vec![0; itemsets.len()];
        let asked: Vec<Terms> = itemsets.iter().map(|itemset| itemset.iter().map(|t| 1 << t).sum()).collect();
        enumerate(&layout, TermChunks::Enumerated, |world| {
            for (most, &itemset) in most.iter_mut().zip(&asked) {
                *most = support(world, itemset).max(*most);
            }
        });
        let oracle = Oracle::new(&root);
        assert!(oracle.has_world());
        for (itemset, &most) in itemsets.iter().zip(&most) {
            let report = || format!("seed {seed}, {itemset:?} in {root:?}");
            assert_eq!(states::max_support(&layout, itemset), most, "states: {}", report());
            assert_eq!(oracle.max_support(itemset), most, "flow: {}", report());
            assert_eq!(oracle.max_support_up_to(itemset, 2), most.min(2), "flow up to 2: {}", report());
        }
        seen.count(&root, &oracle, &original, &itemsets);
    }
    seen.assert_at_least(300);
}

/// Up to twelve records, deeper trees: too many worlds to walk through, not too many states.
#[test]
fn flow_and_states_agree_on_small_releases() {
    let mut seen = Seen::default();
    for seed in 0..400 {
        let mut rng = ChaCha8Rng::seed_from_u64(2_000_000 + seed);
        let (n_records, n_terms) = (rng.random_range(8..=12), rng.random_range(3..=7));
        let (root, original) = truthful(&mut rng, n_records, n_terms);
        let oracle = Oracle::new(&root);
        let terms: Vec<TermId> = (0..n_terms as TermId).collect();
        let itemsets = crate::worlds::guarantee::subsets(&terms, 3);
        for _ in 0..6 {
            let itemset = &itemsets[rng.random_range(0..itemsets.len())];
            let expected = states::max_support(oracle.layout(), itemset);
            assert_eq!(oracle.max_support(itemset), expected, "seed {seed}, {itemset:?} in {root:?}");
        }
        seen.count(&root, &oracle, &original, &itemsets);
    }
    seen.assert_at_least(150);
}

/// Whether the random releases were interesting: agreement on easy ones shows little.
#[derive(Default)]
struct Seen {
    joint: usize,
    nested: usize,
    /// Releases where a subrecord of a shared chunk is ruled out in some leaf.
    conflict: usize,
    /// Releases where the maximum is larger than in the original, but smaller than the rarest part allows.
    constrained: usize,
}

impl Seen {
    fn count(&mut self, root: &Node, oracle: &Oracle, original: &[Vec<Vec<TermId>>], itemsets: &[Vec<TermId>]) {
        let Node::Joint(joint) = root else { return };
        self.joint += 1;
        self.nested += usize::from(joint.members.iter().any(|member| matches!(member, Node::Joint(_))));
        let chunks = &oracle.layout().chunks;
        let ruled_out = |chunk: &crate::worlds::Bag| {
            chunk.subrecords.iter().any(|s| chunk.leaves.clone().any(|leaf| !s.eligible[leaf]))
        };
        self.conflict += usize::from(chunks.iter().any(ruled_out));
        let true_support = |itemset: &[TermId]| {
            original.iter().flatten().filter(|record| itemset.iter().all(|t| record.contains(t))).count() as u64
        };
        self.constrained += usize::from(itemsets.iter().filter(|itemset| itemset.len() > 1).any(|itemset| {
            let rarest = itemset.iter().map(|&t| oracle.max_support(&[t])).min().unwrap_or(0);
            let most = oracle.max_support(itemset);
            true_support(itemset) < most && most < rarest
        }));
    }

    fn assert_at_least(&self, n: usize) {
        let Seen { joint, nested, conflict, constrained } = *self;
        let told = format!("{joint} joint, {nested} nested, {conflict} with conflicts, {constrained} constrained");
        assert!(joint >= n && nested >= n / 4 && conflict >= n / 4 && constrained >= n / 4, "too tame: {told}");
    }
}

// ---- Notation: terms are small letters, "ab ab c" is a bag of subrecords -------------------------------------------

fn listed(record: Terms) -> Vec<TermId> {
    (0..64).filter(|t| record >> t & 1 == 1).collect()
}

fn lemma_3_counterexample() -> Node {
    joint(vec![leaf(7, &["a a a", "b b b"], ""), leaf(4, &["p p p p"], "")], &["z z z"])
}

fn dataset(records: &[&str]) -> Dataset {
    Dataset::from_texts(records.iter().map(|record| record.chars().map(String::from)))
}

/// How many of `worlds` have which support of an itemset.
fn supports(worlds: &[Vec<Vec<Terms>>], itemset: &str) -> BTreeMap<u64, usize> {
    let mut counts = BTreeMap::new();
    for world in worlds {
        *counts.entry(support(world, bits(itemset))).or_default() += 1;
    }
    counts
}

/// The papers fix the first chunk, whose terms are `first`, and count arrangements of the others against it: these are
/// the labelled arrangements that agree on the first chunk with the one visited first. Term chunks are left out.
fn arrangements_with_first_chunk_fixed(root: &Node, first: &str) -> Vec<Vec<Vec<Terms>>> {
    let mut fixed = None;
    let mut arrangements = Vec::new();
    enumerate(&Layout::new(root), TermChunks::Omitted, |world| {
        let chunk: Vec<Terms> = world[0].iter().map(|record| record & bits(first)).collect();
        if *fixed.get_or_insert_with(|| chunk.clone()) == chunk {
            arrangements.push(world.to_vec());
        }
    });
    arrangements
}
