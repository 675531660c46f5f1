//! Files that somebody made to hurt: whatever they hold, every verb ends soon, at bounded memory, with an exit code that means something,
//! and writes nothing outside of its output folder.

#![cfg(target_os = "linux")]

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::common::text;
use crate::forms::{all, bench};

mod data;
mod releases;

/// Kilobytes of address space that a child may have.
const SPACE: u32 = 512 << 10;

/// Seconds of work that a child may take.
const SECONDS: u32 = 10;

/// A hostile file, or a folder with one: how it is made in a folder of its own, and what is run on it there.
pub(crate) struct Case {
    name: String,
    make: Box<dyn Fn(&Path) + Send + Sync>,
    pub(crate) runs: Vec<Vec<String>>,
}

impl Case {
    pub(crate) fn new(
        name: impl Into<String>,
        make: impl Fn(&Path) + Send + Sync + 'static,
        runs: impl IntoIterator<Item = Vec<String>>,
    ) -> Self {
        Case { name: name.into(), make: Box::new(make), runs: runs.into_iter().collect() }
    }
}

/// Words of a command line.
pub(crate) fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

/// What a child left: its exit code, how long it took, and what it said.
struct Ended {
    code: Option<i32>,
    took: Duration,
    stderr: String,
}

fn run(folder: &Path, arguments: &[String]) -> Ended {
    let limits = format!("ulimit -v {SPACE}; ulimit -t {SECONDS}; ulimit -c 0; exec \"$0\" \"$@\"");
    let said = folder.join("said");
    let mut child = Command::new("bash")
        .args(["-c", &limits, env!("CARGO_BIN_EXE_disjoin")])
        .args(arguments)
        // Arenas reserve space that is never used.
        .env("MALLOC_ARENA_MAX", "1")
        .env("RAYON_NUM_THREADS", "2")
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(fs::File::create(&said).unwrap())
        .spawn()
        .unwrap();
    let start = Instant::now();
    let code = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status.code();
        }
        // Work is counted by the system; whoever waits for something that never comes is found here.
        if start.elapsed() > Duration::from_secs(90) {
            child.kill().unwrap();
            child.wait().unwrap();
            break None;
        }
        std::thread::sleep(Duration::from_millis(3));
    };
    let stderr = text(&fs::read(&said).unwrap());
    fs::remove_file(&said).unwrap();
    Ended { code, took: start.elapsed(), stderr }
}

/// All names below a folder but those of the output, without following links.
fn names(folder: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(&next).unwrap().flatten() {
            let path = entry.path();
            if path == folder.join("out") || path == folder.join("said") {
                continue;
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push(path.clone());
            }
            names.insert(path.strip_prefix(folder).unwrap().display().to_string());
        }
    }
    names
}

/// What is wrong with how a verb took a case, if something is.
fn faults(folder: &Path, case: &Case) -> Vec<String> {
    let mut faults = Vec::new();
    for arguments in &case.runs {
        let before = names(folder);
        let ended = run(folder, arguments);
        let is_known = matches!(ended.code, Some(0..=2));
        let panics = ["panicked at", "RUST_BACKTRACE", "memory allocation", "stopped by a defect", "internal defect"];
        let is_calm = !panics.iter().any(|word| ended.stderr.contains(word));
        let says_why = ended.code != Some(2) || ended.stderr.contains("error: ");
        let is_tidy = names(folder) == before;
        if !(is_known && is_calm && says_why && is_tidy) {
            let Ended { code, took, stderr } = ended;
            let stderr: String = stderr.chars().take(300).collect();
            faults.push(format!(
                "{}: {}: {code:?} after {took:?}, tidy {is_tidy}: {stderr}",
                case.name,
                arguments.join(" ")
            ));
        }
        let _ = fs::remove_dir_all(folder.join("out"));
        let _ = fs::remove_file(folder.join("out"));
    }
    faults
}

/// Runs all cases, two at a time, and tells of all faults together.
fn check(cases: &[Case]) {
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let folder = tempfile::tempdir().unwrap();
                    (case.make)(folder.path());
                    found.lock().unwrap().extend(faults(folder.path(), case));
                }
            });
        }
    });
    let found = found.into_inner().unwrap();
    assert!(found.is_empty(), "{} faults\n{}", found.len(), found.join("\n"));
}

