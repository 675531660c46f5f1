//! How many records may be a person's, if cells overlap without being equal? An adversary who knows the values of a person looks at all
//! classes whose cells cover them, and not at one class of equal cells.
//!
//! Promises:   `candidates` of a class is the least number of records that cover the values that a person of the class may have: 1 over
//!             it is the highest re-identification risk of the class. Where the search ends early it is a lower bound, and said so
//! Assumes:    values may be any number or text that a cell of the class stands for
//! Departs:    a value that no cell names is possible wherever a cell stands for anything
//! Cost:       classes whose columns do not overlap cost nothing; of others, a search over the values of each column that fewest cells
//!             cover, bounded by `STEPS` for a class and `ALL_STEPS` in all
//! Checked by: tests in this file, against all values of a grid
//!
//! A column becomes *pieces*: values and open ranges between which no cell can tell. A piece is known by the cells that cover it. For a
//! cell only the pieces with the smallest such sets matter: what is covered by more cells has more candidates.

use rayon::prelude::*;
use serde::Serialize;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::observer::Observer;
use crate::release::cells::{Shown, Value, fits};

/// Choices that are tried for one class, and for all.
const STEPS: u64 = 20_000;
const ALL_STEPS: u64 = 50_000_000;

/// Columns with more different cells, and tables with more classes, are not looked at.
const MOST_CELLS: usize = 4_000;
const MOST_CLASSES: usize = 200_000;

/// What a table shows, class by class.
pub(super) struct Classes<'a> {
    /// What the codes of each quasi-identifier stand for.
    pub(super) columns: &'a [Vec<Shown>],
    /// The codes of each class in each quasi-identifier, class by class.
    pub(super) tuples: &'a [u32],
    /// The records of each class.
    pub(super) sizes: &'a [u32],
}

/// What an adversary finds who looks at all classes that may hold a person.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Matching {
    /// Classes with a cell that overlaps one of another class in every column.
    pub overlapping_classes: u64,
    /// Their records.
    pub overlapping_records: u64,
    /// The fewest records that may be a person's, over all classes and values.
    pub fewest_candidates: u64,
    /// 1 over it: the highest re-identification risk.
    pub highest: f64,
    /// The mean of the highest risk of each record.
    pub mean: f64,
    /// Whether all of it is exact; otherwise risks are upper bounds.
    pub exact: bool,
}

impl Classes<'_> {
    fn tuple(&self, class: usize) -> &[u32] {
        &self.tuples[class * self.columns.len()..][..self.columns.len()]
    }
}

/// The risk over all classes that may hold a person.
pub(super) fn matching(classes: &Classes<'_>, observer: &dyn Observer) -> Matching {
    let found = candidates(classes, observer);
    let n: u64 = classes.sizes.iter().map(|&size| u64::from(size)).sum();
    let risk = |(candidates, &size): (&Found, &u32)| f64::from(size) / candidates.records as f64;
    let fewest = found.iter().map(|found| found.records).min().unwrap_or(0);
    let overlapping = || found.iter().zip(classes.sizes).filter(|(found, _)| found.overlaps);
    Matching {
        overlapping_classes: overlapping().count() as u64,
        overlapping_records: overlapping().map(|(_, &size)| u64::from(size)).sum(),
        fewest_candidates: fewest,
        highest: 1.0 / fewest.max(1) as f64,
        mean: found.iter().zip(classes.sizes).map(risk).sum::<f64>() / n.max(1) as f64,
        exact: found.iter().all(|found| found.exact),
    }
}

/// What was found of a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Found {
    records: u64,
    overlaps: bool,
    exact: bool,
}

