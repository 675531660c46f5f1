//! Rules between the columns of a release that let one value be told from others, and what follows for a person.
//!
//! [`detect`] is the paper's Algorithm 1 on a given network. It reads rules off single cells, and in small groups finds them by
//! chance. [`dependencies`] therefore lets one half of the rows propose and the other confirm, and then the other way round:
//!
//! ```text
//! propose: cells (parents = j, child = v) of all pairs of columns and of the families of a network learned from that half,
//!          with lift above 1 and P(H >= n_jv) <= proposing;  H hypergeometric (rows, n_v, N_j)
//! confirm: the same probability in the other half, all proposed cells together by Holm, at half the level each way
//! ```
//!
//! What is confirmed is a *dependency*. It is a *risk* if whoever has j has v with a probability above alpha as well.
//!
//! Paper:      nadimpalli2014, Algorithm 1 (steps 2-19), with its three networks; Holm 1979
//! Promises:   from a table whose columns are independent, a dependency is reported with a probability of at most the level,
//!             whatever the sizes of groups. The same rows give the same answer, in any order, for any number of threads
//! Assumes:    rows that were drawn independently of each other. Rules that lower a probability are not looked for
//! Departs:    the paper tests nothing: that is [`detect`], or `confirm: false`. Its `count` is never set to 0: here it is, for
//!             each node. [`Reading::Sensible`] compares each parent's own table with alpha, where the paper tests the joint
//!             one over and over; its text says "less than" where ">" is meant; rules from fewer than `min_support` rows are
//!             left out
//! Cost:       a count for each pair of columns and each family, three times; three networks by hill climbing; one number a row
//! Checked by: tests/it/dependency.rs: the paper's example, Algorithm 1 as printed, independent tables, planted dependencies,
//!             beliefs by enumeration

use rand::RngExt;
use rayon::prelude::*;
use serde::Serialize;

use crate::error::{Error, Result};
use crate::generate::stream;
use crate::knowledge::network::independence::{Degrees, Statistic, test};
use crate::knowledge::network::infer::{MAX_CELLS, posterior};
use crate::knowledge::network::{Coded, Cpt, Fitted, Network, Risk, cpt, hill_climb, ics, pc_stable};

/// How Algorithm 1 is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reading {
    /// As printed: one parent's rule holds if a cell is above alpha. Of several parents, the joint rule holds if exactly one
    /// cell of the joint table is, and each parent's rule if more are.
    Literal,
    /// A parent hits if a cell of its own table is above alpha. If all parents hit, the joint rule holds; else those that hit.
    Sensible,
}

/// How rules are read off a network.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Detect {
    /// Probabilities above it are too high.
    pub alpha: f64,
    /// What is added to every count: 0, or 1 for Laplace's rule.
    pub added: f64,
    /// Configurations with fewer rows do not count; the literal reading takes all.
    pub min_support: u32,
    /// Which reading.
    pub reading: Reading,
}

impl Default for Detect {
    fn default() -> Self {
        Detect { alpha: 0.5, added: 0.0, min_support: 2, reading: Reading::Sensible }
    }
}

/// A rule of Algorithm 1: who knows the parents' values can tell the child's.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rule {
    /// The columns on the left, ascending.
    pub parents: Vec<usize>,
    /// The column on the right.
    pub child: usize,
    /// The highest cell of their table; of equal ones the first.
    pub highest: Cell,
    /// For each parent the highest probability in its own table.
    pub of_parents: Vec<f64>,
    /// How many rows lie in cells above alpha: people of whom the rule tells what is true.
    pub people: u64,
}

/// A cell of a conditional probability table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cell {
    /// The parents' values.
    pub configuration: Vec<u32>,
    /// The child's value.
    pub value: u32,
    /// Its probability in this configuration.
    pub probability: f64,
    /// The rows with the configuration.
    pub support: u32,
    /// How many times as likely the value is as among all rows.
    pub lift: f64,
    /// The level of the probability.
    pub risk: Risk,
}

