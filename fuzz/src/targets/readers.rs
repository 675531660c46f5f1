//! Files of sets, tables and hierarchies: what can be read keeps its invariants, and is read again as the same when it was written.

use std::path::Path;

use disjoin::data::table::Role;
use disjoin::data::{Dataset, Hierarchy};
use disjoin::read::rows::{Declared, table_bytes};
use disjoin::read::{self, Format, HierarchyStyle, Options, parse_hierarchy, parse_hierarchy_terms, write_hierarchy};
use disjoin::release::Generalized;

use crate::build::TERMS;
use crate::draw::Draw;
use crate::mutate::raw;
use crate::verbs::fine;

pub(super) fn basket(bytes: &[u8]) -> bool {
    sets(bytes, Some(Format::Basket))
}

pub(super) fn spmf(bytes: &[u8]) -> bool {
    sets(bytes, Some(Format::Spmf))
}

pub(super) fn long(bytes: &[u8]) -> bool {
    sets(bytes, Some(Format::Long))
}

pub(super) fn table(bytes: &[u8]) -> bool {
    sets(bytes, Some(Format::Table))
}

pub(super) fn json_lines(bytes: &[u8]) -> bool {
    sets(bytes, Some(Format::JsonLines))
}

pub(super) fn parquet(bytes: &[u8]) -> bool {
    sets(bytes, Some(Format::Parquet))
}

pub(super) fn recognised(bytes: &[u8]) -> bool {
    sets(bytes, None)
}

/// A Parquet file of ours, with a byte or two that are wrong in a third of the cases.
pub(super) fn parquet_built(bytes: &[u8]) -> bool {
    let mut draw = Draw::new(bytes);
    let n = draw.number(1, 12);
    let mut record = |_| {
        let mut record = draw.some(&TERMS, 60);
        record.push("z");
        record
    };
    let records: Vec<Vec<&str>> = (0..n).map(&mut record).collect();
    let data = Dataset::from_texts(records);
    let mut file = Vec::new();
    read::write(&data, Format::Parquet, Path::new("x"), &mut file).expect("Parquet can hold every term");
    if draw.chance(80) {
        let mut rng = draw.rng();
        file = raw(&file, &[], &mut rng);
    }
    sets(&file, Some(Format::Parquet))
}

fn sets(bytes: &[u8], format: Option<Format>) -> bool {
    let mut reached = false;
    for column in [None, Some(String::from("x"))] {
        let options = Options { format, column, ..Options::default() };
        let Some((data, intake)) = fine(read::read_bytes("x", bytes, &options)) else { continue };
        reached = true;
        assert_eq!(intake.records as usize, data.records.len());
        assert!(!data.records.is_empty());
        assert!(data.records.iter().all(|record| record.is_sorted_by(|a, b| a < b) && !record.is_empty()));
        assert!(data.records.all_terms().iter().all(|&term| (term as usize) < data.n_terms()));
        let mut again = Vec::new();
        read::write(&data, Format::JsonLines, Path::new("x"), &mut again).expect("JSON can hold every term");
        let json = Options { format: Some(Format::JsonLines), ..Options::default() };
        let (read_again, _) = read::read_bytes("x", &again, &json).expect("what was written is read");
        assert_eq!(texts(&data), texts(&read_again));
    }
    reached
}

fn texts(data: &Dataset) -> Vec<Vec<String>> {
    let sorted = |record: &[u32]| {
        let mut terms: Vec<String> = record.iter().map(|&term| data.dictionary.text(term).to_owned()).collect();
        terms.sort();
        terms
    };
    data.records.iter().map(sorted).collect()
}

/// A table of people: as it is and with roles by name.
pub(super) fn people(bytes: &[u8]) -> bool {
    let roles = [("age", Role::Quasi), ("sex", Role::Quasi), ("ill", Role::Sensitive), ("items", Role::Set)];
    let roles = roles.map(|(name, role)| (name.to_owned(), role)).to_vec();
    let declared = |numeric: &[&str]| Declared {
        roles: roles.clone(),
        rest: Some(Role::Other),
        numeric: numeric.iter().map(|&name| name.to_owned()).collect(),
        missing: vec![String::from("?")],
        ..Declared::default()
    };
    let detected = Declared { detect: true, ..declared(&[]) };
    let dated = Declared { dates: vec!["age".to_owned()], prefixes: vec!["sex".to_owned()], ..declared(&[]) };
    let mut reached = false;
    for declared in [declared(&[]), declared(&["age"]), detected, dated] {
        let Some((table, _)) = fine(table_bytes("x", bytes, &Options::default(), &declared)) else { continue };
        reached = true;
        assert!(table.columns.iter().all(|column| column.codes.len() == table.n_rows()));
        let is_known = |column: &disjoin::data::table::Column| {
            column.codes.iter().all(|&code| (code as usize) < column.domain.n_codes())
        };
        assert!(table.columns.iter().all(is_known));
        let mut one = disjoin::data::Partition::default();
        one.push(&(0..table.n_rows() as u32).collect::<Vec<_>>());
        Generalized::new(&table, &one).write(&mut Vec::new()).expect("memory can be written to");
    }
    reached
}

/// A hierarchy over the terms that it has; written for both tools it is the same tree.
pub(super) fn hierarchy(bytes: &[u8]) -> bool {
    let Some(terms) = fine(parse_hierarchy_terms("x", bytes)) else { return false };
    let Some(tree) = fine(parse_hierarchy("x", bytes, &terms)) else { return false };
    assert_eq!(tree.n_terms(), terms.len());
    // Whose file it is shows in its first line: if a quoted name breaks it, " has " in that name leads astray.
    if (0..tree.n_nodes() as u32).any(|node| tree.text(node, &terms).contains(['\n', '\r'])) {
        return true;
    }
    let sizes = |tree: &Hierarchy| -> Vec<Vec<u32>> {
        let of_term = |term| tree.ancestors(term).map(|node| tree.leaves_below(node)).collect();
        (0..terms.len() as u32).map(of_term).collect()
    };
    for style in [HierarchyStyle::Arx, HierarchyStyle::Amnesia] {
        let mut text = Vec::new();
        // Not everything can be said for Amnesia.
        if write_hierarchy(&tree, &terms, style, Path::new("x"), &mut text).is_ok() && !terms.is_empty() {
            let again = parse_hierarchy("x", &text, &terms).expect("what was written is read");
            assert_eq!((again.n_nodes(), sizes(&again)), (tree.n_nodes(), sizes(&tree)));
        }
    }
    true
}
