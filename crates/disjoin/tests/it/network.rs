//! Bayesian networks against slow ones: counts, scores and tests against tables of all configurations, ICS against its steps as
//! printed, inference against sums over all rows that there could be; the paper's networks and tables; and networks that are
//! found again in rows drawn from them. That would catch a forgotten configuration, a wrong penalty, a rule with the wrong
//! ends, a cycle, and a search that is fast because it does not look.

use std::collections::BTreeSet;

use crate::nadimpalli2014::{AGE, ALL, GENDER, GOVERNMENT, MARITAL, QUASI, SALARY, SENSITIVE, ZIPCODE, table_ii};
use crate::tables::rows::Rows;
use disjoin::knowledge::network::hill_climb::{self, Change};
use disjoin::knowledge::network::independence::{Decision, Degrees, Statistic, test};
use disjoin::knowledge::network::infer::{MAX_CELLS, posterior};
use disjoin::knowledge::network::sample::sample;
use disjoin::knowledge::network::{
    Coded, Cpt, Fitted, Learned, Missing, Network, Score, counts, cpt, ics, pc_stable, score,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

// ---------------------------------------------------------------- the paper

fn coded(columns: &[usize]) -> Coded {
    Coded::from_table(&table_ii(), columns, Missing::DropRow).unwrap()
}

/// The network of some columns of Table II, for each column its parents, by their places in the table.
fn ics_of(columns: &[usize], max_cardinality: usize) -> Vec<Vec<usize>> {
    let options = ics::Options { max_cardinality, ..ics::Options::default() };
    let network = ics::learn(&coded(columns), &options).unwrap().network;
    (0..columns.len()).map(|node| network.parents(node).iter().map(|&parent| columns[parent]).collect()).collect()
}

#[test]
fn figures_2_to_4_of_nadimpalli() {
    let none: Vec<usize> = Vec::new();
    assert_eq!(ics_of(&QUASI, 0), [none.clone(), vec![AGE], vec![AGE, ZIPCODE]]);
    assert_eq!(ics_of(&SENSITIVE, 0), [none.clone(), vec![GOVERNMENT], vec![GOVERNMENT, MARITAL]]);
    let all = ics_of(&ALL, 0);
    assert_eq!(all[GOVERNMENT], [AGE, GENDER, ZIPCODE, MARITAL, SALARY]);
    assert_eq!((&all[GENDER], &all[ZIPCODE], &all[SALARY]), (&vec![AGE], &vec![AGE, GENDER], &vec![MARITAL]));
    assert_eq!((&all[AGE], &all[MARITAL]), (&none, &none));
}

#[test]
fn the_default_of_weka_gives_other_networks_than_the_paper() {
    let none: Vec<usize> = Vec::new();
    assert_eq!(ics_of(&QUASI, 2), [none.clone(), vec![GENDER], vec![AGE]]);
    assert_eq!(ics_of(&SENSITIVE, 2), [none.clone(), vec![GOVERNMENT], vec![GOVERNMENT, MARITAL]]);
    let all = ics_of(&ALL, 2);
    assert_eq!(all[GOVERNMENT], [ZIPCODE, MARITAL, SALARY]);
    assert_eq!(all, [none.clone(), vec![ZIPCODE], vec![AGE], vec![ZIPCODE, MARITAL, SALARY], none, vec![MARITAL]]);
}

/// P(child = value | parents = values) in Table II.
fn probability(parents: &[(usize, &str)], child: (usize, &str), added: f64) -> f64 {
    let table = table_ii();
    let columns: Vec<usize> = parents.iter().map(|parent| parent.0).chain([child.0]).collect();
    let code = |(column, text): (usize, &str)| table.columns[column].domain.texts().get(text).unwrap();
    let places: Vec<usize> = (0..parents.len()).collect();
    let cpt = Cpt::estimate(&coded(&columns), parents.len(), &places, added).unwrap();
    let configuration: Vec<u32> = parents.iter().map(|&parent| code(parent)).collect();
    cpt.distribution(&configuration)[code(child) as usize]
}

#[test]
fn tables_iii_and_iv_of_nadimpalli() {
    let table_iii =
        [("13-23", "30-50", 1.0), ("13-23", "51-90", 0.5), ("24-58", "30-50", 0.5), ("24-58", "51-90", 0.0)];
    for (zipcode, age, female) in table_iii {
        let parents = [(ZIPCODE, zipcode), (AGE, age)];
        assert_eq!(probability(&parents, (GENDER, "F"), 0.0), female);
        assert_eq!(probability(&parents, (GENDER, "M"), 0.0), 1.0 - female);
    }
    for (age, low) in [("30-50", 1.0), ("51-90", 0.0)] {
        assert_eq!(probability(&[(AGE, age)], (ZIPCODE, "13-23"), 0.0), low);
        assert_eq!(probability(&[(AGE, age)], (ZIPCODE, "24-58"), 0.0), 1.0 - low);
    }
}

/// Two rows of it are of configurations that do not occur.
#[test]
fn table_vi_of_nadimpalli() {
    let table_vi = [
        ("State", "Never", 1.0),
        ("Federal", "Divorced", 0.5),
        ("Private", "Divorced", 1.0),
        ("Local", "Separated", 0.0),
        ("Private", "Married", 0.0),
        ("Self", "Married", 1.0),
        ("Self", "Separated", 0.5),
    ];
    for (government, marital, low) in table_vi {
        let parents = [(GOVERNMENT, government), (MARITAL, marital)];
        assert_eq!(probability(&parents, (SALARY, "<=50"), 0.0), low, "{government} {marital}");
        assert_eq!(probability(&parents, (SALARY, ">50"), 0.0), 1.0 - low);
    }
}

/// With the heads of its columns, its last word, and two rows put right.
#[test]
fn table_vii_of_nadimpalli_corrected() {
    let table_vii = [
        ("State", [0.5, 0.167, 0.167, 0.167]),
        ("Federal", [0.333, 0.333, 0.167, 0.167]),
        ("Private", [0.125, 0.375, 0.375, 0.125]),
        ("Local", [0.2, 0.2, 0.2, 0.4]),
        ("Self", [0.2, 0.4, 0.2, 0.2]),
    ];
    for (government, row) in table_vii {
        for (marital, printed) in ["Never", "Married", "Divorced", "Separated"].into_iter().zip(row) {
            let ours = probability(&[(GOVERNMENT, government)], (MARITAL, marital), 1.0);
            assert!((ours - printed).abs() < 0.0005, "{government} {marital} {ours}");
        }
    }
}

#[test]
fn table_viii_of_nadimpalli() {
    let young = [(AGE, "30-50"), (GENDER, "F"), (ZIPCODE, "13-23")];
    let old = [(AGE, "51-90"), (GENDER, "M"), (ZIPCODE, "24-58")];
    let table_viii = [
        (young, "Never", "<=50", "State"),
        (young, "Married", "<=50", "Federal"),
        (young, "Separated", ">50", "Local"),
        (old, "Never", "<=50", "Federal"),
        (old, "Divorced", "<=50", "Private"),
    ];
    for (quasi, marital, salary, certain) in table_viii {
        let parents = [quasi[0], quasi[1], quasi[2], (MARITAL, marital), (SALARY, salary)];
        for government in ["State", "Federal", "Private", "Local", "Self"] {
            let ours = probability(&parents, (GOVERNMENT, government), 0.0);
            assert_eq!(ours, f64::from(u8::from(government == certain)), "{marital} {salary} {government}");
        }
    }
    // All observed rows, of which the paper prints five.
    let data = coded(&ALL);
    let network = ics::learn(&data, &ics::Options { max_cardinality: 0, ..Default::default() }).unwrap().network;
    let table = cpt::estimate(&data, &network, 0.0).unwrap().table(GOVERNMENT).clone();
    assert_eq!((table.len(), (0..table.len()).map(|at| table.support(at)).sum::<f64>()), (8, 10.0));
}

// ---------------------------------------------------------------- slow counterparts

impl Rows {
    /// So many rows and columns that there is something to find, and some of it contradicts itself.
    fn dependent(seed: u64, max_columns: usize, max_rows: usize, max_size: u32) -> Rows {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (n, n_rows) = (rng.random_range(4..=max_columns), rng.random_range(max_rows / 3..=max_rows));
        let sizes = (0..n).map(|_| rng.random_range(2..=max_size)).collect();
        Rows::draw(rng, n_rows, sizes)
    }

    fn score(&self, score: Score, child: usize, parents: &[usize]) -> f64 {
        let r = f64::from(self.sizes[child]);
        let configurations = self.configurations(parents);
        let q = configurations.len() as f64;
        let mut sum = 0.0;
        for j in &configurations {
            let n_jv: Vec<f64> =
                (0..self.sizes[child]).map(|v| self.times(&[j.as_slice(), &[(child, v)]].concat())).collect();
            let total: f64 = n_jv.iter().sum();
            let dirichlet = |a: f64| n_jv.iter().map(|&count| ln_rise(a, count)).sum::<f64>() - ln_rise(a * r, total);
            sum += match score {
                Score::Bayes { alpha } => dirichlet(alpha),
                Score::Bdeu { sample_size } => dirichlet(sample_size / (r * q)),
                _ => n_jv.iter().filter(|&&count| count > 0.0).map(|count| count * (count / total).ln()).sum(),
            };
        }
        match score {
            Score::Mdl => sum - 0.5 * q * (r - 1.0) * (self.n() as f64).ln(),
            Score::Aic => sum - q * (r - 1.0),
            _ => sum,
        }
    }
}

/// ln (x (x + 1) ... (x + n - 1)), which is ln Gamma(x + n) - ln Gamma(x).
fn ln_rise(x: f64, n: f64) -> f64 {
    (0..n as u32).map(|i| (x + f64::from(i)).ln()).sum()
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
}

/// A few nodes other than `child`, in order.
fn some_others(rng: &mut ChaCha8Rng, n: usize, child: usize, most: usize) -> Vec<usize> {
    let mut others: Vec<usize> = (0..n).filter(|&node| node != child && rng.random_bool(0.5)).collect();
    others.truncate(most);
    others
}

const SCORES: [Score; 6] = [
    Score::Bayes { alpha: 0.5 },
    Score::Bdeu { sample_size: 1.0 },
    Score::Bdeu { sample_size: 10.0 },
    Score::Mdl,
    Score::Aic,
    Score::Entropy,
];

#[test]
fn counts_and_scores_are_those_of_all_configurations() {
    for seed in 0..150 {
        let rows = Rows::random(seed, 6, 60, 4);
        let data = rows.coded();
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        let child = rng.random_range(0..rows.columns.len());
        let parents = some_others(rng, rows.columns.len(), child, 3);
        let counts = counts::count(&data, child, &parents);
        let mut observed = 0;
        for configuration in rows.configurations(&parents) {
            let codes: Vec<u32> = configuration.iter().map(|&(_, code)| code).collect();
            let slow: Vec<(u32, u32)> = (0..rows.sizes[child])
                .map(|value| (value, rows.times(&[configuration.as_slice(), &[(child, value)]].concat()) as u32))
                .filter(|&(_, count)| count > 0)
                .collect();
            if slow.is_empty() {
                continue;
            }
            assert_eq!((counts.configuration(observed), counts.cells(observed)), (codes.as_slice(), slow.as_slice()));
            observed += 1;
        }
        assert_eq!(counts.len(), observed);
        for score in SCORES {
            let ours = score::family(&data, score, child, &parents).unwrap();
            assert!(near(ours, rows.score(score, child, &parents)), "{seed} {score:?}");
        }
    }
}

/// The size of the product is no obstacle: 40 parents of 1000 values each.
#[test]
fn many_parents_of_many_values_are_counted() {
    let rng = &mut ChaCha8Rng::seed_from_u64(5);
    let mut columns: Vec<Vec<u32>> = (0..41).map(|_| (0..500).map(|_| rng.random_range(0..3)).collect()).collect();
    columns.iter_mut().for_each(|column| column.extend_from_within(..));
    let data = Coded::new(&columns.iter().map(Vec::as_slice).collect::<Vec<_>>(), &[1000; 41]).unwrap();
    let parents: Vec<usize> = (1..41).collect();
    let counts = counts::count(&data, 0, &parents);
    assert_eq!(counts.len(), 500);
    let likelihood = score::family(&data, Score::Entropy, 0, &parents).unwrap();
    assert_eq!(likelihood, 0.0);
}

#[test]
fn statistics_are_those_of_all_cells() {
    for seed in 0..200 {
        let rows = Rows::random(seed, 5, 60, 4);
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        let (x, y) = (rng.random_range(0..rows.columns.len()), rng.random_range(0..rows.columns.len()));
        if x == y {
            continue;
        }
        let mut given = some_others(rng, rows.columns.len(), x, 3);
        given.retain(|&node| node != y);
        let (mut g2, mut chi2, mut seen) = (0.0, 0.0, 0.0);
        for z in rows.configurations(&given) {
            let with = |more: &[(usize, u32)]| rows.times(&[z.as_slice(), more].concat());
            let n_z = with(&[]);
            if n_z == 0.0 {
                continue;
            }
            for a in 0..rows.sizes[x] {
                for b in 0..rows.sizes[y] {
                    let (n, e) = (with(&[(x, a), (y, b)]), with(&[(x, a)]) * with(&[(y, b)]) / n_z);
                    g2 += if n > 0.0 { 2.0 * n * (n / e).ln() } else { 0.0 };
                    chi2 += if e > 0.0 { (n - e) * (n - e) / e } else { 0.0 };
                }
            }
            let values = |node: usize| (0..rows.sizes[node]).filter(|&code| with(&[(node, code)]) > 0.0).count() as f64;
            seen += (values(x) - 1.0) * (values(y) - 1.0);
        }
        let q: f64 = given.iter().map(|&node| f64::from(rows.sizes[node])).product();
        let nominal = f64::from(rows.sizes[x] - 1) * f64::from(rows.sizes[y] - 1) * q;
        let data = rows.coded();
        for (statistic, slow) in [(Statistic::G2, g2), (Statistic::ChiSquare, chi2)] {
            for (degrees, df) in [(Degrees::Nominal, nominal), (Degrees::Seen, seen)] {
                let ours = test(&data, x, y, &given, statistic, degrees);
                assert!((ours.statistic - slow).abs() < 1e-8 && ours.degrees == df, "{seed} {ours:?} {slow} {df}");
                assert!((0.0..=1.0).contains(&ours.p_value) && (df > 0.0 || ours.p_value == 1.0));
            }
        }
    }
}

/// Tests of independent columns reject as often as their level says.
#[test]
fn p_values_of_independent_columns_are_uniform() {
    let p_value = |seed: u64| {
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        let mut column = |size: u32| -> Vec<u32> { (0..2000).map(|_| rng.random_range(0..size)).collect() };
        let columns = [column(3), column(4), column(2)];
        let data = Coded::new(&[&columns[0], &columns[1], &columns[2]], &[3, 4, 2]).unwrap();
        test(&data, 0, 1, &[2], Statistic::G2, Degrees::Nominal).p_value
    };
    let p_values: Vec<f64> = (0..1000).map(p_value).collect();
    for level in [0.05, 0.25, 0.5, 0.75] {
        let below = p_values.iter().filter(|&&p| p < level).count() as f64 / 1000.0;
        assert!((below - level).abs() < 0.05, "{level} {below}");
    }
}

// ---------------------------------------------------------------- ICS as printed

/// The steps of the specification, one after the other, without any cleverness.
fn ics_as_printed(rows: &Rows, score: Score, max_cardinality: usize) -> (Vec<(usize, usize)>, Vec<Vec<usize>>) {
    let n = rows.columns.len();
    let (edge, separator) = skeleton_as_printed(rows, score, max_cardinality);
    let mut directed = Directed { edge: &edge, arrow: vec![vec![false; n]; n], log: Vec::new() };
    directed.join_without_separator(&separator);
    loop {
        let before = directed.log.len();
        (1..=4).for_each(|rule| directed.apply(rule));
        if directed.log.len() > before {
            continue;
        }
        let all = (0..n).flat_map(|a| (0..n).map(move |b| (a, b)));
        match all.into_iter().find(|&(a, b)| directed.is_open(a, b)) {
            Some((a, b)) => directed.add(a, b),
            None => break,
        }
    }
    let mut parents: Vec<Vec<usize>> = vec![Vec::new(); n];
    for (from, to) in directed.log {
        let mut longer = parents.clone();
        longer[to].push(from);
        longer[to].sort_unstable();
        if is_acyclic(&longer) {
            parents = longer;
        }
    }
    let skeleton = (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b))).filter(|&(a, b)| edge[a][b]).collect();
    (skeleton, parents)
}

