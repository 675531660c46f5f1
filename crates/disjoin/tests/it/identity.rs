//! How sure an adversary can be of a person's cluster, row and further terms, against all arrangements of small releases.
//!
//! Arrangements are walked through here once more, with every row and record told apart: for each arrangement and each
//! record with all known terms, the person may be that record, and all these cases are as likely. Counting them would
//! catch a wrong formula, a wrong weight of a shared row, and a pair or a leaf that the fast pass over all pairs forgets.

use std::collections::BTreeMap;

use crate::worlds::guarantee::subsets;
use crate::worlds::letters::{ids, joint, leaf, release};
use crate::worlds::random::{n_worlds_bound, truthful};
use crate::worlds::{Bag, Layout};
use disjoin::attack::identity::{Posterior, further, pairs_of_release, posterior, worst};
use disjoin::attack::stronger::candidates;
use disjoin::data::{Dataset, TermId};
use disjoin::protect::disassociation::{Grouping, Params, disassociate};
use disjoin::reconstruct::Model;
use disjoin::release::{Disassociated, Node};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

type Terms = u64;

fn bits_of(itemset: &[TermId]) -> Terms {
    itemset.iter().map(|t| 1 << t).sum()
}

/// A record of an arrangement: its terms, and the row that it has of each chunk.
#[derive(Clone, Default)]
struct Record {
    leaf: usize,
    terms: Terms,
    rows: Vec<(usize, usize)>,
}

/// Calls `visit` for every arrangement, each term of a term chunk in one record.
fn arrangements(layout: &Layout, visit: &mut dyn FnMut(&[Record])) {
    let mut records: Vec<Record> = (layout.leaves.iter().enumerate())
        .flat_map(|(leaf, simple)| vec![Record { leaf, ..Record::default() }; simple.size])
        .collect();
    place_chunk(layout, 0, &mut records, visit);
}

fn place_chunk(layout: &Layout, id: usize, records: &mut Vec<Record>, visit: &mut dyn FnMut(&[Record])) {
    match layout.chunks.get(id) {
        Some(chunk) => place_row(layout, id, &rows_of(chunk), 0, records, visit),
        None => {
            let hidden: Vec<(usize, TermId)> = (layout.leaves.iter().enumerate())
                .flat_map(|(leaf, simple)| simple.term_chunk.iter().map(move |&t| (leaf, t)))
                .collect();
            place_terms(&hidden, records, visit);
        }
    }
}

/// For each row of a chunk, which of its distinct subrecords it is.
fn rows_of(chunk: &Bag) -> Vec<usize> {
    chunk.subrecords.iter().enumerate().flat_map(|(i, subrecord)| vec![i; subrecord.count]).collect()
}

fn place_row(
    layout: &Layout,
    id: usize,
    rows: &[usize],
    row: usize,
    records: &mut Vec<Record>,
    visit: &mut dyn FnMut(&[Record]),
) {
    let Some(&i) = rows.get(row) else { return place_chunk(layout, id + 1, records, visit) };
    let subrecord = &layout.chunks[id].subrecords[i];
    for at in 0..records.len() {
        let is_free = records[at].rows.iter().all(|&(chunk, _)| chunk != id);
        if is_free && subrecord.eligible[records[at].leaf] {
            records[at].rows.push((id, row));
            records[at].terms |= bits_of(&subrecord.terms);
            place_row(layout, id, rows, row + 1, records, visit);
            records[at].rows.pop();
            records[at].terms &= !bits_of(&subrecord.terms);
        }
    }
}

fn place_terms(hidden: &[(usize, TermId)], records: &mut Vec<Record>, visit: &mut dyn FnMut(&[Record])) {
    let Some((&(leaf, term), rest)) = hidden.split_first() else { return visit(records) };
    for at in 0..records.len() {
        if records[at].leaf == leaf {
            records[at].terms |= 1 << term;
            place_terms(rest, records, visit);
            records[at].terms &= !(1 << term);
        }
    }
}

