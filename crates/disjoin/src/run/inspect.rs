//! `inspect`: who could be singled out in the data as it is?

use std::path::Path;

use serde::Serialize;

use super::Answer;
use crate::data::table;
use crate::error::Result;
use crate::inspect::{Column, Profile, Risk, Role, columns, profile, risk, table_risk};
use crate::memory::{Memory, read_file};
use crate::observer::{Observer, observed};
use crate::protect::disassociation::Params;
use crate::read::rows::Declared;
use crate::read::{Format, Intake, Options, Sources, read_sets, read_table_from};
use crate::report::{columns_text, count, inspect_page, inspect_table_page};

/// What is asked of the data.
#[derive(Debug, Clone)]
pub struct InspectOptions {
    /// How many records should share what is known.
    pub k: u32,
    /// How many terms of background knowledge an adversary has.
    pub m: u32,
    /// Of a table: the columns that others may know of a person.
    pub quasi: Vec<String>,
    /// How the data are read.
    pub input: Options,
}

/// What was found in sets of terms.
#[derive(Debug, Serialize)]
struct Report<'a> {
    input: &'a Intake,
    profile: &'a Profile,
    risk: &'a Risk,
    /// Records with a set of up to m terms that nobody else has.
    unique: u64,
    /// The columns, if the data is a table.
    columns: &'a [Column],
    suggestions: &'a [String],
}

/// Says who could be singled out in data as they are.
pub fn inspect(
    location: &Path,
    asked: &InspectOptions,
    sources: &dyn Sources,
    observer: &dyn Observer,
) -> Result<Answer> {
    observed(|| {
        Params::new(asked.k, asked.m).check()?;
        observer.stage("reading the data");
        match asked.quasi.is_empty() {
            true => sets(location, asked, sources, observer),
            false => rows(location, asked, sources, observer),
        }
    })
}

fn sets(location: &Path, asked: &InspectOptions, sources: &dyn Sources, observer: &dyn Observer) -> Result<Answer> {
    let seen = columns_of(location, &asked.input, observer.memory());
    let (data, input) =
        read_sets(location, &asked.input, sources, observer).map_err(|error| match seen.is_empty() {
            true => error,
            // Which column is meant may be what is missing.
            false => {
                let hint = error.hint().map_or(String::new(), |hint| format!("{hint}\n"));
                error.with_hint(format!("{hint}{}", columns_text(&seen)))
            }
        })?;
    // The first line of other formats is a record, not a heading.
    let is_table = matches!(input.format, Format::Table | Format::Long);
    let columns = if is_table { seen } else { Vec::new() };
    observer.stage("counting rare sets of terms");
    let (profile, found) = (profile(&data), risk(&data, asked.k, asked.m, observer));
    let unique = risk(&data, 2, asked.m, observer).at_risk;
    let suggestions = suggestions(&columns, &found);
    let page = inspect_page(&profile, &found, unique, &columns, &suggestions);
    let (input, columns) = (&input, &columns[..]);
    Answer::new(page, &Report { input, profile: &profile, risk: &found, unique, columns, suggestions: &suggestions })
}

/// Who could be singled out by the quasi-identifiers of a table?
fn rows(location: &Path, asked: &InspectOptions, sources: &dyn Sources, observer: &dyn Observer) -> Result<Answer> {
    let declared = Declared {
        roles: asked.quasi.iter().map(|name| (name.clone(), table::Role::Quasi)).collect(),
        // Nothing is published here: other columns need not be read.
        rest: Some(table::Role::Identifier),
        ..Declared::default()
    };
    let (rows, input) = read_table_from(location, &asked.input, &declared, sources, observer)?;
    observer.stage("counting rows with the same quasi-identifiers");
    let risk = table_risk(&rows, asked.k, observer);
    let page = inspect_table_page(&risk, &input.columns);
    Answer::new(page, &serde_json::json!({ "input": input, "risk": risk }))
}

/// The columns of a table; standard input can be read only once, and compressed files are not looked into.
fn columns_of(location: &Path, options: &Options, memory: Memory) -> Vec<Column> {
    let read = || read_file(location, "read", memory).unwrap_or_default();
    let bytes = if location == Path::new("-") { Vec::new() } else { read() };
    columns(&location.display().to_string(), &bytes, options)
}

/// What to do with what was found.
fn suggestions(columns: &[Column], risk: &Risk) -> Vec<String> {
    let mut told = Vec::new();
    for column in columns.iter().filter(|column| column.seems == Role::Identifier) {
        let name = &column.name;
        told.push(format!(
            "{name} has another value in every row: it is a direct identifier. disjoin does not publish it; nor should you"
        ));
    }
    let others = columns.iter().filter(|column| column.seems == Role::Other).count() as u64;
    if others > 0 {
        let others = count(others, "other column is", "other columns are");
        told.push(format!("{others} not read: only the list of terms is protected and published"));
    }
    let k = match risk.records {
        0..1_000 => 3,
        1_000..100_000 => 5,
        _ => 10,
    };
    told.push(format!(
        "k = {k} is a start for {}; 10 or more where anybody may read it",
        count(risk.records, "record", "records")
    ));
    if risk.at_risk > 0 {
        told.push(String::from("as it is, do not publish it: disjoin recipe new, then disjoin run"));
    }
    told
}