type Matrix<T> = Vec<Vec<T>>;

/// Edges, and what separates two nodes that have none.
fn skeleton_as_printed(rows: &Rows, score: Score, max_cardinality: usize) -> (Matrix<bool>, Matrix<BTreeSet<usize>>) {
    let n = rows.columns.len();
    let mut edge = vec![vec![true; n]; n];
    (0..n).for_each(|i| edge[i][i] = false);
    let mut separator = vec![vec![BTreeSet::new(); n]; n];
    for c in 0..=max_cardinality {
        for a in 0..n {
            for b in a + 1..n {
                if !edge[a][b] {
                    continue;
                }
                // All sets of nodes as bits; lexicographic order of sorted lists.
                let mut sets: Vec<Vec<usize>> = (0_u32..1 << n)
                    .map(|bits| (0..n).filter(|&i| bits >> i & 1 == 1).collect::<Vec<usize>>())
                    .filter(|set| set.len() == c && set.iter().all(|&i| edge[a][i] && edge[b][i]))
                    .collect();
                sets.sort();
                for set in sets {
                    let mut with = set.clone();
                    with.push(a);
                    with.sort_unstable();
                    if rows.score(score, b, &with) <= rows.score(score, b, &set) + 1e-9 {
                        edge[a][b] = false;
                        edge[b][a] = false;
                        separator[a][b] = set.into_iter().collect();
                        break;
                    }
                }
            }
        }
    }
    (edge, separator)
}

