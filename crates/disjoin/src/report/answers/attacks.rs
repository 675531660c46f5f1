//! What `attack` says, of every form: what was found, how true it is, and which limits it breaks.

use super::audited::actual_parts;
use super::{SHOWN, four_or_dash, numbers, text};
use crate::attack::attackers::OfAttacker;
use crate::attack::knowledge_breach::{Breach, BreachReport};
use crate::attack::network_breach::{NetworkBreach, Source};
use crate::attack::person_breach::{Guess, PersonBreach};
use crate::attack::rerun::{Looked, Reran};
use crate::attack::semantic::summary as semantic;
use crate::attack::stronger::{Learned, Stronger};
use crate::attack::summary::Summary;
use crate::attack::surviving::{DependencyTold, NetworkTold, RuleTold, Surviving, Valued};
use crate::attack::{Rate, Says};
use crate::report::Tried;
use crate::report::page::{Kind, Page, Part, Table, count, number};
use crate::report::run::{Attacked, Believed, Dependencies, Judgement};

/// How many findings of a cluster are shown.
const SHOWN_STATEMENTS: usize = 5;

/// What attacks found, and whether that is within the limits.
pub fn attack_page(attacked: &Attacked, judged: &Judgement, show_terms: bool) -> Page {
    let mut parts = Vec::new();
    match attacked {
        Attacked::Disassociated { summary, .. } => disassociated(&mut parts, summary, show_terms),
        Attacked::Classes { inference, dependencies, actual } => {
            if let Some(tried) = inference {
                inferred(&mut parts, tried);
            }
            add_dependencies(&mut parts, dependencies.as_ref());
            parts.extend(actual.iter().flat_map(|found| actual_parts(found)));
        }
        Attacked::Split { breach, network, dependencies, .. } => {
            if let (Some(breach), Some(network)) = (breach, network) {
                guessed(&mut parts, breach, network);
            }
            add_dependencies(&mut parts, dependencies.as_ref());
        }
        Attacked::Recoded { summary, surest } => {
            by_words(&mut parts, summary);
            if !surest.is_empty() {
                parts.push(text(format!("Surest eliminations:\n    {}", surest.join("\n    "))));
            }
        }
        Attacked::Nothing => parts.push(text("Nothing was attacked.")),
    }
    if let Attacked::Disassociated { summary, .. } = attacked {
        parts.push(text(not_looked_at(summary)));
    }
    Page::answer(parts, verdict(judged))
}

/// What no attack on disassociated data decides: that nothing was found there means nothing.
fn not_looked_at(summary: &Summary) -> String {
    let grouping = match summary.rerun.map(|reran| reran.looked) {
        Some(Looked::Exactly) => "sets with terms of term chunks, for an adversary who runs the program",
        Some(Looked::Sampled) => {
            "of what follows from how the program groups records, other sets than were drawn, and those with terms of term chunks"
        }
        _ => "what follows from how the program groups records",
    };
    let is_sampled = summary.rerun.is_some_and(|reran| reran.looked == Looked::Sampled);
    let shared = match summary.clusters_with_shared_terms {
        0 => String::new(),
        // Sets with such terms were drawn, too.
        _ if is_sampled => String::new(),
        n => format!(
            "sets with terms of shared chunks (in {} of {}), ",
            number(n),
            count(summary.clusters, "cluster", "clusters")
        ),
    };
    format!("Not looked at: {shared}{grouping}.")
}

