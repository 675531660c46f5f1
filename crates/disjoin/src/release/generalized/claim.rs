//! What a generalized table promises, and against whom: its claim.json.
//!
//! Promises:   neither how many rows were removed nor how values are distributed over all rows is told: both beside the
//!             release would disclose the values of suppressed records
//! Checked by: tests in this file, and `tests/it/table_release.rs`

use serde::{Deserialize, Serialize};

use super::published_columns;
use crate::data::table::{Column, Role, Table};
use crate::data::{Dictionary, Hierarchy, NodeId, Partition};
use crate::error::{Error, Place, Result};
use crate::release::claim::{Body, Claim, Form, Parameters, Promise, Words};
use crate::release::privacy_models::{Criterion, Distance};
use crate::release::spelling::Spelling;

/// The claim that travels with a generalized table.
pub type TableClaim = Claim<Classes>;

impl Body for Classes {
    const FORM: Form = Form::Classes;

    fn fault(&self) -> Option<&'static str> {
        let sets = self.sets.as_ref()?;
        match sets.promise {
            Promise::ProgramAware => Some("promises of sets in a table what is promised of datasets only"),
            _ => sets.parameters.fault(),
        }
    }

    fn promised(&self) -> String {
        self.told(&self.criteria, Words::Whole)
    }

    fn adversary(&self) -> String {
        let except = if self.criteria.is_empty() { "" } else { MINIMALITY };
        self.against(except)
    }

    fn words_of_version_2(&self) -> (String, String) {
        (self.told(&self.criteria, Words::OfVersion2), self.against(""))
    }

    fn provable(&self) -> String {
        let criteria: Vec<Criterion> = self.criteria.iter().copied().filter(Criterion::is_checkable).collect();
        self.told(&criteria, Words::Shown)
    }

    fn unchecked(&self, with_original: bool) -> Vec<(String, &'static str)> {
        let mut fields = unchecked_of_columns(&self.criteria, &self.columns);
        if let Some(sets) = &self.sets {
            fields.push(("sets.column".into(), "what the column of sets was called; its sets have no name"));
            let of_sets = sets.parameters.unchecked(sets.promise, with_original);
            fields.extend(of_sets.into_iter().map(|(field, why)| (format!("sets.{field}"), why)));
        }
        fields
    }
}

/// What no criterion covers.
pub(in crate::release) const MINIMALITY: &str = " Nothing is promised against an adversary who knows the algorithm and infers from \
                                                 it why rows were put together, or which originals it would have published in \
                                                 another way (minimality attack).";

impl Classes {
    /// Against whom, with an exception or without.
    fn against(&self, except: &str) -> String {
        let mut text = adversary(&self.criteria, &self.columns) + except;
        if self.associations.is_some() {
            text += " Rules are about what is published: an adversary who counts what stands below a label as the label may find \
                     more.";
        }
        if let Some(sets) = &self.sets {
            text += &format!(" About the sets: {}", sets.promise.adversary(sets.parameters.m));
        }
        text
    }

    /// The promise, with these of its criteria; of sets only what chunks show, if asked for.
    fn told(&self, criteria: &[Criterion], words: Words) -> String {
        let mut text = promised(criteria, &self.columns);
        if let Some(Associations { confidence: share, support }) = self.associations {
            text += &format!(
                " No set of quasi-identifiers that {support} or more rows with a sensitive value show leads to that value in a \
                 share of {share} of the rows that show it, or more; values were generalised for that, up to *, which stands \
                 for anything."
            );
        }
        if let Some(SetsClaim { column, parameters, promise, .. }) = &self.sets {
            let of = if words == Words::Shown { String::new() } else { format!(" of {column:?}") };
            text += &format!(
                " Inside every class the sets{of} are cut into chunks: {} This holds for each class by itself, also \
                 for an adversary who knows the quasi-identifiers.",
                parameters.promised(*promise, words),
            );
        }
        text
    }
}

/// What no table shows of its criteria and columns.
pub(in crate::release) fn unchecked_of_columns(
    criteria: &[Criterion],
    columns: &[PublishedColumn],
) -> Vec<(String, &'static str)> {
    let mut fields = vec![
        (
            "columns.role".into(),
            "which attributes others may know, and which are sensitive, was decided by the maker of the release",
        ),
        ("columns.numeric".into(), "whether a quasi-identifier was a number; the promise does not depend on it"),
    ];
    if !criteria.iter().all(Criterion::is_checkable) {
        fields.push((
            "criteria.background".into(),
            "the limit on beliefs can be checked with the original only, by who made it",
        ));
    }
    if columns.iter().any(|column| column.cells.is_some()) {
        fields.push(("columns.cells".into(), "how cells are read; the promise does not depend on it"));
    }
    if columns.iter().any(|column| column.hierarchy.is_some()) {
        fields.push((
            "columns.hierarchy".into(),
            "which sensitive values are alike was decided by the maker of the release",
        ));
    }
    fields
}

