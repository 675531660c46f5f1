//! How data are read, where their name and content do not say it.

use std::path::PathBuf;

use disjoin::Result;
use disjoin::data::{Dataset, Visits};
use disjoin::location::shown;
use disjoin::read::{Encoding, Format, Intake, Join, Options, Sources, read_sets};
use disjoin::recipe::written;

use crate::choices::choice;
use crate::talk::{Talk, count};

/// What is read besides files.
#[cfg(feature = "databases")]
pub(crate) const SOURCES: &dyn Sources = &disjoin_databases::Databases;
#[cfg(not(feature = "databases"))]
pub(crate) const SOURCES: &dyn Sources = &disjoin::read::Files;

/// How the input is to be read.
#[derive(clap::Args)]
#[command(next_help_heading = "Input")]
pub(crate) struct Input {
    /// Read the input in this format instead of recognising it
    #[arg(long, value_name = "FORMAT", value_parser = choice::<Format>())]
    format: Option<Format>,
    /// What stands between fields: one character, or "tab" or "space"
    #[arg(long, value_name = "CHAR", value_parser = separator)]
    separator: Option<u8>,
    /// The column (or JSON field) that holds each person's list of terms
    #[arg(long, value_name = "NAME")]
    column: Option<String>,
    /// The column of the record's id, in the format long; with --column, the same as --person
    #[arg(long, value_name = "NAME")]
    id_column: Option<String>,
    /// The column of terms, in the format long
    #[arg(long, value_name = "NAME")]
    item_column: Option<String>,
    /// What stands between the terms inside a list column
    #[arg(long, value_name = "CHAR", value_parser = separator)]
    list_separator: Option<u8>,
    /// How the text is encoded, where it is not UTF-8: utf-16, latin1, windows-1250 ... [default: found out, and told]
    #[arg(long, value_name = "NAME", value_parser = encoding)]
    encoding: Option<Encoding>,
    /// The sheet of a workbook (xlsx, ods) that has several
    #[arg(long, value_name = "NAME")]
    sheet: Option<String>,
    /// Columns that become one set-valued column, * standing for anything: 'DX*', or 'diagnoses=DX*' to name it
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    set_columns: Vec<String>,
    /// The set columns hold zeros and ones, and their names are the terms
    #[arg(long, requires = "set_columns")]
    indicators: bool,
    /// A second table, joined by a key: where it has several rows a key, they become a list
    #[arg(long, value_name = "FILE", requires = "on")]
    join: Option<PathBuf>,
    /// The column that both tables have, or FIRST=OTHER if it has two names
    #[arg(long, value_name = "KEY", requires = "join")]
    on: Option<String>,
    #[arg(long, value_name = "N", help = format!("Refuse records with more terms: most often the separator is wrong [default: {}]", Options::default().max_record_terms))]
    max_record_terms: Option<usize>,
    /// The column (or JSON field) that names people, who may have several rows: k and all else then count people
    #[arg(long, value_name = "COLUMN")]
    person: Option<String>,
    /// Several rows of a person stay apart, and clusters and classes are counted by people [default: they become one record]
    #[arg(long, conflicts_with = "first_visit")]
    keep_visits: bool,
    /// Of several rows of a person the first is used
    #[arg(long)]
    first_visit: bool,
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
            encoding: self.encoding,
            sheet: self.sheet.clone(),
            set_columns: self.set_columns.clone(),
            indicators: self.indicators,
            join: self.join.clone().zip(self.on.clone()).map(|(file, on)| Join { file, on }),
            max_record_terms: self.max_record_terms.unwrap_or(Options::default().max_record_terms),
            person: self.person.clone(),
            visits: self.visits().unwrap_or_default(),
        }
    }

    /// What becomes of several rows of one person, if it was said.
    fn visits(&self) -> Option<Visits> {
        match (self.keep_visits, self.first_visit) {
            (true, _) => Some(Visits::Apart),
            (_, true) => Some(Visits::First),
            _ => None,
        }
    }

    /// The same as a recipe writes it.
    pub(crate) fn written(&self, file: &std::path::Path) -> written::Input {
        let character = |byte: Option<u8>| byte.map(|byte| char::from(byte).to_string());
        written::Input {
            file: Some(file.to_string_lossy().into_owned()),
            format: self.format,
            separator: character(self.separator),
            column: self.column.clone(),
            id_column: self.id_column.clone(),
            item_column: self.item_column.clone(),
            list_separator: character(self.list_separator),
            encoding: self.encoding.map(|encoding| encoding.to_string()),
            sheet: self.sheet.clone(),
            set_columns: (!self.set_columns.is_empty()).then(|| self.set_columns.clone()),
            indicators: self.indicators.then_some(true),
            join: self
                .join
                .as_ref()
                .map(|file| written::Join { file: Some(file.to_string_lossy().into_owned()), on: self.on.clone() }),
            max_record_terms: self.max_record_terms,
            person: self.person.clone(),
            visits: self.visits(),
        }
    }

    /// Reads a dataset and says what was left out.
    pub(crate) fn read(&self, file: &std::path::Path, talk: &Talk) -> Result<(Dataset, Intake)> {
        talk.step(&format!("reading {}", name_of(file)));
        let (data, intake) = read_sets(file, &self.options(), SOURCES, talk)?;
        let (records, terms) = (count(intake.records, "record", "records"), data.n_terms() as u64);
        talk.note(&format!("{records} with {}, read as {}", count(terms, "term", "terms"), intake.format));
        Ok((data, intake))
    }
}

fn encoding(text: &str) -> std::result::Result<Encoding, String> {
    text.parse().map_err(|_| String::from("expected the name of an encoding, as utf-8, utf-16, latin1 or windows-1250"))
}

fn separator(text: &str) -> std::result::Result<u8, String> {
    disjoin::read::separator(text).ok_or_else(|| String::from("expected one character, or the word tab or space"))
}

/// The name of a file or database for messages.
pub(crate) fn name_of(file: &std::path::Path) -> String {
    if file == std::path::Path::new("-") { String::from("standard input") } else { shown(&file.to_string_lossy()) }
}
