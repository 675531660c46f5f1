//! Q-S association hiding: sensitive values that quasi-identifiers tell too surely are generalised, level by level, until no such
//! rule is left.
//!
//! Paper:      Weijia, Shangteng: k-Anonymization without Q-S Associations, WAIM 2007, as nadimpalli2014 tells it: it is what
//!             Break-Merge is compared with
//! Promises:   no set of published quasi-identifiers leads to a published sensitive value with the confidence and the support
//!             that are excluded, `*` aside, which tells nothing
//! Assumes:    classes of any tabular method
//! Departs:    the paper itself could not be read. Its negative rules are not looked for. Values are what is published: a label
//!             and a value below it are two. Without a hierarchy, one level leads to `*`; so does the last one of a hierarchy
//! Cost:       all sets of quasi-identifiers that are frequent enough, grown column by column, times rounds until nothing changes
//! Checked by: `tests/it/break_merge.rs`: no rule is left, by counting all of them

use std::collections::BTreeMap;

use serde::Serialize;

use crate::data::table::{Column, Role, Table};
use crate::data::{Dictionary, Partition};
use crate::error::{Error, Result};
use crate::release::generalized::{Associations, Generalized};
use crate::release::privacy_models::ROUNDING;

/// What is published where nothing is told.
const ANYTHING: &str = "*";

/// A table in which rules are hidden, and what that cost.
#[derive(Debug, Clone)]
pub struct Hidden {
    /// The table with the sensitive values that may be published.
    pub table: Table,
    /// What was lost.
    pub loss: HiddenLoss,
}

/// What hiding cost.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HiddenLoss {
    /// Rules that were broken up, those included that generalising made.
    pub rules: u64,
    /// The mean over published rows of levels climbed by levels there are, for each sensitive column.
    pub columns: Vec<(String, f64)>,
}

/// Generalises sensitive values in matching rows until no rule is left.
pub fn hide(table: &Table, partition: &Partition, rules: &Associations) -> Result<Hidden> {
    rules.check(table.quasi().len())?;
    let columns = table.sensitive();
    if columns.is_empty() {
        let problem = "names no column: there is nothing to hide";
        return Err(Error::recipe("sensitive", problem, "name the columns that nobody may learn about a person"));
    }
    let data = Generalized::new(table, partition);
    let mut hiding = Hiding::new(&data, &columns, rules);
    let all: Vec<usize> = (0..data.n_classes()).collect();
    loop {
        let before = hiding.broken;
        hiding.visit(&all, 0);
        if hiding.broken == before {
            break;
        }
    }
    let loss = HiddenLoss { rules: hiding.broken, columns: hiding.losses(&columns) };
    let hidden = columns.iter().zip(&hiding.values).map(|(column, values)| recoded(column, values, &data));
    let mut hidden: BTreeMap<String, Column> = hidden.map(|column| (column.name.clone(), column)).collect();
    let keep = |column: &Column| match column.role {
        Role::Sensitive => hidden.remove(&column.name).unwrap_or_else(|| column.clone()),
        _ => column.clone(),
    };
    Ok(Hidden { table: Table::new(table.n_rows(), table.columns.iter().map(keep).collect(), table.sets.clone()), loss })
}

/// The state of the work.
struct Hiding<'a> {
    rules: &'a Associations,
    /// For each quasi-identifier what each class shows of it, as a number.
    items: Vec<Vec<usize>>,
    sizes: Vec<u32>,
    /// For each sensitive column what its rows show.
    values: Vec<Values>,
    broken: u64,
}

/// What the rows of all classes show of a sensitive column.
struct Values {
    texts: Dictionary,
    /// For each value of the original the texts that stand for it, level by level; the last is `*`.
    paths: Vec<Vec<u32>>,
    /// For each class its values.
    of_class: Vec<Vec<Entry>>,
}

/// Rows of one class with the same value. They are always generalised together.
struct Entry {
    value: u32,
    count: u32,
    level: usize,
}

impl Values {
    fn new(column: &Column, data: &Generalized<'_>) -> Self {
        let mut texts = Dictionary::default();
        texts.intern(ANYTHING);
        let paths = (0..column.domain.n_codes() as u32).map(|code| path(column, code, &mut texts)).collect();
        let count = |class: usize| {
            let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
            data.rows(class).iter().for_each(|&row| *counts.entry(column.codes[row as usize]).or_default() += 1);
            counts.into_iter().map(|(value, count)| Entry { value, count, level: 0 }).collect()
        };
        Values { texts, paths, of_class: (0..data.n_classes()).map(count).collect() }
    }

    fn shown(&self, entry: &Entry) -> u32 {
        self.paths[entry.value as usize][entry.level]
    }

