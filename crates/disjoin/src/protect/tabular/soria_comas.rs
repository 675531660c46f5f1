//! Microaggregation that keeps sensitive values as they are overall: by merging groups, by swapping rows, or by construction.
//!
//! Paper:      Soria-Comas, Domingo-Ferrer, Sanchez, Martinez 2015 (t-closeness through microaggregation), algorithms 1 to 3
//! Promises:   by construction, groups of k' rows are within (n - k') / (2 (n - 1) k') of the whole if k' divides n and all n
//!             sensitive values differ; otherwise they are tested, and larger groups are built until all are within t
//! Departs:    any criteria, not closeness alone: a group is the further from them, the more it misses their limits, relative
//!             to these. Swaps are looked for among the nearest rows. Where groups by construction fail, k' grows by 1, 2, 4,
//!             ...: values that repeat, or are words, have no bound, and one by one it would take long. Where beliefs must
//!             agree, rows about which they do are grouped among themselves
//! Cost:       that of MDAV; a merge looks at the centres of all groups
//! Checked by: tests in this file: the bound on all choices, closeness on random columns; and `tests/it/tabular.rs`

use std::collections::BTreeMap;

use super::Problem;
use super::distance::{Point, Space};
use super::mdav::{self, least_size, microaggregate, nearest, of_agreeing};
use crate::data::Partition;
use crate::error::{Error, Result};
use crate::release::privacy_models::{
    Criterion, Distance, Histogram, Judge, ROUNDING, distance_equal, distance_hierarchical, distance_ordered,
};

/// Rows beyond a group, nearest first, that may be swapped in.
const NEAR: usize = 1024;
/// Of these, so many different sensitive values are tried.
const KINDS: usize = 32;
/// The most that one criterion can add to the excess of a group: some readings are infinite.
const MOST_EXCESS: f64 = 1e6;

/// Algorithm 1: groups of k, then the one furthest from the criteria is merged with its nearest until all hold.
pub(super) fn merge(problem: &Problem<'_>) -> Result<Partition> {
    mdav::partition(problem)
}

/// Algorithm 2: rows outside a group of k are swapped in where that brings it nearer to the criteria; then as algorithm 1.
pub(super) fn swap(problem: &Problem<'_>) -> Result<Partition> {
    let (space, kinds) = (Space::new(problem), kinds(problem));
    let k = least_size(problem);
    Ok(of_agreeing(problem, |rows| {
        let take = |left: &[u32], distances: &[f64]| swapped(problem, &kinds, k, left, distances);
        merge_failing(problem, &space, microaggregate(&space, rows, k, take))
    }))
}

/// Algorithm 3: rows in order of their sensitive value are cut into k' strata, and every group has one row of each.
pub(super) fn closeness_first(problem: &Problem<'_>) -> Result<Partition> {
    let limit = |c: &Criterion| if let Criterion::Closeness { t, .. } = c { Some(*t) } else { None };
    let limit = problem.judge.criteria().iter().filter_map(limit).reduce(f64::min);
    let (Some(t), Some(column)) = (limit, problem.judge.columns().first()) else {
        let told = "closeness-first makes classes by the limit of t-closeness, and none is asked for";
        return Err(Error::recipe("method", told, "ask for t-closeness with --t, or use microaggregation-merge"));
    };
    let space = Space::new(problem);
    Ok(of_agreeing(problem, |rows| {
        let mut order = rows.to_vec();
        order.sort_by_key(|&row| column.codes[row as usize]);
        let n = rows.len() as f64;
        let least = (n / (2.0 * (n - 1.0) * t + 1.0)).ceil() as usize;
        let mut size = least.max(least_size(problem)).clamp(1, rows.len());
        let mut step = 1;
        // Groups cannot come closer than all rows together, whose beliefs may make them special.
        let can_be_close = is_close(&problem.judge, rows);
        loop {
            let groups = one_of_each_stratum(&space, rows, &order, size);
            if !can_be_close || groups.len() == 1 || groups.iter().all(|group| is_close(&problem.judge, group)) {
                return merge_failing(problem, &space, groups);
            }
            (size, step) = ((size + step).min(rows.len()), 2 * step);
        }
    }))
}

