//! SQLite: a file that may come from anybody, opened to read.
//!
//! Promises:   neither the file nor its folder is written to. What its schema says is not trusted: views may use harmless functions
//!             only, and no statement does anything but read. A query or view ends after so many steps, for every byte of the
//!             file a hundred and a hundred million more, unless the URL says `steps=N`. What is sorted stays in memory
//! Assumes:    a file in WAL mode that no program has open stays as it is while it is read; it is an error if it does not
//! Checked by: `tests/it/{sqlite,hostile}.rs`

use std::fs::{File, Metadata};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use disjoin::read::Rows;
use disjoin::{Error, Observer, Result};
use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::BATCH;
use crate::feed::{Head, Out, Stop, feed, names};
use crate::url::{Wanted, encode_path};

/// How every SQLite database begins.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// What people made, and not what SQLite keeps for itself.
const TABLES: &str =
    "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT GLOB 'sqlite_*' ORDER BY name";

/// Steps of SQLite's machine between two looks at whether to go on.
const LOOK: i32 = 10_000;

/// A scan takes fewer steps than a table has bytes: so many scans, and so many steps more, are enough for most views.
const STEPS_PER_BYTE: u64 = 100;
const STEPS_AT_LEAST: u64 = 100_000_000;

/// What one value, one statement and its parts may take: far more than tables of people need.
const LIMITS: [(Limit, i32); 8] = [
    (Limit::SQLITE_LIMIT_LENGTH, 100_000_000),
    (Limit::SQLITE_LIMIT_SQL_LENGTH, 1_000_000),
    (Limit::SQLITE_LIMIT_EXPR_DEPTH, 200),
    (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 100),
    (Limit::SQLITE_LIMIT_VDBE_OP, 1_000_000),
    (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1_000),
    (Limit::SQLITE_LIMIT_ATTACHED, 0),
    (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 0),
];

/// Whether a file is a SQLite database, whatever its name.
pub(crate) fn is_database(path: &Path) -> bool {
    // What is no file of the disk may be read only once.
    path.metadata().is_ok_and(|metadata| metadata.is_file()) && beginning(path).starts_with(MAGIC)
}

/// The names of the tables and views.
pub(crate) fn tables(wanted: &Wanted, observer: &dyn Observer) -> Result<Vec<String>> {
    names(read(wanted.clone(), TABLES.to_owned(), observer)?)
}

/// Reads a table or query.
pub(crate) fn read(wanted: Wanted, query: String, observer: &dyn Observer) -> Result<Rows<'_>> {
    let name = wanted.name().to_owned();
    feed(&name, observer, move |out| send(&wanted, &query, out))
}

/// A database that is open, and what is known of its file.
struct Opened {
    connection: Connection,
    /// The file as it was, if nothing keeps others from writing to it.
    unlocked: Option<Metadata>,
    /// Whether it took too many steps.
    exceeded: Arc<AtomicBool>,
}

fn open(wanted: &Wanted, stop: &Stop) -> Result<Opened> {
    let path = Path::new(&wanted.address);
    let file = match path.metadata() {
        Ok(metadata) if metadata.is_file() => metadata,
        Ok(_) => return Err(wanted.error("is no file")),
        Err(_) => return Err(wanted.error("cannot be opened: is there such a file?")),
    };
    let is_unlocked = has_no_log(wanted, path)?;
    let limit = wanted.steps.unwrap_or_else(|| STEPS_AT_LEAST + STEPS_PER_BYTE.saturating_mul(file.len()));
    let exceeded = Arc::new(AtomicBool::new(false));
    let connection = connected(path, is_unlocked, limit, exceeded.clone(), stop.clone())
        .map_err(|error| wanted.error(in_words(&error)))?;
    let opened = Opened { connection, unlocked: is_unlocked.then_some(file), exceeded };
    check_schema(wanted, &opened)?;
    // From here on nothing but reading is prepared. Names in the schema are texts, as this callback expects.
    opened.connection.authorizer(Some(reads_only)).map_err(|error| wanted.error(in_words(&error)))?;
    Ok(opened)
}

fn connected(
    path: &Path,
    is_unlocked: bool,
    limit: u64,
    exceeded: Arc<AtomicBool>,
    stop: Stop,
) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let immutable = if is_unlocked { "&immutable=1" } else { "" };
    let connection = Connection::open_with_flags(
        format!("file:{}?mode=ro{immutable}", encode_path(&path.to_string_lossy())),
        flags,
    )?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, false)?;
    for (limit, value) in LIMITS {
        connection.set_limit(limit, value)?;
    }
    let mut steps = 0_u64;
    let is_over = move || {
        steps += LOOK as u64;
        if steps > limit {
            exceeded.store(true, Ordering::Relaxed);
        }
        steps > limit || stop.is_asked()
    };
    connection.progress_handler(LOOK, Some(is_over))?;
    connection.execute_batch(
        "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY; PRAGMA query_only = ON;",
    )?;
    Ok(connection)
}

