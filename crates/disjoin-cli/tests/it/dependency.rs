//! Dependencies that survive, from the command line: rules and people of the paper's table, pictures, what is kept, and what is
//! said when it cannot be.

use std::fs;

use crate::common::{Bench, text};

/// Table II of nadimpalli2014.
const CENSUS: &str = "\
age,zip,gender,government,marital,salary
[30-50],[13-23],F,State,Never,<=50k
[30-50],[13-23],F,State,Never,<=50k
[30-50],[13-23],F,Federal,Married,<=50k
[30-50],[13-23],F,Private,Divorced,<=50k
[30-50],[13-23],F,Local,Separated,>50k
[51-90],[24-58],M,Private,Married,>50k
[51-90],[24-58],M,Self-emp,Married,<=50k
[51-90],[24-58],M,Private,Married,>50k
[51-90],[24-58],M,Private,Divorced,<=50k
[51-90],[24-58],M,Federal,Never,<=50k
";

const ROLES: [&str; 4] = ["--quasi", "age,zip,gender", "--sensitive", "government,marital,salary"];

/// The table in classes, and split.
fn releases(bench: &Bench) {
    bench.file("census.csv", CENSUS);
    bench.good(&[&["protect", "census.csv", "-k", "5", "-o", "table"], &ROLES[..]].concat());
    let split = ["protect", "census.csv", "--method", "break-merge", "--as-is", "-k", "5", "-o", "split"];
    bench.good(&[&split[..], &ROLES].concat());
}

/// Four hundred people whose job tells their disease, in nine of ten.
fn planted(bench: &Bench) {
    let mut csv = String::from("name,age,job,disease\n");
    for i in 0..400 {
        let job = ["smith", "clerk", "nurse", "cook"][i % 4];
        let disease = ["burns", "myopia", "flu", "gout"][if i % 10 == 0 { i / 10 % 4 } else { i % 4 }];
        csv.push_str(&format!("person {i},{},{job},{disease}\n", 20 + (i / 4) % 10));
    }
    bench.file("people.csv", csv);
}

const PEOPLE: [&str; 6] = ["--quasi", "age", "--sensitive", "job,disease", "--identifier", "name"];

