//! The whole way, from a recipe to a package: read, inspect, protect, verify, attack, repair until the limits hold, measure,
//! publish.
//!
//! Promises:   the package is written as a whole or not at all, and the old one stays until then; what is written was verified
//!             and attacked as it is written. Whether the limits hold is told, not enforced: the story says so first
//! Assumes:    one person at the wheel: nobody changes the input meanwhile
//! Checked by: tests/it/recipes.rs, crates/disjoin-cli/tests/it/run.rs

pub mod meaning;
pub mod noisy;
pub mod recoded;
pub mod split;
pub mod stream;
pub mod sweep;
pub mod table;

use std::time::Instant;

use serde::Serialize;

use crate::attack::summary::{Choice, Summary, find, likeliest};
use crate::attack::{self, Knowledge, View};
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::inspect::risk;
use crate::measure;
use crate::protect::disassociation::{self, Params, disassociate_with};
use crate::publish::{Custody, Destination, Encoding, Package, Page, Part, renumber};
use crate::read::{self, Intake};
use crate::recipe::{AtMost, OutputFormat, Recipe};
use crate::reconstruct::Model;
use crate::release::claim::{Claim, Parameters, Sensitive};
use crate::release::open::InMemory;
use crate::release::{Disassociated, Promise};
use crate::repair;
use crate::report::{Audience, Limit, Round, Story, html, json, markdown};
use crate::verify;

/// Runs a recipe and writes its package; `tell` hears of every stage before it begins.
pub fn run(recipe: &Recipe, tell: &mut dyn FnMut(&str)) -> Result<Story> {
    refuse_table(recipe)?;
    refuse_others(recipe)?;
    let destination = Destination::check(&recipe.output.folder)?;
    destination.check_outside(&recipe.input.file)?;
    tell("reading the data");
    let read = read::read(&recipe.input.file, &recipe.input.options)?;
    run_on(recipe, &read.0, read.1, None, &destination, tell)
}

/// A recipe for a table goes another way: [`table::run_table`].
fn refuse_table(recipe: &Recipe) -> Result<()> {
    match recipe.table {
        None => Ok(()),
        Some(_) => Err(Error::recipe("table", "is for tables, and this is done with sets only", "remove [table]")),
    }
}

/// Recoded transactions and noise go other ways: [`recoded::run_recoded`], [`noisy::run_noisy`].
fn refuse_others(recipe: &Recipe) -> Result<()> {
    match recipe.protect.recoding.is_some() || recipe.protect.noise.is_some() {
        false => Ok(()),
        true => Err(Error::recipe("protect.method", "this is done with disassociation only", "remove the key")),
    }
}

/// The same for data that was read already; `original` is kept in custody if it exists nowhere else.
pub fn run_on(
    recipe: &Recipe,
    data: &Dataset,
    intake: Intake,
    original: Option<&[u8]>,
    destination: &Destination,
    tell: &mut dyn FnMut(&str),
) -> Result<Story> {
    let mut clock = Clock { seconds: Vec::new() };
    tell("looking for people whom a few terms single out");
    let before = clock.time("inspect", || risk(data, recipe.protect.k, recipe.protect.m));
    let Made { claim, rounds, utility, limits, holds, release, leaf_of, stats } = make(recipe, data, &mut clock, tell)?;
    let story = Story {
        recipe: recipe.clone(),
        records: data.records.len() as u64,
        terms: data.n_terms() as u64,
        before,
        claim,
        rounds,
        utility,
        limits,
        holds,
        seconds: clock.seconds,
    };
    tell("writing the package");
    let claim = &story.claim;
    let custody = Custody::new(&claim.made_by, intake, claim.parameters.clone(), claim.promise, stats);
    let pages = pages(&story)?;
    let encoding = match recipe.output.format {
        OutputFormat::Jsonl => Encoding::JsonLines,
        OutputFormat::Parquet => Encoding::Parquet,
    };
    let package =
        Package { claim, release: &release, encoding, custody: &custody, leaf_of: &leaf_of, original, pages: &pages };
    package.publish(destination)?;
    Ok(story)
}

/// A release that went the whole way, but is not written yet.
struct Made {
    claim: Claim,
    rounds: Vec<Round>,
    utility: measure::Report,
    limits: Vec<Limit>,
    holds: bool,
    release: Disassociated,
    leaf_of: Vec<u32>,
    stats: disassociation::Stats,
}

