//! What `run`, `demo` and `repair` say: the whole way in a few lines.

use std::path::Path;

use super::attacks::rules_line;
use super::proved::{noise_promise, noisy_rows};
use super::{numbers, text};
use crate::release::noisy::Universe;
use crate::repair;
use crate::repair::regroup::{Ended, Fared, Stats};
use crate::report::page::{Page, Part, count, number, percent, share};
use crate::report::run::{AnyClaim, Attacked, Before, Judgement, Proof, Repaired, Round, Run, Utility, people_line};

impl Run {
    /// The run in a few lines; `out` is the folder of its package.
    pub fn headline(&self, out: &Path) -> Page {
        let mut points: Vec<(String, String)> = Vec::new();
        let mut add = |label: &str, told: String| points.push((label.to_owned(), told));
        if let Some(people) = &self.people {
            add("people", people_line(people));
        }
        if let Some(before) = self.before_line() {
            add("before", before);
        }
        for (round, n) in self.rounds.iter().zip(0_u32..) {
            let label = if n == 0 { String::from("protect") } else { format!("repair {n}") };
            add(&label, self.round_line(round, n == 0));
        }
        for (line, n) in self.attack_lines().into_iter().zip(0..) {
            add(if n == 0 { "attack" } else { "" }, line);
        }
        add("utility", self.utility_line());
        if let AnyClaim::Noisy(claim) = &self.claim {
            add(
                "public",
                match claim.universe {
                    Universe::Listed => "which items there are: they are listed beside the release".into(),
                    Universe::AssumedPublic => {
                        "which items there are: taken from the data, and assumed to be known".into()
                    }
                },
            );
        }
        for (label, line) in limit_lines(&self.judgement) {
            add(label, line);
        }
        let holds = self.judgement.holds;
        let (may, out) = (if holds { "may leave the building" } else { "must NOT leave the building" }, out.display());
        add("release", format!("{out}/release   {may}"));
        add("report", format!("{out}/custody/report.html   for you; {out}/release/report.html   for everybody"));
        let end = match (&self.last().map(|round| &round.proof), holds) {
            (Some(Proof::Noisy(_)), true) => "The promise holds, if noise was drawn as in the ledger.",
            (Some(Proof::Noisy(verdict)), false) if verdict.violations == 0 => {
                "Nothing is promised: this is a demonstration."
            }
            (_, true) => "The promise holds and every limit is kept.",
            (_, false) => "The promise or a limit is NOT kept: the report shows which.",
        };
        Page::answer(vec![Part::Points(points)], end)
    }

    fn before_line(&self) -> Option<String> {
        let k = self.recipe.protect.k;
        let (one, many) = if self.people.is_some() { ("person", "people") } else { ("record", "records") };
        match &self.before {
            Before::Nothing => None,
            Before::Table { at_risk, rows } => Some(format!(
                "{} of {} ({}) share their quasi-identifiers with fewer than {k}",
                number(*at_risk),
                count(*rows, one, many),
                share(*at_risk, *rows),
            )),
            Before::Sets(risk) => Some(format!(
                "{} of {} ({}) have up to {} that fewer than {k} share",
                number(risk.at_risk),
                count(risk.records, one, many),
                share(risk.at_risk, risk.records),
                count(u64::from(risk.m), "term", "terms"),
            )),
        }
    }

    fn round_line(&self, round: &Round, is_first: bool) -> String {
        let proved = if round.proof.holds() { "proved" } else { "NOT proved" };
        let method = self.recipe.method.name();
        let did = match (&round.repaired, &round.proof) {
            (Some(Repaired::Chunks(stats)), _) => {
                format!("{} moved to term chunks", count(stats.terms_set_aside, "term", "terms"))
            }
            (Some(Repaired::Groups(stats)), _) => {
                let (before, after) = stats.beyond_blind();
                match stats.exchanges {
                    0 => format!("nothing helps: the advantage over the baseline is {before:.3}"),
                    n => format!(
                        "groups were repaired in {}: the advantage over the baseline was {before:.3}, and is {after:.3}",
                        count(n, "exchange", "exchanges"),
                    ),
                }
            }
            (None, Proof::Disassociated(verdict)) => format!("k = {}, m = {}", verdict.k, verdict.m),
            (None, Proof::Classes { table, .. } | Proof::Split(table)) => format!(
                "{method}: {}, the smallest of {}",
                count(table.classes, "class", "classes"),
                count(table.smallest_class, "record", "records"),
            ),
            (None, Proof::Recoded(verdict)) => format!(
                "{method}: {} of {} in groups",
                number(verdict.generalized_terms),
                count(verdict.terms, "term", "terms")
            ),
            (None, Proof::Noisy(verdict)) => match &self.claim {
                AnyClaim::Noisy(claim) => format!("{method}: {}", noise_promise(claim)),
                _ => count(verdict.rows, "row", "rows"),
            },
        };
        let certain = match &round.attacked {
            Attacked::Disassociated { summary, .. } => {
                let found = count(summary.certain, "certain disclosure", "certain disclosures");
                let risk = summary
                    .identity
                    .map_or(String::new(), |risk| format!(", re-identification risk at most {:.3}", risk.worst));
                format!("; attacks: {found}{risk}")
            }
            _ => String::new(),
        };
        match is_first && matches!(round.proof, Proof::Noisy(_)) {
            true => format!("{did}; the budget is {proved}"),
            false => format!("{did}; the promise is {proved}{certain}"),
        }
    }

