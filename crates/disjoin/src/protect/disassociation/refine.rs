//! Refining: clusters share chunks, so that terms rare in each of them but not in all get out of the term chunks.
//!
//! Paper:      terrovitis2012, section 4, Algorithm REFINE and Equation 1; section 5, Property 1 and Lemma 3
//! Promises:   Guarantee 1 still holds in every simple cluster (see the argument below)
//! Assumes:    leaves as `vertical` makes them
//! Departs:    (1) a join that empties the term chunk of a leaf is refused unless the leaf satisfies Lemma 2 by its
//!             record chunks alone: the proof of Lemma 3 overlooks this (counterexample in the tests). Against those
//!             who know the algorithm, more than one term may have to stay: see `vertical`.
//!             (2) a shared chunk with conflicts must be k-anonymous, as in the paper, and also leave room: see below.
//!             (3) in one ordering, neighbours are joined in passes from left to right, each cluster at most once a
//!             pass, until a pass joins none; joins nest at most `MAX_DEPTH` deep, so that the JSON can be read by
//!             parsers that limit nesting.
//!             (4) a term's support in term chunks counts simple clusters, in all rounds.
//!             (5) a cluster that no other cluster could be joined with stands aside for the round, and terms that it
//!             could share with no other cluster take no part in the ordering: neighbours are then worth trying.
//!             (6) orderings end when hardly any joins are made (`STOP_BELOW`), not when none is: the last joins are a
//!             few in a thousand and would take half of the time.
//! Cost:       rounds * (total length of term chunks); the number of rounds grows with its logarithm in practice
//! Checked by: tests in this file (figure 3; Lemma 3 counterexample), tests/it/guarantee.rs, tests/it/oracle.rs
//!
//! Why Guarantee 1 holds. Let S, |S| <= m, lie in an original record r of leaf P. Each term of S belongs to one place
//! on the path from P to the root: a record chunk or the term chunk of P, or a shared chunk of an ancestor. Take a part
//! S_c in a shared chunk c. Without conflicts (no term of c is published below c's node in another way), every
//! subrecord of c may lie in any leaf under the node, and at least k of them contain S_c, since c is k^m-anonymous.
//! With conflicts the projection of r on c may lie in P, and c holds it at least k times, since c is k-anonymous. So k
//! subrecords that may lie in P contain S_c. Put them into k records of P, the same ones for all chunks, and place the
//! other subrecords of c one by one: a subrecord q always finds a free record, because the leaves in which q may lie
//! have together at least |c| records. Without conflicts these are all leaves, and |c| is at most their size; with
//! conflicts this is condition (2). Lemma 2, from the record chunks of each leaf alone or by its term chunk, fills all
//! other records of all leaves, so that none is empty, wherever the shared subrecords lie.

use rayon::prelude::*;

use super::shared::{Conflicts, SharedRows};
use super::vertical::Leaf;
use super::{Params, Stats};
use crate::data::TermId;
use crate::observer::Observer;
use crate::release::Chunk;

/// Joints nest at most this deep.
const MAX_DEPTH: u32 = 30;

/// Refining ends when fewer than one in this many of the roots that could be joined were joined in one ordering.
const STOP_BELOW: usize = 100;

/// What refining leaves: leaves and joints, and which of them are roots.
pub(super) struct Forest {
    pub(super) leaves: Vec<Leaf>,
    pub(super) joints: Vec<JointCluster>,
    pub(super) roots: Vec<NodeRef>,
}

/// A leaf or a joint of a forest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NodeRef {
    Leaf(u32),
    Joint(u32),
}

impl Default for NodeRef {
    fn default() -> Self {
        NodeRef::Leaf(u32::MAX)
    }
}

/// Two clusters joined, and what they share.
#[derive(Debug)]
pub(super) struct JointCluster {
    members: [NodeRef; 2],
    shared_chunks: Vec<Chunk>,
    /// The terms of all shared chunks of this joint, ascending.
    shared_terms: Vec<TermId>,
    n_leaves: usize,
}

/// A root taken out of its forest.
pub(super) enum Tree {
    Leaf(u32, Leaf),
    Joint { shared: Vec<Chunk>, listed: Vec<TermId>, members: Vec<Tree> },
}

impl Tree {
    /// The same tree with its leaves numbered from `first` on.
    pub(super) fn numbered_from(self, first: u32) -> Self {
        match self {
            Tree::Leaf(i, leaf) => Tree::Leaf(first + i, leaf),
            Tree::Joint { shared, listed, members } => {
                let members = members.into_iter().map(|member| member.numbered_from(first)).collect();
                Tree::Joint { shared, listed, members }
            }
        }
    }

