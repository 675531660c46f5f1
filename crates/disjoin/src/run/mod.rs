//! The whole way, from a recipe to a package, for every form of release: protect, verify, attack, repair until the limits hold,
//! measure, judge, publish. The verbs are the same steps one by one.
//!
//! Promises:   the package is written as a whole or not at all, and the old one stays until then. What is verified, attacked and
//!             measured is what was written, read back from its bytes. Whether the limits hold is reported, not enforced
//! Assumes:    one person at the wheel: nobody changes the input meanwhile
//! Checked by: tests/it/recipes.rs, crates/disjoin-cli/tests/it/run.rs, verdicts.rs

mod attack;
mod audit;
mod convert;
mod explain;
mod flat;
pub mod forms;
mod inspect;
pub mod limits;
pub mod meaning;
mod measure;
pub mod open;
mod people;
mod person;
mod protect;
mod query;
mod reconstruct;
mod repair;
pub mod stream;
pub mod sweep;
mod verify;

use std::path::{Path, PathBuf};
use std::time::Instant;

pub use attack::{AttackOptions, attack};
pub use audit::{AuditOptions, audit};
pub use convert::{Converted, Converting, convert, spreadsheet_safe};
pub use explain::explain;
pub use inspect::{InspectOptions, Look, inspect, look};
pub use measure::{MeasureOptions, measure};
pub use open::{Input, Opened, Originally, open};
pub use protect::protect;
pub use query::{Asking, Questions, query};
pub use reconstruct::{Drawing, Drawn, Reconstruction, drawn_format, reconstruct};
pub use repair::{RepairOptions, repair};
pub use verify::verify;

use crate::error::{Error, Result};
use crate::inspect::{people_at_risk, risk, rows_at_risk};
use crate::memory::Memory;
use crate::observer::{Observer, observed};
use crate::publish::{Destination, Kept, Package, Part, Staging};
use crate::read::{Files, Sources};
use crate::recipe::Recipe;
use crate::release::Form;
use crate::report::{Audience, Before, Judgement, Page, Round, Run};
use forms::Made;
use open::Original;

/// What a verb has to say: a page for people, JSON for programs, and whether the promise and its limits hold.
#[derive(Debug)]
pub struct Answer {
    /// For people.
    pub page: Page,
    /// For programs.
    pub json: serde_json::Value,
    /// Whether everything holds that was looked at.
    pub judged: Judgement,
    /// What may not be what the user meant.
    pub warnings: Vec<String>,
    /// Files and folders that were written.
    pub wrote: Vec<PathBuf>,
}

impl Answer {
    /// An answer that judges nothing.
    pub(crate) fn new(page: Page, result: &impl serde::Serialize) -> Result<Self> {
        let json = serde_json::to_value(result).map_err(|_| Error::Internal("a result is always JSON"))?;
        let judged = Judgement { proved: None, limits: Vec::new(), holds: true };
        Ok(Answer { page, json, judged, warnings: Vec::new(), wrote: Vec::new() })
    }

    /// The same, judged: the verdict and its limits stand beside the result.
    pub(crate) fn judged(mut self, judged: Judgement) -> Result<Self> {
        if let Some(fields) = self.json.as_object_mut() {
            let limits = serde_json::to_value(&judged.limits).map_err(|_| Error::Internal("limits are always JSON"))?;
            fields.insert("holds".into(), judged.holds.into());
            fields.insert("limits".into(), limits);
        }
        self.judged = judged;
        Ok(self)
    }
}

/// Runs a recipe and writes its package.
pub fn run(recipe: &Recipe, input: Input<'_>, observer: &dyn Observer) -> Result<Run> {
    run_with(recipe, input, None, observer)
}

