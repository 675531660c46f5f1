//! Grouping by likeness: each cluster is a record and the few that are most like it.
//!
//! The paper splits on the most frequent term until clusters are small. What they have in common is then frequent; rare terms
//! are scattered over clusters, in each of which too few records hold them. Here three things happen one after the other:
//!
//! 1. *Rescue.* A rare term that would be in no chunk otherwise, though some k records hold it, gets a cluster of k of them, rarest
//!    terms first. If too few are left, they join the cluster that has most of the others. At most one record in four is used so.
//! 2. *Regions.* The other records are split as in the paper, but into regions of many records.
//! 3. *Filling.* In a region, a record with the rarest terms is the seed of a cluster. Records are added, one at a time, until
//!    there are k: the one that shares most with those that are there. Clusters are then as small as they may be, and pairs
//!    of terms that meet in them by chance are few.
//!
//! How alike a record is to a cluster: each of its terms that x > 0 records of the cluster hold counts w x, each other one
//! -w/5, where w = ln(n / s) for a term that s of n records hold, times the term's own weight. What everybody has says
//! little.
//!
//! Paper:      ours; the regions are those of terrovitis2012, Algorithm HORPART
//! Promises:   a partition of the records into clusters of at least k
//! Assumes:    at least k records
//! Cost:       O(L log n) for rescue and regions with L incidences; filling a region of r records compares r/k seeds with at
//!             most r records k times: O(L r) in all, and r is bounded. Regions are filled in parallel
//! Checked by: tests in this file, tests/it/guarantee.rs, tests/it/layered.rs

use rayon::prelude::*;

use super::{Partition, horizontal};
use crate::data::{RecordId, TermId, Transactions, supports};
use crate::observer::Observer;

/// A region has fewer than this many times k records. Larger ones find more alike and take longer.
const REGION: u32 = 80;

/// Terms held by at most this many times k records are rescued; more frequent ones rarely need it.
const RARE: u32 = 40;

/// One record in so many may be in clusters for rare terms: in small data, where most terms are rare, the others matter more.
const RESCUED: usize = 4;

/// A cluster that records are added to has at most about this many times k.
pub(super) const FULL: usize = 3;

/// What a term counts that a record has and the cluster has not.
const STRANGE: f64 = 0.2;

/// Partitions the records; terms that are `wanted` are rescued. Terms of weight 0 do not count.
pub(super) fn group(
    records: &Transactions,
    k: u32,
    weights: &[f64],
    wanted: &[bool],
    observer: &dyn Observer,
) -> Partition {
    rescued(records, k, weights, wanted, observer, |others| {
        let region = k.saturating_mul(REGION);
        let mut regions = horizontal::split(others, region, weights, observer);
        horizontal::merge_small(&mut regions, others, (k, region), weights, observer);
        let filled: Vec<Partition> = (0..regions.len())
            .into_par_iter()
            .map_init(
                || Alike::new(weights.len()),
                |alike, i| fill(regions.cluster(i), others, k as usize, weights, alike, observer),
            )
            .collect();
        let mut partition = Partition::default();
        for clusters in filled {
            (0..clusters.len()).for_each(|i| partition.push(clusters.cluster(i)));
        }
        partition
    })
}

/// Clusters for rare terms that are wanted, and of the other records those that `group_others` makes; it is given k records at least.
fn rescued(
    records: &Transactions,
    k: u32,
    weights: &[f64],
    wanted: &[bool],
    observer: &dyn Observer,
    group_others: impl FnOnce(&Transactions) -> Partition,
) -> Partition {
    let mut partition = rescue(records, k, weights, wanted, observer);
    observer.check();
    let mut is_taken = vec![false; records.len()];
    partition.order.iter().for_each(|&record| is_taken[record as usize] = true);
    let rest: Vec<RecordId> = (0..records.len() as RecordId).filter(|&r| !is_taken[r as usize]).collect();
    if rest.len() < k as usize {
        // Rescued clusters hold all others: there are some, as there are k records.
        partition.order.extend(rest);
        if let Some(end) = partition.ends.last_mut() {
            *end = partition.order.len();
        }
        return partition;
    }
    let mut others = group_others(&subset(records, &rest));
    others.order.iter_mut().for_each(|record| *record = rest[*record as usize]);
    (0..others.len()).for_each(|i| partition.push(others.cluster(i)));
    partition
}

