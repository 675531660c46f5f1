//! Split tables from the paper's example to the disk and back: tables IX to XIII of nadimpalli2014, probabilities against all
//! arrangements, Anatomy and association hiding against slow definitions, and every tampering found.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;

use crate::tables::{bytes_of, random_partition, random_table, rebuilt, shuffled};
use disjoin::Memory;
use disjoin::attack::BreachReport;
use disjoin::attack::knowledge_breach::{
    GroupView, fitted, group_and_value_known, group_known, knowledge_breach, value_known, views,
};
use disjoin::data::table::{Column, Role, Table};
use disjoin::data::{Hierarchy, Partition};
use disjoin::measure::{TableOptions, joint_loss, measure_split};
use disjoin::protect::anatomy::{anatomize, anatomy, with_shares};
use disjoin::protect::association_hiding::hide;
use disjoin::protect::break_merge::{break_merge, identical_rows};
use disjoin::protect::tabular::{Method, Params, anonymize, settle_classes};
use disjoin::publish::{Destination, Kept, release_folder};
use disjoin::read::Options;
use disjoin::read::rows::{RowLog, TableIntake, count_bytes, count_rows, table_bytes};
use disjoin::recipe;
use disjoin::release::generalized::{Associations, Generalized, TableClaim, write_row};
use disjoin::release::privacy_models::Criterion;
use disjoin::release::split::{Split, SplitClaim, SplitTables};
use disjoin::release::{Claim, Form};
use disjoin::report::Attacked;
use disjoin::run::stream::stream_split;
use disjoin::run::{self, Input};
use disjoin::verify::{
    SplitBytes, TableRule, TableTruth, TableVerdict, open_split, parse_split, parse_table, verify_split, verify_table,
};
use disjoin::{Error, Unobserved};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Table II: rows of age, gender, zip code, government, marital status, salary.
const TABLE_II: [[&str; 6]; 10] = [
    ["[30-50]", "F", "[13000-23000]", "State-gov", "Never-Married", "≤50k"],
    ["[30-50]", "F", "[13000-23000]", "State-gov", "Never-Married", "≤50k"],
    ["[30-50]", "F", "[13000-23000]", "Federal-gov", "Married-civ-spouse", "≤50k"],
    ["[30-50]", "F", "[13000-23000]", "Private", "Divorced", "≤50k"],
    ["[30-50]", "F", "[13000-23000]", "Local-gov", "Separated", ">50k"],
    ["[51-90]", "M", "[24000-58000]", "Private", "Married-civ-spouse", ">50k"],
    ["[51-90]", "M", "[24000-58000]", "Self-emp-not-inc", "Married-civ-spouse", "≤50k"],
    ["[51-90]", "M", "[24000-58000]", "Private", "Married-civ-spouse", ">50k"],
    ["[51-90]", "M", "[24000-58000]", "Private", "Divorced", "≤50k"],
    ["[51-90]", "M", "[24000-58000]", "Federal-gov", "Never-Married", "≤50k"],
];

fn table_ii() -> Table {
    let names = ["Age", "Gender", "Zipcode", "Government", "Marital-Status", "Salary"];
    let column = |(i, name): (usize, &&str)| {
        let role = if i < 3 { Role::Quasi } else { Role::Sensitive };
        Column::words(name, role, TABLE_II.iter().map(|row| Some(row[i])))
    };
    Table::new(10, names.iter().enumerate().map(column).collect(), None)
}

fn params(criteria: &[Criterion], most_removed: f64) -> Params {
    Params { method: Method::Mondrian, criteria: criteria.to_vec(), most_removed, seed: 7 }
}

/// The example with 5-anonymity and 2 values of each column in every group.
fn criteria_ii() -> Vec<Criterion> {
    vec![Criterion::KAnonymity { k: 5 }, Criterion::DistinctDiversity { l: 2 }]
}

/// What is published, as somebody reads it.
fn published(split: &Split<'_>, criteria: &[Criterion]) -> (SplitClaim, SplitBytes, SplitTables) {
    let claim = SplitClaim::new(split, "break-merge", criteria);
    let bytes = bytes_of(split);
    let tables = parse_split(&claim, "", &bytes).unwrap();
    (claim, bytes, tables)
}

#[test]
fn tables_ix_to_xii_of_the_paper() {
    let table = table_ii();
    let groups = identical_rows(&table, &params(&criteria_ii(), 0.0)).unwrap();
    let split = break_merge(&table, &groups).unwrap();
    let (claim, bytes, tables) = published(&split, &criteria_ii());
    let expected_quasi = String::from("Age,Gender,Zipcode,group\n")
        + &"[30-50],F,[13000-23000],1\n".repeat(5)
        + &"[51-90],M,[24000-58000],2\n".repeat(5);
    assert_eq!(String::from_utf8(bytes.quasi.clone()).unwrap(), expected_quasi);
    let text = |i: usize| String::from_utf8(bytes.sensitive[i].clone()).unwrap();
    assert_eq!(
        text(0),
        "group,value,count\n1,Federal-gov,1\n1,Local-gov,1\n1,Private,1\n1,State-gov,2\n2,Federal-gov,1\n2,Private,3\n\
         2,Self-emp-not-inc,1\n"
    );
    assert_eq!(
        text(1),
        "group,value,count\n1,Divorced,1\n1,Married-civ-spouse,1\n1,Never-Married,2\n1,Separated,1\n2,Divorced,1\n\
         2,Married-civ-spouse,3\n2,Never-Married,1\n"
    );
    assert_eq!(text(2), "group,value,count\n1,>50k,1\n1,≤50k,4\n2,>50k,2\n2,≤50k,3\n");
    let files: Vec<&str> = claim.files.iter().map(|file| file.file.as_str()).collect();
    assert_eq!(files, ["sensitive_Government.csv", "sensitive_Marital-Status.csv", "sensitive_Salary.csv"]);
    let class_of = split.group_of();
    let truth = TableTruth { table: &table, class_of: &class_of };
    assert!(verify_split(&claim, &tables, Some(truth), &Unobserved).holds);
    assert!(identical_rows(&table, &params(&[Criterion::KAnonymity { k: 6 }], 0.0)).is_err());
}

/// The counts of Jessica's group, by value.
fn jessica() -> (GroupView, Vec<HashMap<String, u32>>) {
    let table = table_ii();
    let groups = identical_rows(&table, &params(&criteria_ii(), 0.0)).unwrap();
    let (_, _, tables) = published(&break_merge(&table, &groups).unwrap(), &criteria_ii());
    let view = views(&tables).unwrap().swap_remove(0);
    let named = |(counts, values): (&Vec<(u32, u32)>, &disjoin::release::split::Values)| {
        counts.iter().map(|&(code, count)| (values.domain.text(code).to_owned(), count)).collect()
    };
    let counts = view.counts.iter().zip(&tables.sensitive).map(named).collect();
    (view, counts)
}

