//! Everything that a run found out, of whatever form, and what reports are made from.
//!
//! Told in full it belongs into custody: utility and risk were counted in the original. The public page shows only what follows
//! from the release and its claim.

use serde::{Deserialize, Serialize};

use super::page::{Page, Part, Section, count, number};
use super::{Audience, Tried, classes, disassociated, noisy, recoded, split};
use crate::attack::semantic::summary as semantic;
use crate::attack::summary::Summary;
use crate::attack::surviving::{BeliefTold, Surviving, Valued};
use crate::attack::{BreachReport, NetworkBreach, PersonBreach};
use crate::audit::TableAudit;
use crate::data::{People, Visits};
use crate::inspect::Risk;
use crate::measure::{self, NoisyReport, RecodedReport, SplitReport, TableReport};
use crate::read::rows::ColumnReading;
use crate::recipe::Recipe;
use crate::reconstruct::Estimate;
use crate::release::{self, Claim, Form, NoisyClaim, Promise, RecodedClaim, SplitClaim, TableClaim};
use crate::repair::{self, regroup};
use crate::verify::{NoisyVerdict, RecodedVerdict, SetsVerdict, TableVerdict, Verdict};

/// What a run did and found out. Nothing in it is about one person, but for terms of findings, which no page shows.
#[derive(Debug, Clone)]
pub struct Run {
    /// What was asked for, with all defaults.
    pub recipe: Recipe,
    /// Records or rows of the original.
    pub records: u64,
    /// Different terms of the original, of sets.
    pub terms: u64,
    /// How it was read.
    pub input: AsRead,
    /// Who could be singled out in the data as it was.
    pub before: Before,
    /// What is promised about the release.
    pub claim: AnyClaim,
    /// Protection, and repairs after it.
    pub rounds: Vec<Round>,
    /// What the release is still good for.
    pub utility: Utility,
    /// Whether the promise is proved and every limit is kept.
    pub judgement: Judgement,
    /// Seconds that each stage took, in the order of the stages.
    pub seconds: Vec<(String, f64)>,
    /// How columns of a table were read, where that is not plain.
    pub readings: Vec<ColumnReading>,
    /// Whose rows were read, if a column names people.
    pub people: Option<People>,
    /// What its maker should know before it is published.
    pub warnings: Vec<String>,
}

/// How an original was read.
#[derive(Debug, Clone, Default, Serialize)]
pub struct AsRead {
    /// As custody.json has it.
    #[serde(flatten)]
    pub told: serde_json::Map<String, serde_json::Value>,
    /// In a few words.
    #[serde(skip)]
    pub how: String,
    /// What was left out, collapsed or repaired, in sentences.
    pub notes: Vec<String>,
}

impl AsRead {
    /// The part of a report inside that tells of it.
    fn section(&self) -> Section {
        let mut parts = vec![Part::Text(format!("Read as {}.", self.how))];
        match self.notes.is_empty() {
            true => parts.push(Part::Text("Nothing was left out, collapsed or repaired on reading.".into())),
            false => parts.extend(self.notes.iter().map(|note| Part::Text(format!("{note}.")))),
        }
        Section { id: "input", heading: "How the data were read", parts }
    }
}

/// A claim of any form.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum AnyClaim {
    /// Of disassociated data.
    Disassociated(Claim),
    /// Of a table in equivalence classes.
    Classes(TableClaim),
    /// Of a split table.
    Split(SplitClaim),
    /// Of recoded transactions.
    Recoded(RecodedClaim),
    /// Of a noisy release.
    Noisy(NoisyClaim),
}

impl AnyClaim {
    /// What `verify` takes from the claim as it is.
    pub fn unchecked(&self, with_original: bool) -> Vec<Unchecked> {
        let fields = match self {
            AnyClaim::Disassociated(claim) => claim.unchecked(with_original),
            AnyClaim::Classes(claim) => claim.unchecked(with_original),
            AnyClaim::Split(claim) => claim.unchecked(with_original),
            AnyClaim::Recoded(claim) => claim.unchecked(with_original),
            AnyClaim::Noisy(claim) => claim.unchecked(with_original),
        };
        fields.into_iter().map(|(field, why)| Unchecked { what: field, why: why.to_owned() }).collect()
    }

    /// If records are counted by people: what became of several rows of one.
    pub fn people(&self) -> Option<Visits> {
        match self {
            AnyClaim::Disassociated(claim) => claim.people,
            AnyClaim::Classes(claim) => claim.people,
            AnyClaim::Split(claim) => claim.people,
            AnyClaim::Recoded(claim) => claim.people,
            AnyClaim::Noisy(claim) => claim.people,
        }
    }

