//! Disassociation: k^m-anonymity without losing a term. Records are grouped, cut into chunks, and the links cut too.
//!
//! Paper:      terrovitis2012, sections 3 and 4
//! Promises:   Guarantee 1 in reading I0: for every set of at most m terms of an original record there is a possible
//!             original, consistent with all that is published, in which at least k records hold the set
//! Assumes:    one record a person; the adversary knows at most m terms of the target, and no absence of a term
//! Departs:    clusters below k are merged (`horizontal`), Lemma 2 is checked again after a join, and shared chunks
//!             with conflicts must also leave room (`refine`); `paper_literal` turns these off, and then nothing is
//!             promised. Subrecords are published in canonical order, not shuffled: a sorted bag has no order to leak.
//! Cost:       near-linear in the number of (record, term) incidences; clusters are cut in parallel
//! Checked by: tests in these files (the paper's examples), tests/it/guarantee.rs (brute force over possible originals)

mod apart;
mod attempts;
mod canonical;
mod chain;
mod common;
mod exchange;
pub mod for_the_lab;
mod given;
mod guarded;
mod horizontal;
mod leaf;
mod node;
mod occurrences;
mod preference;
mod range;
mod refine;
mod regain;
mod rows;
mod shared;
mod similar;
mod vertical;

use self::for_the_lab::{ForTheLab, Rejection};
pub use apart::disassociate_apart;
use attempts::{regaining, rescuing};
use canonical::Canonical;
use guarded::Tuning;
use preference::Preference;
use serde::{Deserialize, Serialize};

use crate::data::{Dataset, Interest, RecordId, TermId, Transactions};
use crate::error::{Error, Result};
use crate::observer::{Observer, Unobserved};
use crate::release::{CutRule, Disassociated, Header, Joint, Node, Occurrences, Promise, Simple};

/// How records are brought together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grouping {
    /// As in the paper: split on the most frequent term; clusters share chunks of terms that are rare in each of them.
    #[default]
    Paper,
    /// Common terms in one chunk that all share; records that are alike in what else they hold in small clusters.
    Layered,
    /// By supports alone, a tree whose nodes publish chunks: what an adversary who runs the program learns is covered.
    Guarded,
}

/// What to promise, and how large the groups may be.
#[derive(Debug, Clone, PartialEq)]
pub struct Params {
    /// How many records cannot be told apart; at least 2.
    pub k: u32,
    /// How many terms of a person the adversary may know; at least 1.
    pub m: u32,
    /// How records are brought together.
    pub grouping: Grouping,
    /// Clusters stay below this size, except where small ones had to be merged; at least 2k. In the layered way they may get half as
    /// many more from their neighbours; where common terms are worth it, it makes clusters of k to 3k records instead, and one of
    /// all everyday records.
    pub max_cluster: u32,
    /// Whether clusters may share chunks, so that terms rare in each of them are still published with their counts.
    pub refine: bool,
    /// Whether somebody who knows the algorithm may count as an adversary: then terms are offered to chunks by a rule that
    /// gives nothing away.
    pub algorithm_aware: bool,
    /// Terms that are published in term chunks only, whatever their support.
    pub sensitive: Vec<TermId>,
    /// How hard it must be to tell who has a sensitive term.
    pub diversity: Option<Diversity>,
    /// What matters most. No utility set has a sensitive term.
    pub interest: Interest,
    /// Switches of experiments.
    pub lab: ForTheLab,
}

impl Params {
    /// The defaults of the library, the command line and recipes: the strongest promise, layered grouping.
    pub fn new(k: u32, m: u32) -> Self {
        let grouping = Grouping::Layered;
        let max_cluster = Params::usual_cluster(k, grouping);
        Params { grouping, max_cluster, algorithm_aware: true, ..Params::paper(k, m) }
    }

    /// The paper's: clusters below 30 (or 2k where that is more), cut as in the paper, so that a release promises `published`.
    pub fn paper(k: u32, m: u32) -> Self {
        Params {
            k,
            m,
            grouping: Grouping::Paper,
            max_cluster: Params::usual_cluster(k, Grouping::Paper),
            refine: true,
            algorithm_aware: false,
            sensitive: Vec::new(),
            diversity: None,
            interest: Interest::default(),
            lab: ForTheLab::default(),
        }
    }

