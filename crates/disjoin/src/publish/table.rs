//! The package of a generalized table: what leaves, and what is kept to be able to check it.
//!
//! Promises:   release/ holds claim.json and data.csv, and tells nothing about the order of the input. custody/ holds how it
//!             was made (custody.json), where each row went (class_of.csv), and which cells each class shows (mapping.csv)
//! Cost:       the release and custody are written at the same time
//! Checked by: `tests/it/table_release.rs`

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::destination::{Destination, Part, Staging};
use super::kept::{BLOCK, FORMAT, Input, VERSION, flush_block, read_json, read_map, write_map};
use super::package::{Page, write_bytes};
use crate::data::{Partition, Table};
use crate::error::{Error, Result};
use crate::protect::association_hiding::HiddenLoss;
use crate::protect::tabular::{Method, Params};
use crate::read::rows::{Declared, TableIntake};
use crate::recipe::{self, table::Splitting};
use crate::release::class_sets::{self, ClassSets};
use crate::release::generalized::{Associations, DATA, FORM, Generalized, TableClaim, write_field, write_row};
use crate::release::jsonl::write_number;
use crate::release::privacy_models::Criterion;
use crate::release::split;

/// The first line of class_of.csv.
const HEADING: &str = "row,class";

/// How a generalized table was made: custody.json.
#[derive(Debug, Clone, Serialize)]
pub struct TableCustody {
    format: &'static str,
    version: u64,
    form: &'static str,
    /// The program that made the package, with its version.
    pub made_by: String,
    /// What was read, with its digest.
    pub input: TableIntake,
    /// What was said about its columns.
    pub declared: Declared,
    /// What was asked for.
    pub parameters: TableParameters,
    /// Rows that are not published.
    pub removed: u64,
    /// Classes, as they can be told apart.
    pub classes: u64,
    /// If values were recoded by levels of their hierarchies: the level of each quasi-identifier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub levels: Option<Vec<u32>>,
    /// If rules were hidden: what that cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hidden: Option<HiddenLoss>,
    /// How long it took to make the classes.
    pub seconds: f64,
}

/// What was asked of a generalized table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TableParameters {
    /// How classes are made.
    pub method: Method,
    /// What each must satisfy.
    pub criteria: Vec<Criterion>,
    /// The greatest share of rows that may be removed.
    pub most_removed: f64,
    /// For methods that draw.
    pub seed: u64,
    /// If the table is split: how.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<Splitting>,
    /// Whether rows with the same quasi-identifiers were classes as they are: the method did not matter.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub as_is: bool,
    /// Which rules were hidden, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hide: Option<Associations>,
}

impl From<&recipe::table::Table> for TableParameters {
    fn from(asked: &recipe::table::Table) -> Self {
        TableParameters { split: asked.split, as_is: asked.as_is, hide: asked.hide, ..Self::from(&asked.params()) }
    }
}

impl From<&Params> for TableParameters {
    fn from(params: &Params) -> Self {
        let Params { method, criteria, most_removed, seed } = params.clone();
        TableParameters { method, criteria, most_removed, seed, split: None, as_is: false, hide: None }
    }
}

impl TableCustody {
    /// The same of a split table.
    #[must_use]
    pub fn of_split(mut self) -> Self {
        self.form = split::FORM;
        self
    }

    /// Gathers what is to be kept; the counts are those of the package that it goes with.
    pub fn new(input: TableIntake, declared: Declared, parameters: TableParameters, seconds: f64) -> Self {
        let made_by = concat!("disjoin ", env!("CARGO_PKG_VERSION")).to_owned();
        let (removed, classes) = (0, 0);
        TableCustody {
            format: FORMAT,
            version: VERSION,
            form: FORM,
            made_by,
            input,
            declared,
            parameters,
            removed,
            classes,
            levels: None,
            hidden: None,
            seconds,
        }
    }
}

/// All that is published and kept of one run.
#[derive(Debug, Clone, Copy)]
pub struct TablePackage<'a> {
    /// What is promised.
    pub claim: &'a TableClaim,
    /// The original.
    pub table: &'a Table,
    /// Which of its rows are published together.
    pub partition: &'a Partition,
    /// The sets of its classes, numbered in the order of the file, if it has some.
    pub sets: Option<&'a ClassSets>,
    /// How that was made.
    pub custody: &'a TableCustody,
    /// Reports about it.
    pub pages: &'a [Page],
}