/// Whether the first sensitive column is within all limits of closeness.
fn is_close(judge: &Judge<'_>, rows: &[u32]) -> bool {
    let class = judge.of(rows.iter().copied());
    let (q, p) = (&class.counts[judge.counts_of(0)], &judge.overall()[judge.counts_of(0)]);
    judge.criteria().iter().all(|criterion| {
        let Criterion::Closeness { t, distance } = criterion else { return true };
        let value = match (distance, judge.columns()[0].domain.hierarchy()) {
            (Distance::Ordered, _) => distance_ordered(q, p),
            (Distance::Hierarchical, Some(hierarchy)) => distance_hierarchical(q, p, hierarchy),
            (Distance::Equal | Distance::Hierarchical, _) => distance_equal(q, p),
        };
        value <= t + ROUNDING
    })
}

/// The rows of `order`, cut into k' strata of m = n / k' (the r that are left over go to the middle), in m groups with one row
/// of each stratum; the first r have one more of the middle. If r is m or more, k' is raised.
fn one_of_each_stratum(space: &Space<'_>, rows: &[u32], order: &[u32], size: usize) -> Vec<Vec<u32>> {
    let n = order.len();
    let (size, m) = (size + (n % size) / (n / size), n / size);
    let spare = n % size;
    let mut sizes = vec![m; size];
    // The two are the same if k' is odd.
    sizes[(size - 1) / 2] += spare.div_ceil(2);
    sizes[size / 2] += spare / 2;
    let mut spares: Vec<usize> = sizes.iter().map(|size| size - m).collect();
    let strata = sizes.iter().enumerate().flat_map(|(stratum, &size)| std::iter::repeat_n(stratum, size));
    let mut stratum_of = vec![0; order.iter().max().map_or(0, |&row| row as usize + 1)];
    order.iter().zip(strata).for_each(|(&row, stratum)| stratum_of[row as usize] = stratum);
    microaggregate(space, rows, size, |left, distances| {
        // The two nearest of each stratum.
        let mut best: Vec<[Option<usize>; 2]> = vec![[None; 2]; size];
        let is_nearer = |place: usize, than: Option<usize>| than.is_none_or(|than| distances[place] < distances[than]);
        for (place, row) in left.iter().enumerate() {
            let [first, second] = &mut best[stratum_of[*row as usize]];
            if is_nearer(place, *first) {
                (*second, *first) = (*first, Some(place));
            } else if is_nearer(place, *second) {
                *second = Some(place);
            }
        }
        let mut taken: Vec<usize> = best.iter().filter_map(|nearest| nearest[0]).collect();
        let more = (0..size).filter(|&stratum| spares[stratum] > 0).filter_map(|s| Some((s, best[s][1]?)));
        let more = more.reduce(|a, b| if is_nearer(b.1, Some(a.1)) { b } else { a });
        if let Some((stratum, place)) = more {
            spares[stratum] -= 1;
            taken.push(place);
        }
        taken
    })
}

/// For each row a number that rows with the same sensitive values share.
fn kinds(problem: &Problem<'_>) -> Vec<u32> {
    let columns = problem.judge.columns();
    let mut seen: BTreeMap<Vec<u32>, u32> = BTreeMap::new();
    let of_row = |row: u32| -> Vec<u32> { columns.iter().map(|column| column.codes[row as usize]).collect() };
    problem
        .rows()
        .into_iter()
        .map(|row| {
            let next = seen.len() as u32;
            *seen.entry(of_row(row)).or_insert(next)
        })
        .collect()
}

