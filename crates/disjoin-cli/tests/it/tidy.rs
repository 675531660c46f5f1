//! The command line is thin: it names no form of release, has no default of its own, and its files are short. Functions of the whole
//! tree are short, too.
//!
//! Text is searched, not syntax: this catches accidents, not intent.

use std::fs;
use std::path::{Path, PathBuf};

use crate::sources::{root, rust_files};

fn sources() -> Vec<(PathBuf, String)> {
    let files = rust_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    files.into_iter().map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

/// A line without what is said beside the code.
fn code(line: &str) -> &str {
    line.split("//").next().unwrap()
}

#[test]
fn the_command_line_names_no_form_of_release() {
    const FORMS: [&str; 12] = [
        "Form::",
        "Release::",
        "form_of",
        "Disassociated",
        "TableClaim",
        "SplitClaim",
        "RecodedClaim",
        "NoisyClaim",
        "verify_table",
        "open_split",
        "open_recoded",
        "InMemory",
    ];
    for (path, text) in sources() {
        for (line, number) in text.lines().zip(1..) {
            let found = FORMS.iter().find(|form| code(line).contains(**form));
            assert!(found.is_none(), "{}:{number} names {}", path.display(), found.unwrap());
        }
    }
}

#[test]
fn the_command_line_has_no_default_of_its_own() {
    for (path, text) in sources() {
        for (line, number) in text.lines().zip(1..) {
            let of_core = |value: &str| value.trim_start().starts_with(|c: char| c.is_alphabetic());
            let is_own = code(line).contains("default_value = ")
                || code(line).split("default_value_t = ").skip(1).any(|value| !of_core(value))
                || code(line)
                    .split("unwrap_or(")
                    .skip(1)
                    .any(|value| value.starts_with(|c: char| c.is_ascii_digit() && c != '1'));
            assert!(!is_own, "{}:{number}: {line}", path.display());
        }
    }
}

#[test]
fn files_of_the_command_line_are_short() {
    let mut lengths: Vec<(usize, PathBuf)> =
        sources().into_iter().map(|(path, text)| (text.lines().count(), path)).collect();
    lengths.sort();
    let (median, longest) = (lengths[lengths.len() / 2].0, lengths.last().unwrap());
    assert!(median < 120, "{median}");
    assert!(longest.0 <= 300, "{longest:?}");
}

/// From the line of `fn` to the closing brace at the same depth of indentation.
fn long_functions(text: &str) -> Vec<(usize, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let is_function = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().take(4).collect();
        words.contains(&"fn") && !line.trim_start().starts_with("//") && !line.contains('"')
    };
    let mut long = Vec::new();
    for (start, line) in lines.iter().enumerate().filter(|(_, line)| is_function(line)) {
        let indent = line.len() - line.trim_start().len();
        let end = format!("{}}}", " ".repeat(indent));
        let length = lines[start..].iter().position(|line| *line == end).map_or(0, |at| at + 1);
        let is_declared = lines[start..].iter().take(length).position(|line| line.ends_with('{')).is_some();
        if is_declared && length > 60 {
            long.push((start + 1, length));
        }
    }
    long
}

#[test]
fn few_functions_of_the_tree_are_long() {
    let mut long = Vec::new();
    for folder in ["crates", "lab/src", "fuzz"] {
        for path in rust_files(&root().join(folder)) {
            let text = fs::read_to_string(&path).unwrap();
            long.extend(
                long_functions(&text).into_iter().map(|(line, length)| format!("{}:{line}: {length}", path.display())),
            );
        }
    }
    assert!(long.len() <= 10, "{} functions are longer than 60 lines:\n{}", long.len(), long.join("\n"));
}
