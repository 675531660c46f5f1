//! What may a cluster have been, for somebody who knows how it was cut?
//!
//! Vertical partitioning tries terms by falling support and lets a term into the first chunk that stays k^m-anonymous. So a
//! term of a later chunk was refused by every earlier one: with some of the terms that it was tried with, it is in at least
//! one record and in fewer than k. Possible originals in which a refused term would have been let in are not possible for
//! somebody who knows this (reading I1). An itemset across chunks that no remaining original holds k times, though some
//! hold it, is a *breach*: an adversary who knows that a person has it has fewer than k candidates.
//!
//! A cluster may also have been cut by a rule that refuses nothing (`weighed.rs`). Then little is left to decide.
//!
//! [`analyse`] decides this for every itemset of a cluster: by what refusals between two chunks leave possible, which proves
//! breaches, by worlds that are found, which prove that there is none, and by a complete search for what is left.
//!
//! Paper:      barakat2016 for the cover problem; the analysis is ours
//! Promises:   breaches are breaches, safe itemsets are safe; what could not be decided is told
//! Assumes:    clusters of up to 1024 records; larger ones are left open
//! Departs:    from ALGORITHMS.md B.4: nothing is enumerated unless the quick ways fail, and sampling is not needed
//! Cost:       a few steps of a walk for each itemset of at most m terms across chunks
//! Checked by: tests/it/aware.rs, against all worlds of small clusters

mod bits;
mod closure;
mod cut;
mod exact;
mod pair;
mod search;
mod weighed;
mod world;

use std::collections::HashMap;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::data::TermId;
use crate::observer::Observer;
use crate::release::CutRule;
use closure::Closed;
use exact::{Answer, can_hold};
use pair::{Shares, is_refuted, reasons_left};
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
    /// What everybody who has it has as well, ascending.
    pub learned: Vec<TermId>,
    /// Whether a single refusal shows it.
    pub by_closure: bool,
}

impl Breach {
    fn new(cut: &Cut, itemset: &[u32], by_closure: bool, learned: &mut Learned) -> Self {
        Breach { terms: names(cut, itemset), learned: learned.from(cut, itemset), by_closure }
    }
}

/// What whoever has some terms of a chunk has as well, as far as it was asked for.
#[derive(Default)]
struct Learned(HashMap<Vec<u32>, Vec<u32>>);

impl Learned {
    /// Whoever has a part of the itemset in a chunk has what all subrecords with that part have.
    fn from(&mut self, cut: &Cut, itemset: &[u32]) -> Vec<TermId> {
        let mut learned = Vec::new();
        for (i, &first) in itemset.iter().enumerate() {
            let chunk = cut.chunk_of[first as usize];
            let is_here = |term: &u32| cut.chunk_of[*term as usize] == chunk;
            if itemset[..i].iter().any(is_here) {
                continue;
            }
            let part: Vec<u32> = itemset.iter().copied().filter(is_here).collect();
            let chunk = &cut.chunks[chunk as usize];
            let from_part = self.0.entry(part).or_insert_with_key(|part| {
                let mut rows = chunk.rows.iter().filter(|(terms, _)| part.iter().all(|term| terms.contains(term)));
                let mut common = rows.next().map_or_else(|| chunk.terms.clone(), |(terms, _)| terms.clone());
                rows.for_each(|(terms, _)| common.retain(|term| terms.contains(term)));
                common.retain(|term| !part.contains(term));
                common
            });
            learned.extend_from_slice(from_part);
        }
        names(cut, &learned)
    }
}

/// For the first world, which all others start from.
const FIRST: Effort = Effort { walks: 8, steps: 1_000 };
const FIRST_AGAIN: Effort = Effort { walks: 10, steps: 2_000 };

/// For each itemset: at first, and once more with more patience.
const QUICK: Effort = Effort { walks: 3, steps: 24 };
const PATIENT: Effort = Effort { walks: 8, steps: 400 };

/// A cluster with so many itemsets is left open. With m = 2 it would have hundreds of frequent terms.
const MANY: usize = 200_000;

/// So is one in which they are not found by so many looks at a row.
const LOOKS: u64 = 20_000_000;

/// A set of more terms has more parts than there may be itemsets.
const LONG: usize = 40;

