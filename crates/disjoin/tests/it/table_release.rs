//! Generalized tables from the partition to the disk and back: what is written is what is read, the order of the input leaves
//! no trace, honest releases hold, and every tampering is found.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

use crate::tables::{random_partition, random_table, rebuilt, shuffled};
use disjoin::Memory;
use disjoin::data::table::{Column, Role, Table};
use disjoin::data::{Hierarchy, Partition};
use disjoin::publish::{Custody, Destination, Kept, Package, Part, release_folder, somewhere};
use disjoin::read::Options;
use disjoin::read::rows::{Declared, TableIntake, table_bytes};
use disjoin::recipe;
use disjoin::release::generalized::{DATA, Generalized, TableClaim, published_columns};
use disjoin::release::privacy_models::{
    Criterion, Distance, Judge, distance_equal, distance_hierarchical, distance_ordered, relative_gain,
};
use disjoin::release::{Claim, Form, form_of};
use disjoin::run::{self, Input};
use disjoin::verify::TableRule::{Cells, ClassSize, Columns, Criteria, CustodyMap, Promise, Records, Values};
use disjoin::verify::{TableRule, TableTruth, TableVerdict, open_table, parse_table, verify_table};
use disjoin::{Error, Unobserved};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn data(table: &Table, partition: &Partition) -> Vec<u8> {
    let mut bytes = Vec::new();
    Generalized::new(table, partition).write(&mut bytes).unwrap();
    bytes
}

/// The rows of data.csv, by another reader than ours.
fn fields(bytes: &[u8]) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(bytes);
    reader.records().map(|record| record.unwrap().iter().map(str::to_owned).collect()).collect()
}

/// What should be published, row by row, without order.
fn expected(table: &Table, partition: &Partition) -> Vec<Vec<String>> {
    let (quasi, columns) = (table.quasi(), published_columns(table));
    let mut rows = Vec::new();
    for (class, cells) in partition.classes().zip(partition.cells(table)) {
        for &row in class {
            let cells = cells.iter().zip(&quasi).map(|(cell, column)| cell.text(&column.domain));
            let values = columns[quasi.len()..].iter().map(|c| c.domain.text(c.codes[row as usize]).to_owned());
            rows.push(cells.chain(values).collect());
        }
    }
    rows
}

fn intake(table: &Table) -> TableIntake {
    TableIntake {
        file: "original.csv".into(),
        format: "csv".into(),
        bytes: 1,
        sha256: "feed".into(),
        rows: table.n_rows() as u64,
        columns: table.columns.iter().map(|column| column.name.clone()).collect(),
        missing: 0,
        ..TableIntake::default()
    }
}

/// A package of classes that no method would make.
fn publish(out: &Path, table: &Table, partition: &Partition, criteria: &[Criterion]) {
    let claim = TableClaim::new(table, partition, "mondrian", criteria);
    let roles = table.columns.iter().map(|column| (column.name.clone(), column.role)).collect();
    let declared = Declared { roles, ..Declared::default() };
    let body = serde_json::json!({ "declared": declared, "parameters": { "criteria": criteria } });
    let custody = Custody::new(Form::Classes, None, &intake(table), body).unwrap();
    let data = Generalized::new(table, partition);
    let package = Package::default()
        .file(Part::Release, DATA, |file| data.write(file))
        .bytes(Part::Release, "claim.json", claim.to_json().unwrap())
        .custody(Form::Classes, &custody, somewhere(data.class_of()))
        .unwrap();
    Destination::check(out).unwrap().publish(|staging| package.write(staging, &Unobserved)).unwrap();
}

/// The smallest class and the worst of some criteria, by definition, over classes as readers see them.
struct Worst {
    k: u32,
    beta: f64,
    equal: f64,
    ordered: Option<f64>,
    hierarchical: Option<f64>,
}

