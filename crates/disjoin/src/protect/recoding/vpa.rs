//! k^m-anonymity by parts of the domain: terms of one part are generalised by themselves, then all of them together.
//!
//! A part is some neighbouring subtrees. What is violated within a part is repaired on what records hold of it, which is
//! little; only what is violated across parts is left for all records, of fewer nodes by then.
//!
//! Paper:      terrovitis2011, VPA; its body could not be read: see spec C.2
//! Promises:   what `apriori` promises
//! Assumes:    what `apriori` assumes
//! Departs:    what no generalisation within its part repairs is left to the last pass, at the end of which
//!             generalisations that are not needed are taken back
//! Cost:       that of `apriori` on each part, on all cores, and once more on the generalised records
//! Checked by: tests/it/apriori.rs: all sets counted

use std::ops::Range;

use rayon::prelude::*;

use super::apriori::{AprioriParams, anonymise, undo};
use super::subtree::{Recoded, Scan};
use crate::data::{Cut, Hierarchy, NodeId, Transactions};
use crate::error::{Error, Result};
use crate::observer::Observer;

/// The cut on which the records are k^m-anonymous, by so many parts of the domain, or fewer if there are not so many
/// subtrees.
pub fn vpa(
    records: &Transactions,
    hierarchy: &Hierarchy,
    params: &AprioriParams,
    parts: usize,
    observer: &dyn Observer,
) -> Result<Cut> {
    params.check()?;
    if parts < 1 {
        return Err(Error::recipe("parts", "must be at least 1", "usual values are 2 to 10"));
    }
    let mut whole = Recoded::new(records, hierarchy, params.k, observer)?;
    let cuts: Vec<Vec<NodeId>> = part(hierarchy, parts)
        .into_par_iter()
        .map(|range| {
            let mut on = Recoded::new(&projection(records, hierarchy, &range), hierarchy, params.k, observer)?;
            on.keep_within(range.clone());
            anonymise(&mut on, &mut Scan::new(hierarchy), params)?;
            Ok(on.nodes().filter(|&node| node as usize >= hierarchy.n_terms()).collect())
        })
        .collect::<Result<_>>()?;
    cuts.into_iter().flatten().for_each(|node| whole.generalise(node));
    observer.check();
    let mut scan = Scan::new(hierarchy);
    anonymise(&mut whole, &mut scan, params)?;
    undo(&mut whole, &mut scan, params.m as usize);
    whole.cut()
}

/// Ranges of positions, each of whole subtrees, with about as many terms.
fn part(hierarchy: &Hierarchy, parts: usize) -> Vec<Range<usize>> {
    let mut children = vec![Vec::new(); hierarchy.n_nodes()];
    let mut tops = Vec::new();
    for node in 0..hierarchy.n_nodes() as NodeId {
        hierarchy.parent(node).map_or(&mut tops, |parent| &mut children[parent as usize]).push(node);
    }
    // The largest subtree gives way to those below it until there are enough.
    while tops.len() < parts {
        let splittable = (0..tops.len()).filter(|&at| !children[tops[at] as usize].is_empty());
        let Some(largest) = splittable.max_by_key(|&at| hierarchy.leaves_below(tops[at])) else { break };
        let node = tops.swap_remove(largest);
        tops.append(&mut children[node as usize]);
    }
    let mut ends: Vec<usize> = tops.iter().map(|&node| hierarchy.positions(node).end).collect();
    ends.sort_unstable();
    let mut ranges = Vec::new();
    let mut start = 0;
    for end in ends {
        let n_terms = hierarchy.n_terms();
        if end * parts >= (ranges.len() + 1) * n_terms {
            ranges.push(start..end);
            start = end;
        }
    }
    ranges
}

/// What records hold of the terms at some positions.
fn projection(records: &Transactions, hierarchy: &Hierarchy, range: &Range<usize>) -> Transactions {
    let mut projected = Transactions::default();
    let mut part = Vec::new();
    for record in records.iter() {
        part.clear();
        part.extend(record.iter().copied().filter(|&term| range.contains(&(hierarchy.position(term) as usize))));
        projected.push(&mut part);
    }
    projected
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dataset;

    #[test]
    fn parts_are_whole_subtrees_of_about_one_size() {
        let terms: Vec<String> = (0..100).map(|term| format!("{term:02}")).collect();
        let dictionary = Dataset::from_texts([&terms]).dictionary;
        let hierarchy = Hierarchy::uniform(&dictionary, 10).unwrap();
        assert_eq!(part(&hierarchy, 1).first(), Some(&(0..100)));
        assert_eq!(part(&hierarchy, 3), [0..40, 40..70, 70..100]);
        assert_eq!(part(&hierarchy, 10).len(), 10);
        // The largest subtrees are parted further.
        assert_eq!(part(&hierarchy, 11).iter().map(Range::len).sum::<usize>(), 100);
        assert_eq!(part(&hierarchy, 1000).len(), 100);
    }
}
