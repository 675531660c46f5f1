//! Verdicts are computed: nobody but the judge has words for them, and no page has numbers or reasons that were typed.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

/// The sources of the lab without their tests.
fn sources() -> Vec<(String, String)> {
    fn walk(folder: &Path, all: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { walk(&path, all) } else { all.push(path) }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut paths = Vec::new();
    walk(&root, &mut paths);
    paths.sort();
    let read = |path: &PathBuf| {
        let text = fs::read_to_string(path).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap().to_owned();
        (path.strip_prefix(&root).unwrap().to_string_lossy().into_owned(), code)
    };
    paths.iter().map(read).collect()
}

/// What a source says of a verdict, if it does.
fn verdict_in(code: &str) -> Option<&'static str> {
    let words = ["reproduced", "partly", "\"differs", "differs:", "differs because", "not tried", "Verdict::"];
    words.into_iter().find(|word| code.contains(word))
}

#[test]
fn verdicts_are_given_by_the_judge_alone() {
    for (name, code) in sources().iter().filter(|(name, _)| name != "judge.rs") {
        // The list of verdicts counts them, and gives none.
        let code = code.replace("judge::Verdict::ALL", "").replace("judge::Verdict::word", "");
        assert_eq!(verdict_in(&code), None, "{name}");
    }
    assert_eq!(verdict_in("claim(..).verdict = \"differs: narrowly\""), Some("\"differs"));
    assert_eq!(verdict_in("\"is reproduced, see above\""), Some("reproduced"));
}

/// A number with three decimals or more in a text, as results have: nobody types one.
fn result_in(code: &str) -> Option<String> {
    let bytes = code.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let found = (1..bytes.len())
        .find(|&at| bytes[at] == b'.' && is_digit(at - 1) && (1..=3).all(|next| is_digit(at + next)))?;
    Some(code[found - 1..found + 4].to_owned())
}

#[test]
fn no_result_is_typed() {
    // The example has the cells that its paper prints.
    for (name, code) in sources().iter().filter(|(name, _)| name != "nadimpalli2014/example.rs") {
        let texts: String = code.split('"').skip(1).step_by(2).collect::<Vec<_>>().join("\n");
        assert_eq!(result_in(&texts), None, "{name}");
        // A column of one number many times, or of numbers that stand there.
        for column in code.split(".column(").chain(code.split(".measured(")).skip(1) {
            let arguments = column.split("\n").next().unwrap();
            assert!(!arguments.contains("vec![0") && !arguments.contains("vec![1"), "{name}: {arguments}");
        }
    }
    assert_eq!(result_in("on Adult it removed 0.487 of the rows"), Some("0.487".into()));
    assert_eq!(result_in("k = 2.5, 1,000.0 rows"), None);
}
