//! Utility sets that keep meaning, and such that give attackers little to hold on to.
//!
//! Paper:      shao2017, section 6.2.3: sets of terms that are alike by WordNet; the second chooser is ours, after its
//!             section 7
//! Promises:   disjoint sets, each around one protected term; a term in no set is generalised with nothing
//! Assumes:    privacy constraints of single terms matter most: a set is made around each term of a constraint, in their order
//! Departs:    sets of different constraints may not share terms here: the first takes them
//! Cost:       [`alike`] compares each protected term with all others; [`inconspicuous`] asks for the distances of all terms
//!             from the contexts of each protected term
//! Checked by: tests in this file

use crate::data::{TermId, Transactions};

/// Terms that are as alike as this belong together.
pub const ALIKE: f64 = 0.5;

/// A set around each protected term: itself and what is more alike than `least`, as `similarity` says, which may not know.
pub fn alike(
    privacy: &[Vec<TermId>],
    n_terms: usize,
    least: f64,
    similarity: impl Fn(TermId, TermId) -> Option<f64>,
) -> Vec<Vec<TermId>> {
    around(privacy, n_terms, |term| {
        (0..n_terms as TermId).filter(|&other| similarity(term, other).is_some_and(|of| of > least)).collect()
    })
}

/// A set around each protected term: itself and the `size` others that go best with what stands beside it.
///
/// `distance` is what an attacker could use: what is as near to the context as the original cannot be told from it.
pub fn inconspicuous(
    privacy: &[Vec<TermId>],
    records: &Transactions,
    n_terms: usize,
    size: usize,
    distance: impl Fn(TermId, TermId) -> f64,
) -> Vec<Vec<TermId>> {
    let mut holders: Vec<Vec<u32>> = vec![Vec::new(); n_terms];
    for (id, record) in (0..).zip(records.iter()) {
        record.iter().for_each(|&term| holders[term as usize].push(id));
    }
    around(privacy, n_terms, |term| {
        let mut near: Vec<(f64, TermId)> = Vec::new();
        for other in (0..n_terms as TermId).filter(|&other| other != term) {
            // The other must go with this one's contexts, and this one with the other's.
            let there = mean(&holders[term as usize], records, other, &distance);
            let here = mean(&holders[other as usize], records, term, &distance);
            if (there + here).is_finite() {
                near.push((there + here, other));
            }
        }
        near.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        near.into_iter().take(size).map(|(_, other)| other).collect()
    })
}

/// How far a term is on average from what these records hold; at most the first few of them are asked.
fn mean(holders: &[u32], records: &Transactions, term: TermId, distance: &impl Fn(TermId, TermId) -> f64) -> f64 {
    const ASKED: usize = 4;
    const BESIDE: usize = 12;
    let beside = holders.iter().take(ASKED).flat_map(|&id| records.record(id).iter().take(BESIDE));
    let known = beside.filter(|&&other| other != term).map(|&other| distance(other, term)).filter(|d| d.is_finite());
    let (sum, n) = known.fold((0.0, 0.0), |(sum, n), distance| (sum + distance, n + 1.0));
    sum / n
}

/// A set of what `of` says around each protected term that no earlier set has taken.
fn around(privacy: &[Vec<TermId>], n_terms: usize, of: impl Fn(TermId) -> Vec<TermId>) -> Vec<Vec<TermId>> {
    let mut is_taken = vec![false; n_terms];
    let mut sets = Vec::new();
    for &term in privacy.iter().flatten() {
        if is_taken.get(term as usize).copied().unwrap_or(true) {
            continue;
        }
        let mut set = of(term);
        set.push(term);
        set.sort_unstable();
        set.dedup();
        set.retain(|&other| !std::mem::replace(&mut is_taken[other as usize], true));
        sets.push(set);
    }
    sets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_around_protected_terms_and_disjoint() {
        // Terms are alike if they are near each other in number.
        let similarity = |a: TermId, b: TermId| (b != 5).then(|| 1.0 / (1.0 + f64::from(a.abs_diff(b))));
        let sets = alike(&[vec![2], vec![3], vec![6, 8]], 10, 0.4, similarity);
        assert_eq!(sets, [vec![1, 2, 3], vec![6, 7], vec![8, 9]]);
    }

    #[test]
    fn what_goes_with_the_same_context_is_chosen() {
        let mut records = Transactions::default();
        // 0 and 1 stand beside 4 and 5, 2 and 3 beside 6 and 7.
        for mut record in [vec![0, 4, 5], vec![1, 4, 5], vec![2, 6, 7], vec![3, 6, 7]] {
            records.push(&mut record);
        }
        let topic = |term: TermId| u32::from(matches!(term, 2 | 3 | 6 | 7));
        let distance = |a: TermId, b: TermId| f64::from(topic(a).abs_diff(topic(b))) + 0.01 * f64::from(b);
        let sets = inconspicuous(&[vec![0], vec![2]], &records, 8, 1, distance);
        assert_eq!(sets, [vec![0, 1], vec![2, 3]]);
    }
}
