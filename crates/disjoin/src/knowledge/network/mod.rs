//! Bayesian networks: which columns of a table depend on which, how strongly, and what follows for one from others.
//!
//! [`ics`], [`pc_stable`] and [`hill_climb`] find a [`Network`] for [`Coded`] columns. [`cpt`] fills it with
//! probabilities, [`infer`] asks it, [`sample`] draws rows from it. Underneath, [`counts`] counts, [`score`] scores a node
//! with its parents, [`independence`] decides whether two columns are independent, and [`orient`] turns edges into arrows.
//!
//! Promises:   a [`Network`] has no directed cycle. The same input gives the same network, for any number of threads
//! Cost:       columns are kept as distinct rows with their numbers: most tables of people have many equal rows
//! Checked by: tests in this file; tests/it/network.rs

pub mod counts;
pub mod cpt;
mod gamma;
pub mod hill_climb;
pub mod ics;
pub mod independence;
pub mod infer;
pub mod orient;
pub mod pc_stable;
pub mod sample;
pub mod score;

use serde::Serialize;

pub use self::cpt::{Cpt, Fitted, Risk};
pub use self::orient::Learned;
pub use self::score::Score;
use crate::data::Table;
use crate::error::{Error, Result};

/// For each node its parents: an acyclic directed graph.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Network {
    parents: Vec<Vec<usize>>,
}

impl Network {
    /// A network from each node's parents, in any order.
    pub fn new(mut parents: Vec<Vec<usize>>) -> Result<Self> {
        let n = parents.len();
        for (node, parents) in parents.iter_mut().enumerate() {
            parents.sort_unstable();
            parents.dedup();
            if parents.iter().any(|&parent| parent >= n || parent == node) {
                let hint = "parents are numbers of other nodes, from 0";
                return Err(Error::recipe("network", format!("node {node} has a parent that it cannot have"), hint));
            }
        }
        let network = Network { parents };
        match network.order().len() == n {
            true => Ok(network),
            false => Err(Error::recipe("network", "some arrows form a cycle", "leave one of them out")),
        }
    }

    /// Nodes without arrows.
    pub fn empty(n_nodes: usize) -> Self {
        Network { parents: vec![Vec::new(); n_nodes] }
    }

    /// The number of nodes.
    pub fn n_nodes(&self) -> usize {
        self.parents.len()
    }

    /// The parents of a node, ascending.
    pub fn parents(&self, node: usize) -> &[usize] {
        &self.parents[node]
    }

    /// All arrows as (parent, child), by child, then by parent.
    pub fn edges(&self) -> Vec<(usize, usize)> {
        let of_child = |(child, parents): (usize, &Vec<usize>)| -> Vec<(usize, usize)> {
            parents.iter().map(|&parent| (parent, child)).collect()
        };
        self.parents.iter().enumerate().flat_map(of_child).collect()
    }

    /// The arrows without their directions, each with the lower node first, ascending.
    pub fn skeleton(&self) -> Vec<(usize, usize)> {
        let mut edges: Vec<_> = self.edges().into_iter().map(|(a, b)| (a.min(b), a.max(b))).collect();
        edges.sort_unstable();
        edges
    }

    /// All nodes, parents before children; of those that could come next, the lowest comes.
    pub fn order(&self) -> Vec<usize> {
        let mut waits_for: Vec<usize> = self.parents.iter().map(Vec::len).collect();
        let mut children = vec![Vec::new(); self.n_nodes()];
        self.edges().into_iter().for_each(|(parent, child)| children[parent].push(child));
        let free = |waits_for: &[usize]| (0..waits_for.len()).filter(|&node| waits_for[node] == 0).collect();
        let mut ready: std::collections::BTreeSet<usize> = free(&waits_for);
        let mut order = Vec::with_capacity(self.n_nodes());
        while let Some(node) = ready.pop_first() {
            order.push(node);
            for &child in &children[node] {
                waits_for[child] -= 1;
                if waits_for[child] == 0 {
                    ready.insert(child);
                }
            }
        }
        order
    }

    /// Adds an arrow unless that closed a cycle; tells whether it did not.
    pub(super) fn try_add(&mut self, parent: usize, child: usize) -> bool {
        if parent == child || self.is_above(child, parent) {
            return false;
        }
        if let Err(place) = self.parents[child].binary_search(&parent) {
            self.parents[child].insert(place, parent);
        }
        true
    }

