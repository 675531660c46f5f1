//! Disassociated data: protected, proved, attacked, repaired from the release alone, measured.
//!
//! Checked by: tests/it/recipes.rs, `crates/disjoin-cli/tests/it`

use serde_json::json;

use super::super::open::{Input, Opened, Original, Stored};
use super::super::{AttackOptions, MeasureOptions, people};
use super::{Planned, value};
use crate::attack::attackers::of_attackers;
use crate::attack::reassociate::{Matching, Reassociate};
use crate::attack::stronger::stronger;
use crate::attack::summary::{Choice, Summary, find, likeliest};
use crate::attack::{self, Attack, Findings, Knowledge, View};
use crate::data::{Dataset, TermId};
use crate::error::{Error, Place, Result};
use crate::measure::{self, measure as compare};
use crate::observer::{Observer, Quiet};
use crate::protect::disassociation::for_the_lab::ForTheLab;
use crate::protect::disassociation::{
    self, Grouping, Outcome, Params, disassociate_apart, disassociate_given, disassociate_with,
};
use crate::publish::{Custody, Encoding, Kept, Package, Part, carry, encoding_of, everywhere, renumber};
use crate::read::{self, Intake};
use crate::recipe::Recipe;
use crate::reconstruct::Multiplicity;
use crate::release::claim::{Parameters, Sensitive};
use crate::release::open::InMemory;
use crate::release::{Claim, CutRule, Disassociated, Form, Promise, jsonl};
use crate::repair::{self, set_aside};
use crate::report::{Attacked, Proof, Repaired, Utility, count, number};
use crate::verify::{self, Truth};

/// Sets cut into chunks.
pub struct Made {
    pub(super) data: Dataset,
    pub(super) intake: Intake,
    claim: Claim,
    outcome: Outcome,
    /// The original itself, where it exists nowhere else (the demonstration).
    pub(crate) original: Option<Vec<u8>>,
}

/// Cuts sets into chunks.
pub(super) fn protect(recipe: &Recipe, input: Input<'_>, observer: &dyn Observer) -> Result<Made> {
    observer.stage("reading the data");
    let (data, mut intake) = input.sets(&recipe.input.file, &recipe.input.options, observer)?;
    let data = people::join_beyond(data, &mut intake, recipe.protect.k);
    let params = recipe.protect.params_for(&data)?;
    let outcome = match (people::apart(intake.people.as_ref()), &recipe.protect.clusters) {
        (Some(_), Some(_)) => {
            let hint = "give one record a person, or no clusters";
            return Err(Error::recipe("protect.clusters", "are for people with one record each", hint));
        }
        (Some(people), None) => disassociate_apart(&data, &params, &people.of_record, observer)?,
        (None, Some(file)) => disassociate_given(&data, &params, &read::clusters(file)?, observer)?,
        (None, None) => disassociate_with(&data, &params, observer)?,
    };
    people::look_for_repeated_records(&data, &mut intake);
    let parameters = parameters(&params, &data);
    let claim = Claim::disassociation(parameters, params.promise(), outcome.release.header.records)
        .of_people(intake.people.as_ref().map(|people| people.visits));
    Ok(Made { data, intake, claim, outcome, original: None })
}

impl Made {
    pub(super) fn plan(&self, recipe: &Recipe) -> Result<Planned<'_>> {
        let (claim, release, stats) = (&self.claim, &self.outcome.release, &self.outcome.stats);
        let body = json!({ "parameters": claim.parameters, "promise": claim.promise, "stats": stats });
        let custody = Custody::new(Form::Disassociated, None, &self.intake, body)?;
        let encoding = if recipe.output.format.is_parquet() { Encoding::Parquet } else { Encoding::JsonLines };
        let mut package = Package::default()
            .disassociated(release, encoding)
            .bytes(Part::Release, "claim.json", claim.to_json()?)
            .custody(Form::Disassociated, &custody, everywhere(&self.outcome.leaf_of))?
            .people(self.intake.people.as_ref(), None);
        if let Some(original) = &self.original {
            package = package.bytes(Part::Custody, "original.csv", original.clone());
        }
        let line = format!(
            "k = {}, m = {}: {} in {}, {} of them joint",
            claim.parameters.k,
            claim.parameters.m,
            count(claim.records, "record", "records"),
            count(release.roots.len() as u64, "cluster", "clusters"),
            number(stats.joint_roots),
        );
        let json = json!({
            "input": self.intake,
            "parameters": claim.parameters,
            "promise": claim.promise,
            "promised": claim.promised,
            "records": claim.records,
            "terms": release.dictionary.len(),
            "roots": release.roots.len(),
            "stats": stats,
        });
        let nothing = || String::from("this release promises nothing (paper literal): do not publish it");
        let warnings = (claim.promise == Promise::None).then(nothing).into_iter().collect();
        Ok(Planned { package, line, json, warnings }.of_people(self.intake.people.as_ref(), &self.intake.several))
    }
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

