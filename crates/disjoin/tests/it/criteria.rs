//! Every criterion on classes of rows, against the definitions written out slowly: values are counted one by one, logarithms and
//! shares are taken of lists of values, and the earth mover's distance is found by moving the earth, as a minimum cost flow in
//! whole numbers. That would catch a wrong normalisation, a forgotten missing value, a height counted from the wrong end and a
//! limit compared the wrong way round.

use std::collections::BTreeSet;

use disjoin::data::table::{Column, Role, Sets, Table};
use disjoin::data::{Dataset, Hierarchy};
use disjoin::release::privacy_models::{
    Criterion, Distance, Histogram, Judge, distance_equal, distance_hierarchical, distance_ordered, distinct,
    effective_values, highest_share, likeness_cap, recursive_ratio, relative_gain,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// Classes that every criterion is asked of.
const CLASSES: u64 = 10_000;

/// Room for rounding in the comparison with the slow value.
const NEAR: f64 = 1e-9;

/// A table with one sensitive column, the published rows, and a class of them.
struct World {
    table: Table,
    published: Vec<u32>,
    class: Vec<u32>,
    /// For each value its labels, bottom-up; empty without a hierarchy.
    paths: Vec<Vec<String>>,
}

/// What the sensitive values are.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Words,
    Numbers,
    Tree,
}

impl World {
    fn new(kind: Kind, seed: u64) -> World {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let n = rng.random_range(1..=40_usize);
        let m = rng.random_range(1..=7_u32);
        let missing = rng.random_range(0..3) == 0;
        // Squaring makes some values frequent and others rare.
        let mut draw = |_| {
            let value = (rng.random::<f64>().powi(2) * f64::from(m + u32::from(missing))) as u32;
            (value < m).then_some(value)
        };
        let values: Vec<Option<u32>> = (0..n).map(&mut draw).collect();
        let texts: Vec<Option<String>> = values.iter().map(|v| v.map(|v| format!("v{v}"))).collect();
        let mut column = match kind {
            Kind::Numbers => {
                // Unequal steps: ranks count, not differences.
                Column::numbers("s", Role::Sensitive, values.iter().map(|v| v.map(|v| f64::from(v * v) - 3.5)))
            }
            _ => Column::words("s", Role::Sensitive, texts.iter().map(Option::as_deref)),
        };
        let mut paths = Vec::new();
        if kind == Kind::Tree {
            let (hierarchy, its_paths) = tree(&column, &mut rng);
            column.domain.set_hierarchy(hierarchy);
            paths = its_paths;
        }
        let all = rng.random_range(0..2) == 0;
        let mut published: Vec<u32> = (0..n as u32).filter(|_| all || rng.random_range(0..5) > 0).collect();
        if published.is_empty() {
            published.push(0);
        }
        let share = rng.random_range(0.05..1.0);
        let mut class: Vec<u32> = published.iter().copied().filter(|_| rng.random_bool(share)).collect();
        if class.is_empty() {
            class.push(published[rng.random_range(0..published.len())]);
        }
        World { table: Table::new(n, vec![column], None), published, class, paths }
    }

    fn column(&self) -> &Column {
        &self.table.columns[0]
    }

    fn judge(&self, criterion: Criterion) -> Judge<'_> {
        Judge::over(&[criterion], &self.table, self.published.iter().copied()).unwrap()
    }

    /// The values of rows, as codes.
    fn values(&self, rows: &[u32]) -> Vec<u32> {
        rows.iter().map(|&row| self.column().codes[row as usize]).collect()
    }

    fn counts(&self, rows: &[u32]) -> Vec<u32> {
        let values = self.values(rows);
        (0..self.column().domain.n_codes() as u32).map(|code| times(&values, code)).collect()
    }

    /// Counts of the class and of all published rows.
    fn q_and_p(&self) -> (Vec<u32>, Vec<u32>) {
        (self.counts(&self.class), self.counts(&self.published))
    }
}

fn times(values: &[u32], value: u32) -> u32 {
    values.iter().filter(|&&other| other == value).count() as u32
}

fn share(values: &[u32], value: u32) -> f64 {
    f64::from(times(values, value)) / values.len() as f64
}

