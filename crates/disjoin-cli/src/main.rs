//! The command line of disjoin: one file per verb; the science is in the crate `disjoin`.
//!
//! Data go to stdout, talk goes to stderr. Exit codes: 0 the promise holds, 1 it does not, 2 an error.

mod args;
mod attack;
mod convert;
mod corpus;
mod database;
mod demo;
mod dependency;
mod explain;
mod extract;
mod generate;
mod hierarchy;
mod inspect;
mod measure;
mod noise;
mod policy;
mod protect;
mod query;
mod recipe;
mod recoding;
mod reconstruct;
mod regroup;
mod repair;
mod run;
mod semantic;
mod sink;
mod split;
mod sweep;
mod table;
mod talk;
mod verify;
mod words;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use disjoin::{Error, Result};

use talk::Talk;

/// Publish person-level data that nobody can join back to a person.
///
/// disjoin reads records of terms (diagnoses, purchases, queries: one set a person), cuts the links between terms that
/// would single somebody out, and writes a release whose promise can be proven from the release alone.
#[derive(Parser)]
#[command(name = "disjoin", version, propagate_version = true, after_long_help = EXAMPLES, after_help = SHORT_EXAMPLES)]
struct Cli {
    #[command(flatten)]
    common: args::Common,
    #[command(subcommand)]
    verb: Verb,
}

const SHORT_EXAMPLES: &str = "\
Examples:
  disjoin demo                                     see it work on a made-up hospital
  disjoin recipe new baskets.dat                   write recipe.toml: what shall be done?
  disjoin run                                      do it: protect, verify, attack, repair, measure, report
  disjoin sweep -k 3,5,10                          try several, and see what more privacy costs
  disjoin inspect baskets.dat -k 5 -m 2            who could be singled out as it is?
  disjoin protect baskets.dat -k 5 -m 2 -o out     make a release
  disjoin policy random baskets.dat -o hide.txt    write what must be hidden, for --method coat
  disjoin verify out                               prove what it promises
  disjoin attack out                               what could an adversary learn?
  disjoin repair out -o mended                     mend it, without the original
  disjoin measure out --original baskets.dat       what is it still good for?
  disjoin query out \"flu, asthma\"                  how many people have both?
  disjoin explain out flu                          why is a count missing, and what would bring it back?
  disjoin reconstruct out -n 10 -o maybe           draw datasets that the original may have been";

const EXAMPLES: &str = "\
Examples:
  disjoin demo                                     see it work on a made-up hospital
  disjoin recipe new baskets.dat                   write recipe.toml: what shall be done?
  disjoin run                                      do it: protect, verify, attack, repair, measure, report
  disjoin sweep -k 3,5,10                          try several, and see what more privacy costs
  disjoin inspect baskets.dat -k 5 -m 2            who could be singled out as it is?
  disjoin protect baskets.dat -k 5 -m 2 -o out     make a release
  disjoin policy random baskets.dat -o hide.txt    write what must be hidden, for --method coat
  disjoin verify out                               prove what it promises
  disjoin attack out                               what could an adversary learn?
  disjoin repair out -o mended                     mend it, without the original
  disjoin measure out --original baskets.dat       what is it still good for?
  disjoin query out \"flu, asthma\"                  how many people have both?
  disjoin explain out flu                          why is a count missing, and what would bring it back?
  disjoin reconstruct out -n 10 -o maybe           draw datasets that the original may have been

Exit codes:
  0  done, and the promise holds
  1  the promise does not hold, or an attack succeeds
  2  an error; nothing was written";

/// What to do.
#[derive(Subcommand)]
enum Verb {
    Demo(demo::Args),
    Run(run::Args),
    #[command(subcommand)]
    Recipe(recipe::Args),
    Sweep(sweep::Args),
    Inspect(inspect::Args),
    Protect(Box<protect::Args>),
    Verify(verify::Args),
    Attack(Box<attack::Args>),
    Repair(repair::Args),
    Measure(measure::Args),
    Query(query::Args),
    Explain(explain::Args),
    Reconstruct(reconstruct::Args),
    Convert(convert::Args),
    #[command(subcommand)]
    Policy(policy::Args),
    #[command(subcommand)]
    Hierarchy(hierarchy::Args),
    #[command(subcommand)]
    Generate(generate::Args),
    #[command(subcommand)]
    Corpus(corpus::Args),
    Extract(extract::Args),
}

/// What a verb found out, if it ended without an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Holds,
    Broken,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let talk = Talk::new(cli.common.quiet, cli.common.json);
    match dispatch(cli, &talk) {
        Ok(Outcome::Holds) => ExitCode::SUCCESS,
        Ok(Outcome::Broken) => ExitCode::from(1),
        // Whoever read our output has seen enough, as in `disjoin generate quest | head`.
        Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            talk.error(&error);
            ExitCode::from(2)
        }
    }
}

fn dispatch(cli: Cli, talk: &Talk) -> Result<Outcome> {
    cli.common.start_threads()?;
    match cli.verb {
        Verb::Demo(args) => demo::run(&args, talk),
        Verb::Run(args) => run::run(&args, talk),
        Verb::Recipe(args) => recipe::run(&args, talk),
        Verb::Sweep(args) => sweep::run(&args, talk),
        Verb::Inspect(args) => inspect::run(&args, talk),
        Verb::Protect(args) => protect::run(&args, talk),
        Verb::Verify(args) => verify::run(&args, talk),
        Verb::Attack(args) => attack::run(&args, talk),
        Verb::Repair(args) => repair::run(&args, talk),
        Verb::Measure(args) => measure::run(&args, talk),
        Verb::Query(args) => query::run(&args, talk),
        Verb::Explain(args) => explain::run(&args, talk),
        Verb::Reconstruct(args) => reconstruct::run(&args, talk),
        Verb::Convert(args) => convert::run(&args, talk),
        Verb::Policy(args) => policy::run(&args, talk),
        Verb::Hierarchy(args) => hierarchy::run(&args, talk),
        Verb::Generate(args) => generate::run(&args, talk),
        Verb::Corpus(args) => corpus::run(&args, talk),
        Verb::Extract(args) => extract::run(&args, talk),
    }
}
