//! `disjoin measure`: how useful is what remains?

use std::path::PathBuf;

use disjoin::Result;
use disjoin::recipe::written;
use disjoin::reconstruct::Multiplicity;
use disjoin::run::{self, MeasureOptions, Originally};

use crate::Outcome;
use crate::choices::{choice, from_one};
use crate::flags::input::{Input, SOURCES};
use crate::flags::original::named;
use crate::talk::Talk;

/// Compare a release with its original: what utility is left?
///
/// Disassociated data: tKd is the share of the original's K most frequent itemsets that are no longer among the K most frequent
/// ones: of one reconstruction, of the chunks alone (tKd-a), of expected supports (tKd-e), of a reconstruction with a taxonomy
/// (tKd-ML2). re is the relative error of the supports of pairs, between 0 and 2, in windows of 20 terms by rank: of one
/// reconstruction, of the chunks alone (re-a), of the mean of several reconstructions (re-r2, ...), of expected supports (re-e), of
/// expected supports if rare terms occur more than once in their clusters (re-u). tlost is the share of terms with K or more records
/// that no chunk shows. Links are pairs and triples of terms, drawn as often as records hold them: link error is the relative error of
/// their expected supports, association error that of the mutual information of pairs (0 exact, 1 as if independent), narrow links the share
/// of pairs whose bounds are narrower than a factor of two. Visible occurrences are those that chunks show.
///
/// Tables: what cells lost (NCP by column, GCP, RGCP), how large classes are, and how far counts are off. Split tables also: how far
/// sensitive values together are from what their tables suggest (total variation, by group).
///
/// Recoded transactions: what became of terms, NCP and UL, tKd of the terms that are published as themselves, and re and query error
/// if groups are spread evenly over their terms. Noisy releases: which of the most frequent itemsets are missed, and how far
/// supports are off.
///
/// The result shows what was counted in the original: it is for those who hold it, and does not belong in the release.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The package that disjoin protect wrote, or the folder release in it
    release: PathBuf,
    /// The data that the release was made from: a file ("-" is standard input) or the URL of a table
    #[arg(long, value_name = "FILE")]
    original: PathBuf,
    /// The custody folder [default: the one beside the release, if there is one]
    #[arg(long, value_name = "DIR")]
    custody: Option<PathBuf>,
    /// How many of the most frequent itemsets to compare
    #[arg(long, value_name = "K", value_parser = from_one())]
    top: Option<u32>,
    /// How many reconstructions to average at most
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000))]
    reconstructions: Option<u64>,
    /// How many random queries to ask
    #[arg(long, value_name = "N")]
    queries: Option<usize>,
    /// The seed of all that is random
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,
    /// How often a term without a count is taken to occur in its cluster
    #[arg(long, value_name = "LAW", value_parser = choice::<Multiplicity>())]
    multiplicity: Option<Multiplicity>,
    /// A taxonomy of the terms for tKd-ML2: an ARX CSV file or an Amnesia text file
    #[arg(long, value_name = "FILE")]
    hierarchy: Option<PathBuf>,
    /// Make a taxonomy for tKd-ML2: so many children a node, over the sorted terms
    #[arg(long, value_name = "N", conflicts_with = "hierarchy")]
    fanout: Option<usize>,
    /// Count terms with more than k records in tlost, instead of k or more
    #[arg(long)]
    more_than_k: bool,
    /// Show how much of the links inside these sets of terms is kept: a file with one set a line
    #[arg(long, value_name = "FILE")]
    utility: Option<PathBuf>,
    /// Show how many of the occurrences are kept, weighed like this: a CSV file of terms and weights
    #[arg(long, value_name = "FILE")]
    weights: Option<PathBuf>,
    /// Draw support.svg and loss.svg into this folder, over older ones
    #[arg(long, value_name = "DIR")]
    plots: Option<PathBuf>,
    #[command(flatten)]
    input: Input,
}

const EXAMPLES: &str = "\
Examples:
  disjoin measure out --original baskets.dat
  disjoin measure out --original baskets.dat --fanout 10 --plots plots
  disjoin measure out/release --original patients.csv --column diagnoses --json";

pub(crate) fn run(args: &Args, talk: &Talk) -> Result<Outcome> {
    let written = written::Measure {
        top: args.top.map(|top| top as usize),
        reconstructions: args.reconstructions,
        queries: args.queries,
        seed: args.seed,
    };
    let usual = MeasureOptions::new(&written)?;
    let asked = MeasureOptions {
        multiplicity: args.multiplicity.unwrap_or(usual.multiplicity),
        more_than_k: args.more_than_k,
        hierarchy: args.hierarchy.clone(),
        fanout: args.fanout,
        utility: args.utility.clone(),
        weights: args.weights.clone(),
        plots: args.plots.clone(),
        ..usual
    };
    let original = Originally { location: Some(&args.original), options: args.input.options() };
    let found = run::measure(&args.release, args.custody.as_deref(), &original, &asked, SOURCES, talk);
    talk.answer(&found.map_err(|error| named(error, Some(&args.original)))?)
}
