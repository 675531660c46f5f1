//! The report of a split table: what its groups promise, how likely values are guessed, what is left.
//!
//! Inside, everything is told; the public page tells what follows from the release and its claim alone.

use serde::Serialize;

use super::classes::{Outline, limits, page_of, proof, readings, stages, text};
use super::page::{Kind, Page, Part, Section, Table, count, decimal, number, share};
use super::run::{AnyClaim, Attacked, Before, Limit, Proof, Run, Utility};
use super::{Audience, dependency};
use crate::attack::{BreachReport, NetworkBreach, Surviving};
use crate::data::table::Role;
use crate::measure::SplitReport;
use crate::read::rows::ColumnReading;
use crate::recipe::Recipe;
use crate::release::split::{QUASI, SplitClaim};
use crate::verify::TableVerdict;

/// Everything that a run with a split table found out.
#[derive(Debug, Serialize)]
pub(super) struct Story<'a> {
    /// What was asked for.
    pub(super) recipe: &'a Recipe,
    /// Rows of the original.
    pub(super) rows: u64,
    /// Rows that share their quasi-identifiers with fewer than k in the original.
    pub(super) at_risk: u64,
    /// What is promised.
    pub(super) claim: &'a SplitClaim,
    /// Whether the release keeps it.
    pub(super) verdict: &'a TableVerdict,
    /// How likely values are guessed.
    pub(super) breach: &'a BreachReport,
    /// How likely by an adversary who learned from the release how they go together.
    pub(super) by_network: &'a NetworkBreach,
    /// Which dependencies survive.
    pub(super) dependencies: &'a Surviving,
    /// What is left of the original.
    pub(super) utility: &'a SplitReport,
    /// The limits of the recipe.
    pub(super) limits: &'a [Limit],
    /// Whether the promise and all limits hold.
    pub(super) holds: bool,
    /// How long each stage took.
    pub(super) seconds: &'a [(String, f64)],
    /// How columns were read, where that is not plain.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub(super) readings: &'a [ColumnReading],
}

impl<'a> Story<'a> {
    pub(super) fn of(run: &'a Run) -> Option<Self> {
        let (AnyClaim::Split(claim), Before::Table { at_risk, rows }, Utility::Split(utility)) =
            (&run.claim, &run.before, &run.utility)
        else {
            return None;
        };
        let last = run.last()?;
        let (Proof::Split(verdict), Attacked::Split { breach, network, dependencies, .. }) =
            (&last.proof, &last.attacked)
        else {
            return None;
        };
        Some(Story {
            recipe: &run.recipe,
            rows: *rows,
            at_risk: *at_risk,
            claim,
            verdict,
            breach: breach.as_ref()?,
            by_network: network.as_ref()?,
            dependencies: &dependencies.as_ref()?.found,
            utility,
            limits: &run.judgement.limits,
            holds: run.judgement.holds,
            seconds: &run.seconds,
            readings: &run.readings,
        })
    }
}

pub(super) fn page(story: &Story<'_>, audience: Audience) -> Page {
    let is_inside = audience == Audience::Inside;
    let sections = [
        Some(promise(story)),
        Some(proof(story.verdict, None)),
        is_inside.then(|| breach(story)),
        is_inside.then(|| dependency::section(story.dependencies)),
        is_inside.then(|| utility(story)),
        (is_inside && !story.limits.is_empty()).then(|| limits(story.limits)),
        Some(files(story)),
        is_inside.then(|| columns(story)).flatten(),
        is_inside.then(|| stages(story.seconds)),
    ];
    page_of(
        audience,
        Outline {
            what: format!("a split table of {}", count(story.claim.records, "row", "rows")),
            promises: "promises",
            holds: if is_inside { story.holds } else { story.verdict.holds },
            violations: story.verdict.violations,
            because: Vec::new(),
            limits: story.limits,
            facts: facts(story, is_inside),
            sections: sections.into_iter().flatten().collect(),
            made_by: &story.claim.made_by,
        },
    )
}

/// How columns were read, where that is not plain.
fn columns(story: &Story<'_>) -> Option<Section> {
    let part = readings(story.readings)?;
    Some(Section { id: "columns", heading: "Columns", parts: vec![part] })
}

