//! How many records have the same few terms, in a file of sets that somebody else made? k^m-anonymity for m from 1 on.
//!
//! Paper:      terrovitis2008, definition of k^m-anonymity
//! Promises:   `fewest` is the greatest k for which the file is k^m-anonymous. Where there are too many sets to be counted, it is an upper
//!             bound, and said so
//! Assumes:    an adversary knows terms that a person has, and none that the person lacks
//! Departs:    with a hierarchy a record with a label may be that of a person with any term below it: such records count for all items
//!             below the label that the file has. A label all terms of which have closer items in the file is counted by these. Items
//!             that the hierarchy lacks stand for themselves
//! Cost:       a step for each set of at most m items of each record (`verify/recoded/rare.rs`)
//! Checked by: `tests/it/audit.rs`, against all subsets and all choices of terms

use serde::Serialize;

use crate::data::{Dataset, Dictionary, Hierarchy, NodeId, TermId, Transactions};
use crate::error::{Error, Result};
use crate::inspect::risk;
use crate::observer::Observer;
use crate::release::recoded::{Bag, Draft, Promised, Recoded, RecodedClaim, Suppression};
use crate::verify::count_sets;

/// What was found in sets.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SetsAudit {
    /// Records.
    pub records: u64,
    /// Different items.
    pub items: u64,
    /// Items that stand for several terms, by the hierarchy.
    pub generalised: u64,
    /// Items that the hierarchy does not have; all of them if there is none.
    pub not_in_hierarchy: u64,
    /// Whether an item stands above another: then records match by what items may stand for.
    pub overlapping: bool,
    /// Itemsets in fewer records are counted.
    pub k: u32,
    /// For each m from 1 on.
    pub sizes: Vec<OfSize>,
}

/// What an adversary with up to m terms of background knowledge finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct OfSize {
    /// How many terms are known.
    pub m: u32,
    /// Different itemsets of exactly m items that records have.
    pub itemsets: u64,
    /// Those in fewer than k records.
    pub below_k: u64,
    /// The fewest records that have an itemset of at most m items: k of k^m-anonymity.
    pub fewest: u64,
    /// Records with an itemset of at most m items that fewer than k records have.
    pub records_at_risk: u64,
    /// Whether all itemsets were counted.
    pub exact: bool,
}

/// Audits sets; with a hierarchy and its terms, items may be labels.
pub fn audit_sets(
    data: &Dataset,
    hierarchy: Option<(&Hierarchy, &Dictionary)>,
    k: u32,
    m: u32,
    observer: &dyn Observer,
) -> SetsAudit {
    let places = Places::new(data, hierarchy);
    let extended = places.extended(data, hierarchy.map(|(hierarchy, _)| hierarchy));
    let seen = extended.as_ref().unwrap_or(data);
    let (counted, is_cut_short) = count_sets(&bag_of(&seen.records), seen.n_terms(), k.into(), m as usize, observer);
    let mut fewest = u64::MAX;
    let of_size = |(of, m): (&crate::verify::OfSize, u32)| {
        if of.sets > 0 {
            fewest = fewest.min(of.fewest);
        }
        let at_risk = risk(seen, k, m, observer).at_risk;
        let least = if fewest == u64::MAX { 0 } else { fewest };
        OfSize {
            m,
            itemsets: of.sets,
            below_k: of.below,
            fewest: least,
            records_at_risk: at_risk,
            exact: !is_cut_short,
        }
    };
    SetsAudit {
        records: data.records.len() as u64,
        items: data.n_terms() as u64,
        generalised: places.labels(hierarchy.map(|(hierarchy, _)| hierarchy)),
        not_in_hierarchy: places.nodes.iter().filter(|node| node.is_none()).count() as u64,
        overlapping: extended.is_some(),
        k,
        sizes: counted.iter().zip(1..).map(of_size).collect(),
    }
}

/// Different records with their counts.
fn bag_of(records: &Transactions) -> Bag {
    let mut order: Vec<&[TermId]> = records.iter().collect();
    order.sort_unstable();
    let mut bag = Bag::default();
    for same in order.chunk_by(|a, b| a == b) {
        bag.push(same[0], same.len() as u32);
    }
    bag
}

/// Where items stand in a hierarchy.
struct Places {
    nodes: Vec<Option<NodeId>>,
}

impl Places {
    fn new(data: &Dataset, hierarchy: Option<(&Hierarchy, &Dictionary)>) -> Self {
        let Some((hierarchy, terms)) = hierarchy else { return Places { nodes: vec![None; data.n_terms()] } };
        let inner = || hierarchy.n_terms() as NodeId..hierarchy.n_nodes() as NodeId;
        // A text that is a term and a label stands for the label: that is more.
        let labels: std::collections::HashMap<&str, NodeId> =
            inner().map(|node| (hierarchy.text(node, terms), node)).collect();
        let node = |text: &str| labels.get(text).copied().or_else(|| terms.get(text));
        Places { nodes: data.dictionary.iter().map(node).collect() }
    }

