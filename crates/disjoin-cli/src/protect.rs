//! `disjoin protect`: from data to a package.

use std::path::{Path, PathBuf};

use disjoin::memory::{Memory, read_file};
use disjoin::recipe::written::Written;
use disjoin::recipe::{Method, resolve};
use disjoin::run::{self, Input as Data};
use disjoin::{Error, Place, Result};

use crate::Outcome;
use crate::choices::choice;
use crate::flags::Km;
use crate::flags::columns::Columns;
use crate::flags::input::{Input, SOURCES};
use crate::flags::noise::Noise;
use crate::flags::recoding::Recoding;
use crate::flags::sets::Sets;
use crate::talk::Talk;

/// Make a release: protect data so that people cannot be told apart
///
/// Sets of terms are disassociated unless --method says otherwise: every term and every record is kept, and links between terms
/// that would single out a person are cut. A table is protected in equivalence classes as soon as --quasi names its
/// quasi-identifiers; every column must get a role.
///
/// Writes OUT/release, which may leave the building, and OUT/custody, which must not. Nothing is written unless all is.
#[derive(clap::Args)]
#[command(after_help = MORE, after_long_help = EXAMPLES)]
pub(crate) struct Args {
    /// The data: a file ("-" is standard input), or the URL of a table in a database
    pub(crate) file: PathBuf,
    /// The folder to write the package to
    #[arg(short, long, value_name = "OUT")]
    out: PathBuf,
    /// How to protect [default: disassociation; least-loss for tables]
    #[arg(long, value_name = "METHOD", value_parser = choice::<Method>())]
    method: Option<Method>,
    #[command(flatten)]
    km: Km,
    /// Sensitive terms, linked to no other: with commas between, or a file with one a line. Of a table: its sensitive columns
    #[arg(long, value_name = "LIST|FILE")]
    sensitive: Option<String>,
    /// Nobody is linked to a sensitive term with a probability above 1/L. Of a table: L different sensitive values in every class
    #[arg(long, value_name = "L", requires = "sensitive")]
    l_diversity: Option<u32>,
    #[command(flatten)]
    sets: Sets,
    #[command(flatten)]
    columns: Columns,
    #[command(flatten)]
    recoding: Recoding,
    #[command(flatten)]
    noise: Noise,
    #[command(flatten)]
    input: Input,
}

/// What other kinds of data need.
const MORE: &str = "\
Examples:
  disjoin protect baskets.dat -o out
  disjoin protect people.csv --quasi age,sex,zip --sensitive disease --identifier name --numeric age -o out

Flags of other methods: --help tables, --help recoding, --help noise, --help all.
With a file, --help shows what it needs: disjoin protect people.csv --help.";

const EXAMPLES: &str = "\
Examples:
  disjoin protect baskets.dat -o out
  disjoin protect hospital.csv --column diagnoses -k 10 -m 3 -o out
  disjoin protect baskets.dat --promise published -o out
  disjoin protect purchases.csv --format long --id-column customer --item-column product -o out
  disjoin protect hospital.csv --column diagnoses --sensitive \"HIV disease,schizophrenia\" --l-diversity 5 -o out
  disjoin protect baskets.dat --utility sets.txt --weights weights.csv -o out
  disjoin protect people.csv --quasi age,sex,zip --sensitive disease --identifier name --numeric age --beta 2 -o out
  disjoin protect people.csv --quasi age,sex,zip --sensitive job,marital,salary --numeric age,zip \\
      --method break-merge -k 5 --l-diversity 2 --knowledge-breach 0.5 -o out
  disjoin protect sqlite:people.db?table=people --quasi age,sex --sensitive disease --numeric age -o out
  disjoin protect baskets.dat --method coat --privacy privacy.txt --utility utility.txt -k 5 -o out
  disjoin protect baskets.dat --method apriori --fanout 10 -k 5 -m 2 -o out
  disjoin protect baskets.dat --method suppression -k 5 -m 2 -o out
  disjoin protect baskets.dat --method privbasis --epsilon 1 --delta 1e-6 --top 100 --universe items.txt -o out
  disjoin protect baskets.dat --method diffpart --epsilon 1 --universe items.txt -o out

