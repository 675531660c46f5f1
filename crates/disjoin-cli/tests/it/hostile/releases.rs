//! Releases that are damaged, one file at a time, and releases that claim more than they hold.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use super::{Case, bytes_of, link, packages, pipe, words};

/// The files of a release of each form, and a custody folder beside it.
pub(crate) struct Made {
    name: &'static str,
    files: BTreeMap<String, Vec<u8>>,
}

/// One release of every form; the disassociated one as Parquet, too.
pub(crate) fn made() -> Vec<Made> {
    let (bench, names) = packages();
    let files = |folder: &Path| {
        let entries = fs::read_dir(folder).unwrap().flatten().filter(|entry| entry.path().is_file());
        let named = entries.map(|entry| (entry.file_name().into_string().unwrap(), bytes_of(&entry.path())));
        named.filter(|(name, _)| name != "report.html").collect()
    };
    let mut made: Vec<Made> =
        names.iter().map(|&name| Made { name, files: files(&bench.at(name).join("release")) }).collect();
    bench.good(&["convert", "disassociated", "columns", "--to", "parquet"]);
    let columns = if bench.at("columns/release").is_dir() { bench.at("columns/release") } else { bench.at("columns") };
    made.push(Made { name: "parquet", files: files(&columns) });
    made
}

/// What is run on a release. Originals are not at hand, so that `measure` and `repair` say so or do without.
fn verbs() -> Vec<Vec<String>> {
    [
        "verify release",
        "attack release",
        "query release --top 3",
        "explain release 1",
        "reconstruct release -o out",
        "repair release -o out",
        "convert release out",
        "measure release --original release/claim.json",
        "inspect release",
        "run release",
        "sweep release -o out",
    ]
    .map(words)
    .into()
}

/// What somebody may do to a file of text.
const TEXT: [&str; 16] = [
    "empty",
    "half",
    "no end",
    "zeros",
    "not utf-8",
    "only bom",
    "bom",
    "deep",
    "long line",
    "strings",
    "negative",
    "2^32-1",
    "2^64-1",
    "1e308",
    "nan",
    "twice",
];

fn damage(kind: &str, whole: &[u8]) -> Vec<u8> {
    // The words of version 1 are not compared with its numbers: damage reaches further.
    let text = String::from_utf8_lossy(whole).replace("\"version\": 3", "\"version\": 1");
    let numbers = |to: &dyn Fn(&str) -> String| -> Vec<u8> {
        let mut changed = String::new();
        let mut rest: &str = &text;
        while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
            let before = &rest[..at];
            let end = rest[at..].find(|c: char| !c.is_ascii_digit()).map_or(rest.len(), |end| at + end);
            let is_version = before.ends_with("\"version\":") || before.ends_with("\"version\": ");
            let is_value = before.ends_with([':', ' ', ',', '[']) && !is_version;
            changed += before;
            if is_value {
                changed += &to(&rest[at..end])
            } else {
                changed += &rest[at..end]
            };
            rest = &rest[end..];
        }
        changed += rest;
        changed.into_bytes()
    };
    match kind {
        "empty" => Vec::new(),
        "half" => whole[..whole.len() / 2].to_vec(),
        "no end" => whole[..whole.len().saturating_sub(3)].to_vec(),
        "zeros" => [&whole[..whole.len() / 3], &[0; 5000], &whole[whole.len() / 3..]].concat(),
        "not utf-8" => [&whole[..whole.len() / 3], &[0xff, 0xc0, 0x80], &whole[whole.len() / 3..]].concat(),
        "only bom" => b"\xef\xbb\xbf".to_vec(),
        "bom" => [b"\xef\xbb\xbf", whole].concat(),
        "deep" => {
            let line = whole.split_inclusive(|&byte| byte == b'\n').next().unwrap_or_default();
            [line, "{\"members\":[".repeat(100_000).as_bytes()].concat()
        }
        "long line" => [whole, &vec![b'a'; 8 << 20][..]].concat(),
        "strings" => numbers(&|number| format!("\"{number}\"")),
        "negative" => numbers(&|number| format!("-{number}")),
        "2^32-1" => numbers(&|_| u32::MAX.to_string()),
        "2^64-1" => numbers(&|_| u64::MAX.to_string()),
        "1e308" => numbers(&|_| "1e308".into()),
        "nan" => numbers(&|_| "NaN".into()),
        "twice" => [whole, whole].concat(),
        _ => unreachable!(),
    }
}

/// What a file may be instead.
const ODD: [&str; 6] = ["missing", "folder", "endless", "pipe", "loop", "elsewhere"];

fn put_odd(kind: &str, path: &Path) {
    fs::remove_file(path).unwrap();
    match kind {
        "missing" => {}
        "folder" => fs::create_dir(path).unwrap(),
        "endless" => link(path, "/dev/zero"),
        "pipe" => pipe(path),
        "loop" => link(path, path.file_name().unwrap().to_str().unwrap()),
        "elsewhere" => link(path, "/proc/self/environ"),
        _ => unreachable!(),
    }
}

