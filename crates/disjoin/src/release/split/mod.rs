//! A split table: quasi-identifiers in one file, the values of each sensitive column in another, tied by the number of a group.
//!
//! Paper:      nadimpalli2014, tables IX to XII (QIT and ST); Xiao, Tao: Anatomy, VLDB 2006, has the same form
//! Promises:   the files are functions of which rows are together and of their values: neither the order of rows in the input
//!             nor that of classes in the partition changes a byte. Rows that were removed leave no trace. What values of
//!             different sensitive columns belong together is published nowhere: each column is counted by itself
//! Assumes:    quasi-identifiers and sensitive columns only; values are texts that `read::rows` accepts
//! Departs:    groups are numbered by what they show and not by first appearance, and rows are sorted and not shuffled: an order
//!             that depends on nothing but the content tells nothing else. The value and not the column stands in the header
//! Cost:       linear, but for sorting the groups; the text of a group's rows is made once
//! Checked by: tests in this file, and `tests/it/break_merge.rs`
//!
//! quasi.csv has the quasi-identifiers in the order of the input and the group, a line for each person. sensitive_COLUMN.csv has
//! `group,value,count`; the value is empty where it is missing.

mod claim;
mod counted;
mod tables;

use std::cmp::Ordering;
use std::io::{self, Write};

use rayon::prelude::*;

use super::generalized::{BATCH, TASK, classes_in_order, write_field, write_row};
use super::jsonl::write_number;
use crate::data::Partition;
use crate::data::table::{Column, Role, Table};
use crate::error::{Error, Result};
pub use claim::{SensitiveFile, SplitClaim, SplitTable};
pub use counted::CountedSplit;
pub use tables::{Count, SplitTables, Values};

/// The name of the file with the quasi-identifiers.
pub const QUASI: &str = "quasi.csv";

/// The header of a sensitive table.
pub const HEADING: [&str; 3] = ["group", "value", "count"];

/// What stands around the name of a column in that of its file.
const PREFIX: &str = "sensitive_";
const SUFFIX: &str = ".csv";

/// No file system has shorter names.
const LONGEST_NAME: usize = 100;

/// The rows of a table in groups, in the order in which they are published.
#[derive(Debug, Clone)]
pub struct Split<'a> {
    table: &'a Table,
    rows: Vec<u32>,
    ends: Vec<usize>,
    /// What each group shows of the quasi-identifiers; none if every row shows its own values.
    cells: Option<Vec<Vec<String>>>,
}

impl<'a> Split<'a> {
    /// Groups that show one cell a quasi-identifier: classes of any tabular method. Those that show the same are one.
    pub fn of_classes(table: &'a Table, partition: &Partition) -> Result<Self> {
        check_roles(table)?;
        let (rows, classes) = classes_in_order(table, partition);
        let ends = classes.iter().map(|class| class.end).collect();
        Ok(Split { table, rows, ends, cells: Some(classes.into_iter().map(|class| class.cells).collect()) })
    }

    /// Groups in which every row shows its own quasi-identifiers.
    pub fn of_rows(table: &'a Table, partition: &Partition) -> Result<Self> {
        check_roles(table)?;
        let quasi: Vec<(&Column, Vec<u32>)> = table.quasi().into_iter().map(|c| (c, ranks_of_texts(c))).collect();
        let compare = |a: u32, b: u32| {
            let rank = |(column, ranks): &(&Column, Vec<u32>), row: u32| ranks[column.codes[row as usize] as usize];
            let orders = quasi.iter().map(|column| rank(column, a).cmp(&rank(column, b)));
            orders.fold(Ordering::Equal, Ordering::then)
        };
        let mut groups: Vec<Vec<u32>> = partition.classes().map(<[u32]>::to_vec).collect();
        groups.par_iter_mut().for_each(|rows| rows.sort_unstable_by(|&a, &b| compare(a, b).then(a.cmp(&b))));
        let sensitive = table.sensitive();
        let counts = |rows: &[u32]| -> Vec<_> { sensitive.iter().map(|column| count(column, rows)).collect() };
        groups.par_sort_by(|a, b| {
            let pairs = a.iter().zip(b).map(|(&a, &b)| compare(a, b)).find(|order| *order != Ordering::Equal);
            pairs.unwrap_or_else(|| a.len().cmp(&b.len())).then_with(|| counts(a).cmp(&counts(b)))
        });
        let mut end = 0;
        let ends = groups.iter().map(|rows| {
            end += rows.len();
            end
        });
        Ok(Split { table, ends: ends.collect(), rows: groups.concat(), cells: None })
    }

