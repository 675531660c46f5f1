//! The evaluation of barakat2016, section 6: how many cover problems attackers of three strengths can use, and how long
//! it takes to count them.
//!
//! Knowledge is made anew for each release from the same seeds; where it is random, several draws are averaged. Two tables are
//! ours: what stronger attacks find, and what repairs cost.

mod breaches;
mod repairs;

use std::fs::File;
use std::path::Path;
use std::time::Instant;

use disjoin::Unobserved;
use disjoin::attack::cover::{Counters, count};
use disjoin::attack::judge::judge;
use disjoin::attack::{Attack, Attacker, Cover, Findings, Knowledge, Truth, View, baseline, knowledge};
use disjoin::data::{Dataset, Transactions};
use disjoin::generate::quest;
use disjoin::protect::disassociation::for_the_lab::ForTheLab;
use disjoin::protect::disassociation::{Outcome, Params, disassociate};
use disjoin::release::CutRule;
use disjoin::{Error, Result, read};

use crate::estimate::{Estimate, least, line, most};
use crate::judge::Limit::{AtLeast, AtMost, LessThan, MoreThan};
use crate::judge::{Claim, check, claim};
use crate::page::{Page, Table};
use crate::papers::{Given, Named, Paper, Put};

pub(crate) const PAPER: Paper = Paper { key: "barakat2016", introduction: INTRODUCTION, figures, draw, small };

type Figure = fn(&Given) -> Result<Page>;

const FIGURES: [(&str, Figure, &[&str]); 4] = [
    ("4", figure_4, &FILES),
    ("5", figure_5, &[FILES[0]]),
    ("breaches", breaches::page, &FILES),
    ("repairs", repairs::page, &repairs::FILES),
];

const FILES: [&str; 2] = ["bms-webview-1.dat", "bms-webview-2.dat"];

const K: u32 = 3;
const M: u32 = 2;

/// The ticks of the paper's axis cannot be read.
const SIZES: [f64; 12] = [6.0, 8.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0, 50.0, 60.0, 80.0, 100.0];

const DATA: [(&str, &str); 2] = [("WV1", FILES[0]), ("WV2", FILES[1])];

/// The share of people that the moderate attacker knows a pair of; the paper does not tell.
const SHARE: f64 = 0.1;

const ATTACKERS: [(&str, Attacker); 3] =
    [("strong", Attacker::Strong), ("moderate", Attacker::Moderate { share: SHARE }), ("weak", Attacker::Weak)];

/// Draws of what a moderate or weak attacker knows.
const DRAWS: u64 = 10;

/// Timings of which the least counts, so often.
const ROUNDS: usize = 10;
const TIMES: usize = 5;

const INTRODUCTION: &str = "\
# barakat2016: the evaluation, drawn again

Barakat, Al Bouna, Nassar, Guyeux: On the Evaluation of the Privacy Breach in Disassociated Set-valued Datasets, SECRYPT 2016,
section 6. Made by `cargo run --release -p disjoin-lab -- barakat2016 all --data DIR`; each page tells its own command.

The paper prints no numbers, and its plots are missing in our copy. So claims are taken from its text, and each is
decided by a criterion that is evaluated on our numbers, with limits that we chose. WV1 and WV2 are whole; the AOL queries are
not at hand. k = 3 and m = 2, as in the paper. Its clusters have no shared chunks, so ours have none here: disassociation without
REFINE and without our corrections. The moderate attacker knows a random pair of a tenth of the people; the paper does not tell
its share.

*Breaches* are those of Algorithm 1 in the reading of its prose: for each cluster the most earlier chunks of a term with a cover
problem that the attacker knows, summed. The paper calls them vulnerable records, but they count chunks, not records. *People*
are records that hold a pair of terms which the attacker knows and rightly says to be in fewer than k records of its cluster.

The cluster sizes are ours, as the paper's axis cannot be read. At first they were 10 to 100 in steps of 10; smaller ones were
added to see the rise in figure 4. Moderate and weak attackers were judged together at first. Limits stayed as they were.