/// Every file of every form, damaged in every way.
pub(crate) fn damaged(made: &[Made]) -> Vec<Case> {
    let mut cases = Vec::new();
    for Made { name, files } in made {
        let files = Arc::new(files.clone());
        for (file, whole) in files.iter() {
            let of = |kind: &str, change: Box<dyn Fn(&Path) + Send + Sync>| {
                let files = Arc::clone(&files);
                let make = move |folder: &Path| {
                    fs::create_dir(folder.join("release")).unwrap();
                    files.iter().for_each(|(name, bytes)| fs::write(folder.join("release").join(name), bytes).unwrap());
                    change(&folder.join("release"));
                };
                Case::new(format!("{name}/{file}: {kind}"), make, verbs())
            };
            for kind in ODD {
                let file = file.clone();
                cases.push(of(kind, Box::new(move |folder| put_odd(kind, &folder.join(&file)))));
            }
            if file.ends_with(".parquet") {
                for at in 0..30 {
                    let (file, mut bytes) = (file.clone(), whole.clone());
                    let place = (at + 1) * (bytes.len() - 1) / 30;
                    bytes[place] ^= 1 << (at % 8) | 0x80;
                    let write = move |folder: &Path| fs::write(folder.join(&file), &bytes).unwrap();
                    cases.push(of(&format!("byte {place}"), Box::new(write)));
                }
                continue;
            }
            for kind in TEXT {
                let (file, bytes) = (file.clone(), damage(kind, whole));
                cases.push(of(kind, Box::new(move |folder| fs::write(folder.join(&file), &bytes).unwrap())));
            }
        }
    }
    cases.push(claims_that_point_elsewhere(made));
    cases
}

/// The claim of a split table names its files: one of them is not in the folder.
fn claims_that_point_elsewhere(made: &[Made]) -> Case {
    let split = made.iter().find(|made| made.name == "split").unwrap();
    let mut files = split.files.clone();
    let claim = String::from_utf8(files["claim.json"].clone()).unwrap();
    let table = files.keys().find(|name| name.starts_with("sensitive")).unwrap().clone();
    files.insert("claim.json".into(), claim.replace(&table, "/etc/passwd").into_bytes());
    let make = move |folder: &Path| {
        fs::create_dir(folder.join("release")).unwrap();
        files.iter().for_each(|(name, bytes)| fs::write(folder.join("release").join(name), bytes).unwrap());
    };
    Case::new("split: a claim that names /etc/passwd", make, verbs())
}

/// A release of sets cut into chunks, by its parameters and its roots; its claim promises the one reading or the other.
fn disassociated(
    name: impl Into<String>,
    (k, m): (u32, u32),
    records: u64,
    roots: impl Fn() -> String + Send + Sync + 'static,
) -> Case {
    let make = move |folder: &Path| {
        for (release, promise, cut) in [
            ("release", "published", "greedy"),
            ("weighed", "algorithm-aware", "weighed"),
            ("aware", "algorithm-aware", "greedy"),
        ] {
            let claim = serde_json::json!({
                "format": "disjoin/claim", "version": 1, "form": "disassociated", "method": "disassociation",
                "made_by": "somebody", "promised": "much", "adversary": "none", "promise": promise, "records": records,
                "parameters": { "k": k, "m": m, "max_cluster": 30, "refine": true, "cut": cut },
            });
            fs::create_dir(folder.join(release)).unwrap();
            fs::write(folder.join(release).join("claim.json"), claim.to_string()).unwrap();
            let head = format!(
                "{{\"format\":\"disjoin/disassociated\",\"version\":1,\"k\":{k},\"m\":{m},\"records\":{records}}}\n"
            );
            fs::write(folder.join(release).join("data.jsonl"), head + &roots()).unwrap();
        }
    };
    let aware = ["verify weighed", "attack weighed", "repair weighed -o out", "verify aware", "attack aware"];
    Case::new(name, make, verbs().into_iter().chain(aware.map(words)))
}

fn list(terms: impl Iterator<Item = usize>) -> String {
    let mut text = String::new();
    terms.enumerate().for_each(|(at, term)| write!(text, "{}\"{term}\"", if at > 0 { "," } else { "" }).unwrap());
    text
}

