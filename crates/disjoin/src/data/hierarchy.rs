//! What generalises what: a taxonomy whose leaves are the terms of a dictionary.
//!
//! Promises:   every term is a leaf and has at most one chain of ancestors; every inner node stands above a term; a
//!             parent's id is greater than its children's, so that one pass over the ids goes bottom-up, and back down
//! Assumes:    terms and nodes of the dictionary the hierarchy was built for
//! Cost:       building: time and memory linear in nodes and edges, times the depth; `extend`: linear in its result, on
//!             all cores
//! Checked by: tests in this file, against chains of ancestors followed by hand
//!
//! Terms and labels of inner nodes are different things even where their texts agree: a diagnosis `015` may be a term
//! and also stand for `015.1` and `015.2`. The term is then a leaf below the label. Where the label would stand above
//! nothing else, a value merely generalises to itself, and the label is left out.

use rayon::prelude::*;

use super::{Dictionary, RecordId, TermId, Transactions};

/// A node of a [`Hierarchy`]: first the terms with their own ids, then the inner nodes.
pub type NodeId = u32;

/// No real taxonomy is deeper, and a record must not grow without bound in [`Hierarchy::extend`].
const MAX_DEPTH: u32 = 255;

/// Stands for the parent of a root.
pub(crate) const NONE: NodeId = NodeId::MAX;

/// Records that a thread extends at a time.
const CHUNK: usize = 4096;

/// A taxonomy over the terms of a [`Dictionary`]: a tree, or several.
#[derive(Clone, PartialEq, Eq)]
pub struct Hierarchy {
    n_terms: usize,
    parents: Vec<NodeId>,
    depths: Vec<u32>,
    /// Terms numbered along the tree: those below a node are the numbers from the first to before the second.
    intervals: Vec<(u32, u32)>,
    /// Texts of the inner nodes.
    labels: Vec<String>,
}

/// Why edges are no hierarchy over a dictionary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// A node was put below two different labels.
    #[error("a node stands below two different parents")]
    TwoParents,
    /// A label was put below itself, by way of others.
    #[error("a label stands below itself")]
    Cycle,
    /// A chain of ancestors is too long.
    #[error("a chain of ancestors is longer than {MAX_DEPTH}")]
    TooDeep,
    /// So many terms of the dictionary are not in the hierarchy.
    #[error("{0} terms are not in the hierarchy")]
    Missing(usize),
}

impl Hierarchy {
    /// A hierarchy from terms with their ancestors, bottom-up. Terms that the dictionary does not have are ignored.
    pub fn from_paths<'a, P>(
        dictionary: &Dictionary,
        paths: impl IntoIterator<Item = (&'a str, P)>,
    ) -> std::result::Result<Self, Fault>
    where
        P: IntoIterator<Item = &'a str>,
    {
        let mut builder = HierarchyBuilder::new(dictionary);
        for (term, ancestors) in paths {
            builder.path(term, ancestors)?;
        }
        builder.finish()
    }

    /// Completes a hierarchy whose parents have greater ids than their children.
    pub(crate) fn number(n_terms: usize, parents: Vec<NodeId>, labels: Vec<String>) -> Self {
        let mut hierarchy = Hierarchy {
            n_terms,
            depths: vec![0; parents.len()],
            intervals: vec![(0, 0); parents.len()],
            parents,
            labels,
        };
        let mut below = vec![1; n_terms];
        below.resize(hierarchy.n_nodes(), 0);
        for node in 0..hierarchy.n_nodes() {
            if let Some(parent) = hierarchy.parent(node as NodeId) {
                below[parent as usize] += below[node];
            }
        }
        // Where the next child of each node begins, and the next root.
        let mut next = vec![0; hierarchy.n_nodes()];
        let mut next_root = 0;
        for node in (0..hierarchy.n_nodes()).rev() {
            let parent = hierarchy.parent(node as NodeId);
            let place = parent.map_or(&mut next_root, |parent| &mut next[parent as usize]);
            let first = *place;
            *place += below[node];
            next[node] = first;
            hierarchy.intervals[node] = (first, first + below[node]);
            hierarchy.depths[node] = parent.map_or(0, |parent| hierarchy.depths[parent as usize] + 1);
        }
        hierarchy
    }

