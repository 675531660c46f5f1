//! Predicates on tables against all originals of small releases.
//!
//! * *Bounds*: the least and the greatest number of records over all tables whose values the cells may stand for, all assignments
//!   of sensitive values inside groups and all worlds of sets. Equal, but for what joint clusters leave open. They would catch a
//!   bound that some original breaks: an analyst would be told wrong.
//! * *Expectation and deviation*: over all of these, each as likely. They would catch a wrong formula.
//! * *Drawn tables*: every value is one that its cell may stand for, and counts on average are the expectation.

use std::collections::BTreeSet;

use crate::worlds::Layout;
use crate::worlds::letters::{release, support};
use crate::worlds::literal::{TermChunks, enumerate};
use crate::worlds::random::{n_worlds_bound, truthful};
use disjoin::data::Partition;
use disjoin::data::table::{Column, Role, Table};
use disjoin::data::{Dictionary, Hierarchy, by_prefix};
use disjoin::reconstruct::table::{Asked, Hierarchies, Note, Predicate, SetsOfClasses};
use disjoin::reconstruct::{Estimate, Model, Sampling};
use disjoin::release::claim::{CutRule, Parameters, Promise};
use disjoin::release::generalized::{Generalized, SetsClaim, TableClaim};
use disjoin::release::split::{Split, SplitClaim, SplitTables};
use disjoin::release::{Node, privacy_models::Criterion};
use disjoin::verify::{SplitBytes, parse_split, parse_table};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const K: [Criterion; 1] = [Criterion::KAnonymity { k: 2 }];

// ---- An independent reading of cells and conditions ------------------------------------------------------------------

/// All values that somebody may have had, the missing one among them.
fn universe(is_number: bool) -> Vec<String> {
    // Beyond all that is asked for on both sides.
    let numbers = (-6..=20).map(|half| (f64::from(half) / 2.0).to_string());
    let words = ["a", "b", "c", "d", "e"].map(str::to_owned).into_iter();
    if is_number { numbers.chain([String::new()]).collect() } else { words.chain([String::new()]).collect() }
}

/// The values of the universe that a cell may stand for.
fn values(cell: &str, is_number: bool) -> Vec<String> {
    let inner = cell.strip_prefix('{').and_then(|cell| cell.strip_suffix('}'));
    let is_in = |value: &String| match (cell, inner, cell.split_once("..")) {
        ("*", ..) => true,
        (_, Some(inner), _) => inner.split('|').any(|own| own == value),
        (_, _, Some((low, high))) => {
            let number = |text: &str| text.parse::<f64>().unwrap();
            !value.is_empty() && (number(low)..=number(high)).contains(&number(value))
        }
        _ => cell == value,
    };
    universe(is_number).into_iter().filter(is_in).collect()
}

#[derive(Debug, Clone)]
struct Condition {
    column: &'static str,
    sign: &'static str,
    values: Vec<String>,
}

impl Condition {
    fn text(&self) -> String {
        let quoted: Vec<String> = self.values.iter().map(|value| format!("'{value}'")).collect();
        match self.sign {
            "in" | "not in" => format!("{} {} {{{}}}", self.column, self.sign, quoted.join(", ")),
            "within" => format!("{} {}..{}", self.column, self.values[0], self.values[1]),
            sign => format!("{} {sign} {}", self.column, quoted[0]),
        }
    }

    fn holds(&self, value: &str) -> bool {
        let number = |text: &str| text.parse::<f64>().unwrap();
        let compared = |holds: fn(f64, f64) -> bool| !value.is_empty() && holds(number(value), number(&self.values[0]));
        match self.sign {
            "=" | "in" => self.values.iter().any(|own| own == value),
            "!=" | "not in" => !value.is_empty() && !self.values.iter().any(|own| own == value),
            "within" => compared(|a, b| a >= b) && number(value) <= number(&self.values[1]),
            "<" => compared(|a, b| a < b),
            "<=" => compared(|a, b| a <= b),
            ">" => compared(|a, b| a > b),
            ">=" => compared(|a, b| a >= b),
            sign => panic!("{sign}"),
        }
    }
}

