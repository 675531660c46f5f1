//! What `inspect` says: who could be singled out in the data as it is.

use serde::Serialize;

use super::{numbers, text};
use crate::inspect::profile::{Persons, Question, SHARED};
use crate::inspect::risk::Bin;
use crate::inspect::{ColumnProfile, Profile, Risk, Suggested, TableProfile, TableRisk};
use crate::report::page::{Kind, Page, Part, Table, count, number, share};

/// Of sets of terms.
pub fn inspect_page(
    profile: &Profile,
    risk: &Risk,
    unique: u64,
    columns: &[ColumnProfile],
    suggestions: &[String],
) -> Page {
    let mut parts = Vec::new();
    if !columns.is_empty() {
        parts.push(columns_table(columns));
    }
    let rows = vec![
        vec!["records".into(), number(profile.records)],
        vec!["terms".into(), number(profile.terms)],
        vec!["terms in all records".into(), number(profile.incidences)],
        vec!["terms in a record, mean".into(), format!("{:.2}", profile.mean_length)],
        vec!["terms in the longest record".into(), number(profile.longest_record)],
    ];
    parts.push(numbers(&["", ""], rows));
    let Risk { k, m, .. } = *risk;
    let terms = |n: u64| count(n, "term", "terms");
    parts.push(text(format!(
        "Records that fewer than {k} share, for an adversary with up to {} of background knowledge:",
        terms(m.into())
    )));
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut row = |label: String, n: u64| rows.push(vec![label, number(n), share(n, risk.records)]);
    for (&n, size) in risk.by_size.iter().zip(1_u64..) {
        row(format!("by {}", terms(size)), n);
    }
    row("at risk, in all".into(), risk.at_risk);
    row("unique: nobody else shares it".into(), unique);
    rows.push(vec![format!("terms in fewer than {k} records"), number(risk.rare_terms), String::new()]);
    parts.push(numbers(&["", "records", "share"], rows));
    parts.push(histogram("Terms by the number of records that hold them:", &profile.supports));
    parts.push(histogram("Records by their number of terms:", &profile.lengths));
    parts.push(text(format!("Suggestions:\n  {}", suggestions.join("\n  "))));
    Page::answer(parts, "")
}

/// People of a table, who may have several rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CountedPeople {
    /// The column that names them.
    pub column: String,
    /// How many there are.
    pub people: u64,
    /// Their rows.
    pub rows: u64,
    /// The most rows of one person.
    pub most_rows: u64,
    /// How many people should share what is known.
    pub k: u32,
    /// People with a row whose quasi-identifiers fewer than k people share.
    pub at_risk: u64,
    /// People with a row whose quasi-identifiers nobody else shares.
    pub unique: u64,
}

/// Of a table with quasi-identifiers; if a column names people, they are counted as well.
pub fn inspect_table_page(risk: &TableRisk, columns: &[String], people: Option<&CountedPeople>) -> Page {
    let TableRisk { k, rows, at_risk, unique, .. } = *risk;
    let mut parts = Vec::new();
    if let Some(people) = people {
        parts.push(text(format!(
            "{} in {}, at most {} of one person, by {}. People of whom fewer than {k} share a row's quasi-identifiers:",
            count(people.people, "person", "people"),
            count(people.rows, "row", "rows"),
            number(people.most_rows),
            people.column,
        )));
        let row = |label: &str, n: u64| vec![label.to_owned(), number(n), share(n, people.people)];
        let lines = vec![row("at risk", people.at_risk), row("unique: nobody else shares it", people.unique)];
        parts.push(numbers(&["", "people", "share"], lines));
    }
    parts.push(text(format!("Records that fewer than {k} share, for an adversary who knows the quasi-identifiers:")));
    let row = |label: &str, n: u64| vec![label.to_owned(), number(n), share(n, rows)];
    parts.push(numbers(
        &["", "records", "share"],
        vec![row("at risk", at_risk), row("unique: nobody else shares it", unique)],
    ));
    let row = |column: &crate::inspect::risk::ColumnRisk| {
        let [alone, without] = [column.alone, column.without].map(|found| share(found, rows));
        vec![column.name.clone(), number(column.distinct), alone, without]
    };
    let heads = ["column", "distinct", "at risk by it", "at risk without"];
    parts.push(numbers(&heads, risk.columns.iter().map(row).collect()));
    let is_other = |name: &&String| risk.columns.iter().all(|column| column.name != **name);
    let others: Vec<&str> = columns.iter().filter(is_other).map(String::as_str).collect();
    if !others.is_empty() {
        parts.push(text(format!("Not looked at: {}. disjoin protect asks what each is for.", others.join(", "))));
    }
    Page::answer(parts, "")
}

