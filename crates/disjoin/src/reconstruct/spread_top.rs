//! The K itemsets of the greatest expected support, straight from recoded transactions.
//!
//! A further term is one more factor of at most 1, and is shown by no more records: expected supports fall as itemsets grow, and what
//! is worse than the K-th best is not looked at.
//!
//! Paper:      terrovitis2012, section 7.1, for the expectation; the search is Eclat's (data/mine)
//! Promises:   exactly the first K itemsets by expected support (descending), length, terms (ascending); supports that agree to a
//!             millionth are equal
//! Cost:       for each itemset that is looked at a pass over the different records that show its groups, and one over the terms
//! Checked by: tests/it/recoded.rs, against all itemsets of random releases

use super::spread::Spread;
use super::to_a_millionth;
use crate::data::TermId;
use crate::inspect::itemsets::Best;
use crate::inspect::{Itemset, Mining};

/// The K itemsets that most records are expected to hold, best first; those that nobody can hold are left out.
pub fn top_spread(spread: &Spread<'_>, mining: &Mining<'_>) -> Vec<Itemset<f64>> {
    if mining.k == 0 || mining.min_length > mining.max_length {
        return Vec::new();
    }
    let all = |block: &super::spread::Postings<'_>| (0..block.block.bag.len() as u32).collect();
    let parts: Vec<Part> = spread.blocks.iter().map(|block| Part { records: all(block), likely: 1.0 }).collect();
    let mut search = Search { spread, mining: *mining, order: Vec::new(), best: Best::new(mining.k) };
    let n_terms = spread.blocks.first().map_or(0, |block| block.group_of.len());
    search.order = (0..n_terms as TermId).collect();
    // The most frequent first: the worst of the K best is soon what it will be at the end.
    let expected: Vec<f64> = search.expectations(&parts, 0);
    search.order.sort_by(|&a, &b| expected[b as usize].total_cmp(&expected[a as usize]).then(a.cmp(&b)));
    search.grow(0, &[], &parts);
    search.best.into_sorted()
}

/// The different records of a block that show the groups of an itemset, and how likely one has all of it.
struct Part {
    records: Vec<u32>,
    likely: f64,
}

struct Search<'a> {
    spread: &'a Spread<'a>,
    mining: Mining<'a>,
    /// The terms in the order in which they are tried.
    order: Vec<TermId>,
    best: Best<f64>,
}

impl Search<'_> {
    fn grow(&mut self, first: usize, itemset: &[TermId], parts: &[Part]) {
        self.mining.observer.check();
        let expected = self.expectations(parts, first);
        let candidates = (first..self.order.len()).zip(expected);
        let candidates: Vec<(usize, f64)> = candidates
            .map(|(at, expected)| (at, to_a_millionth(expected)))
            .filter(|of| self.may_enter(of.1, itemset.len() + 1))
            .collect();
        let with = |at: usize| -> Vec<TermId> { itemset.iter().copied().chain([self.order[at]]).collect() };
        let grown: Vec<(usize, f64, Vec<TermId>)> = candidates.into_iter().map(|(at, e)| (at, e, with(at))).collect();
        let length = itemset.len() + 1;
        if (self.mining.min_length..=self.mining.max_length).contains(&length) {
            for (_, expected, terms) in &grown {
                let mut terms = terms.clone();
                terms.sort_unstable();
                self.best.offer(*expected, &terms);
            }
        }
        if length >= self.mining.max_length {
            return;
        }
        for (at, expected, terms) in grown {
            if self.may_enter(expected, length + 1) {
                self.mining.observer.check();
                let parts = self.narrow(parts, self.order[at]);
                self.grow(at + 1, &terms, &parts);
            }
        }
    }

    /// Whether an itemset of so many terms or more could be among the best. Of those that are as good, the shorter ones are.
    fn may_enter(&self, expected: f64, length: usize) -> bool {
        let is_better = |worst: &Itemset<f64>| {
            expected > worst.support || (expected == worst.support && length <= worst.terms.len())
        };
        expected > 0.0 && self.best.worst().is_none_or(is_better)
    }

    /// The expected support of an itemset with each of the terms from the `first` on beside.
    fn expectations(&self, parts: &[Part], first: usize) -> Vec<f64> {
        let mut expected = vec![0.0; self.order.len() - first];
        for (part, postings) in parts.iter().zip(&self.spread.blocks) {
            let mut shown = vec![0_u64; postings.block.groups.len()];
            for &record in &part.records {
                let count = u64::from(postings.block.bag.count(record as usize));
                postings.block.bag.items(record as usize).iter().for_each(|&item| shown[item as usize] += count);
            }
            for (sum, &term) in expected.iter_mut().zip(&self.order[first..]) {
                if let Some(group) = postings.group_of[term as usize] {
                    let size = postings.block.groups[group as usize].len();
                    *sum += shown[group as usize] as f64 * part.likely / size as f64;
                }
            }
        }
        expected
    }

    /// The same records as far as they show the group of a further term.
    fn narrow(&self, parts: &[Part], term: TermId) -> Vec<Part> {
        let narrowed = parts.iter().zip(&self.spread.blocks).map(|(part, postings)| {
            let Some(group) = postings.group_of[term as usize] else {
                return Part { records: Vec::new(), likely: 0.0 };
            };
            let shows = |&record: &u32| postings.block.bag.items(record as usize).binary_search(&group).is_ok();
            let size = postings.block.groups[group as usize].len();
            Part { records: part.records.iter().copied().filter(shows).collect(), likely: part.likely / size as f64 }
        });
        narrowed.collect()
    }
}
