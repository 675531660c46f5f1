//! What the neighbours of a generalised item disclose (semantic attack): which of its members were in a record, and which were
//! added?
//!
//! An adversary who knows nothing about the person, only what words mean, holds each member against what else the record
//! holds. [`tables`] lays out the distances of all generalised items; an attack eliminates cells of one table, each in a
//! file of its own: [`random`](random()), [`largest`](largest()), [`threshold`](threshold()), [`weighted`](weighted()),
//! [`group`](group()), [`redistribution`](redistribution()), and [`calibrated`], which is ours. Whether what was eliminated
//! was added is for [`judge`] to say, which alone sees the original.
//!
//! A release may have several recodings, each for a part of its records. [`attack_release`] lays out a table for each generalised
//! item of each of them, and attacks all; [`summary`] is what is told of that.

pub mod calibrated;
mod gaps;
mod group;
pub mod judge;
mod largest;
mod random;
mod recodings;
mod redistribution;
pub mod summary;
mod table;
mod threshold;
mod weighted;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::data::{RecordId, supports};
use crate::observer::{Observer, Unobserved};

use group::watched_group;
pub use group::{group, group_steps};
pub use largest::largest;
pub use random::random;
pub use recodings::{Attacked, Eliminated, Options, ROWS, attack_release};
use redistribution::watched_redistribution;
pub use redistribution::{redistribution, redistribution_steps};
pub use table::{Distance, GroupTable, Table, View, table_of};
pub use threshold::{threshold, threshold_at};
use weighted::watched_weighted;
pub use weighted::weighted;

/// A way to find added members.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// By the toss of a coin: RA.
    Random,
    /// The farthest of all: MDA.
    Largest,
    /// All that are farther than on average: TBA.
    Threshold,
    /// The farthest, with weights: WBA.
    Weighted,
    /// The farthest of the clearest group: GBA.
    Group,
    /// As that, but only near ones inherit: RBA.
    Redistribution,
    /// By a probability learned from the release itself: ours.
    Calibrated,
}

/// All methods, in the order of their invention.
pub const METHODS: [Method; 7] = [
    Method::Random,
    Method::Largest,
    Method::Threshold,
    Method::Weighted,
    Method::Group,
    Method::Redistribution,
    Method::Calibrated,
];

impl Method {
    /// Its name, as it is written in flags and recipes.
    pub fn name(self) -> &'static str {
        match self {
            Method::Random => "random",
            Method::Largest => "largest",
            Method::Threshold => "threshold",
            Method::Weighted => "weighted",
            Method::Group => "group",
            Method::Redistribution => "redistribution",
            Method::Calibrated => "calibrated",
        }
    }

    /// What it takes for added, in a few words.
    pub fn meaning(self) -> &'static str {
        match self {
            Method::Random => "terms at random",
            Method::Largest => "the member that is farthest from its context",
            Method::Threshold => "all members that are farther than on average",
            Method::Weighted => "the farthest first; what is left in its row and column counts as nearer",
            Method::Group => "the farthest of the row or column whose distances fall apart most clearly",
            Method::Redistribution => "as group, but only near members inherit the weight",
            Method::Calibrated => "what is likely added, by a probability learned from the release itself",
        }
    }

    /// The paper's name of it.
    pub fn short(self) -> &'static str {
        match self {
            Method::Random => "RA",
            Method::Largest => "MDA",
            Method::Threshold => "TBA",
            Method::Weighted => "WBA",
            Method::Group => "GBA",
            Method::Redistribution => "RBA",
            Method::Calibrated => "ours",
        }
    }
}

/// A member of a record that is taken for added.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// Its row.
    pub row: usize,
    /// Its column.
    pub column: usize,
    /// How strongly: a gap, a distance or a probability.
    pub score: f64,
}

/// What was eliminated from a table, in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// What a score must exceed.
    pub threshold: f64,
    /// The eliminations.
    pub steps: Vec<Step>,
    /// The best score that did not exceed the threshold, where there is a loop that ends with one.
    pub next: Option<f64>,
    /// Weighted distances at the end, where there are any; not a number where eliminated or unknown.
    pub weighted: Vec<f64>,
    /// How many rows and columns were weighed and sorted on the way, where that is done: what the attack costs.
    pub sorted: usize,
}

