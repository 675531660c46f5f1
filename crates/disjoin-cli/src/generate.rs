//! `disjoin generate`: data that belongs to nobody.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use disjoin::data::Transactions;
use disjoin::generate::people::{People, write_region_hierarchy};
use disjoin::generate::{hospital, people_csv, quest, quest_blocks};
use disjoin::publish::check_file;
use disjoin::read::{self, Format};
use disjoin::{Error, Result};
use serde_json::json;

use crate::Outcome;
use crate::choices::choice;
use crate::sink::{To, write_to};
use crate::talk::{Talk, count};

/// Make synthetic data to try things out
#[derive(clap::Subcommand)]
#[command(after_long_help = EXAMPLES, after_help = EXAMPLES)]
pub(crate) enum Args {
    Quest(QuestArgs),
    Hospital(HospitalArgs),
    People(PeopleArgs),
}

const EXAMPLES: &str = "\
Examples:
  disjoin generate quest --preset vldb94 -o baskets.dat
  disjoin generate hospital --patients 5000 --seed 1 -o hospital.csv
  disjoin generate people --rows 30000 --strength 0.9 -o people.csv";

/// Shopping baskets: the generator of IBM Quest
///
/// Baskets are made of overlapping patterns of items that are not always bought in full. The same flags and seed give
/// the same bytes on every machine.
#[derive(clap::Args)]
#[command(after_long_help = QUEST_EXAMPLES, after_help = QUEST_EXAMPLES)]
pub(crate) struct QuestArgs {
    /// Where the other parameters start from: the program's own defaults, or the paper's T10.I4.D100K
    #[arg(long, value_enum, default_value_t = Preset::Program)]
    preset: Preset,
    /// Number of records
    #[arg(long, value_name = "N")]
    records: Option<u64>,
    /// Number of items that may occur
    #[arg(long, value_name = "N")]
    items: Option<usize>,
    /// Mean number of items in a record
    #[arg(long, value_name = "X")]
    mean_length: Option<f64>,
    /// Mean number of items in a pattern
    #[arg(long, value_name = "X")]
    mean_pattern: Option<f64>,
    /// Number of patterns
    #[arg(long, value_name = "N")]
    patterns: Option<usize>,
    /// Mean share of a pattern that comes from the pattern before it, 0 to 1
    #[arg(long, value_name = "X")]
    correlation: Option<f64>,
    /// Mean share of a pattern that is bought, 0 to 1
    #[arg(long, value_name = "X")]
    confidence: Option<f64>,
    /// Standard deviation of that share over patterns
    #[arg(long, value_name = "X")]
    confidence_sd: Option<f64>,
    /// All items equally likely in patterns
    #[arg(long)]
    uniform: bool,
    /// Where randomness starts
    #[arg(long, value_name = "N", default_value_t = disjoin::generate::SEED)]
    seed: u64,
    /// The format to write
    #[arg(long, value_name = "FORMAT", value_parser = choice::<Format>(), default_value_t = Format::Basket)]
    format: Format,
    #[command(flatten)]
    to: To,
}

const QUEST_EXAMPLES: &str = "\
Examples:
  disjoin generate quest --preset vldb94 -o T10I4D100K.dat
  disjoin generate quest --records 1000000 --items 5000 --seed 7 -o baskets.dat.gz
  disjoin generate quest --records 100 | head";

/// What a generator of people writes.
#[derive(clap::Args)]
struct Files {
    /// Also write the hierarchy of diagnoses or regions to this file, as ARX reads it
    #[arg(long, value_name = "FILE")]
    hierarchy: Option<PathBuf>,
    #[command(flatten)]
    to: To,
}

