//! Draws datasets that the original may have been.
//!
//! Paper:      terrovitis2012, section 3 (reconstruction) and section 6
//! Promises:   what is drawn has the release's subrecords, clusters and number of records; with `fill_empty`, no record
//!             is empty where that can be reached by moving one subrecord at a time. The same seed gives the same data
//!             for any number of threads
//! Departs:    the paper does not say how often a term of a term chunk occurs: [`Multiplicity`] does. Where shared
//!             subrecords may lie in different leaves, each is evenly distributed over the records where it may lie
//!             (dependent rounding); placing one after the other, as one would at first, favours late ones' leaves and
//!             gets stuck
//! Cost:       O(incidences of the dataset that is drawn)
//! Checked by: tests/it/estimate.rs

use std::borrow::Cow;
use std::ops::Range;

use rand::RngExt;
use rand::seq::{IteratorRandom, SliceRandom};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::model::{Bag, Class, Model, TERM_CHUNK};
use super::rounding;
use crate::data::{TermId, Transactions};
use crate::generate::stream;

/// Roots that share a stream of random numbers. It is part of what a seed means.
const BLOCK: usize = 4;

/// Blocks that one task draws at most; nothing depends on it.
const MANY: usize = 4;

/// How datasets are drawn.
#[derive(Debug, Clone, Copy)]
pub struct Sampling {
    /// Everything random follows from it.
    pub seed: u64,
    /// Whether records that got nothing take something from others. An original has no empty record; but the closed
    /// forms of [`expectation`](super::expectation()) are about draws that do not care.
    pub fill_empty: bool,
}

impl Default for Sampling {
    fn default() -> Self {
        Sampling { seed: 1, fill_empty: true }
    }
}

/// A dataset that the original may have been.
#[derive(Debug, Clone, Default)]
pub struct Reconstruction {
    /// The records, in terms of the release's dictionary. Empty ones are left out.
    pub records: Transactions,
    /// The number of records that were left out.
    pub empty: u64,
    /// How many records each root has, without those that were left out.
    pub of_root: Vec<u32>,
}

/// How often a term of a term chunk is taken to occur in its cluster; the release does not say for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Multiplicity {
    /// As often as all of them do on average, if the release tells how many occurrences its original has; else once.
    #[default]
    #[serde(rename = "average", alias = "told")]
    Told,
    /// Once: what is certain.
    One,
    /// Between 1 and k-1 times, each as likely.
    Uniform,
    /// k/2 times.
    Half,
}

/// The law of a multiplicity in one cluster.
#[derive(Debug, Clone, Copy)]
pub(super) enum MultiplicityLaw {
    /// Each number of a range, as likely.
    Range(u32, u32),
    /// This number or the next one, so that the mean is the number given.
    Around(u32, f64),
}

impl Multiplicity {
    /// The law in a cluster of `size` records, if the mean over all clusters is `told`.
    pub(super) fn law(self, k: u32, size: u32, told: f64) -> MultiplicityLaw {
        let (least, most) = match self {
            Multiplicity::Told if told < f64::from(size) => return MultiplicityLaw::Around(told as u32, told),
            Multiplicity::Told => (size, size),
            Multiplicity::One => (1, 1),
            Multiplicity::Uniform => (1, k.saturating_sub(1).max(1)),
            Multiplicity::Half => ((k / 2).max(1), (k / 2).max(1)),
        };
        MultiplicityLaw::Range(least.min(size), most.min(size))
    }
}

impl MultiplicityLaw {
    fn draw(self, rng: &mut impl RngExt) -> u32 {
        match self {
            MultiplicityLaw::Range(least, most) if least == most => least,
            MultiplicityLaw::Range(least, most) => rng.random_range(least..=most),
            MultiplicityLaw::Around(below, mean) => {
                let more = mean - f64::from(below);
                below + u32::from(more > 0.0 && rng.random_bool(more))
            }
        }
    }

