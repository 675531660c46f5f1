//! Noise without rounding: exact draws from discrete laws, by integers alone.
//!
//! Paper:      canonne2020, section 5: Algorithm 1 (Bernoulli(exp(-gamma))), Algorithm 2 (discrete Laplace), Algorithm 3 (discrete
//!             Gaussian). The exponential mechanism by rejection is ours
//! Promises:   every draw follows its law exactly, if the bits of the source are fair: no floating-point number is used, so the
//!             low bits of a result tell nothing about what noise was added to
//! Assumes:    ChaCha20, keyed by the operating system, cannot be told from fair bits. How long a draw takes depends on what is
//!             drawn (rejection): whoever can measure that is not covered
//! Departs:    gamma / k is tried as a draw of 1 out of k and, if that comes out, one of gamma: products stay small. The exponential
//!             mechanism draws a candidate evenly and keeps it with probability exp(-rate (loss - least loss)): what is kept has a
//!             probability in proportion to exp(-rate loss), whatever the least loss is
//! Cost:       a few random words a draw; for the exponential mechanism at most as many tries as there are candidates, on average
//! Checked by: tests in this file, by chi-square against the laws, and against laws with a wrong scale

use rand::rngs::SysRng;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha20Rng;

use crate::error::{Error, Result};
use crate::release::noisy::Amount;

/// Where noise comes from.
#[derive(Debug)]
pub struct Source {
    bits: ChaCha20Rng,
    demonstration: bool,
}

/// A seed that nobody can guess, from the system's generator.
pub fn fresh_seed() -> Result<u64> {
    Source::secure().map(|mut source| source.bits.next_u64())
}

impl Source {
    /// Noise that nobody can guess.
    pub fn secure() -> Result<Self> {
        let bits = ChaCha20Rng::try_from_rng(&mut SysRng).map_err(|_| {
            Error::io(std::path::Path::new("the system's random numbers"), "read", std::io::Error::other("no entropy"))
        })?;
        Ok(Source { bits, demonstration: false })
    }

    /// Noise that can be drawn again, for demonstrations and tests: it protects nobody, and the claim says so.
    pub fn demonstration(seed: u64) -> Self {
        Source { bits: ChaCha20Rng::seed_from_u64(seed), demonstration: true }
    }

    /// Whether the noise can be drawn again.
    pub fn is_demonstration(&self) -> bool {
        self.demonstration
    }

    /// A number from 0 to `below - 1`, each as likely; 0 if there is none.
    pub fn uniform(&mut self, below: u64) -> u64 {
        if below <= 1 {
            return 0;
        }
        let mask = u64::MAX >> (below - 1).leading_zeros();
        loop {
            let drawn = self.bits.next_u64() & mask;
            if drawn < below {
                return drawn;
            }
        }
    }

    fn uniform_wide(&mut self, below: u128) -> u128 {
        if let Ok(below) = u64::try_from(below) {
            return u128::from(self.uniform(below));
        }
        let mask = u128::MAX >> (below - 1).leading_zeros();
        loop {
            let drawn = (u128::from(self.bits.next_u64()) << 64 | u128::from(self.bits.next_u64())) & mask;
            if drawn < below {
                return drawn;
            }
        }
    }

    /// True with probability exp(-top / bottom). `bottom` is not 0.
    pub fn bernoulli_exp(&mut self, top: u128, bottom: u128) -> bool {
        let (whole, rest) = (top / bottom, top % bottom);
        // exp(-gamma) is exp(-1) as often as gamma has wholes, times exp(-rest). The first failure ends it.
        let mut wholes = 0;
        while wholes < whole {
            if !self.bernoulli_exp_below_1(1, 1) {
                return false;
            }
            wholes += 1;
        }
        self.bernoulli_exp_below_1(rest, bottom)
    }

    /// Algorithm 1 for gamma = top / bottom from 0 to 1: draws of probability gamma / 1, gamma / 2, ... until one fails; the number of
    /// draws is odd with probability 1 - gamma + gamma^2 / 2 - ... = exp(-gamma).
    fn bernoulli_exp_below_1(&mut self, top: u128, bottom: u128) -> bool {
        let mut k = 1;
        while self.uniform(k) == 0 && self.uniform_wide(bottom) < top {
            k += 1;
        }
        k % 2 == 1
    }

