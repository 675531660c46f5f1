//! The distance table of a generalised item: how far each of its members is from what else a record holds.
//!
//! Paper:      shao2017, section 4, equation 2, figures 3 and 4
//! Promises:   one row for each record that holds the generalised item and something known beside it, one column for
//!             each member
//! Assumes:    the adversary knows which items are generalised, as the release says; what stands beside a generalised
//!             item ungeneralised was in the original
//! Departs:    a distance that nobody knows stays unknown: it is left out of means, and its cell is never eliminated. Where
//!             only some contextual items are wanted, the rarest are taken, ties by number: the paper takes some
//! Cost:       rows * contextual items * members distances
//! Checked by: tests in this file, tests/it/semantic.rs

use crate::data::{RecordId, TermId, Transactions};

/// How far apart two terms are in meaning, 0 and more; not a number if nobody knows.
pub type Distance<'a> = dyn Fn(TermId, TermId) -> f64 + Sync + 'a;

/// A release in which groups of terms stand for terms.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// For each group its terms. A group of one is the term itself.
    pub groups: &'a [Vec<TermId>],
    /// Records of groups.
    pub records: &'a Transactions,
}

/// Distances by row and column. Unknown ones are not a number.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    n_columns: usize,
    cells: Vec<f64>,
}

impl Table {
    /// A table from its cells, row after row. A last row that is not full is left out.
    pub fn new(n_columns: usize, mut cells: Vec<f64>) -> Self {
        let n_rows = cells.len().checked_div(n_columns).unwrap_or(0);
        cells.truncate(n_rows * n_columns);
        // An infinite distance would make every gap infinite: it tells no more than an unknown one.
        cells.iter_mut().filter(|cell| !cell.is_finite()).for_each(|cell| *cell = f64::NAN);
        Table { n_columns, cells }
    }

    /// The number of records.
    pub fn n_rows(&self) -> usize {
        self.cells.len().checked_div(self.n_columns).unwrap_or(0)
    }

    /// The number of members.
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// One distance.
    pub fn get(&self, row: usize, column: usize) -> f64 {
        self.cells[row * self.n_columns + column]
    }

    /// All distances, row after row.
    pub fn cells(&self) -> &[f64] {
        &self.cells
    }

    /// All known distances with their places, row after row.
    pub fn known(&self) -> impl Iterator<Item = (usize, usize, f64)> {
        let place = |(at, &distance)| (at / self.n_columns, at % self.n_columns, distance);
        self.cells.iter().enumerate().map(place).filter(|cell| !cell.2.is_nan())
    }
}

/// The table of one generalised item, and whom its rows are about.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupTable {
    /// The group in the release.
    pub group: u32,
    /// The members: the columns.
    pub members: Vec<TermId>,
    /// The records of the rows.
    pub records: Vec<RecordId>,
    /// Mean distances from the context.
    pub mean: Table,
    /// Mean distances from the nearest few of the context.
    pub nearest: Table,
    /// Records that hold the group and nothing else that is known.
    pub without_context: u64,
}

/// How many contextual items count as near.
const NEAR: usize = 3;

/// The table of one group. `most` is how many contextual items a record is asked for, all if none; `supports` is in how
/// many records each group is.
pub fn table_of(
    view: &View<'_>,
    group: u32,
    holders: &[RecordId],
    supports: &[u32],
    distance: &Distance<'_>,
    most: Option<usize>,
) -> GroupTable {
    let members = view.groups.get(group as usize).cloned().unwrap_or_default();
    let rows = holders.iter().map(|&record| (record, context(view, record, supports, most)));
    distances(group, members, rows, distance)
}

/// What a record holds that was not generalised: the rarest `most` of it.
pub(super) fn context(view: &View<'_>, record: RecordId, supports: &[u32], most: Option<usize>) -> Vec<TermId> {
    let single = |&group: &u32| match view.groups.get(group as usize).map(Vec::as_slice) {
        Some(&[term]) => Some((supports.get(group as usize).copied().unwrap_or(0), term)),
        _ => None,
    };
    let mut context: Vec<(u32, TermId)> = view.records.record(record).iter().filter_map(single).collect();
    if let Some(most) = most.filter(|&most| most < context.len()) {
        context.sort_unstable();
        context.truncate(most);
    }
    context.into_iter().map(|(_, term)| term).collect()
}

/// A table of these members in these records with their contexts.
pub(super) fn distances(
    group: u32,
    members: Vec<TermId>,
    rows: impl Iterator<Item = (RecordId, Vec<TermId>)>,
    distance: &Distance<'_>,
) -> GroupTable {
    let (mut mean, mut nearest) = (Vec::new(), Vec::new());
    let (mut records, mut without_context) = (Vec::new(), 0);
    let mut of_cell = Vec::new();
    for (record, context) in rows {
        if context.is_empty() {
            without_context += 1;
            continue;
        }
        records.push(record);
        for &member in &members {
            of_cell.clear();
            of_cell.extend(context.iter().map(|&term| distance(term, member)).filter(|distance| distance.is_finite()));
            mean.push(of_cell.iter().sum::<f64>() / of_cell.len() as f64);
            of_cell.sort_unstable_by(f64::total_cmp);
            of_cell.truncate(NEAR);
            nearest.push(of_cell.iter().sum::<f64>() / of_cell.len() as f64);
        }
    }
    let n_columns = members.len();
    let (mean, nearest) = (Table::new(n_columns, mean), Table::new(n_columns, nearest));
    GroupTable { group, members, records, mean, nearest, without_context }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_means_over_what_stands_beside() {
        // Terms 0 to 3 as themselves, 4 and 5 as one.
        let groups = vec![vec![0], vec![1], vec![2], vec![3], vec![4, 5]];
        let mut records = Transactions::default();
        for mut record in [vec![0, 1, 4], vec![4], vec![0, 2, 3, 4], vec![1, 2]] {
            records.push(&mut record);
        }
        let view = View { groups: &groups, records: &records };
        // Nobody knows about 3.
        let distance = |a: TermId, b: TermId| if a == 3 { f64::NAN } else { f64::from(a) + 0.1 * f64::from(b) };
        let table = table_of(&view, 4, &[0, 1, 2], &[2, 2, 2, 1, 3], &distance, None);
        assert_eq!((table.records, table.without_context), (vec![0, 2], 1));
        for (&cell, expected) in table.mean.cells().iter().zip([0.9, 1.0, 1.4, 1.5]) {
            assert!((cell - expected).abs() < 1e-12, "{cell} {expected}");
        }
        // The rarest contextual item of the last record is the one that nobody knows about.
        let table = table_of(&view, 4, &[2], &[2, 2, 2, 1, 3], &distance, Some(1));
        assert!(table.mean.cells().iter().all(|cell| cell.is_nan()));
        assert_eq!(table.mean.known().count(), 0);
    }

    #[test]
    fn tables_without_columns_or_rows_are_empty() {
        assert_eq!(Table::new(0, vec![1.0]).n_rows(), 0);
        assert_eq!(Table::new(2, vec![]).n_rows(), 0);
        assert_eq!(Table::new(2, vec![1.0, f64::INFINITY, 3.0]).known().collect::<Vec<_>>(), [(0, 0, 1.0)]);
    }
}
