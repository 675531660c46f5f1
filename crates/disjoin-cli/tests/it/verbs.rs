//! Each verb does what its help says.

use std::io::{Read, Write};
use std::process::Stdio;

use crate::common::{Bench, baskets, text};

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

#[test]
fn protect_writes_a_package() {
    let bench = Bench::new();
    bench.file("x.dat", baskets(60));
    let (stdout, stderr) = bench.good(&["protect", "x.dat", "-k", "3", "-m", "2", "-o", "out"]);
    assert_eq!(stdout, "");
    assert!(stderr.contains("60 records") && stderr.contains("next: disjoin verify out"), "{stderr}");
    let claim = json(&std::fs::read_to_string(bench.at("out/release/claim.json")).unwrap());
    assert_eq!((claim["parameters"]["k"].as_u64(), claim["records"].as_u64()), (Some(3), Some(60)));
    assert_eq!(claim["promise"], "algorithm-aware");
    let custody = json(&std::fs::read_to_string(bench.at("out/custody/custody.json")).unwrap());
    assert_eq!(custody["input"]["file"], "x.dat");
    assert_eq!(custody["input"]["sha256"].as_str().unwrap().len(), 64);
    let map = std::fs::read_to_string(bench.at("out/custody/leaf_of.csv")).unwrap();
    assert_eq!(map.lines().count(), 61);
    // Nothing of the input's name or digest is published.
    let digest = custody["input"]["sha256"].as_str().unwrap();
    for name in ["claim.json", "data.jsonl"] {
        let published = std::fs::read_to_string(bench.at("out/release").join(name)).unwrap();
        assert!(!published.contains(digest) && !published.contains("x.dat"), "{name}");
    }
    let (stdout, stderr) = bench.good(&["protect", "x.dat", "-k", "3", "-o", "out", "--json", "--quiet"]);
    assert_eq!(stderr, "");
    let result = json(&stdout);
    assert_eq!((&result["replaced"], &result["records"]), (&true.into(), &60.into()));
}

#[test]
fn protect_knows_sensitive_terms_and_the_paper() {
    let bench = Bench::new();
    bench.file("x.dat", baskets(200));
    let flags = ["--sensitive", "1,2", "--l-diversity", "2", "--diversity-rule", "size", "--no-refine"];
    bench.good(&[&["protect", "x.dat", "-k", "3", "--max-cluster", "20", "-o", "out"], &flags[..]].concat());
    let claim = json(&std::fs::read_to_string(bench.at("out/release/claim.json")).unwrap());
    let expected = serde_json::json!({"terms": ["1", "2"], "l": 2, "rule": "size"});
    assert_eq!(claim["parameters"]["sensitive"], expected);
    assert_eq!(claim["parameters"]["refine"], false);
    let (_, stderr) = bench.good(&["protect", "x.dat", "--paper-literal", "-o", "literal"]);
    assert!(stderr.contains("warning: this release promises nothing"), "{stderr}");
}

#[test]
fn inspect_counts_who_is_at_risk() {
    let bench = Bench::new();
    bench.file("x.dat", "a b\na\na\nb\nb c\n");
    let (stdout, _) = bench.good(&["inspect", "x.dat", "-k", "2", "-m", "2"]);
    assert!(stdout.contains("at risk, in all") && stdout.contains("  40 %\n") && stdout.contains("##"), "{stdout}");
    let (stdout, _) = bench.good(&["inspect", "x.dat", "-k", "2", "-m", "2", "--json"]);
    let result = json(&stdout);
    assert_eq!(result["risk"]["by_size"], serde_json::json!([1, 1]));
    assert_eq!(result["profile"]["incidences"], 7);
}

