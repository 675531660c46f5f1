//! The paper's figures 13 to 15.

use disjoin::Result;
use disjoin::attack::semantic::{Distance, METHODS, Method};
use disjoin::data::Dataset;
use disjoin::knowledge::relatedness::{by_corpus, corpus};
use disjoin::protect::recoding::utility::{ALIKE, alike};
use disjoin::read::policy::random_singletons;

use super::data::Who::By;
use super::data::{
    BASELINES, F, FEW, KS, MANY, PRECISION, RECALL, Scores, Sources, Who, ahead, by_density, generalise, of_tables,
    scores, topics,
};
use crate::judge::Limit::{AtLeast, AtMost, LessThan, MoreThan, Within};
use crate::judge::{Check, Claim, check, claim};
use crate::page::{Page, Table};

/// The earlier methods.
const EARLIER: [Who; 4] = [By(Method::Random), By(Method::Largest), By(Method::Threshold), By(Method::Weighted)];
const RBA: Who = By(Method::Redistribution);
const GBA: Who = By(Method::Group);

/// Every method for every k.
fn by_k(data: &Dataset, share: f64, distance: &Distance<'_>) -> Result<Vec<Scores>> {
    KS.iter().map(|&k| scores(data, &generalise(data, k, share, 1, None)?, distance, None)).collect()
}

fn places() -> Vec<f64> {
    KS.iter().map(|&k| f64::from(k)).collect()
}

/// A claim about every k.
fn at_every_k(claim: Claim, all: &[Scores], checks: impl Fn(&Scores) -> Vec<Check>) -> Claim {
    claim.cases(KS.iter().zip(all), |(k, scores)| (format!("k = {k}"), checks(scores)))
}

/// That somebody has a higher F than the best of others.
fn leads(said: &'static str, all: &[Scores], who: Who, others: &[Who]) -> Claim {
    let names: Vec<&str> = others.iter().map(|who| who.name()).collect();
    let what = format!("F of {} less the best of {}", who.name(), names.join(", "));
    at_every_k(claim(said, "-"), all, |scores| vec![check(&what[..], ahead(scores, who, others, F), MoreThan(0.0))])
}

/// That an attack is worth more than looking at nothing.
fn beats_baselines(all: &[Scores], who: Who) -> Claim {
    leads("(ours) the attack is better than to look at nothing", all, who, &BASELINES)
}

/// That so much is found with such a precision, and not because nearly everything is added.
pub(super) fn found(claim: Claim, all: &[(String, &Scores)]) -> Claim {
    claim.cases(all, |(name, scores)| {
        let checks = vec![
            check("recall of RBA", of_tables(scores, RBA, RECALL), AtLeast(0.7)),
            check("precision of RBA", of_tables(scores, RBA, PRECISION), AtLeast(0.8)),
            check("the same less that of eliminating all", ahead(scores, RBA, &[Who::All], PRECISION), AtLeast(0.1)),
        ];
        (name.clone(), checks)
    })
}

