//! recipe.toml as it is written: every key may be missing, none may be unknown.
//!
//! Promises:   an error names the key, its line and what to write instead; it never repeats a value, for the list of sensitive
//!             terms shows what somebody wants to protect
//! Checked by: tests/it/recipes.rs

use std::ops::Range;

use serde::{Deserialize, Serialize};
use toml::de::{DeTable, DeValue};

use super::{Method, OutputFormat, noise, table};
use crate::attack::attackers::Class;
use crate::attack::semantic;
use crate::attack::summary::Choice;
use crate::data::Visits;
use crate::error::{Error, Place, Result};
use crate::protect::disassociation::{DiversityRule, Grouping};
use crate::protect::recoding::CostRule;
use crate::read::Format;

/// A recipe as written.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Written {
    /// What to read.
    pub input: Input,
    /// How to protect it.
    pub protect: Protect,
    /// If it is a table of people: its columns, and what their classes must be like.
    pub table: Option<table::Written>,
    /// What to try against it.
    pub attack: Attack,
    /// What to compare with the original.
    pub measure: Measure,
    /// What attacks and measures may find: the thresholds that decide.
    pub limits: Limits,
    /// How often to repair what attacks broke.
    pub repair: Repair,
    /// Where it goes.
    pub output: Output,
    /// Keys that were written by names of former versions, with what they are called now.
    #[serde(skip)]
    pub old_keys: Vec<(&'static str, &'static str)>,
}

/// What to read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Input {
    /// The file; relative ones start at the folder of the recipe.
    pub file: Option<String>,
    /// The format, where the file's name and content do not show it: basket, spmf, long, csv, jsonl, parquet, arrow, xlsx or ods.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub format: Option<Format>,
    /// What stands between fields: one character, or "tab" or "space".
    pub separator: Option<String>,
    /// The column (or JSON field) that holds each person's list of terms.
    pub column: Option<String>,
    /// The column of the record's id, in the format long; with `column`, the same as `person`.
    pub id_column: Option<String>,
    /// The column of terms, in the format long.
    pub item_column: Option<String>,
    /// What stands between the terms inside a list column.
    pub list_separator: Option<String>,
    /// How the text is encoded, where it is not UTF-8: utf-16, latin1, windows-1250.
    pub encoding: Option<String>,
    /// The sheet of a workbook that has several.
    pub sheet: Option<String>,
    /// Columns that become one set-valued column, `*` standing for anything: ["DX*"], or ["diagnoses=DX*"] to name it.
    pub set_columns: Option<Vec<String>>,
    /// Whether these columns hold zeros and ones, and their names are the terms.
    pub indicators: Option<bool>,
    /// A second table, joined by a key.
    pub join: Option<Join>,
    /// Refuse records with more terms: the separator is wrong, most often.
    pub max_record_terms: Option<usize>,
    /// The column (or JSON field) that names people, if they may have several rows: k and all else then count people.
    pub person: Option<String>,
    /// What becomes of several rows of one person: "together" (one record, if it is missing), "first" or "apart".
    pub visits: Option<Visits>,
}

/// A second table, joined by a key.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Join {
    /// Its file; relative ones start at the folder of the recipe.
    pub file: Option<String>,
    /// The column that both tables have, or "FIRST=OTHER" if it has two names.
    pub on: Option<String>,
}

