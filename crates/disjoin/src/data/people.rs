//! Whose rows they are. The person is the unit of every promise; data may have several rows of one.
//!
//! Rows of a person become one record (`together`), or only the first is used (`first`), or they stay (`apart`).
//!
//! Promises:   `together` and `first`: one record a person, so that whatever counts records counts people. `apart`: rows are dealt
//!             into *layers*, the first rows of all people, their second rows, and so on. No layer has two rows of a person,
//!             and whatever is made inside one layer counts people as well
//! Assumes:    the column of people names the same person by the same text
//! Departs:    a cell without a value agrees with any value: it says nothing about the person
//! Cost:       linear in the data
//! Checked by: `tests/it/person.rs`, against a count of people by hand

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::table::{Column, Sets};
use super::{Dataset, Dictionary, RecordId, Transactions};
use crate::error::{Error, Result};

/// What becomes of several rows of one person.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Visits {
    /// One record: the union of sets; of a table, the values on which all rows of the person agree.
    #[default]
    Together,
    /// One record: that of the first row.
    First,
    /// They stay apart, and every cluster and class is counted by people.
    Apart,
}

impl Visits {
    /// Whether it is what happens if nothing is said.
    pub fn is_usual(&self) -> bool {
        *self == Visits::default()
    }

    /// What a claim says of it, in plain words. What is promised of records is promised of people.
    pub fn promised(self, is_table: bool) -> &'static str {
        match (self, is_table) {
            (Visits::Together, _) => {
                " Records are counted by people: all rows of a person in the original are one record."
            }
            (Visits::First, _) => {
                " Records are counted by people: of several rows of a person in the original the first is used."
            }
            (Visits::Apart, false) => {
                " A person may have several records, but no two in the same cluster, nor in clusters that share a chunk: inside \
                 them every number of records is a number of people."
            }
            (Visits::Apart, true) => {
                " A person may have several records. Those of every class are of parts in each of which nobody has two, and each \
                 satisfies all of this by itself: every number of records needed is a number of people, and nobody has a larger \
                 share of a class than one in k."
            }
        }
    }

    /// What is not promised, in plain words.
    pub fn adversary(self) -> &'static str {
        match self {
            Visits::Together | Visits::First => "",
            Visits::Apart => {
                " Each record is protected by itself: an adversary who knows several records of a person, and that something is the \
                 same in all of them, may combine what is published with each."
            }
        }
    }
}

/// Whose rows were read, and what became of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct People {
    /// The column that names people.
    pub column: String,
    /// Rows that were read.
    pub rows: u64,
    /// Different people.
    pub people: u64,
    /// People with more than one row.
    pub with_several: u64,
    /// The most rows of one person.
    pub most_rows: u64,
    /// What became of several rows of one person.
    pub visits: Visits,
    /// The person of each row, numbered by first appearance.
    #[serde(skip)]
    pub of_row: Vec<u32>,
    /// The person of each record.
    #[serde(skip)]
    pub of_record: Vec<u32>,
    /// The record of each row, if it is in one.
    #[serde(skip)]
    pub record_of: Vec<Option<u32>>,
}

impl People {
    /// Counts people; each row is a record of its own as yet.
    pub fn new(column: &str, of_row: Vec<u32>, visits: Visits) -> Self {
        let mut rows_of: Vec<u64> = Vec::new();
        for &person in &of_row {
            rows_of.resize(rows_of.len().max(person as usize + 1), 0);
            rows_of[person as usize] += 1;
        }
        People {
            column: column.to_owned(),
            rows: of_row.len() as u64,
            people: rows_of.iter().filter(|&&rows| rows > 0).count() as u64,
            with_several: rows_of.iter().filter(|&&rows| rows > 1).count() as u64,
            most_rows: rows_of.iter().copied().max().unwrap_or(0),
            visits,
            of_record: of_row.clone(),
            record_of: (0..of_row.len() as u32).map(Some).collect(),
            of_row,
        }
    }

