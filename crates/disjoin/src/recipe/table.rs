//! The part of a recipe that is about tables: `[table]`, as written and resolved.
//!
//! Promises:   every column has the role that somebody gave it: there are no defaults; criteria that mean nothing are refused
//!             with their key
//! Checked by: `crates/disjoin-cli/tests/it/table.rs`

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::method as registry;
use crate::attack::dependency::Options;
use crate::data::table::Role;
use crate::error::{Error, Result};
use crate::knowledge::background::{Estimator, Knowledge};
use crate::protect::tabular::{Method, Params};
use crate::read;
use crate::read::rows::Declared;
use crate::read::values::{DateOrder, Decimal};
use crate::release::generalized::Associations;
use crate::release::privacy_models::{Criterion, Distance};

/// Records that fit nowhere may be suppressed up to this share.
const SUPPRESSION_LIMIT: f64 = 0.05;

/// Where methods start that draw, and whose draws protect nobody.
const SEED: u64 = 1;

/// Rows of people: which columns there are, and what their classes must be like.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Written {
    /// Quasi-identifiers: columns that others may know, and by which people can be singled out. They are generalised.
    pub quasi: Vec<String>,
    /// Sensitive attributes: columns that nobody may learn about a person. They are published as they are, in equivalence classes.
    pub sensitive: Vec<String>,
    /// Direct identifiers: columns that name people. They are never published.
    pub identifier: Vec<String>,
    /// Insensitive attributes: they neither help to single out people nor need protection. They are published as they are.
    pub insensitive: Vec<String>,
    /// The column with a list of terms of each person, if there is one: published in chunks, within the classes.
    pub set: Option<String>,
    /// Columns of numbers.
    pub numeric: Vec<String>,
    /// Columns of dates: 2024-12-31, 31.12.2024 or 12/31/2024. They are generalised by month, quarter, year and decade.
    pub dates: Vec<String>,
    /// The order of day and month, dmy or mdy, where the dates of a column do not show it.
    pub date_order: Option<DateOrder>,
    /// What stands before decimals, point or comma, where the numbers of a column do not show it.
    pub decimal: Option<Decimal>,
    /// Columns of codes, as postcodes: generalised by what they begin with.
    pub prefixes: Vec<String>,
    /// Quasi-identifiers whose cells are names, also if they look like numbers or dates.
    pub words: Vec<String>,
    /// Sensitive and insensitive attributes that may be published as they are, though they are near-unique or free text.
    pub publish_as_is: Vec<String>,
    /// Columns whose role is not decided yet: the recipe cannot be run until they have one.
    pub undecided: Vec<String>,
    /// Texts that mean that there is no value, besides empty cells.
    pub missing: Vec<String>,
    /// Columns and the files of their hierarchies of generalisation; relative ones start at the folder of the recipe.
    pub hierarchies: BTreeMap<String, String>,
    /// Of break-merge and association-hiding: how classes are made.
    pub groups_by: Option<Method>,
    /// Whether the table is anonymous already: rows with the same quasi-identifiers are the groups of break-merge.
    pub as_is: bool,
    /// If rules from quasi-identifiers to sensitive values are to be hidden: from which confidence and support on.
    pub hide: Option<Associations>,
    /// The suppression limit: the greatest share of records that may be suppressed.
    pub suppression_limit: Option<f64>,
    /// Where burel's draws start: harmless, for what is promised is read off the classes, whichever rows were drawn. What anatomy
    /// draws protects people: a seed is refused, but for a demonstration.
    pub seed: Option<u64>,
    /// Whether anatomy draws from the seed: for demonstrations and tests. The release promises nothing, as its claim declares.
    pub demonstration: Option<bool>,
    /// What every class must satisfy, besides the k of `[protect]`.
    pub criteria: Criteria,
    /// What the adversary knows of how sensitive values go with quasi-identifiers.
    pub knowledge: Option<Knowledge>,
    /// How dependencies between the columns of the release are looked for.
    pub dependencies: Option<Dependencies>,
}

