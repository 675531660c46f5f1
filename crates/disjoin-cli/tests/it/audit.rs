//! `disjoin audit`: files of other tools, requirements, reports, claims, and what is refused.

use crate::common::{Bench, text};

/// A table as ARX writes it, with a suppressed record, cells that overlap, and a column that nobody names.
const TABLE: &str = "age,sex,zip,disease,pay,note\n\
    \"[20, 30[\",M,13***,flu,3,a\n\"[20, 30[\",M,13***,flu,4,a\n\"[20, 30[\",M,13***,hiv,5,b\n\
    \"[25, 35[\",M,13***,flu,3,a\n\"[25, 35[\",M,13***,gout,9,a\n\
    *,*,*,hiv,7,b\n*,*,*,flu,7,b\n\
    30-39,F,14***,flu,2,c\n30-39,F,14***,hiv,6,c\n";

const ROLES: [&str; 4] = ["--quasi", "age,sex,zip", "--sensitive", "disease,pay"];

fn bench() -> Bench {
    let bench = Bench::new();
    bench.file("x.csv", TABLE);
    bench
}

fn json(bench: &Bench, more: &[&str]) -> serde_json::Value {
    let (stdout, _) = bench.good(&[&["audit", "x.csv", "--json"], &ROLES[..], more].concat());
    serde_json::from_str(&stdout).unwrap()
}

#[test]
fn a_table_of_another_tool_is_measured() {
    let found = json(&bench(), &[]);
    assert_eq!((&found["k"], &found["classes"], &found["records"]), (&2.into(), &4.into(), &9.into()));
    assert_eq!((&found["suppressed"], &found["k_without_suppressed"]), (&2.into(), &2.into()));
    assert_eq!(found["unnamed"], serde_json::json!(["note"]));
    let disease = &found["sensitive"][0];
    assert_eq!((&disease["distinct_l"]["value"], &disease["numeric"]), (&2.0.into(), &false.into()));
    assert!(disease["t_ordered"].is_null() && found["sensitive"][1]["t_ordered"]["value"].as_f64().unwrap() > 0.0);
    // Both ranges of ages have values that the other does not cover; suppressed records may be anybody's.
    assert_eq!((&found["matching"]["overlapping_classes"], &found["matching"]["exact"]), (&4.into(), &true.into()));
    assert_eq!(found["matching"]["fewest_candidates"], 2);
    let (stdout, _) = bench().good(&[&["audit", "x.csv"], &ROLES[..]].concat());
    for part in [
        "k = 2",
        "Not named",
        "note",
        "2 records are suppressed",
        "prosecutor",
        "a masked text",
        "Nothing was required",
    ] {
        assert!(stdout.contains(part), "{part}\n{stdout}");
    }
    assert!(!stdout.contains("13***") && !stdout.contains("[20, 30["), "{stdout}");
    let (stdout, _) = bench().good(&[&["audit", "x.csv", "--name-values"], &ROLES[..]].concat());
    assert!(stdout.contains("13***"), "{stdout}");
}

#[test]
fn requirements_set_the_exit_code() {
    let bench = bench();
    for (required, code) in [("k=2,l=1", 0), ("k=3", 1), ("l=2", 1), ("t-equal=0.01", 1), ("alpha=1,marketer=1", 0)] {
        let output = bench.run(&[&["audit", "x.csv", "--require", required], &ROLES[..]].concat());
        assert_eq!(output.status.code(), Some(code), "{required}\n{}", text(&output.stdout));
    }
    let output = bench.run(&[&["audit", "x.csv", "--require", "k=3,l=1", "--json"], &ROLES[..]].concat());
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&told["holds"], &told["requirements"][0]["met"]), (&false.into(), &false.into()));
    assert_eq!((&told["requirements"][1]["key"], &told["requirements"][1]["met"]), (&"l".into(), &true.into()));
}

#[test]
fn what_cannot_be_meant_is_refused_with_a_remedy() {
    let bench = bench();
    for (arguments, parts) in [
        (&["--quasi", "age,sexx"][..], &["no column sexx", "did you mean sex?"][..]),
        (&["--quasi", "age,age"], &["--quasi", "names the column age twice"]),
        (&["--quasi", "age", "--sensitive", "age"], &["--sensitive", "quasi-identifier as well"]),
        (&[], &["--quasi", "-m", "sets of terms"]),
        (&["--quasi", "age", "-m", "2"], &["-m", "is for sets"]),
        (&["-m", "2", "--sensitive", "sex"], &["--sensitive", "is for tables"]),
        (&["--quasi", "age", "--require", "kk=3"], &["--require", "did you mean k?"]),
        (&["--quasi", "age", "--require", "l=2"], &["--require", "no column is sensitive", "--sensitive"]),
        (&["--quasi", "age", "--report", "x.pdf"], &["--report", ".html, .md or .txt"]),
        (&["--quasi", "age", "--population", "3"], &["--population", "smaller than the file"]),
        (&["--quasi", "age", "--threshold", "2"], &["--threshold", "at most 1"]),
        (&["--quasi", "age", "--hierarchy", "h.csv"], &["--hierarchy", "COLUMN=FILE"]),
        (&["--quasi", "age", "--hierarchy", "note=h.csv"], &["--hierarchy", "not named"]),
        (&["--quasi", "age,note,pay,disease", "--claim", "out"], &["--claim", "k is 1"]),
    ] {
        let told = bench.bad(&[&["audit", "x.csv"], arguments].concat());
        assert!(parts.iter().all(|part| told.contains(part)) && told.contains("hint: "), "{arguments:?}\n{told}");
    }
}

