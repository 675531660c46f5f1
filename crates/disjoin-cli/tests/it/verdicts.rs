//! One verdict: the exit codes and limits of `verify`, `attack` and `measure` are those of `run`, for every form, on releases that
//! keep their limits and on releases that do not.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::common::text;
use crate::forms::{all, bench};

/// The limits that a command found, by key: the value, the limit, and whether it is kept.
fn limits(result: &Value) -> BTreeMap<String, (String, Value, bool)> {
    let told = result["limits"].as_array().cloned().unwrap_or_default();
    let one = |limit: &Value| {
        let key = limit["key"].as_str().unwrap().to_owned();
        (key, (format!("{:.9}", limit["value"].as_f64().unwrap()), limit["limit"].clone(), limit["holds"] == true))
    };
    told.iter().map(one).collect()
}

/// Limits that a release of each form breaks, as recipes and as flags write them.
const STRICT: [(&str, &str, &[&str]); 5] = [
    ("disassociated", "reidentification_risk = 0.01", &["--max-reidentification-risk", "0.01"]),
    (
        "classes",
        "inference_gain = 0.0\nbelief_change = 0.0",
        &["--max-inference-gain", "0", "--max-belief-change", "0"],
    ),
    ("mixed", "inference_gain = 0.0\nbelief_change = 0.0", &["--max-inference-gain", "0", "--max-belief-change", "0"]),
    ("split", "knowledge_breach = 0.01", &["--max-knowledge-breach", "0.01"]),
    ("recoded", "advantage = 0.0", &["--max-advantage", "0"]),
];

#[test]
fn verbs_and_runs_agree() {
    let bench = bench();
    let json = |arguments: &[&str]| {
        let output = bench.run(&[arguments, &["--json", "--quiet"]].concat());
        let result: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|e| panic!("{arguments:?}: {e}\n{}\n{}", text(&output.stdout), text(&output.stderr)));
        (output.status.code().unwrap(), result)
    };
    let mut broken = 0;
    for form in all() {
        for strict in [false, true] {
            let found = STRICT.iter().find(|(name, ..)| *name == form.name);
            let (written, flags) = match (strict, found) {
                (true, Some((_, written, flags))) => (*written, *flags),
                (true, None) => continue,
                (false, _) => ("", &[][..]),
            };
            let recipe =
                format!("{}\n[limits]\n{written}\n[repair]\nrounds = 0\n[output]\nfolder = \"out\"\n", form.recipe);
            bench.file("strict.toml", recipe);
            let (of_run, run) = json(&["run", "strict.toml"]);
            let of_verify = match form.name {
                "noisy" => json(&["verify", "out"]).0,
                _ => json(&[&["verify", "out"], form.original].concat()).0,
            };
            let (of_attack, attack) = match form.name {
                "noisy" => (0, Value::Null),
                _ => json(&[&["attack", "out"], form.original, flags].concat()),
            };
            let (of_measure, _) = json(&[&["measure", "out"], form.original].concat());
            let worst = of_verify.max(of_attack).max(of_measure);
            assert_eq!(of_run, worst, "{} {written}: {run:#?}\n{attack:#?}", form.name);
            let (of_run, of_attack) = (limits(&run), limits(&attack));
            for (key, found) in &of_attack {
                assert_eq!(of_run.get(key), Some(found), "{} {key}", form.name);
            }
            broken += u32::from(worst == 1);
            std::fs::remove_dir_all(bench.at("out")).unwrap();
        }
    }
    assert!(broken >= 4, "{broken}");
}
