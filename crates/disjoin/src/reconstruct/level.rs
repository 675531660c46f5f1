//! The expected supports of many itemsets of one length, in one pass over the release.
//!
//! Paper:      agrawal1994, which counts candidates in a tree, record by record; here it is leaf by leaf
//! Promises:   the same as asking for each itemset, up to rounding errors
//! Cost:       for each leaf, the beginnings of candidates that it may hold
//! Checked by: tests/estimate.rs, by way of `top_expected`

use std::ops::Range;

use rayon::prelude::*;

use super::model::{Entry, Model, TERM_CHUNK};
use super::own::common_mask;
use crate::data::TermId;

/// Terms of leaves that one task goes through at a time; sums are added in their order.
const RUN: usize = 1 << 15;

/// Expected supports of `candidates`: itemsets of one length as positions in `terms`, each ascending, in ascending order.
pub(super) fn level_expectations(model: &Model, terms: &[TermId], candidates: &[Vec<u32>]) -> Vec<f64> {
    let tree = Tree::new(candidates);
    let mut place = vec![u32::MAX; model.release.dictionary.len()];
    (0..).zip(terms).for_each(|(i, &term)| place[term as usize] = i);
    let of_run = |roots: Range<usize>| {
        let mut sums = vec![0.0; candidates.len()];
        let mut walk = Walk { model, here: vec![None; terms.len()], held: Vec::new(), words: Vec::new() };
        for root in roots {
            for leaf in model.roots[root].0.clone() {
                walk.leaf(leaf, &place, &tree, &mut sums);
            }
        }
        sums
    };
    let parts: Vec<Vec<f64>> = model.runs(RUN).into_par_iter().with_max_len(1).map(of_run).collect();
    let mut sums = vec![0.0; candidates.len()];
    parts.iter().for_each(|part| sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += part));
    sums
}

/// Candidates as a tree: those with the same beginning share its nodes.
struct Tree {
    nodes: Vec<Node>,
    n_roots: usize,
}

struct Node {
    term: u32,
    /// Its children, or, at full length, the number of the candidate twice.
    first: u32,
    end: u32,
}

impl Tree {
    /// Breadth first: the children of a node follow each other.
    fn new(candidates: &[Vec<u32>]) -> Self {
        let length = candidates.first().map_or(0, Vec::len);
        let mut tree = Tree { nodes: Vec::new(), n_roots: 0 };
        // The candidates below each node of the present depth.
        let mut level: Vec<Range<usize>> = std::iter::once(0..candidates.len()).collect();
        let mut parents: Vec<Option<usize>> = vec![None];
        for depth in 0..length {
            let (mut next, mut next_parents) = (Vec::new(), Vec::new());
            for (range, parent) in level.iter().zip(&parents) {
                let first = tree.nodes.len();
                let mut start = range.start;
                for alike in candidates[range.clone()].chunk_by(|a, b| a[depth] == b[depth]) {
                    next_parents.push(Some(tree.nodes.len()));
                    next.push(start..start + alike.len());
                    tree.nodes.push(Node { term: alike[0][depth], first: start as u32, end: start as u32 });
                    start += alike.len();
                }
                match parent {
                    Some(parent) => {
                        tree.nodes[*parent].first = first as u32;
                        tree.nodes[*parent].end = tree.nodes.len() as u32;
                    }
                    None => tree.n_roots = tree.nodes.len(),
                }
            }
            (level, parents) = (next, next_parents);
        }
        tree
    }
}

/// The way through the tree in one leaf.
struct Walk<'m> {
    model: &'m Model<'m>,
    /// How the leaf holds each of the terms, if it does.
    here: Vec<Option<&'m Entry>>,
    /// How it holds those on the way.
    held: Vec<&'m Entry>,
    words: Vec<u64>,
}

impl<'m> Walk<'m> {
    fn leaf(&mut self, leaf: u32, place: &[u32], tree: &Tree, sums: &mut [f64]) {
        let model = self.model;
        let asked =
            || model.owned(leaf).filter(|(term, entry)| place[*term as usize] != u32::MAX && entry.weight > 0.0);
        asked().for_each(|(term, entry)| self.here[place[term as usize] as usize] = Some(entry));
        let size = model.leaves[leaf as usize].size() as f64;
        self.descend(leaf, 0..tree.n_roots, Some(size), tree, sums);
        asked().for_each(|(term, _)| self.here[place[term as usize] as usize] = None);
    }

    /// `product` is the expectation of what is held so far, as long as no two of its terms are in one chunk.
    fn descend(&mut self, leaf: u32, nodes: Range<usize>, product: Option<f64>, tree: &Tree, sums: &mut [f64]) {
        for node in &tree.nodes[nodes] {
            let Some(entry) = self.here[node.term as usize] else { continue };
            let is_apart = entry.bag == TERM_CHUNK || self.held.iter().all(|held| held.bag != entry.bag);
            let product = product.filter(|_| is_apart).map(|product| product * entry.weight);
            self.held.push(entry);
            if node.first == node.end {
                let expected = || expected_in_leaf(self.model, leaf, &self.held, &mut self.words);
                sums[node.first as usize] += product.unwrap_or_else(expected);
            } else {
                self.descend(leaf, node.first as usize..node.end as usize, product, tree, sums);
            }
            self.held.pop();
        }
    }
}

/// The expected number of records of a leaf that hold all terms of these entries. `words` is room to work in.
pub(crate) fn expected_in_leaf(model: &Model, leaf: u32, entries: &[&Entry], words: &mut Vec<u64>) -> f64 {
    let mut expected = model.leaves[leaf as usize].size() as f64;
    for (i, entry) in entries.iter().enumerate() {
        let owned_too = |other: &&&Entry| other.bag == entry.bag;
        if entry.bag == TERM_CHUNK {
            expected *= entry.weight;
        } else if entries[..i].iter().any(|before| owned_too(&before)) {
            // Taken together with the first term that this bag owns.
        } else if entries[i + 1..].iter().any(|after| owned_too(&after)) {
            common_mask(model, entry, &entries[i + 1..], words);
            expected *= model.marginal(&model.bags[entry.bag as usize], leaf, words);
        } else {
            expected *= entry.weight;
        }
    }
    expected
}
