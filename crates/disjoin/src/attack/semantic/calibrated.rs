//! Our attack: how likely is it that a member was added? Learned from the release itself.
//!
//! What stands ungeneralised in a release is known to be true. The adversary groups such terms as the release grouped
//! others, as many and in as many records, and so has generalised items of whose members he knows which were added. From
//! these he learns how distances, their place in row and column, and what the other attacks say go with being added, and
//! then judges the real ones. What is eliminated is what makes the expected F-score largest.
//!
//! Paper:      ours, after shao2017; its section 7 asks for the confidence of an elimination
//! Promises:   scores are probabilities, as well calibrated as generalised terms are like the others; no record is left
//!             without a member, no member without a record
//! Assumes:    terms that were generalised go with their context as terms that were not; there are enough of the latter,
//!             or [`learn`] gives nothing
//! Cost:       as many distances as the tables have, [`MOCKS`] times at least; a regression on a dozen features
//! Checked by: tests/it/semantic.rs: beside the redistribution-based attack on generated text, and controls

use std::collections::HashMap;

use rand::RngExt;
use rand::seq::index::sample;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::redistribution::redistribution;
use super::table::{context, distances};
use super::{Distance, GroupTable, Step, Table, Trace, View};
use crate::data::{RecordId, TermId, supports};
use crate::generate::stream;
use crate::observer::{Observer, Unobserved};

/// At least so many synthetic groups are drawn, and at least twice as many as there are real ones.
pub const MOCKS: usize = 300;
const EACH: usize = 2;

/// So many sets of terms are drawn for a synthetic group; the one that is in the most similar number of records is taken.
const DRAWS: usize = 12;

/// With fewer members of either kind there is nothing to learn from.
const LEAST: usize = 40;

const N: usize = 21;

/// How likely a member was added, given what its cell looks like.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    mean: [f64; N],
    scale: [f64; N],
    weights: [f64; N],
}

/// Learns from terms that were not generalised; none if there are too few.
pub fn learn(
    view: &View<'_>,
    tables: &[GroupTable],
    distance: &Distance<'_>,
    most: Option<usize>,
    seed: u64,
) -> Option<Model> {
    learn_from(&[(*view, tables)], distance, most, seed)
}

