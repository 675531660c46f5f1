//! `disjoin recipe`: write one, check one, describe what one may hold.

use std::io::{BufRead, IsTerminal, Write as _};
use std::path::{Path, PathBuf};

use clap::Subcommand;
use disjoin::location::scheme;
use disjoin::protect::disassociation::Params;
use disjoin::recipe::resolve::default;
use disjoin::recipe::{Answers, template, written};
use disjoin::{Error, Place, Result};

use crate::Outcome;
use crate::flags::Km;
use crate::run::{read, recipe_file};
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
    #[arg(long, value_name = "OUT", help = format!("The folder of the package [default: {}]", default::FOLDER))]
    folder: Option<String>,
    /// Where to write the recipe; "-" is standard output [default: recipe.toml]
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace a recipe that exists
    #[arg(long)]
    force: bool,
    /// Ask nothing: what is not given has its default
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    km: Km,
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
    /// The recipe [default: recipe.toml]
    recipe: Option<PathBuf>,
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
    let file = recipe_file(args.out.as_deref());
    let (k, m) = args.km.both();
    Params::new(k, m).check()?;
    let to_stdout = file == Path::new("-");
    if file.exists() && !args.force && !to_stdout {
        return Err(Error::input(Place::file(file.display().to_string()), "exists already")
            .with_hint("choose another name with -o, or replace it with --force"));
    }
    let ask = !args.yes && std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    let answers = if ask { asked(args)? } else { given(args)? };
    let text = template(&answers);
    write_to((!to_stdout).then_some(file), args.force, |out| {
        out.write_all(text.as_bytes()).map_err(|e| Error::io(file, "write", e))
    })?;
    if !to_stdout {
        talk.note(&format!("wrote {}; next: disjoin run {0}", file.display()));
    }
    Ok(Outcome::Holds)
}

impl New {
    fn folder(&self) -> String {
        self.folder.clone().unwrap_or_else(|| default::FOLDER.to_owned())
    }
}

/// What the flags say.
fn given(args: &New) -> Result<Answers> {
    let Some(file) = args.file.clone() else {
        return Err(Error::recipe("FILE", "is missing", "name the data: disjoin recipe new patients.csv"));
    };
    let (k, m) = args.km.both();
    Ok(Answers {
        file,
        column: args.column.clone(),
        k,
        m,
        sensitive: args.sensitive.iter().map(|term| term.trim().to_owned()).collect(),
        folder: args.folder(),
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
    let k = number("How many records or people shall not be told apart (k)?", args.km.both().0)?;
    let m = number("How many terms of background knowledge has an adversary (m)?", args.km.both().1)?;
    Params::new(k, m).check()?;
    let sensitive = ask("Terms that must never be linked with others? (commas between; empty for none)", "")?;
    let folder = ask("Which folder does the package go to?", &args.folder())?;
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
    let file = recipe_file(args.recipe.as_deref());
    let mut recipe = read(file, talk)?;
    let location = recipe.input.file.to_string_lossy();
    if scheme(&location).is_none() && !recipe.input.file.exists() {
        talk.warn(&format!("{location}: there is no such file yet"));
    }
    // How many is enough: the list says what somebody wants to hide.
    let n_sensitive = std::mem::take(&mut recipe.protect.sensitive).len();
    if talk.is_json() {
        talk.print_json(&recipe)?;
        return Ok(Outcome::Holds);
    }
    let text = toml::to_string_pretty(&recipe).map_err(|_| Error::Internal("a recipe is always TOML"))?;
    talk.print(&format!("# {} with all defaults; {n_sensitive} sensitive terms\n{text}", file.display()))?;
    Ok(Outcome::Holds)
}