    /// Marks the terms of all chunks, by their published ids.
    pub(super) fn mark_shown(&self, is_shown: &mut [bool]) {
        let mut mark =
            |chunks: &[Chunk]| chunks.iter().flat_map(|c| &c.terms).for_each(|&t| is_shown[t as usize] = true);
        match self {
            Tree::Leaf(_, leaf) => mark(&leaf.record_chunks),
            Tree::Joint { shared, members, .. } => {
                mark(shared);
                members.iter().for_each(|member| member.mark_shown(is_shown));
            }
        }
    }
}

/// Joins clusters until no adjacent pair can be joined any more.
pub(super) fn join(
    leaves: Vec<Leaf>,
    n_terms: usize,
    rank: &[TermId],
    params: &Params,
    stats: &mut Stats,
    observer: &dyn Observer,
) -> Forest {
    let mut roots: Vec<Root> = leaves.iter().zip(0..).map(|(leaf, i)| Root::leaf(i, leaf)).collect();
    let mut work = Refine { leaves, joints: Vec::new(), rank, params, observer };
    if params.refine {
        // How many simple clusters' term chunks hold a term: tcs in the paper.
        let mut tcs = vec![0u32; n_terms];
        let (mut term_chunks, mut spare) = (TermLists::default(), TermLists::default());
        for leaf in &work.leaves {
            let occurrences = &leaf.term_chunk;
            occurrences.terms().iter().for_each(|&t| tcs[t as usize] += 1);
            term_chunks.push(occurrences.terms().iter().enumerate().map(|(i, &t)| (t, occurrences.support(i))));
        }
        loop {
            observer.check();
            stats.refine_rounds += 1;
            let highest = highest_supports(&term_chunks, n_terms);
            observer.check();
            let order = ordered(&term_chunks, &highest, &tcs, params.k);
            let mut row = Row::new(order);
            let could_join = row.len();
            let mut joins = 0;
            let mut pairs = row.all_pairs();
            while !pairs.is_empty() {
                let chosen = work.choose(&mut roots, &row, &pairs, &term_chunks, n_terms, stats);
                joins += chosen.len();
                let chosen_places: Vec<[u32; 2]> = chosen.iter().map(|(pair, _)| *pair).collect();
                work.carry_out(&mut roots, &row, &mut term_chunks, chosen, &mut tcs);
                // Only pairs with a root made in this pass are new.
                pairs = row.join(&chosen_places);
            }
            stats.joins += joins as u64;
            if joins * STOP_BELOW < could_join || joins == 0 {
                break;
            }
            // Terms that are in the term chunk of one root only will never be shared and leave the lists for good.
            let is_root = |r: usize| !roots[r].leaves.is_empty();
            term_chunks.compact(&mut spare, is_root, |t| highest[t as usize].second > 0);
            std::mem::swap(&mut term_chunks, &mut spare);
            roots.retain(|root| !root.leaves.is_empty());
        }
        roots.retain(|root| !root.leaves.is_empty());
    }
    Forest { leaves: work.leaves, joints: work.joints, roots: roots.iter().map(|root| root.node).collect() }
}

/// Takes a root out of the arrays of a forest.
pub(super) fn take(node: NodeRef, leaves: &mut [Leaf], joints: &mut [JointCluster]) -> Tree {
    match node {
        NodeRef::Leaf(i) => Tree::Leaf(i, std::mem::take(&mut leaves[i as usize])),
        NodeRef::Joint(i) => {
            let joint = &mut joints[i as usize];
            let (members, shared_chunks) = (joint.members, std::mem::take(&mut joint.shared_chunks));
            let members = members.iter().map(|&member| take(member, leaves, joints)).collect();
            Tree::Joint { shared: shared_chunks, listed: Vec::new(), members }
        }
    }
}

/// A cluster that is not part of another one yet. One without leaves has become part of another.
#[derive(Default)]
struct Root {
    node: NodeRef,
    /// Its simple clusters, in the order of the tree.
    leaves: Vec<u32>,
    size: u64,
    depth: u32,
    /// Neighbours with which a join was tried in vain, the last few. A join depends on the two clusters alone, so it
    /// need not be tried again.
    refused: [NodeRef; 4],
}

