//! The measures of a table in classes, against the definitions written out slowly: classes and rows are put together and looked at
//! anew, the nearest class is found by trying all, and queries are counted row by row and guessed cell by cell. That would catch a
//! union that is computed wrongly from cells, a tie broken the wrong way, and a share of the wrong whole.

use disjoin::data::table::{Column, Domain, Role, Table};
use disjoin::data::{Cell, Hierarchy, Partition};
use disjoin::measure::table::{Asked, Band};
use disjoin::measure::{TableOptions, TableReport, measure_table};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

const NEAR: f64 = 1e-9;

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= NEAR * a.abs().max(1.0)
}

/// A table of one to four quasi-identifiers of all kinds, in classes at random; some rows are removed. Every third is recoded by
/// levels.
fn world(seed: u64) -> (Table, Partition) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let n = rng.random_range(1..=60_usize);
    let d = rng.random_range(1..=4_usize);
    let columns: Vec<Column> = (0..d).map(|i| column(&format!("q{i}"), n, &mut rng)).collect();
    let table = Table::new(n, columns, None);
    let n_classes = rng.random_range(1..=12_u32);
    let removed = [0.0, 0.2, 0.5, 1.0][rng.random_range(0..4)];
    let levels: Option<Vec<u32>> =
        seed.is_multiple_of(3).then(|| table.columns.iter().map(|_| rng.random_range(0..4)).collect());
    let mut partition = Partition::from_parts(Vec::new(), Vec::new(), Vec::new());
    partition.levels = levels;
    let mut groups: Vec<(String, Vec<u32>)> = Vec::new();
    for row in 0..n as u32 {
        if rng.random_bool(removed) {
            partition.removed.push(row);
            continue;
        }
        // With levels a class is what is recoded to the same cells; without, anything goes.
        let key = match &partition.levels {
            Some(_) => {
                format!("{:?}", (0..d).map(|i| partition.cell(&table.columns[i], i, &[row])).collect::<Vec<_>>())
            }
            None => rng.random_range(0..n_classes).to_string(),
        };
        match groups.iter_mut().find(|group| group.0 == key) {
            Some(group) => group.1.push(row),
            None => groups.push((key, vec![row])),
        }
    }
    groups.iter().for_each(|(_, rows)| partition.push(rows));
    (table, partition)
}

fn column(name: &str, n: usize, rng: &mut ChaCha8Rng) -> Column {
    let missing = [0.0, 0.0, 0.15][rng.random_range(0..3)];
    let values = rng.random_range(1..=9_u32);
    let cells: Vec<Option<u32>> =
        (0..n).map(|_| (!rng.random_bool(missing)).then(|| rng.random_range(0..values))).collect();
    let whole = rng.random_range(0..2) == 0;
    let number = |v: u32| if whole { f64::from(v * v) } else { f64::from(v * v) + 0.25 };
    let texts: Vec<Option<String>> = cells.iter().map(|cell| cell.map(|v| format!("w{v}"))).collect();
    let kind = rng.random_range(0..4);
    let mut column = match kind {
        0 | 1 => Column::numbers(name, Role::Quasi, cells.iter().map(|cell| cell.map(number))),
        _ => Column::words(name, Role::Quasi, texts.iter().map(Option::as_deref)),
    };
    if kind % 2 == 1 {
        let texts = column.domain.texts();
        // A balanced tree, or values of which some stand alone.
        let hierarchy = if rng.random_range(0..2) == 0 {
            Hierarchy::uniform(texts, rng.random_range(2..4)).unwrap()
        } else {
            let label = |_| rng.random_range(0..4);
            let labels: Vec<usize> = (0..texts.len()).map(label).collect();
            let names = [&["x", "z"][..], &["y", "z"], &["u"], &[]];
            let paths = texts.iter().zip(labels.iter().map(|&label| names[label].iter().copied()));
            Hierarchy::from_paths(texts, paths).unwrap()
        };
        column.domain.set_hierarchy(hierarchy);
    }
    column
}

