//! Do distances agree with what people say? The rank correlation of Spearman.
//!
//! Paper:      spearman1904
//! Promises:   from -1 to 1; ties share the mean of their ranks
//! Assumes:    both are in the same order; a pair that is not a number on either side is left out
//! Cost:       two sorts
//! Checked by: tests in this file

/// The rank correlation of two lists; none for fewer than two pairs, or if one list has a single value.
pub fn spearman(a: &[f64], b: &[f64]) -> Option<f64> {
    let pairs: Vec<(f64, f64)> = a.iter().copied().zip(b.iter().copied()).filter(|(a, b)| !(a + b).is_nan()).collect();
    let (a, b): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
    let (a, b) = (ranks(&a), ranks(&b));
    let mean = (a.len() as f64 - 1.0) / 2.0;
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>();
    let spread = product(&a, &a) * product(&b, &b);
    (spread > 0.0).then(|| product(&a, &b) / spread.sqrt())
}

/// Ranks from 0; equal values share the mean of theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut start = 0;
    for run in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let rank = start as f64 + (run.len() as f64 - 1.0) / 2.0;
        run.iter().for_each(|&at| ranks[at] = rank);
        start += run.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn correlations_by_hand() {
        assert_eq!(spearman(&[1.0, 2.0, 3.0], &[10.0, 20.0, 25.0]), Some(1.0));
        assert_eq!(spearman(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]), Some(-1.0));
        // Ranks 0 1 2 3 4 and 1 0 3 2 4: 1 - 6 * 4 / (5 * 24).
        let correlation = spearman(&[1.0, 2.0, 3.0, 4.0, 5.0], &[2.0, 1.0, 4.0, 3.0, 5.0]).unwrap();
        assert!((correlation - 0.8).abs() < 1e-12);
        // Tied ranks 0.5 0.5 2 against 0 1 2.
        let correlation = spearman(&[1.0, 1.0, 2.0], &[1.0, 2.0, 3.0]).unwrap();
        assert!((correlation - 0.75_f64.sqrt()).abs() < 1e-12);
        assert_eq!(spearman(&[1.0, f64::NAN, 2.0], &[1.0, 9.0, 2.0]), Some(1.0));
        assert_eq!(spearman(&[1.0], &[1.0]), None);
        assert_eq!(spearman(&[1.0, 2.0], &[1.0, 1.0]), None);
    }
}
