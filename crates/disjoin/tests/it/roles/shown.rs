//! What `inspect` shows of a table holds no value of a single person.

use std::collections::{HashMap, HashSet};

use disjoin::Unobserved;
use disjoin::read::{Files, Options};
use disjoin::run::{InspectOptions, inspect};
use rand::{RngExt as _, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A word that is nowhere in the texts of the program.
fn word(rng: &mut ChaCha8Rng) -> String {
    let letters: String = (0..7).map(|_| char::from(b'a' + rng.random_range(0..26_u8))).collect();
    format!("{letters}{}", rng.random_range(1000..10_000))
}

/// A cell of one of several kinds, drawn from few or from many.
fn cell(rng: &mut ChaCha8Rng, kind: u32, few: &[String], row: usize) -> String {
    let one = |rng: &mut ChaCha8Rng| few[rng.random_range(0..few.len())].clone();
    match kind {
        0 => one(rng),
        1 => word(rng),
        2 if row.is_multiple_of(17) => word(rng),
        2 => one(rng),
        3 => format!("{};{}", one(rng), if rng.random_bool(0.2) { word(rng) } else { one(rng) }),
        4 => (0..6).map(|_| word(rng)).collect::<Vec<_>>().join(" "),
        5 => rng.random_range(1_000_000..99_999_999_u64).to_string(),
        6 => format!("{}-{:02}-{:02}", rng.random_range(1900..2020), rng.random_range(1..13), rng.random_range(1..29)),
        _ => format!("{}.{:07}", rng.random_range(0..9), rng.random_range(0..9_999_999)),
    }
}

/// A random table: people with one row or several, columns of all kinds.
fn table(rng: &mut ChaCha8Rng) -> (Vec<String>, Vec<Vec<String>>) {
    let n_columns = rng.random_range(2..7);
    let with_visits = rng.random_bool(0.5);
    let mut header: Vec<String> =
        (0..n_columns).map(|i| format!("{}{i}", ["col", "age", "note", "city"][i % 4])).collect();
    let kinds: Vec<u32> = (0..n_columns).map(|_| rng.random_range(0..8)).collect();
    let few: Vec<String> = (0..6).map(|_| word(rng)).collect();
    let mut rows = Vec::new();
    let mut person = 0;
    while rows.len() < 120 {
        person += 1;
        let visits = if with_visits { rng.random_range(1..9) } else { 1 };
        // What somebody has stays the same from visit to visit.
        let cells: Vec<String> = kinds.iter().map(|kind| cell(rng, *kind, &few, rows.len())).collect();
        for _ in 0..visits {
            let mut row = cells.clone();
            row.push(format!("Q{:05}", 10_000 + person));
            rows.push(row);
        }
    }
    header.push(String::from("patient"));
    (header, rows)
}

#[test]
fn no_value_of_a_single_person_is_shown() {
    let mut rng = ChaCha8Rng::seed_from_u64(23);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.csv");
    let asked = InspectOptions { k: 5, m: 2, quasi: Vec::new(), input: Options::default() };
    let (mut looked_for, mut shown_some) = (0, 0);
    for round in 0..150 {
        let (header, rows) = table(&mut rng);
        let mut text = header.join(",") + "\n";
        rows.iter().for_each(|row| text.push_str(&(row.join(",") + "\n")));
        std::fs::write(&path, &text).unwrap();
        let answer = inspect(&path, &asked, &Files, &Unobserved).unwrap();
        let shown = format!("{}\n{}", answer.page.text(), answer.json);
        let mut holders: HashMap<String, HashSet<&str>> = HashMap::new();
        for row in &rows {
            let person = row.last().unwrap().as_str();
            for cell in row {
                for part in cell.split([';', ' ']).chain([cell.as_str()]) {
                    holders.entry(part.to_owned()).or_default().insert(person);
                }
            }
        }
        for (value, people) in holders {
            let is_shown = shown.contains(&value);
            if people.len() < 5 {
                looked_for += 1;
                assert!(!is_shown, "round {round}: {value} of {} people is shown:\n{shown}", people.len());
            }
            shown_some += usize::from(is_shown);
        }
    }
    assert!(looked_for > 10_000 && shown_some > 50, "{looked_for} {shown_some}");
}
