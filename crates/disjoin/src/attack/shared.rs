//! Sets with terms of shared chunks, for somebody who knows how clusters are cut and that they share what was left over.
//!
//! Refining shares terms that no record chunk of a cluster took: as a rule, because fewer than k of its records hold them. So of all
//! possible originals of a joint cluster only those are left whose simple clusters are cut into the record chunks that are
//! published. A set that somebody holds in one of them, but k records in none, is a finding. Every possible original
//! is cut again, which is why only a handful of records is looked at.
//!
//! Paper:      ours, after barakat2016
//! Promises:   no original of the joint cluster that is cut as published has k records with the terms of a finding, and no other
//!             cluster has all of its terms. Of a joint cluster that is decided, these are all
//! Assumes:    clusters were cut and joined as in terrovitis2012, with its corrections. Two clusters that share one chunk of several terms, where no
//!             other clusters are joint, may share common terms instead: they are not looked at. No term is sensitive
//! Cost:       the possible originals of each joint cluster of at most 14 records, as long as they are few
//! Checked by: tests in this file: the program cuts small clusters in the same way; tests/it/rerun.rs, against all datasets

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::originals::{Bits, Originals};
use super::{Finding, View};
use crate::reconstruct::aware::is_offered;
use crate::release::{CutRule, Disassociated, Node};

/// A joint cluster whose possible originals take more steps is not looked at, nor one of more records.
const STEPS: u64 = 50_000;
const MOST_RECORDS: u64 = 14;

/// What is certain about sets with terms of shared chunks.
pub(super) fn findings(view: &View<'_>) -> Vec<Finding> {
    let release = view.release;
    let of_root = |(number, first, root): (usize, u32, &Node)| -> Vec<Finding> {
        view.observer.check();
        let others = || release.roots.iter().enumerate().filter(|(i, _)| *i != number).map(|(_, root)| root);
        let mut found = decided(root, release, view.cut).map_or(Vec::new(), |most| most);
        found.iter_mut().for_each(|finding| finding.leaf += first);
        found.retain(|finding| view.knowledge.has(&finding.terms) && !others().any(|root| may_hold(root, finding)));
        found
    };
    numbered(release).into_par_iter().flat_map_iter(of_root).collect()
}

/// Simple clusters with terms of shared chunks of which all sets are decided.
pub fn n_decided(release: &Disassociated, cut: CutRule) -> u64 {
    let is_decided = |root: &Node| decided(root, release, cut).is_some();
    release.roots.par_iter().filter(|root| is_decided(root)).map(|root| root.leaves().len() as u64).sum()
}

/// The roots, each with its number and that of its first simple cluster.
fn numbered(release: &Disassociated) -> Vec<(usize, u32, &Node)> {
    let mut first = 0;
    let number = |(i, root): (usize, _)| {
        let here = first;
        first += Node::leaves(root).len() as u32;
        (i, here, root)
    };
    release.roots.iter().enumerate().map(number).collect()
}

/// Whether some simple cluster of a root has a place for each term.
fn may_hold(root: &Node, finding: &Finding) -> bool {
    fn has(node: &Node, missing: Vec<u32>) -> bool {
        let (chunks, listed) = match node {
            Node::Simple(simple) => (&simple.record_chunks, &simple.term_chunk),
            Node::Joint(joint) => (&joint.shared_chunks, &joint.term_chunk),
        };
        let is_here = |term: &u32| listed.contains(term) || chunks.iter().any(|chunk| chunk.terms.contains(term));
        let missing: Vec<u32> = missing.into_iter().filter(|term| !is_here(term)).collect();
        match node {
            Node::Simple(_) => missing.is_empty(),
            Node::Joint(joint) => joint.members.iter().any(|member| has(member, missing.clone())),
        }
    }
    has(root, finding.terms.clone())
}

/// The findings of a joint cluster, its leaves numbered from 0; none if it is not looked at.
fn decided(root: &Node, release: &Disassociated, cut: CutRule) -> Option<Vec<Finding>> {
    let is_small = matches!(root, Node::Joint(_)) && root.size() <= MOST_RECORDS;
    let is_looked_at = is_small && !may_be_common(root, release);
    let all = is_looked_at.then(|| Originals::new(std::iter::once(root))).flatten()?;
    let (k, m) = (release.header.k, release.header.m);
    // For each set with a shared term: the most records that hold it, and the first leaf with one.
    let mut most: BTreeMap<Bits, (u32, usize)> = BTreeMap::new();
    let mut n_possible = 0_u64;
    let is_whole = all.visit(STEPS, &mut |records| {
        if !is_cut_so(&all, records, (k, m), cut) {
            return;
        }
        n_possible += 1;
        for (set, (holders, leaf)) in held(&all, records, m) {
            let known = most.entry(set).or_insert((0, leaf));
            known.0 = known.0.max(holders);
        }
    });
    let finding = |(set, (_, leaf)): (Bits, (u32, usize))| Finding {
        leaf: leaf as u32,
        terms: all.terms(set),
        learned: Vec::new(),
        confidence: 1.0,
    };
    (is_whole && n_possible > 0)
        .then(|| most.into_iter().filter(|(_, (holders, _))| *holders < k).map(finding).collect())
}

