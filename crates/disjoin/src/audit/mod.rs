//! What does a table or a file of sets promise that somebody else made? Counted from the file alone: there is no claim to believe.
//!
//! Paper:      the models are those of `release/privacy_models.rs`; risks are those of El Emam, Dankar 2008 (prosecutor, journalist,
//!             marketer), as ARX reports them
//! Promises:   every number is that of the file as any reader sees it: records with equal cells in all quasi-identifiers are a class,
//!             suppressed records (`*` everywhere) are one as well. With several sensitive columns each is measured for itself
//! Assumes:    one record a person, and that the quasi-identifiers are the columns that others may know
//! Departs:    overall shares are those of the file: those of the original are not known
//! Cost:       a few passes over the records, and the sensitive values of each class; see `matching.rs` for cells that overlap
//! Checked by: `tests/it/audit.rs`, against slow definitions and the numbers of pycanon
//!
//! `release/cells.rs` knows how others spell what they generalise, `measures` how sensitive values are spread, `risks` how probably records are
//! those of a person, `matching` the same where cells overlap, `compared` what was kept of an original, `sets` k^m of sets,
//! `require` what somebody asks of it, `promise` what a claim could promise.

pub mod compared;
mod matching;
mod measures;
mod promise;
pub mod require;
mod risks;
pub mod sets;

use std::collections::HashMap;

use serde::Serialize;

use crate::data::class_counts::{Counted, Tally};
use crate::data::table::{Column, Role, Table};
use crate::data::{Dictionary, Hierarchy, Partition};
use crate::error::{Error, Result};
use crate::observer::Observer;
use crate::release::cells::{Shown, number};
pub use matching::Matching;
pub use measures::{Guessing, Recursive, SensitiveAudit, Worst};
pub use promise::criteria;
pub use risks::{Journalist, Prosecutor, Risks};

/// What claims of audited files name as their method: the real one is not known.
pub const METHOD: &str = "audit";

/// How many of the worst classes are described.
const N_WORST: usize = 10;

/// What is asked besides the columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// Records with a re-identification risk above it are counted.
    pub threshold: f64,
    /// How many people there are of whom the records are a sample; none if they are all.
    pub population: Option<u64>,
    /// Look at cells that overlap without being equal.
    pub matching: bool,
    /// Show the cells of the worst classes.
    pub name_values: bool,
}

impl Default for Asked {
    fn default() -> Self {
        Asked { threshold: 0.2, population: None, matching: true, name_values: false }
    }
}

impl Asked {
    /// Refuses what means nothing.
    pub fn check(&self, records: u64) -> Result<()> {
        if !(self.threshold > 0.0 && self.threshold <= 1.0) {
            return Err(Error::recipe("threshold", "must be above 0 and at most 1", "for example 0.2"));
        }
        match self.population {
            Some(n) if n < records => {
                let problem = format!("is smaller than the file, which has {records} records");
                Err(Error::recipe("population", problem, "name the size of the population that they are a sample of"))
            }
            _ => Ok(()),
        }
    }
}

/// Labels of quasi-identifiers: columns with their hierarchy and the terms that it was built for.
pub type Labels = HashMap<String, (Hierarchy, Dictionary)>;

/// What was found in a table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TableAudit {
    /// Records.
    pub records: u64,
    /// The quasi-identifiers, in order.
    pub quasi: Vec<String>,
    /// Columns of which nobody said what they are for: nothing is said about them here.
    pub unnamed: Vec<String>,
    /// k of k-anonymity: the records of the smallest class.
    pub k: u64,
    /// Records of classes that are as small.
    pub records_in_smallest: u64,
    /// The number of classes.
    pub classes: u64,
    /// The records of the largest class.
    pub largest_class: u64,
    /// Records whose quasi-identifiers are all suppressed.
    pub suppressed: u64,
    /// k without them, if there are some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k_without_suppressed: Option<u64>,
    /// The sensitive columns, in order.
    pub sensitive: Vec<SensitiveAudit>,
    /// How probably a record is a person's, by classes of equal cells.
    pub risks: Risks,
    /// The same over all classes that may hold a person, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matching: Option<Matching>,
    /// The classes that stand worst: the smallest, and of these the least diverse.
    pub worst: Vec<WorstClass>,
}

