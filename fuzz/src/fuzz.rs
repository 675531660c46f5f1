//! The loop: seeds, small changes, and what came of them. All of it follows from one number.
//!
//! An input that got past the parser may become a seed, so that changes add up without most inputs being refused.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::mutate::mutate;
use crate::targets::{Target, Text};

/// So many inputs are kept to be changed.
const KEPT: usize = 128;

/// How long a target is run.
#[derive(Debug, Clone, Copy)]
pub enum Budget {
    /// So many executions.
    Runs(u64),
    /// As many executions as this allows.
    Time(Duration),
}

/// An input that a target panicked on.
#[derive(Debug, Clone)]
pub struct Crash {
    /// The bytes.
    pub input: Vec<u8>,
    /// What was said, and where.
    pub message: String,
}

/// What became of a target.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// Executions.
    pub runs: u64,
    /// Those that got past the parser.
    pub reached: u64,
    /// Inputs that the target panicked on, one for each place.
    pub crashes: Vec<Crash>,
    /// The slowest execution.
    pub slowest: Duration,
    /// The input of that.
    pub slowest_input: Vec<u8>,
    /// All of it.
    pub took: Duration,
}

/// Runs a target on its seeds, which are in the folder `seeds`, and on changes of them. `before` hears each input first.
pub fn fuzz(target: &Target, seeds: &Path, seed: u64, budget: Budget, mut before: impl FnMut(&[u8])) -> Report {
    let mut hasher = DefaultHasher::new();
    (target.name, seed).hash(&mut hasher);
    let mut rng = ChaCha8Rng::seed_from_u64(hasher.finish());
    let mut pool = seeds_of(target, seeds, &mut rng);
    let n_seeds = pool.len();
    let mut report = Report::default();
    let start = Instant::now();
    loop {
        let is_over = match budget {
            Budget::Runs(runs) => report.runs >= runs,
            Budget::Time(time) => start.elapsed() >= time,
        };
        if is_over {
            report.took = start.elapsed();
            return report;
        }
        let input = match pool.get(report.runs as usize).filter(|_| report.runs < n_seeds as u64) {
            Some(seed) => seed.clone(),
            None => {
                let (one, other) = (rng.random_range(0..pool.len()), rng.random_range(0..pool.len()));
                mutate(&pool[one], &pool[other], target.text, &mut rng)
            }
        };
        before(&input);
        let began = Instant::now();
        let result = replay(target, &input);
        let took = began.elapsed();
        report.runs += 1;
        if took > report.slowest {
            (report.slowest, report.slowest_input) = (took, input.clone());
        }
        match result {
            Ok(false) => {}
            Ok(true) => {
                report.reached += 1;
                keep(&mut pool, n_seeds, input, &mut rng);
            }
            Err(message) if report.crashes.iter().any(|crash| place(&crash.message) == place(&message)) => {}
            Err(message) => report.crashes.push(Crash { input, message }),
        }
    }
}

/// Runs a target on one input: whether it got past the parser, or what the target panicked with.
pub fn replay(target: &Target, input: &[u8]) -> Result<bool, String> {
    prepare();
    RUNNING.store(true, Ordering::Relaxed);
    let result = catch_unwind(AssertUnwindSafe(|| (target.run)(input)));
    RUNNING.store(false, Ordering::Relaxed);
    result.map_err(|_| LAST.lock().unwrap_or_else(PoisonError::into_inner).clone())
}

/// Where somebody panicked: the same place with other numbers is the same crash.
fn place(message: &str) -> &str {
    message.lines().next().unwrap_or_default()
}

/// The files of a folder in order; noise where inputs are decisions, which mean nothing to a reader.
fn seeds_of(target: &Target, seeds: &Path, rng: &mut ChaCha8Rng) -> Vec<Vec<u8>> {
    let mut files: Vec<_> = std::fs::read_dir(seeds.join(target.seeds))
        .map(|entries| entries.filter_map(|entry| Some(entry.ok()?.path())).collect())
        .unwrap_or_default();
    files.sort();
    let mut pool: Vec<Vec<u8>> = files.iter().filter_map(|file| std::fs::read(file).ok()).collect();
    if target.text == Text::Decisions {
        let noise = |n: usize, rng: &mut ChaCha8Rng| (0..n).map(|_| rng.random()).collect();
        pool.extend((0..32).map(|n| noise(32 + 24 * n, rng)));
    }
    if pool.is_empty() {
        pool.push(Vec::new());
    }
    pool
}

/// The seeds stay; what was kept besides gives way by chance.
fn keep(pool: &mut Vec<Vec<u8>>, n_seeds: usize, input: Vec<u8>, rng: &mut ChaCha8Rng) {
    if pool.len() < n_seeds + KEPT {
        pool.push(input);
    } else if rng.random_range(0..16_u32) == 0 {
        let at = rng.random_range(n_seeds..pool.len());
        pool[at] = input;
    }
}

static RUNNING: AtomicBool = AtomicBool::new(false);
static LAST: Mutex<String> = Mutex::new(String::new());

/// Once a process.
///
/// The Parquet library panics on some damaged files; our readers catch that and report an error. Nobody shall hear of it, so
/// while a target runs the hook only remembers what was said. And this thread becomes the whole thread pool: waking another one for each small
/// input would take most of the time.
fn prepare() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| match RUNNING.load(Ordering::Relaxed) {
            true => *LAST.lock().unwrap_or_else(PoisonError::into_inner) = info.to_string(),
            false => usual(info),
        }));
        // Somebody may have built it already, as tests do.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global();
    });
}
