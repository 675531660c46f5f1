//! Beliefs by kernel regression: the sensitive values of near rows, the nearer the more.
//!
//! ```text
//! B(r)(s) = sum of K(r, r') over r' with value s  /  sum of K(r, r') over all r'
//! K(r, r') = product over quasi-identifiers a of 1 - (x_a / b)^2 if x_a < b, else 0
//! ```
//!
//! x_a is the distance in a column and b the bandwidth. These are Epanechnikov's kernels without their factors 3/(4b), which
//! cancel.
//!
//! Paper:      amiri2016 (what for); Li, Li, Zhang 2009 (the kernel estimate of the prior)
//! Promises:   exact: only terms that are zero are left out
//! Departs:    one bandwidth for all columns
//! Cost:       for each distinct row the number of those that agree in all columns where only equal values are near, and are
//!             near in one column of numbers
//! Checked by: tests/it/background.rs, against the sum over all pairs of rows

use std::collections::HashMap;

use rayon::prelude::*;

use super::groups::Groups;
use super::metric::Metric;
use crate::data::table::Column;

/// What is believed of each group; none where no row is near.
pub(super) fn estimate(groups: &Groups, quasi: &[&Column], bandwidth: f64) -> Vec<Option<Vec<f64>>> {
    let metrics: Vec<Metric<'_>> = quasi.iter().map(|column| Metric::new(&column.domain)).collect();
    let (exact, loose): (Vec<usize>, Vec<usize>) =
        (0..quasi.len()).partition(|&column| metrics[column].least() >= bandwidth);
    let key = |group: usize| exact.iter().map(move |&column| groups.codes(group)[column]);
    // The column of numbers with the most values cuts off most. A bandwidth above 1 cuts off nothing.
    let is_window = |&column: &usize| bandwidth <= 1.0 && matches!(metrics[column], Metric::Numbers(_));
    let window = loose.iter().copied().filter(is_window).max_by_key(|&column| quasi[column].domain.n_values());
    // Missing numbers lie beyond all others.
    let place = |group: usize| match window.map(|column| (&metrics[column], groups.codes(group)[column])) {
        Some((Metric::Numbers(places), code)) => places.get(code as usize).copied().unwrap_or(f64::INFINITY),
        _ => 0.0,
    };
    let mut sorted: Vec<usize> = (0..groups.len()).collect();
    sorted.par_sort_unstable_by(|&a, &b| {
        let by_key = groups.half(a).cmp(&groups.half(b)).then_with(|| key(a).cmp(key(b)));
        by_key.then_with(|| place(a).total_cmp(&place(b))).then(a.cmp(&b))
    });
    let mut buckets: HashMap<(u8, Vec<u32>), &[usize]> = HashMap::new();
    for same in sorted.chunk_by(|&a, &b| groups.half(a) == groups.half(b) && key(a).eq(key(b))) {
        buckets.insert((groups.half(same[0]), key(same[0]).collect()), same);
    }
    let believe = |group: usize| {
        let bucket = buckets.get(&(groups.learned_from(group), key(group).collect::<Vec<u32>>()))?;
        let here = place(group);
        let first = bucket.partition_point(|&other| place(other) < here - bandwidth);
        let near = bucket[first..].iter().take_while(|&&other| place(other) <= here + bandwidth);
        let mut shares = vec![0.0; groups.n_values()];
        let mut sum = 0.0;
        for &other in near {
            let (one, two) = (groups.codes(group), groups.codes(other));
            let mut weight = 1.0;
            for &column in &loose {
                let x = metrics[column].between(one[column], two[column]) / bandwidth;
                weight *= (1.0 - x * x).max(0.0);
            }
            if weight > 0.0 {
                for &(value, count) in groups.counts(other) {
                    shares[value as usize] += weight * f64::from(count);
                    sum += weight * f64::from(count);
                }
            }
        }
        (sum > 0.0).then(|| shares.iter().map(|share| share / sum).collect())
    };
    (0..groups.len()).into_par_iter().map(believe).collect()
}
