//! Repair, from the outside: what it writes, prints and refuses.

use std::fs;

use crate::common::{BREACHED, Bench, packaged, release_of, text};
use serde_json::Value;

const ORIGINAL: [&str; 4] = ["--original", "x.dat", "--separator", ","];

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

#[test]
fn a_breach_is_repaired_and_the_custody_follows() {
    let bench = packaged(BREACHED);
    assert_eq!(bench.run(&["attack", "out"]).status.code(), Some(1));
    let (stdout, stderr) = bench.good(&["repair", "out", "-o", "repaired"]);
    assert!(stdout.starts_with("3 terms moved to the term chunk in 1 of 1 cluster: "), "{stdout}");
    assert!(stderr.contains("next: disjoin verify repaired"), "{stderr}");
    assert!(!stdout.contains("surgery") && !stderr.contains("surgery"), "{stdout}{stderr}");
    bench.good(&["attack", "repaired"]);
    let (stdout, _) = bench.good(&["verify", "repaired", "--json"]);
    assert_eq!(json(&stdout)["promise"], "algorithm-aware");
    let (stdout, _) = bench.good(&[&["verify", "repaired", "--json"], &ORIGINAL[..]].concat());
    assert_eq!(json(&stdout)["against_custody"], true);
    let custody = json(&fs::read_to_string(bench.at("repaired/custody/custody.json")).unwrap());
    assert_eq!(custody["promise"], "algorithm-aware");
}

