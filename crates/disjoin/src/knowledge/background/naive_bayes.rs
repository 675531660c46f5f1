//! Beliefs by a naive Bayes classifier: quasi-identifiers are taken as independent given the sensitive value.
//!
//! ```text
//! B(r)(s) ~ P(s) * product over quasi-identifiers a of P(a = r_a | s),   every count plus one
//! ```
//!
//! Paper:      amiri2016 (what for); in the spirit of Riboni, Pareschi, Bettini 2012
//! Promises:   in logarithms, so no product vanishes
//! Departs:    a column of more than 16 numbers is cut into 16 parts of as equal a number of values as can be; a missing value
//!             is a value as any other
//! Cost:       rows times columns, and distinct rows times columns times sensitive values
//! Checked by: tests/it/background.rs, against products of counted shares

use rayon::prelude::*;

use super::groups::Groups;
use crate::data::table::{Column, Domain};

/// Parts that a column of numbers is cut into.
const PARTS: usize = 16;

/// What is believed of each group.
pub(super) fn estimate(groups: &Groups, quasi: &[&Column]) -> Vec<Option<Vec<f64>>> {
    let parts: Vec<(Vec<u32>, usize)> = quasi.iter().map(|column| parts(&column.domain)).collect();
    let halves = [0, 1].map(|half| Classifier::learn(groups, &parts, half));
    let believe = |group: usize| halves[usize::from(groups.learned_from(group))].believe(groups.codes(group), &parts);
    (0..groups.len()).into_par_iter().map(believe).collect()
}

/// For each code its part, and how many parts there are.
fn parts(domain: &Domain) -> (Vec<u32>, usize) {
    let (n_values, n_missing) = (domain.n_values(), usize::from(domain.has_missing()));
    let n_parts = if domain.numbers().is_some() { n_values.min(PARTS) } else { n_values };
    let part = |code: usize| if code < n_values { (code * n_parts / n_values) as u32 } else { n_parts as u32 };
    ((0..domain.n_codes()).map(part).collect(), n_parts + n_missing)
}

/// Logarithms of the shares of one half of the rows.
struct Classifier {
    /// ln P(s); minus infinity for values that do not occur.
    of_value: Vec<f64>,
    /// For each column ln P(part | s), part by part.
    of_part: Vec<Vec<f64>>,
}

impl Classifier {
    fn learn(groups: &Groups, parts: &[(Vec<u32>, usize)], half: u8) -> Self {
        let n_values = groups.n_values();
        let mut values = vec![1.0; n_values];
        let mut joint: Vec<Vec<f64>> = parts.iter().map(|(_, n_parts)| vec![1.0; (n_parts + 1) * n_values]).collect();
        for group in (0..groups.len()).filter(|&group| groups.half(group) == half) {
            for &(value, count) in groups.counts(group) {
                values[value as usize] += f64::from(count);
                for ((joint, (part_of, _)), &code) in joint.iter_mut().zip(parts).zip(groups.codes(group)) {
                    joint[part_of[code as usize] as usize * n_values + value as usize] += f64::from(count);
                }
            }
        }
        for (joint, (_, n_parts)) in joint.iter_mut().zip(parts) {
            for (at, count) in joint.iter_mut().enumerate() {
                // n_s + the number of parts: each had one added.
                *count = (*count / (values[at % n_values] - 1.0 + *n_parts as f64)).ln();
            }
        }
        let of_value = |(&count, &overall): (&f64, &f64)| if overall > 0.0 { count.ln() } else { f64::NEG_INFINITY };
        Classifier { of_value: values.iter().zip(&groups.overall).map(of_value).collect(), of_part: joint }
    }

    fn believe(&self, codes: &[u32], parts: &[(Vec<u32>, usize)]) -> Option<Vec<f64>> {
        let mut logarithms = self.of_value.clone();
        for ((joint, (part_of, _)), &code) in self.of_part.iter().zip(parts).zip(codes) {
            let at = part_of[code as usize] as usize * logarithms.len();
            logarithms.iter_mut().zip(&joint[at..]).for_each(|(sum, logarithm)| *sum += logarithm);
        }
        let most = logarithms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let shares: Vec<f64> = logarithms.iter().map(|logarithm| (logarithm - most).exp()).collect();
        let sum: f64 = shares.iter().sum();
        (sum.is_finite() && sum > 0.0).then(|| shares.iter().map(|share| share / sum).collect())
    }
}
