//! Shared chunks: cuts the refining terms of a join into bags that keep Property 1 and leave room.
//!
//! Paper:      terrovitis2012, section 3 (shared chunks), section 5, Property 1
//! Promises:   every chunk is k^m-anonymous; one with a term that a leaf publishes elsewhere (a conflict) is
//!             k-anonymous, and the leaves in which a subrecord may lie have room for the whole chunk
//! Assumes:    every refining term occurs at least k times in the rows given
//! Departs:    the condition on room is ours; `refine` says why it is needed
//! Cost:       O(E + P) for E incidences and P pairs of incidences in one row, plus the greedy's O(v t) for t terms
//!             in v chunks; with m > 2 also the sets of more than two terms that occur at least k times
//! Checked by: tests in this file (against the definitions, on random bags), tests/it/guarantee.rs

use super::rows::greedy_chunks;
use crate::data::TermId;
use crate::observer::Observer;
use crate::release::Chunk;

/// The bag of all rows that hold a refining term; terms are numbered by their position in the list of them.
pub(super) struct SharedRows {
    /// For each term the rows that hold it, ascending: a run of `rows`.
    term_ends: Vec<u32>,
    rows: Vec<u32>,
    /// For each row the terms it holds, ascending: a run of `terms`.
    row_ends: Vec<u32>,
    terms: Vec<u32>,
}

impl SharedRows {
    /// `supports` gives the length of each term's list; `fill` is called with a sink for (term, row), which must be
    /// fed with ascending rows for each term.
    pub(super) fn new(supports: &[u32], n_rows: usize, fill: impl FnOnce(&mut dyn FnMut(usize, u32))) -> Self {
        let mut term_ends = starts_of(supports);
        let mut rows = vec![0; supports.iter().map(|&s| s as usize).sum()];
        let mut row_sizes = vec![0u32; n_rows];
        fill(&mut |term, row| {
            rows[term_ends[term] as usize] = row;
            term_ends[term] += 1;
            row_sizes[row as usize] += 1;
        });
        let mut row_ends = starts_of(&row_sizes);
        let mut terms = vec![0; rows.len()];
        for term in 0..supports.len() {
            for &row in run(&rows, &term_ends, term) {
                terms[row_ends[row as usize] as usize] = term as u32;
                row_ends[row as usize] += 1;
            }
        }
        SharedRows { term_ends, rows, row_ends, terms }
    }

    fn n_terms(&self) -> usize {
        self.term_ends.len()
    }

    fn rows_of(&self, term: usize) -> &[u32] {
        run(&self.rows, &self.term_ends, term)
    }

    fn terms_of(&self, row: usize) -> &[u32] {
        run(&self.terms, &self.row_ends, row)
    }

    /// Cuts the terms into chunks, taking them in the order given. Returns lists of terms.
    pub(super) fn cut(
        &self,
        order: Vec<usize>,
        k: u32,
        m: u32,
        conflicts: &Conflicts,
        observer: &dyn Observer,
    ) -> Vec<Vec<usize>> {
        let company = Company::new(self, k, m, observer);
        let mut state = ChunkState::new(self);
        greedy_chunks(order, |chunk, candidate| {
            observer.check();
            if chunk.is_empty() {
                state.clear(self);
            }
            let admitted = if state.has_conflicts || conflicts.has(candidate) {
                state.keeps_pairs(candidate)
                    && state.stays_k_anonymous(self, candidate, k)
                    && state.leaves_room(conflicts, candidate)
            } else {
                m < 2 || state.keeps_pairs(candidate) && state.stays_km_anonymous(self, &company, candidate, k, m)
            };
            if admitted {
                state.add(self, &company, conflicts, candidate);
            }
            admitted
        })
    }

