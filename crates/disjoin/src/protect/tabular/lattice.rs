//! Full-domain generalisation: one level of its hierarchy for a whole column, the combination of levels that loses least.
//!
//! Paper:      LeFevre, DeWitt, Ramakrishnan 2005 (Incognito) for the lattice of levels; the order of the search is ours
//! Promises:   of all combinations of levels that satisfy the criteria with no more records suppressed than the limit, the one with
//!             the least loss, suppressed records counting as lost; unless the lattice is too large to be searched
//! Departs:    classes that fail are removed, and the criteria asked again over the rows that are left, until all hold. A
//!             lattice that would take more than `MOST_WORK` is searched that far, from a combination that was found going
//!             down step by step
//! Cost:       for each combination with a lower bound on its loss that is less than the loss of the best, one look at the
//!             distinct rows; on all cores
//! Checked by: tests in this file, against all combinations, and `tests/it/tabular.rs`
//!
//! What a combination would lose if nothing were removed bounds from below what it loses, and what all above it lose. So
//! combinations are looked at in the order of that bound, and the search ends when it reaches the loss of the best.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use hashbrown::HashMap;
use rayon::prelude::*;

use super::Problem;
use super::distance::agree;
use crate::data::partition::at_level;
use crate::data::table::Column;
use crate::data::{Cell, Partition};
use crate::error::Result;
use crate::release::privacy_models::Judge;

/// The most cells of distinct rows that are looked at.
const MOST_WORK: u64 = 1 << 34;

/// Combinations that are looked at together.
const BATCH: usize = 64;

/// The level of each column.
type Levels = Vec<u32>;

/// The best combination of levels with at most a share of `most_removed` of the rows in classes that fail.
pub(super) fn partition(problem: &Problem<'_>, most_removed: f64) -> Result<Partition> {
    let lattice = Lattice::new(problem);
    let n = problem.table.n_rows();
    let allowed = (0..=n).rev().find(|&removed| removed as f64 / n as f64 <= most_removed).unwrap_or(0);
    let (levels, allowed) = match lattice.search(problem, allowed)? {
        Some(levels) => (levels, allowed),
        // Nothing satisfies the criteria: what would have to be removed under the topmost levels tells how far off that is.
        None => (lattice.top(), n),
    };
    let mut partition = Partition::default();
    let Some(outcome) = lattice.look(problem, &levels, allowed)? else { return Ok(partition) };
    partition.levels = Some(levels);
    let classes = Classes::new(&outcome.group_of, outcome.is_kept.len());
    for (class, is_kept) in outcome.is_kept.into_iter().enumerate() {
        let mut rows: Vec<u32> =
            classes.tuples(class).iter().flat_map(|&tuple| lattice.rows_of(tuple as usize)).copied().collect();
        rows.sort_unstable();
        if is_kept { partition.push(&rows) } else { partition.removed.extend_from_slice(&rows) }
    }
    partition.removed.sort_unstable();
    Ok(partition)
}

/// Distinct rows, and what they become at every level.
struct Lattice {
    /// For each column its levels, from the values up to where all rows have the same cell.
    columns: Vec<Vec<Level>>,
    /// The codes of each distinct row, one after the other.
    codes: Vec<u32>,
    /// Rows in the order of the distinct ones, and where those of each begin.
    rows: Vec<u32>,
    starts: Vec<usize>,
}

/// A column at one level.
struct Level {
    /// For each code the number of its cell.
    cells: Vec<u32>,
    n_cells: u64,
    /// For each code what its cell loses.
    losses: Vec<f64>,
    /// What all rows lose together.
    loss: f64,
}

/// What a combination of levels comes to.
struct Outcome {
    /// The loss of all cells, those of suppressed records counting 1.
    loss: f64,
    /// For each distinct row its class.
    group_of: Vec<u32>,
    /// For each class whether it satisfies the criteria.
    is_kept: Vec<bool>,
}

/// Combinations that wait, the one with the least bound first.
#[derive(PartialEq)]
struct Waiting(f64, Levels);

