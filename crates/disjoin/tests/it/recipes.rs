//! Recipes: what is missing has its default, and what is wrong is refused with the key, the line, and what to write instead.

use std::path::Path;

use disjoin::attack::summary::Choice;
use disjoin::data::Dataset;
use disjoin::observer::Observer;
use disjoin::publish::Results;
use disjoin::read::{Options, read_bytes};
use disjoin::recipe::resolve::in_file;
use disjoin::recipe::written::{self, Written, parse, schema};
use disjoin::recipe::{Answers, Recipe, read_recipe, resolve, template};
use disjoin::release::Promise;
use disjoin::report::{Attacked, Repaired, Run, SweepRow};
use disjoin::run::open::Original;
use disjoin::run::sweep::{Grid, id, recipes, row};
use disjoin::run::{Input, run};
use disjoin::{Error, Place, Unobserved};

fn resolved(text: &str) -> disjoin::Result<Recipe> {
    let written = parse(text, "recipe.toml")?;
    resolve(&written, Path::new("base")).map_err(|error| in_file(error, text, "recipe.toml"))
}

#[test]
fn what_is_missing_has_its_default() {
    let recipe = resolved("[input]\nfile = \"x.dat\"\n").unwrap();
    assert_eq!(recipe.input.file, Path::new("base/x.dat"));
    assert_eq!((recipe.protect.k, recipe.protect.m, recipe.protect.max_cluster), (5, 2, 10));
    assert_eq!(recipe.protect.promise, Promise::AlgorithmAware);
    assert_eq!(recipe.attack.run, Choice::usual(Promise::AlgorithmAware));
    assert!(!recipe.attack.run.contains(&Choice::Rerun) && recipe.attack.witnesses == 1_000);
    let aware = resolved("input.file = \"x\"\nprotect.promise = \"program-aware\"\n").unwrap();
    assert_eq!(aware.attack.run, Choice::ALL);
    let limits = recipe.limits.written;
    assert!((limits.reidentification_risk.unwrap() - 0.2).abs() < 1e-12 && limits.certain_disclosures == Some(0));
    assert_eq!((recipe.repair.rounds, recipe.output.folder.as_path()), (3, Path::new("base/out")));
    // Groups hold two crowds.
    assert_eq!(resolved("input.file = \"x\"\nprotect.k = 20\n").unwrap().protect.max_cluster, 40);
    let paper = resolved("input.file = \"x\"\nprotect.grouping = \"paper\"\n").unwrap();
    assert_eq!(paper.protect.max_cluster, 30);
}

