//! The part of a recipe that is about tables: `[table]`, as written and resolved.
//!
//! Promises:   every column has the role that somebody gave it: there are no defaults; criteria that mean nothing are refused
//!             with their key
//! Checked by: `crates/disjoin-cli/tests/it/table.rs`

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::attack::dependency::Options;
use crate::data::table::Role;
use crate::error::{Error, Result};
use crate::knowledge::background::{Estimator, Knowledge};
use crate::protect::tabular::{Method, Params};
use crate::read::rows::Declared;
use crate::release::generalized::Associations;
use crate::release::privacy_models::{Criterion, Distance};

/// Rows that fit nowhere may be removed up to this share.
const MOST_REMOVED: f64 = 0.05;

/// Rows of people: which columns there are, and what their classes must be like.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Written {
    /// Columns that others may know, and with which people can be found: they are generalised.
    pub quasi: Vec<String>,
    /// Columns that nobody may learn about a person: published as they are, in classes.
    pub sensitive: Vec<String>,
    /// Columns that name people: never published.
    pub identifier: Vec<String>,
    /// Columns that neither help to find people nor are worth hiding: published as they are.
    pub other: Vec<String>,
    /// The column with a list of terms of each person, if there is one: published in chunks, within the classes.
    pub set: Option<String>,
    /// Columns of numbers.
    pub numeric: Vec<String>,
    /// Texts that mean that there is no value, besides empty cells.
    pub missing: Vec<String>,
    /// Columns and the file that says what generalises what in them; relative ones start at the folder of the recipe.
    pub hierarchies: BTreeMap<String, String>,
    /// How classes are made.
    pub method: Option<Method>,
    /// If quasi-identifiers and sensitive columns are to be published apart: break-merge or anatomy.
    pub split: Option<Splitting>,
    /// Whether the table is anonymous already: rows with the same quasi-identifiers are the groups of break-merge.
    pub as_is: bool,
    /// If rules from quasi-identifiers to sensitive values are to be hidden: from which confidence and support on.
    pub hide: Option<Associations>,
    /// The greatest share of rows that may be removed.
    pub most_removed: Option<f64>,
    /// For methods that draw.
    pub seed: Option<u64>,
    /// What every class must satisfy, besides the k of `[protect]`.
    pub criteria: Criteria,
    /// What the adversary knows of how sensitive values go with quasi-identifiers.
    pub knowledge: Option<Knowledge>,
    /// How dependencies between the columns of the release are looked for.
    pub dependencies: Dependencies,
    /// The worst that is put up with; what is missing has no limit.
    pub at_most: AtMost,
}

/// How dependencies between columns are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Dependencies {
    /// Who has a sensitive value with a probability above it is at risk.
    pub alpha: f64,
    /// How likely it may be that anything is reported where columns are independent.
    pub level: f64,
}

impl Default for Dependencies {
    fn default() -> Self {
        let Options { alpha, level, .. } = Options::default();
        Dependencies { alpha, level }
    }
}

impl Dependencies {
    /// What the attack is asked.
    pub fn options(&self) -> Options {
        Options { alpha: self.alpha, level: self.level, ..Options::default() }
    }
}

/// How quasi-identifiers and sensitive columns are published apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Splitting {
    /// Quasi-identifiers as classes show them.
    BreakMerge,
    /// Quasi-identifiers as they are, in groups of different sensitive values.
    Anatomy,
}

impl Splitting {
    /// Its name as people write it.
    pub fn name(self) -> &'static str {
        match self {
            Splitting::BreakMerge => "break-merge",
            Splitting::Anatomy => "anatomy",
        }
    }
}

