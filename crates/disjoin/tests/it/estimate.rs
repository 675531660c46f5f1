//! Estimates and reconstructions against all worlds of random releases.
//!
//! * *Bounds*: the least and the greatest support over all worlds, by walking through them. Equal for simple clusters,
//!   enclosing for joint ones. They would catch a bound that some original breaks: an analyst would be told wrong.
//! * *Expectation and deviation*: over all arrangements, each as likely. They would catch a wrong formula.
//! * *Reconstructions*: every one is a world if empty records are filled; the mean of 20,000 is the expectation. They
//!   would catch a sampler that favours some records.

use crate::worlds::Layout;
use crate::worlds::guarantee::subsets;
use crate::worlds::letters::{bits, ids, joint, leaf, release, support};
use crate::worlds::literal::{TermChunks, Terms, enumerate};
use crate::worlds::random::{n_worlds_bound, truthful};
use disjoin::Unobserved;
use disjoin::data::{TermId, Transactions};
use disjoin::inspect::Mining;
use disjoin::reconstruct::{
    Estimate, Model, Multiplicity, Sampling, Selection, estimate, expectation, pair_expectations, reconstruct,
    reconstruct_terms, top_expected,
};
use disjoin::release::{Disassociated, Node};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

const SEEDS: u64 = 4_000;

/// A release with one root, and how many of them.
fn copies(root: &Node, n: usize) -> Disassociated {
    release(3, 2, root.size() * n as u64, vec![root.clone(); n])
}

fn bits_of(itemset: &[TermId]) -> Terms {
    itemset.iter().map(|t| 1 << t).sum()
}

/// Small random roots, and the itemsets to ask about.
fn random_root(seed: u64) -> Option<(Node, Layout, Vec<Vec<TermId>>)> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (n_records, n_terms) = (rng.random_range(2..=7), rng.random_range(2..=5));
    let (root, _) = truthful(&mut rng, n_records, n_terms);
    let layout = Layout::new(&root);
    let terms: Vec<TermId> = (0..n_terms as TermId).collect();
    (n_worlds_bound(&layout) < 1e5).then(|| (root, layout, subsets(&terms, 4)))
}

fn is_joint(root: &Node) -> bool {
    matches!(root, Node::Joint(_))
}

/// Whether all subrecords of each chunk may lie in the same leaves: only then are all arrangements as likely.
fn is_even(layout: &Layout) -> bool {
    layout.chunks.iter().all(|chunk| chunk.subrecords.windows(2).all(|pair| pair[0].eligible == pair[1].eligible))
}

// ---- Bounds ----------------------------------------------------------------------------------------------------------

#[test]
fn bounds_are_those_of_all_worlds() {
    let checked: Vec<(bool, u64, u64)> = (0..2 * SEEDS + 800)
        .into_par_iter()
        .filter_map(|seed| {
            let (root, layout, itemsets) = random_root(seed)?;
            let asked: Vec<Terms> = itemsets.iter().map(|itemset| bits_of(itemset)).collect();
            let mut found = vec![(u64::MAX, 0); asked.len()];
            enumerate(&layout, TermChunks::Enumerated, |world| {
                for ((least, most), &itemset) in found.iter_mut().zip(&asked) {
                    let support = support(world, itemset);
                    *least = support.min(*least);
                    *most = support.max(*most);
                }
            });
            let release = copies(&root, 1);
            let model = Model::new(&release).ok()?;
            let mut tight = 0;
            for (itemset, &(least, most)) in itemsets.iter().zip(&found) {
                let Estimate { lower, upper, expected, deviation } = estimate(&model, itemset);
                let report = || format!("seed {seed}, {itemset:?} in {root:?}");
                if is_joint(&root) {
                    assert!(lower <= least && most <= upper, "{lower} {least} {most} {upper}: {}", report());
                    tight += u64::from((lower, upper) == (least, most));
                } else {
                    assert_eq!((lower, upper), (least, most), "{}", report());
                }
                assert!(lower as f64 <= expected && expected <= upper as f64 && deviation >= 0.0, "{}", report());
            }
            Some((is_joint(&root), tight, itemsets.len() as u64))
        })
        .collect();
    let joint: Vec<_> = checked.iter().filter(|(joint, ..)| *joint).collect();
    let (tight, all) = joint.iter().fold((0, 0), |sum, (_, tight, all)| (sum.0 + tight, sum.1 + all));
    assert!(checked.len() - joint.len() >= 2_000, "{} simple releases", checked.len() - joint.len());
    assert!(joint.len() >= 2_000, "{} joint releases", joint.len());
    assert!(tight * 10 >= all * 8, "{tight} of {all} bounds of joint clusters are attained");
}

