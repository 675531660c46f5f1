//! Exchange: clusters that are neighbours swap records and hand them over as long as that makes them more alike inside.
//!
//! However records were split, a record often has more in common with the next cluster than with its own. What a cluster loses
//! is counted for each of its terms, of which c of its s records hold it:
//!
//! * w c (s - c) / s: where all records hold a term, or none, its links with all others are exact, whatever chunk they are in;
//! * w c more if c < k: how often a term of a term chunk occurs is not told.
//!
//! Clusters that follow each other make a *run*. In a run every record is tried in turn: it changes places with the record, or
//! goes to the cluster, where that saves most, and so on until nothing does, or a few times at most. Then the runs are
//! shifted by half, and all is done once more. A term that k records of a cluster of the run hold keeps such a cluster there: what
//! one would gain by giving it up is not worth a term.
//!
//! Paper:      ours; local search over who is with whom, as Awad et al. 2019 do by ants
//! Promises:   a partition of the same records into as many clusters, none below k if none was, none above `most` unless it was; no
//!             term that k records of some cluster hold is without such a cluster afterwards, unless it weighs nothing
//! Assumes:    nothing
//! Cost:       O(L (r + k)) for L incidences and r clusters in a run, of which there are at most 20 or so; runs are done
//!             in parallel, and nothing depends on the number of threads
//! Checked by: tests in this file, tests/it/guarantee.rs, tests/it/layered.rs

use rayon::prelude::*;

use super::Partition;
use crate::data::{RecordId, TermId, Transactions};
use crate::observer::Observer;

/// A run has about this many times k records.
const RUN: usize = 20;

/// How often all records of a run are tried at most.
const PASSES: usize = 2;

/// A record is compared with the records of so many clusters of the run: those where it fits best by itself.
const NEAR: usize = 4;

/// What a term that is in too few records for a chunk costs for each of these.
const HIDDEN: f64 = 1.0;

/// Savings below this are rounding errors.
const LEAST: f64 = 1e-9;

/// Swaps and moves records between neighbouring clusters; clusters that records move to stay below `most`.
pub(super) fn exchange(
    clusters: &Partition,
    records: &Transactions,
    (k, most): (u32, u32),
    weights: &[f64],
    observer: &dyn Observer,
) -> Partition {
    let k = k as usize;
    let first = shifted(clusters, records, (k, most as usize), weights, false, observer);
    shifted(&first, records, (k, most as usize), weights, true, observer)
}

/// Cuts clusters of twice `size` records and more into clusters of `size` and a little more: exchange is for small ones.
pub(super) fn halved(clusters: &Partition, size: u32) -> Partition {
    let mut small = Partition::default();
    for i in 0..clusters.len() {
        let cluster = clusters.cluster(i);
        let (n, parts) = (cluster.len(), (cluster.len() / size as usize).max(1));
        (0..parts).for_each(|part| small.push(&cluster[n * part / parts..n * (part + 1) / parts]));
    }
    small
}

fn shifted(
    clusters: &Partition,
    records: &Transactions,
    (k, most): (usize, usize),
    weights: &[f64],
    by_half: bool,
    observer: &dyn Observer,
) -> Partition {
    let mut runs: Vec<std::ops::Range<usize>> = Vec::new();
    let (mut start, mut n) = (0, 0);
    let mut full = if by_half { RUN * k / 2 } else { RUN * k };
    for i in 0..clusters.len() {
        let size = clusters.cluster(i).len();
        if n > 0 && n + size > full {
            runs.push(start..i);
            (start, n, full) = (i, 0, RUN * k);
        }
        n += size;
    }
    runs.push(start..clusters.len());
    let of_run = |run: &std::ops::Range<usize>| {
        observer.check();
        let mut run = Run::new(clusters, run.clone(), records, k, weights);
        run.improve(most, observer);
        run.partition()
    };
    let parts: Vec<Partition> = runs.par_iter().map(of_run).collect();
    let mut all = Partition::default();
    for part in &parts {
        (0..part.len()).for_each(|i| all.push(part.cluster(i)));
    }
    all
}

