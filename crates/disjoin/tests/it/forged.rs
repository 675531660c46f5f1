//! Claims that lie: every field of every form's claim, missing, wrong, larger, smaller, of another type, or one too many. `verify`
//! never says that a promise holds which it did not check.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use disjoin::Unobserved;
use disjoin::read::Files;
use disjoin::recipe::{resolve, written};
use disjoin::run::{Answer, Input, Originally, protect, verify};
use serde_json::{Value, json};

const SETS: &str = "[input]\nfile = \"sets.dat\"\n[protect]\nk = 3\n";
const TABLE: &str = "[input]\nfile = \"people.csv\"\n[table]\nquasi = [\"age\", \"sex\"]\nnumeric = [\"age\"]\n";
const ILL: &str = "sensitive = [\"ill\"]\nidentifier = [\"name\", \"job\", \"items\"]\n";
const BOTH: &str = "sensitive = [\"job\", \"ill\"]\nidentifier = [\"name\", \"items\"]\n";

/// One release for each kind of claim.
fn recipes() -> Vec<(&'static str, String)> {
    let table = |columns: &str, protect: &str, rest: &str| format!("{TABLE}{columns}{rest}[protect]\nk = 3\n{protect}");
    let criteria = "[table.criteria]\nl = 2\nt = 0.6\nbeta = 4.0\n";
    let hide = "[table.hide]\nconfidence = 0.9\nsupport = 2\n";
    let mixed = "sensitive = [\"ill\"]\nidentifier = [\"name\", \"job\"]\nset = \"items\"\n";
    let noise =
        |method: &str| format!("{SETS}method = \"{method}\"\n[protect.noise]\nepsilon = 5\n").replace("k = 3\n", "");
    vec![
        ("sensitive terms", format!("{SETS}sensitive = [\"7\"]\nl_diversity = 3\n")),
        ("published", format!("{SETS}promise = \"published\"\n")),
        ("classes", table(BOTH, "", criteria)),
        ("rules", table(ILL, "method = \"association-hiding\"\n", hide)),
        ("mixed", table(mixed, "", "")),
        ("break-merge", table(BOTH, "method = \"break-merge\"\n", "")),
        ("anatomy", table(ILL, "method = \"anatomy\"\n", "[table.criteria]\nl = 2\n")),
        ("apriori", format!("{SETS}method = \"apriori\"\nfanout = 3\n")),
        ("coat", format!("{SETS}method = \"coat\"\nprivacy = \"privacy.txt\"\nutility = \"utility.txt\"\n")),
        ("privbasis", noise("privbasis") + "top = 5\n"),
        ("diffpart", noise("diffpart")),
    ]
}

fn originals(folder: &Path) {
    let sets: String = (0..120).map(|i| format!("{} {} {}\n", i % 4, 4 + i % 3, 7 + i % 11)).collect();
    fs::write(folder.join("sets.dat"), sets).unwrap();
    let mut people = String::from("name,age,sex,job,ill,items\n");
    for i in 0..90 {
        let (sex, job) = (["F", "M"][i % 2], ["a", "b", "c"][i % 3]);
        let ill = ["flu", "gout", "cold", "none"][(i / 2 + i / 7) % 4];
        people += &format!("p{i},{},{sex},{job},{ill},{};{}\n", 20 + i % 30, i % 4, 4 + i % 3);
    }
    fs::write(folder.join("people.csv"), people).unwrap();
    fs::write(folder.join("privacy.txt"), "0 7\n1 8\n2 17\n").unwrap();
    fs::write(folder.join("utility.txt"), "7 8 9 10 11\n12 13 14 15 16 17\n0 1\n").unwrap();
}

fn check(folder: &Path) -> disjoin::Result<Answer> {
    verify(folder, None, &Originally::default(), &Files, &Unobserved)
}

/// The paths of all that a claim holds: `criteria.0.k`.
fn paths(value: &Value, prefix: &str, all: &mut Vec<String>) {
    let dot = if prefix.is_empty() { "" } else { "." };
    let children: Vec<(String, &Value)> = match value {
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), value)).collect(),
        Value::Array(items) => items.iter().enumerate().map(|(at, value)| (at.to_string(), value)).collect(),
        _ => Vec::new(),
    };
    for (name, child) in children {
        let path = format!("{prefix}{dot}{name}");
        all.push(path.clone());
        paths(child, &path, all);
    }
}

fn at<'a>(claim: &'a mut Value, path: &str) -> &'a mut Value {
    path.split('.').fold(claim, |value, part| match part.parse::<usize>() {
        Ok(at) if value.is_array() => &mut value[at],
        _ => &mut value[part],
    })
}