fn candidates(classes: &Classes<'_>, observer: &dyn Observer) -> Vec<Found> {
    let alone = |exact| move |&size: &u32| Found { records: size.into(), overlaps: false, exact };
    let is_overlapping = |cells: &Vec<Shown>| cells.iter().any(Shown::is_generalised);
    if !classes.columns.iter().any(is_overlapping) {
        return classes.sizes.iter().map(alone(true)).collect();
    }
    let too_many = classes.columns.iter().any(|cells| is_overlapping(cells) && cells.len() > MOST_CELLS);
    if too_many || classes.sizes.len() > MOST_CLASSES {
        // The class itself is always among the candidates.
        return classes.sizes.iter().map(alone(false)).collect();
    }
    let columns: Vec<Column> = classes.columns.par_iter().map(|cells| Column::new(cells)).collect();
    if columns.iter().all(Column::is_partition) {
        return classes.sizes.iter().map(alone(true)).collect();
    }
    let near: Vec<Near> = (columns.par_iter().enumerate()).map(|(at, column)| Near::new(classes, at, column)).collect();
    let steps = AtomicU64::new(ALL_STEPS);
    let of_class = |class: usize| {
        observer.check();
        let tuple = classes.tuple(class);
        let others = Near::of_all(&near, tuple);
        if others.len() <= 1 {
            return Found { records: classes.sizes[class].into(), overlaps: false, exact: true };
        }
        Search::new(classes, &columns, tuple, &steps).least(&others)
    };
    (0..classes.sizes.len()).into_par_iter().map(of_class).collect()
}

/// Sets of small numbers as bits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Bits(Vec<u64>);

impl Bits {
    fn new(n: usize) -> Self {
        Bits(vec![0; n.div_ceil(64)])
    }

    fn add(&mut self, i: usize) {
        self.0[i / 64] |= 1 << (i % 64);
    }

    fn has(&self, i: usize) -> bool {
        self.0[i / 64] >> (i % 64) & 1 == 1
    }

    fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    fn is_within(&self, other: &Bits) -> bool {
        self.0.iter().zip(&other.0).all(|(a, b)| a & !b == 0)
    }

    fn iter(&self) -> impl Iterator<Item = usize> {
        let bits = |(at, &word): (usize, &u64)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| at * 64 + rest.trailing_zeros() as usize);
                rest &= rest.wrapping_sub(1);
                bit
            })
        };
        self.0.iter().enumerate().flat_map(bits)
    }
}

/// A column: for each cell the pieces that fewest cells cover, and the cells that cover all of it or some of it.
struct Column {
    /// The different sets of cells that cover a piece.
    pieces: Vec<Bits>,
    /// For each cell its pieces, without those that are covered by more cells than another.
    least: Vec<Vec<u32>>,
    /// For each cell the cells that overlap it.
    meets: Vec<Bits>,
    /// For each cell the cells that cover all pieces of it.
    covers: Vec<Bits>,
}

impl Column {
    fn new(cells: &[Shown]) -> Self {
        let n = cells.len();
        if !cells.iter().any(Shown::is_generalised) {
            return Self::of_values(cells);
        }
        let mut pieces: Vec<Bits> = pieces(cells)
            .into_iter()
            .map(|piece| {
                let mut covering = Bits::new(n);
                (0..n).filter(|&cell| piece.is_in(&cells[cell])).for_each(|cell| covering.add(cell));
                covering
            })
            .collect();
        pieces.sort_unstable_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
        pieces.dedup();
        let (mut least, mut meets, mut covers) = (Vec::new(), Vec::new(), Vec::new());
        for cell in 0..n {
            let mut kept: Vec<u32> = Vec::new();
            let mut all: Option<Bits> = None;
            for (at, piece) in pieces.iter().enumerate().filter(|(_, piece)| piece.has(cell)) {
                // They come with those first that fewest cells cover.
                if !kept.iter().any(|&less| pieces[less as usize].is_within(piece)) {
                    kept.push(at as u32);
                    let common = all.get_or_insert_with(|| piece.clone());
                    common.0.iter_mut().zip(&piece.0).for_each(|(a, b)| *a &= b);
                }
            }
            let mut met = Bits::new(n);
            (0..n).filter(|&other| cells[cell].meets(&cells[other])).for_each(|other| met.add(other));
            met.add(cell);
            let mut common = all.unwrap_or_else(|| Bits::new(n));
            common.add(cell);
            least.push(kept);
            meets.push(met);
            covers.push(common);
        }
        Column { pieces, least, meets, covers }
    }

    /// Values cover themselves, and those that are the same number.
    fn of_values(cells: &[Shown]) -> Self {
        let n = cells.len();
        let only = |cell: usize| {
            let mut bits = Bits::new(n.min(MOST_CELLS));
            if cell < MOST_CELLS {
                bits.add(cell);
            }
            bits
        };
        // Too many values to write down who is whose neighbour: each is its own, which may only raise a risk.
        if n > MOST_CELLS {
            return Column { pieces: Vec::new(), least: Vec::new(), meets: Vec::new(), covers: Vec::new() };
        }
        let all: Vec<Bits> = (0..n).map(only).collect();
        Column {
            pieces: all.clone(),
            least: (0..n as u32).map(|cell| vec![cell]).collect(),
            meets: all.clone(),
            covers: all,
        }
    }