/// The clusters of a run. Records are numbered anew, and terms too: those that one record of the run has alone are left out.
struct Run {
    k: usize,
    ids: Vec<RecordId>,
    /// For each record its terms, ascending.
    terms: Vec<Vec<u32>>,
    weights: Vec<f64>,
    clusters: Vec<Vec<usize>>,
    /// For each term and cluster, how many records of the cluster hold it; those of a term follow each other.
    counts: Vec<u32>,
    /// For each cluster, what it costs if one more of its records holds a term, by how many do; then if one record fewer does.
    more: Vec<Vec<f64>>,
    less: Vec<Vec<f64>>,
    /// For each cluster the sum of w c^2.
    squares: Vec<f64>,
    /// For each term the number of clusters in which k records hold it.
    homes: Vec<u32>,
}

/// Where a record goes.
#[derive(Clone, Copy)]
enum Step {
    /// To the place of a record, given by its place in the cluster, which takes its own.
    Swap(usize, usize),
    /// To a cluster.
    Move(usize),
}

impl Run {
    fn new(
        clusters: &Partition,
        range: std::ops::Range<usize>,
        records: &Transactions,
        k: usize,
        weights: &[f64],
    ) -> Self {
        let ids: Vec<RecordId> = range.clone().flat_map(|i| clusters.cluster(i)).copied().collect();
        let mut listed: Vec<TermId> = ids.iter().flat_map(|&id| records.record(id)).copied().collect();
        listed.sort_unstable();
        let listed: Vec<TermId> = listed
            .chunk_by(|a, b| a == b)
            .filter(|run| run.len() > 1 && weights[run[0] as usize] > 0.0)
            .map(|run| run[0])
            .collect();
        let place = |t: &TermId| listed.binary_search(t).ok().map(|place| place as u32);
        let terms = ids.iter().map(|&id| records.record(id).iter().filter_map(place).collect()).collect();
        let mut next = 0;
        let numbered = range.map(|i| {
            let first = next;
            next += clusters.cluster(i).len();
            (first..next).collect()
        });
        let mut run = Run {
            k,
            terms,
            weights: listed.iter().map(|&t| weights[t as usize]).collect(),
            clusters: numbered.collect(),
            ids,
            counts: Vec::new(),
            more: Vec::new(),
            less: Vec::new(),
            squares: Vec::new(),
            homes: Vec::new(),
        };
        let n = run.clusters.len();
        run.counts = vec![0; listed.len() * n];
        for (i, cluster) in run.clusters.iter().enumerate() {
            cluster.iter().flat_map(|&x| &run.terms[x]).for_each(|&t| run.counts[t as usize * n + i] += 1);
            let square =
                |(t, w): (usize, &f64)| w * f64::from(run.counts[t * n + i]) * f64::from(run.counts[t * n + i]);
            run.squares.push(run.weights.iter().enumerate().map(square).sum());
        }
        let homes = |counts: &[u32]| counts.iter().filter(|&&c| c as usize >= k).count() as u32;
        run.homes = run.counts.chunks_exact(n).map(homes).collect();
        (run.more, run.less) = (vec![Vec::new(); n], vec![Vec::new(); n]);
        (0..n).for_each(|i| run.reckon(i));
        run
    }

    fn improve(&mut self, most: usize, observer: &dyn Observer) {
        let mut near = Vec::new();
        for _ in 0..PASSES {
            let mut is_done = true;
            for a in 0..self.clusters.len() {
                let mut i = 0;
                while i < self.clusters[a].len() {
                    observer.check();
                    match self.best_step(a, i, most, &mut near) {
                        Some(Step::Swap(b, j)) => self.swap(a, i, b, j),
                        Some(Step::Move(b)) => {
                            let record = self.clusters[a].remove(i);
                            self.change(record, a, b);
                            self.clusters[b].push(record);
                            self.reckon(a);
                            self.reckon(b);
                            is_done = false;
                            continue;
                        }
                        None => {
                            i += 1;
                            continue;
                        }
                    }
                    is_done = false;
                    i += 1;
                }
            }
            if is_done {
                break;
            }
        }
    }

    fn partition(&self) -> Partition {
        let mut partition = Partition::default();
        for cluster in &self.clusters {
            let ids: Vec<RecordId> = cluster.iter().map(|&x| self.ids[x]).collect();
            partition.push(&ids);
        }
        partition
    }

