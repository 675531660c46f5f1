//! The maximum support of an itemset by integer flows: exact, and fast enough for millions of questions.
//!
//! Let S be the itemset. For a leaf P that owns all of S, the *carriers* are the chunks that own a part of S in P, h of
//! them; a carrier's subrecord is *full* in P if it holds the whole part of S that the carrier owns in P. A record of P
//! contains S exactly if it holds a full subrecord of every carrier (terms of the term chunk are put into all records,
//! which never spoils a world nor lowers a support). Fix how many records `goal(P)` of each leaf shall contain S.
//!
//! Claim: there is a world in which at least `goal(P)` records of every leaf P contain S if and only if the
//! subrecords can be dealt out to leaves such that
//!
//! 1. every subrecord goes to a leaf where it is eligible, at most s subrecords of one chunk to a leaf of size s;
//! 2. every carrier of P has at least `goal(P)` full subrecords in P, and `goal(P)` <= s;
//! 3. if P has no term chunk, the number of all subrecords dealt to P is at least s + (h - 1) `goal(P)`.
//!
//! *Only if*: count the subrecords in a world. `goal(P)` records with S hold at least h each, and the others, not being
//! empty, at least one each. *If*: write g = `goal(P)`. Give records 1..g a full subrecord of every carrier. Lay what
//! is left, chunk by chunk, on the other s - g records in turn, going round. A carrier has at most s - g subrecords
//! left, so none meets itself; of another chunk lay at most s - g this way and the surplus on records 1..g. If a chunk
//! had a surplus, or as many as s - g, it alone has reached all of the s - g records; otherwise at least s - g
//! = s + (h - 1) g - h g subrecords were laid, and going round has reached them all too. No record is empty. If P has
//! a term chunk, no record is empty anyhow. (h >= 1 in case 3, for S is not empty; if h = 0 all records have S.)
//!
//! Dealing out under 1-3 is a flow with lower bounds, so whether it can be done is a maximum-flow computation. Goals
//! are searched depth first; smaller goals ask for less, so an impossible goal rules out all larger ones.

use disjoin::data::TermId;
use disjoin::release::Node;

use super::{Layout, Owner};

/// A root prepared for questions.
pub(crate) struct Oracle {
    layout: Layout,
    /// Number of subrecords in each leaf's own record chunks: these have nowhere else to go.
    n_own: Vec<usize>,
    /// Chunks that stretch over several leaves, and so leave a choice.
    shared: Vec<usize>,
    possible: bool,
}

/// The terms' side of a question: what a leaf asks of the chunks.
struct Demand {
    leaf: usize,
    /// Chunks that own a part of the itemset in the leaf.
    carriers: Vec<usize>,
    /// No more records than this can contain the itemset, for reasons that need no flow.
    bound: usize,
}

/// Equal subrecords of a shared chunk as the question sees them: where they may lie, and where they are full.
struct Group {
    eligible: Vec<bool>,
    full: Vec<bool>,
    count: usize,
}

impl Oracle {
    pub(crate) fn new(root: &Node) -> Self {
        let layout = Layout::new(root);
        let mut n_own = vec![0; layout.leaves.len()];
        let mut shared = Vec::new();
        let mut fits = true;
        for (id, chunk) in layout.chunks.iter().enumerate() {
            if chunk.leaves.len() == 1 {
                let leaf = chunk.leaves.start;
                let count: usize = chunk.subrecords.iter().map(|s| s.count).sum();
                n_own[leaf] += count;
                fits &= count <= layout.leaves[leaf].size && chunk.subrecords.iter().all(|s| s.eligible[leaf]);
            } else {
                shared.push(id);
            }
        }
        // A term chunk needs a record to be in.
        fits &= layout.leaves.iter().all(|leaf| leaf.size > 0 || leaf.term_chunk.is_empty());
        let mut oracle = Oracle { layout, n_own, shared, possible: fits };
        oracle.possible = fits && Question::new(&oracle, &[]).reachable(&vec![0; oracle.n_own.len()]);
        oracle
    }

