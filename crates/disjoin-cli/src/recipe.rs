//! `disjoin recipe`: write one, check one, describe what one may hold.

use std::io::{BufRead, IsTerminal, Write as _};
use std::path::{Path, PathBuf};

use clap::Subcommand;
use disjoin::recipe::{Answers, read_recipe, template, written};
use disjoin::{Error, Place, Result};

use crate::Outcome;
use crate::args::Crowd;
use crate::sink::write_to;
use crate::talk::Talk;

/// Write a recipe, check one, or print what one may hold
#[derive(Subcommand)]
pub(crate) enum Args {
    New(New),
    Check(Check),
    Schema(Schema),
}

/// Write a commented recipe; asks a few questions on a terminal
#[derive(clap::Args)]
#[command(after_help = NEW_EXAMPLES)]
pub(crate) struct New {
    /// The data
    file: Option<String>,
    /// The column (or JSON field) that holds each person's list of terms
    #[arg(long, value_name = "NAME")]
    column: Option<String>,
    /// Terms that are never to be linked with others, with commas between
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    sensitive: Vec<String>,
    /// The folder of the package
    #[arg(long, value_name = "OUT", default_value = "out")]
    folder: String,
    /// Where to write the recipe; "-" is standard output
    #[arg(short, long, value_name = "FILE", default_value = "recipe.toml")]
    out: PathBuf,
    /// Replace a recipe that exists
    #[arg(long)]
    force: bool,
    /// Ask nothing: what is not given has its default
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    crowd: Crowd,
}

const NEW_EXAMPLES: &str = "\
Examples:
  disjoin recipe new
  disjoin recipe new patients.csv --column diagnoses -k 10 -m 3
  disjoin recipe new baskets.dat -o - --yes";

/// Say whether a recipe can be run, and what it means with all defaults
#[derive(clap::Args)]
#[command(after_help = CHECK_EXAMPLES)]
pub(crate) struct Check {
    /// The recipe
    #[arg(default_value = "recipe.toml")]
    recipe: PathBuf,
}

const CHECK_EXAMPLES: &str = "\
Examples:
  disjoin recipe check
  disjoin recipe check strict.toml --json";

/// Print the JSON schema of recipes, for editors
#[derive(clap::Args)]
#[command(after_help = SCHEMA_EXAMPLES)]
pub(crate) struct Schema {}

const SCHEMA_EXAMPLES: &str = "\
Examples:
  disjoin recipe schema > recipe.schema.json";

pub(crate) fn run(args: &Args, talk: &Talk) -> Result<Outcome> {
    match args {
        Args::New(args) => new(args, talk),
        Args::Check(args) => check(args, talk),
        Args::Schema(Schema {}) => {
            talk.print_json(&written::schema())?;
            Ok(Outcome::Holds)
        }
    }
}

fn new(args: &New, talk: &Talk) -> Result<Outcome> {
    args.crowd.check()?;
    let to_stdout = args.out == Path::new("-");
    if args.out.exists() && !args.force && !to_stdout {
        return Err(Error::input(Place::file(args.out.display().to_string()), "exists already")
            .with_hint("choose another name with -o, or replace it with --force"));
    }
    let ask = !args.yes && std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    let answers = if ask { asked(args)? } else { given(args)? };
    let text = template(&answers);
    write_to((!to_stdout).then_some(&args.out), args.force, |out| {
        out.write_all(text.as_bytes()).map_err(|e| Error::io(&args.out, "write", e))
    })?;
    if !to_stdout {
        talk.note(&format!("wrote {}; next: disjoin run {0}", args.out.display()));
    }
    Ok(Outcome::Holds)
}

/// What the flags say.
fn given(args: &New) -> Result<Answers> {
    let Some(file) = args.file.clone() else {
        return Err(Error::recipe("FILE", "is missing", "name the data: disjoin recipe new patients.csv"));
    };
    Ok(Answers {
        file,
        column: args.column.clone(),
        k: args.crowd.k,
        m: args.crowd.m,
        sensitive: args.sensitive.iter().map(|term| term.trim().to_owned()).collect(),
        folder: args.folder.clone(),
    })
}

/// What the user says; what the flags said is the default.
fn asked(args: &New) -> Result<Answers> {
    let file = match &args.file {
        Some(file) => file.clone(),
        None => ask("Which file holds the data?", "")?,
    };
    let column = match &args.column {
        Some(column) => Some(column.clone()),
        None => Some(ask("Which column holds each person's list of terms? (empty if it is no table)", "")?)
            .filter(|column| !column.is_empty()),
    };
    let number = |question: &str, default: u32| -> Result<u32> {
        let answer = ask(question, &default.to_string())?;
        answer.parse().map_err(|_| Error::recipe("the answer", "is not a number", "write digits, as 5"))
    };
    let k = number("In a crowd of how many must everybody hide (k)?", args.crowd.k)?;
    let m = number("How many terms of a person may an adversary know (m)?", args.crowd.m)?;
    Crowd { k, m }.check()?;
    let sensitive = ask("Terms that must never be linked with others? (commas between; empty for none)", "")?;
    let folder = ask("Which folder does the package go to?", &args.folder)?;
    let listed = sensitive.split(',').map(|term| term.trim().to_owned()).filter(|term| !term.is_empty());
    Ok(Answers { file, column, k, m, sensitive: args.sensitive.iter().cloned().chain(listed).collect(), folder })
}

fn ask(question: &str, default: &str) -> Result<String> {
    let terminal = Path::new("terminal");
    let shown = if default.is_empty() { String::new() } else { format!(" [{default}]") };
    let mut out = std::io::stderr();
    write!(out, "{question}{shown} ").and_then(|()| out.flush()).map_err(|e| Error::io(terminal, "ask", e))?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer).map_err(|e| Error::io(terminal, "read the answer", e))?;
    let answer = answer.trim();
    Ok(if answer.is_empty() { default.to_owned() } else { answer.to_owned() })
}

fn check(args: &Check, talk: &Talk) -> Result<Outcome> {
    let mut recipe = read_recipe(&args.recipe)?;
    if !recipe.input.file.exists() {
        talk.warn(&format!("{}: there is no such file yet", recipe.input.file.display()));
    }
    // How many is enough: the list says what somebody wants to hide.
    let n_sensitive = std::mem::take(&mut recipe.protect.sensitive).len();
    if talk.is_json() {
        talk.print_json(&recipe)?;
        return Ok(Outcome::Holds);
    }
    let text = toml::to_string_pretty(&recipe).map_err(|_| Error::Internal("a recipe is always TOML"))?;
    talk.print(&format!("# {} with all defaults; {n_sensitive} sensitive terms\n{text}", args.recipe.display()))?;
    Ok(Outcome::Holds)
}
