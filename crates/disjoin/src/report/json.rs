//! A report on disassociated data for programs: what the page inside shows, as JSON.
//!
//! What is told is listed, not what is left out: a structure is taken apart by name wherever it holds terms, so that one that
//! grows does not grow into a report by itself.

use serde_json::{Value, json};

use super::Audience;
use super::disassociated::{Judged, Round, Story, judge};
use crate::attack::summary::{Cluster, Summary};
use crate::recipe::{Protect, Recipe};
use crate::release::Claim;
use crate::release::claim::{Parameters, Sensitive};

/// What is told inside.
pub(super) fn json(story: &Story<'_>) -> Value {
    let Story { run, before, claim, rounds, utility } = story;
    let Judged { holds, sentence, reasons, .. } = judge(story, Audience::Inside);
    json!({
        "audience": Audience::Inside,
        "holds": holds,
        "verdict": sentence,
        "reasons": reasons,
        "claim": told_claim(claim),
        "records": run.records,
        "terms": run.terms,
        "before": before,
        "recipe": told_recipe(&run.recipe),
        "rounds": rounds.iter().map(round).collect::<Vec<_>>(),
        // The itemsets that were asked are not serialised.
        "utility": utility,
        "limits": run.judgement.limits,
        "seconds": run.seconds,
    })
}

/// A recipe without the terms that somebody wants to hide.
pub(super) fn told_recipe(recipe: &Recipe) -> Value {
    let Recipe { input, method, protect, table, attack, measure, limits, repair, output, notes: _ } = recipe;
    let &Protect { k, m, grouping, max_cluster, promise, refine, ref sensitive, l_diversity, diversity_rule, .. } =
        protect;
    json!({
        "input": input,
        "method": method,
        "protect": {
            "k": k,
            "m": m,
            "grouping": grouping,
            "max_cluster": max_cluster,
            "promise": promise,
            "refine": refine,
            "sensitive": sensitive.len(),
            "l_diversity": l_diversity,
            "diversity_rule": diversity_rule,
            "utility": protect.utility.is_some(),
            "weights": protect.weights.is_some(),
        },
        "table": table,
        "attack": attack,
        "measure": measure,
        "limits": limits,
        "repair": repair,
        "output": output,
    })
}

fn told_claim(claim: &Claim) -> Value {
    let &Parameters { k, m, max_cluster, refine, cut, ref sensitive } = &claim.parameters;
    let (sensitive, l, rule) = match sensitive {
        Some(Sensitive { terms, l, rule }) => (terms.len(), *l, rule.as_deref()),
        None => (0, None, None),
    };
    json!({
        "form": claim.form,
        "method": claim.method,
        "made_by": claim.made_by,
        "promise": claim.promise,
        "promised": claim.promised,
        "adversary": claim.adversary,
        "records": claim.records,
        "parameters": {
            "k": k, "m": m, "max_cluster": max_cluster, "refine": refine, "cut": cut,
            "sensitive": sensitive, "l": l, "rule": rule,
        },
    })
}

fn round(round: &Round<'_>) -> Value {
    let &Summary {
        k: _,
        m: _,
        records,
        clusters,
        certain,
        ref attacks,
        ref attackers,
        identity,
        rerun,
        ref stronger,
        ref worst,
        clusters_with_shared_terms,
    } = round.attacks;
    let cluster = |of: &Cluster| {
        let Cluster { cluster, attacks, learned, people, statements } = of;
        json!({
            "cluster": cluster, "attacks": attacks, "learned": learned, "people": people,
            "findings": statements.len(),
        })
    };
    json!({
        "repaired": round.repaired,
        "verdict": round.verdict,
        "attacks": {
            "records": records,
            "clusters": clusters,
            "clusters_with_shared_terms": clusters_with_shared_terms,
            "certain": certain,
            "attacks": attacks,
            "attackers": attackers,
            "identity": identity,
            "rerun": rerun,
            "stronger": stronger,
            "worst": worst.iter().map(cluster).collect::<Vec<_>>(),
        },
    })
}
