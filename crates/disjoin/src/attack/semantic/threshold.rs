//! The threshold attack: members that are farther from their context than cells are on average are taken for added.
//!
//! Paper:      shao2017, section 6.2, after Ong and Shao 2014 (TBA)
//! Promises:   no record is left without a member
//! Assumes:    distances of different contexts and members can be compared
//! Departs:    the threshold is the mean of all cells, which shao2017 calls average-based without a formula. If all members
//!             of a record would go, the nearest stays; ties by column
//! Cost:       two passes over the cells
//! Checked by: tests in `mod.rs` (figure 4), tests/it/semantic.rs

use super::{Step, Table, Trace};

/// Eliminates every cell above the mean of all.
pub fn threshold(table: &Table) -> Trace {
    let (sum, n) = table.known().fold((0.0, 0.0), |(sum, n), (_, _, distance)| (sum + distance, n + 1.0));
    if n == 0.0 {
        return Trace::new(0.0);
    }
    threshold_at(table, sum / n)
}

/// Eliminates every cell above a threshold.
pub fn threshold_at(table: &Table, threshold: f64) -> Trace {
    let mut trace = Trace::new(threshold);
    for row in 0..table.n_rows() {
        let cells = (0..table.n_columns()).map(|column| Step { row, column, score: table.get(row, column) });
        let gone: Vec<Step> = cells.filter(|cell| cell.score > threshold).collect();
        let stays = match gone.len() == table.n_columns() {
            true => gone.iter().min_by(|a, b| a.score.total_cmp(&b.score)).map(|cell| cell.column),
            false => None,
        };
        trace.steps.extend(gone.into_iter().filter(|cell| Some(cell.column) != stays));
    }
    trace
}
