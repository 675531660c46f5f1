//! Every method on many small tables: what it publishes satisfies every criterion by the definitions, or it refuses.
//!
//! The criteria are computed anew here, from the rows of each class and of all that are published, without the code that the
//! methods ask. Tables have constant columns, columns that are missing as a whole, one row, rows that are all the same, rare and
//! frequent sensitive values, words and numbers, with hierarchies and without.

use std::collections::{BTreeMap, BTreeSet};

use disjoin::data::table::{Column, Role, Table};
use disjoin::data::{Hierarchy, Partition};
use disjoin::error::Error;
use disjoin::generate::people::{People, people};
use disjoin::knowledge::background::{self, Beliefs, Knowledge};
use disjoin::protect::tabular::{Method, Params, anonymize};
use disjoin::release::privacy_models::{Criterion, Distance};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Room for rounding, wider than that of the methods.
const ROUNDING: f64 = 1e-7;

/// Whether a method must have anonymized tables in every test; a new variant has to be put here.
fn must_succeed(method: Method) -> bool {
    match method {
        Method::LeastLoss | Method::Lattice | Method::Mdav | Method::Sorted => true,
        Method::MicroaggregationMerge | Method::MicroaggregationSwap | Method::ClosenessFirst => true,
        Method::Hilbert | Method::Burel => true,
        Method::Mondrian | Method::MondrianRelaxed => true,
        Method::KPrimacy | Method::BetaPrimacy => true,
    }
}

#[test]
fn every_method_keeps_its_promise_on_tables_with_one_criterion() {
    check_many(1, 500, |rng| vec![criterion(rng)]);
}

#[test]
fn every_method_keeps_its_promise_with_k_and_another_criterion() {
    check_many(2, 500, |rng| vec![Criterion::KAnonymity { k: rng.random_range(2..6) }, criterion(rng)]);
}

#[test]
fn every_method_keeps_its_promise_with_any_criteria() {
    check_many(3, 500, |rng| (0..rng.random_range(1..5)).map(|_| criterion(rng)).collect());
}

#[test]
fn every_method_keeps_its_promise_where_beliefs_must_agree() {
    check_many(4, 500, |rng| {
        let beliefs = Criterion::Background { t: rng.random_range(0.01..0.6) };
        vec![Criterion::KAnonymity { k: rng.random_range(2..4) }, beliefs, criterion(rng)]
    });
}

#[test]
fn a_refusal_says_which_criterion_is_in_the_way() {
    let table = people(&People { rows: 400, quasi: 4, strength: 0.9, seed: 3 }).unwrap();
    let beliefs = background::beliefs(&table, &Knowledge::default()).unwrap();
    let criteria = vec![Criterion::KAnonymity { k: 4 }, Criterion::Background { t: 0.01 }];
    let params = Params { method: Method::BetaPrimacy, criteria, most_removed: 0.01, seed: 1 };
    let Err(Error::Infeasible { problem, hint }) = anonymize(&table, &params, Some(&beliefs)) else {
        panic!("beliefs so near leave no classes")
    };
    assert!(problem.contains("of 400 rows") && problem.contains("the suppression limit is 1.00 %"), "{problem}");
    // Without the limit on beliefs nothing has to go; without k nothing either, as whoever is alone agrees with himself.
    let without = |params: &Params| anonymize(&table, params, Some(&beliefs)).unwrap().removed.len();
    let k_only = Params { criteria: vec![Criterion::KAnonymity { k: 4 }], ..params.clone() };
    assert_eq!(without(&k_only), 0);
    assert!(hint.contains("; without beliefs") && hint.contains(" 0.00 % are suppressed"), "{hint}");
    assert!(hint.contains("--suppression-limit"), "{hint}");
}

