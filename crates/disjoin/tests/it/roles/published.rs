//! Near-unique insensitive attributes and free text are refused by protect, run and sweep, until they are confirmed.

use std::path::{Path, PathBuf};

use disjoin::read::Files;
use disjoin::recipe::{Recipe, resolve, written};
use disjoin::run::sweep::{Grid, sweep};
use disjoin::run::{Input, protect, run};
use disjoin::{Error, Unobserved};

use super::mixed;

fn sentence(row: u64) -> String {
    (0..6)
        .map(|i| ["tired", "since", "monday", "called", "again", "left"][mixed(row * 6 + i) as usize % 6])
        .collect::<Vec<_>>()
        .join(" ")
}

/// People with a nickname, a note and a ward.
fn table(folder: &Path) -> PathBuf {
    let mut text = String::from("age,sex,disease,nickname,note,ward\n");
    for i in 0..120_u64 {
        let (sex, ill) = (["f", "m"][i as usize % 2], ["flu", "gout", "hiv"][mixed(i) as usize % 3]);
        text += &format!("{},{sex},{ill},secret{i},{},w{}\n", 20 + mixed(i) % 50, sentence(i), i % 3);
    }
    let path = folder.join("people.csv");
    std::fs::write(&path, text).unwrap();
    path
}

/// The columns that are left have the roles that are given; the others are identifiers.
fn recipe(folder: &Path, insensitive: &[&str], sensitive: &[&str], confirmed: &[&str]) -> Recipe {
    let rest: Vec<&str> = ["disease", "nickname", "note", "ward"]
        .into_iter()
        .filter(|c| !insensitive.contains(c) && !sensitive.contains(c))
        .collect();
    let text = format!(
        "[input]\nfile = \"people.csv\"\n[protect]\nk = 3\n[table]\nquasi = [\"age\", \"sex\"]\nnumeric = [\"age\"]\ninsensitive = {insensitive:?}\nsensitive = {sensitive:?}\nidentifier = {rest:?}\npublish_as_is = {confirmed:?}\n[output]\nfolder = \"out\"\n"
    );
    resolve(&written::parse(&text, "recipe.toml").unwrap(), folder).unwrap()
}

#[test]
fn what_reveals_people_is_refused_by_every_verb() {
    let folder = tempfile::tempdir().unwrap();
    table(folder.path());
    for (insensitive, sensitive, evidence) in [
        (&["nickname"][..], &[][..], "120 of 120 rows have a value that no other row has"),
        (&["note"], &[], "free text"),
        (&[], &["note"], "free text"),
    ] {
        let asked = recipe(folder.path(), insensitive, sensitive, &[]);
        let grid = Grid { k: vec![3], ..Grid::default() };
        let refused: [Error; 3] = [
            protect(&asked, Input::Named(&Files), &Unobserved).unwrap_err(),
            run(&asked, Input::Named(&Files), &Unobserved).unwrap_err(),
            sweep(&asked, &grid, &folder.path().join("swept"), &Files, &Unobserved).unwrap_err(),
        ];
        for error in refused {
            let told = format!("{error} {}", error.hint().unwrap());
            let column = insensitive.iter().chain(sensitive).next().unwrap();
            assert!(told.contains(evidence) && told.contains(&format!("--publish-as-is {column}")), "{told}");
            assert!(told.contains("publish_as_is = ") && !told.contains("secret"), "{told}");
        }
        assert!(!folder.path().join("out").exists());
    }
}

#[test]
fn what_is_confirmed_or_shared_is_published() {
    let folder = tempfile::tempdir().unwrap();
    table(folder.path());
    for (insensitive, sensitive, confirmed) in
        [(&["nickname"][..], &[][..], &["nickname"][..]), (&[], &["note"], &["note"]), (&["ward"], &["disease"], &[])]
    {
        let asked = recipe(folder.path(), insensitive, sensitive, confirmed);
        protect(&asked, Input::Named(&Files), &Unobserved).unwrap();
        let data = std::fs::read_to_string(folder.path().join("out/release/data.csv")).unwrap();
        let columns = insensitive.iter().chain(sensitive);
        assert!(columns.clone().all(|column| data.lines().next().unwrap().contains(column)), "{data}");
    }
}

/// Sensitive attributes may be near-unique: what is learned of them is limited by criteria.
#[test]
fn sensitive_numbers_are_not_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = String::from("age,income\n");
    (0..60_u64).for_each(|i| text += &format!("{},{}\n", 20 + i % 30, 30_000 + mixed(i) % 50_000));
    std::fs::write(folder.path().join("people.csv"), text).unwrap();
    let text = "[input]\nfile = \"people.csv\"\n[protect]\nk = 3\n[table]\nquasi = [\"age\"]\nsensitive = [\"income\"]\nnumeric = [\"age\", \"income\"]\n[output]\nfolder = \"out\"\n";
    let asked = resolve(&written::parse(text, "recipe.toml").unwrap(), folder.path()).unwrap();
    protect(&asked, Input::Named(&Files), &Unobserved).unwrap();
}
