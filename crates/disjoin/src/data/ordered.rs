//! Hierarchies over an order of the terms: neighbours stand below one node.
//!
//! Promises:   one root, every term a leaf, at most `fanout` children a node and at least two
//! Cost:       a sort of the terms, then linear
//! Checked by: tests of `hierarchy.rs`

use super::hierarchy::NONE;
use super::{Dictionary, Hierarchy, NodeId, TermId, Transactions, supports};
use crate::error::{Error, Result};

impl Hierarchy {
    /// A balanced tree over the terms in the order of their texts, or of their values if all are integers, with at most
    /// `fanout` children a node. Inner nodes are named by their first and last term: `10..19`.
    pub fn uniform(dictionary: &Dictionary, fanout: usize) -> Result<Self> {
        // Sizes differ by at most one.
        Self::over_order(dictionary, sorted(dictionary), fanout, |n_nodes, groups, group| {
            group * n_nodes / groups..(group + 1) * n_nodes / groups
        })
    }

    /// As [`Hierarchy::uniform`], but every node has exactly `fanout` children, except for the last of each level: the
    /// tree of other programs.
    pub fn consecutive(dictionary: &Dictionary, fanout: usize) -> Result<Self> {
        Self::over_order(dictionary, sorted(dictionary), fanout, |n_nodes, _, group| {
            group * fanout..n_nodes.min((group + 1) * fanout)
        })
    }

    /// As [`Hierarchy::uniform`], but over the terms by their supports: rare terms, which must be generalised first, have
    /// rare neighbours. Such a tree tells about the records.
    pub fn by_support(dictionary: &Dictionary, records: &Transactions, fanout: usize) -> Result<Self> {
        let supports = supports(records, dictionary.len());
        let mut order = sorted(dictionary);
        order.sort_by_key(|&term| supports[term as usize]);
        Self::over_order(dictionary, order, fanout, |n_nodes, groups, group| {
            group * n_nodes / groups..(group + 1) * n_nodes / groups
        })
    }

    /// Groups neighbours until one node is left; `range` says which, of so many nodes in so many groups.
    fn over_order(
        dictionary: &Dictionary,
        order: Vec<TermId>,
        fanout: usize,
        range: impl Fn(usize, usize, usize) -> std::ops::Range<usize>,
    ) -> Result<Self> {
        if fanout < 2 {
            return Err(Error::recipe("--fanout", "must be at least 2", "for example 5"));
        }
        let mut parents = vec![NONE; order.len()];
        let mut labels = Vec::new();
        // A node of the current level with its first and last term.
        let mut level: Vec<(NodeId, TermId, TermId)> = order.iter().map(|&term| (term, term, term)).collect();
        while level.len() > 1 {
            let groups = level.len().div_ceil(fanout);
            level = (0..groups)
                // A group of one is the node itself, a level higher.
                .map(|group| match &level[range(level.len(), groups, group)] {
                    [only] => *only,
                    nodes => {
                        let node = parents.len() as NodeId;
                        nodes.iter().for_each(|&(child, _, _)| parents[child as usize] = node);
                        parents.push(NONE);
                        let (first, last) = (nodes[0].1, nodes[nodes.len() - 1].2);
                        labels.push(format!("{}..{}", dictionary.text(first), dictionary.text(last)));
                        (node, first, last)
                    }
                })
                .collect();
        }
        Ok(Self::number(dictionary.len(), parents, labels))
    }
}

/// The terms in the order of their texts, or of their values if all are integers.
fn sorted(dictionary: &Dictionary) -> Vec<TermId> {
    let mut order: Vec<TermId> = (0..dictionary.len() as TermId).collect();
    let values: Option<Vec<i128>> = dictionary.iter().map(|text| text.parse().ok()).collect();
    order.sort_by_key(|&term| (values.as_ref().map(|values| values[term as usize]), dictionary.text(term)));
    order
}
