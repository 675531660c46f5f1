//! Refining: clusters share chunks, so that terms rare in each of them but not in all get out of the term chunks.
//!
//! Paper:      terrovitis2012, section 4, Algorithm REFINE and Equation 1; section 5, Property 1 and Lemma 3
//! Promises:   Guarantee 1 still holds in every simple cluster (see the argument below)
//! Assumes:    leaves as `vertical` makes them
//! Departs:    (1) a join that empties the term chunk of a leaf is refused unless the leaf satisfies Lemma 2 by its
//!             record chunks alone: the proof of Lemma 3 overlooks this (counterexample in the tests).
//!             (2) a shared chunk with conflicts must be k-anonymous, as in the paper, and also leave room: see below.
//!             (3) each cluster takes part in at most one join a round, and joins nest at most `MAX_DEPTH` deep, so
//!             that the JSON can be read by parsers that limit nesting.
//!             (4) a term's support in term chunks counts simple clusters, in all rounds.
//! Cost:       rounds * (total length of term chunks); the number of rounds grows with its logarithm in practice
//! Checked by: tests in this file (figure 3; Lemma 3 counterexample), tests/guarantee.rs, tests/oracle.rs
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

use super::rows::{Projection, TermRows, greedy_chunks};
use super::vertical::Leaf;
use super::{Params, Stats};
use crate::data::TermId;
use crate::release::Chunk;

/// Joints nest at most this deep.
const MAX_DEPTH: u32 = 30;

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

/// Two clusters joined, and what they share.
#[derive(Debug, Default)]
pub(super) struct JointCluster {
    members: Vec<NodeRef>,
    shared_chunks: Vec<Chunk>,
    /// The terms of all shared chunks of this joint, ascending.
    shared_terms: Vec<TermId>,
    n_leaves: usize,
}

/// A root taken out of its forest.
pub(super) enum Tree {
    Leaf(u32, Leaf),
    Joint(Vec<Chunk>, Vec<Tree>),
}

/// Joins clusters until no adjacent pair can be joined any more.
pub(super) fn join(leaves: Vec<Leaf>, n_terms: usize, rank: &[TermId], params: &Params, stats: &mut Stats) -> Forest {
    let mut roots: Vec<Root> = leaves.iter().zip(0..).map(|(leaf, i)| Root::leaf(i, leaf)).collect();
    let mut work = Refine { leaves, joints: Vec::new(), rank, params };
    if params.refine {
        // How many simple clusters' term chunks hold a term: tcs in the paper.
        let mut tcs = vec![0u32; n_terms];
        work.leaves.iter().flat_map(|leaf| &leaf.term_chunk.terms).for_each(|&t| tcs[t as usize] += 1);
        loop {
            stats.refine_rounds += 1;
            let joins = work.round(&mut roots, &mut tcs, stats);
            stats.joins += joins;
            if joins == 0 {
                break;
            }
        }
    }
    Forest { leaves: work.leaves, joints: work.joints, roots: roots.iter().map(|root| root.node).collect() }
}

/// Takes a root out of the arrays of a forest.
pub(super) fn take(node: NodeRef, leaves: &mut [Leaf], joints: &mut [JointCluster]) -> Tree {
    match node {
        NodeRef::Leaf(i) => Tree::Leaf(i, std::mem::take(&mut leaves[i as usize])),
        NodeRef::Joint(i) => {
            let JointCluster { members, shared_chunks, .. } = std::mem::take(&mut joints[i as usize]);
            Tree::Joint(shared_chunks, members.into_iter().map(|member| take(member, leaves, joints)).collect())
        }
    }
}

/// A cluster that is not part of another one yet.
struct Root {
    node: NodeRef,
    /// Its simple clusters, in the order of the tree.
    leaves: Vec<u32>,
    size: u64,
    depth: u32,
    /// For a joint: the virtual term chunk, ascending, and how often each term occurs in the leaves that contribute
    /// it. For a leaf they stay empty: the leaf knows.
    virtual_terms: Vec<TermId>,
    virtual_supports: Vec<u32>,
    /// Neighbours with which a join was tried in vain, the last few. A join depends on the two clusters alone, so it
    /// need not be tried again.
    refused: [Option<NodeRef>; 4],
}

