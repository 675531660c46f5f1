//! The last look at what a method made: classes that fail are merged with the one that costs least, or lose the rows that are
//! too many.
//!
//! Promises:   every class of the result satisfies all criteria over the rows that are published in the end
//! Departs:    ours: papers take overall shares from the whole table, also where they remove rows. A reader of the release
//!             sees the published rows only, and the shares of all would tell what the removed ones were. Of a class that fails
//!             as few rows are removed as can be: a whole one moves the shares so much that others fail in their turn
//! Cost:       one pass if nothing fails; a failing class looks at all others
//! Checked by: `tests/tabular.rs`

use std::collections::HashMap;

use rayon::prelude::*;

use super::Problem;
use super::trim::trim;
use crate::data::Partition;
use crate::error::{Error, Result};
use crate::release::criteria::{Criterion, Judge};

/// So many of the cheapest partners of a failing class are tried.
const TRIED: usize = 50;

/// Merges or removes classes until all hold, and refuses if more than `most_removed` of the rows are lost.
pub(super) fn settle(problem: &Problem<'_>, partition: Partition, most_removed: f64) -> Result<Partition> {
    let (levels, mut removed) = (partition.levels.clone(), partition.removed.clone());
    let mut classes: Vec<Vec<u32>> = partition.classes().map(<[u32]>::to_vec).collect();
    loop {
        if problem.beliefs.is_some() || problem.judge.is_joint() {
            classes = seen_as_one(problem, classes, levels.as_deref());
        }
        let published = classes.iter().flatten().copied();
        let judge = Judge::over(problem.judge.criteria(), problem.table, published)?;
        let holds = |rows: &[u32]| judge.holds(&judge.of(rows.iter().copied())) && problem.agrees(rows);
        let fails: Vec<bool> = classes.par_iter().map(|rows| !holds(rows)).collect();
        if !fails.contains(&true) {
            break;
        }
        let mut failing = Vec::new();
        let mut kept = Vec::new();
        for (rows, fails) in classes.into_iter().zip(fails) {
            if fails { failing.push(rows) } else { kept.push(rows) }
        }
        for mut rows in failing {
            let partner = match levels {
                None => partner(problem, &kept, &rows, &holds),
                // Cells are those of the levels: there is nothing to merge.
                Some(_) => None,
            };
            match partner {
                Some(partner) => kept[partner].extend(rows),
                None => {
                    removed.extend(trim(problem, &judge, &mut rows));
                    // What is left holds, unless something else is wrong with it: no row is the one to go then.
                    match !rows.is_empty() && holds(&rows) {
                        true => kept.push(rows),
                        false => removed.extend(rows),
                    }
                }
            }
        }
        classes = kept;
    }
    removed.sort_unstable();
    let mut settled = Partition::default();
    (settled.removed, settled.levels) = (removed, levels);
    classes.iter().for_each(|rows| settled.push(rows));
    let share = settled.removed.len() as f64 / problem.table.n_rows().max(1) as f64;
    if settled.is_empty() || share > most_removed {
        return Err(too_many_removed(problem, &settled, share, most_removed));
    }
    Ok(settled)
}

/// Classes that show the same cells are one to whoever reads the release. Criteria hold for two together if they do for each;
/// that beliefs are near does not, nor what looks at several columns at once.
fn seen_as_one(problem: &Problem<'_>, classes: Vec<Vec<u32>>, levels: Option<&[u32]>) -> Vec<Vec<u32>> {
    let mut shown = Partition::default();
    shown.levels = levels.map(<[u32]>::to_vec);
    classes.iter().for_each(|rows| shown.push(rows));
    let mut place = HashMap::new();
    let mut seen: Vec<Vec<u32>> = Vec::with_capacity(classes.len());
    for (rows, cells) in classes.into_iter().zip(shown.cells(problem.table)) {
        match place.get(&cells) {
            Some(&at) => {
                let same: &mut Vec<u32> = &mut seen[at];
                same.extend(rows);
            }
            None => {
                place.insert(cells, seen.len());
                seen.push(rows);
            }
        }
    }
    seen
}

