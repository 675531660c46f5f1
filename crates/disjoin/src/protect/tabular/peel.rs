//! Rows peeled off level by level: records of which enough cannot be told apart at a low level of generalisation get a class there.
//!
//! Paper:      ours; full-domain recoding in small steps is ARX's local recoding (Prasser, Kohlmayer, Kuhn 2016), with one level
//!             for all rows of a step. Here every level of the lattice is a step, in order of what it loses
//! Promises:   every class satisfies the criteria as they are for all rows; cells are the smallest for the class, never above
//!             its level
//! Departs:    classes are told by a hash of their values: rows that collide share a class, which loses more and harms nobody
//! Cost:       O(d rest) a level visited, `rest` being the rows without a class so far; the number of levels is bounded
//! Checked by: `tests/it/tabular.rs`

use std::collections::{BinaryHeap, HashMap, HashSet};
use std::hash::BuildHasher;

use hashbrown::HashTable;
use rayon::prelude::*;

use super::Problem;
use super::extent::Shape;
use super::trim::place;
use crate::data::Partition;
use crate::data::partition::at_level;
use crate::error::Result;

/// So many levels are visited at most, and on average so many by a row that waits; then the way leads straight up.
const MOST_LEVELS: usize = 5_000;
const MOST_WAITS: usize = 64;

/// Classes by levels, each then cut further by `cut`; rows without a class join the one that grows least.
pub(super) fn partition(problem: &Problem<'_>, cut: impl Fn(&mut [u32]) -> Vec<Vec<u32>> + Sync) -> Result<Partition> {
    let ladders: Vec<Ladder> = (0..problem.quasi.len()).map(|column| Ladder::new(problem, column)).collect();
    let mut rest = problem.rows();
    let mut peeled = Vec::new();
    let (mut visited, mut visits) = (0, 0);
    let mut levels = Levels::new(&ladders);
    let mut here = levels.next();
    while let Some(at) = here {
        problem.observer.check();
        visited += 1;
        visits += rest.len();
        rest = peel(problem, &ladders, &at, rest, &mut peeled);
        if rest.len() < problem.judge.k().max(1) as usize {
            break;
        }
        here = match visited < MOST_LEVELS && visits < MOST_WAITS * problem.table.n_rows() {
            true => levels.next(),
            false => straight_up(&ladders, at),
        };
    }
    let mut classes: Vec<Vec<u32>> = peeled.par_iter_mut().flat_map_iter(|rows| cut(rows)).collect();
    let removed = place(problem, &problem.judge, &mut classes, rest, f64::INFINITY);
    let mut partition = Partition::default();
    classes.iter().for_each(|rows| partition.push(rows));
    partition.removed = removed;
    Ok(partition)
}

/// Makes classes of the rows that have the same cells at these levels, where they satisfy the criteria; returns the others.
fn peel(
    problem: &Problem<'_>,
    ladders: &[Ladder],
    levels: &[usize],
    rows: Vec<u32>,
    classes: &mut Vec<Vec<u32>>,
) -> Vec<u32> {
    let hasher = foldhash::fast::FixedState::with_seed(0);
    let key = |&row: &u32| {
        let values = ladders.iter().zip(levels).zip(&problem.quasi);
        let codes =
            values.map(|((ladder, &level), column)| ladder.steps[level].class[column.codes[row as usize] as usize]);
        codes.fold(0_u64, |key, code| hasher.hash_one((key, code)))
    };
    let keys: Vec<u64> = rows.par_iter().with_min_len(1024).map(key).collect();
    // Numbered by first appearance: the order of classes does not depend on hashes.
    let mut index: HashTable<(u64, u32)> = HashTable::with_capacity(rows.len() / 2);
    let mut sizes: Vec<u32> = Vec::new();
    let mut group_of = Vec::with_capacity(rows.len());
    for &key in &keys {
        let (_, group) = *index
            .entry(key, |(other, _)| *other == key, |(key, _)| *key)
            .or_insert_with(|| {
                sizes.push(0);
                (key, sizes.len() as u32 - 1)
            })
            .get();
        sizes[group as usize] += 1;
        group_of.push(group);
    }
    let k = problem.judge.k().max(1);
    let mut members: Vec<Vec<u32>> =
        sizes.iter().map(|&size| if size < k { Vec::new() } else { Vec::with_capacity(size as usize) }).collect();
    let mut left = Vec::new();
    for (&row, &group) in rows.iter().zip(&group_of) {
        match sizes[group as usize] < k {
            true => left.push(row),
            false => members[group as usize].push(row),
        }
    }
    let holds: Vec<bool> =
        members.par_iter().with_min_len(64).map(|rows| !rows.is_empty() && problem.holds(rows)).collect();
    for (rows, holds) in members.into_iter().zip(holds) {
        if holds { classes.push(rows) } else { left.extend(rows) }
    }
    left.sort_unstable();
    left
}

