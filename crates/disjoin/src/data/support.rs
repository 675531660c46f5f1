//! How many records hold a term, or several.

use rayon::prelude::*;

use super::{RecordId, TermId, Transactions};

/// The support of every term: entry `t` counts the records that contain term `t`.
pub fn supports(records: &Transactions, n_terms: usize) -> Vec<u32> {
    let mut counts = vec![0; n_terms];
    for &term in records.all_terms() {
        counts[term as usize] += 1;
    }
    counts
}

/// Words of one term in a block: its records are few enough for the asked terms' bits to stay in the cache.
const WORDS: usize = 64;

/// The support of each itemset: how many records contain all of its terms. The empty itemset is in all records.
pub fn itemset_supports(records: &Transactions, n_terms: usize, itemsets: &[&[TermId]]) -> Vec<u32> {
    // A row of bits for each term that is asked for, a bit for each record of a block.
    let mut row = vec![usize::MAX; n_terms];
    let mut n_rows = 0;
    for &term in itemsets.iter().copied().flatten() {
        if row[term as usize] == usize::MAX {
            row[term as usize] = n_rows;
            n_rows += 1;
        }
    }
    let in_block = |start: usize| {
        let ids = start..(start + 64 * WORDS).min(records.len());
        let mut bits = vec![0_u64; n_rows * WORDS];
        for (at, id) in ids.clone().enumerate() {
            for &term in records.record(id as RecordId) {
                if let Some(word) = bits.get_mut(row[term as usize].saturating_mul(WORDS).saturating_add(at / 64)) {
                    *word |= 1 << (at % 64);
                }
            }
        }
        let of_term = |term: TermId| bits[row[term as usize] * WORDS..].first_chunk::<WORDS>();
        let support = |set: &&[TermId]| {
            let mut terms = set.iter().filter_map(|&term| of_term(term));
            let Some(&(mut common)) = terms.next() else { return ids.len() as u32 };
            terms.for_each(|bits| common.iter_mut().zip(bits).for_each(|(common, bits)| *common &= bits));
            common.iter().map(|word| word.count_ones()).sum()
        };
        itemsets.iter().map(support).collect()
    };
    let sum = |mut counts: Vec<u32>, more: Vec<u32>| {
        counts.iter_mut().zip(more).for_each(|(count, more)| *count += more);
        counts
    };
    let blocks = (0..records.len()).into_par_iter().step_by(64 * WORDS).map(in_block);
    blocks.reduce_with(sum).unwrap_or_else(|| vec![0; itemsets.len()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn itemsets_are_counted_as_by_hand() {
        let mut records = Transactions::default();
        for mut record in [vec![0, 1, 2], vec![1, 2], vec![2], vec![0, 2], vec![0, 1, 2, 3]] {
            records.push(&mut record);
        }
        let sets: [&[TermId]; 6] = [&[], &[2], &[0, 1], &[0, 1, 2], &[1, 3], &[4]];
        assert_eq!(itemset_supports(&records, 5, &sets), [5, 5, 2, 2, 1, 0]);
    }

    #[test]
    fn itemsets_are_counted_across_blocks() {
        let mut records = Transactions::default();
        let n = 3 * 64 * WORDS as u32 + 17;
        for i in 0..n {
            records.push(&mut vec![i % 2, 2 + i % 3, 5]);
        }
        let sets: [&[TermId]; 3] = [&[5], &[0, 5], &[1, 4, 5]];
        let by_hand = |remainder: u32| (0..n).filter(|i| i % 6 == remainder).count() as u32;
        assert_eq!(itemset_supports(&records, 6, &sets), [n, n.div_ceil(2), by_hand(5)]);
        assert_eq!(itemset_supports(&Transactions::default(), 6, &sets), [0, 0, 0]);
    }
}
