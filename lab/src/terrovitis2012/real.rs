//! Figures 7a to 7d: what disassociation does to real data.

use disjoin::Result;
use disjoin::measure::{RelativeError, Window};

use super::{K, Lab, Metric, NAMES, RE, RE_A, RE_E, REAL, Source, TKD, TKD_A, TKD_E, TLOST};
use crate::estimate::{Estimate, change, line, spread};
use crate::judge::Limit::{AtLeast, AtMost, LessThan, MoreThan, Within};
use crate::judge::{Claim, check, claim};
use crate::page::{Page, Table};

/// The ticks of the paper's axis cannot be read.
pub(super) const KS: [f64; 5] = [2.0, 5.0, 10.0, 15.0, 20.0];

pub(super) fn figure_7a(lab: &Lab<'_>) -> Result<Page> {
    let table = Table::named("data", &NAMES).metrics(&lab.all(REAL)?, &[TKD_A, TKD, TKD_E, RE_A, RE, RE_E, TLOST]);
    Ok(Page {
        title: "information loss on real data",
        data: "POS-275k, WV1 and WV2 at k = 5, m = 2.".into(),
        svg: table.bars("Figure 7a: information loss (k = 5, m = 2)", "loss"),
        claims: claims_7a(&table),
        table,
    })
}

fn claims_7a(table: &Table) -> Vec<Claim> {
    let [tkd_a, tkd, re_a, re, tlost] =
        ["tKd-a", "tKd", "re-a", "re", "tlost"].map(|name| [0, 1, 2].map(|row| table.cell(row, name)));
    let gain = |at: usize| tkd[at].over(tkd_a[at]);
    let what = "tKd over tKd-a";
    let apart = |a: usize, b: usize| re[b].less(re[a]);
    vec![
        claim("tKd-a is similar for all data", "-")
            .case("", [check("tKd-a, from least to greatest", spread(&tkd_a), AtMost(0.1))]),
        claim("tKd is significantly better than tKd-a for POS only", "-")
            .case(NAMES[0], [check(what, gain(0), AtMost(0.5))])
            .case(NAMES[1], [check(what, gain(1), MoreThan(0.5))])
            .case(NAMES[2], [check(what, gain(2), MoreThan(0.5))]),
        claim("re differs significantly between the data; the more records a term, the better", "-")
            .case("POS-275k to WV1", [check("re rises by", apart(0, 1), AtLeast(0.1))])
            .case("WV1 to WV2", [check("re rises by", apart(1, 2), AtLeast(0.1))]),
        claim("re is significantly better than re-a for POS and WV1", "-").cases([0, 1], |at: usize| {
            (NAMES[at].into(), vec![check("re over re-a", re[at].over(re_a[at]), AtMost(0.8))])
        }),
        claim("tlost follows the records a term as well, but less", "-").case(
            "",
            [
                check("tlost of WV1 less POS-275k", tlost[1].less(tlost[0]), AtLeast(0.0)),
                check("tlost of WV2 less WV1", tlost[2].less(tlost[1]), AtLeast(0.0)),
                check("its spread over that of re", spread(&tlost).over(spread(&re)), LessThan(1.0)),
            ],
        ),
    ]
}

pub(super) fn figure_7b(lab: &Lab<'_>) -> Result<Page> {
    let table = by_k(lab, &[TKD_A, TKD, TKD_E, TLOST])?;
    let claims = vec![
        claim("what depends on the most frequent terms is only slightly affected by k", "-")
            .cases(["tKd-a", "tKd", "tlost"], |name| {
                (name.into(), vec![check("change from k = 2 to 20", change(table.of(name)), Within(-0.1, 0.1))])
            }),
        claim("tKd of POS is close to 0", "close to 0").cases(0..KS.len(), |at| {
            (format!("k = {}", KS[at]), vec![check("tKd", table.cell(at, "tKd"), AtMost(0.1))])
        }),
    ];
    Ok(Page {
        title: "tKd-a, tKd and tlost as k grows",
        data: by_k_data(),
        svg: table.lines("Figure 7b: POS-275k, m = 2", "loss", &["tKd-a", "tKd", "tKd-e", "tlost"]),
        table,
        claims,
    })
}

