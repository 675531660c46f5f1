//! Where data come from: files, and whatever else gives rows of texts (databases, frames).
//!
//! Promises:   data are read in the same way wherever they come from; rows have a digest as files have, so that the same rows
//!             are known again
//! Checked by: `crates/disjoin-databases/tests`

use crate::error::Result;

/// A row: the text of each cell, none where there is no value.
pub type Row = Vec<Option<String>>;

/// A table of texts, row by row.
pub struct Rows {
    /// How to speak of it: never with a password.
    pub name: String,
    /// The names of its columns.
    pub header: Vec<String>,
    /// Its rows, each as long as the header.
    pub rows: Box<dyn Iterator<Item = Result<Row>> + Send>,
}

/// Opens what is not a file. The core reads files only; shells bring databases.
pub trait Sources: Sync {
    /// The rows at a location; none if the location is the name of a file.
    fn open(&self, location: &str) -> Option<Result<Rows>>;
}

/// Files, and nothing else.
#[derive(Debug, Clone, Copy, Default)]
pub struct Files;

impl Sources for Files {
    fn open(&self, _: &str) -> Option<Result<Rows>> {
        None
    }
}
