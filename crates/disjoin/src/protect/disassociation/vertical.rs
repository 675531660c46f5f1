//! Vertical partitioning: cuts one cluster into k^m-anonymous chunks of subrecords and a chunk of bare terms.
//!
//! Paper:      terrovitis2012, section 4, Algorithm VERPART; section 5, Lemma 2 and the repair after it
//! Promises:   every set of at most m terms of a record chunk occurs in it at least k times or never; a possible
//!             original without empty records exists that holds any such set k times (Lemma 2)
//!             with `algorithm_aware`, such an original exists that this algorithm cuts in the same way: terms are
//!             offered by a rule that tells nothing (`reconstruct/aware/weighed.rs`, with the proof)
//!             with `reject`, every original that the chunks allow is cut in this way with a probability above 0
//! Assumes:    the cluster has at least k records (`horizontal::merge_small`)
//! Departs:    ties go to the term whose text sorts first, an order that everybody knows and that does not depend on the
//!             order of the records; of equally rare terms the repair moves the last one
//! Cost:       O(v t |T| s/64) for v chunks, t frequent terms, |T| terms of a chunk and s records, with m = 2
//! Checked by: tests in this file (spec K 1, 2 and 4), tests/it/guarantee.rs, tests/it/aware.rs

use rand::RngExt;
use rayon::prelude::*;

use super::for_the_lab::Rejection;
use super::occurrences::Occurrences;
use super::rows::{Projection, TermRows, greedy_chunks};
use super::{Diversity, DiversityRule, Params, Partition};
use crate::data::{RecordId, TermId, Transactions};
use crate::generate::stream;
use crate::observer::Observer;
use crate::reconstruct::aware::is_offered;
use crate::release::Chunk;

/// A simple cluster on its way to the release. Chunks hold published ids, everything else ids of the input.
#[derive(Debug, Clone, Default)]
pub(super) struct Leaf {
    pub(super) size: u32,
    pub(super) record_chunks: Vec<Chunk>,
    /// The terms of all record chunks, ascending.
    pub(super) record_terms: Vec<TermId>,
    /// The terms that may still move to a shared chunk, ascending, with the records that hold them.
    pub(super) term_chunk: Occurrences,
    /// Sensitive terms: in the term chunk, and there to stay.
    pub(super) hidden: Vec<TermId>,
    /// How many terms the term chunk must keep, so that no record needs to be empty (Lemma 2).
    pub(super) keeps: u32,
    /// Whether Lemma 2 made a term move to the term chunk.
    pub(super) repaired: bool,
    /// How many frequent terms went to the term chunk so that the cut gives nothing away.
    pub(super) set_aside: u32,
}

/// Cuts all clusters, in parallel; the result is in the order of the partition.
pub(super) fn cut_all(
    partition: &Partition,
    records: &Transactions,
    rank: &[TermId],
    params: &Params,
    is_sensitive: &[bool],
    observer: &dyn Observer,
) -> Vec<Leaf> {
    (0..partition.len())
        .into_par_iter()
        .with_min_len(64)
        .map_init(
            || Cutter { index: vec![NONE; rank.len()], ..Cutter::default() },
            |cutter, i| {
                observer.check();
                cutter.cut(i as u64, partition.cluster(i), records, rank, params, is_sensitive)
            },
        )
        .collect()
}

const NONE: u32 = u32::MAX;

/// Work space that is reused from cluster to cluster.
#[derive(Default)]
struct Cutter {
    /// Position of a term in `rows`, or `NONE`.
    index: Vec<u32>,
    rows: TermRows,
    supports: Vec<u32>,
    masks: Vec<u64>,
    projection: Projection,
}

