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

/// The support of each itemset: how many records contain all of its terms. The empty itemset is in all records.
pub fn itemset_supports(records: &Transactions, n_terms: usize, itemsets: &[&[TermId]]) -> Vec<u32> {
    // The records of each term that is asked for.
    let mut holders: Vec<Option<Vec<RecordId>>> = vec![None; n_terms];
    itemsets.iter().flat_map(|set| set.iter()).for_each(|&term| holders[term as usize] = Some(Vec::new()));
    for (id, record) in (0..).zip(records.iter()) {
        for &term in record {
            if let Some(holders) = &mut holders[term as usize] {
                holders.push(id);
            }
        }
    }
    let support = |set: &&[TermId]| {
        let mut lists: Vec<&[RecordId]> = set.iter().filter_map(|&term| holders[term as usize].as_deref()).collect();
        lists.sort_unstable_by_key(|list| list.len());
        let Some((shortest, others)) = lists.split_first() else { return records.len() as u32 };
        let mut common = shortest.to_vec();
        for list in others {
            let mut rest = *list;
            common.retain(|id| {
                let passed = rest.partition_point(|other| other < id);
                rest = &rest[passed..];
                rest.first() == Some(id)
            });
        }
        common.len() as u32
    };
    itemsets.par_iter().map(support).collect()
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
}