// ---- Expectation and deviation -----------------------------------------------------------------------------------------

/// Mean and deviation of the supports over all arrangements, each term of a term chunk in one record.
fn moments(layout: &Layout, itemset: Terms) -> (f64, f64) {
    let terms: Vec<(usize, Terms)> = (layout.leaves.iter().enumerate())
        .flat_map(|(leaf, simple)| simple.term_chunk.iter().map(move |&t| (leaf, 1 << t)))
        .filter(|(_, bit)| itemset & bit != 0)
        .collect();
    let (mut n, mut sum, mut squares) = (0.0, 0.0, 0.0);
    enumerate(layout, TermChunks::Omitted, |world| {
        place_once(&terms, &mut world.to_vec(), &mut |world| {
            let support = support(world, itemset) as f64;
            n += 1.0;
            sum += support;
            squares += support * support;
        });
    });
    let mean = sum / n;
    (mean, (squares / n - mean * mean).max(0.0).sqrt())
}

/// Puts each of `terms` into one record of its leaf, in all ways.
fn place_once(terms: &[(usize, Terms)], world: &mut Vec<Vec<Terms>>, visit: &mut dyn FnMut(&[Vec<Terms>])) {
    let Some((&(leaf, bit), rest)) = terms.split_first() else { return visit(world) };
    for record in 0..world[leaf].len() {
        world[leaf][record] |= bit;
        place_once(rest, world, visit);
        world[leaf][record] &= !bit;
    }
}

/// What the law says where arrangements are not all as likely: each subrecord evenly over the records where it may lie.
fn slow_expectation(layout: &Layout, itemset: &[TermId]) -> f64 {
    let in_leaf = |leaf: usize| -> Option<f64> {
        let owner = &layout.leaves[leaf].owner;
        let mut owners: Vec<_> = itemset.iter().map(|t| owner.get(t).copied()).collect::<Option<Vec<_>>>()?;
        let size = layout.leaves[leaf].size as f64;
        let mut factor = size;
        let in_term_chunk = owners.iter().filter(|owner| **owner == crate::worlds::Owner::TermChunk).count();
        factor *= (1.0 / size).powi(in_term_chunk as i32);
        owners.dedup();
        let mut done = Vec::new();
        for owner in owners {
            let crate::worlds::Owner::Chunk(id) = owner else { continue };
            if done.contains(&id) {
                continue;
            }
            done.push(id);
            let here = &layout.leaves[leaf].owner;
            let part: Vec<TermId> =
                itemset.iter().copied().filter(|t| here[t] == crate::worlds::Owner::Chunk(id)).collect();
            let mut probability = 0.0;
            for subrecord in &layout.chunks[id].subrecords {
                if subrecord.eligible[leaf] && part.iter().all(|t| subrecord.terms.contains(t)) {
                    let eligible = subrecord.eligible.iter().zip(&layout.leaves).filter(|(eligible, _)| **eligible);
                    let records: usize = eligible.map(|(_, leaf)| leaf.size).sum();
                    probability += subrecord.count as f64 / records as f64;
                }
            }
            factor *= probability;
        }
        Some(factor)
    };
    (0..layout.leaves.len()).filter_map(in_leaf).sum()
}

/// Whether no leaf would be given more subrecords of a chunk than it has records, if each were placed evenly.
fn has_room(layout: &Layout) -> bool {
    layout.chunks.iter().all(|chunk| {
        (0..layout.leaves.len()).all(|leaf| {
            let eligible = chunk.subrecords.iter().filter(|subrecord| subrecord.eligible[leaf]);
            let load: f64 = eligible
                .map(|subrecord| {
                    let leaves = subrecord.eligible.iter().zip(&layout.leaves).filter(|(eligible, _)| **eligible);
                    subrecord.count as f64 / leaves.map(|(_, leaf)| leaf.size).sum::<usize>() as f64
                })
                .sum();
            load <= 1.0 + 1e-9
        })
    })
}

