//! The report of a table: what its classes promise, what an attack with background knowledge learns, what is left.
//!
//! Inside, everything is shown; the public page shows what follows from the release and its claim alone. How many records were
//! suppressed and what was counted in the original stays inside.

use serde::Serialize;

use super::page::{
    Figure, INSIDE_ONLY, KEPT, Kind, NOT_KEPT, Page, Part, Section, Table, count, decimal, number, percent, share,
};
use super::run::{AnyClaim, Attacked, Limit, Proof, Run, Utility};
use super::{Audience, dependency};
use crate::attack::{Gain, Loss, Mean, Surviving};
use crate::data::table::Role;
use crate::knowledge::background::{Estimator, Knowledge};
use crate::measure::TableReport;
use crate::read::rows::ColumnReading;
use crate::release::generalized::TableClaim;
use crate::report::plot;
use crate::verify::{SetsVerdict, TableVerdict};

/// Everything that a run with a table found out.
#[derive(Debug, Serialize)]
pub(super) struct Story<'a> {
    /// What is promised.
    pub(super) claim: &'a TableClaim,
    /// Whether the release keeps it.
    pub(super) verdict: &'a TableVerdict,
    /// Whether its sets keep theirs, if it has some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sets: Option<&'a SetsVerdict>,
    /// Whether both do.
    pub(super) kept: bool,
    /// What background knowledge makes of it, if there is a sensitive column.
    pub(super) tried: Option<&'a Tried>,
    /// Which dependencies survive, if there is a sensitive column.
    pub(super) dependencies: Option<&'a Surviving>,
    /// What is left of the original.
    pub(super) utility: &'a TableReport,
}

impl<'a> Story<'a> {
    pub(super) fn of(run: &'a Run) -> Option<Self> {
        let (AnyClaim::Classes(claim), Utility::Classes(utility)) = (&run.claim, &run.utility) else { return None };
        let last = run.last()?;
        let (Proof::Classes { holds, table, sets, .. }, Attacked::Classes { inference, dependencies, .. }) =
            (&last.proof, &last.attacked)
        else {
            return None;
        };
        Some(Story {
            claim,
            verdict: table,
            sets: sets.as_ref(),
            kept: *holds,
            tried: inference.as_ref(),
            dependencies: dependencies.as_ref().map(|dependencies| &dependencies.found),
            utility,
        })
    }
}

/// What the attack with background knowledge found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tried {
    /// The sensitive column.
    pub column: String,
    /// What the adversary knows.
    pub knowledge: Knowledge,
    /// How much beliefs change.
    pub loss: Loss,
    /// The inference gain over the prior.
    pub gain: Gain,
    /// The inference gain over the shares of the class, which everybody sees.
    pub beyond_class: Gain,
    /// From which probability on a value counts as nearly certain.
    pub nearly_sure: f64,
}

pub(super) fn page(run: &Run, story: &Story<'_>, audience: Audience) -> Page {
    let is_inside = audience == Audience::Inside;
    let of_sets = story.sets.filter(|sets| !sets.holds);
    let sections = [
        Some(promise(&story.claim.promised, &story.claim.adversary)),
        Some(proof(story.verdict, story.sets)),
        is_inside.then(|| attack(story)).flatten(),
        story.dependencies.filter(|_| is_inside).map(dependency::section),
        is_inside.then(|| utility(story)),
    ];
    page_of(
        run,
        audience,
        Outline {
            what: format!("a table of {}", count(story.claim.records, "row", "rows")),
            promises: "promises",
            holds: story.kept,
            violations: story.verdict.violations,
            because: of_sets.map(|_| "The chunks of the sets do not keep what is promised of them."),
            facts: facts(run, story, audience),
            sections: sections.into_iter().flatten().collect(),
            closing: vec![columns(run, story, is_inside)],
            made_by: &story.claim.made_by,
        },
    )
}

/// What a report on a table, a split table or recoded transactions shows, apart from what all of them show.
pub(super) struct Outline<'a> {
    /// What it is about.
    pub(super) what: String,
    /// One of it promises, several promise.
    pub(super) promises: &'static str,
    /// Whether the promise is kept.
    pub(super) holds: bool,
    /// How many checks of the promise failed.
    pub(super) violations: u64,
    /// What else the verdict rests on.
    pub(super) because: Option<&'static str>,
    pub(super) facts: Vec<(&'static str, String)>,
    pub(super) sections: Vec<Section>,
    /// What follows the limits.
    pub(super) closing: Vec<Section>,
    pub(super) made_by: &'a str,
}

