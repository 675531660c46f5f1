//! Common terms: those that so many records hold that all records can show them together.
//!
//! In small clusters the frequent terms lose most: a pair that thousands of records hold is cut into hundreds of clusters, and in
//! many of them too few hold it. But a set of m terms that many records hold needs no small cluster to hide in. So the
//! most frequent terms are taken out of the records before these are grouped, and published at once, in one shared chunk:
//! supports of their itemsets are then exact. Records fall into three layers:
//!
//! * *everyday* records have common terms only, and are one cluster with one record chunk, which is not cut;
//! * *mixed* records have others, too: their common terms are in the shared chunk, the others are grouped and cut;
//! * *local* records have common terms only, but some set of them is rare: they are grouped and cut with all their terms.
//!
//! What is given up is the link between common terms and others, beyond how frequent both are. It is not worth that if too many
//! of the most frequent pairs are of one common term and another one (`is_worth_it`).
//!
//! Paper:      ours; shared chunks are those of terrovitis2012, section 4, and nothing below this one has its terms
//!             (no conflicts, so Property 1 asks for k^m-anonymity alone)
//! Promises:   every set of at most m common terms is held by no mixed record or by k of them, and by no everyday record
//!             or by k of them
//! Assumes:    nothing
//! Cost:       a few passes over the records' sets of at most m candidates, of which there are as few as it takes (`most_sets`)
//! Checked by: tests in this file, tests/it/guarantee.rs, tests/it/layered.rs

use std::collections::HashMap;

use super::preference::Preference;
use super::rows::{Projection, TermRows};
use crate::data::{RecordId, TermId, Transactions, supports};
use crate::observer::Observer;
use crate::release::Chunk;

/// Candidates at most: their sets are counted.
const MOST: usize = 500;

/// Among this many of the most frequent pairs, those that stay whole are compared with those that are cut apart.
const PAIRS: usize = 1000;

/// How many whole ones must stand against each that is cut.
const WORTH: f64 = 1.05;

/// The records by layer, and the common terms, ascending.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Layers {
    pub(super) common: Vec<TermId>,
    pub(super) everyday: Vec<RecordId>,
    pub(super) mixed: Vec<RecordId>,
    pub(super) local: Vec<RecordId>,
}

/// Finds the common terms and the layers, if that is worth it. A term of weight 0 is never common, and a utility set is wholly
/// common or not at all: what is common is linked to nothing else.
pub(super) fn layers(
    records: &Transactions,
    k: u32,
    m: u32,
    preference: &Preference,
    observer: &dyn Observer,
) -> Option<Layers> {
    let n_terms = preference.weights.len();
    let supports = supports(records, n_terms);
    let mut common = candidates(&supports, records.len(), k, m, &preference.weights);
    if m > MOST_TERMS {
        return None;
    }
    // From now on a term is its place among the candidates.
    let projected = Projected::within_reason(records, &mut common, n_terms, m, observer);
    if common.len() < 2 {
        return None;
    }
    let sets = Sets::new(&preference.sets, &common, n_terms);
    let mut is_common = vec![true; common.len()];
    // First by all records: otherwise terms that are refused in the end make others rare among the mixed ones.
    refuse(projected.count(0..records.len(), &is_common, m, observer).rare(k), &mut is_common);
    sets.keep_whole(&mut is_common);
    loop {
        // Fewer common terms make more records mixed, and sets of those that are left more frequent there.
        let is_mixed = |record: usize| projected.has_others(record, &is_common);
        let rare = projected.count((0..records.len()).filter(|&r| is_mixed(r)), &is_common, m, observer).rare(k);
        if rare.is_empty() {
            break;
        }
        refuse(rare, &mut is_common);
        sets.keep_whole(&mut is_common);
    }
    common = common.into_iter().zip(&is_common).filter(|(_, is_common)| **is_common).map(|(t, _)| t).collect();
    common.sort_unstable();
    if common.len() < 2 || !is_worth_it(records, &supports, &common, observer) {
        return None;
    }
    let mut layers = Layers { common, ..Layers::default() };
    for record in 0..records.len() {
        let layer = if projected.has_others(record, &is_common) { &mut layers.mixed } else { &mut layers.everyday };
        layer.push(record as RecordId);
    }
    let keep_frequent = |layers: &mut Layers| {
        let rare = projected.with_rare_sets(&layers.everyday, &is_common, (k, m), observer);
        layers.everyday.retain(|record| rare.binary_search(record).is_err());
        layers.local.extend(rare);
    };
    keep_frequent(&mut layers);
    let k = k as usize;
    if (1..k).contains(&layers.local.len()) {
        // Too few to be a cluster: some everyday records keep them company.
        layers.local.extend(layers.everyday.split_off(layers.everyday.len().saturating_sub(k)));
        keep_frequent(&mut layers);
    }
    if layers.everyday.len() < k {
        layers.local.append(&mut layers.everyday);
    }
    if layers.mixed.len() < 2 * k || (1..k).contains(&layers.local.len()) {
        return None;
    }
    layers.local.sort_unstable();
    Some(layers)
}

