//! SQLite files of others: nothing is written, nothing runs for ever, nothing in them is trusted.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use disjoin::observer::observed;
use disjoin::read::Sources;
use disjoin::{Error, Observer};
use disjoin_databases::Databases;
use rusqlite::Connection;

use crate::{all, error, hint, message, row};

/// A database in a folder of its own.
fn made(name: &str, sql: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    (folder, path)
}

fn url(path: &Path, rest: &str) -> String {
    format!("sqlite:{}?{rest}", path.display())
}

/// Names and content of all files of a folder.
fn content(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut all: Vec<_> = files.map(|file| (file.display().to_string(), std::fs::read(&file).unwrap())).collect();
    all.sort();
    all
}

const ENDLESS: &str = "CREATE TABLE t (a); INSERT INTO t VALUES (1);
    CREATE VIEW rows AS WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c;
    CREATE VIEW silent AS SELECT count(*) FROM rows;
    CREATE VIEW wide AS SELECT a.a FROM t a, rows b, rows c WHERE b.n < 0;
    CREATE VIEW long AS WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 300000) SELECT max(n) FROM c;";

#[test]
fn what_never_ends_is_ended() {
    let (_folder, path) = made("endless.db", ENDLESS);
    for view in ["rows", "silent", "wide"] {
        let url = url(&path, &format!("steps=3000000&table={view}"));
        assert!(message(&url).ends_with("takes too many steps, and may never end"), "{}", message(&url));
        assert!(hint(&url).contains("steps="), "{}", hint(&url));
    }
    // Without a word about it, too.
    assert!(message(&url(&path, "table=silent")).contains("too many steps"));
    // What takes long may be allowed to.
    assert!(message(&url(&path, "steps=100000&table=long")).contains("too many steps"));
    assert_eq!(all(&url(&path, "steps=100000000&table=long")).unwrap().1, [row(&[Some("300000")])]);
    assert_eq!(all(&url(&path, "table=long")).unwrap().1, [row(&[Some("300000")])]);
    assert_eq!(all(&url(&path, "steps=100000&table=t")).unwrap().1.len(), 1);
}

/// Stops after so many questions.
struct Impatient(AtomicU32);

impl Observer for Impatient {
    fn is_cancelled(&self) -> bool {
        self.0.fetch_sub(1, Ordering::Relaxed) < 2
    }
}

#[test]
fn reading_is_cancelled() {
    let (_folder, path) = made("endless.db", ENDLESS);
    for view in ["rows", "silent"] {
        let (url, start) = (url(&path, &format!("steps=100000000000&table={view}")), Instant::now());
        let observer = Impatient(AtomicU32::new(10));
        let read = || {
            let rows = Databases.open(&url, &observer).unwrap()?.rows;
            // As all readers do.
            rows.inspect(|_| (&observer as &dyn Observer).check()).collect::<disjoin::Result<Vec<_>>>()
        };
        assert!(matches!(observed(read), Err(Error::Cancelled)));
        assert!(start.elapsed() < Duration::from_secs(10));
    }
}

#[test]
fn schemas_are_not_trusted() {
    let (folder, path) = made(
        "unsafe.db",
        "CREATE TABLE t (a); INSERT INTO t VALUES (1);
         CREATE VIEW loads AS SELECT load_extension('x') FROM t;
         CREATE TABLE log (a); CREATE TRIGGER runs AFTER INSERT ON t BEGIN SELECT load_extension('x'); END;
         CREATE VIEW harmless AS SELECT upper('a') || a AS b FROM t;
         CREATE VIEW huge AS SELECT zeroblob(500000000) AS b;
         CREATE VIEW deep AS SELECT hex(randomblob(90000000)) AS b;",
    );
    let before = content(folder.path());
    assert!(message(&url(&path, "table=loads")).contains("must not use"), "{}", message(&url(&path, "table=loads")));
    for query in
        ["SELECT load_extension('x')", "ATTACH 'other.db' AS o", "PRAGMA writable_schema = 1", "VACUUM INTO 'x'"]
    {
        let told = message(&url(&path, &format!("query={query}")));
        assert!(told.contains("something else than read") || told.contains("has no result"), "{query}: {told}");
    }
    for view in ["huge", "deep"] {
        assert!(message(&url(&path, &format!("table={view}"))).contains("larger than"));
    }
    assert_eq!(all(&url(&path, "table=t")).unwrap().1.len(), 1);
    assert_eq!(all(&url(&path, "table=harmless")).unwrap().1, [row(&[Some("A1")])]);
    assert!(content(folder.path()) == before);
}

