//! beta-likeness first: the largest class that holds, then cut into smaller ones for as long as they hold.
//!
//! From every cluster of rows of which nearly the same is believed, as many rows as can be a class: with c_i rows of value i
//! and f(p_i) its highest share, the largest N with
//!
//! ```text
//! N = sum of min(c_i, floor(f(p_i) N)),   by iteration from N = |C|
//! ```
//!
//! That class is cut in two along a column, the rows of each sensitive value at their own median: both sides then have nearly the
//! shares of the whole, so seeing them tells hardly more than seeing the whole. Of all columns the one that loses least is taken.
//!
//! Paper:      amiri2016, section 1 (beta-likeness-primacy; the details are ours)
//! Promises:   every class holds, with overall shares those of the rows drawn, and beliefs about its rows agree. N is the largest
//!             there is
//! Departs:    the overall shares p are those of the rows drawn, so clusters are drawn from again until all hold; of a value with
//!             too many rows those furthest from the middle of the cluster are left over. With several sensitive columns each is
//!             drawn for in turn, until nothing changes. A value that is as frequent as it may be has an odd row too many on one
//!             side of every cut: such rows are left over, at a price, or the largest class of a cluster could never be cut. A cut
//!             must pay (`WORTH`). Plain cuts at the median are not tried: they tell more
//! Cost:       O(n log n) for each level of cuts and column
//! Checked by: tests/it/background.rs; tests in this file

use rayon::prelude::*;

use super::trim::{place, trim};
use super::{Problem, agglomerate};
use crate::data::Partition;
use crate::data::table::Column;
use crate::error::Result;
use crate::knowledge::background::Metric;
use crate::release::privacy_models::ROUNDING;

/// Draws are repeated so often at most; what then fails is settled later.
const ROUNDS: usize = 100;

/// What a row that is left over costs, in rows that lose all they have: it may fit nowhere, and then moves the overall shares.
const LEFT_OVER: f64 = 2.0;

/// A cut of a class of at most `SMALL` times k rows must lower the loss by this share of it, one of a class twice as large by half
/// of that, and so on: what the shares of a class tell of one of its rows falls as its size grows, and what is gained must be worth it.
const WORTH: f64 = 0.1;
const SMALL: f64 = 4.0;

pub(super) fn partition(problem: &Problem<'_>) -> Result<Partition> {
    let Drawn { problem, parts, leftover } = draw(problem)?;
    let found = parts.into_par_iter().map(|rows| cut(&problem, rows)).collect();
    Ok(gathered(&problem, found, leftover))
}

/// Classes of all parts, with what each left aside and what was left over before put where it fits.
pub(super) fn gathered(
    problem: &Problem<'_>,
    found: Vec<(Vec<Vec<u32>>, Vec<u32>)>,
    mut leftover: Vec<u32>,
) -> Partition {
    let mut classes = Vec::new();
    for (of_part, aside) in found {
        classes.extend(of_part);
        leftover.extend(aside);
    }
    leftover.sort_unstable();
    let removed = place(problem, &problem.judge, &mut classes, leftover, f64::INFINITY);
    let mut partition = Partition::default();
    partition.removed = removed;
    classes.iter().for_each(|rows| partition.push(rows));
    partition
}

/// What can be a class of each cluster.
pub(super) struct Drawn<'a> {
    /// The same problem, with overall shares of the rows that were drawn.
    pub(super) problem: Problem<'a>,
    /// The rows drawn from each cluster, which hold.
    pub(super) parts: Vec<Vec<u32>>,
    /// All others.
    pub(super) leftover: Vec<u32>,
}

