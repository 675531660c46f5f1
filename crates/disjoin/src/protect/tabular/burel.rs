//! Sensitive values in buckets, and classes with a share of each: beta-likeness by construction.
//!
//! Paper:      Cao, Karras 2012 (BUREL), as the authors' program has it: buckets by dynamic programming, sizes of classes by
//!             halving, rows by nearness along a Hilbert curve (`knn-hn`), and a further split (`hn`)
//! Promises:   a class with x_j <= f(min p of bucket j) |G| rows of each bucket j has no value above f(p): its own count is at
//!             most x_j, and f grows with p
//!             Whatever is drawn: the seed is harmless, as harmless as that of a method that draws nothing. It decides which row
//!             starts a class, not what a class may hold; who has it must have the data too, to draw the classes again
//! Assumes:    the first sensitive column is the one to protect; others are looked at as criteria only
//! Departs:    sizes are not halved below k, and a further split must keep all criteria. Classes that fail another criterion
//!             are merged with their neighbours along the curve. Where beliefs must agree, rows about which they do are put
//!             into classes among themselves, and rows of buckets that are too many there are left out
//! Cost:       O(values^2) for buckets, O(n log n) to sort, and O(n / size of a class) moves of what is left of each bucket
//! Checked by: tests in this file, on the numbers of the authors' program and all ways to bucketize; and `tests/it/tabular.rs`

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::distance::agreeing;
use super::mdav::gather;
use super::{Problem, curve};
use crate::data::Partition;
use crate::error::{Error, Result};
use crate::release::privacy_models::{Criterion, ROUNDING};

/// Values that are told apart by nobody: their codes, and the greatest share of a class that they may have together.
#[derive(Debug, Clone, PartialEq)]
struct Bucket {
    codes: Vec<u32>,
    cap: f64,
}

/// A row and its place along the curve.
type Placed = (u64, u32);

/// Classes that satisfy beta-likeness of the first sensitive column.
pub(super) fn partition(problem: &Problem<'_>) -> Result<Partition> {
    let judge = &problem.judge;
    let is_likeness = |criterion: &Criterion| matches!(criterion, Criterion::Likeness { .. });
    let asked = judge.criteria().iter().any(is_likeness);
    let (Some(caps), Some(column), true) = (judge.caps(), judge.columns().first(), asked) else {
        let told = "burel makes classes by the limit of beta-likeness, and none is asked for";
        return Err(Error::recipe("method", told, "ask for beta-likeness with --beta, or use another method"));
    };
    let at = judge.counts_of(0);
    let buckets = bucketize(&judge.overall()[at.clone()], &caps[at]);
    let mut bucket_of = vec![0; column.domain.n_codes()];
    for (number, bucket) in buckets.iter().enumerate() {
        bucket.codes.iter().for_each(|&code| bucket_of[code as usize] = number);
    }
    // 63 bits for all columns, and 21 for one where that would leave it 31 or more.
    let quasi = &problem.quasi[..problem.quasi.len().min(63)];
    let bits = 63 / quasi.len().max(1) as u32;
    let numbers = curve::numbers(quasi, if bits >= 31 { 21 } else { bits });

    let mut rng = ChaCha8Rng::seed_from_u64(problem.seed);
    let mut partition = Partition::default();
    for rows in agreeing(problem) {
        let mut members: Vec<Vec<Placed>> = vec![Vec::new(); buckets.len()];
        for row in rows {
            let place = (numbers[row as usize] as u64, row);
            members[bucket_of[column.codes[row as usize] as usize]].push(place);
        }
        members.iter_mut().for_each(|bucket| bucket.sort_unstable());
        partition.removed.extend(trim(&mut members, &buckets).into_iter().map(|(_, row)| row));
        let root: Vec<usize> = members.iter().map(Vec::len).collect();
        let mut classes = Vec::new();
        for template in templates(&root, &buckets, judge.k() as usize) {
            problem.observer.check();
            let class = fill(&mut members, &template, &mut rng);
            split(problem, class, &mut classes);
        }
        // Along the curve, by the middle row of each.
        classes.sort_by_cached_key(|class| {
            let mut places: Vec<Placed> = class.iter().flatten().copied().collect();
            let middle = places.len() / 2;
            *places.select_nth_unstable(middle).1
        });
        let rows = |class: Vec<Vec<Placed>>| class.into_iter().flatten().map(|(_, row)| row).collect();
        gather(problem, classes.into_iter().map(rows)).iter().for_each(|class| partition.push(class));
    }
    partition.removed.sort_unstable();
    Ok(partition)
}