fn worst(table: &Table, partition: &Partition) -> Worst {
    let mut classes: HashMap<Vec<String>, Vec<u32>> = HashMap::new();
    let quasi = table.quasi();
    for (class, cells) in partition.classes().zip(partition.cells(table)) {
        let texts = cells.iter().zip(&quasi).map(|(cell, column)| cell.text(&column.domain)).collect();
        classes.entry(texts).or_default().extend(class);
    }
    let counts = |column: &Column, rows: &[u32]| {
        let mut counts = vec![0; column.domain.n_codes()];
        rows.iter().for_each(|&row| counts[column.codes[row as usize] as usize] += 1);
        counts
    };
    type Measure<'a> = &'a dyn Fn(&Column, &[u32], &[u32]) -> Option<f64>;
    let greatest = |measure: Measure<'_>| -> Option<f64> {
        let mut greatest = 0.0;
        for column in table.sensitive() {
            let all = counts(column, partition.published());
            for rows in classes.values() {
                greatest = f64::max(greatest, measure(column, &counts(column, rows), &all)?);
            }
        }
        Some(greatest)
    };
    Worst {
        k: classes.values().map(|rows| rows.len() as u32).min().unwrap(),
        beta: greatest(&|_, q, p| Some(relative_gain(q, p))).unwrap(),
        equal: greatest(&|_, q, p| Some(distance_equal(q, p))).unwrap(),
        ordered: greatest(&|column, q, p| column.domain.numbers().map(|_| distance_ordered(q, p))),
        hierarchical: greatest(&|column, q, p| column.domain.hierarchy().map(|h| distance_hierarchical(q, p, h))),
    }
}

/// Criteria with limits a bit looser (`by` > 0) or tighter (`by` < 0) than what the release has.
fn criteria(worst: &Worst, by: f64) -> Vec<Criterion> {
    let mut all = vec![Criterion::KAnonymity { k: if by > 0.0 { worst.k } else { worst.k + 1 } }];
    let closeness = |distance, value: f64| Criterion::Closeness { t: (value + by).min(1.0), distance };
    if worst.beta + by > 0.0 {
        all.push(Criterion::Likeness { beta: worst.beta + by, enhanced: false });
    }
    let distances = [
        (Distance::Equal, Some(worst.equal)),
        (Distance::Ordered, worst.ordered),
        (Distance::Hierarchical, worst.hierarchical),
    ];
    for (distance, value) in distances {
        all.extend(value.filter(|value| value + by > 0.0).map(|value| closeness(distance, value)));
    }
    all
}

#[test]
fn the_data_hold_every_published_row_and_no_other() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for round in 0..300 {
        let n_rows = rng.random_range(4..60);
        let table = random_table(&mut rng, n_rows);
        let partition = random_partition(&mut rng, n_rows, 2);
        let bytes = data(&table, &partition);
        let mut found = fields(&bytes);
        let header: Vec<String> = published_columns(&table).iter().map(|column| column.name.clone()).collect();
        assert_eq!(found.remove(0), header);
        let n_quasi = table.quasi().len();

        // Classes are sorted, and rows of one stand together.
        let classes: Vec<&[String]> = found.iter().map(|row| &row[..n_quasi]).collect();
        assert!(classes.is_sorted(), "round {round}");
        let mut expected = expected(&table, &partition);
        let mut sorted = found.clone();
        expected.sort();
        sorted.sort();
        assert_eq!(sorted, expected, "round {round}");

        // Our own reader finds the same, in the same order.
        let claim = TableClaim::new(&table, &partition, "mondrian", &[]);
        let read = parse_table(&claim, "data.csv", &bytes).unwrap();
        let columns = published_columns(&read);
        for (row, fields) in found.iter().enumerate() {
            let texts: Vec<&str> = columns.iter().map(|column| column.domain.text(column.codes[row])).collect();
            assert_eq!(texts, *fields, "round {round}");
        }
        for (column, original) in columns.iter().zip(published_columns(&table)).skip(n_quasi) {
            assert_eq!(column.domain.numbers().is_some(), original.domain.numbers().is_some());
        }
    }
}

