//! `disjoin convert`: the same content in another format.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use disjoin::publish::{Destination, Encoding, Part, copy_release, find_release};
use disjoin::read::{self, Format};
use disjoin::release::open::{Package, RootStream, open};
use disjoin::{Error, Place, Result};
use serde_json::json;

use crate::Outcome;
use crate::args::{Input, format_parser};
use crate::sink::{format_of, write_to};
use crate::talk::{Talk, count};

/// Turn a dataset or a release into another format
///
/// A file is read as data and written in the format that TO's extension or --to names: basket (.dat, .txt, .basket), spmf,
/// csv, long, jsonl, parquet. A folder is a release: its data go from jsonl to parquet or back, and its custody is
/// copied along. Recoded transactions become a file of data, in which a group is a term of its own: "asthma|gout".
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A file of data ("-" is standard input), or a package that disjoin protect wrote
    from: PathBuf,
    /// The file to write ("-" is standard output), or the folder for a package
    to: PathBuf,
    /// The format to write, where TO's name does not say it
    #[arg(long = "to", value_name = "FORMAT", value_parser = format_parser(), id = "to_format")]
    to_format: Option<Format>,
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
  disjoin convert baskets.dat - --to long
  disjoin convert out out-parquet --to parquet
  disjoin convert recoded recoded.dat";

pub(crate) fn run(args: &Args, talk: &Talk) -> Result<Outcome> {
    match args.from.is_dir() {
        true if crate::recoding::release_of(&args.from)?.is_some() => {
            crate::recoding::convert(&args.from, &args.to, args.to_format, args.force, talk)
        }
        true => release(args, talk),
        false => dataset(args, talk),
    }
}

fn dataset(args: &Args, talk: &Talk) -> Result<Outcome> {
    let Some(format) = args.to_format.or_else(|| format_of(&args.to)) else {
        let problem = "the name of the new file does not say its format";
        return Err(Error::recipe("--to", problem, "name one of basket, spmf, long, csv, jsonl, parquet"));
    };
    let is_stdout = args.to == Path::new("-");
    if talk.is_json() && is_stdout {
        let problem = "the data and the result would both go to stdout";
        return Err(Error::recipe("--json", problem, "name a file for the data"));
    }
    // Cheap, and `write_file` asks again.
    if !args.force && !is_stdout && args.to.is_file() {
        return Err(exists(&args.to));
    }
    let (data, intake) = args.input.read(&args.from, talk)?;
    talk.step(&format!("writing {}", args.to.display()));
    write_to(Some(&args.to), args.force, |out| read::write(&data, format, &args.to, out))?;
    talk.note(&format!("wrote {} as {format}", count(intake.records, "record", "records")));
    if talk.is_json() {
        talk.print_json(&json!({ "file": args.to.to_string_lossy(), "format": format, "input": intake }))?;
    }
    Ok(Outcome::Holds)
}

fn release(args: &Args, talk: &Talk) -> Result<Outcome> {
    let (folder, stored) = find_release(&args.from)?;
    let encoding = match (args.to_format, stored) {
        (Some(Format::JsonLines), _) | (None, Encoding::Parquet) => Encoding::JsonLines,
        (Some(Format::Parquet), _) | (None, Encoding::JsonLines) => Encoding::Parquet,
        (Some(_), _) => {
            return Err(Error::recipe("--to", "a release is stored as jsonl or parquet", "name one of them"));
        }
    };
    let destination = Destination::check(&args.to)?;
    if destination.replaces() && !args.force {
        return Err(exists(&args.to));
    }
    let Package { claim, mut roots } = open(&folder)?;
    claim.check_header(&roots.header(), roots.file())?;
    talk.step("copying the release");
    let custody = folder.parent().map(|package| package.join(Part::Custody.folder()));
    destination.publish(|staging| {
        copy_release(staging, &claim, &mut roots, encoding)?;
        for name in ["custody.json", "leaf_of.csv", "original.csv"] {
            let Some(path) = custody.as_ref().map(|folder| folder.join(name)).filter(|path| path.is_file()) else {
                continue;
            };
            let bytes = std::fs::read(&path).map_err(|e| Error::io(&path, "read", e))?;
            let place = staging.place(Part::Custody, name);
            staging
                .write(Part::Custody, name, |file| file.write_all(&bytes).map_err(|e| Error::io(&place, "write", e)))?;
        }
        Ok(())
    })?;
    let written = args.to.join(Part::Release.folder()).join(encoding.file_name());
    talk.note(&format!("wrote {}", written.display()));
    if talk.is_json() {
        talk.print_json(&json!({ "file": written.to_string_lossy(), "records": claim.records }))?;
    }
    Ok(Outcome::Holds)
}

pub(crate) fn exists(path: &Path) -> Error {
    Error::input(Place::file(path.display().to_string()), "exists already")
        .with_hint("choose another name, or add --force to replace it")
}