impl Cutter {
    fn cut(
        &mut self,
        number: u64,
        cluster: &[RecordId],
        records: &Transactions,
        rank: &[TermId],
        params: &Params,
        is_sensitive: &[bool],
    ) -> Leaf {
        self.load(cluster, records);
        let (mut frequent, mut rare, hidden) = self.sort_out(params.k, is_sensitive);
        let (rows, supports) = (&self.rows, &self.supports[..]);
        let published = |i: usize| rank[rows.terms[i] as usize];
        let order = |i: usize| (std::cmp::Reverse(supports[i]), published(i));
        frequent.sort_unstable_by_key(|&i| order(i));

        let (size, n_frequent) = (cluster.len() as u32, frequent.len());
        let (masks, projection) = (&mut self.masks, &mut self.projection);
        let mut lets_in = |chunk: &[usize], i: usize| rows.stays_km_anonymous(chunk, i, params.k, params.m, masks);
        let mut chunks = if params.algorithm_aware {
            let offers = Offers { size, k: params.k, supports };
            let (chunks, refused) = weighed_chunks(&frequent, rows, offers, lets_in);
            rare.extend(refused.into_iter().map(|(_, term)| term));
            chunks
        } else {
            // A stream for each cluster: threads do not matter.
            let mut chance =
                params.lab.reject.map(|Rejection { rho, seed }| (rho, stream(seed, "protect/reject", number)));
            let mut rejects = || chance.as_mut().is_some_and(|(rho, rng)| rng.random_bool(*rho));
            greedy_chunks(frequent, |chunk, i| lets_in(chunk, i) && (chunk.is_empty() || !rejects()))
        };
        let filling = Filling::new(rows, size, hidden.len(), params);
        let (keeps, repaired) = filling.provide(&mut chunks, &mut rare, order);

        let record_chunks: Vec<Chunk> = chunks.iter().map(|chunk| rows.project(chunk, published, projection)).collect();
        let mut record_terms: Vec<TermId> = chunks.iter().flatten().map(|&i| rows.terms[i]).collect();
        let set_aside = (n_frequent - record_terms.len()) as u32 - u32::from(repaired);
        record_terms.sort_unstable();
        rare.sort_unstable_by_key(|&i| rows.terms[i]);
        let rare_terms: Vec<(TermId, u32)> = rare.iter().map(|&i| (rows.terms[i], supports[i])).collect();
        let term_chunk = Occurrences::new(&rare_terms, |i| rows.rows(rare[i]));
        Leaf { size, record_chunks, record_terms, term_chunk, hidden, keeps, repaired, set_aside }
    }

    /// The places of frequent and of rare terms in `rows`, and the sensitive terms.
    fn sort_out(&self, k: u32, is_sensitive: &[bool]) -> (Vec<usize>, Vec<usize>, Vec<TermId>) {
        let (mut frequent, mut rare, mut hidden) = (Vec::new(), Vec::new(), Vec::new());
        for (i, &term) in self.rows.terms.iter().enumerate() {
            if is_sensitive[term as usize] {
                hidden.push(term);
            } else if self.supports[i] >= k {
                frequent.push(i);
            } else {
                rare.push(i);
            }
        }
        (frequent, rare, hidden)
    }

    fn load(&mut self, cluster: &[RecordId], records: &Transactions) {
        for &term in &self.rows.terms {
            self.index[term as usize] = NONE;
        }
        self.rows.clear(cluster.len());
        self.supports.clear();
        for (row, &record) in cluster.iter().enumerate() {
            for &term in records.record(record) {
                let mut index = self.index[term as usize];
                if index == NONE {
                    index = self.rows.add(term) as u32;
                    self.index[term as usize] = index;
                    self.supports.push(0);
                }
                self.rows.set(index as usize, row);
                self.supports[index as usize] += 1;
            }
        }
    }
}

/// What an offer depends on: nothing but what will be published.
#[derive(Clone, Copy)]
pub(super) struct Offers<'c> {
    pub(super) size: u32,
    pub(super) k: u32,
    pub(super) supports: &'c [u32],
}

