//! Who could be singled out in the raw data: records that hold a small set of terms which few records hold.
//!
//! Promises:   exact for every k and m: a record is at risk if it holds at most m terms that fewer than k records hold
//! Assumes:    records sorted and without duplicates ([`Transactions`] guarantees it)
//! Cost:       for each size s up to m at most the sum of (length choose s) over the records, shared among all cores;
//!             branches are cut where no record remains whose fate is open
//! Checked by: tests in this file, against the definition by brute force
//!
//! Sizes are done one after the other, so that each record gets the size of its smallest such set, and a record that
//! is at risk by s terms needs no look at s + 1. A set is built from its rarest term on: the records that hold it are
//! at hand as a list, and one pass over them counts all extensions at once. Lists hold every record, since every
//! record counts; branches follow only the open ones.

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;
use serde::Serialize;

use crate::data::table::Column;
use crate::data::{Dataset, RecordId, Table, Transactions, supports};
use crate::observer::Observer;

/// What an adversary who knows up to m terms of a person could do with the raw data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Risk {
    /// How many records should share every set of up to m terms.
    pub k: u32,
    /// How many terms of a person the adversary may know.
    pub m: u32,
    /// All records.
    pub records: u64,
    /// Records that hold a set of at most m terms which fewer than k records hold.
    pub at_risk: u64,
    /// Entry i: records whose smallest such set has i + 1 terms. As long as m, or as the longest record.
    pub by_size: Vec<u64>,
    /// Terms that fewer than k records hold.
    pub rare_terms: u64,
}

impl Risk {
    /// The share of records at risk, 0 to 1.
    pub fn share(&self) -> f64 {
        if self.records == 0 { 0.0 } else { self.at_risk as f64 / self.records as f64 }
    }
}

/// Measures the risk of publishing `data` as it is.
pub fn risk(data: &Dataset, k: u32, m: u32, observer: &dyn Observer) -> Risk {
    observer.check();
    let supports = supports(&data.records, data.n_terms());
    let longest = data.records.iter().map(<[_]>::len).max().unwrap_or(0);
    let sizes = longest.min(m as usize);
    let mut search = Search::new(&data.records, &supports, k, observer);
    let mut by_size = Vec::with_capacity(sizes);
    for size in 1..=sizes {
        by_size.push(search.flag(size));
    }
    Risk {
        k,
        m,
        records: data.records.len() as u64,
        at_risk: by_size.iter().sum(),
        by_size,
        rare_terms: supports.iter().filter(|&&support| support > 0 && support < k).count() as u64,
    }
}

/// How large a dataset is, and how terms and records are spread.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Profile {
    /// Records.
    pub records: u64,
    /// Distinct terms.
    pub terms: u64,
    /// (record, term) pairs.
    pub incidences: u64,
    /// Terms in the longest record.
    pub longest_record: u64,
    /// Mean number of terms of a record.
    pub mean_length: f64,
    /// How many terms occur how often.
    pub supports: Vec<Bin>,
    /// How many records have how many terms.
    pub lengths: Vec<Bin>,
}

/// One bar of a histogram: `count` values lie between `from` and `to`, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Bin {
    /// The least value.
    pub from: u64,
    /// The greatest value.
    pub to: u64,
    /// How many.
    pub count: u64,
}

/// Describes a dataset; bins are 1, 2 to 3, 4 to 7, and so on.
pub fn profile(data: &Dataset) -> Profile {
    let records = data.records.len() as u64;
    let incidences = data.records.n_incidences() as u64;
    let lengths = || data.records.iter().map(|record| record.len() as u64);
    Profile {
        records,
        terms: data.n_terms() as u64,
        incidences,
        longest_record: lengths().max().unwrap_or(0),
        mean_length: if records == 0 { 0.0 } else { incidences as f64 / records as f64 },
        supports: histogram(supports(&data.records, data.n_terms()).into_iter().map(u64::from)),
        lengths: histogram(lengths()),
    }
}

/// Counts positive values by powers of two, up to the last bin that is not empty.
fn histogram(values: impl Iterator<Item = u64>) -> Vec<Bin> {
    let mut bins: Vec<Bin> = Vec::new();
    for exponent in values.filter_map(u64::checked_ilog2) {
        while bins.len() <= exponent as usize {
            let from = 1 << bins.len();
            bins.push(Bin { from, to: from + (from - 1), count: 0 });
        }
        bins[exponent as usize].count += 1;
    }
    bins
}

