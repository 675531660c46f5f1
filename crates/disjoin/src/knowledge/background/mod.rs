//! What an adversary believes about each row's sensitive value before seeing a release: B(r), by row.
//!
//! The adversary is taken to know how sensitive values go with quasi-identifiers: everything that can be learned from the
//! data itself ([`Estimator::Kernel`], [`Estimator::NaiveBayes`]), or what a file says. Beliefs are about the first
//! sensitive column.
//!
//! Paper:      amiri2016, section 1 (the background knowledge distribution; how it is estimated is not in our copy); kernel
//!             regression as in Li, Li, Zhang 2009, a classifier in the spirit of Riboni, Pareschi, Bettini 2012
//! Promises:   beliefs are distributions: no negative share, sums of one, and above zero for every value that occurs. Rows with
//!             the same quasi-identifiers (and of the same half) have the same. The same seed gives the same
//! Departs:    one hundredth of the overall shares p, which the release tells everybody, is mixed into every belief: losses are
//!             finite. Where nothing is known of a row, all of it is p
//! Cost:       sorting the rows, then that of the estimator; one comparison of two beliefs is linear in the number of values
//! Checked by: tests in this file; tests/it/background.rs

mod file;
mod groups;
mod kernel;
mod metric;
mod naive_bayes;

use std::collections::HashMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use self::groups::Groups;
pub(crate) use self::metric::Metric;
use crate::data::Table;
use crate::error::{Error, Result};

/// The share of the overall distribution in every belief.
const MIXED_IN: f64 = 0.01;

/// What the adversary knows beforehand, and how it is found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Knowledge {
    /// Where beliefs come from.
    pub estimator: Estimator,
    /// For the kernel: how far rows may be apart, in each column and as a share of its range, to tell of each other. Small is a
    /// strong adversary.
    pub bandwidth: f64,
    /// Whether beliefs about one random half of the rows come from the other half. Otherwise they have seen the row that they
    /// are about: right for protection, wrong where they are compared with the truth.
    pub cross_fit: bool,
    /// For the halves.
    pub seed: u64,
}

/// A way to find what is believed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Estimator {
    /// The shares of sensitive values among rows with near quasi-identifiers, nearer ones counting more.
    Kernel,
    /// A naive Bayes classifier.
    NaiveBayes,
    /// A file of one's own: CSV with a header that names some quasi-identifiers, then the sensitive column, then `share`. Lines
    /// with the same quasi-identifiers are one distribution; shares need not sum to one. An empty cell is a missing value.
    File(PathBuf),
}

impl Default for Knowledge {
    fn default() -> Self {
        Knowledge { estimator: Estimator::Kernel, bandwidth: 0.3, cross_fit: false, seed: 0 }
    }
}

/// What is believed of each row of a table.
pub fn beliefs(table: &Table, knowledge: &Knowledge) -> Result<Beliefs> {
    let Some(sensitive) = table.sensitive().first().copied() else {
        let problem = "there is no sensitive column to believe something about";
        return Err(Error::recipe("sensitive", problem, "name the column with --sensitive"));
    };
    if !(knowledge.bandwidth > 0.0 && knowledge.bandwidth.is_finite()) {
        return Err(Error::recipe("bandwidth", "must be above 0", "for example 0.3"));
    }
    let quasi = table.quasi();
    let halves = knowledge.cross_fit.then_some(knowledge.seed);
    let groups = Groups::new(&quasi, sensitive, halves);
    let estimates = match &knowledge.estimator {
        Estimator::Kernel => kernel::estimate(&groups, &quasi, knowledge.bandwidth),
        Estimator::NaiveBayes => naive_bayes::estimate(&groups, &quasi),
        Estimator::File(path) => file::estimate(&groups, &quasi, sensitive, path)?,
    };
    Ok(smooth(&groups, &estimates))
}

