//! Rows of people: columns coded as integers, each with the role that it plays.
//!
//! Promises:   codes of a column are dense and ordered: numbers by value, words by text; the code after the last value
//!             stands for a missing one. All columns have as many codes as there are rows
//! Checked by: tests in this file

use serde::{Deserialize, Serialize};

use super::{Dictionary, Hierarchy, RecordId, Transactions};

/// What a column is for. There is no default: a column that nobody thought of is how people get published.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Names a person: never leaves.
    Identifier,
    /// Known to others, and with its like enough to find a person: generalised.
    Quasi,
    /// What nobody may learn about a person: published as it is, in classes.
    Sensitive,
    /// A list of terms of the person: published in chunks.
    Set,
    /// Neither known to others nor worth hiding: published as it is.
    Other,
}

/// A table of people, one a row.
#[derive(Debug, Clone, Default)]
pub struct Table {
    /// All columns but identifiers and sets, in the order of the file.
    pub columns: Vec<Column>,
    /// The set-valued column, if there is one.
    pub sets: Option<Sets>,
    n_rows: usize,
}

/// A column: one code a row.
#[derive(Debug, Clone)]
pub struct Column {
    /// Its name in the header.
    pub name: String,
    /// What it is for.
    pub role: Role,
    /// What its codes stand for.
    pub domain: Domain,
    /// The code of each row, below [`Domain::n_codes`].
    pub codes: Vec<u32>,
}

/// The set-valued column of a table.
#[derive(Debug, Clone)]
pub struct Sets {
    /// Its name in the header.
    pub name: String,
    /// The terms' texts.
    pub dictionary: Dictionary,
    /// The sets that are not empty.
    pub records: Transactions,
    /// For each row its set, none if that is empty.
    pub of_row: Vec<Option<RecordId>>,
}

/// The values of a column, in order.
#[derive(Debug, Clone)]
pub struct Domain {
    texts: Dictionary,
    numbers: Option<Vec<f64>>,
    hierarchy: Option<Hierarchy>,
    has_missing: bool,
}

impl Table {
    /// A table of columns that all have `n_rows` codes.
    pub fn new(n_rows: usize, columns: Vec<Column>, sets: Option<Sets>) -> Self {
        debug_assert!(columns.iter().all(|column| column.codes.len() == n_rows));
        debug_assert!(sets.iter().all(|sets| sets.of_row.len() == n_rows));
        Table { columns, sets, n_rows }
    }

    /// The number of people.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Some of its rows, as a table with the same domains.
    #[must_use]
    pub fn select(&self, rows: &[u32]) -> Table {
        let taken = |column: &Column| Column {
            codes: rows.iter().map(|&row| column.codes[row as usize]).collect(),
            name: column.name.clone(),
            role: column.role,
            domain: column.domain.clone(),
        };
        let sets = self
            .sets
            .as_ref()
            .map(|sets| Sets { of_row: rows.iter().map(|&row| sets.of_row[row as usize]).collect(), ..sets.clone() });
        Table::new(rows.len(), self.columns.iter().map(taken).collect(), sets)
    }

    /// The columns of a role, in order.
    pub fn with_role(&self, role: Role) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(move |column| column.role == role)
    }

    /// The quasi-identifiers, in order.
    pub fn quasi(&self) -> Vec<&Column> {
        self.with_role(Role::Quasi).collect()
    }

    /// The sensitive columns, in order.
    pub fn sensitive(&self) -> Vec<&Column> {
        self.with_role(Role::Sensitive).collect()
    }
}

impl Column {
    /// A column of words; `None` is a missing value.
    pub fn words<'a>(name: &str, role: Role, cells: impl IntoIterator<Item = Option<&'a str>>) -> Self {
        let mut texts = Dictionary::default();
        let codes = cells.into_iter().map(|cell| cell.map_or(u32::MAX, |text| texts.intern(text))).collect();
        Self::from_codes(name, role, texts, codes)
    }

    /// A column of words from codes by first appearance; `u32::MAX` is a missing value.
    pub fn from_codes(name: &str, role: Role, texts: Dictionary, mut codes: Vec<u32>) -> Self {
        let (texts, rank) = texts.sorted();
        let domain = Domain { has_missing: recode(&mut codes, &rank), texts, numbers: None, hierarchy: None };
        Column { name: name.to_owned(), role, domain, codes }
    }

    /// A column of numbers; `None` is a missing value. Numbers must be finite.
    pub fn numbers(name: &str, role: Role, cells: impl IntoIterator<Item = Option<f64>>) -> Self {
        let mut texts = Dictionary::default();
        // Adding zero turns -0 into 0.
        let code = |cell: Option<f64>| cell.map_or(u32::MAX, |number| texts.intern(&(number + 0.0).to_string()));
        let codes = cells.into_iter().map(code).collect();
        Self::from_number_codes(name, role, &texts, codes, |text| text.parse().unwrap_or(0.0))
    }

    /// A column of numbers from codes of their texts by first appearance; `u32::MAX` is a missing value. Texts of the
    /// same number become one code, whose text is the number's shortest.
    pub fn from_number_codes(
        name: &str,
        role: Role,
        texts: &Dictionary,
        mut codes: Vec<u32>,
        value: impl Fn(&str) -> f64,
    ) -> Self {
        let values: Vec<f64> = texts.iter().map(|text| value(text) + 0.0).collect();
        let mut numbers = values.clone();
        numbers.sort_unstable_by(f64::total_cmp);
        numbers.dedup();
        let place = |value: &f64| numbers.partition_point(|number| number < value) as u32;
        let rank: Vec<u32> = values.iter().map(place).collect();
        let mut sorted = Dictionary::default();
        numbers.iter().for_each(|number| {
            sorted.intern(&number.to_string());
        });
        let has_missing = recode(&mut codes, &rank);
        let domain = Domain { has_missing, texts: sorted, numbers: Some(numbers), hierarchy: None };
        Column { name: name.to_owned(), role, domain, codes }
    }
}

