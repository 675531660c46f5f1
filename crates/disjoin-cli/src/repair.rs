//! `disjoin repair`: a release that discloses less.

use std::path::PathBuf;

use disjoin::Result;
use disjoin::run::{self, AttackOptions, Originally, RepairOptions};

use crate::Outcome;
use crate::flags::input::{Input, SOURCES};
use crate::flags::original::named;
use crate::flags::words::Semantic;
use crate::talk::Talk;

/// Repair a release that discloses too much
///
/// Disassociated data are repaired without their original. An adversary who knows how clusters are cut into chunks may learn that
/// fewer than k people have some terms. Such terms are moved to the term chunk of their cluster, where only their presence is
/// published, until nothing is disclosed. What is left in the chunks keeps its counts.
///
/// Recoded sets are grouped anew, from the original. An adversary who knows the meaning of terms finds out which members of a group were
/// added (disjoin attack). Such members change places with terms that fit the same records, until no attack has an advantage over
/// the baseline, or nothing helps any more: exit code 1 then. The promise is proved after every exchange. Of several sources of what
/// words mean each is an adversary's, and none shall win.
///
/// Writes a package like that of disjoin protect: OUT/release and OUT/custody, which holds nothing but a list of the files that were
/// written if RELEASE has no custody. It is written only if its promise was proved. Those who have the old release still have what it disclosed: withdraw it, or repair it before it leaves.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The package that disjoin protect wrote, or the folder release in it
    release: PathBuf,
    /// The folder to write the package to
    #[arg(short, long, value_name = "OUT")]
    out: PathBuf,
    /// Replace OUT if it exists
    #[arg(long)]
    force: bool,
    /// What recoded sets were made from
    #[arg(long, value_name = "FILE")]
    original: Option<PathBuf>,
    /// Recoded sets: NCP may become so many times what it was [default: 1.5]
    #[arg(long, value_name = "TIMES")]
    limit: Option<f64>,
    #[command(flatten)]
    semantic: Semantic,
    #[command(flatten)]
    input: Input,
}

const EXAMPLES: &str = "\
Examples:
  disjoin repair out -o repaired
  disjoin repair out/release -o repaired --json
  disjoin repair out -o repaired --original notes.jsonl --corpus words.corpus
  disjoin repair out -o repaired --original notes.jsonl --corpus words.corpus --vectors wordllama.whl --limit 2";

pub(crate) fn run(args: &Args, talk: &Talk) -> Result<Outcome> {
    let mut attack = AttackOptions::default();
    args.semantic.write(&mut attack)?;
    let asked = RepairOptions { out: args.out.clone(), force: args.force, ncp_growth: args.limit, attack };
    let original = Originally { location: args.original.as_deref(), options: args.input.options() };
    let answer = run::repair(&args.release, &original, &asked, SOURCES, talk)
        .map_err(|error| named(error, args.original.as_deref()))?;
    let outcome = talk.answer(&answer)?;
    talk.note_places(&args.out);
    Ok(outcome)
}
