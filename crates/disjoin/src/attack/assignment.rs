//! The best way to give every row a column of its own.
//!
//! Rows are taken in one after the other. Prices of rows and columns keep every reduced cost at 0 or above; a new row
//! looks for the cheapest path over rows that have a column already to a column that is free, and those rows move on.
//!
//! Paper:      kuhn1955, in the form of jonker1987 (shortest augmenting paths)
//! Promises:   no other assignment has a larger sum of scores
//! Cost:       O(rows^2 * columns)
//! Checked by: tests in this file, against all assignments

use crate::observer::Observer;

/// In the place of a row: nobody has the column.
const FREE: usize = usize::MAX;

/// For each row, its column. `scores` holds finite numbers row by row; there are at least as many columns as rows.
pub(super) fn assign(scores: &[f64], n_columns: usize, observer: &dyn Observer) -> Vec<usize> {
    let n_rows = scores.len().checked_div(n_columns).unwrap_or(0);
    debug_assert!(n_rows <= n_columns && scores.iter().all(|score| score.is_finite()));
    let mut row_price = vec![0.0; n_rows];
    let mut column_price = vec![0.0; n_columns];
    let mut owner = vec![FREE; n_columns];
    // From which column, or from none, the cheapest path comes to each column.
    let mut from = vec![FREE; n_columns];
    let (mut distance, mut done) = (vec![f64::INFINITY; n_columns], vec![false; n_columns]);
    for new in 0..n_rows {
        observer.check();
        distance.fill(f64::INFINITY);
        done.fill(false);
        let (mut row, mut last, mut so_far) = (new, FREE, 0.0);
        let end = loop {
            let mut nearest = FREE;
            for column in (0..n_columns).filter(|&column| !done[column]) {
                let reduced = -scores[row * n_columns + column] - row_price[row] - column_price[column];
                if so_far + reduced < distance[column] {
                    distance[column] = so_far + reduced;
                    from[column] = last;
                }
                if nearest == FREE || distance[column] < distance[nearest] {
                    nearest = column;
                }
            }
            done[nearest] = true;
            so_far = distance[nearest];
            if owner[nearest] == FREE {
                break nearest;
            }
            (row, last) = (owner[nearest], nearest);
        };
        row_price[new] += so_far;
        for column in (0..n_columns).filter(|&column| done[column] && column != end) {
            row_price[owner[column]] += so_far - distance[column];
            column_price[column] -= so_far - distance[column];
        }
        let mut column = end;
        while from[column] != FREE {
            owner[column] = owner[from[column]];
            column = from[column];
        }
        owner[column] = new;
    }
    let mut assigned = vec![0; n_rows];
    owner.iter().enumerate().filter(|(_, row)| **row != FREE).for_each(|(column, &row)| assigned[row] = column);
    assigned
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// The largest sum over all assignments.
    fn best(scores: &[f64], n_columns: usize, row: usize, taken: &mut Vec<bool>) -> f64 {
        if row * n_columns == scores.len() {
            return 0.0;
        }
        let mut most = f64::NEG_INFINITY;
        for column in 0..n_columns {
            if !taken[column] {
                taken[column] = true;
                most = most.max(scores[row * n_columns + column] + best(scores, n_columns, row + 1, taken));
                taken[column] = false;
            }
        }
        most
    }

    #[test]
    fn no_assignment_is_better() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for round in 0..1_500 {
            let n_columns = rng.random_range(1..=7);
            let n_rows = rng.random_range(0..=n_columns);
            // Every other matrix has many ties.
            let draw = |rng: &mut ChaCha8Rng| match round % 2 {
                0 => rng.random_range(-4.0..4.0),
                _ => f64::from(rng.random_range(-2..=2)),
            };
            let scores: Vec<f64> = (0..n_rows * n_columns).map(|_| draw(&mut rng)).collect();
            let assigned = assign(&scores, n_columns, &crate::observer::Unobserved);
            let mut columns = assigned.clone();
            columns.sort_unstable();
            columns.dedup();
            assert_eq!((assigned.len(), columns.len()), (n_rows, n_rows), "{scores:?}");
            let sum: f64 = assigned.iter().enumerate().map(|(row, column)| scores[row * n_columns + column]).sum();
            let most = best(&scores, n_columns, 0, &mut vec![false; n_columns]);
            assert!((sum - most).abs() < 1e-9, "{sum} instead of {most}: {scores:?}");
        }
    }

    #[test]
    fn a_cluster_of_hundreds_is_no_trouble() {
        let n = 300;
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let mut scores: Vec<f64> = (0..n * n).map(|_| rng.random_range(0.0..1.0)).collect();
        (0..n).for_each(|row| scores[row * n + (row * 7 + 3) % n] = 2.0);
        assert_eq!(
            assign(&scores, n, &crate::observer::Unobserved),
            (0..n).map(|row| (row * 7 + 3) % n).collect::<Vec<_>>()
        );
    }
}
