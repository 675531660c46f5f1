//! Passwords of databases: in no output and in no file, whatever the verb, with the right password and with a wrong one.

#![cfg(unix)]

use std::path::Path;
use std::process::Output;

use crate::common::{Bench, text};
use crate::server::{PASSWORD, Server, USER, WRITTEN_PASSWORD};

const MADE: &str = "CREATE TABLE people (person int, age int, ill text, codes text[]);
     INSERT INTO people SELECT n, 20 + n % 5, (ARRAY['flu', 'gout', 'cold', 'none'])[1 + n % 4], ARRAY['a', 'b' || n % 3, 'c' || n % 2]
     FROM generate_series(1, 120) n; GRANT SELECT ON people TO steward;";

/// Every text that would give the password away.
fn secrets() -> Vec<String> {
    let of = |password: &str| password.split([':', '@', '/']).map(str::to_owned).collect::<Vec<_>>();
    let mut all = vec![PASSWORD.to_owned(), WRITTEN_PASSWORD.to_owned(), String::from("wr0ng")];
    all.extend(of(PASSWORD).into_iter().filter(|part| part.len() > 3));
    all.push(String::from("s3cr"));
    all
}

fn check(bench: &Bench, arguments: &[&str], output: &Output) {
    let said = [text(&output.stdout), text(&output.stderr)];
    for secret in secrets() {
        assert!(!said.iter().any(|said| said.contains(&secret)), "{arguments:?} shows {secret}: {said:?}");
    }
    check_files(&bench.at(""));
}

fn check_files(folder: &Path) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            check_files(&path);
        } else if path.file_name().unwrap() != "given.toml" {
            let content = text(&std::fs::read(&path).unwrap());
            for secret in secrets() {
                assert!(!content.contains(&secret), "{} has {secret}", path.display());
            }
        }
    }
}

/// Runs with nothing of the surroundings that is for PostgreSQL.
fn run(bench: &Bench, arguments: &[&str], password: Option<&str>) -> (Option<i32>, String) {
    let mut command = bench.command(arguments);
    command.env("HOME", bench.at(""));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("PG") {
            command.env_remove(name);
        }
    }
    if let Some(password) = password {
        command.env("PGPASSWORD", password);
    }
    let output = command.output().unwrap();
    check(bench, arguments, &output);
    (output.status.code(), text(&output.stderr))
}

#[test]
fn passwords_are_in_no_output_and_in_no_file() {
    let Some(server) = Server::start(true) else { return };
    server.client().unwrap().batch_execute(MADE).unwrap();
    let raw = server.url_by(&format!("{USER}:{PASSWORD}"), "localhost") + "&table=people";
    let right = server.url_by(&format!("{USER}:{WRITTEN_PASSWORD}"), "localhost") + "&table=people";
    let parameter = format!("{}&password={WRITTEN_PASSWORD}&table=people", server.url_by(USER, "localhost"));
    let wrong = server.url_by(&format!("{USER}:wr0ng"), "localhost") + "&table=people";
    let nowhere = format!("postgres://{USER}:{WRITTEN_PASSWORD}@127.0.0.1:1/db?table=people");
    let unclear = format!("postgres:{USER}:{WRITTEN_PASSWORD}@localhost/db?table=people");
    let unfinished = format!("postgres://{USER}:{WRITTEN_PASSWORD}");
    for (url, works) in [
        (&right, true),
        (&raw, true),
        (&parameter, true),
        (&wrong, false),
        (&nowhere, false),
        (&unclear, false),
        (&unfinished, false),
    ] {
        let bench = Bench::new();
        for json in [None, Some("--json")] {
            verbs(&bench, url, works, json);
        }
    }
}

/// How many of the commands read a database.
const READ: usize = 19;

/// The verbs that take a location, then those that want a file, a package or a recipe there.
fn commands<'a>(url: &'a str, named: &'a str) -> Vec<Vec<&'a str>> {
    let all: [&[&str]; 37] = [
        &["inspect", url, "--column", "codes"],
        &["inspect", url, "--quasi", "age"],
        &["recipe", "new", url, "--column", "codes", "-k", "3", "--yes", "--force"],
        &["recipe", "new", url, "--column", "codes", "-k", "3", "--yes", "-o", "-"],
        &["recipe", "check", "given.toml"],
        &["recipe", "check"],
        &["protect", url, "--column", "codes", "-k", "3", "-o", "out"],
        &[
            "protect",
            url,
            "--quasi",
            "age",
            "--sensitive",
            "ill",
            "--identifier",
            "person,codes",
            "-k",
            "3",
            "-o",
            "table",
        ],
        &["run", "given.toml"],
        &["sweep", "given.toml", "-k", "3,4", "-o", "swept"],
        &["verify", "out", "--original", url, "--column", "codes"],
        &["verify", "table", named],
        &["attack", "out", "--original", url, "--column", "codes"],
        &["measure", "out", named, "--column", "codes"],
        &["measure", "table", "--original", url],
        &["convert", url, "copy.jsonl", "--column", "codes", "--force"],
        &["hierarchy", "build", url, "-o", "tree.csv", "--force"],
        &["policy", "all", url, "-o", "all.txt", "--force"],
        &["policy", "random", url, "-o", "some.txt", "--force"],
        // Where a package or a recipe belongs, and no database.
        &["verify", url],
        &["run", url],
        &["measure", url, "--original", url],
        &["attack", url],
        &["repair", url, "-o", "repaired"],
        &["repair", "out", "-o", "repaired", "--original", url, "--corpus", url],
        &["query", url, "a"],
        &["explain", url, "a"],
        &["reconstruct", url, "-o", "drawn"],
        &["sweep", url, "-k", "3", "-o", "swept2"],
        &["hierarchy", "check", url],
        &["hierarchy", "check", "missing.csv", "--data", url],
        &["hierarchy", "convert", url, "tree2.csv", "--style", "amnesia"],
        &["policy", "hierarchy", url, "--hierarchy", url],
        &["extract", url, "--column", "codes", "-o", "terms.dat"],
        &["corpus", "build", url, "--column", "codes", "-o", "corpus"],
        &["corpus", "check", url],
        &["corpus", "query", url, "a", "b"],
    ];
    all.map(<[&str]>::to_vec).into()
}