#[test]
fn expectations_are_those_of_all_arrangements() {
    let counts = (0..SEEDS)
        .into_par_iter()
        .filter_map(|seed| {
            let (root, layout, itemsets) = random_root(1_000_000 + seed)?;
            let release = copies(&root, 2);
            let model = Model::new(&release).ok()?;
            let even = is_even(&layout);
            let asked: Vec<TermId> = (0..5).rev().collect();
            let pairs = pair_expectations(&model, &asked);
            for (i, j) in (0..5).flat_map(|i| (i + 1..5).map(move |j| (i, j))) {
                let single = expectation(&model, &[asked[j], asked[i]]);
                assert!((pairs[i * 5 + j] - single).abs() < 1e-9, "seed {seed}: {} and {}", asked[i], asked[j]);
            }
            for itemset in &itemsets {
                let report = || format!("seed {seed}, {itemset:?} in {root:?}");
                let expected = expectation(&model, itemset) / 2.0;
                if even {
                    let (mean, deviation) = moments(&layout, bits_of(itemset));
                    assert!((expected - mean).abs() < 1e-9, "{expected} {mean}: {}", report());
                    let estimated = estimate(&model, itemset).deviation / 2_f64.sqrt();
                    assert!((estimated - deviation).abs() < 1e-6, "{estimated} {deviation}: {}", report());
                }
                if has_room(&layout) {
                    let slow = slow_expectation(&layout, itemset);
                    assert!((expected - slow).abs() < 1e-9, "{expected} {slow}: {}", report());
                }
            }
            Some([u64::from(even && !is_joint(&root)), u64::from(even && is_joint(&root)), u64::from(!even)])
        })
        .reduce(|| [0; 3], |a, b| [a[0] + b[0], a[1] + b[1], a[2] + b[2]]);
    assert!(counts[0] >= 600 && counts[1] >= 600 && counts[2] >= 200, "{counts:?}");
}

/// Barakat et al. 2016, figure 1; Terrovitis et al. 2012, figures 2 and 4.
#[test]
fn expectations_of_the_papers_figures() {
    let ask = |root: &Node, itemset: &str| {
        let release = copies(root, 1);
        let model = Model::new(&release).unwrap();
        (expectation(&model, &ids(itemset)), estimate(&model, &ids(itemset)))
    };
    let figure_1 = leaf(6, &["otc otc otc otc t o", "se se se s"], "vnh");
    let (expected, found) = ask(&figure_1, "ce");
    assert_eq!((expected, found.lower, found.upper), (2.0, 1, 3));
    // 12, 36 and 12 arrangements with supports 1, 2 and 3.
    assert!((found.deviation - 0.4_f64.sqrt()).abs() < 1e-12);
    let (expected, found) = ask(&figure_1, "cs");
    assert!((expected - 8.0 / 3.0).abs() < 1e-12);
    assert_eq!((found.lower, found.upper), (2, 4));
    let figure_2 = leaf(5, &["ifm fm im if ifm", "as as as"], "krv");
    assert!((ask(&figure_2, "ia").0 - 2.4).abs() < 1e-12);
    // Figure 4: the law allows empty records, possible originals do not.
    let figure_4 = leaf(5, &["a a a", "bc bc bc"], "");
    let (expected, found) = ask(&figure_4, "ab");
    assert!((expected - 1.8).abs() < 1e-12);
    assert_eq!((found.lower, found.upper, found.expected), (1, 1, 1.0));
}

#[test]
fn the_best_itemsets_are_those_of_all() {
    for seed in 0..600 {
        let mut rng = ChaCha8Rng::seed_from_u64(2_000_000 + seed);
        let (n_records, n_terms) = (rng.random_range(2..=14), rng.random_range(2..=7));
        let (root, _) = truthful(&mut rng, n_records, n_terms);
        let release = copies(&root, 2);
        let Ok(model) = Model::new(&release) else { continue };
        let min_length = rng.random_range(1..=4);
        let max_length = rng.random_range(min_length..=5);
        let excludes = |a: TermId, b: TermId| a == 0 && b == 1;
        let k = rng.random_range(1..40);
        let mining =
            Mining { k, min_length, max_length, excludes: (seed % 2 == 0).then_some(&excludes), observer: &Unobserved };
        let found = top_expected(&model, &mining).unwrap();
        let terms: Vec<TermId> = (0..n_terms as TermId).collect();
        let mut all: Vec<(f64, Vec<TermId>)> = subsets(&terms, max_length)
            .into_iter()
            .filter(|set| set.len() >= min_length && !(seed % 2 == 0 && set.starts_with(&[0, 1])))
            .map(|set| (expectation(&model, &set), set))
            .filter(|(expected, _)| *expected > 0.0)
            .collect();
        all.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.len().cmp(&b.1.len())).then(a.1.cmp(&b.1)));
        assert_eq!(found.len(), all.len().min(k), "seed {seed}");
        for (itemset, (expected, _)) in found.iter().zip(&all) {
            // Ties to a millionth may be in another order: supports must agree, and be those of the itemsets.
            assert!((itemset.support - expected).abs() < 2e-6, "seed {seed}: {itemset:?}");
            assert!((expectation(&model, &itemset.terms) - expected).abs() < 2e-6, "seed {seed}: {itemset:?}");
        }
    }
}

