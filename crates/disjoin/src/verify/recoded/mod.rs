//! Do recoded transactions keep their promise? Every set of items is counted anew from the release; with the original, every record
//! is recoded anew and compared.
//!
//! Paper:      terrovitis2008 (k^m-anonymity), loukides2011 (privacy and utility constraints); spec C.1 to C.3 and D.1
//! Promises:   if the verdict holds, groups of a block are disjoint, lines stand in the order of their content, and what the claim
//!             promises is so: every set of at most m items of a record is in k records of its block, or every privacy
//!             constraint (and every part of it, if that is claimed) is in no record or in k; groups are within utility
//!             sets. With the original also that each published record is that of a person, and the other way round
//! Assumes:    shares no code with `protect`
//! Departs:    a claim without a set of terms promises nothing, and does not hold. In blocks each block must keep the promise of
//!             k^m by itself, which is more than is needed
//! Cost:       see `rare.rs`; a constraint costs the records of its rarest group
//! Checked by: `tests/it/recoded.rs`: brute force agrees, and every rule is broken once on purpose

mod constraints;
mod original;
mod rare;

use std::path::Path;

use serde::Serialize;

use crate::data::Dataset;
use crate::error::{Error, Place, Result};
use crate::observer::Observer;
use crate::release::recoded::{Promised, Recoded, RecodedClaim, Suppression, TRANSACTIONS, read_recoded};

pub(crate) use rare::{OfSize, count_sets};

/// How many findings a verdict tells in full.
const N_FINDINGS: usize = 20;

/// What only the maker of a release has.
#[derive(Debug, Clone, Copy)]
pub struct RecodedTruth<'a> {
    /// The dataset that was protected.
    pub original: &'a Dataset,
    /// For each record the line that shows it, counted from 0 over all blocks.
    pub line_of: Option<&'a [u32]>,
}

/// Something that a release is checked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum RecodedRule {
    /// The claim promises something: k is at least 2, and m at least 1 or there are constraints.
    Promise,
    /// There are as many records and blocks as the claim declares.
    Records,
    /// The groups of a block are disjoint, and each is in some record.
    Groups,
    /// Groups, records and blocks are in the order of their content.
    Order,
    /// No record is empty where nothing was suppressed.
    Empty,
    /// Every set of at most m items is in no record of a block or in k.
    Anonymity,
    /// Every privacy constraint is in no record or in k.
    Constraints,
    /// Terms are generalised only within utility sets.
    Utility,
    /// The original has as many records as the release.
    OriginalRecords,
    /// The original has the terms of the release, and no others where nothing was suppressed.
    OriginalTerms,
    /// The custody map sends every record to a line, and to each as many as it counts.
    CustodyMap,
    /// Every record is published as what its terms became.
    Conservation,
}

impl RecodedRule {
    /// What the rule protects, in one plain sentence.
    pub fn meaning(self) -> &'static str {
        match self {
            RecodedRule::Promise => "The release promises something that can be checked.",
            RecodedRule::Records => "The data hold as many records and blocks as the claim declares.",
            RecodedRule::Groups => "No term of a block is in two groups, and every group is in some record.",
            RecodedRule::Order => "Lines stand in the order of their content: no other order can disclose who is who.",
            RecodedRule::Empty => "Where nothing was suppressed, no record is empty.",
            RecodedRule::Anonymity => "Whatever few items of a record are known, enough records show them.",
            RecodedRule::Constraints => {
                "Every set of terms that is to be protected is shown by no record or by enough."
            }
            RecodedRule::Utility => "Terms stand in one group only if a utility set allows it.",
            RecodedRule::OriginalRecords => "The original has as many records as the release.",
            RecodedRule::OriginalTerms => {
                "The release names terms of the original only, and suppresses none without declaring it."
            }
            RecodedRule::CustodyMap => "The custody map sends every record to a line of the release.",
            RecodedRule::Conservation => {
                "Every record is published as what its terms became: none invented, none lost."
            }
        }
    }
}

/// How often a rule was checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct RecodedCheck {
    /// The rule.
    pub rule: RecodedRule,
    /// How often it was checked.
    pub checked: u64,
    /// How often it was violated.
    pub violated: u64,
}

/// A check that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecodedFinding {
    /// The rule.
    pub rule: RecodedRule,
    /// What is wrong; groups, blocks and constraints by their numbers.
    pub detail: String,
}

