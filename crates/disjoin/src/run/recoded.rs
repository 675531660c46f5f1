//! The whole way with recoded transactions: read, recode, verify, attack, mend what gives too much away, measure, publish.
//!
//! Promises:   the package is written as a whole or not at all; what is written was verified as it is written. Whether the
//!             limits hold is told, not enforced: the story says so first
//! Checked by: `tests/it/recoded.rs`, crates/disjoin-cli/tests/it/recoding.rs

use super::meaning::{Words, attack_as_asked, mend_as_asked};
use super::{Clock, Measured, limit, pages_of};
use crate::attack::semantic::summary::Summary;
use crate::data::{Cut, Dataset, Hierarchy, Recoding as Groups, RecordId};
use crate::error::{Error, Result};
use crate::inspect::risk;
use crate::measure::{RecodedOptions, RecodedReport, measure_recoded};
use crate::protect::recoding::{
    AprioriParams, LocalParams, Params, apriori, coat, lra, pcta, suppress, suppress_partially, vpa,
};
use crate::publish::{Destination, RecodedCustody, RecodedPackage};
use crate::read::policy::{Policy, one_utility_set};
use crate::read::{self, Intake};
use crate::recipe::Recipe;
use crate::recipe::recoding::{Method, Recoding};
use crate::release::recoded::{
    Draft, Promised, Recoded, RecodedClaim, Suppression, parse_recoded, utility_as_published, write_recoded,
};
use crate::repair::regroup::Regrouped;
use crate::report::{Limit, RecodedStory, recoded_html, recoded_markdown};
use crate::verify::{RecodedTruth, RecodedVerdict, verify_recoded};

