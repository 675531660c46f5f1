//! Where data come from: files, and whatever else gives rows of texts (databases, frames).
//!
//! Promises:   data are read in the same way wherever they come from; rows have a digest as files have, so that the same rows
//!             are known again
//! Departs:    tables in databases are read whole before they are counted
//! Checked by: tests in this file, `crates/disjoin-databases/tests`

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest, Sha256};

use super::reading::Reading;
use super::records::sets_of_rows_with;
use super::rows::{
    Declared, RowLog, Streamed, TableIntake, count_rows, count_table, read_table_file, table_of_rows_with,
};
use super::wide::shaped;
use super::{Format, Intake, Options, hexadecimal, read_file};
use crate::data::{Dataset, Table};
use crate::error::{Error, Place, Result};
use crate::location::scheme;
use crate::observer::Observer;

/// A row: the text of each cell, none where there is no value.
pub type Row = Vec<Option<String>>;

/// A table of texts, row by row.
pub struct Rows<'a> {
    /// How to speak of it: never with a password.
    pub name: String,
    /// The names of its columns.
    pub header: Vec<String>,
    /// The positions of columns that are arrays by their type. Their cells are written as PostgreSQL does: `{a,"b c"}`.
    pub arrays: Vec<usize>,
    /// Its rows, each as long as the header.
    pub rows: Box<dyn Iterator<Item = Result<Row>> + Send + 'a>,
    /// What they come from.
    pub format: Format,
    /// What is found out on the way.
    pub told: Told,
}

/// What whoever makes rows finds out while they are taken: the line of the last one, and what was repaired.
#[derive(Debug, Clone, Default)]
pub struct Told {
    shared: Arc<(AtomicU64, Mutex<Reading>)>,
}

impl Told {
    /// The next row stands in this line.
    pub(super) fn at_line(&self, line: u64) {
        self.shared.0.store(line, Ordering::Relaxed);
    }

    /// The line of the last row; 0 if rows have none.
    pub(super) fn line(&self) -> u64 {
        self.shared.0.load(Ordering::Relaxed)
    }

    pub(super) fn note(&self, change: impl FnOnce(&mut Reading)) {
        change(&mut self.shared.1.lock().unwrap_or_else(PoisonError::into_inner));
    }

    pub(super) fn reading(&self) -> Reading {
        self.shared.1.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl<'a> Rows<'a> {
    /// Rows without arrays.
    pub fn new(
        name: impl Into<String>,
        header: Vec<String>,
        rows: impl Iterator<Item = Result<Row>> + Send + 'a,
    ) -> Self {
        let (arrays, rows) = (Vec::new(), Box::new(rows));
        Rows { name: name.into(), header, arrays, rows, format: Format::Database, told: Told::default() }
    }
}

/// Opens what is not a file. The core reads files only; shells bring databases.
pub trait Sources: Sync {
    /// The rows at a location; none if the location is the name of a file. Whoever waits for them asks the observer meanwhile.
    fn open<'a>(&self, location: &str, observer: &'a dyn Observer) -> Option<Result<Rows<'a>>>;
}

/// Files, and nothing else.
#[derive(Debug, Clone, Copy, Default)]
pub struct Files;

impl Sources for Files {
    fn open<'a>(&self, location: &str, _observer: &'a dyn Observer) -> Option<Result<Rows<'a>>> {
        scheme(location)?;
        let problem = "is a URL, and this build of disjoin reads files only";
        let error = Error::input(Place::file(location), problem);
        Some(Err(error.with_hint("build disjoin with the feature databases, or export the table as CSV")))
    }
}

/// Reads records of terms, wherever they are.
pub fn read_sets(
    location: &Path,
    options: &Options,
    sources: &dyn Sources,
    observer: &dyn Observer,
) -> Result<(Dataset, Intake)> {
    match sources.open(&location.to_string_lossy(), observer) {
        Some(rows) => sets_of_rows_with(of_database(rows?, options)?, options, observer),
        None => read_file(location, options, observer),
    }
}

/// Reads a table of people, wherever it is.
pub fn read_table_from(
    location: &Path,
    options: &Options,
    declared: &Declared,
    sources: &dyn Sources,
    observer: &dyn Observer,
) -> Result<(Table, TableIntake)> {
    match sources.open(&location.to_string_lossy(), observer) {
        Some(rows) => table_of_rows_with(of_database(rows?, options)?, options, declared, observer),
        None => read_table_file(location, options, declared, observer),
    }
}

