//! The first sentence: does the release keep what it promises, and if not, why?
//!
//! A story that says it holds while one of its parts does not is taken not to hold: an error of whoever filled it must not
//! end in a reassuring page.

use std::collections::BTreeSet;

use super::words::{count, decimal, list, number};
use super::{Audience, Round, Story};
use crate::attack::Says;
use crate::verify::Rule;

/// A judgement in words.
pub(super) struct Judged {
    pub(super) holds: bool,
    /// The first sentence.
    pub(super) sentence: String,
    /// What it rests on.
    pub(super) because: Vec<String>,
    /// What is wrong, as far as the audience may know.
    pub(super) reasons: Vec<String>,
}

/// The limits that a release alone is held to; those of other keys were counted in the original.
const OF_RELEASE: [&str; 2] = ["attack.most_certain", "attack.most_likely"];

/// How far a probability may be above its limit by rounding errors.
const TOLERANCE: f64 = 1e-9;

/// Something that is wrong.
struct Reason {
    text: String,
    /// Whether everybody who has the release could find it out.
    is_public: bool,
}

/// Judges a story, for those who read it.
pub(super) fn judge(story: &Story, audience: Audience) -> Judged {
    let all = reasons(story);
    let holds = story.holds && all.is_empty();
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

fn reasons(story: &Story) -> Vec<Reason> {
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
    // The recipe's limits, not those of the summary: by these a run is judged.
    if attacks.certain > story.recipe.attack.most_certain {
        let by: BTreeSet<&str> = attacks.worst.iter().flat_map(|cluster| &cluster.attacks).copied().collect();
        // In the order of strength.
        let by: Vec<&str> = attacks.attacks.iter().map(|of| of.attack).filter(|attack| by.contains(attack)).collect();
        let (attack, statements) =
            (if by.len() == 1 { "attack" } else { "attacks" }, certain_statements(attacks.certain));
        let limit = match story.recipe.attack.most_certain {
            0 => String::from("none is put up with"),
            most => format!("at most {} put up with", if most == 1 { "one is".into() } else { number(most) + " are" }),
        };
        add(format!("the {attack} {} found {statements} about groups of people, and {limit}", list(&by)), true);
    }
    let most_likely = story.recipe.attack.most_likely;
    if let Some(risk) = attacks.identity.filter(|risk| risk.worst > most_likely + TOLERANCE) {
        let (worst, most) = (decimal(risk.worst), decimal(most_likely));
        add(format!("the attack identity found a row that is somebody's with probability {worst}, above {most}"), true);
    }
    for limit in story.limits.iter().filter(|limit| !limit.holds) {
        let is_public = OF_RELEASE.contains(&limit.key.as_str());
        let is_told = is_public
            && match limit.key.as_str() {
                "attack.most_certain" => attacks.certain > story.recipe.attack.most_certain,
                _ => attacks.identity.is_some_and(|risk| risk.worst > most_likely + TOLERANCE),
            };
        if !is_told {
            let (value, most) = (decimal(limit.value), decimal(limit.at_most));
            add(format!("the limit {} is not kept ({}: {value}, at most {most})", limit.key, limit.meaning), is_public);
        }
    }
    reasons
}

/// Whom a release that does not hold gives away, for those who may know.
fn touched(story: &Story, audience: Audience) -> Vec<String> {
    let Some(round) = story.rounds.last().filter(|_| audience == Audience::Inside) else { return Vec::new() };
    match round.attacks.worst.iter().filter_map(|cluster| cluster.people).sum() {
        0 => Vec::new(),
        n => {
            let people = count(n, "person", "people");
            vec![format!("By the original, {people} would be given away by certain statements that are true.")]
        }
    }
}

/// Why a release that holds does, in what follows from it.
fn because(story: &Story) -> Vec<String> {
    let Some(Round { attacks, .. }) = story.rounds.last() else { return Vec::new() };
    let mut because = vec![String::from(
        "That it keeps its promise was proved from the release alone: whoever has it can check it again.",
    )];
    let is_certain = |says: Says| says == Says::FewerThanK;
    let names: Vec<&str> = attacks.attacks.iter().filter(|of| is_certain(of.says)).map(|of| of.attack).collect();
    if !names.is_empty() {
        let attack = if names.len() == 1 { "attack" } else { "attacks" };
        because.push(match attacks.certain {
            0 => format!("The {attack} {} found nothing certain.", list(&names)),
            n => format!(
                "The {attack} {} found {}; {} put up with.",
                list(&names),
                certain_statements(n),
                if attacks.limit == 1 { "one is".into() } else { format!("{} are", number(attacks.limit)) }
            ),
        });
    }
    because
}

fn certain_statements(n: u64) -> String {
    count(n, "certain statement", "certain statements")
}

/// Whether a rule can be checked only by those who have the original.
pub(super) fn needs_original(rule: Rule) -> bool {
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
        | Rule::DiversityMultiplicity => true,
    }
}