    fn attack_lines(&self) -> Vec<String> {
        let Some(last) = self.last() else { return Vec::new() };
        let mut lines = Vec::new();
        match &last.attacked {
            Attacked::Classes { inference: Some(tried), .. } => {
                let score = &tried.gain.log_score;
                lines.push(format!(
                    "inference gain over the prior about {}: {:+.4} bits a person ({:+.4} to {:+.4}); {} above {:.1}",
                    tried.column,
                    score.mean,
                    score.low,
                    score.high,
                    count(tried.loss.above, "posterior", "posteriors"),
                    tried.nearly_sure,
                ));
            }
            Attacked::Split { breach: Some(breach), .. } => {
                let likely = breach.value_known.unwrap_or(breach.group_known);
                lines.push(format!(
                    "all sensitive values of a person are guessed with a probability of up to {:.4}, {:.4} on average; {} certain",
                    likely.worst,
                    likely.mean,
                    count(breach.certain, "value is", "values are")
                ));
            }
            Attacked::Recoded { summary, .. } => {
                lines.push(match summary.worst().and_then(|of| Some((of, of.score.as_ref()?, of.blind?))) {
                    Some((of, score, blind)) => format!(
                        "semantic attack {}: right in {:.3}, the baseline in {:.3}",
                        of.attack.name(),
                        score.precision.share,
                        blind.precision
                    ),
                    None if summary.coverage.attacked == 0 => {
                        format!("nothing could be tried: distances come from {}", summary.distances)
                    }
                    None => String::from("no semantic attack is better than the baseline"),
                })
            }
            _ => {}
        }
        lines.extend(last.attacked.dependencies().map(|dependencies| rules_line(&dependencies.found)));
        lines
    }

    fn utility_line(&self) -> String {
        let tenth = |share: f64| percent((1000.0 * share).round() / 1000.0);
        match &self.utility {
            Utility::Disassociated(report) => format!(
                "{} of the most frequent itemsets ({} at most) are still the most frequent; counts of itemsets are off by {} on \
                 the median",
                tenth(1.0 - report.top_k.tkd_e.all),
                number(report.top_k.k as u64),
                tenth(report.queries.median),
            ),
            Utility::Classes(report) => format!(
                "cells lose {:.4} on average (GCP); counts are off by {} on the median; {} suppressed",
                report.gcp_all,
                report.queries.median.map_or_else(|| String::from("-"), tenth),
                count(report.removed as u64, "record", "records"),
            ),
            Utility::Split(report) => format!(
                "sensitive values together are {:.4} from what their tables suggest; {} suppressed",
                report.joint.mean,
                count(report.removed, "record", "records"),
            ),
            Utility::Recoded(report) => format!(
                "NCP {:.4}; {} of the most frequent itemsets are lost; counts of itemsets are off by {} on the median",
                report.ncp_all,
                tenth(report.top_k.tkd.all),
                tenth(report.queries.median),
            ),
            Utility::Noisy(report) => format!(
                "{}; {:.4} of the best {} are missed; no promise covers this number",
                noisy_rows(report.kind, self.last().map_or(0, |round| published(&round.proof))),
                report.missed,
                count(report.top as u64, "itemset", "itemsets")
            ),
        }
    }
}

fn published(proof: &Proof) -> u64 {
    if let Proof::Noisy(verdict) = proof { verdict.rows } else { 0 }
}

/// Limits that are broken, and what nobody limited.
fn limit_lines(judged: &Judgement) -> Vec<(&'static str, String)> {
    let line = |limit: &crate::report::run::Limit| match limit.limit {
        None => Some(("no limit", format!("{}: {:.4} ({})", limit.meaning, limit.value, limit.key))),
        Some(most) if !limit.holds => {
            Some(("LIMIT", format!("{}: {} is {:.4}, the limit is {most:.4}", limit.key, limit.meaning, limit.value)))
        }
        Some(_) => None,
    };
    judged.limits.iter().filter_map(line).collect()
}

/// What a repair of chunks did.
pub fn chunks_repaired(stats: &repair::Stats) -> String {
    let repair::Stats { clusters, clusters_changed, terms_set_aside, occurrences_hidden } = *stats;
    match clusters_changed {
        0 => format!("nothing was disclosed in {}", count(clusters, "cluster", "clusters")),
        _ => format!(
            "{} moved to the term chunk in {} of {}: {} published no longer",
            count(terms_set_aside, "term", "terms"),
            number(clusters_changed),
            count(clusters, "cluster", "clusters"),
            count(occurrences_hidden, "occurrence is", "occurrences are"),
        ),
    }
}