/// So is one with so many refusals: thousands of chunks.
const REFUSALS: u64 = 10_000_000;

/// So is one with so many terms of different rows: how often each two meet is kept.
const TERMS: usize = 2_048;

/// Steps of a first attempt at a complete search.
const SHORT: u64 = 3_000;

/// Decides for every itemset of at most m terms across chunks whether some possible original, cut as published, holds it k
/// times. `steps` bounds the complete search for each; with 0, what is not found quickly is left open.
pub fn analyse(cut: &Cut, steps: u64, observer: &dyn Observer) -> Analysis {
    observer.check();
    if !cut.is_possible() {
        return Analysis { itemsets: 1, contradiction: true, ..Analysis::default() };
    }
    if cut.n_refusals() > REFUSALS {
        return left_open(cut);
    }
    if cut.rule == CutRule::Weighed {
        return weighed::analyse(cut);
    }
    match cut.size {
        0..=64 => analyse_with::<1>(cut, steps, observer),
        65..=128 => analyse_with::<2>(cut, steps, observer),
        129..=256 => analyse_with::<4>(cut, steps, observer),
        257..=1024 => analyse_with::<16>(cut, steps, observer),
        _ => left_open(cut),
    }
}

/// Nothing was decided: it would take too long.
fn left_open(cut: &Cut) -> Analysis {
    let mut pairs = itemsets(cut, 2).sets;
    if pairs.is_empty() {
        // None was found in time; there is one if there are two chunks.
        let other = cut.chunk_of.iter().position(|&chunk| chunk != cut.chunk_of[0]);
        pairs.extend(other.map(|other| vec![0, other as u32]));
    }
    let open = pairs.iter().map(|pair| names(cut, pair)).collect();
    Analysis { itemsets: pairs.len() as u64, open, ..Analysis::default() }
}

/// The pairs that the closure of single refusals finds.
pub fn closed_pairs(cut: &Cut) -> Vec<Breach> {
    // By the other rule no term of a record chunk was refused.
    if cut.rule == CutRule::Weighed || !cut.is_possible() || cut.n_refusals() > REFUSALS {
        return Vec::new();
    }
    let closed = match cut.size {
        0..=64 => closure::closed_pairs::<1>(cut),
        65..=128 => closure::closed_pairs::<2>(cut),
        129..=256 => closure::closed_pairs::<4>(cut),
        257..=1024 => closure::closed_pairs::<16>(cut),
        _ => Vec::new(),
    };
    let mut learned = Learned::default();
    closed.into_iter().map(|pair| Breach::new(cut, &[pair.x, pair.y], true, &mut learned)).collect()
}

fn analyse_with<const W: usize>(cut: &Cut, steps: u64, observer: &dyn Observer) -> Analysis {
    let found = itemsets(cut, cut.m);
    if !found.are_all() {
        return left_open(cut);
    }
    let all = found.sets;
    let (merged, merged_into) = cut.merged();
    if merged.terms.len() > TERMS {
        return left_open(cut);
    }
    let mut analysis = Analysis { itemsets: all.len() as u64, ..Analysis::default() };
    if all.is_empty() {
        return analysis;
    }
    // Terms in the same rows of a chunk are as good as one term, and most questions are asked once only.
    let Some(verdicts) = decide::<W>(&merged, steps, observer) else {
        analysis.contradiction = true;
        return analysis;
    };
    let (mut question, mut learned) = (Vec::new(), Learned::default());
    for itemset in &all {
        question.clear();
        question.extend(itemset.iter().map(|&term| merged_into[term as usize]));
        question.sort_unstable();
        question.dedup();
        match verdicts.get(&question) {
            Some(Verdict::Safe) => {}
            Some(&Verdict::Breach { by_closure }) => {
                analysis.breaches.push(Breach::new(cut, itemset, by_closure, &mut learned));
            }
            Some(Verdict::Open) | None => analysis.open.push(names(cut, itemset)),
        }
    }
    analysis.breaches.sort_unstable_by(|a, b| a.terms.cmp(&b.terms));
    analysis.open.sort_unstable();
    analysis
}

/// What is known about an itemset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// Some possible original holds it k times, or none holds it.
    Safe,
    Breach {
        by_closure: bool,
    },
    Open,
}

