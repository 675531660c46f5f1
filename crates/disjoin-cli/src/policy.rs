//! `disjoin policy`: files of privacy and utility constraints, written for you.

use std::path::{Path, PathBuf};

use disjoin::data::{Dataset, Hierarchy, TermId};
use disjoin::memory::{Memory, read_file};
use disjoin::protect::recoding::utility::{ALIKE, alike, inconspicuous};
use disjoin::read::policy::default;
use disjoin::read::policy::{
    all_pairs, one_utility_set, parse_privacy, random_singletons, utility_sets_at, write_constraints,
};
use disjoin::read::wordnet::WordNet;
use disjoin::{Error, Place, Result, read};
use serde_json::json;

use crate::Outcome;
use crate::convert::exists;
use crate::flags::input::Input;
use crate::flags::words::Sources;
use crate::sink::To;
use crate::talk::{Talk, count};

/// Write files of privacy or utility constraints, for the methods coat and pcta
///
/// A privacy constraint is a set of terms that an adversary may know of a person: no record of the release has all of them, or at
/// least K. A utility constraint is a set of terms that may stand in for each other: terms are generalised only with terms of the
/// same set. A file has one constraint a line, commas between its terms.
#[derive(clap::Subcommand)]
#[command(after_long_help = EXAMPLES, after_help = EXAMPLES)]
pub(crate) enum Args {
    Random(RandomArgs),
    Pairs(PairsArgs),
    All(AllArgs),
    Hierarchy(HierarchyArgs),
    Wordnet(WordnetArgs),
    Inconspicuous(InconspicuousArgs),
}

const EXAMPLES: &str = "\
Examples:
  disjoin policy random baskets.dat --share 0.1 -o privacy.txt
  disjoin policy pairs baskets.dat --terms privacy.txt -o pairs.txt
  disjoin policy all baskets.dat -o utility.txt
  disjoin policy hierarchy baskets.dat --fanout 10 --depth 1 -o utility.txt
  disjoin policy wordnet notes.jsonl --terms privacy.txt -o utility.txt
  disjoin policy inconspicuous notes.jsonl --terms privacy.txt --corpus words.corpus -o utility.txt";

/// What all of them need.
#[derive(clap::Args)]
pub(crate) struct Common {
    /// The data; "-" is standard input
    data: PathBuf,
    #[command(flatten)]
    to: To,
    #[command(flatten)]
    input: Input,
}

/// Privacy constraints: single terms, chosen at random
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  disjoin policy random baskets.dat --share 0.1 --seed 7 -o privacy.txt")]
pub(crate) struct RandomArgs {
    /// The share of all terms that is chosen
    #[arg(long, value_name = "SHARE", default_value_t = default::SHARE)]
    share: f64,
    /// Where randomness starts
    #[arg(long, value_name = "SEED", default_value_t = default::SEED)]
    seed: u64,
    #[command(flatten)]
    common: Common,
}

/// Privacy constraints: all pairs of some terms
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  disjoin policy pairs hospital.csv --column diagnoses --terms \"HIV disease,gout\" -o pairs.txt"
)]
pub(crate) struct PairsArgs {
    /// The terms: a list with commas, or a file of constraints, all of whose terms are taken
    #[arg(long, value_name = "LIST|FILE")]
    terms: String,
    #[command(flatten)]
    common: Common,
}

/// A utility constraint: one set of all terms, which may all stand in for each other
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  disjoin policy all baskets.dat -o utility.txt")]
pub(crate) struct AllArgs {
    #[command(flatten)]
    common: Common,
}

/// Utility constraints: a set for each node of a hierarchy at some depth
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  disjoin policy hierarchy hospital.csv --column diagnoses --hierarchy icd.csv --depth 1 -o utility.txt"
)]
pub(crate) struct HierarchyArgs {
    /// What generalises what: an ARX CSV file or an Amnesia text file
    #[arg(long, value_name = "FILE", required_unless_present = "fanout")]
    hierarchy: Option<PathBuf>,
    /// Make a hierarchy: so many children a node, over the sorted terms
    #[arg(long, value_name = "N", conflicts_with = "hierarchy")]
    fanout: Option<usize>,
    /// The depth of the nodes whose terms are the sets; 0 is the root
    #[arg(long, value_name = "D", default_value_t = default::DEPTH)]
    depth: u32,
    #[command(flatten)]
    common: Common,
}

/// Utility constraints: around each protected term what WordNet finds alike, so that groups keep their meaning
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  disjoin policy wordnet notes.jsonl --terms privacy.txt -o utility.txt")]
pub(crate) struct WordnetArgs {
    /// The protected terms: a list with commas, or a file of constraints, all of whose terms are taken
    #[arg(long, value_name = "LIST|FILE")]
    terms: String,
    /// Where WordNet's data.noun is
    #[arg(long, value_name = "DIR", default_value_os_t = PathBuf::from(default::WORDNET))]
    wordnet: PathBuf,
    /// How alike terms must be, by Wu and Palmer, from 0 to 1
    #[arg(long, value_name = "SIMILARITY", default_value_t = ALIKE)]
    least: f64,
    #[command(flatten)]
    common: Common,
}

/// Utility constraints: around each protected term what goes with the same contexts, so that attacks by meaning find little
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  disjoin policy inconspicuous notes.jsonl --terms privacy.txt --corpus words.corpus -o utility.txt"
)]
pub(crate) struct InconspicuousArgs {
    /// The protected terms: a list with commas, or a file of constraints, all of whose terms are taken
    #[arg(long, value_name = "LIST|FILE")]
    terms: String,
    #[command(flatten)]
    words: Sources,
    /// How many other terms a set has
    #[arg(long, value_name = "N", default_value_t = default::SIZE)]
    size: usize,
    #[command(flatten)]
    common: Common,
}