impl Root {
    fn leaf(i: u32, leaf: &Leaf) -> Self {
        Root { node: NodeRef::Leaf(i), leaves: vec![i], size: u64::from(leaf.size), ..Root::default() }
    }
}

/// For each root its (virtual) term chunk: terms, ascending, with their supports. One array, because every ordering
/// reads all of it; lists of joint roots made since are kept apart until the next one.
#[derive(Debug, Default)]
struct TermLists {
    ends: Vec<usize>,
    entries: Vec<(TermId, u32)>,
    replaced: Vec<Option<Vec<(TermId, u32)>>>,
}

impl TermLists {
    fn push(&mut self, list: impl IntoIterator<Item = (TermId, u32)>) {
        self.entries.extend(list);
        self.ends.push(self.entries.len());
        self.replaced.push(None);
    }

    fn get(&self, i: usize) -> &[(TermId, u32)] {
        match &self.replaced[i] {
            Some(list) => list,
            None => &self.entries[if i == 0 { 0 } else { self.ends[i - 1] }..self.ends[i]],
        }
    }

    fn replace(&mut self, i: usize, list: Vec<(TermId, u32)>) {
        self.replaced[i] = Some(list);
    }

    /// Makes `into` the lists for which `keep_list` says so, with the terms for which `keep_term` says so. Its memory
    /// is used again: these are the largest arrays of all.
    fn compact(&self, into: &mut TermLists, keep_list: impl Fn(usize) -> bool, keep_term: impl Fn(TermId) -> bool) {
        into.ends.clear();
        into.entries.clear();
        into.replaced.clear();
        for i in (0..self.len()).filter(|&i| keep_list(i)) {
            into.push(self.get(i).iter().copied().filter(|&(t, _)| keep_term(t)));
        }
    }

    fn len(&self) -> usize {
        self.ends.len()
    }
}

/// The roots in order, as a list in which two neighbours can become one. A place is a position in the first order.
struct Row {
    roots: Vec<u32>,
    previous: Vec<u32>,
    next: Vec<u32>,
}

/// Before the first and after the last place.
const NOWHERE: u32 = u32::MAX;

impl Row {
    fn new(roots: Vec<u32>) -> Self {
        let n = roots.len() as u32;
        let previous = (0..n).map(|place| place.wrapping_sub(1)).collect();
        let next = (1..=n).map(|place| if place < n { place } else { NOWHERE }).collect();
        Row { roots, previous, next }
    }

    fn len(&self) -> usize {
        self.roots.len()
    }

    fn root(&self, place: u32) -> usize {
        self.roots[place as usize] as usize
    }

    fn all_pairs(&self) -> Vec<[u32; 2]> {
        (1..self.roots.len() as u32).map(|place| [place - 1, place]).collect()
    }

    /// Makes one place of each pair, that of its left half; returns the pairs that these are part of now, from left
    /// to right. `joined` is ordered from left to right.
    fn join(&mut self, joined: &[[u32; 2]]) -> Vec<[u32; 2]> {
        for &[left, right] in joined {
            let after = self.next[right as usize];
            self.next[left as usize] = after;
            if after != NOWHERE {
                self.previous[after as usize] = left;
            }
        }
        let mut pairs: Vec<[u32; 2]> = Vec::with_capacity(2 * joined.len());
        for &[place, _] in joined {
            let (before, after) = (self.previous[place as usize], self.next[place as usize]);
            // The pair with the one before is there already if that one is new, too.
            if before != NOWHERE && pairs.last() != Some(&[before, place]) {
                pairs.push([before, place]);
            }
            if after != NOWHERE {
                pairs.push([place, after]);
            }
        }
        pairs
    }
}

/// One range of roots for each thread. The result of a round does not depend on how many there are.
fn tasks(n_roots: usize) -> Vec<std::ops::Range<usize>> {
    let length = n_roots.div_ceil(rayon::current_num_threads()).max(1000);
    (0..n_roots.div_ceil(length)).map(|i| i * length..((i + 1) * length).min(n_roots)).collect()
}

/// The two highest supports that a term has in the term chunks of roots, and where the highest is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Highest {
    first: u32,
    second: u32,
    root: u32,
}

impl Highest {
    fn see(&mut self, support: u32, root: u32) {
        if support > self.first {
            *self = Highest { first: support, second: self.first, root };
        } else if support > self.second {
            self.second = support;
        }
    }

    /// The highest support outside the given root.
    fn outside(&self, root: u32) -> u32 {
        if root == self.root { self.second } else { self.first }
    }
}