impl Lattice {
    fn new(problem: &Problem<'_>) -> Self {
        let quasi = &problem.quasi;
        let codes_of = |row: u32| quasi.iter().map(move |column| column.codes[row as usize]);
        let mut rows = problem.rows();
        rows.sort_by(|&a, &b| codes_of(a).cmp(codes_of(b)));
        let (mut codes, mut starts) = (Vec::new(), Vec::new());
        for (place, &row) in rows.iter().enumerate() {
            if place == 0 || !codes_of(rows[place - 1]).eq(codes_of(row)) {
                starts.push(place);
                codes.extend(codes_of(row));
            }
        }
        starts.push(rows.len());
        Lattice { columns: quasi.iter().map(|column| levels(column)).collect(), codes, rows, starts }
    }

    fn rows_of(&self, tuple: usize) -> &[u32] {
        &self.rows[self.starts[tuple]..self.starts[tuple + 1]]
    }

    fn n_tuples(&self) -> usize {
        self.starts.len() - 1
    }

    fn tuples(&self) -> impl Iterator<Item = &[u32]> {
        self.codes.chunks_exact(self.columns.len().max(1))
    }

    fn top(&self) -> Levels {
        self.columns.iter().map(|levels| levels.len() as u32 - 1).collect()
    }

    fn at<'l>(&'l self, levels: &'l [u32]) -> impl Iterator<Item = &'l Level> + Clone {
        self.columns.iter().zip(levels).map(|(column, &level)| &column[level as usize])
    }

    /// What is lost if no row is removed.
    fn bound(&self, levels: &[u32]) -> f64 {
        self.at(levels).map(|level| level.loss).sum()
    }

    /// The levels with the least loss; none if too many rows must be removed under all.
    fn search(&self, problem: &Problem<'_>, allowed: usize) -> Result<Option<Levels>> {
        let mut best = self.descend(problem, allowed)?;
        let mut waiting = BinaryHeap::from([Reverse(Waiting::new(self, vec![0; self.columns.len()]))]);
        let mut work = 0;
        while work < MOST_WORK {
            let mut batch = Vec::with_capacity(BATCH);
            while batch.len() < BATCH
                && let Some(Reverse(Waiting(bound, levels))) = waiting.pop()
                && best.as_ref().is_none_or(|(loss, _)| bound < *loss)
            {
                // Every combination is reached once: by steps in the order of columns.
                let last = levels.iter().rposition(|&level| level > 0).unwrap_or(0);
                for column in last..levels.len() {
                    let mut above = levels.clone();
                    above[column] += 1;
                    if (above[column] as usize) < self.columns[column].len() {
                        waiting.push(Reverse(Waiting::new(self, above)));
                    }
                }
                batch.push(levels);
            }
            if batch.is_empty() {
                break;
            }
            work += (batch.len() * self.codes.len()) as u64;
            self.improve(problem, allowed, batch, &mut best)?;
        }
        Ok(best.map(|(_, levels)| levels))
    }

    /// From the topmost levels down, each time the step after which least is lost.
    fn descend(&self, problem: &Problem<'_>, allowed: usize) -> Result<Option<(f64, Levels)>> {
        let mut best = None;
        self.improve(problem, allowed, vec![self.top()], &mut best)?;
        while let Some((_, levels)) = &best {
            let below = |column: usize| {
                let mut below = levels.clone();
                below[column] = below[column].checked_sub(1)?;
                Some(below)
            };
            let steps = (0..levels.len()).filter_map(below).collect();
            let before = levels.clone();
            self.improve(problem, allowed, steps, &mut best)?;
            if best.as_ref().is_some_and(|(_, levels)| *levels == before) {
                break;
            }
        }
        Ok(best)
    }

    /// Looks at some combinations; of those that lose equally little the first is kept.
    fn improve(
        &self,
        problem: &Problem<'_>,
        allowed: usize,
        batch: Vec<Levels>,
        best: &mut Option<(f64, Levels)>,
    ) -> Result<()> {
        let look = |levels: &Levels| Ok(self.look(problem, levels, allowed)?.map(|outcome| outcome.loss));
        let losses: Vec<Option<f64>> = batch.par_iter().map(look).collect::<Result<_>>()?;
        for (loss, levels) in losses.into_iter().zip(batch) {
            if let Some(loss) = loss.filter(|loss| best.as_ref().is_none_or(|best| *loss < best.0)) {
                *best = Some((loss, levels));
            }
        }
        Ok(())
    }

