//! What a class of rows shows of a column: one cell that covers all its values, and what that costs.
//!
//! Promises:   a cell covers every value that it was made for, and is the smallest of its kind that does
//! Departs:    a missing value among numbers, or under a hierarchy, has no range or label in common with others: the cell
//!             is then `*`, at a loss of 1. Among words without a hierarchy it is a value like the others
//! Cost:       one pass over the values
//! Checked by: tests in this file
//!
//! Loss is the normalised certainty penalty (NCP) of a cell, in `[0, 1]`: (max - min) / range for numbers; for words
//! 0 if there is one value, else the share of all values that the cell stands for.

use super::table::Domain;
use super::{Hierarchy, NodeId};

/// What is published of a column for all rows of a class.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cell {
    /// No row has a value.
    Missing,
    /// All rows have this value.
    Value(u32),
    /// Numbers from the first to the last.
    Range(u32, u32),
    /// Words, sorted by code; at least two, and not all. The code after the last value stands for missing ones.
    Set(Vec<u32>),
    /// A label of the hierarchy, above at least two values.
    Node(NodeId),
    /// Anything, also nothing.
    Any,
}

impl Cell {
    /// The smallest cell for the codes of some rows; no code at all is like all missing.
    pub fn cover(domain: &Domain, codes: impl IntoIterator<Item = u32>) -> Cell {
        match (domain.hierarchy(), domain.numbers()) {
            (None, None) => Self::set(domain, codes.into_iter().collect()),
            (hierarchy, _) => {
                let (mut first, mut last, mut with_value, mut with_missing) = (u32::MAX, 0, false, false);
                let mut node = None;
                for code in codes {
                    if code == domain.missing() {
                        with_missing = true;
                        continue;
                    }
                    node = match (hierarchy, with_value) {
                        (_, false) => Some(code),
                        (Some(hierarchy), true) => node.and_then(|node| hierarchy.lowest_common(node, code)),
                        (None, true) => node,
                    };
                    (first, last, with_value) = (first.min(code), last.max(code), true);
                }
                match (with_value, with_missing, hierarchy.is_some(), node) {
                    (false, ..) => Cell::Missing,
                    (true, true, ..) | (_, _, true, None) => Cell::Any,
                    _ if first == last => Cell::Value(first),
                    (_, _, true, Some(node)) => Cell::Node(node),
                    (_, _, false, _) => Cell::Range(first, last),
                }
            }
        }
    }

    /// The cell for a set of words, which may include the code of missing ones.
    pub fn set(domain: &Domain, mut codes: Vec<u32>) -> Cell {
        codes.sort_unstable();
        codes.dedup();
        match codes[..] {
            [] => Cell::Missing,
            [only] if only == domain.missing() => Cell::Missing,
            [only] => Cell::Value(only),
            _ if codes.len() == domain.n_values() + usize::from(domain.has_missing()) => Cell::Any,
            _ => Cell::Set(codes),
        }
    }

    /// Whether a code is among those that the cell stands for.
    pub fn covers(&self, domain: &Domain, code: u32) -> bool {
        let is_value = code < domain.missing();
        match self {
            Cell::Missing => !is_value,
            Cell::Value(value) => *value == code,
            Cell::Range(first, last) => is_value && (*first..=*last).contains(&code),
            Cell::Set(codes) => codes.binary_search(&code).is_ok(),
            Cell::Node(node) => is_value && domain.hierarchy().is_some_and(|h| h.is_ancestor(*node, code)),
            Cell::Any => true,
        }
    }

    /// The normalised certainty penalty: 0 for one value, 1 for anything.
    pub fn loss(&self, domain: &Domain) -> f64 {
        match self {
            Cell::Missing | Cell::Value(_) => 0.0,
            Cell::Range(first, last) => domain.span(*first, *last),
            Cell::Set(codes) => codes.len() as f64 / (domain.n_values() + usize::from(domain.has_missing())) as f64,
            Cell::Node(node) => domain.hierarchy().map_or(1.0, |hierarchy| node_loss(domain, hierarchy, *node)),
            Cell::Any => 1.0,
        }
    }