/// The fewest buckets such that values of each, from the rarest, have together less than f(p) of the rarest; by dynamic
/// programming over the values by frequency. `caps` has f(p) of each value.
fn bucketize(counts: &[u32], caps: &[f64]) -> Vec<Bucket> {
    let total: f64 = counts.iter().map(|&count| f64::from(count)).sum();
    let mut codes: Vec<u32> = (0..counts.len() as u32).filter(|&code| counts[code as usize] > 0).collect();
    codes.sort_by_key(|&code| counts[code as usize]);
    // For the first e values the number of buckets, and where the last one begins.
    let mut best: Vec<(usize, usize)> = vec![(0, 0)];
    for end in 1..=codes.len() {
        let (mut sum, mut fewest) = (0.0, (usize::MAX, 0));
        for begin in (0..end).rev() {
            let code = codes[begin] as usize;
            sum += f64::from(counts[code]) / total;
            // f grows with p: who is too rare for a bucket that far makes all rarer ones too rare.
            if begin + 1 < end && sum >= caps[code] {
                break;
            }
            if best[begin].0 + 1 < fewest.0 {
                fewest = (best[begin].0 + 1, begin);
            }
        }
        best.push(fewest);
    }
    let mut buckets = Vec::new();
    let mut end = codes.len();
    while end > 0 {
        let begin = best[end].1;
        buckets.push(Bucket { codes: codes[begin..end].to_vec(), cap: caps[codes[begin] as usize] });
        end = begin;
    }
    buckets
}

/// Takes out rows of buckets that are too large among these rows: N = sum of min(x_j, cap_j N), from above. Nothing among all.
fn trim(members: &mut [Vec<Placed>], buckets: &[Bucket]) -> Vec<Placed> {
    let mut size: usize = members.iter().map(Vec::len).sum();
    let room = |cap: f64, size: usize| ((cap + ROUNDING) * size as f64).floor() as usize;
    loop {
        let kept = members.iter().zip(buckets).map(|(rows, bucket)| rows.len().min(room(bucket.cap, size))).sum();
        if kept == size {
            break;
        }
        size = kept;
    }
    let mut taken = Vec::new();
    for (rows, bucket) in members.iter_mut().zip(buckets) {
        taken.extend(rows.split_off(rows.len().min(room(bucket.cap, size))));
    }
    taken
}

/// How many rows of each bucket every class gets: halves of halves, as long as no bucket has too large a share in either and
/// neither has less than k rows.
fn templates(root: &[usize], buckets: &[Bucket], k: usize) -> Vec<Vec<usize>> {
    let fits = |sizes: &[usize]| {
        let size: usize = sizes.iter().sum();
        let within = |(&x, bucket): (&usize, &Bucket)| x as f64 <= (bucket.cap + ROUNDING) * size as f64;
        size >= k && sizes.iter().zip(buckets).all(within)
    };
    let (mut templates, mut open) = (Vec::new(), vec![root.to_vec()]);
    open.retain(|sizes| sizes.iter().any(|&size| size > 0));
    while let Some(sizes) = open.pop() {
        let left: Vec<usize> = sizes.iter().map(|size| size.div_ceil(2)).collect();
        let right: Vec<usize> = sizes.iter().map(|size| size / 2).collect();
        if sizes.iter().any(|&size| size >= 2) && fits(&left) && fits(&right) {
            // The left one is next.
            open.extend([right, left]);
        } else {
            templates.push(sizes);
        }
    }
    templates
}

/// Draws a row of the first bucket that has one to give, and takes from every bucket the rows nearest to it along the curve.
fn fill(members: &mut [Vec<Placed>], template: &[usize], rng: &mut ChaCha8Rng) -> Vec<Vec<Placed>> {
    let first = members.iter().zip(template).find(|(rows, size)| **size > 0 && !rows.is_empty());
    let number = first.map_or(0, |(rows, _)| rows[rng.random_range(0..rows.len())].0);
    members.iter_mut().zip(template).map(|(rows, &size)| take_nearest(rows, number, size)).collect()
}