    /// E[mu] and E[mu (mu-1)].
    pub(super) fn moments(self) -> (f64, f64) {
        match self {
            MultiplicityLaw::Range(least, most) => {
                let n = f64::from(most - least + 1);
                let sum = |of: fn(f64) -> f64| (least..=most).map(|mu| of(f64::from(mu))).sum::<f64>();
                (sum(|mu| mu) / n, sum(|mu| mu * (mu - 1.0)) / n)
            }
            MultiplicityLaw::Around(below, mean) => {
                let below = f64::from(below);
                let more = mean - below;
                (mean, (1.0 - more) * below * (below - 1.0) + more * (below + 1.0) * below)
            }
        }
    }
}

/// Draws the `nth` dataset of a seed.
pub fn reconstruct(model: &Model, sampling: &Sampling, nth: u64) -> Reconstruction {
    draw(model, sampling, nth, None)
}

/// Draws a dataset as [`reconstruct`](reconstruct()) does without filling empty records, but only some terms of it; records
/// without any are left out. It has the law of such a dataset's terms, not its very records: what is not asked for is
/// not drawn.
pub fn reconstruct_terms(selection: &Selection, seed: u64, nth: u64) -> Transactions {
    draw(selection.model, &Sampling { seed, fill_empty: false }, nth, Some(selection)).records
}

fn draw(model: &Model, sampling: &Sampling, nth: u64, selection: Option<&Selection>) -> Reconstruction {
    let stage = format!("reconstruct {nth}");
    let parts: Vec<Reconstruction> = (0..model.roots.len().div_ceil(BLOCK))
        .into_par_iter()
        // Large roots follow each other: without limit, one task would get them all.
        .with_max_len(MANY)
        .map_init(
            || Draw::new(model, stream(sampling.seed, &stage, 0), selection),
            |draw, block| {
                model.observer.check();
                draw.rng = stream(sampling.seed, &stage, block as u64);
                let roots = block * BLOCK..model.roots.len().min((block + 1) * BLOCK);
                roots.for_each(|root| draw.root(root, sampling.fill_empty));
                std::mem::take(&mut draw.drawn)
            },
        )
        .collect();
    let mut drawn = Reconstruction::default();
    for part in parts {
        model.observer.check();
        drawn.records.append(&part.records);
        drawn.empty += part.empty;
        drawn.of_root.extend(&part.of_root);
    }
    drawn
}

/// Some terms of a release, and where they are.
pub struct Selection<'m> {
    model: &'m Model<'m>,
    /// The bits of each bag whose subrecords have any of the terms, and where each bag ends.
    bits: Vec<u32>,
    ends: Vec<usize>,
    /// Which of the terms each of these subrecords has, and where it ends: side by side, as drawing goes by them often.
    terms: Vec<TermId>,
    terms_ends: Vec<u32>,
    /// For each bag that has any of them and several classes, where these go.
    counts: Vec<Option<Counts>>,
    /// The terms of each leaf's term chunk that are among them, and where each leaf ends.
    in_term_chunks: Vec<TermId>,
    term_chunk_ends: Vec<usize>,
}

impl<'m> Selection<'m> {
    /// Finds `terms` in a release.
    pub fn new(model: &'m Model, terms: &[TermId]) -> Self {
        let mut is_selected = vec![false; model.release.dictionary.len()];
        terms.iter().for_each(|&term| is_selected[term as usize] = true);
        let mut selection = Selection {
            model,
            bits: Vec::new(),
            ends: Vec::new(),
            terms: Vec::new(),
            terms_ends: Vec::new(),
            counts: Vec::new(),
            in_term_chunks: Vec::new(),
            term_chunk_ends: Vec::new(),
        };
        for bag in &model.bags {
            model.observer.check();
            let occurrences = &model.occurrences[bag.first..bag.first + bag.n_subrecords as usize];
            let has_any = bag.chunk.terms.iter().any(|&term| is_selected[term as usize]);
            for (bit, &i) in (0..).zip(occurrences).filter(|_| has_any) {
                let before = selection.terms.len();
                let terms = bag.chunk.subrecord(i as usize).0.iter();
                selection.terms.extend(terms.filter(|&&term| is_selected[term as usize]));
                if selection.terms.len() > before {
                    selection.bits.push(bit);
                    selection.terms_ends.push(selection.terms.len() as u32);
                }
            }
            let is_asked = selection.bits.len() > selection.ends.last().copied().unwrap_or(0);
            selection.counts.push((is_asked && bag.classes.len() > 1).then(|| Counts::new(model, bag)));
            selection.ends.push(selection.bits.len());
        }
        for leaf in &model.leaves {
            let terms = leaf.simple.term_chunk.iter();
            selection.in_term_chunks.extend(terms.filter(|&&term| is_selected[term as usize]));
            selection.term_chunk_ends.push(selection.in_term_chunks.len());
        }
        selection
    }

