//! The normalized Google distance: how rarely two things are met on one page, for how often each is met.
//!
//! Paper:      cilibrasi2007; shao2017, equation 1
//! Promises:   0 and more; [`smoothed`] is a number for any counts, or not a number if one of both was never met
//! Assumes:    counts of pages, with no more pages in all than `n`
//! Departs:    [`smoothed`] adds 1 to counts and to `n` and one half to pages with both, so that what was never met together
//!             has a distance, which ends at [`FARTHEST`]. The paper's counts are a search engine's, whose `n` is a guess
//! Cost:       four logarithms
//! Checked by: tests in this file

/// Distances end here.
pub const FARTHEST: f64 = 4.0;

/// Stands in for a pair that was never met.
const UNSEEN: f64 = 0.5;

/// The distance of counts as they are: pages with x, with y, with both, and in all.
pub fn google_distance(x: f64, y: f64, both: f64, n: f64) -> f64 {
    let (x, y) = (x.ln(), y.ln());
    (x.max(y) - both.ln()) / (n.ln() - x.min(y))
}

/// The distance for counts that may be small. Not a number if x or y is 0: nothing is known then.
pub fn smoothed(x: u64, y: u64, both: u64, n: u64) -> f64 {
    if x == 0 || y == 0 {
        return f64::NAN;
    }
    let is_always = both >= x.max(y);
    let [x, y, both, n] = [x as f64 + 1.0, y as f64 + 1.0, both as f64 + UNSEEN, n as f64 + 1.0];
    if n <= x.min(y) {
        return if is_always { 0.0 } else { FARTHEST };
    }
    google_distance(x, y, both, n).clamp(0.0, FARTHEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_of_the_papers_counts() {
        let distance = google_distance(46_700_000.0, 12_200_000.0, 2_630_000.0, 8_058_044_651.0);
        assert!((distance - 0.443_056).abs() < 1e-6, "{distance}");
        // Smoothing does not matter where there are many.
        assert!((smoothed(46_700_000, 12_200_000, 2_630_000, 8_058_044_651) - distance).abs() < 1e-6);
    }

    #[test]
    fn small_counts_have_distances() {
        assert!(smoothed(0, 5, 0, 100).is_nan() && smoothed(5, 0, 0, 100).is_nan());
        assert!(smoothed(5, 5, 0, 100) > smoothed(5, 5, 1, 100));
        assert!(smoothed(5, 5, 5, 100) < 0.05);
        assert_eq!(smoothed(100, 100, 100, 100), 0.0);
        assert_eq!(smoothed(100, 100, 99, 100), FARTHEST);
        assert_eq!(smoothed(90, 90, 0, 100), FARTHEST);
        for (x, y, both, n) in [(1, 1, 0, 1), (1, 2, 1, 2), (7, 3, 2, 9)] {
            let distance = smoothed(x, y, both, n);
            assert!((0.0..=FARTHEST).contains(&distance), "{distance}");
            assert_eq!(distance, smoothed(y, x, both, n));
        }
    }
}
