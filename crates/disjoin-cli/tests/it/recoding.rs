//! Recoded transactions from the command line: a file in, a release out, proved, measured, asked and converted; and what is said when
//! it cannot be.

use std::fs;

use crate::common::{Bench, text};

/// Ten people; hiv and lupus are rare.
const WARD: &str =
    "flu,asthma\nflu,gout\nflu,asthma,hiv\nflu\ngout,asthma\nflu,asthma\nflu,gout\nflu,lupus\nasthma\nasthma,gout\n";

fn ward() -> Bench {
    let bench = Bench::new();
    bench.file("ward.csv", WARD);
    bench
}

fn json(bench: &Bench, args: &[&str], code: i32) -> serde_json::Value {
    let output = bench.run(&[args, &["--json"]].concat());
    assert_eq!(output.status.code(), Some(code), "{args:?}\n{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// `protect ward.csv --format basket --method METHOD -o OUT` with more.
fn protect<'a>(method: &'a str, out: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["protect", "ward.csv", "--format", "basket", "--method", method, "-o", out], more].concat()
}

#[test]
fn suppression_goes_all_the_way() {
    let bench = ward();
    for (method, out) in [("suppression", "all"), ("suppression-partial", "part")] {
        let told = json(&bench, &protect(method, out, &["-k", "2", "-m", "2"]), 0);
        assert_eq!(told["records"], 10);
        assert_eq!(told["suppressed_terms"], 2);
        for file in ["claim.json", "transactions.jsonl"] {
            let text = fs::read_to_string(bench.at(out).join("release").join(file)).unwrap();
            assert!(!text.contains("hiv") && !text.contains("lupus"), "{file}");
        }
        assert!(fs::read_to_string(bench.at(out).join("custody/custody.json")).unwrap().contains("\"hiv\""));
        let release = &format!("{out}/release")[..];
        for args in [
            &["verify", out][..],
            &["verify", release],
            &["verify", out, "--original", "ward.csv", "--format", "basket"],
        ] {
            assert!(bench.good(args).0.contains("The promise holds"), "{args:?}");
        }
        let verdict = json(&bench, &["verify", out, "--original", "ward.csv", "--format", "basket"], 0);
        assert_eq!((verdict["holds"].as_bool(), verdict["against_records"].as_bool()), (Some(true), Some(true)));
        let measured =
            json(&bench, &["measure", out, "--original", "ward.csv", "--format", "basket", "--fanout", "2"], 0);
        assert_eq!(measured["became"]["terms_suppressed"], 2);
        assert_eq!(measured["queries"]["within_bounds"], 1.0);
        assert!(
            measured["top_k"]["tkd_ml2"]["all"].is_number() && measured["ul"]["suppressed"].as_f64().unwrap() > 0.0
        );
        assert!(bench.good(&["measure", out, "--original", "ward.csv", "--format", "basket"]).0.contains("NCP"));
    }
    // Whoever changes a count is found out.
    let path = bench.at("all/release/transactions.jsonl");
    let good = fs::read_to_string(&path).unwrap();
    let first = good.lines().nth(2).unwrap();
    let bad = good.replacen(first, &first.replace("\"count\":", "\"count\":1"), 1);
    fs::write(&path, &bad).unwrap();
    assert!(bench.bad(&["verify", "all"]).contains("not whole"));
    let claim = bench.at("all/release/claim.json");
    let text =
        fs::read_to_string(&claim).unwrap().replace("\"k\": 2", "\"k\": 9").replace("\"version\": 3", "\"version\": 1");
    fs::write(&path, good).unwrap();
    fs::write(claim, text).unwrap();
    let refuted = bench.run(&["verify", "all"]);
    assert_eq!(refuted.status.code(), Some(1));
    assert!(crate::common::text(&refuted.stdout).contains("does NOT hold"));
    // Another file is not the original.
    bench.file("other.csv", WARD.replace("flu,lupus", "flu,gout"));
    assert!(bench.bad(&["verify", "part", "--original", "other.csv", "--format", "basket"]).contains("digest"));
}

/// What generalises what in the ward.
const TREE: &str = "flu;infection;*\nhiv;infection;*\nlupus;immune;*\nasthma;immune;*\ngout;immune;*\n";

