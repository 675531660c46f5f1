//! What a URL asks for.
//!
//! After `?` stands `table=NAME`, `table=SCHEMA.NAME` or `query=SELECT ...`, and what the database takes besides. A query is the
//! last part of a URL. `%` is written `%25`, as in all URLs; a dot inside a name `%2E`.
//!
//! Promises:   errors speak of the URL as `disjoin::location` shows it: without passwords and queries
//! Checked by: tests in this file

use disjoin::location::{Url, decode, shown};
use disjoin::{Error, Place, Result};

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
    /// The path of a file, or a URL without its parameters.
    pub(crate) address: String,
    /// What else is asked of a server: keywords and values.
    pub(crate) parameters: Vec<(String, String)>,
    /// How many steps a query of a file may take, if not the usual.
    pub(crate) steps: Option<u64>,
    /// What reads the table; none if no table is named.
    pub(crate) query: Option<String>,
    /// Whether somebody wrote the name of a file, and no URL.
    pub(crate) is_file_name: bool,
    /// The URL without passwords.
    shown: String,
}

impl Wanted {
    pub(crate) fn parse(url: &str) -> Result<Wanted> {
        let refuse = |problem: &str, hint: &str| Err(Error::input(Place::file(url), problem).with_hint(hint));
        let unknown = || refuse("is not a URL that disjoin reads", "write sqlite:FILE?table=NAME or postgres://...");
        let Some(Url { scheme, base, parameters }) = Url::of(url) else { return unknown() };
        let kind = match scheme {
            "sqlite" => Kind::Sqlite,
            "postgres" | "postgresql" => Kind::Postgres,
            _ => return unknown(),
        };
        let (mut asked, mut others) = (Vec::new(), Vec::new());
        for parameter in parameters {
            let is_understood = match parameter.split_once('=') {
                Some(("table", name)) => table_query(name).map(|query| asked.push(query)),
                Some(("query", query)) => {
                    decode(query).map(|query| asked.push(query.trim().trim_end_matches(';').to_owned()))
                }
                Some((key, value)) => decode(key).zip(decode(value)).map(|pair| others.push(pair)),
                None => {
                    return refuse("a parameter of the URL has no value", "write NAME=VALUE after ?, with & between");
                }
            };
            if is_understood.is_none() {
                return refuse("a % of the URL is not followed by two hexadecimal digits", "write % as %25");
            }
        }
        if asked.len() > 1 {
            return refuse("more than one table or query", "read one at a time");
        }
        let all = asked.iter().chain(others.iter().flat_map(|(key, value)| [key, value]));
        if all.into_iter().any(|text| text.contains('\0')) {
            return refuse("a name or query has a zero byte in it", "leave it out");
        }
        let mut wanted = Wanted {
            kind,
            address: base.to_owned(),
            parameters: others,
            steps: None,
            query: asked.pop(),
            is_file_name: false,
            shown: shown(url),
        };
        if kind == Kind::Sqlite {
            wanted.address.replace_range(.."sqlite:".len(), "");
            for (key, value) in std::mem::take(&mut wanted.parameters) {
                if key != "steps" {
                    return refuse("after ? it has something else than a table or query", "write ?table=NAME");
                }
                let Ok(steps) = value.parse() else {
                    return refuse("steps is not a whole number", "write steps=10000000000");
                };
                wanted.steps = Some(steps);
            }
        }
        Ok(wanted)
    }

    /// A SQLite file, of which nobody said what to read.
    pub(crate) fn nothing_of_file(path: &str) -> Wanted {
        Wanted {
            kind: Kind::Sqlite,
            address: path.to_owned(),
            parameters: Vec::new(),
            steps: None,
            query: None,
            is_file_name: true,
            shown: path.to_owned(),
        }
    }

    /// What to write to read a table.
    pub(crate) fn how_to_ask(&self, table: &str) -> String {
        let table = encode(table);
        match self.kind {
            Kind::Sqlite => format!("write sqlite:{}?table={table}", self.address),
            Kind::Postgres if !self.parameters.is_empty() => format!("add &table={table} to the URL"),
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

/// The query that reads a table: names with dots between them, which SQL can only take for names.
fn table_query(table: &str) -> Option<String> {
    let quoted = |name| decode(name).map(|name| format!("\"{}\"", name.replace('"', "\"\"")));
    let names: Option<Vec<String>> = table.split('.').map(quoted).collect();
    Some(format!("SELECT * FROM {}", names?.join(".")))
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

/// A path as a URL of SQLite has it.
pub(crate) fn encode_path(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-~".contains(&byte);
    let written = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    let path = if cfg!(windows) { path.replace('\\', "/") } else { path.to_owned() };
    // After two slashes a host would be expected.
    let root = if path.starts_with('/') { "//" } else { "" };
    root.to_owned() + &path.bytes().map(written).collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_and_queries_are_understood() {
        let parsed = |url: &str| Wanted::parse(url).unwrap();
        let wanted = parsed("sqlite:a/b.db?table=main.odd%20%22%2E%22");
        assert_eq!((wanted.kind, wanted.address.as_str()), (Kind::Sqlite, "a/b.db"));
        assert_eq!(wanted.query.unwrap(), "SELECT * FROM \"main\".\"odd \"\".\"\"\"");
        let wanted = parsed("postgres://h/d?host=/tmp&query=SELECT a FROM b WHERE c LIKE 'x%25' AND d = 'e&f';");
        assert_eq!((wanted.kind, wanted.address.as_str()), (Kind::Postgres, "postgres://h/d"));
        assert_eq!(wanted.parameters, [(String::from("host"), String::from("/tmp"))]);
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
            ("sqlite:a?steps=many&table=a", "whole number"),
            ("postgres://ann:secret@h/d?secret&table=t", "no value"),
            ("mysql://ann:secret@h/d?table=t", "is not a URL that disjoin reads"),
        ] {
            let error = Wanted::parse(url).unwrap_err();
            assert!(error.to_string().contains(problem), "{error}");
            assert!(!format!("{error:?}").contains("secret"), "{error:?}");
        }
    }
}