/// The cell of a class and perhaps one row more. With levels it covers whatever the class's cell covers.
fn cell_with(table: &Table, partition: &Partition, position: usize, class: &[u32], row: Option<u32>) -> Cell {
    let column = &table.columns[position];
    let (domain, cell) = (&column.domain, partition.cell(column, position, class));
    let code = |row: u32| column.codes[row as usize];
    match row {
        None => cell,
        Some(_) if cell == Cell::Any => cell,
        Some(row) if partition.levels.is_some() => {
            let all = 0..domain.n_codes() as u32;
            Cell::cover(domain, all.filter(|&other| cell.covers(domain, other) || other == code(row)))
        }
        Some(row) => Cell::cover(domain, class.iter().map(|&row| code(row)).chain([code(row)])),
    }
}

/// NCP of a class and perhaps one row more: the sum over columns.
fn ncp(table: &Table, partition: &Partition, class: &[u32], row: Option<u32>) -> f64 {
    let loss = |i: usize| cell_with(table, partition, i, class, row).loss(&table.columns[i].domain);
    (0..table.columns.len()).map(loss).sum()
}

/// NCP(G* u {r}) and NCP(G*) of the class that grows least, of these the smallest, of these the one with the least NCP.
fn nearest(table: &Table, partition: &Partition, row: u32) -> (f64, f64) {
    let tried = partition.classes().map(|class| {
        let (with, own) = (ncp(table, partition, class, Some(row)), ncp(table, partition, class, None));
        // Parts of 1e-9: a difference by rounding is none.
        ((((with - own) * 1e9).round() as i64, class.len(), (own * 1e9).round() as i64), (with, own))
    });
    let d = table.columns.len() as f64;
    tried.min_by_key(|(key, _)| *key).map_or((d, d), |(_, found)| found)
}

fn check(table: &Table, partition: &Partition, report: &TableReport, k: u32) {
    let (n, d) = (table.n_rows() as f64, table.columns.len() as f64);
    let published = partition.published();
    let class_of = partition.class_of(table.n_rows());
    let class = |row: u32| partition.class(class_of[row as usize].unwrap() as usize);
    assert_eq!(
        (report.rows, report.published, report.removed),
        (table.n_rows(), published.len(), partition.removed.len())
    );

    // Row by row, where the definitions sum over classes.
    let lost: f64 = published.iter().map(|&row| ncp(table, partition, class(row), None)).sum();
    for (i, loss) in report.columns.iter().enumerate() {
        let domain = &table.columns[i].domain;
        let one = |&row: &u32| cell_with(table, partition, i, class(row), None).loss(domain);
        assert!(near(loss.ncp, published.iter().map(one).sum::<f64>() / published.len().max(1) as f64));
    }
    match report.gcp {
        Some(gcp) => assert!(near(gcp, lost / (d * published.len() as f64))),
        None => assert!(published.is_empty()),
    }
    let removed = partition.removed.len() as f64;
    assert!(near(report.gcp_all, (lost + d * removed) / (d * n)));
    let (with, own) = partition
        .removed
        .iter()
        .map(|&row| nearest(table, partition, row))
        .fold((0.0, 0.0), |sum, penalty| (sum.0 + penalty.0, sum.1 + penalty.1));
    assert!(near(report.rgcp, (lost + with) / (d * n)), "{} {}", report.rgcp, (lost + with) / (d * n));
    assert!(near(report.rgcp_own, (lost + own) / (d * n)), "{} {}", report.rgcp_own, (lost + own) / (d * n));

    // Each row is confused with its class, or with everybody.
    let confused = |row: usize| class_of[row].map_or(table.n_rows(), |class| partition.class(class as usize).len());
    assert_eq!(report.discernibility, (0..table.n_rows()).map(confused).sum::<usize>() as u64);
    let classes = partition.len();
    assert_eq!(report.average_class, (classes > 0).then(|| n / classes as f64 / f64::from(k)));
    let sizes: Vec<u32> = partition.classes().map(|class| class.len() as u32).collect();
    assert_eq!(report.classes.number, classes);
    for (share, quartile) in [0.25, 0.5, 0.75].into_iter().zip(report.classes.quartiles) {
        let below = |size: u32| sizes.iter().filter(|&&other| other <= size).count() as f64;
        let least = sizes.iter().copied().filter(|&size| below(size) >= share * classes as f64).min();
        assert_eq!(quartile, least.unwrap_or(0));
    }
    assert_eq!(report.classes.most, sizes.iter().copied().max().unwrap_or(0));
    assert_eq!(report.classes.least, sizes.iter().copied().min().unwrap_or(0));
    assert!(near(report.classes.mean * classes as f64, published.len() as f64));
    let bands = &report.classes.bands;
    for Band { from, to, classes, rows } in bands.iter().copied() {
        let inside: Vec<u32> = sizes.iter().copied().filter(|size| (from..=to).contains(size)).collect();
        assert!(from.is_power_of_two() && to == 2 * from - 1);
        assert_eq!((inside.len(), inside.iter().sum::<u32>() as usize), (classes, rows));
        assert!(classes > 0);
    }
    assert_eq!(bands.iter().map(|band| band.classes).sum::<usize>(), classes);
    assert_eq!(report.queries.queries, report.queries.asked.len());
    report.queries.asked.iter().for_each(|asked| check_query(table, partition, asked));
    check_errors(report);
}

