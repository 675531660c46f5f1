//! Records on a cut of a hierarchy: who holds a node, what the cut costs, and which sets of its nodes too few records
//! hold.
//!
//! Terms are renumbered along the tree, so that the terms below a node are a range and equal nodes of a record are
//! neighbours. A node is *settled* if all sets of it and other settled nodes, of the size looked at, are in k records
//! or in none. That a node is put in the place of settled ones changes nothing: whoever holds it with others holds one of
//! them with the others, and k records do.

use std::ops::ControlFlow;

use crate::data::{Cut, Hierarchy, NodeId, RecordId, Transactions};
use crate::error::{Error, Result};
use crate::observer::Observer;

/// Records on a cut.
pub(super) struct Recoded<'a> {
    pub(super) hierarchy: &'a Hierarchy,
    pub(super) k: u32,
    /// Positions of terms, ascending, record after record.
    positions: Vec<u32>,
    /// Where each record ends.
    ends: Vec<u32>,
    /// Records by position of a term, one position after the other.
    of_terms: Vec<RecordId>,
    /// By position where its records end; these are also sums of occurrences.
    term_ends: Vec<u32>,
    /// Records by inner node, once asked for.
    of_inner: Vec<Option<Box<[RecordId]>>>,
    /// Children by node.
    children: Vec<Vec<NodeId>>,
    /// How many nodes have no parent.
    n_roots: usize,
    /// By position the node that stands for the term.
    at: Vec<NodeId>,
    is_settled: Vec<bool>,
    /// Where nodes may be generalised, if not everywhere.
    within: Option<std::ops::Range<usize>>,
    pub(super) observer: &'a dyn Observer,
}

impl<'a> Recoded<'a> {
    /// The records as they are.
    pub(super) fn new(
        records: &Transactions,
        hierarchy: &'a Hierarchy,
        k: u32,
        observer: &'a dyn Observer,
    ) -> Result<Self> {
        observer.check();
        let n_terms = hierarchy.n_terms();
        if records.all_terms().iter().any(|&term| term as usize >= n_terms) {
            return Err(Error::Internal("records have terms beyond the hierarchy"));
        }
        if u32::try_from(records.n_incidences()).is_err() {
            let problem = "more than 4 billion terms in all records";
            let hint = "generalise in blocks (local recoding), or disassociate";
            return Err(Error::Infeasible { problem: problem.into(), hint: hint.into() });
        }
        let mut positions: Vec<u32> = Vec::with_capacity(records.n_incidences());
        let mut ends = Vec::with_capacity(records.len());
        let mut term_ends = vec![0; n_terms];
        for record in records.iter() {
            let start = positions.len();
            positions.extend(record.iter().map(|&term| hierarchy.position(term)));
            positions[start..].sort_unstable();
            positions[start..].iter().for_each(|&position| term_ends[position as usize] += 1);
            ends.push(positions.len() as u32);
        }
        let of_terms = records_of_terms(&positions, &ends, &mut term_ends);
        let n_nodes = hierarchy.n_nodes();
        let mut children = vec![Vec::new(); n_nodes];
        let mut n_roots = 0;
        for node in 0..n_nodes as NodeId {
            match hierarchy.parent(node) {
                Some(parent) => children[parent as usize].push(node),
                None => n_roots += 1,
            }
        }
        let mut at = vec![0; n_terms];
        (0..n_terms as NodeId).for_each(|term| at[hierarchy.position(term) as usize] = term);
        let of_inner = vec![None; n_nodes - n_terms];
        let is_settled = vec![false; n_nodes];
        Ok(Recoded {
            hierarchy,
            k,
            positions,
            ends,
            of_terms,
            term_ends,
            of_inner,
            children,
            n_roots,
            at,
            is_settled,
            within: None,
            observer,
        })
    }

    pub(super) fn n_records(&self) -> usize {
        self.ends.len()
    }

    /// The most terms that a record has.
    pub(super) fn longest(&self) -> usize {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        self.ends.iter().zip(starts).map(|(end, start)| end - start).max().unwrap_or(0) as usize
    }

