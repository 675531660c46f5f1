//! What users read is in the field's words: see "Words" in the glossary of the book.

use std::fs;
use std::path::Path;

use crate::common::Bench;
use crate::sources::{files, root};

/// Words that readers do not know, and what the field says instead.
const NOT: [(&[&str], &str); 15] = [
    (&["crowd", "crowds", "hides in", "hide in"], "records that cannot be told apart; equivalence class"),
    (&["reckon", "reckons", "reckoned", "reckoning"], "an adversary who knows the algorithm (minimality attack)"),
    (&["put up with"], "threshold, limit"),
    (&["mend", "mends", "mended", "mending"], "repair"),
    (&["made-up", "made up"], "synthetic"),
    (&["blind", "blindly", "beyond blind"], "baseline; advantage over the baseline"),
    (&["truer"], "inference gain over the prior"),
    (&["set aside", "sets aside", "setting aside"], "moved to the term chunk"),
    (&["likeliest"], "highest re-identification risk"),
    (&["whoever knows"], "an adversary with N terms of background knowledge"),
    (&["give away", "gives away", "given away", "give nobody away", "gives nobody away"], "disclose"),
    (&["certain statement", "certain statements"], "certain disclosures"),
    (&["story", "stories"], "run, result"),
    (&["dealt", "ways to deal"], "assignments consistent with the release"),
    (&["removed row", "removed rows"], "suppressed records"),
];

/// Words that are wrong of a release only.
const NOT_OF_A_RELEASE: [&str; 8] = [
    "release tells",
    "release told",
    "release says",
    "claim tells",
    "claim says",
    "header tells",
    "header says",
    "role other",
];

/// What may stand all the same, and why.
const ALLOWED: [(&str, &str); 1] = [
    // The name of a stream of random numbers: nobody reads it, and another name would draw another table.
    ("reconstruct/dealt.rs", "reconstruct/dealt"),
];

/// A text that users read, and where it is from.
struct Read {
    place: String,
    text: String,
}

/// The help of a verb, and that of all below it.
fn helps(bench: &Bench, verb: &[&str], found: &mut Vec<Read>) {
    let (text, _) = bench.good(&[verb, &["--help"]].concat());
    let listed = text.split_once("\nCommands:\n").map_or("", |(_, rest)| rest.split("\n\n").next().unwrap_or(rest));
    let named = |line: &str| line.strip_prefix("  ").and_then(|rest| rest.split(' ').next().map(str::to_owned));
    for name in listed.lines().filter_map(named).filter(|name| !name.is_empty() && name != "help") {
        helps(bench, &[verb, &[name.as_str()]].concat(), found);
    }
    found.push(Read { place: format!("disjoin {} --help", verb.join(" ")), text });
}

/// The string literals of a Rust file, without its comments and tests.
fn literals(source: &str) -> Vec<String> {
    let source = source.split("\n#[cfg(test)]\nmod ").next().unwrap_or(source);
    let (mut found, mut rest, mut before) = (Vec::new(), source, ' ');
    while let Some(first) = rest.chars().next() {
        let is_name = before.is_alphanumeric() || before == '_';
        let (literal, behind) = match first {
            '/' if rest.starts_with("//") => (None, rest.find('\n').map_or("", |end| &rest[end..])),
            '"' => plain(&rest[1..]),
            'r' if !is_name => raw(rest).unwrap_or((None, &rest[1..])),
            '\'' => (None, behind_character(rest)),
            other => (None, &rest[other.len_utf8()..]),
        };
        found.extend(literal);
        (before, rest) = (first, behind);
    }
    found
}

/// A literal whose quotation mark was read, and what stands behind it.
fn plain(rest: &str) -> (Option<String>, &str) {
    let mut escaped = false;
    for (at, c) in rest.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => {
                // A backslash at the end of a line skips to the next word.
                let lines = rest[..at].split("\\\n").map(str::trim_start);
                return (Some(lines.collect()), &rest[at + 1..]);
            }
            _ => {}
        }
    }
    (None, "")
}