    /// Whether arrows lead from `upper` to `lower`.
    fn is_above(&self, upper: usize, lower: usize) -> bool {
        let mut seen = vec![false; self.n_nodes()];
        let mut todo = vec![lower];
        while let Some(node) = todo.pop() {
            for &parent in &self.parents[node] {
                if parent == upper {
                    return true;
                }
                if !std::mem::replace(&mut seen[parent], true) {
                    todo.push(parent);
                }
            }
        }
        false
    }
}

/// What becomes of a row that lacks a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// It does not count, if a chosen column lacks a value.
    DropRow,
    /// That there is none is a value as any other.
    OwnValue,
}

/// Columns of small whole numbers; equal rows are kept once, with their number.
#[derive(Debug, Clone)]
pub struct Coded {
    /// The codes of each column in the distinct rows, which are in lexicographic order.
    columns: Vec<Vec<u32>>,
    /// How many rows each distinct row stands for.
    weights: Vec<u32>,
    sizes: Vec<u32>,
    n_rows: u32,
}

impl Coded {
    /// Columns of equal length, and for each how many values there may be; codes are below that.
    pub fn new(columns: &[&[u32]], sizes: &[u32]) -> Result<Self> {
        let n_rows = columns.first().map_or(0, |column| column.len());
        let fits = |(column, &size): (&&[u32], &u32)| column.iter().all(|&code| code < size);
        let are_even = columns.iter().all(|column| column.len() == n_rows) && columns.len() == sizes.len();
        if !are_even || !columns.iter().zip(sizes).all(fits) {
            let hint = "columns have as many codes as each other, and codes are below the size of their column";
            return Err(Error::recipe("columns", "are not coded as they should be", hint));
        }
        let Ok(n_rows) = u32::try_from(n_rows) else {
            return Err(Error::recipe("columns", "have more rows than can be counted", "take a sample"));
        };
        let keys = counts::keys(n_rows as usize, columns.iter().zip(sizes).map(|(column, &size)| (*column, size)));
        let mut order: Vec<(u64, u32)> = keys.into_iter().zip(0..).collect();
        order.sort_unstable();
        let (mut rows, mut weights) = (Vec::new(), Vec::new());
        for equal in order.chunk_by(|a, b| a.0 == b.0) {
            rows.push(equal[0].1 as usize);
            weights.push(equal.len() as u32);
        }
        let columns = columns.iter().map(|column| rows.iter().map(|&row| column[row]).collect()).collect();
        Ok(Coded { columns, weights, sizes: sizes.to_vec(), n_rows })
    }

    /// Some columns of a table, by their places in [`Table::columns`].
    pub fn from_table(table: &Table, columns: &[usize], missing: Missing) -> Result<Self> {
        if columns.iter().any(|&column| column >= table.columns.len()) {
            return Err(Error::recipe(
                "columns",
                "there are not so many",
                "count from 0, without identifiers and sets",
            ));
        }
        let chosen: Vec<_> = columns.iter().map(|&column| &table.columns[column]).collect();
        let drops = missing == Missing::DropRow && chosen.iter().any(|column| column.domain.has_missing());
        let size = |column: &&crate::data::table::Column| match column.domain.has_missing() && !drops {
            true => column.domain.n_codes() as u32,
            false => column.domain.n_values() as u32,
        };
        let sizes: Vec<u32> = chosen.iter().map(size).collect();
        if !drops {
            let columns: Vec<&[u32]> = chosen.iter().map(|column| column.codes.as_slice()).collect();
            return Self::new(&columns, &sizes);
        }
        let is_whole = |&row: &usize| chosen.iter().all(|column| column.codes[row] < column.domain.missing());
        let rows: Vec<usize> = (0..table.n_rows()).filter(is_whole).collect();
        let kept: Vec<Vec<u32>> =
            chosen.iter().map(|column| rows.iter().map(|&row| column.codes[row]).collect()).collect();
        Self::new(&kept.iter().map(Vec::as_slice).collect::<Vec<_>>(), &sizes)
    }

    /// Some of the columns, in any order; rows that are then equal become one.
    pub fn select(&self, columns: &[usize]) -> Result<Self> {
        if columns.iter().any(|&column| column >= self.n_columns()) {
            return Err(Error::recipe("columns", "there are not so many", "columns are numbers from 0"));
        }
        let chosen = columns.iter().map(|&column| (self.columns[column].as_slice(), self.sizes[column]));
        let mut order: Vec<(u64, u32)> = counts::keys(self.weights.len(), chosen).into_iter().zip(0..).collect();
        order.sort_unstable();
        let (mut rows, mut weights) = (Vec::new(), Vec::new());
        for equal in order.chunk_by(|a, b| a.0 == b.0) {
            rows.push(equal[0].1 as usize);
            weights.push(equal.iter().map(|&(_, row)| self.weights[row as usize]).sum());
        }
        let sizes = columns.iter().map(|&column| self.sizes[column]).collect();
        let codes = |&column: &usize| rows.iter().map(|&row| self.columns[column][row]).collect();
        Ok(Coded { columns: columns.iter().map(codes).collect(), weights, sizes, n_rows: self.n_rows })
    }