    fn record(&self, record: RecordId) -> &[u32] {
        let start = if record == 0 { 0 } else { self.ends[record as usize - 1] };
        &self.positions[start as usize..self.ends[record as usize] as usize]
    }

    /// Makes sure that [`Recoded::holders`] knows a node.
    pub(super) fn meet(&mut self, node: NodeId) {
        let Some(inner) = (node as usize).checked_sub(self.hierarchy.n_terms()) else { return };
        if self.of_inner[inner].is_some() {
            return;
        }
        let mut bits = vec![0_u64; self.n_records().div_ceil(64)];
        let range = self.hierarchy.positions(node);
        let start = if range.start == 0 { 0 } else { self.term_ends[range.start - 1] };
        let end = if range.is_empty() { start } else { self.term_ends[range.end - 1] };
        for &record in &self.of_terms[start as usize..end as usize] {
            bits[record as usize / 64] |= 1 << (record % 64);
        }
        let mut holders = Vec::with_capacity(bits.iter().map(|word| word.count_ones() as usize).sum());
        for (at, &word) in (0..).zip(&bits) {
            let mut word = word;
            while word != 0 {
                holders.push(at * 64 + word.trailing_zeros());
                word &= word - 1;
            }
        }
        self.of_inner[inner] = Some(holders.into_boxed_slice());
    }

    /// The records that hold a node that was met, or a term, ascending.
    pub(super) fn holders(&self, node: NodeId) -> &[RecordId] {
        match (node as usize).checked_sub(self.hierarchy.n_terms()) {
            Some(inner) => self.of_inner[inner].as_deref().unwrap_or_default(),
            None => {
                let position = self.hierarchy.position(node) as usize;
                let start = if position == 0 { 0 } else { self.term_ends[position - 1] };
                &self.of_terms[start as usize..self.term_ends[position] as usize]
            }
        }
    }

    /// How often terms below a node occur.
    fn occurrences(&self, node: NodeId) -> u64 {
        let range = self.hierarchy.positions(node);
        let sum_before = |position: usize| if position == 0 { 0 } else { u64::from(self.term_ends[position - 1]) };
        sum_before(range.end) - sum_before(range.start)
    }

    /// What it costs that a node stands for the terms below it, all the others left aside; in units that make the cost of
    /// all nodes of a cut its NCP times terms times occurrences.
    pub(super) fn cost(&self, node: NodeId) -> u64 {
        match self.hierarchy.leaves_below(node) {
            1 => 0,
            leaves => self.occurrences(node) * u64::from(leaves),
        }
    }

    /// What the cut costs below a node, or at it.
    pub(super) fn cost_below(&self, node: NodeId) -> u64 {
        self.nodes_below(node).map(|below| self.cost(below)).sum()
    }

    /// The nodes of the cut, along the tree.
    pub(super) fn nodes(&self) -> impl Iterator<Item = NodeId> {
        self.nodes_of(0..self.at.len())
    }

    /// The nodes of the cut that are below a node, or the node itself, if the cut does not run above it.
    pub(super) fn nodes_below(&self, node: NodeId) -> impl Iterator<Item = NodeId> {
        self.nodes_of(self.hierarchy.positions(node))
    }

    fn nodes_of(&self, range: std::ops::Range<usize>) -> impl Iterator<Item = NodeId> {
        let mut next = range.start;
        std::iter::from_fn(move || {
            let node = *self.at[..range.end].get(next)?;
            next = self.hierarchy.positions(node).end;
            Some(node)
        })
    }

    pub(super) fn is_on_cut(&self, node: NodeId) -> bool {
        self.at.get(self.hierarchy.positions(node).start) == Some(&node)
    }

    pub(super) fn is_settled(&self, node: NodeId) -> bool {
        self.is_settled[node as usize]
    }

    pub(super) fn set_settled(&mut self, node: NodeId, is_settled: bool) {
        self.is_settled[node as usize] = is_settled;
    }

    /// Says of all nodes that they are settled, or that none is.
    pub(super) fn set_all_settled(&mut self, is_settled: bool) {
        self.is_settled.fill(is_settled);
    }

