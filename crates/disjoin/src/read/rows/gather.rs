//! Rows counted part by part: what is kept of a part is what it adds to the counts, and the group of each of its rows.
//!
//! Promises:   the counts are those of all rows at once, wherever the parts begin and end
//! Cost:       a part is counted by itself, on any core; to be added it takes a step for each of its groups, and for each different
//!             value of a group
//! Checked by: tests of `rows/stream.rs`

use std::hash::BuildHasher;
use std::io::{self, Write};

use hashbrown::{HashMap, HashTable};

use super::roles::Planned;
use super::sink::{MISSING, Sink};
use super::{ColumnReading, Declared};
use crate::data::class_counts::{Counted, Tally, Values};
use crate::data::table::{Column, Role, Table};
use crate::data::{Dictionary, Evidence, TermId};
use crate::error::Result;
use crate::read::people::{Repeats, strongest};

/// Counts of the parts so far. Codes and groups are numbered by first appearance.
pub(super) struct Gather {
    columns: Vec<Texts>,
    groups: Groups,
    /// For each sensitive column: group and code, and how many rows have both.
    values: Vec<HashMap<(u32, u32), u32, foldhash::fast::RandomState>>,
    pub(super) n_rows: u64,
    pub(super) missing: u64,
    /// How often the values of identifiers come back, column by column.
    repeats: Vec<Repeats>,
}

/// Groups by their codes, [`MISSING`] for no value.
#[derive(Default)]
struct Groups {
    /// Codes in the quasi-identifiers, one group after the other.
    tuples: Vec<u32>,
    sizes: Vec<u32>,
    index: HashTable<u32>,
    hasher: foldhash::fast::RandomState,
}

/// A column: its texts, and whether some cell has none.
#[derive(Default)]
struct Texts {
    role: Option<Role>,
    texts: Dictionary,
    has_missing: bool,
}

/// A part, counted by itself.
pub(super) struct Part {
    columns: Vec<Texts>,
    tuples: Vec<u32>,
    tally: Tally,
    missing: u64,
    /// The codes of the first sensitive column, row by row.
    first: Vec<u32>,
    /// How often the values of identifiers come back, column by column.
    repeats: Vec<Repeats>,
}

/// For each group, as the rows told it, the group in the counts; and the same of the codes of the first sensitive column.
pub struct Renumbered {
    groups: Vec<u32>,
    /// The last stands for missing values.
    codes: Vec<u32>,
}

impl Renumbered {
    /// Numbers that mean what they say: so many groups, and so many codes.
    pub(super) fn not(n_groups: usize, n_codes: usize) -> Self {
        Renumbered { groups: (0..n_groups as u32).collect(), codes: (0..n_codes as u32).collect() }
    }

    /// The group in the counts.
    pub fn group(&self, written: u32) -> u32 {
        self.groups[written as usize]
    }

    /// The code in the column.
    pub fn code(&self, written: u32) -> u32 {
        rank(&self.codes, written)
    }
}

impl Part {
    /// Counts the rows of a part.
    pub(super) fn new(sinks: Vec<Sink>, plan: &[Planned], n_rows: usize) -> Self {
        let (mut columns, mut missing) = (Vec::new(), 0);
        let (mut quasi, mut sensitive, mut repeats) = (Vec::new(), Vec::new(), Vec::new());
        for (sink, column) in sinks.into_iter().zip(plan) {
            let (texts, mut codes) = match sink {
                Sink::Watch(watched) => {
                    repeats.push(watched);
                    continue;
                }
                sink => match sink.into_cells() {
                    Some(cells) => cells,
                    None => continue,
                },
            };
            // Among the codes of a part, that of a missing value comes after the last.
            let last = texts.len() as u32;
            let before = missing;
            for code in codes.iter_mut().filter(|code| **code == MISSING) {
                *code = last;
                missing += 1;
            }
            let with_codes = (codes, texts.len() + 1);
            if column.role == Role::Quasi {
                quasi.push(with_codes)
            } else {
                sensitive.push(with_codes)
            }
            columns.push(Texts { role: Some(column.role), texts, has_missing: missing > before });
        }
        let tally = Tally::new(n_rows, &quasi, &sensitive);
        let tuples = tally.tuples(&quasi);
        let first = sensitive.into_iter().next().map(|(codes, _)| codes).unwrap_or_default();
        Part { columns, tuples, tally, missing, first, repeats }
    }
}

impl Gather {
    pub(super) fn new(plan: &[Planned]) -> Self {
        let kept = plan.iter().filter(|column| column.role != Role::Identifier);
        let texts = |column: &Planned| Texts { role: Some(column.role), ..Texts::default() };
        let columns: Vec<Texts> = kept.map(texts).collect();
        let n_sensitive = columns.iter().filter(|column| column.role == Some(Role::Sensitive)).count();
        Gather {
            columns,
            groups: Groups::default(),
            values: vec![HashMap::default(); n_sensitive],
            n_rows: 0,
            missing: 0,
            repeats: plan.iter().filter(|column| column.watched).map(|_| Repeats::default()).collect(),
        }
    }

    /// Signs of several rows a person.
    pub(super) fn several(&self, plan: &[Planned]) -> Vec<Evidence> {
        let watched = plan.iter().filter(|column| column.watched).zip(&self.repeats);
        strongest(watched.filter_map(|(column, repeats)| repeats.evidence(&column.name)).collect())
    }