/// What every class must satisfy; each key is one more criterion.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Criteria {
    /// So many different sensitive values: at least 2.
    pub l: Option<u32>,
    /// Sensitive values as uncertain as so many equally likely ones.
    pub entropy_l: Option<f64>,
    /// Recursive (c,l)-diversity: [c, l].
    pub recursive: Option<(f64, u32)>,
    /// The highest share of a sensitive value.
    pub alpha: Option<f64>,
    /// t-closeness: how far the sensitive values of a class may be from those of all rows.
    pub t: Option<f64>,
    /// How far apart two sensitive values are, for t: ordered, equal or hierarchical.
    pub distance: Option<Distance>,
    /// beta-likeness: by how much more frequent a sensitive value may be than in all rows.
    pub beta: Option<f64>,
    /// Whether beta-likeness bounds frequent values more tightly.
    pub enhanced: Option<bool>,
    /// How far beliefs about two rows of a class may be apart, in bits, for someone who knows how values go together.
    pub background: Option<f64>,
    /// Of a split table: how likely all sensitive values of a person may be guessed, also if one of them is known.
    pub knowledge_breach: Option<f64>,
}

/// The worst that is put up with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AtMost {
    /// The mean loss of a cell, removed rows counting as lost (GCP).
    pub loss: Option<f64>,
    /// The median relative error of counts.
    pub query_error: Option<f64>,
    /// How much beliefs about a person change on average by seeing the release, in bits.
    pub privacy_loss: Option<f64>,
    /// Of a split table: how far sensitive values together are from what their tables suggest, on average over rows.
    pub joint_loss: Option<f64>,
    /// How many rules between columns lead to a sensitive value with a probability above `table.dependencies.alpha`.
    pub risks: Option<f64>,
}

/// What a recipe asks of a table, with nothing left open.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Table {
    /// What each column is for.
    pub declared: Declared,
    /// How classes are made.
    pub method: Method,
    /// If the table is to be split: how.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<Splitting>,
    /// Whether rows with the same quasi-identifiers are classes as they are.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub as_is: bool,
    /// Which rules are to be hidden, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hide: Option<Associations>,
    /// What every class must satisfy.
    pub criteria: Vec<Criterion>,
    /// The greatest share of rows that may be removed.
    pub most_removed: f64,
    /// For methods that draw.
    pub seed: u64,
    /// What the adversary knows.
    pub knowledge: Knowledge,
    /// How dependencies are looked for.
    pub dependencies: Dependencies,
    /// The worst that is put up with.
    pub at_most: AtMost,
}

impl Table {
    /// What the methods are asked.
    pub fn params(&self) -> Params {
        let Table { method, criteria, most_removed, seed, .. } = self.clone();
        Params { method, criteria, most_removed, seed }
    }

    /// Whether beliefs are part of what is asked.
    pub fn limits_beliefs(&self) -> bool {
        self.criteria.iter().any(|criterion| matches!(criterion, Criterion::Background { .. }))
    }
}

