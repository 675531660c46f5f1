//! Figure 16: the time for a table.

use std::time::Instant;

use disjoin::Result;
use disjoin::attack::semantic::{Table as Distances, Trace, group, redistribution, threshold, weighted};
use disjoin::generate::stream;

use super::data::Sources;
use crate::estimate::{Estimate, line};
use crate::judge::Limit::{AtMost, MoreThan, Within};
use crate::judge::{Claim, check, claim};
use crate::page::{Page, Table};

type Attack = (&'static str, fn(&Distances) -> Trace);

const ATTACKS: [Attack; 4] = [("TBA", threshold), ("WBA", weighted), ("GBA", group), ("RBA", redistribution)];
const SIZES: [f64; 4] = [25.0, 50.0, 100.0, 200.0];

/// So often, each time for at least so many seconds.
const TIMES: usize = 5;
const LEAST_SECONDS: f64 = 0.05;

/// The time that this thread was at work, in seconds; that of the clock where the system does not tell.
fn at_work(start: Instant) -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or(start.elapsed().as_secs_f64(), |n| n / 1e9)
}

/// Milliseconds of each size, in each of several rounds.
type Rounds = Vec<[f64; SIZES.len()]>;

pub(crate) fn time(_: &Sources) -> Result<Page> {
    let mut table = Table::at("rows and columns", &SIZES);
    let mut all: Vec<Rounds> = Vec::new();
    for (name, attack) in ATTACKS {
        let (rounds, steps, sorted) = timed(attack);
        let mean = |at: usize| Estimate::mean(&rounds.iter().map(|round| round[at]).collect::<Vec<_>>());
        table = table
            .timed(format!("{name} ms"), (0..SIZES.len()).map(mean).collect())
            .column(format!("{name} eliminations"), steps);
        if sorted.iter().all(|&each| each > 0.0) {
            table = table.column(format!("{name} sorted for each"), sorted);
        }
        all.push(rounds);
    }
    let svg = table.lines("time for a table", "ms", &["TBA ms", "WBA ms", "GBA ms", "RBA ms"]);
    let data = "Square tables of uniform random distances; processor time of one thread, means of five rounds. \
                \"Sorted for each\": how many rows and columns were weighed and sorted anew for an elimination; the paper's loops sort all, ours \
                update what changed.";
    let claims = claims(&all);
    Ok(Page { title: "the time for a table", data: data.into(), table, svg, claims })
}

/// The times of an attack, how much it eliminates, and how many rows and columns it sorts for each elimination.
fn timed(attack: fn(&Distances) -> Trace) -> (Rounds, Vec<f64>, Vec<f64>) {
    use rand::RngExt;
    let (mut rounds, mut steps, mut sorted) = (vec![[0.0; SIZES.len()]; TIMES], Vec::new(), Vec::new());
    for (at, size) in SIZES.into_iter().enumerate() {
        let n = size as usize;
        let mut rng = stream(3, "lab/shao2017/time", n as u64);
        let table = Distances::new(n, (0..n * n).map(|_| rng.random_range(0.0..3.0)).collect());
        let (mut gone, mut weighed) = (0, 0);
        for round in &mut rounds {
            let clock = Instant::now();
            let (before, mut runs, mut spent) = (at_work(clock), 0, 0.0);
            // The system tells the time in steps of some milliseconds.
            while runs < 2 || spent < LEAST_SECONDS {
                let trace = attack(&table);
                (gone, weighed) = (trace.steps.len(), trace.sorted);
                runs += 1;
                spent = at_work(clock) - before;
            }
            round[at] = 1e3 * spent / f64::from(runs);
        }
        steps.push(gone as f64);
        sorted.push(weighed as f64 / gone as f64);
    }
    (rounds, steps, sorted)
}

/// The times of all attacks.
fn claims(all: &[Rounds]) -> Vec<Claim> {
    // From 50 x 50 on; a table of n rows and columns has n^2 cells.
    let cells: Vec<f64> = SIZES[1..].iter().map(|size| 2.0 * size.ln()).collect();
    let exponent = |rounds: &Rounds| {
        let of_round =
            |round: &[f64; SIZES.len()]| line(&cells, &round[1..].iter().map(|ms| ms.ln()).collect::<Vec<_>>()).0;
        Estimate::mean(&rounds.iter().map(of_round).collect::<Vec<_>>())
    };
    let slower = |who: usize, size: usize| {
        let ratios: Vec<f64> = all[who].iter().zip(&all[1]).map(|(other, wba)| other[size] / wba[size]).collect();
        Estimate::mean(&ratios)
    };
    let growth = |rounds: &Rounds| Estimate::mean(&rounds.iter().map(|round| round[3] / round[1]).collect::<Vec<_>>());
    vec![
        claim("TBA costs O(cells), WBA, GBA and RBA O(cells^2)", "1, 2, 2, 2").timed().cases(0..ATTACKS.len(), |at| {
            let power = if at == 0 { 1.0 } else { 2.0 };
            let limit = Within(power - 0.2, power + 0.2);
            (ATTACKS[at].0.into(), vec![check("power of the cells by which time grows", exponent(&all[at]), limit)])
        }),
        claim("WBA is faster than GBA and RBA", "-").timed().cases(0..SIZES.len(), |size| {
            let checks = vec![
                check("time of GBA over that of WBA", slower(2, size), MoreThan(1.0)),
                check("time of RBA over that of WBA", slower(3, size), MoreThan(1.0)),
            ];
            (format!("{0} x {0}", SIZES[size]), checks)
        }),
        claim("(ours) a 200 x 200 table takes at most 50 times as long as a 50 x 50 one", "-").timed().cases(
            2..4,
            |at: usize| {
                (ATTACKS[at].0.into(), vec![check("time of 200 x 200 over 50 x 50", growth(&all[at]), AtMost(50.0))])
            },
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::Verdict;

    #[test]
    fn false_data_make_claims_differ() {
        // Times that grow by a power of the cells.
        let of = |power: f64, factor: f64| vec![SIZES.map(|size| factor * (size * size).powf(power)); TIMES];
        let verdicts = |all: &[Rounds]| claims(all).iter().map(Claim::verdict).collect::<Vec<_>>();
        let as_said = [of(1.0, 1.0), of(2.0, 1.0), of(2.0, 3.0), of(2.0, 2.0)];
        assert_eq!(verdicts(&as_said), [Verdict::Reproduced, Verdict::Reproduced, Verdict::Differs]);
        // All grow by less than the paper says, and WBA is the slowest.
        let below = [of(0.5, 1.0), of(1.4, 9.0), of(1.4, 3.0), of(1.4, 2.0)];
        assert_eq!(verdicts(&below), [Verdict::Differs, Verdict::Differs, Verdict::Reproduced]);
    }
}
