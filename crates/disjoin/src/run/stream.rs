//! A table that is split as it is (`--as-is`), without ever being in memory: counted while it is read, and published from counts.
//!
//! Promises:   the package that `run/forms/split.rs` makes of the same table, byte for byte
//! Cost:       one pass over the file, one over four bytes a row on disk. Memory grows with groups, not with rows
//! Checked by: `streams_are_what_is_in_memory` in `tests/it/break_merge.rs`

use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::time::Instant;

use super::forms::classes::check_columns;
use super::forms::split::{custody, told};
use crate::error::{Error, Result};
use crate::observer::Observer;
use crate::protect::tabular::{Taken, settle_counts};
use crate::publish::{Destination, Package, Part, Watched};
use crate::read::rows::{Renumbered, RowLog, Streamed};
use crate::recipe;
use crate::recipe::table::Splitting;
use crate::release::Form;
use crate::release::privacy_models::Criterion;
use crate::release::split::{CountedSplit, QUASI, SplitClaim};

/// Whether a table can be split this way.
pub fn is_streamed(asked: &recipe::table::Table) -> bool {
    asked.as_is && asked.split == Some(Splitting::BreakMerge)
}

/// Counts a table by `count`, suppresses what fails the criteria, and writes the package; returns what there is to say of it.
pub fn stream_split(
    asked: &recipe::table::Table,
    count: impl FnOnce(RowLog<'_>) -> Result<Streamed>,
    destination: &Destination,
    observer: &dyn Observer,
) -> Result<(String, serde_json::Value)> {
    let Some(splitting) = asked.split.filter(|_| is_streamed(asked)) else {
        return Err(Error::Internal("a table is to be split as it is that nobody asked to"));
    };
    observer.stage("reading the table");
    destination.publish(|staging| {
        staging.scratch(|file, place| {
            let with_values = takes_rows(&asked.criteria);
            let rows = RowLog { file, place, with_values };
            let Streamed { mut counted, intake, renumbered } = count(rows)?;
            check_columns(&counted.columns.columns, &asked.declared, &intake, observer)?;
            observer.stage("looking at every group");
            let start = Instant::now();
            let rows = counted.n_rows();
            let taken = settle_counts(&mut counted, &asked.params())?;
            let split = CountedSplit::new(&counted)?;
            let claim = SplitClaim::of_counts(&split, splitting.name(), &asked.criteria);
            let seconds = start.elapsed().as_secs_f64();
            let kept = custody(asked, &intake, rows - split.n_rows(), split.n_groups() as u64, seconds)?;
            observer.stage("writing the package");
            let class_of = ClassOf::new(file, with_values, renumbered, split.numbers(), taken);
            let class_of = class_of.map_err(|source| Error::io(place, "read", source))?;
            let split = &split;
            let mut package = Package::default().file(Part::Release, QUASI, |file| split.write_quasi(file));
            for (place, column) in claim.files.iter().enumerate() {
                let fill = move |file: &mut Watched<'_>| split.write_sensitive(place, file);
                package = package.file(Part::Release, column.file.clone(), fill);
            }
            let package = package.bytes(Part::Release, "claim.json", claim.to_json()?);
            package.custody(Form::Split, &kept, class_of)?.write(staging, observer)?;
            Ok(told(&claim, &kept, rows))
        })
    })
}

/// Whether single rows may be taken out of a group: limits on shares do that.
fn takes_rows(criteria: &[Criterion]) -> bool {
    criteria.iter().any(|criterion| matches!(criterion, Criterion::Likeness { .. } | Criterion::Frequency { .. }))
}

/// The group of each row as it is published, from what was written when it was counted.
struct ClassOf<'a> {
    rows: BufReader<&'a mut File>,
    with_values: bool,
    renumbered: Renumbered,
    numbers: Vec<Option<u32>>,
    /// How many of the next rows with a value are not published.
    taken: Taken,
}

impl<'a> ClassOf<'a> {
    fn new(
        file: &'a mut File,
        with_values: bool,
        renumbered: Renumbered,
        numbers: Vec<Option<u32>>,
        taken: Taken,
    ) -> io::Result<Self> {
        file.rewind()?;
        Ok(ClassOf { rows: BufReader::with_capacity(1 << 16, file), with_values, renumbered, numbers, taken })
    }

    /// The next number, none at the end.
    fn number(&mut self) -> io::Result<Option<u32>> {
        let mut bytes = [0; 4];
        match self.rows.read_exact(&mut bytes) {
            Ok(()) => Ok(Some(u32::from_le_bytes(bytes))),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn class(&mut self) -> io::Result<Option<Option<u32>>> {
        let Some(group) = self.number()? else { return Ok(None) };
        let group = self.renumbered.group(group);
        let mut class = self.numbers[group as usize];
        if self.with_values {
            let code = self.number()?.map(|code| self.renumbered.code(code));
            let left = code.and_then(|code| self.taken.get_mut(&(group, code))).filter(|left| **left > 0);
            if let (Some(left), Some(_)) = (left, class) {
                *left -= 1;
                class = None;
            }
        }
        Ok(Some(class))
    }
}

impl Iterator for ClassOf<'_> {
    type Item = io::Result<Option<u32>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.class().transpose()
    }
}
