//! Tables made safe: rows are put into classes that satisfy every criterion, and each class shows one cell a column.
//!
//! Promises:   every class of a result satisfies all criteria, with overall shares those of the published rows; rows that fit
//!             nowhere are removed, and no more of them than was allowed
//! Departs:    whatever a method makes is looked at once more (`settle`): a class that fails because removals moved the overall
//!             shares is merged or removed, also where a paper stops
//! Checked by: `tests/it/tabular.rs`

mod agglomerate;
mod apart;
mod beta_primacy;
mod burel;
mod curve;
mod distance;
mod extent;
mod hilbert;
mod k_primacy;
mod lattice;
mod least_loss;
mod mdav;
mod mondrian;
mod peel;
mod settle;
mod settle_counts;
mod soria_comas;
mod tally;
mod trim;

use serde::{Deserialize, Serialize};

use self::extent::{Boxes, Shape};
use crate::data::Partition;
use crate::data::table::{Column, Table};
use crate::error::{Error, Result};
use crate::knowledge::background::Beliefs;
use crate::observer::{Observer, Unobserved};
use crate::release::privacy_models::{Criterion, Histogram, Judge};
pub use apart::anonymize_apart;
pub use settle_counts::{Taken, settle_counts};

/// A way to put rows into classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Cut by cut, the one that loses least, and rows peeled off level by level where columns have hierarchies: whichever loses
    /// less.
    #[default]
    LeastLoss,
    /// Mondrian as published: the widest column is cut at its median, equal values stay together.
    Mondrian,
    /// The same, with equal values of the median on both sides.
    MondrianRelaxed,
    /// One level of generalisation for a whole column: all combinations, the best that satisfies the criteria.
    Lattice,
    /// Microaggregation: groups of k around the rows furthest from the centre.
    Mdav,
    /// Rows sorted by their distance from one corner and cut into groups of k: fast, loses much.
    Sorted,
    /// MDAV, then the group that is furthest from the criteria is merged with its nearest until all hold.
    MicroaggregationMerge,
    /// Groups of k, with rows swapped in that bring the group nearer to the criteria; then merged.
    MicroaggregationSwap,
    /// One row from each stratum of the sensitive values in every group: t-closeness by construction.
    ClosenessFirst,
    /// Rows along a Hilbert curve, gathered until the criteria hold.
    Hilbert,
    /// Sensitive values in buckets, classes with a share of each: beta-likeness by construction.
    Burel,
    /// Rows of which the same is believed, in groups by quasi-identifier first.
    KPrimacy,
    /// Rows of which the same is believed, in large groups by sensitive value first, then cut.
    BetaPrimacy,
}

impl Method {
    /// All methods, with their names as people write them.
    pub const ALL: [(&'static str, Method); 13] = [
        ("least-loss", Method::LeastLoss),
        ("mondrian", Method::Mondrian),
        ("mondrian-relaxed", Method::MondrianRelaxed),
        ("lattice", Method::Lattice),
        ("mdav", Method::Mdav),
        ("sorted", Method::Sorted),
        ("microaggregation-merge", Method::MicroaggregationMerge),
        ("microaggregation-swap", Method::MicroaggregationSwap),
        ("closeness-first", Method::ClosenessFirst),
        ("hilbert", Method::Hilbert),
        ("burel", Method::Burel),
        ("k-primacy", Method::KPrimacy),
        ("beta-primacy", Method::BetaPrimacy),
    ];

    /// Its name as people write it.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, method)| *method == self).map_or("", |(name, _)| name)
    }
}

/// What is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Params {
    /// How classes are made.
    pub method: Method,
    /// What each must satisfy.
    pub criteria: Vec<Criterion>,
    /// The greatest share of rows that may be removed.
    pub most_removed: f64,
    /// For methods that draw.
    pub seed: u64,
}

/// Puts the rows of a table into classes that satisfy the criteria.
///
/// `beliefs` are those of the adversary about the first sensitive column: needed for [`Criterion::Background`].
pub fn anonymize(table: &Table, params: &Params, beliefs: Option<&Beliefs>) -> Result<Partition> {
    anonymize_with(table, params, beliefs, &Unobserved)
}