/// Puts many tables through all methods.
fn check_many(seed: u64, n_tables: usize, criteria: impl Fn(&mut ChaCha8Rng) -> Vec<Criterion>) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let mut anonymized: BTreeMap<String, usize> = BTreeMap::new();
    for number in 0..n_tables {
        let n = if number % 50 == 0 { 200 } else { rng.random_range(1..41) };
        let table = table(&mut rng, n);
        let beliefs = beliefs(&mut rng, &table);
        let criteria = criteria(&mut rng);
        let most_removed = [0.0, 0.1, 0.5, 1.0][rng.random_range(0..4)];
        for (_, method) in Method::ALL {
            let params = Params { method, criteria: criteria.clone(), most_removed, seed: number as u64 };
            let place = format!("seed {seed}, table {number}, {method:?}, {criteria:?}, at most {most_removed}");
            let result = anonymize(&table, &params, beliefs.as_ref());
            if number % 4 == 0 {
                let again = one_thread.install(|| anonymize(&table, &params, beliefs.as_ref()));
                assert_eq!(format!("{result:?}"), format!("{again:?}"), "{place}");
            }
            match result {
                Ok(partition) => {
                    let found = faults(&table, &criteria, beliefs.as_ref(), most_removed, &partition);
                    assert!(found.is_empty(), "{place}: {found:?}");
                    *anonymized.entry(format!("{method:?}")).or_default() += 1;
                }
                Err(Error::Infeasible { .. } | Error::Recipe { .. }) => {}
                Err(error) => panic!("{place}: {error}"),
            }
        }
    }
    for (_, method) in Method::ALL {
        let count = anonymized.get(&format!("{method:?}")).copied().unwrap_or(0);
        println!("seed {seed}: {method:?} anonymized {count} of {n_tables} tables");
        assert!(count > 0 || !must_succeed(method), "seed {seed}: {method:?} anonymized nothing");
    }
}

/// What is wrong with a partition.
fn faults(
    table: &Table,
    criteria: &[Criterion],
    beliefs: Option<&Beliefs>,
    most_removed: f64,
    partition: &Partition,
) -> Vec<String> {
    let mut faults = Vec::new();
    let mut rows: Vec<u32> = partition.classes().flatten().chain(&partition.removed).copied().collect();
    rows.sort_unstable();
    if !rows.iter().copied().eq(0..table.n_rows() as u32) {
        faults.push(format!("rows are not each in one place: {rows:?}"));
    }
    if partition.removed.len() as f64 > most_removed * table.n_rows() as f64 + ROUNDING {
        faults.push(format!("{} rows are removed", partition.removed.len()));
    }
    if partition.is_empty() || partition.classes().any(<[u32]>::is_empty) {
        faults.push(String::from("there is an empty class, or none"));
    }
    let published: Vec<u32> = partition.classes().flatten().copied().collect();
    for class in partition.classes() {
        for (i, column) in table.quasi().into_iter().enumerate() {
            let cell = partition.cell(column, i, class);
            if !class.iter().all(|&row| cell.covers(&column.domain, column.codes[row as usize])) {
                faults.push(format!("{cell:?} does not cover {class:?}"));
            }
        }
        for criterion in criteria {
            let secrets = table.sensitive();
            let holds = match criterion {
                Criterion::KAnonymity { k } => class.len() >= *k as usize,
                Criterion::Background { t } => beliefs.is_some_and(|beliefs| agree(beliefs, class, *t)),
                _ => secrets.iter().all(|column| holds(criterion, column, class, &published)),
            };
            if !holds {
                faults.push(format!("{class:?} does not have {criterion:?}"));
            }
        }
    }
    faults
}

fn agree(beliefs: &Beliefs, class: &[u32], t: f64) -> bool {
    let entropy = |shares: Vec<f64>| -> f64 { shares.iter().filter(|p| **p > 0.0).map(|p| -p * p.log2()).sum() };
    // JS is the entropy of the mean less the mean of the entropies.
    let divergence = |one: &[f64], other: &[f64]| {
        let mean = one.iter().zip(other).map(|(p, q)| (p + q) / 2.0).collect();
        entropy(mean) - (entropy(one.to_vec()) + entropy(other.to_vec())) / 2.0
    };
    class.iter().all(|&a| class.iter().all(|&b| divergence(beliefs.of(a), beliefs.of(b)) <= t + ROUNDING))
}

