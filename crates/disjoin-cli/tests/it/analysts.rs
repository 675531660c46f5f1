//! What an analyst does with tables: counts by predicates, draws tables, and reads plain files with their dictionary.

use serde_json::Value;

use crate::common::{Bench, text};
use crate::forms::{all, bench};

fn made() -> Bench {
    let bench = bench();
    for form in all() {
        let ran = bench.run(&["run", &format!("{}.toml", form.name), "--quiet"]);
        assert!(matches!(ran.status.code(), Some(0 | 1)), "{}", text(&ran.stderr));
    }
    bench
}

fn json(bench: &Bench, args: &[&str]) -> Value {
    let (out, _) = bench.good(&[args, &["--json", "--quiet"]].concat());
    serde_json::from_str(&out).unwrap()
}

/// How many rows of people.csv satisfy something.
fn truth(holds: impl Fn(&[&str]) -> bool, bench: &Bench) -> u64 {
    let people = std::fs::read_to_string(bench.at("people.csv")).unwrap();
    people.lines().skip(1).filter(|line| holds(&line.split(',').collect::<Vec<_>>())).count() as u64
}

#[test]
fn predicates_are_answered_by_every_form_of_table() {
    let bench = made();
    let age = |row: &[&str]| row[1].parse::<u32>().unwrap();
    let young = |row: &[&str]| (20..=34).contains(&age(row)) && row[2] == "F";
    for form in ["classes", "mixed", "split"] {
        let predicate = "age 20-34 and sex = F and ill != flu";
        let told = json(&bench, &["query", form, predicate, "age >= 0", "age > 100"]);
        let of = |at: usize, key: &str| told["predicates"][at][key].as_f64().unwrap();
        let truth = truth(|row| young(row) && row[4] != "flu", &bench) as f64;
        // Nothing is suppressed here.
        assert_eq!(told["records"], 90, "{form}");
        assert_eq!(told["unit"], "records");
        assert!(of(0, "lower") <= truth && truth <= of(0, "upper"), "{form}: {told}");
        assert!((of(1, "lower"), of(1, "upper"), of(2, "upper")) == (90.0, 90.0, 0.0), "{form}: {told}");
    }
    let told = json(&bench, &["query", "mixed", "items has 1 and age 20-34", "items has {1, 4}"]);
    let truths =
        [truth(|row| row[5].starts_with("1;") && age(row) <= 34, &bench), truth(|row| row[5] == "1;4", &bench)];
    for (told, truth) in told["predicates"].as_array().unwrap().iter().zip(truths) {
        assert!(told["lower"].as_u64().unwrap() <= truth && truth <= told["upper"].as_u64().unwrap(), "{told} {truth}");
    }
    let (out, said) = bench.good(&["query", "classes", "ill = flue"]);
    assert!(out.contains("predicate") && out.contains("published records"), "{out}");
    assert!(said.contains("predicate 1, character 7: column \"ill\" shows no such value; it shows flu"), "{said}");
    assert!(!said.contains("flue"), "{said}");
    for (predicate, problem) in [
        ("ages 3", "PREDICATE: number 1 at character 1: the release has no such column"),
        ("age 3 or age 4", "number 1 at character 7: a condition ends before this word"),
        ("age = x", "number 1 at character 7: is no number"),
    ] {
        let said = bench.bad(&["query", "classes", predicate]);
        assert!(said.contains(problem) && said.contains("hint: "), "{said}");
    }
    bench.file("asked.txt", "age 20-29\n\nage 3 or\n");
    assert!(bench.bad(&["query", "classes", "--file", "asked.txt"]).contains("asked.txt, line 3 at character 7"));
}