/// The k nearest rows, with others swapped in while that brings them nearer to the criteria. Each time the swap that does so
/// most, of equal ones that with the nearest row; the seed stays.
fn swapped(problem: &Problem<'_>, kinds: &[u32], k: usize, left: &[u32], distances: &[f64]) -> Vec<usize> {
    let judge = &problem.judge;
    let mut members = nearest(distances, k);
    let mut counts = judge.of(members.iter().map(|&place| left[place]));
    let mut now = excess(judge, &counts);
    if now == 0.0 || members.len() < k {
        return members;
    }
    let mut others = nearest(distances, k + NEAR).split_off(k);
    let kind = |place: usize| kinds[left[place] as usize];
    // Every swap lessens the excess, but by how little is not known.
    for _ in 0..2 * k {
        let firsts = first_of_each(others.iter().map(|&place| kind(place)), KINDS);
        let lasts = first_of_each(members[1..].iter().rev().map(|&place| kind(place)), KINDS);
        let mut best: Option<(f64, usize, usize)> = None;
        for &come in &firsts {
            for &back in &lasts {
                let go = members.len() - 1 - back;
                let (come_row, go_row) = (left[others[come]], left[members[go]]);
                if kind(others[come]) == kind(members[go]) {
                    continue;
                }
                judge.add(&mut counts, come_row);
                judge.remove(&mut counts, go_row);
                let then = excess(judge, &counts);
                judge.add(&mut counts, go_row);
                judge.remove(&mut counts, come_row);
                if then < best.map_or(now - ROUNDING, |best| best.0) {
                    best = Some((then, come, go));
                }
            }
        }
        let Some((then, come, go)) = best else { break };
        judge.add(&mut counts, left[others[come]]);
        judge.remove(&mut counts, left[members[go]]);
        // Who goes is nearer than all others of its kind: it stands before them.
        let (come, go) = (others.remove(come), members.remove(go));
        members.push(come);
        others.insert(0, go);
        now = then;
        if now == 0.0 {
            break;
        }
    }
    members
}

/// Where each kind is first met, for the first few kinds.
fn first_of_each(kinds: impl Iterator<Item = u32>, most: usize) -> Vec<usize> {
    let (mut seen, mut places) = (Vec::new(), Vec::new());
    for (place, kind) in kinds.enumerate() {
        if !seen.contains(&kind) {
            seen.push(kind);
            places.push(place);
            if places.len() == most {
                break;
            }
        }
    }
    places
}

/// How far a class is from the criteria: the sum of what it misses of each limit, relative to the limit; 0 if it holds.
pub(super) fn excess(judge: &Judge<'_>, class: &Histogram) -> f64 {
    if judge.holds(class) {
        return 0.0;
    }
    let missed = |value: f64, limit: f64| ((value - limit).abs() / limit.max(ROUNDING)).min(MOST_EXCESS);
    let readings = judge.readings(class).into_iter().flatten().filter(|reading| !reading.holds);
    let of_criteria: f64 = readings.map(|reading| missed(reading.value, reading.limit)).sum();
    let of_sets = match (1..judge.k()).contains(&class.with_set) {
        true => missed(f64::from(class.with_set), f64::from(judge.k())),
        false => 0.0,
    };
    (of_criteria + of_sets).max(ROUNDING)
}

