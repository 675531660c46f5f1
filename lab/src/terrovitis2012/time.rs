//! Figures 9 and 10: how long disassociation takes.
//!
//! Only `disassociate` is timed, on one thread, as the paper tells CPU time. Points are taken in turn, in several rounds, and each round
//! has ratios of its own: then a busy machine disturbs ratios less than seconds.

use std::time::Instant;

use disjoin::data::Dataset;
use disjoin::protect::disassociation::{Params, disassociate};
use disjoin::{Error, Result};

use super::real::KS;
use super::synthetic::{DOMAINS, data, of_domain, of_size, sizes};
use super::{K, Lab, M, NAMES, REAL};
use crate::estimate::{Estimate, least, line, most};
use crate::judge::Limit::{AtLeast, AtMost, MoreThan};
use crate::judge::{Claim, check, claim};
use crate::page::{Page, Table};

const ROUNDS: usize = 5;

const HOW: &str = "Seconds of `disassociate` alone on one thread, means of five rounds; machines differ and are never idle, so only the \
                   ratios to the first point of the same round are judged, with Student's interval over rounds.";

pub(super) fn figure_9(lab: &Lab<'_>) -> Result<Page> {
    let mut table = Table::at("k", &KS);
    let ratio_names = NAMES.map(|name| format!("{name}, ratio"));
    let mut slowest = Vec::new();
    for ((source, name), ratio) in REAL.into_iter().zip(NAMES).zip(&ratio_names) {
        let dataset = lab.load(source)?;
        let rounds = rounds(&KS.map(|k| (&dataset, k as u32)))?;
        let apart: Vec<f64> = rounds.iter().map(|seconds| most(seconds) / least(seconds)).collect();
        slowest.push(Estimate::mean(&apart));
        table = table.timed(format!("{name}, seconds"), means(&rounds)).timed(ratio, ratios(&rounds));
    }
    Ok(Page {
        title: "CPU time as k grows",
        data: format!("POS-275k, WV1 and WV2 at m = 2. {HOW}"),
        svg: table.lines(
            "Figure 9: time by k, m = 2",
            "time, k = 2 is 1",
            &ratio_names.each_ref().map(|name| &name[..]),
        ),
        table,
        claims: vec![claim_9(&slowest)],
    })
}

/// By how much the slowest k is slower than the fastest, for each data set.
fn claim_9(slowest: &[Estimate]) -> Claim {
    let claim = claim("CPU time is not significantly affected by k", "-").timed();
    claim.cases(NAMES.into_iter().zip(slowest), |(name, slowest)| {
        (name.into(), vec![check("time of the slowest k over the fastest", *slowest, AtMost(1.5))])
    })
}

pub(super) fn figure_10(lab: &Lab<'_>) -> Result<Page> {
    let sizes = sizes(lab.scale);
    let load = |source| lab.load(source);
    let times = |all: &[Dataset]| rounds(&all.iter().map(|dataset| (dataset, K)).collect::<Vec<_>>());
    let by_size = times(&sizes.into_iter().map(|records| load(of_size(records))).collect::<Result<Vec<_>>>()?)?;
    let by_domain =
        times(&DOMAINS.into_iter().map(|items| load(of_domain(lab.scale, items))).collect::<Result<Vec<_>>>()?)?;
    // Both sizes grow to five times the first: one axis serves both.
    let factors = sizes.map(|records| records / sizes[0]);
    let table = Table::at("times the first size", &factors)
        .column("records", sizes.into())
        .timed("seconds by records", means(&by_size))
        .timed("time by records", ratios(&by_size))
        .column("terms", DOMAINS.into())
        .timed("seconds by terms", means(&by_domain))
        .timed("time by terms", ratios(&by_domain))
        .column("linear", factors.into());
    Ok(Page {
        title: "CPU time as records are added, and as the domain grows",
        data: format!(
            "{} {HOW}",
            data(
                lab.scale,
                "fifths of them with 5,000 terms, and all of them with 2,000 to 10,000 terms; mean length 10."
            )
        ),
        svg: table.lines(
            "Figure 10: Quest, k = 5, m = 2",
            "time, the first is 1",
            &["time by records", "time by terms", "linear"],
        ),
        table,
        claims: vec![
            linear("CPU time is linear in the number of records", &factors, &by_size),
            linear("CPU time is linear in the size of the domain", &factors, &by_domain),
        ],
    })
}

/// Whether times grow with the size, by a line; each round has its own.
fn linear(said: &'static str, factors: &[f64], rounds: &[Vec<f64>]) -> Claim {
    let ratios: Vec<Vec<f64>> = rounds.iter().map(|seconds| to_first(seconds)).collect();
    let each = |of: fn(&[f64], &[f64]) -> f64| {
        Estimate::mean(&ratios.iter().map(|ratios| of(factors, ratios)).collect::<Vec<_>>())
    };
    let last = each(|_, ratios| ratios.last().copied().unwrap_or(f64::NAN));
    claim(said, "-").timed().case(
        "",
        [
            check("slope of a line", each(|xs, ys| line(xs, ys).0), MoreThan(0.0)),
            check("share of the variance that it explains", each(|xs, ys| line(xs, ys).1), AtLeast(0.9)),
            check("time of five times the size", last, AtMost(6.0)),
        ],
    )
}

/// The seconds of each task, round by round.
fn rounds(tasks: &[(&Dataset, u32)]) -> Result<Vec<Vec<f64>>> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let pool = pool.map_err(|e| Error::recipe("threads", e.to_string(), "is the machine out of threads?"))?;
    let time = |&(dataset, k): &(&Dataset, u32)| {
        let start = Instant::now();
        pool.install(|| disassociate(dataset, &Params::paper(k, M)))?;
        Ok(start.elapsed().as_secs_f64())
    };
    (0..ROUNDS).map(|_| tasks.iter().map(time).collect()).collect()
}

fn to_first(seconds: &[f64]) -> Vec<f64> {
    seconds.iter().map(|second| second / seconds[0]).collect()
}

/// Means over rounds.
fn means(rounds: &[Vec<f64>]) -> Vec<Estimate> {
    let n = rounds.first().map_or(0, Vec::len);
    (0..n).map(|at| Estimate::mean(&rounds.iter().map(|seconds| seconds[at]).collect::<Vec<_>>())).collect()
}

/// The same of ratios to the first of each round.
fn ratios(rounds: &[Vec<f64>]) -> Vec<Estimate> {
    means(&rounds.iter().map(|seconds| to_first(seconds)).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::Verdict;

    #[test]
    fn false_data_make_claims_differ() {
        assert_eq!(claim_9(&[2.0, 2.0, 1.2].map(Estimate::exact)).verdict(), Verdict::Differs);
        let sizes = [1.0, 2.0, 3.0, 4.0, 5.0];
        let of = |power: f64| vec![sizes.map(|size: f64| size.powf(power)).to_vec(); 3];
        assert_eq!(linear("said", &sizes, &of(1.0)).verdict(), Verdict::Reproduced);
        // Squares, and times that fall.
        assert_eq!(linear("said", &sizes, &of(2.0)).verdict(), Verdict::Differs);
        assert_eq!(linear("said", &sizes, &of(-1.0)).verdict(), Verdict::Differs);
    }
}
