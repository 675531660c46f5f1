//! How many people have all of these terms, by recoded transactions? Bounds, and the mean if each term of a group is as likely.
//!
//! Paper:      terrovitis2012, section 7.1: the support of a generalised item is spread evenly over its terms
//! Promises:   the original's support is within the bounds, whatever the original was
//! Assumes:    for the expectation, that a record which shows a group of n terms has each of them with probability 1/n,
//!             independently: s(g(a), g(b)) / (|g(a)| |g(b)|), also where both are in one group (spec A.10)
//! Departs:    the deviation is ours: that of independent draws. Terms that were suppressed have an expectation of 0, and may
//!             be in any record
//! Cost:       the records of the rarest group, in each block
//! Checked by: `tests/it/recoded.rs`, against the original and against counting by definition

use super::Estimate;
use crate::data::TermId;
use crate::release::recoded::{Block, Recoded, Suppression};

/// A release laid out to be asked.
#[derive(Debug, Clone)]
pub struct Spread<'a> {
    pub(super) blocks: Vec<Postings<'a>>,
    suppression: Suppression,
    records: u64,
}

#[derive(Debug, Clone)]
pub(super) struct Postings<'a> {
    pub(super) block: &'a Block,
    pub(super) group_of: Vec<Option<u32>>,
    /// By group the different records that show it.
    holders: Vec<Vec<u32>>,
}

impl<'a> Spread<'a> {
    /// Lays a release out. Terms are those of its dictionary.
    pub fn new(release: &'a Recoded, suppression: Suppression) -> Self {
        let postings = |block: &'a Block| {
            let mut holders = vec![Vec::new(); block.groups.len()];
            for ((items, _), record) in block.bag.iter().zip(0..) {
                items.iter().for_each(|&item| holders[item as usize].push(record));
            }
            Postings { block, group_of: block.group_of_terms(release.dictionary.len()), holders }
        };
        Spread { blocks: release.blocks.iter().map(postings).collect(), suppression, records: release.n_records() }
    }

    /// Estimates the number of records that contain all of `itemset`, whose terms are ascending and of the release's
    /// dictionary. The empty itemset is in every record.
    pub fn estimate(&self, itemset: &[TermId]) -> Estimate {
        let (mut lower, mut upper, mut expected, mut variance) = (0, 0, 0.0, 0.0);
        for postings in &self.blocks {
            let Some(groups) = postings.groups(itemset) else {
                // Nobody of this block shows them: that says nothing if they were taken out.
                continue;
            };
            let shown = postings.support(&groups);
            // |g| once for each term of g.
            let sizes = itemset.iter().filter_map(|&term| postings.size(term));
            let likely = sizes.fold(1.0, |likely, size| likely / size as f64);
            upper += shown;
            lower += if likely == 1.0 { shown } else { 0 };
            expected += shown as f64 * likely;
            variance += shown as f64 * likely * (1.0 - likely);
        }
        let may_lack = match self.suppression {
            Suppression::None => false,
            Suppression::Terms => !itemset.iter().all(|&term| self.blocks.iter().any(|b| b.size(term).is_some())),
            Suppression::Occurrences => !itemset.is_empty(),
        };
        Estimate { lower, upper: if may_lack { self.records } else { upper }, expected, deviation: f64::sqrt(variance) }
    }

    /// What is said of an itemset with a term that the release does not have.
    pub fn unknown(&self) -> Estimate {
        let upper = if self.suppression == Suppression::None { 0 } else { self.records };
        Estimate { lower: 0, upper, expected: 0.0, deviation: 0.0 }
    }
}

impl Postings<'_> {
    /// The groups of terms, each once; none if one has none.
    fn groups(&self, itemset: &[TermId]) -> Option<Vec<u32>> {
        let groups: Option<Vec<u32>> = itemset.iter().map(|&term| self.group_of[term as usize]).collect();
        let mut groups = groups?;
        groups.sort_unstable();
        groups.dedup();
        Some(groups)
    }

    fn size(&self, term: TermId) -> Option<usize> {
        self.group_of[term as usize].map(|group| self.block.groups[group as usize].len())
    }

    fn support(&self, groups: &[u32]) -> u64 {
        let bag = &self.block.bag;
        let Some(rarest) = groups.iter().map(|&group| &self.holders[group as usize]).min_by_key(|list| list.len())
        else {
            return bag.n_records();
        };
        let has = |&&record: &&u32| {
            let items = bag.items(record as usize);
            groups.iter().all(|group| items.binary_search(group).is_ok())
        };
        rarest.iter().filter(has).map(|&record| u64::from(bag.count(record as usize))).sum()
    }
}
