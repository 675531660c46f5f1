//! The report of recoded transactions: what they promise, whether it is kept, what semantic attacks find, what is left.
//!
//! Inside, everything is told; the public page tells what follows from the release and its claim alone.

use serde::Serialize;

use super::classes::{Outline, page_of, text};
use super::page::{KEPT, Kind, NOT_KEPT, Page, Part, Section, Table, count, decimal, number, percent, share};
use super::run::{AnyClaim, Attacked, Before, Proof, Repaired, Run, Utility};
use super::{Audience, meaning};
use crate::attack::semantic::summary::Summary;
use crate::inspect::Risk;
use crate::measure::RecodedReport;
use crate::release::recoded::{Promised, RecodedClaim};
use crate::repair::regroup;
use crate::verify::{RecodedCheck, RecodedVerdict};

/// Everything that a run with recoded transactions found out.
#[derive(Debug, Serialize)]
pub(super) struct Story<'a> {
    /// Who could be singled out in the data as it was.
    #[serde(skip)]
    pub(super) before: &'a Risk,
    /// What is promised.
    pub(super) claim: &'a RecodedClaim,
    /// Whether the release keeps the promise.
    pub(super) verdict: &'a RecodedVerdict,
    /// What semantic attacks find; nothing if none was run.
    pub(super) attacks: Option<&'a Summary>,
    /// How groups were repaired before that, if the advantage of attacks was above its limit.
    pub(super) repaired: Option<&'a regroup::Stats>,
    /// What is left of the original.
    pub(super) utility: &'a RecodedReport,
}

impl<'a> Story<'a> {
    pub(super) fn of(run: &'a Run) -> Option<Self> {
        let (AnyClaim::Recoded(claim), Before::Sets(before), Utility::Recoded(utility)) =
            (&run.claim, &run.before, &run.utility)
        else {
            return None;
        };
        let last = run.last()?;
        let Proof::Recoded(verdict) = &last.proof else { return None };
        Some(Story {
            before,
            claim,
            verdict,
            attacks: if let Attacked::Recoded { summary, .. } = &last.attacked { Some(summary) } else { None },
            repaired: if let Some(Repaired::Groups(stats)) = &last.repaired { Some(stats) } else { None },
            utility,
        })
    }
}

pub(super) fn page(run: &Run, story: &Story<'_>, audience: Audience) -> Page {
    let is_inside = audience == Audience::Inside;
    let sections = [
        Some(promise(story)),
        Some(proof(story, is_inside)),
        story.attacks.as_ref().map(|found| meaning::section(found, story.repaired, is_inside)),
        is_inside.then(|| utility(story)),
    ];
    page_of(
        run,
        audience,
        Outline {
            what: format!("recoded transactions of {}", count(story.claim.records, "record", "records")),
            promises: "promise",
            holds: story.verdict.holds,
            violations: story.verdict.violations,
            because: None,
            facts: facts(run, story, is_inside),
            sections: sections.into_iter().flatten().collect(),
            closing: Vec::new(),
            made_by: &story.claim.made_by,
        },
    )
}

fn facts(run: &Run, story: &Story<'_>, is_inside: bool) -> Vec<(&'static str, String)> {
    let verdict = &story.verdict;
    let mut facts = vec![(
        "Terms",
        format!("{} published, {} of them in groups", number(verdict.terms), number(verdict.generalized_terms)),
    )];
    if verdict.empty_records > 0 {
        facts.push(("Empty", count(verdict.empty_records, "record shows nothing", "records show nothing")));
    }
    if is_inside {
        let (k, m) = (story.before.k, story.before.m);
        let before = share(story.before.at_risk, run.records);
        facts.insert(0, ("Before", format!("{before} of records had up to {m} terms that fewer than {k} share")));
        let became = &story.utility.became;
        if let Some(found) = &story.attacks {
            facts.push(("Semantic attacks", meaning::fact(found)));
        }
        facts.push(("Suppressed", format!("{} of the occurrences", percent(became.occurrences_suppressed))));
    }
    facts
}

fn promise(story: &Story<'_>) -> Section {
    let points = vec![
        ("Against whom".to_owned(), story.claim.adversary.clone()),
        ("By which method".to_owned(), format!("{}, k = {}", story.claim.method, story.claim.k)),
    ];
    let mut parts = vec![text(&story.claim.promised), Part::Points(points)];
    if let Promised::Constraints { privacy, .. } = &story.claim.promise {
        parts.push(text(format!(
            "The {} in claim.json, where anybody can look them up.",
            count(privacy.len() as u64, "set is listed", "sets are listed")
        )));
    }
    Section { id: "promise", heading: "What is promised", parts }
}

fn proof(story: &Story<'_>, is_inside: bool) -> Section {
    // What was compared with the original is no part of what the release tells.
    let is_told = |check: &&RecodedCheck| {
        use crate::verify::RecodedRule as Rule;
        let needs_original =
            matches!(check.rule, Rule::OriginalRecords | Rule::OriginalTerms | Rule::CustodyMap | Rule::Conservation);
        is_inside || !needs_original
    };
    let row = |check: &RecodedCheck| {
        let kept = if check.violated == 0 { KEPT } else { NOT_KEPT };
        vec![check.rule.to_string(), check.rule.meaning().to_owned(), number(check.checked), kept.to_owned()]
    };
    let table = Table {
        caption: "Everything was counted anew from the release".into(),
        columns: vec![
            ("rule", Kind::Code),
            ("meaning", Kind::Sentence),
            ("checked", Kind::Number),
            ("kept", Kind::Kept),
        ],
        rows: story.verdict.checks.iter().filter(is_told).map(row).collect(),
    };
    Section { id: "proof", heading: "Whether it is kept", parts: vec![Part::Table(table)] }
}

fn utility(story: &Story<'_>) -> Section {
    let report = &story.utility;
    let became = &report.became;
    let named = |name: &str, meaning: &str, value: String| vec![name.to_owned(), meaning.to_owned(), value];
    let mut rows = vec![
        named("terms kept", "terms that are published as themselves", number(became.terms_kept as u64)),
        named("terms in groups", "terms of which only the group is published", number(became.terms_generalized as u64)),
        named("terms suppressed", "terms that are not published", number(became.terms_suppressed as u64)),
        named(
            "occurrences kept",
            "the share of occurrences that are published as they were",
            decimal(became.occurrences_kept),
        ),
        named("occurrences suppressed", "the share that is gone", decimal(became.occurrences_suppressed)),
        named(
            "NCP",
            "the mean size of groups over all terms, suppressed occurrences counting as lost",
            decimal(report.ncp_all),
        ),
        named("UL", "the utility loss of COAT", decimal(report.ul.total)),
        named("tKd", "the share of the most frequent itemsets that are lost", decimal(report.top_k.tkd.all)),
        named("query error", "the median relative error of counts of random itemsets", decimal(report.queries.median)),
    ];
    if let Some(deviation) = &report.top_k.tkd_ml2 {
        rows.push(named("tKd-ML2", "the same at all levels of the taxonomy", decimal(deviation.all)));
    }
    if let Some(mean) = report.relative_error.first().and_then(|window| window.re.mean) {
        rows.push(named("re", "the relative error of pairs of the most frequent terms", decimal(mean)));
    }
    let table = Table {
        caption: "What is left".into(),
        columns: vec![("measure", Kind::Words), ("meaning", Kind::Sentence), ("value", Kind::Number)],
        rows,
    };
    Section { id: "utility", heading: "What is left", parts: vec![Part::Table(table)] }
}
