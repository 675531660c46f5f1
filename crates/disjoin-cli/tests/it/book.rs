//! The book in docs/, checked against the program: its commands run, its reference is what the code says, its links lead
//! somewhere.
//!
//! `UPDATE_BOOK=1 cargo test -p disjoin-cli --test it book` writes the reference anew. How blocks are read is told in
//! docs/src/reading.md. Rust blocks are compiled by the documentation tests of the crate `disjoin`.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn source() -> PathBuf {
    root().join("docs/src")
}

/// All Markdown files below a folder, sorted.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(pages(&path));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn short(path: &Path) -> String {
    path.strip_prefix(root()).unwrap().display().to_string()
}

/// A command of a console block and what the book says that it prints.
#[derive(Debug, PartialEq)]
struct Step {
    line: usize,
    command: String,
    exit: i32,
    output: Vec<String>,
}

/// The commands of all console blocks of a page.
fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((_, line)) = lines.next() {
        if line.trim_end() != "```console" {
            continue;
        }
        let mut first = true;
        while let Some((number, line)) = lines.next() {
            if line.starts_with("```") {
                break;
            }
            let Some(command) = line.strip_prefix("$ ") else {
                assert!(!first, "line {}: a console block begins with a command", number + 1);
                steps.last_mut().unwrap().output.push(line.trim_end().to_owned());
                continue;
            };
            first = false;
            let exit = command.rsplit_once("# exit ").map_or(0, |(_, code)| code.trim().parse().unwrap());
            let mut command = command.to_owned();
            if let Some((_, word)) = command.split_once("<<") {
                let end = word.trim_start_matches('\'').split(['\'', ' ']).next().unwrap().to_owned();
                for (_, line) in lines.by_ref() {
                    command.push('\n');
                    command.push_str(line);
                    if line == end {
                        break;
                    }
                    assert!(!line.starts_with("```"), "line {}: the here-document has no end", number + 1);
                }
            }
            steps.push(Step { line: number + 1, command, exit, output: Vec::new() });
        }
    }
    steps
}

/// Whether the lines are those expected, where `...` stands for any number of lines.
fn fits(expected: &[String], lines: &[&str]) -> bool {
    match expected.split_first() {
        None => lines.is_empty(),
        Some((first, rest)) if first == "..." => (0..=lines.len()).any(|skipped| fits(rest, &lines[skipped..])),
        Some((first, rest)) => lines.first().is_some_and(|line| line.trim_end() == first) && fits(rest, &lines[1..]),
    }
}

