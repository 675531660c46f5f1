//! Horizontal partitioning: brings records with common frequent terms together into clusters.
//!
//! Paper:      terrovitis2012, section 4, Algorithm HORPART
//! Promises:   a partition of the records; after `merge_small` every cluster has at least k records
//! Assumes:    max_cluster >= 2k, and at least k records in all
//! Departs:    a term that all records of a range hold is passed over at once (splitting on it gives the same range
//!             again, and ignoring it afterwards is what the paper's `ignore` set does, so the set need not be kept);
//!             a range without a term left to split on is sorted by content and cut evenly; clusters below k are
//!             merged with the more similar neighbour, because no set of terms can occur k times in fewer records
//! Cost:       O(L * d) for L incidences and d nested "with" splits (3 to 6 in practice): a whole chain of "without"
//!             splits is done on one inverted list, each record leaving it once
//! Checked by: tests in this file (spec K 3, and a literal recursion on random data), tests/it/guarantee.rs

use std::collections::BinaryHeap;
use std::sync::Mutex;

use rayon::prelude::*;

use super::{Diversity, DiversityRule, Partition};
use crate::data::{RecordId, TermId, Transactions};
use crate::error::{Error, Result};
use crate::observer::Observer;

/// The parts of a range of at least this many records are split in parallel. The value changes the speed only.
const PARALLEL_FROM: usize = 4_000;

/// Ranges nested deeper than this are split one after the other: nesting can be as deep as the longest record, and
/// the stack is not.
const PARALLEL_DEPTH: u32 = 20;

/// Partitions the records into clusters of fewer than `max_cluster`, in the paper's order: depth first, the records
/// with the splitting term before those without it. A term counts as many times as its weight says; one of weight 0 never
/// splits.
pub(super) fn split(records: &Transactions, max_cluster: u32, weights: &[f64], observer: &dyn Observer) -> Partition {
    let n_terms = weights.len();
    let splitter = Splitter { records, weights, max_cluster: max_cluster as usize, spare: Mutex::default(), observer };
    let mut order: Vec<RecordId> = (0..records.len() as RecordId).collect();
    let mut end = 0;
    let to_end = |size: u32| {
        end += size as usize;
        end
    };
    let ends = splitter.split_in_parallel(&mut order, n_terms, PARALLEL_DEPTH).into_iter().map(to_end).collect();
    Partition { order, ends }
}

/// Merges every cluster with fewer than k records into a neighbour; returns how many there were.
///
/// The neighbour is the one with the larger Jaccard similarity of term sets, the one before in a tie, and the other
/// one if the merged cluster would have more than 2 * max_cluster records. Terms of weight 0 do not count.
pub(super) fn merge_small(
    partition: &mut Partition,
    records: &Transactions,
    (k, max_cluster): (u32, u32),
    weights: &[f64],
    observer: &dyn Observer,
) -> u64 {
    let k = k as usize;
    let limit = 2 * max_cluster as usize;
    let mut marks = Marks { marks: vec![0; weights.len()], epoch: 0 };
    let mut ends: Vec<usize> = Vec::with_capacity(partition.len());
    let mut merged = 0;
    let mut start = 0; // of the cluster at hand, which may have absorbed clusters before it
    for i in 0..partition.ends.len() {
        let end = partition.ends[i];
        if end - start >= k {
            ends.push(end);
            start = end;
            continue;
        }
        observer.check();
        let next_end = partition.ends.get(i + 1).copied();
        let previous_start = match ends.len() {
            0 => None,
            1 => Some(0),
            n => Some(ends[n - 2]),
        };
        let into_previous = match (previous_start, next_end) {
            (Some(_), None) => true,
            (None, _) => false,
            (Some(previous), Some(next)) => {
                let fits = |size: usize| size <= limit;
                if fits(end - previous) != fits(next - start) {
                    fits(end - previous)
                } else {
                    let cluster = &partition.order[start..end];
                    let before = marks.jaccard(records, cluster, &partition.order[previous..start], weights);
                    let after = marks.jaccard(records, cluster, &partition.order[end..next], weights);
                    // a/b >= c/d without division; the union is never empty, since records are not.
                    before.0 * after.1 >= after.0 * before.1
                }
            }
        };
        // With neither neighbour the dataset has fewer than k records, which `Params::check` refused.
        merged += 1;
        if into_previous {
            ends.pop();
            ends.push(end);
            start = end;
        }
    }
    partition.ends = ends;
    merged
}