#[test]
fn hierarchies_go_all_the_way() {
    let bench = ward();
    bench.file("tree.csv", TREE);
    for (method, more) in
        [("apriori", &[][..]), ("lra", &["--block", "4"]), ("vpa", &["--parts", "2", "--cost", "alone"])]
    {
        let more = [&["-k", "2", "-m", "2", "--hierarchy", "tree.csv"], more].concat();
        let told = json(&bench, &protect(method, method, &more), 0);
        assert_eq!((told["records"].as_u64(), told["suppressed_terms"].as_u64()), (Some(10), Some(0)));
        let data = fs::read_to_string(bench.at(method).join("release/transactions.jsonl")).unwrap();
        // What only one has is generalised, and called what the hierarchy calls it.
        assert!(data.contains("\"terms\":[\"flu\",\"hiv\"],\"label\":\"infection\""), "{data}");
        assert!(bench.good(&["verify", method]).0.contains("The promise holds"));
        let verdict = json(&bench, &["verify", method, "--original", "ward.csv", "--format", "basket"], 0);
        assert_eq!(verdict["against_records"], true);
        assert_eq!(verdict["blocks"].as_u64().unwrap() > 1, method == "lra");
        let original = ["--original", "ward.csv", "--format", "basket", "--hierarchy", "tree.csv"];
        let measured = json(&bench, &[&["measure", method][..], &original].concat(), 0);
        assert!(measured["ncp"].as_f64().unwrap() > 0.0 && measured["top_k"]["tkd_ml2"]["all"].is_number());
        bench.good(&["query", method, "hiv", "flu, gout"]);
        bench.good(&["convert", method, &format!("{method}.dat")]);
    }
    bench.good(&protect("apriori", "fan", &["-k", "2", "--fanout", "2"]));
    assert!(!fs::read_to_string(bench.at("fan/release/transactions.jsonl")).unwrap().contains("label"));
    // Without its custody a release in blocks is verified, but not measured.
    fs::remove_dir_all(bench.at("lra/custody")).unwrap();
    assert!(bench.good(&["verify", "lra", "--original", "ward.csv", "--format", "basket"]).0.contains("custody"));
    let said = bench.bad(&["measure", "lra", "--original", "ward.csv", "--format", "basket"]);
    assert!(said.contains("custody"), "{said}");
}

#[test]
fn bad_hierarchies_are_refused() {
    let bench = ward();
    let of = |text: &str, k: &str| {
        bench.file("tree.csv", text);
        bench.bad(&protect("apriori", "out", &["--hierarchy", "tree.csv", "-k", k]))
    };
    let said = of(&TREE.replace("lupus;immune;*\n", ""), "2");
    assert!(said.contains("one term of the data is not in the hierarchy") && !said.contains("lupus"), "{said}");
    let said = of(&TREE.replace("gout;immune;*", "gout;*;immune"), "2");
    assert!(said.contains("tree.csv:5:") && said.contains("below itself"), "{said}");
    let said = of(&TREE.replace("gout;immune;*", "gout;immune;all"), "2");
    assert!(said.contains("tree.csv:5:") && said.contains("two different labels"), "{said}");
    // Two roots are fine unless more is needed than they allow.
    let forest = TREE.replace(";*", "");
    let said = of(&forest, "9");
    assert!(said.contains("more than one root") && said.contains("hint:"), "{said}");
    assert!(of("", "2").contains("hierarchy"));
    bench.file("tree.csv", TREE);
    let said = bench.bad(&protect("apriori", "out", &["--hierarchy", "tree.csv", "-k", "11"]));
    assert!(said.contains("hint:"), "{said}");
    for (args, key) in [
        (protect("apriori", "out", &[]), "--hierarchy"),
        (protect("apriori", "out", &["--hierarchy", "tree.csv", "--fanout", "2"]), "--fanout"),
        (protect("apriori", "out", &["--fanout", "1"]), "--fanout"),
        (protect("apriori", "out", &["--fanout", "2", "--block", "4"]), "--block"),
        (protect("lra", "out", &["--fanout", "2", "--block", "1"]), "--block"),
        (protect("lra", "out", &["--fanout", "2", "--parts", "2"]), "--parts"),
        (protect("coat", "out", &["--fanout", "2", "--privacy", "x"]), "--fanout"),
        (protect("apriori", "out", &["--fanout", "2", "--privacy", "x"]), "--privacy"),
        (protect("disassociation", "out", &["--fanout", "2"]), "--fanout"),
        (protect("disassociation", "out", &["--hierarchy", "tree.csv"]), "--hierarchy"),
    ] {
        let said = bench.bad(&args);
        assert!(said.contains(&format!("error: {key}: ")), "{said}");
    }
}