/// Numbers of cases.
#[derive(Default)]
struct Cases {
    all: f64,
    arrangements: f64,
    by_leaf: BTreeMap<u32, f64>,
    by_row: BTreeMap<(usize, usize), f64>,
    /// For each record, by its place.
    by_record: BTreeMap<usize, f64>,
    by_further: [f64; 8],
}

fn cases(layout: &Layout, known: &[TermId]) -> Cases {
    let known = bits_of(known);
    let mut cases = Cases::default();
    arrangements(layout, &mut |records| {
        cases.arrangements += 1.0;
        for (at, record) in records.iter().enumerate().filter(|(_, record)| record.terms & known == known) {
            cases.all += 1.0;
            *cases.by_leaf.entry(record.leaf as u32).or_default() += 1.0;
            *cases.by_record.entry(at).or_default() += 1.0;
            record.rows.iter().for_each(|&row| *cases.by_row.entry(row).or_default() += 1.0);
            let has = |(z, n): (usize, &mut f64)| *n += f64::from((record.terms >> z & 1) as u8);
            cases.by_further.iter_mut().enumerate().for_each(has);
        }
    });
    cases
}

fn largest<K>(counts: &BTreeMap<K, f64>) -> f64 {
    counts.values().fold(0.0, |a, &b| b.max(a))
}

fn copies(root: &Node, n: usize) -> Disassociated {
    release(3, 2, root.size() * n as u64, vec![root.clone(); n])
}

fn n_arrangements_of_rows(layout: &Layout) -> f64 {
    let of_equal = |n: usize| (1..=n).map(|i| i as f64).product::<f64>();
    let equal: f64 = layout.chunks.iter().flat_map(|chunk| &chunk.subrecords).map(|s| of_equal(s.count)).product();
    n_worlds_bound(layout) * equal
}

/// Whether all subrecords of each chunk may lie in the same leaves: only then are all arrangements as likely.
fn is_even(layout: &Layout) -> bool {
    layout.chunks.iter().all(|chunk| chunk.subrecords.windows(2).all(|pair| pair[0].eligible == pair[1].eligible))
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

#[test]
fn posteriors_are_those_of_all_arrangements() {
    let checked: Vec<(bool, u64)> = (0..3_000_u64)
        .into_par_iter()
        .filter_map(|seed| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let (n_records, n_terms) = (rng.random_range(2..=6), rng.random_range(2..=5));
            let (root, _) = truthful(&mut rng, n_records, n_terms);
            let layout = Layout::new(&root);
            if n_arrangements_of_rows(&layout) > 2e4 || !is_even(&layout) {
                return None;
            }
            let release = copies(&root, 1);
            let model = Model::new(&release).ok()?;
            let terms: Vec<TermId> = (0..n_terms as TermId).collect();
            let mut n = 0;
            for known in subsets(&terms, 3).into_iter().chain([Vec::new()]) {
                let slow = cases(&layout, &known);
                let fast = posterior(&model, &known);
                let report = || format!("seed {seed}, {known:?} in {root:?}: {fast:?}");
                assert!(close(fast.expected, slow.all / slow.arrangements), "{}", report());
                if slow.all == 0.0 {
                    assert_eq!((fast.clusters.len(), fast.row), (0, 0.0), "{}", report());
                    continue;
                }
                let clusters: Vec<(u32, f64)> = slow.by_leaf.iter().map(|(&leaf, n)| (leaf, n / slow.all)).collect();
                assert_eq!(fast.clusters.len(), clusters.len(), "{}", report());
                let same = |(a, b): (&(u32, f64), &(u32, f64))| a.0 == b.0 && close(a.1, b.1);
                assert!(fast.clusters.iter().zip(&clusters).all(same), "{clusters:?}: {}", report());
                // A person without a row is at most as easy to find as a record.
                let row = largest(&slow.by_row).max(largest(&slow.by_record)) / slow.all;
                assert!(close(fast.row, row), "{row}: {}", report());
                for &z in &terms {
                    let probability = slow.by_further[z as usize] / slow.all;
                    assert!(close(further(&model, &known, z), probability), "{z} {probability}: {}", report());
                }
                n += 1;
            }
            Some((matches!(root, Node::Joint(_)), n))
        })
        .collect();
    let (simple, joint) =
        checked.iter().fold((0, 0), |(s, j), &(is_joint, n)| if is_joint { (s, j + n) } else { (s + n, j) });
    assert!(simple > 2_000 && joint > 2_000, "{simple} {joint}");
}