/// Merges clusters with their neighbours until no sensitive term is too frequent in any; returns the number merged.
pub(super) fn merge_for_diversity(
    partition: &mut Partition,
    records: &Transactions,
    diversity: Diversity,
    is_sensitive: &[bool],
    observer: &dyn Observer,
) -> Result<u64> {
    let mut counts = vec![0u64; is_sensitive.len()];
    let mut fits = |cluster: &[RecordId]| {
        observer.check();
        let sensitive =
            || cluster.iter().flat_map(|&r| records.record(r)).map(|&t| t as usize).filter(|&t| is_sensitive[t]);
        sensitive().for_each(|t| counts[t] += 1);
        let highest = sensitive().map(|t| counts[t]).max().unwrap_or(0);
        sensitive().for_each(|t| counts[t] = 0);
        let needed = match diversity.rule {
            DiversityRule::Multiplicity => u64::from(diversity.l) * highest,
            DiversityRule::Size => u64::from(diversity.l) * highest.min(1),
        };
        cluster.len() as u64 >= needed
    };
    let mut ends: Vec<usize> = Vec::with_capacity(partition.len());
    let mut merged = 0;
    let mut start = 0;
    for &end in &partition.ends {
        if fits(&partition.order[start..end]) {
            ends.push(end);
            start = end;
        } else {
            merged += 1;
        }
    }
    // What is left over at the end joins the clusters before it, as many as are needed.
    let all = partition.order.len();
    while start < all {
        ends.pop();
        start = ends.last().copied().unwrap_or(0);
        if fits(&partition.order[start..all]) {
            ends.push(all);
            start = all;
        } else if start == 0 {
            return Err(Error::Infeasible {
                problem: format!("a sensitive term is held by more than one record in {}", diversity.l),
                hint: "lower --l-diversity, or take the most frequent term off the sensitive list".into(),
            });
        } else {
            merged += 1;
        }
    }
    partition.ends = ends;
    Ok(merged)
}

/// One mark a term: what the last comparison saw.
struct Marks {
    marks: Vec<u64>,
    epoch: u64,
}

impl Marks {
    /// Sizes of the intersection and of the union of the term sets of two clusters.
    fn jaccard(&mut self, records: &Transactions, a: &[RecordId], b: &[RecordId], weights: &[f64]) -> (u64, u64) {
        let mut terms = |cluster: &[RecordId], see: &mut dyn FnMut(&mut u64)| {
            for &t in cluster.iter().flat_map(|&record| records.record(record)) {
                if weights[t as usize] > 0.0 {
                    see(&mut self.marks[t as usize]);
                }
            }
        };
        let (mut union, mut both) = (0, 0);
        // Marks below `in_a` are from earlier comparisons.
        let (in_a, in_b, in_both) = (self.epoch + 1, self.epoch + 2, self.epoch + 3);
        self.epoch += 3;
        terms(a, &mut |mark| {
            if *mark != in_a {
                *mark = in_a;
                union += 1;
            }
        });
        terms(b, &mut |mark| {
            if *mark == in_a {
                *mark = in_both;
                both += 1;
            } else if *mark < in_a {
                *mark = in_b;
                union += 1;
            }
        });
        (both, union)
    }
}

struct Splitter<'a> {
    records: &'a Transactions,
    weights: &'a [f64],
    max_cluster: usize,
    /// Work spaces that no thread uses at the moment.
    spare: Mutex<Vec<Scratch>>,
    observer: &'a dyn Observer,
}

/// Work space that is reused from range to range; `counts` is all zero between two ranges.
struct Scratch {
    counts: Vec<u32>,
    /// Where a term's inverted list starts and ends in `lists`; valid for the terms of the range at hand only.
    starts: Vec<u32>,
    ends: Vec<u32>,
    touched: Vec<TermId>,
    lists: Vec<u32>,
    /// The records of the range one after the other: they lie far apart in the data, and are read three times.
    terms: Vec<TermId>,
    record_ends: Vec<u32>,
    heap: Vec<u64>,
    alive: Vec<bool>,
    reordered: Vec<RecordId>,
}

impl Scratch {
    fn new(n_terms: usize) -> Self {
        Scratch {
            counts: vec![0; n_terms],
            starts: vec![0; n_terms],
            ends: vec![0; n_terms],
            touched: Vec::new(),
            lists: Vec::new(),
            terms: Vec::new(),
            record_ends: Vec::new(),
            heap: Vec::new(),
            alive: Vec::new(),
            reordered: Vec::new(),
        }
    }
}