    /// The table that was split.
    pub fn table(&self) -> &'a Table {
        self.table
    }

    /// The number of groups.
    pub fn n_groups(&self) -> usize {
        self.ends.len()
    }

    /// The number of rows that are published.
    pub fn n_rows(&self) -> usize {
        self.rows.len()
    }

    /// Whether rows show their own quasi-identifiers, and not those of their group.
    pub fn is_exact(&self) -> bool {
        self.cells.is_none()
    }

    /// The rows of a group.
    pub fn rows(&self, group: usize) -> &[u32] {
        let start = group.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.rows[start..self.ends[group]]
    }

    /// The values of a sensitive column in a group by code, and how often it has each.
    pub fn counts(&self, group: usize, column: &Column) -> Vec<(u32, u32)> {
        count(column, self.rows(group))
    }

    /// For each row of the table its group; none if it was removed.
    pub fn group_of(&self) -> Vec<Option<u32>> {
        let mut group_of = vec![None; self.table.n_rows()];
        for group in 0..self.n_groups() {
            self.rows(group).iter().for_each(|&row| group_of[row as usize] = Some(group as u32));
        }
        group_of
    }

    /// The same groups, in order.
    pub fn partition(&self) -> Partition {
        Partition::from_parts(self.rows.clone(), self.ends.clone(), Vec::new())
    }

    /// Writes quasi.csv.
    pub fn write_quasi(&self, out: &mut impl Write) -> io::Result<()> {
        let quasi = self.table.quasi();
        write_quasi_header(&quasi, out)?;
        self.write_groups(out, |group, text| {
            let mut line = Vec::new();
            match &self.cells {
                Some(cells) => {
                    quasi_line(cells[group].iter().map(String::as_str), group, &mut line);
                    self.rows(group).iter().for_each(|_| text.extend_from_slice(&line));
                }
                None => {
                    for &row in self.rows(group) {
                        quasi_line(quasi.iter().map(|c| c.domain.text(c.codes[row as usize])), group, text);
                    }
                }
            }
        })
    }

    /// Writes the table of a sensitive column.
    pub fn write_sensitive(&self, column: &Column, out: &mut impl Write) -> io::Result<()> {
        write_sensitive_header(out)?;
        self.write_groups(out, |group, text| {
            self.counts(group, column).into_iter().for_each(|count| value_line(group, column, count, text));
        })
    }

    /// Formats groups on all cores, and hands over large blocks.
    fn write_groups(&self, out: &mut impl Write, format: impl Fn(usize, &mut Vec<u8>) + Sync) -> io::Result<()> {
        for start in (0..self.n_groups()).step_by(BATCH) {
            let end = self.n_groups().min(start + BATCH);
            let tasks: Vec<usize> = (start..end).step_by(TASK).collect();
            let text = |&first: &usize| {
                let mut text = Vec::new();
                (first..end.min(first + TASK)).for_each(|group| format(group, &mut text));
                text
            };
            let texts: Vec<Vec<u8>> = tasks.par_iter().map(text).collect();
            texts.iter().try_for_each(|text| out.write_all(text))?;
        }
        Ok(())
    }
}

/// Refuses columns that would tie sensitive values to rows again, and tables without anything to split.
fn check_roles(table: &Table) -> Result<()> {
    if let Some(column) = table.with_role(Role::Other).next() {
        let problem = format!(
            "the column {} is neither a quasi-identifier nor sensitive: beside either it may disclose which of them belong together",
            column.name
        );
        let hint = "declare it with --quasi, with --sensitive (it then gets a table of its own), or leave it out with \
                    --identifier";
        return Err(Error::recipe("other", problem, hint));
    }
    if let Some(sets) = &table.sets {
        let problem = format!("the set-valued column {} cannot be part of a table that is split", sets.name);
        return Err(Error::recipe("set", problem, "leave it out with --identifier, or choose another method"));
    }
    if table.sensitive().is_empty() {
        let problem = "names no column: there is nothing to split off";
        return Err(Error::recipe("sensitive", problem, "name the columns that nobody may learn about a person"));
    }
    Ok(())
}

/// The place of each code's text among all texts of a column, in order of text: what readers of a file see.
fn ranks_of_texts(column: &Column) -> Vec<u32> {
    let domain = &column.domain;
    let mut codes: Vec<u32> = (0..domain.n_codes() as u32).collect();
    codes.sort_unstable_by_key(|&code| domain.text(code));
    let mut ranks = vec![0; codes.len()];
    codes.iter().zip(0..).for_each(|(&code, rank)| ranks[code as usize] = rank);
    ranks
}

/// How often rows have each code that they have, in order of code.
fn count(column: &Column, rows: &[u32]) -> Vec<(u32, u32)> {
    let codes = rows.iter().map(|&row| column.codes[row as usize]);
    let n_codes = column.domain.n_codes();
    // A place for each code, if there are not many more of them than rows.
    if n_codes <= 4 * rows.len() {
        let mut counts = vec![0; n_codes];
        codes.for_each(|code| counts[code as usize] += 1);
        return (0..).zip(counts).filter(|(_, count)| *count > 0).collect();
    }
    let mut codes: Vec<u32> = codes.collect();
    codes.sort_unstable();
    codes.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u32)).collect()
}

fn write_quasi_header(quasi: &[&Column], out: &mut impl Write) -> io::Result<()> {
    let names: Vec<&str> = quasi.iter().map(|column| column.name.as_str()).collect();
    let group_column = group_column(&names);
    let mut header = Vec::new();
    write_row(names.into_iter().chain([group_column.as_str()]), &mut header);
    out.write_all(&header)
}

