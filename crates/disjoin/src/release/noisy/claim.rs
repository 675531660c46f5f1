//! What a noisy release promises, how its budget was spent, and what is taken to be public: its claim.json.
//!
//! Promises:   nothing in a claim depends on the data but what the mechanisms of the ledger drew
//! Checked by: tests in this file, and `tests/it/noise.rs`

use serde::{Deserialize, Serialize};

use super::Amount;
use crate::release::claim::{Body, Claim, Form};

/// The only relation between datasets that is promised here.
pub const NEIGHBOURS: &str = "add or remove one record";

/// The claim that travels with a noisy release.
pub type NoisyClaim = Claim<Noise>;

impl Body for Noise {
    const FORM: Form = Form::Noisy;

    fn promised(&self) -> String {
        promised(self.epsilon, self.delta, self.demonstration)
    }

    fn adversary(&self) -> String {
        adversary(self.universe, self.demonstration)
    }

    fn unchecked(&self, _: bool) -> Vec<(String, &'static str)> {
        vec![
            (
                "ledger".into(),
                "that noise was drawn as in the ledger cannot be seen in a release; that it adds up is checked",
            ),
            ("demonstration".into(), "whether noise came from a seed cannot be seen in a release"),
            ("parameters".into(), "what was asked of the method; the promise does not depend on it"),
            ("unspent".into(), "how much was not spent; that it adds up with the rest is checked"),
        ]
    }
}

/// What is claimed of a noisy release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Noise {
    /// What was asked of the method.
    pub parameters: NoiseParameters,
    /// No event is more likely by more than a factor of exp(epsilon), but for `delta`.
    pub epsilon: Amount,
    /// The probability that is left out of account; 0 if none is.
    pub delta: Amount,
    /// Which datasets must be hard to tell apart: `add or remove one record`.
    pub neighbours: String,
    /// Which items there are, by what everybody knows.
    pub universe: Universe,
    /// How the entries of the ledger add up.
    pub accounting: Accounting,
    /// What was spent on what.
    pub ledger: Vec<Entry>,
    /// What of the budget was not spent, in the measure of the ledger.
    pub unspent: Amount,
    /// Whether noise can be reproduced from a seed, which protects nobody.
    pub demonstration: bool,
}

/// What was asked of a method that adds noise. All of it is public.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoiseParameters {
    /// PrivBasis: how many itemsets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top: Option<u32>,
    /// PrivBasis: what was drawn to be the number of items that matter; it decides how the rest is accounted for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<u32>,
    /// DiffPart: children a node of the taxonomy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fan_out: Option<u32>,
    /// DiffPart: how many deviations of the noise a part must have to be split further (C1), in millionths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep_millionths: Option<u64>,
    /// DiffPart: how many deviations of the noise a set must have to be published (C2), in millionths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub publish_millionths: Option<u64>,
}

/// Where the items come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Universe {
    /// From a list that stands beside the release: it does not depend on the data.
    Listed,
    /// From the data. That an item occurs at all is then assumed to be known to everybody, and not protected.
    AssumedPublic,
}

/// How what single steps cost makes the whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "measure", rename_all = "kebab-case")]
pub enum Accounting {
    /// Costs are epsilons.
    Pure,
    /// Costs are rhos of zero-concentrated differential privacy; `rho` in all gives epsilon and delta.
    Concentrated {
        /// What all entries may cost together.
        rho: Amount,
    },
}

/// What one step of a method cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// What it was for.
    pub step: String,
    /// How it was done.
    #[serde(flatten)]
    pub mechanism: Mechanism,
    /// What it cost, in the measure of the ledger.
    pub cost: Amount,
}

