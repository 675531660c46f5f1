//! Noisy releases from the command line: a file in, itemsets or records with noise out, added up and measured; and what is said when
//! it cannot be.

use std::fs;

use crate::common::{Bench, text};

/// Records over forty items, some far more frequent than others, and a list of the items.
fn baskets(bench: &Bench) {
    let record = |i: u64| -> String {
        let has = |item: &u64| i.wrapping_mul(0x9e37_79b9).wrapping_add(item * 7919) % 1009 < 700 / (item + 1) + 40;
        (0..40).filter(has).map(|item| format!("i{item} ")).collect()
    };
    let records: String = (1..3000)
        .map(record)
        .filter(|record| !record.is_empty())
        .map(|record| record.trim().to_owned() + "\n")
        .collect();
    bench.file("baskets.dat", records);
    bench.file("items.txt", (0..50).map(|item| format!("i{item}\n")).collect::<String>());
}

fn json(bench: &Bench, args: &[&str], code: i32) -> serde_json::Value {
    let output = bench.run(&[args, &["--json"]].concat());
    assert_eq!(output.status.code(), Some(code), "{args:?}\n{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

const PRIVBASIS: [&str; 10] =
    ["protect", "baskets.dat", "--method", "privbasis", "--epsilon", "2", "--delta", "1e-6", "--top", "30"];

#[test]
fn privbasis_goes_all_the_way() {
    let bench = Bench::new();
    baskets(&bench);
    let told = json(&bench, &[&PRIVBASIS[..], &["--universe", "items.txt", "-o", "out"]].concat(), 0);
    assert_eq!((told["epsilon"].as_str(), told["delta"].as_str()), (Some("2"), Some("0.000001")));
    assert_eq!(told["universe"].as_str(), Some("listed"));
    let (verified, _) = bench.good(&["verify", "out"]);
    assert!(verified.contains("The promise holds") && verified.contains("number of items"), "{verified}");
    let verdict = json(&bench, &["verify", "out/release"], 0);
    assert_eq!((verdict["holds"].as_bool(), verdict["violations"].as_u64()), (Some(true), Some(0)));
    let measured = json(&bench, &["measure", "out", "--original", "baskets.dat"], 0);
    assert!(measured["missed"].as_f64().unwrap() < 0.5 && measured["top"].as_u64() == Some(30), "{measured}");
    let (shown, _) = bench.good(&["measure", "out", "--original", "baskets.dat"]);
    assert!(shown.contains("missed") && shown.contains("of the best 30"), "{shown}");

    // Neither the number of records nor a seed is told, and the input's digest stays in custody.
    let release =
        fs::read_dir(bench.at("out/release")).unwrap().map(|file| fs::read_to_string(file.unwrap().path()).unwrap());
    let release: String = release.collect();
    assert!(!release.contains("2999") && !release.contains("sha256") && !release.contains("seed"));
    assert!(fs::read_to_string(bench.at("out/custody/custody.json")).unwrap().contains("sha256"));

    // Noise is new every time.
    bench.good(&[&PRIVBASIS[..], &["--universe", "items.txt", "-o", "again"]].concat());
    let data = |out: &str| fs::read(bench.at(out).join("release/data.jsonl")).unwrap();
    assert_ne!(data("out"), data("again"));

    // Forged: less is said to be spent; a count that nothing covers.
    let claim = fs::read_to_string(bench.at("out/release/claim.json")).unwrap();
    for (from, to) in [("\"epsilon\": \"2\"", "\"epsilon\": \"0.5\""), ("\"format\"", "\"records\": 2999, \"format\"")]
    {
        fs::write(bench.at("out/release/claim.json"), claim.replacen(from, to, 1)).unwrap();
        let refuted = bench.run(&["verify", "out"]);
        assert_eq!(refuted.status.code(), Some(2), "{}", text(&refuted.stderr));
        // Its words are not read where they are those of version 1.
        fs::write(
            bench.at("out/release/claim.json"),
            claim.replacen(from, to, 1).replace("\"version\": 3", "\"version\": 1"),
        )
        .unwrap();
        let refuted = bench.run(&["verify", "out"]);
        let is_refuted = refuted.status.code() == Some(1) && text(&refuted.stdout).contains("does NOT hold");
        assert!(is_refuted || refuted.status.code() == Some(2), "{}", text(&refuted.stderr));
    }
    fs::write(bench.at("out/release/claim.json"), &claim).unwrap();
    // Other verbs say what it is.
    for verb in [&["query", "out", "i1"][..], &["attack", "out"], &["reconstruct", "out", "-o", "maybe"]] {
        assert!(bench.bad(verb).contains("noisy"), "{verb:?}");
    }
    assert!(bench.bad(&["verify", "out", "--original", "baskets.dat"]).contains("disjoin measure"));
}

#[test]
fn diffpart_goes_all_the_way() {
    let bench = Bench::new();
    baskets(&bench);
    let protect = ["protect", "baskets.dat", "--method", "diffpart", "--epsilon", "40", "--fanout", "5", "-o", "out"];
    let (_, said) = bench.good(&protect);
    assert!(said.contains("assumed to be public") && said.contains("(universe)"), "{said}");
    assert!(!bench.at("out/release/universe.txt").exists());
    assert!(bench.good(&["verify", "out"]).0.contains("The promise holds"));
    let measured = json(&bench, &["measure", "out", "--original", "baskets.dat", "--top", "20"], 0);
    assert!(measured["tkd"]["all"].as_f64().is_some() && !measured["relative_error"].as_array().unwrap().is_empty());
    assert!(bench.good(&["measure", "out", "--original", "baskets.dat"]).0.contains("tKd"));
}

#[test]
fn demonstrations_are_the_same_and_promise_nothing() {
    let bench = Bench::new();
    baskets(&bench);
    for out in ["a", "b"] {
        let (_, said) = bench.good(&[&PRIVBASIS[..], &["--demonstration", "--seed", "7", "-o", out]].concat());
        assert!(said.contains("promises nothing"), "{said}");
    }
    let read = |out: &str, file: &str| fs::read(bench.at(out).join(file)).unwrap();
    for file in ["release/data.jsonl", "release/claim.json"] {
        assert_eq!(read("a", file), read("b", file));
    }
    assert!(text(&read("a", "custody/custody.json")).contains("\"seed\": 7"));
    assert!(text(&read("a", "release/claim.json")).contains("demonstration"));
    let verified = bench.run(&["verify", "a"]);
    assert_eq!(verified.status.code(), Some(1));
    assert!(text(&verified.stdout).contains("Nothing is promised"), "{}", text(&verified.stdout));
}

#[test]
fn bad_input_is_explained_and_writes_nothing() {
    let bench = Bench::new();
    baskets(&bench);
    bench.file("few.txt", "i0\ni1\n");
    bench.file("none.txt", "\n \n");
    bench.file("odd.txt", "i0\ni1\u{7}\n");
    bench.file("latin.txt", b"i0\ni\xe9\n");
    let cases: [(&str, &str, &[&str]); 19] = [
        ("privbasis", "", &["--epsilon", "missing"]),
        ("privbasis", "--epsilon 0", &["--epsilon", "above 0"]),
        ("privbasis", "--epsilon -1", &["--epsilon", "expected a number"]),
        ("privbasis", "--epsilon lots", &["--epsilon", "expected a number"]),
        ("privbasis", "--epsilon 1 --delta 0", &["--delta", "above 0 and below 1"]),
        ("privbasis", "--epsilon 1 --delta 1", &["--delta", "above 0 and below 1"]),
        ("privbasis", "--epsilon 1 --delta 1e-6 --accounting pure", &["--delta", "pure"]),
        ("privbasis", "--epsilon 1 --accounting approximate", &["--accounting", "--delta 1e-6"]),
        ("privbasis", "--epsilon 1 --top 0", &["--top", "between 1"]),
        ("privbasis", "--epsilon 1 --fanout 3", &["--fanout", "diffpart"]),
        ("privbasis", "--epsilon 1 --seed 3", &["--seed", "protects nobody", "ask for a demonstration"]),
        ("privbasis", "--epsilon 1 --universe few.txt", &["few.txt: 38 of the 40 terms", "record"]),
        ("privbasis", "--epsilon 1 --universe none.txt", &["none.txt", "lists no item"]),
        ("privbasis", "--epsilon 1 --universe odd.txt", &["odd.txt:2"]),
        ("privbasis", "--epsilon 1 --universe latin.txt", &["latin.txt:2", "UTF-8"]),
        ("diffpart", "--epsilon 1 --delta 1e-6", &["--delta", "is not known by the method diffpart", "privbasis"]),
        ("diffpart", "--epsilon 1 --fanout 40", &["--fanout", "between 2"]),
        ("diffpart", "--epsilon 1 --thresholds 1,1", &["--thresholds", "multiply"]),
        ("diffpart", "--epsilon 1 --quasi i0", &["--method", "diffpart is for sets of terms", "columns of a table"]),
    ];
    for (method, flags, words) in cases {
        let args =
            ["protect", "baskets.dat", "--method", method, "-o", "out"].into_iter().chain(flags.split_whitespace());
        let said = bench.bad(&args.collect::<Vec<_>>());
        for word in words {
            assert!(said.contains(word), "{flags}: {said} lacks {word}");
        }
    }
    assert!(
        bench
            .bad(&["protect", "baskets.dat", "--epsilon", "1", "-o", "out"])
            .contains("--epsilon: is not known by the method disassociation")
    );
    assert!(bench.bad(&["protect", "baskets.dat", "--seed", "1", "-o", "out"]).contains("--seed"));
    assert!(
        bench
            .bad(&["protect", "baskets.dat", "--method", "diffpart", "--epsilon", "1", "--demonstration", "-o", "out"])
            .contains("--seed")
    );
}

const RECIPE: &str = "\
[input]
file = \"baskets.dat\"
[protect]
method = \"privbasis\"
[protect.noise]
epsilon = 2
delta = 1e-6
top = 30
universe = \"items.txt\"
";

#[test]
fn a_recipe_says_the_same() {
    let bench = Bench::new();
    baskets(&bench);
    bench.file("recipe.toml", RECIPE);
    let told = json(&bench, &["run"], 0);
    let claim = &told["run"]["claim"];
    assert_eq!((claim["epsilon"].as_str(), claim["delta"].as_str()), (Some("2"), Some("0.000001")));
    let records = told["run"]["utility"]["records"].as_u64().unwrap();
    assert_eq!(told["run"]["utility"]["top"].as_u64(), Some(30));
    assert!(bench.good(&["verify", "out"]).0.contains("The promise holds"));

    // The public page tells the promise and the ledger, and nothing that was counted in the original.
    let read = |file: &str| fs::read_to_string(bench.at("out").join(file)).unwrap();
    let (inside, public) = (read("custody/report.html"), read("release/report.html"));
    let thousands = format!("{},{:03} records", records / 1000, records % 1000);
    assert!(inside.contains(&thousands) && inside.contains("does not cover these numbers"), "{thousands}");
    for word in ["epsilon = 2", "number of items", "universe.txt", "what may be spent"] {
        assert!(public.contains(word), "{word}");
    }
    for word in [&thousands, &records.to_string(), "missed", "seconds", "sha256", "baskets"] {
        assert!(!public.contains(word), "{word}");
    }
    assert!(read("custody/report.md").contains("missed") && read("custody/report.json").contains("\"missed\""));

    // A demonstration draws what the flags draw, and is told to promise nothing.
    bench.file("demo.toml", RECIPE.to_owned() + "demonstration = true\nseed = 7\n[output]\nfolder = \"demo\"\n");
    let demo = bench.run(&["run", "demo.toml"]);
    assert_eq!(demo.status.code(), Some(1), "{}", text(&demo.stderr));
    assert!(text(&demo.stdout).contains("Nothing is promised") && text(&demo.stdout).contains("must NOT leave"));
    let flags = ["--universe", "items.txt", "--demonstration", "--seed", "7", "-o", "flags"];
    bench.good(&[&PRIVBASIS[..], &flags].concat());
    for file in ["data.jsonl", "claim.json", "universe.txt"] {
        let of = |out: &str| fs::read(bench.at(out).join("release").join(file)).unwrap();
        assert_eq!(of("demo"), of("flags"), "{file}");
    }
    assert!(fs::read_to_string(bench.at("demo/release/report.html")).unwrap().contains("Nothing is promised"));

    // The other method, by its own keys; defaults are told.
    let diffpart = "[protect]\nmethod = \"diffpart\"\n[protect.noise]\nepsilon = \"40\"\nfanout = 5\n";
    bench.file("diffpart.toml", format!("{diffpart}[input]\nfile = \"baskets.dat\"\n[output]\nfolder = \"records\"\n"));
    let (checked, _) = bench.good(&["recipe", "check", "diffpart.toml"]);
    assert!(checked.contains("[protect.noise]") && checked.contains("6.75"), "{checked}");
    let (shown, _) = bench.good(&["run", "diffpart.toml"]);
    assert!(shown.contains("assumed to be known") && shown.contains("may leave"), "{shown}");
    assert!(fs::read_to_string(bench.at("records/release/report.html")).unwrap().contains("parts of parts"));
}

#[test]
fn a_bad_recipe_is_explained_with_its_key_and_line() {
    let bench = Bench::new();
    baskets(&bench);
    let cases: [(&str, &str, &[&str]); 17] = [
        ("epsilon = 2", "epsilon = -1", &["recipe.toml:6", "epsilon", "expected a number"]),
        ("epsilon = 2", "epsilon = 0.0", &["recipe.toml:6", "protect.noise.epsilon", "above 0"]),
        ("epsilon = 2", "epsilon = \"lots\"", &["recipe.toml:6", "epsilon", "expected a number"]),
        ("epsilon = 2", "epsilon = true", &["recipe.toml:6", "epsilon", "expected a number"]),
        ("epsilon = 2", "epsilon = 0.1234567890123", &["recipe.toml:6", "epsilon", "twelve digits"]),
        ("epsilon = 2\n", "", &["recipe.toml:5", "protect.noise.epsilon", "missing"]),
        ("delta = 1e-6", "delta = 1", &["recipe.toml:7", "protect.noise.delta", "below 1"]),
        ("top = 30", "top = 0", &["recipe.toml:8", "protect.noise.top", "between 1"]),
        ("top = 30", "fanout = 3", &["recipe.toml:8", "protect.noise.fanout", "diffpart"]),
        (
            "top = 30",
            "seed = 3",
            &["recipe.toml:8", "protect.noise.seed", "protects nobody", "ask for a demonstration"],
        ),
        ("top = 30", "demonstration = true", &["recipe.toml:8", "protect.noise.demonstration", "give a seed, 1"]),
        ("[protect.noise]", "k = 5\n[protect.noise]", &["recipe.toml:5", "protect.k", "privbasis"]),
        (
            "[protect.noise]",
            "fanout = 5\n[protect.noise]",
            &["recipe.toml:5", "protect.fanout: is not known by the method privbasis"],
        ),
        ("privbasis", "coat", &["recipe.toml", "protect.noise", "privbasis"]),
        ("[input]", "[limits]\nitemsets_lost = 0.5\n[input]", &["recipe.toml:2", "limits.itemsets_lost", "privbasis"]),
        ("[input]", "[output]\nformat = \"parquet\"\n[input]", &["recipe.toml:2", "output.format"]),
        ("[input]", "[table]\nquasi = [\"i0\"]\n[input]", &["protect.method", "privbasis is for sets of terms"]),
    ];
    for (from, to, words) in cases {
        bench.file("recipe.toml", RECIPE.replacen(from, to, 1));
        for verb in [&["recipe", "check"][..], &["run"]] {
            let said = bench.bad(verb);
            for word in words {
                assert!(said.contains(word), "{to}: {said} lacks {word}");
            }
        }
    }
    // What only the data can tell stands in the recipe, too.
    let diffpart = "method = \"diffpart\"\n[protect.noise]\nepsilon = 1\nthresholds = [1, 1]\n";
    bench.file("recipe.toml", format!("[input]\nfile = \"baskets.dat\"\n[protect]\n{diffpart}"));
    let said = bench.bad(&["run"]);
    assert!(said.contains("recipe.toml:7: protect.noise.thresholds") && !said.contains("--"), "{said}");
    assert!(bench.bad(&["sweep", "recipe.toml", "-k", "2,3", "-o", "swept"]).contains("protect.method: is not swept"));
}