/// Edges on the way to arrows, in the order in which they got them.
struct Directed<'a> {
    edge: &'a Matrix<bool>,
    arrow: Matrix<bool>,
    log: Vec<(usize, usize)>,
}

impl Directed<'_> {
    fn is_open(&self, a: usize, b: usize) -> bool {
        self.edge[a][b] && !self.arrow[a][b] && !self.arrow[b][a]
    }

    fn add(&mut self, a: usize, b: usize) {
        if !self.arrow[a][b] {
            self.arrow[a][b] = true;
            self.log.push((a, b));
        }
    }

    fn join_without_separator(&mut self, separator: &Matrix<BTreeSet<usize>>) {
        let (edge, n) = (self.edge, self.edge.len());
        for a in 0..n {
            for b in a + 1..n {
                for c in 0..n {
                    if !edge[a][b] && edge[a][c] && edge[b][c] && !separator[a][b].contains(&c) {
                        self.add(a, c);
                        self.add(b, c);
                    }
                }
            }
        }
    }

    fn apply(&mut self, rule: u32) {
        let n = self.edge.len();
        for i in 0..n {
            for j in 0..n {
                for k in 0..n {
                    if i == j || j == k || i == k {
                        continue;
                    }
                    if rule == 1 && self.arrow[i][j] && self.is_open(j, k) && !self.edge[i][k] {
                        self.add(j, k);
                    }
                    if rule == 2 && self.arrow[i][j] && self.arrow[j][k] && self.is_open(i, k) {
                        self.add(i, k);
                    }
                    for m in (0..n).filter(|&m| m != i && m != j && m != k) {
                        let joins = |a: usize, b: usize| self.is_open(a, b);
                        let meet = self.arrow[i][j] && self.arrow[k][j] && !self.edge[i][k];
                        if rule == 3 && meet && joins(m, i) && joins(m, j) && joins(m, k) {
                            self.add(m, j);
                        }
                        let joins = |a: usize, b: usize| self.is_open(a, b);
                        let around = joins(k, j) && joins(k, i) && joins(m, i) && joins(m, k);
                        if rule == 4 && self.arrow[j][i] && around {
                            self.add(i, m);
                            self.add(k, m);
                        }
                    }
                }
            }
        }
    }
}

