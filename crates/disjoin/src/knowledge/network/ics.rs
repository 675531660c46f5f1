//! ICS: joins all columns, removes edges between columns that few others make independent, and directs the rest.
//!
//! 1. For c = 0, 1, ... up to the greatest cardinality and pairs a < b that are still joined, in order: if for some c nodes Z
//!    that are joined with both, b is independent of a given Z, the edge goes, and Sep(a, b) = Z.
//! 2. The rest is directed by the rules of [`orient`](super::orient).
//!
//! Paper:      nadimpalli2014, section "Dependencies detection", which used Weka's ICSSearchAlgorithm; figures 2, 3 and 4
//! Promises:   no directed cycle
//! Departs:    see [`orient`](super::orient); and nodes may be limited in their number of parents. With c = 0 alone, the paper's
//!             figures come out; Weka's default of 2 gives others. Scores that differ by rounding only are equal, which means
//!             independent: where a column repeats another, Weka leaves it to the last bit. On Adult that is one edge
//! Cost:       for n nodes O(n^(c+2)) decisions, each a count of the rows; memory for one count, and a number for each score
//! Checked by: tests/it/network.rs: the paper's three networks, and the steps as printed on random tables

use super::Coded;
use super::independence::{Decider, Decision};
use super::orient::{Learned, Skeleton, orient};
use super::score::Score;
use crate::error::Result;

/// How ICS searches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// How columns are found to be independent.
    pub decision: Decision,
    /// The greatest number of columns that may make two others independent.
    pub max_cardinality: usize,
    /// The greatest number of parents of a node, if there is one.
    pub max_parents: Option<usize>,
}

impl Default for Options {
    fn default() -> Self {
        let decision = Decision::Score(Score::Bayes { alpha: 0.5 });
        Options { decision, max_cardinality: 2, max_parents: None }
    }
}

/// Finds a network by conditional independences, as Weka does.
pub fn learn(data: &Coded, options: &Options) -> Result<Learned> {
    let mut decider = Decider::new(data, options.decision)?;
    let mut skeleton = Skeleton::complete(data.n_columns());
    for cardinality in 0..=options.max_cardinality {
        // Edges go at once: what is removed here no longer offers separators below.
        for (a, b) in skeleton.edges() {
            let common: Vec<usize> =
                (0..skeleton.n_nodes()).filter(|&c| skeleton.joins(a, c) && skeleton.joins(b, c)).collect();
            let mut sets = Subsets::new(&common, cardinality);
            while let Some(given) = sets.next() {
                if decider.independent(b, a, given).is_some() {
                    let given = given.to_vec();
                    skeleton.separate(a, b, given);
                    break;
                }
            }
        }
    }
    Ok(orient(&skeleton, options.max_parents))
}

/// All subsets of one size, in lexicographic order.
pub(super) struct Subsets<'n> {
    nodes: &'n [usize],
    /// Places in `nodes`, ascending; none before the first and after the last subset.
    places: Option<Vec<usize>>,
    is_first: bool,
    chosen: Vec<usize>,
}

impl<'n> Subsets<'n> {
    pub(super) fn new(nodes: &'n [usize], size: usize) -> Self {
        let places = (size <= nodes.len()).then(|| (0..size).collect());
        Subsets { nodes, places, is_first: true, chosen: Vec::new() }
    }

    pub(super) fn next(&mut self) -> Option<&[usize]> {
        let (n, places) = (self.nodes.len(), self.places.as_mut()?);
        if !std::mem::replace(&mut self.is_first, false) {
            let size = places.len();
            let Some(last) = (0..size).rev().find(|&at| places[at] + (size - at) < n) else {
                self.places = None;
                return None;
            };
            places[last] += 1;
            for at in last + 1..size {
                places[at] = places[at - 1] + 1;
            }
        }
        self.chosen.clear();
        self.chosen.extend(places.iter().map(|&place| self.nodes[place]));
        Some(&self.chosen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subsets_are_all_and_in_order() {
        let all = |nodes: &[usize], size| {
            let mut sets = Subsets::new(nodes, size);
            std::iter::from_fn(|| sets.next().map(<[usize]>::to_vec)).collect::<Vec<_>>()
        };
        assert_eq!(all(&[1, 4, 6], 2), [[1, 4], [1, 6], [4, 6]]);
        assert_eq!(all(&[1, 4, 6], 0), [[0; 0]]);
        assert_eq!(all(&[1], 2), Vec::<Vec<usize>>::new());
        assert_eq!(all(&[0, 1, 2, 3, 4, 5], 3).len(), 20);
    }
}