/// Mixes in the overall shares, and keeps each distribution once.
fn smooth(groups: &Groups, estimates: &[Option<Vec<f64>>]) -> Beliefs {
    let n: f64 = groups.overall.iter().sum::<f64>().max(1.0);
    let overall: Vec<f64> = groups.overall.iter().map(|count| count / n).collect();
    let mut points: Vec<f64> = Vec::new();
    let mut known: HashMap<Vec<u64>, u32> = HashMap::new();
    let mut point_of = |estimate: &Option<Vec<f64>>| {
        let mixed: Vec<f64> = match estimate {
            Some(shares) => shares.iter().zip(&overall).map(|(b, p)| (1.0 - MIXED_IN) * b + MIXED_IN * p).collect(),
            None => overall.clone(),
        };
        let next = known.len() as u32;
        *known.entry(mixed.iter().map(|share| share.to_bits()).collect()).or_insert_with(|| {
            points.extend(&mixed);
            next
        })
    };
    let of_group: Vec<u32> = estimates.iter().map(&mut point_of).collect();
    let of_row = groups.of_row.iter().map(|&group| of_group[group as usize]).collect();
    Beliefs::new(overall.len(), points, of_row)
}

/// For each row a distribution over the values of one sensitive column; rows with the same are stored once.
#[derive(Debug, Clone, PartialEq)]
pub struct Beliefs {
    n_values: usize,
    /// One distribution after the other.
    points: Vec<f64>,
    of_row: Vec<u32>,
}

impl Beliefs {
    /// Distributions of `n_values` shares, one after the other, and for each row the number of its own.
    pub fn new(n_values: usize, points: Vec<f64>, of_row: Vec<u32>) -> Self {
        Beliefs { n_values, points, of_row }
    }

    /// The number of sensitive values.
    pub fn n_values(&self) -> usize {
        self.n_values
    }

    /// The number of different distributions.
    pub fn n_points(&self) -> usize {
        self.points.len() / self.n_values.max(1)
    }

    /// A distribution by its number.
    pub fn point(&self, point: u32) -> &[f64] {
        &self.points[point as usize * self.n_values..][..self.n_values]
    }

    /// The number of the distribution of a row.
    pub fn point_of(&self, row: u32) -> u32 {
        self.of_row[row as usize]
    }

    /// What is believed of a row.
    pub fn of(&self, row: u32) -> &[f64] {
        self.point(self.point_of(row))
    }

    /// The greatest divergence of two of these rows' beliefs.
    pub fn diameter(&self, rows: &[u32]) -> f64 {
        let mut points: Vec<u32> = rows.iter().map(|&row| self.point_of(row)).collect();
        points.sort_unstable();
        points.dedup();
        let mut most = 0.0;
        for (i, &one) in points.iter().enumerate() {
            for &other in &points[..i] {
                most = f64::max(most, jensen_shannon(self.point(one), self.point(other)));
            }
        }
        most
    }
}

/// JS(P, Q) = KL(P|M)/2 + KL(Q|M)/2 with M = (P + Q)/2, in bits: 0 for the same, 1 for distributions that share nothing.
pub fn jensen_shannon(p: &[f64], q: &[f64]) -> f64 {
    let part = |x: f64, m: f64| if x > 0.0 { x * (x / m).log2() } else { 0.0 };
    let sum: f64 = p.iter().zip(q).map(|(&p, &q)| part(p, (p + q) / 2.0) + part(q, (p + q) / 2.0)).sum();
    (sum / 2.0).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divergences_of_the_specification() {
        assert!((jensen_shannon(&[0.5, 0.3, 0.2], &[0.4, 0.3, 0.3]) - 0.011278).abs() < 5e-7);
        assert_eq!(jensen_shannon(&[1.0, 0.0], &[0.0, 1.0]), 1.0);
        assert_eq!(jensen_shannon(&[0.2, 0.8], &[0.2, 0.8]), 0.0);
    }

    #[test]
    fn the_diameter_is_that_of_the_furthest_two() {
        let beliefs = Beliefs::new(2, vec![1.0, 0.0, 0.5, 0.5, 0.0, 1.0], vec![0, 1, 1, 2]);
        assert_eq!((beliefs.n_points(), beliefs.diameter(&[1, 2])), (3, 0.0));
        assert_eq!(beliefs.diameter(&[0, 1, 3]), 1.0);
    }
}
