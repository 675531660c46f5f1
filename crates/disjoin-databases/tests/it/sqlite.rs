//! SQLite files: tables and queries, names of all kinds, and errors without values.

use std::path::Path;

use disjoin::Unobserved;
use disjoin::location::shown;
use disjoin::read::{Options, Row, Sources, read_sets};
use disjoin_databases::Databases;

use crate::{all, error, hint, message, row};

fn sqlite() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("people.db");
    let connection = rusqlite::Connection::open(&path).unwrap();
    let made = "CREATE TABLE people (age INTEGER, weight REAL, name TEXT, photo BLOB);
         INSERT INTO people VALUES (34, 61.5, 'Ann', x'00ff'), (NULL, NULL, NULL, NULL), (-1, 2, 'é, \"x\"', x'');
         CREATE TABLE \"odd \"\" name; DROP TABLE people; --\" (a); INSERT INTO \"odd \"\" name; DROP TABLE people; --\" VALUES (7);
         CREATE TABLE many (n); CREATE TABLE none (a, b); CREATE TABLE \"a.b\" (a);
         WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 10000) INSERT INTO many SELECT n FROM c;
         CREATE TABLE broken (t TEXT); INSERT INTO broken VALUES ('fine'), (CAST(x'fffe' AS TEXT));";
    connection.execute_batch(made).unwrap();
    (folder, format!("sqlite:{}", path.display()))
}

#[test]
fn tables_and_queries_are_read_as_text() {
    let (_folder, url) = sqlite();
    let (names, rows) = all(&format!("{url}?table=people")).unwrap();
    assert_eq!(names, ["age", "weight", "name", "photo"]);
    let expected = [
        row(&[Some("34"), Some("61.5"), Some("Ann"), Some("\\x00ff")]),
        row(&[None; 4]),
        row(&[Some("-1"), Some("2"), Some("é, \"x\""), Some("\\x")]),
    ];
    assert_eq!(rows, expected);
    assert_eq!(all(&format!("{url}?table=main.people")).unwrap().1, expected);
    let query = "SELECT name AS n, age FROM people WHERE name LIKE 'A%25' AND 1=1";
    let (names, rows) = all(&format!("{url}?query={query}")).unwrap();
    assert_eq!(names, ["n", "age"]);
    assert_eq!(rows, [row(&[Some("Ann"), Some("34")])]);
    assert_eq!(all(&format!("{url}?query=select count(*) from people;")).unwrap().1, [row(&[Some("3")])]);
    let (names, rows) = all(&format!("{url}?table=none")).unwrap();
    assert_eq!((names.len(), rows.len()), (2, 0));
}

#[test]
fn tables_may_be_long_or_left_early() {
    let (_folder, url) = sqlite();
    let url = format!("{url}?table=many");
    let (_, rows) = all(&url).unwrap();
    let expected: Vec<Row> = (1..=10_000).map(|n: u32| vec![Some(n.to_string())]).collect();
    assert!(rows == expected);
    let mut rows = Databases.open(&url, &Unobserved).unwrap().unwrap();
    assert_eq!((rows.name, rows.arrays.len()), (url, 0));
    assert_eq!(rows.rows.next().unwrap().unwrap(), row(&[Some("1")]));
}

#[test]
fn names_of_tables_are_nothing_but_names() {
    let (_folder, url) = sqlite();
    for odd in ["odd \" name; DROP TABLE people; --", "odd%20%22%20name;%20DROP%20TABLE%20people;%20--"] {
        assert_eq!(all(&format!("{url}?table={odd}")).unwrap().1, [row(&[Some("7")])]);
    }
    assert!(all(&format!("{url}?table=a%2Eb")).is_ok());
    for table in ["a.b", "people; DROP TABLE people", "people\" WHERE 1=0 --"] {
        assert!(all(&format!("{url}?table={table}")).is_err());
    }
    assert_eq!(all(&format!("{url}?table=people")).unwrap().1.len(), 3);
}

