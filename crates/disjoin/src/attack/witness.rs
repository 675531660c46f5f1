//! Witnesses: datasets in which k records hold a set, and from which the guarded grouping makes the same release. For those who have the
//! original; no adversary does.
//!
//! The theorem of `protect/disassociation/guarded.rs` says that there is one for each set that it promises, and its proof how it is made: the
//! rows of a chunk, together with what the chunk refused, are assigned to other records of its range. Here they are exchanged between two
//! records at a time. From the simple cluster up, records that hold the part of the set that lies further down get rows with the next part,
//! until k hold all of it. No record is left empty in its range; where one would be, it gets a row of another chunk.
//!
//! Which chunk refused a term of a term chunk is not published. So rows are exchanged between records that agree in all such terms, which is
//! right whoever refused them; where there are none, with those terms that cannot be in the chunk without breaking k^m-anonymity.
//!
//! [`sampled`] draws sets that fewer than k records hold, for only these can be given away, makes witnesses, and has them protected again. A
//! witness proves that its set is not given away. A set without one is no finding: there may be another.
//!
//! Paper:      ours
//! Promises:   a set that counts as one with a witness has a dataset in which k records hold it, and which gives the same bytes
//! Assumes:    the original and its clusters. Many sets may be served by one dataset: exchanges of the same kind are of the same kind
//!             one after the other
//! Cost:       for each set the holders of the rarest term of each part; the program once for many sets, and again for those that others undid
//! Checked by: tests/it/guarded.rs, tests/it/rerun.rs

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::View;
use super::rerun::{Looked, Program, Reran};
use crate::data::{Dataset, RecordId, TermId, Transactions};
use crate::generate::stream;
use crate::release::{Chunk, Disassociated, Node};

/// Sets that are drawn if nobody says how many.
pub const WITNESSES: u64 = 1_000;

/// Sets that one dataset is to be a witness for.
const BATCH: usize = 250;

/// Sets that are drawn for each that is wanted: in dense data, few are rare.
const TRIES: u64 = 400;

/// Witnesses of random sets that fewer than k records hold.
pub fn sampled(view: &View<'_>, program: &Program<'_>, records: &Transactions, witnesses: u64) -> Reran {
    let release = view.release;
    let original = Dataset { dictionary: release.dictionary.clone(), records: records.clone() };
    let Some(leaf_of) = program(&original) else { return Reran::nothing(Looked::NotReproduced, 1) };
    let ground = Ground::new(release, records, &leaf_of);
    let (rare, frequent) = drawn(&ground, release.header.k, witnesses);
    let mut reran = Reran { originals: 1, runs: 1, ..Reran::nothing(Looked::Sampled, 1) };
    (reran.itemsets, reran.frequent) = (rare.len() as u64, frequent);
    let mut batches: Vec<Vec<Promised>> = rare.chunks(BATCH).map(<[Promised]>::to_vec).collect();
    while let Some(batch) = batches.pop() {
        view.observer.check();
        view.observer.progress(reran.with_witness as f64 / reran.itemsets as f64);
        let mut rng = stream(reran.runs, "attack/rerun", batch.len() as u64);
        let mut world = ground.world();
        batch.iter().for_each(|set| {
            world.hold(set, &mut rng);
        });
        let is_held = |set: &Promised| world.support(&set.terms) >= release.header.k;
        let (held, missed): (Vec<Promised>, Vec<Promised>) = batch.iter().cloned().partition(is_held);
        reran.runs += 1;
        if !held.is_empty() && program(&world.dataset()).is_some() {
            reran.with_witness += held.len() as u64;
            reran.originals += 1;
            // Some were undone by others.
            batches.extend((!missed.is_empty()).then_some(missed));
        } else if batch.len() > 1 {
            batches.extend(batch.chunks(batch.len().div_ceil(2)).map(<[Promised]>::to_vec));
        }
    }
    reran
}

/// Different sets that fewer than k records hold, as many as wanted or as are found; and how many others were met.
fn drawn(ground: &Ground<'_>, k: u32, wanted: u64) -> (Vec<Promised>, u64) {
    let mut rng = stream(0, "attack/rerun", 0);
    let (mut rare, mut frequent) = (Vec::new(), HashSet::new());
    let mut seen: HashSet<Promised> = HashSet::new();
    for _ in 0..wanted.saturating_mul(TRIES) {
        if rare.len() as u64 >= wanted {
            break;
        }
        let Some(set) = ground.draw(&mut rng) else { continue };
        if ground.support(&set.terms) >= k {
            frequent.insert(set.terms);
        } else if seen.insert(set.clone()) {
            rare.push(set);
        }
    }
    (rare, frequent.len() as u64)
}