/// The limits in sentences: broken ones, kept ones, and what nobody limited.
fn verdict(judged: &Judgement) -> String {
    let mut lines = Vec::new();
    for limit in &judged.limits {
        let value = shown(limit.value);
        lines.push(match (limit.limit, limit.holds) {
            (Some(most), false) if limit.value.is_nan() => {
                format!("{}: not looked at, though its limit is {}.", limit.meaning, shown(most))
            }
            (None, _) => format!("{}: {value}. Nobody limited it ({}).", limit.meaning, limit.key),
            (Some(most), true) => format!("{}: {value}, within the limit of {}.", limit.meaning, shown(most)),
            (Some(most), false) => format!("{}: {value}, ABOVE the limit of {}.", limit.meaning, shown(most)),
        });
    }
    lines.push(match (judged.limits.is_empty(), judged.holds) {
        (true, _) => String::from("Nothing was found out that a limit could be about."),
        (false, true) => String::from("No attack goes beyond its limit."),
        (false, false) => String::from("The release can be BREACHED."),
    });
    lines.join("\n")
}

fn shown(value: f64) -> String {
    if value == value.round() && value.abs() < 1e15 { number(value.max(0.0) as u64) } else { format!("{value:.4}") }
}

fn disassociated(parts: &mut Vec<Part>, report: &Summary, show_terms: bool) {
    parts.push(text(format!(
        "{} in {}, k = {}, m = {}",
        count(report.records, "record", "records"),
        count(report.clusters, "cluster", "clusters"),
        report.k,
        report.m
    )));
    let row = |of: &crate::attack::summary::OfAttack| {
        let kind = match of.says {
            Says::FewerThanK => format!("fewer than {}", report.k),
            Says::Together => String::from("a guess"),
        };
        let (found, clusters) = (number(of.statements), number(of.clusters_touched));
        vec![of.attack.to_owned(), found, clusters, number(of.coverage.open), kind]
    };
    let heads = ["attack", "findings", "clusters", "left open", "finds"];
    parts.push(numbers(&heads, report.attacks.iter().map(row).collect()));
    parts.push(judged(report));
    parts.extend(attackers(report));
    if let Some(risk) = &report.identity {
        let worst = [risk.worst, risk.mean].map(|p| format!("{p:.4}"));
        let [worst, mean] = worst;
        let row = vec!["identity".into(), number(risk.itemsets), worst, mean, number(risk.above)];
        parts.push(numbers(&["re-identification risk", "itemsets", "highest", "mean", "above 1/k"], vec![row]));
    }
    if let Some(reran) = &report.rerun {
        parts.push(text(format!("rerun: {}", reran_in_words(reran, report.k))));
    }
    parts.extend(report.stronger.iter().flat_map(|found| stronger(found, report.m)));
    clusters(parts, report, show_terms);
}

/// What running the program again showed.
pub(in crate::report) fn reran_in_words(reran: &Reran, k: u32) -> String {
    let Reran { originals, runs, itemsets, with_witness, .. } = *reran;
    let have = if itemsets == 1 { "has" } else { "have" };
    let of_sets = format!("{} of {} {have} a witness", number(with_witness), count(itemsets, "itemset", "itemsets"));
    match reran.looked {
        Looked::Exactly => format!(
            "{of_sets}: a dataset in which {k} records hold it and from which the program makes this very release. All {} were looked \
             at; {} this release.",
            count(runs, "possible original", "possible originals"),
            if originals == 1 {
                String::from("one of them gives")
            } else {
                format!("{} of them give", number(originals))
            },
        ),
        Looked::Sampled => format!(
            "{of_sets}: a dataset in which {k} records hold it and from which the program makes this very release. The itemsets were drawn \
             from records of the original; fewer than {k} of these hold each. The program was run {}.",
            count(runs, "time", "times"),
        ),
        Looked::TooLarge => {
            String::from("not looked at: too many possible originals, and no original to draw itemsets from.")
        }
        Looked::NotReproduced => {
            String::from("not looked at: with the parameters of the claim, the program makes another release.")
        }
    }
}