    /// Whether no cell overlaps another.
    fn is_partition(&self) -> bool {
        self.meets.iter().all(|met| met.len() == 1)
    }

    /// Whether it has too many values to be told by bits: cells meet if they are equal.
    fn is_plain(&self) -> bool {
        self.meets.is_empty()
    }
}

/// Something between which no cell can tell.
enum Piece<'a> {
    Value(&'a Value),
    /// Numbers near this one, none of which is written.
    Number(f64),
    /// Texts that a mask stands for, and of which nothing more is written.
    Masked(&'a str),
    /// What no cell names.
    Other,
}

impl Piece<'_> {
    fn is_in(&self, cell: &Shown) -> bool {
        match (self, cell) {
            (_, Shown::Any) => true,
            (Piece::Value(value), cell) => cell.covers(value),
            (Piece::Number(_), Shown::Mask(_)) => false,
            // No text is written like this: the number alone decides.
            (Piece::Number(number), cell) => cell.covers(&Value { text: "\u{0}".into(), number: Some(*number) }),
            (Piece::Masked(text), Shown::Mask(mask)) => fits(mask, text),
            _ => false,
        }
    }
}

fn pieces(cells: &[Shown]) -> Vec<Piece<'_>> {
    let mut ends: Vec<f64> = Vec::new();
    let mut pieces = vec![Piece::Other];
    for cell in cells {
        match cell {
            Shown::Any => {}
            Shown::Value(value) => pieces.push(Piece::Value(value)),
            Shown::Set(values) => pieces.extend(values.iter().map(Piece::Value)),
            Shown::Range(range) => ends.extend([range.low, range.high].iter().filter(|end| end.is_finite())),
            Shown::Mask(mask) => pieces.push(Piece::Masked(mask)),
        }
    }
    if cells.iter().any(|cell| matches!(cell, Shown::Range(_))) {
        let numbers = pieces.iter().filter_map(|piece| if let Piece::Value(v) = piece { v.number } else { None });
        ends.extend(numbers.collect::<Vec<f64>>());
        ends.sort_unstable_by(f64::total_cmp);
        ends.dedup();
        let gaps = ends.windows(2).map(|pair| pair[0] / 2.0 + pair[1] / 2.0);
        let outside = [ends.first().map(|first| first - 1.0), ends.last().map(|last| last + 1.0)];
        let numbers: Vec<f64> = ends.iter().copied().chain(gaps).chain(outside.into_iter().flatten()).collect();
        pieces.extend(numbers.into_iter().map(Piece::Number));
    }
    pieces
}

/// For each cell of a column the classes that overlap it there.
enum Near {
    Bits(Vec<Bits>),
    /// Cells meet if they are equal: for each the classes that have it.
    Lists(Vec<Vec<u32>>),
}

impl Near {
    fn new(classes: &Classes<'_>, at: usize, column: &Column) -> Self {
        let d = classes.columns.len();
        let mut with: Vec<Vec<u32>> = vec![Vec::new(); classes.columns[at].len()];
        for (class, tuple) in classes.tuples.chunks_exact(d).enumerate() {
            with[tuple[at] as usize].push(class as u32);
        }
        if column.is_plain() || column.is_partition() {
            return Near::Lists(with);
        }
        let near = |met: &Bits| {
            let mut bits = Bits::new(classes.sizes.len());
            met.iter().flat_map(|cell| &with[cell]).for_each(|&class| bits.add(class as usize));
            bits
        };
        Near::Bits(column.meets.iter().map(near).collect())
    }

    /// The classes that overlap a class in every column.
    fn of_all(all: &[Near], tuple: &[u32]) -> Vec<u32> {
        let mut bits: Option<Bits> = None;
        let mut list: Option<&[u32]> = None;
        for (near, &code) in all.iter().zip(tuple) {
            match near {
                Near::Bits(near) => match &mut bits {
                    Some(bits) => bits.0.iter_mut().zip(&near[code as usize].0).for_each(|(a, b)| *a &= b),
                    None => bits = Some(near[code as usize].clone()),
                },
                Near::Lists(with) => {
                    let with = &with[code as usize][..];
                    list = Some(list.filter(|list| list.len() <= with.len()).unwrap_or(with));
                }
            }
        }
        // Lists other than the shortest are asked when cells are compared.
        match (bits, list) {
            (Some(bits), Some(list)) => list.iter().copied().filter(|&class| bits.has(class as usize)).collect(),
            (Some(bits), None) => bits.iter().map(|class| class as u32).collect(),
            (None, list) => list.unwrap_or_default().to_vec(),
        }
    }
}