/// Of a table of which nobody said what its columns are.
pub fn columns_page(found: &TableProfile, file: &str) -> Page {
    let columns = count(found.columns.len() as u64, "column", "columns");
    let mut parts = vec![text(format!("A table of {} and {columns}.", count(found.rows, "row", "rows")))];
    parts.push(columns_table(&found.columns));
    parts.push(text("Suggested roles, for you to confirm:"));
    parts.push(Part::Points(found.columns.iter().map(|column| (column.name.clone(), suggested(column))).collect()));
    if let Some(Persons { column, people, rows }) = &found.person {
        let (people, rows) = (count(*people, "person", "people"), count(*rows, "row", "rows"));
        parts.push(text(format!("{column} numbers people who have several rows: {people} in {rows}.")));
    }
    parts.push(text(format!(
        "Examples are values that at least {SHARED} people share; A, a and 9 stand for letters and digits.\n\
         Next: disjoin recipe new {file}"
    )));
    Page::answer(parts, "")
}

/// Role, reading and reason of a column.
fn suggested(column: &ColumnProfile) -> String {
    let ColumnProfile { suggestion, reading, missing_texts, .. } = column;
    let role = suggestion.role.map_or("?", Suggested::name);
    let mut told = format!("{role}: {}", suggestion.reason);
    if let Some(reading) = reading {
        told += &format!("; read as {reading}");
    }
    if let Some(hierarchy) = suggestion.hierarchy.filter(|_| suggestion.role == Some(Suggested::Quasi)) {
        told += &format!("; generalised by {hierarchy}");
    }
    if !missing_texts.is_empty() {
        told += &format!("; {} means no value", missing_texts.join(" or "));
    }
    match suggestion.question {
        None | Some(Question::Role) => {}
        Some(Question::DateOrder) => told += "; say the order with --date-order",
        Some(Question::Decimal) => told += "; say what stands before decimals with --decimal",
        Some(Question::Unread) => told += "; correct those cells, or name what means no value with --missing",
    }
    told
}

/// The columns of a table, one a line.
fn columns_table(columns: &[ColumnProfile]) -> Part {
    let row = |column: &ColumnProfile| {
        let about = if column.estimated { "about " } else { "" };
        let shown = if column.examples.is_empty() { &column.patterns } else { &column.examples };
        vec![
            column.name.clone(),
            column.kind.text().to_owned(),
            number(column.missing),
            format!("{about}{}", number(column.distinct)),
            shown.join(", "),
        ]
    };
    let heads = vec![
        ("column", Kind::Words),
        ("type", Kind::Words),
        ("missing", Kind::Number),
        ("distinct", Kind::Number),
        ("looks like", Kind::Words),
    ];
    Part::Table(Table { caption: String::new(), columns: heads, rows: columns.iter().map(row).collect() })
}

fn histogram(title: &str, bins: &[Bin]) -> Part {
    const WIDTH: u64 = 40;
    let most = bins.iter().map(|bin| bin.count).max().unwrap_or(0).max(1);
    let range = |bin: &Bin| match bin.from == bin.to {
        true => number(bin.from),
        false => format!("{} to {}", number(bin.from), number(bin.to)),
    };
    let line = |bin: &Bin| {
        // Every bin that is not empty gets at least one mark.
        let marks = (u128::from(bin.count) * u128::from(WIDTH)).div_ceil(u128::from(most)) as usize;
        format!("  {:>22} {:>14}  {}", range(bin), number(bin.count), "#".repeat(marks))
    };
    text(format!("{title}\n{}", bins.iter().map(line).collect::<Vec<_>>().join("\n")))
}