/// The page of a dataset.
fn page(title: &'static str, data: &Dataset, said: &str, all: &[Scores], claims: Vec<Claim>) -> Page {
    let table = Table::at("k", &places())
        .column("density", all.iter().map(|scores| scores[0].1.density).collect())
        .attacked(&all.iter().collect::<Vec<_>>(), &METHODS);
    let names: Vec<String> =
        ["all", "all but one"].into_iter().chain(METHODS.map(Method::short)).map(|name| format!("{name} F")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let svg = table.lines(title, "F-score", &names);
    let mean = data.records.n_incidences() as f64 / data.records.len().max(1) as f64;
    let n = (data.records.len(), data.n_terms());
    let of_tables: Vec<String> = all.iter().map(|scores| scores[0].1.of_tables.len().to_string()).collect();
    let data = format!(
        "{said} {} records, {} terms, {mean:.1} in a record on average; {} generalised items for k = 2 to 6. Pooled over all cells.",
        n.0,
        n.1,
        of_tables.join(", ")
    );
    Page { title, data, table, svg, claims }
}

/// Figure 13 for text of one domain.
pub(crate) fn abstracts(sources: &Sources) -> Result<Page> {
    let data = sources.abstracts();
    let (distance, known) = by_corpus(&sources.corpus, &data.dictionary);
    let all = by_k(&data, FEW, &distance)?;
    let said = format!(
        "Noun phrases of medical abstracts. Of the terms {} are known as words, {} as phrases, {} by their last word, {} by the \
         mean of their words, {} not at all.",
        known.words, known.phrases, known.heads, known.means, known.unknown
    );
    Ok(page("abstracts, every method by k", &data, &said, &all, claims_13(&all)))
}

fn claims_13(all: &[Scores]) -> Vec<Claim> {
    let named: Vec<(String, &Scores)> = KS.iter().zip(all).map(|(k, scores)| (format!("k = {k}"), scores)).collect();
    let others = [By(Method::Random), By(Method::Threshold), GBA, RBA];
    vec![
        found(claim("up to 70 % of added items are found with a precision over 80 %", "0.70, 0.80"), &named)
            .somewhere(),
        leads("RBA outperforms the earlier methods", all, RBA, &EARLIER),
        leads("so does GBA", all, GBA, &EARLIER),
        at_every_k(claim("MDA has low recall and high precision", "-"), all, |scores| {
            let mda = By(Method::Largest);
            vec![
                check("recall of MDA", of_tables(scores, mda, RECALL), AtMost(0.5)),
                check(
                    "precision of MDA less the best of RA, TBA, GBA, RBA",
                    ahead(scores, mda, &others, PRECISION),
                    AtLeast(-0.02),
                ),
            ]
        }),
        beats_baselines(all, RBA),
        leads(
            "(ours) our attack is better than RBA and than to look at nothing",
            all,
            By(Method::Calibrated),
            &[RBA, Who::All, Who::AllButOne],
        ),
    ]
}

/// Figure 13 where the paper says that its methods do not apply.
pub(crate) fn groceries(sources: &Sources) -> Result<Page> {
    let data = sources.groceries()?;
    let (distance, _) = by_corpus(&sources.corpus, &data.dictionary);
    let all = by_k(&data, MANY, &distance)?;
    let said = "shopping baskets are not suitable: items are related by preference, not by context";
    let claims = vec![at_every_k(claim(said, "-"), &all, |scores| {
        vec![check(
            "precision of RBA less that of eliminating all",
            ahead(scores, RBA, &[Who::All], PRECISION),
            AtMost(0.05),
        )]
    })];
    Ok(page("groceries, every method by k", &data, "Baskets of a grocery, the first 300.", &all, claims))
}

/// Texts that share many words, and a corpus of more of them.
fn generated(sources_of: u64) -> Result<(Dataset, corpus::Builder)> {
    let data = Dataset::from_texts(topics(400, 4, 1_000, sources_of));
    let mut builder = corpus::Builder::default();
    topics(4_000, 4, 1_000, sources_of + 1).iter().for_each(|text| builder.add(&text.join(" ")));
    Ok((data, builder))
}

/// Figure 13 for dense data of several domains.
pub(crate) fn dense(_: &Sources) -> Result<Page> {
    let (data, builder) = generated(7)?;
    let corpus = builder.finish(Vec::new())?;
    let (distance, _) = by_corpus(&corpus, &data.dictionary);
    let all = by_k(&data, MANY, &distance)?;
    let claims = vec![
        leads(
            "on dense data of several domains F of RBA is superior to that of the other methods",
            &all,
            RBA,
            &EARLIER,
        ),
        leads("so is that of GBA", &all, GBA, &EARLIER),
        beats_baselines(&all, RBA),
    ];
    let said = "Generated texts about four topics that share no words, with a corpus of 4,000 others.";
    Ok(page("dense generated texts, every method by k", &data, said, &all, claims))
}

/// The methods of figure 14.
const BY_DENSITY: [Method; 5] =
    [Method::Threshold, Method::Weighted, Method::Group, Method::Redistribution, Method::Calibrated];

/// The parts into which tables are put by their density.
const THIRDS: [&str; 3] = ["sparsest third", "middle third", "densest third"];

/// Figure 14: by density, within each kind of data.
pub(crate) fn density(sources: &Sources) -> Result<Page> {
    let data = sources.abstracts();
    let (distance, _) = by_corpus(&sources.corpus, &data.dictionary);
    let of_abstracts = by_k(&data, FEW, &distance)?;
    let (data, builder) = generated(7)?;
    let corpus = builder.finish(Vec::new())?;
    let (distance, _) = by_corpus(&corpus, &data.dictionary);
    let of_generated = by_k(&data, MANY, &distance)?;
    let (mut names, mut parts) = (Vec::new(), Vec::new());
    for (kind, all) in [(KINDS[0], &of_abstracts), (KINDS[1], &of_generated)] {
        for (third, name) in THIRDS.into_iter().enumerate() {
            names.push(format!("{kind}, {name}"));
            parts.push(by_density(all, third as f64 / 3.0, (third + 1) as f64 / 3.0));
        }
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mean_density = |scores: &Scores| {
        let tables = &scores[0].1.of_tables;
        tables.iter().map(disjoin::attack::semantic::judge::Counts::density).sum::<f64>() / tables.len() as f64
    };
    let table = Table::named("tables", &names)
        .column("density", parts.iter().map(mean_density).collect())
        .attacked(&parts.iter().collect::<Vec<_>>(), &BY_DENSITY);
    let drawn = Table::named("tables", &names);
    let drawn = BY_DENSITY.iter().fold(drawn, |drawn, method| {
        let name = format!("{} F", method.short());
        let values = table.get(&name);
        drawn.column(name, values)
    });
    let svg = drawn.bars("F by density, within each kind of data", "F-score");
    let data = "Tables of the abstracts and of dense generated texts, k = 2 to 6 together, each kind by itself: sorted by density, in three parts of \
                as many tables.";
    let claims = claims_14(&table);
    Ok(Page { title: "recall, precision and F by density", data: data.into(), table, svg, claims })
}

/// The kinds of data of figure 14.
const KINDS: [&str; 2] = ["abstracts", "generated texts"];

fn claims_14(table: &Table) -> Vec<Claim> {
    let change = |kind: &str, method: Method, share: &str| {
        let [first, _, last] =
            THIRDS.map(|third| table.named_cell(&format!("{kind}, {third}"), &format!("{} {share}", method.short())));
        last.less(first)
    };
    let each = |methods: &'static [Method]| {
        KINDS.into_iter().flat_map(move |kind| methods.iter().map(move |&method| (kind, method)))
    };
    let name = |kind: &str, method: Method| format!("{kind}, {}", method.short());
    vec![
        claim("precision falls when density rises", "-").cases(each(&BY_DENSITY), |(kind, method)| {
            let what = "precision in the densest third less that in the sparsest";
            (name(kind, method), vec![check(what, change(kind, method, "precision"), LessThan(0.0))])
        }),
        claim("the recall of GBA and RBA is not affected", "-").cases(
            each(&[Method::Group, Method::Redistribution]),
            |(kind, method)| {
                let what = "recall in the densest third less that in the sparsest";
                (name(kind, method), vec![check(what, change(kind, method, "recall"), Within(-0.1, 0.1))])
            },
        ),
    ]
}

/// Figure 15: utility constraints that keep meaning.
pub(crate) fn constraints(sources: &Sources) -> Result<Page> {
    let data = sources.abstracts();
    let wordnet = sources.wordnet()?;
    let (distance, _) = by_corpus(&sources.corpus, &data.dictionary);
    let senses: Vec<&[u32]> = data.dictionary.iter().map(|text| wordnet.senses(text)).collect();
    let similarity = |a: u32, b: u32| wordnet.of_senses(senses[a as usize], senses[b as usize]);
    let sets = alike(&random_singletons(data.n_terms(), FEW, 1)?, data.n_terms(), ALIKE, similarity);
    let general = by_k(&data, FEW, &distance)?;
    let consistent: Vec<Scores> = KS
        .iter()
        .map(|&k| scores(&data, &generalise(&data, k, FEW, 1, Some(&sets))?, &distance, None))
        .collect::<Result<_>>()?;
    let mut table = Table::at("k", &places());
    for (mark, all) in [("", &general), ("'", &consistent)] {
        for who in [Who::All, Who::AllButOne, By(Method::Threshold), RBA, By(Method::Calibrated)] {
            let name = who.name();
            let column = |share| all.iter().map(|scores| of_tables(scores, who, share)).collect();
            table = table
                .measured(format!("{name}{mark} recall"), column(RECALL))
                .measured(format!("{name}{mark} precision"), column(PRECISION))
                .measured(format!("{name}{mark} F"), column(F));
        }
        table = table.column(format!("density{mark}"), all.iter().map(|scores| scores[0].1.density).collect());
    }
    let claims = vec![claim_15(&table)];
    let svg = table.lines(
        "general and consistent (') constraints",
        "F-score",
        &["TBA F", "RBA F", "ours F", "TBA' F", "RBA' F", "ours' F"],
    );
    let said = format!(
        "Abstracts. General: any term stands in for any other. Consistent ('): only terms that WordNet puts together with the protected one \
         (Wu-Palmer above 0.5), {} sets; what cannot be protected so is suppressed.",
        sets.len()
    );
    Ok(Page { title: "general and semantically consistent utility constraints", data: said, table, svg, claims })
}

fn claim_15(table: &Table) -> Claim {
    claim("semantically consistent utility constraints hardly affect the attacks", "-").cases(0..KS.len(), |at| {
        let change = table.cell(at, "RBA' F").less(table.cell(at, "RBA F"));
        (format!("k = {}", KS[at]), vec![check("F of RBA, consistent less general", change, Within(-0.1, 0.1))])
    })
}

#[cfg(test)]
mod tests {
    use disjoin::attack::Rate;
    use disjoin::attack::semantic::judge::{Counts, Score};

    use super::*;
    use crate::judge::Verdict;

    /// Forty tables of ten rows and four members, thirty of forty added; each method eliminates so many and is right so often.
    fn made(of: fn(Method) -> (u64, u64)) -> Vec<Scores> {
        let scores = METHODS.map(|method| {
            let (eliminated, right) = of(method);
            let counts = Counts { rows: 10, cells: 40, added: 30, eliminated, right };
            let none = Rate::new(0, 1);
            let score = Score {
                added: 1200,
                original: 400,
                precision: none,
                recall: none,
                f: 0.0,
                mean_precision: 0.0,
                mean_recall: 0.0,
                mean_f: 0.0,
                density: 0.25,
                of_tables: vec![counts; 40],
            };
            (method, score)
        });
        KS.map(|_| scores.to_vec()).to_vec()
    }

    #[test]
    fn false_data_make_claims_differ() {
        // RBA and GBA are worse than those before them, MDA finds nearly all and is hardly ever right.
        let wrong = made(|method| match method {
            Method::Redistribution | Method::Group | Method::Calibrated => (20, 10),
            Method::Largest => (30, 20),
            _ => (20, 18),
        });
        assert!(claims_13(&wrong).iter().all(|claim| claim.verdict() == Verdict::Differs));
        // All is eliminated: recall and precision are high where most was added, and nothing was found.
        let all = made(|_| (40, 30));
        let verdicts: Vec<Verdict> = claims_13(&all).iter().map(Claim::verdict).collect();
        assert_eq!((verdicts[0], verdicts[4]), (Verdict::Differs, Verdict::Differs));
        let right = made(|method| match method {
            Method::Redistribution | Method::Group => (29, 29),
            Method::Calibrated => (30, 30),
            Method::Largest => (4, 4),
            _ => (20, 18),
        });
        assert!(claims_13(&right).iter().all(|claim| claim.verdict() == Verdict::Reproduced));
        assert!((ahead(&right[0], RBA, &BASELINES, F).value - (58.0 / 59.0 - 6.0 / 7.0)).abs() < 1e-9);
    }

    #[test]
    fn density_that_does_not_matter_is_seen() {
        let rows: Vec<String> = KINDS.iter().flat_map(|kind| THIRDS.map(|third| format!("{kind}, {third}"))).collect();
        let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
        let table = |of: [f64; 3]| {
            let of: Vec<f64> = of.into_iter().chain(of).collect();
            BY_DENSITY.iter().fold(Table::named("tables", &rows), |table, method| {
                table
                    .column(format!("{} precision", method.short()), of.clone())
                    .column(format!("{} recall", method.short()), of.clone())
            })
        };
        let verdicts = |of| claims_14(&table(of)).iter().map(Claim::verdict).collect::<Vec<_>>();
        assert_eq!(verdicts([0.5, 0.6, 0.7]), [Verdict::Differs, Verdict::Differs]);
        assert_eq!(verdicts([0.7, 0.68, 0.65]), [Verdict::Reproduced, Verdict::Reproduced]);
    }
}