#[test]
fn a_claim_of_what_was_found_is_proved_and_attacked() {
    let bench = bench();
    let (_, stderr) =
        bench.good(&[&["audit", "x.csv", "--claim", "out", "--report", "audit.html"], &ROLES[..]].concat());
    assert!(stderr.contains("wrote audit.html"), "{stderr}");
    let (stdout, _) = bench.good(&["verify", "out"]);
    assert!(stdout.contains("The promise holds") && stdout.contains("at least 2 rows"), "{stdout}");
    assert!(stdout.contains("Counted in the data: k = 2"), "{stdout}");
    let (stdout, _) = bench.good(&["attack", "out"]);
    assert!(stdout.contains("prosecutor 0.5 at most"), "{stdout}");
    let (stdout, _) = bench.good(&["verify", "out", "--json"]);
    let told: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((&told["actual"]["k"], &told["actual"]["sensitive"][0]["column"]), (&2.into(), &"disease".into()));
    let page = std::fs::read_to_string(bench.at("audit.html")).unwrap();
    assert!(page.contains("<h1>Audit of x.csv</h1>") && !page.contains("13***"));
    // Nothing is replaced without being asked.
    let again = [&["audit", "x.csv", "--claim", "out"], &ROLES[..]].concat();
    assert!(bench.bad(&again).contains("--force"));
    bench.good(&[&again[..], &["--force"]].concat());
}

#[test]
fn the_original_shows_what_was_kept() {
    let bench = bench();
    let ages = [21, 22, 29, 26, 34, 50, 23, 30, 39];
    let rows = TABLE.lines().skip(1).zip(ages).enumerate().map(|(at, (line, age))| {
        let rest: Vec<&str> = line.rsplitn(4, ',').collect();
        let (sex, zip) = if at < 7 { ("M", "13053") } else { ("F", "14850") };
        format!("{age},{sex},{zip},{},{},x\n", rest[2], rest[1])
    });
    bench.file("o.csv", String::from("age,sex,zip,disease,pay,name\n") + &rows.collect::<String>());
    let found = json(&bench, &["--original", "o.csv"]);
    let original = &found["original"];
    assert_eq!(original["in_order"]["records"], 0, "{original}");
    assert_eq!((&original["without_original"]["records"], &original["without_release"]), (&0.into(), &0.into()));
    let gcp = original["gcp"].as_f64().unwrap();
    assert!(gcp > 0.1 && gcp < 0.9, "{gcp}");
    // A person of 50 can only be one of the two whose record is suppressed.
    assert_eq!(original["risk"]["fewest_candidates"], 2);
    let text = std::fs::read_to_string(bench.at("o.csv")).unwrap().replace("34,M", "44,M");
    bench.file("o.csv", text);
    let found = json(&bench, &["--original", "o.csv"]);
    assert_eq!(found["original"]["in_order"], serde_json::json!({"records": 1, "first": [5]}));
    assert_eq!(found["original"]["without_original"], serde_json::json!({"records": 1, "first": [5]}));
}

#[test]
fn sets_are_counted_for_every_m() {
    let bench = Bench::new();
    bench.file("x.dat", "a b\na b\na\na b c\nA c\n");
    bench.file("h.csv", "a;A;*\nb;A;*\nc;C;*\nd;C;*\n");
    let (stdout, _) = bench.good(&["audit", "x.dat", "-m", "3", "-k", "2", "--json"]);
    let told: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    let fewest: Vec<u64> = told["sizes"].as_array().unwrap().iter().map(|of| of["fewest"].as_u64().unwrap()).collect();
    assert_eq!(fewest, [1, 1, 1]);
    assert_eq!(told["sizes"][0]["records_at_risk"], 1);
    let output = bench.run(&["audit", "x.dat", "-m", "3", "--hierarchy", "h.csv", "--require", "k=2"]);
    // Who has a or b may be the one with A.
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stdout).contains("Some items stand above others"), "{}", text(&output.stdout));
    bench.file("g.dat", "A\nA C\nA C\nA\nC\n");
    let arguments = ["audit", "g.dat", "-m", "2", "--hierarchy", "h.csv", "--require", "k=2", "--claim", "out"];
    bench.good(&arguments);
    let (stdout, _) = bench.good(&["verify", "out"]);
    assert!(stdout.contains("The promise holds") && stdout.contains("at least 2 records"), "{stdout}");
}

#[cfg(feature = "databases")]
#[test]
fn tables_in_databases_are_audited() {
    let bench = bench();
    let database = rusqlite::Connection::open(bench.at("x.db")).unwrap();
    let rows =
        "create table t(a text, s text); insert into t values('20-29','p'),('20-29','q'),('30-39','p'),('30-39','q');";
    database.execute_batch(rows).unwrap();
    drop(database);
    let roles = ["--quasi", "a", "--sensitive", "s", "--require", "k=2,l=2"];
    let (stdout, _) = bench.good(&[&["audit", "sqlite:x.db?table=t"], &roles[..]].concat());
    assert!(stdout.contains("Every requirement is met"), "{stdout}");
}
