//! Beliefs from a file of the user's own.
//!
//! ```text
//! sex,age,disease,share
//! F,30,flu,0.7
//! F,30,cold,0.3
//! ```
//!
//! The header names some of the quasi-identifiers, then the sensitive column, then `share`. Lines that are about nobody in the
//! table, or about values that nobody has, are left out; the shares that remain are scaled to sum to one.
//!
//! Assumes:    UTF-8, commas, quotes as in RFC 4180
//! Cost:       a pass over the file and one over the rows
//! Checked by: tests/it/background.rs

use std::collections::HashMap;
use std::path::Path;

use super::groups::Groups;
use crate::data::table::{Column, Domain};
use crate::error::{Error, Place, Result};
use crate::memory::open_file;

/// The last name in the header.
const SHARE: &str = "share";

/// What the file says of each group; none if it says nothing.
pub(super) fn estimate(
    groups: &Groups,
    quasi: &[&Column],
    sensitive: &Column,
    path: &Path,
) -> Result<Vec<Option<Vec<f64>>>> {
    let name = path.display().to_string();
    let file = open_file(path, "open")?;
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(file);
    let mut lines = reader.records();
    let header = match lines.next() {
        Some(header) => header.map_err(|error| refuse(&name, &error))?,
        None => return Err(Error::input(Place::file(name), "is empty: a header was expected")),
    };
    let header: Vec<&str> = header.iter().map(str::trim).collect();
    let columns = columns(&name, &header, quasi, sensitive)?;
    // For each combination of quasi-identifiers the weight of each value; below zero where no line gave one.
    let mut said: HashMap<Vec<u32>, Vec<f64>> = HashMap::new();
    for line in lines {
        let line = line.map_err(|error| refuse(&name, &error))?;
        let number = line.position().map_or(0, csv::Position::line);
        let place = |column: &str| Place::line(name.clone(), number).in_column(column);
        let cell = |at: usize| line.get(at).unwrap_or_default().trim();
        let weight = cell(header.len() - 1).parse::<f64>().ok().filter(|share| share.is_finite() && *share >= 0.0);
        let weight = weight.ok_or_else(|| Error::input(place(SHARE), "is not a number from 0 on"))?;
        let codes: Option<Vec<u32>> =
            columns.iter().enumerate().map(|(at, &column)| code(&quasi[column].domain, cell(at))).collect();
        let (Some(codes), Some(value)) = (codes, code(&sensitive.domain, cell(columns.len()))) else { continue };
        let weights = said.entry(codes).or_insert_with(|| vec![-1.0; groups.n_values()]);
        if weights[value as usize] >= 0.0 {
            let problem = "gives the share of a value for the second time";
            return Err(Error::input(place(&sensitive.name), problem));
        }
        weights[value as usize] = weight;
    }
    let believe = |group: usize| {
        let codes: Vec<u32> = columns.iter().map(|&column| groups.codes(group)[column]).collect();
        let weights = said.get(&codes)?;
        let most = weights.iter().copied().fold(0.0, f64::max);
        // By the greatest first, so that no sum overflows.
        let sum: f64 = weights.iter().map(|weight| weight.max(0.0) / most).sum();
        (most > 0.0).then(|| weights.iter().map(|weight| weight.max(0.0) / most / sum).collect())
    };
    Ok((0..groups.len()).map(believe).collect())
}

/// The quasi-identifiers that the header names, by their place among all.
fn columns(name: &str, header: &[&str], quasi: &[&Column], sensitive: &Column) -> Result<Vec<usize>> {
    let refuse = |column: &str, problem: &str| {
        let place = Place::line(name, 1).in_column(column);
        Err(Error::input(place, problem).with_hint("name quasi-identifiers, then the sensitive column, then share"))
    };
    let [known @ .., value, share] = header else {
        let problem = "has fewer than two columns in its header";
        return Err(Error::input(Place::line(name, 1), problem).with_hint("the last two are the value and its share"));
    };
    if *share != SHARE {
        return refuse(share, "is the last column, which must be called share");
    }
    if *value != sensitive.name {
        return refuse(value, "is the last column but one, which must be the first sensitive column");
    }
    let mut columns = Vec::new();
    for column in known {
        match quasi.iter().position(|quasi| quasi.name == *column) {
            None => return refuse(column, "is not a quasi-identifier of the table"),
            Some(at) if columns.contains(&at) => return refuse(column, "is named for the second time"),
            Some(at) => columns.push(at),
        }
    }
    Ok(columns)
}

/// The code of a cell; none if no row has this value.
fn code(domain: &Domain, cell: &str) -> Option<u32> {
    match domain.numbers() {
        _ if cell.is_empty() => Some(domain.missing()),
        None => domain.texts().get(cell),
        Some(numbers) => {
            let number: f64 = cell.parse().ok()?;
            numbers.binary_search_by(|other| other.total_cmp(&(number + 0.0))).ok().map(|at| at as u32)
        }
    }
}

/// A line that is not CSV. The reader's own words may hold values; the place is enough.
fn refuse(name: &str, error: &csv::Error) -> Error {
    let problem = match error.kind() {
        csv::ErrorKind::UnequalLengths { .. } => "has another number of cells than the header",
        csv::ErrorKind::Utf8 { .. } => "is not UTF-8",
        _ => "cannot be read as CSV",
    };
    let place = error.position().map_or_else(|| Place::file(name), |position| Place::line(name, position.line()));
    Error::input(place, problem)
}