#[test]
fn a_single_column_without_values_is_read_back() {
    let table = Table::new(4, vec![Column::words("only", Role::Quasi, [None, Some("x"), None, Some("x")])], None);
    let mut partition = Partition::default();
    partition.push(&[0, 2]);
    partition.push(&[1, 3]);
    let bytes = data(&table, &partition);
    let claim = TableClaim::new(&table, &partition, "mondrian", &[Criterion::KAnonymity { k: 2 }]);
    let read = parse_table(&claim, "data.csv", &bytes).unwrap();
    assert_eq!(read.n_rows(), 4);
    assert!(verify_table(&claim, &read, None).holds);
}

#[test]
fn the_order_of_the_input_changes_no_byte() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let folder = tempfile::tempdir().unwrap();
    for round in 0..100 {
        let n_rows = rng.random_range(10..60);
        let table = random_table(&mut rng, n_rows);
        let partition = random_partition(&mut rng, n_rows, 2);
        let criteria = criteria(&worst(&table, &partition), 0.01);
        let order = shuffled(&mut rng, n_rows);
        let columns = table.columns.iter().map(|c| rebuilt(c, order.iter().map(|&row| row as usize))).collect();
        let mut place = vec![0; n_rows];
        order.iter().zip(0..).for_each(|(&row, now)| place[row as usize] = now);
        let mut moved = Partition::from_parts(Vec::new(), Vec::new(), partition.removed.clone());
        for &class in &shuffled(&mut rng, partition.len()) {
            let mut rows: Vec<u32> = partition.class(class as usize).iter().map(|&row| place[row as usize]).collect();
            rows.sort_unstable();
            moved.push(&rows);
        }
        let shuffled = Table::new(n_rows, columns, None);
        assert_eq!(data(&table, &partition), data(&shuffled, &moved), "round {round}");
        let claim = |table, partition| TableClaim::new(table, partition, "mondrian", &criteria).to_json().unwrap();
        assert_eq!(claim(&table, &partition), claim(&shuffled, &moved), "round {round}");
        if round == 0 {
            let read = |out: &Path, file: &str| fs::read(out.join("release").join(file)).unwrap();
            let (one, other) = (folder.path().join("one"), folder.path().join("other"));
            publish(&one, &table, &partition, &criteria);
            publish(&other, &shuffled, &moved, &criteria);
            assert!(["data.csv", "claim.json"].iter().all(|file| read(&one, file) == read(&other, file)));
        }
    }
}

fn through_the_disk(
    out: &Path,
    table: &Table,
    partition: &Partition,
    criteria: &[Criterion],
) -> (TableClaim, Table, Vec<Option<u32>>) {
    publish(out, table, partition, criteria);
    let release = release_folder(out).unwrap();
    assert_eq!(form_of(&release.join("claim.json")).unwrap(), Form::Classes);
    let (claim, published) = open_table(&release, Memory::default()).unwrap();
    (claim, published, Kept::read(&out.join("custody"), Form::Classes).unwrap().map)
}

#[test]
fn honest_releases_hold_and_no_tighter_claim_does() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let folder = tempfile::tempdir().unwrap();
    let (mut with_hierarchy, mut with_order) = (0, 0);
    for round in 0..120 {
        let n_rows = rng.random_range(10..80);
        let table = random_table(&mut rng, n_rows);
        let partition = random_partition(&mut rng, n_rows, 3);
        let worst = worst(&table, &partition);
        with_hierarchy += usize::from(worst.hierarchical.is_some_and(|value| value > 0.01));
        with_order += usize::from(worst.ordered.is_some_and(|value| value > 0.01));
        let (claim, published, class_of) = match round % 40 {
            0 => through_the_disk(&folder.path().join("out"), &table, &partition, &criteria(&worst, 1e-6)),
            _ => {
                let claim = TableClaim::new(&table, &partition, "mondrian", &criteria(&worst, 1e-6));
                let published = parse_table(&claim, "data.csv", &data(&table, &partition)).unwrap();
                (claim, published, Generalized::new(&table, &partition).class_of())
            }
        };
        let truth = TableTruth { table: &table, class_of: &class_of };
        for truth in [None, Some(truth)] {
            let verdict = verify_table(&claim, &published, truth);
            assert!(verdict.holds, "round {round}: {verdict:#?}");
            assert_eq!((verdict.records, verdict.violations), (partition.n_published() as u64, 0));
            assert_eq!(verdict.smallest_class, u64::from(worst.k));
            assert!(verdict.criteria.iter().all(|line| line.classes == verdict.classes && line.violated == 0));
        }
        // Each limit is what is there: a bit tighter, and exactly that one fails.
        for tight in criteria(&worst, -1e-6) {
            let verdict = verify_table(&tighter(&claim, tight), &published, None);
            assert!(!verdict.holds && verdict.criteria[0].violated > 0, "round {round}: {tight:?}");
            let finding = &verdict.findings[0];
            assert!(finding.rule == TableRule::Criteria && finding.line.is_some_and(|line| line >= 2));
        }
        // The judge that protects agrees with what is read back.
        let judge = Judge::over(&claim.criteria, &table, partition.published().iter().copied()).unwrap();
        let generalized = Generalized::new(&table, &partition);
        for class in 0..generalized.n_classes() {
            assert!(judge.holds(&judge.of(generalized.rows(class).iter().copied())));
        }
    }
    assert!(with_hierarchy > 5 && with_order > 5, "{with_hierarchy} {with_order}");
}

