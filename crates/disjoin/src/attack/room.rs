//! How much do attacks on a release ask for? Reckoned before they begin: a release may claim clusters of any size.
//!
//! Attacks go through each two terms of a cluster, keep what they find of each two that chunks keep apart, and put its records together
//! one by one. So the largest cluster decides, and what refusals may give away adds up.
//!
//! Promises:   what passes takes no more memory than files of its size may ask for, give or take what is read
//! Cost:       linear in the size of the release
//! Checked by: tests in this file, `crates/disjoin-cli/tests/it/hostile.rs`

use crate::error::{Place, Result};
use crate::memory::Memory;
use crate::release::{Chunk, CutRule, Disassociated, Node, Simple};

/// Bytes for each two terms that a cluster may hold.
const A_PAIR: u64 = 1;

/// Bytes for each two terms of its record chunks.
const A_TORN_PAIR: u64 = 24;

/// Bytes for each term and each chunk that it was refused by.
const A_REFUSAL: u64 = 128;

/// Bytes for each row of a chunk and each record that it may belong to.
const A_PLACE: u64 = 24;

/// Refuses a release whose clusters ask for more than it may.
pub fn check_room(release: &Disassociated, cut: CutRule, memory: Memory) -> Result<()> {
    let mut room = Room { cut, largest: 0, refusals: 0, written: 0 };
    let mut line = 1;
    for (root, at) in release.roots.iter().zip(2..) {
        let before = room.largest;
        room.node(root, 0);
        if room.largest > before {
            line = at;
        }
    }
    let asked = room.largest.saturating_add(room.refusals.saturating_mul(A_REFUSAL));
    let place = || Place::line("the release", line);
    memory.check(asked, room.written, place, "comparing the terms and records of a cluster")
}

struct Room {
    cut: CutRule,
    /// What the largest cluster asks for.
    largest: u64,
    refusals: u64,
    /// About how many bytes the release takes, written.
    written: u64,
}

impl Room {
    /// Adds a cluster below which so many terms are shared.
    fn node(&mut self, node: &Node, shared: u64) {
        match node {
            Node::Simple(simple) => self.simple(simple, shared),
            Node::Joint(joint) => {
                let listed = joint.term_chunk.len() as u64;
                self.written += 4 * listed;
                let here = self.chunks(&joint.shared_chunks).saturating_add(listed);
                joint.members.iter().for_each(|member| self.node(member, shared.saturating_add(here)));
            }
        }
    }

    /// The terms of some chunks; what it took to write them is added.
    fn chunks(&mut self, chunks: &[Chunk]) -> u64 {
        let items = |chunk: &Chunk| chunk.subrecords().map(|(terms, _)| 4 * terms.len() as u64 + 20).sum::<u64>();
        self.written += chunks.iter().map(|chunk| 4 * chunk.terms.len() as u64 + items(chunk)).sum::<u64>();
        chunks.iter().map(|chunk| chunk.terms.len() as u64).sum()
    }

    fn simple(&mut self, simple: &Simple, shared: u64) {
        let torn = self.chunks(&simple.record_chunks);
        let alone = simple.term_chunk.len() as u64;
        self.written += 20 + 4 * alone;
        let n_chunks = simple.record_chunks.len() as u64;
        if self.cut == CutRule::Greedy && n_chunks > 1 {
            self.refusals = self.refusals.saturating_add(torn.saturating_mul(n_chunks) / 2);
        }
        let all = torn.saturating_add(alone).saturating_add(shared);
        let mut asked = A_PAIR * all.saturating_mul(all);
        if n_chunks + u64::from(alone > 0) > 1 {
            let size = u64::from(simple.size);
            let rows = simple.record_chunks.iter().map(Chunk::n_subrecords).max().unwrap_or(1).min(size);
            let places = rows.saturating_mul(size).saturating_mul(A_PLACE);
            asked = asked.saturating_add(places).saturating_add(torn.saturating_mul(torn).saturating_mul(A_TORN_PAIR));
        }
        self.largest = self.largest.max(asked);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dictionary;
    use crate::release::Header;

    fn check(simple: Simple) -> Result<()> {
        let header = Header { k: 2, m: 2, records: simple.size.into(), occurrences: None };
        let release = Disassociated { header, dictionary: Dictionary::default(), roots: vec![Node::Simple(simple)] };
        check_room(&release, CutRule::Greedy, Memory::default())
    }

    fn chunk(term: u32, count: u32) -> Chunk {
        let mut chunk = Chunk::new(vec![term]);
        chunk.push(&[term], count);
        chunk
    }

    #[test]
    fn clusters_are_measured_by_what_is_compared() {
        let cluster = |size| Simple { size, record_chunks: vec![chunk(0, size), chunk(1, size)], term_chunk: vec![] };
        assert!(check(cluster(100)).is_ok());
        let error = check(cluster(u32::MAX)).unwrap_err();
        assert!(error.to_string().contains("the release:2:") && error.to_string().contains("limit"), "{error}");
        let terms = |n| Simple { size: 4, record_chunks: vec![], term_chunk: (0..n).collect() };
        assert!(check(terms(1_000)).is_ok() && check(terms(1_000_000)).is_err());
        let chunks = |n| Simple { size: 40, record_chunks: (0..n).map(|t| chunk(t, 20)).collect(), term_chunk: vec![] };
        assert!(check(chunks(100)).is_ok() && check(chunks(20_000)).is_err());
    }
}