    /// Algorithm 2: z with probability in proportion to exp(-rate |z|). The rate is not 0.
    pub fn laplace(&mut self, rate: Amount) -> i64 {
        self.laplace_of(u128::from(rate.units()), u128::from(Amount::UNITS))
    }

    /// The same for the rate s / t.
    fn laplace_of(&mut self, s: u128, t: u128) -> i64 {
        loop {
            let u = self.uniform_wide(t);
            if !self.bernoulli_exp_below_1(u, t) {
                continue;
            }
            // u and v together: an integer x >= 0 with probability in proportion to exp(-x / t).
            let mut v = 0_u128;
            while self.bernoulli_exp_below_1(1, 1) {
                v += 1;
            }
            let size = (u + t * v) / s;
            let negative = self.uniform(2) == 1;
            // Zero has one sign, or it would come twice as often as it should.
            if negative && size == 0 {
                continue;
            }
            // More than 2^63 has a probability below exp(-2^23) for the least rate that an amount can be.
            let size = i64::try_from(size).unwrap_or(i64::MAX);
            return if negative { -size } else { size };
        }
    }

    /// Algorithm 3: z with probability in proportion to exp(-z^2 / (2 variance)). The variance is at least 1.
    pub fn gaussian(&mut self, variance: u64) -> i64 {
        let variance = u128::from(variance.max(1));
        let t = variance.isqrt() + 1;
        loop {
            let z = self.laplace_of(1, t);
            // (|z| - variance / t)^2 / (2 variance), with t^2 above and below.
            let distance = (u128::from(z.unsigned_abs()) * t).abs_diff(variance);
            // What does not fit has a probability of nothing, as its greatest value has.
            if self.bernoulli_exp(distance.saturating_mul(distance), (2 * variance).saturating_mul(t * t)) {
                return z;
            }
        }
    }