#[test]
fn table_xiii_and_the_laws_of_knowledge_breach() {
    let (view, counts) = jessica();
    let g = view.size;
    assert_eq!(g, 5);
    let percent = |marital: &str, salary: &str| {
        let counts = [counts[0]["State-gov"], counts[1][marital], counts[2][salary]];
        (100.0 * group_and_value_known(g, &counts, 0)).round()
    };
    assert_eq!((percent("Never-Married", "≤50k"), percent("Never-Married", ">50k")), (32.0, 8.0));
    let mut total = 40.0;
    for marital in ["Married-civ-spouse", "Divorced", "Separated"] {
        assert_eq!((percent(marital, "≤50k"), percent(marital, ">50k")), (16.0, 4.0), "{marital}");
        total += 20.0;
    }
    assert_eq!(total, 100.0);
    let her = [counts[0]["State-gov"], counts[1]["Never-Married"], counts[2]["≤50k"]];
    assert!((group_known(g, &her) - 16.0 / 125.0).abs() < 1e-15);
    assert!((value_known(g, her[0]) - 0.4).abs() < 1e-15);

    // Every combination of values: property 1, lemma 1, the corollary, property 2; in whole numbers, so exactly.
    for &a in counts[0].values() {
        for &b in counts[1].values() {
            for &c in counts[2].values() {
                let values = [a, b, c];
                let product: u32 = values.iter().product();
                for (m, &known) in values.iter().enumerate() {
                    let others = product / known;
                    // Def 3 = Def 5 x Def 4, over g^3.
                    assert_eq!(product, others * known);
                    let (three, five) = (group_known(g, &values), group_and_value_known(g, &values, m));
                    assert!((three - f64::from(product) / 125.0).abs() < 1e-15);
                    assert!((five - f64::from(others) / 25.0).abs() < 1e-15);
                    assert!((three - five * value_known(g, known)).abs() < 1e-15);
                    assert!(five >= three && five >= 1.0 / f64::from(known * g * g) - 1e-15);
                    assert!(three >= 1.0 / 125.0 - 1e-15);
                }
            }
        }
    }
}

/// All orders of some values.
fn permutations(values: &[u32]) -> Vec<Vec<u32>> {
    if values.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for i in 0..values.len() {
        let mut rest = values.to_vec();
        let first = rest.remove(i);
        all.extend(permutations(&rest).into_iter().map(|rest| [vec![first], rest].concat()));
    }
    all
}

/// A table of words from codes, all rows with the same quasi-identifier within a group.
fn table_of(groups: &[u32], columns: &[Vec<u32>]) -> Table {
    let words = |name: &str, role, codes: &[u32]| {
        let texts: Vec<String> = codes.iter().map(|code| format!("v{code}")).collect();
        Column::words(name, role, texts.iter().map(|text| Some(text.as_str())))
    };
    let sensitive = columns.iter().enumerate().map(|(i, codes)| words(&format!("s{i}"), Role::Sensitive, codes));
    let all = std::iter::once(words("q", Role::Quasi, groups)).chain(sensitive).collect();
    Table::new(groups.len(), all, None)
}

#[test]
fn probabilities_are_shares_of_all_arrangements() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for round in 0..150 {
        let size = rng.random_range(1..5_usize);
        let q = rng.random_range(1..if size < 4 { 4 } else { 3 });
        let columns: Vec<Vec<u32>> = (0..q).map(|_| (0..size).map(|_| rng.random_range(0..3)).collect()).collect();
        let table = table_of(&vec![0; size], &columns);
        let mut groups = Partition::default();
        groups.push(&(0..size as u32).collect::<Vec<_>>());
        let (_, _, tables) = published(&break_merge(&table, &groups).unwrap(), &[]);
        let view = views(&tables).unwrap().swap_remove(0);

        // Every way to deal the values of each column to the people; what the first person then has.
        let mut has: HashMap<Vec<u32>, u64> = HashMap::from([(Vec::new(), 1)]);
        for column in table.sensitive() {
            let orders = permutations(&column.codes);
            let mut next: HashMap<Vec<u32>, u64> = HashMap::new();
            for (values, ways) in &has {
                for order in &orders {
                    *next.entry([&values[..], &[order[0]]].concat()).or_default() += ways;
                }
            }
            has = next;
        }
        let all: u64 = has.values().sum();
        let (mut worst, mut mean) = (0.0_f64, 0.0);
        let mut worst_known = vec![0.0_f64; q];
        for (values, &ways) in &has {
            let count = |(i, &code): (usize, &u32)| {
                view.counts[i].iter().find(|(other, _)| *other == code).map_or(0, |(_, count)| *count)
            };
            let counts: Vec<u32> = values.iter().enumerate().map(count).collect();
            let share = ways as f64 / all as f64;
            assert!((group_known(view.size, &counts) - share).abs() < 1e-12, "round {round}");
            (worst, mean) = (worst.max(share), mean + share * share);
            for m in 0..q {
                let alike: u64 = has.iter().filter(|(v, _)| v[m] == values[m]).map(|(_, ways)| ways).sum();
                let share = ways as f64 / alike as f64;
                assert!((group_and_value_known(view.size, &counts, m) - share).abs() < 1e-12, "round {round}");
                worst_known[m] = worst_known[m].max(share);
            }
        }
        let report = knowledge_breach(&tables, None).unwrap();
        assert!((report.group_known.worst - worst).abs() < 1e-12 && (report.group_known.mean - mean).abs() < 1e-12);
        let known = worst_known.iter().copied().fold(0.0, f64::max);
        assert_eq!(report.value_known.is_some(), q > 1);
        assert!(report.value_known.is_none_or(|breach| (breach.worst - known).abs() < 1e-12), "round {round}");
        for (m, column) in report.columns.iter().enumerate() {
            assert!(column.others.is_none_or(|breach| (breach.worst - worst_known[m]).abs() < 1e-12));
        }
        let certain = columns.iter().filter(|codes| codes.iter().all(|code| *code == codes[0])).count();
        assert_eq!((report.certain, holds(&report)), ((certain * size) as u64, certain == 0), "round {round}");

        // Somebody who knows nothing of how values go together finds the same.
        for (values, share) in fitted(&view, |_| 1.0).unwrap() {
            assert!((share - has[&values] as f64 / all as f64).abs() < 1e-9, "round {round}");
        }
    }
}

