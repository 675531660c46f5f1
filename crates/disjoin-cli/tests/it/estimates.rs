//! Reconstruct and query, from the outside: what a release says about its original, and what it must not be asked.

use std::collections::{BTreeSet, HashSet};
use std::io::Write;
use std::process::Stdio;

use crate::common::{Bench, text};
use rand::RngExt;
use rand::SeedableRng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

const RECORDS: usize = 600;

/// A package `out` of baskets of numbers, from `x.dat`.
fn of_quest() -> Bench {
    let bench = Bench::new();
    let size = ["--records", "600", "--items", "60", "--mean-length", "4", "--patterns", "30", "--seed", "3"];
    bench.good(&[&["generate", "quest"], &size[..], &["-o", "x.dat"]].concat());
    bench.good(&["protect", "x.dat", "-k", "3", "-o", "out"]);
    bench
}

/// A package `out` of diagnoses, which are words with blanks, from `x.jsonl`.
fn of_hospital() -> Bench {
    let bench = Bench::new();
    bench.good(&["generate", "hospital", "--patients", "600", "--format", "jsonl", "-o", "x.jsonl"]);
    bench.good(&["protect", "x.jsonl", "-k", "3", "-o", "out"]);
    bench
}

fn original_of_quest(bench: &Bench) -> Vec<BTreeSet<String>> {
    let text = std::fs::read_to_string(bench.at("x.dat")).unwrap();
    let records: Vec<_> = text.lines().map(|line| line.split(' ').map(String::from).collect::<BTreeSet<_>>()).collect();
    // The readers leave empty lines out.
    records.into_iter().filter(|record| record.iter().any(|term| !term.is_empty())).collect()
}