/// The same; `original` is kept in custody if it exists nowhere else.
pub fn run_with(recipe: &Recipe, input: Input<'_>, original: Option<&[u8]>, observer: &dyn Observer) -> Result<Run> {
    observed(|| {
        let destination = Destination::check(&recipe.output.folder)?;
        destination.check_outside(&recipe.input.file)?;
        run_to(recipe, input, original, |go| destination.publish(go), observer)
    })
}

/// The same in a temporary folder that `publish` makes, and puts in place or not.
fn run_to(
    recipe: &Recipe,
    input: Input<'_>,
    original: Option<&[u8]>,
    publish: impl FnOnce(&mut dyn FnMut(&Staging) -> Result<Run>) -> Result<Run>,
    observer: &dyn Observer,
) -> Result<Run> {
    // What is missing is better said before the work is done.
    let asked = AttackOptions::of(recipe)?;
    let mut clock = Clock::default();
    let mut made = clock.time("protect", || forms::protect(recipe, input, observer))?;
    if let (Made::Disassociated(made), Some(original)) = (&mut made, original) {
        made.original = Some(original.to_vec());
    }
    let mut made = Some(made);
    publish(&mut |staging| {
        let made = made.take().ok_or(Error::Internal("a package is filled once"))?;
        go(recipe, made, &asked, staging, &mut clock, observer)
    })
}

/// protect -> [verify -> attack -> (repair)]* -> measure -> judge -> publish
fn go(
    recipe: &Recipe,
    made: Made,
    asked: &AttackOptions,
    staging: &Staging,
    clock: &mut Clock,
    observer: &dyn Observer,
) -> Result<Run> {
    observer.stage("writing the release");
    made.plan(recipe)?.package.write(staging, observer)?;
    let mut original = made.into_original();
    original.warnings().iter().for_each(|warning| observer.warn(warning));
    observer.stage("looking for people who can be singled out");
    let before = clock.time("inspect", || before(recipe, &original, observer))?;
    let mut rounds: Vec<Round> = Vec::new();
    let mut repaired = None;
    let opened = loop {
        let opened = read_back(staging, recipe.form(), &mut original, observer.memory())?;
        let proof = clock.time("verify", || forms::verify(&opened, Some(&original), observer))?;
        let attacked = clock.time("attack", || forms::attack(&opened, Some(&original), asked, &Files, observer))?;
        let judged = recipe.limits.judge(Some(proof.holds()), &attacked.found());
        let wants = !judged.holds || attacked.found().advantage > recipe.limits.written.advantage.or(Some(0.0));
        rounds.push(Round { repaired: repaired.take(), proof, attacked });
        // Groups are changed until nothing helps in one round; chunks may need several.
        let most = if recipe.form() == Form::Recoded { 1 } else { recipe.repair.rounds };
        if !wants || rounds.len() as u32 > most {
            break opened;
        }
        observer.stage("repairing what the attacks broke");
        let mended = clock.time("repair", || forms::repair(&opened, &original, recipe, asked, observer))?;
        let Some(mended) = mended else { break opened };
        let Some(files) = &mended.files else {
            rounds.extend(rounds.last().cloned().map(|last| Round { repaired: Some(mended.repaired), ..last }));
            break opened;
        };
        let package = files.package()?;
        staging.clear()?;
        package.write(staging, observer)?;
        repaired = Some(mended.repaired);
    };
    let run = finished(recipe, (&opened, &original), before, rounds, clock, observer)?;
    observer.stage("writing the report");
    pages(&run)?.write(staging, observer)?;
    Ok(run)
}

