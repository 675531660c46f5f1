//! Recoded transactions: recoded, proved, attacked by what words mean, regrouped from the original, measured.
//!
//! Checked by: `tests/it/recoded.rs`, crates/disjoin-cli/tests/it/recoding.rs

use serde_json::json;

use super::super::meaning::{Words, attack_words};
use super::super::open::{Input, Opened, Original};
use super::super::{AttackOptions, MeasureOptions, people};
use super::{Planned, value};
use crate::attack::semantic::Distance;
use crate::data::{Cut, Dataset, Hierarchy, Recoding as Groups, RecordId};
use crate::error::{Error, Result};
use crate::measure::{RecodedOptions, measure_recoded};
use crate::observer::Observer;
use crate::protect::recoding::{
    AprioriParams, LocalParams, Params, apriori, coat, lra, pcta, suppress, suppress_partially, vpa,
};
use crate::publish::{Custody, Kept, Package, Part, carry, everywhere};
use crate::read::policy::{Policy, one_utility_set};
use crate::read::{self, Intake, Sources, read_sets};
use crate::recipe::Recipe;
use crate::recipe::recoding::{Method, Recoding};
use crate::release::Form;
use crate::release::recoded::{
    Draft, Promised, Recoded, RecodedClaim, Suppression, TRANSACTIONS, utility_as_published, write_recoded,
};
use crate::repair::regroup::{Asked, Regrouped, regroup};
use crate::report::{Attacked, Proof, Repaired, Utility, count};
use crate::verify::{RecodedTruth, verify_recoded};

/// Recoded transactions and what they were made from.
pub struct Made {
    pub(super) data: Dataset,
    pub(super) intake: Intake,
    recodings: Recodings,
}

/// Recoded transactions with their claim.
#[derive(Debug)]
pub struct Recodings {
    /// What is promised.
    pub claim: RecodedClaim,
    /// The records.
    pub release: Recoded,
    /// For each record of the original the line that shows it.
    pub line_of: Vec<u32>,
    /// What happened on the way.
    pub stats: serde_json::Value,
    /// Terms that are not published.
    pub suppressed: Vec<String>,
    /// How long it took.
    pub seconds: f64,
}

/// Reads sets and recodes them.
pub(super) fn protect(recipe: &Recipe, input: Input<'_>, observer: &dyn Observer) -> Result<Made> {
    let asked = asked(recipe)?;
    observer.stage("reading the data");
    let (data, mut intake) = input.sets(&recipe.input.file, &recipe.input.options, observer)?;
    let mut recodings = make(asked, &data, observer)?;
    recodings.claim = recodings.claim.of_people(intake.people.as_ref().map(|people| people.visits));
    people::look_for_repeated_records(&data, &mut intake);
    Ok(Made { data, intake, recodings })
}

fn asked(recipe: &Recipe) -> Result<&Recoding> {
    let none = Error::Internal("transactions are to be recoded that nobody asked to recode");
    recipe.protect.recoding.as_ref().ok_or(none)
}

/// Recodes a dataset.
pub fn make(asked: &Recoding, data: &Dataset, observer: &dyn Observer) -> Result<Recodings> {
    asked.check()?;
    let start = std::time::Instant::now();
    let made = match asked.method {
        Method::Apriori | Method::Lra | Method::Vpa => by_hierarchy(asked, data, observer)?,
        Method::Suppression => {
            observer.stage("suppressing terms in all records");
            let done = suppress(&data.records, data.n_terms(), asked.k, asked.m, observer)?;
            let drafts = of_all(data, &done.recoding);
            finish(asked, data, drafts, value(&done.stats)?, Suppression::Terms, |_| (km(asked), None))?
        }
        Method::SuppressionPartial => partially(asked, data, observer)?,
        Method::Coat | Method::Pcta => by_constraints(asked, data, observer)?,
    };
    Ok(Recodings { seconds: start.elapsed().as_secs_f64(), ..made })
}

fn km(asked: &Recoding) -> Promised {
    Promised::Km { m: asked.m }
}

/// One recoding for all records.
fn of_all(data: &Dataset, recoding: &Groups) -> Vec<Draft> {
    vec![Draft::of_recoding(&data.records, 0..data.records.len() as RecordId, recoding, Vec::new())]
}

