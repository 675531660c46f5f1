//! The rows of a class by what they have in one column: the values between which they can be cut.
//!
//! Promises:   codes ascending, and the rows of each in the order in which they came
//! Cost:       linear in rows and codes, or sorting where codes are many more than rows; buffers are used again
//! Checked by: `counted_and_sorted_are_the_same` in this file; `tests/it/tabular.rs`

use super::extent::Shape;

/// Rows by their code in a column.
#[derive(Default)]
pub(super) struct Tally {
    /// Codes that occur, ascending.
    pub(super) codes: Vec<u32>,
    /// Where the rows of each begin, and the end.
    starts: Vec<u32>,
    /// Rows by code; none if only their number is asked for.
    rows: Vec<u32>,
    /// For each code how often it occurs, then where its next row goes.
    counts: Vec<u32>,
}

impl Tally {
    /// Puts rows in order of their code, of which there are `n_codes`.
    pub(super) fn fill(&mut self, codes: &[u32], n_codes: usize, rows: &[u32], with_rows: bool) {
        self.codes.clear();
        self.starts.clear();
        self.rows.clear();
        match n_codes <= 4 * rows.len() + 64 {
            true => self.dense(codes, n_codes, rows, with_rows),
            false => self.sparse(codes, rows, with_rows),
        }
    }

    fn dense(&mut self, codes: &[u32], n_codes: usize, rows: &[u32], with_rows: bool) {
        self.counts.clear();
        self.counts.resize(n_codes, 0);
        rows.iter().for_each(|&row| self.counts[codes[row as usize] as usize] += 1);
        let mut sum = 0;
        for (code, count) in (0..).zip(&mut self.counts).filter(|(_, count)| **count > 0) {
            self.codes.push(code);
            self.starts.push(sum);
            // From here on: where the next row of this code goes.
            sum += std::mem::replace(count, sum);
        }
        self.starts.push(sum);
        if with_rows {
            self.rows.resize(rows.len(), 0);
            for &row in rows {
                let place = &mut self.counts[codes[row as usize] as usize];
                self.rows[*place as usize] = row;
                *place += 1;
            }
        }
    }

    fn sparse(&mut self, codes: &[u32], rows: &[u32], with_rows: bool) {
        let key = |(&row, place): (&u32, u64)| u64::from(codes[row as usize]) << 32 | place;
        let mut keys: Vec<u64> = rows.iter().zip(0..).map(key).collect();
        keys.sort_unstable();
        for (key, place) in keys.iter().zip(0..) {
            let code = (key >> 32) as u32;
            if self.codes.last() != Some(&code) {
                self.codes.push(code);
                self.starts.push(place);
            }
        }
        self.starts.push(keys.len() as u32);
        if with_rows {
            self.rows.extend(keys.iter().map(|&key| rows[key as u32 as usize]));
        }
    }

    /// How many rows have the code at a place.
    pub(super) fn size(&self, part: usize) -> u32 {
        self.starts[part + 1] - self.starts[part]
    }

    /// The rows that have it.
    pub(super) fn rows_of(&self, part: usize) -> &[u32] {
        &self.rows[self.starts[part] as usize..self.starts[part + 1] as usize]
    }
}

/// Values of a column that a cut does not separate, in the order in which it may separate them.
pub(super) struct Groups<'t> {
    pub(super) tally: &'t Tally,
    kind: Kind<'t>,
    /// Places in the tally, group by group.
    order: Vec<usize>,
    ends: Vec<usize>,
    pub(super) sizes: Vec<u32>,
    /// What all but one group lose together, if that does not depend on which.
    pub(super) rest: f64,
}

enum Kind<'t> {
    Numbers {
        at: &'t [f64],
    },
    Words {
        share: f64,
    },
    /// What each group loses by itself; several lose what the whole does.
    Tree {
        losses: Vec<f64>,
        whole: f64,
    },
}

impl<'t> Groups<'t> {
    /// The values of a column of this shape, which lose so much together.
    pub(super) fn new(shape: &'t Shape<'_>, tally: &'t Tally, loss: f64) -> Self {
        let places = 0..tally.codes.len();
        let by_size = |order: &mut Vec<usize>| order.sort_by_key(|&part| (u32::MAX - tally.size(part), part));
        match shape {
            Shape::Numbers { at } => Self::singly(tally, Kind::Numbers { at }, places.collect(), 1.0),
            Shape::Words { share, .. } => {
                let mut order: Vec<usize> = places.collect();
                by_size(&mut order);
                let rest = order.len() - 1;
                let loss = if rest > 1 { share * rest as f64 } else { 0.0 };
                Self::singly(tally, Kind::Words { share: *share }, order, loss)
            }
            Shape::Tree { is_number, .. } => Self::of_tree(shape, tally, loss, *is_number),
        }
    }