/// Whether a release keeps its promise, and what was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecodedVerdict {
    /// No check failed.
    pub holds: bool,
    /// The method that the claim names.
    pub method: String,
    /// How many records cannot be told apart.
    pub k: u32,
    /// How many items the adversary may know; none if privacy constraints say which terms.
    pub m: Option<u32>,
    /// The number of records.
    pub records: u64,
    /// The number of different records.
    pub distinct_records: u64,
    /// Records of which nothing is left.
    pub empty_records: u64,
    /// The number of blocks.
    pub blocks: u64,
    /// The number of terms.
    pub terms: u64,
    /// Terms that are in a group with others, in some block.
    pub generalized_terms: u64,
    /// Whether the original was at hand.
    pub against_original: bool,
    /// Whether every record could be compared with the original.
    pub against_records: bool,
    /// The rules that were checked, with counts.
    pub checks: Vec<RecodedCheck>,
    /// How many checks failed.
    pub violations: u64,
    /// The first 20 of them.
    pub findings: Vec<RecodedFinding>,
}

/// Opens the folder of a release: its claim, and its records.
pub fn open_recoded(folder: &Path) -> Result<(RecodedClaim, Recoded)> {
    let claim = RecodedClaim::read(&folder.join("claim.json"))?;
    let path = folder.join(TRANSACTIONS);
    let release = read_recoded(&path)?;
    if release.n_records() > u64::from(u32::MAX) {
        return Err(Error::input(Place::file(path.display().to_string()), "more records than this program can count"));
    }
    Ok((claim, release))
}

/// Checks a release against its claim, and against the original if it is given.
///
/// A release that cannot be read is an error of [`open_recoded`]; one that breaks its promise is a verdict.
pub fn verify_recoded(
    claim: &RecodedClaim,
    release: &Recoded,
    truth: Option<RecodedTruth<'_>>,
    observer: &dyn Observer,
) -> RecodedVerdict {
    observer.check();
    let mut tally = Tally::default();
    check_claim(claim, release, &mut tally);
    check_shape(claim, release, &mut tally);
    observer.check();
    match &claim.promise {
        Promised::Km { m } => check_anonymity(release, claim.k, *m, &mut tally, observer),
        Promised::Constraints { privacy, subsets, .. } => {
            constraints::check_privacy(release, privacy, *subsets, claim.k, &mut tally, observer);
        }
    }
    if let Some(utility) = &claim.utility {
        constraints::check_utility(release, utility, &mut tally);
    }
    let against_records =
        truth.is_some_and(|truth| original::check_original(claim, release, truth, &mut tally, observer));
    let mut is_generalized = vec![false; release.dictionary.len()];
    let groups = release.blocks.iter().flat_map(|block| &block.groups).filter(|group| group.len() > 1);
    groups.flatten().for_each(|&term| is_generalized[term as usize] = true);
    let empty = |(items, count): (&[u32], u32)| if items.is_empty() { u64::from(count) } else { 0 };
    RecodedVerdict {
        holds: tally.violations == 0,
        method: claim.method.clone(),
        k: claim.k,
        m: claim.m(),
        records: release.n_records(),
        distinct_records: release.n_lines() as u64,
        empty_records: release.blocks.iter().flat_map(|block| block.bag.iter()).map(empty).sum(),
        blocks: release.blocks.len() as u64,
        terms: release.dictionary.len() as u64,
        generalized_terms: is_generalized.into_iter().filter(|is| *is).count() as u64,
        against_original: truth.is_some(),
        against_records,
        checks: tally.checks,
        violations: tally.violations,
        findings: tally.findings,
    }
}

fn check_claim(claim: &RecodedClaim, release: &Recoded, tally: &mut Tally) {
    tally.check(RecodedRule::Promise, claim.k >= 2, || {
        format!("k = {}: one record alone can always be told apart", claim.k)
    });
    let is_something = match &claim.promise {
        Promised::Km { m } => *m >= 1,
        Promised::Constraints { privacy, withheld, .. } => !privacy.is_empty() || *withheld > 0,
    };
    tally.check(RecodedRule::Promise, is_something, || String::from("the claim names nothing that is protected"));
    let (records, blocks) = (release.n_records(), release.blocks.len() as u64);
    tally.check(RecodedRule::Records, records == claim.records, || {
        format!("there are {records} records, the claim has {}", claim.records)
    });
    tally.check(RecodedRule::Records, blocks == claim.blocks, || {
        format!("there are {blocks} blocks, the claim has {}", claim.blocks)
    });
}

