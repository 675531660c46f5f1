//! Generalisation to k^m-anonymity against all sets counted, the paper's loop word by word, and all cuts.

use std::collections::{BTreeMap, BTreeSet};

use disjoin::Unobserved;
use disjoin::data::{Dataset, Hierarchy, NodeId, TermId, Transactions};
use disjoin::error::Error;
use disjoin::protect::recoding::{AprioriParams, CostRule, Cut, LocalParams, apriori, lra, vpa};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

type Set = BTreeSet<NodeId>;

/// All subsets of up to m nodes, and not of none.
fn subsets(nodes: &Set, m: u32) -> Vec<Set> {
    let mut sets = vec![Set::new()];
    for &node in nodes {
        for at in 0..sets.len() {
            if sets[at].len() < m as usize {
                let mut with = sets[at].clone();
                with.insert(node);
                sets.push(with);
            }
        }
    }
    sets.split_off(1)
}

/// The sets of up to m nodes that some record holds on a cut, but fewer than k.
fn violated(records: &Transactions, cut: &[NodeId], k: u32, m: u32) -> Vec<Set> {
    let mut counts: BTreeMap<Set, u32> = BTreeMap::new();
    for record in records.iter() {
        let nodes = record.iter().map(|&term| cut[term as usize]).collect();
        subsets(&nodes, m).into_iter().for_each(|set| *counts.entry(set).or_default() += 1);
    }
    counts.into_iter().filter(|(_, count)| *count < k).map(|(set, _)| set).collect()
}

/// All cuts of a hierarchy.
fn cuts(hierarchy: &Hierarchy) -> Vec<Vec<NodeId>> {
    let mut cuts = vec![(0..hierarchy.n_terms() as NodeId).collect::<Vec<_>>()];
    // Bottom-up, so that each cut is made once: a node goes over all cuts that nothing higher is on.
    for node in hierarchy.n_terms() as NodeId..hierarchy.n_nodes() as NodeId {
        let mut with: BTreeSet<Vec<NodeId>> = BTreeSet::new();
        for cut in &cuts {
            let over = |(term, &other): (usize, &NodeId)| {
                if hierarchy.is_ancestor(node, term as NodeId) { node } else { other }
            };
            with.insert(cut.iter().enumerate().map(over).collect());
        }
        cuts.extend(with);
    }
    cuts
}

fn ncp(cut: &[NodeId], records: &Transactions, hierarchy: &Hierarchy) -> f64 {
    Cut::from_nodes(cut.to_vec(), hierarchy).unwrap().ncp(records, hierarchy)
}

/// A set of nodes as a path of the tree: the most general node first.
type Path = Vec<(std::cmp::Reverse<u32>, NodeId)>;

fn path_of(nodes: &Set, hierarchy: &Hierarchy) -> Path {
    let mut path: Path = nodes.iter().map(|&node| (std::cmp::Reverse(hierarchy.leaves_below(node)), node)).collect();
    path.sort_unstable();
    path
}

/// How many records hold each set of nodes on or above a cut, without a node and its ancestor.
fn counted(records: &Transactions, hierarchy: &Hierarchy, cut: &[NodeId], m: u32) -> BTreeMap<Path, u32> {
    let mut counts: BTreeMap<Path, u32> = BTreeMap::new();
    for record in records.iter() {
        let on_cut = record.iter().map(|&term| cut[term as usize]);
        let nodes: Set = on_cut.flat_map(|node| std::iter::once(node).chain(hierarchy.ancestors(node))).collect();
        for set in subsets(&nodes, m) {
            let is_nested = set.iter().any(|&one| set.iter().any(|&other| hierarchy.is_ancestor(one, other)));
            if !is_nested {
                *counts.entry(path_of(&set, hierarchy)).or_default() += 1;
            }
        }
    }
    counts
}

/// All ways to put ancestors below the root in the place of nodes, without what is below another.
fn ways(set: &Set, hierarchy: &Hierarchy, root: NodeId) -> Vec<Set> {
    let mut ways = vec![Set::new()];
    for &node in set {
        let choices = || std::iter::once(node).chain(hierarchy.ancestors(node)).filter(|&node| node != root);
        ways = ways
            .iter()
            .flat_map(|way| choices().map(move |choice| way.iter().copied().chain([choice]).collect::<Set>()))
            .collect();
    }
    let merged = |way: &Set| -> Set {
        way.iter().copied().filter(|&node| !way.iter().any(|&other| hierarchy.is_ancestor(other, node))).collect()
    };
    ways.iter().map(merged).collect()
}

