//! Does a generalized table keep its promise? Every class is counted anew from data.csv; with the original, every row is
//! looked up.
//!
//! Paper:      amiri2016 (k-anonymity and beta-likeness); the criteria are those of `release/privacy_models.rs`
//! Promises:   if the verdict holds, every class of rows that show the same quasi-identifiers satisfies every criterion of
//!             the claim that a release can show; with the original also that nothing was invented: each class has the rows
//!             that custody says, cells that cover their values, and exactly their other values
//! Assumes:    shares no code with `protect`. A limit on beliefs cannot be checked here, and the verdict says so
//! Departs:    a claim without any criterion that can be checked promises nothing, and does not hold
//! Cost:       one pass, and the sensitive values of each class; with the original, sorting the rows of each class
//! Checked by: `tests/it/table_release.rs`: every rule is broken once on purpose

use std::cmp::Ordering;
use std::collections::HashMap;
use std::path::Path;

use rayon::prelude::*;
use serde::Serialize;

use super::associations::{check_associations, stands_for};
use crate::data::Table;
use crate::data::table::{Column, Domain, Role};
use crate::error::{Error, Place, Result};
use crate::memory::{Memory, read_file};
use crate::observer::{Observer, Unobserved};
use crate::read::rows::{Declared, table_bytes};
use crate::read::{Format, Options};
use crate::release::generalized::{DATA, PublishedColumn, TableClaim, published_columns, write_row};
use crate::release::privacy_models::{Criterion, Judge, Reading};

/// How many findings a verdict tells in full.
pub(super) const N_FINDINGS: usize = 20;

/// What only the maker of a release has.
#[derive(Debug, Clone, Copy)]
pub struct TableTruth<'a> {
    /// The table that was protected.
    pub table: &'a Table,
    /// For each of its rows the class it went to, numbered from 0 in the order of data.csv; none if it was removed.
    pub class_of: &'a [Option<u32>],
}

/// Something that a release is checked for, besides its criteria.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum TableRule {
    /// The claim promises something that can be checked.
    Promise,
    /// The columns are those of the claim.
    Columns,
    /// There are as many rows as the claim declares.
    Records,
    /// Every class satisfies every criterion.
    Criteria,
    /// The custody map speaks of this original and of these classes.
    CustodyMap,
    /// A class has as many rows as custody says.
    ClassSize,
    /// The cells of a class cover the values of its rows.
    Cells,
    /// A class has exactly the sensitive and other values of its rows.
    Values,
    /// The groups of a split table are numbered from 1, without gaps.
    Groups,
    /// The counts of a group add up to its rows, in every sensitive table.
    Counts,
    /// The lines of a split table are in the order of their content.
    Order,
    /// No rule leads from quasi-identifiers to a sensitive value with the confidence and support that are excluded.
    Associations,
    /// Classes hold by people: in parts in which nobody has two rows.
    People,
}

impl TableRule {
    /// What the rule protects, in one plain sentence.
    pub fn meaning(self) -> &'static str {
        match self {
            TableRule::Promise => "The release promises something that can be checked.",
            TableRule::Columns => {
                "The columns of the data are those that the claim names, and of the kind that it declares."
            }
            TableRule::Records => "The data hold as many rows as the claim declares.",
            TableRule::Criteria => "All rows that show the same quasi-identifiers together satisfy every criterion.",
            TableRule::CustodyMap => "The custody map sends every row of the original to a class, or to none.",
            TableRule::ClassSize => "Every class has as many rows as were put into it.",
            TableRule::Cells => "What a class shows of a quasi-identifier covers the values of all its rows.",
            TableRule::Values => "The sensitive and other values of a class are exactly those of its rows.",
            TableRule::Groups => "Groups are numbered from 1 without gaps, and sensitive tables know no others.",
            TableRule::Counts => "The counts of every sensitive table add up to the rows of each group.",
            TableRule::Order => "Lines stand in the order of their content: no other order can disclose who is who.",
            TableRule::Associations => {
                "No rule leads from quasi-identifiers to a sensitive value as surely as is excluded."
            }
            TableRule::People => {
                "Rows of every class are of parts in which nobody has two rows, and which satisfy every criterion by themselves."
            }
        }
    }
}

