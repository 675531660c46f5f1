//! What a URL asks for, and how to speak of it without passwords.
//!
//! After `?` stands `table=NAME`, `table=SCHEMA.NAME` or `query=SELECT ...`, and what the server's driver takes. A query is the
//! last part of a URL. `%` is written `%25`, as in all URLs; a dot inside a name `%2E`.
//!
//! Promises:   of what stands after `?`, only names of tables and the places of servers are shown: neither passwords nor
//!             queries, which may have values in them. A password may have `@` and `?` in it, although it should not
//! Checked by: tests in this file

use disjoin::read::scheme;
use disjoin::{Error, Place, Result};

/// What may be shown of the parameters of a URL.
const SHOWN: [&str; 8] = ["table", "host", "hostaddr", "port", "user", "dbname", "sslmode", "connect_timeout"];

/// The databases that are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Sqlite,
    Postgres,
}

/// What to read.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    pub(crate) kind: Kind,
    /// What the driver is told: a path, or a URL without what is ours.
    pub(crate) address: String,
    /// What reads the table; none if no table is named.
    pub(crate) query: Option<String>,
    /// Whether somebody wrote the name of a file, and no URL.
    pub(crate) is_file_name: bool,
    /// The URL without passwords.
    shown: String,
}

impl Wanted {
    pub(crate) fn parse(url: &str) -> Result<Wanted> {
        let shown = shown(url);
        let refuse = |problem: &str, hint: &str| Err(Error::input(Place::file(&shown), problem).with_hint(hint));
        let kind = match scheme(url) {
            Some("sqlite") => Kind::Sqlite,
            Some("postgres" | "postgresql") => Kind::Postgres,
            _ => return refuse("is not a URL that disjoin reads", "write sqlite:FILE?table=NAME or postgres://..."),
        };
        let (base, parameters) = split(url);
        let (mut asked, mut others) = (Vec::new(), Vec::new());
        for parameter in &parameters {
            let query = match parameter.split_once('=') {
                Some(("table", name)) => table_query(name),
                Some(("query", query)) => decode(query).map(|query| query.trim().trim_end_matches(';').to_owned()),
                _ => {
                    others.push(*parameter);
                    continue;
                }
            };
            let Some(query) = query else {
                return refuse("a % of the URL is not followed by two hexadecimal digits", "write % as %25");
            };
            asked.push(query);
        }
        if asked.len() > 1 {
            return refuse("more than one table or query", "read one at a time");
        }
        if asked.iter().any(|query| query.contains('\0')) {
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
        Ok(Wanted { kind, address, query: asked.pop(), is_file_name: false, shown })
    }

    /// A SQLite file, of which nobody said what to read.
    pub(crate) fn nothing_of_file(path: &str) -> Wanted {
        let shown = path.to_owned();
        Wanted { kind: Kind::Sqlite, address: shown.clone(), query: None, is_file_name: true, shown }
    }

    /// What to write to read a table.
    pub(crate) fn how_to_ask(&self, table: &str) -> String {
        let table = encode(table);
        match self.kind {
            Kind::Sqlite => format!("write sqlite:{}?table={table}", self.address),
            // The URL may have had more than is shown.
            Kind::Postgres if self.address.contains('?') => format!("add &table={table} to the URL"),
            Kind::Postgres => format!("add ?table={table} to the URL"),
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.shown
    }

    pub(crate) fn error_in_row(&self, row: u64, column: &str, problem: &str) -> Error {
        Error::input(Place::line(&self.shown, row).in_column(column), problem)
    }

    pub(crate) fn error(&self, problem: impl Into<String>) -> Error {
        Error::input(Place::file(&self.shown), problem)
    }
}

/// How to speak of a location: a URL without passwords and queries, or the name of a file as it is.
pub fn shown(location: &str) -> String {
    let Some(scheme) = scheme(location) else { return location.to_owned() };
    let (base, parameters) = split(location);
    let base = if scheme == "sqlite" { base.to_owned() } else { without_password(base) };
    let shown: Vec<&str> = parameters
        .iter()
        .filter_map(|parameter| match parameter.split_once('=')? {
            ("query", _) => Some("query=..."),
            (key, value) if SHOWN.contains(&key) && (key == "table" || !value.contains('@')) => Some(*parameter),
            _ => None,
        })
        .collect();
    if shown.is_empty() { base } else { format!("{base}?{}", shown.join("&")) }
}

/// What stands before the parameters, and each of them.
fn split(url: &str) -> (&str, Vec<&str>) {
    // A question mark that an @ follows, before anything is set, is part of a password.
    let is_before = |at: &usize| {
        let rest = &url[at + 1..];
        !rest[..rest.find(['=', '&']).unwrap_or(rest.len())].contains('@')
    };
    let Some(at) = url.match_indices('?').map(|(at, _)| at).find(is_before) else { return (url, Vec::new()) };
    let (mut parameters, mut rest) = (Vec::new(), &url[at + 1..]);
    while !rest.is_empty() {
        // A query may have anything in it.
        let (parameter, following) = match rest.starts_with("query=") {
            true => (rest, ""),
            false => rest.split_once('&').unwrap_or((rest, "")),
        };
        parameters.push(parameter);
        rest = following;
    }
    (&url[..at], parameters)
}

/// A URL without the password of `user:password@host`.
fn without_password(base: &str) -> String {
    let Some((scheme, rest)) = base.split_once("://") else {
        return base.split_once(':').map_or_else(String::new, |(scheme, _)| format!("{scheme}:..."));
    };
    // A password may have an unescaped @ in it.
    if let Some((user, host)) = rest.rsplit_once('@') {
        return format!("{scheme}://{}@{host}", user.split(':').next().unwrap_or_default());
    }
    // What follows a colon is a port then. If it is no number, somebody forgot the host after a password.
    let hosts = rest.split('/').next().unwrap_or_default();
    let is_port = |host: &str| match host.rsplit_once(':') {
        Some((_, port)) => host.ends_with(']') || port.bytes().all(|byte| byte.is_ascii_digit()),
        None => true,
    };
    if hosts.split(',').all(is_port) { base.to_owned() } else { format!("{scheme}://...") }
}

/// The query that reads a table: names with dots between them, which SQL can only take for names.
fn table_query(table: &str) -> Option<String> {
    let quoted = |name| decode(name).map(|name| format!("\"{}\"", name.replace('"', "\"\"")));
    let names: Option<Vec<String>> = table.split('.').map(quoted).collect();
    Some(format!("SELECT * FROM {}", names?.join(".")))
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

/// A name as a URL has it: what could end it, and what a shell would take apart, in hexadecimal.
fn encode(name: &str) -> String {
    let plain = |character: char| character.is_alphanumeric() || matches!(character, '_' | '-');
    let written = |character: char| match plain(character) {
        true => character.to_string(),
        false => character.to_string().bytes().map(|byte| format!("%{byte:02X}")).collect(),
    };
    name.chars().map(written).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_and_queries_are_not_shown() {
        for (url, expected) in [
            ("a@b:c.csv", "a@b:c.csv"),
            ("sqlite:a@b.db?table=people", "sqlite:a@b.db?table=people"),
            ("sqlite:a.db?query=SELECT 'Ann' & 1", "sqlite:a.db?query=..."),
            ("sqlite:a.db?key=secret&table=t", "sqlite:a.db?table=t"),
            ("postgres://host:5432,[::1]:7/db?table=t", "postgres://host:5432,[::1]:7/db?table=t"),
            ("postgres://ann:secret@host/db?table=s.t", "postgres://ann@host/db?table=s.t"),
            ("postgresql://ann:se@cret@host/db", "postgresql://ann@host/db"),
            ("postgres://ann:se?cret@host/db?table=t", "postgres://ann@host/db?table=t"),
            ("postgres://ann:se?cret@host/db", "postgres://ann@host/db"),
            ("postgres://host/db?password=secret&table=t&user=ann", "postgres://host/db?table=t&user=ann"),
            ("postgres://host/db?table=t&PASSWORD=secret", "postgres://host/db?table=t"),
            ("postgres://ann:secret", "postgres://..."),
            ("postgres://ann:secret/db?table=t", "postgres://...?table=t"),
            ("postgres://ann:secret?x=cret@host/db", "postgres://..."),
            ("postgres:ann:secret@host/db", "postgres:..."),
            ("mysql://ann:secret@host/db", "mysql://ann@host/db"),
        ] {
            assert_eq!(shown(url), expected, "{url}");
            assert!(!shown(url).contains("cret"), "{url}");
        }
    }

    #[test]
    fn tables_and_queries_are_understood() {
        let parsed = |url: &str| Wanted::parse(url).unwrap();
        let wanted = parsed("sqlite:a/b.db?table=main.odd%20%22%2E%22");
        assert_eq!((wanted.kind, wanted.address.as_str()), (Kind::Sqlite, "a/b.db"));
        assert_eq!(wanted.query.unwrap(), "SELECT * FROM \"main\".\"odd \"\".\"\"\"");
        let wanted = parsed("postgres://h/d?host=/tmp&query=SELECT a FROM b WHERE c LIKE 'x%25' AND d = 'e&f';");
        assert_eq!((wanted.kind, wanted.address.as_str()), (Kind::Postgres, "postgres://h/d?host=/tmp"));
        assert_eq!(wanted.query.unwrap(), "SELECT a FROM b WHERE c LIKE 'x%' AND d = 'e&f'");
        assert_eq!(parsed("postgres://h/d").query, None);
        for name in ["people", "a.b", "a&b", "50% \"x\"; --", "Größe"] {
            let query = parsed(&format!("sqlite:x?table={}", encode(name))).query.unwrap();
            assert_eq!(query, format!("SELECT * FROM \"{}\"", name.replace('"', "\"\"")));
        }
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for (url, problem) in [
            ("sqlite:a?table=a&query=SELECT 1", "more than one"),
            ("sqlite:a?table=a&table=b", "more than one"),
            ("sqlite:a?table=%zz", "hexadecimal"),
            ("sqlite:a?table=%4", "hexadecimal"),
            ("sqlite:a?table=a%00", "zero byte"),
            ("sqlite:a?mode=rw&table=a", "something else"),
            ("mysql://ann:secret@h/d?table=t", "is not a URL that disjoin reads"),
        ] {
            let error = Wanted::parse(url).unwrap_err();
            assert!(error.to_string().contains(problem), "{error}");
            assert!(!format!("{error:?}").contains("secret"), "{error:?}");
        }
    }
}
