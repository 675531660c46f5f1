//! The measures of utility against a second implementation that is slow and obviously right.
//!
//! * *Slow*: itemsets are all parts of all records, supports are counted pair by pair and set by set. Nothing of the
//!   library is used but its random draws and the expected support of a single itemset, which `tests/it/estimate.rs`
//!   checks against all arrangements. It would catch a miner that loses itemsets, a wrong window or a wrong divisor.
//! * *By hand*: toys whose values are written in the test.
//! * *Refusals*: an original that is not the release's, in words that tell none of its terms.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::worlds::letters::{leaf, release};
use disjoin::Unobserved;
use disjoin::data::{Dataset, Hierarchy, TermId, Transactions};
use disjoin::generate::quest::{self, quest};
use disjoin::measure::{Deviation, Link, Links, Options, QueryError, RelativeError, Report, measure};
use disjoin::protect::disassociation::{Params, disassociate};
use disjoin::reconstruct::{
    Estimate, Model, Multiplicity, Sampling, Selection, estimate, expectation, reconstruct, reconstruct_terms,
};
use disjoin::release::open::{InMemory, load_into};
use disjoin::release::{Disassociated, Node};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

type Records = Vec<BTreeSet<TermId>>;

/// An itemset with its support.
type Found<S> = (S, Vec<TermId>);

/// Expected supports that differ by less are taken for equal: the order of additions decides between them.
const EPSILON: f64 = 1e-9;

fn records_of(records: &Transactions) -> Records {
    records.iter().map(|record| record.iter().copied().collect()).collect()
}

fn support(records: &Records, itemset: &[TermId]) -> u32 {
    records.iter().filter(|record| itemset.iter().all(|term| record.contains(term))).count() as u32
}

// ---- Itemsets, by all parts of all records ---------------------------------------------------------------------------------

/// All parts of an itemset of two terms or more that come before it, and itself, must be among the K best if it is.
fn longest(k: usize) -> usize {
    (1..).take_while(|&length| (1_usize << length) - 1 - length <= k.max(1)).last().unwrap()
}

/// Counts every part of a record of at most `room` terms in which no two terms are at odds.
fn count_parts(
    rest: &[TermId],
    room: usize,
    at_odds: &dyn Fn(TermId, TermId) -> bool,
    part: &mut Vec<TermId>,
    counts: &mut BTreeMap<Vec<TermId>, u32>,
) {
    for (i, &term) in rest.iter().enumerate() {
        if room == 0 || part.iter().any(|&other| at_odds(term, other) || at_odds(other, term)) {
            continue;
        }
        part.push(term);
        *counts.entry(part.clone()).or_default() += 1;
        count_parts(&rest[i + 1..], room - 1, at_odds, part, counts);
        part.pop();
    }
}

/// All itemsets that could be among the K best, best first.
fn itemsets(records: &Records, k: usize, at_odds: &dyn Fn(TermId, TermId) -> bool) -> Vec<Found<u32>> {
    let mut counts = BTreeMap::new();
    for record in records {
        let record: Vec<TermId> = record.iter().copied().collect();
        count_parts(&record, longest(k), at_odds, &mut Vec::new(), &mut counts);
    }
    let mut all: Vec<Found<u32>> = counts.into_iter().map(|(terms, support)| (support, terms)).collect();
    all.sort_by_key(|(support, terms)| (Reverse(*support), terms.len(), terms.clone()));
    all
}

fn best<S: Copy>(all: &[Found<S>], k: usize, min_length: usize) -> Vec<Found<S>> {
    all.iter().filter(|(_, terms)| terms.len() >= min_length).take(k).cloned().collect()
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// The share of `wanted` of which `is_kept` does not hold.
fn lost(wanted: &[Found<u32>], is_kept: impl Fn(&[TermId]) -> bool) -> f64 {
    share(wanted.iter().filter(|(_, terms)| !is_kept(terms)).count(), wanted.len())
}

fn deviation(original: &Records, published: &Records, k: usize, at_odds: &dyn Fn(TermId, TermId) -> bool) -> Deviation {
    let (before, after) = (itemsets(original, k, at_odds), itemsets(published, k, at_odds));
    let deviation = |min_length: usize| {
        let kept: BTreeSet<Vec<TermId>> = best(&after, k, min_length).into_iter().map(|(_, terms)| terms).collect();
        lost(&best(&before, k, min_length), |terms| kept.contains(terms))
    };
    let worst = after.get(k.wrapping_sub(1)).map_or(1, |(support, _)| *support);
    Deviation {
        all: deviation(1),
        at_least_two_terms: deviation(2),
        generous: lost(&best(&before, k, 1), |terms| support(published, terms) >= worst),
    }
}

// ---- Expected supports -------------------------------------------------------------------------------------------------------

/// All itemsets that could be among the K best by expected support, best first. A further term never adds support.
struct Expected<'a> {
    model: &'a Model<'a>,
    k: usize,
    /// Terms by falling expectation.
    singles: Vec<(f64, TermId)>,
    found: Vec<Found<f64>>,
    /// The supports of the K best itemsets of two terms or more so far, descending.
    larger: Vec<f64>,
}

