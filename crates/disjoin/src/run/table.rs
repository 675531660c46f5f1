//! The whole way with a table: read, protect, verify, attack with background knowledge, measure, publish.
//!
//! Promises:   the package is written as a whole or not at all; what is written was verified as it is written. Whether the
//!             limits hold is told, not enforced: the story says so first
//! Checked by: `crates/disjoin-cli/tests/it/table.rs`

use super::{Clock, limit_if, pages_of, parameters};
use crate::attack::surviving::{Published, Surviving, surviving};
use crate::attack::{Before, ClassView, Inference, gain, loss, posteriors};
use crate::data::Partition;
use crate::data::table::{Role, Table};
use crate::error::{Error, Result};
use crate::inspect::rows_at_risk;
use crate::knowledge::background::{Estimator, Knowledge, beliefs};
use crate::measure::{TableOptions, measure_table};
use crate::protect::association_hiding::{Hidden, hide};
use crate::protect::disassociation::Params as SetParams;
use crate::protect::tabular::anonymize;
use crate::protect::within::disassociate_within;
use crate::publish::{Destination, TableCustody, TablePackage, TableParameters};
use crate::read::rows::{TableIntake, read_table};
use crate::recipe::{self, Recipe};
use crate::release::Promise;
use crate::release::class_sets::{self, ClassSets};
use crate::release::generalized::{DATA, Generalized, SetsClaim, TableClaim};
use crate::report::{Limit, TableStory, Tried, table_html, table_markdown};
use crate::verify::{SetsVerdict, TableTruth, TableVerdict, parse_table, published_sets, verify_sets_in, verify_table};

/// Posteriors above this are counted: somebody is nearly sure.
const NEARLY_SURE: f64 = 0.9;

/// A table in classes, with its claim.
pub struct MadeTable {
    /// What is promised.
    pub claim: TableClaim,
    /// Who is published together with whom, in the order of the file.
    pub partition: Partition,
    /// The sets of each class, if there are some.
    pub sets: Option<ClassSets>,
    /// If rules were hidden: the table that is published instead of the original, and what that cost.
    pub hidden: Option<Hidden>,
    /// How long it took.
    pub seconds: f64,
}

/// Runs the recipe of a table and writes its package; `tell` hears of every stage before it begins.
pub fn run_table(recipe: &Recipe, tell: &mut dyn FnMut(&str)) -> Result<TableStory> {
    let asked = asked(recipe)?;
    if asked.split.is_some() {
        return Err(Error::recipe("table.split", "goes another way", "use run_split"));
    }
    let destination = Destination::check(&recipe.output.folder)?;
    destination.check_outside(&recipe.input.file)?;
    tell("reading the table");
    let (table, intake) = read_table(&recipe.input.file, &recipe.input.options, &asked.declared)?;
    run_table_on(recipe, &table, intake, &destination, tell)
}