#[test]
fn candidates_who_lack_terms_are_those_of_all_arrangements() {
    let checked: u64 = (0..600_u64)
        .into_par_iter()
        .map(|seed| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let (n_records, n_terms) = (rng.random_range(2..=6), rng.random_range(2..=5));
            let (root, _) = truthful(&mut rng, n_records, n_terms);
            let layout = Layout::new(&root);
            if n_arrangements_of_rows(&layout) > 2e3 || !is_even(&layout) {
                return 0;
            }
            let release = copies(&root, 1);
            let Ok(model) = Model::new(&release) else { return 0 };
            let present: Vec<TermId> = (0..n_terms as TermId).filter(|_| rng.random_bool(0.3)).collect();
            let absent: Vec<TermId> =
                (0..n_terms as TermId).filter(|t| !present.contains(t) && rng.random_bool(0.5)).collect();
            let (has, lacks) = (bits_of(&present), bits_of(&absent));
            let (mut of_leaf, mut n) = (BTreeMap::<u32, f64>::new(), 0.0);
            arrangements(&layout, &mut |records| {
                n += 1.0;
                for record in records.iter().filter(|r| r.terms & has == has && r.terms & lacks == 0) {
                    *of_leaf.entry(record.leaf as u32).or_default() += 1.0;
                }
            });
            let found = candidates(&model, &present, &absent);
            let same = |(a, b): ((&u32, &f64), (&u32, &f64))| a.0 == b.0 && close(*a.1, b.1 / n);
            let is_same = found.len() == of_leaf.len() && found.iter().zip(&of_leaf).all(same);
            assert!(is_same, "seed {seed}, {present:?} without {absent:?}: {found:?}, {of_leaf:?} of {n}");
            u64::from(!absent.is_empty() && !of_leaf.is_empty())
        })
        .sum();
    assert!(checked > 100, "{checked}");
}

/// What the law says where arrangements are not all as likely: row by row, from the definition.
fn slow_row(layout: &Layout, known: &[TermId]) -> f64 {
    let part = |leaf: usize, id: usize| -> Vec<TermId> {
        let owner = &layout.leaves[leaf].owner;
        known.iter().copied().filter(|t| owner.get(t) == Some(&crate::worlds::Owner::Chunk(id))).collect()
    };
    let records = |eligible: &[bool]| -> f64 {
        layout.leaves.iter().zip(eligible).filter(|(_, e)| **e).map(|(leaf, _)| leaf.size as f64).sum()
    };
    // The probability that a given record of the leaf has the part of a chunk.
    let has_part = |leaf: usize, id: usize| -> f64 {
        let part = part(leaf, id);
        let fits = |s: &&crate::worlds::Subrecord| s.eligible[leaf] && part.iter().all(|t| s.terms.contains(t));
        let rows = layout.chunks[id].subrecords.iter().filter(fits);
        if part.is_empty() { 1.0 } else { rows.map(|s| s.count as f64 / records(&s.eligible)).sum() }
    };
    // The probability that a given record has all of it, but for what one chunk should have brought.
    let has_rest = |leaf: usize, but: usize| -> f64 {
        let simple = &layout.leaves[leaf];
        if !known.iter().all(|t| simple.owner.contains_key(t)) {
            return 0.0;
        }
        let hidden = known.iter().filter(|t| simple.owner[t] == crate::worlds::Owner::TermChunk).count();
        let others = (0..layout.chunks.len()).filter(|&id| id != but).map(|id| has_part(leaf, id));
        (simple.size as f64).recip().powi(hidden as i32) * others.product::<f64>()
    };
    let leaves = 0..layout.leaves.len();
    let expected: f64 = leaves.clone().map(|leaf| layout.leaves[leaf].size as f64 * has_rest(leaf, usize::MAX)).sum();
    let mut most = leaves.clone().map(|leaf| has_rest(leaf, usize::MAX)).fold(0.0, f64::max);
    for (id, chunk) in layout.chunks.iter().enumerate() {
        for row in &chunk.subrecords {
            let fits = |&leaf: &usize| row.eligible[leaf] && part(leaf, id).iter().all(|t| row.terms.contains(t));
            let in_leaf = |leaf: usize| layout.leaves[leaf].size as f64 / records(&row.eligible) * has_rest(leaf, id);
            most = most.max(leaves.clone().filter(fits).map(in_leaf).sum());
        }
    }
    if expected == 0.0 { 0.0 } else { most / expected }
}