/// How noise came in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "mechanism", rename_all = "kebab-case")]
pub enum Mechanism {
    /// Draws with the exponential mechanism, one after the other. For neighbours, the logarithms of the weights of all candidates
    /// change by amounts that differ by at most `range`.
    Exponential {
        /// How many draws.
        draws: u32,
        /// The range of each.
        range: Amount,
    },
    /// z is added to each count with a probability in proportion to exp(-rate |z|).
    DiscreteLaplace {
        /// The rate.
        rate: Amount,
        /// By how much neighbours differ in all counts together.
        sensitivity: u32,
    },
    /// z is added to each count with a probability in proportion to exp(-z^2 / (2 variance)).
    DiscreteGaussian {
        /// The variance, before it is made discrete.
        variance: u64,
        /// By how much neighbours differ: the sum of the squares of the differences of all counts.
        sensitivity_squared: u32,
    },
    /// Noise of the kind of [`Mechanism::DiscreteLaplace`] for the counts of parts of the data that are split again and again. Parts of
    /// the same split share no record; the rates from the whole to any last part add up to at most `path`.
    Partitioning {
        /// What is spent on any path.
        path: Amount,
    },
}

/// What a claim is made of; the rest follows.
#[derive(Debug, Clone)]
pub struct Spent {
    /// The epsilon of the whole.
    pub epsilon: Amount,
    /// The delta of the whole.
    pub delta: Amount,
    /// How entries add up.
    pub accounting: Accounting,
    /// What was spent on what.
    pub ledger: Vec<Entry>,
    /// What was not.
    pub unspent: Amount,
    /// Whether the noise came from a seed.
    pub demonstration: bool,
}

impl NoisyClaim {
    /// The claim of a release.
    pub fn new(method: &str, parameters: NoiseParameters, universe: Universe, spent: Spent) -> Self {
        let Spent { epsilon, delta, accounting, ledger, unspent, demonstration } = spent;
        let neighbours = NEIGHBOURS.into();
        let body =
            Noise { parameters, epsilon, delta, neighbours, universe, accounting, ledger, unspent, demonstration };
        Claim::of(method, body)
    }
}

/// The promise in plain words.
fn promised(epsilon: Amount, delta: Amount, demonstration: bool) -> String {
    if demonstration {
        return "Nothing. This is a demonstration: its noise comes from a seed, and everybody who has the seed can remove it."
            .into();
    }
    let but = match delta.units() {
        0 => String::new(),
        _ => format!(", up to a probability of {delta}"),
    };
    format!(
        "Differential privacy with epsilon = {epsilon} and delta = {delta}: whether one record is in the data or not changes the \
         probability of any release by a factor of at most exp({epsilon}){but}."
    )
}

/// Against whom, in plain words.
fn adversary(universe: Universe, demonstration: bool) -> String {
    if demonstration {
        return "nobody".into();
    }
    let universe = match universe {
        Universe::Listed => "Which items there are is listed beside the release and does not depend on the data.",
        Universe::AssumedPublic => {
            "Which items there are was taken from the data: it is assumed that everybody knows them. An item that only one record \
             has is not protected against this."
        }
    };
    format!(
        "Anybody, whatever they know beforehand, even all other records. {universe} A person with several records is protected less: \
         epsilon counts for each of them. Nothing is promised against an adversary who measures how long the program runs."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_are_read_back() {
        let amount = |text: &str| text.parse::<Amount>().unwrap();
        let spent = Spent {
            epsilon: amount("0.5"),
            delta: amount("1e-6"),
            accounting: Accounting::Concentrated { rho: amount("0.0066") },
            ledger: vec![
                Entry {
                    step: "items".into(),
                    mechanism: Mechanism::Exponential { draws: 7, range: amount("0.01") },
                    cost: amount("0.0000875"),
                },
                Entry {
                    step: "counts".into(),
                    mechanism: Mechanism::DiscreteGaussian { variance: 100, sensitivity_squared: 1 },
                    cost: amount("0.005"),
                },
            ],
            unspent: amount("0.0015125"),
            demonstration: false,
        };
        let parameters = NoiseParameters { top: Some(100), ..NoiseParameters::default() };
        let claim = NoisyClaim::new("privbasis", parameters, Universe::AssumedPublic, spent);
        assert!(claim.promised.contains("0.5") && claim.adversary.contains("assumed"));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("claim.json");
        std::fs::write(&path, claim.to_json().unwrap()).unwrap();
        assert_eq!(NoisyClaim::read(&path).unwrap(), claim);
        std::fs::write(&path, claim.to_json().unwrap().replace("\"0.5\"", "0.5")).unwrap();
        assert!(NoisyClaim::read(&path).is_err());
        assert!(promised(amount("1"), amount("0"), true).contains("Nothing"));
    }
}