/// Each wrong recipe: its text, the line, and what the message must say; none may repeat the value `secret`.
#[test]
fn wrong_recipes_are_refused_with_key_line_and_remedy() {
    let wrong: &[(&str, u64, &[&str])] = &[
        ("[input]\nfile = \"x\"\n[protect]\nkk = 5\n", 4, &["kk", "did you mean k?"]),
        ("[input]\nfile = \"x\"\n\n[protct]\nk = 5\n", 4, &["protct", "did you mean protect?"]),
        ("[input]\nfile = \"x\"\n[protect]\nk = \"secret\"\n", 4, &["k", "expected a whole number"]),
        ("[input]\nfile = \"x\"\n[protect]\nk = -3\n", 4, &["k", "expected a whole number"]),
        ("[input]\nfile = \"x\"\n[protect]\n\nk = 1\n", 5, &["protect.k", "at least 2", "3 to 20"]),
        ("[input]\nfile = \"x\"\n[protect]\nm = 0\n", 4, &["protect.m", "at least 1"]),
        (
            "[input]\nfile = \"x\"\n[protect]\nk = 10\nmax_cluster = 12\n",
            5,
            &["protect.max_cluster", "at least 2k", "20"],
        ),
        ("[input]\nfile = \"x\"\n[protect]\npromise = \"algoritm-aware\"\n", 4, &["did you mean algorithm-aware?"]),
        ("[input]\nfile = \"x\"\n[protect]\nsensitive = \"secret\"\n", 4, &["sensitive", "a list in [ ]"]),
        ("[input]\nfile = \"x\"\n[protect]\nsensitive = \"was expected secret\"\n", 4, &["a list in [ ]"]),
        (
            "[input]\nfile = \"x\"\n[protect]\npromise = \"x`y`secret\"\n",
            4,
            &["published, algorithm-aware, program-aware"],
        ),
        ("[input]\nfile = \"x\"\n[protect]\nl_diversity = 3\n", 4, &["protect.l_diversity", "sensitive = [\"...\"]"]),
        ("[protect]\nk = 5\n", 0, &["input.file", "file = \"patients.csv\""]),
        ("[input]\nfile = \"x\"\nseparator = \"secret\"\n", 3, &["input.separator", "one character", "tab"]),
        ("[input]\nfile = \"x\"\n[attack]\nrun = [\"covr\"]\n", 4, &["did you mean cover?"]),
        (
            "[input]\nfile = \"x\"\n[limits]\nreidentification_risk = 20\n",
            4,
            &["limits.reidentification_risk", "0.2 for one in five"],
        ),
        ("[input]\nfile = \"x\"\n[limits]\nterms_lost = 1.5\n", 4, &["limits.terms_lost", "out of range", "0.1"]),
        // By their former names they stand where they were written.
        (
            "[input]\nfile = \"x\"\n[attack]\nmost_likely = 20\n",
            4,
            &["limits.reidentification_risk", "0.2 for one in five"],
        ),
        ("[input]\nfile = \"x\"\n[measure.at_most]\nterms_lost = 1.5\n", 4, &["terms_lost", "out of range", "0.1"]),
        (
            "[input]\nfile = \"x\"\n[limits]\ncertain_disclosures = 0\n[attack]\nmost_certain = 5\n",
            6,
            &["limits.certain_disclosures", "both", "remove attack.most_certain"],
        ),
        ("[input]\nfile = \"x\"\n[protect]\nfanout = 3\n", 4, &["protect.fanout", "disassociation", "apriori"]),
        ("[input]\nfile = x\n", 2, &["file", "in quotes"]),
        ("[input]\nfile = \"x\"\n[output]\nformat = \"csv\"\n", 4, &["expected one of: jsonl, parquet"]),
    ];
    for (text, line, parts) in wrong {
        let error = resolved(text).unwrap_err();
        let told = format!("{error} | {}", error.hint().unwrap_or_default());
        let Error::Input { place, .. } = &error else { panic!("{told}") };
        let expected = if *line == 0 { Place::file("recipe.toml") } else { Place::line("recipe.toml", *line) };
        assert_eq!(*place, expected, "{told}");
        assert!(parts.iter().all(|part| told.contains(part)), "{text}\n{told}");
        assert!(!told.contains("secret"), "{told}");
        assert!(error.hint().is_some() || told.contains("expected"), "{told}");
    }
}

