//! Guarantee 1 itself: whatever up to m terms of a person an adversary knows, some world has k such people.

use std::collections::{BTreeMap, BTreeSet};

use disjoin::data::{Dataset, TermId};
use disjoin::release::Disassociated;

use super::flow::Oracle;

/// An itemset of the original for which no world has k records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Violation {
    /// The terms' texts.
    pub(crate) itemset: Vec<String>,
    /// The most records that contain the itemset in a world: of the whole release, or of `root`.
    pub(crate) candidates: u64,
    /// The root that holds the person's record, if roots were looked at one by one.
    pub(crate) root: Option<usize>,
}

/// Every set of up to m terms that occurs in a record of the original and that fewer than k records of any world of the
/// release contain. Roots are independent, so that the maximum over the release is the sum of the roots' maxima.
///
/// k and m are taken from the release's header: the claim that is checked is the one that is published.
pub(crate) fn guarantee_violations(original: &Dataset, release: &Disassociated) -> Vec<Violation> {
    let oracles: Vec<Oracle> = release.roots.iter().map(Oracle::new).collect();
    let k = u64::from(release.header.k);
    let known: BTreeSet<Vec<TermId>> =
        original.records.iter().flat_map(|record| subsets(record, release.header.m as usize)).collect();
    let mut violations = Vec::new();
    for itemset in &known {
        let mut candidates = 0;
        if let Some(terms) = rename(original, release, itemset) {
            for oracle in &oracles {
                candidates += oracle.max_support_up_to(&terms, k - candidates);
                if candidates == k {
                    break;
                }
            }
        }
        if candidates < k {
            violations.push(Violation { itemset: texts(original, itemset), candidates, root: None });
        }
    }
    violations
}

/// The stricter reading: the k candidates must be found in the root that holds the person's record.
///
/// This is what the paper's proofs are after, and it is what protects against an adversary who can tell the root, for
/// instance by a further term of the person that only one root has. `root_of_record[i]` belongs to record i.
pub(crate) fn guarantee_violations_by_root(
    original: &Dataset,
    release: &Disassociated,
    root_of_record: &[usize],
) -> Vec<Violation> {
    let oracles: Vec<Oracle> = release.roots.iter().map(Oracle::new).collect();
    let k = u64::from(release.header.k);
    let mut known: BTreeMap<usize, BTreeSet<Vec<TermId>>> = BTreeMap::new();
    for (record, &root) in original.records.iter().zip(root_of_record) {
        known.entry(root).or_default().extend(subsets(record, release.header.m as usize));
    }
    let mut violations = Vec::new();
    for (&root, itemsets) in &known {
        for itemset in itemsets {
            let terms = rename(original, release, itemset);
            let candidates = terms.map_or(0, |terms| oracles[root].max_support_up_to(&terms, k));
            if candidates < k {
                violations.push(Violation { itemset: texts(original, itemset), candidates, root: Some(root) });
            }
        }
    }
    violations
}

/// For each leaf of the release, counted through all roots in order, the root it is under.
pub(crate) fn roots_of_leaves(release: &Disassociated) -> Vec<usize> {
    let roots = release.roots.iter().enumerate();
    roots.flat_map(|(root, node)| vec![root; node.leaves().len()]).collect()
}

/// Whether the original is itself a world of the release, record i lying in leaf `leaf_of[i]` (leaves counted through
/// all roots in order). A release that fails this is not a disassociation of the original: it lies, or it lost
/// something.
pub(crate) fn is_truthful(original: &Dataset, release: &Disassociated, leaf_of: &[u32]) -> bool {
    let n_leaves = roots_of_leaves(release).len();
    let mut records_of: Vec<Vec<Vec<TermId>>> = vec![Vec::new(); n_leaves];
    for (record, &leaf) in original.records.iter().zip(leaf_of) {
        let (Some(terms), true) = (rename(original, release, record), (leaf as usize) < n_leaves) else { return false };
        records_of[leaf as usize].push(terms);
    }
    let mut rest = &records_of[..];
    let all_placed = original.records.len() == leaf_of.len() && release.header.records == leaf_of.len() as u64;
    all_placed
        && release.roots.iter().all(|root| {
            let (world, others) = rest.split_at(root.leaves().len());
            rest = others;
            super::Layout::new(root).is_world(world)
        })
}

/// All non-empty subsets of up to `m` terms, each ascending.
pub(crate) fn subsets(record: &[TermId], m: usize) -> Vec<Vec<TermId>> {
    let mut found: Vec<Vec<TermId>> = Vec::new();
    for &t in record {
        for i in 0..found.len() {
            if found[i].len() < m {
                let mut longer = found[i].clone();
                longer.push(t);
                found.push(longer);
            }
        }
        if m > 0 {
            found.push(vec![t]);
        }
    }
    found
}

/// The release numbers terms in its own way; texts are what the two have in common. None if a term is missing there.
fn rename(original: &Dataset, release: &Disassociated, itemset: &[TermId]) -> Option<Vec<TermId>> {
    itemset.iter().map(|&t| release.dictionary.get(original.dictionary.text(t))).collect()
}

fn texts(original: &Dataset, itemset: &[TermId]) -> Vec<String> {
    itemset.iter().map(|&t| original.dictionary.text(t).to_owned()).collect()
}
