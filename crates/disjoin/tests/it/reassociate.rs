//! Semantic re-association: it wins where terms keep company, and is no better than a blind guess where they do not.
//!
//! Originals are made here and cut by hand, so that it is known who was torn from whom. The first control would catch an
//! attack that never finds anything; the second, one that knows more than the release tells.

use std::collections::BTreeSet;

use crate::worlds::letters::{chunk, ids, leaf, release};
use disjoin::Unobserved;
use disjoin::attack::reassociate::{Matching, Reassociate, co_occurrence};
use disjoin::attack::{Attack, Finding, Findings, Knowledge, Says, View};
use disjoin::data::{Dataset, TermId};
use disjoin::release::{CutRule, Disassociated, Header, Node, Simple};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const MATCHINGS: [Matching; 3] = [Matching::Greedy, Matching::Optimal, Matching::Threshold(-1.0)];

/// A cluster's records, cut into terms below and from `middle`; from `hidden` on only the presence is told.
fn cut(records: &[Vec<TermId>], middle: TermId, hidden: TermId) -> Node {
    let part = |from: TermId, to: TermId| {
        chunk(records.iter().map(|record| record.iter().copied().filter(|t| (from..to).contains(t)).collect()))
    };
    let parts = [part(0, middle), part(middle, hidden)];
    let term_chunk: BTreeSet<TermId> = records.iter().flatten().copied().filter(|&t| t >= hidden).collect();
    Node::Simple(Simple {
        size: records.len() as u32,
        record_chunks: parts.into_iter().filter(|chunk| chunk.n_distinct() > 0).collect(),
        term_chunk: term_chunk.into_iter().collect(),
    })
}

fn release_of(roots: Vec<Node>) -> Disassociated {
    let texts = Dataset::from_texts([(0..100).map(|t| format!("t{t:02}"))]);
    let records = roots.iter().map(Node::size).sum();
    Disassociated { header: Header { k: 2, m: 2, records, occurrences: None }, dictionary: texts.dictionary, roots }
}

fn run<S: Fn(TermId, TermId) -> f64 + Sync>(release: &Disassociated, score: S, matching: Matching) -> Findings {
    Reassociate { score, matching }.run(&View {
        release,
        cut: CutRule::Greedy,
        knowledge: &Knowledge::Anything,
        observer: &Unobserved,
    })
}

/// The share of findings that are true, of those about the first `original.len()` clusters.
fn precision(found: &[Finding], original: &[Vec<Vec<TermId>>]) -> (f64, usize) {
    let about: Vec<&Finding> = found.iter().filter(|finding| (finding.leaf as usize) < original.len()).collect();
    let is_true = |finding: &&&Finding| {
        original[finding.leaf as usize].iter().any(|record| finding.terms.iter().all(|t| record.contains(t)))
    };
    (about.iter().filter(is_true).count() as f64 / about.len().max(1) as f64, about.len())
}

/// A score that means nothing.
fn blind(seed: u64) -> impl Fn(TermId, TermId) -> f64 + Sync {
    move |a, b| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed << 40 | u64::from(a.min(b)) << 20 | u64::from(a.max(b)));
        rng.random_range(-1.0..0.0)
    }
}

/// Clusters with terms 0..20 cut from their partners 20..40, and for every term hidden company 40..60; other clusters,
/// not cut, in which partners are seen together.
fn partnerships(rng: &mut ChaCha8Rng, is_fixed: bool) -> (Disassociated, Vec<Vec<Vec<TermId>>>) {
    let mut original = Vec::new();
    for _ in 0..40 {
        let mut firsts: Vec<TermId> = (0..20).collect();
        firsts.shuffle(rng);
        let mut partner = |t: TermId| if is_fixed { t } else { rng.random_range(0..20) };
        let records = firsts[..8].iter().map(|&t| vec![t, 20 + partner(t), 40 + partner(t)]);
        original.push(records.collect::<Vec<_>>());
    }
    let mut roots: Vec<Node> = original.iter().map(|records| cut(records, 20, 40)).collect();
    for _ in 0..40 {
        let mut partner = |t: TermId| if is_fixed { t } else { rng.random_range(0..20) };
        let records: Vec<Vec<TermId>> = (0..20).map(|t| vec![t, 20 + partner(t), 40 + partner(t)]).collect();
        roots.push(cut(&records, 60, 60));
    }
    (release_of(roots), original)
}

