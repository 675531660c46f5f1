//! Rows that show the same quasi-identifiers, counted: how many they are, and how often they have each sensitive value.
//!
//! Promises:   no two groups have the same codes; the counts of a group add up to its size in every sensitive column
//! Assumes:    columns are quasi-identifiers or sensitive
//! Cost:       a few passes over the rows; what is kept grows with groups and their different values, not with rows
//! Checked by: tests in this file, and `tests/it/break_merge.rs`

use hashbrown::HashMap;

use super::Table;
use super::table::Role;

/// A table of which only counts are kept.
#[derive(Debug, Clone)]
pub struct Counted {
    /// The columns: what their codes stand for, and no row.
    pub columns: Table,
    n_rows: u64,
    n_quasi: usize,
    tuples: Vec<u32>,
    sizes: Vec<u32>,
    values: Vec<Values>,
}

/// The values of one sensitive column, group by group.
#[derive(Debug, Clone, Default)]
pub struct Values {
    ends: Vec<usize>,
    counts: Vec<(u32, u32)>,
}

impl Values {
    /// Puts counts by group and code in order; those of the same are added up.
    pub fn new(n_groups: usize, mut counts: Vec<((u32, u32), u32)>) -> Self {
        counts.sort_unstable_by_key(|(place, _)| *place);
        let mut values = Values { ends: vec![0; n_groups], counts: Vec::with_capacity(counts.len()) };
        let mut last = None;
        for ((group, code), count) in counts {
            match values.counts.last_mut().filter(|_| last == Some((group, code))) {
                Some((_, sum)) => *sum += count,
                None => values.counts.push((code, count)),
            }
            last = Some((group, code));
            values.ends[group as usize] = values.counts.len();
        }
        // A group without a value ends where the one before does.
        let mut end = 0;
        for here in &mut values.ends {
            end = end.max(*here);
            *here = end;
        }
        values
    }

    fn range(&self, group: usize) -> std::ops::Range<usize> {
        group.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[group]
    }
}

impl Counted {
    /// Groups with their codes of all quasi-identifiers, one group after the other, their sizes, and their values in each
    /// sensitive column.
    pub fn new(columns: Table, tuples: Vec<u32>, sizes: Vec<u32>, values: Vec<Values>) -> Self {
        let n_rows = sizes.iter().map(|&size| u64::from(size)).sum();
        let n_quasi = columns.quasi().len();
        debug_assert_eq!(tuples.len(), n_quasi * sizes.len());
        debug_assert!(values.iter().all(|values| values.ends.len() == sizes.len()));
        Counted { columns, n_rows, n_quasi, tuples, sizes, values }
    }

    /// Counts a table that is in memory; and for each row its group.
    pub fn of_table(mut table: Table) -> (Self, Vec<u32>) {
        let mut of = |role: Role| -> Vec<(Vec<u32>, usize)> {
            let columns = table.columns.iter_mut().filter(|column| column.role == role);
            columns.map(|column| (std::mem::take(&mut column.codes), column.domain.n_codes())).collect()
        };
        let (quasi, sensitive) = (of(Role::Quasi), of(Role::Sensitive));
        let tally = Tally::new(table.n_rows(), &quasi, &sensitive);
        let tuples = tally.tuples(&quasi);
        let n_groups = tally.sizes.len();
        let values = tally.values.into_iter().map(|counts| Values::new(n_groups, counts)).collect();
        // Rows are counted, not kept, those of other columns included.
        table.columns.iter_mut().for_each(|column| column.codes.clear());
        (Counted::new(Table::new(0, table.columns, None), tuples, tally.sizes, values), tally.group_of)
    }

    /// The number of rows that were counted.
    pub fn n_rows(&self) -> u64 {
        self.n_rows
    }

    /// The number of groups, those that were emptied included.
    pub fn n_groups(&self) -> usize {
        self.sizes.len()
    }

    /// The codes of a group in the quasi-identifiers.
    pub fn tuple(&self, group: usize) -> &[u32] {
        &self.tuples[group * self.n_quasi..(group + 1) * self.n_quasi]
    }

    /// The rows of a group that are left.
    pub fn size(&self, group: usize) -> u32 {
        self.sizes[group]
    }

    /// The codes of a group in a sensitive column, ascending, and how many rows with each are left; may be none.
    pub fn values(&self, group: usize, column: usize) -> &[(u32, u32)] {
        let values = &self.values[column];
        &values.counts[values.range(group)]
    }

    /// Takes all rows out of a group.
    pub fn empty(&mut self, group: usize) {
        self.sizes[group] = 0;
        for values in &mut self.values {
            let range = values.range(group);
            values.counts[range].iter_mut().for_each(|(_, count)| *count = 0);
        }
    }

    /// Takes rows out of a group, of which there is one sensitive value only: so many of each code.
    pub fn take(&mut self, group: usize, over: impl Fn(u32) -> u32) {
        let Some(values) = self.values.first_mut() else { return };
        let range = values.range(group);
        for (code, count) in &mut values.counts[range] {
            let less = over(*code).min(*count);
            *count -= less;
            self.sizes[group] -= less;
        }
    }
}

