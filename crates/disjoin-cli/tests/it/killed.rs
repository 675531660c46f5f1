//! Killed at any moment: the old package or the new one stands there, whole; the next run works, and leaves no scratch.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Instant;

use crate::common::Bench;
use rand::{RngExt, SeedableRng};

/// Moments for each of five verbs: 200 in all.
const MOMENTS: usize = 40;

/// All files of a release, without what takes time into account.
fn release(out: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = fs::read_dir(out.join("release")).unwrap().map(|entry| entry.unwrap().path());
    files
        .filter(|path| path.extension().is_some_and(|ending| ending != "html"))
        .map(|p| (p.clone(), fs::read(p).unwrap()))
        .collect()
}

/// Runs a verb to its end for each input, then kills it at moments that are spread over the time that it takes. Returns how many kills left
/// something behind.
fn kill(bench: &Bench, commands: [&[&str]; 2], out: &str) -> usize {
    let complete = commands.map(|command| {
        bench.good(command);
        bench.good(&["verify", out]);
        release(&bench.at(out))
    });
    let start = Instant::now();
    bench.good(commands[0]);
    let (takes, names) = (start.elapsed(), bench.names());
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
    let mut left = 0;
    for moment in 0..MOMENTS {
        let at = (moment as f64 + rng.random_range(0.0..1.0)) / MOMENTS as f64;
        let mut child =
            bench.command(commands[1 - moment % 2]).stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
        std::thread::sleep(takes.mul_f64(at * 1.05));
        child.kill().unwrap();
        child.wait().unwrap();
        left += usize::from(bench.names() != names);
        let now = release(&bench.at(out));
        assert!(complete.contains(&now), "{commands:?}, moment {moment}: neither the old package nor the new one");
        // Its list of files agrees with it, and what was left is gone: otherwise the next run would say so.
        bench.good(commands[moment % 2]);
        assert!(release(&bench.at(out)) == complete[moment % 2], "{commands:?}, moment {moment}");
        assert_eq!(bench.names(), names, "{commands:?}, moment {moment}");
    }
    left
}

fn bench() -> Bench {
    let bench = Bench::new();
    for (name, seed) in [("a.dat", "1"), ("b.dat", "2")] {
        let make = ["generate", "quest", "--records", "300", "--items", "40", "--patterns", "30", "--seed", seed];
        bench.good(&[&make[..], &["-o", name]].concat());
        let recipe = format!(
            "[input]\nfile = \"{name}\"\n[protect]\nk = 3\n[attack]\nrun = [\"cover\", \"identity\"]\n[measure]\nqueries = 5\n[limits]\nreidentification_risk = 1\n[output]\nfolder = \"out\"\n"
        );
        bench.file(&name.replace("dat", "toml"), recipe);
        bench.good(&[
            "protect",
            name,
            "--grouping",
            "paper",
            "--promise",
            "published",
            "-o",
            &name.replace(".dat", ""),
        ]);
    }
    bench
}

#[test]
fn killed_packages_are_whole_and_the_next_run_clears_up() {
    let bench = bench();
    let verbs: [[&[&str]; 2]; 4] = [
        [&["protect", "a.dat", "-o", "out"], &["protect", "b.dat", "-o", "out"]],
        [&["run", "a.toml"], &["run", "b.toml"]],
        [&["repair", "a", "-o", "out", "--force"], &["repair", "b", "-o", "out", "--force"]],
        [&["convert", "a", "out", "--to", "parquet", "--force"], &["convert", "b", "out", "--to", "jsonl", "--force"]],
    ];
    let left: Vec<usize> = verbs.into_iter().map(|commands| kill(&bench, commands, "out")).collect();
    println!("kills that left something behind, of {MOMENTS} each: {left:?}");
    assert!(left.iter().sum::<usize>() > 0, "no kill came in time");
}

#[test]
fn a_killed_sweep_goes_on_and_clears_up() {
    let bench = bench();
    let sweep = ["sweep", "a.toml", "-k", "3,4", "-o", "sweeps"];
    let start = Instant::now();
    bench.good(&sweep);
    let takes = start.elapsed();
    let names = || {
        let mut names: Vec<_> = fs::read_dir(bench.at("sweeps"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort_unstable();
        names
    };
    let whole = names();
    assert_eq!(whole, ["files.sha256", "frontier.svg", "rows.jsonl", "sweep.csv"]);
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(2);
    let mut left = 0;
    for moment in 0..MOMENTS {
        fs::remove_dir_all(bench.at("sweeps")).unwrap();
        let at = (moment as f64 + rng.random_range(0.0..1.0)) / MOMENTS as f64;
        let mut child = bench.command(&sweep).stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
        std::thread::sleep(takes.mul_f64(at * 1.05));
        child.kill().unwrap();
        child.wait().unwrap();
        left += usize::from(bench.at("sweeps").is_dir() && names().iter().any(|name| name.ends_with(".tmp")));
        bench.good(&sweep);
        assert_eq!(names(), whole, "moment {moment}");
        assert_eq!(fs::read_to_string(bench.at("sweeps/sweep.csv")).unwrap().lines().count(), 3, "moment {moment}");
    }
    println!("kills that left a scratch folder, of {MOMENTS}: {left}");
    assert!(left > 0, "no kill came in time");
}
