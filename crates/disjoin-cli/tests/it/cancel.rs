//! Ctrl-C: every verb ends soon, leaves nothing new, and the old package whole.

#![cfg(unix)]

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::common::{Bench, release_of, text};

fn interrupted(bench: &Bench, arguments: &[&str], after: Duration) -> (Option<i32>, Duration, String) {
    let mut child = bench.command(arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(after);
    let start = Instant::now();
    let sent = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(sent.is_ok());
    let mut stderr = Vec::new();
    std::io::Read::read_to_end(&mut child.stderr.take().unwrap(), &mut stderr).unwrap();
    let code = child.wait().unwrap().code();
    (code, start.elapsed(), text(&stderr))
}

#[test]
fn an_interrupt_ends_verbs_and_leaves_the_old_package() {
    let bench = Bench::new();
    bench.good(&["generate", "quest", "--records", "60000", "--items", "600", "--seed", "3", "-o", "x.dat"]);
    bench.file("recipe.toml", "[input]\nfile = \"x.dat\"\n[output]\nfolder = \"out\"\n");
    bench.file("small.dat", "a b\na b\na b\na c\na c\na c\n".repeat(5));
    bench.good(&["protect", "small.dat", "--separator", "space", "-k", "3", "-o", "out"]);
    bench.good(&["protect", "x.dat", "-o", "big"]);
    let (before, names) = (release_of(&bench.at("out")), bench.names());
    let verbs: [&[&str]; 11] = [
        &["protect", "x.dat", "-o", "out"],
        &["run"],
        &["attack", "big"],
        &["measure", "big", "--original", "x.dat"],
        &["query", "big", "--top", "100000"],
        &["inspect", "x.dat", "-m", "3"],
        &["repair", "big", "-o", "repaired"],
        &["convert", "big", "converted", "--to", "parquet"],
        &["reconstruct", "big", "-n", "20", "-o", "maybe"],
        &["hierarchy", "build", "x.dat", "--by", "cooccurrence", "-o", "tree.csv"],
        &["generate", "quest", "--records", "3000000", "-o", "made.dat"],
    ];
    let mut stopped = 0;
    for arguments in verbs {
        for milliseconds in [40, 150, 400] {
            let (code, took, stderr) = interrupted(&bench, arguments, Duration::from_millis(milliseconds));
            // Some are done before they are asked to stop.
            if code == Some(0) || code == Some(1) {
                for made in ["repaired", "converted", "maybe", "tree.csv", "made.dat"].map(|name| bench.at(name)) {
                    if made.is_dir() {
                        std::fs::remove_dir_all(made).ok()
                    } else {
                        std::fs::remove_file(made).ok()
                    };
                }
                bench.good(&["protect", "small.dat", "--separator", "space", "-k", "3", "-o", "out"]);
                continue;
            }
            // On a busy machine a verb may not listen yet: then the system ends it.
            if code.is_some() {
                stopped += 1;
                assert_eq!(code, Some(130), "{arguments:?}: {stderr}");
                assert!(stderr.contains("cancelled: nothing was written"), "{arguments:?}: {stderr}");
            }
            // Generous: other tests run beside this one; the measured times are in the notes of the benches.
            assert!(took < Duration::from_secs(10), "{arguments:?}: {took:?}");
            assert_eq!(bench.names(), names, "{arguments:?}");
            assert_eq!(release_of(&bench.at("out")), before, "{arguments:?}");
        }
    }
    assert!(stopped >= 11, "{stopped}");
}
