//! Does a split table keep its promise? Every group is counted anew from quasi.csv and the sensitive tables; with the original,
//! every row is looked up.
//!
//! Paper:      nadimpalli2014 (the form); the criteria are those of `release/privacy_models.rs`
//! Promises:   if the verdict holds, groups are numbered as they should be, the counts of every sensitive table add up to their
//!             rows, lines have no order but that of their content, and every group satisfies every criterion of the claim in
//!             every sensitive table; with the original also that each group has the rows that custody says, what covers their
//!             quasi-identifiers, and exactly their sensitive values
//! Assumes:    shares no code with `protect`
//! Departs:    as for generalized tables, a claim without a criterion that can be checked does not hold
//! Cost:       one pass over each file, and sorting the rows of each group with the original
//! Checked by: `tests/it/break_merge.rs`: every rule is broken once on purpose

use std::path::Path;

use rayon::prelude::*;

use super::table::{Groups, Lines, Tally, Value, beside_original, check_criteria, parse, same_values, shows};
use super::{TableRule, TableTruth, TableVerdict};
use crate::data::Table;
use crate::data::table::{Column, Role};
use crate::error::{Error, Place, Result};
use crate::memory::{Memory, read_file};
use crate::observer::Observer;
use crate::release::split::{Count, HEADING, QUASI, SensitiveFile, SplitClaim, SplitTables, Values};

/// The files of a split table, in memory.
#[derive(Debug, Clone, Default)]
pub struct SplitBytes {
    /// quasi.csv.
    pub quasi: Vec<u8>,
    /// The sensitive tables, in the order of the claim.
    pub sensitive: Vec<Vec<u8>>,
}

/// Opens the folder of a release: its claim, and its files.
pub fn open_split(folder: &Path, memory: Memory) -> Result<(SplitClaim, SplitTables)> {
    let claim = SplitClaim::read(&folder.join("claim.json"))?;
    let read = |name: &str| {
        // A claim may name any file; only those of its own folder are its release.
        if Path::new(name).file_name() != Some(name.as_ref()) {
            let problem = "names a sensitive table outside of the release";
            return Err(Error::input(Place::file(folder.join("claim.json").display().to_string()), problem));
        }
        read_file(&folder.join(name), "read the release", memory)
    };
    let quasi = read(QUASI)?;
    let sensitive = claim.files.iter().map(|file| read(&file.file)).collect::<Result<_>>()?;
    let tables = parse_split(&claim, &folder.display().to_string(), &SplitBytes { quasi, sensitive })?;
    Ok((claim, tables))
}

/// The files of a release by what its claim says of them; `folder` serves in messages.
pub fn parse_split(claim: &SplitClaim, folder: &str, bytes: &SplitBytes) -> Result<SplitTables> {
    let place = |name: &str| Path::new(folder).join(name).display().to_string();
    let mut columns: Vec<(&str, Role, bool)> = Vec::new();
    // What is published of a quasi-identifier is a text, also where it began as a number.
    let quasi = claim.columns.iter().filter(|column| column.role == Role::Quasi);
    columns.extend(quasi.map(|column| (column.name.as_str(), Role::Quasi, false)));
    columns.push((&claim.group_column, Role::Other, false));
    let name = place(QUASI);
    let mut quasi = parse(&name, &bytes.quasi, &columns, "this file")?;
    let group = quasi.columns.pop().ok_or(Error::Internal("a table has the columns that were declared"))?;
    let group_of: Vec<u32> = integers(&group, &name, 1)?.into_iter().map(|group| group - 1).collect();
    // No number can be so high if there are no gaps; whoever counts by it must not run out of memory.
    if let Some(row) = group_of.iter().position(|&group| group as usize >= group_of.len()) {
        let place = Place::line(&name, row as u64 + 2).in_column(&claim.group_column);
        return Err(Error::input(place, "the number of the group is higher than there are rows"));
    }
    let quasi = Table::new(quasi.n_rows(), quasi.columns, None);

    let table = |(file, bytes): (&SensitiveFile, &Vec<u8>)| {
        let numeric = claim.columns.iter().any(|column| column.name == file.column && column.numeric);
        let [group, value, count] = HEADING;
        let columns = [(group, Role::Other, false), (value, Role::Sensitive, numeric), (count, Role::Other, false)];
        let name = place(&file.file);
        let [group, value, count]: [Column; 3] = (parse(&name, bytes, &columns, "this file")?.columns.try_into())
            .map_err(|_| Error::Internal("a table has the columns that were declared"))?;
        let (groups, counts) = (integers(&group, &name, 1)?, integers(&count, &name, 0)?);
        let line = |((group, &code), count): ((u32, &u32), u32)| Count { group: group - 1, code, count };
        let counts = groups.into_iter().zip(&value.codes).zip(counts).map(line).collect();
        let mut domain = value.domain;
        if let Some(hierarchy) = claim.hierarchy(&file.column, domain.texts(), &name)? {
            domain.set_hierarchy(hierarchy);
        }
        Ok(Values { column: file.column.clone(), domain, counts })
    };
    let sensitive = claim.files.par_iter().zip(&bytes.sensitive).map(table).collect::<Result<_>>()?;
    Ok(SplitTables { quasi, group_of, sensitive })
}

