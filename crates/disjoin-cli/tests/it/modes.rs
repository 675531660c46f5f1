//! What is made from the original is for its owner alone, from the moment that it exists; a release has the usual modes.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;

use crate::common::{Bench, baskets};

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

/// A folder and everything in it.
fn check_private(folder: &Path) {
    assert_eq!(mode(folder), 0o700, "{}", folder.display());
    let mut n_files = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        n_files += 1;
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
    assert!(n_files > 0);
}

fn check_usual(folder: &Path) {
    assert_eq!(mode(folder), 0o755, "{}", folder.display());
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o644, "{}", path.display());
    }
}

/// The usual mask, whatever that of the one who tests is.
fn good(bench: &Bench, arguments: &str) {
    let line = format!("umask 022 && exec {} {arguments}", env!("CARGO_BIN_EXE_disjoin"));
    let mut command = std::process::Command::new("sh");
    let output = command.args(["-c", &line]).current_dir(bench.at("")).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn custody_results_and_plots_are_private_and_a_release_is_not() {
    let bench = Bench::new();
    bench.file("x.dat", baskets(60));
    bench.file("recipe.toml", "[input]\nfile = \"x.dat\"\nseparator = \"space\"\n[protect]\nk = 3\n");
    bench.good(&["generate", "people", "--rows", "300", "--seed", "1", "-o", "people.csv"]);
    good(&bench, "protect x.dat --separator space -k 3 -o out");
    good(&bench, "attack out --original x.dat --separator space --keep");
    good(&bench, "run -o ran");
    good(&bench, "repair ran -o repaired");
    good(&bench, "convert out parquet --to parquet");
    for package in ["out", "ran", "repaired", "parquet"] {
        check_private(&bench.at(package).join("custody"));
        check_usual(&bench.at(package).join("release"));
        assert_eq!(mode(&bench.at(package)), 0o755, "{package}");
    }
    good(&bench, "measure out --original x.dat --separator space --plots plots");
    good(&bench, "sweep -k 3,4 -o sweeps");
    check_private(&bench.at("plots"));
    check_private(&bench.at("sweeps"));
    // Again, over what is there: rows are added to, drawings replaced.
    good(&bench, "sweep -k 5 -o sweeps");
    check_private(&bench.at("sweeps"));
    good(
        &bench,
        "protect people.csv --quasi age,sex,region --sensitive disease --insensitive education,occupation,marital --numeric age -k 3 -o table",
    );
    good(&bench, "attack table --dependencies --network-svg net.svg --keep");
    check_private(&bench.at("table/custody"));
    assert_eq!(mode(&bench.at("net.svg")), 0o600);
    // What somebody closed stays closed.
    fs::set_permissions(bench.at("out"), fs::Permissions::from_mode(0o700)).unwrap();
    good(&bench, "protect x.dat --separator space -k 3 -o out");
    assert_eq!(mode(&bench.at("out")), 0o700);
}

#[test]
fn nobody_else_sees_what_is_being_made() {
    let bench = Bench::new();
    bench.good(&["generate", "quest", "--records", "20000", "--items", "500", "--seed", "1", "-o", "x.dat"]);
    let mut child = bench.command(&["protect", "x.dat", "-o", "out"]).stderr(Stdio::null()).spawn().unwrap();
    let mut looked = 0;
    while child.try_wait().unwrap().is_none() {
        for entry in fs::read_dir(bench.at("")).unwrap().flatten() {
            let name = entry.file_name().into_string().unwrap();
            let Ok(data) = entry.metadata() else { continue };
            let mode = data.permissions().mode() & 0o777;
            if name.ends_with(".lock") {
                assert_eq!(mode, 0o600, "{name}");
            }
            let within = fs::read_dir(entry.path().join("custody")).into_iter().flatten().flatten();
            for file in within {
                let Ok(data) = file.metadata() else { continue };
                looked += 1;
                assert_eq!(data.permissions().mode() & 0o777, 0o600, "{:?}", file.path());
            }
            if name.ends_with(".tmp") && entry.path().join("custody").is_dir() {
                assert!(
                    mode == 0o700 || bench.at("out").exists() || entry.path().join("custody/files.sha256").exists()
                );
            }
        }
    }
    assert!(looked > 0, "nothing was seen in the making");
}
