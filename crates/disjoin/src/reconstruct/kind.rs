//! How many records of a root hold an itemset of which shared chunks own a part.
//!
//! Leaves whose parts are in the same shared chunks under the same law are of one *kind*, and are taken together: as one
//! big leaf, whose records are theirs, of which only the number that hold the leaves' own parts is known.
//!
//! Bounds: of the subrecords of a shared chunk that hold its part, those that can lie in these leaves only are certain to,
//! and no more than those that can lie in them at all. Fréchet's bound and the minimum follow.
//!
//! Variance: Var Z = E[Z] + E[Z (Z-1)] - E[Z]^2, where E[Z (Z-1)] is the sum over pairs of records of the probability that
//! both hold all parts. Chunks are independent, so that is a product over them. In a shared chunk with M matching
//! subrecords, all of which may lie in the same N records, it is M (M-1) / (N (N-1)).
//!
//! Paper:      ours
//! Promises:   bounds enclose what is possible; a part in a single shared chunk is counted exactly. The variance is exact
//!             where the subrecords of each shared chunk may all lie in the same leaves, and the probability for a pair of
//!             records is approximated elsewhere. In roots with very many kinds of leaves it is rather too large
//! Cost:       O(kinds) for each leaf, O(kinds^2) for a root
//! Checked by: tests/it/estimate.rs, against all worlds

use super::model::{Class, Entry, Model, TERM_CHUNK, popcount, popcount_within};
use super::own::{Own, common_mask, variance};

/// Beyond so many kinds in a root, covariances between them, which are negative and small, are left out.
const MANY: usize = 8;

/// In the place of a shared chunk: none owns the term.
const NONE: u32 = u32::MAX;

/// The leaves of one root in which shared chunks take part, by kind.
#[derive(Default)]
pub(super) struct Kinds {
    kinds: Vec<Kind>,
    /// Shared chunks that own the whole itemset. Their subrecords are somewhere, so they need only be counted.
    whole: Vec<u32>,
    in_whole: (u64, u64),
    /// The kind that the last leaf was of: neighbours are often alike.
    last: usize,
    key: Vec<(u32, u32)>,
}

struct Kind {
    /// For each term of the itemset, the shared chunk that owns it, or none, and the region there.
    key: Vec<(u32, u32)>,
    parts: Vec<Shared>,
    /// One of its leaves.
    leaf: u32,
    records: u64,
    /// Sums over the leaves: of the bounds, and of E[Z], E[Z]^2 and E[Z (Z-1)], Z counting the records that hold the own
    /// parts.
    fewest: u64,
    most: u64,
    mean: f64,
    squares: f64,
    pairs: f64,
}

/// The part of the itemset that a shared chunk owns.
struct Shared {
    bag: u32,
    mask: Vec<u64>,
    /// How many matching subrecords may lie in a leaf of this kind.
    n: u64,
    /// The probability that a given record holds one.
    marginal: f64,
}

impl Kinds {
    pub(super) fn clear(&mut self) {
        self.kinds.clear();
        self.whole.clear();
        self.in_whole = (0, 0);
    }

    /// Adds a leaf, given how it holds each term, and what is its own.
    pub(super) fn add(&mut self, model: &Model, leaf: u32, entries: &[&Entry], own: &Own) {
        let (bags, first) = (&model.leaves[leaf as usize].bags, entries[0]);
        if entries.iter().all(|entry| entry.bag == first.bag) {
            if !self.whole.contains(&first.bag) {
                self.whole.push(first.bag);
                let mut mask = Vec::new();
                common_mask(model, first, &entries[1..], &mut mask);
                let (fewest, most) = bounds_in(model, first.bag, popcount(&mask));
                self.in_whole = (self.in_whole.0 + fewest, self.in_whole.1.saturating_add(most));
            }
            return;
        }
        self.key.clear();
        self.key.extend(entries.iter().map(|entry| {
            let is_own = entry.bag == TERM_CHUNK || bags.contains(&entry.bag);
            if is_own { (NONE, 0) } else { (entry.bag, model.bags[entry.bag as usize].region_of(leaf)) }
        }));
        if self.kinds.get(self.last).is_none_or(|kind| kind.key != self.key) {
            self.last = self.kinds.iter().position(|kind| kind.key == self.key).unwrap_or_else(|| {
                self.kinds.push(Kind::new(model, leaf, self.key.clone(), entries));
                self.kinds.len() - 1
            });
        }
        let kind = &mut self.kinds[self.last];
        let (fewest, most) = own.bounds(model);
        let moments = own.moments(model);
        kind.records += model.leaves[leaf as usize].size();
        kind.fewest += fewest;
        let possible = |part: &Shared| if model.bags[part.bag as usize].is_guess { u64::MAX } else { part.n };
        kind.most += kind.parts.iter().map(possible).fold(most, u64::min);
        kind.mean += moments.mean;
        kind.squares += moments.mean * moments.mean;
        kind.pairs += moments.pairs;
    }