/// Rows in groups by what they show, in order of first appearance.
pub struct Tally {
    /// The group of each row.
    pub group_of: Vec<u32>,
    /// The first row of each group.
    pub firsts: Vec<u32>,
    /// The rows of each group.
    pub sizes: Vec<u32>,
    /// For each sensitive column: (group, code), and how many rows have both.
    pub values: Vec<Vec<((u32, u32), u32)>>,
}

impl Tally {
    /// Counts rows by their codes, which come with the number of codes that a column has.
    pub fn new(n_rows: usize, quasi: &[(Vec<u32>, usize)], sensitive: &[(Vec<u32>, usize)]) -> Self {
        let mut group_of = vec![0; n_rows];
        let mut n_groups = usize::from(n_rows > 0);
        for (codes, n_codes) in quasi {
            n_groups = refine(&mut group_of, n_groups, codes, *n_codes);
        }
        let (firsts, sizes) = firsts_and_sizes(&group_of, n_groups);
        let values = sensitive.iter().map(|(codes, n_codes)| {
            let mut pair_of = group_of.clone();
            let n_pairs = refine(&mut pair_of, n_groups, codes, *n_codes);
            let (firsts, sizes) = firsts_and_sizes(&pair_of, n_pairs);
            let place = |&row: &u32| (group_of[row as usize], codes[row as usize]);
            firsts.iter().map(place).zip(sizes).collect()
        });
        let values = values.collect();
        Tally { group_of, firsts, sizes, values }
    }

    /// The codes of all groups, one group after the other.
    pub fn tuples(&self, quasi: &[(Vec<u32>, usize)]) -> Vec<u32> {
        self.firsts.iter().flat_map(|&row| quasi.iter().map(move |(codes, _)| codes[row as usize])).collect()
    }
}

/// The first row of each group, and how many it has.
fn firsts_and_sizes(group_of: &[u32], n_groups: usize) -> (Vec<u32>, Vec<u32>) {
    let (mut firsts, mut sizes) = (Vec::with_capacity(n_groups), vec![0; n_groups]);
    for (&group, row) in group_of.iter().zip(0..) {
        // Groups are numbered as they appear.
        if group as usize == firsts.len() {
            firsts.push(row);
        }
        sizes[group as usize] += 1;
    }
    (firsts, sizes)
}

/// Parts groups by one more column, and tells how many there are then. They are numbered in order of first appearance.
pub fn refine(groups: &mut [u32], n_groups: usize, codes: &[u32], n_codes: usize) -> usize {
    const NONE: u32 = u32::MAX;
    let mut next = 0;
    let mut number = |known: &mut u32| {
        if *known == NONE {
            *known = next;
            next += 1;
        }
        *known
    };
    // One place for each pair, if there are not many more of them than rows.
    match n_groups.checked_mul(n_codes).filter(|&pairs| pairs <= 2 * groups.len() + 1024) {
        Some(pairs) => {
            let mut known = vec![NONE; pairs];
            for (group, &code) in groups.iter_mut().zip(codes) {
                *group = number(&mut known[*group as usize * n_codes + code as usize]);
            }
        }
        None => {
            let mut known: HashMap<u64, u32, foldhash::fast::RandomState> = HashMap::default();
            for (group, &code) in groups.iter_mut().zip(codes) {
                *group = number(known.entry(u64::from(*group) << 32 | u64::from(code)).or_insert(NONE));
            }
        }
    }
    next as usize
}

#[cfg(test)]
mod tests {
    use super::super::table::Column;
    use super::*;

    #[test]
    fn rows_are_counted_by_what_they_show() {
        let words = |name: &str, role, cells: [&'static str; 5]| {
            Column::words(name, role, cells.map(|text| Some(text).filter(|text| !text.is_empty())))
        };
        let columns = vec![
            words("s", Role::Sensitive, ["x", "y", "x", "x", ""]),
            words("q", Role::Quasi, ["b", "a", "b", "", "b"]),
            words("r", Role::Quasi, ["1", "1", "1", "1", "2"]),
        ];
        let (mut counted, group_of) = Counted::of_table(Table::new(5, columns, None));
        assert_eq!(group_of, [0, 1, 0, 2, 3]);
        assert_eq!((0..4).map(|group| counted.tuple(group)).collect::<Vec<_>>(), [[1, 0], [0, 0], [2, 0], [1, 1]]);
        assert_eq!([counted.size(0), counted.size(3)], [2, 1]);
        let values: Vec<_> = (0..4).map(|group| counted.values(group, 0).to_vec()).collect();
        assert_eq!(values, [[(0, 2)], [(1, 1)], [(0, 1)], [(2, 1)]]);
        counted.take(0, |code| u32::from(code == 0));
        counted.empty(3);
        assert_eq!((counted.size(0), counted.values(0, 0), counted.values(3, 0)), (1, &[(0, 1)][..], &[(2, 0)][..]));
        assert_eq!((counted.n_rows(), counted.n_groups(), counted.columns.n_rows()), (5, 4, 0));
    }

    #[test]
    fn counts_of_the_same_place_are_added_up() {
        let values = Values::new(4, vec![((2, 1), 3), ((0, 5), 1), ((2, 1), 4), ((2, 0), 1)]);
        assert_eq!(values.counts, [(5, 1), (0, 1), (1, 7)]);
        assert_eq!((0..4).map(|group| values.range(group)).collect::<Vec<_>>(), [0..1, 1..1, 1..3, 3..3]);
    }
}
