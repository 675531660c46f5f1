//! Semantic attacks from the command line: a corpus, text to records, generalised sets attacked, and what is said when it cannot be.

use std::fmt::Write as _;

use crate::common::{Bench, text};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Sentences about one of some subjects that share no words.
fn sentences(n: usize, subjects: usize, seed: u64) -> Vec<String> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let sentence = |_| {
        let subject = rng.random_range(0..subjects);
        let mut word = || (40.0 * rng.random_range(0.0_f64..1.0).powi(2)) as usize;
        (0..10).map(|_| format!("subject{subject}word{}", word())).collect::<Vec<_>>().join(", ")
    };
    (0..n).map(sentence).collect()
}

/// Records of generated text in notes.jsonl, a corpus of more of it in words.corpus, and a release of them in out.
fn bench() -> Bench {
    let bench = Bench::new();
    bench.file("words.txt", sentences(3_000, 12, 1).join("\n\n"));
    let mut csv = String::from("id,note\n");
    for (id, note) in sentences(300, 12, 2).iter().enumerate() {
        writeln!(csv, "{id},\"{note}\"").unwrap();
    }
    bench.file("notes.csv", csv);
    bench.good(&["corpus", "build", "words.txt", "-o", "words.corpus"]);
    bench.good(&["extract", "notes.csv", "--column", "note", "-o", "notes.jsonl"]);
    bench.good(&["policy", "random", "notes.jsonl", "--share", "0.3", "-o", "privacy.txt"]);
    bench.good(&["protect", "notes.jsonl", "--method", "coat", "-k", "4", "--privacy", "privacy.txt", "-o", "out"]);
    bench
}

/// A table of vectors in words.safetensors, and its tokenizer in tokenizer.json, both in a folder: a word of a subject points
/// where its subject does, or nearly.
fn vectors(bench: &Bench, subjects: usize) {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut pieces = vec![(String::from("s"), 0), (String::from("▁"), 1)];
    let mut rows = vec![0.25_f32; 2 * subjects];
    for subject in 0..subjects {
        for word in 0..40 {
            pieces.push((format!("▁subject{subject}word{word}"), pieces.len()));
            let towards = |other: usize| if other == subject { 1.0 } else { 0.0 };
            rows.extend((0..subjects).map(|other| towards(other) + rng.random_range(-0.3_f32..0.3)));
        }
    }
    let tokenizer = serde_json::json!({
        "normalizer": { "type": "Prepend", "prepend": "▁" },
        "model": {
            "type": "BPE",
            "vocab": pieces.iter().map(|(piece, id)| (piece.clone(), (*id).into())).collect::<serde_json::Map<_, _>>(),
            "merges": [],
            "ignore_merges": true,
        },
    });
    std::fs::create_dir(bench.at("vectors")).unwrap();
    bench.file("vectors/tokenizer.json", tokenizer.to_string());
    let header = serde_json::json!({
        "embedding.weight": { "dtype": "F32", "shape": [pieces.len(), subjects], "data_offsets": [0, 4 * rows.len()] },
    });
    let mut bytes = (header.to_string().len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.to_string().bytes());
    bytes.extend(rows.iter().flat_map(|value| value.to_le_bytes()));
    bench.file("vectors/words.safetensors", bytes);
}