/// The whole numbers of a column, from `least` on. Each has one spelling: 1 and 01 are two groups for who reads them as texts.
fn integers(column: &Column, file: &str, least: u32) -> Result<Vec<u32>> {
    let whole = |text: &str| {
        let number = text.parse().ok().filter(|&number: &u32| number >= least && number < u32::MAX);
        number.filter(|number| number.to_string() == text)
    };
    let known: Vec<Option<u32>> = column.domain.texts().iter().map(whole).collect();
    let value = |(&code, row): (&u32, u64)| {
        known.get(code as usize).copied().flatten().ok_or_else(|| {
            // Lines of a file with line ends in its cells are counted as rows.
            let place = Place::line(file, row + 2).in_column(&column.name);
            Error::input(place, format!("the cell is not a whole number from {least} on, in its plain spelling"))
        })
    };
    column.codes.iter().zip(0..).map(value).collect()
}

/// Checks a release against its claim, and against the original if it is given.
///
/// A release that cannot be read is an error of [`open_split`]; one that breaks its promise is a verdict.
pub fn verify_split(
    claim: &SplitClaim,
    tables: &SplitTables,
    truth: Option<TableTruth<'_>>,
    observer: &dyn Observer,
) -> TableVerdict {
    observer.check();
    let mut tally = Tally::default();
    let records = tables.quasi.n_rows() as u64;
    let groups = Groups::new(tables.group_of.iter().copied().map(Some), tables.n_groups());
    let lines = Lines::new(&tables.quasi);
    check_shape(claim, tables, &groups, &mut tally);
    observer.check();
    check_order(claim, tables, &groups, &lines, &mut tally);
    observer.check();
    let add_up = check_counts(tables, &groups, &lines, &mut tally);
    // Counts that do not add up cannot be asked anything else.
    let criteria = match add_up {
        true => {
            let dealt = dealt(tables, &groups);
            let criteria = check_criteria(&claim.criteria, &dealt, &groups, &lines, &mut tally, observer);
            if let Some(truth) = truth {
                check_truth(claim, &dealt, &groups, truth, &lines, &mut tally, observer);
            }
            criteria
        }
        false => Vec::new(),
    };
    tally.verdict(records, &groups, truth.is_some(), criteria)
}

fn check_shape(claim: &SplitClaim, tables: &SplitTables, groups: &Groups, tally: &mut Tally) {
    let told = |role: Role| claim.columns.iter().filter(move |column| column.role == role).map(|column| &column.name);
    let quasi = tables.quasi.columns.iter().map(|column| &column.name);
    let sensitive = tables.sensitive.iter().map(|values| &values.column);
    let agree = told(Role::Quasi).eq(quasi)
        && told(Role::Sensitive).eq(sensitive)
        && claim.columns.iter().all(|column| matches!(column.role, Role::Quasi | Role::Sensitive));
    tally.check(TableRule::Columns, None, agree, || String::from("the columns are not those that the claim names"));
    let records = tables.quasi.n_rows() as u64;
    tally.check(TableRule::Records, None, records == claim.records, || {
        format!("there are {records} rows, the claim has {}", claim.records)
    });
    let n_groups = groups.len();
    tally.check(TableRule::Groups, None, n_groups as u64 == claim.groups, || {
        format!("there are {n_groups} groups, the claim has {}", claim.groups)
    });
    for group in 0..n_groups {
        tally.check(TableRule::Groups, None, !groups.rows(group).is_empty(), || {
            format!("group {} has no row", group + 1)
        });
    }
    for values in &tables.sensitive {
        let is_known = values.counts.iter().all(|line| (line.group as usize) < n_groups);
        tally.check(TableRule::Groups, None, is_known, || {
            format!("the table of {} has groups beyond the {n_groups} of {QUASI}", values.column)
        });
    }
}

/// Groups ascend in every file, rows within a group by what they show, values by value, each once. In quasi.csv, all rows of a
/// group show the same unless the claim says that they stand as they were.
fn check_order(claim: &SplitClaim, tables: &SplitTables, groups: &Groups, lines: &Lines, tally: &mut Tally) {
    let quasi = tables.quasi.quasi();
    let texts = |row: usize| quasi.iter().map(move |column| column.domain.text(column.codes[row]));
    let follows = |row: usize| {
        let (before, group) = (tables.group_of[row - 1], tables.group_of[row]);
        before < group || (before == group && texts(row - 1).le(texts(row)))
    };
    let first = (1..tables.quasi.n_rows()).into_par_iter().find_first(|&row| !follows(row));
    let line = first.map(|row| lines.of(groups, tables.group_of[row] as usize));
    tally.check(TableRule::Order, line, first.is_none(), || format!("the rows of {QUASI} are not in order"));
    let is_same = |row: usize| tables.group_of[row - 1] != tables.group_of[row] || texts(row - 1).eq(texts(row));
    let other = (1..tables.quasi.n_rows()).into_par_iter().find_first(|&row| !claim.exact && !is_same(row));
    let line = other.map(|row| lines.of(groups, tables.group_of[row] as usize));
    tally.check(TableRule::Cells, line, other.is_none(), || {
        String::from("rows of a group show different quasi-identifiers, and are claimed to be generalised")
    });
    for values in &tables.sensitive {
        let ascends = values.counts.is_sorted_by(|a, b| (a.group, a.code) < (b.group, b.code));
        tally.check(TableRule::Order, None, ascends, || {
            format!("the lines of the table of {} are not in order, or a value stands twice", values.column)
        });
        let is_counted = values.counts.iter().all(|line| line.count > 0);
        tally.check(TableRule::Counts, None, is_counted, || format!("the table of {} has a count of 0", values.column));
    }
}