    /// The chunks as they are published: `label` gives the published id of a term.
    pub(super) fn project(&self, chunks: &[Vec<usize>], label: impl Fn(usize) -> TermId) -> Vec<Chunk> {
        const NO_CHUNK: u32 = u32::MAX;
        let mut chunk_of = vec![NO_CHUNK; self.n_terms()];
        chunks.iter().zip(0..).for_each(|(chunk, c)| chunk.iter().for_each(|&t| chunk_of[t] = c));
        let mut published: Vec<Chunk> = chunks
            .iter()
            .map(|chunk| {
                let mut terms: Vec<TermId> = chunk.iter().map(|&t| label(t)).collect();
                terms.sort_unstable();
                Chunk::new(terms)
            })
            .collect();
        // Most subrecords are single terms, which need no comparing.
        let mut single = vec![0u32; self.n_terms()];
        let mut items: Vec<TermId> = Vec::new();
        let mut larger: Vec<(u32, usize, usize)> = Vec::new();
        let mut row_terms: Vec<(u32, TermId, u32)> = Vec::new();
        for row in 0..self.row_ends.len() {
            row_terms.clear();
            let placed = self.terms_of(row).iter().filter(|&&t| chunk_of[t as usize] != NO_CHUNK);
            row_terms.extend(placed.map(|&t| (chunk_of[t as usize], label(t as usize), t)));
            row_terms.sort_unstable();
            for subrecord in row_terms.chunk_by(|a, b| a.0 == b.0) {
                if let [(_, _, term)] = subrecord {
                    single[*term as usize] += 1;
                } else {
                    let start = items.len();
                    items.extend(subrecord.iter().map(|&(_, item, _)| item));
                    larger.push((subrecord[0].0, start, items.len()));
                }
            }
        }
        let slice = |&(_, start, end): &(u32, usize, usize)| &items[start..end];
        larger.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| slice(a).cmp(slice(b))));
        let mut larger = larger.chunk_by(|a, b| a.0 == b.0 && slice(a) == slice(b)).peekable();
        for (c, chunk) in (0..).zip(chunks) {
            let mut singles: Vec<(TermId, u32)> =
                chunk.iter().filter(|&&t| single[t] > 0).map(|&t| (label(t), single[t])).collect();
            singles.sort_unstable();
            // Both lists are sorted: merge them.
            let mut singles = singles.into_iter().peekable();
            while let Some(equal) = larger.next_if(|equal| equal[0].0 == c) {
                while let Some((item, count)) = singles.next_if(|&(item, _)| [item][..] < *slice(&equal[0])) {
                    published[c as usize].push(&[item], count);
                }
                published[c as usize].push(slice(&equal[0]), equal.len() as u32);
            }
            singles.for_each(|(item, count)| published[c as usize].push(&[item], count));
        }
        published
    }
}

/// Which leaves publish a refining term further down already, and so cannot have contributed it.
pub(super) struct Conflicts {
    /// For each refining term and each leaf whether the leaf is in conflict; empty for a term without conflicts.
    by_term: Vec<Vec<bool>>,
    sizes: Vec<u64>,
    /// Whether the paper's condition is enough: only for experiments.
    ignore_room: bool,
}

impl Conflicts {
    /// No conflicts between `n_terms` terms and leaves of the given sizes.
    pub(super) fn none(n_terms: usize, sizes: Vec<u64>, ignore_room: bool) -> Self {
        Conflicts { by_term: vec![Vec::new(); n_terms], sizes, ignore_room }
    }

    /// Notes that the leaves publish the term further down.
    pub(super) fn mark(&mut self, term: usize, leaves: std::ops::Range<usize>) {
        let marks = &mut self.by_term[term];
        marks.resize(self.sizes.len(), false);
        marks[leaves].fill(true);
    }

    /// Whether the term is in T^r.
    fn has(&self, term: usize) -> bool {
        !self.by_term[term].is_empty()
    }

    /// How many records the leaves have, together, in which a subrecord of these terms may lie.
    fn room(&self, terms: impl Iterator<Item = usize>) -> u64 {
        let barred: Vec<&Vec<bool>> = terms.map(|t| &self.by_term[t]).filter(|leaves| !leaves.is_empty()).collect();
        if barred.is_empty() || self.ignore_room {
            return u64::MAX; // all leaves, and they have room for every record they contribute
        }
        let free = |&leaf: &usize| !barred.iter().any(|leaves| leaves[leaf]);
        (0..self.sizes.len()).filter(free).map(|leaf| self.sizes[leaf]).sum()
    }
}

/// With which terms a term occurs in one row, and whether often enough to stay together.
#[derive(Default)]
struct Company {
    /// For each term those it occurs with fewer than k times: a run of `rare`.
    rare_ends: Vec<u32>,
    rare: Vec<u32>,
    /// For m > 2, for each term those it occurs with more often: a run of `frequent`.
    frequent_ends: Vec<u32>,
    frequent: Vec<u32>,
}

