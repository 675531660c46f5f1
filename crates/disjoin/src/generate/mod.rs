//! Synthetic data: what could the original look like?
//!
//! Nothing here is about a real person, so it may be shown, shipped and broken: [`quest`](quest()) makes shopping
//! baskets of any size for experiments, [`hospital`](hospital()) makes a register that a reader can judge by eye, and
//! [`people`](people()) makes a table whose sensitive column others predict.
//!
//! Promises:   the same parameters give the same data for any number of threads
//! Assumes:    the platform's `exp` and `ln` agree with others' to the last bit; the streams of random bits below agree
//!             everywhere, but a distribution drawn from them may in principle tip over at the last bit of a double
//! Cost:       a window of two blocks per thread is in memory while the window before it is consumed
//! Checked by: tests in this file

pub mod hierarchies;
pub mod hospital;
pub mod people;
pub mod quest;

use std::ops::Range;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use sha2::{Digest, Sha256};

pub use hierarchies::{by_cooccurrence, by_prefix};
pub use hospital::hospital;
pub use people::{people, people_csv};
pub use quest::{quest, quest_blocks};

use crate::error::Result;

/// Where randomness starts if nothing is said.
pub const SEED: u64 = 0;

/// The same of the demonstration.
pub const DEMO_SEED: u64 = 1;

/// Records (or patients) in one block.
///
/// It is part of what a seed means: another size would give other data.
pub const BLOCK: u64 = 10_000;

/// The generator of random bits of one block of one stage.
///
/// The key is the SHA-256 of seed, stage and block, so streams of different blocks, stages or seeds have nothing in
/// common, work can be dealt to threads in any way, and the bits are the same on every platform. Seed and block are
/// hashed as eight little-endian bytes each and the stage comes last, so no two triples give the same text.
pub fn stream(seed: u64, stage: &str, block: u64) -> ChaCha8Rng {
    let digest = Sha256::new_with_prefix(b"disjoin stream 1\n")
        .chain_update(seed.to_le_bytes())
        .chain_update(block.to_le_bytes())
        .chain_update(stage)
        .finalize();
    ChaCha8Rng::from_seed(digest.into())
}

/// Makes the blocks of `total` records in parallel and hands them to `take` in order.
///
/// `make` gets the number of the block and how many records it has. The next window of blocks is made while `take`
/// works on the present one: a writer and the generators then share the machine, and memory stays bounded.
fn blocks_in_order<T: Send>(
    total: u64,
    make: impl Fn(u64, u64) -> T + Sync,
    mut take: impl FnMut(T) -> Result<()>,
) -> Result<()> {
    let n_blocks = total.div_ceil(BLOCK);
    let window = 2 * rayon::current_num_threads() as u64;
    let make_all = |blocks: Range<u64>| -> Vec<T> {
        blocks.into_par_iter().map(|block| make(block, BLOCK.min(total - block * BLOCK))).collect()
    };
    let mut next = window.min(n_blocks);
    let mut ready = make_all(0..next);
    while !ready.is_empty() {
        let end = (next + window).min(n_blocks);
        let mut following = Vec::new();
        rayon::in_place_scope(|scope| {
            scope.spawn(|_| following = make_all(next..end));
            ready.into_iter().try_for_each(&mut take)
        })?;
        (ready, next) = (following, end);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rand::Rng;

    use super::*;
    use crate::error::Error;

    #[test]
    fn streams_are_fixed_and_differ() {
        let first = |seed, stage, block| stream(seed, stage, block).next_u64();
        // Computed once; a change means that every seed in every recipe and document means other data.
        assert_eq!(first(0, "quest/records", 0), FIRST_BITS);
        let all = [first(1, "a", 0), first(2, "a", 0), first(1, "b", 0), first(1, "a", 1), first(1, "", 0)];
        assert!((0..all.len()).all(|i| !all[..i].contains(&all[i])));
    }

    const FIRST_BITS: u64 = 11_584_469_315_599_515_884;

    #[test]
    fn blocks_come_in_order_and_cover_the_total() {
        for total in [1, BLOCK - 1, BLOCK, BLOCK + 1, 23 * BLOCK + 7] {
            let (mut expected, mut seen) = (0, 0);
            let take = |(block, n): (u64, u64)| {
                assert_eq!(block, expected);
                expected += 1;
                seen += n;
                Ok(())
            };
            blocks_in_order(total, |block, n| (block, n), take).unwrap();
            assert_eq!(seen, total);
        }
    }

    #[test]
    fn the_first_refusal_ends_the_work() {
        let mut taken = 0;
        let result = blocks_in_order(
            100 * BLOCK,
            |block, _| block,
            |block| {
                taken += 1;
                if block == 2 { Err(Error::Internal("enough")) } else { Ok(()) }
            },
        );
        assert!(result.is_err());
        assert_eq!(taken, 3);
    }
}
