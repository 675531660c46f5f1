//! The fewest and the most records that can hold an itemset, over all possible originals.
//!
//! In a leaf of size s, let chunk i hold the part X_i in a_i subrecords out of n_i. Nothing ties the chunks together, so
//! the records without part i can be chosen apart or together:
//!
//! * Fewest: max(0, s - sum_i (s - a_i)), Fréchet's bound. That no record may be empty does not raise it: place the
//!   chunks' gaps one after the other around a circle of the records. A term of the term chunk is in one record at
//!   least, and where it is alone there, in all those that the chunks cannot fill.
//! * Most: min_i a_i. If j records take all parts, the other s - j must be filled by what is left, or by the term chunk,
//!   whose terms can be anywhere.
//!
//! Leaves that hold parts in the same shared chunks are taken together, as one big leaf in which only those subrecords
//! are certain that can lie nowhere else.
//!
//! Paper:      terrovitis2012, section 6, for itemsets within one chunk; the rest is ours
//! Promises:   both bounds are attained by possible originals in simple clusters, and enclose them in joint ones
//! Cost:       O(parts) for a leaf; for a root O(its matching leaves * classes)
//! Checked by: tests/estimate.rs

use super::estimate::Held;
use super::model::{Model, TERM_CHUNK, popcount_within};

/// The bounds of one leaf on the records that hold the parts in its own chunks.
pub(super) fn of_leaf(model: &Model, held: &Held) -> (u64, u64) {
    (fewest(model, held), most(model, held))
}

/// The bounds of one root on the records of `leaves`, in each of which shared chunks take part.
pub(super) fn linked(model: &Model, leaves: &[Held]) -> (u64, u64) {
    let mut order: Vec<&Held> = leaves.iter().collect();
    order.sort_by(|a, b| shared_owners(model, a).cmp(shared_owners(model, b)));
    let alike = order.chunk_by(|a, b| shared_owners(model, a).eq(shared_owners(model, b)));
    alike.map(|leaves| of_alike(model, leaves)).fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
}

/// Which shared chunk owns each term, if one does.
fn shared_owners<'h>(model: &Model, held: &'h Held) -> impl Iterator<Item = Option<u32>> + 'h {
    let own = model.leaves[held.leaf as usize].bags.clone();
    held.owners.iter().map(move |&bag| (bag != TERM_CHUNK && !own.contains(&bag)).then_some(bag))
}

/// Leaves of one root whose parts are in the same shared chunks.
fn of_alike(model: &Model, leaves: &[&Held]) -> (u64, u64) {
    let size = |held: &Held| model.leaves[held.leaf as usize].size();
    let records: u64 = leaves.iter().map(|held| size(held)).sum();
    let mut certain: u64 = leaves.iter().map(|held| fewest(model, held)).sum();
    let may_hold = |held: &Held| {
        let counts =
            held.shared(model).map(|group| model.count(&model.bags[group.bag as usize], held.leaf, held.mask(group)));
        counts.fold(most(model, held), u64::min)
    };
    let mut possible: u64 = leaves.iter().map(|held| may_hold(held)).sum();
    for group in leaves[0].shared(model) {
        // The part is the same in all of these leaves, and so is its mask.
        let mask = leaves[0].mask(group);
        let bag = &model.bags[group.bag as usize];
        let is_here = |leaf: u32| leaves.iter().any(|held| held.leaf == leaf);
        let (mut only_here, mut also_here) = (0, 0);
        for class in model.classes_of(bag) {
            let n = popcount_within(mask, &class.bits);
            let mut of_class = bag.leaves.clone().filter(|leaf| class.may_lie(leaf - bag.leaves.start));
            if n > 0 && of_class.clone().any(is_here) {
                also_here += n;
                only_here += if of_class.all(is_here) { n } else { 0 };
            }
        }
        // Two sets of certain and only_here records out of `records` have at least this many in common.
        certain = (certain + only_here).saturating_sub(records);
        possible = possible.min(also_here);
    }
    (certain, possible)
}

fn fewest(model: &Model, held: &Held) -> u64 {
    let leaf = &model.leaves[held.leaf as usize];
    let size = leaf.size();
    let is_everywhere = held.own(model).all(|(_, a)| a == size);
    match held.in_term_chunk {
        0 => held.own(model).fold(size, |common, (_, a)| (common + a).saturating_sub(size)),
        1 if held.own(model).next().is_none() => {
            let filled: u64 = leaf.n_guests + own_sizes(model, held.leaf).sum::<u64>();
            let alone = leaf.simple.term_chunk.len() == 1;
            if alone { size.saturating_sub(filled).max(1) } else { 1 }
        }
        n => u64::from(is_everywhere && (n == 1 || size == 1)),
    }
}

fn most(model: &Model, held: &Held) -> u64 {
    let leaf = &model.leaves[held.leaf as usize];
    let size = leaf.size();
    let Some(least) = held.own(model).map(|(_, a)| a).min() else { return size };
    if !leaf.simple.term_chunk.is_empty() {
        return least;
    }
    let takes_part = |bag: u32| held.groups.iter().any(|group| group.bag == bag);
    let can_fill = |j: u64| {
        let left = leaf.bags.clone().zip(own_sizes(model, held.leaf));
        let left = left.map(|(bag, n)| if takes_part(bag) { n - j } else { n.min(size - j) });
        leaf.n_guests + left.sum::<u64>() >= size - j
    };
    (0..=least).rev().find(|&j| can_fill(j)).unwrap_or(0)
}

/// The numbers of subrecords of a leaf's record chunks.
fn own_sizes(model: &Model, leaf: u32) -> impl Iterator<Item = u64> {
    let bags = model.leaves[leaf as usize].bags.clone();
    bags.map(|bag| u64::from(model.bags[bag as usize].n_subrecords))
}