pub(super) fn figure_7c(lab: &Lab<'_>) -> Result<Page> {
    let all = KS.iter().map(|&k| lab.measured(Source::Pos, k as u32)).collect::<Result<Vec<_>>>()?;
    let table = Table::at("k", &KS).metrics(&all, &[RE, RE_A, RE_E]);
    // Each reconstruction has a line of its own.
    let by_k: Vec<Vec<f64>> = all.iter().map(|of| of.errors_at(200, |window| window.re)).collect();
    let explained: Vec<f64> =
        (0..by_k[0].len()).map(|draw| line(&KS, &by_k.iter().map(|draws| draws[draw]).collect::<Vec<_>>()).1).collect();
    Ok(Page {
        title: "re and re-a as k grows",
        data: by_k_data(),
        svg: table.lines("Figure 7c: POS-275k, m = 2", "relative error of pairs", &["re", "re-a", "re-e"]),
        claims: claims_7c(&table, Estimate::mean(&explained)),
        table,
    })
}

fn claims_7c(table: &Table, explained: Estimate) -> Vec<Claim> {
    let slope = Estimate::slope(table.places(), &table.get("re"));
    let rises = check("re rises for each step of k by", slope, MoreThan(0.0));
    vec![
        claim("re increases with k, but with a low rate", "-")
            .case("", [rises.clone(), check("re rises for each step of k by", slope, AtMost(0.03))]),
        claim("the increase is linear", "-")
            .case("", [rises, check("share of the variance that a line explains", explained, AtLeast(0.9))]),
    ]
}

fn by_k(lab: &Lab<'_>, metrics: &[Metric]) -> Result<Table> {
    let all = KS.iter().map(|&k| lab.measured(Source::Pos, k as u32)).collect::<Result<Vec<_>>>()?;
    Ok(Table::at("k", &KS).metrics(&all, metrics))
}

fn by_k_data() -> String {
    "POS-275k at m = 2. The values of k are ours, since those of the paper cannot be read. Clusters stay below 30 \
     records up to k = 15, and below 40 at k = 20."
        .into()
}

/// The ranks at which windows begin.
const RANKS: [usize; 5] = [0, 100, 200, 300, 400];

/// The error of one of the estimates of a window.
type ErrorOf = fn(&Window) -> RelativeError;

pub(super) fn figure_7d(lab: &Lab<'_>) -> Result<Page> {
    let measured = lab.measured(Source::Pos, K)?;
    let errors: [(&str, ErrorOf); 5] = [
        ("re", |window| window.re),
        ("re-r2", |window| averaged(window, 2)),
        ("re-r5", |window| averaged(window, 5)),
        ("re-r10", |window| averaged(window, 10)),
        ("re-e", |window| window.re_e),
    ];
    let mut table = Table::at("rank of the first of 20 terms", &RANKS.map(|rank| rank as f64));
    for (name, error) in errors {
        table = table.measured(name, RANKS.map(|rank| measured.error_at(rank, error)).to_vec());
    }
    // Pairs of numbers from the same reconstructions.
    let paired = |of: fn(f64, f64) -> f64, a: ErrorOf, b: ErrorOf| {
        RANKS.map(|rank| {
            let (a, b) = (measured.errors_at(rank, a), measured.errors_at(rank, b));
            Estimate::mean(&a.iter().zip(&b).map(|(&a, &b)| of(a, b)).collect::<Vec<_>>())
        })
    };
    let (one, ten, expected) = (errors[0].1, errors[3].1, errors[4].1);
    let saved = paired(|one, ten| one - ten, one, ten);
    let gain = paired(|one, ten| 1.0 - ten / one, one, ten);
    let behind = paired(|expected, ten| expected - ten, expected, ten);
    Ok(Page {
        title: "averaging reconstructions",
        data: "POS-275k at k = 5, m = 2; pairs of 20 terms by falling support. The paper's label of the last line, \
               \"10 (re-r5)\", is read as re-r10. Means of five runs, each with reconstructions of its own."
            .into(),
        svg: table.lines("Figure 7d: POS-275k, k = 5, m = 2", "relative error of pairs", &errors.map(|error| error.0)),
        claims: claims_7d(saved, gain, behind),
        table,
    })
}