/// The records with terms renamed to their rank by support, rarest first, and who is at risk so far.
struct Search<'a> {
    k: u32,
    /// Terms of all records, ascending by rank in each.
    terms: Vec<u32>,
    ends: Vec<usize>,
    /// Where each term occurs, first term first.
    occurrences: Lists,
    /// Whether the record is at risk by a set of the sizes done so far.
    at_risk: Vec<AtomicBool>,
    /// Whether so many records equal this one that it never can be.
    is_safe: Vec<bool>,
    observer: &'a dyn Observer,
}

/// A record that holds a set, and where its terms after the last one of the set begin.
#[derive(Debug, Clone, Copy)]
struct Occurrence {
    record: RecordId,
    rest: usize,
}

/// Several lists of occurrences in one array, with the term each one belongs to.
#[derive(Debug, Default)]
struct Lists {
    terms: Vec<u32>,
    ends: Vec<usize>,
    all: Vec<Occurrence>,
}

impl Lists {
    fn len(&self) -> usize {
        self.terms.len()
    }

    fn list(&self, i: usize) -> &[Occurrence] {
        &self.all[if i == 0 { 0 } else { self.ends[i - 1] }..self.ends[i]]
    }
}

/// What a thread keeps between lists: an array over all terms, always zero between uses.
struct Scratch {
    counts: Vec<u32>,
    /// The terms whose count is not zero.
    touched: Vec<u32>,
    /// Whether an open record holds the term; likewise false between uses.
    is_open: Vec<bool>,
}

impl Scratch {
    fn new(n_terms: usize) -> Self {
        Scratch { counts: vec![0; n_terms], touched: Vec::new(), is_open: vec![false; n_terms] }
    }

    fn clear(&mut self) {
        for &term in &self.touched {
            self.counts[term as usize] = 0;
            self.is_open[term as usize] = false;
        }
        self.touched.clear();
    }
}

impl<'a> Search<'a> {
    fn new(records: &Transactions, supports: &[u32], k: u32, observer: &'a dyn Observer) -> Self {
        let mut by_support: Vec<u32> = (0..supports.len() as u32).collect();
        by_support.sort_unstable_by_key(|&term| (supports[term as usize], term));
        let mut rank = vec![0; supports.len()];
        by_support.iter().zip(0..).for_each(|(&term, place)| rank[term as usize] = place);

        let mut terms: Vec<u32> = records.all_terms().iter().map(|&term| rank[term as usize]).collect();
        let mut ends = Vec::with_capacity(records.len());
        let mut end = 0;
        for record in records.iter() {
            let start = end;
            end += record.len();
            terms[start..end].sort_unstable();
            ends.push(end);
        }
        let mut search = Search {
            k,
            terms,
            ends,
            occurrences: Lists::default(),
            at_risk: (0..records.len()).map(|_| AtomicBool::new(false)).collect(),
            is_safe: Vec::new(),
            observer,
        };
        observer.check();
        search.is_safe = search.find_safe();
        observer.check();
        let everywhere: Vec<Occurrence> =
            (0..records.len() as RecordId).map(|record| Occurrence { record, rest: search.start(record) }).collect();
        search.occurrences = search.extend(&everywhere, &mut Scratch::new(supports.len()), false);
        search
    }

    /// Flags the records that are at risk by a set of `size` terms and not by less; returns how many.
    fn flag(&mut self, size: usize) -> u64 {
        let before = self.n_at_risk();
        if size == 1 {
            let lists = (0..self.occurrences.len()).map(|i| self.occurrences.list(i));
            lists.filter(|list| list.len() < self.k as usize).flatten().for_each(|o| self.set_at_risk(o.record));
        } else {
            let n_terms = self.occurrences.terms.last().map_or(0, |&last| last as usize + 1);
            let new_scratch = || (0..size).map(|_| Scratch::new(n_terms)).collect::<Vec<_>>();
            // The most frequent terms have the longest lists: they go first, so that no thread ends alone with one.
            (0..self.occurrences.len())
                .into_par_iter()
                .rev()
                .with_max_len(1)
                .for_each_init(new_scratch, |scratch, i| self.search(self.occurrences.list(i), size - 1, scratch));
        }
        self.n_at_risk() - before
    }