/// The records' common terms as one chunk; `rank` gives published ids.
pub(super) fn chunk(records: &Transactions, ids: &[RecordId], common: &[TermId], rank: &[TermId]) -> Chunk {
    let mut place = vec![NONE; rank.len()];
    let mut rows = TermRows::default();
    rows.clear(ids.len());
    for (row, &record) in ids.iter().enumerate() {
        for &t in records.record(record).iter().filter(|t| common.binary_search(t).is_ok()) {
            if place[t as usize] == NONE {
                place[t as usize] = rows.add(t) as u32;
            }
            rows.set(place[t as usize] as usize, row);
        }
    }
    let all: Vec<usize> = (0..rows.terms.len()).collect();
    rows.project(&all, |i| rank[rows.terms[i] as usize], &mut Projection::default())
}

/// The records without their common terms. Each has others.
pub(super) fn others(records: &Transactions, ids: &[RecordId], common: &[TermId]) -> Transactions {
    let mut rest = Transactions::default();
    let mut record = Vec::new();
    for &id in ids {
        record.clear();
        record.extend(records.record(id).iter().copied().filter(|t| common.binary_search(t).is_err()));
        rest.push(&mut record);
    }
    rest
}

const NONE: u32 = u32::MAX;

/// Sets are packed into 64 bits, ten for each term.
const MOST_TERMS: u32 = 6;

/// Terms so frequent that m of them would be expected together in k/2 records if they came independently:
/// s^m / n^(m-1) >= k/2. Those that count most first: s times the weight.
fn candidates(supports: &[u32], n: usize, k: u32, m: u32, weights: &[f64]) -> Vec<TermId> {
    let is_frequent = |&t: &TermId| {
        let share = f64::from(supports[t as usize]) / n as f64;
        share.powi(m as i32) * n as f64 >= f64::from(k) / 2.0 && weights[t as usize] > 0.0
    };
    let mut candidates: Vec<TermId> = (0..supports.len() as TermId).filter(is_frequent).collect();
    let counts = |t: TermId| f64::from(supports[t as usize]) * weights[t as usize];
    candidates.sort_unstable_by(|&a, &b| counts(b).total_cmp(&counts(a)).then(a.cmp(&b)));
    candidates.truncate(MOST);
    candidates
}

/// The utility sets, by places.
struct Sets {
    /// For each set the places of its candidates, and whether all its terms are candidates.
    sets: Vec<(Vec<usize>, bool)>,
}

impl Sets {
    fn new(sets: &[Vec<TermId>], candidates: &[TermId], n_terms: usize) -> Self {
        let mut place = vec![usize::MAX; n_terms];
        (0..).zip(candidates).for_each(|(i, &t)| place[t as usize] = i);
        let of_set = |set: &Vec<TermId>| {
            let places: Vec<usize> = set.iter().map(|&t| place[t as usize]).filter(|&i| i != usize::MAX).collect();
            let is_whole = places.len() == set.len();
            (places, is_whole)
        };
        Sets { sets: sets.iter().map(of_set).collect() }
    }

