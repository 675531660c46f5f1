//! `disjoin query`: how many people have all of these terms?

use std::path::PathBuf;

use clap::ArgGroup;
use disjoin::Result;
use disjoin::reconstruct::Multiplicity;
use disjoin::run::{self, Questions};

use crate::Outcome;
use crate::choices::{choice, from_one};
use crate::talk::Talk;

/// Estimate how many people have all of some terms, from the release alone
///
/// Four numbers are given for each set of terms. LOWER and UPPER are certain: whatever the original was, no fewer and
/// no more people had all of the terms. EXPECTED is the mean if, within a cluster, anybody may have had what others had:
/// the release does not show who, so every way to put its parts together counts the same. +/- is the standard deviation
/// of that: how far a typical way lies from the mean. The expectation is as good as this assumption, which mostly makes it
/// too small: people who share one rare term often share others. The bounds need no assumption.
///
/// Recoded transactions show groups of terms. There EXPECTED is the mean if each term of a group is as likely, and the upper bound
/// are all records that show the groups, or all records where terms were suppressed.
///
/// An itemset is written as its terms with commas between; a term that contains a comma goes in double quotes.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, after_help = EXAMPLES)]
#[command(group(ArgGroup::new("source").required(true)))]
#[command(override_usage = "disjoin query [OPTIONS] <RELEASE> <ITEMSET...|--file <FILE>|--top <N>>")]
pub(crate) struct Args {
    /// The package that disjoin protect wrote, or the folder release in it
    release: PathBuf,
    /// The sets of terms, each with commas between its terms
    #[arg(value_name = "ITEMSET", group = "source")]
    itemsets: Vec<String>,
    /// Read the sets of terms from a file, one a line; "-" is standard input
    #[arg(long, value_name = "FILE", group = "source")]
    file: Option<PathBuf>,
    /// The N sets of terms that most people are expected to have
    #[arg(long, value_name = "N", group = "source", value_parser = from_one())]
    top: Option<u32>,
    // Where another source excludes --top, clap no longer asks for it: the sizes exclude that source themselves.
    /// With --top: sets of so many terms only
    #[arg(long, value_name = "S", requires = "top", value_parser = from_one(),
        conflicts_with_all = ["itemsets", "file", "min_size", "max_size"])]
    size: Option<u32>,
    /// With --top: sets of at least so many terms
    #[arg(long, value_name = "A", requires = "top", value_parser = from_one(), conflicts_with_all = ["itemsets", "file"])]
    min_size: Option<u32>,
    /// With --top: sets of at most so many terms
    #[arg(long, value_name = "B", requires = "top", value_parser = from_one(), conflicts_with_all = ["itemsets", "file"])]
    max_size: Option<u32>,
    /// How often a term without a count is taken to occur in its cluster; the bounds do not depend on it
    #[arg(long, value_name = "LAW", value_parser = choice::<Multiplicity>())]
    multiplicity: Option<Multiplicity>,
}

const EXAMPLES: &str = "\
Examples:
  disjoin query out \"flu, asthma\" gout
  disjoin query out/release --top 20 --size 2
  disjoin query out --file itemsets.txt --json
  disjoin query out '\"bread, sliced\", butter'";

pub(crate) fn run(args: &Args, talk: &Talk) -> Result<Outcome> {
    // What is cheap to refuse is refused before the release is read.
    let size = |size: Option<u32>| args.size.or(size).map(|size| size as usize);
    let questions = match (args.top, &args.file) {
        (Some(top), _) => Questions::top(top as usize, size(args.min_size), size(args.max_size))?,
        (None, Some(file)) => Questions::read(file)?,
        (None, None) => Questions::written(&args.itemsets)?,
    };
    talk.answer(&run::query(&args.release, &questions, args.multiplicity.unwrap_or_default(), talk)?)
}
