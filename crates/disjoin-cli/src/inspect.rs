//! `disjoin inspect`: who could be singled out in the raw data?

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use disjoin::Result;
use disjoin::data::table;
use disjoin::inspect::Role;
use disjoin::inspect::risk::Bin;
use disjoin::inspect::{Column, columns};
use disjoin::inspect::{Profile, Risk, TableRisk, profile, risk, table_risk};
use disjoin::read::rows::Declared;
use disjoin::read::{Format, Intake};
use serde::Serialize;
use serde_json::json;

use crate::Outcome;
use crate::args::{Crowd, Input};
use crate::talk::{Talk, count, number, percent};

/// Show who could be singled out in the data as it is
///
/// A record is at risk if it holds a set of at most M terms that fewer than K records hold: whoever knows these terms of
/// a person then knows the person's record, or nearly so. The count is exact. Of a table, the columns are listed, with a
/// guess at what they are for. With --quasi, the rows of the table are counted that share these columns with fewer than K rows.
///
/// Ends with exit code 0 whatever the risk is: raw data promises nothing.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The data; "-" is standard input
    file: PathBuf,
    #[command(flatten)]
    crowd: Crowd,
    /// Of a table: the columns that others may know of a person; a database is given by its URL
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    quasi: Vec<String>,
    #[command(flatten)]
    input: Input,
}

const EXAMPLES: &str = "\
Examples:
  disjoin inspect baskets.dat
  disjoin inspect hospital.csv --column diagnoses -k 10 -m 3
  disjoin inspect people.csv --quasi age,sex,postcode -k 5
  zcat baskets.dat.gz | disjoin inspect - --json";

#[derive(Serialize)]
struct Report<'a> {
    input: &'a Intake,
    profile: &'a Profile,
    risk: &'a Risk,
    /// Records with a set of up to m terms that nobody else has.
    unique: u64,
    /// The columns, if the data is a table.
    columns: &'a [Column],
    suggestions: &'a [String],
}

pub(crate) fn run(args: &Args, talk: &Talk) -> Result<Outcome> {
    args.crowd.check()?;
    if !args.quasi.is_empty() {
        return inspect_table(args, talk);
    }
    let columns = columns_of(args);
    let (data, input) = args.input.read(&args.file, talk).inspect_err(|_| {
        // Which column is meant may be what is missing.
        if !columns.is_empty() {
            talk.note(&columns_text(&columns));
        }
    })?;
    // The first line of other formats is a record, not a heading.
    let is_table = matches!(input.format, Format::Table | Format::Long);
    let columns = if is_table { columns } else { Vec::new() };
    talk.step("counting rare sets of terms");
    let (profile, found) = (profile(&data), risk(&data, args.crowd.k, args.crowd.m));
    let unique = risk(&data, 2, args.crowd.m).at_risk;
    let suggestions = suggestions(&columns, &found);
    if talk.is_json() {
        let suggestions = &suggestions;
        talk.print_json(&Report {
            input: &input,
            profile: &profile,
            risk: &found,
            unique,
            columns: &columns,
            suggestions,
        })?;
    } else {
        talk.print(&text(&profile, &found, unique, &columns, &suggestions))?;
    }
    Ok(Outcome::Holds)
}

/// Who could be singled out by the quasi-identifiers of a table?
fn inspect_table(args: &Args, talk: &Talk) -> Result<Outcome> {
    let declared = Declared {
        roles: args.quasi.iter().map(|name| (name.clone(), table::Role::Quasi)).collect(),
        // Nothing is published here: other columns need not be read.
        rest: Some(table::Role::Identifier),
        ..Declared::default()
    };
    let (rows, input) = crate::table::read(&args.file, &args.input, &declared, talk)?;
    talk.step("counting rows with the same quasi-identifiers");
    let risk = table_risk(&rows, args.crowd.k);
    if talk.is_json() {
        talk.print_json(&json!({ "input": input, "risk": risk }))?;
    } else {
        talk.print(&table_text(&risk, &input.columns))?;
    }
    Ok(Outcome::Holds)
}

fn table_text(risk: &TableRisk, columns: &[String]) -> String {
    let mut text = String::new();
    let TableRisk { k, rows, at_risk, unique, .. } = *risk;
    // Writing to a String cannot fail.
    let _ = writeln!(text, "Rows that fewer than {k} share, for someone who knows the quasi-identifiers:");
    for (label, found) in [("at risk", at_risk), ("that nobody else shares", unique)] {
        let _ = writeln!(text, "  {label:<27}{:>14}   {:>7}", number(found), percent(found, rows));
    }
    let _ = writeln!(text, "\n{:<29}{:>14}{:>18}{:>18}", "column", "distinct", "at risk by it", "at risk without");
    for column in &risk.columns {
        let shares = [column.alone, column.without].map(|found| percent(found, rows));
        let _ = writeln!(text, "{:<29}{:>14}{:>18}{:>18}", column.name, number(column.distinct), shares[0], shares[1]);
    }
    let others: Vec<&str> =
        columns.iter().filter(|name| risk.columns.iter().all(|c| c.name != **name)).map(String::as_str).collect();
    if !others.is_empty() {
        let _ = writeln!(text, "\nNot looked at: {}. disjoin protect asks what each is for.", others.join(", "));
    }
    text
}

