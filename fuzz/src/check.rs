//! What `verify` says holds, looked at again by brute force, from the files alone.

use std::collections::HashMap;

use disjoin::release::recoded::parse_recoded;
use disjoin::release::{Chunk, Disassociated, Node, jsonl};
use serde_json::Value;

use crate::scratch::Files;

/// Panics if a release that was said to hold does not.
pub(crate) fn confirm(files: &Files) {
    let claim: Value = serde_json::from_slice(files.get("claim.json")).expect("it was read before");
    match claim["form"].as_str() {
        Some("disassociated") if !files.get("data.jsonl").is_empty() => {
            let release = jsonl::read(files.get("data.jsonl"), "x").expect("it was read before");
            disassociated(&release);
        }
        Some("generalized") => table(&claim, files.get("data.csv")),
        Some("split") => split(&claim, files),
        Some("recoded") => recoded(&claim, files.get("transactions.jsonl")),
        Some("noisy") => noisy(&claim),
        _ => {}
    }
}

fn disassociated(release: &Disassociated) {
    let (k, m) = (u64::from(release.header.k), release.header.m);
    assert_eq!(release.roots.iter().map(Node::size).sum::<u64>(), release.header.records);
    let mut stack: Vec<&Node> = release.roots.iter().collect();
    while let Some(node) = stack.pop() {
        let chunks = match node {
            Node::Simple(simple) => {
                assert!(u64::from(simple.size) >= k || simple.is_bare(), "a cluster below k");
                &simple.record_chunks
            }
            Node::Joint(joint) => {
                let is_bare = |member: &&Node| matches!(member, Node::Simple(simple) if simple.is_bare());
                let bare: u64 = joint.members.iter().filter(is_bare).map(Node::size).sum();
                let n: u64 = joint.shared_chunks.iter().map(Chunk::n_subrecords).sum();
                assert!(bare <= n || !joint.term_chunk.is_empty(), "records that nothing fills");
                stack.extend(&joint.members);
                &joint.shared_chunks
            }
        };
        for chunk in chunks {
            assert!(chunk.n_subrecords() <= node.size(), "more subrecords than records");
            anonymous(chunk, k, m);
        }
    }
}

/// Every set of up to m terms that a subrecord holds is held by k.
fn anonymous(chunk: &Chunk, k: u64, m: u32) {
    for (items, _) in chunk.subrecords() {
        for set in subsets(items, m) {
            let holds = |terms: &[u32]| set.iter().all(|term| terms.contains(term));
            let n: u64 = chunk.subrecords().filter(|(terms, _)| holds(terms)).map(|(_, count)| u64::from(count)).sum();
            assert!(n >= k, "a set of {} terms in {n} subrecords, and k is {k}", set.len());
        }
    }
}

/// The subsets of 1 to m of a few items.
fn subsets(items: &[u32], m: u32) -> Vec<Vec<u32>> {
    let of = |mask: u32| (0..items.len()).filter(|bit| mask >> bit & 1 == 1).map(|bit| items[bit]).collect();
    (1..1_u32 << items.len().min(12)).filter(|mask| mask.count_ones() <= m).map(of).collect()
}

/// The lines of a CSV file by some of its columns.
fn rows(bytes: &[u8], columns: &[&str]) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(bytes);
    let header = reader.headers().cloned().unwrap_or_default();
    let places: Vec<usize> =
        columns.iter().filter_map(|name| header.iter().position(|other| other.trim() == *name)).collect();
    assert_eq!(places.len(), columns.len(), "a column that is claimed is not in the data");
    let cell = |row: &csv::StringRecord, place: usize| row.get(place).unwrap_or_default().trim().to_owned();
    reader.records().flatten().map(|row| places.iter().map(|&place| cell(&row, place)).collect()).collect()
}

fn named<'c>(claim: &'c Value, role: &str) -> Vec<&'c str> {
    let columns = claim["columns"].as_array().map(Vec::as_slice).unwrap_or_default();
    columns.iter().filter(|column| column["role"] == role).filter_map(|column| column["name"].as_str()).collect()
}

fn claimed(claim: &Value, is: &str, key: &str) -> u64 {
    let criteria = claim["criteria"].as_array().map(Vec::as_slice).unwrap_or_default();
    criteria.iter().filter(|one| one["is"] == is).filter_map(|one| one[key].as_u64()).max().unwrap_or(0)
}

fn table(claim: &Value, data: &[u8]) {
    let (quasi, sensitive) = (named(claim, "quasi"), named(claim, "sensitive"));
    let mut classes: HashMap<Vec<String>, usize> = HashMap::new();
    let all = rows(data, &quasi);
    assert_eq!(Some(all.len() as u64), claim["records"].as_u64());
    all.iter().for_each(|row| *classes.entry(row.clone()).or_default() += 1);
    let k = claimed(claim, "k-anonymity", "k") as usize;
    assert!(classes.values().all(|&n| n >= k), "a class below {k}");
    for column in sensitive {
        let mut values: HashMap<Vec<String>, Vec<String>> = HashMap::new();
        let cells = rows(data, &[column]);
        all.iter().zip(cells).for_each(|(row, mut cell)| values.entry(row.clone()).or_default().append(&mut cell));
        for values in values.values_mut() {
            values.sort_unstable();
            values.dedup();
            assert!(values.len() as u64 >= claimed(claim, "distinct-diversity", "l"), "too few values in a class");
        }
    }
}

