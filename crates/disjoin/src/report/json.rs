//! A report for programs: what the pages tell, as JSON.
//!
//! What is told is listed, not what is left out: a structure is taken apart by name wherever it holds terms, so that one that
//! grows does not grow into a report by itself.

use std::collections::BTreeSet;

use serde::Serialize;

use super::verdict::{judge, needs_original};
use super::{Audience, Limit, Round, Story};
use crate::attack::identity::Risk as Identity;
use crate::attack::summary::{Choice, Cluster, OfAttack, Summary};
use crate::attack::{Coverage, Says};
use crate::inspect::Risk;
use crate::measure;
use crate::protect::disassociation::{DiversityRule, Grouping};
use crate::recipe::{Attack, Input, Measure, Output, OutputFormat, Protect, Recipe, Repair};
use crate::release::claim::{Parameters, Sensitive};
use crate::release::{Claim, CutRule, Promise};
use crate::repair;
use crate::verify::{CheckLine, Verdict};

/// What is told to an audience, to be written as JSON.
#[derive(Debug, Serialize)]
pub struct Told<'a> {
    audience: Audience,
    holds: bool,
    verdict: String,
    reasons: Vec<String>,
    claim: ToldClaim<'a>,
    #[serde(flatten)]
    rest: Rest<'a>,
}

/// The report as a structure for JSON.
pub fn json(story: &Story, audience: Audience) -> Told<'_> {
    let judged = judge(story, audience);
    let rest = match audience {
        Audience::Inside => Rest::Inside(Box::new(inside(story))),
        Audience::Public => Rest::Public(Box::new(public(story))),
    };
    Told {
        audience,
        holds: judged.holds,
        verdict: judged.sentence,
        reasons: judged.reasons,
        claim: claim(&story.claim),
        rest,
    }
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Rest<'a> {
    Inside(Box<Inside<'a>>),
    Public(Box<Public>),
}

#[derive(Debug, Serialize)]
struct Inside<'a> {
    records: u64,
    terms: u64,
    before: &'a Risk,
    recipe: ToldRecipe<'a>,
    rounds: Vec<ToldRound<'a>>,
    utility: &'a measure::Report,
    limits: &'a [Limit],
    seconds: &'a [(String, f64)],
}

fn inside(story: &Story) -> Inside<'_> {
    // `holds` is told by the judgement.
    let Story { recipe, records, terms, before, claim: _, rounds, utility, limits, holds: _, seconds } = story;
    Inside {
        records: *records,
        terms: *terms,
        before,
        recipe: told_recipe(recipe),
        rounds: rounds.iter().map(round).collect(),
        // The itemsets that were asked are not serialised.
        utility,
        limits,
        seconds,
    }
}

#[derive(Debug, Serialize)]
struct ToldRecipe<'a> {
    input: &'a Input,
    protect: ToldProtect,
    attack: &'a Attack,
    measure: &'a Measure,
    repair: &'a Repair,
    output: &'a Output,
}

#[derive(Debug, Serialize)]
struct ToldProtect {
    k: u32,
    m: u32,
    grouping: Grouping,
    max_cluster: u32,
    promise: Promise,
    refine: bool,
    /// How many.
    sensitive: usize,
    l_diversity: Option<u32>,
    diversity_rule: DiversityRule,
    /// Whether there were any.
    utility: bool,
    weights: bool,
}

fn told_recipe(recipe: &Recipe) -> ToldRecipe<'_> {
    let Recipe { input, protect, table: _, attack, measure, repair, output } = recipe;
    ToldRecipe { input, protect: told_protect(protect), attack, measure, repair, output }
}

fn told_protect(protect: &Protect) -> ToldProtect {
    let &Protect { k, m, grouping, max_cluster, promise, refine, ref sensitive, l_diversity, diversity_rule, .. } =
        protect;
    ToldProtect {
        k,
        m,
        grouping,
        max_cluster,
        promise,
        refine,
        sensitive: sensitive.len(),
        l_diversity,
        diversity_rule,
        utility: protect.utility.is_some(),
        weights: protect.weights.is_some(),
    }
}

#[derive(Debug, Serialize)]
struct ToldClaim<'a> {
    form: &'a str,
    method: &'a str,
    made_by: &'a str,
    promise: Promise,
    promised: &'a str,
    adversary: &'a str,
    records: u64,
    parameters: ToldParameters<'a>,
}

#[derive(Debug, Serialize)]
struct ToldParameters<'a> {
    k: u32,
    m: u32,
    max_cluster: u32,
    refine: bool,
    cut: CutRule,
    /// How many.
    sensitive: usize,
    l: Option<u32>,
    rule: Option<&'a str>,
}

