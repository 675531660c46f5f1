//! Attacks, what adversaries know, and the judge.
//!
//! * *Worked examples* of the papers, with the numbers written in the test.
//! * *Slow*: the cover problem by its definition, set by set, on random data. It would catch a wrong order of chunks, a
//!   term too many or too few, and a counter that is reset at the wrong place.
//! * *Controls*: the attack wins where the release is broken on purpose, finds nothing where there is nothing, and does
//!   better than blind guesses.
//! * *Separation*: no attack can reach the original.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::figures::{FIGURE_1, FIGURE_2};
use crate::worlds::letters::{ids, joint, leaf, release};
use disjoin::Error;
use disjoin::Unobserved;
use disjoin::attack::attackers::{Class, of_attackers};
use disjoin::attack::cover::{Counters, count};
use disjoin::attack::judge::{concerned, judge};
use disjoin::attack::{
    Attack, Attacker, Closure, Cover, Coverage, Finding, Findings, Knowledge, Rate, Says, Truth, View, Worlds,
    baseline, knowledge,
};
use disjoin::data::{Dataset, TermId, Transactions};
use disjoin::generate::quest::{self, quest};
use disjoin::protect::disassociation::for_the_lab::ForTheLab;
use disjoin::protect::disassociation::{Outcome, Params, disassociate};
use disjoin::release::{CutRule, Disassociated, Node, Simple};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The same with letters: o, t, c, then s and e.
const FIGURE_1_LETTERS: [&str; 6] = ["otcsev", "otcsen", "otc", "tseh", "otc", "os"];

fn dataset<R: AsRef<str>>(rows: &[R]) -> Dataset {
    Dataset::from_texts(rows.iter().map(|row| row.as_ref().split(", ")))
}

fn everything(release: &Disassociated) -> View<'_> {
    View { release, cut: CutRule::Greedy, knowledge: &Knowledge::Anything, observer: &Unobserved }
}

fn texts(release: &Disassociated, terms: &[TermId]) -> String {
    terms.iter().map(|&term| release.dictionary.text(term)).collect::<Vec<_>>().join(", ")
}

/// The pairs found, and what is learned from them.
fn found(release: &Disassociated, findings: &Findings) -> Vec<(String, String)> {
    findings.found.iter().map(|finding| (texts(release, &finding.terms), texts(release, &finding.learned))).collect()
}

// ---- Worked examples --------------------------------------------------------------------------------------------------

#[test]
fn cover_problems_of_figure_1() {
    let data = dataset(&FIGURE_1);
    let Outcome { release, leaf_of, .. } = disassociate(&data, &Params::paper(3, 2)).unwrap();
    let view = everything(&release);
    assert_eq!(count(&view), Counters { literal: 1, per_chunk: 2, per_item: 1, pairs: 2 });

    let findings = Cover.run(&view);
    let learned = || "oncologist, treatment".to_string();
    let expected = [("cancer, side effects".to_string(), learned()), ("cancer, surgery".to_string(), learned())];
    assert_eq!(found(&release, &findings), expected);
    assert!(findings.found.iter().all(|finding| finding.leaf == 0 && finding.confidence == 1.0));
    assert_eq!((findings.attack, findings.says), ("cover", Says::FewerThanK));
    assert_eq!(findings.coverage, Coverage { clusters: 1, proved: 0, open: 1 });

    for leaf_of in [Some(&leaf_of[..]), None] {
        let score = judge(&findings, &Truth::new(&data, leaf_of, &release).unwrap(), 3);
        assert_eq!((score.found, score.right, score.people), (2, 2, 2));
        assert_eq!((score.recall, score.missed), (None, None));
    }
}