/// What is claimed of a generalized table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Classes {
    /// What every class satisfies.
    pub criteria: Vec<Criterion>,
    /// The columns of data.csv, in order.
    pub columns: Vec<PublishedColumn>,
    /// The number of rows of data.csv.
    pub records: u64,
    /// If the table has a set-valued column: what is promised about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sets: Option<SetsClaim>,
    /// If rules are hidden: which. Sensitive values may then be labels that stand for several, or `*`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub associations: Option<Associations>,
}

/// Rules from quasi-identifiers to a sensitive value that a table must not have.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Associations {
    /// From which share of the rows with some quasi-identifiers on a value is told too surely.
    pub confidence: f64,
    /// In how many rows a rule must be seen to count.
    pub support: u32,
}

impl Default for Associations {
    fn default() -> Self {
        Associations { confidence: 0.5, support: 2 }
    }
}

impl Associations {
    /// Rules are counted for all sets of quasi-identifiers: no more of these than this.
    const MOST_COLUMNS: usize = 12;

    /// Refuses limits that mean nothing, or that cannot be checked.
    pub fn check(&self, n_quasi: usize) -> Result<()> {
        let refuse = |key, problem: &str, hint: &str| Err(Error::recipe(key, problem, hint));
        match () {
            () if !(self.confidence > 0.0 && self.confidence <= 1.0) => {
                refuse("confidence", "must be above 0 and at most 1", "for example 0.5")
            }
            () if self.support == 0 => refuse("support", "must be at least 1", "for example 2"),
            () if n_quasi > Self::MOST_COLUMNS => refuse(
                "quasi",
                "names too many columns to look for rules in all sets of them",
                "name 12 at most, or choose another method",
            ),
            () => Ok(()),
        }
    }
}

/// What is promised about the set-valued column of a table: disassociation, inside each class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetsClaim {
    /// The column's name.
    pub column: String,
    /// The parameters of disassociation.
    pub parameters: Parameters,
    /// Which reading of the guarantee is promised.
    pub promise: Promise,
    /// Rows whose set is not empty.
    pub records: u64,
}

/// A column of data.csv.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishedColumn {
    /// Its name in the header.
    pub name: String,
    /// What it is for.
    pub role: Role,
    /// Whether its values are numbers; those of a quasi-identifier may be ranges of them.
    pub numeric: bool,
    /// For each value that is published the value and the labels above it, bottom-up: of a sensitive column, if a distance by
    /// hierarchy is claimed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hierarchy: Option<Vec<Vec<String>>>,
    /// Of a quasi-identifier: how its cells are read; not said where somebody else spelled them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cells: Option<Spelling>,
}

impl PublishedColumn {
    /// Says how the cells of the quasi-identifiers of a table are read; `occurs` are the codes that are published.
    pub(in crate::release) fn spell(columns: &mut [Self], table: &Table, occurs: impl Fn(&Column) -> Vec<bool>) {
        for column in columns.iter_mut().filter(|column| column.role == Role::Quasi) {
            let original = table.columns.iter().find(|other| other.name == column.name);
            column.cells = original.map(|original| Spelling::of(original, &occurs(original)));
        }
    }
}

impl TableClaim {
    /// The claim of a table whose classes satisfy the criteria.
    pub fn new(table: &Table, partition: &Partition, method: &str, criteria: &[Criterion]) -> Self {
        let columns = columns_as_published(table, criteria, |column| occurring(column, partition.published()));
        let (criteria, records) = (criteria.to_vec(), partition.n_published() as u64);
        Claim::of(method, Classes { criteria, columns, records, sets: None, associations: None })
    }

    /// The same, and how cells are read.
    #[must_use]
    pub fn with_cells(mut self, table: &Table, partition: &Partition) -> Self {
        PublishedColumn::spell(&mut self.body.columns, table, |column| occurring(column, partition.published()));
        self
    }

    /// The same, with rules hidden.
    #[must_use]
    pub fn with_associations(self, rules: Associations) -> Self {
        Claim::of(&self.method, Classes { associations: Some(rules), ..self.body }).of_people(self.people)
    }

    /// The same, with the sets of a column published in chunks inside the classes.
    #[must_use]
    pub fn with_sets(self, sets: SetsClaim) -> Self {
        Claim::of(&self.method, Classes { sets: Some(sets), ..self.body }).of_people(self.people)
    }

    /// The hierarchy of a sensitive column over its values as published; none if none is published. `file` serves in messages.
    pub fn hierarchy(&self, column: &str, values: &Dictionary, file: &str) -> Result<Option<Hierarchy>> {
        hierarchy_of(&self.columns, column, values, file)
    }
}

