//! The sections of a report: what is said to whom, but for utility, which has a file of its own.
//!
//! Whatever looks at `story.before`, `story.utility`, `story.limits`, `story.seconds`, at scores, at people or at rules that
//! need the original is for the inside only.

use super::verdict::needs_original;
use super::words::{KEPT, Kind, NOT_KEPT, Part, Section, Table, count, decimal, list, number, percent, share};
use super::{Audience, Round, Story};
use crate::attack::summary::{Choice, OfAttack, Summary};
use crate::attack::{Rate, Says};
use crate::protect::disassociation::{DiversityRule, Grouping};
use crate::release::{CutRule, Promise};
use crate::repair;

fn text(text: impl Into<String>) -> Part {
    Part::Text(text.into())
}

fn yes_or_no(yes: bool) -> String {
    String::from(if yes { "yes" } else { "no" })
}

/// The numbers of the first screen.
pub(super) fn facts(story: &Story, audience: Audience) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    if audience == Audience::Inside {
        let (before, k) = (&story.before, story.claim.parameters.k);
        let at_risk = format!("{} of people had fewer than {k} candidates", percent(before.share()));
        facts.push(("Before", at_risk));
    }
    if let Some(round) = story.rounds.last() {
        let certain = match round.attacks.certain {
            0 => String::from("nothing certain was found"),
            n => format!("{} found", count(n, "certain statement", "certain statements")),
        };
        facts.push(("Attacks", certain));
        if let Some(risk) = round.attacks.identity {
            let worst = percent(risk.worst);
            facts.push(("Likeliest row", format!("{worst} likely, at most, to be that of a known person")));
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
pub(super) fn promise(story: &Story) -> Section {
    let claim = &story.claim;
    let (k, m) = (claim.parameters.k, claim.parameters.m);
    let known = if m == 1 { String::from("one thing") } else { format!("up to {} things", number(u64::from(m))) };
    let short = match claim.promise {
        Promise::None => String::from("The promise in short: nothing is promised, and nobody is protected."),
        Promise::Published => format!(
            "The promise in short: somebody who knows {known} about a person and reads the release cannot narrow the \
             candidates down to fewer than {k}, unless by reckoning back through the program that made it."
        ),
        Promise::AlgorithmAware => format!(
            "The promise in short: somebody who knows {known} about a person and reads the release cannot narrow the \
             candidates down to fewer than {k}, not even with knowledge of how the program cuts records into parts."
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
pub(super) fn risk(story: &Story, audience: Audience) -> Section {
    let mut parts = Vec::new();
    if audience == Audience::Inside {
        let before = &story.before;
        let (k, m) = (before.k, before.m);
        parts.push(Part::Heading("Before: the data as it was".into()));
        parts.push(text(format!(
            "{at_risk} of {records} people ({share}) have a set of at most {m} terms that fewer than {k} people share. \
             Whoever knows these terms of such a person has fewer than {k} candidates in the data, and may read all \
             the other terms. {rare} by fewer than {k} people.",
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
        None => String::from("How likely a published row is that of a known person was not asked in this run."),
        Some((round, risk)) => {
            let k = round.attacks.k;
            let above = match risk.above {
                0 => String::from("none of them is"),
                1 => String::from("one of them is"),
                n => format!("{} of them are", number(n)),
            };
            format!(
                "Somebody who knows {known} of a person asks which of the published rows is that person's. Over all \
                 {asked} that somebody may have, the likeliest row is the right one with a probability of \
                 {worst} at most, and of {mean} on average; {above} above 1/{k}, which is {limit}.",
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
        Audience::Public => "How sure one can be of a row",
    };
    Section { id: "risk", heading, parts }
}

/// What an attack tries, in plain words.
fn tries(attack: &str, k: u32) -> String {
    match attack {
        "cover" => format!(
            "Uses that a term stands in a later part of the records because an earlier part had to refuse it, and \
             looks for terms of different parts that fewer than {k} people can have together."
        ),
        "closure" => format!(
            "Follows every single refusal of the program as far as it shows that fewer than {k} people have something."
        ),
        "worlds" => format!(
            "Searches all originals that the program would have cut in this way. What none of them has {k} times is \
             certain; where it finds nothing to the end, there is nothing."
        ),
        "reassociate" => String::from(
            "Puts parts of records together by which terms usually go together. These are guesses: they may be wrong, \
             and many would be right by chance.",
        ),
        "identity" => {
            String::from("Reckons how likely each published row is that of a person of whom terms are known.")
        }
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
    }
}

/// What was tried and found, round by round; the public learns of the last release only, for it has no other.
pub(super) fn attacks(story: &Story, audience: Audience) -> Section {
    let k = story.claim.parameters.k;
    let names =
        Choice::ALL.iter().filter(|choice| story.recipe.attack.run.contains(choice)).map(|&choice| name(choice));
    let mut parts = vec![
        text(
            "Before anyone else could, the release was attacked as an adversary would do it: with the release in hand, \
             with knowledge of how it was made, and without the original.",
        ),
        Part::Points(names.map(|name| (name.to_owned(), tries(name, k))).collect()),
    ];
    if story.claim.parameters.sensitive.is_some() && story.recipe.attack.run.contains(&Choice::Worlds) {
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
        parts.push(text(outcome(&round.attacks)));
        parts.extend(outcomes(&round.attacks, &place));
        if audience == Audience::Inside {
            parts.extend(truths(&round.attacks, &place));
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
        return String::from("The repair found nothing to set aside.");
    }
    let hidden = match stats.occurrences_hidden {
        1 => String::from("One occurrence is"),
        n => format!("{} occurrences are", number(n)),
    };
    format!(
        "The repair set {} aside in {} of {}. That somebody of the group has such a term is still told, but no longer \
         how often and with what. {hidden} no longer shown.",
        count(stats.terms_set_aside, "term", "terms"),
        number(stats.clusters_changed),
        count(stats.clusters, "group", "groups"),
    )
}

fn outcome(found: &Summary) -> String {
    let mut sentences = Vec::new();
    if found.attacks.iter().any(|of| of.says == Says::FewerThanK) {
        let clusters = count(found.worst.len() as u64, "group", "groups");
        sentences.push(match found.certain {
            0 => format!(
                "No attack could say anything certain about any of the {}.",
                count(found.clusters, "group", "groups")
            ),
            n => format!(
                "The attacks made {} about {clusters}. Each says that fewer than {} people of a group, but somebody, \
                 have the terms that it names.",
                count(n, "certain statement", "certain statements"),
                found.k
            ),
        });
    }
    if let Some(of) = found.attacks.iter().find(|of| of.says == Says::Together && of.statements > 0) {
        sentences.push(format!("{} made {}.", capital(shown(of.attack)), count(of.statements, "guess", "guesses")));
    }
    if sentences.is_empty() {
        sentences.push(String::from("No attack of this run makes statements about groups."));
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
                ("It states", Kind::Words),
                ("Statements", Kind::Number),
                ("Groups touched", Kind::Number),
                ("Groups settled", Kind::Number),
                ("Groups left open", Kind::Number),
            ],
            rows: found.attacks.iter().map(row).collect(),
        })
    })
}

/// What the original says to it.
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
        0 => String::from("Compared with the original, nobody is touched by a certain statement that is true."),
        n => format!(
            "Compared with the original, the certain statements that are true touch {}, in one group {} at most.",
            count(n, "person", "people"),
            number(of_people.iter().copied().max().unwrap_or(0))
        ),
    };
    let meaning = "An attack is worth more than luck only where it is right more often than blind guesses, by somebody who \
                   has seen the groups and nothing else.";
    let table = Table {
        caption: format!("How true it is, by the original{place}"),
        columns: vec![
            ("Attack", Kind::Words),
            ("True", Kind::Number),
            ("Share that is true", Kind::Number),
            ("95 % interval", Kind::Number),
            ("Blind guesses true", Kind::Number),
            ("Of all links, found", Kind::Number),
            ("People touched", Kind::Number),
        ],
        rows,
    };
    vec![text(format!("{touched} {meaning}")), Part::Table(table)]
}

/// The limits of the recipe.
pub(super) fn limits(story: &Story) -> Section {
    let mut parts = Vec::new();
    let broken: Vec<&str> = story.limits.iter().filter(|limit| !limit.holds).map(|limit| limit.key.as_str()).collect();
    parts.push(text(match (story.limits.len(), &broken[..]) {
        (0, _) => String::from("The recipe sets no limit."),
        (_, []) => String::from("Every limit that was set before the run is kept."),
        (_, [one]) => format!("The limit {one} is not kept."),
        (_, many) => format!("The limits {} are not kept.", list(many)),
    }));
    if !story.limits.is_empty() {
        let row = |limit: &super::Limit| {
            let kept = if limit.holds { KEPT } else { NOT_KEPT };
            let (most, value) = (decimal(limit.at_most), decimal(limit.value));
            vec![limit.key.clone(), limit.meaning.clone(), most, value, kept.to_owned()]
        };
        parts.push(Part::Table(Table {
            caption: String::from("Limits, and what this run came to"),
            columns: vec![
                ("Key", Kind::Code),
                ("Meaning", Kind::Sentence),
                ("At most", Kind::Number),
                ("Value", Kind::Number),
                ("Verdict", Kind::Kept),
            ],
            rows: story.limits.iter().map(row).collect(),
        }));
    }
    Section { id: "limits", heading: "The limits", parts }
}

/// What a reader may not rely on.
pub(super) fn not_promised(story: &Story) -> Section {
    let parameters = &story.claim.parameters;
    let (k, m) = (parameters.k, parameters.m);
    let mut points: Vec<(&str, String)> = Vec::new();
    match story.claim.promise {
        Promise::None => points.push(("Anything", "This release promises nothing at all.".into())),
        Promise::Published => points.push((
            "Somebody who knows the program",
            format!(
                "Whoever reckons back through how the program cuts records into parts may learn more than was meant, \
                 and have fewer than {k} candidates. The attacks cover, closure and worlds show whether this is so."
            ),
        )),
        Promise::AlgorithmAware => {
            points.push((
                "Reckoning back further",
                "How people were grouped, and how groups came to share parts, is not reckoned with.".into(),
            ));
            points.push((
                "Rare terms within a group",
                format!(
                    "A term without a count is, as a rule, one that fewer than {k} people of its group have. Whoever \
                     knows that somebody has it and is in this group knows that as well."
                ),
            ));
        }
    }
    points.push((
        "Somebody who knows more",
        format!(
            "The promise ends with {}, and with somebody who knows what a person does not have, or knows so many \
             others that they can be crossed out.",
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
    points.push(("Taking part", "That somebody's record is in the data is not hidden.".into()));
    points.push((
        "Several releases",
        "Each release is judged alone. If the same people are published again, both can be laid side by side.".into(),
    ));
    points.push((
        "Meaning",
        "Somebody may guess from what words mean which parts belong together, as no program here does.".into(),
    ));
    points.push((
        "Several records of one person",
        "The promise counts records. It is about people only if everybody has one record.".into(),
    ));
    points.push((
        "Telling terms",
        "Terms are published as they are. One that names a person must not be in the data.".into(),
    ));
    let points = points.into_iter().map(|(name, text)| (name.to_owned(), text)).collect();
    let parts = vec![
        text("No protection is against everything. Whoever decides about this release should weigh these:"),
        Part::Points(points),
    ];
    Section { id: "not-promised", heading: "What is not promised", parts }
}

/// Which conditions were checked.
pub(super) fn verification(story: &Story, audience: Audience) -> Section {
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

/// The recipe with all defaults.
pub(super) fn parameters(story: &Story, audience: Audience) -> Section {
    let recipe = &story.recipe;
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut add = |key: &str, meaning: &str, value: String| rows.push(vec![key.into(), meaning.into(), value]);
    let is_inside = audience == Audience::Inside;
    if is_inside {
        let options = &recipe.input.options;
        add("input.file", "the data", recipe.input.file.display().to_string());
        let columns = [
            ("input.column", "the column with the list of terms", &options.column),
            ("input.id_column", "the column that says whose row it is", &options.id_column),
            ("input.item_column", "the column of terms", &options.item_column),
        ];
        for (key, meaning, column) in columns {
            if let Some(column) = column {
                add(key, meaning, column.clone());
            }
        }
    }
    let protect = &recipe.protect;
    let plain = |n: u32| number(u64::from(n));
    add("protect.k", "candidates that remain for everybody, at least", plain(protect.k));
    add("protect.m", "terms that an adversary may know, at most", plain(protect.m));
    let grouping = match protect.grouping {
        Grouping::Layered => "layered",
        Grouping::Paper => "paper",
    };
    add("protect.grouping", "how people are grouped", grouping.into());
    add("protect.max_cluster", "people in a group, aimed at", plain(protect.max_cluster));
    let promise = match protect.promise {
        Promise::None => "none",
        Promise::Published => "published",
        Promise::AlgorithmAware => "algorithm-aware",
    };
    add("protect.promise", "the reading of the guarantee", promise.into());
    add("protect.refine", "whether groups may share parts", yes_or_no(protect.refine));
    let cut = match story.claim.parameters.cut {
        CutRule::Greedy => "greedy",
        CutRule::Weighed => "weighed",
    };
    add("cut (of the claim)", "how groups were cut into parts, which everybody may know", cut.into());
    // How many only: the list says what somebody wants to hide.
    let sensitive = protect.sensitive.len() as u64;
    add("protect.sensitive", "terms that are linked to no other, by number", number(sensitive));
    if let Some(l) = protect.l_diversity {
        add("protect.l_diversity", "nobody is linked to one of them likelier than one in", plain(l));
        let rule = match protect.diversity_rule {
            DiversityRule::Multiplicity => "multiplicity",
            DiversityRule::Size => "size",
        };
        add("protect.diversity_rule", "how that is bounded", rule.into());
    }
    let files = [
        ("protect.utility", "sets of terms whose links matter most", &protect.utility),
        ("protect.weights", "how much terms count when people are grouped", &protect.weights),
    ];
    for (key, meaning, file) in files {
        if is_inside && let Some(file) = file {
            add(key, meaning, file.display().to_string());
        }
    }
    let attack = &recipe.attack;
    let run: Vec<&str> = attack.run.iter().map(|&choice| name(choice)).collect();
    add("attack.run", "attacks", run.join(", "));
    add("attack.steps", "how long worlds searches for each set of terms", number(attack.steps));
    add("attack.most_certain", "certain statements that are put up with", number(attack.most_certain));
    add("attack.most_likely", "how likely a row may be a person's", decimal(attack.most_likely));
    if is_inside {
        let measure = &recipe.measure;
        add("measure.top", "most frequent sets of terms that are compared", number(measure.top as u64));
        add("measure.reconstructions", "reconstructions that are averaged, at most", number(measure.reconstructions));
        add("measure.queries", "random sets of terms that are counted", number(measure.queries as u64));
        add("measure.seed", "where randomness starts", measure.seed.to_string());
        let at_most = &measure.at_most;
        let limits = [
            ("measure.at_most.itemsets_lost", "most frequent sets that may be lost", at_most.itemsets_lost),
            ("measure.at_most.terms_lost", "terms that may be lost", at_most.terms_lost),
            ("measure.at_most.pair_error", "error of pairs of the most frequent terms", at_most.pair_error),
            ("measure.at_most.query_error", "median error of random counts", at_most.query_error),
        ];
        for (key, meaning, limit) in limits {
            add(key, meaning, limit.map_or_else(|| String::from("no limit"), decimal));
        }
        add("repair.rounds", "repairs at most", number(u64::from(recipe.repair.rounds)));
        add("output.folder", "where the package goes", recipe.output.folder.display().to_string());
    }
    let format = match recipe.output.format {
        crate::recipe::OutputFormat::Jsonl => "jsonl",
        crate::recipe::OutputFormat::Parquet => "parquet",
    };
    add("output.format", "how the data of the release are stored", format.into());
    let says = match audience {
        Audience::Inside => "The recipe of this run, with everything that it left open filled in.",
        Audience::Public => "What the release was made and attacked with.",
    };
    let table = Table {
        caption: String::from("Parameters"),
        columns: vec![("Key", Kind::Code), ("Meaning", Kind::Sentence), ("Value", Kind::Sentence)],
        rows,
    };
    Section { id: "parameters", heading: "The parameters", parts: vec![text(says), Part::Table(table)] }
}

/// How long it took.
pub(super) fn stages(story: &Story) -> Section {
    let total: f64 = story.seconds.iter().map(|(_, seconds)| seconds).sum();
    let row = |(stage, seconds): &(String, f64)| vec![stage.clone(), format!("{seconds:.2}")];
    let mut rows: Vec<Vec<String>> = story.seconds.iter().map(row).collect();
    rows.push(vec![String::from("together"), format!("{total:.2}")]);
    let table = Table {
        caption: String::from("Stages of the run"),
        columns: vec![("Stage", Kind::Words), ("Seconds", Kind::Number)],
        rows,
    };
    let read = format!(
        "{} with {} were read.",
        count(story.records, "record", "records"),
        count(story.terms, "different term", "different terms")
    );
    Section { id: "stages", heading: "The run", parts: vec![text(read), Part::Table(table)] }
}

/// The words that the report cannot do without.
pub(super) fn glossary(story: &Story) -> Section {
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
            "Terms of a group of which is published that somebody has them, not who, how many, or with what."
                .to_owned(),
        ),
        ("Row (subrecord)", "What stands in one part of one person's record.".to_owned()),
        (
            "Certain statement",
            format!("What an attack proves: fewer than {k} people of a group, but somebody, have the terms it names."),
        ),
        ("Possible original", "Data that would have led to the same release.".to_owned()),
    ];
    let points = words.into_iter().map(|(word, meaning)| (word.to_owned(), meaning)).collect();
    Section { id: "words", heading: "Words used here", parts: vec![Part::Points(points)] }
}