/// What attackers of three strengths get out of cover problems: the counters of Algorithm 1.
fn attackers(report: &Summary) -> Option<Part> {
    let some = |n: Option<u64>| n.map_or_else(|| String::from("-"), number);
    let row = |of: &OfAttacker| {
        let counters = &of.counters;
        vec![
            of.attacker.name().to_owned(),
            of.known.map_or_else(|| String::from("any"), number),
            number(counters.literal),
            number(counters.per_chunk),
            number(counters.per_item),
            number(counters.pairs),
            some(of.vulnerable_records),
            some(of.whole_records),
        ]
    };
    let heads =
        ["cover, by attacker", "sets known", "as printed", "by chunk", "by term", "pairs", "vulnerable", "whole"];
    (!report.attackers.is_empty()).then(|| numbers(&heads, report.attackers.iter().map(row).collect()))
}

/// What an adversary learns who knows more than is promised.
fn stronger(found: &Stronger, m: u32) -> [Part; 2] {
    let told = format!(
        "An adversary who knows more than is promised: {} of each of {}; all holders of {}; up to {} absent besides. \
         A further term that they have is held by {:.4} of all people on average.",
        count(found.terms, "term", "terms"),
        count(found.people, "person", "people"),
        count(found.all_holders, "term", "terms"),
        count(found.absent, "term", "terms"),
        found.prior,
    );
    let row = |name: String, of: &Learned| {
        vec![
            name,
            format!("{:.2}", of.candidates),
            format!("{:.2}", of.fewest),
            number(of.below_k),
            four_or_dash(of.cluster),
            format!("{:.4}", of.further),
        ]
    };
    let rows = vec![
        row(String::from("this adversary"), &found.learned),
        row(format!("with {m} of the terms"), &found.promised),
    ];
    let heads = ["knows more", "candidates", "fewest", "below k", "right cluster", "further term"];
    [text(told), numbers(&heads, rows)]
}

/// How true findings are, by the original.
fn judged(report: &Summary) -> Part {
    let share = |rate: &Rate| if rate.of == 0 { String::from("-") } else { format!("{:.4}", rate.share) };
    let row = |of: &crate::attack::summary::OfAttack| {
        let (score, baseline) = (of.score.as_ref()?, of.baseline.as_ref()?);
        let interval = match score.precision.of {
            0 => String::from("-"),
            _ => format!("{:.4}-{:.4}", score.precision.low, score.precision.high),
        };
        Some(vec![
            of.attack.to_owned(),
            number(score.right),
            share(&score.precision),
            interval,
            share(baseline),
            score.recall.as_ref().map_or(String::from("-"), share),
            number(score.people),
        ])
    };
    let heads = ["by the original", "right", "precision", "95 %", "baseline", "recall", "people"];
    numbers(&heads, report.attacks.iter().filter_map(row).collect())
}

fn clusters(parts: &mut Vec<Part>, report: &Summary, show_terms: bool) {
    let row = |cluster: &crate::attack::summary::Cluster| {
        vec![
            format!("cluster {}", cluster.cluster),
            number(cluster.statements.len() as u64),
            number(cluster.learned),
            cluster.people.map_or(String::new(), number),
            cluster.attacks.iter().copied().collect::<Vec<_>>().join(", "),
        ]
    };
    let columns = vec![
        ("worst clusters", Kind::Words),
        ("certain", Kind::Number),
        ("learned", Kind::Number),
        ("people", Kind::Number),
        ("found by", Kind::Words),
    ];
    let rows = report.worst.iter().take(SHOWN).map(row).collect();
    parts.push(Part::Table(Table { caption: String::new(), columns, rows }));
    if show_terms {
        for cluster in report.worst.iter().take(SHOWN) {
            let mut lines = vec![format!("cluster {}", cluster.cluster)];
            for statement in cluster.statements.iter().take(SHOWN_STATEMENTS) {
                let learned = match statement.learned.is_empty() {
                    true => String::new(),
                    false => format!("  =>  {}", statement.learned.join(", ")),
                };
                lines.push(format!("    {}{learned}", statement.terms.join(" + ")));
            }
            let more = cluster.statements.len().saturating_sub(SHOWN_STATEMENTS);
            lines.extend((more > 0).then(|| format!("    and {} more", number(more as u64))));
            parts.push(text(lines.join("\n")));
        }
    }
    if report.worst.len() > SHOWN {
        parts.push(text(format!("and {} more clusters", number((report.worst.len() - SHOWN) as u64))));
    }
}