/// Algorithm 1: the rules that a network of these columns shows, by child.
pub fn detect(data: &Coded, network: &Network, options: &Detect) -> Result<Vec<Rule>> {
    check_share("alpha", options.alpha)?;
    if network.n_nodes() != data.n_columns() {
        let hint = "learn it from the same columns";
        return Err(Error::recipe("network", "has not as many nodes as there are columns", hint));
    }
    let mut rules = Vec::new();
    for child in (0..network.n_nodes()).filter(|&child| !network.parents(child).is_empty()) {
        let parents = network.parents(child);
        let alone = parents
            .iter()
            .map(|&parent| Tabled::new(data, &[parent], child, options))
            .collect::<Result<Vec<Tabled>>>()?;
        let joint = Tabled::new(data, parents, child, options)?;
        let highest = |tabled: &Tabled| tabled.highest.as_ref().map_or(0.0, |cell| cell.probability);
        let of_parents: Vec<f64> = alone.iter().map(highest).collect();
        // Which parents' rules hold, each by itself, and whether they hold as one.
        let (hits, is_joint): (Vec<bool>, bool) = match options.reading {
            Reading::Literal => {
                let above = joint.above + joint.above_empty(data, options.alpha);
                (vec![above > 0; parents.len()], above == 1)
            }
            Reading::Sensible => {
                let hits: Vec<bool> = of_parents.iter().map(|&highest| highest > options.alpha).collect();
                let all = hits.iter().all(|&hit| hit);
                (hits, all)
            }
        };
        // Where no configuration of all parents has enough rows, each stands for itself.
        if joint.highest.is_some() && (is_joint || (parents.len() == 1 && hits[0])) {
            rules.extend(joint.rule(of_parents));
            continue;
        }
        let single = alone.into_iter().zip(of_parents).zip(hits).filter(|(_, hit)| *hit);
        rules.extend(single.filter_map(|((tabled, highest), _)| tabled.rule(vec![highest])));
    }
    Ok(rules)
}

/// A table of a child with what Algorithm 1 asks of it.
struct Tabled {
    table: Cpt,
    child: usize,
    highest: Option<Cell>,
    /// Cells above alpha in configurations that occur.
    above: u64,
    people: u64,
}

impl Tabled {
    fn new(data: &Coded, parents: &[usize], child: usize, options: &Detect) -> Result<Self> {
        let table = Cpt::estimate(data, child, parents, options.added)?;
        let marginal = Cpt::estimate(data, child, &[], options.added)?.distribution(&[]);
        let least = match options.reading {
            Reading::Literal => 0,
            Reading::Sensible => options.min_support,
        };
        let (mut highest, mut above, mut people): (Option<Cell>, u64, u64) = (None, 0, 0);
        for at in (0..table.len()).filter(|&at| table.support(at) >= f64::from(least)) {
            let row = table.row(at);
            for (value, &probability) in (0..).zip(&row) {
                if highest.as_ref().is_none_or(|cell| probability > cell.probability) {
                    let lift = probability / marginal[value as usize];
                    let (configuration, support) = (table.configuration(at).to_vec(), table.support(at) as u32);
                    let risk = Risk::of(probability);
                    highest = Some(Cell { configuration, value, probability, support, lift, risk });
                }
                above += u64::from(probability > options.alpha);
            }
            let told = table.cells(at).iter().filter(|&&(value, _)| row[value as usize] > options.alpha);
            people += told.map(|&(_, rows)| rows as u64).sum::<u64>();
        }
        Ok(Tabled { table, child, highest, above, people })
    }

    /// The cells above alpha in configurations that do not occur: their distributions are uniform.
    fn above_empty(&self, data: &Coded, alpha: f64) -> u64 {
        let n_values = u64::from(self.table.n_values());
        if n_values == 0 || 1.0 / n_values as f64 <= alpha {
            return 0;
        }
        let all = self.table.parents().iter().map(|&parent| u64::from(data.size(parent)));
        let all = all.fold(1_u64, u64::saturating_mul);
        n_values.saturating_mul(all.saturating_sub(self.table.len() as u64))
    }

    fn rule(self, of_parents: Vec<f64>) -> Option<Rule> {
        let Tabled { table, child, highest, people, .. } = self;
        highest.map(|highest| Rule { parents: table.parents().to_vec(), child, highest, of_parents, people })
    }
}

