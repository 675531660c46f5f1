//! How far apart rows are by their quasi-identifiers, the centre of a group, and rows about which beliefs agree.
//!
//! Paper:      sdcMicro's MDAV for numbers: (x - y)^2 / Var, a missing one at range^2 / Var from all others; for words 0 or 1 or,
//!             with a hierarchy, the height of the lowest label above both over the height of the whole tree
//! Promises:   a row is at distance 0 from itself; results do not depend on the number of threads
//! Departs:    two missing values are the same value; a column without variance counts 1 where one of two values is missing
//! Cost:       distances from one place to many rows: one look-up a row and column, on all cores
//! Checked by: tests in this file, against the formulas pair by pair
//!
//! All kinds of columns become one: the distances from a place to every code are written down once (a profile), and the
//! distance to a row is the sum of what stands there under its codes.

use rayon::prelude::*;

use super::Problem;
use super::agglomerate::is_within;
use crate::data::table::{Column, Domain};
use crate::data::{Hierarchy, NodeId};
use crate::knowledge::background::jensen_shannon;
use crate::observer::Observer;

/// Rows whose distances a thread computes at a time.
const CHUNK: usize = 4096;

/// The quasi-identifiers of all rows, ready to be compared.
pub(super) struct Space<'a> {
    axes: Vec<Axis<'a>>,
    /// Where in a profile each column begins, and the end.
    offsets: Vec<usize>,
    /// For each row and column the place of its code in a profile, row by row.
    codes: Vec<u32>,
    observer: &'a dyn Observer,
}

/// A row, or the centre of some: one place a column.
pub(super) type Point = Vec<Place>;

/// Where a point is in a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Place {
    /// A number, as a share of the range.
    Number(f64),
    /// A word, or nothing.
    Code(u32),
}

enum Axis<'a> {
    Numbers {
        /// Each value as a share of the range.
        shares: Vec<f64>,
        /// 1 / Var of the shares; 0 if all are the same.
        weight: f64,
    },
    Words {
        n_codes: usize,
    },
    Tree {
        hierarchy: &'a Hierarchy,
        /// For each node its height over that of the whole tree.
        heights: Vec<f64>,
    },
}

impl<'a> Space<'a> {
    /// The quasi-identifiers of a table's rows.
    pub(super) fn new(problem: &Problem<'a>) -> Self {
        let axes: Vec<Axis<'a>> = problem.quasi.iter().map(|column| Axis::new(column)).collect();
        let mut offsets = vec![0];
        axes.iter().for_each(|axis| offsets.push(offsets[offsets.len() - 1] + axis.n_codes()));
        let mut codes = vec![0; problem.table.n_rows() * axes.len()];
        for (i, (column, &offset)) in problem.quasi.iter().zip(&offsets).enumerate() {
            let places = codes.iter_mut().skip(i).step_by(axes.len());
            places.zip(&column.codes).for_each(|(place, &code)| *place = offset as u32 + code);
        }
        Space { axes, offsets, codes, observer: problem.observer }
    }

    fn places(&self, row: u32) -> &[u32] {
        &self.codes[row as usize * self.axes.len()..][..self.axes.len()]
    }