/// How a release stands to one criterion.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CriterionLine {
    /// What is claimed.
    pub criterion: Criterion,
    /// The same in plain words.
    pub text: String,
    /// Whether a release shows it at all: beliefs cannot be read from one.
    pub checkable: bool,
    /// Classes that were looked at.
    pub classes: u64,
    /// Classes that fail.
    pub violated: u64,
    /// How the class that stands worst stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worst: Option<Reading>,
}

/// How often a rule was checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct TableCheck {
    /// Which.
    pub rule: TableRule,
    /// How often.
    pub checked: u64,
    /// How often it was broken.
    pub violated: u64,
}

/// A rule that is broken, and where. No value of a person is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TableFinding {
    /// Which.
    pub rule: TableRule,
    /// The line of data.csv in which the class begins, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// What is wrong.
    pub problem: String,
}

/// Whether a generalized table keeps its promise, and what was looked at.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TableVerdict {
    /// Nothing is violated, and something is promised.
    pub holds: bool,
    /// Rows of data.csv.
    pub records: u64,
    /// Classes of rows that show the same.
    pub classes: u64,
    /// The rows of the smallest class.
    pub smallest_class: u64,
    /// Whether the original was at hand.
    pub against_original: bool,
    /// The criteria of the claim.
    pub criteria: Vec<CriterionLine>,
    /// The rules that were checked, with counts.
    pub checks: Vec<TableCheck>,
    /// How many checks failed.
    pub violations: u64,
    /// The first 20 of them.
    pub findings: Vec<TableFinding>,
}

/// Opens the folder of a release: its claim, and its data as a table in which quasi-identifiers are the texts that are
/// published.
pub fn open_table(folder: &Path, memory: Memory) -> Result<(TableClaim, Table)> {
    let claim = TableClaim::read(&folder.join("claim.json"))?;
    let path = folder.join(DATA);
    let bytes = read_file(&path, "read the release", memory)?;
    let name = path.display().to_string();
    let table = parse_table(&claim, &name, &bytes)?;
    Ok((claim, table))
}

/// The data of a release as a table, by what its claim says of the columns; `name` serves in messages.
pub fn parse_table(claim: &TableClaim, name: &str, bytes: &[u8]) -> Result<Table> {
    // What is published of a quasi-identifier is a text, also where it began as a number.
    let is_number = |column: &PublishedColumn| column.numeric && column.role != Role::Quasi;
    let columns: Vec<_> =
        claim.columns.iter().map(|column| (column.name.as_str(), column.role, is_number(column))).collect();
    let mut table = parse(name, bytes, &columns, DATA)?;
    for column in table.columns.iter_mut().filter(|column| column.role == Role::Sensitive) {
        if let Some(hierarchy) = claim.hierarchy(&column.name, column.domain.texts(), name)? {
            column.domain.set_hierarchy(hierarchy);
        }
    }
    Ok(table)
}

/// A file with these columns: name, role, and whether they hold numbers. It is `called` so in a hint.
pub(super) fn parse(name: &str, bytes: &[u8], columns: &[(&str, Role, bool)], called: &str) -> Result<Table> {
    let mut expected = Vec::new();
    write_row(columns.iter().map(|(name, ..)| *name), &mut expected);
    let header = bytes.split_inclusive(|&byte| byte == b'\n').next().unwrap_or_default();
    let header = header.strip_prefix(b"\xef\xbb\xbf").unwrap_or(header);
    if header.trim_ascii_end() != expected.trim_ascii_end() {
        return Err(Error::input(Place::line(name, 1), "the columns are not those that the claim names")
            .with_hint(format!("claim.json and {called} do not belong together")));
    }
    let declared = Declared {
        roles: columns.iter().map(|(name, role, _)| (name.to_string(), *role)).collect(),
        numeric: columns.iter().filter(|(.., numeric)| *numeric).map(|(name, ..)| name.to_string()).collect(),
        ..Declared::default()
    };
    let options = Options { format: Some(Format::Table), separator: Some(b','), ..Options::default() };
    Ok(table_bytes(name, bytes, &options, &declared)?.0)
}

