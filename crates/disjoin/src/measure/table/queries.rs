//! How far are counts off? Random queries over a few quasi-identifiers, answered from cells alone.
//!
//! Paper:      LeFevre, DeWitt, Ramakrishnan, KDD 2006, and Xiao, Tao, VLDB 2006, on query answering by the uniform assumption
//! Assumes:    inside a cell every value is as likely: of a range, the share of its length; of a set or label, the share of
//!             its values; of `*`, the share of the whole domain; and columns of a class are independent. Ranges of whole
//!             numbers hold so many whole numbers: 20..29 are ten, where a range of other numbers is nine long
//! Departs:    queries are drawn around random rows, so that few are about nobody; those about too few rows are drawn again,
//!             up to [`ROUNDS`] times as many as asked for
//! Cost:       a pass over the rows a query, all queries side by side, and one over the classes
//! Checked by: tests/it/table_metrics.rs, against slow definitions
//!
//! A query counts rows with first_a <= value_a <= last_a for two or three columns a; of words first_a = last_a. Its estimate is
//! the sum over G of |G| times the product of shares of G's cells, its error |truth - estimate| / truth.

use rand::RngExt;
use rand::seq::index;
use rayon::prelude::*;
use serde::Serialize;

use super::{Shown, quantile};
use crate::data::Cell;
use crate::data::table::{Domain, Table};
use crate::generate::stream;

/// How many times as many queries as asked for are drawn at most.
const ROUNDS: usize = 10;

/// A range of numbers has between this and half of the different numbers.
const LEAST_WIDTH: f64 = 0.05;
const MOST_WIDTH: f64 = 0.5;

/// How far answers were off. Without queries there are no errors to speak of.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QueryError {
    /// How many queries were asked.
    pub queries: usize,
    /// The mean relative error.
    pub mean: Option<f64>,
    /// Its median.
    pub median: Option<f64>,
    /// What nine of ten queries do not exceed.
    pub p90: Option<f64>,
    /// The queries, for plots.
    #[serde(skip)]
    pub asked: Vec<Asked>,
}

/// A query with its answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// What it counts: for each of its columns, by position among the quasi-identifiers, the first and the last code.
    pub parts: Vec<(usize, u32, u32)>,
    /// How many rows of the original there are.
    pub truth: u32,
    /// What the release says.
    pub estimate: f64,
}

pub(super) fn ask(table: &Table, shown: &Shown<'_>, n: usize, least_share: f64, seed: u64) -> QueryError {
    let least = (least_share * table.n_rows() as f64).ceil().max(1.0);
    let mut asked: Vec<Asked> = Vec::new();
    for round in 0..ROUNDS {
        if asked.len() == n || shown.columns.is_empty() || table.n_rows() == 0 {
            break;
        }
        let made: Vec<Option<Asked>> = (0..n)
            .into_par_iter()
            .with_max_len(1)
            .map(|i| {
                let parts = draw(table, shown, seed, (round * n + i) as u64)?;
                let truth = count(shown, &parts);
                (f64::from(truth) >= least).then(|| Asked { estimate: estimate(shown, &parts), parts, truth })
            })
            .collect();
        asked.extend(made.into_iter().flatten().take(n - asked.len()));
    }
    summarise(asked)
}

fn summarise(asked: Vec<Asked>) -> QueryError {
    let error = |asked: &Asked| (f64::from(asked.truth) - asked.estimate).abs() / f64::from(asked.truth);
    let mut errors: Vec<f64> = asked.iter().map(error).collect();
    errors.sort_unstable_by(f64::total_cmp);
    QueryError {
        queries: asked.len(),
        mean: (!errors.is_empty()).then(|| errors.iter().sum::<f64>() / errors.len() as f64),
        median: quantile(&errors, 0.5),
        p90: quantile(&errors, 0.9),
        asked,
    }
}