impl Company {
    fn new(bag: &SharedRows, k: u32, m: u32, observer: &dyn Observer) -> Self {
        let mut company = Company::default();
        let mut counts = vec![0u32; bag.n_terms()];
        let mut touched = Vec::new();
        for term in 0..bag.n_terms() {
            observer.check();
            for &row in bag.rows_of(term) {
                let terms = bag.terms_of(row as usize);
                if terms.len() == 1 {
                    continue; // the term itself
                }
                for &other in terms {
                    if counts[other as usize] == 0 {
                        touched.push(other);
                    }
                    counts[other as usize] += 1;
                }
            }
            for other in touched.drain(..) {
                let count = std::mem::take(&mut counts[other as usize]);
                if other as usize != term {
                    if count < k {
                        company.rare.push(other);
                    } else if m > 2 {
                        company.frequent.push(other);
                    }
                }
            }
            company.rare_ends.push(company.rare.len() as u32);
            company.frequent_ends.push(company.frequent.len() as u32);
        }
        company
    }
}

/// The chunk at hand: its terms, and which subrecord each row has in it so far.
struct ChunkState {
    number: u32,
    terms: Vec<usize>,
    in_chunk: Vec<bool>,
    /// For each term the last chunk that holds a term with which it makes a rare pair.
    barred_from: Vec<u32>,
    has_conflicts: bool,
    /// The class of each row; rows of one class have the same subrecord. Class 0 is the empty subrecord.
    class_of: Vec<u32>,
    classes: Vec<Class>,
    /// The number of rows in classes other than 0.
    n_subrecords: u64,
}

#[derive(Clone, Copy, Default)]
struct Class {
    /// Number of rows; not kept for class 0.
    size: u32,
    /// Its subrecord is that of this class and this term: a class is born when a term is added. Unused for class 0.
    parent: u32,
    term: u32,
    /// How many records the leaves have in which its subrecord may lie.
    room: u64,
    /// Work space: how many of the rows hold the candidate, or which class they go to.
    with_candidate: u32,
}

impl ChunkState {
    fn new(bag: &SharedRows) -> Self {
        ChunkState {
            number: 0,
            terms: Vec::new(),
            in_chunk: vec![false; bag.n_terms()],
            barred_from: vec![0; bag.n_terms()],
            has_conflicts: false,
            class_of: vec![0; bag.row_ends.len()],
            classes: vec![Class::default()],
            n_subrecords: 0,
        }
    }

    fn clear(&mut self, bag: &SharedRows) {
        for t in self.terms.drain(..) {
            self.in_chunk[t] = false;
            bag.rows_of(t).iter().for_each(|&row| self.class_of[row as usize] = 0);
        }
        self.classes.truncate(1);
        self.has_conflicts = false;
        self.n_subrecords = 0;
        self.number += 1;
    }

    /// No pair with the candidate occurs more than 0 and fewer than k times: needed for k^m and for k-anonymity.
    fn keeps_pairs(&self, candidate: usize) -> bool {
        self.barred_from[candidate] != self.number
    }

    /// Given `keeps_pairs`: no larger set of up to m terms with the candidate occurs more than 0 and fewer than k
    /// times. Only terms that occur with the candidate, hence at least k times, can be part of such a set.
    fn stays_km_anonymous(&self, bag: &SharedRows, company: &Company, candidate: usize, k: u32, m: u32) -> bool {
        if m <= 2 {
            return true;
        }
        let others: Vec<usize> = run(&company.frequent, &company.frequent_ends, candidate)
            .iter()
            .map(|&t| t as usize)
            .filter(|&t| self.in_chunk[t])
            .collect();
        !violates(bag, bag.rows_of(candidate), &others, m - 1, k)
    }

    /// Whether every distinct subrecord, with the candidate added, occurs at least k times.
    fn stays_k_anonymous(&mut self, bag: &SharedRows, candidate: usize, k: u32) -> bool {
        self.count(bag, candidate);
        let allowed = |count: u32| count == 0 || count >= k;
        allowed(self.classes[0].with_candidate)
            && self.classes[1..]
                .iter()
                .all(|class| allowed(class.with_candidate) && allowed(class.size - class.with_candidate))
    }

    /// Counts in every class the rows that hold the candidate.
    fn count(&mut self, bag: &SharedRows, candidate: usize) {
        self.classes.iter_mut().for_each(|class| class.with_candidate = 0);
        for &row in bag.rows_of(candidate) {
            self.classes[self.class_of[row as usize] as usize].with_candidate += 1;
        }
    }