/// The search for values of a class that fewest records cover.
struct Search<'a> {
    classes: &'a Classes<'a>,
    columns: &'a [Column],
    tuple: &'a [u32],
    /// Columns in which some cell of a candidate differs, the others decide nothing.
    order: Vec<usize>,
    best: u64,
    floor: u64,
    left: u64,
    steps: &'a AtomicU64,
}

impl<'a> Search<'a> {
    fn new(classes: &'a Classes<'a>, columns: &'a [Column], tuple: &'a [u32], steps: &'a AtomicU64) -> Self {
        Search { classes, columns, tuple, order: Vec::new(), best: u64::MAX, floor: 0, left: STEPS, steps }
    }

    fn meets(&self, at: usize, code: u32) -> bool {
        let (own, column) = (self.tuple[at], &self.columns[at]);
        own == code || (!column.is_plain() && column.meets[own as usize].has(code as usize))
    }

    fn covers(&self, at: usize, code: u32) -> bool {
        let (own, column) = (self.tuple[at], &self.columns[at]);
        own == code || (!column.is_plain() && column.covers[own as usize].has(code as usize))
    }

    fn weight(&self, classes: &[u32]) -> u64 {
        classes.iter().map(|&class| u64::from(self.classes.sizes[class as usize])).sum()
    }

    fn least(mut self, others: &[u32]) -> Found {
        let d = self.tuple.len();
        let tuple = |class: u32| self.classes.tuple(class as usize);
        let near: Vec<u32> =
            others.iter().copied().filter(|&class| (0..d).all(|at| self.meets(at, tuple(class)[at]))).collect();
        let overlaps = near.len() > 1;
        let full: Vec<u32> =
            near.iter().copied().filter(|&class| (0..d).all(|at| self.covers(at, tuple(class)[at]))).collect();
        self.floor = self.weight(&full);
        let differs = |&at: &usize| near.iter().any(|&class| !self.covers(at, tuple(class)[at]));
        let mut order: Vec<usize> = (0..d).filter(differs).collect();
        order.sort_by_key(|&at| self.columns[at].least[self.tuple[at] as usize].len());
        self.order = order;
        let exact = self.follow(&near, 0);
        let exact = exact && self.best != u64::MAX;
        let records = if exact { self.best } else { self.floor };
        Found { records, overlaps, exact }
    }

