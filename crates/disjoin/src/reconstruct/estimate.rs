//! How many people have all of these terms? Certain bounds, the expectation and its deviation, without sampling.
//!
//! In a leaf P of size s whose chunks i hold the parts X_i of the itemset X, chunks are placed independently and
//! evenly, so a given record holds all parts with probability prod_i s(X_i, C_i) / s, and
//!
//!     E[s(X, P)] = s * prod_i s(X_i, C_i) / s.
//!
//! A term of the term chunk stands for a factor E[mu] / s, mu being its multiplicity; a part in a shared chunk for the
//! sum over the matching subrecords that may lie in P of 1 / N, N being the number of records where that subrecord may
//! lie. Supports and their expectations add up over leaves.
//!
//! Paper:      terrovitis2012, section 6 (lower bounds, the model of probabilities 1/|P|)
//! Promises:   the original's support is within the bounds, whatever the original was
//! Departs:    the paper's lower bound of an itemset that spans chunks is 0; here it is Fréchet's. Expectations in closed
//!             form are ours: the paper averages reconstructions
//! Assumes:    expectation and deviation are those of the placement law, which also allows empty records; where that
//!             puts the expectation outside the bounds, the nearest bound is reported
//! Cost:       O(leaves that may hold the itemset's rarest term), times log for the other terms
//! Checked by: tests/estimate.rs, against all worlds of random releases

use super::bounds;
use super::deviation::variance;
use super::model::{Model, Posting, TERM_CHUNK};
use crate::data::TermId;

/// What a release says about the support of an itemset.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Estimate {
    /// No possible original has fewer such records.
    pub lower: u64,
    /// No possible original has more.
    pub upper: u64,
    /// The mean over all placements of the subrecords, or the nearest bound.
    pub expected: f64,
    /// The standard deviation over all placements.
    ///
    /// Exact unless subrecords of one shared chunk may lie in different sets of leaves; rather too large then.
    pub deviation: f64,
}

/// Estimates the number of records that contain all of `itemset`, whose terms are ascending and of the release's
/// dictionary. The empty itemset is in every record.
pub fn estimate(model: &Model, itemset: &[TermId]) -> Estimate {
    if itemset.is_empty() {
        let records = model.release.header.records;
        return Estimate { lower: records, upper: records, expected: records as f64, deviation: 0.0 };
    }
    let mut sum = Sum::default();
    // Leaves of the present root in which shared chunks take part: they depend on each other.
    let mut linked: Vec<Held> = Vec::new();
    let mut words = Vec::new();
    let mut held = Held::default();
    for_each_leaf(model, itemset, |postings| {
        held.fill(model, postings);
        let held = &held;
        let root_of = |held: &Held| model.leaves[held.leaf as usize].root;
        if linked.first().is_some_and(|first| root_of(first) != root_of(held)) {
            sum.add(bounds::linked(model, &linked), variance(model, &linked));
            linked.clear();
        }
        sum.expected += expected_in_leaf(model, postings, &mut words);
        if held.is_linked(model) {
            linked.push(held.clone());
        } else {
            sum.add(bounds::of_leaf(model, held), variance(model, std::slice::from_ref(held)));
        }
    });
    sum.add(bounds::linked(model, &linked), variance(model, &linked));
    let Sum { lower, upper, expected, variance } = sum;
    Estimate { lower, upper, expected: expected.clamp(lower as f64, upper as f64), deviation: variance.sqrt() }
}

/// What is known so far.
#[derive(Default)]
struct Sum {
    lower: u64,
    upper: u64,
    expected: f64,
    variance: f64,
}

impl Sum {
    fn add(&mut self, (lower, upper): (u64, u64), variance: f64) {
        self.lower += lower;
        // Bounds cross only if no dataset has the release; a cluster that says so is not believed either way.
        self.upper += upper.max(lower);
        self.variance += variance;
    }
}

/// The mean support of `itemset` over all placements: the part of [`estimate`] that costs least.
pub fn expectation(model: &Model, itemset: &[TermId]) -> f64 {
    if itemset.is_empty() {
        return model.release.header.records as f64;
    }
    let (mut expected, mut words) = (0.0, Vec::new());
    for_each_leaf(model, itemset, |postings| expected += expected_in_leaf(model, postings, &mut words));
    expected
}

