//! What does somebody learn about people who already knows how sensitive values go with quasi-identifiers?
//!
//! The adversary knows who is in a class, by their quasi-identifiers, and believes B(r)(s) of each. The class tells how often
//! each value occurs, n_s. If values were dealt to people independently, by what is believed of each, an arrangement of the
//! values has a probability that is proportional to the product of B(r)(s_r), and the posterior of a person is the share of
//! arrangements that give the person a value. [`Inference::Exact`] sums over all of them; the others are cheaper:
//!
//! ```text
//! omega:     pi(r)(s) ~ n_s B(r)(s) / sum over r' in the class of B(r')(s)
//! sinkhorn:  pi(r)(s) = x_r B(r)(s) y_s, with sums of 1 over s and of n_s over r
//! ```
//!
//! Paper:      amiri2016, section 1 (the adversary); the omega-estimate is that of Li, Li, Zhang 2009
//! Promises:   posteriors are distributions over the values of the class (nothing at all, if it shows no value). Exact is exact for classes of up to 12 people
//! Assumes:    the members of a class are known; if more people match it than it has rows, each is as likely to be in it
//! Departs:    larger classes get Sinkhorn's numbers where exact ones are asked for. Beliefs below 1e-12 count as that: a value
//!             that nobody is believed to have may still be there
//! Cost:       people with the same beliefs are looked at once, and values that a class lacks not at all. Omega: points times
//!             values; Sinkhorn: that times rounds; exact: people times the number of smaller counts, at most 2^12
//! Checked by: tests/it/background.rs, against all arrangements

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::knowledge::{Beliefs, jensen_shannon};

/// The most people whose arrangements are summed up one by one.
const EXACT: usize = 12;

/// Sinkhorn's rounds end when sums are as near as this to what they should be, or after so many.
const NEAR: f64 = 1e-9;
const ROUNDS: usize = 500;

/// Nothing is believed to be less likely.
const LEAST: f64 = 1e-12;

/// What an adversary sees of a class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassView {
    /// The people who match it, by the rows that beliefs are about.
    pub members: Vec<u32>,
    /// How often it has each sensitive value.
    pub counts: Vec<u32>,
}

/// How posteriors are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Inference {
    /// One step of Sinkhorn's, then scaled.
    Omega,
    /// Rows and columns scaled in turn.
    Sinkhorn,
    /// All arrangements, where there are few people; otherwise Sinkhorn's.
    #[default]
    Exact,
}

/// What is believed of everybody after the release.
#[derive(Debug, Clone, PartialEq)]
pub struct Posteriors {
    n_values: usize,
    /// One distribution after the other.
    points: Vec<f64>,
    /// Class by class its people, and which distribution is each person's.
    people: Vec<(u32, u32)>,
    /// Where the people of each class end.
    ends: Vec<usize>,
}

/// What people lose to somebody who holds these beliefs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Loss {
    /// How many people are in classes.
    pub people: u64,
    /// JS(B, pi) in bits, the mean over people.
    pub mean: f64,
    /// The largest of them.
    pub max: f64,
    /// The highest posterior of a value, of all people.
    pub posterior: f64,
    /// The highest ratio pi(s) / B(s) of a value that the class has.
    pub ratio: f64,
    /// How many people have a value with a posterior above the limit.
    pub above: u64,
}

/// What an adversary believes who has seen the classes of a release.
pub fn posteriors(classes: &[ClassView], beliefs: &Beliefs, inference: Inference) -> Posteriors {
    let infer = |class: &ClassView| {
        let crowd = Crowd::new(beliefs, &class.members, &class.counts);
        let shares = match inference {
            Inference::Omega => omega(&crowd),
            Inference::Sinkhorn => sinkhorn(&crowd),
            Inference::Exact => exact(&crowd).unwrap_or_else(|| sinkhorn(&crowd)),
        };
        (crowd.spread(&shares), crowd.point_of)
    };
    let found: Vec<(Vec<f64>, Vec<u32>)> = classes.par_iter().map(infer).collect();
    let mut all = Posteriors { n_values: beliefs.n_values(), points: Vec::new(), people: Vec::new(), ends: Vec::new() };
    for (class, (shares, point_of)) in classes.iter().zip(found) {
        let first = all.n_points() as u32;
        all.people.extend(class.members.iter().zip(point_of).map(|(&person, point)| (person, first + point)));
        all.points.extend(shares);
        all.ends.push(all.people.len());
    }
    all
}