/// The claim with another promise.
fn tighter(claim: &TableClaim, criterion: Criterion) -> TableClaim {
    let mut claim = claim.clone();
    claim.criteria = vec![criterion];
    claim
}

/// Values of removed rows make the tree of sensitive values no higher.
#[test]
fn removed_values_do_not_change_a_distance() {
    let values = ["a", "b", "a", "b", "a", "a", "deep"];
    let mut ill = Column::words("ill", Role::Sensitive, values.map(Some));
    let paths = [("a", vec!["x"]), ("b", vec!["x"]), ("deep", vec!["z", "y", "x"])];
    ill.domain.set_hierarchy(Hierarchy::from_paths(ill.domain.texts(), paths).unwrap());
    let age = Column::numbers("age", Role::Quasi, [1.0, 1.0, 2.0, 2.0, 2.0, 2.0, 3.0].map(Some));
    let table = Table::new(7, vec![age, ill], None);
    let mut partition = Partition::from_parts(Vec::new(), Vec::new(), vec![6]);
    partition.push(&[0, 1]);
    partition.push(&[2, 3, 4, 5]);
    // Shares 1/2 and 1/2 where overall they are 2/3 and 1/3: a sixth moves, all the way of a tree of height one.
    let claim = |t| {
        let criteria = [Criterion::Closeness { t, distance: Distance::Hierarchical }];
        TableClaim::new(&table, &partition, "mondrian", &criteria)
    };
    let read = parse_table(&claim(0.5), "data.csv", &data(&table, &partition)).unwrap();
    assert!(verify_table(&claim(1.0 / 6.0), &read, None).holds);
    assert!(!verify_table(&claim(1.0 / 6.0 - 1e-6), &read, None).holds);
    let judge = |t| {
        let judge = Judge::over(&claim(t).criteria, &table, partition.published().iter().copied()).unwrap();
        partition.classes().all(|rows| judge.holds(&judge.of(rows.iter().copied())))
    };
    assert!(judge(1.0 / 6.0) && !judge(1.0 / 6.0 - 1e-6));
}

/// A table whose texts can be searched for in messages.
fn secrets() -> (Table, Partition) {
    let columns = vec![
        Column::numbers("age", Role::Quasi, [20.0, 25.0, 30.0, 31.0, 40.0, 44.0, 90.0].map(Some)),
        Column::words("city", Role::Quasi, ["Xa", "Xb", "Xa", "Xa", "Xc", "Xd", "Xe"].map(Some)),
        Column::words("ill", Role::Sensitive, ["Yflu", "Yhiv", "Yflu", "Yhiv", "Yflu", "Yhiv", "Yebola"].map(Some)),
        Column::numbers("pay", Role::Other, [7001.0, 7002.0, 7003.0, 7001.0, 7002.0, 7003.0, 7009.0].map(Some)),
    ];
    let mut partition = Partition::from_parts(Vec::new(), Vec::new(), vec![6]);
    [[0, 1], [2, 3], [4, 5]].iter().for_each(|rows| partition.push(rows));
    (Table::new(7, columns, None), partition)
}

