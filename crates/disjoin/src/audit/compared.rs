//! What was kept of an original, by a table that somebody else made of it? No custody says which record became which.
//!
//! Paper:      the penalties are by Xu et al. 2006 (NCP) and Ghinita et al. 2007 (GCP), as in `measure/table`
//! Promises:   risks by the original are exact: for every person the records whose cells cover the person's values. A record without an
//!             original, and a person without a record, are such by their values alone: no way to pair the files can hide them
//! Assumes:    both tables have the same columns with the same roles
//! Departs:    the loss of a cell is that of the smallest cell of ours that covers the same values of the original. Cells are taken to be
//!             spread evenly over the values that they cover
//! Cost:       for each different record of the original a pass over bits of the different records of the release, bounded by `MOST_WORK`
//! Checked by: `tests/it/audit.rs`, record by record

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use rayon::prelude::*;
use serde::Serialize;

use super::{Labels, shown};
use crate::data::Cell;
use crate::data::class_counts::Tally;
use crate::data::table::{Column, Role, Table};
use crate::observer::Observer;
use crate::release::cells::{Shown, Value};

/// Comparing takes no more words of bits than this.
const MOST_WORK: u64 = 20_000_000_000;

/// Tables of bits for a column take no more words than this; columns with more are compared cell by cell at the end.
const MOST_WORDS: usize = 16 << 20;

/// How many records are named.
const N_NAMED: usize = 20;

/// What was kept of an original.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Compared {
    /// Records of the original.
    pub original_records: u64,
    /// If both files have as many records: those that disagree with the record of the same number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_order: Option<Disagreement>,
    /// Records of the file that stand for no record of the original: the values of all columns considered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without_original: Option<Disagreement>,
    /// Records of the original that no record of the file stands for: suppressed, or changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without_release: Option<u64>,
    /// Re-identification risk for adversaries who know the values that people have in the original.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk: Option<TrueRisk>,
    /// The mean penalty of a cell that is published.
    pub gcp: f64,
    /// The same over all records of the original, those that are missing counting as lost in full.
    pub gcp_all: f64,
    /// What each quasi-identifier lost.
    pub quasi: Vec<ColumnKept>,
    /// How far the shares of sensitive values are from those of the original (total variation).
    pub sensitive: Vec<Marginal>,
}

/// Records that disagree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Disagreement {
    /// How many.
    pub records: u64,
    /// The first of them, counted from 1.
    pub first: Vec<u64>,
}

/// Risks by the values of people.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TrueRisk {
    /// The fewest records that may be a person's.
    pub fewest_candidates: u64,
    /// The highest risk.
    pub highest: f64,
    /// The mean over people of whom some record may be.
    pub mean: f64,
    /// People with a risk above the threshold.
    pub at_risk: u64,
}

/// What a quasi-identifier lost.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ColumnKept {
    /// The column.
    pub column: String,
    /// The mean of NCP.
    pub ncp: f64,
    /// How far shares are from those of the original, if cells are spread evenly (total variation).
    pub marginal_error: f64,
    /// Records whose cell covers no value of the original.
    pub covers_nothing: u64,
}

/// How far shares are from those of the original.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Marginal {
    /// The column.
    pub column: String,
    /// Total variation.
    pub error: f64,
}

/// Compares a table with its original.
pub fn compare(
    release: &Table,
    original: &Table,
    labels: &Labels,
    threshold: f64,
    observer: &dyn Observer,
) -> Compared {
    let pairs = |role: Role| -> Vec<Pair<'_>> {
        let pair = |column: &'_ Column| original.columns.iter().position(|other| other.name == column.name);
        let columns = release.with_role(role);
        columns.filter_map(|column| Some(Pair::new(column, &original.columns[pair(column)?], labels))).collect()
    };
    let (quasi, sensitive) = (pairs(Role::Quasi), pairs(Role::Sensitive));
    let all: Vec<&Pair<'_>> = quasi.iter().chain(&sensitive).collect();
    let (n, n_original) = (release.n_rows(), original.n_rows());
    observer.check();
    let in_order = (n == n_original).then(|| in_order(&all, n));
    let (without_original, without_release) = match Matched::new(&all, n, n_original, observer) {
        Some(matched) => (Some(matched.unmatched()), Some(matched.weight_of(|sum| sum == 0))),
        None => (None, None),
    };
    let by_quasi: Vec<&Pair<'_>> = quasi.iter().collect();
    let risk = Matched::new(&by_quasi, n, n_original, observer).map(|matched| matched.risk(threshold));
    let kept: Vec<ColumnKept> = quasi.par_iter().map(|pair| pair.kept(n)).collect();
    let gcp = kept.iter().map(|column| column.ncp).sum::<f64>() / kept.len().max(1) as f64;
    let (n, n_original) = (n as f64, n_original as f64);
    let whole = n_original.max(n).max(1.0);
    Compared {
        original_records: original.n_rows() as u64,
        in_order,
        without_original,
        without_release,
        risk,
        gcp,
        gcp_all: (gcp * n + (whole - n)) / whole,
        sensitive: sensitive
            .iter()
            .map(|pair| Marginal {
                column: pair.release.name.clone(),
                error: pair.kept(release.n_rows()).marginal_error,
            })
            .collect(),
        quasi: kept,
    }
}

