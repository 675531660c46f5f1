//! What verdicts are made of: a claim, the criterion that decides it, and a little arithmetic on series.

/// What a paper says, and what came of it here.
pub(crate) struct Claim {
    said: &'static str,
    theirs: &'static str,
    criterion: String,
    ours: String,
    verdict: String,
}

/// A claim in words, with the number that is printed with it, or a dash.
pub(crate) fn claim(said: &'static str, theirs: &'static str) -> Claim {
    Claim { said, theirs, criterion: "-".into(), ours: "-".into(), verdict: "not judged".into() }
}

impl Claim {
    /// Reproduced if the criterion holds for our numbers.
    pub(crate) fn judged(mut self, criterion: &str, ours: String, holds: bool) -> Self {
        self.criterion = criterion.into();
        self.ours = ours;
        self.verdict = if holds { "reproduced" } else { "differs" }.into();
        self
    }

    /// Why it differs, if it does.
    pub(crate) fn because(mut self, why: &str) -> Self {
        if self.verdict == "differs" {
            self.verdict = format!("differs: {why}");
        }
        self
    }

    /// The cells of a row: the claim, their number, the criterion, our number, the verdict.
    pub(crate) fn cells(&self) -> [&str; 5] {
        [self.said, self.theirs, &self.criterion, &self.ours, &self.verdict]
    }
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

/// The distance from the least to the greatest value.
pub(crate) fn spread(values: &[f64]) -> f64 {
    most(values) - least(values)
}

/// From the first value to the last.
pub(crate) fn change(values: &[f64]) -> f64 {
    values.last().zip(values.first()).map_or(f64::NAN, |(last, first)| last - first)
}

/// Whether no value is below the one before it by more than `tolerance`.
pub(crate) fn rises(values: &[f64], tolerance: f64) -> bool {
    values.is_sorted_by(|a, b| *b >= a - tolerance)
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
    fn nothing_is_reproduced_by_numbers_that_are_missing() {
        let missing = [0.1, f64::NAN];
        assert!(!rises(&missing, 0.1));
        assert!(change(&missing).is_nan() && spread(&missing).is_nan() && spread(&[]).is_nan());
        assert_eq!((least(&[2.0, 1.0, 3.0]), most(&[2.0, 1.0, 3.0])), (1.0, 3.0));
    }
}
