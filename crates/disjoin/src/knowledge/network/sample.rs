//! Draws rows from a network: each node after its parents.
//!
//! Paper:      none of its own; ancestral sampling
//! Promises:   the same rows for any number of threads: every block of rows has its own stream
//! Cost:       rows times nodes, each a look into a table; blocks are shared by all cores
//! Checked by: tests/it/network.rs: shares near the network's, and the same rows on one thread

use rand::RngExt;
use rayon::prelude::*;

use super::cpt::Fitted;
use crate::generate::stream;

/// Rows in one block; it is part of what a seed means.
const BLOCK: usize = 4096;

/// Draws rows; returns the codes of each node.
pub fn sample(fitted: &Fitted, n_rows: usize, seed: u64) -> Vec<Vec<u32>> {
    let n = fitted.network().n_nodes();
    let order = fitted.network().order();
    let draw = |block: usize| {
        let mut rng = stream(seed, "network/sample", block as u64);
        let len = BLOCK.min(n_rows - block * BLOCK);
        let mut columns = vec![Vec::with_capacity(len); n];
        let mut configuration = Vec::new();
        for row in 0..len {
            for &node in &order {
                configuration.clear();
                configuration.extend(fitted.network().parents(node).iter().map(|&parent| columns[parent][row]));
                let value = fitted.table(node).draw(&configuration, rng.random());
                columns[node].push(value);
            }
        }
        columns
    };
    let blocks: Vec<Vec<Vec<u32>>> = (0..n_rows.div_ceil(BLOCK)).into_par_iter().map(draw).collect();
    (0..n).map(|node| blocks.iter().flat_map(|block| block[node].iter().copied()).collect()).collect()
}