/// Protects, and tries out and mends until the limits hold; then measures what is left.
fn make(recipe: &Recipe, data: &Dataset, clock: &mut Clock, tell: &mut dyn FnMut(&str)) -> Result<Made> {
    let params = recipe.protect.params_for(data)?;
    let protected = clock.time("protect", || disassociate_with(data, &params, &mut |step| tell(step.text())))?;
    let (mut release, mut leaf_of) = (protected.release, protected.leaf_of);
    let promise = recipe.protect.promise;
    let mut claim = Claim::disassociation(parameters(&params, data), promise, release.header.records);

    let mut rounds = Vec::new();
    let mut repaired = None;
    loop {
        let round =
            clock.time("verify and attack", || try_out(recipe, &claim, &release, data, &leaf_of, repaired, tell))?;
        let limits = attack_limits(recipe, &round.attacks);
        let is_last = rounds.len() as u32 >= recipe.repair.rounds;
        rounds.push(round);
        if is_last || limits.iter().all(|limit| limit.holds) {
            break;
        }
        tell("mending what the attacks broke");
        let mended = clock.time("repair", || repair::set_aside(&release, &claim.parameters));
        if mended.stats.clusters_changed == 0 {
            break;
        }
        leaf_of = renumber(leaf_of, &mended.leaves).ok_or(Error::Internal("a repair keeps all clusters"))?;
        release = mended.release;
        claim = Claim::disassociation(claim.parameters, Promise::AlgorithmAware, claim.records);
        repaired = Some(mended.stats);
    }

    tell("measuring what is left");
    let options = measure::Options {
        top: recipe.measure.top,
        reconstructions: recipe.measure.reconstructions,
        queries: recipe.measure.queries,
        seed: recipe.measure.seed,
        interest: Some(&params.interest),
        ..measure::Options::default()
    };
    let utility = clock.time("measure", || measure::measure(&mut InMemory::new(&release), data, &options))?;

    let last = rounds.last();
    let mut limits = last.map_or_else(Vec::new, |round: &Round| attack_limits(recipe, &round.attacks));
    limits.extend(measure_limits(recipe, &utility));
    let holds = last.is_some_and(|round| round.verdict.holds) && limits.iter().all(|limit| limit.holds);
    Ok(Made { claim, rounds, utility, limits, holds, release, leaf_of, stats: protected.stats })
}

/// Verifies a release and attacks it.
fn try_out(
    recipe: &Recipe,
    claim: &Claim,
    release: &Disassociated,
    data: &Dataset,
    leaf_of: &[u32],
    repaired: Option<repair::Stats>,
    tell: &mut dyn FnMut(&str),
) -> Result<Round> {
    tell("proving the promise");
    let truth = verify::Truth { original: data, leaf_of: Some(leaf_of) };
    let verdict = verify::verify(claim, InMemory::new(release), Some(truth))?;
    let view = View { release, cut: claim.parameters.cut, knowledge: &Knowledge::Anything };
    let found = find(&view, &recipe.attack.run, recipe.attack.steps, &mut |name| tell(&format!("attacking: {name}")));
    let identity = match recipe.attack.run.contains(&Choice::Identity) {
        true => {
            tell("asking whose row it may be");
            Some(likeliest(&Model::new(release)?))
        }
        false => None,
    };
    let truth = attack::Truth::new(data, Some(leaf_of), release)?;
    let attacks = Summary::new(&found, identity, Some(&truth), release, recipe.attack.most_certain);
    Ok(Round { repaired, verdict, attacks })
}

/// What the claim says about the parameters.
pub fn parameters(params: &Params, data: &Dataset) -> Parameters {
    let mut terms: Vec<String> = params.sensitive.iter().map(|&t| data.dictionary.text(t).to_owned()).collect();
    terms.sort_unstable();
    let rule = |diversity: disassociation::Diversity| match diversity.rule {
        disassociation::DiversityRule::Multiplicity => String::from("multiplicity"),
        disassociation::DiversityRule::Size => String::from("size"),
    };
    let sensitive = Sensitive { terms, l: params.diversity.map(|d| d.l), rule: params.diversity.map(rule) };
    Parameters {
        k: params.k,
        m: params.m,
        max_cluster: params.max_cluster,
        refine: params.refine,
        cut: params.cut_rule(),
        sensitive: (!params.sensitive.is_empty()).then_some(sensitive),
    }
}

/// Room for rounding where a probability is exactly at its limit, as 1/k often is.
const ROUNDING: f64 = 1e-9;

/// A limit, and whether a value keeps it.
fn limit(key: impl Into<String>, meaning: impl Into<String>, at_most: f64, value: f64) -> Limit {
    Limit { key: key.into(), meaning: meaning.into(), at_most, value, holds: value <= at_most + ROUNDING }
}

