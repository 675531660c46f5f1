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

use crate::sources::{files, root};

fn source() -> PathBuf {
    root().join("docs/src")
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
    let pages = files(&source(), "md");
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
pub(crate) fn disjoin(folder: &Path, args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_disjoin"));
    command.args(args).current_dir(folder).env_remove("COLUMNS").stdin(Stdio::null());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

pub(crate) const GENERATED: &str = "<!-- Written by crates/disjoin-cli/tests/it/book.rs: UPDATE_BOOK=1 cargo test -p disjoin-cli --test it book -->\n\n";

/// The names in the list of commands of a help text.
fn verbs(help: &str) -> Vec<String> {
    let list = help.split_once("\nCommands:\n").map_or("", |(_, rest)| rest.split("\n\n").next().unwrap());
    let names = list.lines().filter_map(|line| line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')));
    names.map(|rest| rest.split(' ').next().unwrap().to_owned()).filter(|name| name != "help").collect()
}

fn help(verb: &[String], out: &mut String) {
    let mut args: Vec<&str> = verb.iter().map(String::as_str).collect();
    args.push("--help");
    if verb == ["protect"] {
        args.push("all");
    }
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
         verbs: 0 done;\nthe promise and its limits hold; 1 the promise or a limit does not hold; 2 an error, and nothing \
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
    for name in ["input", "protect", "table", "attack", "measure", "limits", "repair", "output"] {
        section(&schema, name, &schema["properties"][name], &mut out);
    }
    let sections = schema["properties"].as_object().unwrap().len();
    let told = out.lines().filter(|line| line.starts_with("## [") && !line.contains('.')).count();
    assert_eq!(told, sections, "a section is missing");
    out
}

/// The public fields of a struct with their comments, as rows of a table.
pub(crate) fn fields(file: &str, name: &str) -> String {
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

/// The variants of an enum as they are written, with their keys and comments, as rows of a table.
pub(crate) fn variants(file: &str, name: &str, tag: &str) -> String {
    let text = fs::read_to_string(root().join("crates/disjoin/src").join(file)).unwrap();
    let (_, body) = text.split_once(&format!("pub enum {name} {{\n")).unwrap_or_else(|| panic!("{file}: no {name}"));
    let mut rows: Vec<(String, Vec<&str>, String)> = Vec::new();
    let mut comment: Vec<&str> = Vec::new();
    for line in body.lines().take_while(|&line| line != "}") {
        let code = line.trim();
        if let Some(words) = code.strip_prefix("///") {
            comment.push(words.trim());
        } else if !code.starts_with("#[") {
            let depth = line.len() - line.trim_start().len();
            if depth == 4 && code.starts_with(char::is_uppercase) {
                let name = code.split(|c: char| !c.is_alphanumeric()).next().unwrap();
                rows.push((kebab(name), Vec::new(), comment.join(" ")));
            } else if let (8, Some((key, _)), Some(row)) = (depth, code.split_once(':'), rows.last_mut()) {
                row.1.push(key);
            }
            comment.clear();
        }
    }
    assert!(!rows.is_empty(), "{file}: {name} has no variants");
    let has_keys = rows.iter().any(|(_, keys, _)| !keys.is_empty());
    let (keys, line) = if has_keys { (" further keys |", "---|") } else { ("", "") };
    let mut table = format!("| `{tag}` |{keys} meaning |\n|---|---|{line}\n");
    for (name, keys, words) in rows {
        let keys: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
        let keys = if has_keys { format!(" {} |", keys.join(", ")) } else { String::new() };
        let words = words.replace("[`Mechanism::DiscreteLaplace`]", "`discrete-laplace`").replace('|', "\\|");
        writeln!(table, "| `{name}` |{keys} {words} |").unwrap();
    }
    table
}

/// A name as serde writes it: `KAnonymity` is `k-anonymity`.
fn kebab(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !out.is_empty() {
            out.push('-');
        }
        out.extend(c.to_lowercase());
    }
    out
}

pub(crate) const TEN: &str = "itunes,flu,madonna,ikea,ruby\nmadonna,flu,viagra,ruby,audi a4,sony tv\n\
    itunes,madonna,audi a4,ikea,sony tv\nitunes,flu,viagra\nitunes,flu,madonna,audi a4,sony tv\n\
    madonna,digital camera,panic disorder,playboy\niphone sdk,madonna,ikea,ruby\n\
    iphone sdk,digital camera,madonna,playboy\niphone sdk,digital camera,panic disorder\n\
    iphone sdk,digital camera,madonna,ikea,ruby\n";

#[test]
fn the_reference_is_what_the_code_says() {
    let update = std::env::var_os("UPDATE_BOOK").is_some();
    let mut old = Vec::new();
    for (name, text) in
        [("command-line", command_line()), ("recipe", recipe_keys()), ("formats", crate::formats::formats())]
    {
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
    for page in files(&root().join("docs"), "md").into_iter().chain([readme]) {
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
    for page in files(&source(), "md") {
        let name = page.strip_prefix(source()).unwrap().display().to_string();
        assert!(name == "SUMMARY.md" || listed.contains(&name), "{name} is not in SUMMARY.md");
    }
}