/// The class that becomes one with these rows at the least cost, among those with which the criteria hold.
fn partner(
    problem: &Problem<'_>,
    classes: &[Vec<u32>],
    rows: &[u32],
    holds: &(impl Fn(&[u32]) -> bool + Sync),
) -> Option<usize> {
    let union = |class: usize| [&classes[class][..], rows].concat();
    let cost = |class: usize| {
        let both = union(class);
        let before = classes[class].len() as f64 * problem.loss(&classes[class]);
        (both.len() as f64 * problem.loss(&both) - before, class)
    };
    let mut costs: Vec<(f64, usize)> = (0..classes.len()).into_par_iter().map(cost).collect();
    costs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    costs.into_iter().take(TRIED).map(|(_, class)| class).find(|&class| holds(&union(class)))
}

/// Refuses criteria that not even all rows as one class satisfy: no class could, unless rows are removed to make them hold.
pub(super) fn check_feasible(problem: &Problem<'_>) -> Result<()> {
    if problem.table.n_rows() == 0 {
        return Err(Error::Infeasible {
            problem: "the table has no row".into(),
            hint: "give a table with rows".into(),
        });
    }
    if problem.quasi.is_empty() {
        let problem = "no quasi-identifier is declared: there is nothing to generalise";
        return Err(Error::recipe("quasi", problem, "name the columns that others may know with --quasi"));
    }
    let all = problem.judge.of(0..problem.table.n_rows() as u32);
    for (criterion, reading) in problem.judge.criteria().iter().zip(problem.judge.readings(&all)) {
        let Some(reading) = reading.filter(|reading| !reading.holds) else { continue };
        let nearest = match criterion {
            Criterion::KAnonymity { .. } => format!("k can be at most {}", reading.value),
            Criterion::DistinctDiversity { .. } => format!("l can be at most {}", reading.value),
            Criterion::EntropyDiversity { .. } => format!("l can be at most {:.2}", floor_2(reading.value)),
            Criterion::RecursiveDiversity { .. } => match reading.value.is_finite() {
                true => format!("c must be above {:.2}", reading.value),
                false => String::from("l can be at most the number of different sensitive values"),
            },
            Criterion::Frequency { .. } => format!("alpha must be at least {:.4}", ceil_4(reading.value)),
            Criterion::KnowledgeBreach { .. } => {
                format!("the probability must be at least {:.4}", ceil_4(reading.value))
            }
            Criterion::Closeness { .. } | Criterion::Likeness { .. } | Criterion::Background { .. } => {
                String::from("ask for less")
            }
        };
        return Err(Error::Infeasible {
            problem: format!(
                "no class can have {}: all {} rows together have {:.4} where the limit is {}",
                criterion.text(),
                all.size,
                reading.value,
                reading.limit
            ),
            hint: format!("the nearest that can be satisfied: {nearest}"),
        });
    }
    if (1..problem.judge.k()).contains(&all.with_set) {
        return Err(Error::Infeasible {
            problem: format!("only {} rows have a set that is not empty", all.with_set),
            hint: format!("k can be at most {}, or leave the set-valued column out", all.with_set),
        });
    }
    Ok(())
}

fn floor_2(value: f64) -> f64 {
    (value * 100.0).floor() / 100.0
}

fn ceil_4(value: f64) -> f64 {
    (value * 10_000.0).ceil() / 10_000.0
}

/// Says how many rows would have to go, and what else helps.
fn too_many_removed(problem: &Problem<'_>, settled: &Partition, share: f64, most_removed: f64) -> Error {
    let asked: Vec<String> = problem.judge.criteria().iter().map(Criterion::text).collect();
    let (removed, all) = (settled.removed.len(), problem.table.n_rows());
    let hint = match settled.is_empty() {
        true => String::from("ask for less, or declare fewer quasi-identifiers"),
        false => format!("allow --most-removed {:.4}, ask for less, or try another method", ceil_4(share)),
    };
    Error::Infeasible {
        problem: format!(
            "{removed} of {all} rows ({:.2} %) fit into no class with {}; at most {:.2} % may be removed",
            100.0 * share,
            asked.join(", and "),
            100.0 * most_removed
        ),
        hint,
    }
}
