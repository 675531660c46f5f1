//! The targets, for as long as there is time: DISJOIN_FUZZ_SECONDS in all.

use std::path::{Path, PathBuf};
use std::time::Duration;

use disjoin_fuzz::{Budget, TARGETS, Target, Text, fuzz, replay};

fn seeds() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds")
}

/// Every target on its seeds and on changes of them. One test for all: the thread pool and the panic hook are shared.
#[test]
fn every_target_survives() {
    every_seed_is_fine();
    runs_are_repeated_and_crashes_told();
    let seconds: f64 = std::env::var("DISJOIN_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(10.0);
    let share = Budget::Time(Duration::from_secs_f64(seconds / TARGETS.len() as f64));
    let (mut runs, mut reached) = (0, 0);
    for target in TARGETS {
        let report = fuzz(target, &seeds(), 1, share, |_| {});
        let crash =
            report.crashes.first().map(|crash| (crash.message.as_str(), crash.input.escape_ascii().to_string()));
        assert_eq!(crash, None, "{}", target.name);
        let is_built = target.text == Text::Decisions;
        assert!(!is_built || 5 * report.reached >= 4 * report.runs, "{}: what is built is refused", target.name);
        println!("{:<22} {:>8} executions, {:>8} past the parser", target.name, report.runs, report.reached);
        runs += report.runs;
        reached += report.reached;
    }
    println!("{runs} executions, {} % past the parser", 100 * reached / runs);
    // How fast each target is decides what it weighs in this: about three of five, and never few.
    assert!(3 * reached >= runs, "most inputs are refused: {reached} of {runs}");
}

/// No seed fails, and of each folder at least one is what it should be.
fn every_seed_is_fine() {
    for target in TARGETS.iter().filter(|target| target.text != Text::Decisions) {
        let files = std::fs::read_dir(seeds().join(target.seeds)).expect("every target that reads files has seeds");
        let read = |file: std::io::Result<std::fs::DirEntry>| std::fs::read(file?.path());
        let inputs: Vec<Vec<u8>> = files.map(read).collect::<Result<_, _>>().expect("seeds can be read");
        let reached: Vec<bool> = inputs.iter().map(|input| replay(target, input).expect("a seed is fine")).collect();
        assert!(reached.contains(&true), "{}: no seed gets past the parser", target.name);
    }
}

/// The same number gives the same run, another one another; what panics is told with its input.
fn runs_are_repeated_and_crashes_told() {
    let run = |target: &Target, seed| {
        let mut inputs = Vec::new();
        let report = fuzz(target, &seeds(), seed, Budget::Runs(300), |input| inputs.push(input.to_vec()));
        (inputs, report)
    };
    let basket = TARGETS.iter().find(|target| target.name == "basket").expect("there is such a target");
    let (first, second, other) = (run(basket, 5), run(basket, 5), run(basket, 6));
    assert_eq!((first.0, first.1.reached), (second.0.clone(), second.1.reached));
    assert_ne!(second.0, other.0);
    let fragile = Target { run: |bytes| bytes.len() < 40 || panic!("too long"), ..*basket };
    let (_, report) = run(&fragile, 5);
    assert_eq!(report.crashes.len(), 1, "one place is one crash");
    assert!(report.crashes[0].input.len() >= 40 && report.crashes[0].message.contains("too long"));
}
