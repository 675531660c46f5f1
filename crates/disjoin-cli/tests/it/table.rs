//! Tables from the command line: a file in, a package out, proved, attacked, measured; and what is said when it cannot be.

use std::fs;

use crate::common::{Bench, text};

/// Sixty people with a name, an age, a sex, a disease and codes, of which some have none.
fn people(bench: &Bench) {
    let mut csv = String::from("name,age,sex,disease,codes\n");
    for i in 0..60 {
        let sex = if i % 2 == 0 { "f" } else { "m" };
        let disease = ["flu", "gout", "hiv", "asthma"][(i / 2) % 4];
        let codes = if i % 5 == 0 { String::new() } else { format!("a;b{};c{}", i % 2, i % 3) };
        csv.push_str(&format!("person {i},{},{sex},{disease},{codes}\n", 20 + i % 30));
    }
    bench.file("people.csv", csv);
}

const ROLES: [&str; 10] =
    ["--quasi", "age,sex", "--sensitive", "disease", "--identifier", "name", "--set", "codes", "--numeric", "age"];

fn protect<'a>(out: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["protect", "people.csv", "-k", "3", "-o", out], &ROLES[..], more].concat()
}

#[test]
fn a_table_goes_all_the_way() {
    let bench = Bench::new();
    people(&bench);
    bench.good(&protect("out", &["--beta", "3", "--suppression-limit", "0.2"]));
    let data = fs::read_to_string(bench.at("out/release/data.csv")).unwrap();
    assert!(data.starts_with("age,sex,disease\n") && !data.contains("person"), "{data}");
    assert!(bench.at("out/release/sets.jsonl").is_file());

    for args in [&["verify", "out"][..], &["verify", "out", "--original", "people.csv"]] {
        assert!(bench.good(args).0.contains("The promise holds"));
    }
    let attack = ["attack", "out", "--original", "people.csv", "--knowledge", "naive-bayes", "--json"];
    let ran = bench.run(&attack);
    let told: serde_json::Value = serde_json::from_str(&text(&ran.stdout)).unwrap();
    assert!(told["gain"]["log_score"]["mean"].is_number(), "{told}");
    assert_eq!(ran.status.code(), Some(i32::from(told["gain"]["beats"].as_bool().unwrap())));
    let looked = bench.good(&["inspect", "people.csv", "--quasi", "age,sex", "-k", "3"]).0;
    // Two people of each of thirty ages, and all of one age have the same sex.
    assert!(looked.contains("at risk                             60  100 %"), "{looked}");
    assert!(bench.good(&["measure", "out", "--original", "people.csv"]).0.contains("GCP"));

    fs::write(bench.at("out/release/data.csv"), data.replacen("hiv", "flu", 1)).unwrap();
    let refuted = bench.run(&["verify", "out", "--original", "people.csv"]);
    assert_eq!(refuted.status.code(), Some(1), "{}", text(&refuted.stderr));
}