    /// The files of the release that `verify` reads.
    pub fn files(&self) -> Vec<String> {
        let names: &[&str] = match self {
            AnyClaim::Disassociated(_) => &["data.jsonl", "data.parquet"],
            AnyClaim::Classes(claim) if claim.sets.is_some() => {
                &[release::generalized::DATA, release::class_sets::FILE_NAME]
            }
            AnyClaim::Classes(_) => &[release::generalized::DATA],
            AnyClaim::Split(_) => &[release::split::QUASI],
            AnyClaim::Recoded(_) => &[release::recoded::TRANSACTIONS],
            AnyClaim::Noisy(_) => &[release::noisy::DATA, release::noisy::UNIVERSE],
        };
        let mut files: Vec<String> = ["claim.json"].iter().chain(names).map(|&name| name.to_owned()).collect();
        if let AnyClaim::Split(claim) = self {
            files.extend(claim.files.iter().map(|file| file.file.clone()));
        }
        files
    }
}

/// Something of a release that `verify` did not check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unchecked {
    /// A field of the claim, or a file.
    pub what: String,
    /// Why not.
    pub why: String,
}

/// Who could be singled out in the data as it was.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Before {
    /// By few terms.
    Sets(Risk),
    /// By quasi-identifiers.
    Table {
        /// Rows that share theirs with fewer than k.
        at_risk: u64,
        /// All rows.
        rows: u64,
    },
    /// Nothing was counted.
    Nothing,
}

/// A release, proved and attacked.
#[derive(Debug, Clone, Serialize)]
pub struct Round {
    /// What the repair before it changed; nothing for the first round, in which the data was protected.
    pub repaired: Option<Repaired>,
    /// Whether it keeps its promise.
    pub proof: Proof,
    /// What the attacks found in it.
    pub attacked: Attacked,
}

/// What a repair did.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Repaired {
    /// Terms were moved to term chunks.
    Chunks(repair::Stats),
    /// Members of groups changed places.
    Groups(Box<regroup::Stats>),
}

/// Whether a release keeps its promise, and what was looked at.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Proof {
    /// Of disassociated data.
    Disassociated(Verdict),
    /// Of a table in equivalence classes.
    Classes {
        /// Whether both hold.
        holds: bool,
        /// Its classes.
        #[serde(flatten)]
        table: TableVerdict,
        /// The sets inside them.
        #[serde(skip_serializing_if = "Option::is_none")]
        sets: Option<SetsVerdict>,
        /// What the classes keep, whatever is promised.
        actual: Box<TableAudit>,
    },
    /// Of a split table.
    Split(TableVerdict),
    /// Of recoded transactions.
    Recoded(RecodedVerdict),
    /// Of a noisy release.
    Noisy(NoisyVerdict),
}

impl Proof {
    /// Whether the promise is kept, and something is promised.
    pub fn holds(&self) -> bool {
        match self {
            Proof::Disassociated(verdict) => verdict.holds,
            Proof::Classes { holds, .. } => *holds,
            Proof::Split(verdict) => verdict.holds,
            Proof::Recoded(verdict) => verdict.holds,
            Proof::Noisy(verdict) => verdict.holds,
        }
    }
}

/// What attacks found.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Attacked {
    /// In disassociated data.
    Disassociated {
        /// What was found.
        #[serde(flatten)]
        summary: Summary,
        /// Whom true findings are about, for custody: record, attack, cluster.
        #[serde(skip)]
        people: Vec<(u32, &'static str, u32)>,
    },
    /// In a table in equivalence classes.
    Classes {
        /// What somebody with background knowledge infers, if the original is at hand.
        #[serde(flatten)]
        inference: Option<Tried>,
        /// Which dependencies survive, if a column is sensitive.
        dependencies: Option<Dependencies>,
        /// What the classes show to anybody.
        actual: Option<Box<TableAudit>>,
    },
    /// In a split table.
    Split {
        /// How likely values are guessed.
        #[serde(flatten)]
        breach: Option<BreachReport>,
        /// How likely by somebody who knows how they go together.
        network: Option<NetworkBreach>,
        /// What the release promises of it.
        #[serde(skip)]
        promised: Option<f64>,
        /// Whether that somebody learned from other people.
        #[serde(skip)]
        is_outside: bool,
        /// Which dependencies survive.
        dependencies: Option<Dependencies>,
    },
    /// In recoded transactions.
    Recoded {
        /// What was found.
        #[serde(flatten)]
        summary: semantic::Summary,
        /// The surest eliminations in words, if terms are to be shown.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        surest: Vec<String>,
    },
    /// Nothing was tried.
    Nothing,
}

impl Attacked {
    /// Dependencies that survive, if they were looked for.
    pub fn dependencies(&self) -> Option<&Dependencies> {
        match self {
            Attacked::Classes { dependencies, .. } | Attacked::Split { dependencies, .. } => dependencies.as_ref(),
            _ => None,
        }
    }
}