pub(super) fn verify(stored: &Stored, original: Option<&Original>, observer: &dyn Observer) -> Result<Proof> {
    observer.stage("checking every cluster");
    let sets = original.map(Original::sets).transpose()?;
    let leaf_of = sets.and_then(|(_, kept)| kept).map(Kept::full_map);
    let truth = sets.map(|(data, _)| Truth { original: data, leaf_of: leaf_of.as_deref() });
    let mut verdict = verify::verify_with(&stored.claim, stored.roots(observer.memory())?, truth, observer)?;
    let people = original.and_then(Original::people);
    if let (Some(people), Some(leaf_of)) = (people::apart(people), &leaf_of) {
        verify::verify_people(&mut verdict, stored.roots(observer.memory())?, leaf_of, &people.of_record, observer)?;
    }
    Ok(Proof::Disassociated(verdict))
}

pub(super) fn attack(
    stored: &Stored,
    original: Option<&Original>,
    asked: &AttackOptions,
    observer: &dyn Observer,
) -> Result<Attacked> {
    observer.stage("reading the release");
    let release = stored.load(observer)?;
    let sets = original.map(Original::sets).transpose()?;
    let leaf_of = sets.and_then(|(_, kept)| kept).map(Kept::full_map);
    let truth = sets.map(|(data, _)| attack::Truth::new(data, leaf_of.as_deref(), &release)).transpose()?;
    let truth = truth.map(|truth| truth.watched(observer));
    observer.check();
    let cut = if asked.assume_greedy { CutRule::Greedy } else { stored.claim.parameters.cut };
    attack::check_room(&release, cut, observer.memory()).map_err(|error| stored.named(error))?;
    let view = View { release: &release, cut, knowledge: &Knowledge::Anything, observer };
    let promise = stored.claim.promise;
    let (chosen, worlds) = (asked.chosen(promise), asked.worlds(&stored.claim));
    let mut found = find(&view, &chosen, &worlds);
    found.extend(by_words(&view, asked, observer)?);
    let reran = chosen.contains(&Choice::Rerun).then(|| {
        let program = program(&stored.claim, &release, observer);
        let (found, reran) = attack::rerun(&view, &program);
        match truth.as_ref().filter(|_| reran.looked == attack::Looked::TooLarge) {
            Some(truth) => {
                observer.stage("making witnesses");
                let witnesses = asked.witnesses.unwrap_or(attack::witness::WITNESSES);
                (found, attack::witness::sampled(&view, &program, truth.records(), witnesses))
            }
            None => (found, reran),
        }
    });
    let (of_rerun, reran) = reran.unzip();
    found.extend(of_rerun);
    let decided = match worlds.is_refined && chosen.contains(&Choice::Worlds) {
        true => attack::shared::n_decided(&release, cut),
        false => 0,
    };
    let identity = match chosen.contains(&Choice::Identity) {
        true => {
            observer.stage("attacking: identity");
            Some(likeliest(&stored.model(&release, Multiplicity::Told, observer)?))
        }
        false => None,
    };
    let seed = asked.seed.unwrap_or(0);
    let adversary = asked.adversary(release.header.m, &release.dictionary)?;
    let stronger = match (adversary, &truth) {
        (Some(adversary), Some(truth)) => {
            observer.stage("attacking: an adversary who knows more");
            Some(stronger(&stored.model(&release, Multiplicity::Told, observer)?, truth, &adversary, seed))
        }
        _ => None,
    };
    if truth.is_some() {
        observer.stage("comparing with the original");
    }
    let mut summary = Summary::new(&found, identity, truth.as_ref(), &release).and(reran, decided);
    if chosen.contains(&Choice::Cover) {
        summary.attackers = of_attackers(&view, truth.as_ref(), &asked.attackers(), seed);
    }
    summary.stronger = stronger;
    let people = truth.as_ref().map(|truth| concerned(&found, truth, release.header.k));
    Ok(Attacked::Disassociated { summary, people: people.unwrap_or_default() })
}