    /// How large clusters may become if nothing is said about it.
    pub fn usual_cluster(k: u32, grouping: Grouping) -> u32 {
        match grouping {
            // Terms that would be lost get groups of their own: the others are best in small ones (lab/grouping.md).
            Grouping::Layered => k.saturating_mul(2),
            Grouping::Paper => 30.max(k.saturating_mul(2)),
            Grouping::Guarded => k.saturating_mul(2),
        }
    }

    /// What a release made with these parameters promises.
    pub fn promise(&self) -> Promise {
        match (self.lab.paper_literal, self.algorithm_aware) {
            (true, _) => Promise::None,
            (false, true) if self.grouping == Grouping::Guarded => Promise::ProgramAware,
            (false, true) => Promise::AlgorithmAware,
            (false, false) => Promise::Published,
        }
    }

    /// How clusters are cut with these parameters.
    pub fn cut_rule(&self) -> CutRule {
        if self.algorithm_aware { CutRule::Weighed } else { CutRule::Greedy }
    }

    /// Refuses values that have no meaning, before any data is read.
    pub fn check(&self) -> Result<()> {
        if self.k < 2 {
            return Err(Error::recipe("protect.k", "must be at least 2", "usual values are 3 to 20"));
        }
        if self.m < 1 {
            return Err(Error::recipe("protect.m", "must be at least 1", "usual values are 2 or 3"));
        }
        if self.max_cluster / 2 < self.k {
            return Err(Error::recipe(
                "protect.max_cluster",
                format!("must be at least 2k, that is {}", u64::from(self.k) * 2),
                "30 is a good start for k = 5",
            ));
        }
        if let Some(Rejection { rho, .. }) = self.lab.reject {
            if !(0.0..=1.0).contains(&rho) {
                return Err(Error::recipe("reject", "must be a probability", "a number from 0 to 1"));
            }
            if self.algorithm_aware {
                return Err(Error::recipe(
                    "reject",
                    "is for the paper's cut only",
                    "the cut that gives nothing away needs no chance",
                ));
            }
        }
        if self.lab.paper_literal && self.grouping != Grouping::Paper {
            return Err(Error::recipe("protect.grouping", "must be the paper's to be literal", "paper"));
        }
        let is_sensitive = |term: &TermId| self.sensitive.contains(term);
        if let Some(set) = self.interest.sets.iter().position(|set| set.iter().any(is_sensitive)) {
            return Err(Error::recipe(
                "protect.utility",
                format!("set {} has a sensitive term, which is linked to no other", set + 1),
                "take the term out of the set, or off the sensitive list",
            ));
        }
        if self.interest.weights.iter().any(|(_, weight)| !weight.is_finite() || *weight < 0.0) {
            return Err(Error::recipe(
                "protect.weights",
                "must be numbers from 0 on",
                "1 is the weight of every other term",
            ));
        }
        if self.grouping == Grouping::Guarded {
            self.check_guarded()?;
        }
        if self.diversity.is_some_and(|diversity| diversity.l < 2) {
            return Err(Error::recipe("protect.l_diversity", "must be at least 2", "usual values are 3 to 10"));
        }
        Ok(())
    }

    /// Refuses what the promise against those who run the program has no proof for.
    fn check_guarded(&self) -> Result<()> {
        let refuse = |key, problem, hint| Err(Error::recipe(key, problem, hint));
        if !self.algorithm_aware {
            return refuse("protect.promise", "must be program-aware for the guarded grouping", "program-aware");
        }
        if self.diversity.is_some() {
            let problem = "is not covered by the guarded grouping: clusters would be merged by what they hold";
            return refuse("protect.l_diversity", problem, "grouping = \"layered\", or sensitive terms without l");
        }
        if !self.interest.is_empty() {
            let problem = "utility sets and weights are not covered by the guarded grouping";
            return refuse("protect.grouping", problem, "grouping = \"layered\", or no utility sets and weights");
        }
        Ok(())
    }

