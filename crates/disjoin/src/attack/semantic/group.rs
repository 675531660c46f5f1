//! The grouping-based attack: the row or column whose distances fall apart most clearly loses its largest, again and again.
//!
//! Distances are comparable within a row, where the context is the same, and within a column, where the member is. The
//! larger the gap between a group's distances, the likelier what is above the gap was added.
//!
//! Paper:      shao2017, section 5.1, algorithm 1 (GBA)
//! Promises:   no record is left without a member, no member without a record
//! Assumes:    a gap in meaning is a gap between what was in the record and what was added
//! Departs:    the weight of a row uses the number of columns, and the other way round: the paper's letters are right for
//!             square tables only. Ties go to rows before columns, then to smaller numbers. A group whose largest cell must
//!             stay is passed over as a whole, as the listing has it
//! Cost:       as `gaps.rs` for each elimination, where the paper prints O((rows * columns)^2) in all
//! Checked by: tests in `mod.rs` (figures 4 to 6), tests/semantic.rs: the literal loop on random tables

use super::gaps::Gaps;
use super::{Step, Table, Trace};

/// Eliminates until no gap is above the mean of the initial ones.
pub fn group(table: &Table) -> Trace {
    group_steps(table, usize::MAX)
}

/// As [`group`], but stops after some eliminations.
pub fn group_steps(table: &Table, most: usize) -> Trace {
    let (n_rows, n_columns) = (table.n_rows(), table.n_columns());
    let cells = table.cells().iter().map(|&cell| shrunk(cell, n_columns, n_rows)).collect();
    let mut gaps = Gaps::new(table, cells);
    // The factors of definition 5.3 for each row and column.
    let mut row_share = vec![1.0 - 1.0 / n_columns as f64; n_rows];
    let mut column_share = vec![1.0 - 1.0 / n_rows as f64; n_columns];
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
        gaps.eliminate(row, column);
        let (in_row, in_column) = (gaps.left_in_row(row), gaps.left_in_column(column));
        row_share[row] = 1.0 - 1.0 / in_row as f64;
        column_share[column] = 1.0 - 1.0 / in_column as f64;
        gaps.shrink_row(row, None, |other| table.get(row, other) * row_share[row] * column_share[other]);
        gaps.shrink_column(column, None, |other| table.get(other, column) * row_share[other] * column_share[column]);
    }
}

/// Definition 5.3: what is one of few is likely the original, and its distance counts less.
pub(super) fn shrunk(distance: f64, left_in_row: usize, left_in_column: usize) -> f64 {
    distance * (1.0 - 1.0 / left_in_row as f64) * (1.0 - 1.0 / left_in_column as f64)
}
