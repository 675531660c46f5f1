//! Which items PrivBasis counts together: bases that cover all chosen items and pairs.
//!
//! Paper:      li2012, section 4 (construction of the basis set)
//! Promises:   every chosen item and every chosen pair is in some basis, and no basis is longer than [`LONGEST`]
//! Assumes:    items and pairs were drawn already: nothing here looks at data, so it costs no budget
//! Departs:    bases are merged as long as the sum of the variances of all chosen items and pairs falls, instead of by overlap; items
//!             in no pair go into groups of three
//! Cost:       the maximal cliques of a graph with as many edges as pairs; merging, (number of bases)^2 and fewer
//! Checked by: tests in this file

use std::collections::BTreeSet;

/// A basis has 2^length counts.
pub(super) const LONGEST: usize = 12;

/// Items in no pair are counted in groups of so many.
const LONELY: usize = 3;

/// Cliques after which the search ends; pairs in none of them become bases of their own.
const MOST_CLIQUES: usize = 20_000;

/// Bases for items and pairs of them, by place in the list of items; places ascend.
pub(super) fn bases(n_items: usize, pairs: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let mut neighbours = vec![BTreeSet::new(); n_items];
    for &(a, b) in pairs {
        neighbours[a].insert(b);
        neighbours[b].insert(a);
    }
    let paired: BTreeSet<usize> = (0..n_items).filter(|&item| !neighbours[item].is_empty()).collect();
    let mut cliques = Vec::new();
    grow(&neighbours, &mut Vec::new(), paired.clone(), BTreeSet::new(), &mut cliques);
    let mut found: Vec<Vec<usize>> =
        cliques.iter().flat_map(|clique| clique.chunks(LONGEST)).map(<[usize]>::to_vec).collect();
    let is_covered =
        |a: usize, b: usize, found: &[Vec<usize>]| found.iter().any(|basis| basis.contains(&a) && basis.contains(&b));
    for &(a, b) in pairs {
        if !is_covered(a, b, &found) {
            found.push(vec![a.min(b), a.max(b)]);
        }
    }
    let lonely: Vec<usize> = (0..n_items).filter(|item| !paired.contains(item)).collect();
    found.extend(lonely.chunks(LONELY).map(<[usize]>::to_vec));
    found
}

/// Bron and Kerbosch, with a pivot.
fn grow(
    neighbours: &[BTreeSet<usize>],
    clique: &mut Vec<usize>,
    mut open: BTreeSet<usize>,
    mut done: BTreeSet<usize>,
    found: &mut Vec<Vec<usize>>,
) {
    if found.len() >= MOST_CLIQUES {
        return;
    }
    let Some(pivot) = open.union(&done).copied().max_by_key(|&item| neighbours[item].intersection(&open).count())
    else {
        let mut clique = clique.clone();
        clique.sort_unstable();
        return found.push(clique);
    };
    let without: Vec<usize> = open.difference(&neighbours[pivot]).copied().collect();
    for item in without {
        clique.push(item);
        let both = |set: &BTreeSet<usize>| set.intersection(&neighbours[item]).copied().collect();
        grow(neighbours, clique, both(&open), both(&done), found);
        clique.pop();
        open.remove(&item);
        done.insert(item);
    }
}

/// Merges bases while that lowers the sum of the variances of all items and pairs. `variance(w)` is that of one count if there
/// are w bases.
pub(super) fn merge(
    mut bases: Vec<Vec<usize>>,
    n_items: usize,
    pairs: &[(usize, usize)],
    variance: impl Fn(usize) -> f64,
) -> Vec<Vec<usize>> {
    let mut sets: Vec<Vec<usize>> = (0..n_items).map(|item| vec![item]).collect();
    sets.extend(pairs.iter().map(|&(a, b)| vec![a.min(b), a.max(b)]));
    loop {
        let n = bases.len();
        let (now, then) = (variance(n), variance(n.saturating_sub(1)));
        // A merged basis has more counts to add: it can only pay if single counts get better.
        if n < 2 || then >= now {
            return bases;
        }
        let weights: Vec<f64> = sets.iter().map(|set| weight(set, &bases)).collect();
        let sum: f64 = weights.iter().map(|weight| 1.0 / weight).sum();
        let mut best: Option<(f64, usize, usize)> = None;
        for i in 0..n {
            for j in i + 1..n {
                let union = union(&bases[i], &bases[j]);
                if union.len() > LONGEST {
                    continue;
                }
                // Only sets inside the union change.
                let change = |(set, weight): (&Vec<usize>, &f64)| {
                    if !is_subset(set, &union) {
                        return 0.0;
                    }
                    let part = |basis: &[usize]| if is_subset(set, basis) { share(set, basis) } else { 0.0 };
                    1.0 / (weight - part(&bases[i]) - part(&bases[j]) + share(set, &union)) - 1.0 / weight
                };
                let total = then * (sum + sets.iter().zip(&weights).map(change).sum::<f64>());
                if best.is_none_or(|(least, _, _)| total < least) {
                    best = Some((total, i, j));
                }
            }
        }
        match best {
            Some((total, i, j)) if total < now * sum => {
                let merged = union(&bases[i], &bases[j]);
                bases.swap_remove(j);
                bases[i] = merged;
                let merged = bases[i].clone();
                // What lies inside the new basis is counted there.
                let mut at = 0;
                bases.retain(|basis| {
                    at += 1;
                    at - 1 == i || !is_subset(basis, &merged)
                });
            }
            _ => return bases,
        }
    }
}