    /// Whether the root has a world at all. A truthful release has: the original.
    pub(crate) fn has_world(&self) -> bool {
        self.possible
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// As [`super::max_support`].
    pub(crate) fn max_support(&self, itemset: &[TermId]) -> u64 {
        self.max_support_up_to(itemset, u64::MAX)
    }

    /// The smaller of the maximum support and `enough`; a low `enough` saves most of the work.
    pub(crate) fn max_support_up_to(&self, itemset: &[TermId], enough: u64) -> u64 {
        assert!(!itemset.is_empty(), "every record contains the empty itemset");
        if !self.possible {
            return 0;
        }
        let mut question = Question::new(self, itemset);
        question.enough = usize::try_from(enough).unwrap_or(usize::MAX);
        // The most promising leaf first: it often has enough all by itself.
        question.demands.sort_by_key(|demand| std::cmp::Reverse(demand.bound));
        question.search(0, 0, &mut vec![0; self.layout.leaves.len()]);
        question.best.min(question.enough) as u64
    }
}

struct Question<'a> {
    oracle: &'a Oracle,
    /// Leaves that can have records with the itemset.
    demands: Vec<Demand>,
    /// Parallel to `oracle.shared`.
    groups: Vec<Vec<Group>>,
    enough: usize,
    best: usize,
    network: Network,
}

impl<'a> Question<'a> {
    fn new(oracle: &'a Oracle, itemset: &[TermId]) -> Self {
        let layout = &oracle.layout;
        // Which part of the itemset a chunk owns in a leaf; a leaf that does not own all of it has no demand.
        let part = |leaf: usize, id: usize| {
            let owner = &layout.leaves[leaf].owner;
            itemset.iter().filter(move |t| owner.get(t) == Some(&Owner::Chunk(id)))
        };
        let full = |leaf: usize, id: usize, terms: &[TermId]| part(leaf, id).all(|t| terms.contains(t));
        let n_leaves = layout.leaves.len();
        let asks = |leaf: &usize| itemset.iter().all(|t| layout.leaves[*leaf].owner.contains_key(t));
        let asking: Vec<bool> = (0..n_leaves).map(|leaf| asks(&leaf) && !itemset.is_empty()).collect();

        let mut demands = Vec::new();
        for leaf in (0..n_leaves).filter(|&leaf| asking[leaf]) {
            let carries = |id: &usize| part(leaf, *id).next().is_some();
            let carriers: Vec<usize> = (0..layout.chunks.len()).filter(carries).collect();
            let n_full = |id: &usize| -> usize {
                let fits =
                    layout.chunks[*id].subrecords.iter().filter(|s| s.eligible[leaf] && full(leaf, *id, &s.terms));
                fits.map(|s| s.count).sum()
            };
            let bound = carriers.iter().map(n_full).min().unwrap_or(usize::MAX).min(layout.leaves[leaf].size);
            if bound > 0 {
                demands.push(Demand { leaf, carriers, bound });
            }
        }

        let mut groups = Vec::new();
        for &id in &oracle.shared {
            let mut of_chunk: Vec<Group> = Vec::new();
            for subrecord in &layout.chunks[id].subrecords {
                let is_full = |leaf: usize| {
                    asking[leaf]
                        && subrecord.eligible[leaf]
                        && part(leaf, id).next().is_some()
                        && full(leaf, id, &subrecord.terms)
                };
                let full: Vec<bool> = (0..n_leaves).map(is_full).collect();
                match of_chunk.iter_mut().find(|group| group.eligible == subrecord.eligible && group.full == full) {
                    Some(group) => group.count += subrecord.count,
                    None => {
                        of_chunk.push(Group { eligible: subrecord.eligible.clone(), full, count: subrecord.count });
                    }
                }
            }
            groups.push(of_chunk);
        }
        Question { oracle, demands, groups, enough: usize::MAX, best: 0, network: Network::default() }
    }

    /// Sets the goals of demand `next` and those after it; `so_far` is the sum of the goals before it, which are
    /// reachable together. Depth first, large goals first; ends when nothing better is possible or needed.
    fn search(&mut self, next: usize, so_far: usize, goals: &mut Vec<usize>) {
        self.best = self.best.max(so_far);
        let hope: usize = self.demands[next..].iter().map(|demand| demand.bound).sum();
        if next == self.demands.len() || self.best >= self.enough || so_far + hope <= self.best {
            return;
        }
        let Demand { leaf, bound, .. } = self.demands[next];
        for goal in (0..=bound.min(self.enough - so_far)).rev() {
            if self.best >= self.enough || so_far + goal + (hope - bound) <= self.best {
                break;
            }
            goals[leaf] = goal;
            if goal == 0 || self.reachable(goals) {
                self.search(next + 1, so_far + goal, goals);
            }
        }
        goals[leaf] = 0;
    }

