//! Verify and demo, from the outside.
use crate::common::{Bench, baskets, text};

fn packaged() -> Bench {
    let bench = Bench::new();
    bench.file("x.dat", baskets(60));
    bench.good(&["protect", "x.dat", "-k", "3", "-o", "out"]);
    bench
}

/// Rewrites the data of the package.
fn tamper(bench: &Bench, change: impl Fn(&str) -> String) {
    let path = bench.at("out/release/data.jsonl");
    let before = std::fs::read_to_string(&path).unwrap();
    let after = change(&before);
    assert_ne!(after, before, "the change did not change anything");
    std::fs::write(&path, after).unwrap();
}

#[test]
fn an_honest_release_holds() {
    let bench = packaged();
    for args in [&["verify", "out"][..], &["verify", "out/release"], &["verify", "out", "--original", "x.dat"]] {
        let (stdout, _) = bench.good(args);
        assert!(stdout.contains("The promise holds (k = 3, m = 2)"), "{stdout}");
    }
    let (stdout, _) = bench.good(&["verify", "out", "--original", "x.dat", "--json", "--quiet"]);
    let verdict: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((&verdict["holds"], &verdict["records"]), (&true.into(), &60.into()));
}

#[test]
fn another_original_is_refused() {
    let bench = packaged();
    bench.file("y.dat", baskets(61));
    assert!(bench.bad(&["verify", "out", "--original", "y.dat"]).contains("y.dat: is not the file"));
}

#[test]
fn a_count_of_zero_and_a_negative_size() {
    for (from, to) in [("\"count\":", "\"count\":0,\"x\":"), ("{\"size\":", "{\"size\":-1,\"x\":")] {
        let bench = packaged();
        tamper(&bench, |data| data.replacen(from, to, 1));
        let stderr = bench.bad(&["verify", "out"]);
        assert!(stderr.contains("data.jsonl:2: "), "{stderr}");
    }
}

#[test]
fn a_term_in_two_chunks() {
    let bench = packaged();
    // The first record chunk of the first cluster, twice.
    tamper(&bench, |data| {
        let start = data.find("\"record_chunks\":[{").unwrap() + "\"record_chunks\":[".len();
        let end = start + data[start..].find("]}").unwrap() + 2;
        format!("{}{},{}", &data[..start], &data[start..end], &data[start..])
    });
    let output = bench.run(&["verify", "out"]);
    assert!(matches!(output.status.code(), Some(1 | 2)), "{}", text(&output.stderr));
}

#[test]
fn the_demonstration_proves_its_promise() {
    let bench = Bench::new();
    let (stdout, _) = bench.good(&["demo", "--patients", "1000"]);
    assert!(stdout.contains("Proved from the published files alone"), "{stdout}");
    assert!(stdout.lines().count() <= 30, "{stdout}");
    let (stdout, _) = bench.good(&["demo", "--patients", "1000", "-o", "d", "--json"]);
    let result: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(result["holds"], true);
    assert!(result["run"]["rounds"].as_array().unwrap().len() > 1, "{stdout}");
    bench.good(&["verify", "d", "--original", "d/custody/original.csv", "--column", "diagnoses"]);
}