impl<'a> Expected<'a> {
    fn all(model: &'a Model<'a>, n_terms: usize, k: usize) -> Vec<Found<f64>> {
        let mut singles: Vec<(f64, TermId)> =
            (0..n_terms as TermId).map(|term| (expectation(model, &[term]), term)).collect();
        singles.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut search = Expected { model, k, singles, found: Vec::new(), larger: Vec::new() };
        search.grow(&mut Vec::new(), 0);
        let mut found = search.found;
        found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.len().cmp(&b.1.len())).then(a.1.cmp(&b.1)));
        found
    }

    fn suffices(&self, support: f64) -> bool {
        support > 0.0 && (self.larger.len() < self.k || support + EPSILON >= self.larger[self.k - 1])
    }

    fn grow(&mut self, set: &mut Vec<TermId>, first: usize) {
        if set.len() == longest(self.k) {
            return;
        }
        for i in first..self.singles.len() {
            let (single, term) = self.singles[i];
            if !set.is_empty() && !self.suffices(single) {
                return;
            }
            set.push(term);
            let mut sorted = set.clone();
            sorted.sort_unstable();
            let support = expectation(self.model, &sorted);
            if set.len() == 1 || self.suffices(support) {
                if set.len() > 1 {
                    self.larger.insert(self.larger.partition_point(|&other| other >= support), support);
                    self.larger.truncate(self.k);
                }
                self.found.push((support, sorted));
                self.grow(set, i + 1);
            }
            set.pop();
        }
    }
}

/// Whether the K best are clearly the K best.
fn is_clear(all: &[Found<f64>], k: usize, min_length: usize) -> bool {
    let supports: Vec<f64> = best(all, k + 1, min_length).iter().map(|(support, _)| *support).collect();
    supports.len() <= k || supports[k - 1] - supports[k] > EPSILON
}

/// The least and the greatest deviation that ties can make.
fn expected_deviation(before: &[Found<u32>], after: &[Found<f64>], k: usize, min_length: usize) -> (f64, f64) {
    let wanted = best(before, k, min_length);
    let kept = best(after, k, min_length);
    let worst = kept.last().filter(|_| kept.len() == k).map_or(0.0, |(support, _)| *support);
    let supports: BTreeMap<&[TermId], f64> = after.iter().map(|(support, terms)| (&terms[..], *support)).collect();
    if is_clear(after, k, min_length) {
        let kept: BTreeSet<&[TermId]> = kept.iter().map(|(_, terms)| &terms[..]).collect();
        let deviation = lost(&wanted, |terms| kept.contains(terms));
        return (deviation, deviation);
    }
    let of = |terms: &[TermId]| supports.get(terms).copied().unwrap_or(0.0);
    let least = lost(&wanted, |terms| of(terms) > 0.0 && of(terms) >= worst - EPSILON);
    (least, lost(&wanted, |terms| of(terms) > worst + EPSILON))
}

// ---- Everything else ---------------------------------------------------------------------------------------------------------

/// Every chunk as a list of subrecords.
fn chunks(nodes: &[Node], records: &mut Records) {
    for node in nodes {
        let chunks_here = match node {
            Node::Simple(simple) => &simple.record_chunks,
            Node::Joint(joint) => {
                chunks(&joint.members, records);
                &joint.shared_chunks
            }
        };
        for (terms, count) in chunks_here.iter().flat_map(|chunk| chunk.subrecords()) {
            (0..count).for_each(|_| records.push(terms.iter().copied().collect()));
        }
    }
}

fn term_chunks(nodes: &[Node], terms: &mut BTreeSet<TermId>) {
    for node in nodes {
        match node {
            Node::Simple(simple) => terms.extend(&simple.term_chunk),
            Node::Joint(joint) => term_chunks(&joint.members, terms),
        }
    }
}

/// Relative errors of pairs of supports.
fn relative_error(supports: &[(f64, f64)]) -> RelativeError {
    let error = |&(o, p): &(f64, f64)| (o - p).abs() / ((o + p) / 2.0);
    let mean = |of: Vec<&(f64, f64)>| {
        let n = of.len() as f64;
        if of.is_empty() { None } else { Some(of.into_iter().map(error).sum::<f64>() / n) }
    };
    RelativeError {
        mean: mean(supports.iter().filter(|(o, p)| (*o, *p) != (0.0, 0.0)).collect()),
        skipped: supports.iter().filter(|(o, p)| (*o, *p) == (0.0, 0.0)).count(),
        existing: mean(supports.iter().filter(|(o, _)| *o != 0.0).collect()),
    }
}

fn same(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12
}

fn same_deviation(a: &Deviation, b: &Deviation) -> bool {
    same(a.all, b.all) && same(a.at_least_two_terms, b.at_least_two_terms) && same(a.generous, b.generous)
}

fn same_error(a: &RelativeError, b: &RelativeError) -> bool {
    let both = |a: Option<f64>, b: Option<f64>| match (a, b) {
        (Some(a), Some(b)) => same(a, b),
        (a, b) => a == b,
    };
    both(a.mean, b.mean) && a.skipped == b.skipped && both(a.existing, b.existing)
}

// ---- Random data -------------------------------------------------------------------------------------------------------------

struct Case {
    original: Dataset,
    release: Disassociated,
    top: usize,
    hierarchy: Option<Hierarchy>,
}

fn random_case(seed: u64, rng: &mut ChaCha8Rng) -> Case {
    let n_terms = match seed % 15 {
        5 => rng.random_range(121..=320),
        10 => 450,
        _ => rng.random_range(5..=60),
    };
    let has_hierarchy = n_terms <= 60 && rng.random_bool(0.4);
    let longest = if has_hierarchy { 4 } else { 8 };
    let original = if seed % 15 == 3 {
        of_quest(seed, n_terms, longest)
    } else {
        let n_records = if n_terms > 60 { 2 * n_terms } else { rng.random_range(20..=300) };
        skewed(rng, n_records, n_terms, longest)
    };
    let params = Params {
        max_cluster: rng.random_range(10..=30),
        refine: rng.random_bool(0.8),
        ..Params::paper(rng.random_range(2..=5), rng.random_range(1..=2))
    };
    let release = disassociate(&original, &params).unwrap().release;
    let most: f64 = if has_hierarchy || n_terms > 60 { 150.0 } else { 1000.0 };
    let top = (5.0 * (most / 5.0).powf(rng.random_range(0.0..=1.0))) as usize;
    let fanout = rng.random_range(4..=10);
    let hierarchy = has_hierarchy.then(|| Hierarchy::uniform(&original.dictionary, fanout).unwrap());
    Case { original, release, top, hierarchy }
}

