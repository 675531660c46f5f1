//! Grows itemsets from their rarest term on, by intersecting the sets of records that hold them.
//!
//! Within the sets of one rarest term, a set of records has only the words in which that term occurs.

use std::cmp::Reverse;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::holders::Holders;
use super::pairs::Pairs;
use super::{Items, Search};
use crate::data::{TermId, Transactions};

/// So many words are read in the time of one record.
const WORDS_A_RECORD: usize = 16;

/// Offers all itemsets that could be among the best, except single terms and the pairs that were counted.
pub(super) fn all(records: &Transactions, items: &Items, pairs: &Pairs, search: &Search<'_>) {
    let n_open = items.n_open(search);
    if n_open < 2 || (search.mining.max_length == 2 && n_open <= pairs.n_terms()) {
        return;
    }
    let holders = Holders::new(records, items, pairs, search);
    // The most frequent terms first, whatever the number of threads: their sets raise the floor.
    let next = AtomicUsize::new(0);
    (0..rayon::current_num_threads()).into_par_iter().with_max_len(1).for_each(|_| {
        let mut growth = Growth::new(items, pairs, &holders, search);
        loop {
            let rank = next.fetch_add(1, Ordering::Relaxed);
            if rank >= items.n_open(search) {
                break;
            }
            search.mining.observer.check();
            growth.start_from(rank);
        }
    });
}

/// A term that extends the set at hand.
#[derive(Debug, Clone, Copy)]
struct Extension {
    term: TermId,
    /// Of the set together with the term.
    support: u32,
    /// Where the bits of its records begin.
    bits: usize,
}

/// What a thread needs to grow sets.
struct Growth<'a> {
    items: &'a Items,
    pairs: &'a Pairs,
    holders: &'a Holders<'a>,
    search: &'a Search<'a>,
    /// The set at hand, its rarest term first.
    set: Vec<TermId>,
    /// For terms; zero between uses.
    counts: Vec<u32>,
    /// Sets of records, `n_words` each, in a stack; nothing of what is beyond `top` is needed.
    bits: Vec<u64>,
    top: usize,
    n_words: usize,
    /// For each place of a word its place among those of the rarest term.
    slots: Vec<u32>,
    /// The words of the rarest term.
    mask: Vec<u64>,
    sorted: Vec<TermId>,
}

impl<'a> Growth<'a> {
    fn new(items: &'a Items, pairs: &'a Pairs, holders: &'a Holders<'a>, search: &'a Search<'a>) -> Self {
        Growth {
            items,
            pairs,
            holders,
            search,
            set: Vec::new(),
            counts: vec![0; items.supports.len()],
            bits: Vec::new(),
            top: 0,
            n_words: 0,
            slots: Vec::new(),
            mask: Vec::new(),
            sorted: Vec::new(),
        }
    }

    /// Offers all sets of the term of this rank and more frequent ones.
    fn start_from(&mut self, rank: usize) {
        let term = self.items.by_support[rank];
        self.set.push(term);
        let mut extensions = if rank < self.pairs.n_terms() { self.counted(rank) } else { self.count(rank) };
        extensions.retain(|extension| self.search.may_grow(extension.support, 2));
        if extensions.len() >= 2 && self.is_worth_it(self.items.supports[term as usize], &extensions) {
            extensions.sort_unstable_by_key(|extension| Reverse(extension.support));
            self.set_bits(term, &mut extensions);
            self.grow(&extensions);
        }
        self.set.pop();
    }

    /// The more frequent terms that are found with a term, from the pairs that were counted.
    fn counted(&self, rank: usize) -> Vec<Extension> {
        let rarest = self.items.by_support[rank];
        let mut extensions = Vec::new();
        for &term in &self.items.by_support[..rank] {
            let support = self.pairs.support(rarest, term);
            if self.search.may_grow(support, 2) && self.search.allows(rarest, term) {
                extensions.push(Extension { term, support, bits: 0 });
            }
        }
        extensions
    }

    /// The same from the records, for a term whose pairs were not counted; offers the pairs.
    fn count(&mut self, rank: usize) -> Vec<Extension> {
        let term = self.items.by_support[rank];
        let mut others = Vec::new();
        self.holders.for_each_record(term, |record| {
            for &other in record {
                let count = &mut self.counts[other as usize];
                if *count == 0 {
                    others.push(other);
                }
                *count += 1;
            }
        });
        let mut extensions = Vec::new();
        for other in others {
            let support = std::mem::take(&mut self.counts[other as usize]);
            let is_before = (self.items.ranks[other as usize] as usize) < rank;
            if is_before && self.search.is_open(support, 2) && self.search.allows(term, other) {
                self.offer(support, other);
                extensions.push(Extension { term: other, support, bits: 0 });
            }
        }
        extensions
    }

