//! k-anonymity first: classes of near rows, changed until the other criteria hold.
//!
//! In every cluster of rows of which nearly the same is believed, again and again: the row furthest from the centre, with the
//! k - 1 nearest to it. Where the criteria fail, the member that does most harm is swapped for the nearest row outside with
//! which they fail by less; if none helps, a row is added, up to 2k.
//!
//! Paper:      amiri2016, section 1 (k-anonymity-primacy; the details are ours)
//! Promises:   every class holds, with overall shares those of the rows drawn, and beliefs about its rows agree
//! Departs:    clusters are first thinned out as beta-likeness-primacy does: in one that is far from the overall shares most classes
//!             fail, and what is removed moves these shares for all others. By how much criteria fail is summed up over values and criteria: the greatest alone does not move where two values
//!             are as frequent. Swaps look at the nearest 512 rows, or 16k
//! Cost:       O(n^2 / k) distances in each cluster, a column at a time
//! Checked by: tests/it/background.rs

use std::collections::HashMap;

use rayon::prelude::*;

use super::Problem;
use super::beta_primacy::{self, Drawn};
use crate::data::Partition;
use crate::error::Result;
use crate::knowledge::background::Metric;
use crate::release::privacy_models::{Criterion, Histogram};

/// Rows that swaps look at, at least; and how many times k.
const NEAREST: usize = 512;
const NEAREST_TIMES_K: usize = 16;

/// A class may grow to so many times k.
const STRETCH: usize = 2;

/// Criteria that fail by less than this less fail by as much.
const PROGRESS: f64 = 1e-9;

pub(super) fn partition(problem: &Problem<'_>) -> Result<Partition> {
    let Drawn { problem, parts, leftover } = beta_primacy::draw(problem)?;
    let found = parts.par_iter().map(|rows| Cluster::new(&problem, rows).classes()).collect();
    Ok(beta_primacy::gathered(&problem, found, leftover))
}

/// For each row the number of its combination of all that criteria count, by first appearance.
fn kinds(problem: &Problem<'_>, rows: &[u32]) -> Vec<u32> {
    let mut known: HashMap<(Vec<u32>, bool), u32> = HashMap::new();
    let kind = |&row: &u32| {
        let values = problem.judge.columns().iter().map(|column| column.codes[row as usize]).collect();
        let has_set = problem.table.sets.as_ref().is_some_and(|sets| sets.of_row[row as usize].is_some());
        let next = known.len() as u32;
        *known.entry((values, has_set)).or_insert(next)
    };
    rows.iter().map(kind).collect()
}

/// By how much a class fails, over all values and criteria; 0 if it holds but for its size.
fn failure(problem: &Problem<'_>, class: &Histogram) -> f64 {
    let judge = &problem.judge;
    let mut sum = 0.0;
    if let Some(caps) = judge.caps() {
        let size = f64::from(class.size.max(1));
        for (&count, &cap) in class.counts.iter().zip(caps).filter(|(count, _)| **count > 0) {
            // A share of the least cap there is instead of infinity: sums stay comparable.
            sum += (f64::from(count) / size / cap.max(1e-9) - 1.0).max(0.0);
        }
    }
    if judge.has_others() {
        let is_other =
            |criterion: &Criterion| !matches!(criterion, Criterion::KAnonymity { .. } | Criterion::Likeness { .. });
        let readings = judge.criteria().iter().zip(judge.readings(class)).filter(|(criterion, _)| is_other(criterion));
        for reading in readings.filter_map(|(_, reading)| reading).filter(|reading| !reading.holds) {
            let excess = if reading.value.is_finite() { reading.excess() / reading.limit.abs().max(1e-9) } else { 1e3 };
            sum += excess.max(PROGRESS);
        }
    }
    if (1..judge.k()).contains(&class.with_set) {
        let part = f64::from(class.with_set) / f64::from(judge.k());
        sum += part.min(1.0 - part);
    }
    sum
}

/// The rows of a cluster that are in no class yet, a column at a time.
///
/// The distance of two rows is the sum over columns of the distance of their values. Numbers are their places from 0 to 1 and
/// words their codes: both are min(|x - y|, 1) apart. A missing number lies far outside.
struct Cluster<'a> {
    problem: &'a Problem<'a>,
    metrics: Vec<Metric<'a>>,
    rows: Vec<u32>,
    columns: Vec<Vec<f32>>,
    /// For each column what its centre comes from.
    centres: Vec<Centre>,
    /// Where each row is, by its place in the cluster at first.
    at: Vec<u32>,
    place: Vec<u32>,
    /// For each row, by its id, which sensitive values it has; and how many such kinds there are.
    kinds: Vec<u32>,
    n_kinds: usize,
}