/// Draws the largest class from every cluster. Rows that are left over move the overall shares, so this is done again with
/// those of the rows that were drawn, until all hold.
pub(super) fn draw<'a>(problem: &Problem<'a>) -> Result<Drawn<'a>> {
    let clusters = agglomerate::clusters(problem);
    let (mut parts, mut leftover) = (clusters.groups, clusters.removed);
    for _ in 0..ROUNDS {
        let now = problem.over(parts.iter().flatten().copied())?;
        let draw = |rows: &Vec<u32>| {
            // What is believed of the rows of a cluster agrees: counts decide.
            let holds = |rows: &[u32]| now.judge.holds(&now.judge.of(rows.iter().copied()));
            if holds(rows) {
                return (rows.clone(), Vec::new());
            }
            let (drawn, aside) = largest(&now, rows);
            if holds(&drawn) { (drawn, aside) } else { (Vec::new(), rows.clone()) }
        };
        let found: Vec<(Vec<u32>, Vec<u32>)> = parts.par_iter().map(draw).collect();
        let before = leftover.len();
        parts = Vec::with_capacity(found.len());
        for (drawn, aside) in found {
            leftover.extend(aside);
            if !drawn.is_empty() {
                parts.push(drawn);
            }
        }
        if leftover.len() == before {
            return Ok(Drawn { problem: now, parts, leftover });
        }
    }
    Ok(Drawn { problem: problem.over(parts.iter().flatten().copied())?, parts, leftover })
}

/// As many rows as caps allow, and the others.
fn largest(problem: &Problem<'_>, rows: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let Some(caps) = problem.judge.caps() else { return (rows.to_vec(), Vec::new()) };
    let from_middle = from_middle(problem, rows);
    // Nearest to the middle first: the first so many of each value stay.
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_unstable_by(|&a, &b| from_middle[a].total_cmp(&from_middle[b]).then(rows[a].cmp(&rows[b])));
    let mut drawn: Vec<u32> = order.into_iter().map(|at| rows[at]).collect();
    let mut aside = Vec::new();
    loop {
        problem.observer.check();
        let before = drawn.len();
        for (at, column) in problem.judge.columns().iter().enumerate() {
            let place = problem.judge.counts_of(at);
            let counts = &problem.judge.of(drawn.iter().copied()).counts[place.clone()];
            let mut room = most(counts, &caps[place]);
            drawn.retain(|&row| {
                let room = &mut room[column.codes[row as usize] as usize];
                let stays = *room > 0;
                *room -= u32::from(stays);
                if !stays {
                    aside.push(row);
                }
                stays
            });
        }
        if drawn.len() == before {
            drawn.sort_unstable();
            return (drawn, aside);
        }
    }
}

/// How many rows of each value are in the largest class within the caps.
fn most(counts: &[u32], caps: &[f64]) -> Vec<u32> {
    let mut kept = counts.to_vec();
    loop {
        let n: u32 = kept.iter().sum();
        // The same room for rounding as where classes are checked.
        let allowed = |cap: f64| ((cap + ROUNDING) * f64::from(n)).floor() as u32;
        let fewer: Vec<u32> = counts.iter().zip(caps).map(|(&count, &cap)| count.min(allowed(cap))).collect();
        if fewer == kept {
            return kept;
        }
        kept = fewer;
    }
}

/// The distance of each row from the middle: the median of numbers, the most frequent word.
fn from_middle(problem: &Problem<'_>, rows: &[u32]) -> Vec<f64> {
    let mut distances = vec![0.0; rows.len()];
    for column in &problem.quasi {
        let mut codes: Vec<u32> = rows.iter().map(|&row| column.codes[row as usize]).collect();
        codes.sort_unstable();
        let middle = match column.domain.numbers() {
            Some(_) => codes.get(codes.len() / 2).copied(),
            None => codes.chunk_by(|a, b| a == b).rev().max_by_key(|same| same.len()).map(|same| same[0]),
        };
        let metric = Metric::new(&column.domain);
        for (distance, &row) in distances.iter_mut().zip(rows) {
            *distance += middle.map_or(0.0, |middle| metric.between(middle, column.codes[row as usize]));
        }
    }
    distances
}

/// Cuts a class that holds into classes that hold, for as long as that pays; and the rows left over.
fn cut(problem: &Problem<'_>, rows: Vec<u32>) -> (Vec<Vec<u32>>, Vec<u32>) {
    problem.observer.check();
    let Some(Halves { left, right, mut aside, .. }) = halves(problem, &rows) else { return (vec![rows], Vec::new()) };
    let ((mut classes, of_left), (others, of_right)) = rayon::join(|| cut(problem, left), || cut(problem, right));
    classes.extend(others);
    aside.extend(of_left);
    aside.extend(of_right);
    (classes, aside)
}