    /// The number of terms; smaller ids are terms.
    pub fn n_terms(&self) -> usize {
        self.n_terms
    }

    /// The number of all nodes, terms included.
    pub fn n_nodes(&self) -> usize {
        self.parents.len()
    }

    /// The node right above, none for a root.
    #[inline]
    pub fn parent(&self, node: NodeId) -> Option<NodeId> {
        Some(self.parents[node as usize]).filter(|&parent| parent != NONE)
    }

    /// All nodes above, bottom-up, without the node itself.
    pub fn ancestors(&self, node: NodeId) -> impl Iterator<Item = NodeId> {
        std::iter::successors(self.parent(node), |&node| self.parent(node))
    }

    /// Whether `above` is an ancestor of `below`, and not the same node.
    #[inline]
    pub fn is_ancestor(&self, above: NodeId, below: NodeId) -> bool {
        let ((first, end), (first_below, end_below)) = (self.intervals[above as usize], self.intervals[below as usize]);
        self.depth(above) < self.depth(below) && first <= first_below && end_below <= end
    }

    /// The lowest node that is or stands above both; none if they are in different trees.
    pub fn lowest_common(&self, one: NodeId, other: NodeId) -> Option<NodeId> {
        let (mut one, mut other) = (one, other);
        while one != other {
            // A parent's id is greater than its children's: the smaller of the two is not above the other.
            let lower = if one < other { &mut one } else { &mut other };
            *lower = self.parent(*lower)?;
        }
        Some(one)
    }

    /// Where a term stands along the tree: terms below one node have neighbouring positions.
    pub fn position(&self, term: TermId) -> u32 {
        self.intervals[term as usize].0
    }

    /// The positions of the terms below a node, or of the term itself.
    pub fn positions(&self, node: NodeId) -> std::ops::Range<usize> {
        let (first, end) = self.intervals[node as usize];
        first as usize..end as usize
    }

    /// The number of ancestors.
    pub fn depth(&self, node: NodeId) -> u32 {
        self.depths[node as usize]
    }

    /// How many terms a node stands for; one for a term.
    pub fn leaves_below(&self, node: NodeId) -> u32 {
        let (first, end) = self.intervals[node as usize];
        end - first
    }

    /// The text of a node. The dictionary must be the one the hierarchy was built for.
    pub fn text<'a>(&'a self, node: NodeId, dictionary: &'a Dictionary) -> &'a str {
        match (node as usize).checked_sub(self.n_terms) {
            Some(inner) => &self.labels[inner],
            None => dictionary.text(node),
        }
    }

    /// Every record with all ancestors of its terms.
    pub fn extend(&self, records: &Transactions) -> Transactions {
        let parts: Vec<Transactions> = (0..records.len().div_ceil(CHUNK))
            .into_par_iter()
            .map_init(
                || (vec![0; self.n_nodes()], Vec::new()),
                |(seen, nodes), chunk| {
                    let mut part = Transactions::default();
                    for record in chunk * CHUNK..records.len().min((chunk + 1) * CHUNK) {
                        self.extend_record(records.record(record as RecordId), record as u32 + 1, seen, nodes);
                        part.push(nodes);
                    }
                    part
                },
            )
            .collect();
        let mut all = Transactions::default();
        parts.iter().for_each(|part| all.append(part));
        all
    }

    /// Fills `nodes` with a record and its ancestors; `stamp` in `seen` marks those that it has already.
    fn extend_record(&self, record: &[TermId], stamp: u32, seen: &mut [u32], nodes: &mut Vec<NodeId>) {
        nodes.clear();
        nodes.extend_from_slice(record);
        for &term in record {
            for node in self.ancestors(term) {
                // Whoever has an ancestor has all those above it.
                if std::mem::replace(&mut seen[node as usize], stamp) == stamp {
                    break;
                }
                nodes.push(node);
            }
        }
        // Terms come before inner nodes and are sorted already.
        nodes[record.len()..].sort_unstable();
    }
}