fn different(values: &[u32]) -> BTreeSet<u32> {
    values.iter().copied().collect()
}

/// A balanced tree with two to four children a node, or a ragged one of which some values hang high and some in trees of their
/// own. The paths of the ragged one do not come from the hierarchy.
fn tree(column: &Column, rng: &mut ChaCha8Rng) -> (Hierarchy, Vec<Vec<String>>) {
    let texts = column.domain.texts();
    if rng.random_range(0..2) == 0 {
        let hierarchy = Hierarchy::uniform(texts, rng.random_range(2..=4)).unwrap();
        let path = |term| hierarchy.ancestors(term).map(|node| hierarchy.text(node, texts).to_owned()).collect();
        let paths = (0..texts.len() as u32).map(path).collect();
        return (hierarchy, paths);
    }
    let n_labels = rng.random_range(1..=6_usize);
    let above: Vec<Option<usize>> = (0..n_labels)
        .map(|label| {
            (label + 1 < n_labels && rng.random_range(0..5) > 0).then(|| rng.random_range(label + 1..n_labels))
        })
        .collect();
    let mut path = |_| -> Vec<String> {
        let lowest = (rng.random_range(0..6) > 0).then(|| rng.random_range(0..n_labels));
        std::iter::successors(lowest, |&label| above[label]).map(|label| format!("label {label}")).collect()
    };
    let paths: Vec<Vec<String>> = (0..texts.len()).map(&mut path).collect();
    let lines = texts.iter().zip(paths.iter().map(|path| path.iter().map(String::as_str)));
    (Hierarchy::from_paths(texts, lines).unwrap(), paths)
}

/// The least work to turn shares of the class into overall shares: what is to be moved is a whole number of parts of 1/(g n).
fn moved(q: &[u32], p: &[u32], distance: impl Fn(usize, usize) -> u32) -> f64 {
    let (g, n) = (q.iter().sum::<u32>(), p.iter().sum::<u32>());
    let m = q.len();
    let (source, sink) = (2 * m, 2 * m + 1);
    // Arcs from, to, capacity left, cost; each is followed by its reverse.
    let mut arcs: Vec<(usize, usize, i64, i64)> = Vec::new();
    let mut arc = |from, to, capacity, cost| {
        arcs.push((from, to, i64::from(capacity), cost));
        arcs.push((to, from, 0, -cost));
    };
    for i in 0..m {
        arc(source, i, q[i] * n, 0);
        arc(m + i, sink, p[i] * g, 0);
        (0..m).for_each(|j| arc(i, m + j, g * n, i64::from(distance(i, j))));
    }
    let mut work = 0;
    loop {
        // Cheapest path by Bellman and Ford: arcs back have negative costs.
        let mut cost = vec![i64::MAX; 2 * m + 2];
        let mut by = vec![usize::MAX; 2 * m + 2];
        cost[source] = 0;
        loop {
            let mut changed = false;
            for (id, &(from, to, left, each)) in arcs.iter().enumerate() {
                if left > 0 && cost[from] != i64::MAX && cost[from] + each < cost[to] {
                    (cost[to], by[to], changed) = (cost[from] + each, id, true);
                }
            }
            if !changed {
                break;
            }
        }
        if cost[sink] == i64::MAX {
            return work as f64 / (f64::from(g) * f64::from(n));
        }
        let way =
            || std::iter::successors(Some(by[sink]), |&id| by.get(arcs[id].0).copied().filter(|&id| id < usize::MAX));
        let ids: Vec<usize> = way().collect();
        let amount = ids.iter().map(|&id| arcs[id].2).min().unwrap();
        for id in ids {
            arcs[id].2 -= amount;
            arcs[id ^ 1].2 += amount;
        }
        work += amount * cost[sink];
    }
}

fn slow_equal(world: &World) -> f64 {
    let (q, p) = world.q_and_p();
    moved(&q, &p, |i, j| u32::from(i != j))
}