    /// Rows of each person, persons in order of first appearance; of each only the first row, if that is asked for.
    fn groups(&mut self) -> Vec<Vec<u32>> {
        let mut groups: Vec<Vec<u32>> = vec![Vec::new(); self.people as usize];
        for (row, &person) in self.of_row.iter().enumerate() {
            let group = &mut groups[person as usize];
            let is_used = self.visits == Visits::Together || group.is_empty();
            if is_used {
                group.push(row as u32);
            }
            self.record_of[row] = is_used.then_some(person);
        }
        self.of_record = (0..self.people as u32).collect();
        groups
    }

    /// Sets with one record a person, unless rows stay apart.
    pub fn fold(&mut self, data: Dataset) -> Dataset {
        match self.visits {
            Visits::Apart => data,
            Visits::Together | Visits::First => regrouped(&data, &self.groups()),
        }
    }

    /// Records of people, also where rows stay apart.
    pub fn union(&self, data: &Dataset) -> Dataset {
        let mut groups: Vec<Vec<u32>> = vec![Vec::new(); self.people as usize];
        self.of_record.iter().zip(0..).for_each(|(&person, record)| groups[person as usize].push(record));
        regrouped(data, &groups)
    }

    /// Of rows that stay apart, those beyond the last layer with k people join the row before: nobody is known by having more
    /// of them than k people have, and no term is lost.
    pub fn join_beyond(&mut self, data: Dataset, k: u32) -> Dataset {
        let layers = layers(&self.of_record);
        let deep = layers.iter().take_while(|rows| rows.len() >= k as usize).count().max(1);
        if deep >= layers.len() {
            return data;
        }
        let mut place: HashMap<u32, u32> =
            layers[deep - 1].iter().map(|&row| (self.of_record[row as usize], row)).collect();
        let mut target: Vec<u32> = (0..self.of_record.len() as u32).collect();
        for &row in layers[deep..].iter().flatten() {
            let person = self.of_record[row as usize];
            target[row as usize] = *place.entry(person).or_insert(row);
        }
        let mut groups: Vec<Vec<u32>> = Vec::new();
        let mut number: Vec<Option<u32>> = vec![None; target.len()];
        for (row, &to) in target.iter().enumerate() {
            let at = *number[to as usize].get_or_insert_with(|| {
                groups.push(Vec::new());
                groups.len() as u32 - 1
            });
            groups[at as usize].push(row as u32);
            number[row] = Some(at);
        }
        self.record_of.iter_mut().for_each(|record| *record = record.and_then(|record| number[record as usize]));
        self.of_record = groups.iter().map(|rows| self.of_record[rows[0] as usize]).collect();
        regrouped(&data, &groups)
    }

    /// Columns and sets of a table with one row a person, unless rows stay apart. Refused where rows of a person disagree.
    pub fn fold_table(
        &mut self,
        columns: Vec<Column>,
        sets: Option<Sets>,
    ) -> Result<(usize, Vec<Column>, Option<Sets>)> {
        if self.visits == Visits::Apart {
            return Ok((self.of_row.len(), columns, sets));
        }
        let groups = self.groups();
        let differ = |column: &Column| groups.iter().filter(|rows| agreed(column, rows).is_none()).count() as u64;
        let differing: Vec<(&str, u64)> =
            columns.iter().map(|column| (column.name.as_str(), differ(column))).filter(|(_, n)| *n > 0).collect();
        if !differing.is_empty() {
            return Err(disagreement(&self.column, &differing));
        }
        let columns = columns.iter().map(|column| taken(column, &groups)).collect();
        Ok((groups.len(), columns, sets.map(|sets| sets_of(&sets, &groups))))
    }
}

