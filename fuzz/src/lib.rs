//! What every fuzz target does with its bytes: parse, and hold what came out against its invariants.

use std::path::Path;
use std::sync::Once;

use bytes::Bytes;
use disjoin::data::{Dataset, Dictionary, Hierarchy};
use disjoin::read::{self, Format, HierarchyStyle, Options, parse_hierarchy, parse_hierarchy_terms, write_hierarchy};
use disjoin::release::noisy::{Noisy, NoisyClaim};
use disjoin::release::open::copy;
use disjoin::release::recoded::{Promised, RecodedClaim, Suppression, parse_recoded, write_recoded};
use disjoin::release::{Disassociated, Header, Node, jsonl, parquet};
use disjoin::verify::{NoisyFiles, verify_noisy, verify_recoded};

/// Reads records; if that works, writes them as JSON lines, reads them again and expects the same.
pub fn read_and_write_again(bytes: &[u8], format: Option<Format>) {
    prepare();
    for column in [None, Some("x".to_string())] {
        let options = Options { format, column, ..Options::default() };
        let Ok((data, intake)) = read::read_bytes("fuzz", bytes, &options) else { continue };
        assert_eq!(intake.records as usize, data.records.len());
        assert!(!data.records.is_empty());
        assert!(data.records.iter().all(|record| record.is_sorted_by(|a, b| a < b) && !record.is_empty()));
        assert!(data.records.all_terms().iter().all(|&t| (t as usize) < data.n_terms()));
        let mut again = Vec::new();
        read::write(&data, Format::JsonLines, Path::new("again"), &mut again).expect("JSON can hold every term");
        let json = Options { format: Some(Format::JsonLines), ..Options::default() };
        let (read_again, _) = read::read_bytes("again", &again, &json).expect("what was written can be read");
        assert_eq!(texts(&data), texts(&read_again));
    }
}

/// Reads a release from JSON lines; if that works, writes it and reads it again.
pub fn release_jsonl(bytes: &[u8]) {
    prepare();
    if let Ok(release) = jsonl::read(bytes, "fuzz") {
        let mut text = Vec::new();
        jsonl::write(&release, &mut text).expect("writing to memory does not fail");
        let again = jsonl::read(&text[..], "again").expect("what was written can be read");
        assert_eq!(release.roots, again.roots);
    }
    // The streaming reader must not fall over either.
    if let Ok(mut reader) = jsonl::Reader::new(bytes, "fuzz") {
        while let Ok(Some(_)) = reader.next_root(&mut Dictionary::default()) {}
    }
}

/// Reads recoded transactions; if that works, writes them, reads them again and judges them.
pub fn release_recoded(bytes: &[u8]) {
    prepare();
    let Ok(release) = parse_recoded(bytes, "fuzz") else { return };
    let mut text = Vec::new();
    write_recoded(&release, &mut text).expect("writing to memory does not fail");
    let again = parse_recoded(&text[..], "again").expect("what was written can be read");
    assert_eq!(release.blocks, again.blocks);
    let claim = RecodedClaim::new(&again, "fuzz", 2, Promised::Km { m: 2 }, Suppression::None, None);
    verify_recoded(&claim, &again, None);
}

/// Reads a noisy release: its claim, an empty line, its rows. What can be read is written, read again and judged.
pub fn release_noisy(bytes: &[u8]) {
    prepare();
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (claim, rows) = text.split_once("\n\n").unwrap_or(("", text));
    let Ok(data) = Noisy::read(rows, "fuzz") else { return };
    let mut again = Vec::new();
    data.write(&mut again).expect("writing to memory does not fail");
    let again = String::from_utf8(again).expect("JSON is UTF-8");
    assert_eq!(Noisy::read(&again, "again").expect("what was written can be read"), data);
    let Ok(claim) = serde_json::from_str::<NoisyClaim>(claim) else { return };
    let json = claim.to_json().expect("a claim can be written");
    let written = serde_json::from_str(&json).expect("what was written can be read");
    assert_eq!(serde_json::from_str::<NoisyClaim>(&json).expect("what was written can be read"), claim);
    verify_noisy(&NoisyFiles { claim, written, data, universe: None, strange_files: 0 });
}

/// Reads a hierarchy over the terms that it has; if that works, writes it for both tools, reads it again and expects the same tree.
pub fn hierarchy(bytes: &[u8]) {
    prepare();
    let Ok(terms) = parse_hierarchy_terms("fuzz", bytes) else { return };
    let Ok(tree) = parse_hierarchy("fuzz", bytes, &terms) else { return };
    assert_eq!(tree.n_terms(), terms.len());
    // Whose file it is shows in its first line: if a quoted name breaks it, " has " in that name leads astray.
    if (0..tree.n_nodes() as u32).any(|node| tree.text(node, &terms).contains(['\n', '\r'])) {
        return;
    }
    let sizes = |tree: &Hierarchy| -> Vec<Vec<u32>> {
        let of_term = |term| tree.ancestors(term).map(|node| tree.leaves_below(node)).collect();
        (0..terms.len() as u32).map(of_term).collect()
    };
    for style in [HierarchyStyle::Arx, HierarchyStyle::Amnesia] {
        let mut text = Vec::new();
        // Not everything can be said for Amnesia.
        if write_hierarchy(&tree, &terms, style, Path::new("again"), &mut text).is_ok() && !terms.is_empty() {
            let again = parse_hierarchy("again", &text, &terms).expect("what was written can be read");
            assert_eq!((again.n_nodes(), sizes(&again)), (tree.n_nodes(), sizes(&tree)));
        }
    }
}

/// Reads a release from Parquet; if that works, writes it and reads it again.
pub fn release_parquet(bytes: &[u8]) {
    prepare();
    let roots = |bytes: Vec<u8>| -> Option<(Header, Vec<Node>)> {
        let mut reader = parquet::Reader::new(Bytes::from(bytes), "fuzz").ok()?;
        let mut dictionary = Dictionary::default();
        let mut roots = Vec::new();
        while let Some(root) = reader.next_root(&mut dictionary).ok()? {
            roots.push(root);
        }
        let release = Disassociated { header: reader.header(), dictionary, roots }.canonical();
        Some((release.header, release.roots))
    };
    let Some(first) = roots(bytes.to_vec()) else { return };
    let mut reader = parquet::Reader::new(Bytes::from(bytes.to_vec()), "fuzz").expect("it was read before");
    let mut again = Vec::new();
    let writer = parquet::Writer::new(&mut again, &first.0, "again").expect("a header can be written");
    copy(&mut reader, writer).expect("what was read can be written");
    assert_eq!(roots(again), Some(first));
}

fn texts(data: &Dataset) -> Vec<Vec<String>> {
    let text = |&t: &u32| data.dictionary.text(t).to_string();
    let sorted = |record: &[u32]| {
        let mut terms: Vec<String> = record.iter().map(text).collect();
        terms.sort();
        terms
    };
    data.records.iter().map(sorted).collect()
}

/// Once a run.
///
/// The Parquet library panics on some damaged files; our readers catch that and report an error. libFuzzer's hook would
/// abort all the same, so it is replaced; a panic that nobody catches still ends the run. And this thread becomes the
/// whole thread pool: waking another one for each small input would take most of the time.
fn prepare() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        std::panic::set_hook(Box::new(|_| {}));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread();
        pool.build_global().expect("the pool is built once");
    });
}