/// Offers each term, in the order given, to the first chunk that is likely to let it in; where there is none it opens one.
/// Returns also the terms that were refused, each with the chunk that did: they are offered to no other.
pub(super) fn weighed_chunks(
    frequent: &[usize],
    rows: &TermRows,
    Offers { size, k, supports }: Offers<'_>,
    mut lets_in: impl FnMut(&[usize], usize) -> bool,
) -> (Vec<Vec<usize>>, Vec<(usize, usize)>) {
    let mut chunks: Vec<Vec<usize>> = Vec::new();
    // Of the terms of each chunk that are in the same rows, the first.
    let mut distinct: Vec<Vec<usize>> = Vec::new();
    let mut refused = Vec::new();
    for &term in frequent {
        let is_offered =
            |others: &Vec<usize>| is_offered(size, k, supports[term], others.iter().map(|&other| supports[other]));
        match distinct.iter().position(is_offered) {
            None => {
                chunks.push(vec![term]);
                distinct.push(vec![term]);
            }
            Some(c) if lets_in(&chunks[c], term) => {
                chunks[c].push(term);
                if !distinct[c].iter().any(|&other| rows.are_in_same_rows(other, term)) {
                    distinct[c].push(term);
                }
            }
            Some(c) => refused.push((c, term)),
        }
    }
    (chunks, refused)
}

/// What the term chunk of a cluster has to fill, so that no record needs to be empty (Lemma 2).
struct Filling<'c> {
    rows: &'c TermRows,
    size: u32,
    k: u32,
    m: u32,
    /// How many records the sensitive terms fill.
    by_hidden: u32,
    /// Who knows the algorithm counts on fewer than k records for each rare term. Sets across chunks need two known terms.
    is_reckoned: bool,
}

impl<'c> Filling<'c> {
    fn new(rows: &'c TermRows, size: u32, n_hidden: usize, params: &Params) -> Self {
        // Sensitive terms fill any records, unless the claim bounds how many: |P| >= l s(t, P).
        let by_hidden = match params.diversity {
            _ if n_hidden == 0 => 0,
            Some(Diversity { l, rule: DiversityRule::Multiplicity }) => (n_hidden as u32).saturating_mul(size / l),
            _ => u32::MAX,
        };
        let is_reckoned = params.algorithm_aware && params.m > 1;
        Filling { rows, size, k: params.k, m: params.m, by_hidden, is_reckoned }
    }

    /// How many records rare terms must fill: s + k (h - 1) - sum |C_i| with h = min(m, v), the number by which the
    /// record chunks alone fail Lemma 2, without what sensitive terms fill.
    fn lacking(&self, chunks: &[Vec<usize>]) -> u32 {
        let h = self.m.min(chunks.len() as u32);
        let subrecords: u64 = chunks.iter().map(|chunk| u64::from(self.rows.n_nonempty(chunk))).sum();
        let needed = u64::from(self.size) + u64::from(self.k) * u64::from(h.saturating_sub(1));
        (needed.saturating_sub(subrecords) as u32).saturating_sub(self.by_hidden)
    }

    /// Moves terms to the rare ones until these can fill what is lacking. Tells how many of them the term chunk must keep, and
    /// whether it had none to begin with.
    fn provide<K: Ord>(
        &self,
        chunks: &mut Vec<Vec<usize>>,
        rare: &mut Vec<usize>,
        order: impl Fn(usize) -> K,
    ) -> (u32, bool) {
        let mut n_lacking = self.lacking(chunks);
        let repaired = n_lacking > 0 && rare.is_empty();
        if repaired {
            rare.extend(take_rarest(chunks, order));
            n_lacking = self.lacking(chunks);
        }
        let filled_by_one = if self.is_reckoned { self.k - 1 } else { self.size };
        while self.is_reckoned && chunks.len() > 1 && n_lacking > (rare.len() as u32).saturating_mul(filled_by_one) {
            rare.extend(chunks.pop().into_iter().flatten());
            n_lacking = self.lacking(chunks);
        }
        // A single chunk is not cut: there is nothing to reckon back.
        let keeps = match chunks.len() {
            0 | 1 => u32::from(n_lacking > 0),
            _ => n_lacking.div_ceil(filled_by_one),
        };
        (keeps, repaired)
    }
}

/// Takes out the term that comes last in the order of the cut.
fn take_rarest<K: Ord>(chunks: &mut Vec<Vec<usize>>, key: impl Fn(usize) -> K) -> Option<usize> {
    let rarest = chunks.iter().flatten().copied().max_by_key(|&i| key(i))?;
    chunks.iter_mut().for_each(|chunk| chunk.retain(|&i| i != rarest));
    chunks.retain(|chunk| !chunk.is_empty());
    Some(rarest)
}