/// The program with the parameters of a claim, as everybody may run it. Which grouping was used stands only in a claim that promises to
/// withstand this: otherwise a dataset is possible if it gives the release by any of them.
fn program<'a>(
    claim: &'a Claim,
    release: &Disassociated,
    observer: &'a dyn Observer,
) -> impl Fn(&Dataset) -> Option<Vec<u32>> + Sync + 'a {
    let groupings: &[Grouping] = match claim.promise {
        Promise::ProgramAware => &[Grouping::Guarded],
        Promise::AlgorithmAware | Promise::Published => &[Grouping::Layered, Grouping::Paper],
        Promise::None => &[Grouping::Paper],
    };
    let bytes = |release: &Disassociated| {
        let mut bytes = Vec::new();
        jsonl::write(release, &mut bytes).map(|()| bytes).ok()
    };
    let published = bytes(&release.clone().canonical());
    move |data: &Dataset| {
        groupings.iter().find_map(|&grouping| {
            let params = params_of(claim, grouping, data)?;
            let outcome = disassociate_with(data, &params, &Quiet(observer)).ok()?;
            (bytes(&outcome.release) == published).then_some(outcome.leaf_of)
        })
    }
}

/// The parameters that a claim names, for a dataset.
fn params_of(claim: &Claim, grouping: Grouping, data: &Dataset) -> Option<Params> {
    let Parameters { k, m, max_cluster, refine, cut, ref sensitive } = claim.parameters;
    let mut params = Params {
        grouping,
        max_cluster,
        refine,
        algorithm_aware: cut == CutRule::Weighed,
        lab: ForTheLab { paper_literal: claim.promise == Promise::None, ..ForTheLab::default() },
        ..Params::paper(k, m)
    };
    if let Some(Sensitive { terms, l, rule }) = sensitive {
        params.sensitive = terms.iter().map(|term| data.dictionary.get(term)).collect::<Option<_>>()?;
        params.sensitive.sort_unstable();
        let rule = match rule.as_deref() {
            Some("size") => disassociation::DiversityRule::Size,
            _ => disassociation::DiversityRule::Multiplicity,
        };
        params.diversity = l.map(|l| disassociation::Diversity { l, rule });
    }
    Some(params)
}

/// Whom true statements are about, for custody: record, attack, cluster.
fn concerned(found: &[Findings], truth: &attack::Truth<'_>, k: u32) -> Vec<(u32, &'static str, u32)> {
    let mut lines = Vec::new();
    for findings in found {
        for finding in &findings.found {
            let people = attack::judge::concerned(findings.says, finding, truth, k);
            lines.extend(people.into_iter().map(|record| (record, findings.attack, finding.leaf)));
        }
    }
    lines.sort_unstable();
    lines.dedup();
    lines
}

/// Parts of records put together by what words mean, if somebody said what they mean.
fn by_words(view: &View<'_>, asked: &AttackOptions, observer: &dyn Observer) -> Result<Option<Findings>> {
    let words = asked.words()?;
    let Some(told) = words.of_terms(&view.release.dictionary)? else { return Ok(None) };
    observer.stage("attacking: reassociate-words");
    let score = |a: TermId, b: TermId| -(told.distance)(a, b);
    let found = Reassociate { score, matching: Matching::Optimal }.run(view);
    Ok(Some(Findings { attack: "reassociate-words", ..found }))
}