fn facts(story: &Story<'_>, is_inside: bool) -> Vec<(&'static str, String)> {
    let sizes = count(story.verdict.smallest_class, "row", "rows");
    let mut facts = vec![("Groups", format!("{}, the smallest of {sizes}", number(story.verdict.classes)))];
    if is_inside {
        let k = story.recipe.protect.k;
        let before = share(story.at_risk, story.rows);
        facts.insert(0, ("Before", format!("{before} of rows shared their quasi-identifiers with fewer than {k}")));
        facts.push(("Suppressed", format!("{} of the records", share(story.utility.removed, story.rows))));
    }
    facts
}

fn promise(story: &Story<'_>) -> Section {
    let parts =
        vec![text(&story.claim.promised), Part::Points(vec![("Against whom".into(), story.claim.adversary.clone())])];
    Section { id: "promise", heading: "What is promised", parts }
}

fn breach(story: &Story<'_>) -> Section {
    let told = &story.breach;
    let row = |known: &str, worst: f64, mean: f64| vec![known.to_owned(), decimal(worst), decimal(mean)];
    let mut rows = vec![row("the group (definition 3)", told.group_known.worst, told.group_known.mean)];
    if let Some(breach) = told.value_known {
        rows.push(row("the group and one value (definition 5)", breach.worst, breach.mean));
    }
    for column in &told.columns {
        rows.push(row(
            &format!("{} alone, by the group (definition 4)", column.column),
            column.alone.worst,
            column.alone.mean,
        ));
    }
    let by_network = &story.by_network;
    let learned = |known: &str| format!("{known}, and how values go together in the release");
    rows.push(row(&learned("the group"), by_network.group_known.worst, by_network.group_known.mean));
    if let Some(breach) = by_network.value_known {
        rows.push(row(&learned("the group, one value"), breach.worst, breach.mean));
    }
    let table = Table {
        caption: "How likely all sensitive values of a person are guessed (KBP)".into(),
        columns: vec![("what is known", Kind::Words), ("worst", Kind::Number), ("mean", Kind::Number)],
        rows,
    };
    let certain = match told.certain {
        0 => String::from("No value of anybody is certain."),
        n => format!("{} of people are certain: their groups have no other.", count(n, "value", "values")),
    };
    Section { id: "attack", heading: "What an adversary learns", parts: vec![text(certain), Part::Table(table)] }
}

fn utility(story: &Story<'_>) -> Section {
    let report = &story.utility;
    let named = |name: &str, meaning: &str, value: String| vec![name.to_owned(), meaning.to_owned(), value];
    let joint = "the distance (total variation) of sensitive values together from what their tables suggest";
    let mut rows = vec![
        named("joint values", &format!("{joint}, on average over rows"), decimal(report.joint.mean)),
        named("joint values, worst", "the same in the group where it is greatest", decimal(report.joint.worst)),
        named("suppressed", "records that are not published", number(report.removed)),
    ];
    if let Some(quasi) = &report.quasi {
        rows.push(named(
            "GCP-all",
            "the mean loss of a cell over all records, a suppressed one counting as total loss",
            decimal(quasi.gcp_all),
        ));
    }
    let table = Table {
        caption: "What is lost; nothing is of any sensitive column by itself".into(),
        columns: vec![("measure", Kind::Words), ("meaning", Kind::Sentence), ("value", Kind::Number)],
        rows,
    };
    Section { id: "utility", heading: "What is left", parts: vec![Part::Table(table)] }
}

fn files(story: &Story<'_>) -> Section {
    let how = if story.claim.exact { "quasi-identifier: as it is" } else { "quasi-identifier: generalised" };
    let quasi = story.claim.columns.iter().filter(|column| column.role == Role::Quasi);
    let mut rows: Vec<Vec<String>> =
        quasi.map(|column| vec![column.name.clone(), QUASI.to_owned(), how.to_owned()]).collect();
    let sensitive = |file: &crate::release::split::SensitiveFile| {
        vec![file.column.clone(), file.file.clone(), String::from("sensitive: counted by group")]
    };
    rows.extend(story.claim.files.iter().map(sensitive));
    let table = Table {
        caption: "Where each column is published, and how".into(),
        columns: vec![("column", Kind::Words), ("file", Kind::Code), ("how", Kind::Words)],
        rows,
    };
    let made = text(format!("The table was split by {}.", story.claim.method));
    Section { id: "columns", heading: "Columns", parts: vec![made, Part::Table(table)] }
}