/// A raw literal, if one begins here, and what stands behind it.
fn raw(rest: &str) -> Option<(Option<String>, &str)> {
    let hashes = rest[1..].bytes().take_while(|&byte| byte == b'#').count();
    let text = rest.get(1 + hashes..)?.strip_prefix('"')?;
    let (text, behind) = text.split_once(&format!("\"{}", "#".repeat(hashes)))?;
    Some((Some(text.to_owned()), behind))
}

/// What stands behind a character such as '"', or behind the mark of a lifetime.
fn behind_character(rest: &str) -> &str {
    let inner = &rest[1..];
    let escape = inner.strip_prefix('\\').and_then(|escaped| {
        let first = escaped.chars().next()?;
        escaped[first.len_utf8()..].split_once('\'').map(|(_, behind)| behind)
    });
    let single = || inner.chars().next().and_then(|c| inner[c.len_utf8()..].strip_prefix('\''));
    escape.or_else(single).unwrap_or(inner)
}

/// Whether the phrase stands in the text as whole words; both are in lower case.
fn holds(text: &str, phrase: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(phrase).any(|(at, _)| {
        let (before, behind) = (text[..at].chars().next_back(), text[at + phrase.len()..].chars().next());
        !before.is_some_and(is_part) && !behind.is_some_and(is_part)
    })
}

/// Everything that users read.
fn read() -> Vec<Read> {
    let bench = Bench::new();
    bench.file("x", "1 2\n2 3\n");
    bench.file("people.csv", "name,age,sex,disease,x7\na,30,f,flu,1\nb,40,m,gout,2\n");
    let mut all = Vec::new();
    helps(&bench, &[], &mut all);
    for (place, args) in [
        ("protect --help all", &["protect", "--help", "all"][..]),
        ("recipe schema", &["recipe", "schema"][..]),
        ("recipe new", &["recipe", "new", "x", "-o", "-"][..]),
        ("recipe new", &["recipe", "new", "people.csv", "-o", "-", "--accept-suggestions"][..]),
        ("inspect", &["inspect", "people.csv"][..]),
    ] {
        all.push(Read { place: format!("disjoin {place}"), text: bench.good(args).0 });
    }
    let root = root();
    let short = |path: &Path| path.strip_prefix(&root).unwrap().display().to_string();
    for source in
        ["crates/disjoin/src", "crates/disjoin-cli/src"].map(|folder| files(&root.join(folder), "rs")).concat()
    {
        let texts = literals(&fs::read_to_string(&source).unwrap());
        all.extend(texts.into_iter().map(|text| Read { place: short(&source), text }));
    }
    let pages = ["README.md", "THREAT_MODEL.md"].map(|name| root.join(name));
    for page in pages.into_iter().chain(files(&root.join("docs/src"), "md")) {
        all.push(Read { place: short(&page), text: fs::read_to_string(&page).unwrap() });
    }
    all
}

#[test]
fn no_reader_meets_a_word_of_the_left_column() {
    let all = read();
    assert!(all.len() > 2000, "{} texts only", all.len());
    let mut found = Vec::new();
    for Read { place, text } in &all {
        if ALLOWED.iter().any(|(file, literal)| place.ends_with(file) && text == literal) {
            continue;
        }
        // Phrases may go over the end of a line.
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        for (words, instead) in &NOT {
            let used = words.iter().filter(|word| holds(&text, word));
            found.extend(used.map(|word| format!("{place}: \"{word}\"; write: {instead}")));
        }
        let used = NOT_OF_A_RELEASE.iter().filter(|phrase| holds(&text, phrase));
        found.extend(used.map(|phrase| format!("{place}: \"{phrase}\"; write: published, disclosed, shows")));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn literals_are_found_and_comments_are_not() {
    let source = "// \"no\"\nlet a = \"one \\\n    two \\\"x\\\"\"; let b = '\"'; fn f<'a>() { r#\"raw \"text\"\"# }\n\
                  let c = b\"bytes\"; // it's \"no\"\n\n#[cfg(test)]\nmod tests { \"no\" }\n";
    assert_eq!(literals(source), ["one two \\\"x\\\"", "raw \"text\"", "bytes"]);
    assert!(holds("a crowd.", "crowd") && !holds("crowded", "crowd") && !holds("beyond_blind", "blind"));
}