#[test]
fn the_template_is_a_recipe_with_the_defaults_that_it_tells() {
    let answers = Answers {
        file: "pat\"ients.csv".into(),
        column: Some("diagnoses".into()),
        k: 7,
        m: 3,
        sensitive: vec!["a \"b\"".into(), "c, d".into()],
        folder: "out".into(),
        table: None,
    };
    let text = template(&answers);
    let recipe = resolved(&text).unwrap();
    assert_eq!((recipe.protect.k, recipe.protect.m), (7, 3));
    assert_eq!(recipe.protect.sensitive, answers.sensitive);
    assert_eq!(recipe.input.file, Path::new("base").join(&answers.file));
    assert_eq!(recipe.input.options.column.as_deref(), Some("diagnoses"));
    // Whatever stands behind # on a line of its own can be written out.
    let plain = template(&Answers { sensitive: Vec::new(), column: None, ..answers });
    let is_key = |line: &str| {
        line.strip_prefix("# ").is_some_and(|rest| {
            let is_name = |key: &str| key.chars().all(|c| c.is_ascii_lowercase() || c == '_');
            rest.starts_with("[table") || rest.split_once(" = ").is_some_and(|(key, _)| is_name(key))
        })
    };
    let uncommented: String = plain
        .lines()
        .map(|line| if is_key(line) { format!("{}\n", &line[2..]) } else { format!("{line}\n") })
        .collect();
    let all = parse(&uncommented, "x").unwrap();
    assert!(all.input.format.is_some() && all.limits.query_error.is_some() && all.output.format.is_some());
    assert!(all.old_keys.is_empty());
    // What is further to the right is of other methods; sets and tables have keys of their own.
    let rest = parse(&plain.replace("#     ", ""), "x").unwrap();
    let of_sets = Written { table: None, ..all.clone() };
    assert!(resolve(&of_sets, Path::new("base")).unwrap().table.is_none());
    let limits = written::Limits { information_loss: rest.limits.information_loss, ..written::Limits::default() };
    let input = written::Input { id_column: None, ..all.input.clone() };
    let of_table = Written { input, table: all.table.clone(), limits, ..Written::default() };
    let recipe = resolve(&of_table, Path::new("base")).unwrap();
    let table = recipe.table.unwrap();
    assert_eq!((table.declared.roles.len(), table.criteria.len()), (7, 2));
    assert_eq!(recipe.limits.written.information_loss, Some(0.3));
    let defaults = resolved(&plain).unwrap();
    assert!(defaults.table.is_none());
    assert_eq!(all.protect.max_cluster, Some(defaults.protect.max_cluster));
    assert_eq!((all.measure.top, all.measure.queries), (Some(defaults.measure.top), Some(defaults.measure.queries)));
}

#[test]
fn the_schema_knows_every_key() {
    let schema = schema().to_string();
    for key in ["max_record_terms", "l_diversity", "reidentification_risk", "query_error", "rounds", "folder"] {
        assert!(schema.contains(&format!("\"{key}\"")), "{key}");
    }
    assert!(schema.contains("\"additionalProperties\":false"));
}

/// Few enough that pairs of terms single people out, and with pairs that the paper's cut gives away.
fn baskets() -> (Dataset, disjoin::read::Intake, String) {
    let record = |i: usize| format!("z{},z{},z{},z{}\n", i % 7, 7 + (i + i / 9) % 11, 18 + i % 13, 31 + i % 5);
    let text: String = (0..400).map(record).collect();
    let options = Options { separator: Some(b','), ..Options::default() };
    let (data, intake) = read_bytes("x.dat", text.as_bytes(), &options).unwrap();
    (data, intake, text)
}

#[test]
fn a_run_mends_what_the_attacks_break() {
    let folder = tempfile::tempdir().unwrap();
    let (data, intake, text) = baskets();
    std::fs::write(folder.path().join("x.dat"), &text).unwrap();
    let file = folder.path().join("recipe.toml");
    let written = "[input]\nfile = \"x.dat\"\nseparator = \",\"\n[protect]\nk = 3\npromise = \"published\"\n";
    std::fs::write(&file, written).unwrap();
    let recipe = read_recipe(&file).unwrap();
    let told = Told::default();

    let ran = run(&recipe, Input::Sets(data.clone(), intake.clone()), &told).unwrap();

    assert!(ran.judgement.holds && ran.rounds.len() == 2, "{:?}", ran.judgement);
    assert!(certain(&ran, 0) > 0 && certain(&ran, 1) == 0);
    assert!(matches!(&ran.rounds[1].repaired, Some(Repaired::Chunks(stats)) if stats.terms_set_aside > 0));
    assert_eq!(ran.promise(), Some(Promise::AlgorithmAware));
    let stages = told.0.into_inner().unwrap();
    assert!(stages.iter().any(|stage| stage == "repairing what the attacks broke"), "{stages:?}");
    for file in
        ["release/report.html", "release/claim.json", "custody/report.html", "custody/report.md", "custody/report.json"]
    {
        assert!(recipe.output.folder.join(file).is_file(), "{file}");
    }

    // Without rounds the attack wins, and the run says so.
    let unmended = Recipe { repair: disjoin::recipe::Repair { rounds: 0, limit: None }, ..recipe.clone() };
    let ran = run(&unmended, Input::Sets(data, intake), &Unobserved).unwrap();
    assert!(!ran.judgement.holds && ran.rounds.len() == 1);
    assert!(ran.judgement.limits.iter().any(|limit| limit.key == "limits.certain_disclosures" && !limit.holds));
}

