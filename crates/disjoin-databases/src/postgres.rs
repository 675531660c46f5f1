//! PostgreSQL: a server, read by a cursor in a transaction that cannot write.
//!
//! Checked by: `tests/it/postgres.rs`

use std::error::Error as _;

use disjoin::read::{Row, Rows};
use disjoin::{Error, Result};
use postgres::error::SqlState;
use postgres::types::{Kind, Type};
use postgres::{Client, Config, NoTls, SimpleQueryMessage};

use crate::BATCH;
use crate::url::Wanted;

/// What can be named without a schema, and is not the server's own.
const TABLES: &str = "SELECT c.relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
     WHERE c.relkind IN ('r', 'v', 'm', 'p', 'f') AND pg_catalog.pg_table_is_visible(c.oid) \
     AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_' ORDER BY 1";

/// The names of the tables and views of the search path.
pub(crate) fn tables(wanted: &Wanted) -> Result<Vec<String>> {
    let messages = connect(wanted)?.simple_query(TABLES).map_err(|error| in_words(wanted, &error))?;
    Ok(messages.iter().filter_map(texts).flatten().flatten().collect())
}

/// Reads a table or query.
pub(crate) fn read(wanted: Wanted, query: &str) -> Result<Rows> {
    let failed = |error: postgres::Error| in_words(&wanted, &error);
    let mut client = connect(&wanted)?;
    // Only a single statement can be prepared: nothing can hide behind a semicolon.
    let statement = client.prepare(query).map_err(failed)?;
    let header: Vec<String> = statement.columns().iter().map(|column| column.name().to_owned()).collect();
    if header.is_empty() {
        return Err(wanted.error("the query has no result").with_hint("begin it with SELECT"));
    }
    // Boxes are the only type whose arrays have another separator than a comma.
    let is_array = |kind: &Kind| matches!(kind, Kind::Array(inner) if *inner != Type::BOX);
    let columns = statement.columns().iter().enumerate();
    let arrays = columns.filter(|(_, column)| is_array(column.type_().kind())).map(|(at, _)| at).collect();
    client.batch_execute(&format!("DECLARE rows NO SCROLL CURSOR FOR {query}")).map_err(failed)?;
    let name = wanted.name().to_owned();
    let rows = Fetched { wanted, client, batch: Vec::new().into_iter(), ended: false };
    Ok(Rows { name, header, arrays, rows: Box::new(rows) })
}

/// A connection with an open transaction, which cannot write.
fn connect(wanted: &Wanted) -> Result<Client> {
    let failed = |error: postgres::Error| in_words(wanted, &error);
    let mut config: Config = (wanted.address.parse())
        .map_err(|_| wanted.error("is not a valid URL").with_hint("write postgres://user@host/database?table=NAME"))?;
    // As all programs of PostgreSQL do, so that passwords need not be written into commands.
    if let (None, Ok(password)) = (config.get_password(), std::env::var("PGPASSWORD")) {
        config.password(password);
    }
    let mut client = config.connect(NoTls).map_err(failed)?;
    client
        .batch_execute("SET datestyle TO ISO; START TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        .map_err(failed)?;
    Ok(client)
}

struct Fetched {
    wanted: Wanted,
    client: Client,
    batch: std::vec::IntoIter<Row>,
    ended: bool,
}

impl Iterator for Fetched {
    type Item = Result<Row>;

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
                    return Some(Err(in_words(&self.wanted, &error)));
                }
            }
        }
    }
}

/// Answers to simple queries are text, whatever the type.
fn texts(message: &SimpleQueryMessage) -> Option<Row> {
    let SimpleQueryMessage::Row(row) = message else { return None };
    Some((0..row.len()).map(|column| row.get(column).map(str::to_owned)).collect())
}

/// What went wrong, without the server's words, which may quote values; its code is enough to look them up.
fn in_words(wanted: &Wanted, error: &postgres::Error) -> Error {
    let Some(code) = error.code() else {
        // The system's words, such as: connection refused.
        let cause = error.source().and_then(|cause| cause.downcast_ref::<std::io::Error>());
        return match cause {
            Some(cause) => wanted.error(format!("cannot be reached: {cause}")),
            None => wanted.error("does not answer as expected").with_hint("does it ask for TLS or a password?"),
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
    wanted.error(format!("{problem} (PostgreSQL says {})", code.code()))
}