/// How dependencies between columns are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Dependencies {
    /// A person who has a sensitive value with a probability above it is at risk.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// How far beliefs about two rows of a class may be apart, in bits, for an adversary who knows how values go together.
    pub background: Option<f64>,
    /// Of a split table: how likely all sensitive values of a person may be guessed, also if one of them is known.
    pub knowledge_breach: Option<f64>,
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
    /// The greatest share of records that may be suppressed.
    pub suppression_limit: f64,
    /// Where draws start, if somebody says it. Where chance protects, only of a demonstration.
    pub seed: Option<u64>,
    /// Whether chance that should protect comes from the seed: nothing is promised then.
    pub demonstration: bool,
    /// What the adversary knows.
    pub knowledge: Knowledge,
    /// How dependencies are looked for.
    pub dependencies: Dependencies,
}

impl Table {
    /// What the methods are asked.
    pub fn params(&self) -> Params {
        let Table { method, criteria, suppression_limit, seed, .. } = self.clone();
        Params { method, criteria, most_removed: suppression_limit, seed: seed.unwrap_or(SEED) }
    }

    /// Whether beliefs are part of what is asked.
    pub fn limits_beliefs(&self) -> bool {
        self.criteria.iter().any(|criterion| matches!(criterion, Criterion::Background { .. }))
    }
}

/// Fills in what is missing and refuses what has no meaning. Relative files start at `folder`.
pub fn resolve(
    written: &Written,
    method: registry::Method,
    k: u32,
    folder: &Path,
    input: &read::Options,
) -> Result<Table> {
    if !written.undecided.is_empty() {
        let problem = format!("these columns have no role yet: {}", written.undecided.join(", "));
        let hint = "move each to quasi, sensitive, identifier or insensitive, and remove the key";
        return Err(Error::recipe("table.undecided", problem, hint));
    }
    if written.quasi.is_empty() {
        let problem = "names no column: there is nothing to generalise";
        return Err(Error::recipe("table.quasi", problem, "name the columns that others may know of a person"));
    }
    let suppression_limit = written.suppression_limit.unwrap_or(SUPPRESSION_LIMIT);
    if !(0.0..1.0).contains(&suppression_limit) {
        return Err(Error::recipe("table.suppression_limit", "is not a share from 0 to below 1", "for example 0.05"));
    }
    let split = method.splitting();
    let hide = (method == registry::Method::AssociationHiding).then(|| written.hide.unwrap_or_default());
    check_split(written, split)?;
    let criteria = criteria(&written.criteria, k)?;
    check_hide(written, hide, &criteria)?;
    if written.sensitive.is_empty()
        && let Some(criterion) = criteria.iter().find(|criterion| criterion.needs_sensitive())
    {
        let problem = format!("names no column, but classes must have {}", criterion.text());
        return Err(Error::recipe("table.sensitive", problem, "name the sensitive column, or drop the criterion"));
    }
    let mut knowledge = written.knowledge.clone().unwrap_or_default();
    if let Estimator::File(path) = &mut knowledge.estimator {
        *path = folder.join(PathBuf::from(&*path));
    }
    let dependencies = written.dependencies.unwrap_or_default();
    let Dependencies { alpha, level } = dependencies;
    for (key, share) in [("table.dependencies.alpha", alpha), ("table.dependencies.level", level)] {
        if !(0.0..=1.0).contains(&share) {
            return Err(Error::recipe(key, "must be from 0 to 1", "for example 0.05"));
        }
    }
    Ok(Table {
        declared: declared(written, folder, input),
        method: method.classes().or(written.groups_by).unwrap_or_default(),
        split,
        as_is: written.as_is,
        hide,
        criteria,
        suppression_limit,
        seed: seed(written, split)?,
        demonstration: written.demonstration.unwrap_or(false),
        knowledge,
        dependencies,
    })
}