/// What a claim holds about the columns that are published; hierarchies only where a criterion needs them.
pub(in crate::release) fn columns_as_published(
    table: &Table,
    criteria: &[Criterion],
    occurs: impl Fn(&Column) -> Vec<bool>,
) -> Vec<PublishedColumn> {
    let by_hierarchy = criteria
        .iter()
        .any(|criterion| matches!(criterion, Criterion::Closeness { distance: Distance::Hierarchical, .. }));
    let publish = |column: &Column| PublishedColumn {
        name: column.name.clone(),
        role: column.role,
        numeric: column.domain.numbers().is_some(),
        hierarchy: match (by_hierarchy && column.role == Role::Sensitive, column.domain.hierarchy()) {
            (true, Some(hierarchy)) => Some(paths(column, hierarchy, &occurs(column))),
            _ => None,
        },
        cells: None,
    };
    published_columns(table).into_iter().map(publish).collect()
}

/// The hierarchy that a claim holds of one of its columns.
pub(in crate::release) fn hierarchy_of(
    columns: &[PublishedColumn],
    column: &str,
    values: &Dictionary,
    file: &str,
) -> Result<Option<Hierarchy>> {
    let Some(paths) = columns.iter().find(|c| c.name == column).and_then(|c| c.hierarchy.as_ref()) else {
        return Ok(None);
    };
    // A label that is also a value is a node of its own all the same: no value begins with this character.
    let labels = |path: &[String]| path.iter().map(|label| format!("\u{1}{label}")).collect::<Vec<String>>();
    let split = |path: &Vec<String>| path.split_first().map(|(value, above)| (value.clone(), labels(above)));
    let paths: Vec<(String, Vec<String>)> = paths.iter().filter_map(split).collect();
    let paths = paths.iter().map(|(value, above)| (value.as_str(), above.iter().map(String::as_str)));
    Hierarchy::from_paths(values, paths).map(Some).map_err(|fault| {
        let place = Place::file(file).in_column(column);
        Error::input(place, format!("the hierarchy of the claim does not fit the data: {fault}"))
    })
}

/// For each code whether one of these rows has it.
pub(in crate::release) fn occurring(column: &Column, rows: &[u32]) -> Vec<bool> {
    let mut occurs = vec![false; column.domain.n_codes()];
    rows.iter().for_each(|&row| occurs[column.codes[row as usize] as usize] = true);
    occurs
}

/// The values that occur with the labels above them, in order of value.
fn paths(column: &Column, hierarchy: &Hierarchy, occurs: &[bool]) -> Vec<Vec<String>> {
    let domain = &column.domain;
    let path = |value: NodeId| {
        let nodes = std::iter::once(value).chain(hierarchy.ancestors(value));
        nodes.map(|node| hierarchy.text(node, domain.texts()).to_owned()).collect()
    };
    (0..domain.missing()).filter(|&value| occurs[value as usize]).map(path).collect()
}

/// The names of the columns of a role, in quotes: whoever makes a table can call a column what they like.
pub(in crate::release) fn names(columns: &[PublishedColumn], role: Role) -> String {
    let names: Vec<String> = columns.iter().filter(|c| c.role == role).map(|c| format!("{:?}", c.name)).collect();
    names.join(", ")
}

fn promised(criteria: &[Criterion], columns: &[PublishedColumn]) -> String {
    if criteria.is_empty() {
        return "Nothing. This release was made for experiments and must not be published.".into();
    }
    let asked: Vec<String> = criteria.iter().map(Criterion::text).collect();
    format!(
        "The rows that show the same quasi-identifiers ({}) are a class, and every class has {}. What holds overall is taken \
         over all rows published here.",
        names(columns, Role::Quasi),
        asked.join("; ")
    )
}