/// What people lose; `limit` is how sure of a value an adversary may be.
pub fn loss(posteriors: &Posteriors, beliefs: &Beliefs, limit: f64) -> Loss {
    let of_person = |&(person, point): &(u32, u32)| {
        let (before, after) = (beliefs.of(person), posteriors.point(point));
        let posterior = after.iter().copied().fold(0.0, f64::max);
        let ratio = before.iter().zip(after).map(|(b, p)| p / b.max(LEAST)).fold(0.0, f64::max);
        (jensen_shannon(before, after), posterior, ratio)
    };
    let each: Vec<(f64, f64, f64)> = posteriors.people.par_iter().map(of_person).collect();
    let mut loss = Loss { people: each.len() as u64, ..Loss::default() };
    for (divergence, posterior, ratio) in each {
        loss.mean += divergence / loss.people as f64;
        loss.max = loss.max.max(divergence);
        loss.posterior = loss.posterior.max(posterior);
        loss.ratio = loss.ratio.max(ratio);
        loss.above += u64::from(posterior > limit);
    }
    loss
}

impl Posteriors {
    fn n_points(&self) -> usize {
        self.points.len() / self.n_values.max(1)
    }

    fn point(&self, point: u32) -> &[f64] {
        &self.points[point as usize * self.n_values..][..self.n_values]
    }

    /// Class by class, the people in it and what is believed of each.
    pub fn classes(&self) -> impl Iterator<Item = impl Iterator<Item = (u32, &[f64])>> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts
            .zip(&self.ends)
            .map(|(start, &end)| self.people[start..end].iter().map(|&(person, point)| (person, self.point(point))))
    }
}

/// The people and values of a class: those of whom the same is believed are one point, and values that it lacks are left out.
#[derive(Debug, Clone, PartialEq)]
pub struct Crowd {
    /// The values that it has.
    values: Vec<usize>,
    n_values: usize,
    /// How often it has each, scaled to sum to the number of people.
    counts: Vec<f64>,
    /// Whether they were counts of exactly these people.
    is_exact: bool,
    /// For each point what is believed of each value.
    beliefs: Vec<f64>,
    /// For each point its number of people.
    times: Vec<f64>,
    /// For each person the point.
    point_of: Vec<u32>,
}

impl Crowd {
    /// Members of a class with its counts.
    pub fn new(beliefs: &Beliefs, members: &[u32], counts: &[u32]) -> Self {
        let mut points: Vec<u32> = members.iter().map(|&person| beliefs.point_of(person)).collect();
        points.sort_unstable();
        points.dedup();
        let place = |person: &u32| points.partition_point(|&point| point < beliefs.point_of(*person)) as u32;
        let point_of: Vec<u32> = members.iter().map(place).collect();
        let mut times = vec![0.0; points.len()];
        point_of.iter().for_each(|&point| times[point as usize] += 1.0);
        let count = |value: usize| counts.get(value).map_or(0.0, |&count| f64::from(count));
        let values: Vec<usize> = (0..beliefs.n_values()).filter(|&value| count(value) > 0.0).collect();
        let sum: f64 = values.iter().map(|&value| count(value)).sum();
        let scale = members.len() as f64 / sum.max(1.0);
        let believed = |&point: &u32| values.iter().map(move |&value| (point, value));
        let shares = points.iter().flat_map(believed).map(|(point, value)| beliefs.point(point)[value].max(LEAST));
        Crowd {
            beliefs: shares.collect(),
            counts: values.iter().map(|&value| count(value) * scale).collect(),
            is_exact: sum == members.len() as f64,
            n_values: beliefs.n_values(),
            values,
            times,
            point_of,
        }
    }

    /// Distributions over all values from those over the values of the class.
    fn spread(&self, shares: &[f64]) -> Vec<f64> {
        let mut all = vec![0.0; self.times.len() * self.n_values];
        let width = self.values.len();
        for (point, all) in all.chunks_exact_mut(self.n_values.max(1)).enumerate() {
            for (&value, &share) in self.values.iter().zip(&shares[point * width..][..width]) {
                all[value] = share;
            }
        }
        all
    }

    /// For each member a distribution over all values, from what a function of this file says of points.
    pub fn of_members(&self, shares: &[f64]) -> Vec<Vec<f64>> {
        let all = self.spread(shares);
        self.point_of.iter().map(|&point| all[point as usize * self.n_values..][..self.n_values].to_vec()).collect()
    }

