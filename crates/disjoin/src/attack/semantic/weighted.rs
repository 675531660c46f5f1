//! The weight-based attack: the largest weighted distance goes first, and what is left in its row and column gets nearer.
//!
//! Paper:      shao2017, section 6.2, definition 5.3, after Ong and Shao 2014 (WBA)
//! Promises:   no record is left without a member, no member without a record
//! Assumes:    weighted distances of different contexts and members can be compared
//! Departs:    reconstructed from one sentence: GBA without groups, down to the mean of the initial weighted distances.
//!             Weights of rows use the number of columns, as in `group.rs`
//! Cost:       a pass over a row for each elimination, and over those rows whose largest distance became smaller
//! Checked by: tests in `mod.rs` (figure 4), tests/it/semantic.rs: the literal loop on random tables

use super::group::shrunk;
use super::{Step, Table, Trace};
use crate::observer::{Observer, Unobserved};

/// Eliminates the largest weighted distance as long as it is above the initial mean.
pub fn weighted(table: &Table) -> Trace {
    watched_weighted(table, &Unobserved)
}

/// As [`weighted`], watched by somebody.
pub(super) fn watched_weighted(table: &Table, observer: &dyn Observer) -> Trace {
    let (n_rows, n_columns) = (table.n_rows(), table.n_columns());
    let mut left_in_row = vec![n_columns; n_rows];
    let mut left_in_column = vec![n_rows; n_columns];
    let mut cells: Vec<f64> = table.cells().iter().map(|&cell| shrunk(cell, n_columns, n_rows)).collect();
    let (sum, n) = cells.iter().filter(|cell| !cell.is_nan()).fold((0.0, 0.0), |(sum, n), cell| (sum + cell, n + 1.0));
    let mut trace = Trace::new(if n == 0.0 { 0.0 } else { sum / n });
    // The first largest of a row among those that may go.
    let largest_of = |row: usize, cells: &[f64], left_in_row: &[usize], left_in_column: &[usize]| {
        let mut best: Option<(usize, f64)> = None;
        if left_in_row[row] > 1 {
            for (column, &cell) in cells[row * n_columns..][..n_columns].iter().enumerate() {
                let may_go = !cell.is_nan() && left_in_column[column] > 1;
                if may_go && best.is_none_or(|best| cell > best.1) {
                    best = Some((column, cell));
                }
            }
        }
        best
    };
    let mut largest: Vec<Option<(usize, f64)>> =
        (0..n_rows).map(|row| largest_of(row, &cells, &left_in_row, &left_in_column)).collect();
    loop {
        observer.check();
        let mut best: Option<Step> = None;
        for (row, of_row) in largest.iter().enumerate() {
            if let Some((column, score)) = *of_row
                && best.is_none_or(|best| score > best.score)
            {
                best = Some(Step { row, column, score });
            }
        }
        let Some(step) = best.filter(|best| best.score > trace.threshold) else {
            trace.next = best.map(|best| best.score);
            trace.weighted = cells;
            return trace;
        };
        trace.steps.push(step);
        let (row, column) = (step.row, step.column);
        cells[row * n_columns + column] = f64::NAN;
        left_in_row[row] -= 1;
        left_in_column[column] -= 1;
        let weigh = |cells: &mut [f64], row: usize, column: usize| {
            let cell = &mut cells[row * n_columns + column];
            if !cell.is_nan() {
                *cell = shrunk(table.get(row, column), left_in_row[row], left_in_column[column]);
            }
        };
        (0..n_columns).for_each(|other| weigh(&mut cells, row, other));
        (0..n_rows).for_each(|other| weigh(&mut cells, other, column));
        for (other, of_row) in largest.iter_mut().enumerate() {
            if other == row || of_row.is_some_and(|(at, _)| at == column) {
                *of_row = largest_of(other, &cells, &left_in_row, &left_in_column);
            }
        }
    }
}
