//! Regaining: a term that is in no chunk, though k records hold it, gets k records of one cluster, and hardly any record moves.
//!
//! After records were exchanged a few terms are in k records of no cluster, and most of them lack one record or two somewhere. So
//! the cluster that holds such a term most often gets the holders that it lacks, from clusters that can spare them:
//! they keep k records, and no other term is in k records of them alone that would not be so then. Where there are too few of
//! these, or where the term had its k records and was refused by the cut, k of its holders become a cluster by themselves, and what
//! is left of theirs goes to a neighbour where it is too small.
//!
//! Paper:      ours
//! Promises:   a partition of the same records into clusters of at least k
//! Assumes:    no cluster below k
//! Cost:       O(L) for L incidences, and for each term that is regained its holders times the size of a cluster
//! Checked by: tests in this file, tests/it/guarantee.rs, tests/it/layered.rs

use super::similar::{Alike, Holders};
use super::{Partition, horizontal};
use crate::data::{RecordId, TermId, Transactions, supports};
use crate::observer::Observer;

/// So many clusters are tried, those with most holders of a term first.
const TRIED: usize = 5;

/// Gives each of the terms that are `lost` k records of one cluster, as far as possible; of terms that weigh the same the rarest
/// first. No term that k records of some cluster hold is without such a cluster afterwards.
pub(super) fn regain(
    clusters: &Partition,
    records: &Transactions,
    (k, max_cluster): (u32, u32),
    weights: &[f64],
    lost: &[TermId],
    observer: &dyn Observer,
) -> Partition {
    let supports = supports(records, weights.len());
    let mut terms: Vec<TermId> = lost.to_vec();
    let by_weight = |&a: &TermId, &b: &TermId| weights[b as usize].total_cmp(&weights[a as usize]);
    terms.sort_unstable_by(|a, b| by_weight(a, b).then((supports[*a as usize], a).cmp(&(supports[*b as usize], b))));
    let holders = Holders::new(records, &supports, &terms);
    let mut alike = Alike::new(weights.len());
    alike.weigh(records.len(), (0..).zip(&supports).map(|(t, &s)| (t, s)), weights);
    let mut state = State::new(clusters, records, (k as usize, max_cluster as usize), weights);
    for i in 0..terms.len() {
        observer.check();
        if !state.top_up(holders.of(i), &mut alike) {
            state.set_apart(holders.of(i), &mut alike);
        }
    }
    let mut partition = Partition::default();
    state.clusters.iter().filter(|cluster| !cluster.is_empty()).for_each(|cluster| partition.push(cluster));
    horizontal::merge_small(&mut partition, records, (k, max_cluster), weights, observer);
    partition
}

/// Clusters that records move between.
struct State<'a> {
    records: &'a Transactions,
    weights: &'a [f64],
    k: usize,
    /// Clusters get no more records from others once they have so many.
    most: usize,
    clusters: Vec<Vec<RecordId>>,
    /// The cluster of each record.
    home: Vec<u32>,
    /// For each term that weighs something, in how many clusters k records hold it.
    n_homes: Vec<u32>,
}

impl<'a> State<'a> {
    fn new(
        clusters: &Partition,
        records: &'a Transactions,
        (k, max_cluster): (usize, usize),
        weights: &'a [f64],
    ) -> Self {
        let mut home = vec![0; records.len()];
        let mut n_homes = vec![0; weights.len()];
        let mut alike = Alike::new(weights.len());
        let clusters: Vec<Vec<RecordId>> = (0..clusters.len()).map(|i| clusters.cluster(i).to_vec()).collect();
        for (i, cluster) in (0..).zip(&clusters) {
            cluster.iter().for_each(|&r| home[r as usize] = i);
            alike.count(cluster.iter().map(|&r| records.record(r)), |t, n| {
                n_homes[t as usize] += u32::from(n as usize >= k && weights[t as usize] > 0.0);
            });
        }
        State { records, weights, k, most: max_cluster + max_cluster / 2, clusters, home, n_homes }
    }

