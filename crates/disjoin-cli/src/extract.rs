//! `disjoin extract`: text becomes records of terms.

use std::path::{Path, PathBuf};

use disjoin::data::Dataset;
use disjoin::read::extract::{records_of_queries, records_of_texts};
use disjoin::read::{self, documents};
use disjoin::{Error, Place, Result};
use serde_json::json;

use crate::Outcome;
use crate::flags::input::name_of;
use crate::sink::{format_of, write_to};
use crate::talk::{Talk, count, number};

/// Turn texts or search queries into records of terms
///
/// A record holds the noun phrases of a document: nouns, two nouns, or an adjective and a noun, in lower case and singular,
/// without stop words and without what is contained in a longer phrase. The rules are for English, and simple: look at what
/// comes out. Documents are those of disjoin corpus build: cells of --column, paragraphs of text files.
///
/// With --person, a table of queries gives one record a person: short queries whole, longer ones by their phrases.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A table, a text file or a folder of them
    input: PathBuf,
    /// The column of a table that holds text, or queries
    #[arg(long, value_name = "NAME")]
    column: Option<String>,
    /// The column of the person who asked: one record a person
    #[arg(long, value_name = "NAME", requires = "column")]
    person: Option<String>,
    /// The file to write: its extension is the format
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
}

const EXAMPLES: &str = "\
Examples:
  disjoin extract abstracts.csv --column text -o abstracts.jsonl
  disjoin extract queries.tsv --person AnonID --column Query -o people.jsonl";

pub(crate) fn run(args: &Args, talk: &Talk) -> Result<Outcome> {
    let Some(format) = format_of(&args.out) else {
        let problem = "the name of the file does not say its format";
        return Err(Error::recipe("--out", problem, "end it in .jsonl, .csv, .dat or .parquet"));
    };
    if !args.force && args.out.exists() {
        return Err(crate::convert::exists(&args.out));
    }
    talk.step(&format!("reading {}", name_of(&args.input)));
    let (data, empty) = talk.in_memory(|| match &args.person {
        Some(person) => of_queries(&args.input, person, args.column.as_deref().unwrap_or_default()),
        None => {
            let mut texts = Vec::new();
            documents(&args.input, args.column.as_deref(), &mut |text| texts.push(text.to_owned()))?;
            Ok(records_of_texts(texts.iter().map(String::as_str)))
        }
    })?;
    if data.records.is_empty() {
        let place = Place::file(args.input.display().to_string());
        return Err(Error::input(place, "gives no record: no phrase was found"));
    }
    write_to(Some(&args.out), args.force, talk, |out| read::write(&data, format, &args.out, out))?;
    let records = data.records.len() as u64;
    let mean = data.records.n_incidences() as f64 / records as f64;
    talk.note(&format!(
        "{} of {mean:.1} terms on average, {} in all; {} without a phrase left out",
        count(records, "record", "records"),
        count(data.n_terms() as u64, "term", "terms"),
        number(empty)
    ));
    if talk.is_json() {
        let file = args.out.to_string_lossy();
        talk.print_json(
            &json!({ "file": file, "records": records, "terms": data.n_terms(), "mean_length": mean, "empty": empty }),
        )?;
    }
    Ok(Outcome::Holds)
}

/// Who asked what, from a table.
fn of_queries(file: &Path, person: &str, query: &str) -> Result<(Dataset, u64)> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    let mut people = Vec::new();
    documents(file, Some(person), &mut |cell| people.push(cell.to_owned()))?;
    documents(file, Some(query), &mut |cell| pairs.push((String::new(), cell.to_owned())))?;
    if people.len() != pairs.len() {
        let place = Place::file(file.display().to_string());
        return Err(Error::input(place, "has rows without a person or without a query").with_hint("remove these rows"));
    }
    pairs.iter_mut().zip(people).for_each(|(pair, person)| pair.0 = person);
    Ok(records_of_queries(pairs.iter().map(|(person, query)| (&person[..], &query[..]))))
}
