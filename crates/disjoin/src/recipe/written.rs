//! recipe.toml as it is written: every key may be missing, none may be unknown.
//!
//! Promises:   an error names the key, its line and what to write instead; it never repeats a value, for the list of sensitive
//!             terms says what somebody wants to hide
//! Checked by: tests/it/recipes.rs

use std::ops::Range;

use schemars::JsonSchema;
use serde::Deserialize;
use toml::de::{DeTable, DeValue};

use super::{OutputFormat, noise, recoding, table};
use crate::attack::semantic;
use crate::attack::summary::Choice;
use crate::error::{Error, Place, Result};
use crate::protect::disassociation::{DiversityRule, Grouping};
use crate::protect::recoding::CostRule;
use crate::read::Format;

/// A recipe as written.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Written {
    /// What to read.
    pub input: Input,
    /// How to protect it.
    pub protect: Protect,
    /// If it is a table of people: its columns, and what their classes must be like.
    pub table: Option<table::Written>,
    /// What to try against it, and what is put up with.
    pub attack: Attack,
    /// What it must still be good for.
    pub measure: Measure,
    /// How often to mend what attacks broke.
    pub repair: Repair,
    /// Where it goes.
    pub output: Output,
}

/// What to read.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Input {
    /// The file; relative ones start at the folder of the recipe.
    pub file: Option<String>,
    /// The format, where the file's name and content do not say it: basket, spmf, long, csv, jsonl or parquet.
    #[schemars(with = "Option<String>")]
    pub format: Option<Format>,
    /// What stands between fields: one character, or "tab" or "space".
    pub separator: Option<String>,
    /// The column (or JSON field) that holds each person's list of terms.
    pub column: Option<String>,
    /// The column that says whose row it is, in the format long.
    pub id_column: Option<String>,
    /// The column of terms, in the format long.
    pub item_column: Option<String>,
    /// What stands between the terms inside a list column.
    pub list_separator: Option<String>,
    /// Refuse records with more terms: the separator is wrong, most often.
    pub max_record_terms: Option<usize>,
}

/// How to protect it.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Protect {
    /// The method: disassociation if it is missing.
    pub method: Option<Method>,
    /// The size of the crowd that everybody must hide in: at least 2.
    pub k: Option<u32>,
    /// How many terms of a person an adversary may know: at least 1.
    pub m: Option<u32>,
    /// How records are brought together: layered or paper.
    #[schemars(with = "Option<String>")]
    pub grouping: Option<Grouping>,
    /// How large groups may become: at least 2k.
    pub max_cluster: Option<u32>,
    /// Which reading of the guarantee is promised.
    pub promise: Option<Promised>,
    /// Whether groups may share chunks, so that rare terms keep their counts.
    pub refine: Option<bool>,
    /// Terms that are never to be linked with others.
    pub sensitive: Option<Vec<String>>,
    /// Nobody is linked to a sensitive term with a probability above 1/L: at least 2.
    pub l_diversity: Option<u32>,
    /// How that probability is bounded: multiplicity or size.
    #[schemars(with = "Option<String>")]
    pub diversity_rule: Option<DiversityRule>,
    /// A file of utility sets, one a line. Disassociation: terms whose links with each other matter most. coat and pcta: terms
    /// that may stand in for each other, each in one set at most; all may if the key is missing.
    pub utility: Option<String>,
    /// A file of weights, term and number in each line: how much terms count when people are grouped.
    pub weights: Option<String>,
    /// apriori, lra and vpa: a file that says what generalises what.
    pub hierarchy: Option<String>,
    /// apriori, lra and vpa: make a hierarchy instead, with so many children a node, over the sorted terms.
    pub fanout: Option<usize>,
    /// apriori, lra and vpa: what a way to mend a set costs: increment, alone or count.
    #[schemars(with = "Option<String>")]
    pub cost: Option<CostRule>,
    /// lra: the least number of records of a block; 1000 k if it is missing.
    pub block: Option<usize>,
    /// vpa: in how many parts the terms are looked at first; 4 if it is missing.
    pub parts: Option<usize>,
    /// coat and pcta: a file of privacy constraints, one a line: terms that somebody may know of a person.
    pub privacy: Option<String>,
    /// coat and pcta: whether constraints are protected as a whole only, and not their parts.
    pub whole_constraints: Option<bool>,
    /// coat and pcta: the largest share of terms that may be suppressed, from 0 to 1.
    pub max_suppressed: Option<f64>,
    /// coat and pcta: whether to suppress more than that where it must be.
    pub force: Option<bool>,
    /// diffpart and privbasis: how noise is added.
    pub noise: Option<noise::Written>,
}

