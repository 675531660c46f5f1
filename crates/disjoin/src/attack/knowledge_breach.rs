//! How likely are all sensitive values of a person guessed from a split table, by somebody who knows the group, and perhaps one
//! of the values?
//!
//! A group of g people tells of each sensitive column i how many have each value, c_i. All ways to deal the values to people are
//! equally likely, column by column:
//!
//! ```text
//! Definition 3, the group is known:                 KBP = product over i of c_i / g
//! Definition 4, a value of column m is known:       KBP = c_m / g
//! Definition 5, both are known:                     KBP = product over i != m of c_i / g
//! Property 1:   Definition 3 = Definition 5 x Definition 4
//! Lemma 1:      Definition 5 >= 1 / (c_m g^(q-1));   Property 2: Definition 3 >= 1 / g^q
//! ```
//!
//! Somebody who also knows how the values of different columns go together brings a law; [`fitted`] bends it to the counts of a
//! group, and with nothing known gives Definition 3 again.
//!
//! Paper:      nadimpalli2014, definitions 3 to 5, lemma 1, properties 1 and 2
//! Promises:   the probabilities are shares of all arrangements that agree with the release, exactly. Certain is what all of
//!             them have
//! Assumes:    counts add up to the sizes of groups; nothing but the release is seen
//! Departs:    the paper asks about given values of a person. Without them, the worst are those with the highest counts, and the
//!             mean is over all arrangements: a person has a value as often as the group does. Of a single column nothing is left
//!             when a value is known, and Definition 5 is not told. A value that fills its group is told apart: no probability
//!             of all values together shows that one of them is certain
//! Cost:       linear in the lines of the sensitive tables; `fitted` in all combinations of values, times rounds
//! Checked by: `tests/it/break_merge.rs`, against all arrangements

use rayon::prelude::*;
use serde::Serialize;

use crate::error::{Error, Place, Result};
use crate::release::privacy_models::breach_probability;
use crate::release::split::SplitTables;

/// Limits are kept up to this much.
const ROUNDING: f64 = 1e-9;

/// How many of the worst groups are told one by one.
const TOLD: usize = 20;

/// More combinations of values than this are not weighed one by one.
const MOST_COMBINATIONS: usize = 1 << 20;

/// Scaling ends when sums are as near as this to what they should be, or after so many rounds.
const NEAR: f64 = 1e-12;
const ROUNDS: usize = 1000;

/// What everybody sees of a group.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GroupView {
    /// The number of people, g.
    pub size: u32,
    /// For each sensitive column the values that occur, by code, and how often.
    pub counts: Vec<Vec<(u32, u32)>>,
}

/// How likely something is: in the worst case, and on average over people.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Breach {
    /// For the likeliest values of any group.
    pub worst: f64,
    /// For the values that people have, over all people and arrangements.
    pub mean: f64,
}

/// What a group discloses.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupBreach {
    /// Its number, counted from 1 as in the files.
    pub group: u64,
    /// Its people.
    pub size: u32,
    /// If the group is known (Definition 3).
    pub group_known: Breach,
    /// If one value is known as well (Definition 5), of the column that helps most; none if there is one column only.
    pub value_known: Option<Breach>,
    /// Columns of which it has one value only: everybody's is certain.
    pub certain: Vec<String>,
}

/// What a column discloses by itself.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ColumnBreach {
    /// Its name.
    pub column: String,
    /// How likely its value is guessed if the group is known (Definition 4).
    pub alone: Breach,
    /// How likely all others are guessed if the group and the value are known (Definition 5); none if there are no others.
    pub others: Option<Breach>,
    /// Groups in which it has one value only.
    pub certain_groups: u64,
}

/// What a split table discloses.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BreachReport {
    /// The number of people.
    pub people: u64,
    /// The number of groups.
    pub groups: u64,
    /// If the group is known (Definition 3).
    pub group_known: Breach,
    /// If one value is known as well (Definition 5), of the column that helps most; none if there is one column only.
    pub value_known: Option<Breach>,
    /// Column by column.
    pub columns: Vec<ColumnBreach>,
    /// How many values of people are certain.
    pub certain: u64,
    /// The limit on the probability, if there is one.
    pub limit: Option<f64>,
    /// Groups above it.
    pub above: u64,
    /// The groups that give most away, the worst first.
    pub worst_groups: Vec<GroupBreach>,
}

/// Definition 3: the group is known; `counts` are those of the person's values, column by column.
pub fn group_known(size: u32, counts: &[u32]) -> f64 {
    counts.iter().map(|&count| share(count, size)).product()
}