/// The same where there may be no limit, or no value.
fn limit_if(key: &str, meaning: &str, at_most: Option<f64>, value: Option<f64>) -> Option<Limit> {
    Some(limit(key, meaning, at_most?, value?))
}

fn attack_limits(recipe: &Recipe, attacks: &Summary) -> Vec<Limit> {
    let asked = &recipe.attack;
    let certain = limit(
        "attack.most_certain",
        "certain statements about who shares terms with fewer than k people",
        asked.most_certain as f64,
        attacks.certain as f64,
    );
    let likely = attacks.identity.map(|risk| {
        limit("attack.most_likely", "the highest probability that a row is a person's", asked.most_likely, risk.worst)
    });
    [Some(certain), likely].into_iter().flatten().collect()
}

fn measure_limits(recipe: &Recipe, utility: &measure::Report) -> Vec<Limit> {
    let first = utility.relative_error.first().and_then(|window| window.re_e.mean);
    let measured = Measured {
        itemsets_lost: utility.top_k.tkd_e.all,
        terms_lost: ("the share of terms that no chunk shows", utility.terms_lost.tlost),
        pair_error: first.unwrap_or(0.0),
        query_error: utility.queries.median,
    };
    measured.limits(&recipe.measure.at_most)
}

/// What was measured of sets of terms, in whichever form.
struct Measured {
    itemsets_lost: f64,
    /// With what it means.
    terms_lost: (&'static str, f64),
    pair_error: f64,
    query_error: f64,
}

impl Measured {
    /// Held against the limits of a recipe, as far as there are any.
    fn limits(&self, at_most: &AtMost) -> Vec<Limit> {
        let itemsets = ("the share of the most frequent itemsets that are lost", self.itemsets_lost);
        let pairs = ("the relative error of pairs of the most frequent terms", self.pair_error);
        let queries = ("the median relative error of counts of itemsets", self.query_error);
        let asked = [
            ("itemsets_lost", at_most.itemsets_lost, itemsets),
            ("terms_lost", at_most.terms_lost, self.terms_lost),
            ("pair_error", at_most.pair_error, pairs),
            ("query_error", at_most.query_error, queries),
        ];
        let held = |(key, at_most, (meaning, value)): (&str, Option<f64>, (&str, f64))| {
            Some(limit(format!("measure.at_most.{key}"), meaning, at_most?, value))
        };
        asked.into_iter().filter_map(held).collect()
    }
}

/// A story of any kind as a page.
type Dressed<S> = fn(&S, Audience) -> String;

/// The report of a story in all its forms: in full for custody, and what may leave.
fn pages_of<S: Serialize>(story: &S, html: Dressed<S>, markdown: Dressed<S>) -> Result<Vec<Page>> {
    let mut json = serde_json::to_string_pretty(story).map_err(|_| Error::Internal("a report is always JSON"))?;
    json.push('\n');
    let page = |part, audience| Page { part, name: "report.html", text: html(story, audience) };
    Ok(vec![
        page(Part::Custody, Audience::Inside),
        Page { part: Part::Custody, name: "report.md", text: markdown(story, Audience::Inside) },
        Page { part: Part::Custody, name: "report.json", text: json },
        page(Part::Release, Audience::Public),
    ])
}

/// The report in all its forms: in full for custody, and what may leave.
fn pages(story: &Story) -> Result<Vec<Page>> {
    let text = |part, audience| -> Result<[Page; 3]> {
        let json = serde_json::to_string_pretty(&json(story, audience))
            .map_err(|_| Error::Internal("a report is always JSON"))?;
        Ok([
            Page { part, name: "report.html", text: html(story, audience) },
            Page { part, name: "report.md", text: markdown(story, audience) },
            Page { part, name: "report.json", text: json + "\n" },
        ])
    };
    let inside = text(Part::Custody, Audience::Inside)?;
    // One page is enough outside: the claim is there for machines.
    let [public, ..] = text(Part::Release, Audience::Public)?;
    Ok(inside.into_iter().chain([public]).collect())
}

/// How long each stage took.
struct Clock {
    seconds: Vec<(String, f64)>,
}

impl Clock {
    fn time<T>(&mut self, stage: &str, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        let seconds = start.elapsed().as_secs_f64();
        match self.seconds.iter_mut().find(|(name, _)| name == stage) {
            Some((_, sum)) => *sum += seconds,
            None => self.seconds.push((stage.to_owned(), seconds)),
        }
        result
    }
}
