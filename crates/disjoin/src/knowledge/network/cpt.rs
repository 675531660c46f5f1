//! Conditional probability tables: how likely each value of a node is, given its parents' values.
//!
//! ```text
//! P(x = v | parents = j) = (n_jv + a) / (N_j + a r);   1/r for configurations j that do not occur, if a = 0
//! ```
//!
//! Paper:      nadimpalli2014, Definition 2 and tables III, IV, VI, VII, VIII; risk levels: table V
//! Promises:   distributions: no negative share, sums of one
//! Departs:    the paper prints sums where products are meant, and leaves 1 out of the highest level. Its tables III, IV, VI and
//!             VIII have a = 0, its table VII a = 1; which is meant is up to the caller
//! Cost:       memory for the cells that occur; looking one up is logarithmic in the configurations
//! Checked by: tests/it/network.rs: the paper's tables

use serde::Serialize;

use super::counts::count;
use super::{Coded, Network};
use crate::error::{Error, Result};

/// Estimates the tables of all nodes, with `added` (a in the formula) to every count: 0, or 1 for Laplace's rule.
pub fn estimate(data: &Coded, network: &Network, added: f64) -> Result<Fitted> {
    if network.n_nodes() != data.n_columns() {
        return Err(Error::recipe(
            "network",
            "has not as many nodes as there are columns",
            "learn it from the same columns",
        ));
    }
    if data.sizes().contains(&0) {
        return Err(Error::recipe("columns", "one has no value at all", "leave it out"));
    }
    let table = |node| Cpt::estimate(data, node, network.parents(node), added);
    let tables = (0..network.n_nodes()).map(table).collect::<Result<_>>()?;
    Ok(Fitted { network: network.clone(), sizes: data.sizes().to_vec(), tables })
}

/// How risky it is that a value is inferred with some probability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Risk {
    /// Below 0.2.
    Low,
    /// From 0.2, below 0.5.
    Moderate,
    /// From 0.5, below 0.75.
    High,
    /// From 0.75.
    VeryHigh,
}

impl std::fmt::Display for Risk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Risk::Low => "low",
            Risk::Moderate => "moderate",
            Risk::High => "high",
            Risk::VeryHigh => "very high",
        })
    }
}

impl Risk {
    /// The level of a probability.
    pub fn of(probability: f64) -> Self {
        match probability {
            p if p < 0.2 => Risk::Low,
            p if p < 0.5 => Risk::Moderate,
            p if p < 0.75 => Risk::High,
            _ => Risk::VeryHigh,
        }
    }
}

/// The table of one node; only configurations that occur are kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Cpt {
    n_values: u32,
    parents: Vec<usize>,
    /// The parents' codes, configuration by configuration, in lexicographic order.
    codes: Vec<u32>,
    /// Where each configuration's cells begin, and the end.
    starts: Vec<usize>,
    /// (value, weight), only where that is not 0, values ascending.
    cells: Vec<(u32, f64)>,
    /// The sum of each configuration's weights.
    totals: Vec<f64>,
    added: f64,
}

impl Cpt {
    /// The table of a node from counts.
    pub fn estimate(data: &Coded, child: usize, parents: &[usize], added: f64) -> Result<Self> {
        if !(added >= 0.0 && added.is_finite()) {
            return Err(Error::recipe("added", "what is added to counts must not be below 0", "0 or 1"));
        }
        let counts = count(data, child, parents);
        let mut table = Cpt::empty(data.size(child), parents, added);
        for at in 0..counts.len() {
            let cells = counts.cells(at).iter().map(|&(value, count)| (value, f64::from(count)));
            table.push(counts.configuration(at), cells);
        }
        Ok(table)
    }

    /// A table that is known: a distribution for each configuration of the parents, in lexicographic order.
    pub fn known(parents: &[usize], parent_sizes: &[u32], rows: &[Vec<f64>]) -> Result<Self> {
        let n_values = rows.first().map_or(0, Vec::len);
        let is_distribution = |row: &Vec<f64>| {
            row.len() == n_values && row.iter().all(|&p| p >= 0.0) && (row.iter().sum::<f64>() - 1.0).abs() < 1e-9
        };
        let n_rows = parent_sizes.iter().try_fold(1_usize, |product, &size| product.checked_mul(size as usize));
        if parents.len() != parent_sizes.len() || n_rows != Some(rows.len()) || !rows.iter().all(is_distribution) {
            let hint = "one row a configuration of the parents, each with a sum of 1";
            return Err(Error::recipe("table", "is not one of distributions", hint));
        }
        let mut table = Cpt::empty(n_values as u32, parents, 0.0);
        let mut codes = vec![0; parents.len()];
        for row in rows {
            table.push(&codes, (0..).zip(row.iter().copied()).filter(|&(_, p)| p > 0.0));
            for (code, &size) in codes.iter_mut().zip(parent_sizes).rev() {
                *code = (*code + 1) % size;
                if *code > 0 {
                    break;
                }
            }
        }
        Ok(table)
    }

    fn empty(n_values: u32, parents: &[usize], added: f64) -> Self {
        let (codes, starts, cells, totals) = (Vec::new(), vec![0], Vec::new(), Vec::new());
        Cpt { n_values, parents: parents.to_vec(), codes, starts, cells, totals, added }
    }

    fn push(&mut self, configuration: &[u32], cells: impl Iterator<Item = (u32, f64)>) {
        let start = self.cells.len();
        self.codes.extend(configuration);
        self.cells.extend(cells);
        self.totals.push(self.cells[start..].iter().map(|(_, weight)| weight).sum());
        self.starts.push(self.cells.len());
    }

