//! What is told of the attacks on generalised sets: how much each claims, and beside the original whether that is more than luck.
//!
//! Promises:   without a truth nothing depends on the original; no term is told
//! Checked by: tests/it/semantic.rs, `crates/disjoin-cli/tests/it/semantic.rs`

use serde::Serialize;

use super::judge::{Score, Truth, judge};
use super::{Attacked, Coverage, Method};
use crate::knowledge::relatedness::Known;

/// Where distances come from that everybody has who has the release.
pub const RELEASE: &str = "the release itself";

/// What all attacks found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Where distances come from.
    pub distances: String,
    /// How terms were looked up there.
    pub terms: Known,
    /// What of the release could be attacked, over all recodings.
    pub coverage: Coverage,
    /// The same of each recoding, if there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub recodings: Vec<Coverage>,
    /// Each attack.
    pub attacks: Vec<OfMethod>,
    /// Attacks that had too little to learn from.
    pub left_out: Vec<Method>,
}

/// What one attack found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OfMethod {
    /// The attack.
    pub attack: Method,
    /// How many members it takes for added.
    pub eliminated: u64,
    /// How that compares with the original, if it was looked at.
    pub score: Option<Score>,
    /// The baseline: as many eliminations at random.
    pub blind: Option<Blind>,
}

/// What is to be expected of eliminations that are drawn by lot, as many as an attack made.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Blind {
    /// The share of eliminated members that were added.
    pub precision: f64,
    /// The share of added members that are eliminated.
    pub recall: f64,
    /// The harmonic mean of both.
    pub f: f64,
}

impl Summary {
    /// Sums up; with a truth, judged by it.
    pub fn new(attacked: &Attacked, distances: &str, terms: Known, truth: Option<&Truth<'_>>) -> Self {
        let coverage = attacked.coverage.iter().fold(Coverage::default(), |all, of| all.with(of));
        let attacks = attacked.found.iter().map(|found| {
            let score = truth.map(|truth| judge(&attacked.tables, &found.traces, truth));
            let eliminated = found.traces.iter().map(|trace| trace.steps.len() as u64).sum();
            let blind = score.as_ref().map(|score| Blind::new(score, eliminated));
            OfMethod { attack: found.method, eliminated, score, blind }
        });
        Summary {
            distances: distances.to_owned(),
            terms,
            coverage,
            recodings: if attacked.coverage.len() > 1 { attacked.coverage.clone() } else { Vec::new() },
            attacks: attacks.collect(),
            left_out: attacked.left_out.clone(),
        }
    }

    /// The advantage of the best attack over the baseline, by more than chance explains: 0 if there is none.
    pub fn beyond_blind(&self) -> f64 {
        self.attacks.iter().map(OfMethod::beyond_blind).fold(0.0, f64::max)
    }

    /// The attack with the greatest advantage over the baseline, if one has any.
    pub fn worst(&self) -> Option<&OfMethod> {
        let beats = self.attacks.iter().filter(|of| of.beyond_blind() > 0.0);
        beats.max_by(|a, b| a.beyond_blind().total_cmp(&b.beyond_blind()))
    }
}

impl OfMethod {
    /// Its advantage over the baseline, at the lower end of its interval.
    pub fn beyond_blind(&self) -> f64 {
        match (&self.score, &self.blind) {
            (Some(score), Some(blind)) if score.precision.of > 0 => score.precision.low - blind.precision,
            _ => 0.0,
        }
    }
}

impl Blind {
    fn new(score: &Score, eliminated: u64) -> Self {
        let share = |part: f64, all: u64| if all == 0 { 0.0 } else { part / all as f64 };
        let cells = score.added + score.original;
        let right = share(eliminated as f64 * score.added as f64, cells);
        Blind {
            precision: share(score.added as f64, cells),
            recall: share(right, score.added),
            f: share(2.0 * right, eliminated + score.added),
        }
    }
}
