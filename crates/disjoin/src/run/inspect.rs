//! `inspect`: who could be singled out in the data as it is?

use std::path::Path;

use serde::Serialize;

use super::Answer;
use crate::data::{Evidence, Visits, table};
use crate::error::Result;
use crate::inspect::{
    ColumnProfile, Profile, Profiler, Risk, Suggested, TableProfile, people_at_risk, profile, risk, table_risk,
};
use crate::location::scheme;
use crate::observer::{Observer, observed};
use crate::protect::disassociation::Params;
use crate::read::rows::{Declared, Shape, scan_table, shape_of};
use crate::read::{Format, Intake, Options, Sources, read_sets, read_table_from};
use crate::report::{CountedPeople, columns_page, count, inspect_page, inspect_table_page, people_line};

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
    columns: &'a [ColumnProfile],
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
        if !asked.quasi.is_empty() {
            return rows(location, asked, sources, observer);
        }
        match looked(location, &asked.input, sources, observer)? {
            Look::Table(found) => {
                let page = columns_page(&found, &location.to_string_lossy());
                Answer::new(page, &found)
            }
            Look::Sets => sets(location, asked, sources, observer),
        }
    })
}

/// What a location seems to hold.
#[derive(Debug)]
pub enum Look {
    /// Records of terms.
    Sets,
    /// A table, and what was found in its columns.
    Table(TableProfile),
}

/// Looks at data of which nobody said what they are: a table is profiled column by column, in one pass.
pub fn look(location: &Path, options: &Options, sources: &dyn Sources, observer: &dyn Observer) -> Result<Look> {
    observed(|| {
        observer.stage("looking at the data");
        looked(location, options, sources, observer)
    })
}

fn looked(location: &Path, options: &Options, sources: &dyn Sources, observer: &dyn Observer) -> Result<Look> {
    Ok(match shape_of(location, options, sources, observer)? {
        Shape::Sets => Look::Sets,
        Shape::Table => Look::Table(profiled(location, options, sources, observer)?),
    })
}

fn profiled(
    location: &Path,
    options: &Options,
    sources: &dyn Sources,
    observer: &dyn Observer,
) -> Result<TableProfile> {
    let mut profiler = Profiler::default();
    scan_table(location, options, sources, observer, &mut |seen| profiler.see(seen))?;
    Ok(profiler.finish())
}

fn sets(location: &Path, asked: &InspectOptions, sources: &dyn Sources, observer: &dyn Observer) -> Result<Answer> {
    // Whatever becomes of them later: risk is that of people.
    let options = Options { visits: Visits::Together, ..asked.input.clone() };
    let (data, input) = read_sets(location, &options, sources, observer)?;
    // The first line of other formats is a record, not a heading; standard input can be read only once.
    let is_table = matches!(input.format, Format::Table | Format::Long);
    let is_again = location != Path::new("-") && scheme(&location.to_string_lossy()).is_none();
    let columns = match is_table && is_again {
        true => {
            let options = Options { format: Some(Format::Table), ..asked.input.clone() };
            // What cannot be profiled, as a column without a name, was read all the same.
            profiled(location, &options, sources, observer).map(|found| found.columns).unwrap_or_default()
        }
        false => Vec::new(),
    };
    observer.stage("counting rare sets of terms");
    let (profile, found) = (profile(&data), risk(&data, asked.k, asked.m, observer));
    let unique = risk(&data, 2, asked.m, observer).at_risk;
    let mut suggestions = suggestions(&columns, &found);
    suggestions.extend(input.people.as_ref().map(|people| format!("counted are people: {}", people_line(people))));
    suggestions.extend(input.several.iter().map(Evidence::text));
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
        person: asked.input.person.clone(),
        visits: Visits::Apart,
        ..Declared::default()
    };
    let (rows, input) = read_table_from(location, &asked.input, &declared, sources, observer)?;
    observer.stage("counting rows with the same quasi-identifiers");
    let risk = table_risk(&rows, asked.k, observer);
    let people = input.people.as_ref().map(|people| CountedPeople {
        column: people.column.clone(),
        people: people.people,
        rows: people.rows,
        most_rows: people.most_rows,
        k: asked.k,
        at_risk: people_at_risk(&rows, &people.of_row, asked.k, observer),
        unique: people_at_risk(&rows, &people.of_row, 2, observer),
    });
    let page = inspect_table_page(&risk, &input.columns, people.as_ref());
    let mut json = serde_json::json!({ "input": input, "risk": risk });
    if let Some(people) = &people {
        json["people"] = super::forms::value(people)?;
    }
    Answer::new(page, &json)
}

/// What to do with what was found.
fn suggestions(columns: &[ColumnProfile], risk: &Risk) -> Vec<String> {
    let mut told = Vec::new();
    let is_identifier = |column: &&ColumnProfile| column.suggestion.role == Some(Suggested::Identifier);
    for ColumnProfile { name, suggestion, .. } in columns.iter().filter(is_identifier) {
        told.push(format!(
            "{name} is best left out: {}. disjoin does not publish it; nor should you",
            suggestion.reason
        ));
    }
    let is_other =
        |column: &&ColumnProfile| !matches!(column.suggestion.role, Some(Suggested::Identifier | Suggested::Set));
    let others = columns.iter().filter(is_other).count() as u64;
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