/// The counters of the specification, and whose whole record it is: in figure 1 the two records hold a rare term besides; in
/// figure 3 a person with c and e has a and b, and nothing else.
#[test]
fn attackers_of_three_strengths_count_as_algorithm_1_does() {
    let data = dataset(&FIGURE_1);
    let Outcome { release, leaf_of, .. } = disassociate(&data, &Params::paper(3, 2)).unwrap();
    let truth = Truth::new(&data, Some(&leaf_of), &release).unwrap();
    let found = of_attackers(&everything(&release), Some(&truth), &Class::ALL, 0);
    let names: Vec<&str> = found.iter().map(|of| of.attacker.name()).collect();
    assert_eq!(names, ["strong", "moderate", "weak"]);
    assert_eq!(found[0].counters, Counters { literal: 1, per_chunk: 2, per_item: 1, pairs: 2 });
    assert_eq!((found[0].vulnerable_records, found[0].whole_records), (Some(2), Some(0)));
    // Ten of eight terms are all of them: a weak attacker knows every pair inside, and many that nobody has.
    assert_eq!((found[2].known, found[2].counters.pairs), (Some(18 * 17 / 2), 2));
    let alone = of_attackers(&everything(&release), None, &Class::ALL, 0);
    assert_eq!((alone.len(), alone[0].vulnerable_records), (1, None));

    let figure_3 = crate::worlds::letters::release(2, 2, 4, vec![leaf(4, &["abc abc ab a", "e e"], "")]);
    let data = Dataset::from_texts(["abce", "abc", "abe", "a"].map(|row| row.split("").filter(|t| !t.is_empty())));
    let truth = Truth::new(&data, Some(&[0; 4]), &figure_3).unwrap();
    let found = of_attackers(&everything(&figure_3), Some(&truth), &[Class::Strong], 0);
    assert_eq!((found[0].vulnerable_records, found[0].whole_records), (Some(1), Some(1)));
}

/// The order of writing puts the second chunk first; the attack must not be misled by it.
#[test]
fn the_order_of_making_is_found_in_a_sorted_release() {
    let swapped = FIGURE_1.map(|row| row.replace("surgery", "a surgery").replace("side effects", "a side effect"));
    let Outcome { release, .. } = disassociate(&dataset(&swapped), &Params::paper(3, 2)).unwrap();
    let [Node::Simple(simple)] = &release.roots[..] else { panic!("one cluster expected") };
    // The chunk with the most frequent term was made first, though written last.
    assert!(texts(&release, &simple.record_chunks[0].terms).starts_with("a s"));
    assert!(!texts(&release, &simple.record_chunks[0].terms).contains("oncologist"));
    assert_eq!(count(&everything(&release)), slow_count(&release));
    assert!(count(&everything(&release)).pairs > 0);
}

#[test]
fn figure_2b_of_the_disassociation_paper_has_no_cover_problem() {
    let Outcome { release, .. } = disassociate(&dataset(&FIGURE_2[..5]), &Params::paper(3, 2)).unwrap();
    assert_eq!(release.roots[0].leaves()[0].record_chunks.len(), 2);
    assert!(Cover.run(&everything(&release)).found.is_empty());
    assert_eq!(count(&everything(&release)), Counters::default());
}

/// Figure 3 of barakat2016, as far as its text tells.
#[test]
fn figure_3_links_c_and_e_to_a_and_b() {
    let release = release(2, 2, 4, vec![leaf(4, &["abc abc ab a", "e e"], "")]);
    let findings = Cover.run(&everything(&release));
    assert_eq!(found(&release, &findings), [("c, e".to_string(), "a, b".to_string())]);
}

/// Worked by hand. Chunks as made: "ab" (6 and 4), "cd" (5 and 4), "e" (4); the first cluster comes again with e alone.
#[test]
fn counters_differ_as_their_readings_do() {
    // a6 b4 | c5 d4 | e4: c is not covered by b, as b is rarer than c: I = {a}, trivially covered.
    let three = leaf(8, &["ab ab ab ab a a", "cd cd cd cd c", "e e e e"], "z");
    let one = leaf(4, &["ab ab ab ab"], "z");
    let release = release(3, 2, 12, vec![three, one]);
    let counters = count(&everything(&release));
    // First cluster: c: {a} is a cover; d: {a, b} is; e: {a, b} and {c, d} are. Literal looks at c and e only: 2.
    // The second cluster has nothing, but the printed maximum is carried over: 2 + 2.
    assert_eq!(counters.per_item, 2);
    assert_eq!(counters.per_chunk, 2);
    assert_eq!(counters.literal, 4);
    // (c, a), (d, b), (e, b), (e, d)
    assert_eq!(counters.pairs, 4);
    assert_eq!(Cover.run(&everything(&release)).coverage, Coverage { clusters: 2, proved: 1, open: 1 });
}

// ---- The cover problem by its definition --------------------------------------------------------------------------------

/// x, the position of its chunk, the position of the earlier one, and the covered terms with I.
type Problem = (TermId, usize, usize, Vec<TermId>, BTreeSet<TermId>);

