//! Turns edges into arrows: first those that meet in a node which does not separate their ends, then what follows from these.
//!
//! ```text
//! a - c - b, a and b not joined, c not in Sep(a, b)           =>  a -> c <- b
//! R1  i -> j - k, i and k not joined                          =>  j -> k
//! R2  i -> j -> k, i - k                                      =>  i -> k
//! R3  i -> j <- k, i and k not joined, m - i, m - j, m - k    =>  m -> j
//! R4  j -> i, k - j, k - i, m - i, m - k                      =>  i -> m, k -> m
//! R5  if nothing else applies, the first edge without arrow   =>  from the lower to the higher node
//! ```
//!
//! Paper:      nadimpalli2014, by way of Weka's ICS; the rules are after Verma, Pearl 1992 and Meek 1995
//! Promises:   no directed cycle; every arrow lies on an edge
//! Departs:    separations that contradict each other can point an edge both ways or close a cycle. Weka leaves that in; here,
//!             arrows are taken in the order in which they came up, and one that closes a cycle with those before is dropped.
//!             R4 is as Weka has it, and directs more than the proven rule does
//! Cost:       n^4 in the worst case, for n nodes in a graph with all edges, and as often as R5 applies
//! Checked by: tests/it/network.rs, against the steps as printed and on random tables

use std::collections::HashMap;

use super::Network;

/// What a search by independences found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Learned {
    /// The arrows.
    pub network: Network,
    /// The edges before they were directed, lower node first, ascending.
    pub skeleton: Vec<(usize, usize)>,
    /// Arrows (parent, child) that were dropped: they would have closed a cycle, or their child had enough parents. If its
    /// counterpart was not kept either, two nodes that depend on each other are not joined.
    pub dropped: Vec<(usize, usize)>,
}

/// Which nodes are joined, and what separates those that are not.
#[derive(Debug, Clone)]
pub(super) struct Skeleton {
    n: usize,
    joined: Vec<bool>,
    separators: HashMap<(usize, usize), Vec<usize>>,
}

impl Skeleton {
    /// All nodes are joined.
    pub(super) fn complete(n: usize) -> Self {
        let joined = (0..n * n).map(|at| at / n != at % n).collect();
        Skeleton { n, joined, separators: HashMap::new() }
    }

    pub(super) fn n_nodes(&self) -> usize {
        self.n
    }

    pub(super) fn joins(&self, a: usize, b: usize) -> bool {
        self.joined[a * self.n + b]
    }

    /// The edges, lower node first, ascending.
    pub(super) fn edges(&self) -> Vec<(usize, usize)> {
        let pairs = (0..self.n).flat_map(|a| (a + 1..self.n).map(move |b| (a, b)));
        pairs.filter(|&(a, b)| self.joins(a, b)).collect()
    }

    /// Removes an edge.
    pub(super) fn separate(&mut self, a: usize, b: usize, separator: Vec<usize>) {
        self.joined[a * self.n + b] = false;
        self.joined[b * self.n + a] = false;
        self.separators.insert((a.min(b), a.max(b)), separator);
    }
}

/// Directs all edges; no node gets more than `max_parents`.
pub(super) fn orient(skeleton: &Skeleton, max_parents: Option<usize>) -> Learned {
    let mut arrows = Arrows { skeleton, points: vec![false; skeleton.joined.len()], added: Vec::new() };
    arrows.meet();
    while arrows.follow() || arrows.choose() {}
    let (mut network, mut dropped) = (Network::empty(skeleton.n), Vec::new());
    for (parent, child) in arrows.added {
        let has_room = max_parents.is_none_or(|most| network.parents(child).len() < most);
        if !has_room || !network.try_add(parent, child) {
            dropped.push((parent, child));
        }
    }
    Learned { network, skeleton: skeleton.edges(), dropped }
}

struct Arrows<'s> {
    skeleton: &'s Skeleton,
    points: Vec<bool>,
    /// In the order in which they came up.
    added: Vec<(usize, usize)>,
}

impl Arrows<'_> {
    fn add(&mut self, from: usize, to: usize) {
        if !std::mem::replace(&mut self.points[from * self.skeleton.n + to], true) {
            self.added.push((from, to));
        }
    }

    fn points(&self, from: usize, to: usize) -> bool {
        self.points[from * self.skeleton.n + to]
    }

    /// Joined, and not directed yet.
    fn open(&self, a: usize, b: usize) -> bool {
        self.skeleton.joins(a, b) && !self.points(a, b) && !self.points(b, a)
    }

    /// Arrows that meet.
    fn meet(&mut self) {
        let (skeleton, n) = (self.skeleton, self.skeleton.n);
        for a in 0..n {
            for b in a + 1..n {
                let Some(separator) = skeleton.separators.get(&(a, b)) else { continue };
                for c in (0..n).filter(|&c| skeleton.joins(a, c) && skeleton.joins(b, c)) {
                    if !separator.contains(&c) {
                        self.add(a, c);
                        self.add(b, c);
                    }
                }
            }
        }
    }

    /// Rules 1 to 4, once over all nodes; tells whether there is a new arrow.
    fn follow(&mut self) -> bool {
        let before = self.added.len();
        let n = self.skeleton.n;
        for (i, j) in pairs(n) {
            for k in 0..n {
                if self.points(i, j) && k != i && !self.skeleton.joins(i, k) && self.open(j, k) {
                    self.add(j, k);
                }
            }
        }
        for (i, j) in pairs(n) {
            for k in 0..n {
                if self.points(i, j) && self.points(j, k) && self.open(i, k) {
                    self.add(i, k);
                }
            }
        }
        for (i, j) in pairs(n) {
            for k in 0..n {
                if self.points(i, j) && self.points(k, j) && k != i && !self.skeleton.joins(i, k) {
                    for m in 0..n {
                        if self.open(m, i) && self.open(m, j) && self.open(m, k) {
                            self.add(m, j);
                        }
                    }
                }
            }
        }
        for (i, j) in pairs(n) {
            for k in 0..n {
                if self.points(j, i) && self.open(k, j) && self.open(k, i) {
                    for m in 0..n {
                        if self.open(m, i) && self.open(m, k) {
                            self.add(i, m);
                            self.add(k, m);
                        }
                    }
                }
            }
        }
        self.added.len() > before
    }

    /// Rule 5; tells whether there was an edge to direct.
    fn choose(&mut self) -> bool {
        let first = self.skeleton.edges().into_iter().find(|&(a, b)| self.open(a, b));
        first.inspect(|&(a, b)| self.add(a, b)).is_some()
    }
}

/// All pairs of different nodes, in both orders.
fn pairs(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(move |i| (0..n).map(move |j| (i, j))).filter(|(i, j)| i != j)
}
