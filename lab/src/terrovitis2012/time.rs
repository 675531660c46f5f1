//! Figures 9 and 10: how long disassociation takes.
//!
//! Only `disassociate` is timed, on one thread, as the paper tells CPU time. Points are taken in turn, in several rounds,
//! and the least time of each counts: then a busy machine disturbs ratios less than seconds.

use std::time::Instant;

use disjoin::data::Dataset;
use disjoin::protect::disassociation::{Params, disassociate};
use disjoin::{Error, Result};

use super::real::{KS, each};
use super::synthetic::{DOMAINS, data, of_domain, of_size, sizes};
use super::{K, Lab, M, NAMES, REAL};
use crate::judge::{claim, least, line, most};
use crate::page::{Page, Table};

const ROUNDS: usize = 3;

const HOW: &str = "Seconds of `disassociate` alone on one thread, the least of three rounds; machines differ and are \
                   never idle, so only the ratios to the first point are judged.";

pub(super) fn figure_9(lab: &Lab) -> Result<Page> {
    let mut table = Table::at("k", &KS);
    let ratio_names = NAMES.map(|name| format!("{name}, ratio"));
    let mut slowest = Vec::new();
    for ((source, name), ratio) in REAL.into_iter().zip(NAMES).zip(&ratio_names) {
        let dataset = lab.load(source)?;
        let seconds = least_seconds(&KS.map(|k| (&dataset, k as u32)))?;
        slowest.push(most(&seconds) / least(&seconds));
        let ratios = ratios(&seconds);
        table = table.column(format!("{name}, seconds"), seconds).column(ratio, ratios);
    }
    let claims = vec![
        claim("CPU time is not significantly affected by k", "-")
            .judged(
                "for all data, the slowest k takes at most 1.5 times as long as the fastest",
                each(&slowest),
                slowest.iter().all(|&slowest| slowest <= 1.5),
            )
            .because("larger k is faster, never much slower: the least k takes the longest"),
    ];
    Ok(Page {
        title: "CPU time as k grows",
        data: format!("POS-275k, WV1 and WV2 at m = 2. {HOW}"),
        svg: table.lines(
            "Figure 9: time by k, m = 2",
            "time, k = 2 is 1",
            &ratio_names.each_ref().map(|name| &name[..]),
        ),
        table,
        claims,
    })
}

pub(super) fn figure_10(lab: &Lab) -> Result<Page> {
    let sizes = sizes(lab.scale);
    let load = |source| lab.load(source);
    let by_size = times(&sizes.into_iter().map(|records| load(of_size(records))).collect::<Result<Vec<_>>>()?)?;
    let by_domain =
        times(&DOMAINS.into_iter().map(|items| load(of_domain(lab.scale, items))).collect::<Result<Vec<_>>>()?)?;
    // Both sizes grow to five times the first: one axis serves both.
    let factors = sizes.map(|records| records / sizes[0]);
    let table = Table::at("times the first size", &factors)
        .column("records", sizes.into())
        .column("seconds by records", by_size.clone())
        .column("time by records", ratios(&by_size))
        .column("terms", DOMAINS.into())
        .column("seconds by terms", by_domain.clone())
        .column("time by terms", ratios(&by_domain))
        .column("linear", factors.into());
    let judge = |said, name: &str| {
        let ratios = table.get(name);
        let (slope, explained) = line(&factors, ratios);
        let last = ratios.last().copied().unwrap_or(f64::NAN);
        claim(said, "-").judged(
            "a line with a positive slope explains 0.9 of the variance; five times the size takes at most six times as long",
            format!("{explained:.3}, {last:.2} times as long"),
            slope > 0.0 && explained >= 0.9 && last <= 6.0,
        )
    };
    let claims = vec![
        judge("CPU time is linear in the number of records", "time by records"),
        judge("CPU time is linear in the size of the domain", "time by terms")
            .because("a larger domain takes less time here, not more (cause not examined)"),
    ];
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
        claims,
    })
}

fn times(datasets: &[Dataset]) -> Result<Vec<f64>> {
    least_seconds(&datasets.iter().map(|dataset| (dataset, K)).collect::<Vec<_>>())
}

fn least_seconds(tasks: &[(&Dataset, u32)]) -> Result<Vec<f64>> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let pool = pool.map_err(|e| Error::recipe("threads", e.to_string(), "is the machine out of threads?"))?;
    let mut seconds = vec![f64::INFINITY; tasks.len()];
    for _ in 0..ROUNDS {
        for (&(dataset, k), seconds) in tasks.iter().zip(&mut seconds) {
            let start = Instant::now();
            pool.install(|| disassociate(dataset, &Params::paper(k, M)))?;
            *seconds = seconds.min(start.elapsed().as_secs_f64());
        }
    }
    Ok(seconds)
}

fn ratios(seconds: &[f64]) -> Vec<f64> {
    seconds.iter().map(|second| second / seconds[0]).collect()
}
