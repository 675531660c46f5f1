//! How well a node's parents explain it: scores that add up over the nodes of a network. Higher is better.
//!
//! ```text
//! BAYES    sum over j of  ln Gamma(r a) - ln Gamma(r a + N_j) + sum over v of (ln Gamma(a + n_jv) - ln Gamma(a))
//! BDeu     the same with a = s / (r q)
//! ENTROPY  L = sum over j, v of  n_jv ln(n_jv / N_j)
//! MDL      L - q (r - 1) ln(n) / 2        (this is BIC, and the same number as bnlearn's)
//! AIC      L - q (r - 1)
//! ```
//!
//! with r the node's number of values, q the product of its parents', j the configurations of the parents that occur, n_jv the
//! rows with j and value v, N_j those with j, n all. Logarithms are natural.
//!
//! Paper:      nadimpalli2014, by way of Weka (its reference 43); BDeu: Heckerman, Geiger, Chickering 1995; MDL, BIC: Schwarz 1978
//! Promises:   the same number for the same family, whenever asked and by any thread
//! Departs:    q and r count the values that a column may have, as in Weka and bnlearn, not those that occur
//! Cost:       counting, and a logarithm for every cell that is not 0; those of small counts are looked up
//! Checked by: tests/it/network.rs, against tables of all configurations

use std::collections::HashMap;

use rayon::prelude::*;

use super::counts::{Scratch, visit};
use super::gamma::ln_gamma;
use super::{Coded, Network};
use crate::error::{Error, Result};

/// A score of a node with its parents.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Score {
    /// The likelihood of the data if every distribution is as likely as Dirichlet's law with this parameter says.
    Bayes {
        /// What is added to every count.
        alpha: f64,
    },
    /// The same, with `sample_size` spread over all cells. 1 is Weka's.
    Bdeu {
        /// How many rows one's belief beforehand is worth.
        sample_size: f64,
    },
    /// The logarithm of the likelihood less half a logarithm of the rows for every free probability; BIC is the same.
    Mdl,
    /// The logarithm of the likelihood less 1 for every free probability.
    Aic,
    /// The logarithm of the likelihood.
    Entropy,
}

/// The score of one node with these parents.
pub fn family(data: &Coded, score: Score, child: usize, parents: &[usize]) -> Result<f64> {
    Ok(Scores::new(data, score)?.family(child, parents))
}

/// The score of a network: the sum over its nodes.
pub fn total(data: &Coded, score: Score, network: &Network) -> Result<f64> {
    if network.n_nodes() != data.n_columns() {
        return Err(Error::recipe(
            "network",
            "has not as many nodes as there are columns",
            "learn it from the same columns",
        ));
    }
    let mut scores = Scores::new(data, score)?;
    Ok((0..network.n_nodes()).map(|node| scores.family(node, network.parents(node))).sum())
}

/// Counts below this have their logarithms looked up.
const LOOKED_UP: usize = 4096;

/// Scores of one table, each computed once.
#[derive(Debug)]
pub struct Scores<'d> {
    data: &'d Coded,
    terms: Terms,
    scratch: Scratch,
    /// By child and parents.
    known: HashMap<Box<[u32]>, f64>,
}

impl<'d> Scores<'d> {
    /// Nothing is computed yet but what all families share.
    pub fn new(data: &'d Coded, score: Score) -> Result<Self> {
        if let Score::Bayes { alpha: weight } | Score::Bdeu { sample_size: weight } = score
            && !(weight > 0.0 && weight.is_finite())
        {
            return Err(Error::recipe("score", "what is added to counts must be above 0", "for example 0.5"));
        }
        let terms = Terms::new(data, score);
        Ok(Scores { data, terms, scratch: Scratch::default(), known: HashMap::new() })
    }

    /// The score of a node with these parents, which are in order.
    pub fn family(&mut self, child: usize, parents: &[usize]) -> f64 {
        let key = key(child, parents);
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let value = self.terms.of(self.data, child, parents, &mut self.scratch);
        self.known.insert(key, value);
        value
    }