/// Few frequent terms and many rare ones; records repeat parts of others.
fn skewed(rng: &mut ChaCha8Rng, n_records: usize, n_terms: usize, longest: usize) -> Dataset {
    let mut names: Vec<String> = (0..n_terms).map(|i| format!("term {i}")).collect();
    names.shuffle(rng);
    let skew = if n_terms > 60 { 1.0 } else { [1.0, 1.5, 3.0][rng.random_range(0..3)] };
    let longest = rng.random_range(2.max(longest / 2)..=longest);
    let mut records: Vec<Vec<usize>> = Vec::new();
    for i in 0..n_records {
        let mut record = Vec::new();
        if i > 0 && rng.random_bool(0.5) {
            record.extend(records[rng.random_range(0..i)].iter().filter(|_| rng.random_bool(0.7)));
        }
        let length = rng.random_range(1..=longest);
        while record.len() < length {
            record.push((n_terms as f64 * rng.random_range(0.0_f64..1.0).powf(skew)) as usize);
        }
        records.push(record);
    }
    Dataset::from_texts(records.iter().map(|record| record.iter().map(|&term| &names[term])))
}

fn of_quest(seed: u64, items: usize, longest: usize) -> Dataset {
    let params = quest::Params {
        records: 250,
        mean_length: 4.0,
        mean_pattern: 3.0,
        patterns: 20,
        items,
        seed,
        ..quest::Params::vldb94()
    };
    let data = quest(&params).unwrap();
    let cut = |record: &[TermId]| -> Vec<String> {
        record.iter().take(longest).map(|&term| data.dictionary.text(term).to_owned()).collect()
    };
    Dataset::from_texts(data.records.iter().map(cut))
}

// ---- The comparison ----------------------------------------------------------------------------------------------------------

/// How often something worth a comparison occurred.
#[derive(Default, Clone, Copy, Debug)]
struct Counts {
    cases: usize,
    windows: usize,
    taxonomies: usize,
    clear: usize,
    clear_of_two: usize,
    generous: usize,
    between: usize,
    hidden: usize,
}

impl Counts {
    fn add(self, other: Counts) -> Counts {
        sum_fields!(Counts { cases, windows, taxonomies, clear, clear_of_two, generous, between, hidden }, self, other)
    }
}

/// A report, and what it is compared with.
struct Slow<'a> {
    seed: u64,
    report: &'a Report,
    options: &'a Options<'a>,
    aligned: &'a Disassociated,
    model: &'a Model<'a>,
    /// The records as they were, as they are reconstructed once, and all chunks as lists.
    before: Records,
    drawn: Records,
    certain: Records,
    /// How many records hold each term, and the terms by that.
    supports: Vec<u32>,
    by_rank: Vec<TermId>,
}

fn compare(seed: u64) -> Counts {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let Case { original, release, mut top, hierarchy } = random_case(seed, &mut rng);
    let multiplicity = [Multiplicity::One, Multiplicity::Uniform, Multiplicity::Half][rng.random_range(0..3)];
    let (more_than_k, sampling) = (rng.random_bool(0.5), Sampling { seed: rng.random(), fill_empty: false });
    let n_reconstructions = rng.random_range(1..=10);

    let n_terms = original.n_terms();
    let aligned = load_into(original.dictionary.clone(), &mut InMemory::new(&release), &Unobserved).unwrap();
    let model = Model::new(&aligned).unwrap().with_multiplicity(multiplicity);
    let expected = Expected::all(&model, n_terms, top);
    if !seed.is_multiple_of(4) {
        // Where ties of expected supports decide nothing, tKd-e has one right value.
        top = (1..=top).rev().find(|&k| is_clear(&expected, k, 1) && is_clear(&expected, k, 2)).unwrap_or(top);
    }
    let options = Options {
        top,
        reconstructions: n_reconstructions,
        queries: rng.random_range(1..=100),
        seed: sampling.seed,
        multiplicity,
        more_than_k,
        hierarchy: hierarchy.as_ref(),
        interest: None,
        observer: &Unobserved,
    };
    let report = measure(&mut InMemory::new(&release), &original, &options).unwrap();
    let mut counts = Counts { cases: 1, ..Counts::default() };

    let header = &release.header;
    assert_eq!((report.records, report.terms), (original.records.len() as u64, n_terms));
    assert_eq!((report.k, report.m, report.seed, report.top_k.k), (header.k, header.m, sampling.seed, top));

    let before = records_of(&original.records);
    let mut certain = Records::new();
    chunks(&aligned.roots, &mut certain);
    let supports: Vec<u32> = (0..n_terms as TermId).map(|term| support(&before, &[term])).collect();
    let mut by_rank: Vec<TermId> = (0..n_terms as TermId).collect();
    by_rank.sort_by_key(|&term| (Reverse(supports[term as usize]), term));
    let drawn = records_of(&reconstruct(&model, &sampling, 0).records);
    let (report, options, aligned, model) = (&report, &options, &aligned, &model);
    let slow = Slow { seed, report, options, aligned, model, before, drawn, certain, supports, by_rank };
    check_top_k(&slow, &expected, &mut counts);
    check_relative_errors(&slow, &mut counts);
    check_lost_terms(&slow, &mut counts);
    check_queries(&report.queries, &slow.before, model, options.queries);
    check_links(&report.links, &slow);
    counts
}

