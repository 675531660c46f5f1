//! Tables in equivalence classes, with sets inside them: protected, proved, attacked with background knowledge and by dependencies,
//! measured.
//!
//! Checked by: `tests/it/table_release.rs`, `crates/disjoin-cli/tests/it/table.rs`

use std::io::{self, Write};
use std::sync::Arc;

use serde_json::json;

use super::super::open::{Input, Opened, Original};
use super::super::{AttackOptions, people};
use super::{Planned, table_options};
use crate::attack::surviving::{Published, surviving};
use crate::attack::{Before, ClassView, Inference, gain, loss, posteriors};
use crate::audit::{Asked, Labels, TableAudit, audit_table};
use crate::data::table::{Column, Role, Table};
use crate::data::{Dataset, Partition, People};
use crate::error::{Error, Result};
use crate::inspect::refuse_revealing;
use crate::knowledge::background::{Estimator, Knowledge, beliefs};
use crate::measure::measure_table;
use crate::observer::Observer;
use crate::protect::association_hiding::{Hidden, hide};
use crate::protect::tabular::{anonymize_apart, anonymize_with};
use crate::protect::within::disassociate_within;
use crate::publish::{BLOCK, Custody, Package, Part, flush_block, somewhere};
use crate::read::rows::{ColumnReading, Declared, TableIntake};
use crate::recipe::{self, Measure, Recipe};
use crate::release::Form;
use crate::release::class_sets::{self, ClassSets};
use crate::release::generalized::{DATA, Generalized, SetsClaim, TableClaim, write_field, write_row};
use crate::release::jsonl::write_number;
use crate::release::split::SplitTables;
use crate::report::{Attacked, Dependencies, Proof, Tried, Utility, count, share};
use crate::verify::{Parts, TableTruth, published_sets, verify_people_of_table, verify_sets, verify_table_with};

/// Posteriors above this are counted: somebody is nearly sure.
const NEARLY_SURE: f64 = 0.9;

/// A table in equivalence classes.
pub struct Made {
    pub(super) table: Table,
    pub(super) intake: TableIntake,
    classes: Classes,
}

/// Classes with their claim.
pub struct Classes {
    /// What is promised.
    pub claim: TableClaim,
    /// Who is published together with whom.
    pub partition: Partition,
    /// The sets of each class, if there are some.
    pub sets: Option<ClassSets>,
    /// If rules were hidden: the table that is published instead of the original, and what that cost.
    pub hidden: Option<Hidden>,
    /// How long it took.
    pub seconds: f64,
}

/// Reads a table and puts it into classes.
pub(super) fn protect(recipe: &Recipe, input: Input<'_>, observer: &dyn Observer) -> Result<Made> {
    let asked = asked(recipe)?;
    observer.stage("reading the table");
    let (table, mut intake) = input.table(&recipe.input.file, &recipe.input.options, &asked.declared, observer)?;
    check_columns(&table.columns, &asked.declared, &intake, observer)?;
    let classes = make_by_people(asked, &recipe.protect, &table, intake.people.as_ref(), observer)?;
    people::look_for_repeated_rows(&table, &mut intake);
    Ok(Made { table, intake, classes })
}

/// Refuses what must not be published as it is, and says how columns were read of which nobody said it.
pub(in crate::run) fn check_columns(
    columns: &[Column],
    declared: &Declared,
    intake: &TableIntake,
    observer: &dyn Observer,
) -> Result<()> {
    refuse_revealing(columns, intake.rows, declared, &intake.file)?;
    for ColumnReading { column, text, .. } in intake.column_readings.iter().filter(|reading| !reading.declared) {
        observer.warn(&format!("{column}: nobody said what its cells are; read as {text}"));
    }
    Ok(())
}

/// What a recipe asks of a table.
pub(super) fn asked(recipe: &Recipe) -> Result<&recipe::table::Table> {
    recipe.table.as_ref().ok_or_else(|| {
        Error::recipe("table", "is missing: the recipe is not one for a table", "say what each column is, in [table]")
    })
}

/// Puts a table into classes, and its sets into chunks inside them. A row is a person.
pub fn make(
    asked: &recipe::table::Table,
    sets: &recipe::Protect,
    table: &Table,
    observer: &dyn Observer,
) -> Result<Classes> {
    make_by_people(asked, sets, table, None, observer)
}

