//! `disjoin verify`: does the release keep its promise?

use std::path::PathBuf;

use disjoin::Result;
use disjoin::run::{self};

use crate::Outcome;
use crate::flags::input::SOURCES;
use crate::flags::original::Original;
use crate::talk::Talk;

/// Prove or refute what a release promises, from the release alone
///
/// Reads the claim and the data as anybody would, and checks each rule that the promise rests on. With the original, also checks
/// that the release is true to it: nothing invented, nothing lost that is not said to be.
///
/// Ends with exit code 0 if the promise holds and 1 if it does not.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The package that disjoin protect wrote, or the folder release in it
    release: PathBuf,
    #[command(flatten)]
    original: Original,
}

const EXAMPLES: &str = "\
Examples:
  disjoin verify out
  disjoin verify out/release --json
  disjoin verify out --original baskets.dat";

pub(crate) fn run(args: &Args, talk: &Talk) -> Result<Outcome> {
    let original = args.original.originally();
    talk.answer(&run::verify(&args.release, args.original.custody(), &original, SOURCES, talk)?)
}
