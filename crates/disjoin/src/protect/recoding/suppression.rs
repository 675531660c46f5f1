//! k^m-anonymity by deletion alone: the term in most violated itemsets for its support goes, until none is violated.
//!
//! An itemset is violated if some record has it, but fewer than k. Level by level, for itemsets of 1, 2, up to m terms,
//! the violated ones are listed and terms are deleted until each has lost one: from all records ([`suppress`]), or only
//! from those that have a violated itemset ([`suppress_partially`]).
//!
//! Paper:      burghardt2011 (k^delta-anonymity), which could not be read: the greedy rule is that of spec C.3
//! Promises:   every set of at most m terms that a record of the result has is in at least k of them
//! Assumes:    the adversary knows at most m terms of a person, and only terms that the person has
//! Departs:    partial deletion lists the violated itemsets anew after a level that had some, not after each term
//! Cost:       for each pass as many steps as records have itemsets of the level's size, on all cores; memory for the
//!             violated itemsets of one level. Partial deletion makes passes until one finds nothing
//! Checked by: tests/it/suppression.rs: all itemsets counted on random data; greedy order by hand in this file

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::data::{RecordId, TermId, Transactions, supports};
use crate::error::{Error, Result};
use rayon::prelude::*;

use crate::data::Recoding;
use crate::observer::Observer;

/// Which terms are left of all records.
#[derive(Debug, Clone, PartialEq)]
pub struct Suppressed {
    /// Every term is itself or suppressed.
    pub recoding: Recoding,
    /// How much is gone.
    pub stats: Deleted,
}

/// What is left of each record.
#[derive(Debug, Clone, PartialEq)]
pub struct PartlySuppressed {
    /// The records without those of which nothing is left.
    pub records: Transactions,
    /// For each of them which record it was.
    pub ids: Vec<RecordId>,
    /// How much is gone.
    pub stats: Deleted,
}

/// How much is gone.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct Deleted {
    /// Terms that no record has any more.
    pub terms_gone: u64,
    /// Their share of the terms that any record had.
    pub term_share: f64,
    /// Occurrences that were deleted.
    pub occurrences_gone: u64,
    /// Their share of all occurrences.
    pub occurrence_share: f64,
    /// Records of which nothing is left.
    pub records_gone: u64,
    /// How often the itemsets of a level were listed.
    pub passes: u64,
}

/// Deletes terms from all records until the rest is k^m-anonymous.
pub fn suppress(records: &Transactions, n_terms: usize, k: u32, m: u32, observer: &dyn Observer) -> Result<Suppressed> {
    check(records, n_terms, k, m)?;
    let mut left = records.clone();
    let mut is_gone = vec![false; n_terms];
    let mut passes = 0;
    for level in 1..=longest(records).min(m as usize) {
        let violated = Violated::list(&left, n_terms, level, k, false, observer);
        passes += 1;
        if violated.is_empty() {
            continue;
        }
        // Deleting a term everywhere changes the support of no itemset without it: lower levels stay as they are.
        violated.hit(&supports(&left, n_terms), observer, |term, _| is_gone[term as usize] = true);
        left = keep(&left, |_, term| !is_gone[term as usize]).0;
    }
    let stats = Deleted::of(records, &left, n_terms, passes);
    let groups = (0..n_terms as TermId).filter(|&term| !is_gone[term as usize]).map(|term| vec![term]);
    let recoding = Recoding::from_groups(n_terms, groups).ok_or(Error::Internal("a term is in two groups"))?;
    Ok(Suppressed { recoding, stats })
}

/// Deletes terms from single records until the rest is k^m-anonymous.
pub fn suppress_partially(
    records: &Transactions,
    n_terms: usize,
    k: u32,
    m: u32,
    observer: &dyn Observer,
) -> Result<PartlySuppressed> {
    check(records, n_terms, k, m)?;
    let mut left = records.clone();
    let mut ids: Vec<RecordId> = (0..records.len() as RecordId).collect();
    let mut passes = 0;
    let mut level = 1;
    // Every pass that finds something deletes something, so the loop ends.
    while level <= longest(&left).min(m as usize) {
        let violated = Violated::list(&left, n_terms, level, k, true, observer);
        passes += 1;
        if violated.is_empty() {
            level += 1;
            continue;
        }
        let mut deleted: Vec<(RecordId, TermId)> = Vec::new();
        violated.hit(&supports(&left, n_terms), observer, |term, sets| {
            deleted.extend(sets.iter().flat_map(|&set| violated.holders_of(set)).map(|&record| (record, term)));
        });
        deleted.sort_unstable();
        let mut next = deleted.iter().peekable();
        let kept = keep(&left, |record, term| {
            let mut is_deleted = false;
            // A record that has two violated itemsets of a term is listed twice.
            while next.next_if(|&&deletion| deletion == (record, term)).is_some() {
                is_deleted = true;
            }
            !is_deleted
        });
        left = kept.0;
        ids = kept.1.into_iter().map(|record| ids[record as usize]).collect();
        // Fewer records have the deleted terms, also together with others: smaller itemsets may be violated now.
        level = 1;
    }
    let stats = Deleted::of(records, &left, n_terms, passes);
    Ok(PartlySuppressed { records: left, ids, stats })
}