// ---- Reconstructions -----------------------------------------------------------------------------------------------------

/// The records of one draw, leaf by leaf. No record is empty.
fn by_leaf(layout: &Layout, records: &Transactions, first: usize) -> Vec<Vec<Vec<TermId>>> {
    let mut next = first as u32;
    let mut take = |n: usize| -> Vec<Vec<TermId>> {
        next += n as u32;
        (next - n as u32..next).map(|id| records.record(id).to_vec()).collect()
    };
    layout.leaves.iter().map(|leaf| take(leaf.size)).collect()
}

#[test]
fn filled_reconstructions_are_worlds() {
    let counts = (0..2_000_u64)
        .into_par_iter()
        .filter_map(|seed| {
            let mut rng = ChaCha8Rng::seed_from_u64(3_000_000 + seed);
            let (n_records, n_terms) = (rng.random_range(2..=14), rng.random_range(2..=7));
            let (root, _) = truthful(&mut rng, n_records, n_terms);
            let layout = Layout::new(&root);
            let release = copies(&root, 3);
            let policies = [Multiplicity::One, Multiplicity::Half, Multiplicity::Uniform];
            let model = Model::new(&release).ok()?.with_multiplicity(policies[seed as usize % 3]);
            let mut worlds = 0;
            for nth in 0..5 {
                let drawn = reconstruct(&model, &Sampling { seed, fill_empty: true }, nth);
                assert_eq!(drawn.records.len() as u64 + drawn.empty, release.header.records);
                if drawn.empty == 0 {
                    for copy in 0..3 {
                        let world = by_leaf(&layout, &drawn.records, copy * n_records);
                        assert!(layout.is_world(&world), "seed {seed}: {world:?} for {root:?}");
                    }
                    worlds += 1;
                }
            }
            Some([worlds, 5])
        })
        .reduce(|| [0; 2], |a, b| [a[0] + b[0], a[1] + b[1]]);
    assert!(counts[0] * 100 >= counts[1] * 97, "{counts:?}");
}

/// 200 copies of a root drawn 100 times: a mean of 20,000 must be within four standard errors. Of thousands of means
/// some are outside by chance; one that is must not be outside again with another seed.
#[test]
fn the_mean_of_reconstructions_is_the_expectation() {
    const COPIES: usize = 200;
    const DRAWS: u64 = 100;
    let counts = (0..SEEDS)
        .into_par_iter()
        .filter_map(|seed| {
            let (root, layout, itemsets) = random_root(4_000_000 + seed)?;
            let release = copies(&root, COPIES);
            let policies = [Multiplicity::One, Multiplicity::One, Multiplicity::Uniform];
            let model = Model::new(&release).ok()?.with_multiplicity(policies[seed as usize % 3]);
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let asked: Vec<&Vec<TermId>> = (0..3).map(|_| &itemsets[rng.random_range(0..itemsets.len())]).collect();
            let n = COPIES as f64 * DRAWS as f64;
            let even = is_even(&layout);
            let selection = Selection::new(&model, &asked.iter().copied().flatten().copied().collect::<Vec<_>>());
            let outside = |seed: u64| -> Vec<bool> {
                let mut sums = vec![0; asked.len()];
                for nth in 0..DRAWS {
                    let drawn = match seed % 2 {
                        0 => reconstruct(&model, &Sampling { seed, fill_empty: false }, nth).records,
                        _ => reconstruct_terms(&selection, seed, nth),
                    };
                    for record in drawn.iter() {
                        let record = bits_of(record);
                        for (sum, itemset) in sums.iter_mut().zip(&asked) {
                            let itemset = bits_of(itemset);
                            *sum += u64::from(record & itemset == itemset);
                        }
                    }
                }
                let is_outside = |(&sum, itemset): (&u64, &&Vec<TermId>)| {
                    let expected = expectation(&model, itemset) / COPIES as f64;
                    let deviation = estimate(&model, itemset).deviation / (COPIES as f64).sqrt();
                    // Where the deviation is not exact, be content with twice as much.
                    let error = if even { deviation } else { 2.0 * deviation } / n.sqrt();
                    (sum as f64 / n - expected).abs() > 4.0 * error + 1e-9
                };
                sums.iter().zip(&asked).map(is_outside).collect()
            };
            let mut repeated = 0;
            if outside(seed).contains(&true) {
                let both = outside(seed).into_iter().zip(outside(seed + 1_000_000)).any(|(a, b)| a && b);
                assert!(!both, "seed {seed}: {root:?}");
                repeated = 1;
            }
            Some([1, u64::from(is_joint(&root)), u64::from(!even), repeated])
        })
        .reduce(|| [0; 4], |a, b| [a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]]);
    let [all, joint, uneven, repeated] = counts;
    assert!(all >= 2_000 && joint >= 1_000 && uneven >= 200 && repeated <= 6, "{counts:?}");
}

