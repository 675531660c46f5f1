//! Does the release keep its promise? Read from the release itself, and counted anew.
//!
//! Paper:      terrovitis2012, section 5; the conditions are those of `conditions.rs`
//! Promises:   if the verdict holds, the release keeps the promise of its claim; with the original and
//!             the custody map also that it tells the truth
//! Assumes:    shares no code with `protect`: a mistake there cannot hide itself here. Only the search for possible
//!             originals that are cut as published (`cut.rs`) is the same
//! Departs:    nothing is promised by k < 2 or m < 1, and such a claim does not hold
//! Cost:       one pass; the memory of a batch of roots, however large the file; with the original, its dictionary
//! Checked by: tests/it/verify.rs: brute force agrees, and every rule is broken once on purpose

mod anonymity;
mod associations;
mod class_sets;
mod conditions;
mod conserve;
mod cut;
mod noisy;
mod people;
mod recoded;
mod rules;
mod split;
mod table;

use std::collections::HashSet;
use std::sync::Arc;

use rayon::prelude::*;
use serde::Serialize;

use crate::data::{Dataset, Dictionary, TermId};
use crate::error::Result;
use crate::observer::{Observer, Unobserved};
use crate::release::open::RootStream;
use crate::release::{Claim, CutRule, Header, Node, Occurrences, Promise};
pub use class_sets::{SetsVerdict, published_sets, verify_sets, verify_sets_in};
use conditions::{Asked, Shape};
use conserve::{Bounds, Custody};
pub(crate) use cut::{STEPS as CUT_STEPS, fill as cut_fill};
pub use noisy::{NoisyCheck, NoisyFiles, NoisyFinding, NoisyRule, NoisyVerdict, open_noisy, verify_noisy};
pub use people::{Parts, verify_people, verify_people_of_table};
pub(crate) use recoded::{OfSize, count_sets};
pub use recoded::{
    RecodedCheck, RecodedFinding, RecodedRule, RecodedTruth, RecodedVerdict, open_recoded, verify_recoded,
};
use rules::Tally;
pub use rules::{CheckLine, Finding, Rule};
pub use split::{SplitBytes, open_split, parse_split, verify_split};
pub use table::{
    CriterionLine, TableCheck, TableFinding, TableRule, TableTruth, TableVerdict, open_table, parse_table,
    verify_table, verify_table_with,
};

/// Roots that are checked together, while the next ones are read. The verdict does not depend on it.
const BATCH: usize = 256;

/// What only the maker of a release has.
#[derive(Debug, Clone, Copy)]
pub struct Truth<'a> {
    /// The dataset that was protected.
    pub original: &'a Dataset,
    /// For each record its simple cluster, numbered depth first through the release in the order of the file.
    pub leaf_of: Option<&'a [u32]>,
}

/// Whether a release keeps its promise, and what was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// No condition is violated, and something is promised.
    pub holds: bool,
    /// What is promised.
    pub promise: Promise,
    /// How many records cannot be told apart.
    pub k: u32,
    /// The number of terms the adversary may know.
    pub m: u32,
    /// The number of records that the header tells.
    pub records: u64,
    /// Simple clusters.
    pub clusters: u64,
    /// Joint clusters.
    pub joint_clusters: u64,
    /// Record chunks.
    pub record_chunks: u64,
    /// Shared chunks.
    pub shared_chunks: u64,
    /// The lengths of all term chunks together.
    pub term_chunk_terms: u64,
    /// Whether the original was at hand.
    pub against_original: bool,
    /// Whether the custody map was at hand.
    pub against_custody: bool,
    /// How many checks failed.
    pub violations: u64,
    /// The first 20 of them, in the order of the file; those about the whole release stand before or after.
    pub findings: Vec<Finding>,
    /// The rules that were checked, with counts.
    pub checks: Vec<CheckLine>,
}

