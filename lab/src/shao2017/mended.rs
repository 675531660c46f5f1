//! Beside the paper: releases that are grouped anew until attacks fall to the baseline, attacked with what the mender knew and with more.

use disjoin::Result;
use disjoin::attack::semantic::{Distance, METHODS, Options};
use disjoin::data::{Dataset, Recoding};
use disjoin::knowledge::relatedness::{by_corpus, by_vectors};
use disjoin::observer::Observer;
use disjoin::read::policy::random_singletons;
use disjoin::release::recoded::{Draft, Promised, Recoded, RecodedClaim, Suppression};
use disjoin::repair::regroup::{Asked, Ended, Regrouped, regroup};

use super::data::{FEW, Sources, blind, generalise, of, scores};
use crate::judge::{Claim, claim};
use crate::page::{Page, Table};

/// The values of k that are tried.
const KS: [u32; 3] = [2, 4, 6];

/// Regrouped abstracts, attacked before and after.
pub(crate) fn mended(sources: &Sources) -> Result<Page> {
    let data = sources.abstracts();
    let (by_words, _) = by_corpus(&sources.corpus, &data.dictionary);
    let abstracts = sources.other_corpus()?;
    let (by_abstracts, _) = by_corpus(&abstracts, &data.dictionary);
    let by_vectors = sources.vectors.as_ref().map(|vectors| by_vectors(vectors, &data.dictionary).0);
    let mut attackers: Vec<(&str, &Distance<'_>)> =
        vec![("dictionaries", &by_words), ("other abstracts", &by_abstracts)];
    let mut menders: Vec<(&str, Vec<&Distance<'_>>)> = vec![("before", Vec::new()), ("after", vec![&by_words])];
    if let Some(by_vectors) = &by_vectors {
        attackers.push(("vectors", by_vectors));
        menders.push(("after both", vec![&by_words, by_vectors]));
    }
    let mut table = Table::at("k", &KS.map(f64::from));
    let mut leads: Leads = vec![vec![Vec::new(); attackers.len()]; menders.len()];
    let mut costs = vec![Vec::new(); menders.len()];
    let mut is_baseline = true;
    for k in KS {
        let released = generalise(&data, k, FEW, 1, None)?;
        for (mender, (name, adversaries)) in menders.iter().enumerate() {
            // Without an adversary nothing is changed.
            let mended = mend(&data, &released, k, adversaries)?;
            let recoding = recoding_of(&data, &mended)?;
            is_baseline &= *name != "after" || mended.stats.ended == Ended::Baseline;
            costs[mender].push(1e3 * mended.stats.ncp.1);
            for (attacker, (_, distance)) in attackers.iter().enumerate() {
                leads[mender][attacker].push(lead(&data, &recoding, distance)?);
            }
        }
    }
    let claims = claims_of(&leads, is_baseline);
    let mut names = Vec::new();
    for (attacker, (who, _)) in attackers.iter().enumerate() {
        for (mender, (when, _)) in menders.iter().enumerate() {
            names.push(format!("{who}, {when}"));
            table = table.column(names[names.len() - 1].clone(), leads[mender][attacker].clone());
        }
    }
    for ((when, _), cost) in menders.iter().zip(costs) {
        table = table.column(format!("NCP {when} (thousandths)"), cost);
    }
    let drawn: Vec<&str> = names.iter().map(String::as_str).collect();
    let svg = table.lines("releases before and after repair", "precision beyond blind", &drawn);
    let said = "Abstracts. Groups are mended against dictionaries (after), or against dictionaries and word vectors (after both), with NCP at most twice \
                what it was. Then they are attacked with dictionaries, with other abstracts and with word vectors. Columns tell by how much the best of \
                all attacks is right beyond blind guesses, at the lower end of its interval.";
    Ok(Page { title: "releases that were mended", data: said.into(), table, svg, claims })
}

/// For each mender, for each attacker by how much he is right, for each k.
type Leads = Vec<Vec<Vec<f64>>>;

fn claims_of(leads: &Leads, is_baseline: bool) -> Vec<Claim> {
    let shown = |mender: usize, attacker: usize| {
        leads[mender][attacker].iter().map(|lead: &f64| format!("{lead:.3}")).collect::<Vec<_>>().join(" ")
    };
    let fall = |attacker: usize, from: usize, to: usize| {
        leads[to][attacker].iter().zip(&leads[from][attacker]).all(|(after, before)| after < before)
    };
    let mut claims = vec![
        claim("repair brings attacks to the baseline (our own aim)", "-").judged(
            "no attack with the mender's dictionaries is right more often than blindly, by more than chance explains, for every k",
            format!("beyond blind {} -> {}", shown(0, 0), shown(1, 0)),
            is_baseline,
        ),
        claim("what is mended against one adversary is harder for another (our own aim)", "-").judged(
            "the best attack with other abstracts gains less after than before, for every k",
            format!("beyond blind {} -> {}", shown(0, 1), shown(1, 1)),
            fall(1, 0, 1),
        ),
    ];
    // The third mender and the third attacker have vectors.
    if leads.len() > 2 {
        claims.push(claim("what is mended against two adversaries is harder for both (our own aim)", "-").judged(
            "the best attack with dictionaries, and that with vectors, gain less than before, for every k",
            format!("dictionaries {} -> {}, vectors {} -> {}", shown(0, 0), shown(2, 0), shown(0, 2), shown(2, 2)),
            fall(0, 0, 2) && fall(2, 0, 2),
        ));
    }
    claims
}

/// By how much the best attack is right beyond blind guesses, at the lower end of its interval.
fn lead(data: &Dataset, recoding: &Recoding, distance: &Distance<'_>) -> Result<f64> {
    let scores = scores(data, recoding, distance, None)?;
    let leads = METHODS.map(|method| of(&scores, method).precision.low - blind(of(&scores, method)));
    Ok(leads.into_iter().fold(f64::NEG_INFINITY, f64::max))
}

fn mend(data: &Dataset, recoding: &Recoding, k: u32, adversaries: &[&Distance<'_>]) -> Result<Regrouped> {
    let draft = Draft::of_recoding(&data.records, 0..data.records.len() as u32, recoding, Vec::new());
    let (release, _) = Recoded::of_drafts(&data.dictionary, vec![draft])?;
    let privacy = random_singletons(data.n_terms(), FEW, 1)?;
    let promise = Promised::constraints(&privacy, &data.dictionary, true, &release);
    let suppression = if recoding.suppressed().next().is_some() { Suppression::Terms } else { Suppression::None };
    let claim = RecodedClaim::new(&release, "coat", k, promise, suppression, None);
    let options = Options { seed: 1, ..Options::default() };
    let asked = Asked {
        claim: &claim,
        release: &release,
        original: data,
        adversaries,
        options: &options,
        most: 0.0,
        limit: 2.0,
    };
    regroup(&asked, &Told(k))
}

/// Says what a repair at this k is at.
struct Told(u32);

impl Observer for Told {
    fn stage(&self, stage: &str) {
        eprintln!("  k = {}: {stage}", self.0);
    }
}

/// The groups of a release in the terms of the original.
fn recoding_of(data: &Dataset, mended: &Regrouped) -> Result<Recoding> {
    let text = |&term: &u32| data.dictionary.get(mended.release.dictionary.text(term));
    let groups = mended.release.blocks.iter().flat_map(|block| &block.groups);
    let groups: Vec<Vec<u32>> = groups.map(|group| group.iter().filter_map(text).collect()).collect();
    Recoding::from_groups(data.n_terms(), groups).ok_or(disjoin::Error::Internal("a term is in two groups"))
}
