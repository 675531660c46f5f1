//! Collects records term by term: the part that all readers share.
//!
//! Decides what every format does alike: an empty field is no term, a record without terms is left out, repetitions
//! collapse, and a record beyond the limit is an error. Each of these is counted or reported with its line.

use super::people::Persons;
use crate::data::{Dataset, Evidence, TermId};
use crate::error::{Error, Place, Result};
use crate::observer::Observer;

/// What a reader left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) empty_records: u64,
    pub(super) empty_terms: u64,
    pub(super) duplicate_terms: u64,
    pub(super) blank_lines: u64,
    pub(super) trimmed_cells: u64,
    /// The person of each record, if a column names people.
    pub(super) people: Option<Vec<u32>>,
    /// Signs of several rows a person.
    pub(super) several: Vec<Evidence>,
}

impl Counts {
    /// Adds what another part of the same file left out.
    pub(super) fn add(&mut self, other: Counts) {
        self.empty_records += other.empty_records;
        self.empty_terms += other.empty_terms;
        self.duplicate_terms += other.duplicate_terms;
        self.blank_lines += other.blank_lines;
        self.trimmed_cells += other.trimmed_cells;
    }
}

/// A dataset in the making.
pub(super) struct Builder<'a> {
    name: &'a str,
    limit: usize,
    dataset: Dataset,
    counts: Counts,
    record: Vec<TermId>,
    empty_terms: u64,
    persons: Option<Persons>,
    person: Option<u32>,
    observer: &'a dyn Observer,
}

impl<'a> Builder<'a> {
    pub(super) fn new(name: &'a str, limit: usize, observer: &'a dyn Observer) -> Self {
        Builder {
            name,
            limit,
            dataset: Dataset::default(),
            counts: Counts::default(),
            record: Vec::new(),
            empty_terms: 0,
            persons: None,
            person: None,
            observer,
        }
    }

    /// Says whose record the current one is; of all records, or of none.
    pub(super) fn person(&mut self, text: &str, line: u64) -> Result<()> {
        self.person = Some(self.persons.get_or_insert_default().of(text, self.name, line)?);
        Ok(())
    }

    /// Adds a term to the current record.
    pub(super) fn term(&mut self, text: &str) {
        if text.is_empty() {
            self.empty_terms += 1;
        } else {
            self.record.push(self.dataset.dictionary.intern(text));
        }
    }

    /// Ends the current record, which stands in the given line or row.
    pub(super) fn end_record(&mut self, line: u64) -> Result<()> {
        self.observer.check();
        if self.record.len() > self.limit {
            return Err(too_long(self.name, line, self.limit));
        }
        if self.record.is_empty() {
            self.counts.empty_records += 1;
        } else {
            self.counts.empty_terms += self.empty_terms;
            self.counts.duplicate_terms += self.dataset.records.push(&mut self.record) as u64;
            if let (Some(persons), Some(person)) = (&mut self.persons, self.person.take()) {
                persons.keep(person);
            }
        }
        self.record.clear();
        self.empty_terms = 0;
        check_count(self.name, self.dataset.records.len())
    }

    /// A line that is no record.
    pub(super) fn blank_line(&mut self) {
        self.counts.blank_lines += 1;
    }

    pub(super) fn finish(self) -> (Dataset, Counts) {
        let people = self.persons.map(Persons::finish);
        (self.dataset, Counts { people, ..self.counts })
    }
}

/// The error for a record of more than `limit` terms.
pub(super) fn too_long(name: &str, line: u64, limit: usize) -> Error {
    Error::input(Place::line(name, line), format!("the record has more than {limit} terms"))
        .with_hint("is the separator right? If such records are meant, raise --max-record-terms")
}

/// Refuses more records than a record id can number.
pub(super) fn check_count(name: &str, n_records: usize) -> Result<()> {
    if u32::try_from(n_records).is_ok() {
        return Ok(());
    }
    Err(Error::input(Place::file(name), format!("holds more than {} records", u32::MAX)).with_hint("split the file"))
}
