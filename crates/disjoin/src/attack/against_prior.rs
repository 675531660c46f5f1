//! Did seeing a release help? Beliefs after it against beliefs before it, person by person, measured by what is true.
//!
//! This sees the sensitive values, as no attack does. The prior should be cross-fitted: one that was learned from the very
//! rows that it is compared on has seen the answers, and nothing beats it.
//!
//! Paper:      none: paired differences of proper scores
//! Promises:   an attack that learns nothing is above 0 in one of forty samples
//! Assumes:    many classes: intervals are normal
//! Departs:    rows of a class share its counts, so classes, not rows, are taken as independent
//! Cost:       one pass over the people
//! Checked by: tests/it/background.rs

use serde::Serialize;

use super::{ClassView, Posteriors};
use crate::knowledge::Beliefs;

/// Half the width of a normal 95 % interval, in standard errors.
const Z: f64 = 1.96;

/// Nothing is scored as less likely.
const LEAST: f64 = 1e-12;

/// What the posterior is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Before {
    /// What was believed of the person: does the release tell anything?
    Prior,
    /// The shares of values in the person's class, which everybody sees: does knowledge tell more than that?
    Class,
}

/// A mean over people with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Mean {
    /// The mean.
    pub mean: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// How much better posteriors are than what was there before.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Gain {
    /// How many people were compared.
    pub people: u64,
    /// The difference of the logarithm of the true value's probability, in bits.
    pub log_score: Mean,
    /// The difference of the true value's probability.
    pub probability: Mean,
    /// The share of people whose likeliest value was the true one before; ties count for their share.
    pub right_before: f64,
    /// The same after.
    pub right_after: f64,
    /// Whether the whole interval of the logarithms is above 0.
    pub beats: bool,
}

/// Compares beliefs after a release with those before; `truth` has the code of the sensitive value of each row.
pub fn gain(classes: &[ClassView], posteriors: &Posteriors, prior: &Beliefs, truth: &[u32], before: Before) -> Gain {
    let (mut scores, mut probabilities) = (Vec::new(), Vec::new());
    let (mut people, mut right_before, mut right_after) = (0_u64, 0.0, 0.0);
    for (class, members) in classes.iter().zip(posteriors.classes()) {
        let n: f64 = class.counts.iter().map(|&count| f64::from(count)).sum::<f64>().max(1.0);
        let shares: Vec<f64> = class.counts.iter().map(|&count| f64::from(count) / n).collect();
        let (mut size, mut score, mut probability) = (0.0, 0.0, 0.0);
        for (person, after) in members {
            let Some(value) = truth.get(person as usize).map(|&value| value as usize) else { continue };
            let before = match before {
                Before::Prior => prior.of(person),
                Before::Class => &shares,
            };
            let of_truth = |shares: &[f64]| shares.get(value).copied().unwrap_or(0.0);
            let (b, a) = (of_truth(before), of_truth(after));
            size += 1.0;
            score += a.max(LEAST).log2() - b.max(LEAST).log2();
            probability += a - b;
            right_before += right(before, value);
            right_after += right(after, value);
        }
        people += size as u64;
        scores.push((size, score));
        probabilities.push((size, probability));
    }
    let n = people.max(1) as f64;
    let log_score = mean(&scores);
    Gain {
        people,
        log_score,
        probability: mean(&probabilities),
        right_before: right_before / n,
        right_after: right_after / n,
        beats: log_score.low > 0.0,
    }
}

/// 1 if a value is the likeliest, and a share of it if others are as likely.
fn right(shares: &[f64], value: usize) -> f64 {
    let most = shares.iter().copied().fold(0.0, f64::max);
    let is_likeliest = |share: &&f64| **share >= most * (1.0 - 1e-9);
    if shares.get(value).as_ref().is_some_and(is_likeliest) {
        1.0 / shares.iter().filter(is_likeliest).count() as f64
    } else {
        0.0
    }
}

/// The mean over people from the sizes and sums of classes. It is a ratio of two sums over C classes:
/// variance = C/(C-1) * sum of (sum_c - size_c * mean)^2 / people^2.
fn mean(classes: &[(f64, f64)]) -> Mean {
    let people = classes.iter().map(|(size, _)| size).sum::<f64>().max(1.0);
    let mean = classes.iter().map(|(_, sum)| sum).sum::<f64>() / people;
    let squares: f64 = classes.iter().map(|(size, sum)| (sum - size * mean).powi(2)).sum();
    let n = classes.len() as f64;
    let half = match classes.len() {
        0 | 1 => f64::INFINITY,
        _ => Z * (n / (n - 1.0) * squares).sqrt() / people,
    };
    Mean { mean, low: mean - half, high: mean + half }
}