/// How to protect it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Protect {
    /// The method: disassociation if it is missing, least-loss for a table.
    pub method: Option<Method>,
    /// How many records or people cannot be told apart: at least 2.
    pub k: Option<u32>,
    /// How many terms of background knowledge an adversary has: at least 1.
    pub m: Option<u32>,
    /// How records are brought together: layered, guarded or paper.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
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
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub diversity_rule: Option<DiversityRule>,
    /// A file of utility sets, one a line. Disassociation: terms whose links with each other matter most. coat and pcta: terms
    /// that may be generalised together, each in no more than one set; all may if the key is missing.
    pub utility: Option<String>,
    /// A file of weights, term and number in each line: how much terms count when people are grouped.
    pub weights: Option<String>,
    /// A file of clusters, the name of one in each line, in the order of the records: people are grouped by it. Needs grouping = "paper".
    pub clusters: Option<String>,
    /// apriori, lra and vpa: a file with the hierarchy of generalisation.
    pub hierarchy: Option<String>,
    /// apriori, lra and vpa: make a hierarchy instead, with so many children a node, over the sorted terms.
    pub fanout: Option<usize>,
    /// apriori, lra and vpa: what a generalisation costs: increment, alone or count.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub cost: Option<CostRule>,
    /// lra: the least number of records of a block; 1000 k if it is missing.
    pub block: Option<usize>,
    /// vpa: in how many parts the terms are looked at first; 4 if it is missing.
    pub parts: Option<usize>,
    /// coat and pcta: a file of privacy constraints, one a line: terms that an adversary may know of a person.
    pub privacy: Option<String>,
    /// coat and pcta: whether constraints are protected as a whole only, and not their parts.
    pub whole_constraints: Option<bool>,
    /// coat and pcta: the largest share of terms that may be suppressed, from 0 to 1.
    pub max_suppressed: Option<f64>,
    /// coat and pcta: whether to suppress more than that where it must be.
    pub force: Option<bool>,
    /// The algorithm as in the paper, with its gaps: promises nothing, for experiments only.
    pub paper_literal: bool,
    /// diffpart and privbasis: how noise is added.
    pub noise: Option<noise::Written>,
}

/// A promise that can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Promised {
    /// Only against an adversary who does not use knowledge of the algorithm.
    Published,
    /// Also against an adversary who knows the algorithm that cuts groups into chunks (minimality attack).
    AlgorithmAware,
    /// Also against an adversary who runs the program: with the grouping guarded.
    ProgramAware,
}

impl From<Promised> for crate::release::Promise {
    fn from(asked: Promised) -> Self {
        match asked {
            Promised::Published => crate::release::Promise::Published,
            Promised::AlgorithmAware => crate::release::Promise::AlgorithmAware,
            Promised::ProgramAware => crate::release::Promise::ProgramAware,
        }
    }
}

/// What to try against it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Attack {
    /// The attacks: cover, closure, worlds, reassociate, identity, rerun. If it is missing, rerun only where program-aware is promised.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Vec<String>>"))]
    pub run: Option<Vec<Choice>>,
    /// How long worlds searches for each set of terms before it is left open.
    pub steps: Option<u64>,
    /// How many sets of terms rerun draws to make a witness for each, where there are too many possible originals to look at: 1000 if it is missing.
    pub witnesses: Option<u64>,
    /// Whose cover problems are counted: strong, moderate, weak.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Vec<String>>"))]
    pub attackers: Option<Vec<Class>>,
    /// An adversary who knows more than is promised: how many terms of a person; m if it is missing and another of these keys is there.
    pub knows: Option<u32>,
    /// An adversary who knows more than is promised: terms of which all holders are known.
    pub knows_all: Option<Vec<String>>,
    /// An adversary who knows more than is promised: terms that are known to be absent of those who lack them; "" is a random one.
    pub knows_absent: Option<Vec<String>>,
    /// Recoded sets: knowledge of a semantic attack, a file of disjoin corpus build. Without it, counts and vectors,
    /// co-occurrence in the release itself is used.
    pub corpus: Option<String>,
    /// Recoded sets: knowledge of a semantic attack, a table first,second,count of how often items are met, alone and together.
    pub counts: Option<String>,
    /// Recoded sets: knowledge of a semantic attack, static vectors as wordllama's wheel has them.
    pub vectors: Option<String>,
    /// Recoded sets: the tokenizer's JSON, where it is not beside the vectors.
    pub tokenizer: Option<String>,
    /// Recoded sets: the semantic attacks: random, largest, threshold, weighted, group, redistribution, calibrated. All if it
    /// is missing, and none if it is [].
    #[cfg_attr(feature = "schema", schemars(with = "Option<Vec<String>>"))]
    pub eliminate: Option<Vec<semantic::Method>>,
    /// Recoded sets: how many items beside a generalised one count, the rarest first; all if it is missing.
    pub context: Option<u32>,
    /// Recoded sets: how many records of a generalised item are looked at; 500 if it is missing.
    pub rows: Option<u32>,
    /// Recoded sets: where the randomness of attacks starts.
    pub seed: Option<u64>,
}

/// What it must still be good for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Measure {
    /// How many of the most frequent itemsets to compare.
    pub top: Option<usize>,
    /// The limit on the number of reconstructions to average.
    pub reconstructions: Option<u64>,
    /// How many random itemsets to count.
    pub queries: Option<usize>,
    /// Where randomness starts.
    pub seed: Option<u64>,
}

