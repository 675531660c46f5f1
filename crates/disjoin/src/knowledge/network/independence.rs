//! Whether two columns are independent given others: by a test, or by a score that does not rise.
//!
//! ```text
//! G2   = 2 sum n_xyz ln(n_xyz n_z / (n_xz n_yz))        (2 n times the conditional mutual information)
//! chi2 = sum (n_xyz - e)^2 / e,  e = n_xz n_yz / n_z
//! degrees of freedom: (r_x - 1) (r_y - 1) q_z, or the sum over z of (values of x seen - 1) (values of y seen - 1)
//! ```
//!
//! Paper:      nadimpalli2014, by way of Weka's ICS (scores); the tests are the usual ones
//! Promises:   p-values of the chi-square distribution; 1 where there are no degrees of freedom. The same whenever asked
//! Assumes:    enough rows for the chi-square distribution. Where cells are few, the degrees seen are nearer the truth
//! Cost:       one count; no cell that is 0 is visited
//! Checked by: tests/it/network.rs, against tables of all cells

use super::Coded;
use super::counts::{Scratch, visit};
use super::gamma::chi_square_tail;
use super::score::{Score, Scores};
use crate::error::{Error, Result};

/// What is reckoned from the counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statistic {
    /// The likelihood ratio.
    G2,
    /// Pearson's.
    ChiSquare,
}

/// How degrees of freedom are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Degrees {
    /// From the numbers of values that columns may have.
    Nominal,
    /// From the values that occur with each configuration of the given columns.
    Seen,
}

/// What a test found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    /// G2 or chi-square.
    pub statistic: f64,
    /// Degrees of freedom.
    pub degrees: f64,
    /// How likely such a statistic or a higher one is if the columns are independent.
    pub p_value: f64,
}

/// Tests whether x and y are independent given the columns `given`.
pub fn test(data: &Coded, x: usize, y: usize, given: &[usize], statistic: Statistic, degrees: Degrees) -> Outcome {
    test_in(data, x, y, given, statistic, degrees, &mut Scratch::default())
}

fn test_in(
    data: &Coded,
    x: usize,
    y: usize,
    given: &[usize],
    statistic: Statistic,
    degrees: Degrees,
    scratch: &mut Scratch,
) -> Outcome {
    // y comes last, so that configurations which agree on the given columns follow each other.
    let parents: Vec<usize> = given.iter().copied().chain([y]).collect();
    let mut codes = Vec::new();
    let mut stratum = Stratum::new(data.size(x));
    let (mut sum, mut seen) = (0.0, 0.0);
    visit(data, x, &parents, scratch, |at, cells| {
        codes.clear();
        at.push_codes(data, &parents, &mut codes);
        codes.pop();
        if codes != stratum.given {
            stratum.close(statistic, &mut sum, &mut seen);
            std::mem::swap(&mut stratum.given, &mut codes);
        }
        stratum.push(cells);
    });
    stratum.close(statistic, &mut sum, &mut seen);
    let less_one = |node: usize| f64::from(data.size(node).max(1)) - 1.0;
    let degrees = match degrees {
        Degrees::Nominal => {
            less_one(x) * less_one(y) * given.iter().map(|&node| f64::from(data.size(node))).product::<f64>()
        }
        Degrees::Seen => seen,
    };
    // What is 0 may come out a little below.
    let statistic = sum.max(0.0);
    Outcome { statistic, degrees, p_value: chi_square_tail(statistic, degrees) }
}

/// The cells of one configuration of the given columns.
struct Stratum {
    given: Vec<u32>,
    /// (value of x, rows), one value of y after the other, and where each ends.
    cells: Vec<(u32, u32)>,
    ends: Vec<usize>,
    of_x: Vec<u32>,
}

impl Stratum {
    fn new(size: u32) -> Self {
        Stratum { given: Vec::new(), cells: Vec::new(), ends: Vec::new(), of_x: vec![0; size as usize] }
    }

