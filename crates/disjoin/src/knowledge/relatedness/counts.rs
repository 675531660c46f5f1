//! Counts that somebody else made: of pages with an item, with two items, and in all.
//!
//! A CSV file with the columns `first,second,count`: a row with both items counts pages with both, one with the first alone
//! pages with it, and one with neither all pages.
//!
//! Checked by: tests in this file

use std::collections::HashMap;

use super::ngd;
use crate::data::{Dictionary, TermId};
use crate::error::{Error, Place, Result};

/// A table of counts.
#[derive(Debug, Default)]
pub struct Counts {
    items: Dictionary,
    alone: HashMap<TermId, u64, foldhash::fast::RandomState>,
    together: HashMap<(TermId, TermId), u64, foldhash::fast::RandomState>,
    pages: u64,
}

impl Counts {
    /// Reads a table; `name` is for messages.
    pub fn read(text: &[u8], name: &str) -> Result<Self> {
        let mut counts = Counts::default();
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text);
        let is_header = reader.headers().is_ok_and(|header| header.iter().eq(["first", "second", "count"]));
        if !is_header {
            return Err(Error::input(Place::line(name, 1), "the header is not first,second,count"));
        }
        for row in reader.records() {
            let line = |row: &csv::StringRecord| row.position().map_or(0, csv::Position::line);
            let row = row.map_err(|error| {
                let line = error.position().map_or(0, csv::Position::line);
                Error::input(Place::line(name, line), "is not a row of three fields in UTF-8")
            })?;
            let count = row[2]
                .parse()
                .map_err(|_| Error::input(Place::line(name, line(&row)).in_column("count"), "is not a whole number"))?;
            let repeated = match (&row[0], &row[1]) {
                ("", "") => std::mem::replace(&mut counts.pages, count) > 0,
                ("", item) | (item, "") => {
                    let item = counts.items.intern(item);
                    counts.alone.insert(item, count).is_some()
                }
                (a, b) => {
                    let (a, b) = (counts.items.intern(a), counts.items.intern(b));
                    counts.together.insert((a.min(b), a.max(b)), count).is_some()
                }
            };
            if repeated {
                return Err(Error::input(Place::line(name, line(&row)), "counts what an earlier row counts"));
            }
        }
        let most = counts.alone.values().max().copied().unwrap_or(0);
        if counts.pages < most {
            let problem = "the number of all pages is missing, or less than that of an item";
            return Err(Error::input(Place::file(name), problem).with_hint("add a row such as: ,,1000000"));
        }
        Ok(counts)
    }

    /// The item of this text.
    pub(super) fn item(&self, text: &str) -> Option<TermId> {
        self.items.get(text).filter(|item| self.alone.contains_key(item))
    }

    /// How far apart two items are.
    pub(super) fn distance(&self, a: TermId, b: TermId) -> f64 {
        let alone = |item: TermId| self.alone.get(&item).copied().unwrap_or(0);
        let both = self.together.get(&(a.min(b), a.max(b))).copied().unwrap_or(0);
        ngd::smoothed(alone(a), alone(b), both, self.pages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_read_and_asked() {
        let text = "first,second,count\n,,8058044651\nhorse,,46700000\nrider,,12200000\nrider, horse,2630000\nnag,,0\n";
        let counts = Counts::read(text.as_bytes(), "x").unwrap();
        let item = |text| counts.item(text).unwrap();
        assert!((counts.distance(item("horse"), item("rider")) - 0.443_056).abs() < 1e-6);
        assert!(counts.distance(item("nag"), item("horse")).is_nan());
        assert_eq!(counts.item("mare"), None);
    }

    #[test]
    fn bad_tables_are_refused() {
        for (text, problem) in [
            ("a,b\n", "header"),
            ("first,second,count\n,,10\na,,x\n", "whole number"),
            ("first,second,count\n,,10\na,,1\na,,2\n", "earlier row"),
            ("first,second,count\na,,1\n", "missing"),
            ("first,second,count\n,,10\na,,11\n", "less than"),
            ("first,second,count\n,,10\na\n", "three fields"),
        ] {
            let error = Counts::read(text.as_bytes(), "x").unwrap_err().to_string();
            assert!(error.contains(problem), "{error}");
            assert!(!error.contains('a') || !error.contains("x:0"), "{error}");
        }
    }
}
