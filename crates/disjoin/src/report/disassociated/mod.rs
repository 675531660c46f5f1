//! The report of disassociated data: what is said in which order.
//!
//! Promises:   what is shown to the public does not depend on anything that was counted in the original
//! Checked by: tests/it/report.rs, which changes all that was counted and compares

mod sections;
mod utility;
mod verdict;

use super::page::{INSIDE_ONLY, Page, count};
use super::run::{AnyClaim, Attacked, Before, Proof, Repaired, Run, Utility};
use super::{Audience, classes};
use crate::attack::summary::Summary;
use crate::inspect::Risk;
use crate::measure;
use crate::release::Claim;
use crate::repair;
use crate::verify::Verdict;
pub(super) use verdict::{Judged, judge};

/// A run with disassociated data.
pub(super) struct Story<'a> {
    pub(super) run: &'a Run,
    pub(super) before: &'a Risk,
    pub(super) claim: &'a Claim,
    pub(super) rounds: Vec<Round<'a>>,
    pub(super) utility: &'a measure::Report,
}

pub(super) struct Round<'a> {
    pub(super) repaired: Option<repair::Stats>,
    pub(super) verdict: &'a Verdict,
    pub(super) attacks: &'a Summary,
}

impl<'a> Story<'a> {
    pub(super) fn of(run: &'a Run) -> Option<Self> {
        let (AnyClaim::Disassociated(claim), Before::Sets(before), Utility::Disassociated(utility)) =
            (&run.claim, &run.before, &run.utility)
        else {
            return None;
        };
        let round = |round: &'a super::run::Round| {
            let (Proof::Disassociated(verdict), Attacked::Disassociated { summary, .. }) =
                (&round.proof, &round.attacked)
            else {
                return None;
            };
            let repaired = if let Some(Repaired::Chunks(stats)) = &round.repaired { Some(*stats) } else { None };
            Some(Round { repaired, verdict, attacks: summary })
        };
        Some(Story { run, before, claim, rounds: run.rounds.iter().map(round).collect::<Option<_>>()?, utility })
    }
}

/// Everything that is said to an audience.
pub(super) fn page(story: &Story<'_>, audience: Audience) -> Page {
    let Judged { holds, sentence, because, .. } = judge(story, audience);
    let is_inside = audience == Audience::Inside;
    let sections = [
        Some(sections::promise(story)),
        Some(sections::risk(story, audience)),
        Some(sections::attacks(story, audience)),
        is_inside.then(|| utility::utility(story)),
        is_inside.then(|| classes::limits(&story.run.judgement.limits)),
        Some(sections::not_promised(story)),
        Some(sections::verification(story, audience)),
        Some(sections::parameters(story, audience)),
        is_inside.then(|| sections::stages(story)),
        Some(sections::glossary(story)),
    ];
    let records = count(story.claim.records, "record", "records");
    Page {
        title: match audience {
            Audience::Inside => format!("Report on a release of {records}"),
            Audience::Public => format!("What a release of {records} promises"),
        },
        notice: is_inside.then_some(INSIDE_ONLY),
        holds,
        verdict: sentence,
        because,
        facts: sections::facts(story, audience),
        sections: sections.into_iter().flatten().collect(),
        made_by: story.claim.made_by.clone(),
    }
}