    /// Where the bits of a bag are.
    fn places(&self, bag: u32) -> Range<usize> {
        let bag = bag as usize;
        (if bag == 0 { 0 } else { self.ends[bag - 1] })..self.ends[bag]
    }

    /// Where a bit of a bag is, if its subrecord has any of the terms.
    fn place(&self, bag: u32, bit: u32) -> Option<u32> {
        let places = self.places(bag);
        self.bits[places.clone()].binary_search(&bit).ok().map(|at| (places.start + at) as u32)
    }

    /// The terms of the subrecord whose bit is at `place`.
    fn terms(&self, place: u32) -> &[TermId] {
        let place = place as usize;
        let start = if place == 0 { 0 } else { self.terms_ends[place - 1] };
        &self.terms[start as usize..self.terms_ends[place] as usize]
    }

    fn term_chunk(&self, leaf: u32) -> &[TermId] {
        let leaf = leaf as usize;
        &self.in_term_chunks[if leaf == 0 { 0 } else { self.term_chunk_ends[leaf - 1] }..self.term_chunk_ends[leaf]]
    }
}

/// One root after the other is drawn, block after block; arrays are used again.
struct Draw<'m> {
    model: &'m Model<'m>,
    rng: ChaCha8Rng,
    selection: Option<&'m Selection<'m>>,
    drawn: Reconstruction,
    /// What lies where in the present root.
    parts: Vec<Part>,
    /// The first record of each leaf of the root, and the number of all.
    first_record: Vec<u32>,
    /// How many parts each record has.
    filled: Vec<u32>,
    /// The parts record by record, and where each record begins there.
    by_record: Vec<u32>,
    starts: Vec<u32>,
    /// The records to choose from, and how many are before each range of them.
    ranges: Vec<(u32, Range<u32>)>,
    records: Vec<u32>,
    /// For each record, the last time that it was taken.
    taken: Vec<u64>,
    round: u64,
    /// How many subrecords of each class go to each region, and those of one class.
    table: Vec<f64>,
    bits: Vec<u32>,
    record: Vec<TermId>,
}

/// A subrecord, or a term of a term chunk, in a record.
#[derive(Clone, Copy)]
struct Part {
    record: u32,
    /// The bag, or [`TERM_CHUNK`].
    bag: u32,
    /// The bit of the subrecord in its bag, or its place in the selection, or the term.
    what: u32,
}

impl<'m> Draw<'m> {
    fn new(model: &'m Model, rng: ChaCha8Rng, selection: Option<&'m Selection<'m>>) -> Self {
        Draw {
            model,
            rng,
            selection,
            drawn: Reconstruction::default(),
            parts: Vec::new(),
            first_record: Vec::new(),
            filled: Vec::new(),
            by_record: Vec::new(),
            starts: Vec::new(),
            ranges: Vec::new(),
            records: Vec::new(),
            taken: Vec::new(),
            round: 0,
            table: Vec::new(),
            bits: Vec::new(),
            record: Vec::new(),
        }
    }

