//! A small set of records of one cluster: a bit for each.

/// A set of up to 64 `W` records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bits<const W: usize>([u64; W]);

impl<const W: usize> Bits<W> {
    pub(super) const EMPTY: Self = Bits([0; W]);

    /// The records from 0 to `n` - 1.
    pub(super) fn first(n: u32) -> Self {
        let mut bits = Self::EMPTY;
        (0..n).for_each(|at| bits.insert(at));
        bits
    }

    #[inline]
    pub(super) fn insert(&mut self, at: u32) {
        self.0[at as usize / 64] |= 1 << (at % 64);
    }

    #[inline]
    pub(super) fn has(&self, at: u32) -> bool {
        self.0[at as usize / 64] >> (at % 64) & 1 == 1
    }

    /// Exchanges what is said of two records.
    #[inline]
    pub(super) fn swap(&mut self, a: u32, b: u32) {
        if self.has(a) != self.has(b) {
            self.0[a as usize / 64] ^= 1 << (a % 64);
            self.0[b as usize / 64] ^= 1 << (b % 64);
        }
    }

    #[inline]
    pub(super) fn and(&self, other: &Self) -> Self {
        let mut bits = *self;
        bits.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a &= b);
        bits
    }

    #[inline]
    pub(super) fn or(&self, other: &Self) -> Self {
        let mut bits = *self;
        bits.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
        bits
    }

    /// Those of this set that are not in the other.
    #[inline]
    pub(super) fn without(&self, other: &Self) -> Self {
        let mut bits = *self;
        bits.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a &= !b);
        bits
    }

    #[inline]
    pub(super) fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// |this and other|.
    #[inline]
    pub(super) fn common(&self, other: &Self) -> u32 {
        self.0.iter().zip(&other.0).map(|(a, b)| (a & b).count_ones()).sum()
    }

    #[inline]
    pub(super) fn is_within(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(a, b)| a & !b == 0)
    }

    /// The `nth` record of the set, from 0.
    pub(super) fn nth(&self, mut nth: u32) -> Option<u32> {
        for (i, &word) in self.0.iter().enumerate() {
            let here = word.count_ones();
            if nth < here {
                let mut word = word;
                (0..nth).for_each(|_| word &= word - 1);
                return Some(64 * i as u32 + word.trailing_zeros());
            }
            nth -= here;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_records() {
        let mut bits = Bits::<2>::first(70);
        assert_eq!((bits.len(), bits.nth(69), bits.nth(70)), (70, Some(69), None));
        bits.swap(3, 100);
        assert!(!bits.has(3) && bits.has(100) && bits.len() == 70);
        assert_eq!(bits.nth(3), Some(4));
        let few = Bits::<2>::first(3);
        assert!(few.is_within(&bits) && !bits.is_within(&few));
        assert_eq!((bits.common(&few), bits.without(&few).len(), few.or(&bits), few.and(&bits)), (3, 67, bits, few));
    }
}