/// Remembers the stages.
#[derive(Default)]
struct Told(std::sync::Mutex<Vec<String>>);

impl Observer for Told {
    fn stage(&self, stage: &str) {
        self.0.lock().unwrap().push(stage.to_owned());
    }
}

/// How many statements of a round are certain.
fn certain(ran: &Run, round: usize) -> u64 {
    let Attacked::Disassociated { summary, .. } = &ran.rounds[round].attacked else { panic!("sets cut into chunks") };
    summary.certain
}

#[test]
fn a_sweep_tries_every_combination_once() {
    let (data, intake, _) = baskets();
    let base = resolved("[input]\nfile = \"x.dat\"\n[attack]\nrun = [\"cover\"]\n[measure]\nqueries = 5\n").unwrap();
    let grid = Grid { k: vec![2, 3, 20], m: vec![1, 2], max_cluster: vec![10, 30], promise: Vec::new() };
    let all = recipes(&base, &grid);
    // Groups below 30 cannot hold two crowds of 20.
    assert_eq!(all.len(), 8);
    // A size that nobody wrote is 2k.
    let sizes = |grid: Grid| recipes(&base, &grid).iter().map(|r| r.protect.max_cluster).collect::<Vec<_>>();
    assert_eq!(sizes(Grid { k: vec![2, 3, 20], m: vec![2], max_cluster: Vec::new(), promise: Vec::new() }), [4, 6, 40]);
    let ids: std::collections::BTreeSet<String> = all.iter().map(|recipe| id(recipe, &intake.sha256)).collect();
    assert_eq!(ids.len(), 8);
    assert_ne!(id(&all[0], &intake.sha256), id(&all[0], "another file"));
    let (folder, sha256) = (tempfile::tempdir().unwrap(), intake.sha256.clone());
    let data = Original::Sets { data, intake, kept: None };
    let results = Results::open(folder.path(), &[]).unwrap();
    let made = || row(&all[0], &data, &sha256, &results, &Unobserved).unwrap();
    assert_eq!(SweepRow { seconds: 0.0, ..made() }, SweepRow { seconds: 0.0, ..made() });
    // Nothing is left of what was tried.
    drop(results);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// Recipes by the former names of keys, and the same by their names of today.
const FORMER: [(&str, &str); 7] = [
    (
        "[input]\nfile = \"x\"\n[attack]\nmost_certain = 3\nmost_likely = 0.5\n",
        "[input]\nfile = \"x\"\n[limits]\ncertain_disclosures = 3\nreidentification_risk = 0.5\n",
    ),
    (
        "[input]\nfile = \"x\"\n[measure]\ntop = 9\n[measure.at_most]\nitemsets_lost = 0.1\nterms_lost = 0.2\n\
         pair_error = 0.3\nquery_error = 0.4\n",
        "[input]\nfile = \"x\"\n[measure]\ntop = 9\n[limits]\nitemsets_lost = 0.1\nterms_lost = 0.2\n\
         pair_error = 0.3\nquery_error = 0.4\n",
    ),
    (
        "[input]\nfile = \"x\"\n[protect]\nmethod = \"apriori\"\nfanout = 3\n[attack]\nmost_beyond_blind = 0.2\n",
        "[input]\nfile = \"x\"\n[protect]\nmethod = \"apriori\"\nfanout = 3\n[limits]\nadvantage = 0.2\n",
    ),
    (
        "[input]\nfile = \"x\"\n[table]\nquasi = [\"a\"]\nsensitive = [\"s\"]\nother = [\"b\"]\nmethod = \"mondrian\"\n\
         most_removed = 0.2\n[table.at_most]\nloss = 0.1\nquery_error = 0.2\nprivacy_loss = 0.3\nrisks = 4.0\n",
        "[input]\nfile = \"x\"\n[protect]\nmethod = \"mondrian\"\n[table]\nquasi = [\"a\"]\nsensitive = [\"s\"]\n\
         insensitive = [\"b\"]\nsuppression_limit = 0.2\n[limits]\ninformation_loss = 0.1\nquery_error = 0.2\n\
         belief_change = 0.3\ndependency_rules = 4\n",
    ),
    (
        "[input]\nfile = \"x\"\n[table]\nquasi = [\"a\"]\nsensitive = [\"s\"]\nmethod = \"mdav\"\nsplit = \"break-merge\"\n\
         [table.at_most]\njoint_loss = 0.5\n",
        "[input]\nfile = \"x\"\n[protect]\nmethod = \"break-merge\"\n[table]\nquasi = [\"a\"]\nsensitive = [\"s\"]\n\
         groups_by = \"mdav\"\n[limits]\njoint_loss = 0.5\n",
    ),
    (
        "[input]\nfile = \"x\"\n[table]\nquasi = [\"a\"]\nsensitive = [\"s\"]\nmethod = \"mdav\"\n[table.hide]\nsupport = 3\n",
        "[input]\nfile = \"x\"\n[protect]\nmethod = \"association-hiding\"\n[table]\nquasi = [\"a\"]\nsensitive = [\"s\"]\n\
         groups_by = \"mdav\"\n[table.hide]\nsupport = 3\n",
    ),
    (
        "[input]\nfile = \"x\"\n[protect]\nmethod = \"disassociation\"\n[table]\nquasi = [\"a\"]\nmethod = \"mdav\"\n",
        "[input]\nfile = \"x\"\n[protect]\nmethod = \"mdav\"\n[table]\nquasi = [\"a\"]\n",
    ),
];

#[test]
fn keys_by_their_former_names_mean_the_same_and_are_told() {
    let mut seen = std::collections::BTreeSet::new();
    for (former, today) in FORMER {
        let (written, recipe) = (parse(former, "recipe.toml").unwrap(), resolved(former).unwrap());
        let expected = resolved(today).unwrap();
        assert!(expected.notes.is_empty() && parse(today, "recipe.toml").unwrap().old_keys.is_empty(), "{today}");
        assert_eq!(recipe.notes.len(), written.old_keys.len(), "{former}");
        for ((old, now), note) in written.old_keys.iter().zip(&recipe.notes) {
            assert!(note.contains(old) && note.contains(now), "{note}");
            seen.insert(*old);
        }
        assert_eq!(Recipe { notes: Vec::new(), ..recipe }, expected, "{former}");
    }
    assert_eq!(seen.len(), 16, "{seen:?}");
}

/// Rules were hidden by `[table.hide]` alone.
#[test]
fn a_table_whose_rules_are_hidden_needs_no_former_method() {
    let text = "[input]\nfile = \"x\"\n[table]\nquasi = [\"a\"]\nsensitive = [\"s\"]\n[table.hide]\nsupport = 3\n";
    let recipe = resolved(text).unwrap();
    assert_eq!(recipe.table.unwrap().hide.unwrap().support, 3);
}

/// Recipes of a table that were begun with `recipe new`, which once wrote these keys out.
#[test]
fn keys_that_say_the_default_are_told_and_others_are_refused() {
    let table = "[input]\nfile = \"x\"\n[table]\nquasi = [\"a\"]\n";
    let idle = "[attack]\nrun = [\"cover\", \"closure\", \"worlds\", \"reassociate\", \"identity\"]\n";
    let (protect, limits) = ("[protect]\npromise = \"algorithm-aware\"\n", "[limits]\ncertain_disclosures = 0\n");
    let former = "[attack]\nmost_certain = 0\n";
    for (keys, told) in [(idle, 1), (protect, 1), (limits, 1), (former, 2)] {
        assert_eq!(resolved(&format!("{table}{keys}")).unwrap().notes.len(), told, "{keys}");
    }
    for keys in [
        "[attack]\nrun = [\"cover\"]\n",
        "[protect]\npromise = \"published\"\n",
        "[limits]\ncertain_disclosures = 1\n",
        "[attack]\nmost_certain = 1\n",
    ] {
        assert!(resolved(&format!("{table}{keys}")).is_err(), "{keys}");
    }
}