/// Whether a root may be the one whose members share the common terms of the layered grouping.
fn may_be_common(root: &Node, release: &Disassociated) -> bool {
    let Node::Joint(joint) = root else { return false };
    let is_only = release.roots.iter().filter(|root| matches!(root, Node::Joint(_))).count() == 1;
    let is_flat = joint.members.iter().all(|member| matches!(member, Node::Simple(_)));
    // Common terms are two at least.
    let has_several = joint.shared_chunks.iter().map(|chunk| chunk.terms.len()).collect::<Vec<_>>() != [1];
    (is_only && is_flat && joint.shared_chunks.len() == 1 && has_several) || joint.members.len() != 2
}

/// The sets of at most m terms of chunks, one of them shared, that records hold: how many do, and the first leaf in which one does.
fn held(all: &Originals, records: &[Bits], m: u32) -> BTreeMap<Bits, (u32, usize)> {
    let mut sets: BTreeMap<Bits, (u32, usize)> = BTreeMap::new();
    let leaves = all.leaves.iter().enumerate().flat_map(|(i, leaf)| std::iter::repeat_n((i, leaf), leaf.size));
    for (&record, (number, leaf)) in records.iter().zip(leaves) {
        let covered = record & leaf.covered();
        subsets(covered, m, &mut |set| {
            if set & leaf.shared != 0 {
                sets.entry(set).or_insert((0, number));
            }
        });
    }
    for (set, (holders, _)) in &mut sets {
        *holders = records.iter().filter(|&record| record & set == *set).count() as u32;
    }
    sets
}

/// Calls `visit` with every set of 1 to m of some terms.
pub(super) fn subsets(terms: Bits, m: u32, visit: &mut dyn FnMut(Bits)) {
    fn extend(set: Bits, rest: Bits, m: u32, visit: &mut dyn FnMut(Bits)) {
        let mut rest = rest;
        while m > 0 && rest != 0 {
            let bit = rest & rest.wrapping_neg();
            rest &= !bit;
            visit(set | bit);
            extend(set | bit, rest, m - 1, visit);
        }
    }
    extend(0, terms, m, visit);
}

/// Whether each leaf is cut into the record chunks that it has.
fn is_cut_so(all: &Originals, records: &[Bits], (k, m): (u32, u32), cut: CutRule) -> bool {
    let mut rest = records;
    all.leaves.iter().all(|leaf| {
        let (here, others) = rest.split_at(leaf.size);
        rest = others;
        let mut published = leaf.record_chunks.clone();
        published.sort_unstable();
        // Of what all share, none is there where the cluster was cut: refining comes later.
        chunks_of(here, (k, m), cut) == published
    })
}

/// The terms of the record chunks into which a cluster is cut, ascending.
fn chunks_of(records: &[Bits], (k, m): (u32, u32), cut: CutRule) -> Vec<Bits> {
    let support = |set: Bits| records.iter().filter(|&record| record & set == set).count() as u32;
    let all = records.iter().fold(0, |all, record| all | record);
    let mut terms: Vec<Bits> = (0..64).map(|bit| 1 << bit).filter(|bit| all & bit != 0).collect();
    terms.sort_by_key(|&term| std::cmp::Reverse(support(term)));
    let n_frequent = terms.partition_point(|&term| support(term) >= k);
    let is_anonymous = |chunk: Bits| {
        let mut is = true;
        subsets(chunk, m, &mut |set| is &= support(set) == 0 || support(set) >= k);
        is
    };
    let (frequent, mut n_rare) = (&terms[..n_frequent], terms.len() - n_frequent);
    let mut chunks: Vec<Vec<Bits>> = Vec::new();
    let bits = |chunk: &[Bits]| chunk.iter().fold(0, |all, term| all | term);
    for &term in frequent {
        let lets_in = |chunk: &Vec<Bits>| is_anonymous(bits(chunk) | term);
        let chunk = match cut {
            CutRule::Greedy => chunks.iter().position(lets_in),
            CutRule::Weighed => chunks.iter().position(|chunk| is_offered_to(records, k, chunk, term)),
        };
        match chunk {
            None => chunks.push(vec![term]),
            Some(chunk) if cut == CutRule::Greedy || lets_in(&chunks[chunk]) => chunks[chunk].push(term),
            Some(_) => n_rare += 1,
        }
    }
    fill(&mut chunks, records, n_rare, (k, m), cut);
    let mut chunks: Vec<Bits> = chunks.iter().map(|chunk| bits(chunk)).filter(|&chunk| chunk != 0).collect();
    chunks.sort_unstable();
    chunks
}

