//! The dependency attack: the paper's verdicts, Algorithm 1 as printed, tables in which there is nothing, tables in which
//! something was planted, and beliefs by enumeration. That would catch a cell that is compared with the wrong total, chance
//! that is taken for a rule, and a rule that drowns in corrections.

use std::collections::BTreeSet;

use crate::nadimpalli2014::{AGE, ALL, GENDER, GOVERNMENT, MARITAL, QUASI, SALARY, SENSITIVE, ZIPCODE, table_ii};
use crate::tables::rows::Rows;
use disjoin::attack::dependency::{
    Dependency, Detect, Options, Reading, Rule, belief, dependencies, detect, fit, strengths, three_networks,
};
use disjoin::knowledge::network::{Coded, Missing, Network, Risk, ics};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

// ---------------------------------------------------------------- the paper

/// The rules of the network that the paper draws for some columns, which are named by their places in the table.
fn rules_of(columns: &[usize], options: &Detect) -> Vec<Rule> {
    let data = Coded::from_table(&table_ii(), columns, Missing::DropRow).unwrap();
    let network = ics::learn(&data, &ics::Options { max_cardinality: 0, ..Default::default() }).unwrap().network;
    let mut rules = detect(&data, &network, options).unwrap();
    for rule in &mut rules {
        rule.child = columns[rule.child];
        rule.parents.iter_mut().for_each(|parent| *parent = columns[*parent]);
    }
    rules
}

fn verdicts(columns: &[usize], options: &Detect) -> Vec<(Vec<usize>, usize)> {
    rules_of(columns, options).into_iter().map(|rule| (rule.parents, rule.child)).collect()
}

#[test]
fn verdicts_on_the_example_of_nadimpalli() {
    for min_support in [1, 2] {
        let plain = Detect { min_support, ..Detect::default() };
        let quasi = [(vec![AGE], ZIPCODE), (vec![AGE, ZIPCODE], GENDER)];
        assert_eq!(verdicts(&QUASI, &plain), quasi);
        let salary = (vec![GOVERNMENT, MARITAL], SALARY);
        assert_eq!(verdicts(&SENSITIVE, &plain), [(vec![GOVERNMENT], MARITAL), salary.clone()]);
        let government = (vec![AGE, GENDER, ZIPCODE, MARITAL, SALARY], GOVERNMENT);
        assert!(verdicts(&ALL, &plain).contains(&government));

        let laplace = Detect { added: 1.0, ..plain };
        assert_eq!(verdicts(&QUASI, &laplace), quasi);
        assert_eq!(verdicts(&SENSITIVE, &laplace), [salary]);
        assert!(verdicts(&ALL, &laplace).iter().all(|(_, child)| *child != GOVERNMENT));
    }
    let lenient = Detect { min_support: 1, ..Detect::default() };
    let rules = rules_of(&ALL, &lenient);
    let rule = rules.iter().find(|rule| rule.child == GOVERNMENT).unwrap();
    let expected = [0.6, 0.6, 0.6, 1.0, 2.0 / 3.0];
    assert!(rule.of_parents.iter().zip(expected).all(|(ours, theirs)| (ours - theirs).abs() < 1e-12));
    assert_eq!((rule.highest.probability, rule.highest.risk), (1.0, Risk::VeryHigh));
    let marital = &rules_of(&SENSITIVE, &Detect::default())[0];
    // Both who are State-gov are never married; three of ten are.
    assert_eq!((marital.highest.probability, marital.highest.support, marital.people), (1.0, 2, 2));
    assert!((marital.highest.lift - 10.0 / 3.0).abs() < 1e-12);
    let laplace = Detect { added: 1.0, min_support: 1, alpha: 0.42, ..Detect::default() };
    let highest = rules_of(&ALL, &laplace).into_iter().find(|rule| rule.child == GOVERNMENT).unwrap();
    assert!(highest.of_parents.iter().all(|&p| p < 0.43) && (highest.highest.probability - 3.0 / 7.0).abs() < 1e-12);
}