/// A column of the release beside that of the original.
struct Pair<'a> {
    release: &'a Column,
    original: &'a Column,
    shown: Vec<Shown>,
    values: Vec<Value>,
}

impl<'a> Pair<'a> {
    fn new(release: &'a Column, original: &'a Column, labels: &Labels) -> Self {
        let plain = |code: u32| Shown::Value(Value::new(release.domain.text(code)));
        let shown = match release.role {
            Role::Quasi => shown(release, labels),
            // What is sensitive is published as it is.
            _ => (0..release.domain.n_codes() as u32).map(plain).collect(),
        };
        let values = (0..original.domain.n_codes() as u32).map(|code| Value::new(original.domain.text(code))).collect();
        Pair { release, original, shown, values }
    }

    fn agrees(&self, row: usize, original: usize) -> bool {
        let (code, value) = (self.release.codes[row] as usize, self.original.codes[original] as usize);
        self.shown[code].covers(&self.values[value])
    }

    /// The loss of the column, and how far its shares are off.
    fn kept(&self, n: usize) -> ColumnKept {
        let domain = &self.original.domain;
        let mut shares = vec![0.0; self.values.len()];
        let n_original = self.original.codes.len().max(1) as f64;
        self.original.codes.iter().for_each(|&code| shares[code as usize] += 1.0 / n_original);
        let occurs: Vec<bool> = shares.iter().map(|&share| share > 0.0).collect();
        let mut counts = vec![0_u64; self.shown.len()];
        self.release.codes.iter().for_each(|&code| counts[code as usize] += 1);
        let (mut lost, mut covers_nothing) = (0.0, 0);
        for (cell, &count) in self.shown.iter().zip(&counts).filter(|(_, count)| **count > 0) {
            let covered: Vec<u32> = (0..self.values.len() as u32)
                .filter(|&code| occurs[code as usize] && cell.covers(&self.values[code as usize]))
                .collect();
            if covered.is_empty() {
                covers_nothing += count;
            }
            lost += count as f64 * Cell::cover(domain, covered.iter().copied()).loss(domain);
            let each = count as f64 / n.max(1) as f64 / covered.len().max(1) as f64;
            covered.iter().for_each(|&code| shares[code as usize] -= each);
        }
        // What covers no value is elsewhere.
        let elsewhere = covers_nothing as f64 / n.max(1) as f64;
        ColumnKept {
            column: self.release.name.clone(),
            ncp: lost / n.max(1) as f64,
            marginal_error: (shares.iter().map(|share| share.abs()).sum::<f64>() + elsewhere) / 2.0,
            covers_nothing,
        }
    }
}