/// Checks a release against its claim, and against the original if it is given.
///
/// A release that cannot be read, or whose data and claim speak of different parameters, is an error; a release that
/// breaks its promise is a verdict.
pub fn verify(claim: &Claim, roots: impl RootStream, truth: Option<Truth<'_>>) -> Result<Verdict> {
    verify_with(claim, roots, truth, &Unobserved)
}

/// Like [`verify`], watched by somebody.
pub fn verify_with(
    claim: &Claim,
    mut roots: impl RootStream,
    truth: Option<Truth<'_>>,
    observer: &dyn Observer,
) -> Result<Verdict> {
    let header = roots.header();
    claim.check_header(&header, roots.file())?;
    let mut tally = Tally::default();
    check_claim(claim, &mut tally);

    observer.check();
    let judge = Judge::new(claim, truth, observer);
    observer.check();
    let mut whole = Whole {
        shape: Shape::default(),
        bounds: truth.map(|truth| Bounds::new(truth.original)),
        occurrences: header.occurrences.map(|_| Occurrences::default()),
    };
    whole.add_all(&mut roots, Source::new(claim, truth), &judge, &mut tally)?;
    let Whole { shape, bounds, occurrences } = whole;
    tally.check(Rule::RecordCount, 1, shape.records == header.records, || {
        format!("the clusters hold {} records, the header has {}", shape.records, header.records)
    });
    if let (Some(occurrences), Some(told)) = (occurrences, header.occurrences) {
        check_occurrences(occurrences, told, &header, claim, &mut tally);
    }
    if let (Some(bounds), Some(truth)) = (bounds, truth) {
        bounds.check(truth.original, shape.records, header.occurrences, &mut tally);
    }
    if let Some(custody) = &judge.custody {
        custody.check_map(shape.clusters, &mut tally);
    }
    Ok(Verdict {
        holds: tally.violations() == 0,
        promise: claim.promise,
        k: header.k,
        m: header.m,
        records: header.records,
        clusters: shape.clusters,
        joint_clusters: shape.joint_clusters,
        record_chunks: shape.record_chunks,
        shared_chunks: shape.shared_chunks,
        term_chunk_terms: shape.term_chunk_terms,
        against_original: truth.is_some(),
        against_custody: judge.custody.is_some(),
        violations: tally.violations(),
        checks: tally.lines(),
        findings: tally.findings,
    })
}

/// What is counted over all roots.
struct Whole {
    shape: Shape,
    bounds: Option<Bounds>,
    occurrences: Option<Occurrences>,
}

impl Whole {
    /// Checks all roots, each by itself, and adds them up. While a batch is checked, the next one is read.
    fn add_all(
        &mut self,
        roots: &mut impl RootStream,
        mut source: Source<'_>,
        judge: &Judge<'_>,
        tally: &mut Tally,
    ) -> Result<()> {
        let k = judge.claim.parameters.k;
        let mut batch = source.next_batch(roots, judge.observer)?;
        while !batch.is_empty() {
            let (next, parts) = rayon::join(
                || source.next_batch(roots, judge.observer),
                || {
                    let parts: Vec<(Shape, Tally)> = batch.par_iter().map(|root| judge.check(root)).collect();
                    if let Some(bounds) = &mut self.bounds {
                        batch.iter().for_each(|root| bounds.add(&root.node));
                    }
                    if let Some(occurrences) = &mut self.occurrences {
                        batch.iter().for_each(|root| occurrences.add(&root.node, k));
                    }
                    parts
                },
            );
            for (part, findings) in parts {
                self.shape = sum(self.shape, part);
                tally.append(findings);
            }
            batch = next?;
        }
        Ok(())
    }
}

fn check_claim(claim: &Claim, tally: &mut Tally) {
    let (k, m) = (claim.parameters.k, claim.parameters.m);
    tally.check(Rule::Promise, 1, claim.promise != Promise::None, || "nothing is promised".into());
    tally.check(Rule::Parameters, 1, k >= 2 && m >= 1, || format!("k = {k} and m = {m} promise nothing"));
}

