//! The column that names people: which one is meant, whose row each is, and signs that one is missing.
//!
//! Promises:   ids of people are numbered and forgotten. Whether values come back is judged by a sample of *values*, all rows of
//!             which are counted: what is said of a value is exact, how many there are is estimated from 65,536 of them on
//! Cost:       a hash a row; 65,536 numbers at most
//! Checked by: tests in this file, `tests/it/person.rs`

use std::collections::HashMap;
use std::hash::BuildHasher;

use super::builder::Counts;
use super::{Format, Options};
use crate::data::{Dataset, Dictionary, Evidence, People, Visits};
use crate::error::{Error, Place, Result};

/// So many different values are counted at most.
const SAMPLED: usize = 1 << 16;

/// A value that comes back in more rows than this on average is a category, and not a person.
const ROWS_OF_A_PERSON: f64 = 20.0;

impl Options {
    /// The same options with the column of people where the format looks for it: of the long format it is that of ids, and with a
    /// list column, `--id-column` names people.
    pub(super) fn with_person(&self) -> Result<Options> {
        let mut options = self.clone();
        if let (Some(person), Some(id)) = (&self.person, &self.id_column)
            && person != id
        {
            let problem = "names another column than --id-column: both say whose row it is";
            return Err(Error::recipe("input.person", problem, "name the column of people once"));
        }
        let is_long = self.column.is_none() && (self.item_column.is_some() || self.format == Some(Format::Long));
        if is_long {
            options.id_column = self.id_column.clone().or_else(|| self.person.clone());
        } else if self.column.is_some() {
            options.person = self.person.clone().or_else(|| self.id_column.clone());
        }
        if options.person.is_none() && !self.visits.is_usual() {
            let problem = "says what becomes of several rows of a person, and no column names people";
            return Err(Error::recipe("input.visits", problem, "name the column: --person COLUMN"));
        }
        Ok(options)
    }

    /// Refuses a column of people where there are no columns, or where every row is one term.
    pub(super) fn check_person(&self, name: &str, format: Format) -> Result<()> {
        let refuse = |problem: &str, hint: &str| Err(Error::input(Place::file(name), problem).with_hint(hint));
        match (format, &self.person, self.visits) {
            (_, None, _) => Ok(()),
            (Format::Basket | Format::Spmf, ..) => refuse(
                "is a file of records without columns: none can name people",
                "leave --person out, or write a CSV file with a column of people and one of terms",
            ),
            (Format::Long, _, Visits::Apart | Visits::First) => refuse(
                "has one row a term: which rows are one visit is not known",
                "leave --keep-visits and --first-visit out, or write one row a visit, with a list column",
            ),
            _ => Ok(()),
        }
    }
}

/// One record a person, or as many as there are rows, and what is known of people.
pub(super) fn by_person(data: Dataset, counts: &mut Counts, options: &Options) -> (Dataset, Option<People>) {
    let Some(column) = &options.person else { return (data, None) };
    // Records of the long format are those of people.
    let of_row = counts.people.take().unwrap_or_else(|| (0..data.records.len() as u32).collect());
    let mut people = People::new(column, of_row, options.visits);
    (people.fold(data), Some(people))
}

/// People by what names them.
#[derive(Debug, Default)]
pub(super) struct Persons {
    ids: Dictionary,
    of_row: Vec<u32>,
}

impl Persons {
    /// The number of a person, who must have a name.
    pub(super) fn of(&mut self, text: &str, file: &str, line: u64) -> Result<u32> {
        if text.trim().is_empty() {
            return Err(no_person(file, line));
        }
        Ok(self.ids.intern(text.trim()))
    }

    /// A row of a person that is kept.
    pub(super) fn keep(&mut self, person: u32) {
        self.of_row.push(person);
    }

    /// The person of each row, numbered by first appearance in rows that were kept.
    pub(super) fn finish(self) -> Vec<u32> {
        let mut number: Vec<Option<u32>> = vec![None; self.ids.len()];
        let mut next = 0;
        let renumber = |person: u32| {
            *number[person as usize].get_or_insert_with(|| {
                next += 1;
                next - 1
            })
        };
        self.of_row.into_iter().map(renumber).collect()
    }
}