    /// Where a term of a set is not common, none of it is; and so on where sets overlap.
    fn keep_whole(&self, is_common: &mut [bool]) {
        let mut is_done = false;
        while !is_done {
            is_done = true;
            for (places, is_whole) in &self.sets {
                let n_common = places.iter().filter(|&&place| is_common[place]).count();
                if n_common > 0 && !(*is_whole && n_common == places.len()) {
                    places.iter().for_each(|&place| is_common[place] = false);
                    is_done = false;
                }
            }
        }
    }
}

/// Takes the last term out of each set, the one that counts least, unless another one of it is out already.
fn refuse(mut rare: Vec<u64>, is_common: &mut [bool]) {
    // By the last term: a set whose terms all come before it goes first.
    rare.sort_unstable_by_key(|&set| (places(set).max(), set));
    for set in rare {
        if places(set).all(|place| is_common[place]) {
            is_common[places(set).max().unwrap_or(0)] = false;
        }
    }
}

/// Whether, of the most frequent pairs of terms, more have two common ones than only one.
fn is_worth_it(records: &Transactions, supports: &[u32], common: &[TermId], observer: &dyn Observer) -> bool {
    let mut frequent: Vec<TermId> = (0..supports.len() as TermId).collect();
    let by_support = |&t: &TermId| (std::cmp::Reverse(supports[t as usize]), t);
    if frequent.len() > PAIRS {
        frequent.select_nth_unstable_by_key(PAIRS, by_support);
        frequent.truncate(PAIRS);
    }
    frequent.sort_unstable_by_key(by_support);
    let projected = Projected::within_reason(records, &mut frequent, supports.len(), 2, observer);
    let n = frequent.len();
    let counts = projected.count(0..records.len(), &vec![true; n], 2, observer);
    let mut pairs: Vec<(u32, u32)> =
        (0..).zip(&counts.pairs).filter(|(_, count)| **count > 0).map(|(i, &c)| (c, i)).collect();
    if pairs.len() > PAIRS {
        pairs.select_nth_unstable_by_key(PAIRS, |&(count, i)| (std::cmp::Reverse(count), i));
        pairs.truncate(PAIRS);
    }
    let is_common = |place: usize| common.binary_search(&frequent[place]).is_ok();
    let (mut whole, mut cut) = (0, 0);
    for (_, i) in pairs {
        match (is_common(i as usize / n), is_common(i as usize % n)) {
            (true, true) => whole += 1,
            (false, false) => {}
            _ => cut += 1,
        }
    }
    f64::from(whole) >= WORTH * f64::from(cut)
}

/// Sets that are counted at most, each as often as it occurs: linear in the number of records.
fn most_sets(n_records: usize) -> f64 {
    1e7 + 100.0 * n_records as f64
}

/// The records' terms that are among some, as places, ascending.
struct Projected {
    places: Vec<u16>,
    ends: Vec<usize>,
    /// The number of all terms of each record.
    lengths: Vec<u32>,
}

impl Projected {
    /// For the first of the terms, as many as can be counted: dense records have more sets than anybody can count.
    fn within_reason(
        records: &Transactions,
        terms: &mut Vec<TermId>,
        n_terms: usize,
        m: u32,
        observer: &dyn Observer,
    ) -> Self {
        loop {
            observer.check();
            let projected = Projected::new(records, terms, n_terms);
            if terms.len() < 2 || projected.n_sets(m) <= most_sets(records.len()) {
                return projected;
            }
            terms.truncate(terms.len() / 2);
        }
    }

    /// How many sets of at most m places the records hold, each counted in every record.
    fn n_sets(&self, m: u32) -> f64 {
        let of_record = |record: usize| {
            let length = self.of(record).len() as u32;
            let (mut sets, mut all) = (1.0, 0.0);
            for i in 0..m.min(length) {
                sets *= f64::from(length - i) / f64::from(i + 1);
                all += sets;
            }
            all
        };
        (0..self.ends.len()).map(of_record).sum()
    }