    /// Gives the cluster with most holders those that it lacks, or the next one if there are too few for it. Says whether one got
    /// them; none does if one has k already.
    fn top_up(&mut self, holders: &[RecordId], alike: &mut Alike) -> bool {
        let mut homes: Vec<u32> = holders.iter().map(|&r| self.home[r as usize]).collect();
        homes.sort_unstable();
        let mut runs: Vec<(usize, u32)> = homes.chunk_by(|a, b| a == b).map(|run| (run.len(), run[0])).collect();
        runs.sort_unstable_by_key(|&(n, cluster)| (std::cmp::Reverse(n), cluster));
        if runs.first().is_some_and(|&(n, _)| n >= self.k) {
            return false;
        }
        for &(n, to) in runs.iter().take(TRIED) {
            let lacks = self.k - n;
            if self.clusters[to as usize].len() + lacks > self.most {
                continue;
            }
            let can_go = |&r: &RecordId| self.home[r as usize] != to && self.can_spare(r);
            let spare: Vec<RecordId> = holders.iter().copied().filter(can_go).collect();
            if spare.len() < lacks {
                continue;
            }
            let mut by_score = alike.scores(&self.clusters[to as usize], &spare, |r| self.records.record(r));
            // Stable: the first of equals stays the first.
            by_score.sort_by(|a, b| b.0.total_cmp(&a.0));
            let mut n_moved = 0;
            for (_, record) in by_score {
                // Those that went before may have made it needed where it is.
                if n_moved < lacks && self.can_spare(record) {
                    self.relocate(record, to);
                    n_moved += 1;
                }
            }
            return n_moved == lacks;
        }
        false
    }

    /// Makes a cluster of k holders.
    fn set_apart(&mut self, holders: &[RecordId], alike: &mut Alike) {
        let mut free: Vec<RecordId> = holders.iter().copied().filter(|&r| !self.is_needed(r)).collect();
        if free.len() < self.k {
            return;
        }
        let seed = free.remove(0);
        let chosen = alike.fill(seed, &mut free, self.k, |r| self.records.record(r));
        let to = self.clusters.len() as u32;
        self.clusters.push(Vec::new());
        for record in chosen {
            if !self.is_needed(record) {
                self.relocate(record, to);
            }
        }
    }

    /// Whether a record's cluster can do without it.
    fn can_spare(&self, record: RecordId) -> bool {
        self.clusters[self.home[record as usize] as usize].len() > self.k && !self.is_needed(record)
    }

    /// Whether some term would be in k records of no cluster if a record left its own.
    fn is_needed(&self, record: RecordId) -> bool {
        let home = self.home[record as usize];
        let terms = self.records.record(record).iter();
        terms.copied().any(|t| self.n_homes[t as usize] == 1 && self.count(home, t) == self.k)
    }

    fn relocate(&mut self, record: RecordId, to: u32) {
        let from = self.home[record as usize];
        for &t in self.records.record(record).iter().filter(|&&t| self.weights[t as usize] > 0.0) {
            let (less, more) = (self.count(from, t), self.count(to, t));
            self.n_homes[t as usize] += u32::from(more + 1 == self.k);
            self.n_homes[t as usize] -= u32::from(less == self.k);
        }
        self.clusters[from as usize].retain(|&r| r != record);
        self.clusters[to as usize].push(record);
        self.home[record as usize] = to;
    }