fn check_query(table: &Table, partition: &Partition, asked: &Asked) {
    assert_eq!(asked.parts.len(), asked.parts.len().clamp(2, 3).min(table.columns.len()));
    let matches =
        |row: usize| asked.parts.iter().all(|&(i, first, last)| (first..=last).contains(&table.columns[i].codes[row]));
    assert_eq!(asked.truth as usize, (0..table.n_rows()).filter(|&row| matches(row)).count());
    let mut estimate = 0.0;
    for class in partition.classes() {
        let mut expected = class.len() as f64;
        for &(i, first, last) in &asked.parts {
            let domain = &table.columns[i].domain;
            assert!(first <= last && last < domain.missing());
            assert!(domain.numbers().is_some() || first == last);
            expected *= slow_share(domain, &cell_with(table, partition, i, class, None), first, last);
        }
        estimate += expected;
    }
    assert!(near(asked.estimate, estimate), "{asked:?}, not {estimate}");
}

/// The share of a cell that a query is about. Ranges are measured by rule: a thousand points at the middle of equal parts would be
/// nearly the same.
fn slow_share(domain: &Domain, cell: &Cell, first: u32, last: u32) -> f64 {
    let asked = |code: u32| (first..=last).contains(&code);
    if let (Some(numbers), Cell::Range(..) | Cell::Any) = (domain.numbers(), cell) {
        let (from, to) = match cell {
            Cell::Range(from, to) => (numbers[*from as usize], numbers[*to as usize]),
            _ => (numbers[0], numbers[numbers.len() - 1]),
        };
        let (low, high) = (numbers[first as usize], numbers[last as usize]);
        if numbers.iter().all(|number| number.fract() == 0.0) {
            let all: Vec<i64> = (from as i64..=to as i64).collect();
            let inside = all.iter().filter(|&&number| low <= number as f64 && number as f64 <= high).count();
            return inside as f64 / all.len() as f64;
        }
        let length = f64::max(0.0, high.min(to) - low.max(from));
        let touches = low <= to && from <= high;
        return if to > from { length / (to - from) } else { f64::from(u8::from(touches)) };
    }
    // All codes that the cell stands for: a missing value only if there is one.
    let codes = 0..domain.missing() + u32::from(domain.has_missing());
    let covered: Vec<u32> = codes.filter(|&code| cell.covers(domain, code)).collect();
    covered.iter().filter(|&&code| code != domain.missing() && asked(code)).count() as f64 / covered.len() as f64
}

fn check_errors(report: &TableReport) {
    let error = |asked: &Asked| (f64::from(asked.truth) - asked.estimate).abs() / f64::from(asked.truth);
    let errors: Vec<f64> = report.queries.asked.iter().map(error).collect();
    if errors.is_empty() {
        assert_eq!((report.queries.mean, report.queries.median, report.queries.p90), (None, None, None));
        return;
    }
    assert!(near(report.queries.mean.unwrap(), errors.iter().sum::<f64>() / errors.len() as f64));
    for (share, found) in [(0.5, report.queries.median), (0.9, report.queries.p90)] {
        let below = |most: f64| errors.iter().filter(|&&error| error <= most).count() as f64;
        let least = errors.iter().copied().filter(|&error| below(error) >= share * errors.len() as f64);
        assert_eq!(found.unwrap(), least.fold(f64::INFINITY, f64::min));
    }
}

