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
    // Column by column, with what rows make of the distances: a column is then weighed without a look at each row.
    let turned = (0..n_columns).flat_map(|column| (0..n_rows).map(move |row| table.get(row, column)));
    let in_rows = |distance: f64| distance * (1.0 - 1.0 / n_columns as f64);
    let mut of_columns: Vec<OfColumn> =
        turned.map(|distance| OfColumn { in_row: in_rows(distance), weight: 1.0 / n_rows as f64 }).collect();
    let mut is_left = vec![true; n_cells];
    let mut cells: Vec<f64> = table.cells().iter().map(|&cell| in_rows(cell) * (1.0 - 1.0 / n_rows as f64)).collect();
    let weighted = |group: usize, places: &[u32], cells: &[f64], of_columns: &[OfColumn], to: &mut Vec<f64>| match group
        .checked_sub(n_rows)
    {
        None => {
            let line = &cells[group * n_columns..][..n_columns];
            to.extend(places.iter().map(|&at| line[at as usize]));
        }
        Some(column) => {
            let line = &of_columns[column * n_rows..][..n_rows];
            to.extend(places.iter().map(|&at| line[at as usize].weighted()));
        }
    };
    let mut gaps = Gaps::new(table, &|group, places, to| weighted(group, places, &cells, &of_columns, to));
    let mut trace = Trace::new(gaps.mean());
    loop {
        let weigh = |group: usize, places: &[u32], to: &mut Vec<f64>| weighted(group, places, &cells, &of_columns, to);
        let best = gaps.best(&weigh);
        let Some(best) = best.filter(|best| best.gap > trace.threshold && trace.steps.len() < most) else {
            trace.next = best.map(|best| best.gap);
            trace.weighted = cells;
            return trace;
        };
        let (row, column) = (best.row, best.column);
        trace.steps.push(Step { row, column, score: best.gap });
        let at = row * n_columns + column;
        is_left[at] = false;
        let heirs = |lower: &[u32], itself: usize, all: usize, place: &dyn Fn(usize) -> usize| {
            let mut lower = lower.to_vec();
            lower.retain(|&other| other as usize != itself);
            if lower.is_empty() {
                lower.extend((0..all).filter(|&other| is_left[place(other)]).map(|other| other as u32));
            }
            lower
        };
        let in_row = heirs(gaps.lower(row, &weigh), column, n_columns, &|other| row * n_columns + other);
        let of_column = gaps.lower(n_rows + column, &weigh);
        let in_column = heirs(of_column, row, n_rows, &|other| other * n_columns + column);
        gaps.eliminate(row, column);
        cells[at] = f64::NAN;
        let gone = &mut of_columns[column * n_rows + row];
        gone.in_row = f64::NAN;
        let (row_share, column_share) = (row_weights[at] / in_row.len() as f64, gone.weight / in_column.len() as f64);
        let start = row * n_columns;
        gaps.shrink(row, &in_row, |other| {
            let (weight, of_column) = (&mut row_weights[start + other], &mut of_columns[other * n_rows + row]);
            *weight += row_share;
            of_column.in_row = table.cells()[start + other] * (1.0 - *weight);
            let now = of_column.weighted();
            (std::mem::replace(&mut cells[start + other], now), now)
        });
        let of_column = &mut of_columns[column * n_rows..][..n_rows];
        gaps.shrink(n_rows + column, &in_column, |other| {
            let before = of_column[other].weighted();
            of_column[other].weight += column_share;
            let now = of_column[other].weighted();
            cells[other * n_columns + column] = now;
            (before, now)
        });
    }
}

/// A cell as its column sees it: the distance with the weight of the row, and the weight of the column.
struct OfColumn {
    in_row: f64,
    weight: f64,
}

impl OfColumn {
    fn weighted(&self) -> f64 {
        self.in_row * (1.0 - self.weight)
    }
}