    fn root(&mut self, root: usize, fill_empty: bool) {
        let (leaves, bags) = self.model.roots[root].clone();
        self.parts.clear();
        self.first_record.clear();
        let mut records = 0;
        for leaf in leaves.clone() {
            self.first_record.push(records);
            records += self.model.leaves[leaf as usize].simple.size;
        }
        self.first_record.push(records);
        if self.taken.len() < records as usize {
            self.taken.resize(records as usize, 0);
        }
        for bag in bags {
            // One root may be the whole release.
            self.model.observer.check();
            match (self.model.classes_of(&self.model.bags[bag as usize]), self.selection) {
                (_, Some(selection)) if selection.places(bag).is_empty() => {}
                ([class], None) => self.place_class(bag, class, class.bits.clone(), leaves.start),
                // Where subrecords lie does not depend on others of their class.
                ([class], Some(selection)) => {
                    let places = selection.places(bag);
                    self.place_class(bag, class, places.start as u32..places.end as u32, leaves.start);
                }
                (_, selection) => self.place_classes(bag, leaves.start, selection),
            }
        }
        for leaf in leaves.clone() {
            self.place_term_chunk(leaf, (leaf - leaves.start) as usize);
        }
        self.model.observer.check();
        self.count_filled(records);
        if fill_empty && self.filled.contains(&0) {
            self.sort_by_record();
            leaves.clone().for_each(|leaf| self.fill_empty(leaf, leaves.start));
        }
        self.drawn.empty += self.filled.iter().filter(|filled| **filled == 0).count() as u64;
        self.sort_by_record();
        self.model.observer.check();
        let before = self.drawn.records.len();
        self.emit();
        self.drawn.of_root.push((self.drawn.records.len() - before) as u32);
    }

    /// All subrecords may lie in the same leaves: any distinct records of theirs.
    fn place_class(&mut self, id: u32, class: &Class, bits: impl ExactSizeIterator<Item = u32>, first_leaf: u32) {
        let bag = &self.model.bags[id as usize];
        let leaves = bag.leaves.clone().filter(|leaf| class.may_lie(leaf - bag.leaves.start));
        self.scatter(id, bits, leaves.map(|leaf| leaf - first_leaf));
    }

    /// Subrecords may lie in different leaves: first how many of each class go to which region, then which, then to
    /// whom.
    fn place_classes(&mut self, id: u32, first_leaf: u32, selection: Option<&Selection>) {
        let model = self.model;
        let bag = &model.bags[id as usize];
        let columns = bag.regions.len();
        let known = selection.and_then(|selection| selection.counts[id as usize].as_ref());
        let counts = known.map_or_else(|| Cow::Owned(Counts::new(model, bag)), Cow::Borrowed);
        let name_of = |bit: u32| match selection {
            Some(selection) => selection.place(id, bit),
            None => Some(bit),
        };
        self.table.clear();
        self.table.extend_from_slice(&counts.expected);
        if !counts.rows_are_free {
            rounding::round(&mut self.table, columns, &mut self.rng);
        }
        let mut here: Vec<Vec<u32>> = vec![Vec::new(); columns];
        for (class, row) in model.classes_of(bag).iter().zip(self.table.chunks_mut(columns)) {
            if class.bits.clone().all(|bit| name_of(bit).is_none()) {
                continue;
            }
            if counts.rows_are_free {
                rounding::round_row(row, &mut self.rng);
            }
            self.bits.clear();
            self.bits.extend(class.bits.clone());
            self.bits.shuffle(&mut self.rng);
            let mut bits = self.bits.iter().copied();
            for (here, &count) in here.iter_mut().zip(&*row) {
                here.extend(bits.by_ref().take(count as usize).filter_map(name_of));
            }
            debug_assert_eq!(bits.len(), 0, "rounding keeps whole sums");
        }
        for (region, bits) in bag.regions.iter().zip(here) {
            self.scatter(id, bits.into_iter(), region.iter().map(|leaf| leaf - first_leaf));
        }
    }