/// For each term its highest supports in the (virtual) term chunks of the roots.
fn highest_supports(term_chunks: &TermLists, n_terms: usize) -> Vec<Highest> {
    let parts: Vec<Vec<Highest>> = tasks(term_chunks.len())
        .into_par_iter()
        .map(|roots| {
            let mut highest = vec![Highest::default(); n_terms];
            for r in roots {
                term_chunks.get(r).iter().for_each(|&(t, support)| highest[t as usize].see(support, r as u32));
            }
            highest
        })
        .collect();
    let mut parts = parts.into_iter();
    let mut all = parts.next().unwrap_or_default();
    for part in parts {
        for (all, part) in all.iter_mut().zip(part) {
            all.see(part.first, part.root);
            all.see(part.second, NOT_LISTED);
        }
    }
    all
}

/// The roots that can be joined with some other one, in the order in which neighbours are tried: lexicographically by
/// the terms they could share, those with the highest `tcs` first; equal ones as they stand.
fn ordered(term_chunks: &TermLists, highest: &[Highest], tcs: &[u32], k: u32) -> Vec<u32> {
    let mut by_tcs: Vec<TermId> = (0..tcs.len() as TermId).filter(|&t| highest[t as usize].second > 0).collect();
    by_tcs.sort_unstable_by_key(|&t| (std::cmp::Reverse(tcs[t as usize]), t));
    let mut place = vec![0u32; tcs.len()];
    by_tcs.iter().zip(1..).for_each(|(&t, position)| place[t as usize] = position);
    let shareable_places = |r: usize| {
        let could_share = move |&&(t, support): &&(TermId, u32)| {
            let outside = highest[t as usize].outside(r as u32);
            outside > 0 && outside + support >= k
        };
        term_chunks.get(r).iter().filter(could_share).map(|&(t, _)| place[t as usize])
    };

    // Most comparisons are decided by the first four places, packed into one number.
    let keys: Vec<Vec<(u128, u32)>> = tasks(term_chunks.len())
        .into_par_iter()
        .map(|roots| {
            let keyed = roots.map(|r| (packed(shareable_places(r)), r as u32));
            keyed.filter(|&(key, _)| key != 0).collect()
        })
        .collect();
    let mut order = keys.concat();
    order.par_sort_unstable();
    for run in order.chunk_by_mut(|a, b| a.0 == b.0) {
        // Only where the number is full can there be more to compare.
        if run.len() > 1 && run[0].0 as u32 != 0 {
            run.sort_by_cached_key(|&(_, r)| {
                let mut places: Vec<u32> = shareable_places(r as usize).collect();
                places.sort_unstable();
                (places, r)
            });
        }
    }
    order.into_iter().map(|(_, r)| r).collect()
}

/// The four lowest places, the lowest first; 0 stands for "no further place".
fn packed(places: impl Iterator<Item = u32>) -> u128 {
    let mut lowest = [u32::MAX; 4];
    for place in places {
        if place < lowest[3] {
            let mut candidate = place;
            for slot in &mut lowest {
                if candidate < *slot {
                    std::mem::swap(slot, &mut candidate);
                }
            }
        }
    }
    lowest.iter().fold(0, |key, &place| key << 32 | u128::from(if place == u32::MAX { 0 } else { place }))
}

struct Refine<'a> {
    leaves: Vec<Leaf>,
    joints: Vec<JointCluster>,
    rank: &'a [TermId],
    params: &'a Params,
    observer: &'a dyn Observer,
}

/// A join that passed all tests, not carried out yet.
struct Plan {
    /// T^s, ascending: the terms that leave the term chunks; and their supports.
    refining_terms: Vec<TermId>,
    supports: Vec<u32>,
    /// The leaves that hold one of them in their term chunks.
    contributing: Vec<u32>,
}

/// What a join makes of two roots.
struct Joined {
    shared_chunks: Vec<Chunk>,
    virtual_terms: Vec<(TermId, u32)>,
}

/// Why a pair is not joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refusal {
    /// No common terms, or Equation 1 says that nothing is gained.
    NoGain,
    /// A leaf would lose what Lemma 2 rests on.
    Promise,
    /// It was refused in an earlier round.
    Known,
}

/// Where a term stands in the list at hand; every entry is `NOT_LISTED` between two uses.
struct Positions(Vec<u32>);

const NOT_LISTED: u32 = u32::MAX;

