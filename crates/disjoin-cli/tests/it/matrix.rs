//! All forms in all verbs: each works, or refuses with a hint that says which forms it takes and what to do instead.

use std::fmt::Write as _;

use crate::common::text;
use crate::forms::{Form, all, bench};

/// What a verb is given, besides the release; `-o` where it writes.
fn arguments(verb: &str, form: &Form) -> Vec<String> {
    let name = form.name;
    let mut arguments: Vec<&str> = match verb {
        "run" | "sweep" => return vec![format!("{name}.toml"), "-o".into(), format!("{verb}-{name}")],
        "verify --original" => [&["verify", name], form.original].concat(),
        "attack --original" => [&["attack", name], form.original].concat(),
        "measure" => [&["measure", name], form.original].concat(),
        "query" if form.original[1] == "people.csv" => {
            vec!["query", name, "age 20-29 and sex = F and ill in {flu, gout}"]
        }
        "query" => vec!["query", name, "--top", "3"],
        "query --top" => vec!["query", name, "--top", "3"],
        "convert to csv" => vec!["convert", name, "converted.csv"],
        "convert to parquet" => vec!["convert", name, "converted.parquet"],
        "convert to arrow" => vec!["convert", name, "converted.arrow"],
        "repair" => vec!["repair", name, "-o", "repaired"],
        "convert" => vec!["convert", name, "converted"],
        verb => vec![verb, name],
    };
    if ["run", "sweep"].contains(&verb) {
        arguments.insert(0, verb);
    }
    arguments.into_iter().map(str::to_owned).collect()
}

/// What is expected of each cell: `ok` (exit code 0 or 1), or a part of the hint of a refusal.
const EXPECTED: [(&str, [&str; 6]); 18] = [
    // disassociated, classes, mixed, split, recoded, noisy
    ("run", ["ok", "ok", "ok", "ok", "ok", "ok"]),
    ("sweep", ["ok", "ok", "ok", "ok", "ok", "choose epsilon beforehand"]),
    ("verify", ["ok", "ok", "ok", "ok", "ok", "ok"]),
    ("verify --original", ["ok", "ok", "ok", "ok", "ok", "leave it out; disjoin measure compares both"]),
    ("attack", ["ok", "ok", "ok", "ok", "ok", "its promise covers every attack"]),
    ("attack --original", ["ok", "ok", "ok", "ok", "ok", "its promise covers every attack"]),
    ("measure", ["ok", "ok", "ok", "ok", "ok", "ok"]),
    (
        "repair",
        [
            "ok",
            "protect the original again",
            "protect the original again",
            "protect the original again",
            "give the file that disjoin protect was given",
            "protect the original again",
        ],
    ),
    ("query", ["ok", "ok", "ok", "ok", "ok", "data.jsonl in it"]),
    (
        "query --top",
        ["ok", "write what to count", "write what to count", "write what to count", "ok", "data.jsonl in it"],
    ),
    ("explain", ["ok", "disjoin measure", "disjoin measure", "disjoin measure", "disjoin measure", "disjoin measure"]),
    ("reconstruct", ["ok", "ok", "ok", "ok", "disjoin convert", "synthetic already"]),
    ("convert", ["ok", "ends in .csv", "ends in .csv", "ends in .csv", "basket, spmf", "ends in .csv"]),
    ("convert to csv", ["ok", "ok", "ok", "ok", "ok", "ok"]),
    ("convert to parquet", ["ok", "ok", "ok", "ok", "ok", "ok"]),
    ("convert to arrow", ["ok", "ok", "ok", "ok", "ok", "ok"]),
    ("inspect", ["ok", "ok", "ok", "ok", "ok", "ok"]),
    // What anybody can read of a release, and originals where that is no table and no list of records.
    ("audit", ["ok", "ok", "ok", "ok", "ok", "ok"]),
];

#[test]
fn every_form_works_in_every_verb_or_is_refused_with_a_hint() {
    let bench = bench();
    let forms = all();
    let mut table = format!("{:<20}", "");
    forms.iter().for_each(|form| {
        let _ = write!(table, "{:<16}", form.name);
    });
    let mut wrong = Vec::new();
    for (verb, expected) in EXPECTED {
        let _ = write!(table, "\n{verb:<20}");
        for (form, expected) in forms.iter().zip(expected) {
            let mut arguments = arguments(verb, form);
            match verb {
                // The package of the next verbs.
                "run" => arguments = vec!["run".into(), format!("{}.toml", form.name)],
                "sweep" => {
                    arguments =
                        ["sweep".into()].into_iter().chain(arguments).chain(["-k".into(), "3,4".into()]).collect()
                }
                "inspect" => {
                    let quasi: &[&str] = if form.original[1] == "people.csv" { &["--quasi", "age,sex"] } else { &[] };
                    arguments = ["inspect", form.original[1]].iter().chain(quasi).map(|a| (*a).to_owned()).collect();
                }
                "audit" => {
                    let (file, flags): (&str, &[&str]) = match form.name {
                        "classes" => ("classes/release/data.csv", &["--quasi", "age,sex", "--sensitive", "ill"]),
                        "mixed" => ("mixed/release/data.csv", &["--quasi", "age,sex", "--sensitive", "ill"]),
                        "split" => ("split/release/quasi.csv", &["--quasi", "age,sex"]),
                        _ => (form.original[1], &["-m", "2"]),
                    };
                    arguments = ["audit", file].iter().chain(flags).map(|a| (*a).to_owned()).collect();
                }
                _ => {}
            }
            let given: Vec<&str> = arguments.iter().map(String::as_str).collect();
            let output = bench.run(&given);
            // What one form writes is not in the way of the next.
            for left in bench.names().iter().filter(|name| name.starts_with("converted") || *name == "repaired") {
                let _ = std::fs::remove_dir_all(bench.at(left));
                let _ = std::fs::remove_file(bench.at(left));
            }
            let (code, stderr) = (output.status.code(), text(&output.stderr));
            let is_right = match expected {
                "ok" => matches!(code, Some(0 | 1)),
                hint => code == Some(2) && stderr.contains("hint: ") && stderr.contains(hint),
            };
            let is_clean = !stderr.contains("panicked") && !stderr.contains("internal defect");
            if !(is_right && is_clean) {
                wrong.push(format!("{given:?}: {code:?}, expected {expected}\n{stderr}"));
            }
            let _ = write!(table, "{:<16}", if expected == "ok" { "works" } else { "refuses" });
        }
    }
    println!("{table}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
