//! The report of a noisy release: what it promises, what is public, how its budget was spent.
//!
//! The public page tells what follows from the release and its claim alone: not even how many records there were. Inside, measures are
//! told, too; the promise does not cover them.

use serde::Serialize;

use super::Audience;
use super::classes::{stages, text};
use super::page::{INSIDE_ONLY, KEPT, Kind, NOT_KEPT, Page, Part, Section, Table, count, decimal, number};
use super::run::{AnyClaim, Proof, Run, Utility};
use crate::measure::NoisyReport;
use crate::release::noisy::{Accounting, Mechanism, NoisyClaim, Rows, Universe};
use crate::verify::{NoisyCheck, NoisyVerdict};

/// Everything that a run with noise found out.
#[derive(Debug, Serialize)]
pub(super) struct Story<'a> {
    /// What is promised.
    pub(super) claim: &'a NoisyClaim,
    /// Whether the budget adds up.
    pub(super) verdict: &'a NoisyVerdict,
    /// What is left of the original. No promise covers this.
    pub(super) utility: &'a NoisyReport,
}

impl<'a> Story<'a> {
    pub(super) fn of(run: &'a Run) -> Option<Self> {
        let (AnyClaim::Noisy(claim), Utility::Noisy(utility)) = (&run.claim, &run.utility) else { return None };
        let Proof::Noisy(verdict) = &run.last()?.proof else { return None };
        Some(Story { claim, verdict, utility })
    }
}

pub(super) fn page(run: &Run, story: &Story<'_>, audience: Audience) -> Page {
    let Story { claim, verdict, .. } = story;
    let is_inside = audience == Audience::Inside;
    let sentence = match (verdict.holds, verdict.violations) {
        (true, _) => "The promise holds, if noise was drawn as in the ledger.",
        (false, 0) => "Nothing is promised: this is a demonstration.",
        (false, _) => "The promise does NOT hold.",
    };
    let because = match verdict.violations {
        0 if verdict.holds => {
            "The budget was added up again; how noise was drawn cannot be seen in a release.".to_owned()
        }
        0 => "Its noise comes from a seed, and everybody who has the seed can remove it.".to_owned(),
        n => format!("{} violated.", count(n, "check is", "checks are")),
    };
    let sections = [
        Some(promise(claim)),
        Some(ledger(claim, verdict)),
        Some(proof(verdict)),
        is_inside.then(|| utility(story.utility)),
        is_inside.then(|| stages(&run.seconds)),
    ];
    Page {
        title: match audience {
            Audience::Inside => {
                format!("Report on a noisy release of {}", count(story.utility.records, "record", "records"))
            }
            Audience::Public => "What a noisy release promises".to_owned(),
        },
        notice: is_inside.then_some(INSIDE_ONLY),
        holds: verdict.holds,
        verdict: sentence.to_owned(),
        because: vec![because],
        facts: vec![
            ("Epsilon", claim.epsilon.to_string()),
            ("Delta", claim.delta.to_string()),
            ("Published", rows(story.utility.kind, verdict.rows)),
        ],
        sections: sections.into_iter().flatten().collect(),
        made_by: claim.made_by.clone(),
    }
}

fn rows(kind: Rows, n: u64) -> String {
    match kind {
        Rows::Records => count(n, "different record that nobody has", "different records that nobody has"),
        Rows::Itemsets => count(n, "itemset with a noisy support", "itemsets with noisy supports"),
    }
}

fn promise(claim: &NoisyClaim) -> Section {
    let public = match claim.universe {
        Universe::Listed => {
            "Which items there are: universe.txt lists them. The method, its parameters and this ledger."
        }
        Universe::AssumedPublic => {
            "Which items occur in the data: this is assumed to be known, and is not protected. The method, its parameters and this \
             ledger."
        }
    };
    let points = vec![
        ("Against whom".to_owned(), claim.adversary.clone()),
        ("What is public".to_owned(), public.to_owned()),
        ("By which method".to_owned(), claim.method.clone()),
        ("Which data are hard to tell apart".to_owned(), format!("those that differ so: {}", claim.neighbours)),
    ];
    let again = "Another release of the same data costs again: the epsilons and deltas of all releases add up.";
    let parts = vec![text(&claim.promised), Part::Points(points), text(again)];
    Section { id: "promise", heading: "What is promised", parts }
}

