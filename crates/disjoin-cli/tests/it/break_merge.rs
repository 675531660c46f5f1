//! Split tables from the command line: a file in, quasi-identifiers and sensitive tables out, proved, attacked, measured; and what
//! is said when it cannot be.

use std::fs;

use crate::common::{Bench, text};

/// Table II of nadimpalli2014.
const CENSUS: &str = "\
age,gender,zip,government,marital status,salary
[30-50],F,[13000-23000],State-gov,Never,<=50k
[30-50],F,[13000-23000],State-gov,Never,<=50k
[30-50],F,[13000-23000],Federal-gov,Married,<=50k
[30-50],F,[13000-23000],Private,Divorced,<=50k
[30-50],F,[13000-23000],Local-gov,Separated,>50k
[51-90],M,[24000-58000],Private,Married,>50k
[51-90],M,[24000-58000],Self-emp,Married,<=50k
[51-90],M,[24000-58000],Private,Married,>50k
[51-90],M,[24000-58000],Private,Divorced,<=50k
[51-90],M,[24000-58000],Federal-gov,Never,<=50k
";

const ROLES: [&str; 4] = ["--quasi", "age,gender,zip", "--sensitive", "government,marital status,salary"];

/// Sixty people with a name, an age, a sex, a disease and a job.
fn people(bench: &Bench) {
    let mut csv = String::from("name,age,sex,disease,job\n");
    for i in 0..60 {
        let sex = if i % 2 == 0 { "f" } else { "m" };
        let disease = ["flu", "gout", "hiv", "asthma", "measles"][(i / 2) % 5];
        let job = ["smith", "clerk", "nurse"][i % 3];
        csv.push_str(&format!("person {i},{},{sex},{disease},{job}\n", 20 + i % 30));
    }
    bench.file("people.csv", csv);
}

const PEOPLE: [&str; 8] =
    ["--quasi", "age,sex", "--sensitive", "disease,job", "--identifier", "name", "--numeric", "age"];