impl Files {
    /// Writes the data, then the hierarchy, which is done at once: who ends it early has neither.
    fn write(
        &self,
        talk: &Talk,
        fill: impl FnOnce(&mut dyn Write) -> Result<()>,
        hierarchy: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<()> {
        let Some(path) = &self.hierarchy else { return self.to.write(talk, fill) };
        check_file(path, self.to.force)?;
        self.to.write(talk, fill)?;
        write_to(Some(path), self.to.force, talk, |out| hierarchy(out).map_err(|e| Error::io(path, "write", e)))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Preset {
    Program,
    Vldb94,
}

/// A hospital register: age, sex, postcode, year of admission and diagnoses
///
/// The patients are synthetic and frequencies are only plausible: use it to see how protection behaves, never to learn
/// about health.
#[derive(clap::Args)]
#[command(after_long_help = HOSPITAL_EXAMPLES, after_help = HOSPITAL_EXAMPLES)]
pub(crate) struct HospitalArgs {
    /// Number of patients
    #[arg(long, value_name = "N", default_value_t = hospital::Params::default().patients)]
    patients: u64,
    /// Where randomness starts
    #[arg(long, value_name = "N", default_value_t = disjoin::generate::SEED)]
    seed: u64,
    /// Write only the sets of diagnoses, in this format, instead of the whole table as CSV
    #[arg(long, value_name = "FORMAT", value_parser = choice::<Format>())]
    format: Option<Format>,
    #[command(flatten)]
    files: Files,
}

const HOSPITAL_EXAMPLES: &str = "\
Examples:
  disjoin generate hospital -o hospital.csv
  disjoin generate hospital --patients 100000 --seed 3 --format jsonl -o diagnoses.jsonl.zst
  disjoin generate hospital --hierarchy diagnoses-hierarchy.csv -o hospital.csv";

/// A table of people: age, sex, region and more, and a disease that goes with them
///
/// The people are synthetic. With strength 0 nothing discloses the disease; with strength 1 age, sex and region nearly do: use it
/// to see what background knowledge does to a release.
#[derive(clap::Args)]
#[command(after_long_help = PEOPLE_EXAMPLES, after_help = PEOPLE_EXAMPLES)]
pub(crate) struct PeopleArgs {
    /// Number of rows
    #[arg(long, value_name = "N", default_value_t = People::default().rows)]
    rows: u64,
    /// Number of columns beside the disease, 1 to 30
    #[arg(long, value_name = "N", default_value_t = People::default().quasi)]
    quasi: usize,
    /// How much the disease goes with age, sex and region, 0 to 1
    #[arg(long, value_name = "X", default_value_t = People::default().strength)]
    strength: f64,
    /// Where randomness starts
    #[arg(long, value_name = "N", default_value_t = disjoin::generate::SEED)]
    seed: u64,
    #[command(flatten)]
    files: Files,
}

const PEOPLE_EXAMPLES: &str = "\
Examples:
  disjoin generate people -o people.csv
  disjoin generate people --rows 5000000 --quasi 10 --strength 0.5 --seed 7 -o people.csv.zst
  disjoin generate people --hierarchy region.csv -o people.csv";

pub(crate) fn run(args: &Args, talk: &Talk) -> Result<Outcome> {
    let (out, format) = match args {
        Args::Quest(args) => (&args.to.out, args.format.to_string()),
        Args::Hospital(args) => {
            (&args.files.to.out, args.format.map_or(String::from("csv"), |format| format.to_string()))
        }
        Args::People(args) => (&args.files.to.out, String::from("csv")),
    };
    if talk.is_json() && out.as_deref().is_none_or(|out| out == Path::new("-")) {
        let problem = "the data and the result would both go to stdout";
        return Err(Error::recipe("--json", problem, "name a file for the data with -o"));
    }
    talk.step("generating");
    let records = match args {
        Args::Quest(args) => args.write(talk)?,
        Args::Hospital(args) => args.write(talk)?,
        Args::People(args) => args.write(talk)?,
    };
    let Some(out) = out else {
        talk.end_steps();
        return Ok(Outcome::Holds);
    };
    talk.note(&format!("wrote {} to {}", count(records, "record", "records"), out.display()));
    if talk.is_json() {
        talk.print_json(&json!({ "file": out.to_string_lossy(), "records": records, "format": format }))?;
    }
    Ok(Outcome::Holds)
}

impl QuestArgs {
    fn params(&self) -> quest::Params {
        let preset = match self.preset {
            Preset::Program => quest::Params::program(),
            Preset::Vldb94 => quest::Params::vldb94(),
        };
        quest::Params {
            records: self.records.unwrap_or(preset.records),
            mean_length: self.mean_length.unwrap_or(preset.mean_length),
            mean_pattern: self.mean_pattern.unwrap_or(preset.mean_pattern),
            patterns: self.patterns.unwrap_or(preset.patterns),
            items: self.items.unwrap_or(preset.items),
            correlation: self.correlation.unwrap_or(preset.correlation),
            confidence: self.confidence.unwrap_or(preset.confidence),
            confidence_sd: self.confidence_sd.unwrap_or(preset.confidence_sd),
            clamp_confidence: preset.clamp_confidence,
            uniform_items: self.uniform,
            seed: self.seed,
        }
    }

    fn write(&self, talk: &Talk) -> Result<u64> {
        let params = self.params();
        let path = self.to.path();
        if self.format == Format::Basket {
            self.to.write(talk, |out| {
                let mut text = Vec::new();
                quest_blocks(&params, |block| {
                    text.clear();
                    push_baskets(block, &mut text);
                    out.write_all(&text).map_err(|e| Error::io(path, "write", e))
                })
            })?;
        } else {
            let data = talk.in_memory(|| quest(&params))?;
            self.to.write(talk, |out| read::write(&data, self.format, path, out))?;
        }
        Ok(params.records)
    }
}

/// A line of numbers for each record.
fn push_baskets(block: &Transactions, text: &mut Vec<u8>) {
    for record in block.iter() {
        for (i, item) in record.iter().enumerate() {
            if i > 0 {
                text.push(b' ');
            }
            // Writing to a Vec cannot fail.
            let _ = write!(text, "{item}");
        }
        text.push(b'\n');
    }
}

impl HospitalArgs {
    fn write(&self, talk: &Talk) -> Result<u64> {
        let register =
            talk.in_memory(|| hospital::hospital(&hospital::Params { patients: self.patients, seed: self.seed }))?;
        let path = self.files.to.path();
        let fill = |out: &mut dyn Write| match self.format {
            Some(format) => read::write(&register.dataset(), format, path, out),
            None => register.write_csv(out).map_err(|e| Error::io(path, "write", e)),
        };
        self.files.write(talk, fill, hospital::write_hierarchy)?;
        Ok(register.len() as u64)
    }
}

impl PeopleArgs {
    fn write(&self, talk: &Talk) -> Result<u64> {
        let params = People { rows: self.rows, quasi: self.quasi, strength: self.strength, seed: self.seed };
        let path = self.files.to.path();
        let fill = |out: &mut dyn Write| {
            people_csv(&params, |text| out.write_all(text).map_err(|e| Error::io(path, "write", e)))
        };
        self.files.write(talk, fill, write_region_hierarchy)?;
        Ok(params.rows)
    }
}