/// Like [`anonymize`], watched by somebody.
pub fn anonymize_with(
    table: &Table,
    params: &Params,
    beliefs: Option<&Beliefs>,
    observer: &dyn Observer,
) -> Result<Partition> {
    let problem = Problem::new(table, params, beliefs)?.watched(observer);
    settle::check_feasible(&problem)?;
    match attempt(&problem, params) {
        Err(Error::Infeasible { problem, hint }) => Err(Error::Infeasible {
            problem,
            hint: format!("{hint}{}", without_each(table, params, beliefs, observer)),
        }),
        made => made,
    }
}

/// Classes by the method asked for, looked at once more.
fn attempt(problem: &Problem<'_>, params: &Params) -> Result<Partition> {
    settle::settle(problem, classes_of(problem, params)?, params.most_removed)
}

/// Classes by the method asked for.
fn classes_of(problem: &Problem<'_>, params: &Params) -> Result<Partition> {
    match params.method {
        Method::LeastLoss => least_loss::partition(problem, params.most_removed),
        Method::Mondrian => mondrian::partition(problem, mondrian::Cut::Strict),
        Method::MondrianRelaxed => mondrian::partition(problem, mondrian::Cut::Relaxed),
        Method::Lattice => lattice::partition(problem, params.most_removed),
        Method::Mdav => mdav::partition(problem),
        Method::Sorted => mdav::sorted(problem),
        Method::MicroaggregationMerge => soria_comas::merge(problem),
        Method::MicroaggregationSwap => soria_comas::swap(problem),
        Method::ClosenessFirst => soria_comas::closeness_first(problem),
        Method::Hilbert => hilbert::partition(problem),
        Method::Burel => burel::partition(problem),
        Method::KPrimacy => k_primacy::partition(problem),
        Method::BetaPrimacy => beta_primacy::partition(problem),
    }
}

/// How many rows would be removed if one of several criteria were not asked for: which of them is in the way.
fn without_each(table: &Table, params: &Params, beliefs: Option<&Beliefs>, observer: &dyn Observer) -> String {
    let share_without = |at: usize| {
        let mut criteria = params.criteria.clone();
        let left_out = criteria.remove(at);
        let fewer = Params { criteria, most_removed: 1.0, ..params.clone() };
        let problem = Problem::new(table, &fewer, beliefs).ok()?.watched(observer);
        let made = attempt(&problem, &fewer).ok()?;
        Some((left_out.text(), made.removed.len() as f64 / table.n_rows().max(1) as f64))
    };
    if params.criteria.len() < 2 {
        return String::new();
    }
    (0..params.criteria.len())
        .filter_map(share_without)
        .map(|(criterion, share)| format!("; without {criterion} {:.2} % are suppressed", 100.0 * share))
        .collect()
}

/// Classes that were made elsewhere, looked at once more: those that fail are merged with others or removed.
pub fn settle_classes(table: &Table, params: &Params, partition: Partition) -> Result<Partition> {
    let problem = Problem::new(table, params, None)?;
    settle::check_feasible(&problem)?;
    settle::settle(&problem, partition, params.most_removed)
}

/// Adds counts to others.
fn add(to: &mut Histogram, counts: &Histogram) {
    (to.size, to.with_set) = (to.size + counts.size, to.with_set + counts.with_set);
    to.counts.iter_mut().zip(&counts.counts).for_each(|(sum, count)| *sum += count);
}

/// A table and what its classes must satisfy, made ready for the methods.
pub struct Problem<'a> {
    /// The rows.
    pub table: &'a Table,
    /// The columns that are generalised.
    pub quasi: Vec<&'a Column>,
    /// The same columns, ready to be asked for losses.
    shapes: Vec<Shape<'a>>,
    /// The criteria.
    pub judge: Judge<'a>,
    /// What is believed of each row, and how far beliefs within a class may be apart; if that is asked for.
    pub beliefs: Option<(&'a Beliefs, f64)>,
    /// For methods that draw.
    pub seed: u64,
    /// Counts of rows that are published besides, and count for overall shares.
    elsewhere: Option<Histogram>,
    /// Who watches.
    observer: &'a dyn Observer,
}