fn inferred(parts: &mut Vec<Part>, tried: &Tried) {
    let loss = &tried.loss;
    parts.push(text(format!(
        "An adversary knows everybody's quasi-identifiers, and how {} goes with them.",
        tried.column
    )));
    let row = |name: &str, gain: &crate::attack::Gain| {
        let score = &gain.log_score;
        vec![
            name.to_owned(),
            format!("{:+.4}", score.mean),
            format!("{:+.4} to {:+.4}", score.low, score.high),
            format!("{:.1} %", 100.0 * gain.right_after),
            format!("{:.1} %", 100.0 * gain.right_before),
        ]
    };
    let rows = vec![row("over the prior", &tried.gain), row("over class shares", &tried.beyond_class)];
    parts.push(numbers(&["inference gain", "bits a person", "95 %", "right", "right before"], rows));
    parts.push(text(format!(
        "Beliefs change by {:.4} bits on average, and by up to {:.4} bits. The highest posterior is {:.4}; {} above {:.2}.",
        loss.mean,
        loss.max,
        loss.posterior,
        count(loss.above, "person is", "people are"),
        tried.nearly_sure
    )));
}

fn guessed(parts: &mut Vec<Part>, report: &BreachReport, network: &NetworkBreach) {
    parts.push(text(format!(
        "{} in {}",
        count(report.people, "person", "people"),
        count(report.groups, "group", "groups")
    )));
    let row = |known: &str, breach: &Breach| {
        vec![known.to_owned(), format!("{:.4}", breach.worst), format!("{:.4}", breach.mean)]
    };
    let both = |group: &Breach, value: Option<&Breach>| {
        let mut rows = vec![row("all, if the group is known", group)];
        rows.extend(value.map(|breach| row("all others, if one of them is known, too", breach)));
        rows
    };
    let mut rows = both(&report.group_known, report.value_known.as_ref());
    rows.extend(report.columns.iter().map(|c| row(&format!("{}, if the group is known", c.column), &c.alone)));
    parts.push(numbers(&["how likely are sensitive values guessed?", "worst", "mean"], rows));
    let source = match network.source {
        Source::Release => "the release",
        Source::Outside => "other people",
    };
    parts.push(text(format!(
        "By an adversary who learned how values go together from {} rows of {source}:",
        number(network.rows)
    )));
    let rows = both(&network.group_known, network.value_known.as_ref());
    parts.push(numbers(&["how likely are sensitive values guessed?", "worst", "mean"], rows));
    let likely = |group: &crate::attack::knowledge_breach::GroupBreach| {
        group.value_known.map_or(group.group_known.worst, |breach| breach.worst)
    };
    let is_worst = |group: &&crate::attack::knowledge_breach::GroupBreach| {
        !group.certain.is_empty() || report.limit.is_some_and(|limit| likely(group) > limit)
    };
    let rows = report.worst_groups.iter().filter(is_worst).take(SHOWN).map(|group| {
        let (name, worst) = (format!("group {}", group.group), format!("{:.4}", likely(group)));
        vec![name, number(u64::from(group.size)), worst, group.certain.join(", ")]
    });
    parts.push(numbers(&["worst groups", "people", "worst", "certain"], rows.collect()));
}

