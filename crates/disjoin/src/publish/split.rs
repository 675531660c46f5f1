//! The package of a split table: what leaves, and what is kept to be able to check it.
//!
//! Promises:   release/ holds claim.json, quasi.csv and a file for each sensitive column, and tells nothing about the order of
//!             the input. custody/ holds how it was made (custody.json) and where each row went (class_of.csv)
//! Cost:       quasi.csv, the sensitive tables and custody are written at the same time
//! Checked by: `tests/it/break_merge.rs`

use std::io;

use super::destination::{Destination, Part, Staging};
use super::package::{Page, write_bytes};
use super::table::{TableCustody, write_class_of, write_with};
use crate::error::{Error, Result};
use crate::release::split::{CountedSplit, QUASI, Split, SplitClaim};

/// Where each row went.
const CLASS_OF: &str = "class_of.csv";

/// All that is published and kept of one run.
#[derive(Debug, Clone, Copy)]
pub struct SplitPackage<'a> {
    /// What is promised.
    pub claim: &'a SplitClaim,
    /// The groups.
    pub split: &'a Split<'a>,
    /// How they were made.
    pub custody: &'a TableCustody,
    /// Reports about it.
    pub pages: &'a [Page],
}

impl SplitPackage<'_> {
    /// Writes the package to its destination, as a whole or not at all.
    pub fn publish(&self, destination: &Destination) -> Result<()> {
        let (rows, sensitive) = (self.split.n_rows() as u64, self.split.table().sensitive());
        if self.claim.records != rows || self.claim.files.len() != sensitive.len() {
            return Err(Error::Internal("a claim speaks of another split table than the one that is published"));
        }
        destination.publish(|staging| {
            let ((quasi, values), custody) = rayon::join(
                || {
                    rayon::join(
                        || write_with(staging, Part::Release, QUASI, |file| self.split.write_quasi(file)),
                        || self.write_sensitive(staging),
                    )
                },
                || self.write_custody(staging),
            );
            quasi.and(values).and(custody)
        })
    }

    fn write_sensitive(&self, staging: &Staging) -> Result<()> {
        for (column, told) in self.split.table().sensitive().into_iter().zip(&self.claim.files) {
            write_with(staging, Part::Release, &told.file, |file| self.split.write_sensitive(column, file))?;
        }
        write_bytes(staging, Part::Release, "claim.json", self.claim.to_json()?.as_bytes())
    }

    fn write_custody(&self, staging: &Staging) -> Result<()> {
        let group_of = self.split.group_of();
        let removed = group_of.iter().filter(|group| group.is_none()).count() as u64;
        write_custody_json(self.custody, removed, self.split.n_groups() as u64, staging)?;
        let class_of = group_of.into_iter().map(Ok);
        write_with(staging, Part::Custody, CLASS_OF, |file| write_class_of(class_of, file))?;
        for page in self.pages {
            write_bytes(staging, page.part, page.name, page.text.as_bytes())?;
        }
        Ok(())
    }
}

/// The same package of groups of which only counts are kept.
#[derive(Debug, Clone, Copy)]
pub struct CountedPackage<'a> {
    /// What is promised.
    pub claim: &'a SplitClaim,
    /// The groups.
    pub split: &'a CountedSplit<'a>,
    /// Rows that are not published.
    pub removed: u64,
    /// How the groups were made.
    pub custody: &'a TableCustody,
}

impl CountedPackage<'_> {
    /// Writes all files; `class_of` tells for each row its group, none if it was removed.
    pub fn write(
        &self,
        staging: &Staging,
        class_of: impl Iterator<Item = io::Result<Option<u32>>> + Send,
    ) -> Result<()> {
        if self.claim.records != self.split.n_rows() {
            return Err(Error::Internal("a claim speaks of another split table than the one that is published"));
        }
        let ((quasi, values), custody) = rayon::join(
            || {
                rayon::join(
                    || write_with(staging, Part::Release, QUASI, |file| self.split.write_quasi(file)),
                    || self.write_sensitive(staging),
                )
            },
            || {
                write_custody_json(self.custody, self.removed, self.split.n_groups() as u64, staging)?;
                write_with(staging, Part::Custody, CLASS_OF, |file| write_class_of(class_of, file))
            },
        );
        quasi.and(values).and(custody)
    }

    fn write_sensitive(&self, staging: &Staging) -> Result<()> {
        for (place, told) in self.claim.files.iter().enumerate() {
            write_with(staging, Part::Release, &told.file, |file| self.split.write_sensitive(place, file))?;
        }
        write_bytes(staging, Part::Release, "claim.json", self.claim.to_json()?.as_bytes())
    }
}

fn write_custody_json(custody: &TableCustody, removed: u64, classes: u64, staging: &Staging) -> Result<()> {
    let mut custody = custody.clone().of_split();
    (custody.removed, custody.classes) = (removed, classes);
    let mut text = serde_json::to_string_pretty(&custody).map_err(|_| Error::Internal("custody is always JSON"))?;
    text.push('\n');
    write_bytes(staging, Part::Custody, "custody.json", text.as_bytes())
}
