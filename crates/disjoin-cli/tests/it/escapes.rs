//! Hostile terms, names of columns and names of files: nothing reaches a terminal, a browser or a spreadsheet that does something there.

#![cfg(unix)]

use std::fs;

use disjoin::report::visible_json;

use crate::common::{Bench, text};

/// Clears the screen, turns the direction of writing, hides, breaks lines.
const HOSTILE: &str = "a\u{1b}[2J\u{9b}1m\u{7f}\u{202e}b\u{2066}\u{200b}\u{feff}\u{2028}\u{61c}c";

const MARKUP: [&str; 7] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "](javascript:alert(1))",
    "`x` | y",
    "one\ntwo",
    "</style><b>",
    "<!--",
];

fn is_quiet(shown: &str) {
    let is_bad = |c: char| {
        c.is_control() && !matches!(c, '\n' | '\t')
            || matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
    };
    let bad: Vec<String> = shown.chars().filter(|&c| is_bad(c)).map(|c| c.escape_unicode().to_string()).collect();
    assert!(bad.is_empty(), "{bad:?} in {shown:?}");
}

/// Three terms in every record, so that they stay in chunks; the first is hostile.
fn bench(terms: &[&str]) -> Bench {
    let bench = Bench::new();
    let lines =
        (0..12).map(|i| visible_json(&serde_json::to_string(&[terms[i % terms.len()], "flu", "gout"]).unwrap()) + "\n");
    bench.file("x.jsonl", lines.collect::<String>());
    bench.file("recipe.toml", "[input]\nfile = \"x.jsonl\"\n[protect]\nk = 2\n");
    bench
}

#[test]
fn terminals_see_escapes_and_json_says_the_same() {
    let bench = bench(&[HOSTILE]);
    let both = |arguments: &[&str]| {
        let output = bench.run(arguments);
        let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
        is_quiet(&stdout);
        is_quiet(&stderr);
        stdout
    };
    both(&["run"]);
    assert!(both(&["query", "out", "--top", "5"]).contains("\\u{1b}[2J"));
    both(&["inspect", "x.jsonl"]);
    both(&["attack", "out", "--original", "x.jsonl", "--show-terms"]);
    both(&["explain", "out", HOSTILE]);
    let json = both(&["query", "out", "--top", "5", "--json"]);
    assert!(json.contains("\\u001b[2J\\u009b1m\\u007f\\u202e") && !json.contains("\\u{"), "{json}");
    let read: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(format!("{read:?}").contains(&format!("{HOSTILE:?}")), "{read:?}");
}

#[test]
fn errors_name_hostile_columns_and_files_in_the_clear() {
    let bench = Bench::new();
    let name = "d\u{1b}]0;x\u{7}\u{202e}\nerror: y.csv";
    bench.file(name, "a,\u{202e}b\n1,2\n");
    for arguments in [
        &["protect", name, "--quasi", "a", "-k", "2", "-o", "out"][..],
        &["protect", "nowhere\u{1b}[1m", "-o", "out"],
        &["verify", name],
        &["convert", "x.dat", name],
        &["verify", "--\u{1b}[1m\u{202e}"],
    ] {
        let output = bench.run(arguments);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
        is_quiet(&stderr);
        assert!(stderr.contains("\\u{"), "{arguments:?}: {stderr}");
        assert_eq!(stderr.lines().filter(|line| line.starts_with("error: ")).count(), 1, "{arguments:?}: {stderr}");
    }
    // What is not Unicode is an argument, too.
    use std::os::unix::ffi::OsStrExt;
    let odd = std::ffi::OsStr::from_bytes(b"odd\xff.dat");
    let output = bench.command(&["verify"]).arg(odd).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
}