fn by_words(parts: &mut Vec<Part>, summary: &semantic::Summary) {
    let semantic::Summary { distances, terms: known, coverage, .. } = summary;
    let recodings = match summary.recodings.len() {
        0 => String::new(),
        n => format!(" in {} recodings", number(n as u64)),
    };
    let mut points = vec![
        ("distances".into(), format!("from {distances}")),
        (
            "terms known".into(),
            format!(
                "{} as words, {} as phrases, {} by their last word, {} by their words, {} unknown",
                number(known.words),
                number(known.phrases),
                number(known.heads),
                number(known.means),
                number(known.unknown)
            ),
        ),
        (
            "generalised items".into(),
            format!(
                "{}{recodings}, of which {} attacked ({} with one record, {} of unknown meaning)",
                number(coverage.generalised),
                number(coverage.attacked),
                number(coverage.single_row),
                number(coverage.unknown)
            ),
        ),
        (
            "their members".into(),
            format!(
                "{} in all records, {} unknown; {} left out: nothing stands beside",
                number(coverage.cells),
                number(coverage.unknown_cells),
                count(coverage.rows_without_context, "record", "records")
            ),
        ),
    ];
    if known.pieces > 0 {
        points.push(("and from pieces".into(), count(known.pieces, "word", "words")));
    }
    if coverage.rows_left_out > 0 {
        let rows = count(coverage.rows_left_out, "record", "records");
        points.push(("a sample".into(), format!("{rows} of items in many left out")));
    }
    parts.push(Part::Points(points));
    let row = |found: &semantic::OfMethod| {
        let mut cells = vec![found.attack.name().to_owned(), number(found.eliminated)];
        if let Some(score) = &found.score {
            cells.push(format!("{:.3}", score.precision.share));
            cells.push(format!("{:.3}-{:.3}", score.precision.low, score.precision.high));
            cells.extend([score.recall.share, score.f, score.mean_f].map(|value| format!("{value:.3}")));
        }
        cells
    };
    let heads = ["attack", "eliminated", "precision", "95 % interval", "recall", "F", "mean F"];
    parts.push(numbers(&heads, summary.attacks.iter().map(row).collect()));
    if let Some((score, blind)) = summary.attacks.iter().find_map(|found| Some((found.score.as_ref()?, found.blind?))) {
        parts.push(text(format!(
            "The baseline, eliminating at random, is right in {:.3} of cases: the density is {:.3}.",
            blind.precision, score.density
        )));
    }
}

fn add_dependencies(parts: &mut Vec<Part>, dependencies: Option<&Dependencies>) {
    let Some(Dependencies { found, person }) = dependencies else { return };
    let columns = found.networks.iter().map(|network| network.columns.len()).max().unwrap_or(0);
    parts.push(text(format!(
        "Dependencies between columns: {} of {}{}",
        count(found.rows, "row", "rows"),
        count(columns as u64, "column", "columns"),
        if found.are_rows { "" } else { ", put together from the tables at random" }
    )));
    found.networks.iter().for_each(|network| add_network(parts, network));
    if let Some(person) = person {
        add_person(parts, person);
    }
    parts.push(text(rules_line(found)));
}

/// Rules that lead to sensitive values, in a sentence.
pub(super) fn rules_line(found: &Surviving) -> String {
    match found.risks {
        0 => format!("No rule that is confirmed leads to a sensitive value with more than {}.", found.alpha),
        n => format!(
            "{} to sensitive values with a probability above {}, right about {}.",
            count(n, "rule between columns leads", "rules between columns lead"),
            found.alpha,
            count(found.people, "person", "people")
        ),
    }
}

fn add_network(parts: &mut Vec<Part>, network: &NetworkTold) {
    parts.push(text(format!("{}: {}", network.of.words(), count(network.arrows.len() as u64, "arrow", "arrows"))));
    let heads = ["rules of Algorithm 1", "highest", "rows", "lift", "risk", "people", "evidence", "its highest cell"];
    parts.push(numbers(&heads, network.sensible.iter().take(SHOWN).map(rule).collect()));
    add_hidden(parts, network.sensible.len(), "rule", "rules");
    if !network.sensible.is_empty() || !network.literal.is_empty() {
        let literal = count(network.literal.len() as u64, "rule", "rules");
        parts.push(text(format!("  as printed, Algorithm 1 has {literal}")));
    }
    let heads = ["who has these has", "share", "of all", "lift", "risk", "people"];
    parts.push(numbers(&heads, network.dependencies.iter().take(SHOWN).map(dependency).collect()));
    add_hidden(parts, network.dependencies.len(), "dependency", "dependencies");
}

