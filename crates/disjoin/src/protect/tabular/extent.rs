//! How far a growing class extends in each column, and what that costs: [`Cell`](crate::data::Cell) one row at a time.
//!
//! Promises:   the loss is that of the smallest cell for the rows so far
//! Cost:       a row costs a comparison a column; a binary search for words, a climb for hierarchies
//! Checked by: `extents_are_cells_row_by_row` in this file

use crate::data::cell::node_loss;
use crate::data::table::Column;
use crate::data::{Hierarchy, NodeId};

/// A column, made ready to be asked for losses.
#[derive(Clone)]
pub(super) enum Shape<'a> {
    /// Each number as a share of the range.
    Numbers { at: Vec<f64> },
    /// Words, and the share of one among all.
    Words { share: f64 },
    /// Values under a hierarchy, and what each node costs.
    Tree { hierarchy: &'a Hierarchy, loss: Vec<f64>, is_number: bool },
}

/// What the rows of a class have in one column.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Extent {
    /// No row so far.
    Nothing,
    Missing,
    Numbers(u32, u32),
    /// Sorted; the code of missing values may be among them.
    Words(Vec<u32>),
    Node(NodeId),
    Any,
}

impl<'a> Shape<'a> {
    pub(super) fn new(column: &'a Column) -> Self {
        let domain = &column.domain;
        match (domain.hierarchy(), domain.numbers()) {
            (Some(hierarchy), numbers) => {
                let loss = (0..hierarchy.n_nodes() as NodeId).map(|node| node_loss(domain, hierarchy, node)).collect();
                Shape::Tree { hierarchy, loss, is_number: numbers.is_some() }
            }
            (None, Some(_)) => Shape::Numbers { at: (0..domain.missing()).map(|code| domain.span(0, code)).collect() },
            (None, None) => {
                let all = domain.n_values() + usize::from(domain.has_missing());
                Shape::Words { share: 1.0 / all.max(1) as f64 }
            }
        }
    }

    /// The code of a missing value.
    fn missing(&self) -> u32 {
        match self {
            Shape::Numbers { at } => at.len() as u32,
            // Among words it is like the others.
            Shape::Words { .. } => u32::MAX,
            Shape::Tree { hierarchy, .. } => hierarchy.n_terms() as u32,
        }
    }

    /// The loss of an extent.
    pub(super) fn loss(&self, extent: &Extent) -> f64 {
        match (self, extent) {
            (_, Extent::Nothing | Extent::Missing) => 0.0,
            (Shape::Numbers { at }, Extent::Numbers(first, last)) => at[*last as usize] - at[*first as usize],
            (Shape::Words { share }, Extent::Words(codes)) if codes.len() > 1 => share * codes.len() as f64,
            (Shape::Words { .. }, Extent::Words(_)) => 0.0,
            (Shape::Tree { loss, .. }, Extent::Node(node)) => loss[*node as usize],
            _ => 1.0,
        }
    }

    /// The loss of an extent with one code more.
    pub(super) fn loss_with(&self, extent: &Extent, code: u32) -> f64 {
        match (self, extent) {
            (_, Extent::Nothing) => 0.0,
            (_, Extent::Any) => 1.0,
            (_, Extent::Missing) if code == self.missing() => 0.0,
            (_, Extent::Missing) => 1.0,
            (Shape::Words { share }, Extent::Words(codes)) => {
                let n = codes.len() + usize::from(codes.binary_search(&code).is_err());
                if n > 1 { share * n as f64 } else { 0.0 }
            }
            _ if code == self.missing() => 1.0,
            (Shape::Numbers { at }, Extent::Numbers(first, last)) => {
                at[(*last).max(code) as usize] - at[(*first).min(code) as usize]
            }
            (Shape::Tree { hierarchy, loss, .. }, Extent::Node(node)) => {
                hierarchy.lowest_common(*node, code).map_or(1.0, |node| loss[node as usize])
            }
            _ => 1.0,
        }
    }

    /// How far apart two numbers are; none if they are not numbers.
    pub(super) fn distance(&self, one: u32, other: u32) -> Option<f64> {
        let Shape::Numbers { at } = self else { return None };
        match (at.get(one as usize), at.get(other as usize)) {
            (Some(one), Some(other)) => Some((one - other).abs()),
            (None, None) => Some(0.0),
            _ => Some(1.0),
        }
    }

    /// Under a hierarchy: the child, below the node that an extent has come to, that a code stands under.
    pub(super) fn child_below(&self, extent: &Extent, code: u32) -> NodeId {
        let Shape::Tree { hierarchy, .. } = self else { return code };
        if code == self.missing() {
            return NodeId::MAX;
        }
        let top = if let Extent::Node(node) = extent { Some(*node) } else { None };
        let mut node = code;
        while Some(node) != top && hierarchy.parent(node) != top {
            match hierarchy.parent(node) {
                Some(parent) => node = parent,
                None => break,
            }
        }
        node
    }