/// The loop of the specification: a tree of all sets of ancestors, here a sorted list; the most general node first.
fn literal(records: &Transactions, hierarchy: &Hierarchy, k: u32, m: u32) -> Vec<NodeId> {
    let root = hierarchy.n_nodes() as NodeId - 1;
    let mut cut: Vec<NodeId> = (0..hierarchy.n_terms() as NodeId).collect();
    let is_below_cut = |cut: &[NodeId], node: NodeId| cut.iter().any(|&on| hierarchy.is_ancestor(on, node));
    let apply = |cut: &[NodeId], way: &Set| -> Vec<NodeId> {
        let over = |(term, &on): (usize, &NodeId)| {
            let above = way.iter().copied().find(|&node| hierarchy.is_ancestor(node, term as NodeId));
            above.filter(|&node| hierarchy.is_ancestor(node, on)).unwrap_or(on)
        };
        cut.iter().enumerate().map(over).collect()
    };
    for size in 1..=m {
        let counts = counted(records, hierarchy, &cut, m);
        let count = |nodes: &Set| counts.get(&path_of(nodes, hierarchy)).copied().unwrap_or(0);
        for (path, &support) in counts.iter().filter(|(path, _)| path.len() == size as usize) {
            let set: Set = path.iter().map(|&(_, node)| node).collect();
            if support >= k || set.iter().any(|&node| is_below_cut(&cut, node)) || set.contains(&root) {
                continue;
            }
            let best = ways(&set, hierarchy, root)
                .iter()
                .filter(|way| count(way) >= k)
                .map(|way| apply(&cut, way))
                .min_by(|one, other| ncp(one, records, hierarchy).total_cmp(&ncp(other, records, hierarchy)));
            cut = best.unwrap_or_else(|| vec![root; cut.len()]);
        }
    }
    cut
}

struct Instance {
    records: Transactions,
    hierarchy: Hierarchy,
    params: AprioriParams,
}

fn random(rng: &mut ChaCha8Rng) -> Instance {
    let n_terms: usize = rng.random_range(4..9);
    let texts: Vec<String> = (0..n_terms).map(|term| format!("t{term}")).collect();
    let mut data = Dataset::from_texts([&texts]);
    data.records = Transactions::default();
    // Some terms are common, as in real data.
    let chances: Vec<f64> = (0..n_terms).map(|_| rng.random_range(0.05..0.8_f64).powi(2)).collect();
    for _ in 0..rng.random_range(5..40) {
        data.records.push(&mut (0..n_terms as TermId).filter(|&t| rng.random_bool(chances[t as usize])).collect());
    }
    let hierarchy = if rng.random_bool(0.5) {
        Hierarchy::uniform(&data.dictionary, rng.random_range(2..4)).unwrap()
    } else {
        // A label for the first letter of two, and now and then one more.
        let paths: Vec<(String, Vec<String>)> = texts
            .iter()
            .map(|text| {
                let low = rng.random_range(0..4);
                let path = [format!("l{low}"), format!("h{}", low / 2), "*".to_owned()];
                (text.clone(), path[rng.random_range(0..2)..].to_vec())
            })
            .collect();
        let paths = paths.iter().map(|(term, path)| (term.as_str(), path.iter().map(String::as_str)));
        Hierarchy::from_paths(&data.dictionary, paths).unwrap()
    };
    let cost = [CostRule::Increment, CostRule::Alone, CostRule::Count][rng.random_range(0..3)];
    let params = AprioriParams { k: rng.random_range(2..5), m: rng.random_range(1..5), cost };
    Instance { records: data.records, hierarchy, params }
}

