//! How many pairs of a record and a term the original may have, and when that number may be told.
//!
//! Paper:      ours; it keeps Guarantee 1 of terrovitis2012
//! Promises:   a total that leaves room takes nothing away from Guarantee 1, neither as `published` nor as `algorithm-aware`
//!             with data-independent assignment
//! Assumes:    the other conditions of `verify` hold, and no term is sensitive
//! Departs:    the paper tells no total
//! Cost:       linear in the size of the release
//! Checked by: tests in this file, tests/it/occurrences.rs (all worlds of small clusters)
//!
//! What record chunks and shared chunks hold is *visible*: it is counted in the release. A term of a term chunk is in one
//! record of its cluster at least, in how many is *hidden*. Whoever knows the total knows the sum H of what is hidden.
//!
//! The range of a cluster Q with s records, record chunks C_i and the term chunk T. Let the subrecords lie in as many
//! different records as they can. Then s - sum|C_i| records at most are empty, and one pair each fills them; every term
//! of T is in one record at least. So low(Q) = max(|T|, s - sum|C_i|) hidden pairs are enough; without T it is 0. One
//! pair after the other can be added, which empties no record, until every term is in all of them. Counted on is only
//! high(Q) = |T| min(k - 1, s), for those who know that terms of term chunks are rare. What is shared helps to fill,
//! wherever it lies; nothing here rests on it.
//!
//! Why room suffices. Guarantee 1 asks for a world in which k records of a cluster P hold a set S of at most m terms, of
//! which x are in P's term chunk and the others in h of its record chunks or of chunks above. The world of
//! `verify/conditions.rs` puts the parts of S into the same k records. There x terms make kx pairs. As the subrecords of
//! h chunks lie on each other, k(h - 1) records more than before may be empty, if h > 0, and need a pair. Hence P has no
//! more than low(P) + kx + k(h - 1), or low(P) + kx if h = 0, and this is low(P) + mk at most. The other clusters may be
//! arranged at will, each on its own. Together they can have every number of hidden pairs from `least` - low(P) to
//! `most` - high(P). So they can make up for what is missing to H if
//!
//! * H >= `least` + mk: then H is not exceeded by P with the others at their lowest;
//! * H + `largest` + mk <= `most`: then the others reach H however little is in P. (mk would not be needed here. It keeps
//!   off the end where nearly all terms are in k - 1 records.)
//!
//! For `algorithm-aware`, S is of record chunks: x = 0, and no term of a term chunk is in k records of this world. Where
//! Lemma 2 moved a term, low may be above high: then the cluster stays at low, and reaches more than is counted on.
//! With data-independent assignment all such worlds are cut as published (`reconstruct/aware/weighed.rs`). With greedy cutting
//! clusters cannot be arranged at will, so that `verify` refuses a total.

use super::disassociated::{Chunk, Joint, Node, Simple};

/// What the simple clusters and chunks of a release say about the number of pairs of a record and a term of its original.
#[derive(Debug, Clone, Copy, Default)]
pub struct Occurrences {
    /// Pairs in record chunks and shared chunks.
    pub visible: u64,
    /// Terms of term chunks, counted once for each simple cluster: how many pairs each of them makes is open.
    pub hidden: u64,
    least: u64,
    most: u64,
    largest: u64,
}

impl Occurrences {
    /// What a whole release says.
    pub fn of(roots: &[Node], k: u32) -> Self {
        let mut occurrences = Occurrences::default();
        roots.iter().for_each(|root| occurrences.add(root, k));
        occurrences
    }

    /// Adds what one root says.
    pub fn add(&mut self, root: &Node, k: u32) {
        match root {
            Node::Simple(simple) => self.add_simple(simple, k),
            Node::Joint(joint) => {
                joint.members.iter().for_each(|member| self.add(member, k));
                self.add_chunks(&joint.shared_chunks);
                self.add_listed(joint, k);
            }
        }
    }

