//! Numbers with the interval in which they lie, and a little arithmetic on series.
//!
//! Promises:   intervals are of 95 %; what follows from missing numbers is missing
//! Assumes:    numbers of different runs, draws or tables are independent where they are combined
//! Checked by: tests in this file

use disjoin::attack::judge::Rate;
use disjoin::generate::stream;

/// How often tables are drawn anew for an interval.
const DRAWS: usize = 1_000;

/// The 97.5 % quantile of the normal distribution.
const Z: f64 = 1.96;

/// A number, and the interval in which it lies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Estimate {
    pub(crate) value: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Estimate {
    /// A number that follows from the data: nothing was drawn.
    pub(crate) fn exact(value: f64) -> Self {
        Estimate { value, low: value, high: value }
    }

    /// A share of trials, with Wilson's interval; missing without a trial.
    pub(crate) fn share(hits: u64, of: u64) -> Self {
        if of == 0 {
            return Estimate::missing();
        }
        let Rate { share, low, high, .. } = Rate::new(hits, of);
        Estimate { value: share, low, high }
    }

    /// The mean of repetitions, with Student's interval; of one there is none.
    pub(crate) fn mean(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let value = values.iter().sum::<f64>() / n;
        if values.len() < 2 {
            return Estimate { value, low: f64::NEG_INFINITY, high: f64::INFINITY };
        }
        let variance = values.iter().map(|one| (one - value).powi(2)).sum::<f64>() / (n - 1.0);
        let half = student(values.len() - 1) * (variance / n).sqrt();
        Estimate { value, low: value - half, high: value + half }
    }

    /// The slope of the line that fits best, with Student's interval.
    pub(crate) fn slope(xs: &[f64], ys: &[f64]) -> Self {
        let (value, explained) = line(xs, ys);
        if xs.len() < 3 {
            return Estimate { value, low: f64::NEG_INFINITY, high: f64::INFINITY };
        }
        let degrees = xs.len() - 2;
        // The standard error of a slope b that explains r^2 of the variance.
        let error = value.abs() * ((1.0 - explained).max(0.0) / explained / degrees as f64).sqrt();
        let half = if value == 0.0 { f64::INFINITY } else { student(degrees) * error };
        Estimate { value, low: value - half, high: value + half }
    }

    /// What comes of `n` things, with the interval of drawing as many of them again and again.
    pub(crate) fn bootstrap(n: usize, of: impl Fn(&[usize]) -> f64) -> Self {
        use rand::RngExt;
        let all: Vec<usize> = (0..n).collect();
        let value = of(&all);
        if n < 2 {
            return Estimate { value, low: f64::NEG_INFINITY, high: f64::INFINITY };
        }
        let mut rng = stream(1, "lab/estimate/bootstrap", n as u64);
        let mut drawn: Vec<f64> =
            (0..DRAWS).map(|_| of(&(0..n).map(|_| rng.random_range(0..n)).collect::<Vec<_>>())).collect();
        if value.is_nan() || drawn.iter().any(|one| one.is_nan()) {
            return Estimate { value, low: f64::NEG_INFINITY, high: f64::INFINITY };
        }
        drawn.sort_by(f64::total_cmp);
        Estimate { value, low: drawn[DRAWS / 40].min(value), high: drawn[DRAWS - 1 - DRAWS / 40].max(value) }
    }

    /// A number that there is not.
    pub(crate) fn missing() -> Self {
        Estimate::exact(f64::NAN)
    }

    pub(crate) fn is_missing(&self) -> bool {
        self.value.is_nan()
    }

    /// This less another, each with an error of its own.
    pub(crate) fn less(self, other: Estimate) -> Self {
        let value = self.value - other.value;
        let down = (self.value - self.low).hypot(other.high - other.value);
        let up = (self.high - self.value).hypot(other.value - other.low);
        Estimate { value, low: value - down, high: value + up }
    }

    /// This over another, both above 0, each with an error of its own.
    pub(crate) fn over(self, other: Estimate) -> Self {
        let value = self.value / other.value;
        if value == 0.0 {
            return Estimate { value, low: 0.0, high: self.high / other.low };
        }
        let down = ((self.value - self.low) / self.value).hypot((other.high - other.value) / other.value);
        let up = ((self.high - self.value) / self.value).hypot((other.value - other.low) / other.value);
        Estimate { value, low: value * (1.0 - down), high: value * (1.0 + up) }
    }

    /// This so many times.
    pub(crate) fn times(self, factor: f64) -> Self {
        let ends = [self.low * factor, self.high * factor];
        Estimate { value: self.value * factor, low: ends[0].min(ends[1]), high: ends[0].max(ends[1]) }
    }
}

/// From the least to the greatest of some numbers.
pub(crate) fn spread(all: &[Estimate]) -> Estimate {
    if all.is_empty() || all.iter().any(Estimate::is_missing) {
        return Estimate::missing();
    }
    let by_value = |a: &&Estimate, b: &&Estimate| a.value.total_cmp(&b.value);
    let ends = all.iter().max_by(by_value).zip(all.iter().min_by(by_value));
    ends.map_or_else(Estimate::missing, |(most, least)| most.less(*least))
}

