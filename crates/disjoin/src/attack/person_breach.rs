//! What a split table tells of one person, over all assignments that are consistent with it: Table XIII.
//!
//! The person's published values leave some rows, of one group or of several; of a group with g people, c of whom have a value, each
//! is as likely to have it. With w the share of the person's rows that lie in a group, and what is known with the counts c_m:
//!
//! ```text
//! P(known)          = sum over groups of w  prod over known m of c_m / g               (Definition 4)
//! P(values | known) = sum over groups of w  prod over known m of c_m / g  prod over the others i of c_i / g  /  P(known)   (Definition 5)
//! ```
//!
//! Paper:      nadimpalli2014, definitions 3 to 5, Table XIII, and its example (Jessica)
//! Promises:   exact over all assignments; nothing is drawn
//! Assumes:    the adversary knows nothing of how values of different columns go together; for that see `network_breach`
//! Departs:    the paper knows the group; here a person may be in several
//! Cost:       the combinations of values in the person's groups, up to a limit; beyond it only single columns are told
//! Checked by: tests/it/survive.rs, against all assignments; Table XIII on the command line

use std::collections::BTreeMap;

use serde::Serialize;

use super::surviving::Valued;
use crate::release::split::SplitTables;

/// More combinations of values than this are not told.
const MOST: usize = 1 << 16;

/// How many of them are told, the likeliest first.
const TOLD: usize = 100;

/// What a split table tells of a person.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PersonBreach {
    /// Groups that the person may be in.
    pub groups: u64,
    /// The probability that a person of these groups has what is known (Definition 4); 1 if nothing is.
    pub known: f64,
    /// All other sensitive values together, the likeliest first (Definition 5; Definition 3 if nothing is known).
    pub guesses: Vec<Guess>,
    /// How many combinations are possible; none if they were too many to look at.
    pub combinations: Option<u64>,
    /// For each sensitive column the probability of each value, by code.
    #[serde(skip)]
    pub columns: Vec<Vec<f64>>,
}

/// Values of a person, and how likely they are.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Guess {
    /// The values.
    pub values: Vec<Valued>,
    /// Their probability.
    pub probability: f64,
}

/// The counts of one group, column by column, and how likely the person is in it, together with what is known.
struct Here {
    weight: f64,
    size: f64,
    counts: Vec<Vec<(u32, u32)>>,
}

/// What follows for a person who has all of `has`: places among quasi-identifiers and then sensitive columns, with codes.
pub fn person_breach(tables: &SplitTables, has: &[(usize, u32)]) -> PersonBreach {
    let n_quasi = tables.quasi.columns.len();
    let (quasi, sensitive): (Vec<_>, Vec<_>) = has.iter().copied().partition(|(column, _)| *column < n_quasi);
    let known: Vec<(usize, u32)> = sensitive.into_iter().map(|(column, code)| (column - n_quasi, code)).collect();
    let here = groups(tables, &quasi, &known);
    let rows: f64 = here.iter().map(|group| group.weight).sum();
    let asked: Vec<usize> =
        (0..tables.sensitive.len()).filter(|at| known.iter().all(|(other, _)| other != at)).collect();
    let mut found = PersonBreach {
        groups: here.len() as u64,
        known: rows,
        guesses: Vec::new(),
        combinations: None,
        columns: columns(tables, &here, &known, rows),
    };
    if let Some(together) = together(&here, &asked) {
        found.combinations = Some(together.len() as u64);
        let valued = |(&at, &code): (&usize, &u32)| Valued {
            column: tables.sensitive[at].column.clone(),
            value: tables.sensitive[at].domain.text(code).to_owned(),
        };
        let guess = |(codes, weight): (Vec<u32>, f64)| Guess {
            values: asked.iter().zip(&codes).map(valued).collect(),
            probability: weight / rows,
        };
        found.guesses = together.into_iter().map(guess).collect();
        found.guesses.sort_by(|a, b| b.probability.total_cmp(&a.probability).then_with(|| a.values.cmp(&b.values)));
        found.guesses.truncate(TOLD);
    }
    found
}

/// The groups that the person may be in.
fn groups(tables: &SplitTables, quasi: &[(usize, u32)], known: &[(usize, u32)]) -> Vec<Here> {
    let fits = |row: usize| quasi.iter().all(|&(column, code)| tables.quasi.columns[column].codes[row] == code);
    let mut rows: BTreeMap<u32, u32> = BTreeMap::new();
    for (row, &group) in tables.group_of.iter().enumerate() {
        if fits(row) {
            *rows.entry(group).or_default() += 1;
        }
    }
    let all: u32 = rows.values().sum();
    let sizes = tables.sizes();
    let mut counts: BTreeMap<u32, Vec<Vec<(u32, u32)>>> = BTreeMap::new();
    for (at, values) in tables.sensitive.iter().enumerate() {
        for line in values.counts.iter().filter(|line| rows.contains_key(&line.group)) {
            let of_group = counts.entry(line.group).or_insert_with(|| vec![Vec::new(); tables.sensitive.len()]);
            of_group[at].push((line.code, line.count));
        }
    }
    let here = |(group, counts): (u32, Vec<Vec<(u32, u32)>>)| {
        let size = f64::from(sizes[group as usize]);
        let of = |&(at, code): &(usize, u32)| {
            let of_code = counts[at].iter().find(|(other, _)| *other == code);
            of_code.map_or(0.0, |&(_, count)| f64::from(count) / size)
        };
        let weight = f64::from(rows[&group]) / f64::from(all) * known.iter().map(of).product::<f64>();
        Here { weight, size, counts }
    };
    counts.into_iter().map(here).filter(|here| here.weight > 0.0).collect()
}

/// The probability of each value of each column by itself.
fn columns(tables: &SplitTables, here: &[Here], known: &[(usize, u32)], rows: f64) -> Vec<Vec<f64>> {
    let column = |(at, values): (usize, &crate::release::split::Values)| {
        let mut shares = vec![0.0; values.domain.n_codes()];
        if let Some(&(_, code)) = known.iter().find(|(other, _)| *other == at) {
            shares[code as usize] = 1.0;
            return shares;
        }
        for group in here {
            for &(code, count) in &group.counts[at] {
                shares[code as usize] += group.weight * f64::from(count) / group.size / rows;
            }
        }
        shares
    };
    tables.sensitive.iter().enumerate().map(column).collect()
}

/// The weight of each combination of values of the columns `asked`, unless there are too many.
fn together(here: &[Here], asked: &[usize]) -> Option<BTreeMap<Vec<u32>, f64>> {
    let of_group = |group: &Here| asked.iter().map(|&at| group.counts[at].len()).try_fold(1_usize, usize::checked_mul);
    let all = here.iter().map(of_group).try_fold(0_usize, |sum, n| sum.checked_add(n?))?;
    if all > MOST || asked.is_empty() {
        return None;
    }
    let mut weights: BTreeMap<Vec<u32>, f64> = BTreeMap::new();
    for group in here {
        let mut partial: Vec<(Vec<u32>, f64)> = vec![(Vec::new(), group.weight)];
        for &at in asked {
            let longer = |(codes, weight): &(Vec<u32>, f64)| {
                let with = |&(code, count): &(u32, u32)| {
                    ([&codes[..], &[code]].concat(), weight * f64::from(count) / group.size)
                };
                group.counts[at].iter().map(with).collect::<Vec<_>>()
            };
            partial = partial.iter().flat_map(longer).collect();
        }
        partial.into_iter().for_each(|(codes, weight)| *weights.entry(codes).or_default() += weight);
    }
    Some(weights)
}