/// Merges the group that is furthest from the criteria with the nearest by centre, until all hold or one is left.
pub(super) fn merge_failing(problem: &Problem<'_>, space: &Space<'_>, groups: Vec<Vec<u32>>) -> Vec<Vec<u32>> {
    struct Group {
        rows: Vec<u32>,
        counts: Histogram,
        centre: Point,
        excess: f64,
    }
    let judge = &problem.judge;
    let group = |rows: Vec<u32>| {
        problem.observer.check();
        let counts = judge.of(rows.iter().copied());
        Group { centre: space.centre(&space.tally(&rows)), excess: excess(judge, &counts), rows, counts }
    };
    let mut groups: Vec<Group> = groups.into_iter().map(group).collect();
    loop {
        problem.observer.check();
        let mut worst = 0;
        for place in 0..groups.len() {
            if groups[place].excess > groups[worst].excess {
                worst = place;
            }
        }
        if groups.len() < 2 || groups[worst].excess == 0.0 {
            return groups.into_iter().map(|group| group.rows).collect();
        }
        let profile = space.profile(&groups[worst].centre);
        let mut nearest: Option<(f64, usize)> = None;
        for (place, other) in groups.iter().enumerate().filter(|(place, _)| *place != worst) {
            let distance = space.between(&groups[worst].centre, &profile, &other.centre);
            if nearest.is_none_or(|nearest| distance < nearest.0) {
                nearest = Some((distance, place));
            }
        }
        let Some((_, nearest)) = nearest else { continue };
        let (first, second) = (worst.min(nearest), worst.max(nearest));
        let gone = groups.remove(second);
        let into = &mut groups[first];
        into.rows.extend(&gone.rows);
        gone.rows.iter().for_each(|&row| judge.add(&mut into.counts, row));
        into.centre = space.centre(&space.tally(&into.rows));
        into.excess = excess(judge, &into.counts);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Method, Params};
    use super::*;
    use crate::data::table::{Column, Role, Table};
    use rand::{RngExt, SeedableRng};

    fn with_numbers(secrets: &[f64], places: &[f64]) -> Table {
        let place = Column::numbers("place", Role::Quasi, places.iter().map(|&place| Some(place)));
        let secret = Column::numbers("secret", Role::Sensitive, secrets.iter().map(|&secret| Some(secret)));
        Table::new(secrets.len(), vec![place, secret], None)
    }

    fn params(method: Method, k: u32, t: f64) -> Params {
        let criteria = vec![Criterion::KAnonymity { k }, Criterion::Closeness { t, distance: Distance::Ordered }];
        Params { method, criteria, most_removed: 0.0, seed: 0 }
    }

    fn distance(n: usize, of: impl IntoIterator<Item = usize>) -> f64 {
        let mut counts = vec![0; n];
        of.into_iter().for_each(|value| counts[value] += 1);
        distance_ordered(&counts, &vec![1; n])
    }

    /// All ways to take one value of each stratum.
    fn choices(n: usize, k: usize) -> Vec<Vec<usize>> {
        (0..k).fold(vec![vec![]], |begun, stratum| {
            let more = |chosen: Vec<usize>| {
                (stratum * n / k..(stratum + 1) * n / k).map(move |value| [&chosen[..], &[value]].concat())
            };
            begun.into_iter().flat_map(more).collect()
        })
    }

    #[test]
    fn one_of_each_stratum_is_as_close_as_the_bound_and_no_closer() {
        let known = [((6, 2), 0.2), ((6, 3), 0.1), ((8, 2), 0.2143), ((12, 3), 0.1364), ((12, 4), 0.0909)];
        for ((n, k), bound) in known {
            let worst = choices(n, k).into_iter().map(|chosen| distance(n, chosen)).fold(0.0, f64::max);
            let formula = (n - k) as f64 / (2 * (n - 1) * k) as f64;
            assert!((worst - formula).abs() < 1e-12 && (worst - bound).abs() < 5e-5, "{n} {k}: {worst}");
            let secrets: Vec<f64> = (0..n).map(|value| value as f64).collect();
            let table = with_numbers(&secrets, &secrets);
            let params = params(Method::ClosenessFirst, k as u32, formula);
            let problem = Problem::new(&table, &params, None).unwrap();
            let groups = one_of_each_stratum(&Space::new(&problem), &problem.rows(), &problem.rows(), k);
            assert_eq!(groups.len(), n / k);
            for group in groups {
                let mut strata: Vec<usize> = group.iter().map(|&row| row as usize * k / n).collect();
                strata.sort_unstable();
                assert_eq!(strata, (0..k).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn what_is_left_over_goes_to_the_middle() {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(3);
        for n in 1..70_usize {
            let places: Vec<f64> = (0..n).map(|_| f64::from(rng.random_range(0..20))).collect();
            let secrets: Vec<f64> = (0..n).map(|value| value as f64).collect();
            let table = with_numbers(&secrets, &places);
            let params = params(Method::ClosenessFirst, 2, 0.5);
            let problem = Problem::new(&table, &params, None).unwrap();
            for size in 1..=n {
                let groups = one_of_each_stratum(&Space::new(&problem), &problem.rows(), &problem.rows(), size);
                let m = n / size;
                let raised = n / m;
                let spare = n - raised * m;
                assert_eq!(groups.len(), m, "{n} {size}");
                let sizes: Vec<usize> = groups.iter().map(Vec::len).collect();
                assert_eq!(sizes.iter().sum::<usize>(), n);
                assert!(sizes.iter().enumerate().all(|(i, &s)| s == raised + usize::from(i < spare)), "{n} {size}");
            }
        }
    }

    #[test]
    fn closeness_first_is_never_further_than_t() {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(4);
        for round in 0..400 {
            let n: usize = rng.random_range(10..=120);
            let (t, k) = (rng.random_range(0.02..0.3), [2, 3, 5][round % 3]);
            let places: Vec<f64> = (0..n).map(|_| f64::from(rng.random_range(0..50))).collect();
            let n_values = if round % 2 == 0 { n as u32 * 1000 } else { rng.random_range(2..12) };
            let secrets: Vec<f64> = (0..n).map(|_| f64::from(rng.random_range(0..n_values))).collect();
            let table = with_numbers(&secrets, &places);
            let params = params(Method::ClosenessFirst, k, t);
            let problem = Problem::new(&table, &params, None).unwrap();
            let partition = closeness_first(&problem).unwrap();
            assert_eq!(partition.n_published(), n);
            for class in partition.classes() {
                let class = problem.judge.of(class.iter().copied());
                let p = problem.judge.overall();
                assert!(class.size >= k && distance_ordered(&class.counts, p) <= t + ROUNDING, "round {round}");
            }
            // Without repeated values there are as many groups as the bound allows, or nearly.
            if round % 2 == 0 && n_values > 1000 {
                let least = (n as f64 / (2.0 * (n - 1) as f64 * t + 1.0)).ceil() as usize;
                assert!(partition.len() * (least.max(k as usize) + 3) * 2 > n, "round {round}");
            }
        }
    }

    #[test]
    fn swaps_bring_groups_nearer_to_the_criteria() {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(5);
        let (mut merged, mut with_swaps) = (0, 0);
        for _ in 0..40 {
            // Neighbours have like secrets: groups of neighbours fail.
            let places: Vec<f64> = (0..60).map(|_| f64::from(rng.random_range(0..100))).collect();
            let secrets: Vec<f64> = places.iter().map(|place| (place / 20.0).floor()).collect();
            let table = with_numbers(&secrets, &places);
            let params = params(Method::MicroaggregationSwap, 4, 0.2);
            let problem = Problem::new(&table, &params, None).unwrap();
            for (method, classes) in [(merge as fn(&Problem<'_>) -> _, &mut merged), (swap, &mut with_swaps)] {
                let partition: Partition = method(&problem).unwrap();
                assert_eq!(partition.n_published(), 60);
                assert!(partition.classes().all(|rows| problem.holds(rows)));
                *classes += partition.len();
            }
        }
        assert!(with_swaps > 2 * merged, "{with_swaps} classes with swaps, {merged} without");
    }

    #[test]
    fn closeness_first_wants_a_limit() {
        let table = with_numbers(&[1.0, 2.0], &[1.0, 2.0]);
        let criteria = vec![Criterion::KAnonymity { k: 2 }];
        let params = Params { method: Method::ClosenessFirst, criteria, most_removed: 0.0, seed: 0 };
        let problem = Problem::new(&table, &params, None).unwrap();
        assert!(matches!(closeness_first(&problem), Err(Error::Recipe { key, .. }) if key == "method"));
    }
}