/// The expected number of records of one leaf that hold all terms of these postings. `words` is room to work in.
fn expected_in_leaf(model: &Model, postings: &[Posting], words: &mut Vec<u64>) -> f64 {
    let leaf = postings[0].leaf;
    let size = model.leaves[leaf as usize].size() as f64;
    let mut expected = size;
    for (i, posting) in postings.iter().enumerate() {
        if posting.bag == TERM_CHUNK {
            expected *= model.multiplicity_in(leaf).0 / size;
            continue;
        }
        if postings[..i].iter().any(|before| before.bag == posting.bag) {
            continue;
        }
        let mut same = postings[i + 1..].iter().filter(|after| after.bag == posting.bag).peekable();
        let mut mask = model.mask(posting.bag, posting.mask);
        if same.peek().is_some() {
            words.clear();
            words.extend_from_slice(mask);
            for other in same {
                let other = model.mask(other.bag, other.mask);
                words.iter_mut().zip(other).for_each(|(word, other)| *word &= other);
            }
            mask = words;
        }
        expected *= model.marginal(&model.bags[posting.bag as usize], leaf, mask);
    }
    expected
}

/// How one leaf may hold an itemset: the itemset's parts in each of the chunks that own its terms there.
#[derive(Clone, Default)]
pub(super) struct Held {
    pub(super) leaf: u32,
    pub(super) groups: Vec<Group>,
    /// How many of the terms are in the leaf's term chunk.
    pub(super) in_term_chunk: u32,
    /// The bag that owns each term, in the itemset's order.
    pub(super) owners: Vec<u32>,
    words: Vec<u64>,
}

/// The part of an itemset that one bag owns.
#[derive(Clone, Copy)]
pub(super) struct Group {
    pub(super) bag: u32,
    /// Where the mask of the subrecords with all of the part begins and ends in `words`.
    start: u32,
    end: u32,
}

impl Held {
    pub(super) fn mask(&self, group: &Group) -> &[u64] {
        &self.words[group.start as usize..group.end as usize]
    }

    /// Whether a shared chunk takes part, so that leaves depend on each other.
    pub(super) fn is_linked(&self, model: &Model) -> bool {
        self.shared(model).next().is_some()
    }

    /// The parts in shared chunks.
    pub(super) fn shared<'h>(&'h self, model: &Model) -> impl Iterator<Item = &'h Group> {
        let own = model.leaves[self.leaf as usize].bags.clone();
        self.groups.iter().filter(move |group| !own.contains(&group.bag))
    }

    /// The parts in the leaf's record chunks, with the number of subrecords that contain them.
    pub(super) fn own<'h>(&'h self, model: &Model) -> impl Iterator<Item = (&'h Group, u64)> + Clone {
        let own = model.leaves[self.leaf as usize].bags.clone();
        let groups = self.groups.iter().filter(move |group| own.contains(&group.bag));
        groups.map(|group| (group, super::model::popcount(self.mask(group))))
    }

    fn fill(&mut self, model: &Model, postings: &[Posting]) {
        self.leaf = postings[0].leaf;
        self.groups.clear();
        self.owners.clear();
        self.words.clear();
        self.in_term_chunk = 0;
        postings.iter().for_each(|posting| self.take(model, posting));
    }

    fn take(&mut self, model: &Model, posting: &Posting) {
        self.owners.push(posting.bag);
        if posting.bag == TERM_CHUNK {
            self.in_term_chunk += 1;
            return;
        }
        let mask = model.mask(posting.bag, posting.mask);
        match self.groups.iter().find(|group| group.bag == posting.bag) {
            Some(group) => {
                let words = &mut self.words[group.start as usize..group.end as usize];
                words.iter_mut().zip(mask).for_each(|(word, mask)| *word &= mask);
            }
            None => {
                let start = self.words.len() as u32;
                self.words.extend_from_slice(mask);
                self.groups.push(Group { bag: posting.bag, start, end: self.words.len() as u32 });
            }
        }
    }
}

/// Calls `visit` for every leaf that owns all terms of the itemset, ascending, with one posting a term.
fn for_each_leaf(model: &Model, itemset: &[TermId], mut visit: impl FnMut(&[Posting])) {
    let mut lists: Vec<&[Posting]> = itemset.iter().map(|&term| model.postings(term)).collect();
    let Some(rarest) = lists.iter().copied().min_by_key(|list| list.len()) else { return };
    let mut here = Vec::with_capacity(itemset.len());
    'leaves: for posting in rarest {
        here.clear();
        for list in &mut lists {
            *list = advance(list, posting.leaf);
            match list.first() {
                Some(found) if found.leaf == posting.leaf => here.push(*found),
                _ => continue 'leaves,
            }
        }
        visit(&here);
    }
}

/// What is left of a list from `leaf` on: a search in steps that double.
fn advance(list: &[Posting], leaf: u32) -> &[Posting] {
    let mut step = 1;
    while step < list.len() && list[step - 1].leaf < leaf {
        step *= 2;
    }
    let start = step / 2;
    let end = step.min(list.len());
    &list[start + list[start..end].partition_point(|posting| posting.leaf < leaf)..]
}