/// Nodes without parents are taken away until none is left, or none goes.
fn is_acyclic(parents: &[Vec<usize>]) -> bool {
    let mut left: BTreeSet<usize> = (0..parents.len()).collect();
    while let Some(&free) = left.iter().find(|&&node| parents[node].iter().all(|parent| !left.contains(parent))) {
        left.remove(&free);
    }
    left.is_empty()
}

fn parents_of(network: &Network) -> Vec<Vec<usize>> {
    (0..network.n_nodes()).map(|node| network.parents(node).to_vec()).collect()
}

#[test]
fn ics_is_its_steps_as_printed() {
    let (mut with_edges, mut with_drops) = (0, 0);
    for seed in 0..400 {
        let rows = Rows::dependent(seed, 6, 150, 3);
        let cardinality = (seed % 4) as usize;
        let score = [Score::Bayes { alpha: 0.5 }, Score::Bdeu { sample_size: 1.0 }, Score::Mdl, Score::Aic];
        let score = score[(seed / 4 % 4) as usize];
        let (skeleton, parents) = ics_as_printed(&rows, score, cardinality);
        let decision = Decision::Score(score);
        let options = ics::Options { decision, max_cardinality: cardinality, max_parents: None };
        let Learned { network, skeleton: ours, dropped } = ics::learn(&rows.coded(), &options).unwrap();
        assert_eq!((ours, parents_of(&network)), (skeleton, parents), "{seed}");
        with_edges += usize::from(!network.edges().is_empty());
        with_drops += usize::from(!dropped.is_empty());
    }
    // Otherwise hardly anything was compared.
    assert!(with_edges > 200 && with_drops > 10, "{with_edges} {with_drops}");
}

