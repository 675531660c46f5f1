//! The last look at what a method made: classes that fail are merged with the one that costs least, or lose the rows that are
//! too many.
//!
//! Promises:   every class of the result satisfies all criteria over the rows that are published in the end
//! Departs:    ours: papers take overall shares from the whole table, also where they remove rows. A reader of the release
//!             sees the published rows only, and the shares of all would tell what the removed ones were. Of a class that fails
//!             as few rows are removed as can be: a whole one moves the shares so much that others fail in their turn
//! Cost:       one pass if nothing fails; a failing class looks at all others
//! Checked by: `tests/it/tabular.rs`

use std::collections::HashMap;

use rayon::prelude::*;

use super::Problem;
use super::trim::trim;
use crate::data::Partition;
use crate::error::{Error, Result};
use crate::release::privacy_models::{Criterion, Histogram, Judge};

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
        problem.observer.check();
        let counted = count_all(problem, &classes);
        let judge = match &counted {
            Some(counts) if problem.elsewhere.is_none() => {
                Judge::over_counts(problem.judge.criteria(), problem.table, counts)?
            }
            _ => problem.judge_over(classes.iter().flatten().copied())?,
        };
        let holds = |rows: &[u32]| {
            problem.observer.check();
            judge.rows_hold(rows) && problem.agrees(rows)
        };
        let fails: Vec<bool> = match &counted {
            Some(counts) => {
                let fails = |(rows, counts): (&Vec<u32>, &_)| !(judge.holds(counts) && problem.agrees(rows));
                classes.par_iter().zip(counts).map(fails).collect()
            }
            None => classes.par_iter().map(|rows| !holds(rows)).collect(),
        };
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
    let (lost, all) = (settled.removed.len() as u64, problem.table.n_rows() as u64);
    if settled.is_empty() || lost as f64 / all.max(1) as f64 > most_removed {
        return Err(too_many_removed(problem.judge.criteria(), lost, all, most_removed));
    }
    Ok(settled)
}

/// The counts of all classes, if they take no more room than a column does. In the order of the table, not of the classes: with
/// millions of rows the next one of a class is far away, and every look at it would wait for memory.
fn count_all(problem: &Problem<'_>, classes: &[Vec<u32>]) -> Option<Vec<Histogram>> {
    let (judge, n_rows) = (&problem.judge, problem.table.n_rows());
    let empty = judge.empty();
    if judge.has_sets() || classes.len().saturating_mul(empty.counts.len()) > n_rows {
        return None;
    }
    let sized = |rows: &Vec<u32>| Histogram { size: rows.len() as u32, ..empty.clone() };
    let mut counts: Vec<Histogram> = classes.iter().map(sized).collect();
    // Rows of no class are counted for one more, which nobody asks for.
    let mut class_of = vec![classes.len() as u32; n_rows];
    for (class, rows) in classes.iter().enumerate() {
        rows.iter().for_each(|&row| class_of[row as usize] = class as u32);
    }
    for (at, column) in judge.columns().iter().enumerate() {
        let (of, n_codes) = (judge.counts_of(at), column.domain.n_codes());
        let mut found = vec![0_u32; (classes.len() + 1) * n_codes];
        for (&class, &code) in class_of.iter().zip(&column.codes) {
            found[class as usize * n_codes + code as usize] += 1;
        }
        for (counts, found) in counts.iter_mut().zip(found.chunks(n_codes.max(1))) {
            counts.counts[of.clone()].copy_from_slice(found);
        }
    }
    Some(counts)
}