fn json(bench: &Bench, args: &[&str], code: i32) -> serde_json::Value {
    let output = bench.run(&[args, &["--json"]].concat());
    assert_eq!(output.status.code(), Some(code), "{args:?}\n{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn generalised_sets_are_attacked_by_what_words_mean() {
    let bench = bench();
    let told = json(
        &bench,
        &["attack", "out", "--corpus", "words.corpus", "--original", "notes.jsonl", "--max-advantage", "0"],
        1,
    );
    assert_eq!(told["terms"]["unknown"], 0);
    assert!(told["coverage"]["attacked"].as_u64().unwrap() > 20, "{}", told["coverage"]);
    let f = |at: usize| told["attacks"][at]["score"]["f"].as_f64().unwrap();
    assert_eq!(
        (&told["attacks"][0]["attack"], &told["attacks"][6]["attack"]),
        (&"random".into(), &"calibrated".into())
    );
    assert!(f(6) > f(0) + 0.2 && f(5) > f(0) + 0.15, "{told}");
    let (shown, _) = {
        let output = bench.run(&[
            "attack",
            "out",
            "--corpus",
            "words.corpus",
            "--show-terms",
            "--eliminate",
            "group,calibrated",
        ]);
        assert_eq!(output.status.code(), Some(0));
        (text(&output.stdout), ())
    };
    assert!(shown.contains("\nSurest eliminations:\n") && shown.contains(" is not subject"), "{shown}");
}

#[test]
fn inconspicuous_groups_and_other_knowledge() {
    let bench = bench();
    let told = json(&bench, &["attack", "out", "--corpus", "words.corpus", "--original", "notes.jsonl"], 0);
    // Sets of terms that go with the same contexts hide what was added.
    let sets = [
        "policy",
        "inconspicuous",
        "notes.jsonl",
        "--terms",
        "privacy.txt",
        "--corpus",
        "words.corpus",
        "-o",
        "utility.txt",
    ];
    bench.good(&sets);
    let protect = [
        "protect",
        "notes.jsonl",
        "--method",
        "coat",
        "-k",
        "4",
        "--privacy",
        "privacy.txt",
        "--utility",
        "utility.txt",
    ];
    bench.good(&[&protect[..], &["--max-suppressed", "1", "-o", "hidden"]].concat());
    let output = bench.run(&["attack", "hidden", "--corpus", "words.corpus", "--original", "notes.jsonl", "--json"]);
    let hidden: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let beyond = |told: &serde_json::Value| {
        let score = &told["attacks"][5]["score"];
        let [added, original] = ["added", "original"].map(|key| score[key].as_f64().unwrap());
        score["precision"]["share"].as_f64().unwrap() - added / (added + original)
    };
    assert!(beyond(&hidden) < 0.6 * beyond(&told), "{} {}", beyond(&hidden), beyond(&told));
    // Other people's records and the release itself are knowledge, too.
    let told = json(
        &bench,
        &["attack", "out", "--outside", "notes.jsonl", "--original", "notes.jsonl", "--max-advantage", "0"],
        1,
    );
    assert_eq!(told["distances"], "other people's records");
    let told = json(&bench, &["attack", "out"], 0);
    assert_eq!((&told["distances"], &told["coverage"]["attacked"]), (&"the release itself".into(), &0.into()));
}

#[test]
fn disassociated_records_are_put_together_by_what_words_mean() {
    let bench = bench();
    bench.good(&["protect", "notes.jsonl", "-k", "3", "-o", "torn"]);
    let args = ["attack", "torn", "--corpus", "words.corpus", "--attack", "reassociate", "--original", "notes.jsonl"];
    let told = json(&bench, &args, 0);
    assert_eq!(told["attacks"][1]["attack"], "reassociate-words");
    assert!(told["attacks"][1]["score"]["precision"]["share"].as_f64().unwrap() > 0.0);
}

#[test]
fn vectors_of_words_tell_what_words_mean() {
    let bench = bench();
    vectors(&bench, 12);
    let told = json(
        &bench,
        &["attack", "out", "--vectors", "vectors", "--original", "notes.jsonl", "--max-advantage", "0"],
        1,
    );
    assert_eq!(told["distances"], "vectors of words");
    assert_eq!((&told["terms"]["unknown"], &told["terms"]["phrases"]), (&0.into(), &0.into()), "{told}");
    let f = |at: usize| told["attacks"][at]["score"]["f"].as_f64().unwrap();
    assert!(f(6) > f(0) + 0.2 && f(5) > f(0) + 0.15, "{told}");
    // The same from two files.
    let files = ["--vectors", "vectors/words.safetensors", "--tokenizer", "vectors/tokenizer.json"];
    let again = json(
        &bench,
        &[&["attack", "out", "--original", "notes.jsonl", "--max-advantage", "0"][..], &files].concat(),
        1,
    );
    assert_eq!(again, told);
    // Sets that hide what was added, by the same distances.
    let sets = ["policy", "inconspicuous", "notes.jsonl", "--terms", "privacy.txt"];
    bench.good(&[&sets[..], &files, &["-o", "utility.txt"]].concat());
    let utility = std::fs::read_to_string(bench.at("utility.txt")).unwrap();
    let subject = |term: &str| term.split("word").next().unwrap().to_owned();
    let is_of_one = |line: &&str| line.split(',').all(|term| subject(term) == subject(line));
    let (of_one, all) = (utility.lines().filter(is_of_one).count(), utility.lines().count());
    assert!(2 * of_one > all, "{of_one} of {all} sets stay with one subject");
    // Torn records are put together.
    bench.good(&["protect", "notes.jsonl", "-k", "3", "-o", "torn"]);
    let args = ["attack", "torn", "--vectors", "vectors", "--attack", "reassociate", "--original", "notes.jsonl"];
    assert_eq!(json(&bench, &args, 0)["attacks"][1]["attack"], "reassociate-words");

    let told =
        json(&bench, &["corpus", "query", "vectors", "subject1word2", "subject1word3", "subject2word3", "jet"], 0);
    assert_eq!((&told["items"][0]["as"], &told["items"][3]["as"]), (&"word".into(), &"unknown".into()));
    let distance = |at: usize| told["pairs"][at]["distance"].as_f64();
    assert!(distance(0) < distance(1) && distance(2).is_none(), "{told}");
    bench.file("ratings.tsv", "subject1word2\tsubject1word3\t9\nsubject1word2\tsubject2word3\t1\njet\tlag\t0.5\n");
    let told = json(&bench, &["corpus", "check", "vectors", "--ratings", "ratings.tsv", "--least", "0.9"], 0);
    assert_eq!((&told["vectors"], &told["dimensions"], &told["unknown_pairs"]), (&482.into(), &12.into(), &1.into()));
}

#[test]
fn vectors_that_cannot_be_used_are_refused() {
    let bench = Bench::new();
    vectors(&bench, 2);
    let table = std::fs::read(bench.at("vectors/words.safetensors")).unwrap();
    bench.file("cut.safetensors", &table[..table.len() - 1]);
    bench.file("no.json", "{\"model\": {\"type\": \"Unigram\"}}");
    bench.file(
        "small.json",
        r#"{"normalizer": {"type": "Prepend", "prepend": "▁"}, "model": {"vocab": {"a": 0}, "merges": []}}"#,
    );
    bench.file("notes.jsonl", "[\"a\",\"b\"]\n");
    let whole = "vectors/words.safetensors";
    for (args, problem) in [
        (
            &["corpus", "query", "cut.safetensors", "--tokenizer", "vectors/tokenizer.json", "a", "b"][..],
            "cut.safetensors: is damaged",
        ),
        (&["corpus", "query", whole, "a", "b"], "comes without a tokenizer"),
        (&["corpus", "query", whole, "--tokenizer", "no.json", "a", "b"], "no.json: holds a model Unigram"),
        (&["corpus", "check", whole, "--tokenizer", "small.json"], "has 82 vectors, but small.json has 1 pieces"),
        (&["corpus", "check", whole, "--tokenizer", "none.json"], "none.json: cannot read"),
        (&["corpus", "check", "."], "comes without a tokenizer"),
    ] {
        let error = bench.bad(args);
        assert!(error.contains(problem), "{args:?}: {error}");
    }
    let policy = ["policy", "inconspicuous", "notes.jsonl", "--terms", "a", "-o", "x.txt"];
    assert!(bench.bad(&policy).contains("--corpus: is missing"));
    for more in [&["--tokenizer", "no.json"][..], &["--vectors", "vectors", "--corpus", "x"]] {
        assert_eq!(bench.run(&[&policy[..], more].concat()).status.code(), Some(2));
    }
}

#[test]
fn a_corpus_is_asked_and_checked() {
    let bench = Bench::new();
    bench.file("a.txt", "Flu brings fever.\n\nA fever with flu\n\nThe car has a wheel\n\ncars and wheels and fever");
    bench.good(&["corpus", "build", "a.txt", "-o", "a.corpus"]);
    let told = json(&bench, &["corpus", "query", "a.corpus", "flu", "fever", "car", "jet"], 0);
    assert_eq!(told["items"][2]["documents"], 2);
    assert_eq!(told["items"][3]["as"], "unknown");
    let distance = |at: usize| told["pairs"][at]["distance"].as_f64();
    assert!(distance(0) < distance(1) && distance(2).is_none(), "{told}");
    bench.file("ratings.tsv", "first\tsecond\trating\nflu\tfever\t9\nflu\tcar\t1\nfever\tcar\t3\n");
    let told = json(&bench, &["corpus", "check", "a.corpus", "--ratings", "ratings.tsv", "--least", "0.9"], 0);
    assert_eq!(told["spearman"], 1.0);
    bench.file("wrong.tsv", "flu\tfever\t1\nflu\tcar\t9\nfever\tcar\t5\n");
    assert_eq!(
        bench.run(&["corpus", "check", "a.corpus", "--ratings", "wrong.tsv", "--least", "0"]).status.code(),
        Some(1)
    );
    let (stdout, stderr) = bench.good(&["corpus", "query", "a.corpus", "--pairs", "wrong.tsv"]);
    assert!(stdout.lines().count() == 3 && stderr.contains("a second"), "{stdout}{stderr}");
}

#[test]
fn queries_become_records() {
    let bench = Bench::new();
    let log = "AnonID\tQuery\tQueryTime\n7\tgood wine\tx\n9\tknee\tx\n7\taccent marks\tx\n7\taccent marks\tx\n";
    bench.file("log.tsv", log);
    bench.good(&["extract", "log.tsv", "--person", "AnonID", "--column", "Query", "-o", "people.jsonl"]);
    let lines = std::fs::read_to_string(bench.at("people.jsonl")).unwrap();
    assert_eq!(lines, "[\"good wine\",\"accent mark\"]\n[\"knee\"]\n");
}

#[test]
fn what_cannot_be_used_is_refused() {
    let bench = Bench::new();
    bench.file("a.txt", "flu and fever");
    bench.file("t.csv", "id,text\n1,flu\n");
    bench.good(&["corpus", "build", "a.txt", "-o", "a.corpus"]);
    let mut bytes = std::fs::read(bench.at("a.corpus")).unwrap();
    bytes[15] = b'7';
    bench.file("other.corpus", &bytes);
    bytes.truncate(30);
    bytes[15] = b'1';
    bench.file("cut.corpus", bytes);
    for (args, problem) in [
        (&["corpus", "query", "other.corpus", "flu", "fever"][..], "another version"),
        (&["corpus", "query", "cut.corpus", "flu", "fever"], "damaged"),
        (&["corpus", "query", "a.txt", "flu", "fever"], "not a corpus"),
        (&["corpus", "check", "none.corpus"], "cannot read"),
        (&["corpus", "build", "a.txt", "-o", "a.corpus"], "exists already"),
        (&["corpus", "build", "t.csv", "-o", "b.corpus"], "--column"),
        (&["extract", "t.csv", "--column", "none", "-o", "x.jsonl"], "--column"),
        (&["extract", "t.csv", "--column", "id", "-o", "x.jsonl"], "no phrase"),
        (&["extract", "t.csv", "--column", "text", "-o", "x"], "format"),
    ] {
        let error = bench.bad(args);
        assert!(error.contains(problem), "{args:?}: {error}");
    }
}

#[test]
fn what_cannot_be_attacked_is_counted() {
    let bench = Bench::new();
    bench.file("a.txt", "flu and fever");
    bench.good(&["corpus", "build", "a.txt", "-o", "a.corpus"]);
    // A release whose words nobody knows, whose items stand alone, and one with a single record for an item.
    let claim = |n: u32| {
        serde_json::json!({
            "format": "disjoin/claim", "version": 1, "form": "recoded", "method": "apriori", "made_by": "a test",
            "promised": "", "adversary": "", "k": 2, "promise": { "kind": "km", "m": 2 }, "suppression": "none",
            "records": n, "blocks": 1,
        })
    };
    for (name, records) in [
        ("unknown", "{\"items\":[1,2],\"count\":3}"),
        ("alone", "{\"items\":[2],\"count\":3}"),
        ("single", "{\"items\":[1,2],\"count\":1}"),
    ] {
        let n = if name == "single" { 1 } else { 3 };
        let terms = if name == "unknown" { ["zyx", "yzx", "xzy"] } else { ["flu", "fever", "flu fever"] };
        let [a, b, c] = terms;
        let data = format!(
            "{{\"format\":\"disjoin/recoded\",\"version\":1,\"records\":{n},\"blocks\":1}}\n{{\"records\":{n},\"groups\":[{{\"terms\":[\"{a}\"]}},{{\"terms\":[\"{b}\",\"{c}\"]}}]}}\n{records}\n"
        );
        std::fs::create_dir(bench.at(name)).unwrap();
        bench.file(&format!("{name}/claim.json"), claim(n).to_string());
        bench.file(&format!("{name}/transactions.jsonl"), data);
        let told = json(&bench, &["attack", name, "--corpus", "a.corpus"], 0);
        assert_eq!(
            (&told["coverage"]["generalised"], &told["coverage"]["attacked"]),
            (&1.into(), &0.into()),
            "{name}: {told}"
        );
        let why = match name {
            "unknown" => &told["coverage"]["unknown"],
            "alone" => &told["coverage"]["rows_without_context"],
            _ => &told["coverage"]["single_row"],
        };
        assert!(why.as_u64().unwrap() > 0, "{name}: {told}");
    }
}

/// Notes of which each part of the records has a recoding of its own.
#[test]
fn several_recodings_are_judged_by_their_custody() {
    let bench = bench();
    let protect = ["protect", "notes.jsonl", "--method", "lra", "-k", "3", "-m", "1", "--fanout", "4", "--block", "60"];
    bench.good(&[&protect[..], &["-o", "local"]].concat());
    let attack = ["attack", "local", "--corpus", "words.corpus", "--original", "notes.jsonl"];
    let output = bench.run(&[&attack[..], &["--json"]].concat());
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let recodings = told["recodings"].as_array().unwrap();
    assert!(recodings.len() > 2, "{told}");
    let sum: u64 = recodings.iter().map(|of| of["cells"].as_u64().unwrap()).sum();
    assert_eq!(told["coverage"]["cells"], sum);
    for of in told["attacks"].as_array().unwrap() {
        assert_eq!(of["score"]["added"].as_u64().unwrap() + of["score"]["original"].as_u64().unwrap(), sum);
        assert_eq!(of["score"]["precision"]["of"], of["eliminated"]);
    }
    let shown = text(&bench.run(&attack).stdout);
    assert!(shown.contains(&format!("in {} recodings", recodings.len())), "{shown}");
    let few = json(&bench, &["attack", "local", "--corpus", "words.corpus", "--rows", "2"], 0);
    assert!(few["coverage"]["rows_left_out"].as_u64().unwrap() > 0, "{few}");
    assert!(bench.bad(&[&attack[..], &["--keep"]].concat()).contains("--keep"));
    // Without custody nobody knows who is where; with that of another file neither.
    bench.file("other.jsonl", std::fs::read_to_string(bench.at("notes.jsonl")).unwrap() + "[\"subject0word1\"]\n");
    let said = bench.bad(&["attack", "local", "--original", "other.jsonl"]);
    assert!(said.contains("other.jsonl") && said.contains("digest"), "{said}");
    std::fs::rename(bench.at("local/custody"), bench.at("kept")).unwrap();
    let said = bench.bad(&attack);
    assert!(said.contains("notes.jsonl") && said.contains("--custody"), "{said}");
    let again = bench.run(&[&attack[..], &["--custody", "kept", "--json"]].concat());
    assert_eq!(text(&again.stdout), text(&output.stdout));
}

/// Two topics in one group, and a policy that allows no other.
#[test]
fn groups_that_cannot_be_repaired_are_left_as_they_are() {
    let bench = Bench::new();
    bench.file("texts.txt", "heart pressure doctor\n\npressure heart\n\nknee injury ankle\n\ninjury knee sport\n");
    bench.good(&["corpus", "build", "texts.txt", "-o", "words.corpus"]);
    bench.file("ward.dat", "heart pressure\nheart pressure doctor\nknee injury\nknee injury ankle\n");
    bench.file("privacy.txt", "pressure\ninjury\n");
    bench.file("utility.txt", "pressure,injury\n");
    let recipe = "\
[input]
file = \"ward.dat\"
[protect]
method = \"coat\"
k = 4
privacy = \"privacy.txt\"
utility = \"utility.txt\"
[attack]
corpus = \"words.corpus\"
eliminate = [\"threshold\"]
[repair]
limit = 2.0
";
    bench.file("recipe.toml", recipe);
    let (ran, _) = bench.good(&["run"]);
    assert!(ran.contains("nothing helps: the advantage over the baseline is 0.010"), "{ran}");
    let report = std::fs::read_to_string(bench.at("out/custody/report.md")).unwrap();
    assert!(report.contains("groups were left as they are") && report.contains("coat, k = 4"), "{report}");
}

const RECIPE: &str = "\
[input]
file = \"notes.jsonl\"
[protect]
method = \"coat\"
k = 4
privacy = \"privacy.txt\"
[attack]
corpus = \"words.corpus\"
seed = 0
[measure]
queries = 20
[output]
folder = \"ran\"
";

#[test]
fn a_recipe_is_attacked_by_what_words_mean() {
    let (bench, recipe) = (bench(), RECIPE);
    bench.file("recipe.toml", recipe);
    let ran = bench.good(&["run"]).0;
    assert!(ran.contains("semantic attack weighted: right in ") && ran.contains(", the baseline in "), "{ran}");
    // The same that the attack tells of the same release.
    let by_flags = json(&bench, &["attack", "ran", "--corpus", "words.corpus", "--original", "notes.jsonl"], 0);
    let report = std::fs::read_to_string(bench.at("ran/custody/report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let mut by_flags = by_flags;
    let judged = ["holds", "limits"].map(|key| by_flags.as_object_mut().unwrap().remove(key).unwrap());
    assert_eq!((&report["attacks"], &judged[0]), (&by_flags, &true.into()));
    assert_eq!(judged[1][0]["key"], "limits.advantage");
    assert_eq!(report["recipe"]["attack"]["eliminate"].as_array().unwrap().len(), 7);
    let page = |part: &str| std::fs::read_to_string(bench.at("ran").join(part).join("report.html")).unwrap();
    let (inside, public) = (page("custody"), page("release"));
    assert!(inside.contains("; the baseline is ") && inside.contains("How much attacks find"), "{inside}");
    assert!(public.contains("Semantic attacks") && !public.contains("baseline"), "{public}");
    assert!(!public.contains("words.corpus") && !public.contains("How much attacks find"));
}

#[test]
fn a_recipe_limits_and_repairs_what_words_mean() {
    let (bench, recipe) = (bench(), RECIPE);
    // A limit that is broken.
    bench.file(
        "recipe.toml",
        recipe.replace("seed = 0", "eliminate = [\"redistribution\"]\n[limits]\nadvantage = 0.01"),
    );
    let output = bench.run(&["run"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("limits.advantage"));
    // Groups are repaired where it is asked for.
    let broken = "eliminate = [\"redistribution\"]\n[limits]\nadvantage = 0.01\n[repair]\nlimit = 3.0";
    bench.file("recipe.toml", recipe.replace("seed = 0", broken).replace("\"ran\"", "\"repaired\""));
    let output = bench.run(&["run"]);
    assert!(text(&output.stdout).contains("groups were repaired in"), "{}", text(&output.stdout));
    let report = std::fs::read_to_string(bench.at("repaired/custody/report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let attack = &report["repaired"]["attacks"][0];
    assert_eq!(attack["after"], report["attacks"]["attacks"][0], "what is told is that of what is published");
    let precision = |of: &serde_json::Value| of["score"]["precision"]["share"].as_f64().unwrap();
    assert!(precision(&attack["after"]) < precision(&attack["before"]), "{attack}");
    bench.good(&["verify", "repaired", "--original", "notes.jsonl"]);
    let page = |part: &str| std::fs::read_to_string(bench.at("repaired").join(part).join("report.html")).unwrap();
    assert!(page("custody").contains("groups were repaired") && !page("release").contains("repaired"));
    // Nothing is tried if nothing is named.
    bench.file("recipe.toml", recipe.replace("seed = 0", "eliminate = []"));
    assert!(!bench.good(&["run"]).0.contains("semantic attack "));
}

#[test]
fn a_recipe_with_what_words_mean_is_checked() {
    let (bench, recipe) = (bench(), RECIPE);
    bench.file("recipe.toml", recipe);
    // What is known here is said by `recipe check`.
    assert!(bench.good(&["recipe", "check"]).0.contains("rows = 500"));
    for (from, to, place) in [
        ("seed = 0", "counts = \"counts.csv\"", "recipe.toml:9: attack.counts"),
        ("seed = 0", "rows = 0", "recipe.toml:9: attack.rows"),
        ("seed = 0", "[limits]\nadvantage = 2", "recipe.toml:10: limits.advantage"),
        ("seed = 0", "[repair]\nlimit = 0.5", "recipe.toml:10: repair.limit"),
        ("seed = 0", "eliminate = []\n[repair]\nlimit = 1.5", "recipe.toml:11: repair.limit"),
        ("corpus = \"words.corpus\"\nseed = 0", "[repair]\nlimit = 1.5", "recipe.toml:9: repair.limit"),
        ("seed = 0", "eliminate = [\"groop\"]", "recipe.toml:9"),
        ("seed = 0", "corpse = 1", "recipe.toml:9"),
        ("method = \"coat\"\nk = 4\nprivacy = \"privacy.txt\"", "k = 4", "recipe.toml:6: attack.corpus"),
        ("words.corpus", "notes.jsonl", "not a corpus"),
    ] {
        bench.file("recipe.toml", recipe.replace(from, to));
        let said = bench.bad(&["run"]);
        assert!(said.contains(place), "{to}: {said}");
    }
    // A table of counts in place of a corpus; its faults have their line.
    bench.file("counts.csv", "first,second,count\n,,100\nsubject0word1,,many\n");
    bench.file("recipe.toml", recipe.replace("corpus = \"words.corpus\"", "counts = \"counts.csv\""));
    assert!(bench.bad(&["run"]).contains("counts.csv:3"));
}
