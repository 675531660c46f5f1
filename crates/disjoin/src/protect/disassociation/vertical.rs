//! Vertical partitioning: cuts one cluster into k^m-anonymous chunks of subrecords and a chunk of bare terms.
//!
//! Paper:      terrovitis2012, section 4, Algorithm VERPART; section 5, Lemma 2 and the repair after it
//! Promises:   every set of at most m terms of a record chunk occurs in it at least k times or never; a possible
//!             original without empty records exists that holds any such set k times (Lemma 2)
//!             with `algorithm_aware`, such an original exists that this algorithm cuts in the same way: terms that
//!             would give somebody away go to the term chunk, and the cluster is cut again. A reader who knows this
//!             learns nothing from it, since an original in which these terms are rare is cut so without them
//! Assumes:    the cluster has at least k records (`horizontal::merge_small`)
//! Departs:    ties go to the term whose text sorts first, an order that everybody knows and that does not depend on the
//!             order of the records; of equally rare terms the repair moves the last one
//! Cost:       O(v t |T| s/64) for v chunks, t frequent terms, |T| terms of a chunk and s records, with m = 2
//! Checked by: tests in this file (spec K 1, 2 and 4), tests/guarantee.rs

use rayon::prelude::*;

use super::occurrences::Occurrences;
use super::rows::{Projection, TermRows, greedy_chunks};
use super::{Params, Partition};
use crate::data::{RecordId, TermId, Transactions};
use crate::reconstruct::aware::{Analysis, Cut, analyse, closed_pairs};
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
    /// Whether Lemma 2 holds by the record chunks alone, so that the term chunk may become empty.
    pub(super) stands_alone: bool,
    /// Whether Lemma 2 made a term move to the term chunk.
    pub(super) repaired: bool,
    /// How many frequent terms went to the term chunk because of what the cut would give away.
    pub(super) set_aside: u32,
}

/// Cuts all clusters, in parallel; the result is in the order of the partition.
pub(super) fn cut_all(
    partition: &Partition,
    records: &Transactions,
    rank: &[TermId],
    params: &Params,
    is_sensitive: &[bool],
) -> Vec<Leaf> {
    (0..partition.len())
        .into_par_iter()
        .with_min_len(64)
        .map_init(
            || Cutter { index: vec![NONE; rank.len()], ..Cutter::default() },
            |cutter, i| cutter.cut(partition.cluster(i), records, rank, params, is_sensitive),
        )
        .collect()
}

const NONE: u32 = u32::MAX;

