//! Does a table hide what it says it hides? Rules from quasi-identifiers to sensitive values, all of them, counted from the rows.
//!
//! Paper:      Weijia, Shangteng: k-Anonymization without Q-S Associations, WAIM 2007, as nadimpalli2014 tells it
//! Promises:   every rule with the confidence and the support that are excluded is counted; with the original, that the labels of
//!             a class can stand for the values of its rows, column by column
//! Cost:       a pass over all rows for each set of quasi-identifiers
//! Checked by: `tests/it/break_merge.rs`

use std::collections::{BTreeSet, HashMap};

use super::TableRule;
use super::table::{Tally, shows};
use crate::data::Table;
use crate::data::table::Column;
use crate::release::generalized::Associations;
use crate::release::privacy_models::ROUNDING;

/// Counts every rule, for every set of quasi-identifiers.
pub(super) fn check_associations(rules: &Associations, table: &Table, tally: &mut Tally) {
    let (quasi, sensitive) = (table.quasi(), table.sensitive());
    let sound = rules.check(quasi.len());
    tally.check(TableRule::Promise, None, sound.is_ok(), || {
        sound.as_ref().err().map_or_else(String::new, |error| format!("rules cannot be excluded: {error}"))
    });
    if sound.is_err() {
        return;
    }
    for set in 1_u32..1 << quasi.len() {
        let chosen: Vec<&&Column> =
            quasi.iter().enumerate().filter(|(i, _)| set >> i & 1 == 1).map(|(_, c)| c).collect();
        let key = |row: usize| -> Vec<u32> { chosen.iter().map(|column| column.codes[row]).collect() };
        for column in &sensitive {
            let mut counts: HashMap<Vec<u32>, (u32, HashMap<u32, u32>)> = HashMap::new();
            for row in 0..table.n_rows() {
                let (size, values) = counts.entry(key(row)).or_default();
                *size += 1;
                *values.entry(column.codes[row]).or_default() += 1;
            }
            let is_rule = |size: u32, code: u32, count: u32| {
                count >= rules.support
                    && f64::from(count) >= (rules.confidence - ROUNDING) * f64::from(size)
                    && column.domain.text(code) != "*"
            };
            let of = |(size, values): &(u32, HashMap<u32, u32>)| {
                values.iter().filter(|(code, count)| is_rule(*size, **code, **count)).count()
            };
            let found: usize = counts.values().map(of).sum();
            tally.check(TableRule::Associations, None, found == 0, || {
                let names: Vec<&str> = chosen.iter().map(|column| column.name.as_str()).collect();
                format!("{found} rules lead from {} to {} as surely as is excluded", names.join(", "), column.name)
            });
        }
    }
}

/// Whether what a class shows of a column can stand for the values that its rows have: an assignment of the one to the other.
/// What texts stand for is nested or apart, so that it is enough to count: of what stands for no more than some text does, there
/// may not be more than rows that have such values.
pub(super) fn stands_for(column: &Column, original: &Column, published: &[u32], own: &[u32]) -> bool {
    let mut texts: HashMap<u32, u32> = HashMap::new();
    published.iter().for_each(|&row| *texts.entry(column.codes[row as usize]).or_default() += 1);
    let mut values: HashMap<u32, u32> = HashMap::new();
    own.iter().for_each(|&row| *values.entry(original.codes[row as usize]).or_default() += 1);
    let below = |code: u32| -> BTreeSet<u32> {
        let text = column.domain.text(code);
        values.keys().copied().filter(|&value| shows(text, &original.domain, value)).collect()
    };
    let sets: Vec<(BTreeSet<u32>, u32)> = texts.iter().map(|(&code, &count)| (below(code), count)).collect();
    let fits = |(set, _): &(BTreeSet<u32>, u32)| {
        let needed: u32 = sets.iter().filter(|(other, _)| other.is_subset(set)).map(|(_, count)| count).sum();
        needed <= set.iter().map(|value| values[value]).sum()
    };
    published.len() == own.len() && sets.iter().all(fits)
}
