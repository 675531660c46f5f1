//! Random whole numbers with given means, in a table whose row and column sums barely move: dependent rounding.
//!
//! Cells with a fractional part are the edges of a graph between rows and columns. Along a cycle, or a path that cannot
//! be prolonged, cells are raised and lowered in turn by the largest step in one of the two directions that keeps
//! every cell between its floor and its ceiling; the direction is drawn so that means stay the same. Each round makes
//! at least one cell whole.
//!
//! Paper:      gandhi2006: Gandhi, Khuller, Parthasarathy, Srinivasan: Dependent Rounding and its Applications to
//!             Approximation Algorithms, JACM 53(3), 2006
//! Promises:   every cell becomes its floor or its ceiling and keeps its mean; so does every row sum and column sum,
//!             which stays as it is if it is whole
//! Cost:       a round for each fractional cell; rounds are short where many cells of a line are fractional
//! Checked by: tests in this file

use rand::RngExt;

/// What is closer to a whole number than this is one: rounding errors are far below.
const WHOLE: f64 = 1e-9;

/// Rounds a table of `columns` cells a row in place.
pub(super) fn round(table: &mut [f64], columns: usize, rng: &mut impl RngExt) {
    let mut graph = Graph::new(table, columns);
    while let Some(path) = graph.find_path(table) {
        // Even steps of the path go up by `up` or down by `down`, odd steps the other way.
        let (mut up, mut down) = (f64::INFINITY, f64::INFINITY);
        for (i, &cell) in path.iter().enumerate() {
            let below = table[cell as usize] - table[cell as usize].floor();
            let (rise, fall) = if i % 2 == 0 { (1.0 - below, below) } else { (below, 1.0 - below) };
            up = up.min(rise);
            down = down.min(fall);
        }
        // The mean of the step, up * down / (up + down) - down * up / (up + down), is 0.
        let step = if rng.random::<f64>() * (up + down) < down { up } else { -down };
        for (i, &cell) in path.iter().enumerate() {
            table[cell as usize] += if i % 2 == 0 { step } else { -step };
        }
    }
    table.iter_mut().for_each(|cell| *cell = cell.round());
}

/// Rounds one row whose sum is whole, on its own: faster, but columns are not looked after.
///
/// Systematic sampling: the cells are laid end to end, and each gets the number of marks that fall on it out of those at
/// u, u + 1, u + 2 and so on, u being drawn between 0 and 1.
pub(super) fn round_row(row: &mut [f64], rng: &mut impl RngExt) {
    let whole = row.iter().sum::<f64>().round();
    let u = rng.random::<f64>();
    let (mut end, mut marks) = (0.0, 0.0);
    let last = row.iter().rposition(|&cell| cell > 0.0);
    for (i, cell) in row.iter_mut().enumerate() {
        end += *cell;
        // The last cell takes what is left, so that rounding errors cannot lose a mark.
        let passed = if Some(i) == last { whole } else { (end - u).ceil().clamp(marks, whole) };
        *cell = if *cell > 0.0 { passed - marks } else { 0.0 };
        marks += *cell;
    }
}

fn is_fractional(cell: f64) -> bool {
    (cell - cell.round()).abs() > WHOLE
}

/// The fractional cells of each line: rows first, then columns. What has become whole is dropped when it is met.
struct Graph {
    columns: usize,
    cells: Vec<u32>,
    /// Where each line begins in `cells`, and how many of it are left.
    starts: Vec<u32>,
    left: Vec<u32>,
    /// The walk under way: the lines it has met, and the cells between them.
    lines: Vec<u32>,
    path: Vec<u32>,
    /// For each line, its position in `lines` plus 1, or 0.
    met: Vec<u32>,
    /// Rows before this one have no fractional cell left.
    next_row: u32,
}

impl Graph {
    fn new(table: &[f64], columns: usize) -> Self {
        let rows = table.len().checked_div(columns).unwrap_or(0);
        let mut left = vec![0; rows + columns];
        let fractional = || (0_u32..).zip(table).filter(|(_, cell)| is_fractional(**cell)).map(|(i, _)| i);
        let lines = |cell: u32| [cell as usize / columns, rows + cell as usize % columns];
        fractional().flat_map(lines).for_each(|line| left[line] += 1);
        let mut end = 0;
        let starts: Vec<u32> = left.iter().map(|n| (end, end += n).0).collect();
        let mut cells = vec![0; end as usize];
        left.fill(0);
        for cell in fractional() {
            for line in lines(cell) {
                cells[(starts[line] + left[line]) as usize] = cell;
                left[line] += 1;
            }
        }
        let met = vec![0; rows + columns];
        Graph { columns, cells, starts, left, lines: Vec::new(), path: Vec::new(), met, next_row: 0 }
    }

