//! Noisy releases: noise is added, the budget is added up, and what was measured decides nothing.
//!
//! Promises:   nothing that was counted in the data besides decides what is published, nor whether: measures stay inside, and that
//!             is all
//! Checked by: crates/disjoin-cli/tests/it/noise.rs

use std::io::Write;

use serde_json::json;

use super::super::open::{Input, Original};
use super::super::people;
use super::Planned;
use crate::data::Dataset;
use crate::error::{Place, Result};
use crate::measure::measure_noisy;
use crate::observer::Observer;
use crate::protect::noise::{Known, Made as Drawn, Source, diffpart, privbasis};
use crate::publish::{Custody, Package, Part, everywhere};
use crate::read::{self, Intake};
use crate::recipe::noise::{Method, Noise};
use crate::recipe::{Measure, Recipe};
use crate::release::Form;
use crate::release::noisy::{DATA, UNIVERSE, Universe};
use crate::report::{Proof, Utility, noise_promise, noisy_rows};
use crate::verify::{NoisyFiles, verify_noisy};

/// A noisy release.
pub struct Made {
    pub(super) data: Dataset,
    pub(super) intake: Intake,
    known: Known,
    drawn: Drawn,
    seed: Option<u64>,
}

/// Reads sets and adds noise.
pub(super) fn protect(recipe: &Recipe, input: Input<'_>, observer: &dyn Observer) -> Result<Made> {
    let Some(asked) = &recipe.protect.noise else {
        return Err(crate::Error::Internal("noise is to be added that nobody asked for"));
    };
    observer.stage("reading the data");
    let (data, mut intake) = input.sets(&recipe.input.file, &recipe.input.options, observer)?;
    observer.stage("adding noise");
    let (known, mut drawn) = make(asked, &data, observer)?;
    // One record a person: neighbours, which differ by a record, differ by a person.
    drawn.claim = drawn.claim.of_people(intake.people.as_ref().map(|people| people.visits));
    people::look_for_repeated_records(&data, &mut intake);
    Ok(Made { data, intake, known, drawn, seed: asked.seed })
}

/// Adds noise to a dataset.
pub fn make(asked: &Noise, data: &Dataset, observer: &dyn Observer) -> Result<(Known, Drawn)> {
    let mut source = asked.seed.map_or_else(Source::secure, |seed| Ok(Source::demonstration(seed)))?;
    let known = match &asked.universe {
        Some(path) => Known::listed(data, &read::items(path)?, &Place::file(path.display().to_string()))?,
        None => Known::occurring(data),
    };
    let drawn = match asked.method {
        Method::Diffpart => diffpart::diffpart(&known, &asked.diffpart(), &mut source, observer)?,
        Method::Privbasis => privbasis::privbasis(&known, &asked.privbasis(), &mut source, observer)?,
    };
    Ok((known, drawn))
}

impl Made {
    pub(super) fn plan(&self, _: &Recipe) -> Result<Planned<'_>> {
        let Drawn { release, claim } = &self.drawn;
        let mut package = Package::default().file(Part::Release, DATA, |file| release.write(file)).bytes(
            Part::Release,
            "claim.json",
            claim.to_json()?,
        );
        if claim.universe == Universe::Listed {
            let items = &self.known.items;
            package = package.file(Part::Release, UNIVERSE, |file| {
                let mut text = Vec::new();
                items.iter().try_for_each(|item| writeln!(text, "{item}"))?;
                file.write_all(&text)
            });
        }
        let body = json!({ "method": claim.method, "parameters": claim.parameters });
        let custody = Custody::new(Form::Noisy, self.seed, &self.intake, body)?;
        let package =
            package.custody(Form::Noisy, &custody, everywhere(&[]))?.people(self.intake.people.as_ref(), None);
        let line = format!(
            "{}: {}, {}",
            claim.method,
            noisy_rows(release.kind, release.rows.len() as u64),
            noise_promise(claim)
        );
        let json = json!({
            "input": self.intake,
            "method": claim.method,
            "epsilon": claim.epsilon,
            "delta": claim.delta,
            "universe": claim.universe,
            "demonstration": claim.demonstration,
            "promised": claim.promised,
            "rows": release.rows.len(),
        });
        let public = "which items there are is taken from the data, and assumed to be public, as the claim declares; list them in \
                      a file instead (universe)";
        let nothing = "this release promises nothing (a demonstration): do not publish it";
        let warnings =
            [(claim.universe == Universe::AssumedPublic).then_some(public), claim.demonstration.then_some(nothing)];
        let warnings = warnings.into_iter().flatten().map(String::from).collect();
        Ok(Planned { package, line, json, warnings }.of_people(self.intake.people.as_ref(), &self.intake.several))
    }
}

pub(super) fn verify(files: &NoisyFiles, observer: &dyn Observer) -> Proof {
    observer.stage("adding up the budget");
    Proof::Noisy(verify_noisy(files))
}

pub(super) fn measure(
    files: &NoisyFiles,
    original: &Original,
    asked: &Measure,
    observer: &dyn Observer,
) -> Result<Utility> {
    let (data, _) = original.sets()?;
    // No more itemsets are looked for than were asked for.
    let top = files.claim.parameters.top.map_or(asked.top, |top| asked.top.min(top as usize));
    Ok(Utility::Noisy(measure_noisy(&files.data, data, top, observer)))
}
