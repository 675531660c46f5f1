//! Several rows a person that stay apart: classes counted by people.
//!
//! Paper:      Wang, Fung 2006 ((X,Y)-anonymity: every class has k different people); ours in how it is kept
//! Promises:   classes hold by people, as `release/privacy_models.rs` defines it: rows are dealt into layers, none of which has two
//!             rows of a person, and the classes of the result are made inside one layer each. Overall shares are those of the
//!             published rows of all layers
//! Assumes:    neither levels for all rows (lattice) nor beliefs are asked for: recipes refuse them
//! Departs:    rows of a layer with too few people for a class are suppressed: nobody is known by having more rows than k people have
//! Cost:       the method once a layer, and one look at all layers again for each that changed
//! Checked by: `tests/it/person.rs`, by a count of people by hand

use super::settle::{check_feasible, settle, too_many_removed};
use super::{Params, Problem, add, classes_of};
use crate::data::Partition;
use crate::data::people::layers;
use crate::data::table::Table;
use crate::error::{Error, Result};
use crate::observer::Observer;
use crate::release::privacy_models::{Criterion, Histogram, Judge};

/// Puts the rows of a table into classes that hold by people; `of_row` is whose each is. Classes are the parts of the definition:
/// what shows the same is one class to a reader.
pub fn anonymize_apart(table: &Table, params: &Params, of_row: &[u32], observer: &dyn Observer) -> Result<Partition> {
    if params.criteria.iter().any(|criterion| matches!(criterion, Criterion::Background { .. })) {
        return Err(Error::Internal("beliefs are limited, and rows of a person stay apart"));
    }
    check_feasible(&Problem::new(table, params, None)?.watched(observer))?;
    let all = Judge::new(&params.criteria, table)?;
    let mut made = Vec::new();
    for rows in layers(of_row) {
        observer.check();
        let others = difference(&all.of(0..table.n_rows() as u32), &all.of(rows.iter().copied()));
        made.push(Layer::new(table, rows, params, others, observer)?);
    }
    // Suppression in one layer moves the overall shares of all.
    loop {
        let mut is_same = true;
        for at in 0..made.len() {
            let mut others = all.empty();
            let published = made.iter().enumerate().filter(|(other, _)| *other != at);
            published.for_each(|(_, layer)| add(&mut others, &all.of(layer.published())));
            is_same &= !made[at].look_again(params, others, observer)?;
        }
        if is_same {
            break;
        }
    }
    let mut partition = Partition::default();
    for layer in &made {
        for class in layer.partition.classes() {
            partition.push(&class.iter().map(|&row| layer.rows[row as usize]).collect::<Vec<u32>>());
        }
        partition.removed.extend(layer.partition.removed.iter().map(|&row| layer.rows[row as usize]));
    }
    partition.removed.sort_unstable();
    let (lost, n) = (partition.removed.len() as u64, table.n_rows() as u64);
    match partition.is_empty() || lost as f64 / n.max(1) as f64 > params.most_removed {
        true => Err(too_many_removed(&params.criteria, lost, n, params.most_removed)),
        false => Ok(partition),
    }
}

/// Rows of different people.
struct Layer {
    /// Their numbers in the whole table.
    rows: Vec<u32>,
    /// The same rows as a table.
    table: Table,
    /// Its classes.
    partition: Partition,
}

impl Layer {
    fn new(table: &Table, rows: Vec<u32>, params: &Params, others: Histogram, observer: &dyn Observer) -> Result<Self> {
        let table = table.select(&rows);
        let k = |criterion: &Criterion| if let Criterion::KAnonymity { k } = criterion { *k as usize } else { 1 };
        let mut partition = match params.criteria.iter().map(k).max().is_some_and(|k| rows.len() >= k) {
            true => {
                let problem = Problem::new(&table, params, None)?.watched(observer).besides(others)?;
                or_nothing(classes_of(&problem, params), rows.len())?
            }
            false => nothing(rows.len()),
        };
        // Cells are the smallest that cover a class.
        partition.levels = None;
        Ok(Layer { rows, table, partition })
    }

    /// The rows that are published, by their numbers in the whole table.
    fn published(&self) -> impl Iterator<Item = u32> + '_ {
        self.partition.published().iter().map(|&row| self.rows[row as usize])
    }

    /// Merges or removes what does not hold where others publish so much; tells whether anything changed.
    fn look_again(&mut self, params: &Params, others: Histogram, observer: &dyn Observer) -> Result<bool> {
        if self.partition.is_empty() {
            return Ok(false);
        }
        let problem = Problem::new(&self.table, params, None)?.watched(observer).besides(others)?;
        // How much may go is decided for all layers together.
        let settled = or_nothing(settle(&problem, self.partition.clone(), 1.0), self.rows.len())?;
        let has_changed = settled != self.partition;
        self.partition = settled;
        Ok(has_changed)
    }
}

/// What cannot be put into classes is not published.
fn or_nothing(made: Result<Partition>, n_rows: usize) -> Result<Partition> {
    match made {
        Err(Error::Infeasible { .. }) => Ok(nothing(n_rows)),
        made => made,
    }
}

fn nothing(n_rows: usize) -> Partition {
    Partition::from_parts(Vec::new(), Vec::new(), (0..n_rows as u32).collect())
}

fn difference(all: &Histogram, part: &Histogram) -> Histogram {
    let counts = all.counts.iter().zip(&part.counts).map(|(all, part)| all - part).collect();
    Histogram { size: all.size - part.size, with_set: all.with_set - part.with_set, counts }
}
