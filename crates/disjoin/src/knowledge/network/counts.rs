//! How often each value of a node goes with each configuration of its parents, for the configurations that occur.
//!
//! A row's codes in the parents and the node are the digits of one number, its key. Where there are few possible keys, a table
//! of all of them is filled; otherwise the rows' keys are sorted. Where keys outgrow 64 bits, the numbers so far are replaced
//! by their ranks: there are no more of these than rows.
//!
//! Paper:      nadimpalli2014, Definition 2 (the frequencies)
//! Promises:   configurations are in lexicographic order of the parents as given, values ascending, on either way; so sums
//!             over them are the same to the last bit
//! Cost:       time and memory linear in the rows, but for sorting; never the product of the parents' sizes, if that is more
//!             than a few times the rows
//! Checked by: tests in this file; tests/it/network.rs, against counting by hand

use super::Coded;

/// A table of all keys is filled if it has no more cells than this, or than [`CELLS_A_ROW`] times the rows.
const CELLS: u64 = 1 << 14;
const CELLS_A_ROW: u64 = 8;

/// Counts of a node's values for each observed configuration of its parents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counts {
    width: usize,
    /// The parents' codes, configuration by configuration.
    codes: Vec<u32>,
    /// Where each configuration's cells begin, and the end.
    starts: Vec<usize>,
    /// (value, how often), only where that is not 0.
    cells: Vec<(u32, u32)>,
}

/// Counts the values of a node for each observed configuration of `parents`.
pub fn count(data: &Coded, child: usize, parents: &[usize]) -> Counts {
    let mut counts = Counts { width: parents.len(), codes: Vec::new(), starts: vec![0], cells: Vec::new() };
    visit(data, child, parents, &mut Scratch::default(), |at, cells| {
        at.push_codes(data, parents, &mut counts.codes);
        counts.cells.extend(cells);
        counts.starts.push(counts.cells.len());
    });
    counts
}

impl Counts {
    /// The number of observed configurations.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there was no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The parents' codes of a configuration.
    pub fn configuration(&self, at: usize) -> &[u32] {
        &self.codes[at * self.width..(at + 1) * self.width]
    }

    /// The values that occur with a configuration, and how often.
    pub fn cells(&self, at: usize) -> &[(u32, u32)] {
        &self.cells[self.starts[at]..self.starts[at + 1]]
    }

    /// The number of rows with a configuration.
    pub fn total(&self, at: usize) -> u32 {
        self.cells(at).iter().map(|(_, count)| count).sum()
    }
}

/// Memory that is used again from one count to the next.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    table: Vec<u32>,
    keyed: Vec<(u64, u32)>,
    cells: Vec<(u32, u32)>,
}

/// Which configuration it is.
#[derive(Debug, Clone, Copy)]
pub(super) enum At {
    /// The number whose digits are the parents' codes.
    Key(u64),
    /// A distinct row that has it.
    Row(u32),
}

impl At {
    /// Appends the codes of the parents.
    pub(super) fn push_codes(self, data: &Coded, parents: &[usize], codes: &mut Vec<u32>) {
        match self {
            At::Row(row) => codes.extend(parents.iter().map(|&parent| data.column(parent)[row as usize])),
            At::Key(mut key) => {
                let start = codes.len();
                for &parent in parents.iter().rev() {
                    let size = u64::from(data.size(parent));
                    codes.push((key % size) as u32);
                    key /= size;
                }
                codes[start..].reverse();
            }
        }
    }
}

