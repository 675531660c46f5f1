//! Which nodes of a hierarchy stand for its terms: a global recoding by whole subtrees.
//!
//! Paper:      terrovitis2008, section 3
//! Promises:   where a term is generalised to a node, so is every term below that node
//! Cost:       linear in the terms
//! Checked by: tests in this file

use super::{Hierarchy, NodeId, Recoding, TermId, Transactions, supports};

/// A cut through a hierarchy: for each term the node that stands for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    nodes: Vec<NodeId>,
}

impl Cut {
    /// Every term stands for itself.
    pub fn identity(n_terms: usize) -> Self {
        Cut { nodes: (0..n_terms as NodeId).collect() }
    }

    /// From the node of each term. None if a node does not stand for all terms below it, or for others.
    pub fn from_nodes(nodes: Vec<NodeId>, hierarchy: &Hierarchy) -> Option<Self> {
        if nodes.len() != hierarchy.n_terms() {
            return None;
        }
        let mut terms_of = vec![0; hierarchy.n_nodes()];
        for (term, &node) in (0..).zip(&nodes) {
            if node != term && ((node as usize) >= hierarchy.n_nodes() || !hierarchy.is_ancestor(node, term)) {
                return None;
            }
            terms_of[node as usize] += 1;
        }
        let is_whole = |&node: &NodeId| terms_of[node as usize] == hierarchy.leaves_below(node);
        nodes.iter().all(is_whole).then_some(Cut { nodes })
    }

    /// The node that stands for a term; the term itself if it is not generalised.
    pub fn node_of(&self, term: TermId) -> NodeId {
        self.nodes[term as usize]
    }

    /// The nodes that stand for the terms, by term.
    pub fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }

    /// How many terms are generalised.
    pub fn n_generalised(&self) -> usize {
        (0..).zip(&self.nodes).filter(|&(term, &node)| term != node).count()
    }

    /// The terms of each node as a group.
    pub fn recoding(&self, hierarchy: &Hierarchy) -> Recoding {
        let mut groups = vec![Vec::new(); hierarchy.n_nodes()];
        (0..).zip(&self.nodes).for_each(|(term, &node)| groups[node as usize].push(term));
        // Every term has one node, so that none is in two groups.
        Recoding::from_groups(self.nodes.len(), groups).unwrap_or_else(|| Recoding::identity(self.nodes.len()))
    }

    /// The normalized certainty penalty: over all occurrences, the mean share of the terms that the node stands for; 0
    /// for a node that stands for one.
    pub fn ncp(&self, records: &Transactions, hierarchy: &Hierarchy) -> f64 {
        let supports = supports(records, self.nodes.len());
        let penalty = |(&support, &node): (&u32, &NodeId)| match hierarchy.leaves_below(node) {
            1 => 0,
            leaves => u64::from(support) * u64::from(leaves),
        };
        let sum: u64 = supports.iter().zip(&self.nodes).map(penalty).sum();
        sum as f64 / (self.nodes.len() as f64 * records.n_incidences() as f64).max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dataset;

    #[test]
    fn cuts_are_whole_subtrees() {
        let data = Dataset::from_texts([&["a", "b", "c", "d", "e"][..], &["a", "c"], &["e"]]);
        let paths = [("a", ["x", "*"]), ("b", ["x", "*"]), ("c", ["y", "*"]), ("d", ["y", "*"])];
        let paths = paths.iter().map(|(term, above)| (*term, above.to_vec())).chain([("e", vec!["*"])]);
        let hierarchy = Hierarchy::from_paths(&data.dictionary, paths).unwrap();
        let [x, y, root] = [5, 6, 7];
        assert_eq!(hierarchy.text(x, &data.dictionary), "x");

        let cut = Cut::from_nodes(vec![x, x, 2, 3, 4], &hierarchy).unwrap();
        assert_eq!(cut.recoding(&hierarchy).groups(), [vec![0, 1], vec![2], vec![3], vec![4]]);
        assert_eq!((cut.node_of(1), cut.n_generalised()), (x, 2));
        // a occurs twice, b once, of eight; x stands for two of five terms.
        assert!((cut.ncp(&data.records, &hierarchy) - 3.0 / 8.0 * 2.0 / 5.0).abs() < 1e-12);
        assert_eq!(Cut::identity(5).ncp(&data.records, &hierarchy), 0.0);
        assert_eq!(Cut::from_nodes(vec![root; 5], &hierarchy).unwrap().ncp(&data.records, &hierarchy), 1.0);
        for not_whole in [[x, 1, 2, 3, 4], [y, y, 2, 3, 4], [root, root, root, root, 4], [9, 1, 2, 3, 4]] {
            assert_eq!(Cut::from_nodes(not_whole.to_vec(), &hierarchy), None, "{not_whole:?}");
        }
        assert_eq!(Cut::from_nodes(vec![0, 1], &hierarchy), None);
        assert_eq!(Cut::identity(0).ncp(&Transactions::default(), &hierarchy), 0.0);
    }
}
