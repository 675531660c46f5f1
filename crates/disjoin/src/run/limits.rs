//! Whether a promise and its limits hold. The only place that decides it: verbs, runs, sweeps and every shell ask here.
//!
//! Promises:   the same findings give the same verdict, whoever asks. What is not promised by the release has a limit only if
//!             somebody set one; it is listed as not limited then, never left out
//! Checked by: tests in this file, `crates/disjoin-cli/tests/it/verdicts.rs`

use crate::attack::knowledge_breach::Breach;
use crate::recipe::Limits;
use crate::report::{Attacked, Judgement, Limit, Utility};

/// What attacks and measures found, as far as they ran.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Found {
    /// Certain disclosures.
    pub certain_disclosures: Option<u64>,
    /// The highest re-identification (prosecutor) risk.
    pub reidentification_risk: Option<f64>,
    /// The advantage of the best semantic attack over the baseline.
    pub advantage: Option<f64>,
    /// The inference gain over the prior: the lower end of its interval, in bits a person.
    pub inference_gain: Option<f64>,
    /// How much beliefs about a person change on average, in bits.
    pub belief_change: Option<f64>,
    /// Rules between columns that lead to sensitive values.
    pub dependency_rules: Option<u64>,
    /// The highest probability that all sensitive values of a person are guessed, and what the release promises of it.
    pub knowledge_breach: Option<(f64, Option<f64>)>,
    /// The share of the most frequent itemsets that are lost.
    pub itemsets_lost: Option<f64>,
    /// The share of terms without a count of their own.
    pub terms_lost: Option<f64>,
    /// The relative error of pairs of the most frequent terms.
    pub pair_error: Option<f64>,
    /// The median relative error of counting queries.
    pub query_error: Option<f64>,
    /// The relative error of pairs of terms, drawn by occurrence.
    pub link_error: Option<f64>,
    /// The same of triples.
    pub triple_error: Option<f64>,
    /// How far the mutual information of pairs is off, as a share of what there is.
    pub association_error: Option<f64>,
    /// The share of pairs whose bounds are narrower than a factor of two. More is better: it has no limit.
    pub narrow_links: Option<f64>,
    /// The share of occurrences with published counts. More is better: it has no limit.
    pub visible_occurrences: Option<f64>,
    /// The mean information loss of a cell.
    pub information_loss: Option<f64>,
    /// How far sensitive values together are from what their tables suggest.
    pub joint_loss: Option<f64>,
}

/// Room for rounding where a probability is exactly at its limit, as 1/k often is.
const ROUNDING: f64 = 1e-9;

impl Limits {
    /// Holds what was found against the limits; `proved` is whether the release keeps its promise, if that was looked at.
    pub fn judge(&self, proved: Option<bool>, found: &Found) -> Judgement {
        let limits = [self.of_attacks(found), self.of_measures(found)].concat();
        let holds = proved != Some(false) && limits.iter().all(|limit| limit.holds);
        Judgement { proved, limits, holds }
    }

    fn of_attacks(&self, found: &Found) -> Vec<Limit> {
        let count = |n: Option<u64>| n.map(|n| n as f64);
        let breach = found.knowledge_breach;
        let all = [
            (
                "limits.certain_disclosures",
                "certain disclosures",
                count(self.written.certain_disclosures),
                count(found.certain_disclosures),
            ),
            (
                "limits.reidentification_risk",
                "the highest re-identification (prosecutor) risk",
                self.written.reidentification_risk,
                found.reidentification_risk,
            ),
            (
                "limits.advantage",
                "the advantage of the best semantic attack over the baseline",
                self.written.advantage,
                found.advantage,
            ),
            (
                "limits.inference_gain",
                "the inference gain over the prior, in bits a person (lower end of the interval)",
                self.written.inference_gain,
                found.inference_gain,
            ),
            (
                "limits.belief_change",
                "how much beliefs about a person change on average, in bits",
                self.written.belief_change,
                found.belief_change,
            ),
            (
                "limits.dependency_rules",
                "rules between columns that lead to sensitive values",
                count(self.written.dependency_rules),
                count(found.dependency_rules),
            ),
            (
                "limits.knowledge_breach",
                "the highest probability that all sensitive values of a person are guessed",
                self.written.knowledge_breach.or(breach.and_then(|(_, promised)| promised)),
                breach.map(|(highest, _)| highest),
            ),
        ];
        let judged = |(key, meaning, most, value): (&'static str, &'static str, Option<f64>, Option<f64>)| {
            // A limit on what nobody looked at is not kept: silence is no proof.
            let unseen =
                || Limit { key: key.into(), meaning: meaning.into(), limit: most, value: f64::NAN, holds: false };
            limit((key, meaning, most, value)).or_else(|| self.is_asked(key, most).then(unseen))
        };
        all.into_iter().filter_map(judged).collect()
    }