    /// Each value is a group.
    fn singly(tally: &'t Tally, kind: Kind<'t>, order: Vec<usize>, rest: f64) -> Self {
        let ends = (1..=order.len()).collect();
        let sizes = order.iter().map(|&part| tally.size(part)).collect();
        Groups { tally, kind, order, ends, sizes, rest }
    }

    /// Values below the same child of the lowest label above all are a group.
    fn of_tree(shape: &'t Shape<'_>, tally: &'t Tally, loss: f64, is_number: bool) -> Self {
        let mut groups: Vec<(u32, Vec<usize>)> = Vec::new();
        let extent = shape.cover(tally.codes.iter().copied());
        let mut by_child: Vec<(u32, usize)> =
            tally.codes.iter().map(|&code| shape.child_below(&extent, code)).zip(0..).collect();
        by_child.sort_unstable();
        for (child, part) in by_child {
            match groups.last_mut() {
                Some((last, parts)) if *last == child => parts.push(part),
                _ => groups.push((child, vec![part])),
            }
        }
        let size = |parts: &[usize]| parts.iter().map(|&part| tally.size(part)).sum::<u32>();
        match is_number {
            true => groups.sort_by_key(|(_, parts)| parts[0]),
            false => groups.sort_by_key(|(_, parts)| (u32::MAX - size(parts), parts[0])),
        }
        let own =
            |(_, parts): &(u32, Vec<usize>)| shape.loss(&shape.cover(parts.iter().map(|&part| tally.codes[part])));
        let losses = groups.iter().map(own).collect();
        let sizes = groups.iter().map(|(_, parts)| size(parts)).collect();
        let (mut order, mut ends) = (Vec::new(), Vec::new());
        for (_, parts) in groups {
            order.extend(parts);
            ends.push(order.len());
        }
        Groups { tally, kind: Kind::Tree { losses, whole: loss }, order, ends, sizes, rest: loss }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The places of a group in the tally.
    pub(super) fn parts(&self, group: usize) -> &[usize] {
        &self.order[self.start(group)..self.ends[group]]
    }

    fn start(&self, group: usize) -> usize {
        group.checked_sub(1).map_or(0, |before| self.ends[before])
    }

    /// The codes of neighbouring groups, sorted.
    pub(super) fn codes(&self, from: usize, to: usize) -> Vec<u32> {
        let places = &self.order[self.start(from)..self.ends[to - 1]];
        let mut codes: Vec<u32> = places.iter().map(|&place| self.tally.codes[place]).collect();
        codes.sort_unstable();
        codes
    }

    /// What neighbouring groups lose as one part.
    pub(super) fn loss(&self, from: usize, to: usize) -> f64 {
        match &self.kind {
            _ if to - from == 0 => 0.0,
            Kind::Words { .. } if to - from == 1 => 0.0,
            Kind::Words { share } => share * (to - from) as f64,
            Kind::Tree { losses, .. } if to - from == 1 => losses[from],
            Kind::Tree { whole, .. } => *whole,
            Kind::Numbers { at } => {
                let [first, last] = [from, to - 1].map(|group| at.get(self.tally.codes[group] as usize));
                // The code of missing values comes last, and is no number.
                match (first, last) {
                    (Some(first), Some(last)) => last - first,
                    (None, _) => 0.0,
                    (Some(_), None) => 1.0,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};

    #[test]
    fn counted_and_sorted_are_the_same() {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(5);
        let (mut one, mut other) = (Tally::default(), Tally::default());
        for round in 0..200 {
            let n_codes = rng.random_range(1..30);
            let codes: Vec<u32> = (0..50).map(|_| rng.random_range(0..n_codes)).collect();
            let rows: Vec<u32> = (0..rng.random_range(1..50)).map(|_| rng.random_range(0..50)).collect();
            one.fill(&codes, n_codes as usize, &rows, round % 5 > 0);
            other.fill(&codes, 1000, &rows, round % 5 > 0);
            assert_eq!((&one.codes, &one.starts, &one.rows), (&other.codes, &other.starts, &other.rows));
            for (part, &code) in one.codes.iter().enumerate().filter(|_| round % 5 > 0) {
                let expected: Vec<u32> = rows.iter().copied().filter(|&row| codes[row as usize] == code).collect();
                assert_eq!((one.rows_of(part), one.size(part) as usize), (&expected[..], expected.len()));
            }
        }
    }
}