/// A place of the release: a simple cluster, or a joint one.
struct Place<'r> {
    above: Option<usize>,
    leaves: Range<u32>,
    /// The chunk of each of its terms.
    chunk_of: HashMap<TermId, u32>,
    chunks: &'r [Chunk],
    listed: &'r [TermId],
}

/// A release with its original, from which witnesses are made.
pub struct Ground<'r> {
    release: &'r Disassociated,
    places: Vec<Place<'r>>,
    /// For each simple cluster its place and its records.
    leaves: Vec<(usize, Vec<RecordId>)>,
    records: Vec<Vec<TermId>>,
    leaf_of: Vec<u32>,
    /// For each term the records that hold it.
    holders: Vec<Vec<RecordId>>,
    k: u32,
    m: u32,
}

/// A set of terms of chunks that a record of a simple cluster holds.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Promised {
    /// The terms, ascending.
    pub terms: Vec<TermId>,
    /// The simple cluster.
    pub leaf: u32,
}

impl<'r> Ground<'r> {
    /// Lays out a release; `records` in its terms, `leaf_of` as the program assigned them.
    pub fn new(release: &'r Disassociated, records: &Transactions, leaf_of: &[u32]) -> Self {
        let mut ground = Ground {
            release,
            places: Vec::new(),
            leaves: Vec::new(),
            records: records.iter().map(<[TermId]>::to_vec).collect(),
            leaf_of: leaf_of.to_vec(),
            holders: vec![Vec::new(); release.dictionary.len()],
            k: release.header.k,
            m: release.header.m,
        };
        release.roots.iter().for_each(|root| ground.add(root, None));
        for (id, record) in (0..).zip(records.iter()) {
            record.iter().for_each(|&term| ground.holders[term as usize].push(id));
        }
        for (id, &leaf) in (0..).zip(leaf_of) {
            if let Some((_, records)) = ground.leaves.get_mut(leaf as usize) {
                records.push(id);
            }
        }
        ground
    }

    fn add(&mut self, node: &'r Node, above: Option<usize>) {
        let (id, first) = (self.places.len(), self.leaves.len() as u32);
        let (chunks, listed) = match node {
            Node::Simple(simple) => (&simple.record_chunks[..], &simple.term_chunk[..]),
            Node::Joint(joint) => (&joint.shared_chunks[..], &joint.term_chunk[..]),
        };
        let terms = (0..).zip(chunks).flat_map(|(i, chunk)| chunk.terms.iter().map(move |&term| (term, i)));
        let chunk_of = terms.collect();
        self.places.push(Place { above, leaves: first..first, chunk_of, chunks, listed });
        match node {
            Node::Simple(_) => self.leaves.push((id, Vec::new())),
            Node::Joint(joint) => joint.members.iter().for_each(|member| self.add(member, Some(id))),
        }
        self.places[id].leaves.end = self.leaves.len() as u32;
    }

    /// The place and the chunk that show a term of a simple cluster; none if it is in a term chunk.
    fn chunk_of(&self, leaf: u32, term: TermId) -> Option<(usize, u32)> {
        let mut place = Some(self.leaves.get(leaf as usize)?.0);
        while let Some(id) = place {
            let here = &self.places[id];
            if here.listed.binary_search(&term).is_ok() {
                return None;
            }
            if let Some(&chunk) = here.chunk_of.get(&term) {
                return Some((id, chunk));
            }
            place = here.above;
        }
        None
    }

    /// A random set of two to m terms of chunks that some record holds; none if this record has not as many.
    pub fn draw(&self, rng: &mut ChaCha8Rng) -> Option<Promised> {
        let record = rng.random_range(0..self.records.len());
        let leaf = self.leaf_of[record];
        let size = rng.random_range(self.m.min(2)..=self.m) as usize;
        let covered = |term: &TermId| self.chunk_of(leaf, *term).is_some();
        let mut terms: Vec<TermId> = self.records[record].iter().copied().filter(covered).collect();
        if terms.len() < size {
            return None;
        }
        terms.shuffle(rng);
        terms.truncate(size);
        terms.sort_unstable();
        Some(Promised { terms, leaf })
    }

