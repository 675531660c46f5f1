//! The report of a split table: what its groups promise, how likely values are guessed, what is left.
//!
//! Inside, everything is told; the public page tells what follows from the release and its claim alone.

use serde::Serialize;

use super::classes::{Outline, page_of, promise, proof, readings, text};
use super::page::{Kind, Page, Part, Section, Table, count, decimal, number, share};
use super::run::{AnyClaim, Attacked, Proof, Run, Utility};
use super::{Audience, dependency};
use crate::attack::{BreachReport, NetworkBreach, Surviving};
use crate::data::table::Role;
use crate::measure::SplitReport;
use crate::release::split::{QUASI, SplitClaim};
use crate::verify::TableVerdict;

/// Everything that a run with a split table found out.
#[derive(Debug, Serialize)]
pub(super) struct Story<'a> {
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
}

impl<'a> Story<'a> {
    pub(super) fn of(run: &'a Run) -> Option<Self> {
        let (AnyClaim::Split(claim), Utility::Split(utility)) = (&run.claim, &run.utility) else { return None };
        let last = run.last()?;
        let (Proof::Split(verdict), Attacked::Split { breach, network, dependencies, .. }) =
            (&last.proof, &last.attacked)
        else {
            return None;
        };
        Some(Story {
            claim,
            verdict,
            breach: breach.as_ref()?,
            by_network: network.as_ref()?,
            dependencies: &dependencies.as_ref()?.found,
            utility,
        })
    }
}

pub(super) fn page(run: &Run, story: &Story<'_>, audience: Audience) -> Page {
    let is_inside = audience == Audience::Inside;
    let sections = [
        Some(promise(&story.claim.promised, &story.claim.adversary)),
        Some(proof(story.verdict, None)),
        is_inside.then(|| breach(story)),
        is_inside.then(|| dependency::section(story.dependencies)),
        is_inside.then(|| utility(story)),
    ];
    page_of(
        run,
        audience,
        Outline {
            what: format!("a split table of {}", count(story.claim.records, "row", "rows")),
            promises: "promises",
            holds: story.verdict.holds,
            violations: story.verdict.violations,
            because: None,
            facts: facts(run, story, is_inside),
            sections: sections.into_iter().flatten().collect(),
            closing: [Some(files(story)), columns(run).filter(|_| is_inside)].into_iter().flatten().collect(),
            made_by: &story.claim.made_by,
        },
    )
}

/// How columns were read, where that is not plain.
fn columns(run: &Run) -> Option<Section> {
    let part = readings(&run.readings)?;
    Some(Section { id: "columns", heading: "Columns", parts: vec![part] })
}

fn facts(run: &Run, story: &Story<'_>, is_inside: bool) -> Vec<(&'static str, String)> {
    let sizes = count(story.verdict.smallest_class, "row", "rows");
    let mut facts = vec![("Groups", format!("{}, the smallest of {sizes}", number(story.verdict.classes)))];
    if is_inside {
        let (k, (at_risk, rows)) = (run.recipe.protect.k, run.rows_at_risk());
        let before = share(at_risk, rows);
        facts.insert(0, ("Before", format!("{before} of rows shared their quasi-identifiers with fewer than {k}")));
        facts.push(("Suppressed", format!("{} of the records", share(story.utility.removed, rows))));
    }
    facts
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