/// Whether a term is offered to a chunk: terms in the same records are asked once.
fn is_offered_to(records: &[Bits], k: u32, chunk: &[Bits], term: Bits) -> bool {
    let rows = |term: Bits| -> Vec<bool> { records.iter().map(|record| record & term != 0).collect() };
    let support = |term: Bits| records.iter().filter(|&record| record & term != 0).count() as u32;
    let is_first = |i: &usize| !chunk[..*i].iter().any(|&other| rows(other) == rows(chunk[*i]));
    let others: Vec<u32> = (0..chunk.len()).filter(is_first).map(|i| support(chunk[i])).collect();
    is_offered(records.len() as u32, k, support(term), others)
}

/// Moves terms out of chunks until rare ones can fill all records (Lemma 2).
fn fill(chunks: &mut Vec<Vec<Bits>>, records: &[Bits], mut n_rare: usize, (k, m): (u32, u32), cut: CutRule) {
    let lacking = |chunks: &[Vec<Bits>]| {
        let h = (chunks.len() as u64).min(m.into());
        let rows = |chunk: &Vec<Bits>| {
            let all = chunk.iter().fold(0, |all, term| all | term);
            records.iter().filter(|&record| record & all != 0).count() as u64
        };
        let needed = records.len() as u64 + u64::from(k) * h.saturating_sub(1);
        needed.saturating_sub(chunks.iter().map(rows).sum())
    };
    if lacking(chunks) > 0 && n_rare == 0 {
        let support = |term: Bits| records.iter().filter(|&record| record & term != 0).count();
        let last = chunks.iter().flatten().copied().min_by_key(|&term| (support(term), std::cmp::Reverse(term)));
        chunks.iter_mut().for_each(|chunk| chunk.retain(|term| Some(*term) != last));
        chunks.retain(|chunk| !chunk.is_empty());
        n_rare += 1;
    }
    let is_reckoned = cut == CutRule::Weighed && m > 1;
    while is_reckoned && chunks.len() > 1 && lacking(chunks) > n_rare as u64 * u64::from(k - 1) {
        n_rare += chunks.pop().map_or(0, |chunk| chunk.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dataset;
    use crate::generate::stream;
    use crate::protect::disassociation::{Params, disassociate};
    use rand::RngExt;

    #[test]
    fn clusters_are_cut_as_the_program_cuts_them() {
        let mut n_cut = 0;
        for seed in 0..3_000 {
            let mut rng = stream(seed, "tests/shared", 0);
            let (n, n_terms) = (rng.random_range(4..14), rng.random_range(2..7));
            let share = rng.random_range(0.2..0.8);
            let mut record = || -> Bits { (0..n_terms).filter(|_| rng.random_bool(share)).map(|t| 1 << t).sum() };
            let records: Vec<Bits> = (0..n).map(|_| record()).filter(|record| *record != 0).collect();
            let letters = |record: &Bits| {
                let record = *record;
                (0..n_terms).filter(move |t| record >> t & 1 == 1).map(|t| char::from(b'a' + t as u8).to_string())
            };
            let data = Dataset::from_texts(records.iter().map(letters));
            let (k, m) = (rng.random_range(2..4), rng.random_range(1..4));
            for algorithm_aware in [false, true] {
                let params = Params { max_cluster: 64, refine: false, algorithm_aware, ..Params::paper(k, m) };
                let Ok(outcome) = disassociate(&data, &params) else { continue };
                let dictionary = &outcome.release.dictionary;
                let bits = |terms: &[u32]| -> Bits {
                    terms.iter().map(|&t| 1 << (dictionary.text(t).as_bytes()[0] - b'a')).sum()
                };
                let leaf = outcome.release.roots[0].leaves()[0];
                let mut published: Vec<Bits> = leaf.record_chunks.iter().map(|chunk| bits(&chunk.terms)).collect();
                published.sort_unstable();
                assert_eq!(chunks_of(&records, (k, m), params.cut_rule()), published, "{seed} {k} {m} {records:?}");
                n_cut += usize::from(published.len() > 1);
            }
        }
        assert!(n_cut > 500, "{n_cut}");
    }
}
