//! How noise is added.

use std::path::PathBuf;

use disjoin::recipe::noise::{Decimal, Written};
use disjoin::release::noisy::Amount;
use disjoin::{Error, Result};

/// What is asked of methods that add noise.
#[derive(clap::Args)]
#[command(next_help_heading = "Noise")]
pub(crate) struct Noise {
    /// The privacy budget: the presence of one record changes the probability of any release by a factor of at most exp(E)
    #[arg(long, value_name = "E", allow_hyphen_values = true, value_parser = amount)]
    epsilon: Option<Decimal>,
    /// privbasis: a probability that is left out of account, well below one in the number of records
    #[arg(long, value_name = "D", allow_hyphen_values = true, value_parser = amount)]
    delta: Option<Decimal>,
    /// privbasis: how many of the most frequent itemsets to publish
    #[arg(long, value_name = "K")]
    top: Option<u32>,
    /// All items that a record could hold, one a line, from elsewhere than the data; without it those of the data are assumed to be public
    #[arg(long, value_name = "FILE")]
    universe: Option<PathBuf>,
    /// privbasis: pure needs no --delta; approximate does, and finds far more [default: as --delta says]
    #[arg(long, value_name = "KIND", value_parser = ["pure", "approximate"])]
    accounting: Option<String>,
    /// diffpart: how many deviations of the noise a part must have to be split, and a set to be published
    #[arg(long, value_name = "C1,C2", value_parser = thresholds)]
    thresholds: Option<[Decimal; 2]>,
    /// Draw what protects (noise; the groups of anatomy) from --seed: for demonstrations and tests. The release promises
    /// nothing, as its claim declares
    #[arg(long, requires = "seed")]
    pub(crate) demonstration: bool,
}

fn amount(text: &str) -> std::result::Result<Decimal, String> {
    text.parse::<Amount>().map(Decimal)
}

fn thresholds(text: &str) -> std::result::Result<[Decimal; 2], String> {
    let parts = text
        .split_once(',')
        .and_then(|(keep, publish)| Some([Decimal(keep.trim().parse().ok()?), Decimal(publish.trim().parse().ok()?)]));
    parts.ok_or_else(|| String::from("expected two numbers, as 6.75,2.75"))
}

impl Noise {
    /// As a recipe writes it, if something was said; `fanout` and `seed` are flags of other methods as well.
    pub(crate) fn written(&self, is_noise: bool, fanout: Option<usize>, seed: Option<u64>) -> Result<Option<Written>> {
        match (self.accounting.as_deref(), self.delta) {
            (Some("pure"), Some(_)) => {
                let problem = "has no place in the pure accounting";
                return Err(Error::recipe("protect.noise.delta", problem, "leave out one of the two"));
            }
            (Some("approximate"), None) => {
                let hint = "for example --delta 1e-6, well below one in the number of records";
                return Err(Error::recipe("accounting", "approximate needs a --delta", hint));
            }
            _ => {}
        }
        let written = Written {
            epsilon: self.epsilon,
            delta: self.delta,
            top: self.top,
            universe: self.universe.clone(),
            fanout: fanout.filter(|_| is_noise).map(|fanout| u32::try_from(fanout).unwrap_or(u32::MAX)),
            thresholds: self.thresholds,
            demonstration: self.demonstration.then_some(true).filter(|_| is_noise),
            seed: seed.filter(|_| is_noise),
        };
        Ok((written != Written::default()).then_some(written))
    }
}
