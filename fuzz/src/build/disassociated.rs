//! Disassociated data: clusters, joint ones in joint ones, chunks of their own and shared ones.

use disjoin::Unobserved;
use disjoin::data::TermId;
use disjoin::release::claim::{Parameters, Sensitive};
use disjoin::release::open::{InMemory, copy};
use disjoin::release::{Chunk, Claim, CutRule, Disassociated, Header, Joint, Node, Promise, Simple, jsonl, parquet};

use super::{dictionary, terms};
use crate::draw::Draw;
use crate::scratch::Files;

/// A release as JSON lines.
pub(crate) fn disassociated(draw: &mut Draw<'_>) -> Files {
    let (release, claim) = release(draw);
    let mut text = Vec::new();
    jsonl::write(&release, &mut text).expect("memory can be written to");
    Files::default().with("claim.json", claim).with("data.jsonl", text)
}

/// The same as Parquet.
pub(crate) fn disassociated_parquet(draw: &mut Draw<'_>) -> Files {
    let (release, claim) = release(draw);
    let mut bytes = Vec::new();
    let writer = parquet::Writer::new(&mut bytes, &release.header, "x").expect("a header can be written");
    copy(&mut InMemory::new(&release), writer, &Unobserved).expect("what is well formed can be written");
    Files::default().with("claim.json", claim).with("data.parquet", bytes)
}

fn release(draw: &mut Draw<'_>) -> (Disassociated, String) {
    let (k, m) = (draw.number(2, 4), draw.number(1, 3));
    let names = terms(draw, 12);
    let dictionary = dictionary(&names);
    let n_roots = draw.number(1, 4);
    let mut roots = roots(draw, k, n_roots, names.len() as u32);
    let records: u64 = roots.iter().map(Node::size).sum();
    let parameters = parameters(draw, k, m, &names);
    let promise = draw.pick(&[Promise::Published, Promise::Published, Promise::AlgorithmAware, Promise::None]);
    let occurrences = draw.chance(40).then(|| records + u64::from(draw.number(0, 40)));
    let header = Header { k, m, records: records + u64::from(draw.chance(8)), occurrences };
    let claim = Claim::disassociation(parameters, promise, header.records);
    let claim = claim.to_json().expect("a claim is JSON");
    roots.sort_unstable();
    let release = Disassociated { header, dictionary, roots };
    (if draw.chance(220) { release.canonical() } else { release }, claim)
}

pub(super) fn parameters(draw: &mut Draw<'_>, k: u32, m: u32, names: &[&str]) -> Parameters {
    let sensitive = draw.chance(40).then(|| Sensitive {
        terms: draw.some(names, 32).into_iter().map(str::to_owned).collect(),
        l: draw.chance(128).then(|| draw.number(1, 4)),
        rule: draw.chance(128).then(|| draw.pick(&["multiplicity", "size", "x"]).to_owned()),
    });
    let cut = draw.pick(&[CutRule::Greedy, CutRule::Weighed]);
    Parameters { k, m, max_cluster: draw.number(0, 40), refine: draw.chance(200), cut, sensitive }
}

pub(super) fn roots(draw: &mut Draw<'_>, k: u32, n_roots: u32, n_terms: u32) -> Vec<Node> {
    let mut one = |_| {
        // A term is in one chunk of a cluster, or nearly always.
        let mut left: Vec<TermId> = (0..n_terms).collect();
        (1..left.len()).rev().for_each(|at| left.swap(at, draw.below(at + 1)));
        node(draw, k, &mut left, 0)
    };
    (0..n_roots).map(&mut one).collect()
}

fn node(draw: &mut Draw<'_>, k: u32, left: &mut Vec<TermId>, depth: u32) -> Node {
    if depth > 2 || !draw.chance(if depth == 0 { 100 } else { 50 }) {
        if depth > 0 && draw.chance(15) {
            return Node::Simple(Simple { size: draw.number(1, k + 2), ..Simple::default() });
        }
        return Node::Simple(simple(draw, k, left));
    }
    let shared_terms = draw.number(1, 3) as usize;
    let mut kept = take(draw, left, shared_terms);
    let mut term_chunk = if draw.chance(30) { take(draw, left, 1) } else { Vec::new() };
    term_chunk.sort_unstable();
    let members: Vec<Node> = (0..draw.number(2, 3))
        .map(|_| {
            // Members of one cluster may have the same terms.
            let mut own = left.clone();
            node(draw, k, &mut own, depth + 1)
        })
        .collect();
    let size: u64 = members.iter().map(Node::size).sum();
    let mut shared_chunks = Vec::new();
    while !kept.is_empty() && shared_chunks.len() < 2 {
        let n = draw.number(1, 2) as usize;
        let terms = take(draw, &mut kept, n);
        shared_chunks.push(chunk(draw, k, terms, size as u32));
    }
    shared_chunks.sort_unstable();
    Node::Joint(Joint { size: size + u64::from(draw.chance(4)), members, shared_chunks, term_chunk })
}

fn simple(draw: &mut Draw<'_>, k: u32, left: &mut Vec<TermId>) -> Simple {
    let size = if draw.chance(8) { draw.number(0, 40) } else { draw.number(k, k + 8) };
    let mut record_chunks = Vec::new();
    for _ in 0..draw.number(0, 3) {
        let n = draw.number(1, 3) as usize;
        let terms = take(draw, left, n);
        record_chunks.extend((!terms.is_empty()).then(|| chunk(draw, k, terms, size)));
    }
    record_chunks.sort_unstable();
    let n = if draw.chance(40) { 0 } else { draw.number(1, 3) as usize };
    let mut term_chunk = take(draw, left, n);
    term_chunk.sort_unstable();
    Simple { size, record_chunks, term_chunk }
}

fn take(draw: &mut Draw<'_>, left: &mut Vec<TermId>, n: usize) -> Vec<TermId> {
    let mut taken = left.split_off(left.len().saturating_sub(n));
    if draw.chance(4) {
        left.extend(taken.first());
    }
    taken.sort_unstable();
    taken.dedup();
    taken
}

/// Subrecords of which each has k copies, or nearly always.
fn chunk(draw: &mut Draw<'_>, k: u32, terms: Vec<TermId>, size: u32) -> Chunk {
    let mut subrecords: Vec<(Vec<TermId>, u32)> = Vec::new();
    let mut left = size;
    for _ in 0..draw.number(1, 4) {
        let mut items = draw.some(&terms, 180);
        if items.is_empty() {
            items.extend(terms.first());
        }
        let count = if draw.chance(12) { draw.number(1, left + 2) } else { draw.number(k.min(left), left.min(k + 3)) };
        if count > 0 && subrecords.iter().all(|(other, _)| *other != items) {
            left = left.saturating_sub(count);
            subrecords.push((items, count));
        }
    }
    subrecords.sort_unstable();
    let mut chunk = Chunk::new(terms);
    subrecords.iter().for_each(|(items, count)| chunk.push(items, *count));
    chunk
}