/// Clusters for rare terms that are lost, of records that are taken out of the clusters they are in; and how many these are. What is
/// left of a cluster goes to a neighbour if it is below k.
pub(super) fn taken_out(
    clusters: &Partition,
    records: &Transactions,
    (k, max_cluster): (u32, u32),
    weights: &[f64],
    lost: &[TermId],
    observer: &dyn Observer,
) -> (Partition, usize) {
    let mut wanted = vec![false; weights.len()];
    lost.iter().for_each(|&t| wanted[t as usize] = true);
    let mut partition = rescue(records, k, weights, &wanted, observer);
    let n_taken = partition.order.len();
    let mut is_taken = vec![false; records.len()];
    partition.order.iter().for_each(|&record| is_taken[record as usize] = true);
    let mut left = Vec::new();
    for i in 0..clusters.len() {
        left.clear();
        left.extend(clusters.cluster(i).iter().copied().filter(|&r| !is_taken[r as usize]));
        if !left.is_empty() {
            partition.push(&left);
        }
    }
    horizontal::merge_small(&mut partition, records, (k, max_cluster), weights, observer);
    (partition, n_taken)
}

/// Some records, numbered anew.
pub(super) fn subset(records: &Transactions, ids: &[RecordId]) -> Transactions {
    let mut some = Transactions::default();
    let mut record = Vec::new();
    for &id in ids {
        record.clear();
        record.extend_from_slice(records.record(id));
        some.push(&mut record);
    }
    some
}

/// For each wanted rare term that no cluster has k times yet, k of the records that hold it and are in no cluster, if there are so
/// many; of terms that weigh the same the rarest first.
fn rescue(records: &Transactions, k: u32, weights: &[f64], wanted: &[bool], observer: &dyn Observer) -> Partition {
    let supports = supports(records, weights.len());
    let most = k.saturating_mul(RARE);
    let is_rare =
        |t: TermId| wanted[t as usize] && (k..=most).contains(&supports[t as usize]) && weights[t as usize] > 0.0;
    let mut rare: Vec<TermId> = (0..supports.len() as TermId).filter(|&t| is_rare(t)).collect();
    let by_weight = |&a: &TermId, &b: &TermId| weights[b as usize].total_cmp(&weights[a as usize]);
    rare.sort_unstable_by(|a, b| by_weight(a, b).then((supports[*a as usize], a).cmp(&(supports[*b as usize], b))));
    let holders = Holders::new(records, &supports, &rare);
    let mut alike = Alike::new(supports.len());
    alike.weigh(records.len(), (0..).zip(&supports).map(|(t, &s)| (t, s)), weights);

    let k = k as usize;
    let mut home = vec![NONE; records.len()];
    let mut is_placed = vec![false; supports.len()];
    let mut clusters: Vec<Vec<RecordId>> = Vec::new();
    let mut n_rescued = 0;
    for (i, &term) in rare.iter().enumerate() {
        observer.check();
        if n_rescued + k > records.len() / RESCUED {
            break;
        }
        if is_placed[term as usize] {
            continue;
        }
        let holders = holders.of(i);
        let mut free: Vec<RecordId> = holders.iter().copied().filter(|&r| home[r as usize] == NONE).collect();
        let chosen = if free.len() >= k {
            let seed = free.remove(0);
            clusters.push(alike.fill(seed, &mut free, k, |r| records.record(r)));
            clusters.len() - 1
        } else {
            // Others that hold it went to clusters of rarer terms. It may still get k records of one of these.
            match fullest_home(holders, &home) {
                Some((cluster, n)) if n + free.len() >= k && clusters[cluster].len() + k < FULL * k + n => {
                    clusters[cluster].extend(&free[..k - n.min(k)]);
                    cluster
                }
                _ => continue,
            }
        };
        for &record in &clusters[chosen] {
            n_rescued += usize::from(home[record as usize] == NONE);
            home[record as usize] = chosen as u32;
        }
        let members = clusters[chosen].iter().map(|&r| records.record(r));
        alike.count(members, |t, count| is_placed[t as usize] |= count as usize >= k);
    }
    let mut partition = Partition::default();
    clusters.iter().for_each(|cluster| partition.push(cluster));
    partition
}

/// The cluster in which most of the records are, and how many; the first of equals.
fn fullest_home(records: &[RecordId], home: &[u32]) -> Option<(usize, usize)> {
    let mut homes: Vec<u32> = records.iter().map(|&r| home[r as usize]).filter(|&home| home != NONE).collect();
    homes.sort_unstable();
    let runs = homes.chunk_by(|a, b| a == b).map(|run| (run[0] as usize, run.len()));
    runs.max_by_key(|&(cluster, n)| (n, std::cmp::Reverse(cluster)))
}