    /// The fewest and the most records of these leaves that can hold the itemset.
    pub(super) fn bounds(&self, model: &Model) -> (u64, u64) {
        // Which law holds does not matter here: kinds that differ in the region alone are put together again.
        let same_bags = |a: &Kind, b: &Kind| a.key.iter().zip(&b.key).all(|(a, b)| a.0 == b.0);
        let mut done = vec![false; self.kinds.len()];
        let (mut lower, mut upper) = self.in_whole;
        for i in 0..self.kinds.len() {
            if !done[i] {
                let alike: Vec<usize> =
                    (i..self.kinds.len()).filter(|&j| same_bags(&self.kinds[i], &self.kinds[j])).collect();
                alike.iter().for_each(|&j| done[j] = true);
                let (fewest, most) = bounds_of(model, &alike.iter().map(|&j| &self.kinds[j]).collect::<Vec<_>>());
                lower += fewest;
                upper += most;
            }
        }
        (lower, upper)
    }

    /// The variance of the number of records of these leaves that hold the itemset.
    pub(super) fn variance(&self, model: &Model) -> f64 {
        let mut sum = 0.0;
        for (i, a) in self.kinds.iter().enumerate() {
            let pairs = (a.pairs + a.mean * a.mean - a.squares) * pair(model, a, a);
            sum += variance(a.mean * a.marginal(), pairs);
            let others = if self.kinds.len() > MANY { &[][..] } else { &self.kinds[i + 1..] };
            for b in others.iter().filter(|b| a.parts.iter().any(|part| b.part(part.bag).is_some())) {
                let excess = pair(model, a, b) - a.marginal() * b.marginal();
                sum += 2.0 * a.mean * b.mean * excess;
            }
        }
        sum.max(0.0)
    }
}

impl Kind {
    fn new(model: &Model, leaf: u32, key: Vec<(u32, u32)>, entries: &[&Entry]) -> Self {
        let mut parts: Vec<Shared> = Vec::new();
        for (i, &(id, _)) in key.iter().enumerate() {
            if id != NONE && parts.iter().all(|part| part.bag != id) {
                let mut mask = Vec::new();
                common_mask(model, entries[i], &entries[i + 1..], &mut mask);
                let bag = &model.bags[id as usize];
                let (n, marginal) = (model.count(bag, leaf, &mask), model.marginal(bag, leaf, &mask));
                parts.push(Shared { bag: id, mask, n, marginal });
            }
        }
        Kind { key, parts, leaf, records: 0, fewest: 0, most: 0, mean: 0.0, squares: 0.0, pairs: 0.0 }
    }

    fn part(&self, bag: u32) -> Option<&Shared> {
        self.parts.iter().find(|part| part.bag == bag)
    }

    /// The probability that a given record holds all shared parts.
    fn marginal(&self) -> f64 {
        self.parts.iter().map(|part| part.marginal).product()
    }
}

/// The fewest and the most records that can hold a set that one shared chunk owns, if `n` of its subrecords do.
fn bounds_in(model: &Model, bag: u32, n: u64) -> (u64, u64) {
    let bag = &model.bags[bag as usize];
    match bag.is_guess {
        true => {
            (1, model.leaves[bag.leaves.start as usize..bag.leaves.end as usize].iter().map(|leaf| leaf.size()).sum())
        }
        false => (n, n),
    }
}