/// How networks are learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Structure {
    /// By hill climbing with the usual score: finds what there is from fewer rows.
    HillClimbing,
    /// As the paper does; separating sets have at most so many columns.
    Ics {
        /// The paper's figures need 0; Weka's default is 2.
        max_cardinality: usize,
    },
    /// By tests of independence, whatever the order of columns (colombo2014).
    PcStable,
}

impl Structure {
    /// By conditional independences, given so many columns at most: two, as in Weka, if it is not said.
    pub fn ics(max_cardinality: Option<usize>) -> Self {
        Structure::Ics { max_cardinality: max_cardinality.unwrap_or(2) }
    }
}

/// How dependencies are looked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Who has a value with a probability above it is at risk.
    pub alpha: f64,
    /// Configurations with fewer rows do not count.
    pub min_support: u32,
    /// What is added to every count of the tables that the rules of Algorithm 1 are read off: 0, or 1 for Laplace's rule.
    pub smoothing: f64,
    /// How likely it may be that anything is reported where columns are independent.
    pub level: f64,
    /// How unlikely a cell must be by chance to be proposed.
    pub proposing: f64,
    /// How networks are learned.
    pub structure: Structure,
    /// The most parents of a node in networks, by either way.
    pub max_parents: usize,
    /// Which rows are in which half.
    pub seed: u64,
    /// Whether the other half must confirm. If not, all cells that the whole table proposes are reported, chance or not.
    pub confirm: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            alpha: 0.5,
            min_support: 2,
            smoothing: 0.0,
            level: 0.05,
            proposing: 0.01,
            structure: Structure::HillClimbing,
            max_parents: 3,
            seed: 0,
            confirm: true,
        }
    }
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Found {
    /// The network of all rows.
    pub network: Network,
    /// How much each arrow tells, in bits: see [`strengths`].
    pub strengths: Vec<f64>,
    /// The rules of Algorithm 1 in this network, sensibly read, whether chance explains them or not.
    pub rules: Vec<Rule>,
    /// The dependencies, those that tell of most people first.
    pub dependencies: Vec<Dependency>,
    /// How many cells were proposed by each half; the second is 0 if nothing was to be confirmed.
    pub proposed: [u64; 2],
}

impl Found {
    /// The dependencies that are risks.
    pub fn risks(&self) -> impl Iterator<Item = &Dependency> {
        self.dependencies.iter().filter(|dependency| dependency.is_risk)
    }

    /// Whether a rule of Algorithm 1 is more than chance: a risk has its child, and some of its parents on the left.
    pub fn confirms(&self, rule: &Rule) -> bool {
        let is_in = |risk: &Dependency| risk.given.iter().all(|(column, _)| rule.parents.contains(column));
        self.risks().any(|risk| risk.child == rule.child && is_in(risk))
    }
}

/// Who has some values has another more often than others do.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Dependency {
    /// Columns and their values, ascending.
    pub given: Vec<(usize, u32)>,
    /// The other column.
    pub child: usize,
    /// Its value.
    pub value: u32,
    /// How many rows have the given values.
    pub support: u32,
    /// How many of these have the value.
    pub people: u32,
    /// Their share.
    pub confidence: f64,
    /// This share, divided by that among all rows.
    pub lift: f64,
    /// The share in the half that confirmed it, which did not propose it.
    pub held_out: f64,
    /// The probability that chance does as much anywhere, by Holm; of the one cell, if nothing was to be confirmed.
    pub p_value: f64,
    /// The level of the confidence.
    pub risk: Risk,
    /// Whether the confidence is above alpha, in all rows and in the half that confirmed it.
    pub is_risk: bool,
}

