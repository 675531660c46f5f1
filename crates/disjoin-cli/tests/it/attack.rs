//! Attack, from the outside: what it prints, keeps and refuses.

use std::collections::BTreeSet;
use std::fs;

use crate::common::{BREACHED, Bench, packaged, text};
use serde_json::Value;

/// The first cluster of figure 2 of terrovitis2012: two chunks, and no harm in it.
const SAFE: &str = "itunes,flu,madonna,ikea,ruby\n\
    madonna,flu,viagra,ruby,audi a4,sony tv\n\
    itunes,madonna,audi a4,ikea,sony tv\n\
    itunes,flu,viagra\n\
    itunes,flu,madonna,audi a4,sony tv\n";

/// Runs and expects exit code 1; returns stdout and stderr.
fn breached(bench: &Bench, args: &[&str]) -> (String, String) {
    let output = bench.run(args);
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{args:?}\n{stdout}\n{stderr}");
    (stdout, stderr)
}

const ORIGINAL: [&str; 4] = ["--original", "x.dat", "--separator", ","];

fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn a_safe_release_withstands() {
    let bench = packaged(SAFE);
    for args in [&["attack", "out"][..], &["attack", "out/release"], &[&["attack", "out"], &ORIGINAL[..]].concat()] {
        let (stdout, stderr) = bench.good(args);
        assert!(stdout.starts_with("5 records in 1 cluster, k = 3, m = 2\n"), "{stdout}");
        assert!(stdout.contains("\ncertain disclosures: 0, within the limit of 0.\n"), "{stdout}");
        assert!(stdout.ends_with("\nNo attack goes beyond its limit.\n"), "{stdout}");
        for name in ["cover", "closure", "worlds", "reassociate-greedy", "identity"] {
            assert!(stdout.contains(&format!("\n  {name} ")), "{name}: {stdout}");
        }
        assert!(stderr.contains("attacking: worlds"), "{stderr}");
    }
}

#[test]
fn a_cover_problem_is_found_and_named() {
    let bench = packaged(BREACHED);
    let (stdout, stderr) = breached(&bench, &["attack", "out"]);
    assert!(
        stdout.contains("certain disclosures: 2, ABOVE the limit of 0.")
            && stdout.contains("  closure, cover, worlds\n"),
        "{stdout}"
    );
    assert!(stdout.ends_with("\nThe release can be BREACHED.\n"), "{stdout}");
    assert!(stdout.contains("\n  cluster 0 ") && !stdout.contains("precision"), "{stdout}");
    // Terms are counted, unless they are asked for.
    assert!(!stdout.contains("cancer") && !stderr.contains("cancer"), "{stdout}");
    let (stdout, _) = breached(&bench, &["attack", "out", "--attack", "cover", "--show-terms"]);
    assert!(stdout.contains("    cancer + surgery  =>  oncologist, treatment\n"), "{stdout}");
    assert!(stdout.contains("certain disclosures: 2, ABOVE the limit of 0.") && !stdout.contains("worlds"), "{stdout}");
    assert!(stdout.ends_with("\nThe release can be BREACHED.\n"), "{stdout}");
    // As many as that are accepted, under the old name of the flag, too.
    for flag in ["--max-certain-disclosures", "--limit"] {
        let (stdout, _) = bench.good(&["attack", "out", "--attack", "cover", flag, "2"]);
        assert!(stdout.contains("certain disclosures: 2, within the limit of 2."), "{stdout}");
        breached(&bench, &["attack", "out", "--attack", "cover", flag, "1"]);
    }
    // What does not look cannot find.
    bench.good(&["attack", "out", "--attack", "identity,reassociate"]);
}

