//! The whole way with a split table: read, put into groups, split, verify, attack, measure, publish.
//!
//! Promises:   the package is written as a whole or not at all; what is written was verified as it is written. Whether the
//!             limits hold is told, not enforced: the story says so first
//! Checked by: `tests/it/break_merge.rs`, crates/disjoin-cli/tests/it/break_merge.rs

use super::table::{RISKS, asked, dependencies_of};
use super::{Clock, limit_if, pages_of};
use crate::attack::network_breach::of_release;
use crate::attack::{BreachReport, Surviving, knowledge_breach, network_breach};
use crate::data::table::Table;
use crate::error::{Error, Result};
use crate::inspect::rows_at_risk;
use crate::knowledge::background::beliefs;
use crate::measure::{SplitReport, TableOptions, measure_split};
use crate::protect::anatomy::{anatomize, anatomy, with_shares};
use crate::protect::break_merge::{break_merge, identical_rows};
use crate::protect::tabular::anonymize;
use crate::publish::{Destination, SplitPackage, TableCustody, TableParameters};
use crate::read::rows::{TableIntake, read_table};
use crate::recipe::table::Splitting;
use crate::recipe::{self, Recipe};
use crate::reconstruct::deal;
use crate::release::privacy_models::Criterion;
use crate::release::split::{Split, SplitClaim};
use crate::report::{Limit, SplitStory, split_html, split_markdown};
use crate::verify::{SplitBytes, TableTruth, parse_split, verify_split};

/// By which a release is put together again, to see which dependencies are left.
const SEED: u64 = 0;

/// A split table with its claim.
pub struct MadeSplit<'a> {
    /// What is promised.
    pub claim: SplitClaim,
    /// The groups.
    pub split: Split<'a>,
    /// How long it took.
    pub seconds: f64,
}

/// Runs the recipe of a split table and writes its package; `tell` hears of every stage before it begins.
pub fn run_split(recipe: &Recipe, tell: &mut dyn FnMut(&str)) -> Result<SplitStory> {
    let asked = asked(recipe)?;
    let destination = Destination::check(&recipe.output.folder)?;
    destination.check_outside(&recipe.input.file)?;
    tell("reading the table");
    let (table, intake) = read_table(&recipe.input.file, &recipe.input.options, &asked.declared)?;
    run_split_on(recipe, &table, intake, &destination, tell)
}

/// The same for a table that was read already.
pub fn run_split_on(
    recipe: &Recipe,
    table: &Table,
    intake: TableIntake,
    destination: &Destination,
    tell: &mut dyn FnMut(&str),
) -> Result<SplitStory> {
    let asked = asked(recipe)?;
    let mut clock = Clock { seconds: Vec::new() };
    tell("looking for people whom their quasi-identifiers single out");
    let at_risk = clock.time("inspect", || rows_at_risk(table, recipe.protect.k));
    let made = clock.time("protect", || protect_split(asked, table, tell))?;
    tell("proving the promise");
    let (verdict, tables) = clock.time("verify", || -> Result<_> {
        let tables = parse_split(&made.claim, "", &bytes_of(&made.split)?)?;
        let class_of = made.split.group_of();
        Ok((verify_split(&made.claim, &tables, Some(TableTruth { table, class_of: &class_of })), tables))
    })?;
    tell("guessing sensitive values");
    let (breach, by_network) = clock.time("attack", || -> Result<_> {
        let limit = made.claim.breach_limit();
        let law = of_release(&tables, SEED)?;
        Ok((knowledge_breach(&tables, limit)?, network_breach(&tables, &law, limit)?))
    })?;
    tell("looking for dependencies between columns");
    let dependencies = clock.time("attack", || dependencies_of(&deal(&tables, SEED)?, false, asked))?;
    tell("measuring what is left");
    let options = TableOptions {
        k: recipe.protect.k,
        queries: recipe.measure.queries.max(1),
        seed: recipe.measure.seed,
        ..TableOptions::default()
    };
    let exact = made.split.is_exact();
    let utility = clock.time("measure", || measure_split(table, &made.split.partition(), exact, &options));
    let limits = limits(asked, &utility, &breach, &dependencies);
    let holds = verdict.holds && breach.holds && limits.iter().all(|limit| limit.holds);
    let story = SplitStory {
        recipe: recipe.clone(),
        rows: table.n_rows() as u64,
        at_risk,
        claim: made.claim,
        verdict,
        breach,
        by_network,
        dependencies,
        utility,
        limits,
        holds,
        seconds: clock.seconds,
    };
    tell("writing the package");
    let custody = TableCustody::new(intake, asked.declared.clone(), TableParameters::from(asked), made.seconds);
    let pages = pages_of(&story, split_html, split_markdown)?;
    let package = SplitPackage { claim: &story.claim, split: &made.split, custody: &custody, pages: &pages };
    package.publish(destination)?;
    Ok(story)
}