/// A criterion on one sensitive column, by its definition.
fn holds(criterion: &Criterion, column: &Column, class: &[u32], published: &[u32]) -> bool {
    let shares = |rows: &[u32]| -> BTreeMap<u32, f64> {
        let mut shares = BTreeMap::new();
        rows.iter()
            .for_each(|&row| *shares.entry(column.codes[row as usize]).or_insert(0.0) += 1.0 / rows.len() as f64);
        shares
    };
    let (q, p) = (shares(class), shares(published));
    let of = |shares: &BTreeMap<u32, f64>, code: u32| shares.get(&code).copied().unwrap_or(0.0);
    match *criterion {
        Criterion::DistinctDiversity { l } => q.len() >= l as usize,
        Criterion::EntropyDiversity { l } => -q.values().map(|q| q * q.ln()).sum::<f64>() >= l.ln() - ROUNDING,
        Criterion::RecursiveDiversity { c, l } => {
            let mut counts: Vec<f64> = q.values().map(|q| (q * class.len() as f64).round()).collect();
            counts.sort_by(|a, b| b.total_cmp(a));
            counts[0] < c * counts.iter().skip(l as usize - 1).sum::<f64>() + ROUNDING
        }
        Criterion::Frequency { alpha } => q.values().all(|&q| q <= alpha + ROUNDING),
        Criterion::Closeness { t, distance: Distance::Equal } => {
            p.keys().map(|&code| (of(&q, code) - of(&p, code)).abs()).sum::<f64>() / 2.0 <= t + ROUNDING
        }
        Criterion::Closeness { t, distance: Distance::Ordered } => {
            let below =
                |shares: &BTreeMap<u32, f64>, code: u32| shares.range(..=code).map(|(_, share)| share).sum::<f64>();
            let sum: f64 = p.keys().map(|&code| (below(&q, code) - below(&p, code)).abs()).sum();
            sum <= t * (p.len() as f64 - 1.0).max(1.0) + ROUNDING * p.len() as f64
        }
        Criterion::Closeness { t, distance: Distance::Hierarchical } => {
            column.domain.hierarchy().is_some_and(|hierarchy| along_tree(hierarchy, &q, &p) <= t + ROUNDING)
        }
        Criterion::Likeness { beta, enhanced } => q.iter().all(|(&code, &q)| {
            let p = of(&p, code);
            q <= p * (1.0 + if enhanced { beta.min(-p.ln()) } else { beta }) + ROUNDING
        }),
        // Of all columns together, or not of sensitive values: elsewhere.
        Criterion::KAnonymity { .. } | Criterion::Background { .. } | Criterion::KnowledgeBreach { .. } => true,
    }
}

/// The earth mover's distance where two values are as far apart as the lowest label above both is high: on every edge of the tree
/// travels what is too much or too little below it, along half the difference of heights.
fn along_tree(hierarchy: &Hierarchy, q: &BTreeMap<u32, f64>, p: &BTreeMap<u32, f64>) -> f64 {
    let (n_nodes, missing) = (hierarchy.n_nodes(), hierarchy.n_terms() as u32);
    let (mut height, mut surplus) = (vec![0.0; n_nodes], vec![0.0; n_nodes]);
    let difference = |code: u32| q.get(&code).unwrap_or(&0.0) - p.get(&code).unwrap_or(&0.0);
    let (mut n_roots, mut highest) = (u32::from(p.contains_key(&missing)), 0.0);
    for code in 0..missing {
        let chain: Vec<u32> = std::iter::once(code).chain(hierarchy.ancestors(code)).collect();
        for (steps, &node) in chain.iter().enumerate() {
            height[node as usize] = f64::max(height[node as usize], steps as f64);
            surplus[node as usize] += difference(code);
        }
    }
    for (node, &height) in height.iter().enumerate() {
        if hierarchy.parent(node as u32).is_none() {
            (n_roots, highest) = (n_roots + 1, f64::max(highest, height));
        }
    }
    let whole = if n_roots > 1 { highest + 1.0 } else { highest };
    let mut cost = f64::abs(difference(missing)) * whole / 2.0;
    for node in 0..n_nodes {
        let above = hierarchy.parent(node as u32).map_or(whole, |parent| height[parent as usize]);
        cost += f64::abs(surplus[node]) * (above - height[node]) / 2.0;
    }
    if whole > 0.0 { cost / whole } else { 0.0 }
}

