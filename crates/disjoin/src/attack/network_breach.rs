//! How likely are all sensitive values of a person guessed from a split table, by somebody who knows how they go together?
//!
//! The adversary brings a law: a network over the sensitive columns, learned from other people ([`outside`]) or from the release
//! itself ([`of_release`]). People of a group are drawn from the law, independently of each other, and then the counts of the
//! group are seen. By symmetry all of a group's people have the same posterior:
//!
//! ```text
//! P(a person has v)  =  E[people with v] / g   over all ways x to deal the group's values, each as likely as  prod over people of law(x)
//! ```
//!
//! If the law takes columns for independent, this is Definition 3 of [`knowledge_breach`](mod@super::knowledge_breach). The ways to
//! deal are summed forward and backward over people, whose first column is in order; a state is what is left to be dealt of
//! the others. Where there are too many states, [`fitted`] takes their place: the limit for large groups.
//!
//! Paper:      none: nadimpalli2014 takes columns for independent (definitions 3 to 5); the network is that of its section on
//!             dependencies
//! Promises:   exact in groups with few ways to deal, and the report tells how many these are. Laws exclude nothing: 1 is added
//!             to every count that they are learned from
//! Assumes:    the law is that of the people in the release; it may be wrong, and the report says what would follow if it were
//!             right. Learned from the release, it can know only what differs between groups
//! Departs:    an approximation in larger groups
//! Cost:       for a group its people times states times combinations, at most 2^18; beyond it that of `fitted`
//! Checked by: tests/it/network_breach.rs, against all ways to deal

use rayon::prelude::*;
use serde::Serialize;

use super::dependency::{Options, learn};
use super::knowledge_breach::{Breach, GroupView, fitted, views};
use crate::data::Table;
use crate::error::{Error, Place, Result};
use crate::knowledge::network::{Coded, Fitted, Missing, cpt};
use crate::reconstruct::deal;
use crate::release::split::SplitTables;

/// Limits are kept up to this much.
const ROUNDING: f64 = 1e-9;

/// People times states times combinations of values: beyond it, a group is not summed over.
const MOST_WORK: usize = 1 << 18;

/// Added to every count from which a law is learned: nothing is impossible because it was not seen.
const ADDED: f64 = 1.0;

/// Where a law comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// From the release: one way to put it together again.
    Release,
    /// From other people.
    Outside,
}

/// How sensitive values go together.
#[derive(Debug, Clone)]
pub struct Law {
    /// Over the sensitive columns, in their order, with the codes of the release.
    pub network: Fitted,
    /// Where it comes from.
    pub source: Source,
    /// From how many rows.
    pub rows: u64,
}

/// The law that a release itself suggests.
pub fn of_release(tables: &SplitTables, seed: u64) -> Result<Law> {
    let table = deal(tables, seed)?;
    let columns: Vec<usize> = (tables.quasi.columns.len()..table.columns.len()).collect();
    let data = Coded::from_table(&table, &columns, Missing::OwnValue)?;
    law(&data, Source::Release)
}

/// The law of other people: `table` has the sensitive columns by name. Rows with values that the release does not know are
/// left out, for nobody in it is like them.
pub fn outside(tables: &SplitTables, table: &Table, name: &str) -> Result<Law> {
    let mut columns: Vec<Vec<u32>> = Vec::new();
    for values in &tables.sensitive {
        let Some(column) = table.columns.iter().find(|column| column.name == values.column) else {
            let problem = format!("there is no column {}", values.column);
            let hint = "it needs all sensitive columns of the release, by the same names";
            return Err(Error::input(Place::file(name), problem).with_hint(hint));
        };
        let code = |own: u32| match own == column.domain.missing() {
            true => values.domain.has_missing().then(|| values.domain.missing()),
            false => values.domain.texts().get(column.domain.text(own)),
        };
        let codes: Vec<Option<u32>> = (0..=column.domain.missing()).map(code).collect();
        columns.push(column.codes.iter().map(|&own| codes[own as usize].unwrap_or(u32::MAX)).collect());
    }
    let known: Vec<usize> =
        (0..table.n_rows()).filter(|&row| columns.iter().all(|codes| codes[row] != u32::MAX)).collect();
    if known.is_empty() {
        let problem = "no row has values that the release knows in all sensitive columns";
        return Err(Error::input(Place::file(name), problem).with_hint("values must be written as in the release"));
    }
    let columns: Vec<Vec<u32>> = columns.iter().map(|codes| known.iter().map(|&row| codes[row]).collect()).collect();
    let size = |values: &crate::release::split::Values| values.domain.n_codes() as u32;
    let sizes: Vec<u32> = tables.sensitive.iter().map(size).collect();
    law(&Coded::new(&columns.iter().map(Vec::as_slice).collect::<Vec<_>>(), &sizes)?, Source::Outside)
}