    /// Finds which of the records of the term hold which extension.
    fn set_bits(&mut self, term: TermId, extensions: &mut [Extension]) {
        let n_records = self.items.supports[term as usize] as usize;
        let n_words = self.holders.n_words(term);
        let n_read: usize = extensions.iter().map(|extension| self.holders.n_words(extension.term)).sum();
        // Reading words is cheap, but those of a rare term have few bits, and every intersection pays for that.
        let by_record = n_read + n_words * extensions.len() * extensions.len() / 4 > WORDS_A_RECORD * n_records;
        self.n_words = if by_record { n_records.div_ceil(64) } else { n_words };
        // The first set is for terms that are no extension, and the last word for words that the term does not have:
        // to write there takes less time than to ask.
        self.top = self.n_words * (extensions.len() + 1);
        self.bits.clear();
        self.bits.resize(self.top + 1, 0);
        extensions.iter_mut().zip(1..).for_each(|(extension, i)| extension.bits = i * self.n_words);
        if by_record {
            self.read_records(term, extensions);
        } else {
            self.read_words(term, extensions);
        }
    }

    /// Numbers the records of the term anew.
    fn read_records(&mut self, term: TermId, extensions: &[Extension]) {
        extensions.iter().zip(1..).for_each(|(extension, i)| self.counts[extension.term as usize] = i);
        let mut id = 0;
        self.holders.for_each_record(term, |record| {
            for &other in record {
                self.bits[self.counts[other as usize] as usize * self.n_words + id / 64] |= 1 << (id % 64);
            }
            id += 1;
        });
        extensions.iter().for_each(|extension| self.counts[extension.term as usize] = 0);
    }

    /// Takes the words of the extensions, without those that the term does not have.
    fn read_words(&mut self, term: TermId, extensions: &[Extension]) {
        self.mask.clear();
        self.mask.extend(self.holders.words(term).map(|word| word.bits));
        self.mask.push(0);
        self.slots.clear();
        self.slots.resize(self.holders.most_words, self.n_words as u32);
        self.holders.words(term).zip(0..).for_each(|(word, slot)| self.slots[word.place] = slot);
        for extension in extensions {
            let bits = &mut self.bits[extension.bits..=extension.bits + self.n_words];
            self.holders.words(extension.term).for_each(|word| {
                let slot = self.slots[word.place] as usize;
                bits[slot] = word.bits & self.mask[slot];
            });
        }
    }

    /// Offers all sets that extend the set at hand by two terms or more.
    fn grow(&mut self, extensions: &[Extension]) {
        for (i, &extension) in extensions.iter().enumerate().skip(1) {
            self.search.mining.observer.check();
            let before = &extensions[..i];
            self.set.push(extension.term);
            if self.is_worth_it(extension.support, before) {
                let top = self.top;
                let next = self.intersect(&extension, before);
                if next.len() >= 2 {
                    self.grow(&next);
                }
                self.top = top;
            }
            self.set.pop();
        }
    }

    /// Whether a set of the set at hand and some of `extensions` could be among the best.
    fn is_worth_it(&mut self, support: u32, extensions: &[Extension]) -> bool {
        let length = self.set.len();
        if length + extensions.len() < self.search.mining.min_length || !self.search.may_grow(support, length) {
            return false;
        }
        if !self.search.is_tie(support, length + 1) {
            return true;
        }
        // Only sets of the very same support and length can enter: if the first of them in the order of terms does not,
        // none does. Without this a search among many equal terms would not end.
        let more = self.search.mining.min_length.saturating_sub(length).max(1);
        let mut terms: Vec<TermId> = extensions.iter().filter(|e| e.support >= support).map(|e| e.term).collect();
        if terms.len() < more {
            return false;
        }
        terms.select_nth_unstable(more - 1);
        terms.truncate(more);
        terms.extend_from_slice(&self.set);
        terms.sort_unstable();
        self.search.would_take(support, &terms)
    }

    /// Offers the set at hand, which `last` has extended, with each of the terms `before`; returns those that may grow.
    fn intersect(&mut self, last: &Extension, before: &[Extension]) -> Vec<Extension> {
        let length = self.set.len() + 1;
        let mut next = Vec::new();
        for other in before {
            let is_counted = length == 3 && self.pairs.has(last.term) && self.pairs.has(other.term);
            let most = if is_counted { self.pairs.support(last.term, other.term) } else { other.support };
            if !self.search.is_open(most, length) {
                continue;
            }
            if self.bits.len() < self.top + self.n_words {
                self.bits.resize(2 * self.top + self.n_words, 0);
            }
            let (known, new) = self.bits.split_at_mut(self.top);
            let (a, b) = (&known[last.bits..][..self.n_words], &known[other.bits..][..self.n_words]);
            let mut support = 0;
            for ((word, a), b) in new.iter_mut().zip(a).zip(b) {
                *word = a & b;
                support += word.count_ones();
            }
            if self.search.is_open(support, length) && self.search.allows(last.term, other.term) {
                self.offer(support, other.term);
                if self.search.may_grow(support, length) {
                    next.push(Extension { term: other.term, support, bits: self.top });
                    self.top += self.n_words;
                }
            }
        }
        next
    }

    /// Offers the set at hand with one more term.
    fn offer(&mut self, support: u32, term: TermId) {
        if self.set.len() + 1 >= self.search.mining.min_length {
            self.sorted.clear();
            self.sorted.extend_from_slice(&self.set);
            self.sorted.push(term);
            self.sorted.sort_unstable();
            self.search.offer(support, &self.sorted);
        }
    }
}