    /// What saves most for the i-th record of a cluster; the first of equals.
    fn best_step(&self, a: usize, i: usize, most: usize, near: &mut Vec<(f64, usize)>) -> Option<Step> {
        let x = self.clusters[a][i];
        near.clear();
        near.extend((0..self.clusters.len()).map(|b| (0.0, b)));
        self.joined(x, near);
        near.remove(a);
        let mut best: (f64, Option<Step>) = (-LEAST, None);
        if self.clusters[a].len() > self.k {
            let left = self.change_of_size(x, a, -1.0);
            for &(_, b) in near.iter().filter(|&&(_, b)| self.clusters[b].len() + 1 < most) {
                let change = left + self.change_of_size(x, b, 1.0);
                if change < best.0 && !self.loses_a_term(x, a, b, &[]) {
                    best = (change, Some(Step::Move(b)));
                }
            }
        }
        if near.len() > NEAR {
            near.select_nth_unstable_by(NEAR, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            near.truncate(NEAR);
        }
        near.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for &(_, b) in near.iter() {
            for (j, &y) in self.clusters[b].iter().enumerate() {
                let change = self.swapped(x, a, y, b);
                if change < best.0
                    && !self.loses_a_term(x, a, b, &self.terms[y])
                    && !self.loses_a_term(y, b, a, &self.terms[x])
                {
                    best = (change, Some(Step::Swap(b, j)));
                }
            }
        }
        best.1
    }

    /// Whether a term of a record that goes is then in no cluster of the run k times, though it is now; `back` are the terms
    /// of the record that takes its place.
    fn loses_a_term(&self, x: usize, from: usize, to: usize, back: &[u32]) -> bool {
        let is_lost = |&t: &u32| {
            self.homes[t as usize] == 1
                && self.count(t, from) as usize == self.k
                && self.count(t, to) as usize + 1 < self.k
                && back.binary_search(&t).is_err()
        };
        self.terms[x].iter().any(is_lost)
    }

    /// What c records that hold a term cost, without what depends on the size of the cluster.
    fn cost(&self, c: u32) -> f64 {
        f64::from(c) * if (c as usize) < self.k { 1.0 + HIDDEN } else { 1.0 }
    }

    /// Reckons anew what one more or one less costs in a cluster of its present size, for all numbers of records.
    fn reckon(&mut self, cluster: usize) {
        let size = self.clusters[cluster].len();
        let (k, most) = (self.k, size as u32 + 1);
        let cost = |c: u32| f64::from(c) * if (c as usize) < k { 1.0 + HIDDEN } else { 1.0 };
        let one_more = |c: u32| cost(c + 1) - cost(c) - f64::from(2 * c + 1) / size as f64;
        let one_less = |c: u32| cost(c - 1) - cost(c) + f64::from(2 * c - 1) / size as f64;
        self.more[cluster] = (0..most).map(one_more).collect();
        self.less[cluster] = [0.0].into_iter().chain((1..most).map(one_less)).collect();
    }

    fn count(&self, t: u32, cluster: usize) -> u32 {
        self.counts[t as usize * self.clusters.len() + cluster]
    }

    /// What is saved or lost if one more record of a cluster holds a term, the size being the same.
    fn one_more(&self, t: u32, cluster: usize) -> f64 {
        self.weights[t as usize] * self.more[cluster][self.count(t, cluster) as usize]
    }

    /// The same if one record fewer does.
    fn one_less(&self, t: u32, cluster: usize) -> f64 {
        self.weights[t as usize] * self.less[cluster][self.count(t, cluster) as usize]
    }

    /// The change in each cluster's cost if a record came, the size being the same.
    fn joined(&self, x: usize, changes: &mut [(f64, usize)]) {
        let n = self.clusters.len();
        for &t in &self.terms[x] {
            let w = self.weights[t as usize];
            let counts = &self.counts[t as usize * n..(t as usize + 1) * n];
            for (change, (&c, more)) in changes.iter_mut().zip(counts.iter().zip(&self.more)) {
                change.0 += w * more[c as usize];
            }
        }
    }

    /// The change in a cluster's cost if a record comes (1) or goes (-1).
    fn change_of_size(&self, x: usize, cluster: usize, by: f64) -> f64 {
        let (mut base, mut squares) = (0.0, self.squares[cluster]);
        for &t in &self.terms[x] {
            let (c, w) = (self.count(t, cluster), self.weights[t as usize]);
            let then = if by > 0.0 { c + 1 } else { c - 1 };
            base += w * (self.cost(then) - self.cost(c));
            squares += w * (f64::from(then) * f64::from(then) - f64::from(c) * f64::from(c));
        }
        let size = self.clusters[cluster].len() as f64;
        base - squares / (size + by) + self.squares[cluster] / size
    }

    /// The change in the cost of two clusters if two of their records change places. What both hold stays as it is.
    fn swapped(&self, x: usize, a: usize, y: usize, b: usize) -> f64 {
        let (of_x, of_y) = (&self.terms[x], &self.terms[y]);
        let x_goes = |t: u32| self.one_less(t, a) + self.one_more(t, b);
        let y_goes = |t: u32| self.one_less(t, b) + self.one_more(t, a);
        let (mut i, mut j, mut change) = (0, 0, 0.0);
        while i < of_x.len() && j < of_y.len() {
            match of_x[i].cmp(&of_y[j]) {
                std::cmp::Ordering::Less => {
                    change += x_goes(of_x[i]);
                    i += 1;
                }
                std::cmp::Ordering::Greater => {
                    change += y_goes(of_y[j]);
                    j += 1;
                }
                std::cmp::Ordering::Equal => (i, j) = (i + 1, j + 1),
            }
        }
        change += of_x[i..].iter().map(|&t| x_goes(t)).sum::<f64>();
        change + of_y[j..].iter().map(|&t| y_goes(t)).sum::<f64>()
    }

    fn swap(&mut self, a: usize, i: usize, b: usize, j: usize) {
        let (x, y) = (self.clusters[a][i], self.clusters[b][j]);
        self.change(x, a, b);
        self.change(y, b, a);
        (self.clusters[a][i], self.clusters[b][j]) = (y, x);
    }

    /// Takes a record's terms from one cluster's counts to another's.
    fn change(&mut self, x: usize, from: usize, to: usize) {
        for &t in &self.terms[x] {
            let w = self.weights[t as usize];
            let (from_at, to_at) = (t as usize * self.clusters.len() + from, t as usize * self.clusters.len() + to);
            let (less, more) = (self.counts[from_at], self.counts[to_at]);
            self.squares[from] -= w * f64::from(2 * less - 1);
            self.squares[to] += w * f64::from(2 * more + 1);
            (self.counts[from_at], self.counts[to_at]) = (less - 1, more + 1);
            let (is_home, becomes_home) = (less as usize == self.k, more as usize + 1 == self.k);
            self.homes[t as usize] = self.homes[t as usize] + u32::from(becomes_home) - u32::from(is_home);
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::data::Dataset;
    use crate::observer::Unobserved;

    /// Records of some of 15 terms, in clusters of k and a little more.
    fn random(rng: &mut ChaCha8Rng, k: usize) -> (Dataset, Partition) {
        let n = rng.random_range(2 * k..12 * k);
        let record = |rng: &mut ChaCha8Rng| -> Vec<String> {
            (0..rng.random_range(1..6)).map(|_| rng.random_range(0..15).to_string()).collect()
        };
        let data = Dataset::from_texts((0..n).map(|_| record(rng)).collect::<Vec<_>>());
        let mut partition = Partition::default();
        let order: Vec<RecordId> = (0..n as RecordId).collect();
        let parts = n / k;
        (0..parts).for_each(|i| partition.push(&order[n * i / parts..n * (i + 1) / parts]));
        (data, partition)
    }

    /// The cost of all clusters, by definition.
    fn cost(data: &Dataset, partition: &Partition, k: usize, weights: &[f64]) -> f64 {
        let mut all = 0.0;
        for i in 0..partition.len() {
            let cluster = partition.cluster(i);
            for t in 0..data.n_terms() as TermId {
                let c = cluster.iter().filter(|&&r| data.records.record(r).contains(&t)).count();
                let (s, c_) = (cluster.len() as f64, c as f64);
                all += weights[t as usize] * (c_ * (s - c_) / s + if c < k { HIDDEN * c_ } else { 0.0 });
            }
        }
        all
    }

    #[test]
    fn records_stay_and_the_cost_falls() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut n_better = 0;
        for _ in 0..200 {
            let k = rng.random_range(2..6);
            let (data, before) = random(&mut rng, k);
            let weights: Vec<f64> = (0..data.n_terms()).map(|_| f64::from(rng.random_range(0..4))).collect();
            let after = exchange(&before, &data.records, (k as u32, 3 * k as u32), &weights, &Unobserved);
            assert_eq!(after.len(), before.len());
            assert!((0..after.len()).all(|i| (k..3 * k).contains(&after.cluster(i).len())));
            let mut records = after.order.clone();
            records.sort_unstable();
            assert_eq!(records, (0..data.records.len() as RecordId).collect::<Vec<_>>());
            let [was, is] = [&before, &after].map(|partition| cost(&data, partition, k, &weights));
            assert!(is <= was + 1e-6, "{was} {is}");
            n_better += u32::from(is < was - 1e-6);
        }
        assert!(n_better > 150, "{n_better}");
    }

    /// Every change that is foreseen is the one that follows: the cost as kept equals the cost by definition.
    #[test]
    fn changes_are_those_of_the_definition() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        for _ in 0..300 {
            let k = rng.random_range(2..5);
            let (data, before) = random(&mut rng, k);
            let weights: Vec<f64> = (0..data.n_terms()).map(|_| f64::from(rng.random_range(1..4))).collect();
            let mut run = Run::new(&before, 0..before.len(), &data.records, k, &weights);
            let (a, b) = (0, before.len() - 1);
            if a == b {
                continue;
            }
            let (i, j) = (rng.random_range(0..run.clusters[a].len()), rng.random_range(0..run.clusters[b].len()));
            let was = cost(&data, &run.partition(), k, &weights);
            let (x, y) = (run.clusters[a][i], run.clusters[b][j]);
            let foreseen = if rng.random_bool(0.5) {
                let foreseen = run.swapped(x, a, y, b);
                run.swap(a, i, b, j);
                foreseen
            } else if run.clusters[a].len() > 1 {
                let foreseen = run.change_of_size(x, a, -1.0) + run.change_of_size(x, b, 1.0);
                run.clusters[a].remove(i);
                run.change(x, a, b);
                run.clusters[b].push(x);
                foreseen
            } else {
                continue;
            };
            let is = cost(&data, &run.partition(), k, &weights);
            // Terms of one record cost the same wherever it is, but for the size of the cluster.
            let alone = lone_terms(&data, &weights);
            assert!((is - was - foreseen).abs() <= alone + 1e-6, "{was} {is} {foreseen}");
        }
    }

    /// How far terms that one record has alone can change the cost with the size of its cluster: by less than w.
    fn lone_terms(data: &Dataset, weights: &[f64]) -> f64 {
        let supports = crate::data::supports(&data.records, data.n_terms());
        (0..data.n_terms()).filter(|&t| supports[t] == 1).map(|t| weights[t]).sum()
    }

    /// A term that weighs little would be given up for others, were it not for its only home.
    #[test]
    fn terms_keep_a_cluster() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let mut n_homes = 0;
        for _ in 0..200 {
            let k = rng.random_range(2..5);
            let (data, before) = random(&mut rng, k);
            let weights: Vec<f64> = (0..data.n_terms()).map(|_| [0.01, 1.0, 5.0][rng.random_range(0..3)]).collect();
            let after = exchange(&before, &data.records, (k as u32, 3 * k as u32), &weights, &Unobserved);
            for t in 0..data.n_terms() as TermId {
                let holds = |r: &&RecordId| data.records.record(**r).contains(&t);
                let has_home = |partition: &Partition| {
                    (0..partition.len()).any(|i| partition.cluster(i).iter().filter(holds).count() >= k)
                };
                n_homes += u32::from(has_home(&before));
                assert!(!has_home(&before) || has_home(&after), "a term lost its last home");
            }
        }
        assert!(n_homes > 200, "{n_homes}");
    }