/// Values are as far apart as their ranks among the values that are published.
fn slow_ordered(world: &World) -> f64 {
    let (q, p) = world.q_and_p();
    let ranks: Vec<usize> = (0..p.len()).filter(|&code| p[code] > 0).collect();
    let of = |counts: &[u32]| -> Vec<u32> { ranks.iter().map(|&code| counts[code]).collect() };
    if ranks.len() < 2 {
        return 0.0;
    }
    moved(&of(&q), &of(&p), |i, j| i.abs_diff(j) as u32) / (ranks.len() - 1) as f64
}

/// Values are as far apart as their lowest common label is high, as a share of the height of the whole. Height is the longest way
/// down to a value that is published. A label above everything is thought of where there is none.
fn slow_hierarchical(world: &World) -> f64 {
    let (q, p) = world.q_and_p();
    let missing = world.column().domain.missing() as usize;
    let mut paths: Vec<Vec<String>> = world.paths.clone();
    let published: Vec<&Vec<String>> = paths.iter().zip(&p).filter(|(_, p)| **p > 0).map(|(path, _)| path).collect();
    let tops: BTreeSet<Option<&String>> = published.iter().map(|path| path.last()).collect();
    let needs_top = p[missing] > 0 || tops.len() > 1 || (tops.contains(&None) && published.len() > 1);
    paths.push(Vec::new());
    if needs_top {
        paths.iter_mut().for_each(|path| path.push(String::from("all")));
    }
    let height = |label: &String| {
        let published = paths.iter().zip(&p).filter(|(_, p)| **p > 0);
        let steps = published.filter_map(|(path, _)| path.iter().position(|other| other == label));
        steps.max().map_or(0, |step| step as u32 + 1)
    };
    let whole = paths.iter().flatten().map(height).max().unwrap_or(0);
    let apart = |i: usize, j: usize| match i == j || p[i] == 0 || p[j] == 0 {
        // Values that are not published have nothing to give or to take.
        true => 0,
        false => paths[i].iter().find(|label| paths[j].contains(label)).map(height).unwrap(),
    };
    if whole == 0 { 0.0 } else { moved(&q, &p, apart) / f64::from(whole) }
}

fn slow_entropy(world: &World) -> f64 {
    let values = world.values(&world.class);
    // The mean surprise of a row.
    let surprise: f64 = values.iter().map(|&value| -share(&values, value).ln()).sum();
    (surprise / values.len() as f64).exp()
}

/// r_1 / (r_l + ... + r_m), by taking away the most frequent value l - 1 times.
fn slow_recursive(world: &World, l: u32) -> f64 {
    let mut values = world.values(&world.class);
    let most = |values: &[u32]| different(values).into_iter().max_by_key(|&value| times(values, value));
    let first = most(&values).map_or(0, |value| times(&values, value));
    for _ in 1..l {
        if let Some(value) = most(&values) {
            values.retain(|&other| other != value);
        }
    }
    f64::from(first) / values.len() as f64
}

/// The greatest (q - p) / p - limit over values, with that value's gain and limit; gains that are losses do not count.
fn slow_likeness(world: &World, beta: f64, enhanced: bool) -> (f64, bool) {
    let (class, all) = (world.values(&world.class), world.values(&world.published));
    let mut most = 0.0;
    let mut holds = true;
    for value in different(&class) {
        let (q, p) = (share(&class, value), share(&all, value));
        if q > p {
            let gain = (q - p) / p;
            most = f64::max(most, gain);
            holds &= gain <= if enhanced { f64::min(beta, -p.ln()) } else { beta } + NEAR;
        }
    }
    (most, holds)
}

/// Asks `check` of 10,000 worlds, on all cores.
fn in_all_worlds(kind: Kind, check: impl Fn(World, &mut ChaCha8Rng) + Sync) {
    (0..CLASSES).into_par_iter().for_each(|seed| check(World::new(kind, seed), &mut ChaCha8Rng::seed_from_u64(!seed)));
}