#[test]
fn nothing_changes_by_reading() {
    let made_of = "CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 'x'), (2, 'y'); CREATE VIEW v AS SELECT b FROM t ORDER BY b DESC;";
    for (name, mode) in [("a.db", "DELETE"), ("b #%41.db", "WAL")] {
        let (folder, path) = made(name, &format!("PRAGMA journal_mode = {mode}; {made_of}"));
        let before = content(folder.path());
        assert_eq!(before.len(), 1, "{mode}");
        assert_eq!(all(&url(&path, "table=t")).unwrap().1.len(), 2, "{mode}");
        assert_eq!(all(&url(&path, "table=v")).unwrap().1[0], row(&[Some("y")]));
        assert!(hint(&path.display().to_string()).contains("its tables are t, v"));
        assert!(content(folder.path()) == before, "{mode}");
        readable_only(&folder, &path);
        assert!(content(folder.path()) == before, "{mode}");
    }
}

/// A file that nobody may write to, in a folder that nobody may.
fn readable_only(folder: &tempfile::TempDir, path: &Path) {
    let permit = |path: &Path, is_readonly: bool| {
        let mut permissions = path.metadata().unwrap().permissions();
        permissions.set_readonly(is_readonly);
        std::fs::set_permissions(path, permissions).unwrap();
    };
    permit(path, true);
    permit(folder.path(), true);
    assert_eq!(all(&url(path, "table=t")).unwrap().1.len(), 2);
    permit(folder.path(), false);
}

#[test]
fn what_others_have_open_is_read_with_their_changes() {
    let (folder, path) = made("live.db", "PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1);");
    let other = Connection::open(&path).unwrap();
    other.execute_batch("INSERT INTO t VALUES (2);").unwrap();
    let names = |all: Vec<(String, Vec<u8>)>| all.into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    let before = (names(content(folder.path())), std::fs::read(&path).unwrap());
    assert_eq!(before.0.len(), 3);
    assert_eq!(all(&url(&path, "table=t")).unwrap().1.len(), 2);
    assert!((names(content(folder.path())), std::fs::read(&path).unwrap()) == before);
    // As after a crash: what is in the log would have to be put in first.
    let crashed = tempfile::tempdir().unwrap();
    let copy = crashed.path().join("live.db");
    std::fs::copy(&path, &copy).unwrap();
    std::fs::copy(folder.path().join("live.db-wal"), crashed.path().join("live.db-wal")).unwrap();
    let before = content(crashed.path());
    assert!(message(&url(&copy, "table=t")).contains("were not put in yet"));
    assert!(content(crashed.path()) == before);
}

#[test]
fn damaged_files_are_errors() {
    let rows: String = (0..400).map(|n| format!("INSERT INTO t VALUES ({n}, 'text {n}', x'00ff');")).collect();
    let (folder, path) = made(
        "whole.db",
        &format!("BEGIN; CREATE TABLE t (a INTEGER, name_b TEXT, c); CREATE INDEX i ON t (name_b); {rows} COMMIT;"),
    );
    let whole = std::fs::read(&path).unwrap();
    let damaged = folder.path().join("damaged.db");
    let check = |bytes: &[u8]| {
        std::fs::write(&damaged, bytes).unwrap();
        for rest in ["table=t", "query=SELECT * FROM t ORDER BY name_b", "query=SELECT name FROM sqlite_schema"] {
            if let Err(error) = all(&url(&damaged, rest)) {
                assert!(matches!(error, Error::Input { .. }), "{error:?}");
            }
        }
    };
    let mut state = 7_u64;
    let mut draw = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for round in 0..300 {
        let mut bytes = whole.clone();
        // The header and the schema more often than the rest.
        let most = if round % 2 == 0 { 4096 } else { bytes.len() };
        (0..=round % 8).for_each(|_| bytes[draw(most)] = draw(256) as u8);
        check(&bytes);
    }
    (0..20).for_each(|_| check(&whole[..draw(whole.len())]));
    // Names that are no text.
    let mut bytes = whole.clone();
    for at in 0..whole.len() - 6 {
        if whole[at..].starts_with(b"name_b") {
            bytes[at..at + 4].fill(0xff);
        }
    }
    std::fs::write(&damaged, bytes).unwrap();
    assert!(message(&url(&damaged, "table=t")).contains("not UTF-8"));
    assert!(matches!(error(&url(folder.path(), "table=t")), Error::Input { .. }));
}
