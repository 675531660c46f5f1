//! What is left for an adversary who runs the program on possible originals: those from which it makes this very release (reading I2).
//!
//! A release of a handful of records is decided: every possible original is protected again with the parameters of the claim, and
//! those with the same bytes are left. A set of at most m terms of chunks that a record of one of them holds, but k records
//! of none, is a finding. The others have a *witness*.
//!
//! Of larger releases, who has the original can draw sets and make a witness for each: `witness.rs`.
//!
//! Paper:      ours; reading I2 of THREAT_MODEL.md
//! Promises:   no dataset from which the program makes this release has k records with the terms of a finding. A set that counts as
//!             one with a witness has a dataset in which k records hold it, and which gives the same bytes
//! Assumes:    the program and the parameters of the claim are those that made the release. Which grouping was used stands in no claim
//!             but that of `program-aware`; elsewhere a dataset is possible if it gives the release by any of them. Terms of term chunks
//!             are not looked at
//! Departs:    from `worlds`: the whole release counts, not one cluster
//! Cost:       the program once for every possible original, at most 20,000 of them
//! Checked by: tests/it/rerun.rs: all datasets of a space, the default and the paper's grouping, which give sets away

use std::collections::{BTreeMap, BTreeSet, HashSet};

use rayon::prelude::*;
use serde::Serialize;

use super::originals::{Bits, Originals};
use super::shared::subsets;
use super::{Coverage, Finding, Findings, Says, View};
use crate::data::{Dataset, Transactions};
use crate::release::Disassociated;

/// The program with the parameters of the claim: the simple cluster of each record, numbered as in the release, if it makes this very
/// release of a dataset.
pub type Program<'a> = dyn Fn(&Dataset) -> Option<Vec<u32>> + Sync + 'a;

/// More possible originals than this are not gone through, and not more steps to find them.
const MOST_ORIGINALS: usize = 20_000;
const STEPS: u64 = 20_000_000;

/// How the release was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Looked {
    /// All possible originals were protected again.
    Exactly,
    /// Sets were drawn.
    Sampled,
    /// There are too many possible originals to look at, and no original to draw sets from.
    TooLarge,
    /// From no dataset that was looked at the program makes this release: it was made with other parameters than the claim says.
    NotReproduced,
}

/// What running the program again showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Reran {
    /// How it was looked at.
    pub looked: Looked,
    /// Datasets from which the program made this very release.
    pub originals: u64,
    /// How often the program was run.
    pub runs: u64,
    /// Sets of at most m terms of chunks that were looked at; of those that were drawn, only such that fewer than k records hold.
    pub itemsets: u64,
    /// Of these, how many k records of some dataset with this release hold.
    pub with_witness: u64,
    /// Sets that were drawn besides, and that k records of the original hold: it is their witness.
    pub frequent: u64,
}

/// Runs the program again on all possible originals, if they are few.
pub fn rerun(view: &View<'_>, program: &Program<'_>) -> (Findings, Reran) {
    view.observer.stage("attacking: rerun");
    let clusters = view.release.roots.iter().map(|root| root.leaves().len() as u64).sum();
    let open = Coverage { clusters, proved: 0, open: clusters };
    let (found, reran, coverage) = match exactly(view, program) {
        Some((found, reran)) if reran.originals > 0 => (found, reran, Coverage { proved: clusters, open: 0, ..open }),
        Some((_, reran)) => (Vec::new(), reran, open),
        None => (Vec::new(), Reran::nothing(Looked::TooLarge, 0), open),
    };
    (Findings { attack: "rerun", says: Says::FewerThanK, found, coverage }, reran)
}

impl Reran {
    pub(super) fn nothing(looked: Looked, runs: u64) -> Self {
        Reran { looked, originals: 0, runs, itemsets: 0, with_witness: 0, frequent: 0 }
    }
}

/// All possible originals, if they are few.
fn exactly(view: &View<'_>, program: &Program<'_>) -> Option<(Vec<Finding>, Reran)> {
    let release = view.release;
    let all = Originals::new(release.roots.iter())?;
    let mut worlds: HashSet<Vec<Bits>> = HashSet::new();
    let is_whole = all.visit(STEPS, &mut |records| {
        // One more than is looked at: enough to know that they are too many.
        if worlds.len() <= MOST_ORIGINALS {
            let mut records = records.to_vec();
            records.sort_unstable();
            worlds.insert(records);
        }
    });
    if !is_whole || worlds.len() > MOST_ORIGINALS {
        return None;
    }
    let mut worlds: Vec<Vec<Bits>> = worlds.into_iter().collect();
    worlds.sort_unstable();
    let of_world = |records: &Vec<Bits>| {
        view.observer.check();
        program(&dataset(&all, records, release)).map(|leaf_of| held(&all, records, &leaf_of, release.header.m))
    };
    let held: Vec<Held> = worlds.par_iter().filter_map(of_world).collect();
    let mut most: Held = BTreeMap::new();
    for (set, (holders, leaves)) in held.iter().flatten() {
        let known = most.entry(*set).or_default();
        known.0 = known.0.max(*holders);
        known.1.extend(leaves);
    }
    let k = release.header.k;
    let (itemsets, without) = (most.len() as u64, most.values().filter(|(holders, _)| *holders < k).count() as u64);
    let looked = if held.is_empty() { Looked::NotReproduced } else { Looked::Exactly };
    let (originals, runs) = (held.len() as u64, worlds.len() as u64);
    let reran = Reran { looked, originals, runs, itemsets, with_witness: itemsets - without, frequent: 0 };
    Some((findings(&all, most, view), reran))
}

/// For each set the most records that hold it, and the leaves in which a record does.
type Held = BTreeMap<Bits, (u32, BTreeSet<u32>)>;

/// The sets of at most m terms of chunks that records hold.
fn held(all: &Originals, records: &[Bits], leaf_of: &[u32], m: u32) -> Held {
    let mut sets: Held = BTreeMap::new();
    for (record, &leaf) in records.iter().zip(leaf_of) {
        let Some(place) = all.leaves.get(leaf as usize) else { continue };
        subsets(record & place.covered(), m, &mut |set| {
            sets.entry(set).or_default().1.insert(leaf);
        });
    }
    for (set, (holders, _)) in &mut sets {
        *holders = records.iter().filter(|&record| record & set == *set).count() as u32;
    }
    sets
}

fn findings(all: &Originals, most: Held, view: &View<'_>) -> Vec<Finding> {
    let rare = most.into_iter().filter(|(_, (holders, _))| *holders < view.release.header.k);
    let finding = |(set, (_, leaves)): (Bits, (u32, BTreeSet<u32>))| {
        let terms = all.terms(set);
        let of_leaf = move |leaf| Finding { leaf, terms: terms.clone(), learned: Vec::new(), confidence: 1.0 };
        leaves.into_iter().map(of_leaf)
    };
    let mut found: Vec<Finding> = rare.flat_map(finding).filter(|found| view.knowledge.has(&found.terms)).collect();
    found.sort_by(|a, b| (a.leaf, &a.terms).cmp(&(b.leaf, &b.terms)));
    found
}

fn dataset(all: &Originals, world: &[Bits], release: &Disassociated) -> Dataset {
    let mut records = Transactions::default();
    world.iter().for_each(|&record| {
        records.push(&mut all.terms(record));
    });
    Dataset { dictionary: release.dictionary.clone(), records }
}
