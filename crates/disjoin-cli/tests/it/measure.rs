//! Measure, from the outside: what it prints, draws and refuses.

use std::collections::BTreeSet;

use crate::common::Bench;
use serde_json::Value;

/// A package `out` of words, from `x.dat`: more than 100 of them, so that there are two windows.
fn packaged() -> Bench {
    let bench = Bench::new();
    let record = |i: usize| format!("zebra{} zebra{} zebra{}\n", i % 7, 7 + (i + i / 9) % 31, 38 + i % 83);
    bench.file("x.dat", (0..400).map(record).collect::<String>());
    bench.good(&["protect", "x.dat", "-k", "3", "-o", "out"]);
    bench
}

fn measure(bench: &Bench, flags: &[&str]) -> String {
    let (stdout, _) = bench.good(&[&["measure", "out", "--original", "x.dat"], flags].concat());
    stdout
}

fn json(bench: &Bench, flags: &[&str]) -> Value {
    let stdout = measure(bench, &[&["--json"], flags].concat());
    serde_json::from_str(&stdout).unwrap_or_else(|e| panic!("{e}: {stdout}"))
}

fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

/// What is lost of itemsets up to m and above is what is lost of all.
fn lengths_add_up(top: &Value) {
    let of = |length: &str, what: &str| top[length][what].as_f64().unwrap();
    let lost =
        |what: &str| of("up_to_m", "itemsets") * of("up_to_m", what) + of("above_m", "itemsets") * of("above_m", what);
    let all = of("up_to_m", "itemsets") + of("above_m", "itemsets");
    assert!((lost("tkd") - top["tkd"]["all"].as_f64().unwrap() * all).abs() < 1e-6, "{top}");
}

#[test]
fn the_table_has_every_measure() {
    let bench = packaged();
    let stdout = measure(&bench, &["-n", "10"]);
    assert!(stdout.starts_with("400 records, 121 terms, k = 3, m = 2\n"), "{stdout}");
    let words: BTreeSet<&str> = stdout.split([' ', ',', '\n']).collect();
    for word in ["tKd", "tKd-a", "tKd-e", "re", "re-a", "re-r2", "re-r5", "re-r10", "re-e", "tlost", "tlost-any"] {
        assert!(words.contains(word), "{word}: {stdout}");
    }
    for text in [
        "Of the 1,000 most frequent itemsets",
        "2+ terms",
        "0-20",
        "100-120",
        "query error",
        "truth within the bounds  1.0000",
    ] {
        assert!(stdout.contains(text), "{text}: {stdout}");
    }
    assert!(stdout.contains("within two deviations") && !stdout.contains("tKd-ML2"), "{stdout}");
    // A release folder is as good as its package; fewer reconstructions have fewer means.
    let (other, stderr) = bench.good(&["measure", "out/release", "--original", "x.dat", "-n", "4", "--top", "20"]);
    assert!(
        other.contains("re-r2") && !other.contains("re-r5") && other.contains("Of the 20 most frequent itemsets"),
        "{other}"
    );
    assert!(stderr.contains("comparing") && !stderr.contains("zebra") && !other.contains("zebra"), "{stderr}");
}

