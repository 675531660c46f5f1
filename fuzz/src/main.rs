//! `disjoin-fuzz`: runs the targets for a while, and tells what came of it.

use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use disjoin_fuzz::{Budget, Report, TARGETS, Target, fuzz, replay};

/// Hostile files against every reader and every verb.
#[derive(Parser)]
struct Options {
    /// The targets; all if none is named.
    targets: Vec<String>,
    /// Seconds in all, the same for each target.
    #[arg(long, default_value_t = 60.0)]
    seconds: f64,
    /// Executions of each target, instead of seconds.
    #[arg(long)]
    runs: Option<u64>,
    /// Where randomness starts.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Run a target on this file and nothing else.
    #[arg(long)]
    replay: Option<PathBuf>,
    /// Where inputs are written that a target panicked on; `current` is the last one that was begun.
    #[arg(long, default_value = "target/fuzz")]
    crashes: PathBuf,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let named = |target: &&Target| options.targets.is_empty() || options.targets.iter().any(|name| name == target.name);
    let targets: Vec<&Target> = TARGETS.iter().filter(named).collect();
    let is_known = |name: &&String| TARGETS.iter().any(|target| target.name == **name);
    if let Some(unknown) = options.targets.iter().find(|name| !is_known(name)) {
        let all: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        eprintln!("there is no target {unknown}; there are {}", all.join(", "));
        return ExitCode::from(2);
    }
    match &options.replay {
        Some(file) => again(&targets, file),
        None => run(&targets, &options),
    }
}

fn again(targets: &[&Target], file: &Path) -> ExitCode {
    let input = match fs::read(file) {
        Ok(input) => input,
        Err(error) => {
            eprintln!("{}: {error}", file.display());
            return ExitCode::from(2);
        }
    };
    let mut code = ExitCode::SUCCESS;
    for target in targets {
        match replay(target, &input) {
            Ok(reached) => println!("{}: {}", target.name, if reached { "past the parser" } else { "refused" }),
            Err(message) => {
                println!("{}: {message}", target.name);
                code = ExitCode::FAILURE;
            }
        }
    }
    code
}

fn run(targets: &[&Target], options: &Options) -> ExitCode {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds");
    let share = Duration::from_secs_f64(options.seconds.max(0.0) / targets.len() as f64);
    let budget = options.runs.map_or(Budget::Time(share), Budget::Runs);
    if let Err(error) = fs::create_dir_all(&options.crashes) {
        eprintln!("{}: {error}", options.crashes.display());
        return ExitCode::from(2);
    }
    let (mut runs, mut reached, mut crashes) = (0, 0, 0);
    println!(
        "{:<22} {:>10} {:>8} {:>7} {:>11} {:>7}",
        "target", "executions", "a second", "past", "slowest", "crashes"
    );
    for target in targets {
        // A stack that overflows ends the process: the input must be on disk before.
        let path = options.crashes.join(format!("{}-current", target.name));
        let mut current = File::create(&path).ok();
        let report = fuzz(target, &seeds, options.seed, budget, |input| {
            drop(current.as_mut().map(|file| begin(file, input)));
        });
        drop(fs::remove_file(&path));
        line(target, &report);
        keep(target, &report, &options.crashes);
        runs += report.runs;
        reached += report.reached;
        crashes += report.crashes.len();
    }
    println!("{runs} executions, {} % past the parser, {crashes} crashes", percent(reached, runs));
    if crashes > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// The file stays open: one that is made anew each time would be flushed each time.
fn begin(file: &mut File, input: &[u8]) -> io::Result<()> {
    file.rewind()?;
    file.write_all(input)?;
    file.set_len(input.len() as u64)
}

fn line(target: &Target, report: &Report) {
    let rate = report.runs as f64 / report.took.as_secs_f64().max(1e-9);
    let past = percent(report.reached, report.runs);
    let slowest = report.slowest.as_secs_f64() * 1e3;
    let crashes = report.crashes.len();
    println!("{:<22} {:>10} {rate:>8.0} {past:>5} % {slowest:>8.1} ms {crashes:>7}", target.name, report.runs);
}

fn keep(target: &Target, report: &Report, folder: &Path) {
    for (n, crash) in (1..).zip(&report.crashes) {
        let file = folder.join(format!("{}-{n}", target.name));
        println!("  {} ({} bytes): {}", file.display(), crash.input.len(), crash.message);
        if let Err(error) = fs::write(&file, &crash.input) {
            println!("  {}: {error}", file.display());
        }
    }
    if report.slowest > Duration::from_secs(5) {
        drop(fs::write(folder.join(format!("{}-slowest", target.name)), &report.slowest_input));
    }
}

fn percent(part: u64, whole: u64) -> u64 {
    (100 * part).checked_div(whole).unwrap_or(0)
}