impl Splitter<'_> {
    /// Reorders the range so that clusters are consecutive, and returns their sizes.
    fn split_in_parallel(&self, range: &mut [RecordId], n_terms: usize, depth: u32) -> Vec<u32> {
        let spare = self.spare.lock().ok().and_then(|mut spare| spare.pop());
        let mut scratch = spare.unwrap_or_else(|| Scratch::new(n_terms));
        let mut groups = Vec::new();
        let parallel = range.len() >= PARALLEL_FROM && depth > 0;
        let sizes = if parallel {
            self.chain(range, &mut scratch, &mut groups);
            Vec::new()
        } else {
            self.split_in_turn(range, &mut scratch)
        };
        if let Ok(mut spare) = self.spare.lock() {
            spare.push(scratch);
        }
        if !parallel {
            return sizes;
        }
        let mut rest = range;
        let parts: Vec<(&mut [RecordId], bool)> = groups
            .into_iter()
            .map(|(size, done)| {
                let (part, tail) = std::mem::take(&mut rest).split_at_mut(size);
                rest = tail;
                (part, done)
            })
            .collect();
        let split_part = |(part, done): (&mut [RecordId], bool)| {
            if done { vec![part.len() as u32] } else { self.split_in_parallel(part, n_terms, depth - 1) }
        };
        let sizes: Vec<Vec<u32>> = parts.into_par_iter().map(split_part).collect();
        sizes.into_iter().flatten().filter(|&size| size > 0).collect()
    }

    /// The same, one range after the other.
    fn split_in_turn(&self, order: &mut [RecordId], scratch: &mut Scratch) -> Vec<u32> {
        let mut sizes = Vec::new();
        let mut groups = Vec::new();
        let mut stack = vec![(0, order.len(), false)];
        while let Some((lo, hi, done)) = stack.pop() {
            if done || hi - lo < self.max_cluster {
                sizes.extend((hi > lo).then_some((hi - lo) as u32));
                continue;
            }
            groups.clear();
            self.chain(&mut order[lo..hi], scratch, &mut groups);
            // Termination: every group is smaller than its range, or finished.
            let mut end = hi;
            for &(size, done) in groups.iter().rev() {
                stack.push((end - size, end, done));
                end -= size;
            }
        }
        sizes
    }

    /// One range and all its "without" splits: the most frequent term takes its records out of the range, then the
    /// most frequent one of what is left, until fewer than `max_cluster` remain. Appends the groups' sizes in order.
    fn chain(&self, order: &mut [RecordId], scratch: &mut Scratch, groups: &mut Vec<(usize, bool)>) {
        let n = order.len();
        self.observer.check();
        self.invert(order, scratch);
        let Scratch { counts, starts, ends, touched, lists, terms, record_ends, heap, alive, reordered } = scratch;

        heap.clear();
        heap.extend(touched.iter().map(|&t| self.heap_key(counts[t as usize], t)));
        let mut candidates = BinaryHeap::from(std::mem::take(heap));
        alive.clear();
        alive.resize(n, true);
        reordered.clear();
        // Invariant: counts[t] is the support of t among the records still alive. Keys in the heap may be stale but
        // only too high, so a key that is up to date when it comes out on top is the maximum.
        while n - reordered.len() >= self.max_cluster {
            let Some(key) = candidates.pop() else { break };
            let term = heap_term(key);
            let count = counts[term as usize];
            if key != self.heap_key(count, term) {
                if count > 0 {
                    candidates.push(self.heap_key(count, term));
                }
                continue;
            }
            self.observer.check();
            let before = reordered.len();
            for &position in &lists[starts[term as usize] as usize..ends[term as usize] as usize] {
                if std::mem::take(&mut alive[position as usize]) {
                    reordered.push(order[position as usize]);
                    for &t in self.record_at(position as usize, order, terms, record_ends) {
                        // Terms that never split have count 0 already.
                        counts[t as usize] = counts[t as usize].saturating_sub(1);
                    }
                }
            }
            groups.push((reordered.len() - before, false));
        }
        *heap = candidates.into_vec();
        for &t in touched.iter() {
            counts[t as usize] = 0;
        }

        let split_off = reordered.len();
        reordered.extend(order.iter().zip(alive.iter()).filter(|&(_, &alive)| alive).map(|(&record, _)| record));
        order.copy_from_slice(reordered);
        let rest = &mut order[split_off..];
        if rest.len() < self.max_cluster {
            groups.push((rest.len(), true));
        } else {
            // Stuck: no term is left that some of these records have and others have not.
            rest.sort_by(|&a, &b| self.records.record(a).cmp(self.records.record(b)));
            let blocks = rest.len().div_ceil(self.max_cluster - 1);
            groups.extend((0..blocks).map(|i| (rest.len() * (i + 1) / blocks - rest.len() * i / blocks, true)));
        }
    }

    /// Orders by count times weight, then by smaller id: with equal weights the maximum is the paper's choice.
    fn heap_key(&self, count: u32, term: TermId) -> u64 {
        let weighed = (f64::from(count) * self.weights[term as usize]).round() as u32;
        u64::from(weighed) << 32 | u64::from(u32::MAX - term)
    }

    /// The first range holds all records in the order of the data: it need not be copied.
    fn is_everything(&self, order: &[RecordId]) -> bool {
        order.len() == self.records.len()
    }

    /// The record at a position of the range at hand, from the copy of its records if there is one.
    #[inline]
    fn record_at<'a>(&'a self, position: usize, order: &[RecordId], terms: &'a [TermId], ends: &[u32]) -> &'a [TermId] {
        if self.is_everything(order) {
            return self.records.record(order[position]);
        }
        &terms[if position == 0 { 0 } else { ends[position - 1] as usize }..ends[position] as usize]
    }

    /// Fills the scratch with supports and inverted lists (positions in `order`) of the terms that can split it.
    fn invert(&self, order: &[RecordId], scratch: &mut Scratch) {
        let Scratch { counts, starts, ends, touched, lists, terms, record_ends, .. } = scratch;
        touched.clear();
        terms.clear();
        record_ends.clear();
        for &record in order {
            let record = self.records.record(record);
            if !self.is_everything(order) {
                terms.extend_from_slice(record);
                record_ends.push(terms.len() as u32);
            }
            for &t in record {
                if counts[t as usize] == 0 {
                    touched.push(t);
                }
                counts[t as usize] += 1;
            }
        }
        // A term of all records, and one of weight 0, never splits: count 0 keeps it out of the lists.
        touched.retain(|&t| {
            let splits = (counts[t as usize] as usize) < order.len() && self.weights[t as usize] > 0.0;
            if !splits {
                counts[t as usize] = 0;
            }
            splits
        });
        let mut total = 0;
        for &t in touched.iter() {
            total += counts[t as usize];
            starts[t as usize] = total;
            ends[t as usize] = total;
        }
        lists.clear();
        lists.resize(total as usize, 0);
        // Backwards, so that every list ends up in ascending order and `starts` at the starts.
        for position in (0..order.len()).rev() {
            for &t in self.record_at(position, order, terms, record_ends) {
                if counts[t as usize] > 0 {
                    starts[t as usize] -= 1;
                    lists[starts[t as usize] as usize] = position as u32;
                }
            }
        }
    }
}

