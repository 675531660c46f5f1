//! `disjoin convert`: the same content in another format.

use std::path::{Path, PathBuf};

use disjoin::data::Dataset;
use disjoin::read::{self, Format};
use disjoin::run::{self, Converted, Converting};
use disjoin::{Error, Place, Result};
use serde_json::json;

use crate::Outcome;
use crate::choices::choice;
use crate::flags::input::{Input, SOURCES};
use crate::sink::{format_of, write_to};
use crate::talk::{Talk, count};

/// Turn a dataset or a release into another format
///
/// A file is read as data and written in the format that TO's extension or --to names: basket (.dat, .txt, .basket), spmf,
/// csv, long, jsonl, parquet. A folder is a release. If TO ends in .csv, .parquet or .arrow it becomes plain tables, whatever its form: TO, others beside
/// it (TO.sets.csv, TO.sensitive_ill.csv), and a data dictionary (TO.dictionary.json and .md) that says what each column means and what is
/// promised. If TO is a folder, disassociated data go from jsonl to parquet or back, and their custody is copied along. Recoded transactions
/// also become a file of data, in which a group is a term of its own: "asthma|gout".
///
/// csv and long are safe to open in a spreadsheet: a term that it would take for a formula (it begins with = + - @, and is not a plain
/// number) is written with a quote before it, '=1+1. Read again it has the quote; --keep-formulas writes all terms as they are.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A file of data ("-" is standard input), the URL of a table, or a package that disjoin protect wrote
    from: PathBuf,
    /// The file to write ("-" is standard output), or the folder for a package
    to: PathBuf,
    /// The format to write, where TO's name does not show it
    #[arg(long = "to", value_name = "FORMAT", value_parser = choice::<Format>(), id = "to_format")]
    to_format: Option<Format>,
    /// Write terms as they are to csv and long, even if a spreadsheet would take them for formulas
    #[arg(long)]
    keep_formulas: bool,
    /// Replace TO if it exists
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    input: Input,
}

const EXAMPLES: &str = "\
Examples:
  disjoin convert baskets.dat baskets.jsonl
  disjoin convert purchases.csv baskets.dat.gz --format long --id-column customer --item-column product
  disjoin convert patients.xlsx sets.jsonl --sheet visits --column diagnoses
  disjoin convert people.csv sets.jsonl --join diagnoses.csv --on patient
  disjoin convert wide.csv sets.jsonl --set-columns 'DX*' --encoding latin1
  disjoin convert baskets.dat - --to long
  disjoin convert out out-parquet --to parquet
  disjoin convert recoded recoded.dat
  disjoin convert table table.parquet
  disjoin convert split split.csv";

pub(crate) fn run(args: &Args, talk: &Talk) -> Result<Outcome> {
    let is_stdout = args.to == Path::new("-");
    if talk.is_json() && is_stdout {
        let problem = "the data and the result would both go to stdout";
        return Err(Error::recipe("--json", problem, "name a file for the data"));
    }
    // Cheap, and writing asks again.
    if !is_stdout && !args.to.is_dir() {
        disjoin::publish::check_file(&args.to, args.force)?;
    }
    let asked = Converting {
        format: args.to_format,
        force: args.force,
        keep_formulas: args.keep_formulas,
        options: args.input.options(),
    };
    match run::convert(&args.from, &args.to, &asked, SOURCES, talk)? {
        Converted::Tables { files, rows, quoted } => {
            let names: Vec<_> = files.iter().map(|file| file.display().to_string()).collect();
            talk.note(&format!("wrote {} to {}", count(rows, "row", "rows"), names.join(", ")));
            warn_of_quotes(quoted, talk);
            if talk.is_json() {
                talk.print_json(&json!({ "files": names, "rows": rows, "quoted": quoted }))?;
            }
            Ok(Outcome::Holds)
        }
        Converted::Data { data, input, empty } => write(args, data, &input, empty, talk),
        Converted::Package { file, records } => {
            talk.note(&format!("wrote {}", file.display()));
            if talk.is_json() {
                talk.print_json(&json!({ "file": file.to_string_lossy(), "records": records }))?;
            }
            Ok(Outcome::Holds)
        }
    }
}

fn write(args: &Args, data: Dataset, input: &serde_json::Value, empty: u64, talk: &Talk) -> Result<Outcome> {
    let Some(format) = args.to_format.or_else(|| format_of(&args.to)) else {
        let problem = "the name of the new file does not say its format";
        return Err(Error::recipe("to_format", problem, "name one of basket, spmf, long, csv, jsonl, parquet"));
    };
    let (data, quoted) = if args.keep_formulas { (data, 0) } else { run::spreadsheet_safe(data, format) };
    write_to(Some(&args.to), args.force, talk, |out| read::write(&data, format, &args.to, out))?;
    let records = data.records.len() as u64;
    talk.note(&format!("wrote {} as {format}", count(records, "record", "records")));
    warn_of_quotes(quoted, talk);
    if empty > 0 {
        let left_out = count(empty, "empty record was", "empty records were");
        talk.warn(&format!("{left_out} left out: a file of data has none"));
    }
    if talk.is_json() {
        let file = args.to.to_string_lossy();
        talk.print_json(
            &json!({ "file": file, "format": format, "input": input, "records": records, "empty": empty, "quoted": quoted }),
        )?;
    }
    Ok(Outcome::Holds)
}

fn warn_of_quotes(quoted: u64, talk: &Talk) {
    if quoted > 0 {
        let terms = count(quoted, "term begins", "terms begin");
        talk.warn(&format!(
            "{terms} like a formula and got a quote before it; --keep-formulas writes terms as they are"
        ));
    }
}

pub(crate) fn exists(path: &Path) -> Error {
    Error::input(Place::file(path.display().to_string()), "exists already")
        .with_hint("choose another name, or add --force to replace it")
}
