//! Rows of which nearly the same is believed, together: agglomerative clustering with complete linkage.
//!
//! The distance of two clusters is the greatest divergence JS of two rows' beliefs, one from each. The two nearest clusters are
//! merged for as long as their distance is within the limit t, so no two rows of a cluster are ever further apart.
//!
//! Where there are too many different beliefs to compare all pairs, balls take the place of linkage: all that is left within
//! sqrt(t)/2 of a centre, in the metric sqrt(JS). By the triangle inequality any two of a ball are within sqrt(t).
//!
//! Paper:      amiri2016, section 1 (stage one: clusters of records whose distributions are similar)
//! Promises:   any two rows of a cluster are within t; a cluster has at least k rows
//! Departs:    the paper tells no linkage: this one keeps the promise to every pair. Beliefs are taken as they are, not rounded.
//!             Balls from 4,096 different beliefs on, the centres with most rows first. A row of a cluster that is too small moves
//!             to the cluster that stays narrowest, or is removed
//! Cost:       p different beliefs: p^2 divergences and O(p^2) for the chain of nearest neighbours; p times the number of balls
//! Checked by: tests in this file, against linkage by its definition and over all pairs

use rayon::prelude::*;

use super::Problem;
use crate::knowledge::background::{Beliefs, jensen_shannon};
use crate::observer::Observer;

/// The most different beliefs of which all pairs are compared: 64 MB of distances.
const MOST_POINTS: usize = 4096;

/// Room for rounding: a pair is within t if it is within this share of it.
const WITHIN: f64 = 1.0 - 1e-6;

/// Rows in clusters, and those that fit into none.
pub(super) struct Clusters {
    pub(super) groups: Vec<Vec<u32>>,
    pub(super) removed: Vec<u32>,
}

/// All rows in clusters; one of all, if beliefs do not matter.
pub(super) fn clusters(problem: &Problem<'_>) -> Clusters {
    let Some((beliefs, t)) = problem.beliefs else {
        return Clusters { groups: vec![problem.rows()], removed: Vec::new() };
    };
    let mut rows_of: Vec<Vec<u32>> = vec![Vec::new(); beliefs.n_points()];
    problem.rows().iter().for_each(|&row| rows_of[beliefs.point_of(row) as usize].push(row));
    let points: Vec<u32> = (0..).zip(&rows_of).filter(|(_, rows)| !rows.is_empty()).map(|(point, _)| point).collect();
    let space = Space::new(beliefs, &points);
    let found = match points.len() > MOST_POINTS {
        false => linked(&space, t, problem.observer),
        true => {
            let weights: Vec<usize> = points.iter().map(|&point| rows_of[point as usize].len()).collect();
            balls(&space, &weights, t, problem.observer)
        }
    };
    let rows_of = |place: usize| &rows_of[points[place] as usize];
    let (found, lost) =
        enlarge(&space, found, |place| rows_of(place).len(), problem.judge.k() as usize, t, problem.observer);
    let rows = |places: &[usize]| {
        let mut rows: Vec<u32> = places.iter().flat_map(|&place| rows_of(place)).copied().collect();
        rows.sort_unstable();
        rows
    };
    Clusters { groups: found.iter().map(|places| rows(places)).collect(), removed: rows(&lost) }
}

/// Beliefs to be compared, with what each comparison needs.
struct Space<'a> {
    points: Vec<&'a [f64]>,
    /// H(P) / 2 of each, in bits.
    half_entropies: Vec<f64>,
}

/// -x log x, in bits.
#[inline]
fn term(x: f64) -> f64 {
    if x > 0.0 { -x * x.log2() } else { 0.0 }
}

impl<'a> Space<'a> {
    fn new(beliefs: &'a Beliefs, points: &[u32]) -> Self {
        let points: Vec<&[f64]> = points.iter().map(|&point| beliefs.point(point)).collect();
        let half_entropies = points.iter().map(|point| point.iter().map(|&x| term(x)).sum::<f64>() / 2.0).collect();
        Space { points, half_entropies }
    }

    fn len(&self) -> usize {
        self.points.len()
    }

    /// JS(P, Q) = H((P + Q) / 2) - H(P) / 2 - H(Q) / 2.
    fn divergence(&self, a: usize, b: usize) -> f64 {
        let mixed: f64 = self.points[a].iter().zip(self.points[b]).map(|(p, q)| term((p + q) / 2.0)).sum();
        mixed - self.half_entropies[a] - self.half_entropies[b]
    }

    fn is_within(&self, a: usize, b: usize, t: f64) -> bool {
        is_within(self.points[a], self.points[b], t)
    }
}

