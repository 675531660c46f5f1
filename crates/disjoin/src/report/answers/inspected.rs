//! What `inspect` says: who could be singled out in the data as it is.

use super::{numbers, text};
use crate::inspect::risk::Bin;
use crate::inspect::{Column, Profile, Risk, Role, TableRisk};
use crate::report::page::{Page, Part, count, number, share};

/// Of sets of terms.
pub fn inspect_page(profile: &Profile, risk: &Risk, unique: u64, columns: &[Column], suggestions: &[String]) -> Page {
    let mut parts = Vec::new();
    if !columns.is_empty() {
        parts.push(text(columns_text(columns)));
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

/// Of a table with quasi-identifiers.
pub fn inspect_table_page(risk: &TableRisk, columns: &[String]) -> Page {
    let TableRisk { k, rows, at_risk, unique, .. } = *risk;
    let mut parts =
        vec![text(format!("Records that fewer than {k} share, for an adversary who knows the quasi-identifiers:"))];
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

/// The columns of a table, one a line.
pub fn columns_text(columns: &[Column]) -> String {
    let row = |column: &Column| {
        let seems = match column.seems {
            Role::Identifier => "a direct identifier: a value of its own in every row",
            Role::SetValued => "the list of terms: --column",
            Role::Other => "",
        };
        vec![column.name.clone(), number(column.filled), number(column.distinct), seems.to_owned()]
    };
    use crate::report::page::{Kind, Table};
    let heads = vec![
        ("column", Kind::Words),
        ("filled", Kind::Number),
        ("distinct", Kind::Number),
        ("seems to be", Kind::Words),
    ];
    let table = Table { caption: String::new(), columns: heads, rows: columns.iter().map(row).collect() };
    Page::answer(vec![Part::Table(table)], "").text().trim_end().to_owned()
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