impl Root {
    fn leaf(i: u32, leaf: &Leaf) -> Self {
        Root {
            node: NodeRef::Leaf(i),
            leaves: vec![i],
            size: u64::from(leaf.size),
            depth: 0,
            virtual_terms: Vec::new(),
            virtual_supports: Vec::new(),
            refused: [None; 4],
        }
    }

    /// The (virtual) term chunk, ascending.
    fn terms<'a>(&'a self, leaves: &'a [Leaf]) -> &'a [TermId] {
        match self.node {
            NodeRef::Leaf(i) => &leaves[i as usize].term_chunk.terms,
            NodeRef::Joint(_) => &self.virtual_terms,
        }
    }

    /// How many records hold the term at `position` of the term chunk.
    fn support(&self, leaves: &[Leaf], position: usize) -> u32 {
        match self.node {
            NodeRef::Leaf(i) => leaves[i as usize].term_chunk.support(position),
            NodeRef::Joint(_) => self.virtual_supports[position],
        }
    }
}

/// The roots in the order in which neighbours are tried: lexicographically by their term chunks, terms with the
/// highest `tcs` first; roots without terms last; equal ones as they stand.
fn ordered(roots: &[Root], leaves: &[Leaf], tcs: &[u32]) -> Vec<u32> {
    let mut by_tcs: Vec<TermId> = (0..tcs.len() as TermId).filter(|&t| tcs[t as usize] > 0).collect();
    by_tcs.sort_unstable_by_key(|&t| (std::cmp::Reverse(tcs[t as usize]), t));
    let mut place = vec![0u32; tcs.len()];
    for (position, &t) in by_tcs.iter().enumerate() {
        place[t as usize] = position as u32 + 1;
    }
    // Most comparisons are decided by the first four terms, packed into one number; 0 stands for "no further term".
    let mut order: Vec<(u128, u32)> = roots
        .par_iter()
        .with_min_len(256)
        .zip(0..roots.len() as u32)
        .map(|(root, i)| (first_places(root.terms(leaves), &place), i))
        .collect();
    order.par_sort_unstable();
    for run in order.chunk_by_mut(|a, b| a.0 == b.0) {
        if run.len() > 1 && run[0].0 != NO_TERMS && run[0].0 as u32 != 0 {
            run.sort_by_cached_key(|&(_, i)| {
                let mut places: Vec<u32> = roots[i as usize].terms(leaves).iter().map(|&t| place[t as usize]).collect();
                places.sort_unstable();
                (places, i)
            });
        }
    }
    order.into_iter().map(|(_, i)| i).collect()
}

const NO_TERMS: u128 = u128::MAX;

fn first_places(terms: &[TermId], place: &[u32]) -> u128 {
    let mut lowest = [u32::MAX; 4];
    for &t in terms {
        let mut candidate = place[t as usize];
        if candidate < lowest[3] {
            for slot in &mut lowest {
                if candidate < *slot {
                    std::mem::swap(slot, &mut candidate);
                }
            }
        }
    }
    if lowest[0] == u32::MAX {
        return NO_TERMS;
    }
    lowest.iter().fold(0, |key, &place| key << 32 | u128::from(if place == u32::MAX { 0 } else { place }))
}

struct Refine<'a> {
    leaves: Vec<Leaf>,
    joints: Vec<JointCluster>,
    rank: &'a [TermId],
    params: &'a Params,
}

/// A join that passed all tests, not carried out yet.
struct Plan {
    /// T^s, ascending: the terms that leave the term chunks; and their supports.
    refining_terms: Vec<TermId>,
    supports: Vec<u32>,
    /// The leaves that hold one of them in their term chunks.
    contributing: Vec<u32>,
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
    fn set(&mut self, terms: &[TermId]) {
        terms.iter().zip(0..).for_each(|(&t, position)| self.0[t as usize] = position);
    }

    fn unset(&mut self, terms: &[TermId]) {
        terms.iter().for_each(|&t| self.0[t as usize] = NOT_LISTED);
    }