    /// How many records hold a set, as far as k.
    pub fn support(&self, terms: &[TermId]) -> u32 {
        let holders = terms.iter().map(|&term| &self.holders[term as usize][..]).min_by_key(|holders| holders.len());
        let holds = |id: &&RecordId| is_part(terms, &self.records[**id as usize]);
        holders.unwrap_or(&[]).iter().filter(holds).take(self.k as usize).count() as u32
    }

    /// The original, to be changed into a witness.
    pub fn world(&self) -> World<'_, 'r> {
        let (kept, glued) = (HashMap::new(), HashMap::new());
        World { ground: self, records: self.records.clone(), moved: HashMap::new(), kept, glued }
    }
}

/// A dataset that is on its way from the original to a witness.
pub struct World<'g, 'r> {
    ground: &'g Ground<'r>,
    records: Vec<Vec<TermId>>,
    /// Records that got a term, those that lost it again among them.
    moved: HashMap<TermId, Vec<RecordId>>,
    /// For each place the terms of its term chunk that k of its records hold: some chunk may have refused them.
    kept: HashMap<usize, Vec<TermId>>,
    /// For each chunk those of them that do not fit into it.
    glued: HashMap<(usize, u32), Vec<TermId>>,
}

impl World<'_, '_> {
    /// Changes records until k hold a set; false if no way was found.
    pub fn hold(&mut self, set: &Promised, rng: &mut ChaCha8Rng) -> bool {
        let ground = self.ground;
        let mut parts: Vec<((usize, u32), Vec<TermId>)> = Vec::new();
        for &term in &set.terms {
            let Some(chunk) = ground.chunk_of(set.leaf, term) else { return false };
            match parts.iter_mut().find(|(other, _)| *other == chunk) {
                Some((_, part)) => part.push(term),
                None => parts.push((chunk, vec![term])),
            }
        }
        // From the cluster up: places are numbered from the root down.
        let n_holders = |part: &[TermId]| part.iter().map(|&term| ground.holders[term as usize].len()).min();
        parts.sort_by_key(|((place, _), part)| (std::cmp::Reverse(*place), n_holders(part)));
        let k = ground.k as usize;
        let mut held: Option<Vec<RecordId>> = None;
        for ((place, chunk), part) in parts {
            let here = self.holders_in(place, &part, rng);
            held = Some(match held {
                None => here,
                Some(held) => self.add_part((place, chunk), &part, &held, here, rng),
            });
        }
        held.is_some_and(|held| held.len() >= k)
    }

    /// Gives a part to records that hold the parts before, until k hold both.
    fn add_part(
        &mut self,
        chunk: (usize, u32),
        part: &[TermId],
        held: &[RecordId],
        donors: Vec<RecordId>,
        rng: &mut ChaCha8Rng,
    ) -> Vec<RecordId> {
        let (mut both, others): (Vec<RecordId>, Vec<RecordId>) =
            held.iter().partition(|&&id| is_part(part, &self.records[id as usize]));
        // Those that hold both are never taken from.
        let mut donors: Vec<RecordId> = donors.into_iter().filter(|donor| !both.contains(donor)).collect();
        for to in others {
            if both.len() >= self.ground.k as usize {
                break;
            }
            if let Some(at) = self.find_donor(chunk, to, &donors, &both, rng) {
                donors.swap_remove(at);
                both.push(to);
            }
        }
        both
    }

    /// Exchanges the rows of a chunk between a record and one that it fits; which of the donors that was.
    fn find_donor(
        &mut self,
        chunk: (usize, u32),
        to: RecordId,
        donors: &[RecordId],
        both: &[RecordId],
        rng: &mut ChaCha8Rng,
    ) -> Option<usize> {
        for may_leave_empty in [false, true] {
            for is_glued in [false, true] {
                for (at, &from) in donors.iter().enumerate() {
                    let Some(terms) = self.exchanged(chunk, to, from, is_glued) else { continue };
                    let is_left = self.is_left(chunk.0, from, to, &terms);
                    if !is_left && !may_leave_empty {
                        continue;
                    }
                    self.exchange(to, from, &terms);
                    if is_left || self.refill(chunk.0, from, &[both, &[to]].concat(), rng) {
                        return Some(at);
                    }
                    self.exchange(to, from, &terms);
                }
            }
        }
        None
    }