fn heap_term(key: u64) -> TermId {
    u32::MAX - key as u32
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::super::figures::FIGURE_2;
    use super::super::tests::records;
    use super::*;
    use crate::data::Dataset;
    use crate::observer::Unobserved;

    fn clusters(partition: &Partition) -> Vec<Vec<RecordId>> {
        (0..partition.len()).map(|i| partition.cluster(i).to_vec()).collect()
    }

    fn split_all(data: &Dataset, max_cluster: u32) -> Partition {
        split(&data.records, max_cluster, &vec![1.0; data.n_terms()], &Unobserved)
    }

    /// HORPART as printed, with the rules for an empty side and for a range without a term left.
    fn literal(data: &Dataset, range: Vec<RecordId>, ignore: &[TermId], max: usize, out: &mut Vec<Vec<RecordId>>) {
        if range.len() < max {
            if !range.is_empty() {
                out.push(range);
            }
            return;
        }
        let has = |r: RecordId, t: TermId| data.records.record(r).contains(&t);
        let support = |t: TermId| range.iter().filter(|&&r| has(r, t)).count();
        let best = (0..data.n_terms() as TermId)
            .filter(|t| !ignore.contains(t) && support(*t) > 0)
            .max_by_key(|&t| (support(t), std::cmp::Reverse(t)));
        let Some(a) = best else {
            let mut range = range;
            range.sort_by_key(|&r| data.records.record(r).to_vec());
            let blocks = range.len().div_ceil(max - 1);
            let cut = |i: usize| range.len() * i / blocks;
            out.extend((0..blocks).map(|i| range[cut(i)..cut(i + 1)].to_vec()));
            return;
        };
        let (with, without): (Vec<_>, Vec<_>) = range.iter().partition(|&&r| has(r, a));
        literal(data, with, &[ignore, &[a]].concat(), max, out);
        literal(data, without, ignore, max, out);
    }

    #[test]
    fn the_ten_records_of_figure_2() {
        let data = records(&FIGURE_2);
        for max_cluster in 5..=8 {
            let found = clusters(&split_all(&data, max_cluster));
            assert_eq!(found, [vec![0, 2, 6, 9], vec![1, 4, 5, 7], vec![3, 8]], "max {max_cluster}");
        }
    }

    #[test]
    fn a_chain_of_splits_is_the_recursion_as_printed() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        for _ in 0..400 {
            let (n, n_terms) = (rng.random_range(1..80), rng.random_range(1..12));
            let density = rng.random_range(0.05..0.95);
            let rows: Vec<Vec<String>> = (0..n)
                .map(|_| (0..n_terms).filter(|_| rng.random_bool(density)).map(|t| t.to_string()).collect())
                .collect();
            let data = Dataset::from_texts(rows);
            let max = rng.random_range(3..12);
            let mut expected = Vec::new();
            literal(&data, (0..data.records.len() as u32).collect(), &[], max, &mut expected);
            assert_eq!(clusters(&split_all(&data, max as u32)), expected);
        }
    }

    #[test]
    fn identical_records_are_cut_evenly() {
        let data = Dataset::from_texts(vec![["a", "b"]; 100]);
        let sizes: Vec<usize> = clusters(&split_all(&data, 10)).iter().map(Vec::len).collect();
        assert_eq!(sizes.iter().sum::<usize>(), 100);
        assert!(sizes.iter().all(|&size| size == 8 || size == 9), "{sizes:?}");
    }

    #[test]
    fn no_cluster_stays_below_k() {
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        for _ in 0..300 {
            let k = rng.random_range(2..6);
            let n = rng.random_range(k..120);
            let data = Dataset::from_texts((0..n).map(|_| {
                let length = rng.random_range(1..4);
                (0..length).map(|_| rng.random_range(0..30).to_string()).collect::<Vec<_>>()
            }));
            let max_cluster = rng.random_range(2 * k..4 * k);
            let mut partition = split_all(&data, max_cluster);
            let small = clusters(&partition).iter().filter(|c| c.len() < k as usize).count();
            let merged =
                merge_small(&mut partition, &data.records, (k, max_cluster), &vec![1.0; data.n_terms()], &Unobserved);
            assert_eq!(merged > 0, small > 0);
            let mut all: Vec<RecordId> = clusters(&partition).concat();
            assert!(clusters(&partition).iter().all(|c| c.len() >= k as usize));
            all.sort_unstable();
            assert_eq!(all, (0..n).collect::<Vec<_>>());
        }
    }

    #[test]
    fn diversity_is_kept_or_refused() {
        let data = records(&["hiv, a", "hiv, a", "hiv, b", "b", "c", "c", "d", "d, hiv", "e", "e", "f", "f"]);
        let hiv = data.dictionary.get("hiv").unwrap();
        let mut is_sensitive = vec![false; data.n_terms()];
        is_sensitive[hiv as usize] = true;
        let start = Partition { order: (0..12).collect(), ends: vec![3, 6, 9, 12] };
        for (l, rule, expected) in [
            (2, DiversityRule::Multiplicity, Some(vec![6, 9, 12])),
            (3, DiversityRule::Multiplicity, Some(vec![12])),
            (4, DiversityRule::Multiplicity, None),
            (3, DiversityRule::Size, Some(vec![3, 6, 9, 12])),
            (4, DiversityRule::Size, Some(vec![6, 12])),
        ] {
            let mut partition = start.clone();
            let outcome =
                merge_for_diversity(&mut partition, &data.records, Diversity { l, rule }, &is_sensitive, &Unobserved);
            match expected {
                Some(ends) => assert_eq!(partition.ends, ends, "l={l} {rule:?}"),
                None => assert!(matches!(outcome, Err(Error::Infeasible { .. }))),
            }
        }
    }
}
