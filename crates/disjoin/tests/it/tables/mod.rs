//! Random tables for tests: numbers and words, hierarchies, missing values, constants, duplicates, skewed sensitive values,
//! and texts that are hard to write and read back.

#![allow(dead_code, clippy::unwrap_used)]

pub(crate) mod rows;

use disjoin::data::table::{Column, Role, Table};
use disjoin::data::{Hierarchy, Partition};
use disjoin::release::split::Split;
use disjoin::verify::SplitBytes;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Words that look like cells, fields or nothing.
pub(crate) const AWKWARD: [&str; 20] = [
    "a",
    "b,c",
    "say \"x\"",
    "\"",
    "p|q",
    "{a|b}",
    "{",
    "}",
    "*",
    "1..2",
    "-7",
    "007",
    " padded ",
    "\ttab",
    "two\nlines",
    "crlf\r\nend",
    "\u{feff}mark",
    "é日本",
    ";",
    "NA",
];

/// Quasi-identifiers, sensitive and other columns in any order, with `n_rows` rows.
pub(crate) fn random_table(rng: &mut ChaCha8Rng, n_rows: usize) -> Table {
    let mut columns = Vec::new();
    for i in 0..rng.random_range(1..4) {
        columns.push(random_column(rng, &format!("q{i}"), Role::Quasi, n_rows));
    }
    for i in 0..rng.random_range(1..3) {
        columns.push(random_column(rng, &format!("s \"{i}\""), Role::Sensitive, n_rows));
    }
    for i in 0..rng.random_range(0..3) {
        columns.push(random_column(rng, &format!("o,{i}"), Role::Other, n_rows));
    }
    for i in (1..columns.len()).rev() {
        columns.swap(i, rng.random_range(0..=i));
    }
    // Some rows are as others in every column.
    for row in 1..n_rows {
        if rng.random_range(0..4) == 0 {
            let from = rng.random_range(0..row);
            columns.iter_mut().for_each(|column| column.codes[row] = column.codes[from]);
        }
    }
    // Domains are those of the values that are left.
    let columns = columns.iter().map(|column| rebuilt(column, 0..n_rows)).collect();
    with_hierarchies(rng, Table::new(n_rows, columns, None))
}

fn random_column(rng: &mut ChaCha8Rng, name: &str, role: Role, n_rows: usize) -> Column {
    let missing = if rng.random_range(0..2) == 0 { 0.0 } else { 0.15 };
    let n_values = rng.random_range(1..9_u32);
    // The minimum of two is skewed towards the first.
    let value = |rng: &mut ChaCha8Rng| {
        let value = rng.random_range(0..n_values).min(rng.random_range(0..n_values));
        (rng.random::<f64>() >= missing).then_some(value)
    };
    match rng.random_range(0..3) {
        0 => Column::numbers(name, role, (0..n_rows).map(|_| value(rng).map(|v| f64::from(v) * 2.5 - 6.0))),
        1 => {
            let texts: Vec<String> = (0..n_values).map(|v| format!("v{v}")).collect();
            Column::words(name, role, (0..n_rows).map(|_| value(rng).map(|v| texts[v as usize].as_str())))
        }
        _ => {
            let first = rng.random_range(0..AWKWARD.len());
            let text = |v: u32| AWKWARD[(first + v as usize) % AWKWARD.len()];
            Column::words(name, role, (0..n_rows).map(|_| value(rng).map(text)))
        }
    }
}

fn with_hierarchies(rng: &mut ChaCha8Rng, mut table: Table) -> Table {
    for column in table.columns.iter_mut().filter(|column| column.role != Role::Other) {
        if rng.random_range(0..3) == 0 {
            let hierarchy = Hierarchy::uniform(column.domain.texts(), rng.random_range(2..4)).unwrap();
            column.domain.set_hierarchy(hierarchy);
        }
    }
    table
}

/// The column of these rows, made from its texts; the hierarchy is carried over if all values are.
pub(crate) fn rebuilt(column: &Column, rows: impl IntoIterator<Item = usize>) -> Column {
    let codes = rows.into_iter().map(|row| column.codes[row]);
    let domain = &column.domain;
    let mut made = match domain.numbers() {
        Some(numbers) => {
            Column::numbers(&column.name, column.role, codes.map(|code| numbers.get(code as usize).copied()))
        }
        None => {
            let text = |code| (code != domain.missing()).then(|| domain.text(code));
            Column::words(&column.name, column.role, codes.map(text))
        }
    };
    if let Some(hierarchy) = domain.hierarchy().filter(|_| made.domain.n_values() == domain.n_values()) {
        made.domain.set_hierarchy(hierarchy.clone());
    }
    made
}

/// Classes of at least `least` rows drawn at random, and some rows in none.
pub(crate) fn random_partition(rng: &mut ChaCha8Rng, n_rows: usize, least: usize) -> Partition {
    let mut rows = shuffled(rng, n_rows);
    let mut partition = Partition::default();
    partition.removed = rows.split_off(n_rows - rng.random_range(0..=n_rows / 8));
    partition.removed.sort_unstable();
    while rows.len() >= 2 * least {
        let class = rows.split_off(rows.len() - rng.random_range(least..=(rows.len() - least).min(2 * least)));
        partition.push(&class);
    }
    partition.push(&rows);
    partition
}

/// The files of a split table, as they are written.
pub(crate) fn bytes_of(split: &Split<'_>) -> SplitBytes {
    let mut bytes = SplitBytes::default();
    split.write_quasi(&mut bytes.quasi).unwrap();
    for column in split.table().sensitive() {
        let mut text = Vec::new();
        split.write_sensitive(column, &mut text).unwrap();
        bytes.sensitive.push(text);
    }
    bytes
}

/// The numbers below `n` in any order.
pub(crate) fn shuffled(rng: &mut ChaCha8Rng, n: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..n as u32).collect();
    for i in (1..n).rev() {
        order.swap(i, rng.random_range(0..=i));
    }
    order
}