fn by_hierarchy(asked: &Recoding, data: &Dataset, observer: &dyn Observer) -> Result<Recodings> {
    let all = || (0..data.records.len() as RecordId).collect();
    let hierarchy = hierarchy(asked, data)?.ok_or(Error::Internal("a hierarchy is needed, and none is given"))?;
    observer.stage("generalising along the hierarchy");
    let (k, m) = (asked.k, asked.m);
    let params = AprioriParams { k, m, cost: asked.cost };
    let blocks = match asked.method {
        Method::Apriori => vec![(all(), apriori(&data.records, &hierarchy, &params, observer)?)],
        Method::Vpa => vec![(all(), vpa(&data.records, &hierarchy, &params, asked.parts.unwrap_or(PARTS), observer)?)],
        _ => {
            let usual = LocalParams::new(k, m);
            let block = asked.block.unwrap_or(usual.block);
            lra(&data.records, &hierarchy, &LocalParams { cost: asked.cost, block, ..usual }, observer)?.blocks
        }
    };
    let stats = serde_json::json!({ "nodes": hierarchy.n_nodes(), "blocks": blocks.len() });
    let draft = |(ids, cut): (Vec<RecordId>, Cut)| {
        let recoding = cut.recoding(&hierarchy);
        let labels = labels(asked, data, &hierarchy, &cut, &recoding);
        Draft::of_recoding(&data.records, ids, &recoding, labels)
    };
    let drafts = blocks.into_iter().map(draft).collect();
    finish(asked, data, drafts, stats, Suppression::None, |_| (km(asked), None))
}

fn partially(asked: &Recoding, data: &Dataset, observer: &dyn Observer) -> Result<Recodings> {
    observer.stage("suppressing terms in single records");
    let n_terms = data.n_terms();
    let done = suppress_partially(&data.records, n_terms, asked.k, asked.m, observer)?;
    let mut draft = Draft::new((0..n_terms as u32).map(|term| vec![term]).collect(), Vec::new());
    let mut left = done.ids.iter().zip(done.records.iter()).peekable();
    for id in 0..data.records.len() as RecordId {
        let shown = left.next_if(|(left, _)| **left == id).map_or_else(Vec::new, |(_, terms)| terms.to_vec());
        draft.push(id, &mut { shown });
    }
    finish(asked, data, vec![draft], value(&done.stats)?, Suppression::Occurrences, |_| (km(asked), None))
}

fn by_constraints(asked: &Recoding, data: &Dataset, observer: &dyn Observer) -> Result<Recodings> {
    let (policy, n_terms) = (policy(asked, data)?, data.n_terms());
    observer.stage("satisfying privacy constraints");
    let params = Params {
        k: asked.k,
        max_suppressed: asked.max_suppressed,
        subsets: !asked.whole_constraints,
        force: asked.force,
    };
    let done = match asked.method {
        Method::Coat => coat(&data.records, n_terms, &policy, &params, observer)?,
        _ => pcta(&data.records, n_terms, &policy, &params, observer)?,
    };
    let drafts = of_all(data, &done.recoding);
    finish(asked, data, drafts, value(&done.stats)?, Suppression::Terms, |release| {
        let dictionary = &data.dictionary;
        let told = Promised::constraints(&policy.privacy, dictionary, params.subsets, release);
        let is_free = policy.utility == one_utility_set(n_terms);
        (told, (!is_free).then(|| utility_as_published(&policy.utility, dictionary, release)))
    })
}

/// In how many parts vpa looks at the terms if it is not said.
const PARTS: usize = 4;

/// What generalises what, if anything does.
pub(super) fn hierarchy(asked: &Recoding, data: &Dataset) -> Result<Option<Hierarchy>> {
    Ok(match (&asked.hierarchy, asked.fanout) {
        (Some(file), _) => Some(read::hierarchy(file, &data.dictionary)?),
        (None, Some(fanout)) => Some(Hierarchy::uniform(&data.dictionary, fanout)?),
        (None, None) => None,
    })
}

/// What groups are called, if the hierarchy is somebody's: one that was made here only repeats their terms.
fn labels(asked: &Recoding, data: &Dataset, hierarchy: &Hierarchy, cut: &Cut, groups: &Groups) -> Vec<Option<String>> {
    let label = |group: &Vec<u32>| {
        let node = group.first().map(|&term| cut.node_of(term)).filter(|&node| node as usize >= hierarchy.n_terms())?;
        asked.hierarchy.as_ref().map(|_| hierarchy.text(node, &data.dictionary).to_owned())
    };
    groups.groups().iter().map(label).collect()
}

