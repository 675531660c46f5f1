//! What a split table promises, and against whom: its claim.json.
//!
//! Promises:   as the claim of a generalized table, it tells nothing of rows that were removed
//! Checked by: tests in this file, and `tests/it/break_merge.rs`

use serde::{Deserialize, Serialize};

use super::{CountedSplit, Split, file_names, group_column};
use crate::data::table::Role;
use crate::data::{Dictionary, Hierarchy};
use crate::error::Result;
use crate::release::claim::{Body, Claim, Form};
use crate::release::generalized::{
    MINIMALITY, PublishedColumn, columns_as_published, hierarchy_of, names, occurring, unchecked_of_columns,
};
use crate::release::privacy_models::Criterion;

/// The claim that travels with a split table.
pub type SplitClaim = Claim<SplitTable>;

impl Body for SplitTable {
    const FORM: Form = Form::Split;

    /// A file name that leads elsewhere, or twice to the same table, is no name of a file of ours.
    fn fault(&self) -> Option<&'static str> {
        let sensitive = self.columns.iter().filter(|column| column.role == Role::Sensitive).map(|column| &column.name);
        let is_file = |file: &SensitiveFile| super::is_sensitive_file(&file.file);
        let twice = |(i, file): (usize, &SensitiveFile)| self.files[..i].iter().any(|other| other.file == file.file);
        let is_known = sensitive.eq(self.files.iter().map(|file| &file.column));
        let is_right = is_known && self.files.iter().all(is_file) && !self.files.iter().enumerate().any(twice);
        (!is_right).then_some("does not name the file of each sensitive column")
    }

    fn promised(&self) -> String {
        promised(&self.criteria, &self.columns, if self.exact { "stand as they were" } else { GENERALISED })
    }

    fn adversary(&self) -> String {
        let except = if self.criteria.is_empty() { "" } else { MINIMALITY };
        adversary(&self.criteria, self.exact, self.files.len()) + except
    }

    fn words_of_version_2(&self) -> (String, String) {
        (self.promised(), adversary(&self.criteria, self.exact, self.files.len()))
    }

    fn provable(&self) -> String {
        let criteria: &[Criterion] = &self.criteria.iter().copied().filter(Criterion::is_checkable).collect::<Vec<_>>();
        // That they stand as they were is seen with the original only.
        let how = if self.exact { "stand row by row" } else { GENERALISED };
        promised(criteria, &self.columns, how)
    }

    fn unchecked(&self, with_original: bool) -> Vec<(String, &'static str)> {
        let mut fields = unchecked_of_columns(&self.criteria, &self.columns);
        if self.exact && !with_original {
            fields.push(("exact".into(), "that quasi-identifiers stand as they were is seen with the original only"));
        }
        fields
    }
}

/// What is claimed of a split table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SplitTable {
    /// What every group satisfies, in each sensitive table.
    pub criteria: Vec<Criterion>,
    /// The quasi-identifiers, in the order of quasi.csv, and the sensitive columns.
    pub columns: Vec<PublishedColumn>,
    /// The name of the last column of quasi.csv: the number of the group.
    pub group_column: String,
    /// Whether quasi-identifiers stand as they were, and not generalised.
    pub exact: bool,
    /// In which file each sensitive column is, in the order of the columns.
    pub files: Vec<SensitiveFile>,
    /// The number of rows of quasi.csv.
    pub records: u64,
    /// The number of groups.
    pub groups: u64,
}

/// Where a sensitive column is published.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SensitiveFile {
    /// The column.
    pub column: String,
    /// Its file, beside the claim.
    pub file: String,
}

impl SplitClaim {
    /// The claim of a split table whose groups satisfy the criteria.
    pub fn new(split: &Split<'_>, method: &str, criteria: &[Criterion]) -> Self {
        let columns =
            columns_as_published(split.table(), criteria, |column| occurring(column, split.partition().published()));
        Self::of_columns(columns, split.is_exact(), (split.n_rows() as u64, split.n_groups() as u64), method, criteria)
    }

    /// The same, and how the cells of groups are read; rows that stand as they were need no reading.
    #[must_use]
    pub fn with_cells(mut self, split: &Split<'_>) -> Self {
        if !split.is_exact() {
            let published = split.partition();
            let occurs = |column: &crate::data::table::Column| occurring(column, published.published());
            PublishedColumn::spell(&mut self.body.columns, split.table(), occurs);
        }
        self
    }

    /// The same of groups of which only counts are kept.
    pub fn of_counts(split: &CountedSplit<'_>, method: &str, criteria: &[Criterion]) -> Self {
        let columns = columns_as_published(split.columns(), criteria, |column| split.occurring(column));
        Self::of_columns(columns, false, (split.n_rows(), split.n_groups() as u64), method, criteria)
    }

