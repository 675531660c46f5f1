//! All attacks on one release, and what they found together: grouped by cluster, the worst first.
//!
//! Promises:   nothing in a summary is about one person; terms stand only in the statements about clusters
//! Checked by: crates/disjoin-cli/tests/it/attack.rs

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::attackers::OfAttacker;
use super::identity::{self, Risk, pairs_of_release};
use super::judge::{Rate, Score, Truth, baseline, concerned, judge};
use super::reassociate::{Matching, Reassociate, co_occurrence};
use super::rerun::{Looked, Reran};
use super::stronger::Stronger;
use super::{Attack, Closure, Cover, Coverage, Finding, Findings, Says, View, Worlds};
use crate::data::TermId;
use crate::reconstruct::Model;
use crate::release::{Disassociated, Node, Promise};

/// An attack by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Choice {
    /// The cover problem.
    Cover,
    /// All that single refusals of the algorithm show.
    Closure,
    /// All possible originals that the algorithm cuts in this way.
    Worlds,
    /// Parts of records put together by their terms: guesses.
    Reassociate,
    /// The probability that a row is a person's.
    Identity,
    /// Possible originals, protected again.
    Rerun,
}

impl Choice {
    /// All of them, in the order of strength.
    pub const ALL: [Choice; 6] =
        [Choice::Cover, Choice::Closure, Choice::Worlds, Choice::Reassociate, Choice::Identity, Choice::Rerun];

    /// Those that are run if none is named: rerun only against what promises to withstand it.
    pub fn usual(promise: Promise) -> Vec<Choice> {
        let is_usual = |choice: &Choice| *choice != Choice::Rerun || promise == Promise::ProgramAware;
        Choice::ALL.into_iter().filter(is_usual).collect()
    }
}

/// The guesses of the baseline are random, and the same for everybody.
const BASELINE_SEED: u64 = 1;

/// Runs those of the chosen attacks that make statements and need no program, in the order of strength, each once.
pub fn find(view: &View<'_>, chosen: &[Choice], worlds: &Worlds) -> Vec<Findings> {
    let run = |attack: &dyn Attack| {
        view.observer.stage(&format!("attacking: {}", attack.name()));
        attack.run(view)
    };
    let of_choice = |choice: &Choice| {
        Some(match choice {
            Choice::Cover => run(&Cover),
            Choice::Closure => run(&Closure),
            Choice::Worlds => run(worlds),
            Choice::Reassociate => run(&Reassociate { score: co_occurrence(view.release), matching: Matching::Greedy }),
            Choice::Identity | Choice::Rerun => return None,
        })
    };
    Choice::ALL.iter().filter(|choice| chosen.contains(choice)).filter_map(of_choice).collect()
}

/// The highest re-identification risk of a person of whom two terms are known, or one where no more is promised.
pub fn likeliest(model: &Model) -> Risk {
    let singles = || (0..model.release().dictionary.len() as TermId).map(|term| [term]);
    if model.release().header.m < 2 { identity::worst(model, singles()) } else { pairs_of_release(model) }
}

/// What was found. Nothing in it is about one person.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    /// How many records cannot be told apart.
    pub k: u32,
    /// How many terms the adversary may know.
    pub m: u32,
    /// Records of the original.
    pub records: u64,
    /// Simple clusters.
    pub clusters: u64,
    /// Simple clusters with terms in shared chunks, without those of which an attack decided all sets with such terms.
    pub clusters_with_shared_terms: u64,
    /// How many different statements are certain.
    pub certain: u64,
    /// What each attack found.
    pub attacks: Vec<OfAttack>,
    /// What attackers of three strengths get out of cover problems.
    pub attackers: Vec<OfAttacker>,
    /// Whose row it may be.
    pub identity: Option<Risk>,
    /// What running the program again showed.
    pub rerun: Option<Reran>,
    /// What an adversary learns who knows more than is promised, if one was asked for.
    pub stronger: Option<Stronger>,
    /// Clusters with certain disclosures, the worst first.
    pub worst: Vec<Cluster>,
}

/// What one attack found.
#[derive(Debug, Clone, Serialize)]
pub struct OfAttack {
    /// Its name.
    pub attack: &'static str,
    /// What kind of statement it makes.
    pub says: Says,
    /// How many.
    pub statements: u64,
    /// About how many clusters.
    pub clusters_touched: u64,
    /// How far it got.
    pub coverage: Coverage,
    /// With the original: how true it is.
    pub score: Option<Score>,
    /// With the original: how often the baseline is right.
    pub baseline: Option<Rate>,
}

/// What is certain about one cluster.
#[derive(Debug, Clone, Serialize)]
pub struct Cluster {
    /// Numbered from 0, depth first through the release.
    pub cluster: u32,
    /// Which attacks found it.
    pub attacks: BTreeSet<&'static str>,
    /// Different terms that everybody with those of a disclosure has as well.
    pub learned: u64,
    /// With the original: how many people true statements are about.
    pub people: Option<u64>,
    /// What is stated.
    pub statements: Vec<Statement>,
}