/// Definition 4: only that the person has a value, and in which group that may be.
pub fn value_known(size: u32, count: u32) -> f64 {
    share(count, size)
}

/// Definition 5: the group, and the value of the column `known`.
pub fn group_and_value_known(size: u32, counts: &[u32], known: usize) -> f64 {
    let others = counts.iter().enumerate().filter(|(column, _)| *column != known);
    others.map(|(_, &count)| share(count, size)).product()
}

fn share(count: u32, size: u32) -> f64 {
    f64::from(count) / f64::from(size.max(1))
}

/// The groups of a release, as an adversary sees them.
pub fn views(tables: &SplitTables) -> Result<Vec<GroupView>> {
    let n_columns = tables.sensitive.len();
    let sizes = tables.sizes();
    let view = |&size: &u32| GroupView { size, counts: vec![Vec::new(); n_columns] };
    let mut views: Vec<GroupView> = sizes.iter().map(view).collect();
    for (i, values) in tables.sensitive.iter().enumerate() {
        let wrong = || {
            let place = Place::file("the release").in_column(&values.column);
            Error::input(place, "the counts of the groups do not add up to their sizes")
                .with_hint("disjoin verify shows where")
        };
        for line in &values.counts {
            views.get_mut(line.group as usize).ok_or_else(wrong)?.counts[i].push((line.code, line.count));
        }
        let sum = |view: &GroupView| view.counts[i].iter().map(|&(_, count)| u64::from(count)).sum::<u64>();
        if views.iter().any(|view| sum(view) != u64::from(view.size)) {
            return Err(wrong());
        }
    }
    Ok(views)
}

/// What a release discloses; `limit` is the limit on the probability.
pub fn knowledge_breach(tables: &SplitTables, limit: Option<f64>) -> Result<BreachReport> {
    let views = views(tables)?;
    let names: Vec<&str> = tables.sensitive.iter().map(|values| values.column.as_str()).collect();
    let n_columns = names.len();
    let of_groups: Vec<OfGroup> = views.par_iter().map(OfGroup::new).collect();
    let people: u64 = views.iter().map(|view| u64::from(view.size)).sum();
    let mean = |of: &dyn Fn(&OfGroup) -> f64| {
        let sum: f64 = of_groups.iter().map(|group| f64::from(group.size) * of(group)).sum();
        sum / people.max(1) as f64
    };
    let worst = |of: &dyn Fn(&OfGroup) -> f64| of_groups.iter().map(of).fold(0.0, f64::max);
    let both = |worst_of: &dyn Fn(&OfGroup) -> f64, mean_of: &dyn Fn(&OfGroup) -> f64| Breach {
        worst: worst(worst_of),
        mean: mean(mean_of),
    };
    let columns = (0..n_columns).map(|m| ColumnBreach {
        column: names[m].to_owned(),
        alone: both(&|group| group.highest[m], &|group| group.expected[m]),
        others: (n_columns > 1).then(|| both(&|group| group.worst_without(m), &|group| group.mean_without(m))),
        certain_groups: of_groups.iter().filter(|group| group.is_certain(m)).count() as u64,
    });
    let columns: Vec<ColumnBreach> = columns.collect();
    let certain_values = |group: &OfGroup| u64::from(group.size) * group.certain().count() as u64;
    let certain: u64 = of_groups.iter().map(certain_values).sum();
    let above = |group: &&OfGroup| limit.is_some_and(|limit| group.limited() > limit + ROUNDING);
    let above = of_groups.iter().filter(above).count() as u64;
    Ok(BreachReport {
        people,
        groups: views.len() as u64,
        group_known: both(&OfGroup::worst, &OfGroup::mean),
        value_known: (n_columns > 1).then(|| both(&OfGroup::limited, &OfGroup::most_mean_without)),
        columns,
        certain,
        limit,
        above,
        worst_groups: worst_groups(&of_groups, &names),
    })
}

fn worst_groups(groups: &[OfGroup], names: &[&str]) -> Vec<GroupBreach> {
    let mut order: Vec<usize> = (0..groups.len()).collect();
    let key = |&group: &usize| (groups[group].certain().count(), groups[group].limited(), groups[group].worst());
    order.sort_by(|a, b| {
        let (a, b) = (key(a), key(b));
        b.0.cmp(&a.0).then(b.1.total_cmp(&a.1)).then(b.2.total_cmp(&a.2))
    });
    let told = |&place: &usize| {
        let group = &groups[place];
        GroupBreach {
            group: place as u64 + 1,
            size: group.size,
            group_known: Breach { worst: group.worst(), mean: group.mean() },
            value_known: (names.len() > 1).then(|| Breach { worst: group.limited(), mean: group.most_mean_without() }),
            certain: group.certain().map(|column| names[column].to_owned()).collect(),
        }
    };
    order.iter().take(TOLD).map(told).collect()
}

