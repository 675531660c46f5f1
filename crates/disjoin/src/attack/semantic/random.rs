//! The random attack: every member of every record is taken for added by the toss of a coin.
//!
//! Paper:      shao2017, section 6.2 (RA)
//! Promises:   no record is left without a member
//! Assumes:    nothing: it is what the other attacks are measured against
//! Departs:    the paper does not say how likely a member is eliminated: one half. If all of a record would go, one that is
//!             drawn stays
//! Cost:       one draw a cell
//! Checked by: tests/it/semantic.rs

use rand::RngExt;

use super::{Step, Table, Trace};
use crate::generate::stream;

/// How likely a member is taken for added.
const LIKELY: f64 = 0.5;

/// Eliminates by chance. `table_number` keeps the draws of tables apart.
pub fn random(table: &Table, seed: u64, table_number: u64) -> Trace {
    let mut rng = stream(seed, "attack/semantic/random", table_number);
    let mut trace = Trace::new(LIKELY);
    for row in 0..table.n_rows() {
        let mut gone: Vec<usize> = (0..table.n_columns()).filter(|_| rng.random_bool(LIKELY)).collect();
        if gone.len() == table.n_columns() {
            gone.remove(rng.random_range(0..gone.len()));
        }
        trace.steps.extend(gone.into_iter().map(|column| Step { row, column, score: LIKELY }));
    }
    trace
}