    /// The number of values of the node.
    pub fn n_values(&self) -> u32 {
        self.n_values
    }

    /// The node's parents, in the order of the codes of configurations.
    pub fn parents(&self) -> &[usize] {
        &self.parents
    }

    /// The number of configurations that occur.
    pub fn len(&self) -> usize {
        self.totals.len()
    }

    /// Whether none does.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The parents' codes in a configuration that occurs, by number.
    pub fn configuration(&self, at: usize) -> &[u32] {
        &self.codes[at * self.parents.len()..(at + 1) * self.parents.len()]
    }

    /// The number of rows with a configuration; 1 in tables that are known.
    pub fn support(&self, at: usize) -> f64 {
        self.totals[at]
    }

    /// The values that occur with a configuration, each with its number of rows.
    pub fn cells(&self, at: usize) -> &[(u32, f64)] {
        &self.cells[self.starts[at]..self.starts[at + 1]]
    }

    /// The distribution of the node's values in a configuration that occurs, by number.
    pub fn row(&self, at: usize) -> Vec<f64> {
        let whole = self.totals[at] + self.added * f64::from(self.n_values);
        let mut row = vec![self.added / whole; self.n_values as usize];
        self.cells(at).iter().for_each(|&(value, weight)| row[value as usize] = (weight + self.added) / whole);
        row
    }

    /// The number of a configuration, if it occurs.
    pub fn find(&self, configuration: &[u32]) -> Option<usize> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            match self.configuration(middle).cmp(configuration) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// The distribution of the node's values in any configuration: uniform if it does not occur.
    pub fn distribution(&self, configuration: &[u32]) -> Vec<f64> {
        let uniform = || vec![1.0 / f64::from(self.n_values); self.n_values as usize];
        self.find(configuration).map_or_else(uniform, |at| self.row(at))
    }

    /// The probability of one value in any configuration.
    pub fn probability(&self, configuration: &[u32], value: u32) -> f64 {
        let Some(at) = self.find(configuration) else { return 1.0 / f64::from(self.n_values) };
        let cells = self.cells(at);
        let weight = cells.binary_search_by_key(&value, |cell| cell.0).map_or(0.0, |place| cells[place].1);
        (weight + self.added) / (self.totals[at] + self.added * f64::from(self.n_values))
    }

    /// The value below which a share `quantile` of the distribution lies.
    pub(super) fn draw(&self, configuration: &[u32], quantile: f64) -> u32 {
        let Some(at) = self.find(configuration) else {
            return ((quantile * f64::from(self.n_values)) as u32).min(self.n_values.saturating_sub(1));
        };
        let mut left = quantile * (self.totals[at] + self.added * f64::from(self.n_values));
        if self.added == 0.0 {
            let cells = self.cells(at);
            for &(value, weight) in cells {
                left -= weight;
                if left < 0.0 {
                    return value;
                }
            }
            // Rounding: the last that can be.
            return cells.last().map_or(0, |&(value, _)| value);
        }
        let mut cells = self.cells(at).iter().peekable();
        for value in 0..self.n_values {
            left -= self.added + cells.next_if(|cell| cell.0 == value).map_or(0.0, |cell| cell.1);
            if left < 0.0 {
                return value;
            }
        }
        self.n_values.saturating_sub(1)
    }
}

/// A network with the tables of all its nodes: a distribution of rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    network: Network,
    sizes: Vec<u32>,
    tables: Vec<Cpt>,
}

impl Fitted {
    /// A network from the tables of its nodes, whose parents are in ascending order.
    pub fn new(tables: Vec<Cpt>) -> Result<Self> {
        let network = Network::new(tables.iter().map(|table| table.parents.clone()).collect())?;
        let sizes: Vec<u32> = tables.iter().map(|table| table.n_values).collect();
        let fits = |table: &Cpt| {
            let in_order = table.parents.is_sorted_by(|a, b| a < b);
            let below = |at: usize| {
                table.configuration(at).iter().zip(&table.parents).all(|(&code, &parent)| code < sizes[parent])
            };
            in_order && table.n_values > 0 && (0..table.len()).all(below)
        };
        match tables.iter().all(fits) {
            true => Ok(Fitted { network, sizes, tables }),
            false => Err(Error::recipe("table", "does not fit those of its parents", "check orders and sizes")),
        }
    }

    /// The arrows.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The table of a node.
    pub fn table(&self, node: usize) -> &Cpt {
        &self.tables[node]
    }

    /// For each node its number of values.
    pub fn sizes(&self) -> &[u32] {
        &self.sizes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_begin_where_the_paper_says() {
        let levels = [0.0, 0.19, 0.2, 0.49, 0.5, 0.74, 0.75, 1.0].map(Risk::of);
        use Risk::{High, Low, Moderate, VeryHigh};
        assert_eq!(levels, [Low, Low, Moderate, Moderate, High, High, VeryHigh, VeryHigh]);
    }

    #[test]
    fn known_tables_are_distributions() {
        assert!(Cpt::known(&[0], &[2], &[vec![0.5, 0.5], vec![0.2, 0.9]]).is_err());
        assert!(Cpt::known(&[0], &[3], &[vec![1.0], vec![1.0]]).is_err());
        let table = Cpt::known(&[0], &[2], &[vec![0.0, 1.0], vec![0.25, 0.75]]).unwrap();
        assert_eq!((table.distribution(&[0]), table.distribution(&[1])), (vec![0.0, 1.0], vec![0.25, 0.75]));
        assert_eq!([0.0, 0.24, 0.26, 0.999].map(|quantile| table.draw(&[1], quantile)), [0, 0, 1, 1]);
        assert_eq!(table.draw(&[0], 0.0), 1);
    }
}