/// Finds dependencies between columns that are more than chance.
pub fn dependencies(data: &Coded, options: &Options) -> Result<Found> {
    check_share("alpha", options.alpha)?;
    check_share("level", options.level)?;
    check_share("proposing", options.proposing)?;
    let logs = log_factorials(data.n_rows());
    let network = learn(data, options)?;
    let detect_options = Detect {
        alpha: options.alpha,
        added: options.smoothing,
        min_support: options.min_support,
        reading: Reading::Sensible,
    };
    let rules = detect(data, &network, &detect_options)?;
    let all = Part::new(data, network.clone());
    let (mut dependencies, proposed) = if options.confirm {
        let [a, b] = halves(data, options.seed)?;
        let (a, b) = (Part::new(&a, learn(&a, options)?), Part::new(&b, learn(&b, options)?));
        let (first, of_first) = confirm(&a, &b, &all, &logs, options)?;
        let (second, of_second) = confirm(&b, &a, &all, &logs, options)?;
        (union(first, second), [of_first, of_second])
    } else {
        let families = propose(&all, &logs, options)?;
        let mut found = Vec::new();
        for family in &families {
            let fours = family.count(&all)?;
            let each = family.cells.iter().zip(fours);
            found.extend(each.flat_map(|(cell, four)| family.told(cell, &four, &four, cell.chance, options)));
        }
        let proposed = families.iter().map(|family| family.cells.len() as u64).sum();
        (found, [proposed, 0])
    };
    // How many more people than by chance.
    let more = |d: &Dependency| f64::from(d.people) - f64::from(d.people) / d.lift;
    dependencies.sort_by(|a, b| {
        let by_name = || (&a.given, a.child, a.value).cmp(&(&b.given, b.child, b.value));
        more(b).total_cmp(&more(a)).then_with(by_name)
    });
    Ok(Found { strengths: strengths(data, &network), network, rules, dependencies, proposed })
}

/// The network of some columns.
pub fn learn(data: &Coded, options: &Options) -> Result<Network> {
    let max_parents = Some(options.max_parents);
    match options.structure {
        Structure::HillClimbing => {
            let climb = hill_climb::Options { max_parents, ..Default::default() };
            Ok(hill_climb::learn(data, &climb)?.network)
        }
        Structure::Ics { max_cardinality } => {
            let search = ics::Options { max_cardinality, max_parents, ..Default::default() };
            Ok(ics::learn(data, &search)?.network)
        }
        Structure::PcStable => {
            let search = pc_stable::Options { max_parents, ..Default::default() };
            Ok(pc_stable::learn(data, &search)?.network)
        }
    }
}

/// How much each arrow tells beyond the other parents, in bits: the conditional mutual information, in the order of
/// [`Network::edges`].
pub fn strengths(data: &Coded, network: &Network) -> Vec<f64> {
    let bits = |(parent, child): (usize, usize)| {
        let others: Vec<usize> = network.parents(child).iter().copied().filter(|&other| other != parent).collect();
        let outcome = test(data, child, parent, &others, Statistic::G2, Degrees::Seen);
        outcome.statistic / (2.0 * f64::from(data.n_rows().max(1)) * std::f64::consts::LN_2)
    };
    network.edges().into_iter().map(bits).collect()
}

/// The networks of the paper.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Three {
    /// Of the quasi-identifiers; columns are numbered by their places among these.
    pub quasi: Found,
    /// Of the sensitive columns, numbered likewise.
    pub sensitive: Found,
    /// Of the quasi-identifiers, followed by the sensitive columns.
    pub both: Found,
}

/// Finds dependencies among quasi-identifiers, among sensitive columns, and among both. The level holds for the three together.
pub fn three_networks(data: &Coded, quasi: &[usize], sensitive: &[usize], options: &Options) -> Result<Three> {
    let options = Options { level: options.level / 3.0, ..*options };
    let of = |columns: &[usize]| dependencies(&data.select(columns)?, &options);
    Ok(Three { quasi: of(quasi)?, sensitive: of(sensitive)?, both: of(&[quasi, sensitive].concat())? })
}

/// A part of the rows with the network that was learned from it.
struct Part<'d> {
    data: &'d Coded,
    network: Network,
    /// For each column how often each value occurs.
    marginals: Vec<Vec<u32>>,
}

impl<'d> Part<'d> {
    fn new(data: &'d Coded, network: Network) -> Self {
        let marginal = |column: usize| {
            let mut counts = vec![0; data.size(column) as usize];
            let rows = data.column(column).iter().zip(data.weights());
            rows.for_each(|(&code, &weight)| counts[code as usize] += weight);
            counts
        };
        let marginals = (0..data.n_columns()).map(marginal).collect();
        Part { data, network, marginals }
    }
}