    /// A row as a point.
    pub(super) fn point(&self, row: u32) -> Point {
        let place = |(axis, (&code, &offset)): (&Axis<'_>, (&u32, &usize))| axis.place(code - offset as u32);
        self.axes.iter().zip(self.places(row).iter().zip(&self.offsets)).map(place).collect()
    }

    /// A corner: the least number and the first word of each column.
    pub(super) fn origin(&self) -> Point {
        self.axes.iter().map(|axis| axis.place(0)).collect()
    }

    /// How often some rows have each code, laid out as a profile.
    pub(super) fn tally(&self, rows: &[u32]) -> Vec<u32> {
        let mut tally = vec![0; self.offsets[self.axes.len()]];
        rows.iter().flat_map(|&row| self.places(row)).for_each(|&place| tally[place as usize] += 1);
        tally
    }

    /// Takes rows out of a tally.
    pub(super) fn untally(&self, tally: &mut [u32], rows: &[u32]) {
        rows.iter().flat_map(|&row| self.places(row)).for_each(|&place| tally[place as usize] -= 1);
    }

    /// The centre of the rows in a tally: the mean of numbers, the most frequent word.
    pub(super) fn centre(&self, tally: &[u32]) -> Point {
        self.axes.iter().zip(self.offsets.windows(2)).map(|(axis, at)| axis.centre(&tally[at[0]..at[1]])).collect()
    }

    /// The distances from a point to all codes of all columns, one column after the other.
    pub(super) fn profile(&self, point: &[Place]) -> Vec<f64> {
        let mut profile = vec![0.0; self.offsets[self.axes.len()]];
        for ((axis, at), &place) in self.axes.iter().zip(self.offsets.windows(2)).zip(point) {
            axis.fill(place, &mut profile[at[0]..at[1]]);
        }
        profile
    }

    /// The distances from a point to rows, in their order.
    pub(super) fn distances(&self, point: &[Place], rows: &[u32], distances: &mut Vec<f64>) {
        self.observer.check();
        let profile = self.profile(point);
        let distance = |&row: &u32| -> f64 { self.places(row).iter().map(|&place| profile[place as usize]).sum() };
        distances.resize(rows.len(), 0.0);
        distances.par_chunks_mut(CHUNK).zip(rows.par_chunks(CHUNK)).for_each(|(distances, rows)| {
            distances.iter_mut().zip(rows).for_each(|(to, row)| *to = distance(row));
        });
    }

    /// The distance of a point to another one whose profile is given.
    pub(super) fn between(&self, one: &[Place], profile: &[f64], other: &[Place]) -> f64 {
        let column = |(i, axis): (usize, &Axis<'_>)| match (axis, one[i], other[i]) {
            (Axis::Numbers { weight, .. }, Place::Number(x), Place::Number(y)) => (x - y) * (x - y) * weight,
            (Axis::Numbers { .. }, Place::Code(_), Place::Code(_)) => 0.0,
            (Axis::Numbers { .. }, ..) => axis.gap(),
            (_, _, Place::Code(code)) => profile[self.offsets[i] + code as usize],
            (_, _, Place::Number(_)) => 0.0,
        };
        self.axes.iter().enumerate().map(column).sum()
    }
}

impl<'a> Axis<'a> {
    fn new(column: &'a Column) -> Self {
        let domain: &Domain = &column.domain;
        match (domain.numbers(), domain.hierarchy()) {
            (Some(_), _) => {
                let shares: Vec<f64> = (0..domain.missing()).map(|code| domain.span(0, code)).collect();
                let values = || column.codes.iter().filter_map(|&code| shares.get(code as usize));
                let n = values().count().max(1) as f64;
                let mean = values().sum::<f64>() / n;
                let variance = values().map(|share| (share - mean) * (share - mean)).sum::<f64>() / n;
                Axis::Numbers { weight: if variance > 0.0 { 1.0 / variance } else { 0.0 }, shares }
            }
            (None, None) => Axis::Words { n_codes: domain.n_codes() },
            (None, Some(hierarchy)) => Axis::Tree { hierarchy, heights: heights(hierarchy) },
        }
    }

    fn n_codes(&self) -> usize {
        match self {
            Axis::Numbers { shares, .. } => shares.len() + 1,
            Axis::Words { n_codes } => *n_codes,
            Axis::Tree { hierarchy, .. } => hierarchy.n_terms() + 1,
        }
    }

    /// The distance of a missing value from all others.
    fn gap(&self) -> f64 {
        match self {
            // The range of shares is 1.
            Axis::Numbers { weight, .. } if *weight > 0.0 => *weight,
            _ => 1.0,
        }
    }

    fn place(&self, code: u32) -> Place {
        match self {
            Axis::Numbers { shares, .. } => shares.get(code as usize).map_or(Place::Code(code), |&x| Place::Number(x)),
            Axis::Words { .. } | Axis::Tree { .. } => Place::Code(code),
        }
    }

    fn centre(&self, tally: &[u32]) -> Place {
        match self {
            Axis::Numbers { shares, .. } => {
                let n: f64 = tally.iter().zip(shares).map(|(&count, _)| f64::from(count)).sum();
                let sum: f64 = tally.iter().zip(shares).map(|(&count, share)| f64::from(count) * share).sum();
                if n > 0.0 { Place::Number(sum / n) } else { Place::Code(shares.len() as u32) }
            }
            // Of equally frequent ones the first.
            _ => Place::Code((0..tally.len()).rev().max_by_key(|&code| tally[code]).unwrap_or(0) as u32),
        }
    }