/// The same, counted by people if it is known whose rows they are.
pub fn make_by_people(
    asked: &recipe::table::Table,
    sets: &recipe::Protect,
    table: &Table,
    people: Option<&People>,
    observer: &dyn Observer,
) -> Result<Classes> {
    let start = std::time::Instant::now();
    let known = match asked.limits_beliefs() {
        true => {
            observer.stage("estimating background knowledge of each row");
            Some(beliefs(table, &asked.knowledge)?)
        }
        false => None,
    };
    observer.stage("putting rows into classes");
    let partition = match people::apart(people) {
        Some(people) => anonymize_apart(table, &asked.params(), &people.of_row, observer)?,
        None => anonymize_with(table, &asked.params(), known.as_ref(), observer)?,
    };
    let mut claim = TableClaim::new(table, &partition, asked.method.name(), &asked.criteria);
    let mut hidden = None;
    if let Some(rules) = asked.hide {
        observer.stage("hiding rules");
        let made = hide(table, &partition, &rules)?;
        let method = recipe::Method::AssociationHiding.name();
        claim = TableClaim::new(&made.table, &partition, method, &asked.criteria).with_associations(rules);
        hidden = Some(made);
    }
    let mut chunks = None;
    if let Some(column) = &table.sets {
        observer.stage("cutting sets into chunks, class by class");
        let ordered = Generalized::new(table, &partition).partition();
        let params = sets.params();
        let made = disassociate_within(column, &ordered, &params)?;
        let parameters = super::disassociated::parameters(&params, &Dataset::default());
        let (promise, records) = (params.promise(), made.release.header.records);
        claim = claim.with_sets(SetsClaim { column: column.name.clone(), parameters, promise, records });
        chunks = Some(made);
    }
    let claim = claim.with_cells(table, &partition).of_people(people.map(|people| people.visits));
    Ok(Classes { claim, partition, sets: chunks, hidden, seconds: start.elapsed().as_secs_f64() })
}

/// What was asked of a table, for custody.
pub(super) fn parameters(asked: &recipe::table::Table) -> serde_json::Value {
    json!({
        "method": asked.method,
        "criteria": asked.criteria,
        "suppression_limit": asked.suppression_limit,
        "seed": asked.params().seed,
        "split": asked.split,
        "as_is": asked.as_is,
        "hide": asked.hide,
    })
}

impl Made {
    fn shown(&self) -> &Table {
        self.classes.hidden.as_ref().map_or(&self.table, |hidden| &hidden.table)
    }

    pub(super) fn plan(&self, recipe: &Recipe) -> Result<Planned<'_>> {
        let asked = asked(recipe)?;
        let Classes { claim, partition, sets, hidden, seconds } = &self.classes;
        let (shown, suppressed) = (self.shown(), partition.removed.len() as u64);
        let data = Arc::new(Generalized::new(shown, partition));
        let lost = hidden.as_ref().map(|hidden| &hidden.loss);
        let body = json!({
            "declared": asked.declared.with_readings(&self.intake.column_readings),
            "parameters": parameters(asked),
            "suppressed": suppressed,
            "classes": data.n_classes(),
            "levels": partition.levels,
            "hidden": lost,
            "seconds": seconds,
        });
        let custody = Custody::new(Form::Classes, None, &self.intake, body)?;
        let (rows, mapping) = (data.clone(), data.clone());
        let mut package = Package::default().file(Part::Release, DATA, move |file| rows.write(file));
        if let Some(sets) = sets {
            package = package.file(Part::Release, class_sets::FILE_NAME, |file| {
                let mut out = io::BufWriter::with_capacity(BLOCK, file);
                class_sets::write(sets, &mut out).and_then(|()| out.flush())
            });
        }
        let package = package
            .bytes(Part::Release, "claim.json", claim.to_json()?)
            .file(Part::Custody, "mapping.csv", move |file| write_mapping(shown, &mapping, file))
            .custody(Form::Classes, &custody, somewhere(data.class_of()))?
            .people(self.intake.people.as_ref(), Some(partition.class_of(shown.n_rows())));
        let n_classes = match people::apart(self.intake.people.as_ref()) {
            // Parts that show the same are one class.
            Some(_) => data.n_classes(),
            None => partition.len(),
        };
        let mut line = format!(
            "{}: {} in {}; {} suppressed ({})",
            claim.method,
            count(claim.records, "record", "records"),
            count(n_classes as u64, "class", "classes"),
            count(suppressed, "record", "records"),
            share(suppressed, self.table.n_rows() as u64),
        );
        for (column, loss) in lost.iter().flat_map(|lost| &lost.columns) {
            line += &format!("\nhiding rules cost {column} {loss:.4} of its levels");
        }
        let json = json!({
            "input": self.intake,
            "parameters": parameters(asked),
            "promised": claim.promised,
            "records": claim.records,
            "classes": n_classes,
            "suppressed": suppressed,
            "hidden": lost,
            "seconds": seconds,
        });
        let planned = Planned { package, line, json, warnings: Vec::new() };
        Ok(planned.of_people(self.intake.people.as_ref(), &self.intake.several))
    }
}

