//! Tables in databases, by URL: SQLite files and PostgreSQL servers.
//!
//! `sqlite:people.db?table=people`, `sqlite:people.db?query=SELECT age, sex FROM people`,
//! `postgres://user@host/db?table=people`.
//!
//! Promises:   databases are opened to read; nothing is written to them. The name of a table is taken as a name, whatever it
//!             is. Errors name the database and the table, and tell neither values nor passwords: what a database says is
//!             not repeated, since it quotes what it could not read
//! Assumes:    a table does not change while it is read, or the database hides that (both do)
//! Departs:    every value is text, as the database writes it; SQLite's binary values are hexadecimal, as PostgreSQL's
//! Cost:       rows come in batches of 4,096; a table of any size is read in little memory
//! Checked by: tests in this file; those of PostgreSQL run where its programs are installed

use disjoin::{Error, Place, Result};

/// Rows of a table: the text of each value, none where there is no value.
pub(crate) type Rows = Box<dyn Iterator<Item = Result<Vec<Option<String>>>>>;

/// Whether a text is the URL of a database, and not the name of a file.
pub(crate) fn is_url(text: &str) -> bool {
    Kind::of(text).is_some()
}

/// The names of the columns of a table or query, and its rows.
///
/// What is read is `table_or_query` (a query if it begins with SELECT or WITH), or else what the URL says after `?table=` or
/// `?query=`. A query is the last part of a URL. `%` is written `%25` there, as in all URLs. `schema.table` is a table in a
/// schema.
pub(crate) fn read(url: &str, table_or_query: Option<&str>) -> Result<(Vec<String>, Rows)> {
    let source = Source::parse(url, table_or_query)?;
    #[cfg(feature = "databases")]
    return match source.kind {
        Kind::Sqlite => sqlite::read(source),
        Kind::Postgres => server::read(source),
    };
    #[cfg(not(feature = "databases"))]
    Err(source.error("this disjoin was built without databases").with_hint("build it with the feature databases"))
}

/// The databases that are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Sqlite,
    Postgres,
}

impl Kind {
    fn of(url: &str) -> Option<Kind> {
        match url.split_once(':')?.0 {
            "sqlite" => Some(Kind::Sqlite),
            "postgres" | "postgresql" => Some(Kind::Postgres),
            _ => None,
        }
    }
}

/// What to read, and how to speak of it.
#[derive(Debug, Clone)]
struct Source {
    kind: Kind,
    /// What the driver is told: a path, or a URL without what is ours.
    address: String,
    /// The query that reads the table, if it is not the user's own.
    query: String,
    /// The database and the table, without passwords.
    shown: String,
}

impl Source {
    fn parse(url: &str, table_or_query: Option<&str>) -> Result<Source> {
        let (base, parameters) = url.split_once('?').unwrap_or((url, ""));
        let Some(kind) = Kind::of(url) else {
            return Err(Error::input(Place::file(hide(base)), "is not the URL of a database that disjoin reads"));
        };
        let refuse = |problem: &str, hint: &str| Err(Error::input(Place::file(hide(base)), problem).with_hint(hint));
        let (mut asked, mut others) = (Vec::new(), Vec::new());
        let mut rest = parameters;
        while !rest.is_empty() {
            // A query may have anything in it.
            let (parameter, following) = match rest.starts_with("query=") {
                true => (rest, ""),
                false => rest.split_once('&').unwrap_or((rest, "")),
            };
            rest = following;
            let Some((key @ ("table" | "query"), value)) = parameter.split_once('=') else {
                others.push(parameter);
                continue;
            };
            let Some(value) = decode(value) else {
                return refuse("a % of the URL is not followed by two hexadecimal digits", "write % as %25");
            };
            asked.push((key == "query", value));
        }
        if let Some(text) = table_or_query {
            asked = vec![(is_query(text), text.to_owned())];
        }
        let (query, table) = match &asked[..] {
            [(true, query)] => (query.trim().trim_end_matches(';').to_owned(), None),
            [(false, table)] => (format!("SELECT * FROM {}", quoted(table)), Some(table.as_str())),
            [] => return refuse("which table?", "write ?table=NAME or ?query=SELECT ... after it"),
            _ => return refuse("more than one table or query", "read one at a time"),
        };
        if query.contains('\0') {
            return refuse("a name or query has a zero byte in it", "leave it out");
        }
        let address = match kind {
            Kind::Sqlite if !others.is_empty() => {
                return refuse("after ? it has something else than a table or query", "write ?table=NAME");
            }
            Kind::Sqlite => base["sqlite:".len()..].to_owned(),
            Kind::Postgres if others.is_empty() => base.to_owned(),
            Kind::Postgres => format!("{base}?{}", others.join("&")),
        };
        let shown = match table {
            Some(table) => format!("{}, table {table}", hide(base)),
            None => format!("{}, query", hide(base)),
        };
        Ok(Source { kind, address, query, shown })
    }