/// A query about a random row; none if the row has no value in one of its columns.
fn draw(table: &Table, shown: &Shown<'_>, seed: u64, number: u64) -> Option<Vec<(usize, u32, u32)>> {
    let mut rng = stream(seed, "measure/table-queries", number);
    let d = shown.columns.len();
    let row = rng.random_range(0..table.n_rows());
    let n_columns = rng.random_range(2..=3).min(d);
    let mut positions = index::sample(&mut rng, d, n_columns).into_vec();
    positions.sort_unstable();
    let mut part = |position: usize| {
        let column = shown.columns[position];
        let (code, n_values) = (column.codes[row], column.domain.missing());
        if code == n_values {
            return None;
        }
        if column.domain.numbers().is_none() {
            return Some((position, code, code));
        }
        // A range of so many neighbouring numbers, the row's among them.
        let width = ((rng.random_range(LEAST_WIDTH..MOST_WIDTH) * f64::from(n_values)) as u32).max(1);
        let first = code.saturating_sub(rng.random_range(0..width));
        Some((position, first, (first + width - 1).min(n_values - 1)))
    };
    positions.into_iter().map(&mut part).collect()
}

fn count(shown: &Shown<'_>, parts: &[(usize, u32, u32)]) -> u32 {
    let columns: Vec<(&[u32], u32, u32)> =
        parts.iter().map(|&(position, first, last)| (&shown.columns[position].codes[..], first, last)).collect();
    // The number of columns is known to the compiler in each arm: rows are compared without a branch.
    let within =
        |&(codes, first, last): &(&[u32], u32, u32), row: usize| codes[row].wrapping_sub(first) <= last - first;
    let n = columns.first().map_or(0, |column| column.0.len());
    let matching: usize = match &columns[..] {
        [a, b] => (0..n).filter(|&row| within(a, row) & within(b, row)).count(),
        [a, b, c] => (0..n).filter(|&row| within(a, row) & within(b, row) & within(c, row)).count(),
        all => (0..n).filter(|&row| all.iter().all(|column| within(column, row))).count(),
    };
    matching as u32
}

/// The sum over G of |G| times the product of the shares of its cells.
fn estimate(shown: &Shown<'_>, parts: &[(usize, u32, u32)]) -> f64 {
    let shares: Vec<(usize, Vec<f64>)> = parts
        .iter()
        .map(|&(position, first, last)| {
            let domain = &shown.columns[position].domain;
            let whole = domain.numbers().is_some_and(|numbers| numbers.iter().all(|number| number.fract() == 0.0));
            let share = |(cell, _): &(Cell, f64)| share(domain, whole, cell, first, last);
            (position, shown.cells[position].iter().map(share).collect())
        })
        .collect();
    let expected = |class: usize| {
        let places = shown.places(class);
        let product: f64 = shares.iter().map(|(position, shares)| shares[places[*position] as usize]).product();
        f64::from(shown.sizes[class]) * product
    };
    (0..shown.sizes.len()).map(expected).sum()
}

/// The share of what a cell stands for that is from the first code to the last.
fn share(domain: &Domain, whole: bool, cell: &Cell, first: u32, last: u32) -> f64 {
    let is_within = |code: &u32| (first..=last).contains(code);
    match cell {
        Cell::Missing => 0.0,
        Cell::Value(value) => f64::from(u8::from(is_within(value))),
        Cell::Range(from, to) => overlap(domain, whole, (*from, *to), (first, last)),
        Cell::Set(codes) => codes.iter().copied().filter(|code| is_within(code)).count() as f64 / codes.len() as f64,
        Cell::Node(node) => domain.hierarchy().map_or(0.0, |hierarchy| {
            let below = (first..=last).filter(|&code| hierarchy.is_ancestor(*node, code)).count();
            below as f64 / f64::from(hierarchy.leaves_below(*node))
        }),
        Cell::Any if domain.numbers().is_some() => {
            overlap(domain, whole, (0, domain.missing().saturating_sub(1)), (first, last))
        }
        Cell::Any => f64::from(last - first + 1) / (domain.n_values() + usize::from(domain.has_missing())) as f64,
    }
}

/// The share of a range of numbers that is within another.
fn overlap(domain: &Domain, whole: bool, (from, to): (u32, u32), (first, last): (u32, u32)) -> f64 {
    // Halves, so that the length of the longest range is finite.
    let half = |code: u32| domain.numbers().and_then(|n| n.get(code as usize)).map_or(0.0, |number| number / 2.0);
    if from.max(first) > to.min(last) {
        return 0.0;
    }
    let step = if whole { 0.5 } else { 0.0 };
    let length = half(to) - half(from) + step;
    if length > 0.0 { (half(to.min(last)) - half(from.max(first)) + step) / length } else { 1.0 }
}
