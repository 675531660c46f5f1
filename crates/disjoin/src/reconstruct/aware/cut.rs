//! A simple cluster as vertical partitioning left it: chunks in the order in which they were made, and what was refused.

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::data::TermId;
use crate::release::{Chunk, CutRule, Simple};

/// A cluster that was cut. Its terms are numbered in the order in which they were tried.
#[derive(Debug, Clone)]
pub struct Cut {
    pub(super) rule: CutRule,
    pub(super) k: u32,
    pub(super) m: u32,
    pub(super) size: u32,
    /// How many records may hold no term of a record chunk.
    pub(super) fill: u32,
    /// The terms of record chunks by falling support, ties by id: the public order in which they were tried.
    pub(super) terms: Vec<TermId>,
    /// The chunk of each term.
    pub(super) chunk_of: Vec<u32>,
    pub(super) chunks: Vec<Bag>,
    /// The support of each term.
    pub(super) supports: Vec<u32>,
}

/// A record chunk.
#[derive(Debug, Clone)]
pub(super) struct Bag {
    /// Its terms, in the order in which they were tried.
    pub(super) terms: Vec<u32>,
    /// Its distinct subrecords with their counts.
    pub(super) rows: Vec<(Vec<u32>, u32)>,
}

impl Cut {
    /// Reads a published cluster that was cut by the paper's rule; `fill` of its records may be without a subrecord of a record chunk.
    pub fn new(simple: &Simple, k: u32, m: u32, fill: u32) -> Self {
        Cut::of_chunks(&simple.record_chunks, simple.size, k, m, fill)
    }

    /// The same, cut by another rule.
    pub fn with_rule(self, rule: CutRule) -> Self {
        Cut { rule, ..self }
    }

    fn of_chunks(chunks: &[Chunk], size: u32, k: u32, m: u32, fill: u32) -> Self {
        let mut order: Vec<(Reverse<u32>, TermId, usize)> = Vec::new();
        for (c, chunk) in chunks.iter().enumerate() {
            let first = order.len();
            order.extend(chunk.terms.iter().map(|&term| (Reverse(0), term, c)));
            for (terms, count) in chunk.subrecords() {
                for term in terms {
                    if let Ok(at) = chunk.terms.binary_search(term) {
                        // A damaged release may say anything.
                        order[first + at].0.0 = order[first + at].0.0.saturating_add(count);
                    }
                }
            }
        }
        order.sort_unstable();
        // A chunk is opened by the first term that no earlier one took.
        let mut made = vec![u32::MAX; chunks.len()];
        let mut n_made = 0;
        for &(_, _, c) in &order {
            if made[c] == u32::MAX {
                made[c] = n_made;
                n_made += 1;
            }
        }
        let mut by_making: Vec<usize> = (0..chunks.len()).collect();
        by_making.sort_unstable_by_key(|&c| made[c]);
        let chunk_of: Vec<u32> = order.iter().map(|&(_, _, c)| made[c]).collect();
        let mut ids: Vec<(TermId, u32)> = order.iter().zip(0..).map(|(&(_, term, _), at)| (term, at)).collect();
        ids.sort_unstable();
        let number = |term: &TermId| ids.binary_search_by_key(term, |&(term, _)| term).map_or(0, |at| ids[at].1);
        let mut terms_of: Vec<Vec<u32>> = vec![Vec::new(); chunks.len()];
        (0..).zip(&chunk_of).for_each(|(term, &of)| terms_of[of as usize].push(term));
        let bag = |c: usize| {
            let rows = chunks[c].subrecords().map(|(terms, count)| (terms.iter().map(number).collect(), count));
            // A chunk without terms was never made.
            let terms = terms_of.get(made[c] as usize).cloned().unwrap_or_default();
            Bag { terms, rows: rows.collect() }
        };
        Cut {
            rule: CutRule::Greedy,
            k,
            m,
            size,
            fill: fill.min(size),
            chunks: by_making.into_iter().map(bag).collect(),
            terms: order.iter().map(|&(_, term, _)| term).collect(),
            supports: order.iter().map(|&(Reverse(support), ..)| support).collect(),
            chunk_of,
        }
    }

