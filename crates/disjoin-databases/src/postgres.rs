//! PostgreSQL: a server, read by a cursor in a transaction that cannot write.
//!
//! Promises:   when nobody wants the rows any more, the server is asked to cancel the query. How long a statement may take is the
//!             server's `statement_timeout`, which `options` or `PGOPTIONS` can set
//! Checked by: `tests/it/{postgres,encrypted}.rs`

use std::error::Error as _;

use disjoin::read::{Row, Rows};
use disjoin::{Error, Observer, Result};
use postgres::error::SqlState;
use postgres::types::{Kind, Type};
use postgres::{Client, SimpleQueryMessage};
use rustls::CertificateError;

use crate::BATCH;
use crate::feed::{Head, Out, feed, names};
use crate::settings::{Settings, settings};
use crate::tls::{Mode, connector};
use crate::url::Wanted;

/// What can be named without a schema, and is not the server's own.
const TABLES: &str = "SELECT c.relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
     WHERE c.relkind IN ('r', 'v', 'm', 'p', 'f') AND pg_catalog.pg_table_is_visible(c.oid) \
     AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_' ORDER BY 1";

/// The names of the tables and views of the search path.
pub(crate) fn tables(wanted: &Wanted, observer: &dyn Observer) -> Result<Vec<String>> {
    names(read(wanted.clone(), TABLES.to_owned(), observer)?)
}

/// Reads a table or query.
pub(crate) fn read(wanted: Wanted, query: String, observer: &dyn Observer) -> Result<Rows<'_>> {
    let name = wanted.name().to_owned();
    feed(&name, observer, move |out| send(&wanted, &query, out))
}

/// Sends what is known of the columns, then all rows; ends early if nobody listens.
fn send(wanted: &Wanted, query: &str, out: &Out) -> Result<()> {
    let failed = |error: postgres::Error| in_words(wanted, &error);
    let (mut client, warnings) = connect(wanted, out)?;
    // Only a single statement can be prepared: nothing can hide behind a semicolon.
    let statement = client.prepare(query).map_err(failed)?;
    let columns: Vec<String> = statement.columns().iter().map(|column| column.name().to_owned()).collect();
    if columns.is_empty() {
        return Err(wanted.error("the query has no result").with_hint("begin it with SELECT"));
    }
    // Boxes are the only type whose arrays have another separator than a comma.
    let is_array = |kind: &Kind| matches!(kind, Kind::Array(inner) if *inner != Type::BOX);
    let numbered = statement.columns().iter().enumerate();
    let arrays = numbered.filter(|(_, column)| is_array(column.type_().kind())).map(|(at, _)| at).collect();
    client.batch_execute(&format!("DECLARE rows NO SCROLL CURSOR FOR {query}")).map_err(failed)?;
    let mut is_wanted = out.head(Head { columns, arrays, warnings });
    while is_wanted {
        let messages = client.simple_query(&format!("FETCH {BATCH} FROM rows")).map_err(failed)?;
        let rows: Vec<Row> = messages.iter().filter_map(texts).collect();
        is_wanted = rows.len() == BATCH;
        is_wanted &= out.rows(rows);
    }
    Ok(())
}

