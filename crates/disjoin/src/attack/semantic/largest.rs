//! The maximum distance attack: the one member that is farthest from its context is taken for added.
//!
//! Paper:      shao2017, section 6.2, after Ong and Shao 2014 (MDA)
//! Promises:   one member of one record is eliminated, unless it is its record's or the group's only one
//! Assumes:    distances of different contexts and members can be compared
//! Departs:    ties by row, then column; a table of one row or one column has nothing that can go
//! Cost:       a pass over the cells
//! Checked by: tests in `mod.rs` (figure 4), tests/it/semantic.rs

use super::{Step, Table, Trace};

/// Eliminates the cell with the largest distance.
pub fn largest(table: &Table) -> Trace {
    let mut best: Option<Step> = None;
    for (row, column, score) in table.known() {
        if best.is_none_or(|best| score > best.score) {
            best = Some(Step { row, column, score });
        }
    }
    let mut trace = Trace::new(best.map_or(0.0, |best| best.score));
    let can_go = table.n_columns() > 1 && table.n_rows() > 1;
    trace.steps.extend(best.filter(|_| can_go));
    trace
}
