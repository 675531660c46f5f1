//! May a column be published as it is? Near-unique values lead to people who are known to have them, and sentences may name anybody: both
//! are refused until somebody confirms them.
//!
//! Promises:   looks at every sensitive and insensitive attribute of a table before anything is made of it; an error says how many rows are
//!             meant, and shows no value
//! Assumes:    sensitive attributes may be near-unique, for their criteria limit what is learned; they may not be free text
//! Cost:       one pass over the codes of those columns
//! Checked by: `tests/it/roles/published.rs`

use super::profile::{is_free_text, is_near_unique};
use crate::data::table::{Column, Role};
use crate::error::{Error, Place, Result};
use crate::read::rows::Declared;

/// Refuses columns that would be published as they are and should not, unless they were confirmed. `n_rows` are those of columns
/// whose rows are not kept.
pub fn refuse_revealing(columns: &[Column], n_rows: u64, declared: &Declared, file: &str) -> Result<()> {
    let is_asked = |column: &&Column| {
        matches!(column.role, Role::Other | Role::Sensitive) && !declared.publish_as_is.contains(&column.name)
    };
    for column in columns.iter().filter(is_asked) {
        let counted = Counted::of(column, n_rows);
        let Some(problem) = counted.problem(column) else { continue };
        let name = &column.name;
        return Err(Error::input(Place::file(file).in_column(name), problem).with_hint(format!(
            "give it another role: identifier (it is left out) or quasi (it is generalised); if it may be published as it is, confirm it: \
             --publish-as-is {name}, or publish_as_is = [\"{name}\"] under [table] of a recipe"
        )));
    }
    Ok(())
}

struct Counted {
    filled: u64,
    distinct: u64,
    own: u64,
}

impl Counted {
    fn of(column: &Column, n_rows: u64) -> Self {
        let distinct = column.domain.n_values() as u64;
        if column.codes.is_empty() {
            return Counted { filled: n_rows, distinct, own: 0 };
        }
        let mut rows = vec![0_u32; column.domain.n_codes()];
        column.codes.iter().for_each(|&code| rows[code as usize] += 1);
        let missing = rows.pop().unwrap_or_default();
        let own = rows.iter().filter(|rows| **rows == 1).count() as u64;
        Counted { filled: column.codes.len() as u64 - u64::from(missing), distinct, own }
    }

    fn problem(&self, column: &Column) -> Option<String> {
        let Counted { filled, distinct, own } = *self;
        let words: u64 = column.domain.texts().iter().map(|text| text.split_whitespace().count() as u64).sum();
        // Of sentences hardly any comes twice: the mean over different ones is that over all.
        if column.domain.numbers().is_none() && is_free_text(filled, distinct, words * filled / distinct.max(1)) {
            return Some(format!(
                "is free text that would be published as it is: {distinct} different texts in {filled} rows, of {} words on average",
                words / distinct.max(1)
            ));
        }
        let is_insensitive = column.role == Role::Other;
        (is_insensitive && is_near_unique(filled, distinct, own)).then(|| {
            format!(
                "is near-unique, and would be published as it is: {own} of {filled} rows have a value that no other row has, and there \
                 are {distinct} different values"
            )
        })
    }
}