/// The same for a table that was read already.
pub fn run_table_on(
    recipe: &Recipe,
    table: &Table,
    intake: TableIntake,
    destination: &Destination,
    tell: &mut dyn FnMut(&str),
) -> Result<TableStory> {
    let asked = asked(recipe)?;
    let mut clock = Clock { seconds: Vec::new() };
    tell("looking for people whom their quasi-identifiers single out");
    let at_risk = clock.time("inspect", || rows_at_risk(table, recipe.protect.k));
    let made = clock.time("protect", || protect_table(asked, &recipe.protect, table, tell))?;
    let shown = made.hidden.as_ref().map_or(table, |hidden| &hidden.table);
    let data = Generalized::new(shown, &made.partition);
    tell("proving the promise");
    let (verdict, sets, published) = clock.time("verify", || prove(&made, &data, table))?;
    // Where rules were hidden, classes do not tell the values that the attack counts on.
    let tried = match table.sensitive().is_empty() || made.hidden.is_some() {
        true => None,
        false => {
            tell("attacking with background knowledge");
            Some(clock.time("attack", || attack_table(table, &made.partition, &asked.knowledge))?)
        }
    };
    let dependencies = match table.sensitive().is_empty() {
        true => None,
        false => {
            tell("looking for dependencies between columns");
            Some(clock.time("attack", || dependencies_of(&published, true, asked))?)
        }
    };
    tell("measuring what is left");
    let options = TableOptions {
        k: recipe.protect.k,
        queries: recipe.measure.queries.max(1),
        seed: recipe.measure.seed,
        ..TableOptions::default()
    };
    let utility = clock.time("measure", || measure_table(table, &made.partition, &options));
    let limits = limits(asked, &utility, tried.as_ref(), dependencies.as_ref());
    let kept = verdict.holds && sets.as_ref().is_none_or(|sets| sets.holds);
    let holds = kept && limits.iter().all(|limit| limit.holds);
    let story = TableStory {
        recipe: recipe.clone(),
        rows: table.n_rows() as u64,
        at_risk,
        claim: made.claim,
        verdict,
        sets,
        kept,
        tried,
        dependencies,
        utility,
        limits,
        holds,
        seconds: clock.seconds,
    };
    tell("writing the package");
    let mut custody = TableCustody::new(intake, asked.declared.clone(), TableParameters::from(asked), made.seconds);
    custody.hidden = made.hidden.as_ref().map(|hidden| hidden.loss.clone());
    let pages = pages_of(&story, table_html, table_markdown)?;
    let package = TablePackage {
        claim: &story.claim,
        table: shown,
        partition: &made.partition,
        sets: made.sets.as_ref(),
        custody: &custody,
        pages: &pages,
    };
    package.publish(destination)?;
    Ok(story)
}

/// Reads what will be published as anybody would, and checks it, also against the original. What was read is returned as well.
fn prove(
    made: &MadeTable,
    data: &Generalized<'_>,
    table: &Table,
) -> Result<(TableVerdict, Option<SetsVerdict>, Table)> {
    let in_memory = |_| Error::Internal("writing to memory does not fail");
    let mut text = Vec::new();
    data.write(&mut text).map_err(in_memory)?;
    let published = parse_table(&made.claim, DATA, &text)?;
    let class_of = data.class_of();
    let verdict = verify_table(&made.claim, &published, Some(TableTruth { table, class_of: &class_of }));
    let (Some(sets), Some(told), Some(column)) = (&made.sets, &made.claim.sets, &table.sets) else {
        return Ok((verdict, None, published));
    };
    let mut text = Vec::new();
    class_sets::write(sets, &mut text).map_err(in_memory)?;
    let original = published_sets(column, &class_of);
    let sets = verify_sets_in(told, &published, class_sets::FILE_NAME, || Ok(&text[..]), Some(&original))?;
    Ok((verdict, Some(sets), published))
}

pub(super) fn asked(recipe: &Recipe) -> Result<&recipe::table::Table> {
    recipe.table.as_ref().ok_or_else(|| {
        Error::recipe("table", "is missing: the recipe is not one for a table", "say what each column is, in [table]")
    })
}

/// Puts a table into classes, and its sets into chunks inside them.
pub fn protect_table(
    asked: &recipe::table::Table,
    sets: &recipe::Protect,
    table: &Table,
    tell: &mut dyn FnMut(&str),
) -> Result<MadeTable> {
    let start = std::time::Instant::now();
    let known = match asked.limits_beliefs() {
        true => {
            tell("reckoning what is believed of each row");
            Some(beliefs(table, &asked.knowledge)?)
        }
        false => None,
    };
    tell("putting rows into classes");
    let partition = anonymize(table, &asked.params(), known.as_ref())?;
    let mut claim = TableClaim::new(table, &partition, asked.method.name(), &asked.criteria);
    let mut hidden = None;
    if let Some(rules) = asked.hide {
        tell("hiding rules");
        let made = hide(table, &partition, &rules)?;
        let method = "association-hiding";
        claim = TableClaim::new(&made.table, &partition, method, &asked.criteria).with_associations(rules);
        hidden = Some(made);
    }
    let mut chunks = None;
    if let Some(column) = &table.sets {
        tell("cutting sets into chunks, class by class");
        let ordered = Generalized::new(table, &partition).partition();
        let params = set_params(sets)?;
        let made = disassociate_within(column, &ordered, &params)?;
        let parameters = parameters(&params, &crate::data::Dataset::default());
        let promise = if params.algorithm_aware { Promise::AlgorithmAware } else { Promise::Published };
        let records = made.release.header.records;
        claim = claim.with_sets(SetsClaim { column: column.name.clone(), parameters, promise, records });
        chunks = Some(made);
    }
    Ok(MadeTable { claim, partition, sets: chunks, hidden, seconds: start.elapsed().as_secs_f64() })
}

