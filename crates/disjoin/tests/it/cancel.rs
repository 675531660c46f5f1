//! Work that is cancelled ends with that error wherever it is, leaves nothing behind and what was there untouched; and no stage
//! of any verb forgets to ask whether it shall stop.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use disjoin::generate::stream;
use disjoin::inspect::Mining;
use disjoin::read::{Files, Options};
use disjoin::recipe::written::{self, parse};
use disjoin::recipe::{Recipe, resolve};
use disjoin::reconstruct::{Multiplicity, Sampling};
use disjoin::run::{self, AttackOptions, Input, InspectOptions, MeasureOptions, Originally, Questions, RepairOptions};
use disjoin::{Error, Observer, Result};
use rand::RngExt;

/// Stops after so many questions.
struct Impatient(AtomicU64);

impl Observer for Impatient {
    fn is_cancelled(&self) -> bool {
        let asked = |left: u64| Some(left.saturating_sub(1));
        self.0.try_update(Ordering::Relaxed, Ordering::Relaxed, asked).is_ok_and(|left| left <= 1)
    }
}

/// Never stops anything, and remembers how long nobody asked, and in which stage.
pub(crate) struct Listener {
    start: Instant,
    /// When it was asked last, in nanoseconds after the start.
    last: AtomicU64,
    longest: AtomicU64,
    asked: AtomicU64,
    stages: Mutex<(String, String)>,
}

impl Listener {
    pub(crate) fn new() -> Self {
        let zero = || AtomicU64::new(0);
        let stages = Mutex::default();
        Listener { start: Instant::now(), last: zero(), longest: zero(), asked: zero(), stages }
    }

    fn hear(&self) {
        let now = self.start.elapsed().as_nanos() as u64;
        let silence = now.saturating_sub(self.last.fetch_max(now, Ordering::Relaxed));
        if silence > self.longest.fetch_max(silence, Ordering::Relaxed) {
            let mut stages = self.stages.lock().unwrap();
            stages.1 = stages.0.clone();
        }
    }

    /// The longest time without a question, the stage it was in, and how many questions there were.
    pub(crate) fn silence(&self) -> (Duration, String, u64) {
        self.hear();
        let longest = Duration::from_nanos(self.longest.load(Ordering::Relaxed));
        (longest, self.stages.lock().unwrap().1.clone(), self.asked.load(Ordering::Relaxed))
    }
}

impl Observer for Listener {
    fn stage(&self, stage: &str) {
        self.hear();
        self.stages.lock().unwrap().0 = stage.to_owned();
    }

    fn is_cancelled(&self) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.hear();
        false
    }
}

type Verb<'a> = Box<dyn Fn(&dyn Observer) -> Result<()> + 'a>;

fn recipe(folder: &Path, text: &str) -> Recipe {
    let written = parse(text, "recipe.toml").unwrap();
    resolve(&written, folder).unwrap()
}

/// All files below a folder with what is in them.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path.clone());
                found.insert(path, Vec::new());
            } else {
                found.insert(path.clone(), std::fs::read(path).unwrap());
            }
        }
    }
    found
}

/// Protects, runs, verifies, attacks and measures by a recipe whose package is in `out`.
pub(crate) fn verbs<'a>(folder: &'a Path, file: &'a str, text: &str) -> Vec<(&'static str, Verb<'a>)> {
    let asked = recipe(folder, text);
    let (again, out) = (asked.clone(), asked.output.folder.clone());
    let original =
        move || Originally { location: Some(Box::leak(folder.join(file).into_boxed_path())), ..Originally::default() };
    let (first, second, third) = (out.clone(), out.clone(), out);
    vec![
        ("protect", Box::new(move |o| run::protect(&asked, Input::Named(&Files), o).map(|_| ()))),
        ("run", Box::new(move |o| run::run(&again, Input::Named(&Files), o).map(|_| ()))),
        ("verify", Box::new(move |o| run::verify(&first, None, &original(), &Files, o).map(|_| ()))),
        (
            "attack",
            Box::new(move |o| {
                run::attack(&second, None, &original(), &AttackOptions::default(), &Files, o).map(|_| ())
            }),
        ),
        (
            "measure",
            Box::new(move |o| {
                let asked = MeasureOptions::new(&written::Measure::default())?;
                run::measure(&third, None, &original(), &asked, &Files, o).map(|_| ())
            }),
        ),
    ]
}

/// What else is done with disassociated data.
pub(crate) fn verbs_of_sets<'a>(folder: &'a Path, file: &'a str) -> Vec<(&'static str, Verb<'a>)> {
    let package = folder.join("out");
    let [repaired, drawn, converted] = [package.clone(), package.clone(), package.clone()];
    vec![
        (
            "inspect",
            Box::new(move |o| {
                let asked = InspectOptions { k: 5, m: 2, quasi: Vec::new(), input: Options::default() };
                run::inspect(&folder.join(file), &asked, &Files, o).map(|_| ())
            }),
        ),
        (
            "query",
            Box::new(move |o| {
                let asked = Questions::Top(Mining { min_length: 2, ..Mining::top(50) });
                run::query(&package, &asked, &run::Asking::default(), o).map(|_| ())
            }),
        ),
        (
            "repair",
            Box::new(move |o| {
                let out = folder.join("repaired");
                let asked = RepairOptions { out, force: true, ncp_growth: None, attack: AttackOptions::default() };
                run::repair(&repaired, &Originally::default(), &asked, &Files, o).map(|_| ())
            }),
        ),
        (
            "reconstruct",
            Box::new(move |o| {
                let sampling = Sampling { seed: 1, fill_empty: true };
                let hierarchies = Vec::new();
                let drawing = run::Drawing { n: 2, sampling, multiplicity: Multiplicity::Told, hierarchies };
                run::reconstruct(&drawn, &drawing, o, |_| Ok(()))
            }),
        ),
        (
            "convert",
            Box::new(move |o| {
                let to = folder.join("converted");
                run::convert(&converted, &to, &run::Converting { force: true, ..Default::default() }, &Files, o)
                    .map(|_| ())
            }),
        ),
    ]
}

