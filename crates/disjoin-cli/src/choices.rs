//! Names of choices, taken from the core: what recipes write, flags take.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// One of the names that a recipe would take.
pub(crate) fn choice<T: DeserializeOwned + Clone + Send + Sync + 'static>() -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(names::<T>()).try_map(|name| serde_json::from_value::<T>(Value::String(name)))
}

/// Serde tells all names to whoever writes an unknown one.
fn names<T: DeserializeOwned>() -> Vec<PossibleValue> {
    let told = serde_json::from_value::<T>(Value::String(String::from("?"))).err().map(|error| error.to_string());
    let told = told.unwrap_or_default();
    let (_, known) = told.split_once("expected").unwrap_or_default();
    known.split('`').skip(1).step_by(2).map(|name| PossibleValue::new(name.to_owned())).collect()
}

/// A whole number of 1 or more.
pub(crate) fn from_one() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..)
}
