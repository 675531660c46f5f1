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
//! Checked by: tests/estimate.rs

use rand::RngExt;
use rand::seq::{IteratorRandom, SliceRandom, index};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::model::{Bag, Class, Model, TERM_CHUNK};
use super::rounding;
use crate::data::{TermId, Transactions};
use crate::generate::stream;

/// Roots that share a stream of random numbers. It is part of what a seed means.
const BLOCK: usize = 64;

/// How datasets are drawn.
#[derive(Debug, Clone, Copy)]
pub struct Sampling {
    /// Everything random follows from it.
    pub seed: u64,
    /// Whether records that got nothing take something from others. An original has no empty record; but the closed
    /// forms of [`expectation`](super::expectation()) are about draws that do not care.
    pub fill_empty: bool,
}

/// A dataset that the original may have been.
#[derive(Debug, Clone)]
pub struct Reconstruction {
    /// The records, in terms of the release's dictionary. Empty ones are left out.
    pub records: Transactions,
    /// The number of records that were left out.
    pub empty: u64,
}

/// How often a term of a term chunk is taken to occur in its cluster; the release does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Multiplicity {
    /// Once: what is certain.
    #[default]
    One,
    /// Between 1 and k-1 times, each as likely.
    Uniform,
    /// k/2 times.
    Half,
}

impl Multiplicity {
    /// Draws a multiplicity in a cluster of `size` records.
    fn draw(self, k: u32, size: u32, rng: &mut impl RngExt) -> u32 {
        let (least, most) = self.range(k, size);
        if least == most { least } else { rng.random_range(least..=most) }
    }

    /// E[mu] and E[mu (mu-1)].
    pub(super) fn moments(self, k: u32, size: u32) -> (f64, f64) {
        let (least, most) = self.range(k, size);
        let n = f64::from(most - least + 1);
        let sum = |of: fn(f64) -> f64| (least..=most).map(|mu| of(f64::from(mu))).sum::<f64>();
        (sum(|mu| mu) / n, sum(|mu| mu * (mu - 1.0)) / n)
    }

    fn range(self, k: u32, size: u32) -> (u32, u32) {
        let (least, most) = match self {
            Multiplicity::One => (1, 1),
            Multiplicity::Uniform => (1, k.saturating_sub(1).max(1)),
            Multiplicity::Half => ((k / 2).max(1), (k / 2).max(1)),
        };
        (least.min(size), most.min(size))
    }
}

/// Draws the `nth` dataset of a seed.
pub fn reconstruct(model: &Model, sampling: &Sampling, nth: u64) -> Reconstruction {
    draw(model, sampling, nth, None)
}

/// Draws the same dataset, but reports only some terms of it: those for which `keep` says so. Records without any are
/// left out.
pub fn reconstruct_terms(model: &Model, sampling: &Sampling, nth: u64, keep: &[bool]) -> Transactions {
    draw(model, sampling, nth, Some(keep)).records
}

fn draw(model: &Model, sampling: &Sampling, nth: u64, keep: Option<&[bool]>) -> Reconstruction {
    let stage = format!("reconstruct {nth}");
    let keep = keep.map(|keep| Keep::new(model, keep));
    let parts: Vec<Reconstruction> = (0..model.roots.len().div_ceil(BLOCK))
        .into_par_iter()
        .map(|block| {
            let mut draw = Draw::new(model, stream(sampling.seed, &stage, block as u64), keep.as_ref());
            let roots = block * BLOCK..model.roots.len().min((block + 1) * BLOCK);
            roots.for_each(|root| draw.root(root, sampling.fill_empty));
            draw.drawn
        })
        .collect();
    let mut drawn = Reconstruction { records: Transactions::default(), empty: 0 };
    for part in parts {
        drawn.records.append(&part.records);
        drawn.empty += part.empty;
    }
    drawn
}

/// The terms to report, and the bags that have any of them.
struct Keep<'k> {
    terms: &'k [bool],
    bags: Vec<bool>,
}

