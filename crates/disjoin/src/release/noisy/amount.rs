//! Parts of a privacy budget: whole numbers of a fixed unit, so that sums are exact.
//!
//! Promises:   adding, subtracting and comparing never round; what is written is read back as it was
//! Checked by: tests in this file

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A non-negative decimal with twelve digits after the point: an epsilon, a rho or a delta.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Amount(u64);

impl Amount {
    /// How many units are 1.
    pub const UNITS: u64 = 1_000_000_000_000;

    /// The most that can be written: a thousand, which as an epsilon protects nothing.
    pub const MOST: Amount = Amount(1000 * Amount::UNITS);

    /// So many units.
    pub const fn from_units(units: u64) -> Self {
        Amount(units)
    }

    /// How many units.
    pub const fn units(self) -> u64 {
        self.0
    }

    /// The greatest amount that is not above a number; none of what is not a number.
    pub fn at_most(number: f64) -> Self {
        // The cast stops at 0 and at the greatest integer. One unit is taken off for the rounding of the product.
        Amount(((number * Amount::UNITS as f64) as u64).saturating_sub(1).min(Amount::MOST.0))
    }

    /// As a number, rounded: for thresholds and texts, never for sums.
    pub fn to_f64(self) -> f64 {
        self.0 as f64 / Amount::UNITS as f64
    }

    /// The share `part / whole`, rounded down.
    #[must_use]
    pub fn share(self, part: u64, whole: u64) -> Self {
        let share = u128::from(self.0) * u128::from(part) / u128::from(whole.max(1));
        Amount(u64::try_from(share).unwrap_or(u64::MAX))
    }

    /// What is left after a part was taken; none if there is not so much.
    pub fn minus(self, part: Amount) -> Option<Self> {
        self.0.checked_sub(part.0).map(Amount)
    }

    /// The sum; none if it cannot be written.
    pub fn plus(self, other: Amount) -> Option<Self> {
        self.0.checked_add(other.0).map(Amount)
    }
}

impl fmt::Display for Amount {
    /// Without zeros at the end: 0.5.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / Amount::UNITS, self.0 % Amount::UNITS);
        match rest {
            0 => write!(f, "{whole}"),
            rest => write!(f, "{whole}.{}", format!("{rest:012}").trim_end_matches('0')),
        }
    }
}

impl FromStr for Amount {
    type Err = String;

    /// Reads 0.5, 1, .25 or 1e-6; what needs more than twelve digits is refused, not rounded.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("expected a number such as 0.5 or 1e-6, from 0 to {}", Amount::MOST);
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().map_err(|_| wrong())?),
            None => (text, 0),
        };
        let (whole, rest) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{whole}{rest}");
        if digits.is_empty() || digits.len() > 30 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(wrong());
        }
        let number: u128 = digits.parse().map_err(|_| wrong())?;
        let shift = exponent.saturating_add(12).saturating_sub(rest.len() as i32);
        let power = |n: i32| u32::try_from(n).ok().and_then(|n| 10_u128.checked_pow(n)).ok_or_else(wrong);
        let units = match shift {
            _ if number == 0 => 0,
            shift if shift >= 0 => number.checked_mul(power(shift)?).ok_or_else(wrong)?,
            shift => {
                let power = power(-shift)?;
                if !number.is_multiple_of(power) {
                    return Err(String::from("expected at most twelve digits after the point"));
                }
                number / power
            }
        };
        u64::try_from(units).ok().filter(|&units| units <= Amount::MOST.0).map(Amount).ok_or_else(wrong)
    }
}

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Amount {
    /// A string: numbers of JSON would be rounded on the way.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_and_written_exactly() {
        for (text, units, shown) in [
            ("0.5", 500_000_000_000, "0.5"),
            ("1", Amount::UNITS, "1"),
            (".25", 250_000_000_000, "0.25"),
            ("1e-6", 1_000_000, "0.000001"),
            ("2.5E-1", 250_000_000_000, "0.25"),
            ("1.250000000000", 1_250_000_000_000, "1.25"),
            ("1e2", 100 * Amount::UNITS, "100"),
            ("0.000000000001", 1, "0.000000000001"),
            ("0e99", 0, "0"),
        ] {
            let amount: Amount = text.parse().unwrap();
            assert_eq!((amount.units(), amount.to_string().as_str()), (units, shown), "{text}");
            assert_eq!(shown.parse(), Ok(amount));
        }
        for text in ["", ".", "-1", "+1", "1e-13", "1001", "1e99", "nan", "inf", "0x1", "1e", "1.0000000000001", "1 "] {
            assert!(text.parse::<Amount>().is_err(), "{text}");
        }
    }

    #[test]
    fn numbers_are_never_rounded_up() {
        for number in [0.1, 1.0 / 3.0, 0.006_641_499, 1e-12, 0.0, -1.0, f64::NAN, 1e300] {
            let amount = Amount::at_most(number);
            assert!(amount.units() == 0 || amount.to_f64() < number || amount == Amount::MOST, "{number}");
        }
    }
}