#[cfg(test)]
mod tests {
    use super::super::figures::{FIGURE_1, FIGURE_2};
    use super::super::tests::{cut, names, records};
    use super::*;

    /// Cuts one cluster and compares the chunks' domains, in the order in which they were made.
    fn check(rows: &[&str], k: u32, m: u32, chunks: &[&str], term_chunk: &str) -> Leaf {
        let data = records(rows);
        let leaf = cut(&data, &[(0..rows.len() as u32).collect()], &Params::paper(k, m)).remove(0);
        let (dictionary, _) = data.dictionary.sorted();
        let found: Vec<String> = leaf.record_chunks.iter().map(|chunk| names(&dictionary, &chunk.terms)).collect();
        let sorted = |terms: &str| {
            let mut terms: Vec<&str> = terms.split(", ").collect();
            terms.sort_unstable();
            terms.join(", ")
        };
        assert_eq!(found, chunks.iter().map(|terms| sorted(terms)).collect::<Vec<_>>());
        assert_eq!(sorted(&names(&data.dictionary, leaf.term_chunk.terms())), sorted(term_chunk));
        leaf
    }

    #[test]
    fn figure_2_first_cluster() {
        let leaf = check(&FIGURE_2[..5], 3, 2, &["itunes, flu, madonna", "audi a4, sony tv"], "ikea, ruby, viagra");
        let counts: Vec<u32> = leaf.record_chunks[0].subrecords().map(|(_, count)| count).collect();
        // {flu, itunes}, {flu, itunes, madonna} twice, {flu, madonna}, {itunes, madonna}
        assert_eq!(counts, [1, 2, 1, 1]);
        assert_eq!(leaf.record_chunks[1].subrecords().map(|(_, count)| count).collect::<Vec<_>>(), [3]);
    }

    #[test]
    fn figure_2_second_cluster() {
        check(&FIGURE_2[5..], 3, 2, &["madonna, digital camera, iphone sdk"], "panic disorder, playboy, ikea, ruby");
    }

    #[test]
    fn figure_4_is_repaired_by_moving_the_last_of_the_rarest() {
        // {a} x 3 and {b, c} x 3 are six subrecords, fewer than 5 + 3.
        let leaf = check(&["a", "a", "b, c", "b, c", "a, b, c"], 3, 2, &["a", "b"], "c");
        assert!(leaf.repaired && leaf.keeps > 0);
    }

    #[test]
    fn barakat_figure_1() {
        let chunks = ["oncologist, treatment, cancer", "surgery, side effects"];
        let leaf = check(&FIGURE_1, 3, 2, &chunks, "vomiting, nausea, chemotherapy");
        assert!(!leaf.repaired);
    }

    #[test]
    fn sensitive_terms_go_to_the_term_chunk_whatever_their_support() {
        let data = records(&["hiv, flu", "hiv, flu", "hiv, flu", "flu"]);
        let params = Params { sensitive: vec![data.dictionary.get("hiv").unwrap()], ..Params::paper(2, 2) };
        let leaf = cut(&data, &[vec![0, 1, 2, 3]], &params).remove(0);
        assert_eq!(names(&data.dictionary, &leaf.hidden), "hiv");
        assert_eq!(leaf.record_chunks.len(), 1);
        assert!(leaf.term_chunk.terms().is_empty());
    }

    #[test]
    fn a_cluster_of_more_than_64_records_is_cut_like_a_small_one() {
        let rows: Vec<String> = (0..200).map(|i| format!("t{}, u{}, v{}", i % 2, i % 3, i % 50)).collect();
        let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
        let data = records(&rows);
        let leaf = cut(&data, &[(0..200).collect()], &Params { max_cluster: 300, ..Params::paper(5, 2) }).remove(0);
        assert_eq!(leaf.record_terms.len(), 5);
        assert_eq!(leaf.term_chunk.terms().len(), 50);
        assert_eq!(leaf.record_chunks[0].n_subrecords(), 200);
    }
}