#[test]
fn every_network_is_acyclic_and_keeps_to_its_limits() {
    for seed in 0..100 {
        let rows = Rows::random(seed, 9, 150, 3);
        let data = rows.coded();
        let test = Decision::Test { statistic: Statistic::ChiSquare, degrees: Degrees::Nominal, level: 0.05 };
        let score = Decision::Score(Score::Entropy);
        let decision = if seed % 5 == 0 { score } else { test };
        let max_parents = Some(2);
        let by_ics = ics::learn(&data, &ics::Options { decision, max_parents, max_cardinality: 1 }).unwrap();
        let by_pc =
            pc_stable::learn(&data, &pc_stable::Options { decision, max_parents, ..Default::default() }).unwrap();
        let options = hill_climb::Options { score: Score::Aic, max_parents, restarts: 2, ..Default::default() };
        let by_climbing = hill_climb::learn(&data, &options).unwrap().network;
        for network in [by_ics.network, by_pc.network, by_climbing] {
            let parents = parents_of(&network);
            assert!(is_acyclic(&parents) && parents.iter().all(|parents| parents.len() <= 2), "{seed}");
        }
    }
}

// ---------------------------------------------------------------- hill climbing

/// Every move's gain is the difference of whole scores, and nothing that one move could reach is better than the end.
#[test]
fn gains_of_moves_are_differences_of_whole_scores() {
    for seed in 0..60 {
        let rows = Rows::random(seed, 7, 300, 3);
        let data = rows.coded();
        let score = SCORES[(seed % 5) as usize];
        let options = hill_climb::Options { score, max_parents: Some(4), patience: 5, ..Default::default() };
        let climbed = hill_climb::learn(&data, &options).unwrap();
        let total = |parents: &[Vec<usize>]| {
            let network = Network::new(parents.to_vec()).unwrap();
            score::total(&data, score, &network).unwrap()
        };
        let mut parents = vec![Vec::new(); rows.columns.len()];
        let mut best = total(&parents);
        for made in &climbed.moves {
            let before = total(&parents);
            change(&mut parents, made.change, made.parent, made.child);
            assert!(near(total(&parents) - before, made.gain), "{seed} {made:?}");
            best = best.max(total(&parents));
        }
        assert!(near(best, climbed.score) && near(total(&parents_of(&climbed.network)), climbed.score), "{seed}");
        for child in 0..parents.len() {
            for parent in (0..parents.len()).filter(|&parent| parent != child) {
                let has = climbed.network.parents(child).contains(&parent);
                let changes = if has { &[Change::Delete, Change::Turn][..] } else { &[Change::Add] };
                for &kind in changes {
                    let mut other = parents_of(&climbed.network);
                    change(&mut other, kind, parent, child);
                    let allowed = is_acyclic(&other) && other.iter().all(|parents| parents.len() <= 4);
                    assert!(!allowed || total(&other) <= climbed.score + 1e-5, "{seed} {kind:?} {parent} {child}");
                }
            }
        }
    }
}