/// The bounds of kinds whose parts are in the same shared chunks.
fn bounds_of(model: &Model, kinds: &[&Kind]) -> (u64, u64) {
    let records: u64 = kinds.iter().map(|kind| kind.records).sum();
    let mut certain: u64 = kinds.iter().map(|kind| kind.fewest).sum();
    let mut possible: u64 = kinds.iter().map(|kind| kind.most).sum();
    for part in &kinds[0].parts {
        let bag = &model.bags[part.bag as usize];
        if bag.is_guess {
            certain = 0;
            continue;
        }
        let (mut only_here, mut also_here) = (0, 0);
        for class in model.classes_of(bag) {
            let n = popcount_within(&part.mask, &class.bits);
            if n > 0 {
                // A class may lie in all leaves of a kind or in none.
                let may_lie = |leaf: u32| class.may_lie(leaf - bag.leaves.start);
                let here: u64 = kinds.iter().filter(|kind| may_lie(kind.leaf)).map(|kind| kind.records).sum();
                also_here += if here > 0 { n } else { 0 };
                only_here += if here == model.room(bag, class) { n } else { 0 };
            }
        }
        // Two sets of `certain` and `only_here` records out of `records` have at least this many in common.
        certain = (certain + only_here).saturating_sub(records);
        possible = possible.min(also_here);
    }
    (certain, possible)
}

/// The probability that a record of a leaf of kind `a` and another one of kind `b` hold their shared parts.
fn pair(model: &Model, a: &Kind, b: &Kind) -> f64 {
    let of_a = a.parts.iter().map(|part| match b.part(part.bag) {
        Some(other) => both(model, (a, part), (b, other)),
        None => part.marginal,
    });
    let only_b = b.parts.iter().filter(|part| a.part(part.bag).is_none()).map(|part| part.marginal);
    of_a.chain(only_b).product()
}

/// The probability that two records hold their parts in one shared chunk.
///
/// With subrecord q at the first record, another one, r, is at the second with probability w_r / (1 - w_r'), w_r' being
/// its probability of being at the first, which is taken; or the other way round, and the mean of both is used. For a
/// single class both are the same, and the sum is M (M-1) / (N (N-1)).
fn both(model: &Model, (a, of_a): (&Kind, &Shared), (b, of_b): (&Kind, &Shared)) -> f64 {
    let bag = &model.bags[of_a.bag as usize];
    let classes = model.classes_of(bag);
    if let ([class], true) = (classes, of_a.n > 0 && of_b.n > 0) {
        // The part is the same: were it not, no subrecord could lie in leaves of both kinds.
        let (n, records) = (of_a.n as f64, class.records);
        return if records > 1.0 { n * (n - 1.0) / (records * (records - 1.0)) } else { 0.0 };
    }
    let (at_a, at_b) = (a.leaf, b.leaf);
    let weight = |class: &Class, leaf: u32| {
        if class.may_lie(leaf - bag.leaves.start) { bag.tilt_of(leaf) / class.records } else { 0.0 }
    };
    let given = |class: &Class, at: u32, taken: u32| {
        let elsewhere = 1.0 - weight(class, taken);
        if elsewhere > 0.0 { weight(class, at) / elsewhere } else { 0.0 }
    };
    let counts_of_b: Vec<u64> = classes.iter().map(|class| popcount_within(&of_b.mask, &class.bits)).collect();
    let in_both: Vec<u64> = of_a.mask.iter().zip(&of_b.mask).map(|(x, y)| x & y).collect();
    let mut probability = 0.0;
    for (e, q) in classes.iter().enumerate() {
        let n = popcount_within(&of_a.mask, &q.bits);
        if n == 0 || weight(q, at_a) == 0.0 {
            continue;
        }
        for (f, (r, of_b)) in classes.iter().zip(&counts_of_b).enumerate() {
            let same = if e == f { popcount_within(&in_both, &q.bits) } else { 0 };
            let pairs = (n * of_b - same) as f64;
            if pairs == 0.0 {
                continue;
            }
            let first = weight(q, at_a) * given(r, at_b, at_a);
            let second = weight(r, at_b) * given(q, at_a, at_b);
            probability += pairs * (first + second) / 2.0;
        }
    }
    probability
}