fn check_top_k(slow: &Slow<'_>, expected: &[Found<f64>], counts: &mut Counts) {
    let Slow { seed, report, model, before, drawn, certain, .. } = slow;
    let (top, hierarchy) = (slow.options.top, slow.options.hierarchy);
    let never = |_, _| false;
    for (found, published) in [(report.top_k.tkd, drawn), (report.top_k.tkd_a, certain)] {
        let slow = deviation(before, published, top, &never);
        assert!(same_deviation(&found, &slow), "seed {seed}: {found:?} {slow:?}");
        let m = report.m as usize;
        let kept: BTreeSet<Vec<TermId>> =
            best(&itemsets(published, top, &never), top, 1).into_iter().map(|(_, terms)| terms).collect();
        let (short, long): (Vec<_>, Vec<_>) =
            best(&itemsets(before, top, &never), top, 1).into_iter().partition(|(_, terms)| terms.len() <= m);
        for (wanted, of) in [(short, report.top_k.up_to_m), (long, report.top_k.above_m)] {
            let value = if std::ptr::eq(published, drawn) { of.tkd } else { of.tkd_a };
            assert_eq!(of.itemsets, wanted.len(), "seed {seed}");
            assert!(same(value, lost(&wanted, |terms| kept.contains(terms))), "seed {seed}: {of:?}");
        }
        counts.between += usize::from(0.0 < slow.generous && slow.generous < slow.all && slow.all < 1.0);
    }
    assert_eq!(report.top_k.tkd_ml2.is_some(), hierarchy.is_some());
    if let (Some(hierarchy), Some(found)) = (hierarchy, report.top_k.tkd_ml2) {
        let extend = |records: &Records| -> Records {
            let with_ancestors = |&term: &TermId| std::iter::once(term).chain(hierarchy.ancestors(term));
            records.iter().map(|record| record.iter().flat_map(with_ancestors).collect()).collect()
        };
        let is_above = |a: TermId, b: TermId| hierarchy.ancestors(b).any(|node| node == a);
        let slow = deviation(&extend(before), &extend(drawn), top, &is_above);
        assert!(same_deviation(&found, &slow), "seed {seed}: {found:?} {slow:?}");
        counts.taxonomies += 1;
    }
    let wanted = itemsets(before, top, &never);
    let found = report.top_k.tkd_e;
    for (value, min_length) in [(found.all, 1), (found.at_least_two_terms, 2)] {
        let (least, most) = expected_deviation(&wanted, expected, top, min_length);
        assert!((least - 1e-12..=most + 1e-12).contains(&value), "seed {seed}: {least} {value} {most}");
    }
    counts.clear += usize::from(is_clear(expected, top, 1));
    counts.clear_of_two += usize::from(is_clear(expected, top, 2));
    // A tie that rounding errors hide is not always granted; nothing else may differ.
    let worst = expected.get(top - 1).map_or(0.0, |(support, _)| *support);
    let above = |least: f64| {
        let suffices = |support: f64| support > 0.0 && support >= least;
        lost(&best(&wanted, top, 1), |terms| suffices(expectation(model, terms)))
    };
    let (least, most) = (above(worst - EPSILON), above(worst + EPSILON).min(found.all));
    let value = found.generous;
    assert!((least - 1e-12..=most + 1e-12).contains(&value), "seed {seed}: {least} {value} {most}");
    counts.generous += usize::from(same(value, least));
}

fn check_relative_errors(slow: &Slow<'_>, counts: &mut Counts) {
    let Slow { seed, report, options, aligned, model, before, certain, by_rank, .. } = slow;
    let n_terms = by_rank.len();
    let firsts: Vec<usize> = [0, 100, 200, 300, 400].into_iter().filter(|first| first + 2 <= n_terms).collect();
    assert_eq!(report.relative_error.iter().map(|window| window.first).collect::<Vec<_>>(), firsts, "seed {seed}");
    let in_windows: Vec<TermId> =
        firsts.iter().flat_map(|&first| by_rank.iter().skip(first).take(20)).copied().collect();
    let selection = Selection::new(model, &in_windows);
    let others = (1..options.reconstructions).map(|nth| records_of(&reconstruct_terms(&selection, options.seed, nth)));
    let drawn: Vec<Records> = std::iter::once(slow.drawn.clone()).chain(others).collect();
    let uniform = Model::new(aligned).unwrap().with_multiplicity(Multiplicity::Uniform);
    for window in &report.relative_error {
        let terms = &by_rank[window.first..n_terms.min(window.first + 20)];
        assert_eq!(window.terms, terms.len());
        let pairs: Vec<[TermId; 2]> = (terms.iter().enumerate())
            .flat_map(|(i, &a)| terms[i + 1..].iter().map(move |&b| [a.min(b), a.max(b)]))
            .collect();
        let error = |published: &dyn Fn(&[TermId; 2]) -> f64| {
            let supports: Vec<(f64, f64)> =
                pairs.iter().map(|pair| (f64::from(support(before, pair)), published(pair))).collect();
            relative_error(&supports)
        };
        let mean = |n: u64, pair: &[TermId; 2]| {
            drawn[..n as usize].iter().map(|records| f64::from(support(records, pair))).sum::<f64>() / n as f64
        };
        let check = |name: &str, found: &RelativeError, slow: RelativeError| {
            assert!(same_error(found, &slow), "seed {seed}, window {}, {name}: {found:?} {slow:?}", window.first);
        };
        check("re", &window.re, error(&|pair| mean(1, pair)));
        check("re-a", &window.re_a, error(&|pair| f64::from(support(certain, pair))));
        check("re-e", &window.re_e, error(&|pair| expectation(model, pair)));
        check("re-u", &window.re_u, error(&|pair| expectation(&uniform, pair)));
        let averaged: Vec<u64> = [2, 5, 10].into_iter().filter(|&n| n <= options.reconstructions).collect();
        assert_eq!(window.re_r.iter().map(|averaged| averaged.reconstructions).collect::<Vec<_>>(), averaged);
        for found in &window.re_r {
            check("re-r", &found.error, error(&|pair| mean(found.reconstructions, pair)));
        }
        counts.windows += 1;
    }
}