    /// Whether records can have had these chunks: no more subrecords than records, and every term in one chunk.
    pub(super) fn is_possible(&self) -> bool {
        let fits = |bag: &Bag| {
            bag.rows.iter().map(|(_, count)| u64::from(*count)).fold(0, u64::saturating_add) <= u64::from(self.size)
        };
        let mut terms = self.terms.clone();
        terms.sort_unstable();
        self.chunks.iter().all(fits) && terms.is_sorted_by(|a, b| a < b)
    }

    /// How many refusals there are.
    pub(super) fn n_refusals(&self) -> u64 {
        self.chunk_of.iter().map(|&chunk| u64::from(chunk)).sum()
    }

    /// The same cluster with one term, the first that was tried, for all that are in the same rows of a chunk; and which
    /// term each is merged into. The others change nothing: where the first is refused they are, and what is refused
    /// because of one of them is refused because of the first.
    pub(super) fn merged(&self) -> (Self, Vec<u32>) {
        // Which rows each term is in.
        let mut rows: Vec<Vec<u32>> = vec![Vec::new(); self.terms.len()];
        let all = self.chunks.iter().flat_map(|chunk| &chunk.rows);
        (0..).zip(all).for_each(|(row, (terms, _))| terms.iter().for_each(|&term| rows[term as usize].push(row)));
        let mut firsts: HashMap<&[u32], u32> = HashMap::new();
        let mut kept = Vec::new();
        let mut merged_into = Vec::new();
        for (term, rows) in (0..).zip(&rows) {
            // A term in no row is in no possible original; it is left alone.
            let first =
                if rows.is_empty() { kept.len() as u32 } else { *firsts.entry(rows).or_insert(kept.len() as u32) };
            if first == kept.len() as u32 {
                kept.push(term);
            }
            merged_into.push(first);
        }
        let number = |terms: &[u32]| -> Vec<u32> {
            let mut terms: Vec<u32> = terms.iter().map(|&term| merged_into[term as usize]).collect();
            terms.sort_unstable();
            terms.dedup();
            terms
        };
        let bag = |bag: &Bag| Bag {
            terms: number(&bag.terms),
            rows: bag.rows.iter().map(|(terms, count)| (number(terms), *count)).collect(),
        };
        let merged = Cut {
            chunks: self.chunks.iter().map(bag).collect(),
            terms: kept.iter().map(|&term| self.terms[term as usize]).collect(),
            chunk_of: kept.iter().map(|&term| self.chunk_of[term as usize]).collect(),
            supports: kept.iter().map(|&term| self.supports[term as usize]).collect(),
            ..*self
        };
        (merged, merged_into)
    }

    /// The terms of chunk `l` that `x` was tried with when it was refused there.
    #[inline]
    pub(super) fn tried_with(&self, x: u32, l: u32) -> &[u32] {
        let terms = &self.chunks[l as usize].terms;
        &terms[..terms.partition_point(|&y| y < x)]
    }

    /// All refusals: a term, and an earlier chunk that it was not let into.
    pub(super) fn refusals(&self) -> impl Iterator<Item = (u32, u32)> {
        (0..).zip(&self.chunk_of).flat_map(|(x, &chunk)| (0..chunk).map(move |l| (x, l)))
    }
}

/// How many records the terms of a term chunk can fill that have nothing else, at most.
pub fn filled_by_terms(simple: &Simple, k: u32) -> u64 {
    let rare = u64::from(k.saturating_sub(1));
    match simple.term_chunk.len() as u64 {
        // A term that is alone may have been moved there by the repair of Lemma 2: the rarest of those that are not rare.
        1 => rare.max(least_support(simple)),
        n => n.saturating_mul(rare),
    }
}

/// The support of the rarest term of the record chunks, or 0.
fn least_support(simple: &Simple) -> u64 {
    let of_chunk = |chunk: &Chunk| {
        let support = |term: &TermId| {
            let with_term = chunk.subrecords().filter(|(terms, _)| terms.binary_search(term).is_ok());
            with_term.map(|(_, count)| u64::from(count)).sum::<u64>()
        };
        chunk.terms.iter().map(support).min()
    };
    simple.record_chunks.iter().filter_map(of_chunk).min().unwrap_or(0)
}