Flags of other methods: --help tables, --help recoding, --help noise, --help all.";

pub(crate) fn run(args: &Args, talk: &Talk) -> Result<Outcome> {
    let recipe = resolve(&args.written()?, Path::new(""))?;
    let answer = run::protect(&recipe, Data::Named(SOURCES), talk)
        .map_err(|error| in_file(error, args.sensitive.as_deref().map(Path::new)))?;
    talk.end_steps();
    talk.remark(&answer);
    answer.page.text().lines().for_each(|line| talk.note(line));
    talk.note_places(&recipe.output.folder);
    if talk.is_json() {
        talk.print_json(&answer.json)?;
    }
    Ok(Outcome::Holds)
}

impl Args {
    /// The same structure that a recipe fills: the same defaults, the same meaning, the same refusals.
    fn written(&self) -> Result<Written> {
        let mut written = Written { input: self.input.written(&self.file), ..Written::default() };
        written.protect.method = self.method;
        (written.protect.k, written.protect.m) = (self.km.k, self.km.m);
        written.output.folder = Some(self.out.to_string_lossy().into_owned());
        self.sets.write(&mut written);
        self.recoding.write(&mut written.protect);
        let is_noise = self.method.is_some_and(|method| method.noise().is_some());
        written.protect.noise = self.noise.written(is_noise, self.recoding.fanout, self.columns.seed)?;
        if is_noise {
            written.protect.fanout = None;
        }
        match self.columns.is_table() {
            true => {
                self.columns.write(&mut written, self.sensitive.as_deref(), self.l_diversity)?;
                if let Some(table) = &mut written.table {
                    table.demonstration = self.noise.demonstration.then_some(true);
                }
            }
            false => {
                written.protect.hierarchy = self.columns.hierarchy_of_terms()?;
                written.protect.sensitive = self.sensitive.as_deref().map(terms).transpose()?;
                written.protect.l_diversity = self.l_diversity;
                if self.columns.seed.is_some() && !is_noise {
                    let problem = "is for tables and for demonstrations of noise: nothing is drawn here";
                    return Err(Error::recipe("seed", problem, "leave it out"));
                }
            }
        }
        Ok(written)
    }
}

/// Sensitive terms: a file with one a line, or a list with commas.
fn terms(written: &str) -> Result<Vec<String>> {
    let path = Path::new(written);
    let list: Vec<String> = match path.is_file() {
        true => lines(path)?.into_iter().map(|(_, term)| term).collect(),
        false => written.split(',').map(|term| term.trim().to_owned()).collect(),
    };
    Ok(list.into_iter().filter(|term| !term.is_empty()).collect())
}

/// The terms of a file, each with its line.
fn lines(path: &Path) -> Result<Vec<(u64, String)>> {
    let text = read_file(path, "read the sensitive terms", Memory::default())?;
    let text = String::from_utf8(text).map_err(|_| {
        Error::input(Place::file(path.display().to_string()), "is not valid UTF-8")
            .with_hint("convert the file to UTF-8")
    })?;
    let lines = text.strip_prefix('\u{feff}').unwrap_or(&text).lines().map(|line| line.trim().to_owned());
    Ok((1..).zip(lines).filter(|(_, term)| !term.is_empty()).collect())
}

/// An error about an entry of the list of sensitive terms names the line of the file that it stands in.
fn in_file(error: Error, file: Option<&Path>) -> Error {
    let Error::Recipe { key, problem, hint } = &error else { return error };
    let entry = problem.strip_prefix("entry ").filter(|_| key == "protect.sensitive").and_then(|rest| {
        let (entry, rest) = rest.split_once(" of the list ")?;
        Some((entry.parse::<usize>().ok()?, rest))
    });
    let (Some((entry, rest)), Some(file)) = (entry, file.filter(|file| file.is_file())) else { return error };
    match lines(file).ok().and_then(|lines| lines.get(entry.checked_sub(1)?).map(|(line, _)| *line)) {
        Some(line) => {
            let place = Place::line(file.display().to_string(), line);
            Error::input(place, format!("the term {rest}")).with_hint(hint.clone().unwrap_or_default())
        }
        None => error,
    }
}