#[test]
fn constraints_go_all_the_way() {
    let bench = ward();
    bench.file("privacy.txt", "hiv\nflu,gout\nlupus\n");
    bench.file("utility.txt", "hiv,lupus\ngout,asthma\n");
    for (method, out) in [("coat", "coat"), ("pcta", "pcta")] {
        let more = ["-k", "2", "--privacy", "privacy.txt", "--utility", "utility.txt"];
        let told = json(&bench, &protect(method, out, &more), 0);
        assert_eq!((told["groups"].as_u64(), told["suppressed_terms"].as_u64()), (Some(1), Some(0)));
        let data = fs::read_to_string(bench.at(out).join("release/transactions.jsonl")).unwrap();
        assert!(data.contains("{\"terms\":[\"hiv\",\"lupus\"]}"), "{data}");
        let claim = fs::read_to_string(bench.at(out).join("release/claim.json")).unwrap();
        let claim: serde_json::Value = serde_json::from_str(&claim).unwrap();
        assert_eq!(claim["promise"]["privacy"].as_array().unwrap().len(), 3);
        assert_eq!(claim["utility"].as_array().unwrap().len(), 2);
        bench.good(&["verify", out, "--original", "ward.csv", "--format", "basket"]);

        // hiv is one of a group of two that two people have: one on average, none or two at the ends.
        let asked = json(&bench, &["query", out, "hiv", "flu", "gold"], 0);
        let answer = |at: usize, key: &str| asked["itemsets"][at][key].as_f64().unwrap();
        assert_eq!((answer(0, "lower"), answer(0, "expected"), answer(0, "upper")), (0.0, 1.0, 2.0));
        assert_eq!((answer(1, "lower"), answer(1, "upper"), answer(2, "upper")), (7.0, 7.0, 0.0));
        let top = json(&bench, &["query", out, "--top", "3", "--size", "2"], 0);
        let told =
            |at: usize| (top["itemsets"][at]["terms"].clone(), top["itemsets"][at]["expected"].as_f64().unwrap());
        assert_eq!(told(0), (serde_json::json!(["asthma", "flu"]), 3.0));
        assert!(told(1).1 >= told(2).1 && told(2).1 >= 1.0, "{top}");

        bench.good(&["convert", out, &format!("{out}.dat")]);
        let converted = fs::read_to_string(bench.at(&format!("{out}.dat"))).unwrap();
        assert_eq!(converted.lines().count(), 10);
        assert!(converted.contains("hiv|lupus"));
        assert!(bench.bad(&["convert", out, &format!("{out}.dat")]).contains("--force"));
        assert!(bench.bad(&["convert", out, "folder"]).contains("format"));
    }
    // Verbs of other forms say what this is, and what is known of it.
    for args in [&["explain", "coat"][..], &["reconstruct", "coat", "-o", "x"]] {
        let said = bench.bad(args);
        assert!(
            said.contains("is recoded transactions; ")
                && said.contains(&format!("{} takes a disassociated dataset", args[0]))
                && said.contains("hint: "),
            "{said}"
        );
    }
    // Any number of threads, the same bytes.
    let more = ["-k", "2", "--privacy", "privacy.txt", "--utility", "utility.txt", "--threads", "1"];
    bench.good(&protect("coat", "one", &more));
    for file in ["claim.json", "transactions.jsonl"] {
        let read = |out: &str| fs::read(bench.at(out).join("release").join(file)).unwrap();
        assert_eq!(read("coat"), read("one"), "{file}");
    }
}

#[test]
fn what_cannot_be_satisfied_is_explained() {
    let bench = ward();
    bench.file("privacy.txt", "flu,gout\nhiv\n");
    bench.file("utility.txt", "hiv,lupus\n");
    // Two people have hiv or lupus: three cannot be had. One of five terms must go, or both of the set.
    let more = ["-k", "3", "--privacy", "privacy.txt", "--utility", "utility.txt"];
    let said = bench.bad(&protect("coat", "out", &more));
    for word in ["privacy constraint", "utility constraint", "k = 3", "hint:", "share of 0."] {
        assert!(said.contains(word), "{word}: {said}");
    }
    assert!(!said.contains("hiv"), "{said}");
    let share = said.split("a share of ").nth(1).unwrap().split(' ').next().unwrap();
    bench.good(&protect("coat", "out", &[&more[..], &["--max-suppressed", share]].concat()));
    bench.good(&["verify", "out"]);
    assert!(!fs::read_to_string(bench.at("out/release/claim.json")).unwrap().contains("hiv"));
    let (_, told) = bench.good(&protect("pcta", "forced", &[&more[..], &["--force"]].concat()));
    assert!(told.contains("more terms were suppressed than allowed"), "{told}");
    assert!(bench.good(&["verify", "forced", "--original", "ward.csv", "--format", "basket"]).0.contains("holds"));
}

