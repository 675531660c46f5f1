//! Microaggregation: groups of k rows around those that are furthest from the centre; and the fast one that merely sorts.
//!
//! Paper:      MDAV by Domingo-Ferrer, Torra 2005, as sdcMicro has it; the sort is the k-anonymity of mu-ANT
//! Promises:   groups of k to 2k - 1 rows before criteria other than size are looked at
//! Departs:    where other criteria cannot hold for k rows, k is the least number of rows for which they can. A group that
//!             still fails one is merged with its nearest (as soria_comas.rs does), or goes on until it holds (the sort).
//!             Where beliefs must agree, rows about which they do are grouped among themselves
//! Cost:       MDAV: O(n^2 / k) look-ups a column, on all cores; the sort: O(n log n)
//! Checked by: tests in this file, against MDAV word by word, and `tests/it/tabular.rs`

use super::Problem;
use super::distance::{Space, agreeing};
use super::soria_comas::merge_failing;
use crate::data::Partition;
use crate::error::Result;
use crate::release::privacy_models::{Criterion, ROUNDING};

/// Up to so many nearest rows are kept in order while distances are read; more are selected afterwards.
const FEW: usize = 32;

/// Groups of k; those that fail other criteria are merged.
pub(super) fn partition(problem: &Problem<'_>) -> Result<Partition> {
    let space = Space::new(problem);
    Ok(of_agreeing(problem, |rows| {
        let k = least_size(problem);
        let groups = microaggregate(&space, rows, k, |_, distances| nearest(distances, k));
        merge_failing(problem, &space, groups)
    }))
}

/// Rows in the order of their distance from one corner, cut as soon as the criteria hold.
pub(super) fn sorted(problem: &Problem<'_>) -> Result<Partition> {
    let space = Space::new(problem);
    Ok(of_agreeing(problem, |rows| {
        let mut distances = Vec::new();
        space.distances(&space.origin(), rows, &mut distances);
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by(|&a, &b| distances[a].total_cmp(&distances[b]));
        gather(problem, order.into_iter().map(|i| vec![rows[i]]))
    }))
}

/// Classes that are made within each group of rows about which beliefs agree.
pub(super) fn of_agreeing(problem: &Problem<'_>, classes: impl Fn(&[u32]) -> Vec<Vec<u32>>) -> Partition {
    let mut partition = Partition::default();
    agreeing(problem).iter().flat_map(|rows| classes(rows)).for_each(|class| partition.push(&class));
    partition
}

/// The least number of rows that can satisfy the criteria, as far as their limits tell.
pub(super) fn least_size(problem: &Problem<'_>) -> usize {
    let judge = &problem.judge;
    let of = |criterion: &Criterion| match *criterion {
        Criterion::KAnonymity { k } => k,
        Criterion::DistinctDiversity { l } | Criterion::RecursiveDiversity { l, .. } => l,
        Criterion::EntropyDiversity { l } => (l - 2.0 * ROUNDING * l).ceil() as u32,
        Criterion::Frequency { alpha } => (1.0 / (alpha + 2.0 * ROUNDING)).ceil() as u32,
        Criterion::Likeness { .. }
        | Criterion::Closeness { .. }
        | Criterion::KnowledgeBreach { .. }
        | Criterion::Background { .. } => 1,
    };
    let least = judge.criteria().iter().map(of).max().unwrap_or(1).max(1) as usize;
    // Likeness leaves each value so many rows; those of all must be enough.
    let room = |cap: f64, size: usize| ((cap + 2.0 * ROUNDING) * size as f64).floor() as usize;
    let fits = |size: &usize| {
        let Some(caps) = judge.caps() else { return true };
        let of_column = |column| caps[judge.counts_of(column)].iter().map(|&cap| room(cap, *size)).sum::<usize>();
        (0..judge.columns().len()).all(|column| of_column(column) >= *size)
    };
    (least..problem.table.n_rows()).find(fits).unwrap_or(least)
}

/// Joins blocks of rows in their order, until a class holds, and then the next. What is left at the end joins the class
/// before, and that the one before, until it holds. Beliefs must agree within all.
pub(super) fn gather(problem: &Problem<'_>, blocks: impl IntoIterator<Item = Vec<u32>>) -> Vec<Vec<u32>> {
    let judge = &problem.judge;
    let mut classes = Vec::new();
    let (mut open, mut counts) = (Vec::new(), judge.empty());
    for (at, block) in blocks.into_iter().enumerate() {
        if at & 0x3f == 0 {
            problem.observer.check();
        }
        block.iter().for_each(|&row| judge.add(&mut counts, row));
        open.extend(block);
        if judge.holds(&counts) {
            classes.push(std::mem::take(&mut open));
            counts = judge.empty();
        }
    }
    while !open.is_empty() {
        let Some(mut before) = classes.pop() else { return vec![open] };
        before.iter().for_each(|&row| judge.add(&mut counts, row));
        before.append(&mut open);
        match judge.holds(&counts) {
            true => classes.push(before),
            false => open = before,
        }
    }
    classes
}

