//! A table that could have been split into a release: the values of each group assigned to its rows at random, column by column.
//!
//! Paper:      nadimpalli2014, the merge of Break-Merge: every combination of a group's values is possible
//! Promises:   all assignments consistent with the release are equally likely, so that inside a group columns are independent;
//!             the table has the rows, groups and counts of the release. The same for any number of threads
//! Assumes:    counts that add up to the sizes of groups; others are refused
//! Departs:    the natural join has a row for each combination; one draw has as many rows as there are people, so that
//!             whoever counts in it is as unsure as with a table
//! Cost:       linear in the rows, for each column
//! Checked by: tests/it/survive.rs, against all assignments

use rand::seq::SliceRandom;
use rayon::prelude::*;

use crate::data::Table;
use crate::data::table::{Column, Role};
use crate::error::{Error, Place, Result};
use crate::generate::stream;
use crate::release::split::{SplitTables, Values};

/// Draws a table: quasi-identifiers in the order of quasi.csv, and the sensitive columns.
pub fn deal(tables: &SplitTables, seed: u64) -> Result<Table> {
    let rows_of = rows_of_groups(tables);
    let column = |(at, values): (usize, &Values)| deal_column(values, &rows_of, tables.quasi.n_rows(), seed, at as u64);
    let sensitive = tables.sensitive.par_iter().enumerate().map(column).collect::<Result<Vec<Column>>>()?;
    let columns = tables.quasi.columns.iter().cloned().chain(sensitive).collect();
    Ok(Table::new(tables.quasi.n_rows(), columns, None))
}

/// The rows of each group.
fn rows_of_groups(tables: &SplitTables) -> Vec<Vec<u32>> {
    let mut rows_of: Vec<Vec<u32>> = tables.sizes().iter().map(|&size| Vec::with_capacity(size as usize)).collect();
    tables.group_of.iter().zip(0..).for_each(|(&group, row)| rows_of[group as usize].push(row));
    rows_of
}

fn deal_column(values: &Values, rows_of: &[Vec<u32>], n_rows: usize, seed: u64, at: u64) -> Result<Column> {
    let mut of_group: Vec<Vec<u32>> = rows_of.iter().map(|rows| Vec::with_capacity(rows.len())).collect();
    let wrong = || {
        let place = Place::file("the release").in_column(&values.column);
        Error::input(place, "the counts of the groups do not add up to their sizes")
            .with_hint("disjoin verify shows where")
    };
    for line in &values.counts {
        let group = line.group as usize;
        let room = rows_of.get(group).ok_or_else(wrong)?.len() - of_group[group].len();
        if line.count as usize > room {
            return Err(wrong());
        }
        of_group[group].extend(std::iter::repeat_n(line.code, line.count as usize));
    }
    let mut rng = stream(seed, "reconstruct/dealt", at);
    let mut codes = vec![0; n_rows];
    for (rows, mut dealt) in rows_of.iter().zip(of_group) {
        if rows.len() != dealt.len() {
            return Err(wrong());
        }
        dealt.shuffle(&mut rng);
        rows.iter().zip(dealt).for_each(|(&row, code)| codes[row as usize] = code);
    }
    Ok(Column { name: values.column.clone(), role: Role::Sensitive, domain: values.domain.clone(), codes })
}