    /// Puts subrecords into different records of these leaves of the root.
    fn scatter(&mut self, bag: u32, bits: impl ExactSizeIterator<Item = u32>, leaves: impl Iterator<Item = u32>) {
        if bits.len() == 0 {
            return;
        }
        self.ranges.clear();
        let mut n = 0;
        for leaf in leaves {
            let (start, end) = (self.first_record[leaf as usize], self.first_record[leaf as usize + 1]);
            match self.ranges.last_mut() {
                Some((_, range)) if range.end == start => range.end = end,
                _ => self.ranges.push((n, start..end)),
            }
            n += end - start;
        }
        if bits.len() as u32 <= n / 4 {
            // Any record, until it is one that is not taken.
            self.round += 1;
            for what in bits {
                let record = loop {
                    let at = self.rng.random_range(0..n);
                    let (first, range) = &self.ranges[self.ranges.partition_point(|(first, _)| *first <= at) - 1];
                    let record = range.start + (at - first);
                    if self.taken[record as usize] != self.round {
                        break record;
                    }
                };
                self.taken[record as usize] = self.round;
                self.parts.push(Part { record, bag, what });
            }
            return;
        }
        self.records.clear();
        self.records.extend(self.ranges.iter().flat_map(|(_, range)| range.clone()));
        let (records, rng) = (&mut self.records, &mut self.rng);
        self.parts.extend(bits.enumerate().map(|(i, what)| {
            // Of those that are left; the chosen ones gather in front.
            let chosen = rng.random_range(i as u32..n);
            records.swap(i, chosen as usize);
            Part { record: records[i], bag, what }
        }));
    }

    fn place_term_chunk(&mut self, leaf: u32, in_root: usize) {
        let simple = self.model.leaves[leaf as usize].simple;
        let terms = self.selection.map_or(&simple.term_chunk[..], |selection| selection.term_chunk(leaf));
        let law = self.model.multiplicity_law(leaf, self.model.multiplicity);
        for &term in terms {
            let mu = law.draw(&mut self.rng);
            if mu == 1 {
                let record = self.first_record[in_root] + self.rng.random_range(0..simple.size);
                self.parts.push(Part { record, bag: TERM_CHUNK, what: term });
            } else {
                let as_often = std::iter::repeat_n(term, mu as usize);
                self.scatter(TERM_CHUNK, as_often, std::iter::once(in_root as u32));
            }
        }
    }

    /// The records of a leaf that is the `in_root`-th of its root.
    fn records_of(&self, in_root: u32) -> Range<u32> {
        self.first_record[in_root as usize]..self.first_record[in_root as usize + 1]
    }

    fn count_filled(&mut self, records: u32) {
        self.filled.clear();
        self.filled.resize(records as usize, 0);
        for part in &self.parts {
            self.filled[part.record as usize] += 1;
        }
    }

    /// Lists the parts record by record; how many each record has must be known.
    fn sort_by_record(&mut self) {
        self.starts.clear();
        let mut end = 0;
        for filled in &self.filled {
            self.starts.push(end);
            end += filled;
        }
        self.starts.push(end);
        self.by_record.clear();
        self.by_record.resize(self.parts.len(), 0);
        for (i, part) in (0..).zip(&self.parts) {
            let at = &mut self.starts[part.record as usize];
            self.by_record[*at as usize] = i;
            *at += 1;
        }
        // Each start has moved on to the next one.
        self.starts.rotate_right(1);
        self.starts[0] = 0;
    }

