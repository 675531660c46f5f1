//! Hill climbing: adds, deletes or turns the arrow that raises the score most, and looks beyond tops with a list of taboos.
//!
//! Scores are sums over nodes, so a move changes one or two of them. For every pair (u, v) it is known what making u a parent
//! of v, or no longer one, would add to v's score; a move renews this for the nodes whose parents it changed. On a top the
//! least bad move is made, pairs that were moved lately may not be moved back, and the search ends after some moves without a
//! new best. It may then start again from the best network, with some random moves.
//!
//! Paper:      none of its own; the usual search, with tabu moves after Glover 1989
//! Promises:   no directed cycle; the best network that it met. Equal moves: the lowest child, then the lowest parent
//! Cost:       one count for each node with one more or one less parent, 2 n a move for n nodes, on all cores; each family is
//!             scored once
//! Checked by: tests/it/network.rs: sums of moves against the whole score, rows drawn from known networks

use std::collections::VecDeque;

use rand::RngExt;

use super::score::{Score, Scores};
use super::{Coded, Network};
use crate::error::Result;
use crate::generate::stream;

/// How to climb.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// What is to be high.
    pub score: Score,
    /// The greatest number of parents of a node, if there is one.
    pub max_parents: Option<usize>,
    /// For how many moves a pair that was moved stays as it is, unless moving it gives a new best.
    pub tabu: usize,
    /// How many moves in a row may go without a new best. With 0 the search ends on the first top.
    pub patience: usize,
    /// How often to start again.
    pub restarts: usize,
    /// Random moves before starting again.
    pub shakes: usize,
    /// For the random moves.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options { score: Score::Mdl, max_parents: None, tabu: 10, patience: 15, restarts: 0, shakes: 8, seed: 0 }
    }
}

/// Where climbing ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Climbed {
    /// The best network.
    pub network: Network,
    /// Its score.
    pub score: f64,
    /// All moves that were made.
    pub moves: Vec<Move>,
}

/// A change of one arrow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Move {
    /// What happened to the arrow.
    pub change: Change,
    /// Where it comes from, before the move.
    pub parent: usize,
    /// Where it goes to, before the move.
    pub child: usize,
    /// What it did to the score.
    pub gain: f64,
}

/// What can happen to an arrow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// There was none.
    Add,
    /// There is none any more.
    Delete,
    /// It goes the other way.
    Turn,
}

/// Differences of scores below this are rounding.
const TIE: f64 = 1e-6;

/// Finds a network with a high score.
pub fn learn(data: &Coded, options: &Options) -> Result<Climbed> {
    let mut scores = Scores::new(data, options.score)?;
    let mut climber = Climber::new(&mut scores, Network::empty(data.n_columns()), options);
    climber.climb();
    for restart in 0..options.restarts {
        climber.shake(restart as u64);
        climber.climb();
    }
    let Climber { best: (score, network), moves, .. } = climber;
    Ok(Climbed { network, score, moves })
}

struct Climber<'c, 'd> {
    scores: &'c mut Scores<'d>,
    options: &'c Options,
    network: Network,
    /// The score of each node with its parents.
    of_node: Vec<f64>,
    /// By child, then parent: what it adds to the child's score if that arrow comes or goes; minus infinity if it must not.
    gains: Vec<Vec<f64>>,
    best: (f64, Network),
    moves: Vec<Move>,
}

impl<'c, 'd> Climber<'c, 'd> {
    fn new(scores: &'c mut Scores<'d>, network: Network, options: &'c Options) -> Self {
        let n = network.n_nodes();
        let best = (f64::NEG_INFINITY, network.clone());
        let (of_node, gains) = (vec![0.0; n], vec![Vec::new(); n]);
        let mut climber = Climber { scores, options, network, of_node, gains, best, moves: Vec::new() };
        (0..n).for_each(|node| climber.renew(node));
        climber.best.0 = climber.total();
        climber
    }

    fn total(&self) -> f64 {
        self.of_node.iter().sum()
    }

    /// Scores a node's parents, with one more and with one less.
    fn renew(&mut self, child: usize) {
        let parents = self.network.parents(child);
        let is_full = self.options.max_parents.is_some_and(|most| parents.len() >= most);
        let mut sets = vec![parents.to_vec()];
        let mut others = Vec::new();
        for other in (0..self.network.n_nodes()).filter(|&other| other != child) {
            let mut set = parents.to_vec();
            match parents.binary_search(&other) {
                Ok(place) => drop(set.remove(place)),
                Err(_) if is_full => continue,
                Err(place) => set.insert(place, other),
            }
            sets.push(set);
            others.push(other);
        }
        let values = self.scores.families(child, &sets);
        self.of_node[child] = values[0];
        self.gains[child] = vec![f64::NEG_INFINITY; self.network.n_nodes()];
        others.iter().zip(&values[1..]).for_each(|(&other, value)| self.gains[child][other] = value - values[0]);
    }