type Verdicts = HashMap<Vec<u32>, Verdict>;

/// The verdict on every itemset of a cluster without terms in the same rows; none if no original is cut as published.
fn decide<const W: usize>(cut: &Cut, steps: u64, observer: &dyn Observer) -> Option<Verdicts> {
    // Any seed does: worlds that are found are proofs. A fixed one gives the same answer to everybody.
    let mut rng = ChaCha8Rng::seed_from_u64(u64::from(cut.size));
    let mut prover =
        Prover { cut, steps, world: World::<W>::new(cut), shares: Shares::new(cut), rng: &mut rng, observer };
    let all = itemsets(cut, cut.m).sets;
    match prover.find_first() {
        Answer::Yes => {}
        Answer::No => return None,
        Answer::Open => return Some(all.into_iter().map(|itemset| (itemset, Verdict::Open)).collect()),
    }
    let verdicts = all.iter().map(|itemset| (itemset.clone(), Verdict::Safe)).collect();
    let mut questions = Questions { k: cut.k, left: all, few: Vec::new(), verdicts };
    questions.show(&prover.world);
    let closed = closure::closed_pairs::<W>(cut);
    let Questions { left, few, .. } = &mut questions;
    left.retain(|itemset| {
        observer.check();
        let by_closure = holds_any(itemset, &closed);
        let is_few = by_closure || prover.is_refuted(itemset, cut.k);
        if is_few {
            few.push((itemset.clone(), Verdict::Breach { by_closure }));
        }
        !is_few
    });
    questions.show(&prover.world);
    while let Some(itemset) = questions.left.pop() {
        observer.check();
        let verdict = match prover.can_hold(&itemset, cut.k, |world| questions.show(world)) {
            Answer::Yes => continue,
            Answer::No => Verdict::Breach { by_closure: false },
            Answer::Open => Verdict::Open,
        };
        questions.few.push((itemset, verdict));
        questions.show(&prover.world);
    }
    while let Some((itemset, verdict)) = questions.few.pop() {
        observer.check();
        // If nobody can have it, nobody is given away.
        let can_be_held = match prover.is_refuted(&itemset, 1) {
            true => Answer::No,
            false => prover.can_hold(&itemset, 1, |world| questions.show(world)),
        };
        match can_be_held {
            Answer::Yes => questions.verdicts.insert(itemset, verdict),
            Answer::Open => questions.verdicts.insert(itemset, Verdict::Open),
            Answer::No => continue,
        };
    }
    Some(questions.verdicts)
}

/// What is still to be found out about the itemsets of a cluster.
struct Questions {
    k: u32,
    /// Those that may be held k times.
    left: Vec<Vec<u32>>,
    /// Those that are not, with the verdict if somebody can have them.
    few: Vec<(Vec<u32>, Verdict)>,
    verdicts: Verdicts,
}

impl Questions {
    /// A world that holds an itemset holds others as well: one answers many questions.
    fn show<const W: usize>(&mut self, world: &World<'_, W>) {
        self.left.retain(|itemset| world.support(itemset) < self.k);
        self.few.retain(|(itemset, verdict)| {
            let is_held = world.support(itemset) > 0;
            if is_held {
                self.verdicts.insert(itemset.clone(), *verdict);
            }
            !is_held
        });
    }
}

/// Whether some pair is in the itemset.
fn holds_any(itemset: &[u32], pairs: &[Closed]) -> bool {
    let is_closed = |x: u32, y: u32| pairs.binary_search(&Closed { x, y }).is_ok();
    itemset.iter().enumerate().any(|(i, &a)| itemset[..i].iter().any(|&b| is_closed(a, b) || is_closed(b, a)))
}

/// Finds out, by all ways in turn, what possible originals can hold.
struct Prover<'c, const W: usize> {
    cut: &'c Cut,
    steps: u64,
    /// A possible original, once one has been found.
    world: World<'c, W>,
    shares: Shares,
    rng: &'c mut ChaCha8Rng,
    observer: &'c dyn Observer,
}