fn json(bench: &Bench, args: &[&str], code: i32) -> serde_json::Value {
    let output = bench.run(&[args, &["--json"]].concat());
    assert_eq!(output.status.code(), Some(code), "{args:?}\n{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The person that the paper calls Jessica.
const JESSICA: [&str; 4] = ["--target", "age=[30-50], gender=F", "--known", "government=State"];

#[test]
fn jessica_is_told_by_the_table_and_not_by_the_split_one() {
    let bench = Bench::new();
    releases(&bench);
    let ics = ["--structure", "ics", "--max-cardinality", "0", "--max-parents", "5"];
    let paper = [&["attack", "table", "--dependencies"], &ics[..], &JESSICA].concat();
    let found = json(&bench, &paper, 0);
    let never = |found: &serde_json::Value| {
        let beliefs = found["dependencies"]["person"]["beliefs"].as_array().unwrap().clone();
        let marital = beliefs.iter().find(|belief| belief["column"] == "marital").unwrap().clone();
        assert_eq!(marital["rows"].as_u64(), Some(5));
        let values = marital["values"].as_array().unwrap().clone();
        let value = values.iter().find(|value| value["value"] == "Never").unwrap().clone();
        ["baseline", "before", "after", "counted"].map(|key| value[key].as_f64())
    };
    let [everybody, rows, after, counted] = never(&found);
    assert_eq!((everybody, rows, counted), (Some(0.3), Some(0.4), Some(1.0)));
    assert!(after.unwrap() > 0.9);
    let sensitive = &found["dependencies"]["networks"][1];
    assert_eq!(sensitive["of"], "sensitive");
    let rule = sensitive["sensible"].as_array().unwrap().iter().find(|rule| rule["column"] == "marital").unwrap();
    assert_eq!((rule["given"][0].as_str(), rule["risk"].as_str()), (Some("government"), Some("very-high")));
    assert_eq!(
        (rule["highest"].as_f64(), rule["support"].as_u64(), rule["people"].as_u64()),
        (Some(1.0), Some(2), Some(2))
    );
    assert_eq!(rule["confirmed"].as_bool(), Some(false));
    assert!(!sensitive["literal"].as_array().unwrap().is_empty());
    let (told, _) = bench.good(&paper);
    assert!(told.contains("government, marital -> salary") && told.contains("with known"), "{told}");

    // Where columns are published apart, what is known of one tells nothing of another.
    let split = json(&bench, &[&["attack", "split", "--dependencies"][..], &JESSICA].concat(), 0);
    assert_eq!(never(&split), [Some(0.3), Some(0.4), Some(0.4), None]);
}

#[test]
fn a_planted_rule_is_a_breach_of_the_table_alone() {
    let bench = Bench::new();
    planted(&bench);
    bench.good(&[&["protect", "people.csv", "-k", "10", "-o", "table"], &PEOPLE[..]].concat());
    let split = ["protect", "people.csv", "--method", "break-merge", "-k", "10", "--l-diversity", "3", "-o", "split"];
    bench.good(&[&split[..], &PEOPLE].concat());
    // What the table does not promise decides only if it is limited.
    let found = json(&bench, &["attack", "table", "--dependencies"], 0);
    let of = &found["dependencies"];
    assert!(of["risks"].as_u64().unwrap() >= 8 && of["people"].as_u64().unwrap() > 300, "{}", of["risks"]);
    let limited = ["attack", "table", "--dependencies", "--max-dependency-rules", "0"];
    assert_eq!(json(&bench, &limited, 1)["limits"][0]["value"].as_f64(), of["risks"].as_f64());
    let told = text(&bench.run(&limited).stdout);
    assert!(told.contains("ABOVE the limit of 0.") && told.contains("The release can be BREACHED."), "{told}");
    // Nothing is above 1, a hundred rules may be accepted, and the split table has none.
    bench.good(&[&limited[..], &["--alpha", "1"]].concat());
    bench.good(&["attack", "table", "--dependencies", "--max-dependency-rules", "100"]);
    let (told, _) = bench.good(&["attack", "split", "--dependencies", "--max-dependency-rules", "0"]);
    assert!(told.contains("No rule that is confirmed leads to a sensitive value"), "{told}");

    // Who knows other people still guesses better; that counts if there is a limit.
    let alone = json(&bench, &["attack", "split"], 0);
    let known = json(&bench, &["attack", "split", "--outside", "people.csv"], 0);
    let mean = |report: &serde_json::Value| report["network"]["value_known"]["mean"].as_f64().unwrap();
    assert!(mean(&known) > mean(&alone) + 0.3, "{} {}", mean(&known), mean(&alone));
    assert_eq!(known["network"]["source"], "outside");
    bench.good(&["attack", "split", "--max-knowledge-breach", "0.7"]);
    let found = bench.run(&["attack", "split", "--outside", "people.csv", "--max-knowledge-breach", "0.7"]);
    assert_eq!(found.status.code(), Some(1));
    let shown = text(&found.stdout);
    assert!(shown.contains("By an adversary who learned how values go together from "), "{shown}");
    assert!(shown.contains("are guessed: ") && shown.contains(", ABOVE the limit of 0.7000."), "{shown}");
}

#[test]
fn networks_and_heat_maps_are_drawn_and_kept() {
    let bench = Bench::new();
    planted(&bench);
    bench.good(&[&["protect", "people.csv", "-k", "10", "-o", "table"], &PEOPLE[..]].concat());
    bench.run(&["attack", "table", "--dependencies", "--network-svg", "net.svg", "--keep"]);
    let svg = fs::read_to_string(bench.at("net.svg")).unwrap();
    assert!(svg.starts_with("<svg ") && svg.contains(">disease</text>") && svg.contains("class=\"e\""));
    let page = fs::read_to_string(bench.at("table/custody/dependencies.html")).unwrap();
    assert!(page.contains("must not leave the building") && page.contains("more than chance"));
    // Three networks, and tables with numbers in them.
    assert!(page.matches("<svg").count() >= 5 && page.contains("class=\"c\"") && !page.contains("://"));
    assert!(!page.contains("person 1"));
    assert!(!bench.at("table/release/dependencies.html").exists());
}

#[test]
fn a_run_tells_them_inside_and_limits_them() {
    let bench = Bench::new();
    planted(&bench);
    for (name, more, code) in [
        ("free", "", 0),
        ("strict", "[limits]\ndependency_rules = 0\n", 1),
        ("split", "split = \"break-merge\"\n[limits]\ndependency_rules = 0\n", 0),
    ] {
        bench.file(
            "recipe.toml",
            format!(
                "[input]\nfile = \"people.csv\"\n[protect]\nk = 10\n[output]\nfolder = \"{name}\"\n[table]\nquasi = [\"age\"]\n\
                 sensitive = [\"job\", \"disease\"]\nidentifier = [\"name\"]\n{more}[table.dependencies]\nalpha = 0.6\n"
            ),
        );
        let told = json(&bench, &["run"], code);
        let risks = told["run"]["dependencies"]["risks"].as_u64().unwrap();
        assert_eq!(risks == 0, name == "split", "{name}: {risks}");
        assert_eq!(told["run"]["dependencies"]["alpha"].as_f64(), Some(0.6));
        let inside = fs::read_to_string(bench.at(name).join("custody/report.html")).unwrap();
        assert!(inside.contains("Dependencies that survive") && inside.contains("class=\"net\""), "{name}");
        let public = fs::read_to_string(bench.at(name).join("release/report.html")).unwrap();
        assert!(!public.contains("Dependencies that survive") && !public.contains("smith"), "{name}");
        if name == "strict" {
            let told = bench.run(&["run"]);
            assert!(text(&told.stdout).contains("limits.dependency_rules"), "{}", text(&told.stdout));
        }
    }
    assert!(fs::read_to_string(bench.at("split/custody/report.html")).unwrap().contains("go together in the release"));
}

#[test]
fn what_cannot_be_is_refused() {
    let bench = Bench::new();
    releases(&bench);
    let ask = |more: &[&str]| bench.bad(&[&["attack", "table", "--dependencies"], more].concat());
    assert!(ask(&["--target", "agee=[30-50]"]).contains("did you mean age?"));
    assert!(ask(&["--target", "name=x"]).contains("there is no column name in the release"));
    assert!(ask(&["--target", "age=[30-51]"]).contains("did you mean [30-50]?"));
    assert!(ask(&["--target", "gender=unknown"]).contains("the release has F, M"));
    assert!(ask(&["--target", "age"]).contains("COLUMN=VALUE"));
    assert!(ask(&["--target", "gender=F,gender=M"]).contains("twice"));
    assert!(ask(&["--target", "gender=F", "--known", "gender=M"]).contains("again"));
    assert!(ask(&["--alpha", "2"]).contains("from 0 to 1"));
    assert!(ask(&["--structure", "hill-climbing", "--max-cardinality", "1"]).contains("--structure ics"));
    // Dependencies are kept without the original, in custody only.
    bench.good(&["attack", "split", "--keep"]);
    assert!(bench.at("split/custody/dependencies.html").is_file());
    assert!(!bench.at("split/release/dependencies.html").exists());
    assert!(
        bench
            .bad(&["attack", "table", "--outside", "census.csv"])
            .contains("--outside: is for a split table or recoded transactions")
    );
    bench.file("other.csv", "government,marital\nState,Never\n");
    assert!(bench.bad(&["attack", "split", "--outside", "other.csv"]).contains("salary"));

    bench.good(&[
        "protect",
        "census.csv",
        "--quasi",
        "age,zip,gender",
        "--insensitive",
        "government,marital,salary",
        // Ten people are few: each of the columns has values of one person.
        "--publish-as-is",
        "government,marital,salary",
        "-k",
        "5",
        "-o",
        "plain",
    ]);
    assert!(bench.bad(&["attack", "plain", "--dependencies"]).contains("no column is sensitive"));
    bench.file("baskets.dat", "1 2\n1 2\n1 2\n1 2\n1 2\n1 2\n");
    bench.good(&["protect", "baskets.dat", "-k", "2", "-o", "sets"]);
    assert!(bench.bad(&["attack", "sets", "--dependencies"]).contains("this is a disassociated dataset"));
    // A release without its custody has nowhere to keep anything.
    fs::rename(bench.at("table/release"), bench.at("alone")).unwrap();
    let said = bench.bad(&["attack", "alone", "--dependencies", "--keep"]);
    assert!(said.contains("--keep: there is no custody folder beside the release"), "{said}");
    assert!(said.contains("hint: name the custody folder"), "{said}");
    // It can be named without the original; where nothing is kept, it is of no use.
    bench.run(&["attack", "alone", "--dependencies", "--keep", "--custody", "table/custody"]);
    assert!(bench.at("table/custody/dependencies.html").is_file());
    let said = bench.bad(&["attack", "alone", "--dependencies", "--custody", "table/custody"]);
    assert!(said.contains("--custody: is of no use without the original"), "{said}");
}