impl Positions {
    fn new(n_terms: usize) -> Self {
        Positions(vec![NOT_LISTED; n_terms])
    }

    fn set(&mut self, terms: &[TermId]) {
        terms.iter().zip(0..).for_each(|(&t, position)| self.0[t as usize] = position);
    }

    fn unset(&mut self, terms: &[TermId]) {
        terms.iter().for_each(|&t| self.0[t as usize] = NOT_LISTED);
    }

    fn lists(&self, term: TermId) -> bool {
        self.0[term as usize] != NOT_LISTED
    }

    /// The positions, in the list at hand, of those terms that are listed; with the terms' own indices.
    fn find<'a>(&'a self, terms: &'a [TermId]) -> impl Iterator<Item = (usize, usize)> + 'a {
        let listed = |&t: &TermId| self.0[t as usize];
        terms.iter().map(listed).enumerate().filter(|&(_, p)| p != NOT_LISTED).map(|(i, p)| (i, p as usize))
    }
}

impl Refine<'_> {
    /// Chooses the pairs of neighbours to join, from left to right, each root at most once.
    ///
    /// Whether a pair can be joined depends on the pair alone, so all of them are tested in parallel.
    fn choose(
        &self,
        roots: &mut [Root],
        row: &Row,
        pairs: &[[u32; 2]],
        term_chunks: &TermLists,
        n_terms: usize,
        stats: &mut Stats,
    ) -> Vec<([u32; 2], Plan)> {
        let plans: Vec<Result<Plan, Refusal>> = pairs
            .par_iter()
            .with_min_len(256)
            .map_init(
                || Positions::new(n_terms),
                |positions, pair| {
                    self.observer.check();
                    self.plan(pair.map(|place| row.root(place)), roots, term_chunks, positions)
                },
            )
            .collect();
        let mut chosen: Vec<([u32; 2], Plan)> = Vec::new();
        for (&pair, plan) in pairs.iter().zip(plans) {
            if chosen.last().is_some_and(|([_, right], _)| *right == pair[0]) {
                continue; // its left half is taken already
            }
            match plan {
                Ok(plan) => chosen.push((pair, plan)),
                Err(Refusal::Known) => {}
                Err(refusal) => {
                    stats.joins_refused_for_promise += u64::from(refusal == Refusal::Promise);
                    let partner = roots[row.root(pair[1])].node;
                    let refused = &mut roots[row.root(pair[0])].refused;
                    refused.rotate_right(1);
                    refused[0] = partner;
                }
            }
        }
        chosen
    }

    /// Carries out the chosen joins. The joint root takes the place of its left half.
    fn carry_out(
        &mut self,
        roots: &mut [Root],
        row: &Row,
        term_chunks: &mut TermLists,
        chosen: Vec<([u32; 2], Plan)>,
        tcs: &mut [u32],
    ) {
        let joined: Vec<Joined> = chosen
            .par_iter()
            .with_min_len(8)
            .map_init(
                || Positions::new(tcs.len()),
                |positions, (pair, plan)| {
                    self.observer.check();
                    let pair = pair.map(|place| row.root(place));
                    self.build(plan, pair.map(|i| &roots[i]), pair.map(|i| term_chunks.get(i)), positions)
                },
            )
            .collect();
        let mut positions = Positions::new(tcs.len());
        let mut scratch = Vec::new();
        self.observer.check();
        for ((pair, plan), joined) in chosen.into_iter().zip(joined) {
            let [a, b] = pair.map(|place| row.root(place));
            positions.set(&plan.refining_terms);
            for &i in &plan.contributing {
                let keep = |t: TermId| {
                    let leaves = positions.lists(t);
                    tcs[t as usize] -= u32::from(leaves);
                    !leaves
                };
                self.leaves[i as usize].term_chunk.retain(keep, &mut scratch);
            }
            positions.unset(&plan.refining_terms);
            let right = std::mem::take(&mut roots[b]);
            let left = std::mem::take(&mut roots[a]);
            term_chunks.replace(a, joined.virtual_terms);
            roots[a] = self.join_pair(left, right, plan.refining_terms, joined.shared_chunks);
        }
    }

    /// The join test of the paper with our correction (1).
    fn plan(
        &self,
        pair: [usize; 2],
        roots: &[Root],
        term_chunks: &TermLists,
        positions: &mut Positions,
    ) -> Result<Plan, Refusal> {
        let [a, b] = pair.map(|i| &roots[i]);
        if a.refused.contains(&b.node) || b.refused.contains(&a.node) {
            return Err(Refusal::Known);
        }
        if a.depth.max(b.depth) >= MAX_DEPTH {
            return Err(Refusal::NoGain);
        }
        let [list_a, list_b] = pair.map(|i| term_chunks.get(i));
        let (refining_terms, supports) = refining_terms(list_a, list_b, self.params.k);
        if refining_terms.is_empty() {
            return Err(Refusal::NoGain);
        }

        positions.set(&refining_terms);
        let mut contributing = Vec::new();
        let sum_support: u64 = supports.iter().map(|&support| u64::from(support)).sum();
        // Sums over the contributing leaves: u_i, how many of the terms each has, and |P_i|.
        let (mut sum_u, mut sum_sizes, mut size_to_come) = (0u64, 0u64, a.size + b.size);
        // Equation 1, were all leaves to come contributing ones: once it fails it stays so.
        let gains = |sum_u: u64, most_sizes: u64| {
            u128::from(sum_support) * u128::from(most_sizes) >= u128::from(sum_u) * u128::from(a.size + b.size)
        };
        let mut refusal = None;
        for &i in a.leaves.iter().chain(&b.leaves) {
            let leaf = &self.leaves[i as usize];
            size_to_come -= u64::from(leaf.size);
            let u = positions.find(leaf.term_chunk.terms()).count();
            if u > 0 {
                let left = leaf.term_chunk.terms().len() - u;
                if left < leaf.keeps as usize && !self.params.lab.paper_literal {
                    refusal = Some(Refusal::Promise);
                }
                contributing.push(i);
                sum_u += u as u64;
                sum_sizes += u64::from(leaf.size);
            }
            if !gains(sum_u, sum_sizes + size_to_come) {
                refusal = Some(Refusal::NoGain);
                break;
            }
        }
        positions.unset(&refining_terms);
        match refusal {
            Some(refusal) => Err(refusal),
            None => Ok(Plan { refining_terms, supports, contributing }),
        }
    }

    /// Does the work of a join that needs nothing but the two roots.
    fn build(
        &self,
        plan: &Plan,
        roots: [&Root; 2],
        term_chunks: [&[(TermId, u32)]; 2],
        positions: &mut Positions,
    ) -> Joined {
        let terms = &plan.refining_terms;
        positions.set(terms);
        let shared_chunks = self.shared_chunks(plan, roots, positions);
        let mut virtual_terms = union(term_chunks[0], term_chunks[1]);
        virtual_terms.retain(|&(t, _)| !positions.lists(t));
        positions.unset(terms);
        Joined { shared_chunks, virtual_terms }
    }

    /// Cuts the refining terms into shared chunks under Property 1 and our correction (2).
    fn shared_chunks(&self, plan: &Plan, roots: [&Root; 2], positions: &Positions) -> Vec<Chunk> {
        let terms = &plan.refining_terms;
        // The rows of the contributing leaves one below the other.
        let contributing = || plan.contributing.iter().map(|&i| &self.leaves[i as usize]);
        let n_rows = contributing().map(|leaf| leaf.size as usize).sum();
        let bag = SharedRows::new(&plan.supports, n_rows, |sink| {
            let mut first = 0;
            for leaf in contributing() {
                for (i, term) in positions.find(leaf.term_chunk.terms()) {
                    leaf.term_chunk.rows(i).iter().for_each(|&row| sink(term, first + row));
                }
                first += leaf.size;
            }
        });
        let conflicts = self.conflicts(terms.len(), roots, positions);
        let mut by_support: Vec<usize> = (0..terms.len()).collect();
        by_support.sort_unstable_by_key(|&i| (std::cmp::Reverse(plan.supports[i]), terms[i]));
        let chunks = bag.cut(by_support, self.params.k, self.params.m, &conflicts, self.observer);
        bag.project(&chunks, |i| self.rank[terms[i] as usize])
    }

    /// Which leaves publish refining terms below: T^r of Property 1, leaf by leaf.
    fn conflicts(&self, n_terms: usize, roots: [&Root; 2], positions: &Positions) -> Conflicts {
        let all = roots.iter().flat_map(|root| &root.leaves).map(|&i| &self.leaves[i as usize]);
        let sizes = all.clone().map(|leaf| u64::from(leaf.size)).collect();
        let mut conflicts = Conflicts::none(n_terms, sizes, self.params.lab.paper_literal);
        // Two leaves have the refining terms in their term chunks, hence not in their record chunks.
        if roots.iter().any(|root| root.depth > 0) {
            for (i, leaf) in all.enumerate() {
                positions.find(&leaf.record_terms).for_each(|(_, term)| conflicts.mark(term, i..i + 1));
            }
            self.mark_shared(roots[0].node, 0, positions, &mut conflicts);
            self.mark_shared(roots[1].node, roots[0].leaves.len(), positions, &mut conflicts);
        }
        conflicts
    }

    /// Marks the leaves under joints that share refining terms. The leaves of `node` begin at `first`.
    fn mark_shared(&self, node: NodeRef, first: usize, positions: &Positions, conflicts: &mut Conflicts) {
        let NodeRef::Joint(i) = node else { return };
        let joint = &self.joints[i as usize];
        let leaves = first..first + joint.n_leaves;
        positions.find(&joint.shared_terms).for_each(|(_, term)| conflicts.mark(term, leaves.clone()));
        let mut first = first;
        for &member in &joint.members {
            self.mark_shared(member, first, positions, conflicts);
            first += match member {
                NodeRef::Leaf(_) => 1,
                NodeRef::Joint(j) => self.joints[j as usize].n_leaves,
            };
        }
    }

    fn join_pair(&mut self, a: Root, b: Root, shared_terms: Vec<TermId>, shared_chunks: Vec<Chunk>) -> Root {
        let node = NodeRef::Joint(self.joints.len() as u32);
        let mut leaves = a.leaves;
        leaves.extend(b.leaves);
        let members = [a.node, b.node];
        self.joints.push(JointCluster { members, shared_chunks, shared_terms, n_leaves: leaves.len() });
        let (size, depth) = (a.size + b.size, a.depth.max(b.depth) + 1);
        Root { node, leaves, size, depth, refused: [NodeRef::default(); 4] }
    }
}