fn write_sensitive_header(out: &mut impl Write) -> io::Result<()> {
    let mut header = Vec::new();
    write_row(HEADING, &mut header);
    out.write_all(&header)
}

/// A line of quasi.csv.
fn quasi_line<'t>(fields: impl Iterator<Item = &'t str>, group: usize, out: &mut Vec<u8>) {
    for field in fields {
        write_field(field, out);
        out.push(b',');
    }
    write_number(group as u64 + 1, out);
    out.push(b'\n');
}

/// A line of a sensitive table.
fn value_line(group: usize, column: &Column, (code, count): (u32, u32), out: &mut Vec<u8>) {
    write_number(group as u64 + 1, out);
    out.push(b',');
    write_field(column.domain.text(code), out);
    out.push(b',');
    write_number(u64::from(count), out);
    out.push(b'\n');
}

/// The name of the column of groups in quasi.csv: no other column may have it.
pub fn group_column(quasi: &[&str]) -> String {
    let mut name = String::from(HEADING[0]);
    while quasi.contains(&name.as_str()) {
        name.push('_');
    }
    name
}

/// The files of sensitive columns: by their names, or by their numbers where names are no safe names of files, are numbers
/// themselves, or differ in nothing but capitals.
pub fn file_names(columns: &[&str]) -> Vec<String> {
    let same = |a: &str, b: &str| a.eq_ignore_ascii_case(b);
    let is_unique = |name: &str| columns.iter().filter(|other| same(other, name)).count() == 1;
    let is_number = |name: &str| name.bytes().all(|byte| byte.is_ascii_digit());
    let name = |(&name, number): (&&str, usize)| match is_safe(name) && is_unique(name) && !is_number(name) {
        true => format!("{PREFIX}{name}{SUFFIX}"),
        false => format!("{PREFIX}{number}{SUFFIX}"),
    };
    columns.iter().zip(1..).map(name).collect()
}

/// Whether a file may be that of a sensitive column.
pub fn is_sensitive_file(name: &str) -> bool {
    name.strip_prefix(PREFIX).and_then(|name| name.strip_suffix(SUFFIX)).is_some_and(is_safe)
}

fn is_safe(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    !name.is_empty() && name.len() <= LONGEST_NAME && name.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> (Table, Partition) {
        let columns = vec![
            Column::numbers("age", Role::Quasi, [9.0, 25.0, 30.0, 30.0].map(Some)),
            Column::words("ill", Role::Sensitive, [Some("flu"), Some("flu"), None, Some("a,b")]),
        ];
        let mut partition = Partition::default();
        [&[3, 2][..], &[1, 0]].iter().for_each(|rows| partition.push(rows));
        (Table::new(4, columns, None), partition)
    }

    fn texts(split: &Split<'_>) -> [String; 2] {
        let (mut quasi, mut sensitive) = (Vec::new(), Vec::new());
        split.write_quasi(&mut quasi).unwrap();
        split.write_sensitive(split.table().sensitive()[0], &mut sensitive).unwrap();
        [quasi, sensitive].map(|bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn groups_and_values_are_in_order() {
        let (table, partition) = table();
        let split = Split::of_classes(&table, &partition).unwrap();
        assert_eq!(
            texts(&split),
            ["age,group\n30,1\n30,1\n9..25,2\n9..25,2\n", "group,value,count\n1,\"a,b\",1\n1,,1\n2,flu,2\n"]
        );
        assert_eq!(split.group_of(), [Some(1), Some(1), Some(0), Some(0)]);
        let split = Split::of_rows(&table, &partition).unwrap();
        assert_eq!(texts(&split)[0], "age,group\n25,1\n9,1\n30,2\n30,2\n");
        assert_eq!(split.group_of(), [Some(0), Some(0), Some(1), Some(1)]);
    }

    #[test]
    fn columns_that_may_tie_values_to_rows_are_refused() {
        let (mut table, partition) = table();
        table.columns[1].role = Role::Other;
        let error = Split::of_classes(&table, &partition).unwrap_err();
        assert!(error.to_string().contains("ill") && error.hint().unwrap().contains("--identifier"));
        table.columns.pop();
        assert!(Split::of_rows(&table, &partition).unwrap_err().to_string().contains("no column"));
    }

    #[test]
    fn names_of_files_are_safe_and_different() {
        let names = file_names(&["ill", "a b", "../x", "Ab", "aB", "2", "é", ""]);
        let expected = ["ill", "2", "3", "4", "5", "6", "7", "8"].map(|name| format!("sensitive_{name}.csv"));
        assert_eq!(names, expected);
        assert!(names.iter().all(|name| is_sensitive_file(name)));
        for bad in ["sensitive_.csv", "sensitive_../x.csv", "sensitive_a/b.csv", "data.csv", "sensitive_a"] {
            assert!(!is_sensitive_file(bad), "{bad}");
        }
        assert_eq!(group_column(&["group", "group_"]), "group__");
    }
}