    /// The positions, in the list at hand, of those terms that are listed; with the terms' own indices.
    fn find<'a>(&'a self, terms: &'a [TermId]) -> impl Iterator<Item = (usize, usize)> + 'a {
        let listed = |&t: &TermId| self.0[t as usize];
        terms.iter().map(listed).enumerate().filter(|&(_, p)| p != NOT_LISTED).map(|(i, p)| (i, p as usize))
    }
}

impl Refine<'_> {
    /// Joins neighbours, each root at most once, from left to right; returns the number of joins.
    ///
    /// Whether a pair can be joined depends on the pair alone, so all neighbours are tested in parallel; then the
    /// walk from left to right chooses, and the chunks of the chosen pairs are built in parallel again.
    fn round(&mut self, roots: &mut Vec<Root>, tcs: &mut [u32], stats: &mut Stats) -> u64 {
        let order = ordered(roots, &self.leaves, tcs);
        let mut slots: Vec<Option<Root>> = roots.drain(..).map(Some).collect();
        roots.extend(order.iter().filter_map(|&i| slots[i as usize].take()));

        let positions = || Positions(vec![NOT_LISTED; tcs.len()]);
        let plans: Vec<Result<Plan, Refusal>> = roots
            .par_windows(2)
            .with_min_len(128)
            .map_init(positions, |positions, pair| self.plan(&pair[0], &pair[1], positions))
            .collect();
        let mut chosen: Vec<(usize, Plan)> = Vec::new();
        for (i, plan) in plans.into_iter().enumerate() {
            if chosen.last().is_some_and(|&(last, _)| last + 1 == i) {
                continue; // its left half is taken already
            }
            match plan {
                Ok(plan) => chosen.push((i, plan)),
                Err(Refusal::Known) => {}
                Err(refusal) => {
                    stats.joins_refused_for_promise += u64::from(refusal == Refusal::Promise);
                    let partner = roots[i + 1].node;
                    roots[i].refused.rotate_right(1);
                    roots[i].refused[0] = Some(partner);
                }
            }
        }
        let shared: Vec<Vec<Chunk>> = chosen
            .par_iter()
            .map_init(positions, |positions, (i, plan)| {
                self.shared_chunks(plan, [&roots[*i], &roots[*i + 1]], positions)
            })
            .collect();

        let joins = chosen.len() as u64;
        let mut old = std::mem::take(roots).into_iter().enumerate();
        let mut chosen = chosen.into_iter().zip(shared).peekable();
        while let Some((i, a)) = old.next() {
            let next = chosen.next_if(|((left, _), _)| *left == i);
            match next.and_then(|((_, plan), shared_chunks)| old.next().map(|(_, b)| (plan, shared_chunks, b))) {
                Some((plan, shared_chunks, b)) => roots.push(self.carry_out(plan, shared_chunks, a, b, tcs)),
                None => roots.push(a),
            }
        }
        joins
    }

    /// The join test of the paper with our correction (1).
    fn plan(&self, a: &Root, b: &Root, positions: &mut Positions) -> Result<Plan, Refusal> {
        if a.refused.contains(&Some(b.node)) || b.refused.contains(&Some(a.node)) {
            return Err(Refusal::Known);
        }
        if a.depth.max(b.depth) >= MAX_DEPTH {
            return Err(Refusal::NoGain);
        }
        let (refining_terms, supports) = self.refining_terms(a, b);
        if refining_terms.is_empty() {
            return Err(Refusal::NoGain);
        }

        positions.set(&refining_terms);
        let mut contributing = Vec::new();
        // Sums over the contributing leaves: u_i, how many of the terms each has, and |P_i|.
        let (mut sum_u, mut sum_sizes) = (0u64, 0u64);
        let mut keeps_promise = true;
        for &i in a.leaves.iter().chain(&b.leaves) {
            let leaf = &self.leaves[i as usize];
            let u = positions.find(&leaf.term_chunk.terms).count();
            if u > 0 {
                let emptied = u == leaf.term_chunk.terms.len() && leaf.hidden.is_empty();
                keeps_promise &= !emptied || leaf.stands_alone || self.params.paper_literal;
                contributing.push(i);
                sum_u += u as u64;
                sum_sizes += u64::from(leaf.size);
            }
        }
        positions.unset(&refining_terms);

        let sum_support: u64 = supports.iter().map(|&support| u64::from(support)).sum();
        let gains = u128::from(sum_support) * u128::from(sum_sizes) >= u128::from(sum_u) * u128::from(a.size + b.size);
        match (gains, keeps_promise) {
            (false, _) => Err(Refusal::NoGain),
            (true, false) => Err(Refusal::Promise),
            (true, true) => Ok(Plan { refining_terms, supports, contributing }),
        }
    }

    /// T^s: terms of both (virtual) term chunks that occur at least k times together; and their supports.
    fn refining_terms(&self, a: &Root, b: &Root) -> (Vec<TermId>, Vec<u32>) {
        let (terms_a, terms_b) = (a.terms(&self.leaves), b.terms(&self.leaves));
        let (mut terms, mut supports) = (Vec::new(), Vec::new());
        let (mut i, mut j) = (0, 0);
        while i < terms_a.len() && j < terms_b.len() {
            let (term, other) = (terms_a[i], terms_b[j]);
            if term == other {
                let support = a.support(&self.leaves, i) + b.support(&self.leaves, j);
                if support >= self.params.k {
                    terms.push(term);
                    supports.push(support);
                }
            }
            i += usize::from(term <= other);
            j += usize::from(other <= term);
        }
        (terms, supports)
    }

    /// Cuts the refining terms into shared chunks under Property 1 and our correction (2).
    fn shared_chunks(&self, plan: &Plan, roots: [&Root; 2], positions: &mut Positions) -> Vec<Chunk> {
        let Params { k, m, paper_literal, .. } = *self.params;
        let terms = &plan.refining_terms;
        positions.set(terms);
        let rows = self.rows_of(plan, positions);
        let conflicts = Conflicts::new(terms.len(), roots, &self.leaves, &self.joints, positions);
        positions.unset(terms);

        let mut by_support: Vec<usize> = (0..terms.len()).collect();
        by_support.sort_unstable_by_key(|&i| (std::cmp::Reverse(plan.supports[i]), terms[i]));
        let mut projection = Projection::default();
        let mut masks = Vec::new();
        let chunks = greedy_chunks(by_support, |chunk, candidate| {
            if !conflicts.exist_among(chunk, candidate) {
                return rows.stays_km_anonymous(chunk, candidate, k, m, &mut masks);
            }
            // A k-anonymous bag is k^2-anonymous too: the cheap test refuses most candidates.
            rows.stays_km_anonymous(chunk, candidate, k, 2, &mut masks) && {
                let with_candidate: Vec<usize> = chunk.iter().copied().chain([candidate]).collect();
                let bag = rows.project(&with_candidate, |i| i as u32, &mut projection);
                bag.subrecords().all(|(_, count)| count >= k) && (paper_literal || conflicts.leave_room_for(&bag))
            }
        });
        let label = |i: usize| self.rank[terms[i] as usize];
        chunks.iter().map(|chunk| rows.project(chunk, label, &mut projection)).collect()
    }

    /// The rows of the contributing leaves one below the other; a leaf fills whole words.
    fn rows_of(&self, plan: &Plan, positions: &Positions) -> TermRows {
        let term_chunks = plan.contributing.iter().map(|&i| &self.leaves[i as usize].term_chunk);
        let mut rows = TermRows::with_words(term_chunks.clone().map(TermRows::words).sum());
        plan.refining_terms.iter().for_each(|&t| {
            rows.add(t);
        });
        let mut offset = 0;
        for term_chunk in term_chunks {
            for (i, position) in positions.find(&term_chunk.terms) {
                rows.mask_mut(position)[offset..offset + term_chunk.words()].copy_from_slice(term_chunk.mask(i));
            }
            offset += term_chunk.words();
        }
        rows
    }

    fn carry_out(&mut self, plan: Plan, shared_chunks: Vec<Chunk>, a: Root, b: Root, tcs: &mut [u32]) -> Root {
        let refining = |t: TermId| plan.refining_terms.binary_search(&t).is_ok();
        let (virtual_terms, virtual_supports) = self.remaining_terms(&a, &b, refining);
        for &i in &plan.contributing {
            self.leaves[i as usize].term_chunk.retain(|t| {
                let leaves = refining(t);
                tcs[t as usize] -= u32::from(leaves);
                !leaves
            });
        }
        let node = NodeRef::Joint(self.joints.len() as u32);
        let mut leaves = a.leaves;
        leaves.extend(b.leaves);
        self.joints.push(JointCluster {
            members: vec![a.node, b.node],
            shared_chunks,
            shared_terms: plan.refining_terms,
            n_leaves: leaves.len(),
        });
        let (size, depth) = (a.size + b.size, a.depth.max(b.depth) + 1);
        Root { node, leaves, size, depth, virtual_terms, virtual_supports, refused: [None; 4] }
    }

    /// The union of two (virtual) term chunks without the refining terms, and the supports.
    fn remaining_terms(&self, a: &Root, b: &Root, refining: impl Fn(TermId) -> bool) -> (Vec<TermId>, Vec<u32>) {
        let (terms_a, terms_b) = (a.terms(&self.leaves), b.terms(&self.leaves));
        let (mut terms, mut supports) = (Vec::new(), Vec::new());
        let (mut i, mut j) = (0, 0);
        while i < terms_a.len() || j < terms_b.len() {
            let term = terms_a.get(i).into_iter().chain(terms_b.get(j)).copied().min().unwrap_or_default();
            let mut support = 0;
            if terms_a.get(i) == Some(&term) {
                support += a.support(&self.leaves, i);
                i += 1;
            }
            if terms_b.get(j) == Some(&term) {
                support += b.support(&self.leaves, j);
                j += 1;
            }
            if !refining(term) {
                terms.push(term);
                supports.push(support);
            }
        }
        (terms, supports)
    }
}