    /// Refuses data for which no release can keep the promise.
    fn check_feasible(&self, data: &Dataset) -> Result<()> {
        let n_records = data.records.len();
        if n_records < self.k as usize {
            return Err(Error::Infeasible {
                problem: format!("{n_records} records are fewer than k = {}", self.k),
                hint: format!("the data must hold at least k records; -k can be up to {}", n_records.max(2)),
            });
        }
        if u32::try_from(data.records.n_incidences()).is_err() {
            return Err(Error::Infeasible {
                problem: "the records hold more than 2^32 terms together".into(),
                hint: "split the data and protect the parts".into(),
            });
        }
        if self.diversity.is_some() && self.sensitive.is_empty() {
            return Err(Error::recipe("protect.l_diversity", "needs sensitive terms", "name the sensitive terms"));
        }
        Ok(())
    }
}

/// l-diversity of sensitive terms: nobody can be linked to one with a probability above 1/l.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diversity {
    /// The inverse of the highest probability allowed.
    pub l: u32,
    /// How the probability is bounded.
    pub rule: DiversityRule,
}

/// Two bounds on the probability that a record of a cluster holds a sensitive term of its term chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DiversityRule {
    /// |P| >= l * max s(t, P): holds even for an adversary who knows how often each term occurs.
    #[default]
    Multiplicity,
    /// |P| >= l, as in the paper: right only if every sensitive term occurs once in a cluster.
    Size,
}

/// A release, and what only its maker may know.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// What may be published, in canonical order.
    pub release: Disassociated,
    /// For each record the simple cluster it went to, numbered depth first through the release. For custody only.
    pub leaf_of: Vec<u32>,
    /// What happened on the way.
    pub stats: Stats,
}

/// Counts of what the algorithm did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Stats {
    /// Simple clusters in the release.
    pub clusters: u64,
    /// Clusters below k that were merged with a neighbour.
    pub small_clusters_merged: u64,
    /// Clusters merged to keep sensitive terms diverse.
    pub clusters_merged_for_diversity: u64,
    /// Terms moved to a term chunk so that every cluster can be filled (Lemma 2).
    pub terms_moved_by_lemma_2: u64,
    /// Terms moved to a term chunk because of what the cut would disclose.
    pub terms_set_aside: u64,
    /// Joins made by refine.
    pub joins: u64,
    /// Joins that Equation 1 or the lack of common terms did not refuse, but the promise did.
    pub joins_refused_for_promise: u64,
    /// Rounds of refine, the last one without a join included.
    pub refine_rounds: u64,
    /// Joint clusters that are roots.
    pub joint_roots: u64,
}

/// Disassociates a dataset.
pub fn disassociate(data: &Dataset, params: &Params) -> Result<Outcome> {
    disassociate_with(data, params, &Unobserved)
}

/// A step of the work, for those who show progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Grouping records.
    Horizontal,
    /// Cutting clusters into chunks.
    Vertical,
    /// Sharing chunks between clusters.
    Refine,
    /// Putting everything into canonical order.
    Order,
}

impl Step {
    /// What is being done, in plain words.
    pub fn text(self) -> &'static str {
        match self {
            Step::Horizontal => "grouping records that are alike",
            Step::Vertical => "cutting clusters into chunks",
            Step::Refine => "sharing chunks between clusters",
            Step::Order => "putting everything into canonical order",
        }
    }
}

/// Like [`disassociate`], watched by somebody.
pub fn disassociate_with(data: &Dataset, params: &Params, observer: &dyn Observer) -> Result<Outcome> {
    disassociate_tuned(data, params, Tuning::USUAL, observer)
}

/// The same in clusters that somebody gives: for each record the number of its cluster.
pub fn disassociate_given(
    data: &Dataset,
    params: &Params,
    cluster_of: &[u32],
    observer: &dyn Observer,
) -> Result<Outcome> {
    disassociate_in(data, params, Tuning::USUAL, Some(cluster_of), observer)
}