/// T^s: terms of both lists that occur at least k times together; and their supports.
fn refining_terms(a: &[(TermId, u32)], b: &[(TermId, u32)], k: u32) -> (Vec<TermId>, Vec<u32>) {
    let (mut i, mut j) = (0, 0);
    let (mut terms, mut supports) = (Vec::new(), Vec::new());
    while let (Some(&(term, here)), Some(&(other, there))) = (a.get(i), b.get(j)) {
        if term == other && here + there >= k {
            terms.push(term);
            supports.push(here + there);
        }
        i += usize::from(term <= other);
        j += usize::from(other <= term);
    }
    (terms, supports)
}

/// Terms of either list, ascending, with the sum of their supports.
fn union(a: &[(TermId, u32)], b: &[(TermId, u32)]) -> Vec<(TermId, u32)> {
    let mut all = Vec::with_capacity(a.len() + b.len());
    let mut b = b.iter().copied().peekable();
    for &(term, support) in a {
        while let Some(other) = b.next_if(|&(other, _)| other < term) {
            all.push(other);
        }
        let same = b.next_if(|&(other, _)| other == term);
        all.push((term, support + same.map_or(0, |(_, other)| other)));
    }
    all.extend(b);
    all
}

#[cfg(test)]
mod tests {
    use super::super::figures::FIGURE_2;
    use super::super::for_the_lab::ForTheLab;
    use super::super::tests::{cut, names, records};
    use super::*;
    use crate::data::{Dataset, RecordId};
    use crate::observer::Unobserved;
    use crate::release::{Joint, Node};

