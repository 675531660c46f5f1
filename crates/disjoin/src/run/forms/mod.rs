//! One file a form: the arms of protect, verify, attack, measure and repair. What is common to them is in the pipeline above.

pub mod classes;
pub mod disassociated;
pub mod noisy;
pub mod recoded;
pub mod split;

use super::open::{Opened, Original, Release};
use super::{AttackOptions, Input};
use crate::data::{Evidence, People};
use crate::error::{Error, Result};
use crate::observer::Observer;
use crate::publish::Package;
use crate::read::Sources;
use crate::recipe::{Measure, Recipe};
use crate::release::Form;
use crate::report::{Attacked, Proof, Repaired, Utility, people_line};

/// What a method made, not written yet, and what it was made from.
#[expect(clippy::large_enum_variant, reason = "there is one of them at a time")]
pub enum Made {
    /// Sets cut into chunks.
    Disassociated(disassociated::Made),
    /// A table in equivalence classes.
    Classes(classes::Made),
    /// A split table.
    Split(split::Made),
    /// Recoded transactions.
    Recoded(recoded::Made),
    /// A noisy release.
    Noisy(noisy::Made),
}

/// Protects, as a recipe asks for it.
pub(super) fn protect(recipe: &Recipe, input: Input<'_>, observer: &dyn Observer) -> Result<Made> {
    Ok(match recipe.form() {
        Form::Disassociated => Made::Disassociated(disassociated::protect(recipe, input, observer)?),
        Form::Classes => Made::Classes(classes::protect(recipe, input, observer)?),
        Form::Split => Made::Split(split::protect(recipe, input, observer)?),
        Form::Recoded => Made::Recoded(recoded::protect(recipe, input, observer)?),
        Form::Noisy => Made::Noisy(noisy::protect(recipe, input, observer)?),
    })
}

impl Made {
    /// Its files, and what there is to say of them.
    pub(super) fn plan(&self, recipe: &Recipe) -> Result<Planned<'_>> {
        match self {
            Made::Disassociated(made) => made.plan(recipe),
            Made::Classes(made) => made.plan(recipe),
            Made::Split(made) => made.plan(recipe),
            Made::Recoded(made) => made.plan(recipe),
            Made::Noisy(made) => made.plan(recipe),
        }
    }

    /// What it was made from; custody is not read yet.
    pub(super) fn into_original(self) -> Original {
        match self {
            Made::Disassociated(made) => Original::Sets { data: made.data, intake: made.intake, kept: None },
            Made::Recoded(made) => Original::Sets { data: made.data, intake: made.intake, kept: None },
            Made::Noisy(made) => Original::Sets { data: made.data, intake: made.intake, kept: None },
            Made::Classes(made) => Original::of_table(made.table, made.intake),
            Made::Split(made) => Original::of_table(made.table, made.intake),
        }
    }
}

/// The files of a package, and what there is to say of them.
pub(super) struct Planned<'a> {
    /// The files.
    pub(super) package: Package<'a>,
    /// What was made, in a line or two.
    pub(super) line: String,
    /// The same for programs.
    pub(super) json: serde_json::Value,
    /// What somebody should know before they publish it.
    pub(super) warnings: Vec<String>,
}

impl Planned<'_> {
    /// The same with what there is to say of people: how many have how many rows, or signs that nobody counts them.
    fn of_people(mut self, people: Option<&People>, several: &[Evidence]) -> Self {
        if let Some(people) = people {
            self.line += &format!("\n{}", people_line(people));
        }
        self.warnings.extend(several.iter().map(Evidence::text));
        self
    }
}

/// Proves or refutes what a release promises.
pub(super) fn verify(opened: &Opened, original: Option<&Original>, observer: &dyn Observer) -> Result<Proof> {
    match &opened.release {
        Release::Disassociated(stored) => disassociated::verify(stored, original, observer),
        Release::Classes(claim, table) => classes::verify(opened, claim, table, original, observer),
        Release::Split(claim, tables) => split::verify(claim, tables, original, observer),
        Release::Recoded(claim, release) => recoded::verify(claim, release, original, observer),
        Release::Noisy(files) => Ok(noisy::verify(files, observer)),
    }
}

/// Attacks a release.
pub(super) fn attack(
    opened: &Opened,
    original: Option<&Original>,
    asked: &AttackOptions,
    sources: &dyn Sources,
    observer: &dyn Observer,
) -> Result<Attacked> {
    match &opened.release {
        Release::Disassociated(stored) => disassociated::attack(stored, original, asked, observer),
        Release::Classes(claim, table) => classes::attack(claim, table, original, asked, observer),
        Release::Split(claim, tables) => split::attack(claim, tables, asked, sources, observer),
        Release::Recoded(_, release) => recoded::attack(release, original, asked, sources, observer),
        Release::Noisy(_) => Ok(Attacked::Nothing),
    }
}

/// Compares a release with its original.
pub(super) fn measure(
    opened: &Opened,
    original: &Original,
    asked: &super::MeasureOptions,
    observer: &dyn Observer,
) -> Result<Utility> {
    observer.stage("comparing the release with its original");
    match &opened.release {
        Release::Disassociated(stored) => disassociated::measure(stored, original, asked, observer),
        Release::Classes(..) => classes::measure(original, &asked.measure, observer),
        Release::Split(claim, _) => split::measure(claim, original, &asked.measure, observer),
        Release::Recoded(claim, release) => recoded::measure(claim, release, original, asked, observer),
        Release::Noisy(files) => noisy::measure(files, original, &asked.measure, observer),
    }
}

/// A release that was repaired: its files, and what was done.
pub(super) struct Mended {
    /// What is written instead, if anything changed.
    pub(super) files: Option<MendedFiles>,
    /// What was done.
    pub(super) repaired: Repaired,
}

/// The files of a repaired release.
pub(super) enum MendedFiles {
    /// Chunks that lost terms.
    Disassociated(disassociated::Mended),
    /// Groups whose members changed places.
    Recoded(recoded::Mended),
}

impl MendedFiles {
    pub(super) fn package(&self) -> Result<Package<'_>> {
        match self {
            MendedFiles::Disassociated(mended) => mended.package(),
            MendedFiles::Recoded(mended) => mended.package(),
        }
    }
}

/// Repairs what attacks broke, as a recipe asks for it; nothing if there is nothing to do.
pub(super) fn repair(
    opened: &Opened,
    original: &Original,
    recipe: &Recipe,
    asked: &AttackOptions,
    observer: &dyn Observer,
) -> Result<Option<Mended>> {
    match &opened.release {
        Release::Disassociated(stored) => disassociated::repair_round(opened, stored, observer),
        Release::Recoded(claim, release) => {
            recoded::repair_round(opened, claim, release, original, recipe, asked, observer)
        }
        Release::Classes(..) | Release::Split(..) | Release::Noisy(_) => Ok(None),
    }
}

/// What a measure of a table is asked.
pub(super) fn table_options(asked: &Measure, k: u32) -> crate::measure::TableOptions {
    let usual = crate::measure::TableOptions::default();
    crate::measure::TableOptions { k, queries: asked.queries.max(1), seed: asked.seed, ..usual }
}

/// What happened, for custody.
pub(super) fn value(of: &impl serde::Serialize) -> Result<serde_json::Value> {
    serde_json::to_value(of).map_err(|_| Error::Internal("what happened is always JSON"))
}