    /// Whether a world has at least `goals[leaf]` records with the itemset in every leaf: conditions 1 to 3.
    ///
    /// Network: group -> (chunk, leaf) -> leaf -> hub. Subrecords that are full in a leaf pass through a node of their
    /// own before they reach (chunk, leaf), so that the passage can be asked to carry the goal. A lower bound l on an
    /// edge u -> v stands as edges source -> v and u -> sink of capacity l; all bounds can be met exactly if the
    /// maximum flow fills all of these.
    fn reachable(&mut self, goals: &[usize]) -> bool {
        let layout = &self.oracle.layout;
        let network = &mut self.network;
        let (source, sink, hub) = (0, 1, 2);
        network.clear(3 + layout.leaves.len());
        let mut required = 0;

        for (leaf, simple) in layout.leaves.iter().enumerate() {
            let node = 3 + leaf;
            network.edge(node, hub, usize::MAX);
            if simple.term_chunk.is_empty() {
                let demand = self.demands.iter().find(|demand| demand.leaf == leaf && goals[leaf] > 0);
                let extra = demand.map_or(0, |demand| (demand.carriers.len() - 1) * goals[leaf]);
                let need = (simple.size + extra).saturating_sub(self.oracle.n_own[leaf]);
                network.edge(source, hub, need);
                network.edge(node, sink, need);
                required += need;
            }
        }
        for (&id, groups) in self.oracle.shared.iter().zip(&self.groups) {
            let span = layout.chunks[id].leaves.clone();
            let first = network.nodes(2 * span.len());
            let (any, full) =
                (|leaf: usize| first + 2 * (leaf - span.start), |leaf: usize| first + 2 * (leaf - span.start) + 1);
            for leaf in span.clone() {
                network.edge(any(leaf), 3 + leaf, layout.leaves[leaf].size);
                network.edge(full(leaf), any(leaf), usize::MAX);
                let carries = |demand: &Demand| demand.leaf == leaf && demand.carriers.contains(&id);
                if goals[leaf] > 0 && self.demands.iter().any(carries) {
                    network.edge(source, any(leaf), goals[leaf]);
                    network.edge(full(leaf), sink, goals[leaf]);
                    required += goals[leaf];
                }
            }
            for group in groups {
                let node = network.nodes(1);
                network.edge(source, node, group.count);
                network.edge(hub, sink, group.count);
                required += group.count;
                for leaf in span.clone().filter(|&leaf| group.eligible[leaf]) {
                    network.edge(node, if group.full[leaf] { full(leaf) } else { any(leaf) }, usize::MAX);
                }
            }
        }
        network.max_flow(source, sink) == required
    }
}

/// A small flow network: edge e and its reverse e ^ 1 stand side by side.
#[derive(Default)]
struct Network {
    edges: Vec<Edge>,
    /// For each node its latest edge.
    last: Vec<usize>,
    seen: Vec<bool>,
}

struct Edge {
    to: usize,
    capacity: usize,
    /// The edge of the same node added before.
    before: usize,
}

const NONE: usize = usize::MAX;

impl Network {
    fn clear(&mut self, n_nodes: usize) {
        self.edges.clear();
        self.last.clear();
        self.last.resize(n_nodes, NONE);
    }

    /// Adds nodes; returns the first.
    fn nodes(&mut self, n: usize) -> usize {
        let first = self.last.len();
        self.last.resize(first + n, NONE);
        first
    }

    fn edge(&mut self, from: usize, to: usize, capacity: usize) {
        for (from, to, capacity) in [(from, to, capacity), (to, from, 0)] {
            self.edges.push(Edge { to, capacity, before: self.last[from] });
            self.last[from] = self.edges.len() - 1;
        }
    }

    /// Augments along any path until there is none. Terminates: each path carries at least one unit of a finite flow.
    fn max_flow(&mut self, source: usize, sink: usize) -> usize {
        let mut total = 0;
        loop {
            self.seen.clear();
            self.seen.resize(self.last.len(), false);
            match self.augment(source, sink, usize::MAX) {
                0 => return total,
                amount => total += amount,
            }
        }
    }

    fn augment(&mut self, node: usize, sink: usize, amount: usize) -> usize {
        if node == sink {
            return amount;
        }
        self.seen[node] = true;
        let mut id = self.last[node];
        while id != NONE {
            let Edge { to, capacity, before } = self.edges[id];
            if capacity > 0 && !self.seen[to] {
                let sent = self.augment(to, sink, amount.min(capacity));
                if sent > 0 {
                    // "Unlimited" edges stay unlimited, and what is sent back over them never exceeds what came.
                    self.edges[id].capacity = if capacity == usize::MAX { capacity } else { capacity - sent };
                    let reverse = &mut self.edges[id ^ 1].capacity;
                    *reverse = reverse.saturating_add(sent);
                    return sent;
                }
            }
            id = before;
        }
        0
    }
}
