//! The sections of a report: what each audience reads, but for utility, which has a file of its own.
//!
//! Whatever looks at `story.before`, `story.utility`, `story.run`, at scores, at people or at rules that
//! need the original is for the inside only.

use super::verdict::needs_original;
use super::{Round, Story};
use crate::attack::attackers::OfAttacker;
use crate::attack::rerun::{Looked, Reran};
use crate::attack::stronger::{Learned, Stronger};
use crate::attack::summary::{Choice, OfAttack, Summary};
use crate::attack::{Rate, Says};
use crate::release::Promise;
use crate::repair;
use crate::report::Audience;
use crate::report::answers::reran_in_words;
use crate::report::page::{KEPT, Kind, NOT_KEPT, Part, Section, Table, count, decimal, number, percent, share};

fn text(text: impl Into<String>) -> Part {
    Part::Text(text.into())
}

/// The numbers of the first screen.
pub(in crate::report) fn facts(story: &Story<'_>, audience: Audience) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    if audience == Audience::Inside {
        let (before, k) = (&story.before, story.claim.parameters.k);
        let at_risk = format!("{} of people had fewer than {k} candidates", percent(before.share()));
        facts.push(("Before", at_risk));
    }
    if let Some(round) = story.rounds.last() {
        let certain = match round.attacks.certain {
            0 => String::from("nothing certain was found"),
            n => format!("{} found", count(n, "certain disclosure", "certain disclosures")),
        };
        facts.push(("Attacks", certain));
        if let Some(risk) = round.attacks.identity {
            let worst = percent(risk.worst);
            facts.push(("Re-identification risk", format!("{worst} for the person at highest risk (prosecutor risk)")));
        }
    }
    if audience == Audience::Inside {
        let top = &story.utility.top_k;
        let kept = percent(1.0 - top.tkd_e.all);
        facts.push(("Utility", format!("{kept} of the {} most frequent sets are kept", number(top.k as u64))));
    }
    facts
}

/// What is promised, against whom.
pub(in crate::report) fn promise(story: &Story<'_>) -> Section {
    let claim = &story.claim;
    let (k, m) = (claim.parameters.k, claim.parameters.m);
    let known = if m == 1 { String::from("one term") } else { format!("up to {} terms", number(u64::from(m))) };
    let short = match claim.promise {
        Promise::None => String::from("The promise in short: nothing is promised, and nobody is protected."),
        Promise::Published => format!(
            "The promise in short: an adversary with {known} of background knowledge about a person cannot narrow the \
             candidates down to fewer than {k} by reading the release. An adversary who also knows the algorithm may \
             (minimality attack)."
        ),
        Promise::AlgorithmAware => format!(
            "The promise in short: an adversary with {known} of background knowledge about a person cannot narrow the \
             candidates down to fewer than {k} by reading the release; nor, if the terms are of the parts of one group alone, \
             with knowledge of how the algorithm cuts records into parts (minimality attack). An adversary who has the \
             program and asks how it grouped people may."
        ),
        Promise::ProgramAware => format!(
            "The promise in short: an adversary with {known} of background knowledge about a person cannot narrow the \
             candidates down to fewer than {k} by reading the release, not even by running the program on every dataset that \
             it may have been made from. Terms without a count are covered only as far as the release can be read."
        ),
    };
    let parts = vec![
        text(short),
        Part::Points(vec![("Promised".into(), claim.promised.clone()), ("Against".into(), claim.adversary.clone())]),
        text("The claim travels with the release as claim.json, in the same words."),
    ];
    Section { id: "promise", heading: "What is promised, and against whom", parts }
}

