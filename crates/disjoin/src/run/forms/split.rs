//! Split tables: put into groups and split, proved, attacked by guessing sensitive values and by dependencies, measured.
//!
//! Checked by: `tests/it/break_merge.rs`, `crates/disjoin-cli/tests/it/break_merge.rs`

use std::path::Path;
use std::sync::Arc;

use serde_json::json;

use super::super::AttackOptions;
use super::super::open::{Input, Original};
use super::super::people;
use super::classes::{asked, check_columns, dependencies_of, parameters};
use super::{Planned, table_options};
use crate::attack::network_breach::{of_release, outside};
use crate::attack::{knowledge_breach, network_breach};
use crate::data::Partition;
use crate::data::table::{Role, Table};
use crate::error::{Error, Result};
use crate::knowledge::background::beliefs;
use crate::location::shown;
use crate::measure::measure_split;
use crate::observer::Observer;
use crate::protect::anatomy::{anatomize, anatomy, with_shares};
use crate::protect::break_merge::{break_merge, identical_rows};
use crate::protect::noise::fresh_seed;
use crate::protect::tabular::anonymize_with;
use crate::publish::{Custody, Package, Part, Watched, somewhere};
use crate::read::rows::{Declared, TableIntake};
use crate::read::{Options, Sources, read_table_from};
use crate::recipe::table::Splitting;
use crate::recipe::{self, Measure, Recipe};
use crate::reconstruct::deal;
use crate::release::Form;
use crate::release::privacy_models::Criterion;
use crate::release::split::{QUASI, Split, SplitClaim, SplitTables};
use crate::report::{Attacked, Proof, Utility, count, share};
use crate::verify::{TableTruth, verify_split};

/// By which a release is put together again, to see which dependencies are left.
const SEED: u64 = 0;

/// A table in groups, to be split.
pub struct Made {
    pub(super) table: Table,
    pub(super) intake: TableIntake,
    groups: Groups,
}

/// Groups of rows, and what they satisfy once the table is split.
pub struct Groups {
    splitting: Splitting,
    partition: Partition,
    criteria: Vec<Criterion>,
    /// Whether cells are as somebody else spelled them.
    as_is: bool,
    seconds: f64,
}

/// Reads a table and puts it into groups.
pub(super) fn protect(recipe: &Recipe, input: Input<'_>, observer: &dyn Observer) -> Result<Made> {
    let asked = asked(recipe)?;
    observer.stage("reading the table");
    let (table, mut intake) = input.table(&recipe.input.file, &recipe.input.options, &asked.declared, observer)?;
    check_columns(&table.columns, &asked.declared, &intake, observer)?;
    let groups = make(asked, &table, observer)?;
    people::look_for_repeated_rows(&table, &mut intake);
    Ok(Made { table, intake, groups })
}

/// Puts a table into groups.
pub fn make(asked: &recipe::table::Table, table: &Table, observer: &dyn Observer) -> Result<Groups> {
    let start = std::time::Instant::now();
    let Some(splitting) = asked.split else {
        return Err(Error::Internal("a table is to be split that nobody asked to split"));
    };
    let mut criteria = asked.criteria.clone();
    let partition = match splitting {
        Splitting::BreakMerge => {
            let known = match asked.limits_beliefs() {
                true => {
                    observer.stage("estimating background knowledge of each row");
                    Some(beliefs(table, &asked.knowledge)?)
                }
                false => None,
            };
            observer.stage("putting rows into groups");
            match asked.as_is {
                true => identical_rows(table, &asked.params())?,
                false => anonymize_with(table, &asked.params(), known.as_ref(), observer)?,
            }
        }
        Splitting::Anatomy => {
            let l = |c: &Criterion| if let Criterion::DistinctDiversity { l } = c { Some(*l) } else { None };
            let l = criteria.iter().find_map(l).ok_or(Error::Internal("anatomy was asked for without an l"))?;
            observer.stage("drawing groups of different sensitive values");
            let groups = anatomize(table, l, &criteria, asked.seed.map_or_else(fresh_seed, Ok)?)?;
            // Whoever has the seed undoes it.
            criteria = if asked.demonstration { Vec::new() } else { with_shares(&criteria, l) };
            groups
        }
    };
    Ok(Groups { splitting, partition, criteria, as_is: asked.as_is, seconds: start.elapsed().as_secs_f64() })
}

impl Groups {
    /// The table, split by these groups, and what that promises.
    pub fn split<'a>(&self, table: &'a Table) -> Result<(SplitClaim, Split<'a>)> {
        let split = match self.splitting {
            Splitting::BreakMerge => break_merge(table, &self.partition)?,
            Splitting::Anatomy => anatomy(table, &self.partition)?,
        };
        let claim = SplitClaim::new(&split, self.splitting.name(), &self.criteria);
        Ok((if self.as_is { claim } else { claim.with_cells(&split) }, split))
    }
}

