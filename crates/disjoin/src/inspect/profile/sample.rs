//! The different values of a column in bounded memory: all of them as long as they are few, and a fair sample once they are many.
//!
//! Paper:      Gibbons, Distinct sampling for highly-accurate answers to distinct values queries and event reports, VLDB 2001
//! Promises:   a value that is kept has been counted from its first row on; which values are kept depends on a hash of their texts
//!             alone. Below the limit everything is exact
//! Departs:    a value is a 64-bit hash: of two texts with the same one the second is not counted
//! Cost:       a hash and a look-up a row; every halving is a pass over what is kept
//! Checked by: tests in this file

use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

/// A value is shown as an example only if so many people share it.
pub const SHARED: usize = 5;

/// Longer texts are counted, and not kept.
const LONGEST: usize = 60;

/// Distinct values with their counts.
#[derive(Debug)]
pub(super) struct Sample {
    values: HashMap<u64, Value, FixedState>,
    /// Of so many halvings a value has survived all.
    level: u32,
    most: usize,
}

#[derive(Debug)]
struct Value {
    text: Option<Box<str>>,
    rows: u64,
    /// Different people who have it, up to as many as it takes to show it.
    holders: [u64; SHARED],
    n_holders: usize,
}

impl Sample {
    pub(super) fn new(most: usize) -> Self {
        Sample { values: HashMap::with_hasher(FixedState::default()), level: 0, most: most.max(16) }
    }

    /// Counts a value that somebody has.
    pub(super) fn add(&mut self, text: &str, holder: u64) {
        let hash = hash_of(text);
        if hash & self.mask() != 0 {
            return;
        }
        let value = self.values.entry(hash).or_insert_with(|| Value {
            text: (text.len() <= LONGEST).then(|| text.into()),
            rows: 0,
            holders: [0; SHARED],
            n_holders: 0,
        });
        value.rows += 1;
        if value.n_holders < SHARED && !value.holders[..value.n_holders].contains(&holder) {
            value.holders[value.n_holders] = holder;
            value.n_holders += 1;
        }
        if self.values.len() > self.most {
            self.level += 1;
            let mask = self.mask();
            self.values.retain(|hash, _| hash & mask == 0);
        }
    }

    fn mask(&self) -> u64 {
        (1 << self.level) - 1
    }

    /// Whether all values are kept, so that counts are exact.
    pub(super) fn is_exact(&self) -> bool {
        self.level == 0
    }

    /// How many different values there are.
    pub(super) fn distinct(&self) -> u64 {
        (self.values.len() as u64) << self.level
    }

    /// Rows with a value that no other row has.
    pub(super) fn own(&self) -> u64 {
        (self.values.values().filter(|value| value.rows == 1).count() as u64) << self.level
    }

    /// Rows of the values that are kept, as far as `is` takes them, as a share of all rows that are kept.
    pub(super) fn share(&self, is: impl Fn(&str) -> bool) -> f64 {
        let all: u64 = self.values.values().map(|value| value.rows).sum();
        let such = self.values.values().filter(|value| value.text.as_deref().is_some_and(&is));
        such.map(|value| value.rows).sum::<u64>() as f64 / all.max(1) as f64
    }

    /// Texts that at least five people share, the most frequent first.
    pub(super) fn shared(&self) -> Vec<(&str, u64)> {
        let is_shared = |value: &&Value| value.n_holders >= SHARED;
        let shared = self.values.values().filter(is_shared);
        let mut shared: Vec<(&str, u64)> =
            shared.filter_map(|value| Some((value.text.as_deref()?, value.rows))).collect();
        shared.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        shared
    }
}

/// The hash of a text, the same in every run.
pub(super) fn hash_of(text: &str) -> u64 {
    FixedState::default().hash_one(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_are_exact_and_many_are_estimated() {
        let mut few = Sample::new(1000);
        (0..600_u64).for_each(|row| few.add(&format!("v{}", if row < 500 { row % 100 } else { row }), row));
        assert_eq!((few.distinct(), few.own(), few.is_exact()), (200, 100, true));
        assert_eq!(few.shared().len(), 100);
        let mut many = Sample::new(1000);
        (0..200_000_u64).for_each(|row| many.add(&format!("v{}", row / 2), row));
        assert!(!many.is_exact() && many.values.len() <= 1000);
        assert!((80_000..120_000).contains(&many.distinct()), "{}", many.distinct());
        assert_eq!(many.own(), 0);
    }

    #[test]
    fn only_what_several_people_have_is_shown() {
        let mut sample = Sample::new(100);
        (0..50).for_each(|row| sample.add("visits of one", row / 50));
        (0..5).for_each(|row| sample.add("five", row));
        (0..4).for_each(|row| sample.add("four", row));
        (0..9).for_each(|row| sample.add(&"long".repeat(30), row));
        assert_eq!(sample.shared(), [("five", 5)]);
    }
}