/// The columns of a table; standard input can be read only once, and compressed files are not looked into.
fn columns_of(args: &Args) -> Vec<Column> {
    let bytes = if args.file == Path::new("-") { Vec::new() } else { std::fs::read(&args.file).unwrap_or_default() };
    columns(&args.file.display().to_string(), &bytes, &args.input.options())
}

/// What to do with what was found.
fn suggestions(columns: &[Column], risk: &Risk) -> Vec<String> {
    let mut told = Vec::new();
    for column in columns.iter().filter(|column| column.seems == Role::Identifier) {
        let name = &column.name;
        told.push(format!(
            "{name} has another value in every row: it names people. disjoin does not publish it; nor should you"
        ));
    }
    let others = columns.iter().filter(|column| column.seems == Role::Other).count() as u64;
    if others > 0 {
        let others = count(others, "other column is", "other columns are");
        told.push(format!("{others} not read: only the list of terms is protected and published"));
    }
    let k = match risk.records {
        0..1_000 => 3,
        1_000..100_000 => 5,
        _ => 10,
    };
    told.push(format!(
        "k = {k} is a start for {}; 10 or more where anybody may read it",
        count(risk.records, "record", "records")
    ));
    if risk.at_risk > 0 {
        told.push(String::from("as it is, do not publish it: disjoin recipe new, then disjoin run"));
    }
    told
}

fn text(profile: &Profile, risk: &Risk, unique: u64, columns: &[Column], suggestions: &[String]) -> String {
    let mut text = if columns.is_empty() { String::new() } else { columns_text(columns) + "\n" };
    let mut line = |label: &str, value: String| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{label:<28}{value:>14}");
    };
    line("records", number(profile.records));
    line("terms", number(profile.terms));
    line("terms in all records", number(profile.incidences));
    line("terms in a record, mean", format!("{:.2}", profile.mean_length));
    line("terms in the longest record", number(profile.longest_record));

    let Risk { k, m, .. } = *risk;
    let _ = writeln!(text, "\nRecords that fewer than {k} share, for someone who knows up to {}:", terms(m.into()));
    for (&count, size) in risk.by_size.iter().zip(1_u64..) {
        let share = percent(count, risk.records);
        let _ = writeln!(text, "  by {:<24}{:>14}   {share:>7}", terms(size), number(count));
    }
    let share = percent(risk.at_risk, risk.records);
    let _ = writeln!(text, "  {:<27}{:>14}   {share:>7}", "at risk, in all", number(risk.at_risk));
    let share = percent(unique, risk.records);
    let _ = writeln!(text, "  {:<27}{:>14}   {share:>7}", "that nobody else shares", number(unique));
    let _ = writeln!(text, "  {:<27}{:>14}", format!("terms in fewer than {k} records"), number(risk.rare_terms));

    histogram(&mut text, "Terms by the number of records that hold them:", &profile.supports);
    histogram(&mut text, "Records by their number of terms:", &profile.lengths);
    let _ = writeln!(text, "\nSuggestions:");
    suggestions.iter().for_each(|told| {
        let _ = writeln!(text, "  {told}");
    });
    text
}

/// The columns of a table, one a line.
fn columns_text(columns: &[Column]) -> String {
    let mut text = format!("{:<28}{:>14}{:>14}  seems to be\n", "column", "filled", "distinct");
    for column in columns {
        let seems = match column.seems {
            Role::Identifier => "an identifier: a value of its own in every row",
            Role::SetValued => "the list of terms: --column",
            Role::Other => "",
        };
        let _ = writeln!(
            text,
            "{}",
            format!("{:<28}{:>14}{:>14}  {seems}", column.name, number(column.filled), number(column.distinct))
                .trim_end()
        );
    }
    text
}

fn terms(n: u64) -> String {
    if n == 1 { String::from("1 term") } else { format!("{} terms", number(n)) }
}

fn histogram(text: &mut String, title: &str, bins: &[Bin]) {
    const WIDTH: u64 = 40;
    let most = bins.iter().map(|bin| bin.count).max().unwrap_or(0).max(1);
    let range = |bin: &Bin| match bin.from == bin.to {
        true => number(bin.from),
        false => format!("{} to {}", number(bin.from), number(bin.to)),
    };
    let _ = writeln!(text, "\n{title}");
    for bin in bins {
        // Every bin that is not empty gets at least one mark.
        let marks = (u128::from(bin.count) * u128::from(WIDTH)).div_ceil(u128::from(most)) as usize;
        let row = format!("  {:>22} {:>14}  {}", range(bin), number(bin.count), "#".repeat(marks));
        let _ = writeln!(text, "{}", row.trim_end());
    }
}