impl std::fmt::Debug for Hierarchy {
    /// Shows the size only, as a dictionary does.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Hierarchy({} terms, {} nodes)", self.n_terms(), self.n_nodes())
    }
}

/// A hierarchy in the making, edge by edge, in any order.
pub struct HierarchyBuilder<'a> {
    dictionary: &'a Dictionary,
    labels: Dictionary,
    /// For each term the label right above it, or none above it; none if the term has not been met.
    above_terms: Vec<Option<Option<NodeId>>>,
    above_labels: Vec<Option<NodeId>>,
}

impl<'a> HierarchyBuilder<'a> {
    /// A hierarchy over the terms of `dictionary`, none of them met so far.
    pub fn new(dictionary: &'a Dictionary) -> Self {
        HierarchyBuilder {
            dictionary,
            labels: Dictionary::default(),
            above_terms: vec![None; dictionary.len()],
            above_labels: Vec::new(),
        }
    }

    /// Puts a term below labels, bottom-up. Of a term that the dictionary does not have only the labels are checked.
    pub fn path<'p>(
        &mut self,
        term: &str,
        ancestors: impl IntoIterator<Item = &'p str>,
    ) -> std::result::Result<(), Fault> {
        let mut ancestors = ancestors.into_iter();
        let mut below = ancestors.next();
        let lowest = below.map(|label| self.label(label));
        if let Some(term) = self.dictionary.get(term) {
            let above = self.above_terms[term as usize].get_or_insert(lowest);
            if *above != lowest {
                return Err(Fault::TwoParents);
            }
        }
        for label in ancestors {
            below.map_or(Ok(()), |below| self.edge(below, label))?;
            below = Some(label);
        }
        Ok(())
    }

    /// Puts one label below another. A label below itself is no edge.
    pub fn edge(&mut self, below: &str, above: &str) -> std::result::Result<(), Fault> {
        let (below, above) = (self.label(below), self.label(above));
        match self.above_labels[below as usize] {
            _ if below == above => Ok(()),
            Some(other) if other == above => Ok(()),
            Some(_) => Err(Fault::TwoParents),
            None => {
                let mut steps = 0;
                let mut node = Some(above);
                while let Some(label) = node {
                    if label == below {
                        return Err(Fault::Cycle);
                    }
                    steps += 1;
                    if steps > MAX_DEPTH {
                        return Err(Fault::TooDeep);
                    }
                    node = self.above_labels[label as usize];
                }
                self.above_labels[below as usize] = Some(above);
                Ok(())
            }
        }
    }

    fn label(&mut self, text: &str) -> NodeId {
        let label = self.labels.intern(text);
        self.above_labels.resize(self.labels.len(), None);
        label
    }

    /// The hierarchy, if every term has been met.
    pub fn finish(self) -> std::result::Result<Hierarchy, Fault> {
        let mut above_terms: Vec<Option<NodeId>> = self.above_terms.iter().copied().flatten().collect();
        if above_terms.len() < self.dictionary.len() {
            return Err(Fault::Missing(self.dictionary.len() - above_terms.len()));
        }
        let children = self.used(&above_terms);
        let mut is_used: Vec<bool> = children.iter().map(|&children| children > 0).collect();
        for (term, above) in self.dictionary.iter().zip(&mut above_terms) {
            if let Some(label) = *above
                && children[label as usize] == 1
                && self.labels.text(label) == term
            {
                is_used[label as usize] = false;
                *above = self.above_labels[label as usize];
            }
        }

        // Deeper labels get smaller ids, equally deep ones in order of first appearance.
        let depths = self.depths()?;
        let mut order: Vec<NodeId> =
            (0..self.labels.len() as NodeId).filter(|&label| is_used[label as usize]).collect();
        order.sort_by_key(|&label| std::cmp::Reverse(depths[label as usize]));
        let mut id = vec![NONE; self.labels.len()];
        order.iter().zip(self.dictionary.len() as NodeId..).for_each(|(&label, node)| id[label as usize] = node);
        let above_labels = order.iter().map(|&label| self.above_labels[label as usize]);
        let parents = above_terms.iter().copied().chain(above_labels);
        let parents = parents.map(|above| above.map_or(NONE, |label| id[label as usize])).collect();
        let labels = order.iter().map(|&label| self.labels.text(label).to_owned()).collect();
        Ok(Hierarchy::number(self.dictionary.len(), parents, labels))
    }

    /// For each label how many children it has that stand above a term or are one.
    fn used(&self, above_terms: &[Option<NodeId>]) -> Vec<u32> {
        let mut children = vec![0; self.labels.len()];
        for &above in above_terms {
            let mut node = above;
            while let Some(label) = node {
                children[label as usize] += 1;
                // A label that was met before has been counted by those above it.
                node = self.above_labels[label as usize].filter(|_| children[label as usize] == 1);
            }
        }
        children
    }

    fn depths(&self) -> std::result::Result<Vec<u32>, Fault> {
        let depth = |label| {
            let above = std::iter::successors(self.above_labels[label], |&label| self.above_labels[label as usize]);
            let depth = above.take(MAX_DEPTH as usize).count() as u32;
            // The terms below are one deeper.
            if depth < MAX_DEPTH { Ok(depth) } else { Err(Fault::TooDeep) }
        };
        (0..self.labels.len()).map(depth).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dataset;
    use crate::error::Error;
    use rand::{RngExt, SeedableRng};
    use std::ops::AddAssign;

    fn dictionary(terms: &[&str]) -> Dictionary {
        Dataset::from_texts([terms]).dictionary
    }

    fn build(terms: &[&str], paths: &[&[&str]]) -> std::result::Result<(Hierarchy, Dictionary), Fault> {
        let dictionary = dictionary(terms);
        let paths = paths.iter().map(|path| (path[0], path[1..].iter().copied()));
        Ok((Hierarchy::from_paths(&dictionary, paths)?, dictionary))
    }

    /// Each term with its ancestors, as texts.
    fn chains(hierarchy: &Hierarchy, dictionary: &Dictionary) -> Vec<String> {
        let chain = |term| {
            let nodes = std::iter::once(term).chain(hierarchy.ancestors(term));
            nodes.map(|node| hierarchy.text(node, dictionary)).collect::<Vec<_>>().join(" < ")
        };
        (0..dictionary.len() as NodeId).map(chain).collect()
    }

    fn check(terms: &[&str], paths: &[&[&str]], expected: &[&str]) {
        let (hierarchy, dictionary) = build(terms, paths).unwrap();
        assert_eq!(chains(&hierarchy, &dictionary), expected, "{paths:?}");
        check_numbers(&hierarchy);
    }

    /// Depths, counts and ancestors agree with the chains; children come before their parents; no node is idle.
    fn check_numbers(hierarchy: &Hierarchy) {
        let nodes = 0..hierarchy.n_nodes() as NodeId;
        let mut leaves = vec![0; hierarchy.n_nodes()];
        for node in nodes.clone() {
            let ancestors: Vec<NodeId> = hierarchy.ancestors(node).collect();
            assert!(ancestors.iter().all(|&above| above > node && above as usize >= hierarchy.n_terms()));
            assert_eq!(hierarchy.depth(node) as usize, ancestors.len());
            for other in nodes.clone() {
                assert_eq!(hierarchy.is_ancestor(other, node), ancestors.contains(&other), "{other} {node}");
            }
            if (node as usize) < hierarchy.n_terms() {
                ancestors.iter().chain([&node]).for_each(|&above| leaves[above as usize] += 1);
            }
        }
        assert!(nodes.map(|node| hierarchy.leaves_below(node)).eq(leaves.iter().copied()));
        assert!(leaves.iter().all(|&leaves| leaves > 0));
    }

    #[test]
    fn paths_make_a_tree() {
        check(
            &["flu", "gout", "hiv"],
            &[&["hiv", "virus", "*"], &["gout", "joint", "*"], &["flu", "virus", "*"], &["flu", "virus", "*"]],
            &["flu < virus < *", "gout < joint < *", "hiv < virus < *"],
        );
        check(&["a", "b", "c"], &[&["a", "x"], &["b", "y"], &["c"]], &["a < x", "b < y", "c"]);
        check(&[], &[], &[]);
    }

    #[test]
    fn what_the_dictionary_lacks_is_left_out() {
        check(&["a"], &[&["a", "x", "*"], &["b", "x", "*"], &["c", "y", "*"]], &["a < x < *"]);
        let (hierarchy, _) = build(&["a"], &[&["a", "x", "*"], &["c", "y", "*"]]).unwrap();
        assert_eq!((hierarchy.n_terms(), hierarchy.n_nodes()), (1, 3));
    }

    #[test]
    fn repeated_labels_collapse_unless_they_stand_for_more() {
        check(&["a", "b"], &[&["a", "a", "a", "*", "*"], &["b", "x", "x", "x", "*"]], &["a < *", "b < x < *"]);
        let codes: [&[&str]; 3] = [&["015", "015", "01"], &["015.1", "015", "01"], &["016", "016", "01"]];
        check(&["015", "015.1", "016"], &codes, &["015 < 015 < 01", "015.1 < 015 < 01", "016 < 01"]);
        check(&["015", "016"], &codes, &["015 < 01", "016 < 01"]);
        check(&["a"], &[&["a", "a"]], &["a"]);
    }

    #[test]
    fn what_is_no_tree_is_refused() {
        let fault = |terms: &[&str], paths: &[&[&str]]| build(terms, paths).map(|_| ()).unwrap_err();
        assert_eq!(fault(&["a"], &[&["a", "x"], &["a", "y"]]), Fault::TwoParents);
        assert_eq!(fault(&["a"], &[&["a", "x"], &["a"]]), Fault::TwoParents);
        assert_eq!(fault(&["a", "b"], &[&["a", "x", "y"], &["b", "x", "z"]]), Fault::TwoParents);
        assert_eq!(fault(&["a", "b"], &[&["a", "x", "y"], &["b", "y", "x"]]), Fault::Cycle);
        assert_eq!(fault(&["a"], &[&["a", "x", "y", "x"]]), Fault::Cycle);
        assert_eq!(fault(&["a", "b", "c"], &[&["b", "x"]]), Fault::Missing(2));
    }

    #[test]
    fn depth_is_bounded_from_either_end() {
        let labels: Vec<String> = (0..1000).map(|number| number.to_string()).collect();
        let dictionary = dictionary(&["a"]);
        for n_labels in [MAX_DEPTH as usize, MAX_DEPTH as usize + 1, labels.len()] {
            let is_fine = n_labels <= MAX_DEPTH as usize;
            let labels = &labels[..n_labels];
            let path = labels.iter().map(String::as_str);
            assert_eq!(Hierarchy::from_paths(&dictionary, [("a", path)]).is_ok(), is_fine, "{n_labels}");
            let mut builder = HierarchyBuilder::new(&dictionary);
            let added = labels.windows(2).rev().try_for_each(|pair| builder.edge(&pair[0], &pair[1]));
            let built = added.and_then(|()| builder.path("a", ["0"])).and_then(|()| builder.finish());
            assert_eq!(built.is_ok(), is_fine, "{n_labels}");
        }
    }

    #[test]
    fn uniform_trees_follow_the_order_of_texts_or_numbers() {
        let of = |terms: &[&str], fanout| {
            let dictionary = dictionary(terms);
            let hierarchy = Hierarchy::uniform(&dictionary, fanout).unwrap();
            check_numbers(&hierarchy);
            chains(&hierarchy, &dictionary)
        };
        assert_eq!(
            of(&["10", "9", "-1", "100"], 2),
            ["10 < 10..100 < -1..100", "9 < -1..9 < -1..100", "-1 < -1..9 < -1..100", "100 < 10..100 < -1..100"]
        );
        assert_eq!(of(&["10", "9", "x"], 3), ["10 < 10..x", "9 < 10..x", "x < 10..x"]);
        assert_eq!(of(&["c", "b", "a"], 2), ["c < b..c < a..c", "b < b..c < a..c", "a < a..c"]);
        assert_eq!(of(&["a"], 2), ["a"]);
        assert!(of(&[], 2).is_empty());
        for fanout in [0, 1] {
            assert!(matches!(Hierarchy::uniform(&dictionary(&["a"]), fanout), Err(Error::Recipe { .. })));
        }
    }

    #[test]
    fn uniform_trees_are_balanced() {
        for n_terms in 1..60 {
            let terms: Vec<String> = (0..n_terms).map(|number| number.to_string()).collect();
            let dictionary = Dataset::from_texts([&terms]).dictionary;
            for fanout in 2..8 {
                let hierarchy = Hierarchy::uniform(&dictionary, fanout).unwrap();
                check_numbers(&hierarchy);
                let mut children = vec![0; hierarchy.n_nodes()];
                let mut n_roots = 0;
                for node in 0..hierarchy.n_nodes() as NodeId {
                    hierarchy.parent(node).map_or(&mut n_roots, |parent| &mut children[parent as usize]).add_assign(1);
                }
                assert_eq!(n_roots, 1);
                assert!(children[n_terms..].iter().all(|&n| (2..=fanout).contains(&n)), "{n_terms} {fanout}");
            }
        }
    }

    #[test]
    fn consecutive_trees_are_filled_from_the_left() {
        let terms: Vec<String> = (0..23).map(|number| number.to_string()).collect();
        let dictionary = Dataset::from_texts([&terms]).dictionary;
        let hierarchy = Hierarchy::consecutive(&dictionary, 4).unwrap();
        check_numbers(&hierarchy);
        let chains = chains(&hierarchy, &dictionary);
        assert_eq!(chains[3], "3 < 0..3 < 0..15 < 0..22");
        assert_eq!(chains[16], "16 < 16..19 < 16..22 < 0..22");
        assert_eq!(chains[22], "22 < 20..22 < 16..22 < 0..22");
        let dictionary = self::dictionary(&["a", "b", "c"]);
        let hierarchy = Hierarchy::consecutive(&dictionary, 2).unwrap();
        assert_eq!(self::chains(&hierarchy, &dictionary), ["a < a..b < a..c", "b < a..b < a..c", "c < a..c"]);
        assert!(matches!(Hierarchy::consecutive(&dictionary, 1), Err(Error::Recipe { .. })));

        let data = Dataset::from_texts([&["a", "b", "c", "d"][..], &["a", "c"], &["c"]]);
        let hierarchy = Hierarchy::by_support(&data.dictionary, &data.records, 2).unwrap();
        let expected = ["a < a..c < b..c", "b < b..d < b..c", "c < a..c < b..c", "d < b..d < b..c"];
        assert_eq!(self::chains(&hierarchy, &data.dictionary), expected);
    }

    #[test]
    fn records_gain_the_ancestors_of_their_terms() {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(5);
        let n_records = 3 * CHUNK + 17;
        let data = Dataset::from_texts((0..n_records).map(|_| {
            let length = rng.random_range(1..8);
            (0..length).map(|_| rng.random_range(0..50).to_string()).collect::<Vec<_>>()
        }));
        let hierarchy = Hierarchy::uniform(&data.dictionary, 3).unwrap();
        let extended = hierarchy.extend(&data.records);
        assert_eq!(extended.len(), n_records);
        for (before, after) in data.records.iter().zip(extended.iter()) {
            let mut expected: Vec<NodeId> = before.to_vec();
            before.iter().for_each(|&term| expected.extend(hierarchy.ancestors(term)));
            expected.sort_unstable();
            expected.dedup();
            assert_eq!(after, expected);
        }
        let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        assert_eq!(one_thread.install(|| hierarchy.extend(&data.records)), extended);
        assert!(hierarchy.extend(&Transactions::default()).is_empty());
    }

    #[test]
    fn debug_output_hides_texts() {
        let (hierarchy, _) = build(&["hiv"], &[&["hiv", "virus"]]).unwrap();
        assert_eq!(format!("{hierarchy:?}"), "Hierarchy(1 terms, 2 nodes)");
    }
}
