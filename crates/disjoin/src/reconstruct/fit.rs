//! The law of a shared chunk: how likely each record is to take a subrecord.
//!
//! If every subrecord is as likely in each record where it may lie, a leaf P expects s_P * sum over classes e of n_e / N_e
//! subrecords, N_e being the number of records where class e may lie. That is at most its size s_P for every release that
//! leaves room (N_e at least the size of the chunk, which `verify` checks), because then the sum is at most
//! sum n_e / n = 1. Foreign releases need not leave room. For them, records of crowded leaves are made less likely by
//! a factor, the *tilt*, until no leaf expects more than it can hold.
//!
//! Paper:      terrovitis2012, section 6 (probabilities of placements); the tilt is ours
//! Promises:   no leaf expects more subrecords of a chunk than it has records
//! Cost:       O(classes * leaves), times the number of rounds where a tilt is needed
//! Checked by: tests in this file, tests/it/estimate.rs

use super::model::Class;

/// Rounds after which a chunk counts as impossible.
const MAX_ROUNDS: usize = 10_000;

/// How much a leaf may expect beyond its size: rounding errors, and no more.
const TOLERANCE: f64 = 1e-9;

/// The tilt of each leaf of a bag, or `None` if all are 1; sets the classes' `records` to match.
pub(super) fn tilt(classes: &mut [Class], sizes: &[f64]) -> Result<Option<Box<[f64]>>, &'static str> {
    if let [class] = classes {
        let fits = class.bits.len() as f64 <= class.records;
        return if fits { Ok(None) } else { Err("a chunk has more subrecords than there are records") };
    }
    let mut tilt = vec![1.0; sizes.len()];
    for round in 0..MAX_ROUNDS {
        // What a record of each leaf expects.
        let mut load = vec![0.0; sizes.len()];
        for class in classes.iter() {
            let share = class.bits.len() as f64 / class.records;
            within(class, sizes.len()).for_each(|leaf| load[leaf] += share * tilt[leaf]);
        }
        if load.iter().all(|&load| load <= 1.0 + TOLERANCE) {
            return Ok((round > 0).then(|| tilt.into_boxed_slice()));
        }
        for (tilt, load) in tilt.iter_mut().zip(&load) {
            *tilt /= load.max(1.0);
        }
        for class in classes.iter_mut() {
            class.records = within(class, sizes.len()).map(|leaf| sizes[leaf] * tilt[leaf]).sum();
        }
    }
    Err("its shared subrecords find no room")
}

/// The leaves of a class.
fn within(class: &Class, n_leaves: usize) -> impl Iterator<Item = usize> {
    (0..n_leaves as u32).filter(|&at| class.may_lie(at)).map(|at| at as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(bits: std::ops::Range<u32>, only: u64, records: f64) -> Class {
        Class { bits, only: Some([only].into()), records }
    }

    #[test]
    fn where_there_is_room_nothing_is_tilted() {
        let mut classes = [class(0..2, 0b01, 5.0), class(2..5, 0b11, 9.0)];
        assert_eq!(tilt(&mut classes, &[5.0, 4.0]), Ok(None));
    }

    #[test]
    fn a_crowded_leaf_is_made_less_likely() {
        // Three of leaf 0's four records are taken by the first class; evenly placed, the second would bring 2 more.
        let mut classes = [class(0..3, 0b01, 4.0), class(3..7, 0b11, 8.0)];
        let found = tilt(&mut classes, &[4.0, 4.0]).unwrap().unwrap();
        let load = |leaf: usize, classes: &[usize], all: &[Class]| -> f64 {
            classes.iter().map(|&e| all[e].bits.len() as f64 * found[leaf] / all[e].records).sum()
        };
        assert!((load(0, &[0, 1], &classes) - 1.0).abs() < 1e-6);
        assert!((load(1, &[1], &classes) - 0.75).abs() < 1e-6);
    }

    #[test]
    fn what_cannot_be_placed_is_refused() {
        let mut classes = [class(0..3, 0b01, 4.0), class(3..9, 0b11, 8.0)];
        assert!(tilt(&mut classes, &[4.0, 4.0]).is_err());
        let mut classes = [Class { bits: 0..9, only: None, records: 8.0 }];
        assert!(tilt(&mut classes, &[4.0, 4.0]).is_err());
    }
}