/// Every verb that takes a location, one after another; those that cannot work must fail as they should.
fn verbs(bench: &Bench, url: &str, works: bool, json: Option<&str>) {
    let named = format!("--original={url}");
    let recipe = bench.at("given.toml");
    let text = format!("[input]\nfile = '{url}'\ncolumn = \"codes\"\n[protect]\nk = 3\n[output]\nfolder = \"ran\"\n");
    std::fs::write(recipe, text).unwrap();
    for (at, arguments) in commands(url, &named).iter().enumerate() {
        let arguments: Vec<&str> = arguments.iter().copied().chain(json).collect();
        let (code, stderr) = run(bench, &arguments, None);
        assert!(!stderr.contains("panicked"), "{arguments:?}: {stderr}");
        let is_recipe = (2..6).contains(&at);
        let has_limits = ["run", "sweep", "attack", "measure"].contains(&arguments[0]);
        match works && at < READ || is_recipe {
            true => assert!(code == Some(0) || (has_limits && code == Some(1)), "{arguments:?}: {stderr}"),
            false => assert_eq!(code, Some(2), "{arguments:?}: {stderr}"),
        }
        // Said once, if it can be seen.
        let said = stderr.matches("can be read in the list of processes").count();
        assert_eq!(
            said,
            usize::from(arguments.iter().any(|argument| argument.contains(url))),
            "{arguments:?}: {stderr}"
        );
        let of_recipe = stderr.matches("input.file has a password in it").count();
        assert_eq!(of_recipe, usize::from(arguments.contains(&"given.toml")), "{arguments:?}: {stderr}");
    }
}

#[test]
fn a_new_recipe_works_with_a_password_from_elsewhere() {
    let Some(server) = Server::start(true) else { return };
    server.client().unwrap().batch_execute(MADE).unwrap();
    let bench = Bench::new();
    let query = "query=SELECT codes FROM people WHERE person < 100";
    let url = format!("{}&{query}", server.url_by(&format!("{USER}:{WRITTEN_PASSWORD}"), "localhost"));
    assert_eq!(run(&bench, &["recipe", "new", &url, "--column", "codes", "-k", "3", "--yes"], None).0, Some(0));
    let written = std::fs::read_to_string(bench.at("recipe.toml")).unwrap();
    assert!(written.contains(query) && written.contains("PGPASSWORD") && written.contains(USER), "{written}");
    let (code, stderr) = run(&bench, &["run"], None);
    assert_eq!(code, Some(2));
    assert!(stderr.contains("asks for a password") && stderr.contains("PGPASSWORD"), "{stderr}");
    let (code, stderr) = run(&bench, &["run"], Some(PASSWORD));
    assert!(code == Some(0) || code == Some(1), "{stderr}");
    assert!(!stderr.contains("warning: a password") && !stderr.contains("has a password"), "{stderr}");
}

/// The password of the file is used, unless others may read it; then the reason is told.
#[test]
fn password_files_must_be_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let Some(server) = Server::start(true) else { return };
    server.client().unwrap().batch_execute(MADE).unwrap();
    let bench = Bench::new();
    let url = server.url_by(USER, "localhost") + "&table=people";
    let file = server.at("pgpass");
    std::fs::write(&file, format!("*:*:*:*:{}\n", PASSWORD.replace(':', "\\:"))).unwrap();
    for (mode, expected) in [(0o600, 0), (0o644, 2)] {
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        let output = bench
            .command(&["inspect", &url, "--column", "codes"])
            .env("PGPASSFILE", &file)
            .env_remove("PGPASSWORD")
            .output()
            .unwrap();
        check(&bench, &["inspect"], &output);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(expected), "{stderr}");
        assert_eq!(stderr.contains("others may read it"), expected == 2, "{stderr}");
    }
}