/// Chunks as made, each with its terms as considered.
fn slow_chunks(simple: &Simple) -> Vec<Vec<TermId>> {
    let support = |term: TermId| simple.record_chunks.iter().map(|chunk| chunk.support(&[term])).max().unwrap();
    let mut left: BTreeSet<TermId> = simple.record_chunks.iter().flat_map(|chunk| chunk.terms.clone()).collect();
    let mut chunks: Vec<Vec<TermId>> = Vec::new();
    while let Some(&next) = left.iter().max_by(|&&a, &&b| support(a).cmp(&support(b)).then(b.cmp(&a))) {
        left.remove(&next);
        let domain = |term: TermId| simple.record_chunks.iter().position(|chunk| chunk.terms.contains(&term));
        match chunks.iter_mut().find(|chunk| domain(chunk[0]) == domain(next)) {
            Some(chunk) => chunk.push(next),
            None => chunks.push(vec![next]),
        }
    }
    chunks
}

fn slow_problems(simple: &Simple) -> Vec<Problem> {
    let chunks = slow_chunks(simple);
    let support = |itemset: &[TermId]| simple.record_chunks.iter().map(|chunk| chunk.support(itemset)).max().unwrap();
    let mut problems = Vec::new();
    for (j, chunk) in chunks.iter().enumerate() {
        for &x in chunk {
            for (l, earlier) in chunks[..j].iter().enumerate() {
                let at_least: BTreeSet<TermId> =
                    earlier.iter().copied().filter(|&y| support(&[y]) >= support(&[x])).collect();
                let together = support(&at_least.iter().copied().collect::<Vec<_>>());
                let covered: Vec<TermId> = at_least.iter().copied().filter(|&y| support(&[y]) == together).collect();
                if !covered.is_empty() {
                    problems.push((x, j, l, covered, at_least));
                }
            }
        }
    }
    problems
}

/// Algorithm 1 in its readings.
fn slow_count(release: &Disassociated) -> Counters {
    let mut counters = Counters::default();
    let mut carried = 0;
    for simple in release.roots.iter().flat_map(Node::leaves) {
        let problems = slow_problems(simple);
        let (mut most_of_chunk, mut most_of_item) = (0, 0);
        for (j, chunk) in slow_chunks(simple).iter().enumerate() {
            let of_item = |x: TermId| problems.iter().filter(|problem| problem.0 == x).count() as u64;
            carried = carried.max(of_item(chunk[0]));
            most_of_item = most_of_item.max(chunk.iter().map(|&x| of_item(x)).max().unwrap());
            most_of_chunk = most_of_chunk.max(problems.iter().filter(|problem| problem.1 == j).count() as u64);
        }
        counters.literal += carried;
        counters.per_chunk += most_of_chunk;
        counters.per_item += most_of_item;
        counters.pairs += problems.iter().map(|problem| problem.3.len() as u64).sum::<u64>();
    }
    counters
}

fn slow_findings(release: &Disassociated) -> BTreeSet<(u32, Vec<TermId>, Vec<TermId>)> {
    let mut findings = BTreeSet::new();
    for (leaf, simple) in (0..).zip(release.roots.iter().flat_map(Node::leaves)) {
        for (x, _, _, covered, at_least) in slow_problems(simple) {
            for y in covered {
                let learned = at_least.iter().copied().filter(|&term| term != y).collect();
                findings.insert((leaf, vec![x.min(y), x.max(y)], learned));
            }
        }
    }
    findings
}

/// Baskets whose terms are numbered by their texts, so that protection breaks ties as the release shows them.
fn baskets(seed: u64) -> Dataset {
    let params = quest::Params { records: 800, items: 60, patterns: 40, seed, ..quest::Params::program() };
    let data = quest(&params).unwrap();
    let (dictionary, rank) = data.dictionary.sorted();
    let mut records = Transactions::default();
    records.append_renamed(&data.records, &rank);
    Dataset { dictionary, records }
}

#[test]
fn the_cover_problem_is_found_by_its_definition_and_never_wrong() {
    let mut pairs = 0;
    for seed in 0..12 {
        let data = baskets(seed);
        for (k, m, refine, paper_literal) in
            [(3, 2, true, false), (3, 2, false, true), (5, 2, true, false), (2, 3, true, false)]
        {
            let params = Params {
                max_cluster: 12 + seed as u32,
                refine,
                lab: ForTheLab { paper_literal, reject: None },
                ..Params::paper(k, m)
            };
            let Outcome { release, leaf_of, .. } = disassociate(&data, &params).unwrap();
            let findings = Cover.run(&everything(&release));
            let as_set: BTreeSet<_> = findings
                .found
                .iter()
                .map(|finding| (finding.leaf, finding.terms.clone(), finding.learned.clone()))
                .collect();
            assert_eq!(as_set.len(), findings.found.len());
            assert_eq!(as_set, slow_findings(&release));
            assert_eq!(count(&everything(&release)), slow_count(&release));
            // Lemma 1: nowhere k records or more; and whoever has the pair has what is learned.
            for finding in &findings.found {
                let holders: Vec<&[TermId]> = holders(&data, &release, &leaf_of, finding);
                assert!(holders.len() < k as usize, "seed {seed}, k {k}");
                for holder in holders {
                    assert!(finding.learned.iter().all(|term| holder.contains(term)));
                }
            }
            let score = judge(&findings, &Truth::new(&data, Some(&leaf_of), &release).unwrap(), k);
            let held = |finding: &&Finding| !holders(&data, &release, &leaf_of, finding).is_empty();
            assert_eq!(score.right, findings.found.iter().filter(held).count() as u64);
            pairs += findings.found.len();
        }
    }
    assert!(pairs > 100, "{pairs}");
}