fn random_condition(rng: &mut ChaCha8Rng, column: &'static str, is_number: bool) -> Condition {
    let all = universe(is_number);
    let n = all.len();
    let ends = if is_number { 2..n - 3 } else { 0..n - 2 };
    let mut any = |n: usize| -> Vec<String> { (0..n).map(|_| all[rng.random_range(ends.clone())].clone()).collect() };
    let values = any(2);
    let missing = || vec![String::new()];
    let sign = rng.random_range(0..if is_number { 9 } else { 5 });
    let (sign, values) = match sign {
        0 => ("=", values[..1].to_vec()),
        1 => ("!=", values[..1].to_vec()),
        2 => ("in", values),
        3 => ("not in", values),
        4 => (["=", "!="][n % 2], missing()),
        5 => {
            let mut values = values;
            values.sort_by(|a, b| a.parse::<f64>().unwrap().total_cmp(&b.parse().unwrap()));
            ("within", values)
        }
        6 => ("<", values[..1].to_vec()),
        7 => (">", values[..1].to_vec()),
        _ => ([">=", "<="][rng.random_range(0..2)], values[..1].to_vec()),
    };
    Condition { column, sign, values }
}

fn random_predicate(rng: &mut ChaCha8Rng, columns: &[(&'static str, bool)]) -> (Predicate, Vec<Condition>) {
    let n = rng.random_range(1..=3);
    let mut condition = || {
        let (column, is_number) = columns[rng.random_range(0..columns.len())];
        random_condition(rng, column, is_number)
    };
    let conditions: Vec<Condition> = (0..n).map(|_| condition()).collect();
    let text = conditions.iter().map(Condition::text).collect::<Vec<_>>().join(" and ");
    (Predicate::parse(&text, "number 1").unwrap(), conditions)
}

// ---- Tables ----------------------------------------------------------------------------------------------------------

fn random_table(rng: &mut ChaCha8Rng, n: usize) -> (Table, Partition) {
    let mut cell = |is_number: bool, with_missing: bool| -> Option<String> {
        let missing = with_missing && rng.random_bool(0.15);
        let word = |rng: &mut ChaCha8Rng| ["a", "b", "c"][rng.random_range(0..3)].to_owned();
        (!missing).then(|| if is_number { rng.random_range(0..7).to_string() } else { word(rng) })
    };
    let numbers: Vec<Option<f64>> = (0..n).map(|_| cell(true, true).map(|text| text.parse().unwrap())).collect();
    let words: Vec<Option<String>> = (0..n).map(|_| cell(false, true)).collect();
    let ill: Vec<Option<String>> = (0..n).map(|_| cell(false, true)).collect();
    let pay: Vec<Option<f64>> = (0..n).map(|_| cell(true, false).map(|text| text.parse().unwrap())).collect();
    let columns = vec![
        Column::numbers("n", Role::Quasi, numbers),
        Column::words("w", Role::Quasi, words.iter().map(Option::as_deref)),
        Column::words("ill", Role::Sensitive, ill.iter().map(Option::as_deref)),
        Column::numbers("pay", Role::Sensitive, pay),
    ];
    let mut partition = Partition::default();
    let cut = rng.random_range(1..=n);
    for rows in [0..cut, cut..n] {
        let rows: Vec<u32> = rows.map(|row| row as u32).collect();
        if !rows.is_empty() {
            partition.push(&rows);
        }
    }
    (Table::new(n, columns, None), partition)
}

const COLUMNS: [(&str, bool); 4] = [("n", true), ("w", false), ("ill", false), ("pay", true)];

/// The published table, and its claim.
fn published(table: &Table, partition: &Partition) -> (TableClaim, Table) {
    let claim = TableClaim::new(table, partition, "mondrian", &K).with_cells(table, partition);
    let mut bytes = Vec::new();
    Generalized::new(table, partition).write(&mut bytes).unwrap();
    let read = parse_table(&claim, "data.csv", &bytes).unwrap();
    (claim, read)
}

fn cell(table: &Table, column: &str, row: usize) -> String {
    let column = table.columns.iter().find(|other| other.name == column).unwrap();
    column.domain.text(column.codes[row]).to_owned()
}

/// How probable it is that a row satisfies conditions, over all values of its cells; and whether it must, and may.
fn of_row(cells: &dyn Fn(&str) -> String, conditions: &[Condition], whole: bool) -> (bool, bool, f64) {
    let (mut sure, mut possible, mut share) = (true, true, 1.0);
    for (column, is_number) in COLUMNS {
        let own: Vec<&Condition> = conditions.iter().filter(|condition| condition.column == column).collect();
        if own.is_empty() {
            continue;
        }
        let all = values(&cells(column), is_number);
        let likely: Vec<&String> = all.iter().filter(|value| !whole || !value.contains('.')).collect();
        let holds = |value: &&String| own.iter().all(|condition| condition.holds(value));
        sure &= all.iter().all(|value| holds(&value));
        possible &= all.iter().any(|value| holds(&value));
        share *= likely.iter().filter(|value| holds(value)).count() as f64 / likely.len().max(1) as f64;
    }
    (sure, possible, share)
}

#[test]
fn bounds_of_tables_are_those_of_all_originals() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let (mut with_star, mut plain) = (0, 0);
    for round in 0..3_000 {
        let n = rng.random_range(1..6);
        let (table, partition) = random_table(&mut rng, n);
        let (claim, read) = published(&table, &partition);
        let hierarchies = Hierarchies::new();
        let asked = Asked::of_classes(&claim, &read, None, &hierarchies).unwrap();
        let (predicate, conditions) = random_predicate(&mut rng, &COLUMNS);
        let Estimate { lower, upper, expected, deviation } = asked.count(&predicate).unwrap().estimate;
        let rows = (0..n).map(|row| of_row(&|column| cell(&read, column, row), &conditions, true));
        let rows: Vec<(bool, bool, f64)> = rows.collect();
        let report = || format!("round {round}: {} in {read:?}", predicate.text);
        let count = |of: fn(&(bool, bool, f64)) -> bool| rows.iter().filter(|row| of(row)).count() as u64;
        assert_eq!((lower, upper), (count(|row| row.0), count(|row| row.1)), "{}", report());
        // What "*" stands for is what the column shows, and not this universe.
        let has_star = read.columns.iter().any(|column| column.domain.texts().get("*").is_some());
        if has_star {
            with_star += 1;
            continue;
        }
        plain += 1;
        let mean: f64 = rows.iter().map(|row| row.2).sum();
        let variance: f64 = rows.iter().map(|row| row.2 * (1.0 - row.2)).sum();
        assert!((expected - mean.clamp(lower as f64, upper as f64)).abs() < 1e-9, "{expected} {mean}: {}", report());
        assert!((deviation - variance.sqrt()).abs() < 1e-6, "{deviation} {variance}: {}", report());
        // The original is one of them.
        let truth = (0..n as u32).filter(|&row| {
            let row = partition.published().iter().position(|&other| other == row).map(|_| row as usize).unwrap();
            conditions.iter().all(|condition| condition.holds(&cell(&table, condition.column, row)))
        });
        let truth = truth.count() as u64;
        assert!((lower..=upper).contains(&truth), "{truth}: {}", report());
    }
    assert!(with_star > 300 && plain > 300, "{with_star} {plain}");
}

// ---- Split tables ----------------------------------------------------------------------------------------------------

/// Sums of counts over groups, each number of one with each of the other: how likely they are.
fn convolve(a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; a.len() + b.len() - 1];
    for (i, x) in a.iter().enumerate() {
        b.iter().enumerate().for_each(|(j, y)| sum[i + j] += x * y);
    }
    sum
}