    /// Whether every subrecord, with the candidate added, may lie in leaves that have, together, at least as many
    /// records as there are subrecords. The candidate has been counted.
    fn leaves_room(&self, conflicts: &Conflicts, candidate: usize) -> bool {
        let needed = self.n_subrecords + u64::from(self.classes[0].with_candidate);
        self.classes.iter().zip(0..).all(|(class, c)| {
            (c == 0 || class.with_candidate == class.size || class.room >= needed)
                && (class.with_candidate == 0 || conflicts.room(self.subrecord(c).chain([candidate])) >= needed)
        })
    }

    /// The terms of the subrecord of a class.
    fn subrecord(&self, class: u32) -> impl Iterator<Item = usize> {
        let mut class = class;
        std::iter::from_fn(move || {
            let Class { parent, term, .. } = self.classes[class as usize];
            (class > 0).then(|| {
                class = parent;
                term as usize
            })
        })
    }

    /// Takes the term in: splits every class by whether its rows hold the term.
    fn add(&mut self, bag: &SharedRows, company: &Company, conflicts: &Conflicts, term: usize) {
        self.in_chunk[term] = true;
        self.terms.push(term);
        self.has_conflicts |= conflicts.has(term);
        for &t in run(&company.rare, &company.rare_ends, term) {
            self.barred_from[t as usize] = self.number;
        }
        self.classes.iter_mut().for_each(|class| class.with_candidate = 0);
        for &row in bag.rows_of(term) {
            let class = self.class_of[row as usize];
            let mut born = self.classes[class as usize].with_candidate;
            if born == 0 {
                born = self.classes.len() as u32;
                self.classes[class as usize].with_candidate = born;
                let room = conflicts.room(self.subrecord(class).chain([term]));
                self.classes.push(Class { parent: class, term: term as u32, room, ..Class::default() });
            }
            self.class_of[row as usize] = born;
            self.classes[born as usize].size += 1;
            if class == 0 {
                self.n_subrecords += 1;
            } else {
                self.classes[class as usize].size -= 1;
            }
        }
    }
}

/// Whether some set of at most `left` of the terms, with all of `rows`, occurs more than 0 and fewer than k times.
fn violates(bag: &SharedRows, rows: &[u32], terms: &[usize], left: u32, k: u32) -> bool {
    terms.iter().enumerate().any(|(i, &term)| {
        let common = intersection(rows, bag.rows_of(term));
        let count = common.len() as u32;
        (count > 0 && count < k)
            || (left > 1
                && count > 0
                // An unchanged set of rows brings nothing: the set without this term says the same with fewer terms.
                && common.len() < rows.len()
                && violates(bag, &common, &terms[i + 1..], left - 1, k))
    })
}

fn intersection(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut b = b.iter().peekable();
    a.iter()
        .copied()
        .filter(|&row| {
            while b.next_if(|&&other| other < row).is_some() {}
            b.peek() == Some(&&row)
        })
        .collect()
}

/// Where runs of the given lengths start.
fn starts_of(lengths: &[u32]) -> Vec<u32> {
    let mut start = 0;
    let next = |&length: &u32| {
        start += length;
        start - length
    };
    lengths.iter().map(next).collect()
}

