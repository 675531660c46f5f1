//! What the tests of the command line share.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Figure 1a of barakat2016: the algorithm of the paper gives two pairs away.
pub const BREACHED: &str = "oncologist,treatment,cancer,surgery,side effects,vomiting\n\
    oncologist,treatment,cancer,surgery,side effects,nausea\n\
    oncologist,treatment,cancer\n\
    treatment,surgery,side effects,chemotherapy\n\
    oncologist,treatment,cancer\n\
    oncologist,surgery\n";

/// A package `out`, from `x.dat`, cut as in the paper; its few records are one group.
pub fn packaged(data: &str) -> Bench {
    let bench = Bench::new();
    bench.file("x.dat", data);
    let [k, size, promise] = [["-k", "3"], ["--max-cluster", "8"], ["--promise", "published"]];
    let protect = [&["protect", "x.dat", "-o", "out", "--separator", ","], &k[..], &size, &promise];
    bench.good(&protect.concat());
    bench
}

/// A folder of its own to run the program in.
pub struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    pub fn new() -> Self {
        Bench { folder: tempfile::tempdir().unwrap() }
    }

    pub fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.at(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_disjoin"));
        command.args(args).current_dir(self.folder.path()).stdin(Stdio::null());
        command
    }

    pub fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Runs and expects exit code 0; returns stdout and stderr.
    pub fn good(&self, args: &[&str]) -> (String, String) {
        let output = self.run(args);
        let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(0), "{args:?}\n{stdout}\n{stderr}");
        (stdout, stderr)
    }

    /// Runs and expects an error: exit code 2, an `error:` line, no panic, nothing on stdout, no new file.
    pub fn bad(&self, args: &[&str]) -> String {
        let before = self.names();
        let output = self.run(args);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}\n{stderr}");
        assert!(stderr.lines().any(|line| line.starts_with("error: ")), "{stderr}");
        assert!(!stderr.contains("panicked") && !stderr.contains("RUST_BACKTRACE"), "{stderr}");
        assert_eq!(text(&output.stdout), "", "{args:?}");
        assert_eq!(self.names(), before, "{args:?} left something behind");
        stderr
    }

    /// All names in the folder, hidden ones too.
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort_unstable();
        names
    }
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The bytes of a release: claim and data.
pub fn release_of(out: &Path) -> (Vec<u8>, Vec<u8>) {
    let read = |name: &str| std::fs::read(out.join("release").join(name)).unwrap();
    (read("claim.json"), read("data.jsonl"))
}

/// Baskets that k = 3 can protect.
pub fn baskets(n: usize) -> String {
    (0..n).map(|i| format!("{} {} {}\n", i % 4, 4 + i % 3, 7 + i % 11)).collect()
}