fn adversary(criteria: &[Criterion], columns: &[PublishedColumn]) -> String {
    if criteria.is_empty() {
        return "nobody".into();
    }
    let mut text = String::from(
        "An adversary who knows all quasi-identifiers of a person, knows that the person is among the rows published here, \
         and reads this release.",
    );
    let sensitive = columns.iter().filter(|column| column.role == Role::Sensitive).count();
    let is_about_values = |c: &Criterion| c.needs_sensitive() && !matches!(c, Criterion::Background { .. });
    if !criteria.iter().any(is_about_values) {
        text +=
            " Nothing is promised about sensitive values: where all rows of a class have the same, it is disclosed.";
    } else if sensitive > 1 {
        text += " Each sensitive column is protected for itself: nothing is promised about several of them together.";
    }
    if columns.iter().any(|column| column.role == Role::Other) {
        let others = names(columns, Role::Other);
        text += &format!(
            " Nothing is promised against an adversary who knows insensitive attributes of a person ({others})."
        );
    }
    if sensitive > 0 {
        text += " Nothing is promised against an adversary who knows sensitive values of a person, or of others of the class.";
    }
    if criteria.iter().any(|criterion| matches!(criterion, Criterion::Background { .. })) {
        text += " The limit on beliefs was checked with the original by the maker of this release; it cannot be checked from the \
                 release alone.";
    }
    text
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::release::form_of;

    fn table() -> (Table, Partition) {
        let mut ill = Column::words("ill", Role::Sensitive, ["a", "b", "c", "rare"].map(Some));
        let above = [("a", ["x", "*"]), ("b", ["x", "*"]), ("c", ["y", "*"]), ("rare", ["z", "*"])];
        ill.domain.set_hierarchy(Hierarchy::from_paths(ill.domain.texts(), above).unwrap());
        let columns = vec![ill, Column::numbers("age", Role::Quasi, [1.0, 2.0, 3.0, 99.0].map(Some))];
        let mut partition = Partition::from_parts(Vec::new(), Vec::new(), vec![3]);
        partition.push(&[0, 1, 2]);
        (Table::new(4, columns, None), partition)
    }

    #[test]
    fn a_claim_tells_nothing_of_removed_rows() {
        let (table, partition) = table();
        let criteria = [
            Criterion::KAnonymity { k: 2 },
            Criterion::Closeness { t: 0.5, distance: Distance::Hierarchical },
            Criterion::Background { t: 0.2 },
        ];
        let claim = TableClaim::new(&table, &partition, "mondrian", &criteria);
        let text = claim.to_json().unwrap();
        for secret in ["rare", "\"z\"", "99", "\"removed", "4"] {
            assert!(!text.replace(env!("CARGO_PKG_VERSION"), "").contains(secret), "{secret}: {text}");
        }
        assert_eq!((claim.records, claim.columns[1].hierarchy.as_ref().unwrap().len()), (3, 3));
        assert!(claim.promised.contains("(\"age\")") && claim.promised.contains("at least 2 rows"));
        assert!(claim.adversary.contains("cannot be checked from the release alone"));
        let plain = TableClaim::new(&table, &partition, "mondrian", &criteria[..1]);
        assert!(plain.adversary.contains("Nothing is promised about sensitive values"));
        assert_eq!(plain.columns[1].hierarchy, None);
    }

    #[test]
    fn claims_are_read_back_and_not_taken_for_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("claim.json");
        let (table, partition) = table();
        let criteria = [Criterion::Likeness { beta: 1.5, enhanced: true }, Criterion::Frequency { alpha: 0.1 }];
        let claim = TableClaim::new(&table, &partition, "burel", &criteria);
        std::fs::write(&path, claim.to_json().unwrap()).unwrap();
        assert_eq!(TableClaim::read(&path).unwrap(), claim);
        assert_eq!(form_of(&path).unwrap(), Form::Classes);
        let error = <Claim>::read(&path).unwrap_err().to_string();
        assert!(error.contains("generalised") && error.contains("disassociated"), "{error}");

        let text = claim.to_json().unwrap();
        for (from, to) in [("\"generalized\"", "\"disassociated\""), ("\"version\": 3", "\"version\": 4"), ("{", "")] {
            std::fs::write(&path, text.replacen(from, to, 1)).unwrap();
            assert_ne!(fs::read_to_string(&path).unwrap(), text);
            assert!(matches!(TableClaim::read(&path), Err(Error::Input { .. })), "{to}");
        }
    }

    #[test]
    fn hierarchies_of_a_claim_keep_their_heights() {
        // 015 stands below a label of its own name, and 015.1 was removed.
        let mut ill = Column::words("ill", Role::Sensitive, ["015", "015.1", "016"].map(Some));
        let above = [("015", ["015", "01"]), ("015.1", ["015", "01"]), ("016", ["016", "01"])];
        ill.domain.set_hierarchy(Hierarchy::from_paths(ill.domain.texts(), above).unwrap());
        let table = Table::new(3, vec![ill], None);
        let mut partition = Partition::default();
        partition.push(&[0, 2]);
        let criteria = [Criterion::Closeness { t: 0.5, distance: Distance::Hierarchical }];
        let claim = TableClaim::new(&table, &partition, "mondrian", &criteria);
        let values = Column::words("ill", Role::Sensitive, ["015", "016"].map(Some)).domain;
        let hierarchy = claim.hierarchy("ill", values.texts(), "x").unwrap().unwrap();
        assert_eq!((hierarchy.depth(0), hierarchy.depth(1)), (2, 1));
        assert!(claim.hierarchy("age", values.texts(), "x").unwrap().is_none());
    }
}
