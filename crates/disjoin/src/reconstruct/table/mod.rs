//! Tables that are published in classes, with sets beside them, or split: laid out to be asked and drawn from.
//!
//! A record of a release stands in a *group*: a class of a table with sets, a group of a split table. What is known of it comes in
//! *sides* that the release does not tie to each other inside a group: rows of cells, the values of a sensitive column, sets of terms.
//! A table without sets has one side and needs no groups. [`count`](Asked::count) bounds and expects over all ways to put the
//! sides together, [`draw`](Asked::draw) takes one of them.
//!
//! Assumes:    what the release says of groups adds up; what does not is refused, with where
//! Checked by: `tests/it/predicates.rs`

mod cells;
mod count;
mod draw;
mod predicate;

use std::collections::{BTreeMap, HashMap};

use super::Model;
use crate::data::table::{Column, Role, Table};
use crate::data::{Dictionary, Hierarchy};
use crate::error::{Error, Place, Result};
use crate::release::generalized::{PublishedColumn, TableClaim};
use crate::release::split::{Count, SplitClaim, SplitTables};
use cells::{Cells, Kind};
pub use count::{Counted, Note};
pub use predicate::Predicate;

/// What labels of columns stand for, where somebody has their hierarchies.
pub type Hierarchies = BTreeMap<String, (Hierarchy, Dictionary)>;

/// The sets of a table's classes, laid out.
pub struct SetsOfClasses<'a> {
    /// The clusters of all classes.
    pub model: Model<'a>,
    /// For each root its class, counted from 0.
    pub class_of_root: &'a [u32],
}

/// A release that can be asked.
pub struct Asked<'a> {
    /// How many records each group has.
    sizes: Vec<u64>,
    sides: Vec<Side<'a>>,
    /// What a split table is made of.
    split: Option<&'a SplitTables>,
}

enum Side<'a> {
    /// A row of cells for each record, and its group.
    Rows { columns: Vec<AskedColumn<'a>>, group_of: Vec<u32> },
    /// How often each group has each value.
    Values { name: &'a str, cells: Box<Cells>, counts: &'a [Count] },
    /// Sets of terms by groups.
    Sets { name: &'a str, sets: &'a SetsOfClasses<'a> },
}

struct AskedColumn<'a> {
    column: &'a Column,
    cells: Cells,
}