#[test]
fn many_clusters_are_repaired_in_any_encoding_by_any_number_of_threads() {
    let record = |i: usize| format!("z{},z{},z{},z{}\n", i % 7, 7 + (i + i / 9) % 11, 18 + i % 13, 31 + i % 5);
    let data: String = (0..400).map(record).collect();
    let bench = packaged(&data);
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
fn a_release_without_custody_is_repaired_alone() {
    let bench = packaged(BREACHED);
    fs::remove_dir_all(bench.at("out/custody")).unwrap();
    let (stdout, stderr) = bench.good(&["repair", "out/release", "-o", "repaired", "--json", "--quiet"]);
    assert_eq!(stderr, "");
    let told = json(&stdout);
    assert_eq!(
        (&told["promise"], &told["custody"], &told["records"]),
        (&"algorithm-aware".into(), &Value::Null, &6.into())
    );
    assert_eq!((&told["stats"]["clusters"], &told["stats"]["clusters_changed"]), (&1.into(), &1.into()));
    assert!(told["stats"]["terms_set_aside"].as_u64() > Some(0));
    bench.good(&["verify", "repaired"]);
    // Repaired once, it is as it should be.
    let (stdout, _) = bench.good(&["repair", "repaired", "-o", "again"]);
    assert_eq!(stdout, "nothing was disclosed in 1 cluster\n");
    assert_eq!(release_of(&bench.at("again")), release_of(&bench.at("repaired")));
}

#[test]
fn nothing_is_overwritten_or_written_in_vain() {
    let bench = packaged(BREACHED);
    assert!(bench.bad(&["repair", "out", "-o", "out"]).contains("exists already"));
    bench.good(&["repair", "out", "-o", "out", "--force"]);
    bench.good(&[&["verify", "out"], &ORIGINAL[..]].concat());
    let path = bench.at("out/release/data.jsonl");
    let data = fs::read_to_string(&path).unwrap();
    fs::write(&path, data.replacen("\"size\":6", "\"size\":2", 1)).unwrap();
    let stderr = bench.bad(&["repair", "out", "-o", "repaired"]);
    assert!(stderr.contains("does not repair") && stderr.contains("hint: disjoin verify"), "{stderr}");
    assert!(bench.bad(&["repair", "absent", "-o", "repaired"]).contains("absent: cannot read the release"));
    let output = bench.run(&["repair", "out"]);
    assert!(output.status.code() == Some(2) && text(&output.stderr).contains("--out"));
}

/// A package `out` of generalised sets in which two topics were mixed, and a corpus of what words mean.
fn mixed() -> Bench {
    let bench = Bench::new();
    let texts: String = (0..60)
        .map(|i| {
            let topic = ["a", "b", "c"][i % 3];
            let words: Vec<String> = (0..8).map(|j| format!("{topic}w{}", (i * 7 + j * j) % 20)).collect();
            words.join(" ") + "\n\n"
        })
        .collect();
    bench.file("texts.txt", texts);
    bench.good(&["corpus", "build", "texts.txt", "-o", "words.corpus"]);
    let record = |i: usize| {
        let topic = ["a", "b", "c"][i % 3];
        let words: Vec<String> = (0..6).map(|j| format!("\"{topic}w{}\"", (i * 5 + j * j * 3 + j) % 20)).collect();
        format!("[{}]\n", words.join(","))
    };
    bench.file("notes.jsonl", (0..90).map(record).collect::<String>());
    bench.good(&["policy", "random", "notes.jsonl", "--share", "0.3", "-o", "privacy.txt"]);
    bench.good(&["policy", "all", "notes.jsonl", "-o", "utility.txt"]);
    let policy = ["--privacy", "privacy.txt", "--utility", "utility.txt"];
    bench.good(&[&["protect", "notes.jsonl", "--method", "coat", "-k", "14", "-o", "out"], &policy[..]].concat());
    bench
}

const WORDS: [&str; 8] =
    ["--original", "notes.jsonl", "--corpus", "words.corpus", "--eliminate", "threshold,redistribution", "--seed", "1"];

#[test]
fn generalised_sets_are_grouped_anew() {
    let bench = mixed();
    assert_eq!(bench.run(&[&["attack", "out", "--max-advantage", "0"], &WORDS[..]].concat()).status.code(), Some(1));
    let output = bench.run(&[&["repair", "out", "-o", "repaired", "--json", "--threads", "1"], &WORDS[..]].concat());
    let told = json(&text(&output.stdout));
    let stats = &told["stats"];
    let is_repaired = stats["ended"] == "baseline";
    assert_eq!(output.status.code(), Some(if is_repaired { 0 } else { 1 }), "{told}");
    assert!(stats["exchanges"].as_u64() > Some(0), "{told}");
    assert!(stats["ncp"][1].as_f64().unwrap() <= 1.5 * stats["ncp"][0].as_f64().unwrap());
    // The attack agrees, and so does the verifier.
    let code = bench.run(&[&["attack", "repaired", "--max-advantage", "0"], &WORDS[..]].concat()).status.code();
    assert_eq!(code, Some(if is_repaired { 0 } else { 1 }));
    bench.good(&["verify", "repaired", "--original", "notes.jsonl"]);
    let custody = json(&fs::read_to_string(bench.at("repaired/custody/custody.json")).unwrap());
    assert_eq!(custody["repaired"]["exchanges"], stats["exchanges"]);
    bench.run(&[&["repair", "out", "-o", "again", "--threads", "2"], &WORDS[..]].concat());
    let data = |package: &str| fs::read(bench.at(package).join("release/transactions.jsonl")).unwrap();
    assert_eq!(data("repaired"), data("again"));
}

#[test]
fn several_adversaries_are_told_apart() {
    let bench = mixed();
    // Somebody who knows words of one topic only.
    let mut counts = String::from("first,second,count\n,,100\n");
    for i in 0..20 {
        counts += &format!("aw{i},,20\n");
        (0..i).for_each(|j| counts += &format!("aw{i},aw{j},{}\n", 1 + (i + j) % 10));
    }
    bench.file("counts.csv", counts);
    let both = [&WORDS[..], &["--counts", "counts.csv"]].concat();
    let output = bench.run(&[&["repair", "out", "-o", "repaired", "--json"], &both[..]].concat());
    let told = json(&text(&output.stdout));
    assert_eq!(told["adversaries"], serde_json::json!(["a corpus", "a table of counts"]));
    let attacks = told["stats"]["attacks"].as_array().unwrap();
    let whose: Vec<u64> = attacks.iter().map(|of| of["adversary"].as_u64().unwrap()).collect();
    assert_eq!(whose, [0, 0, 1, 1]);
    // Each fares as he does alone.
    for (number, flags) in [(0, ["--corpus", "words.corpus"]), (2, ["--counts", "counts.csv"])] {
        let args = ["--original", "notes.jsonl", "--eliminate", "threshold,redistribution", "--seed", "1", "--json"];
        let alone = bench.run(&[&["attack", "repaired"], &args[..], &flags[..]].concat());
        assert_eq!(json(&text(&alone.stdout))["attacks"][0], attacks[number]["after"]);
    }
    let shown = text(&bench.run(&[&["repair", "out", "-o", "shown"], &both[..]].concat()).stdout);
    assert!(shown.contains("with a corpus") && shown.contains("with a table of counts"), "{shown}");
    // An attack is that of one of them.
    assert!(
        bench.bad(&[&["attack", "out"], &both[..]].concat()).contains("--counts: is knowledge for semantic attacks")
    );
}

#[test]
fn what_regrouping_needs_is_asked_for() {
    let bench = mixed();
    let original = ["--original", "notes.jsonl"];
    for (flags, problem) in [
        (&[][..], "--original"),
        (&original[..], "--corpus"),
        (&[&original[..], &["--corpus", "words.corpus", "--limit", "0.5"]].concat()[..], "--limit"),
        (&[&original[..], &["--corpus", "absent.corpus"]].concat()[..], "absent.corpus"),
        (&["--original", "texts.txt", "--corpus", "words.corpus"][..], "texts.txt"),
    ] {
        let stderr = bench.bad(&[&["repair", "out", "-o", "repaired"], flags].concat());
        assert!(stderr.contains(problem), "{problem}: {stderr}");
        assert!(!bench.at("repaired").exists());
    }
    // Who knows nothing finds nothing: that is not a repaired release.
    bench.file("others.csv", "first,second,count\n,,10\nx,,3\ny,,3\nx,y,2\n");
    let stderr = bench.bad(&[&["repair", "out", "-o", "repaired", "--counts", "others.csv"], &original[..]].concat());
    assert!(stderr.contains("no group can be attacked") && !bench.at("repaired").exists(), "{stderr}");

    let bench = packaged(BREACHED);
    let stderr = bench.bad(&["repair", "out", "-o", "repaired", "--original", "x.dat"]);
    assert!(stderr.contains("is for recoded transactions"), "{stderr}");
}

#[test]
fn its_help_has_examples() {
    let bench = Bench::new();
    for help in ["--help", "-h"] {
        let (stdout, _) = bench.good(&["repair", help]);
        assert!(stdout.contains("Examples:\n  disjoin repair "), "{stdout}");
    }
}