    #[cfg_attr(not(feature = "databases"), expect(dead_code, reason = "nothing is read then"))]
    fn error_in_row(&self, row: u64, column: &str, problem: &str) -> Error {
        Error::input(Place::line(&self.shown, row).in_column(column), problem)
    }

    fn error(&self, problem: impl Into<String>) -> Error {
        Error::input(Place::file(&self.shown), problem)
    }
}

fn is_query(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or("");
    first.len() < text.trim().len() && (first.eq_ignore_ascii_case("select") || first.eq_ignore_ascii_case("with"))
}

/// A name, or names with dots between them, that SQL can only take for names.
fn quoted(table: &str) -> String {
    table.split('.').map(|name| format!("\"{}\"", name.replace('"', "\"\""))).collect::<Vec<_>>().join(".")
}

/// How to speak of a database: its URL without a password, and without what is asked of it.
pub(crate) fn shown(url: &str) -> String {
    hide(url.split_once('?').map_or(url, |(base, _)| base))
}

/// A URL without the password of `user:password@host`.
fn hide(base: &str) -> String {
    let Some((scheme, rest)) = base.split_once("://") else { return base.to_owned() };
    // A password may have an unescaped @ in it.
    let Some((user, host)) = rest.rsplit_once('@') else { return base.to_owned() };
    format!("{scheme}://{}@{host}", user.split(':').next().unwrap_or(""))
}

