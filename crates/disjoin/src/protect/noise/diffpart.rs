//! DiffPart: records split by a public taxonomy, part by part, and counted with noise; what is left is a bag of records that nobody has.
//!
//! Paper:      chen2011, sections 4 and 5; known to us by the authors' program
//! Promises:   epsilon-differential privacy for neighbours that differ by one record, added or removed
//! Assumes:    the items, their order, and all parameters are public. The number of records is not, and is not told
//! Departs:    from the program, which (a) computes the next rate before the deduction for parts that have records and after it for
//!             empty ones, so that later noise tells them apart: here after it for both; (b) may take a part twice, or one with
//!             records for an empty one; (c) adds rounded Laplace noise of 15 random bits: here discrete Laplace noise, exactly. Rates are
//!             whole units of 10^-12, rounded down; what is left over goes to the last counts. Thresholds that would let empty parts
//!             multiply without end are refused. Items are in the order of their texts or numbers, never in that of the data
//! Cost:       (records) x (inner nodes above their items), and 2^fan-out draws for each part that is split
//! Checked by: tests in this file; `tests/it/noise.rs`: `diffpart_keeps_its_epsilon_and_half_the_noise_does_not`
//!
//! # Why the budget is kept
//!
//! A *part* is a cut of the taxonomy and the records whose items lie below exactly all nodes of the cut. Splitting it replaces one node
//! of the cut by a non-empty set of its children: 2^c - 1 smaller parts, which share no record.
//!
//! 1. Which node is split is drawn evenly among those of the highest level: it depends on the cut and on chance, not on records.
//! 2. Each of the 2^c - 1 smaller parts gets noise of its own, whether it has records or not, and is kept if its noisy count reaches a
//!    threshold. Rate and threshold depend on the cut and on what earlier splits of the same path spent: nothing of it on records.
//!    So the part with the additional record is split by the same law, but for one count that is one more: discrete Laplace noise of a
//!    rate b changes the probability of any noisy count by a factor of at most exp(b).
//! 3. An added record lies in one part of each split, so in the parts of one path; if a part is dropped, the path ends. All other counts
//!    are as before (parallel composition). Along the path, rates add up (sequential composition, adaptive): a path carries what it has
//!    left, takes each rate from it before noise is drawn, and spends the rest on its last counts. So a path never spends more than
//!    epsilon, whatever is drawn.
//! 4. What is published is a function of the kept noisy counts. Nothing else of the data is: neither how deep paths were nor how many.
//!
//! Parts without records are not counted one by one for nothing: each passes with a probability of its own, independently, exactly as
//! in 2 (a coin of probability P(noise >= threshold)), and those that pass get a count by the law of the noise above the threshold,
//! which for discrete Laplace noise is the threshold plus a geometric number.

use std::collections::HashMap;

use super::{Known, Ledger, Made, Source};
use crate::error::{Error, Result};
use crate::observer::Observer;
use crate::release::noisy::{Amount, Mechanism, NoiseParameters, Noisy, NoisyClaim, Row, Rows};

/// 2^16 parts are a lot for one split.
const MOST_FAN_OUT: u32 = 16;

const MILLION: f64 = 1e6;

/// What DiffPart is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Params {
    /// The budget.
    pub epsilon: Amount,
    /// Children a node of the taxonomy.
    pub fan_out: u32,
    /// C1, in millionths: a part is split further if its noisy count reaches C1 deviations of the noise times the level of the node.
    pub keep_millionths: u64,
    /// C2, in millionths: a set is published if its noisy count reaches C2 deviations.
    pub publish_millionths: u64,
}

impl Params {
    /// The values of the authors' program.
    pub fn new(epsilon: Amount) -> Self {
        Params { epsilon, fan_out: 10, keep_millionths: 6_750_000, publish_millionths: 2_750_000 }
    }

