//! Whose rows were read: what is counted by people, and what is said where nobody is counted.
//!
//! Checked by: `tests/it/person.rs`, `crates/disjoin-cli/tests/it/person.rs`

use crate::data::{Dataset, People, Table, Visits};
use crate::inspect::{same_records, same_rows};
use crate::read::rows::TableIntake;
use crate::read::{Format, Intake};

/// Whose rows they are, if rows of a person stay apart.
pub(super) fn apart(people: Option<&People>) -> Option<&People> {
    people.filter(|people| people.visits == Visits::Apart)
}

/// Sets of which rows beyond the last layer of k people have joined others, if rows stay apart.
pub(super) fn join_beyond(data: Dataset, intake: &mut Intake, k: u32) -> Dataset {
    let Some(people) = intake.people.as_mut().filter(|people| people.visits == Visits::Apart) else { return data };
    let data = people.join_beyond(data, k);
    intake.records = data.records.len() as u64;
    data
}

/// Looks for records that are the same, if nobody said whose they are.
pub(super) fn look_for_repeated_records(data: &Dataset, intake: &mut Intake) {
    // The long format names who has what.
    if intake.people.is_none() && intake.format != Format::Long {
        intake.several.extend(same_records(data));
    }
}

/// The same for rows of a table.
pub(super) fn look_for_repeated_rows(table: &Table, intake: &mut TableIntake) {
    if intake.people.is_none() {
        intake.several.extend(same_rows(table));
    }
}
