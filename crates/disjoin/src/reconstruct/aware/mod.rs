//! What may a cluster have been, for somebody who knows how it was cut?
//!
//! Vertical partitioning tries terms by falling support and lets a term into the first chunk that stays k^m-anonymous. So a
//! term of a later chunk was refused by every earlier one: with some of the terms that it was tried with, it is in at least
//! one record and in fewer than k. Possible originals in which a refused term would have been let in are not possible for
//! somebody who knows this (reading I1). An itemset across chunks that no remaining original holds k times, though some
//! hold it, is a *breach*: whoever knows that a person has it has fewer than k candidates.
//!
//! A cluster may also have been cut by a rule that refuses nothing (`weighed.rs`). Then little is left to decide.
//!
//! [`analyse`] decides this for every itemset of a cluster: by the closure of single refusals, which proves breaches, by
//! worlds that are found, which prove that there is none, and by a complete search for what is left.
//!
//! Paper:      barakat2016 for the cover problem; the analysis is ours
//! Promises:   breaches are breaches, safe itemsets are safe; what could not be decided is told
//! Assumes:    clusters of up to 1024 records; larger ones are left open
//! Departs:    from ALGORITHMS.md B.4: nothing is enumerated unless the quick ways fail, and sampling is not needed
//! Cost:       a few steps of a walk for each itemset of at most m terms across chunks
//! Checked by: tests/aware.rs, against all worlds of small clusters

mod bits;
mod closure;
mod cut;
mod exact;
mod search;
mod weighed;
mod world;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::data::TermId;
use crate::release::CutRule;
use exact::{Answer, can_hold};
use search::{Effort, search};
use world::{Wanted, World};

pub use cut::{Cut, filled_by_terms};
pub use weighed::is_offered;

/// What is known about a cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Analysis {
    /// How many itemsets across chunks were looked at.
    pub itemsets: u64,
    /// Those that fewer than k records hold, whatever the original was, if it was cut as published.
    pub breaches: Vec<Breach>,
    /// Those that could not be decided, ascending.
    pub open: Vec<Vec<TermId>>,
    /// Whether no original is cut as published: the release was made in another way, or changed.
    pub contradiction: bool,
}

/// An itemset that gives people away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breach {
    /// The itemset, ascending.
    pub terms: Vec<TermId>,
    /// What whoever has it has as well, ascending.
    pub learned: Vec<TermId>,
    /// Whether a single refusal shows it.
    pub by_closure: bool,
}

impl Breach {
    /// Whoever has a part of the itemset in a chunk has what all subrecords with that part have.
    fn new(cut: &Cut, itemset: &[u32], by_closure: bool) -> Self {
        let mut learned = Vec::new();
        for (c, chunk) in (0..).zip(&cut.chunks) {
            let part: Vec<u32> = itemset.iter().copied().filter(|&term| cut.chunk_of[term as usize] == c).collect();
            let rows = || chunk.rows.iter().filter(|(terms, _)| part.iter().all(|term| terms.contains(term)));
            let is_learned = |term: &&u32| !part.contains(term) && rows().all(|(terms, _)| terms.contains(term));
            if !part.is_empty() {
                learned.extend(chunk.terms.iter().filter(is_learned));
            }
        }
        Breach { terms: names(cut, itemset), learned: names(cut, &learned), by_closure }
    }
}

/// For the first world, which all others start from.
const FIRST: Effort = Effort { walks: 20, steps: 200 };

/// For each itemset: at first, and once more with more patience.
const QUICK: Effort = Effort { walks: 3, steps: 24 };
const PATIENT: Effort = Effort { walks: 8, steps: 120 };

/// A cluster with so many itemsets is left open. With m = 2 it would have hundreds of frequent terms.
const MANY: usize = 200_000;

/// Steps of a first attempt at a complete search.
const SHORT: u64 = 3_000;

/// Decides for every itemset of at most m terms across chunks whether some possible original, cut as published, holds it k
/// times. `steps` bounds the complete search for each; with 0, what is not found quickly is left open.
pub fn analyse(cut: &Cut, steps: u64) -> Analysis {
    if cut.rule == CutRule::Weighed {
        return weighed::analyse(cut);
    }
    match cut.size {
        0..=64 => analyse_with::<1>(cut, steps),
        65..=128 => analyse_with::<2>(cut, steps),
        129..=256 => analyse_with::<4>(cut, steps),
        257..=1024 => analyse_with::<16>(cut, steps),
        _ => left_open(cut),
    }
}

/// Nothing was decided: it would take too long.
fn left_open(cut: &Cut) -> Analysis {
    let pairs = itemsets(cut, 2);
    let open = pairs.iter().map(|pair| names(cut, pair)).collect();
    Analysis { itemsets: pairs.len() as u64, open, ..Analysis::default() }
}

/// The pairs that the closure of single refusals finds.
pub fn closed_pairs(cut: &Cut) -> Vec<Breach> {
    if cut.rule == CutRule::Weighed {
        // No term of a record chunk was refused.
        return Vec::new();
    }
    let closed = match cut.size {
        0..=64 => closure::closed_pairs::<1>(cut),
        65..=128 => closure::closed_pairs::<2>(cut),
        129..=256 => closure::closed_pairs::<4>(cut),
        257..=1024 => closure::closed_pairs::<16>(cut),
        _ => Vec::new(),
    };
    closed.into_iter().map(|pair| Breach::new(cut, &[pair.x, pair.y], true)).collect()
}