/// A class that stands badly.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WorstClass {
    /// The first of its records, counted from 1.
    pub first_record: u64,
    /// Its records.
    pub records: u64,
    /// Its different values, in the sensitive column where these are fewest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distinct: Option<u32>,
    /// The highest share of a sensitive value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub highest_share: Option<f64>,
    /// For each quasi-identifier the kind of its cell, or the cell itself if values are to be shown.
    pub cells: Vec<String>,
}

/// Rows by equal cells, counted, with what the cells stand for.
pub(crate) struct Classed {
    /// Groups and counts.
    pub(crate) counted: Counted,
    /// The class of each row.
    pub(crate) class_of: Vec<u32>,
    /// The first row of each class.
    pub(crate) firsts: Vec<u32>,
    /// What the codes of each quasi-identifier stand for.
    pub(crate) shown: Vec<Vec<Shown>>,
}

impl Classed {
    /// Puts the rows of a table into classes.
    pub(crate) fn new(table: &Table, labels: &Labels) -> Self {
        let shown = table.quasi().iter().map(|column| shown(column, labels)).collect();
        let (counted, class_of) = Counted::of_table(table.clone());
        let mut firsts = Vec::with_capacity(counted.n_groups());
        for (row, &class) in class_of.iter().enumerate() {
            // Classes are numbered as they appear.
            if class as usize == firsts.len() {
                firsts.push(row as u32);
            }
        }
        Classed { counted, class_of, firsts, shown }
    }

    pub(crate) fn len(&self) -> usize {
        self.counted.n_groups()
    }

    pub(crate) fn sizes(&self) -> Vec<u32> {
        (0..self.len()).map(|class| self.counted.size(class)).collect()
    }

    pub(crate) fn tuples(&self) -> Vec<u32> {
        (0..self.len()).flat_map(|class| self.counted.tuple(class).iter().copied()).collect()
    }

    /// Whether all cells of a class stand for anything.
    pub(crate) fn is_suppressed(&self, class: usize) -> bool {
        let mut cells = self.counted.tuple(class).iter().zip(&self.shown);
        !self.shown.is_empty() && cells.all(|(&code, shown)| shown[code as usize] == Shown::Any)
    }
}

/// What the codes of a column stand for; the last is a missing value.
fn shown(column: &Column, labels: &Labels) -> Vec<Shown> {
    let parse = |text: &str| match labels.get(&column.name) {
        Some((hierarchy, terms)) => Shown::parse_in(text, hierarchy, terms),
        None => Shown::parse(text),
    };
    (0..column.domain.n_codes() as u32).map(|code| parse(column.domain.text(code))).collect()
}

/// Audits a table whose columns have roles.
pub fn audit_table(table: &Table, labels: &Labels, asked: &Asked, observer: &dyn Observer) -> TableAudit {
    observer.check();
    let classed = Classed::new(table, labels);
    let sizes = classed.sizes();
    let suppressed: Vec<usize> = (0..classed.len()).filter(|&class| classed.is_suppressed(class)).collect();
    let kept = |class: &usize| !suppressed.contains(class);
    let k = sizes.iter().copied().min().unwrap_or(0);
    let without = (0..classed.len()).filter(kept).map(|class| u64::from(sizes[class])).min();
    let sensitive = measures::measure(table, &classed, observer);
    let name = |column: &Column| column.name.clone();
    TableAudit {
        records: table.n_rows() as u64,
        quasi: table.with_role(Role::Quasi).map(name).collect(),
        unnamed: table.with_role(Role::Other).map(name).collect(),
        k: k.into(),
        records_in_smallest: sizes.iter().filter(|&&size| size == k).map(|&size| u64::from(size)).sum(),
        classes: sizes.len() as u64,
        largest_class: sizes.iter().copied().max().unwrap_or(0).into(),
        suppressed: suppressed.iter().map(|&class| u64::from(sizes[class])).sum(),
        k_without_suppressed: if suppressed.is_empty() { None } else { without },
        risks: risks::risks(&sizes, asked.threshold, asked.population),
        matching: asked.matching.then(|| {
            let tuples = classed.tuples();
            let classes = matching::Classes { columns: &classed.shown, tuples: &tuples, sizes: &sizes };
            matching::matching(&classes, observer)
        }),
        worst: worst(&classed, &sensitive, asked.name_values),
        sensitive: sensitive.into_iter().map(|(audit, _)| audit).collect(),
    }
}