    #[test]
    fn records_that_were_put_apart_come_together() {
        let rows = ["a, b", "c, d", "a, b", "c, d", "a, b", "c, d"];
        let data = Dataset::from_texts(rows.map(|row| row.split(", ").map(String::from).collect::<Vec<_>>()));
        let start = Partition { order: (0..6).collect(), ends: vec![3, 6] };
        let after = exchange(&start, &data.records, (3, 9), &[1.0; 4], &Unobserved);
        let mut clusters: Vec<Vec<RecordId>> = (0..2).map(|i| after.cluster(i).to_vec()).collect();
        clusters.iter_mut().for_each(|cluster| cluster.sort_unstable());
        clusters.sort();
        assert_eq!(clusters, [vec![0, 2, 4], vec![1, 3, 5]]);
    }

    #[test]
    fn large_clusters_are_cut_evenly() {
        let start = Partition { order: (0..23).collect(), ends: vec![5, 14, 23] };
        let sizes =
            |partition: &Partition| (0..partition.len()).map(|i| partition.cluster(i).len()).collect::<Vec<_>>();
        assert_eq!(sizes(&halved(&start, 3)), [5, 3, 3, 3, 3, 3, 3]);
        assert_eq!(sizes(&halved(&start, 4)), [5, 4, 5, 4, 5]);
        assert_eq!(halved(&start, 4).order, start.order);
    }
}