/// A method of protection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// k^m-anonymity without losing a term.
    Disassociation,
    /// k^m-anonymity by generalisation along a hierarchy.
    Apriori,
    /// The same in blocks of similar records, each by itself.
    Lra,
    /// The same, first in parts of the terms.
    Vpa,
    /// k^m-anonymity by taking terms out of all records.
    Suppression,
    /// k^m-anonymity by taking terms out of single records.
    SuppressionPartial,
    /// Privacy constraints by generalising the rarest term with what costs least.
    Coat,
    /// Privacy constraints by the cheapest generalisation of any of their terms.
    Pcta,
    /// Differential privacy: a bag of records that nobody has.
    Diffpart,
    /// Differential privacy: the most frequent itemsets with noisy supports.
    Privbasis,
}

impl Method {
    /// The same among those that recode terms, if it is one.
    pub(super) fn recoding(self) -> Option<recoding::Method> {
        match self {
            Method::Disassociation | Method::Diffpart | Method::Privbasis => None,
            Method::Apriori => Some(recoding::Method::Apriori),
            Method::Lra => Some(recoding::Method::Lra),
            Method::Vpa => Some(recoding::Method::Vpa),
            Method::Suppression => Some(recoding::Method::Suppression),
            Method::SuppressionPartial => Some(recoding::Method::SuppressionPartial),
            Method::Coat => Some(recoding::Method::Coat),
            Method::Pcta => Some(recoding::Method::Pcta),
        }
    }

    /// The same among those that add noise, if it is one.
    pub(super) fn noise(self) -> Option<noise::Method> {
        match self {
            Method::Diffpart => Some(noise::Method::Diffpart),
            Method::Privbasis => Some(noise::Method::Privbasis),
            _ => None,
        }
    }
}

/// A promise that can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Promised {
    /// Only against somebody who does not know how the release was made.
    Published,
    /// Also against somebody who knows how groups are cut into chunks.
    AlgorithmAware,
}

/// What to try against it.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Attack {
    /// The attacks: cover, closure, worlds, reassociate, identity.
    #[schemars(with = "Option<Vec<String>>")]
    pub run: Option<Vec<Choice>>,
    /// How long worlds searches for each set of terms before it is left open.
    pub steps: Option<u64>,
    /// How many certain statements are put up with.
    pub most_certain: Option<u64>,
    /// How likely a row may be a person's at most: a probability; 1/k if it is missing.
    pub most_likely: Option<f64>,
    /// Recoded sets: what words mean, a file that disjoin corpus build wrote. Without it, counts and vectors the release itself
    /// tells what goes together.
    pub corpus: Option<String>,
    /// Recoded sets: what words mean, a table first,second,count of how often items are met, alone and together.
    pub counts: Option<String>,
    /// Recoded sets: what words mean, static vectors as wordllama's wheel has them.
    pub vectors: Option<String>,
    /// Recoded sets: the tokenizer's JSON, where it is not beside the vectors.
    pub tokenizer: Option<String>,
    /// Recoded sets: the attacks: random, largest, threshold, weighted, group, redistribution, calibrated. All if it is missing, and
    /// none if it is [].
    #[schemars(with = "Option<Vec<String>>")]
    pub eliminate: Option<Vec<semantic::Method>>,
    /// Recoded sets: how many items beside a generalised one count, the rarest first; all if it is missing.
    pub context: Option<u32>,
    /// Recoded sets: how many records of a generalised item are looked at; 500 if it is missing.
    pub rows: Option<u32>,
    /// Recoded sets: where the randomness of attacks starts.
    pub seed: Option<u64>,
    /// Recoded sets: by how much more often than blindly an attack may be right: a difference of shares, from 0 to 1. No limit if it
    /// is missing.
    pub most_beyond_blind: Option<f64>,
}

/// What it must still be good for.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Measure {
    /// How many of the most frequent itemsets to compare.
    pub top: Option<usize>,
    /// How many reconstructions to average at most.
    pub reconstructions: Option<u64>,
    /// How many random itemsets to count.
    pub queries: Option<usize>,
    /// Where randomness starts.
    pub seed: Option<u64>,
    /// The worst that is put up with; what is missing has no limit.
    pub at_most: AtMost,
}

/// The worst utility that is put up with, each a share between 0 and 1 or a relative error between 0 and 2.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AtMost {
    /// The share of the most frequent itemsets that are lost (tKd-e).
    pub itemsets_lost: Option<f64>,
    /// The share of terms that no chunk shows (tlost).
    pub terms_lost: Option<f64>,
    /// The relative error of supports of pairs of the twenty most frequent terms (re-e).
    pub pair_error: Option<f64>,
    /// The median relative error of counts of random itemsets.
    pub query_error: Option<f64>,
}