fn check_lost_terms(slow: &Slow<'_>, counts: &mut Counts) {
    let Slow { seed, report, aligned, certain, supports, by_rank, .. } = slow;
    let (n_terms, k) = (by_rank.len(), aligned.header.k);
    let after: Vec<u32> = (0..n_terms as TermId).map(|term| support(certain, &[term])).collect();
    let mut in_term_chunks = BTreeSet::new();
    term_chunks(&aligned.roots, &mut in_term_chunks);
    let counted: Vec<TermId> = (0..n_terms as TermId)
        .filter(|&term| supports[term as usize] >= k + u32::from(slow.options.more_than_k))
        .collect();
    let lost = &report.terms_lost;
    assert_eq!(lost.considered, counted.len(), "seed {seed}");
    let share_of =
        |is_lost: &dyn Fn(&TermId) -> bool| share(counted.iter().filter(|t| is_lost(t)).count(), counted.len());
    assert!(same(lost.tlost, share_of(&|&term| after[term as usize] == 0)), "seed {seed}");
    assert!(same(lost.tlost_any, share_of(&|term| in_term_chunks.contains(term))), "seed {seed}");
    assert_eq!(lost.hidden_by_rank.len(), n_terms);
    for (&term, &hidden) in by_rank.iter().zip(&lost.hidden_by_rank) {
        let (before, after) = (f64::from(supports[term as usize]), f64::from(after[term as usize]));
        assert!(same(hidden, (before - after) / before) && (0.0..=1.0).contains(&hidden), "seed {seed}");
        counts.hidden += usize::from(0.0 < hidden && hidden < 1.0);
    }
}

fn check_queries(found: &QueryError, original: &Records, model: &Model<'_>, n: usize) {
    let distinct: BTreeSet<&[TermId]> = found.asked.iter().map(|asked| &asked.terms[..]).collect();
    assert_eq!((distinct.len(), found.queries), (found.asked.len(), found.asked.len()));
    assert!(found.queries <= n && found.queries > 0);
    let mut errors = Vec::new();
    let (mut within_bounds, mut within_two_deviations) = (0, 0);
    for asked in &found.asked {
        assert!((1..=3).contains(&asked.terms.len()) && asked.terms.is_sorted_by(|a, b| a < b), "{asked:?}");
        let truth = support(original, &asked.terms);
        assert!(truth > 0 && truth == asked.truth, "{asked:?}: {truth}");
        assert_eq!(asked.estimate, estimate(model, &asked.terms));
        let Estimate { lower, upper, expected, .. } = asked.estimate;
        let mean = expectation(model, &asked.terms).clamp(lower as f64, upper as f64);
        assert!((expected - mean).abs() < EPSILON, "{asked:?}: {mean}");
        let error = (f64::from(truth) - expected).abs();
        errors.push(error / f64::from(truth).max(original.len() as f64 / 1000.0));
        let truth = u64::from(truth);
        within_bounds += usize::from(lower <= truth && truth <= upper);
        within_two_deviations += usize::from(error <= 2.0 * asked.estimate.deviation);
    }
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    assert!(same(found.mean, mean), "{} {mean}", found.mean);
    errors.sort_by(f64::total_cmp);
    let middle = (errors[(errors.len() - 1) / 2] + errors[errors.len() / 2]) / 2.0;
    assert!(same(found.median, middle), "{}", found.median);
    assert_eq!((found.within_bounds, within_bounds), (1.0, found.queries));
    assert!(same(found.within_two_deviations, share(within_two_deviations, found.queries)));
}

/// Mutual information by its definition: records are looked at one by one, a cell of the table of both terms at a time.
fn slow_information(cells: [[f64; 2]; 2]) -> f64 {
    let n: f64 = cells.iter().flatten().sum();
    let (row, column) = (|i: usize| cells[i][0] + cells[i][1], |j: usize| cells[0][j] + cells[1][j]);
    let mut sum = 0.0;
    for (i, j) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let p = cells[i][j] / n;
        if p > 0.0 {
            sum += p * (p / (row(i) / n * (column(j) / n))).log2();
        }
    }
    sum
}