    /// Looks at all extensions of a set, held by the records in `list`, by `more` terms.
    fn search(&self, list: &[Occurrence], more: usize, scratch: &mut [Scratch]) {
        self.observer.check();
        let Some((own, deeper)) = scratch.split_first_mut() else { return };
        if !list.iter().any(|occurrence| self.is_open(occurrence, more)) {
            return;
        }
        if more > 1 {
            let lists = self.extend(list, own, true);
            for i in 0..lists.len() {
                self.search(lists.list(i), more - 1, deeper);
            }
            return;
        }
        for occurrence in list {
            for &term in self.rest(occurrence) {
                let count = &mut own.counts[term as usize];
                if *count == 0 {
                    own.touched.push(term);
                }
                *count += 1;
            }
        }
        for occurrence in list.iter().filter(|occurrence| self.is_open(occurrence, 1)) {
            if self.rest(occurrence).iter().any(|&term| own.counts[term as usize] < self.k) {
                self.set_at_risk(occurrence.record);
            }
        }
        own.clear();
    }

    /// The lists of a set extended by one term; if `open_only`, only for terms that an open record holds.
    fn extend(&self, list: &[Occurrence], scratch: &mut Scratch, open_only: bool) -> Lists {
        for occurrence in list {
            let is_open = !open_only || self.is_open(occurrence, 1);
            for &term in self.rest(occurrence) {
                if scratch.counts[term as usize] == 0 {
                    scratch.touched.push(term);
                }
                scratch.counts[term as usize] += 1;
                scratch.is_open[term as usize] |= is_open;
            }
        }
        let mut lists = Lists::default();
        let mut total = 0;
        scratch.touched.sort_unstable();
        for &term in &scratch.touched {
            if !scratch.is_open[term as usize] {
                continue;
            }
            // From here on the count is the place of the term's next occurrence.
            let count = std::mem::replace(&mut scratch.counts[term as usize], 0);
            lists.terms.push(term);
            lists.ends.push(total);
            total += count as usize;
        }
        for (i, &term) in lists.terms.iter().enumerate() {
            scratch.counts[term as usize] = i as u32;
        }
        lists.all = vec![Occurrence { record: 0, rest: 0 }; total];
        for occurrence in list {
            for (rest, &term) in (occurrence.rest + 1..).zip(self.rest(occurrence)) {
                if scratch.is_open[term as usize] {
                    let next = &mut lists.ends[scratch.counts[term as usize] as usize];
                    lists.all[*next] = Occurrence { record: occurrence.record, rest };
                    *next += 1;
                }
            }
        }
        scratch.clear();
        lists
    }

    /// Whether the record may still turn out to be at risk by `more` of its remaining terms.
    fn is_open(&self, occurrence: &Occurrence, more: usize) -> bool {
        let record = occurrence.record as usize;
        self.ends[record] - occurrence.rest >= more
            && !self.is_safe[record]
            && !self.at_risk[record].load(Ordering::Relaxed)
    }

    fn rest(&self, occurrence: &Occurrence) -> &[u32] {
        &self.terms[occurrence.rest..self.ends[occurrence.record as usize]]
    }

    fn start(&self, record: RecordId) -> usize {
        if record == 0 { 0 } else { self.ends[record as usize - 1] }
    }

    fn set_at_risk(&self, record: RecordId) {
        // Threads only ever set flags: the result does not depend on their order.
        self.at_risk[record as usize].store(true, Ordering::Relaxed);
    }

    fn n_at_risk(&self) -> u64 {
        self.at_risk.iter().filter(|flag| flag.load(Ordering::Relaxed)).count() as u64
    }

    /// Every set of a record that k records equal is held by all k.
    fn find_safe(&self) -> Vec<bool> {
        let text = |record: RecordId| &self.terms[self.start(record)..self.ends[record as usize]];
        let mut order: Vec<RecordId> = (0..self.ends.len() as RecordId).collect();
        order.par_sort_unstable_by_key(|&record| text(record));
        let mut is_safe = vec![false; order.len()];
        for equal in order.chunk_by(|&a, &b| text(a) == text(b)) {
            if equal.len() >= self.k as usize {
                equal.iter().for_each(|&record| is_safe[record as usize] = true);
            }
        }
        is_safe
    }
}