/// What is not shown to be safe quickly is not worth a complete search: its terms are set aside.
const STEPS: u64 = 0;

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
        cluster: &[RecordId],
        records: &Transactions,
        rank: &[TermId],
        params: &Params,
        is_sensitive: &[bool],
    ) -> Leaf {
        self.load(cluster, records);
        let rows = &self.rows;
        let (k, m) = (params.k, params.m);

        let mut frequent = Vec::new();
        let mut rare = Vec::new();
        let mut hidden = Vec::new();
        for (i, &term) in rows.terms.iter().enumerate() {
            if is_sensitive[term as usize] {
                hidden.push(term);
            } else if self.supports[i] >= k {
                frequent.push(i);
            } else {
                rare.push(i);
            }
        }
        let published = |i: usize| rank[rows.terms[i] as usize];
        frequent.sort_unstable_by_key(|&i| (std::cmp::Reverse(self.supports[i]), published(i)));

        let size = cluster.len() as u32;
        let (masks, projection) = (&mut self.masks, &mut self.projection);
        let n_frequent = frequent.len();
        let draft = loop {
            let mut chunks = greedy_chunks(frequent.clone(), |chunk, i| rows.stays_km_anonymous(chunk, i, k, m, masks));
            let mut stands_alone = satisfies_lemma_2(rows, &chunks, size, k, m);
            let repaired = !stands_alone && rare.is_empty() && hidden.is_empty();
            let last = if repaired { frequent.pop() } else { None };
            if let Some(moved) = last {
                chunks.iter_mut().for_each(|chunk| chunk.retain(|&i| i != moved));
                chunks.retain(|chunk| !chunk.is_empty());
                rare.push(moved);
                stands_alone = satisfies_lemma_2(rows, &chunks, size, k, m);
            }
            let record_chunks: Vec<Chunk> =
                chunks.iter().map(|chunk| rows.project(chunk, published, projection)).collect();
            if params.algorithm_aware && chunks.len() > 1 {
                let fill = fill(rare.len() + hidden.len(), stands_alone && params.refine, k, size);
                let support = |i: usize| self.supports[i];
                let aside =
                    give_aways(&Cut::of_chunks(&record_chunks, size, k, m, fill), &frequent, published, support);
                if !aside.is_empty() {
                    frequent.retain(|i| !aside.contains(i));
                    rare.extend(aside);
                    continue;
                }
            }
            break Draft { chunks, record_chunks, stands_alone, repaired };
        };

        let Draft { chunks, record_chunks, stands_alone, repaired } = draft;
        let mut record_terms: Vec<TermId> = chunks.iter().flatten().map(|&i| rows.terms[i]).collect();
        let set_aside = (n_frequent - record_terms.len()) as u32 - u32::from(repaired);
        record_terms.sort_unstable();
        rare.sort_unstable_by_key(|&i| rows.terms[i]);
        let rare_terms: Vec<(TermId, u32)> = rare.iter().map(|&i| (rows.terms[i], self.supports[i])).collect();
        let term_chunk = Occurrences::new(&rare_terms, |i| rows.rows(rare[i]));
        Leaf { size, record_chunks, record_terms, term_chunk, hidden, stands_alone, repaired, set_aside }
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

/// A cluster cut once; terms may still have to be set aside.
struct Draft {
    chunks: Vec<Vec<usize>>,
    record_chunks: Vec<Chunk>,
    stands_alone: bool,
    repaired: bool,
}

/// How many records without any subrecord a reader will be able to fill, at least: each term of the term chunk is in k - 1
/// records at most, and where all of them may move to shared chunks, these have k subrecords at least.
fn fill(n_terms: usize, may_move: bool, k: u32, size: u32) -> u32 {
    let by_terms = (n_terms as u32).saturating_mul(k - 1);
    by_terms.min(if may_move { k } else { size })
}

/// Terms without which nothing that the cut gives away is left: of each itemset that fewer than k records can hold, or
/// that nobody could show to be safe, one at least. The rarest goes first: it is missed least.
fn give_aways(
    cut: &Cut,
    frequent: &[usize],
    published: impl Fn(usize) -> TermId,
    support: impl Fn(usize) -> u32,
) -> Vec<usize> {
    // What a single refusal shows is found quickly; only without it is it worth while to look further.
    let mut itemsets: Vec<Vec<TermId>> = closed_pairs(cut).into_iter().map(|breach| breach.terms).collect();
    if itemsets.is_empty() {
        let Analysis { breaches, open, contradiction, .. } = analyse(cut, STEPS);
        if contradiction {
            // No original is cut like this: without its last term it may be otherwise.
            return frequent.last().copied().into_iter().collect();
        }
        itemsets = breaches.into_iter().map(|breach| breach.terms).chain(open).collect();
    }
    let mut aside = Vec::new();
    while !itemsets.is_empty() {
        let n_hit = |i: usize| itemsets.iter().filter(|itemset| itemset.contains(&published(i))).count();
        let concerned = frequent.iter().copied().filter(|&i| n_hit(i) > 0);
        let Some(best) = concerned.min_by_key(|&i| (support(i), std::cmp::Reverse(n_hit(i)))) else { break };
        itemsets.retain(|itemset| !itemset.contains(&published(best)));
        aside.push(best);
    }
    aside
}

/// Lemma 2 without a term chunk: sum |C_i| >= s + k (h - 1) with h = min(m, v).
fn satisfies_lemma_2(rows: &TermRows, chunks: &[Vec<usize>], size: u32, k: u32, m: u32) -> bool {
    let h = u64::from(m).min(chunks.len() as u64);
    let subrecords: u64 = chunks.iter().map(|chunk| u64::from(rows.n_nonempty(chunk))).sum();
    h > 0 && subrecords >= u64::from(size) + u64::from(k) * (h - 1)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{FIGURE_2, cut, names, records};
    use super::*;

    /// Cuts one cluster and compares the chunks' domains, in the order in which they were made.
    fn check(rows: &[&str], k: u32, m: u32, chunks: &[&str], term_chunk: &str) -> Leaf {
        let data = records(rows);
        let leaf = cut(&data, &[(0..rows.len() as u32).collect()], &Params::new(k, m)).remove(0);
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
        assert!(leaf.repaired && !leaf.stands_alone);
    }

    #[test]
    fn barakat_figure_1() {
        let rows = [
            "oncologist, treatment, cancer, surgery, side effects, vomiting",
            "oncologist, treatment, cancer, surgery, side effects, nausea",
            "oncologist, treatment, cancer",
            "treatment, surgery, side effects, chemotherapy",
            "oncologist, treatment, cancer",
            "oncologist, surgery",
        ];
        let chunks = ["oncologist, treatment, cancer", "surgery, side effects"];
        let leaf = check(&rows, 3, 2, &chunks, "vomiting, nausea, chemotherapy");
        assert!(!leaf.repaired);
    }

    #[test]
    fn sensitive_terms_go_to_the_term_chunk_whatever_their_support() {
        let data = records(&["hiv, flu", "hiv, flu", "hiv, flu", "flu"]);
        let params = Params { sensitive: vec![data.dictionary.get("hiv").unwrap()], ..Params::new(2, 2) };
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
        let leaf = cut(&data, &[(0..200).collect()], &Params { max_cluster: 300, ..Params::new(5, 2) }).remove(0);
        assert_eq!(leaf.record_terms.len(), 5);
        assert_eq!(leaf.term_chunk.terms().len(), 50);
        assert_eq!(leaf.record_chunks[0].n_subrecords(), 200);
    }
}
