//! What the analyst cares about: how much each term weighs when records are grouped, and which terms belong together.
//!
//! A term that weighs more makes records alike, splits ranges sooner, is rescued sooner, and stays common where another one can go
//! instead. Terms of a utility set weigh `IN_A_SET` times as much, so that records that hold them come together, and
//! they are common all together or not at all.
//!
//! Paper:      ours, after the utility constraints of Loukides et al. 2014 (terms whose links are to be kept)
//! Promises:   nothing: how records are grouped is not promised to be hidden, and every cluster is cut and checked as before. A
//!             sensitive term weighs nothing, whatever is said about it
//! Assumes:    weights are finite and not negative, and no utility set has a sensitive term (`Params::check`)
//! Departs:    the cut is not steered. Offering a term first to a chunk with a term of its set changed nothing in ten
//!             releases (lab/grouping.md), and those who reckon the cut back would have to be told the sets
//! Cost:       linear in the number of terms and in the sets' lengths
//! Checked by: tests in this file, tests/it/utility.rs

use super::Params;
use crate::data::TermId;

/// How many times more a term weighs that is in a utility set.
const IN_A_SET: f64 = 4.0;

/// Weights and sets for all terms of the data.
pub(super) struct Preference {
    /// What each term weighs: 1 if nothing is said about it, 0 if it is sensitive.
    pub(super) weights: Vec<f64>,
    /// The utility sets.
    pub(super) sets: Vec<Vec<TermId>>,
}

impl Preference {
    pub(super) fn new(params: &Params, is_sensitive: &[bool]) -> Self {
        let mut weights = vec![1.0; is_sensitive.len()];
        for &(term, weight) in &params.interest.weights {
            weights[term as usize] = weight;
        }
        let sets = params.interest.sets.clone();
        let mut listed: Vec<TermId> = sets.concat();
        listed.sort_unstable();
        listed.dedup();
        listed.iter().for_each(|&t| weights[t as usize] *= IN_A_SET);
        weights.iter_mut().zip(is_sensitive).filter(|(_, is_sensitive)| **is_sensitive).for_each(|(w, _)| *w = 0.0);
        Preference { weights, sets }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Interest;

    #[test]
    fn weights_are_those_given_times_the_sets_and_nothing_for_sensitive_terms() {
        let interest = Interest { sets: vec![vec![0, 1], vec![1, 2]], weights: vec![(1, 0.5), (3, 7.0), (4, 0.0)] };
        let params = Params { interest, ..Params::paper(2, 2) };
        let preference = Preference::new(&params, &[false, false, false, true, false, false]);
        assert_eq!(preference.weights, [4.0, 2.0, 4.0, 0.0, 0.0, 1.0]);
    }
}