/// Which leaves publish a refining term further down already, and so cannot have contributed it.
struct Conflicts {
    /// For each refining term and each leaf whether the leaf is in conflict; empty for a term without conflicts.
    by_term: Vec<Vec<bool>>,
    sizes: Vec<u64>,
}

impl Conflicts {
    /// `positions` lists the refining terms, of which there are `n_terms`.
    fn new(n_terms: usize, roots: [&Root; 2], leaves: &[Leaf], joints: &[JointCluster], positions: &Positions) -> Self {
        let all = roots.iter().flat_map(|root| &root.leaves).map(|&i| &leaves[i as usize]);
        let sizes: Vec<u64> = all.clone().map(|leaf| u64::from(leaf.size)).collect();
        let mut conflicts = Conflicts { by_term: vec![Vec::new(); n_terms], sizes };
        // Two leaves have the refining terms in their term chunks, hence not in their record chunks.
        if roots.iter().any(|root| root.depth > 0) {
            for (i, leaf) in all.enumerate() {
                positions.find(&leaf.record_terms).for_each(|(_, term)| conflicts.mark(term, i..i + 1));
            }
            conflicts.mark_shared(roots[0].node, 0, joints, positions);
            conflicts.mark_shared(roots[1].node, roots[0].leaves.len(), joints, positions);
        }
        conflicts
    }

