//! Mondrian: the column in which rows differ most is cut at its median, as long as all parts satisfy the criteria.
//!
//! Paper:      LeFevre, DeWitt, Ramakrishnan: Mondrian Multidimensional K-Anonymity, ICDE 2006
//! Promises:   every class satisfies the criteria, if all rows as one class do
//! Departs:    words without a hierarchy have no order: they are cut in order of frequency. Missing values come last
//! Cost:       O(d n) a level, n log n for the order within a column; both parts are cut at the same time
//! Checked by: `tests/it/tabular.rs`, `the_median_parts_a_table_by_hand` in this file

use super::extent::{Boxes, Extent, Shape};
use super::{Problem, agglomerate};
use crate::data::Partition;
use crate::error::Result;

/// What happens to rows with the value of the median.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    /// They stay together, on the left.
    Strict,
    /// They are spread over both parts, so that these have the same size.
    Relaxed,
}

/// From so many rows on, both parts are cut at the same time.
const PARALLEL: usize = 4096;

/// Classes by cuts at medians; under a limit on beliefs, within groups of rows that may be together.
pub(super) fn partition(problem: &Problem<'_>, cut: Cut) -> Result<Partition> {
    let clusters = agglomerate::clusters(problem);
    let mut partition = Partition::default();
    for rows in clusters.groups {
        parts(problem, cut, rows).iter().for_each(|rows| partition.push(rows));
    }
    partition.removed = clusters.removed;
    Ok(partition)
}

fn parts(problem: &Problem<'_>, cut: Cut, rows: Vec<u32>) -> Vec<Vec<u32>> {
    problem.observer.check();
    let halves = match rows.len() >= 2 * problem.judge.k().max(1) as usize {
        true => part(problem, cut, &rows),
        false => None,
    };
    let Some(halves) = halves else { return vec![rows] };
    match rows.len() >= PARALLEL {
        true => {
            use rayon::prelude::*;
            halves.into_par_iter().map(|rows| parts(problem, cut, rows)).collect::<Vec<_>>().concat()
        }
        false => halves.into_iter().flat_map(|rows| parts(problem, cut, rows)).collect(),
    }
}

/// The parts of the widest column that can be cut; none if no column can.
fn part(problem: &Problem<'_>, cut: Cut, rows: &[u32]) -> Option<Vec<Vec<u32>>> {
    let mut widths: Vec<(f64, usize)> = Boxes::of(&problem.shapes, &problem.quasi, rows)
        .losses(&problem.shapes)
        .into_iter()
        .zip(0..)
        .filter(|(width, _)| *width > 0.0)
        .collect();
    widths.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let holds = |rows: &Vec<u32>| problem.judge.holds(&problem.judge.of_rows(rows));
    widths
        .into_iter()
        .map(|(_, column)| {
            problem.observer.check();
            cut_column(problem, cut, column, rows)
        })
        .find(|parts| parts.len() > 1 && parts.iter().all(holds))
}

fn cut_column(problem: &Problem<'_>, cut: Cut, column: usize, rows: &[u32]) -> Vec<Vec<u32>> {
    let (shape, codes) = (&problem.shapes[column], &problem.quasi[column].codes);
    let code = |row: &u32| codes[*row as usize];
    if let Shape::Tree { .. } = shape {
        return by_child(shape, rows, code);
    }
    let mut ordered = rows.to_vec();
    match shape {
        Shape::Words { .. } => {
            let mut counts = std::collections::HashMap::new();
            rows.iter().for_each(|row| *counts.entry(code(row)).or_insert(0_u32) += 1);
            ordered.sort_by_key(|row| (u32::MAX - counts[&code(row)], code(row)));
        }
        _ => ordered.sort_by_key(code),
    }
    let middle = ordered.len() / 2;
    let end = match cut {
        Cut::Relaxed => middle,
        Cut::Strict => {
            // Values up to the median go left; if those are all, values below it do.
            let median = code(&ordered[middle.saturating_sub(1)]);
            let first = ordered.iter().position(|row| code(row) == median).unwrap_or(0);
            let same = ordered[first..].iter().take_while(|row| code(row) == median).count();
            if first + same < ordered.len() { first + same } else { first }
        }
    };
    let right = ordered.split_off(end);
    [ordered, right].into_iter().filter(|rows| !rows.is_empty()).collect()
}

/// Rows below the same child of the lowest label above all are a part.
fn by_child(shape: &Shape<'_>, rows: &[u32], code: impl Fn(&u32) -> u32) -> Vec<Vec<u32>> {
    let mut extent = Extent::Nothing;
    rows.iter().for_each(|row| shape.include(&mut extent, code(row)));
    let mut keyed: Vec<(u32, u32)> = rows.iter().map(|row| (shape.child_below(&extent, code(row)), *row)).collect();
    keyed.sort_unstable();
    keyed.chunk_by(|a, b| a.0 == b.0).map(|part| part.iter().map(|(_, row)| *row).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Method, Params, anonymize};
    use crate::data::Table;
    use crate::data::table::{Column, Role};
    use crate::release::privacy_models::Criterion;

    #[test]
    fn the_median_parts_a_table_by_hand() {
        let ages = [20.0, 21.0, 22.0, 22.0, 22.0, 40.0, 50.0, 60.0];
        let table = Table::new(8, vec![Column::numbers("age", Role::Quasi, ages.map(Some))], None);
        let classes = |method| {
            let criteria = vec![Criterion::KAnonymity { k: 2 }];
            let params = Params { method, criteria, most_removed: 0.0, seed: 0 };
            let partition = anonymize(&table, &params, None).unwrap();
            partition.classes().map(<[u32]>::to_vec).collect::<Vec<_>>()
        };
        // The median of eight is the fourth: 22 and below go left. Of these five the third is 22: below it there are two.
        assert_eq!(classes(Method::Mondrian), [vec![0, 1], vec![2, 3, 4], vec![5, 6, 7]]);
        assert_eq!(classes(Method::MondrianRelaxed), [vec![0, 1], vec![2, 3], vec![4, 5], vec![6, 7]]);
    }
}