#[test]
fn standard_input_is_a_file_like_others() {
    let bench = Bench::new();
    let mut command = bench.command(&["inspect", "-", "--json"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(baskets(30).as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(json(&text(&output.stdout))["input"]["records"], 30);
}

#[test]
fn a_broken_pipe_is_quiet() {
    let bench = Bench::new();
    let mut command = bench.command(&["generate", "quest", "--records", "200000", "--items", "1000"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut some = [0; 100];
    child.stdout.take().unwrap().read_exact(&mut some).unwrap();
    let output = child.wait_with_output().unwrap();
    let stderr = text(&output.stderr);
    assert!(!stderr.contains("error") && !stderr.contains("panicked"), "{stderr}");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn generate_writes_what_inspect_reads() {
    let bench = Bench::new();
    let quest = ["generate", "quest", "--records", "1000", "--items", "50", "--patterns", "20", "--mean-length", "5"];
    let more =
        ["--mean-pattern", "3", "--correlation", "0.3", "--confidence", "0.8", "--confidence-sd", "0.1", "--uniform"];
    let records = |name: &str| json(&bench.good(&["inspect", name, "--json"]).0)["profile"].clone();
    bench.good(&[&quest[..], &more, &["-o", "q.dat"]].concat());
    let profile = records("q.dat");
    assert_eq!(profile["records"], 1000);
    for (format, name) in [("jsonl", "q.jsonl"), ("parquet", "q.parquet"), ("long", "q.csv"), ("basket", "q.dat.gz")] {
        let (stdout, _) = bench.good(&[&quest[..], &more, &["--format", format, "--json", "-o", name]].concat());
        assert_eq!(json(&stdout)["records"], 1000);
        assert_eq!(records(name), profile, "{name}");
    }
    bench.good(&["generate", "quest", "--preset", "vldb94", "--records", "200", "--seed", "4", "-o", "v.dat"]);
    assert_eq!(records("v.dat")["records"], 200);
    assert!(bench.bad(&["generate", "quest", "--records", "5", "--json"]).contains("--json"));

    bench.good(&["generate", "hospital", "--patients", "300", "--hierarchy", "h.csv", "-o", "p.csv"]);
    let (stdout, _) = bench.good(&["inspect", "p.csv", "--column", "diagnoses", "--json"]);
    assert_eq!(json(&stdout)["profile"]["records"], 300);
    assert!(std::fs::read_to_string(bench.at("h.csv")).unwrap().contains(";*"));
    let (stdout, _) = bench.good(&["generate", "hospital", "--patients", "20", "--format", "jsonl"]);
    assert_eq!(stdout.lines().filter(|line| line.starts_with('[')).count(), 20, "{stdout}");
}

#[test]
fn convert_keeps_the_records() {
    let bench = Bench::new();
    bench.file("x.dat", baskets(100));
    let profile = |name: &str| json(&bench.good(&["inspect", name, "--json"]).0)["profile"].clone();
    let expected = profile("x.dat");
    for name in ["y.jsonl", "y.parquet", "y.jsonl.zst", "y.dat.gz", "y.spmf"] {
        bench.good(&["convert", "x.dat", name]);
        assert_eq!(profile(name), expected, "{name}");
    }
    let (stdout, _) = bench.good(&["convert", "x.dat", "-", "--to", "long", "--quiet"]);
    assert_eq!(stdout.lines().count(), 301);
    let (stdout, _) = bench.good(&["convert", "x.dat", "z.jsonl", "--json"]);
    assert_eq!(json(&stdout)["format"], "jsonl");
}

#[test]
fn convert_copies_a_release() {
    let bench = Bench::new();
    bench.file("x.dat", baskets(60));
    bench.good(&["protect", "x.dat", "-k", "3", "-o", "out"]);
    bench.good(&["convert", "out", "copy", "--to", "jsonl"]);
    for name in ["release/claim.json", "release/data.jsonl", "custody/custody.json", "custody/leaf_of.csv"] {
        let read = |folder: &str| std::fs::read(bench.at(folder).join(name)).unwrap();
        assert!(read("out") == read("copy"), "{name}");
    }
    assert!(bench.bad(&["convert", "out", "copy", "--to", "jsonl"]).contains("exists already"));
    bench.good(&["convert", "out/release", "copy", "--to", "jsonl", "--force"]);
    assert!(bench.bad(&["convert", "out", "table", "--to", "csv"]).contains("--to"));
}

#[test]
fn flags_take_the_names_of_recipes() {
    let bench = Bench::new();
    let told = |flag: &str| text(&bench.run(&["protect", "x.dat", flag, "?"]).stderr);
    assert!(told("--grouping").contains("[possible values: paper, layered, guarded]"), "{}", told("--grouping"));
    let methods: Vec<&str> = disjoin::recipe::Method::ALL.iter().map(|entry| entry.name).collect();
    let (all, of_methods) = (format!("[possible values: {}]", methods.join(", ")), told("--method"));
    assert!(of_methods.split_whitespace().collect::<Vec<_>>().join(" ").contains(&all), "{of_methods}");
}

#[test]
fn every_help_has_examples() {
    let bench = Bench::new();
    let verbs = ["protect", "verify", "inspect", "generate", "convert", "demo", "generate quest", "generate hospital"];
    for verb in verbs {
        for help in ["--help", "-h"] {
            let words: Vec<&str> = verb.split(' ').chain([help]).collect();
            let (stdout, _) = bench.good(&words);
            assert!(stdout.contains("Examples:\n  disjoin ") || stdout.contains("Examples:\n  zcat "), "{stdout}");
            assert!(stdout.contains(&format!("  disjoin {verb}")), "{stdout}");
            assert!(
                stdout.contains("--json") && stdout.contains("--threads") && stdout.contains("--quiet"),
                "{stdout}"
            );
        }
    }
    let (stdout, _) = bench.good(&["--help"]);
    assert!(stdout.contains("Exit codes:"), "{stdout}");
    assert!(bench.good(&["--version"]).0.starts_with("disjoin "));
}

#[test]
fn explain_says_where_terms_are_and_what_would_help() {
    let bench = crate::common::packaged(crate::common::BREACHED);
    let (stdout, _) = bench.good(&["explain", "out"]);
    assert!(
        stdout.starts_with("5 (62.5 %) of 8 terms have counts") && stdout.contains("a smaller k (now 3)"),
        "{stdout}"
    );
    let (stdout, _) = bench.good(&["explain", "out", "nausea"]);
    assert!(stdout.starts_with("only listed in 1 cluster\n") && stdout.contains("Its count is lost"), "{stdout}");
    let (stdout, _) = bench.good(&["explain", "out", "cancer"]);
    assert!(stdout.contains("counted in 1 cluster (4 people)") && stdout.contains("Nothing is lost"), "{stdout}");
    let (stdout, _) = bench.good(&["explain", "out", "cancer", "surgery"]);
    assert!(stdout.contains("Cut apart in 1 cluster"), "{stdout}");
    let (stdout, _) = bench.good(&["explain", "out", "cancer", "treatment", "--json"]);
    assert_eq!(json(&stdout)["link"]["link"]["support"], 4);
    let error = bench.bad(&["explain", "out", "secret"]);
    assert!(error.contains("nowhere in the release") && !error.contains("secret"), "{error}");
}
