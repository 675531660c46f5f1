//! The privacy budget: every mechanism draws from it, and it adds up exactly.
//!
//! Paper:      sequential and parallel composition as in mcsherry2009; zero-concentrated differential privacy (zCDP) as in bun2016, its
//!             turning into epsilon and delta as in canonne2020, Corollary 13; the exponential mechanism as in cesar2021
//! Promises:   the entries of a ledger cost no more than its budget together: a step that asks for more is [`Error::Budget`], and
//!             draws nothing. Sums are sums of integers
//! Assumes:    neighbours differ by one record, added or removed. Each entry tells the truth about sensitivity or range: that is
//!             argued in the header of the method that makes it. Steps may choose what they ask by what earlier ones drew
//! Departs:    costs in zCDP are rounded up, and floating-point numbers serve only to find rho, which is then rounded down and
//!             checked with room to spare
//! Cost:       none to speak of
//! Checked by: tests in this file, and anew by `verify/noisy.rs` from what is published
//!
//! # What a mechanism costs
//!
//! P and Q are the laws of its results for two neighbours, Z the logarithm of P/Q at a result.
//!
//! * Exponential, each draw of range r. Weights change by factors exp(x_j) with max x - min x <= r; with the normalisation, Z lies in an
//!   interval of length r that has 0 in it. So |Z| <= r: it costs r in epsilon. For rho, psi(s) = ln E_Q exp(s Z) has psi(0) =
//!   psi(1) = 0, and psi'' is the variance of Z under a tilted law, at most r^2/4. Hence psi(s) - (r^2/8) s (s-1) is concave and 0 at 0
//!   and 1, so below 0 for s > 1, and the divergence of order a, psi(a)/(a-1), is at most a r^2/8: it costs r^2/8 in rho.
//! * Discrete Laplace of a rate b, on integer counts that differ by s in all (sum of absolute differences): |Z| <= b s. It costs b s in
//!   epsilon; as any mechanism of that epsilon, (b s)^2/2 in rho.
//! * Discrete Gaussian of a variance v, on integer counts that differ by d (sum of squares): d / (2 v) in rho (canonne2020, Theorem 14,
//!   and the sum over independent coordinates). It has no finite epsilon.
//! * Partitioning, whose paths add up to p: p in epsilon. See `diffpart.rs`.
//!
//! Draws one after the other, each chosen by what was drawn before, add up: Z is the sum of theirs (pure); divergences of each order
//! add up (zCDP).
//!
//! # From rho to epsilon and delta
//!
//! delta = E_P max(0, 1 - exp(epsilon - Z)). For a > 1, (1 - exp(-y)) exp(-(a-1) y) is greatest where exp(-y) = (a-1)/a, so that
//! max(0, 1 - exp(epsilon - Z)) <= exp((a-1)(Z - epsilon)) (1/a) (1 - 1/a)^(a-1), and E_P exp((a-1) Z) <= exp((a-1) a rho). So
//! delta <= exp((a-1)(a rho - epsilon)) (1/a) (1 - 1/a)^(a-1), for any a > 1.
//!
//! # A branch
//!
//! A method may draw something first, and by that decide how the rest is accounted for: see [`Ledger::branch`]. Results of the two
//! branches are different results. For those of the first, |Z| is at most the cost of the first draw in epsilon and of what follows.
//! For those of the second, the sum in delta runs over fewer results, and E_P exp((a-1) Z) over these is at most the product of the
//! moments of the first draw (over all its results) and of what follows: the bound above holds with rho the sum of the first draw's and
//! of what follows. An event splits into its parts in either branch, and its probability under P is at most exp(epsilon) times that
//! under Q in the first, and the same plus delta in the second. So the whole has epsilon and delta.

use crate::error::{Error, Result};
use crate::release::noisy::{Accounting, Amount, Entry, Mechanism, Spent};