/// Rows in layers: the first rows of all people, their second rows, and so on.
pub fn layers(of_row: &[u32]) -> Vec<Vec<u32>> {
    let mut seen: HashMap<u32, usize> = HashMap::new();
    let mut layers: Vec<Vec<u32>> = Vec::new();
    for (row, &person) in of_row.iter().enumerate() {
        let layer = seen.entry(person).or_insert(0);
        if *layer == layers.len() {
            layers.push(Vec::new());
        }
        layers[*layer].push(row as u32);
        *layer += 1;
    }
    layers
}

/// Records that are unions of others. Terms are numbered anew: those that no record has are gone.
fn regrouped(data: &Dataset, groups: &[Vec<u32>]) -> Dataset {
    let (mut dictionary, mut records) = (Dictionary::default(), Transactions::default());
    let mut names: Vec<Option<u32>> = vec![None; data.dictionary.len()];
    let mut record = Vec::new();
    for rows in groups {
        record.clear();
        for &term in rows.iter().flat_map(|&row| data.records.record(row)) {
            let name = &mut names[term as usize];
            record.push(*name.get_or_insert_with(|| dictionary.intern(data.dictionary.text(term))));
        }
        records.push(&mut record);
    }
    Dataset { dictionary, records }
}

/// The code on which rows agree, whatever the rows without a value; nothing if they do not.
fn agreed(column: &Column, rows: &[u32]) -> Option<u32> {
    let missing = column.domain.missing();
    let mut found = missing;
    for code in rows.iter().map(|&row| column.codes[row as usize]).filter(|&code| code != missing) {
        if found != missing && found != code {
            return None;
        }
        found = code;
    }
    Some(found)
}

/// The column with a row a person; values that no row has any more are gone.
fn taken(column: &Column, groups: &[Vec<u32>]) -> Column {
    let (domain, missing) = (&column.domain, column.domain.missing());
    let codes = groups.iter().map(|rows| agreed(column, rows).unwrap_or(missing));
    match domain.numbers() {
        Some(numbers) => {
            Column::numbers(&column.name, column.role, codes.map(|code| numbers.get(code as usize).copied()))
        }
        None => {
            let text = |code: u32| (code != missing).then(|| domain.text(code));
            Column::words(&column.name, column.role, codes.map(text))
        }
    }
}

/// The sets with a row a person: unions.
fn sets_of(sets: &Sets, groups: &[Vec<u32>]) -> Sets {
    let of_group = |rows: &Vec<u32>| -> Vec<u32> { rows.iter().filter_map(|&row| sets.of_row[row as usize]).collect() };
    let groups: Vec<Vec<u32>> = groups.iter().map(of_group).collect();
    let data = Dataset { dictionary: sets.dictionary.clone(), records: sets.records.clone() };
    let Dataset { dictionary, records } = regrouped(&data, &groups);
    let mut next = 0;
    let of_row = groups.iter().map(|rows| {
        let id: RecordId = next;
        next += u32::from(!rows.is_empty());
        (!rows.is_empty()).then_some(id)
    });
    Sets { name: sets.name.clone(), of_row: of_row.collect(), dictionary, records }
}

fn disagreement(person: &str, differing: &[(&str, u64)]) -> Error {
    let told: Vec<String> = differing.iter().map(|(column, n)| format!("{column} ({n} people)")).collect();
    let problem =
        format!("names people whose rows differ, so that they cannot become one row a person: {}", told.join(", "));
    let hint = format!(
        "for column {person}, say what becomes of several rows: --first-visit uses the first row of each person, --keep-visits \
         keeps rows apart and counts people, --set COLUMN publishes all values of a person as a set (recipe: input.visits, table.set)"
    );
    Error::recipe("input.person", problem, hint)
}

/// Why there may be several rows of one person although no column of people was named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "is")]
pub enum Evidence {
    /// A column that names people has values that come back.
    Identifier {
        /// The column.
        column: String,
        /// Rows.
        rows: u64,
        /// Different values, or an estimate where there are many.
        different: u64,
        /// Rows of one of them.
        most_rows: u64,
    },
    /// Rows are the same in all columns, more often than chance makes them.
    Duplicates {
        /// Rows that are as another one before them.
        duplicates: u64,
        /// All rows.
        rows: u64,
    },
}