    /// The exponential mechanism: the place of one of the losses, with probability in proportion to exp(-rate loss). None if there is
    /// no candidate.
    pub fn exponential(&mut self, losses: &[u64], rate: Amount) -> Option<usize> {
        let least = *losses.iter().min()?;
        loop {
            let place = self.uniform(losses.len() as u64) as usize;
            let excess = u128::from(losses[place] - least) * u128::from(rate.units());
            if self.bernoulli_exp(excess, u128::from(Amount::UNITS)) {
                return Some(place);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chi-square, in deviations from what is expected if the law is right.
    fn surprise(drawn: &[u64], law: &[f64]) -> f64 {
        let (n, total): (u64, f64) = (drawn.iter().sum(), law.iter().sum());
        let (mut chi, mut freedom) = (0.0, -1.0);
        for (&drawn, law) in drawn.iter().zip(law) {
            let expected = n as f64 * law / total;
            assert!(expected > 5.0, "{expected}");
            chi += (drawn as f64 - expected).powi(2) / expected;
            freedom += 1.0;
        }
        (chi - freedom) / f64::sqrt(2.0 * freedom)
    }

    /// Counts of -span..=span, whatever is further out at the ends.
    fn histogram(span: i64, n: u64, mut draw: impl FnMut() -> i64) -> Vec<u64> {
        let mut counts = vec![0; 2 * span as usize + 1];
        (0..n).for_each(|_| counts[(draw().clamp(-span, span) + span) as usize] += 1);
        counts
    }

    fn law(span: i64, weight: impl Fn(f64) -> f64) -> Vec<f64> {
        let tail: f64 = (span..span + 5000).map(|z| weight(z as f64)).sum();
        (-span..=span).map(|z| if z.abs() == span { tail } else { weight(z as f64) }).collect()
    }

    #[test]
    fn numbers_are_even() {
        let mut source = Source::demonstration(1);
        for below in [2, 3, 7, 10] {
            let mut counts = vec![0; below as usize];
            (0..50_000).for_each(|_| counts[source.uniform(below) as usize] += 1);
            assert!(surprise(&counts, &vec![1.0; below as usize]) < 5.0, "{counts:?}");
        }
        // Above 64 bits: the upper half as often as the lower one.
        let below = 3_u128 << 80;
        let upper = (0..20_000).filter(|_| source.uniform_wide(below) >= below / 2).count();
        assert!((9_600..10_400).contains(&upper), "{upper}");
    }

    #[test]
    fn coins_have_the_probability_of_exp() {
        let mut source = Source::demonstration(2);
        for (top, bottom) in [(0, 1), (1, 10), (1, 2), (1, 1), (3, 2), (7, 3), (1 << 100, 1 << 99)] {
            let p = f64::exp(-(top as f64 / bottom as f64));
            let n = 40_000;
            let heads = (0..n).filter(|_| source.bernoulli_exp(top, bottom)).count() as f64;
            let deviation = f64::sqrt(n as f64 * p * (1.0 - p)).max(1e-9);
            assert!((heads - n as f64 * p).abs() < 5.0 * deviation + 1e-6, "{top}/{bottom}: {heads}");
        }
        assert!(!source.bernoulli_exp(u128::MAX, 1));
    }

    #[test]
    fn laplace_follows_its_law_and_no_other() {
        let mut source = Source::demonstration(3);
        for (rate, span) in [("1", 5), ("0.3", 12), ("2.5", 2), ("0.05", 60)] {
            let rate: Amount = rate.parse().unwrap();
            let drawn = histogram(span, 60_000, || source.laplace(rate));
            let with = |rate: f64| law(span, |z| f64::exp(-rate * z.abs()));
            let right = surprise(&drawn, &with(rate.to_f64()));
            assert!(right < 5.0, "{rate}: {right}");
            for wrong in [0.9, 1.1] {
                let wrong = surprise(&drawn, &with(wrong * rate.to_f64()));
                assert!(wrong > 10.0, "{rate}: {wrong}");
            }
        }
    }

    #[test]
    fn gaussian_follows_its_law_and_no_other() {
        let mut source = Source::demonstration(4);
        for (variance, span) in [(1, 3), (7, 8), (400, 60)] {
            let drawn = histogram(span, 60_000, || source.gaussian(variance));
            let with = |variance: f64| law(span, |z| f64::exp(-z * z / (2.0 * variance)));
            let right = surprise(&drawn, &with(variance as f64));
            assert!(right < 5.0, "{variance}: {right}");
            for wrong in [0.85, 1.15] {
                let wrong = surprise(&drawn, &with(wrong * variance as f64));
                assert!(wrong > 8.0, "{variance}: {wrong}");
            }
        }
    }

    #[test]
    fn large_variances_do_not_overflow() {
        let mut source = Source::demonstration(5);
        let variance = 1_u64 << 50;
        let square: f64 = (0..2000).map(|_| source.gaussian(variance) as f64).map(|z| z * z).sum();
        let ratio = square / 2000.0 / variance as f64;
        assert!((0.85..1.15).contains(&ratio), "{ratio}");
    }

    #[test]
    fn the_exponential_mechanism_follows_its_law_and_no_other() {
        let mut source = Source::demonstration(6);
        let losses = [1003_u64, 1000, 1001, 1000, 1007];
        let rate: Amount = "0.4".parse().unwrap();
        let mut counts = vec![0; losses.len()];
        (0..60_000).filter_map(|_| source.exponential(&losses, rate)).for_each(|place| counts[place] += 1);
        let with = |rate: f64| losses.map(|loss| f64::exp(-rate * (loss - 1000) as f64)).to_vec();
        assert!(surprise(&counts, &with(0.4)) < 5.0);
        assert!(surprise(&counts, &with(0.44)) > 8.0 && surprise(&counts, &with(0.36)) > 8.0);
        assert_eq!(source.exponential(&[], rate), None);
    }

    #[test]
    fn secure_noise_is_not_drawn_twice() {
        let rate = Amount::from_units(1000);
        let mut draws: Vec<i64> = (0..8).map(|_| Source::secure().unwrap().laplace(rate)).collect();
        draws.sort_unstable();
        draws.dedup();
        assert_eq!(draws.len(), 8);
        assert!(!Source::secure().unwrap().is_demonstration() && Source::demonstration(1).is_demonstration());
    }
}