pub(super) fn page_of(run: &Run, audience: Audience, outline: Outline<'_>) -> Page {
    let Outline { what, promises, holds, violations, because, facts, mut sections, closing, made_by } = outline;
    let is_inside = audience == Audience::Inside;
    // Limits are held against what was counted in the original.
    let holds = if is_inside { run.judgement.holds } else { holds };
    let violated = (violations > 0).then(|| format!("{} violated.", count(violations, "check is", "checks are")));
    let mut because: Vec<String> = violated.into_iter().chain(because.map(String::from)).collect();
    if is_inside {
        because.extend(broken(&run.judgement.limits));
        sections.extend((!run.judgement.limits.is_empty()).then(|| limits(&run.judgement.limits)));
    }
    sections.extend(closing);
    sections.extend(is_inside.then(|| stages(&run.seconds)));
    Page {
        title: match audience {
            Audience::Inside => format!("Report on {what}"),
            Audience::Public => format!("What {what} {promises}"),
        },
        notice: is_inside.then_some(INSIDE_ONLY),
        holds,
        verdict: sentence(holds, is_inside).to_owned(),
        because,
        facts,
        sections,
        made_by: made_by.to_owned(),
    }
}

fn facts(run: &Run, story: &Story<'_>, audience: Audience) -> Vec<(&'static str, String)> {
    let mut facts = vec![(
        "Classes",
        format!(
            "{}, the smallest of {}",
            number(story.verdict.classes),
            count(story.verdict.smallest_class, "row", "rows")
        ),
    )];
    if audience == Audience::Inside {
        let (k, (at_risk, rows)) = (run.recipe.protect.k, run.rows_at_risk());
        facts.insert(
            0,
            ("Before", format!("{} of rows shared their quasi-identifiers with fewer than {k}", share(at_risk, rows))),
        );
        facts.push(("Suppressed", format!("{} of the records", share(story.utility.removed as u64, rows))));
        facts.push(("Loss", format!("{} of what cells could lose (GCP)", percent(story.utility.gcp_all))));
    }
    facts
}

pub(super) fn text(text: impl Into<String>) -> Part {
    Part::Text(text.into())
}

pub(super) fn promise(promised: &str, adversary: &str) -> Section {
    let parts = vec![text(promised), Part::Points(vec![("Against whom".into(), adversary.to_owned())])];
    Section { id: "promise", heading: "What is promised", parts }
}

pub(super) fn proof(verdict: &TableVerdict, sets: Option<&SetsVerdict>) -> Section {
    let row = |line: &crate::verify::CriterionLine| {
        let worst = line.worst.map_or_else(
            || String::from("-"),
            |worst| format!("{} (limit {})", decimal(worst.value), decimal(worst.limit)),
        );
        let kept = match line.checkable {
            true if line.violated == 0 => KEPT,
            true => NOT_KEPT,
            false => "not to be seen",
        };
        vec![line.text.clone(), number(line.classes), worst, kept.to_owned()]
    };
    let table = Table {
        caption: "Every class was counted anew from the release".into(),
        columns: vec![
            ("every class has", Kind::Sentence),
            ("classes", Kind::Number),
            ("the worst class", Kind::Words),
            ("kept", Kind::Kept),
        ],
        rows: verdict.criteria.iter().map(row).collect(),
    };
    let mut parts = vec![Part::Table(table)];
    if verdict.criteria.iter().any(|line| !line.checkable) {
        parts.push(text(
            "A limit on beliefs was checked while the classes were made: nobody can see it in the release.",
        ));
    }
    if let Some(sets) = sets {
        parts.push(text(format!(
            "The sets of {} are in {} inside {}; what is promised of them {}.",
            count(sets.clusters.records, "row", "rows"),
            count(sets.clusters.clusters, "cluster", "clusters"),
            count(sets.classes, "class", "classes"),
            if sets.holds { "holds" } else { "does NOT hold" },
        )));
    }
    Section { id: "proof", heading: "Whether it is kept", parts }
}