/// The place of a missing number.
const OUTSIDE: f32 = 10.0;

enum Centre {
    /// The sum of numbers that are there, and how many that are.
    Mean(f64, u32),
    /// How many rows have each word.
    Mode(Vec<u32>),
}

impl<'a> Cluster<'a> {
    fn new(problem: &'a Problem<'a>, rows: &[u32]) -> Self {
        let metrics: Vec<Metric<'a>> = problem.quasi.iter().map(|column| Metric::new(&column.domain)).collect();
        let (mut columns, mut centres) = (Vec::new(), Vec::new());
        for (column, metric) in problem.quasi.iter().zip(&metrics) {
            let codes = rows.iter().map(|&row| column.codes[row as usize]);
            match metric {
                Metric::Numbers(places) => {
                    let place = |code: u32| places.get(code as usize).map_or(OUTSIDE, |&place| place as f32);
                    let places: Vec<f32> = codes.map(place).collect();
                    let mut centre = Centre::Mean(0.0, 0);
                    places.iter().for_each(|&place| centre.change(place, true));
                    columns.push(places);
                    centres.push(centre);
                }
                Metric::Words | Metric::Tree(..) => {
                    let codes: Vec<f32> = codes.map(|code| code as f32).collect();
                    let mut centre = Centre::Mode(vec![0; column.domain.n_codes()]);
                    codes.iter().for_each(|&code| centre.change(code, true));
                    columns.push(codes);
                    centres.push(centre);
                }
            }
        }
        let at: Vec<u32> = (0..rows.len() as u32).collect();
        let kinds = kinds(problem, rows);
        let n_kinds = kinds.iter().max().map_or(0, |&last| last as usize + 1);
        Cluster { problem, metrics, rows: rows.to_vec(), columns, centres, place: at.clone(), at, kinds, n_kinds }
    }

    /// The classes of the cluster, and the rows that were set aside.
    fn classes(mut self) -> (Vec<Vec<u32>>, Vec<u32>) {
        let k = self.problem.judge.k() as usize;
        let (mut classes, mut aside) = (Vec::new(), Vec::new());
        let (mut distances, mut keys) = (Vec::new(), Vec::new());
        while self.rows.len() >= k {
            self.problem.observer.check();
            let centre: Vec<f32> = self.centres.iter().map(Centre::value).collect();
            self.distances(&centre, &mut distances);
            let Some(seed) = self.furthest(&distances) else { break };
            let values: Vec<f32> = self.columns.iter().map(|column| column[seed]).collect();
            self.distances(&values, &mut distances);
            // The seed comes first, whatever equals it.
            distances[seed] = -1.0;
            self.nearest(&distances, (k * NEAREST_TIMES_K).max(NEAREST), &mut keys);
            match self.class(&keys) {
                Some(members) => {
                    classes.push(members.iter().map(|&id| self.row(id)).collect());
                    members.iter().for_each(|&id| self.remove(id));
                }
                None => {
                    let id = self.place[seed];
                    aside.push(self.row(id));
                    self.remove(id);
                }
            }
        }
        aside.extend(&self.rows);
        (classes, aside)
    }

    /// The distance of every row from some values.
    fn distances(&self, values: &[f32], distances: &mut Vec<f32>) {
        distances.clear();
        distances.resize(self.rows.len(), 0.0);
        for ((column, metric), &value) in self.columns.iter().zip(&self.metrics).zip(values) {
            match metric {
                Metric::Numbers(_) | Metric::Words => {
                    for (distance, other) in distances.iter_mut().zip(column) {
                        *distance += (other - value).abs().min(1.0);
                    }
                }
                Metric::Tree(hierarchy, _) => {
                    let codes = 0..=hierarchy.n_terms() as u32;
                    let from: Vec<f32> = codes.map(|code| metric.between(value as u32, code) as f32).collect();
                    for (distance, &other) in distances.iter_mut().zip(column) {
                        *distance += from[other as usize];
                    }
                }
            }
        }
    }

    /// The furthest row; of equally far ones the first in the table.
    fn furthest(&self, distances: &[f32]) -> Option<usize> {
        let most = distances.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let furthest = (0..self.rows.len()).filter(|&at| distances[at] == most);
        furthest.min_by_key(|&at| self.rows[at])
    }

    /// The ids of the nearest rows, nearest first; of equally near ones the first in the table.
    fn nearest(&self, distances: &[f32], most: usize, keys: &mut Vec<u64>) {
        keys.clear();
        // Bits of numbers from 0 on are ordered as the numbers are. Ids are ordered as rows are.
        let key = |(&distance, &id): (&f32, &u32)| match distance < 0.0 {
            true => u64::from(id),
            false => (u64::from(distance.to_bits()) + 1) << 32 | u64::from(id),
        };
        keys.extend(distances.iter().zip(&self.place).map(key));
        if keys.len() > most {
            keys.select_nth_unstable(most);
            keys.truncate(most);
        }
        keys.sort_unstable();
        keys.iter_mut().for_each(|key| *key &= u64::from(u32::MAX));
    }