    /// The cell as it is published: `a`, `20..29`, `{a|b}`, a label, `*`, or nothing for missing values.
    pub fn text(&self, domain: &Domain) -> String {
        match self {
            Cell::Missing => String::new(),
            Cell::Value(value) => domain.text(*value).to_owned(),
            Cell::Range(first, last) => format!("{}..{}", domain.text(*first), domain.text(*last)),
            Cell::Set(codes) => {
                format!("{{{}}}", codes.iter().map(|&code| domain.text(code)).collect::<Vec<_>>().join("|"))
            }
            Cell::Node(node) => domain.hierarchy().map_or("*", |h| h.text(*node, domain.texts())).to_owned(),
            Cell::Any => String::from("*"),
        }
    }
}

/// The penalty of a label: by range for numbers, by the share of values for words.
pub fn node_loss(domain: &Domain, hierarchy: &Hierarchy, node: NodeId) -> f64 {
    if domain.numbers().is_none() {
        let below = hierarchy.leaves_below(node);
        return if below <= 1 { 0.0 } else { f64::from(below) / domain.n_values() as f64 };
    }
    let mut below = (0..domain.missing()).filter(|&code| code == node || hierarchy.is_ancestor(node, code));
    let Some(first) = below.next() else { return 0.0 };
    domain.span(first, below.next_back().unwrap_or(first))
}

#[cfg(test)]
mod tests {
    use super::super::table::{Column, Role};
    use super::*;

    fn words(texts: &[&'static str]) -> Domain {
        Column::words("w", Role::Quasi, texts.iter().map(|text| Some(*text))).domain
    }

    #[test]
    fn cells_are_the_smallest_of_their_kind() {
        let numbers = Column::numbers("n", Role::Quasi, [Some(10.0), Some(20.0), Some(60.0), None]).domain;
        for (codes, text, loss) in [
            (vec![1, 1], "20", 0.0),
            (vec![1, 0], "10..20", 0.2),
            (vec![0, 2], "10..60", 1.0),
            (vec![3, 3], "", 0.0),
            (vec![0, 3], "*", 1.0),
            (vec![], "", 0.0),
        ] {
            let cell = Cell::cover(&numbers, codes.iter().copied());
            assert_eq!((cell.text(&numbers).as_str(), cell.loss(&numbers)), (text, loss));
            assert!(codes.iter().all(|&code| cell.covers(&numbers, code)));
        }
        let words = words(&["a", "b", "c", "d"]);
        for (codes, text, loss) in
            [(vec![2], "c", 0.0), (vec![3, 0, 3], "{a|d}", 0.5), (vec![0, 1, 2, 3], "*", 1.0), (vec![4], "", 0.0)]
        {
            let cell = Cell::cover(&words, codes);
            assert_eq!((cell.text(&words).as_str(), cell.loss(&words)), (text, loss));
        }
    }

    #[test]
    fn labels_stand_for_all_below() {
        let mut domain = words(&["a", "b", "c", "d"]);
        let paths = [("a", ["x", "*"]), ("b", ["x", "*"]), ("c", ["y", "*"]), ("d", ["y", "*"])];
        let hierarchy = Hierarchy::from_paths(domain.texts(), paths).unwrap();
        domain.set_hierarchy(hierarchy);
        for (codes, text, loss) in
            [(vec![0, 1], "x", 0.5), (vec![1, 2], "*", 1.0), (vec![3, 3], "d", 0.0), (vec![0, 4], "*", 1.0)]
        {
            let cell = Cell::cover(&domain, codes.iter().copied());
            assert_eq!((cell.text(&domain).as_str(), cell.loss(&domain)), (text, loss));
            assert!(codes.iter().all(|&code| cell.covers(&domain, code)));
        }
        assert!(!Cell::cover(&domain, [0, 1]).covers(&domain, 2));
    }

    #[test]
    fn labels_of_numbers_cost_their_range() {
        let mut column = Column::numbers("n", Role::Quasi, [17.0, 19.0, 20.0, 37.0].map(Some));
        let paths = [("17", ["0-19"]), ("19", ["0-19"]), ("20", ["20-39"]), ("37", ["20-39"])];
        let hierarchy = Hierarchy::from_paths(column.domain.texts(), paths).unwrap();
        column.domain.set_hierarchy(hierarchy);
        let cell = Cell::cover(&column.domain, [0, 1]);
        assert_eq!((cell.text(&column.domain).as_str(), cell.loss(&column.domain)), ("0-19", 0.1));
        assert_eq!(Cell::cover(&column.domain, [1, 2]), Cell::Any);
    }
}
