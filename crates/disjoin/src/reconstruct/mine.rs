//! The K itemsets of the greatest expected support, straight from a release.
//!
//! Expected supports fall as itemsets grow, because each further term is one more factor of at most 1. So itemsets are tried
//! length by length, each only if all of its parts were good enough. A pass over the leaves counts many candidates of
//! a length: in a leaf that may hold few terms, few of them are looked at. Those with the best parts come first, as what
//! they reach often rules the others out.
//!
//! Paper:      agrawal1994 for the candidates; terrovitis2012 mines reconstructions instead
//! Promises:   exactly the first K itemsets by expected support (descending), length, terms (ascending); supports that
//!             agree to a millionth are equal
//! Cost:       a few passes over the release for each length of itemsets
//! Checked by: tests/it/estimate.rs, against all itemsets of random releases

use std::collections::HashMap;

use super::level::level_expectations;
use super::model::{Bag, Model, TERM_CHUNK};
use super::pairs::pair_expectations_since;
use crate::data::TermId;
use crate::error::{Error, Place, Result};
use crate::inspect::itemsets::Best;
use crate::inspect::{Itemset, Mining};

/// More candidates of one length than this are not tried. It can only happen if short itemsets are not wanted.
const MANY: usize = 4_000_000;

/// Candidates that the first pass for a length counts at least: fewer would not be worth a pass.
const FEW: usize = 256;

/// An itemset as positions in the terms in question, ascending; with its expected support, or a bound of it.
type Candidate = (Vec<u32>, f64);

/// The K itemsets that most records are expected to hold, best first; those that nobody can hold are left out.
///
/// An error if only long itemsets are wanted, and too many could be among the best.
pub fn top_expected(model: &Model, mining: &Mining<'_>) -> Result<Vec<Itemset<f64>>> {
    if mining.k == 0 || mining.min_length > mining.max_length {
        return Ok(Vec::new());
    }
    if mining.min_length > 2 && longest(model) < mining.min_length {
        return Ok(Vec::new());
    }
    let singles: Vec<f64> = single_expectations(model).into_iter().map(to_a_millionth).collect();
    let mut terms: Vec<TermId> = (0..singles.len() as TermId).filter(|&t| singles[t as usize] > 0.0).collect();
    terms.sort_unstable_by(|&a, &b| singles[b as usize].total_cmp(&singles[a as usize]).then(a.cmp(&b)));

    if mining.max_length == 1 {
        let best = terms.iter().take(mining.k);
        return Ok(best.map(|&term| Itemset { terms: vec![term], support: singles[term as usize] }).collect());
    }

    // A first look at the itemsets of the most frequent terms tells which terms are worth a second one.
    let first = ((8 * mining.k) as f64).sqrt() as usize + 16;
    let (mut seen, mut n) = (0, terms.len().min(first));
    let mut search = Search::new(mining, &terms[..n], 0.0);
    terms.iter().take(mining.k).for_each(|&term| search.offer(singles[term as usize], vec![term]));
    let worth = |search: &Search| terms.partition_point(|&term| search.may_enter(singles[term as usize], 2));
    let mut pairs: Vec<Candidate> = Vec::new();
    loop {
        model.observer.check();
        check_pairs(model, n)?;
        search.terms = &terms[..n];
        pairs.extend(search.offer_pairs(&pair_expectations_since(model, search.terms, seen), seen));
        pairs.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        search.find_floor(model, &pairs)?;
        // If short itemsets are wanted, there are few to grow, and what the larger ones reach spares terms. Else it must
        // wait until the floor is as good as it gets.
        if mining.min_length <= 2 || worth(&search) <= n {
            search.grow(model, pairs.clone(), usize::MAX)?;
        }
        let worth = worth(&search);
        if worth <= n {
            return Ok(search.best.into_sorted());
        }
        (seen, n) = (n, worth);
    }
}

/// Refuses so many terms if each two of them are more than memory may hold.
fn check_pairs(model: &Model, n: usize) -> Result<()> {
    // A sum for each, and one that is being made.
    let asked = (n as u64).saturating_pow(2).saturating_mul(16);
    let place = || Place::file("the release");
    let what = format!("counting each two of {n} terms that are about as frequent");
    // The terms are really there: a table of some thousands of them is no more than any machine has.
    const SMALL: u64 = 10 << 20;
    model.observer.memory().check(asked, model.written.max(SMALL), place, &what)
}