The tables [breaches](breaches.md) and [repairs](repairs.md) are not of the paper: what attacks find that are stronger than its
cover test, and what it costs to stop them, also by means that others proposed. Their claims are ours, and marked so.
";

fn figures() -> Vec<Named> {
    FIGURES.iter().map(|&(name, _, files)| (name, files)).collect()
}

fn draw(given: &Given, wanted: &[&str], put: Put<'_>) -> Result<()> {
    for (name, draw, _) in FIGURES.into_iter().filter(|figure| wanted.contains(&figure.0)) {
        eprintln!("figure {name}");
        put(name, draw(given)?)?;
    }
    Ok(())
}

fn small(folder: &Path) -> Result<Given> {
    for (seed, file) in (0..).zip(repairs::FILES) {
        let params = quest::Params { records: 1_000, items: 200, patterns: 100, seed, ..quest::Params::program() };
        let path = folder.join(file);
        let mut out = File::create(&path).map_err(|e| Error::io(&path, "write", e))?;
        read::write(&quest::quest(&params)?, read::Format::Basket, &path, &mut out)?;
    }
    Ok(Given::small(folder))
}

fn figure_4(given: &Given) -> Result<Page> {
    let mut table = Table::at("max cluster", &SIZES);
    let mut strong_table = Table::at("max cluster", &SIZES);
    let mut series: Vec<String> = Vec::new();
    for (name, file) in DATA {
        let dataset = load(given, file)?;
        let points = SIZES.iter().map(|&size| Point::measure(&dataset, size as u32)).collect::<Result<Vec<Point>>>()?;
        for (i, (attacker, _)) in ATTACKERS.iter().enumerate() {
            series.push(format!("{name} {attacker}, breaches"));
            let of = |value: fn(&Counts) -> Estimate| points.iter().map(|point| value(&point.counts[i])).collect();
            table = table
                .measured(format!("{name} {attacker}, breaches"), of(|counts| counts.breaches))
                .measured(format!("{name} {attacker}, people"), of(|counts| counts.people));
        }
        let of = |value: fn(&Point) -> f64| points.iter().map(value).collect();
        strong_table = strong_table
            .column(format!("{name}, as printed"), of(|point| point.as_printed))
            .column(format!("{name}, pairs"), of(|point| point.pairs))
            .column(format!("{name}, nobody"), of(|point| point.nobody))
            .column(format!("{name}, k or more"), of(|point| point.too_many))
            .column(format!("{name}, the same by text"), of(|point| point.too_many_by_text))
            .column(format!("{name}, right"), of(|point| point.right))
            .column(format!("{name}, blind"), of(|point| point.blind));
    }
    let claims = claims_4(&table, &strong_table);
    let names: Vec<&str> = series.iter().map(String::as_str).collect();
    Ok(Page {
        title: "breaches by the cover problem, for three attackers",
        data: format!(
            "WV1 and WV2 at k = 3, m = 2, clusters below the size told. Means of {DRAWS} draws for the moderate and the \
             weak attacker.\n\nMore about the strong attacker: what Algorithm 1 counts as it is printed; the pairs \
             found; how many of them nobody of the cluster has, so that they say nothing; how many k records or more \
             have, so that they are wrong, and how many of these remain if the terms are numbered by their texts before \
             protection, so that ties between terms are broken as the attacker takes them to be; the share of pairs that \
             1 to k - 1 records have; and this share of as many random pairs across chunks.\n\n{}",
            strong_table.markdown().trim_end()
        ),
        svg: table.lines("Figure 4: breaches, k = 3, m = 2", "breaches, summed over clusters", &names),
        table,
        claims,
    })
}