impl Trace {
    fn new(threshold: f64) -> Self {
        Trace { threshold, steps: Vec::new(), next: None, weighted: Vec::new(), sorted: 0 }
    }
}

/// The tables of all generalised items, and what could not be attacked.
#[derive(Debug, Clone)]
pub struct Tables {
    /// Those with at least two rows and two columns and a distance that is known, in the order of groups.
    pub tables: Vec<GroupTable>,
    /// How much of the release they are.
    pub coverage: Coverage,
}

/// What of a release could be attacked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Coverage {
    /// Groups of two members and more that some record has.
    pub generalised: u64,
    /// Of these, those that are attacked.
    pub attacked: u64,
    /// Those with a single row: nothing to compare a member with, and it must be somewhere.
    pub single_row: u64,
    /// Those of whose members and contexts no distance is known.
    pub unknown: u64,
    /// Rows that were left out: the record holds nothing beside that is not generalised.
    pub rows_without_context: u64,
    /// Rows that were left out: the group is in more records than are looked at.
    pub rows_left_out: u64,
    /// Cells of attacked tables.
    pub cells: u64,
    /// Of these, those whose distance is not known.
    pub unknown_cells: u64,
}

impl Coverage {
    /// Both together.
    #[must_use]
    pub fn with(&self, other: &Coverage) -> Coverage {
        sum_fields!(
            Coverage {
                generalised,
                attacked,
                single_row,
                unknown,
                rows_without_context,
                rows_left_out,
                cells,
                unknown_cells
            },
            self,
            other
        )
    }
}

/// Lays out the distances of all generalised items.
///
/// `most` is how many contextual items of a record count, the rarest first; all if none.
pub fn tables(view: &View<'_>, distance: &Distance<'_>, most: Option<usize>) -> Tables {
    tables_of_rows(view, distance, most, None, &Unobserved)
}

/// The same with `rows` records of each generalised item at most, evenly spread.
fn tables_of_rows(
    view: &View<'_>,
    distance: &Distance<'_>,
    most: Option<usize>,
    rows: Option<usize>,
    observer: &dyn Observer,
) -> Tables {
    observer.check();
    let supports = supports(view.records, view.groups.len());
    let mut holders: Vec<Vec<RecordId>> = vec![Vec::new(); view.groups.len()];
    for (id, record) in (0..).zip(view.records.iter()) {
        for &group in record {
            if view.groups.get(group as usize).is_some_and(|members| members.len() > 1) {
                holders[group as usize].push(id);
            }
        }
    }
    let mut rows_left_out = 0;
    if let Some(rows) = rows {
        let is_alone = |&item: &u32| view.groups.get(item as usize).is_some_and(|members| members.len() == 1);
        // Those beside which nothing stands have no row anyway.
        let has_context = |record: &RecordId| view.records.record(*record).iter().any(is_alone);
        for of in holders.iter_mut().filter(|of| of.len() > rows) {
            let (with, without): (Vec<RecordId>, Vec<RecordId>) = of.iter().partition(|record| has_context(record));
            if with.len() > rows {
                rows_left_out += (with.len() - rows) as u64;
                *of = (0..rows).map(|at| with[at * with.len() / rows]).chain(without).collect();
            }
        }
    }
    let generalised: Vec<u32> = (0..).zip(&holders).filter(|(_, of)| !of.is_empty()).map(|(group, _)| group).collect();
    let all: Vec<GroupTable> = generalised
        .par_iter()
        .map(|&group| {
            observer.check();
            table_of(view, group, &holders[group as usize], &supports, distance, most)
        })
        .collect();
    let mut coverage = Coverage { generalised: all.len() as u64, rows_left_out, ..Coverage::default() };
    let mut tables = Vec::new();
    for table in all {
        coverage.rows_without_context += table.without_context;
        let known = table.mean.known().count() as u64;
        match () {
            () if known == 0 => coverage.unknown += 1,
            () if table.mean.n_rows() < 2 => coverage.single_row += 1,
            () => {
                coverage.attacked += 1;
                coverage.cells += table.mean.cells().len() as u64;
                coverage.unknown_cells += table.mean.cells().len() as u64 - known;
                tables.push(table);
            }
        }
    }
    Tables { tables, coverage }
}

