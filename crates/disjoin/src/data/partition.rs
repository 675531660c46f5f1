//! Rows in classes: who is published together with whom, and under which cells.
//!
//! Promises:   classes are not empty, and no row is in two of them
//! Checked by: tests in this file

use super::cell::Cell;
use super::table::{Column, Table};

/// Classes of rows, one after the other, and the rows that are in none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Partition {
    rows: Vec<u32>,
    ends: Vec<usize>,
    /// Rows that are not published, ascending.
    pub removed: Vec<u32>,
    /// If every value is recoded by its column's level of generalisation, whatever its class: the level of each
    /// quasi-identifier. Otherwise cells are the smallest that cover a class.
    pub levels: Option<Vec<u32>>,
}

impl Partition {
    /// Adds a class; none if there is no row.
    pub fn push(&mut self, rows: &[u32]) {
        if !rows.is_empty() {
            self.rows.extend_from_slice(rows);
            self.ends.push(self.rows.len());
        }
    }

    /// Classes of rows that follow each other; each ends where the next begins.
    pub fn from_parts(rows: Vec<u32>, ends: Vec<usize>, removed: Vec<u32>) -> Self {
        debug_assert!(ends.last().is_none_or(|&end| end == rows.len()) && ends.is_sorted());
        Partition { rows, ends, removed, levels: None }
    }

    /// The number of classes.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether nothing is published.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The number of rows in classes.
    pub fn n_published(&self) -> usize {
        self.rows.len()
    }

    /// The rows in classes, class by class.
    pub fn published(&self) -> &[u32] {
        &self.rows
    }

    /// The rows of a class.
    pub fn class(&self, class: usize) -> &[u32] {
        let start = class.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.rows[start..self.ends[class]]
    }

    /// All classes, in order.
    pub fn classes(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        (0..self.len()).map(|class| self.class(class))
    }

    /// For each row its class; none if it was removed.
    pub fn class_of(&self, n_rows: usize) -> Vec<Option<u32>> {
        let mut class_of = vec![None; n_rows];
        for (class, rows) in self.classes().enumerate() {
            rows.iter().for_each(|&row| class_of[row as usize] = Some(class as u32));
        }
        class_of
    }

    /// What is published of a quasi-identifier for some rows of one class; `position` is its place among them.
    pub fn cell(&self, column: &Column, position: usize, rows: &[u32]) -> Cell {
        let Some(levels) = &self.levels else {
            return Cell::cover(&column.domain, rows.iter().map(|&row| column.codes[row as usize]));
        };
        rows.first().map_or(Cell::Missing, |&row| at_level(column, column.codes[row as usize], levels[position]))
    }

    /// The cells of all quasi-identifiers for each class: class by class.
    pub fn cells(&self, table: &Table) -> Vec<Vec<Cell>> {
        use rayon::prelude::*;
        let quasi = table.quasi();
        let cells = |class| -> Vec<Cell> {
            quasi.iter().enumerate().map(|(i, column)| self.cell(column, i, self.class(class))).collect()
        };
        (0..self.len()).into_par_iter().map(cells).collect()
    }
}

/// A value climbed so many steps up its column's hierarchy; without a hierarchy one step leads to anything.
pub fn at_level(column: &Column, code: u32, level: u32) -> Cell {
    let domain = &column.domain;
    match (level, code == domain.missing(), domain.hierarchy()) {
        (0, true, _) => Cell::Missing,
        (0, false, _) => Cell::Value(code),
        (_, false, Some(hierarchy)) => match hierarchy.ancestors(code).nth(level as usize - 1) {
            Some(node) if hierarchy.leaves_below(node) > 1 => Cell::Node(node),
            Some(_) => Cell::Value(code),
            None => Cell::Any,
        },
        _ => Cell::Any,
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::Role;
    use super::*;

    #[test]
    fn classes_are_what_was_pushed() {
        let mut partition = Partition { removed: vec![2], ..Partition::default() };
        partition.push(&[3, 1]);
        partition.push(&[]);
        partition.push(&[0]);
        assert_eq!(partition.classes().collect::<Vec<_>>(), [&[3, 1][..], &[0]]);
        assert_eq!(partition.class_of(4), [Some(1), Some(0), None, Some(0)]);
        assert_eq!((partition.len(), partition.n_published()), (2, 3));
    }

    #[test]
    fn levels_count_steps() {
        let column = Column::words("w", Role::Quasi, [Some("a"), Some("b"), None]);
        let cells = [(0, 0), (0, 1), (2, 0), (2, 1)].map(|(code, level)| at_level(&column, code, level));
        assert_eq!(cells, [Cell::Value(0), Cell::Any, Cell::Missing, Cell::Any]);
    }
}
