//! The place of rows along a Hilbert curve through their quasi-identifiers: neighbours on the curve are neighbours in space.
//!
//! Paper:      Skilling 2004 (programming the Hilbert curve)
//! Promises:   one number for each cell of the grid, and consecutive numbers are cells that share a face
//! Assumes:    bits times columns is at most 128; columns that are too many for a bit each are left out at the end
//! Departs:    a missing value is at the upper end of its column
//! Cost:       O(bits * columns) a row, on all cores
//! Checked by: tests in this file, on all cells of small grids

use rayon::prelude::*;

use crate::data::table::{Column, Domain};

/// The Hilbert number of each row, with so many bits a column: numbers by value, words by the order of the hierarchy's leaves or
/// of their texts.
pub(super) fn numbers(quasi: &[&Column], bits: u32) -> Vec<u128> {
    let bits = bits.clamp(1, 32);
    let quasi = &quasi[..quasi.len().min(128 / bits as usize)];
    let cells: Vec<Vec<u32>> = quasi.iter().map(|column| cells(&column.domain, bits)).collect();
    let n_rows = quasi.first().map_or(0, |column| column.codes.len());
    let number = |row: usize| {
        let mut cell: Vec<u32> =
            quasi.iter().zip(&cells).map(|(column, cells)| cells[column.codes[row] as usize]).collect();
        hilbert_number(&mut cell, bits)
    };
    (0..n_rows).into_par_iter().map(number).collect()
}

/// For each code its place on a grid of 2^bits.
fn cells(domain: &Domain, bits: u32) -> Vec<u32> {
    let last = f64::from(u32::MAX >> (32 - bits));
    let steps = domain.n_values().saturating_sub(usize::from(!domain.has_missing())).max(1) as f64;
    let share = |code: u32| match (domain.numbers(), domain.hierarchy()) {
        _ if code == domain.missing() => 1.0,
        (Some(_), _) => domain.span(0, code),
        (None, Some(hierarchy)) => f64::from(hierarchy.position(code)) / steps,
        (None, None) => f64::from(code) / steps,
    };
    (0..=domain.missing()).map(|code| (share(code) * last).round() as u32).collect()
}

/// The number of a cell along the curve. The coordinates are overwritten.
fn hilbert_number(cell: &mut [u32], bits: u32) -> u128 {
    let Some(last) = cell.len().checked_sub(1) else { return 0 };
    // Undo the turns of the curve, from the largest cube to the smallest.
    for bit in (1..bits).rev() {
        let (side, below) = (1 << bit, (1 << bit) - 1);
        for axis in 0..=last {
            if cell[axis] & side != 0 {
                cell[0] ^= below;
            } else {
                let exchanged = (cell[0] ^ cell[axis]) & below;
                cell[0] ^= exchanged;
                cell[axis] ^= exchanged;
            }
        }
    }
    // Gray code.
    for axis in 1..=last {
        cell[axis] ^= cell[axis - 1];
    }
    let turned = (1..bits).filter(|bit| cell[last] & (1 << bit) != 0).fold(0, |turned, bit| turned ^ ((1 << bit) - 1));
    cell.iter_mut().for_each(|coordinate| *coordinate ^= turned);
    // The number has the first bit of every axis, then the second, and so on.
    let bits_of = (0..bits).rev().flat_map(|bit| cell.iter().map(move |coordinate| coordinate >> bit & 1));
    bits_of.fold(0, |number, bit| number << 1 | u128::from(bit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Hierarchy;
    use crate::data::table::Role;

    #[test]
    fn the_curve_passes_every_cell_once_and_never_jumps() {
        for (d, bits) in [(1, 3), (2, 1), (2, 2), (2, 3), (3, 2), (3, 3), (4, 2), (4, 3)] {
            let n_cells = 1_usize << (d * bits);
            let mut cell_at = vec![None; n_cells];
            for cell in 0..n_cells {
                let coordinates: Vec<u32> =
                    (0..d).map(|axis| (cell >> (axis * bits)) as u32 & ((1 << bits) - 1)).collect();
                let number = hilbert_number(&mut coordinates.clone(), bits as u32) as usize;
                assert!(cell_at[number].replace(coordinates).is_none(), "{d} {bits}: {number} twice");
            }
            for pair in cell_at.windows(2) {
                let (one, other) = (pair[0].as_ref().unwrap(), pair[1].as_ref().unwrap());
                let steps: u32 = one.iter().zip(other).map(|(a, b)| a.abs_diff(*b)).sum();
                assert_eq!(steps, 1, "{d} {bits}: {one:?} {other:?}");
            }
        }
    }

    #[test]
    fn columns_are_spread_over_the_grid() {
        let numbers = Column::numbers("n", Role::Quasi, [Some(0.0), Some(5.0), Some(10.0), None]);
        assert_eq!(cells(&numbers.domain, 4), [0, 8, 15, 15]);
        let mut words = Column::words("w", Role::Quasi, ["a", "b", "c", "d"].map(Some));
        assert_eq!(cells(&words.domain, 8), [0, 85, 170, 255, 255]);
        let paths = [("a", ["x"]), ("b", ["y"]), ("c", ["x"]), ("d", ["y"])];
        words.domain.set_hierarchy(Hierarchy::from_paths(words.domain.texts(), paths).unwrap());
        // What is below one label is side by side.
        let cells = cells(&words.domain, 8);
        assert_eq!((cells[0].abs_diff(cells[2]), cells[1].abs_diff(cells[3]), cells[4]), (85, 85, 255));
    }

    #[test]
    fn any_number_of_columns_and_bits_has_a_number() {
        let column = Column::numbers("n", Role::Quasi, [Some(1.0), Some(2.0)]);
        for (d, bits) in [(0, 8), (1, 32), (1, 21), (8, 16), (64, 2), (128, 1), (300, 1)] {
            let numbers = numbers(&vec![&column; d], bits);
            assert_eq!(numbers.len(), if d == 0 { 0 } else { 2 });
            assert!(d == 0 || numbers[0] != numbers[1], "{d} {bits}");
        }
    }
}