/// How often to mend.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Repair {
    /// Rounds at most; 0 never mends.
    pub rounds: Option<u32>,
    /// Recoded sets: where an attack by what words mean is right too often, groups are mended, and NCP may become so many
    /// times what it was: 1 or more. Without it they are not mended.
    pub limit: Option<f64>,
}

/// Where it goes.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Output {
    /// The folder of the package; relative ones start at the folder of the recipe.
    pub folder: Option<String>,
    /// How the data of the release are stored: jsonl or parquet.
    pub format: Option<OutputFormat>,
}

/// The JSON schema of recipe.toml.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Written).to_value()
}

/// Reads the text of a recipe; `file` is its name in messages.
pub fn parse(text: &str, file: &str) -> Result<Written> {
    toml::from_str(text).map_err(|error| {
        let place = error.span().map_or_else(|| Place::file(file), |span| Place::line(file, line_of(text, &span)));
        explain(error.message(), text, error.span(), place)
    })
}

/// Where a key such as `protect.k` stands; the table it would be in if it is missing.
pub fn place_of(text: &str, file: &str, key: &str) -> Place {
    let Ok(document) = DeTable::parse(text) else { return Place::file(file) };
    let (mut table, mut found) = (document.get_ref(), None);
    for part in key.split('.') {
        let Some((name, value)) = table.get_key_value(part) else { break };
        found = Some(name.span());
        match value.get_ref() {
            DeValue::Table(inner) => table = inner,
            _ => break,
        }
    }
    found.map_or_else(|| Place::file(file), |span| Place::line(file, line_of(text, &span)))
}

fn line_of(text: &str, span: &Range<usize>) -> u64 {
    1 + text.as_bytes().iter().take(span.start).filter(|&&byte| byte == b'\n').count() as u64
}

/// The parser's words in ours: what is unknown, what was expected, what was meant; no value.
fn explain(message: &str, text: &str, span: Option<Range<usize>>, place: Place) -> Error {
    // The last such words are the parser's own; what stands before may be a value.
    let (found, expected) = match message.rsplit_once(", expected ") {
        Some((found, expected)) => (found, Some(expected)),
        None => (message, message.strip_prefix("expected ")),
    };
    let known: Vec<&str> = expected.unwrap_or_default().split('`').skip(1).step_by(2).collect();
    let unknown = found.split_once('`').map(|(_, rest)| rest.strip_suffix('`').unwrap_or(rest));
    if let (Some(unknown), true) = (unknown, message.starts_with("unknown ")) {
        let is_key = message.starts_with("unknown field");
        let what = if is_key { "is not a key of a recipe" } else { "is not known here" };
        // What stands in a key is the user's own word for a key; a value might say more.
        let named = if is_key { format!("{unknown} {what}") } else { format!("the value {what}") };
        let nearest = known.iter().min_by_key(|other| strsim::damerau_levenshtein(unknown, other));
        let is_near = |other: &&&str| strsim::damerau_levenshtein(unknown, other) <= 1 + unknown.len() / 3;
        let hint = match nearest.filter(is_near) {
            Some(meant) => format!("did you mean {meant}?"),
            None => format!("expected one of: {}", known.join(", ")),
        };
        return Error::input(place, named).with_hint(hint);
    }
    let key = span.and_then(|span| key_before(text, &span));
    let named = |problem: String| key.as_ref().map_or(problem.clone(), |key| format!("{key}: {problem}"));
    match expected {
        Some(expected) => Error::input(place, named(format!("expected {}", in_words(expected)))),
        None => Error::input(place, named(String::from("is not TOML here")))
            .with_hint("texts stand in quotes, lists in [ ], a table begins with [its name]"),
    }
}

/// The key on the line of a value.
fn key_before(text: &str, span: &Range<usize>) -> Option<String> {
    let start = text.get(..span.start)?.rfind('\n').map_or(0, |at| at + 1);
    let (key, _) = text.get(start..)?.lines().next()?.split_once('=')?;
    let key = key.trim();
    let is_key = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    (!key.is_empty() && key.chars().all(is_key)).then(|| key.to_owned())
}

/// Types as people call them.
fn in_words(expected: &str) -> &str {
    match expected {
        "u32" | "u64" | "usize" => "a whole number, 0 or more",
        "f64" => "a number",
        "a boolean" => "true or false",
        "a sequence" => "a list in [ ]",
        "a string" | "string or table" | "literal string" => "a text in quotes",
        _ if expected.starts_with("struct ") => "a table",
        other => other,
    }
}