fn analyse_with<const W: usize>(cut: &Cut, steps: u64) -> Analysis {
    let mut left = itemsets(cut, cut.m);
    if left.len() >= MANY {
        return left_open(cut);
    }
    let mut analysis = Analysis { itemsets: left.len() as u64, ..Analysis::default() };
    if left.is_empty() {
        return analysis;
    }
    // Any seed does: worlds that are found are proofs. A fixed one gives the same answer to everybody.
    let mut rng = ChaCha8Rng::seed_from_u64(u64::from(cut.size));
    let closed = closure::closed_pairs::<W>(cut);
    let mut prover = Prover { cut, steps, world: World::<W>::new(cut), rng: &mut rng };
    match prover.find_first() {
        Answer::Yes => {}
        Answer::No => {
            analysis.contradiction = true;
            return analysis;
        }
        Answer::Open => {
            analysis.open = left.iter().map(|itemset| names(cut, itemset)).collect();
            return analysis;
        }
    }
    left.retain(|itemset| prover.world.support(itemset) < cut.k);
    while let Some(itemset) = left.pop() {
        let by_closure = closed.iter().any(|pair| itemset.contains(&pair.x) && itemset.contains(&pair.y));
        // A world that holds it k times holds others as well.
        let found = |world: &World<'_, W>| left.retain(|other| world.support(other) < cut.k);
        let can_hide = if by_closure { Answer::No } else { prover.can_hold(&itemset, cut.k, found) };
        if can_hide == Answer::Yes {
            continue;
        }
        // If nobody can have it, nobody is given away.
        match (can_hide, prover.can_hold(&itemset, 1, |_| {})) {
            (_, Answer::No) => {}
            (Answer::No, Answer::Yes) => analysis.breaches.push(Breach::new(cut, &itemset, by_closure)),
            _ => analysis.open.push(names(cut, &itemset)),
        }
    }
    analysis.breaches.sort_unstable_by(|a, b| a.terms.cmp(&b.terms));
    analysis.open.sort_unstable();
    analysis
}

/// Finds out, by all ways in turn, what possible originals can hold.
struct Prover<'c, const W: usize> {
    cut: &'c Cut,
    steps: u64,
    /// A possible original, once one has been found.
    world: World<'c, W>,
    rng: &'c mut ChaCha8Rng,
}

impl<const W: usize> Prover<'_, W> {
    fn find_first(&mut self) -> Answer {
        let nothing = Wanted { terms: &[], times: 0 };
        if search(self.cut, nothing, &mut self.world, FIRST, self.rng) {
            self.world.keep();
            return Answer::Yes;
        }
        match can_hold(self.cut, nothing, self.steps) {
            Answer::No => Answer::No,
            // That there is one does not help as long as it is not at hand.
            _ => Answer::Open,
        }
    }

    /// Whether some possible original holds an itemset so often; shows it to `found` if it is at hand.
    fn can_hold(&mut self, terms: &[u32], times: u32, found: impl FnOnce(&World<'_, W>)) -> Answer {
        let wanted = Wanted { terms, times };
        let mut walk = |effort: Effort| search(self.cut, wanted, &mut self.world, effort, self.rng);
        let answer = match walk(QUICK) {
            true => Answer::Yes,
            false if self.steps == 0 => return Answer::Open,
            false => match can_hold(self.cut, wanted, self.steps.min(SHORT)) {
                Answer::Open if walk(PATIENT) => Answer::Yes,
                Answer::Open => return can_hold(self.cut, wanted, self.steps),
                answer => return answer,
            },
        };
        found(&self.world);
        self.world.revert();
        answer
    }
}

/// The sets of at most `m` terms, two at least, that no chunk has whole, and whose part in every chunk somebody has; not many
/// more than [`MANY`] of them.
fn itemsets(cut: &Cut, m: u32) -> Vec<Vec<u32>> {
    let mut found = Vec::new();
    let mut itemset = Vec::new();
    grow(cut, m, 0, &mut itemset, &mut found);
    found
}

fn grow(cut: &Cut, m: u32, from: u32, itemset: &mut Vec<u32>, found: &mut Vec<Vec<u32>>) {
    for term in from..cut.terms.len() as u32 {
        itemset.push(term);
        let chunk = cut.chunk_of[term as usize];
        let part: Vec<u32> = itemset.iter().copied().filter(|&t| cut.chunk_of[t as usize] == chunk).collect();
        let has_part = |(terms, _): &(Vec<u32>, u32)| part.iter().all(|t| terms.contains(t));
        if part.len() == 1 || cut.chunks[chunk as usize].rows.iter().any(has_part) {
            if part.len() < itemset.len() {
                found.push(itemset.clone());
            }
            if itemset.len() < m as usize && found.len() < MANY {
                grow(cut, m, term + 1, itemset, found);
            }
        }
        itemset.pop();
    }
}

fn names(cut: &Cut, terms: &[u32]) -> Vec<TermId> {
    let mut names: Vec<TermId> = terms.iter().map(|&term| cut.terms[term as usize]).collect();
    names.sort_unstable();
    names
}