fn is_silent(text: &str) -> bool {
    ["Xa", "Xb", "Xc", "Xd", "Xe", "Yflu", "Yhiv", "Yebola", "700", "20..25", "30..31", "40..44"]
        .iter()
        .all(|secret| !text.contains(secret))
}

const K_AND_BETA: [Criterion; 2] = [Criterion::KAnonymity { k: 2 }, Criterion::Likeness { beta: 0.1, enhanced: true }];

/// What verify says of tampered data, without and with the original.
fn verdicts(change: impl Fn(&mut String, &mut TableClaim, &mut Vec<Option<u32>>)) -> [TableVerdict; 2] {
    let (table, partition) = secrets();
    let mut claim = TableClaim::new(&table, &partition, "mondrian", &K_AND_BETA);
    let mut text = String::from_utf8(data(&table, &partition)).unwrap();
    let mut class_of = Generalized::new(&table, &partition).class_of();
    change(&mut text, &mut claim, &mut class_of);
    let read = parse_table(&claim, "data.csv", text.as_bytes()).unwrap();
    let truth = TableTruth { table: &table, class_of: &class_of };
    [None, Some(truth)].map(|truth| {
        let verdict = verify_table(&claim, &read, truth);
        let told = serde_json::to_string(&verdict).unwrap();
        assert!(is_silent(&told), "{told}");
        assert_eq!(verdict.holds, verdict.violations == 0);
        verdict
    })
}

fn broken(verdict: &TableVerdict) -> HashSet<TableRule> {
    verdict.checks.iter().filter(|check| check.violated > 0).map(|check| check.rule).collect()
}