/// Whether a file is in WAL mode and no program has it open: SQLite would make files beside it then, unless it is told that
/// nobody writes.
fn has_no_log(wanted: &Wanted, path: &Path) -> Result<bool> {
    const WAL: u8 = 2;
    if beginning(path).get(18..20).is_none_or(|versions| !versions.contains(&WAL)) {
        return Ok(false);
    }
    let beside = |ending: &str| PathBuf::from(format!("{}{ending}", path.display()));
    match (beside("-wal").exists(), beside("-shm").exists()) {
        (false, _) => Ok(true),
        (true, true) => Ok(false),
        (true, false) => Err(wanted.error("has changes in a file beside it, whose name ends in -wal, that were not put in yet").with_hint(
            "disjoin writes nothing; open the database with the program that made it, or with sqlite3, and close it again",
        )),
    }
}

/// The first bytes of a file.
fn beginning(path: &Path) -> Vec<u8> {
    let mut first = Vec::new();
    let _ = File::open(path).and_then(|file| file.take(100).read_to_end(&mut first));
    first
}

/// All that the file says of its tables must be text: the driver takes that for granted.
fn check_schema(wanted: &Wanted, opened: &Opened) -> Result<()> {
    let failed = |error: rusqlite::Error| failure(wanted, opened, &error);
    let mut statement = opened.connection.prepare("SELECT name, tbl_name, sql FROM sqlite_schema").map_err(failed)?;
    let mut rows = statement.query([]).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        for column in 0..3 {
            if text(row.get_ref(column).map_err(failed)?).is_err() {
                return Err(wanted.error("is damaged: the name of a table or column is not UTF-8"));
            }
        }
    }
    Ok(())
}

/// What a statement may do.
fn reads_only(context: AuthContext<'_>) -> Authorization {
    match context.action {
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive => Authorization::Allow,
        AuthAction::Function { function_name } if !function_name.eq_ignore_ascii_case("load_extension") => {
            Authorization::Allow
        }
        _ => Authorization::Deny,
    }
}

/// Sends the names of the columns, then all rows; ends early if nobody listens.
fn send(wanted: &Wanted, query: &str, out: &Out) -> Result<()> {
    let opened = open(wanted, &out.stop)?;
    let failed = |error: rusqlite::Error| failure(wanted, &opened, &error);
    let mut statement = opened.connection.prepare(query).map_err(failed)?;
    let names: Vec<String> = statement.column_names().iter().map(|&name| name.to_owned()).collect();
    if names.is_empty() {
        return Err(wanted.error("the query has no result").with_hint("begin it with SELECT"));
    }
    let mut rows = statement.query([]).map_err(failed)?;
    if !out.head(Head { columns: names.clone(), arrays: Vec::new(), warnings: Vec::new() }) {
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
        if batch.len() == BATCH && !out.rows(std::mem::take(&mut batch)) {
            return Ok(());
        }
    }
    out.rows(batch);
    is_unchanged(wanted, &opened)
}

/// Whether a file that nothing was locked of is as it was.
fn is_unchanged(wanted: &Wanted, opened: &Opened) -> Result<()> {
    let Some(before) = &opened.unlocked else { return Ok(()) };
    let now = Path::new(&wanted.address).metadata().ok();
    let is_same = now.is_some_and(|now| now.len() == before.len() && now.modified().ok() == before.modified().ok());
    match is_same {
        true => Ok(()),
        false => Err(wanted.error("was written to while it was read").with_hint("try again when nobody writes to it")),
    }
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

/// An error of a statement.
fn failure(wanted: &Wanted, opened: &Opened, error: &rusqlite::Error) -> Error {
    if opened.exceeded.load(Ordering::Relaxed) {
        return wanted.error("the view or query takes too many steps, and may never end").with_hint(
            "if it is meant to take long, allow more: write ?steps=10000000000& before table= or query=, which lasts for minutes",
        );
    }
    // SQLite has no code for it.
    if error.to_string().starts_with("unsafe use of ") {
        let problem =
            "a view, a default or a check of the table uses a function that a file of somebody else must not use";
        return wanted.error(problem).with_hint("read a table, or write what the view does as query=SELECT ...");
    }
    wanted.error(in_words(error))
}

/// What went wrong, without the database's words, which may quote what it read.
fn in_words(error: &rusqlite::Error) -> &'static str {
    let code = match error {
        rusqlite::Error::SqlInputError { error, .. } => Some(error.code),
        error => error.sqlite_error_code(),
    };
    match code {
        _ if error.to_string().starts_with("not authorized") => "the query would do something else than read",
        Some(ErrorCode::CannotOpen) => "cannot be opened: is there such a file?",
        Some(ErrorCode::NotADatabase) => "is not a SQLite database",
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => "is locked by another program",
        Some(ErrorCode::DatabaseCorrupt) => "is damaged",
        Some(ErrorCode::PermissionDenied | ErrorCode::ReadOnly) => "may not be read, or would have to be written to",
        Some(ErrorCode::TooBig) => "a value or statement is larger than disjoin takes from a database",
        Some(ErrorCode::OutOfMemory) => "the query needs more memory than there is",
        Some(ErrorCode::SystemIoFailure) => "cannot be read, or is damaged",
        Some(_) => "there is no such table, or the query or view is not understood",
        None => "the query is not one statement that reads",
    }
}
