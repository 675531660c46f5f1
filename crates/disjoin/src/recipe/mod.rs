//! One file says everything: what to read, how to protect it, what to try against it, what it must still be good for.
//!
//! `recipe.toml` is read in two steps: as written ([`written`]), where every key may be missing, and resolved ([`Recipe`]),
//! where none is. Defaults stand in one place, [`resolve`](mod@resolve).

pub mod meaning;
pub mod method;
pub mod noise;
mod people;
pub mod recoding;
pub mod resolve;
pub mod table;
pub mod template;
pub mod template_table;
pub mod written;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize, Serializer};

use crate::attack::attackers::Class;
use crate::attack::summary::Choice;
use crate::location::shown;
use crate::protect::disassociation::{DiversityRule, Grouping};
use crate::read;
use crate::release::{Form, Promise};

pub use method::{Method, Shape};
pub use resolve::{read_recipe, resolve};
pub use template::{Answers, template};
pub use template_table::{ColumnAnswer, TableAnswers};
pub use written::Written;

/// The name of a recipe's file, if nothing is said.
pub const FILE: &str = "recipe.toml";

/// A recipe with nothing left open.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Recipe {
    /// What to read.
    pub input: Input,
    /// The method.
    pub method: Method,
    /// How to protect it.
    pub protect: Protect,
    /// If it is a table of people: its columns, and what their classes must be like.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub table: Option<table::Table>,
    /// What to try against it.
    pub attack: Attack,
    /// What to compare with the original.
    pub measure: Measure,
    /// What attacks and measures may find.
    pub limits: Limits,
    /// How often to repair what attacks broke.
    pub repair: Repair,
    /// Where it goes.
    pub output: Output,
    /// What its writer should know: keys that have other names now, a password that is written down.
    #[serde(skip)]
    pub notes: Vec<String>,
}

impl Recipe {
    /// What its release looks like.
    pub fn form(&self) -> Form {
        self.method.entry().form
    }
}

/// What to read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Input {
    /// The file, or the URL of a table; relative files start at the folder of the recipe. Written without a password.
    #[serde(serialize_with = "without_secrets")]
    pub file: PathBuf,
    /// How it is read, where its name and content do not say it.
    #[serde(flatten)]
    pub options: read::Options,
}

/// What a report may show of a location.
fn without_secrets<S: Serializer>(file: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&shown(&file.to_string_lossy()))
}

/// How to protect it: disassociation, unless something else is asked for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Protect {
    /// How many records or people cannot be told apart.
    pub k: u32,
    /// How many terms of background knowledge an adversary has.
    pub m: u32,
    /// How records are brought together.
    pub grouping: Grouping,
    /// How large groups may become.
    pub max_cluster: u32,
    /// Which reading of the guarantee is promised.
    pub promise: Promise,
    /// Whether groups may share chunks.
    pub refine: bool,
    /// Terms that are never to be linked with others.
    pub sensitive: Vec<String>,
    /// Nobody is linked to one of them with a probability above 1/l.
    pub l_diversity: Option<u32>,
    /// How that probability is bounded.
    pub diversity_rule: DiversityRule,
    /// A file of sets of terms whose links with each other matter most; relative ones start at the folder of the recipe.
    pub utility: Option<PathBuf>,
    /// A file that says how much terms count when people are grouped.
    pub weights: Option<PathBuf>,
    /// A file of clusters that are given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clusters: Option<PathBuf>,
    /// If terms are recoded instead: how.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recoding: Option<recoding::Recoding>,
    /// If noise is added instead: how.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noise: Option<noise::Noise>,
}

/// What to try against it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Attack {
    /// The attacks.
    pub run: Vec<Choice>,
    /// How long worlds searches for each set of terms.
    pub steps: u64,
    /// How many sets rerun makes witnesses for, where it cannot look at all possible originals.
    pub witnesses: u64,
    /// Whose cover problems are counted, where that is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attackers: Option<Vec<Class>>,
    /// How many terms an adversary knows who knows more than is promised.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub knows: Option<u32>,
    /// Terms of which that adversary knows all holders.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub knows_all: Vec<String>,
    /// Terms that that adversary knows to be absent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub knows_absent: Vec<String>,
    /// If terms are recoded: what is tried with knowledge of words.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub meaning: Option<meaning::Meaning>,
}

/// What to compare.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Measure {
    /// How many of the most frequent itemsets to compare.
    pub top: usize,
    /// How many reconstructions to average at most.
    pub reconstructions: u64,
    /// How many random itemsets to count.
    pub queries: usize,
    /// Where randomness starts.
    pub seed: u64,
}

/// The highest values that attacks and measures may find; those without a value are not limited.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Limits {
    /// The limits as written, with the defaults of certain disclosures and of the re-identification risk.
    #[serde(flatten)]
    pub written: written::Limits,
    /// Whether that risk is 1/k because nobody said otherwise.
    #[serde(skip)]
    pub risk_follows_k: bool,
}

/// How often to repair.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Repair {
    /// Rounds at most; 0 never repairs.
    pub rounds: u32,
    /// Recoded sets: NCP may become so many times what it was; without it they are not repaired.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
}

/// Where it goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Output {
    /// The folder of the package; relative ones start at the folder of the recipe.
    pub folder: PathBuf,
    /// How the data of the release are stored: `jsonl` or `parquet`.
    pub format: OutputFormat,
}

/// How the data of a release are stored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum OutputFormat {
    /// data.jsonl
    #[default]
    Jsonl,
    /// data.parquet
    Parquet,
}