    /// The terms that go with the rows of a chunk, if two records may exchange them; without glue they have to agree in all terms that a
    /// chunk of the place may have refused.
    fn exchanged(&mut self, chunk: (usize, u32), a: RecordId, b: RecordId, is_glued: bool) -> Option<Vec<TermId>> {
        let ground = self.ground;
        let mut terms = ground.places[chunk.0].chunks[chunk.1 as usize].terms.clone();
        let kept = self.kept_at(chunk.0);
        let [a, b] = [a, b].map(|id| &self.records[id as usize]);
        let agree = kept.iter().all(|term| a.binary_search(term).is_ok() == b.binary_search(term).is_ok());
        match (agree, is_glued) {
            (true, _) => {}
            (false, false) => return None,
            (false, true) => {
                terms.extend(self.glued_to(chunk));
                terms.sort_unstable();
            }
        }
        Some(terms)
    }

    /// Whether a record still holds something of its range once it has the other's rows for its own.
    fn is_left(&self, place: usize, from: RecordId, to: RecordId, terms: &[TermId]) -> bool {
        let is_exchanged = |term: &&TermId| terms.binary_search(term).is_ok();
        let keeps = |term: &&TermId| !is_exchanged(term) && !self.is_above(place, **term);
        self.records[from as usize].iter().any(|term| keeps(&term))
            || self.records[to as usize].iter().any(|term| is_exchanged(&term))
    }

    /// Whether a term is published further up, so that it is none of the range's.
    fn is_above(&self, place: usize, term: TermId) -> bool {
        let mut above = self.ground.places[place].above;
        while let Some(id) = above {
            let here = &self.ground.places[id];
            if here.chunk_of.contains_key(&term) || here.listed.binary_search(&term).is_ok() {
                return true;
            }
            above = here.above;
        }
        false
    }

    fn exchange(&mut self, a: RecordId, b: RecordId, terms: &[TermId]) {
        let is_exchanged = |term: &TermId| terms.binary_search(term).is_ok();
        let (from_a, left_a): (Vec<TermId>, Vec<TermId>) =
            self.records[a as usize].iter().partition(|term| is_exchanged(term));
        let (from_b, left_b): (Vec<TermId>, Vec<TermId>) =
            self.records[b as usize].iter().partition(|term| is_exchanged(term));
        for (id, mut left, new) in [(a, left_a, from_b), (b, left_b, from_a)] {
            new.iter().for_each(|&term| self.moved.entry(term).or_default().push(id));
            left.extend(new);
            left.sort_unstable();
            self.records[id as usize] = left;
        }
    }

    /// Gives an empty record rows of some chunk of the place, from a record that can do without and is none of `fixed`.
    fn refill(&mut self, place: usize, empty: RecordId, fixed: &[RecordId], rng: &mut ChaCha8Rng) -> bool {
        let ground = self.ground;
        let mut others: Vec<RecordId> =
            ground.places[place].leaves.clone().flat_map(|leaf| &ground.leaves[leaf as usize].1).copied().collect();
        let start = rng.random_range(0..others.len().max(1));
        others.rotate_left(start);
        for from in others.into_iter().take(MOST_LOOKS).filter(|id| *id != empty && !fixed.contains(id)) {
            let chunk_of = |term: &TermId| ground.places[place].chunk_of.get(term).copied();
            let chunks: HashSet<u32> = self.records[from as usize].iter().filter_map(chunk_of).collect();
            for chunk in chunks {
                for is_glued in [false, true] {
                    let Some(terms) = self.exchanged((place, chunk), empty, from, is_glued) else { continue };
                    if self.is_left(place, from, empty, &terms) {
                        self.exchange(empty, from, &terms);
                        return true;
                    }
                }
            }
        }
        false
    }

    /// Records of a place that hold some terms, from a random one on, and no more than it takes.
    fn holders_in(&self, place: usize, terms: &[TermId], rng: &mut ChaCha8Rng) -> Vec<RecordId> {
        let ground = self.ground;
        let leaves = &ground.places[place].leaves;
        let nothing: &[RecordId] = &[];
        let of = |term: &TermId| {
            let moved = self.moved.get(term).map_or(nothing, |ids| ids);
            (&ground.holders[*term as usize][..], moved)
        };
        let (first, moved) = terms.iter().map(of).min_by_key(|(a, b)| a.len() + b.len()).unwrap_or((nothing, nothing));
        let mut all: Vec<RecordId> = first.iter().chain(moved).copied().collect();
        if leaves.len() == 1 {
            // Few records: as quick to look at them all.
            all.clone_from(&ground.leaves[leaves.start as usize].1);
        }
        let start = rng.random_range(0..all.len().max(1));
        all.rotate_left(start);
        let mut seen = HashSet::new();
        let is_holder = |id: &RecordId| {
            leaves.contains(&ground.leaf_of[*id as usize]) && is_part(terms, &self.records[*id as usize])
        };
        let most = 64 * ground.k as usize;
        all.into_iter().filter(|id| is_holder(id) && seen.insert(*id)).take(most).collect()
    }

