//! Recipes that are written by what is suggested run as they are written; those with a question do not run until it is answered.

use std::path::Path;

use disjoin::read::{Files, Options};
use disjoin::recipe::{Answers, TableAnswers, read_recipe, template};
use disjoin::run::{Input, Look, look, run};
use disjoin::{Error, Result, Unobserved};

use super::mixed;

/// Looks at a file, takes what is suggested, writes the recipe, and runs it. The questions, and what became of it.
fn accepted(folder: &Path, name: &str) -> (Vec<String>, Result<bool>) {
    let path = folder.join(name);
    let found = look(&path, &Options::default(), &Files, &Unobserved).unwrap();
    let table = match found {
        Look::Sets => None,
        Look::Table(found) => Some(TableAnswers::suggested(&found)),
    };
    let questions = table.as_ref().map(TableAnswers::questions).unwrap_or_default();
    let (file, folder_name) = (name.to_owned(), format!("out-{name}"));
    let answers = Answers { file, column: None, k: 5, m: 2, sensitive: Vec::new(), folder: folder_name, table };
    let recipe = folder.join("recipe.toml");
    std::fs::write(&recipe, template(&answers)).unwrap();
    let ran = read_recipe(&recipe).and_then(|recipe| run(&recipe, Input::Named(&Files), &Unobserved));
    (questions, ran.map(|run| run.judgement.holds))
}

fn of<'a>(words: &[&'a str], row: u64) -> &'a str {
    words[mixed(row) as usize % words.len()]
}

const ILLS: [&str; 5] = ["flu", "gout", "hiv", "asthma", "mumps"];

fn codes(i: u64) -> String {
    format!("c{};d{};e{}", mixed(i) % 4, mixed(i + 1) % 5, mixed(i + 2) % 6)
}

/// The text of a row.
type Make = fn(u64) -> String;

/// Files by name: their header, and their rows.
const FILES: &[(&str, &str, Make)] = &[
    ("plain.csv", "name,age,sex,disease", |i| {
        format!("p{i} x{i},{},{},{}", 20 + mixed(i) % 60, of(&["f", "m"], i), of(&ILLS, i + 1))
    }),
    ("german.csv", "PLZ;Geburtsdatum;Geschlecht;Diagnose;Gewicht", |i| {
        let (d, m, y) = (1 + mixed(i) % 28, 1 + mixed(i + 5) % 12, 1940 + mixed(i + 9) % 60);
        format!(
            "{:05};{d:02}.{m:02}.{y};{};{};{},{}",
            1000 + mixed(i) % 90,
            of(&["w", "m"], i),
            of(&ILLS, i),
            50 + mixed(i) % 50,
            mixed(i) % 10
        )
    }),
    ("american.csv", "zip,admitted,income", |i| {
        let (d, m) = (1 + mixed(i) % 28, 1 + mixed(i + 5) % 12);
        format!("{},{m}/{d}/2023,\"{},{:03}.50\"", 10_000 + mixed(i) % 300, 1 + mixed(i) % 90, mixed(i) % 1000)
    }),
    ("missing.csv", "age,sex,disease", |i| {
        let age = if i % 11 == 0 { "NA".into() } else { (20 + mixed(i) % 60).to_string() };
        format!("{age},{},{}", if i % 7 == 0 { "" } else { of(&["f", "m"], i) }, of(&ILLS, i))
    }),
    ("mixed.csv", "patient,age,sex,codes", |i| {
        format!("P{i:04},{},{},{}", 20 + mixed(i) % 60, of(&["f", "m"], i), codes(i))
    }),
    ("list.csv", "patient,codes", |i| format!("P{i:04},{}", codes(i))),
    ("bars.csv", "patient;diagnoses", |i| format!("P{i:04};{}", codes(i).replace(';', "|"))),
    ("visits.csv", "patient,age,sex,disease", |i| {
        let person = i / 3;
        format!("P{person:04},{},{},{}", 20 + mixed(person) % 60, of(&["f", "m"], person), of(&ILLS, i))
    }),
    ("notes.csv", "age,sex,note,disease", |i| {
        let note: Vec<&str> = (0..6).map(|j| of(&["tired", "since", "monday", "called", "again"], 6 * i + j)).collect();
        format!("{},{},{},{}", 20 + mixed(i) % 60, of(&["f", "m"], i), note.join(" "), of(&ILLS, i))
    }),
    ("ages.csv", "age,region,salary", |i| {
        let age = if i % 20 == 0 { "<1".into() } else { format!("{} years", 1 + mixed(i) % 80) };
        format!("{age},{},{}", of(&["north", "south", "east"], i), 20_000 + mixed(i) % 60_000)
    }),
    ("quasi.csv", "age,sex,city", |i| {
        format!("{},{},{}", 20 + mixed(i) % 60, of(&["f", "m"], i), of(&["A", "B", "C", "D"], i + 3))
    }),
    ("stamps.csv", "visit,sex,result", |i| {
        format!(
            "2024-{:02}-{:02} 12:{:02}:00,{},{}",
            1 + mixed(i) % 12,
            1 + mixed(i + 4) % 28,
            i % 60,
            of(&["f", "m"], i),
            of(&["pos", "neg"], i + 1)
        )
    }),
    ("long.csv", "patient,diagnosis", |i| format!("P{:04},c{}", i / 3, mixed(i) % 9)),
    ("baskets.dat", "1 2 3", |i| format!("{} {} {}", mixed(i) % 4, 4 + mixed(i + 1) % 3, 7 + mixed(i + 2) % 5)),
    ("lines.jsonl", "[\"a\",\"b\"]", |i| format!("[\"a{}\",\"b{}\"]", mixed(i) % 4, mixed(i + 1) % 3)),
];