fn chunk(terms: impl Iterator<Item = usize>, count: u64) -> String {
    let terms = list(terms);
    format!(r#"{{"terms":[{terms}],"subrecords":[{{"terms":[{terms}],"count":{count}}}]}}"#)
}

fn simple(size: u64, chunks: &str, terms: &str) -> String {
    format!("{{\"size\":{size},\"record_chunks\":[{chunks}],\"term_chunk\":[{terms}]}}\n")
}

/// A cluster of two chunks that claims so many records, and so many equal ones.
pub(crate) fn sized(name: &str, size: u32, count: u32) -> Case {
    let (size, count) = (u64::from(size), u64::from(count));
    disassociated(name, (2, 2), size, move || simple(size, &[chunk(0..1, count), chunk(1..2, count)].join(","), ""))
}

/// A term chunk of so many terms.
pub(crate) fn many_terms(n: usize) -> Case {
    disassociated(format!("{n} terms in a term chunk"), (2, 2), 2, move || simple(2, "", &list(0..n)))
}

/// Releases that claim much, or hold much of one thing.
pub(crate) fn giant() -> Vec<Case> {
    let all_but_one = |n: usize, m: u32| {
        disassociated(format!("sets of {m} of {n} terms"), (2, m), n as u64, move || {
            let rows: Vec<String> = (0..n)
                .map(|left| format!(r#"{{"terms":[{}],"count":1}}"#, list((0..n).filter(|&term| term != left))))
                .collect();
            let chunk = format!(r#"{{"terms":[{}],"subrecords":[{}]}}"#, list(0..n), rows.join(","));
            simple(n as u64, &chunk, "\"x\"")
        })
    };
    let many_chunks = |n: usize| {
        disassociated(format!("{n} chunks in a cluster"), (2, 2), 40, move || {
            let chunks: Vec<String> = (0..n).map(|term| chunk(term..term + 1, 20)).collect();
            simple(40, &chunks.join(","), "\"x\"")
        })
    };
    let mut cases = vec![
        sized("2^32-1 records", u32::MAX, u32::MAX),
        sized("2^31 records", 1 << 31, 1 << 30),
        sized("100 million records", 100_000_000, 50_000_000),
        sized("more subrecords than records", 5, u32::MAX),
        many_terms(1_000_000),
        many_terms(3_000),
        many_chunks(100_000),
        Case { runs: vec![words("verify release --memory 300M")], ..many_chunks(1_000_000) },
        many_chunks(3_000),
        all_but_one(40, 20),
        all_but_one(60, 3),
        all_but_one(300, 2),
        disassociated("a giant k", (u32::MAX, 2), 40, || simple(40, &chunk(0..3, 40), "\"x\"")),
        disassociated("a giant m", (2, u32::MAX), 40, || simple(40, &chunk(0..3000, 40), "\"x\"")),
        disassociated("a giant m and many chunks", (2, u32::MAX), 40, || {
            let chunks: Vec<String> = (0..2000).map(|term| chunk(term..term + 1, 20)).collect();
            simple(40, &chunks.join(","), "\"x\"")
        }),
        disassociated("2^64-1 records in a header", (2, 2), u64::MAX, || simple(40, &chunk(0..3, 40), "\"x\"")),
    ];
    cases.extend(many());
    for depth in [40, 59, 70, 5_000] {
        cases.push(disassociated(format!("{depth} clusters in each other"), (2, 2), 2, move || {
            let inner = simple(2, &chunk(0..1, 2), "\"x\"").trim_end().to_owned();
            let (open, close) = ("{\"size\":2,\"shared_chunks\":[],\"members\":[".repeat(depth), "]}".repeat(depth));
            format!("{open}{inner}{close}\n")
        }));
    }
    cases
}

/// Releases of many clusters, and of clusters in others.
fn many() -> Vec<Case> {
    let max = u64::from(u32::MAX);
    vec![
        disassociated("many clusters that claim much", (2, 2), 20_000 * max, move || {
            simple(max, &[chunk(0..1, max), chunk(1..2, max)].join(","), "").repeat(20_000)
        }),
        disassociated("many members and a wide shared chunk", (2, 2), 40_000, || {
            let members = vec![simple(2, "", "\"x\"").trim_end().to_owned(); 20_000].join(",");
            let shared = chunk(0..20_000, 2);
            format!("{{\"size\":40000,\"members\":[{members}],\"shared_chunks\":[{shared}]}}\n")
        }),
        disassociated("a joint cluster without members", (2, 2), 4, || {
            "{\"size\":4,\"members\":[],\"shared_chunks\":[]}\n".into()
        }),
        disassociated("a joint cluster of 2^64-1 records", (2, 2), 4, || {
            let member = simple(2, "", "\"x\"").trim_end().to_owned();
            format!("{{\"size\":{},\"members\":[{member}],\"shared_chunks\":[]}}\n", u64::MAX)
        }),
        disassociated("a hundred thousand clusters", (2, 2), 200_000, || simple(2, "", "\"x\"").repeat(100_000)),
        disassociated("many subrecords of a wide chunk", (2, 2), 3_000, || {
            let rows: Vec<String> = (0..3_000).map(|i| format!(r#"{{"terms":["{i}"],"count":1}}"#)).collect();
            let first = format!(r#"{{"terms":[{}],"subrecords":[{}]}}"#, list(0..3_000), rows.join(","));
            simple(3_000, &[first, chunk(5_000..5_001, 3_000)].join(","), "")
        }),
    ]
}
