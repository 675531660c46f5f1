//! A table of kinds of columns: what each should be called, which role it should be given, and why.

use disjoin::inspect::Suggested::{self, Identifier, Insensitive, Quasi, Sensitive, Set};
use disjoin::inspect::profile::Kind::{self, Category, Code, Date, Empty, FreeText, Integer, List, NearUnique, Number};
use disjoin::inspect::profile::Question;

use super::{mixed, profile};

const ROWS: u64 = 200;

/// The name of a column, its cells, and what is expected: kind, role, a part of the reason, a part of the reading, a question.
type Case = (&'static str, fn(u64) -> String, Kind, Option<Suggested>, &'static str, &'static str, Option<Question>);

/// An age, or once in a while what stands for ages beyond it.
fn aged(row: u64, beyond: &str) -> String {
    if row.is_multiple_of(20) { beyond.into() } else { (1 + mixed(row) % 80).to_string() }
}

fn of(words: &[&str], row: u64) -> String {
    words[mixed(row) as usize % words.len()].to_owned()
}

/// A day of a row: its day, month and year, as they are to be written.
fn dated(row: u64, written: fn(u64, u64, u64) -> String) -> String {
    written(1 + mixed(row) % 28, 1 + mixed(row + 7) % 12, 1950 + mixed(row + 3) % 60)
}

/// The same, year first.
fn iso(row: u64) -> String {
    dated(row, |d, m, y| format!("{y}-{m:02}-{d:02}"))
}

const WORDS: [&str; 8] = ["tired", "since", "monday", "called", "brother", "again", "pain", "left"];

fn sentence(row: u64) -> String {
    (0..8).map(|i| WORDS[mixed(row * 8 + i) as usize % 8]).collect::<Vec<_>>().join(" ")
}

const KNOWN: &str = "others may know it";
const SECRET: &str = "nobody should learn";
const AGES: &str = "ages in whole years";
const NUMBERS: Kind = Kind::Identifier;

const OF_NUMBERS: &[Case] = &[
    ("age", |i| (18 + mixed(i) % 70).to_string(), Integer, Some(Quasi), KNOWN, "numbers", None),
    ("Alter", |i| (18 + mixed(i) % 70).to_string(), Integer, Some(Quasi), KNOWN, "numbers", None),
    ("age", |i| format!("{} years", 18 + mixed(i) % 70), Integer, Some(Quasi), KNOWN, AGES, None),
    ("age", |i| aged(i, "<1"), Integer, Some(Quasi), KNOWN, AGES, None),
    ("age", |i| aged(i, "90+"), Integer, Some(Quasi), KNOWN, AGES, None),
    (
        "age",
        |i| if i % 30 == 0 { "NA".into() } else { (1 + mixed(i) % 80).to_string() },
        Integer,
        Some(Quasi),
        KNOWN,
        "numbers",
        None,
    ),
    (
        "age",
        |i| if i == 50 { "young".into() } else { (1 + mixed(i) % 80).to_string() },
        Integer,
        Some(Quasi),
        KNOWN,
        "one cell that is none",
        Some(Question::Unread),
    ),
    ("weight", |i| format!("{}.{}", 50 + mixed(i) % 50, mixed(i) % 10), Number, Some(Quasi), KNOWN, "numbers", None),
    (
        "Gewicht",
        |i| format!("{},{}", 50 + mixed(i) % 50, mixed(i) % 10),
        Number,
        Some(Quasi),
        KNOWN,
        "decimal comma",
        None,
    ),
    (
        "income",
        |i| format!("{}.{:03},50", 1 + mixed(i) % 90, mixed(i) % 1000),
        Number,
        Some(Sensitive),
        SECRET,
        "decimal comma",
        None,
    ),
    (
        "income",
        |i| format!("{},{:03}.50", 1 + mixed(i) % 90, mixed(i) % 1000),
        Number,
        Some(Sensitive),
        SECRET,
        "separators of thousands",
        None,
    ),
    (
        "salary",
        |i| format!("{},{:03}", 1 + mixed(i) % 90, mixed(i) % 1000),
        Integer,
        Some(Sensitive),
        SECRET,
        "may be a thousand",
        Some(Question::Decimal),
    ),
    (
        "salary",
        |i| format!("{} {:03}", 1 + mixed(i) % 90, mixed(i) % 1000),
        Integer,
        Some(Sensitive),
        SECRET,
        "separators of thousands",
        None,
    ),
    ("smoking", |i| format!("{} %", mixed(i) % 100), Integer, Some(Sensitive), SECRET, "percentages", None),
    (
        "alcohol",
        |i| format!("{},5%", mixed(i) % 100),
        Number,
        Some(Sensitive),
        SECRET,
        "percentages with a decimal comma",
        None,
    ),
    ("birth year", |i| (1930 + mixed(i) % 70).to_string(), Integer, Some(Quasi), KNOWN, "numbers", None),
    ("children", |i| (mixed(i) % 5).to_string(), Integer, Some(Quasi), KNOWN, "numbers", None),
    ("x7", |i| (mixed(i) % 5).to_string(), Integer, None, "nothing shows", "numbers", Some(Question::Role)),
    (
        "score",
        |i| format!("0.{:06}", mixed(i) % 1_000_000),
        Number,
        None,
        "no other row has",
        "numbers",
        Some(Question::Role),
    ),
    ("height", |i| format!("{}", 140 + mixed(i) % 60), Integer, Some(Quasi), KNOWN, "numbers", None),
    ("debt", |i| format!("-{}", mixed(i) % 9000), Integer, Some(Sensitive), SECRET, "numbers", None),
    ("measured", |i| format!("{}e-3", mixed(i) % 40), Number, None, "nothing shows", "numbers", Some(Question::Role)),
    ("version", |_| "3".into(), Integer, Some(Insensitive), "same value", "numbers", None),
];

const OF_DATES: &[Case] = &[
    ("birth date", iso, Date, Some(Quasi), "a date in a person's life", "year first", None),
    (
        "Geburtsdatum",
        |i| dated(i, |d, m, y| format!("{d:02}.{m:02}.{y}")),
        Date,
        Some(Quasi),
        "a date",
        "day before month",
        None,
    ),
    ("admitted", |i| dated(i, |d, m, y| format!("{d}/{m}/{y}")), Date, Some(Quasi), "a date", "day before month", None),
    ("admitted", |i| dated(i, |d, m, y| format!("{m}/{d}/{y}")), Date, Some(Quasi), "a date", "month before day", None),
    (
        "admitted",
        |i| dated(i, |d, m, y| format!("{m:02}-{d:02}-{y}")),
        Date,
        Some(Quasi),
        "a date",
        "month before day",
        None,
    ),
    (
        "admitted",
        |i| dated(i, |d, m, y| format!("{}/{m}/{y}", 1 + d % 12)),
        Date,
        Some(Quasi),
        "a date",
        "no day is above 12",
        Some(Question::DateOrder),
    ),
    ("visit", |i| format!("{} 12:{:02}:00", iso(i), i % 60), Date, Some(Quasi), "a date", "year first", None),
    ("visit", |i| format!("{}T12:{:02}:00Z", iso(i), i % 60), Date, Some(Quasi), "a date", "year first", None),
    ("when", |i| dated(i, |d, m, y| format!("{y}/{m}/{d}")), Date, Some(Quasi), "a date", "year first", None),
    (
        "date of death",
        |i| if i % 9 == 0 { iso(i) } else { String::new() },
        Date,
        Some(Quasi),
        "a date",
        "year first",
        None,
    ),
    ("admitted", |i| if i % 30 == 0 { "?".into() } else { iso(i) }, Date, Some(Quasi), "a date", "year first", None),
    (
        "admitted",
        |i| if i == 7 { "soon".into() } else { iso(i) },
        Date,
        Some(Quasi),
        "a date",
        "one cell that is none",
        Some(Question::Unread),
    ),
    (
        "date of diagnosis",
        |i| dated(i, |d, m, y| format!("{d}.{m}.{y}")),
        Date,
        Some(Quasi),
        "a date",
        "day before month",
        None,
    ),
    (
        "since",
        |i| dated(i % 20, |d, m, y| format!("{d:02}.{m:02}.{:02}", y % 100)),
        Code,
        None,
        "nothing shows",
        "the century is not known",
        Some(Question::Role),
    ),
];

const OF_WORDS: &[Case] = &[
    ("postcode", |i| format!("{:05}", mixed(i) % 60 * 991), Code, Some(Quasi), "where a person lives", "", None),
    ("zip", |i| (10_000 + mixed(i) % 40).to_string(), Code, Some(Quasi), "where a person lives", "", None),
    ("PLZ", |i| format!("{:05}", mixed(i) % 99_000), Code, Some(Quasi), "where a person lives", "", None),
    (
        "postcode",
        |i| format!("AB{} {}XY", mixed(i) % 9, mixed(i + 1) % 9),
        Category,
        Some(Quasi),
        "where a person lives",
        "",
        None,
    ),
    ("diagnosis", |i| format!("E{:02}.{}", mixed(i) % 9, mixed(i) % 3), Code, Some(Sensitive), SECRET, "", None),
    ("ICD10", |i| format!("J{:02}", mixed(i) % 30), Code, Some(Sensitive), SECRET, "", None),
    ("ward", |i| format!("W-{:02}", mixed(i) % 12), Code, None, "nothing shows", "", Some(Question::Role)),
    ("sex", |i| of(&["f", "m"], i), Category, Some(Quasi), KNOWN, "", None),
    ("Geschlecht", |i| of(&["w", "m", "d"], i), Category, Some(Quasi), KNOWN, "", None),
    ("native-country", |i| of(&["Chad", "Peru", "Fiji", "Laos"], i), Category, Some(Quasi), KNOWN, "", None),
    (
        "marital-status",
        |i| of(&["Never-married", "Married-civ-spouse", "Divorced"], i),
        Category,
        Some(Quasi),
        KNOWN,
        "",
        None,
    ),
    ("disease", |i| of(&["flu", "gout", "hiv", "asthma"], i), Category, Some(Sensitive), SECRET, "", None),
    (
        "disease",
        |i| of(&["Diseases of the circulatory system", "Diseases of the nervous system"], i),
        Category,
        Some(Sensitive),
        SECRET,
        "",
        None,
    ),
    ("religion", |i| of(&["a", "b", "c"], i), Category, Some(Sensitive), SECRET, "", None),
    ("colour", |i| of(&["red", "blue"], i), Category, None, "nothing shows", "", Some(Question::Role)),
    ("region_id", |i| (mixed(i) % 4).to_string(), Integer, Some(Quasi), KNOWN, "", None),
    ("group_id", |i| (mixed(i) % 4).to_string(), Integer, None, "nothing shows", "", Some(Question::Role)),
    ("source", |_| "hospital A".into(), Category, Some(Insensitive), "same value", "", None),
    (
        "source",
        |i| if i % 2 == 0 { "x".into() } else { String::new() },
        Category,
        None,
        "nothing shows",
        "",
        Some(Question::Role),
    ),
    ("nothing", |_| String::new(), Empty, Some(Insensitive), "no cell has a value", "", None),
];

const OF_PEOPLE: &[Case] = &[
    ("id", |i| (i + 1).to_string(), NUMBERS, Some(Identifier), "numbers people", "", None),
    ("row", |i| (i + 1000).to_string(), NUMBERS, Some(Identifier), "numbers people", "", None),
    ("n", |i| (i + 1).to_string(), NUMBERS, Some(Identifier), "a value of its own", "", None),
    ("patient", |i| (mixed(i / 3) % 100_000).to_string(), NUMBERS, Some(Identifier), "for 200 rows", "", None),
    ("patient", |i| format!("P{:05}", i / 4), NUMBERS, Some(Identifier), "50 for 200 rows", "", None),
    ("patient_id", |i| format!("{:08}", mixed(i)), NUMBERS, Some(Identifier), "numbers people", "", None),
    ("name", |i| format!("Ann{} Lee{}", i, mixed(i)), Kind::Identifier, Some(Identifier), "names or reaches", "", None),
    ("surname", |i| of(&["Smith", "Jones", "Li"], i), Category, Some(Identifier), "names or reaches", "", None),
    ("e-mail", |i| format!("a{i}@example.org"), Kind::Identifier, Some(Identifier), "names or reaches", "", None),
    ("phone", |i| format!("0{}", 100_000 + mixed(i)), NUMBERS, Some(Identifier), "names or reaches", "", None),
    ("token", |i| format!("x{:x}", mixed(i)), Kind::Identifier, Some(Identifier), "a value of its own", "", None),
    ("nickname", |i| format!("nick{}", mixed(i) % 120), NearUnique, Some(Identifier), "no other row has", "", None),
    ("note", sentence, FreeText, Some(Identifier), "free text", "", None),
    (
        "comment",
        |i| if i % 4 == 0 { String::new() } else { sentence(i) },
        FreeText,
        Some(Identifier),
        "free text",
        "",
        None,
    ),
    (
        "remarks",
        |i| format!("{}, {}", sentence(i), sentence(i + 999)),
        FreeText,
        Some(Identifier),
        "free text",
        "",
        None,
    ),
    ("codes", |i| format!("a{};b{};c", mixed(i) % 5, mixed(i + 1) % 7), List, Some(Set), "lists of terms", "", None),
    (
        "diagnoses",
        |i| format!("E1{}|J4{}", mixed(i) % 5, mixed(i + 1) % 7),
        List,
        Some(Set),
        "lists of terms",
        "",
        None,
    ),
    ("bought", |i| format!("whole milk, bread {}", mixed(i) % 5), List, Some(Set), "lists of terms", "", None),
    (
        "codes",
        |i| if i % 3 == 0 { "flu".into() } else { format!("flu;c{}", mixed(i) % 9) },
        List,
        Some(Set),
        "lists of terms",
        "",
        None,
    ),
];

#[test]
fn columns_are_what_a_careful_reader_would_call_them() {
    let cases: Vec<Case> = [OF_NUMBERS, OF_DATES, OF_WORDS, OF_PEOPLE].concat();
    assert!(cases.len() >= 60, "{}", cases.len());
    let mut wrong = Vec::new();
    for (name, cell, kind, role, reason, reading, question) in cases {
        let rows: Vec<Vec<String>> = (0..ROWS).map(|i| vec![cell(i)]).collect();
        let found = &profile(&[name], &rows).columns[0];
        let told = found.reading.as_deref().unwrap_or_default();
        let is_right = found.kind == kind
            && found.suggestion.role == role
            && found.suggestion.reason.contains(reason)
            && told.contains(reading)
            && found.suggestion.question == question;
        if !is_right {
            wrong.push(format!("{name} ({}): {found:?}", cell(1)));
        }
    }
    assert!(wrong.is_empty(), "{} of them:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn people_with_several_rows_are_seen() {
    let rows: Vec<Vec<String>> =
        (0..ROWS).map(|i| vec![format!("P{:05}", i / 4), of(&["f", "m"], i / 4), i.to_string()]).collect();
    let found = profile(&["patient", "sex", "visit no"], &rows);
    let person = found.person.unwrap();
    assert_eq!((person.column.as_str(), person.people, person.rows), ("patient", 50, ROWS));
    let rows: Vec<Vec<String>> = (0..ROWS).map(|i| vec![format!("P{i:05}"), of(&["f", "m"], i)]).collect();
    assert_eq!(profile(&["patient", "sex"], &rows).person, None);
}

#[test]
fn missing_values_are_counted_and_their_texts_named() {
    let rows: Vec<Vec<String>> = (0..100).map(|i| vec![["", "NA", "7", "8"][i % 4].to_owned()]).collect();
    let found = &profile(&["age"], &rows).columns[0];
    assert_eq!((found.missing, &found.missing_texts[..], found.distinct), (50, &["NA"][..], 2));
}