/// By what re-r10 is below re at each rank, as a share of re, and by what re-e is above re-r10.
fn claims_7d(saved: [Estimate; 5], gain: [Estimate; 5], behind: [Estimate; 5]) -> Vec<Claim> {
    vec![
        claim("for the most frequent terms, averaging reconstructions gives no benefit", "-")
            .case("", [check("re less re-r10 at rank 0", saved[0], AtMost(0.01))]),
        claim("for less frequent terms, averaging makes estimates more accurate", "-").cases(2..5, |at: usize| {
            (format!("rank {}", RANKS[at]), vec![check("share of re that re-r10 saves", gain[at], AtLeast(0.1))])
        }),
        claim("(ours) expected supports are as good as ten reconstructions", "-").cases(0..5, |at: usize| {
            (format!("rank {}", RANKS[at]), vec![check("re-e less re-r10", behind[at], AtMost(0.01))])
        }),
    ]
}

fn averaged(window: &Window, n: u64) -> RelativeError {
    let found = window.re_r.iter().find(|averaged| averaged.reconstructions == n);
    found.map_or(RelativeError { mean: None, skipped: 0, existing: None }, |averaged| averaged.error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::Verdict;

    fn of_data(name: &str, values: [f64; 3]) -> Table {
        let zeros = ["tKd-a", "tKd", "re-a", "re", "tlost"].into_iter().filter(|other| *other != name);
        let table = zeros.fold(Table::named("data", &NAMES), |table, other| table.column(other, vec![0.5; 3]));
        table.column(name, values.into())
    }

    #[test]
    fn false_data_make_claims_differ() {
        let verdict = |table: &Table, at: usize| claims_7a(table)[at].verdict();
        assert_eq!(verdict(&of_data("tKd-a", [0.1, 0.5, 0.9]), 0), Verdict::Differs);
        assert_eq!(verdict(&of_data("tKd-a", [0.5, 0.5, 0.55]), 0), Verdict::Reproduced);
        // The more records a term, the worse.
        assert_eq!(verdict(&of_data("re", [1.5, 1.0, 0.5]), 2), Verdict::Differs);
        assert_eq!(verdict(&of_data("re", [0.5, 1.0, 1.5]), 2), Verdict::Reproduced);
        assert_eq!(verdict(&of_data("re", [0.6, 0.6, 0.6]), 3), Verdict::Differs);
        // re that falls, and re that rises by chance.
        let by_k =
            |values: [f64; 5]| claims_7c(&Table::at("k", &KS).column("re", values.into()), Estimate::exact(0.02));
        assert_eq!(by_k([0.5, 0.45, 0.4, 0.35, 0.3])[0].verdict(), Verdict::Differs);
        assert_eq!(by_k([0.5, 0.3, 0.55, 0.35, 0.51])[0].verdict(), Verdict::Partly, "chance decides nothing");
        assert_eq!(by_k([0.4, 0.42, 0.45, 0.48, 0.5])[1].verdict(), Verdict::Differs);
        // Averaging helps where it should not, and does not where it should.
        let claims =
            claims_7d([0.2; 5].map(Estimate::exact), [0.0; 5].map(Estimate::exact), [0.1; 5].map(Estimate::exact));
        assert!(claims.iter().all(|claim| claim.verdict() == Verdict::Differs));
    }
}
