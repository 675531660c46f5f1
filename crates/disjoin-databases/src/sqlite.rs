//! SQLite: a file, opened to read.
//!
//! Checked by: `tests/it/sqlite.rs`

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use disjoin::read::{Row, Rows};
use disjoin::{Error, Result};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::BATCH;
use crate::url::Wanted;

/// How every SQLite database begins.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// What people made, and not what SQLite keeps for itself.
const TABLES: &str =
    "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT GLOB 'sqlite_*' ORDER BY name";

/// Whether a file is a SQLite database, whatever its name.
pub(crate) fn is_database(path: &Path) -> bool {
    // What is no file of the disk may be read only once.
    if !path.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return false;
    }
    let mut first = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MAGIC.len() as u64).read_to_end(&mut first));
    read.is_ok() && first == MAGIC
}

/// The names of the tables and views.
pub(crate) fn tables(wanted: &Wanted) -> Result<Vec<String>> {
    let failed = |error: rusqlite::Error| wanted.error(in_words(&error));
    let connection = open(wanted)?;
    let mut statement = connection.prepare(TABLES).map_err(failed)?;
    let names = statement.query_map([], |row| row.get(0)).map_err(failed)?;
    names.collect::<rusqlite::Result<_>>().map_err(failed)
}

/// Rows are read by a thread of their own: they borrow from the statement, and that from the connection.
pub(crate) fn read(wanted: Wanted, query: String) -> Result<Rows> {
    let (out, messages) = sync_channel(2);
    let name = wanted.name().to_owned();
    std::thread::spawn(move || {
        let end = send(&wanted, &query, &out).map(|()| Message::End);
        // Whoever does not listen any more does not need to know.
        let _ = out.send(end);
    });
    match messages.recv() {
        Ok(Ok(Message::Names(header))) => {
            Ok(Rows::new(name, header, Received { messages, batch: Vec::new().into_iter(), ended: false }))
        }
        Ok(Err(error)) => Err(error),
        _ => Err(SILENCE),
    }
}

/// What the reading thread says: names first, the end last. Silence without an end is a defect, never the end of the table.
enum Message {
    Names(Vec<String>),
    Rows(Vec<Row>),
    End,
}

const SILENCE: Error = Error::Internal("the reader of a database ended early");

struct Received {
    messages: Receiver<Result<Message>>,
    batch: std::vec::IntoIter<Row>,
    ended: bool,
}

impl Iterator for Received {
    type Item = Result<Row>;

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

fn open(wanted: &Wanted) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(&wanted.address, flags).map_err(|error| wanted.error(in_words(&error)))
}

/// Sends the names of the columns, then all rows; ends early if nobody listens.
fn send(wanted: &Wanted, query: &str, out: &SyncSender<Result<Message>>) -> Result<()> {
    let failed = |error: rusqlite::Error| wanted.error(in_words(&error));
    let connection = open(wanted)?;
    let mut statement = connection.prepare(query).map_err(failed)?;
    let names: Vec<String> = statement.column_names().iter().map(|&name| name.to_owned()).collect();
    if names.is_empty() {
        return Err(wanted.error("the query has no result").with_hint("begin it with SELECT"));
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
            texts.push(text.map_err(|problem| wanted.error_in_row(number, name, problem))?);
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
        ValueRef::Blob(bytes) => Some(format!("\\x{}", bytes.iter().map(|b| format!("{b:02x}")).collect::<String>())),
    })
}

/// What went wrong, without the database's words, which may quote what it read.
fn in_words(error: &rusqlite::Error) -> &'static str {
    match error.sqlite_error_code() {
        Some(ErrorCode::CannotOpen) => "cannot be opened: is there such a file?",
        Some(ErrorCode::NotADatabase) => "is not a SQLite database",
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => "is locked by another program",
        Some(ErrorCode::DatabaseCorrupt) => "is damaged",
        Some(ErrorCode::PermissionDenied | ErrorCode::ReadOnly) => "may not be read, or would have to be written to",
        Some(_) => "there is no such table, or the query is not understood",
        None => "the query is not one statement that reads",
    }
}