/// Checks a release against its claim, and against the original if it is given.
///
/// A release that cannot be read is an error of [`open_table`]; one that breaks its promise is a verdict.
pub fn verify_table(claim: &TableClaim, table: &Table, truth: Option<TableTruth<'_>>) -> TableVerdict {
    verify_table_with(claim, table, truth, &Unobserved)
}

/// Like [`verify_table`], watched by somebody.
pub fn verify_table_with(
    claim: &TableClaim,
    table: &Table,
    truth: Option<TableTruth<'_>>,
    observer: &dyn Observer,
) -> TableVerdict {
    observer.check();
    let mut tally = Tally::default();
    let columns = published_columns(table);
    let agrees = |(column, told): (&&Column, &PublishedColumn)| {
        let is_number = column.domain.numbers().is_some();
        column.name == told.name && column.role == told.role && is_number == (told.numeric && told.role != Role::Quasi)
    };
    let agree = columns.len() == claim.columns.len() && columns.iter().zip(&claim.columns).all(agrees);
    tally.check(TableRule::Columns, None, agree, || String::from("the columns are not those that the claim names"));
    let records = table.n_rows() as u64;
    tally.check(TableRule::Records, None, records == claim.records, || {
        format!("there are {records} rows, the claim has {}", claim.records)
    });

    let classes = Groups::shown(table);
    observer.check();
    let lines = Lines::new(table);
    let criteria = check_criteria(&claim.criteria, table, &classes, &lines, &mut tally, observer);
    let is_split = |criterion: &Criterion| matches!(criterion, Criterion::KnowledgeBreach { .. });
    tally.check(TableRule::Promise, None, !claim.criteria.iter().any(is_split), || {
        String::from("sensitive values stand side by side: no probability of all of them can be promised")
    });
    if let Some(rules) = &claim.associations {
        check_associations(rules, table, &mut tally);
    }
    if let Some(truth) = truth {
        check_truth(table, &classes, truth, claim.associations.is_some(), &lines, &mut tally, observer);
    }
    tally.verdict(records, &classes, truth.is_some(), criteria)
}

/// How many rows each class of a release has, in the order of data.csv.
pub(super) fn class_sizes(table: &Table) -> Vec<u64> {
    let classes = Groups::shown(table);
    (0..classes.len()).map(|class| classes.rows(class).len() as u64).collect()
}

pub(super) fn check_criteria(
    criteria: &[Criterion],
    table: &Table,
    classes: &Groups,
    lines: &Lines,
    tally: &mut Tally,
    observer: &dyn Observer,
) -> Vec<CriterionLine> {
    let mut told = Vec::with_capacity(criteria.len());
    for criterion in criteria {
        let mut line = CriterionLine {
            criterion: *criterion,
            text: criterion.text(),
            checkable: criterion.is_checkable(),
            classes: 0,
            violated: 0,
            worst: None,
        };
        let judge = Judge::new(&[*criterion], table);
        // A limit that means nothing, or a column that is not there to be asked.
        tally.check(TableRule::Promise, None, judge.is_ok(), || match &judge {
            Err(error) => format!("\"{}\" cannot be promised: {error}", line.text),
            Ok(_) => String::new(),
        });
        if let (true, Ok(judge)) = (line.checkable, &judge) {
            let reading = |class: usize| {
                observer.check();
                judge.readings(&judge.of(classes.rows(class).iter().copied())).pop().flatten()
            };
            let readings: Vec<Option<Reading>> = (0..classes.len()).into_par_iter().map(reading).collect();
            for (class, reading) in readings.into_iter().enumerate() {
                let Some(reading) = reading else { continue };
                line.classes += 1;
                line.violated += u64::from(!reading.holds);
                if line.worst.is_none_or(|worst| worst.excess() < reading.excess()) {
                    line.worst = Some(reading);
                }
                tally.check(TableRule::Criteria, Some(lines.of(classes, class)), reading.holds, || {
                    format!("the class has {:.6} where the limit is {}: {}", reading.value, reading.limit, line.text)
                });
            }
        }
        told.push(line);
    }
    let is_promise = told.iter().any(|line| line.checkable);
    tally.check(TableRule::Promise, None, is_promise, || {
        String::from("the claim names no criterion that a release could show")
    });
    told
}