fn check(records: &Transactions, n_terms: usize, k: u32, m: u32) -> Result<()> {
    if k < 2 {
        let problem = "must be at least 2: one record alone can always be told apart";
        return Err(Error::recipe("protect.k", problem, "usual values are 3 to 20"));
    }
    if m < 1 {
        return Err(Error::recipe("protect.m", "must be at least 1", "usual values are 2 or 3"));
    }
    if records.all_terms().iter().any(|&term| term as usize >= n_terms) {
        return Err(Error::Internal("records have terms beyond the dictionary"));
    }
    Ok(())
}

fn longest(records: &Transactions) -> usize {
    records.iter().map(<[TermId]>::len).max().unwrap_or(0)
}

/// The records with the terms that stay, asked for in order, and which they were. Records of which nothing is left are left out.
fn keep(records: &Transactions, mut stays: impl FnMut(RecordId, TermId) -> bool) -> (Transactions, Vec<RecordId>) {
    let (mut left, mut ids) = (Transactions::default(), Vec::new());
    let mut rest = Vec::new();
    for (record, id) in records.iter().zip(0..) {
        rest.clear();
        rest.extend(record.iter().copied().filter(|&term| stays(id, term)));
        if !rest.is_empty() {
            left.push(&mut rest);
            ids.push(id);
        }
    }
    (left, ids)
}

impl Deleted {
    fn of(before: &Transactions, after: &Transactions, n_terms: usize, passes: u64) -> Self {
        let (had, have) = (supports(before, n_terms), supports(after, n_terms));
        let terms = had.iter().filter(|&&support| support > 0).count();
        let terms_gone = had.iter().zip(&have).filter(|&(&had, &has)| had > 0 && has == 0).count();
        let occurrences_gone = before.n_incidences() - after.n_incidences();
        let share = |part: usize, of: usize| part as f64 / of.max(1) as f64;
        Deleted {
            terms_gone: terms_gone as u64,
            term_share: share(terms_gone, terms),
            occurrences_gone: occurrences_gone as u64,
            occurrence_share: share(occurrences_gone, before.n_incidences()),
            records_gone: (before.len() - after.len()) as u64,
            passes,
        }
    }
}

/// The violated itemsets of one size.
#[derive(Debug, Default)]
struct Violated {
    size: usize,
    /// One itemset after the other, each ascending.
    terms: Vec<TermId>,
    /// One itemset's records after the other's, if they were asked for.
    holders: Vec<RecordId>,
    /// Where the records of each itemset end.
    ends: Vec<usize>,
}

/// What is left of a record behind a term: its id and where in it that is.
type Tail = (RecordId, u32);

/// What one thread needs to list itemsets.
struct Listing<'a> {
    records: &'a Transactions,
    k: u32,
    with_holders: bool,
    observer: &'a dyn Observer,
    /// By term, all 0 between uses.
    counts: Vec<u32>,
    found: Violated,
}

impl Violated {
    /// All itemsets of so many terms that some record has, but fewer than k.
    fn list(
        records: &Transactions,
        n_terms: usize,
        size: usize,
        k: u32,
        with_holders: bool,
        observer: &dyn Observer,
    ) -> Violated {
        observer.check();
        let whole: Vec<Tail> = (0..records.len() as RecordId).map(|record| (record, 0)).collect();
        let new = || Listing {
            records,
            k,
            with_holders,
            observer,
            counts: vec![0; n_terms],
            found: Violated { size, ..Violated::default() },
        };
        if size == 1 {
            let mut listing = new();
            listing.last(&whole, &[]);
            return listing.found;
        }
        // A task for each first term; joined in order, so that the result does not depend on the threads.
        let by_term = behind_each(records, &whole, &mut vec![0; n_terms]);
        let parts: Vec<Violated> = by_term
            .par_iter()
            .map_init(new, |listing, (term, tails)| {
                listing.extend(tails, &mut vec![*term], size - 1);
                std::mem::replace(&mut listing.found, Violated { size, ..Violated::default() })
            })
            .collect();
        let mut all = Violated { size, ..Violated::default() };
        for part in parts {
            let offset = all.holders.len();
            all.terms.extend(part.terms);
            all.holders.extend(part.holders);
            all.ends.extend(part.ends.iter().map(|end| end + offset));
        }
        all
    }

    fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    fn set(&self, set: u32) -> &[TermId] {
        &self.terms[set as usize * self.size..][..self.size]
    }

    /// The records of an itemset.
    fn holders_of(&self, set: u32) -> &[RecordId] {
        let start = if set == 0 { 0 } else { self.ends[set as usize - 1] };
        &self.holders[start..self.ends[set as usize]]
    }

    /// Names terms until every itemset has one of them, each with the itemsets that it is the first to be named of.
    fn hit(&self, supports: &[u32], observer: &dyn Observer, mut name: impl FnMut(TermId, &[u32])) {
        let n_sets = self.terms.len() / self.size;
        let mut of_term: Vec<Vec<u32>> = vec![Vec::new(); supports.len()];
        for (terms, set) in self.terms.chunks_exact(self.size).zip(0..) {
            terms.iter().for_each(|&term| of_term[term as usize].push(set));
        }
        let mut counts: Vec<u32> = of_term.iter().map(|sets| sets.len() as u32).collect();
        let rank = |term: TermId, violated: u32| Rank { term, violated, support: supports[term as usize] };
        let mut queue: BinaryHeap<Rank> =
            counts.iter().zip(0..).filter(|(count, _)| **count > 0).map(|(&count, term)| rank(term, count)).collect();
        let mut is_hit = vec![false; n_sets];
        while let Some(first) = queue.pop() {
            observer.check();
            let count = counts[first.term as usize];
            // Counts only fall, so an entry that is still right is ahead of all others.
            if count < first.violated {
                if count > 0 {
                    queue.push(rank(first.term, count));
                }
                continue;
            }
            let mut sets = std::mem::take(&mut of_term[first.term as usize]);
            sets.retain(|&set| !std::mem::replace(&mut is_hit[set as usize], true));
            sets.iter().flat_map(|&set| self.set(set)).for_each(|&term| counts[term as usize] -= 1);
            name(first.term, &sets);
        }
    }
}

/// How much a term's deletion is worth: the itemsets it is in, for the records that lose it.
#[derive(PartialEq, Eq)]
struct Rank {
    term: TermId,
    violated: u32,
    support: u32,
}

impl Ord for Rank {
    /// By violated / support without rounding, then the smaller id first.
    fn cmp(&self, other: &Rank) -> Ordering {
        let product = |one: u32, other: u32| u64::from(one) * u64::from(other);
        product(self.violated, other.support)
            .cmp(&product(other.violated, self.support))
            .then(other.term.cmp(&self.term))
    }
}

impl PartialOrd for Rank {
    fn partial_cmp(&self, other: &Rank) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Listing<'_> {
    /// Extends itemsets that begin with `prefix` by so many terms of these tails.
    fn extend(&mut self, tails: &[Tail], prefix: &mut Vec<TermId>, by: usize) {
        self.observer.check();
        if by == 1 {
            return self.last(tails, prefix);
        }
        for (term, tails) in behind_each(self.records, tails, &mut self.counts) {
            prefix.push(term);
            self.extend(&tails, prefix, by - 1);
            prefix.pop();
        }
    }

    /// Counts each term of these tails, and keeps `prefix` with those that are too rare.
    fn last(&mut self, tails: &[Tail], prefix: &[TermId]) {
        let records = self.records;
        let rests = || tails.iter().map(|&(record, from)| (record, &records.record(record)[from as usize..]));
        let mut terms = Vec::new();
        for &term in rests().flat_map(|(_, rest)| rest) {
            let count = &mut self.counts[term as usize];
            if *count == 0 {
                terms.push(term);
            }
            *count += 1;
        }
        terms.sort_unstable();
        let mut first_end = None;
        for &term in &terms {
            let count = self.counts[term as usize];
            if count < self.k {
                self.found.terms.extend_from_slice(prefix);
                self.found.terms.push(term);
                if self.with_holders {
                    let start = self.found.holders.len();
                    first_end.get_or_insert(start);
                    self.found.holders.resize(start + count as usize, 0);
                    self.found.ends.push(self.found.holders.len());
                }
            }
        }
        if let Some(start) = first_end {
            // A second look, to say which records they are. The place of the next one replaces the count, plus one.
            let mut at = start;
            for &term in &terms {
                let count = std::mem::take(&mut self.counts[term as usize]);
                if count < self.k {
                    self.counts[term as usize] = (at - start) as u32 + 1;
                    at += count as usize;
                }
            }
            for (record, rest) in rests() {
                for &term in rest {
                    let place = &mut self.counts[term as usize];
                    if *place > 0 {
                        self.found.holders[start + *place as usize - 1] = record;
                        *place += 1;
                    }
                }
            }
        }
        terms.iter().for_each(|&term| self.counts[term as usize] = 0);
    }
}