/// Runs all commands of a page in a folder of its own and returns what was not as written.
fn run_page(page: &Path) -> (usize, Vec<String>) {
    let steps = steps(&fs::read_to_string(page).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_disjoin"));
    let mut path = program.parent().unwrap().as_os_str().to_owned();
    if let Some(others) = std::env::var_os("PATH") {
        path.push(":");
        path.push(others);
    }
    let mut wrong = Vec::new();
    for step in &steps {
        let output = Command::new("sh")
            .args(["-c", &step.command])
            .current_dir(folder.path())
            .env("PATH", &path)
            .env_remove("COLUMNS")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        let lines: Vec<&str> = stdout.trim_end().lines().collect();
        let mut expected = step.output.clone();
        while expected.last().is_some_and(String::is_empty) {
            expected.pop();
        }
        let place = format!("{}:{}: {}", short(page), step.line, step.command);
        if output.status.code() != Some(step.exit) {
            wrong.push(format!("{place}\nended with {:?}, not {}\n{stdout}{stderr}", output.status.code(), step.exit));
        } else if !expected.is_empty() && !fits(&expected, &lines) {
            wrong.push(format!("{place}\nprinted\n{stdout}\nbut the book says\n{}\n", expected.join("\n")));
        }
    }
    (steps.len(), wrong)
}

#[test]
fn every_command_of_the_book_does_what_the_book_says() {
    let pages = pages(&source());
    let handles: Vec<_> = pages.into_iter().map(|page| std::thread::spawn(move || run_page(&page))).collect();
    let mut run = 0;
    let mut wrong = Vec::new();
    for handle in handles {
        let (steps, problems) = handle.join().unwrap();
        run += steps;
        wrong.extend(problems);
    }
    assert!(wrong.is_empty(), "{} commands are not as written:\n\n{}", wrong.len(), wrong.join("\n"));
    assert!(run >= 30, "{run} commands only");
}

#[test]
fn blocks_are_read_as_the_book_says() {
    let text =
        "x\n```console\n$ a b # exit 1\none\n...\n$ cat <<'END' > f\n$ not a command\nEND\n```\n```sh\n$ c\n```\n";
    let found = steps(text);
    assert_eq!(found.len(), 2);
    assert_eq!((found[0].line, found[0].exit, found[0].output.join("|").as_str()), (3, 1, "one|..."));
    assert_eq!(found[1].command, "cat <<'END' > f\n$ not a command\nEND");
    assert!(found[1].output.is_empty());
    let expected = ["a", "...", "d"].map(String::from);
    assert!(fits(&expected, &["a", "d"]) && fits(&expected, &["a", "b", "d", "d  "]));
    assert!(!fits(&expected, &["a", "b"]) && !fits(&expected, &["d"]));
}

/// Runs the program itself, in a folder.
fn disjoin(folder: &Path, args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_disjoin"));
    command.args(args).current_dir(folder).env_remove("COLUMNS").stdin(Stdio::null());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

const GENERATED: &str = "<!-- Written by crates/disjoin-cli/tests/it/book.rs: UPDATE_BOOK=1 cargo test -p disjoin-cli --test it book -->\n\n";

/// The names in the list of commands of a help text.
fn verbs(help: &str) -> Vec<String> {
    let list = help.split_once("\nCommands:\n").map_or("", |(_, rest)| rest.split("\n\n").next().unwrap());
    let names = list.lines().filter_map(|line| line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')));
    names.map(|rest| rest.split(' ').next().unwrap().to_owned()).filter(|name| name != "help").collect()
}

fn help(verb: &[String], out: &mut String) {
    let mut args: Vec<&str> = verb.iter().map(String::as_str).collect();
    args.push("--help");
    let text = disjoin(&root(), &args);
    let name: String = ["disjoin"].into_iter().chain(verb.iter().map(String::as_str)).collect::<Vec<_>>().join(" ");
    let text: String = text.lines().map(|line| line.trim_end().to_owned() + "\n").collect();
    write!(out, "\n{} {name}\n\n```text\n{}```\n", "#".repeat(2 + verb.len().saturating_sub(1)), text).unwrap();
    for inner in verbs(&text) {
        help(&[verb, &[inner]].concat(), out);
    }
}

fn command_line() -> String {
    let mut out = format!(
        "# Command line\n\n{GENERATED}The long help of every verb, as `--help` prints it. Exit codes are the same for all \
         verbs: 0 done, and\nthe promise holds; 1 the promise does not hold, or an attack succeeds; 2 an error, and nothing \
         was written.\n"
    );
    help(&[], &mut out);
    out
}

fn is_object(schema: &Value) -> bool {
    schema["type"] == "object"
}

/// What a key refers to, also if it may be missing.
fn target<'a>(schema: &'a Value, key: &'a Value) -> Option<&'a Value> {
    let name = key["$ref"].as_str().or(key["anyOf"][0]["$ref"].as_str())?;
    schema.pointer(name.trim_start_matches('#'))
}

/// The type of a key in a few words; the permitted values of a choice.
fn type_of(schema: &Value, key: &Value) -> String {
    if let Some(name) = key["$ref"].as_str() {
        return type_of(schema, schema.pointer(name.trim_start_matches('#')).unwrap());
    }
    if let Some(choices) = key["anyOf"].as_array().or(key["oneOf"].as_array().filter(|all| all.iter().any(is_object))) {
        let kinds: Vec<String> = choices.iter().map(|choice| type_of(schema, choice)).collect();
        return kinds.into_iter().filter(|kind| kind != "null").collect::<Vec<_>>().join(" or ");
    }
    let constants = |values: &Value| -> Option<String> {
        let values = values.as_array()?;
        let values =
            values.iter().map(|value| value.get("const").unwrap_or(value).as_str()).collect::<Option<Vec<_>>>()?;
        Some(values.iter().map(|value| format!("`\"{value}\"`")).collect::<Vec<_>>().join(" or "))
    };
    if let Some(text) = constants(&key["oneOf"]).or_else(|| constants(&key["enum"])) {
        return text;
    }
    let kinds: Vec<&str> = match &key["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).filter(|&kind| kind != "null").collect(),
        _ => panic!("a key without a type: {key}"),
    };
    match kinds[..] {
        [] => "null".into(),
        ["object"] if key["properties"].is_null() => String::from("table"),
        ["object"] => {
            let keys = key["properties"].as_object().unwrap().keys();
            format!("`{{ {} }}`", keys.map(|key| format!("{key} = ...")).collect::<Vec<_>>().join(", "))
        }
        ["string"] if key["const"].is_string() => format!("`{}`", key["const"]),
        ["array"] if key["prefixItems"].is_array() => {
            let items = key["prefixItems"].as_array().unwrap().iter();
            format!("[{}]", items.map(|item| type_of(schema, item)).collect::<Vec<_>>().join(", "))
        }
        ["array"] => format!("list of {}s", type_of(schema, &key["items"])),
        _ => kinds.join(" or "),
    }
}

/// A table for each section of a recipe; sections inside sections come after it.
fn section(schema: &Value, name: &str, section: &Value, out: &mut String) {
    let body = target(schema, section).unwrap();
    let meaning = section["description"].as_str().or(body["description"].as_str()).unwrap();
    write!(out, "\n## [{name}]\n\n{meaning}\n\n| key | type | meaning |\n|---|---|---|\n").unwrap();
    let mut inner = Vec::new();
    for (key, value) in body["properties"].as_object().unwrap() {
        if target(schema, value).is_some_and(is_object) {
            inner.push((format!("{name}.{key}"), value));
            continue;
        }
        let meaning = value["description"].as_str().unwrap_or_else(|| panic!("{name}.{key} has no description"));
        writeln!(out, "| `{key}` | {} | {} |", type_of(schema, value), meaning.replace('\n', " ")).unwrap();
    }
    for (name, value) in inner {
        self::section(schema, &name, value, out);
    }
}

fn recipe_keys() -> String {
    let schema: Value = serde_json::from_str(&disjoin(&root(), &["recipe", "schema"])).unwrap();
    let mut out = format!(
        "# Recipe keys\n\n{GENERATED}A recipe is a TOML file. What it may hold, from `disjoin recipe schema`; other keys are \
         refused. A key that is\nmissing has its default: `disjoin recipe check` prints a recipe with all of them filled in.\n"
    );
    for name in ["input", "protect", "table", "attack", "measure", "repair", "output"] {
        section(&schema, name, &schema["properties"][name], &mut out);
    }
    let sections = schema["properties"].as_object().unwrap().len();
    let told = out.lines().filter(|line| line.starts_with("## [") && !line.contains('.')).count();
    assert_eq!(told, sections, "a section is missing");
    out
}

/// The public fields of a struct with their comments, as rows of a table.
fn fields(file: &str, name: &str) -> String {
    let text = fs::read_to_string(root().join("crates/disjoin/src").join(file)).unwrap();
    let (_, body) = text.split_once(&format!("pub struct {name} {{\n")).unwrap_or_else(|| panic!("{file}: no {name}"));
    let mut table = String::from("| key | meaning |\n|---|---|\n");
    let mut comment: Vec<&str> = Vec::new();
    for line in body.lines().map(str::trim).take_while(|&line| line != "}") {
        if let Some(words) = line.strip_prefix("///") {
            comment.push(words.trim());
        } else if let Some((key, _)) = line.strip_prefix("pub ").and_then(|rest| rest.split_once(':')) {
            let words = comment.join(" ").replace("[`FORMAT`]", "the name of this format");
            let words = words.replace("[`VERSION`]", "1, so far").replace('|', "\\|");
            writeln!(table, "| `{key}` | {words} |").unwrap();
            comment.clear();
        } else if !line.starts_with("#[") {
            comment.clear();
        }
    }
    table
}

/// What each file of a package is. A file that is not here fails the test.
const FILES: [(&str, &str); 15] = [
    ("release/claim.json", "what is promised, against whom, with which parameters"),
    ("release/data.jsonl", "the data, if they are sets; or `data.parquet`"),
    ("release/data.csv", "the data, if they are a table"),
    ("release/sets.jsonl", "the sets of a table with a set-valued column"),
    ("release/transactions.jsonl", "the data, if terms were recoded"),
    ("release/universe.txt", "all items that a noisy release is about, if they are listed"),
    ("release/report.html", "what readers of the release should know; written by `run`"),
    ("custody/custody.json", "how the release was made, with the digest of the input"),
    ("custody/leaf_of.csv", "which record went to which cluster: with it a release is undone"),
    ("custody/class_of.csv", "which row of a table went to which class; empty if it was removed"),
    ("custody/line_of.csv", "which line of transactions.jsonl shows which record"),
    ("custody/mapping.csv", "what each class of a table shows in each column"),
    ("custody/report.html", "everything about the run; written by `run`"),
    ("custody/report.json", "the same for programs"),
    ("custody/report.md", "the same as text"),
];

const TEN: &str = "itunes,flu,madonna,ikea,ruby\nmadonna,flu,viagra,ruby,audi a4,sony tv\n\
    itunes,madonna,audi a4,ikea,sony tv\nitunes,flu,viagra\nitunes,flu,madonna,audi a4,sony tv\n\
    madonna,digital camera,panic disorder,playboy\niphone sdk,madonna,ikea,ruby\n\
    iphone sdk,digital camera,madonna,playboy\niphone sdk,digital camera,panic disorder\n\
    iphone sdk,digital camera,madonna,ikea,ruby\n";

const SIX: &str =
    "age,sex,disease,drugs\n31,f,flu,a;b\n34,f,gout,a;b\n38,m,flu,a\n52,m,asthma,a;c\n55,f,gout,b;c\n59,m,flu,a;c\n";

fn formats() -> String {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("web.txt"), TEN).unwrap();
    let recipe = "[input]\nfile = \"web.txt\"\n[protect]\nk = 3\nm = 2\nmax_cluster = 6\n";
    fs::write(folder.path().join("recipe.toml"), recipe).unwrap();
    disjoin(folder.path(), &["run", "--quiet"]);
    let read = |name: &str| fs::read_to_string(folder.path().join("out").join(name)).unwrap();
    fs::write(folder.path().join("six.csv"), SIX).unwrap();
    let roles = ["--quasi", "age,sex", "--sensitive", "disease", "--set", "drugs", "--numeric", "age"];
    let protect = ["protect", "six.csv", "-k", "2", "--max-cluster", "4", "-o", "table", "--quiet"];
    disjoin(folder.path(), &[&protect[..], &roles].concat());
    fs::write(folder.path().join("items.txt"), "a\nb\nc\n").unwrap();
    let noise =
        ["--method", "privbasis", "--epsilon", "1", "--universe", "items.txt", "--seed", "1", "--demonstration"];
    fs::write(folder.path().join("drugs.txt"), "a,b\na,b\na\na,c\nb,c\na,c\n".repeat(20)).unwrap();
    disjoin(folder.path(), &[&["protect", "drugs.txt", "-o", "noisy", "--quiet", "--top", "3"][..], &noise].concat());
    let read_noisy = |name: &str| fs::read_to_string(folder.path().join("noisy").join(name)).unwrap();
    let read_table = |name: &str| fs::read_to_string(folder.path().join("table").join(name)).unwrap();

    fs::write(folder.path().join("hide.txt"), "viagra\nplayboy,madonna\n").unwrap();
    let protect = ["protect", "web.txt", "-k", "3", "--method", "coat", "--privacy", "hide.txt", "-o", "recoded"];
    disjoin(folder.path(), &[&protect[..], &["--quiet"]].concat());
    let read_recoded = |name: &str| fs::read_to_string(folder.path().join("recoded").join(name)).unwrap();

    let mut out = format!(
        "# Formats of a package\n\n{GENERATED}A package is a folder with two parts. `release/` may leave the building, \
         `custody/` must not. The examples are\nthe ten records of [Disassociation](../concepts/disassociation.md) with k = 3, \
         m = 2 and `max_cluster = 6`.\nReaders refuse a `version` that they do not know.\n\n| file | what it is |\n|---|---|\n"
    );
    let mut written = Vec::new();
    let parts = |package| [(package, "release"), (package, "custody")];
    for (package, part) in ["out", "table", "recoded"].into_iter().flat_map(parts).chain([("noisy", "release")]) {
        for entry in fs::read_dir(folder.path().join(package).join(part)).unwrap() {
            written.push(format!("{part}/{}", entry.unwrap().file_name().to_string_lossy()));
        }
    }
    for file in &written {
        assert!(FILES.iter().any(|(name, _)| name == file), "the book does not know the file {file}");
    }
    for (file, meaning) in FILES {
        assert!(written.iter().any(|name| name == file), "no package has the file {file} of the book");
        writeln!(out, "| `{file}` | {meaning} |").unwrap();
    }

    write!(out, "\n## claim.json\n\n{}", fields("release/claim.rs", "Claim")).unwrap();
    write!(out, "\n`parameters`:\n\n{}", fields("release/claim.rs", "Parameters")).unwrap();
    write!(out, "\n`parameters.sensitive`:\n\n{}", fields("release/claim.rs", "Sensitive")).unwrap();
    write!(out, "\n```json\n{}```\n", read("release/claim.json")).unwrap();

    out.push_str("\n## data.jsonl\n\nThe first line is a header, each other line one cluster that stands alone.\n");
    write!(out, "\nThe header:\n\n{}", fields("release/disassociated.rs", "Header")).unwrap();
    out.push_str("\nIt also has `format` and `version`.\n");
    write!(out, "\nA simple cluster:\n\n{}", fields("release/disassociated.rs", "Simple")).unwrap();
    write!(out, "\nA joint cluster:\n\n{}", fields("release/disassociated.rs", "Joint")).unwrap();
    out.push_str("\nA chunk has `terms`, its domain, and `subrecords`, each with its `terms` and its `count`.\n");
    let mut data = read("release/data.jsonl").lines().map(str::to_owned).collect::<Vec<_>>().into_iter();
    write!(out, "\n```json\n{}\n", data.next().unwrap()).unwrap();
    out.push_str("```\n\nThe cluster of the example, with line breaks that the file does not have:\n\n```json\n");
    for line in data {
        let broken = line.replace("{\"size\"", "\n{\"size\"").replace(",\"term_chunk", ",\n \"term_chunk");
        let broken = broken.replace(",\"shared_chunks", ",\n\"shared_chunks").replace(",{\"terms", ",\n  {\"terms");
        writeln!(out, "{}", broken.trim_start()).unwrap();
    }
    out.push_str("```\n\n## data.parquet\n\n");
    let parquet = fs::read_to_string(root().join("crates/disjoin/src/release/parquet.rs")).unwrap();
    let head =
        parquet.lines().map_while(|line| line.strip_prefix("//!")).map(|line| line.strip_prefix(' ').unwrap_or(line));
    for line in head.skip_while(|line| !line.starts_with("Three kinds of rows")) {
        writeln!(out, "{line}").unwrap();
    }

    write!(out, "\n## custody.json\n\n{}", fields("publish/custody.rs", "Custody")).unwrap();
    out.push_str("\nIt also has `format` and `version`.\n");
    write!(out, "\n`input`:\n\n{}", fields("read/mod.rs", "Intake")).unwrap();
    write!(out, "\n`stats`:\n\n{}", fields("protect/disassociation/mod.rs", "Stats")).unwrap();
    let map: String = read("custody/leaf_of.csv").lines().take(4).map(|line| format!("{line}\n")).collect();
    write!(out, "\n## leaf_of.csv\n\nOne line a record, in the order of the input.\n\n```text\n{map}```\n").unwrap();

    out.push_str("\n## The claim of a table\n\n");
    out.push_str(&fields("release/generalized/claim.rs", "TableClaim"));
    write!(out, "\n`columns`:\n\n{}", fields("release/generalized/claim.rs", "PublishedColumn")).unwrap();
    write!(out, "\n`sets`:\n\n{}", fields("release/generalized/claim.rs", "SetsClaim")).unwrap();
    out.push_str("\nThe example, six people with k = 2:\n\n```text\n");
    write!(out, "{SIX}```\n\n```json\n{}```\n", read_table("release/claim.json")).unwrap();
    out.push_str("\n## data.csv\n\n");
    let head = |file: &str, from: &str| -> String {
        let text = fs::read_to_string(root().join("crates/disjoin/src").join(file)).unwrap();
        let lines = text.lines().map_while(|line| line.strip_prefix("//!").map(str::trim_start)).map(str::to_owned);
        lines.skip_while(|line| !line.starts_with(from)).map(|line| line + "\n").collect()
    };
    out.push_str(&head("release/generalized/mod.rs", "First come"));
    out.push_str(
        "\nA cell is a value, a range `20..29`, a set `{a|b}`, a label of the column's hierarchy, `*` for anything, \
                  or empty for\na missing value. Rows that show the same are a class.\n",
    );
    write!(out, "\n```text\n{}```\n", read_table("release/data.csv")).unwrap();
    out.push_str("\n## sets.jsonl\n\n");
    out.push_str("As data.jsonl, with one more key in every cluster: the `class` of data.csv that it belongs to.\n");
    write!(out, "\n```json\n{}```\n", read_table("release/sets.jsonl")).unwrap();
    write!(out, "\n## class_of.csv\n\n```text\n{}```\n", read_table("custody/class_of.csv")).unwrap();
    write!(out, "\n## mapping.csv\n\n```text\n{}```\n", read_table("custody/mapping.csv")).unwrap();

    out.push_str("\n## The claim of recoded transactions\n\n");
    out.push_str(&fields("release/recoded/claim.rs", "RecodedClaim"));
    out.push_str("\nThe ten records again, with k = 3, where `viagra` and `playboy,madonna` are to be protected:\n");
    write!(out, "\n```json\n{}```\n", read_recoded("release/claim.json")).unwrap();
    out.push_str("\n## transactions.jsonl\n\n");
    let told = head("release/recoded/mod.rs", "transactions.jsonl has");
    out.push_str(
        &told.replacen("each different record:\n", "each different record.\n", 1).replace("```text\n", "```json\n"),
    );
    out.push_str("\nOf the example:\n\n");
    write!(out, "```json\n{}```\n", read_recoded("release/transactions.jsonl")).unwrap();
    let map: String = read_recoded("custody/line_of.csv").lines().take(4).map(|line| format!("{line}\n")).collect();
    write!(out, "\n## line_of.csv\n\nOne line a record, in the order of the input.\n\n```text\n{map}```\n").unwrap();
    out.push_str("\n## The claim of a noisy release\n\n");
    out.push_str(&fields("release/noisy/claim.rs", "NoisyClaim"));
    write!(out, "\n`parameters`:\n\n{}", fields("release/noisy/claim.rs", "NoiseParameters")).unwrap();
    out.push_str(
        "\nAmounts are strings, so that nothing is rounded. Fields that are not listed are refused by `verify`.\n",
    );
    write!(out, "\n```json\n{}```\n\nIts data.jsonl:\n\n", read_noisy("release/claim.json")).unwrap();
    write!(out, "```json\n{}```\n", read_noisy("release/data.jsonl")).unwrap();
    out
}

#[test]
fn the_reference_is_what_the_code_says() {
    let update = std::env::var_os("UPDATE_BOOK").is_some();
    let mut old = Vec::new();
    for (name, text) in [("command-line", command_line()), ("recipe", recipe_keys()), ("formats", formats())] {
        let path = source().join("reference").join(format!("{name}.md"));
        if update {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
        } else if fs::read_to_string(&path).unwrap_or_default() != text {
            old.push(short(&path));
        }
    }
    assert!(old.is_empty(), "not what the code says: {old:?}; UPDATE_BOOK=1 cargo test -p disjoin-cli --test it book");
}

/// The targets of all links and images outside code.
fn links(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut code = false;
    for line in text.lines() {
        if line.starts_with("```") {
            code = !code;
        } else if !code {
            let plain: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
            let targets = plain.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
            found.extend(targets.map(|(target, _)| target.to_owned()));
        }
    }
    found
}

/// The anchors of a page's headings, as mdBook makes them.
fn anchors(text: &str) -> Vec<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let letters = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | ' ');
    headings
        .map(|line| {
            line.trim_start_matches('#').trim().to_lowercase().chars().filter(|&c| letters(c)).collect::<String>()
        })
        .map(|heading| heading.replace(' ', "-"))
        .collect()
}

#[test]
fn links_lead_somewhere_and_every_chapter_is_in_the_summary() {
    let mut checked = 0;
    let readme = root().join("README.md");
    for page in pages(&root().join("docs")).into_iter().chain([readme]) {
        let text = fs::read_to_string(&page).unwrap();
        for target in links(&text).iter().filter(|target| !target.contains("://")) {
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let path = if file.is_empty() { page.clone() } else { page.parent().unwrap().join(file) };
            assert!(path.exists(), "{}: no {target}", short(&page));
            let missing =
                !anchor.is_empty() && !anchors(&fs::read_to_string(&path).unwrap()).iter().any(|a| a == anchor);
            assert!(!missing, "{}: no heading for {target}", short(&page));
            checked += 1;
        }
    }
    assert!(checked >= 30, "{checked} links only");

    let listed = links(&fs::read_to_string(source().join("SUMMARY.md")).unwrap());
    for page in pages(&source()) {
        let name = page.strip_prefix(source()).unwrap().display().to_string();
        assert!(name == "SUMMARY.md" || listed.contains(&name), "{name} is not in SUMMARY.md");
    }
}