/// Looks up every class in the original.
///
/// Where sensitive values may be labels, they are looked at column by column.
fn check_truth(
    table: &Table,
    classes: &Groups,
    truth: TableTruth<'_>,
    has_labels: bool,
    lines: &Lines,
    tally: &mut Tally,
    observer: &dyn Observer,
) {
    let columns = published_columns(table);
    let Some(pairs) = beside_original(columns.into_iter(), (classes, "classes"), truth, tally) else { return };

    let put = Groups::new(truth.class_of.iter().copied(), classes.len());
    let is_quasi = |(column, _): &(&Column, &Column)| column.role == Role::Quasi;
    let (quasi, values): (Vec<_>, Vec<_>) = pairs.into_iter().partition(is_quasi);
    let is_label = |(column, _): &(&Column, &Column)| has_labels && column.role == Role::Sensitive;
    let (labels, values): (Vec<_>, Vec<_>) = values.into_iter().partition(is_label);
    let values: Vec<Value<'_>> = values.into_iter().map(|(column, original)| Value::new(column, original)).collect();
    let check = |class: usize| {
        observer.check();
        let (published, own) = (classes.rows(class), put.rows(class));
        let covers = |&(column, original): &(&Column, &Column)| {
            let Some(&row) = published.first() else { return true };
            let text = column.domain.text(column.codes[row as usize]);
            own.iter().all(|&row| shows(text, &original.domain, original.codes[row as usize]))
        };
        let uncovered = quasi.iter().find(|pair| !covers(pair)).map(|(column, _)| column.name.as_str());
        let same = same_values(&values, published, own)
            && labels.iter().all(|(column, original)| stands_for(column, original, published, own));
        (published.len(), own.len(), uncovered, same)
    };
    let checked: Vec<_> = (0..classes.len()).into_par_iter().map(check).collect();
    for (class, (published, own, uncovered, same)) in checked.into_iter().enumerate() {
        let line = Some(lines.of(classes, class));
        tally.check(TableRule::ClassSize, line, published == own, || {
            format!("the class has {published} rows, of which custody knows {own}")
        });
        tally.check(TableRule::Cells, line, uncovered.is_none(), || {
            format!("the cell of {} does not cover the values of all rows of the class", uncovered.unwrap_or_default())
        });
        tally.check(TableRule::Values, line, same, || {
            String::from("the sensitive and other values of the class are not those of its rows")
        });
    }
}

/// The columns of a release, each beside that of the original, if the custody map and the original belong to the release.
/// `groups` are what rows are put into, and how they are called.
pub(super) fn beside_original<'a>(
    columns: impl Iterator<Item = &'a Column>,
    (groups, called): (&Groups, &str),
    TableTruth { table: original, class_of }: TableTruth<'a>,
    tally: &mut Tally,
) -> Option<Vec<(&'a Column, &'a Column)>> {
    let (rows, n_groups) = (class_of.len(), groups.len() as u32);
    let fits = rows == original.n_rows();
    tally.check(TableRule::CustodyMap, None, fits, || {
        format!("the custody map has {rows} rows, the original {}", original.n_rows())
    });
    let is_known = class_of.iter().flatten().all(|&group| group < n_groups);
    tally.check(TableRule::CustodyMap, None, is_known, || {
        format!("the custody map names {called} beyond the {n_groups} that are published")
    });
    let find = |column: &Column| original.columns.iter().find(|other| other.name == column.name);
    let pairs: Option<Vec<_>> = columns.map(|column| find(column).map(|other| (column, other))).collect();
    tally.check(TableRule::Columns, None, pairs.is_some(), || {
        String::from("the original lacks a column of the release")
    });
    pairs.filter(|_| fits && is_known)
}