/// Recoded transactions with their claim.
#[derive(Debug)]
pub struct MadeRecoded {
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

impl MadeRecoded {
    /// What is kept of its making.
    pub fn custody(&self, asked: &Recoding, intake: Intake) -> RecodedCustody {
        let suppressed = self.suppressed.clone();
        RecodedCustody::new(&self.claim.made_by, intake, asked, self.stats.clone(), suppressed, self.seconds)
    }
}

/// Runs the recipe of recoded transactions and writes its package; `tell` hears of every stage before it begins.
pub fn run_recoded(recipe: &Recipe, tell: &mut dyn FnMut(&str)) -> Result<RecodedStory> {
    let Some(asked) = &recipe.protect.recoding else {
        return Err(Error::Internal("transactions are to be recoded that nobody asked to recode"));
    };
    let destination = Destination::check(&recipe.output.folder)?;
    destination.check_outside(&recipe.input.file)?;
    let meaning = recipe.attack.meaning.as_ref();
    // What is missing is better said before the work is done.
    let words = meaning.map(|of| Words::read(&of.into())).transpose()?;
    tell("reading the data");
    let (data, intake) = read::read(&recipe.input.file, &recipe.input.options)?;
    let mut clock = Clock { seconds: Vec::new() };
    tell("looking for people whom a few terms single out");
    let before = clock.time("inspect", || risk(&data, asked.k, asked.m));
    let mut made = clock.time("protect", || protect_recoded(asked, &data, tell))?;
    let try_out = |made: &MadeRecoded, clock: &mut Clock, tell: &mut dyn FnMut(&str)| -> Result<_> {
        tell("proving the promise");
        let verdict = clock.time("verify", || prove(made, &data))?;
        let beside = (&data, Some(&made.line_of[..]));
        let asked = meaning.zip(words.as_ref());
        let attacks = clock.time("attack", || attack_as_asked(asked, &made.release, beside, tell))?;
        Ok((verdict, attacks))
    };
    let (mut verdict, mut attacks) = try_out(&made, &mut clock, tell)?;
    let mut repaired = None;
    if recipe.repair.limit.is_some() {
        let mend = || mend_as_asked(recipe, words.as_ref(), &made, &data, attacks.as_ref(), tell);
        if let Some(mended) = clock.time("repair", mend)? {
            let Regrouped { claim, release, line_of, stats } = mended;
            let told = serde_json::to_value(&stats).map_err(|_| Error::Internal("what happened is always JSON"))?;
            if let Some(happened) = made.stats.as_object_mut() {
                happened.insert("repaired".into(), told);
            }
            if stats.exchanges > 0 {
                made = MadeRecoded { claim, release, line_of, ..made };
                (verdict, attacks) = try_out(&made, &mut clock, tell)?;
            }
            repaired = Some(stats);
        }
    }
    tell("measuring what is left");
    let hierarchy = hierarchy(asked, &data)?;
    let options = RecodedOptions {
        top: recipe.measure.top,
        queries: recipe.measure.queries,
        seed: recipe.measure.seed,
        hierarchy: hierarchy.as_ref(),
        line_of: Some(&made.line_of),
    };
    let utility = clock.time("measure", || measure_recoded(&made.claim, &made.release, &data, &options))?;
    let limits = limits(recipe, &utility, attacks.as_ref());
    let holds = verdict.holds && limits.iter().all(|limit| limit.holds);
    let story = RecodedStory {
        recipe: recipe.clone(),
        records: data.records.len() as u64,
        terms: data.n_terms() as u64,
        before,
        claim: made.claim.clone(),
        stats: made.stats.clone(),
        verdict,
        attacks,
        repaired,
        utility,
        limits,
        holds,
        seconds: clock.seconds,
    };
    tell("writing the package");
    let (custody, pages) = (made.custody(asked, intake), pages_of(&story, recoded_html, recoded_markdown)?);
    let MadeRecoded { release, line_of, .. } = &made;
    RecodedPackage { claim: &story.claim, release, custody: &custody, line_of, pages: &pages }.publish(&destination)?;
    Ok(story)
}

/// What is promised, of the release as it is written.
fn prove(made: &MadeRecoded, original: &Dataset) -> Result<RecodedVerdict> {
    let mut text = Vec::new();
    write_recoded(&made.release, &mut text).map_err(|_| Error::Internal("writing to memory does not fail"))?;
    let published = parse_recoded(&text[..], "")?;
    let truth = RecodedTruth { original, line_of: Some(&made.line_of) };
    Ok(verify_recoded(&made.claim, &published, Some(truth)))
}

/// Recodes a dataset.
pub fn protect_recoded(asked: &Recoding, data: &Dataset, tell: &mut dyn FnMut(&str)) -> Result<MadeRecoded> {
    asked.check()?;
    let start = std::time::Instant::now();
    let (k, m, n_terms) = (asked.k, asked.m, data.n_terms());
    let all = || 0..data.records.len() as RecordId;
    let of_all = |recoding: &Groups| vec![Draft::of_recoding(&data.records, all(), recoding, Vec::new())];
    let km = Promised::Km { m };
    let internal = |_| Error::Internal("what happened is always JSON");
    let made = match asked.method {
        Method::Apriori | Method::Lra | Method::Vpa => {
            let hierarchy =
                hierarchy(asked, data)?.ok_or(Error::Internal("a hierarchy is needed, and none is given"))?;
            tell("generalising along the hierarchy");
            let params = AprioriParams { k, m, cost: asked.cost };
            let blocks = match asked.method {
                Method::Apriori => vec![(all().collect(), apriori(&data.records, &hierarchy, &params)?)],
                Method::Vpa => {
                    vec![(all().collect(), vpa(&data.records, &hierarchy, &params, asked.parts.unwrap_or(PARTS))?)]
                }
                _ => {
                    let usual = LocalParams::new(k, m);
                    let block = asked.block.unwrap_or(usual.block);
                    lra(&data.records, &hierarchy, &LocalParams { cost: asked.cost, block, ..usual })
                        .map_err(as_flag)?
                        .blocks
                }
            };
            let stats = serde_json::json!({ "nodes": hierarchy.n_nodes(), "blocks": blocks.len() });
            let draft = |(ids, cut): (Vec<RecordId>, Cut)| {
                let recoding = cut.recoding(&hierarchy);
                let labels = labels(asked, data, &hierarchy, &cut, &recoding);
                Draft::of_recoding(&data.records, ids, &recoding, labels)
            };
            let drafts = blocks.into_iter().map(draft).collect();
            finish(asked, data, drafts, stats, Suppression::None, |_| (km, None))?
        }
        Method::Suppression => {
            tell("taking terms out of all records");
            let done = suppress(&data.records, n_terms, k, m)?;
            let stats = serde_json::to_value(done.stats).map_err(internal)?;
            finish(asked, data, of_all(&done.recoding), stats, Suppression::Terms, |_| (km, None))?
        }
        Method::SuppressionPartial => {
            tell("taking terms out of single records");
            let done = suppress_partially(&data.records, n_terms, k, m)?;
            let stats = serde_json::to_value(done.stats).map_err(internal)?;
            let mut draft = Draft::new((0..n_terms as u32).map(|term| vec![term]).collect(), Vec::new());
            let mut left = done.ids.iter().zip(done.records.iter()).peekable();
            for id in all() {
                let shown = left.next_if(|(left, _)| **left == id).map_or_else(Vec::new, |(_, terms)| terms.to_vec());
                draft.push(id, &mut { shown });
            }
            finish(asked, data, vec![draft], stats, Suppression::Occurrences, |_| (km, None))?
        }
        Method::Coat | Method::Pcta => {
            let policy = policy(asked, data)?;
            tell("satisfying privacy constraints");
            let params = Params {
                k,
                max_suppressed: asked.max_suppressed,
                subsets: !asked.whole_constraints,
                force: asked.force,
            };
            let done = match asked.method {
                Method::Coat => coat(&data.records, n_terms, &policy, &params)?,
                _ => pcta(&data.records, n_terms, &policy, &params)?,
            };
            let stats = serde_json::to_value(done.stats).map_err(internal)?;
            finish(asked, data, of_all(&done.recoding), stats, Suppression::Terms, |release| {
                let dictionary = &data.dictionary;
                let told = Promised::constraints(&policy.privacy, dictionary, params.subsets, release);
                let is_free = policy.utility == one_utility_set(n_terms);
                (told, (!is_free).then(|| utility_as_published(&policy.utility, dictionary, release)))
            })?
        }
    };
    Ok(MadeRecoded { seconds: start.elapsed().as_secs_f64(), ..made })
}

/// In how many parts vpa looks at the terms if it is not said.
const PARTS: usize = 4;

fn as_flag(error: Error) -> Error {
    match error {
        Error::Recipe { key: "block", problem, hint } => Error::Recipe { key: "--block", problem, hint },
        other => other,
    }
}

/// What generalises what, if anything does.
fn hierarchy(asked: &Recoding, data: &Dataset) -> Result<Option<Hierarchy>> {
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
        return Err(Error::recipe("--privacy", "the file names no constraint", hint));
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
) -> Result<MadeRecoded> {
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
    Ok(MadeRecoded { claim, release, line_of, stats, suppressed, seconds: 0.0 })
}

fn limits(recipe: &Recipe, utility: &RecodedReport, attacks: Option<&Summary>) -> Vec<Limit> {
    let measured = Measured {
        itemsets_lost: utility.top_k.tkd.all,
        terms_lost: ("the share of terms that are not published as themselves", utility.became.tlost),
        pair_error: utility.relative_error.first().and_then(|window| window.re.mean).unwrap_or(0.0),
        query_error: utility.queries.median,
    };
    let most = recipe.attack.meaning.as_ref().and_then(|asked| asked.most_beyond_blind);
    let beyond = most.zip(attacks).map(|(most, attacks)| {
        let meaning = "by how much more often than blind guesses an attack by meaning is right";
        limit("attack.most_beyond_blind", meaning, most, attacks.beyond_blind())
    });
    let mut limits = measured.limits(&recipe.measure.at_most);
    limits.extend(beyond);
    limits
}