#[test]
fn running_the_program_again_finds_what_grouping_gives_away() {
    let bench = packaged("c\na,b\na\nb,c\nc\n");
    let protect = |grouping: &str| {
        bench.good(&["protect", "x.dat", "--separator", ",", "-k", "2", "--grouping", grouping, "-o", grouping]);
    };
    ["layered", "guarded"].into_iter().for_each(protect);
    let (stdout, _) = breached(&bench, &["attack", "layered", "--attack", "rerun", "--show-terms"]);
    assert!(stdout.contains("    a + b\n") && stdout.contains("this very release. All "), "{stdout}");
    // Nobody promised anything against it: it is not one of the usual attacks then.
    let (stdout, _) = bench.good(&["attack", "layered"]);
    assert!(!stdout.contains("rerun") && stdout.contains("how the program groups records"), "{stdout}");
    let (stdout, _) = bench.good(&["attack", "guarded"]);
    assert!(stdout.contains("\n  rerun ") && stdout.contains("terms of term chunks"), "{stdout}");
    // A larger one needs the original.
    let rows: String = (0..600).map(|i| format!("a{},b{},c{}\n", i % 19, i % 41, i % 97)).collect();
    fs::write(bench.at("x.dat"), rows).unwrap();
    bench.good(&["protect", "x.dat", "--separator", ",", "-k", "3", "--grouping", "guarded", "-o", "large"]);
    let (stdout, stderr) = bench.good(&["attack", "large", "--attack", "rerun"]);
    assert!(stderr.contains("warning: rerun decided nothing") && stdout.contains("not looked at"), "{stdout}{stderr}");
    let args = [&["attack", "large", "--attack", "rerun", "--witnesses", "40"], &ORIGINAL[..]].concat();
    let (stdout, _) = bench.good(&args);
    assert!(stdout.contains("rerun: 40 of 40 itemsets have a witness: "), "{stdout}");
}

#[test]
fn a_row_that_is_somebodys_is_found() {
    let bench = packaged("a,b\na,b\na,b\na\n");
    bench.good(&["attack", "out"]);
    let path = bench.at("out/release/data.jsonl");
    let header = fs::read_to_string(&path).unwrap().lines().next().unwrap().to_owned();
    let cluster = "{\"size\":4,\"record_chunks\":[{\"terms\":[\"a\",\"b\"],\"subrecords\":\
        [{\"terms\":[\"a\"],\"count\":3},{\"terms\":[\"a\",\"b\"],\"count\":1}]}],\"term_chunk\":[]}";
    fs::write(&path, format!("{header}\n{cluster}\n")).unwrap();
    let (stdout, _) = breached(&bench, &["attack", "out"]);
    assert!(stdout.contains("re-identification (prosecutor) risk: 1, ABOVE the limit of 0.3333."), "{stdout}");
    assert!(stdout.ends_with("\nThe release can be BREACHED.\n"), "{stdout}");
    bench.good(&["attack", "out", "--attack", "cover,closure,worlds"]);
}

#[test]
fn a_damaged_release_is_no_reason_to_stop() {
    let bench = packaged(BREACHED);
    let path = bench.at("out/release/data.jsonl");
    let data = fs::read_to_string(&path).unwrap();
    fs::write(&path, data.replacen("\"size\":6", "\"size\":2", 1)).unwrap();
    let (stdout, _) = bench.good(&["attack", "out", "--attack", "closure,worlds,reassociate"]);
    assert!(stdout.contains("certain disclosures: 0, within the limit of 0."), "{stdout}");
    assert!(bench.bad(&["attack", "out"]).contains("data.jsonl"));
}

#[test]
fn hidden_terms_are_warned_of() {
    let bench = packaged(SAFE);
    let (_, stderr) = bench.good(&["attack", "out"]);
    assert!(!stderr.contains("warning"), "{stderr}");
    let flags = ["--separator", ",", "-k", "3", "--sensitive", "viagra", "-o", "hidden"];
    bench.good(&[&["protect", "x.dat"], &flags[..]].concat());
    let (_, stderr) = bench.good(&["attack", "hidden"]);
    assert!(stderr.contains("warning: sensitive terms") && !stderr.contains("viagra"), "{stderr}");
}