fn run<'a>(all: &'a [u32], ends: &[u32], i: usize) -> &'a [u32] {
    &all[if i == 0 { 0 } else { ends[i - 1] as usize }..ends[i] as usize]
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// Random rows of terms, and the bag of them.
    fn random_bag(rng: &mut ChaCha8Rng) -> (Vec<Vec<usize>>, SharedRows) {
        let (n_rows, n_terms) = (rng.random_range(1..40), rng.random_range(1..6));
        let density = rng.random_range(0.05..0.8);
        let held: Vec<Vec<usize>> =
            (0..n_rows).map(|_| (0..n_terms).filter(|_| rng.random_bool(density)).collect()).collect();
        let supports: Vec<u32> =
            (0..n_terms).map(|t| held.iter().filter(|terms| terms.contains(&t)).count() as u32).collect();
        let bag = SharedRows::new(&supports, n_rows, |sink| {
            for (row, terms) in held.iter().enumerate() {
                terms.iter().for_each(|&t| sink(t, row as u32));
            }
        });
        (held, bag)
    }

    fn bag_of(held: &[Vec<usize>], chunk: &[usize]) -> std::collections::BTreeMap<Vec<usize>, u32> {
        let mut bag = std::collections::BTreeMap::new();
        for terms in held {
            let part: Vec<usize> = terms.iter().copied().filter(|t| chunk.contains(t)).collect();
            if !part.is_empty() {
                *bag.entry(part).or_insert(0) += 1;
            }
        }
        bag
    }

    fn is_km_anonymous(held: &[Vec<usize>], chunk: &[usize], k: u32, m: u32) -> bool {
        (1u32..1 << chunk.len()).filter(|set| set.count_ones() <= m).all(|set| {
            let wanted: Vec<usize> = (0..chunk.len()).filter(|i| set >> i & 1 == 1).map(|i| chunk[i]).collect();
            let support = held.iter().filter(|terms| wanted.iter().all(|t| terms.contains(t))).count() as u32;
            support == 0 || support >= k
        })
    }

    /// The greedy with the definitions written out.
    fn by_definition(held: &[Vec<usize>], order: &[usize], k: u32, m: u32, conflicts: &Conflicts) -> Vec<Vec<usize>> {
        greedy_chunks(order.to_vec(), |chunk, candidate| {
            let all: Vec<usize> = chunk.iter().copied().chain([candidate]).collect();
            if all.iter().any(|&t| conflicts.has(t)) {
                let bag = bag_of(held, &all);
                let needed = bag.values().map(|&count| u64::from(count)).sum();
                bag.iter().all(|(terms, &count)| count >= k && conflicts.room(terms.iter().copied()) >= needed)
            } else {
                is_km_anonymous(held, &all, k, m)
            }
        })
    }

    #[test]
    fn chunks_are_those_of_the_definitions() {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let (mut larger, mut with_conflicts) = (0, 0);
        for _ in 0..3000 {
            let (held, bag) = random_bag(&mut rng);
            let (k, m) = (rng.random_range(2..5), rng.random_range(1..5));
            let order: Vec<usize> = (0..bag.n_terms()).filter(|&t| bag.rows_of(t).len() >= k as usize).collect();
            // Two leaves that split the rows; each term may be in conflict with the second.
            let half = held.len() as u64 / 2;
            let mut conflicts = Conflicts::none(bag.n_terms(), vec![half, held.len() as u64 - half], false);
            for t in 0..bag.n_terms() {
                let in_second_half = bag.rows_of(t).iter().any(|&row| u64::from(row) >= half);
                if !in_second_half && rng.random_bool(0.5) {
                    conflicts.mark(t, 1..2);
                }
            }
            let chunks = bag.cut(order.clone(), k, m, &conflicts, &crate::observer::Unobserved);
            assert_eq!(chunks, by_definition(&held, &order, k, m, &conflicts), "k={k} m={m} {held:?}");
            let label = |t: usize| 100 - t as u32;
            for (chunk, published) in chunks.iter().zip(bag.project(&chunks, label)) {
                let mut expected: Vec<(Vec<u32>, u32)> = bag_of(&held, chunk)
                    .into_iter()
                    .map(|(terms, count)| (terms.iter().rev().map(|&t| label(t)).collect(), count))
                    .collect();
                expected.sort_unstable();
                let found: Vec<_> = published.subrecords().map(|(terms, count)| (terms.to_vec(), count)).collect();
                assert_eq!(found, expected);
                larger += usize::from(chunk.len() > 1);
                with_conflicts += usize::from(chunk.len() > 1 && chunk.iter().any(|&t| conflicts.has(t)));
            }
        }
        assert!(larger > 500 && with_conflicts > 10, "{larger} {with_conflicts}");
    }

    #[test]
    fn room_is_that_of_the_leaves_in_which_a_subrecord_may_lie() {
        // Three subrecords {0, 1}; term 0 cannot lie in the first leaf.
        let mut conflicts = Conflicts::none(2, vec![3, 9], false);
        conflicts.mark(0, 0..1);
        assert!(conflicts.has(0) && !conflicts.has(1));
        assert_eq!(conflicts.room([0, 1].into_iter()), 9);
        conflicts.mark(1, 1..2);
        assert_eq!(conflicts.room([0, 1].into_iter()), 0);
        assert_eq!(conflicts.room([1].into_iter()), 3);
        conflicts.ignore_room = true;
        assert_eq!(conflicts.room([0, 1].into_iter()), u64::MAX);
    }
}