    fn fill(&self, place: Place, profile: &mut [f64]) {
        let missing = profile.len() - 1;
        match (self, place) {
            (Axis::Numbers { shares, weight }, Place::Number(x)) => {
                profile.iter_mut().zip(shares).for_each(|(to, share)| *to = (share - x) * (share - x) * weight);
                profile[missing] = self.gap();
            }
            (Axis::Tree { hierarchy, heights }, Place::Code(code)) if (code as usize) < missing => {
                for (other, to) in profile[..missing].iter_mut().enumerate() {
                    let common = hierarchy.lowest_common(code, other as NodeId);
                    *to = common.map_or(1.0, |node| heights[node as usize]);
                }
                profile[missing] = 1.0;
            }
            (_, Place::Code(code)) => {
                profile.fill(self.gap());
                profile[code as usize] = 0.0;
            }
            (_, Place::Number(_)) => {}
        }
    }
}

/// For each node the height of the tree below it, over that of the whole; several trees hang from one root.
fn heights(hierarchy: &Hierarchy) -> Vec<f64> {
    let mut heights = vec![0_u32; hierarchy.n_nodes()];
    let (mut whole, mut roots) = (0, 0);
    for node in 0..hierarchy.n_nodes() {
        match hierarchy.parent(node as NodeId) {
            Some(parent) => heights[parent as usize] = heights[parent as usize].max(heights[node] + 1),
            None => (whole, roots) = (whole.max(heights[node]), roots + 1),
        }
    }
    let whole = f64::from((whole + u32::from(roots > 1)).max(1));
    heights.into_iter().map(|height| f64::from(height) / whole).collect()
}

/// Rows in groups about which beliefs are near enough to each other, so that any class within one agrees; one group of all
/// rows if that is not asked for.
///
/// The root of the Jensen-Shannon divergence is a metric: points within sqrt(t)/2 of one are within sqrt(t) of each other.
pub(super) fn agreeing(problem: &Problem<'_>) -> Vec<Vec<u32>> {
    let Some((beliefs, t)) = problem.beliefs else { return vec![problem.rows()] };
    let mut group_of = vec![usize::MAX; beliefs.n_points()];
    let mut n_groups = 0;
    for centre in 0..beliefs.n_points() {
        if group_of[centre] == usize::MAX {
            problem.observer.check();
            let near =
                |point: usize| jensen_shannon(beliefs.point(centre as u32), beliefs.point(point as u32)) <= t / 4.0;
            group_of[centre..].par_iter_mut().enumerate().for_each(|(i, group)| {
                if *group == usize::MAX && near(centre + i) {
                    *group = n_groups;
                }
            });
            n_groups += 1;
        }
    }
    let mut groups = vec![Vec::new(); n_groups];
    problem.rows().into_iter().for_each(|row| groups[group_of[beliefs.point_of(row) as usize]].push(row));
    groups.retain(|rows| !rows.is_empty());
    groups
}

/// Whether beliefs about these rows are near enough to each other; answered early where all are near to the first, since the
/// root of the divergence is a metric, or one is too far from it.
pub(super) fn agree(problem: &Problem<'_>, rows: &[u32]) -> bool {
    problem.observer.check();
    let Some((beliefs, t)) = problem.beliefs else { return true };
    let mut points: Vec<u32> = rows.iter().map(|&row| beliefs.point_of(row)).collect();
    points.sort_unstable();
    points.dedup();
    let mut most = 0.0;
    for &point in points.iter().skip(1) {
        let far = jensen_shannon(beliefs.point(points[0]), beliefs.point(point));
        if far > t {
            return false;
        }
        most = f64::max(most, far);
    }
    let near = |(i, &one): (usize, &u32)| {
        points[..i].iter().all(|&other| is_within(beliefs.point(one), beliefs.point(other), t))
    };
    most < t / 4.0 || points.iter().enumerate().all(near)
}

#[cfg(test)]
mod tests {
    use super::super::{Method, Params};
    use super::*;
    use crate::data::table::{Role, Table};
    use crate::knowledge::background::Beliefs;
    use crate::release::privacy_models::Criterion;

    fn params(criteria: Vec<Criterion>) -> Params {
        Params { method: Method::Mdav, criteria, most_removed: 0.0, seed: 0 }
    }