fn policy(asked: &Recoding, data: &Dataset) -> Result<Policy> {
    let Some(privacy) = &asked.privacy else {
        return Err(Error::Internal("constraints are to be satisfied that nobody named"));
    };
    let policy = Policy::read(privacy, asked.utility.as_deref(), &data.dictionary)?;
    if policy.privacy.is_empty() {
        let hint = "write one constraint a line; `disjoin policy` writes such files";
        return Err(Error::recipe("protect.privacy", "the file names no constraint", hint));
    }
    Ok(policy)
}

/// What is promised of a release, and the utility sets that it respects.
type Told = (Promised, Option<Vec<Vec<String>>>);

fn finish(
    asked: &Recoding,
    data: &Dataset,
    drafts: Vec<Draft>,
    stats: serde_json::Value,
    suppression: Suppression,
    told: impl FnOnce(&Recoded) -> Told,
) -> Result<Recodings> {
    let (release, line_of) = Recoded::of_drafts(&data.dictionary, drafts)?;
    let mut suppressed: Vec<String> =
        data.dictionary.iter().filter(|text| release.dictionary.get(text).is_none()).map(str::to_owned).collect();
    suppressed.sort_unstable();
    // Where no term is gone, readers may rely on it.
    let suppression = match suppression {
        Suppression::Terms if suppressed.is_empty() => Suppression::None,
        other => other,
    };
    let (promise, utility) = told(&release);
    let claim = RecodedClaim::new(&release, asked.method.name(), asked.k, promise, suppression, utility);
    Ok(Recodings { claim, release, line_of, stats, suppressed, seconds: 0.0 })
}

impl Made {
    pub(super) fn plan(&self, recipe: &Recipe) -> Result<Planned<'_>> {
        let asked = asked(recipe)?;
        let Recodings { claim, release, line_of, stats, suppressed, seconds } = &self.recodings;
        let body = json!({ "parameters": asked, "stats": stats, "suppressed": suppressed, "seconds": seconds });
        let custody = Custody::new(Form::Recoded, None, &self.intake, body)?;
        let package = Package::default()
            .file(Part::Release, TRANSACTIONS, |file| write_recoded(release, file))
            .bytes(Part::Release, "claim.json", claim.to_json()?)
            .custody(Form::Recoded, &custody, everywhere(line_of))?
            .people(self.intake.people.as_ref(), None);
        let generalized = release.blocks.iter().flat_map(|block| &block.groups).filter(|group| group.len() > 1);
        let groups = generalized.count() as u64;
        let line = format!(
            "{}, k = {}: {}, {} published, {}, {} suppressed",
            claim.method,
            claim.k,
            count(claim.records, "record", "records"),
            count(release.dictionary.len() as u64, "term", "terms"),
            count(groups, "group of two or more", "groups of two or more"),
            count(suppressed.len() as u64, "term", "terms"),
        );
        let json = json!({
            "input": self.intake,
            "parameters": asked,
            "promised": claim.promised,
            "records": claim.records,
            "blocks": claim.blocks,
            "terms": release.dictionary.len(),
            "groups": groups,
            "suppressed_terms": suppressed.len(),
            "stats": stats,
            "seconds": seconds,
        });
        let over = || String::from("more terms were suppressed than allowed (force)");
        let warnings = (stats["is_over_limit"] == true).then(over).into_iter().collect();
        Ok(Planned { package, line, json, warnings }.of_people(self.intake.people.as_ref(), &self.intake.several))
    }
}

pub(super) fn verify(
    claim: &RecodedClaim,
    release: &Recoded,
    original: Option<&Original>,
    observer: &dyn Observer,
) -> Result<Proof> {
    observer.stage("counting sets of items");
    let sets = original.map(Original::sets).transpose()?;
    let line_of = sets.and_then(|(_, kept)| kept).map(Kept::full_map);
    let truth = sets.map(|(original, _)| RecodedTruth { original, line_of: line_of.as_deref() });
    Ok(Proof::Recoded(verify_recoded(claim, release, truth, observer)))
}

pub(super) fn attack(
    release: &Recoded,
    original: Option<&Original>,
    asked: &AttackOptions,
    sources: &dyn Sources,
    observer: &dyn Observer,
) -> Result<Attacked> {
    let options = asked.semantic_options();
    if options.methods.is_empty() {
        return Ok(Attacked::Nothing);
    }
    let words = match (asked.words()?, &asked.outside) {
        (Words::Release, Some(file)) => Words::Others(read_sets(file, &asked.input, sources, observer)?.0),
        (words, _) => words,
    };
    let sets = original.map(Original::sets).transpose()?;
    let line_of = sets.and_then(|(_, kept)| kept).map(Kept::full_map);
    let beside = sets.map(|(data, _)| (data, line_of.as_deref()));
    let (attacked, summary) = attack_words(release, &words.distances(release)?, &options, beside, observer)?;
    let surest = match asked.show_terms {
        true => super::super::meaning::surest(release, &attacked),
        false => Vec::new(),
    };
    Ok(Attacked::Recoded { summary, surest })
}