/// One column a level higher, the one that loses least by it; none at the top.
fn straight_up(ladders: &[Ladder], mut levels: Vec<usize>) -> Option<Vec<usize>> {
    let added = |&column: &usize| {
        let (steps, level) = (&ladders[column].steps, levels[column]);
        steps[level + 1].loss - steps[level].loss
    };
    let can_rise = (0..levels.len()).filter(|&column| levels[column] + 1 < ladders[column].steps.len());
    let column = can_rise.min_by(|a, b| added(a).total_cmp(&added(b)))?;
    levels[column] += 1;
    Some(levels)
}

/// The levels of one column, from its values up to anything.
struct Ladder {
    steps: Vec<Step>,
}

struct Step {
    /// For each code the number of what it is generalised to.
    class: Vec<u32>,
    /// What that loses on average.
    loss: f64,
}

impl Ladder {
    fn new(problem: &Problem<'_>, column: usize) -> Self {
        let (shape, column) = (&problem.shapes[column], problem.quasi[column]);
        let height = match shape {
            Shape::Tree { hierarchy, .. } => {
                (0..hierarchy.n_terms() as u32).map(|term| hierarchy.depth(term)).max().unwrap_or(0)
            }
            _ => 0,
        };
        let mut counts = vec![0_u32; column.domain.n_codes()];
        column.codes.iter().for_each(|&code| counts[code as usize] += 1);
        let mut steps: Vec<Step> = Vec::new();
        for level in 0..=height + 1 {
            let mut seen = HashMap::new();
            let (mut class, mut loss) = (Vec::with_capacity(counts.len()), 0.0);
            for (code, &count) in counts.iter().enumerate() {
                let cell = at_level(column, code as u32, level);
                loss += f64::from(count) * cell.loss(&column.domain);
                let next = seen.len() as u32;
                class.push(*seen.entry(cell).or_insert(next));
            }
            loss /= column.codes.len().max(1) as f64;
            // A level that joins nothing is none.
            if steps.last().is_none_or(|last| last.class != class) {
                steps.push(Step { class, loss });
            }
        }
        Ladder { steps }
    }
}

/// All combinations of levels, in order of what they lose on average.
struct Levels<'l> {
    ladders: &'l [Ladder],
    heap: BinaryHeap<Candidate>,
    seen: HashSet<Vec<usize>>,
}

#[derive(PartialEq)]
struct Candidate {
    loss: f64,
    levels: Vec<usize>,
}

impl Eq for Candidate {}

impl Ord for Candidate {
    /// The least loss comes first in a heap that gives the greatest.
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        other.loss.total_cmp(&self.loss).then_with(|| other.levels.cmp(&self.levels))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<'l> Levels<'l> {
    fn new(ladders: &'l [Ladder]) -> Self {
        let mut levels = Levels { ladders, heap: BinaryHeap::new(), seen: HashSet::new() };
        levels.offer(vec![0; ladders.len()]);
        levels
    }

    fn offer(&mut self, levels: Vec<usize>) {
        if self.seen.insert(levels.clone()) {
            let loss = levels.iter().zip(self.ladders).map(|(&level, ladder)| ladder.steps[level].loss).sum();
            self.heap.push(Candidate { loss, levels });
        }
    }
}

impl Iterator for Levels<'_> {
    type Item = Vec<usize>;

    fn next(&mut self) -> Option<Vec<usize>> {
        let Candidate { levels, .. } = self.heap.pop()?;
        for column in 0..levels.len() {
            if levels[column] + 1 < self.ladders[column].steps.len() {
                let mut higher = levels.clone();
                higher[column] += 1;
                self.offer(higher);
            }
        }
        Some(levels)
    }
}