    /// Refuses what has no meaning, or no end.
    fn check(&self, taxonomy: &Taxonomy) -> Result<()> {
        if !(2..=MOST_FAN_OUT).contains(&self.fan_out) {
            let problem = format!("must be between 2 and {MOST_FAN_OUT}");
            return Err(Error::recipe("protect.noise.fanout", problem, "for example 10"));
        }
        // Empty parts that pass by chance, for one split at the lowest level. If there is one on average, each is split again, and
        // so are those of that: without end, as far as the taxonomy goes.
        let parts = f64::from(self.fan_out).exp2() - 1.0;
        let pass = 0.5 * f64::exp(-f64::sqrt(2.0) * self.keep_millionths as f64 / MILLION);
        if taxonomy.sizes[1] > 2 && parts * pass >= 0.5 {
            let least = f64::ln(parts) / f64::sqrt(2.0);
            let problem = "is so low that parts without any record would be kept by chance and multiply";
            return Err(Error::recipe(
                "protect.noise.thresholds",
                problem,
                format!("use a first number of {least:.2} or more, or a smaller fanout"),
            ));
        }
        Ok(())
    }
}

/// A bag of records with noise.
pub fn diffpart(known: &Known, params: &Params, source: &mut Source, observer: &dyn Observer) -> Result<Made> {
    // Checked before the taxonomy is built: it needs at least two children a node.
    if params.fan_out < 2 {
        params.check(&Taxonomy { fan_out: 2, sizes: vec![0, 0] })?;
    }
    let taxonomy = Taxonomy::new(known.items.len(), u64::from(params.fan_out));
    params.check(&taxonomy)?;
    let mut ledger = Ledger::pure(params.epsilon)?;
    ledger.spend("records", Mechanism::Partitioning { path: params.epsilon })?;
    let mut split = Splitting { known, taxonomy, params, source, rows: Vec::new(), observer };
    split.run()?;
    let rows = split.rows;
    let parameters = NoiseParameters {
        fan_out: Some(params.fan_out),
        keep_millionths: Some(params.keep_millionths),
        publish_millionths: Some(params.publish_millionths),
        ..NoiseParameters::default()
    };
    let spent = ledger.close(source.is_demonstration());
    Ok(Made {
        release: Noisy::new(Rows::Records, rows),
        claim: NoisyClaim::new("diffpart", parameters, known.universe, spent),
    })
}

/// The context-free taxonomy: items are leaves, `fan_out` consecutive nodes of a level have a parent.
struct Taxonomy {
    fan_out: u64,
    /// How many nodes each level has, the leaves first, the root last.
    sizes: Vec<u64>,
}

/// A node: its level (0 is a leaf) and its place there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Node {
    level: u32,
    place: u64,
}

impl Taxonomy {
    fn new(n_items: usize, fan_out: u64) -> Self {
        let mut sizes = vec![n_items as u64, (n_items as u64).div_ceil(fan_out)];
        while let Some(&size) = sizes.last()
            && size > 1
        {
            sizes.push(size.div_ceil(fan_out));
        }
        Taxonomy { fan_out, sizes }
    }

    fn root(&self) -> Node {
        Node { level: self.sizes.len() as u32 - 1, place: 0 }
    }

    /// The places of what lies below a node at a level.
    fn below(&self, node: Node, level: u32) -> std::ops::Range<u64> {
        // No overflow: a level has at most 2^32 nodes, and what lies past its end is cut off.
        let width = (0..node.level - level).fold(1_u64, |width, _| width.saturating_mul(self.fan_out));
        let end = |place: u64| place.saturating_mul(width).min(self.sizes[level as usize]);
        end(node.place)..end(node.place + 1)
    }

    /// How many inner nodes a subtree has, its root included.
    fn inner(&self, node: Node) -> u64 {
        let at = |level| self.below(node, level).count() as u64;
        (1..=node.level).map(at).sum()
    }
}

/// Records that lie below exactly the nodes of a cut, and what is left to spend on them.
struct Part {
    /// The nodes, ascending by level.
    cut: Vec<Node>,
    records: Vec<u32>,
    left: Amount,
    /// What the next split costs.
    rate: Amount,
}

/// What the next split of a part costs: an even share of what is left above the reserve for the last counts. The last split is
/// paid from the reserve.
fn next_rate(left: Amount, reserve: Amount, inner: u64) -> Amount {
    left.minus(reserve).unwrap_or_default().share(1, inner.saturating_sub(1).max(1))
}

struct Splitting<'a> {
    known: &'a Known,
    taxonomy: Taxonomy,
    params: &'a Params,
    source: &'a mut Source,
    rows: Vec<Row>,
    observer: &'a dyn Observer,
}