/// With so few rows nothing is more than chance but what generalization itself ties together.
#[test]
fn ten_rows_confirm_nothing() {
    let data = Coded::from_table(&table_ii(), &ALL, Missing::DropRow).unwrap();
    let found = dependencies(&data, &Options::default()).unwrap();
    assert!(found.dependencies.is_empty() && found.rules.iter().all(|rule| !found.confirms(rule)));
    let chance = dependencies(&data, &Options { confirm: false, proposing: 0.05, ..Options::default() }).unwrap();
    assert!(chance.risks().count() > 0);
}

// ---------------------------------------------------------------- Algorithm 1 as printed

impl Rows {
    /// P(child = value | configuration), uniform where that does not occur.
    fn probability(&self, configuration: &[(usize, u32)], child: usize, value: u32, added: f64) -> f64 {
        let (total, r) = (self.times(configuration), f64::from(self.sizes[child]));
        match total == 0.0 {
            true => 1.0 / r,
            false => (self.times(&[configuration, &[(child, value)]].concat()) + added) / (total + added * r),
        }
    }

    fn random_network(&self, rng: &mut ChaCha8Rng) -> Network {
        let parents = |node: usize| (0..node).filter(|_| rng.random_bool(0.5)).collect();
        Network::new((0..self.columns.len()).map(parents).collect()).unwrap()
    }
}

/// Steps 2 to 19, with count and Temp set back for each attribute.
fn as_printed(rows: &Rows, network: &Network, alpha: f64, added: f64) -> BTreeSet<(Vec<usize>, usize)> {
    let mut fd = BTreeSet::new();
    for n in 0..network.n_nodes() {
        let c = network.parents(n);
        let table: Vec<Vec<f64>> = rows
            .configurations(c)
            .iter()
            .map(|j| (0..rows.sizes[n]).map(|v| rows.probability(j, n, v, added)).collect())
            .collect();
        if c.len() == 1 {
            for tuple in &table {
                for &cell in tuple {
                    if cell > alpha {
                        fd.insert((c.to_vec(), n));
                    }
                }
            }
        }
        if c.len() > 1 {
            let (mut temp, mut count) = (BTreeSet::new(), 0);
            for &c_l in c {
                for tuple in &table {
                    for &cell in tuple {
                        if cell > alpha {
                            temp.insert((vec![c_l], n));
                            count += 1;
                        }
                    }
                }
            }
            match count == c.len() {
                true => fd.extend([(c.to_vec(), n)]),
                false => fd.extend(temp),
            }
        }
    }
    fd
}

#[test]
fn the_literal_reading_is_algorithm_1_as_printed() {
    let (mut joint, mut single) = (0, 0);
    for seed in 0..400 {
        let rows = Rows::random(seed, 4, 20, 3);
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        let network = rows.random_network(rng);
        let (alpha, added) = ([0.3, 0.5, 0.8, 0.95][seed as usize % 4], f64::from(seed as u32 / 4 % 2));
        let options = Detect { alpha, added, reading: Reading::Literal, ..Detect::default() };
        let ours = detect(&rows.coded(), &network, &options).unwrap();
        let ours: BTreeSet<_> = ours.into_iter().map(|rule| (rule.parents, rule.child)).collect();
        assert_eq!(ours, as_printed(&rows, &network, alpha, added), "{seed}");
        joint += ours.iter().filter(|(parents, _)| parents.len() > 1).count();
        single += ours.iter().filter(|(parents, _)| parents.len() == 1).count();
    }
    assert!(joint > 5 && single > 100, "{joint} {single}");
}