/// Whether every shared chunk leaves room for all of its rows wherever one may lie: then the law has no tilt.
fn leaves_room(layout: &Layout) -> bool {
    layout.chunks.iter().all(|chunk| {
        let rows: usize = chunk.subrecords.iter().map(|s| s.count).sum();
        let room = |s: &crate::worlds::Subrecord| -> usize {
            layout.leaves.iter().zip(&s.eligible).filter(|(_, e)| **e).map(|(leaf, _)| leaf.size).sum()
        };
        chunk.subrecords.iter().all(|s| room(s) >= rows)
    })
}

#[test]
fn rows_of_crossing_classes_follow_the_law() {
    let checked: Vec<u64> = (0..3_000_u64)
        .into_par_iter()
        .filter_map(|seed| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let (root, _) = truthful(&mut rng, 12, 6);
            let layout = Layout::new(&root);
            let release = copies(&root, 1);
            let model = Model::new(&release).ok()?;
            if is_even(&layout) || !leaves_room(&layout) {
                return None;
            }
            let itemsets = subsets(&(0..6).collect::<Vec<TermId>>(), 3);
            for known in &itemsets {
                let (slow, fast) = (slow_row(&layout, known), posterior(&model, known));
                assert!(close(fast.row, slow), "seed {seed}, {known:?} in {root:?}: {slow} {fast:?}");
            }
            Some(itemsets.len() as u64)
        })
        .collect();
    assert!(checked.len() > 300, "{}", checked.len());
}

/// All pairs in one pass, against asking for each.
#[test]
fn the_pass_over_all_pairs_asks_for_each() {
    let mut checked = 0;
    for seed in 0..1_500_u64 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let roots: Vec<Node> = (0..rng.random_range(1..=3)).map(|_| truthful(&mut rng, 10, 7).0).collect();
        let release = release(3, 2, roots.iter().map(Node::size).sum(), roots);
        // Refused are shared chunks that fill their leaves to the last record; the law has no limit there.
        let Ok(model) = Model::new(&release) else { continue };
        let pairs = subsets(&(0..7).collect::<Vec<TermId>>(), 2).into_iter().filter(|pair| pair.len() == 2);
        let (slow, fast) = (worst(&model, pairs), pairs_of_release(&model));
        assert_eq!((fast.itemsets, fast.above), (slow.itemsets, slow.above), "seed {seed}: {fast:?} {slow:?}");
        assert!(close(fast.worst, slow.worst) && close(fast.mean, slow.mean), "seed {seed}: {fast:?} {slow:?}");
        checked += 1;
    }
    assert!(checked > 800, "{checked}");
}

