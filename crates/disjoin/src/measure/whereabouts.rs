//! Where a release shows a term, and where it shows two of them together: what explains a loss.
//!
//! Promises:   counts of what is published, nothing else
//! Cost:       one pass over the release
//! Checked by: tests in this file

use serde::Serialize;

use crate::data::TermId;
use crate::release::{Chunk, Disassociated, Node, Simple};

/// Where a term stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Whereabouts {
    /// Simple clusters in which it is in a record chunk, and in how many records of them.
    pub in_record_chunks: u64,
    /// The records that these chunks show.
    pub record_support: u64,
    /// Shared chunks that it is in.
    pub in_shared_chunks: u64,
    /// The records that these chunks show.
    pub shared_support: u64,
    /// Clusters in which it is in the term chunk: in one record at least, nobody knows how many.
    pub in_term_chunks: u64,
}

/// How two terms stand to each other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Link {
    /// Chunks that hold both.
    pub chunks: u64,
    /// The records in which these chunks show both.
    pub support: u64,
    /// Simple clusters in which they are in different record chunks.
    pub cut_apart: u64,
    /// Simple clusters that have both, one of them at least in the term chunk.
    pub one_is_rare: u64,
}

/// Where a term stands in a release.
pub fn whereabouts(release: &Disassociated, term: TermId) -> Whereabouts {
    let mut found = Whereabouts::default();
    visit(release, &mut |part| match part {
        Part::Leaf(simple) => {
            for chunk in simple.record_chunks.iter().filter(|chunk| has(&chunk.terms, term)) {
                found.in_record_chunks += 1;
                found.record_support += support(chunk, &[term]);
            }
            found.in_term_chunks += u64::from(has(&simple.term_chunk, term));
        }
        Part::Shared(chunk) if has(&chunk.terms, term) => {
            found.in_shared_chunks += 1;
            found.shared_support += support(chunk, &[term]);
        }
        Part::Shared(_) => {}
        Part::Listed(terms) => found.in_term_chunks += u64::from(has(terms, term)),
    });
    found
}

/// How two terms stand to each other in a release.
pub fn link(release: &Disassociated, a: TermId, b: TermId) -> Link {
    let mut found = Link::default();
    let together = |chunk: &Chunk, found: &mut Link| {
        let both = has(&chunk.terms, a) && has(&chunk.terms, b);
        if both {
            found.chunks += 1;
            found.support += support(chunk, &[a, b]);
        }
        both
    };
    visit(release, &mut |part| match part {
        Part::Shared(chunk) => {
            together(chunk, &mut found);
        }
        Part::Listed(_) => {}
        Part::Leaf(simple) => {
            let is_joined = simple.record_chunks.iter().any(|chunk| together(chunk, &mut found));
            let in_chunks = |term| simple.record_chunks.iter().any(|chunk| has(&chunk.terms, term));
            let is_listed = |term| has(&simple.term_chunk, term);
            let is_here = |term| in_chunks(term) || is_listed(term);
            if !is_joined && is_here(a) && is_here(b) {
                let rare = is_listed(a) || is_listed(b);
                *(if rare { &mut found.one_is_rare } else { &mut found.cut_apart }) += 1;
            }
        }
    });
    found
}

enum Part<'r> {
    Leaf(&'r Simple),
    Shared(&'r Chunk),
    /// The term chunk of a joint cluster.
    Listed(&'r [TermId]),
}

fn visit<'r>(release: &'r Disassociated, see: &mut impl FnMut(Part<'r>)) {
    let mut stack: Vec<&Node> = release.roots.iter().collect();
    while let Some(node) = stack.pop() {
        match node {
            Node::Simple(simple) => see(Part::Leaf(simple)),
            Node::Joint(joint) => {
                joint.shared_chunks.iter().for_each(|chunk| see(Part::Shared(chunk)));
                see(Part::Listed(&joint.term_chunk));
                stack.extend(&joint.members);
            }
        }
    }
}

fn has(terms: &[TermId], term: TermId) -> bool {
    terms.binary_search(&term).is_ok()
}

fn support(chunk: &Chunk, terms: &[TermId]) -> u64 {
    let rows = chunk.subrecords().filter(|(row, _)| terms.iter().all(|&term| has(row, term)));
    rows.map(|(_, count)| u64::from(count)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dataset;
    use crate::release::{Header, Joint};

    fn chunk(rows: &[(&[TermId], u32)]) -> Chunk {
        let mut terms: Vec<TermId> = rows.iter().flat_map(|(row, _)| row.iter().copied()).collect();
        terms.sort_unstable();
        terms.dedup();
        let mut chunk = Chunk::new(terms);
        rows.iter().for_each(|(row, count)| chunk.push(row, *count));
        chunk
    }

    #[test]
    fn terms_are_found_in_all_their_places() {
        let leaf = |chunks: Vec<Chunk>, term_chunk: &[TermId]| {
            Node::Simple(Simple { size: 6, record_chunks: chunks, term_chunk: term_chunk.to_vec() })
        };
        let joint = Joint {
            term_chunk: Vec::new(),
            size: 12,
            members: vec![
                leaf(vec![chunk(&[(&[0], 1), (&[0, 1], 3)]), chunk(&[(&[2], 4)])], &[3]),
                leaf(vec![chunk(&[(&[0], 5)])], &[1]),
            ],
            shared_chunks: vec![chunk(&[(&[4], 3), (&[4, 5], 2)])],
        };
        let release = Disassociated {
            header: Header { k: 2, m: 2, records: 12, occurrences: None },
            dictionary: Dataset::from_texts([["a", "b", "c", "d", "e", "f"]]).dictionary,
            roots: vec![Node::Joint(joint)],
        };
        let a = whereabouts(&release, 0);
        assert_eq!((a.in_record_chunks, a.record_support, a.in_term_chunks), (2, 9, 0));
        let e = whereabouts(&release, 4);
        assert_eq!((e.in_shared_chunks, e.shared_support, e.in_record_chunks), (1, 5, 0));
        assert_eq!(whereabouts(&release, 3), Whereabouts { in_term_chunks: 1, ..Whereabouts::default() });
        assert_eq!(link(&release, 0, 1), Link { chunks: 1, support: 3, cut_apart: 0, one_is_rare: 1 });
        assert_eq!(link(&release, 0, 2), Link { cut_apart: 1, ..Link::default() });
        assert_eq!(link(&release, 4, 5), Link { chunks: 1, support: 2, ..Link::default() });
    }
}