impl TablePackage<'_> {
    /// Writes the package to its destination, as a whole or not at all.
    pub fn publish(&self, destination: &Destination) -> Result<()> {
        if self.claim.records != self.partition.n_published() as u64 {
            return Err(Error::Internal("a claim speaks of another number of rows than are published"));
        }
        let data = Generalized::new(self.table, self.partition);
        destination.publish(|staging| {
            // The large file on one side and the rest on the other: waiting for the disk overlaps with work.
            let (release, custody) =
                rayon::join(|| self.write_release(staging, &data), || self.write_custody(staging, &data));
            release.and(custody)
        })
    }

    fn write_release(&self, staging: &Staging, data: &Generalized<'_>) -> Result<()> {
        write_with(staging, Part::Release, DATA, |file| data.write(file))?;
        if let Some(sets) = self.sets {
            write_with(staging, Part::Release, class_sets::FILE_NAME, |file| {
                let mut out = io::BufWriter::with_capacity(BLOCK, file);
                class_sets::write(sets, &mut out).and_then(|()| out.flush())
            })?;
        }
        write_bytes(staging, Part::Release, "claim.json", self.claim.to_json()?.as_bytes())
    }

    fn write_custody(&self, staging: &Staging, data: &Generalized<'_>) -> Result<()> {
        let custody = TableCustody {
            removed: self.partition.removed.len() as u64,
            classes: data.n_classes() as u64,
            levels: self.partition.levels.clone(),
            ..self.custody.clone()
        };
        let mut text = serde_json::to_string_pretty(&custody).map_err(|_| Error::Internal("custody is always JSON"))?;
        text.push('\n');
        write_bytes(staging, Part::Custody, "custody.json", text.as_bytes())?;
        write_with(staging, Part::Custody, "class_of.csv", |file| {
            write_class_of(data.class_of().into_iter().map(Ok), file)
        })?;
        write_with(staging, Part::Custody, "mapping.csv", |file| write_mapping(self.table, data, file))?;
        for page in self.pages {
            write_bytes(staging, page.part, page.name, page.text.as_bytes())?;
        }
        Ok(())
    }
}

pub(super) fn write_with(
    staging: &Staging,
    part: Part,
    name: &str,
    fill: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<()> {
    let place = staging.place(part, name);
    staging.write(part, name, |file| fill(file).map_err(|e| Error::io(&place, "write", e)))
}

/// A line `row,class` for each row of the original, both numbered from 1; the class is empty if the row was removed.
pub(super) fn write_class_of(
    class_of: impl Iterator<Item = io::Result<Option<u32>>>,
    out: &mut impl Write,
) -> io::Result<()> {
    write_map(HEADING, class_of, out)
}

/// The mapping that was applied: for each class and quasi-identifier what is published for so many rows.
fn write_mapping(table: &Table, data: &Generalized<'_>, out: &mut impl Write) -> io::Result<()> {
    let mut text = Vec::with_capacity(2 * BLOCK);
    write_row(["class", "column", "published", "rows"], &mut text);
    let quasi = table.quasi();
    for class in 0..data.n_classes() {
        for (column, published) in quasi.iter().zip(data.cells(class)) {
            write_number(class as u64 + 1, &mut text);
            text.push(b',');
            write_field(&column.name, &mut text);
            text.push(b',');
            write_field(published, &mut text);
            text.push(b',');
            write_number(data.rows(class).len() as u64, &mut text);
            text.push(b'\n');
        }
        flush_block(&mut text, out)?;
    }
    out.write_all(&text)
}

/// What a custody folder holds that helps to verify a generalized table.
#[derive(Debug, Clone, PartialEq)]
pub struct KeptTable {
    /// SHA-256 of the file that was protected, in hexadecimal.
    pub input_sha256: String,
    /// What was said about its columns.
    pub declared: Declared,
    /// For each row its class, numbered from 0 in the order of data.csv; none if it was removed.
    pub class_of: Vec<Option<u32>>,
    /// What every class satisfies.
    pub criteria: Vec<Criterion>,
    /// If values were recoded by levels of their hierarchies: the level of each quasi-identifier.
    pub levels: Option<Vec<u32>>,
}

impl KeptTable {
    /// The size of the crowd; 1 if none was asked for.
    pub fn k(&self) -> u32 {
        let k = |criterion: &Criterion| if let Criterion::KAnonymity { k } = criterion { *k } else { 1 };
        self.criteria.iter().map(k).max().unwrap_or(1)
    }

    /// Which rows are published together, in the order of data.csv.
    pub fn partition(&self) -> Partition {
        let n_classes = self.class_of.iter().flatten().max().map_or(0, |&last| last as usize + 1);
        let mut classes: Vec<Vec<u32>> = vec![Vec::new(); n_classes];
        let mut partition = Partition::default();
        for (class, row) in self.class_of.iter().zip(0..) {
            match class {
                Some(class) => classes[*class as usize].push(row),
                None => partition.removed.push(row),
            }
        }
        classes.iter().for_each(|rows| partition.push(rows));
        partition.levels.clone_from(&self.levels);
        partition
    }

    /// Reads a custody folder.
    pub fn read(folder: &Path) -> Result<Self> {
        #[derive(Deserialize)]
        struct Written {
            input: Input,
            declared: Declared,
            parameters: Parameters,
            #[serde(default)]
            levels: Option<Vec<u32>>,
        }
        #[derive(Deserialize)]
        struct Parameters {
            criteria: Vec<Criterion>,
        }
        let written: Written = read_json(folder, Some(&[FORM, split::FORM]), "a table")?;
        let class_of = read_map(folder, "class_of.csv", HEADING)?;
        let Written { input, declared, parameters, levels } = written;
        Ok(KeptTable { input_sha256: input.sha256, declared, class_of, criteria: parameters.criteria, levels })
    }
}