/// The judge says what `holds` says, alone, in its readings and in the reading's value.
fn agree(world: &World, criterion: Criterion, value: f64, holds: bool) {
    if criterion.check().is_err() {
        return;
    }
    let judge = world.judge(criterion);
    let class = judge.of(world.class.iter().copied());
    let readings = judge.readings(&class);
    let reading = readings[0].unwrap();
    assert_eq!(judge.holds(&class), holds, "{criterion:?}: {value}");
    assert_eq!(reading.holds, holds, "{criterion:?}: {value}, read {reading:?}");
    let same = reading.value == value || (reading.value - value).abs() < NEAR * value.abs().max(1.0);
    assert!(same, "{criterion:?}: {value}, read {reading:?}");
}

/// A limit that is kept exactly, one that is missed by a little, and one that is kept with room.
fn at_most(world: &World, value: f64, criterion: impl Fn(f64) -> Criterion) {
    agree(world, criterion(value), value, true);
    agree(world, criterion(value - 1e-6), value, false);
    agree(world, criterion(value + 1e-6), value, true);
}

#[test]
fn size() {
    in_all_worlds(Kind::Words, |world, rng| {
        let k = rng.random_range(2..30);
        let size = world.class.len();
        agree(&world, Criterion::KAnonymity { k }, size as f64, size >= k as usize);
    });
}

#[test]
fn diversity() {
    in_all_worlds(Kind::Words, |world, rng| {
        let counts = world.counts(&world.class);
        let values = different(&world.values(&world.class)).len() as u32;
        assert_eq!(distinct(&counts), values);
        let l = rng.random_range(2..6);
        agree(&world, Criterion::DistinctDiversity { l }, f64::from(values), values >= l);

        let entropy = slow_entropy(&world);
        assert!((effective_values(&counts) - entropy).abs() < NEAR * entropy);
        agree(&world, Criterion::EntropyDiversity { l: entropy }, entropy, true);
        agree(&world, Criterion::EntropyDiversity { l: entropy + 1e-6 }, entropy, false);
        agree(&world, Criterion::EntropyDiversity { l: entropy - 1e-6 }, entropy, true);

        let ratio = slow_recursive(&world, l);
        assert_eq!(recursive_ratio(&counts, l), ratio);
        let c = rng.random_range(0.2..6.0);
        agree(&world, Criterion::RecursiveDiversity { c, l }, ratio, ratio < c);
        // At the limit it fails: strictly less is asked for.
        agree(&world, Criterion::RecursiveDiversity { c: ratio, l }, ratio, false);
    });
}

#[test]
fn frequency() {
    in_all_worlds(Kind::Words, |world, _| {
        let values = world.values(&world.class);
        let most = different(&values).into_iter().map(|value| share(&values, value)).fold(0.0, f64::max);
        assert_eq!(highest_share(&world.counts(&world.class)), most);
        at_most(&world, most, |alpha| Criterion::Frequency { alpha });
    });
}

#[test]
fn closeness_where_values_are_equally_far_apart() {
    in_all_worlds(Kind::Words, |world, _| {
        let (q, p) = world.q_and_p();
        let work = slow_equal(&world);
        assert!((distance_equal(&q, &p) - work).abs() < NEAR, "{q:?} {p:?}");
        at_most(&world, work, |t| Criterion::Closeness { t, distance: Distance::Equal });
    });
}

#[test]
fn closeness_by_rank() {
    in_all_worlds(Kind::Numbers, |world, _| {
        let (q, p) = world.q_and_p();
        let work = slow_ordered(&world);
        assert!((distance_ordered(&q, &p) - work).abs() < NEAR, "{q:?} {p:?}");
        at_most(&world, work, |t| Criterion::Closeness { t, distance: Distance::Ordered });
    });
}

#[test]
fn closeness_by_hierarchy() {
    in_all_worlds(Kind::Tree, |world, _| {
        let (q, p) = world.q_and_p();
        let hierarchy = world.column().domain.hierarchy().unwrap();
        let (work, fast) = (slow_hierarchical(&world), distance_hierarchical(&q, &p, hierarchy));
        assert!((fast - work).abs() < NEAR, "{q:?} {p:?} {:?}: {fast}, not {work}", world.paths);
        at_most(&world, work, |t| Criterion::Closeness { t, distance: Distance::Hierarchical });
    });
}