/// What is done, and the rules that it breaks without and with the original.
type Tampering = (&'static str, Change, &'static [TableRule], &'static [TableRule]);
type Change = fn(&mut String, &mut TableClaim, &mut Vec<Option<u32>>);

const TAMPERED_ROWS: &[Tampering] = &[
    (
        "a row dropped",
        |text, _, _| *text = text.replacen("30..31,Xa,Yhiv,7001\n", "", 1),
        &[Records, Criteria],
        &[Records, Criteria, ClassSize, Values],
    ),
    (
        "a row repeated",
        |text, _, _| text.push_str("40..44,{Xc|Xd},Yhiv,7003\n"),
        &[Records, Criteria],
        &[Records, Criteria, ClassSize, Values],
    ),
    (
        "a row dropped, and the claim with it",
        |text, claim, _| {
            *text = text.replacen("30..31,Xa,Yhiv,7001\n", "", 1);
            claim.records -= 1;
        },
        &[Criteria],
        &[Criteria, ClassSize, Values],
    ),
];

const TAMPERED_VALUES: &[Tampering] = &[
    (
        "a cell changed in one row",
        |text, _, _| *text = text.replacen("30..31,Xa,Yhiv", "30..31,Xb,Yhiv", 1),
        &[Criteria],
        &[Criteria, ClassSize, Cells, Values],
    ),
    ("a range moved in a whole class", |text, _, _| *text = text.replace("30..31", "30..30.5"), &[], &[Cells]),
    ("a word replaced in a whole class", |text, _, _| *text = text.replace("31,Xa,", "31,Xb,"), &[], &[Cells]),
    ("a word taken out of a set", |text, _, _| *text = text.replace("{Xc|Xd}", "{Xc|Xe}"), &[], &[Cells]),
    ("a cell emptied", |text, _, _| *text = text.replace("31,Xa,", "31,,"), &[], &[Cells]),
    (
        "a sensitive value changed",
        |text, _, _| *text = text.replacen("31,Xa,Yflu", "31,Xa,Yhiv", 1),
        &[Criteria],
        &[Criteria, Values],
    ),
    (
        "a sensitive value invented",
        |text, _, _| *text = text.replacen("31,Xa,Yflu", "31,Xa,Ypox", 1),
        &[Criteria],
        &[Criteria, Values],
    ),
    (
        "sensitive values of a class exchanged",
        |text, _, _| *text = text.replacen("Yflu,7003", "Yflu,7001", 1).replacen("Yhiv,7001", "Yhiv,7003", 1),
        &[],
        &[Values],
    ),
    ("another value changed", |text, _, _| *text = text.replacen("7003", "7004", 1), &[], &[Values]),
];

const TAMPERED_PROMISES: &[Tampering] = &[
    ("k too high", |_, claim, _| claim.criteria[0] = Criterion::KAnonymity { k: 3 }, &[Criteria], &[Criteria]),
    ("nothing promised", |_, claim, _| claim.criteria.clear(), &[Promise], &[Promise]),
    (
        "a limit that means nothing",
        |_, claim, _| claim.criteria[0] = Criterion::KAnonymity { k: 1 },
        &[Promise],
        &[Promise],
    ),
    ("another original", |_, _, class_of| class_of.push(None), &[], &[CustodyMap]),
    ("rows sent to each other's class", |_, _, class_of| class_of.swap(0, 2), &[], &[Cells, Values]),
];

#[test]
fn every_tampering_is_found() {
    let (table, partition) = secrets();
    let text = String::from_utf8(data(&table, &partition)).unwrap();
    let expected = "age,city,ill,pay\n20..25,{Xa|Xb},Yflu,7001\n20..25,{Xa|Xb},Yhiv,7002\n30..31,Xa,Yflu,7003\n\
                    30..31,Xa,Yhiv,7001\n40..44,{Xc|Xd},Yflu,7002\n40..44,{Xc|Xd},Yhiv,7003\n";
    assert_eq!(text, expected);
    for verdict in verdicts(|_, _, _| {}) {
        assert!(verdict.holds, "{verdict:#?}");
    }

    for (what, change, alone, with_original) in TAMPERED_ROWS.iter().chain(TAMPERED_VALUES).chain(TAMPERED_PROMISES) {
        let [without, with] = verdicts(change);
        assert_eq!(broken(&without), alone.iter().copied().collect(), "{what}: {without:#?}");
        let found = broken(&with);
        assert!(with_original.iter().all(|rule| found.contains(rule)), "{what}: {with:#?}");
        assert!(found.iter().all(|rule| with_original.contains(rule)), "{what}: {with:#?}");
        assert!(!with.holds);
    }
}

/// The columns of the claim are those of the data, in name, order and kind.
#[test]
fn other_columns_in_the_claim_are_found() {
    let (table, partition) = secrets();
    let claim = TableClaim::new(&table, &partition, "mondrian", &K_AND_BETA);
    let read = parse_table(&claim, "data.csv", &data(&table, &partition)).unwrap();
    for change in [
        (|claim: &mut TableClaim| claim.columns[2].role = Role::Other) as fn(&mut TableClaim),
        |claim| claim.columns.swap(0, 1),
        |claim| claim.columns[3].numeric = false,
        |claim| drop(claim.columns.pop()),
    ] {
        let mut changed = claim.clone();
        change(&mut changed);
        assert!(broken(&verify_table(&changed, &read, None)).contains(&Columns));
    }
}

#[test]
fn beliefs_are_said_not_to_be_checkable() {
    let [verdict, _] = verdicts(|_, claim, _| claim.criteria.push(Criterion::Background { t: 0.1 }));
    assert!(verdict.holds);
    let line = &verdict.criteria[2];
    assert_eq!((line.checkable, line.classes, line.worst), (false, 0, None));
    let [verdict, _] = verdicts(|_, claim, _| claim.criteria = vec![Criterion::Background { t: 0.1 }]);
    assert_eq!(broken(&verdict), HashSet::from([TableRule::Promise]));
}

#[test]
fn lines_count_line_ends_within_values() {
    let note = Column::words("note", Role::Other, [Some("a\nb\nc"), Some("d"), Some("e"), Some("f")]);
    let age = Column::numbers("age", Role::Quasi, [1.0, 1.0, 2.0, 3.0].map(Some));
    let table = Table::new(4, vec![age, note], None);
    let mut partition = Partition::default();
    [&[0, 1][..], &[2], &[3]].iter().for_each(|rows| partition.push(rows));
    let claim = TableClaim::new(&table, &partition, "mondrian", &[Criterion::KAnonymity { k: 2 }]);
    let read = parse_table(&claim, "data.csv", &data(&table, &partition)).unwrap();
    let verdict = verify_table(&claim, &read, None);
    assert_eq!(verdict.findings.iter().map(|finding| finding.line).collect::<Vec<_>>(), [Some(6), Some(7)]);
}

#[test]
fn what_is_no_release_is_refused_without_a_value() {
    let (table, partition) = secrets();
    let claim = TableClaim::new(&table, &partition, "mondrian", &K_AND_BETA);
    let text = String::from_utf8(data(&table, &partition)).unwrap();
    for (from, to, place) in [
        ("age,city", "city,age", "data.csv:1: "),
        ("ill,pay\n", "ill,pay,more\n", "data.csv:1: "),
        ("Yflu,7001", "Yflu,Yhiv", "data.csv:2 (column pay): "),
        ("Yhiv,7002", "Yhiv", "data.csv:3: "),
        ("Yhiv,7002", "\"Yhiv,7002", "data.csv:3: "),
    ] {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text);
        let error = parse_table(&claim, "data.csv", changed.as_bytes()).unwrap_err();
        assert!(error.to_string().starts_with(place), "{error}");
        assert!(is_silent(&format!("{error} {:?}", error.hint())), "{error}");
    }
}