    /// Adds a part, and writes the group of each row; with `with_values` also its code in the first sensitive column.
    pub(super) fn add(&mut self, part: Part, with_values: bool, rows: &mut impl Write) -> io::Result<()> {
        self.n_rows += part.tally.group_of.len() as u64;
        self.missing += part.missing;
        self.repeats.iter_mut().zip(part.repeats).for_each(|(all, part)| all.append(part));
        let renamed: Vec<Vec<u32>> =
            self.columns.iter_mut().zip(&part.columns).map(|(all, part)| all.add(part)).collect();
        let of_role = |role| -> Vec<&Vec<u32>> {
            renamed.iter().zip(&part.columns).filter(|(_, c)| c.role == Some(role)).map(|(codes, _)| codes).collect()
        };
        let (quasi, sensitive) = (of_role(Role::Quasi), of_role(Role::Sensitive));
        let mut tuple = Vec::with_capacity(quasi.len());
        let mut groups = Vec::with_capacity(part.tally.sizes.len());
        for (i, size) in part.tally.sizes.iter().enumerate() {
            tuple.clear();
            let codes = &part.tuples[i * quasi.len()..(i + 1) * quasi.len()];
            tuple.extend(codes.iter().zip(&quasi).map(|(&code, renamed)| renamed[code as usize]));
            groups.push(self.groups.add(&tuple, *size));
        }
        for ((all, counts), renamed) in self.values.iter_mut().zip(&part.tally.values).zip(&sensitive) {
            for &((group, code), count) in counts {
                *all.entry((groups[group as usize], renamed[code as usize])).or_insert(0) += count;
            }
        }
        let mut bytes = Vec::with_capacity(8 * part.tally.group_of.len());
        for (row, &group) in part.tally.group_of.iter().enumerate() {
            bytes.extend_from_slice(&groups[group as usize].to_le_bytes());
            if with_values {
                bytes.extend_from_slice(&sensitive[0][part.first[row] as usize].to_le_bytes());
            }
        }
        rows.write_all(&bytes)
    }

    /// The counts, with codes in the order of values. Texts of the same number are one value: their groups become one.
    pub(super) fn finish(
        self,
        plan: &[Planned],
        declared: &Declared,
        file: &str,
    ) -> Result<(Counted, Renumbered, Vec<ColumnReading>)> {
        let kept = plan.iter().filter(|column| column.role != Role::Identifier);
        let (mut columns, mut quasi, mut sensitive) = (Vec::new(), Vec::new(), Vec::new());
        let mut readings = Vec::new();
        for (texts, planned) in self.columns.into_iter().zip(kept) {
            let (column, ranks, reading) = texts.into_column(planned, declared, file)?;
            readings.extend(reading);
            if planned.role == Role::Quasi {
                quasi.push(ranks)
            } else {
                sensitive.push(ranks)
            }
            columns.push(column);
        }
        let width = quasi.len();
        let mut merged = Groups::default();
        let mut group_of = Vec::with_capacity(self.groups.sizes.len());
        let mut tuple = Vec::with_capacity(width);
        for (i, &size) in self.groups.sizes.iter().enumerate() {
            tuple.clear();
            let codes = &self.groups.tuples[i * width..(i + 1) * width];
            tuple.extend(codes.iter().zip(&quasi).map(|(&code, ranks)| rank(ranks, code)));
            group_of.push(merged.add(&tuple, size));
        }
        let n_groups = merged.sizes.len();
        let in_order = |(counts, ranks): (HashMap<(u32, u32), u32, _>, &Vec<u32>)| {
            let place = |((group, code), count)| ((group_of[group as usize], rank(ranks, code)), count);
            Values::new(n_groups, counts.into_iter().map(place).collect())
        };
        let values = self.values.into_iter().zip(&sensitive).map(in_order).collect();
        let counted = Counted::new(Table::new(0, columns, None), merged.tuples, merged.sizes, values);
        let codes = sensitive.into_iter().next().unwrap_or_default();
        Ok((counted, Renumbered { groups: group_of, codes }, readings))
    }
}

impl Groups {
    /// Adds rows to the group with these codes, which is given a number if it is new.
    fn add(&mut self, tuple: &[u32], size: u32) -> u32 {
        let hash = self.hasher.hash_one(tuple);
        let (tuples, hasher, width) = (&self.tuples, &self.hasher, tuple.len());
        let of = |group: u32| &tuples[group as usize * width..(group as usize + 1) * width];
        if let Some(&group) = self.index.find(hash, |&group| of(group) == tuple) {
            self.sizes[group as usize] += size;
            return group;
        }
        let group = self.sizes.len() as u32;
        self.index.insert_unique(hash, group, |&other| hasher.hash_one(of(other)));
        self.tuples.extend_from_slice(tuple);
        self.sizes.push(size);
        group
    }
}

/// The rank of a code by first appearance; the last is that of missing values.
fn rank(ranks: &[u32], code: u32) -> u32 {
    ranks[(code as usize).min(ranks.len() - 1)]
}

impl Texts {
    /// Adds the texts of a part, and tells for each of its codes the code here.
    fn add(&mut self, part: &Texts) -> Vec<u32> {
        self.has_missing |= part.has_missing;
        let codes = part.texts.iter().map(|text| self.texts.intern(text));
        codes.chain([MISSING]).collect()
    }

    /// The column without rows, and for each code its rank; one more for missing values.
    fn into_column(
        self,
        planned: &Planned,
        declared: &Declared,
        file: &str,
    ) -> Result<(Column, Vec<u32>, Option<ColumnReading>)> {
        let codes = 0..self.texts.len() as TermId;
        let codes = codes.chain(self.has_missing.then_some(MISSING)).collect();
        let (mut column, reading) = super::typed::column(planned, self.texts, codes, None, declared, file)?;
        let mut ranks = std::mem::take(&mut column.codes);
        if !self.has_missing {
            ranks.push(column.domain.missing());
        }
        Ok((column, ranks, reading))
    }
}
