//! Flags that several verbs share, and what they mean.

use std::path::PathBuf;

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use disjoin::protect::disassociation::Params;
use disjoin::read::{Format, Intake, Options};
use disjoin::reconstruct::Multiplicity;
use disjoin::{Error, Result};

use crate::talk::{Talk, count, number};

/// Flags of every verb.
#[derive(clap::Args)]
pub(crate) struct Common {
    /// Use this many threads instead of one per core
    #[arg(long, value_name = "N", global = true, help_heading = "Common", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
    /// Say nothing but errors
    #[arg(long, global = true, help_heading = "Common")]
    pub(crate) quiet: bool,
    /// Print the result as JSON on stdout
    #[arg(long, global = true, help_heading = "Common")]
    pub(crate) json: bool,
}

impl Common {
    /// Nothing has used the pool before, so it can be built only once.
    pub(crate) fn start_threads(&self) -> Result<()> {
        let Some(threads) = self.threads else { return Ok(()) };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.into());
        pool.build_global().map_err(|_| Error::recipe("--threads", "so many cannot be started", "use fewer"))
    }
}

/// How the input is to be read, where its name and content do not say it.
#[derive(clap::Args)]
pub(crate) struct Input {
    /// Read the input in this format instead of recognising it
    #[arg(long, value_name = "FORMAT", help_heading = "Input", value_parser = format_parser())]
    format: Option<Format>,
    /// What stands between fields: one character, or "tab" or "space"
    #[arg(long, value_name = "CHAR", help_heading = "Input", value_parser = separator)]
    separator: Option<u8>,
    /// The column (or JSON field) that holds each person's list of terms
    #[arg(long, value_name = "NAME", help_heading = "Input")]
    column: Option<String>,
    /// The column that says whose row it is, in the format long
    #[arg(long, value_name = "NAME", help_heading = "Input")]
    id_column: Option<String>,
    /// The column of terms, in the format long
    #[arg(long, value_name = "NAME", help_heading = "Input")]
    item_column: Option<String>,
    /// What stands between the terms inside a list column
    #[arg(long, value_name = "CHAR", help_heading = "Input", value_parser = separator)]
    list_separator: Option<u8>,
    /// Refuse records with more terms: the separator is wrong, most often
    #[arg(long, value_name = "N", help_heading = "Input", default_value_t = Options::default().max_record_terms)]
    max_record_terms: usize,
}

impl Input {
    pub(crate) fn options(&self) -> Options {
        Options {
            format: self.format,
            separator: self.separator,
            column: self.column.clone(),
            id_column: self.id_column.clone(),
            item_column: self.item_column.clone(),
            list_separator: self.list_separator,
            max_record_terms: self.max_record_terms,
        }
    }

    /// Reads a dataset and tells what was left out.
    pub(crate) fn read(&self, file: &std::path::Path, talk: &Talk) -> Result<(disjoin::data::Dataset, Intake)> {
        talk.step(&format!("reading {}", name_of(file)));
        let (data, intake) = disjoin::read::read(file, &self.options())?;
        talk.note(&format!(
            "{} with {}, read as {}",
            count(intake.records, "record", "records"),
            count(data.n_terms() as u64, "term", "terms"),
            intake.format
        ));
        talk.intake(&intake);
        Ok((data, intake))
    }
}

/// The promise's two numbers.
#[derive(clap::Args)]
pub(crate) struct Crowd {
    /// The size of the crowd that everybody must hide in
    #[arg(short, value_name = "K", default_value_t = 5)]
    pub(crate) k: u32,
    /// How many terms of a person an adversary may know
    #[arg(short, value_name = "M", default_value_t = 2)]
    pub(crate) m: u32,
}

impl Crowd {
    /// Refuses what has no meaning, before anything is read.
    pub(crate) fn check(&self) -> Result<()> {
        Params::new(self.k, self.m).check()
    }
}

/// The names of formats, for help and error messages.
pub(crate) fn format_parser() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(["basket", "spmf", "long", "csv", "jsonl", "parquet"])
        .try_map(|name| name.parse::<Format>())
}

/// The assumption about terms that the release lists without a count, as the user writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MultiplicityChoice {
    /// As often as on average, if the release tells how many occurrences its original has; else once
    Told,
    /// Once: what is certain
    One,
    /// Between 1 and K-1 times, each as likely
    Uniform,
    /// K/2 times
    Half,
}

impl From<MultiplicityChoice> for Multiplicity {
    fn from(choice: MultiplicityChoice) -> Self {
        match choice {
            MultiplicityChoice::Told => Multiplicity::Told,
            MultiplicityChoice::One => Multiplicity::One,
            MultiplicityChoice::Uniform => Multiplicity::Uniform,
            MultiplicityChoice::Half => Multiplicity::Half,
        }
    }
}

fn separator(text: &str) -> std::result::Result<u8, String> {
    disjoin::read::separator(text).ok_or_else(|| String::from("expected one character, or the word tab or space"))
}

/// A file's name for messages.
pub(crate) fn name_of(file: &std::path::Path) -> String {
    if file == std::path::Path::new("-") { String::from("standard input") } else { file.display().to_string() }
}

/// The library knows the original by its part; the user knows its name.
pub(crate) fn name_original(error: Error, file: &std::path::Path) -> Error {
    match error {
        Error::Input { place, problem, hint } if place.file == "the original" => {
            Error::Input { place: disjoin::Place::file(name_of(file)), problem, hint }
        }
        error => error,
    }
}

/// Sensitive terms: a file with one a line, or a list with commas.
pub(crate) fn sensitive_terms(written: &str, data: &disjoin::data::Dataset) -> Result<Vec<disjoin::data::TermId>> {
    let path = PathBuf::from(written);
    let (texts, what): (Vec<String>, &str) = if path.is_file() {
        let text = std::fs::read(&path).map_err(|e| Error::io(&path, "read the sensitive terms", e))?;
        let text = String::from_utf8(text).map_err(|_| {
            Error::input(disjoin::Place::file(written), "is not valid UTF-8").with_hint("convert the file to UTF-8")
        })?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        (text.lines().map(|line| line.trim().to_owned()).collect(), "line")
    } else {
        (written.split(',').map(|term| term.trim().to_owned()).collect(), "entry")
    };
    let mut terms = Vec::new();
    for (text, position) in texts.iter().zip(1_u64..) {
        if text.is_empty() {
            continue;
        }
        // The position only: the list says what somebody wants to hide.
        terms.push(data.dictionary.get(text).ok_or_else(|| {
            let problem = format!("{what} {} of the list does not occur in the data", number(position));
            Error::recipe("--sensitive", problem, "check the spelling, or remove it from the list")
        })?);
    }
    if terms.is_empty() {
        return Err(Error::recipe("--sensitive", "names no term", "give terms with commas between, or a file of them"));
    }
    terms.sort_unstable();
    terms.dedup();
    Ok(terms)
}