    /// The cells of a cycle, or of a path between two lines that have no further fractional cell.
    fn find_path(&mut self, table: &[f64]) -> Option<&[u32]> {
        let rows = (self.met.len() - self.columns) as u32;
        while self.next_row < rows && self.last_of(table, self.next_row, None).is_none() {
            self.next_row += 1;
        }
        if self.next_row == rows {
            return None;
        }
        let mut start = self.next_row;
        if let Some(line) = self.walk(table, start) {
            // A dead end: from there, the walk ends at another one, or in a cycle.
            start = line;
            self.walk(table, start);
        }
        Some(&self.path)
    }

    /// Goes from line to line over fractional cells until it comes back, or returns the line where it cannot go on.
    fn walk(&mut self, table: &[f64], start: u32) -> Option<u32> {
        self.lines.iter().for_each(|&line| self.met[line as usize] = 0);
        self.lines.clear();
        self.path.clear();
        let rows = (self.met.len() - self.columns) as u32;
        let mut line = start;
        loop {
            self.lines.push(line);
            self.met[line as usize] = self.lines.len() as u32;
            let Some(cell) = self.last_of(table, line, self.path.last().copied()) else { return Some(line) };
            self.path.push(cell);
            let (row, column) = (cell / self.columns as u32, rows + cell % self.columns as u32);
            line = if line == row { column } else { row };
            if self.met[line as usize] > 0 {
                self.path.drain(..self.met[line as usize] as usize - 1);
                return None;
            }
        }
    }

    /// A fractional cell of a line, other than the one that the walk came by.
    fn last_of(&mut self, table: &[f64], line: u32, but: Option<u32>) -> Option<u32> {
        let start = self.starts[line as usize];
        let mut at = self.left[line as usize];
        while at > 0 {
            at -= 1;
            let cell = self.cells[(start + at) as usize];
            if !is_fractional(table[cell as usize]) {
                // Whole for good: the last one takes its place.
                self.left[line as usize] -= 1;
                self.cells[(start + at) as usize] = self.cells[(start + self.left[line as usize]) as usize];
            } else if Some(cell) != but {
                return Some(cell);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn a_row_keeps_its_sum_and_its_means() {
        let rng = &mut ChaCha8Rng::seed_from_u64(2);
        let row = [0.3, 0.0, 1.2, 0.5, 0.0, 2.0];
        const REPEATS: usize = 20_000;
        let mut means = [0.0; 6];
        for _ in 0..REPEATS {
            let mut rounded = row;
            round_row(&mut rounded, rng);
            assert_eq!(rounded.iter().sum::<f64>(), 4.0);
            assert!(rounded.iter().zip(&row).all(|(cell, mean)| *cell == mean.floor() || *cell == mean.ceil()));
            means.iter_mut().zip(&rounded).for_each(|(mean, cell)| *mean += cell / REPEATS as f64);
        }
        assert!(means.iter().zip(&row).all(|(mean, cell)| (mean - cell).abs() < 0.02), "{means:?}");
    }

    #[test]
    fn sums_stay_and_means_are_kept() {
        let rng = &mut ChaCha8Rng::seed_from_u64(1);
        for _ in 0..50 {
            let (rows, columns) = (rng.random_range(1..4), rng.random_range(1..5));
            // Rows with whole sums.
            let mut table: Vec<f64> = Vec::new();
            for _ in 0..rows {
                let weights: Vec<f64> = (0..columns).map(|_| rng.random::<f64>()).collect();
                let n = f64::from(rng.random_range(0..6));
                let sum: f64 = weights.iter().sum();
                table.extend(weights.iter().map(|weight| weight * n / sum));
            }
            const REPEATS: usize = 4000;
            let mut means = vec![0.0; table.len()];
            for _ in 0..REPEATS {
                let mut rounded = table.clone();
                round(&mut rounded, columns, rng);
                for (cell, mean) in rounded.iter().zip(&table) {
                    assert!((cell - mean).abs() < 1.0 + 1e-6 && cell.fract() == 0.0);
                }
                for (row, mean) in rounded.chunks(columns).zip(table.chunks(columns)) {
                    assert!((row.iter().sum::<f64>() - mean.iter().sum::<f64>()).abs() < 1e-6);
                }
                for column in 0..columns {
                    let sum = |table: &[f64]| table[column..].iter().step_by(columns).sum::<f64>();
                    assert!(sum(&rounded) < (sum(&table) - 1e-6).ceil() + 1e-6);
                }
                means.iter_mut().zip(&rounded).for_each(|(mean, cell)| *mean += cell / REPEATS as f64);
            }
            for (mean, cell) in means.iter().zip(&table) {
                // A cell's deviation is 1/2 at most; five standard errors.
                assert!((mean - cell).abs() < 2.5 / (REPEATS as f64).sqrt());
            }
        }
    }
}