/// The records of a finding's cluster that hold its terms. Ids of data and release agree.
fn holders<'d>(data: &'d Dataset, release: &Disassociated, leaf_of: &[u32], finding: &Finding) -> Vec<&'d [TermId]> {
    assert!(data.dictionary.iter().eq(release.dictionary.iter()));
    let of_cluster = data.records.iter().zip(leaf_of).filter(|(_, leaf)| **leaf == finding.leaf);
    of_cluster
        .map(|(record, _)| record)
        .filter(|record| finding.terms.iter().all(|term| record.contains(term)))
        .collect()
}

// ---- What adversaries know ----------------------------------------------------------------------------------------------

fn itemsets(attacker: Attacker, truth: &Truth<'_>, m: usize, seed: u64) -> HashSet<Vec<TermId>> {
    match knowledge(attacker, truth, m, seed) {
        Knowledge::Itemsets(itemsets) => itemsets,
        Knowledge::Anything => panic!("a strong attacker"),
    }
}

#[test]
fn weak_attackers_know_190_pairs_of_which_45_can_match() {
    let data = baskets(1);
    let Outcome { release, .. } = disassociate(&data, &Params::paper(3, 2)).unwrap();
    let truth = Truth::new(&data, None, &release).unwrap();
    let pairs = itemsets(Attacker::Weak, &truth, 2, 7);
    let inside = |pair: &&Vec<TermId>| pair.iter().all(|&term| (term as usize) < release.dictionary.len());
    assert_eq!((pairs.len(), pairs.iter().filter(inside).count()), (190, 45));
    assert!(pairs.iter().all(|pair| pair.len() == 2 && pair[0] < pair[1]));
    assert_eq!(pairs, itemsets(Attacker::Weak, &truth, 2, 7));
    assert_ne!(pairs, itemsets(Attacker::Weak, &truth, 2, 8));
    // Whoever knows three terms knows two of them: C(20, 2) + C(20, 3).
    assert_eq!(itemsets(Attacker::Weak, &truth, 3, 7).len(), 190 + 1140);
}

#[test]
fn moderate_attackers_know_a_pair_of_some_people() {
    let data = dataset(&FIGURE_1);
    let Outcome { release, .. } = disassociate(&data, &Params::paper(3, 2)).unwrap();
    let truth = Truth::new(&data, None, &release).unwrap();
    let is_of_somebody = |pair: &Vec<TermId>| {
        let ids: Vec<TermId> =
            pair.iter().map(|&term| data.dictionary.get(release.dictionary.text(term)).unwrap()).collect();
        data.records.iter().any(|record| ids.iter().all(|id| record.contains(id)))
    };
    for seed in 0..20 {
        for (share, most) in [(0.0, 0), (0.5, 3), (1.0, 5)] {
            let pairs = itemsets(Attacker::Moderate { share }, &truth, 2, seed);
            assert!(pairs.len() <= most && pairs.iter().all(|pair| pair.len() == 2 && is_of_somebody(pair)));
        }
    }
    // Only two records have six terms, and at least one record remains unknown.
    let sixes = (0..20).map(|seed| itemsets(Attacker::Moderate { share: 1.0 }, &truth, 6, seed));
    assert!(sixes.map(|sets| sets.iter().filter(|set| set.len() == 6).count()).all(|n| n == 1 || n == 2));
    assert!(matches!(knowledge(Attacker::Strong, &truth, 2, 0), Knowledge::Anything));
}