    #[test]
    fn distances_are_those_of_the_formulas() {
        let numbers = Column::numbers("n", Role::Quasi, [Some(0.0), Some(2.0), Some(4.0), None, Some(2.0)]);
        let words = Column::words("w", Role::Quasi, ["a", "a", "b", "c", "b"].map(Some));
        let mut tree = Column::words("t", Role::Quasi, [Some("p"), Some("q"), Some("r"), Some("s"), None]);
        let paths = [("p", vec!["x", "*"]), ("q", vec!["x", "*"]), ("r", vec!["y", "*"]), ("s", vec!["*"])];
        tree.domain.set_hierarchy(Hierarchy::from_paths(tree.domain.texts(), paths).unwrap());
        let table = Table::new(5, vec![numbers, words, tree], None);
        let params = params(vec![]);
        let problem = Problem::new(&table, &params, None).unwrap();
        let space = Space::new(&problem);
        // Var of 0, 2, 4, 2 is 2; the range is 4.
        let expected = [
            [0.0, 2.0 + 0.0 + 0.5, 8.0 + 1.0 + 1.0, 8.0 + 1.0 + 1.0, 2.0 + 1.0 + 1.0],
            [2.5, 0.0, 2.0 + 1.0 + 1.0, 8.0 + 1.0 + 1.0, 0.0 + 1.0 + 1.0],
            [10.0, 4.0, 0.0, 8.0 + 1.0 + 1.0, 2.0 + 0.0 + 1.0],
            [10.0, 10.0, 10.0, 0.0, 8.0 + 1.0 + 1.0],
            [4.0, 2.0, 3.0, 10.0, 0.0],
        ];
        let (rows, mut distances) = (problem.rows(), Vec::new());
        for (&row, expected) in rows.iter().zip(&expected) {
            let point = space.point(row);
            space.distances(&point, &rows, &mut distances);
            let profile = space.profile(&point);
            for (&other, expected) in rows.iter().zip(expected) {
                assert!((distances[other as usize] - expected).abs() < 1e-12, "{row} {other}");
                assert!((space.between(&point, &profile, &space.point(other)) - expected).abs() < 1e-12);
            }
        }
        let centre = space.centre(&space.tally(&rows));
        assert_eq!(centre, [Place::Number(0.5), Place::Code(0), Place::Code(0)]);
        let mut tally = space.tally(&rows);
        space.untally(&mut tally, &rows[..3]);
        assert_eq!(tally, space.tally(&rows[3..]));
    }

    #[test]
    fn extreme_and_constant_numbers_have_finite_distances() {
        let huge = Column::numbers("n", Role::Quasi, [Some(-1e308), Some(1e308), None]);
        let constant = Column::numbers("c", Role::Quasi, [Some(1.0), Some(1.0), None]);
        let table = Table::new(3, vec![huge, constant], None);
        let params = params(vec![]);
        let problem = Problem::new(&table, &params, None).unwrap();
        let space = Space::new(&problem);
        let mut distances = Vec::new();
        space.distances(&space.point(0), &[0, 1, 2], &mut distances);
        assert_eq!(distances, [0.0, 4.0, 4.0 + 1.0]);
    }

    #[test]
    fn groups_of_like_beliefs_agree() {
        let points: Vec<f64> = (0..=100).flat_map(|i| [f64::from(i) / 100.0, 1.0 - f64::from(i) / 100.0]).collect();
        let beliefs = Beliefs::new(2, points, (0..=100).rev().collect());
        let numbers = Column::numbers("n", Role::Quasi, (0..=100).map(|i| Some(f64::from(i))));
        let secret = Column::words("s", Role::Sensitive, (0..=100).map(|i| Some(if i < 50 { "a" } else { "b" })));
        let table = Table::new(101, vec![numbers, secret], None);
        let params = params(vec![Criterion::Background { t: 0.1 }]);
        let problem = Problem::new(&table, &params, Some(&beliefs)).unwrap();
        let groups = agreeing(&problem);
        assert!(groups.len() > 1 && groups.len() < 20 && groups.iter().all(|rows| problem.agrees(rows)));
        assert_eq!(groups.iter().map(Vec::len).sum::<usize>(), 101);
        let mut answers = [0; 2];
        for begin in 0..101 {
            for end in begin..=101 {
                let rows: Vec<u32> = (begin..end).collect();
                assert_eq!(agree(&problem, &rows), problem.agrees(&rows));
                answers[usize::from(problem.agrees(&rows))] += 1;
            }
        }
        assert!(answers.iter().all(|&count| count > 100));
    }
}
