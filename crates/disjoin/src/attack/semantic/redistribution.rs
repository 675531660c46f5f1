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
//! Checked by: tests in `mod.rs` (figures 8 and 9), tests/it/semantic.rs: the literal loop on random tables

use super::gaps::Gaps;
use super::{Step, Table, Trace};
use crate::observer::{Observer, Unobserved};

/// Eliminates until no gap is above the mean of the initial ones.
pub fn redistribution(table: &Table) -> Trace {
    redistribution_steps(table, usize::MAX)
}

/// As [`redistribution`], watched by somebody.
pub(super) fn watched_redistribution(table: &Table, observer: &dyn Observer) -> Trace {
    steps(table, usize::MAX, observer)
}

/// As [`redistribution`], but stops after some eliminations.
pub fn redistribution_steps(table: &Table, most: usize) -> Trace {
    steps(table, most, &Unobserved)
}

fn steps(table: &Table, most: usize, observer: &dyn Observer) -> Trace {
    let (n_rows, n_columns) = (table.n_rows(), table.n_columns());
    let weights = [1.0 / n_columns as f64, 1.0 / n_rows as f64];
    let mut cells: Vec<Cell> = table.cells().iter().map(|&distance| Cell { distance, weights }).collect();
    let mut gaps = Gaps::new(table, &weighted(&cells, n_rows, n_columns));
    let mut trace = Trace::new(gaps.mean());
    loop {
        observer.check();
        let best = gaps.best(&weighted(&cells, n_rows, n_columns));
        let Some(best) = best.filter(|best| best.gap > trace.threshold && trace.steps.len() < most) else {
            trace.next = best.map(|best| best.gap);
            trace.sorted = gaps.n_sorted();
            trace.weighted = cells.iter().map(Cell::weighted).collect();
            return trace;
        };
        let (row, column) = (best.row, best.column);
        trace.steps.push(Step { row, column, score: best.gap });
        let in_row = gaps.heirs(row, column, &weighted(&cells, n_rows, n_columns));
        let in_column = gaps.heirs(n_rows + column, row, &weighted(&cells, n_rows, n_columns));
        gaps.eliminate(row, column, |row, column| cells[row * n_columns + column].weighted());
        let gone = &mut cells[row * n_columns + column];
        let (of_row, of_column) = (gone.weights[0] / in_row.n as f64, gone.weights[1] / in_column.n as f64);
        gone.distance = f64::NAN;
        let line = &mut cells[row * n_columns..][..n_columns];
        gaps.shrink(row, in_row, |other| line[other].inherit(0, of_row));
        let line = &mut cells[column..];
        gaps.shrink(n_rows + column, in_column, |other| line[other * n_columns].inherit(1, of_column));
    }
}

/// A distance with its weights in its row and its column. They are side by side, as each cell of a column is in another line
/// of the cache.
struct Cell {
    /// Not a number where eliminated or unknown.
    distance: f64,
    weights: [f64; 2],
}

impl Cell {
    fn weighted(&self) -> f64 {
        self.distance * (1.0 - self.weights[0]) * (1.0 - self.weights[1])
    }

    /// Adds to its weight in its row or column. By so much it becomes smaller.
    fn inherit(&mut self, axis: usize, share: f64) -> f64 {
        self.weights[axis] += share;
        self.distance * (1.0 - self.weights[1 - axis]) * share
    }
}

/// Weighted distances of cells of a row, or of a column numbered behind all rows.
fn weighted(cells: &[Cell], n_rows: usize, n_columns: usize) -> impl Fn(usize, &[u32], &mut Vec<f64>) {
    move |group, places, to| {
        let (start, step) = group.checked_sub(n_rows).map_or((group * n_columns, 1), |column| (column, n_columns));
        to.extend(places.iter().map(|&place| cells[start + place as usize * step].weighted()));
    }
}