/// Makes clusters of k records of a region, and puts those that are left where they fit best.
fn fill(
    region: &[RecordId],
    records: &Transactions,
    k: usize,
    weights: &[f64],
    alike: &mut Alike,
    observer: &dyn Observer,
) -> Partition {
    if region.len() < 2 * k {
        return Partition { order: region.to_vec(), ends: vec![region.len()] };
    }
    // Only terms that k records of the region hold can be in a chunk of one of its clusters.
    let mut counts: Vec<(TermId, u32)> = Vec::new();
    alike.count(region.iter().map(|&r| records.record(r)), |t, count| {
        if count >= k as u32 && weights[t as usize] > 0.0 {
            counts.push((t, count));
        }
    });
    counts.sort_unstable_by_key(|&(t, count)| (count, t));
    alike.weigh(region.len(), counts.iter().copied(), weights);
    // Records of the region by position; their terms by place in `counts`, rarest first.
    let mut place = std::mem::take(&mut alike.place);
    (0..).zip(&counts).for_each(|(i, &(t, _))| place[t as usize] = i);
    let mut local = Lists::default();
    for &record in region {
        let start = local.items.len();
        local.items.extend(records.record(record).iter().map(|&t| place[t as usize]).filter(|&at| at != NONE));
        local.items[start..].sort_unstable();
        local.ends.push(local.items.len());
    }
    counts.iter().for_each(|&(t, _)| place[t as usize] = NONE);
    alike.place = place;
    let weights: Vec<f64> = counts.iter().map(|&(t, _)| alike.weights[t as usize]).collect();
    let mut inside = Alike { weights, counts: vec![0; counts.len()], ..Alike::default() };
    let clusters = fill_positions(region.len(), &local, counts.len(), k, &mut inside, observer);

    let mut partition = Partition::default();
    for cluster in clusters {
        let cluster: Vec<RecordId> = cluster.iter().map(|&position| region[position as usize]).collect();
        partition.push(&cluster);
    }
    partition
}

fn fill_positions(
    n: usize,
    local: &Lists,
    n_terms: usize,
    k: usize,
    alike: &mut Alike,
    observer: &dyn Observer,
) -> Vec<Vec<u32>> {
    let mut holders: Vec<Vec<u32>> = vec![Vec::new(); n_terms];
    for position in 0..n as u32 {
        local.of(position).iter().for_each(|&t| holders[t as usize].push(position));
    }
    let mut seeds: Vec<u32> = (0..n as u32).collect();
    seeds.sort_by(|&a, &b| local.of(a).cmp(local.of(b)));
    let mut is_taken = vec![false; n];
    let mut is_candidate = vec![NONE; n];
    let (mut clusters, mut alone) = (Vec::new(), Vec::new());
    let mut candidates = Vec::new();
    for &seed in seeds.iter() {
        if is_taken[seed as usize] {
            continue;
        }
        observer.check();
        candidates.clear();
        for &t in local.of(seed) {
            let list = &mut holders[t as usize];
            list.retain(|&position| !is_taken[position as usize]);
            for &position in list.iter().filter(|&&position| position != seed) {
                if is_candidate[position as usize] != seed {
                    is_candidate[position as usize] = seed;
                    candidates.push(position);
                }
            }
        }
        if candidates.len() + 1 < k {
            alone.push(seed);
            continue;
        }
        let cluster = alike.fill(seed, &mut candidates, k, |position| local.of(position));
        cluster.iter().for_each(|&position| is_taken[position as usize] = true);
        clusters.push(cluster);
    }
    alone.retain(|&position| !is_taken[position as usize]);
    if clusters.is_empty() {
        return vec![alone];
    }
    let mut homeless = Vec::new();
    for position in alone {
        observer.check();
        match alike.best_home(position, &clusters, FULL * k, |position| local.of(position)) {
            Some(home) => clusters[home].push(position),
            None => homeless.push(position),
        }
    }
    if homeless.len() >= k {
        clusters.push(homeless);
    } else if let Some(last) = clusters.last_mut() {
        last.extend(homeless);
    }
    clusters
}

const NONE: u32 = u32::MAX;

/// Ascending lists, one after the other.
#[derive(Default)]
struct Lists {
    items: Vec<u32>,
    ends: Vec<usize>,
}