    /// The loss of codes that are all different and ascending.
    pub(super) fn loss_of(&self, codes: &[u32]) -> f64 {
        match (self, codes) {
            (_, []) => 0.0,
            (Shape::Words { share }, _) => words_loss(*share, codes.len() as u32),
            (Shape::Numbers { at }, [first, ..]) => range_loss(at, *first, codes[codes.len() - 1]),
            (Shape::Tree { .. }, _) => self.loss(&self.cover(codes.iter().copied())),
        }
    }

    /// The losses of two parts: of the codes that come with `true`, and of the others.
    pub(super) fn losses_of_parts(&self, codes: impl Iterator<Item = (u32, bool)> + Clone) -> [f64; 2] {
        match self {
            Shape::Numbers { at } => {
                let (mut first, mut last) = ([u32::MAX; 2], [0; 2]);
                for (code, is_left) in codes {
                    let part = usize::from(!is_left);
                    (first[part], last[part]) = (first[part].min(code), last[part].max(code));
                }
                [0, 1].map(|part| range_loss(at, first[part], last[part]))
            }
            Shape::Words { share } => {
                let (mut bits, mut is_few) = ([0_u64; 2], true);
                for (code, is_left) in codes.clone() {
                    is_few &= code < u64::BITS;
                    bits[usize::from(!is_left)] |= 1 << (code % u64::BITS);
                }
                match is_few {
                    true => bits.map(|bits| words_loss(*share, bits.count_ones())),
                    false => self.losses_of_any(codes),
                }
            }
            Shape::Tree { .. } => self.losses_of_any(codes),
        }
    }

    fn losses_of_any(&self, codes: impl Iterator<Item = (u32, bool)> + Clone) -> [f64; 2] {
        [true, false].map(|of| {
            let codes = codes.clone().filter(move |(_, is_left)| *is_left == of);
            self.loss(&self.cover(codes.map(|(code, _)| code)))
        })
    }

    /// The extent of some codes.
    pub(super) fn cover(&self, codes: impl Iterator<Item = u32> + Clone) -> Extent {
        match self {
            Shape::Words { .. } => {
                // One by one, each would be looked for among those before it. Few words are bits of a number.
                let mut bits = 0_u64;
                let is_few = codes.clone().all(|code| {
                    bits |= 1_u64.checked_shl(code).unwrap_or(0);
                    code < u64::BITS
                });
                let mut found: Vec<u32> = match is_few {
                    true => (0..u64::BITS).filter(|code| bits >> code & 1 == 1).collect(),
                    false => codes.collect(),
                };
                if !is_few {
                    found.sort_unstable();
                    found.dedup();
                }
                if found.is_empty() { Extent::Nothing } else { Extent::Words(found) }
            }
            Shape::Numbers { at } => {
                let (mut first, mut last) = (u32::MAX, 0);
                let (mut has_missing, mut has_number) = (false, false);
                for code in codes {
                    match (code as usize) < at.len() {
                        true => (first, last, has_number) = (first.min(code), last.max(code), true),
                        false => has_missing = true,
                    }
                }
                match (has_number, has_missing) {
                    (false, false) => Extent::Nothing,
                    (false, true) => Extent::Missing,
                    (true, false) => Extent::Numbers(first, last),
                    (true, true) => Extent::Any,
                }
            }
            Shape::Tree { .. } => {
                let (mut extent, mut last) = (Extent::Nothing, None);
                for code in codes {
                    if last != Some(code) {
                        self.include(&mut extent, code);
                        last = Some(code);
                    }
                }
                extent
            }
        }
    }

    /// Makes an extent include one code more.
    pub(super) fn include(&self, extent: &mut Extent, code: u32) {
        let is_missing = code == self.missing();
        *extent = match (self, std::mem::replace(extent, Extent::Any)) {
            (_, Extent::Any) => Extent::Any,
            (Shape::Words { .. }, Extent::Words(mut codes)) => {
                if let Err(place) = codes.binary_search(&code) {
                    codes.insert(place, code);
                }
                Extent::Words(codes)
            }
            (Shape::Words { .. }, _) => Extent::Words(vec![code]),
            (_, Extent::Nothing | Extent::Missing) if is_missing => Extent::Missing,
            (_, Extent::Missing) => Extent::Any,
            _ if is_missing => Extent::Any,
            (Shape::Numbers { .. }, Extent::Numbers(first, last)) => Extent::Numbers(first.min(code), last.max(code)),
            (Shape::Numbers { .. }, _) => Extent::Numbers(code, code),
            (Shape::Tree { hierarchy, .. }, Extent::Node(node)) => {
                hierarchy.lowest_common(node, code).map_or(Extent::Any, Extent::Node)
            }
            (Shape::Tree { .. }, _) => Extent::Node(code),
        };
    }
}

