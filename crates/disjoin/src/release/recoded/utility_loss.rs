//! How much less a recoding tells: the utility loss of set generalisation, safe for any number of terms.
//!
//! A group g of terms costs (2^|g| - 1) / (2^|I| - 1) * s(g) / n: of all sets of terms, those that g may stand for,
//! times the share of records that hold it. A suppressed term i costs s(i) / n. The powers leave the range of f64 at
//! about a thousand terms, so losses carry their exponent of two as an integer.
//!
//! Paper:      loukides2011 (COAT)
//! Promises:   no overflow and no underflow; the order of two losses is that of their exact values up to rounding, and
//!             the same on every machine
//! Assumes:    the weight of a group's semantic spread is 1
//! Departs:    groups of one cost nothing, so that a recoding that changes nothing has no loss
//! Cost:       `of_recoding`: linear in the data
//! Checked by: tests in this file

use std::cmp::Ordering;

use crate::data::{Transactions, supports};

use crate::data::Recoding;

/// A number that is not negative, as fraction * 2^exponent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Loss {
    /// From 1 to below 2, or 0.
    fraction: f64,
    /// 0 if the fraction is 0.
    exponent: i64,
}

/// What a recoding costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UtilityLoss {
    /// By groups of two and more terms.
    pub generalized: Loss,
    /// By terms that are gone: the sum of their shares of the records. Above 1 where there are several.
    pub suppressed: f64,
}

/// The loss of a recoding for these records; none lost if there are none.
pub fn of_recoding(records: &Transactions, recoding: &Recoding) -> UtilityLoss {
    let n_terms = recoding.n_terms();
    let recoded = recoding.apply(records);
    let of_groups = supports(&recoded, recoding.groups().len());
    let of_terms = supports(records, n_terms);
    let generalized = recoding.groups().iter().zip(of_groups).filter(|(group, _)| group.len() > 1);
    let sum = generalized.fold(Loss::ZERO, |sum, (group, support)| sum.plus(Loss::of_group(group.len(), support)));
    let occurrences: u64 = recoding.suppressed().map(|term| u64::from(of_terms[term as usize])).sum();
    let n_records = records.len().max(1) as f64;
    UtilityLoss { generalized: sum.share(n_terms, n_records), suppressed: occurrences as f64 / n_records }
}

impl UtilityLoss {
    /// Both together, 0 where it is too small for an f64.
    pub fn total(&self) -> f64 {
        self.generalized.value() + self.suppressed
    }
}

impl Loss {
    /// Nothing is lost.
    pub const ZERO: Loss = Loss { fraction: 0.0, exponent: 0 };

    /// (2^terms - 1) * support: the loss of a group, before it is divided by what all groups have in common.
    pub fn of_group(n_terms: usize, support: u32) -> Loss {
        // (1 - 2^-terms) * support * 2^terms: the first factor is 1 from 54 terms on, and exact before.
        let shrink = 1.0 - 0.5_f64.powi(n_terms.min(64) as i32);
        Loss::new(shrink * f64::from(support), n_terms as i64)
    }

    /// The sum of two.
    #[must_use]
    pub fn plus(self, other: Loss) -> Loss {
        let (large, small) = if self < other { (other, self) } else { (self, other) };
        let apart = large.exponent - small.exponent;
        // Whatever is so much smaller is lost in rounding.
        if small.fraction == 0.0 || apart > 60 {
            return large;
        }
        Loss::new(large.fraction + small.fraction * 0.5_f64.powi(apart as i32), large.exponent)
    }

    /// Divided by 2^terms - 1 and by the number of records.
    #[must_use]
    pub fn share(self, n_terms: usize, n_records: f64) -> Loss {
        let shrink = 1.0 - 0.5_f64.powi(n_terms.clamp(1, 64) as i32);
        Loss::new(self.fraction / shrink / n_records, self.exponent - n_terms.max(1) as i64)
    }