fn claims_4(table: &Table, strong_table: &Table) -> Vec<Claim> {
    let of = |data: &str, attacker: &str, what: &str| table.of(&format!("{data} {attacker}, {what}"));
    let linear = |said: &'static str, series: [Vec<f64>; 2]| {
        claim(said, "-").cases(DATA.into_iter().zip(series), |((name, _), values)| {
            let slope = Estimate::slope(table.places(), &values);
            let explained = Estimate::exact(line(table.places(), &values).1);
            let checks = vec![
                check("rise for each record of a cluster", slope, MoreThan(0.0)),
                check("share of the variance that a line explains", explained, AtLeast(0.9)),
            ];
            (name.into(), checks)
        })
    };
    let strong = |what: &str| DATA.map(|(name, _)| table.get(&format!("{name} strong, {what}")));
    let printed = DATA.map(|(name, _)| strong_table.get(&format!("{name}, as printed")));
    let places: Vec<(&str, usize)> =
        DATA.iter().flat_map(|(name, _)| (0..SIZES.len()).map(move |at| (*name, at))).collect();
    let share = |attacker: &str, (name, at): (&str, usize)| {
        let [weaker, strong] = [attacker, "strong"].map(|who| of(name, who, "breaches").get(at).copied());
        weaker.zip(strong).map_or_else(Estimate::missing, |(weaker, strong)| weaker.over(strong))
    };
    let place = |(name, at): (&str, usize)| format!("{name}, clusters below {}", SIZES[at]);
    let low = |said: &'static str, attacker: &'static str| {
        let what = format!("breaches of a {attacker} attacker over those of a strong one");
        claim(said, "-")
            .cases(places.clone(), |at| (place(at), vec![check(&what[..], share(attacker, at), AtMost(0.1))]))
    };
    vec![
        claim("the breach is most explicit for strong attackers", "-").cases(places.clone(), |at| {
            let checks = vec![
                check(
                    "breaches of a moderate attacker over those of a strong one",
                    share("moderate", at),
                    LessThan(1.0),
                ),
                check("breaches of a weak attacker over those of a strong one", share("weak", at), LessThan(1.0)),
            ];
            (place(at), checks)
        }),
        linear("for strong attackers the breach increases linearly with the cluster size", strong("breaches")),
        linear("the same, with Algorithm 1 as it is printed", printed),
        linear("(ours) the number of people increases linearly as well", strong("people")),
        low("moderate attackers find few violations", "moderate"),
        low("weak attackers find few violations", "weak"),
        claim("a covered pair is never in k records or more (Lemma 1)", "never").cases(DATA, |(name, _)| {
            let wrong: f64 = strong_table.get(&format!("{name}, k or more")).iter().sum();
            let what = "pairs that were found and are in k records or more of their cluster";
            (name.into(), vec![check(what, Estimate::exact(wrong), AtMost(0.0))])
        }),
    ]
}

/// What came of one release.
struct Point {
    counts: Vec<Counts>,
    as_printed: f64,
    pairs: f64,
    nobody: f64,
    too_many: f64,
    too_many_by_text: f64,
    right: f64,
    blind: f64,
}

/// What came of it for one attacker.
struct Counts {
    breaches: Estimate,
    people: Estimate,
}

impl Point {
    fn measure(data: &Dataset, max_cluster: u32) -> Result<Self> {
        let Outcome { release, leaf_of, .. } = protect(data, max_cluster)?;
        let truth = Truth::new(data, Some(&leaf_of), &release)?;
        let counts = |(_, attacker): &(&str, Attacker)| {
            let draws = if *attacker == Attacker::Strong { 1 } else { DRAWS };
            let (mut breaches, mut people) = (Vec::new(), Vec::new());
            for seed in 0..draws {
                let knowledge = knowledge(*attacker, &truth, M as usize, seed);
                let view =
                    View { release: &release, cut: CutRule::Greedy, knowledge: &knowledge, observer: &Unobserved };
                breaches.push(count(&view).per_item as f64);
                people.push(judge(&Cover.run(&view), &truth, K).people as f64);
            }
            let of = |values: &[f64]| if draws == 1 { Estimate::exact(values[0]) } else { Estimate::mean(values) };
            Counts { breaches: of(&breaches), people: of(&people) }
        };
        let view =
            View { release: &release, cut: CutRule::Greedy, knowledge: &Knowledge::Anything, observer: &Unobserved };
        let findings = Cover.run(&view);
        let held = Held::count(&findings, &truth);
        let found = findings.found.len() as u64;
        Ok(Point {
            counts: ATTACKERS.iter().map(counts).collect(),
            as_printed: count(&view).literal as f64,
            pairs: found as f64,
            nobody: (found - held.by_somebody) as f64,
            too_many: held.by_k_or_more() as f64,
            too_many_by_text: too_many(&by_text(data), max_cluster)? as f64,
            right: held.by_fewer_than_k as f64 / found as f64,
            blind: baseline(&findings, &truth, K, 0).share,
        })
    }
}