/// Words that claims have elsewhere.
const OTHERS: &str = "none published algorithm-aware program-aware greedy weighed size multiplicity quasi sensitive other ordered hierarchical \
                      terms occurrences listed assumed-public";

/// What may stand there instead.
fn lies(told: &Value) -> Vec<Value> {
    let mut lies = vec![
        Value::Null,
        json!(0),
        json!(1),
        json!(2),
        json!(1000),
        json!(-1),
        json!(1.5),
        json!(u64::MAX),
        json!(1e300),
        json!(true),
        json!(false),
        json!(""),
        json!("Nobody can ever be found: k = 1000"),
        json!("\u{1b}[2J\u{202e}"),
        json!([]),
        json!({}),
        json!([told]),
    ];
    match told {
        Value::Number(n) => {
            let n = n.as_f64().unwrap();
            let whole = |n: f64| if told.is_u64() { json!(n as i64) } else { json!(n) };
            lies.extend([n + 1.0, n - 1.0, n * 2.0, n * 10.0].map(whole));
            lies.extend([json!(n / 2.0), json!(n.to_string())]);
        }
        Value::String(text) => {
            lies.extend([json!(format!("{text} ")), json!(format!("{text}0")), json!(text.to_uppercase())]);
            lies.extend(OTHERS.split(' ').map(|other| json!(other)));
            if let Ok(n) = text.parse::<f64>() {
                lies.extend([n + 1.0, n / 2.0, n * 2.0, 0.0].map(|n| json!(n.to_string())));
            }
        }
        Value::Array(items) => {
            let again = items.iter().chain(items.first()).cloned().collect::<Vec<_>>();
            lies.extend([json!(again), json!(&items[..items.len().saturating_sub(1)])]);
            lies.push(items.iter().rev().cloned().collect());
        }
        Value::Object(fields) => {
            let mut more = fields.clone();
            more.insert("proved_by".into(), json!("everybody"));
            lies.push(Value::Object(more));
        }
        _ => {}
    }
    lies.retain(|lie| lie != told);
    lies
}

/// A claim with one thing changed: at which path, and how.
fn forgeries(honest: &Value) -> Vec<(String, Value)> {
    let mut all = Vec::new();
    paths(honest, "", &mut all);
    let mut forged = Vec::new();
    for path in all {
        let mut claim = honest.clone();
        let told = at(&mut claim, &path).clone();
        for lie in lies(&told) {
            let mut claim = honest.clone();
            *at(&mut claim, &path) = lie;
            forged.push((path.clone(), claim));
        }
        let (parent, name) = path.rsplit_once('.').unwrap_or(("", &path));
        let mut claim = honest.clone();
        let holder = if parent.is_empty() { &mut claim } else { at(&mut claim, parent) };
        if let Some(fields) = holder.as_object_mut() {
            fields.remove(name);
            forged.push((path.clone(), claim));
        }
    }
    let mut claim = honest.clone();
    claim["also"] = json!("k = 1000");
    forged.push(("also".into(), claim));
    forged
}

/// What an honest reader finds out about a table: the size of the smallest class, the least number of different values in one, and
/// by how much more than 1 a value is more frequent in a class than overall.
fn counted(folder: &Path, claim: &Value) -> (u64, u64, f64) {
    let columns = claim["columns"].as_array().unwrap();
    let of =
        |role: &str| columns.iter().enumerate().filter(|(_, c)| c["role"] == role).map(|(i, _)| i).collect::<Vec<_>>();
    let (quasi, sensitive) = (of("quasi"), of("sensitive"));
    let text = fs::read_to_string(folder.join("data.csv")).unwrap();
    let mut classes: BTreeMap<Vec<&str>, Vec<Vec<&str>>> = BTreeMap::new();
    for line in text.lines().skip(1) {
        // Cells of these tables hold no commas but in ranges, which stand in quotes.
        let cells: Vec<&str> = split_cells(line);
        let class = quasi.iter().map(|&i| cells[i]).collect();
        classes.entry(class).or_default().push(sensitive.iter().map(|&i| cells[i]).collect());
    }
    let k = classes.values().map(Vec::len).min().unwrap() as u64;
    let different = |rows: &Vec<Vec<&str>>| {
        (0..sensitive.len()).map(|i| rows.iter().map(|row| row[i]).collect::<BTreeSet<_>>().len()).min().unwrap_or(0)
    };
    let share = |rows: &[&Vec<&str>], i: usize, value: &str| {
        rows.iter().filter(|row| row[i] == value).count() as f64 / rows.len() as f64
    };
    let all: Vec<&Vec<&str>> = classes.values().flatten().collect();
    let mut gain = 0.0_f64;
    for rows in classes.values() {
        let rows: Vec<&Vec<&str>> = rows.iter().collect();
        for (row, i) in rows.iter().flat_map(|row| (0..sensitive.len()).map(move |i| (row, i))) {
            gain = gain.max(share(&rows, i, row[i]) / share(&all, i, row[i]) - 1.0);
        }
    }
    (k, classes.values().map(different).min().unwrap() as u64, gain)
}