#[test]
fn the_json_has_every_measure() {
    let bench = packaged();
    let report = json(&bench, &["--quiet", "--seed", "7", "--queries", "60", "-n", "10"]);
    let all = [
        "holds",
        "k",
        "limits",
        "links",
        "m",
        "queries",
        "records",
        "relative_error",
        "seed",
        "terms",
        "terms_lost",
        "top_k",
    ];
    assert_eq!(keys(&report), all.into());
    for (key, value) in [("records", 400), ("terms", 121), ("k", 3), ("m", 2), ("seed", 7)] {
        assert_eq!(report[key], value, "{key}");
    }
    let is_share = |value: &Value| (0.0..=1.0).contains(&value.as_f64().unwrap());
    let top = &report["top_k"];
    assert_eq!(keys(top), ["above_m", "k", "tkd", "tkd_a", "tkd_e", "tkd_ml2", "up_to_m"].into());
    lengths_add_up(top);
    assert!(top["k"] == 1000 && top["tkd_ml2"].is_null());
    for name in ["tkd", "tkd_a", "tkd_e"] {
        assert_eq!(keys(&top[name]), ["all", "at_least_two_terms", "generous"].into());
        assert!(top[name].as_object().unwrap().values().all(is_share), "{top}");
        assert!(top[name]["generous"].as_f64() <= top[name]["all"].as_f64(), "{top}");
    }
    let windows = report["relative_error"].as_array().unwrap();
    assert_eq!(windows.len(), 2);
    for (window, first) in windows.iter().zip([0, 100]) {
        assert_eq!(keys(window), ["first", "re", "re_a", "re_e", "re_r", "re_u", "terms"].into());
        assert!(window["first"] == first && window["terms"] == 20, "{window}");
        let means = window["re_r"].as_array().unwrap();
        assert_eq!(means.iter().map(|mean| mean["reconstructions"].as_u64().unwrap()).collect::<Vec<_>>(), [2, 5, 10]);
        let errors = [&window["re"], &window["re_a"], &window["re_e"]];
        for error in errors.into_iter().chain(means.iter().map(|mean| &mean["error"])) {
            assert_eq!(keys(error), ["existing", "mean", "skipped"].into());
            let within = |value: &Value| value.is_null() || (0.0..=2.0).contains(&value.as_f64().unwrap());
            assert!(within(&error["mean"]) && within(&error["existing"]), "{error}");
            assert!(error["skipped"].as_u64().unwrap() <= 190, "{error}");
        }
    }
    let lost = &report["terms_lost"];
    assert_eq!(keys(lost), ["considered", "tlost", "tlost_any"].into());
    assert!(is_share(&lost["tlost"]) && is_share(&lost["tlost_any"]) && lost["considered"] == 121, "{lost}");
    let queries = &report["queries"];
    assert_eq!(keys(queries), ["mean", "median", "queries", "within_bounds", "within_two_deviations"].into());
    assert!(queries["queries"].as_u64().unwrap() <= 60 && queries["within_bounds"] == 1.0, "{queries}");
    assert!(is_share(&queries["within_two_deviations"]), "{queries}");

    // Terms have at least four records, some of them exactly four.
    assert_eq!(json(&bench, &["--more-than-k"])["terms_lost"]["considered"], 121);
    assert_ne!(json(&bench, &["--seed", "8", "--queries", "60"])["queries"], report["queries"]);
}

#[test]
fn more_than_k_leaves_out_terms_with_k_records() {
    let bench = Bench::new();
    bench.file("x.dat", "a b\na b\na b\na\na\na c\na c\n");
    bench.good(&["protect", "x.dat", "-k", "3", "-o", "out"]);
    assert_eq!(json(&bench, &[])["terms_lost"]["considered"], 2);
    assert_eq!(json(&bench, &["--more-than-k"])["terms_lost"]["considered"], 1);
}

