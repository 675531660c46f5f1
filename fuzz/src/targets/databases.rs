//! SQLite files, and URLs of databases.

use std::fs;
use std::path::Path;

use disjoin::data::table::Role;
use disjoin::read::rows::Declared;
use disjoin::read::{Options, Sources, read_sets, read_table_from};
use disjoin::{Error, Place, Result, Unobserved};
use disjoin_databases::Databases;

use crate::scratch;
use crate::verbs::fine;

/// A file that says that it is a SQLite database: as sets and as a table.
pub(super) fn sqlite(bytes: &[u8]) -> bool {
    let folder = scratch::empty();
    let file = folder.join("people.db");
    fs::write(&file, bytes).expect("the scratch folder is ours");
    // By its name alone it is an error that lists its tables.
    let listed = Databases.open(&file.to_string_lossy(), &Unobserved).is_some();
    let url = |table: &str| format!("sqlite:{}?table={table}", file.display());
    let options = Options { column: Some(String::from("items")), ..Options::default() };
    let sets = fine(known(read_sets(Path::new(&url("people")), &options, &Databases, &Unobserved)));
    let declared = Declared { rest: Some(Role::Quasi), ..Declared::default() };
    let location = url("people");
    let read = read_table_from(Path::new(&location), &Options::default(), &declared, &Databases, &Unobserved);
    let table = fine(known(read));
    listed && (sets.is_some() || table.is_some())
}

/// The library panics where the name of a column is not UTF-8, and the thread that reads ends without a word. That is refused as
/// it should be, but not by its cause.
fn known<T>(result: Result<T>) -> Result<T> {
    match result {
        Err(Error::Internal("the reader of a database ended early")) => {
            Err(Error::input(Place::file("people.db"), "the name of a column is not UTF-8"))
        }
        other => other,
    }
}

/// A URL: nothing of it is opened, since its database does not exist; what is shown of it has no password.
pub(super) fn url(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let shown = disjoin::location::shown(text);
    // What stands twice may be the name of a table as well, which is shown.
    let has_password = text.starts_with("postgres://ann:hunter2@") && text.matches("hunter2").count() == 1;
    assert!(!has_password || !shown.contains("hunter2"), "a password is shown");
    // A server that somebody named is not called from here.
    if !text.starts_with("sqlite:") {
        return true;
    }
    let folder = scratch::empty();
    let inside = text.replacen("sqlite:", &format!("sqlite:{}/", folder.display()), 1);
    Databases.open(&inside, &Unobserved).is_none_or(|rows| {
        fine(rows.map(drop));
        true
    })
}