impl Evidence {
    /// What a user should know.
    pub fn text(&self) -> String {
        match self {
            Evidence::Identifier { column, rows, different, most_rows } => format!(
                "there seem to be several rows a person: {column} has about {different} different values in {rows} rows, and one \
                 of them in {most_rows}. k counts rows, so somebody with k rows is alone in a class; name the column that tells \
                 people apart: --person {column}"
            ),
            Evidence::Duplicates { duplicates, rows } => format!(
                "there may be several rows a person: {duplicates} of {rows} rows are the same as another in every column, more than \
                 chance makes. k counts rows; if a column tells people apart, name it: --person COLUMN"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::Role;
    use super::*;

    fn texts(data: &Dataset) -> Vec<Vec<&str>> {
        data.records.iter().map(|record| record.iter().map(|&t| data.dictionary.text(t)).collect()).collect()
    }

    #[test]
    fn rows_of_a_person_become_one_record_or_the_first() {
        let data = Dataset::from_texts([vec!["c"], vec!["a", "b"], vec!["b", "d"], vec!["e"]]);
        let mut people = People::new("id", vec![0, 1, 0, 1], Visits::Together);
        assert_eq!((people.people, people.rows, people.with_several, people.most_rows), (2, 4, 2, 2));
        assert_eq!(texts(&people.fold(data.clone())), [vec!["c", "b", "d"], vec!["b", "a", "e"]]);
        assert_eq!((people.of_record, people.record_of), (vec![0, 1], vec![Some(0), Some(1), Some(0), Some(1)]));
        let mut people = People::new("id", vec![0, 1, 0, 1], Visits::First);
        let first = people.fold(data);
        assert_eq!((texts(&first), first.n_terms()), (vec![vec!["c"], vec!["a", "b"]], 3));
        assert_eq!(people.record_of, [Some(0), Some(1), None, None]);
    }

    #[test]
    fn layers_have_nobody_twice_and_what_is_beyond_joins() {
        let of_row = vec![0, 0, 1, 0, 2, 1, 0];
        assert_eq!(layers(&of_row), [vec![0, 2, 4], vec![1, 5], vec![3], vec![6]]);
        let data = Dataset::from_texts([["a"], ["b"], ["c"], ["d"], ["e"], ["f"], ["g"]]);
        let mut people = People::new("id", of_row, Visits::Apart);
        let joined = people.join_beyond(data, 2);
        // The third and fourth row of person 0 join the second.
        assert_eq!(texts(&joined), [vec!["a"], vec!["b", "d", "g"], vec!["c"], vec!["e"], vec!["f"]]);
        assert_eq!(people.of_record, [0, 0, 1, 2, 1]);
        assert_eq!(people.record_of, [0, 1, 2, 1, 3, 4, 1].map(Some));
        assert!(layers(&people.of_record).iter().all(|rows| rows.len() >= 2));
        assert_eq!(texts(&people.union(&joined)).len(), 3);
    }

    #[test]
    fn rows_of_a_table_must_agree_but_for_missing_values() {
        let word = |cells: &[Option<&'static str>]| Column::words("w", Role::Quasi, cells.iter().copied());
        let mut people = People::new("id", vec![0, 1, 0], Visits::Together);
        let (n, columns, _) = people.fold_table(vec![word(&[None, Some("b"), Some("a")])], None).unwrap();
        let column = &columns[0];
        assert_eq!((n, column.domain.text(column.codes[0]), column.domain.has_missing()), (2, "a", false));
        let mut people = People::new("id", vec![0, 1, 0], Visits::Together);
        let error = people.fold_table(vec![word(&[Some("secret"), Some("b"), Some("a")])], None).unwrap_err();
        assert!(error.to_string().contains("w (1 people)") && !format!("{error:?}").contains("secret"), "{error:?}");
        assert!(error.hint().unwrap().contains("--keep-visits"));
    }
}