    fn new(records: &Transactions, terms: &[TermId], n_terms: usize) -> Self {
        let mut place = vec![u16::MAX; n_terms];
        (0..).zip(terms).for_each(|(i, &t)| place[t as usize] = i);
        let mut projected = Projected { places: Vec::new(), ends: Vec::new(), lengths: Vec::new() };
        for record in records.iter() {
            let start = projected.places.len();
            projected.places.extend(record.iter().map(|&t| place[t as usize]).filter(|&place| place != u16::MAX));
            projected.places[start..].sort_unstable();
            projected.ends.push(projected.places.len());
            projected.lengths.push(record.len() as u32);
        }
        projected
    }

    fn of(&self, record: usize) -> &[u16] {
        &self.places[if record == 0 { 0 } else { self.ends[record - 1] }..self.ends[record]]
    }

    /// Whether a record has a term that is not common.
    fn has_others(&self, record: usize, is_common: &[bool]) -> bool {
        let n_common = self.of(record).iter().filter(|&&place| is_common[place as usize]).count();
        n_common < self.lengths[record] as usize
    }

    /// How often each set of at most m common terms occurs in some records.
    fn count(
        &self,
        records: impl Iterator<Item = usize>,
        is_common: &[bool],
        m: u32,
        observer: &dyn Observer,
    ) -> Counts {
        let mut counts = Counts::new(is_common.len());
        let mut here = Vec::new();
        for record in records {
            observer.check();
            here.clear();
            here.extend(self.of(record).iter().copied().filter(|&place| is_common[place as usize]));
            counts.change(&here, m, 1);
        }
        counts
    }

    /// The records that hold a set that fewer than k of them hold, until none is left among the others; ascending.
    fn with_rare_sets(
        &self,
        records: &[RecordId],
        is_common: &[bool],
        (k, m): (u32, u32),
        observer: &dyn Observer,
    ) -> Vec<RecordId> {
        let mut counts = self.count(records.iter().map(|&r| r as usize), is_common, m, observer);
        let mut kept: Vec<RecordId> = records.to_vec();
        let mut rare = Vec::new();
        loop {
            let before = rare.len();
            kept.retain(|&record| {
                observer.check();
                // All terms of such a record are common.
                let here = self.of(record as usize);
                let has_rare = counts.has_rare(here, m, k);
                if has_rare {
                    counts.change(here, m, u32::MAX);
                    rare.push(record);
                }
                !has_rare
            });
            if rare.len() == before {
                break;
            }
        }
        rare.sort_unstable();
        rare
    }
}

/// The supports of sets of places.
struct Counts {
    n: usize,
    singles: Vec<u32>,
    /// Of (i, j), i < j, at i n + j.
    pairs: Vec<u32>,
    /// Of three places and more, packed.
    larger: HashMap<u64, u32, foldhash::fast::FixedState>,
}

impl Counts {
    fn new(n: usize) -> Self {
        Counts { n, singles: vec![0; n], pairs: vec![0; n * n], larger: HashMap::default() }
    }

    /// Adds `by`, modulo 2^32, to all sets of at most m of the places.
    fn change(&mut self, here: &[u16], m: u32, by: u32) {
        for (i, &a) in here.iter().enumerate() {
            self.singles[a as usize] = self.singles[a as usize].wrapping_add(by);
            if m < 2 {
                continue;
            }
            for &b in &here[i + 1..] {
                let pair = &mut self.pairs[a as usize * self.n + b as usize];
                *pair = pair.wrapping_add(by);
            }
        }
        if m > 2 {
            larger_sets(here, m, &mut |set| {
                let count = self.larger.entry(set).or_insert(0);
                *count = count.wrapping_add(by);
                true
            });
        }
    }

    fn has_rare(&self, here: &[u16], m: u32, k: u32) -> bool {
        let is_rare_from = |(i, &a): (usize, &u16)| {
            let pair = |&b: &u16| m > 1 && self.pairs[a as usize * self.n + b as usize] < k;
            self.singles[a as usize] < k || here[i + 1..].iter().any(pair)
        };
        here.iter().enumerate().any(is_rare_from)
            || (m > 2 && !larger_sets(here, m, &mut |set| self.larger.get(&set).is_none_or(|&count| count >= k)))
    }