/// Orders that are tried. Any of them gives a bound that holds.
const ORDERS: usize = 2000;

/// The logarithm of delta is taken to be less by this: a thousand times the rounding errors of [`rho_for`].
const MARGIN: f64 = 1e-9;

/// What may be spent, and what was.
#[derive(Debug, Clone)]
pub struct Ledger {
    epsilon: Amount,
    delta: Amount,
    accounting: Accounting,
    left: Amount,
    entries: Vec<Entry>,
}

impl Ledger {
    /// A budget of pure differential privacy.
    pub fn pure(epsilon: Amount) -> Result<Self> {
        check_epsilon(epsilon)?;
        Ok(Ledger {
            epsilon,
            delta: Amount::default(),
            accounting: Accounting::Pure,
            left: epsilon,
            entries: Vec::new(),
        })
    }

    /// A budget in rho that gives epsilon and delta.
    pub fn concentrated(epsilon: Amount, delta: Amount) -> Result<Self> {
        check_epsilon(epsilon)?;
        if delta.units() == 0 || delta >= Amount::from_units(Amount::UNITS) {
            let hint =
                "for example 1e-6, well below one in the number of records; or leave it out, with --accounting pure";
            return Err(Error::recipe("protect.noise.delta", "must be above 0 and below 1", hint));
        }
        let rho = rho_for(epsilon, delta);
        Ok(Ledger { epsilon, delta, accounting: Accounting::Concentrated { rho }, left: rho, entries: Vec::new() })
    }

    /// The other accounting after the first draw: the same entries, counted in epsilon, as far as there is a budget for them. What was
    /// promised stays. See the header for why this is one mechanism.
    pub fn branch(self) -> Result<Self> {
        let Ledger { epsilon, delta, entries, .. } = self;
        let mut branch = Ledger { delta, ..Ledger::pure(epsilon)? };
        for entry in entries {
            branch.spend(&entry.step, entry.mechanism)?;
        }
        Ok(branch)
    }

    /// How entries add up.
    pub fn accounting(&self) -> &Accounting {
        &self.accounting
    }

    /// What can still be spent, in the measure of the ledger.
    pub fn left(&self) -> Amount {
        self.left
    }

    /// Takes what a mechanism costs, before it draws.
    pub fn spend(&mut self, step: &str, mechanism: Mechanism) -> Result<()> {
        let cost = self.cost(&mechanism)?;
        let Some(left) = self.left.minus(cost) else {
            return Err(Error::Budget { step: step.into(), asked: cost.to_string(), left: self.left.to_string() });
        };
        self.left = left;
        self.entries.push(Entry { step: step.into(), mechanism, cost });
        Ok(())
    }

    /// What the claim tells.
    pub fn close(self, demonstration: bool) -> Spent {
        let Ledger { epsilon, delta, accounting, left: unspent, entries: ledger } = self;
        Spent { epsilon, delta, accounting, ledger, unspent, demonstration }
    }

    /// What a mechanism costs in the measure of this ledger; see the header.
    fn cost(&self, mechanism: &Mechanism) -> Result<Amount> {
        let unit = u128::from(Amount::UNITS);
        let units = |amount: Amount| u128::from(amount.units());
        let epsilon = match *mechanism {
            Mechanism::Exponential { draws, range } => Some(u128::from(draws) * units(range)),
            Mechanism::DiscreteLaplace { rate, sensitivity } => Some(u128::from(sensitivity) * units(rate)),
            Mechanism::Partitioning { path } => Some(units(path)),
            Mechanism::DiscreteGaussian { .. } => None,
        };
        let cost = match (&self.accounting, mechanism) {
            (Accounting::Pure, _) => epsilon,
            (Accounting::Concentrated { .. }, &Mechanism::Exponential { draws, range }) => {
                let square = units(range).checked_mul(units(range)).and_then(|square| square.checked_mul(draws.into()));
                square.map(|square| square.div_ceil(8 * unit))
            }
            (Accounting::Concentrated { .. }, &Mechanism::DiscreteGaussian { variance, sensitivity_squared }) => {
                (variance > 0).then(|| (u128::from(sensitivity_squared) * unit).div_ceil(2 * u128::from(variance)))
            }
            (Accounting::Concentrated { .. }, _) => {
                epsilon.and_then(|epsilon| epsilon.checked_mul(epsilon)).map(|square| square.div_ceil(2 * unit))
            }
        };
        let cost = cost.ok_or(Error::Internal("a mechanism has no cost in the measure of its ledger"))?;
        // What cannot be written is more than any budget.
        Ok(Amount::from_units(u64::try_from(cost).unwrap_or(u64::MAX)))
    }
}