fn change(parents: &mut [Vec<usize>], change: Change, parent: usize, child: usize) {
    if change != Change::Add {
        parents[child].retain(|&other| other != parent);
    }
    match change {
        Change::Add => parents[child].push(parent),
        Change::Turn => parents[parent].push(child),
        Change::Delete => {}
    }
}

#[test]
fn starting_again_never_ends_lower_and_the_seed_decides() {
    for seed in 0..10 {
        let data = Rows::random(seed, 8, 400, 3).coded();
        let options = hill_climb::Options { patience: 0, score: Score::Aic, ..Default::default() };
        let once = hill_climb::learn(&data, &options).unwrap();
        let again = hill_climb::Options { restarts: 5, seed, ..options };
        let [first, second] = [0, 1].map(|_| hill_climb::learn(&data, &again).unwrap());
        assert!(first.score >= once.score - 1e-9);
        assert_eq!(first, second);
    }
}

// ---------------------------------------------------------------- known networks

/// A random network whose arrows all matter: 2 to 4 values a node, up to 3 parents, rows of tables from Dirichlet's law with
/// concentration 1/2 (which makes uneven distributions), a tenth of the uniform distribution mixed in, so that no configuration
/// is impossible; and each parent must tell about its child, given the others, at least a hundredth of a nat if all
/// configurations of the parents are equally likely. Tables that do not are drawn again: an arrow that does nothing cannot be
/// found again by anybody.
fn random_network(seed: u64, n: usize, matters: f64) -> Fitted {
    let rng = &mut ChaCha8Rng::seed_from_u64(seed);
    let sizes: Vec<u32> = (0..n).map(|_| rng.random_range(2..=4)).collect();
    let mut names: Vec<usize> = (0..n).collect();
    for at in (1..n).rev() {
        names.swap(at, rng.random_range(0..=at));
    }
    let mut tables: Vec<Option<Cpt>> = vec![None; n];
    for at in 0..n {
        let mut parents: Vec<usize> = Vec::new();
        let wanted = rng.random_range(0..=3_usize).min(at);
        while parents.len() < wanted {
            let parent = names[rng.random_range(0..at)];
            if !parents.contains(&parent) {
                parents.push(parent);
            }
        }
        parents.sort_unstable();
        let parent_sizes: Vec<u32> = parents.iter().map(|&parent| sizes[parent]).collect();
        let n_rows = parent_sizes.iter().product::<u32>() as usize;
        let table = loop {
            let rows: Vec<Vec<f64>> = (0..n_rows).map(|_| dirichlet(rng, sizes[names[at]] as usize)).collect();
            if (0..parents.len()).all(|parent| information(&rows, &parent_sizes, parent) >= matters) {
                break Cpt::known(&parents, &parent_sizes, &rows).unwrap();
            }
        };
        tables[names[at]] = Some(table);
    }
    Fitted::new(tables.into_iter().map(Option::unwrap).collect()).unwrap()
}