#[test]
fn the_original_says_what_is_true() {
    let bench = packaged(BREACHED);
    let (stdout, _) = breached(&bench, &[&["attack", "out", "--attack", "cover"], &ORIGINAL[..]].concat());
    let row = stdout.lines().filter(|line| line.starts_with("  cover ")).nth(1).unwrap();
    // Both pairs are those of two people.
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(cells[..3], ["cover", "2", "1.0000"], "{stdout}");
    assert_eq!(cells[cells.len() - 2..], ["-", "2"], "{stdout}");
    assert!(stdout.contains("95 %") && stdout.contains("  baseline  "), "{stdout}");
    assert!(!bench.at("out/custody/findings.csv").exists());
}

#[test]
fn the_json_has_everything_but_people() {
    let bench = packaged(BREACHED);
    let report = |flags: &[&str]| -> Value {
        let (stdout, stderr) = breached(&bench, &[&["attack", "out", "--json", "--quiet"], flags].concat());
        assert_eq!(stderr, "");
        serde_json::from_str(&stdout).unwrap_or_else(|e| panic!("{e}: {stdout}"))
    };
    let alone = report(&[]);
    let all = [
        "attackers",
        "attacks",
        "certain",
        "clusters",
        "clusters_with_shared_terms",
        "holds",
        "identity",
        "k",
        "limits",
        "m",
        "records",
        "rerun",
        "stronger",
        "worst",
    ];
    assert_eq!(keys(&alone), all.into());
    assert_eq!((&alone["holds"], &alone["records"]), (&false.into(), &6.into()));
    let limit = &alone["limits"][0];
    assert_eq!(keys(limit), ["holds", "key", "limit", "meaning", "value"].into());
    assert_eq!((&limit["key"], &limit["holds"]), (&"limits.certain_disclosures".into(), &false.into()));
    assert_eq!((&limit["limit"], &limit["value"]), (&0.0.into(), &2.0.into()));
    assert_eq!(alone["limits"][1]["key"], "limits.reidentification_risk");
    assert_eq!(keys(&alone["identity"]), ["above", "itemsets", "mean", "worst"].into());
    let judged = report(&ORIGINAL);
    for (name, of) in ["cover", "closure", "worlds", "reassociate-greedy"].iter().zip(0..) {
        assert_eq!(alone["attacks"][of]["attack"], *name);
        assert!(alone["attacks"][of]["score"].is_null() && alone["attacks"][of]["baseline"].is_null());
        let of = &judged["attacks"][of];
        // No list in it: nothing that could hold record numbers.
        let expected = ["attack", "baseline", "clusters_touched", "coverage", "says", "score", "statements"];
        assert_eq!(keys(of), expected.into());
        assert_eq!(keys(&of["score"]), ["found", "missed", "people", "precision", "recall", "right"].into());
        assert!(of["score"]["people"].is_u64() && of["says"].is_string());
    }
    let worst = judged["worst"].as_array().unwrap();
    assert_eq!(worst.len(), 1);
    assert_eq!(keys(&worst[0]), ["attacks", "cluster", "learned", "people", "statements"].into());
    assert_eq!(worst[0]["people"], judged["attacks"][2]["score"]["people"]);
    for statement in worst[0]["statements"].as_array().unwrap() {
        assert_eq!(keys(statement), ["learned", "terms"].into());
        assert!(statement["terms"].as_array().unwrap().iter().all(Value::is_string));
    }
    assert_eq!(judged["certain"], worst[0]["statements"].as_array().unwrap().len());
}