/// MDAV, with a free choice of who joins a seed: `take` gets the rows that are left and their distances from the seed, which
/// is at -1 itself, and returns the places of k or more of them, the seed's among them.
pub(super) fn microaggregate(
    space: &Space<'_>,
    rows: &[u32],
    k: usize,
    mut take: impl FnMut(&[u32], &[f64]) -> Vec<usize>,
) -> Vec<Vec<u32>> {
    let mut groups = Vec::new();
    let mut left = rows.to_vec();
    let mut tally = space.tally(rows);
    let mut distances = Vec::new();
    let mut around = |seed: usize, left: &mut Vec<u32>, tally: &mut [u32], distances: &mut Vec<f64>| {
        space.distances(&space.point(left[seed]), left, distances);
        distances[seed] = -1.0;
        let mut taken = take(left, distances);
        let group: Vec<u32> = taken.iter().map(|&place| left[place]).collect();
        space.untally(tally, &group);
        taken.sort_unstable();
        drop_places(left, &taken);
        drop_places(distances, &taken);
        groups.push(group);
    };
    while left.len() >= 2 * k {
        let is_last = left.len() < 3 * k;
        space.distances(&space.centre(&tally), &left, &mut distances);
        around(furthest(&distances), &mut left, &mut tally, &mut distances);
        // Distances are now those from the first seed to the rows that are left.
        if !is_last && !left.is_empty() {
            around(furthest(&distances), &mut left, &mut tally, &mut distances);
        }
    }
    if !left.is_empty() {
        groups.push(left);
    }
    groups
}

/// Leaves out what stands at some ascending places.
fn drop_places<T>(values: &mut Vec<T>, places: &[usize]) {
    let (mut place, mut next) = (0, places.iter().peekable());
    values.retain(|_| {
        let keep = next.next_if_eq(&&place).is_none();
        place += 1;
        keep
    });
}

/// The place of the greatest distance, the first of several.
pub(super) fn furthest(distances: &[f64]) -> usize {
    let mut furthest = 0;
    for (place, &distance) in distances.iter().enumerate() {
        if distance > distances[furthest] {
            furthest = place;
        }
    }
    furthest
}

/// The places of the k least distances, ascending by distance; of equal ones the first.
pub(super) fn nearest(distances: &[f64], k: usize) -> Vec<usize> {
    let by_distance = |a: &usize, b: &usize| distances[*a].total_cmp(&distances[*b]).then(a.cmp(b));
    if k > FEW {
        let mut places: Vec<usize> = (0..distances.len()).collect();
        if k < places.len() {
            places.select_nth_unstable_by(k, by_distance);
            places.truncate(k);
        }
        places.sort_unstable_by(by_distance);
        return places;
    }
    let mut nearest: Vec<usize> = Vec::with_capacity(k + 1);
    let mut limit = f64::INFINITY;
    for (place, &distance) in distances.iter().enumerate() {
        if nearest.len() < k || distance < limit {
            let at = nearest.partition_point(|&other| distances[other] <= distance);
            nearest.insert(at, place);
            nearest.truncate(k);
            limit = nearest.last().map_or(limit, |&last| distances[last]);
        }
    }
    nearest
}

#[cfg(test)]
mod tests {
    use super::super::{Method, Params};
    use super::*;
    use crate::data::table::{Column, Role, Table};
    use crate::release::privacy_models::Criterion;
    use rand::{RngExt, SeedableRng};

    /// MDAV as it is written: plain squares, every distance anew.
    fn word_by_word(rows: &[Vec<f64>], k: usize) -> Vec<Vec<u32>> {
        let (n, d) = (rows.len() as f64, rows[0].len());
        let mean = |of: &[u32], a: usize| of.iter().map(|&r| rows[r as usize][a]).sum::<f64>() / of.len() as f64;
        let all: Vec<u32> = (0..rows.len() as u32).collect();
        let variance: Vec<f64> =
            (0..d).map(|a| rows.iter().map(|r| (r[a] - mean(&all, a)).powi(2)).sum::<f64>() / n).collect();
        let distance =
            |x: &[f64], y: &[f64]| -> f64 { (0..d).map(|a| (x[a] - y[a]).powi(2) / variance[a].max(1e-300)).sum() };
        let mut left = all.clone();
        let mut groups = Vec::new();
        let furthest = |from: &[f64], left: &[u32]| {
            let mut best = left[0];
            for &row in left {
                if distance(from, &rows[row as usize]) > distance(from, &rows[best as usize]) + 1e-12 {
                    best = row;
                }
            }
            best
        };
        let group = |seed: u32, left: &mut Vec<u32>| {
            let key = |row: u32| if row == seed { -1.0 } else { distance(&rows[seed as usize], &rows[row as usize]) };
            let mut order = left.clone();
            order.sort_by(|&a, &b| key(a).total_cmp(&key(b)));
            order.truncate(k);
            left.retain(|row| !order.contains(row));
            order
        };
        while left.len() >= 2 * k {
            let centre: Vec<f64> = (0..d).map(|a| mean(&left, a)).collect();
            let (seed, both) = (furthest(&centre, &left), left.len() >= 3 * k);
            groups.push(group(seed, &mut left));
            if both {
                let other = furthest(&rows[seed as usize], &left);
                groups.push(group(other, &mut left));
            }
        }
        groups.push(left);
        groups
    }