#[test]
fn reports_show_markup_as_text() {
    let terms: Vec<&str> = MARKUP.iter().copied().chain([HOSTILE]).collect();
    let bench = bench(&terms);
    let evil = "r\"><script>x.jsonl";
    fs::rename(bench.at("x.jsonl"), bench.at(evil)).unwrap();
    bench.file("recipe.toml", format!("[input]\nfile = {evil:?}\n[protect]\nk = 2\nsensitive = [\"flu\"]\n"));
    bench.run(&["run"]);
    for file in ["custody/report.html", "release/report.html", "custody/report.md"] {
        let page = fs::read_to_string(bench.at("out").join(file)).unwrap();
        is_quiet(&page);
        // What has a backslash before it is text in Markdown.
        let page = ["\\<", "\\]", "\\`", "\\|"].iter().fold(page, |page, escaped| page.replace(escaped, "_"));
        assert!(!page.contains("<script") && !page.contains("<img") && !page.contains("](javascript"), "{file}");
        assert_eq!(page.matches("</style>").count(), usize::from(file.ends_with("html")), "{file}");
        assert!(!page.contains("<b>") && !page.contains("<!--"), "{file}");
    }
    // A picture with names of columns in it.
    let header = ["<script>q</script>", "\"><img onerror=x>", "c</style>"];
    let rows: String = (0..200).map(|i| format!("{},{},{}\n", i % 2, i % 2, (i + i / 7) % 2)).collect();
    let quoted: Vec<String> = header.iter().map(|name| format!("\"{}\"", name.replace('"', "\"\""))).collect();
    bench.file("t.csv", format!("{}\n{rows}", quoted.join(",")));
    let (quasi, sensitive) = (header[..2].join(","), header[2]);
    bench.good(&["protect", "t.csv", "--quasi", &quasi, "--sensitive", sensitive, "-k", "2", "-o", "table"]);
    bench.run(&["attack", "table", "--dependencies", "--keep", "--network-svg", "net.svg"]);
    for file in ["net.svg", "table/custody/dependencies.html"] {
        let page = fs::read_to_string(bench.at(file)).unwrap();
        is_quiet(&page);
        assert!(page.contains("&lt;script&gt;") && !page.contains("<script") && !page.contains("<img"), "{file}");
    }
}

#[test]
fn csv_from_convert_holds_no_formula_unless_it_is_asked_for() {
    let bench = Bench::new();
    let hostile = ["=cmd|' /C calc'!A1", "+1+1", "-2+3", "@SUM(A1)", "-5", "plain"];
    bench.file("x.jsonl", hostile.map(|term| serde_json::to_string(&[term]).unwrap() + "\n").concat());
    for (to, item) in [("x.csv", 0), ("x.long", 1)] {
        let format = if item == 0 { "csv" } else { "long" };
        let (_, stderr) = bench.good(&["convert", "x.jsonl", to, "--to", format]);
        assert!(stderr.contains("4 terms begin like a formula"), "{stderr}");
        let written = fs::read_to_string(bench.at(to)).unwrap();
        let cells: Vec<&str> = written.lines().skip(1).map(|line| line.splitn(item + 1, ',').last().unwrap()).collect();
        for cell in &cells {
            let cell = cell.trim_matches('"');
            assert!(!cell.starts_with(['=', '+', '@']) && (!cell.starts_with('-') || cell == "-5"), "{cell}");
        }
        // Read again, the quotes are there; as they are, terms are what they were.
        bench.good(&["convert", to, "again.jsonl", "--format", format, "--force"]);
        let again = fs::read_to_string(bench.at("again.jsonl")).unwrap();
        assert!(again.contains("\"'@SUM(A1)\"") && again.contains("\"-5\""), "{again}");
        bench.good(&["convert", "x.jsonl", to, "--to", format, "--keep-formulas", "--force"]);
        bench.good(&["convert", to, "again.jsonl", "--format", format, "--force"]);
        assert_eq!(fs::read(bench.at("again.jsonl")).unwrap(), fs::read(bench.at("x.jsonl")).unwrap());
    }
}