impl Lists {
    fn of(&self, i: u32) -> &[u32] {
        let i = i as usize;
        &self.items[if i == 0 { 0 } else { self.ends[i - 1] }..self.ends[i]]
    }
}

/// Which records hold each of some terms.
pub(super) struct Holders {
    lists: Lists,
}

impl Holders {
    pub(super) fn new(records: &Transactions, supports: &[u32], terms: &[TermId]) -> Self {
        let mut next = vec![usize::MAX; supports.len()];
        let mut lists = Lists::default();
        let mut end = 0;
        for &t in terms {
            next[t as usize] = end;
            end += supports[t as usize] as usize;
            lists.ends.push(end);
        }
        lists.items = vec![0; end];
        for (record, terms) in (0..).zip(records.iter()) {
            for &t in terms {
                let next = &mut next[t as usize];
                if *next != usize::MAX {
                    lists.items[*next] = record;
                    *next += 1;
                }
            }
        }
        Holders { lists }
    }

    /// Those of the `i`-th term, ascending.
    pub(super) fn of(&self, i: usize) -> &[RecordId] {
        self.lists.of(i as u32)
    }
}

/// How alike records are; arrays are used again, all counts are 0 between two uses.
#[derive(Default)]
pub(super) struct Alike {
    weights: Vec<f64>,
    counts: Vec<u32>,
    place: Vec<u32>,
    seen: Vec<TermId>,
}

impl Alike {
    pub(super) fn new(n_terms: usize) -> Self {
        Alike { weights: vec![0.0; n_terms], counts: vec![0; n_terms], place: vec![NONE; n_terms], seen: Vec::new() }
    }

    /// Weighs terms by how few of n records hold them: ln(n / s), times what the term weighs by itself.
    pub(super) fn weigh(&mut self, n: usize, supports: impl Iterator<Item = (TermId, u32)>, weights: &[f64]) {
        for (term, support) in supports.filter(|&(_, support)| support > 0) {
            self.weights[term as usize] = weights[term as usize] * (n as f64 / f64::from(support)).ln();
        }
    }