#[test]
fn bad_policies_are_refused_with_their_line() {
    let bench = ward();
    bench.file("good.txt", "hiv\n");
    bench.file("empty.txt", "");
    let of = |privacy: &'static str, more: &[&'static str]| {
        bench.bad(&protect("coat", "out", &[&["--privacy", privacy], more].concat()))
    };
    assert!(of("empty.txt", &[]).contains("names no constraint"));
    for (name, text, line, problem) in [
        ("hole.txt", "hiv\n,,\nflu\n", 2, "empty constraint"),
        ("blank.txt", "hiv,flu\n\n", 2, "empty constraint"),
        ("unknown.txt", "hiv\nflu,plague\n", 2, "field 2 is not a term of the data"),
        ("quote.txt", "\"hiv\n", 1, "quote"),
    ] {
        bench.file(name, text);
        let said = of(name, &[]);
        assert!(said.contains(&format!("{name}:{line}:")) && said.contains(problem), "{said}");
        assert!(!said.contains("plague"));
        let said = of("good.txt", &["--utility", name]);
        assert!(said.contains(&format!("{name}:{line}:")), "{said}");
    }
    bench.file("twice.txt", "hiv,flu\ngout,hiv\n");
    assert!(of("good.txt", &["--utility", "twice.txt"]).contains("twice.txt:2:"));
    assert!(of("missing.txt", &[]).contains("missing.txt"));
    assert!(of("good.txt", &["-k", "1"]).contains("-k: must be at least 2"));
    assert!(of("good.txt", &["--max-suppressed", "1.5"]).contains("--max-suppressed"));
    // Flags of one method are no flags of another.
    for (args, key) in [
        (protect("coat", "out", &[]), "--privacy"),
        (protect("suppression", "out", &["--privacy", "good.txt"]), "--privacy"),
        (protect("suppression", "out", &["--utility", "good.txt"]), "--utility"),
        (protect("suppression", "out", &["-m", "0"]), "-m"),
        (protect("suppression", "out", &["--sensitive", "hiv"]), "--sensitive"),
        (protect("suppression", "out", &["--output-format", "parquet"]), "--output-format"),
        (protect("suppression", "out", &["--grouping", "layered"]), "--grouping"),
        (protect("coat", "out", &["--privacy", "good.txt", "--promise", "algorithm-aware"]), "--promise"),
        (protect("coat", "out", &["--privacy", "good.txt", "--quasi", "x"]), "--method"),
        (protect("disassociation", "out", &["--privacy", "good.txt"]), "--privacy"),
        (protect("disassociation", "out", &["--force"]), "--force"),
    ] {
        let said = bench.bad(&args);
        assert!(said.contains(&format!("error: {key}: ")), "{said}");
    }
    // What is known instead is said.
    let said = bench.bad(&protect("lra", "out", &["--fanout", "2", "--promise", "published"]));
    assert!(said.contains("--promise: is not known by the method lra"), "{said}");
    assert!(said.contains("choose a method that knows it: disassociation, "), "{said}");
}

#[test]
fn policies_are_written_for_you() {
    let bench = ward();
    let policy = |more: &[&str]| -> String {
        let all = [&["policy", more[0], "ward.csv", "--format", "basket"], &more[1..]].concat();
        bench.good(&all).0
    };
    assert_eq!(policy(&["all"]), "flu,asthma,gout,hiv,lupus\n");
    assert_eq!(policy(&["pairs", "--terms", "hiv, flu,gout"]), "flu,gout\nflu,hiv\ngout,hiv\n");
    let one = policy(&["random", "--share", "0.4", "--seed", "3"]);
    assert_eq!(one.lines().count(), 2);
    assert_eq!(policy(&["random", "--share", "0.4", "--seed", "3"]), one);
    policy(&["random", "--share", "0.4", "--seed", "3", "-o", "list.txt"]);
    assert_eq!(policy(&["pairs", "--terms", "list.txt"]).lines().count(), 1);
    assert_eq!(policy(&["hierarchy", "--fanout", "2", "--depth", "1"]).lines().count(), 2);
    bench.file("tree.csv", TREE);
    let sets = policy(&["hierarchy", "--hierarchy", "tree.csv"]);
    assert_eq!(sets, "flu,hiv\nasthma,gout,lupus\n");
    let told = json(&bench, &["policy", "all", "ward.csv", "--format", "basket", "-o", "u.txt"], 0);
    assert_eq!((told["constraints"].as_u64(), told["terms"].as_u64()), (Some(1), Some(5)));
    let bad = |more: &[&str]| bench.bad(&[&["policy", more[0], "ward.csv", "--format", "basket"], &more[1..]].concat());
    assert!(bad(&["all", "-o", "u.txt"]).contains("exists already"));
    assert!(bad(&["all", "--json"]).contains("-o FILE"));
    assert!(bad(&["random", "--share", "2"]).contains("--share"));
    assert!(bad(&["random", "--share", "0"]).contains("nothing to write"));
    assert!(bad(&["pairs", "--terms", "hiv,plague"]).contains("entry 2"));
    assert!(bad(&["hierarchy", "--fanout", "1"]).contains("--fanout"));
    bench.file("lacks.csv", "flu;infection;*\nhiv;infection;*\n");
    assert!(bad(&["hierarchy", "--hierarchy", "lacks.csv"]).contains("3 terms"));
}