    /// The scores of a node with each of these sets of parents, which are in order; on all cores.
    pub fn families(&mut self, child: usize, sets: &[Vec<usize>]) -> Vec<f64> {
        let unknown: Vec<&Vec<usize>> =
            sets.iter().filter(|parents| !self.known.contains_key(&key(child, parents))).collect();
        let (data, terms) = (self.data, &self.terms);
        let compute = |scratch: &mut Scratch, parents: &&Vec<usize>| terms.of(data, child, parents, scratch);
        let values: Vec<f64> = unknown.par_iter().map_init(Scratch::default, compute).collect();
        self.known.extend(unknown.iter().map(|parents| key(child, parents)).zip(values));
        sets.iter().map(|parents| self.family(child, parents)).collect()
    }
}

fn key(child: usize, parents: &[usize]) -> Box<[u32]> {
    std::iter::once(child).chain(parents.iter().copied()).map(|node| node as u32).collect()
}

/// The parts of which scores are sums.
#[derive(Debug)]
struct Terms {
    score: Score,
    /// What the penalty of one free probability is.
    penalty: f64,
    /// Small counts' parts: n ln n, or ln Gamma(alpha + n) - ln Gamma(alpha).
    of_count: Vec<f64>,
    /// For BAYES and each number of values r: ln Gamma(r alpha) - ln Gamma(r alpha + N) of small N.
    of_total: HashMap<u32, Vec<f64>>,
}

impl Terms {
    fn new(data: &Coded, score: Score) -> Self {
        let n = f64::from(data.n_rows().max(1));
        let penalty = match score {
            Score::Mdl => n.ln() / 2.0,
            Score::Aic => 1.0,
            _ => 0.0,
        };
        let below = LOOKED_UP.min(data.n_rows() as usize + 1);
        let mut terms = Terms { score, penalty, of_count: Vec::new(), of_total: HashMap::new() };
        match score {
            Score::Bdeu { .. } => {}
            Score::Bayes { alpha } => {
                terms.of_count = (0..below).map(|n| rise(alpha, n as f64)).collect();
                for &size in data.sizes() {
                    let total = || (0..below).map(|n| -rise(alpha * f64::from(size.max(1)), n as f64)).collect();
                    terms.of_total.entry(size).or_insert_with(total);
                }
            }
            _ => terms.of_count = (0..below).map(|n| n_ln_n(n as f64)).collect(),
        }
        terms
    }

    fn of(&self, data: &Coded, child: usize, parents: &[usize], scratch: &mut Scratch) -> f64 {
        let size = data.size(child);
        let r = f64::from(size.max(1));
        let q: f64 = parents.iter().map(|&parent| f64::from(data.size(parent))).product();
        let mut sum = 0.0;
        match self.score {
            Score::Bayes { alpha } => {
                let of_total = self.of_total.get(&size).map_or(&[][..], Vec::as_slice);
                visit(data, child, parents, scratch, |_, cells| {
                    let mut total = 0;
                    for &(_, count) in cells {
                        total += count;
                        sum +=
                            self.of_count.get(count as usize).copied().unwrap_or_else(|| rise(alpha, f64::from(count)));
                    }
                    let known = of_total.get(total as usize).copied();
                    sum += known.unwrap_or_else(|| -rise(alpha * r, f64::from(total)));
                });
            }
            Score::Bdeu { sample_size } => {
                let (alpha, alpha_j) = (sample_size / (r * q), sample_size / q);
                let (at_zero, at_zero_j) = (ln_gamma(alpha), ln_gamma(alpha_j));
                visit(data, child, parents, scratch, |_, cells| {
                    let total: u32 = cells.iter().map(|(_, count)| count).sum();
                    sum += at_zero_j - ln_gamma(alpha_j + f64::from(total));
                    sum += cells.iter().map(|&(_, n)| ln_gamma(alpha + f64::from(n)) - at_zero).sum::<f64>();
                });
            }
            Score::Mdl | Score::Aic | Score::Entropy => {
                let part =
                    |count: u32| self.of_count.get(count as usize).copied().unwrap_or_else(|| n_ln_n(f64::from(count)));
                visit(data, child, parents, scratch, |_, cells| {
                    let total: u32 = cells.iter().map(|(_, count)| count).sum();
                    sum += cells.iter().map(|&(_, count)| part(count)).sum::<f64>() - part(total);
                });
            }
        }
        sum - self.penalty * q * (r - 1.0)
    }
}

fn n_ln_n(n: f64) -> f64 {
    if n > 0.0 { n * n.ln() } else { 0.0 }
}

/// ln Gamma(x + n) - ln Gamma(x).
fn rise(x: f64, n: f64) -> f64 {
    ln_gamma(x + n) - ln_gamma(x)
}