fn original_of_hospital(bench: &Bench) -> Vec<BTreeSet<String>> {
    let text = std::fs::read_to_string(bench.at("x.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

/// What `disjoin query out` answers.
fn query(bench: &Bench, args: &[&str]) -> Vec<Value> {
    let (stdout, _) = bench.good(&[&["query", "out", "--json"], args].concat());
    let result = json(&stdout);
    assert!(result["records"].as_u64().unwrap() > 0);
    let itemsets = result["itemsets"].as_array().unwrap().clone();
    for itemset in &itemsets {
        let of = |key: &str| itemset[key].as_f64().unwrap();
        assert!(of("lower") <= of("expected") && of("expected") <= of("upper"), "{itemset}");
        assert!(of("deviation") >= 0.0 && itemset["lower"].is_u64() && itemset["upper"].is_u64(), "{itemset}");
    }
    itemsets
}

fn quoted(terms: &BTreeSet<String>) -> String {
    let terms: Vec<String> = terms.iter().map(|term| format!("\"{}\"", term.replace('"', "\"\""))).collect();
    terms.join(", ")
}

fn bytes(bench: &Bench, name: &str) -> Vec<u8> {
    std::fs::read(bench.at(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

#[test]
fn reconstruct_writes_as_many_datasets_as_asked() {
    let bench = of_quest();
    let (stdout, stderr) = bench.good(&["reconstruct", "out", "-n", "3", "-o", "maybe"]);
    assert_eq!(stdout, "");
    assert!(stderr.contains("wrote 3 datasets of 600 records to maybe"), "{stderr}");
    let terms: BTreeSet<String> = original_of_quest(&bench).into_iter().flatten().collect();
    for i in 1..=3 {
        let drawn = text(&bytes(&bench, &format!("maybe/reconstruction-{i}.dat")));
        assert_eq!(drawn.lines().count(), RECORDS);
        let drawn: BTreeSet<String> = drawn.split_ascii_whitespace().map(String::from).collect();
        assert_eq!(drawn, terms);
    }
    assert_eq!(std::fs::read_dir(bench.at("maybe")).unwrap().count(), 3);
    assert_ne!(bytes(&bench, "maybe/reconstruction-1.dat"), bytes(&bench, "maybe/reconstruction-2.dat"));
    // The release folder and its package are the same; so are the first files if there are more, but for their names.
    bench.good(&["reconstruct", "out/release", "-n", "10", "-o", "more", "--quiet"]);
    for i in 1..=3 {
        let (few, many) = (format!("maybe/reconstruction-{i}.dat"), format!("more/reconstruction-{i:02}.dat"));
        assert_eq!(bytes(&bench, &few), bytes(&bench, &many));
    }
    assert!(bench.at("more/reconstruction-10.dat").is_file());
}

#[test]
fn reconstruct_depends_on_the_seed_and_on_nothing_else() {
    let bench = of_hospital();
    let draw = |folder: &str, flags: &[&str]| {
        bench.good(&[&["reconstruct", "out", "-n", "2", "--to", "jsonl", "-o", folder], flags].concat());
        [1, 2].map(|i| bytes(&bench, &format!("{folder}/reconstruction-{i}.jsonl")))
    };
    let first = draw("a", &["--threads", "1"]);
    assert!(draw("b", &["--threads", "2"]) == first);
    assert!(draw("c", &["--threads", "2", "--seed", "1"]) == first);
    let other = draw("d", &["--seed", "2"]);
    assert!(other[0] != first[0] && other[1] != first[1]);
    // Stored in another way it is still the same release.
    bench.good(&["convert", "out", "columns", "--to", "parquet"]);
    bench.good(&["reconstruct", "columns", "-n", "2", "--to", "jsonl", "-o", "e"]);
    assert!(bytes(&bench, "e/reconstruction-2.jsonl") == first[1]);
}

/// What is drawn fits the release, so the bounds hold for it as for the original.
#[test]
fn reconstructions_are_within_the_bounds() {
    let bench = of_hospital();
    bench.good(&["reconstruct", "out", "--to", "jsonl", "-o", "maybe", "--multiplicity", "uniform"]);
    let drawn = text(&bytes(&bench, "maybe/reconstruction-1.jsonl"));
    let drawn: Vec<BTreeSet<String>> = drawn.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    within_bounds(&bench, &drawn, 5);
}

#[test]
fn reconstruct_does_not_overwrite() {
    let bench = of_quest();
    std::fs::create_dir(bench.at("maybe")).unwrap();
    bench.file("maybe/reconstruction-2.dat", "mine");
    let stderr = bench.bad(&["reconstruct", "out", "-n", "3", "-o", "maybe"]);
    assert!(stderr.contains("maybe/reconstruction-2.dat: exists already") && stderr.contains("--force"), "{stderr}");
    assert_eq!(bytes(&bench, "maybe/reconstruction-2.dat"), b"mine");
    assert!(!bench.at("maybe/reconstruction-1.dat").exists());
    bench.good(&["reconstruct", "out", "-n", "3", "-o", "maybe", "--force"]);
    assert_ne!(bytes(&bench, "maybe/reconstruction-2.dat"), b"mine");
    let stderr = bench.bad(&["reconstruct", "out", "-o", "x.dat"]);
    assert!(stderr.contains("x.dat: is a file"), "{stderr}");
    assert!(bench.bad(&["reconstruct", "out", "-o", "absent/maybe"]).contains("absent/maybe: cannot make the folder"));
}

#[test]
fn reconstruct_writes_to_stdout() {
    let bench = of_quest();
    let (stdout, stderr) = bench.good(&["reconstruct", "out", "--seed", "7"]);
    assert_eq!(stdout.lines().count(), RECORDS);
    assert!(stderr.contains("drawing"), "{stderr}");
    assert_eq!(
        bench.good(&["reconstruct", "out", "--seed", "7", "-o", "-", "--quiet"]),
        (stdout.clone(), String::new())
    );
    bench.good(&["reconstruct", "out", "--seed", "7", "-o", "maybe"]);
    assert_eq!(bytes(&bench, "maybe/reconstruction-1.dat"), stdout.as_bytes());
    assert!(bench.bad(&["reconstruct", "out", "-n", "2"]).contains("--out: several datasets need a folder"));
    assert!(bench.bad(&["reconstruct", "out", "-n", "2", "-o", "-"]).contains("--out"));
    assert!(bench.bad(&["reconstruct", "out", "--json"]).contains("--json: the data and the result"));
    assert!(bench.bad(&["reconstruct", "out", "-n", "0", "-o", "maybe2"]).contains("-n"));
}

#[test]
fn reconstruct_counts_records_that_got_nothing() {
    let bench = of_hospital();
    let flags = ["-n", "2", "--to", "jsonl", "--seed", "5", "--json"];
    let (stdout, stderr) = bench.good(&[&["reconstruct", "out", "-o", "full"], &flags[..]].concat());
    let files = json!(["full/reconstruction-1.jsonl", "full/reconstruction-2.jsonl"]);
    assert_eq!(json(&stdout), json!({ "files": files, "records": 600, "empty": [0, 0], "seed": 5 }));
    assert!(!stderr.contains("left out"), "{stderr}");
    let (stdout, stderr) = bench.good(&[&["reconstruct", "out", "-o", "some", "--allow-empty"], &flags[..]].concat());
    let result = json(&stdout);
    let empty: Vec<u64> = result["empty"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
    assert!(empty.iter().all(|&n| n > 0), "{stdout}");
    for (file, empty) in ["some/reconstruction-1.jsonl", "some/reconstruction-2.jsonl"].iter().zip(&empty) {
        assert_eq!(text(&bytes(&bench, file)).lines().count() as u64 + empty, 600);
    }
    assert!(
        stderr.contains(&format!("{} records that got no term were left out", empty.iter().sum::<u64>())),
        "{stderr}"
    );
}

#[test]
fn reconstruct_writes_every_format() {
    let bench = of_quest();
    for (format, name) in [
        ("basket", "reconstruction-1.dat"),
        ("csv", "reconstruction-1.csv"),
        ("jsonl", "reconstruction-1.jsonl"),
        ("spmf", "reconstruction-1.spmf"),
        ("long", "reconstruction-1.csv"),
        ("parquet", "reconstruction-1.parquet"),
    ] {
        bench.good(&["reconstruct", "out", "--to", format, "-o", format]);
        let (stdout, _) = bench.good(&["inspect", &format!("{format}/{name}"), "--format", format, "--json"]);
        assert_eq!(json(&stdout)["profile"]["records"], RECORDS, "{format}");
    }
    assert!(bench.bad(&["reconstruct", "out", "--to", "excel", "-o", "excel"]).contains("excel"));
}

#[test]
fn terms_that_do_not_fit_into_a_line_need_another_format() {
    let bench = Bench::new();
    bench.file("x.jsonl", "[\"zebra\\nstripes\", \"zebra, plain\"]\n".repeat(9));
    bench.good(&["protect", "x.jsonl", "-k", "3", "-o", "out"]);
    let stderr = bench.bad(&["reconstruct", "out", "-o", "maybe"]);
    assert!(stderr.contains("write jsonl or parquet") && !stderr.contains("zebra"), "{stderr}");
    bench.good(&["reconstruct", "out", "-o", "maybe", "--to", "jsonl"]);
    let (stdout, _) = bench.good(&["query", "out", "--top", "3"]);
    assert!(stdout.contains("\"zebra, plain\"") && stdout.contains("zebra\\u{a}stripes"), "{stdout}");
    assert_eq!(query(&bench, &["\"zebra, plain\""])[0]["upper"], 9);
}

#[test]
fn query_answers_in_the_order_of_the_questions() {
    let bench = of_quest();
    let original = original_of_quest(&bench);
    let terms: Vec<String> = original.iter().flatten().cloned().collect::<BTreeSet<_>>().into_iter().collect();
    let (a, b) = (&terms[1], &terms[0]);
    let pair = format!("{a},  {b},{a}");
    let answers = query(&bench, &[a, b, &pair]);
    assert_eq!(
        answers.iter().map(|answer| answer["terms"].clone()).collect::<Vec<_>>(),
        [json!([a]), json!([b]), json!([a, b])]
    );
    assert!(answers.iter().all(|answer| answer["unknown_terms"] == 0));
    let keys: Vec<&String> = answers[0].as_object().unwrap().keys().collect();
    let expected: HashSet<&str> = ["terms", "lower", "upper", "expected", "deviation", "unknown_terms"].into();
    assert_eq!(keys.iter().map(|key| key.as_str()).collect::<HashSet<_>>(), expected);
    let (stdout, _) = bench.good(&["query", "out/release", &pair]);
    assert!(stdout.starts_with("Of 600 people"), "{stdout}");
    let row: Vec<&str> = stdout.lines().last().unwrap().split_whitespace().collect();
    let of = |key: &str| answers[2][key].as_f64().unwrap();
    let decimal = |key: &str| format!("{:.1}", (of(key) * 10.0).round() / 10.0);
    let lower = of("lower").to_string();
    let upper = of("upper").to_string();
    let comma = format!("{a},");
    assert_eq!(row, [&comma, b, &lower, &decimal("expected"), &decimal("deviation"), &upper], "{stdout}");
    // An assumption changes the expectation at most.
    for multiplicity in ["uniform", "half"] {
        let other = query(&bench, &[&pair, "--multiplicity", multiplicity]);
        assert_eq!((&other[0]["lower"], &other[0]["upper"]), (&answers[2]["lower"], &answers[2]["upper"]));
    }
}

#[test]
fn query_reads_files_and_standard_input() {
    let bench = of_quest();
    let original = original_of_quest(&bench);
    let mut itemsets = original.iter().take(20);
    let mut lines: Vec<String> = itemsets.by_ref().map(quoted).collect();
    let expected = query(&bench, &lines.iter().map(String::as_str).collect::<Vec<_>>());
    lines.insert(5, String::new());
    lines.insert(9, String::from("  "));
    bench.file("itemsets.txt", format!("\u{feff}{}\r\n", lines.join("\r\n")));
    assert_eq!(query(&bench, &["--file", "itemsets.txt"]), expected);
    let mut command = bench.command(&["query", "out", "--file", "-", "--json"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(lines.join("\n").as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(json(&text(&output.stdout))["itemsets"], Value::from(expected));

    bench.file("bad.txt", "1\n\n2, \"zebra\n");
    let stderr = bench.bad(&["query", "out", "--file", "bad.txt"]);
    assert!(stderr.contains("bad.txt:3: a quote is not closed") && !stderr.contains("zebra"), "{stderr}");
    bench.file("bad.txt", "1\n , ,\n");
    assert!(bench.bad(&["query", "out", "--file", "bad.txt"]).contains("bad.txt:2: has no term"));
    bench.file("bad.txt", "\n\n");
    assert!(bench.bad(&["query", "out", "--file", "bad.txt"]).contains("bad.txt: holds no itemset"));
    bench.file("bad.txt", b"\xff\n");
    assert!(bench.bad(&["query", "out", "--file", "bad.txt"]).contains("bad.txt: is not valid UTF-8"));
    assert!(bench.bad(&["query", "out", "--file", "absent.txt"]).contains("absent.txt"));
}

#[test]
fn query_finds_the_greatest_expectations() {
    let bench = of_hospital();
    let pairs = query(&bench, &["--top", "8", "--size", "2"]);
    assert_eq!(pairs.len(), 8);
    assert!(pairs.iter().all(|answer| answer["terms"].as_array().unwrap().len() == 2));
    let expected: Vec<f64> = pairs.iter().map(|answer| answer["expected"].as_f64().unwrap()).collect();
    assert!(expected.is_sorted_by(|a, b| a >= b), "{expected:?}");
    // Asked for, they get the same answer.
    let terms = |answer: &Value| serde_json::from_value::<BTreeSet<String>>(answer["terms"].clone()).unwrap();
    for pair in &pairs {
        let asked = query(&bench, &[&quoted(&terms(pair))]);
        assert_eq!((&asked[0]["expected"], &asked[0]["upper"]), (&pair["expected"], &pair["upper"]));
    }
    let any = query(&bench, &["--top", "5"]);
    assert!(any.len() == 5 && any[0]["expected"].as_f64() >= pairs[0]["expected"].as_f64());
    let bounded = query(&bench, &["--top", "8", "--min-size", "2", "--max-size", "2", "--threads", "1"]);
    assert_eq!(bounded, pairs);
    let (stdout, stderr) = bench.good(&["query", "out", "--top", "3", "--size", "200"]);
    assert_eq!(stdout, "There is no such itemset.\n", "{stderr}");
    assert_eq!(query(&bench, &["--top", "3", "--size", "200"]).len(), 0);
}

/// Asks for random itemsets, and compares with their supports in a dataset that must be possible.
fn within_bounds(bench: &Bench, records: &[BTreeSet<String>], seed: u64) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let terms: Vec<&String> = records.iter().flatten().collect::<BTreeSet<_>>().into_iter().collect();
    let itemsets: Vec<BTreeSet<String>> = (0..50)
        .map(|i| {
            let size = rng.random_range(1..=4_usize);
            // Of one person, so that somebody has them all, or of any.
            let from: Vec<&String> =
                if i % 3 > 0 { records.choose(&mut rng).unwrap().iter().collect() } else { terms.clone() };
            from.sample(&mut rng, size.min(from.len())).map(|term| term.to_string()).collect()
        })
        .collect();
    let lines: Vec<String> = itemsets.iter().map(quoted).collect();
    bench.file("random.txt", lines.join("\n"));
    let answers = query(bench, &["--file", "random.txt"]);
    assert_eq!(answers.len(), itemsets.len());
    for (itemset, answer) in itemsets.iter().zip(&answers) {
        let support = records.iter().filter(|record| itemset.is_subset(record)).count() as u64;
        let (lower, upper) = (answer["lower"].as_u64().unwrap(), answer["upper"].as_u64().unwrap());
        assert!(lower <= support && support <= upper, "{itemset:?}: {support} records, {answer}");
    }
    // Bounds that say nothing would hold too.
    let says_something = |answer: &&Value| answer["lower"].as_u64().unwrap() > 0;
    assert!(answers.iter().filter(says_something).count() > 5);
}

#[test]
fn the_original_is_within_the_bounds() {
    let bench = of_quest();
    within_bounds(&bench, &original_of_quest(&bench), 1);
    let bench = of_hospital();
    within_bounds(&bench, &original_of_hospital(&bench), 2);
}

#[test]
fn nobody_has_a_term_that_the_release_does_not_have() {
    let bench = of_quest();
    let term = original_of_quest(&bench)[0].first().unwrap().clone();
    let (stdout, stderr) = bench.good(&["query", "out", &term, &format!("zebra, {term}"), "zebra, lion", "--json"]);
    let unknown = |n: u64| json!({ "lower": 0, "upper": 0, "expected": 0.0, "deviation": 0.0, "unknown_terms": n });
    let answers = &json(&stdout)["itemsets"];
    assert!(answers[0]["lower"].as_u64().unwrap() > 0 && answers[0]["unknown_terms"] == 0, "{stdout}");
    for (i, n) in [(1, 1), (2, 2)] {
        let mut answer = answers[i].as_object().unwrap().clone();
        assert_eq!(answer.remove("terms").unwrap()[0], "zebra");
        assert_eq!(Value::from(answer), unknown(n));
    }
    let warning = "warning: itemset 2: 1 of its terms is not in the release; nobody has it\n\
        warning: itemset 3: 2 of its terms are not in the release; nobody has it\n";
    assert!(stderr.ends_with(warning) && !stderr.contains("zebra"), "{stderr}");
    let (stdout, _) = bench.good(&["query", "out", "zebra"]);
    let row: Vec<&str> = stdout.lines().last().unwrap().split_whitespace().collect();
    assert_eq!(row, ["zebra", "0", "0.0", "0.0", "0"]);
    // Warnings do not flood the screen.
    bench.file("many.txt", "zebra\n".repeat(30));
    let (_, stderr) = bench.good(&["query", "out", "--file", "many.txt"]);
    assert_eq!(stderr.matches("warning:").count(), 11, "{stderr}");
    assert!(stderr.contains("20 more itemsets"), "{stderr}");
}

#[test]
fn exactly_one_source_of_itemsets() {
    let bench = of_quest();
    bench.file("itemsets.txt", "1\n");
    for args in [
        &[][..],
        &["1", "--top", "3"],
        &["1", "--file", "itemsets.txt"],
        &["--file", "itemsets.txt", "--top", "3"],
        &["1", "--size", "2"],
        &["--file", "itemsets.txt", "--max-size", "2"],
        &["--top", "0"],
        &["--top", "3", "--size", "0"],
        &["--top", "3", "--size", "2", "--max-size", "3"],
    ] {
        let stderr = bench.bad(&[&["query", "out"], args].concat());
        assert!(stderr.contains("Usage:") || stderr.contains("--help"), "{args:?}: {stderr}");
    }
    let stderr = bench.bad(&["query", "out", "--top", "3", "--min-size", "3", "--max-size", "2"]);
    assert!(stderr.contains("--min-size: is greater than the largest size"), "{stderr}");
    for (itemset, problem) in
        [("", "has no term"), (" , ", "has no term"), ("\"zebra", "not closed"), ("\"zebra\" x", "comma")]
    {
        let stderr = bench.bad(&["query", "out", "1", itemset]);
        assert!(
            stderr.contains("ITEMSET: number 2: ") && stderr.contains(problem) && !stderr.contains("zebra"),
            "{stderr}"
        );
    }
}

#[test]
fn damaged_releases_are_refused_without_their_terms() {
    let bench = Bench::new();
    bench.file("x.dat", (0..60).map(|i| format!("zebra{} zebra{}\n", i % 4, 4 + i % 7)).collect::<String>());
    bench.good(&["protect", "x.dat", "-k", "3", "-o", "out"]);
    let refused = |expected: &str| {
        for args in
            [&["query", "out", "zebra1"][..], &["query", "out", "--top", "2"], &["reconstruct", "out", "-o", "y"]]
        {
            let stderr = bench.bad(args);
            assert!(stderr.contains(expected), "{args:?}: {stderr}");
            assert!(!stderr.contains("zebra"), "{args:?}: {stderr}");
        }
    };
    let path = bench.at("out/release/data.jsonl");
    let whole = std::fs::read_to_string(&path).unwrap();
    let leaf = whole.find("\"record_chunks\"").unwrap();
    let start = whole[..leaf].rfind("\"size\":").unwrap();
    let size = |size: &str| format!("{}\"size\":{size},{}", &whole[..start], &whole[leaf..]);
    for (damaged, expected) in [
        (whole[..whole.len() / 2].to_owned(), "data.jsonl:"),
        (whole.replacen("\"terms\":[", "\"terms\":[7,", 1), "data.jsonl:2: "),
        (whole.replacen("\"count\":", "\"count\":\"zebra1\",\"x\":", 1), "data.jsonl:2: "),
        (whole.replacen("\"version\":1", "\"version\":9", 1), "data.jsonl:1: version 9"),
        (whole.replacen("\"records\":60", "\"records\":61", 1), "data.jsonl: the number of records is 61"),
        (size("1"), "data.jsonl:2: no dataset can have this cluster"),
        (size("100000"), "data.jsonl"),
        (whole.lines().take(1).map(|line| format!("{line}\n")).collect(), "data.jsonl: declares 60 records"),
    ] {
        assert_ne!(damaged, whole, "{expected}");
        std::fs::write(&path, &damaged).unwrap();
        refused(expected);
    }
    std::fs::remove_file(&path).unwrap();
    refused("holds neither data.jsonl nor data.parquet");
    std::fs::remove_dir_all(bench.at("out/release")).unwrap();
    refused("out: holds no claim.json");
    std::fs::remove_dir_all(bench.at("out")).unwrap();
    refused("out: cannot read the release");
}

#[test]
fn their_help_has_examples() {
    let bench = Bench::new();
    for verb in ["query", "reconstruct"] {
        for help in ["--help", "-h"] {
            let (stdout, _) = bench.good(&[verb, help]);
            assert!(stdout.contains(&format!("Examples:\n  disjoin {verb} ")), "{stdout}");
        }
    }
    let (stdout, _) = bench.good(&["query", "--help"]);
    assert!(["LOWER", "UPPER", "EXPECTED", "+/-"].iter().all(|word| stdout.contains(word)), "{stdout}");
    let (stdout, _) = bench.good(&["--help"]);
    assert!(stdout.contains("  disjoin query out") && stdout.contains("  disjoin reconstruct out"), "{stdout}");
}