/// How sets are cut: terms are not singled out as sensitive inside classes.
fn set_params(protect: &recipe::Protect) -> Result<SetParams> {
    if !protect.sensitive.is_empty() {
        let problem = "sensitive terms are not supported inside the classes of a table";
        return Err(Error::recipe("protect.sensitive", problem, "protect the sets by themselves, without [table]"));
    }
    Ok(protect.params())
}

/// What somebody learns who knows how sensitive values go with quasi-identifiers, judged by what is true.
pub fn attack_table(table: &Table, partition: &Partition, knowledge: &Knowledge) -> Result<Tried> {
    // Judged against the truth, beliefs must not come from the rows that they are about.
    let cross_fit = knowledge.cross_fit || !matches!(knowledge.estimator, Estimator::File(_));
    let prior = &beliefs(table, &Knowledge { cross_fit, ..knowledge.clone() })?;
    let Some(column) = table.with_role(Role::Sensitive).next() else {
        return Err(Error::Internal("beliefs are about a sensitive column"));
    };
    let view = |rows: &[u32]| {
        let mut counts = vec![0; prior.n_values()];
        rows.iter().for_each(|&row| counts[column.codes[row as usize] as usize] += 1);
        ClassView { members: rows.to_vec(), counts }
    };
    let classes: Vec<ClassView> = partition.classes().map(view).collect();
    let after = posteriors(&classes, prior, Inference::Exact);
    Ok(Tried {
        column: column.name.clone(),
        knowledge: knowledge.clone(),
        loss: loss(&after, prior, NEARLY_SURE),
        gain: gain(&classes, &after, prior, &column.codes, Before::Prior),
        beyond_class: gain(&classes, &after, prior, &column.codes, Before::Class),
        nearly_sure: NEARLY_SURE,
    })
}

/// Which dependencies survive in a table that somebody sees; `are_rows` if its rows are those of people.
pub(super) fn dependencies_of(seen: &Table, are_rows: bool, asked: &recipe::table::Table) -> Result<Surviving> {
    let published = Published::new(seen, are_rows)?;
    let limit = asked.at_most.risks.map(|risks| risks as u64);
    surviving(&published, &asked.dependencies.options(), limit)
}

/// What is limited of dependencies.
pub(super) const RISKS: (&str, &str) =
    ("table.at_most.risks", "the number of rules between columns that tell sensitive values");

fn limits(
    asked: &recipe::table::Table,
    utility: &crate::measure::TableReport,
    tried: Option<&Tried>,
    dependencies: Option<&Surviving>,
) -> Vec<Limit> {
    let at_most = &asked.at_most;
    [
        limit_if(
            "table.at_most.loss",
            "the mean loss of a cell, removed rows counting as lost",
            at_most.loss,
            Some(utility.gcp_all),
        ),
        limit_if(
            "table.at_most.query_error",
            "the median relative error of counts",
            at_most.query_error,
            utility.queries.median,
        ),
        limit_if(
            "table.at_most.privacy_loss",
            "how much beliefs about a person change on average, in bits",
            at_most.privacy_loss,
            tried.map(|tried| tried.loss.mean),
        ),
        limit_if(RISKS.0, RISKS.1, at_most.risks, dependencies.map(|found| found.risks as f64)),
    ]
    .into_iter()
    .flatten()
    .collect()
}
