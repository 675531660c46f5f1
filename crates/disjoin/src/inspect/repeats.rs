//! Rows that are the same in everything: a sign of several rows a person.
//!
//! Promises:   nothing is said where chance makes as many: short records, tables of few columns
//! Departs:    columns are taken to be independent, which they are not. So much more must be found than that predicts
//! Cost:       one hash a row, sorted
//! Checked by: tests in this file

use std::hash::BuildHasher;

use crate::data::{Dataset, Evidence, Table};

/// Records of sets with fewer terms are often the same by chance.
const LONG_RECORD: usize = 8;

/// Records that are long and the same, of sets.
pub fn same_records(data: &Dataset) -> Option<Evidence> {
    let mut long: Vec<&[u32]> = data.records.iter().filter(|record| record.len() >= LONG_RECORD).collect();
    let n = long.len();
    long.sort_unstable();
    long.dedup();
    let duplicates = (n - long.len()) as u64;
    // One in ten of them is far more than chance makes of records so long.
    let rows = n as u64;
    (duplicates >= 10 && 10 * duplicates >= rows).then_some(Evidence::Duplicates { duplicates, rows })
}

/// Rows of a table that are the same in all columns, if chance hardly makes them so.
pub fn same_rows(table: &Table) -> Option<Evidence> {
    let n = table.n_rows();
    if n < 2 || table.columns.is_empty() {
        return None;
    }
    // How likely two rows agree, if columns were independent.
    let mut chance = 1.0;
    for column in &table.columns {
        let mut counts = vec![0_u64; column.domain.n_codes()];
        column.codes.iter().for_each(|&code| counts[code as usize] += 1);
        chance *= counts.iter().map(|&count| (count as f64 / n as f64).powi(2)).sum::<f64>();
    }
    let expected = chance * n as f64 * n as f64 / 2.0;
    // Columns depend on each other: only where independence makes next to none are duplicates a sign of anything.
    if expected > 0.01 * n as f64 {
        return None;
    }
    let hasher = foldhash::fast::FixedState::default();
    let set = |row: usize| table.sets.as_ref().and_then(|s| s.of_row[row].map(|record| s.records.record(record)));
    let hash = |row: usize| {
        let codes: Vec<u32> = table.columns.iter().map(|column| column.codes[row]).collect();
        hasher.hash_one((codes, set(row)))
    };
    let mut hashes: Vec<u64> = (0..n).map(hash).collect();
    hashes.sort_unstable();
    hashes.dedup();
    let (duplicates, rows) = ((n - hashes.len()) as u64, n as u64);
    let is_many = duplicates >= 10 && 100 * duplicates >= rows && duplicates as f64 >= 100.0 * expected;
    is_many.then_some(Evidence::Duplicates { duplicates, rows })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::table::{Column, Role};

    fn table(n: u32, copies: u32) -> Table {
        let mixed = |row: u32, by: u32| (row / copies).wrapping_mul(2_654_435_761 ^ by) >> 8;
        let column = |at: u32| {
            let texts: Vec<String> = (0..n).map(|row| format!("v{}", mixed(row, at * 77) % 9)).collect();
            Column::words(&format!("c{at}"), Role::Quasi, texts.iter().map(|text| Some(text.as_str())))
        };
        Table::new(n as usize, (0..8).map(column).collect(), None)
    }

    #[test]
    fn copies_are_told_and_chance_is_not() {
        assert_eq!(same_rows(&table(1000, 1)), None);
        assert_eq!(same_rows(&table(1000, 2)), Some(Evidence::Duplicates { duplicates: 500, rows: 1000 }));
        let narrow = Table::new(1000, table(1000, 2).columns[..2].to_vec(), None);
        assert_eq!(same_rows(&narrow), None);
        let long = |row: usize| (0..10).map(|i| format!("t{}", (row * 7 + i * i) % 97)).collect::<Vec<_>>();
        assert_eq!(same_records(&Dataset::from_texts((0..90).map(long))), None);
        let twice = Dataset::from_texts((0..90).map(|row| long(row / 2)));
        assert_eq!(same_records(&twice), Some(Evidence::Duplicates { duplicates: 45, rows: 90 }));
        assert_eq!(same_records(&Dataset::from_texts((0..90).map(|_| ["a", "b"]))), None);
    }
}