/// Measures what is left, and puts all that is known of the run together.
fn finished(
    recipe: &Recipe,
    (opened, original): (&Opened, &Original),
    before: Before,
    rounds: Vec<Round>,
    clock: &mut Clock,
    observer: &dyn Observer,
) -> Result<Run> {
    let measured = MeasureOptions::of(recipe);
    let utility = clock.time("measure", || forms::measure(opened, original, &measured, observer))?;
    let last = rounds.last().ok_or(Error::Internal("every release is verified"))?;
    let judgement = recipe.limits.judge(Some(last.proof.holds()), &last.attacked.found().and(utility.found()));
    let ((records, terms), input) = (original.size(), original.as_read()?);
    let (recipe, seconds) = (recipe.clone(), std::mem::take(&mut clock.seconds));
    let readings = original.readings().to_vec();
    let (people, warnings) = (original.people().cloned(), original.warnings());
    let claim = opened.claim();
    Ok(Run {
        recipe,
        records,
        terms,
        input,
        before,
        claim,
        rounds,
        utility,
        judgement,
        seconds,
        readings,
        people,
        warnings,
    })
}

/// Opens what was written, as anybody would, and takes custody of it.
fn read_back(staging: &Staging, form: Form, original: &mut Original, memory: Memory) -> Result<Opened> {
    let opened = open(&staging.release(), Some(&staging.custody()), memory)?;
    original.keep(Kept::read(&staging.custody(), form)?);
    Ok(opened)
}

/// Who could be singled out in the data as they were.
fn before(recipe: &Recipe, original: &Original, observer: &dyn Observer) -> Result<Before> {
    let (k, m) = (recipe.protect.k, recipe.protect.m);
    let apart = people::apart(original.people());
    Ok(match (recipe.form(), original) {
        // What is counted in the data must not leave, and there is no k to count by.
        (Form::Noisy, _) => Before::Nothing,
        (_, Original::Sets { data, .. }) => match apart {
            Some(people) => Before::Sets(risk(&people.union(data), k, m, observer)),
            None => Before::Sets(risk(data, k, m, observer)),
        },
        (_, Original::Table { table, .. }) => match apart {
            Some(people) => {
                let at_risk = people_at_risk(table, &people.of_row, k, observer);
                Before::Table { at_risk, rows: people.people }
            }
            None => Before::Table { at_risk: rows_at_risk(table, k, observer), rows: table.n_rows() as u64 },
        },
    })
}

/// The report in all its forms: in full for custody, and what may leave.
fn pages(run: &Run) -> Result<Package<'static>> {
    let json = serde_json::to_string_pretty(&run.json()).map_err(|_| Error::Internal("a report is always JSON"))?;
    let inside = run.page(Audience::Inside);
    Ok(Package::default()
        .bytes(Part::Custody, "report.html", inside.html())
        .bytes(Part::Custody, "report.md", inside.markdown())
        .bytes(Part::Custody, "report.json", json + "\n")
        .bytes(Part::Release, "report.html", run.page(Audience::Public).html()))
}

/// How long each stage took.
#[derive(Default)]
struct Clock {
    seconds: Vec<(String, f64)>,
}

impl Clock {
    fn time<T>(&mut self, stage: &str, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        let seconds = start.elapsed().as_secs_f64();
        match self.seconds.iter_mut().find(|(name, _)| name == stage) {
            Some((_, sum)) => *sum += seconds,
            None => self.seconds.push((stage.to_owned(), seconds)),
        }
        result
    }
}

/// Refuses a custody folder that nobody would look into.
pub(crate) fn refuse_idle(custody: Option<&Path>, original: &Originally<'_>) -> Result<()> {
    match custody.filter(|_| original.location.is_none()) {
        Some(_) => {
            let problem = "is of no use without the original";
            Err(Error::recipe("custody", problem, "name the original as well, or leave it out"))
        }
        None => Ok(()),
    }
}

/// Opens a release and reads its original, as verbs do.
pub(crate) fn opened(
    path: &Path,
    custody: Option<&Path>,
    original: &Originally<'_>,
    sources: &dyn Sources,
    observer: &dyn Observer,
) -> Result<(Opened, Option<Original>)> {
    observer.stage("reading the release");
    let opened = open(path, custody, observer.memory())?;
    if original.location.is_some() {
        observer.stage("reading the original");
    }
    let original = original.read(&opened, sources, observer)?;
    Ok((opened, original))
}