fn check_shape(claim: &RecodedClaim, release: &Recoded, tally: &mut Tally) {
    let texts = |terms: &[u32]| {
        let mut texts: Vec<&str> = terms.iter().map(|&term| release.dictionary.text(term)).collect();
        texts.sort_unstable();
        texts
    };
    let mut block_of = vec![usize::MAX; release.dictionary.len()];
    let mut before: Option<Vec<Vec<&str>>> = None;
    for (block, at) in release.blocks.iter().zip(0..) {
        let number = at + 1;
        let mut is_held = vec![false; block.groups.len()];
        block.bag.iter().flat_map(|(items, _)| items).for_each(|&group| is_held[group as usize] = true);
        for ((terms, is_held), group) in block.groups.iter().zip(is_held).zip(1..) {
            let is_new =
                terms.iter().filter(|&&term| std::mem::replace(&mut block_of[term as usize], at) != at).count();
            tally.check(RecodedRule::Groups, is_new == terms.len(), || {
                format!("group {group} of block {number} has a term of another group")
            });
            tally.check(RecodedRule::Groups, is_held, || format!("group {group} of block {number} is in no record"));
        }
        let groups: Vec<Vec<&str>> = block.groups.iter().map(|terms| texts(terms)).collect();
        tally
            .check(RecodedRule::Order, groups.is_sorted(), || format!("the groups of block {number} are not in order"));
        let follows = (1..block.bag.len()).all(|at| block.bag.items(at - 1) < block.bag.items(at));
        tally.check(RecodedRule::Order, follows, || {
            format!("the records of block {number} are not in order, or one stands twice")
        });
        tally.check(RecodedRule::Order, before.as_ref().is_none_or(|before| *before <= groups), || {
            format!("block {number} is not in order")
        });
        if claim.suppression == Suppression::None {
            let is_full = block.bag.iter().all(|(items, _)| !items.is_empty());
            tally.check(RecodedRule::Empty, is_full, || format!("block {number} has an empty record"));
        }
        before = Some(groups);
    }
}

fn check_anonymity(release: &Recoded, k: u32, m: u32, tally: &mut Tally, observer: &dyn Observer) {
    for (block, number) in release.blocks.iter().zip(1..) {
        let found = rare::rare_sets(&block.bag, block.groups.len(), u64::from(k), m as usize, N_FINDINGS, observer);
        tally.add(RecodedRule::Anonymity, found.counted, found.rare);
        if found.is_cut_short {
            tally.check(RecodedRule::Anonymity, false, || {
                format!("block {number}: not decided, for there are too many sets of m = {m} items to count")
            });
        }
        for (set, support) in found.first {
            let numbers: Vec<String> = set.iter().map(|group| (group + 1).to_string()).collect();
            let records = if support == 1 { "1 record has" } else { &format!("{support} records have") };
            tally.find(RecodedRule::Anonymity, || {
                format!("{records} the groups {} of block {number}", numbers.join(", "))
            });
        }
    }
}

/// The count of how a release fared.
#[derive(Debug, Default)]
struct Tally {
    checks: Vec<RecodedCheck>,
    violations: u64,
    findings: Vec<RecodedFinding>,
}

impl Tally {
    fn check(&mut self, rule: RecodedRule, holds: bool, detail: impl FnOnce() -> String) {
        self.add(rule, 1, u64::from(!holds));
        if !holds {
            self.find(rule, detail);
        }
    }

    fn add(&mut self, rule: RecodedRule, checked: u64, violated: u64) {
        self.violations += violated;
        match self.checks.iter_mut().find(|check| check.rule == rule) {
            Some(check) => (check.checked, check.violated) = (check.checked + checked, check.violated + violated),
            None => self.checks.push(RecodedCheck { rule, checked, violated }),
        }
    }

    fn find(&mut self, rule: RecodedRule, detail: impl FnOnce() -> String) {
        if self.findings.len() < N_FINDINGS {
            self.findings.push(RecodedFinding { rule, detail: detail() });
        }
    }
}

impl std::fmt::Display for RecodedRule {
    /// The name that stands in JSON.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.serialize(f)
    }
}