/// The same with hierarchies, by which these classes are those that lose least.
fn secrets_by_level() -> Table {
    let (mut table, _) = secrets();
    let ages =
        [("20", "20s"), ("25", "20s"), ("30", "30s"), ("31", "30s"), ("40", "40s"), ("44", "40s"), ("90", "old")];
    let cities = [("Xa", "Xm"), ("Xb", "Xm"), ("Xc", "Xn"), ("Xd", "Xn"), ("Xe", "Xo")];
    for (column, above) in table.columns.iter_mut().zip([&ages[..], &cities[..]]) {
        let paths = above.iter().map(|(value, label)| (*value, [*label, "*"]));
        column.domain.set_hierarchy(Hierarchy::from_paths(column.domain.texts(), paths).unwrap());
    }
    table
}

/// A recipe for a table whose columns have these roles.
fn recipe_of(roles: &[(&str, Role)], k: u32, folder: &Path) -> recipe::Written {
    let names = |role: Role| roles.iter().filter(|of| of.1 == role).map(|of| of.0.to_owned()).collect();
    let table = recipe::table::Written {
        quasi: names(Role::Quasi),
        sensitive: names(Role::Sensitive),
        identifier: names(Role::Identifier),
        insensitive: names(Role::Other),
        numeric: vec!["age".into()],
        seed: Some(7),
        ..recipe::table::Written::default()
    };
    let mut written = recipe::Written { table: Some(table), ..recipe::Written::default() };
    written.input.file = Some("people.csv".into());
    written.output.folder = Some(folder.to_str().unwrap().to_owned());
    written.protect.k = Some(k);
    written
}