    /// Tries the pieces of the next column; whether nothing was left out.
    fn follow(&mut self, near: &[u32], depth: usize) -> bool {
        let Some(&at) = self.order.get(depth) else {
            self.best = self.best.min(self.weight(near));
            return true;
        };
        let classes = self.classes;
        let rest = &self.order[depth..];
        let sure = |class: &u32| rest.iter().all(|&at| self.covers(at, classes.tuple(*class as usize)[at]));
        let least: Vec<u32> = near.iter().copied().filter(sure).collect();
        if self.weight(&least) >= self.best {
            return true;
        }
        let columns = self.columns;
        let pieces = &columns[at].least[self.tuple[at] as usize];
        let mut tried: Vec<(u64, Vec<u32>)> = Vec::with_capacity(pieces.len());
        for &piece in pieces {
            if self.left == 0 || self.steps.load(Ordering::Relaxed) == 0 {
                return false;
            }
            self.left -= 1;
            let _ = self.steps.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
            let covering = &columns[at].pieces[piece as usize];
            let has = |class: &u32| covering.has(classes.tuple(*class as usize)[at] as usize);
            let kept: Vec<u32> = near.iter().copied().filter(has).collect();
            tried.push((self.weight(&kept), kept));
        }
        tried.sort();
        for (_, kept) in tried {
            if self.best == self.floor {
                return true;
            }
            if !self.follow(&kept, depth + 1) {
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observer::Unobserved;
    use rand::{RngExt, SeedableRng};

    /// Numbers with all cells that they make, words, and masks: each with values that tell all of them apart.
    const CELLS: [&[&str]; 3] = [
        &["1", "2", "[1, 3[", "2-4", "]2, 5]", "{1,4}", "*", "[3-5)", "4", ">=4"],
        &["a", "b", "c", "{a,b}", "{b,c}", "*", "", "a,c"],
        &["11", "12", "1*", "*1", "2*", "**", "21"],
    ];
    const VALUES: [&[&str]; 3] = [
        &["0.5", "1", "1.5", "2", "2.5", "3", "3.5", "4", "4.5", "5", "5.5", "other"],
        &["a", "b", "c", "", "other"],
        &["11", "12", "21", "1x", "x1", "2x", "xx", "other"],
    ];

    /// By the definition: every combination of values that the class may stand for.
    fn by_definition(cells: &[Vec<Shown>], tuples: &[Vec<u32>], sizes: &[u32], class: usize) -> u64 {
        let values: Vec<Vec<Value>> = VALUES.iter().map(|v| v.iter().map(|text| Value::new(text)).collect()).collect();
        let covers = |class: usize, at: usize, value: &Value| cells[at][tuples[class][at] as usize].covers(value);
        let mut best = u64::MAX;
        for x in &values[0] {
            for y in &values[1] {
                for z in &values[2] {
                    let all = |class: usize| covers(class, 0, x) && covers(class, 1, y) && covers(class, 2, z);
                    if all(class) {
                        let sum =
                            (0..sizes.len()).filter(|&other| all(other)).map(|other| u64::from(sizes[other])).sum();
                        best = best.min(sum);
                    }
                }
            }
        }
        best
    }

    #[test]
    fn candidates_are_those_of_all_values_of_a_grid() {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(7);
        let cells: Vec<Vec<Shown>> =
            CELLS.iter().map(|texts| texts.iter().map(|t| Shown::parse(t)).collect()).collect();
        let (mut above, mut overlapping) = (0, 0);
        for _ in 0..2000 {
            let mut tuples: Vec<Vec<u32>> = (0..rng.random_range(1..14))
                .map(|_| cells.iter().map(|cells| rng.random_range(0..cells.len()) as u32).collect())
                .collect();
            tuples.sort();
            tuples.dedup();
            let sizes: Vec<u32> = tuples.iter().map(|_| rng.random_range(1..9)).collect();
            let flat: Vec<u32> = tuples.concat();
            let found = candidates(&Classes { columns: &cells, tuples: &flat, sizes: &sizes }, &Unobserved);
            for (class, found) in found.iter().enumerate() {
                let expected = by_definition(&cells, &tuples, &sizes, class);
                assert_eq!((found.records, found.exact), (expected, true), "{tuples:?} {sizes:?} {class}");
                above += u32::from(found.records > u64::from(sizes[class]));
                overlapping += u32::from(found.overlaps);
            }
        }
        assert!(above > 500 && overlapping > 3000, "{above} {overlapping}");
    }

    #[test]
    fn a_search_that_ends_early_never_hides_a_risk() {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(8);
        let cells: Vec<Vec<Shown>> =
            CELLS.iter().map(|texts| texts.iter().map(|t| Shown::parse(t)).collect()).collect();
        let columns: Vec<Column> = cells.iter().map(|cells| Column::new(cells)).collect();
        let mut early = 0;
        for _ in 0..300 {
            let mut tuples: Vec<Vec<u32>> =
                (0..12).map(|_| cells.iter().map(|cells| rng.random_range(0..cells.len()) as u32).collect()).collect();
            tuples.sort();
            tuples.dedup();
            let (sizes, flat) = (vec![2; tuples.len()], tuples.concat());
            let classes = Classes { columns: &cells, tuples: &flat, sizes: &sizes };
            let all: Vec<u32> = (0..sizes.len() as u32).collect();
            for class in 0..sizes.len() {
                let steps = AtomicU64::new(rng.random_range(0..4));
                let found = Search::new(&classes, &columns, classes.tuple(class), &steps).least(&all);
                let exact = by_definition(&cells, &tuples, &sizes, class);
                assert!(found.records <= exact && found.records >= 2 && (!found.exact || found.records == exact));
                early += u32::from(!found.exact);
            }
        }
        assert!(early > 100, "{early}");
    }
}