/// Fills in what is missing and refuses what has no meaning. Relative files start at `folder`. Keys in errors are those of the
/// recipe.
pub fn resolve(written: &Written, k: u32, folder: &Path, list_separator: Option<u8>) -> Result<Table> {
    let role = |names: &[String], role: Role| -> Vec<(String, Role)> {
        names.iter().map(|name| (name.clone(), role)).collect()
    };
    let roles = [
        role(&written.quasi, Role::Quasi),
        role(&written.sensitive, Role::Sensitive),
        role(&written.identifier, Role::Identifier),
        role(&written.other, Role::Other),
        role(written.set.as_slice(), Role::Set),
    ]
    .concat();
    if written.quasi.is_empty() {
        let problem = "names no column: there is nothing to generalise";
        return Err(Error::recipe("table.quasi", problem, "name the columns that others may know of a person"));
    }
    let most_removed = written.most_removed.unwrap_or(MOST_REMOVED);
    if !(0.0..1.0).contains(&most_removed) {
        return Err(Error::recipe("table.most_removed", "is not a share from 0 to below 1", "for example 0.05"));
    }
    let hierarchies = written.hierarchies.iter().map(|(column, file)| (column.clone(), folder.join(file))).collect();
    let mut knowledge = written.knowledge.clone().unwrap_or_default();
    if let Estimator::File(path) = &mut knowledge.estimator {
        *path = folder.join(PathBuf::from(&*path));
    }
    let table = Table {
        declared: Declared {
            roles,
            rest: None,
            numeric: written.numeric.clone(),
            missing: written.missing.clone(),
            hierarchies,
            list_separator,
        },
        method: written.method.unwrap_or_default(),
        split: written.split,
        as_is: written.as_is,
        hide: written.hide,
        criteria: criteria(&written.criteria, k)?,
        most_removed,
        // What Anatomy draws is what protects: nobody may guess it.
        seed: written.seed.unwrap_or_else(|| if written.split == Some(Splitting::Anatomy) { fresh_seed() } else { 1 }),
        knowledge,
        dependencies: written.dependencies,
        at_most: written.at_most,
    };
    check_split(written)?;
    check_hide(written, &table.criteria)?;
    if written.sensitive.is_empty()
        && let Some(criterion) = table.criteria.iter().find(|criterion| criterion.needs_sensitive())
    {
        let problem = format!("names no column, but classes must have {}", criterion.text());
        return Err(Error::recipe("table.sensitive", problem, "name the sensitive column, or drop the criterion"));
    }
    for (key, limit) in [
        ("table.at_most.loss", table.at_most.loss),
        ("table.at_most.query_error", table.at_most.query_error),
        ("table.at_most.privacy_loss", table.at_most.privacy_loss),
        ("table.at_most.joint_loss", table.at_most.joint_loss),
        ("table.at_most.risks", table.at_most.risks),
    ] {
        if limit.is_some_and(|limit| !(limit >= 0.0 && limit.is_finite())) {
            return Err(Error::recipe(key, "must be 0 or more", "for example 0.1"));
        }
    }
    let Dependencies { alpha, level } = table.dependencies;
    for (key, share) in [("table.dependencies.alpha", alpha), ("table.dependencies.level", level)] {
        if !(0.0..=1.0).contains(&share) {
            return Err(Error::recipe(key, "must be from 0 to 1", "for example 0.05"));
        }
    }
    if table.at_most.risks.is_some() && written.sensitive.is_empty() {
        let problem = "is about sensitive columns, and there are none";
        return Err(Error::recipe("table.at_most.risks", problem, "name them in table.sensitive, or remove the limit"));
    }
    Ok(table)
}

/// A seed that nobody can guess: every RandomState has keys from the system's generator.
fn fresh_seed() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::collections::hash_map::RandomState::new().build_hasher().finish()
}

/// Refuses what does not go with hiding rules.
fn check_hide(written: &Written, criteria: &[Criterion]) -> Result<()> {
    let Some(rules) = written.hide else { return Ok(()) };
    if written.split.is_some() || written.set.is_some() {
        let problem = "goes neither with a split table nor with a set-valued column";
        return Err(Error::recipe("table.hide", problem, "remove one of them"));
    }
    if let Some(criterion) = criteria.iter().find(|criterion| criterion.needs_sensitive()) {
        let problem = format!("generalises sensitive values: classes may then not have {}", criterion.text());
        return Err(Error::recipe("table.hide", problem, "ask for k only"));
    }
    if written.sensitive.is_empty() {
        let problem = "names no column: there is nothing to hide";
        return Err(Error::recipe("table.sensitive", problem, "name the columns that nobody may learn about a person"));
    }
    rules.check(written.quasi.len()).map_err(|error| match error {
        Error::Recipe { key, problem, hint } => {
            let key = match key {
                "confidence" => "table.hide.confidence",
                "support" => "table.hide.support",
                _ => "table.quasi",
            };
            Error::Recipe { key, problem, hint }
        }
        other => other,
    })
}