    /// Terms of a place's term chunk that k of its records hold.
    fn kept_at(&mut self, place: usize) -> Vec<TermId> {
        let ground = self.ground;
        let find = || {
            let Place { leaves, listed, .. } = &ground.places[place];
            let is_here = |id: &&RecordId| leaves.contains(&ground.leaf_of[**id as usize]);
            let support = |term: TermId| ground.holders[term as usize].iter().filter(is_here).count();
            listed.iter().copied().filter(|&term| support(term) >= ground.k as usize).collect()
        };
        self.kept.entry(place).or_insert_with(find).clone()
    }

    /// Those of them with which a chunk would not be k^m-anonymous.
    fn glued_to(&mut self, chunk: (usize, u32)) -> Vec<TermId> {
        if let Some(known) = self.glued.get(&chunk) {
            return known.clone();
        }
        let kept = self.kept_at(chunk.0);
        let glued: Vec<TermId> = kept.into_iter().filter(|&term| !self.ground.fits(chunk, term)).collect();
        self.glued.insert(chunk, glued.clone());
        glued
    }

    /// How many records hold a set.
    pub fn support(&self, terms: &[TermId]) -> u32 {
        let ground = self.ground;
        let count = |term: &&TermId| ground.holders[**term as usize].len() + self.moved.get(*term).map_or(0, Vec::len);
        let Some(rarest) = terms.iter().min_by_key(count) else { return 0 };
        let mut ids = ground.holders[*rarest as usize].clone();
        ids.extend(self.moved.get(rarest).into_iter().flatten());
        ids.sort_unstable();
        ids.dedup();
        ids.iter().filter(|&&id| is_part(terms, &self.records[id as usize])).count() as u32
    }

    /// The dataset.
    pub fn dataset(&self) -> Dataset {
        let mut records = Transactions::default();
        let mut record = Vec::new();
        for terms in &self.records {
            record.clone_from(terms);
            records.push(&mut record);
        }
        Dataset { dictionary: self.ground.release.dictionary.clone(), records }
    }
}

/// Records that are looked at to fill an empty one.
const MOST_LOOKS: usize = 5_000;

/// Sets of a chunk that are counted in one record; if there are more, a term is taken for one that does not fit.
const MOST_SETS: usize = 20_000;

impl Ground<'_> {
    /// Whether a chunk with a further term would be k^m-anonymous.
    fn fits(&self, (place, chunk): (usize, u32), term: TermId) -> bool {
        let Place { leaves, chunks, .. } = &self.places[place];
        let domain = &chunks[chunk as usize].terms;
        let mut counts: HashMap<Vec<TermId>, u32> = HashMap::new();
        for &id in &self.holders[term as usize] {
            if !leaves.contains(&self.leaf_of[id as usize]) {
                continue;
            }
            let here = |term: &TermId| domain.binary_search(term).is_ok();
            let row: Vec<TermId> = self.records[id as usize].iter().copied().filter(here).collect();
            let mut sets: Vec<Vec<TermId>> = vec![Vec::new()];
            for _ in 1..self.m {
                let longer = |set: &Vec<TermId>| {
                    let rest = row.iter().filter(|&&term| set.last().is_none_or(|&last| term > last));
                    rest.map(|&term| [&set[..], &[term]].concat()).collect::<Vec<_>>()
                };
                let more: Vec<Vec<TermId>> = sets.iter().flat_map(longer).collect();
                sets.extend(more);
                if sets.len() > MOST_SETS {
                    return false;
                }
            }
            sets.sort_unstable();
            sets.dedup();
            sets.into_iter().for_each(|set| *counts.entry(set).or_default() += 1);
        }
        counts.values().all(|&count| count >= self.k)
    }
}

fn is_part(terms: &[TermId], record: &[TermId]) -> bool {
    terms.iter().all(|term| record.binary_search(term).is_ok())
}
