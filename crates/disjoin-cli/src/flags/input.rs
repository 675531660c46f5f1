//! How data are read, where their name and content do not say it.

use disjoin::Result;
use disjoin::data::Dataset;
use disjoin::location::shown;
use disjoin::read::{Format, Intake, Options, Sources, read_sets};
use disjoin::recipe::written;

use crate::choices::choice;
use crate::talk::{Talk, count, number};

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
    /// The column of the record's id, in the format long
    #[arg(long, value_name = "NAME")]
    id_column: Option<String>,
    /// The column of terms, in the format long
    #[arg(long, value_name = "NAME")]
    item_column: Option<String>,
    /// What stands between the terms inside a list column
    #[arg(long, value_name = "CHAR", value_parser = separator)]
    list_separator: Option<u8>,
    #[arg(long, value_name = "N", help = format!("Refuse records with more terms: most often the separator is wrong [default: {}]", Options::default().max_record_terms))]
    max_record_terms: Option<usize>,
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
            max_record_terms: self.max_record_terms.unwrap_or(Options::default().max_record_terms),
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
            max_record_terms: self.max_record_terms,
        }
    }

    /// Reads a dataset and says what was left out.
    pub(crate) fn read(&self, file: &std::path::Path, talk: &Talk) -> Result<(Dataset, Intake)> {
        talk.step(&format!("reading {}", name_of(file)));
        let (data, intake) = read_sets(file, &self.options(), SOURCES, talk)?;
        let (records, terms) = (count(intake.records, "record", "records"), data.n_terms() as u64);
        talk.note(&format!("{records} with {}, read as {}", count(terms, "term", "terms"), intake.format));
        warn_of([intake.empty_records, intake.empty_terms, intake.duplicate_terms], talk);
        Ok((data, intake))
    }
}

/// Says what a reader left out, by what a result tells of its input.
pub(crate) fn warn_of_input(input: &serde_json::Value, talk: &Talk) {
    let counts = ["empty_records", "empty_terms", "duplicate_terms"];
    warn_of(counts.map(|key| input[key].as_u64().unwrap_or_default()), talk);
}

/// What a reader left out: records, fields and repetitions.
fn warn_of([records, fields, repetitions]: [u64; 3], talk: &Talk) {
    let all = [
        (records, "record without a term was left out", "records without a term were left out"),
        (fields, "field without text was left out", "fields without text were left out"),
        (
            repetitions,
            "repetition of a term within its record was collapsed",
            "repetitions of a term within its record were collapsed",
        ),
    ];
    for (n, one, many) in all.into_iter().filter(|(n, ..)| *n > 0) {
        talk.warn(&format!("{} {}", number(n), if n == 1 { one } else { many }));
    }
}

fn separator(text: &str) -> std::result::Result<u8, String> {
    disjoin::read::separator(text).ok_or_else(|| String::from("expected one character, or the word tab or space"))
}

/// The name of a file or database for messages.
pub(crate) fn name_of(file: &std::path::Path) -> String {
    if file == std::path::Path::new("-") { String::from("standard input") } else { shown(&file.to_string_lossy()) }
}