/// Two halves of the rows, by a coin for each. Rows are in lexicographic order, so their order in a file does not matter.
fn halves(data: &Coded, seed: u64) -> Result<[Coded; 2]> {
    let mut coins = stream(seed, "attack/dependency/halves", 0);
    let mut heads = |&weight: &u32| -> u32 { (0..weight).map(|_| u32::from(coins.random::<bool>())).sum() };
    let first: Vec<u32> = data.weights().iter().map(&mut heads).collect();
    let second: Vec<u32> = data.weights().iter().zip(&first).map(|(all, first)| all - first).collect();
    Ok([data.part(&first)?, data.part(&second)?])
}

/// Cells of one child and its parents that may be dependencies.
struct Family {
    parents: Vec<usize>,
    child: usize,
    cells: Vec<Proposed>,
}

struct Proposed {
    configuration: Vec<u32>,
    value: u32,
    chance: f64,
}

/// Rows in a part: all, those with the configuration, those with the value, those with both.
#[derive(Clone, Copy)]
struct Four {
    all: u32,
    given: u32,
    value: u32,
    both: u32,
}

impl Four {
    fn is_lifted(&self) -> bool {
        u64::from(self.both) * u64::from(self.all) > u64::from(self.given) * u64::from(self.value)
    }

    /// P(H >= both) for H hypergeometric: so many rows have both if the value has nothing to do with the configuration.
    fn chance(&self, logs: &[f64]) -> f64 {
        let log_choose = |n: u32, k: u32| logs[n as usize] - logs[k as usize] - logs[(n - k) as usize];
        let (all, given, value, both) = (self.all, self.given, self.value, self.both);
        let least = (u64::from(given) + u64::from(value)).saturating_sub(u64::from(all));
        if u64::from(both) <= least {
            return 1.0;
        }
        let rest = all - value;
        let first = log_choose(value, both) + log_choose(rest, given - both) - log_choose(all, given);
        let (mut term, mut sum) = (1.0, 0.0);
        for k in both..=given.min(value) {
            sum += term;
            let (k, above) = (f64::from(k), f64::from(value - k) * f64::from(given - k));
            let next = term * above / ((k + 1.0) * (f64::from(rest) - f64::from(given) + k + 1.0));
            if next < sum * 1e-17 {
                break;
            }
            term = next;
        }
        (first + f64::ln(sum)).exp().min(1.0)
    }

    /// The same with configuration and value exchanged.
    fn turned(&self) -> Self {
        Four { given: self.value, value: self.given, ..*self }
    }

    fn confidence(&self) -> f64 {
        f64::from(self.both) / f64::from(self.given.max(1))
    }
}

impl Family {
    /// Looks the cells up in a part.
    fn count(&self, part: &Part<'_>) -> Result<Vec<Four>> {
        let table = Cpt::estimate(part.data, self.child, &self.parents, 0.0)?;
        let marginal = &part.marginals[self.child];
        let look_up = |cell: &Proposed| {
            let at = table.find(&cell.configuration);
            let is_value = |&&(value, _): &&(u32, f64)| value == cell.value;
            let both = at.and_then(|at| table.cells(at).iter().find(is_value)).map_or(0, |&(_, rows)| rows as u32);
            let given = at.map_or(0, |at| table.support(at) as u32);
            Four { all: part.data.n_rows(), given, value: marginal[cell.value as usize], both }
        };
        Ok(self.cells.iter().map(look_up).collect())
    }

    /// The dependencies that a cell means: of a pair of columns, either can be known.
    fn told(&self, cell: &Proposed, all: &Four, held_out: &Four, p_value: f64, options: &Options) -> Vec<Dependency> {
        let make = |given: Vec<(usize, u32)>, child: usize, value: u32, all: Four, held_out: Four| {
            let confidence = all.confidence();
            let lift = confidence * f64::from(all.all) / f64::from(all.value.max(1));
            let is_risk = confidence > options.alpha && held_out.confidence() > options.alpha;
            let (support, people, held_out) = (all.given, all.both, held_out.confidence());
            let risk = Risk::of(confidence);
            Dependency { given, child, value, support, people, confidence, lift, held_out, p_value, risk, is_risk }
        };
        let given: Vec<(usize, u32)> = self.parents.iter().copied().zip(cell.configuration.iter().copied()).collect();
        let back = match given[..] {
            [(parent, code)] => {
                Some(make(vec![(self.child, cell.value)], parent, code, all.turned(), held_out.turned()))
            }
            _ => None,
        };
        std::iter::once(make(given, self.child, cell.value, *all, *held_out)).chain(back).collect()
    }
}