fn add_hidden(parts: &mut Vec<Part>, all: usize, one: &str, many: &str) {
    if all > SHOWN {
        parts.push(text(format!("  and {} besides; --json has all", count((all - SHOWN) as u64, one, many))));
    }
}

fn rule(rule: &RuleTold) -> Vec<String> {
    let named = |at: &[Valued]| at.iter().map(|valued| valued.value.clone()).collect::<Vec<_>>().join(", ");
    vec![
        format!("{} -> {}", rule.given.join(", "), rule.column),
        format!("{:.4}", rule.highest),
        number(u64::from(rule.support)),
        format!("{:.2}", rule.lift),
        rule.risk.to_string(),
        number(rule.people),
        // What chance could do as well is weak, however high its probability is.
        String::from(if rule.confirmed { "confirmed" } else { "weak" }),
        format!("{} -> {}", named(&rule.at), rule.value),
    ]
}

fn dependency(found: &DependencyTold) -> Vec<String> {
    let named = |valued: &Valued| format!("{}={}", valued.column, valued.value);
    let given: Vec<String> = found.given.iter().map(named).collect();
    vec![
        format!("{} -> {}", given.join(", "), named(&found.told)),
        format!("{:.4}", found.confidence),
        format!("{:.4}", found.baseline),
        format!("{:.2}", found.lift),
        if found.is_risk { found.risk.to_string() } else { String::from("-") },
        number(u64::from(found.people)),
    ]
}

fn add_person(parts: &mut Vec<Part>, person: &Believed) {
    let named = |valued: &Valued| format!("{} = {}", valued.column, valued.value);
    let list = |all: &[Valued]| all.iter().map(named).collect::<Vec<_>>().join(", ");
    let known = match person.known.is_empty() {
        true => String::new(),
        false => format!(", of whom {} is known", list(&person.known)),
    };
    let rows = person.beliefs.first().map_or(0, |belief| belief.rows);
    let fit = count(u64::from(rows), "row", "rows");
    parts.push(text(format!("A person with {}{known}: {fit} fit", list(&person.target))));
    for belief in &person.beliefs {
        let row = |value: &crate::attack::surviving::ValueBelief| {
            let shares = [Some(value.baseline), Some(value.before), value.after, value.counted].map(four_or_dash);
            std::iter::once(value.value.clone()).chain(shares).collect()
        };
        parts.push(text(belief.column.clone()));
        let heads = ["", "everybody", "these rows", "with known", "counted"];
        parts.push(numbers(&heads, belief.values.iter().take(SHOWN).map(row).collect()));
        add_hidden(parts, belief.values.len(), "value", "values");
    }
    if let Some(breach) = &person.breach {
        add_breach(parts, breach);
    }
}

/// Table XIII: all other sensitive values of a person together.
fn add_breach(parts: &mut Vec<Part>, breach: &PersonBreach) {
    let groups = count(breach.groups, "group", "groups");
    parts.push(text(format!(
        "Over all assignments consistent with the release, in {groups}: what is known has a probability of {:.4}",
        breach.known
    )));
    let row = |guess: &Guess| {
        let values: Vec<&str> = guess.values.iter().map(|valued| valued.value.as_str()).collect();
        vec![values.join(", "), format!("{:.4}", guess.probability)]
    };
    let named = |guess: &Guess| guess.values.iter().map(|valued| valued.column.clone()).collect::<Vec<_>>().join(", ");
    parts.push(text(breach.guesses.first().map_or_else(String::new, named)));
    let heads = ["together", "knowledge breach"];
    parts.push(numbers(&heads, breach.guesses.iter().take(SHOWN).map(row).collect()));
    add_hidden(parts, breach.combinations.map_or(0, |n| n as usize), "combination", "combinations");
}