fn disassociate_tuned(data: &Dataset, params: &Params, tuning: Tuning, observer: &dyn Observer) -> Result<Outcome> {
    disassociate_in(data, params, tuning, None, observer)
}

fn disassociate_in(
    data: &Dataset,
    params: &Params,
    tuning: Tuning,
    cluster_of: Option<&[u32]>,
    observer: &dyn Observer,
) -> Result<Outcome> {
    params.check()?;
    params.check_feasible(data)?;
    let Canonical { data, params, places } = Canonical::new(data, params);
    observer.check();
    let (data, params) = (&data, &params);
    let mut stats = Stats::default();
    let mut is_sensitive = vec![false; data.n_terms()];
    for &term in &params.sensitive {
        is_sensitive[term as usize] = true;
    }
    // Terms are numbered by their texts, as they are published.
    let rank: Vec<TermId> = (0..data.n_terms() as TermId).collect();

    let mut work = Work {
        data,
        params,
        is_sensitive: &is_sensitive,
        preference: Preference::new(params, &is_sensitive),
        rank: &rank,
        stats: &mut stats,
        observer,
        round: 0,
        tuning,
    };
    let Grouped { trees, clusters } = match (cluster_of, params.grouping) {
        (Some(cluster_of), _) => given::group(cluster_of, &places, &mut work)?,
        (None, Grouping::Paper) => by_frequency(&mut work)?,
        (None, Grouping::Layered) => by_layers(&mut work)?,
        (None, Grouping::Guarded) => {
            work.tell(Step::Horizontal);
            guarded::group(&mut work)
        }
    };

    observer.stage(Step::Order.text());
    let (roots, leaf_order) = publishable(trees, &rank, observer);
    observer.check();
    stats.joint_roots = roots.iter().filter(|root| matches!(root, Node::Joint(_))).count() as u64;
    let mut leaf_of = vec![0; data.records.len()];
    for (published, &leaf) in leaf_order.iter().enumerate() {
        for &record in clusters.cluster(leaf as usize) {
            leaf_of[places[record as usize] as usize] = published as u32;
        }
    }
    let header = Header {
        k: params.k,
        m: params.m,
        records: data.records.len() as u64,
        occurrences: tellable_occurrences(data, &roots, params),
    };
    Ok(Outcome { release: Disassociated { header, dictionary: data.dictionary.clone(), roots }, leaf_of, stats })
}

/// What is to be published, not in order yet, and the records of each leaf by its number.
struct Grouped {
    trees: Vec<refine::Tree>,
    clusters: Partition,
}

/// The number of occurrences, if it discloses nobody.
fn tellable_occurrences(data: &Dataset, roots: &[Node], params: &Params) -> Option<u64> {
    let total = data.records.n_incidences() as u64;
    let may_tell = params.sensitive.is_empty() && !params.lab.paper_literal;
    (may_tell && Occurrences::of(roots, params.k).leave_room(total, params.k, params.m)).then_some(total)
}

/// The paper's way: HORPART, VERPART, REFINE.
fn by_frequency(work: &mut Work<'_>) -> Result<Grouped> {
    work.tell(Step::Horizontal);
    let &Params { k, max_cluster, lab: ForTheLab { paper_literal, .. }, .. } = work.params;
    let records = &work.data.records;
    let weights = &work.preference.weights;
    let mut clusters = horizontal::split(records, max_cluster, weights, work.observer);
    if !paper_literal {
        work.stats.small_clusters_merged =
            horizontal::merge_small(&mut clusters, records, (k, max_cluster), weights, work.observer);
    }
    refined(clusters, records, work)
}

/// Cuts clusters and lets them share chunks.
fn refined(mut clusters: Partition, records: &Transactions, work: &mut Work<'_>) -> Result<Grouped> {
    let leaves = cut(&mut clusters, records, work)?;
    work.tell(Step::Refine);
    let forest = refine::join(leaves, work.is_sensitive.len(), work.rank, work.params, work.stats, work.observer);
    let refine::Forest { mut leaves, mut joints, roots } = forest;
    // Leaves and joints are taken out of their arrays, one owner each, so that roots can be built in parallel.
    let trees = roots.iter().map(|&root| refine::take(root, &mut leaves, &mut joints)).collect();
    Ok(Grouped { trees, clusters })
}

