//! PC-stable: removes edges between columns that neighbours make independent, all edges of a round at the same time.
//!
//! For c = 0, 1, ...: the neighbours of all nodes are noted. For every edge a - b, all sets of c of a's neighbours and of b's
//! are tried; if one makes a and b independent, the edge goes, after the round, and the clearest such set separates them.
//! The rest is directed by the rules of [`orient`](super::orient).
//!
//! Paper:      Colombo, Maathuis: Order-Independent Constraint-Based Causal Structure Learning, JMLR 15, 2014
//! Promises:   no directed cycle. The skeleton and the separators do not depend on the order of the columns, if the decision
//!             does not (tests, MDL and BDeu; BAYES does)
//! Departs:    the paper takes the first separator. The clearest one, of the highest p-value, does not depend on an order and
//!             is the better guess. A test for which there are too few rows is not made. Contradicting arrows: see `orient`
//! Cost:       for d neighbours at most O(n d^(c+1)) decisions, each a count of the rows; edges are shared by all cores
//! Checked by: tests/it/network.rs: rows drawn from known networks, and columns in another order

use rayon::prelude::*;

use super::Coded;
use super::ics::Subsets;
use super::independence::{Decider, Decision, Degrees, Statistic};
use super::orient::{Learned, Skeleton, orient};
use crate::error::Result;

/// How PC-stable searches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// How columns are found to be independent.
    pub decision: Decision,
    /// The greatest number of columns that may make two others independent.
    pub max_cardinality: usize,
    /// The greatest number of parents of a node, if there is one.
    pub max_parents: Option<usize>,
    /// Two columns are not asked about given others if there are fewer rows than this for each cell of all of them: a test
    /// would find nothing, and the edge would go.
    pub rows_a_cell: f64,
}

impl Default for Options {
    fn default() -> Self {
        let decision = Decision::Test { statistic: Statistic::G2, degrees: Degrees::Seen, level: 0.01 };
        Options { decision, max_cardinality: 3, max_parents: None, rows_a_cell: 5.0 }
    }
}

/// Finds a network by conditional independences, the same for any order of the columns as far as its edges go.
pub fn learn(data: &Coded, options: &Options) -> Result<Learned> {
    Decider::new(data, options.decision)?;
    let mut skeleton = Skeleton::complete(data.n_columns());
    for cardinality in 0..=options.max_cardinality {
        let edges = skeleton.edges();
        let look = |decider: &mut Option<Decider<'_>>, &(a, b): &(usize, usize)| {
            separator(decider.as_mut()?, data, &skeleton, options, (a, b), cardinality)
        };
        // It was made once above, so it can be made again.
        let make = || Decider::new(data, options.decision).ok();
        let found: Vec<Option<Vec<usize>>> = edges.par_iter().map_init(make, look).collect();
        for ((a, b), separator) in edges.into_iter().zip(found) {
            if let Some(separator) = separator {
                skeleton.separate(a, b, separator);
            }
        }
    }
    Ok(orient(&skeleton, options.max_parents))
}

/// The clearest set of neighbours that makes two nodes independent.
fn separator(
    decider: &mut Decider<'_>,
    data: &Coded,
    skeleton: &Skeleton,
    options: &Options,
    (a, b): (usize, usize),
    cardinality: usize,
) -> Option<Vec<usize>> {
    let mut best: Option<(f64, Vec<usize>)> = None;
    let size = |node: usize| f64::from(data.size(node));
    let room = f64::from(data.n_rows()) / options.rows_a_cell.max(f64::MIN_POSITIVE) / (size(a) * size(b));
    for (node, other) in [(a, b), (b, a)] {
        let neighbours: Vec<usize> =
            (0..skeleton.n_nodes()).filter(|&c| c != other && skeleton.joins(node, c)).collect();
        let mut sets = Subsets::new(&neighbours, cardinality);
        while let Some(given) = sets.next() {
            // Sets of common neighbours were tried with the first node.
            let is_known = node == b && given.iter().all(|&c| skeleton.joins(a, c));
            let has_rows = cardinality == 0 || given.iter().map(|&c| size(c)).product::<f64>() <= room;
            if is_known || !has_rows {
                continue;
            }
            if let Some(clearness) = decider.independent(b, a, given)
                && best.as_ref().is_none_or(|(best, _)| clearness > *best)
            {
                best = Some((clearness, given.to_vec()));
            }
        }
    }
    best.map(|(_, given)| given)
}
