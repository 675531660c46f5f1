//! Recipes and runs, from the outside.

use std::fs;

use crate::common::{BREACHED, Bench, release_of, text};
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

/// Data with pairs that the paper's cut gives away, and a recipe for it.
fn with_recipe(more: &str) -> Bench {
    let bench = Bench::new();
    bench.file("x.dat", BREACHED);
    bench.file("recipe.toml", format!("[input]\nfile = \"x.dat\"\nseparator = \",\"\n[protect]\nk = 3\n{more}"));
    bench
}

#[test]
fn a_run_writes_a_package_with_reports() {
    let bench = with_recipe("");
    let (stdout, stderr) = bench.good(&["run"]);
    assert!(stdout.ends_with("\nThe promise holds and every limit is kept.\n"), "{stdout}");
    assert!(stderr.contains("checking every cluster") && stderr.contains("attacking: worlds"), "{stderr}");
    for file in ["release/data.jsonl", "release/report.html", "custody/report.html", "custody/report.md"] {
        assert!(bench.at("out").join(file).is_file(), "{file}");
    }
    bench.good(&["verify", "out", "--original", "x.dat", "--separator", ","]);
    // Once more, over the old package, elsewhere, for machines.
    bench.good(&["run", "recipe.toml"]);
    let (stdout, _) = bench.good(&["run", "-o", "deep/er", "--json", "--quiet"]);
    let told = json(&stdout);
    assert_eq!((&told["holds"], &told["release"]), (&true.into(), &"deep/er/release".into()));
    assert_eq!(release_of(&bench.at("out")), release_of(&bench.at("deep/er")));
}

#[test]
fn an_attack_that_wins_is_repaired_or_told_first() {
    let bench = with_recipe("max_cluster = 8\npromise = \"published\"\n");
    let (stdout, _) = bench.good(&["run", "-o", "repaired"]);
    assert!(stdout.contains("repair 1") && stdout.contains("attacks: 0 certain disclosures"), "{stdout}");

    let unrepaired = with_recipe("max_cluster = 8\npromise = \"published\"\n[repair]\nrounds = 0\n");
    let output = unrepaired.run(&["run"]);
    let stdout = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{stdout}");
    assert!(stdout.contains("LIMIT") && stdout.contains("limits.certain_disclosures"), "{stdout}");
    assert!(stdout.contains("must NOT leave the building") && !stdout.contains("cancer"), "{stdout}");
    for page in ["custody/report.html", "release/report.html", "custody/report.md"] {
        let page = fs::read_to_string(unrepaired.at("out").join(page)).unwrap();
        assert!(page.contains("must not leave the building"), "{page}");
        assert!(!page.contains("cancer") && !page.contains("surgery"), "{page}");
    }
}

#[test]
fn an_input_is_never_deleted_with_the_package_that_holds_it() {
    let bench = Bench::new();
    bench.good(&["demo", "--patients", "300", "-o", "d"]);
    let original = fs::read(bench.at("d/custody/original.csv")).unwrap();
    bench.file(
        "again.toml",
        "[input]\nfile = \"d/custody/original.csv\"\ncolumn = \"diagnoses\"\n[output]\nfolder = \"d\"\n",
    );
    let protect = ["protect", "d/custody/original.csv", "--column", "diagnoses", "-o", "d"];
    for args in [&["run", "again.toml"][..], &protect] {
        assert!(bench.bad(args).contains("would be deleted with it"));
        assert_eq!(fs::read(bench.at("d/custody/original.csv")).unwrap(), original);
    }
}

#[test]
fn a_limit_of_utility_is_a_limit() {
    let bench = with_recipe("[limits]\nquery_error = 0.0\n");
    let output = bench.run(&["run"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stdout));
    assert!(text(&output.stdout).contains("limits.query_error"));
}

#[test]
fn recipes_are_written_checked_and_described() {
    let bench = Bench::new();
    bench.file("x.dat", BREACHED);
    let (_, stderr) = bench.good(&["recipe", "new", "x.dat", "-k", "3", "--folder", "here"]);
    assert!(stderr.contains("next: disjoin run recipe.toml"), "{stderr}");
    let again = bench.bad(&["recipe", "new", "x.dat"]);
    assert!(again.contains("exists already") && again.contains("--force"), "{again}");
    let (stdout, _) = bench.good(&["recipe", "check"]);
    assert!(stdout.contains("k = 3") && stdout.contains("certain_disclosures = 0"), "{stdout}");
    let (stdout, _) = bench.good(&["recipe", "check", "--json"]);
    assert_eq!(json(&stdout)["protect"]["max_cluster"], 6);
    bench.file(
        "long.toml",
        "[input]\nfile = \"none.csv\"\nseparator = \"tab\"\nid_column = \"who\"\nitem_column = \"what\"\n",
    );
    let (stdout, stderr) = bench.good(&["recipe", "check", "long.toml"]);
    assert!(stdout.contains("id_column = \"who\"") && stdout.contains("separator = \"\\t\""), "{stdout}");
    assert!(stderr.contains("none.csv: there is no such file yet"), "{stderr}");
    let (stdout, _) = bench.good(&["recipe", "schema"]);
    assert!(json(&stdout)["properties"]["protect"].is_object());
    let (stdout, _) = bench.good(&["recipe", "new", "x.dat", "-o", "-"]);
    assert!(stdout.contains("file = \"x.dat\""), "{stdout}");
    let missing = bench.bad(&["recipe", "new", "-o", "other.toml"]);
    assert!(missing.contains("disjoin recipe new patients.csv"), "{missing}");
}

#[test]
fn wrong_recipes_change_nothing() {
    let bench = with_recipe("sensitive = [\"no such thing\"]\n");
    let error = bench.bad(&["run"]);
    assert!(error.contains("recipe.toml:6: protect.sensitive: entry 1 of the list does not occur"), "{error}");
    assert!(!error.contains("no such thing"), "{error}");
    bench.file("recipe.toml", "[input]\nfile = \"missing.dat\"\n");
    assert!(bench.bad(&["run"]).contains("missing.dat"));
    assert!(bench.bad(&["run", "absent.toml"]).contains("absent.toml"));
    bench.file("recipe.toml", "[input]\nfile = \"x.dat\"\nformt = \"basket\"\n");
    let error = bench.bad(&["run"]);
    assert!(error.contains("recipe.toml:3: formt is not a key") && error.contains("did you mean format?"), "{error}");
}
