//! The data of releases as text or Parquet: what can be read is written, and read again as the same.

use bytes::Bytes;
use disjoin::Unobserved;
use disjoin::data::Dictionary;
use disjoin::release::open::copy;
use disjoin::release::recoded::{Promised, Suppression, parse_recoded, write_recoded};
use disjoin::release::{
    Disassociated, Header, Node, Noisy, NoisyClaim, RecodedClaim, jsonl as lines, parquet as columns,
};
use disjoin::verify::{NoisyFiles, verify_noisy, verify_recoded};

use crate::verbs::fine;

pub(super) fn jsonl(bytes: &[u8]) -> bool {
    // The streaming reader must not fall over either.
    if let Some(mut reader) = fine(lines::Reader::new(bytes, "x")) {
        while let Some(Some(_)) = fine(reader.next_root(&mut Dictionary::default(), &Unobserved)) {}
    }
    let Some(release) = fine(lines::read(bytes, "x")) else { return false };
    let mut text = Vec::new();
    lines::write(&release, &mut text).expect("memory can be written to");
    let again = lines::read(&text[..], "x").expect("what was written is read");
    assert_eq!((release.header, release.roots), (again.header, again.roots));
    true
}

pub(super) fn parquet(bytes: &[u8]) -> bool {
    let read = |bytes: &[u8]| -> Option<(Header, Vec<Node>)> {
        let mut reader = fine(columns::Reader::new(Bytes::copy_from_slice(bytes), "x"))?;
        let mut dictionary = Dictionary::default();
        let mut roots = Vec::new();
        while let Some(root) = fine(reader.next_root(&mut dictionary, &Unobserved))? {
            roots.push(root);
        }
        let release = Disassociated { header: reader.header(), dictionary, roots }.canonical();
        Some((release.header, release.roots))
    };
    let Some(first) = read(bytes) else { return false };
    let mut reader = columns::Reader::new(Bytes::copy_from_slice(bytes), "x").expect("it was read before");
    let mut again = Vec::new();
    let writer = columns::Writer::new(&mut again, &first.0, "x").expect("a header can be written");
    copy(&mut reader, writer, &Unobserved).expect("what was read can be written");
    assert_eq!(read(&again), Some(first));
    true
}

pub(super) fn recoded(bytes: &[u8]) -> bool {
    let Some(release) = fine(parse_recoded(bytes, "x")) else { return false };
    let mut text = Vec::new();
    write_recoded(&release, &mut text).expect("memory can be written to");
    let again = parse_recoded(&text[..], "x").expect("what was written is read");
    assert_eq!(release.blocks, again.blocks);
    let claim = RecodedClaim::new(&again, "apriori", 2, Promised::Km { m: 2 }, Suppression::None, None);
    verify_recoded(&claim, &again, None, &Unobserved);
    true
}

/// A claim, an empty line, rows.
pub(super) fn noisy(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let (claim, rows) = text.split_once("\n\n").unwrap_or(("", text));
    let Some(data) = fine(Noisy::read(rows, "x")) else { return false };
    let mut again = Vec::new();
    data.write(&mut again).expect("memory can be written to");
    let again = String::from_utf8(again).expect("JSON is UTF-8");
    assert_eq!(Noisy::read(&again, "x").expect("what was written is read"), data);
    let Ok(claim) = serde_json::from_str::<NoisyClaim>(claim) else { return true };
    let json = claim.to_json().expect("a claim is JSON");
    assert_eq!(serde_json::from_str::<NoisyClaim>(&json).expect("what was written is read"), claim);
    verify_noisy(&NoisyFiles { claim, data, universe: None, strange_files: 0 });
    true
}