#[test]
fn a_law_of_how_values_go_together_is_bent_to_the_counts() {
    let view = GroupView { size: 4, counts: vec![vec![(0, 1), (1, 3)], vec![(5, 1), (7, 3)]] };
    let likely = fitted(&view, |codes| if (codes[0] == 0) == (codes[1] == 5) { 1.0 } else { 0.01 }).unwrap();
    let share = |codes: [u32; 2]| likely.iter().find(|(other, _)| *other == codes).unwrap().1;
    assert!((share([0, 5]) + share([0, 7]) - 0.25).abs() < 1e-9 && (share([0, 7]) + share([1, 7]) - 0.75).abs() < 1e-9);
    // Nearly certain, where Definition 5 says 1/4.
    assert!(share([0, 5]) / 0.25 > 0.95 && group_and_value_known(4, &[1, 1], 0) == 0.25);
    // A law that excludes what the group shows.
    assert!(fitted(&view, |codes| f64::from(u8::from(codes[0] == 1))).is_none());
    let wide = GroupView { size: 3000, counts: vec![(0..3000).map(|code| (code, 1)).collect(); 2] };
    assert!(fitted(&wide, |_| 1.0).is_none());
}

/// Whether a release is accepted of which this was found, where its limit is what the release promises.
fn holds(report: &BreachReport) -> bool {
    let attacked = Attacked::Split {
        breach: Some(report.clone()),
        network: None,
        promised: report.limit,
        is_outside: false,
        dependencies: None,
    };
    let limits = recipe::Limits::resolve(&recipe::written::Limits::default(), 2).unwrap();
    limits.judge(None, &attacked.found()).holds
}

#[test]
fn limits_and_certainty_decide_whether_it_holds() {
    let groups = [0, 0, 0, 0, 1, 1, 1, 1];
    let table = table_of(&groups, &[vec![0, 1, 2, 3, 0, 1, 2, 3], vec![0, 0, 1, 1, 0, 0, 0, 1]]);
    let partition = identical_rows(&table, &params(&[Criterion::KAnonymity { k: 4 }], 0.0)).unwrap();
    let (_, _, tables) = published(&break_merge(&table, &partition).unwrap(), &[]);
    let report = |limit| knowledge_breach(&tables, limit).unwrap();
    // The worst: the first column known (shares of 1/4), 3/4 for the other.
    assert_eq!(report(None).value_known.unwrap().worst, 0.75);
    assert!(holds(&report(None)) && holds(&report(Some(0.75))) && !holds(&report(Some(0.7))));
    assert_eq!((report(Some(0.7)).above, report(Some(0.1)).above), (1, 2));
    assert_eq!(report(None).worst_groups[0].group, 2);
    let table = table_of(&groups, &[vec![0, 1, 2, 3, 0, 1, 2, 3], vec![0, 0, 1, 1, 9, 9, 9, 9]]);
    let (_, _, tables) = published(&break_merge(&table, &partition).unwrap(), &[]);
    let report = knowledge_breach(&tables, None).unwrap();
    assert_eq!((report.certain, holds(&report), report.columns[1].certain_groups), (4, false, 1));
    assert_eq!(report.worst_groups[0].certain, ["s1"]);
}

#[test]
fn joint_loss_is_the_distance_over_all_combinations() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    for round in 0..200 {
        let n = rng.random_range(2..40);
        let q = rng.random_range(1..4);
        let columns: Vec<Vec<u32>> = (0..q).map(|_| (0..n).map(|_| rng.random_range(0..4)).collect()).collect();
        let table = table_of(&vec![0; n], &columns);
        let groups = random_partition(&mut rng, n, 1);
        let (mut sum, mut worst) = (0.0, 0.0_f64);
        for rows in groups.classes() {
            let size = rows.len() as f64;
            let of = |codes: &[Option<u32>]| {
                let fits = |row: &&u32| {
                    columns
                        .iter()
                        .zip(codes)
                        .all(|(column, code)| code.is_none_or(|code| column[**row as usize] == code))
                };
                rows.iter().filter(fits).count() as f64 / size
            };
            let mut distance = 0.0;
            for combination in 0..4_u32.pow(q as u32) {
                let codes: Vec<u32> = (0..q as u32).map(|i| combination / 4_u32.pow(i) % 4).collect();
                let joint = of(&codes.iter().map(|&code| Some(code)).collect::<Vec<_>>());
                let marginal = |i: usize| {
                    let mut only = vec![None; q];
                    only[i] = Some(codes[i]);
                    of(&only)
                };
                distance += (joint - (0..q).map(marginal).product::<f64>()).abs() / 2.0;
            }
            (sum, worst) = (sum + size * distance, worst.max(distance));
        }
        let loss = joint_loss(&table, &groups);
        let mean = sum / groups.n_published() as f64;
        assert!((loss.mean - mean).abs() < 1e-9 && (loss.worst - worst).abs() < 1e-9, "round {round}: {loss:?}");
        if q == 1 {
            assert_eq!((loss.mean, loss.exact_rows), (0.0, 1.0));
        }
    }
    // Table II: state government goes with never married, and so on.
    let table = table_ii();
    let groups = identical_rows(&table, &params(&criteria_ii(), 0.0)).unwrap();
    let report = measure_split(&table, &groups, false, &TableOptions::default());
    assert!(report.joint.mean > 0.3 && report.quasi.unwrap().gcp == Some(0.0));
    assert!(measure_split(&table, &groups, true, &TableOptions::default()).quasi.is_none());
}

/// A random table without columns that a split table cannot have.
fn splittable(rng: &mut ChaCha8Rng, n_rows: usize) -> Table {
    let mut table = random_table(rng, n_rows);
    table.columns.retain(|column| column.role != Role::Other);
    table
}

#[test]
fn what_is_written_is_read_and_proved() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for round in 0..200 {
        let n_rows = rng.random_range(6..60);
        let table = splittable(&mut rng, n_rows);
        let partition = random_partition(&mut rng, n_rows, 3);
        let made = [Split::of_classes(&table, &partition).unwrap(), Split::of_rows(&table, &partition).unwrap()];
        for split in &made {
            let (claim, bytes, tables) = published(split, &[Criterion::KAnonymity { k: 3 }]);
            assert_eq!(tables.sizes().len(), split.n_groups());
            for (values, column) in tables.sensitive.iter().zip(table.sensitive()) {
                let mut lines = values.counts.iter();
                for group in 0..split.n_groups() {
                    // By definition: each value that some row has, and how many have it.
                    let mut expected: BTreeMap<u32, u32> = BTreeMap::new();
                    split
                        .rows(group)
                        .iter()
                        .for_each(|&row| *expected.entry(column.codes[row as usize]).or_default() += 1);
                    for (code, count) in expected {
                        let line = lines.next().unwrap();
                        assert_eq!((line.group as usize, line.count), (group, count), "round {round}");
                        assert_eq!(values.domain.text(line.code), column.domain.text(code), "round {round}");
                    }
                }
                assert!(lines.next().is_none());
            }
            let class_of = split.group_of();
            let verdict =
                verify_split(&claim, &tables, Some(TableTruth { table: &table, class_of: &class_of }), &Unobserved);
            assert!(verdict.holds, "round {round}: {:?}", verdict.findings);

            // The order of the input changes no byte.
            let order = shuffled(&mut rng, n_rows);
            let columns = table.columns.iter().map(|c| rebuilt(c, order.iter().map(|&row| row as usize))).collect();
            let other = Table::new(n_rows, columns, None);
            let mut place = vec![0; n_rows];
            order.iter().zip(0..).for_each(|(&row, now)| place[row as usize] = now);
            let mut moved = Partition::default();
            let mut classes: Vec<Vec<u32>> =
                partition.classes().map(|rows| rows.iter().map(|&row| place[row as usize]).collect()).collect();
            classes.reverse();
            classes.iter().for_each(|rows| moved.push(rows));
            let again = match split.is_exact() {
                true => Split::of_rows(&other, &moved).unwrap(),
                false => Split::of_classes(&other, &moved).unwrap(),
            };
            let now = bytes_of(&again);
            assert_eq!((now.quasi, now.sensitive), (bytes.quasi, bytes.sensitive), "round {round}");
        }
    }
}