fn words_loss(share: f64, n: u32) -> f64 {
    if n > 1 { share * f64::from(n) } else { 0.0 }
}

/// The loss from the lowest to the highest code; that of missing values comes after all numbers.
fn range_loss(at: &[f64], first: u32, last: u32) -> f64 {
    match (at.get(first as usize), at.get(last as usize)) {
        (Some(first), Some(last)) => last - first,
        (Some(_), None) => 1.0,
        (None, _) => 0.0,
    }
}

/// The extents of a class in all quasi-identifiers.
#[derive(Debug, Clone)]
pub(super) struct Boxes {
    extents: Vec<Extent>,
    loss: f64,
}

impl Boxes {
    /// The extents of some rows.
    pub(super) fn of(shapes: &[Shape<'_>], quasi: &[&Column], rows: &[u32]) -> Self {
        let cover = |(shape, column): (&Shape<'_>, &&Column)| {
            let codes = &column.codes;
            shape.cover(rows.iter().map(|&row| codes[row as usize]))
        };
        let extents: Vec<Extent> = shapes.iter().zip(quasi).map(cover).collect();
        let loss = shapes.iter().zip(&extents).fold(0.0, |sum, (shape, extent)| sum + shape.loss(extent));
        Boxes { extents, loss }
    }

    /// The sum of the losses of all columns.
    pub(super) fn loss(&self) -> f64 {
        self.loss
    }

    /// The loss of each column.
    pub(super) fn losses(&self, shapes: &[Shape<'_>]) -> Vec<f64> {
        shapes.iter().zip(&self.extents).map(|(shape, extent)| shape.loss(extent)).collect()
    }

    /// The same with one row more.
    pub(super) fn loss_with(&self, shapes: &[Shape<'_>], quasi: &[&Column], row: u32) -> f64 {
        let with = |((shape, column), extent): ((&Shape<'_>, &&Column), &Extent)| {
            shape.loss_with(extent, column.codes[row as usize])
        };
        shapes.iter().zip(quasi).zip(&self.extents).map(with).sum()
    }

    /// Takes a row in.
    pub(super) fn add(&mut self, shapes: &[Shape<'_>], quasi: &[&Column], row: u32) {
        self.loss = 0.0;
        for ((shape, column), extent) in shapes.iter().zip(quasi).zip(&mut self.extents) {
            shape.include(extent, column.codes[row as usize]);
            self.loss += shape.loss(extent);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Cell;
    use crate::data::table::Role;
    use rand::{RngExt, SeedableRng};

    #[test]
    fn extents_are_cells_row_by_row() {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(3);
        for round in 0..400 {
            // More than 64 words in some rounds: few and many are kept in different ways.
            let (n, most) = if round % 8 < 4 { (8, 9) } else { (90, 200) };
            let values: Vec<Option<u32>> =
                (0..n).map(|_| (rng.random_range(0..6) > 0).then(|| rng.random_range(0..most))).collect();
            let texts: Vec<Option<String>> = values.iter().map(|value| value.map(|value| value.to_string())).collect();
            let mut column = match round % 4 {
                0 | 1 => Column::words("w", Role::Quasi, texts.iter().map(Option::as_deref)),
                _ => Column::numbers("n", Role::Quasi, values.iter().map(|value| value.map(f64::from))),
            };
            if round % 2 == 1 && column.domain.n_values() > 0 {
                let hierarchy = Hierarchy::uniform(column.domain.texts(), 2).unwrap();
                column.domain.set_hierarchy(hierarchy);
            }
            let shape = Shape::new(&column);
            let mut extent = Extent::Nothing;
            for end in 1..=column.codes.len() {
                let code = column.codes[end - 1];
                let ahead = shape.loss_with(&extent, code);
                shape.include(&mut extent, code);
                assert_eq!(shape.cover(column.codes[..end].iter().copied()), extent);
                let expected = Cell::cover(&column.domain, column.codes[..end].iter().copied()).loss(&column.domain);
                assert!((shape.loss(&extent) - expected).abs() < 1e-12, "{extent:?}");
                assert!((ahead - expected).abs() < 1e-12);
                let mut different = column.codes[..end].to_vec();
                different.sort_unstable();
                different.dedup();
                assert_eq!(shape.loss_of(&different), shape.loss(&extent));
                let parts = column.codes[..end].iter().map(|&code| (code, code % 3 == 1));
                let part = |of| shape.loss(&shape.cover(parts.clone().filter(|part| part.1 == of).map(|part| part.0)));
                assert_eq!(shape.losses_of_parts(parts.clone()), [true, false].map(part));
            }
        }
    }
}
