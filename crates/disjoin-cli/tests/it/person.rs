//! Several rows a person from the command line: counted by people, kept apart, refused, warned about, in recipes and reports.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::Value;

use crate::common::Bench;

/// Forty people with one to four visits each: always the same sex and town, an age that grows, codes and a diagnosis by visit.
fn visits(bench: &Bench) {
    let mut csv = String::from("patient,age,sex,town,diagnosis,codes\n");
    for visit in 0..4 {
        for patient in (0..40).filter(|patient| visit == 0 || (visit < 3 && patient % 4 < 3 - visit) || *patient == 7) {
            let (sex, town) = (["f", "m"][patient % 2], ["north", "south"][patient / 2 % 2]);
            let diagnosis = ["flu", "gout", "asthma", "cough"][(patient + visit) % 4];
            let codes = format!("c{};d{};e{}", patient % 3, (patient + visit) % 4, visit);
            csv += &format!("P{patient},{},{sex},{town},{diagnosis},{codes}\n", 20 + patient % 9 + visit);
        }
    }
    bench.file("visits.csv", csv);
}

/// The rows of a CSV file without quotes.
fn rows(bench: &Bench, name: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(bench.at(name)).unwrap();
    text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

const SETS: [&str; 4] = ["--column", "codes", "--person", "patient"];

#[test]
fn rows_of_a_person_become_one_record() {
    let bench = Bench::new();
    visits(&bench);
    let told = bench.good(&["protect", "visits.csv", "-k", "3", "-o", "out", SETS[0], SETS[1], SETS[2], SETS[3]]).1;
    assert!(told.contains("40 people in ") && told.contains("rows of a person are one record"), "{told}");
    assert!(!told.contains("there seem to be several rows"), "{told}");
    let claim = json(&fs::read_to_string(bench.at("out/release/claim.json")).unwrap());
    assert_eq!((claim["people"].as_str(), claim["records"].as_u64()), (Some("together"), Some(40)));
    assert!(claim["promised"].as_str().unwrap().contains("all rows of a person in the original are one record"));
    // Names are nowhere, numbers are in custody.
    let people = rows(&bench, "out/custody/people.csv");
    assert_eq!(people.len(), rows(&bench, "visits.csv").len());
    assert_eq!(people.iter().map(|row| &row[1]).collect::<BTreeSet<_>>().len(), 40);
    for file in ["release/data.jsonl", "release/claim.json", "custody/people.csv", "custody/custody.json"] {
        assert!(!fs::read_to_string(bench.at("out").join(file)).unwrap().contains("P7"), "{file}");
    }

    let alone = bench.good(&["verify", "out"]).0;
    assert!(alone.contains("people") && alone.contains("seen with the original and its custody only"), "{alone}");
    // --id-column with --column says the same as --person.
    for named in ["--person", "--id-column"] {
        let told = bench.good(&["verify", "out", "--original", "visits.csv", "--column", "codes", named, "patient"]).0;
        assert!(told.contains("The promise holds") && !told.contains("seen with the original"), "{told}");
    }
    let error = bench.bad(&["verify", "out", "--original", "visits.csv", "--column", "codes"]);
    assert!(error.contains("--person: is needed: records of the release are counted by people"), "{error}");
    let looked = bench.good(&["inspect", "visits.csv", "-k", "3", SETS[0], SETS[1], SETS[2], SETS[3]]).0;
    assert!(looked.contains("counted are people: 40 people in "), "{looked}");
    bench.good(&["attack", "out", "--original", "visits.csv", SETS[0], SETS[1], SETS[2], SETS[3]]);
    bench.good(&["measure", "out", "--original", "visits.csv", SETS[0], SETS[1], SETS[2], SETS[3]]);
}

#[test]
fn without_a_column_of_people_nothing_changes_but_a_warning() {
    let bench = Bench::new();
    visits(&bench);
    let columns = ["--quasi", "age,sex,town", "--sensitive", "diagnosis", "--numeric", "age"];
    let others = ["--identifier", "patient,codes", "-k", "3", "-o", "out"];
    let told = bench.good(&[&["protect", "visits.csv"], &columns[..], &others].concat()).1;
    assert!(told.contains("warning: there seem to be several rows a person: patient has about 40 different"), "{told}");
    assert!(told.contains("--person patient"), "{told}");
    assert!(!bench.at("out/custody/people.csv").exists());
    let claim = json(&fs::read_to_string(bench.at("out/release/claim.json")).unwrap());
    assert!(claim.get("people").is_none());

    bench.file(
        "recipe.toml",
        "[input]\nfile = \"visits.csv\"\n[protect]\nk = 3\n[table]\nquasi = [\"age\", \"sex\", \"town\"]\n\
         sensitive = [\"diagnosis\"]\nidentifier = [\"patient\", \"codes\"]\nnumeric = [\"age\"]\n[output]\nfolder = \"ran\"\n",
    );
    let told = bench.good(&["run"]).1;
    assert!(told.contains("warning: there seem to be several rows a person"), "{told}");
    let report = fs::read_to_string(bench.at("ran/custody/report.md")).unwrap();
    assert!(report.contains("Before you publish") && report.contains("--person patient"), "{report}");
    assert!(!fs::read_to_string(bench.at("ran/release/report.html")).unwrap().contains("several rows"));
    let told = bench.good(&["protect", "visits.csv", "--column", "codes", "-k", "3", "-o", "sets"]).1;
    assert!(told.contains("warning: there seem to be several rows a person: patient has about 40"), "{told}");
}

#[test]
fn rows_that_stay_apart_are_counted_by_people() {
    let bench = Bench::new();
    visits(&bench);
    let columns = ["--quasi", "age,sex,town", "--sensitive", "diagnosis", "--numeric", "age", "--identifier", "codes"];
    let protect = |more: &[&'static str]| [&["protect", "visits.csv", "-k", "3"], &columns[..], more].concat();
    let refused = bench.bad(&protect(&["--person", "patient", "-o", "out"]));
    assert!(refused.contains("--person: names people whose rows differ"), "{refused}");
    assert!(
        refused.contains("age (") && refused.contains("diagnosis (") && refused.contains("--keep-visits"),
        "{refused}"
    );
    assert!(!refused.contains("sex (") && !refused.contains("P7"), "{refused}");

    let more = ["--person", "patient", "--keep-visits", "--alpha", "0.7", "--suppression-limit", "0.3", "-o", "out"];
    bench.good(&protect(&more));
    let class_of: Vec<String> =
        rows(&bench, "out/custody/class_of.csv").into_iter().map(|row| row[1].clone()).collect();
    let mut people: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let mut values: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (row, class) in rows(&bench, "visits.csv").iter().zip(&class_of).filter(|(_, class)| !class.is_empty()) {
        people.entry(class).or_default().insert(row[0].clone());
        values.entry(class).or_default().push(row[4].clone());
    }
    assert!(people.len() > 3 && people.values().all(|people| people.len() >= 3), "{people:?}");
    // The fourth visit of one person is nobody else's: it is not published.
    assert!(class_of.last().unwrap().is_empty());
    assert!(bench.good(&["verify", "out", "--original", "visits.csv"]).0.contains("The promise holds"));
    assert!(bench.good(&["measure", "out", "--original", "visits.csv"]).0.contains("GCP"));
    // Custody that puts a person twice into a part is refuted.
    let parts = fs::read_to_string(bench.at("out/custody/part_of.csv")).unwrap();
    let in_one = |line: &str| match line.split_once(',') {
        Some((row, part)) if !part.is_empty() && row != "row" => format!("{row},1\n"),
        _ => format!("{line}\n"),
    };
    let one: String = parts.lines().map(in_one).collect();
    fs::write(bench.at("out/custody/part_of.csv"), one).unwrap();
    let refuted = bench.run(&["verify", "out", "--original", "visits.csv"]);
    assert_eq!(refuted.status.code(), Some(1));

    let sets = ["protect", "visits.csv", "-k", "3", "-o", "sets", "--keep-visits"];
    let told = bench.good(&[&sets[..], &SETS].concat()).1;
    assert!(told.contains("rows of a person stay apart"), "{told}");
    let verify = ["verify", "sets", "--original", "visits.csv", "--json"];
    let told = json(&bench.good(&[&verify[..], &SETS].concat()).0);
    let rules: Vec<&Value> = told["checks"].as_array().unwrap().iter().map(|check| &check["rule"]).collect();
    assert!(rules.contains(&&Value::from("people")) && told["holds"] == true, "{told}");

    bench.good(&protect(&["--person", "patient", "--first-visit", "-o", "first"]));
    assert_eq!(rows(&bench, "first/custody/class_of.csv").len(), 40);
    assert!(bench.good(&["verify", "first", "--original", "visits.csv"]).0.contains("The promise holds"));
    let looked = bench.good(&["inspect", "visits.csv", "--quasi", "age,sex,town", "--person", "patient", "-k", "3"]).0;
    assert!(looked.contains("40 people in ") && looked.contains("people  share"), "{looked}");
}

#[test]
fn a_recipe_names_people_and_reports_tell_both_counts() {
    let bench = Bench::new();
    visits(&bench);
    let recipe = "[input]\nfile = \"visits.csv\"\nperson = \"patient\"\nvisits = \"apart\"\n[protect]\nk = 3\n[table]\n\
                  quasi = [\"age\", \"sex\", \"town\"]\nsensitive = [\"diagnosis\"]\nidentifier = [\"codes\"]\n\
                  numeric = [\"age\"]\nsuppression_limit = 0.3\n[output]\nfolder = \"ran\"\n";
    bench.file("recipe.toml", recipe);
    let told = bench.good(&["run"]).0;
    assert!(told.contains("40 people in "), "{told}");
    let report = fs::read_to_string(bench.at("ran/custody/report.md")).unwrap();
    assert!(report.contains("People and rows") && report.contains("40 people in "), "{report}");
    let report = json(&fs::read_to_string(bench.at("ran/custody/report.json")).unwrap());
    assert_eq!((report["people"]["people"].as_u64(), report["people"]["most_rows"].as_u64()), (Some(40), Some(4)));
    // How many rows people have was counted in the original: the public page does not show it.
    let public = fs::read_to_string(bench.at("ran/release/report.html")).unwrap();
    assert!(!public.contains("40 people") && public.contains("A person may have several records"));
    bench.file(
        "sets.toml",
        "[input]\nfile = \"visits.csv\"\ncolumn = \"codes\"\nperson = \"patient\"\n[protect]\nk = 3\n",
    );
    bench.good(&["run", "sets.toml", "-o", "sets"]);
    bench.good(&["sweep", "sets.toml", "-k", "2,3", "-o", "swept"]);
    for (from, to, told) in [
        ("[protect]\n", "[protect]\nmethod = \"lattice\"\n", "lattice has one level"),
        ("visits = \"apart\"", "visits = \"never\"", "expected one of: together, first, apart"),
        ("person = \"patient\"", "person = \"nobody\"", "no column nobody"),
        ("identifier = [\"codes\"]", "set = \"codes\"", "sets are cut inside classes"),
    ] {
        bench.file("recipe.toml", recipe.replace(from, to));
        let error = bench.bad(&["run"]);
        assert!(error.contains(told), "{error}");
    }
}

#[test]
fn noise_is_for_one_record_a_person() {
    let bench = Bench::new();
    visits(&bench);
    let noise = ["protect", "visits.csv", "--method", "diffpart", "--epsilon", "1", "--fanout", "2"];
    bench.good(&[&noise[..], &SETS, &["-o", "out"]].concat());
    let claim = json(&fs::read_to_string(bench.at("out/release/claim.json")).unwrap());
    assert!(claim["promised"].as_str().unwrap().contains("all rows of a person in the original are one record"));
    assert!(bench.good(&["verify", "out"]).0.contains("people"));
    let error = bench.bad(&[&noise[..], &SETS, &["--keep-visits", "-o", "apart"]].concat());
    assert!(error.contains("--keep-visits: rows of a person cannot stay apart: the noise of diffpart"), "{error}");
}
