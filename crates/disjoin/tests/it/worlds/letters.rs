//! A notation for toy releases: terms are small letters, "ab ab c" is a bag of subrecords.

use std::collections::{BTreeMap, BTreeSet};

use disjoin::data::{Dataset, TermId};
use disjoin::release::{Chunk, Disassociated, Header, Joint, Node, Simple};

use super::literal::Terms;

pub(crate) fn ids(letters: &str) -> Vec<TermId> {
    let mut ids: Vec<TermId> = letters.bytes().map(|letter| TermId::from(letter - b'a')).collect();
    ids.sort_unstable();
    ids
}

pub(crate) fn bits(letters: &str) -> Terms {
    ids(letters).into_iter().map(|t| 1 << t).sum()
}

pub(crate) fn chunk(subrecords: impl Iterator<Item = Vec<TermId>>) -> Chunk {
    let mut bag: BTreeMap<Vec<TermId>, u32> = BTreeMap::new();
    for subrecord in subrecords.filter(|subrecord| !subrecord.is_empty()) {
        *bag.entry(subrecord).or_default() += 1;
    }
    let domain: BTreeSet<TermId> = bag.keys().flatten().copied().collect();
    let mut chunk = Chunk::new(domain.into_iter().collect());
    bag.iter().for_each(|(subrecord, &count)| chunk.push(subrecord, count));
    chunk
}

pub(crate) fn chunks(texts: &[&str]) -> Vec<Chunk> {
    texts.iter().map(|text| chunk(text.split(' ').map(ids))).collect()
}

pub(crate) fn leaf(size: u32, record_chunks: &[&str], term_chunk: &str) -> Node {
    Node::Simple(Simple { size, record_chunks: chunks(record_chunks), term_chunk: ids(term_chunk) })
}

pub(crate) fn joint(members: Vec<Node>, shared_chunks: &[&str]) -> Node {
    Node::Joint(Joint {
        size: members.iter().map(Node::size).sum(),
        members,
        shared_chunks: chunks(shared_chunks),
        term_chunk: vec![],
    })
}

/// A release whose dictionary is the alphabet, while datasets number letters as they come: ids differ, texts agree.
pub(crate) fn release(k: u32, m: u32, records: u64, roots: Vec<Node>) -> Disassociated {
    let alphabet = Dataset::from_texts([('a'..='z').map(String::from)]);
    Disassociated { header: Header { k, m, records, occurrences: None }, dictionary: alphabet.dictionary, roots }
}

pub(crate) fn support(world: &[Vec<Terms>], itemset: Terms) -> u64 {
    world.iter().flatten().filter(|&&record| record & itemset == itemset).count() as u64
}