fn check_counts(tables: &SplitTables, groups: &Groups, lines: &Lines, tally: &mut Tally) -> bool {
    let mut add_up = true;
    for values in &tables.sensitive {
        let mut sums = vec![0_u64; groups.len()];
        for line in &values.counts {
            if let Some(sum) = sums.get_mut(line.group as usize) {
                *sum += u64::from(line.count);
            }
        }
        add_up &= values.counts.iter().all(|line| (line.group as usize) < groups.len());
        for (group, sum) in sums.into_iter().enumerate() {
            let size = groups.rows(group).len() as u64;
            add_up &= sum == size;
            tally.check(TableRule::Counts, Some(lines.of(groups, group)), sum == size, || {
                format!("group {} has {size} rows, and {sum} values of {}", group + 1, values.column)
            });
        }
    }
    add_up
}

/// A table that could have been split into these: the values of a group assigned to its rows in any way, column by column. What is
/// asked of one column at a time, or of its shares, does not depend on how.
fn dealt(tables: &SplitTables, groups: &Groups) -> Table {
    let deal = |values: &Values| {
        let mut codes = vec![0; tables.quasi.n_rows()];
        let mut next = vec![0; groups.len()];
        for line in &values.counts {
            let (group, count) = (line.group as usize, line.count as usize);
            groups.rows(group)[next[group]..next[group] + count]
                .iter()
                .for_each(|&row| codes[row as usize] = line.code);
            next[group] += count;
        }
        Column { name: values.column.clone(), role: Role::Sensitive, domain: values.domain.clone(), codes }
    };
    let sensitive = tables.sensitive.iter().map(deal);
    let columns = tables.quasi.columns.iter().cloned().chain(sensitive).collect();
    Table::new(tables.quasi.n_rows(), columns, None)
}

/// Looks up every group in the original.
fn check_truth(
    claim: &SplitClaim,
    table: &Table,
    groups: &Groups,
    truth: TableTruth<'_>,
    lines: &Lines,
    tally: &mut Tally,
    observer: &dyn Observer,
) {
    let Some(pairs) = beside_original(table.columns.iter(), (groups, "groups"), truth, tally) else { return };

    let put = Groups::new(truth.class_of.iter().copied(), groups.len());
    let (quasi, sensitive): (Vec<_>, Vec<_>) = pairs.into_iter().partition(|(column, _)| column.role == Role::Quasi);
    let exact: Vec<Value<'_>> = quasi.iter().map(|(column, original)| Value::new(column, original)).collect();
    let values: Vec<[Value<'_>; 1]> =
        sensitive.iter().map(|(column, original)| [Value::new(column, original)]).collect();
    let check = |group: usize| {
        observer.check();
        let (published, own) = (groups.rows(group), put.rows(group));
        let covers = |&(column, original): &(&Column, &Column)| {
            let code = |row: u32| column.codes[row as usize];
            let Some(&first) = published.first() else { return true };
            let text = column.domain.text(code(first));
            published.iter().all(|&row| code(row) == code(first))
                && own.iter().all(|&row| shows(text, &original.domain, original.codes[row as usize]))
        };
        let covered = match claim.exact {
            true => same_values(&exact, published, own),
            false => quasi.iter().all(covers),
        };
        let wrong = values.iter().position(|value| !same_values(value, published, own));
        (published.len(), own.len(), covered, wrong)
    };
    let checked: Vec<_> = (0..groups.len()).into_par_iter().map(check).collect();
    for (group, (published, own, covered, wrong)) in checked.into_iter().enumerate() {
        let line = Some(lines.of(groups, group));
        tally.check(TableRule::ClassSize, line, published == own, || {
            format!("group {} has {published} rows, of which custody knows {own}", group + 1)
        });
        tally.check(TableRule::Cells, line, covered, || {
            format!("the quasi-identifiers of group {} do not cover those of its rows", group + 1)
        });
        tally.check(TableRule::Values, line, wrong.is_none(), || {
            let column = wrong.map_or("", |place| sensitive[place].0.name.as_str());
            format!("the values of {column} in group {} are not those of its rows", group + 1)
        });
    }
}