/// The cells of a part that are unlikely by chance: of all pairs of columns, and of nodes with several parents. There a cell
/// must be more likely than with any one of the parents' values alone.
fn propose(part: &Part<'_>, logs: &[f64], options: &Options) -> Result<Vec<Family>> {
    let n = part.network.n_nodes();
    let pairs = (0..n).flat_map(|child| (0..child).map(move |parent| (vec![parent], child)));
    let joint = (0..n).map(|child| (part.network.parents(child).to_vec(), child));
    let families: Vec<(Vec<usize>, usize)> = pairs.chain(joint.filter(|(parents, _)| parents.len() > 1)).collect();
    let propose = |(parents, child): (Vec<usize>, usize)| -> Result<Family> {
        let data = part.data;
        let table = Cpt::estimate(data, child, &parents, 0.0)?;
        let single = |&parent: &usize| Cpt::estimate(data, child, &[parent], 0.0);
        let singles = match parents.len() {
            0 | 1 => Vec::new(),
            _ => parents.iter().map(single).collect::<Result<Vec<Cpt>>>()?,
        };
        let marginal = &part.marginals[child];
        let mut cells = Vec::new();
        for at in (0..table.len()).filter(|&at| table.support(at) >= f64::from(options.min_support.max(1))) {
            let configuration = table.configuration(at);
            let given = table.support(at) as u32;
            for &(value, both) in table.cells(at) {
                let four = Four { all: data.n_rows(), given, value: marginal[value as usize], both: both as u32 };
                let alone = |(single, code): (&Cpt, &u32)| single.distribution(&[*code])[value as usize];
                let is_more = || {
                    let alone = singles.iter().zip(configuration).map(alone).fold(0.0, f64::max);
                    singles.is_empty() || four.confidence() > alone
                };
                if !four.is_lifted() {
                    continue;
                }
                let chance = four.chance(logs);
                if chance <= options.proposing && is_more() {
                    cells.push(Proposed { configuration: configuration.to_vec(), value, chance });
                }
            }
        }
        Ok(Family { parents, child, cells })
    };
    let found: Vec<Family> = families.into_par_iter().map(propose).collect::<Result<_>>()?;
    Ok(found.into_iter().filter(|family| !family.cells.is_empty()).collect())
}

/// What one part proposes and the other confirms, and how much was proposed.
fn confirm(
    proposing: &Part<'_>,
    confirming: &Part<'_>,
    all: &Part<'_>,
    logs: &[f64],
    options: &Options,
) -> Result<(Vec<Dependency>, u64)> {
    let families = propose(proposing, logs, options)?;
    let counted = families.iter().map(|family| family.count(confirming)).collect::<Result<Vec<Vec<Four>>>>()?;
    let chances: Vec<f64> = counted.iter().flatten().map(|four| four.chance(logs)).collect();
    let n_proposed = chances.len() as u64;
    let mut adjusted = holm(&chances).into_iter();
    let mut found = Vec::new();
    for (family, held_out) in families.iter().zip(&counted) {
        // Two ways, each at half the level.
        let p_values: Vec<f64> = adjusted.by_ref().take(held_out.len()).map(|p| (2.0 * p).min(1.0)).collect();
        if p_values.iter().all(|&p| p > options.level) {
            continue;
        }
        let of_all = family.count(all)?;
        for (at, &p) in p_values.iter().enumerate().filter(|(_, p)| **p <= options.level) {
            found.extend(family.told(&family.cells[at], &of_all[at], &held_out[at], p, options));
        }
    }
    Ok((found, n_proposed))
}

/// Holm's adjusted p-values: those at most a level may be believed, and all of them are right but for that probability.
fn holm(chances: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..chances.len()).collect();
    order.sort_by(|&a, &b| chances[a].total_cmp(&chances[b]));
    let mut adjusted = vec![1.0; chances.len()];
    let mut highest = 0.0_f64;
    for (rank, at) in order.into_iter().enumerate() {
        highest = highest.max(chances[at] * (chances.len() - rank) as f64).min(1.0);
        adjusted[at] = highest;
    }
    adjusted
}