pub(super) fn measure(
    claim: &RecodedClaim,
    release: &Recoded,
    original: &Original,
    asked: &MeasureOptions,
    observer: &dyn Observer,
) -> Result<Utility> {
    let (data, kept) = original.sets()?;
    let hierarchy = asked.taxonomy(data)?;
    let line_of = kept.map(Kept::full_map);
    let options = RecodedOptions {
        top: asked.measure.top,
        queries: asked.measure.queries,
        seed: asked.measure.seed,
        hierarchy: hierarchy.as_ref(),
        line_of: line_of.as_deref(),
        observer,
    };
    Ok(Utility::Recoded(measure_recoded(claim, release, data, &options)?))
}

/// A release whose groups were changed.
pub(in crate::run) struct Mended {
    /// The release.
    pub(in crate::run) regrouped: Regrouped,
    /// Custody of the former release, with what happened, and where it is.
    custody: Option<(String, std::path::PathBuf)>,
}

impl Mended {
    pub(in crate::run) fn package(&self) -> Result<Package<'_>> {
        let Regrouped { claim, release, line_of, .. } = &self.regrouped;
        let package = Package::default().file(Part::Release, TRANSACTIONS, |file| write_recoded(release, file)).bytes(
            Part::Release,
            "claim.json",
            claim.to_json()?,
        );
        match &self.custody {
            None => Ok(package),
            Some((text, from)) => {
                let package = package.bytes(Part::Custody, "custody.json", text.clone());
                carry(package.map(Form::Recoded, everywhere(line_of)), from, &["people.csv"])
            }
        }
    }
}

/// How far groups may be changed.
#[derive(Debug, Clone, Copy)]
pub(in crate::run) struct Room {
    /// The advantage over the baseline that is accepted.
    pub(in crate::run) most: f64,
    /// NCP may become so many times what it was.
    pub(in crate::run) ncp_growth: f64,
}

/// Groups a release anew against several adversaries.
pub(in crate::run) fn mend(
    opened: &Opened,
    (claim, release): (&RecodedClaim, &Recoded),
    original: &Dataset,
    asked: &AttackOptions,
    room: Room,
    observer: &dyn Observer,
) -> Result<(Mended, Vec<&'static str>)> {
    let words = asked.all_words()?;
    let mut told = Vec::new();
    for words in &words {
        told.extend(words.of_terms(&original.dictionary)?);
    }
    if told.is_empty() {
        let problem = "is missing: what adversaries may know about the meaning of terms";
        let hint = "name a corpus, or vectors, or counts, or several of them";
        return Err(Error::recipe("attack.corpus", problem, hint));
    }
    let adversaries: Vec<&Distance<'_>> = told.iter().map(|told| &*told.distance).collect();
    let options = &asked.semantic_options();
    let Room { most, ncp_growth: limit } = room;
    let work = Asked { claim, release, original, adversaries: &adversaries, options, most, limit };
    let regrouped = regroup(&work, observer)?;
    let custody = opened.kept()?.map(|kept| kept.with("repaired", &regrouped.stats)).transpose()?;
    let custody = custody.zip(opened.custody.clone());
    Ok((Mended { regrouped, custody }, told.iter().map(|told| told.source).collect()))
}

/// The same as a round of a run, if the recipe allows it; nothing if nothing changed.
pub(super) fn repair_round(
    opened: &Opened,
    claim: &RecodedClaim,
    release: &Recoded,
    original: &Original,
    recipe: &Recipe,
    asked: &AttackOptions,
    observer: &dyn Observer,
) -> Result<Option<super::Mended>> {
    let Some(ncp_growth) = recipe.repair.limit else { return Ok(None) };
    let room = Room { most: recipe.limits.written.advantage.unwrap_or(0.0), ncp_growth };
    let (data, _) = original.sets()?;
    let (mended, _) = mend(opened, (claim, release), data, asked, room, observer)?;
    let repaired = Repaired::Groups(Box::new(mended.regrouped.stats.clone()));
    let is_changed = mended.regrouped.stats.exchanges > 0;
    Ok(Some(super::Mended { files: is_changed.then_some(super::MendedFiles::Recoded(mended)), repaired }))
}