#[test]
fn identical_rows_are_those_of_the_definition() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    for round in 0..300 {
        let n_rows = rng.random_range(1..80);
        let table = splittable(&mut rng, n_rows);
        let quasi = table.quasi();
        let mut expected: BTreeMap<Vec<u32>, BTreeSet<u32>> = BTreeMap::new();
        for row in 0..n_rows {
            let key = quasi.iter().map(|column| column.codes[row]).collect();
            expected.entry(key).or_default().insert(row as u32);
        }
        let k = rng.random_range(2..4);
        let kept: BTreeSet<BTreeSet<u32>> = expected.into_values().filter(|rows| rows.len() >= k).collect();
        let found = identical_rows(&table, &params(&[Criterion::KAnonymity { k: k as u32 }], 0.99));
        match found {
            Err(Error::Infeasible { .. }) => assert!(kept.is_empty() || n_rows > 50, "round {round}"),
            Err(other) => panic!("{other}"),
            Ok(found) => {
                let found: BTreeSet<BTreeSet<u32>> =
                    found.classes().map(|rows| rows.iter().copied().collect()).collect();
                assert_eq!(found, kept, "round {round}");
            }
        }
    }
}

/// The classes of every method keep the limit on knowledge breach, counted anew.
#[test]
fn knowledge_breach_can_be_promised() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut kept = 0;
    for round in 0..60 {
        let n = 80;
        let mut column = |values: u32| (0..n).map(|_| rng.random_range(0..values)).collect::<Vec<u32>>();
        let (quasi, first, second) = (column(12), column(4), column(3));
        let table = table_of(&quasi, &[first, second]);
        let criteria = [Criterion::KAnonymity { k: 3 }, Criterion::KnowledgeBreach { most: 0.45 }];
        for method in [Method::LeastLoss, Method::Mondrian, Method::Mdav, Method::Hilbert] {
            let asked = Params { method, ..params(&criteria, 0.5) };
            let Ok(groups) = anonymize(&table, &asked, None) else { continue };
            let split = break_merge(&table, &groups).unwrap();
            let (claim, _, tables) = published(&split, &criteria);
            assert!(verify_split(&claim, &tables, None, &Unobserved).holds, "round {round}, {method:?}");
            assert!(holds(&knowledge_breach(&tables, Some(0.45)).unwrap()));
            kept += 1;
        }
    }
    assert!(kept > 150, "{kept}");
}

/// A value that is written as what a class shows of all values: whoever reads the release sees one group.
#[test]
fn a_star_among_the_values_is_no_group_of_its_own() {
    let words = |name: &str, role: Role, cells: &str| {
        Column::words(
            name,
            role,
            cells.chars().map(|cell| cell.to_string()).collect::<Vec<_>>().iter().map(|c| Some(c.as_str())),
        )
    };
    let columns = vec![
        words("where", Role::Quasi, "*****aabbbbbbbbb"),
        words("one", Role::Sensitive, "xxxxxyzwabcdefgh"),
        words("two", Role::Sensitive, "1234111156789abc"),
        words("three", Role::Sensitive, "abcdabcdabcdabcd"),
    ];
    let table = Table::new(16, columns, None);
    let mut made = Partition::default();
    [&[0, 1, 2, 3][..], &[4, 5, 6, 7], &[8, 9, 10, 11, 12, 13, 14, 15]].iter().for_each(|rows| made.push(rows));
    // 1/4 in each of the first two, and 5/8 5/8 in both together.
    let criteria = [Criterion::KAnonymity { k: 2 }, Criterion::KnowledgeBreach { most: 0.3 }];
    let (_, _, tables) = published(&break_merge(&table, &made).unwrap(), &criteria);
    assert_eq!((tables.n_groups(), knowledge_breach(&tables, Some(0.3)).unwrap().above), (2, 1));

    let groups = settle_classes(&table, &params(&criteria, 0.9), made).unwrap();
    let split = break_merge(&table, &groups).unwrap();
    let (claim, _, tables) = published(&split, &criteria);
    assert_eq!(split.n_groups(), groups.len());
    assert!(verify_split(&claim, &tables, None, &Unobserved).holds);
    assert_eq!(knowledge_breach(&tables, Some(0.3)).unwrap().above, 0);
}

/// A group of Anatomy is large enough, and no value of it has too large a share.
fn check_group(rows: &[u32], columns: &[Vec<u32>], k: u32, l: u32, round: u64) {
    assert!(rows.len() >= k.max(l) as usize, "round {round}");
    // With one sensitive column and k up to l, groups are as small as in the paper, but for a few more rows.
    if columns.len() == 1 && k <= l {
        assert!(rows.len() < 2 * l as usize, "round {round}");
    }
    for codes in columns {
        let own: Vec<u32> = rows.iter().map(|&row| codes[row as usize]).collect();
        let most = own.iter().map(|v| own.iter().filter(|other| *other == v).count()).max().unwrap();
        assert!(most * l as usize <= rows.len(), "round {round}");
    }
}