/// The same from several recodings, each with its tables: one model for all.
pub fn learn_from(
    recodings: &[(View<'_>, &[GroupTable])],
    distance: &Distance<'_>,
    most: Option<usize>,
    seed: u64,
) -> Option<Model> {
    learn_watched(recodings, distance, most, seed, &Unobserved)
}

/// As [`learn_from`], watched by somebody.
pub(super) fn learn_watched(
    recodings: &[(View<'_>, &[GroupTable])],
    distance: &Distance<'_>,
    most: Option<usize>,
    seed: u64,
    observer: &dyn Observer,
) -> Option<Model> {
    let per_table = EACH.max(MOCKS.div_ceil(recodings.iter().map(|of| of.1.len()).sum::<usize>().max(1)));
    let mut made_up = Vec::new();
    let mut first = 0;
    for (view, tables) in recodings {
        made_up.extend(mocks(view, tables, distance, most, Draws { seed, first, per_table }, observer));
        first += tables.len() * per_table;
    }
    let cells: Vec<([f64; N], bool)> = made_up
        .par_iter()
        .flat_map_iter(|(table, was_added)| {
            observer.check();
            let features = features(table).into_iter().zip(was_added);
            features.filter_map(|(features, &was_added)| Some((features?, was_added))).collect::<Vec<_>>()
        })
        .collect();
    let added = cells.iter().filter(|cell| cell.1).count();
    (added >= LEAST && cells.len() - added >= LEAST).then(|| fit(&cells))
}

/// Attacks all tables: the most likely added members go, as many as make the expected F-score largest.
pub fn calibrated(tables: &[GroupTable], model: &Model) -> Vec<Trace> {
    let likely: Vec<Vec<Option<f64>>> = tables.par_iter().map(|table| probabilities(table, model)).collect();
    let mut all: Vec<f64> = likely.iter().flatten().flatten().copied().collect();
    all.sort_unstable_by(|a, b| b.total_cmp(a));
    let total: f64 = all.iter().sum();
    // The expected F of eliminating the n likeliest is about 2 * (their sum) / (n + total).
    let (mut sum, mut best, mut threshold) = (0.0, 0.0, 1.0);
    for (at, &p) in all.iter().enumerate() {
        sum += p;
        let f = 2.0 * sum / ((at + 1) as f64 + total);
        if f > best {
            (best, threshold) = (f, p);
        }
    }
    tables.iter().zip(&likely).map(|(table, likely)| cut(&table.mean, likely, threshold)).collect()
}

/// How likely each member of each record was added, row after row; none where no distance is known.
pub fn probabilities(table: &GroupTable, model: &Model) -> Vec<Option<f64>> {
    features(table).iter().map(|features| features.as_ref().map(|features| model.probability(features))).collect()
}

impl Model {
    fn probability(&self, features: &[f64; N]) -> f64 {
        let scaled = (0..N).map(|i| self.weights[i] * (features[i] - self.mean[i]) / self.scale[i]);
        logistic(scaled.sum())
    }
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Eliminates what is as likely as the threshold, the likeliest first, but for the last of a row or column.
fn cut(table: &Table, likely: &[Option<f64>], threshold: f64) -> Trace {
    let n_columns = table.n_columns();
    let mut steps: Vec<Step> = likely
        .iter()
        .enumerate()
        .filter_map(|(at, p)| Some(Step { row: at / n_columns, column: at % n_columns, score: (*p)? }))
        .filter(|step| step.score >= threshold)
        .collect();
    steps.sort_by(|a, b| b.score.total_cmp(&a.score));
    let (mut in_row, mut in_column) = (vec![n_columns; table.n_rows()], vec![table.n_rows(); n_columns]);
    steps.retain(|step| {
        let may_go = in_row[step.row] > 1 && in_column[step.column] > 1;
        if may_go {
            in_row[step.row] -= 1;
            in_column[step.column] -= 1;
        }
        may_go
    });
    Trace { steps, ..Trace::new(threshold) }
}

/// Where the randomness of synthetic groups starts, and how many there are of each table.
#[derive(Clone, Copy)]
struct Draws {
    seed: u64,
    first: usize,
    per_table: usize,
}

/// Terms that were not generalised, by the numbers of their groups.
struct Singles<'a> {
    view: &'a View<'a>,
    supports: Vec<u32>,
    holders: HashMap<u32, Vec<RecordId>>,
    /// The rarest first: those that could have been members of a group in so few records are a prefix.
    rarest: Vec<u32>,
}

impl<'a> Singles<'a> {
    fn new(view: &'a View<'a>) -> Self {
        let supports = supports(view.records, view.groups.len());
        let mut holders: HashMap<u32, Vec<RecordId>> = HashMap::new();
        for (id, record) in (0..).zip(view.records.iter()) {
            for &group in record {
                if view.groups.get(group as usize).is_some_and(|members| members.len() == 1) {
                    holders.entry(group).or_default().push(id);
                }
            }
        }
        let mut rarest: Vec<u32> = holders.keys().copied().collect();
        rarest.sort_unstable_by_key(|&group| (supports[group as usize], group));
        Singles { view, supports, holders, rarest }
    }

    /// As many as a real table has members, in about as many records.
    fn draw(&self, like: &GroupTable, rng: &mut ChaCha8Rng) -> Option<(Vec<u32>, Vec<RecordId>)> {
        let rows = like.records.len();
        let n_rare = self.rarest.partition_point(|&group| self.supports[group as usize] as usize <= rows);
        // With too few rare terms others must do.
        let pool = &self.rarest[..n_rare.max(4 * like.members.len()).min(self.rarest.len())];
        if pool.len() < like.members.len() {
            return None;
        }
        let mut draw = || {
            let drawn: Vec<u32> = sample(rng, pool.len(), like.members.len()).iter().map(|at| pool[at]).collect();
            let mut records: Vec<RecordId> = drawn.iter().flat_map(|group| &self.holders[group]).copied().collect();
            records.sort_unstable();
            records.dedup();
            (drawn, records)
        };
        let candidates: Vec<(Vec<u32>, Vec<RecordId>)> = (0..DRAWS).map(|_| draw()).collect();
        let (mut drawn, mut records) =
            candidates.into_iter().min_by_key(|(_, records)| records.len().abs_diff(rows))?;
        drawn.sort_unstable();
        // A huge table teaches no more than a part of it.
        while records.len() > 4 * rows.max(8) {
            records.swap_remove(rng.random_range(0..records.len()));
        }
        Some((drawn, records))
    }

    /// A synthetic group, and for each cell whether the member was added to the record.
    fn mock(
        &self,
        like: &GroupTable,
        distance: &Distance<'_>,
        most: Option<usize>,
        rng: &mut ChaCha8Rng,
    ) -> Option<(GroupTable, Vec<bool>)> {
        let view = self.view;
        let (drawn, records) = self.draw(like, rng)?;
        let members: Vec<TermId> =
            drawn.iter().filter_map(|&group| view.groups[group as usize].first().copied()).collect();
        let beside = records.iter().map(|&record| {
            let mut context = context(view, record, &self.supports, most.map(|most| most + drawn.len()));
            context.retain(|term| !members.contains(term));
            context.truncate(most.unwrap_or(usize::MAX));
            (record, context)
        });
        let table = distances(like.group, members.clone(), beside, distance);
        let was_added = |&record: &RecordId| {
            drawn.iter().map(move |group| view.records.record(record).binary_search(group).is_err())
        };
        let added = table.records.iter().flat_map(was_added).collect();
        Some((table, added))
    }
}

/// Groups of terms that were not generalised, as large as real ones, with what was added to each record.
fn mocks(
    view: &View<'_>,
    tables: &[GroupTable],
    distance: &Distance<'_>,
    most: Option<usize>,
    Draws { seed, first, per_table }: Draws,
    observer: &dyn Observer,
) -> Vec<(GroupTable, Vec<bool>)> {
    let singles = Singles::new(view);
    let mock = |job: usize| {
        observer.check();
        let mut rng = stream(seed, "attack/semantic/mocks", (first + job) as u64);
        singles.mock(&tables[job / per_table], distance, most, &mut rng)
    };
    (0..tables.len() * per_table).into_par_iter().filter_map(mock).collect()
}

/// What each cell looks like, row after row; none where no distance is known.
fn features(table: &GroupTable) -> Vec<Option<[f64; N]>> {
    let (mean, nearest) = (&table.mean, &table.nearest);
    let (n_rows, n_columns) = (mean.n_rows(), mean.n_columns());
    let mut gone = vec![0.0; n_rows * n_columns];
    redistribution(mean).steps.iter().for_each(|step| gone[step.row * n_columns + step.column] = 1.0);
    let row = |of: &Table, row: usize| (0..n_columns).map(|column| of.get(row, column)).collect::<Vec<_>>();
    let column = |of: &Table, column: usize| (0..n_rows).map(|row| of.get(row, column)).collect::<Vec<_>>();
    let rows = [mean, nearest].map(|of| (0..n_rows).map(|at| Summary::of(row(of, at))).collect::<Vec<_>>());
    let columns = [mean, nearest].map(|of| (0..n_columns).map(|at| Summary::of(column(of, at))).collect::<Vec<_>>());
    let whole = [mean, nearest].map(|of| Summary::of(of.cells().to_vec()));
    let cell = |at: usize| {
        let (i, j) = (at / n_columns, at % n_columns);
        let [d, near] = [mean, nearest].map(|of| of.get(i, j));
        if d.is_nan() {
            return None;
        }
        let [of_row, of_column] = [&rows[0][i], &columns[0][j]];
        let [near_row, near_column] = [&rows[1][i], &columns[1][j]];
        Some([
            1.0,
            d,
            near,
            d - of_row.mean,
            d - of_column.mean,
            near - near_row.mean,
            near - near_column.mean,
            of_row.rank(d),
            of_column.rank(d),
            near_row.rank(near),
            near_column.rank(near),
            d - of_row.least,
            near - near_row.least,
            (n_columns as f64).ln(),
            gone[at],
            d - whole[0].mean,
            near - whole[1].mean,
            (d - of_row.mean - of_column.mean + whole[0].mean) / whole[0].spread,
            (near - near_row.mean - near_column.mean + whole[1].mean) / whole[1].spread,
            (n_rows as f64).ln(),
            of_row.second_gap(d),
        ])
    };
    (0..n_rows * n_columns).map(cell).collect()
}

/// The known distances of a row or column.
struct Summary {
    mean: f64,
    least: f64,
    /// The standard deviation, but not nothing.
    spread: f64,
    sorted: Vec<f64>,
}

impl Summary {
    fn of(mut cells: Vec<f64>) -> Self {
        cells.retain(|cell| !cell.is_nan());
        cells.sort_unstable_by(f64::total_cmp);
        let mean = cells.iter().sum::<f64>() / cells.len().max(1) as f64;
        let variance = cells.iter().map(|cell| (cell - mean).powi(2)).sum::<f64>() / cells.len().max(1) as f64;
        let spread = variance.sqrt().max(1e-3);
        Summary { mean, spread, least: cells.first().copied().unwrap_or(0.0), sorted: cells }
    }

    /// How much farther than the nearest other: below 0 for the nearest itself.
    fn second_gap(&self, cell: f64) -> f64 {
        match self.sorted[..] {
            [first, second, ..] => cell - if cell <= first { second } else { first },
            _ => 0.0,
        }
    }

    /// The share that is below, ties by half.
    fn rank(&self, cell: f64) -> f64 {
        let below = self.sorted.partition_point(|&other| other < cell);
        let up_to = self.sorted.partition_point(|&other| other <= cell);
        (below + up_to) as f64 / (2 * self.sorted.len().max(1)) as f64
    }
}

/// Logistic regression by Newton's method, with a small penalty that keeps weights finite.
fn fit(cells: &[([f64; N], bool)]) -> Model {
    const PENALTY: f64 = 1.0;
    const ROUNDS: usize = 30;
    let n = cells.len() as f64;
    let mut model = Model { mean: [0.0; N], scale: [1.0; N], weights: [0.0; N] };
    for i in 1..N {
        let mean = cells.iter().map(|cell| cell.0[i]).sum::<f64>() / n;
        let variance = cells.iter().map(|cell| (cell.0[i] - mean).powi(2)).sum::<f64>() / n;
        (model.mean[i], model.scale[i]) = (mean, variance.sqrt().max(1e-9));
    }
    let scaled: Vec<([f64; N], f64)> = cells
        .iter()
        .map(|(features, added)| {
            let scaled = std::array::from_fn(|i| (features[i] - model.mean[i]) / model.scale[i]);
            (scaled, f64::from(u8::from(*added)))
        })
        .collect();
    for _ in 0..ROUNDS {
        let (mut gradient, mut hessian) = ([0.0; N], [[0.0; N]; N]);
        for i in 1..N {
            gradient[i] = -PENALTY * model.weights[i];
            hessian[i][i] = PENALTY;
        }
        hessian[0][0] = 1e-9;
        for (x, y) in &scaled {
            let p = logistic((0..N).map(|i| model.weights[i] * x[i]).sum());
            for i in 0..N {
                gradient[i] += (y - p) * x[i];
                for j in 0..=i {
                    hessian[i][j] += p * (1.0 - p) * x[i] * x[j];
                }
            }
        }
        let step = solve(hessian, gradient);
        (0..N).for_each(|i| model.weights[i] += step[i]);
        if step.iter().all(|step| step.abs() < 1e-8) {
            break;
        }
    }
    model
}

/// Solves a symmetric positive definite system, of which the lower half is given, by Cholesky.
fn solve(mut a: [[f64; N]; N], b: [f64; N]) -> [f64; N] {
    for j in 0..N {
        for k in 0..j {
            for i in j..N {
                a[i][j] -= a[i][k] * a[j][k];
            }
        }
        let root = a[j][j].max(1e-12).sqrt();
        (j..N).for_each(|i| a[i][j] /= root);
    }
    let mut x = b;
    for i in 0..N {
        let known: f64 = (0..i).map(|k| a[i][k] * x[k]).sum();
        x[i] = (x[i] - known) / a[i][i];
    }
    for i in (0..N).rev() {
        let known: f64 = (i + 1..N).map(|k| a[k][i] * x[k]).sum();
        x[i] = (x[i] - known) / a[i][i];
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regression_finds_the_law_that_made_the_data() {
        let mut rng = stream(1, "test", 0);
        let mut cells = Vec::new();
        for _ in 0..20_000 {
            let mut features = [0.0; N];
            features[0] = 1.0;
            (1..N).for_each(|i| features[i] = rng.random_range(-1.0..1.0));
            let p = logistic(0.5 + 2.0 * features[1] - features[2]);
            cells.push((features, rng.random_bool(p)));
        }
        let model = fit(&cells);
        let mut at = [0.0; N];
        at[0] = 1.0;
        assert!((model.probability(&at) - logistic(0.5)).abs() < 0.02);
        at[1] = 1.0;
        assert!((model.probability(&at) - logistic(2.5)).abs() < 0.02);
        at[2] = 1.0;
        assert!((model.probability(&at) - logistic(1.5)).abs() < 0.03);
    }

    #[test]
    fn ranks_and_means_leave_out_what_is_unknown() {
        let of = Summary::of(vec![3.0, f64::NAN, 1.0, 1.0]);
        assert_eq!((of.least, of.rank(1.0), of.rank(3.0), of.rank(0.0)), (1.0, 1.0 / 3.0, 5.0 / 6.0, 0.0));
        assert!((of.mean - 5.0 / 3.0).abs() < 1e-12);
    }
}