/// The classes that stand worst, without a value unless it is asked for.
fn worst(
    classed: &Classed,
    sensitive: &[(SensitiveAudit, Vec<measures::OfClass>)],
    name_values: bool,
) -> Vec<WorstClass> {
    let distinct = |class: usize| sensitive.iter().map(|(_, of)| of[class].distinct).min();
    let share = |class: usize| sensitive.iter().map(|(_, of)| of[class].share).reduce(f64::max);
    let mut order: Vec<usize> = (0..classed.len()).collect();
    let key = |class: usize| (classed.counted.size(class), distinct(class), class);
    let n = order.len().min(N_WORST);
    if n < order.len() {
        order.select_nth_unstable_by_key(n, |&class| key(class));
    }
    order.truncate(n);
    order.sort_unstable_by_key(|&class| key(class));
    let quasi = classed.counted.columns.quasi();
    let cells = |class: usize| {
        let cell = |((&code, shown), column): ((&u32, &Vec<Shown>), &&Column)| match name_values {
            true => column.domain.text(code).to_owned(),
            false => shown[code as usize].kind(),
        };
        classed.counted.tuple(class).iter().zip(&classed.shown).zip(&quasi).map(cell).collect()
    };
    let describe = |class: usize| WorstClass {
        first_record: u64::from(classed.firsts[class]) + 1,
        records: classed.counted.size(class).into(),
        distinct: distinct(class),
        highest_share: share(class),
        cells: cells(class),
    };
    order.into_iter().map(describe).collect()
}

/// Classes of equal cells, as a partition.
pub fn partition(table: &Table) -> Partition {
    let quasi: Vec<(Vec<u32>, usize)> =
        table.quasi().iter().map(|column| (column.codes.clone(), column.domain.n_codes())).collect();
    let tally = Tally::new(table.n_rows(), &quasi, &[]);
    let mut rows: Vec<Vec<u32>> = vec![Vec::new(); tally.sizes.len()];
    tally.group_of.iter().zip(0..).for_each(|(&class, row)| rows[class as usize].push(row));
    let mut partition = Partition::default();
    rows.iter().for_each(|rows| partition.push(rows));
    partition
}

/// The same table without the records whose quasi-identifiers are all suppressed, and how many these are.
pub fn without_suppressed(table: &Table, labels: &Labels) -> (Table, u64) {
    let classed = Classed::new(table, labels);
    let is_kept: Vec<bool> = (0..classed.len()).map(|class| !classed.is_suppressed(class)).collect();
    let rows: Vec<u32> =
        (0..table.n_rows() as u32).filter(|&row| is_kept[classed.class_of[row as usize] as usize]).collect();
    let columns = table.columns.iter().map(|column| {
        let domain = column.domain.clone();
        let codes = rows.iter().map(|&row| column.codes[row as usize]).collect();
        Column { name: column.name.clone(), role: column.role, domain, codes }
    });
    (Table::new(rows.len(), columns.collect(), None), (table.n_rows() - rows.len()) as u64)
}

/// The same table with columns as numbers if all their values are numbers, no two of them the same, and no hierarchy says how they go
/// together. Quasi-identifiers are texts where they are published: only `roles` are looked at.
pub fn with_numbers(mut table: Table, roles: &[Role]) -> Table {
    for column in table.columns.iter_mut().filter(|column| roles.contains(&column.role)) {
        let texts = column.domain.texts();
        let mut numbers: Vec<f64> = texts.iter().filter_map(|text| number(text.trim())).collect();
        numbers.sort_unstable_by(f64::total_cmp);
        numbers.dedup();
        let is_number = column.domain.numbers().is_none() && column.domain.hierarchy().is_none();
        if texts.is_empty() || numbers.len() != texts.len() || !is_number {
            continue;
        }
        let missing = column.domain.missing();
        let codes = column.codes.iter().map(|&code| if code == missing { u32::MAX } else { code }).collect();
        let value = |text: &str| number(text.trim()).unwrap_or(0.0);
        *column = Column::from_number_codes(&column.name, column.role, texts, codes, value);
    }
    table
}