/// Puts a table into groups, and splits it.
pub fn protect_split<'a>(
    asked: &recipe::table::Table,
    table: &'a Table,
    tell: &mut dyn FnMut(&str),
) -> Result<MadeSplit<'a>> {
    let start = std::time::Instant::now();
    let Some(splitting) = asked.split else {
        return Err(Error::Internal("a table is to be split that nobody asked to split"));
    };
    let mut criteria = asked.criteria.clone();
    let split = match splitting {
        Splitting::BreakMerge => {
            let known = match asked.limits_beliefs() {
                true => {
                    tell("reckoning what is believed of each row");
                    Some(beliefs(table, &asked.knowledge)?)
                }
                false => None,
            };
            tell("putting rows into groups");
            let groups = match asked.as_is {
                true => identical_rows(table, &asked.params())?,
                false => anonymize(table, &asked.params(), known.as_ref())?,
            };
            break_merge(table, &groups)?
        }
        Splitting::Anatomy => {
            let l = |c: &Criterion| if let Criterion::DistinctDiversity { l } = c { Some(*l) } else { None };
            let l = criteria.iter().find_map(l).ok_or(Error::Internal("anatomy was asked for without an l"))?;
            tell("drawing groups of different sensitive values");
            let groups = anatomize(table, l, &criteria, asked.seed)?;
            criteria = with_shares(&criteria, l);
            anatomy(table, &groups)?
        }
    };
    let claim = SplitClaim::new(&split, splitting.name(), &criteria);
    Ok(MadeSplit { claim, split, seconds: start.elapsed().as_secs_f64() })
}

/// The files of a split table as they are published.
pub fn bytes_of(split: &Split<'_>) -> Result<SplitBytes> {
    let internal = |_| Error::Internal("writing to memory does not fail");
    let mut bytes = SplitBytes::default();
    split.write_quasi(&mut bytes.quasi).map_err(internal)?;
    for column in split.table().sensitive() {
        let mut text = Vec::new();
        split.write_sensitive(column, &mut text).map_err(internal)?;
        bytes.sensitive.push(text);
    }
    Ok(bytes)
}

fn limits(
    asked: &recipe::table::Table,
    utility: &SplitReport,
    breach: &BreachReport,
    dependencies: &Surviving,
) -> Vec<Limit> {
    let (at_most, quasi) = (&asked.at_most, utility.quasi.as_ref());
    [
        limit_if(
            "attack.certain",
            "the number of values of people that are certain",
            Some(0.0),
            Some(breach.certain as f64),
        ),
        limit_if("table.at_most.loss", "the mean loss of a cell", at_most.loss, quasi.map(|report| report.gcp_all)),
        limit_if(
            "table.at_most.query_error",
            "the median relative error of counts",
            at_most.query_error,
            quasi.and_then(|report| report.queries.median),
        ),
        limit_if(
            "table.at_most.joint_loss",
            "the mean distance of sensitive values together from what their tables suggest",
            at_most.joint_loss,
            Some(utility.joint.mean),
        ),
        limit_if(RISKS.0, RISKS.1, at_most.risks, Some(dependencies.risks as f64)),
    ]
    .into_iter()
    .flatten()
    .collect()
}