    fn mark(&mut self, term: usize, leaves: std::ops::Range<usize>) {
        let marks = &mut self.by_term[term];
        marks.resize(self.sizes.len(), false);
        marks[leaves].fill(true);
    }

    /// Marks the leaves under joints that share refining terms. The leaves of `node` begin at `first`.
    fn mark_shared(&mut self, node: NodeRef, first: usize, joints: &[JointCluster], positions: &Positions) {
        let NodeRef::Joint(i) = node else { return };
        let joint = &joints[i as usize];
        positions.find(&joint.shared_terms).for_each(|(_, term)| self.mark(term, first..first + joint.n_leaves));
        let mut first = first;
        for &member in &joint.members {
            self.mark_shared(member, first, joints, positions);
            first += match member {
                NodeRef::Leaf(_) => 1,
                NodeRef::Joint(j) => joints[j as usize].n_leaves,
            };
        }
    }

    /// Whether a term of the chunk, or the candidate, is in T^r.
    fn exist_among(&self, chunk: &[usize], candidate: usize) -> bool {
        chunk.iter().chain([&candidate]).any(|&i| !self.by_term[i].is_empty())
    }

    /// Whether every subrecord may lie in leaves that have, together, at least as many records as the bag.
    fn leave_room_for(&self, bag: &Chunk) -> bool {
        let needed = bag.n_subrecords();
        bag.subrecords().all(|(terms, _)| {
            let free = |leaf: usize| terms.iter().all(|&t| !self.by_term[t as usize].get(leaf).is_some_and(|&c| c));
            let room: u64 = (0..self.sizes.len()).filter(|&leaf| free(leaf)).map(|leaf| self.sizes[leaf]).sum();
            room >= needed
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{FIGURE_2, cut, names, records};
    use super::*;
    use crate::data::{Dataset, RecordId};
    use crate::release::{Joint, Node};

    /// Cuts the given clusters, joins them, and returns the release's roots and the counts.
    fn join_clusters(data: &Dataset, clusters: &[Vec<RecordId>], params: &Params) -> (Vec<Node>, Stats) {
        let (_, rank) = data.dictionary.sorted();
        let mut stats = Stats::default();
        let forest = join(cut(data, clusters, params), data.n_terms(), &rank, params, &mut stats);
        (super::super::publishable(forest, &rank).0, stats)
    }

    #[test]
    fn figure_3() {
        let data = records(&FIGURE_2);
        let (roots, _) = join_clusters(&data, &[(0..5).collect(), (5..10).collect()], &Params::new(3, 2));
        let (sorted, _) = data.dictionary.sorted();
        let [Node::Joint(Joint { size: 10, members, shared_chunks })] = &roots[..] else { panic!("{roots:?}") };
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
        let literal = Params { paper_literal: true, ..Params::new(3, 2) };
        let (roots, _) = join_clusters(&data, &clusters, &literal);
        assert!(matches!(&roots[..], [Node::Joint(_)]));
        let (roots, stats) = join_clusters(&data, &clusters, &Params::new(3, 2));
        assert_eq!(roots.len(), 2);
        assert_eq!(stats.joins_refused_for_promise, 1);
    }

    #[test]
    fn equation_1_refuses_a_joint_that_drags_along_strangers() {
        // {z} is held once in each of the last two clusters of 40; the joint of the first two brings many records and
        // no z: (2 + ..)/|J| is then smaller than before.
        let params = Params { max_cluster: 100, ..Params::new(2, 1) };
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
    fn a_term_that_a_leaf_shows_makes_the_shared_chunk_k_anonymous() {
        // Figure 5: `a` is in the record chunk of the first cluster; {a, o} x 3 and {o} x 1 must not stay together.
        let mut conflicts = Conflicts { by_term: vec![vec![true, false], vec![]], sizes: vec![3, 9] };
        assert!(conflicts.exist_among(&[1], 0) && !conflicts.exist_among(&[], 1));
        let mut bag = Chunk::new(vec![0, 1]);
        bag.push(&[0, 1], 3);
        assert!(conflicts.leave_room_for(&bag));
        conflicts.sizes = vec![9, 2];
        assert!(!conflicts.leave_room_for(&bag));
    }

    #[test]
    fn order_is_lexicographic_by_places() {
        let data = records(&["x, a", "x", "y, a, b", "y", "z, c", "z"]);
        let params = Params::new(2, 2);
        let leaves = cut(&data, &[vec![0, 1], vec![2, 3], vec![4, 5]], &params);
        let roots: Vec<Root> = (0..3).map(|i| Root::leaf(i, &leaves[i as usize])).collect();
        let mut tcs = vec![0; data.n_terms()];
        leaves.iter().flat_map(|leaf| &leaf.term_chunk.terms).for_each(|&t| tcs[t as usize] += 1);
        // a (in two chunks) comes first; {a} is a prefix of {a, b}.
        assert_eq!(ordered(&roots, &leaves, &tcs), [0, 1, 2]);
    }
}
