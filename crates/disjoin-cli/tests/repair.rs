//! Repair, from the outside: what it writes, prints and refuses.

#![allow(clippy::unwrap_used)]

mod common;

use std::fs;

use common::{BREACHED, Bench, release_of, text};
use serde_json::Value;

const ORIGINAL: [&str; 4] = ["--original", "x.dat", "--separator", ","];

/// A package `out`, from `x.dat`, cut as in the paper; six records are one group.
fn packaged(data: &str, flags: &[&str]) -> Bench {
    let bench = Bench::new();
    bench.file("x.dat", data);
    let protect = [
        "protect",
        "x.dat",
        "--separator",
        ",",
        "-k",
        "3",
        "--max-cluster",
        "8",
        "--promise",
        "published",
        "-o",
        "out",
    ];
    bench.good(&[&protect[..], flags].concat());
    bench
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

#[test]
fn a_breach_is_mended_and_the_custody_follows() {
    let bench = packaged(BREACHED, &[]);
    assert_eq!(bench.run(&["attack", "out"]).status.code(), Some(1));
    let (stdout, stderr) = bench.good(&["repair", "out", "-o", "mended"]);
    assert_eq!(stdout, "");
    assert!(
        stderr.contains("set aside in 1 of 1 cluster: ") && stderr.contains("next: disjoin verify mended"),
        "{stderr}"
    );
    assert!(!stderr.contains("surgery"), "{stderr}");
    bench.good(&["attack", "mended"]);
    let (stdout, _) = bench.good(&["verify", "mended", "--json"]);
    assert_eq!(json(&stdout)["promise"], "algorithm-aware");
    let (stdout, _) = bench.good(&[&["verify", "mended", "--json"], &ORIGINAL[..]].concat());
    assert_eq!(json(&stdout)["against_custody"], true);
    let custody = json(&fs::read_to_string(bench.at("mended/custody/custody.json")).unwrap());
    assert_eq!(custody["promise"], "algorithm-aware");
}

#[test]
fn many_clusters_are_mended_in_any_encoding_by_any_number_of_threads() {
    let record = |i: usize| format!("z{},z{},z{},z{}\n", i % 7, 7 + (i + i / 9) % 11, 18 + i % 13, 31 + i % 5);
    let data: String = (0..400).map(record).collect();
    let bench = packaged(&data, &[]);
    assert_eq!(bench.run(&["attack", "out"]).status.code(), Some(1));
    bench.good(&["repair", "out", "-o", "one", "--threads", "1"]);
    bench.good(&["repair", "out", "-o", "two", "--threads", "2"]);
    assert_eq!(release_of(&bench.at("one")), release_of(&bench.at("two")));
    bench.good(&["convert", "out", "columns", "--to", "parquet"]);
    bench.good(&["repair", "columns", "-o", "three"]);
    assert!(bench.at("three/release/data.parquet").is_file());
    for package in ["one", "three"] {
        bench.good(&["attack", package]);
        bench.good(&[&["verify", package], &ORIGINAL[..]].concat());
    }
}

#[test]
fn a_release_without_custody_is_mended_alone() {
    let bench = packaged(BREACHED, &[]);
    fs::remove_dir_all(bench.at("out/custody")).unwrap();
    let (stdout, stderr) = bench.good(&["repair", "out/release", "-o", "mended", "--json", "--quiet"]);
    assert_eq!(stderr, "");
    let told = json(&stdout);
    assert_eq!(
        (&told["promise"], &told["custody"], &told["records"]),
        (&"algorithm-aware".into(), &Value::Null, &6.into())
    );
    assert_eq!((&told["stats"]["clusters"], &told["stats"]["clusters_changed"]), (&1.into(), &1.into()));
    assert!(told["stats"]["terms_set_aside"].as_u64() > Some(0));
    bench.good(&["verify", "mended"]);
    // Mended once, it is as it should be.
    let (_, stderr) = bench.good(&["repair", "mended", "-o", "again"]);
    assert!(stderr.contains("nothing was given away in 1 cluster"), "{stderr}");
    assert_eq!(release_of(&bench.at("again")), release_of(&bench.at("mended")));
}

#[test]
fn nothing_is_overwritten_or_written_in_vain() {
    let bench = packaged(BREACHED, &[]);
    assert!(bench.bad(&["repair", "out", "-o", "out"]).contains("exists already"));
    bench.good(&["repair", "out", "-o", "out", "--force"]);
    bench.good(&[&["verify", "out"], &ORIGINAL[..]].concat());
    let path = bench.at("out/release/data.jsonl");
    let data = fs::read_to_string(&path).unwrap();
    fs::write(&path, data.replacen("\"size\":6", "\"size\":2", 1)).unwrap();
    let stderr = bench.bad(&["repair", "out", "-o", "mended"]);
    assert!(stderr.contains("does not mend") && stderr.contains("hint: disjoin verify"), "{stderr}");
    assert!(bench.bad(&["repair", "absent", "-o", "mended"]).contains("absent: cannot read the release"));
    let output = bench.run(&["repair", "out"]);
    assert!(output.status.code() == Some(2) && text(&output.stderr).contains("--out"));
}

#[test]
fn its_help_has_examples() {
    let bench = Bench::new();
    for help in ["--help", "-h"] {
        let (stdout, _) = bench.good(&["repair", help]);
        assert!(stdout.contains("Examples:\n  disjoin repair "), "{stdout}");
    }
}
