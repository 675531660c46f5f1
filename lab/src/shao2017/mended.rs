//! Beside the paper: releases that are grouped anew until attacks fall to the baseline, attacked with what the mender knew and with more.

use disjoin::Result;
use disjoin::attack::semantic::{Distance, METHODS, Options};
use disjoin::data::{Dataset, Recoding};
use disjoin::knowledge::relatedness::{by_corpus, by_vectors};
use disjoin::observer::Observer;
use disjoin::read::policy::random_singletons;
use disjoin::release::recoded::{Draft, Promised, Recoded, RecodedClaim, Suppression};
use disjoin::repair::regroup::{Asked, Regrouped, regroup};

use super::data::{FEW, PRECISION, Sources, Who, ahead, generalise, scores};
use crate::estimate::Estimate;
use crate::judge::Limit::{AtMost, LessThan};
use crate::judge::{Claim, check, claim};
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
    for k in KS {
        let released = generalise(&data, k, FEW, 1, None)?;
        for (mender, (_, adversaries)) in menders.iter().enumerate() {
            // Without an adversary nothing is changed.
            let mended = mend(&data, &released, k, adversaries)?;
            let recoding = recoding_of(&data, &mended)?;
            costs[mender].push(1e3 * mended.stats.ncp.1);
            for (attacker, (_, distance)) in attackers.iter().enumerate() {
                leads[mender][attacker].push(lead(&data, &recoding, distance)?);
            }
        }
    }
    let known: Vec<Vec<usize>> = menders
        .iter()
        .map(|(_, mended)| {
            let knows =
                |attacker: &usize| mended.iter().any(|distance| std::ptr::eq(*distance, attackers[*attacker].1));
            (0..attackers.len()).filter(knows).collect()
        })
        .collect();
    let names = (
        menders.iter().map(|mender| mender.0).collect::<Vec<_>>(),
        attackers.iter().map(|one| one.0).collect::<Vec<_>>(),
    );
    let claims = claims_of(&leads, &known, (&names.0, &names.1));
    let mut names = Vec::new();
    for (attacker, (who, _)) in attackers.iter().enumerate() {
        for (mender, (when, _)) in menders.iter().enumerate() {
            names.push(format!("{who}, {when}"));
            table = table.measured(names[names.len() - 1].clone(), leads[mender][attacker].clone());
        }
    }
    for ((when, _), cost) in menders.iter().zip(costs) {
        table = table.column(format!("NCP {when} (thousandths)"), cost);
    }
    let drawn: Vec<&str> = names.iter().map(String::as_str).collect();
    let svg = table.lines("releases before and after repair", "precision beyond eliminating all", &drawn);
    let said = "Abstracts. Groups are mended against dictionaries (after), or against dictionaries and word vectors (after both), with NCP at most twice \
                what it was. Then they are attacked with dictionaries, with other abstracts and with word vectors. Columns tell by how much the best of \
                all attacks is more precise than somebody who eliminates all.";
    Ok(Page { title: "releases that were mended", data: said.into(), table, svg, claims })
}

/// For each mender, for each attacker by how much he is right, for each k.
type Leads = Vec<Vec<Vec<Estimate>>>;

/// Every number of the table, held against what it was before: those of attackers that the mender knew, and of others.
fn claims_of(leads: &Leads, known: &[Vec<usize>], (menders, attackers): (&[&str], &[&str])) -> Vec<Claim> {
    let all = || (1..menders.len()).flat_map(|mender| (0..attackers.len()).map(move |attacker| (mender, attacker)));
    let places = |is_known: bool| -> Vec<(usize, usize, usize)> {
        let those = all().filter(|(mender, attacker)| known[*mender].contains(attacker) == is_known);
        those.flat_map(|(mender, attacker)| (0..KS.len()).map(move |k| (mender, attacker, k))).collect()
    };
    let name = |(mender, attacker, k): (usize, usize, usize)| {
        format!("{}, {}, k = {}", attackers[attacker], menders[mender], KS[k])
    };
    let lead = |(mender, attacker, k): (usize, usize, usize)| leads[mender][attacker][k];
    let fall = |at: (usize, usize, usize)| lead(at).less(lead((0, at.1, at.2)));
    let what = "precision of the best attack less that of eliminating all";
    vec![
        claim("(ours) repair brings attacks of those it reckons with to the baseline", "-")
            .cases(places(true), |at| (name(at), vec![check(what, lead(at), AtMost(0.02))])),
        claim("(ours) what is repaired is harder for those it reckons with", "-")
            .cases(places(true), |at| (name(at), vec![check("the same, after less before", fall(at), LessThan(0.0))])),
        claim("(ours) what is repaired is harder for others too", "-")
            .cases(places(false), |at| (name(at), vec![check("the same, after less before", fall(at), LessThan(0.0))])),
    ]
}

/// By how much the best attack is more precise than eliminating all.
fn lead(data: &Dataset, recoding: &Recoding, distance: &Distance<'_>) -> Result<Estimate> {
    let scores = scores(data, recoding, distance, None)?;
    let leads = METHODS.map(|method| ahead(&scores, Who::By(method), &[Who::All], PRECISION));
    Ok(leads.into_iter().max_by(|a, b| a.value.total_cmp(&b.value)).unwrap_or_else(Estimate::missing))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::Verdict;

    #[test]
    fn every_column_decides() {
        let of = |values: [f64; 2]| values.map(|value| vec![Estimate::exact(value); KS.len()]).to_vec();
        let names: (&[&str], &[&str]) = (&["before", "after"], &["dictionaries", "other abstracts"]);
        let verdicts = |after: [f64; 2]| {
            let leads = vec![of([0.2, 0.3]), of(after)];
            claims_of(&leads, &[vec![], vec![0]], names).iter().map(Claim::verdict).collect::<Vec<_>>()
        };
        assert_eq!(verdicts([0.0, 0.1]), [Verdict::Reproduced; 3]);
        assert_eq!(verdicts([0.1, 0.1])[0], Verdict::Differs);
        assert_eq!(verdicts([0.3, 0.1])[1], Verdict::Differs);
        assert_eq!(verdicts([0.0, 0.4])[2], Verdict::Differs);
    }
}