/// The highest values that are accepted. What is missing has no limit, but for the first two and what the claim promises.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Disassociation, split tables: certain disclosures; 0 if it is missing.
    pub certain_disclosures: Option<u64>,
    /// Disassociation: the re-identification (prosecutor) risk, a probability; 1/k if it is missing.
    pub reidentification_risk: Option<f64>,
    /// Recoded sets: the advantage of a semantic attack over the baseline, a difference of shares from 0 to 1.
    pub advantage: Option<f64>,
    /// Tables: the inference gain over the prior, in bits a person (lower end of the 95 % interval).
    pub inference_gain: Option<f64>,
    /// Tables: how much beliefs about a person change on average by seeing the release, in bits.
    pub belief_change: Option<f64>,
    /// Tables: rules between columns that lead to a sensitive value with a probability above `table.dependencies.alpha`.
    pub dependency_rules: Option<u64>,
    /// Split tables: the probability that all sensitive values of a person are guessed; what the claim promises if it is missing.
    pub knowledge_breach: Option<f64>,
    /// Sets: the share of the most frequent itemsets that are lost (tKd-e).
    pub itemsets_lost: Option<f64>,
    /// Sets: the share of terms that no chunk shows (tlost).
    pub terms_lost: Option<f64>,
    /// Sets: the relative error of supports of pairs of the twenty most frequent terms (re-e).
    pub pair_error: Option<f64>,
    /// The median relative error of counting queries.
    pub query_error: Option<f64>,
    /// Disassociated sets: the relative error of expected supports of pairs of terms, drawn by occurrence.
    pub link_error: Option<f64>,
    /// Disassociated sets: how far the mutual information of such pairs is off, as a share of what there is.
    pub association_error: Option<f64>,
    /// Tables: the mean information loss of a cell, suppressed records counting as lost (GCP).
    pub information_loss: Option<f64>,
    /// Split tables: how far sensitive values together are from what their tables suggest, on average over rows.
    pub joint_loss: Option<f64>,
}

/// How often to repair.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Repair {
    /// The limit on the number of rounds; 0 never repairs.
    pub rounds: Option<u32>,
    /// Recoded sets: where the advantage of a semantic attack is above its limit, groups are repaired, and NCP may grow to this
    /// many times what it was: 1 or more. Without it they are not repaired.
    pub limit: Option<f64>,
}

/// Where it goes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Output {
    /// The folder of the package; relative ones start at the folder of the recipe.
    pub folder: Option<String>,
    /// How the data of the release are stored: jsonl or parquet.
    pub format: Option<OutputFormat>,
}

/// The JSON schema of recipe.toml.
#[cfg(feature = "schema")]
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Written).to_value()
}

/// Reads the text of a recipe; `file` is its name in messages.
pub fn parse(text: &str, file: &str) -> Result<Written> {
    let old = old_keys(text);
    if !old.is_empty() {
        refuse_both(text, file, &old)?;
        let moved = moved(text, &old).ok_or_else(|| Error::input(Place::file(file), "is not TOML"))?;
        let mut written: Written = toml::Value::Table(moved)
            .try_into()
            .map_err(|error: toml::de::Error| explain(error.message(), text, None, Place::file(file)))?;
        written.old_keys = old;
        return Ok(written);
    }
    toml::from_str(text).map_err(|error| {
        let place = error.span().map_or_else(|| Place::file(file), |span| Place::line(file, line_of(text, &span)));
        explain(error.message(), text, error.span(), place)
    })
}

/// Keys that had other names, with what they are called now.
const OLD: [(&str, &str); 16] = [
    ("attack.most_certain", "limits.certain_disclosures"),
    ("attack.most_likely", "limits.reidentification_risk"),
    ("attack.most_beyond_blind", "limits.advantage"),
    ("measure.at_most.itemsets_lost", "limits.itemsets_lost"),
    ("measure.at_most.terms_lost", "limits.terms_lost"),
    ("measure.at_most.pair_error", "limits.pair_error"),
    ("measure.at_most.query_error", "limits.query_error"),
    ("table.at_most.loss", "limits.information_loss"),
    ("table.at_most.query_error", "limits.query_error"),
    ("table.at_most.privacy_loss", "limits.belief_change"),
    ("table.at_most.joint_loss", "limits.joint_loss"),
    ("table.at_most.risks", "limits.dependency_rules"),
    ("table.other", "table.insensitive"),
    ("table.most_removed", "table.suppression_limit"),
    ("table.split", "protect.method"),
    ("table.method", "protect.method"),
];