/// Refuses what does not go with how a table is published.
fn check_split(written: &Written) -> Result<()> {
    let refuse = |key, problem: &str, hint: &str| Err(Error::recipe(key, problem, hint));
    let Some(split) = written.split else {
        if written.at_most.joint_loss.is_some() {
            let hint = "choose break-merge or anatomy, or remove it";
            return refuse("table.at_most.joint_loss", "is for split tables", hint);
        }
        return match (written.criteria.knowledge_breach.is_some(), written.as_is) {
            (true, _) => refuse(
                "table.criteria.knowledge_breach",
                "is for split tables: elsewhere the sensitive values of a row stand side by side",
                "choose break-merge or anatomy, or remove it",
            ),
            (_, true) => refuse("table.as_is", "is for break-merge", "choose break-merge, or remove it"),
            _ => Ok(()),
        };
    };
    let apart = "declare them as quasi-identifiers, as sensitive (each then gets a table of its own), or as identifiers, which \
                 are left out";
    match () {
        () if written.sensitive.is_empty() => refuse(
            "table.sensitive",
            "names no column: there is nothing to publish apart",
            "name the columns that nobody may learn about a person",
        ),
        () if !written.other.is_empty() => refuse(
            "table.other",
            "columns that are neither quasi-identifiers nor sensitive may tell which of those belong together",
            apart,
        ),
        () if written.at_most.privacy_loss.is_some() => refuse(
            "table.at_most.privacy_loss",
            "is not measured of split tables",
            "limit table.criteria.knowledge_breach instead",
        ),
        () if written.set.is_some() => refuse("table.set", "cannot be part of a split table", apart),
        () if split == Splitting::BreakMerge && written.as_is && written.method.is_some() => {
            refuse("table.as_is", "leaves nothing to do for a method that makes classes", "give one of the two")
        }
        () if written.as_is && written.criteria.background.is_some() => refuse(
            "table.criteria.background",
            "is not looked at where rows are groups as they are",
            "remove it, or let a method make the groups",
        ),
        () if split == Splitting::Anatomy && (written.method.is_some() || written.as_is) => {
            refuse("table.method", "anatomy makes its own groups", "remove the method, or choose break-merge")
        }
        () if split == Splitting::Anatomy && written.criteria.l.is_none() => refuse(
            "table.criteria.l",
            "is needed: anatomy makes groups of l different sensitive values",
            "for example 3",
        ),
        () if split == Splitting::Anatomy && written.criteria.background.is_some() => {
            refuse("table.criteria.background", "is not looked at by anatomy", "remove it, or choose break-merge")
        }
        () => Ok(()),
    }
}

/// The criteria, in the order in which they are told.
fn criteria(written: &Criteria, k: u32) -> Result<Vec<Criterion>> {
    let &Criteria { l, entropy_l, recursive, alpha, t, distance, beta, enhanced, background, knowledge_breach } =
        written;
    if distance.is_some() && t.is_none() {
        let hint = "add t, for example 0.2, or remove the distance";
        return Err(Error::recipe("table.criteria.distance", "is for t-closeness, and t is missing", hint));
    }
    if enhanced.is_some() && beta.is_none() {
        let hint = "add beta, for example 2, or remove enhanced";
        return Err(Error::recipe("table.criteria.enhanced", "is for beta-likeness, and beta is missing", hint));
    }
    let distance = distance.unwrap_or(Distance::Equal);
    let all = [
        ("protect.k", Some(Criterion::KAnonymity { k })),
        ("table.criteria.l", l.map(|l| Criterion::DistinctDiversity { l })),
        ("table.criteria.entropy_l", entropy_l.map(|l| Criterion::EntropyDiversity { l })),
        ("table.criteria.recursive", recursive.map(|(c, l)| Criterion::RecursiveDiversity { c, l })),
        ("table.criteria.alpha", alpha.map(|alpha| Criterion::Frequency { alpha })),
        ("table.criteria.t", t.map(|t| Criterion::Closeness { t, distance })),
        ("table.criteria.beta", beta.map(|beta| Criterion::Likeness { beta, enhanced: enhanced.unwrap_or(true) })),
        ("table.criteria.knowledge_breach", knowledge_breach.map(|most| Criterion::KnowledgeBreach { most })),
        ("table.criteria.background", background.map(|t| Criterion::Background { t })),
    ];
    let mut criteria = Vec::new();
    for (key, criterion) in all {
        let Some(criterion) = criterion else { continue };
        criterion.check().map_err(|error| match error {
            Error::Recipe { problem, hint, .. } => Error::Recipe { key, problem, hint },
            other => other,
        })?;
        criteria.push(criterion);
    }
    Ok(criteria)
}
