//! `disjoin query`: how many people have all of these terms, how many records satisfy these conditions?

use std::path::PathBuf;

use clap::ArgGroup;
use disjoin::Result;
use disjoin::reconstruct::Multiplicity;
use disjoin::run::{self, Asking, Questions};

use crate::Outcome;
use crate::choices::{choice, from_one};
use crate::flags::columns::hierarchies_of_columns;
use crate::talk::Talk;

/// Estimate how many people have all of some terms, or satisfy conditions, from the release alone
///
/// Sets of terms are asked for itemsets, tables for predicates. Four numbers are given for each. LOWER and UPPER are certain: whatever the original was, no fewer and
/// no more people had all of the terms. EXPECTED is the mean if, within a cluster, anybody may have had what others had:
/// the release does not show who, so every way to put its parts together counts the same. +/- is the standard deviation
/// of that: how far a typical way lies from the mean. The expectation is as good as this assumption, which mostly makes it
/// too small: people who share one rare term often share others. The bounds need no assumption.
///
/// Recoded transactions show groups of terms. There EXPECTED is the mean if each term of a group is as likely, and the upper bound
/// are all records that show the groups, or all records where terms were suppressed.
///
/// An itemset is written as its terms with commas between; a term that contains a comma goes in double quotes.
///
/// A predicate of a table is written as conditions with "and" between: COLUMN = VALUE, COLUMN != VALUE, COLUMN in {A, B}, COLUMN not in
/// {A, B}, COLUMN 30-39, COLUMN >= 30 (also <, <= and >), and COLUMN has TERM for the column of sets. Dates are days, months, quarters and years:
/// 2024-05-17, 2024-05, 2024-Q2, 2024. Names and values with blanks stand in single or double quotes; '' is a missing value, which no other condition
/// holds for. There EXPECTED takes all values of a generalised cell as equally likely. Suppressed records are not counted.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, after_help = EXAMPLES)]
#[command(group(ArgGroup::new("source").required(true)))]
#[command(override_usage = "disjoin query [OPTIONS] <RELEASE> <QUESTION...|--file <FILE>|--top <N>>")]
pub(crate) struct Args {
    /// The package that disjoin protect wrote, or the folder release in it
    release: PathBuf,
    /// Sets of terms, each with commas between its terms; of a table, predicates
    #[arg(value_name = "QUESTION", group = "source")]
    questions: Vec<String>,
    /// Read them from a file, one a line; "-" is standard input
    #[arg(long, value_name = "FILE", group = "source")]
    file: Option<PathBuf>,
    /// The N sets of terms that most people are expected to have
    #[arg(long, value_name = "N", group = "source", value_parser = from_one())]
    top: Option<u32>,
    // Where another source excludes --top, clap no longer asks for it: the sizes exclude that source themselves.
    /// With --top: sets of so many terms only
    #[arg(long, value_name = "S", requires = "top", value_parser = from_one(),
        conflicts_with_all = ["questions", "file", "min_size", "max_size"])]
    size: Option<u32>,
    /// With --top: sets of at least so many terms
    #[arg(long, value_name = "A", requires = "top", value_parser = from_one(), conflicts_with_all = ["questions", "file"])]
    min_size: Option<u32>,
    /// With --top: sets of at most so many terms
    #[arg(long, value_name = "B", requires = "top", value_parser = from_one(), conflicts_with_all = ["questions", "file"])]
    max_size: Option<u32>,
    /// How often a term without a count is taken to occur in its cluster; the bounds do not depend on it
    #[arg(long, value_name = "LAW", value_parser = choice::<Multiplicity>())]
    multiplicity: Option<Multiplicity>,
    /// What labels of a column of a table stand for: an ARX CSV file or an Amnesia text file; may be repeated
    #[arg(long, value_name = "COLUMN=FILE")]
    hierarchy: Vec<String>,
}

const EXAMPLES: &str = "\
Examples:
  disjoin query out \"flu, asthma\" gout
  disjoin query out/release --top 20 --size 2
  disjoin query out --file itemsets.txt --json
  disjoin query out '\"bread, sliced\", butter'
  disjoin query table \"age 30-39 and sex = F\" \"ill in {flu, 'heart failure'}\"
  disjoin query table \"country = France\" --hierarchy country=countries.csv
  disjoin query mixed \"age >= 60 and diagnoses has flu\"";

pub(crate) fn run(args: &Args, talk: &Talk) -> Result<Outcome> {
    // What is cheap to refuse is refused before the release is read.
    let size = |size: Option<u32>| args.size.or(size).map(|size| size as usize);
    let questions = match (args.top, &args.file) {
        (Some(top), _) => Questions::top(top as usize, size(args.min_size), size(args.max_size))?,
        (None, Some(file)) => Questions::read(file)?,
        (None, None) => Questions::written(&args.questions),
    };
    let hierarchies = hierarchies_of_columns(&args.hierarchy)?;
    let asking = Asking { multiplicity: args.multiplicity.unwrap_or_default(), hierarchies };
    talk.answer(&run::query(&args.release, &questions, &asking, talk)?)
}
