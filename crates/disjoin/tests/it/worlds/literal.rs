//! All worlds of one root, one by one: the definition as a program, for roots of a handful of records.
//!
//! Records are labelled: two worlds that differ only in the order of a leaf's records are visited both. The number of
//! visits is therefore a product of multinomials, and the counts printed in the papers are among them.

use std::ops::Range;

use super::Layout;

/// What to do with terms of which the release tells only that they are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TermChunks {
    /// Leave them out. Visits every arrangement of the record and shared chunks, *also those with empty records*:
    /// whether such an arrangement can be filled up to a world is left to the visitor. Published counts of
    /// "arrangements" are of this kind.
    Omitted,
    /// Put every term into every non-empty set of the leaf's records in turn, and visit worlds only.
    Enumerated,
}

/// A record as a set of bits, one per term; this module is for releases with term ids below 64.
pub(crate) type Terms = u64;

/// Calls `visit` for every labelled world of a root, as `world[leaf][record]`.
pub(crate) fn enumerate(layout: &Layout, term_chunks: TermChunks, mut visit: impl FnMut(&[Vec<Terms>])) {
    assert!(layout.terms().iter().all(|&t| t < 64), "the literal enumerator is for toy releases");
    let mut world: Vec<Vec<Terms>> = layout.leaves.iter().map(|leaf| vec![0; leaf.size]).collect();
    place_chunk(layout, 0, &mut world, &mut |world| match term_chunks {
        TermChunks::Omitted => visit(world),
        TermChunks::Enumerated => {
            let own = layout.leaves.iter().enumerate();
            let own = own.flat_map(|(leaf, simple)| simple.term_chunk.iter().map(move |&t| (leaf..leaf + 1, 1 << t)));
            let listed = layout.listed.iter().map(|(leaves, t)| (leaves.clone(), 1 << t));
            let terms: Vec<(Range<usize>, Terms)> = own.chain(listed).collect();
            place_terms(&terms, world, &mut |world| {
                if world.iter().flatten().all(|&record| record != 0) {
                    visit(world);
                }
            });
        }
    });
}

type Visit<'a> = &'a mut dyn FnMut(&mut Vec<Vec<Terms>>);

/// Places all subrecords of chunk `id` in all ways, and in each of them the chunks after it.
fn place_chunk(layout: &Layout, id: usize, world: &mut Vec<Vec<Terms>>, visit: Visit) {
    let Some(chunk) = layout.chunks.get(id) else { return visit(world) };
    let slots: Vec<(usize, usize)> =
        chunk.leaves.clone().flat_map(|leaf| (0..layout.leaves[leaf].size).map(move |record| (leaf, record))).collect();
    let mut left: Vec<usize> = chunk.subrecords.iter().map(|s| s.count).collect();
    place_subrecords(layout, id, &slots, &mut left, world, visit);
}

/// Decides for the first of `slots` which of the subrecords that are `left` it holds, if any, then for the others.
fn place_subrecords(
    layout: &Layout,
    id: usize,
    slots: &[(usize, usize)],
    left: &mut Vec<usize>,
    world: &mut Vec<Vec<Terms>>,
    visit: Visit,
) {
    let n_left: usize = left.iter().sum();
    let Some((&(leaf, record), rest)) = slots.split_first() else {
        if n_left == 0 {
            place_chunk(layout, id + 1, world, visit);
        }
        return;
    };
    if n_left <= rest.len() {
        place_subrecords(layout, id, rest, left, world, visit);
    }
    for (i, subrecord) in layout.chunks[id].subrecords.iter().enumerate() {
        if left[i] > 0 && subrecord.eligible[leaf] {
            let terms: Terms = subrecord.terms.iter().map(|&t| 1 << t).sum();
            left[i] -= 1;
            world[leaf][record] |= terms;
            place_subrecords(layout, id, rest, left, world, visit);
            // No other chunk owns these terms in this leaf, so taking them out again cannot take out too much.
            world[leaf][record] &= !terms;
            left[i] += 1;
        }
    }
}

/// Puts the first of `terms` into every non-empty set of its leaves' records, and for each of them the others likewise.
fn place_terms(terms: &[(Range<usize>, Terms)], world: &mut Vec<Vec<Terms>>, visit: Visit) {
    let Some(((leaves, bit), rest)) = terms.split_first() else { return visit(world) };
    let size = world[leaves.clone()].iter().map(Vec::len).sum::<usize>();
    for holders in 1_u64..1 << size {
        for (i, record) in world[leaves.clone()].iter_mut().flatten().enumerate() {
            *record = if holders >> i & 1 == 1 { *record | bit } else { *record & !bit };
        }
        place_terms(rest, world, visit);
    }
    world[leaves.clone()].iter_mut().flatten().for_each(|record| *record &= !bit);
}