/// Refuses budgets that mean nothing.
fn check_epsilon(epsilon: Amount) -> Result<()> {
    match epsilon.units() {
        0 => Err(Error::recipe("protect.noise.epsilon", "must be above 0", "for example 1; less protects more")),
        _ => Ok(()),
    }
}

/// The greatest rho that gives epsilon and delta, or a little less: the bound on delta, solved for rho, at the best of some orders.
pub fn rho_for(epsilon: Amount, delta: Amount) -> Amount {
    let log_delta = delta.to_f64().ln() - MARGIN;
    let at = |i: usize| {
        // a - 1 from 0.01 to 10,000, evenly by its logarithm.
        let a = 1.0 + 10_f64.powf(-2.0 + 6.0 * i as f64 / ORDERS as f64);
        (epsilon.to_f64() + (log_delta + a.ln()) / (a - 1.0) - (-1.0 / a).ln_1p()) / a
    };
    Amount::at_most((0..=ORDERS).map(at).fold(0.0, f64::max))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amount(text: &str) -> Amount {
        text.parse().unwrap()
    }

    #[test]
    fn overspending_is_an_error_and_changes_nothing() {
        let mut ledger = Ledger::pure(amount("1")).unwrap();
        ledger.spend("a", Mechanism::Exponential { draws: 3, range: amount("0.1") }).unwrap();
        ledger.spend("b", Mechanism::DiscreteLaplace { rate: amount("0.35"), sensitivity: 2 }).unwrap();
        assert_eq!(ledger.left(), amount("0"));
        let error = ledger.spend("c", Mechanism::Partitioning { path: amount("0.000000000001") }).unwrap_err();
        assert!(matches!(&error, Error::Budget { step, .. } if step == "c"), "{error}");
        let spent = ledger.close(false);
        let sum: u64 = spent.ledger.iter().map(|entry| entry.cost.units()).sum();
        assert_eq!((spent.ledger.len(), sum), (2, Amount::UNITS));
        assert!(Ledger::pure(amount("0")).is_err());
        for delta in ["0", "1", "2"] {
            assert!(Ledger::concentrated(amount("1"), amount(delta)).is_err());
        }
        // A Gaussian has no epsilon, and a variance of 0 no cost at all.
        let gaussian = |variance| Mechanism::DiscreteGaussian { variance, sensitivity_squared: 1 };
        assert!(Ledger::pure(amount("1")).unwrap().spend("d", gaussian(100)).is_err());
        assert!(Ledger::concentrated(amount("1"), amount("1e-6")).unwrap().spend("d", gaussian(0)).is_err());
    }

    #[test]
    fn costs_in_rho_are_rounded_up() {
        let mut ledger = Ledger::concentrated(amount("1"), amount("1e-6")).unwrap();
        let before = ledger.left();
        ledger.spend("a", Mechanism::Exponential { draws: 1, range: Amount::from_units(1) }).unwrap();
        assert_eq!(before.minus(ledger.left()), Some(Amount::from_units(1)));
        // 0.02^2 * 4 / 8, and 3 / (2 * 700).
        ledger.spend("b", Mechanism::Exponential { draws: 4, range: amount("0.02") }).unwrap();
        ledger.spend("c", Mechanism::DiscreteGaussian { variance: 700, sensitivity_squared: 3 }).unwrap();
        ledger.spend("d", Mechanism::DiscreteLaplace { rate: amount("0.01"), sensitivity: 2 }).unwrap();
        let costs: Vec<String> = ledger.close(true).ledger.iter().map(|entry| entry.cost.to_string()).collect();
        assert_eq!(costs[1..], ["0.0002", "0.002142857143", "0.0002"]);
    }

    /// The privacy loss of a Gaussian is Gaussian: its delta is known exactly, and the bound must lie above it, but not far.
    #[test]
    fn rho_gives_no_more_than_delta() {
        // Upper tail of the normal law, by summing its density.
        let tail = |x: f64| {
            (0..40_000).map(|i| f64::exp(-(x + (i as f64 + 0.5) * 1e-3).powi(2) / 2.0)).sum::<f64>() * 1e-3
                / f64::sqrt(2.0 * std::f64::consts::PI)
        };
        for (epsilon, delta) in [("0.1", "1e-6"), ("0.5", "1e-6"), ("1", "1e-6"), ("3", "1e-9"), ("1", "0.01")] {
            let (epsilon, delta) = (amount(epsilon), amount(delta));
            let (e, rho) = (epsilon.to_f64(), rho_for(epsilon, delta).to_f64());
            let mu = f64::sqrt(2.0 * rho);
            let exact = tail(e / mu - mu / 2.0) - f64::exp(e) * tail(e / mu + mu / 2.0);
            assert!(exact <= delta.to_f64() && exact > delta.to_f64() / 20.0, "{epsilon} {delta}: {exact}");
            // Better than the first conversion of bun2016.
            let l = -delta.to_f64().ln();
            assert!(rho > (f64::sqrt(l + e) - f64::sqrt(l)).powi(2));
        }
    }

    #[test]
    fn the_exponential_mechanism_costs_what_is_said() {
        // All laws over three results whose weights change within a range of 1: divergences of several orders.
        let steps = [-1.5_f64, -0.7, 0.0, 0.4, 1.0];
        let changes = [0.0_f64, 0.3, 0.5, 1.0];
        let mut worst = 0.0_f64;
        for weights in steps.iter().flat_map(|a| steps.iter().map(move |b| [0.0, *a, *b])) {
            for x in (0..64).map(|i| [changes[i % 4], changes[i / 4 % 4], changes[i / 16]]) {
                let normal = |w: [f64; 3]| {
                    let sum: f64 = w.iter().map(|w| w.exp()).sum();
                    w.map(|w| w.exp() / sum)
                };
                let (p, q) = (normal([0, 1, 2].map(|i| weights[i] + x[i])), normal(weights));
                for a in [1.01_f64, 2.0, 5.0, 30.0] {
                    let moment: f64 = (0..3).map(|i| p[i].powf(a) * q[i].powf(1.0 - a)).sum();
                    worst = worst.max(moment.ln() / (a - 1.0) / a);
                }
                let largest = (0..3).map(|i| (p[i] / q[i]).ln().abs()).fold(0.0, f64::max);
                assert!(largest <= 1.0 + 1e-12);
            }
        }
        assert!(worst <= 1.0 / 8.0 && worst > 0.1, "{worst}");
    }

    #[test]
    fn a_branch_counts_what_was_spent_in_epsilon() {
        let mut ledger = Ledger::concentrated(amount("1"), amount("1e-6")).unwrap();
        ledger.spend("first", Mechanism::Exponential { draws: 1, range: amount("0.1") }).unwrap();
        let branch = ledger.branch().unwrap();
        assert_eq!((branch.left(), branch.accounting()), (amount("0.9"), &Accounting::Pure));
        assert_eq!(branch.close(false).delta, amount("1e-6"));
    }
}