fn claim(claim: &Claim) -> ToldClaim<'_> {
    let Claim { format: _, version: _, form, method, made_by, parameters, promise, promised, adversary, records } =
        claim;
    let &Parameters { k, m, max_cluster, refine, cut, ref sensitive } = parameters;
    let (sensitive, l, rule) = match sensitive {
        Some(Sensitive { terms, l, rule }) => (terms.len(), *l, rule.as_deref()),
        None => (0, None, None),
    };
    let parameters = ToldParameters { k, m, max_cluster, refine, cut, sensitive, l, rule };
    ToldClaim { form, method, made_by, promise: *promise, promised, adversary, records: *records, parameters }
}

#[derive(Debug, Serialize)]
struct ToldRound<'a> {
    repaired: Option<&'a repair::Stats>,
    verdict: &'a Verdict,
    attacks: ToldSummary<'a>,
}

#[derive(Debug, Serialize)]
struct ToldSummary<'a> {
    records: u64,
    clusters: u64,
    holds: bool,
    certain: u64,
    limit: u64,
    attacks: &'a [OfAttack],
    identity: Option<Identity>,
    worst: Vec<ToldCluster<'a>>,
}

#[derive(Debug, Serialize)]
struct ToldCluster<'a> {
    cluster: u32,
    attacks: &'a BTreeSet<&'static str>,
    learned: u64,
    people: Option<u64>,
    /// How many.
    statements: usize,
}

fn round(round: &Round) -> ToldRound<'_> {
    let Round { repaired, verdict, attacks } = round;
    let &Summary { k: _, m: _, records, clusters, holds, certain, limit, ref attacks, identity, ref worst } = attacks;
    let worst = worst.iter().map(told_cluster).collect();
    let attacks = ToldSummary { records, clusters, holds, certain, limit, attacks, identity, worst };
    ToldRound { repaired: repaired.as_ref(), verdict, attacks }
}

fn told_cluster(of: &Cluster) -> ToldCluster<'_> {
    let &Cluster { cluster, ref attacks, learned, people, ref statements } = of;
    ToldCluster { cluster, attacks, learned, people, statements: statements.len() }
}

/// What follows from the release.
#[derive(Debug, Serialize)]
struct Public {
    parameters: PublicParameters,
    verification: Option<PublicVerdict>,
    attacks: Option<PublicAttacks>,
}

#[derive(Debug, Serialize)]
struct PublicParameters {
    protect: ToldProtect,
    attack: Attack,
    format: OutputFormat,
}

#[derive(Debug, Serialize)]
struct PublicVerdict {
    records: u64,
    clusters: u64,
    joint_clusters: u64,
    record_chunks: u64,
    shared_chunks: u64,
    term_chunk_terms: u64,
    violations: u64,
    /// Those that need no original.
    checks: Vec<CheckLine>,
}

#[derive(Debug, Serialize)]
struct PublicAttacks {
    run: Vec<Choice>,
    certain: u64,
    limit: u64,
    attacks: Vec<PublicAttack>,
    identity: Option<Identity>,
}

#[derive(Debug, Serialize)]
struct PublicAttack {
    attack: &'static str,
    says: Says,
    statements: u64,
    clusters_touched: u64,
    coverage: Coverage,
}

fn public(story: &Story) -> Public {
    let recipe = &story.recipe;
    let last = story.rounds.last();
    let attacks = |found: &Summary| PublicAttacks {
        run: recipe.attack.run.clone(),
        certain: found.certain,
        limit: found.limit,
        attacks: found.attacks.iter().map(public_attack).collect(),
        identity: found.identity,
    };
    Public {
        parameters: PublicParameters {
            protect: told_protect(&recipe.protect),
            attack: recipe.attack.clone(),
            format: recipe.output.format,
        },
        verification: last.map(|round| public_verdict(&round.verdict)),
        attacks: last.map(|round| attacks(&round.attacks)),
    }
}

fn public_attack(of: &OfAttack) -> PublicAttack {
    let &OfAttack { attack, says, statements, clusters_touched, coverage, score: _, baseline: _ } = of;
    PublicAttack { attack, says, statements, clusters_touched, coverage }
}

fn public_verdict(verdict: &Verdict) -> PublicVerdict {
    let checks: Vec<CheckLine> = verdict.checks.iter().filter(|line| !needs_original(line.rule)).copied().collect();
    PublicVerdict {
        records: verdict.records,
        clusters: verdict.clusters,
        joint_clusters: verdict.joint_clusters,
        record_chunks: verdict.record_chunks,
        shared_chunks: verdict.shared_chunks,
        term_chunk_terms: verdict.term_chunk_terms,
        violations: checks.iter().map(|line| line.violated).sum(),
        checks,
    }
}