    /// Calls `each` with every term of the records and how many of them hold it.
    pub(super) fn count<'r>(&mut self, records: impl Iterator<Item = &'r [TermId]>, mut each: impl FnMut(TermId, u32)) {
        for &t in records.flatten() {
            if self.counts[t as usize] == 0 {
                self.seen.push(t);
            }
            self.counts[t as usize] += 1;
        }
        for t in self.seen.drain(..) {
            each(t, std::mem::take(&mut self.counts[t as usize]));
        }
    }

    /// A cluster of k: the seed and the candidates that are most like those before them. The first of equals is taken.
    pub(super) fn fill<'r>(
        &mut self,
        seed: RecordId,
        candidates: &mut Vec<RecordId>,
        k: usize,
        terms: impl Fn(RecordId) -> &'r [TermId],
    ) -> Vec<RecordId> {
        let mut cluster = vec![seed];
        terms(seed).iter().for_each(|&t| self.counts[t as usize] += 1);
        while cluster.len() < k && !candidates.is_empty() {
            let mut best = (f64::NEG_INFINITY, 0);
            for (i, &candidate) in candidates.iter().enumerate() {
                let score = self.score(terms(candidate));
                if score > best.0 {
                    best = (score, i);
                }
            }
            // In order, so that the first of equals stays the first.
            let next = candidates.remove(best.1);
            terms(next).iter().for_each(|&t| self.counts[t as usize] += 1);
            cluster.push(next);
        }
        cluster.iter().flat_map(|&r| terms(r)).for_each(|&t| self.counts[t as usize] = 0);
        cluster
    }

    /// The cluster of fewer than `full` records that a record is most like.
    fn best_home<'r>(
        &mut self,
        record: u32,
        clusters: &[Vec<u32>],
        full: usize,
        terms: impl Fn(u32) -> &'r [TermId],
    ) -> Option<usize> {
        let mut best = None;
        for (i, cluster) in clusters.iter().enumerate().filter(|(_, cluster)| cluster.len() < full) {
            cluster.iter().flat_map(|&r| terms(r)).for_each(|&t| self.counts[t as usize] += 1);
            let score = self.score(terms(record));
            cluster.iter().flat_map(|&r| terms(r)).for_each(|&t| self.counts[t as usize] = 0);
            if best.is_none_or(|(highest, _)| score > highest) {
                best = Some((score, i));
            }
        }
        best.map(|(_, i)| i)
    }

    /// How alike each of some records is to a cluster.
    pub(super) fn scores<'r>(
        &mut self,
        cluster: &[RecordId],
        some: &[RecordId],
        terms: impl Fn(RecordId) -> &'r [TermId],
    ) -> Vec<(f64, RecordId)> {
        cluster.iter().flat_map(|&r| terms(r)).for_each(|&t| self.counts[t as usize] += 1);
        let scores = some.iter().map(|&r| (self.score(terms(r)), r)).collect();
        cluster.iter().flat_map(|&r| terms(r)).for_each(|&t| self.counts[t as usize] = 0);
        scores
    }

    fn score(&self, terms: &[TermId]) -> f64 {
        let of_term = |&t: &TermId| {
            let count = f64::from(self.counts[t as usize]);
            self.weights[t as usize] * if count > 0.0 { count } else { -STRANGE }
        };
        terms.iter().map(of_term).sum()
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

    #[test]
    fn clusters_partition_the_records_and_have_at_least_k() {
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        for _ in 0..400 {
            let k = rng.random_range(2..6);
            let (n, n_terms) = (rng.random_range(k..150), rng.random_range(2..60));
            let record = |_| {
                let length = rng.random_range(1..7);
                (0..length).map(|_| format!("t{}", rng.random_range(0..n_terms))).collect::<Vec<_>>()
            };
            let data = Dataset::from_texts((0..n).map(record).collect::<Vec<_>>());
            let weight = |rng: &mut ChaCha8Rng| if rng.random_bool(0.2) { rng.random_range(0..4) } else { 1 };
            let weights: Vec<f64> = (0..data.n_terms()).map(|_| f64::from(weight(&mut rng))).collect();
            let wanted: Vec<bool> = (0..data.n_terms()).map(|_| rng.random_bool(0.5)).collect();
            let grouped = group(&data.records, k, &weights, &wanted, &Unobserved);
            let lost: Vec<TermId> = (0..data.n_terms() as TermId).filter(|_| rng.random_bool(0.3)).collect();
            let (without, _) = taken_out(&grouped, &data.records, (k, 2 * k), &weights, &lost, &Unobserved);
            for partition in [grouped, without] {
                let mut all = partition.order.clone();
                all.sort_unstable();
                assert!(all.into_iter().eq(0..n), "not a partition");
                assert_eq!(partition.ends.last(), Some(&(n as usize)));
                assert!((0..partition.len()).all(|i| partition.cluster(i).len() >= k as usize));
            }
        }
    }

    #[test]
    fn a_rare_term_gets_k_records_of_one_cluster() {
        // Three people with r each, far apart in everything else: the paper's splits part them.
        let mut rows: Vec<String> = (0..90).map(|i| format!("a{}, b{}", i % 3, i % 5)).collect();
        for i in [0, 31, 62] {
            rows[i].push_str(", r");
        }
        let data = parse(&rows.iter().map(String::as_str).collect::<Vec<_>>());
        let n = data.n_terms();
        let are_together = |wanted: bool| {
            let partition = group(&data.records, 3, &vec![1.0; n], &vec![wanted; n], &Unobserved);
            let home = |record: RecordId| (0..partition.len()).find(|&i| partition.cluster(i).contains(&record));
            home(0).is_some() && home(0) == home(31) && home(31) == home(62)
        };
        assert!(are_together(true));
        let scattered = Partition { order: (0..90).collect(), ends: (1..=30).map(|i| 3 * i).collect() };
        let r = data.dictionary.get("r").unwrap();
        let (partition, n_taken) = taken_out(&scattered, &data.records, (3, 6), &vec![1.0; n], &[r], &Unobserved);
        // What is left of the first cluster is too small, and joins it.
        assert_eq!((partition.cluster(0), n_taken), (&[0, 31, 62, 1, 2][..], 3));
    }

    #[test]
    fn records_that_are_alike_come_together() {
        let rows: Vec<String> = (0..40).map(|i| format!("x, p{0}, q{0}", i % 8)).collect();
        let data = parse(&rows.iter().map(String::as_str).collect::<Vec<_>>());
        let partition = group(&data.records, 5, &vec![1.0; data.n_terms()], &vec![true; data.n_terms()], &Unobserved);
        for i in 0..partition.len() {
            let of = |record: RecordId| record % 8;
            assert!(partition.cluster(i).iter().all(|&r| of(r) == of(partition.cluster(i)[0])));
        }
    }
}
