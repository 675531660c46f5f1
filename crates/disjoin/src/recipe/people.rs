//! What goes with several rows a person, and what does not.
//!
//! Promises:   a combination that cannot be promised is refused by name, before data are read
//! Checked by: `tests/it/person.rs`: every method of the registry accepts people, or is refused here

use super::table::Written;
use super::{Method, Shape};
use crate::data::Visits;
use crate::error::{Error, Result};
use crate::read::Options;
use crate::release::Form;

/// Refuses what cannot be counted by people.
pub(super) fn check(input: &Options, method: Method, table: Option<&Written>) -> Result<()> {
    if method.entry().takes() == Shape::Table && input.id_column.is_some() {
        let problem = "is for sets of terms; columns of a table that name people are identifiers";
        return Err(Error::recipe("input.id_column", problem, "name the column of people with --person"));
    }
    let is_named = input.person.is_some() || (input.column.is_some() && input.id_column.is_some());
    if !is_named && !input.visits.is_usual() {
        let problem = "says what becomes of several rows of a person, and no column names people";
        return Err(Error::recipe("input.visits", problem, "name the column: --person COLUMN"));
    }
    if is_named && table.is_some_and(|table| table.as_is) {
        let problem = "leaves groups as they are, counted by rows and not by people";
        return Err(Error::recipe("table.as_is", problem, "leave it out, so that a method makes groups of people"));
    }
    match input.visits {
        Visits::Apart => refuse_apart(method, table),
        Visits::Together | Visits::First => Ok(()),
    }
}

/// Rows can stay apart where the data can be dealt into layers, each protected by itself.
fn refuse_apart(method: Method, table: Option<&Written>) -> Result<()> {
    let refuse = |why: &str| {
        let problem = format!("rows of a person cannot stay apart: {why}");
        let hint = "leave it out, so that rows of a person become one record, or use the first row of each person";
        Err(Error::recipe("input.visits", problem, hint))
    };
    match (method, method.entry().form) {
        (_, Form::Recoded) => refuse(&format!("{} counts in how many records items are, of all layers", method.name())),
        (_, Form::Noisy) => refuse(&format!("the noise of {} is for one record a person", method.name())),
        (_, Form::Split) => {
            refuse(&format!("{} publishes groups, and one person may be in one group twice", method.name()))
        }
        (Method::Lattice, _) => refuse("lattice has one level of generalisation for all rows"),
        (Method::AssociationHiding, _) => refuse("association-hiding counts rules over rows"),
        _ if table.is_some_and(|table| table.set.is_some()) => {
            refuse("sets are cut inside classes, where a person may be twice")
        }
        _ if table.is_some_and(|table| table.criteria.background.is_some()) => {
            refuse("beliefs about rows of one class need not agree, though those of its parts do")
        }
        _ => Ok(()),
    }
}