fn in_order(pairs: &[&Pair<'_>], n: usize) -> Disagreement {
    let disagrees = |&row: &usize| !pairs.iter().all(|pair| pair.agrees(row, row));
    let found: Vec<usize> = (0..n).into_par_iter().filter(disagrees).collect();
    Disagreement { records: found.len() as u64, first: found.iter().take(N_NAMED).map(|&row| row as u64 + 1).collect() }
}

/// Different records of the release that may be different records of the original.
struct Matched {
    /// For each different record of the original the records of the release, and how many of the original it is.
    sums: Vec<(u64, u32)>,
    /// For each different record of the release whether it may be some of the original; its records, and the first of them.
    is_matched: Vec<bool>,
    sizes: Vec<u32>,
    firsts: Vec<u32>,
}

impl Matched {
    fn new(pairs: &[&Pair<'_>], n: usize, n_original: usize, observer: &dyn Observer) -> Option<Self> {
        let columns = |of: &dyn Fn(&Pair<'_>) -> (Vec<u32>, usize)| -> Vec<(Vec<u32>, usize)> {
            pairs.iter().map(|pair| of(pair)).collect()
        };
        let release = columns(&|pair| (pair.release.codes.clone(), pair.shown.len()));
        let original = columns(&|pair| (pair.original.codes.clone(), pair.values.len()));
        let (groups, people) = (Tally::new(n, &release, &[]), Tally::new(n_original, &original, &[]));
        let (tuples, known) = (groups.tuples(&release), people.tuples(&original));
        let (d, words) = (pairs.len(), groups.sizes.len().div_ceil(64));
        if d == 0 || (words * d) as u64 * people.sizes.len() as u64 > MOST_WORK {
            return None;
        }
        let tables: Vec<Option<Vec<u64>>> =
            pairs.par_iter().enumerate().map(|(at, pair)| pair.table(&tuples, at, d, words)).collect();
        let n_groups = groups.sizes.len();
        let marks: Vec<AtomicU64> = (0..words).map(|_| AtomicU64::new(0)).collect();
        let of_person = |bits: &mut Vec<u64>, person: usize| -> u64 {
            observer.check();
            let codes = &known[person * d..][..d];
            first_bits(bits, n_groups);
            for (table, &code) in tables.iter().zip(codes) {
                let Some(table) = table else { continue };
                bits.iter_mut().zip(&table[code as usize * words..][..words]).for_each(|(a, b)| *a &= b);
            }
            let agrees = |group: usize| {
                let cells = &tuples[group * d..][..d];
                let mut late = pairs.iter().zip(&tables).enumerate().filter(|(_, (_, table))| table.is_none());
                late.all(|(at, (pair, _))| pair.shown[cells[at] as usize].covers(&pair.values[codes[at] as usize]))
            };
            let mut sum = 0;
            for (at, word) in bits.iter().enumerate().filter(|(_, word)| **word != 0) {
                let groups_of = (0..64).filter(|bit| word >> bit & 1 == 1).map(|bit| at * 64 + bit);
                for group in groups_of.filter(|&group| agrees(group)) {
                    sum += u64::from(groups.sizes[group]);
                    marks[at].fetch_or(1 << (group % 64), Relaxed);
                }
            }
            sum
        };
        let found: Vec<u64> = (0..people.sizes.len()).into_par_iter().map_init(Vec::new, of_person).collect();
        let is_matched = (0..n_groups).map(|group| marks[group / 64].load(Relaxed) >> (group % 64) & 1 == 1).collect();
        let sums = found.into_iter().zip(people.sizes.iter().copied()).collect();
        Some(Matched { sums, is_matched, sizes: groups.sizes, firsts: groups.firsts })
    }

    fn weight_of(&self, is: impl Fn(u64) -> bool) -> u64 {
        self.sums.iter().filter(|(sum, _)| is(*sum)).map(|(_, people)| u64::from(*people)).sum()
    }

    fn unmatched(&self) -> Disagreement {
        let without = || (0..self.sizes.len()).filter(|&group| !self.is_matched[group]);
        Disagreement {
            records: without().map(|group| u64::from(self.sizes[group])).sum(),
            first: without().take(N_NAMED).map(|group| u64::from(self.firsts[group]) + 1).collect(),
        }
    }

    fn risk(&self, threshold: f64) -> TrueRisk {
        let found = || self.sums.iter().filter(|(sum, _)| *sum > 0);
        let fewest = found().map(|(sum, _)| *sum).min().unwrap_or(0);
        let people = self.weight_of(|sum| sum > 0);
        let sum: f64 = found().map(|&(sum, people)| f64::from(people) / sum as f64).sum();
        TrueRisk {
            fewest_candidates: fewest,
            highest: if fewest == 0 { 0.0 } else { 1.0 / fewest as f64 },
            mean: sum / people.max(1) as f64,
            at_risk: self.weight_of(|sum| sum > 0 && 1.0 / sum as f64 > threshold),
        }
    }
}

/// So many bits, all set.
fn first_bits(bits: &mut Vec<u64>, n: usize) {
    bits.clear();
    bits.resize(n.div_ceil(64), u64::MAX);
    if let Some(last) = bits.last_mut().filter(|_| !n.is_multiple_of(64)) {
        *last = (1 << (n % 64)) - 1;
    }
}

impl Pair<'_> {
    /// For each value of the original the groups of the release whose cell covers it, as bits; none if they are too many.
    fn table(&self, tuples: &[u32], at: usize, d: usize, words: usize) -> Option<Vec<u64>> {
        if self.values.len().checked_mul(words)? > MOST_WORDS {
            return None;
        }
        let mut with: Vec<Vec<u32>> = vec![Vec::new(); self.shown.len()];
        for (group, tuple) in tuples.chunks_exact(d).enumerate() {
            with[tuple[at] as usize].push(group as u32);
        }
        let mut table = vec![0_u64; self.values.len() * words];
        table.par_chunks_mut(words.max(1)).zip(&self.values).for_each(|(bits, value)| {
            for (cell, groups) in self.shown.iter().zip(&with).filter(|(_, groups)| !groups.is_empty()) {
                if cell.covers(value) {
                    groups.iter().for_each(|&group| bits[group as usize / 64] |= 1 << (group % 64));
                }
            }
        });
        Some(table)
    }
}