/// Common terms first, in a chunk that all mixed records share; then clusters of records that are alike in the others. Where
/// common terms are not worth it, the paper's way; its clusters then exchange records, and terms that are lost get clusters.
fn by_layers(work: &mut Work<'_>) -> Result<Grouped> {
    work.tell(Step::Horizontal);
    let &Params { k, m, max_cluster, refine, diversity, .. } = work.params;
    let data = work.data;
    let records = &data.records;
    // Clusters are merged until sensitive terms are diverse: that takes all records.
    let may_share = refine && diversity.is_none();
    let layers = may_share.then(|| common::layers(records, k, m, &work.preference, work.observer)).flatten();
    let Some(layers) = layers else {
        let weights = &work.preference.weights;
        let mut clusters = horizontal::split(records, max_cluster, weights, work.observer);
        horizontal::merge_small(&mut clusters, records, (k, max_cluster), weights, work.observer);
        // Clusters that small ones were merged with are cut evenly first: that is what exchange makes good again.
        let half = max_cluster / 2;
        let exchange = |clusters: &Partition, work: &Work<'_>| {
            let most = max_cluster.saturating_add(half);
            let halved = exchange::halved(clusters, half);
            exchange::exchange(&halved, records, (k, most), &work.preference.weights, work.observer)
        };
        let clusters = exchange(&clusters, work);
        let finish = |clusters: Partition, work: &mut Work<'_>| refined(clusters, records, work);
        return Ok(regaining(clusters, records, work, &finish, Some(&exchange))?.take(work));
    };
    let mut grouped = Grouped { trees: Vec::new(), clusters: Partition::default() };
    if !layers.everyday.is_empty() {
        let chunk = common::chunk(records, &layers.everyday, &layers.common, work.rank);
        let size = layers.everyday.len() as u32;
        let leaf = vertical::Leaf { size, record_chunks: vec![chunk], ..vertical::Leaf::default() };
        grouped.trees.push(refine::Tree::Leaf(0, leaf));
        grouped.clusters.push(&layers.everyday);
        work.stats.clusters += 1;
    }
    if !layers.local.is_empty() {
        let trees = grouped.add_alike(&layers.local, &similar::subset(records, &layers.local), work)?;
        grouped.trees.extend(trees);
    }
    let others = common::others(records, &layers.mixed, &layers.common);
    let members = grouped.add_alike(&layers.mixed, &others, work)?;
    let shared = common::chunk(records, &layers.mixed, &layers.common, work.rank);
    grouped.trees.push(refine::Tree::Joint { shared: vec![shared], listed: Vec::new(), members });
    work.stats.joins += 1;
    Ok(grouped)
}

/// What all steps need.
struct Work<'a> {
    data: &'a Dataset,
    params: &'a Params,
    is_sensitive: &'a [bool],
    preference: Preference,
    rank: &'a [TermId],
    stats: &'a mut Stats,
    observer: &'a dyn Observer,
    /// How often grouping was tried before.
    round: u32,
    /// Of the guarded grouping.
    tuning: Tuning,
}

impl Work<'_> {
    /// Tells that a step begins, once.
    fn tell(&mut self, step: Step) {
        if self.round == 0 {
            self.observer.stage(step.text());
        }
    }
}