fn criterion(rng: &mut ChaCha8Rng) -> Criterion {
    match rng.random_range(0..10) {
        0 | 1 => Criterion::KAnonymity { k: rng.random_range(2..8) },
        2 => Criterion::DistinctDiversity { l: rng.random_range(2..4) },
        3 => Criterion::EntropyDiversity { l: rng.random_range(1.1..3.0) },
        4 => Criterion::RecursiveDiversity { c: rng.random_range(0.5..5.0), l: rng.random_range(2..4) },
        5 => Criterion::Frequency { alpha: rng.random_range(0.3..0.95) },
        6 | 7 => {
            let distance = [Distance::Equal, Distance::Ordered, Distance::Hierarchical][rng.random_range(0..3)];
            Criterion::Closeness { t: rng.random_range(0.05..0.6), distance }
        }
        _ => Criterion::Likeness { beta: rng.random_range(0.2..4.0), enhanced: rng.random_range(0..2) == 0 },
    }
}

fn table(rng: &mut ChaCha8Rng, n: usize) -> Table {
    let n_quasi = rng.random_range(1..4);
    let mut columns: Vec<Column> = (0..n_quasi).map(|_| column(rng, Role::Quasi, n)).collect();
    let n_secrets = [1, 1, 1, 1, 2, 0][rng.random_range(0..6)];
    columns.extend((0..n_secrets).map(|_| column(rng, Role::Sensitive, n)));
    columns.push(column(rng, Role::Other, n));
    if rng.random_range(0..10) == 0 {
        // The first row, again and again.
        columns.iter_mut().for_each(|column| {
            let first = column.codes[0];
            column.codes.fill(first);
        });
    }
    Table::new(n, columns, None)
}

fn column(rng: &mut ChaCha8Rng, role: Role, n: usize) -> Column {
    let most = [1, 2, 4, 8, 30][rng.random_range(0..5)];
    let missing = [0.0, 0.0, 0.0, 0.2, 1.0][rng.random_range(0..if role == Role::Quasi { 5 } else { 4 })];
    let skew = [1, 1, 3][rng.random_range(0..3)];
    let draw = |rng: &mut ChaCha8Rng| {
        if rng.random_bool(missing) {
            return None;
        }
        Some((f64::from(most) * rng.random_range(0.0..1.0_f64).powi(skew)).floor())
    };
    let cells: Vec<Option<f64>> = (0..n).map(|_| draw(rng)).collect();
    let mut column = if rng.random_range(0..2) == 0 {
        Column::numbers("numbers", role, cells)
    } else {
        let texts: Vec<Option<String>> = cells.iter().map(|cell| cell.map(|cell| format!("w{cell}"))).collect();
        Column::words("words", role, texts.iter().map(Option::as_deref))
    };
    let texts = column.domain.texts();
    let hierarchy = match rng.random_range(0..4) {
        0 => Hierarchy::uniform(texts, rng.random_range(2..5)).unwrap(),
        // Some values two steps below the root, others one; or two trees.
        1 => {
            let root = rng.random_range(0..2) == 0;
            let path = |text| {
                let is_low = str::len(text) > 1 && text < "w3";
                let labels: &[&str] = if is_low { &["low", "all"] } else { &["all"] };
                (text, labels[..labels.len() - usize::from(!root && is_low)].to_vec())
            };
            Hierarchy::from_paths(texts, texts.iter().map(path)).unwrap()
        }
        _ => return column,
    };
    column.domain.set_hierarchy(hierarchy);
    column
}

/// Beliefs that follow one quasi-identifier.
fn beliefs(rng: &mut ChaCha8Rng, table: &Table) -> Option<Beliefs> {
    let n_values = table.sensitive().first()?.domain.n_codes();
    let quasi = table.quasi();
    let by = quasi[rng.random_range(0..quasi.len())];
    let known: BTreeSet<u32> = by.codes.iter().copied().collect();
    let spread = rng.random_range(0.0..3.0);
    let mut points = Vec::new();
    for _ in &known {
        let weights: Vec<f64> = (0..n_values).map(|_| f64::exp(spread * rng.random_range(0.0..1.0))).collect();
        let total: f64 = weights.iter().sum();
        points.extend(weights.iter().map(|weight| weight / total));
    }
    let place = |code: &u32| known.range(..code).count() as u32;
    Some(Beliefs::new(n_values, points, by.codes.iter().map(place).collect()))
}