    pub(super) fn children(&self, node: NodeId) -> &[NodeId] {
        &self.children[node as usize]
    }

    /// The one node above all terms, if there is one.
    pub(super) fn root(&self) -> Option<NodeId> {
        (self.n_roots == 1).then(|| self.hierarchy.n_nodes() as NodeId - 1)
    }

    /// From now on only nodes are generalised to that have all their terms at these positions. What that does not mend
    /// stays violated.
    pub(super) fn keep_within(&mut self, range: std::ops::Range<usize>) {
        self.within = Some(range);
    }

    pub(super) fn is_partial(&self) -> bool {
        self.within.is_some()
    }

    /// Whether nodes may be generalised to this one: to the root of all only if nothing else helps.
    pub(super) fn is_choice(&self, node: NodeId) -> bool {
        let range = self.hierarchy.positions(node);
        let is_within = |within: &std::ops::Range<usize>| within.start <= range.start && range.end <= within.end;
        Some(node) != self.root() && self.within.as_ref().is_none_or(is_within)
    }

    /// Puts a node in the place of all nodes below it.
    pub(super) fn generalise(&mut self, node: NodeId) {
        let is_settled = self.nodes_below(node).all(|below| self.is_settled(below));
        let range = self.hierarchy.positions(node);
        self.at[range].fill(node);
        self.is_settled[node as usize] = is_settled;
        self.meet(node);
    }

    /// Puts the children of a node of the cut in its place, not settled.
    pub(super) fn specialise(&mut self, node: NodeId) {
        for child in std::mem::take(&mut self.children[node as usize]) {
            let range = self.hierarchy.positions(child);
            self.at[range].fill(child);
            self.is_settled[child as usize] = false;
            self.meet(child);
            self.children[node as usize].push(child);
        }
    }

    /// How many records hold all of these nodes, counted up to k. All must have been met.
    pub(super) fn support(&self, nodes: &[NodeId]) -> u32 {
        super::lists::common(nodes.iter().map(|&node| self.holders(node)).collect(), self.k)
    }

    pub(super) fn cut(&self) -> Result<Cut> {
        let nodes = (0..self.at.len() as NodeId).map(|term| self.at[self.hierarchy.position(term) as usize]).collect();
        Cut::from_nodes(nodes, self.hierarchy).ok_or(Error::Internal("a cut goes through a subtree"))
    }
}

/// The records of each position, one position after the other. `term_ends` has how many there are of each, and then where they
/// end.
fn records_of_terms(positions: &[u32], ends: &[u32], term_ends: &mut [u32]) -> Vec<RecordId> {
    let mut sum = 0;
    for end in term_ends.iter_mut() {
        // Until all are in, where the next record of the position goes.
        sum += std::mem::replace(end, sum);
    }
    let mut of_terms = vec![0; positions.len()];
    let mut start = 0;
    for (record, &end) in (0..).zip(ends) {
        for &position in &positions[start as usize..end as usize] {
            let place = &mut term_ends[position as usize];
            of_terms[*place as usize] = record;
            *place += 1;
        }
        start = end;
    }
    of_terms
}

/// What is left of a record behind a node.
type Tail = (u32, u32);

/// Is told of each violated set; says whether to go on.
pub(super) type Found<'f, 'a> = &'f mut dyn FnMut(&mut Recoded<'a>, &[NodeId]) -> ControlFlow<()>;

/// Looks for violated sets: in some records, but in fewer than k. Memory that is used again and again.
pub(super) struct Scan {
    /// Settled nodes of the records in question, one record after the other.
    items: Vec<NodeId>,
    /// By node, all 0 between uses.
    counts: Vec<u32>,
    met: Vec<NodeId>,
}

impl Scan {
    pub(super) fn new(hierarchy: &Hierarchy) -> Self {
        Scan { items: Vec::new(), counts: vec![0; hierarchy.n_nodes()], met: Vec::new() }
    }