    /// A part of the rows: for each distinct row how many are in it, at most as many as there are.
    pub fn part(&self, weights: &[u32]) -> Result<Self> {
        let is_part = weights.len() == self.weights.len() && weights.iter().zip(&self.weights).all(|(a, b)| a <= b);
        if !is_part {
            return Err(Error::recipe("weights", "are not those of a part", "one number for each distinct row"));
        }
        let rows: Vec<usize> = (0..weights.len()).filter(|&row| weights[row] > 0).collect();
        let of = |all: &[u32]| -> Vec<u32> { rows.iter().map(|&row| all[row]).collect() };
        Ok(Coded {
            columns: self.columns.iter().map(|column| of(column)).collect(),
            weights: of(weights),
            sizes: self.sizes.clone(),
            n_rows: weights.iter().sum(),
        })
    }

    /// The number of columns.
    pub fn n_columns(&self) -> usize {
        self.columns.len()
    }

    /// The number of rows.
    pub fn n_rows(&self) -> u32 {
        self.n_rows
    }

    /// How many values a column may have.
    pub fn size(&self, column: usize) -> u32 {
        self.sizes[column]
    }

    /// For each column how many values it may have.
    pub fn sizes(&self) -> &[u32] {
        &self.sizes
    }

    /// The codes of a column in the distinct rows.
    pub fn column(&self, column: usize) -> &[u32] {
        &self.columns[column]
    }

    /// How many rows each distinct row stands for.
    pub fn weights(&self) -> &[u32] {
        &self.weights
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::table::{Column, Role};

    #[test]
    fn cycles_are_refused() {
        assert!(Network::new(vec![vec![1], vec![2], vec![0]]).is_err());
        assert!(Network::new(vec![vec![0]]).is_err());
        assert!(Network::new(vec![vec![7]]).is_err());
        let network = Network::new(vec![vec![2, 1, 1], vec![2], vec![]]).unwrap();
        assert_eq!(network.edges(), [(1, 0), (2, 0), (2, 1)]);
        assert_eq!((network.order(), network.skeleton()), (vec![2, 1, 0], vec![(0, 1), (0, 2), (1, 2)]));
    }

    #[test]
    fn equal_rows_are_one_and_rows_without_a_value_go_or_stay() {
        let words = Column::words("w", Role::Other, [Some("b"), None, Some("a"), Some("b"), Some("b")]);
        let others = Column::words("o", Role::Other, [Some("x"); 5]);
        let table = Table::new(5, vec![words, others], None);
        let dropped = Coded::from_table(&table, &[1, 0], Missing::DropRow).unwrap();
        assert_eq!((dropped.n_rows(), dropped.sizes()), (4, &[1, 2][..]));
        assert_eq!((dropped.column(1), dropped.weights()), (&[0, 1][..], &[1, 3][..]));
        let kept = Coded::from_table(&table, &[0], Missing::OwnValue).unwrap();
        assert_eq!((kept.n_rows(), kept.size(0), kept.weights()), (5, 3, &[1, 3, 1][..]));
        assert!(Coded::from_table(&table, &[2], Missing::OwnValue).is_err());
        let (one, part) = (kept.select(&[0, 0]).unwrap(), kept.part(&[1, 0, 1]).unwrap());
        assert_eq!((one.sizes(), one.column(1), one.weights()), (&[3, 3][..], &[0, 1, 2][..], &[1, 3, 1][..]));
        assert_eq!((part.n_rows(), part.column(0), part.weights()), (2, &[0, 2][..], &[1, 1][..]));
        let all = Coded::from_table(&table, &[0, 1], Missing::OwnValue).unwrap();
        assert_eq!(all.select(&[1]).unwrap().weights(), [5]);
        assert!(all.select(&[2]).is_err() && all.part(&[1]).is_err() && all.part(&[9, 9, 9]).is_err());
        assert!(Coded::new(&[&[0, 1], &[0]], &[2, 1]).is_err() && Coded::new(&[&[2]], &[2]).is_err());
    }
}