fn declared(written: &Written, folder: &Path, input: &read::Options) -> Declared {
    let role = |names: &[String], role: Role| -> Vec<(String, Role)> {
        names.iter().map(|name| (name.clone(), role)).collect()
    };
    let roles = [
        role(&written.quasi, Role::Quasi),
        role(&written.sensitive, Role::Sensitive),
        role(&written.identifier, Role::Identifier),
        role(&written.insensitive, Role::Other),
        role(written.set.as_slice(), Role::Set),
    ];
    let hierarchies = written.hierarchies.iter().map(|(column, file)| (column.clone(), folder.join(file))).collect();
    Declared {
        roles: roles.concat(),
        rest: None,
        numeric: written.numeric.clone(),
        missing: written.missing.clone(),
        hierarchies,
        dates: written.dates.clone(),
        prefixes: written.prefixes.clone(),
        words: written.words.clone(),
        date_order: written.date_order,
        decimal: written.decimal,
        publish_as_is: written.publish_as_is.clone(),
        detect: true,
        list_separator: input.list_separator,
        person: input.person.clone(),
        visits: input.visits,
    }
}

/// What Anatomy draws is what protects: nobody may know it, so it comes from the system's generator.
fn seed(written: &Written, split: Option<Splitting>) -> Result<Option<u64>> {
    match (written.seed, split, written.demonstration.unwrap_or(false)) {
        (Some(_), Some(Splitting::Anatomy), false) => {
            let problem = "would let others draw the same groups again, and conclude whose value is whose";
            let hint = "leave it out, or ask for a demonstration, which promises nothing";
            Err(Error::recipe("table.seed", problem, hint))
        }
        (None, _, true) => {
            Err(Error::recipe("table.demonstration", "needs a seed", "give a seed, 1 or any other number"))
        }
        (seed, ..) => Ok(seed),
    }
}

/// Refuses what does not go with hiding rules.
fn check_hide(written: &Written, hide: Option<Associations>, criteria: &[Criterion]) -> Result<()> {
    let Some(rules) = hide else { return Ok(()) };
    if written.set.is_some() {
        let problem = "does not go with a set-valued column";
        return Err(Error::recipe("protect.method", problem, "remove one of them"));
    }
    if let Some(criterion) = criteria.iter().find(|criterion| criterion.needs_sensitive()) {
        let problem = format!("generalises sensitive values: classes may then not have {}", criterion.text());
        return Err(Error::recipe("protect.method", problem, "ask for k only"));
    }
    if written.sensitive.is_empty() {
        let problem = "names no column: there is nothing to hide";
        return Err(Error::recipe("table.sensitive", problem, "name the columns that nobody may learn about a person"));
    }
    rules.check(written.quasi.len()).map_err(|error| match error {
        Error::Recipe { key, problem, hint } => {
            let key = match &*key {
                "confidence" => "table.hide.confidence",
                "support" => "table.hide.support",
                _ => "table.quasi",
            };
            Error::Recipe { key: key.into(), problem, hint }
        }
        other => other,
    })
}

/// Refuses what does not go with how a table is published.
fn check_split(written: &Written, split: Option<Splitting>) -> Result<()> {
    let refuse = |key: &'static str, problem: &str, hint: &str| Err(Error::recipe(key, problem, hint));
    let Some(split) = split else {
        return match written.criteria.knowledge_breach.is_some() {
            true => refuse(
                "table.criteria.knowledge_breach",
                "is for split tables: elsewhere the sensitive values of a row stand side by side",
                "choose break-merge or anatomy, or remove it",
            ),
            false => Ok(()),
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
        () if !written.insensitive.is_empty() => refuse(
            "table.insensitive",
            "columns that are neither quasi-identifiers nor sensitive may disclose which of those belong together",
            apart,
        ),
        () if written.set.is_some() => refuse("table.set", "cannot be part of a split table", apart),
        () if split == Splitting::BreakMerge && written.as_is && written.groups_by.is_some() => {
            refuse("table.as_is", "leaves nothing to do for a method that makes classes", "give one of the two")
        }
        () if written.as_is && written.criteria.background.is_some() => refuse(
            "table.criteria.background",
            "is not looked at where rows are groups as they are",
            "remove it, or let a method make the groups",
        ),
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

/// The criteria, in the order in which they are published.
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
            Error::Recipe { problem, hint, .. } => Error::Recipe { key: key.into(), problem, hint },
            other => other,
        })?;
        criteria.push(criterion);
    }
    Ok(criteria)
}