fn attack(story: &Story<'_>) -> Option<Section> {
    let tried = story.tried.as_ref()?;
    let how = match &tried.knowledge.estimator {
        Estimator::Kernel => format!("from rows that are near (kernel, bandwidth {})", tried.knowledge.bandwidth),
        Estimator::NaiveBayes => String::from("by a naive Bayes classifier"),
        Estimator::File(_) => String::from("from a file"),
    };
    let mean = |mean: &Mean| format!("{:+.4} ({:+.4} to {:+.4})", mean.mean, mean.low, mean.high);
    let verdict = |gain: &Gain| if gain.beats { "yes" } else { "no" }.to_owned();
    let row = |name: &str, gain: &Gain| {
        vec![
            name.to_owned(),
            mean(&gain.log_score),
            percent(gain.right_before),
            percent(gain.right_after),
            verdict(gain),
        ]
    };
    let table = Table {
        caption: "Inference gain (attribute disclosure), per person, with 95 % intervals".into(),
        columns: vec![
            ("compared with", Kind::Words),
            ("gain in bits", Kind::Words),
            ("right before", Kind::Number),
            ("right after", Kind::Number),
            ("gain", Kind::Words),
        ],
        rows: vec![row("the prior", &tried.gain), row("the shares of the class, which all see", &tried.beyond_class)],
    };
    let loss = &tried.loss;
    let points = vec![
        (
            "Who".to_owned(),
            format!(
                "An adversary who knows everybody's quasi-identifiers, and how {} goes with them: {how}.",
                tried.column
            ),
        ),
        (
            "Privacy loss".to_owned(),
            format!(
                "Beliefs about a person change by {} bits on average, and by up to {} bits (Jensen-Shannon).",
                decimal(loss.mean),
                decimal(loss.max)
            ),
        ),
        (
            "Nearly certain".to_owned(),
            format!(
                "{} have a value that is believed with a probability above {}; the highest is {}.",
                count(loss.above, "person", "people"),
                tried.nearly_sure,
                decimal(loss.posterior)
            ),
        ),
    ];
    Some(Section {
        id: "attack",
        heading: "What an adversary with background knowledge infers",
        parts: vec![Part::Points(points), Part::Table(table)],
    })
}

fn utility(story: &Story<'_>) -> Section {
    let report = &story.utility;
    let named = |name: &str, meaning: &str, value: String| vec![name.to_owned(), meaning.to_owned(), value];
    let optional = |value: Option<f64>| value.map_or_else(|| String::from("-"), decimal);
    let table = Table {
        caption: "What is lost".into(),
        columns: vec![("measure", Kind::Words), ("meaning", Kind::Sentence), ("value", Kind::Number)],
        rows: vec![
            named("GCP", "the mean loss of a published cell: 0 is none, 1 all", optional(report.gcp)),
            named(
                "GCP-all",
                "the same over all records, a suppressed one counting as total loss: to compare methods and tools",
                decimal(report.gcp_all),
            ),
            named(
                "RGCP",
                "the same, suppressed records counting as if in the class where the loss is least",
                decimal(report.rgcp),
            ),
            named("suppressed", "records that are not published", number(report.removed as u64)),
            named("C_avg", "the mean size of a class, in multiples of k", optional(report.average_class)),
            named(
                "discernibility",
                "for each row, the rows that it cannot be told apart from",
                number(report.discernibility),
            ),
            named("counts", "the median relative error of random counting queries", optional(report.queries.median)),
        ],
    };
    let names: Vec<String> = report.columns.iter().map(|column| column.column.clone()).collect();
    let losses: Vec<f64> = report.columns.iter().map(|column| column.ncp).collect();
    let by_column = Figure {
        svg: plot::bars("Loss by column", "mean loss of a cell", &names, &[(String::from("loss"), losses)]),
        caption: "What each quasi-identifier lost, from 0 (all values are shown) to 1 (nothing is).".into(),
        description: report
            .columns
            .iter()
            .map(|c| format!("{}: {}", c.column, decimal(c.ncp)))
            .collect::<Vec<_>>()
            .join("; "),
    };
    let bands = &report.classes.bands;
    let names: Vec<String> = bands.iter().map(|band| format!("{}-{}", band.from, band.to)).collect();
    let sizes: Vec<f64> = bands.iter().map(|band| band.classes as f64).collect();
    let by_size = Figure {
        svg: plot::bars("Sizes of classes", "classes", &names, &[(String::from("classes"), sizes)]),
        caption: "How many classes have so many rows.".into(),
        description: bands
            .iter()
            .map(|b| format!("{} to {} rows: {}", b.from, b.to, b.classes))
            .collect::<Vec<_>>()
            .join("; "),
    };
    Section {
        id: "utility",
        heading: "What is left",
        parts: vec![Part::Table(table), Part::Figure(by_column), Part::Figure(by_size)],
    }
}

