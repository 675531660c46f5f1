//! How useful is a split table? What its quasi-identifiers lost, and what is lost of how sensitive values go together.
//!
//! Checked by: `tests/it/break_merge.rs`

use serde::Serialize;

use super::joint::{JointLoss, joint_loss};
use super::table::{TableOptions, TableReport, measure_table};
use crate::data::{Partition, Table};

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SplitReport {
    /// Rows of the original.
    pub rows: u64,
    /// Rows that are published.
    pub published: u64,
    /// Rows that are not.
    pub removed: u64,
    /// Groups.
    pub groups: u64,
    /// How far sensitive values together are from what their tables suggest.
    pub joint: JointLoss,
    /// What quasi-identifiers lost; none if they stand as they were. Its queries also ask about quasi-identifiers alone.
    pub quasi: Option<TableReport>,
}

/// Compares a split table with its original; `groups` are in the order of the release.
pub fn measure_split(table: &Table, groups: &Partition, is_exact: bool, options: &TableOptions) -> SplitReport {
    SplitReport {
        rows: table.n_rows() as u64,
        published: groups.n_published() as u64,
        removed: table.n_rows().saturating_sub(groups.n_published()) as u64,
        groups: groups.len() as u64,
        joint: joint_loss(table, groups),
        quasi: (!is_exact).then(|| measure_table(table, groups, options)),
    }
}
