//! The report of a split table: what its groups promise, how likely values are guessed, what is left.
//!
//! Inside, everything is told; the public page tells what follows from the release and its claim alone.

use serde::Serialize;

use super::table::{Outline, limits, page_of, proof, stages, text};
use super::words::{Kind, Page, Part, Section, Table, count, decimal, number, share};
use super::{Audience, Limit, dependency, html, markdown};
use crate::attack::{BreachReport, NetworkBreach, Surviving};
use crate::data::table::Role;
use crate::measure::SplitReport;
use crate::recipe::Recipe;
use crate::release::split::{QUASI, SplitClaim};
use crate::verify::TableVerdict;

/// Everything that a run with a split table found out.
#[derive(Debug, Clone, Serialize)]
pub struct SplitStory {
    /// What was asked for.
    pub recipe: Recipe,
    /// Rows of the original.
    pub rows: u64,
    /// Rows that share their quasi-identifiers with fewer than k in the original.
    pub at_risk: u64,
    /// What is promised.
    pub claim: SplitClaim,
    /// Whether the release keeps it.
    pub verdict: TableVerdict,
    /// How likely values are guessed.
    pub breach: BreachReport,
    /// How likely by somebody who learned from the release how they go together.
    pub by_network: NetworkBreach,
    /// Which dependencies survive.
    pub dependencies: Surviving,
    /// What is left of the original.
    pub utility: SplitReport,
    /// The limits of the recipe.
    pub limits: Vec<Limit>,
    /// Whether the promise and all limits hold.
    pub holds: bool,
    /// How long each stage took.
    pub seconds: Vec<(String, f64)>,
}

/// The report as a page.
pub fn split_html(story: &SplitStory, audience: Audience) -> String {
    html::dressed(page(story, audience))
}

/// The report as Markdown.
pub fn split_markdown(story: &SplitStory, audience: Audience) -> String {
    markdown::dressed(page(story, audience))
}

fn page(story: &SplitStory, audience: Audience) -> Page {
    let is_inside = audience == Audience::Inside;
    let sections = [
        Some(promise(story)),
        Some(proof(&story.verdict, None)),
        is_inside.then(|| breach(story)),
        is_inside.then(|| dependency::section(&story.dependencies)),
        is_inside.then(|| utility(story)),
        (is_inside && !story.limits.is_empty()).then(|| limits(&story.limits)),
        Some(files(story)),
        is_inside.then(|| stages(&story.seconds)),
    ];
    page_of(
        audience,
        Outline {
            what: format!("a split table of {}", count(story.claim.records, "row", "rows")),
            promises: "promises",
            holds: if is_inside { story.holds } else { story.verdict.holds },
            violations: story.verdict.violations,
            because: Vec::new(),
            limits: &story.limits,
            facts: facts(story, is_inside),
            sections: sections.into_iter().flatten().collect(),
            made_by: &story.claim.made_by,
        },
    )
}

fn facts(story: &SplitStory, is_inside: bool) -> Vec<(&'static str, String)> {
    let sizes = count(story.verdict.smallest_class, "row", "rows");
    let mut facts = vec![("Groups", format!("{}, the smallest of {sizes}", number(story.verdict.classes)))];
    if is_inside {
        let k = story.recipe.protect.k;
        let before = share(story.at_risk, story.rows);
        facts.insert(0, ("Before", format!("{before} of rows shared their quasi-identifiers with fewer than {k}")));
        facts.push(("Removed", format!("{} of the rows", share(story.utility.removed, story.rows))));
    }
    facts
}

fn promise(story: &SplitStory) -> Section {
    let parts =
        vec![text(&story.claim.promised), Part::Points(vec![("Against whom".into(), story.claim.adversary.clone())])];
    Section { id: "promise", heading: "What is promised", parts }
}

fn breach(story: &SplitStory) -> Section {
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
    Section { id: "attack", heading: "What somebody learns", parts: vec![text(certain), Part::Table(table)] }
}

fn utility(story: &SplitStory) -> Section {
    let report = &story.utility;
    let named = |name: &str, meaning: &str, value: String| vec![name.to_owned(), meaning.to_owned(), value];
    let joint = "the distance (total variation) of sensitive values together from what their tables suggest";
    let mut rows = vec![
        named("joint values", &format!("{joint}, on average over rows"), decimal(report.joint.mean)),
        named("joint values, worst", "the same in the group where it is greatest", decimal(report.joint.worst)),
        named("removed", "rows that are not published", number(report.removed)),
    ];
    if let Some(quasi) = &report.quasi {
        rows.push(named(
            "GCP, all rows",
            "the mean loss of a cell, removed rows counting as lost",
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

fn files(story: &SplitStory) -> Section {
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
