//! Invariants of the source tree itself: module order, file headers, no printing in the core, PAPERS.md and
//! README.md up to date.
//!
//! Text is searched, not syntax: this catches accidents, not intent.

use std::fs;
use std::path::Path;

use crate::sources::{root, rust_files};

/// A module may use those to its left.
const ORDER: [&str; 21] = [
    "location",
    "error",
    "memory",
    "observer",
    "data",
    "release",
    "read",
    "generate",
    "inspect",
    "knowledge",
    "reconstruct",
    "protect",
    "verify",
    "attack",
    "measure",
    "repair",
    "audit",
    "recipe",
    "report",
    "publish",
    "run",
];

/// Forbidden although to the left: the verifier and the adversary must not share code with what they judge.
const FORBIDDEN: [(&str, &str); 5] =
    [("verify", "protect"), ("attack", "protect"), ("attack", "read"), ("measure", "protect"), ("audit", "protect")];

/// The part of a file before its tests.
fn code(text: &str) -> &str {
    ["#[cfg(test)]\nmod ", "#[cfg(test)]\npub(super) mod "]
        .iter()
        .fold(text, |code, tests| code.split(tests).next().unwrap())
}

fn core_files() -> Vec<(String, String)> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let name = |path: &Path| path.strip_prefix(&src).unwrap().to_string_lossy().into_owned();
    rust_files(&src).iter().map(|path| (name(path), fs::read_to_string(path).unwrap())).collect()
}

fn module_of(file: &str) -> &str {
    file.split(['/', '.']).next().unwrap()
}

#[test]
fn modules_use_only_those_to_their_left() {
    let place = |module: &str| ORDER.iter().position(|&other| other == module);
    let mut checked = 0;
    for (file, text) in core_files() {
        let module = module_of(&file);
        if module == "lib" {
            continue;
        }
        let here = place(module).unwrap_or_else(|| panic!("{file}: the module {module} has no place in the order"));
        for used in code(&text).split("crate::").skip(1) {
            let used = used.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap();
            let Some(there) = place(used) else { continue };
            checked += 1;
            assert!(there <= here, "{file} uses {used}, which stands to its right");
            assert!(!FORBIDDEN.contains(&(module, used)), "{file} must not use {used}");
        }
    }
    assert!(checked > 20);
}

#[test]
fn every_file_says_what_it_is() {
    for folder in [
        "crates/disjoin/src",
        "crates/disjoin/tests",
        "crates/disjoin-cli/src",
        "crates/disjoin-cli/tests",
        "crates/disjoin-databases/src",
        "crates/disjoin-databases/tests",
        "lab/src",
    ] {
        for path in rust_files(&root().join(folder)) {
            let text = fs::read_to_string(&path).unwrap();
            assert!(text.starts_with("//! "), "{} does not begin with what it is", path.display());
        }
    }
}

/// Files that implement a paper's algorithm say which, what it promises, where they depart, and what checks them.
#[test]
fn algorithms_have_the_full_header() {
    let mut algorithms = 0;
    for (file, text) in core_files() {
        let header: String = text.lines().take_while(|line| line.starts_with("//!")).collect();
        if header.contains("Paper:") {
            algorithms += 1;
            for label in ["Paper:", "Cost:", "Checked by:"] {
                assert!(header.contains(label), "{file}: the header lacks \"{label}\"");
            }
            let says_what_for = header.contains("Promises:") || header.contains("Assumes:");
            assert!(says_what_for, "{file}: the header lacks \"Promises:\" or \"Assumes:\"");
        }
    }
    assert!(algorithms >= 5, "{algorithms}");
}

#[test]
fn the_core_neither_prints_nor_stops_the_program() {
    for (file, text) in core_files() {
        for (number, line) in code(&text).lines().enumerate() {
            let line = line.split("//").next().unwrap();
            for word in
                ["println!(", "print!(", "eprintln!(", "eprint!(", "dbg!(", "process::exit", ".unwrap()", "panic!("]
            {
                assert!(!line.contains(word), "{file}:{}: {word}", number + 1);
            }
        }
    }
}

/// Every row of the table in PAPERS.md points to a file and to a test that exist.
#[test]
fn papers_md_points_to_what_exists() {
    let papers = fs::read_to_string(root().join("PAPERS.md")).unwrap();
    let tests: String =
        ["crates/disjoin/src", "crates/disjoin/tests", "crates/disjoin-cli/tests", "crates/disjoin-sentences/tests"]
            .iter()
            .flat_map(|folder| rust_files(&root().join(folder)))
            .map(|path| fs::read_to_string(path).unwrap())
            .collect();
    let mut rows = 0;
    for line in papers.lines().filter(|line| line.starts_with("| ") && line.contains('`')) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [_, _, files, names, status] = cells[..] else { panic!("PAPERS.md: five cells expected in {line}") };
        assert!(["done", "partly", "lab only"].contains(&status), "PAPERS.md: unknown status {status}");
        for file in files.split('`').skip(1).step_by(2) {
            assert!(root().join("crates/disjoin/src").join(file).exists(), "PAPERS.md: no file {file}");
        }
        for name in names.split('`').skip(1).step_by(2) {
            assert!(tests.contains(&format!("fn {name}(")), "PAPERS.md: no test {name}");
        }
        rows += 1;
    }
    assert!(rows >= 8, "{rows}");
}

/// The ten lines of the README are those of the crate's documentation.
#[test]
fn the_readme_shows_the_example_of_the_crate() {
    let lib = fs::read_to_string(root().join("crates/disjoin/src/lib.rs")).unwrap();
    let head: Vec<&str> = lib.lines().map_while(|line| line.strip_prefix("//!")).collect();
    let head: String = head.iter().map(|line| line.strip_prefix(' ').unwrap_or(line).to_owned() + "\n").collect();
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let block = |text: &str, fence: &str| text.split(fence).nth(1).unwrap().split("```").next().unwrap().to_owned();
    let example = block(&head, "```\n");
    assert!(example.lines().count() >= 9, "{example}");
    assert_eq!(block(&readme, "```rust\n"), example);
}
