//! Which rows must go so that the rest may be a class, and where else they fit.
//!
//! Paper:      amiri2016, the proportional draw of beta-likeness-primacy (reconstructed): the largest N = sum of min(c_i, f_i N)
//! Promises:   `fitting` rows of a class can be chosen that satisfy the criteria; `trim` chooses them; `place` puts rows only
//!             where the class still satisfies them
//! Assumes:    one sensitive column and limits on shares (beta-likeness, alpha); otherwise nothing is trimmed, and a class holds
//!             or does not
//! Cost:       `fitting`: a few passes over the sensitive values; `place`: rows times classes, with early ways out
//! Checked by: `the_largest_part_that_fits_is_found` in this file; `tests/it/tabular.rs`

use rayon::prelude::*;

use super::Problem;
use super::extent::Boxes;
use crate::release::privacy_models::{Histogram, Judge, ROUNDING};

/// How many rows of a class with these counts can stay; none if no k of them satisfy the criteria.
pub(super) fn fitting(judge: &Judge<'_>, class: &Histogram) -> u32 {
    if judge.is_size_only() {
        return if class.size >= judge.k() { class.size } else { 0 };
    }
    let Some(caps) = judge.caps().filter(|_| judge.columns().len() == 1 && !judge.has_sets()) else {
        return if judge.holds(class) { class.size } else { 0 };
    };
    let rows = largest(&class.counts, caps);
    if rows < judge.k() {
        return 0;
    }
    let is_fine = judge.is_caps_only() || {
        let counts = class.counts.iter().zip(caps).map(|(&count, &cap)| count.min(most(cap, rows))).collect();
        judge.holds(&Histogram { size: rows, with_set: 0, counts })
    };
    if is_fine { rows } else { 0 }
}

/// The largest N = sum of min(c_i, floor(f_i N)), from above: the sum is never above N where it began above.
fn largest(counts: &[u32], caps: &[f64]) -> u32 {
    let mut rows = counts.iter().sum();
    loop {
        let next = counts.iter().zip(caps).map(|(&count, &cap)| count.min(most(cap, rows))).sum();
        if next == rows {
            return rows;
        }
        rows = next;
    }
}

/// How many of so many rows may have a value that is allowed this share.
pub(super) fn most(cap: f64, rows: u32) -> u32 {
    // A cap above all counts is as good as none: the cast saturates.
    ((cap + ROUNDING) * f64::from(rows)).floor() as u32
}

/// Takes rows of values that are too frequent out of a class until it satisfies the criteria; all of them, if no part does.
/// Rows that stand apart go first.
pub(super) fn trim(problem: &Problem<'_>, judge: &Judge<'_>, rows: &mut Vec<u32>) -> Vec<u32> {
    problem.observer.check();
    if judge.caps().is_none() {
        return if judge.rows_hold(rows) { Vec::new() } else { std::mem::take(rows) };
    }
    let class = judge.of(rows.iter().copied());
    let fitting = fitting(judge, &class);
    if fitting == class.size {
        return Vec::new();
    }
    let (true, Some(caps)) = (fitting > 0, judge.caps()) else { return std::mem::take(rows) };
    let mut order = apart(problem, rows);
    order.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let codes = &judge.columns()[0].codes;
    let mut over: Vec<u32> =
        class.counts.iter().zip(caps).map(|(&count, &cap)| count.saturating_sub(most(cap, fitting))).collect();
    let mut goes = Vec::new();
    for (_, row) in order {
        let over = &mut over[codes[row as usize] as usize];
        if *over > 0 {
            *over -= 1;
            goes.push(row);
        }
    }
    goes.sort_unstable();
    rows.retain(|row| goes.binary_search(row).is_err());
    goes
}

/// How far each row stands apart from its class: by how few others share its value, or by the distance from the middle.
fn apart(problem: &Problem<'_>, rows: &[u32]) -> Vec<(f64, u32)> {
    let mut apart: Vec<(f64, u32)> = rows.iter().map(|&row| (0.0, row)).collect();
    let n = rows.len() as f64;
    for (column, shape) in problem.quasi.iter().zip(&problem.shapes) {
        let mut codes: Vec<u32> = rows.iter().map(|&row| column.codes[row as usize]).collect();
        codes.sort_unstable();
        let middle = codes[codes.len() / 2];
        for (apart, row) in &mut apart {
            let code = column.codes[*row as usize];
            *apart += shape.distance(code, middle).unwrap_or_else(|| {
                let same = codes.partition_point(|&other| other <= code) - codes.partition_point(|&other| other < code);
                1.0 - same as f64 / n
            });
        }
    }
    apart
}

