//! `disjoin hierarchy`, from the outside: what is built is checked and converted, and what is wrong is told with its line.

use std::fs;

use crate::common::Bench;
use serde_json::Value;

const VISITS: &str = "250.01 272.4\n250.01 250.02 401.9\n272.4 401.9\n250.02 401.1\n";

#[test]
fn what_is_built_is_checked_and_converted() {
    let bench = Bench::new();
    bench.file("visits.dat", VISITS);
    for by in ["fanout", "consecutive", "support", "cooccurrence"] {
        for style in ["arx", "amnesia"] {
            let build = ["hierarchy", "build", "visits.dat", "--by", by, "--fanout", "2", "--style", style];
            let (stdout, _) = bench.good(&[&build[..], &["-o", "h", "--force", "--json"]].concat());
            let told: Value = serde_json::from_str(&stdout).unwrap();
            assert_eq!((&told["terms"], &told["roots"]), (&5.into(), &1.into()), "{stdout}");
            assert_eq!((&told["by"], &told["style"], &told["file"]), (&by.into(), &style.into(), &"h".into()));
            let (stdout, _) = bench.good(&["hierarchy", "check", "h", "--data", "visits.dat"]);
            assert!(stdout.starts_with("5 terms, ") && stdout.contains("1 root;"), "{stdout}");
            let (with_data, _) = bench.good(&["hierarchy", "check", "h", "--data", "visits.dat", "--json"]);
            let (without, _) = bench.good(&["hierarchy", "check", "h", "--json"]);
            assert_eq!(with_data, without);
        }
    }
    let (codes, _) = bench.good(&["hierarchy", "build", "visits.dat", "--by", "prefix", "--quiet"]);
    assert!(codes.contains("250.01;250.0*;240-279;*\n") && codes.contains("272.4;240-279;*;*\n"), "{codes}");
    bench.file("codes.csv", &codes);
    bench.good(&["hierarchy", "convert", "codes.csv", "codes.txt", "--style", "amnesia"]);
    let text = fs::read_to_string(bench.at("codes.txt")).unwrap();
    assert!(text.contains("\n250.0* has 250.01 250.02\n"), "{text}");
    let (back, _) = bench.good(&["hierarchy", "convert", "codes.txt", "-", "--style", "arx"]);
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort_unstable();
        lines
    };
    assert_eq!(sorted(&back), sorted(&codes));
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    let bench = Bench::new();
    bench.file("visits.dat", "a b\nb c\n");
    let told = |name: &str, content: &str, words: &[&str]| {
        bench.file(name, content);
        let stderr = bench.bad(&["hierarchy", "check", name, "--data", "visits.dat"]);
        assert!(words.iter().all(|word| stderr.contains(word)), "{content:?}: {stderr}");
    };
    told("missing.csv", "a;x;*\nb;x;*\n", &["missing.csv", "one term of the data is not in the hierarchy"]);
    told("cycle.csv", "a;x;y\nb;y;x\nc;x;y\n", &["cycle.csv:2", "below itself"]);
    told("parents.csv", "a;x;*\nb;x;*\nc;y;*\na;y;*\n", &["parents.csv:4", "two different labels"]);
    told("roots.csv", "a;x;*\nb;x;*\nc;y;all\n", &["roots.csv:3", "two roots"]);
    told("roots.txt", "x has a b\ny has c\n", &["roots.txt:2", "two roots"]);
    told("empty.csv", "", &["empty.csv", "is empty"]);
    bench.good(&["hierarchy", "check", "roots.csv", "--data", "visits.dat", "--several-roots"]);
    bench.bad(&["hierarchy", "check", "none.csv"]);
    bench.bad(&["hierarchy", "build", "visits.dat", "--fanout", "1"]);
    bench.bad(&["hierarchy", "build", "visits.dat", "--by", "prefix", "--fanout", "5"]);
    bench.bad(&["hierarchy", "build", "visits.dat", "--json"]);
    bench.bad(&["hierarchy", "build", "visits.dat", "-o", "roots.csv"]);
    bench.bad(&["hierarchy", "convert", "roots.csv", "missing.csv", "--style", "arx"]);
}
