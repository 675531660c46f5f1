//! What a split table gives up: how far the sensitive values of a group, taken together, are from what its tables suggest.
//!
//! TV(G) = 1/2 sum over combinations v of | share of v in G - product over columns i of the share of v_i in G |
//!
//! Paper:      ours, for nadimpalli2014 (Break-Merge loses nothing of a column by itself, and which values go together)
//! Promises:   the total variation between the true joint distribution of the sensitive columns and the product of their
//!             marginals, in every group: 0 if they are independent there, or there is one column only
//! Cost:       sorting the rows of each group: combinations that no row has are not looked at
//! Checked by: `tests/it/break_merge.rs`, against all combinations

use std::cmp::Ordering;

use rayon::prelude::*;
use serde::Serialize;

use crate::data::table::Column;
use crate::data::{Partition, Table};

/// How far joint distributions are from the product of their marginals.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct JointLoss {
    /// The mean over rows.
    pub mean: f64,
    /// The worst group.
    pub worst: f64,
    /// Its number, counted from 1; none if nothing is published.
    pub worst_group: Option<u64>,
    /// The share of rows in groups where nothing is lost.
    pub exact_rows: f64,
}

/// What is lost of the joint distribution of the sensitive columns, over groups in the order in which they are published.
pub fn joint_loss(table: &Table, groups: &Partition) -> JointLoss {
    let columns = table.sensitive();
    let distances: Vec<f64> =
        (0..groups.len()).into_par_iter().map(|group| distance(&columns, groups.class(group))).collect();
    let mut loss = JointLoss::default();
    let (mut sum, mut exact) = (0.0, 0_usize);
    for (group, &distance) in distances.iter().enumerate() {
        let size = groups.class(group).len();
        sum += size as f64 * distance;
        exact += if distance == 0.0 { size } else { 0 };
        if loss.worst_group.is_none() || distance > loss.worst {
            (loss.worst, loss.worst_group) = (distance, Some(group as u64 + 1));
        }
    }
    let rows = groups.n_published().max(1) as f64;
    JointLoss { mean: sum / rows, exact_rows: exact as f64 / rows, ..loss }
}

/// TV(G) of one group.
fn distance(columns: &[&Column], rows: &[u32]) -> f64 {
    if columns.len() < 2 {
        return 0.0;
    }
    let code = |column: &Column, row: u32| column.codes[row as usize];
    let size = rows.len() as f64;
    let mut shares: Vec<Vec<(u32, f64)>> = Vec::with_capacity(columns.len());
    for column in columns {
        let mut codes: Vec<u32> = rows.iter().map(|&row| code(column, row)).collect();
        codes.sort_unstable();
        shares.push(codes.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as f64 / size)).collect());
    }
    let share = |place: usize, code: u32| {
        let found = shares[place].binary_search_by_key(&code, |&(code, _)| code);
        found.map_or(0.0, |at| shares[place][at].1)
    };
    let mut sorted = rows.to_vec();
    let compare = |a: u32, b: u32| {
        columns.iter().map(|column| code(column, a).cmp(&code(column, b))).fold(Ordering::Equal, Ordering::then)
    };
    sorted.sort_unstable_by(|&a, &b| compare(a, b));
    // Combinations that no row has differ by their product: together, by what the products of the others leave of 1.
    let (mut sum, mut left) = (0.0, 1.0);
    for same in sorted.chunk_by(|&a, &b| compare(a, b) == Ordering::Equal) {
        let product: f64 = columns.iter().enumerate().map(|(i, column)| share(i, code(column, same[0]))).product();
        sum += (same.len() as f64 / size - product).abs();
        left -= product;
    }
    let distance = (sum + f64::max(left, 0.0)) / 2.0;
    // What is left of rounding is nothing.
    if distance < 1e-12 { 0.0 } else { distance }
}