/// The first sentence of a report.
fn sentence(holds: bool, is_inside: bool) -> &'static str {
    match (holds, is_inside) {
        (true, true) => "The promise holds and every limit is kept.",
        (false, true) => "The promise or a limit is NOT kept.",
        (true, false) => "The promise holds.",
        (false, false) => "The promise does NOT hold.",
    }
}

/// The limits that are not kept, in words.
fn broken(limits: &[Limit]) -> impl Iterator<Item = String> {
    limits.iter().filter(|limit| !limit.holds).map(|limit| {
        let most = limit.limit.map_or_else(String::new, decimal);
        format!("{} is {}; the limit is {most}.", limit.meaning, decimal(limit.value))
    })
}

pub(super) fn limits(limits: &[Limit]) -> Section {
    let row = |limit: &Limit| {
        let kept = match limit.limit {
            None => "not limited",
            Some(_) if limit.holds => KEPT,
            Some(_) => NOT_KEPT,
        };
        let most = limit.limit.map_or_else(|| String::from("-"), decimal);
        vec![limit.key.clone(), limit.meaning.clone(), decimal(limit.value), most, kept.to_owned()]
    };
    let table = Table {
        caption: "What was found, and the limits of the recipe".into(),
        columns: vec![
            ("key", Kind::Code),
            ("meaning", Kind::Sentence),
            ("value", Kind::Number),
            ("limit", Kind::Number),
            ("kept", Kind::Kept),
        ],
        rows: limits.iter().map(row).collect(),
    };
    Section { id: "limits", heading: "Limits", parts: vec![Part::Table(table)] }
}

fn columns(run: &Run, story: &Story<'_>, is_inside: bool) -> Section {
    let role = |role: Role| match role {
        Role::Identifier => "identifier: never published",
        Role::Quasi => "quasi-identifier: generalised",
        Role::Sensitive => "sensitive: as it is, in classes",
        Role::Set => "set-valued: in chunks, in classes",
        Role::Other => "other: as it is",
    };
    let mut rows: Vec<Vec<String>> =
        story.claim.columns.iter().map(|column| vec![column.name.clone(), role(column.role).to_owned()]).collect();
    rows.extend(story.claim.sets.iter().map(|sets| vec![sets.column.clone(), role(Role::Set).to_owned()]));
    let table = Table {
        caption: "What is published of each column".into(),
        columns: vec![("column", Kind::Words), ("how", Kind::Words)],
        rows,
    };
    let made = text(format!("The classes were made by the method {}.", story.claim.method));
    let mut parts = vec![made, Part::Table(table)];
    parts.extend(is_inside.then(|| readings(&run.readings)).flatten());
    Section { id: "columns", heading: "Columns", parts }
}

/// How columns were read, where that is not plain.
pub(super) fn readings(readings: &[ColumnReading]) -> Option<Part> {
    let row = |reading: &ColumnReading| {
        let by = if reading.declared { "declared" } else { "found in the data" };
        vec![reading.column.clone(), reading.text.clone(), by.to_owned()]
    };
    let table = Table {
        caption: "How cells were read".into(),
        columns: vec![("column", Kind::Words), ("read as", Kind::Sentence), ("because", Kind::Words)],
        rows: readings.iter().map(row).collect(),
    };
    (!table.rows.is_empty()).then_some(Part::Table(table))
}

pub(super) fn stages(seconds: &[(String, f64)]) -> Section {
    let row = |(stage, seconds): &(String, f64)| vec![stage.clone(), format!("{seconds:.2}")];
    let table = Table {
        caption: "How long it took".into(),
        columns: vec![("stage", Kind::Words), ("seconds", Kind::Number)],
        rows: seconds.iter().map(row).collect(),
    };
    Section { id: "stages", heading: "Stages", parts: vec![Part::Table(table)] }
}