/// Shows each observed configuration of the parents with the values that occur and how often.
pub(super) fn visit(
    data: &Coded,
    child: usize,
    parents: &[usize],
    scratch: &mut Scratch,
    mut each: impl FnMut(At, &[(u32, u32)]),
) {
    let mut family: Vec<usize> = parents.to_vec();
    family.push(child);
    let n_values = u64::from(data.size(child)).max(1);
    let limit = CELLS.max(CELLS_A_ROW * data.weights().len() as u64).min(u64::from(u32::MAX));
    let product = family.iter().try_fold(1_u64, |product, &node| product.checked_mul(u64::from(data.size(node))));
    let cells = &mut scratch.cells;
    if let Some(n_cells) = product.filter(|&product| product <= limit) {
        scratch.table.clear();
        scratch.table.resize(n_cells as usize, 0);
        fill(data, &family, &mut scratch.table);
        for (key, row) in (0..).zip(scratch.table.chunks_exact(n_values as usize)) {
            cells.clear();
            cells.extend((0..).zip(row.iter().copied()).filter(|&(_, count)| count > 0));
            if !cells.is_empty() {
                each(At::Key(key), cells);
            }
        }
        return;
    }
    let columns = family.iter().map(|&node| (data.column(node), data.size(node)));
    scratch.keyed.clear();
    scratch.keyed.extend(keys(data.weights().len(), columns).into_iter().zip(0..));
    scratch.keyed.sort_unstable();
    for same in scratch.keyed.chunk_by(|a, b| a.0 / n_values == b.0 / n_values) {
        cells.clear();
        for equal in same.chunk_by(|a, b| a.0 == b.0) {
            let count = equal.iter().map(|&(_, row)| data.weights()[row as usize]).sum();
            cells.push(((equal[0].0 % n_values) as u32, count));
        }
        each(At::Row(same[0].1), cells);
    }
}

/// Adds every row's weight to the cell of its key.
fn fill(data: &Coded, family: &[usize], table: &mut [u32]) {
    const BLOCK: usize = 1024;
    let mut keys = [0_u32; BLOCK];
    for (block, weights) in data.weights().chunks(BLOCK).enumerate() {
        let keys = &mut keys[..weights.len()];
        keys.fill(0);
        for &node in family {
            let (codes, size) = (&data.column(node)[block * BLOCK..][..weights.len()], data.size(node));
            keys.iter_mut().zip(codes).for_each(|(key, code)| *key = *key * size + code);
        }
        keys.iter().zip(weights).for_each(|(&key, weight)| table[key as usize] += weight);
    }
}

/// For each row a number that orders rows as their codes do, and is the same for equal rows only. With the last column of size
/// r, the remainder by r is the row's code there.
pub(super) fn keys<'c>(n_rows: usize, columns: impl Iterator<Item = (&'c [u32], u32)>) -> Vec<u64> {
    let mut keys = vec![0_u64; n_rows];
    // All keys are below.
    let mut end = 1_u64;
    for (codes, size) in columns {
        let size = u64::from(size.max(1));
        end = match end.checked_mul(size) {
            Some(end) => end,
            None => rank(&mut keys) * size,
        };
        keys.iter_mut().zip(codes).for_each(|(key, &code)| *key = *key * size + u64::from(code));
    }
    keys
}

/// Replaces keys by their ranks; returns how many there are.
fn rank(keys: &mut [u64]) -> u64 {
    let mut distinct = keys.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    keys.iter_mut().for_each(|key| *key = distinct.partition_point(|other| other < key) as u64);
    distinct.len() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_outgrow_64_bits_keep_their_order() {
        let columns: Vec<Vec<u32>> =
            (0..9).map(|c| (0..50).map(|row| (row * 7919 + c * row * row) % 1009).collect()).collect();
        let keys = keys(50, columns.iter().map(|column| (column.as_slice(), 1 << 20)));
        let row = |row: usize| columns.iter().map(move |column| column[row]);
        for a in 0..50 {
            assert_eq!(keys[a] % (1 << 20), u64::from(columns[8][a]));
            for b in 0..50 {
                assert_eq!(keys[a].cmp(&keys[b]), row(a).cmp(row(b)));
            }
        }
    }

    #[test]
    fn tables_and_sorting_count_the_same() {
        let columns: Vec<Vec<u32>> = (1..5).map(|c| (0..300).map(|row: u32| row * row % (c + 2)).collect()).collect();
        let slices: Vec<&[u32]> = columns.iter().map(Vec::as_slice).collect();
        let small = Coded::new(&slices, &[3, 4, 5, 6]).unwrap();
        let large = Coded::new(&slices, &[3000, 4000, 5000, 6000]).unwrap();
        assert_eq!(count(&small, 1, &[3, 0, 2]), count(&large, 1, &[3, 0, 2]));
        assert_eq!(count(&small, 2, &[]).len(), 1);
    }
}