/// A connection with an open transaction, which cannot write; and what its user should know.
fn connect(wanted: &Wanted, out: &Out) -> Result<(Client, Vec<String>)> {
    let Settings { config, checks, is_local, mut warnings } = settings(wanted, &|name| std::env::var(name).ok())?;
    let connector = connector(wanted, &checks)?;
    // A warning is forgotten with an error, and it may say why.
    let failed = |error: postgres::Error| match (in_words(wanted, &error), warnings.first()) {
        (error @ Error::Input { .. }, Some(warning)) if error.hint() == Some(NO_PASSWORD) => error.with_hint(warning),
        (error, _) => error,
    };
    let mut client = config.connect(connector.tls.clone()).map_err(failed)?;
    let (token, tls) = (client.cancel_token(), connector.tls.clone());
    out.stop.on_stop(move || {
        let _ = token.cancel_query(tls);
    });
    client
        .batch_execute("SET datestyle TO ISO; START TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        .map_err(|error| in_words(wanted, &error))?;
    if checks.mode == Mode::Prefer && !connector.is_encrypted() && !is_local {
        let problem = "the connection is not encrypted, since the server has no TLS; sslmode=require refuses that";
        warnings.push(format!("{}: {problem}", wanted.name()));
    }
    Ok((client, warnings))
}

/// Answers to simple queries are text, whatever the type.
fn texts(message: &SimpleQueryMessage) -> Option<Row> {
    let SimpleQueryMessage::Row(row) = message else { return None };
    Some((0..row.len()).map(|column| row.get(column).map(str::to_owned)).collect())
}

const NO_PASSWORD: &str = "set PGPASSWORD, or write the password to ~/.pgpass, which only you may read";

/// What went wrong, without the server's words, which may quote values; its code is enough to look them up.
fn in_words(wanted: &Wanted, error: &postgres::Error) -> Error {
    let Some(code) = error.code() else { return of_connection(wanted, error) };
    let problem = match *code {
        SqlState::UNDEFINED_TABLE => "there is no such table",
        SqlState::UNDEFINED_COLUMN => "there is no such column",
        SqlState::INVALID_CATALOG_NAME => "there is no such database",
        SqlState::INVALID_PASSWORD | SqlState::INVALID_AUTHORIZATION_SPECIFICATION => "does not let this user in",
        SqlState::INSUFFICIENT_PRIVILEGE => "this user may not read it",
        SqlState::READ_ONLY_SQL_TRANSACTION => "the query would write, and is only allowed to read",
        SqlState::QUERY_CANCELED => {
            let hint = "give it more time: PGOPTIONS='-c statement_timeout=1h', or options=-c%20statement_timeout%3D1h in the URL";
            let problem =
                format!("the query took longer than allowed, or was cancelled (PostgreSQL says {})", code.code());
            return wanted.error(problem).with_hint(hint);
        }
        _ => "the query failed",
    };
    wanted.error(format!("{problem} (PostgreSQL says {})", code.code()))
}

/// What went wrong before the server had a word.
fn of_connection(wanted: &Wanted, error: &postgres::Error) -> Error {
    let Some(cause) = error.source() else { return wanted.error("does not answer as expected") };
    let of_system = cause.downcast_ref::<std::io::Error>();
    let inner = of_system.and_then(std::io::Error::get_ref);
    if let Some(of_tls) = inner.and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        return not_trusted(wanted, of_tls);
    }
    match (of_system, cause.to_string().as_str()) {
        // The system's words, such as: connection refused.
        (Some(cause), _) => wanted.error(format!("cannot be reached: {cause}")),
        (None, "server does not support TLS") => {
            let hint = "have TLS set up there; only over a network that you trust, write sslmode=disable";
            wanted.error("the server has no TLS, and sslmode asks for it").with_hint(hint)
        }
        (None, "password missing") => wanted.error("asks for a password").with_hint(NO_PASSWORD),
        (None, _) => wanted.error("does not answer as expected").with_hint("does it ask for TLS or a password?"),
    }
}

/// Why a connection is not safe.
fn not_trusted(wanted: &Wanted, error: &rustls::Error) -> Error {
    let rustls::Error::InvalidCertificate(problem) = error else {
        return wanted.error(format!("the encrypted connection failed: {error}"));
    };
    match problem {
        CertificateError::UnknownIssuer | CertificateError::BadSignature => wanted
            .error("the server's certificate is not signed by a root certificate that is trusted")
            .with_hint("name the right one with sslrootcert=FILE; if it is the right one, this is another server"),
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => wanted
            .error("the server's certificate is for another host")
            .with_hint("write the host as the certificate has it; sslmode=verify-ca does not compare hosts"),
        other => wanted.error(format!("the server's certificate is not valid: {other}")),
    }
}