fn json(bench: &Bench, args: &[&str], code: i32) -> serde_json::Value {
    let output = bench.run(&[args, &["--json"]].concat());
    assert_eq!(output.status.code(), Some(code), "{args:?}\n{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Who reads the numbers of groups as texts must find the groups that `verify` counts.
#[test]
fn groups_have_one_spelling() {
    let bench = Bench::new();
    bench.file("census.csv", CENSUS);
    bench.good(
        &[&["protect", "census.csv", "--method", "break-merge", "--as-is", "-k", "5", "-o", "out"], &ROLES[..]]
            .concat(),
    );
    let path = bench.at("out/release/quasi.csv");
    let good = fs::read_to_string(&path).unwrap();
    for other in ["01", "1.0", "+1", "1e0"] {
        fs::write(&path, good.replacen("[13000-23000],1\n", &format!("[13000-23000],{other}\n"), 2)).unwrap();
        let output = bench.run(&["verify", "out/release"]);
        assert_eq!(output.status.code(), Some(2), "{other}: {}", text(&output.stdout));
        assert!(text(&output.stderr).contains("plain spelling"), "{other}: {}", text(&output.stderr));
    }
}

#[test]
fn the_table_of_the_paper_goes_all_the_way() {
    let bench = Bench::new();
    bench.file("census.csv", CENSUS);
    let protect =
        ["protect", "census.csv", "--method", "break-merge", "--as-is", "-k", "5", "--l-diversity", "2", "-o", "out"];
    bench.good(&[&protect[..], &ROLES].concat());
    let read = |name: &str| fs::read_to_string(bench.at("out/release").join(name)).unwrap();
    assert!(read("quasi.csv").starts_with("age,gender,zip,group\n[30-50],F,[13000-23000],1\n"));
    // A name with a blank is no name of a file.
    assert_eq!(
        read("sensitive_2.csv"),
        "group,value,count\n1,Divorced,1\n1,Married,1\n1,Never,2\n1,Separated,1\n2,Divorced,1\n2,Married,3\n2,Never,1\n"
    );
    assert_eq!(read("sensitive_salary.csv"), "group,value,count\n1,<=50k,4\n1,>50k,1\n2,<=50k,3\n2,>50k,2\n");

    for args in [&["verify", "out"][..], &["verify", "out/release"], &["verify", "out", "--original", "census.csv"]] {
        assert!(bench.good(args).0.contains("The promise holds"));
    }
    let verdict = json(&bench, &["verify", "out", "--original", "census.csv"], 0);
    assert_eq!((verdict["holds"].as_bool(), verdict["classes"].as_u64()), (Some(true), Some(2)));

    // 2/5 4/5 in the first group, 3/5 3/5 in the second.
    let report = json(&bench, &["attack", "out"], 0);
    assert_eq!(report["value_known"]["worst"].as_f64().map(|p| (1e6 * p).round()), Some(360_000.0));
    for flag in ["--max-knowledge-breach", "--most-likely"] {
        let (kept, _) = bench.good(&["attack", "out", flag, "0.37"]);
        assert!(
            kept.contains("are guessed: 0.3600, within the limit of 0.3700.") && !kept.contains("group 2"),
            "{kept}"
        );
        let found = bench.run(&["attack", "out", flag, "0.35"]);
        let shown = text(&found.stdout);
        assert_eq!(found.status.code(), Some(1));
        assert!(
            shown.contains("are guessed: 0.3600, ABOVE the limit of 0.3500.") && shown.contains("BREACHED"),
            "{shown}"
        );
        assert!(shown.contains("\n  group 2 ") && !shown.contains("\n  group 1 "), "{shown}");
    }
    let measured = json(&bench, &["measure", "out", "--original", "census.csv"], 0);
    assert!(measured["joint"]["mean"].as_f64().unwrap() > 0.3 && measured["quasi"]["gcp"].as_f64() == Some(0.0));
    assert!(bench.good(&["measure", "out", "--original", "census.csv"]).0.contains("total variation"));

    // A release that was tampered with is refuted.
    fs::write(
        bench.at("out/release/sensitive_salary.csv"),
        read("sensitive_salary.csv").replace("1,>50k,1", "1,>50k,2"),
    )
    .unwrap();
    let refuted = bench.run(&["verify", "out"]);
    assert_eq!(refuted.status.code(), Some(1), "{}", text(&refuted.stderr));
    assert!(bench.bad(&["attack", "out"]).contains("disjoin verify"));
    assert!(bench.bad(&["query", "out", "x"]).contains("PREDICATE: number 1 at character 2"));
}

#[test]
fn certain_values_are_a_breach() {
    let bench = Bench::new();
    bench.file(
        "census.csv",
        CENSUS.replace("Never", "Married").replace("Divorced", "Married").replace("Separated", "Married"),
    );
    bench.good(&[&["protect", "census.csv", "--method", "break-merge", "--as-is", "-o", "out"], &ROLES[..]].concat());
    assert!(bench.good(&["verify", "out"]).0.contains("The promise holds"));
    let report = json(&bench, &["attack", "out"], 1);
    assert_eq!(report["certain"].as_u64(), Some(10));
    bench.good(&["attack", "out", "--max-certain-disclosures", "10"]);
}

#[test]
fn groups_come_from_any_method() {
    let bench = Bench::new();
    people(&bench);
    for (name, more) in [
        ("default", &[][..]),
        ("mondrian", &["--groups-by", "mondrian"]),
        ("breach", &["--knowledge-breach", "0.6", "--suppression-limit", "0.2"]),
    ] {
        let protect = ["protect", "people.csv", "--method", "break-merge", "-k", "4", "--l-diversity", "2", "-o", name];
        let told = json(&bench, &[&protect[..], &PEOPLE, more].concat(), 0);
        assert_eq!(told["files"].as_array().unwrap().len(), 2);
        bench.good(&["verify", name, "--original", "people.csv"]);
        bench.good(&["attack", name]);
        for file in fs::read_dir(bench.at(name).join("release")).unwrap() {
            let text = fs::read_to_string(file.unwrap().path()).unwrap();
            assert!(!text.contains("person 1"));
        }
    }
    // Any number of threads, the same bytes.
    let protect = [
        "protect",
        "people.csv",
        "--method",
        "break-merge",
        "-k",
        "4",
        "--l-diversity",
        "2",
        "--threads",
        "1",
        "-o",
        "one",
    ];
    bench.good(&[&protect[..], &PEOPLE].concat());
    for file in ["claim.json", "quasi.csv", "sensitive_disease.csv", "sensitive_job.csv"] {
        let read = |out: &str| fs::read(bench.at(out).join("release").join(file)).unwrap();
        assert_eq!(read("default"), read("one"), "{file}");
    }
}

#[test]
fn anatomy_keeps_quasi_identifiers() {
    let bench = Bench::new();
    people(&bench);
    let protect = ["protect", "people.csv", "--method", "anatomy", "-k", "3", "--l-diversity", "3"];
    bench.good(&[&protect[..], &PEOPLE, &["-o", "out"]].concat());
    let quasi = fs::read_to_string(bench.at("out/release/quasi.csv")).unwrap();
    assert!(!quasi.contains("..") && quasi.lines().count() == 61, "{quasi}");
    bench.good(&["verify", "out", "--original", "people.csv"]);
    let report = json(&bench, &["attack", "out"], 0);
    assert!(report["columns"][0]["alone"]["worst"].as_f64().unwrap() <= 1.0 / 3.0 + 1e-9);
    assert!(bench.good(&["measure", "out", "--original", "people.csv"]).0.contains("nothing of them is lost"));
}

/// What is drawn protects: whoever knows the seed, and has the program, draws it again.
#[test]
fn the_chance_of_anatomy_cannot_be_turned_off_by_accident() {
    let bench = Bench::new();
    people(&bench);
    let protect = ["protect", "people.csv", "--method", "anatomy", "-k", "3", "--l-diversity", "3"];
    for out in ["a", "b"] {
        bench.good(&[&protect[..], &PEOPLE, &["-o", out]].concat());
    }
    let read = |out: &str| fs::read(bench.at(out).join("release/quasi.csv")).unwrap();
    assert_ne!(read("a"), read("b"));
    let seeded = [&protect[..], &PEOPLE, &["--seed", "5"]].concat();
    let refused = bench.run(&[&seeded[..], &["-o", "c"]].concat());
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(2) && told.contains("draw the same groups again"), "{told}");
    assert!(!bench.at("c").exists());
    for out in ["d", "e"] {
        bench.good(&[&seeded[..], &["--demonstration", "-o", out]].concat());
    }
    assert_eq!(read("d"), read("e"));
    let claim = fs::read_to_string(bench.at("d/release/claim.json")).unwrap();
    assert!(claim.contains("\"promised\": \"Nothing."), "{claim}");
    assert_eq!(bench.run(&["verify", "d"]).status.code(), Some(1));
}

#[test]
fn rules_are_hidden() {
    let bench = Bench::new();
    people(&bench);
    let protect =
        ["protect", "people.csv", "--method", "association-hiding", "-k", "4", "--confidence", "0.4", "-o", "out"];
    let told = json(&bench, &[&protect[..], &PEOPLE].concat(), 0);
    assert!(told["hidden"]["rules"].as_u64().unwrap() > 0, "{told}");
    assert!(bench.good(&["verify", "out", "--original", "people.csv"]).0.contains("The promise holds"));
    let claim = fs::read_to_string(bench.at("out/release/claim.json")).unwrap();
    // A claim that excludes more than was hidden is refused: its words say what was.
    fs::write(bench.at("out/release/claim.json"), claim.replace("\"confidence\": 0.4", "\"confidence\": 0.01"))
        .unwrap();
    assert_eq!(bench.run(&["verify", "out"]).status.code(), Some(2));
}

#[test]
fn a_recipe_says_the_same() {
    let bench = Bench::new();
    people(&bench);
    let recipe = "\
[input]
file = \"people.csv\"
[protect]
k = 4
method = \"break-merge\"
[table]
quasi = [\"age\", \"sex\"]
sensitive = [\"disease\", \"job\"]
identifier = [\"name\"]
numeric = [\"age\"]
[table.criteria]
l = 2
[limits]
joint_loss = 0.9
[output]
folder = \"out\"
";
    bench.file("recipe.toml", recipe);
    assert!(bench.good(&["run"]).0.contains("break-merge"));
    for page in ["custody/report.html", "custody/report.md", "custody/report.json", "release/report.html"] {
        assert!(bench.at("out").join(page).is_file(), "{page}");
    }
    let public = fs::read_to_string(bench.at("out/release/report.html")).unwrap();
    assert!(!public.contains("Removed") && !public.contains("GCP") && public.contains("sensitive_job.csv"));
    bench.good(
        &[
            &["protect", "people.csv", "--method", "break-merge", "-k", "4", "--l-diversity", "2", "-o", "flags"],
            &PEOPLE[..],
        ]
        .concat(),
    );
    for file in ["claim.json", "quasi.csv", "sensitive_disease.csv", "sensitive_job.csv"] {
        let read = |out: &str| fs::read(bench.at(out).join("release").join(file)).unwrap();
        assert_eq!(read("out"), read("flags"), "{file}");
    }
    bench.file("recipe.toml", recipe.replace("joint_loss = 0.9", "joint_loss = 0.0"));
    let ran = bench.run(&["run"]);
    assert_eq!(ran.status.code(), Some(1), "{}", text(&ran.stderr));
    assert!(text(&ran.stdout).contains("limits.joint_loss"));
    bench.file("recipe.toml", recipe.replace("break-merge", "sideways"));
    assert!(bench.bad(&["run"]).contains("recipe.toml:5"));
    bench.file(
        "recipe.toml",
        recipe
            .replace("method = \"break-merge\"\n", "")
            .replace("numeric = [\"age\"]\n", "numeric = [\"age\"]\nhide = { confidence = 0.4, support = 2 }\n")
            .replace("[table.criteria]\nl = 2\n", "")
            .replace("joint_loss = 0.9", ""),
    );
    bench.good(&["run"]);
    bench.good(&["verify", "out", "--original", "people.csv"]);
}

#[test]
fn bad_input_is_explained_and_writes_nothing() {
    let bench = Bench::new();
    people(&bench);
    let split = |more: &[&str]| -> Vec<String> {
        let all = [&["protect", "people.csv", "--method", "break-merge", "-o", "out"][..], more].concat();
        all.into_iter().map(String::from).collect()
    };
    let anatomy = |more: &[&str]| -> Vec<String> {
        let all = [&["protect", "people.csv", "--method", "anatomy", "-o", "out"][..], &PEOPLE, more].concat();
        all.into_iter().map(String::from).collect()
    };
    let base = |more: &[&str]| split(&[&PEOPLE[..], more].concat());
    let other = ["--quasi", "age,sex", "--sensitive", "disease", "--insensitive", "job", "--identifier", "name"];
    let set = ["--quasi", "age,sex", "--sensitive", "disease", "--set", "job", "--identifier", "name"];
    let none = ["--quasi", "age,sex,disease,job", "--identifier", "name"];
    let cases: [(Vec<String>, &[&str]); 17] = [
        (split(&other), &["--insensitive", "is not known by the method break-merge", "leave it out"]),
        (split(&set), &["--set", "is not known by the method break-merge", "least-loss"]),
        (split(&none), &["--sensitive", "nothing to publish apart"]),
        (base(&["--knowledge-breach", "1.5"]), &["--knowledge-breach", "between 0 and 1"]),
        (base(&["--knowledge-breach", "0.1"]), &["guessed", "at least 0.3334"]),
        (base(&["--l-diversity", "4"]), &["l can be at most 3"]),
        (base(&["--as-is"]), &["60 of 60", "ask for less"]),
        (base(&["--as-is", "--groups-by", "mondrian"]), &["--as-is"]),
        (base(&["--as-is", "--background", "0.2"]), &["--background", "as they are"]),
        (base(&["--groups-by", "sideways"]), &["sideways"]),
        (base(&["--confidence", "0.5"]), &["--confidence", "association-hiding"]),
        (anatomy(&[]), &["--l-diversity", "anatomy"]),
        (anatomy(&["--l-diversity", "9"]), &["job", "20 of 60", "at most 3"]),
        (
            anatomy(&["--l-diversity", "3", "--groups-by", "mondrian"]),
            &["--groups-by", "is not known by the method anatomy", "break-merge"],
        ),
        (anatomy(&["--l-diversity", "3", "--background", "0.2"]), &["--background"]),
        (
            ["protect", "people.csv", "--method", "association-hiding", "--l-diversity", "2", "-o", "out"]
                .iter()
                .chain(&PEOPLE)
                .map(|arg| arg.to_string())
                .collect(),
            &["--method", "ask for k only"],
        ),
        (
            ["protect", "people.csv", "--knowledge-breach", "0.4", "-o", "out"]
                .iter()
                .chain(&PEOPLE)
                .map(|arg| arg.to_string())
                .collect(),
            &["--knowledge-breach", "split tables"],
        ),
    ];
    for (args, words) in cases {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let said = bench.bad(&args);
        for word in words {
            assert!(said.contains(word), "{args:?}: {said} lacks {word}");
        }
        assert!(!said.contains("person 1") && !said.contains("smith"));
    }
}

#[test]
fn releases_that_make_no_sense_are_refused() {
    let bench = Bench::new();
    people(&bench);
    bench.file("census.csv", CENSUS);
    let said = bench.bad(&["protect", "people.csv", "--method", "break-merge", "-o", "out"]);
    assert!(said.contains("--method: break-merge is for tables") && said.contains("quasi, sensitive"), "{said}");
    bench.good(&[&["protect", "census.csv", "--method", "break-merge", "--as-is", "-o", "out"], &ROLES[..]].concat());
    assert!(
        bench.bad(&["attack", "out", "--most-likely", "0"]).contains("--max-knowledge-breach: is not a probability")
    );
    let claim = fs::read_to_string(bench.at("out/release/claim.json")).unwrap();
    fs::write(bench.at("out/release/claim.json"), claim.replace("sensitive_salary.csv", "../custody/class_of.csv"))
        .unwrap();
    assert!(bench.bad(&["verify", "out"]).contains("does not name the file of each sensitive column"));
    fs::write(bench.at("out/release/claim.json"), claim).unwrap();
    assert!(bench.bad(&["verify", "out", "--original", "people.csv"]).contains("gender"));
}