/// Anatomy by its definition: nobody is left out, shares are at most 1/l, and groups are large enough.
#[test]
fn anatomy_keeps_its_promise_on_random_tables() {
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    let (mut made, mut refused) = (0, 0);
    for round in 0..2000 {
        let n = rng.random_range(4..90);
        let q = if round % 3 == 0 { rng.random_range(2..4) } else { 1 };
        let values = rng.random_range(2..12);
        let skew = |rng: &mut ChaCha8Rng| rng.random_range(0..values).min(rng.random_range(0..values + 3));
        let columns: Vec<Vec<u32>> = (0..q).map(|_| (0..n).map(|_| skew(&mut rng)).collect()).collect();
        let quasi: Vec<u32> = (0..n).map(|_| rng.random_range(0..20)).collect();
        let table = table_of(&quasi, &columns);
        let l = rng.random_range(2..6);
        let k = rng.random_range(2..6);
        let criteria = [Criterion::KAnonymity { k }, Criterion::DistinctDiversity { l }];
        let most = |codes: &Vec<u32>| (0..values).map(|v| codes.iter().filter(|&&c| c == v).count()).max().unwrap();
        let can = columns.iter().all(|codes| most(codes) * l as usize <= n) && n >= k as usize;
        let groups = match anatomize(&table, l, &criteria, round) {
            Ok(groups) => groups,
            Err(Error::Infeasible { .. }) => {
                assert!(!can, "round {round}: refused without need");
                refused += 1;
                continue;
            }
            Err(other) => panic!("{other}"),
        };
        assert!(can, "round {round}");
        let mut seen: Vec<u32> = groups.published().to_vec();
        seen.sort_unstable();
        assert_eq!(seen, (0..n as u32).collect::<Vec<_>>(), "round {round}");
        groups.classes().for_each(|rows| check_group(rows, &columns, k, l, round));
        let split = anatomy(&table, &groups).unwrap();
        let claim = SplitClaim::new(&split, "anatomy", &with_shares(&criteria, l));
        let tables = parse_split(&claim, "", &bytes_of(&split)).unwrap();
        let class_of = split.group_of();
        let verdict =
            verify_split(&claim, &tables, Some(TableTruth { table: &table, class_of: &class_of }), &Unobserved);
        assert!(verdict.holds, "round {round}: {:?}", verdict.findings);
        // Quasi-identifiers stand as they were.
        let mut shown: Vec<String> = tables.quasi.columns[0]
            .codes
            .iter()
            .map(|&code| tables.quasi.columns[0].domain.text(code).to_owned())
            .collect();
        let mut true_ones: Vec<String> = quasi.iter().map(|code| format!("v{code}")).collect();
        shown.sort_unstable();
        true_ones.sort_unstable();
        assert_eq!(shown, true_ones);
        made += 1;
    }
    assert!(made > 400 && refused > 400, "{made} made, {refused} refused");
}

#[test]
fn anatomy_depends_on_content_and_seed_alone() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let n = 60;
    let column = |rng: &mut ChaCha8Rng, values| (0..n).map(|_| rng.random_range(0..values)).collect::<Vec<u32>>();
    let (quasi, first) = (column(&mut rng, 30), column(&mut rng, 9));
    let text = |order: &[u32], seed: u64| {
        let pick = |codes: &[u32]| order.iter().map(|&row| codes[row as usize]).collect::<Vec<u32>>();
        let table = table_of(&pick(&quasi), &[pick(&first)]);
        let groups = anatomize(&table, 3, &[], seed).unwrap();
        let bytes = bytes_of(&anatomy(&table, &groups).unwrap());
        (bytes.quasi, bytes.sensitive)
    };
    let as_read: Vec<u32> = (0..n as u32).collect();
    for _ in 0..20 {
        assert_eq!(text(&as_read, 1), text(&shuffled(&mut rng, n), 1));
    }
    assert_ne!(text(&as_read, 1), text(&as_read, 2));
}

/// All rules from sets of quasi-identifiers to sensitive values in the rows of a published table, by trying every set.
fn rules(table: &Table, confidence: f64, support: usize) -> usize {
    let (quasi, n) = (table.quasi(), table.n_rows());
    let mut found = 0;
    for set in 1..1_usize << quasi.len() {
        let chosen: Vec<&&Column> = (0..quasi.len()).filter(|i| set >> i & 1 == 1).map(|i| &quasi[i]).collect();
        let alike = |a: usize, b: usize| chosen.iter().all(|column| column.codes[a] == column.codes[b]);
        for column in table.sensitive() {
            for row in 0..n {
                let all = (0..n).filter(|&other| alike(row, other)).count();
                let same =
                    (0..n).filter(|&other| alike(row, other) && column.codes[other] == column.codes[row]).count();
                let is_told = column.domain.text(column.codes[row]) != "*";
                found += usize::from(is_told && same >= support && same as f64 >= confidence * all as f64 - 1e-9);
            }
        }
    }
    found
}

#[test]
fn association_hiding_leaves_no_rule() {
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    let (mut with_rules, mut kept) = (0, 0);
    for round in 0..300 {
        let n_rows = rng.random_range(6..40);
        let table = splittable(&mut rng, n_rows);
        let partition = random_partition(&mut rng, n_rows, 2);
        let asked = Associations { confidence: rng.random_range(0.2..1.0), support: rng.random_range(1..5) };
        let hidden = hide(&table, &partition, &asked).unwrap();
        let criteria = [Criterion::KAnonymity { k: 2 }];
        let publish = |shown: &Table| {
            let claim = TableClaim::new(shown, &partition, "association-hiding", &criteria).with_associations(asked);
            let data = Generalized::new(shown, &partition);
            let mut text = Vec::new();
            data.write(&mut text).unwrap();
            (parse_table(&claim, "data.csv", &text).unwrap(), claim, data.class_of())
        };
        let (before, claim, class_of) = publish(&table);
        let had = rules(&before, asked.confidence, asked.support as usize);
        assert_eq!(had > 0, hidden.loss.rules > 0, "round {round}");
        let unhidden = verify_table(&claim, &before, Some(TableTruth { table: &table, class_of: &class_of }));
        assert_eq!(unhidden.checks.iter().any(|c| c.rule == TableRule::Associations && c.violated > 0), had > 0);

        let (after, claim, class_of) = publish(&hidden.table);
        assert_eq!(rules(&after, asked.confidence, asked.support as usize), 0, "round {round}");
        let verdict = verify_table(&claim, &after, Some(TableTruth { table: &table, class_of: &class_of }));
        assert!(verdict.holds, "round {round}: {:?}", verdict.findings);
        with_rules += usize::from(had > 0);
        for (_, loss) in &hidden.loss.columns {
            assert!((0.0..=1.0).contains(loss) && (had > 0 || *loss == 0.0), "round {round}");
        }
        // Something is left of some columns in which there were rules.
        kept += usize::from(had > 0 && hidden.loss.columns.iter().any(|(_, loss)| *loss < 1.0));
    }
    assert!(with_rules > 100 && kept > 50, "{with_rules} {kept}");
}

