//! What somebody else put there is never touched: a thousand folders with foreign content, under names of ours as well.

#![cfg(unix)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

use disjoin::read::{Files, Format};
use disjoin::recipe::written::parse;
use disjoin::recipe::{Recipe, resolve};
use disjoin::run::sweep::{Grid, sweep};
use disjoin::run::{self, Input, Originally, RepairOptions};
use disjoin::{Error, Unobserved};
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Names that we use ourselves, and some that we do not.
const NAMES: [&str; 22] = [
    "report.html",
    "report.md",
    "report.json",
    "custody",
    "release",
    "custody.json",
    "leaf_of.csv",
    "findings.csv",
    "dependencies.html",
    "original.csv",
    "data.jsonl",
    "data.parquet",
    "claim.json",
    "files.sha256",
    "files.sha256.tmp",
    "scratch.tmp",
    "rows.jsonl",
    "sweep.csv",
    "frontier.svg",
    ".out.disjoin-0123456789abcdef.tmp",
    ".disjoin-fedcba9876543210.tmp",
    "holiday.jpg",
];

/// Beside the output folder: our locks and temporary names, too.
const BESIDE: [&str; 6] = [
    ".out.disjoin.lock",
    ".out.disjoin-0123456789abcdef.tmp",
    ".out.disjoin-0123456789abcdef.old",
    ".disjoin.lock",
    "out2",
    "notes.txt",
];

/// What a thing was: its inode, and its content, its target or nothing.
type Seen = (u64, Vec<u8>);

fn seen(path: &Path) -> Option<Seen> {
    let data = fs::symlink_metadata(path).ok()?;
    let content = match data.file_type() {
        kind if kind.is_symlink() => fs::read_link(path).unwrap().into_os_string().into_encoded_bytes(),
        kind if kind.is_file() => fs::read(path).unwrap(),
        _ => Vec::new(),
    };
    Some((data.ino(), content))
}

/// Everything below a folder.
fn tree(folder: &Path) -> BTreeMap<PathBuf, Seen> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                open.push(entry.path());
            }
            found.insert(entry.path(), seen(&entry.path()).unwrap());
        }
    }
    found
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to.join(entry.file_name())),
            false => drop(fs::copy(entry.path(), to.join(entry.file_name())).unwrap()),
        }
    }
}

/// Puts something foreign there; none if the place is taken.
fn put(path: &Path, outside: &Path, rng: &mut ChaCha8Rng) -> Option<()> {
    if fs::symlink_metadata(path).is_ok() || !path.parent()?.is_dir() {
        return None;
    }
    match rng.random_range(0..6) {
        0 => fs::write(path, "").unwrap(),
        1 | 2 => fs::write(path, "mine\n").unwrap(),
        // Half a line of ours?
        3 => fs::write(path, "{\"format\":\"disjoin/claim\",\"version\":1").unwrap(),
        4 => {
            fs::create_dir(path).unwrap();
            fs::write(path.join("cat.jpg"), "mine").unwrap();
        }
        _ => symlink(outside, path).unwrap(),
    }
    Some(())
}

const VERBS: [&str; 5] = ["protect", "run", "repair", "convert", "sweep"];

fn go(verb: &str, recipe: &Recipe, package: &Path, out: &Path) -> disjoin::Result<()> {
    let mut recipe = recipe.clone();
    recipe.output.folder = out.to_path_buf();
    let original = Originally::default();
    match verb {
        "protect" => run::protect(&recipe, Input::Named(&Files), &Unobserved).map(|_| ()),
        "run" => run::run(&recipe, Input::Named(&Files), &Unobserved).map(|_| ()),
        "repair" => {
            let asked = RepairOptions { out: out.to_path_buf(), force: true, ..RepairOptions::default() };
            run::repair(package, &original, &asked, &Files, &Unobserved).map(|_| ())
        }
        "convert" => {
            let asked = run::Converting { format: Some(Format::JsonLines), force: true, ..Default::default() };
            run::convert(package, out, &asked, &Files, &Unobserved).map(|_| ())
        }
        _ => sweep(&recipe, &Grid { k: vec![2], ..Grid::default() }, out, &Files, &Unobserved).map(|_| ()),
    }
}

#[test]
fn foreign_files_are_never_touched() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("x.dat");
    fs::write(&file, (0..12).map(|i| format!("{} {}\n", i % 2, 2 + i % 3)).collect::<String>()).unwrap();
    let text = "[input]\nfile = \"x.dat\"\n[protect]\nk = 2\npromise = \"published\"\n[attack]\nrun = [\"cover\"]\n\
                [measure]\nqueries = 2\n";
    let recipe = resolve(&parse(text, "recipe.toml").unwrap(), home.path()).unwrap();
    let [package, swept, outside] = ["package", "swept", "outside"].map(|name| home.path().join(name));
    go("run", &recipe, &package, &package).unwrap();
    go("sweep", &recipe, &package, &swept).unwrap();
    fs::write(&outside, "somebody else's").unwrap();
    let untouched = seen(&outside);
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let (mut refused, mut done) = (0, 0);
    for round in 0..1000 {
        let verb = VERBS[round % VERBS.len()];
        let folder = tempfile::tempdir_in(home.path()).unwrap();
        let out = folder.path().join("out");
        match rng.random_range(0..4) {
            0 => {}
            1 => fs::create_dir(&out).unwrap(),
            _ => copy(if verb == "sweep" { &swept } else { &package }, &out),
        }
        let before = tree(folder.path());
        for _ in 0..rng.random_range(0..4) {
            let place = ["release", "custody", ""].choose(&mut rng).unwrap();
            let path = match rng.random_range(0..3) {
                0 => folder.path().join(BESIDE.choose(&mut rng).unwrap()),
                _ => out.join(place).join(NAMES.choose(&mut rng).unwrap()),
            };
            put(&path, &outside, &mut rng);
        }
        // A file of ours that somebody went on with is somebody's.
        let ours: Vec<&PathBuf> = before.keys().filter(|path| path.is_file()).collect();
        if let Some(path) = ours.choose(&mut rng).filter(|_| rng.random_bool(0.2)) {
            fs::write(path, "changed").unwrap();
        }
        let started = tree(folder.path());
        let foreign = started.iter().filter(|(path, now)| before.get(*path) != Some(*now));
        let ended = go(verb, &recipe, &package, &out);
        for (path, then) in foreign {
            assert_eq!(seen(path).as_ref(), Some(then), "round {round}: {verb} touched {}", path.display());
        }
        assert_eq!(seen(&outside), untouched, "round {round}: {verb} followed a link");
        match ended {
            Ok(()) => done += 1,
            Err(error) => {
                refused += 1;
                assert_eq!(tree(folder.path()), started, "round {round}: {verb} changed something: {error}");
                assert!(matches!(error, Error::Input { hint: Some(_), .. }), "round {round}: {verb}: {error}");
            }
        }
    }
    println!("{done} done, {refused} refused");
    assert!(done > 250 && refused > 250, "{done} done, {refused} refused");
}