/// How many findings are about somebody.
struct Held {
    by_somebody: u64,
    by_fewer_than_k: u64,
}

impl Held {
    fn count(findings: &Findings, truth: &Truth<'_>) -> Self {
        // With a k beyond all clusters, right is whatever somebody has.
        let right = |k| judge(findings, truth, k).right;
        Held { by_somebody: right(u32::MAX), by_fewer_than_k: right(K) }
    }

    fn by_k_or_more(&self) -> u64 {
        self.by_somebody - self.by_fewer_than_k
    }
}

/// How many pairs that the strong attacker finds are in k records or more of their cluster.
fn too_many(data: &Dataset, max_cluster: u32) -> Result<u64> {
    let Outcome { release, leaf_of, .. } = protect(data, max_cluster)?;
    let findings = Cover.run(&View {
        release: &release,
        cut: CutRule::Greedy,
        knowledge: &Knowledge::Anything,
        observer: &Unobserved,
    });
    Ok(Held::count(&findings, &Truth::new(data, Some(&leaf_of), &release)?).by_k_or_more())
}

/// The same data with terms numbered in the order of their texts.
fn by_text(data: &Dataset) -> Dataset {
    let (dictionary, rank) = data.dictionary.sorted();
    let mut records = Transactions::default();
    records.append_renamed(&data.records, &rank);
    Dataset { dictionary, records }
}

fn figure_5(given: &Given) -> Result<Page> {
    let dataset = load(given, DATA[0].1)?;
    // For each attacker, for each size, the least times.
    let mut least_times = vec![Vec::new(); ATTACKERS.len()];
    for size in SIZES {
        let Outcome { release, leaf_of, .. } = protect(&dataset, size as u32)?;
        let truth = Truth::new(&dataset, Some(&leaf_of), &release)?;
        let known = ATTACKERS.map(|(_, attacker)| knowledge(attacker, &truth, M as usize, 0));
        let mut least = [[f64::INFINITY; TIMES]; ATTACKERS.len()];
        for round in 0..TIMES * ROUNDS {
            for (knowledge, least) in known.iter().zip(&mut least) {
                let start = Instant::now();
                let counters: Counters =
                    count(&View { release: &release, cut: CutRule::Greedy, knowledge, observer: &Unobserved });
                std::hint::black_box(counters);
                let time = &mut least[round / ROUNDS];
                *time = time.min(start.elapsed().as_secs_f64() * 1_000.0);
            }
        }
        least.iter().zip(&mut least_times).for_each(|(least, all)| all.push(*least));
    }
    let mut table = Table::at("max cluster", &SIZES);
    for ((name, _), times) in ATTACKERS.iter().zip(&least_times) {
        table = table.timed(*name, times.iter().map(|times| Estimate::mean(times)).collect());
    }
    Ok(Page {
        title: "time of counting breaches",
        data: format!(
            "WV1 at k = 3, m = 2, clusters below the size told. Milliseconds of `count` alone on one thread, the least of \
             {ROUNDS} rounds, as a mean of {TIMES} such times; what the attacker knows is made before. Machines differ and are \
             never idle: only ratios are judged."
        ),
        svg: table.lines("Figure 5: time on WV1, k = 3, m = 2", "milliseconds", &ATTACKERS.map(|(name, _)| name)),
        claims: claims_5(&least_times),
        table,
    })
}