    fn push(&mut self, cells: &[(u32, u32)]) {
        self.cells.extend(cells);
        self.ends.push(self.cells.len());
        cells.iter().for_each(|&(x, count)| self.of_x[x as usize] += count);
    }

    /// Adds what it has to the statistic and to the degrees, and forgets it.
    fn close(&mut self, statistic: Statistic, sum: &mut f64, degrees: &mut f64) {
        let total: f64 = self.of_x.iter().map(|&count| f64::from(count)).sum();
        let mut start = 0;
        let mut inner = 0.0;
        for &end in &self.ends {
            let row = &self.cells[start..end];
            let of_y: f64 = row.iter().map(|&(_, count)| f64::from(count)).sum();
            for &(x, count) in row {
                let (count, product) = (f64::from(count), f64::from(self.of_x[x as usize]) * of_y);
                inner += match statistic {
                    Statistic::G2 => 2.0 * count * (count * total / product).ln(),
                    Statistic::ChiSquare => count * count / product,
                };
            }
            start = end;
        }
        *sum += match statistic {
            Statistic::G2 => inner,
            // Cells that are 0 are in it: sum of (n - e)^2 / e = total * (sum of n^2 / (n_x n_y) - 1).
            Statistic::ChiSquare if total > 0.0 => total * (inner - 1.0),
            Statistic::ChiSquare => 0.0,
        };
        let seen = self.of_x.iter().filter(|&&count| count > 0).count();
        *degrees += (seen.max(1) - 1) as f64 * (self.ends.len().max(1) - 1) as f64;
        self.cells.clear();
        self.ends.clear();
        self.of_x.fill(0);
    }
}

/// Scores that differ by a smaller share are the same: a column that repeats another one neither adds nor takes anything.
const ROUNDING: f64 = 1e-11;

/// How it is decided that two columns are independent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Decision {
    /// One column as a further parent of the other does not raise this score.
    Score(Score),
    /// A test's p-value is above the level.
    Test {
        /// Which.
        statistic: Statistic,
        /// How its degrees of freedom are counted.
        degrees: Degrees,
        /// For example 0.05.
        level: f64,
    },
}

/// Decides about columns of one table.
#[derive(Debug)]
pub struct Decider<'d> {
    data: &'d Coded,
    decision: Decision,
    scores: Option<Scores<'d>>,
    scratch: Scratch,
}

impl<'d> Decider<'d> {
    /// One for this table.
    pub fn new(data: &'d Coded, decision: Decision) -> Result<Self> {
        let scores = match decision {
            Decision::Score(score) => Some(Scores::new(data, score)?),
            Decision::Test { level, .. } if !(0.0..1.0).contains(&level) => {
                return Err(Error::recipe("level", "must be from 0 to below 1", "for example 0.05"));
            }
            Decision::Test { .. } => None,
        };
        Ok(Decider { data, decision, scores, scratch: Scratch::default() })
    }

    /// How clearly x and y are independent given columns in order: `None` if they are not, else what is higher for clearer
    /// cases. A score asks whether y helps to explain x: not all scores are the same the other way round.
    pub fn independent(&mut self, x: usize, y: usize, given: &[usize]) -> Option<f64> {
        match (self.decision, &mut self.scores) {
            (Decision::Test { statistic, degrees, level }, _) => {
                let outcome = test_in(self.data, x, y, given, statistic, degrees, &mut self.scratch);
                (outcome.p_value > level).then_some(outcome.p_value)
            }
            (Decision::Score(_), Some(scores)) => {
                let mut with = given.to_vec();
                with.insert(given.partition_point(|&node| node < y), y);
                let without = scores.family(x, given);
                let less = without - scores.family(x, &with);
                (less >= -ROUNDING * without.abs().max(1.0)).then_some(less)
            }
            (Decision::Score(_), None) => None,
        }
    }
}
