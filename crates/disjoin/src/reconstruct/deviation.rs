//! The variance of an itemset's support over all placements.
//!
//! With Z the number of records that hold all parts, Var Z = E[Z] + E[Z (Z-1)] - E[Z]^2, and E[Z (Z-1)] is the sum over
//! pairs of different records of the probability that both hold all parts. Chunks are independent, so that is a product
//! over parts: a (a-1) / (s (s-1)) for a record chunk with a matching subrecords out of s records, likewise for a
//! shared chunk whose subrecords may lie anywhere below it, E[mu (mu-1)] / (s (s-1)) for a term of the term chunk.
//! Records of different leaves depend on each other through shared chunks only.
//!
//! Paper:      ours; for two chunks it is the variance of the hypergeometric distribution
//! Promises:   exact where the subrecords of each shared chunk may all lie in the same leaves; elsewhere the probability
//!             for a pair of records is approximated
//! Assumes:    the leaves are of one root, and all of that root in which shared chunks take part
//! Cost:       O(leaves^2 * parts)
//! Checked by: tests/estimate.rs

use super::estimate::{Group, Held};
use super::model::{Class, Model, popcount_within};

/// The variance of the number of records of these leaves that hold the itemset.
pub(super) fn variance(model: &Model, leaves: &[Held]) -> f64 {
    let own: Vec<Own> = leaves.iter().map(|held| Own::new(model, held)).collect();
    let (mut mean, mut pairs) = (0.0, 0.0);
    for (i, a) in leaves.iter().enumerate() {
        mean += own[i].mean * a.shared(model).map(|group| marginal(model, a, group)).product::<f64>();
        pairs += own[i].pairs * shared_pair(model, a, a);
        for (j, b) in leaves.iter().enumerate().skip(i + 1) {
            pairs += 2.0 * own[i].mean * own[j].mean * shared_pair(model, a, b);
        }
    }
    (mean + pairs - mean * mean).max(0.0)
}

/// Moments of the number of a leaf's records that hold the parts in its own chunks.
struct Own {
    /// E[Z]
    mean: f64,
    /// E[Z (Z-1)]
    pairs: f64,
}

impl Own {
    fn new(model: &Model, held: &Held) -> Self {
        let size = model.leaves[held.leaf as usize].size() as f64;
        let all_pairs = size * (size - 1.0);
        let (mut mean, mut pairs) = (size, all_pairs);
        let mut take = |n: f64, n_pairs: f64| {
            mean *= n / size;
            pairs *= if all_pairs > 0.0 { n_pairs / all_pairs } else { 0.0 };
        };
        held.own(model).for_each(|(_, a)| take(a as f64, a as f64 * (a as f64 - 1.0)));
        let (n, n_pairs) = model.multiplicity_in(held.leaf);
        (0..held.in_term_chunk).for_each(|_| take(n, n_pairs));
        Own { mean, pairs }
    }
}

fn marginal(model: &Model, held: &Held, group: &Group) -> f64 {
    model.marginal(&model.bags[group.bag as usize], held.leaf, held.mask(group))
}

/// The probability that a record of leaf `a` and another one of leaf `b` hold their parts in shared chunks.
fn shared_pair(model: &Model, a: &Held, b: &Held) -> f64 {
    let mut probability = 1.0;
    for group in a.shared(model) {
        probability *= match b.shared(model).find(|other| other.bag == group.bag) {
            Some(other) => both(model, (a, group), (b, other)),
            None => marginal(model, a, group),
        };
    }
    let only_b = b.shared(model).filter(|other| a.shared(model).all(|group| group.bag != other.bag));
    probability * only_b.map(|other| marginal(model, b, other)).product::<f64>()
}

/// The probability that two records hold their parts in one shared chunk.
///
/// With subrecord q at the first record, another one, r, is at the second with probability w_r / (1 - w_r'), w_r' being
/// its probability of being at the first, which is taken; or the other way round, and the mean of both is used. For a
/// single class both are the same, and the sum is M (M-1) / (N (N-1)).
fn both(model: &Model, (a, of_a): (&Held, &Group), (b, of_b): (&Held, &Group)) -> f64 {
    let bag = &model.bags[of_a.bag as usize];
    let weight = |class: &Class, leaf: u32| {
        if class.may_lie(leaf - bag.leaves.start) { bag.tilt_of(leaf) / class.records } else { 0.0 }
    };
    let given = |class: &Class, at: u32, taken: u32| {
        let elsewhere = 1.0 - weight(class, taken);
        if elsewhere > 0.0 { weight(class, at) / elsewhere } else { 0.0 }
    };
    let in_both: Vec<u64> = a.mask(of_a).iter().zip(b.mask(of_b)).map(|(x, y)| x & y).collect();
    let classes = model.classes_of(bag);
    let mut probability = 0.0;
    for (e, q) in classes.iter().enumerate() {
        let n = popcount_within(a.mask(of_a), &q.bits);
        if n == 0 {
            continue;
        }
        for (f, r) in classes.iter().enumerate() {
            let same = if e == f { popcount_within(&in_both, &q.bits) } else { 0 };
            let pairs = (n * popcount_within(b.mask(of_b), &r.bits) - same) as f64;
            let first = weight(q, a.leaf) * given(r, b.leaf, a.leaf);
            let second = weight(r, b.leaf) * given(q, a.leaf, b.leaf);
            probability += pairs * (first + second) / 2.0;
        }
    }
    probability
}