    /// Gives every empty record of a leaf something from a record that has more than one part: a term of the term
    /// chunk, else a subrecord; else one more of the term chunk; else a shared subrecord from another leaf.
    fn fill_empty(&mut self, leaf: u32, first_leaf: u32) {
        let model = self.model;
        let records = self.records_of(leaf - first_leaf);
        // What is moved or added on the way stays the only part of its record, and gives nothing away.
        let here = self.starts[records.start as usize] as usize..self.starts[records.end as usize] as usize;
        let term_chunk = &model.leaves[leaf as usize].simple.term_chunk;
        for record in records {
            if self.filled[record as usize] > 0 {
                continue;
            }
            let (parts, filled, rng) = (&self.parts, &self.filled, &mut self.rng);
            let can_give = |part: &Part| filled[part.record as usize] > 1;
            let mut pick = |among: &[u32], qualifies: &dyn Fn(&Part) -> bool| {
                let qualifies = |&i: &u32| can_give(&parts[i as usize]) && qualifies(&parts[i as usize]);
                among.iter().copied().filter(qualifies).choose(rng)
            };
            let here = &self.by_record[here.clone()];
            let donor = pick(here, &|part| part.bag == TERM_CHUNK).or_else(|| pick(here, &|_| true));
            let donor = donor.or_else(|| {
                let from_outside = |part: &Part| part.bag != TERM_CHUNK && may_lie(model, part, leaf);
                if term_chunk.is_empty() { pick(&self.by_record, &from_outside) } else { None }
            });
            match donor {
                Some(donor) => {
                    let part = &mut self.parts[donor as usize];
                    self.filled[part.record as usize] -= 1;
                    part.record = record;
                }
                None => {
                    let Some(&term) = term_chunk.iter().choose(rng) else { continue };
                    self.parts.push(Part { record, bag: TERM_CHUNK, what: term });
                }
            }
            self.filled[record as usize] += 1;
        }
    }

    /// Puts the parts together, record by record.
    fn emit(&mut self) {
        for ends in self.starts.windows(2) {
            self.record.clear();
            for &i in &self.by_record[ends[0] as usize..ends[1] as usize] {
                let part = self.parts[i as usize];
                if part.bag == TERM_CHUNK {
                    self.record.push(part.what);
                    continue;
                }
                let Some(selection) = self.selection else {
                    let bag = &self.model.bags[part.bag as usize];
                    let subrecord = self.model.occurrences[bag.first + part.what as usize];
                    self.record.extend_from_slice(bag.chunk.subrecord(subrecord as usize).0);
                    continue;
                };
                self.record.extend_from_slice(selection.terms(part.what));
            }
            self.drawn.records.push(&mut self.record);
        }
    }
}

/// How many subrecords of a bag's classes (rows) go to its regions (columns).
#[derive(Clone)]
struct Counts {
    expected: Vec<f64>,
    /// Whether every region has room for what can come, so that classes need not look after each other.
    rows_are_free: bool,
}

impl Counts {
    fn new(model: &Model, bag: &Bag) -> Self {
        let (first, columns) = (bag.leaves.start, bag.regions.len());
        let size = |leaf: u32| model.leaves[leaf as usize].size() as f64;
        let records = |region: &[u32]| -> f64 { region.iter().map(|&leaf| size(leaf) * bag.tilt_of(leaf)).sum() };
        let regions: Vec<(u32, f64)> = bag.regions.iter().map(|region| (region[0] - first, records(region))).collect();
        let expected = |class: &Class, &(at, records): &(u32, f64)| {
            if class.may_lie(at) { class.bits.len() as f64 * records / class.records } else { 0.0 }
        };
        let classes = model.classes_of(bag).iter();
        let expected: Vec<f64> =
            classes.flat_map(|class| regions.iter().map(move |region| expected(class, region))).collect();
        let has_room = |column: usize| {
            let most: f64 = expected[column..].iter().step_by(columns).map(|count| count.ceil()).sum();
            most <= bag.regions[column].iter().map(|&leaf| size(leaf)).sum()
        };
        let rows_are_free = (0..columns).all(has_room);
        Counts { expected, rows_are_free }
    }
}

fn may_lie(model: &Model, part: &Part, leaf: u32) -> bool {
    let bag = &model.bags[part.bag as usize];
    let mut classes = model.classes_of(bag).iter();
    bag.leaves.contains(&leaf)
        && classes.any(|class| class.bits.contains(&part.what) && class.may_lie(leaf - bag.leaves.start))
}
