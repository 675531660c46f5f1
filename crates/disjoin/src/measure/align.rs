//! A release in the terms of its original, which must be its original.

use crate::data::{Dataset, TermId, Transactions};
use crate::error::{Error, Place, Result};
use crate::observer::Observer;
use crate::release::open::{RootStream, load_into};
use crate::release::{Chunk, Disassociated, Node};

/// Reads a release so that its terms have the original's ids. A release of another dataset is refused.
pub(super) fn in_terms_of(
    original: &Dataset,
    stream: &mut impl RootStream,
    observer: &dyn Observer,
) -> Result<Disassociated> {
    let refuse = |problem: String| {
        Error::input(Place::file("the original"), problem)
            .with_hint("give the file and the input flags that disjoin protect was given")
    };
    let (records, released) = (original.records.len() as u64, stream.header().records);
    if records != released {
        return Err(refuse(format!("has {records} records, but the release was made from {released}")));
    }
    let release = load_into(original.dictionary.clone(), stream, observer)?;
    let strange = release.dictionary.len() - original.n_terms();
    if strange > 0 {
        return Err(refuse(format!("lacks terms that the release has: {strange}")));
    }
    let mut seen = vec![false; original.n_terms()];
    for_each_leaf_and_chunk(&release, |terms| terms.iter().for_each(|&term| seen[term as usize] = true));
    let missing = seen.iter().filter(|seen| !**seen).count();
    if missing > 0 {
        return Err(refuse(format!("has terms that the release lacks: {missing}")));
    }
    Ok(release)
}

/// All subrecords of record chunks and shared chunks, each as a record of its own: what is certain.
pub(super) fn chunk_records(release: &Disassociated, observer: &dyn Observer) -> Transactions {
    let mut records = Transactions::default();
    let mut record: Vec<TermId> = Vec::new();
    let mut add = |chunk: &Chunk| {
        for (terms, count) in chunk.subrecords() {
            for _ in 0..count {
                record.clear();
                record.extend_from_slice(terms);
                records.push(&mut record);
            }
        }
    };
    let mut stack: Vec<&Node> = release.roots.iter().collect();
    while let Some(node) = stack.pop() {
        observer.check();
        match node {
            Node::Simple(simple) => simple.record_chunks.iter().for_each(&mut add),
            Node::Joint(joint) => {
                joint.shared_chunks.iter().for_each(&mut add);
                stack.extend(&joint.members);
            }
        }
    }
    records
}

fn for_each_leaf_and_chunk(release: &Disassociated, mut visit: impl FnMut(&[TermId])) {
    let mut stack: Vec<&Node> = release.roots.iter().collect();
    while let Some(node) = stack.pop() {
        match node {
            Node::Simple(simple) => {
                visit(&simple.term_chunk);
                simple.record_chunks.iter().for_each(|chunk| visit(&chunk.terms));
            }
            Node::Joint(joint) => {
                visit(&joint.term_chunk);
                joint.shared_chunks.iter().for_each(|chunk| visit(&chunk.terms));
                stack.extend(&joint.members);
            }
        }
    }
}