    /// The classes under some levels, without those that fail; none if more rows than allowed are in these, or all.
    fn look(&self, problem: &Problem<'_>, levels: &[u32], allowed: usize) -> Result<Option<Outcome>> {
        problem.observer.check();
        let (group_of, n_groups) = self.groups(levels);
        let mut sizes = vec![0; n_groups];
        group_of.iter().enumerate().for_each(|(tuple, &group)| sizes[group as usize] += self.rows_of(tuple).len());
        let mut is_kept: Vec<bool> = sizes.iter().map(|&size| size >= problem.judge.k() as usize).collect();
        let removed = |is_kept: &[bool]| -> usize {
            sizes.iter().zip(is_kept).map(|(&size, &is_kept)| if is_kept { 0 } else { size }).sum()
        };
        let is_too_many = |is_kept: &[bool]| removed(is_kept) > allowed || !is_kept.contains(&true);
        if is_too_many(&is_kept) {
            return Ok(None);
        }
        if !problem.judge.is_size_only() || problem.beliefs.is_some() {
            let classes = Classes::new(&group_of, n_groups);
            let rows = |class: usize| classes.tuples(class).iter().flat_map(|&tuple| self.rows_of(tuple as usize));
            if problem.beliefs.is_some() {
                for (class, is_kept) in is_kept.iter_mut().enumerate().filter(|(_, is_kept)| **is_kept) {
                    *is_kept = agree(problem, &rows(class).copied().collect::<Vec<_>>());
                }
            }
            loop {
                let mut n_removed = removed(&is_kept);
                if is_too_many(&is_kept) {
                    return Ok(None);
                }
                let kept = (0..n_groups).filter(|&class| is_kept[class]).flat_map(rows).copied();
                let judge = Judge::over(problem.judge.criteria(), problem.table, kept)?;
                let before = n_removed;
                problem.observer.check();
                for class in 0..n_groups {
                    if is_kept[class] && !judge.holds(&judge.of(rows(class).copied())) {
                        is_kept[class] = false;
                        n_removed += sizes[class];
                        if n_removed > allowed {
                            return Ok(None);
                        }
                    }
                }
                if n_removed == before {
                    break;
                }
            }
        }
        let mut loss = self.bound(levels);
        for ((tuple, codes), &group) in self.tuples().enumerate().zip(&group_of) {
            if !is_kept[group as usize] {
                let cells: f64 = self.at(levels).zip(codes).map(|(level, &code)| level.losses[code as usize]).sum();
                loss += self.rows_of(tuple).len() as f64 * (self.columns.len() as f64 - cells);
            }
        }
        Ok(Some(Outcome { loss, group_of, is_kept }))
    }

    /// For each distinct row the number of its class under some levels, and the number of classes.
    fn groups(&self, levels: &[u32]) -> (Vec<u32>, usize) {
        let mut keys = vec![0_u64; self.n_tuples()];
        // Keys are below this.
        let mut limit = 1_u64;
        for (column, level) in self.at(levels).enumerate() {
            if level.n_cells < 2 {
                continue;
            }
            limit = match limit.checked_mul(level.n_cells) {
                Some(limit) => limit,
                None => {
                    let (dense, n_keys) = number(&keys);
                    keys = dense.into_iter().map(u64::from).collect();
                    // Neither rows nor cells are more than 2^32.
                    n_keys as u64 * level.n_cells
                }
            };
            for (key, codes) in keys.iter_mut().zip(self.tuples()) {
                *key = *key * level.n_cells + u64::from(level.cells[codes[column] as usize]);
            }
        }
        number(&keys)
    }
}

/// The distinct rows of each class.
struct Classes {
    tuples: Vec<u32>,
    starts: Vec<usize>,
}

impl Classes {
    fn new(group_of: &[u32], n_groups: usize) -> Self {
        let mut starts = vec![0; n_groups + 1];
        group_of.iter().for_each(|&group| starts[group as usize + 1] += 1);
        (0..n_groups).for_each(|group| starts[group + 1] += starts[group]);
        let (mut tuples, mut next) = (vec![0; group_of.len()], starts.clone());
        for (tuple, &group) in group_of.iter().enumerate() {
            tuples[next[group as usize]] = tuple as u32;
            next[group as usize] += 1;
        }
        Classes { tuples, starts }
    }

    fn tuples(&self, class: usize) -> &[u32] {
        &self.tuples[self.starts[class]..self.starts[class + 1]]
    }
}

/// Numbers keys by first appearance.
fn number(keys: &[u64]) -> (Vec<u32>, usize) {
    let mut numbers: HashMap<u64, u32, foldhash::fast::FixedState> = HashMap::default();
    let mut of_key = |&key: &u64| {
        let next = numbers.len() as u32;
        *numbers.entry(key).or_insert(next)
    };
    (keys.iter().map(&mut of_key).collect(), numbers.len())
}