    /// How many records of a cluster hold a term.
    fn count(&self, cluster: u32, term: TermId) -> usize {
        let holds = |&&r: &&RecordId| self.records.record(r).binary_search(&term).is_ok();
        self.clusters[cluster as usize].iter().filter(holds).count()
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::super::tests::records as parse;
    use super::*;
    use crate::data::Dataset;
    use crate::observer::Unobserved;

    /// For each term the number of clusters in which k records hold it, by definition.
    fn n_homes(data: &Dataset, partition: &Partition, k: usize) -> Vec<usize> {
        let holders =
            |i: usize, t: TermId| partition.cluster(i).iter().filter(|&&r| data.records.record(r).contains(&t)).count();
        let of_term = |t: TermId| (0..partition.len()).filter(|&i| holders(i, t) >= k).count();
        (0..data.n_terms() as TermId).map(of_term).collect()
    }

    /// No term loses its last home, whoever moves; most terms without one get one.
    #[test]
    fn terms_get_homes_and_keep_them() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let (mut n_lost, mut n_regained) = (0, 0);
        for _ in 0..300 {
            let k = rng.random_range(2..6);
            let n = rng.random_range(3 * k..20 * k);
            let record = |rng: &mut ChaCha8Rng| -> Vec<String> {
                (0..rng.random_range(1..5)).map(|_| rng.random_range(0..25).to_string()).collect()
            };
            let data = Dataset::from_texts((0..n).map(|_| record(&mut rng)).collect::<Vec<_>>());
            let mut partition = Partition::default();
            let order: Vec<RecordId> = (0..n as RecordId).collect();
            let parts = (n / (k + 1)).max(1);
            (0..parts).for_each(|i| partition.push(&order[n * i / parts..n * (i + 1) / parts]));
            let weights: Vec<f64> = (0..data.n_terms()).map(|_| f64::from(rng.random_range(0..3))).collect();
            let before = n_homes(&data, &partition, k);
            let supports = crate::data::supports(&data.records, data.n_terms());
            let is_lost = |&t: &TermId| {
                before[t as usize] == 0 && supports[t as usize] as usize >= k && weights[t as usize] > 0.0
            };
            let lost: Vec<TermId> = (0..data.n_terms() as TermId).filter(is_lost).collect();
            let after = regain(&partition, &data.records, (k as u32, 2 * k as u32), &weights, &lost, &Unobserved);
            let mut all = after.order.clone();
            all.sort_unstable();
            assert_eq!(all, order);
            assert!((0..after.len()).all(|i| after.cluster(i).len() >= k));
            let homes = n_homes(&data, &after, k);
            for t in (0..data.n_terms()).filter(|&t| before[t] > 0 && weights[t] > 0.0) {
                assert!(homes[t] > 0, "a term lost its last home");
            }
            n_lost += lost.len();
            n_regained += lost.iter().filter(|&&t| homes[t as usize] > 0).count();
        }
        assert!(2 * n_regained > n_lost && n_lost > 300, "{n_regained} of {n_lost}");
    }

    #[test]
    fn one_record_moves_where_one_is_lacking() {
        let rows = ["a, r", "a, r", "a", "a", "b, r", "b", "b", "b", "b"];
        let data = parse(&rows);
        let r = data.dictionary.get("r").unwrap();
        let start = Partition { order: (0..9).collect(), ends: vec![4, 9] };
        let after = regain(&start, &data.records, (3, 6), &vec![1.0; data.n_terms()], &[r], &Unobserved);
        assert_eq!((after.cluster(0), after.cluster(1)), (&[0, 1, 2, 3, 4][..], &[5, 6, 7, 8][..]));
    }

    #[test]
    fn a_term_whose_clusters_spare_nobody_gets_its_own() {
        let rows = ["r, a", "a", "a", "a", "r, b", "b", "b", "b", "r, c", "c", "c", "c"];
        let data = parse(&rows);
        let r = data.dictionary.get("r").unwrap();
        let start = Partition { order: (0..12).collect(), ends: vec![4, 8, 12] };
        // Clusters may have no more than four: r cannot be added anywhere, but its holders can leave.
        let mut state = State::new(&start, &data.records, (3, 6), &[1.0; 4]);
        state.most = 4;
        let mut alike = Alike::new(4);
        let holders: Vec<RecordId> = vec![0, 4, 8];
        assert!(!state.top_up(&holders, &mut alike));
        state.set_apart(&holders, &mut alike);
        assert_eq!(state.clusters.last(), Some(&holders));
        assert_eq!(state.n_homes[r as usize], 1);
    }
}