/// What a repair of groups did, against each adversary.
pub fn groups_repaired(stats: &Stats, sources: &[&str]) -> Page {
    let mut parts = Vec::new();
    for (adversary, source) in sources.iter().enumerate() {
        let share = |of: &crate::attack::semantic::summary::OfMethod| {
            of.score.as_ref().map_or(0.0, |score| score.precision.share)
        };
        let row = |fared: &Fared| {
            let Fared { attack, before, after, .. } = fared;
            let numbers = [share(before), share(after), before.beyond_blind().max(0.0), after.beyond_blind().max(0.0)];
            std::iter::once(attack.name().to_owned()).chain(numbers.map(|value| format!("{value:.3}"))).collect()
        };
        if sources.len() > 1 {
            parts.push(text(format!("with {source}")));
        }
        let heads = ["attack", "precision before", "after", "advantage before", "after"];
        let rows = stats.attacks.iter().filter(|fared| fared.adversary == adversary).map(row).collect();
        parts.push(numbers(&heads, rows));
    }
    parts.push(text(format!(
        "{} in {}; NCP {:.5}, was {:.5}",
        count(stats.exchanges, "exchange", "exchanges"),
        count(u64::from(stats.rounds), "round", "rounds"),
        stats.ncp.1,
        stats.ncp.0
    )));
    let end = match stats.ended {
        Ended::Baseline => "No attack has an advantage over the baseline, by more than chance explains.",
        Ended::Limit => "An attack still wins: what would help costs more utility than the limit on NCP allows.",
        Ended::Exhausted => "An attack still wins: nothing that was tried helps and keeps the promise.",
    };
    Page::answer(parts, end)
}

/// The demonstration, told from its beginning.
pub fn demo_page(run: &Run, out: &Path) -> Option<Page> {
    let (Before::Sets(before), Utility::Disassociated(utility)) = (&run.before, &run.utility) else { return None };
    let (first, last) = (run.rounds.first()?, run.last()?);
    let (Attacked::Disassociated { summary, .. }, Proof::Disassociated(verdict)) = (&first.attacked, &last.proof)
    else {
        return None;
    };
    let (k, out) = (before.k, out.display());
    let tried = match &last.repaired {
        Some(Repaired::Chunks(stats)) => format!(
            "An adversary who knows how the paper's algorithm cuts learns {}: that fewer than {k}\n\
             \x20 patients of a cluster share two diagnoses. Repaired: {} to term chunks. Attacked again: nothing.",
            count(summary.certain, "thing for certain", "things for certain"),
            count(stats.terms_set_aside, "diagnosis of a cluster was moved", "diagnoses of clusters were moved"),
        ),
        _ => String::from("There are no certain disclosures."),
    };
    let proved = match verdict.holds {
        true => format!(
            "Proved from the published files alone: whatever two diagnoses of a patient you\n\
             \x20 know, at least {k} patients may be the one. Checked: {}.",
            count(verdict.clusters, "cluster of patients", "clusters of patients")
        ),
        false => String::from("The promise does NOT hold. This is a defect of disjoin: please report it."),
    };
    let told = format!(
        "{patients} synthetic patients, each with a set of diagnoses.

BEFORE: the data as it is
  {at_risk} patients ({share}) have two diagnoses that fewer than {k} patients share.
  An adversary who knows these two, a neighbour or an employer, can learn all the others.

ATTACKED, before anyone else does it
  {tried}

AFTER: the same diagnoses, none lost, but cut into chunks that are no longer linked
  {proved}

STILL THERE: what an analyst can ask of it
  {kept} of the most frequent sets of diagnoses ({top} at most) still are the most frequent ones.
  Counts of {queries} random sets are off by {error} on the median; bounds held for {bounded}.

FILES
  {out}/custody/report.html   the whole run, for you and your ethics board: open it in a browser
  {out}/release   may leave the building: the data, a claim of what is promised, a page about it
  {out}/custody   must not: the original, and which patient went to which cluster

TRY NEXT
  disjoin recipe new YOUR_FILE
  disjoin run
  disjoin verify {out} --original {out}/custody/original.csv --column diagnoses
  disjoin query {out} --top 10 --size 2",
        patients = number(before.records),
        at_risk = number(before.at_risk),
        share = share(before.at_risk, before.records),
        kept = percent((1000.0 * (1.0 - utility.top_k.tkd_e.all)).round() / 1000.0),
        top = number(utility.top_k.k as u64),
        queries = number(utility.queries.queries as u64),
        bounded = percent((1000.0 * utility.queries.within_bounds).floor() / 1000.0),
        error = percent((1000.0 * utility.queries.median).round() / 1000.0),
    );
    Some(Page::of_text(&told))
}