/// Classes that show the same texts are one to whoever reads the release, also where a value is written as the cell that stands
/// for all. Criteria hold for two together if they do for each; that beliefs are near does not, nor what looks at several
/// columns at once.
fn seen_as_one(problem: &Problem<'_>, mut classes: Vec<Vec<u32>>, levels: Option<&[u32]>) -> Vec<Vec<u32>> {
    // What became one may show what another does. Every round but the last leaves fewer classes.
    loop {
        let before = classes.len();
        let mut shown = Partition::default();
        shown.levels = levels.map(<[u32]>::to_vec);
        classes.iter().for_each(|rows| shown.push(rows));
        let mut place: HashMap<Vec<String>, usize> = HashMap::new();
        let mut seen: Vec<Vec<u32>> = Vec::with_capacity(before);
        for (rows, cells) in classes.into_iter().zip(shown.cells(problem.table)) {
            problem.observer.check();
            let texts = cells.iter().zip(&problem.quasi).map(|(cell, column)| cell.text(&column.domain)).collect();
            let at = *place.entry(texts).or_insert(seen.len());
            match seen.get_mut(at) {
                Some(same) => same.extend(rows),
                None => seen.push(rows),
            }
        }
        classes = seen;
        if classes.len() == before {
            return classes;
        }
    }
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
    let all = problem.judge.of(0..problem.table.n_rows() as u32);
    feasible(&problem.judge, &all, problem.quasi.len())
}

/// The same, of the counts of all rows.
pub(super) fn feasible(judge: &Judge<'_>, all: &Histogram, n_quasi: usize) -> Result<()> {
    if all.size == 0 {
        return Err(Error::Infeasible {
            problem: "the table has no row".into(),
            hint: "give a table with rows".into(),
        });
    }
    if n_quasi == 0 {
        let problem = "no quasi-identifier is declared: there is nothing to generalise";
        return Err(Error::recipe("quasi", problem, "name the columns that others may know with --quasi"));
    }
    for (criterion, reading) in judge.criteria().iter().zip(judge.readings(all)) {
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
    if (1..judge.k()).contains(&all.with_set) {
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
pub(super) fn too_many_removed(criteria: &[Criterion], removed: u64, all: u64, most_removed: f64) -> Error {
    let asked: Vec<String> = criteria.iter().map(Criterion::text).collect();
    let share = removed as f64 / all.max(1) as f64;
    let hint = match removed == all {
        true => String::from("ask for less, or declare fewer quasi-identifiers"),
        false => format!("allow --suppression-limit {:.4}, ask for less, or try another method", ceil_4(share)),
    };
    Error::Infeasible {
        problem: format!(
            "{removed} of {all} rows ({:.2} %) fit into no class with {}; the suppression limit is {:.2} %",
            100.0 * share,
            asked.join(", and "),
            100.0 * most_removed
        ),
        hint,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Method, Params};
    use super::*;
    use crate::data::table::{Column, Role, Table};

    #[test]
    fn counted_together_is_counted_one_by_one() {
        let quasi = Column::numbers("n", Role::Quasi, (0..90).map(|row| Some(f64::from(row % 7))));
        let word = |row: u32| (!row.is_multiple_of(11)).then(|| ["a", "b", "c"][(row * row % 3) as usize]);
        let one = Column::words("s", Role::Sensitive, (0..90).map(word));
        let two = Column::words("t", Role::Sensitive, (0..90).map(|row| Some(if row % 5 == 0 { "x" } else { "y" })));
        let table = Table::new(90, vec![quasi, one, two], None);
        let criteria = vec![Criterion::KAnonymity { k: 2 }, Criterion::DistinctDiversity { l: 2 }];
        let params = Params { method: Method::LeastLoss, criteria, most_removed: 0.5, seed: 0 };
        let problem = Problem::new(&table, &params, None).unwrap();
        // Every tenth row is in no class.
        let class = |class: u32| (0..90).filter(|row| row % 7 % 5 == class && row % 10 > 0).collect::<Vec<u32>>();
        let classes: Vec<Vec<u32>> = (0..5).map(class).collect();
        let counts = count_all(&problem, &classes).unwrap();
        let singly: Vec<Histogram> = classes.iter().map(|rows| problem.judge.of(rows.iter().copied())).collect();
        assert_eq!(counts, singly);
        assert_eq!(classes.iter().map(|rows| problem.judge.of_rows(rows)).collect::<Vec<_>>(), singly);
        let together = Judge::over_counts(problem.judge.criteria(), &table, &counts).unwrap();
        let published = classes.iter().flatten().copied();
        assert_eq!(together.overall(), Judge::over(problem.judge.criteria(), &table, published).unwrap().overall());
        // More counts than rows: one by one.
        let many: Vec<Vec<u32>> = (0..45).map(|row| vec![2 * row, 2 * row + 1]).collect();
        assert_eq!(count_all(&problem, &many), None);
    }
}