/// What an adversary who knows the quasi-identifiers of a person could do with a raw table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TableRisk {
    /// How many records cannot be told apart.
    pub k: u32,
    /// Rows.
    pub rows: u64,
    /// Rows that share their quasi-identifiers with fewer than k rows, themselves included.
    pub at_risk: u64,
    /// Rows whose quasi-identifiers nobody shares.
    pub unique: u64,
    /// The quasi-identifiers, in order.
    pub columns: Vec<ColumnRisk>,
}

/// What one quasi-identifier adds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ColumnRisk {
    /// Its name.
    pub name: String,
    /// Its number of different values.
    pub distinct: u64,
    /// Rows at risk for someone who knows this column only.
    pub alone: u64,
    /// Rows at risk for someone who knows all others.
    pub without: u64,
}

/// Counts the rows that quasi-identifiers single out: all together, each alone, and all but one.
pub fn table_risk(table: &Table, k: u32, observer: &dyn Observer) -> TableRisk {
    let quasi = table.quasi();
    let of_column = |(i, column): (usize, &&Column)| {
        observer.check();
        let others: Vec<&Column> =
            quasi.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, column)| *column).collect();
        ColumnRisk {
            name: column.name.clone(),
            distinct: column.domain.n_values() as u64,
            alone: sharing_with_fewer(table, &[column], k, observer),
            without: sharing_with_fewer(table, &others, k, observer),
        }
    };
    TableRisk {
        k,
        rows: table.n_rows() as u64,
        at_risk: sharing_with_fewer(table, &quasi, k, observer),
        unique: sharing_with_fewer(table, &quasi, 2, observer),
        columns: quasi.iter().enumerate().map(of_column).collect(),
    }
}

/// How many rows of a table share their quasi-identifiers with fewer than k rows, themselves included.
pub fn rows_at_risk(table: &Table, k: u32, observer: &dyn Observer) -> u64 {
    sharing_with_fewer(table, &table.quasi(), k, observer)
}

/// How many people of a table have a row whose quasi-identifiers fewer than k people share, themselves included.
pub fn people_at_risk(table: &Table, of_row: &[u32], k: u32, observer: &dyn Observer) -> u64 {
    observer.check();
    let columns = table.quasi();
    let key = |row: u32| columns.iter().map(move |column| column.codes[row as usize]);
    let mut rows: Vec<u32> = (0..table.n_rows() as u32).collect();
    rows.par_sort_unstable_by(|&a, &b| key(a).cmp(key(b)));
    let mut at_risk: Vec<u32> = Vec::new();
    for group in rows.chunk_by(|&a, &b| key(a).eq(key(b))) {
        let mut people: Vec<u32> = group.iter().map(|&row| of_row[row as usize]).collect();
        people.sort_unstable();
        people.dedup();
        if people.len() < k as usize {
            at_risk.extend(people);
        }
    }
    at_risk.sort_unstable();
    at_risk.dedup();
    at_risk.len() as u64
}