#[test]
fn cover_problems_are_counted_for_attackers_of_three_strengths() {
    let bench = packaged(BREACHED);
    let (stdout, _) = breached(&bench, &["attack", "out", "--attack", "cover"]);
    // The counters of Algorithm 1 on figure 1, as the specification has them; of records nothing is said.
    let row = stdout.lines().find(|line| line.starts_with("  strong ")).unwrap();
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(cells, ["strong", "any", "1", "2", "1", "2", "-", "-"], "{stdout}");
    let (stdout, _) = breached(&bench, &[&["attack", "out", "--attack", "cover", "--json"], &ORIGINAL[..]].concat());
    let found: Value = serde_json::from_str(&stdout).unwrap();
    let strong = &found["attackers"][0];
    assert_eq!((&strong["vulnerable_records"], &strong["whole_records"]), (&2.into(), &0.into()));
    assert_eq!(found["attackers"][2]["attacker"], "weak");
    assert_eq!(found["attackers"].as_array().unwrap().len(), 3);
    let said = bench.bad(&["attack", "out", "--attackers", "weak"]);
    assert!(said.contains("--attackers: needs the original"), "{said}");
}

#[test]
fn adversaries_who_know_more_are_simulated() {
    let bench = packaged(SAFE);
    let with = |flags: &[&str]| -> Value {
        let args = [&["attack", "out", "--json", "--attack", "cover"], flags, &ORIGINAL[..]].concat();
        serde_json::from_str(&bench.good(&args).0).unwrap()
    };
    assert!(with(&[])["stronger"].is_null());
    // Three of five people hold more than three terms that the chunks link; nobody has fewer than three candidates with two.
    let more = with(&["--knows", "3"]);
    let more = &more["stronger"];
    assert_eq!((&more["terms"], &more["people"]), (&3.into(), &5.into()));
    let of = |who: &str, what: &str| more[who][what].as_f64().unwrap();
    assert!(of("learned", "candidates") < of("promised", "candidates"), "{more}");
    assert!(of("learned", "below_k") >= of("promised", "below_k"), "{more}");
    assert!(of("learned", "further") > 0.0 && of("learned", "cluster") == 1.0, "{more}");
    // Who knows all holders of a term knows who lacks it.
    let all = with(&["--knows-all", "viagra", "--knows-absent", "--knows-absent=audi a4"]);
    let all = &all["stronger"];
    assert_eq!((&all["terms"], &all["all_holders"], &all["absent"]), (&2.into(), &1.into(), &2.into()));
    assert!(all["learned"]["candidates"].as_f64() < all["promised"]["candidates"].as_f64(), "{all}");
    let (stdout, _) = bench.good(&[&["attack", "out", "--knows", "3"], &ORIGINAL[..]].concat());
    assert!(stdout.contains("\n  with 2 of the terms ") && stdout.contains("knows more"), "{stdout}");
    let said = bench.bad(&[&["attack", "out", "--knows-all", "gout"], &ORIGINAL[..]].concat());
    assert!(said.contains("--knows-all: is no term of the release") && !said.contains("gout"), "{said}");
    assert!(bench.bad(&["attack", "out", "--knows", "3"]).contains("--knows: needs the original"));
}

#[test]
fn people_are_kept_in_custody_if_asked() {
    let bench = packaged(BREACHED);
    let flags = [&["attack", "out", "--attack", "cover", "--keep"], &ORIGINAL[..]].concat();
    for _ in 0..2 {
        let (_, stderr) = breached(&bench, &flags);
        assert!(stderr.contains("findings.csv"), "{stderr}");
        let kept = fs::read_to_string(bench.at("out/custody/findings.csv")).unwrap();
        assert_eq!(kept, "record,attack,cluster\n0,cover,0\n1,cover,0\n");
    }
    // The release can still be verified with its custody.
    bench.good(&[&["verify", "out"], &ORIGINAL[..]].concat());
    fs::rename(bench.at("out/custody"), bench.at("safe-place")).unwrap();
    assert!(bench.bad(&flags).contains("--keep: there is no custody folder"));
    breached(&bench, &[&flags[..], &["--custody", "safe-place"]].concat());
    assert!(bench.bad(&["attack", "out", "--keep"]).contains("--keep: needs the original"));
}