#[test]
fn values_climb_one_level_at_a_time() {
    // All six women have the flu or asthma; three have the flu.
    let sex = ["f", "f", "f", "f", "f", "f", "m", "m", "m", "m"];
    let ill = ["flu", "flu", "flu", "asthma", "gout", "hiv", "flu", "asthma", "gout", "hiv"];
    let mut column = Column::words("ill", Role::Sensitive, ill.map(Some));
    let above =
        [("flu", ["lungs", "*"]), ("asthma", ["lungs", "*"]), ("gout", ["joints", "*"]), ("hiv", ["blood", "*"])];
    let hierarchy = Hierarchy::from_paths(column.domain.texts(), above).unwrap();
    column.domain.set_hierarchy(hierarchy);
    let table = Table::new(10, vec![Column::words("sex", Role::Quasi, sex.map(Some)), column], None);
    let groups = identical_rows(&table, &params(&[Criterion::KAnonymity { k: 4 }], 0.0)).unwrap();
    let shown = |confidence| {
        let hidden = hide(&table, &groups, &Associations { confidence, support: 2 }).unwrap();
        let column = &hidden.table.columns[1];
        let texts: Vec<String> = column.codes.iter().map(|&code| column.domain.text(code).to_owned()).collect();
        (texts.join(" "), hidden.loss)
    };
    assert_eq!(shown(0.6).0, "flu flu flu asthma gout hiv flu asthma gout hiv");
    // Half of the women have the flu. Half of them then have something with their lungs, which tells as much.
    let (texts, loss) = shown(0.5);
    assert_eq!(texts, "* * * asthma gout hiv flu asthma gout hiv");
    assert_eq!((loss.rules, loss.columns[0].1), (2, 0.3));
    for (rules, key) in [
        (Associations { confidence: 0.0, support: 1 }, "confidence"),
        (Associations { confidence: 0.5, support: 0 }, "support"),
    ] {
        let Err(Error::Recipe { key: refused, .. }) = hide(&table, &groups, &rules) else { panic!("refused") };
        assert_eq!(refused, key);
    }
}

fn broken(verdict: &TableVerdict) -> BTreeSet<TableRule> {
    assert_eq!(verdict.holds, verdict.violations == 0);
    verdict.checks.iter().filter(|check| check.violated > 0).map(|check| check.rule).collect()
}

/// A change of what is published.
type Change<'a> = &'a dyn Fn(&mut SplitClaim, &mut SplitBytes);

fn replace(bytes: &mut Vec<u8>, from: &str, to: &str) {
    let text = String::from_utf8(bytes.clone()).unwrap();
    assert!(text.contains(from), "{from}");
    *bytes = text.replacen(from, to, 1).into_bytes();
}

/// The rules that Table II, split and changed, breaks beside an original and with custody of its own.
fn broken_by(
    change: Change<'_>,
    original: &Table,
    custody: impl FnOnce(Vec<Option<u32>>) -> Vec<Option<u32>>,
) -> BTreeSet<TableRule> {
    let table = table_ii();
    let groups = identical_rows(&table, &params(&criteria_ii(), 0.0)).unwrap();
    let split = break_merge(&table, &groups).unwrap();
    let criteria = [&criteria_ii()[..], &[Criterion::KnowledgeBreach { most: 0.36 }]].concat();
    let (mut claim, mut bytes, _) = published(&split, &criteria);
    change(&mut claim, &mut bytes);
    let tables = parse_split(&claim, "", &bytes).unwrap();
    let class_of = custody(split.group_of());
    broken(&verify_split(&claim, &tables, Some(TableTruth { table: original, class_of: &class_of }), &Unobserved))
}

#[test]
fn every_rule_is_broken_once() {
    let table = table_ii();
    let broken_by = |change: Change<'_>| broken_by(change, &table, |class_of| class_of);
    assert!(broken_by(&|_, _| {}).is_empty());

    use TableRule::{Cells, Columns, Counts, Criteria, Order, Promise, Records, Values};
    let cases: [(TableRule, Change<'_>); 14] = [
        (Promise, &|claim, _| claim.criteria.clear()),
        (Promise, &|claim, _| claim.criteria = vec![Criterion::KAnonymity { k: 0 }]),
        (Columns, &|claim, _| claim.columns[3].role = Role::Other),
        (Records, &|claim, _| claim.records = 11),
        (TableRule::Groups, &|claim, _| claim.groups = 3),
        // A gap: group 2 is missing.
        (TableRule::Groups, &|_, bytes| {
            bytes.quasi = String::from_utf8(bytes.quasi.clone()).unwrap().replace(",2\n", ",3\n").into_bytes();
        }),
        (TableRule::Groups, &|_, bytes| bytes.sensitive[0].extend_from_slice(b"3,x,1\n")),
        (Counts, &|_, bytes| replace(&mut bytes.sensitive[2], "1,>50k,1", "1,>50k,2")),
        (Counts, &|_, bytes| bytes.sensitive[0].extend_from_slice(b"2,Zoo,0\n")),
        (Order, &|_, bytes| replace(&mut bytes.sensitive[2], "1,>50k,1\n1,≤50k,4\n", "1,≤50k,4\n1,>50k,1\n")),
        (Order, &|_, bytes| replace(&mut bytes.sensitive[2], "1,≤50k,4\n", "1,≤50k,2\n1,≤50k,2\n")),
        (Criteria, &|claim, _| claim.criteria = vec![Criterion::DistinctDiversity { l: 3 }]),
        (Criteria, &|claim, _| claim.criteria = vec![Criterion::KnowledgeBreach { most: 0.35 }]),
        (Values, &|_, bytes| replace(&mut bytes.sensitive[2], "1,>50k,1\n1,≤50k,4\n", "1,>50k,2\n1,≤50k,3\n")),
    ];
    for (i, (rule, change)) in cases.into_iter().enumerate() {
        let found = broken_by(change);
        assert!(found.contains(&rule), "case {i}: {found:?}");
    }
    // Rows of a group out of order.
    let swap: Change<'_> = &|_, bytes| {
        let text = String::from_utf8(bytes.quasi.clone()).unwrap();
        let mut lines: Vec<&str> = text.lines().collect();
        lines.swap(1, 6);
        bytes.quasi = (lines.join("\n") + "\n").into_bytes();
    };
    assert!(broken_by(swap).contains(&Order));
    // A cell that does not cover, and one row that shows more than the others.
    let narrow: Change<'_> = &|_, bytes| {
        bytes.quasi = String::from_utf8(bytes.quasi.clone()).unwrap().replace("[30-50]", "31").into_bytes();
    };
    assert_eq!(broken_by(narrow), BTreeSet::from([Cells]));
    assert_eq!(broken_by(&|_, bytes| replace(&mut bytes.quasi, "[30-50],F", "*,F")), BTreeSet::from([Cells]));
}