fn sharing_with_fewer(table: &Table, columns: &[&Column], k: u32, observer: &dyn Observer) -> u64 {
    observer.check();
    let mut rows: Vec<u32> = (0..table.n_rows() as u32).collect();
    let key = |row: u32| columns.iter().map(move |column| column.codes[row as usize]);
    rows.par_sort_unstable_by(|&a, &b| key(a).cmp(key(b)));
    let groups = rows.chunk_by(|&a, &b| key(a).eq(key(b)));
    groups.filter(|group| group.len() < k as usize).map(|group| group.len() as u64).sum()
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// The definition, by trying every subset of every record.
    fn by_definition(data: &Dataset, k: u32, m: u32) -> Vec<u64> {
        let records: Vec<u32> = data.records.iter().map(|r| r.iter().fold(0, |mask, t| mask | 1 << t)).collect();
        let longest = data.records.iter().map(<[_]>::len).max().unwrap_or(0);
        let mut by_size = vec![0; longest.min(m as usize)];
        for &record in &records {
            let mut smallest = u32::MAX;
            let mut subset = record;
            while subset > 0 {
                let support = records.iter().filter(|&&other| other & subset == subset).count() as u32;
                if support < k {
                    smallest = smallest.min(subset.count_ones());
                }
                subset = (subset - 1) & record;
            }
            if smallest <= m {
                by_size[smallest as usize - 1] += 1;
            }
        }
        by_size
    }

    #[test]
    fn the_search_agrees_with_the_definition() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for round in 0..400 {
            let n_terms: u32 = rng.random_range(1..11);
            let density = rng.random_range(0.1..0.9);
            let n_records = rng.random_range(1..60);
            let records: Vec<Vec<String>> = (0..n_records)
                .map(|_| (0..n_terms).filter(|_| rng.random_bool(density)).map(|t| t.to_string()).collect())
                .collect();
            let data = Dataset::from_texts(records);
            for k in [1, 2, 3, 5, 9] {
                for m in [1, 2, 3, 4, 12] {
                    let found = risk(&data, k, m, &crate::observer::Unobserved);
                    assert_eq!(found.by_size, by_definition(&data, k, m), "round {round}, k {k}, m {m}");
                    assert_eq!(found.at_risk, found.by_size.iter().sum::<u64>());
                }
            }
        }
    }

    #[test]
    fn a_worked_example() {
        // {a, b} is held once; c once; a and b three times each.
        let data = Dataset::from_texts([vec!["a", "b"], vec!["a"], vec!["a"], vec!["b"], vec!["b", "c"]]);
        let found = risk(&data, 2, 2, &crate::observer::Unobserved);
        assert_eq!((found.records, found.at_risk, found.rare_terms), (5, 2, 1));
        assert_eq!(found.by_size, [1, 1]);
        assert!((found.share() - 0.4).abs() < 1e-12);
    }

    #[test]
    fn extremes_end_quickly() {
        // A hundred equal records of a hundred terms: 2^100 subsets, none of them rare.
        let equal = Dataset::from_texts((0..100).map(|_| (0..100).map(|t| t.to_string())));
        assert_eq!(risk(&equal, 5, u32::MAX, &crate::observer::Unobserved).at_risk, 0);
        let empty = risk(&Dataset::default(), 5, 2, &crate::observer::Unobserved);
        assert_eq!((empty.at_risk, empty.by_size.len()), (0, 0));
        assert_eq!(empty.share(), 0.0);
    }

    #[test]
    fn histograms_count_by_powers_of_two() {
        let data = Dataset::from_texts([vec!["a", "b", "c", "d"], vec!["a"], vec!["a", "b"]]);
        let profile = profile(&data);
        let bin = |from, to, count| Bin { from, to, count };
        assert_eq!(profile.lengths, [bin(1, 1, 1), bin(2, 3, 1), bin(4, 7, 1)]);
        assert_eq!(profile.supports, [bin(1, 1, 2), bin(2, 3, 2)]);
        assert_eq!((profile.records, profile.terms, profile.incidences, profile.longest_record), (3, 4, 7, 4));
        assert_eq!(histogram([0, u64::MAX].into_iter()).last(), Some(&bin(1 << 63, u64::MAX, 1)));
    }

    #[test]
    fn rows_of_a_table_are_counted_by_definition() {
        use crate::data::table::Role;
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(5);
        for _ in 0..200 {
            let n = rng.random_range(1..30);
            let mut column = |name: &str, values: u32| {
                let cells: Vec<Option<f64>> =
                    (0..n).map(|_| rng.random_bool(0.9).then(|| f64::from(rng.random_range(0..values)))).collect();
                Column::numbers(name, Role::Quasi, cells)
            };
            let table = Table::new(n, vec![column("a", 4), column("b", 3), column("c", 2)], None);
            let k = 3;
            let by_definition = |columns: &[usize], k: usize| {
                let same = |a: usize, b: usize| {
                    columns.iter().all(|&c| table.columns[c].codes[a] == table.columns[c].codes[b])
                };
                (0..n).filter(|&a| (0..n).filter(|&b| same(a, b)).count() < k).count() as u64
            };
            let found = table_risk(&table, k, &crate::observer::Unobserved);
            assert_eq!(found.at_risk, by_definition(&[0, 1, 2], 3));
            assert_eq!(found.at_risk, rows_at_risk(&table, k, &crate::observer::Unobserved));
            assert_eq!(found.unique, by_definition(&[0, 1, 2], 2));
            let others = [[1, 2], [0, 2], [0, 1]];
            for (i, column) in found.columns.iter().enumerate() {
                assert_eq!((column.alone, column.without), (by_definition(&[i], 3), by_definition(&others[i], 3)));
            }
        }
    }
}