#[test]
fn another_original_is_refused_without_its_values() {
    let bench = packaged(BREACHED);
    for (content, problem) in [
        (BREACHED.replacen("cancer", "gout", 1), "y.dat: has terms that the release lacks: 1"),
        (BREACHED.replacen("oncologist,surgery\n", "", 1), "y.dat: has 5 records, but the release was made from 6"),
    ] {
        bench.file("y.dat", content);
        let flags = ["--original", "y.dat", "--separator", ","];
        let stderr = bench.bad(&[&["attack", "out"], &flags[..]].concat());
        assert!(stderr.contains("y.dat: is not the file that was protected"), "{stderr}");
        // Without custody, the release tells.
        fs::create_dir_all(bench.at("alone")).unwrap();
        for name in ["claim.json", "data.jsonl"] {
            fs::copy(bench.at("out/release").join(name), bench.at("alone").join(name)).unwrap();
        }
        let stderr = bench.bad(&[&["attack", "alone"], &flags[..]].concat());
        assert!(stderr.contains(problem) && stderr.contains("hint: give the file"), "{stderr}");
        assert!(!["cancer", "gout", "surgery"].iter().any(|term| stderr.contains(term)), "{stderr}");
    }
    let said = bench.bad(&["attack", "out", "--max-knowledge-breach", "0.1"]);
    assert!(
        said.contains("--max-knowledge-breach: is for a split table, and this is a disassociated dataset"),
        "{said}"
    );
    assert!(bench.bad(&["attack", "absent"]).contains("absent: cannot read the release"));
    assert!(bench.bad(&["attack", "out", "--attack", "magic"]).contains("possible values: cover, closure, worlds"));
}

#[test]
fn the_same_output_for_any_number_of_threads() {
    let bench = Bench::new();
    let record = |i: usize| format!("z{} z{} z{} z{}\n", i % 7, 7 + (i + i / 9) % 11, 18 + i % 13, 31 + i % 5);
    bench.file("x.dat", (0..400).map(record).collect::<String>());
    bench.good(&["protect", "x.dat", "-k", "3", "-o", "out"]);
    let with = |threads: &str| {
        let output = bench.run(&["attack", "out", "--original", "x.dat", "--json", "--threads", threads]);
        assert!(matches!(output.status.code(), Some(0 | 1)), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    assert_eq!(with("1"), with("2"));
}

#[test]
fn its_help_has_examples() {
    let bench = Bench::new();
    for help in ["--help", "-h"] {
        let (stdout, _) = bench.good(&["attack", help]);
        assert!(stdout.contains("Examples:\n  disjoin attack "), "{stdout}");
    }
}

#[test]
fn a_release_made_for_somebody_who_knows_the_algorithm_withstands() {
    let bench = packaged(BREACHED);
    breached(&bench, &["attack", "out"]);
    bench.good(&["protect", "x.dat", "--separator", ",", "-k", "3", "--max-cluster", "8", "-o", "aware"]);
    let claim: Value = serde_json::from_slice(&fs::read(bench.at("aware/release/claim.json")).unwrap()).unwrap();
    assert_eq!((&claim["promise"], &claim["parameters"]["cut"]), (&"algorithm-aware".into(), &"weighed".into()));
    let (stdout, _) = bench.good(&[&["verify", "aware"], &ORIGINAL[..]].concat());
    assert!(stdout.contains("also one that the algorithm cuts into these chunks"), "{stdout}");
    bench.good(&[&["attack", "aware"], &ORIGINAL[..]].concat());
    // Somebody who is wrong about how it was cut still makes statements: that they follow from nothing is not for them to see.
    breached(&bench, &["attack", "aware", "--assume", "greedy", "--attack", "cover"]);
    // The same claim about the other release is refuted.
    fs::copy(bench.at("aware/release/claim.json"), bench.at("out/release/claim.json")).unwrap();
    let (stdout, _) = breached(&bench, &["verify", "out"]);
    assert!(stdout.contains("no possible original is cut into these record chunks"), "{stdout}");
}