/// Custody that speaks of another table, of unknown groups, or sends a row elsewhere.
#[test]
fn custody_of_something_else_is_found() {
    use TableRule::{ClassSize, Columns, CustodyMap};
    let table = table_ii();
    let nothing: Change<'_> = &|_, _| {};
    let shorter = |class_of: Vec<Option<u32>>| class_of[..9].to_vec();
    assert_eq!(broken_by(nothing, &table, shorter), BTreeSet::from([CustodyMap]));
    let first = |group: Option<u32>| move |class_of: Vec<Option<u32>>| [&[group], &class_of[1..]].concat();
    assert_eq!(broken_by(nothing, &table, first(Some(7))), BTreeSet::from([CustodyMap]));
    assert!(broken_by(nothing, &table, first(None)).contains(&ClassSize));
    let lacking = Table::new(10, table.columns[1..].to_vec(), None);
    assert_eq!(broken_by(nothing, &lacking, |class_of| class_of), BTreeSet::from([Columns]));
}

/// Rows of Anatomy must be those of the group exactly.
#[test]
fn a_row_that_anatomy_changed_is_found() {
    let table = table_ii();
    let groups = identical_rows(&table, &params(&criteria_ii(), 0.0)).unwrap();
    let split = anatomy(&table, &groups).unwrap();
    let (claim, mut bytes, _) = published(&split, &criteria_ii());
    let class_of = split.group_of();
    replace(&mut bytes.quasi, "[30-50],F", "*,F");
    let tables = parse_split(&claim, "", &bytes).unwrap();
    let verdict = verify_split(&claim, &tables, Some(TableTruth { table: &table, class_of: &class_of }), &Unobserved);
    assert_eq!(broken(&verdict), BTreeSet::from([TableRule::Cells]));
}

#[test]
fn a_package_goes_to_the_disk_and_back() {
    let table = table_ii();
    let groups = identical_rows(&table, &params(&criteria_ii(), 0.0)).unwrap();
    let split = break_merge(&table, &groups).unwrap();
    let claim = SplitClaim::new(&split, "break-merge", &criteria_ii());
    let input = TableIntake {
        file: "original.csv".into(),
        format: "csv".into(),
        bytes: 1,
        sha256: "feed".into(),
        rows: 10,
        columns: Vec::new(),
        missing: 0,
        ..TableIntake::default()
    };
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let names = |role: Role| table.columns.iter().filter(|c| c.role == role).map(|c| c.name.clone()).collect();
    let written = recipe::table::Written {
        quasi: names(Role::Quasi),
        sensitive: names(Role::Sensitive),
        as_is: true,
        criteria: recipe::table::Criteria { l: Some(2), ..Default::default() },
        ..recipe::table::Written::default()
    };
    let recipe = recipe_of(written, 5, &out);
    // Twice: a package of ours is replaced.
    for _ in 0..2 {
        run::protect(&recipe, Input::Table(table.clone(), input.clone()), &Unobserved).unwrap();
    }
    let mut names: Vec<String> =
        fs::read_dir(out.join("release")).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    let expected =
        ["claim.json", "quasi.csv", "sensitive_Government.csv", "sensitive_Marital-Status.csv", "sensitive_Salary.csv"];
    assert_eq!(names, expected);
    let (read, tables) = open_split(&release_folder(&out).unwrap(), Memory::default()).unwrap();
    assert_eq!(read, claim);
    let kept = Kept::read(&out.join("custody"), Form::Split).unwrap();
    assert_eq!((kept.map.as_slice(), kept.k()), (&split.group_of()[..], 5));
    assert!(verify_split(&read, &tables, Some(TableTruth { table: &table, class_of: &kept.map }), &Unobserved).holds);
    let of_sets = <Claim>::read(&out.join("release/claim.json")).unwrap_err().to_string();
    assert!(of_sets.contains("split table"), "{of_sets}");
    // Something else in the folder: not ours to replace.
    fs::write(out.join("release/sensitive_a b.csv"), "").unwrap();
    assert!(Destination::check(&out).is_err());
}

#[test]
fn bad_files_are_refused_with_their_place_and_no_value() {
    let table = table_ii();
    let groups = identical_rows(&table, &params(&criteria_ii(), 0.0)).unwrap();
    let (claim, bytes, tables) = published(&break_merge(&table, &groups).unwrap(), &criteria_ii());
    let error = |quasi: Option<&str>, sensitive: Option<&str>| {
        let mut bytes = bytes.clone();
        if let Some(text) = quasi {
            bytes.quasi = text.into();
        }
        if let Some(text) = sensitive {
            bytes.sensitive[1] = text.into();
        }
        let error = parse_split(&claim, "out", &bytes).unwrap_err();
        assert!(matches!(error, Error::Input { .. }) && !error.to_string().contains("secret"), "{error}");
        error.to_string()
    };
    let header = "Age,Gender,Zipcode,group\n";
    for (text, place) in [
        ("", "quasi.csv"),
        ("Age,Gender,group\n1,2,3\n", "quasi.csv:1"),
        (&format!("{header}a,b,c,1\na,b,c,secret\n"), "quasi.csv:3 (column group)"),
        (&format!("{header}a,b,c,1\na,b,c,0\n"), "quasi.csv:3 (column group)"),
        (&format!("{header}a,b,c,1\na,b,c,1.5\n"), "quasi.csv:3 (column group)"),
        (&format!("{header}a,b,c,1\na,b,c,\n"), "quasi.csv:3 (column group)"),
        (&format!("{header}a,b,c,1\na,b,c,4000000000\n"), "quasi.csv:3 (column group)"),
        (&format!("{header}a,b\n"), "quasi.csv:2"),
    ] {
        let told = error(Some(text), None);
        assert!(told.contains(place), "{text}: {told}");
    }
    for (text, place) in [
        ("group,value\n1,a\n", "sensitive_Marital-Status.csv:1"),
        ("group,value,count\n1,secret,-1\n", "sensitive_Marital-Status.csv:2 (column count)"),
        ("group,value,count\n1,secret,\n", "sensitive_Marital-Status.csv:2 (column count)"),
    ] {
        let told = error(None, Some(text));
        assert!(told.contains(place), "{text}: {told}");
    }
    // Counts that do not add up: no attack, but the advice to verify.
    let mut wrong = tables;
    wrong.sensitive[0].counts[0].count += 1;
    let error = knowledge_breach(&wrong, None).unwrap_err();
    assert!(error.to_string().contains("Government") && error.hint().unwrap().contains("verify"));
    wrong.sensitive[0].counts[0].group = 99;
    assert!(knowledge_breach(&wrong, None).is_err());
}

