//! How many of the K best itemsets does PrivBasis miss? `privbasis FILE K EPSILON DELTA RUNS`, DELTA 0 for the pure accounting.
//!
//! To the standard output: the mean of the share that is missed, its deviation between runs, and the mean of the relative error of the
//! supports of those found, with tabs between. Items that occur are taken to be public, as in the paper's experiments.

use std::error::Error;
use std::path::Path;

use disjoin::Unobserved;
use disjoin::measure::measure_noisy;
use disjoin::protect::noise::privbasis::{Params, privbasis};
use disjoin::protect::noise::{Known, Source};
use disjoin::read::{Options, read};
use disjoin::release::noisy::Amount;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, top, epsilon, delta, runs] = &arguments[..] else {
        return Err("usage: privbasis FILE K EPSILON DELTA RUNS".into());
    };
    let (data, _) = read(Path::new(file), &Options::default())?;
    let known = Known::occurring(&data);
    let (top, runs): (u32, u32) = (top.parse()?, runs.parse()?);
    let delta = Some(delta.parse::<Amount>()?).filter(|delta| delta.units() > 0);
    let params = Params::new(epsilon.parse()?, delta, top);
    let (mut sum, mut squares, mut errors) = (0.0, 0.0, 0.0);
    for _ in 0..runs {
        let made = privbasis(&known, &params, &mut Source::secure()?, &Unobserved)?;
        let report = measure_noisy(&made.release, &data, top as usize, &Unobserved);
        sum += report.missed;
        squares += report.missed * report.missed;
        errors += report.support_error.unwrap_or(0.0);
    }
    let n = f64::from(runs);
    let deviation = f64::sqrt((squares / n - (sum / n) * (sum / n)).max(0.0));
    println!("{:.3}\t{deviation:.3}\t{:.3}", sum / n, errors / n);
    Ok(())
}