impl Splitting<'_> {
    fn run(&mut self) -> Result<()> {
        if self.known.items.is_empty() {
            return Ok(());
        }
        let (root, left) = (self.taxonomy.root(), self.params.epsilon);
        let records = (0..self.known.records.len() as u32).collect();
        let rate = left.share(1, 2).share(1, self.taxonomy.inner(root));
        // Known before anything is drawn, and the least of all: what is left above the reserve is shared by fewer and fewer nodes.
        if rate.units() == 0 {
            let problem = "the budget is too small to be shared among the nodes of the taxonomy";
            return Err(Error::Infeasible { problem: problem.into(), hint: "raise --epsilon".into() });
        }
        let mut open = vec![Part { cut: vec![root], records, left, rate }];
        while let Some(part) = open.pop() {
            self.observer.check();
            self.split(part, &mut open)?;
        }
        Ok(())
    }

    /// Splits a part once: smaller parts that are kept go to `open`, or, after the last split, to the rows.
    fn split(&mut self, part: Part, open: &mut Vec<Part>) -> Result<()> {
        let Part { mut cut, records, left, rate } = part;
        let level = cut[cut.len() - 1].level;
        let first = cut.iter().position(|node| node.level == level).unwrap_or(0);
        let highest = (cut.len() - first) as u64;
        let node = cut.remove(first + self.source.uniform(highest) as usize);
        let is_last = level == 1 && highest == 1;

        let deviations = |millionths: u64, rate: Amount| millionths as f64 / MILLION * f64::sqrt(2.0) / rate.to_f64();
        let (rate, least, left) = match is_last {
            true => (left, deviations(self.params.publish_millionths, left), Amount::default()),
            false => {
                let left = left.minus(rate).ok_or(Error::Internal("a path of DiffPart spends more than it has"))?;
                (rate, deviations(self.params.keep_millionths, rate) * f64::from(level), left)
            }
        };
        if rate.units() == 0 {
            return Err(Error::Internal("a part of DiffPart is split for nothing"));
        }
        // A noisy count of at least 1 in any case: the law above the threshold is that of one side.
        let least = (least.ceil() as i64).max(1);

        let kept = self.keep(node, records, rate, least);
        for (children, records, count) in kept {
            let mut cut = cut.clone();
            let nodes = self.taxonomy.below(node, level - 1);
            let chosen = nodes.enumerate().filter(|(i, _)| children >> i & 1 == 1);
            cut.extend(chosen.map(|(_, place)| Node { level: level - 1, place }));
            cut.sort_unstable();
            if is_last {
                let text = |node: &Node| self.known.items.text(node.place as u32).to_owned();
                self.rows.push(Row { terms: cut.iter().map(text).collect(), count });
            } else {
                let inner = cut.iter().map(|&node| self.taxonomy.inner(node)).sum();
                let rate = next_rate(left, self.params.epsilon.share(1, 2), inner);
                open.push(Part { cut, records, left, rate });
            }
        }
        Ok(())
    }

    /// The smaller parts that pass: which children they have, their records, and their noisy count.
    fn keep(&mut self, node: Node, records: Vec<u32>, rate: Amount, least: i64) -> Vec<(u32, Vec<u32>, u64)> {
        let items = self.taxonomy.below(node, 0);
        let children = self.taxonomy.below(node, node.level - 1);
        let width = (0..node.level - 1).fold(1_u64, |width, _| width.saturating_mul(self.taxonomy.fan_out));
        let mut parts: HashMap<u32, Vec<u32>> = HashMap::new();
        for record in records {
            self.observer.check();
            let held = self.known.records.record(record);
            let start = held.partition_point(|&item| u64::from(item) < items.start);
            let held = held[start..].iter().map(|&item| u64::from(item)).take_while(|&item| item < items.end);
            let mask = held.fold(0_u32, |mask, item| mask | 1 << (item / width - children.start));
            parts.entry(mask).or_default().push(record);
        }
        let mut kept = Vec::new();
        for mask in 1..1_u32 << children.count() {
            let noisy = match parts.remove(&mask) {
                Some(records) => {
                    let noisy = (records.len() as i64).saturating_add(self.source.laplace(rate));
                    (noisy >= least).then_some((records, noisy))
                }
                None => self.empty_part(rate, least).map(|noisy| (Vec::new(), noisy)),
            };
            kept.extend(noisy.map(|(records, noisy)| (mask, records, noisy.unsigned_abs())));
        }
        kept
    }

    /// The noisy count of a part without records, if it reaches `least` >= 1. For discrete Laplace noise, P(z >= least) =
    /// exp(-rate least) / (1 + exp(-rate)), and what is above has the law of a geometric number.
    fn empty_part(&mut self, rate: Amount, least: i64) -> Option<i64> {
        let (units, unit) = (u128::from(rate.units()), u128::from(Amount::UNITS));
        if !self.source.bernoulli_exp(units * least.unsigned_abs() as u128, unit) {
            return None;
        }
        // A coin of probability 1 / (1 + x), x = exp(-rate): heads of a fair coin end it as a success, tails as a failure with
        // probability x, else again. P = 1/2 + 1/2 (1-x) P.
        loop {
            if self.source.uniform(2) == 0 {
                break;
            }
            if self.source.bernoulli_exp(units, unit) {
                return None;
            }
        }
        let mut noisy = least;
        while self.source.bernoulli_exp(units, unit) {
            noisy = noisy.saturating_add(1);
        }
        Some(noisy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dataset;
    use crate::observer::Unobserved;

    fn amount(text: &str) -> Amount {
        text.parse().unwrap()
    }

    fn known(records: &[&[u32]]) -> Known {
        let texts = records.iter().map(|record| record.iter().map(|item| item.to_string()));
        Known::occurring(&Dataset::from_texts(texts))
    }

    #[test]
    fn taxonomies_have_the_inner_nodes_of_their_definition() {
        let seventeen = Taxonomy::new(17, 10);
        assert_eq!((seventeen.sizes.as_slice(), seventeen.inner(seventeen.root())), (&[17, 2, 1][..], 3));
        // Every node by hand, as a parent of consecutive ones.
        for (n_items, fan_out) in [(1, 10), (10, 10), (11, 10), (101, 10), (9, 2), (27, 3), (28, 3)] {
            let taxonomy = Taxonomy::new(n_items, fan_out);
            for level in 1..taxonomy.sizes.len() as u32 {
                for place in 0..taxonomy.sizes[level as usize] {
                    let node = Node { level, place };
                    let children = taxonomy.below(node, level - 1);
                    assert!(!children.is_empty() && children.clone().all(|child| child / fan_out == place));
                    let below: u64 = match level {
                        1 => 0,
                        _ => children.map(|place| taxonomy.inner(Node { level: level - 1, place })).sum(),
                    };
                    assert_eq!(taxonomy.inner(node), 1 + below);
                }
            }
            assert_eq!(taxonomy.below(taxonomy.root(), 0), 0..n_items as u64);
        }
    }

    /// The spec's path: 17 items, fan-out 10, epsilon 1, both inner nodes kept: 1/6, then 1/3, then 1/2.
    #[test]
    fn the_budget_of_a_path() {
        let taxonomy = Taxonomy::new(17, 10);
        let (epsilon, reserve) = (amount("1"), amount("0.5"));
        let first = reserve.share(1, taxonomy.inner(taxonomy.root()));
        assert_eq!(first, amount("0.166666666666"));
        let left = epsilon.minus(first).unwrap();
        let second = next_rate(left, reserve, 2);
        assert_eq!(second, amount("0.333333333334"));
        // What rounding left over is not lost.
        assert_eq!(left.minus(second).unwrap(), amount("0.5"));
        // h = 2, then 1: the thresholds in units of C sqrt(2).
        let threshold = |level: f64, rate: Amount| (level / rate.to_f64()).round();
        assert_eq!([threshold(2.0, first), threshold(1.0, second), threshold(1.0, amount("0.5"))], [12.0, 3.0, 2.0]);
    }

    /// On any path the reserve is whole when the last counts are reached, whichever nodes are kept.
    #[test]
    fn no_path_touches_the_reserve() {
        let mut source = Source::demonstration(1);
        for (n_items, fan_out) in [(17, 10), (100, 3), (1000, 10), (64, 2)] {
            let taxonomy = Taxonomy::new(n_items, fan_out);
            let (epsilon, reserve) = (amount("0.7"), amount("0.35"));
            for _ in 0..200 {
                let mut cut = vec![taxonomy.root()];
                let mut left = epsilon;
                let mut rate = reserve.share(1, taxonomy.inner(taxonomy.root()));
                loop {
                    let level = cut[cut.len() - 1].level;
                    let highest: Vec<usize> = (0..cut.len()).filter(|&i| cut[i].level == level).collect();
                    if level == 0 || level == 1 && highest.len() == 1 {
                        break;
                    }
                    left = left.minus(rate).unwrap();
                    assert!(rate.units() > 0);
                    let node = cut.remove(highest[source.uniform(highest.len() as u64) as usize]);
                    let children: Vec<u64> = taxonomy.below(node, level - 1).collect();
                    let kept = 1 + source.uniform(children.len() as u64) as usize;
                    cut.extend(children[..kept].iter().map(|&place| Node { level: level - 1, place }));
                    cut.sort_unstable();
                    rate = next_rate(left, reserve, cut.iter().map(|&node| taxonomy.inner(node)).sum());
                }
                assert!(left >= reserve);
            }
        }
    }

    #[test]
    fn with_a_large_budget_the_data_come_back() {
        let records: Vec<Vec<u32>> = (0..600)
            .map(|i| match i % 4 {
                0 | 1 => vec![1, 7, 19],
                2 => vec![1, 2, 3],
                _ => (0..21).collect(),
            })
            .collect();
        let records: Vec<&[u32]> = records.iter().map(Vec::as_slice).collect();
        for fan_out in [2, 3, 10] {
            let params = Params { fan_out, ..Params::new(amount("900")) };
            let made = diffpart(&known(&records), &params, &mut Source::demonstration(3), &Unobserved).unwrap();
            let shown: Vec<(usize, u64)> = made.release.rows.iter().map(|row| (row.terms.len(), row.count)).collect();
            assert_eq!(shown, [(21, 150), (3, 300), (3, 150)], "{fan_out}");
        }
    }

    /// Parts without records pass as often as one noise value each would let them, and with the same counts.
    #[test]
    fn empty_parts_follow_the_law_of_noise() {
        let known = known(&[&[1]]);
        let params = Params::new(amount("1"));
        let mut source = Source::demonstration(4);
        let (rate, least, n) = (amount("0.4"), 3, 60_000);
        let direct: Vec<i64> = (0..n).map(|_| source.laplace(rate)).filter(|&noise| noise >= least).collect();
        let taxonomy = Taxonomy::new(1, 10);
        let mut split = Splitting {
            known: &known,
            taxonomy,
            params: &params,
            source: &mut source,
            rows: Vec::new(),
            observer: &Unobserved,
        };
        let short: Vec<i64> = (0..n).filter_map(|_| split.empty_part(rate, least)).collect();
        let exact = f64::from(n) * f64::exp(-0.4 * 3.0) / (1.0 + f64::exp(-0.4));
        let mean = |drawn: &[i64]| drawn.iter().sum::<i64>() as f64 / drawn.len() as f64;
        for drawn in [&direct, &short] {
            assert!((drawn.len() as f64 - exact).abs() < 5.0 * exact.sqrt(), "{} {exact}", drawn.len());
            assert!((mean(drawn) - 3.0 - 1.0 / (f64::exp(0.4) - 1.0)).abs() < 0.1);
        }
    }

    #[test]
    fn thresholds_that_have_no_end_are_refused() {
        let records: Vec<u32> = (0..50).collect();
        let known = known(&[&records]);
        let params = Params::new(amount("1"));
        for bad in [
            Params { keep_millionths: 1_000_000, ..params },
            Params { fan_out: 1, ..params },
            Params { fan_out: 17, ..params },
            Params { epsilon: amount("0"), ..params },
        ] {
            assert!(
                matches!(diffpart(&known, &bad, &mut Source::demonstration(1), &Unobserved), Err(Error::Recipe { .. })),
                "{bad:?}"
            );
        }
        let tiny = Params { epsilon: amount("0.000000000002"), ..params };
        assert!(matches!(
            diffpart(&known, &tiny, &mut Source::demonstration(1), &Unobserved),
            Err(Error::Infeasible { .. })
        ));
    }
}
