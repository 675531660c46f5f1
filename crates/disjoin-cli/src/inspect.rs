//! `disjoin inspect`: who could be singled out in the raw data?

use std::fmt::Write as _;
use std::path::PathBuf;

use disjoin::Result;
use disjoin::data::risk::Bin;
use disjoin::data::{Profile, Risk, profile, risk};
use disjoin::read::Intake;
use serde::Serialize;

use crate::Outcome;
use crate::args::{Crowd, Input};
use crate::talk::{Talk, number, percent};

/// Show who could be singled out in the data as it is
///
/// A record is at risk if it holds a set of at most M terms that fewer than K records hold: whoever knows these terms of
/// a person then knows the person's record, or nearly so. The count is exact.
///
/// Ends with exit code 0 whatever the risk is: raw data promises nothing.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The data; "-" is standard input
    file: PathBuf,
    #[command(flatten)]
    crowd: Crowd,
    #[command(flatten)]
    input: Input,
}

const EXAMPLES: &str = "\
Examples:
  disjoin inspect baskets.dat
  disjoin inspect hospital.csv --column diagnoses -k 10 -m 3
  zcat baskets.dat.gz | disjoin inspect - --json";

#[derive(Serialize)]
struct Report<'a> {
    input: &'a Intake,
    profile: &'a Profile,
    risk: &'a Risk,
}

pub(crate) fn run(args: &Args, talk: &Talk) -> Result<Outcome> {
    args.crowd.check()?;
    let (data, input) = args.input.read(&args.file, talk)?;
    talk.step("counting rare sets of terms");
    let (profile, risk) = (profile(&data), risk(&data, args.crowd.k, args.crowd.m));
    if talk.is_json() {
        talk.print_json(&Report { input: &input, profile: &profile, risk: &risk })?;
    } else {
        talk.print(&text(&profile, &risk))?;
    }
    Ok(Outcome::Holds)
}

fn text(profile: &Profile, risk: &Risk) -> String {
    let mut text = String::new();
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
    let _ = writeln!(text, "  {:<27}{:>14}", format!("terms in fewer than {k} records"), number(risk.rare_terms));

    histogram(&mut text, "Terms by the number of records that hold them:", &profile.supports);
    histogram(&mut text, "Records by their number of terms:", &profile.lengths);
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