/// A text of a URL with `%41` turned into `A`; none if it is not such a text.
fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, following)) = rest.split_first() {
        rest = following;
        bytes.push(match first {
            b'%' => {
                let digits = rest.split_off(..2)?;
                let value = |digit: u8| char::from(digit).to_digit(16);
                (value(digits[0])? * 16 + value(digits[1])?) as u8
            }
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

/// Rows that are handed over at once.
#[cfg(feature = "databases")]
const BATCH: usize = 4096;

#[cfg(feature = "databases")]
mod sqlite {
    use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

    use rusqlite::types::ValueRef;
    use rusqlite::{Connection, ErrorCode, OpenFlags};

    use super::{BATCH, Rows, Source};
    use disjoin::{Error, Result};

    /// What the reading thread says: names first, the end last. Silence without an end is a defect, never the end of the table.
    enum Message {
        Names(Vec<String>),
        Rows(Vec<Vec<Option<String>>>),
        End,
    }

    const SILENCE: Error = Error::Internal("the reader of a database ended early");

    /// Rows are read by a thread of their own: they borrow from the statement, and that from the connection.
    pub(super) fn read(source: Source) -> Result<(Vec<String>, Rows)> {
        let (out, messages) = sync_channel(2);
        std::thread::spawn(move || {
            let end = send(&source, &out).map(|()| Message::End);
            // Whoever does not listen any more does not need to know.
            let _ = out.send(end);
        });
        match messages.recv() {
            Ok(Ok(Message::Names(names))) => {
                Ok((names, Box::new(Received { messages, batch: Vec::new().into_iter(), ended: false })))
            }
            Ok(Err(error)) => Err(error),
            _ => Err(SILENCE),
        }
    }

    struct Received {
        messages: Receiver<Result<Message>>,
        batch: std::vec::IntoIter<Vec<Option<String>>>,
        ended: bool,
    }

    impl Iterator for Received {
        type Item = Result<Vec<Option<String>>>;

        fn next(&mut self) -> Option<Self::Item> {
            loop {
                if let Some(row) = self.batch.next() {
                    return Some(Ok(row));
                }
                if self.ended {
                    return None;
                }
                let message = self.messages.recv().unwrap_or(Err(SILENCE));
                self.ended = !matches!(message, Ok(Message::Rows(_)));
                match message {
                    Ok(Message::Rows(rows)) => self.batch = rows.into_iter(),
                    Ok(Message::End) => {}
                    Ok(Message::Names(_)) => return Some(Err(SILENCE)),
                    Err(error) => return Some(Err(error)),
                }
            }
        }
    }

    /// Sends the names of the columns, then all rows; ends early if nobody listens.
    fn send(source: &Source, out: &SyncSender<Result<Message>>) -> Result<()> {
        let failed = |error: rusqlite::Error| source.error(in_words(&error));
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&source.address, flags).map_err(failed)?;
        let mut statement = connection.prepare(&source.query).map_err(failed)?;
        let names: Vec<String> = statement.column_names().iter().map(|&name| name.to_owned()).collect();
        if names.is_empty() {
            return Err(source.error("the query has no result").with_hint("begin it with SELECT"));
        }
        let mut rows = statement.query([]).map_err(failed)?;
        if out.send(Ok(Message::Names(names.clone()))).is_err() {
            return Ok(());
        }
        let (mut batch, mut number) = (Vec::new(), 0);
        while let Some(row) = rows.next().map_err(failed)? {
            number += 1;
            let mut texts = Vec::with_capacity(names.len());
            for (column, name) in names.iter().enumerate() {
                let text = text(row.get_ref(column).map_err(failed)?);
                texts.push(text.map_err(|problem| source.error_in_row(number, name, problem))?);
            }
            batch.push(texts);
            if batch.len() == BATCH && out.send(Ok(Message::Rows(std::mem::take(&mut batch)))).is_err() {
                return Ok(());
            }
        }
        let _ = out.send(Ok(Message::Rows(batch)));
        Ok(())
    }

    fn text(value: ValueRef<'_>) -> std::result::Result<Option<String>, &'static str> {
        Ok(match value {
            ValueRef::Null => None,
            ValueRef::Integer(number) => Some(number.to_string()),
            ValueRef::Real(number) => Some(number.to_string()),
            ValueRef::Text(bytes) => Some(std::str::from_utf8(bytes).map_err(|_| "is not UTF-8")?.to_owned()),
            ValueRef::Blob(bytes) => {
                Some(format!("\\x{}", bytes.iter().map(|b| format!("{b:02x}")).collect::<String>()))
            }
        })
    }

    /// What went wrong, without the database's words, which may quote what it read.
    fn in_words(error: &rusqlite::Error) -> &'static str {
        match error.sqlite_error_code() {
            Some(ErrorCode::CannotOpen) => "cannot be opened: is there such a file?",
            Some(ErrorCode::NotADatabase) => "is not a SQLite database",
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => "is locked by another program",
            Some(ErrorCode::DatabaseCorrupt) => "is damaged",
            Some(ErrorCode::PermissionDenied | ErrorCode::ReadOnly) => {
                "may not be read, or would have to be written to"
            }
            Some(_) => "there is no such table, or the query is not understood",
            None => "the query is not one statement that reads",
        }
    }
}

#[cfg(feature = "databases")]
mod server {
    use std::error::Error as _;

    use postgres::error::SqlState;
    use postgres::{Client, Config, NoTls, SimpleQueryMessage};

    use super::{BATCH, Rows, Source};
    use disjoin::{Error, Result};

    /// Reads by a cursor, in a transaction that cannot write.
    pub(super) fn read(source: Source) -> Result<(Vec<String>, Rows)> {
        let failed = |error: postgres::Error| in_words(&source, &error);
        let mut config: Config = (source.address.parse()).map_err(|_| {
            source.error("is not a valid URL").with_hint("write postgres://user@host/database?table=NAME")
        })?;
        // As all programs of PostgreSQL do, so that passwords need not be written into commands.
        if let (None, Ok(password)) = (config.get_password(), std::env::var("PGPASSWORD")) {
            config.password(password);
        }
        let mut client = config.connect(NoTls).map_err(failed)?;
        client
            .batch_execute("SET datestyle TO ISO; START TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            .map_err(failed)?;
        // Only a single statement can be prepared: nothing can hide behind a semicolon.
        let statement = client.prepare(&source.query).map_err(failed)?;
        let names: Vec<String> = statement.columns().iter().map(|column| column.name().to_owned()).collect();
        if names.is_empty() {
            return Err(source.error("the query has no result").with_hint("begin it with SELECT"));
        }
        client.batch_execute(&format!("DECLARE rows NO SCROLL CURSOR FOR {}", source.query)).map_err(failed)?;
        Ok((names, Box::new(Fetched { source, client, batch: Vec::new().into_iter(), ended: false })))
    }

    struct Fetched {
        source: Source,
        client: Client,
        batch: std::vec::IntoIter<Vec<Option<String>>>,
        ended: bool,
    }

    impl Iterator for Fetched {
        type Item = Result<Vec<Option<String>>>;

        fn next(&mut self) -> Option<Self::Item> {
            loop {
                if let Some(row) = self.batch.next() {
                    return Some(Ok(row));
                }
                if self.ended {
                    return None;
                }
                match self.client.simple_query(&format!("FETCH {BATCH} FROM rows")) {
                    Ok(messages) => {
                        let rows: Vec<_> = messages.iter().filter_map(texts).collect();
                        self.ended = rows.len() < BATCH;
                        self.batch = rows.into_iter();
                    }
                    Err(error) => {
                        self.ended = true;
                        return Some(Err(in_words(&self.source, &error)));
                    }
                }
            }
        }
    }

    /// Answers to simple queries are text, whatever the type.
    fn texts(message: &SimpleQueryMessage) -> Option<Vec<Option<String>>> {
        let SimpleQueryMessage::Row(row) = message else { return None };
        Some((0..row.len()).map(|column| row.get(column).map(str::to_owned)).collect())
    }

    /// What went wrong, without the server's words, which may quote values; its code is enough to look them up.
    fn in_words(source: &Source, error: &postgres::Error) -> Error {
        let Some(code) = error.code() else {
            // The system's words, such as: connection refused.
            let cause = error.source().and_then(|cause| cause.downcast_ref::<std::io::Error>());
            return match cause {
                Some(cause) => source.error(format!("cannot be reached: {cause}")),
                None => source.error("does not answer as expected").with_hint("does it ask for TLS or a password?"),
            };
        };
        let problem = match *code {
            SqlState::UNDEFINED_TABLE => "there is no such table",
            SqlState::UNDEFINED_COLUMN => "there is no such column",
            SqlState::INVALID_CATALOG_NAME => "there is no such database",
            SqlState::INVALID_PASSWORD | SqlState::INVALID_AUTHORIZATION_SPECIFICATION => "does not let this user in",
            SqlState::INSUFFICIENT_PRIVILEGE => "this user may not read it",
            SqlState::READ_ONLY_SQL_TRANSACTION => "the query would write, and is only allowed to read",
            _ => "the query failed",
        };
        source.error(format!("{problem} (PostgreSQL says {})", code.code()))
    }
}

#[cfg(test)]
#[cfg(feature = "databases")]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;

    type Row = Vec<Option<String>>;

    fn all(url: &str, table_or_query: Option<&str>) -> Result<(Vec<String>, Vec<Row>)> {
        let (names, rows) = read(url, table_or_query)?;
        Ok((names, rows.collect::<Result<_>>()?))
    }

    fn row(texts: &[Option<&str>]) -> Row {
        texts.iter().map(|text| text.map(str::to_owned)).collect()
    }

    fn message(url: &str) -> String {
        all(url, None).unwrap_err().to_string()
    }

    fn sqlite() -> (tempfile::TempDir, String) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("people.db");
        let connection = rusqlite::Connection::open(&path).unwrap();
        let made = "CREATE TABLE people (age INTEGER, weight REAL, name TEXT, photo BLOB);
             INSERT INTO people VALUES (34, 61.5, 'Ann', x'00ff'), (NULL, NULL, NULL, NULL), (-1, 2, 'é, \"x\"', x'');
             CREATE TABLE \"odd \"\" name; DROP TABLE people; --\" (a); INSERT INTO \"odd \"\" name; DROP TABLE people; --\" VALUES (7);
             CREATE TABLE many (n); CREATE TABLE none (a, b);
             WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 10000) INSERT INTO many SELECT n FROM c;
             CREATE TABLE broken (t TEXT); INSERT INTO broken VALUES ('fine'), (CAST(x'fffe' AS TEXT));";
        connection.execute_batch(made).unwrap();
        (folder, format!("sqlite:{}", path.display()))
    }

    #[test]
    fn urls_are_told_from_files() {
        for url in ["sqlite:a.db", "postgres://h/d", "postgresql://h/d?table=t"] {
            assert!(is_url(url));
        }
        for file in ["a.csv", "-", "c:\\data\\a.csv", "postgres", "sqlite.db", "folder/sqlite:x"] {
            assert!(!is_url(file));
        }
    }

    #[test]
    fn sqlite_tables_are_read_as_text() {
        let (_folder, url) = sqlite();
        let (names, rows) = all(&format!("{url}?table=people"), None).unwrap();
        assert_eq!(names, ["age", "weight", "name", "photo"]);
        let expected = [
            row(&[Some("34"), Some("61.5"), Some("Ann"), Some("\\x00ff")]),
            row(&[None; 4]),
            row(&[Some("-1"), Some("2"), Some("é, \"x\""), Some("\\x")]),
        ];
        assert_eq!(rows, expected);
        assert_eq!(all(&url, Some("people")).unwrap().1, expected);
        assert_eq!(all(&url, Some("main.people")).unwrap().1, expected);
        let (names, rows) =
            all(&format!("{url}?query=SELECT name AS n, age FROM people WHERE name LIKE 'A%25' AND 1=1"), None)
                .unwrap();
        assert_eq!(
            (names, rows),
            (vec![String::from("n"), String::from("age")], vec![row(&[Some("Ann"), Some("34")])])
        );
        assert_eq!(all(&url, Some("select count(*) from people;")).unwrap().1, [row(&[Some("3")])]);
        let (names, rows) = all(&url, Some("none")).unwrap();
        assert_eq!((names.len(), rows.len()), (2, 0));
    }

    #[test]
    fn sqlite_tables_may_be_long_or_left_early() {
        let (_folder, url) = sqlite();
        let (_, rows) = all(&url, Some("many")).unwrap();
        let expected: Vec<Row> = (1..=10_000).map(|n: u32| vec![Some(n.to_string())]).collect();
        assert!(rows == expected);
        let (_, mut rows) = read(&url, Some("many")).unwrap();
        assert_eq!(rows.next().unwrap().unwrap(), row(&[Some("1")]));
    }

    #[test]
    fn names_of_tables_are_nothing_but_names() {
        let (_folder, url) = sqlite();
        let odd = "odd \" name; DROP TABLE people; --";
        assert_eq!(all(&url, Some(odd)).unwrap().1, [row(&[Some("7")])]);
        assert_eq!(
            all(&format!("{url}?table=odd%20%22%20name;%20DROP%20TABLE%20people;%20--"), None).unwrap().1.len(),
            1
        );
        assert!(all(&url, Some("people; DROP TABLE people")).is_err());
        assert!(all(&url, Some("people\" WHERE 1=0 --")).is_err());
        assert_eq!(all(&url, Some("people")).unwrap().1.len(), 3);
        assert_eq!(quoted("a\"b.c"), "\"a\"\"b\".\"c\"");
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
            let _ = all(&format!("{url}?query={query}"), None);
        }
        assert_eq!(all(&url, Some("people")).unwrap().1.len(), 3);
        let missing = format!("{url}.other");
        assert!(message(&format!("{missing}?table=people")).contains("cannot be opened"));
        assert!(!Path::new(&missing["sqlite:".len()..]).exists());
    }

    #[test]
    fn errors_name_places_and_no_values() {
        let (folder, url) = sqlite();
        assert_eq!(message(&url), format!("{url}: which table?"));
        assert!(message(&format!("{url}?table=nobody")).starts_with(&format!("{url}, table nobody: ")));
        assert!(message(&format!("{url}?table=people&query=SELECT 1")).contains("more than one"));
        assert!(message(&format!("{url}?table=%zz")).contains("hexadecimal"));
        assert!(message(&format!("{url}?mode=rw&table=people")).contains("something else"));
        assert_eq!(message(&format!("{url}?table=broken")), format!("{url}, table broken:2 (column t): is not UTF-8"));
        let secret = message(&format!("{url}?query=SELECT secret FROM people WHERE name = 'Ann'"));
        assert!(!secret.contains("Ann") && !secret.contains("secret"), "{secret}");
        let text = folder.path().join("text.db");
        std::fs::write(&text, "name,age\nAnn,34\n".repeat(100)).unwrap();
        assert!(message(&format!("sqlite:{}?table=a", text.display())).contains("is not a SQLite database"));
        for url in [
            "postgres://ann:pass@word@127.0.0.1:1/db?table=t",
            "postgres://ann:pass@word@[bad/db?password=pass&table=t",
        ] {
            let told = format!("{:?}", all(url, None).unwrap_err());
            assert!(!told.contains("pass") && !told.contains("word") && told.contains("ann"), "{told}");
        }
    }

    /// The folder of PostgreSQL's programs, if it is installed.
    fn programs() -> Option<PathBuf> {
        let debian = std::fs::read_dir("/usr/lib/postgresql")
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path().join("bin"));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut folders: Vec<PathBuf> = debian.chain(std::env::split_paths(&path)).collect();
        folders.retain(|folder| folder.join("initdb").exists() && folder.join("postgres").exists());
        folders.into_iter().next()
    }

    /// A server on a socket in a folder of its own, ended when dropped.
    #[cfg(unix)]
    struct Server {
        folder: tempfile::TempDir,
        programs: PathBuf,
        process: Option<std::process::Child>,
    }

    #[cfg(unix)]
    impl Server {
        fn start(programs: PathBuf) -> Server {
            let mut server = Server { folder: tempfile::tempdir().unwrap(), programs, process: None };
            let options = ["-A", "trust", "-U", "tester", "-E", "UTF8", "--no-sync", "-D", "data"];
            assert!(server.command("initdb").args(options).status().unwrap().success());
            let mut command = server.command("postgres");
            command.args(["-D", "data", "-c", "listen_addresses=", "-c", "fsync=off", "-k"]).arg(server.folder.path());
            server.process = Some(command.spawn().unwrap());
            let is_up = |_: &u32| {
                std::thread::sleep(std::time::Duration::from_millis(100));
                server.client().is_ok()
            };
            assert!((0..300).find(is_up).is_some(), "the server does not start");
            server
        }

        /// One of PostgreSQL's programs, run in the folder. They refuse to run as the administrator: nobody runs them then.
        fn command(&self, program: &str) -> std::process::Command {
            use std::os::unix::fs::{MetadataExt, chown};
            use std::os::unix::process::CommandExt;
            use std::process::{Command, Stdio};
            const NOBODY: u32 = 65534;

            let mut command = Command::new(self.programs.join(program));
            command.current_dir(self.folder.path());
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            let owner = self.folder.path().metadata().unwrap().uid();
            if owner == 0 {
                chown(self.folder.path(), Some(NOBODY), Some(NOBODY)).unwrap();
            }
            if owner == 0 || owner == NOBODY {
                command.uid(NOBODY).gid(NOBODY);
            }
            command
        }

        fn url(&self) -> String {
            format!("postgres://tester@/postgres?host={}", self.folder.path().display())
        }

        fn client(&self) -> std::result::Result<postgres::Client, postgres::Error> {
            postgres::Client::connect(&self.url(), postgres::NoTls)
        }
    }

    #[cfg(unix)]
    impl Drop for Server {
        fn drop(&mut self) {
            let _ = self.command("pg_ctl").args(["stop", "-m", "immediate", "-D", "data"]).status();
            if let Some(process) = &mut self.process {
                let _ = process.kill();
                let _ = process.wait();
            }
        }
    }

    #[cfg(unix)]
    #[test]
    fn postgres_tables_are_read_as_text() {
        let Some(programs) = programs() else {
            eprintln!("left out: PostgreSQL is not installed");
            return;
        };
        let server = Server::start(programs);
        let made = "CREATE TABLE people (age int, weight float8, name text, born date, well boolean, cost numeric(8, 2), tags text[]);
             INSERT INTO people VALUES (34, 61.5, 'Ann', '1990-02-01', true, 12.50, '{a,b}'),
                                       (NULL, NULL, NULL, NULL, NULL, NULL, NULL);
             CREATE SCHEMA ward; CREATE TABLE ward.many AS SELECT n FROM generate_series(1, 10000) n;
             CREATE TABLE none (a int, b int); CREATE TABLE \"odd \"\" name; DROP TABLE people; --\" (a int);";
        server.client().unwrap().batch_execute(made).unwrap();
        let url = server.url();
        let (names, rows) = all(&format!("{url}&table=people"), None).unwrap();
        assert_eq!(names, ["age", "weight", "name", "born", "well", "cost", "tags"]);
        let first = ["34", "61.5", "Ann", "1990-02-01", "t", "12.50", "{a,b}"].map(Some);
        assert_eq!(rows, [row(&first), row(&[None; 7])]);
        let (_, rows) = all(&url, Some("ward.many")).unwrap();
        assert!(rows == (1..=10_000).map(|n: u32| vec![Some(n.to_string())]).collect::<Vec<Row>>());
        assert_eq!(all(&url, Some("none")).unwrap(), (vec![String::from("a"), String::from("b")], Vec::new()));
        assert_eq!(all(&url, Some("odd \" name; DROP TABLE people; --")).unwrap().1.len(), 0);
        assert_eq!(all(&format!("{url}&query=SELECT count(*) FROM people;"), None).unwrap().1, [row(&[Some("2")])]);

        // Nothing is written, and no value or password is told.
        for query in ["DELETE FROM people", "SELECT 1; COMMIT; DELETE FROM people", "DELETE FROM people RETURNING age"]
        {
            assert!(all(&format!("{url}&query={query}"), None).is_err(), "{query}");
        }
        assert_eq!(all(&url, Some("people")).unwrap().1.len(), 2);
        let told = message(&format!("{url}&query=SELECT name::int FROM people"));
        assert!(told.contains("22P02") && !told.contains("Ann"), "{told}");
        assert!(message(&format!("{url}&table=nobody")).contains("there is no such table (PostgreSQL says 42P01)"));
    }
}