/// Both, without repetitions; of two that are the same, the surer one.
fn union(mut first: Vec<Dependency>, second: Vec<Dependency>) -> Vec<Dependency> {
    first.extend(second);
    first.sort_by(|a, b| {
        let names = (&a.given, a.child, a.value).cmp(&(&b.given, b.child, b.value));
        names.then(a.p_value.total_cmp(&b.p_value))
    });
    first.dedup_by(|a, b| (&a.given, a.child, a.value) == (&b.given, b.child, b.value));
    first
}

/// ln k! for k up to n.
fn log_factorials(n: u32) -> Vec<f64> {
    let mut sum = 0.0;
    (0..=n)
        .map(|k| {
            sum += f64::from(k.max(1)).ln();
            sum
        })
        .collect()
}

/// What is believed of a person's value in one column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Belief {
    /// The column.
    pub column: usize,
    /// The rows that the person may be in.
    pub rows: u32,
    /// The shares of values in these rows.
    pub before: Vec<f64>,
    /// The shares after what else is known, by the network; `None` if that is impossible in these rows.
    pub after: Option<Vec<f64>>,
    /// Of the rows, those that agree with what else is known.
    pub agreeing: u32,
    /// The shares of values in those, if there are any.
    pub counted: Option<Vec<f64>>,
}

/// What follows for a column of a person whose values in some columns pick `class`, the rows that have them all, and of whom
/// `known` is known as well.
///
/// ```text
/// after(v)  ~  n_v P(known | v, class)  ~  n_v P(v | known, class) / P(v | class)
/// ```
///
/// with n_v from the class, and P by the network. So what is certain in the class stays so, and what is known speaks by
/// dependencies of the whole release, also where its columns are published apart.
pub fn belief(
    data: &Coded,
    fitted: &Fitted,
    column: usize,
    class: &[(usize, u32)],
    known: &[(usize, u32)],
) -> Result<Belief> {
    let n = data.n_columns();
    let is_there = |&(other, value): &(usize, u32)| other < n && value < data.size(other);
    if fitted.sizes() != data.sizes() || column >= n || !class.iter().chain(known).all(is_there) {
        let problem = "names a column or a value that is not there";
        return Err(Error::recipe("target", problem, "name columns and values of the release"));
    }
    let (rows, counts) = shares_of(data, column, class);
    let both: Vec<(usize, u32)> = class.iter().chain(known).copied().collect();
    let (agreeing, counted) = shares_of(data, column, &both);
    let after = match (posterior(fitted, column, class, MAX_CELLS)?, posterior(fitted, column, &both, MAX_CELLS)?) {
        (Some(class), Some(both)) => {
            let weight =
                |((&count, class), both): ((&f64, f64), f64)| if class > 0.0 { count * both / class } else { 0.0 };
            let weights: Vec<f64> = counts.iter().zip(class).zip(both).map(weight).collect();
            normal(&weights)
        }
        _ => None,
    };
    let before = normal(&counts).unwrap_or_else(|| vec![0.0; counts.len()]);
    Ok(Belief { column, rows, before, after, agreeing, counted: normal(&counted) })
}

/// How many rows have some values, and how many of them have each value of a column.
fn shares_of(data: &Coded, column: usize, values: &[(usize, u32)]) -> (u32, Vec<f64>) {
    let mut counts = vec![0.0; data.size(column) as usize];
    let mut rows = 0;
    for (row, &weight) in data.weights().iter().enumerate() {
        if values.iter().all(|&(other, value)| data.column(other)[row] == value) {
            rows += weight;
            counts[data.column(column)[row] as usize] += f64::from(weight);
        }
    }
    (rows, counts)
}

fn normal(weights: &[f64]) -> Option<Vec<f64>> {
    let sum: f64 = weights.iter().sum();
    (sum > 0.0).then(|| weights.iter().map(|weight| weight / sum).collect())
}

/// A network with its tables, for beliefs: nothing is added to counts.
pub fn fit(data: &Coded, network: &Network) -> Result<Fitted> {
    cpt::estimate(data, network, 0.0)
}

fn check_share(what: &'static str, share: f64) -> Result<()> {
    match (0.0..=1.0).contains(&share) {
        true => Ok(()),
        false => Err(Error::recipe(what, "must be from 0 to 1", "for example 0.5")),
    }
}
