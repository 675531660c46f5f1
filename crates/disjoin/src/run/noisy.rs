//! The whole way with noise: read, add noise, verify, measure, publish.
//!
//! Promises:   the package is written as a whole or not at all; what is written was verified as it is written. Nothing that was
//!             counted in the data besides decides what is published, nor whether: measures are told inside, and that is all
//! Checked by: crates/disjoin-cli/tests/it/noise.rs

use super::{Clock, pages_of};
use crate::data::Dataset;
use crate::error::{Error, Place, Result};
use crate::measure::measure_noisy;
use crate::protect::noise::{Known, Made, Source, diffpart, privbasis};
use crate::publish::{Destination, NoisyPackage};
use crate::read;
use crate::recipe::Recipe;
use crate::recipe::noise::{Method, Noise, as_key};
use crate::release::noisy::{Noisy, Universe};
use crate::report::{NoisyStory, noisy_html, noisy_markdown};
use crate::verify::{NoisyFiles, verify_noisy};

/// Runs the recipe of a noisy release and writes its package; `tell` hears of every stage before it begins.
pub fn run_noisy(recipe: &Recipe, tell: &mut dyn FnMut(&str)) -> Result<NoisyStory> {
    let Some(asked) = &recipe.protect.noise else {
        return Err(Error::Internal("noise is to be added that nobody asked for"));
    };
    let destination = Destination::check(&recipe.output.folder)?;
    destination.check_outside(&recipe.input.file)?;
    tell("reading the data");
    let (data, intake) = read::read(&recipe.input.file, &recipe.input.options)?;
    let mut clock = Clock { seconds: Vec::new() };
    tell("adding noise");
    let (known, made) = clock.time("protect", || protect_noisy(asked, &data)).map_err(as_key)?;
    tell("adding up the budget");
    let verdict = clock.time("verify", || as_published(&known, &made).map(|files| verify_noisy(&files)))?;
    tell("measuring what is left");
    // No more itemsets are looked for than were asked for.
    let top = asked.top.map_or(recipe.measure.top, |top| recipe.measure.top.min(top as usize));
    let utility = clock.time("measure", || measure_noisy(&made.release, &data, top));
    let story = NoisyStory {
        recipe: recipe.clone(),
        claim: made.claim.clone(),
        holds: verdict.holds,
        verdict,
        utility,
        seconds: clock.seconds,
    };
    tell("writing the package");
    let pages = pages_of(&story, noisy_html, noisy_markdown)?;
    let package = NoisyPackage {
        claim: &made.claim,
        release: &made.release,
        items: &known.items,
        input: &intake,
        seed: asked.seed,
        pages: &pages,
    };
    package.publish(&destination)?;
    Ok(story)
}

/// Adds noise to a dataset.
pub fn protect_noisy(asked: &Noise, data: &Dataset) -> Result<(Known, Made)> {
    let mut source = asked.seed.map_or_else(Source::secure, |seed| Ok(Source::demonstration(seed)))?;
    let known = match &asked.universe {
        Some(path) => Known::listed(data, &read::items(path)?, &Place::file(path.display().to_string()))?,
        None => Known::occurring(data),
    };
    let made = match asked.method {
        Method::Diffpart => diffpart::diffpart(&known, &asked.diffpart(), &mut source)?,
        Method::Privbasis => privbasis::privbasis(&known, &asked.privbasis(), &mut source)?,
    };
    Ok((known, made))
}

/// The release as its files will hold it.
fn as_published(known: &Known, made: &Made) -> Result<NoisyFiles> {
    let not_json = |_| Error::Internal("a claim is always JSON");
    let claim = made.claim.to_json()?;
    let mut text = Vec::new();
    made.release.write(&mut text).map_err(|_| Error::Internal("writing to memory does not fail"))?;
    let text = String::from_utf8(text).map_err(|_| Error::Internal("JSON is always UTF-8"))?;
    let listed = || known.items.iter().map(str::to_owned).collect();
    Ok(NoisyFiles {
        claim: serde_json::from_str(&claim).map_err(not_json)?,
        written: serde_json::from_str(&claim).map_err(not_json)?,
        data: Noisy::read(&text, "")?,
        universe: (known.universe == Universe::Listed).then(listed),
        strange_files: 0,
    })
}
