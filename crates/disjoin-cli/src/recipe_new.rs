//! `disjoin recipe new`: look at the data, ask or take what is suggested, and write the recipe.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use disjoin::protect::disassociation::Params;
use disjoin::read::Options;
use disjoin::recipe::resolve::default;
use disjoin::recipe::{Answers, TableAnswers, template};
use disjoin::run::{Look, look};
use disjoin::{Error, Place, Result};

use crate::Outcome;
use crate::flags::Km;
use crate::flags::input::SOURCES;
use crate::recipe_ask::asked;
use crate::run::recipe_file;
use crate::sink::write_to;
use crate::talk::{Talk, count};

/// Write a commented recipe; looks at the data, and asks on a terminal
///
/// Of a table, every column is asked for, with a suggestion and its reason. A role that would be a guess is not suggested. Without a terminal,
/// --accept-suggestions takes what is suggested; what is not is written down as a question, and the recipe cannot be run until
/// it is answered.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct New {
    /// The data: a file, or the URL of a table in a database
    pub(crate) file: Option<String>,
    /// The column (or JSON field) that holds each person's list of terms
    #[arg(long, value_name = "NAME")]
    pub(crate) column: Option<String>,
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
    /// Ask nothing: take what is suggested, and write down as questions what would be a guess
    #[arg(long, alias = "yes")]
    accept_suggestions: bool,
    #[command(flatten)]
    km: Km,
}

const EXAMPLES: &str = "\
Examples:
  disjoin recipe new
  disjoin recipe new patients.csv
  disjoin recipe new patients.csv --column diagnoses -k 10 -m 3
  disjoin recipe new people.csv --accept-suggestions
  disjoin recipe new baskets.dat -o -";

pub(crate) fn new(args: &New, talk: &Talk) -> Result<Outcome> {
    let file = recipe_file(args.out.as_deref());
    let (k, m) = args.km.both();
    Params::new(k, m).check()?;
    let to_stdout = file == Path::new("-");
    if file.exists() && !args.force && !to_stdout {
        return Err(Error::input(Place::file(file.display().to_string()), "exists already")
            .with_hint("choose another name with -o, or replace it with --force"));
    }
    let ask = !args.accept_suggestions && std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    let answers = if ask { asked(args, talk)? } else { given(args, talk)? };
    let text = template(&answers);
    write_to((!to_stdout).then_some(file), args.force, talk, |out| {
        out.write_all(text.as_bytes()).map_err(|e| Error::io(file, "write", e))
    })?;
    let questions = answers.table.as_ref().map(TableAnswers::questions).unwrap_or_default();
    questions.iter().for_each(|question| talk.warn(question));
    if !to_stdout {
        let first = match questions.len() as u64 {
            0 => String::new(),
            n => format!("answer {} in it, then ", count(n, "question", "questions")),
        };
        talk.note(&format!("wrote {}; next: {first}disjoin run {0}", file.display()));
    }
    Ok(Outcome::Holds)
}

impl New {
    /// What the flags say of these data, before anything is asked.
    pub(crate) fn answers(&self, file: String) -> Answers {
        let (k, m) = self.km.both();
        Answers {
            file,
            column: self.column.clone(),
            k,
            m,
            sensitive: self.sensitive.iter().map(|term| term.trim().to_owned()).collect(),
            folder: self.folder.clone().unwrap_or_else(|| default::FOLDER.to_owned()),
            table: None,
        }
    }

    /// What the data seem to be.
    pub(crate) fn look(&self, file: &str, talk: &Talk) -> Result<Look> {
        let options = Options { column: self.column.clone(), ..Options::default() };
        let found = look(Path::new(file), &options, SOURCES, talk);
        talk.end_steps();
        found
    }
}

/// What the flags say, and what is suggested if they say so.
fn given(args: &New, talk: &Talk) -> Result<Answers> {
    let Some(file) = args.file.clone() else {
        return Err(Error::recipe("FILE", "is missing", "name the data: disjoin recipe new patients.csv"));
    };
    let found = args.look(&file, talk)?;
    let answers = args.answers(file);
    match found {
        Look::Sets => Ok(answers),
        Look::Table(found) if args.accept_suggestions => {
            Ok(Answers { table: Some(TableAnswers::suggested(&found)), ..answers })
        }
        Look::Table(_) => Err(Error::input(Place::file(answers.file), "is a table: each of its columns needs a role")
            .with_hint("answer the questions on a terminal, take what is suggested with --accept-suggestions, or name the list of terms with --column")),
    }
}