/// Who could be found before, and how sure one can be of a row now.
pub(in crate::report) fn risk(story: &Story<'_>, audience: Audience) -> Section {
    let mut parts = Vec::new();
    if audience == Audience::Inside {
        let before = &story.before;
        let (k, m) = (before.k, before.m);
        parts.push(Part::Heading("Before: the data as it was".into()));
        parts.push(text(format!(
            "{at_risk} of {records} people ({share}) have a set of at most {m} terms that fewer than {k} people share. \
             An adversary who knows these terms of such a person has fewer than {k} candidates in the data, and may \
             read all the other terms. {rare} by fewer than {k} people.",
            at_risk = number(before.at_risk),
            records = number(before.records),
            share = percent(before.share()),
            rare = match before.rare_terms {
                1 => String::from("One term by itself is held"),
                n => format!("{} terms by themselves are held", number(n)),
            },
        )));
        let row = |(size, &people): (u64, &u64)| {
            vec![count(size, "term", "terms"), number(people), share(people, before.records)]
        };
        parts.push(Part::Table(Table {
            caption: format!("People with fewer than {k} candidates in the data as it was, by how many terms it takes"),
            columns: vec![("It takes", Kind::Words), ("People", Kind::Number), ("Of all people", Kind::Number)],
            rows: (1..).zip(&before.by_size).map(row).collect(),
        }));
        parts.push(Part::Heading("After: the release".into()));
    }
    parts.push(text(match story.rounds.last().and_then(|round| Some((round, round.attacks.identity?))) {
        None => String::from("The re-identification risk was not computed in this run."),
        Some((round, risk)) => {
            let k = round.attacks.k;
            let above = match risk.above {
                0 => String::from("none of them is"),
                1 => String::from("one of them is"),
                n => format!("{} of them are", number(n)),
            };
            format!(
                "An adversary with {known} of background knowledge about a person asks which of the published rows is \
                 that person's. Over all {asked} of the records, the highest re-identification (prosecutor) risk is \
                 {worst}, and the mean is {mean}; {above} above 1/{k}, which is {limit}.",
                known = if round.attacks.m < 2 { "one term" } else { "two terms" },
                asked = count(risk.itemsets, "set of such terms", "sets of such terms"),
                worst = decimal(risk.worst),
                mean = decimal(risk.mean),
                limit = percent(1.0 / f64::from(k.max(1))),
            )
        }
    }));
    let heading = match audience {
        Audience::Inside => "The risk, before and after",
        Audience::Public => "The re-identification risk",
    };
    Section { id: "risk", heading, parts }
}

/// What an attack tries, in plain words.
fn tries(attack: &str, k: u32) -> String {
    match attack {
        "cover" => format!(
            "Uses the algorithm: a term is in a later part of the records because it could not be added to an earlier \
             one. Looks for terms of different parts that fewer than {k} people can have together."
        ),
        "closure" => format!(
            "Follows each term that could not be added to a part, as far as this shows that fewer than {k} people \
             have some terms together."
        ),
        "worlds" => format!(
            "Searches all originals of a group that the program would have cut in this way. What none of them has {k} times is \
             certain; where it finds nothing to the end, there is nothing. Terms that groups share are looked at in groups of a few \
             people, and not how people were grouped."
        ),
        "reassociate" => String::from(
            "Puts parts of records together by which terms usually go together. These are guesses: they may be wrong, \
             and many would be right by chance.",
        ),
        "identity" => String::from(
            "Computes the re-identification risk: how likely each published row is that of a known person.",
        ),
        "rerun" => format!(
            "Runs the program itself on other data that could have given this release: on all of them, if there are few people. \
             Otherwise terms that fewer than {k} people have together are drawn, and data are made in which {k} people have them and \
             which give the very same release."
        ),
        _ => String::from("Is described in the documentation of the program."),
    }
}

/// The name of an attack in JSON and in the recipe.
fn name(choice: Choice) -> &'static str {
    match choice {
        Choice::Cover => "cover",
        Choice::Closure => "closure",
        Choice::Worlds => "worlds",
        Choice::Reassociate => "reassociate",
        Choice::Identity => "identity",
        Choice::Rerun => "rerun",
    }
}