    /// Tells of violated sets of so many nodes: those given, which must be on the cut, and settled ones. Sets of which a
    /// node has left the cut meanwhile are passed over. Smaller sets must not be violated.
    pub(super) fn run<'a>(
        &mut self,
        on: &mut Recoded<'a>,
        given: &[NodeId],
        size: usize,
        found: Found<'_, 'a>,
    ) -> ControlFlow<()> {
        given.iter().for_each(|&node| on.meet(node));
        if given.len() >= size {
            let is_violated = given.len() == size && (1..on.k).contains(&on.support(given));
            return if is_violated { found(on, given) } else { ControlFlow::Continue(()) };
        }
        let tails = self.project(on, given);
        self.extend(on, &tails, &mut given.to_vec(), size - given.len(), found)
    }

    /// Lists what else is in the records that hold the given nodes.
    fn project(&mut self, on: &Recoded<'_>, given: &[NodeId]) -> Vec<Tail> {
        self.items.clear();
        let mut tails = Vec::new();
        let [first, others @ ..] = given else { return tails };
        let mut lists: Vec<&[RecordId]> = others.iter().map(|&node| on.holders(node)).collect();
        on.observer.check();
        'records: for &record in on.holders(*first) {
            for list in &mut lists {
                *list = super::lists::from(list, record);
                if list.first() != Some(&record) {
                    continue 'records;
                }
            }
            let start = self.items.len() as u32;
            let mut last = NodeId::MAX;
            for &position in on.record(record) {
                let node = on.at[position as usize];
                if node != last && on.is_settled(node) && !given.contains(&node) {
                    self.items.push(node);
                }
                last = node;
            }
            if self.items.len() as u32 > start {
                tails.push((start, self.items.len() as u32));
            }
        }
        tails
    }

    /// Tells of the set with each node that was counted too rarely.
    fn tell_violated<'a>(
        &mut self,
        on: &mut Recoded<'a>,
        set: &mut Vec<NodeId>,
        found: Found<'_, 'a>,
    ) -> ControlFlow<()> {
        let mut violated = Vec::new();
        for node in self.met.drain(..) {
            if std::mem::take(&mut self.counts[node as usize]) < on.k {
                violated.push(node);
            }
        }
        for node in violated {
            if on.is_on_cut(node) && set.iter().all(|&node| on.is_on_cut(node)) {
                set.push(node);
                let flow = found(on, set);
                set.pop();
                flow?;
            }
        }
        ControlFlow::Continue(())
    }

    fn extend<'a>(
        &mut self,
        on: &mut Recoded<'a>,
        tails: &[Tail],
        set: &mut Vec<NodeId>,
        missing: usize,
        found: Found<'_, 'a>,
    ) -> ControlFlow<()> {
        on.observer.check();
        for &(start, end) in tails {
            for &node in &self.items[start as usize..end as usize] {
                let count = &mut self.counts[node as usize];
                if *count == 0 {
                    self.met.push(node);
                }
                *count += 1;
            }
        }
        if missing == 1 {
            return self.tell_violated(on, set, found);
        }

        // The tails behind each node, one node after the other.
        let mut buckets: Vec<(NodeId, u32)> = Vec::with_capacity(self.met.len());
        let mut sum = 0;
        for node in self.met.drain(..) {
            buckets.push((node, sum));
            sum += std::mem::replace(&mut self.counts[node as usize], sum);
        }
        let mut behind: Vec<Tail> = vec![(0, 0); sum as usize];
        for &(start, end) in tails {
            for at in start..end {
                let place = &mut self.counts[self.items[at as usize] as usize];
                behind[*place as usize] = (at + 1, end);
                *place += 1;
            }
        }
        buckets.iter().for_each(|&(node, _)| self.counts[node as usize] = 0);
        for (at, &(node, start)) in buckets.iter().enumerate() {
            if !set.iter().all(|&node| on.is_on_cut(node)) {
                break;
            }
            if !on.is_on_cut(node) {
                continue;
            }
            let end = buckets.get(at + 1).map_or(sum, |&(_, end)| end);
            set.push(node);
            let flow = self.extend(on, &behind[start as usize..end as usize], set, missing - 1, found);
            set.pop();
            flow?;
        }
        ControlFlow::Continue(())
    }
}