/// Lets each verb finish once, watched; then stops it at random.
fn check(folder: &Path, verbs: Vec<(&'static str, Verb<'_>)>, what: &str, longest: Duration) {
    let mut rng = stream(7, what, 0);
    for (name, verb) in verbs {
        let listener = Listener::new();
        verb(&listener).unwrap_or_else(|error| panic!("{what}, {name}: {error}"));
        let (silence, stage, asked) = listener.silence();
        assert!(silence < longest, "{what}, {name}: nobody asked for {silence:?} while {stage}");
        // What has nothing to do, as an attack on data without groups, asks where it begins and ends.
        assert!(asked >= 4, "{what}, {name} asked {asked} times only");
        let before = contents(folder);
        // How often threads ask depends on who takes which part: half of it is asked in any case.
        let some = 1..(asked / 2).max(2);
        for n in [1, 2, rng.random_range(some.clone()), rng.random_range(some)] {
            let stopped = verb(&Impatient(AtomicU64::new(n)));
            assert!(matches!(stopped, Err(Error::Cancelled)), "{what}, {name} after {n} of {asked}: {stopped:?}");
            assert_eq!(contents(folder), before, "{what}, {name} after {n} of {asked} questions");
        }
    }
}

/// Not that of a user's machine, which is 200 ms: tests share theirs, and may not be optimised.
const LONGEST: Duration = if cfg!(debug_assertions) { Duration::from_secs(20) } else { Duration::from_secs(2) };

fn baskets(folder: &Path, n: usize) {
    let mut rng = stream(1, "baskets", 0);
    let mut text = String::new();
    for _ in 0..n {
        let kind = rng.random_range(0..6_u32) * 15;
        let mut line: Vec<String> = (0..rng.random_range(1..9))
            .map(|_| if rng.random_bool(0.7) { kind + rng.random_range(0..15_u32) } else { rng.random_range(0..90) })
            .map(|item| item.to_string())
            .collect();
        line.dedup();
        text += &(line.join(" ") + "\n");
    }
    std::fs::write(folder.join("baskets.dat"), text).unwrap();
}

fn people(folder: &Path, n: usize) {
    let mut rng = stream(2, "people", 0);
    let mut text = String::from("age,zip,sex,disease,job\n");
    for _ in 0..n {
        let (age, zip) = (rng.random_range(18..90), rng.random_range(100..160));
        let (sex, disease, job) = (rng.random_range(0..2), rng.random_range(0..7), rng.random_range(0..9));
        text += &format!("{age},z{zip},{sex},d{disease},j{job}\n");
    }
    std::fs::write(folder.join("people.csv"), text).unwrap();
}

const SETS: &str = "[input]\nfile = \"baskets.dat\"\n[protect]\nk = 5\n";

#[test]
fn disassociation_stops_anywhere() {
    let folder = tempfile::tempdir().unwrap();
    baskets(folder.path(), 3000);
    let mut all = verbs(folder.path(), "baskets.dat", SETS);
    all.extend(verbs_of_sets(folder.path(), "baskets.dat"));
    check(folder.path(), all, "disassociation", LONGEST);
}

#[test]
fn recoding_and_noise_stop_anywhere() {
    for more in [
        "method = \"apriori\"\nfanout = 4\n",
        "method = \"lra\"\nfanout = 4\nblock = 300\n",
        "method = \"vpa\"\nfanout = 4\n",
        "method = \"suppression\"\n",
        "method = \"suppression-partial\"\n",
        "method = \"privbasis\"\n[protect.noise]\nepsilon = 1\ndemonstration = true\nseed = 1\n",
        "method = \"diffpart\"\n[protect.noise]\nepsilon = 1\ndemonstration = true\nseed = 1\n",
    ] {
        let folder = tempfile::tempdir().unwrap();
        baskets(folder.path(), 600);
        let is_noise = more.contains("epsilon");
        let k = if is_noise { "" } else { "k = 5\n" };
        let text = format!("[input]\nfile = \"baskets.dat\"\n[protect]\n{more}").replacen(
            "[protect]\n",
            &format!("[protect]\n{k}"),
            1,
        );
        let mut all = verbs(folder.path(), "baskets.dat", &text);
        // Noise is not attacked, and verified without its original.
        all.retain(|(name, _)| !is_noise || !matches!(*name, "attack" | "verify"));
        check(folder.path(), all, more, LONGEST);
    }
}

#[test]
fn tables_stop_anywhere() {
    for method in ["least-loss", "mondrian", "mdav", "lattice", "hilbert", "k-primacy", "break-merge", "anatomy"] {
        let folder = tempfile::tempdir().unwrap();
        people(folder.path(), 600);
        let text = format!(
            "[input]\nfile = \"people.csv\"\n[protect]\nmethod = \"{method}\"\n[table]\nquasi = [\"age\", \"zip\", \"sex\"]\n\
             sensitive = [\"disease\", \"job\"]\nnumeric = [\"age\"]\n[table.criteria]\nl = 3\n"
        );
        check(folder.path(), verbs(folder.path(), "people.csv", &text), method, LONGEST);
    }
}