/// No record can hold more terms than this: the longest subrecord of each chunk, and the whole term chunk.
fn longest(model: &Model) -> usize {
    let of_bag = |bag: &Bag| bag.chunk.subrecords().map(|(terms, _)| terms.len()).max().unwrap_or(0);
    let longest: Vec<usize> = model.bags.iter().map(of_bag).collect();
    let of_leaf = |leaf: u32| {
        let mut bags: Vec<u32> =
            model.owned(leaf).map(|(_, entry)| entry.bag).filter(|&bag| bag != TERM_CHUNK).collect();
        bags.sort_unstable();
        bags.dedup();
        let in_chunks: usize = bags.iter().map(|&bag| longest[bag as usize]).sum();
        in_chunks + model.leaves[leaf as usize].simple.term_chunk.len()
    };
    (0..model.leaves.len() as u32).map(of_leaf).max().unwrap_or(0)
}

/// Expected supports to a millionth: sums that differ by the order of their parts alone are equal.
pub(crate) fn to_a_millionth(expected: f64) -> f64 {
    (expected * 1e6).round() / 1e6
}

/// The expected support of every term. No placement matters: subrecords are somewhere.
fn single_expectations(model: &Model) -> Vec<f64> {
    let mut expected = vec![0.0; model.release.dictionary.len()];
    for bag in &model.bags {
        for (terms, count) in bag.chunk.subrecords() {
            terms.iter().for_each(|&term| expected[term as usize] += f64::from(count));
        }
    }
    for (leaf, id) in model.leaves.iter().zip(0..) {
        let (mean, _) = model.multiplicity_in(id);
        leaf.simple.term_chunk.iter().for_each(|&term| expected[term as usize] += mean);
    }
    expected
}

struct Search<'a> {
    mining: Mining<'a>,
    /// The terms in question, by falling expectation. Itemsets are positions in it until they are offered.
    terms: &'a [TermId],
    best: Best<f64>,
    /// A support that the K-th best is known to have.
    floor: f64,
    /// Itemsets of three terms or more that have been counted, and offered.
    known: HashMap<Vec<u32>, f64>,
}

impl<'a> Search<'a> {
    fn new(mining: &Mining<'a>, terms: &'a [TermId], floor: f64) -> Self {
        Search { mining: *mining, terms, best: Best::new(mining.k), floor, known: HashMap::new() }
    }

    fn allows(&self, i: u32, j: u32) -> bool {
        let (a, b) = (self.terms[i as usize], self.terms[j as usize]);
        self.mining.excludes.is_none_or(|excludes| !excludes(a, b) && !excludes(b, a))
    }

    /// Whether an itemset of so many terms or more could be among the best. Of those that are as good, the shorter ones are.
    fn may_enter(&self, support: f64, length: usize) -> bool {
        let is_better =
            |worst: &Itemset<f64>| support > worst.support || (support == worst.support && length <= worst.terms.len());
        support > 0.0 && support >= self.floor && self.best.worst().is_none_or(is_better)
    }

    fn offer(&mut self, support: f64, mut terms: Vec<TermId>) {
        if support > 0.0 && (self.mining.min_length..=self.mining.max_length).contains(&terms.len()) {
            terms.sort_unstable();
            self.best.offer(support, &terms);
        }
    }

    /// Offers the pairs with one of the terms from the `seen`-th on; returns those that may grow.
    fn offer_pairs(&mut self, expected: &[f64], seen: usize) -> Vec<Candidate> {
        let n = self.terms.len() as u32;
        let mut pairs = Vec::new();
        for (i, j) in (0..n).flat_map(|i| ((i + 1).max(seen as u32)..n).map(move |j| (i, j))) {
            let support = to_a_millionth(expected[i as usize * n as usize + j as usize]);
            if self.may_enter(support, 2) && self.allows(i, j) {
                self.offer(support, vec![self.terms[i as usize], self.terms[j as usize]]);
                pairs.push((vec![i, j], support));
            }
        }
        pairs
    }