#[test]
fn bad_tables_are_refused() {
    let table = table_ii();
    let mut other = table.clone();
    other.columns[5].role = Role::Other;
    let mut none = table.clone();
    none.columns.truncate(3);
    let groups = identical_rows(&table, &params(&criteria_ii(), 0.0)).unwrap();
    for table in [&other, &none] {
        assert!(matches!(break_merge(table, &groups), Err(Error::Recipe { .. })));
        assert!(matches!(anatomy(table, &groups), Err(Error::Recipe { .. })));
    }
    assert!(matches!(anatomize(&none, 2, &[], 1), Err(Error::Recipe { .. })));
    let Err(Error::Infeasible { problem, hint }) = anatomize(&table, 3, &[], 1) else { panic!("refused") };
    assert!(
        problem.contains("Salary") && !problem.contains("50k") && hint.contains("another method"),
        "{problem} {hint}"
    );
    let Err(Error::Recipe { key, .. }) =
        anonymize(&table, &params(&[Criterion::KnowledgeBreach { most: 1.0 }], 0.0), None)
    else {
        panic!("refused")
    };
    assert_eq!(key, "knowledge-breach");
}

/// A recipe for such a table, split into a package in this folder.
fn recipe_of(table: recipe::table::Written, k: u32, folder: &std::path::Path) -> recipe::Recipe {
    let mut written = recipe::Written { table: Some(table), ..recipe::Written::default() };
    written.input.file = Some("x.csv".into());
    written.output.folder = Some(folder.to_str().unwrap().to_owned());
    (written.protect.method, written.protect.k) = (Some(recipe::Method::BreakMerge), Some(k));
    recipe::resolve(&written, std::path::Path::new("")).unwrap()
}

/// A random table without other columns as a file, with a name for each row; numbers are written in several ways.
fn random_file(rng: &mut ChaCha8Rng, n_rows: usize) -> (String, recipe::table::Written) {
    let table = random_table(rng, n_rows);
    let columns: Vec<&Column> = table.columns.iter().filter(|column| column.role != Role::Other).collect();
    let names = |role: Role| columns.iter().filter(|c| c.role == role).map(|c| c.name.clone()).collect::<Vec<_>>();
    let numeric = columns.iter().filter(|column| column.domain.numbers().is_some()).map(|c| c.name.clone()).collect();
    let written = recipe::table::Written {
        quasi: names(Role::Quasi),
        sensitive: names(Role::Sensitive),
        identifier: vec!["name".into()],
        numeric,
        missing: vec!["none".into()],
        as_is: true,
        ..recipe::table::Written::default()
    };
    let mut text = Vec::new();
    write_row(columns.iter().map(|column| column.name.as_str()).chain(["name"]), &mut text);
    for row in 0..n_rows {
        let cell = |column: &&Column| {
            let text = column.domain.text(column.codes[row]).to_owned();
            match (text.is_empty(), column.domain.numbers().is_some(), row % 3) {
                (true, _, 0) => String::from("none"),
                (false, true, 1) if !text.contains('.') => text + ".0",
                _ => text,
            }
        };
        let cells: Vec<String> = columns.iter().map(cell).collect();
        write_row(cells.iter().map(String::as_str).chain([["Ann", "B, \"C\"", "two\nlines"][row % 3]]), &mut text);
    }
    (String::from_utf8(text).unwrap(), written)
}

/// Everything in a package but how long it took.
fn package(folder: &std::path::Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    for part in ["release", "custody"] {
        for entry in fs::read_dir(folder.join(part)).unwrap() {
            let entry = entry.unwrap();
            // Digests depend on how long it took, too.
            if entry.file_name() == "files.sha256" {
                continue;
            }
            let text = fs::read_to_string(entry.path()).unwrap();
            let kept = text.lines().filter(|line| !line.starts_with("  \"seconds\"")).collect::<Vec<_>>().join("\n");
            files.insert(format!("{part}/{}", entry.file_name().display()), kept);
        }
    }
    files
}

#[test]
fn streams_are_what_is_in_memory() {
    let mut rng = ChaCha8Rng::seed_from_u64(31);
    let (mut made, mut taken_apart, mut refused) = (0, 0, 0);
    for round in 0..60 {
        let (size, most_removed) = (rng.random_range(1..60), rng.random_range(0..10));
        let (text, mut written) = random_file(&mut rng, size);
        written.suppression_limit = Some(f64::from(most_removed) / 10.0);
        let asked = &mut written.criteria;
        match round % 6 {
            0 => asked.alpha = Some(0.5),
            1 => (asked.beta, asked.l) = (Some(1.5), Some(2)),
            2 => asked.knowledge_breach = Some(0.6),
            3 => asked.entropy_l = Some(1.5),
            4 => asked.t = Some(0.6),
            _ => {}
        }
        let folder = tempfile::tempdir().unwrap();
        let recipe = recipe_of(written, 2, &folder.path().join("whole"));
        let asked = recipe.table.clone().unwrap();
        let at = |name: &str| Destination::check(&folder.path().join(name)).unwrap();
        let options = Options::default();
        let (table, intake) = table_bytes("x.csv", text.as_bytes(), &options, &asked.declared).unwrap();
        let whole = run::protect(&recipe, Input::Table(table.clone(), intake.clone()), &Unobserved);
        let whole = whole.map(|answer| asked.criteria.len() > 1 && answer.json["suppressed"].as_u64().unwrap() > 0);
        let told = |error: &Error| format!("{error} {:?}", error.hint());
        let check = |name: &str, streamed: disjoin::Result<u64>| match (&whole, &streamed) {
            (Ok(_), Ok(removed)) => {
                let (streamed, expected) = (package(&folder.path().join(name)), package(&folder.path().join("whole")));
                assert_eq!(streamed, expected, "round {round}, {name}");
                assert_eq!(
                    expected["custody/class_of.csv"].lines().filter(|l| l.ends_with(',')).count(),
                    *removed as usize
                );
            }
            (Err(whole), Err(streamed)) => assert_eq!(told(whole), told(streamed), "round {round}, {name}"),
            _ => panic!("round {round}, {name}: {:?}, {streamed:?}", whole.as_ref().err()),
        };
        let removed = |(_, json): (String, serde_json::Value)| json["suppressed"].as_u64().unwrap();
        for block in [1, 7, 100, 1 << 20] {
            let name = block.to_string();
            let count =
                |rows: RowLog<'_>| count_bytes("x.csv", text.as_bytes(), &options, &asked.declared, rows, block);
            check(&name, stream_split(&asked, count, &at(&name), &Unobserved).map(removed));
        }
        let count = |rows: RowLog<'_>| count_rows(table.clone(), intake.clone(), rows);
        check("table", stream_split(&asked, count, &at("table"), &Unobserved).map(removed));
        match &whole {
            Ok(removed) => (made, taken_apart) = (made + 1, taken_apart + usize::from(*removed)),
            Err(_) => {
                refused += 1;
                // Nothing is left of what was begun.
                assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
            }
        }
    }
    assert!(made > 15 && taken_apart > 5 && refused > 5, "{made} {taken_apart} {refused}");
}