/// Fewer than k people of the cluster have these terms.
#[derive(Debug, Clone, Serialize)]
pub struct Statement {
    /// The terms.
    pub terms: Vec<String>,
    /// What everybody who has them has as well.
    pub learned: Vec<String>,
}

impl Summary {
    /// Puts findings together; with the original they are judged.
    pub fn new(found: &[Findings], identity: Option<Risk>, truth: Option<&Truth<'_>>, release: &Disassociated) -> Self {
        let header = release.header;
        let of_attack = |findings: &Findings| OfAttack {
            attack: findings.attack,
            says: findings.says,
            statements: findings.found.len() as u64,
            clusters_touched: findings.found.iter().map(|finding| finding.leaf).collect::<HashSet<_>>().len() as u64,
            coverage: findings.coverage,
            score: truth.map(|truth| judge(findings, truth, header.k)),
            baseline: truth.map(|truth| baseline(findings, truth, header.k, BASELINE_SEED)),
        };
        let worst = clusters(found, truth, release);
        let certain = worst.iter().map(|cluster| cluster.statements.len() as u64).sum();
        Summary {
            k: header.k,
            m: header.m,
            records: header.records,
            clusters: release.roots.iter().map(|root| root.leaves().len() as u64).sum(),
            clusters_with_shared_terms: release.roots.iter().map(|root| with_shared_terms(root, false)).sum(),
            certain,
            attacks: found.iter().map(of_attack).collect(),
            attackers: Vec::new(),
            identity,
            rerun: None,
            stronger: None,
            worst,
        }
    }

    /// The same with what running the program again showed, and with how many clusters have no set with shared terms left to decide.
    #[must_use]
    pub fn and(self, rerun: Option<Reran>, decided: u64) -> Self {
        let is_decided = rerun.is_some_and(|reran| reran.looked == Looked::Exactly);
        let left = if is_decided { 0 } else { self.clusters_with_shared_terms.saturating_sub(decided) };
        Summary { rerun, clusters_with_shared_terms: left, ..self }
    }
}

/// The simple clusters under a chunk that they share.
fn with_shared_terms(node: &Node, is_below: bool) -> u64 {
    match node {
        Node::Simple(_) => u64::from(is_below),
        Node::Joint(joint) => {
            let is_below = is_below || !joint.shared_chunks.is_empty();
            joint.members.iter().map(|member| with_shared_terms(member, is_below)).sum()
        }
    }
}

/// Clusters with what is certain about them: those with most people touched first, if that is known, otherwise those with
/// most terms learned.
fn clusters(found: &[Findings], truth: Option<&Truth<'_>>, release: &Disassociated) -> Vec<Cluster> {
    type OfCluster<'f> = BTreeMap<&'f [TermId], (BTreeSet<TermId>, &'f Finding)>;
    let mut by_cluster: HashMap<u32, (BTreeSet<&'static str>, OfCluster<'_>)> = HashMap::new();
    for findings in found.iter().filter(|findings| findings.says == Says::FewerThanK) {
        for finding in &findings.found {
            let (attacks, statements) = by_cluster.entry(finding.leaf).or_default();
            attacks.insert(findings.attack);
            // What several attacks state is one statement; they may have learned different terms.
            let (learned, _) = statements.entry(&finding.terms).or_insert_with(|| (BTreeSet::new(), finding));
            learned.extend(&finding.learned);
        }
    }
    let texts = |terms: &mut dyn Iterator<Item = TermId>| -> Vec<String> {
        terms.map(|term| release.dictionary.text(term).to_owned()).collect()
    };
    let cluster = |(cluster, (attacks, statements)): (u32, (BTreeSet<&'static str>, OfCluster<'_>))| {
        let people = truth.map(|truth| {
            let of_statement =
                |(_, finding): &(_, &Finding)| concerned(Says::FewerThanK, finding, truth, release.header.k);
            statements.values().flat_map(of_statement).collect::<HashSet<_>>().len() as u64
        });
        let learned: HashSet<TermId> = statements.values().flat_map(|(learned, _)| learned).copied().collect();
        let statement = |(terms, (learned, _)): (&&[TermId], &(BTreeSet<TermId>, &Finding))| Statement {
            terms: texts(&mut terms.iter().copied()),
            learned: texts(&mut learned.iter().copied()),
        };
        let learned = learned.len() as u64;
        Cluster { cluster, attacks, learned, people, statements: statements.iter().map(statement).collect() }
    };
    let mut clusters: Vec<Cluster> = by_cluster.into_iter().map(cluster).collect();
    clusters.sort_by_key(|cluster| {
        std::cmp::Reverse((cluster.people, cluster.learned, std::cmp::Reverse(cluster.cluster)))
    });
    clusters
}