    /// Cuts the given clusters, joins them, and returns the release's roots and the counts.
    fn join_clusters(data: &Dataset, clusters: &[Vec<RecordId>], params: &Params) -> (Vec<Node>, Stats) {
        let (_, rank) = data.dictionary.sorted();
        let mut stats = Stats::default();
        let forest = join(cut(data, clusters, params), data.n_terms(), &rank, params, &mut stats, &Unobserved);
        let Forest { mut leaves, mut joints, roots } = forest;
        let trees = roots.iter().map(|&root| take(root, &mut leaves, &mut joints)).collect();
        (super::super::publishable(trees, &rank, &Unobserved).0, stats)
    }

    #[test]
    fn figure_3() {
        let data = records(&FIGURE_2);
        let (roots, _) = join_clusters(&data, &[(0..5).collect(), (5..10).collect()], &Params::paper(3, 2));
        let (sorted, _) = data.dictionary.sorted();
        let [Node::Joint(Joint { size: 10, members, shared_chunks, .. })] = &roots[..] else { panic!("{roots:?}") };
        let [shared] = &shared_chunks[..] else { panic!("{shared_chunks:?}") };
        let bag: Vec<_> = shared.subrecords().map(|(terms, count)| (names(&sorted, terms), count)).collect();
        assert_eq!(bag, [("ikea".into(), 1), ("ikea, ruby".into(), 3), ("ruby".into(), 1)]);
        let term_chunks: Vec<String> = members
            .iter()
            .map(|member| match member {
                Node::Simple(simple) => names(&sorted, &simple.term_chunk),
                Node::Joint(_) => panic!("a joint inside"),
            })
            .collect();
        assert_eq!(term_chunks, ["viagra", "panic disorder, playboy"]);
    }