    #[test]
    fn groups_are_those_of_mdav_word_by_word() {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
        for round in 0..60 {
            let (n, d, k) = (rng.random_range(6..90), rng.random_range(1..4), rng.random_range(2..7));
            // Powers of two as the range and irregular values: no ties by accident, few by rounding.
            let value = |rng: &mut rand_chacha::ChaCha8Rng| rng.random_range(0..1 << 20) as f64;
            let rows: Vec<Vec<f64>> = (0..n).map(|_| (0..d).map(|_| value(&mut rng)).collect()).collect();
            let column = |a: usize| Column::numbers("n", Role::Quasi, rows.iter().map(|row| Some(row[a])));
            let table = Table::new(n, (0..d).map(column).collect(), None);
            let criteria = vec![Criterion::KAnonymity { k: k as u32 }];
            let params = Params { method: Method::Mdav, criteria, most_removed: 0.0, seed: 0 };
            let problem = Problem::new(&table, &params, None).unwrap();
            let ours = partition(&problem).unwrap();
            let of_mdav: Vec<Vec<u32>> = if n >= k { word_by_word(&rows, k) } else { vec![problem.rows()] };
            let of_mdav: Vec<&[u32]> = of_mdav.iter().map(Vec::as_slice).filter(|rows| !rows.is_empty()).collect();
            assert_eq!(ours.classes().collect::<Vec<_>>(), of_mdav, "round {round}");
        }
    }

    #[test]
    fn nearest_are_first_among_equals() {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(2);
        for _ in 0..200 {
            let n = rng.random_range(1..120);
            let distances: Vec<f64> = (0..n).map(|_| f64::from(rng.random_range(0..10))).collect();
            let mut order: Vec<usize> = (0..n).collect();
            order.sort_by(|&a, &b| distances[a].total_cmp(&distances[b]));
            for k in [1, 3, FEW, FEW + 1, 100] {
                assert_eq!(nearest(&distances, k), order[..k.min(n)]);
            }
            let most = distances.iter().copied().fold(0.0, f64::max);
            assert_eq!(furthest(&distances), distances.iter().position(|&distance| distance == most).unwrap());
        }
    }

    #[test]
    fn no_class_is_smaller_than_the_least() {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(3);
        let mut attained = 0;
        for round in 0..300 {
            let n = rng.random_range(3..10);
            let secrets: Vec<Option<f64>> = (0..n).map(|_| Some(f64::from(rng.random_range(0..5_u8)))).collect();
            let numbers = Column::numbers("n", Role::Quasi, (0..n).map(|row| Some(row as f64)));
            let table = Table::new(n, vec![numbers, Column::numbers("s", Role::Sensitive, secrets)], None);
            let criteria = vec![match round % 5 {
                0 => Criterion::DistinctDiversity { l: rng.random_range(2..4) },
                1 => Criterion::EntropyDiversity { l: [2.0, rng.random_range(1.1..4.0)][round % 2] },
                2 => Criterion::RecursiveDiversity { c: rng.random_range(0.5..3.0), l: 2 },
                3 => Criterion::Frequency { alpha: [0.5, rng.random_range(0.2..0.9)][round % 2] },
                _ => Criterion::Likeness { beta: rng.random_range(0.2..4.0), enhanced: round % 2 == 0 },
            }];
            let params = Params { method: Method::Mdav, criteria, most_removed: 0.0, seed: 0 };
            let problem = Problem::new(&table, &params, None).unwrap();
            let subsets =
                (1_u32..1 << n).map(|set| (0..n as u32).filter(|row| set >> row & 1 == 1).collect::<Vec<_>>());
            if let Some(smallest) = subsets.filter(|rows| problem.holds(rows)).map(|rows| rows.len()).min() {
                assert!(least_size(&problem) <= smallest, "round {round}");
                attained += usize::from(least_size(&problem) == smallest);
            }
        }
        assert!(attained > 150, "{attained}");
    }

    #[test]
    fn sorted_rows_are_cut_at_k() {
        let column = Column::numbers("n", Role::Quasi, [7.0, 1.0, 3.0, 5.0, 2.0, 6.0, 4.0].map(Some));
        let table = Table::new(7, vec![column], None);
        let criteria = vec![Criterion::KAnonymity { k: 3 }];
        let params = Params { method: Method::Sorted, criteria, most_removed: 0.0, seed: 0 };
        let problem = Problem::new(&table, &params, None).unwrap();
        let partition = sorted(&problem).unwrap();
        assert_eq!(partition.classes().collect::<Vec<_>>(), [&[1, 4, 2][..], &[6, 3, 5, 0]]);
    }
}