pub(crate) fn run(args: &Args, talk: &Talk) -> Result<Outcome> {
    let common = match args {
        Args::Random(args) => &args.common,
        Args::Pairs(args) => &args.common,
        Args::All(args) => &args.common,
        Args::Hierarchy(args) => &args.common,
        Args::Wordnet(args) => &args.common,
        Args::Inconspicuous(args) => &args.common,
    };
    let file = common.to.out.as_deref().filter(|path| *path != Path::new("-"));
    if talk.is_json() && file.is_none() {
        let problem = "the constraints and the result would both go to stdout";
        return Err(Error::recipe("--json", problem, "name a file for the constraints: -o FILE"));
    }
    // Cheap, and `write_file` asks again.
    if let Some(path) = file.filter(|path| !common.to.force && path.exists()) {
        return Err(exists(path));
    }
    let (data, intake) = common.input.read(&common.data, talk)?;
    let sets = talk.in_memory(|| args.sets(&data))?;
    if sets.is_empty() {
        return Err(Error::recipe("policy", "there is nothing to write a constraint about", "name more terms"));
    }
    let text = write_constraints(&sets, &data.dictionary)?;
    common.to.write(talk, |out| {
        out.write_all(text.as_bytes()).map_err(|e| Error::io(file.unwrap_or(Path::new("-")), "write", e))
    })?;
    talk.note(&format!("wrote {}", count(sets.len() as u64, "constraint", "constraints")));
    if talk.is_json() {
        let terms: usize = sets.iter().map(Vec::len).sum();
        let file = file.map(|path| path.to_string_lossy().into_owned());
        talk.print_json(&json!({ "file": file, "constraints": sets.len(), "terms": terms, "input": intake }))?;
    }
    Ok(Outcome::Holds)
}

impl Args {
    fn sets(&self, data: &Dataset) -> Result<Vec<Vec<TermId>>> {
        Ok(match self {
            Args::Random(args) => random_singletons(data.n_terms(), args.share, args.seed).map_err(as_flag)?,
            Args::Pairs(args) => all_pairs(&terms(&args.terms, data)?),
            Args::All(_) => one_utility_set(data.n_terms()),
            Args::Hierarchy(args) => utility_sets_at(&args.taxonomy(data)?, args.depth),
            Args::Wordnet(args) => args.sets(data)?,
            Args::Inconspicuous(args) => {
                let words = args.words.read_one()?;
                let told = words.of_terms(&data.dictionary)?.ok_or_else(|| {
                    let problem = "is missing: what an adversary may know about the meaning of terms";
                    Error::recipe("--corpus", problem, "name a corpus, or --vectors, or --counts")
                })?;
                let protected = singletons(&args.terms, data)?;
                inconspicuous(&protected, &data.records, data.n_terms(), args.size, &*told.distance)
            }
        })
    }
}

fn as_flag(error: Error) -> Error {
    match error {
        Error::Recipe { problem, hint, .. } => Error::Recipe { key: "share".into(), problem, hint },
        other => other,
    }
}

impl WordnetArgs {
    fn sets(&self, data: &Dataset) -> Result<Vec<Vec<TermId>>> {
        let wordnet = WordNet::read(&self.wordnet)?;
        let senses: Vec<&[u32]> = data.dictionary.iter().map(|text| wordnet.senses(text)).collect();
        let similarity = |a: TermId, b: TermId| wordnet.of_senses(senses[a as usize], senses[b as usize]);
        Ok(alike(&singletons(&self.terms, data)?, data.n_terms(), self.least, similarity))
    }
}

/// Each protected term as a constraint of its own.
fn singletons(written: &str, data: &Dataset) -> Result<Vec<Vec<TermId>>> {
    Ok(terms(written, data)?.into_iter().map(|term| vec![term]).collect())
}

impl HierarchyArgs {
    fn taxonomy(&self, data: &Dataset) -> Result<Hierarchy> {
        match (&self.hierarchy, self.fanout) {
            (Some(file), _) => read::hierarchy(file, &data.dictionary),
            (None, Some(fanout)) => Hierarchy::uniform(&data.dictionary, fanout),
            (None, None) => Err(Error::Internal("one of two flags is always given")),
        }
    }
}

/// Terms of a list with commas, or all of a file of constraints.
fn terms(written: &str, data: &Dataset) -> Result<Vec<TermId>> {
    let path = Path::new(written);
    if path.is_file() {
        let bytes = read_file(path, "read the terms", Memory::default())?;
        let text = String::from_utf8(bytes).map_err(|_| {
            Error::input(Place::file(written), "is not valid UTF-8").with_hint("convert the file to UTF-8")
        })?;
        return Ok(parse_privacy(written, &text, &data.dictionary)?.concat());
    }
    let fields = written.split(',').map(str::trim).zip(1..).filter(|(text, _)| !text.is_empty());
    fields
        .map(|(text, at)| {
            // The position only: the list says what somebody wants to hide.
            data.dictionary.get(text).ok_or_else(|| {
                let problem = format!("entry {at} of the list does not occur in the data");
                Error::recipe("--terms", problem, "check the spelling, or remove it from the list")
            })
        })
        .collect()
}