/// The levels of a column, up to where all its rows have the same cell.
fn levels(column: &Column) -> Vec<Level> {
    let mut counts = vec![0_u32; column.domain.n_codes()];
    column.codes.iter().for_each(|&code| counts[code as usize] += 1);
    let mut levels = Vec::new();
    loop {
        let mut numbers: BTreeMap<Cell, u32> = BTreeMap::new();
        let (mut cells, mut losses) = (vec![0; counts.len()], vec![0.0; counts.len()]);
        for code in (0..counts.len()).filter(|&code| counts[code] > 0) {
            let cell = at_level(column, code as u32, levels.len() as u32);
            losses[code] = cell.loss(&column.domain);
            let next = numbers.len() as u32;
            cells[code] = *numbers.entry(cell).or_insert(next);
        }
        let loss = losses.iter().zip(&counts).map(|(loss, &count)| loss * f64::from(count)).sum();
        levels.push(Level { cells, n_cells: numbers.len() as u64, losses, loss });
        if numbers.len() < 2 {
            return levels;
        }
    }
}

impl Waiting {
    fn new(lattice: &Lattice, levels: Levels) -> Self {
        Waiting(lattice.bound(&levels), levels)
    }
}

impl Eq for Waiting {}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0).then_with(|| self.1.cmp(&other.1))
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Method, Params};
    use super::*;
    use crate::data::Hierarchy;
    use crate::data::table::{Role, Table};
    use crate::release::privacy_models::Criterion;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// The loss of a partition, cell by cell.
    fn loss(problem: &Problem<'_>, partition: &Partition) -> f64 {
        let cell = |class: &[u32], i: usize| {
            let column = problem.quasi[i];
            partition.cell(column, i, class).loss(&column.domain)
        };
        let kept: f64 = partition
            .classes()
            .map(|class| class.len() as f64 * (0..problem.quasi.len()).map(|i| cell(class, i)).sum::<f64>())
            .sum();
        kept + (partition.removed.len() * problem.quasi.len()) as f64
    }

    /// All combinations of levels up to 5, each judged row by row; the least loss.
    fn of_all_combinations(problem: &Problem<'_>, most_removed: f64) -> Option<f64> {
        let d = problem.quasi.len();
        let (n, mut least) = (problem.table.n_rows(), None::<f64>);
        for number in 0..6_u32.pow(d as u32) {
            let levels: Vec<u32> = (0..d as u32).map(|column| number / 6_u32.pow(column) % 6).collect();
            let mut classes: BTreeMap<Vec<Cell>, Vec<u32>> = BTreeMap::new();
            for row in problem.rows() {
                let cell = |i: usize| at_level(problem.quasi[i], problem.quasi[i].codes[row as usize], levels[i]);
                classes.entry((0..d).map(cell).collect()).or_default().push(row);
            }
            classes.retain(|_, rows| rows.len() >= problem.judge.k() as usize);
            loop {
                let before = classes.len();
                let kept: Vec<u32> = classes.values().flatten().copied().collect();
                let judge = Judge::over(problem.judge.criteria(), problem.table, kept).unwrap();
                classes.retain(|_, rows| judge.holds(&judge.of(rows.iter().copied())));
                if classes.len() == before {
                    break;
                }
            }
            let removed = n - classes.values().map(Vec::len).sum::<usize>();
            if !classes.is_empty() && removed as f64 / n as f64 <= most_removed {
                let of_cells = |cells: &[Cell]| -> f64 {
                    cells.iter().zip(&problem.quasi).map(|(cell, column)| cell.loss(&column.domain)).sum()
                };
                let kept: f64 = classes.iter().map(|(cells, rows)| rows.len() as f64 * of_cells(cells)).sum();
                let loss = kept + (removed * d) as f64;
                least = Some(least.map_or(loss, |least| least.min(loss)));
            }
        }
        least
    }

    /// A column of words or numbers, some with hierarchies, ragged ones and several trees among them.
    fn column(rng: &mut ChaCha8Rng, n: usize) -> Column {
        let most = rng.random_range(1..9);
        let missing = if rng.random_range(0..3) == 0 { 0.2 } else { 0.0 };
        let codes: Vec<Option<u32>> =
            (0..n).map(|_| if rng.random_bool(missing) { None } else { Some(rng.random_range(0..most)) }).collect();
        let mut column = match rng.random_range(0..2) {
            0 => Column::numbers("n", Role::Quasi, codes.iter().map(|code| code.map(f64::from))),
            _ => {
                let texts: Vec<Option<String>> = codes.iter().map(|code| code.map(|code| code.to_string())).collect();
                Column::words("w", Role::Quasi, texts.iter().map(Option::as_deref))
            }
        };
        let texts = column.domain.texts();
        let hierarchy = match rng.random_range(0..4) {
            0 => return column,
            1 => Hierarchy::uniform(texts, 2).unwrap(),
            2 => Hierarchy::from_paths(texts, texts.iter().map(|text| (text, [["x", "y"][text.len() % 2]]))).unwrap(),
            _ => {
                let path = |text: &'static str| (text, if text < "3" { vec!["x", "low", "*"] } else { vec!["*"] });
                let known = ["0", "1", "2", "3", "4", "5", "6", "7", "8"].map(path);
                Hierarchy::from_paths(texts, known).unwrap()
            }
        };
        column.domain.set_hierarchy(hierarchy);
        column
    }

    #[test]
    fn no_combination_of_levels_loses_less() {
        let mut rng = ChaCha8Rng::seed_from_u64(9);
        let (mut found, mut removed) = (0, 0);
        for round in 0..250 {
            let n = rng.random_range(1..60);
            let mut columns: Vec<Column> = (0..rng.random_range(1..4)).map(|_| column(&mut rng, n)).collect();
            let secrets: Vec<f64> = (0..n).map(|_| f64::from(rng.random_range(0_u32..4))).collect();
            columns.push(Column::numbers("s", Role::Sensitive, secrets.into_iter().map(Some)));
            let table = Table::new(n, columns, None);
            let mut criteria = vec![Criterion::KAnonymity { k: rng.random_range(2..6) }];
            match round % 4 {
                0 => criteria.push(Criterion::DistinctDiversity { l: 2 }),
                1 => criteria.push(Criterion::Likeness { beta: rng.random_range(0.3..3.0), enhanced: true }),
                _ => {}
            }
            let most_removed = [0.0, 0.1, 0.4][round % 3];
            let params = Params { method: Method::Lattice, criteria, most_removed, seed: 0 };
            let problem = Problem::new(&table, &params, None).unwrap();
            let ours = partition(&problem, most_removed).unwrap();
            let share = ours.removed.len() as f64 / n as f64;
            match of_all_combinations(&problem, most_removed) {
                Some(least) => {
                    assert!(!ours.is_empty() && share <= most_removed, "round {round}");
                    assert!((loss(&problem, &ours) - least).abs() < 1e-9, "round {round}");
                    for class in ours.classes() {
                        for (i, column) in problem.quasi.iter().enumerate() {
                            let cell = ours.cell(column, i, class);
                            assert!(class.iter().all(|&row| cell.covers(&column.domain, column.codes[row as usize])));
                        }
                    }
                    found += 1;
                    removed += usize::from(!ours.removed.is_empty());
                }
                None => assert!(ours.is_empty() || share > most_removed, "round {round}"),
            }
        }
        assert!(found > 100 && removed > 20, "{found} tables, {removed} of them with rows removed");
    }

    #[test]
    fn keys_that_do_not_fit_are_numbered_anew() {
        let mut rng = ChaCha8Rng::seed_from_u64(10);
        let column = |rng: &mut ChaCha8Rng| {
            let cells: Vec<Option<f64>> = (0..300).map(|_| Some(f64::from(rng.random_range(0..1000)))).collect();
            Column::numbers("n", Role::Quasi, cells)
        };
        let mut columns: Vec<Column> = (0..20).map(|_| column(&mut rng)).collect();
        // Every row is there twice.
        columns.iter_mut().for_each(|column| column.codes.extend_from_within(..));
        let table = Table::new(600, columns, None);
        let criteria = vec![Criterion::KAnonymity { k: 2 }];
        let params = Params { method: Method::Lattice, criteria, most_removed: 0.0, seed: 0 };
        let problem = Problem::new(&table, &params, None).unwrap();
        let ours = partition(&problem, 0.0).unwrap();
        assert_eq!((ours.len(), ours.levels), (300, Some(vec![0; 20])));
    }
}