fn check_links(found: &Links, slow: &Slow<'_>) {
    let Slow { seed, options, model, before, certain, .. } = slow;
    let n = before.len() as f64;
    // Draws one by one, as many times as they were made.
    let repeated = |links: &[Link]| -> Vec<Link> {
        links.iter().flat_map(|link| std::iter::repeat_n(link.clone(), link.drawn)).collect()
    };
    let (pairs, triples) = (repeated(&found.pairs), repeated(&found.triples));
    for (size, drawn) in [(2, &pairs), (3, &triples)] {
        let any = before.iter().any(|record| record.len() >= size);
        assert_eq!(drawn.len(), if any { 5 * options.queries } else { 0 }, "seed {seed}");
        assert!(drawn.iter().all(|link| link.terms.len() == size && link.terms.is_sorted_by(|a, b| a < b)));
        assert!(drawn.iter().all(|link| link.truth > 0 && link.truth == support(before, &link.terms)), "seed {seed}");
    }
    let error = |links: &[Link]| {
        let supports = |link: &Link| (f64::from(link.truth), link.estimate.expected);
        relative_error(&links.iter().map(supports).collect::<Vec<_>>()).mean
    };
    let both = |a: Option<f64>, b: Option<f64>| a.is_some() == b.is_some() && same(a.unwrap_or(0.0), b.unwrap_or(0.0));
    assert!(both(found.pair_error, error(&pairs)) && both(found.triple_error, error(&triples)), "seed {seed}");
    assert!(triples.iter().all(|link| same(link.estimate.expected, expectation(model, &link.terms))), "seed {seed}");
    let (mut off, mut all, mut narrow) = (0.0, 0.0, 0);
    for link in &pairs {
        assert_eq!(link.estimate, estimate(model, &link.terms), "seed {seed}");
        let mut cells = [[0.0; 2]; 2];
        for record in before {
            let has = |i: usize| usize::from(record.contains(&link.terms[i]));
            cells[has(0)][has(1)] += 1.0;
        }
        let [a, b] = [0, 1].map(|i| expectation(model, &link.terms[i..=i]));
        let ab = link.estimate.expected.max(a + b - n).min(a).min(b);
        let truth = slow_information(cells);
        off += (truth - slow_information([[n - a - b + ab, b - ab], [a - ab, ab]])).abs();
        all += truth;
        narrow += usize::from((link.estimate.upper as f64) < 2.0 * link.estimate.lower as f64);
    }
    if all > 1e-9 {
        assert!((found.association_error.unwrap() - off / all).abs() < 1e-6, "seed {seed}: {found:?}");
    }
    assert!(both(found.narrow, (!pairs.is_empty()).then(|| share(narrow, pairs.len()))), "seed {seed}");
    let terms = |records: &Records| records.iter().map(BTreeSet::len).sum::<usize>();
    assert!(same(found.visible, share(terms(certain), terms(before))), "seed {seed}");
}

#[test]
fn measures_are_those_of_a_slow_implementation() {
    let counts = (0..150).into_par_iter().map(compare).reduce(Counts::default, Counts::add);
    let Counts { cases, windows, taxonomies, clear, clear_of_two, generous, between, hidden } = counts;
    assert!(cases == 150 && windows >= 150 + 10 * 4 + 10, "{counts:?}");
    assert!(taxonomies >= 30 && between >= 20 && hidden >= 1_000, "{counts:?}");
    // Seldom do ties leave tKd-e open.
    assert!(clear >= 120 && clear_of_two >= 120 && generous == 150, "{counts:?}");
}

// ---- By hand -----------------------------------------------------------------------------------------------------------------

/// Records of letters, numbered as they come.
fn letters(records: &str) -> Dataset {
    Dataset::from_texts(records.split(' ').map(|record| record.chars().map(String::from)))
}

fn measured(original: &str, roots: Vec<Node>, options: &Options<'_>) -> Report {
    let original = letters(original);
    let release = release(3, 2, original.records.len() as u64, roots);
    measure(&mut InMemory::new(&release), &original, options).unwrap()
}

fn top(k: usize) -> Options<'static> {
    Options { top: k, ..Options::default() }
}

fn deviates(all: f64, at_least_two_terms: f64, generous: f64) -> Deviation {
    Deviation { all, at_least_two_terms, generous }
}

/// The pairs have supports of (4, 2), (0, 3) and (0, 0). One chunk that every record has leaves nothing to chance.
#[test]
fn relative_errors_by_hand() {
    let release = leaf(8, &["ab ab ac ac ac b b c"], "");
    let report = measured("ab ab ab ab c c c c", vec![release], &Options::default());
    let [window] = &report.relative_error[..] else { panic!("{:?}", report.relative_error) };
    assert_eq!((window.first, window.terms), (0, 3));
    let expected = RelativeError { mean: Some((2.0 / 3.0 + 2.0) / 2.0), skipped: 1, existing: Some(2.0 / 3.0) };
    let averaged: Vec<u64> = window.re_r.iter().map(|averaged| averaged.reconstructions).collect();
    assert_eq!(averaged, [2, 5, 10]);
    let all = [window.re, window.re_a, window.re_e].into_iter().chain(window.re_r.iter().map(|of| of.error));
    for error in all {
        assert!(same_error(&error, &expected), "{error:?}");
    }
    // Nobody has the pair, before or after.
    let report = measured("a a a b b b", vec![leaf(6, &["a a a b b b"], "")], &Options::default());
    assert_eq!(report.relative_error[0].re, RelativeError { mean: None, skipped: 1, existing: None });
    // One term has no pair.
    assert!(measured("a a a", vec![leaf(3, &["a a a"], "")], &Options::default()).relative_error.is_empty());
}

