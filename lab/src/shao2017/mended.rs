//! Beside the paper: releases that are grouped anew until attacks fall to the baseline, attacked with what the mender knew and with more.

use disjoin::Result;
use disjoin::attack::semantic::{METHODS, Method, Options};
use disjoin::data::{Dataset, Recoding};
use disjoin::read::policy::random_singletons;
use disjoin::reconstruct::relatedness::{by_corpus, by_vectors, corpus};
use disjoin::release::recoded::{Draft, Promised, Recoded, RecodedClaim, Suppression};
use disjoin::repair::regroup::{Asked, Ended, Regrouped, regroup};

use super::data::{FEW, Sources, blind, generalise, of, scores};
use crate::judge::claim;
use crate::page::{Page, Table};

/// The values of k that are tried.
const KS: [u32; 3] = [2, 4, 6];

/// Regrouped abstracts, attacked before and after.
pub(crate) fn mended(sources: &Sources) -> Result<Page> {
    let data = sources.abstracts();
    let (by_words, _) = by_corpus(&sources.corpus, &data.dictionary);
    let mut builder = corpus::Builder::default();
    sources.others().iter().for_each(|text| builder.add(text));
    let abstracts = builder.finish(Vec::new())?;
    let (by_abstracts, _) = by_corpus(&abstracts, &data.dictionary);
    let by_others = sources.vectors.as_ref().map(|vectors| by_vectors(vectors, &data.dictionary).0);
    // How far the best attack is right beyond blind guesses: by dictionaries, by other abstracts, by vectors.
    let leads = |recoding: &Recoding| -> Result<[f64; 3]> {
        let lead = |scores: Vec<(Method, disjoin::attack::semantic::judge::Score)>| {
            let leads = METHODS.map(|method| of(&scores, method).precision.low - blind(of(&scores, method)));
            leads.into_iter().fold(f64::NEG_INFINITY, f64::max)
        };
        let vectors = match &by_others {
            Some(distance) => lead(scores(&data, recoding, distance, None)?),
            None => 0.0,
        };
        Ok([
            lead(scores(&data, recoding, &by_words, None)?),
            lead(scores(&data, recoding, &by_abstracts, None)?),
            vectors,
        ])
    };
    let mut columns: [Vec<f64>; 9] = Default::default();
    let mut ends = Vec::new();
    for k in KS {
        let before = generalise(&data, k, FEW, 1, None)?;
        let mended = mend(&data, &before, k, &by_words)?;
        let after = recoding_of(&data, &mended)?;
        let ([a, b, c], [x, y, z]) = (leads(&before)?, leads(&after)?);
        let stats = &mended.stats;
        let values = [a, x, b, y, c, z, stats.ncp.0 * 1e3, stats.ncp.1 * 1e3, stats.exchanges as f64];
        columns.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
        ends.push(stats.ended);
    }
    let names = [
        "dictionaries, before",
        "dictionaries, after",
        "other abstracts, before",
        "other abstracts, after",
        "vectors, before",
        "vectors, after",
        "NCP before (thousandths)",
        "NCP after (thousandths)",
        "exchanges",
    ];
    let falls = |before: usize, after: usize| (0..KS.len()).all(|at| columns[after][at] < columns[before][at]);
    let shown = |at: usize| columns[at].iter().map(|value| format!("{value:.3}")).collect::<Vec<_>>().join(" ");
    let claims = vec![
        claim("repair brings attacks to the baseline (our own aim)", "-").judged(
            "no attack with the mender's dictionaries is right more often than blindly, by more than chance explains, for every k",
            format!("beyond blind {} -> {}", shown(0), shown(1)),
            ends.iter().all(|&ended| ended == Ended::Baseline),
        ),
        claim("what is mended against one adversary is harder for another (our own aim)", "-").judged(
            "the best attack with other abstracts gains less after than before, for every k",
            format!("beyond blind {} -> {}", shown(2), shown(3)),
            falls(2, 3),
        ),
    ];
    let mut table = Table::at("k", &KS.map(f64::from));
    for (name, column) in names.into_iter().zip(columns) {
        table = table.column(name, column);
    }
    let svg = table.lines("releases before and after repair", "precision beyond blind", &names[..4]);
    let data = "Abstracts. Groups are mended against dictionaries with NCP at most twice what it was, and then attacked with dictionaries, with \
                other abstracts and with word vectors. Columns tell by how much the best of all attacks is right beyond blind guesses, at the lower end of its interval."
        .into();
    Ok(Page { title: "releases that were mended", data, table, svg, claims })
}

fn mend(
    data: &Dataset,
    recoding: &Recoding,
    k: u32,
    distance: &disjoin::attack::semantic::Distance<'_>,
) -> Result<Regrouped> {
    let draft = Draft::of_recoding(&data.records, 0..data.records.len() as u32, recoding, Vec::new());
    let (release, _) = Recoded::of_drafts(&data.dictionary, vec![draft])?;
    let privacy = random_singletons(data.n_terms(), FEW, 1)?;
    let promise = Promised::constraints(&privacy, &data.dictionary, true, &release);
    let suppression = if recoding.suppressed().next().is_some() { Suppression::Terms } else { Suppression::None };
    let claim = RecodedClaim::new(&release, "coat", k, promise, suppression, None);
    let options = Options { seed: 1, ..Options::default() };
    let asked = Asked { claim: &claim, release: &release, original: data, distance, options: &options, limit: 2.0 };
    regroup(&asked, &mut |step| eprintln!("  k = {k}: {step}"))
}

/// The groups of a release in the terms of the original.
fn recoding_of(data: &Dataset, mended: &Regrouped) -> Result<Recoding> {
    let text = |&term: &u32| data.dictionary.get(mended.release.dictionary.text(term));
    let groups = mended.release.blocks.iter().flat_map(|block| &block.groups);
    let groups: Vec<Vec<u32>> = groups.map(|group| group.iter().filter_map(text).collect()).collect();
    Recoding::from_groups(data.n_terms(), groups).ok_or(disjoin::Error::Internal("a term is in two groups"))
}