#[test]
fn hostile_releases_end_in_an_exit_code() {
    let made = releases::made();
    let cases: Vec<Case> = releases::damaged(&made).into_iter().chain(releases::giant()).collect();
    assert!(cases.len() >= 150, "{}", cases.len());
    check(&cases);
}

#[test]
fn hostile_data_recipes_and_hierarchies_end_in_an_exit_code() {
    let cases: Vec<Case> = data::all();
    assert!(cases.len() >= 60, "{}", cases.len());
    check(&cases);
}

/// What an error says: the place, the limit and the flag that raises it.
fn refused(case: &Case, expected: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    (case.make)(folder.path());
    for arguments in &case.runs {
        let ended = run(folder.path(), arguments);
        assert_eq!(ended.code, Some(2), "{}: {arguments:?}: {}", case.name, ended.stderr);
        for part in expected {
            assert!(ended.stderr.contains(part), "{}: {arguments:?}: {part}: {}", case.name, ended.stderr);
        }
    }
}

/// Found by running: 233 bytes made `attack` ask for 103 GB, a million terms made `query --top` ask for 8 TB, and 978 KB aborted the process.
#[test]
fn what_was_found_is_refused_with_its_limit() {
    let only = |case: Case, line: &str| Case { runs: vec![words(line)], ..case };
    let limit = ["of memory, and the limit for this file is", "--memory"];
    let claimed = || releases::sized("claimed", u32::MAX, u32::MAX);
    refused(&only(claimed(), "attack release"), &[&["release/data.jsonl"], &limit[..]].concat());
    refused(&only(claimed(), "reconstruct release -o out"), &[&["release/data.jsonl"], &limit[..]].concat());
    let many = only(releases::many_terms(1_000_000), "query release --top 5 --size 2");
    refused(&many, &[&["release/data.jsonl"], &limit[..]].concat());
    for packed in ["x.zst", "x.gz"] {
        refused(&only(data::bomb(packed), &format!("inspect {packed}")), &[&[packed], &limit[..]].concat());
    }
}

/// Who trusts a file raises the limit, and lowers it for those that are not trusted.
#[test]
fn the_limit_is_for_the_user_to_set() {
    let folder = tempfile::tempdir().unwrap();
    let mut packed = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    // 90 MB of one record, over and over.
    (0..90).for_each(|_| packed.write_all("a b\n".repeat(250_000).as_bytes()).unwrap());
    fs::write(folder.path().join("x.dat.zst"), packed.finish().unwrap()).unwrap();
    let convert = |more: &str| {
        let line = format!("convert x.dat.zst y.jsonl --separator space {more}");
        Command::new(env!("CARGO_BIN_EXE_disjoin")).args(words(&line)).current_dir(folder.path()).output().unwrap()
    };
    assert_eq!(convert("").status.code(), Some(2));
    assert_eq!(convert("--memory 10M").status.code(), Some(2));
    let raised = convert("--memory 1G");
    assert_eq!(raised.status.code(), Some(0), "{}", text(&raised.stderr));
    assert!(text(&convert("--memory lots").stderr).contains("number of bytes"));
}

/// The bytes of a file, for those that damage it.
pub(crate) fn bytes_of(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    fs::File::open(path).unwrap().read_to_end(&mut bytes).unwrap();
    bytes
}

/// A pipe that nobody writes to.
pub(crate) fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// A link, whether there is something at its end or not.
pub(crate) fn link(path: &Path, to: &str) {
    symlink(to, path).unwrap();
}

/// One package of every form, made by its recipe.
pub(crate) fn packages() -> (crate::common::Bench, Vec<&'static str>) {
    let bench = bench();
    let names: Vec<&'static str> = all().iter().map(|form| form.name).collect();
    for name in &names {
        let output = bench.run(&["run", &format!("{name}.toml"), "--quiet"]);
        assert!(matches!(output.status.code(), Some(0 | 1)), "{name}: {}", text(&output.stderr));
    }
    (bench, names)
}