fn split_cells(line: &str) -> Vec<&str> {
    let (mut cells, mut start, mut quoted) = (Vec::new(), 0, false);
    for (i, byte) in line.bytes().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            b',' if !quoted => {
                cells.push(&line[start..i]);
                start = i + 1;
            }
            _ => {}
        }
    }
    cells.push(&line[start..]);
    cells
}

/// Whether no rule from quasi-identifiers leads to a sensitive value as surely as a claim excludes.
fn no_rule_is_left(folder: &Path, claim: &Value) -> bool {
    let Some(confidence) = claim["associations"]["confidence"].as_f64() else { return false };
    let Some(support) = claim["associations"]["support"].as_u64() else { return false };
    let text = fs::read_to_string(folder.join("data.csv")).unwrap();
    let rows: Vec<Vec<&str>> = text.lines().skip(1).map(split_cells).collect();
    // age, sex, ill: the first two are quasi-identifiers.
    let shows = |row: &[&str], mask: usize| (0..2).filter(|i| mask >> i & 1 == 1).map(|i| row[i].to_owned()).collect();
    (1..4).all(|mask| {
        let mut counts: BTreeMap<Vec<String>, BTreeMap<&str, u64>> = BTreeMap::new();
        rows.iter().for_each(|row| *counts.entry(shows(row, mask)).or_default().entry(row[2]).or_default() += 1);
        counts.values().all(|values| {
            let all: u64 = values.values().sum();
            let is_rule = |(value, &n): (&&str, &u64)| {
                *value != "*" && n >= support && n as f64 >= confidence * all as f64 - 1e-9
            };
            support > 0 && confidence > 0.0 && confidence <= 1.0 && !values.iter().any(is_rule)
        })
    })
}

/// In how few records a pair of items, or one, of recoded transactions in one block is.
fn rarest_pair(folder: &Path) -> u64 {
    let text = fs::read_to_string(folder.join("transactions.jsonl")).unwrap();
    let mut supports: BTreeMap<(u64, u64), u64> = BTreeMap::new();
    for line in text.lines().skip(2) {
        let record: Value = serde_json::from_str(line).unwrap();
        let items: Vec<u64> = record["items"].as_array().unwrap().iter().map(|item| item.as_u64().unwrap()).collect();
        for (i, &a) in items.iter().enumerate() {
            items[i..].iter().for_each(|&b| *supports.entry((a, b)).or_default() += record["count"].as_u64().unwrap());
        }
    }
    supports.into_values().min().unwrap()
}

/// Whether every criterion of a claim is true: by counting, or by what the honest verdict read.
fn criteria_are_true(folder: &Path, claim: &Value, honest: &Value) -> bool {
    let read = |kind: &str| {
        let lines = honest["criteria"].as_array().into_iter().flatten();
        lines.filter(|line| line["criterion"]["is"] == kind).find_map(|line| line["worst"]["value"].as_f64())
    };
    let counted = folder.join("data.csv").is_file().then(|| counted(folder, claim));
    claim["criteria"].as_array().into_iter().flatten().all(|criterion| {
        let kind = criterion["is"].as_str().unwrap();
        let limit = |key: &str| criterion[key].as_f64().unwrap();
        match (kind, counted) {
            ("k-anonymity", Some((k, ..))) => limit("k") >= 2.0 && limit("k") <= k as f64,
            ("distinct-diversity", Some((_, l, _))) => limit("l") <= l as f64,
            ("k-anonymity", None) => limit("k") >= 2.0 && limit("k") <= read(kind).unwrap(),
            ("distinct-diversity", None) => limit("l") <= read(kind).unwrap(),
            ("closeness", _) => read(kind).is_some_and(|worst| limit("t") >= worst - 1e-9),
            ("likeness", Some((.., gain))) => limit("beta") >= gain - 1e-9,
            ("frequency", _) => read(kind).is_some_and(|worst| limit("alpha") >= worst - 1e-9),
            ("knowledge-breach", _) => read(kind).is_some_and(|worst| limit("most") >= worst - 1e-9),
            _ => false,
        }
    })
}