    /// The sum over people of each value's share.
    fn sums(&self, shares: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.values.len()];
        for (row, times) in shares.chunks_exact(self.values.len().max(1)).zip(&self.times) {
            sums.iter_mut().zip(row).for_each(|(sum, share)| *sum += times * share);
        }
        sums
    }
}

/// pi(r)(s) ~ n_s B(r)(s) / sum of B(r')(s): for each point the shares of the values that the class has.
pub fn omega(crowd: &Crowd) -> Vec<f64> {
    let mut shares = crowd.beliefs.clone();
    scale_columns(crowd, &mut shares);
    scale_rows(crowd, &mut shares);
    shares
}

/// Rows that sum to 1 and columns that sum to n_s, by scaling them in turn.
pub fn sinkhorn(crowd: &Crowd) -> Vec<f64> {
    let mut shares = crowd.beliefs.clone();
    for _ in 0..ROUNDS {
        scale_columns(crowd, &mut shares);
        scale_rows(crowd, &mut shares);
        let sums = crowd.sums(&shares);
        if sums.iter().zip(&crowd.counts).all(|(sum, count)| (sum - count).abs() <= NEAR) {
            break;
        }
    }
    shares
}

fn scale_columns(crowd: &Crowd, shares: &mut [f64]) {
    let sums = crowd.sums(shares);
    for row in shares.chunks_exact_mut(crowd.values.len().max(1)) {
        for ((share, sum), count) in row.iter_mut().zip(&sums).zip(&crowd.counts) {
            *share *= count / sum;
        }
    }
}

fn scale_rows(crowd: &Crowd, shares: &mut [f64]) {
    for row in shares.chunks_exact_mut(crowd.values.len().max(1)) {
        let sum: f64 = row.iter().sum();
        row.iter_mut().for_each(|share| *share /= sum);
    }
}

/// The shares of all arrangements; none for more than 12 people, or if they are not as many as the counts say.
///
/// People are dealt values one after the other. What was dealt so far is a vector of counts v, which also tells how many
/// people that were. `before[v]` is the sum over all ways to deal v to the first |v| people, `after[v]` that of dealing the rest.
pub fn exact(crowd: &Crowd) -> Option<Vec<f64>> {
    let people: Vec<usize> =
        (0..crowd.times.len()).flat_map(|point| std::iter::repeat_n(point, crowd.times[point] as usize)).collect();
    if !crowd.is_exact || people.len() > EXACT {
        return None;
    }
    let width = crowd.values.len();
    // Vectors in mixed radix: the step of a value is the product of n_s + 1 over those before it.
    let mut steps = Vec::with_capacity(width);
    let mut n_states = 1;
    for &count in &crowd.counts {
        steps.push(n_states);
        n_states *= count as usize + 1;
    }
    let dealt = |state: usize, value: usize| state / steps[value] % (crowd.counts[value] as usize + 1);
    let n_dealt: Vec<usize> = (0..n_states).map(|state| (0..width).map(|value| dealt(state, value)).sum()).collect();
    let may_deal = |state: usize, value: usize| dealt(state, value) < crowd.counts[value] as usize;
    let belief = |point: usize, value: usize| crowd.beliefs[point * width + value];
    let (mut before, mut after) = (vec![0.0; n_states], vec![0.0; n_states]);
    (before[0], after[n_states - 1]) = (1.0, 1.0);
    // A vector with one more of a value has a greater number.
    for state in 0..n_states - 1 {
        for value in (0..width).filter(|&value| may_deal(state, value)) {
            before[state + steps[value]] += before[state] * belief(people[n_dealt[state]], value);
        }
    }
    for state in (0..n_states - 1).rev() {
        let ways = (0..width).filter(|&value| may_deal(state, value));
        after[state] = ways.map(|value| after[state + steps[value]] * belief(people[n_dealt[state]], value)).sum();
    }
    // All people of a point have the same: their sum, scaled.
    let mut shares = vec![0.0; crowd.beliefs.len()];
    for state in 0..n_states - 1 {
        let point = people[n_dealt[state]];
        for value in (0..width).filter(|&value| may_deal(state, value)) {
            shares[point * width + value] += before[state] * belief(point, value) * after[state + steps[value]];
        }
    }
    scale_rows(crowd, &mut shares);
    Some(shares)
}