/// For each column of a group the highest share, and the expected share of the value that a person has.
struct OfGroup {
    size: u32,
    highest: Vec<f64>,
    expected: Vec<f64>,
}

impl OfGroup {
    fn new(view: &GroupView) -> Self {
        let highest = |counts: &Vec<(u32, u32)>| counts.iter().map(|&(_, c)| share(c, view.size)).fold(0.0, f64::max);
        // Of the people who have a value, each is found with its share: the sum over values of (c / g)^2.
        let expected = |counts: &Vec<(u32, u32)>| counts.iter().map(|&(_, c)| share(c, view.size).powi(2)).sum();
        OfGroup {
            size: view.size,
            highest: view.counts.iter().map(highest).collect(),
            expected: view.counts.iter().map(expected).collect(),
        }
    }

    fn worst(&self) -> f64 {
        self.highest.iter().product()
    }

    fn mean(&self) -> f64 {
        self.expected.iter().product()
    }

    fn worst_without(&self, known: usize) -> f64 {
        without(&self.highest, known)
    }

    fn mean_without(&self, known: usize) -> f64 {
        without(&self.expected, known)
    }

    /// What a limit is about: Definition 5 for the column that helps most, Definition 3 of a single column.
    fn limited(&self) -> f64 {
        breach_probability(self.highest.iter().copied())
    }

    fn most_mean_without(&self) -> f64 {
        breach_probability(self.expected.iter().copied())
    }

    fn is_certain(&self, column: usize) -> bool {
        self.highest[column] >= 1.0
    }

    fn certain(&self) -> impl Iterator<Item = usize> {
        (0..self.highest.len()).filter(|&column| self.is_certain(column))
    }
}

fn without(shares: &[f64], known: usize) -> f64 {
    shares.iter().enumerate().filter(|(column, _)| *column != known).map(|(_, share)| share).product()
}

/// What somebody believes of a person of a group who brings a law of how values go together: `law` gives the weight of each
/// combination of codes, one of each column. The result are all combinations of values of the group with their probabilities.
/// They are those nearest to the law, in relative entropy, whose shares are those of the group: the posterior KBP of a network
/// that was learned elsewhere. None if there are too many combinations, or the law excludes what the group shows.
pub fn fitted(group: &GroupView, law: impl Fn(&[u32]) -> f64) -> Option<Vec<(Vec<u32>, f64)>> {
    let lengths: Vec<usize> = group.counts.iter().map(Vec::len).collect();
    let n = lengths.iter().try_fold(1_usize, |n, &length| n.checked_mul(length))?;
    if n > MOST_COMBINATIONS || n == 0 {
        return None;
    }
    // The places of a combination's values in the counts of their columns, the last column fastest.
    let places = |mut at: usize| {
        let mut places = vec![0; lengths.len()];
        for (place, &length) in places.iter_mut().zip(&lengths).rev() {
            (*place, at) = (at % length, at / length);
        }
        places
    };
    let code = |(column, place): (usize, usize)| group.counts[column][place].0;
    let codes = |at: usize| -> Vec<u32> { places(at).into_iter().enumerate().map(code).collect() };
    let mut weights: Vec<f64> = (0..n).map(|at| law(&codes(at)).max(0.0)).collect();
    for _ in 0..ROUNDS {
        let mut furthest = 0.0_f64;
        for (column, counts) in group.counts.iter().enumerate() {
            let mut sums = vec![0.0; counts.len()];
            weights.iter().enumerate().for_each(|(at, weight)| sums[places(at)[column]] += weight);
            for (sum, &(_, count)) in sums.iter_mut().zip(counts) {
                let wanted = share(count, group.size);
                if *sum <= 0.0 {
                    return None;
                }
                furthest = furthest.max((*sum - wanted).abs());
                *sum = wanted / *sum;
            }
            weights.iter_mut().enumerate().for_each(|(at, weight)| *weight *= sums[places(at)[column]]);
        }
        if furthest < NEAR {
            break;
        }
    }
    Some(weights.into_iter().enumerate().map(|(at, weight)| (codes(at), weight)).collect())
}