impl<'a> Asked<'a> {
    /// A table in classes; `sets` are those that its claim speaks of.
    pub fn of_classes(
        claim: &'a TableClaim,
        table: &'a Table,
        sets: Option<&'a SetsOfClasses<'a>>,
        hierarchies: &Hierarchies,
    ) -> Result<Self> {
        known(hierarchies, claim.columns.iter().map(|column| column.name.as_str()))?;
        let has_labels = claim.associations.is_some();
        let asked = |column: &'a Column| {
            let told = claim.columns.iter().find(|told| told.name == column.name);
            let kind = match column.role {
                Role::Quasi => Kind::of(told.and_then(|told| told.cells)),
                Role::Sensitive if has_labels => Kind::Labels,
                _ => plain(column.domain.numbers().is_some()),
            };
            let is_exact = column.role != Role::Quasi && kind != Kind::Labels;
            let hierarchy = hierarchies.get(&column.name).cloned();
            AskedColumn { cells: Cells::new(&column.domain, kind, is_exact, hierarchy), column }
        };
        let columns = table.columns.iter().map(asked).collect();
        let mut sides = Vec::new();
        let (group_of, sizes) = match sets {
            Some(_) => classes(table),
            None => (vec![0; table.n_rows()], vec![table.n_rows() as u64]),
        };
        if let (Some(sets), Some(told)) = (sets, &claim.sets) {
            check_sets(sets, &sizes)?;
            sides.push(Side::Sets { name: &told.column, sets });
        }
        sides.insert(0, Side::Rows { columns, group_of });
        Ok(Asked { sizes, sides, split: None })
    }

    /// A split table.
    pub fn of_split(claim: &'a SplitClaim, tables: &'a SplitTables, hierarchies: &Hierarchies) -> Result<Self> {
        known(hierarchies, claim.columns.iter().map(|column| column.name.as_str()))?;
        let sizes: Vec<u64> = tables.sizes().into_iter().map(u64::from).collect();
        for values in &tables.sensitive {
            let mut sums = vec![0; sizes.len()];
            for line in &values.counts {
                if let Some(sum) = sums.get_mut(line.group as usize) {
                    *sum += u64::from(line.count);
                }
            }
            if sums != sizes || values.counts.iter().any(|line| line.group as usize >= sizes.len()) {
                let place = Place::file("the release").in_column(&values.column);
                let problem = "the counts of the groups do not add up to their sizes";
                return Err(Error::input(place, problem).with_hint("disjoin verify shows where"));
            }
        }
        let told = |name: &str| claim.columns.iter().find(|told: &&PublishedColumn| told.name == name);
        let asked = |column: &'a Column| {
            let told = told(&column.name);
            let kind = match claim.exact {
                true => plain(told.is_some_and(|told| told.numeric)),
                false => Kind::of(told.and_then(|told| told.cells)),
            };
            let hierarchy = hierarchies.get(&column.name).cloned();
            AskedColumn { cells: Cells::new(&column.domain, kind, claim.exact, hierarchy), column }
        };
        let columns = tables.quasi.columns.iter().map(asked).collect();
        let mut sides = vec![Side::Rows { columns, group_of: tables.group_of.clone() }];
        sides.extend(tables.sensitive.iter().map(|values| {
            let kind = plain(values.domain.numbers().is_some());
            let cells = Cells::new(&values.domain, kind, true, hierarchies.get(&values.column).cloned());
            Side::Values { name: &values.column, cells: Box::new(cells), counts: &values.counts }
        }));
        Ok(Asked { sizes, sides, split: Some(tables) })
    }

    /// The names of all columns that can be asked for.
    fn names(&self) -> Vec<&str> {
        let names = |side: &'_ Side<'a>| -> Vec<&'a str> {
            match side {
                Side::Rows { columns, .. } => columns.iter().map(|asked| asked.column.name.as_str()).collect(),
                Side::Values { name, .. } | Side::Sets { name, .. } => vec![*name],
            }
        };
        self.sides.iter().flat_map(names).collect()
    }
}

fn plain(is_number: bool) -> Kind {
    if is_number { Kind::Numbers } else { Kind::Words }
}

/// Refuses hierarchies of columns that are not there.
fn known<'a>(hierarchies: &Hierarchies, columns: impl Iterator<Item = &'a str>) -> Result<()> {
    let columns: Vec<&str> = columns.collect();
    match hierarchies.keys().find(|name| !columns.contains(&name.as_str())) {
        Some(name) => {
            let problem = format!("is for the column {name}, which is not in the release");
            Err(Error::recipe("hierarchy", problem, format!("the columns are {}", columns.join(", "))))
        }
        None => Ok(()),
    }
}

/// The class of each row, numbered by first appearance, and the sizes of classes.
pub(crate) fn classes(table: &Table) -> (Vec<u32>, Vec<u64>) {
    let quasi = table.quasi();
    let mut numbers: HashMap<Vec<u32>, u32> = HashMap::new();
    let mut sizes: Vec<u64> = Vec::new();
    let class = |row: usize| {
        let next = numbers.len() as u32;
        let class = *numbers.entry(quasi.iter().map(|column| column.codes[row]).collect()).or_insert(next);
        sizes.resize(numbers.len(), 0);
        sizes[class as usize] += 1;
        class
    };
    let of_rows = (0..table.n_rows()).map(class).collect();
    (of_rows, sizes)
}

/// Refuses sets of classes that are not there, or that have more sets than records.
fn check_sets(sets: &SetsOfClasses<'_>, sizes: &[u64]) -> Result<()> {
    let mut left = sizes.to_vec();
    for (root, &class) in sets.model.release().roots.iter().zip(sets.class_of_root) {
        let rest = left.get_mut(class as usize);
        match rest.and_then(|rest| rest.checked_sub(root.size()).map(|less| *rest = less)) {
            Some(()) => {}
            None => {
                let place = Place::file(crate::release::class_sets::FILE_NAME);
                let problem = "has sets of a class that is not in data.csv, or more of them than the class has records";
                return Err(Error::input(place, problem).with_hint("disjoin verify shows where"));
            }
        }
    }
    Ok(())
}