/// Both readings of the same tables, cell by cell.
#[test]
fn the_sensible_reading_takes_each_parent_by_its_own_table() {
    let mut n_rules = 0;
    for seed in 0..300 {
        let rows = Rows::random(seed, 4, 40, 3);
        let network = rows.random_network(&mut ChaCha8Rng::seed_from_u64(seed));
        let options = Detect { min_support: 3, ..Detect::default() };
        let found = detect(&rows.coded(), &network, &options).unwrap();
        let highest = |parents: &[usize], child: usize| {
            let mut highest = 0.0_f64;
            for j in rows.configurations(parents).iter().filter(|j| rows.times(j) >= 3.0) {
                for value in 0..rows.sizes[child] {
                    highest = highest.max(rows.probability(j, child, value, 0.0));
                }
            }
            highest
        };
        let mut expected = Vec::new();
        for child in 0..network.n_nodes() {
            let parents = network.parents(child);
            let hits: Vec<usize> = parents.iter().copied().filter(|&parent| highest(&[parent], child) > 0.5).collect();
            match !hits.is_empty() && hits.len() == parents.len() && highest(parents, child) > 0.0 {
                true => expected.push((hits, child)),
                false => expected.extend(hits.into_iter().map(|hit| (vec![hit], child))),
            }
        }
        let ours: Vec<_> = found.iter().map(|rule| (rule.parents.clone(), rule.child)).collect();
        assert_eq!(ours, expected, "{seed}");
        for rule in &found {
            assert_eq!(rule.highest.probability, highest(&rule.parents, rule.child));
            let named: Vec<_> = rule.parents.iter().copied().zip(rule.highest.configuration.iter().copied()).collect();
            let (cell, value) = (&rule.highest, rule.highest.value);
            assert_eq!(cell.probability, rows.probability(&named, rule.child, value, 0.0));
            assert_eq!(f64::from(cell.support), rows.times(&named));
            let share = rows.times(&[(rule.child, value)]) / rows.columns[0].len() as f64;
            assert!((cell.lift - cell.probability / share).abs() < 1e-9);
        }
        n_rules += found.len();
    }
    assert!(n_rules > 100, "{n_rules}");
}

// ---------------------------------------------------------------- chance

/// Columns that have nothing to do with each other, of few values or many, even or uneven.
fn independent(seed: u64) -> Coded {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let n_rows = [30, 100, 300, 1000, 3000, 8000][seed as usize % 6];
    let sizes: Vec<u32> = (0..rng.random_range(3..=8)).map(|_| rng.random_range(2..=20)).collect();
    let column = |&size: &u32| -> Vec<u32> {
        let power = rng.random_range(1.0..3.0);
        (0..n_rows).map(|_| (f64::from(size) * rng.random::<f64>().powf(power)) as u32).collect()
    };
    let columns: Vec<Vec<u32>> = sizes.iter().map(column).collect();
    Coded::new(&columns.iter().map(Vec::as_slice).collect::<Vec<_>>(), &sizes).unwrap()
}

fn reports(seeds: std::ops::Range<u64>, options: &Options) -> usize {
    let reports = |seed| !dependencies(&independent(seed), options).unwrap().dependencies.is_empty();
    seeds.into_par_iter().filter(|&seed| reports(seed)).count()
}

/// Without confirmation most of these tables would be said to have dependencies.
#[test]
fn independent_columns_are_left_alone() {
    let n = 200;
    let wrong = reports(0..n, &Options::default());
    assert!(wrong as u64 * 20 <= n, "{wrong} of {n} tables");
    let by_chance = reports(0..60, &Options { confirm: false, ..Options::default() });
    assert!(by_chance >= 40, "{by_chance} of 60 without confirmation");
}

// ---------------------------------------------------------------- planted dependencies

/// What is planted, and how rare it is.
#[derive(Clone, Copy)]
enum Support {
    /// One in a hundred has the value on the left: the harder case.
    Left,
    /// One in a hundred has both values, as association rules count.
    Both,
}

/// Seven columns of 2 to 12 values; who has the first value of column 1 has the first of column 4 half as often again.
fn planted(seed: u64, n_rows: usize, support: Support) -> Coded {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let sizes = [3, 8, 12, 2, 5, 6, 10];
    let (left, right) = match support {
        Support::Left => (0.01, 0.2),
        Support::Both => (0.01 / 1.5 / 0.2, 0.2),
    };
    let mut columns: Vec<Vec<u32>> = vec![Vec::with_capacity(n_rows); sizes.len()];
    for _ in 0..n_rows {
        for (column, &size) in columns.iter_mut().zip(&sizes) {
            column.push(rng.random_range(0..size));
        }
        let at = columns[0].len() - 1;
        let has = rng.random_bool(left);
        columns[1][at] = if has { 0 } else { rng.random_range(1..sizes[1]) };
        // Those who have not have it a little less often, so that one in five has it.
        let share = if has { 1.5 * right } else { right * (1.0 - 1.5 * left) / (1.0 - left) };
        columns[4][at] = if rng.random_bool(share) { 0 } else { rng.random_range(1..sizes[4]) };
    }
    Coded::new(&columns.iter().map(Vec::as_slice).collect::<Vec<_>>(), &sizes).unwrap()
}