#[test]
fn a_package_is_found_and_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let table = secrets_by_level();
    let roles: Vec<(&str, Role)> = table.columns.iter().map(|column| (column.name.as_str(), column.role)).collect();
    let mut written = recipe_of(&roles, 2, &out);
    written.protect.method = Some(recipe::Method::Lattice);
    written.table.as_mut().unwrap().suppression_limit = Some(0.25);
    written.table.as_mut().unwrap().publish_as_is = vec!["pay".into()];
    let recipe = recipe::resolve(&written, Path::new("")).unwrap();
    for _ in 0..2 {
        run::protect(&recipe, Input::Table(table.clone(), intake(&table)), &Unobserved).unwrap();
    }
    let names = |part: &str| {
        let mut names: Vec<String> = fs::read_dir(out.join(part))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    assert_eq!(names("release"), ["claim.json", "data.csv"]);
    assert_eq!(names("custody"), ["class_of.csv", "custody.json", "files.sha256", "mapping.csv"]);
    for path in [out.clone(), out.join("release")] {
        assert_eq!(release_folder(&path).unwrap(), out.join("release"));
        assert_eq!(run::open(&path, None, Memory::default()).unwrap().form(), Form::Classes);
    }
    let of_sets = <Claim>::read(&out.join("release/claim.json")).unwrap_err().to_string();
    assert!(of_sets.contains("generalised table"), "{of_sets}");
    assert!(matches!(release_folder(folder.path()), Err(Error::Input { .. })));
    let kept = Kept::read(&out.join("custody"), Form::Classes).unwrap();
    assert_eq!(kept.map, [Some(0), Some(0), Some(1), Some(1), Some(2), Some(2), None]);
    assert_eq!((kept.input_sha256.as_str(), kept.declared.roles.len()), ("feed", 4));
    let published = Generalized::new(&table, &kept.partition());
    assert_eq!(fs::read(out.join("release/data.csv")).unwrap(), data(&table, &kept.partition()));
    assert_eq!(published.class_of(), kept.map);
    let mut expected = String::from("class,column,published,rows\n");
    for class in 0..published.n_classes() {
        for (column, cell) in ["age", "city"].iter().zip(published.cells(class)) {
            expected += &format!("{},{column},{cell},{}\n", class + 1, published.rows(class).len());
        }
    }
    let mapping = fs::read_to_string(out.join("custody/mapping.csv")).unwrap();
    assert_eq!(mapping, expected);
    let lines: Vec<&str> = mapping.lines().take(3).collect();
    assert_eq!(lines, ["class,column,published,rows", "1,age,20s,2", "1,city,Xm,2"]);
    let told: serde_json::Value = serde_json::from_slice(&fs::read(out.join("custody/custody.json")).unwrap()).unwrap();
    assert_eq!((&told["suppressed"], &told["classes"], &told["parameters"]["seed"]), (&1.into(), &3.into(), &7.into()));
    // Nothing of the removed row leaves.
    for file in names("release") {
        let text = fs::read_to_string(out.join("release").join(file)).unwrap();
        assert!(!text.contains("Yebola") && !text.contains("Xe") && !text.contains("7009") && !text.contains("90"));
    }
}

/// From a file with identifiers to a release and back, through the disk.
#[test]
fn a_file_becomes_a_release_that_agrees_with_it() {
    let mut text = String::from("name;age;zip;ill;note\n");
    for i in 0..40 {
        text.push_str(&format!("P{i};{};\"1{};0\";{};n{i}\n", 20 + i % 8, i % 3, ["flu", "gout", "NA"][i % 3]));
    }
    let roles = [
        ("name", Role::Identifier),
        ("age", Role::Quasi),
        ("zip", Role::Quasi),
        ("ill", Role::Sensitive),
        ("note", Role::Other),
    ];
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let mut written = recipe_of(&roles, 4, &out);
    written.table.as_mut().unwrap().missing = vec!["NA".into()];
    written.table.as_mut().unwrap().publish_as_is = vec!["note".into()];
    let recipe = recipe::resolve(&written, Path::new("")).unwrap();
    let declared = recipe.table.as_ref().unwrap().declared.clone();
    let (table, intake) = table_bytes("people.csv", text.as_bytes(), &Options::default(), &declared).unwrap();
    run::protect(&recipe, Input::Table(table.clone(), intake), &Unobserved).unwrap();

    let kept = Kept::read(&out.join("custody"), Form::Classes).unwrap();
    // What was found on reading is said there.
    assert_eq!(kept.declared, Declared { detect: false, ..declared });
    let (again, _) = table_bytes("people.csv", text.as_bytes(), &Options::default(), &kept.declared).unwrap();
    let (read, published) = open_table(&out.join("release"), Memory::default()).unwrap();
    let expected = TableClaim::new(&table, &kept.partition(), "least-loss", &[Criterion::KAnonymity { k: 4 }]);
    assert_eq!(read, expected.with_cells(&table, &kept.partition()));
    let truth = TableTruth { table: &again, class_of: &kept.map };
    assert!(verify_table(&read, &published, Some(truth)).holds);
    let released = fs::read_to_string(out.join("release/data.csv")).unwrap();
    assert!((0..40).all(|i| !released.contains(&format!("P{i}"))));
}