fn ledger(claim: &NoisyClaim, verdict: &NoisyVerdict) -> Section {
    let mechanism = |mechanism: &Mechanism| match mechanism {
        Mechanism::Exponential { draws, range } => {
            format!("{} by the exponential mechanism, of range {range}", count(u64::from(*draws), "draw", "draws"))
        }
        Mechanism::DiscreteLaplace { rate, .. } => format!("discrete Laplace noise of rate {rate}"),
        Mechanism::DiscreteGaussian { variance, .. } => {
            format!("discrete Gaussian noise of variance {}", number(*variance))
        }
        Mechanism::Partitioning { path } => {
            format!("discrete Laplace noise in parts of parts, of rates that make up to {path} on any path")
        }
    };
    let row = |step: &str, how: String, cost: String| vec![step.to_owned(), how, cost];
    let mut rows: Vec<Vec<String>> = claim
        .ledger
        .iter()
        .map(|entry| row(&entry.step, mechanism(&entry.mechanism), entry.cost.to_string()))
        .collect();
    rows.push(row("nothing", "what was not spent".into(), claim.unspent.to_string()));
    rows.push(row("all", "what may be spent".into(), verdict.budget.to_string()));
    let cost = match claim.accounting {
        Accounting::Pure => "epsilon",
        Accounting::Concentrated { .. } => "rho",
    };
    let table = Table {
        caption: "The ledger".into(),
        columns: vec![("spent on", Kind::Words), ("how", Kind::Sentence), (cost, Kind::Number)],
        rows,
    };
    Section { id: "ledger", heading: "How the budget was spent", parts: vec![Part::Table(table)] }
}

fn proof(verdict: &NoisyVerdict) -> Section {
    let row = |check: &NoisyCheck| {
        let kept = if check.violated == 0 { KEPT } else { NOT_KEPT };
        vec![check.rule.to_string(), number(check.checked), kept.to_owned()]
    };
    let table = Table {
        caption: "Everything was counted anew from the release and its claim".into(),
        columns: vec![("rule", Kind::Words), ("checked", Kind::Number), ("kept", Kind::Kept)],
        rows: verdict.checks.iter().map(row).collect(),
    };
    Section { id: "proof", heading: "Whether it adds up", parts: vec![Part::Table(table)] }
}

fn utility(report: &NoisyReport) -> Section {
    let optional = |value: Option<f64>| value.map_or_else(|| String::from("-"), decimal);
    let named = |name: &str, meaning: String, value: String| vec![name.to_owned(), meaning, value];
    let best = format!("the best {}", count(report.top as u64, "itemset", "itemsets"));
    let mut rows = vec![
        named("missed", format!("the share of {best} that the release does not have"), decimal(report.missed)),
        named("missed, 2+ terms", "the same of those with two terms or more".into(), optional(report.missed_larger)),
        named(
            "error of supports",
            "relative, on average over those that are found".into(),
            optional(report.support_error),
        ),
    ];
    if let Some(tkd) = &report.tkd {
        rows.push(named("tKd", format!("the share of {best} that published records lose"), decimal(tkd.all)));
    }
    if let Some(window) = report.relative_error.first() {
        let meaning = "the relative error of pairs of the most frequent terms".into();
        rows.push(named("re", meaning, optional(window.re.mean)));
    }
    let table = Table {
        caption: "The release beside the original".into(),
        columns: vec![("measure", Kind::Words), ("meaning", Kind::Sentence), ("value", Kind::Number)],
        rows,
    };
    let warning = "The promise does not cover these numbers: they were counted in the original without noise. To publish them, or to \
                   choose among several releases by them, costs more than epsilon.";
    Section { id: "utility", heading: "What is left", parts: vec![text(warning), Part::Table(table)] }
}
