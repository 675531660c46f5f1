//! `disjoin reconstruct`: datasets that the original may have been.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use disjoin::read::Format;
use disjoin::reconstruct::{Multiplicity, Sampling};
use disjoin::run::{self, Drawing, Reconstruction};
use disjoin::{Error, Place, Result};
use serde_json::json;

use crate::Outcome;
use crate::choices::choice;
use crate::flags::columns::hierarchies_of_columns;
use crate::sink::write_to;
use crate::talk::{Talk, count, number};

/// Draw datasets or tables that the original may have been, for tools that read records
///
/// A release of sets shows which parts of records there were in each cluster of people, not which parts belonged to the same
/// person. Each dataset puts the parts together at random, and fits the release as well as the original does. Analyse
/// several and compare: what they agree on is known, where they differ it is not.
///
/// Of a table, each cell becomes one of the values that it stands for, each as likely. Sensitive values of a split table, and the sets of a
/// class, are assigned to the records of their group at random. A label that is not explained by --hierarchy stays as it is.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The package that disjoin protect wrote, or the folder release in it
    release: PathBuf,
    /// How many datasets [default: 1]
    #[arg(short, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    n: Option<u32>,
    /// Where randomness starts
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// The folder to write to, made if it is missing [default: standard output, for one dataset]
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The format to write [default: basket, and csv for tables]
    #[arg(long, value_name = "FORMAT", value_parser = choice::<Format>())]
    to: Option<Format>,
    /// How often a term without a count is taken to occur in its cluster
    #[arg(long, value_name = "LAW", value_parser = choice::<Multiplicity>())]
    multiplicity: Option<Multiplicity>,
    /// What labels of a column of a table stand for: an ARX CSV file or an Amnesia text file; may be repeated
    #[arg(long, value_name = "COLUMN=FILE")]
    hierarchy: Vec<String>,
    /// Let records stay without a term if chance gives them none, and leave them out
    #[arg(long)]
    allow_empty: bool,
    /// Replace files that exist
    #[arg(long)]
    force: bool,
}

const EXAMPLES: &str = "\
Examples:
  disjoin reconstruct out -n 10 --seed 1 -o maybe
  disjoin reconstruct out/release --to jsonl -o maybe
  disjoin reconstruct table -n 20 --to parquet -o maybe
  disjoin reconstruct out | head";

pub(crate) fn run(args: &Args, talk: &Talk) -> Result<Outcome> {
    // What is cheap to refuse is refused before the release is read.
    let format = run::drawn_format(&args.release, args.to)?;
    let target = Target::check(args, format, talk)?;
    let usual = Sampling::default();
    let sampling = Sampling { seed: args.seed.unwrap_or(usual.seed), fill_empty: !args.allow_empty };
    let (mut empty, mut records) = (Vec::new(), 0);
    let drawing = Drawing {
        n: u64::from(args.n.unwrap_or(1)),
        sampling,
        multiplicity: args.multiplicity.unwrap_or_default(),
        hierarchies: hierarchies_of_columns(&args.hierarchy)?,
    };
    let draw =
        |take: &mut dyn FnMut(&Reconstruction) -> Result<()>| run::reconstruct(&args.release, &drawing, talk, take);
    let mut write = |drawn: &Reconstruction, path: &Path| {
        (records, _) = (drawn.records, empty.push(drawn.empty));
        write_to(Some(path), args.force, talk, |out| drawn.write(format, path, out))
    };
    match target {
        Target::Stdout => {
            draw(&mut |drawn| write(drawn, Path::new("-")))?;
            talk.end_steps();
        }
        Target::Files { folder, files } => {
            all_or_none(folder, &files, |done| {
                draw(&mut |drawn| {
                    write(drawn, &files[drawn.nth as usize])?;
                    done.push(drawn.nth as usize);
                    Ok(())
                })
            })?;
            let datasets = count(files.len() as u64, "dataset", "datasets");
            let all = count(records, "record", "records");
            talk.note(&format!("wrote {datasets} of {all} to {}", folder.display()));
            if talk.is_json() {
                let files: Vec<_> = files.iter().map(|file| file.to_string_lossy()).collect();
                let seed = sampling.seed;
                talk.print_json(&json!({ "files": files, "records": records, "empty": empty, "seed": seed }))?;
            }
        }
    }
    match empty.iter().sum() {
        0 => {}
        1 => talk.note("1 record that got no term was left out"),
        n => talk.note(&format!("{} records that got no term were left out", number(n))),
    }
    Ok(Outcome::Holds)
}

/// Where the datasets go.
enum Target<'a> {
    Stdout,
    Files { folder: &'a Path, files: Vec<PathBuf> },
}

impl<'a> Target<'a> {
    fn check(args: &'a Args, format: Format, talk: &Talk) -> Result<Self> {
        let Some(folder) = args.out.as_deref().filter(|out| *out != Path::new("-")) else {
            if args.n.is_some_and(|n| n > 1) {
                return Err(Error::recipe("out", "several datasets need a folder", "name one with -o"));
            }
            if talk.is_json() {
                let problem = "the data and the result would both go to stdout";
                return Err(Error::recipe("--json", problem, "name a folder for the data with -o"));
            }
            return Ok(Target::Stdout);
        };
        if fs::metadata(folder).is_ok_and(|found| !found.is_dir()) {
            return Err(Error::input(Place::file(folder.display().to_string()), "is a file, a folder was expected")
                .with_hint("choose another name"));
        }
        let n = args.n.unwrap_or(1);
        let digits = n.to_string().len();
        let name = |i: u32| format!("reconstruction-{i:0digits$}.{}", extension(format));
        let files: Vec<PathBuf> = (1..=n).map(|i| folder.join(name(i))).collect();
        // `write_file` asks again.
        match files.iter().find(|file| !args.force && fs::symlink_metadata(file).is_ok()) {
            Some(file) => Err(Error::input(Place::file(file.display().to_string()), "exists already")
                .with_hint("choose another folder, or add --force to replace files")),
            None => Ok(Target::Files { folder, files }),
        }
    }
}

/// How the name of a file in the format ends.
fn extension(format: Format) -> &'static str {
    match format {
        Format::Basket => "dat",
        Format::Spmf => "spmf",
        Format::Long | Format::Table => "csv",
        // Writing refuses it.
        Format::Database | Format::Xlsx | Format::Ods => "",
        Format::Arrow => "arrow",
        Format::JsonLines => "jsonl",
        Format::Parquet => "parquet",
    }
}

/// Writes all files, or, where none stood before, none. `write` notes which it has written: nothing else is removed.
fn all_or_none(folder: &Path, files: &[PathBuf], write: impl FnOnce(&mut Vec<usize>) -> Result<()>) -> Result<()> {
    let is_new = match fs::create_dir(folder) {
        Ok(()) => true,
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => false,
        Err(e) => return Err(Error::io(folder, "make the folder", e)),
    };
    let stood: Vec<bool> = files.iter().map(|file| fs::symlink_metadata(file).is_ok()).collect();
    let mut done = Vec::new();
    let written = write(&mut done);
    if written.is_err() {
        // The error is already one; what cannot be removed stays.
        done.iter().filter(|&&at| !stood[at]).for_each(|&at| drop(fs::remove_file(&files[at])));
        if is_new {
            let _ = fs::remove_dir(folder);
        }
    }
    written
}
