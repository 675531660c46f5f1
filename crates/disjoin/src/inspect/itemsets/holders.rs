//! Which records hold a term, as bits without the empty words.

use std::ops::Range;

use rayon::prelude::*;

use super::pairs::Pairs;
use super::{Items, Search};
use crate::data::{RecordId, TermId, Transactions};
use crate::observer::Observer;

/// Up to 64 records that follow one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) place: usize,
    pub(super) bits: u64,
}

/// For each term that can be part of a set to be found, the records that hold it, without those that cannot matter.
pub(super) struct Holders<'a> {
    records: &'a Transactions,
    parts: Vec<Part>,
    /// How many words a set of records has, with the empty ones.
    pub(super) most_words: usize,
}

impl<'a> Holders<'a> {
    pub(super) fn new(records: &'a Transactions, items: &Items, pairs: &Pairs, search: &Search<'_>) -> Self {
        let all_counted = items.n_open(search) <= pairs.n_terms();
        let is_kept = choose(items, pairs, search, all_counted);
        let part = records.len().div_ceil(rayon::current_num_threads()).max(1 << 13).next_multiple_of(64);
        let parts = (0..records.len()).into_par_iter().step_by(part).map(|start| {
            Part::new(
                records,
                start..(start + part).min(records.len()),
                items,
                &is_kept,
                all_counted,
                search.mining.observer,
            )
        });
        Holders { records, parts: parts.collect(), most_words: records.len().div_ceil(64) }
    }

    /// The words of a term, in order, none of them empty.
    pub(super) fn words(&self, term: TermId) -> impl Iterator<Item = Word> {
        self.parts
            .iter()
            .flat_map(move |part| part.words(term).map(|word| Word { place: word.place + part.start, ..word }))
    }

    /// How many words a term has.
    pub(super) fn n_words(&self, term: TermId) -> usize {
        self.parts.iter().map(|part| part.ranges[term as usize].len()).sum()
    }

    /// Calls `visit` with every record that holds a term, whole.
    pub(super) fn for_each_record(&self, term: TermId, mut visit: impl FnMut(&[TermId])) {
        for part in &self.parts {
            for word in part.words(term) {
                let mut bits = word.bits;
                while bits > 0 {
                    visit(self.records.record(part.ids[64 * word.place + bits.trailing_zeros() as usize]));
                    bits &= bits - 1;
                }
            }
        }
    }
}

/// Some records that follow one another, those that matter numbered from 0.
struct Part {
    /// How many words the parts before this have.
    start: usize,
    /// The records by their new numbers.
    ids: Vec<RecordId>,
    /// The words of each term in turn.
    places: Vec<u32>,
    bits: Vec<u64>,
    /// For each term where its words are.
    ranges: Vec<Range<usize>>,
}

impl Part {
    fn new(
        records: &Transactions,
        ids: Range<usize>,
        items: &Items,
        is_kept: &[bool],
        all_counted: bool,
        observer: &dyn Observer,
    ) -> Self {
        let mut total = 0;
        let mut ranges = Vec::with_capacity(is_kept.len());
        for (&support, &is_kept) in items.supports.iter().zip(is_kept) {
            ranges.push(total..total);
            total += if is_kept { ids.len().div_ceil(64).min(support as usize) } else { 0 };
        }
        let (places, bits) = (vec![0; total], vec![0; total]);
        let mut part = Part { start: ids.start / 64, ids: Vec::new(), places, bits, ranges };

        // If all pairs are known, only larger sets are to be found.
        let least_length = if all_counted { 3 } else { 2 };
        let mut held = Vec::new();
        let mut block = Block { words: vec![0; is_kept.len()], terms: vec![0; is_kept.len() + 1], n_terms: 0 };
        for id in ids {
            let n_held = filter(records.record(id as RecordId), is_kept, &mut held);
            if n_held < least_length {
                continue;
            }
            block.add(&held[..n_held], part.ids.len() % 64);
            part.ids.push(id as RecordId);
            if part.ids.len().is_multiple_of(64) {
                observer.check();
                part.push(&mut block);
            }
        }
        part.push(&mut block);
        part
    }

    /// Takes the words of the last records.
    fn push(&mut self, block: &mut Block) {
        let place = (self.ids.len().div_ceil(64) as u32).saturating_sub(1);
        for &term in &block.terms[..block.n_terms] {
            let end = &mut self.ranges[term as usize].end;
            self.places[*end] = place;
            self.bits[*end] = std::mem::take(&mut block.words[term as usize]);
            *end += 1;
        }
        block.n_terms = 0;
    }

    fn words(&self, term: TermId) -> impl Iterator<Item = Word> {
        let range = self.ranges[term as usize].clone();
        let (places, bits) = (&self.places[range.clone()], &self.bits[range]);
        places.iter().zip(bits).map(|(&place, &bits)| Word { place: place as usize, bits })
    }
}

/// The words of 64 records.
struct Block {
    /// For each term.
    words: Vec<u64>,
    /// The terms whose words are not empty, and room for one more.
    terms: Vec<TermId>,
    n_terms: usize,
}

impl Block {
    fn add(&mut self, record: &[TermId], bit: usize) {
        for &term in record {
            let word = &mut self.words[term as usize];
            self.terms[self.n_terms] = term;
            self.n_terms += usize::from(*word == 0);
            *word |= 1 << bit;
        }
    }
}

/// Which terms can be part of a set to be found.
fn choose(items: &Items, pairs: &Pairs, search: &Search<'_>, all_counted: bool) -> Vec<bool> {
    let open = &items.by_support[..items.n_open(search)];
    let mut is_kept = vec![false; items.supports.len()];
    if all_counted {
        // A term of a larger set is in two pairs that may grow.
        let mut n_partners = vec![0; open.len()];
        for j in 0..open.len() {
            for i in 0..j {
                let may_grow = u32::from(search.may_grow(pairs.support(open[i], open[j]), 2));
                n_partners[i] += may_grow;
                n_partners[j] += may_grow;
            }
        }
        open.iter().zip(n_partners).for_each(|(&term, n)| is_kept[term as usize] = n >= 2);
    } else {
        open.iter().for_each(|&term| is_kept[term as usize] = true);
    }
    is_kept
}

/// Puts the kept terms of a record in front of `held`, and returns how many there are.
fn filter(record: &[TermId], is_kept: &[bool], held: &mut Vec<TermId>) -> usize {
    if held.len() < record.len() {
        held.resize(record.len(), 0);
    }
    // Each is written, and overwritten if it was not meant to stay: no branch, no wrong guess.
    let mut n_held = 0;
    for &term in record {
        held[n_held] = term;
        n_held += usize::from(is_kept[term as usize]);
    }
    n_held
}
