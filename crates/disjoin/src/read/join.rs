//! Two tables joined by a key: people, and what each of them has in many rows of another table.
//!
//! If the other table has one row a key, its columns are added to every row with that key. If it has several, one of its columns becomes a
//! list, and the first table must have one row a key: otherwise terms of one person would be those of another row too.
//!
//! Promises:   no row of the first table is lost or doubled; keys without a counterpart are counted on either side; a
//!             join in which no key matches is refused, and so is one of many rows with many
//! Assumes:    keys are texts: 007 is not 7
//! Cost:       the other table is in memory
//! Checked by: `crates/disjoin-cli/tests/it/messy.rs`

use std::collections::{HashMap, HashSet};

use super::reading::Joined;
use super::readings::listed;
use super::source::{Row, Rows};
use super::wide::array;
use super::{Join, Options};
use crate::error::{Error, Place, Result};

/// The table that is joined: by key, its rows without the key.
pub(super) struct Other {
    name: String,
    header: Vec<String>,
    rows: HashMap<String, Vec<Row>>,
    n_rows: u64,
    without_key: u64,
    is_long: bool,
}

impl Other {
    pub(super) fn new(rows: Rows<'_>, asked: &Join, options: &Options) -> Result<Self> {
        let Rows { name, header, arrays, rows, told, .. } = rows;
        let key = position(&name, &header, asked.keys().1)?;
        if let Some(&at) = arrays.first() {
            return Err(Error::input(Place::file(&name).in_column(&header[at]), "is a list, and lists are not joined")
                .with_hint("write one row for each item"));
        }
        let mut by_key: HashMap<String, Vec<Row>> = HashMap::new();
        let (mut n_rows, mut without_key) = (0, 0);
        for row in rows {
            let mut row = row?;
            n_rows += 1;
            if row.len() != header.len() {
                let problem = format!("the row has {} cells where the header has {}", row.len(), header.len());
                return Err(Error::input(Place::line(&name, told.line().max(n_rows)), problem));
            }
            match row.remove(key) {
                Some(key) => by_key.entry(key).or_default().push(row),
                None => without_key += 1,
            }
        }
        let mut header = header;
        header.remove(key);
        let is_long = by_key.values().any(|rows| rows.len() > 1);
        let mut other = Other { name, header, rows: by_key, n_rows, without_key, is_long };
        if is_long {
            other.keep_item(options)?;
        }
        Ok(other)
    }

    /// Of several rows a key, one column can become a list.
    fn keep_item(&mut self, options: &Options) -> Result<()> {
        let at = match (&options.item_column, self.header.len()) {
            (Some(item), _) => position(&self.name, &self.header, item)?,
            (None, 1) => 0,
            (None, _) => {
                let problem = "has several rows a key, and several columns that could be the list of terms";
                return Err(Error::input(Place::file(&self.name), problem)
                    .with_hint(format!("name one with --item-column; it has {}", self.header.join(", "))));
            }
        };
        self.header = vec![self.header.swap_remove(at)];
        for rows in self.rows.values_mut() {
            for row in rows {
                *row = vec![row.swap_remove(at)];
            }
        }
        Ok(())
    }
}

fn position(name: &str, header: &[String], column: &str) -> Result<usize> {
    header.iter().position(|name| name == column).ok_or_else(|| {
        Error::input(Place::file(name).in_column(column), "there is no such column")
            .with_hint(format!("it has {}; --on FIRST=OTHER if the key has two names", header.join(", ")))
    })
}

/// The rows of the first table with what the other has under their key.
pub(super) fn joined<'a>(first: Rows<'a>, other: Other, asked: &Join) -> Result<Rows<'a>> {
    let Rows { name, mut header, mut arrays, rows, format, told } = first;
    let key = position(&name, &header, asked.keys().0)?;
    let both: Vec<&str> = other.header.iter().filter(|column| header.contains(column)).map(String::as_str).collect();
    if !both.is_empty() {
        let problem = format!("and {} both have {}", other.name, listed(&both, "and"));
        return Err(Error::input(Place::file(&name), problem).with_hint("give the columns of one of them other names"));
    }
    let width = header.len();
    header.extend(other.header.iter().cloned());
    if other.is_long {
        arrays.push(width);
    }
    let without = other.without_key;
    told.note(|reading| {
        reading.joined =
            Some(Joined { file: other.name.clone(), rows: other.n_rows, unmatched_rows: 0, unmatched_keys: without });
    });
    let joining = Joining {
        file: name.clone(),
        key,
        other,
        met: HashSet::new(),
        matched: 0,
        told: told.clone(),
        rows,
        is_done: false,
    };
    Ok(Rows { name, header, arrays, rows: Box::new(joining), format, told })
}

/// A join under way.
struct Joining<'a> {
    file: String,
    key: usize,
    other: Other,
    met: HashSet<String>,
    matched: u64,
    told: super::source::Told,
    rows: Box<dyn Iterator<Item = Result<Row>> + Send + 'a>,
    is_done: bool,
}

impl Iterator for Joining<'_> {
    type Item = Result<Row>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.rows.next() {
            Some(row) => Some(row.and_then(|row| self.with_other(row))),
            None if self.is_done => None,
            None => {
                self.is_done = true;
                self.finish().err().map(Err)
            }
        }
    }
}

impl Joining<'_> {
    fn with_other(&mut self, mut row: Row) -> Result<Row> {
        let key = row.get(self.key).cloned().flatten();
        let is_again = key.as_ref().is_some_and(|key| !self.met.insert(key.clone()));
        if is_again && self.other.is_long {
            let problem = format!("has a key that an earlier row has, and {} has several rows a key", self.other.name);
            return Err(Error::input(Place::line(&self.file, self.told.line()), problem)
                .with_hint("leave one row a key in one of the two files: many rows cannot be joined with many"));
        }
        let found = key.as_ref().and_then(|key| self.other.rows.get(key));
        self.matched += u64::from(found.is_some());
        if found.is_none() {
            self.told.note(|reading| reading.joined.iter_mut().for_each(|joined| joined.unmatched_rows += 1));
        }
        match (found, self.other.is_long) {
            (None, true) => row.push(None),
            (None, false) => row.extend(self.other.header.iter().map(|_| None)),
            (Some(rows), false) => row.extend(rows.iter().flatten().cloned()),
            (Some(rows), true) => {
                let items = rows.iter().filter_map(|row| row.first()?.as_deref()).map(Some);
                row.push(Some(array(items)));
            }
        }
        Ok(row)
    }

    /// Counts the keys that were not asked for.
    fn finish(&mut self) -> Result<()> {
        if self.matched == 0 {
            let problem = format!("no key of it occurs in {}", self.other.name);
            return Err(Error::input(Place::file(&self.file), problem).with_hint(
                "check that both keys are written alike: 007 is not 7; --on FIRST=OTHER names two columns",
            ));
        }
        let unmatched = self.other.rows.keys().filter(|key| !self.met.contains(*key)).count() as u64;
        self.told.note(|reading| reading.joined.iter_mut().for_each(|joined| joined.unmatched_keys += unmatched));
        Ok(())
    }
}