impl Grouped {
    /// Groups records that are alike, and cuts them; `ids` says which records they are.
    fn add_alike(
        &mut self,
        ids: &[RecordId],
        records: &Transactions,
        work: &mut Work<'_>,
    ) -> Result<Vec<refine::Tree>> {
        let k = work.params.k;
        let group = |wanted: &[bool], work: &Work<'_>| {
            similar::group(records, k, &work.preference.weights, wanted, work.observer)
        };
        let finish = |mut clusters: Partition, work: &mut Work<'_>| {
            let leaves = cut(&mut clusters, records, work)?;
            Ok(Grouped { trees: (0..).zip(leaves).map(|(id, leaf)| refine::Tree::Leaf(id, leaf)).collect(), clusters })
        };
        let (clusters, rescued) = rescuing(records, work, group, &finish)?;
        // Exchange takes as long as all the rest here. Who asks for the weaker promise repeats old experiments, and wants speed.
        let best = if work.params.algorithm_aware {
            let most = k.saturating_mul(similar::FULL as u32);
            let clusters = exchange::exchange(&clusters, records, (k, most), &work.preference.weights, work.observer);
            work.round = work.round.max(1);
            let exchanged = regaining(clusters, records, work, &finish, None)?;
            if rescued.lost.len() < exchanged.lost.len() { rescued } else { exchanged }
        } else {
            rescued
        };
        let Grouped { trees, clusters } = best.take(work);
        let first = self.clusters.len() as u32;
        for i in 0..clusters.len() {
            let originals: Vec<RecordId> = clusters.cluster(i).iter().map(|&record| ids[record as usize]).collect();
            self.clusters.push(&originals);
        }
        Ok(trees.into_iter().map(|tree| tree.numbered_from(first)).collect())
    }
}

/// Merges clusters where sensitive terms need it, and cuts them all.
fn cut(clusters: &mut Partition, records: &Transactions, work: &mut Work<'_>) -> Result<Vec<vertical::Leaf>> {
    if let Some(diversity) = work.params.diversity {
        work.stats.clusters_merged_for_diversity =
            horizontal::merge_for_diversity(clusters, records, diversity, work.is_sensitive, work.observer)?;
    }
    work.tell(Step::Vertical);
    let leaves = vertical::cut_all(clusters, records, work.rank, work.params, work.is_sensitive, work.observer);
    work.stats.clusters += leaves.len() as u64;
    work.stats.terms_set_aside += leaves.iter().map(|leaf| u64::from(leaf.set_aside)).sum::<u64>();
    work.stats.terms_moved_by_lemma_2 += leaves.iter().filter(|leaf| leaf.repaired).count() as u64;
    Ok(leaves)
}

/// Turns trees into nodes in canonical order; also tells in which order the leaves now stand.
fn publishable(trees: Vec<refine::Tree>, rank: &[TermId], observer: &dyn Observer) -> (Vec<Node>, Vec<u32>) {
    use rayon::prelude::*;
    let mut built: Vec<(Node, Vec<u32>)> = trees.into_par_iter().map(|tree| node(tree, rank, observer)).collect();
    observer.check();
    built.par_sort_unstable();
    let mut leaf_order = Vec::new();
    let nodes = built.into_iter().map(|(node, order)| {
        leaf_order.extend(order);
        node
    });
    (nodes.collect(), leaf_order)
}

fn node(tree: refine::Tree, rank: &[TermId], observer: &dyn Observer) -> (Node, Vec<u32>) {
    observer.check();
    match tree {
        refine::Tree::Leaf(id, leaf) => {
            let mut term_chunk: Vec<TermId> =
                leaf.term_chunk.terms().iter().chain(&leaf.hidden).map(|&t| rank[t as usize]).collect();
            term_chunk.sort_unstable();
            let mut record_chunks = leaf.record_chunks;
            record_chunks.sort_unstable();
            (Node::Simple(Simple { size: leaf.size, record_chunks, term_chunk }), vec![id])
        }
        refine::Tree::Joint { shared: mut shared_chunks, listed, members } => {
            let mut built: Vec<(Node, Vec<u32>)> =
                members.into_iter().map(|member| node(member, rank, observer)).collect();
            built.sort_unstable();
            shared_chunks.sort_unstable();
            let size = built.iter().map(|(node, _)| node.size()).sum();
            let (members, orders): (Vec<Node>, Vec<Vec<u32>>) = built.into_iter().unzip();
            (Node::Joint(Joint { size, members, shared_chunks, term_chunk: listed }), orders.concat())
        }
    }
}

