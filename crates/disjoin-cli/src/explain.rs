//! `disjoin explain`: why is something not in a release, and what would have to change?

use std::path::PathBuf;

use disjoin::Result;
use disjoin::run::{self};

use crate::Outcome;
use crate::talk::Talk;

/// Say why a term lost its count, why two terms are no longer linked, why clusters were not joined, and what would help
///
/// Without terms, the release as a whole: how many terms have counts, how many are only listed, and, if the custody folder is
/// beside it, what the algorithm did and refused. With one term: where it stands. With two: how they stand to each other.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The package that disjoin protect wrote, or the folder release in it
    release: PathBuf,
    /// One term, or two
    #[arg(value_name = "TERM", num_args = 0..=2)]
    terms: Vec<String>,
}

const EXAMPLES: &str = "\
Examples:
  disjoin explain out
  disjoin explain out asthma
  disjoin explain out flu asthma --json";

pub(crate) fn run(args: &Args, talk: &Talk) -> Result<Outcome> {
    talk.answer(&run::explain(&args.release, &args.terms, talk)?)
}