impl<'a> Problem<'a> {
    /// Checks that the criteria can be asked of this table.
    pub fn new(table: &'a Table, params: &Params, beliefs: Option<&'a Beliefs>) -> Result<Self> {
        let judge = Judge::new(&params.criteria, table)?;
        let limit = |c: &Criterion| if let Criterion::Background { t } = c { Some(*t) } else { None };
        let limit = params.criteria.iter().filter_map(limit).reduce(f64::min);
        let beliefs = match (limit, beliefs) {
            (Some(t), Some(beliefs)) => Some((beliefs, t)),
            (None, _) => None,
            (Some(_), None) => return Err(Error::Internal("a limit on beliefs came without beliefs")),
        };
        let quasi = table.quasi();
        let shapes = quasi.iter().map(|column| Shape::new(column)).collect();
        Ok(Problem { table, quasi, shapes, judge, beliefs, seed: params.seed, elsewhere: None, observer: &Unobserved })
    }

    /// The same, where rows with these counts are published besides.
    fn besides(mut self, elsewhere: Histogram) -> Result<Self> {
        let mut all = self.judge.of(0..self.table.n_rows() as u32);
        add(&mut all, &elsewhere);
        self.judge = Judge::of_total(self.judge.criteria(), self.table, all)?;
        self.elsewhere = Some(elsewhere);
        Ok(self)
    }

    /// The criteria, with overall shares of some rows and of those that are published besides.
    fn judge_over(&self, rows: impl IntoIterator<Item = u32>) -> Result<Judge<'a>> {
        match &self.elsewhere {
            None => Judge::over(self.judge.criteria(), self.table, rows),
            Some(elsewhere) => {
                let mut all = self.judge.of(rows);
                add(&mut all, elsewhere);
                Judge::of_total(self.judge.criteria(), self.table, all)
            }
        }
    }

    /// The same, with overall shares of some rows only.
    fn over(&self, rows: impl IntoIterator<Item = u32>) -> Result<Problem<'a>> {
        let judge = self.judge_over(rows)?;
        let &Problem { table, ref quasi, ref shapes, beliefs, seed, observer, .. } = self;
        let (quasi, shapes, elsewhere) = (quasi.clone(), shapes.clone(), self.elsewhere.clone());
        Ok(Problem { table, quasi, shapes, judge, beliefs, seed, elsewhere, observer })
    }

    /// The same, watched.
    #[must_use]
    pub fn watched(self, observer: &'a dyn Observer) -> Self {
        Problem { observer, ..self }
    }

    /// Whether these rows may be a class.
    pub fn holds(&self, rows: &[u32]) -> bool {
        self.observer.check();
        self.judge.rows_hold(rows) && self.agrees(rows)
    }

    /// Whether beliefs about these rows are near enough to each other.
    pub fn agrees(&self, rows: &[u32]) -> bool {
        self.beliefs.is_none() || distance::agree(self, rows)
    }

    /// Whether beliefs about a row are near enough to those about all rows of a class.
    fn agrees_with(&self, rows: &[u32], row: u32) -> bool {
        let Some((beliefs, t)) = self.beliefs else { return true };
        let mut points: Vec<u32> = rows.iter().map(|&row| beliefs.point_of(row)).collect();
        points.sort_unstable();
        points.dedup();
        points.iter().all(|&point| agglomerate::is_within(beliefs.point(point), beliefs.of(row), t))
    }

    /// The penalty of these rows as a class: the sum of the losses of its cells.
    pub fn loss(&self, rows: &[u32]) -> f64 {
        self.observer.check();
        Boxes::of(&self.shapes, &self.quasi, rows).loss()
    }

    /// All rows, in order.
    pub fn rows(&self) -> Vec<u32> {
        (0..self.table.n_rows() as u32).collect()
    }
}