/// The inverse of the variance of a set's count, in units of that of a single count: over all bases that hold it.
fn weight(set: &[usize], bases: &[Vec<usize>]) -> f64 {
    bases.iter().filter(|basis| is_subset(set, basis)).map(|basis| share(set, basis)).sum()
}

/// What one basis adds to that: the count of a set is the sum of 2^(what else is in the basis) counts.
pub(super) fn share(set: &[usize], basis: &[usize]) -> f64 {
    f64::exp2(set.len() as f64 - basis.len() as f64)
}

fn is_subset(set: &[usize], of: &[usize]) -> bool {
    set.iter().all(|item| of.binary_search(item).is_ok())
}

fn union(a: &[usize], b: &[usize]) -> Vec<usize> {
    let both: BTreeSet<usize> = a.iter().chain(b).copied().collect();
    both.into_iter().collect()
}

/// The mean deviation of the counts of all items and pairs, if single counts have a deviation of 1.
pub(super) fn mean_deviation(bases: &[Vec<usize>], n_items: usize, pairs: &[(usize, usize)]) -> f64 {
    let items = (0..n_items).map(|item| vec![item]);
    let sets: Vec<Vec<usize>> = items.chain(pairs.iter().map(|&(a, b)| vec![a.min(b), a.max(b)])).collect();
    sets.iter().map(|set| weight(set, bases).sqrt().recip()).sum::<f64>() / sets.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(bases: &[Vec<usize>], n_items: usize, pairs: &[(usize, usize)]) {
        let has = |items: &[usize]| bases.iter().any(|basis| items.iter().all(|item| basis.contains(item)));
        assert!((0..n_items).all(|item| has(&[item])) && pairs.iter().all(|&(a, b)| has(&[a, b])));
        assert!(bases.iter().all(|basis| (1..=LONGEST).contains(&basis.len()) && basis.is_sorted_by(|a, b| a < b)));
    }

    #[test]
    fn cliques_are_maximal_and_lonely_items_go_together() {
        let pairs = [(0, 1), (1, 2), (0, 2), (2, 3)];
        let mut found = bases(8, &pairs);
        found.sort_unstable();
        assert_eq!(found, [vec![0, 1, 2], vec![2, 3], vec![4, 5, 6], vec![7]]);
        // A clique of 15 is cut, and what goes across is covered by pairs.
        let all: Vec<(usize, usize)> = (0..15).flat_map(|a| (a + 1..15).map(move |b| (a, b))).collect();
        covers(&bases(15, &all), 15, &all);
    }

    #[test]
    fn merging_lowers_the_sum_of_variances_and_covers_the_same() {
        let pairs = [(0, 1), (1, 2), (3, 4), (5, 6), (1, 6)];
        let before = bases(12, &pairs);
        let square = |w: usize| (w * w) as f64;
        let merged = merge(before.clone(), 12, &pairs, square);
        covers(&merged, 12, &pairs);
        let sum = |bases: &[Vec<usize>]| -> f64 {
            let items = (0..12).map(|item| vec![item]).chain(pairs.iter().map(|&(a, b)| vec![a, b]));
            square(bases.len()) * items.map(|set| 1.0 / weight(&set, bases)).sum::<f64>()
        };
        assert!(merged.len() < before.len() && sum(&merged) < sum(&before));
        // If the number of bases does not matter, nothing is merged.
        assert_eq!(merge(before.clone(), 12, &pairs, |_| 1.0), before);
    }
}
