//! Pairs of terms that a single refusal keeps below k: what the cover problem shows, and more.
//!
//! The cover problem asks that a term is covered by all terms that are at least as frequent. Those that cannot have been
//! the reason for a refusal need not be covered, and what holds for a term holds for those that never come without it.
//!
//! Paper:      ours, after barakat2016: see `reconstruct/aware/closure.rs`
//! Promises:   no cluster cut by VERPART has k records or more with the terms of a finding
//! Assumes:    the order of `order.rs`; clusters of up to 1024 records: nothing is found in larger ones
//! Cost:       that of `reconstruct::aware::closed_pairs` for each cluster
//! Checked by: tests/it/attack.rs; tests/it/aware.rs, against all worlds of small clusters

use rayon::prelude::*;

use super::worlds::{Leaf, finding};
use super::{Attack, Coverage, Finding, Findings, Says, View};
use crate::reconstruct::aware::closed_pairs;

/// Looks at each refusal by itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct Closure;

impl Attack for Closure {
    fn name(&self) -> &'static str {
        "closure"
    }

    fn run(&self, view: &View<'_>) -> Findings {
        let leaves = Leaf::all(view.release);
        let of_leaf = |(number, leaf): (usize, &Leaf<'_>)| -> Vec<Finding> {
            view.observer.check();
            let pairs = leaf.cut(view).map_or_else(Vec::new, |cut| closed_pairs(&cut));
            let known = pairs.into_iter().filter(|breach| view.knowledge.has(&breach.terms));
            let mut found: Vec<Finding> = known.map(|breach| finding(number, breach)).collect();
            found.sort_by(|a, b| a.terms.cmp(&b.terms));
            found
        };
        let found: Vec<Vec<Finding>> = leaves.par_iter().enumerate().map(of_leaf).collect();
        // Refusals together may say more than each does: only where nothing was refused, nothing is left to find.
        let open = leaves.iter().filter(|leaf| leaf.simple.record_chunks.len() > 1).count() as u64;
        let clusters = leaves.len() as u64;
        let coverage = Coverage { clusters, proved: clusters - open, open };
        Findings { attack: self.name(), says: Says::FewerThanK, found: found.concat(), coverage }
    }
}