fn law(data: &Coded, source: Source) -> Result<Law> {
    let network = learn(data, &Options::default())?;
    Ok(Law { network: cpt::estimate(data, &network, ADDED)?, source, rows: u64::from(data.n_rows()) })
}

/// What a law makes of a split table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NetworkBreach {
    /// Where the law comes from.
    pub source: Source,
    /// From how many rows.
    pub rows: u64,
    /// Arrows of its network: none means that columns are taken for independent.
    pub arrows: u64,
    /// If the group is known, as Definition 3.
    pub group_known: Breach,
    /// If one value is known as well, as Definition 5; of the column that helps most. None if there is one column only.
    pub value_known: Option<Breach>,
    /// Groups above the limit, if there is one.
    pub above: u64,
    /// Groups that were summed over; the others are approximated.
    pub exact_groups: u64,
    /// Groups in which there are too many combinations of values even for that: they count as if columns were independent.
    pub left_out: u64,
}

/// What a law makes of every group; `limit` is the limit on the probability.
pub fn network_breach(tables: &SplitTables, law: &Law, limit: Option<f64>) -> Result<NetworkBreach> {
    let views = views(tables)?;
    let n_columns = tables.sensitive.len();
    let of_groups: Vec<OfGroup> = views.par_iter().map(|view| OfGroup::new(view, law)).collect();
    let people: u64 = of_groups.iter().map(|group| u64::from(group.size)).sum();
    let all = |of: &dyn Fn(&OfGroup) -> Breach| {
        let worst = of_groups.iter().map(|group| of(group).worst).fold(0.0, f64::max);
        let sum: f64 = of_groups.iter().map(|group| f64::from(group.size) * of(group).mean).sum();
        Breach { worst, mean: sum / people.max(1) as f64 }
    };
    let limited = |group: &&OfGroup| {
        let worst = if n_columns > 1 { group.value_known.worst } else { group.group_known.worst };
        limit.is_some_and(|limit| worst > limit + ROUNDING)
    };
    Ok(NetworkBreach {
        source: law.source,
        rows: law.rows,
        arrows: law.network.network().edges().len() as u64,
        group_known: all(&|group| group.group_known),
        value_known: (n_columns > 1).then(|| all(&|group| group.value_known)),
        above: of_groups.iter().filter(limited).count() as u64,
        exact_groups: of_groups.iter().filter(|group| group.way == Way::Exact).count() as u64,
        left_out: of_groups.iter().filter(|group| group.way == Way::Independent).count() as u64,
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Exact,
    Fitted,
    Independent,
}

struct OfGroup {
    size: u32,
    way: Way,
    group_known: Breach,
    value_known: Breach,
}

impl OfGroup {
    fn new(view: &GroupView, law: &Law) -> Self {
        let weigh = |codes: &[u32]| probability(&law.network, codes);
        let (way, posterior) = match exact(view, weigh) {
            Some(posterior) => (Way::Exact, Some(posterior)),
            None => match fitted(view, weigh) {
                Some(posterior) => (Way::Fitted, Some(posterior)),
                None => (Way::Independent, None),
            },
        };
        let (group_known, value_known) = match posterior {
            Some(posterior) => breaches(view, &posterior),
            None => independent(view),
        };
        OfGroup { size: view.size, way, group_known, value_known }
    }
}

/// How likely a law makes a combination of codes.
pub fn probability(network: &Fitted, codes: &[u32]) -> f64 {
    let of_node = |node: usize| {
        let table = network.table(node);
        let configuration: Vec<u32> = table.parents().iter().map(|&parent| codes[parent]).collect();
        table.probability(&configuration, codes[node])
    };
    (0..codes.len()).map(of_node).product()
}

/// The worst and the mean of definitions 3 and 5 by a posterior over all combinations.
fn breaches(view: &GroupView, posterior: &[(Vec<u32>, f64)]) -> (Breach, Breach) {
    let n = view.counts.len();
    let share = |column: usize, code: u32| {
        let count = view.counts[column].iter().find(|(other, _)| *other == code).map_or(0, |&(_, count)| count);
        f64::from(count) / f64::from(view.size.max(1))
    };
    let mut group_known = Breach::default();
    let mut by_column = vec![Breach::default(); n];
    for (codes, likely) in posterior {
        group_known.worst = group_known.worst.max(*likely);
        group_known.mean += likely * likely;
        for (column, breach) in by_column.iter_mut().enumerate() {
            // Who has the known value has the others with this probability.
            let others = (likely / share(column, codes[column])).min(1.0);
            breach.worst = breach.worst.max(others);
            breach.mean += likely * others;
        }
    }
    let most = |of: &dyn Fn(&Breach) -> f64| by_column.iter().map(of).fold(0.0, f64::max);
    (group_known, Breach { worst: most(&|breach| breach.worst), mean: most(&|breach| breach.mean) })
}

fn independent(view: &GroupView) -> (Breach, Breach) {
    let share = |count: u32| f64::from(count) / f64::from(view.size.max(1));
    let highest = |counts: &Vec<(u32, u32)>| counts.iter().map(|&(_, count)| share(count)).fold(0.0, f64::max);
    let expected = |counts: &Vec<(u32, u32)>| counts.iter().map(|&(_, count)| share(count).powi(2)).sum::<f64>();
    let of = |shares: Vec<f64>| {
        let all: f64 = shares.iter().product();
        let least = shares.iter().copied().fold(1.0, f64::min);
        (all, if least > 0.0 { all / least } else { 0.0 })
    };
    let (worst, worst_others) = of(view.counts.iter().map(highest).collect());
    let (mean, mean_others) = of(view.counts.iter().map(expected).collect());
    (Breach { worst, mean }, Breach { worst: worst_others, mean: mean_others })
}

/// The posterior of a person of a group, over all ways to deal: each combination of codes that can be with its probability. None
/// if there are too many ways, or the law excludes them all.
pub fn exact(view: &GroupView, law: impl Fn(&[u32]) -> f64) -> Option<Vec<(Vec<u32>, f64)>> {
    let (first, others) = view.counts.split_first()?;
    let n_dealt: usize = others.iter().try_fold(1_usize, |n, counts| n.checked_mul(counts.len()))?;
    // A state is a number: what is left of each value of the other columns, in places of its own.
    let mut places = Vec::new();
    let mut n_states = 1_usize;
    for counts in others {
        let mut of_column = Vec::with_capacity(counts.len());
        for &(_, count) in counts {
            of_column.push((n_states, count as usize + 1));
            n_states = n_states.checked_mul(count as usize + 1).filter(|&n| n <= MOST_WORK)?;
        }
        places.push(of_column);
    }
    if n_dealt == 0 || n_states.checked_mul(n_dealt)?.checked_mul(view.size as usize)? > MOST_WORK {
        return None;
    }
    let deals = Deals::new(others, &places, n_dealt);
    // The weights of what can be dealt to a person with each value of the first column.
    let weights = first.iter().map(|&(value, _)| {
        let mut codes = vec![value; view.counts.len()];
        let of = |deal: usize| {
            codes[1..].copy_from_slice(&deals.codes[deal]);
            law(&codes).max(0.0)
        };
        (0..n_dealt).map(of).collect::<Vec<f64>>()
    });
    let weights: Vec<Vec<f64>> = weights.collect();
    let people: Vec<usize> =
        first.iter().enumerate().flat_map(|(at, &(_, count))| std::iter::repeat_n(at, count as usize)).collect();
    let forward = forward(&deals, &weights, &people, n_states)?;
    let expected = backward(&deals, &weights, &people, &forward)?;
    let size = f64::from(view.size.max(1));
    let combination = |(at, deal): (usize, usize)| {
        let codes = std::iter::once(first[at].0).chain(deals.codes[deal].iter().copied()).collect();
        (codes, expected[at][deal] / size)
    };
    let all = (0..first.len()).flat_map(|at| (0..n_dealt).map(move |deal| (at, deal)));
    Some(all.map(combination).collect())
}

/// How likely each state is after so many people, from nobody on; `people` are the places of their values of the first column.
fn forward(deals: &Deals, weights: &[Vec<f64>], people: &[usize], n_states: usize) -> Option<Vec<Vec<f64>>> {
    let mut forward: Vec<Vec<f64>> = vec![vec![0.0; n_states]];
    forward[0][n_states - 1] = 1.0;
    for &value in people {
        let mut next = vec![0.0; n_states];
        for (state, &likely) in forward.last()?.iter().enumerate().filter(|(_, likely)| **likely > 0.0) {
            for deal in (0..deals.codes.len()).filter(|&deal| deals.fits(deal, state)) {
                next[state - deals.steps[deal]] += likely * weights[value][deal];
            }
        }
        forward.push(scaled(next)?);
    }
    Some(forward)
}

/// How many people are expected with each value of the first column and each deal. Goes back through the states with how likely
/// the rest is from each on.
fn backward(deals: &Deals, weights: &[Vec<f64>], people: &[usize], forward: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    let (n_dealt, n_states) = (deals.codes.len(), forward[0].len());
    let mut expected = vec![vec![0.0; n_dealt]; weights.len()];
    let mut rest = vec![0.0; n_states];
    rest[0] = 1.0;
    for (person, &value) in people.iter().enumerate().rev() {
        let (mut before, mut of_person) = (vec![0.0; n_states], vec![0.0; n_dealt]);
        for (state, &likely) in forward[person].iter().enumerate().filter(|(_, likely)| **likely > 0.0) {
            for deal in (0..n_dealt).filter(|&deal| deals.fits(deal, state)) {
                let after = weights[value][deal] * rest[state - deals.steps[deal]];
                of_person[deal] += likely * after;
                before[state] += after;
            }
        }
        let sum: f64 = of_person.iter().sum();
        if sum <= 0.0 {
            return None;
        }
        expected[value].iter_mut().zip(of_person).for_each(|(all, one)| *all += one / sum);
        rest = scaled(before)?;
    }
    Some(expected)
}

/// Only ratios matter, and products of many small weights would vanish. None if nothing is left.
fn scaled(mut weights: Vec<f64>) -> Option<Vec<f64>> {
    let most = weights.iter().copied().fold(0.0, f64::max);
    (most > 0.0).then(|| {
        weights.iter_mut().for_each(|weight| *weight /= most);
        weights
    })
}

/// What can be dealt to one person: a value of each column but the first.
struct Deals {
    codes: Vec<Vec<u32>>,
    /// By how much a deal lowers the number of a state.
    steps: Vec<usize>,
    /// For each deal where the counts of its values stand: (place, radix).
    needs: Vec<Vec<(usize, usize)>>,
}

impl Deals {
    fn new(others: &[Vec<(u32, u32)>], places: &[Vec<(usize, usize)>], n: usize) -> Self {
        let mut deals = Deals { codes: Vec::new(), steps: Vec::new(), needs: Vec::new() };
        for mut at in 0..n {
            let (mut codes, mut needs) = (Vec::new(), Vec::new());
            for (counts, places) in others.iter().zip(places) {
                let value = at % counts.len();
                at /= counts.len();
                codes.push(counts[value].0);
                needs.push(places[value]);
            }
            deals.steps.push(needs.iter().map(|&(place, _)| place).sum());
            deals.codes.push(codes);
            deals.needs.push(needs);
        }
        deals
    }

    /// Whether enough is left.
    fn fits(&self, deal: usize, state: usize) -> bool {
        self.needs[deal].iter().all(|&(place, radix)| !(state / place).is_multiple_of(radix))
    }
}