    fn labels(&self, hierarchy: Option<&Hierarchy>) -> u64 {
        let is_label = |node: &&NodeId| hierarchy.is_some_and(|hierarchy| **node as usize >= hierarchy.n_terms());
        self.nodes.iter().flatten().filter(is_label).count() as u64
    }

    /// Records with all items that theirs may stand for; none if no item stands above another.
    fn extended(&self, data: &Dataset, hierarchy: Option<&Hierarchy>) -> Option<Dataset> {
        let hierarchy = hierarchy?;
        let placed: Vec<(TermId, NodeId)> =
            (0..).zip(&self.nodes).filter_map(|(item, node)| Some((item, (*node)?))).collect();
        let below = |node: Option<NodeId>| -> Vec<TermId> {
            let Some(node) = node.filter(|&node| node as usize >= hierarchy.n_terms()) else { return Vec::new() };
            placed.iter().filter(|(_, other)| hierarchy.is_ancestor(node, *other)).map(|(item, _)| *item).collect()
        };
        let below: Vec<Vec<TermId>> = self.nodes.iter().map(|&node| below(node)).collect();
        if below.iter().all(Vec::is_empty) {
            return None;
        }
        let is_known = self.known(hierarchy);
        let mut records = Transactions::default();
        let mut items = Vec::new();
        for record in data.records.iter() {
            items.clear();
            items.extend_from_slice(record);
            items.extend(record.iter().flat_map(|&item| &below[item as usize]));
            items.retain(|&item| is_known[item as usize]);
            records.push(&mut items);
        }
        Some(Dataset { dictionary: data.dictionary.clone(), records })
    }
}

impl Places {
    /// Whether a person may have a term of which this item is the closest in the file. Who has a label of which that is not so
    /// has an item below it, and is counted there.
    fn known(&self, hierarchy: &Hierarchy) -> Vec<bool> {
        let mut is_known: Vec<bool> = self.nodes.iter().map(Option::is_none).collect();
        let items: std::collections::HashMap<NodeId, usize> =
            self.nodes.iter().enumerate().filter_map(|(item, node)| Some(((*node)?, item))).collect();
        for term in 0..hierarchy.n_terms() as NodeId {
            let mut above = std::iter::once(term).chain(hierarchy.ancestors(term));
            if let Some(item) = above.find_map(|node| items.get(&node)) {
                is_known[*item] = true;
            }
        }
        is_known
    }
}

/// The sets as a release that `verify` and `attack` read, with the claim of what was found for the greatest m for which that is something.
pub fn release_of(
    data: &Dataset,
    hierarchy: Option<(&Hierarchy, &Dictionary)>,
    audit: &SetsAudit,
) -> Result<(Recoded, RecodedClaim)> {
    let refuse = |problem: &str, hint: &str| Err(Error::recipe("claim", problem, hint));
    if audit.overlapping {
        return refuse(
            "an item stands above another, and no claim can say that",
            "generalise all records in the same way",
        );
    }
    let Some(best) = audit.sizes.iter().rev().find(|of| of.fewest >= 2 && of.exact) else {
        return refuse(
            "there is nothing to promise: a single item is enough to single somebody out",
            "protect the data",
        );
    };
    let mut dictionary = Dictionary::default();
    let places = Places::new(data, hierarchy);
    let (mut groups, mut labels) = (Vec::new(), Vec::new());
    for (text, node) in data.dictionary.iter().zip(&places.nodes) {
        let label = hierarchy.zip(*node).filter(|((hierarchy, _), node)| *node as usize >= hierarchy.n_terms());
        let terms: Vec<TermId> = match label {
            Some(((hierarchy, terms), node)) => {
                let below = (0..hierarchy.n_terms() as NodeId).filter(|&term| hierarchy.is_ancestor(node, term));
                below.map(|term| dictionary.intern(terms.text(term))).collect()
            }
            None => vec![dictionary.intern(text)],
        };
        labels.push(label.map(|_| text.to_owned()));
        groups.push(terms);
    }
    let mut draft = Draft::new(groups, labels);
    for (record, id) in data.records.iter().zip(0..) {
        draft.push(id, &mut record.to_vec());
    }
    let (release, _) = Recoded::of_drafts(&dictionary, vec![draft])?;
    let k = u32::try_from(best.fewest).unwrap_or(u32::MAX);
    // What the maker suppressed is not known: anything may be missing.
    let claim =
        RecodedClaim::new(&release, super::METHOD, k, Promised::Km { m: best.m }, Suppression::Occurrences, None);
    Ok((release, claim))
}