    /// The sets that occur, but fewer than k times.
    fn rare(&self, k: u32) -> Vec<u64> {
        let is_rare = |&count: &u32| 0 < count && count < k;
        let singles = (0..).zip(&self.singles).filter(|(_, count)| is_rare(count)).map(|(i, _)| packed(&[i]));
        let n = self.n;
        let pairs = self.pairs.iter().enumerate().filter(|(_, count)| is_rare(count));
        let pairs = pairs.map(|(i, _)| packed(&[(i / n) as u16, (i % n) as u16]));
        let larger = self.larger.iter().filter(|(_, count)| is_rare(count)).map(|(&set, _)| set);
        singles.chain(pairs).chain(larger).collect()
    }
}

/// Calls `each` with every set of 3 to m of the places, packed, while it answers true; returns whether it always did.
fn larger_sets(here: &[u16], m: u32, each: &mut dyn FnMut(u64) -> bool) -> bool {
    fn extend(set: u64, size: u32, rest: &[u16], m: u32, each: &mut dyn FnMut(u64) -> bool) -> bool {
        rest.iter().enumerate().all(|(i, &place)| {
            let set = with(set, place);
            (size < 2 || each(set)) && (size + 1 == m || extend(set, size + 1, &rest[i + 1..], m, each))
        })
    }
    extend(0, 0, here, m, each)
}

fn packed(places: &[u16]) -> u64 {
    places.iter().fold(0, |set, &place| with(set, place))
}

/// A set with one more place; 0 stands for none, so places are counted from 1.
fn with(set: u64, place: u16) -> u64 {
    set << 10 | u64::from(place + 1)
}