    fn row(&self, id: u32) -> u32 {
        self.rows[self.at[id as usize] as usize]
    }

    fn remove(&mut self, id: u32) {
        let at = self.at[id as usize] as usize;
        for (column, centre) in self.columns.iter_mut().zip(&mut self.centres) {
            centre.change(column.swap_remove(at), false);
        }
        self.rows.swap_remove(at);
        self.place.swap_remove(at);
        if let Some(&moved) = self.place.get(at) {
            self.at[moved as usize] = at as u32;
        }
    }

    /// A class of the first of these, or with others where criteria ask for that; none if no step makes them hold.
    fn class(&self, nearest: &[u64]) -> Option<Vec<u32>> {
        let (judge, k) = (&self.problem.judge, self.problem.judge.k() as usize);
        let ids: Vec<u32> = nearest.iter().map(|&key| key as u32).collect();
        let (members, outside) = ids.split_at_checked(k)?;
        let (mut members, mut outside) = (members.to_vec(), outside.to_vec());
        if judge.is_size_only() {
            return Some(members);
        }
        let mut counts = judge.of(members.iter().map(|&id| self.row(id)));
        loop {
            if judge.holds(&counts) {
                return Some(members);
            }
            let fails = failure(self.problem, &counts);
            let is_better = self.swap(&mut members, &mut outside, &mut counts, fails)
                || (members.len() < STRETCH * k && self.grow(&mut members, &mut outside, &mut counts, fails));
            if !is_better {
                return None;
            }
        }
    }

    /// The member without which the rest fails least, the furthest of those, is swapped for the nearest with which it fails
    /// by less than before. The seed stays.
    fn swap(&self, members: &mut [u32], outside: &mut [u32], counts: &mut Histogram, fails: f64) -> bool {
        let judge = &self.problem.judge;
        let mut worst: Option<(f64, usize)> = None;
        for (at, &id) in members.iter().enumerate().skip(1) {
            judge.remove(counts, self.row(id));
            let without = failure(self.problem, counts);
            judge.add(counts, self.row(id));
            if worst.is_none_or(|(least, _)| without <= least) {
                worst = Some((without, at));
            }
        }
        let Some((_, at)) = worst else { return false };
        judge.remove(counts, self.row(members[at]));
        let mut tried = vec![false; self.n_kinds];
        for other in outside.iter_mut() {
            if std::mem::replace(&mut tried[self.kinds[*other as usize] as usize], true) {
                continue;
            }
            judge.add(counts, self.row(*other));
            if failure(self.problem, counts) < fails - PROGRESS {
                std::mem::swap(&mut members[at], other);
                return true;
            }
            judge.remove(counts, self.row(*other));
        }
        judge.add(counts, self.row(members[at]));
        false
    }

    /// Adds the nearest row with which the class fails by less.
    fn grow(&self, members: &mut Vec<u32>, outside: &mut Vec<u32>, counts: &mut Histogram, fails: f64) -> bool {
        let judge = &self.problem.judge;
        let mut tried = vec![false; self.n_kinds];
        for at in 0..outside.len() {
            if std::mem::replace(&mut tried[self.kinds[outside[at] as usize] as usize], true) {
                continue;
            }
            judge.add(counts, self.row(outside[at]));
            if failure(self.problem, counts) < fails - PROGRESS {
                members.push(outside.remove(at));
                return true;
            }
            judge.remove(counts, self.row(outside[at]));
        }
        false
    }
}

impl Centre {
    fn change(&mut self, value: f32, is_more: bool) {
        match self {
            Centre::Mean(_, _) if value == OUTSIDE => {}
            Centre::Mean(sum, n) if is_more => (*sum, *n) = (*sum + f64::from(value), *n + 1),
            Centre::Mean(sum, n) => (*sum, *n) = (*sum - f64::from(value), n.saturating_sub(1)),
            Centre::Mode(counts) if is_more => counts[value as usize] += 1,
            Centre::Mode(counts) => counts[value as usize] -= 1,
        }
    }

    /// The mean of the numbers that are there, or the most frequent word, the first of those.
    fn value(&self) -> f32 {
        match self {
            Centre::Mean(_, 0) => OUTSIDE,
            Centre::Mean(sum, n) => (sum / f64::from(*n)) as f32,
            Centre::Mode(counts) => {
                let most = counts.iter().max().copied().unwrap_or(0);
                counts.iter().position(|&count| count == most).unwrap_or(0) as f32
            }
        }
    }
}