/// All subsets of `n` rows with `size` rows, as bits.
fn subsets(n: usize, size: usize) -> Vec<u32> {
    (0..1_u32 << n).filter(|bits| bits.count_ones() as usize == size).collect()
}

/// How likely each number of rows is that are in one set of each side; a side is sets of rows with their weights.
fn overlaps(n: usize, sides: &[Vec<(u32, f64)>]) -> Vec<f64> {
    let mut all = vec![((1_u32 << n) - 1, 1.0)];
    for side in sides {
        all = all.iter().flat_map(|(a, p)| side.iter().map(move |(b, q)| (a & b, p * q))).collect();
    }
    let mut counts = vec![0.0; n + 1];
    all.iter().for_each(|(rows, p)| counts[rows.count_ones() as usize] += p);
    counts
}

/// Sets of rows that may satisfy conditions, each with its weight: rows are independent.
fn row_side(rows: &[(bool, bool, f64)]) -> Vec<(u32, f64)> {
    let mut all = vec![(0_u32, 1.0)];
    for (at, &(sure, possible, share)) in rows.iter().enumerate() {
        let mut next = Vec::new();
        for &(set, p) in &all {
            // What is possible has a weight, be it none.
            if possible {
                next.push((set | 1 << at, p * share));
            }
            if !sure {
                next.push((set, p * (1.0 - share)));
            }
        }
        all = next;
    }
    all
}