#[test]
fn no_set_is_left_violated_and_no_step_is_in_vain() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut changed = 0;
    for round in 0..3000 {
        let Instance { records, hierarchy, params } = random(&mut rng);
        let AprioriParams { k, m, .. } = params;
        match apriori(&records, &hierarchy, &params, &Unobserved) {
            Ok(cut) => {
                assert!(violated(&records, cut.nodes(), k, m).is_empty(), "round {round}");
                // One node less, and some set is violated.
                for &node in cut.nodes().iter().filter(|&&node| node as usize >= hierarchy.n_terms()) {
                    let child = |(term, &on): (usize, &NodeId)| {
                        let mut path = std::iter::once(term as NodeId).chain(hierarchy.ancestors(term as NodeId));
                        if on == node { path.find(|&below| hierarchy.parent(below) == Some(node)).unwrap() } else { on }
                    };
                    let without: Vec<NodeId> = cut.nodes().iter().enumerate().map(child).collect();
                    assert!(!violated(&records, &without, k, m).is_empty(), "round {round}");
                }
                let is_fine = violated(&records, Cut::identity(hierarchy.n_terms()).nodes(), k, m).is_empty();
                assert_eq!(cut == Cut::identity(hierarchy.n_terms()), is_fine, "round {round}");
                changed += usize::from(!is_fine);
            }
            Err(Error::Infeasible { .. }) => assert!(records.len() < k as usize && !records.is_empty()),
            Err(error) => panic!("{error}"),
        }
    }
    assert!(changed > 1000, "{changed}");
}

#[test]
fn no_set_is_left_violated_in_any_block() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let (mut blocks, mut unlike) = (0, 0);
    for round in 0..1000 {
        let Instance { records, hierarchy, params: AprioriParams { k, m, cost } } = random(&mut rng);
        if records.len() < k as usize {
            continue;
        }
        let block = rng.random_range(k as usize..15);
        let local = lra(&records, &hierarchy, &LocalParams { k, m, cost, block }, &Unobserved).unwrap();
        let mut all: Vec<u32> = Vec::new();
        let (mut penalties, mut occurrences) = (0.0, 0.0);
        for (ids, cut) in &local.blocks {
            let mut of_block = Transactions::default();
            for &id in ids {
                of_block.push(&mut records.record(id).to_vec());
            }
            assert!(violated(&of_block, cut.nodes(), k, m).is_empty(), "round {round}");
            assert!(ids.len() >= block.min(records.len()) && ids.len() < 2 * block, "round {round}");
            penalties += ncp(cut.nodes(), &of_block, &hierarchy) * of_block.n_incidences() as f64;
            occurrences += of_block.n_incidences() as f64;
            all.extend(ids);
        }
        all.sort_unstable();
        assert_eq!(all, (0..records.len() as u32).collect::<Vec<_>>());
        assert!((local.ncp(&records, &hierarchy) - penalties / occurrences).abs() < 1e-12);
        blocks += local.blocks.len();
        unlike += usize::from(local.blocks.iter().any(|(_, cut)| *cut != local.blocks[0].1));
    }
    assert!(blocks > 1500 && unlike > 100, "{blocks} {unlike}");
}

#[test]
fn parts_of_the_domain_leave_no_set_violated() {
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    for round in 0..1000 {
        let Instance { records, hierarchy, params } = random(&mut rng);
        if records.len() < params.k as usize {
            continue;
        }
        let cut = vpa(&records, &hierarchy, &params, rng.random_range(1..6), &Unobserved).unwrap();
        assert!(violated(&records, cut.nodes(), params.k, params.m).is_empty(), "round {round}");
    }
}

#[test]
fn cuts_are_near_the_optimum() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let (mut ours, mut papers): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
    let (mut sums, mut n_domains) = ([0.0; 3], 0);
    while n_domains < 1000 {
        let Instance { records, hierarchy, mut params } = random(&mut rng);
        if records.len() < params.k as usize {
            continue;
        }
        n_domains += 1;
        params.cost = CostRule::Increment;
        let safe = |cut: &Vec<NodeId>| violated(&records, cut, params.k, params.m).is_empty();
        let optimum = cuts(&hierarchy).into_iter().filter(safe).map(|cut| ncp(&cut, &records, &hierarchy));
        let optimum = optimum.min_by(f64::total_cmp).unwrap();
        let paper = literal(&records, &hierarchy, params.k, params.m);
        assert!(safe(&paper));
        let paper = ncp(&paper, &records, &hierarchy);
        let cut = apriori(&records, &hierarchy, &params, &Unobserved).unwrap().ncp(&records, &hierarchy);
        assert!(cut >= optimum - 1e-12 && paper >= optimum - 1e-12);
        assert!(cut <= 2.0 * optimum + 1e-12, "{cut} instead of {optimum}");
        sums.iter_mut().zip([optimum, cut, paper]).for_each(|(sum, value)| *sum += value / 1000.0);
        if optimum > 0.0 {
            ours.push(cut / optimum);
            papers.push(paper / optimum);
        }
    }
    for (name, mut ratios) in [("ours", ours), ("the paper's", papers)] {
        ratios.sort_by(f64::total_cmp);
        let optimal = ratios.iter().filter(|&&ratio| ratio < 1.0 + 1e-9).count();
        let at = |share: f64| ratios[(share * (ratios.len() - 1) as f64) as usize];
        println!(
            "{name}: optimal in {optimal} of {}, ratio at 90 % {:.3}, 99 % {:.3}, largest {:.3}",
            ratios.len(),
            at(0.9),
            at(0.99),
            at(1.0)
        );
    }
    println!("mean NCP: optimum {:.4}, ours {:.4}, the paper's {:.4}", sums[0], sums[1], sums[2]);
    assert!(sums[1] <= sums[2] && sums[1] < 1.05 * sums[0], "{sums:?}");
}