/// A distribution from Dirichlet's law with concentration 1/2: squares of normal numbers, divided by their sum.
fn dirichlet(rng: &mut ChaCha8Rng, size: usize) -> Vec<f64> {
    let mut square = || {
        let (u, v): (f64, f64) = (rng.random(), rng.random());
        -2.0 * (1.0 - u).ln() * (std::f64::consts::TAU * v).cos().powi(2)
    };
    let squares: Vec<f64> = (0..size).map(|_| square()).collect();
    let sum: f64 = squares.iter().sum();
    squares.iter().map(|square| 0.9 * square / sum + 0.1 / size as f64).collect()
}

/// The mutual information of a parent and the child, given the other parents, if all configurations are equally likely.
fn information(rows: &[Vec<f64>], sizes: &[u32], parent: usize) -> f64 {
    let stride: usize = sizes[parent + 1..].iter().map(|&size| size as usize).product();
    let size = sizes[parent] as usize;
    let mut sum = 0.0;
    for (at, row) in rows.iter().enumerate() {
        let first = at - at / stride % size * stride;
        for (value, p) in row.iter().enumerate() {
            let mean = (0..size).map(|code| rows[first + code * stride][value]).sum::<f64>() / size as f64;
            sum += p * (p / mean).ln();
        }
    }
    sum / rows.len() as f64
}

/// The harmonic mean of precision and recall of edges.
fn f_measure(found: &[(usize, usize)], real: &[(usize, usize)]) -> f64 {
    let both = found.iter().filter(|edge| real.contains(edge)).count() as f64;
    2.0 * both / (found.len() + real.len()).max(1) as f64
}

#[test]
fn known_networks_are_found_again() {
    let results: Vec<(f64, f64)> = (0..10_u64)
        .into_par_iter()
        .map(|seed| {
            let n = [8, 10, 12, 14, 16, 18, 20, 9, 13, 17][seed as usize];
            let real = random_network(seed, n, 0.01);
            let columns = sample(&real, 20_000, seed);
            let data = Coded::new(&columns.iter().map(Vec::as_slice).collect::<Vec<_>>(), real.sizes()).unwrap();
            let edges = real.network().skeleton();
            let climbed = hill_climb::learn(&data, &hill_climb::Options::default()).unwrap().network.skeleton();
            let by_pc = pc_stable::learn(&data, &pc_stable::Options::default()).unwrap().skeleton;
            (f_measure(&climbed, &edges), f_measure(&by_pc, &edges))
        })
        .collect();
    println!("F of hill climbing and of PC-stable: {results:.3?}");
    assert!(results.iter().all(|&(climbed, by_pc)| climbed >= 0.9 && by_pc >= 0.9), "{results:.3?}");
}

/// Another order of the columns gives the same edges.
#[test]
fn pc_stable_does_not_depend_on_the_order_of_columns() {
    for seed in 0..5 {
        let real = random_network(seed, 8, 0.001);
        let columns = sample(&real, 2000, seed);
        let skeleton = |order: &[usize]| {
            let chosen: Vec<&[u32]> = order.iter().map(|&node| columns[node].as_slice()).collect();
            let sizes: Vec<u32> = order.iter().map(|&node| real.sizes()[node]).collect();
            let found = pc_stable::learn(&Coded::new(&chosen, &sizes).unwrap(), &Default::default()).unwrap();
            let back = |&(a, b): &(usize, usize)| (order[a].min(order[b]), order[a].max(order[b]));
            found.skeleton.iter().map(back).collect::<BTreeSet<_>>()
        };
        assert_eq!(skeleton(&[0, 1, 2, 3, 4, 5, 6, 7]), skeleton(&[5, 2, 7, 0, 3, 6, 1, 4]), "{seed}");
    }
}

// ---------------------------------------------------------------- inference and sampling

#[test]
fn posteriors_are_those_of_all_rows() {
    for seed in 0..40 {
        let rng = &mut ChaCha8Rng::seed_from_u64(1000 + seed);
        let n = rng.random_range(2..=8);
        let fitted = random_network(seed, n, 0.0);
        let node = rng.random_range(0..n);
        let known: Vec<(usize, u32)> = (0..n)
            .filter(|_| rng.random_bool(0.3))
            .collect::<Vec<_>>()
            .into_iter()
            .map(|other| (other, rng.random_range(0..fitted.sizes()[other])))
            .collect();
        let mut slow = vec![0.0; fitted.sizes()[node] as usize];
        for_each_row(fitted.sizes(), |row| {
            if known.iter().all(|&(other, value)| row[other] == value) {
                slow[row[node] as usize] += joint(&fitted, row);
            }
        });
        let sum: f64 = slow.iter().sum();
        let ours = posterior(&fitted, node, &known, MAX_CELLS).unwrap().unwrap();
        for (ours, slow) in ours.iter().zip(&slow) {
            assert!((ours - slow / sum).abs() < 1e-9, "{seed}");
        }
    }
}