/// Attacks every table by a method that needs nothing but the table; none for [`Method::Calibrated`].
pub fn eliminate(tables: &[GroupTable], method: Method, seed: u64) -> Option<Vec<Trace>> {
    eliminate_with(tables, method, seed, &Unobserved)
}

fn eliminate_with(tables: &[GroupTable], method: Method, seed: u64, observer: &dyn Observer) -> Option<Vec<Trace>> {
    let attack: fn(&Table, &dyn Observer) -> Trace = match method {
        Method::Random => {
            let of = |(number, table): (usize, &GroupTable)| random(&table.mean, seed, number as u64);
            return Some(tables.iter().enumerate().map(of).collect());
        }
        Method::Largest => |table, _| largest(table),
        Method::Threshold => |table, _| threshold(table),
        Method::Weighted => watched_weighted,
        Method::Group => watched_group,
        Method::Redistribution => watched_redistribution,
        Method::Calibrated => return None,
    };
    let attack = |table: &GroupTable| {
        observer.check();
        attack(&table.mean, observer)
    };
    Some(tables.par_iter().map(attack).collect())
}

/// Figure 4 and what follows from it.
#[cfg(test)]
mod tests {
    use super::*;

    #[rustfmt::skip]
    const FIGURE_4: [f64; 16] = [
        0.56, 0.78, 1.57, 2.19,
        1.75, 0.58, 1.74, 1.53,
        2.60, 2.93, 1.78, 1.49,
        1.60, 1.51, 1.89, 1.03,
    ];
    /// The members that were in the records: blood pressure, icd, limbs, injury are the columns.
    const ORIGINAL: [(usize, usize); 6] = [(0, 0), (0, 1), (1, 1), (2, 2), (2, 3), (3, 3)];
    const BP: usize = 0;
    const ICD: usize = 1;
    const LIMBS: usize = 2;
    const INJURY: usize = 3;

    fn figure_4() -> Table {
        Table::new(4, FIGURE_4.to_vec())
    }

    /// The cells and rounded scores of the steps.
    fn steps(trace: &Trace) -> Vec<(usize, usize, f64)> {
        trace.steps.iter().map(|step| (step.row, step.column, (step.score * 1e3).round() / 1e3)).collect()
    }

    /// Compares with a printed table of two decimals, where a dash is not a number.
    fn looks_like(cells: &[f64], printed: [f64; 16]) {
        for (at, (cell, printed)) in cells.iter().zip(printed).enumerate() {
            let is_same = (cell - printed).abs() <= 0.005 + 1e-9 || cell.is_nan() && printed.is_nan();
            assert!(is_same, "row {} column {}: {cell} is not {printed}", at / 4, at % 4);
        }
    }

    /// Precision, recall and F to three decimals.
    fn score(trace: &Trace) -> (f64, f64, f64) {
        let right = trace.steps.iter().filter(|step| !ORIGINAL.contains(&(step.row, step.column))).count() as f64;
        let (precision, recall) = (right / trace.steps.len() as f64, right / (16.0 - 6.0));
        let round = |share: f64| (share * 1e3).round() / 1e3;
        (round(precision), round(recall), round(2.0 * precision * recall / (precision + recall)))
    }

    const X: f64 = f64::NAN;