fn places(set: u64) -> impl Iterator<Item = usize> {
    (0..MOST_TERMS).map(move |i| (set >> (10 * i) & 0x3ff) as usize).filter(|&place| place > 0).map(|place| place - 1)
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::super::tests::{names, records as parse};
    use super::*;
    use crate::data::Dataset;
    use crate::observer::Unobserved;

    /// Records of frequent terms f0, f1, ..., and rare ones.
    fn random(rng: &mut ChaCha8Rng) -> Dataset {
        let n = rng.random_range(10..100);
        let (n_frequent, n_rare) = (rng.random_range(3..9), rng.random_range(1..4));
        let share = rng.random_range(0.3..0.9);
        let record = |_| {
            let mut record: Vec<String> =
                (0..n_frequent).filter(|_| rng.random_bool(share)).map(|t| format!("f{t}")).collect();
            if record.is_empty() || rng.random_bool(0.6) {
                record.push(format!("r{}", rng.random_range(0..n_rare)));
            }
            record
        };
        Dataset::from_texts((0..n).map(record).collect::<Vec<_>>())
    }

    /// The least number of some records that hold a set of at most m of the terms that one of them holds.
    fn least_support(data: &Dataset, ids: &[RecordId], common: &[TermId], m: usize) -> usize {
        let rows: Vec<Vec<TermId>> = ids
            .iter()
            .map(|&r| data.records.record(r).iter().copied().filter(|t| common.contains(t)).collect())
            .collect();
        let mut least = usize::MAX;
        for row in &rows {
            for bits in 1_u32..1 << row.len() {
                let set: Vec<TermId> = (0..row.len()).filter(|i| bits >> i & 1 == 1).map(|i| row[i]).collect();
                if set.len() <= m {
                    least = least.min(rows.iter().filter(|row| set.iter().all(|t| row.contains(t))).count());
                }
            }
        }
        least
    }

    #[test]
    fn layers_are_what_they_promise_on_random_data() {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let (mut found, mut with_everyday, mut with_local, mut with_sets) = (0, 0, 0, 0);
        for _ in 0..6_000 {
            let data = random(&mut rng);
            let (k, m) = (rng.random_range(2..5), rng.random_range(1..5));
            let mut preference = Preference { weights: vec![1.0; data.n_terms()], sets: Vec::new() };
            if rng.random_bool(0.5) {
                let mut some = || (0..data.n_terms() as TermId).filter(|_| rng.random_bool(0.2)).collect();
                preference.sets = vec![some(), some()];
            }
            let Some(layers) = layers(&data.records, k, m, &preference, &Unobserved) else { continue };
            let Layers { common, everyday, mixed, local } = &layers;
            for set in &preference.sets {
                let n_common = set.iter().filter(|t| common.contains(t)).count();
                assert!(n_common == 0 || n_common == set.len(), "part of a utility set is common");
                with_sets += usize::from(n_common > 1);
            }
            let mut all = [&everyday[..], mixed, local].concat();
            all.sort_unstable();
            assert!(all.iter().copied().eq(0..data.records.len() as RecordId), "not a partition");
            let n_common = |r: &RecordId| data.records.record(*r).iter().filter(|t| common.contains(t)).count();
            let is_all_common = |r: &RecordId| n_common(r) == data.records.record(*r).len();
            assert!(everyday.iter().chain(local).all(is_all_common) && !mixed.iter().any(is_all_common));
            for layer in [everyday, mixed] {
                assert!(least_support(&data, layer, common, m as usize) >= k as usize, "k = {k}, m = {m}");
            }
            for layer in [everyday, mixed, local] {
                assert!(layer.is_empty() || layer.len() >= k as usize);
            }
            found += 1;
            with_everyday += usize::from(!everyday.is_empty());
            with_local += usize::from(!local.is_empty());
        }
        assert!(found > 200 && with_everyday > 150 && with_local > 50, "{found} {with_everyday} {with_local}");
        assert!(with_sets > 20, "{with_sets}");
    }

    #[test]
    fn a_term_without_weight_is_never_common() {
        let data = parse(&["a, b, x"; 10]);
        let of = |weights: [f64; 3]| names(&data.dictionary, &candidates(&[10; 3], 10, 2, 2, &weights));
        assert_eq!(of([1.0; 3]), "a, b, x");
        assert_eq!(of([0.0, 1.0, 2.0]), "x, b");
    }

    #[test]
    fn common_terms_that_cut_most_pairs_apart_are_not_worth_it() {
        // {a, b} is one pair; a and b are with each of the others.
        let rows: Vec<String> = (0..60).map(|i| format!("a, b, r{}", i % 6)).collect();
        let data = parse(&rows.iter().map(String::as_str).collect::<Vec<_>>());
        let common: Vec<TermId> = ["a", "b"].iter().filter_map(|t| data.dictionary.get(t)).collect();
        let supports = supports(&data.records, data.n_terms());
        assert!(!is_worth_it(&data.records, &supports, &common, &Unobserved));
        let data = parse(&["a, b", "a, b", "c"]);
        assert!(is_worth_it(&data.records, &[2, 2, 1], &[0, 1], &Unobserved));
    }

    #[test]
    fn dense_records_are_not_counted_for_ever() {
        let wide: Vec<String> = (0..200).map(|t| format!("t{t}")).collect();
        let data = Dataset::from_texts(vec![wide; 300]);
        let mut terms: Vec<TermId> = (0..200).collect();
        let n_sets = |terms: &[TermId]| Projected::new(&data.records, terms, 200).n_sets(4);
        // 4 + 6 + 4 + 1 sets of four terms, in 300 records.
        assert_eq!(n_sets(&terms[..4]), 4_500.0);
        Projected::within_reason(&data.records, &mut terms, 200, 4, &Unobserved);
        assert_eq!(terms.len(), 25);
        assert!(n_sets(&terms) <= most_sets(300));
        assert!(
            layers(&data.records, 5, 4, &Preference { weights: vec![1.0; 200], sets: Vec::new() }, &Unobserved)
                .is_none()
        );
    }

    #[test]
    fn sets_are_packed_and_unpacked() {
        let set = packed(&[0, 7, 499]);
        assert_eq!(places(set).collect::<Vec<_>>(), [499, 7, 0]);
        let mut sets = Vec::new();
        larger_sets(&[1, 2, 3, 4], 4, &mut |set| {
            sets.push(places(set).count());
            true
        });
        sets.sort_unstable();
        assert_eq!(sets, [3, 3, 3, 3, 4]);
    }
}
