//! The part of a recipe that is about noise: `[protect.noise]`, for the methods that promise differential privacy.
//!
//! Promises:   amounts are what is written, and never rounded; a seed is refused where something is promised
//! Checked by: tests in this file, and `crates/disjoin-cli/tests/it/noise.rs`

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, de};

use crate::error::{Error, Result};
use crate::protect::noise::{diffpart, privbasis};
use crate::release::noisy::Amount;

/// How many itemsets PrivBasis looks for, if it is not given.
const TOP: u32 = 100;

/// Thresholds are whole millionths: so many units of an amount.
const MILLIONTH: u64 = Amount::UNITS / 1_000_000;

/// A method that adds noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// A bag of synthetic records.
    Diffpart,
    /// The most frequent itemsets.
    Privbasis,
}

impl Method {
    /// All methods with their names.
    pub const ALL: [(&'static str, Method); 2] = [("diffpart", Method::Diffpart), ("privbasis", Method::Privbasis)];

    /// Its name.
    pub fn name(self) -> &'static str {
        Method::ALL.iter().find(|(_, method)| *method == self).map_or("", |(name, _)| name)
    }
}

/// How noise is added, as written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Written {
    /// The privacy budget: the presence of one record changes the probability of any release by a factor of at most exp(epsilon).
    pub epsilon: Option<Decimal>,
    /// privbasis: a probability that is left out of account, well below one in the number of records; none if it is missing.
    pub delta: Option<Decimal>,
    /// privbasis: how many of the most frequent itemsets to publish; 100 if it is missing.
    pub top: Option<u32>,
    /// A file of all items that a record could hold, one a line, from elsewhere than the data; without it those of the data are assumed
    /// to be public.
    pub universe: Option<PathBuf>,
    /// diffpart: children a node of the taxonomy over the sorted items; 10 if it is missing.
    pub fanout: Option<u32>,
    /// diffpart: how many deviations of the noise a part must have to be split, and a set to be published; [6.75, 2.75] if it is missing.
    pub thresholds: Option<[Decimal; 2]>,
    /// Whether noise is drawn from the seed: for demonstrations and tests. The release promises nothing, as its claim declares.
    pub demonstration: Option<bool>,
    /// Where the noise of a demonstration starts; refused otherwise, for noise that can be drawn again can be removed.
    pub seed: Option<u64>,
}

/// How noise is added, with nothing left open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Noise {
    /// How it is done.
    pub method: Method,
    /// The epsilon of the whole.
    pub epsilon: Amount,
    /// PrivBasis: the delta of the whole; none for the pure accounting.
    pub delta: Option<Amount>,
    /// PrivBasis: how many itemsets.
    pub top: Option<u32>,
    /// The file of all items; none if those of the data are assumed to be public.
    pub universe: Option<PathBuf>,
    /// DiffPart: children a node of the taxonomy.
    pub fanout: Option<u32>,
    /// DiffPart: what a part must have to be split, and a set to be published.
    pub thresholds: Option<[Amount; 2]>,
    /// Where noise starts, in a demonstration; none if something is promised.
    pub seed: Option<u64>,
}

/// Fills in what is missing and refuses what has no meaning.
pub fn resolve(method: Method, written: &Written) -> Result<Noise> {
    let (name, is_diffpart) = (method.name(), method == Method::Diffpart);
    let foreign = [
        ("protect.noise.delta", written.delta.is_some() && is_diffpart),
        ("protect.noise.top", written.top.is_some() && is_diffpart),
        ("protect.noise.fanout", written.fanout.is_some() && !is_diffpart),
        ("protect.noise.thresholds", written.thresholds.is_some() && !is_diffpart),
    ];
    if let Some((key, _)) = foreign.into_iter().find(|(_, is_foreign)| *is_foreign) {
        let other = if is_diffpart { Method::Privbasis } else { Method::Diffpart }.name();
        let hint = format!("leave it out, or choose the method {other}");
        return Err(Error::recipe(key, format!("is not known by the method {name}"), hint));
    }
    let epsilon = match written.epsilon {
        Some(Decimal(epsilon)) if epsilon.units() > 0 => epsilon,
        given => {
            let problem =
                if given.is_some() { "must be above 0" } else { "is missing: how large is the privacy budget?" };
            return Err(Error::recipe("protect.noise.epsilon", problem, "for example 1; less protects more"));
        }
    };
    let delta = written.delta.map(|Decimal(delta)| delta);
    if delta.is_some_and(|delta| delta.units() == 0 || delta.units() >= Amount::UNITS) {
        let hint = "for example 1e-6; or leave it out, for the pure accounting";
        return Err(Error::recipe("protect.noise.delta", "must be above 0 and below 1", hint));
    }
    let thresholds = written.thresholds.map(|[Decimal(keep), Decimal(publish)]| [keep, publish]);
    if thresholds.is_some_and(|both| both.iter().any(|one| !one.units().is_multiple_of(MILLIONTH))) {
        let problem = "have more than six digits after the point";
        return Err(Error::recipe("protect.noise.thresholds", problem, "for example 6.75 and 2.75"));
    }
    let seed = match (written.demonstration.unwrap_or(false), written.seed) {
        (true, None) => {
            let hint = "give a seed, 1 or any other number";
            return Err(Error::recipe("protect.noise.demonstration", "needs a seed", hint));
        }
        (false, Some(_)) => {
            let problem = "would give noise that can be drawn again, and taken off: that protects nobody";
            let hint = "leave it out, or ask for a demonstration, which promises nothing";
            return Err(Error::recipe("protect.noise.seed", problem, hint));
        }
        (_, seed) => seed,
    };
    let usual = diffpart::Params::new(epsilon);
    let usual_thresholds =
        [usual.keep_millionths, usual.publish_millionths].map(|millionths| Amount::from_units(millionths * MILLIONTH));
    let noise = Noise {
        method,
        epsilon,
        delta,
        top: (!is_diffpart).then(|| written.top.unwrap_or(TOP)),
        universe: written.universe.clone(),
        fanout: is_diffpart.then(|| written.fanout.unwrap_or(usual.fan_out)),
        thresholds: is_diffpart.then(|| thresholds.unwrap_or(usual_thresholds)),
        seed,
    };
    if method == Method::Privbasis {
        noise.privbasis().check()?;
    }
    Ok(noise)
}