/// One finding at most: the first reason why nothing may be told.
fn check_occurrences(found: Occurrences, told: u64, header: &Header, claim: &Claim, tally: &mut Tally) {
    let parameters = &claim.parameters;
    // How often a sensitive term may occur is bounded otherwise.
    let is_sensitive = parameters.sensitive.is_some();
    // Where refusals are reckoned back, a cluster cannot be arranged at will.
    let is_aware = matches!(claim.promise, Promise::AlgorithmAware | Promise::ProgramAware);
    let is_open = is_aware && parameters.cut == CutRule::Greedy;
    let leaves_room = found.leave_room(told, header.k, header.m);
    tally.check(Rule::OccurrencesLeaveRoom, 1, !is_sensitive && !is_open && leaves_room, || {
        if is_sensitive {
            "the number of occurrences is published, though there are sensitive terms".into()
        } else if is_open {
            "the number of occurrences is published, though the assignment of terms to chunks depends on the data"
                .into()
        } else {
            let (visible, hidden) = (found.visible, found.hidden);
            format!("{told} occurrences, {visible} in chunks with counts, are too few or too many for {hidden} others")
        }
    });
}

fn sum(a: Shape, b: Shape) -> Shape {
    sum_fields!(Shape { records, clusters, joint_clusters, record_chunks, shared_chunks, term_chunk_terms }, a, b)
}

/// A root with what is needed to check it apart from all others.
struct Root {
    node: Node,
    line: u64,
    first_leaf: u64,
    /// The ids of sensitive terms, ascending.
    sensitive: Arc<[TermId]>,
    /// The places of all terms in the order of their texts, if it matters.
    by_text: Option<Arc<[TermId]>>,
}

/// What all roots are checked for.
struct Judge<'a> {
    claim: &'a Claim,
    custody: Option<Custody<'a>>,
    observer: &'a dyn Observer,
}

impl<'a> Judge<'a> {
    fn new(claim: &'a Claim, truth: Option<Truth<'a>>, observer: &'a dyn Observer) -> Self {
        let sensitive = claim.parameters.sensitive.as_ref();
        // Only by `size` is less promised than that nobody is linked with more than 1/l.
        let multiplicity = sensitive.filter(|s| s.rule.as_deref() != Some("size")).and_then(|s| s.l);
        let map = truth.and_then(|truth| truth.leaf_of.map(|leaf_of| (truth.original, leaf_of)));
        let custody = map.map(|(original, leaf_of)| Custody::new(original, leaf_of, multiplicity));
        Judge { claim, custody, observer }
    }

    fn check(&self, root: &Root) -> (Shape, Tally) {
        let parameters = &self.claim.parameters;
        let asked = Asked {
            parameters,
            k: parameters.k,
            m: parameters.m,
            is_guarded: self.claim.promise == Promise::ProgramAware,
            has_sensitive: parameters.sensitive.is_some(),
            sensitive: &root.sensitive,
            l: parameters.sensitive.as_ref().and_then(|sensitive| sensitive.l),
            observer: self.observer,
        };
        self.observer.check();
        let mut tally = Tally::default();
        let shape = conditions::check(&root.node, asked, root.line, &mut tally);
        // What is broken anyway is not looked at further: the analysis is about clusters that can be.
        if let (Some(by_text), 0) = (&root.by_text, tally.violations()) {
            self.observer.check();
            let mut node = root.node.clone();
            node.rename(by_text);
            self.observer.check();
            let mut sensitive: Vec<TermId> = root.sensitive.iter().map(|&term| by_text[term as usize]).collect();
            sensitive.sort_unstable();
            cut::check(&node, parameters, &sensitive, root.line, &mut tally, self.observer);
        }
        if let Some(custody) = &self.custody {
            custody.check(&root.node, root.first_leaf, &root.sensitive, root.line, &mut tally, self.observer);
        }
        (shape, tally)
    }
}