/// Whether two beliefs are within t. With T the total variation of the two, T^2 / (2 ln 2) <= JS <= T (Pinsker, Lin):
/// logarithms are needed in between only.
pub(super) fn is_within(p: &[f64], q: &[f64], t: f64) -> bool {
    let variation = p.iter().zip(q).map(|(p, q)| (p - q).abs()).sum::<f64>() / 2.0;
    let t = t * WITHIN;
    if variation * variation / (2.0 * std::f64::consts::LN_2) > t {
        return false;
    }
    variation <= t || jensen_shannon(p, q) <= t
}

/// Complete linkage up to t, by chains of nearest neighbours: each is nearest to the one before it, until two are nearest to
/// each other. These are merged; that they would be merged at some time is certain, as distances to a union only grow.
fn linked(space: &Space<'_>, t: f64, observer: &dyn Observer) -> Vec<Vec<usize>> {
    let n = space.len();
    let mut distances: Vec<f32> = vec![0.0; n * n];
    // The upper half in parallel, then mirrored.
    distances.par_chunks_exact_mut(n.max(1)).enumerate().for_each(|(a, row)| {
        observer.check();
        (a + 1..n).for_each(|b| row[b] = space.divergence(a, b) as f32);
    });
    for a in 0..n {
        (0..a).for_each(|b| distances[a * n + b] = distances[b * n + a]);
    }
    let limit = (t * WITHIN) as f32;
    let mut members: Vec<Vec<usize>> = (0..n).map(|point| vec![point]).collect();
    // Clusters that may still be merged, ascending; the last of a chain is the one that is looked at.
    let mut open: Vec<usize> = (0..n).collect();
    let (mut chain, mut done): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    while let Some(&first) = open.first() {
        observer.check();
        let last = *chain.last().unwrap_or(&first);
        if chain.is_empty() {
            chain.push(first);
        }
        let before = chain.len().checked_sub(2).map(|at| chain[at]);
        let row = &distances[last * n..][..n];
        // Of equally near ones the one before, so that a chain ends; otherwise the first.
        let mut nearest = before.map(|before| (row[before], before));
        for &other in open.iter().filter(|&&other| other != last) {
            if nearest.is_none_or(|(distance, _)| row[other] < distance) {
                nearest = Some((row[other], other));
            }
        }
        match nearest {
            Some((distance, other)) if distance <= limit => {
                if Some(other) != before {
                    chain.push(other);
                    continue;
                }
                chain.truncate(chain.len() - 2);
                let (kept, gone) = (last.min(other), last.max(other));
                let moved = std::mem::take(&mut members[gone]);
                members[kept].extend(moved);
                open.retain(|&cluster| cluster != gone);
                for &third in &open {
                    let distance = distances[kept * n + third].max(distances[gone * n + third]);
                    (distances[kept * n + third], distances[third * n + kept]) = (distance, distance);
                }
            }
            // Nothing is near, and distances only grow: this one is done.
            _ => {
                chain.pop();
                open.retain(|&cluster| cluster != last);
                done.push(last);
            }
        }
    }
    done.sort_unstable();
    done.iter().map(|&cluster| std::mem::take(&mut members[cluster])).collect()
}

/// Balls of radius sqrt(t)/2, around the point with the most rows of those that are left.
fn balls(space: &Space<'_>, weights: &[usize], t: f64, observer: &dyn Observer) -> Vec<Vec<usize>> {
    let mut left: Vec<usize> = (0..space.len()).collect();
    left.sort_by_key(|&point| std::cmp::Reverse(weights[point]));
    let mut balls = Vec::new();
    while let Some(&centre) = left.first() {
        observer.check();
        let is_near: Vec<bool> = left.par_iter().map(|&point| space.is_within(centre, point, t / 4.0)).collect();
        let mut ball = Vec::new();
        let mut at = 0;
        left.retain(|&point| {
            // The centre is near itself, so at least one point leaves.
            let is_near = is_near[at] || at == 0;
            at += 1;
            if is_near {
                ball.push(point);
            }
            !is_near
        });
        balls.push(ball);
    }
    balls
}