/// Reads and counts a table of people, wherever it is.
pub fn count_table_from(
    location: &Path,
    options: &Options,
    declared: &Declared,
    rows: RowLog<'_>,
    sources: &dyn Sources,
    observer: &dyn Observer,
) -> Result<Streamed> {
    match sources.open(&location.to_string_lossy(), observer) {
        Some(found) => {
            let (table, intake) = table_of_rows_with(of_database(found?, options)?, options, declared, observer)?;
            count_rows(table, intake, rows)
        }
        None => count_table(location, options, declared, rows, observer),
    }
}

/// Rows of a database, in the shape that the options ask for.
fn of_database<'a>(rows: Rows<'a>, options: &Options) -> Result<Rows<'a>> {
    match options.join {
        Some(_) => Err(Error::recipe("input.join", "is for files", "join the tables in the database, by a view")),
        None => shaped(rows, options),
    }
}

/// Rows on their way in: numbered from 1, as long as the header, and hashed.
pub(super) struct Incoming<'a> {
    name: &'a str,
    width: usize,
    rows: Box<dyn Iterator<Item = Result<Row>> + Send + 'a>,
    number: u64,
    hash: Sha256,
    bytes: u64,
    told: Told,
    observer: &'a dyn Observer,
}

impl<'a> Incoming<'a> {
    pub(super) fn new(
        name: &'a str,
        width: usize,
        rows: Box<dyn Iterator<Item = Result<Row>> + Send + 'a>,
        told: Told,
        observer: &'a dyn Observer,
    ) -> Self {
        Incoming { name, width, rows, number: 0, hash: Sha256::new(), bytes: 0, told, observer }
    }

    /// The size of all texts, and their digest.
    pub(super) fn finish(self) -> (u64, String) {
        (self.bytes, hexadecimal(&self.hash.finalize()))
    }

    fn take(&mut self, row: Row) -> Result<(u64, Row)> {
        // Files have lines, databases do not.
        let line = self.told.line();
        self.number = if line > 0 { line } else { self.number + 1 };
        if row.len() != self.width {
            let problem = format!("the row has {} cells where the header has {}", row.len(), self.width);
            return Err(Error::input(Place::line(self.name, self.number), problem));
        }
        for cell in &row {
            // No text has these bytes: a missing value is not an empty one, and cells cannot run into each other.
            let text = cell.as_deref().unwrap_or("\u{0}");
            self.hash.update(text.as_bytes());
            self.hash.update([0xff]);
            self.bytes += text.len() as u64;
        }
        Ok((self.number, row))
    }
}

impl Iterator for Incoming<'_> {
    type Item = Result<(u64, Row)>;

    fn next(&mut self) -> Option<Self::Item> {
        self.observer.check();
        let row = self.rows.next()?;
        Some(row.and_then(|row| self.take(row)))
    }
}

/// The same error, of a table whose header is no line of it.
pub(super) fn of_header(error: Error) -> Error {
    match error {
        Error::Input { place, problem, hint } => Error::Input { place: Place { line: None, ..place }, problem, hint },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observer::Unobserved;

    #[test]
    fn without_databases_urls_are_refused_without_passwords() {
        for url in ["postgres://ann:secret@h/d?table=t", "mysql://ann:secret@h/d"] {
            let error = read_sets(Path::new(url), &Options::default(), &Files, &Unobserved).unwrap_err();
            assert!(error.to_string().contains("reads files only"), "{error}");
            assert!(!format!("{error:?}").contains("secret"), "{error:?}");
        }
    }

    #[test]
    fn files_are_read_as_ever() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.csv");
        std::fs::write(&path, "id,item\n1,a\n1,b\n").unwrap();
        let read = read_sets(&path, &Options::default(), &Files, &Unobserved).unwrap();
        assert_eq!(read.1, crate::read::read(&path, &Options::default()).unwrap().1);
        let declared = Declared { rest: Some(crate::data::table::Role::Quasi), ..Declared::default() };
        let read = read_table_from(&path, &Options::default(), &declared, &Files, &Unobserved).unwrap();
        assert_eq!(read.1, super::super::rows::read_table(&path, &Options::default(), &declared).unwrap().1);
        let mut file = tempfile::tempfile().unwrap();
        let rows = RowLog { file: &mut file, place: Path::new("rows"), with_values: false };
        let counted = count_table_from(&path, &Options::default(), &declared, rows, &Files, &Unobserved).unwrap();
        assert_eq!(counted.intake, read.1);
    }
}