fn is_planted(dependency: &Dependency) -> bool {
    dependency.given == [(1, 0)] && (dependency.child, dependency.value) == (4, 0)
}

fn finds(n: u64, n_rows: usize, support: Support) -> u64 {
    let finds = |seed| {
        let found = dependencies(&planted(seed, n_rows, support), &Options::default()).unwrap();
        found.dependencies.iter().any(is_planted)
    };
    (0..n).into_par_iter().filter(|&seed| finds(1000 + seed)).count() as u64
}

#[test]
fn a_planted_dependency_of_lift_one_and_a_half_is_found() {
    let n = 40;
    for (n_rows, support) in [(80_000, Support::Left), (30_000, Support::Both)] {
        let found = finds(n, n_rows, support);
        assert!(found * 20 >= n * 19, "{found} of {n} at {n_rows} rows");
    }
}

/// Who has 0 in the first column always has 1 in the second; the third is noise.
#[test]
fn a_certain_rule_is_a_risk_in_both_networks_that_have_it() {
    let n = 400_u32;
    let first: Vec<u32> = (0..n).map(|row| u32::from(row % 5 > 0)).collect();
    let second: Vec<u32> = (0..n).map(|row| if row % 5 == 0 { 1 } else { row / 5 % 3 }).collect();
    let noise: Vec<u32> = (0..n).map(|row| row * 7919 % 1009 % 4).collect();
    let data = Coded::new(&[&first, &second, &noise], &[2, 3, 4]).unwrap();
    let three = three_networks(&data, &[0, 2], &[1], &Options::default()).unwrap();
    assert!(three.quasi.dependencies.is_empty() && three.sensitive.dependencies.is_empty());
    // Numbered by their places among both: the sensitive column comes last.
    let risk = three.both.risks().find(|risk| risk.given == [(0, 0)]).unwrap();
    assert_eq!((risk.child, risk.value, risk.support, risk.people), (2, 1, 80, 80));
    assert_eq!((risk.confidence, risk.held_out, risk.risk), (1.0, 1.0, Risk::VeryHigh));
    assert!(risk.p_value < 0.05 && risk.lift > 1.5);
    assert!(three.both.rules.iter().any(|rule| three.both.confirms(rule)));
    assert!(three.both.dependencies.iter().all(|d| d.child != 1 && d.given.iter().all(|&(column, _)| column != 1)));
    assert!(dependencies(&data, &Options { level: 2.0, ..Options::default() }).is_err());
    // Bits of the arrow: all that the one tells of the other.
    let network = Network::new(vec![vec![], vec![0], vec![]]).unwrap();
    assert!((0.1..1.0).contains(&strengths(&data, &network)[0]));
}

#[test]
fn the_answer_depends_neither_on_the_order_of_rows_nor_on_threads() {
    let rows = Rows::random(77, 6, 4000, 5);
    let backwards = Rows {
        columns: rows.columns.iter().map(|column| column.iter().rev().copied().collect()).collect(),
        sizes: rows.sizes.clone(),
    };
    let found = dependencies(&rows.coded(), &Options::default()).unwrap();
    assert_eq!(found, dependencies(&backwards.coded(), &Options::default()).unwrap());
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(found, one.install(|| dependencies(&rows.coded(), &Options::default()).unwrap()));
}

// ---------------------------------------------------------------- beliefs