#[test]
fn only_what_is_known_can_be_found() {
    let Outcome { release, .. } = disassociate(&dataset(&FIGURE_1), &Params::paper(3, 2)).unwrap();
    let id = |text: &str| release.dictionary.get(text).unwrap();
    let known = |a: &str, b: &str| {
        let knowledge = Knowledge::Itemsets([vec![id(a), id(b)]].into());
        let view = View { release: &release, cut: CutRule::Greedy, knowledge: &knowledge, observer: &Unobserved };
        (count(&view), found(&release, &Cover.run(&view)).into_iter().map(|(pair, _)| pair).collect::<Vec<_>>())
    };
    let (counters, pairs) = known("cancer", "side effects");
    // The literal reading looks at surgery only.
    assert_eq!(counters, Counters { literal: 0, per_chunk: 1, per_item: 1, pairs: 1 });
    assert_eq!(pairs, ["cancer, side effects"]);
    assert_eq!(known("oncologist", "surgery"), (Counters::default(), vec![]));
}

// ---- The judge ----------------------------------------------------------------------------------------------------------

#[test]
fn intervals_are_wilsons() {
    let near = |rate: Rate, share: f64, low: f64, high: f64| {
        [(rate.share, share), (rate.low, low), (rate.high, high)].iter().all(|(a, b)| (a - b).abs() < 5e-5)
    };
    // By hand, with z^2 = 3.84146: for 5 of 10 the centre is 0.5, the half 1.95996 sqrt(0.025 + 0.00960365) / 1.384146.
    assert!(near(Rate::new(5, 10), 0.5, 0.2366, 0.7634));
    assert!(near(Rate::new(8, 10), 0.8, 0.4902, 0.9433));
    // None of n: the upper end is z^2 / (n + z^2).
    assert!(near(Rate::new(0, 10), 0.0, 0.0, 0.2775));
    assert!(near(Rate::new(10, 10), 1.0, 0.7225, 1.0));
    assert!(near(Rate::new(0, 0), 0.0, 0.0, 1.0));
}

fn findings(says: Says, statements: &[(u32, &str)]) -> Findings {
    let found = statements
        .iter()
        .map(|&(leaf, terms)| Finding { leaf, terms: ids(terms), learned: vec![], confidence: 0.5 })
        .collect();
    Findings { attack: "by-hand", says, found, coverage: Coverage::default() }
}

#[test]
fn statements_are_judged_by_their_cluster() {
    let rows = ["a, b, c", "a, b", "a, c", "b", "a, c", "a, c", "c", "b, c"];
    let data = dataset(&rows);
    let roots = vec![leaf(4, &["a a a", "b b b", "c c"], ""), leaf(4, &["a a", "b", "c c c c"], "")];
    let release = release(2, 2, 8, roots);
    let leaf_of = [0, 0, 0, 0, 1, 1, 1, 1];
    let truth = Truth::new(&data, Some(&leaf_of), &release).unwrap();

    // In the first cluster a and b are together twice, b and c once; in the second a and c twice, a and b never.
    let fewer = findings(Says::FewerThanK, &[(0, "ab"), (0, "bc"), (1, "ac"), (1, "ab"), (7, "ab")]);
    let score = judge(&fewer, &truth, 2);
    assert_eq!((score.found, score.right, score.people), (5, 1, 1));
    assert_eq!((score.precision, score.recall, score.missed), (Rate::new(1, 5), None, None));
    assert_eq!(judge(&fewer, &truth, 3).right, 3);

    // All that is together: ab, bc and ac in the first cluster, ac and bc in the second.
    let together = findings(Says::Together, &[(0, "ab"), (0, "abc"), (1, "ab"), (1, "ac")]);
    let score = judge(&together, &truth, 2);
    assert_eq!((score.found, score.right, score.people), (4, 3, 4));
    assert_eq!((score.recall, score.missed), (Some(Rate::new(4, 5)), Some(1)));

    // Without the clusters, all records count: a and b are together twice, b and c twice, a and c four times.
    let anywhere = Truth::new(&data, None, &release).unwrap();
    assert_eq!(judge(&fewer, &anywhere, 3).right, 4);
    let score = judge(&together, &anywhere, 2);
    assert_eq!((score.right, score.recall, score.missed), (4, None, None));
}

