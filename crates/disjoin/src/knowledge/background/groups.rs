//! Rows with the same quasi-identifiers, and in the same half, taken together.
//!
//! Cost:       sorting the rows
//! Checked by: tests/it/background.rs

use rand::RngExt;
use rayon::prelude::*;

use crate::data::table::Column;
use crate::generate::stream;

/// Distinct quasi-identifiers and how often each sensitive value goes with them.
pub(super) struct Groups {
    /// The number of quasi-identifiers.
    width: usize,
    /// The quasi-identifiers' codes, group by group.
    codes: Vec<u32>,
    /// The half of each group; all in the first without cross-fitting.
    halves: Vec<u8>,
    has_halves: bool,
    /// Sensitive values and how many rows have them, group by group, and where each group's begin.
    counts: Vec<(u32, u32)>,
    starts: Vec<usize>,
    /// For each row its group.
    pub(super) of_row: Vec<u32>,
    /// For each sensitive value its number of rows.
    pub(super) overall: Vec<f64>,
}

impl Groups {
    /// Groups of all rows; with a seed each row is in one of two halves.
    pub(super) fn new(quasi: &[&Column], sensitive: &Column, seed: Option<u64>) -> Self {
        let (n, width) = (sensitive.codes.len(), quasi.len());
        let half: Vec<u8> = match seed {
            Some(seed) => {
                let mut rng = stream(seed, "background/halves", 0);
                (0..n).map(|_| u8::from(rng.random_bool(0.5))).collect()
            }
            None => vec![0; n],
        };
        let key = |row: usize| quasi.iter().map(move |column| column.codes[row]);
        let mut rows: Vec<usize> = (0..n).collect();
        let order = |&a: &usize, &b: &usize| {
            let by_key = half[a].cmp(&half[b]).then_with(|| key(a).cmp(key(b)));
            by_key.then(sensitive.codes[a].cmp(&sensitive.codes[b])).then(a.cmp(&b))
        };
        rows.par_sort_unstable_by(order);
        let mut groups = Groups {
            width,
            codes: Vec::new(),
            halves: Vec::new(),
            has_halves: seed.is_some(),
            counts: Vec::new(),
            starts: Vec::new(),
            of_row: vec![0; n],
            overall: vec![0.0; sensitive.domain.n_codes()],
        };
        for same in rows.chunk_by(|&a, &b| half[a] == half[b] && key(a).eq(key(b))) {
            let group = groups.halves.len() as u32;
            groups.codes.extend(key(same[0]));
            groups.halves.push(half[same[0]]);
            groups.starts.push(groups.counts.len());
            for &row in same {
                let value = sensitive.codes[row];
                groups.of_row[row] = group;
                groups.overall[value as usize] += 1.0;
                let start = groups.starts[group as usize];
                match groups.counts[start..].last_mut() {
                    Some((last, count)) if *last == value => *count += 1,
                    _ => groups.counts.push((value, 1)),
                }
            }
        }
        groups.starts.push(groups.counts.len());
        groups
    }

    pub(super) fn len(&self) -> usize {
        self.halves.len()
    }

    pub(super) fn n_values(&self) -> usize {
        self.overall.len()
    }

    /// The codes of a group's quasi-identifiers.
    #[inline]
    pub(super) fn codes(&self, group: usize) -> &[u32] {
        &self.codes[group * self.width..][..self.width]
    }

    /// How many rows of a group have which value.
    #[inline]
    pub(super) fn counts(&self, group: usize) -> &[(u32, u32)] {
        &self.counts[self.starts[group]..self.starts[group + 1]]
    }

    pub(super) fn half(&self, group: usize) -> u8 {
        self.halves[group]
    }

    /// The half that beliefs about a group come from.
    pub(super) fn learned_from(&self, group: usize) -> u8 {
        if self.has_halves { 1 - self.halves[group] } else { 0 }
    }
}