/// A partition of the records into clusters: consecutive runs of one permutation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Partition {
    order: Vec<RecordId>,
    ends: Vec<usize>,
}

impl Partition {
    fn len(&self) -> usize {
        self.ends.len()
    }

    /// Adds a cluster.
    fn push(&mut self, cluster: &[RecordId]) {
        self.order.extend_from_slice(cluster);
        self.ends.push(self.order.len());
    }

    fn cluster(&self, i: usize) -> &[RecordId] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.order[start..self.ends[i]]
    }
}

#[cfg(test)]
#[path = "../../../tests/it/figures.rs"]
mod figures;

#[cfg(test)]
mod tests {
    use super::figures::FIGURE_2;
    use super::*;
    use crate::data::Dictionary;

    pub(super) fn records(rows: &[&str]) -> Dataset {
        Dataset::from_texts(rows.iter().map(|row| row.split(", ")))
    }

    pub(super) fn names(dictionary: &Dictionary, terms: &[TermId]) -> String {
        terms.iter().map(|&t| dictionary.text(t)).collect::<Vec<_>>().join(", ")
    }

    pub(super) fn cut(data: &Dataset, clusters: &[Vec<RecordId>], params: &Params) -> Vec<vertical::Leaf> {
        let mut partition = Partition::default();
        for cluster in clusters {
            partition.order.extend(cluster);
            partition.ends.push(partition.order.len());
        }
        let mut is_sensitive = vec![false; data.n_terms()];
        params.sensitive.iter().for_each(|&t| is_sensitive[t as usize] = true);
        vertical::cut_all(&partition, &data.records, &data.dictionary.sorted().1, params, &is_sensitive, &Unobserved)
    }

    #[test]
    fn impossible_parameters_are_refused_with_the_flag_to_change() {
        let data = records(&FIGURE_2);
        let key = |params: Params| match disassociate(&data, &params) {
            Err(Error::Recipe { key, .. }) => key,
            other => panic!("{other:?}"),
        };
        assert_eq!(key(Params::paper(1, 2)), "protect.k");
        assert_eq!(key(Params::paper(3, 0)), "protect.m");
        assert_eq!(key(Params { max_cluster: 5, ..Params::paper(3, 2) }), "protect.max_cluster");
        let diversity = Some(Diversity { l: 3, rule: DiversityRule::default() });
        assert_eq!(key(Params { diversity, ..Params::paper(3, 2) }), "protect.l_diversity");
        let reject = |rho: f64| ForTheLab::rejecting(rho, 0);
        assert_eq!(key(Params { lab: reject(1.5), ..Params::paper(3, 2) }), "reject");
        assert_eq!(key(Params { lab: reject(0.1), algorithm_aware: true, ..Params::paper(3, 2) }), "reject");
        let interest = Interest { sets: vec![vec![0, 1], vec![2, 3]], ..Interest::default() };
        assert_eq!(key(Params { interest, sensitive: vec![3], ..Params::paper(3, 2) }), "protect.utility");
        for weight in [-1.0, f64::NAN, f64::INFINITY] {
            let interest = Interest { weights: vec![(0, weight)], ..Interest::default() };
            assert_eq!(key(Params { interest, ..Params::paper(3, 2) }), "protect.weights");
        }
        assert!(matches!(disassociate(&data, &Params::paper(11, 2)), Err(Error::Infeasible { .. })));
    }

    #[test]
    fn the_map_of_records_points_to_clusters_of_the_right_size() {
        let data = records(&FIGURE_2);
        let outcome = disassociate(&data, &Params { max_cluster: 6, ..Params::paper(3, 2) }).unwrap();
        let sizes: Vec<u32> = outcome.release.roots.iter().flat_map(Node::leaves).map(|leaf| leaf.size).collect();
        for (leaf, &size) in sizes.iter().enumerate() {
            assert_eq!(outcome.leaf_of.iter().filter(|&&l| l as usize == leaf).count() as u32, size);
        }
        assert_eq!(sizes.iter().sum::<u32>(), 10);
    }
}
