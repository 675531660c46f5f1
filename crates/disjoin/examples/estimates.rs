//! Closed forms against reconstructions: `estimates FILE`.
//!
//! Protects FILE (k = 5, m = 2), then times, best of five: laying the release out, drawing one reconstruction, and the
//! expected supports of the 950 pairs that `disjoin measure` looks at; and prints the errors of both, from ten seeds.

use std::path::Path;
use std::time::Instant;

use disjoin::data::{Dataset, TermId, supports};
use disjoin::measure::{Options, RelativeError, measure};
use disjoin::protect::disassociation::{Params, disassociate};
use disjoin::reconstruct::{Model, Sampling, pair_expectations, reconstruct};
use disjoin::release::open::InMemory;

const SEEDS: u64 = 10;

fn main() -> disjoin::Result<()> {
    let file = std::env::args().nth(1).unwrap_or_else(|| String::from("-"));
    let (data, _) = disjoin::read::read(Path::new(&file), &disjoin::read::Options::default())?;
    let release = disassociate(&data, &Params::paper(5, 2))?.release;

    let model = Model::new(&release)?;
    let terms = window_terms(&data, &release.dictionary);
    let sampling = Sampling { seed: 1, fill_empty: true };
    println!("lay out       {:8.1} ms", best_of_five(|| Model::new(&release).map(|_| ()).unwrap_or_default()));
    println!("reconstruct   {:8.1} ms", best_of_five(|| drop(reconstruct(&model, &sampling, 0))));
    println!(
        "expectations  {:8.1} ms, {} terms",
        best_of_five(|| drop(pair_expectations(&model, &terms))),
        terms.len()
    );

    println!(
        "\nterms      re-r10 (mean, least of {SEEDS} seeds)   re-e     re-u   | existing pairs: re-r10     re-e     re-u"
    );
    let reports: Vec<_> = (1..=SEEDS)
        .map(|seed| {
            measure(&mut InMemory::new(&release), &data, &Options { seed, queries: 0, top: 1, ..Options::default() })
        })
        .collect::<disjoin::Result<_>>()?;
    for (i, window) in reports[0].relative_error.iter().enumerate() {
        let averaged: Vec<&RelativeError> =
            reports.iter().filter_map(|report| report.relative_error[i].re_r.last()).map(|r| &r.error).collect();
        let mean = |of: &dyn Fn(&RelativeError) -> Option<f64>| {
            averaged.iter().filter_map(|error| of(error)).sum::<f64>() / averaged.len() as f64
        };
        let least = averaged.iter().filter_map(|error| error.mean).fold(f64::INFINITY, f64::min);
        let or_nan = |value: Option<f64>| value.unwrap_or(f64::NAN);
        println!(
            "{:<10} {:>8.4} {:>8.4} {:>23.4} {:>8.4}   | {:>22.4} {:>8.4} {:>8.4}",
            window.first,
            mean(&|error| error.mean),
            least,
            or_nan(window.re_e.mean),
            or_nan(window.re_u.mean),
            mean(&|error| error.existing),
            or_nan(window.re_e.existing),
            or_nan(window.re_u.existing),
        );
    }
    Ok(())
}

/// The terms of the windows, in the release's numbering.
fn window_terms(data: &Dataset, dictionary: &disjoin::data::Dictionary) -> Vec<TermId> {
    let supports = supports(&data.records, data.n_terms());
    let mut order: Vec<TermId> = (0..data.n_terms() as TermId).collect();
    order.sort_by_key(|&term| (std::cmp::Reverse(supports[term as usize]), term));
    let windows = [0, 100, 200, 300, 400].into_iter().flat_map(|first| order.iter().skip(first).take(20));
    windows.filter_map(|&term| dictionary.get(data.dictionary.text(term))).collect()
}

fn best_of_five(run: impl Fn()) -> f64 {
    let time = |_| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64() * 1000.0
    };
    (0..5).map(time).fold(f64::INFINITY, f64::min)
}