/// For each term of these tails, ascending, what is left behind it. `counts` is all 0 before and after.
fn behind_each(records: &Transactions, tails: &[Tail], counts: &mut [u32]) -> Vec<(TermId, Vec<Tail>)> {
    let rest = |&(record, from): &Tail| &records.record(record)[from as usize..];
    let mut terms: Vec<(TermId, Vec<Tail>)> = Vec::new();
    // A place in `terms`, plus one.
    for &term in tails.iter().flat_map(rest) {
        if counts[term as usize] == 0 {
            terms.push((term, Vec::new()));
            counts[term as usize] = 1;
        }
    }
    terms.sort_unstable_by_key(|(term, _)| *term);
    terms.iter().zip(1..).for_each(|((term, _), place)| counts[*term as usize] = place);
    for tail in tails {
        for (&term, at) in rest(tail).iter().zip(tail.1 + 1..) {
            terms[counts[term as usize] as usize - 1].1.push((tail.0, at));
        }
    }
    terms.iter().for_each(|(term, _)| counts[*term as usize] = 0);
    terms
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transactions(records: &[&[TermId]]) -> Transactions {
        let mut all = Transactions::default();
        for record in records {
            all.push(&mut record.to_vec());
        }
        all
    }

    #[test]
    fn violated_itemsets_are_listed_with_their_records() {
        let records = transactions(&[&[0, 1, 2], &[0, 1, 2], &[0, 2, 3], &[1, 3]]);
        let list = |size, k| {
            let violated = Violated::list(&records, 4, size, k, true, &crate::observer::Unobserved);
            (0..violated.ends.len() as u32)
                .map(|set| (violated.set(set).to_vec(), violated.holders_of(set).to_vec()))
                .collect::<Vec<_>>()
        };
        assert_eq!(list(1, 3), [(vec![3], vec![2, 3])]);
        assert_eq!(list(2, 2), [(vec![0, 3], vec![2]), (vec![1, 3], vec![3]), (vec![2, 3], vec![2])]);
        assert_eq!(list(3, 3), [(vec![0, 1, 2], vec![0, 1]), (vec![0, 2, 3], vec![2])]);
        assert!(list(4, 3).is_empty());
    }

    #[test]
    fn the_term_in_most_violated_itemsets_goes_first() {
        // Pairs with 0 are violated three times; deleting 0 repairs all of them.
        let records = transactions(&[&[0, 1], &[0, 2], &[0, 3], &[1, 2, 3], &[1, 2, 3]]);
        let all = suppress(&records, 5, 2, 2, &crate::observer::Unobserved).unwrap();
        assert_eq!(all.recoding.suppressed().collect::<Vec<_>>(), [0]);
        assert_eq!((all.stats.terms_gone, all.stats.occurrences_gone, all.stats.records_gone), (1, 3, 0));
        assert_eq!((all.stats.term_share, all.stats.occurrence_share), (0.25, 0.25));
        // Only the record with {0, 3} loses a term; then 3 alone is fine, and 0 is still in two records.
        let records = transactions(&[&[0, 1], &[0, 1], &[0, 3], &[3, 4], &[3, 4]]);
        let part = suppress_partially(&records, 5, 2, 2, &crate::observer::Unobserved).unwrap();
        assert_eq!(part.records, transactions(&[&[0, 1], &[0, 1], &[3], &[3, 4], &[3, 4]]));
        assert_eq!((part.stats.terms_gone, part.stats.occurrences_gone), (0, 1));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let records = transactions(&[&[0, 1]]);
        for (k, m) in [(1, 2), (2, 0)] {
            assert!(matches!(suppress(&records, 2, k, m, &crate::observer::Unobserved), Err(Error::Recipe { .. })));
            assert!(matches!(
                suppress_partially(&records, 2, k, m, &crate::observer::Unobserved),
                Err(Error::Recipe { .. })
            ));
        }
        assert!(matches!(suppress(&records, 1, 2, 2, &crate::observer::Unobserved), Err(Error::Internal(_))));
        let none = suppress(&Transactions::default(), 0, 2, 2, &crate::observer::Unobserved).unwrap();
        assert_eq!((none.recoding.n_terms(), none.stats), (0, Deleted::default()));
        assert_eq!(suppress_partially(&records, 2, 2, 2, &crate::observer::Unobserved).unwrap().stats.records_gone, 1);
    }
}