#[test]
fn what_is_suggested_runs_as_it_is_written() {
    let folder = tempfile::tempdir().unwrap();
    assert!(FILES.len() >= 10);
    for (name, header, row) in FILES {
        let rows: Vec<String> = (0..300).map(|i| row(i) + "\n").collect();
        std::fs::write(folder.path().join(name), format!("{header}\n{}", rows.concat())).unwrap();
        let (questions, ran) = accepted(folder.path(), name);
        let text = std::fs::read_to_string(folder.path().join("recipe.toml")).unwrap();
        assert!(questions.is_empty(), "{name}: {questions:?}");
        assert!(ran.is_ok(), "{name}: {:?}\n{text}", ran.unwrap_err());
    }
}

#[test]
fn a_question_is_written_down_and_stops_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let cases: [(&str, Make, &str, &str); 5] = [
        (
            "age,colour",
            |i| format!("{},{}", 20 + mixed(i) % 60, of(&["red", "blue"], i)),
            "What is colour?",
            "recipe.toml:",
        ),
        (
            "age,admitted",
            |i| format!("{},{}/{}/2023", 20 + mixed(i) % 60, 1 + mixed(i) % 12, 1 + mixed(i + 1) % 12),
            "date_order",
            "--date-order",
        ),
        (
            "age,salary",
            |i| format!("{},\"{},{:03}\"", 20 + mixed(i) % 60, 1 + mixed(i) % 90, mixed(i) % 1000),
            "decimal",
            "--decimal",
        ),
        (
            "age,sex",
            |i| {
                format!(
                    "{},{}",
                    if i == 9 { "old".into() } else { (20 + mixed(i) % 60).to_string() },
                    of(&["f", "m"], i)
                )
            },
            "age: numbers, and one cell",
            "recipe.toml:",
        ),
        ("name,disease", |i| format!("p{i},{}", of(&ILLS, i)), "quasi-identifier", "table.quasi"),
    ];
    for (header, row, question, error) in cases {
        let rows: Vec<String> = (0..200).map(|i| row(i) + "\n").collect();
        std::fs::write(folder.path().join("x.csv"), format!("{header}\n{}", rows.concat())).unwrap();
        let (questions, ran) = accepted(folder.path(), "x.csv");
        assert!(questions.len() == 1 && questions[0].contains(question), "{header}: {questions:?}");
        let text = std::fs::read_to_string(folder.path().join("recipe.toml")).unwrap();
        assert!(text.contains("# QUESTION"), "{text}");
        let stopped = ran.unwrap_err();
        assert!(matches!(stopped, Error::Input { .. } | Error::Recipe { .. }));
        let told = format!("{stopped} {}", stopped.hint().unwrap());
        assert!(told.contains(error), "{header}: {told}");
        assert!(!folder.path().join("out-x.csv").exists());
    }
}

/// Names that would end a text or a remark do neither.
#[test]
fn any_name_of_a_column_can_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let header = "\"age \"\"now\"\" {k}\",\"sex = [\\\",\"d\u{ef}sease of # all\"";
    let rows: Vec<String> =
        (0..100).map(|i| format!("{},{},{}\n", 20 + mixed(i) % 60, of(&["f", "m"], i), of(&ILLS, i))).collect();
    std::fs::write(folder.path().join("x.csv"), format!("{header}\n{}", rows.concat())).unwrap();
    let (_, ran) = accepted(folder.path(), "x.csv");
    let told = ran.map(|_| String::new()).unwrap_or_else(|error| error.to_string());
    assert!(told.is_empty() || told.contains("table.undecided"), "{told}");
}