/// By the sum over all rows that there could be: n_v P(known | v, class).
#[test]
fn beliefs_are_those_of_all_rows() {
    let mut asked = 0;
    for seed in 0..200 {
        let rows = Rows::random(seed, 4, 30, 3);
        let data = rows.coded();
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        let n = rows.columns.len();
        let network = rows.random_network(rng);
        let fitted = fit(&data, &network).unwrap();
        let (column, row) = (rng.random_range(0..n), rng.random_range(0..rows.columns[0].len()));
        let (mut class, mut known) = (Vec::new(), Vec::new());
        for other in (0..n).filter(|&other| other != column) {
            match rng.random_range(0..3) {
                0 => class.push((other, rows.columns[other][row])),
                1 => known.push((other, rng.random_range(0..rows.sizes[other]))),
                _ => {}
            }
        }
        let all: Vec<usize> = (0..n).collect();
        let joint = |fixed: &[(usize, u32)]| -> f64 {
            let fits = |codes: &&Vec<(usize, u32)>| fixed.iter().all(|fixed| codes.contains(fixed));
            let p = |codes: &Vec<(usize, u32)>| -> f64 {
                let of = |node: usize| {
                    let given: Vec<_> = network.parents(node).iter().map(|&parent| codes[parent]).collect();
                    rows.probability(&given, node, codes[node].1, 0.0)
                };
                (0..n).map(of).product()
            };
            rows.configurations(&all).iter().filter(fits).map(p).sum()
        };
        let both = [class.as_slice(), &known].concat();
        let weight = |value: u32| {
            let own = [(column, value)];
            let in_class = joint(&[class.as_slice(), &own].concat());
            let count = rows.times(&[class.as_slice(), &own].concat());
            if in_class > 0.0 { count * joint(&[both.as_slice(), &own].concat()) / in_class } else { 0.0 }
        };
        let weights: Vec<f64> = (0..rows.sizes[column]).map(weight).collect();
        let sum: f64 = weights.iter().sum();
        let ours = belief(&data, &fitted, column, &class, &known).unwrap();
        assert_eq!(f64::from(ours.rows), rows.times(&class));
        assert_eq!(f64::from(ours.agreeing), rows.times(&both));
        for value in 0..rows.sizes[column] {
            let share = rows.times(&[class.as_slice(), &[(column, value)]].concat()) / rows.times(&class);
            assert!((ours.before[value as usize] - share).abs() < 1e-12);
            if let Some(counted) = &ours.counted {
                let share = rows.times(&[both.as_slice(), &[(column, value)]].concat()) / rows.times(&both);
                assert!((counted[value as usize] - share).abs() < 1e-12);
            }
        }
        match &ours.after {
            Some(after) => {
                asked += 1;
                assert!(after.iter().zip(&weights).all(|(ours, slow)| (ours - slow / sum).abs() < 1e-9), "{seed}");
            }
            None => assert!(sum < 1e-12, "{seed}"),
        }
    }
    assert!(asked > 120, "{asked}");
}

/// Jessica is in the first group, and State-gov: never married, as both in the release are. The network has no row of a
/// married woman above 50, so that her employer is uniform, and half of the married are above: 2 : 1/2 * 1/5.
#[test]
fn jessica_is_never_married() {
    let data = Coded::from_table(&table_ii(), &ALL, Missing::DropRow).unwrap();
    let network = ics::learn(&data, &ics::Options { max_cardinality: 0, ..Default::default() }).unwrap().network;
    let fitted = fit(&data, &network).unwrap();
    let table = table_ii();
    let code = |column: usize, text: &str| (column, table.columns[column].domain.texts().get(text).unwrap());
    let (class, state) = ([code(AGE, "30-50"), code(GENDER, "F")], code(GOVERNMENT, "State"));
    let ours = belief(&data, &fitted, MARITAL, &class, &[state]).unwrap();
    let never = code(MARITAL, "Never").1 as usize;
    assert_eq!((ours.rows, ours.agreeing, ours.before[never]), (5, 2, 0.4));
    assert!((ours.after.unwrap()[never] - 2.0 / 2.1).abs() < 1e-12);
    assert_eq!(ours.counted.unwrap()[never], 1.0);
    assert!(belief(&data, &fitted, 9, &class, &[state]).is_err());
    assert!(belief(&data, &fitted, MARITAL, &[(0, 7)], &[]).is_err());
}
