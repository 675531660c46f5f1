//! Decisions from bytes: the same bytes decide the same, and where they end the smallest choice is made.

use arbitrary::Unstructured;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Bytes that decide.
pub(crate) struct Draw<'a>(Unstructured<'a>);

impl<'a> Draw<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Draw(Unstructured::new(bytes))
    }

    /// A number from `low` to `high`.
    pub(crate) fn number(&mut self, low: u32, high: u32) -> u32 {
        self.0.int_in_range(low..=high.max(low)).unwrap_or(low)
    }

    /// A number below `n`; 0 if there is none.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0.int_in_range(0..=n.saturating_sub(1)).unwrap_or(0)
    }

    /// Yes in `part` of 256 cases.
    pub(crate) fn chance(&mut self, part: u32) -> bool {
        self.number(0, 255) + part > 255
    }

    /// One of these, of which there must be some.
    pub(crate) fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// Each of these with a chance of `part` in 256.
    pub(crate) fn some<T: Copy>(&mut self, all: &[T], part: u32) -> Vec<T> {
        all.iter().copied().filter(|_| self.chance(part)).collect()
    }

    /// Randomness for what needs a lot of it.
    pub(crate) fn rng(&mut self) -> ChaCha8Rng {
        ChaCha8Rng::seed_from_u64(self.0.arbitrary().unwrap_or_default())
    }
}
