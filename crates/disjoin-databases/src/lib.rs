//! Tables in databases, by URL: SQLite files and PostgreSQL servers.
//!
//! `sqlite:people.db?table=people`, `sqlite:people.db?query=SELECT age, sex FROM people`,
//! `postgres://user@host/db?table=people`.
//!
//! Promises:   databases are opened to read; nothing is written to them. The name of a table is taken as a name, whatever it
//!             is. Errors name the database and the table, and tell neither values nor passwords: what a database says is
//!             not repeated, since it quotes what it could not read. Which table to read is never guessed. Connections are
//!             encrypted where the server can. Reading ends when the observer wants it to
//! Assumes:    a table does not change while it is read, or the database hides that (both do)
//! Departs:    every value is text, as the database writes it; SQLite's binary values are hexadecimal, as PostgreSQL's
//! Cost:       rows come in batches of 4,096; a table of any size is read in little memory
//! Checked by: `tests/it`; the tests of PostgreSQL run where its programs are installed

mod feed;
mod login;
mod postgres;
mod settings;
mod sqlite;
mod tls;
mod url;

use std::path::Path;

use disjoin::location::scheme;
use disjoin::read::{Rows, Sources};
use disjoin::{Error, Observer, Result};

use url::{Kind, Wanted};

/// Rows that are handed over at once.
const BATCH: usize = 4096;

/// So many names of tables are listed.
const LISTED: usize = 30;

/// PostgreSQL and SQLite, besides files.
#[derive(Debug, Clone, Copy, Default)]
pub struct Databases;

impl Sources for Databases {
    /// The rows of a table or query. A SQLite file by its name alone is an error that lists its tables.
    fn open<'a>(&self, location: &str, observer: &'a dyn Observer) -> Option<Result<Rows<'a>>> {
        if scheme(location).is_some() {
            return Some(Wanted::parse(location).and_then(|wanted| read(wanted, observer)));
        }
        sqlite::is_database(Path::new(location)).then(|| read(Wanted::nothing_of_file(location), observer))
    }
}

fn read(wanted: Wanted, observer: &dyn Observer) -> Result<Rows<'_>> {
    match (wanted.kind, wanted.query.clone()) {
        (Kind::Sqlite, Some(query)) => sqlite::read(wanted, query, observer),
        (Kind::Sqlite, None) => Err(which(&wanted, &sqlite::tables(&wanted, observer)?)),
        (Kind::Postgres, Some(query)) => postgres::read(wanted, query, observer),
        (Kind::Postgres, None) => Err(which(&wanted, &postgres::tables(&wanted, observer)?)),
    }
}

/// Asks which table is meant, even if there is only one.
fn which(wanted: &Wanted, tables: &[String]) -> Error {
    let Some(first) = tables.first() else {
        return wanted.error("has no table that could be read");
    };
    let names = tables.iter().take(LISTED).map(String::as_str).collect::<Vec<_>>().join(", ");
    let list = match tables.len() {
        1 => format!("its only table is {names}"),
        n if n > LISTED => format!("its tables are {names} and {} more", n - LISTED),
        _ => format!("its tables are {names}"),
    };
    let problem = if wanted.is_file_name { "is a SQLite database: which table?" } else { "which table?" };
    wanted.error(problem).with_hint(format!("{list}; {}", wanted.how_to_ask(first)))
}
