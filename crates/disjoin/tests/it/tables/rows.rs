//! Rows of codes for tests of networks, and slow counts of them.

use disjoin::knowledge::network::Coded;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Columns of random codes, some depending on others before.
pub(crate) struct Rows {
    pub(crate) columns: Vec<Vec<u32>>,
    pub(crate) sizes: Vec<u32>,
}

impl Rows {
    pub(crate) fn random(seed: u64, max_columns: usize, max_rows: usize, max_size: u32) -> Rows {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (n, n_rows) = (rng.random_range(2..=max_columns), rng.random_range(1..=max_rows));
        let sizes = (0..n).map(|_| rng.random_range(1..=max_size)).collect();
        Rows::draw(rng, n_rows, sizes)
    }

    /// Columns of which each may depend on those before.
    pub(crate) fn draw(mut rng: ChaCha8Rng, n_rows: usize, sizes: Vec<u32>) -> Rows {
        let mut columns: Vec<Vec<u32>> = Vec::new();
        for (node, &size) in sizes.iter().enumerate() {
            let like: Vec<usize> = (0..node).filter(|_| rng.random_bool(0.4)).collect();
            let noise = rng.random_range(0.1..1.0);
            let code = |row: usize| {
                let from: u32 = like.iter().map(|&other| columns[other][row]).sum();
                if rng.random_bool(noise) { rng.random_range(0..size) } else { from % size }
            };
            let column = (0..n_rows).map(code).collect();
            columns.push(column);
        }
        Rows { columns, sizes }
    }

    pub(crate) fn coded(&self) -> Coded {
        Coded::new(&self.columns.iter().map(Vec::as_slice).collect::<Vec<_>>(), &self.sizes).unwrap()
    }

    pub(crate) fn n(&self) -> usize {
        self.columns[0].len()
    }

    /// How many rows have these codes.
    pub(crate) fn times(&self, codes: &[(usize, u32)]) -> f64 {
        let fits = |row: &usize| codes.iter().all(|&(column, code)| self.columns[column][*row] == code);
        (0..self.n()).filter(fits).count() as f64
    }

    /// All configurations of some columns.
    pub(crate) fn configurations(&self, columns: &[usize]) -> Vec<Vec<(usize, u32)>> {
        let mut all = vec![Vec::new()];
        for &column in columns {
            let longer = |start: &Vec<(usize, u32)>| {
                let start = start.clone();
                (0..self.sizes[column]).map(move |code| start.iter().copied().chain([(column, code)]).collect())
            };
            all = all.iter().flat_map(longer).collect();
        }
        all
    }
}