    /// How often some classes show each text.
    fn counts(&self, classes: &[usize]) -> BTreeMap<u32, u32> {
        let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
        for entry in classes.iter().flat_map(|&class| &self.of_class[class]) {
            *counts.entry(self.shown(entry)).or_default() += entry.count;
        }
        counts
    }

    /// Everything that shows a text in some classes goes up a level.
    fn climb(&mut self, classes: &[usize], text: u32) {
        for &class in classes {
            for entry in &mut self.of_class[class] {
                let path = &self.paths[entry.value as usize];
                if path[entry.level] == text && entry.level + 1 < path.len() {
                    entry.level += 1;
                }
            }
        }
    }
}

/// The texts that stand for a value, level by level. Labels that say no more or less than the one below are left out.
fn path(column: &Column, code: u32, texts: &mut Dictionary) -> Vec<u32> {
    let domain = &column.domain;
    let mut path = vec![texts.intern(domain.text(code))];
    if let (Some(hierarchy), true) = (domain.hierarchy(), code != domain.missing()) {
        let mut below = 1;
        for node in hierarchy.ancestors(code) {
            let leaves = hierarchy.leaves_below(node);
            if leaves > below && (leaves as usize) < domain.n_values() {
                path.push(texts.intern(hierarchy.text(node, domain.texts())));
                below = leaves;
            }
        }
    }
    path.push(texts.intern(ANYTHING));
    path
}

impl<'a> Hiding<'a> {
    fn new(data: &Generalized<'_>, columns: &[&Column], rules: &'a Associations) -> Self {
        let n_quasi = if data.n_classes() > 0 { data.cells(0).len() } else { 0 };
        let items = |column: usize| -> Vec<usize> {
            let mut places: Vec<&str> = (0..data.n_classes()).map(|class| data.cells(class)[column].as_str()).collect();
            let shown = places.clone();
            places.sort_unstable();
            places.dedup();
            shown.iter().map(|text| places.partition_point(|other| other < text)).collect()
        };
        Hiding {
            rules,
            items: (0..n_quasi).map(items).collect(),
            sizes: (0..data.n_classes()).map(|class| data.rows(class).len() as u32).collect(),
            values: columns.iter().map(|column| Values::new(column, data)).collect(),
            broken: 0,
        }
    }

    /// Looks at every set of items that begins with what these classes have in common, and goes on with a later column.
    fn visit(&mut self, classes: &[usize], from: usize) {
        for column in from..self.items.len() {
            let mut parts: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
            classes.iter().for_each(|&class| parts.entry(self.items[column][class]).or_default().push(class));
            for part in parts.into_values() {
                let size: u32 = part.iter().map(|&class| self.sizes[class]).sum();
                // What is rarer than a rule must be, no rule can start from: nor can one that asks for more.
                if size >= self.rules.support {
                    self.break_rules(&part, size);
                    self.visit(&part, column + 1);
                }
            }
        }
    }

    fn break_rules(&mut self, classes: &[usize], size: u32) {
        for values in &mut self.values {
            let anything = values.texts.intern(ANYTHING);
            let is_rule = |(text, count): &(u32, u32)| {
                let is_sure = f64::from(*count) >= (self.rules.confidence - ROUNDING) * f64::from(size);
                is_sure && *count >= self.rules.support && *text != anything
            };
            while let Some((text, _)) = values.counts(classes).into_iter().find(is_rule) {
                values.climb(classes, text);
                self.broken += 1;
            }
        }
    }

    fn losses(&self, columns: &[&Column]) -> Vec<(String, f64)> {
        let rows = self.sizes.iter().map(|&size| f64::from(size)).sum::<f64>().max(1.0);
        let loss = |values: &Values| {
            let of = |entry: &Entry| {
                let height = values.paths[entry.value as usize].len() - 1;
                f64::from(entry.count) * entry.level as f64 / height.max(1) as f64
            };
            values.of_class.iter().flatten().map(of).sum::<f64>() / rows
        };
        columns.iter().zip(&self.values).map(|(column, values)| (column.name.clone(), loss(values))).collect()
    }
}

/// The column with what its rows show; rows that are not published have no value.
fn recoded(column: &Column, values: &Values, data: &Generalized<'_>) -> Column {
    let mut shown: Vec<Option<u32>> = vec![None; column.codes.len()];
    for (class, entries) in values.of_class.iter().enumerate() {
        for &row in data.rows(class) {
            let code = column.codes[row as usize];
            let entry = entries.binary_search_by_key(&code, |entry| entry.value).ok().map(|place| &entries[place]);
            shown[row as usize] = entry.map(|entry| values.shown(entry));
        }
    }
    let text = |text: &Option<u32>| text.map(|text| values.texts.text(text)).filter(|text| !text.is_empty());
    Column::words(&column.name, column.role, shown.iter().map(text))
}
