//! The command line of disjoin: one file per verb; the science is in the crate `disjoin`.
//!
//! Data go to stdout, talk goes to stderr. Exit codes: 0 the promise holds, 1 it does not, 2 an error.

mod attack;
mod audit;
mod choices;
mod completions;
mod convert;
mod corpus;
mod corpus_pairs;
mod demo;
mod explain;
mod extract;
mod flags;
mod generate;
mod help;
mod hierarchy;
mod inspect;
mod keys;
mod measure;
mod policy;
mod protect;
mod query;
mod recipe;
mod recipe_ask;
mod recipe_new;
mod reconstruct;
mod repair;
mod run;
mod sink;
mod sweep;
mod talk;
mod terminal;
mod verify;

use std::io::Write as _;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use disjoin::location::has_password;
use disjoin::observer::observed;
use disjoin::release::parquet::is_guarded;
use disjoin::{Error, Memory, Result};

use talk::Talk;

/// Publish person-level data that nobody can join back to a person.
///
/// disjoin reads sets of terms (diagnoses, purchases, queries: one set a person) or tables of people, protects them so that nobody
/// can be singled out, and writes a release whose promise can be proved from the release alone.
#[derive(Parser)]
#[command(name = "disjoin", version, propagate_version = true, after_long_help = EXAMPLES, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(flatten)]
    common: flags::Common,
    #[command(subcommand)]
    verb: Verb,
}

const EXAMPLES: &str = "\
Examples:
  disjoin demo                                     see it work on a synthetic hospital
  disjoin recipe new baskets.dat                   write recipe.toml: what shall be done?
  disjoin run                                      do it: protect, verify, attack, repair, measure, report
  disjoin sweep -k 3,5,10                          try several, and see what more privacy costs
  disjoin inspect baskets.dat -k 5 -m 2            who could be singled out as it is?
  disjoin protect baskets.dat -k 5 -m 2 -o out     make a release
  disjoin policy random baskets.dat -o hide.txt    write what must be hidden, for --method coat
  disjoin verify out                               prove what it promises
  disjoin attack out                               what could an adversary learn?
  disjoin audit other.csv --quasi age,sex          what does somebody else's file keep?
  disjoin repair out -o repaired                   repair it, without the original
  disjoin measure out --original baskets.dat       what is it still good for?
  disjoin query out \"flu, asthma\"                  how many people have both?
  disjoin explain out flu                          why is a count missing, and what would bring it back?
  disjoin reconstruct out -n 10 -o maybe           draw datasets that the original may have been

Exit codes:
  0  done; the promise and its limits hold
  1  the promise or a limit does not hold
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
    Audit(Box<audit::Args>),
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
    Completions(completions::Args),
    Man(completions::ManArgs),
}

/// What a verb found out, if it ended without an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Holds,
    Broken,
}

impl Outcome {
    fn of(holds: bool) -> Self {
        if holds { Outcome::Holds } else { Outcome::Broken }
    }
}

fn main() -> ExitCode {
    // What is not Unicode is no word that help looks for.
    let arguments: Vec<String> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    if let Some(help) = help::of_protect(&arguments) {
        return match Talk::new(false, false, Memory::default()).print(&help) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::from(2),
        };
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() => {
            Talk::usage(&error);
            return ExitCode::from(2);
        }
        // Help and the version.
        Err(error) => error.exit(),
    };
    let talk = Talk::new(cli.common.quiet, cli.common.json, cli.common.memory.unwrap_or_default());
    warn_of_passwords(&arguments, &talk);
    match undisturbed(|| dispatch(cli, &talk)) {
        Ok(Outcome::Holds) => ExitCode::SUCCESS,
        Ok(Outcome::Broken) => ExitCode::from(1),
        // Whoever read our output has seen enough, as in `disjoin generate quest | head`.
        Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error @ Error::Cancelled) => {
            talk.error(&error);
            // As shells say of a program that Ctrl-C ended.
            ExitCode::from(130)
        }
        Err(error) => {
            talk.error(&keys::as_flag(error));
            ExitCode::from(2)
        }
    }
}

/// What stands in a command is seen by everybody who lists the processes, and kept in the shell's history.
fn warn_of_passwords(arguments: &[String], talk: &Talk) {
    let values = arguments.iter().map(|argument| match argument.split_once('=') {
        Some((flag, value)) if flag.starts_with('-') => value,
        _ => argument,
    });
    if values.into_iter().any(has_password) {
        talk.warn(
            "a password in a command can be read in the list of processes; set PGPASSWORD or use ~/.pgpass instead",
        );
    }
}

/// Does work in which damaged files must not show as panics of what reads them. A panic that nobody expected is a defect: it ends the
/// work with an error that says where it is.
fn undisturbed(work: impl FnOnce() -> Result<Outcome>) -> Result<Outcome> {
    std::panic::set_hook(Box::new(|panic| {
        if !is_guarded() {
            let place = panic.location().map(|place| format!(" at {}:{}", place.file(), place.line()));
            let _ = writeln!(std::io::stderr(), "error: stopped by a defect{}", place.unwrap_or_default());
        }
    }));
    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| observed(work)));
    done.unwrap_or(Err(Error::Internal("the work did not come to its end")))
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
        Verb::Audit(args) => audit::run(&args, talk),
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
        Verb::Completions(args) => completions::run(&args, talk),
        Verb::Man(args) => completions::man(&args, talk),
    }
}