#[test]
fn likeness() {
    in_all_worlds(Kind::Words, |world, rng| {
        let (q, p) = world.q_and_p();
        let (gain, _) = slow_likeness(&world, 1.0, false);
        assert!((relative_gain(&q, &p) - gain).abs() < NEAR);
        // A judge's rounding is one of shares: a gain above the limit by so much that p times it is above rounding.
        let random = rng.random_range(0.1..4.0);
        for (beta, enhanced) in
            [(gain, false), (gain - 1e-5, false), (gain + 1e-5, false), (random, false), (random, true)]
        {
            let criterion = Criterion::Likeness { beta, enhanced };
            if criterion.check().is_err() {
                continue;
            }
            let (_, holds) = slow_likeness(&world, beta, enhanced);
            let judge = world.judge(criterion);
            let class = judge.of(world.class.iter().copied());
            let reading = judge.readings(&class)[0].unwrap();
            assert_eq!((judge.holds(&class), reading.holds), (holds, holds), "{criterion:?} {q:?} {p:?}");
            if !enhanced {
                assert!((reading.value.max(0.0) - gain).abs() < NEAR, "{criterion:?} {q:?} {p:?}: {reading:?}");
            }
            // The caps say the same in other words: q <= f(p).
            let cap = |&p: &u32| likeness_cap(f64::from(p) / world.published.len() as f64, beta, enhanced);
            let within = |(q, p): (&u32, &u32)| f64::from(*q) / world.class.len() as f64 <= cap(p) + NEAR;
            assert_eq!(q.iter().zip(&p).all(within), holds, "{criterion:?} {q:?} {p:?}");
        }
    });
}

#[test]
fn several_criteria_hold_if_each_does_in_every_column() {
    let kinds = [Kind::Words, Kind::Numbers, Kind::Tree];
    (0..CLASSES).into_par_iter().for_each(|seed| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        // Three columns of one table: the rows that all three have.
        let worlds = kinds.map(|kind| World::new(kind, rng.random()));
        let n = worlds.iter().map(|world| world.table.n_rows()).min().unwrap();
        let columns = worlds.iter().map(|world| {
            let mut column = world.column().clone();
            column.codes.truncate(n);
            column
        });
        let table = Table::new(n, columns.collect(), None);
        let mut class: Vec<u32> = (1..n as u32).filter(|_| rng.random_range(0..4) > 0).collect();
        class.push(0);
        let criteria = [
            Criterion::KAnonymity { k: rng.random_range(2..6) },
            Criterion::DistinctDiversity { l: 2 },
            Criterion::EntropyDiversity { l: rng.random_range(1.1..2.0) },
            Criterion::RecursiveDiversity { c: rng.random_range(2.0..6.0), l: 2 },
            Criterion::Frequency { alpha: rng.random_range(0.5..1.0) },
            Criterion::Closeness { t: rng.random_range(0.05..0.4), distance: Distance::Equal },
            Criterion::Likeness { beta: rng.random_range(0.3..2.0), enhanced: rng.random() },
            Criterion::Likeness { beta: rng.random_range(0.3..2.0), enhanced: rng.random() },
        ];
        let judge = Judge::new(&criteria, &table).unwrap();
        let histogram = judge.of(class.iter().copied());
        let readings = judge.readings(&histogram);
        assert_eq!(judge.holds(&histogram), readings.iter().all(|reading| reading.unwrap().holds));
        // Column by column, each criterion for itself.
        for (criterion, reading) in criteria.iter().zip(readings) {
            let alone = |column: usize| {
                let one = Table::new(n, vec![table.columns[column].clone()], None);
                let judge = Judge::new(&[*criterion], &one).unwrap();
                judge.holds(&judge.of(class.iter().copied()))
            };
            assert_eq!(reading.unwrap().holds, (0..3).all(alone), "{criterion:?}");
        }
    });
}

