//! What is not as it should be ends with exit code 2, says where and how to go on, and changes nothing.

use std::io::Write;

use crate::common::{Bench, baskets, release_of, text};

/// `disjoin protect x.dat` with the content, refused; the message names the file.
fn refused(content: &[u8], expected: &str) {
    let bench = Bench::new();
    bench.file("x.dat", content);
    for verb in [&["protect", "x.dat", "-o", "out"][..], &["inspect", "x.dat"], &["convert", "x.dat", "y.jsonl"]] {
        let stderr = bench.bad(verb);
        assert!(stderr.contains(expected), "{verb:?}: {stderr}");
    }
}

#[test]
fn an_empty_file() {
    refused(b"", "x.dat: is empty");
    refused(b"\n\n\n", "x.dat: holds no record");
}

#[test]
fn no_such_file() {
    let stderr = Bench::new().bad(&["protect", "absent.dat", "-o", "out"]);
    assert!(stderr.contains("absent.dat") && stderr.contains("hint:"), "{stderr}");
}

#[test]
fn a_directory() {
    let bench = Bench::new();
    std::fs::create_dir(bench.at("folder")).unwrap();
    let stderr = bench.bad(&["protect", "folder", "-o", "out"]);
    assert!(stderr.contains("folder"), "{stderr}");
    assert!(bench.bad(&["inspect", "folder"]).contains("folder"));
}

#[test]
fn binary_junk() {
    refused(b"1 2\n3 4\n\0\x01\x02\x03\n", "x.dat:3: holds a control character");
    refused(b"PK\x03\x04junk", "x.dat: is a ZIP archive");
}

#[test]
fn invalid_utf8() {
    refused(b"a b\nc \xff\xfe\n", "x.dat:2: is not valid UTF-8");
}

#[test]
fn a_record_with_a_million_terms() {
    let mut content = String::from("1 2\n");
    (0..1_000_000).for_each(|i| content.push_str(&format!("{i} ")));
    refused(content.as_bytes(), "x.dat:2: the record has more than 100000 terms");
}

#[test]
fn empty_records_are_skipped_and_reported() {
    let bench = Bench::new();
    bench.file("x.dat", format!("\n{}\n\n", baskets(40)));
    let (_, stderr) = bench.good(&["protect", "x.dat", "-k", "3", "-o", "out"]);
    assert!(stderr.contains("records without a term were left out"), "{stderr}");
    let (stdout, _) = bench.good(&["protect", "x.dat", "-k", "3", "-o", "out", "--json"]);
    let result: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(result["input"]["records"], 40);
    assert!(result["input"]["empty_records"].as_u64().unwrap() >= 2, "{stdout}");
}

#[test]
fn duplicate_terms_are_collapsed_and_reported() {
    let bench = Bench::new();
    bench.file("x.dat", format!("1 1 2 1\n{}", baskets(40)));
    let (stdout, stderr) = bench.good(&["protect", "x.dat", "-k", "3", "-o", "out", "--json"]);
    assert!(stderr.contains("2 repetitions of a term within its record were collapsed"), "{stderr}");
    let result: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(result["input"]["duplicate_terms"], 2);
}

#[test]
fn impossible_parameters() {
    let bench = Bench::new();
    bench.file("x.dat", baskets(40));
    for (flags, expected) in [
        (&["-k", "1"][..], "error: -k: must be at least 2"),
        (&["-k", "0"], "error: -k: must be at least 2"),
        (&["-m", "0"], "error: -m: must be at least 1"),
        (&["-k", "5", "--max-cluster", "9"], "error: --max-cluster: must be at least 2k, that is 10"),
        (&["-k", "-3"], "error: "),
        (&["-k", "many"], "error: "),
        (&["--threads", "0"], "error: "),
        (&["--separator", "ab"], "error: "),
        (&["--format", "excel"], "error: "),
        (&["--l-diversity", "3"], "error: "),
    ] {
        let stderr = bench.bad(&[&["protect", "x.dat", "-o", "out"], flags].concat());
        assert!(stderr.contains(expected), "{flags:?}: {stderr}");
    }
    assert!(bench.bad(&["inspect", "x.dat", "-k", "1"]).contains("-k: must be at least 2"));
    assert!(bench.bad(&["generate", "quest", "--records", "0"]).contains("--records"));
    assert!(bench.bad(&["generate", "hospital", "--patients", "0"]).contains("--patients"));
}