/// Puts each row into the class that grows least by it and still satisfies the criteria, if that costs less than `price`.
/// Returns the rows that fit nowhere.
pub(super) fn place(
    problem: &Problem<'_>,
    judge: &Judge<'_>,
    classes: &mut [Vec<u32>],
    rows: Vec<u32>,
    price: f64,
) -> Vec<u32> {
    if rows.is_empty() {
        return rows;
    }
    let (shapes, quasi) = (&problem.shapes[..], &problem.quasi[..]);
    let mut open: Vec<(Boxes, Histogram)> =
        classes.par_iter().map(|class| (Boxes::of(shapes, quasi, class), judge.of(class.iter().copied()))).collect();
    let mut left = Vec::new();
    for row in rows {
        problem.observer.check();
        let cost = |(class, (boxes, counts)): (usize, &(Boxes, Histogram))| {
            let (size, loss) = (f64::from(counts.size), boxes.loss());
            if loss >= price {
                return None;
            }
            let cost = (size + 1.0) * boxes.loss_with(shapes, quasi, row) - size * loss;
            (cost < price).then_some((cost, class))
        };
        let mut costs: Vec<(f64, usize)> = open.par_iter().enumerate().with_min_len(256).filter_map(cost).collect();
        let takes = |class: usize| {
            let mut counts = open[class].1.clone();
            judge.add(&mut counts, row);
            judge.holds(&counts) && problem.agrees_with(&classes[class], row)
        };
        let taker = cheapest_that(&mut costs, takes);
        match taker {
            Some(class) => {
                open[class].0.add(shapes, quasi, row);
                judge.add(&mut open[class].1, row);
                classes[class].push(row);
            }
            None => left.push(row),
        }
    }
    left
}

/// The first in order of cost that passes a test; what comes later is not sorted.
fn cheapest_that(costs: &mut [(f64, usize)], passes: impl Fn(usize) -> bool) -> Option<usize> {
    let mut from = 0;
    let mut step = 32;
    while from < costs.len() {
        let rest = &mut costs[from..];
        let head = step.min(rest.len());
        if head < rest.len() {
            rest.select_nth_unstable_by(head - 1, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        }
        rest[..head].sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        if let Some(&(_, class)) = rest[..head].iter().find(|(_, class)| passes(*class)) {
            return Some(class);
        }
        from += head;
        step *= 4;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};

    #[test]
    fn the_largest_part_that_fits_is_found() {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(7);
        for _ in 0..5_000 {
            let counts: Vec<u32> = (0..rng.random_range(1..5)).map(|_| rng.random_range(0..12)).collect();
            let caps: Vec<f64> = counts.iter().map(|_| f64::from(rng.random_range(0..12)) / 10.0).collect();
            // By definition: some c'_i <= c_i with c'_i <= f_i N for N their sum; the more of each the better.
            let fits = |n: u32| counts.iter().zip(&caps).map(|(&c, &f)| c.min(most(f, n))).sum::<u32>() >= n;
            let expected = (0..=counts.iter().sum()).rev().find(|&n| fits(n)).unwrap();
            assert_eq!(largest(&counts, &caps), expected, "{counts:?} {caps:?}");
        }
    }

    #[test]
    fn the_cheapest_is_found_wherever_it_is() {
        let mut costs: Vec<(f64, usize)> = (0..300).map(|i| (f64::from((i * 7919) % 300), i as usize)).collect();
        let expected = costs.iter().filter(|(cost, _)| *cost >= 250.0).min_by(|a, b| a.0.total_cmp(&b.0)).unwrap().1;
        let cost_of: Vec<f64> = costs.iter().map(|(cost, _)| *cost).collect();
        assert_eq!(cheapest_that(&mut costs, |class| cost_of[class] >= 250.0), Some(expected));
        assert_eq!(cheapest_that(&mut costs, |_| false), None);
    }
}
