//! `disjoin reconstruct`: datasets that the original may have been.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use disjoin::data::{Dataset, Transactions};
use disjoin::publish::find_release;
use disjoin::read::{self, Format};
use disjoin::reconstruct::{Model, Sampling, reconstruct};
use disjoin::release::open::{Package, RootStream, load, open};
use disjoin::release::{Claim, Disassociated};
use disjoin::{Error, Place, Result};
use serde_json::json;

use crate::Outcome;
use crate::args::{MultiplicityChoice, format_parser};
use crate::sink::write_to;
use crate::talk::{Talk, count, number};

/// Draw datasets that the original may have been, for tools that read records
///
/// A release says which parts of records there were in each group of people, not which parts belonged to the same
/// person. Each dataset puts the parts together at random, and fits the release as well as the original does. Analyse
/// several and compare: what they agree on is known, where they differ it is not.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The package that disjoin protect wrote, or the folder release in it
    release: PathBuf,
    /// How many datasets
    #[arg(short, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    n: u32,
    /// Where randomness starts
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// The folder to write to, made if it is missing [default: standard output, for one dataset]
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The format to write
    #[arg(long, value_name = "FORMAT", value_parser = format_parser(), default_value = "basket")]
    to: Format,
    /// How often a term without a count is taken to occur in its group
    #[arg(long, value_enum, default_value_t = MultiplicityChoice::Told)]
    multiplicity: MultiplicityChoice,
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
  disjoin reconstruct out | head";

pub(crate) fn run(args: &Args, talk: &Talk) -> Result<Outcome> {
    // What is cheap to refuse is refused before the release is read.
    let target = Target::check(args, talk)?;
    let loaded = Loaded::read(&args.release, talk)?;
    let model = loaded.model(args.multiplicity)?;
    let mut draw = Draw {
        model: &model,
        sampling: Sampling { seed: args.seed, fill_empty: !args.allow_empty },
        data: Dataset { dictionary: loaded.release.dictionary.clone(), records: Transactions::default() },
        args,
    };
    match target {
        Target::Stdout => {
            talk.step("drawing a dataset");
            let empty = draw.write(0, Path::new("-"))?;
            talk.end_steps();
            note_empty(empty, talk);
        }
        Target::Files { folder, files } => {
            let empty = write_files(&mut draw, folder, &files, talk)?;
            let datasets = count(files.len() as u64, "dataset", "datasets");
            let records = count(loaded.release.header.records, "record", "records");
            talk.note(&format!("wrote {datasets} of {records} to {}", folder.display()));
            note_empty(empty.iter().sum(), talk);
            if talk.is_json() {
                let files: Vec<_> = files.iter().map(|file| file.to_string_lossy()).collect();
                let records = loaded.release.header.records;
                let result = json!({ "files": files, "records": records, "empty": empty, "seed": args.seed });
                talk.print_json(&result)?;
            }
        }
    }
    Ok(Outcome::Holds)
}

fn note_empty(empty: u64, talk: &Talk) {
    match empty {
        0 => {}
        1 => talk.note("1 record that got no term was left out"),
        n => talk.note(&format!("{} records that got no term were left out", number(n))),
    }
}

/// Where the datasets go.
enum Target<'a> {
    Stdout,
    Files { folder: &'a Path, files: Vec<PathBuf> },
}

impl<'a> Target<'a> {
    fn check(args: &'a Args, talk: &Talk) -> Result<Self> {
        let Some(folder) = args.out.as_deref().filter(|out| *out != Path::new("-")) else {
            if args.n > 1 {
                return Err(Error::recipe("--out", "several datasets need a folder", "name one with -o"));
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
        let digits = args.n.to_string().len();
        let name = |i: u32| format!("reconstruction-{i:0digits$}.{}", extension(args.to));
        let files: Vec<PathBuf> = (1..=args.n).map(|i| folder.join(name(i))).collect();
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
        Format::JsonLines => "jsonl",
        Format::Parquet => "parquet",
    }
}

/// A release in memory, what it claims, and the file it is from.
pub(crate) struct Loaded {
    pub(crate) release: Disassociated,
    pub(crate) claim: Claim,
    file: String,
}

impl Loaded {
    /// Reads a release, given its package or its folder.
    pub(crate) fn read(path: &Path, talk: &Talk) -> Result<Self> {
        let (folder, _) = find_release(path)?;
        talk.step("reading the release");
        let Package { claim, mut roots } = open(&folder)?;
        claim.check_header(&roots.header(), roots.file())?;
        let release = load(&mut roots)?;
        Ok(Loaded { release, claim, file: roots.file().to_owned() })
    }

    /// The release laid out; what no dataset can have is an error, with the file's name.
    pub(crate) fn model(&self, multiplicity: MultiplicityChoice) -> Result<Model<'_>> {
        let model = Model::new(&self.release).map_err(|error| match error {
            Error::Input { place, problem, hint } => {
                Error::Input { place: Place { file: self.file.clone(), ..place }, problem, hint }
            }
            error => error,
        })?;
        Ok(model.with_multiplicity(multiplicity.into()))
    }
}

/// Draws one dataset after the other; only one is in memory.
struct Draw<'a> {
    model: &'a Model<'a>,
    sampling: Sampling,
    data: Dataset,
    args: &'a Args,
}

impl Draw<'_> {
    /// Draws a dataset and writes it; returns how many records got no term.
    fn write(&mut self, nth: u64, path: &Path) -> Result<u64> {
        // The one before is given back first.
        self.data.records = Transactions::default();
        let drawn = reconstruct(self.model, &self.sampling, nth);
        self.data.records = drawn.records;
        write_to(Some(path), self.args.force, |out| read::write(&self.data, self.args.to, path, out))?;
        Ok(drawn.empty)
    }
}

/// Writes all files, or, where none stood before, none.
fn write_files(draw: &mut Draw, folder: &Path, files: &[PathBuf], talk: &Talk) -> Result<Vec<u64>> {
    let is_new = match fs::create_dir(folder) {
        Ok(()) => true,
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => false,
        Err(e) => return Err(Error::io(folder, "make the folder", e)),
    };
    let mut new_files = Vec::new();
    let written = (0..).zip(files).map(|(nth, file)| {
        talk.step(&format!("drawing {}", file.display()));
        let was_there = fs::symlink_metadata(file).is_ok();
        let empty = draw.write(nth, file)?;
        new_files.extend((!was_there).then_some(file));
        Ok(empty)
    });
    let written: Result<Vec<u64>> = written.collect();
    if written.is_err() {
        // The error is already one; what cannot be removed stays.
        new_files.iter().for_each(|file| drop(fs::remove_file(file)));
        if is_new {
            let _ = fs::remove_dir(folder);
        }
    }
    written
}
