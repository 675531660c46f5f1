//! How far apart are two vectors? The cosine of their angle, laid over the range of distances.
//!
//! A cosine of 1 becomes 0, 0 becomes half of [`FARTHEST`], -1 becomes [`FARTHEST`]: the same range as that of the
//! normalized Google distance. The map is a straight line: attacks that compare means, gaps and products with each other find
//! the same whatever the unit, and a mean over contexts is the distance from the mean of their vectors.
//!
//! Paper:      salton1975
//! Promises:   from 0 to [`FARTHEST`], the same both ways; not a number where a vector is missing
//! Assumes:    all vectors are equally long
//! Cost:       a multiplication a dimension
//! Checked by: tests in this file

use super::ngd::FARTHEST;
use crate::data::TermId;

/// The distances of terms by vectors, one after the other by term; those of length 0 are missing.
pub fn by_embeddings(vectors: Vec<Option<Vec<f32>>>) -> impl Fn(TermId, TermId) -> f64 + Sync + use<> {
    let n_dimensions = vectors.iter().flatten().map(Vec::len).max().unwrap_or(0);
    let mut rows = vec![0.0; n_dimensions * vectors.len()];
    let mut is_known = vec![false; vectors.len()];
    for (at, vector) in vectors.into_iter().enumerate() {
        if let Some(unit) = vector.and_then(unit).filter(|unit| unit.len() == n_dimensions) {
            rows[at * n_dimensions..][..n_dimensions].copy_from_slice(&unit);
            is_known[at] = true;
        }
    }
    move |a, b| {
        let (a, b) = (a as usize, b as usize);
        if !(is_known[a] && is_known[b]) {
            return f64::NAN;
        }
        between_units(&rows[a * n_dimensions..][..n_dimensions], &rows[b * n_dimensions..][..n_dimensions])
    }
}

/// The distance of two vectors of length 1.
pub fn between_units(a: &[f32], b: &[f32]) -> f64 {
    FARTHEST / 2.0 * (1.0 - f64::from(product(a, b)).clamp(-1.0, 1.0))
}

/// The vector of the same direction and length 1; none if there is no direction.
pub fn unit(mut vector: Vec<f32>) -> Option<Vec<f32>> {
    let length = vector.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>().sqrt();
    if !(length > 0.0 && length.is_finite()) {
        return None;
    }
    vector.iter_mut().for_each(|value| *value = (f64::from(*value) / length) as f32);
    Some(vector)
}

/// How many sums are kept at a time, so that they can be added to at once.
const LANES: usize = 16;

fn product(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0_f32; LANES];
    let (a, b) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest: f32 = a.remainder().iter().zip(b.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a.zip(b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f32>() + rest
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};

    use super::*;

    #[test]
    fn distances_by_hand() {
        let vectors = vec![
            Some(vec![2.0, 0.0]),
            Some(vec![0.0, 0.5]),
            Some(vec![-1.0, 0.0]),
            Some(vec![3.0, 3.0]),
            Some(vec![0.0, 0.0]),
            None,
        ];
        let distance = by_embeddings(vectors);
        assert_eq!((distance(0, 0), distance(0, 1), distance(0, 2)), (0.0, 2.0, 4.0));
        assert!((distance(0, 3) - (2.0 - 2.0_f64.sqrt())).abs() < 1e-6);
        assert!(distance(0, 4).is_nan() && distance(5, 0).is_nan() && distance(5, 5).is_nan());
    }

    #[test]
    fn distances_are_those_of_the_definition() {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(4);
        for n in [1, 2, 15, 16, 17, 50, 256] {
            let [a, b]: [Vec<f32>; 2] =
                std::array::from_fn(|_| (0..n).map(|_| rng.random_range(-1.0_f32..1.0)).collect());
            let sum = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum::<f64>();
            let cosine = sum(&a, &b) / (sum(&a, &a) * sum(&b, &b)).sqrt();
            let distance = by_embeddings(vec![Some(a), Some(b)]);
            assert!((distance(0, 1) - 2.0 * (1.0 - cosine)).abs() < 1e-5, "{n}");
            assert_eq!(distance(0, 1), distance(1, 0));
            assert!(distance(0, 0) < 1e-6 && (0.0..=FARTHEST).contains(&distance(0, 1)));
        }
    }
}