    #[test]
    fn the_counterexample_to_lemma_3_is_joined_by_the_paper_and_refused_by_us() {
        let data = records(&["a", "a", "b", "b", "a, b", "z", "z", "p, z", "p", "p", "p"]);
        let clusters = [(0..7).collect(), (7..11).collect()];
        let literal = Params { lab: ForTheLab::paper_literal(), ..Params::paper(3, 2) };
        let (roots, _) = join_clusters(&data, &clusters, &literal);
        assert!(matches!(&roots[..], [Node::Joint(_)]));
        let (roots, stats) = join_clusters(&data, &clusters, &Params::paper(3, 2));
        assert_eq!(roots.len(), 2);
        assert_eq!(stats.joins_refused_for_promise, 1);
    }

    #[test]
    fn equation_1_refuses_a_joint_that_drags_along_strangers() {
        // {z} is held once in each of the last two clusters of 40; the joint of the first two brings many records and
        // no z: (2 + ..)/|J| is then smaller than before.
        let params = Params { max_cluster: 100, ..Params::paper(2, 1) };
        let plain = |t: &str, n: usize| vec![t.to_string(); n];
        let mut rows = plain("a", 40);
        rows[0] = "a, y".into();
        rows.extend(plain("b", 40));
        rows[40] = "b, y, z".into();
        rows.extend(plain("c", 4));
        rows[80] = "c, z".into();
        let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
        let data = records(&rows);
        let (roots, stats) =
            join_clusters(&data, &[(0..40).collect(), (40..80).collect(), (80..84).collect()], &params);
        // y is in more term chunks or first: clusters 1 and 2 join; then z: 2 * (40 + 4) >= 2 * 84 does not hold.
        assert_eq!((roots.len(), stats.joins), (2, 1));
    }

    #[test]
    fn a_row_knows_the_new_neighbours() {
        let mut row = Row::new(vec![7, 8, 9, 5, 6]);
        assert_eq!(row.all_pairs(), [[0, 1], [1, 2], [2, 3], [3, 4]]);
        // 0 and 1 become one, 2 and 3 become one: then (0, 2) is a pair, and (2, 4).
        assert_eq!(row.join(&[[0, 1], [2, 3]]), [[0, 2], [2, 4]]);
        assert_eq!(row.join(&[[2, 4]]), [[0, 2]]);
        assert_eq!(row.root(2), 9);
        assert!(row.join(&[[0, 2]]).is_empty());
        assert!(Row::new(vec![]).all_pairs().is_empty());
    }

    #[test]
    fn order_is_lexicographic_by_the_terms_that_could_be_shared() {
        // k = 2: a is in three term chunks, b in two; c and d are alone.
        let data = records(&["x, a, b", "x", "y, a, d", "y", "z, c", "z", "w, a, b", "w"]);
        let params = Params::paper(2, 2);
        let leaves = cut(&data, &[vec![0, 1], vec![2, 3], vec![4, 5], vec![6, 7]], &params);
        let mut tcs = vec![0; data.n_terms()];
        let mut term_chunks = TermLists::default();
        for leaf in &leaves {
            leaf.term_chunk.terms().iter().for_each(|&t| tcs[t as usize] += 1);
            term_chunks.push(leaf.term_chunk.terms().iter().map(|&t| (t, 1)));
        }
        let highest = highest_supports(&term_chunks, data.n_terms());
        // {a} is a prefix of {a, b}; the third cluster has nothing to share.
        assert_eq!(ordered(&term_chunks, &highest, &tcs, 2), [1, 0, 3]);
        // A larger k than any two supports together: nobody takes part.
        assert!(ordered(&term_chunks, &highest, &tcs, 3).is_empty());
    }
}