impl Noise {
    /// The parameters of DiffPart.
    pub fn diffpart(&self) -> diffpart::Params {
        let mut params = diffpart::Params::new(self.epsilon);
        params.fan_out = self.fanout.unwrap_or(params.fan_out);
        if let Some(thresholds) = self.thresholds {
            [params.keep_millionths, params.publish_millionths] = thresholds.map(|amount| amount.units() / MILLIONTH);
        }
        params
    }

    /// The parameters of PrivBasis.
    pub fn privbasis(&self) -> privbasis::Params {
        privbasis::Params::new(self.epsilon, self.delta, self.top.unwrap_or(TOP))
    }

    /// Relative paths start at a folder.
    pub(super) fn start_at(&mut self, folder: &Path) {
        self.universe = self.universe.take().map(|file| folder.join(file));
    }
}

/// An amount as recipes write it: a number, or a text for those who do not trust numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decimal(pub Amount);

impl<'de> Deserialize<'de> for Decimal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Decimal;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number such as 0.5 or 1e-6")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> std::result::Result<Decimal, E> {
                text.parse().map(Decimal).map_err(E::custom)
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> std::result::Result<Decimal, E> {
                self.visit_str(&number.to_string())
            }

            /// The shortest decimal that is this number is the one that was written, for there are fifteen digits at most.
            fn visit_f64<E: de::Error>(self, number: f64) -> std::result::Result<Decimal, E> {
                self.visit_str(&number.to_string())
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl Serialize for Decimal {
    fn serialize<S: serde::Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        to.collect_str(&self.0)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Decimal {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Decimal".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": ["number", "string"] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_what_is_written() {
        let epsilon = |text: &str| toml::from_str::<Written>(&format!("epsilon = {text}")).map(|it| it.epsilon);
        for (text, units) in [
            ("1", Amount::UNITS),
            ("0.1", 100_000_000_000),
            ("1e-6", 1_000_000),
            ("\"1e-6\"", 1_000_000),
            ("999.123456789012", 999_123_456_789_012),
            ("0.000000000001", 1),
        ] {
            assert_eq!(epsilon(text).unwrap(), Some(Decimal(Amount::from_units(units))), "{text}");
        }
        for text in ["-1", "-0.5", "nan", "inf", "1001", "1e-13", "0.1234567890123", "\"much\"", "true", "[1]"] {
            assert!(epsilon(text).unwrap_err().message().contains("expected"), "{text}");
        }
    }

    #[test]
    fn defaults_are_those_of_the_methods() {
        let written = |text: &str| toml::from_str::<Written>(text).unwrap();
        let usual = diffpart::Params::new(Amount::from_units(Amount::UNITS));
        assert_eq!(resolve(Method::Diffpart, &written("epsilon = 1")).unwrap().diffpart(), usual);
        let asked = resolve(Method::Diffpart, &written("epsilon = 1\nthresholds = [7, 2.5]")).unwrap().diffpart();
        assert_eq!((asked.keep_millionths, asked.publish_millionths), (7_000_000, 2_500_000));
        assert!(resolve(Method::Diffpart, &written("epsilon = 1\nthresholds = [7.0000001, 2]")).is_err());
    }
}