impl Made {
    pub(super) fn plan(&self, recipe: &Recipe) -> Result<Planned<'_>> {
        let asked = asked(recipe)?;
        let (claim, split) = self.groups.split(&self.table)?;
        let claim = claim.of_people(self.intake.people.as_ref().map(|people| people.visits));
        let group_of = split.group_of();
        let suppressed = group_of.iter().filter(|group| group.is_none()).count() as u64;
        let custody = custody(asked, &self.intake, suppressed, claim.groups, self.groups.seconds)?;
        let (line, json) = told(&claim, &custody, self.intake.rows);
        let split = Arc::new(split);
        let quasi = split.clone();
        let mut package = Package::default().file(Part::Release, QUASI, move |file| quasi.write_quasi(file));
        for (column, file) in self.table.sensitive().into_iter().zip(&claim.files) {
            let split = split.clone();
            let fill = move |out: &mut Watched<'_>| split.write_sensitive(column, out);
            package = package.file(Part::Release, file.file.clone(), fill);
        }
        let package = package.bytes(Part::Release, "claim.json", claim.to_json()?).custody(
            Form::Split,
            &custody,
            somewhere(group_of),
        )?;
        let package = package.people(self.intake.people.as_ref(), None);
        let nothing = "this release promises nothing (a demonstration): do not publish it";
        let warnings = asked.demonstration.then(|| nothing.to_owned()).into_iter().collect();
        Ok(Planned { package, line, json, warnings }.of_people(self.intake.people.as_ref(), &self.intake.several))
    }
}

/// What is kept of a split table.
pub(in crate::run) fn custody(
    asked: &recipe::table::Table,
    intake: &TableIntake,
    suppressed: u64,
    groups: u64,
    seconds: f64,
) -> Result<Custody> {
    let body = json!({
        "declared": asked.declared.with_readings(&intake.column_readings),
        "parameters": parameters(asked),
        "suppressed": suppressed,
        "classes": groups,
        "seconds": seconds,
    });
    Custody::new(Form::Split, None, intake, body)
}

/// What there is to say of a split table.
pub(in crate::run) fn told(claim: &SplitClaim, custody: &Custody, rows: u64) -> (String, serde_json::Value) {
    let suppressed = rows - claim.records;
    let line = format!(
        "{}: {} in {}, {}; {} suppressed ({})",
        claim.method,
        count(claim.records, "record", "records"),
        count(claim.groups, "group", "groups"),
        count(claim.files.len() as u64, "sensitive table", "sensitive tables"),
        count(suppressed, "record", "records"),
        share(suppressed, rows),
    );
    let json = json!({
        "input": custody.input(),
        "parameters": custody.get("parameters"),
        "promised": claim.promised,
        "records": claim.records,
        "groups": claim.groups,
        "files": claim.files,
        "suppressed": suppressed,
        "seconds": custody.get("seconds"),
    });
    (line, json)
}

pub(super) fn verify(
    claim: &SplitClaim,
    tables: &SplitTables,
    original: Option<&Original>,
    observer: &dyn Observer,
) -> Result<Proof> {
    observer.stage("checking every group");
    let original = original.map(Original::table).transpose()?;
    let truth = original.map(|(table, kept)| TableTruth { table, class_of: &kept.map });
    Ok(Proof::Split(verify_split(claim, tables, truth, observer)))
}

pub(super) fn attack(
    claim: &SplitClaim,
    tables: &SplitTables,
    asked: &AttackOptions,
    sources: &dyn Sources,
    observer: &dyn Observer,
) -> Result<Attacked> {
    let together = deal(tables, asked.dependency_options()?.seed)?;
    let dependencies = Some(dependencies_of(&together, Some(tables), asked, observer)?);
    let guesses = match asked.dependencies {
        true => None,
        false => {
            observer.stage("attacking: knowledge breach");
            let limit = asked.limits.knowledge_breach.or(claim.breach_limit());
            let law = match &asked.outside {
                Some(file) => {
                    let others = read_others(file, claim, &asked.input, sources, observer)?;
                    outside(tables, &others, &shown(&file.to_string_lossy()))?
                }
                None => of_release(tables, SEED)?,
            };
            let network = network_breach(tables, &law, limit)?;
            Some((knowledge_breach(tables, limit)?, network))
        }
    };
    let (breach, network) = guesses.unzip();
    let is_outside = asked.outside.is_some();
    Ok(Attacked::Split { breach, network, promised: claim.breach_limit(), is_outside, dependencies })
}

/// Other people: their sensitive columns, and nothing else of them.
fn read_others(
    file: &Path,
    claim: &SplitClaim,
    options: &Options,
    sources: &dyn Sources,
    observer: &dyn Observer,
) -> Result<Table> {
    let columns = claim.columns.iter().filter(|column| column.role == Role::Sensitive);
    let declared = Declared {
        roles: columns.clone().map(|column| (column.name.clone(), Role::Sensitive)).collect(),
        rest: Some(Role::Identifier),
        numeric: columns.filter(|column| column.numeric).map(|column| column.name.clone()).collect(),
        ..Declared::default()
    };
    Ok(read_table_from(file, options, &declared, sources, observer)?.0)
}

pub(super) fn measure(
    claim: &SplitClaim,
    original: &Original,
    asked: &Measure,
    observer: &dyn Observer,
) -> Result<Utility> {
    observer.check();
    let (table, kept) = original.table()?;
    let options = table_options(asked, kept.k());
    Ok(Utility::Split(measure_split(table, &kept.partition(), claim.exact, &options)))
}