/// Dependencies that survive in a release, and what follows for a person.
#[derive(Debug, Clone, Serialize)]
pub struct Dependencies {
    /// What was found.
    #[serde(flatten)]
    pub found: Surviving,
    /// If a person was named: what follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub person: Option<Believed>,
}

/// A person of whom something is known, and what follows.
#[derive(Debug, Clone, Serialize)]
pub struct Believed {
    /// By which values.
    pub target: Vec<Valued>,
    /// What else is known.
    pub known: Vec<Valued>,
    /// What follows.
    pub beliefs: Vec<BeliefTold>,
    /// Of a split table: how likely all sensitive values of the person are guessed together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub breach: Option<PersonBreach>,
}

/// What a release is still good for.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Utility {
    /// Of disassociated data.
    Disassociated(measure::Report),
    /// Of a table in equivalence classes.
    Classes(TableReport),
    /// Of a split table.
    Split(SplitReport),
    /// Of recoded transactions.
    Recoded(RecodedReport),
    /// Of a noisy release.
    Noisy(NoisyReport),
}

impl Utility {
    /// The loss by which releases of the same form are compared.
    pub fn loss(&self) -> f64 {
        match self {
            Utility::Disassociated(report) => {
                let errors: Vec<f64> = report.relative_error.iter().filter_map(|window| window.re_e.mean).collect();
                errors.iter().sum::<f64>() / errors.len().max(1) as f64
            }
            Utility::Classes(report) => report.gcp_all,
            Utility::Split(report) => report.joint.mean,
            Utility::Recoded(report) => report.ncp_all,
            Utility::Noisy(report) => report.missed,
        }
    }
}

/// Whether a promise and its limits hold.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judgement {
    /// Whether the promise is kept, if that was looked at.
    pub proved: Option<bool>,
    /// What was found, and what is allowed.
    pub limits: Vec<Limit>,
    /// Whether everything holds that was looked at.
    pub holds: bool,
}

/// Something that was found, and its limit if there is one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Limit {
    /// The key of the recipe, as `limits.certain_disclosures`.
    pub key: String,
    /// What it is about, in plain words.
    pub meaning: String,
    /// The highest value allowed; none if it is not limited.
    pub limit: Option<f64>,
    /// The value.
    pub value: f64,
    /// Whether it is kept.
    pub holds: bool,
}

impl Run {
    /// The form of the release.
    pub fn form(&self) -> Form {
        self.recipe.form()
    }

    /// The last round: the release as it is.
    pub fn last(&self) -> Option<&Round> {
        self.rounds.last()
    }

    /// Of a table: how many of its rows share their quasi-identifiers with fewer than k, and how many there are.
    pub(super) fn rows_at_risk(&self) -> (u64, u64) {
        if let Before::Table { at_risk, rows } = self.before { (at_risk, rows) } else { (0, self.records) }
    }

    /// Which reading is promised, of disassociated data.
    pub fn promise(&self) -> Option<Promise> {
        if let AnyClaim::Disassociated(claim) = &self.claim { Some(claim.promise) } else { None }
    }

    /// The report for an audience.
    pub fn page(&self, audience: Audience) -> Page {
        let page = match self.form() {
            Form::Disassociated => disassociated::Story::of(self).map(|story| disassociated::page(&story, audience)),
            Form::Classes => classes::Story::of(self).map(|story| classes::page(self, &story, audience)),
            Form::Split => split::Story::of(self).map(|story| split::page(self, &story, audience)),
            Form::Recoded => recoded::Story::of(self).map(|story| recoded::page(self, &story, audience)),
            Form::Noisy => noisy::Story::of(self).map(|story| noisy::page(self, &story, audience)),
        };
        // The parts of a run are always of one form.
        let mut page = page.unwrap_or_default();
        if audience == Audience::Inside {
            page.sections.splice(0..0, self.inside_sections());
        }
        if audience == Audience::Inside && !self.input.how.is_empty() {
            page.sections.push(self.input.section());
        }
        page
    }

    /// Warnings, and how many people have how many rows: both were counted in the original.
    fn inside_sections(&self) -> Vec<Section> {
        let texts = |texts: Vec<String>| texts.into_iter().map(Part::Text).collect();
        let warnings = (!self.warnings.is_empty()).then(|| Section {
            id: "warnings",
            heading: "Before you publish",
            parts: texts(self.warnings.clone()),
        });
        let people = self.people.as_ref().map(|people| Section {
            id: "people",
            heading: "People and rows",
            parts: texts(vec![format!(
                "Column {} names people: {}. Records are counted by people.",
                people.column,
                people_line(people)
            )]),
        });
        warnings.into_iter().chain(people).collect()
    }