    #[test]
    fn grouping_walks_through_figures_5_and_6() {
        let trace = group(&figure_4());
        assert!((trace.threshold - 0.445_078_125).abs() < 1e-12, "{}", trace.threshold);
        assert_eq!(
            steps(&trace),
            [(2, ICD, 0.799), (2, BP, 0.585), (1, LIMBS, 0.571), (1, BP, 0.507), (0, INJURY, 0.653)]
        );
        assert!((trace.next.unwrap() - 0.413).abs() < 5e-4);
        assert_eq!(score(&trace), (1.0, 0.5, 0.667));
        #[rustfmt::skip]
        looks_like(&group_steps(&figure_4(), 1).weighted, [
            0.32, 0.39, 0.88, 1.23,
            0.98, 0.29, 0.98, 0.86,
            1.30, X,    0.89, 0.75,
            0.90, 0.76, 1.06, 0.58,
        ]);
        #[rustfmt::skip]
        looks_like(&trace.weighted, [
            0.19, 0.35, 0.70, X,
            X,    0.19, X,    0.51,
            X,    X,    0.59, 0.50,
            0.60, 0.76, 0.95, 0.52,
        ]);
    }

    #[test]
    fn redistribution_walks_through_figures_8_and_9() {
        let trace = redistribution(&figure_4());
        assert!((trace.threshold - 0.445_078_125).abs() < 1e-12, "{}", trace.threshold);
        assert_eq!(
            steps(&trace),
            [
                (2, ICD, 0.799),
                (2, BP, 0.628),
                (1, BP, 0.690),
                (3, BP, 0.795),
                (1, LIMBS, 0.667),
                (1, INJURY, 0.764),
                (0, INJURY, 0.766),
                (0, LIMBS, 0.558),
                (3, LIMBS, 0.841),
                (3, ICD, 0.626)
            ]
        );
        assert!((trace.next.unwrap() - 0.372).abs() < 6e-4);
        assert_eq!(score(&trace), (1.0, 1.0, 1.0));
        #[rustfmt::skip]
        looks_like(&redistribution_steps(&figure_4(), 1).weighted, [
            0.32, 0.39, 0.88, 1.23,
            0.98, 0.29, 0.98, 0.86,
            1.46, X,    0.83, 0.70,
            0.90, 0.76, 1.06, 0.58,
        ]);
        #[rustfmt::skip]
        looks_like(&trace.weighted, [
            0.0, 0.20, X,   X,
            X,   0.0,  X,   X,
            X,   X,    0.0, 0.37,
            X,   X,    X,   0.0,
        ]);
    }

    #[test]
    fn simple_attacks_on_figure_4() {
        let largest = largest(&figure_4());
        assert_eq!(steps(&largest), [(2, ICD, 2.93)]);
        assert_eq!(score(&largest), (1.0, 0.1, 0.182));

        let threshold = threshold(&figure_4());
        assert!((threshold.threshold - 1.595_625).abs() < 1e-9);
        assert_eq!(score(&threshold), (0.875, 0.7, 0.778));
        assert!(threshold.steps.iter().any(|step| (step.row, step.column) == (2, LIMBS)));

        let weighted = weighted(&figure_4());
        assert!((weighted.threshold - 0.8975).abs() < 5e-5);
        assert_eq!(steps(&weighted), [(2, ICD, 1.648), (2, BP, 1.3), (0, INJURY, 1.232), (3, LIMBS, 1.063)]);
        assert!((weighted.next.unwrap() - 0.875).abs() < 5e-4);
        assert_eq!(score(&weighted), (1.0, 0.4, 0.571));
    }

    #[test]
    fn tables_with_nothing_to_compare_lose_nothing_they_must_keep() {
        for method in METHODS {
            for (n_columns, cells) in [
                (0, vec![]),
                (1, vec![0.3]),
                (1, vec![0.3, 2.0, 0.1]),
                (3, vec![f64::NAN; 6]),
                (2, vec![f64::NAN, 0.5, f64::NAN, 0.9]),
            ] {
                let mean = Table::new(n_columns, cells);
                let n_rows = mean.n_rows();
                let table = GroupTable {
                    group: 0,
                    members: (0..n_columns as u32).collect(),
                    records: (0..n_rows as u32).collect(),
                    nearest: mean.clone(),
                    mean,
                    without_context: 0,
                };
                let Some(traces) = eliminate(&[table], method, 1) else { continue };
                for row in 0..n_rows {
                    let gone = traces[0].steps.iter().filter(|step| step.row == row).count();
                    assert!(gone < n_columns, "{method:?}");
                }
            }
        }
    }
}
