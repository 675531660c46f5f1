//! The expected supports of many itemsets of one length, in one pass over the release.
//!
//! Paper:      agrawal1994, which counts candidates in a tree, record by record; here it is leaf by leaf
//! Promises:   the same as asking for each itemset, up to rounding errors
//! Cost:       for each leaf, the beginnings of candidates that it may hold
//! Checked by: tests/it/estimate.rs, by way of `top_expected`

use std::collections::HashMap;
use std::ops::Range;

use rayon::prelude::*;

use super::model::{Bag, Entry, Model, TERM_CHUNK, popcount};
use super::own::common_mask;
use crate::data::TermId;

/// Terms of leaves that one task goes through at a time; sums are added in their order.
const RUN: usize = 1 << 15;

/// A chunk that more leaves share is large.
const MANY_LEAVES: usize = 64;

/// Expected supports of `candidates`: itemsets of one length as positions in `terms`, each ascending, in ascending order.
pub(super) fn level_expectations(model: &Model, terms: &[TermId], candidates: &[Vec<u32>]) -> Vec<f64> {
    let tree = Tree::new(candidates);
    let mut place = vec![u32::MAX; model.release.dictionary.len()];
    (0..).zip(terms).for_each(|(i, &term)| place[term as usize] = i);
    let of_run = |roots: Range<usize>| {
        let mut sums = vec![0.0; candidates.len()];
        let mut walk = Walk { model, here: vec![None; terms.len()], held: Vec::new(), work: Work::default() };
        for root in roots {
            for leaf in model.roots[root].0.clone() {
                model.observer.check();
                walk.leaf(leaf, &place, &tree, &mut sums);
            }
        }
        sums
    };
    let parts: Vec<Vec<f64>> = model.runs(RUN).into_par_iter().with_max_len(1).map(of_run).collect();
    let mut sums = vec![0.0; candidates.len()];
    parts.iter().for_each(|part| sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += part));
    add_whole(model, terms, candidates, &mut sums);
    sums
}

/// Adds the candidates that large shared chunks own as a whole: each subrecord lies somewhere, so it counts once.
fn add_whole(model: &Model, terms: &[TermId], candidates: &[Vec<u32>], sums: &mut [f64]) {
    let mut words = Vec::new();
    for bag in model.bags.iter().filter(|bag| is_large(bag)) {
        model.observer.check();
        let domain: Vec<Option<usize>> = terms.iter().map(|t| bag.chunk.terms.binary_search(t).ok()).collect();
        for (set, sum) in candidates.iter().zip(&mut *sums) {
            let Some(places) = set.iter().map(|&term| domain[term as usize]).collect::<Option<Vec<usize>>>() else {
                continue;
            };
            words.clear();
            words.extend_from_slice(model.rows(bag, places[0]));
            for &place in &places[1..] {
                words.iter_mut().zip(model.rows(bag, place)).for_each(|(word, other)| *word &= other);
            }
            *sum += popcount(&words) as f64;
        }
    }
}

/// Whether a chunk is shared by so many leaves that what it says should not be worked out again in each.
fn is_large(bag: &Bag) -> bool {
    bag.leaves.len() > MANY_LEAVES
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
    work: Work,
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
                let bag = self.held[0].bag;
                let is_whole = bag != TERM_CHUNK && self.held.iter().all(|held| held.bag == bag);
                if !(is_whole && is_large(&self.model.bags[bag as usize])) {
                    let expected = || expected_in_leaf(self.model, leaf, &self.held, &mut self.work);
                    sums[node.first as usize] += product.unwrap_or_else(expected);
                }
            } else {
                self.descend(leaf, node.first as usize..node.end as usize, product, tree, sums);
            }
            self.held.pop();
        }
    }
}

/// Room to work in, and what is known of large chunks.
#[derive(Default)]
pub(crate) struct Work {
    words: Vec<u64>,
    /// The probability that a record of a region holds some terms of one large chunk, by chunk, region and terms.
    known: HashMap<Vec<u32>, f64, foldhash::fast::FixedState>,
    key: Vec<u32>,
}

/// The expected number of records of a leaf that hold all terms of these entries.
pub(crate) fn expected_in_leaf(model: &Model, leaf: u32, entries: &[&Entry], work: &mut Work) -> f64 {
    let mut expected = model.leaves[leaf as usize].size() as f64;
    for (i, entry) in entries.iter().enumerate() {
        let owned_too = |other: &&&Entry| other.bag == entry.bag;
        if entry.bag == TERM_CHUNK {
            expected *= entry.weight;
        } else if entries[..i].iter().any(|before| owned_too(&before)) {
            // Taken together with the first term that this bag owns.
        } else if entries[i + 1..].iter().any(|after| owned_too(&after)) {
            expected *= together(model, leaf, entry, &entries[i + 1..], work);
        } else {
            expected *= entry.weight;
        }
    }
    expected
}

/// The probability that a record of a leaf holds the term of `first` and those of `others` that the same chunk owns.
fn together(model: &Model, leaf: u32, first: &Entry, others: &[&Entry], work: &mut Work) -> f64 {
    let bag = &model.bags[first.bag as usize];
    let Work { words, known, key } = work;
    let mut worked_out = || {
        common_mask(model, first, others, words);
        model.marginal(bag, leaf, words)
    };
    // Leaves of one region are alike, unless some are likelier than others.
    if !is_large(bag) || bag.tilt.is_some() {
        return worked_out();
    }
    key.clear();
    key.extend([first.bag, bag.region_of(leaf), first.mask]);
    key.extend(others.iter().filter(|other| other.bag == first.bag).map(|other| other.mask));
    match known.get(key) {
        Some(&probability) => probability,
        None => {
            let probability = worked_out();
            known.insert(key.clone(), probability);
            probability
        }
    }
}