/// For each attacker, for each size, the times.
fn claims_5(times: &[Vec<[f64; TIMES]>]) -> Vec<Claim> {
    let apart = |of: &[[f64; TIMES]]| {
        let ratio = |time: usize| {
            let sizes: Vec<f64> = of.iter().map(|times| times[time]).collect();
            most(&sizes) / least(&sizes)
        };
        Estimate::mean(&(0..TIMES).map(ratio).collect::<Vec<_>>())
    };
    let slower = |who: usize, size: usize| {
        let ratios: Vec<f64> =
            times[who][size].iter().zip(&times[0][size]).map(|(other, strong)| other / strong).collect();
        Estimate::mean(&ratios)
    };
    vec![
        claim("the time is generally stable as the cluster size grows", "-").timed().cases(0..ATTACKERS.len(), |who| {
            let what = "time of the slowest size over the fastest";
            (ATTACKERS[who].0.into(), vec![check(what, apart(&times[who]), AtMost(2.0))])
        }),
        claim("strong attackers are the fastest: nothing needs to be looked up", "-").timed().cases(
            0..SIZES.len(),
            |size| {
                let checks = vec![
                    check("time of a moderate attacker over that of a strong one", slower(1, size), MoreThan(1.0)),
                    check("time of a weak attacker over that of a strong one", slower(2, size), MoreThan(1.0)),
                ];
                (format!("clusters below {}", SIZES[size]), checks)
            },
        ),
    ]
}

fn load(given: &Given, file: &str) -> Result<Dataset> {
    Ok(read::read(&given.file(file), &read::Options::default())?.0)
}

/// Disassociation as the paper has it: no shared chunks, no corrections.
fn protect(data: &Dataset, max_cluster: u32) -> Result<Outcome> {
    disassociate(data, &Params { max_cluster, refine: false, lab: ForTheLab::paper_literal(), ..Params::paper(K, M) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::Verdict;

    /// A table in which every attacker has so many breaches and people at each size.
    fn table(of: fn(&str, f64) -> f64) -> Table {
        let columns = DATA.iter().flat_map(|(name, _)| ATTACKERS.map(|(attacker, _)| (*name, attacker)));
        columns.fold(Table::at("max cluster", &SIZES), |table, (name, attacker)| {
            let values = || SIZES.map(|size| of(attacker, size)).to_vec();
            table
                .column(format!("{name} {attacker}, breaches"), values())
                .column(format!("{name} {attacker}, people"), values())
        })
    }

    #[test]
    fn false_data_make_claims_differ() {
        let strong = |printed: fn(f64) -> f64, wrong: f64| {
            DATA.iter().fold(Table::at("max cluster", &SIZES), |table, (name, _)| {
                table
                    .column(format!("{name}, as printed"), SIZES.map(printed).to_vec())
                    .column(format!("{name}, k or more"), vec![wrong; SIZES.len()])
            })
        };
        // Weak attackers find more than strong ones, fewer in larger clusters, and pairs that are common.
        let claims =
            claims_4(&table(|who, size| if who == "strong" { 100.0 / size } else { 200.0 }), &strong(|x| 1.0 / x, 2.0));
        assert!(claims.iter().all(|claim| claim.verdict() == Verdict::Differs));
        let claims =
            claims_4(&table(|who, size| if who == "strong" { size } else { 0.01 * size }), &strong(|x| x, 0.0));
        assert!(claims.iter().all(|claim| claim.verdict() == Verdict::Reproduced));
        // Larger clusters take longer, and strong attackers the longest.
        let times = |factor: f64| SIZES.map(|size| [size * factor; TIMES]).to_vec();
        assert!(
            claims_5(&[times(2.0), times(1.0), times(1.0)]).iter().all(|claim| claim.verdict() == Verdict::Differs)
        );
    }
}
