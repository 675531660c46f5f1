//! Privacy constraints and utility sets of recoded transactions, counted anew.

use std::collections::{BTreeSet, HashMap};

use super::{RecodedRule, Tally};
use crate::data::TermId;
use crate::observer::Observer;
use crate::release::recoded::{Block, Recoded};

/// More parts of constraints than this cannot be checked, and then they are not proved.
const MAX_PARTS: u64 = 1 << 22;

/// Every constraint, or every part of one, is in no record or in at least k.
pub(super) fn check_privacy(
    release: &Recoded,
    privacy: &[Vec<String>],
    subsets: bool,
    k: u32,
    tally: &mut Tally,
    observer: &dyn Observer,
) {
    let mut sets: BTreeSet<(Vec<TermId>, usize)> = BTreeSet::new();
    let mut n_parts = 0_u64;
    for (constraint, number) in privacy.iter().zip(1..) {
        tally.check(RecodedRule::Promise, !constraint.is_empty(), || format!("constraint {number} is empty"));
        // A term that is not published is in no record, and so is every set with it.
        let mut terms: Vec<TermId> = constraint.iter().filter_map(|text| release.dictionary.get(text)).collect();
        terms.sort_unstable();
        terms.dedup();
        let is_whole = terms.len() == constraint.iter().collect::<BTreeSet<_>>().len();
        if !subsets {
            if is_whole {
                sets.insert((terms, number));
            }
            continue;
        }
        n_parts = n_parts.saturating_add(1_u64.checked_shl(terms.len() as u32).unwrap_or(u64::MAX));
        if n_parts > MAX_PARTS {
            let problem = || format!("constraint {number} has too many parts to be checked");
            return tally.check(RecodedRule::Constraints, false, problem);
        }
        for mask in 1_u64..1 << terms.len() {
            let part = terms.iter().enumerate().filter(|(at, _)| mask >> at & 1 == 1).map(|(_, &term)| term);
            sets.insert((part.collect(), number));
        }
    }
    // Parts that several constraints share are counted once, for the first of them.
    let mut unique: Vec<(Vec<TermId>, usize)> = Vec::new();
    for (set, number) in sets {
        if unique.last().is_none_or(|(last, _)| *last != set) {
            unique.push((set, number));
        }
    }
    let mut supports = vec![0_u64; unique.len()];
    for block in &release.blocks {
        let holders = Holders::new(block, release.dictionary.len(), &unique);
        for ((set, _), support) in unique.iter().zip(&mut supports) {
            observer.check();
            if *support < u64::from(k) {
                *support += holders.support(set, u64::from(k));
            }
        }
    }
    for ((set, number), support) in unique.iter().zip(supports) {
        tally.check(RecodedRule::Constraints, support == 0 || support >= u64::from(k), || {
            let what = if set.len() == 1 { "a term" } else { "a part, or all," };
            let records = if support == 1 { "1 record".to_owned() } else { format!("{support} records") };
            format!("{what} of constraint {number} is in {records}")
        });
    }
}

/// The records of the groups that constraints are about.
struct Holders<'a> {
    block: &'a Block,
    group_of: Vec<Option<u32>>,
    records: HashMap<u32, Vec<u32>>,
}

impl<'a> Holders<'a> {
    fn new(block: &'a Block, n_terms: usize, sets: &[(Vec<TermId>, usize)]) -> Self {
        let group_of = block.group_of_terms(n_terms);
        let asked = sets.iter().flat_map(|(set, _)| set).filter_map(|&term| group_of[term as usize]);
        let mut records: HashMap<u32, Vec<u32>> = asked.map(|group| (group, Vec::new())).collect();
        for ((items, _), record) in block.bag.iter().zip(0..) {
            for item in items {
                if let Some(holders) = records.get_mut(item) {
                    holders.push(record);
                }
            }
        }
        Holders { block, group_of, records }
    }

    /// How many records have all of these terms, or what they became; counted until it is enough.
    fn support(&self, set: &[TermId], enough: u64) -> u64 {
        let groups: Option<BTreeSet<u32>> = set.iter().map(|&term| self.group_of[term as usize]).collect();
        let Some(groups) = groups else { return 0 };
        let Some(rarest) = groups.iter().filter_map(|group| self.records.get(group)).min_by_key(|list| list.len())
        else {
            return 0;
        };
        let mut support = 0;
        for &record in rarest {
            let items = self.block.bag.items(record as usize);
            if groups.iter().all(|group| items.binary_search(group).is_ok()) {
                support += u64::from(self.block.bag.count(record as usize));
                if support >= enough {
                    break;
                }
            }
        }
        support
    }
}

/// Groups are within utility sets, which are disjoint.
pub(super) fn check_utility(release: &Recoded, utility: &[Vec<String>], tally: &mut Tally) {
    let mut set_of: Vec<Option<usize>> = vec![None; release.dictionary.len()];
    for (set, number) in utility.iter().zip(1..) {
        for text in set {
            let Some(term) = release.dictionary.get(text) else { continue };
            let before = set_of[term as usize].replace(number);
            tally.check(RecodedRule::Utility, before.is_none_or(|before| before == number), || {
                format!("a term is in two utility sets, {} and {number}", before.unwrap_or_default())
            });
        }
    }
    for (block, number) in release.blocks.iter().zip(1..) {
        for (group, at) in block.groups.iter().zip(1..).filter(|(group, _)| group.len() > 1) {
            let first = group.first().and_then(|&term| set_of[term as usize]);
            let is_within = first.is_some() && group.iter().all(|&term| set_of[term as usize] == first);
            tally.check(RecodedRule::Utility, is_within, || {
                format!("group {at} of block {number} is not within a utility set")
            });
        }
    }
}