#[test]
fn another_original_is_refused_without_a_word_about_its_terms() {
    let release = release(2, 2, 2, vec![leaf(2, &["ab ab"], "")]);
    let refused = |rows: &[&str], leaf_of: Option<&[u32]>| match Truth::new(&dataset(rows), leaf_of, &release) {
        Err(Error::Input { problem, hint: Some(_), .. }) => problem,
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("accepted"),
    };
    assert_eq!(refused(&["a, b"], None), "has 1 records, but the release was made from 2");
    assert_eq!(refused(&["a, b", "a, b, hiv"], None), "has terms that the release lacks: 1");
    assert_eq!(refused(&["a, b, c", "a"], None), "has terms that the release lacks: 1");
    assert_eq!(refused(&["a", "a"], None), "lacks terms that the release has: 1");
    for leaf_of in [&[0][..], &[0, 1], &[0, 0, 0]] {
        assert!(refused(&["a, b", "a, b"], Some(leaf_of)).contains("clusters"));
    }
    assert!(Truth::new(&dataset(&["a, b", "a, b"]), Some(&[0, 0]), &release).is_ok());
}

// ---- Controls -----------------------------------------------------------------------------------------------------------

/// Figure 1 twenty times over: every cluster has the cover problem.
fn broken() -> (Dataset, Vec<u32>, Disassociated) {
    let cluster = || leaf(6, &["otc otc otc t otc o", "se se se s"], "vnh");
    let rows: Vec<String> = FIGURE_1_LETTERS
        .repeat(20)
        .iter()
        .map(|row| row.chars().map(String::from).collect::<Vec<_>>().join(", "))
        .collect();
    let leaf_of = (0..120).map(|record| record / 6).collect();
    (dataset(&rows), leaf_of, release(3, 2, 120, (0..20).map(|_| cluster()).collect()))
}

#[test]
fn cover_wins_where_the_release_is_broken_on_purpose() {
    let (data, leaf_of, release) = broken();
    let truth = Truth::new(&data, Some(&leaf_of), &release).unwrap();
    let findings = Cover.run(&everything(&release));
    let score = judge(&findings, &truth, 3);
    assert_eq!((score.found, score.right, score.people), (40, 40, 40));
    // Of six pairs across chunks three are together fewer than three times.
    let blind = Rate::new((0..50).map(|seed| baseline(&findings, &truth, 3, seed).hits).sum(), 50 * 40);
    assert!(blind.low < 0.5 && 0.5 < blind.high, "{blind:?}");
    assert!((0..50).all(|seed| baseline(&findings, &truth, 3, seed).of == 40));
    assert!(score.precision.low > blind.high);
    // Over all clusters every pair is together often: the statements are about clusters.
    assert_eq!(judge(&findings, &Truth::new(&data, None, &release).unwrap(), 3).right, 0);
}

#[test]
fn cover_finds_nothing_where_there_is_nothing() {
    // One chunk; two chunks, but x is more frequent than all of the earlier one's terms but a, which comes without b.
    let safe =
        release(3, 2, 13, vec![leaf(4, &["ab ab ab a"], "z"), leaf(9, &["ab ab ab a a a b b b", "c c c c"], "z")]);
    let findings = Cover.run(&everything(&safe));
    assert!(findings.found.is_empty());
    assert_eq!(count(&everything(&safe)), Counters::default());
    assert_eq!(findings.coverage, Coverage { clusters: 2, proved: 1, open: 1 });
}

#[test]
fn without_two_chunks_there_is_nothing_to_guess() {
    let release = release(2, 2, 2, vec![leaf(2, &["ab ab"], "")]);
    let data = dataset(&["a, b", "a, b"]);
    let truth = Truth::new(&data, None, &release).unwrap();
    assert_eq!(baseline(&findings(Says::Together, &[(0, "ab")]), &truth, 2, 0), Rate::new(0, 0));
}

// ---- Separation ---------------------------------------------------------------------------------------------------------

/// What one could reach the original with. Text is searched, not syntax: this catches accidents, not intent.
const ORIGINAL: [&str; 6] = ["Dataset", "Transactions", "crate::read", "std::fs", "std::env", "File::open"];

/// By way of those who may see it, one could as well.
const DETOURS: [&str; 4] = ["Truth", "judge", "background", "witness::"];

#[test]
fn no_attack_can_reach_the_original() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/attack");
    let mut folders = vec![src.clone()];
    let mut files: Vec<PathBuf> = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    let mut attacks = 0;
    for file in files {
        let name = file.strip_prefix(&src).unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap();
        let may_see = ["judge.rs", "background.rs", "attackers.rs", "stronger.rs", "summary.rs", "witness.rs"];
        if may_see.contains(&&name[..]) || ["semantic/judge.rs", "semantic/summary.rs"].contains(&&name[..]) {
            continue;
        }
        // The list of modules names those that see the original.
        let is_attack = !name.ends_with("mod.rs");
        // Generalised sets are records, too: those of the release. So are possible originals.
        let is_released = |word: &str| match &name[..] {
            "semantic/table.rs" => word == "Transactions",
            "rerun.rs" => ["Dataset", "Transactions"].contains(&word),
            _ => false,
        };
        let forbidden: Vec<&str> = ORIGINAL.into_iter().chain(DETOURS.into_iter().filter(|_| is_attack)).collect();
        for (number, line) in code.lines().enumerate() {
            let line = line.split("//").next().unwrap();
            for word in &forbidden {
                assert!(is_released(word) || !line.contains(word), "{name}:{}: {word}", number + 1);
            }
        }
        attacks += usize::from(is_attack);
    }
    assert!(attacks >= 2, "{attacks}");
}

