//! Databases as sources: what is read, what is refused, and what is never told.

#![allow(clippy::unwrap_used)]

#[cfg(unix)]
mod encrypted;
mod hostile;
mod postgres;
mod same;
#[cfg(unix)]
mod server;
mod sqlite;

use disjoin::read::{Row, Sources};
use disjoin::{Error, Result, Unobserved};
use disjoin_databases::Databases;

/// The names of the columns, and all rows.
fn all(url: &str) -> Result<(Vec<String>, Vec<Row>)> {
    let rows = Databases.open(url, &Unobserved).expect("this is no file")?;
    Ok((rows.header, rows.rows.collect::<Result<_>>()?))
}

fn row(texts: &[Option<&str>]) -> Row {
    texts.iter().map(|text| text.map(str::to_owned)).collect()
}

fn error(url: &str) -> Error {
    all(url).unwrap_err()
}

fn message(url: &str) -> String {
    error(url).to_string()
}

fn hint(url: &str) -> String {
    error(url).hint().unwrap_or_default().to_owned()
}
