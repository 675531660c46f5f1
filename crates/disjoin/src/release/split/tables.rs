//! What everybody sees of a split table: who is in which group, and how often a group has each value.

use crate::data::Table;
use crate::data::table::Domain;

/// A split table as its files hold it. What is in it is not checked: that is for `verify`.
#[derive(Debug, Clone)]
pub struct SplitTables {
    /// The quasi-identifiers as they are published, a row for each person in the order of quasi.csv.
    pub quasi: Table,
    /// The group of each row, counted from 0.
    pub group_of: Vec<u32>,
    /// The sensitive tables, in the order of the claim.
    pub sensitive: Vec<Values>,
}

/// The table of a sensitive column.
#[derive(Debug, Clone)]
pub struct Values {
    /// The column.
    pub column: String,
    /// Its values.
    pub domain: Domain,
    /// Its lines, in the order of the file.
    pub counts: Vec<Count>,
}

/// A line of a sensitive table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Count {
    /// The group, counted from 0.
    pub group: u32,
    /// The code of the value.
    pub code: u32,
    /// How often the group has it.
    pub count: u32,
}

impl SplitTables {
    /// The number of groups in quasi.csv: its highest number.
    pub fn n_groups(&self) -> usize {
        self.group_of.iter().max().map_or(0, |&last| last as usize + 1)
    }

    /// How many rows each group has.
    pub fn sizes(&self) -> Vec<u32> {
        let mut sizes = vec![0; self.n_groups()];
        self.group_of.iter().for_each(|&group| sizes[group as usize] += 1);
        sizes
    }
}