#[test]
fn a_release_that_lost_nothing_deviates_nowhere() {
    let report = measured("abc abc abc ab a c", vec![leaf(6, &["abc abc abc ab a c"], "")], &Options::default());
    let nothing = deviates(0.0, 0.0, 0.0);
    assert_eq!([report.top_k.tkd, report.top_k.tkd_a, report.top_k.tkd_e], [nothing; 3]);
    let exact = RelativeError { mean: Some(0.0), skipped: 0, existing: Some(0.0) };
    assert_eq!([report.relative_error[0].re, report.relative_error[0].re_a, report.relative_error[0].re_e], [exact; 3]);
    let lost = &report.terms_lost;
    assert_eq!((lost.considered, lost.tlost, lost.tlost_any), (3, 0.0, 0.0));
    assert_eq!(lost.hidden_by_rank, [0.0; 3]);
    let queries = &report.queries;
    assert_eq!((queries.mean, queries.median), (0.0, 0.0));
    assert_eq!((queries.within_bounds, queries.within_two_deviations), (1.0, 1.0));

    // So does what protection makes of records that are all the same.
    let original = letters("abc abc abc abc abc abc");
    let release = disassociate(&original, &Params::paper(3, 2)).unwrap().release;
    let report = measure(&mut InMemory::new(&release), &original, &top(1000)).unwrap();
    assert_eq!([report.top_k.tkd, report.top_k.tkd_a, report.top_k.tkd_e], [nothing; 3]);
}

/// a, b and ab have support 4. The chunks alone do not show the pair; wherever else one looks, it must be there.
#[test]
fn a_pair_that_was_split_by_hand() {
    let split = || vec![leaf(4, &["a a a a", "b b b b"], "")];
    let of_three = measured("ab ab ab ab", split(), &top(3)).top_k;
    let nothing = deviates(0.0, 0.0, 0.0);
    assert_eq!([of_three.tkd, of_three.tkd_e], [nothing; 2]);
    assert_eq!(of_three.tkd_a, deviates(1.0 / 3.0, 1.0, 1.0 / 3.0));
    let of_two = measured("ab ab ab ab", split(), &top(2)).top_k;
    assert_eq!(of_two.tkd_a, deviates(0.0, 1.0, 0.0));
    assert_eq!(of_two.tkd, nothing);
}

/// The original's best is b; in the release a and b are equal, and a comes first.
#[test]
fn ties_by_hand() {
    let report = measured("a a b b b", vec![leaf(5, &["ab a a b b"], "")], &top(1));
    let tie = deviates(1.0, 0.0, 0.0);
    assert_eq!([report.top_k.tkd, report.top_k.tkd_a, report.top_k.tkd_e], [tie; 3]);
    // Two of five are not enough for a place beside three.
    let report = measured("a a b b b", vec![leaf(5, &["a a a b b"], "")], &top(1));
    assert_eq!(report.top_k.tkd_a, deviates(1.0, 0.0, 1.0));
}

/// b has exactly k = 3 records, c fewer.
#[test]
fn lost_terms_by_hand() {
    let lost = |roots: Vec<Node>, more_than_k: bool| {
        let lost = measured("abc abc ab a a a", roots, &Options { more_than_k, ..Options::default() }).terms_lost;
        (lost.considered, lost.tlost, lost.tlost_any, lost.hidden_by_rank)
    };
    let in_term_chunk = || vec![leaf(6, &["a a a a a a"], "bc")];
    assert_eq!(lost(in_term_chunk(), false), (2, 0.5, 0.5, vec![0.0, 1.0, 1.0]));
    assert_eq!(lost(in_term_chunk(), true), (1, 0.0, 0.0, vec![0.0, 1.0, 1.0]));
    let in_both = || vec![leaf(3, &["a a a"], "bc"), leaf(3, &["a a a", "b b"], "")];
    assert_eq!(lost(in_both(), false), (2, 0.0, 0.5, vec![0.0, 1.0 - 2.0 / 3.0, 1.0]));
}

/// Half of the records have both terms, half neither; the release shows both, and not together: 25 of 50 are expected.
#[test]
fn links_by_hand() {
    let original = format!("{} {}", vec!["ab"; 50].join(" "), vec!["c"; 50].join(" "));
    let column = |letter: &str| vec![letter; 50].join(" ");
    let (a, b, c) = (column("a"), column("b"), column("c"));
    let apart = measured(&original, vec![leaf(100, &[&a, &b, &c], "")], &top(1)).links;
    assert!(same(apart.pair_error.unwrap(), 25.0 / 37.5) && apart.triple_error.is_none(), "{apart:?}");
    // As if independent: all of the one bit that one term tells of the other is lost. The bounds are 0 and 50.
    assert!(
        same(apart.association_error.unwrap(), 1.0) && apart.narrow == Some(0.0) && apart.visible == 1.0,
        "{apart:?}"
    );
    assert!(apart.drawn == 1_000 && apart.pairs.len() == 1 && apart.pairs[0].drawn == 1_000);
    let together = measured(&original, vec![leaf(50, &[&column("ab")], ""), leaf(50, &[&c], "")], &top(1)).links;
    assert_eq!((together.pair_error, together.association_error, together.narrow), (Some(0.0), Some(0.0), Some(1.0)));
    let hidden = measured(&original, vec![leaf(50, &[&a], "b"), leaf(50, &[&c], "")], &top(1)).links;
    assert!(same(hidden.visible, 100.0 / 150.0), "{hidden:?}");
}

/// Every part of every record is as likely: a record of four terms has six pairs, one of two terms one.
#[test]
fn links_are_drawn_by_occurrence() {
    let original = letters("abcd ef ef");
    let release = disassociate(&original, &Params { max_cluster: 6, ..Params::paper(3, 2) }).unwrap().release;
    let options = Options { queries: 2_000, ..top(1) };
    let links = measure(&mut InMemory::new(&release), &original, &options).unwrap().links;
    let share = |link: &Link| link.drawn as f64 / links.drawn as f64;
    assert_eq!((links.pairs.len(), links.triples.len()), (7, 4));
    for link in &links.pairs {
        // Four standard deviations of 10,000 draws.
        assert!((share(link) - f64::from(link.truth) / 8.0).abs() < 0.018, "{link:?}");
    }
    assert!(links.triples.iter().all(|link| (share(link) - 0.25).abs() < 0.018));
}