/// What stands under a key, if anything does.
fn at<'a>(document: &'a toml::Table, key: &str) -> Option<&'a toml::Value> {
    let (first, rest) = key.split_once('.').unwrap_or((key, ""));
    let value = document.get(first)?;
    rest.split('.').filter(|part| !part.is_empty()).try_fold(value, |value, part| value.get(part))
}

/// A key that is written by both of its names would be read by one of them.
fn refuse_both(text: &str, file: &str, old: &[(&str, &str)]) -> Result<()> {
    let document: toml::Table = text.parse().unwrap_or_default();
    for (old, now) in old {
        // Tables were protected by a method of their own, and sets inside them by disassociation.
        let is_idle = |value: &toml::Value| *now == "protect.method" && value.as_str() == Some("disassociation");
        if at(&document, now).is_some_and(|value| !is_idle(value)) {
            let problem = format!("{old} is now called {now}, and both are written");
            return Err(Error::input(place_of(text, file, old), problem).with_hint(format!("remove {old}")));
        }
    }
    Ok(())
}

/// Which of them a recipe has.
fn old_keys(text: &str) -> Vec<(&'static str, &'static str)> {
    let Ok(document) = text.parse::<toml::Table>() else { return Vec::new() };
    let has = |key: &str| at(&document, key).is_some();
    let splits = has("table.split") || has("table.hide");
    let is_old = |(old, _): &(&str, &str)| has(old);
    let now = |(old, now)| if old == "table.method" && splits { (old, "table.groups_by") } else { (old, now) };
    OLD.into_iter().filter(is_old).map(now).collect()
}

/// The recipe with its old keys under their new names.
fn moved(text: &str, old: &[(&str, &str)]) -> Option<toml::Table> {
    let mut document: toml::Table = text.parse().ok()?;
    for (from, to) in old {
        let mut parts: Vec<&str> = from.split('.').collect();
        let name = parts.pop()?;
        let table = parts.iter().try_fold(&mut document, |table, part| table.get_mut(*part)?.as_table_mut())?;
        let mut value = table.remove(name)?;
        // Counts were written as decimals, and are whole numbers now.
        if *to == "limits.dependency_rules" {
            value = value.as_float().map_or(value, |n| toml::Value::Integer(n as i64));
        }
        let mut parts: Vec<&str> = to.split('.').collect();
        let name = parts.pop()?;
        let mut table = &mut document;
        for part in parts {
            table = table.entry(part).or_insert_with(|| toml::Value::Table(toml::Table::new())).as_table_mut()?;
        }
        table.insert(name.to_owned(), value);
    }
    for section in ["measure", "table"] {
        let empty = |table: &toml::Value| table.as_table().is_some_and(toml::Table::is_empty);
        if let Some(section) = document.get_mut(section).and_then(toml::Value::as_table_mut)
            && section.get("at_most").is_some_and(empty)
        {
            section.remove("at_most");
        }
    }
    Some(document)
}

/// The keys that were written, as `table.criteria.l`.
pub fn given(written: &Written) -> Vec<String> {
    fn add(prefix: &str, value: &serde_json::Value, keys: &mut Vec<String>) {
        match value {
            serde_json::Value::Object(fields) => {
                let dot = if prefix.is_empty() { "" } else { "." };
                fields.iter().for_each(|(name, value)| add(&format!("{prefix}{dot}{name}"), value, keys));
            }
            serde_json::Value::Null => {}
            // Switches that are off unless they are written.
            serde_json::Value::Bool(false) if ["protect.paper_literal", "table.as_is"].contains(&prefix) => {}
            serde_json::Value::Array(all) if all.is_empty() => {}
            _ => keys.push(prefix.to_owned()),
        }
    }
    let mut keys = Vec::new();
    add("", &serde_json::to_value(written).unwrap_or_default(), &mut keys);
    keys
}

/// Where a key such as `protect.k` stands; the table it would be in if it is missing.
pub fn place_of(text: &str, file: &str, key: &str) -> Place {
    let Ok(document) = DeTable::parse(text) else { return Place::file(file) };
    // It may stand there by its old name.
    let key = old_keys(text).into_iter().find(|(_, now)| *now == key).map_or(key, |(old, _)| old);
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