#[test]
fn drawn_tables_are_read_back_and_have_what_is_published() {
    let bench = made();
    for form in ["classes", "mixed", "split"] {
        bench.good(&["reconstruct", form, "-n", "2", "--seed", "7", "-o", "drawn", "--quiet"]);
        let one = std::fs::read_to_string(bench.at("drawn/reconstruction-1.csv")).unwrap();
        let two = std::fs::read_to_string(bench.at("drawn/reconstruction-2.csv")).unwrap();
        // The classes here show every age as it is: nothing is left to chance.
        assert!((one == two) == (form == "classes") && one.lines().count() == 91, "{form}: {one}");
        bench.good(&["reconstruct", form, "-n", "1", "--seed", "7", "-o", "again", "--quiet"]);
        assert_eq!(std::fs::read_to_string(bench.at("again/reconstruction-1.csv")).unwrap(), one);
        // Sensitive values are those of the original, as often; no cell is generalised any more.
        let at = one.lines().next().unwrap().split(',').position(|name| name == "ill").unwrap();
        let flu = one.lines().filter(|line| line.split(',').nth(at) == Some("flu")).count() as u64;
        assert_eq!(flu, truth(|row| row[4] == "flu", &bench), "{form}");
        assert!(!one.contains("..") && !one.contains('*') && !one.contains('{'), "{form}: {one}");
        if form == "mixed" {
            let threes =
                one.lines().filter(|line| line.rsplit(',').next().unwrap().split(';').any(|t| t == "3")).count();
            assert!(one.starts_with("age,sex,ill,items") && threes > 0, "{one}");
        }
        for folder in ["drawn", "again"] {
            std::fs::remove_dir_all(bench.at(folder)).unwrap();
        }
    }
    for (to, name) in [("parquet", "x/reconstruction-1.parquet"), ("arrow", "x/reconstruction-1.arrow")] {
        bench.good(&["reconstruct", "split", "--to", to, "-o", "x", "--quiet"]);
        let looked = bench.good(&["inspect", name, "--quasi", "age,sex"]).0;
        assert!(looked.contains("ill"), "{looked}");
    }
    assert!(bench.bad(&["reconstruct", "classes", "--to", "basket"]).contains("csv, parquet, arrow"));
}

#[test]
fn every_form_becomes_plain_tables_with_a_dictionary() {
    let bench = made();
    for form in all() {
        for ending in ["csv", "parquet", "arrow"] {
            let told = json(&bench, &["convert", form.name, &format!("plain.{ending}"), "--force"]);
            let files: Vec<&str> =
                told["files"].as_array().unwrap().iter().map(|file| file.as_str().unwrap()).collect();
            let dictionary = std::fs::read_to_string(bench.at("plain.dictionary.json")).unwrap();
            let dictionary: Value = serde_json::from_str(&dictionary).unwrap();
            let tables = dictionary["tables"].as_array().unwrap();
            assert_eq!(files.len(), tables.len() + 2, "{}: {told}", form.name);
            assert!(dictionary["promised"].as_str().unwrap().len() > 20);
            for table in tables {
                let file = table["file"].as_str().unwrap();
                assert!(files.iter().any(|other| other.ends_with(file)), "{file}");
                let columns = table["columns"].as_array().unwrap();
                if ending == "csv" {
                    let text = std::fs::read_to_string(bench.at(file)).unwrap();
                    let names: Vec<&str> = columns.iter().map(|column| column["name"].as_str().unwrap()).collect();
                    assert_eq!(text.lines().next().unwrap(), names.join(","), "{}", form.name);
                    assert_eq!(
                        text.lines().count() as u64,
                        table["rows"].as_u64().unwrap() + 1,
                        "{} {file}",
                        form.name
                    );
                }
                assert!(columns.iter().all(|column| !column["meaning"].as_str().unwrap().is_empty()));
            }
            let markdown = std::fs::read_to_string(bench.at("plain.dictionary.md")).unwrap();
            assert!(markdown.contains("| column | type | role | meaning |"), "{markdown}");
        }
        if form.original[1] == "people.csv" {
            let looked = bench.good(&["inspect", "plain.parquet"]).0;
            assert!(looked.contains("A table of 90 rows"), "{looked}");
            let looked = bench.good(&["inspect", "plain.arrow", "--quasi", "age,sex"]).0;
            assert!(looked.contains("age_low"), "{looked}");
            let csv = std::fs::read_to_string(bench.at("plain.csv")).unwrap();
            assert!(csv.starts_with("age,age_low,age_high,sex,"), "{csv}");
        }
    }
    assert!(bench.bad(&["convert", "classes", "plain.csv"]).contains("exists already"));
    // What a spreadsheet would take for a formula.
    let rows: String = (0..20).map(|i| format!("{},=1+{}\n", 20 + i % 5, i % 2)).collect();
    bench.file("f.csv", format!("age,s\n{rows}"));
    bench.good(&["protect", "f.csv", "--quasi", "age", "--sensitive", "s", "-k", "2", "-o", "formulas", "--quiet"]);
    let (_, said) = bench.good(&["convert", "formulas", "safe.csv"]);
    assert!(said.contains("2 terms begin like a formula"), "{said}");
    assert!(std::fs::read_to_string(bench.at("safe.csv")).unwrap().contains("'=1+1"));
}