/// What was tried and found, round by round; the public learns of the last release only, for it has no other.
pub(in crate::report) fn attacks(story: &Story<'_>, audience: Audience) -> Section {
    let k = story.claim.parameters.k;
    let names =
        Choice::ALL.iter().filter(|choice| story.run.recipe.attack.run.contains(choice)).map(|&choice| name(choice));
    let mut parts = vec![
        text(
            "Before anyone else could, the release was attacked as an adversary would do it: with the release in hand, \
             with knowledge of how it was made, and without the original.",
        ),
        Part::Points(names.map(|name| (name.to_owned(), tries(name, k))).collect()),
    ];
    if story.claim.parameters.sensitive.is_some() && story.run.recipe.attack.run.contains(&Choice::Worlds) {
        parts.push(text("Sensitive terms may be frequent; worlds takes them for rare, and may state too much."));
    }
    let rounds = match audience {
        Audience::Inside => &story.rounds[..],
        Audience::Public => story.rounds.last().map_or(&[][..], std::slice::from_ref),
    };
    for (number, round) in (1_u64..).zip(rounds) {
        if audience == Audience::Inside {
            let what = if round.repaired.is_some() { "after a repair" } else { "after protection" };
            parts.push(Part::Heading(format!("Round {number}: {what}")));
            parts.extend(round.repaired.as_ref().map(|stats| text(repaired(stats))));
        }
        let place = if rounds.len() > 1 { format!(", round {number}") } else { String::new() };
        parts.push(text(outcome(round.attacks, audience)));
        parts.extend(outcomes(round.attacks, &place));
        if audience == Audience::Inside {
            parts.extend(truths(round.attacks, &place));
        }
    }
    if audience == Audience::Inside && rounds.len() > 1 {
        parts.push(text(
            "If any of these releases is published, then only that of the last round. Two releases of the same people \
             can be laid side by side, so those of earlier rounds must not be kept outside, and must be withdrawn if \
             they were.",
        ));
    }
    Section { id: "attacks", heading: "What the attacks tried and found", parts }
}

fn repaired(stats: &repair::Stats) -> String {
    if stats.terms_set_aside == 0 {
        return String::from("The repair found no term to move to a term chunk.");
    }
    let hidden = match stats.occurrences_hidden {
        1 => String::from("One occurrence is"),
        n => format!("{} occurrences are", number(n)),
    };
    format!(
        "The repair moved {} to the term chunk in {} of {}. It is still published that somebody of the group has such a \
         term, but no longer how often and with what. {hidden} no longer shown.",
        count(stats.terms_set_aside, "term", "terms"),
        number(stats.clusters_changed),
        count(stats.clusters, "group", "groups"),
    )
}

fn outcome(found: &Summary, audience: Audience) -> String {
    let mut sentences = Vec::new();
    if found.attacks.iter().any(|of| of.says == Says::FewerThanK) {
        let clusters = count(found.worst.len() as u64, "group", "groups");
        sentences.push(match found.certain {
            0 => format!(
                "No attack found a certain disclosure in any of the {}.",
                count(found.clusters, "group", "groups")
            ),
            n => format!(
                "The attacks found {} in {clusters}. Each proves that fewer than {} people of a group, but at least \
                 one, have the terms that it names.",
                count(n, "certain disclosure", "certain disclosures"),
                found.k
            ),
        });
        let is_sampled = found.rerun.is_some_and(|reran| reran.looked == Looked::Sampled);
        let shared = match found.clusters_with_shared_terms {
            0 => String::new(),
            _ if is_sampled => String::new(),
            n => format!("sets with terms that several groups share (of {}), and ", count(n, "group", "groups")),
        };
        let is_run = found.rerun.is_some_and(|reran| matches!(reran.looked, Looked::Exactly | Looked::Sampled));
        let grouping = if is_run { "terms without a count" } else { "what follows from how the program groups people" };
        sentences.push(format!("Not looked at: {shared}{grouping}."));
    }
    // What was drawn was drawn from the original.
    let is_shown = |reran: &&Reran| audience == Audience::Inside || reran.looked != Looked::Sampled;
    if let Some(reran) = found.rerun.as_ref().filter(is_shown) {
        sentences.push(format!("Running the program again: {}", reran_in_words(reran, found.k)));
    }
    if let Some(of) = found.attacks.iter().find(|of| of.says == Says::Together && of.statements > 0) {
        sentences.push(format!("{} made {}.", capital(shown(of.attack)), count(of.statements, "guess", "guesses")));
    }
    if sentences.is_empty() {
        sentences.push(String::from("No attack of this run is about groups."));
    }
    sentences.join(" ")
}