#[test]
fn sensitive_terms_that_do_not_occur() {
    let bench = Bench::new();
    bench.file("x.dat", baskets(40));
    let stderr = bench.bad(&["protect", "x.dat", "-o", "out", "--sensitive", "1,2,secret"]);
    assert!(stderr.contains("--sensitive: entry 3 of the list") && !stderr.contains("secret"), "{stderr}");
    bench.file("list.txt", "1\n\nsecret\n");
    let stderr = bench.bad(&["protect", "x.dat", "-o", "out", "--sensitive", "list.txt"]);
    assert!(
        stderr.contains("list.txt:3: the term does not occur in the data") && !stderr.contains("secret"),
        "{stderr}"
    );
}

#[test]
fn utility_sets_and_weights_that_make_no_sense() {
    let bench = Bench::new();
    bench.file("x.dat", "1 2 secret\n".repeat(9));
    let refused = |flag: &str, content: &str, expected: &str| {
        bench.file("list.csv", content);
        let stderr = bench.bad(&["protect", "x.dat", "-o", "out", flag, "list.csv", "--sensitive", "secret"]);
        assert!(stderr.contains(expected) && !stderr.contains("secret"), "{stderr}");
    };
    refused("--utility", "1,2\n\n2,3\n", "list.csv:3: the term in field 2 does not occur in the data");
    refused("--utility", "1,2\n2,secret\n", "--utility: set 2 has a sensitive term");
    refused("--weights", "term,weight\n1,2\n2,-1\n", "list.csv:3: the weight is negative");
    refused("--weights", "1,2\n4,1\n", "list.csv:2: the term in field 1 does not occur in the data");
    let of_table = |flags: &[&str]| bench.bad(&[&["protect", "x.dat", "-o", "out", "--quasi", "1"], flags].concat());
    for flags in [&["--utility", "list.csv"][..], &["--paper-literal"], &["--output-format", "parquet"]] {
        assert!(of_table(flags).contains(&format!("{}: is not known by the method least-loss", flags[0])));
    }
    for flags in [&["--grouping", "paper"][..], &["--promise", "published"], &["--max-cluster", "30"], &["--no-refine"]]
    {
        assert!(of_table(flags).contains(&format!("{}: is for the column of sets, and none is named", flags[0])));
    }
}

#[test]
fn fewer_than_k_records() {
    let bench = Bench::new();
    bench.file("x.dat", "1 2\n2 3\n");
    let stderr = bench.bad(&["protect", "x.dat", "-k", "3", "-o", "out"]);
    assert!(stderr.contains("2 records are fewer than k = 3") && stderr.contains("hint:"), "{stderr}");
}

#[test]
fn truncated_gzip_and_parquet() {
    let bench = Bench::new();
    bench.file("whole.dat", baskets(500));
    for name in ["x.dat.gz", "x.dat.zst", "x.parquet"] {
        bench.good(&["convert", "whole.dat", name]);
        let bytes = std::fs::read(bench.at(name)).unwrap();
        for length in [bytes.len() / 2, bytes.len() - 3] {
            bench.file(name, &bytes[..length]);
            let stderr = bench.bad(&["protect", name, "-o", "out"]);
            assert!(stderr.contains(name), "{stderr}");
        }
    }
}

