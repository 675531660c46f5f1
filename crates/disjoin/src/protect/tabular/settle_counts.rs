//! The last look at groups of which only counts are kept: `settle` for rows that are published as they are.
//!
//! Promises:   what is left is what `settle` leaves of the same rows: every group satisfies all criteria over the rows that are
//!             published in the end. Of a group that limits on shares would not let pass, the rows that come first go
//! Assumes:    the rows of a group are alike in all quasi-identifiers: no cell has to be found that covers them, nothing is
//!             merged, and none of them stands apart
//! Cost:       a round looks at every group's counts, on all cores; memory for the counts of one group a core
//! Checked by: `streams_are_what_is_in_memory` in `tests/it/break_merge.rs`

use std::collections::HashMap;

use rayon::prelude::*;

use super::Params;
use super::settle::{feasible, too_many_removed};
use super::trim::{fitting, most};
use crate::data::Counted;
use crate::data::table::Role;
use crate::error::{Error, Result};
use crate::release::privacy_models::{Criterion, Histogram, Judge};

/// How many rows with a sensitive value, by group and code, are taken out of groups that stay.
pub type Taken = HashMap<(u32, u32), u32>;

/// Takes rows out of groups, or all of them, until every group holds, and refuses if more than the allowed share is lost.
pub fn settle_counts(counted: &mut Counted, params: &Params) -> Result<Taken> {
    if params.criteria.iter().any(|criterion| matches!(criterion, Criterion::Background { .. })) {
        return Err(Error::Internal("a limit on beliefs came without beliefs"));
    }
    let n_rows = counted.n_rows();
    let frame = counted.columns.clone();
    let empty = Judge::of_total(&params.criteria, &frame, Histogram::default())?.empty();
    let all = total(counted, &empty);
    let mut judge = Judge::of_total(&params.criteria, &frame, all.clone())?;
    feasible(&judge, &all, frame.quasi().len())?;
    let mut taken = Taken::new();
    loop {
        let failing: Vec<usize> = (0..counted.n_groups())
            .into_par_iter()
            .filter(|&group| counted.size(group) > 0)
            .filter(|&group| counted.size(group) < judge.k() || !judge.holds(&histogram(counted, group, &empty)))
            .collect();
        if failing.is_empty() {
            let left = total(counted, &empty).size;
            let removed = n_rows - u64::from(left);
            return match left == 0 || removed as f64 / n_rows.max(1) as f64 > params.most_removed {
                true => Err(too_many_removed(&params.criteria, removed, n_rows, params.most_removed)),
                false => Ok(taken),
            };
        }
        for group in failing {
            let before = histogram(counted, group, &empty);
            let fitting = fitting(&judge, &before);
            if let Some(caps) = judge.caps().filter(|_| fitting > 0 && fitting < before.size) {
                let over = |code: u32| before.counts[code as usize].saturating_sub(most(caps[code as usize], fitting));
                counted.take(group, over);
                if judge.holds(&histogram(counted, group, &empty)) {
                    for &(code, _) in counted.values(group, 0) {
                        *taken.entry((group as u32, code)).or_default() += over(code);
                    }
                    continue;
                }
            }
            // Nothing that is left of it holds.
            counted.empty(group);
        }
        judge = Judge::of_total(&params.criteria, &frame, total(counted, &empty))?;
    }
}

/// The counts of all rows that are left.
fn total(counted: &Counted, empty: &Histogram) -> Histogram {
    let mut all = empty.clone();
    for group in 0..counted.n_groups() {
        add(counted, group, &mut all);
    }
    all
}

fn histogram(counted: &Counted, group: usize, empty: &Histogram) -> Histogram {
    let mut counts = empty.clone();
    add(counted, group, &mut counts);
    counts
}

fn add(counted: &Counted, group: usize, to: &mut Histogram) {
    to.size += counted.size(group);
    let mut offset = 0;
    for (at, column) in counted.columns.with_role(Role::Sensitive).enumerate() {
        for &(code, count) in counted.values(group, at) {
            to.counts[offset + code as usize] += count;
        }
        offset += column.domain.n_codes();
    }
}