/// A table that is split, as its files are read.
fn split_tables(table: &Table, partition: &Partition, is_exact: bool) -> (SplitClaim, SplitTables) {
    let split = match is_exact {
        true => Split::of_rows(table, partition).unwrap(),
        false => Split::of_classes(table, partition).unwrap(),
    };
    let claim = SplitClaim::new(&split, "break-merge", &K).with_cells(&split);
    let mut bytes = SplitBytes::default();
    split.write_quasi(&mut bytes.quasi).unwrap();
    for column in table.sensitive() {
        let mut file = Vec::new();
        split.write_sensitive(column, &mut file).unwrap();
        bytes.sensitive.push(file);
    }
    let tables = parse_split(&claim, "folder", &bytes).unwrap();
    (claim, tables)
}

#[test]
fn bounds_and_moments_of_split_tables_are_those_of_all_assignments() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let (mut checked, mut exact) = (0, 0);
    for round in 0..2_000 {
        let n = rng.random_range(2..7);
        let (table, partition) = random_table(&mut rng, n);
        let is_exact = rng.random_bool(0.5);
        let (claim, tables) = split_tables(&table, &partition, is_exact);
        let hierarchies = Hierarchies::new();
        let asked = Asked::of_split(&claim, &tables, &hierarchies).unwrap();
        let (predicate, conditions) = random_predicate(&mut rng, &COLUMNS);
        let found = asked.count(&predicate).unwrap().estimate;
        let has_star = tables.quasi.columns.iter().any(|column| column.domain.texts().get("*").is_some());
        let mut law = vec![1.0];
        let mut possible = vec![BTreeSet::from([0_usize])];
        for (group, &size) in tables.sizes().iter().enumerate() {
            let rows: Vec<usize> = (0..n).filter(|&row| tables.group_of[row] as usize == group).collect();
            let quasi: Vec<Condition> = conditions.iter().filter(|c| ["n", "w"].contains(&c.column)).cloned().collect();
            let of = |&row: &usize| of_row(&|column| cell(&tables.quasi, column, row), &quasi, true);
            let mut sides = vec![row_side(&rows.iter().map(of).collect::<Vec<_>>())];
            for values in &tables.sensitive {
                let own: Vec<&Condition> = conditions.iter().filter(|c| c.column == values.column).collect();
                let holds = |code: u32| own.iter().all(|condition| condition.holds(values.domain.text(code)));
                let lines = values.counts.iter().filter(|line| line.group as usize == group && holds(line.code));
                let having = subsets(size as usize, lines.map(|line| line.count as usize).sum());
                let weight = 1.0 / having.len() as f64;
                sides.push(having.into_iter().map(|set| (set, weight)).collect());
            }
            let counts = overlaps(size as usize, &sides);
            law = convolve(&law, &counts);
            // What has no weight may still be possible.
            let mut reached = BTreeSet::new();
            let mut all = vec![(1_u32 << size) - 1];
            for side in &sides {
                all = all.iter().flat_map(|a| side.iter().map(move |(b, _)| a & b)).collect();
            }
            for before in possible.last().unwrap() {
                all.iter().for_each(|set| {
                    reached.insert(before + set.count_ones() as usize);
                });
            }
            possible.push(reached);
        }
        let reached = possible.last().unwrap();
        let report = || format!("round {round}: {} in {tables:?}", predicate.text);
        let ends = (*reached.first().unwrap() as u64, *reached.last().unwrap() as u64);
        assert_eq!((found.lower, found.upper), ends, "{}", report());
        exact += u64::from(is_exact);
        if !has_star {
            checked += 1;
            let mean: f64 = law.iter().enumerate().map(|(count, p)| count as f64 * p).sum();
            let square: f64 = law.iter().enumerate().map(|(count, p)| (count * count) as f64 * p).sum();
            assert!((found.expected - mean).abs() < 1e-9, "{} {mean}: {}", found.expected, report());
            let variance = (square - mean * mean).max(0.0);
            assert!((found.deviation * found.deviation - variance).abs() < 1e-6, "{found:?} {variance}: {}", report());
        }
    }
    assert!(checked > 500 && exact > 500, "{checked} {exact}");
}

// ---- Tables with sets --------------------------------------------------------------------------------------------------

fn sets_claim(claim: TableClaim) -> TableClaim {
    let parameters = Parameters { k: 2, m: 1, max_cluster: 9, refine: true, cut: CutRule::default(), sensitive: None };
    claim.with_sets(SetsClaim { column: "terms".into(), parameters, promise: Promise::AlgorithmAware, records: 0 })
}