/// A release of our own, larger: some pairs are asked for one by one; nobody is found with more than 1/k.
#[test]
fn nobody_in_a_protected_dataset_is_surer_than_one_in_k() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let record = |rng: &mut ChaCha8Rng| -> Vec<String> {
        let n = rng.random_range(1..=6);
        (0..n).map(|_| format!("t{}", (rng.random_range(0.0..1.0_f64).powi(3) * 60.0) as u32)).collect()
    };
    let data = Dataset::from_texts((0..3_000).map(|_| record(&mut rng)));
    for (k, grouping) in [(2, Grouping::Paper), (5, Grouping::Paper), (2, Grouping::Layered), (5, Grouping::Layered)] {
        let outcome = disassociate(&data, &Params { grouping, ..Params::paper(k, 2) }).unwrap();
        let model = Model::new(&outcome.release).unwrap();
        let all = pairs_of_release(&model);
        let n = outcome.release.dictionary.len() as TermId;
        let pairs = (0..n).flat_map(|a| (a + 1..n).map(move |b| [a, b]));
        let slow = worst(&model, pairs);
        assert_eq!(all.itemsets, slow.itemsets);
        assert!(close(all.worst, slow.worst) && close(all.mean, slow.mean), "{all:?} {slow:?}");
        assert!(all.itemsets > 1_000 && all.worst <= 1.0 / f64::from(k) + 1e-9 && all.above == 0, "k = {k}: {all:?}");
    }
}

/// barakat2016, figure 1: a to c are oncologist, treatment, cancer; d, e surgery and side effects; f to h are hidden.
#[test]
fn figure_1_of_the_cover_paper() {
    let root = leaf(6, &["abc abc abc abc b a", "de de de d"], "fgh");
    let release = copies(&root, 1);
    let model = Model::new(&release).unwrap();
    let ask = |known: &str| posterior(&model, &ids(known));
    // Four rows have cancer, three side effects: 6 * 4/6 * 3/6 people with both, each of whom may be any of three rows.
    let Posterior { expected, clusters, row } = ask("ce");
    assert!(close(expected, 2.0) && clusters == [(0, 1.0)] && close(row, 1.0 / 3.0), "{expected} {clusters:?} {row}");
    // Both of surgery and side effects are in the second chunk.
    assert!(close(ask("de").row, 1.0 / 3.0) && close(ask("ad").row, 1.0 / 4.0));
    // Of somebody with a hidden term nothing is known but the cluster.
    assert!(close(ask("f").row, 1.0 / 6.0) && close(ask("fg").row, 1.0 / 6.0));
    assert!(close(ask("cf").row, 1.0 / 4.0) && close(ask("").row, 1.0 / 6.0));
    // Whoever has cancer has the other two terms of the chunk; side effects come by chance.
    assert!(close(further(&model, &ids("c"), ids("a")[0]), 1.0));
    assert!(close(further(&model, &ids("c"), ids("e")[0]), 0.5));
    assert!(close(further(&model, &ids("ce"), ids("d")[0]), 1.0));
    assert!(close(further(&model, &ids("c"), ids("f")[0]), 1.0 / 6.0));
    assert!(close(further(&model, &ids("c"), ids("z")[0]), 0.0));
}

/// A row of a shared chunk may be anybody's of both clusters, but only the first has a b.
#[test]
fn a_shared_row_is_weighed_by_where_it_may_lie() {
    let root = joint(vec![leaf(4, &["b b b"], "x"), leaf(4, &["c c c c"], "y")], &["a a a a"]);
    let release = copies(&root, 1);
    let model = Model::new(&release).unwrap();
    // 4 * 4/8 * 3/4 people are expected. A row with a has a b beside it with probability 1/2 * 3/4; a row with b an a
    // with probability 1/2.
    let found = posterior(&model, &ids("ab"));
    assert!(close(found.expected, 1.5) && close(found.row, 0.5 / 1.5) && found.clusters == [(0, 1.0)], "{found:?}");
    // In the first cluster, half of the people with a are expected; each of the four rows is as likely.
    let found = posterior(&model, &ids("a"));
    assert!(close(found.row, 0.25) && found.clusters == [(0, 0.5), (1, 0.5)], "{found:?}");
}
