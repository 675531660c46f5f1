//! What custody keeps of people: whose row each was, which record it became, and which part of its class it is in.
//!
//! Promises:   numbers only: what names a person is kept nowhere
//! Checked by: `tests/it/person.rs`, `crates/disjoin-cli/tests/it/person.rs`

use std::io::{self, Write};
use std::path::Path;

use super::custody::{parse_map, write_map};
use super::package::{Package, somewhere};
use super::{BLOCK, Part, flush_block};
use crate::data::{People, Visits};
use crate::error::{Error, Result};
use crate::release::jsonl::write_number;

/// Whose row each was, and which record it became.
pub(super) const PEOPLE: &str = "people.csv";

/// Which part of its class each row of a table is in, where rows of a person stay apart.
pub(super) const PARTS: &str = "part_of.csv";

/// The first line of [`PARTS`].
const HEADING: &str = "row,part";

impl<'a> Package<'a> {
    /// What is kept of people, if a column names them; `parts` of classes, if rows of a person stay apart.
    #[must_use]
    pub fn people(self, people: Option<&'a People>, parts: Option<Vec<Option<u32>>>) -> Self {
        let Some(people) = people else { return self };
        let package = self.file(Part::Custody, PEOPLE, move |file| write_people(people, file));
        match parts.filter(|_| people.visits == Visits::Apart) {
            Some(parts) => package.file(Part::Custody, PARTS, move |file| write_map(HEADING, somewhere(parts), file)),
            None => package,
        }
    }
}

/// A line a row: its number, its person, and its record if it is in one.
fn write_people(people: &People, out: &mut impl Write) -> io::Result<()> {
    let mut text = Vec::with_capacity(2 * BLOCK);
    text.extend_from_slice(b"row,person,record\n");
    for ((person, record), row) in people.of_row.iter().zip(&people.record_of).zip(1_u64..) {
        write_number(row, &mut text);
        text.push(b',');
        write_number(u64::from(*person) + 1, &mut text);
        text.push(b',');
        if let Some(record) = record {
            write_number(u64::from(*record) + 1, &mut text);
        }
        text.push(b'\n');
        flush_block(&mut text, out)?;
    }
    out.write_all(&text)
}

/// The parts of classes that a custody folder keeps.
pub(super) fn read_parts(folder: &Path) -> Result<Option<Vec<Option<u32>>>> {
    let path = folder.join(PARTS);
    match std::fs::read(&path) {
        Ok(text) => parse_map(&text, &path, HEADING).map(Some),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io(&path, "read", error)),
    }
}