#[test]
fn the_example_generalises_one_side_only() {
    let data = Dataset::from_texts([&["a1", "b1", "b2"][..], &["a2", "b1"], &["a2", "b1", "b2"], &["a1", "a2", "b2"]]);
    let paths = [("a1", ["A", "*"]), ("a2", ["A", "*"]), ("b1", ["B", "*"]), ("b2", ["B", "*"])];
    let hierarchy = Hierarchy::from_paths(&data.dictionary, paths).unwrap();
    let node = |text: &str| (0..hierarchy.n_nodes() as NodeId).find(|&n| hierarchy.text(n, &data.dictionary) == text);
    for cost in [CostRule::Increment, CostRule::Alone, CostRule::Count] {
        let cut = apriori(&data.records, &hierarchy, &AprioriParams { k: 2, m: 2, cost }, &Unobserved).unwrap();
        let texts: Vec<_> = data.dictionary.iter().zip(cut.nodes()).map(|(term, &node)| (term, node)).collect();
        for (term, on) in texts {
            assert_eq!(Some(on), node(if term.starts_with('a') { "A" } else { term }), "{term}");
        }
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let data = Dataset::from_texts([&["a", "b"][..], &["a"], &["c", "d"]]);
    let one_root = Hierarchy::uniform(&data.dictionary, 2).unwrap();
    let refused = |k, m, hierarchy: &Hierarchy| {
        apriori(&data.records, hierarchy, &AprioriParams::new(k, m), &Unobserved).unwrap_err()
    };
    assert!(matches!(refused(1, 2, &one_root), Error::Recipe { .. }));
    assert!(matches!(refused(2, 0, &one_root), Error::Recipe { .. }));
    assert!(matches!(refused(4, 2, &one_root), Error::Infeasible { .. }));
    // Two trees, and nobody shares the second.
    let paths = [("a", "x"), ("b", "x"), ("c", "y"), ("d", "y")].map(|(term, label)| (term, [label]));
    let two_roots = Hierarchy::from_paths(&data.dictionary, paths).unwrap();
    assert!(matches!(refused(2, 1, &two_roots), Error::Infeasible { problem, .. } if problem.contains("root")));
    let cut = apriori(&data.records, &one_root, &AprioriParams::new(3, 9), &Unobserved).unwrap();
    assert_eq!(cut.nodes(), [one_root.n_nodes() as NodeId - 1; 4]);
    let none = apriori(&Transactions::default(), &one_root, &AprioriParams::new(5, 2), &Unobserved).unwrap();
    assert_eq!(none, Cut::identity(4));
    let block_below_k = LocalParams { block: 3, ..LocalParams::new(4, 2) };
    assert!(matches!(lra(&data.records, &one_root, &block_below_k, &Unobserved), Err(Error::Recipe { .. })));
    assert!(matches!(
        lra(&data.records, &one_root, &LocalParams::new(4, 2), &Unobserved),
        Err(Error::Infeasible { .. })
    ));
    assert!(matches!(
        vpa(&data.records, &one_root, &AprioriParams::new(2, 2), 0, &Unobserved),
        Err(Error::Recipe { .. })
    ));
    let smaller = Hierarchy::uniform(&Dataset::from_texts([["a"]]).dictionary, 2).unwrap();
    assert!(matches!(refused(2, 2, &smaller), Error::Internal(_)));
}