    /// The report inside, for programs.
    pub fn json(&self) -> serde_json::Value {
        let told = match self.form() {
            Form::Disassociated => disassociated::Story::of(self).map(|story| super::json::json(&story)),
            Form::Classes => classes::Story::of(self).and_then(|story| self.framed(&story)),
            Form::Split => split::Story::of(self).and_then(|story| self.framed(&story)),
            Form::Recoded => recoded::Story::of(self).and_then(|story| self.framed(&story)),
            Form::Noisy => noisy::Story::of(self).and_then(|story| self.framed(&story)),
        };
        let mut told = told.unwrap_or_default();
        if let Some(fields) = told.as_object_mut() {
            if let Some(people) = self.people.as_ref().and_then(|people| serde_json::to_value(people).ok()) {
                fields.insert("people".into(), people);
            }
            if !self.warnings.is_empty() {
                fields.insert("warnings".into(), self.warnings.clone().into());
            }
            if let Ok(input) = serde_json::to_value(&self.input) {
                fields.insert("input".into(), input);
            }
        }
        told
    }

    /// What one form found out, between what was asked for and what was judged.
    fn framed(&self, found: &impl Serialize) -> Option<serde_json::Value> {
        let mut told = serde_json::json!({ "recipe": self.recipe });
        let before = match &self.before {
            Before::Table { at_risk, rows } => serde_json::json!({ "rows": rows, "at_risk": at_risk }),
            Before::Sets(risk) => {
                serde_json::json!({ "records": self.records, "terms": self.terms, "before": risk })
            }
            Before::Nothing => serde_json::json!({}),
        };
        let Judgement { limits, holds, .. } = &self.judgement;
        let after = serde_json::json!({ "limits": limits, "holds": holds, "seconds": self.seconds });
        let fields = told.as_object_mut()?;
        for part in [before, serde_json::to_value(found).ok()?, after] {
            fields.extend(part.as_object()?.clone());
        }
        if !self.readings.is_empty() {
            fields.insert("readings".into(), serde_json::to_value(&self.readings).ok()?);
        }
        Some(told)
    }
}

/// How many people have how many rows, in plain words.
pub fn people_line(people: &People) -> String {
    let became = match people.visits {
        Visits::Together => "rows of a person are one record",
        Visits::First => "the first row of each person is used",
        Visits::Apart => "rows of a person stay apart, and no cluster or part of a class has two of them",
    };
    format!(
        "{} in {}, at most {} of one person; {became}",
        count(people.people, "person", "people"),
        count(people.rows, "row", "rows"),
        number(people.most_rows),
    )
}

/// What is known of an itemset.
#[derive(Debug, Clone, Serialize)]
pub struct Known {
    /// Its terms.
    pub terms: Vec<String>,
    /// How many people have all of them.
    #[serde(flatten)]
    pub estimate: Estimate,
    /// How many of the terms are not in the release.
    pub unknown_terms: usize,
}

/// How many records of a table satisfy a predicate.
#[derive(Debug, Clone, Serialize)]
pub struct Satisfied {
    /// As it was written.
    pub predicate: String,
    /// How many do.
    #[serde(flatten)]
    pub estimate: Estimate,
}

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// A record is a person.
    People,
    /// A record is a record: several may be of one person.
    Records,
}

/// What the algorithm did, as custody.json has it.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Happened {
    /// Clusters.
    pub clusters: u64,
    /// Clusters that were too small and were merged with others.
    pub small_clusters_merged: u64,
    /// Terms that were moved to term chunks so that no record of the cluster need be empty.
    pub terms_moved_by_lemma_2: u64,
    /// Terms that were moved to term chunks so that the cut discloses nothing.
    #[serde(default)]
    pub terms_set_aside: u64,
    /// How often two clusters came to share chunks.
    pub joins: u64,
    /// How often they could not.
    pub joins_refused_for_promise: u64,
}

/// What came out of one recipe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SweepRow {
    /// Tells the recipe and the data from all others.
    pub id: String,
    /// How many records or people cannot be told apart.
    pub k: u32,
    /// How many terms of background knowledge an adversary has; none for tables without sets.
    pub m: Option<u32>,
    /// How large clusters may become, of disassociation.
    pub max_cluster: Option<u32>,
    /// What is promised in the end, of disassociation: a repair may promise more than was asked for.
    pub promise: Option<Promise>,
    /// Whether the promise is proved and all limits are kept.
    pub holds: bool,
    /// The keys of limits that are not kept.
    pub broken: Vec<String>,
    /// Rounds of repair.
    pub repairs: u32,
    /// What attacks and measures found, by the names of their limits.
    pub found: Vec<(String, f64)>,
    /// The loss by which rows are compared.
    pub loss: f64,
    /// Seconds of work.
    pub seconds: f64,
}
