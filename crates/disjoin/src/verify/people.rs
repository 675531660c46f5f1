//! Are people counted? For those who have the original and its custody: a release does not show whose records are whose.
//!
//! Paper:      ours; the definition for tables is in `release/privacy_models.rs`
//! Promises:   nothing is found only if no root of disassociated data has two records of a person; of a table, if its classes are
//!             made of parts in which nobody has two rows, and which satisfy every criterion with the overall shares of what
//!             is published
//! Cost:       linear in the records, up to logarithms
//! Checked by: `tests/it/person.rs`: both are broken on purpose

use super::rules::Rule;
use super::table::{N_FINDINGS, TableRule};
use super::{CheckLine, Finding, TableCheck, TableFinding, TableVerdict, Verdict, n_leaves};
use crate::data::{Dictionary, Table};
use crate::error::Result;
use crate::observer::Observer;
use crate::release::open::RootStream;
use crate::release::privacy_models::{Criterion, Judge};

/// Adds to a verdict whether the records of every root are of different people.
pub fn verify_people(
    verdict: &mut Verdict,
    mut roots: impl RootStream,
    leaf_of: &[u32],
    of_record: &[u32],
    observer: &dyn Observer,
) -> Result<()> {
    let mut order: Vec<(u32, u32)> = leaf_of.iter().copied().zip(of_record.iter().copied()).collect();
    order.sort_unstable();
    let (mut at, mut first, mut checked, mut violated) = (0, 0_u64, 0_u64, 0_u64);
    let mut dictionary = Dictionary::default();
    while let Some(root) = roots.next_root(&mut dictionary, observer)? {
        let end = first + n_leaves(&root);
        let from = at;
        while at < order.len() && u64::from(order[at].0) < end {
            at += 1;
        }
        let twice = n_twice(order[from..at].iter().map(|&(_, person)| person).collect());
        (checked, first) = (checked + 1, end);
        if twice > 0 {
            violated += 1;
            if verdict.findings.len() < N_FINDINGS {
                let detail = format!("{twice} records are of people who have another one in the same clusters");
                verdict.findings.push(Finding { line: checked + 1, rule: Rule::People, detail });
            }
        }
    }
    verdict.checks.push(CheckLine { rule: Rule::People, checked, violated });
    verdict.violations += violated;
    verdict.holds &= violated == 0;
    Ok(())
}

/// Whose rows a table has, where each went, and in which part of its class it is.
#[derive(Debug, Clone, Copy)]
pub struct Parts<'a> {
    /// The original.
    pub table: &'a Table,
    /// The person of each row.
    pub of_row: &'a [u32],
    /// The class of each row, if it is published.
    pub class_of: &'a [Option<u32>],
    /// The part of each row, if it is published.
    pub part_of: &'a [Option<u32>],
}

/// Adds to a verdict whether the classes of a table hold by people.
pub fn verify_people_of_table(verdict: &mut TableVerdict, criteria: &[Criterion], truth: Parts<'_>) -> Result<()> {
    let mut problems: Vec<String> = Vec::new();
    let Parts { table, of_row, class_of, part_of } = truth;
    let fits = [of_row.len(), class_of.len(), part_of.len()].iter().all(|&n| n == table.n_rows());
    let is_same = class_of.iter().zip(part_of).all(|(class, part)| class.is_some() == part.is_some());
    let n_parts = part_of.iter().flatten().max().map_or(0, |&last| last as usize + 1);
    if !fits || !is_same || n_parts > part_of.len() {
        problems.push(String::from("custody does not say which part of its class each published row is in"));
    }
    let mut parts: Vec<Vec<u32>> = vec![Vec::new(); if problems.is_empty() { n_parts } else { 0 }];
    if problems.is_empty() {
        let placed = part_of.iter().zip(0..).filter_map(|(part, row)| Some(((*part)?, row)));
        placed.for_each(|(part, row)| parts[part as usize].push(row));
    }
    let published = parts.iter().flatten().copied();
    let criteria: Vec<Criterion> = criteria.iter().copied().filter(Criterion::is_checkable).collect();
    let judge = Judge::over(&criteria, table, published)?;
    for rows in &parts {
        let twice = n_twice(rows.iter().map(|&row| of_row[row as usize]).collect());
        let mut classes = rows.iter().map(|&row| class_of[row as usize]);
        let first = classes.next();
        match () {
            () if rows.is_empty() => problems.push(String::from("a part has no row")),
            () if classes.any(|class| Some(class) != first) => {
                problems.push(String::from("the rows of a part are in different classes"));
            }
            () if twice > 0 => {
                problems.push(format!("{twice} rows are of people who have another one in the same part of a class"));
            }
            () if !judge.holds(&judge.of_rows(rows)) => {
                problems.push(String::from("a part of a class does not satisfy every criterion by itself"));
            }
            () => {}
        }
    }
    let (checked, violated) = (parts.len().max(1) as u64, problems.len() as u64);
    verdict.checks.push(TableCheck { rule: TableRule::People, checked, violated });
    let free = N_FINDINGS.saturating_sub(verdict.findings.len());
    let finding = |problem| TableFinding { rule: TableRule::People, line: None, problem };
    verdict.findings.extend(problems.into_iter().take(free).map(finding));
    verdict.violations += violated;
    verdict.holds &= violated == 0;
    Ok(())
}

/// How many are there before.
fn n_twice(mut people: Vec<u32>) -> usize {
    let n = people.len();
    people.sort_unstable();
    people.dedup();
    n - people.len()
}