#[test]
fn an_output_folder_that_is_something_else() {
    let bench = Bench::new();
    bench.file("x.dat", baskets(40));
    bench.file("out", "mine");
    let stderr = bench.bad(&["protect", "x.dat", "-k", "3", "-o", "out"]);
    assert!(stderr.contains("out: is a file"), "{stderr}");
    std::fs::create_dir(bench.at("photos")).unwrap();
    std::fs::write(bench.at("photos/cat.jpg"), "mine").unwrap();
    let stderr = bench.bad(&["protect", "x.dat", "-k", "3", "-o", "photos"]);
    assert!(stderr.contains("photos: is a folder with other content"), "{stderr}");
    assert_eq!(std::fs::read(bench.at("photos/cat.jpg")).unwrap(), b"mine");
    assert!(bench.bad(&["protect", "x.dat", "-o", "absent/out"]).contains("the folder above it does not exist"));
    // The cheap check comes before the input is read.
    assert!(bench.bad(&["protect", "absent.dat", "-o", "out"]).contains("out: is a file"));
}

#[cfg(target_os = "linux")]
#[test]
fn an_output_folder_that_is_not_writable() {
    let bench = Bench::new();
    bench.file("x.dat", baskets(40));
    // Mode bits mean nothing to root, but nobody can write there.
    let stderr = bench.bad(&["protect", "x.dat", "-k", "3", "-o", "/proc/out"]);
    assert!(stderr.contains("/proc/out: cannot write the package"), "{stderr}");
    assert!(bench.bad(&["generate", "quest", "--records", "9", "-o", "/proc/x.dat"]).contains("/proc/x.dat"));
}

#[cfg(unix)]
#[test]
fn a_full_disk_leaves_the_old_package() {
    let bench = Bench::new();
    bench.file("x.dat", baskets(40));
    bench.good(&["protect", "x.dat", "-k", "3", "-o", "out"]);
    let (before, names) = (release_of(&bench.at("out")), bench.names());
    bench.good(&["generate", "quest", "--records", "20000", "--items", "500", "-o", "big.dat"]);
    // Files may not grow beyond 8 blocks; writing more fails with an error once the signal is ignored.
    let program = env!("CARGO_BIN_EXE_disjoin");
    let output = std::process::Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 8; exec \"$0\" protect big.dat -k 5 -o out", program])
        .current_dir(bench.at(""))
        .output()
        .unwrap();
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("error: out/") && stderr.contains("hint:"), "{stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
    assert_eq!(release_of(&bench.at("out")), before);
    std::fs::remove_file(bench.at("big.dat")).unwrap();
    assert_eq!(bench.names(), names);
}

#[test]
fn existing_files_are_not_overwritten() {
    let bench = Bench::new();
    bench.file("x.dat", baskets(40));
    bench.file("y.jsonl", "mine");
    assert!(bench.bad(&["convert", "x.dat", "y.jsonl"]).contains("y.jsonl: exists already"));
    assert_eq!(std::fs::read(bench.at("y.jsonl")).unwrap(), b"mine");
    bench.good(&["convert", "x.dat", "y.jsonl", "--force"]);
    assert!(bench.bad(&["convert", "x.dat", "y.unknown"]).contains("--to"));
}

#[test]
fn what_is_not_a_release_cannot_be_verified() {
    let bench = Bench::new();
    bench.file("x.dat", baskets(40));
    assert!(bench.bad(&["verify", "absent"]).contains("absent"));
    assert!(bench.bad(&["verify", "x.dat"]).contains("x.dat: is a file"));
    std::fs::create_dir(bench.at("empty")).unwrap();
    assert!(bench.bad(&["verify", "empty"]).contains("holds no claim.json"));
}

/// A package whose data are changed by `change`.
fn tampered(change: impl Fn(&str) -> String) -> Bench {
    let bench = Bench::new();
    bench.file("x.dat", baskets(60));
    bench.good(&["protect", "x.dat", "-k", "3", "-o", "out"]);
    let path = bench.at("out/release/data.jsonl");
    let before = std::fs::read_to_string(&path).unwrap();
    let after = change(&before);
    assert_ne!(after, before, "the change did not change anything");
    std::fs::File::create(&path).unwrap().write_all(after.as_bytes()).unwrap();
    bench
}

#[test]
fn a_release_of_an_unknown_version() {
    let bench = tampered(|data| data.replacen("\"version\":1", "\"version\":9", 1));
    let stderr = bench.bad(&["verify", "out"]);
    assert!(stderr.contains("data.jsonl:1: version 9"), "{stderr}");
}