#[test]
fn fixed_partners_are_found_again() {
    let (release, original) = partnerships(&mut ChaCha8Rng::seed_from_u64(1), true);
    for matching in MATCHINGS {
        let found = run(&release, co_occurrence(&release), matching);
        let (share, n) = precision(&found.found, &original);
        assert!(share > 0.99 && n == 40 * 8 * 3, "{matching:?}: {share} of {n}");
        let (guessed, _) = precision(&run(&release, blind(1), matching).found, &original);
        assert!(guessed < 0.4, "{matching:?}: {guessed}");
        assert_eq!((found.says, found.coverage.clusters, found.coverage.open), (Says::Together, 80, 40));
    }
}

#[test]
fn partners_by_chance_are_not() {
    let (mut learned, mut guessed, mut n) = ([0.0; 2], [0.0; 2], 0.0);
    for seed in 0..12 {
        let (release, original) = partnerships(&mut ChaCha8Rng::seed_from_u64(seed), false);
        for (i, matching) in [Matching::Greedy, Matching::Optimal].into_iter().enumerate() {
            learned[i] += precision(&run(&release, co_occurrence(&release), matching).found, &original).0;
            guessed[i] += precision(&run(&release, blind(seed), matching).found, &original).0;
        }
        n += 1.0;
    }
    for i in 0..2 {
        let (learned, guessed) = (learned[i] / n, guessed[i] / n);
        assert!((learned - guessed).abs() < 0.03, "{learned} is not as good as a guess, {guessed}");
    }
}

/// The three ways to match, on scores where they differ.
#[test]
fn matchings_differ_as_they_should() {
    let root = leaf(2, &["a b", "c d"], "");
    let release = release(2, 2, 2, vec![root]);
    // Greedy takes ac and is left with bd; together, ad and bc are better. Only ac is above the threshold.
    let score = |a: TermId, b: TermId| match (a.min(b), a.max(b)) {
        (0, 2) => 3.0,
        (0, 3) | (1, 2) => 2.5,
        _ => 0.0,
    };
    let pairs = |matching| {
        let mut terms: Vec<Vec<TermId>> = run(&release, score, matching).found.into_iter().map(|f| f.terms).collect();
        terms.sort_unstable();
        terms
    };
    assert_eq!(pairs(Matching::Greedy), [ids("ac"), ids("bd")]);
    assert_eq!(pairs(Matching::Optimal), [ids("ad"), ids("bc")]);
    assert_eq!(pairs(Matching::Threshold(2.8)), [ids("ac")]);
    assert!(pairs(Matching::Threshold(3.5)).is_empty());
}

/// The third chunk goes to what the first two have become; a hidden term to the best record; closer is surer.
#[test]
fn later_chunks_join_what_has_been_mended() {
    let root = leaf(3, &["a b", "c d", "e f"], "g");
    let release = release(2, 2, 3, vec![root]);
    let friends = [ids("ac"), ids("bd"), ids("ce"), ids("df"), ids("fg")];
    let score = |a: TermId, b: TermId| if friends.contains(&vec![a.min(b), a.max(b)]) { 1.0 } else { -1.0 };
    for matching in [Matching::Greedy, Matching::Optimal] {
        let found = run(&release, score, matching).found;
        let terms: BTreeSet<Vec<TermId>> = found.iter().map(|finding| finding.terms.clone()).collect();
        let expected = ["ac", "bd", "ae", "ce", "bf", "df", "bg", "dg", "fg"].map(ids);
        assert_eq!(terms, BTreeSet::from(expected), "{matching:?}");
        assert!(found.is_sorted_by(|a, b| a.confidence >= b.confidence));
        assert!(found.iter().all(|finding| (0.0..1.0).contains(&finding.confidence) && finding.learned.is_empty()));
        assert!(found[0].terms == ids("ac") || found[0].terms == ids("bd"), "{found:?}");
    }
}

#[test]
fn nothing_is_found_where_nothing_was_torn() {
    let release = release(2, 2, 5, vec![leaf(3, &["ab ab a"], ""), leaf(2, &[], "cd")]);
    let found = run(&release, co_occurrence(&release), Matching::Optimal);
    assert!(found.found.is_empty());
    assert_eq!((found.coverage.clusters, found.coverage.proved, found.coverage.open), (2, 2, 0));
}

/// Scores that say nothing do no harm: rows go somewhere, and confidences stay numbers.
#[test]
fn unknown_scores_are_left_out() {
    let root = leaf(3, &["ab ab a", "c d d"], "e");
    let release = release(2, 2, 3, vec![root]);
    for matching in MATCHINGS {
        let found = run(&release, |_, _| f64::NAN, matching).found;
        assert!(found.iter().all(|finding| (0.0..1.0).contains(&finding.confidence)), "{found:?}");
    }
}