/// A class cut in two.
struct Halves {
    left: Vec<u32>,
    right: Vec<u32>,
    /// Rows that fit on neither side.
    aside: Vec<u32>,
    /// The penalty of all of them.
    loss: f64,
}

/// The best cut that holds and pays.
fn halves(problem: &Problem<'_>, rows: &[u32]) -> Option<Halves> {
    if rows.len() < 2 * problem.judge.k() as usize || rows.len() < 2 {
        return None;
    }
    let penalty = |rows: &[u32]| rows.len() as f64 * problem.loss(rows);
    let of_row_left_over = LEFT_OVER * problem.quasi.len() as f64;
    // Parts of rows that hold stay within what the whole agrees on: beliefs need not be looked at.
    let holds = |part: &[u32]| !part.is_empty() && problem.judge.holds(&problem.judge.of(part.iter().copied()));
    let along = |column: &&Column| {
        let mut sorted = rows.to_vec();
        sorted.sort_unstable_by_key(|&row| (order(column, row), row));
        let [first, .., last] = sorted[..] else { return None };
        if order(column, first) == order(column, last) {
            return None;
        }
        let (mut left, mut right) = deal(problem, &sorted);
        let mut aside = trim(problem, &problem.judge, &mut left);
        aside.extend(trim(problem, &problem.judge, &mut right));
        if !holds(&left) || !holds(&right) {
            return None;
        }
        let loss = penalty(&left) + penalty(&right) + aside.len() as f64 * of_row_left_over;
        Some(Halves { left, right, aside, loss })
    };
    let best = problem.quasi.iter().filter_map(along).min_by(|a, b| a.loss.total_cmp(&b.loss))?;
    let worth = WORTH * (SMALL * f64::from(problem.judge.k()) / rows.len() as f64).min(1.0);
    (best.loss < (1.0 - worth) * penalty(rows)).then_some(best)
}

/// Where a row stands along a column: by number, along the hierarchy, or by text.
fn order(column: &Column, row: u32) -> u32 {
    let code = column.codes[row as usize];
    match column.domain.hierarchy() {
        Some(hierarchy) if column.domain.numbers().is_none() && code < column.domain.missing() => {
            hierarchy.position(code)
        }
        _ => code,
    }
}

/// The first half of the rows of each combination of sensitive values, and the second. Of odd ones the two sides take turns.
fn deal(problem: &Problem<'_>, sorted: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let values = |row: u32| problem.judge.columns().iter().map(move |column| column.codes[row as usize]);
    let mut by_value = sorted.to_vec();
    // Stable: the order along the column is kept.
    by_value.sort_by(|&a, &b| values(a).cmp(values(b)));
    let (mut left, mut right, mut takes_odd) = (Vec::new(), Vec::new(), true);
    for same in by_value.chunk_by(|&a, &b| values(a).eq(values(b))) {
        let is_odd = same.len() % 2 == 1;
        let (first, second) = same.split_at(same.len() / 2 + usize::from(is_odd && takes_odd));
        takes_odd ^= is_odd;
        left.extend(first);
        right.extend(second);
    }
    (left, right)
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn the_draw_is_the_largest_there_is() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let (mut fewer, mut none) = (0, 0);
        for _ in 0..3000 {
            let n_values = rng.random_range(1..6);
            let counts: Vec<u32> = (0..n_values).map(|_| rng.random_range(0..15)).collect();
            let caps: Vec<f64> = (0..n_values).map(|_| f64::from(rng.random_range(0..20)) / 20.0).collect();
            let all: u32 = counts.iter().sum();
            // Of all sizes the largest for which there are so many rows within the caps.
            let available = |n: u32| -> u32 {
                let room = |cap: f64| (cap * f64::from(n) + 1e-6).floor() as u32;
                counts.iter().zip(&caps).map(|(&count, &cap)| count.min(room(cap))).sum()
            };
            let largest = (0..=all).rev().find(|&n| available(n) >= n).unwrap();
            let kept = most(&counts, &caps);
            assert_eq!(kept.iter().sum::<u32>(), largest, "{counts:?} {caps:?}");
            fewer += u32::from(largest < all && largest > 0);
            none += u32::from(largest == 0);
        }
        assert!(fewer > 300 && none > 300, "{fewer} {none}");
    }
}