    /// Moves until there is no new best for a while; ends on the best.
    fn climb(&mut self) {
        let mut lately: VecDeque<(usize, usize)> = VecDeque::new();
        let mut top = (self.total(), self.network.clone());
        let mut without = 0;
        while let Some(next) = self.next_move(&lately, top.0) {
            if next.gain <= TIE && without >= self.options.patience {
                break;
            }
            self.make(next);
            lately.push_back((next.parent.min(next.child), next.parent.max(next.child)));
            if lately.len() > self.options.tabu {
                lately.pop_front();
            }
            let total = self.total();
            without = if total > top.0 + TIE { 0 } else { without + 1 };
            if without == 0 {
                top = (total, self.network.clone());
            }
            if without > self.options.patience {
                break;
            }
        }
        if top.0 > self.best.0 + TIE {
            self.best = top;
        }
    }

    /// The move that gains most, of those that close no cycle and are not taboo.
    fn next_move(&self, lately: &VecDeque<(usize, usize)>, top: f64) -> Option<Move> {
        let n = self.network.n_nodes();
        let (total, above) = (self.total(), Above::of(&self.network));
        let mut best: Option<Move> = None;
        for child in 0..n {
            for parent in (0..n).filter(|&parent| parent != child) {
                let has = self.network.parents(child).binary_search(&parent).is_ok();
                let gain = self.gains[child][parent];
                let is_taboo = lately.contains(&(parent.min(child), parent.max(child)));
                let turned = gain + self.gains[parent][child];
                let offers = match has {
                    true => [(Change::Delete, gain), (Change::Turn, turned)],
                    false => [(Change::Add, gain), (Change::Turn, f64::NEG_INFINITY)],
                };
                for (change, gain) in offers {
                    let is_better = gain > best.as_ref().map_or(f64::NEG_INFINITY, |best| best.gain + TIE);
                    if is_better
                        && (!is_taboo || total + gain > top + TIE)
                        && above.allows(&self.network, change, parent, child)
                    {
                        best = Some(Move { change, parent, child, gain });
                    }
                }
            }
        }
        best
    }

    fn make(&mut self, next: Move) {
        let Move { change, parent, child, .. } = next;
        match change {
            Change::Add => self.network.parents[child].push(parent),
            Change::Delete => self.network.parents[child].retain(|&other| other != parent),
            Change::Turn => {
                self.network.parents[child].retain(|&other| other != parent);
                self.network.parents[parent].push(child);
                self.network.parents[parent].sort_unstable();
                self.renew(parent);
            }
        }
        self.network.parents[child].sort_unstable();
        self.renew(child);
        self.moves.push(next);
    }

    /// Goes back to the best network, and away from it by random moves.
    fn shake(&mut self, restart: u64) {
        let n = self.network.n_nodes();
        if n < 2 {
            return;
        }
        let changed: Vec<usize> =
            (0..n).filter(|&node| self.network.parents(node) != self.best.1.parents(node)).collect();
        self.network = self.best.1.clone();
        changed.into_iter().for_each(|node| self.renew(node));
        let mut rng = stream(self.options.seed, "network/shake", restart);
        for _ in 0..self.options.shakes {
            let (parent, child) = (rng.random_range(0..n), rng.random_range(0..n));
            let turns = rng.random_bool(0.5);
            if parent == child {
                continue;
            }
            let (change, gain) = match (self.network.parents(child).binary_search(&parent), turns) {
                (Err(_), _) => (Change::Add, self.gains[child][parent]),
                (Ok(_), false) => (Change::Delete, self.gains[child][parent]),
                (Ok(_), true) => (Change::Turn, self.gains[child][parent] + self.gains[parent][child]),
            };
            if gain.is_finite() && Above::of(&self.network).allows(&self.network, change, parent, child) {
                self.make(Move { change, parent, child, gain });
            }
        }
    }
}

/// For each two nodes whether arrows lead from the first to the second.
struct Above {
    n: usize,
    leads: Vec<bool>,
}

impl Above {
    fn of(network: &Network) -> Self {
        let n = network.n_nodes();
        let mut leads = vec![false; n * n];
        for node in network.order() {
            for &parent in network.parents(node) {
                (0..n).for_each(|upper| leads[upper * n + node] |= leads[upper * n + parent]);
                leads[parent * n + node] = true;
            }
        }
        Above { n, leads }
    }

    /// Whether no cycle comes of it.
    fn allows(&self, network: &Network, change: Change, parent: usize, child: usize) -> bool {
        match change {
            Change::Delete => true,
            Change::Add => !self.leads[child * self.n + parent],
            // There must be no other way than the arrow itself.
            Change::Turn => !network.parents(child).iter().any(|&other| self.leads[parent * self.n + other]),
        }
    }
}