    /// Whether an original may have `total` pairs whatever set of at most `m` terms a reader asks for.
    pub fn leave_room(&self, total: u64, k: u32, m: u32) -> bool {
        let Some(hidden) = total.checked_sub(self.visible) else { return false };
        let slack = u64::from(m) * u64::from(k);
        let reaches_up = |part: u64| part.checked_add(self.largest)?.checked_add(slack);
        hidden >= self.least.saturating_add(slack) && reaches_up(hidden).is_some_and(|needed| needed <= self.most)
    }

    /// In how many records of its cluster a term of a term chunk is on average, if `total` is the number of all pairs;
    /// none if there are no such terms, or if there cannot be so few pairs.
    pub fn mean_multiplicity(&self, total: u64) -> Option<f64> {
        let pairs = total.checked_sub(self.visible)?;
        (self.hidden > 0 && pairs >= self.hidden).then(|| pairs as f64 / self.hidden as f64)
    }

    // Sums do not wrap, for `verify` is given what nobody has checked: clusters larger than all memory, for instance.
    fn add_simple(&mut self, simple: &Simple, k: u32) {
        self.add_chunks(&simple.record_chunks);
        let n_terms = simple.term_chunk.len() as u64;
        if n_terms == 0 {
            return;
        }
        let n_subrecords = simple.record_chunks.iter().map(Chunk::n_subrecords).fold(0, u64::saturating_add);
        let low = n_terms.max(u64::from(simple.size).saturating_sub(n_subrecords));
        let high = n_terms.saturating_mul(u64::from(k.saturating_sub(1).min(simple.size)));
        self.hidden = self.hidden.saturating_add(n_terms);
        self.least = self.least.saturating_add(low);
        self.most = self.most.saturating_add(high);
        self.largest = self.largest.max(high);
    }

    /// Terms of a joint cluster of which only the presence is told: one record each, and those that nothing else fills.
    fn add_listed(&mut self, joint: &Joint, k: u32) {
        let n_terms = joint.term_chunk.len() as u64;
        if n_terms == 0 {
            return;
        }
        let is_bare = |member: &&Node| matches!(member, Node::Simple(simple) if simple.is_bare());
        let bare = joint.members.iter().filter(is_bare).map(Node::size).fold(0, u64::saturating_add);
        let n_subrecords = joint.shared_chunks.iter().map(Chunk::n_subrecords).fold(0, u64::saturating_add);
        let low = n_terms.max(bare.saturating_sub(n_subrecords));
        let high = n_terms.saturating_mul(u64::from(k.saturating_sub(1)).min(joint.size));
        self.hidden = self.hidden.saturating_add(n_terms);
        self.least = self.least.saturating_add(low);
        self.most = self.most.saturating_add(high);
        self.largest = self.largest.max(high);
    }

