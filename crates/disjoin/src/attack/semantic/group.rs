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
//! Checked by: tests in `mod.rs` (figures 4 to 6), tests/it/semantic.rs: the literal loop on random tables

use super::gaps::Gaps;
use super::{Step, Table, Trace};
use crate::observer::{Observer, Unobserved};

/// Eliminates until no gap is above the mean of the initial ones.
pub fn group(table: &Table) -> Trace {
    group_steps(table, usize::MAX)
}

/// As [`group`], watched by somebody.
pub(super) fn watched_group(table: &Table, observer: &dyn Observer) -> Trace {
    steps(table, usize::MAX, observer)
}

/// As [`group`], but stops after some eliminations.
pub fn group_steps(table: &Table, most: usize) -> Trace {
    steps(table, most, &Unobserved)
}

fn steps(table: &Table, most: usize, observer: &dyn Observer) -> Trace {
    let (n_rows, n_columns) = (table.n_rows(), table.n_columns());
    // Distances that are left, row by row and column by column.
    let mut by_row = table.cells().to_vec();
    let turned = (0..n_columns).flat_map(|column| (0..n_rows).map(move |row| table.get(row, column)));
    let mut by_column: Vec<f64> = turned.collect();
    // The factors of definition 5.3 for each row and column.
    let mut row_share = vec![1.0 - 1.0 / n_columns as f64; n_rows];
    let mut column_share = vec![1.0 - 1.0 / n_rows as f64; n_columns];
    let mut gaps = Gaps::new(table, &shrunk_by(n_rows, &by_row, &by_column, &row_share, &column_share));
    let mut trace = Trace::new(gaps.mean());
    loop {
        observer.check();
        let best = gaps.best(&shrunk_by(n_rows, &by_row, &by_column, &row_share, &column_share));
        let Some(best) = best.filter(|best| best.gap > trace.threshold && trace.steps.len() < most) else {
            trace.next = best.map(|best| best.gap);
            trace.sorted = gaps.n_sorted();
            let weigh = |(at, cell): (usize, &f64)| cell * row_share[at / n_columns] * column_share[at % n_columns];
            trace.weighted = by_row.iter().enumerate().map(weigh).collect();
            return trace;
        };
        let (row, column) = (best.row, best.column);
        trace.steps.push(Step { row, column, score: best.gap });
        gaps.eliminate(row, column, |row, column| {
            by_row[row * n_columns + column] * row_share[row] * column_share[column]
        });
        by_row[row * n_columns + column] = f64::NAN;
        by_column[column * n_rows + row] = f64::NAN;
        let of_row = 1.0 - 1.0 / gaps.left(row) as f64;
        let of_column = 1.0 - 1.0 / gaps.left(n_rows + column) as f64;
        let row_before = std::mem::replace(&mut row_share[row], of_row);
        let column_before = std::mem::replace(&mut column_share[column], of_column);
        let distances = &by_row[row * n_columns..][..n_columns];
        gaps.scale(row, of_row / row_before, distances, &column_share, row_before - of_row);
        let distances = &by_column[column * n_rows..][..n_rows];
        gaps.scale(n_rows + column, of_column / column_before, distances, &row_share, column_before - of_column);
    }
}

/// Definition 5.3: what is one of few is likely the original, and its distance counts less.
pub(super) fn shrunk(distance: f64, left_in_row: usize, left_in_column: usize) -> f64 {
    distance * (1.0 - 1.0 / left_in_row as f64) * (1.0 - 1.0 / left_in_column as f64)
}

/// The same for cells of a row, or of a column numbered behind all rows, by the factors of rows and columns.
fn shrunk_by<'a>(
    n_rows: usize,
    by_row: &'a [f64],
    by_column: &'a [f64],
    of_row: &'a [f64],
    of_column: &'a [f64],
) -> impl Fn(usize, &[u32], &mut Vec<f64>) + 'a {
    move |group, places, cells| match group.checked_sub(n_rows) {
        None => {
            let (line, of_row) = (&by_row[group * of_column.len()..][..of_column.len()], of_row[group]);
            cells.extend(places.iter().map(|&at| line[at as usize] * of_row * of_column[at as usize]));
        }
        Some(column) => {
            let (line, of_column) = (&by_column[column * n_rows..][..n_rows], of_column[column]);
            cells.extend(places.iter().map(|&at| line[at as usize] * of_row[at as usize] * of_column));
        }
    }
}