/// Takes out the rows nearest to a place, of equally near ones that on the larger side.
fn take_nearest(rows: &mut Vec<Placed>, number: u64, size: usize) -> Vec<Placed> {
    let mut end = rows.partition_point(|row| row.0 < number);
    let mut begin = end;
    for _ in 0..size.min(rows.len()) {
        let below = begin.checked_sub(1).map(|place| number - rows[place].0);
        let above = rows.get(end).map(|row| row.0 - number);
        match (below, above) {
            (Some(below), Some(above)) if below < above => begin -= 1,
            (Some(_), None) => begin -= 1,
            _ => end += 1,
        }
    }
    rows.drain(begin..end).collect()
}

/// Halves a class along the curve, each bucket's part for itself, as long as both halves satisfy all criteria.
fn split(problem: &Problem<'_>, class: Vec<Vec<Placed>>, classes: &mut Vec<Vec<Vec<Placed>>>) {
    let holds =
        |class: &[Vec<Placed>]| problem.judge.holds(&problem.judge.of(class.iter().flatten().map(|&(_, row)| row)));
    let mut open = vec![class];
    while let Some(mut left) = open.pop() {
        problem.observer.check();
        let whole = left.clone();
        let right: Vec<Vec<Placed>> = left.iter_mut().map(|rows| rows.split_off(rows.len().div_ceil(2))).collect();
        if right.iter().any(|rows| !rows.is_empty()) && holds(&left) && holds(&right) {
            open.extend([right, left]);
        } else if whole.iter().any(|rows| !rows.is_empty()) {
            classes.push(whole);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Method, Params};
    use super::*;
    use crate::data::table::{Column, Role, Table};
    use crate::release::privacy_models::likeness_cap;

    const COUNTS: [u32; 5] = [5, 10, 15, 30, 40];

    fn buckets_of(counts: &[u32], beta: f64, enhanced: bool) -> Vec<Bucket> {
        let total: u32 = counts.iter().sum();
        let caps: Vec<f64> =
            counts.iter().map(|&c| likeness_cap(f64::from(c) / f64::from(total), beta, enhanced)).collect();
        bucketize(counts, &caps)
    }

    fn sizes(buckets: &[Bucket]) -> Vec<usize> {
        let size = |bucket: &Bucket| bucket.codes.iter().map(|&code| COUNTS[code as usize] as usize).sum();
        buckets.iter().map(size).collect()
    }

    #[test]
    fn templates_are_those_of_the_authors_program() {
        let buckets = buckets_of(&COUNTS, 2.0, true);
        assert_eq!(buckets.iter().map(|bucket| &bucket.codes[..]).collect::<Vec<_>>(), [&[4][..], &[3], &[1, 2], &[0]]);
        for (bucket, cap) in buckets.iter().zip([0.7665, 0.6612, 0.3, 0.15]) {
            assert!((bucket.cap - cap).abs() < 5e-5);
        }
        let templates = templates(&sizes(&buckets), &buckets, 1);
        let count = |of: [usize; 4]| templates.iter().filter(|template| template[..] == of).count();
        let counts = [[5, 4, 4, 1], [3, 2, 2, 1], [3, 2, 2, 0], [2, 2, 1, 0], [2, 1, 1, 0]].map(count);
        assert_eq!((templates.len(), counts), (15, [1, 4, 3, 5, 2]));
    }

    #[test]
    fn buckets_of_one_value_each_have_templates_too() {
        let buckets = buckets_of(&COUNTS, 1.0, true);
        assert_eq!(buckets.iter().map(|bucket| &bucket.codes[..]).collect::<Vec<_>>(), [[4], [3], [2], [1], [0]]);
        for (bucket, cap) in buckets.iter().zip([0.7665, 0.6, 0.3, 0.2, 0.1]) {
            assert!((bucket.cap - cap).abs() < 5e-5);
        }
        assert_eq!(templates(&sizes(&buckets), &buckets, 1).len(), 14);
    }

    #[test]
    fn no_way_to_bucketize_has_fewer_buckets() {
        let mut rng = ChaCha8Rng::seed_from_u64(6);
        for _ in 0..500 {
            let mut counts: Vec<u32> = (0..rng.random_range(1..9)).map(|_| rng.random_range(1..40)).collect();
            let (beta, enhanced) = (rng.random_range(0.2..4.0), rng.random_range(0..2) == 0);
            let buckets = buckets_of(&counts, beta, enhanced);
            counts.sort_unstable();
            let total = f64::from(counts.iter().sum::<u32>());
            // Each bit says whether a bucket ends between two values.
            let is_valid = |cuts: u32| {
                let mut begin = 0;
                (1..=counts.len()).filter(|&end| end == counts.len() || cuts >> (end - 1) & 1 == 1).all(|end| {
                    let sum: f64 = counts[begin..end].iter().map(|&count| f64::from(count) / total).sum();
                    let cap = likeness_cap(f64::from(counts[begin]) / total, beta, enhanced);
                    let is_valid = end == begin + 1 || sum < cap;
                    begin = end;
                    is_valid
                })
            };
            let ways = (0..1_u32 << (counts.len() - 1)).filter(|&cuts| is_valid(cuts));
            let fewest = ways.map(|cuts| cuts.count_ones() as usize + 1).min().unwrap();
            assert_eq!(buckets.len(), fewest, "{counts:?} {beta} {enhanced}");
        }
    }

    #[test]
    fn nearest_rows_are_taken_from_both_sides() {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        for _ in 0..300 {
            let mut rows: Vec<Placed> =
                (0..rng.random_range(1..30)).map(|row| (rng.random_range(0..40), row)).collect();
            rows.sort_unstable();
            let (number, size) = (rng.random_range(0..40), rng.random_range(0..30));
            let mut order = rows.clone();
            order.sort_by_key(|row| (row.0.abs_diff(number), row.0 < number));
            let expected: Vec<u64> = order.iter().take(size).map(|row| row.0.abs_diff(number)).collect();
            let above = order.iter().take(size).filter(|row| row.0 >= number).count();
            let before = rows.len();
            let taken = take_nearest(&mut rows, number, size);
            let mut distances: Vec<u64> = taken.iter().map(|row| row.0.abs_diff(number)).collect();
            distances.sort_unstable();
            assert_eq!((distances, taken.iter().filter(|row| row.0 >= number).count()), (expected, above));
            assert_eq!(rows.len() + taken.len(), before);
        }
    }

    #[test]
    fn classes_have_likeness_before_they_are_settled() {
        let mut rng = ChaCha8Rng::seed_from_u64(8);
        for round in 0..60 {
            let n = rng.random_range(20..300);
            let column = |name, role, most: u32, rng: &mut ChaCha8Rng| {
                let square = |x: f64| Some((x * x).floor());
                let most = f64::from(most).sqrt();
                Column::numbers(name, role, (0..n).map(|_| square(rng.random_range(0.0..most))).collect::<Vec<_>>())
            };
            let quasi = column("q", Role::Quasi, 100, &mut rng);
            let other = column("r", Role::Quasi, 10, &mut rng);
            let secret = column("s", Role::Sensitive, 8, &mut rng);
            let table = Table::new(n, vec![quasi, other, secret], None);
            let criteria = vec![
                Criterion::KAnonymity { k: rng.random_range(2..8) },
                Criterion::Likeness { beta: rng.random_range(0.3..4.0), enhanced: round % 2 == 0 },
            ];
            let params = Params { method: Method::Burel, criteria, most_removed: 0.0, seed: round };
            let problem = Problem::new(&table, &params, None).unwrap();
            let partition = partition(&problem).unwrap();
            assert!(partition.removed.is_empty() && partition.n_published() == n);
            assert!(partition.classes().all(|rows| problem.holds(rows)), "round {round}");
        }
    }

    #[test]
    fn burel_wants_a_limit() {
        let numbers = || [Some(1.0), Some(2.0)];
        let columns =
            vec![Column::numbers("q", Role::Quasi, numbers()), Column::numbers("s", Role::Sensitive, numbers())];
        let table = Table::new(2, columns, None);
        let criteria = vec![Criterion::KAnonymity { k: 2 }];
        let params = Params { method: Method::Burel, criteria, most_removed: 0.0, seed: 0 };
        let problem = Problem::new(&table, &params, None).unwrap();
        assert!(matches!(partition(&problem), Err(Error::Recipe { key, .. }) if key == "method"));
    }
}