/// A column that is published as it is, and for each code of the original its code there; `u32::MAX` if it is not there.
pub(super) struct Value<'a> {
    codes: &'a [u32],
    original: &'a [u32],
    rename: Vec<u32>,
}

impl<'a> Value<'a> {
    pub(super) fn new(column: &'a Column, original: &'a Column) -> Self {
        let texts = column.domain.texts();
        let mut rename: Vec<u32> =
            original.domain.texts().iter().map(|text| texts.get(text).unwrap_or(u32::MAX)).collect();
        rename.push(column.domain.missing());
        Value { codes: &column.codes, original: &original.codes, rename }
    }

    fn published(&self, row: u32) -> u32 {
        self.codes[row as usize]
    }

    fn own(&self, row: u32) -> u32 {
        self.rename[self.original[row as usize] as usize]
    }
}

/// Whether rows of the release and of the original have the same combinations of values, each as often.
pub(super) fn same_values(values: &[Value<'_>], published: &[u32], own: &[u32]) -> bool {
    let order = |codes: &dyn Fn(&Value<'_>) -> (u32, u32)| {
        let orders = values.iter().map(codes).map(|(a, b)| a.cmp(&b));
        orders.fold(Ordering::Equal, Ordering::then)
    };
    let (mut published, mut own) = (published.to_vec(), own.to_vec());
    published.sort_unstable_by(|&a, &b| order(&|value| (value.published(a), value.published(b))));
    own.sort_unstable_by(|&a, &b| order(&|value| (value.own(a), value.own(b))));
    let same = |(&published, &own): (&u32, &u32)| values.iter().all(|v| v.published(published) == v.own(own));
    published.len() == own.len() && published.iter().zip(&own).all(same)
}

/// Whether what is published of a quasi-identifier may stand for a value of the original.
pub(super) fn shows(text: &str, domain: &Domain, code: u32) -> bool {
    let is_plain = domain.numbers().is_none() && domain.hierarchy().is_none();
    let listed = |value: &str| {
        let inner = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
        inner.is_some_and(|inner| format!("|{inner}|").contains(&format!("|{value}|")))
    };
    // An empty text is what a missing value shows, and no value has it.
    if text == "*" || text == domain.text(code) || (is_plain && listed(domain.text(code))) {
        return true;
    }
    if code == domain.missing() {
        return false;
    }
    if let Some(hierarchy) = domain.hierarchy() {
        return hierarchy.ancestors(code).any(|node| hierarchy.text(node, domain.texts()) == text);
    }
    let range = text.split_once("..").and_then(|(first, last)| Some((first.parse().ok()?, last.parse().ok()?)));
    let value = domain.numbers().and_then(|numbers| numbers.get(code as usize));
    matches!((range, value), (Some((first, last)), Some(&value)) if (first..=last).contains(&value))
}

/// Rows in groups, in order of first appearance.
pub(super) struct Groups {
    rows: Vec<u32>,
    ends: Vec<usize>,
}

impl Groups {
    /// Rows that show the same quasi-identifiers.
    fn shown(table: &Table) -> Self {
        let quasi = table.quasi();
        let mut known: HashMap<Vec<u32>, u32> = HashMap::new();
        let mut class_of: Vec<Option<u32>> = Vec::with_capacity(table.n_rows());
        for row in 0..table.n_rows() {
            // Rows of a class stand together: most are like the one before.
            let before = row.checked_sub(1).filter(|&before| quasi.iter().all(|c| c.codes[before] == c.codes[row]));
            class_of.push(before.map_or_else(
                || {
                    let next = known.len() as u32;
                    Some(*known.entry(quasi.iter().map(|column| column.codes[row]).collect()).or_insert(next))
                },
                |before| class_of[before],
            ));
        }
        Self::new(class_of.into_iter(), known.len())
    }

    /// Rows by the number of their group, which must be below `n_groups`.
    pub(super) fn new(group_of: impl Iterator<Item = Option<u32>> + Clone, n_groups: usize) -> Self {
        let mut ends = vec![0; n_groups];
        group_of.clone().flatten().for_each(|group| ends[group as usize] += 1);
        let mut sum = 0;
        for end in &mut ends {
            sum += std::mem::replace(end, sum);
        }
        // Each end is now where its group begins, and grows to where it ends.
        let mut rows = vec![0; sum];
        for (row, group) in group_of.enumerate() {
            if let Some(group) = group {
                rows[ends[group as usize]] = row as u32;
                ends[group as usize] += 1;
            }
        }
        Groups { rows, ends }
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn rows(&self, group: usize) -> &[u32] {
        let start = group.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.rows[start..self.ends[group]]
    }
}

/// In which line of data.csv each row begins; none where every row is one line.
pub(super) struct Lines(Option<Vec<u64>>);

impl Lines {
    pub(super) fn new(table: &Table) -> Self {
        let breaks = |text: &str| text.bytes().filter(|&byte| byte == b'\n').count() as u64;
        let has_break = |column: &&Column| column.domain.texts().iter().any(|text| breaks(text) > 0);
        let columns: Vec<&Column> = table.columns.iter().filter(has_break).collect();
        if columns.is_empty() {
            return Lines(None);
        }
        let within = |row: usize| -> u64 { columns.iter().map(|c| breaks(c.domain.text(c.codes[row]))).sum() };
        let mut lines = Vec::with_capacity(table.n_rows());
        let mut line = 2;
        for row in 0..table.n_rows() {
            lines.push(line);
            line += 1 + within(row);
        }
        Lines(Some(lines))
    }

    /// Where a class begins.
    pub(super) fn of(&self, classes: &Groups, class: usize) -> u64 {
        let row = classes.rows(class).first().map_or(0, |&row| row as usize);
        match &self.0 {
            Some(lines) => lines.get(row).copied().unwrap_or_default(),
            None => row as u64 + 2,
        }
    }
}

#[derive(Default)]
pub(super) struct Tally {
    pub(super) checks: Vec<TableCheck>,
    pub(super) violations: u64,
    pub(super) findings: Vec<TableFinding>,
}

impl Tally {
    pub(super) fn check(&mut self, rule: TableRule, line: Option<u64>, holds: bool, problem: impl FnOnce() -> String) {
        let place = self.checks.iter().position(|check| check.rule == rule).unwrap_or_else(|| {
            self.checks.push(TableCheck { rule, checked: 0, violated: 0 });
            self.checks.len() - 1
        });
        self.checks[place].checked += 1;
        if holds {
            return;
        }
        self.checks[place].violated += 1;
        self.violations += 1;
        if self.findings.len() < N_FINDINGS {
            self.findings.push(TableFinding { rule, line, problem: problem() });
        }
    }

    pub(super) fn verdict(
        self,
        records: u64,
        groups: &Groups,
        against_original: bool,
        criteria: Vec<CriterionLine>,
    ) -> TableVerdict {
        TableVerdict {
            holds: self.violations == 0,
            records,
            classes: groups.len() as u64,
            smallest_class: (0..groups.len()).map(|group| groups.rows(group).len()).min().unwrap_or(0) as u64,
            against_original,
            criteria,
            checks: self.checks,
            violations: self.violations,
            findings: self.findings,
        }
    }
}
