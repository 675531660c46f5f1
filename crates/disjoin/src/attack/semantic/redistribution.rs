//! The redistribution-based attack: as the grouping-based one, but what is eliminated leaves its weight to near ones only.
//!
//! Paper:      shao2017, section 5.2, algorithm 2 (RBA)
//! Promises:   no record is left without a member, no member without a record; weights of a row, and of a column, add up
//!             to 1
//! Assumes:    as `group.rs`
//! Departs:    the lower cluster is that of current weighted distances with the cell to be eliminated still among them: of
//!             four readings the only one that ends in figure 9. If nothing is below the gap but the cell itself, all that
//!             is left shares its weight, unknown ones too
//! Cost:       as `gaps.rs` for each elimination
//! Checked by: tests in `mod.rs` (figures 8 and 9), tests/semantic.rs: the literal loop on random tables

use super::gaps::Gaps;
use super::{Step, Table, Trace};

/// Eliminates until no gap is above the mean of the initial ones.
pub fn redistribution(table: &Table) -> Trace {
    redistribution_steps(table, usize::MAX)
}

/// As [`redistribution`], but stops after some eliminations.
pub fn redistribution_steps(table: &Table, most: usize) -> Trace {
    let (n_rows, n_columns) = (table.n_rows(), table.n_columns());
    let n_cells = table.cells().len();
    let mut row_weights = vec![1.0 / n_columns as f64; n_cells];
    let mut column_weights = vec![1.0 / n_rows as f64; n_cells];
    let mut is_left = vec![true; n_cells];
    let weigh =
        |at: usize, of_row: &[f64], of_column: &[f64]| table.cells()[at] * (1.0 - of_row[at]) * (1.0 - of_column[at]);
    let cells = (0..n_cells).map(|at| weigh(at, &row_weights, &column_weights)).collect();
    let mut gaps = Gaps::new(table, cells);
    let mut trace = Trace::new(gaps.mean());
    loop {
        let best = gaps.best();
        let Some(best) = best.filter(|best| best.gap > trace.threshold && trace.steps.len() < most) else {
            trace.next = best.map(|best| best.gap);
            trace.weighted = gaps.into_cells();
            return trace;
        };
        let (row, column) = (best.row, best.column);
        trace.steps.push(Step { row, column, score: best.gap });
        let at = row * n_columns + column;
        is_left[at] = false;
        let heirs = |mut lower: Vec<u32>, itself: usize, all: usize, place: &dyn Fn(usize) -> usize| {
            lower.retain(|&other| other as usize != itself);
            if lower.is_empty() {
                lower.extend((0..all).filter(|&other| is_left[place(other)]).map(|other| other as u32));
            }
            lower
        };
        let in_row = heirs(gaps.lower_of_row(row), column, n_columns, &|other| row * n_columns + other);
        let in_column = heirs(gaps.lower_of_column(column), row, n_rows, &|other| other * n_columns + column);
        gaps.eliminate(row, column);
        let share = row_weights[at] / in_row.len() as f64;
        in_row.iter().for_each(|&other| row_weights[row * n_columns + other as usize] += share);
        gaps.shrink_row(row, Some(&in_row), |other| weigh(row * n_columns + other, &row_weights, &column_weights));
        let share = column_weights[at] / in_column.len() as f64;
        in_column.iter().for_each(|&other| column_weights[other as usize * n_columns + column] += share);
        let weigh_row = |other: usize| weigh(other * n_columns + column, &row_weights, &column_weights);
        gaps.shrink_column(column, Some(&in_column), weigh_row);
    }
}