/// The name of an attack, without that of its variant.
fn shown(attack: &'static str) -> &'static str {
    attack.split('-').next().unwrap_or(attack)
}

fn capital(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// What follows from the release.
fn outcomes(found: &Summary, place: &str) -> Option<Part> {
    let row = |of: &OfAttack| {
        let says = match of.says {
            Says::FewerThanK => format!("fewer than {}", found.k),
            Says::Together => String::from("a guess"),
        };
        // Guesses settle nothing.
        let groups = |n: u64| if of.says == Says::Together { String::from("\u{2013}") } else { number(n) };
        vec![
            shown(of.attack).to_owned(),
            says,
            number(of.statements),
            number(of.clusters_touched),
            groups(of.coverage.proved),
            groups(of.coverage.open),
        ]
    };
    (!found.attacks.is_empty()).then(|| {
        Part::Table(Table {
            caption: format!("What each attack found{place}; a group is settled if nothing is left to find in it"),
            columns: vec![
                ("Attack", Kind::Words),
                ("It shows", Kind::Words),
                ("Disclosures", Kind::Number),
                ("Groups affected", Kind::Number),
                ("Groups settled", Kind::Number),
                ("Groups left open", Kind::Number),
            ],
            rows: found.attacks.iter().map(row).collect(),
        })
    })
}

/// How much of it is true by the original.
fn truths(found: &Summary, place: &str) -> Vec<Part> {
    let rate = |rate: &Rate| if rate.of == 0 { String::from("\u{2013}") } else { percent(rate.share) };
    let row = |of: &OfAttack| {
        let (score, baseline) = (of.score.as_ref()?, of.baseline.as_ref()?);
        let interval = match score.precision.of {
            0 => String::from("\u{2013}"),
            _ => format!("{} to {}", percent(score.precision.low), percent(score.precision.high)),
        };
        Some(vec![
            shown(of.attack).to_owned(),
            number(score.right),
            rate(&score.precision),
            interval,
            rate(baseline),
            score.recall.as_ref().map_or_else(|| String::from("\u{2013}"), rate),
            number(score.people),
        ])
    };
    let rows: Vec<Vec<String>> = found.attacks.iter().filter_map(row).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let of_people: Vec<u64> = found.worst.iter().filter_map(|cluster| cluster.people).collect();
    let touched = match of_people.iter().sum() {
        0 => String::from("Compared with the original, nobody is affected by a certain disclosure that is true."),
        n => format!(
            "Compared with the original, the certain disclosures that are true affect {}, and up to {} in one group.",
            count(n, "person", "people"),
            number(of_people.iter().copied().max().unwrap_or(0))
        ),
    };
    let meaning = "An attack has an advantage only where it is right more often than the baseline: guesses by an adversary \
                   who has seen the groups and nothing else.";
    let table = Table {
        caption: format!("How true it is, by the original{place}"),
        columns: vec![
            ("Attack", Kind::Words),
            ("True", Kind::Number),
            ("Share that is true", Kind::Number),
            ("95 % interval", Kind::Number),
            ("Baseline", Kind::Number),
            ("Of all links, found", Kind::Number),
            ("People affected", Kind::Number),
        ],
        rows,
    };
    let mut parts = vec![text(format!("{touched} {meaning}")), Part::Table(table)];
    parts.extend(attackers(found, place));
    parts.extend(found.stronger.as_ref().map(|stronger| known_more(stronger, found.m)));
    parts
}

/// What attackers of three strengths get out of cover problems.
fn attackers(found: &Summary, place: &str) -> Option<Part> {
    let some = |n: Option<u64>| n.map_or_else(|| String::from("\u{2013}"), number);
    let row = |of: &OfAttacker| {
        let counts = [of.counters.literal, of.counters.per_chunk, of.counters.per_item, of.counters.pairs].map(number);
        let mut cells = vec![of.attacker.name().to_owned(), of.known.map_or_else(|| String::from("any"), number)];
        cells.extend(counts);
        cells.extend([some(of.vulnerable_records), some(of.whole_records)]);
        cells
    };
    (!found.attackers.is_empty()).then(|| {
        Part::Table(Table {
            caption: format!(
                "Cover problems by attacker{place}: breaches as Algorithm 1 is printed, the most of a chunk and of a term in each \
                 group, pairs of terms; records that hold a pair, and those disclosed whole"
            ),
            columns: vec![
                ("Attacker", Kind::Words),
                ("Sets known", Kind::Number),
                ("As printed", Kind::Number),
                ("By chunk", Kind::Number),
                ("By term", Kind::Number),
                ("Pairs", Kind::Number),
                ("Vulnerable records", Kind::Number),
                ("Whole records", Kind::Number),
            ],
            rows: found.attackers.iter().map(row).collect(),
        })
    })
}

/// What an adversary learns who knows more than is promised.
fn known_more(found: &Stronger, m: u32) -> Part {
    let row = |name: String, of: &Learned| {
        vec![
            name,
            format!("{:.1}", of.candidates),
            format!("{:.1}", of.fewest),
            number(of.below_k),
            of.cluster.map_or_else(|| String::from("\u{2013}"), percent),
            percent(of.further),
        ]
    };
    Part::Table(Table {
        caption: format!(
            "Adversaries who know more than is promised: {} of each of {}, all holders of {}, {} absent besides. A further term \
             of a person is held by {} of all people",
            count(found.terms, "term", "terms"),
            count(found.people, "person", "people"),
            count(found.all_holders, "term", "terms"),
            number(found.absent),
            percent(found.prior)
        ),
        columns: vec![
            ("Known", Kind::Words),
            ("Candidates", Kind::Number),
            ("Fewest", Kind::Number),
            ("People below k", Kind::Number),
            ("Right group", Kind::Number),
            ("A further term", Kind::Number),
        ],
        rows: vec![row(String::from("all of it"), &found.learned), row(format!("{m} of the terms"), &found.promised)],
    })
}

/// What a reader may not rely on.
pub(in crate::report) fn not_promised(story: &Story<'_>) -> Section {
    let parameters = &story.claim.parameters;
    let (k, m) = (parameters.k, parameters.m);
    let mut points: Vec<(&str, String)> = Vec::new();
    match story.claim.promise {
        Promise::None => points.push(("Anything", "This release promises nothing at all.".into())),
        Promise::Published => points.push((
            "Knowledge of the algorithm",
            format!(
                "An adversary who knows how the algorithm cuts records into parts may learn more (minimality attack), \
                 and have fewer than {k} candidates. The attacks cover, closure and worlds show whether this is so."
            ),
        )),
        Promise::AlgorithmAware => {
            points.push((
                "Further knowledge of the algorithm",
                format!(
                    "What follows from how people were grouped, and from how groups came to share parts, is not covered: an \
                     adversary who runs the program on possible originals may find that fewer than {k} people have some terms \
                     together."
                ),
            ));
            points.push((
                "Rare terms within a group",
                format!(
                    "A term without a count is, as a rule, one that fewer than {k} people of its group have. An \
                     adversary who knows that somebody has it and is in this group knows that as well."
                ),
            ));
        }
        Promise::ProgramAware => points.push((
            "Terms without a count",
            format!(
                "How the program chose the terms of term chunks is not covered: as a rule fewer than {k} people of the group \
                 have such a term, or some of its sets with other terms of the group occur fewer than {k} times."
            ),
        )),
    }
    points.push((
        "More background knowledge",
        format!(
            "The promise ends with {}, and with an adversary who knows what a person does not have, or who knows so \
             many others that they can be ruled out.",
            if m == 1 { "a second known term".into() } else { format!("more than {m} known terms") }
        ),
    ));
    points.push((
        "Likelihood",
        format!(
            "At least {k} candidates are possible. That they are equally likely is not promised: some may be likelier \
             than others."
        ),
    ));
    let sensitive = parameters.sensitive.as_ref().map(|sensitive| (sensitive.terms.len() as u64, sensitive));
    points.push((
        "Further terms of a person",
        match sensitive {
            None => String::from(
                "That nobody can conclude from what is known of a person what else the person has is not promised: if \
                 all in a group share a term, all in it have it.",
            ),
            Some((n, sensitive)) => {
                let terms = format!("what was named as sensitive ({})", count(n, "term", "terms"));
                match (sensitive.l, sensitive.rule.as_deref()) {
                    (None, _) => format!(
                        "What else a person has may be concluded. For {terms} it is promised that no link to other \
                         terms is published, but not how likely somebody of a group has it."
                    ),
                    (Some(l), Some("size")) => format!(
                        "Only for {terms} there is a promise: a group in which it occurs has at least {l} people. If \
                         several of them have the same, each is linked to it with a probability above 1/{l}."
                    ),
                    (Some(l), _) => format!(
                        "Only for {terms} there is a promise: nobody is linked to it with a probability above 1/{l}. \
                         To check that, the original is needed."
                    ),
                }
            }
        },
    ));
    points.push((
        "Taking part",
        "That a person's record is in the data is not protected (membership disclosure).".into(),
    ));
    points.push((
        "Several releases",
        "Each release is judged alone. If the same people are published again, both can be laid side by side.".into(),
    ));
    points.push((
        "Meaning",
        "An adversary may infer from the meaning of terms which parts belong together (semantic attack); no attack here does.".into(),
    ));
    points.push((
        "Several records of one person",
        "The promise counts records. It is about people only if everybody has one record.".into(),
    ));
    points.push((
        "Identifying terms",
        "Terms are published as they are. One that names a person must not be in the data.".into(),
    ));
    let points = points.into_iter().map(|(name, text)| (name.to_owned(), text)).collect();
    let parts = vec![
        text("No protection is against everything. Those who decide about this release should consider:"),
        Part::Points(points),
    ];
    Section { id: "not-promised", heading: "What is not promised", parts }
}

/// Which conditions were checked.
pub(in crate::report) fn verification(story: &Story<'_>, audience: Audience) -> Section {
    let section = |parts| Section { id: "verification", heading: "How the promise was checked", parts };
    let Some(Round { verdict, .. }) = story.rounds.last() else {
        return section(vec![text("Nothing was verified.")]);
    };
    let is_inside = audience == Audience::Inside;
    let shown = |line: &&crate::verify::CheckLine| is_inside || !needs_original(line.rule);
    let lines: Vec<_> = verdict.checks.iter().filter(shown).collect();
    let violated: u64 = lines.iter().map(|line| line.violated).sum();
    let result = match violated {
        0 => String::from("All conditions hold."),
        n => format!("{} found.", count(n, "violation was", "violations were")),
    };
    let against = match (is_inside, verdict.against_original, verdict.against_custody) {
        (true, true, true) => " The release was also compared with the original, record by record.",
        (true, true, false) => " The release was also compared with the original.",
        _ => "",
    };
    let joint = match verdict.joint_clusters {
        0 => String::from("no groups share parts"),
        n => format!("groups share parts in {}", count(n, "place", "places")),
    };
    let mut parts = vec![text(format!(
        "The promise follows from conditions that can be counted in the release: {} in {}; {joint}. {result}{against}",
        count(verdict.records, "record", "records"),
        count(verdict.clusters, "group", "groups"),
    ))];
    let row = |line: &&crate::verify::CheckLine| {
        let kept = if line.violated == 0 { KEPT } else { NOT_KEPT };
        let (checked, violated) = (number(line.checked), number(line.violated));
        vec![line.rule.to_string(), line.rule.meaning().to_owned(), checked, violated, kept.to_owned()]
    };
    parts.push(Part::Table(Table {
        caption: String::from("Conditions that were checked"),
        columns: vec![
            ("Condition", Kind::Code),
            ("Meaning", Kind::Sentence),
            ("Checked", Kind::Number),
            ("Violated", Kind::Number),
            ("Verdict", Kind::Kept),
        ],
        rows: lines.iter().map(row).collect(),
    }));
    let findings = verdict.findings.iter().filter(|finding| is_inside || !needs_original(finding.rule));
    let findings: Vec<Vec<String>> = findings
        .map(|finding| vec![finding.line.to_string(), finding.rule.to_string(), finding.detail.clone()])
        .collect();
    if !findings.is_empty() {
        parts.push(Part::Table(Table {
            caption: String::from("The first violations, by their line in the data of the release"),
            columns: vec![("Line", Kind::Number), ("Condition", Kind::Code), ("What is wrong", Kind::Sentence)],
            rows: findings,
        }));
    }
    section(parts)
}

/// What the release was made and attacked with.
pub(in crate::report) fn parameters(story: &Story<'_>, audience: Audience) -> Section {
    let is_inside = audience == Audience::Inside;
    let told = crate::report::json::told_recipe(&story.run.recipe);
    let mut rows = Vec::new();
    // Outside, what was read, compared and written to is nobody's business, and limits were held against the original.
    let sections: &[&str] = match is_inside {
        true => &["input", "method", "protect", "attack", "measure", "limits", "repair", "output"],
        false => &["method", "protect", "attack"],
    };
    for section in sections {
        add_keys(section, &told[section], &mut rows);
    }
    let says = match audience {
        Audience::Inside => "The recipe of this run, with everything that it left open filled in.",
        Audience::Public => "What the release was made and attacked with.",
    };
    let table = Table {
        caption: String::from("Parameters"),
        columns: vec![("Key", Kind::Code), ("Value", Kind::Sentence)],
        rows,
    };
    Section { id: "parameters", heading: "The parameters", parts: vec![text(says), Part::Table(table)] }
}

/// Keys with their values, one a row; what is not set is left out.
fn add_keys(key: &str, value: &serde_json::Value, rows: &mut Vec<Vec<String>>) {
    match value {
        serde_json::Value::Null => {}
        serde_json::Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| add_keys(&format!("{key}.{name}"), value, rows));
        }
        serde_json::Value::Array(all) => {
            let texts: Vec<String> = all.iter().map(plain_value).collect();
            rows.push(vec![key.to_owned(), texts.join(", ")]);
        }
        value => rows.push(vec![key.to_owned(), plain_value(value)]),
    }
}