    fn of_columns(
        columns: Vec<PublishedColumn>,
        is_exact: bool,
        (records, groups): (u64, u64),
        method: &str,
        criteria: &[Criterion],
    ) -> Self {
        let of = |role| columns.iter().filter(move |column| column.role == role).map(|column| column.name.as_str());
        let (quasi, sensitive): (Vec<&str>, Vec<&str>) = (of(Role::Quasi).collect(), of(Role::Sensitive).collect());
        let files = sensitive.iter().zip(file_names(&sensitive));
        let body = SplitTable {
            criteria: criteria.to_vec(),
            group_column: group_column(&quasi),
            exact: is_exact,
            files: files.map(|(&column, file)| SensitiveFile { column: column.to_owned(), file }).collect(),
            records,
            groups,
            columns,
        };
        Claim::of(method, body)
    }

    /// The hierarchy of a sensitive column over its values as published; none if none is published. `file` serves in messages.
    pub fn hierarchy(&self, column: &str, values: &Dictionary, file: &str) -> Result<Option<Hierarchy>> {
        hierarchy_of(&self.columns, column, values, file)
    }

    /// How likely all sensitive values of a person may be guessed, if that is promised.
    pub fn breach_limit(&self) -> Option<f64> {
        let limit = |c: &Criterion| if let Criterion::KnowledgeBreach { most } = c { Some(*most) } else { None };
        self.criteria.iter().filter_map(limit).reduce(f64::min)
    }
}

/// What rows of a group have in common.
const GENERALISED: &str = "are the same for all rows of a group";

fn promised(criteria: &[Criterion], columns: &[PublishedColumn], how: &str) -> String {
    if criteria.is_empty() {
        return "Nothing. This release was made for experiments and must not be published.".into();
    }
    let asked: Vec<String> = criteria.iter().map(Criterion::text).collect();
    format!(
        "The quasi-identifiers ({}) {how}, and each sensitive column ({}) is counted by itself. Every group has {}, in every \
         sensitive table. Which sensitive value is whose, and which values of different columns belong together, is not \
         published.",
        names(columns, Role::Quasi),
        names(columns, Role::Sensitive),
        asked.join("; ")
    )
}

fn adversary(criteria: &[Criterion], is_exact: bool, n_sensitive: usize) -> String {
    if criteria.is_empty() {
        return "nobody".into();
    }
    let mut text = String::from(
        "An adversary who knows all quasi-identifiers of a person, knows that the person is among the rows published here, \
         and reads this release.",
    );
    if criteria.iter().any(|criterion| matches!(criterion, Criterion::KnowledgeBreach { .. })) {
        text += " The probability of all sensitive values also holds for an adversary who knows one of them.";
    } else if n_sensitive > 1 {
        text += " Nothing is promised against an adversary who also knows a sensitive value of the person.";
    }
    if !criteria.iter().any(Criterion::needs_sensitive) {
        text += " Nothing is promised about sensitive values: where a group has one value only, it is disclosed.";
    }
    if is_exact {
        text += " Quasi-identifiers are published as they are: an adversary who knows a person's learns whether the person is here \
             (membership disclosure).";
    }
    text += " Nothing is promised against an adversary who knows sensitive values of others of the group, or from elsewhere how \
             sensitive values go with each other or with quasi-identifiers.";
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Partition;
    use crate::data::table::{Column, Table};
    use crate::error::Error;
    use crate::release::generalized::TableClaim;

    #[test]
    fn claims_are_read_back_and_checked() {
        let columns = vec![
            Column::numbers("age", Role::Quasi, [1.0, 2.0, 99.0].map(Some)),
            Column::words("a b", Role::Sensitive, ["x", "y", "rare"].map(Some)),
        ];
        let table = Table::new(3, columns, None);
        let mut partition = Partition::from_parts(Vec::new(), Vec::new(), vec![2]);
        partition.push(&[0, 1]);
        let split = Split::of_classes(&table, &partition).unwrap();
        let criteria = [Criterion::KAnonymity { k: 2 }, Criterion::KnowledgeBreach { most: 0.5 }];
        let claim = SplitClaim::new(&split, "break-merge", &criteria);
        assert_eq!((claim.breach_limit(), claim.files[0].file.as_str()), (Some(0.5), "sensitive_1.csv"));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("claim.json");
        let text = claim.to_json().unwrap();
        assert!(!text.contains("rare") && !text.contains("99"));
        std::fs::write(&path, &text).unwrap();
        assert_eq!(SplitClaim::read(&path).unwrap(), claim);
        assert!(TableClaim::read(&path).unwrap_err().to_string().contains("split"));
        for (from, to) in [
            ("sensitive_1.csv", "../sensitive_1.csv"),
            ("sensitive_1.csv", "/etc/passwd"),
            ("\"version\": 3", "\"version\": 4"),
            ("\"column\": \"a b\"", "\"column\": \"age\""),
        ] {
            std::fs::write(&path, text.replacen(from, to, 1)).unwrap();
            assert!(matches!(SplitClaim::read(&path), Err(Error::Input { .. })), "{to}");
        }
    }
}