    /// Whether somebody wrote a limit: the first two have defaults.
    fn is_asked(&self, key: &str, most: Option<f64>) -> bool {
        match key {
            "limits.certain_disclosures" => false,
            "limits.reidentification_risk" => !self.risk_follows_k,
            _ => most.is_some(),
        }
    }

    fn of_measures(&self, found: &Found) -> Vec<Limit> {
        let all = [
            (
                "limits.itemsets_lost",
                "the share of the most frequent itemsets that are lost",
                self.written.itemsets_lost,
                found.itemsets_lost,
            ),
            (
                "limits.terms_lost",
                "the share of terms without a count of their own",
                self.written.terms_lost,
                found.terms_lost,
            ),
            (
                "limits.pair_error",
                "the relative error of pairs of the most frequent terms",
                self.written.pair_error,
                found.pair_error,
            ),
            (
                "limits.query_error",
                "the median relative error of counting queries",
                self.written.query_error,
                found.query_error,
            ),
            (
                "limits.link_error",
                "the relative error of pairs of terms, drawn by occurrence",
                self.written.link_error,
                found.link_error,
            ),
            (
                "limits.association_error",
                "how far the mutual information of pairs of terms is off, as a share of what there is",
                self.written.association_error,
                found.association_error,
            ),
            (
                "limits.information_loss",
                "the mean information loss of a cell, suppressed records counting as lost",
                self.written.information_loss,
                found.information_loss,
            ),
            (
                "limits.joint_loss",
                "the mean distance of sensitive values together from what their tables suggest",
                self.written.joint_loss,
                found.joint_loss,
            ),
        ];
        all.into_iter().filter(|(_, _, most, _)| most.is_some()).filter_map(limit).collect()
    }
}

/// A limit, and whether a value keeps it; nothing where nothing was found out.
fn limit((key, meaning, most, value): (&str, &str, Option<f64>, Option<f64>)) -> Option<Limit> {
    let value = value?;
    let holds = most.is_none_or(|most| value <= most + ROUNDING);
    Some(Limit { key: key.into(), meaning: meaning.into(), limit: most, value, holds })
}

impl Attacked {
    /// What a limit can be about.
    pub fn found(&self) -> Found {
        let rules = self.dependencies().map(|dependencies| dependencies.found.risks);
        match self {
            Attacked::Disassociated { summary, .. } => Found {
                certain_disclosures: Some(summary.certain),
                reidentification_risk: summary.identity.map(|risk| risk.worst),
                ..Found::default()
            },
            Attacked::Classes { inference, .. } => Found {
                inference_gain: inference.as_ref().map(|tried| tried.gain.log_score.low.max(0.0)),
                belief_change: inference.as_ref().map(|tried| tried.loss.mean),
                dependency_rules: rules,
                ..Found::default()
            },
            Attacked::Split { breach, network, promised, is_outside, .. } => {
                let worst = |group: Breach, value: Option<Breach>| value.unwrap_or(group).worst;
                // What somebody made of the release alone is a guess; what is known of other people is at hand.
                let learned =
                    network.as_ref().filter(|_| *is_outside).map_or(0.0, |n| worst(n.group_known, n.value_known));
                let highest = breach.as_ref().map(|b| worst(b.group_known, b.value_known).max(learned));
                Found {
                    certain_disclosures: breach.as_ref().map(|breach| breach.certain),
                    knowledge_breach: highest.map(|highest| (highest, *promised)),
                    dependency_rules: rules,
                    ..Found::default()
                }
            }
            Attacked::Recoded { summary, .. } => {
                // Without the original nothing is known of how often they are right.
                let is_judged = summary.attacks.iter().any(|of| of.score.is_some());
                Found { advantage: is_judged.then(|| summary.beyond_blind()), ..Found::default() }
            }
            Attacked::Nothing => Found::default(),
        }
    }
}