#[test]
fn a_recipe_says_the_same() {
    let bench = Bench::new();
    people(&bench);
    let recipe = "\
[input]
file = \"people.csv\"
[protect]
k = 3
[table]
quasi = [\"age\", \"sex\"]
sensitive = [\"disease\"]
identifier = [\"name\"]
set = \"codes\"
numeric = [\"age\"]
suppression_limit = 0.2
[table.criteria]
beta = 3.0
[limits]
information_loss = 0.9
[output]
folder = \"out\"
";
    bench.file("recipe.toml", recipe);
    bench.good(&["run"]);
    for page in ["custody/report.html", "custody/report.md", "custody/report.json", "release/report.html"] {
        assert!(bench.at("out").join(page).is_file(), "{page}");
    }
    let told: serde_json::Value =
        serde_json::from_slice(&fs::read(bench.at("out/custody/report.json")).unwrap()).unwrap();
    assert!(
        told["kept"] == true && told["sets"]["holds"] == true && told["sets"]["clusters"]["records"] == 48,
        "{told}"
    );
    let public = fs::read_to_string(bench.at("out/release/report.html")).unwrap();
    assert!(!public.contains("Suppressed") && !public.contains("GCP"));
    bench.good(
        &["protect", "people.csv", "-k", "3", "-o", "flags", "--beta", "3", "--suppression-limit", "0.2"]
            .iter()
            .chain(&ROLES)
            .copied()
            .collect::<Vec<_>>(),
    );
    for file in ["release/data.csv", "release/sets.jsonl", "release/claim.json"] {
        let read = |out: &str| fs::read(bench.at(out).join(file)).unwrap();
        assert_eq!(read("out"), read("flags"), "{file}");
    }

    bench.file("recipe.toml", recipe.replace("information_loss = 0.9", "information_loss = 0.0"));
    let ran = bench.run(&["run"]);
    assert_eq!(ran.status.code(), Some(1), "{}", text(&ran.stderr));
    assert!(text(&ran.stdout).contains("limits.information_loss"));
}

#[test]
fn bad_input_is_explained_and_writes_nothing() {
    let bench = Bench::new();
    people(&bench);
    bench.file("ages.csv", "20;young\n21;young\n");
    let cases: [(&[&str], &[&str]); 9] = [
        (&["--quasi", "age,sx", "--sensitive", "disease"], &["sx", "sex"]),
        (&["--quasi", "age,sex", "--sensitive", "disease"], &["name", "codes", "--identifier"]),
        (&[&ROLES[..], &["--hierarchy", "age=ages.csv"]].concat(), &["ages.csv", "age"]),
        (&[&ROLES[..8], &["--numeric", "age,sex"]].concat(), &["people.csv:2", "sex", "number"]),
        (&[&ROLES[..], &["-k", "61"]].concat(), &["60", "at most 60"]),
        (&[&ROLES[..], &["--l-diversity", "5"]].concat(), &["4", "at most 4"]),
        (&[&ROLES[..], &["--alpha", "0.1"]].concat(), &["share above 0.1", "at least 0.2"]),
        (&[&ROLES[..], &["--method", "closeness-first"]].concat(), &["t-closeness"]),
        (&[&ROLES[..], &["--beta", "0"]].concat(), &["--beta", "above 0"]),
    ];
    for (args, words) in cases {
        let said = bench.bad(&[&["protect", "people.csv", "-o", "out"], args].concat());
        for word in words {
            assert!(said.contains(word), "{args:?}: {said} lacks {word}");
        }
        assert!(!said.contains("person 1"));
    }
    bench.good(&protect("out", &[]));
    // Without the original, dependencies alone are attacked.
    let (shown, _) = bench.good(&["attack", "out"]);
    assert!(shown.starts_with("Dependencies between columns: ") && !shown.contains("inference gain"), "{shown}");
    // What only the original can tell cannot be limited without it.
    for limit in ["--max-inference-gain", "--max-belief-change", "--max-advantage"] {
        assert!(bench.bad(&["attack", "out", limit, "0"]).contains("--original <FILE>"), "{limit}");
    }
}

#[test]
fn every_method_is_offered_and_proved() {
    let bench = Bench::new();
    people(&bench);
    for (name, _) in disjoin::protect::tabular::Method::ALL {
        let more = ["--method", name, "--beta", "4", "--t-closeness", "0.7", "--suppression-limit", "0.9"];
        bench.good(&protect(name, &more));
        bench.good(&["verify", name, "--original", "people.csv"]);
    }
}

#[cfg(feature = "databases")]
#[test]
fn a_database_is_read_by_its_url() {
    let bench = Bench::new();
    let database = rusqlite::Connection::open(bench.at("people.db")).unwrap();
    database.execute_batch("CREATE TABLE people (age INTEGER, sex TEXT, disease TEXT)").unwrap();
    for i in 0..40 {
        let values = (20 + i % 20, if i % 2 == 0 { "f" } else { "m" }, ["flu", "gout"][i as usize % 2]);
        database.execute("INSERT INTO people VALUES (?1, ?2, ?3)", values).unwrap();
    }
    drop(database);
    let url = "sqlite:people.db?table=people";
    let roles = ["--quasi", "age,sex", "--sensitive", "disease", "--numeric", "age"];
    bench.good(&[&["protect", url, "-k", "4", "-o", "out"][..], &roles].concat());
    bench.good(&["verify", "out", "--original", url]);
}