/// From the first number to the last.
pub(crate) fn change(all: &[Estimate]) -> Estimate {
    all.last().zip(all.first()).map_or_else(Estimate::missing, |(last, first)| last.less(*first))
}

/// The greatest value; NaN if one is missing.
pub(crate) fn most(values: &[f64]) -> f64 {
    let greater = |a: f64, b: f64| if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) };
    values.iter().copied().reduce(greater).unwrap_or(f64::NAN)
}

/// The least value; NaN if one is missing.
pub(crate) fn least(values: &[f64]) -> f64 {
    -most(&values.iter().map(|value| -value).collect::<Vec<_>>())
}

/// The straight line that fits best: its slope, and the share of the variance that it explains.
pub(crate) fn line(xs: &[f64], ys: &[f64]) -> (f64, f64) {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (x_mean, y_mean) = (mean(xs), mean(ys));
    let sum =
        |of: &dyn Fn(f64, f64) -> f64| -> f64 { xs.iter().zip(ys).map(|(x, y)| of(x - x_mean, y - y_mean)).sum() };
    let (xx, xy, yy) = (sum(&|x, _| x * x), sum(&|x, y| x * y), sum(&|_, y| y * y));
    (xy / xx, xy * xy / (xx * yy))
}

/// The 97.5 % quantile of Student's distribution.
fn student(degrees: usize) -> f64 {
    const UP_TO_TEN: [f64; 10] = [12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23];
    match degrees {
        0 => f64::INFINITY,
        1..=10 => UP_TO_TEN[degrees - 1],
        // Within 0.002 from there on.
        _ => Z + 2.4 / degrees as f64 + 3.0 / (degrees as f64).powi(2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_and_explains_itself() {
        let (slope, explained) = line(&[1.0, 2.0, 4.0], &[5.0, 7.0, 11.0]);
        assert!((slope - 2.0).abs() < 1e-12 && (explained - 1.0).abs() < 1e-12);
        let (slope, explained) = line(&[1.0, 2.0, 3.0], &[1.0, 4.0, 1.0]);
        assert!(slope.abs() < 1e-12 && explained.abs() < 1e-12);
    }

    #[test]
    fn intervals_are_those_of_textbooks() {
        // Moore and McCabe: 5 values of mean 22.5, s = 7.19 give 22.5 +- 8.9 at 95 %.
        let mean = Estimate::mean(&[13.5, 18.5, 22.5, 25.5, 32.5]);
        assert!((mean.value - 22.5).abs() < 1e-9 && (mean.high - mean.value - 2.78 * 7.19 / 5_f64.sqrt()).abs() < 0.1);
        for (degrees, quantile) in [(1, 12.706), (5, 2.571), (15, 2.131), (30, 2.042), (100, 1.984)] {
            assert!((student(degrees) - quantile).abs() < 0.01, "{degrees}");
        }
        // Points off a line by chance: 1.9 +- 0.91 by the usual formula.
        let slope = Estimate::slope(&[1.0, 2.0, 3.0, 4.0], &[2.0, 4.5, 5.5, 8.0]);
        let (xx, residual) = (5.0_f64, 0.45);
        assert!((slope.high - slope.value - 4.30 * (residual / 2.0 / xx).sqrt()).abs() < 0.01, "{slope:?}");
        let half = Estimate::bootstrap(400, |drawn| drawn.iter().filter(|&&at| at < 200).count() as f64 / 400.0);
        assert!(half.value == 0.5 && (half.low - 0.45).abs() < 0.01 && (half.high - 0.55).abs() < 0.01, "{half:?}");
    }

    #[test]
    fn nothing_follows_from_numbers_that_are_missing() {
        let missing = [Estimate::exact(0.1), Estimate::missing()];
        assert!(change(&missing).is_missing() && spread(&missing).is_missing() && spread(&[]).is_missing());
        assert!(Estimate::share(0, 0).is_missing() && Estimate::mean(&[]).is_missing());
        assert_eq!((least(&[2.0, 1.0, 3.0]), most(&[2.0, 1.0, 3.0])), (1.0, 3.0));
        // One repetition decides nothing.
        assert!(Estimate::mean(&[1.0]).low == f64::NEG_INFINITY);
    }

    #[test]
    fn errors_of_two_numbers_add_up() {
        let (a, b) = (Estimate { value: 5.0, low: 2.0, high: 8.0 }, Estimate { value: 1.0, low: -3.0, high: 5.0 });
        assert_eq!(a.less(b), Estimate { value: 4.0, low: -1.0, high: 9.0 });
        let ratio = Estimate { value: 4.0, low: 3.6, high: 4.4 }.over(Estimate::exact(2.0));
        assert!((ratio.low - 1.8).abs() < 1e-9 && (ratio.high - 2.2).abs() < 1e-9);
    }
}