/// Where subrecords of one chunk may lie in different leaves the deviation is an approximation: how good is it?
#[test]
fn deviations_with_conflicts_are_close_and_not_too_small() {
    let root = joint(
        vec![leaf(6, &["a a a b"], "c"), leaf(8, &["b b b b"], "d"), leaf(5, &["e e e"], "")],
        &["axy axy axy xy xy xy y"],
    );
    let release = copies(&root, 1);
    let model = Model::new(&release).unwrap();
    for itemset in ["xy", "bx", "by", "ex", "axy", "dx"] {
        let Estimate { deviation, .. } = estimate(&model, &ids(itemset));
        let (mut sum, mut squares) = (0.0, 0.0);
        const DRAWS: u64 = 20_000;
        for nth in 0..DRAWS {
            let drawn = reconstruct(&model, &Sampling { seed: 1, fill_empty: false }, nth);
            let itemset = bits(itemset);
            let support = drawn.records.iter().filter(|record| bits_of(record) & itemset == itemset).count() as f64;
            sum += support;
            squares += support * support;
        }
        let mean = sum / DRAWS as f64;
        let sampled = (squares / DRAWS as f64 - mean * mean).max(0.0).sqrt();
        // Rounding spreads the subrecords more evenly over the leaves than chance would: rather too much than too little.
        let close = 0.95 * sampled - 0.02..=1.35 * sampled + 0.02;
        assert!(close.contains(&deviation), "{itemset}: {deviation} {sampled}");
    }
}

#[test]
fn the_same_seed_draws_the_same_for_any_number_of_threads() {
    let roots: Vec<Node> = (0..300).filter_map(|seed| random_root(5_000_000 + seed)).map(|(root, ..)| root).collect();
    let roots: Vec<Node> = roots.into_iter().filter(|root| Model::new(&copies(root, 1)).is_ok()).collect();
    let release = release(3, 2, roots.iter().map(Node::size).sum(), roots);
    let model = Model::new(&release).unwrap();
    let draw = |threads: usize, nth: u64| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| reconstruct(&model, &Sampling { seed: 9, fill_empty: true }, nth).records)
    };
    assert_eq!(draw(1, 0), draw(3, 0));
    assert_ne!(draw(1, 0), draw(1, 1));
    // Some terms alone: nothing else is drawn.
    let terms: Vec<TermId> = (0..release.dictionary.len() as TermId).step_by(3).collect();
    let selection = Selection::new(&model, &terms);
    let some = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| reconstruct_terms(&selection, 9, 2))
    };
    assert_eq!(some(1), some(3));
    assert!(some(1).all_terms().iter().all(|term| terms.contains(term)));
}

// ---- Releases that no dataset has -------------------------------------------------------------------------------------------

#[test]
fn impossible_clusters_are_refused_by_line() {
    let refused = |root: Node| {
        let release = release(2, 2, root.size() + 2, vec![leaf(2, &["a a"], ""), root]);
        Model::new(&release).err().map(|error| error.to_string())
    };
    for (root, problem) in [
        (leaf(2, &["a a a"], ""), "more subrecords than there are records"),
        (leaf(3, &["a a"], ""), "more records than there is content"),
        (leaf(2, &["a a"], "a"), "in two chunks of one cluster"),
        (joint(vec![leaf(2, &["a a"], ""), leaf(2, &["a a"], "")], &["a"]), "every member has elsewhere"),
        (joint(vec![leaf(2, &["a a"], ""), leaf(2, &["b b"], "")], &["x x", "x"]), "in two chunks of one cluster"),
        (joint(vec![leaf(2, &["a a"], ""), leaf(2, &["b b"], "")], &["x x x x x"]), "more subrecords than"),
        (joint(vec![leaf(2, &["a a"], ""), leaf(2, &["b b"], "")], &["ax ax ax x"]), "find no room"),
    ] {
        let message = refused(root).unwrap();
        assert!(message.contains(problem) && message.contains("the release:3"), "{message}");
    }
    let other = release(2, 2, 5, vec![leaf(2, &["a a"], "")]);
    assert!(Model::new(&other).err().unwrap().to_string().contains("declares 5 records, but its clusters have 2"));
}