/// Points of clusters with fewer than k rows join the cluster of at least k rows that stays narrowest, within t; or are lost.
fn enlarge(
    space: &Space<'_>,
    clusters: Vec<Vec<usize>>,
    n_rows: impl Fn(usize) -> usize,
    k: usize,
    t: f64,
    observer: &dyn Observer,
) -> (Vec<Vec<usize>>, Vec<usize>) {
    let is_large = |cluster: &Vec<usize>| cluster.iter().map(|&point| n_rows(point)).sum::<usize>() >= k;
    let (mut large, small): (Vec<_>, Vec<_>) = clusters.into_iter().partition(is_large);
    let mut lost = Vec::new();
    for point in small.into_iter().flatten() {
        observer.check();
        let width = |(at, cluster): (usize, &Vec<usize>)| {
            let is_within = cluster.iter().all(|&other| space.is_within(point, other, t));
            let widest = || cluster.iter().map(|&other| space.divergence(point, other)).fold(0.0, f64::max);
            is_within.then(|| (widest(), at))
        };
        let found: Vec<(f64, usize)> = large.par_iter().enumerate().filter_map(width).collect();
        match found.into_iter().min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))) {
            Some((_, at)) => large[at].push(point),
            None => lost.push(point),
        }
    }
    (large, lost)
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::observer::Unobserved;

    fn beliefs(rng: &mut ChaCha8Rng, n: usize, n_values: usize) -> Beliefs {
        let mut shares = Vec::new();
        for _ in 0..n {
            let weights: Vec<f64> = (0..n_values).map(|_| rng.random_range(0.0..1.0_f64).powi(4)).collect();
            shares.extend(weights.iter().map(|weight| weight / weights.iter().sum::<f64>()));
        }
        Beliefs::new(n_values, shares, (0..n as u32).collect())
    }

    fn space(beliefs: &Beliefs) -> Space<'_> {
        Space::new(beliefs, &(0..beliefs.n_points() as u32).collect::<Vec<_>>())
    }

    /// Linkage by its definition: of all pairs of clusters the nearest, for as long as it is within t.
    fn slow(beliefs: &Beliefs, t: f64) -> Vec<Vec<usize>> {
        let mut clusters: Vec<Vec<usize>> = (0..beliefs.n_points()).map(|point| vec![point]).collect();
        let distance = |a: &[usize], b: &[usize]| {
            let pairs = a.iter().flat_map(|&a| b.iter().map(move |&b| (a, b)));
            pairs.map(|(a, b)| jensen_shannon(beliefs.point(a as u32), beliefs.point(b as u32))).fold(0.0, f64::max)
        };
        loop {
            let mut nearest = (f64::INFINITY, 0, 0);
            for b in 0..clusters.len() {
                for a in 0..b {
                    let distance = distance(&clusters[a], &clusters[b]);
                    nearest = if distance < nearest.0 { (distance, a, b) } else { nearest };
                }
            }
            if nearest.0 > t {
                return clusters;
            }
            let moved = clusters.remove(nearest.2);
            clusters[nearest.1].extend(moved);
        }
    }

    fn sorted(mut clusters: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
        clusters.iter_mut().for_each(|cluster| cluster.sort_unstable());
        clusters.sort();
        clusters
    }

    #[test]
    fn linkage_is_that_of_the_definition() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut merged = 0;
        for round in 0..60 {
            let beliefs = beliefs(&mut rng, 1 + round % 25, 2 + round % 4);
            for t in [0.01, 0.1, 0.3, 1.0] {
                let found = sorted(linked(&space(&beliefs), t, &Unobserved));
                assert_eq!(found, sorted(slow(&beliefs, t)));
                merged += found.iter().filter(|cluster| cluster.len() > 2).count();
            }
        }
        assert!(merged > 100, "{merged}");
    }

    #[test]
    fn all_pairs_of_a_cluster_are_within_the_limit() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let mut joined = 0;
        for round in 0..20 {
            let beliefs = beliefs(&mut rng, 150, 2 + round % 5);
            let (space, weights) = (space(&beliefs), vec![1; 150]);
            for t in [0.02, 0.1, 0.4] {
                for found in [linked(&space, t, &Unobserved), balls(&space, &weights, t, &Unobserved)] {
                    let n_large = found.iter().filter(|cluster| cluster.len() >= 4).map(Vec::len).sum::<usize>();
                    let (large, lost) = enlarge(&space, found, |_| 1, 4, t, &Unobserved);
                    joined += large.iter().map(Vec::len).sum::<usize>() - n_large;
                    let mut all: Vec<usize> = large.iter().flatten().chain(&lost).copied().collect();
                    all.sort_unstable();
                    assert_eq!(all, (0..150).collect::<Vec<_>>());
                    for cluster in &large {
                        let rows: Vec<u32> = cluster.iter().map(|&point| point as u32).collect();
                        assert!(cluster.len() >= 4 && beliefs.diameter(&rows) <= t);
                    }
                }
            }
        }
        assert!(joined > 50, "{joined}");
    }
}