#[test]
fn plots_are_two_drawings() {
    let bench = packaged();
    let (stdout, stderr) = bench.good(&["measure", "out", "--original", "x.dat", "--plots", "plots"]);
    assert!(stderr.contains("support.svg") && stderr.contains("loss.svg"), "{stderr}");
    assert_eq!(stdout, measure(&bench, &[]));
    let names: BTreeSet<String> = std::fs::read_dir(bench.at("plots"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(names, ["files.sha256", "loss.svg", "support.svg"].map(String::from).into());
    let [support, loss] = ["support.svg", "loss.svg"]
        .map(|name| std::fs::read_to_string(bench.at("plots").join(name)).unwrap_or_else(|e| panic!("{name}: {e}")));
    for svg in [&support, &loss] {
        assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"), "{svg}");
        assert!(!svg.contains("zebra") && !svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
    assert!(support.contains("400 records (k = 3, m = 2)") && loss.contains("121 terms"));
    // A file is no folder.
    let stderr = bench.bad(&["measure", "out", "--original", "x.dat", "--plots", "x.dat"]);
    assert!(stderr.contains("x.dat: is a file, a folder was expected"), "{stderr}");
}

#[test]
fn a_taxonomy_adds_a_measure() {
    let bench = packaged();
    let path = |i: usize| format!("zebra{i};{};all\n", if i < 38 { "frequent" } else { "rare" });
    bench.file("taxonomy.csv", (0..121).map(path).collect::<String>());
    let without = json(&bench, &["--top", "50"]);
    for flags in [["--fanout", "5"], ["--hierarchy", "taxonomy.csv"]] {
        assert!(measure(&bench, &flags).contains("\n  tKd-ML2  "), "{flags:?}");
        let mut report = json(&bench, &[&["--top", "50"], &flags[..]].concat());
        let added = report["top_k"]["tkd_ml2"].take();
        assert_eq!(keys(&added), ["all", "at_least_two_terms", "generous"].into());
        assert_eq!(report, without, "{flags:?}");
    }
    let refused = |flags: &[&str]| bench.bad(&[&["measure", "out", "--original", "x.dat"], flags].concat());
    assert!(refused(&["--fanout", "5", "--hierarchy", "taxonomy.csv"]).contains("cannot be used with"));
    assert!(refused(&["--fanout", "1"]).contains("fanout: must be at least 2"));
    bench.file("short.csv", "zebra0;frequent\n");
    let stderr = refused(&["--hierarchy", "short.csv"]);
    assert!(stderr.contains("short.csv") && stderr.contains("120 terms") && !stderr.contains("zebra"), "{stderr}");
    assert!(refused(&["--hierarchy", "absent.csv"]).contains("absent.csv: cannot read"));
}

#[test]
fn another_original_is_refused_without_its_values() {
    let bench = packaged();
    let original = std::fs::read_to_string(bench.at("x.dat")).unwrap();
    let lines: Vec<&str> = original.lines().collect();
    std::fs::create_dir(bench.at("alone")).unwrap();
    for name in ["claim.json", "data.jsonl"] {
        std::fs::copy(bench.at("out/release").join(name), bench.at("alone").join(name)).unwrap();
    }
    for (content, problem) in [
        (lines[1..].join("\n"), "has 399 records, but the release was made from 400"),
        (original.replace("zebra120\n", "zebra119\n"), "lacks terms that the release has: 1"),
        (original.replace("zebra120\n", "okapi\n"), "lacks terms that the release has: 1"),
        (
            original.replacen(" zebra", " okapi zebra", 1).replacen(" zebra", " gnu zebra", 1),
            "has terms that the release lacks: 2",
        ),
    ] {
        assert_ne!(content, original);
        bench.file("y.dat", content);
        for flags in [&[][..], &["--json"], &["--plots", "plots"]] {
            // With custody the digest decides; without it, the release does.
            let by_digest = "y.dat: is not the file that was protected: its digest differs";
            let alone = format!("y.dat: {problem}");
            for (release, problem) in [("out", by_digest), ("alone", &alone)] {
                let stderr = bench.bad(&[&["measure", release, "--original", "y.dat"], flags].concat());
                assert!(stderr.contains(problem) && stderr.contains("hint: give the file"), "{stderr}");
                assert!(!["zebra", "okapi", "gnu"].iter().any(|term| stderr.contains(term)), "{stderr}");
            }
        }
    }
    assert!(bench.bad(&["measure", "out", "--original", "absent.dat"]).contains("absent.dat"));
    assert!(bench.bad(&["measure", "absent", "--original", "x.dat"]).contains("absent: cannot read the release"));
    assert!(bench.bad(&["measure", "out"]).contains("--original"));
    assert!(bench.bad(&["measure", "out", "--original", "x.dat", "-n", "0"]).contains("--reconstructions"));
}

#[test]
fn the_same_output_for_any_number_of_threads() {
    let bench = packaged();
    for flags in [&["--fanout", "4"][..], &["--json", "--multiplicity", "uniform", "--seed", "5"]] {
        let with = |threads: &str| measure(&bench, &[flags, &["--threads", threads]].concat());
        assert_eq!(with("1"), with("2"), "{flags:?}");
    }
    let stdout = measure(&bench, &["--fanout", "4", "--plots", "one", "--threads", "1"]);
    assert_eq!(measure(&bench, &["--fanout", "4", "--plots", "two", "--threads", "2"]), stdout);
    for name in ["support.svg", "loss.svg"] {
        let read = |folder: &str| std::fs::read(bench.at(folder).join(name)).unwrap();
        assert!(read("one") == read("two"), "{name}");
    }
}

#[test]
fn its_help_has_examples() {
    let bench = Bench::new();
    for help in ["--help", "-h"] {
        let (stdout, _) = bench.good(&["measure", help]);
        assert!(stdout.contains("Examples:\n  disjoin measure "), "{stdout}");
    }
}

#[test]
fn what_matters_most_is_told_if_asked() {
    let bench = packaged();
    bench.file("sets.txt", "zebra0,zebra7,zebra8\nzebra1;zebra9\n".replace(';', ","));
    bench.file("weights.csv", "term,weight\nzebra0,3\n");
    let flags = ["--utility", "sets.txt", "--weights", "weights.csv"];
    let report = json(&bench, &[&["--quiet"][..], &flags].concat());
    assert_eq!(report["kept"]["sets"], 2);
    assert!(report["kept"]["weighed_occurrences"].as_f64().is_some_and(|share| (0.0..=1.0).contains(&share)));
    let stdout = measure(&bench, &flags);
    assert!(stdout.contains("links kept in sets") && stdout.contains("weighted occurrences kept"), "{stdout}");
    assert!(!measure(&bench, &[]).contains("kept"));
}