#[test]
fn rows_may_come_and_go() {
    in_all_worlds(Kind::Numbers, |world, rng| {
        let judge = world.judge(Criterion::KAnonymity { k: 2 });
        let (mut rows, mut histogram) = (Vec::new(), judge.empty());
        for _ in 0..30 {
            if rows.is_empty() || rng.random_range(0..3) > 0 {
                let row = rng.random_range(0..world.table.n_rows() as u32);
                rows.push(row);
                judge.add(&mut histogram, row);
            } else {
                let row = rows.swap_remove(rng.random_range(0..rows.len()));
                judge.remove(&mut histogram, row);
            }
            assert_eq!(histogram, judge.of(rows.iter().copied()));
            assert_eq!(histogram.counts, world.counts(&rows));
        }
    });
}

/// Rows with codes of one sensitive column, so often each.
fn rows(counts: &[u32]) -> Table {
    let texts = ["a", "b", "c", "d"];
    let cells = counts.iter().zip(texts).flat_map(|(&n, text)| std::iter::repeat_n(Some(text), n as usize));
    let column = Column::words("s", Role::Sensitive, cells);
    Table::new(column.codes.len(), vec![column], None)
}

fn holds(criterion: Criterion, all: &[u32], class: &[u32]) -> bool {
    let table = rows(all);
    let judge = Judge::new(&[criterion], &table).unwrap();
    let mut counts = class.to_vec();
    counts.resize(judge.overall().len(), 0);
    let histogram = Histogram { size: class.iter().sum(), with_set: 0, counts };
    let read = judge.readings(&histogram)[0].unwrap().holds;
    assert_eq!(read, judge.holds(&histogram));
    read
}

#[test]
fn likeness_of_the_specification() {
    // p = (.5, .3, .2), q = (.4, .3, .3): relative changes -0.2, 0 and +0.5.
    let (p, q) = ([50, 30, 20], [4, 3, 3]);
    assert!((relative_gain(&q, &p) - 0.5).abs() < 1e-12);
    assert!(holds(Criterion::Likeness { beta: 0.5, enhanced: false }, &p, &q));
    assert!(!holds(Criterion::Likeness { beta: 0.4, enhanced: false }, &p, &q));
    // Enhanced, beta = 1: gains of at most 0.693, 1 and 1.
    for (p, most) in [(0.5, std::f64::consts::LN_2), (0.3, 1.0), (0.2, 1.0)] {
        assert!((likeness_cap(p, 1.0, true) / p - 1.0 - most).abs() < 1e-6);
        assert!((likeness_cap(p, 1.0, false) / p - 2.0).abs() < 1e-12);
    }
    // The first value may have 0.847: 84 of 100, and 85 not.
    let enhanced = Criterion::Likeness { beta: 1.0, enhanced: true };
    assert!(holds(enhanced, &p, &[84, 10, 6]) && !holds(enhanced, &p, &[85, 9, 6]));
    // A value that all rows have may be all of a class.
    assert_eq!(likeness_cap(1.0, 3.0, true), 1.0);
    assert_eq!(likeness_cap(0.0, 3.0, true), 0.0);
}

#[test]
fn diversity_by_hand() {
    assert_eq!(distinct(&[3, 0, 1]), 2);
    // Two equally likely values are as uncertain as two; (.5, .25, .25) as 2^1.5.
    assert!((effective_values(&[7, 7]) - 2.0).abs() < 1e-12);
    assert!((effective_values(&[2, 1, 1]) - 2.0_f64.powf(1.5)).abs() < 1e-12);
    assert!(holds(Criterion::EntropyDiversity { l: 2.0 }, &[7, 7], &[7, 7]));
    assert!(!holds(Criterion::EntropyDiversity { l: 2.0 }, &[7, 7], &[7, 6]));
    // Counts 5, 3, 2: r_1 = 5 against r_2 + r_3 = 5, r_3 = 2 and nothing.
    assert_eq!([2, 3, 4].map(|l| recursive_ratio(&[3, 2, 5], l)), [1.0, 2.5, f64::INFINITY]);
    let recursive = |c, l| holds(Criterion::RecursiveDiversity { c, l }, &[3, 2, 5], &[3, 2, 5]);
    assert!(recursive(3.0, 3) && !recursive(2.5, 3) && !recursive(1.0, 2) && !recursive(1000.0, 4));
    assert!(holds(Criterion::Frequency { alpha: 0.5 }, &[3, 2, 5], &[3, 2, 5]));
    assert!(!holds(Criterion::Frequency { alpha: 0.5 }, &[3, 2, 5], &[3, 1, 5]));
}