/// A class of so many records, and another of two.
fn two_classes(rng: &mut ChaCha8Rng, n: usize) -> (Table, Partition) {
    let ill: Vec<Option<&str>> = (0..n + 2).map(|_| Some(["x", "y"][rng.random_range(0..2)])).collect();
    let ages = (0..n + 2).map(|row| Some(if row < n { f64::from((row % 3) as u32) } else { 9.0 }));
    let columns = vec![Column::numbers("n", Role::Quasi, ages), Column::words("ill", Role::Sensitive, ill)];
    let mut partition = Partition::default();
    partition.push(&(0..n as u32).collect::<Vec<_>>());
    partition.push(&[n as u32, n as u32 + 1]);
    (Table::new(n + 2, columns, None), partition)
}

/// How many records of the first class may be x, of this age and more, and among those of a set that so many may have.
fn reached_with_sets(read: &Table, n: usize, supports: &BTreeSet<usize>, age: u32) -> BTreeSet<u64> {
    let of_class: Vec<usize> = (0..read.n_rows()).filter(|&row| cell(read, "n", row) != "9").collect();
    let is_x: u32 =
        (of_class.iter().enumerate()).map(|(at, &row)| u32::from(cell(read, "ill", row) == "x") << at).sum();
    let all = values(&cell(read, "n", of_class[0]), true);
    let old_enough = |value: &String| !value.is_empty() && value.parse::<f64>().unwrap() >= f64::from(age);
    // All cells of the class are the same: what one of them may stand for, all may.
    let (always, never) = (all.iter().all(old_enough), !all.iter().any(old_enough));
    let mut reached = BTreeSet::new();
    for having in supports.iter().flat_map(|&b| subsets(n, b)) {
        reached.extend((!never).then_some(u64::from((is_x & having).count_ones())));
        reached.extend((!always).then_some(0));
    }
    reached
}

#[test]
fn bounds_of_tables_with_sets_are_those_of_all_worlds() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let (mut simple, mut joint_tight, mut joint) = (0, 0, 0);
    for round in 0..1_500 {
        let n_terms = rng.random_range(2..4);
        let size = rng.random_range(1..5);
        let (root, _) = truthful(&mut rng, size, n_terms);
        let layout = Layout::new(&root);
        if n_worlds_bound(&layout) > 2e4 {
            continue;
        }
        // One class with the root's sets, some records without any, and another class without sets.
        let n = root.size() as usize + rng.random_range(0..3);
        let (table, partition) = two_classes(&mut rng, n);
        let (claim, read) = published(&table, &partition);
        let claim = sets_claim(claim);
        let made = release(2, 1, root.size(), vec![root.clone()]);
        let class = u32::from(cell(&read, "n", 0) == "9");
        let Ok(model) = Model::new(&made) else { continue };
        let sets = SetsOfClasses { model, class_of_root: &[class] };
        let hierarchies = Hierarchies::new();
        let asked = Asked::of_classes(&claim, &read, Some(&sets), &hierarchies).unwrap();

        let term = rng.random_range(0..n_terms as u32);
        let other = rng.random_range(0..n_terms as u32);
        let age: u32 = rng.random_range(0..3);
        let names = [term, other].map(|term| made.dictionary.text(term).to_owned());
        let text = format!("ill = x and terms has {{'{}', '{}'}} and n >= {age}", names[0], names[1]);
        let found = asked.count(&Predicate::parse(&text, "number 1").unwrap()).unwrap().estimate;

        let itemset = 1_u64 << term | 1 << other;
        let mut supports = BTreeSet::new();
        enumerate(&layout, TermChunks::Enumerated, |world| {
            supports.insert(support(world, itemset) as usize);
        });
        let reached = reached_with_sets(&read, n, &supports, age);
        let ends = (*reached.first().unwrap(), *reached.last().unwrap());
        let report = || format!("round {round}: {text} in {read:?}, {root:?}");
        if matches!(root, Node::Joint(_)) {
            joint += 1;
            joint_tight += u32::from((found.lower, found.upper) == ends);
            assert!(found.lower <= ends.0 && ends.1 <= found.upper, "{found:?} {ends:?}: {}", report());
        } else {
            simple += 1;
            assert_eq!((found.lower, found.upper), ends, "{}", report());
        }
        assert!((found.lower as f64..=found.upper as f64).contains(&found.expected), "{found:?}");
    }
    assert!(simple > 300 && joint > 100, "{simple} {joint}");
    assert!(joint_tight * 10 >= joint * 7, "{joint_tight} of {joint} bounds with joint clusters are attained");
}