fn plain_value(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// How long it took.
pub(in crate::report) fn stages(story: &Story<'_>) -> Section {
    let total: f64 = story.run.seconds.iter().map(|(_, seconds)| seconds).sum();
    let row = |(stage, seconds): &(String, f64)| vec![stage.clone(), format!("{seconds:.2}")];
    let mut rows: Vec<Vec<String>> = story.run.seconds.iter().map(row).collect();
    rows.push(vec![String::from("together"), format!("{total:.2}")]);
    let table = Table {
        caption: String::from("Stages of the run"),
        columns: vec![("Stage", Kind::Words), ("Seconds", Kind::Number)],
        rows,
    };
    let read = format!(
        "{} with {} were read.",
        count(story.run.records, "record", "records"),
        count(story.run.terms, "different term", "different terms")
    );
    Section { id: "stages", heading: "The run", parts: vec![text(read), Part::Table(table)] }
}

/// The words that the report cannot do without.
pub(in crate::report) fn glossary(story: &Story<'_>) -> Section {
    let k = story.claim.parameters.k;
    let words = [
        ("Record", "What is known of one person: a set of terms.".to_owned()),
        ("Term", "One thing that a person can have, such as a diagnosis or a purchase.".to_owned()),
        ("Group (cluster)", format!("At least {k} people whose records are published together.")),
        (
            "Part (record chunk)",
            "Records of a group are cut into parts. Which parts belong to one person is not published.".to_owned(),
        ),
        (
            "Term chunk",
            "Terms of a group of which only this is published: somebody has them. Not who, how many, or with what."
                .to_owned(),
        ),
        ("Row (subrecord)", "What stands in one part of one person's record.".to_owned()),
        (
            "Certain disclosure",
            format!(
                "What an attack proves: fewer than {k} people of a group, but at least one, have the terms it names."
            ),
        ),
        ("Possible original", "Data that would have led to the same release.".to_owned()),
    ];
    let points = words.into_iter().map(|(word, meaning)| (word.to_owned(), meaning)).collect();
    Section { id: "words", heading: "Glossary", parts: vec![Part::Points(points)] }
}