/// The control: all terms in one cluster, each in a chunk of its own, lose no term and no count, and hardly a frequent itemset. Their
/// links are lost, and these measures see it.
#[test]
fn links_that_nobody_clustered_are_missed() {
    let params = quest::Params { records: 3_000, items: 300, patterns: 60, ..quest::Params::vldb94() };
    let original = quest(&params).unwrap();
    let all = |release: &Disassociated| measure(&mut InMemory::new(release), &original, &top(100)).unwrap();
    let clustered = all(&disassociate(&original, &Params::new(3, 2)).unwrap().release);
    let of_term = |term: TermId| {
        let n = original.records.iter().filter(|record| record.contains(&term)).count() as u32;
        let mut chunk = disjoin::release::Chunk::new(vec![term]);
        chunk.push(&[term], n);
        chunk
    };
    let record_chunks = (0..original.n_terms() as TermId).map(of_term).collect();
    let size = original.records.len() as u32;
    let root = Node::Simple(disjoin::release::Simple { size, record_chunks, term_chunk: Vec::new() });
    let header = disjoin::release::Header { k: 3, m: 2, records: u64::from(size), occurrences: None };
    let apart = all(&Disassociated { header, dictionary: original.dictionary.clone(), roots: vec![root] });
    assert!(apart.terms_lost.tlost == 0.0 && apart.links.visible == 1.0);
    let (apart, clustered) = (apart.links, clustered.links);
    let twice = |value: Option<f64>| value.map(|value| 2.0 * value);
    assert!(apart.pair_error > twice(clustered.pair_error), "{:?} {:?}", apart.pair_error, clustered.pair_error);
    assert!(
        apart.triple_error > twice(clustered.triple_error),
        "{:?} {:?}",
        apart.triple_error,
        clustered.triple_error
    );
    assert!(apart.association_error > Some(0.99) && apart.association_error > twice(clustered.association_error));
    assert!(apart.narrow < Some(0.01) && clustered.narrow > Some(0.5));
}

#[test]
fn nothing_asked_nothing_found() {
    let original = letters("ab ab ab a a b");
    let release = disassociate(&original, &Params::paper(3, 2)).unwrap().release;
    let options = Options { top: 0, reconstructions: 0, queries: 0, ..Options::default() };
    let report = measure(&mut InMemory::new(&release), &original, &options).unwrap();
    assert_eq!([report.top_k.tkd, report.top_k.tkd_a, report.top_k.tkd_e], [deviates(0.0, 0.0, 0.0); 3]);
    assert!(report.relative_error[0].re_r.is_empty());
    assert_eq!((report.queries.queries, report.queries.mean, report.queries.within_bounds), (0, 0.0, 1.0));
    assert_eq!((report.links.drawn, report.links.pair_error, report.links.narrow), (0, None, None));
}

// ---- Refusals and threads ------------------------------------------------------------------------------------------------------

#[test]
fn another_original_is_refused_without_its_terms() {
    let zoo = |records: &[&str]| Dataset::from_texts(records.iter().map(|record| record.split(' ')));
    let records = ["zebra gnu", "zebra gnu", "zebra gnu", "zebra", "gnu", "zebra"];
    let release = disassociate(&zoo(&records), &Params::paper(3, 2)).unwrap().release;
    let refused = |original: &Dataset| {
        let error = measure(&mut InMemory::new(&release), original, &Options::default()).unwrap_err();
        format!("{error} {}", error.hint().unwrap())
    };
    for (other, problem) in [
        (zoo(&records[1..]), "has 5 records, but the release was made from 6"),
        (zoo(&["zebra", "zebra", "zebra", "zebra", "zebra", "zebra"]), "lacks terms that the release has: 1"),
        (zoo(&["okapi", "okapi", "okapi", "okapi", "okapi", "okapi"]), "lacks terms that the release has: 2"),
        (zoo(&["zebra okapi", "gnu", "gnu", "gnu quagga", "gnu", "gnu"]), "has terms that the release lacks: 2"),
    ] {
        let message = refused(&other);
        assert!(message.contains("the original") && message.contains(problem), "{message}");
        let is_told = ["zebra", "gnu", "okapi", "quagga"].iter().any(|term| message.contains(term));
        assert!(!is_told, "{message}");
    }
    assert!(measure(&mut InMemory::new(&release), &zoo(&records), &Options::default()).is_ok());
}

#[test]
fn the_same_report_for_any_number_of_threads() {
    let params =
        quest::Params { records: 6_000, items: 500, patterns: 100, mean_length: 4.0, ..quest::Params::vldb94() };
    let original = quest(&params).unwrap();
    let protection = Params { max_cluster: 6, ..Params::paper(3, 2) };
    let release = disassociate(&original, &protection).unwrap().release;
    // Enough for several blocks of everything that works block by block.
    assert!(release.roots.len() > 600, "{}", release.roots.len());
    let hierarchy = Hierarchy::uniform(&original.dictionary, 10).unwrap();
    let options = Options { top: 300, multiplicity: Multiplicity::Uniform, hierarchy: Some(&hierarchy), ..top(0) };
    let report = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let report = pool.install(|| measure(&mut InMemory::new(&release), &original, &options).unwrap());
        (serde_json::to_string(&report).unwrap(), report.terms_lost.hidden_by_rank, report.queries.asked)
    };
    let one = report(1);
    assert!(one == report(3));
    assert!(one.0.contains("tkd_ml2"), "{}", one.0);
}