impl<'k> Keep<'k> {
    fn new(model: &Model, terms: &'k [bool]) -> Self {
        let has_any = |bag: &Bag| bag.chunk.terms.iter().any(|&term| terms[term as usize]);
        Keep { terms, bags: model.bags.iter().map(has_any).collect() }
    }
}

/// One root after the other is drawn; arrays are used again.
struct Draw<'m> {
    model: &'m Model<'m>,
    rng: ChaCha8Rng,
    keep: Option<&'m Keep<'m>>,
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
    /// The records to choose from.
    records: Vec<u32>,
    record: Vec<TermId>,
}

/// A subrecord, or a term of a term chunk, in a record.
#[derive(Clone, Copy)]
struct Part {
    record: u32,
    /// The bag, or [`TERM_CHUNK`].
    bag: u32,
    /// The bit of the subrecord in its bag, or the term.
    what: u32,
}

impl<'m> Draw<'m> {
    fn new(model: &'m Model, rng: ChaCha8Rng, keep: Option<&'m Keep<'m>>) -> Self {
        Draw {
            model,
            rng,
            keep,
            drawn: Reconstruction { records: Transactions::default(), empty: 0 },
            parts: Vec::new(),
            first_record: Vec::new(),
            filled: Vec::new(),
            by_record: Vec::new(),
            starts: Vec::new(),
            records: Vec::new(),
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
        for bag in bags {
            match self.model.classes_of(&self.model.bags[bag as usize]) {
                [class] => self.place_class(bag, class, leaves.start),
                _ => self.place_classes(bag, leaves.start),
            }
        }
        for leaf in leaves.clone() {
            self.place_term_chunk(leaf, (leaf - leaves.start) as usize);
        }
        self.count_filled(records);
        if fill_empty && self.filled.contains(&0) {
            self.sort_by_record();
            leaves.clone().for_each(|leaf| self.fill_empty(leaf, leaves.start));
        }
        self.drawn.empty += self.filled.iter().filter(|filled| **filled == 0).count() as u64;
        if let Some(keep) = self.keep {
            self.parts.retain(|part| match part.bag {
                TERM_CHUNK => keep.terms[part.what as usize],
                bag => keep.bags[bag as usize],
            });
            self.count_filled(records);
        }
        self.sort_by_record();
        self.emit();
    }

    /// All subrecords may lie in the same leaves: any distinct records of theirs.
    fn place_class(&mut self, id: u32, class: &Class, first_leaf: u32) {
        let bag = &self.model.bags[id as usize];
        let n = class.bits.len();
        if class.only.is_none() {
            let start = self.first_record[(bag.leaves.start - first_leaf) as usize];
            let end = self.first_record[(bag.leaves.end - first_leaf) as usize];
            let places = index::sample(&mut self.rng, (end - start) as usize, n);
            self.parts.extend((0..).zip(places).map(|(bit, at)| Part {
                record: start + at as u32,
                bag: id,
                what: bit,
            }));
            return;
        }
        let bits: Vec<u32> = class.bits.clone().collect();
        let leaves = bag.leaves.clone().filter(|leaf| class.may_lie(leaf - bag.leaves.start));
        self.scatter(id, &bits, leaves.map(|leaf| leaf - first_leaf));
    }

    /// Subrecords may lie in different leaves: first how many of each class go to which region, then which, then to
    /// whom.
    fn place_classes(&mut self, id: u32, first_leaf: u32) {
        let model = self.model;
        let bag = &model.bags[id as usize];
        let columns = bag.regions.len();
        let mut table = expected_counts(model, bag);
        // Where every region has room for what can come, classes need not look after each other.
        let has_room = |column: usize| {
            let most: f64 = table[column..].iter().step_by(columns).map(|count| count.ceil()).sum();
            most <= bag.regions[column].iter().map(|&leaf| model.leaves[leaf as usize].size() as f64).sum()
        };
        if (0..columns).all(has_room) {
            table.chunks_mut(columns).for_each(|row| rounding::round_row(row, &mut self.rng));
        } else {
            rounding::round(&mut table, columns, &mut self.rng);
        }
        let mut here: Vec<Vec<u32>> = vec![Vec::new(); columns];
        for (class, row) in model.classes_of(bag).iter().zip(table.chunks(columns)) {
            let mut bits: Vec<u32> = class.bits.clone().collect();
            bits.shuffle(&mut self.rng);
            let mut bits = bits.into_iter();
            here.iter_mut().zip(row).for_each(|(here, &count)| here.extend(bits.by_ref().take(count as usize)));
            debug_assert_eq!(bits.len(), 0, "rounding keeps whole sums");
        }
        for (region, bits) in bag.regions.iter().zip(here) {
            self.scatter(id, &bits, region.iter().map(|leaf| leaf - first_leaf));
        }
    }

    /// Puts subrecords into different records of these leaves of the root.
    fn scatter(&mut self, bag: u32, bits: &[u32], leaves: impl Iterator<Item = u32>) {
        self.records.clear();
        for leaf in leaves {
            self.records.extend(self.first_record[leaf as usize]..self.first_record[leaf as usize + 1]);
        }
        let places = index::sample(&mut self.rng, self.records.len(), bits.len());
        let records = &self.records;
        self.parts.extend(bits.iter().zip(places).map(|(&what, at)| Part { record: records[at], bag, what }));
    }

    fn place_term_chunk(&mut self, leaf: u32, in_root: usize) {
        let simple = self.model.leaves[leaf as usize].simple;
        let first = self.first_record[in_root];
        for &term in &simple.term_chunk {
            let mu = self.model.multiplicity.draw(self.model.release.header.k, simple.size, &mut self.rng);
            if mu == 1 {
                let record = first + self.rng.random_range(0..simple.size);
                self.parts.push(Part { record, bag: TERM_CHUNK, what: term });
                continue;
            }
            let places = index::sample(&mut self.rng, simple.size as usize, mu as usize);
            let part = |at: usize| Part { record: first + at as u32, bag: TERM_CHUNK, what: term };
            self.parts.extend(places.into_iter().map(part));
        }
    }

    /// The records of a leaf that is the `in_root`-th of its root.
    fn records_of(&self, in_root: u32) -> std::ops::Range<u32> {
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
                let bag = &self.model.bags[part.bag as usize];
                let subrecord = self.model.occurrences[bag.first + part.what as usize];
                let (terms, _) = bag.chunk.subrecord(subrecord as usize);
                match self.keep {
                    None => self.record.extend_from_slice(terms),
                    Some(keep) => self.record.extend(terms.iter().copied().filter(|&term| keep.terms[term as usize])),
                }
            }
            self.drawn.records.push(&mut self.record);
        }
    }
}

/// The expected number of subrecords of each class (rows) in each region (columns).
fn expected_counts(model: &Model, bag: &Bag) -> Vec<f64> {
    let first = bag.leaves.start;
    let records = |region: &[u32]| -> f64 {
        region.iter().map(|&leaf| model.leaves[leaf as usize].size() as f64 * bag.tilt_of(leaf)).sum()
    };
    let regions: Vec<(u32, f64)> = bag.regions.iter().map(|region| (region[0] - first, records(region))).collect();
    let expected = |class: &Class, &(at, records): &(u32, f64)| {
        if class.may_lie(at) { class.bits.len() as f64 * records / class.records } else { 0.0 }
    };
    let classes = model.classes_of(bag).iter();
    classes.flat_map(|class| regions.iter().map(move |region| expected(class, region))).collect()
}

fn may_lie(model: &Model, part: &Part, leaf: u32) -> bool {
    let bag = &model.bags[part.bag as usize];
    let mut classes = model.classes_of(bag).iter();
    bag.leaves.contains(&leaf)
        && classes.any(|class| class.bits.contains(&part.what) && class.may_lie(leaf - bag.leaves.start))
}