#[test]
fn measures_are_what_their_definitions_say() {
    let removed: usize = (0..3000_u64)
        .into_par_iter()
        .map(|seed| {
            let (table, partition) = world(seed);
            let options = TableOptions { k: 3, queries: 20, least_share: 0.05, seed };
            let report = measure_table(&table, &partition, &options);
            let least = (0.05 * table.n_rows() as f64).ceil() as u32;
            assert!(report.queries.asked.iter().all(|asked| asked.truth >= least));
            check(&table, &partition, &report, 3);
            report.removed
        })
        .sum();
    assert!(removed > 10_000);
}

#[test]
fn small_numbers_by_hand() {
    // Ages 20, 30 | 40, 60 | 22 and 58, of which the last two are removed. The range is 40.
    let age = Column::numbers("age", Role::Quasi, [20.0, 30.0, 40.0, 60.0, 22.0, 58.0].map(Some));
    let sex = Column::words("sex", Role::Quasi, ["f", "f", "f", "m", "m", "f"].map(Some));
    let table = Table::new(6, vec![age, sex], None);
    let partition = Partition::from_parts(vec![0, 1, 2, 3], vec![2, 4], vec![4, 5]);
    let report = measure_table(&table, &partition, &TableOptions { k: 2, ..TableOptions::default() });
    // NCP: 10/40 + 0, and 20/40 + 1.
    assert_eq!(report.columns.iter().map(|column| column.ncp).collect::<Vec<_>>(), [0.375, 0.5]);
    assert_eq!((report.gcp, report.gcp_all), (Some(3.5 / 8.0), 7.5 / 12.0));
    // The man of 22 makes the second class 38/40 + 1, by 0.45 more; the first would grow by 1. The woman of 58 fits the second.
    assert!(near(report.rgcp, (3.5 + 1.95 + 1.5) / 12.0) && near(report.rgcp_own, (3.5 + 1.5 + 1.5) / 12.0));
    assert_eq!((report.discernibility, report.average_class), (4 + 4 + 12, Some(1.5)));
    assert_eq!(report.classes.bands, [Band { from: 2, to: 3, classes: 2, rows: 4 }]);
}

#[test]
fn nothing_removed_makes_all_means_the_same() {
    for seed in 0..200 {
        let (table, mut partition) = world(seed);
        partition.levels = None;
        let removed = std::mem::take(&mut partition.removed);
        partition.push(&removed);
        let report = measure_table(&table, &partition, &TableOptions { queries: 0, ..TableOptions::default() });
        let gcp = report.gcp.unwrap();
        assert!(near(report.gcp_all, gcp) && near(report.rgcp, gcp) && near(report.rgcp_own, gcp));
    }
}

#[test]
fn what_is_published_as_it_is_answers_exactly() {
    let (table, _) = world(7);
    let mut partition = Partition::default();
    (0..table.n_rows() as u32).for_each(|row| partition.push(&[row]));
    let report = measure_table(&table, &partition, &TableOptions { least_share: 0.0, ..TableOptions::default() });
    assert_eq!(report.queries.queries, 1000);
    assert_eq!((report.gcp, report.queries.mean), (Some(0.0), Some(0.0)));
}

#[test]
fn tables_of_nobody_and_of_no_columns_are_measured() {
    let nobody = Table::new(0, vec![Column::numbers("n", Role::Quasi, [])], None);
    let report = measure_table(&nobody, &Partition::default(), &TableOptions::default());
    assert_eq!((report.gcp, report.rgcp, report.queries.queries, report.average_class), (None, 0.0, 0, None));
    let no_columns = Table::new(2, vec![Column::words("s", Role::Sensitive, [Some("a"), None])], None);
    let partition = Partition::from_parts(vec![0], vec![1], vec![1]);
    let report = measure_table(&no_columns, &partition, &TableOptions::default());
    assert_eq!((report.gcp, report.rgcp, report.queries.queries), (Some(0.0), 0.0, 0));
    let none_published = Table::new(3, vec![Column::words("w", Role::Quasi, [Some("a"), None, None])], None);
    let partition = Partition::from_parts(Vec::new(), Vec::new(), vec![0, 1, 2]);
    let report = measure_table(&none_published, &partition, &TableOptions::default());
    assert_eq!((report.gcp, report.gcp_all, report.rgcp, report.rgcp_own), (None, 1.0, 1.0, 1.0));
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let (table, partition) = world(12);
    let with_threads = |n| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
        pool.install(|| measure_table(&table, &partition, &TableOptions::default()))
    };
    assert_eq!(with_threads(1), with_threads(3));
}