pub(super) fn measure(
    stored: &Stored,
    original: &Original,
    asked: &MeasureOptions,
    observer: &dyn Observer,
) -> Result<Utility> {
    let (data, _) = original.sets()?;
    let hierarchy = asked.taxonomy(data)?;
    let interest = read::interest(asked.utility.as_deref(), asked.weights.as_deref(), &data.dictionary)?;
    let options = measure::Options {
        top: asked.measure.top,
        reconstructions: asked.measure.reconstructions,
        queries: asked.measure.queries,
        seed: asked.measure.seed,
        multiplicity: asked.multiplicity,
        more_than_k: asked.more_than_k,
        hierarchy: hierarchy.as_ref(),
        interest: Some(&interest),
        observer,
    };
    Ok(Utility::Disassociated(compare(&mut stored.roots(observer.memory())?, data, &options)?))
}

/// A release whose clusters lost terms to their term chunks.
pub(in crate::run) struct Mended {
    claim: Claim,
    release: Disassociated,
    encoding: Encoding,
    /// Custody of the former release, with the new promise and where each record is now.
    custody: Option<(String, Vec<u32>, std::path::PathBuf)>,
    /// What was done.
    pub(in crate::run) stats: repair::Stats,
}

impl Mended {
    pub(in crate::run) fn package(&self) -> Result<Package<'_>> {
        let package = Package::default().disassociated(&self.release, self.encoding);
        let package = package.bytes(Part::Release, "claim.json", self.claim.to_json()?);
        match &self.custody {
            None => Ok(package),
            Some((text, leaf_of, from)) => {
                let package = package.bytes(Part::Custody, "custody.json", text.clone());
                carry(package.map(Form::Disassociated, everywhere(leaf_of)), from, &["original.csv", "people.csv"])
            }
        }
    }

    /// What is promised now.
    pub(in crate::run) fn claim(&self) -> &Claim {
        &self.claim
    }
}

/// Moves terms to term chunks until the cut discloses nothing, and proves it.
pub(in crate::run) fn mend(opened: &Opened, stored: &Stored, observer: &dyn Observer) -> Result<Mended> {
    observer.stage("reading the release");
    let release = stored.load_as_written(observer)?;
    attack::check_room(&release, CutRule::Greedy, observer.memory()).map_err(|error| stored.named(error))?;
    observer.stage("moving terms to term chunks");
    let mended = set_aside(&release, &stored.claim.parameters, observer);
    let claim = Claim::disassociation(stored.claim.parameters.clone(), Promise::AlgorithmAware, stored.claim.records)
        .of_people(stored.claim.people);
    observer.stage("proving the promise");
    if !verify::verify_with(&claim, InMemory::new(&mended.release), None, observer)?.holds {
        let problem = "breaks conditions that moving terms to term chunks does not repair; nothing was written";
        return Err(Error::input(Place::file(opened.folder.display().to_string()), problem)
            .with_hint("disjoin verify names them; protect the original again"));
    }
    let custody = match (&opened.custody, opened.kept()?) {
        (Some(folder), Some(kept)) => {
            let foreign =
                || Error::input(Place::file(folder.display().to_string()), "is not the custody of this release");
            let leaf_of = renumber(kept.full_map(), &mended.leaves).ok_or_else(foreign)?;
            Some((kept.with("promise", &claim.promise)?, leaf_of, folder.clone()))
        }
        _ => None,
    };
    let encoding = encoding_of(&opened.folder)?;
    Ok(Mended { claim, release: mended.release, encoding, custody, stats: mended.stats })
}

/// The same as a round of a run; nothing if nothing changed.
pub(super) fn repair_round(opened: &Opened, stored: &Stored, observer: &dyn Observer) -> Result<Option<super::Mended>> {
    let mended = mend(opened, stored, observer)?;
    if mended.stats.clusters_changed == 0 {
        return Ok(None);
    }
    let repaired = Repaired::Chunks(mended.stats);
    Ok(Some(super::Mended { files: Some(super::MendedFiles::Disassociated(mended)), repaired }))
}

/// What happened, as custody.json has it.
pub(in crate::run) fn stats_of(kept: &Kept) -> Result<serde_json::Value> {
    value(&kept.written.get("stats"))
}
