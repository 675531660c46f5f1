//! The logarithm of the gamma function, and the tail of the chi-square distribution by the incomplete gamma function.
//!
//! ```text
//! ln Gamma(x) = (x - 1/2) ln x - x + ln(2 pi)/2 + 1/(12 x) - 1/(360 x^3) + ...,   Gamma(x + 1) = x Gamma(x)
//! P(a, x) = x^a e^-x / Gamma(a + 1) * (1 + x/(a+1) + x^2/((a+1)(a+2)) + ...),     Q(a, x) = 1 - P(a, x)
//! ```
//!
//! Paper:      Abramowitz, Stegun: Handbook of Mathematical Functions, 6.1.40, 6.5.29, 6.5.31
//! Promises:   relative errors of about 1e-13, and 1e-10 for tails of a million degrees of freedom
//! Cost:       constant; the tail needs about the root of its degrees of freedom near the mean
//! Checked by: tests in this file, against known values and sums

/// ln Gamma(x) for x above 0.
pub(super) fn ln_gamma(x: f64) -> f64 {
    // The series is for large x. Smaller ones are lifted, all factors in one product.
    let (mut lifted, mut product) = (x, 1.0);
    while lifted < 10.0 {
        product *= lifted;
        lifted += 1.0;
    }
    let inverse = 1.0 / lifted;
    let square = inverse * inverse;
    const TERMS: [f64; 7] =
        [1.0 / 156.0, -691.0 / 360_360.0, 1.0 / 1188.0, -1.0 / 1680.0, 1.0 / 1260.0, -1.0 / 360.0, 1.0 / 12.0];
    let series = TERMS.iter().fold(0.0, |sum, term| sum * square + term) * inverse;
    const HALF_LN_TWO_PI: f64 = 0.918_938_533_204_672_7;
    (lifted - 0.5) * lifted.ln() - lifted + HALF_LN_TWO_PI + series - product.ln()
}

/// The probability that a chi-square variable of so many degrees of freedom is above `statistic`.
pub(super) fn chi_square_tail(statistic: f64, degrees: f64) -> f64 {
    if degrees <= 0.0 || statistic <= 0.0 {
        return 1.0;
    }
    let (a, x) = (degrees / 2.0, statistic / 2.0);
    let front = (a * x.ln() - x - ln_gamma(a)).exp();
    match x < a + 1.0 {
        true => (1.0 - front * series(a, x)).clamp(0.0, 1.0),
        false => (front * fraction(a, x)).clamp(0.0, 1.0),
    }
}

fn steps(a: f64) -> usize {
    500 + 20 * a.sqrt() as usize
}

/// 1/a + x/(a (a+1)) + x^2/(a (a+1) (a+2)) + ...
fn series(a: f64, x: f64) -> f64 {
    let mut term = 1.0 / a;
    let mut sum = term;
    for i in 1..steps(a) {
        term *= x / (a + i as f64);
        sum += term;
        if term < sum * 1e-16 {
            break;
        }
    }
    sum
}

/// The continued fraction of Gamma(a, x) / (x^a e^-x), by Lentz's method.
fn fraction(a: f64, x: f64) -> f64 {
    // Stands for 0 where something is divided by it.
    const TINY: f64 = 1e-300;
    let away_from_zero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut b = x + 1.0 - a;
    let (mut c, mut d) = (1.0 / TINY, 1.0 / away_from_zero(b));
    let mut product = d;
    for i in 1..steps(a) {
        let factor = -(i as f64) * (i as f64 - a);
        b += 2.0;
        d = 1.0 / away_from_zero(factor * d + b);
        c = away_from_zero(b + factor / c);
        product *= c * d;
        if (c * d - 1.0).abs() < 1e-16 {
            break;
        }
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gamma_is_the_factorial() {
        let mut sum = 0.0_f64;
        for n in 1..2000 {
            assert!((ln_gamma(f64::from(n)) - sum).abs() <= 1e-13 * sum.abs().max(1.0), "{n}");
            sum += f64::from(n).ln();
        }
        assert!((ln_gamma(0.5) - std::f64::consts::PI.sqrt().ln()).abs() < 1e-14);
        assert!((ln_gamma(1e-3) - 6.907_178_885_383_853).abs() < 1e-12);
    }

    #[test]
    fn tails_with_two_degrees_are_exponential_and_others_sums_of_poisson() {
        for x in [0.1, 1.0, 5.0, 40.0, 300.0] {
            assert!((chi_square_tail(x, 2.0) / (-x / 2.0_f64).exp() - 1.0).abs() < 1e-12);
            for half in [2, 5, 40, 150] {
                let term = |i: u32| (f64::from(i) * (x / 2.0).ln() - x / 2.0 - ln_gamma(f64::from(i) + 1.0)).exp();
                let sum: f64 = (0..half).map(term).sum();
                assert!((chi_square_tail(x, f64::from(2 * half)) - sum).abs() < 1e-12, "{x} {half}");
            }
        }
    }

    #[test]
    fn tails_of_tables() {
        for (x, degrees, tail) in [
            (3.841_458_820_694_124, 1.0, 0.05),
            (6.634_896_601_021_214, 1.0, 0.01),
            (18.307_038_053_275_146, 10.0, 0.05),
        ] {
            assert!((chi_square_tail(x, degrees) - tail).abs() < 1e-13);
        }
        assert_eq!((chi_square_tail(0.0, 3.0), chi_square_tail(5.0, 0.0)), (1.0, 1.0));
        // Near normal: the mean is a little above the median.
        assert!((chi_square_tail(1e6, 1e6) - 0.499_811_937_066).abs() < 1e-8);
    }
}