impl Utility {
    /// What a limit can be about. Nothing that is counted beside a noisy release decides about it.
    pub fn found(&self) -> Found {
        match self {
            Utility::Disassociated(report) => Found {
                itemsets_lost: Some(report.top_k.tkd_e.all),
                terms_lost: Some(report.terms_lost.tlost),
                pair_error: Some(report.relative_error.first().and_then(|window| window.re_e.mean).unwrap_or(0.0)),
                query_error: Some(report.queries.median),
                // Where no record has two terms, no link is off.
                link_error: Some(report.links.pair_error.unwrap_or(0.0)),
                triple_error: report.links.triple_error,
                association_error: Some(report.links.association_error.unwrap_or(0.0)),
                narrow_links: report.links.narrow,
                visible_occurrences: Some(report.links.visible),
                ..Found::default()
            },
            Utility::Recoded(report) => Found {
                itemsets_lost: Some(report.top_k.tkd.all),
                terms_lost: Some(report.became.tlost),
                pair_error: Some(report.relative_error.first().and_then(|window| window.re.mean).unwrap_or(0.0)),
                query_error: Some(report.queries.median),
                ..Found::default()
            },
            Utility::Classes(report) => {
                Found { information_loss: Some(report.gcp_all), query_error: report.queries.median, ..Found::default() }
            }
            Utility::Split(report) => Found {
                information_loss: report.quasi.as_ref().map(|quasi| quasi.gcp_all),
                query_error: report.quasi.as_ref().and_then(|quasi| quasi.queries.median),
                joint_loss: Some(report.joint.mean),
                ..Found::default()
            },
            Utility::Noisy(_) => Found::default(),
        }
    }
}

impl Found {
    /// Everything that was found, by name.
    pub fn values(&self) -> Vec<(&'static str, f64)> {
        let count = |n: Option<u64>| n.map(|n| n as f64);
        let all = [
            ("certain_disclosures", count(self.certain_disclosures)),
            ("reidentification_risk", self.reidentification_risk),
            ("advantage", self.advantage),
            ("inference_gain", self.inference_gain),
            ("belief_change", self.belief_change),
            ("dependency_rules", count(self.dependency_rules)),
            ("knowledge_breach", self.knowledge_breach.map(|(highest, _)| highest)),
            ("itemsets_lost", self.itemsets_lost),
            ("terms_lost", self.terms_lost),
            ("pair_error", self.pair_error),
            ("query_error", self.query_error),
            ("link_error", self.link_error),
            ("triple_error", self.triple_error),
            ("association_error", self.association_error),
            ("narrow_links", self.narrow_links),
            ("visible_occurrences", self.visible_occurrences),
            ("information_loss", self.information_loss),
            ("joint_loss", self.joint_loss),
        ];
        all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }

    /// What attacks found, and what measures did.
    #[must_use]
    pub fn and(self, measured: Found) -> Found {
        Found {
            certain_disclosures: self.certain_disclosures,
            reidentification_risk: self.reidentification_risk,
            advantage: self.advantage,
            inference_gain: self.inference_gain,
            belief_change: self.belief_change,
            dependency_rules: self.dependency_rules,
            knowledge_breach: self.knowledge_breach,
            ..measured
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe::written;

    #[test]
    fn what_nobody_limited_is_listed_and_does_not_decide() {
        let limits = Limits::resolve(&written::Limits::default(), 5).unwrap();
        let found = Found { inference_gain: Some(0.5), itemsets_lost: Some(0.9), ..Found::default() };
        let judged = limits.judge(Some(true), &found);
        assert!(judged.holds && judged.limits.len() == 1 && judged.limits[0].limit.is_none());
        assert!(!limits.judge(Some(false), &found).holds);
        let written = written::Limits { inference_gain: Some(0.0), ..limits.written };
        let strict = Limits { written, ..limits };
        assert!(!strict.judge(Some(true), &found).holds);
    }

    #[test]
    fn a_limit_on_what_nobody_looked_at_is_not_kept() {
        let asked = written::Limits { reidentification_risk: Some(0.5), ..written::Limits::default() };
        let judged = Limits::resolve(&asked, 5).unwrap().judge(None, &Found::default());
        assert!(!judged.holds && judged.limits[0].value.is_nan());
    }

    #[test]
    fn defaults_are_nothing_certain_and_one_over_k() {
        let limits = Limits::resolve(&written::Limits::default(), 5).unwrap();
        let risk = |risk| Found { reidentification_risk: Some(risk), ..Found::default() };
        assert!(limits.judge(None, &risk(0.2)).holds && !limits.judge(None, &risk(0.2001)).holds);
        let certain = Found { certain_disclosures: Some(1), ..Found::default() };
        assert!(!limits.judge(None, &certain).holds);
        // What a split table promises is its limit.
        let breach = |promised| Found { knowledge_breach: Some((0.6, promised)), ..Found::default() };
        assert!(limits.judge(None, &breach(None)).holds && !limits.judge(None, &breach(Some(0.5))).holds);
    }
}