/// Whether a claim that was changed at one path, and whose words were made to fit, says less than the honest one did.
fn says_less(path: &str, honest: &mut Value, forged: &mut Value) -> bool {
    let (before, now) = (at(honest, path).clone(), at(forged, path).clone());
    let number = |value: &Value| value.as_f64().or_else(|| value.as_str().and_then(|text| text.parse().ok()));
    let is_lower = || number(&now).zip(number(&before)).is_some_and(|(now, before)| now <= before);
    let is_higher = || number(&now).zip(number(&before)).is_some_and(|(now, before)| now >= before);
    match path {
        "promise" => before == json!("algorithm-aware") && now == json!("published"),
        // An l that is not told promises nothing; a term of no chunk can be called sensitive.
        "parameters.sensitive" | "parameters.sensitive.l" | "sets" | "associations" | "utility" => {
            now.is_null() || is_lower()
        }
        "parameters.sensitive.rule" => now == json!("size") || now.is_null(),
        "sets.promise" => now == json!("published"),
        "k" | "promise.m" => is_lower(),
        "promise.subsets" => now == json!(false),
        "delta" => is_higher(),
        _ => false,
    }
}

/// Whether it may be said that a forged claim holds: what was changed is listed as not checked, or true all the same.
fn is_fair(
    name: &str,
    changed: &str,
    forged: &mut Value,
    honest: &Value,
    verdict: &Value,
    answer: &Value,
    release: &Path,
) -> bool {
    let plain: Vec<&str> = changed.split('.').filter(|part| part.parse::<u32>().is_err()).collect();
    let plain = plain.join(".");
    let unchecked = answer["unchecked"].as_array().unwrap();
    let is_told = unchecked.iter().any(|it| {
        let what = it["what"].as_str().unwrap();
        plain == what || (what != "ledger" && plain.starts_with(&format!("{what}.")))
    });
    // Words of version 1 are not read.
    let is_prose = forged["version"] == 1 && ["promised", "adversary", "version"].contains(&changed);
    // Where version 2 had the same words, the number alone says nothing else.
    let is_older = changed == "version" && forged["version"] == 2;
    if changed.starts_with("associations.") {
        // What version 1 leaves out has its default.
        let told = &mut forged["associations"];
        told["confidence"].is_null().then(|| told["confidence"] = json!(0.5));
        told["support"].is_null().then(|| told["support"] = json!(2));
    }
    let is_true = forged["version"] == 1
        && (changed.starts_with("criteria") && criteria_are_true(release, forged, verdict)
            || name == "apriori" && changed == "k" && forged["k"].as_u64() <= Some(rarest_pair(release))
            || changed.starts_with("associations.") && no_rule_is_left(release, forged)
            || says_less(changed, &mut honest.clone(), &mut forged.clone()));
    is_told || is_prose || is_older || is_true
}

#[test]
fn no_forged_claim_is_said_to_hold() {
    let folder = tempfile::tempdir().unwrap();
    originals(folder.path());
    let mut believed = Vec::new();
    let (mut tried, mut refused, mut refuted, mut held) = (0, 0, 0, 0);
    for (name, text) in recipes() {
        let text = format!("{text}[output]\nfolder = \"{name}\"\n");
        let recipe = resolve(&written::parse(&text, "recipe.toml").unwrap(), folder.path()).unwrap();
        protect(&recipe, Input::Named(&Files), &Unobserved).unwrap();
        let release = folder.path().join(name).join("release");
        let path = release.join("claim.json");
        let honest: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let verdict = check(&release).unwrap();
        assert!(verdict.judged.holds, "{name}");
        for version in [3, 1] {
            for (changed, mut forged) in forgeries(&honest) {
                if changed != "version" {
                    forged["version"] = json!(version);
                }
                fs::write(&path, forged.to_string()).unwrap();
                tried += 1;
                let answer = match check(&release) {
                    Err(error) => {
                        assert!(matches!(error, disjoin::Error::Input { .. }), "{name} {changed}: {error}");
                        refused += 1;
                        continue;
                    }
                    Ok(answer) => answer,
                };
                let text = answer.page.text();
                assert!(
                    !(text.contains('\u{1b}') || answer.judged.holds && text.contains("Nobody can")),
                    "{name} {changed}: {text}"
                );
                if !answer.judged.holds {
                    refuted += 1;
                    continue;
                }
                held += 1;
                if !is_fair(name, &changed, &mut forged, &honest, &verdict.json, &answer.json, &release) {
                    believed.push(format!("{name}: {changed} is now {}", at(&mut forged, &changed)));
                }
            }
        }
        fs::write(&path, honest.to_string()).unwrap();
    }
    assert!(believed.is_empty(), "{believed:#?}");
    println!("{tried} forgeries: {refused} refused, {refuted} refuted, {held} held");
    assert!(tried >= 5_000 && refuted > 100, "{tried} {refuted}");
}