/// Codes by first appearance become ranks; tells whether one was missing, which becomes the code after the last.
fn recode(codes: &mut [u32], rank: &[u32]) -> bool {
    let missing = rank.iter().max().map_or(0, |last| last + 1);
    let mut has_missing = false;
    for code in codes {
        *code = match rank.get(*code as usize) {
            Some(&rank) => rank,
            None => {
                has_missing = true;
                missing
            }
        };
    }
    has_missing
}

impl Domain {
    /// The number of different values that are not missing.
    pub fn n_values(&self) -> usize {
        self.texts.len()
    }

    /// The number of codes: the values, and one more for missing ones.
    pub fn n_codes(&self) -> usize {
        self.n_values() + 1
    }

    /// The code of a missing value.
    pub fn missing(&self) -> u32 {
        self.n_values() as u32
    }

    /// Whether some row has no value.
    pub fn has_missing(&self) -> bool {
        self.has_missing
    }

    /// The texts of the values, in order of code.
    pub fn texts(&self) -> &Dictionary {
        &self.texts
    }

    /// The text of a code, empty for a missing value.
    pub fn text(&self, code: u32) -> &str {
        if code < self.missing() { self.texts.text(code) } else { "" }
    }

    /// The values of a column of numbers, ascending.
    pub fn numbers(&self) -> Option<&[f64]> {
        self.numbers.as_deref()
    }

    /// The distance of two numbers as a share of the whole range; 0 if all numbers are the same.
    pub fn span(&self, first: u32, last: u32) -> f64 {
        let Some(&[low, .., high]) = self.numbers() else { return 0.0 };
        let value = |code: u32| self.numbers().and_then(|numbers| numbers.get(code as usize)).copied().unwrap_or(low);
        // Halves, so that the range of the largest numbers is one as well.
        (value(last) / 2.0 - value(first) / 2.0) / (high / 2.0 - low / 2.0)
    }

    /// What generalises what, if that was given.
    pub fn hierarchy(&self) -> Option<&Hierarchy> {
        self.hierarchy.as_ref()
    }

    /// Puts a hierarchy over the values; it must have been built for [`Domain::texts`].
    pub fn set_hierarchy(&mut self, hierarchy: Hierarchy) {
        debug_assert_eq!(hierarchy.n_terms(), self.n_values());
        self.hierarchy = Some(hierarchy);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_follow_the_order_of_values() {
        let words = Column::words("w", Role::Quasi, [Some("pear"), None, Some("apple"), Some("pear")]);
        assert_eq!((words.codes.as_slice(), words.domain.missing()), (&[1, 2, 0, 1][..], 2));
        assert_eq!(words.domain.text(2), "");
        let numbers = Column::numbers("n", Role::Quasi, [Some(10.0), Some(-0.0), Some(9.5), Some(0.0), None]);
        assert_eq!(numbers.codes, [2, 0, 1, 0, 3]);
        assert_eq!(numbers.domain.numbers().unwrap(), [0.0, 9.5, 10.0]);
        assert_eq!(numbers.domain.texts().iter().collect::<Vec<_>>(), ["0", "9.5", "10"]);
        assert!(numbers.domain.has_missing() && words.domain.has_missing());
    }

    #[test]
    fn a_column_may_be_missing_as_a_whole() {
        for column in [Column::words("w", Role::Quasi, [None, None]), Column::numbers("n", Role::Quasi, [None, None])] {
            assert_eq!((column.codes, column.domain.n_values()), (vec![0, 0], 0));
        }
    }

    #[test]
    fn texts_of_the_same_number_are_one_value() {
        let mut texts = Dictionary::default();
        let codes = ["5.0", "3", "5", "05"].map(|text| texts.intern(text)).to_vec();
        let column = Column::from_number_codes("n", Role::Other, &texts, codes, |text| text.parse().unwrap());
        assert_eq!(column.codes, [1, 0, 1, 1]);
        assert!(!column.domain.has_missing());
    }
}