/// Reads roots and numbers them.
struct Source<'a> {
    names: Names<'a>,
    /// Whether the order of the terms' texts matters, and what it was last.
    is_aware: bool,
    by_text: Arc<[TermId]>,
    n_roots: u64,
    n_leaves: u64,
}

enum Names<'a> {
    /// Each root has a dictionary of its own: memory does not grow with the file.
    Fresh { sensitive: HashSet<&'a str> },
    /// The original's dictionary, to which unknown terms are added.
    Original { dictionary: Dictionary, sensitive: Arc<[TermId]> },
}

impl<'a> Source<'a> {
    fn new(claim: &'a Claim, truth: Option<Truth<'_>>) -> Self {
        let sensitive = claim.parameters.sensitive.iter().flat_map(|sensitive| &sensitive.terms).map(String::as_str);
        let names = match truth {
            None => Names::Fresh { sensitive: sensitive.collect() },
            Some(truth) => {
                let mut dictionary = truth.original.dictionary.clone();
                let mut ids: Vec<TermId> = sensitive.map(|term| dictionary.intern(term)).collect();
                ids.sort_unstable();
                Names::Original { dictionary, sensitive: ids.into() }
            }
        };
        let is_aware = matches!(claim.promise, Promise::AlgorithmAware | Promise::ProgramAware);
        Source { names, is_aware, by_text: Arc::default(), n_roots: 0, n_leaves: 0 }
    }

    /// The next roots; none at the end.
    fn next_batch(&mut self, roots: &mut impl RootStream, observer: &dyn Observer) -> Result<Vec<Root>> {
        let mut batch = Vec::with_capacity(BATCH);
        while batch.len() < BATCH {
            observer.check();
            let Some((node, sensitive, own)) = self.names.next_root(roots, observer)? else { break };
            self.n_roots += 1;
            let by_text = self.is_aware.then(|| self.order(own));
            // The header is line 1.
            batch.push(Root { line: self.n_roots + 1, first_leaf: self.n_leaves, sensitive, by_text, node });
            self.n_leaves += batch.last().map_or(0, |root| n_leaves(&root.node));
        }
        Ok(batch)
    }

    /// The order of the texts of a root's own dictionary, or of the common one, which only grows.
    fn order(&mut self, own: Option<Dictionary>) -> Arc<[TermId]> {
        match (own, &self.names) {
            (Some(dictionary), _) => return dictionary.sorted().1.into(),
            (None, Names::Original { dictionary, .. }) if dictionary.len() != self.by_text.len() => {
                self.by_text = dictionary.sorted().1.into();
            }
            _ => {}
        }
        Arc::clone(&self.by_text)
    }
}

/// A root, the ids of sensitive terms, and the root's own dictionary if it has one.
type Named = (Node, Arc<[TermId]>, Option<Dictionary>);

impl Names<'_> {
    fn next_root(&mut self, roots: &mut impl RootStream, observer: &dyn Observer) -> Result<Option<Named>> {
        match self {
            Names::Fresh { sensitive } => {
                let mut dictionary = Dictionary::default();
                let Some(node) = roots.next_root(&mut dictionary, observer)? else { return Ok(None) };
                let known = match sensitive.is_empty() {
                    true => Arc::default(),
                    false => {
                        let terms = dictionary.iter().zip(0..);
                        terms.filter(|(text, _)| sensitive.contains(text)).map(|(_, id)| id).collect()
                    }
                };
                Ok(Some((node, known, Some(dictionary))))
            }
            Names::Original { dictionary, sensitive } => {
                Ok(roots.next_root(dictionary, observer)?.map(|node| (node, Arc::clone(sensitive), None)))
            }
        }
    }
}

fn n_leaves(node: &Node) -> u64 {
    match node {
        Node::Simple(_) => 1,
        Node::Joint(joint) => joint.members.iter().map(n_leaves).sum(),
    }
}