// ---- Cells of other kinds ------------------------------------------------------------------------------------------------

/// A table of one quasi-identifier in one class, and what is asked of it: lower, expected, upper, and how many notes there are.
fn ask_one(column: Column, n_classes: usize, predicate: &str, hierarchies: &Hierarchies) -> (u64, f64, u64, usize) {
    let n = column.codes.len();
    let table = Table::new(n, vec![column], None);
    let mut partition = Partition::default();
    let rows: Vec<u32> = (0..n as u32).collect();
    rows.chunks(n / n_classes).for_each(|rows| partition.push(rows));
    let (claim, read) = published(&table, &partition);
    let asked = Asked::of_classes(&claim, &read, None, hierarchies).unwrap();
    let counted = asked.count(&Predicate::parse(predicate, "number 1").unwrap()).unwrap();
    (counted.estimate.lower, counted.estimate.expected, counted.estimate.upper, counted.notes.len())
}

fn with_paths(texts: &[&'static str], paths: &[(&str, &[&str])]) -> Column {
    let mut column = Column::words("c", Role::Quasi, texts.iter().map(|text| Some(*text)));
    let paths = paths.iter().map(|(value, above)| (*value, above.iter().copied()));
    column.domain.set_hierarchy(Hierarchy::from_paths(column.domain.texts(), paths).unwrap());
    column
}

#[test]
fn months_are_their_days_and_codes_what_they_begin_with() {
    let none = Hierarchies::new();
    let may: &[(&str, &[&str])] = &[
        ("2024-05-03", &["2024-05", "2024", "*"]),
        ("2024-05-20", &["2024-05", "2024", "*"]),
        ("2024-07-01", &["2024-07", "2024", "*"]),
    ];
    let dates = || with_paths(&["2024-05-03", "2024-05-20", "2024-05-03", "2024-07-01"], may);
    for (predicate, expected) in [
        ("c = 2024-05", (2, 2.0 + 31.0 / 366.0 * 2.0, 4)),
        ("c 2024-05-01..2024-05-31", (2, 2.0 + 31.0 / 366.0 * 2.0, 4)),
        ("c >= 2024-05-01 and c <= 2024-05-31", (2, 2.0 + 31.0 / 366.0 * 2.0, 4)),
        ("c = 2024", (4, 4.0, 4)),
        ("c in {2024-Q1, 2024-Q2, 2024-Q3, 2024-Q4}", (4, 4.0, 4)),
        ("c < 2024", (0, 0.0, 0)),
        ("c > 2023-12-31", (4, 4.0, 4)),
        ("c = 2024-05-03", (0, 2.0 / 31.0 + 2.0 / 366.0, 4)),
        ("c != 2024-05", (0, 2.0 * 335.0 / 366.0, 2)),
    ] {
        let (lower, mean, upper, notes) = ask_one(dates(), 2, predicate, &none);
        assert_eq!((lower, upper, notes), (expected.0, expected.2, 0), "{predicate}");
        assert!((mean - expected.1).abs() < 1e-9, "{predicate}: {mean}");
    }
    let codes = || {
        let mut column = Column::words("c", Role::Quasi, ["E11.9", "E11.65", "E11.9", "J45"].map(Some));
        column.domain.set_hierarchy(by_prefix(column.domain.texts()).unwrap());
        column
    };
    // E11* and *.
    for (predicate, expected) in [
        ("c = E11*", (2, 4)),
        ("c = E1*", (2, 4)),
        ("c = E11.9", (0, 4)),
        ("c = J45", (0, 2)),
        ("c != J45", (2, 4)),
        ("c = J*", (0, 2)),
        ("c in {J45, K50}", (0, 2)),
    ] {
        let (lower, _, upper, _) = ask_one(codes(), 2, predicate, &none);
        assert_eq!((lower, upper), expected, "{predicate}");
    }
}

#[test]
fn labels_rule_nothing_out_until_a_hierarchy_explains_them() {
    let paths: &[(&str, &[&str])] =
        &[("fr", &["eu", "*"]), ("de", &["eu", "*"]), ("us", &["am", "*"]), ("ca", &["am", "*"])];
    let column = || with_paths(&["fr", "de", "us", "ca", "fr", "fr"], paths);
    let none = Hierarchies::new();
    // eu, am, fr.
    for (predicate, without, with) in [
        ("c = eu", (2, 6), (4, 4)),
        ("c = fr", (2, 6), (2, 4)),
        ("c != am", (0, 4), (4, 4)),
        ("c in {fr, de}", (2, 6), (4, 4)),
        ("c = ''", (0, 0), (0, 0)),
    ] {
        let (lower, _, upper, notes) = ask_one(column(), 3, predicate, &none);
        assert_eq!((lower, upper), without, "{predicate}");
        assert!(notes >= 1, "{predicate}");
        let mut terms = Dictionary::default();
        ["fr", "de", "us", "ca"].iter().for_each(|term| {
            terms.intern(term);
        });
        let hierarchy =
            Hierarchy::from_paths(&terms, paths.iter().map(|(v, above)| (*v, above.iter().copied()))).unwrap();
        let hierarchies = Hierarchies::from([("c".to_owned(), (hierarchy, terms))]);
        let (lower, _, upper, _) = ask_one(column(), 3, predicate, &hierarchies);
        assert_eq!((lower, upper), with, "{predicate}");
    }
}

#[test]
fn foreign_cells_are_read_as_their_tools_spell_them() {
    let texts = ["[20, 30[", "[30, 40[", "*", ">=40", "Europe", "{a,b}", "2***"];
    let column = Column::words("c", Role::Quasi, texts.map(Some));
    let table = Table::new(7, vec![column], None);
    let mut partition = Partition::default();
    (0..7).for_each(|row| partition.push(&[row]));
    // Without `with_cells`: nobody says how cells are read.
    let claim = TableClaim::new(&table, &partition, "audit", &K);
    let none = Hierarchies::new();
    let asked = Asked::of_classes(&claim, &table, None, &none).unwrap();
    for (predicate, expected) in [
        ("c 20-29", (0, 4)),
        ("c >= 30", (2, 5)),
        ("c < 30", (1, 4)),
        ("c = Europe", (1, 2)),
        ("c = a", (0, 3)),
        ("c in {a, b}", (1, 3)),
        ("c = 2345", (0, 4)),
    ] {
        let Estimate { lower, upper, .. } = asked.count(&Predicate::parse(predicate, "x").unwrap()).unwrap().estimate;
        assert_eq!((lower, upper), expected, "{predicate}");
    }
}

#[test]
fn whatever_a_cell_says_something_is_drawn_that_fits_it() {
    let texts = [
        "[-inf, inf]",
        "-inf..5",
        ">3",
        "]3, 4[",
        "0.12345671..0.12345679",
        "1e300..1e301",
        "{}",
        "{a|}",
        "",
        "*",
        "1e5",
        "-0",
        "2024..2020",
        "9999..9999",
        "0000-01-01",
        "a,b",
        "x*y",
        "**",
        "{a|b",
        "..",
        "5..",
        "NA",
    ];
    let kinds = [None, Some("numbers"), Some("values"), Some("calendar"), Some("beginnings"), Some("labels")];
    for one in texts {
        for kind in kinds {
            // Alone, and beside all others.
            for cells in [vec![one], texts.to_vec()] {
                let column =
                    Column::words("c", Role::Quasi, cells.iter().map(|text| Some(*text).filter(|t| !t.is_empty())));
                let table = Table::new(cells.len(), vec![column], None);
                let mut partition = Partition::default();
                (0..cells.len() as u32).for_each(|row| partition.push(&[row]));
                let mut claim = TableClaim::new(&table, &partition, "audit", &K);
                claim.body.columns[0].cells = kind.map(|kind| serde_json::from_str(&format!("{kind:?}")).unwrap());
                let none = Hierarchies::new();
                let asked = Asked::of_classes(&claim, &table, None, &none).unwrap();
                for nth in 0..5 {
                    let drawn = asked.draw(&Sampling::default(), nth).unwrap();
                    assert!(asked.covers(&drawn), "{one} {kind:?}: {:?}", cell(&drawn, "c", 0));
                }
                for predicate in ["c = ''", "c != 3", "c = a", "c 2-2024", "c = 2024", "c < 3 and c != 2"] {
                    let Ok(counted) = asked.count(&Predicate::parse(predicate, "x").unwrap()) else { continue };
                    let Estimate { lower, upper, expected, deviation } = counted.estimate;
                    let is_between = lower as f64 <= expected && expected <= upper as f64;
                    assert!(is_between && deviation.is_finite(), "{one} {kind:?} {predicate}: {:?}", counted.estimate);
                }
            }
        }
    }
}

#[test]
fn what_is_not_there_is_told_with_what_is() {
    let (table, partition) = random_table(&mut ChaCha8Rng::seed_from_u64(5), 5);
    let (claim, read) = published(&table, &partition);
    let none = Hierarchies::new();
    let asked = Asked::of_classes(&claim, &read, None, &none).unwrap();
    let ask = |text: &str| asked.count(&Predicate::parse(text, "number 1").unwrap());
    for (predicate, problem, hint) in [
        ("pai > 3", "at character 1: the release has no such column", "did you mean pay?"),
        ("n = secret", "at character 5: is no number", "30-39"),
        ("w > 3", "at character 5: the column holds no numbers", "in {VALUE"),
        ("ill has secret", "at character 9: the column holds no sets", "has"),
        ("n in {'', 3}", "at character 7: a missing value", "alone"),
    ] {
        let error = ask(predicate).unwrap_err();
        assert!(error.to_string().contains(problem) && error.hint().unwrap().contains(hint), "{predicate}: {error:?}");
        assert!(!error.to_string().contains("secret"));
    }
    let notes = ask("ill = secret").unwrap().notes;
    assert!(
        matches!(&notes[..], [Note::NotShown { at: 7, column, shown }] if column == "ill" && !shown.is_empty()),
        "{notes:?}"
    );
}

// ---- Drawn tables --------------------------------------------------------------------------------------------------------

#[test]
fn drawn_tables_fit_their_release_and_agree_with_expectations() {
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    for round in 0..40 {
        let (table, partition) = random_table(&mut rng, 6);
        let (claim, read) = published(&table, &partition);
        let none = Hierarchies::new();
        let asked = Asked::of_classes(&claim, &read, None, &none).unwrap();
        let (predicate, conditions) = random_predicate(&mut rng, &COLUMNS);
        // A column that shows nothing at all is drawn as missing, and counted half.
        if read.quasi().iter().any(|column| column.domain.texts().iter().all(|text| text == "*")) {
            continue;
        }
        let found = asked.count(&predicate).unwrap().estimate;
        let draws = 400;
        let mut sum = 0;
        for nth in 0..draws {
            let drawn = asked.draw(&Sampling { seed: round, fill_empty: true }, nth).unwrap();
            assert!(asked.covers(&drawn), "round {round}: {drawn:?}");
            for row in 0..drawn.n_rows() {
                let fits = |(column, is_number): (&str, bool)| {
                    values(&cell(&read, column, row), is_number).contains(&cell(&drawn, column, row))
                };
                assert!(COLUMNS.into_iter().all(fits), "round {round}: {drawn:?} of {read:?}");
            }
            let holds = |row: &usize| conditions.iter().all(|c| c.holds(&cell(&drawn, c.column, *row)));
            sum += (0..drawn.n_rows()).filter(holds).count();
        }
        // The deviation of the mean, six times.
        let (mean, slack) = (sum as f64 / draws as f64, 6.0 * found.deviation / f64::from(draws as u32).sqrt());
        let report = format!("round {round}: {mean} {found:?}, {} of {read:?}", predicate.text);
        assert!((mean - found.expected).abs() <= slack + 1e-9, "{report}");
    }
}

#[test]
fn drawn_split_tables_have_the_values_of_their_groups() {
    let (table, partition) = random_table(&mut ChaCha8Rng::seed_from_u64(8), 6);
    let (claim, tables) = split_tables(&table, &partition, false);
    let none = Hierarchies::new();
    let asked = Asked::of_split(&claim, &tables, &none).unwrap();
    let mut different = BTreeSet::new();
    for nth in 0..20 {
        let drawn = asked.draw(&Sampling::default(), nth).unwrap();
        assert!(asked.covers(&drawn));
        for values in &tables.sensitive {
            let mut dealt: Vec<(u32, String)> =
                (0..6).map(|row| (tables.group_of[row], cell(&drawn, &values.column, row))).collect();
            let mut told: Vec<(u32, String)> = (values.counts.iter())
                .flat_map(|line| vec![(line.group, values.domain.text(line.code).to_owned()); line.count as usize])
                .collect();
            dealt.sort();
            told.sort();
            assert_eq!(dealt, told);
        }
        different.insert(format!("{:?}", (0..6).map(|row| cell(&drawn, "ill", row)).collect::<Vec<_>>()));
    }
    assert!(different.len() > 1);
    // A group whose counts do not add up is refused.
    let mut broken = tables.clone();
    broken.sensitive[0].counts[0].count += 1;
    assert!(Asked::of_split(&claim, &broken, &none).is_err());
}