const RECIPE: &str = "\
[input]
file = \"ward.csv\"
format = \"basket\"
[protect]
method = \"coat\"
k = 2
privacy = \"privacy.txt\"
utility = \"utility.txt\"
[limits]
itemsets_lost = 0.9
[output]
folder = \"out\"
";

#[test]
fn a_recipe_says_the_same() {
    let bench = ward();
    bench.file("privacy.txt", "hiv\nflu,gout\nlupus\n");
    bench.file("utility.txt", "hiv,lupus\ngout,asthma\n");
    let recipe = RECIPE;
    bench.file("recipe.toml", recipe);
    let ran = bench.good(&["run"]).0;
    assert!(ran.contains("coat: 2 of 5 terms in groups; the promise is proved"), "{ran}");
    for page in ["custody/report.html", "custody/report.md", "custody/report.json", "release/report.html"] {
        assert!(bench.at("out").join(page).is_file(), "{page}");
    }
    let public = fs::read_to_string(bench.at("out/release/report.html")).unwrap();
    assert!(public.contains("constraints") && !public.contains("conservation") && !public.contains("tKd"));
    bench.good(&protect("coat", "flags", &["-k", "2", "--privacy", "privacy.txt", "--utility", "utility.txt"]));
    for file in ["claim.json", "transactions.jsonl"] {
        let read = |out: &str| fs::read(bench.at(out).join("release").join(file)).unwrap();
        assert_eq!(read("out"), read("flags"), "{file}");
    }
    bench.good(&["verify", "out", "--original", "ward.csv", "--format", "basket"]);
    bench.file("recipe.toml", recipe.replace("itemsets_lost = 0.9", "itemsets_lost = 0.0"));
    let ran = bench.run(&["run"]);
    assert_eq!(ran.status.code(), Some(1), "{}", text(&ran.stderr));
    assert!(text(&ran.stdout).contains("limits.itemsets_lost"));
    for (from, to, place) in [
        ("method = \"coat\"", "method = \"moat\"", "recipe.toml:5"),
        ("k = 2", "k = 1", "recipe.toml:6"),
        ("privacy = \"privacy.txt\"\n", "", "protect.privacy"),
        ("method = \"coat\"\n", "", "protect.privacy"),
        ("k = 2", "k = 2\npromise = \"published\"", "protect.promise"),
        ("method = \"coat\"", "method = \"suppression\"", "recipe.toml:8: protect.utility"),
        ("folder = \"out\"", "folder = \"out\"\nformat = \"parquet\"", "recipe.toml:13: output.format"),
        ("[limits]", "[attack]\nrun = [\"cover\"]\n[limits]", "recipe.toml:10: attack.run"),
        ("[limits]", "[attack]\ncontext = 0\n[limits]", "recipe.toml:10: attack.context"),
        ("[limits]", "[attack]\neliminate = [\"grup\"]\n[limits]", "recipe.toml:10"),
        ("[limits]", "[attack]\ncorpus = \"none.corpus\"\n[limits]", "none.corpus"),
    ] {
        bench.file("recipe.toml", recipe.replace(from, to));
        let said = bench.bad(&["run"]);
        assert!(said.contains(place), "{to}: {said}");
    }
    bench.file("recipe.toml", recipe);
    let (stdout, _) = bench.good(&["sweep", "-k", "2"]);
    assert!(stdout.contains("  best\n") && stdout.contains("Best: k = 2"), "{stdout}");
    assert!(
        bench
            .bad(&["sweep", "-k", "2", "--max-cluster", "8"])
            .contains("protect.max_cluster: is not known by the method coat")
    );
}