#[test]
fn nothing_is_written() {
    let (_folder, url) = sqlite();
    for query in [
        "DELETE FROM people",
        "SELECT 1; DELETE FROM people",
        "CREATE TABLE x (a)",
        "INSERT INTO people (age) VALUES (1) RETURNING age",
    ] {
        let _ = all(&format!("{url}?query={query}"));
    }
    assert_eq!(all(&format!("{url}?table=people")).unwrap().1.len(), 3);
    let missing = format!("{url}.other");
    for url in [format!("{missing}?table=people"), missing.clone()] {
        assert!(message(&url).contains("cannot be opened"));
    }
    assert!(!Path::new(&missing["sqlite:".len()..]).exists());
}

#[test]
fn errors_name_places_and_no_values() {
    let (folder, url) = sqlite();
    assert!(
        message(&format!("{url}?table=nobody")).starts_with(&format!("{url}?table=nobody: there is no such table"))
    );
    let broken = format!("{url}?table=broken");
    assert_eq!(message(&broken), format!("{broken}:2 (column t): is not UTF-8"));
    let told = format!("{:?}", error(&format!("{url}?query=SELECT secret FROM people WHERE name = 'Ann'")));
    assert!(!told.contains("Ann") && !told.contains("secret"), "{told}");
    let text = folder.path().join("text.db");
    std::fs::write(&text, "name,age\nAnn,34\n".repeat(100)).unwrap();
    assert!(message(&format!("sqlite:{}?table=a", text.display())).contains("is not a SQLite database"));
    for url in [
        "postgres://ann:pass@word@127.0.0.1:1/db?table=t",
        "postgres://ann:pass@word@[bad/db?password=pass&table=t",
        "postgres://ann@127.0.0.1:1/db?password=password",
        "mysql://ann:password@127.0.0.1/db",
    ] {
        let told = format!("{:?} {}", error(url), shown(url));
        assert!(!told.contains("pass") && !told.contains("word") && told.contains("ann"), "{told}");
    }
}

#[test]
fn which_table_is_asked_and_never_guessed() {
    let (folder, url) = sqlite();
    let path = &url["sqlite:".len()..];
    assert_eq!(message(&url), format!("{url}: which table?"));
    assert_eq!(message(path), format!("{path}: is a SQLite database: which table?"));
    for location in [&url, path] {
        let told = hint(location);
        assert!(told.starts_with("its tables are a.b, broken, many, none, odd"), "{told}");
        assert!(told.ends_with(&format!("write {url}?table=a%2Eb")), "{told}");
    }
    // The name of the file means nothing.
    let only = folder.path().join("clinic.csv");
    rusqlite::Connection::open(&only)
        .unwrap()
        .execute_batch("CREATE TABLE people (a); INSERT INTO people VALUES ('Ann')")
        .unwrap();
    let only = only.display().to_string();
    assert_eq!(hint(&only), format!("its only table is people; write sqlite:{only}?table=people"));
    let error = read_sets(Path::new(&only), &Options::default(), &Databases, &Unobserved).unwrap_err();
    assert_eq!(error.to_string(), format!("{only}: is a SQLite database: which table?"));
    let empty = folder.path().join("empty.db");
    rusqlite::Connection::open(&empty).unwrap().execute_batch("CREATE TABLE x (a); DROP TABLE x").unwrap();
    assert!(message(&empty.display().to_string()).contains("has no table"));
    let crowded = folder.path().join("crowded.db");
    let many: String = (0..100).map(|n| format!("CREATE TABLE t{n:02} (a);")).collect();
    rusqlite::Connection::open(&crowded).unwrap().execute_batch(&many).unwrap();
    assert!(hint(&crowded.display().to_string()).contains("t28, t29 and 70 more;"));
}

#[test]
fn files_are_left_to_others() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("people.db");
    std::fs::write(&text, "SQLite format 3 is not what this is\n").unwrap();
    for file in [text.to_str().unwrap(), folder.path().to_str().unwrap(), "-", "none.db", "c:\\a.csv"] {
        assert!(Databases.open(file, &Unobserved).is_none(), "{file}");
        assert_eq!(shown(file), file);
    }
}
