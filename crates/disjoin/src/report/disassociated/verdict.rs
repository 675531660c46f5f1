//! The first sentence: does the release keep what it promises, and if not, why?
//!
//! A story that says it holds while one of its parts does not is taken not to hold: an error of whoever filled it must not
//! end in a reassuring page.

use std::collections::BTreeSet;

use super::{Round, Story};
use crate::attack::Says;
use crate::report::Audience;
use crate::report::page::{count, decimal, list};
use crate::verify::Rule;

/// A judgement in words.
pub(in crate::report) struct Judged {
    pub(in crate::report) holds: bool,
    /// The first sentence.
    pub(in crate::report) sentence: String,
    /// What it rests on.
    pub(in crate::report) because: Vec<String>,
    /// What is wrong, as far as the audience may know.
    pub(in crate::report) reasons: Vec<String>,
}

/// The limits that a release alone is held to; those of other keys were counted in the original.
const OF_RELEASE: [&str; 2] = ["limits.certain_disclosures", "limits.reidentification_risk"];

/// Something that is wrong.
struct Reason {
    text: String,
    /// Whether everybody who has the release could find it out.
    is_public: bool,
}

/// Judges a run, for those who read about it.
pub(in crate::report) fn judge(story: &Story<'_>, audience: Audience) -> Judged {
    let all = reasons(story);
    let holds = story.run.judgement.holds && all.is_empty();
    let told = |reason: &Reason| audience == Audience::Inside || reason.is_public;
    let is_all_told = all.iter().all(told);
    let mut reasons: Vec<String> = all.into_iter().filter(told).map(|reason| reason.text).collect();
    if !holds && (reasons.is_empty() || !is_all_told) {
        reasons.push(match audience {
            Audience::Inside => String::from("the run judged so without naming what failed"),
            // What failed was counted in the original.
            Audience::Public => String::from("a condition that only its makers can check is not kept"),
        });
    }
    let (sentence, because) = match (holds, audience) {
        (false, _) => {
            (format!("This release must not leave the building: {}.", reasons.join("; ")), touched(story, audience))
        }
        (true, Audience::Inside) => (String::from("The promise holds and every limit is kept."), because(story)),
        (true, Audience::Public) => (String::from("The promise of this release holds."), because(story)),
    };
    Judged { holds, sentence, because, reasons }
}

fn reasons(story: &Story<'_>) -> Vec<Reason> {
    let Some(Round { verdict, attacks, .. }) = story.rounds.last() else {
        return vec![Reason { text: String::from("nothing was verified"), is_public: true }];
    };
    let mut reasons = Vec::new();
    let mut add = |text: String, is_public: bool| reasons.push(Reason { text, is_public });
    let violated = |is_public: bool| {
        let lines =
            verdict.checks.iter().filter(move |line| line.violated > 0 && needs_original(line.rule) != is_public);
        (lines.clone().map(|line| line.violated).sum::<u64>(), lines.map(|line| line.rule).next())
    };
    for is_public in [true, false] {
        if let (n, Some(rule)) = violated(is_public) {
            let violations = count(n, "violation", "violations");
            add(format!("verification found {violations}; the first condition that fails is {rule}"), is_public);
        }
    }
    if !verdict.holds && verdict.checks.iter().all(|line| line.violated == 0) {
        add(String::from("verification found that the promise is not kept"), true);
    }
    for limit in story.run.judgement.limits.iter().filter(|limit| !limit.holds) {
        let by: BTreeSet<&str> = attacks.worst.iter().flat_map(|cluster| &cluster.attacks).copied().collect();
        // In the order of strength.
        let by: Vec<&str> = attacks.attacks.iter().map(|of| of.attack).filter(|attack| by.contains(attack)).collect();
        let found = match limit.key.as_str() {
            "limits.certain_disclosures" => format!(", found by {}", list(&by)),
            "limits.reidentification_risk" => String::from(", found by identity"),
            _ => String::new(),
        };
        let (value, most) = (decimal(limit.value), limit.limit.map_or_else(String::new, decimal));
        let is_public = OF_RELEASE.contains(&limit.key.as_str());
        add(format!("{} ({}): {value}{found}; the limit is {most}", limit.meaning, limit.key), is_public);
    }
    reasons
}

/// Whom a release that does not hold discloses, for those who may know.
fn touched(story: &Story<'_>, audience: Audience) -> Vec<String> {
    let Some(round) = story.rounds.last().filter(|_| audience == Audience::Inside) else { return Vec::new() };
    match round.attacks.worst.iter().filter_map(|cluster| cluster.people).sum() {
        0 => Vec::new(),
        n => {
            let people = count(n, "person", "people");
            vec![format!("By the original, {people} are disclosed by certain findings that are true.")]
        }
    }
}

/// Why a release that holds does, in what follows from it.
fn because(story: &Story<'_>) -> Vec<String> {
    let Some(Round { attacks, .. }) = story.rounds.last() else { return Vec::new() };
    let mut because = vec![String::from(
        "That it keeps its promise was proved from the release alone: everybody who has it can check it again.",
    )];
    let is_certain = |says: Says| says == Says::FewerThanK;
    let names: Vec<&str> = attacks.attacks.iter().filter(|of| is_certain(of.says)).map(|of| of.attack).collect();
    if !names.is_empty() {
        let attack = if names.len() == 1 { "attack" } else { "attacks" };
        because.push(match attacks.certain {
            0 => format!("The {attack} {} found no certain disclosure.", list(&names)),
            n => format!(
                "The {attack} {} found {}, within the limit.",
                list(&names),
                count(n, "certain disclosure", "certain disclosures")
            ),
        });
    }
    because
}

/// Whether a rule can be checked only by those who have the original.
pub(in crate::report) fn needs_original(rule: Rule) -> bool {
    match rule {
        Rule::Promise
        | Rule::Parameters
        | Rule::MemberSizes
        | Rule::RecordCount
        | Rule::DisjointDomains
        | Rule::EmptyChunk
        | Rule::ChunkSize
        | Rule::EmptyCluster
        | Rule::ClusterSize
        | Rule::RecordChunkAnonymity
        | Rule::Filling
        | Rule::SharedChunkAnonymity
        | Rule::SharedChunkConflicts
        | Rule::SharedChunkRoom
        | Rule::CutGivesNothingAway
        | Rule::SensitivePlace
        | Rule::DiversitySize
        | Rule::OccurrencesLeaveRoom => false,
        Rule::OriginalRecords
        | Rule::OriginalTerms
        | Rule::OriginalSupports
        | Rule::OriginalOccurrences
        | Rule::CustodyMap
        | Rule::CustodyRecordChunks
        | Rule::CustodyTermChunks
        | Rule::CustodySharedChunks
        | Rule::CustodyLeftOver
        | Rule::DiversityMultiplicity
        | Rule::People => true,
    }
}
