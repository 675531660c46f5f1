//! Sweeps, from the outside: every combination, the best of them, and going on after being killed.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::common::Bench;
use serde_json::Value;

const SWEEP: [&str; 7] = ["sweep", "-k", "2,3,4,5", "-m", "1,2", "--max-cluster", "12,20"];

fn bench(records: &str) -> Bench {
    let bench = Bench::new();
    bench.good(&["generate", "quest", "--records", records, "--items", "60", "--patterns", "40", "-o", "x.dat"]);
    bench.file(
        "recipe.toml",
        "[input]\nfile = \"x.dat\"\n[attack]\nrun = [\"cover\"]\n[measure]\nqueries = 20\ntop = 50\n",
    );
    bench
}

fn rows(stdout: &str) -> (Vec<Value>, Value) {
    let mut told: Value = serde_json::from_str(stdout).unwrap_or_else(|e| panic!("{e}: {stdout}"));
    let mut rows: Vec<Value> = serde_json::from_value(told["rows"].take()).unwrap();
    // How long it took is not the same twice.
    rows.iter_mut().for_each(|row| row["seconds"] = Value::Null);
    (rows, told)
}

#[test]
fn the_best_recipe_is_named_and_drawn() {
    let bench = bench("1000");
    let (stdout, _) = bench.good(&SWEEP);
    assert!(stdout.contains("  best\n") && stdout.contains("Best: k = "), "{stdout}");
    assert!(bench.at("sweep/frontier.svg").is_file());
    let csv = fs::read_to_string(bench.at("sweep/sweep.csv")).unwrap();
    assert_eq!(csv.lines().count(), 17);
    // What has been made is not made again.
    let start = fs::read(bench.at("sweep/rows.jsonl")).unwrap();
    let (stdout, _) = bench.good(&[&SWEEP[..], &["--json"]].concat());
    let (_, told) = rows(&stdout);
    assert_eq!(told["made_before"], 16);
    assert_eq!(fs::read(bench.at("sweep/rows.jsonl")).unwrap(), start);
    // Limits that nobody can keep.
    bench.file("recipe.toml", "[input]\nfile = \"x.dat\"\n[limits]\npair_error = 0.0\n");
    let output = bench.run(&["sweep", "-k", "3", "-o", "strict"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(crate::common::text(&output.stdout).contains("no recipe keeps all limits"));
    bench.bad(&["sweep", "-k", "30", "--max-cluster", "12", "-o", "none"]);
}

#[test]
fn a_killed_sweep_goes_on_where_it_was() {
    let bench = bench("4000");
    let (stdout, _) = bench.good(&[&SWEEP[..], &["--json", "-o", "whole"]].concat());
    let (whole, _) = rows(&stdout);
    let sweep = [&SWEEP[..], &["--json", "--quiet", "-o", "sweep"]].concat();
    let path = bench.at("sweep/rows.jsonl");
    let n_rows = || fs::read(&path).map_or(0, |text| text.iter().filter(|&&byte| byte == b'\n').count());
    for most in [3, 9] {
        let mut child = bench.command(&sweep).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let start = Instant::now();
        while n_rows() < most && start.elapsed() < Duration::from_secs(60) && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(2));
        }
        let _ = child.kill();
        child.wait().unwrap();
    }
    // Half a line, as a kill in the middle of writing leaves it.
    let mut text = fs::read(&path).unwrap();
    text.extend_from_slice(b"{\"id\":\"12");
    fs::write(&path, text).unwrap();
    let before = n_rows();
    let (stdout, _) = bench.good(&sweep);
    let (again, told) = rows(&stdout);
    assert_eq!(told["made_before"].as_u64(), Some(before as u64));
    assert!((9..=16).contains(&before), "{before}");
    assert_eq!(again, whole);
}
