//! Break-Merge: the rows that show the same quasi-identifiers become a group, and each sensitive column a table of counts by
//! group.
//!
//! Paper:      nadimpalli2014, Algorithm 2 (also Varma, Kumari: BM, PASSAT 2011)
//! Promises:   every sensitive table satisfies the criteria in every group; nothing of a sensitive column is lost but which of
//!             its values goes with which of another
//! Assumes:    classes of any tabular method, or a table that is anonymous already: then rows with the same quasi-identifiers
//!             are groups as they are (`identical_rows`; `tabular::settle_counts` where only counts are kept)
//! Departs:    the paper compares neighbouring rows and so needs them sorted, its counter ends one too high, and the last group
//!             is empty: here rows are found wherever they stand. Groups are numbered by what they show, not by appearance
//! Cost:       O(n (|QI| + |SA|)), and sorting the groups
//! Checked by: `tests/it/break_merge.rs`: tables IX to XII of the paper, and brute force

use super::tabular::{Params, settle_classes};
use crate::data::class_counts::refine;
use crate::data::{Partition, Table};
use crate::error::Result;
use crate::release::split::Split;

/// Splits a table whose rows are in classes.
pub fn break_merge<'a>(table: &'a Table, classes: &Partition) -> Result<Split<'a>> {
    Split::of_classes(table, classes)
}

/// Rows with the same quasi-identifiers as classes. Those that fail the criteria are removed, as far as that is allowed; the
/// method of `params` does not matter.
pub fn identical_rows(table: &Table, params: &Params) -> Result<Partition> {
    settle_classes(table, params, by_tuple(table))
}

/// Rows with the same quasi-identifiers, in order of first appearance.
fn by_tuple(table: &Table) -> Partition {
    let quasi = table.quasi();
    let mut groups = vec![0_u32; table.n_rows()];
    let mut n_groups = usize::from(table.n_rows() > 0);
    for column in &quasi {
        n_groups = refine(&mut groups, n_groups, &column.codes, column.domain.n_codes());
    }
    let mut ends = vec![0_usize; n_groups];
    groups.iter().for_each(|&group| ends[group as usize] += 1);
    let mut sum = 0;
    for end in &mut ends {
        sum += std::mem::replace(end, sum);
    }
    // Each end is now where its group begins, and grows to where it ends.
    let mut rows = vec![0; table.n_rows()];
    for (&group, row) in groups.iter().zip(0..) {
        rows[ends[group as usize]] = row;
        ends[group as usize] += 1;
    }
    let mut partition = Partition::from_parts(rows, ends, Vec::new());
    // Values are published as they are: nobody has to look for a cell that covers them.
    partition.levels = Some(vec![0; quasi.len()]);
    partition
}