fn for_each_row(sizes: &[u32], mut each: impl FnMut(&[u32])) {
    let mut row = vec![0; sizes.len()];
    loop {
        each(&row);
        let Some(at) = (0..sizes.len()).rev().find(|&at| row[at] + 1 < sizes[at]) else { return };
        row[at] += 1;
        row[at + 1..].fill(0);
    }
}

fn joint(fitted: &Fitted, row: &[u32]) -> f64 {
    let factor = |node: usize| {
        let table = fitted.table(node);
        let configuration: Vec<u32> = table.parents().iter().map(|&parent| row[parent]).collect();
        table.distribution(&configuration)[row[node] as usize]
    };
    (0..row.len()).map(factor).product()
}

#[test]
fn evidence_may_be_impossible_wrong_or_too_much() {
    let copy = vec![vec![1.0, 0.0], vec![0.0, 1.0]];
    let tables = vec![Cpt::known(&[], &[], &[vec![0.5, 0.5]]).unwrap(), Cpt::known(&[0], &[2], &copy).unwrap()];
    let fitted = Fitted::new(tables).unwrap();
    let ask = |node, evidence: &[(usize, u32)], cells| posterior(&fitted, node, evidence, cells);
    assert_eq!(ask(0, &[(1, 1)], 8).unwrap(), Some(vec![0.0, 1.0]));
    assert_eq!(ask(0, &[(1, 1), (0, 1)], 8).unwrap(), Some(vec![0.0, 1.0]));
    assert_eq!(ask(0, &[(1, 1), (0, 0)], 8).unwrap(), None);
    assert!(ask(0, &[(1, 2)], 8).is_err() && ask(2, &[], 8).is_err() && ask(0, &[(1, 0), (1, 1)], 8).is_err());
    assert!(ask(1, &[], 3).is_err());
}

#[test]
fn samples_follow_the_network_and_do_not_depend_on_threads() {
    let fitted = random_network(3, 6, 0.0);
    let columns = sample(&fitted, 50_000, 9);
    let single = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(columns, single.install(|| sample(&fitted, 50_000, 9)));
    assert_ne!(columns, sample(&fitted, 50_000, 10));
    for (node, column) in columns.iter().enumerate() {
        let exact = posterior(&fitted, node, &[], MAX_CELLS).unwrap().unwrap();
        for (value, share) in (0..).zip(exact) {
            let drawn = column.iter().filter(|&&code| code == value).count() as f64 / 50_000.0;
            assert!((drawn - share).abs() < 0.01, "{node} {value} {drawn} {share}");
        }
    }
}

#[test]
fn networks_do_not_depend_on_threads() {
    let columns = sample(&random_network(4, 10, 0.01), 3000, 4);
    let slices: Vec<&[u32]> = columns.iter().map(Vec::as_slice).collect();
    let data = Coded::new(&slices, &[4; 10]).unwrap();
    let learn = || {
        let options = hill_climb::Options { restarts: 3, ..Default::default() };
        let climbed = hill_climb::learn(&data, &options).unwrap();
        (climbed, pc_stable::learn(&data, &Default::default()).unwrap())
    };
    let pool = |n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
    assert_eq!(pool(1).install(learn), pool(3).install(learn));
}

#[test]
fn tables_without_rows_or_columns_are_no_obstacle() {
    let nothing: [Vec<u32>; 3] = [vec![], vec![], vec![]];
    let slices: Vec<&[u32]> = nothing.iter().map(Vec::as_slice).collect();
    for data in [Coded::new(&slices, &[2, 0, 3]).unwrap(), Coded::new(&[], &[]).unwrap()] {
        let options = hill_climb::Options { restarts: 2, ..Default::default() };
        let climbed = hill_climb::learn(&data, &options).unwrap();
        let by_ics = ics::learn(&data, &Default::default()).unwrap();
        let by_pc = pc_stable::learn(&data, &Default::default()).unwrap();
        for network in [climbed.network, by_ics.network, by_pc.network] {
            assert_eq!((network.n_nodes(), network.edges().len()), (data.n_columns(), 0));
            assert_eq!(cpt::estimate(&data, &network, 0.0).is_ok(), data.n_columns() == 0);
        }
    }
    assert!(score::total(&coded(&ALL), Score::Mdl, &Network::empty(2)).is_err());
}