    fn add_chunks(&mut self, chunks: &[Chunk]) {
        for (terms, count) in chunks.iter().flat_map(Chunk::subrecords) {
            let pairs = (terms.len() as u64).saturating_mul(u64::from(count));
            self.visible = self.visible.saturating_add(pairs);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::TermId;

    fn chunk(subrecords: &[(&[TermId], u32)]) -> Chunk {
        let mut terms: Vec<TermId> = subrecords.iter().flat_map(|(terms, _)| terms.iter().copied()).collect();
        terms.sort_unstable();
        terms.dedup();
        let mut chunk = Chunk::new(terms);
        subrecords.iter().for_each(|(terms, count)| chunk.push(terms, *count));
        chunk
    }

    /// A cluster whose term chunk has `n_terms` terms.
    fn simple(size: u32, record_chunks: Vec<Chunk>, n_terms: u32) -> Node {
        Node::Simple(Simple { size, record_chunks, term_chunk: (100..100 + n_terms).collect() })
    }

    fn check(roots: &[Node], k: u32, expected: [u64; 5]) -> Occurrences {
        let found = Occurrences::of(roots, k);
        assert_eq!([found.visible, found.hidden, found.least, found.most, found.largest], expected);
        found
    }

    #[test]
    fn pairs_are_counted_in_all_chunks() {
        let pairs = || chunk(&[(&[0], 2), (&[0, 1], 3)]);
        // All records hold something; two records do not, which is no more than there are terms; four do not.
        check(&[simple(5, vec![pairs()], 3)], 3, [8, 3, 3, 6, 6]);
        check(&[simple(7, vec![pairs()], 3)], 3, [8, 3, 3, 6, 6]);
        check(&[simple(9, vec![pairs()], 3)], 3, [8, 3, 4, 6, 6]);
        // A term is in no more records than there are.
        check(&[simple(2, vec![], 3)], 9, [0, 3, 3, 6, 6]);
        // Without a term chunk nothing is hidden, whoever fills the records.
        check(&[simple(9, vec![pairs()], 0)], 3, [8, 0, 0, 0, 0]);
        // What is shared is seen, and not counted on to fill records.
        let members = vec![simple(9, vec![pairs()], 1), simple(5, vec![], 4)];
        let joint = Node::Joint(Joint { size: 14, members, shared_chunks: vec![pairs()], ..Joint::default() });
        check(&[joint, simple(5, vec![pairs()], 2)], 3, [24, 7, 4 + 5 + 2, 2 + 8 + 4, 8]);
        check(&[], 3, [0; 5]);
    }

    #[test]
    fn room_ends_where_the_proof_does() {
        let roots = vec![simple(4, vec![chunk(&[(&[0], 4)])], 3); 7];
        let found = check(&roots, 3, [28, 21, 21, 42, 6]);
        let told = |m: u32| (0..200).filter(|&total| found.leave_room(total, 3, m)).collect::<Vec<u64>>();
        assert_eq!(told(2), [28 + 27, 28 + 28, 28 + 29, 28 + 30]);
        assert_eq!(told(1).iter().map(|total| total - 28).collect::<Vec<_>>(), (24..=33).collect::<Vec<_>>());
        assert!(told(3).is_empty());
        assert!(!found.leave_room(u64::MAX, 3, 2));
        assert!(!found.leave_room(28 + 28, u32::MAX, u32::MAX));
    }

    /// By itself a cluster has nobody to make up for it; and terms that are in one record each have no room.
    #[test]
    fn some_releases_tell_nothing() {
        let one = Occurrences::of(&[simple(40, vec![chunk(&[(&[0], 40)])], 30)], 5);
        assert!((0..400).all(|total| !one.leave_room(total, 5, 1)));
        let rare = Occurrences::of(&vec![simple(4, vec![chunk(&[(&[0], 4)])], 3); 90], 2);
        assert!((0..4_000).all(|total| !rare.leave_room(total, 2, 1)));
        assert!(!Occurrences::default().leave_room(0, 2, 1));
    }

    #[test]
    fn the_mean_is_that_of_what_is_hidden() {
        let found = Occurrences::of(&vec![simple(4, vec![chunk(&[(&[0], 4)])], 3); 7], 3);
        assert_eq!(found.mean_multiplicity(28 + 21), Some(1.0));
        assert_eq!(found.mean_multiplicity(28 + 28), Some(28.0 / 21.0));
        assert_eq!(found.mean_multiplicity(28 + 20), None);
        assert_eq!(found.mean_multiplicity(3), None);
        assert_eq!(Occurrences::of(&[simple(4, vec![chunk(&[(&[0], 4)])], 0)], 3).mean_multiplicity(9), None);
    }

    #[test]
    fn sizes_that_cannot_be_do_not_overflow() {
        let huge = simple(u32::MAX, vec![chunk(&[(&[0], u32::MAX)]), chunk(&[(&[1, 2], u32::MAX)])], 2);
        let found = Occurrences::of(&[huge.clone(), huge], u32::MAX);
        assert!(!found.leave_room(0, u32::MAX, u32::MAX));
        assert!(!found.leave_room(u64::MAX, u32::MAX, 2));
    }
}
