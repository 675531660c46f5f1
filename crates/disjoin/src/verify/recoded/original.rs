//! Recoded transactions against their original: every record is recoded anew.

use std::collections::HashMap;

use super::{RecodedRule, RecodedTruth, Tally};
use crate::data::{Dataset, RecordId, TermId};
use crate::observer::Observer;
use crate::release::recoded::{Block, Recoded, RecodedClaim, Suppression};

/// Compares a release with its original; whether every record could be looked at.
pub(super) fn check_original(
    claim: &RecodedClaim,
    release: &Recoded,
    truth: RecodedTruth<'_>,
    tally: &mut Tally,
    observer: &dyn Observer,
) -> bool {
    let original = truth.original;
    let (records, published) = (original.records.len() as u64, release.n_records());
    tally.check(RecodedRule::OriginalRecords, records == published, || {
        format!("the original has {records} records, the release {published}")
    });
    let known: Vec<Option<TermId>> = release.dictionary.iter().map(|text| original.dictionary.get(text)).collect();
    let strange = known.iter().filter(|term| term.is_none()).count();
    tally.check(RecodedRule::OriginalTerms, strange == 0, || {
        format!("the original lacks terms that the release has: {strange}")
    });
    if claim.suppression != Suppression::Terms {
        let gone = original.n_terms() - known.iter().flatten().count();
        // Of terms that were taken out of single records some may be gone altogether.
        tally.check(RecodedRule::OriginalTerms, gone == 0 || claim.suppression == Suppression::Occurrences, || {
            format!("the release lacks terms of the original, and the claim does not declare it: {gone}")
        });
    }
    if records != published || strange > 0 {
        return false;
    }
    let translated = Translated { original, release, known: known.into_iter().flatten().collect(), observer };
    match (truth.line_of, &release.blocks[..]) {
        (Some(line_of), _) => translated.by_map(claim, line_of, tally),
        // Without a map only a recoding of all records leaves no choice.
        (None, [block]) if claim.suppression != Suppression::Occurrences => translated.by_content(claim, block, tally),
        (None, []) => true,
        (None, _) => false,
    }
}

struct Translated<'a> {
    original: &'a Dataset,
    release: &'a Recoded,
    /// For each term of the release that of the original.
    known: Vec<TermId>,
    observer: &'a dyn Observer,
}

impl Translated<'_> {
    /// For each term of the original its group in a block.
    fn group_of(&self, block: &Block) -> Vec<Option<u32>> {
        let mut group_of = vec![None; self.original.n_terms()];
        for (terms, group) in block.groups.iter().zip(0..) {
            terms.iter().for_each(|&term| group_of[self.known[term as usize] as usize] = Some(group));
        }
        group_of
    }

    /// What a record becomes, and whether a term of it becomes nothing.
    fn recode(&self, id: RecordId, group_of: &[Option<u32>], items: &mut Vec<u32>) -> bool {
        self.observer.check();
        items.clear();
        let record = self.original.records.record(id);
        items.extend(record.iter().filter_map(|&term| group_of[term as usize]));
        let is_whole = items.len() == record.len();
        items.sort_unstable();
        items.dedup();
        is_whole
    }

    fn by_content(&self, claim: &RecodedClaim, block: &Block, tally: &mut Tally) -> bool {
        let group_of = self.group_of(block);
        let mut left: HashMap<&[u32], u64> = HashMap::with_capacity(block.bag.len());
        block.bag.iter().for_each(|(items, count)| *left.entry(items).or_default() += u64::from(count));
        let mut items = Vec::new();
        for id in 0..self.original.records.len() as RecordId {
            let is_whole = self.recode(id, &group_of, &mut items);
            let is_there = left.get_mut(&items[..]).filter(|count| **count > 0).map(|count| *count -= 1).is_some();
            let may_lack = claim.suppression != Suppression::None;
            tally.check(RecodedRule::Conservation, is_there && (is_whole || may_lack), || {
                format!("what record {} became is not published", u64::from(id) + 1)
            });
        }
        true
    }

    fn by_map(&self, claim: &RecodedClaim, line_of: &[u32], tally: &mut Tally) -> bool {
        let n_lines = self.release.n_lines();
        let records = self.original.records.len();
        let is_map = line_of.len() == records && line_of.iter().all(|&line| (line as usize) < n_lines);
        tally.check(RecodedRule::CustodyMap, is_map, || {
            format!("the custody map has {} records, and names lines that are not published", line_of.len())
        });
        if !is_map {
            return false;
        }
        let mut by_line: Vec<RecordId> = (0..records as RecordId).collect();
        by_line.sort_unstable_by_key(|&id| (line_of[id as usize], id));
        let mut published = vec![false; self.original.n_terms()];
        self.known.iter().for_each(|&term| published[term as usize] = true);
        let (mut rest, mut line) = (&by_line[..], 0_u32);
        let mut items = Vec::new();
        for block in &self.release.blocks {
            let group_of = self.group_of(block);
            // Where terms are suppressed at all, a term that is shown elsewhere is not: it would be lost here.
            let is_lost = |id: RecordId| {
                let lost = |&term: &TermId| group_of[term as usize].is_none() && published[term as usize];
                self.original.records.record(id).iter().any(lost)
            };
            for (shown, count) in block.bag.iter() {
                let here = rest.partition_point(|&id| line_of[id as usize] <= line);
                let (own, after) = rest.split_at(here);
                tally.check(RecodedRule::CustodyMap, own.len() == count as usize, || {
                    format!("line {} counts {count} records, custody knows {}", u64::from(line) + 1, own.len())
                });
                for &id in own {
                    let is_whole = self.recode(id, &group_of, &mut items);
                    let is_so = match claim.suppression {
                        Suppression::None => is_whole && items == shown,
                        Suppression::Terms => items == shown && !is_lost(id),
                        Suppression::Occurrences => shown.iter().all(|item| items.binary_search(item).is_ok()),
                    };
                    tally.check(RecodedRule::Conservation, is_so, || {
                        format!("line {} is not what record {} became", u64::from(line) + 1, u64::from(id) + 1)
                    });
                }
                (rest, line) = (after, line + 1);
            }
        }
        true
    }
}