// ---- Closure and worlds -------------------------------------------------------------------------------------------------

const WORLDS: Worlds = Worlds { steps: 200_000, is_refined: true };

fn pairs_found(release: &Disassociated, attack: &dyn Attack) -> Vec<String> {
    found(release, &attack.run(&everything(release))).into_iter().map(|(pair, _)| pair).collect()
}

#[test]
fn all_three_attacks_find_the_pairs_of_figure_1() {
    let Outcome { release, .. } = disassociate(&dataset(&FIGURE_1), &Params::paper(3, 2)).unwrap();
    for attack in [&Cover as &dyn Attack, &Closure, &WORLDS] {
        let findings = attack.run(&everything(&release));
        let pairs = pairs_found(&release, attack);
        for pair in ["cancer, surgery", "cancer, side effects"] {
            assert!(pairs.iter().any(|found| found == pair), "{}: {pairs:?}", attack.name());
        }
        assert_eq!((findings.attack, findings.says), (attack.name(), Says::FewerThanK));
        assert!(findings.found.iter().all(|finding| finding.leaf == 0 && finding.confidence == 1.0));
        assert!(findings.found.is_sorted_by(|a, b| a.terms < b.terms));
    }
    assert_eq!(WORLDS.run(&everything(&release)).coverage, Coverage { clusters: 1, proved: 1, open: 0 });
    assert_eq!(Closure.run(&everything(&release)).coverage, Coverage { clusters: 1, proved: 0, open: 1 });
}

#[test]
fn no_attack_is_certain_about_figure_2_of_the_disassociation_paper() {
    for cluster in FIGURE_2.chunks(5) {
        let Outcome { release, .. } = disassociate(&dataset(cluster), &Params::paper(3, 2)).unwrap();
        for attack in [&Cover as &dyn Attack, &Closure, &WORLDS] {
            assert_eq!(pairs_found(&release, attack), Vec::<String>::new(), "{}", attack.name());
        }
        assert_eq!(WORLDS.run(&everything(&release)).coverage, Coverage { clusters: 1, proved: 1, open: 0 });
    }
}

/// A few terms that tend to come together, numbered by their texts.
fn small(rng: &mut ChaCha8Rng) -> Dataset {
    let (n_records, n_terms) = (rng.random_range(6..=24), rng.random_range(3..=8));
    let density: Vec<f64> = (0..n_terms).map(|_| rng.random_range(0.1..0.9)).collect();
    let rows: Vec<Vec<String>> = (0..n_records)
        .map(|_| {
            let shift = rng.random_range(-0.3..0.3);
            let has = |rng: &mut ChaCha8Rng, p: f64| rng.random_bool((p + shift).clamp(0.02, 0.98));
            let letter = |term: usize| char::from(b'a' + term as u8).to_string();
            let row: Vec<String> = (0..n_terms).filter(|&t| has(rng, density[t])).map(letter).collect();
            if row.is_empty() { vec![letter(rng.random_range(0..n_terms))] } else { row }
        })
        .collect();
    Dataset::from_texts(rows.iter().map(|row| row.iter().map(String::as_str)))
}

