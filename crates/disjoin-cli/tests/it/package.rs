//! The package as a whole: the same bytes always, and never half of one.

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::common::{Bench, release_of};
use rand::{RngExt, SeedableRng};

fn make(bench: &Bench, name: &str, seed: &str) {
    bench.good(&[
        "generate",
        "quest",
        "--records",
        "20000",
        "--items",
        "800",
        "--patterns",
        "300",
        "--seed",
        seed,
        "-o",
        name,
    ]);
}

#[test]
fn the_same_bytes_whatever_the_number_of_threads() {
    let bench = Bench::new();
    make(&bench, "a.dat", "1");
    let run = |threads: &str, out: &str| {
        bench.good(&["protect", "a.dat", "--threads", threads, "-o", out]);
        release_of(&bench.at(out))
    };
    let one = run("1", "out");
    for repeat in 0..10 {
        assert!(one == run(if repeat % 2 == 0 { "2" } else { "1" }, "out"), "repeat {repeat}");
    }
    assert!(one == run("3", "other"));
}

#[test]
fn what_is_in_the_way_is_named_and_nothing_is_written() {
    let bench = Bench::new();
    make(&bench, "a.dat", "1");
    let protect = ["protect", "a.dat", "-o", "out"];
    bench.good(&protect);
    let before = release_of(&bench.at("out"));
    let mine = bench.at("out/release/report.html");
    std::fs::create_dir(&mine).unwrap();
    std::fs::write(mine.join("cat.jpg"), "mine").unwrap();
    for arguments in [&protect[..], &["repair", "out", "-o", "out", "--force"], &["convert", "out", "out", "--force"]] {
        let stderr = bench.bad(arguments);
        assert!(stderr.contains("out/release/report.html: is a folder that disjoin did not make"), "{stderr}");
        assert!(stderr.contains("hint: move it out of the package, or name another folder"), "{stderr}");
    }
    assert_eq!(std::fs::read_to_string(mine.join("cat.jpg")).unwrap(), "mine");
    assert!(release_of(&bench.at("out")) == before);
    // The remedy works.
    std::fs::rename(mine, bench.at("cats")).unwrap();
    bench.good(&protect);
    // Single files are not overwritten either.
    bench.file("mine.svg", "mine");
    let stderr = bench.bad(&["generate", "quest", "--records", "10", "-o", "mine.svg"]);
    assert!(stderr.contains("mine.svg: exists already") && stderr.contains("--force"), "{stderr}");
    std::fs::create_dir(bench.at("plots")).unwrap();
    bench.file("plots/loss.svg", "mine");
    let stderr = bench.bad(&["measure", "out", "--original", "a.dat", "--plots", "plots"]);
    assert!(stderr.contains("plots/loss.svg: was not written by disjoin"), "{stderr}");
}

#[test]
fn a_killed_run_leaves_the_old_package_or_the_new_one() {
    let bench = Bench::new();
    let inputs = ["a.dat", "b.dat"];
    make(&bench, inputs[0], "1");
    make(&bench, inputs[1], "2");
    let protect = |input, out| ["protect", input, "--quiet", "-o", out];
    let complete = inputs.map(|input| {
        bench.good(&protect(input, "whole"));
        release_of(&bench.at("whole"))
    });
    assert!(complete[0] != complete[1]);
    let start = Instant::now();
    bench.good(&protect(inputs[0], "out"));
    let takes = start.elapsed();
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
    let (mut seen, mut with_leftovers) = ([0, 0], 0);
    let leftovers = || bench.names().into_iter().filter(|name| name.starts_with(".out.disjoin-")).collect::<Vec<_>>();
    for round in 0..100 {
        let old = leftovers();
        let mut child = bench.command(&protect(inputs[(round + 1) % 2], "out")).stderr(Stdio::null()).spawn().unwrap();
        if round < 50 {
            // Any moment of the run.
            std::thread::sleep(takes.mul_f64(rng.random_range(0.0..1.1)));
        } else {
            // Soon after files begin to be written: a folder that was not there before has a release in it.
            let is_writing = |name: &String| !old.contains(name) && bench.at(name).join("release").exists();
            while !leftovers().iter().any(is_writing) && child.try_wait().unwrap().is_none() {}
            std::thread::sleep(Duration::from_micros(rng.random_range(0..12_000)));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        with_leftovers += usize::from(!leftovers().is_empty());
        let now = release_of(&bench.at("out"));
        let which = complete.iter().position(|package| *package == now);
        seen[which.unwrap_or_else(|| panic!("round {round}: neither the old package nor the new one"))] += 1;
    }
    println!("after 100 kills: {seen:?}; {with_leftovers} while the package was being written");
    bench.good(&protect(inputs[0], "out"));
    assert!(release_of(&bench.at("out")) == complete[0]);
    assert_eq!(bench.names(), ["a.dat", "b.dat", "out", "whole"], "leftovers");
}