    /// If short itemsets are not wanted, nothing tells how good a pair must be. A quick search that goes on with the best
    /// of each length alone finds some itemsets that are wanted; the K-th best of all is as good as theirs.
    fn find_floor(&mut self, model: &Model, pairs: &[Candidate]) -> Result<()> {
        if self.mining.min_length > 2 {
            let mut quick = Search::new(&self.mining, self.terms, self.floor);
            quick.grow(model, pairs.to_vec(), 4 * self.mining.k.max(256))?;
            self.floor = self.floor.max(quick.best.worst().map_or(0.0, |worst| worst.support));
        }
        Ok(())
    }

    /// Tries itemsets of three terms, of four, and so on, given those of two in ascending order; goes on with the best of
    /// each length, `width` of them.
    fn grow(&mut self, model: &Model, mut sets: Vec<Candidate>, width: usize) -> Result<()> {
        for length in 3..=self.mining.max_length {
            sets.retain(|(_, support)| self.may_enter(*support, length));
            if sets.len() > width {
                sets.select_nth_unstable_by(width, |a, b| b.1.total_cmp(&a.1));
                sets.truncate(width);
                sets.sort_unstable_by(|a, b| a.0.cmp(&b.0));
            }
            let candidates = self.candidates(model, &sets)?;
            if candidates.is_empty() {
                break;
            }
            debug_assert!(candidates.iter().all(|(set, _)| set.len() == length));
            sets = self.count(model, candidates);
        }
        Ok(())
    }

    /// Counts and offers candidates of one length; returns them in ascending order with their supports, without those that
    /// turned out not to be worth it.
    fn count(&mut self, model: &Model, candidates: Vec<Candidate>) -> Vec<Candidate> {
        let (mut counted, mut open) = (Vec::new(), Vec::new());
        for (set, bound) in candidates {
            match self.known.get(&set) {
                Some(&support) => counted.push((set, support)),
                None => open.push((set, bound)),
            }
        }
        open.sort_by(|a, b| b.1.total_cmp(&a.1));
        let mut at_a_time = self.mining.k.max(FEW);
        loop {
            open.truncate(open.partition_point(|(set, bound)| self.may_enter(*bound, set.len())));
            if open.is_empty() {
                break;
            }
            model.observer.check();
            let mut sets: Vec<Vec<u32>> = open.drain(..open.len().min(at_a_time)).map(|(set, _)| set).collect();
            sets.sort_unstable();
            let expected = level_expectations(model, self.terms, &sets);
            for (set, support) in sets.into_iter().zip(expected.into_iter().map(to_a_millionth)) {
                self.offer(support, set.iter().map(|&i| self.terms[i as usize]).collect());
                self.known.insert(set.clone(), support);
                counted.push((set, support));
            }
            at_a_time = at_a_time.saturating_mul(2);
        }
        counted.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        counted
    }

    /// Itemsets one longer than `sets`, ascending, all parts of which are among them; with the least support of the parts.
    fn candidates(&self, model: &Model, sets: &[Candidate]) -> Result<Vec<Candidate>> {
        let good: HashMap<&[u32], f64> = sets.iter().map(|(set, support)| (&set[..], *support)).collect();
        let mut candidates = Vec::new();
        for with_same_start in sets.chunk_by(|a, b| a.0[..a.0.len() - 1] == b.0[..b.0.len() - 1]) {
            for (i, (set, support)) in with_same_start.iter().enumerate() {
                model.observer.check();
                for (other, of_other) in &with_same_start[i + 1..] {
                    let mut joined = set.clone();
                    joined.push(other[other.len() - 1]);
                    let support_without = |left_out: usize| {
                        let mut part = joined.clone();
                        part.remove(left_out);
                        good.get(&part[..]).copied()
                    };
                    let least =
                        |least: f64, left_out: usize| support_without(left_out).map(|support| least.min(support));
                    if let Some(bound) = (0..joined.len() - 2).try_fold(support.min(*of_other), least) {
                        candidates.push((joined, bound));
                    }
                    if candidates.len() > MANY {
                        let problem = String::from("too many itemsets could be among the best of so many terms");
                        return Err(Error::Infeasible {
                            problem,
                            hint: String::from("ask for shorter ones, or fewer"),
                        });
                    }
                }
            }
        }
        Ok(candidates)
    }
}