/// The mapping that was applied: for each class and quasi-identifier what is published for so many rows.
fn write_mapping(table: &Table, data: &Generalized<'_>, out: &mut impl Write) -> io::Result<()> {
    let mut text = Vec::with_capacity(2 * BLOCK);
    write_row(["class", "column", "published", "rows"], &mut text);
    let quasi = table.quasi();
    for class in 0..data.n_classes() {
        for (column, published) in quasi.iter().zip(data.cells(class)) {
            write_number(class as u64 + 1, &mut text);
            text.push(b',');
            write_field(&column.name, &mut text);
            text.push(b',');
            write_field(published, &mut text);
            text.push(b',');
            write_number(data.rows(class).len() as u64, &mut text);
            text.push(b'\n');
        }
        flush_block(&mut text, out)?;
    }
    out.write_all(&text)
}

pub(super) fn verify(
    opened: &Opened,
    claim: &TableClaim,
    table: &Table,
    original: Option<&Original>,
    observer: &dyn Observer,
) -> Result<Proof> {
    observer.stage("checking every class");
    let whose = people::apart(original.and_then(Original::people));
    let original = original.map(Original::table).transpose()?;
    let truth = original.map(|(table, kept)| TableTruth { table, class_of: &kept.map });
    let mut verdict = verify_table_with(claim, table, truth, observer);
    if let (Some(people), Some((table, kept))) = (whose, original) {
        let part_of = kept.parts.as_deref().unwrap_or_default();
        let parts = Parts { table, of_row: &people.of_row, class_of: &kept.map, part_of };
        verify_people_of_table(&mut verdict, &claim.criteria, parts)?;
    }
    let told = original.and_then(|(table, kept)| table.sets.as_ref().map(|sets| published_sets(sets, &kept.map)));
    let sets = verify_sets(&opened.folder, claim, table, told.as_ref(), observer)?;
    let holds = verdict.holds && sets.as_ref().is_none_or(|sets| sets.holds);
    let actual = Box::new(actual(table, observer));
    Ok(Proof::Classes { holds, table: verdict, sets, actual })
}

pub(super) fn attack(
    claim: &TableClaim,
    table: &Table,
    original: Option<&Original>,
    asked: &AttackOptions,
    observer: &dyn Observer,
) -> Result<Attacked> {
    let original = original.map(Original::table).transpose()?;
    // Where rules were hidden, classes do not show the values that the attack counts on.
    let has_values = claim.associations.is_none();
    let inference = match original {
        Some((original, kept)) if has_values && !original.sensitive().is_empty() && !asked.dependencies => {
            observer.stage("attacking: background knowledge");
            Some(infer(original, &kept.partition(), &asked.knowledge.clone().unwrap_or_default())?)
        }
        _ => None,
    };
    let dependencies = match table.sensitive().is_empty() {
        true if asked.dependencies => {
            let problem = "looks for rules that lead to sensitive values, and no column is sensitive";
            return Err(Error::recipe("attack.dependencies", problem, "leave it out"));
        }
        true => None,
        false => Some(dependencies_of(table, None, asked, observer)?),
    };
    Ok(Attacked::Classes { inference, dependencies, actual: Some(Box::new(actual(table, observer))) })
}

/// What classes keep, whatever is promised of them.
fn actual(table: &Table, observer: &dyn Observer) -> TableAudit {
    // Cells that overlap are for audits: here classes are what the promise is about.
    let asked = Asked { matching: false, ..Asked::default() };
    audit_table(table, &Labels::new(), &asked, observer)
}

/// Which dependencies survive in a table that somebody sees; `are_rows` if its rows are those of people.
pub(in crate::run) fn dependencies_of(
    seen: &Table,
    split: Option<&SplitTables>,
    asked: &AttackOptions,
    observer: &dyn Observer,
) -> Result<Dependencies> {
    let published = Published::new(seen, split.is_none())?;
    // What somebody wrote is looked at before the work begins.
    let person = asked.person(&published)?;
    observer.stage("attacking: dependencies between columns");
    let found = surviving(&published, &asked.dependency_options()?)?;
    let person = person.map(|person| person.believed(&published, &found, split)).transpose()?;
    Ok(Dependencies { found, person })
}

/// What somebody learns who knows how sensitive values go with quasi-identifiers, judged by what is true.
pub fn infer(table: &Table, partition: &Partition, knowledge: &Knowledge) -> Result<Tried> {
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

pub(super) fn measure(original: &Original, asked: &Measure, observer: &dyn Observer) -> Result<Utility> {
    observer.check();
    let (table, kept) = original.table()?;
    Ok(Utility::Classes(measure_table(table, &kept.partition(), &table_options(asked, kept.k()))))
}