#[test]
fn cover_is_part_of_closure_is_part_of_worlds() {
    let mut rng = ChaCha8Rng::seed_from_u64(16);
    let mut sizes = [0; 3];
    let mut decided = Coverage::default();
    for round in 0..300 {
        let data = small(&mut rng);
        let k = rng.random_range(2..=3);
        let params = Params { max_cluster: rng.random_range(2 * k..=12), ..Params::paper(k, rng.random_range(2..=3)) };
        let Outcome { release, leaf_of, .. } = disassociate(&data, &params).unwrap();
        let truth = Truth::new(&data, Some(&leaf_of), &release).unwrap();
        let [cover, closure, worlds] =
            [&Cover as &dyn Attack, &Closure, &WORLDS].map(|attack| attack.run(&everything(&release)));
        let keys = |findings: &Findings| -> BTreeSet<(u32, Vec<TermId>)> {
            findings.found.iter().map(|finding| (finding.leaf, finding.terms.clone())).collect()
        };
        let (in_closure, in_worlds) = (keys(&closure), keys(&worlds));
        assert!(keys(&cover).is_subset(&in_closure), "round {round}");
        // The closure does not ask whether anybody can have the pair. Whatever somebody has is possible.
        for finding in &closure.found {
            let is_held = !concerned(Says::FewerThanK, finding, &truth, u32::MAX).is_empty();
            assert!(!is_held || in_worlds.contains(&(finding.leaf, finding.terms.clone())), "round {round}");
        }
        // The original is a possible original: fewer than k records, whatever is found.
        for finding in cover.found.iter().chain(&closure.found).chain(&worlds.found) {
            let holders = concerned(Says::FewerThanK, finding, &truth, u32::MAX);
            assert!(holders.len() < params.k as usize, "round {round}");
            let is_learned = |id: &u32| {
                let texts: Vec<&str> = data.records.record(*id).iter().map(|&t| data.dictionary.text(t)).collect();
                finding.learned.iter().all(|&term| texts.contains(&release.dictionary.text(term)))
            };
            assert!(holders.iter().all(is_learned), "round {round}");
        }
        for (size, findings) in sizes.iter_mut().zip([&cover, &closure, &worlds]) {
            *size += findings.found.len();
        }
        decided.clusters += worlds.coverage.clusters;
        decided.proved += worlds.coverage.proved;
        decided.open += worlds.coverage.open;
    }
    // Each finds more than the one before, and nothing is left open.
    assert!(sizes[0] > 100 && sizes.is_sorted_by(|a, b| a < b), "{sizes:?}");
    assert_eq!(decided.open, 0, "{decided:?}");
}

#[test]
fn closure_and_worlds_find_only_what_is_known() {
    let Outcome { release, .. } = disassociate(&dataset(&FIGURE_1), &Params::paper(3, 2)).unwrap();
    let id = |text: &str| release.dictionary.get(text).unwrap();
    let knowledge = Knowledge::Itemsets([vec![id("cancer"), id("surgery")]].into());
    let view = View { release: &release, cut: CutRule::Greedy, knowledge: &knowledge, observer: &Unobserved };
    for attack in [&Closure as &dyn Attack, &WORLDS] {
        let pairs: Vec<String> = found(&release, &attack.run(&view)).into_iter().map(|(pair, _)| pair).collect();
        assert_eq!(pairs, ["cancer, surgery"], "{}", attack.name());
    }
}

#[test]
fn leaves_are_numbered_depth_first_and_damaged_ones_left_open() {
    let broken = || leaf(6, &["otc otc otc t otc o", "se se se s"], "vnh");
    let safe = || leaf(4, &["ab ab ab a"], "z");
    // More subrecords than records; a term in two chunks.
    let damaged = [leaf(2, &["a a a", "b b b"], ""), leaf(4, &["ab ab ab", "bc bc bc"], "")];
    let [first, second] = damaged;
    let roots =
        vec![safe(), joint(vec![joint(vec![safe(), broken()], &["x x x"]), first], &["y y y"]), second, broken()];
    let release = release(3, 2, 26, roots);
    for attack in [&Closure as &dyn Attack, &WORLDS] {
        let findings = attack.run(&everything(&release));
        let leaves: BTreeSet<u32> = findings.found.iter().map(|finding| finding.leaf).collect();
        assert_eq!(leaves, [2, 5].into(), "{}", attack.name());
        assert_eq!(findings.coverage.clusters, 6);
    }
    assert_eq!(WORLDS.run(&everything(&release)).coverage, Coverage { clusters: 6, proved: 4, open: 2 });
}

/// Lemma 2 makes z move to the term chunk, though four records have it, and nothing else.
#[test]
fn worlds_know_of_the_repair_of_lemma_2() {
    let rows = ["x", "x", "x", "x, y", "y", "y", "y", "z", "z", "z", "z"];
    let Outcome { release, .. } = disassociate(&dataset(&rows), &Params::paper(2, 2)).unwrap();
    assert_eq!(texts(&release, &release.roots[0].leaves()[0].term_chunk), "z");
    assert_eq!(pairs_found(&release, &WORLDS), ["x, y"]);
    assert_eq!(WORLDS.run(&everything(&release)).coverage, Coverage { clusters: 1, proved: 1, open: 0 });
}