#[test]
fn closeness_by_hand() {
    // Li, Li and Venkatasubramanian: salaries 3k to 11k, once each; {3k, 4k, 5k} is at 0.375, {6k, 8k, 11k} at 0.167.
    let all = [1; 9];
    assert!((distance_ordered(&[1, 1, 1, 0, 0, 0, 0, 0, 0], &all) - 0.375).abs() < 1e-12);
    assert!((distance_ordered(&[0, 0, 0, 1, 0, 1, 0, 0, 1], &all) - 1.0 / 6.0).abs() < 1e-12);
    assert!((distance_equal(&[1, 1, 1, 0, 0, 0, 0, 0, 0], &all) - 2.0 / 3.0).abs() < 1e-12);
    // Two pairs below one root: half of all moves across, at height 2 of 2; or within a pair, at height 1 of 2.
    let texts = Dataset::from_texts([["a", "b", "c", "d"]]).dictionary;
    let paths = [("a", ["x", "*"]), ("b", ["x", "*"]), ("c", ["y", "*"]), ("d", ["y", "*"])];
    let hierarchy = Hierarchy::from_paths(&texts, paths).unwrap();
    for (q, expected) in [([1, 1, 0, 0], 0.5), ([1, 0, 1, 0], 0.25), ([1, 0, 0, 0], 0.625)] {
        // The count after the last is that of missing values.
        let q = [&q[..], &[0]].concat();
        assert!((distance_hierarchical(&q, &[1, 1, 1, 1, 0], &hierarchy) - expected).abs() < 1e-12);
    }
}

#[test]
fn a_column_of_missing_values_alone_is_close_to_itself() {
    let mut column = Column::words("s", Role::Sensitive, [None, None, None]);
    let hierarchy = Hierarchy::uniform(column.domain.texts(), 2).unwrap();
    column.domain.set_hierarchy(hierarchy);
    let table = Table::new(3, vec![column], None);
    let judge = Judge::new(&[Criterion::Closeness { t: 0.1, distance: Distance::Hierarchical }], &table).unwrap();
    assert!(judge.holds(&judge.of([0, 2])));
}

#[test]
fn of_rows_with_a_set_there_are_none_or_k() {
    let data = Dataset::from_texts(vec![vec!["x"]; 5]);
    let of_row = (0..10).map(|row| (row < 5).then_some(row)).collect();
    let sets = Sets { name: String::from("terms"), dictionary: data.dictionary, records: data.records, of_row };
    let table = Table::new(10, Vec::new(), Some(sets));
    let judge = Judge::new(&[Criterion::KAnonymity { k: 3 }], &table).unwrap();
    assert!(!judge.is_size_only());
    for (class, expected) in [
        (vec![5, 6, 7], true),
        (vec![0, 5, 6], false),
        (vec![0, 1, 5, 6, 7], false),
        (vec![0, 1, 2], true),
        (vec![0, 1, 2, 5], true),
        (vec![0, 1], false),
    ] {
        let mut histogram = judge.of(class.iter().copied());
        assert_eq!(judge.holds(&histogram), expected, "{class:?}");
        // One row with a set comes and goes.
        judge.add(&mut histogram, 4);
        judge.remove(&mut histogram, 4);
        assert_eq!(histogram, judge.of(class.iter().copied()));
    }
}

#[test]
fn what_a_table_lacks_is_said() {
    let table = rows(&[2, 2]);
    let refused = |criterion| Judge::new(&[criterion], &table).err().map(|error| error.to_string()).unwrap();
    let closeness = |distance| Criterion::Closeness { t: 0.2, distance };
    assert!(refused(closeness(Distance::Ordered)).contains("is not of numbers"));
    assert!(refused(closeness(Distance::Hierarchical)).contains("has no hierarchy"));
    assert!(refused(Criterion::KAnonymity { k: 1 }).starts_with("k: "));
    let nobody = Table::new(0, Vec::new(), None);
    assert!(Judge::new(&[Criterion::DistinctDiversity { l: 2 }], &nobody).is_err());
}