/// The error for a row of nobody.
pub(super) fn no_person(file: &str, line: u64) -> Error {
    Error::input(Place::line(file, line), "the row names no person")
        .with_hint("fill in whose row it is, or take it out: a row of nobody cannot be counted")
}

/// Of several columns whose values come back, the one with most of them: the others rather name wards than people.
pub(super) fn strongest(found: Vec<Evidence>) -> Vec<Evidence> {
    let different = |evidence: &Evidence| match evidence {
        Evidence::Identifier { different, .. } => *different,
        Evidence::Duplicates { .. } => 0,
    };
    // The first of those with as many.
    found.into_iter().rev().max_by_key(different).into_iter().collect()
}

/// How often the values of a column come back.
#[derive(Debug, Clone)]
pub(super) struct Repeats {
    /// Values are sampled whose hash is no greater.
    most: u64,
    counts: HashMap<u64, u64>,
    rows: u64,
}

impl Default for Repeats {
    fn default() -> Self {
        Repeats { most: u64::MAX, counts: HashMap::new(), rows: 0 }
    }
}

impl Repeats {
    /// One row more; one without a value says nothing.
    pub(super) fn push(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.rows += 1;
        let hash = foldhash::fast::FixedState::default().hash_one(text);
        if hash <= self.most {
            *self.counts.entry(hash).or_insert(0) += 1;
            self.thin();
        }
    }

    /// All rows of another part.
    pub(super) fn append(&mut self, other: Repeats) {
        self.rows += other.rows;
        self.most = self.most.min(other.most);
        other.counts.into_iter().for_each(|(hash, count)| *self.counts.entry(hash).or_insert(0) += count);
        let most = self.most;
        self.counts.retain(|hash, _| *hash <= most);
        self.thin();
    }

    fn thin(&mut self) {
        while self.counts.len() > SAMPLED {
            self.most /= 2;
            let most = self.most;
            self.counts.retain(|hash, _| *hash <= most);
        }
    }

    /// What it tells, if values are as many as people are and come back.
    pub(super) fn evidence(&self, column: &str) -> Option<Evidence> {
        let (values, rows) = (self.counts.len() as u64, self.counts.values().sum::<u64>());
        let mean = rows as f64 / values.max(1) as f64;
        if values < 2 || rows == values || mean > ROWS_OF_A_PERSON {
            return None;
        }
        let share = (self.most as f64 + 1.0) / (u64::MAX as f64 + 1.0);
        Some(Evidence::Identifier {
            column: column.to_owned(),
            rows: self.rows,
            different: (values as f64 / share).round() as u64,
            most_rows: self.counts.values().copied().max().unwrap_or(0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repeats(n: u64, each: u64) -> Repeats {
        let mut parts = [Repeats::default(), Repeats::default()];
        for row in 0..n * each {
            parts[(row % 2) as usize].push(&format!("p{}", row / each));
        }
        let [mut first, second] = parts;
        first.append(second);
        first
    }

    #[test]
    fn values_that_come_back_are_told_and_unique_ones_and_categories_are_not() {
        assert_eq!(repeats(1000, 1).evidence("id"), None);
        assert_eq!(repeats(10, 100).evidence("ward"), None);
        let expected = Evidence::Identifier { column: "id".into(), rows: 3000, different: 1000, most_rows: 3 };
        assert_eq!(repeats(1000, 3).evidence("id"), Some(expected));
        // More values than are counted: the number is an estimate, the rows of a value are not.
        let Some(Evidence::Identifier { different, most_rows, rows, .. }) = repeats(200_000, 2).evidence("id") else {
            panic!("values come back")
        };
        assert_eq!((most_rows, rows), (2, 400_000));
        assert!((190_000..210_000).contains(&different), "{different}");
    }

    #[test]
    fn people_are_numbered_by_rows_that_are_kept() {
        let mut persons = Persons::default();
        for (text, is_kept) in [("x", false), ("y", true), (" x ", true), ("y", true)] {
            let person = persons.of(text, "f", 1).unwrap();
            if is_kept {
                persons.keep(person);
            }
        }
        assert!(persons.of(" ", "f", 7).unwrap_err().to_string().starts_with("f:7: "));
        assert_eq!(persons.finish(), [0, 1, 0]);
    }
}