fn split(claim: &Value, files: &Files) {
    let group = claim["group_column"].as_str().unwrap_or_default();
    let mut groups: HashMap<String, u64> = HashMap::new();
    for mut row in rows(files.get("quasi.csv"), &[group]) {
        *groups.entry(row.remove(0)).or_default() += 1;
    }
    let k = claimed(claim, "k-anonymity", "k");
    assert!(groups.values().all(|&n| n >= k), "a group below {k}");
    assert_eq!(Some(groups.values().sum::<u64>()), claim["records"].as_u64());
    for file in claim["files"].as_array().map(Vec::as_slice).unwrap_or_default() {
        let mut counted: HashMap<String, u64> = HashMap::new();
        for mut row in rows(files.get(file["file"].as_str().unwrap_or_default()), &["group", "count"]) {
            let count: u64 = row.remove(1).parse().expect("a count");
            *counted.entry(row.remove(0)).or_default() += count;
        }
        assert_eq!(counted, groups, "counts that do not add up to the rows of their group");
    }
}

fn recoded(claim: &Value, data: &[u8]) {
    let (k, Some(m)) = (claim["k"].as_u64().unwrap_or(0), claim["promise"]["m"].as_u64()) else { return };
    let release = parse_recoded(data, "x").expect("it was read before");
    for block in &release.blocks {
        for (items, _) in block.bag.iter() {
            for set in subsets(items, m.min(4) as u32) {
                let holds = |items: &[u32]| set.iter().all(|item| items.contains(item));
                let n: u64 = block.bag.iter().filter(|(all, _)| holds(all)).map(|(_, count)| u64::from(count)).sum();
                assert!(n >= k, "a set of {} items in {n} records, and k is {k}", set.len());
            }
        }
    }
}

fn noisy(claim: &Value) {
    assert_eq!(claim["demonstration"], false, "a demonstration promises nothing");
    let amount = |value: &Value| value.as_str().and_then(|text| text.parse::<f64>().ok()).unwrap_or(f64::NAN);
    assert!(amount(&claim["epsilon"]) > 0.0 && amount(&claim["delta"]) < 1.0);
    if claim["accounting"]["measure"] == "pure" {
        let ledger = claim["ledger"].as_array().map(Vec::as_slice).unwrap_or_default();
        let spent: f64 = ledger.iter().map(|entry| amount(&entry["cost"])).sum();
        let all = spent + amount(&claim["unspent"]);
        assert!(all <= amount(&claim["epsilon"]) * (1.0 + 1e-9), "more is spent than is claimed");
    }
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::*;

    /// A claim, the files beside it, and what to write instead of what to break it.
    type Case<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a str, &'a str);

    /// Releases that hold, and the same with one thing broken.
    #[test]
    fn what_does_not_hold_is_not_confirmed() {
        let head = r#"{"format":"disjoin/disassociated","version":1,"k":2,"m":2,"records":3}"#;
        let root = r#"{"size":3,"record_chunks":[{"terms":["a","b"],"subrecords":[{"terms":["a","b"],"count":2}]}],"term_chunk":["c"]}"#;
        let table = r#"{"form":"generalized","records":2,"criteria":[{"is":"k-anonymity","k":2},{"is":"distinct-diversity","l":2}],
            "columns":[{"name":"q","role":"quasi"},{"name":"s","role":"sensitive"}]}"#;
        let split = r#"{"form":"split","records":2,"group_column":"group","criteria":[{"is":"k-anonymity","k":2}],
            "columns":[],"files":[{"column":"s","file":"sensitive_s.csv"}]}"#;
        let recoded = r#"{"form":"recoded","k":2,"promise":{"kind":"km","m":2}}"#;
        let lines = "{\"format\":\"disjoin/recoded\",\"version\":1,\"records\":3,\"blocks\":1}\n\
            {\"records\":3,\"groups\":[{\"terms\":[\"a\"]},{\"terms\":[\"b\"]}]}\n{\"items\":[1,2],\"count\":2}\n{\"items\":[1],\"count\":1}\n";
        let noisy = r#"{"form":"noisy","demonstration":false,"epsilon":"1","delta":"0","unspent":"0.5",
            "accounting":{"measure":"pure"},"ledger":[{"cost":"0.5"}]}"#;
        let disassociated = format!("{head}\n{root}\n");
        let all: [Case<'_>; 9] = [
            (r#"{"form":"disassociated"}"#, &[("data.jsonl", &disassociated)], "\"count\":2", "\"count\":1"),
            (r#"{"form":"disassociated"}"#, &[("data.jsonl", &disassociated)], "\"k\":2", "\"k\":4"),
            (table, &[("data.csv", "q,s\n1,x\n1,y\n")], "1,y", "2,y"),
            (table, &[("data.csv", "q,s\n1,x\n1,y\n")], "1,y", "1,x"),
            (
                split,
                &[("quasi.csv", "q,group\n1,1\n1,1\n"), ("sensitive_s.csv", "group,value,count\n1,x,2\n")],
                "x,2",
                "x,1",
            ),
            (
                split,
                &[("quasi.csv", "q,group\n1,1\n1,1\n"), ("sensitive_s.csv", "group,value,count\n1,x,2\n")],
                "\"k\":2",
                "\"k\":3",
            ),
            (recoded, &[("transactions.jsonl", lines)], "\"k\":2", "\"k\":3"),
            (noisy, &[], "\"0.5\"}", "\"0.6\"}"),
            (noisy, &[], "false", "true"),
        ];
        for (claim, data, from, to) in all {
            let with = |change: &dyn Fn(&str) -> String| {
                let files = Files::default().with("claim.json", change(claim));
                data.iter().fold(files, |files, (name, text)| files.with(name, change(text)))
            };
            let (good, bad) = (with(&str::to_owned), with(&|text| text.replace(from, to)));
            confirm(&good);
            assert!(catch_unwind(|| confirm(&bad)).is_err(), "{claim}: {from} {to}");
        }
    }
}