    /// fraction * 2^exponent for any fraction that is not negative.
    fn new(fraction: f64, exponent: i64) -> Loss {
        if fraction <= 0.0 {
            return Loss::ZERO;
        }
        // The exponent of an f64 is in its bits 52 to 62; fractions here are far from subnormal.
        let shift = ((fraction.to_bits() >> 52) & 0x7ff) as i64 - 1023;
        let unit = f64::from_bits((fraction.to_bits() & !(0x7ff << 52)) | (1023 << 52));
        Loss { fraction: unit, exponent: exponent + shift }
    }

    /// As an f64: 0 if it is too small for one, infinite if too large.
    pub fn value(self) -> f64 {
        let exponent = self.exponent.clamp(-2000, 2000) as i32;
        // In two steps: a power of two may be out of range where the product is not.
        self.fraction * 2.0_f64.powi(exponent / 2) * 2.0_f64.powi(exponent - exponent / 2)
    }

    /// The logarithm to base 2, minus infinity for nothing.
    pub fn log2(self) -> f64 {
        self.fraction.log2() + self.exponent as f64
    }
}

impl PartialOrd for Loss {
    fn partial_cmp(&self, other: &Loss) -> Option<Ordering> {
        match (self.fraction == 0.0, other.fraction == 0.0) {
            (false, false) => Some(self.exponent.cmp(&other.exponent).then(self.fraction.total_cmp(&other.fraction))),
            (is_zero, other_is_zero) => Some(other_is_zero.cmp(&is_zero)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_sum_are_those_of_integers() {
        let exact = |n_terms: usize, support: u32| ((1_u128 << n_terms) - 1) * u128::from(support);
        let pairs: Vec<(usize, u32)> =
            (1..=20).flat_map(|n| [0, 1, 2, 3, 5, 1000, 4_000_000_000].map(|s| (n, s))).collect();
        for &(n, s) in &pairs {
            for &(m, t) in &pairs {
                let (one, other) = (Loss::of_group(n, s), Loss::of_group(m, t));
                assert_eq!(one.partial_cmp(&other), Some(exact(n, s).cmp(&exact(m, t))), "{n} {s} {m} {t}");
                let sum = (exact(n, s) + exact(m, t)) as f64;
                assert!((one.plus(other).value() - sum).abs() <= 1e-15 * sum);
            }
        }
    }

    #[test]
    fn large_domains_neither_overflow_nor_vanish() {
        let large = Loss::of_group(100_000, 7);
        assert!(large > Loss::of_group(99_999, 13) && large < Loss::of_group(99_999, 15));
        assert_eq!(large.value(), f64::INFINITY);
        assert!((large.log2() - (100_000.0 + 7_f64.log2())).abs() < 1e-9);
        let tiny = Loss::of_group(2, 5).share(50_000, 1000.0);
        assert_eq!(tiny.value(), 0.0);
        assert!((tiny.log2() - (3_f64.log2() + 5_f64.log2() - 50_000.0 - 1000_f64.log2())).abs() < 1e-9);
        assert!((Loss::of_group(2, 5).share(3, 10.0).value() - 3.0 / 7.0 * 0.5).abs() < 1e-15);
        assert_eq!(Loss::ZERO.log2(), f64::NEG_INFINITY);
        assert_eq!(Loss::ZERO.plus(large), large);
    }

    #[test]
    fn recodings_are_measured_as_by_hand() {
        let mut records = Transactions::default();
        for mut record in [vec![0, 1, 2], vec![1], vec![2, 3], vec![3]] {
            records.push(&mut record);
        }
        assert_eq!(of_recoding(&records, &Recoding::identity(4)).total(), 0.0);
        // {0, 1} is in two of four records, {2} is itself, 3 is gone from two.
        let recoding = Recoding::from_groups(4, [vec![0, 1], vec![2]]).unwrap();
        let loss = of_recoding(&records, &recoding);
        assert!((loss.generalized.value() - 3.0 / 15.0 * 0.5).abs() < 1e-15);
        assert_eq!(loss.suppressed, 0.5);
        assert_eq!(of_recoding(&Transactions::default(), &recoding).total(), 0.0);
    }
}