impl<const W: usize> Prover<'_, W> {
    fn find_first(&mut self) -> Answer {
        let nothing = Wanted { terms: &[], times: 0 };
        if search(self.cut, nothing, &mut self.world, FIRST, self.rng, self.observer) {
            self.world.keep();
            return Answer::Yes;
        }
        if self.steps > 0 && can_hold(self.cut, nothing, self.steps, self.observer) == Answer::No {
            return Answer::No;
        }
        // Without a world the whole cluster is left open, so it is worth some more.
        if self.steps > 0 && search(self.cut, nothing, &mut self.world, FIRST_AGAIN, self.rng, self.observer) {
            self.world.keep();
            return Answer::Yes;
        }
        Answer::Open
    }

    /// Whether two chunks alone show that no possible original holds an itemset so often.
    fn is_refuted(&self, terms: &[u32], times: u32) -> bool {
        self.cut.m == 2 && is_refuted(self.cut, &self.shares, Wanted { terms, times })
    }

    /// Whether some possible original holds an itemset so often; shows it to `found` if it is at hand.
    fn can_hold(&mut self, terms: &[u32], times: u32, found: impl FnOnce(&World<'_, W>)) -> Answer {
        let wanted = Wanted { terms, times };
        if !search(self.cut, wanted, &mut self.world, QUICK, self.rng, self.observer) {
            let guide = match self.cut.m {
                2 => match reasons_left(self.cut, &self.shares, wanted) {
                    None => return Answer::No,
                    guide => guide,
                },
                _ => None,
            };
            if self.steps == 0 {
                return Answer::Open;
            }
            match can_hold(self.cut, wanted, self.steps.min(SHORT), self.observer) {
                Answer::Open => {}
                answer => return answer,
            }
            self.world.guide = guide;
            let is_found = search(self.cut, wanted, &mut self.world, PATIENT, self.rng, self.observer);
            self.world.guide = None;
            if !is_found {
                return can_hold(self.cut, wanted, self.steps, self.observer);
            }
        }
        found(&self.world);
        // Itemsets that come next are much alike: the walk to them is shorter from here than from where it began.
        self.world.keep();
        Answer::Yes
    }
}

/// Sets of terms across chunks.
struct Itemsets {
    sets: Vec<Vec<u32>>,
    /// How many looks at rows are left. If none is, there are more.
    looks: u64,
}

impl Itemsets {
    /// Whether there are no others.
    fn are_all(&self) -> bool {
        self.looks > 0 && self.sets.len() < MANY
    }

    fn grow(&mut self, cut: &Cut, m: u32, from: u32, itemset: &mut Vec<u32>) {
        for term in from..cut.terms.len() as u32 {
            // A set of so many terms has more parts than can be looked at.
            if self.looks == 0 || itemset.len() > LONG {
                self.looks = 0;
                return;
            }
            itemset.push(term);
            let chunk = cut.chunk_of[term as usize];
            let part: Vec<u32> = itemset.iter().copied().filter(|&t| cut.chunk_of[t as usize] == chunk).collect();
            let has_part = |(terms, _): &(Vec<u32>, u32)| {
                self.looks = self.looks.saturating_sub(1 + terms.len() as u64 / 16);
                part.iter().all(|t| terms.contains(t))
            };
            // A whole itemset in one chunk is not asked for.
            let is_whole = part.len() == m as usize;
            if part.len() == 1 || (!is_whole && cut.chunks[chunk as usize].rows.iter().any(has_part)) {
                if part.len() < itemset.len() {
                    self.sets.push(itemset.clone());
                }
                if itemset.len() < m as usize && self.sets.len() < MANY {
                    self.grow(cut, m, term + 1, itemset);
                }
            }
            itemset.pop();
        }
    }
}

/// The sets of at most `m` terms, two at least, that no chunk has whole, and whose part in every chunk somebody has; not many
/// more than [`MANY`] of them.
fn itemsets(cut: &Cut, m: u32) -> Itemsets {
    let mut found = Itemsets { sets: Vec::new(), looks: LOOKS };
    found.grow(cut, m, 0, &mut Vec::new());
    found
}

fn names(cut: &Cut, terms: &[u32]) -> Vec<TermId> {
    let mut names: Vec<TermId> = terms.iter().map(|&term| cut.terms[term as usize]).collect();
    names.sort_unstable();
    names
}
