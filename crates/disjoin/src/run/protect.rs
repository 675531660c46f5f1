//! `protect`: from data to a package, without attacks and measures.

use super::forms::{self, Planned};
use super::stream::{is_streamed, stream_split};
use super::{Answer, Input};
use crate::error::Result;
use crate::observer::{Observer, observed};
use crate::publish::{Destination, Part};
use crate::read::count_table_from;
use crate::read::rows::RowLog;
use crate::recipe::Recipe;
use crate::report::Page;

/// Protects, as a recipe asks for it, and writes the package.
pub fn protect(recipe: &Recipe, input: Input<'_>, observer: &dyn Observer) -> Result<Answer> {
    observed(|| {
        let destination = Destination::check(&recipe.output.folder)?;
        destination.check_outside(&recipe.input.file)?;
        let (line, json, warnings) = match (&recipe.table, input) {
            (Some(asked), Input::Named(sources)) if is_streamed(asked) => {
                let (location, options) = (&recipe.input.file, &recipe.input.options);
                let count =
                    |rows: RowLog<'_>| count_table_from(location, options, &asked.declared, rows, sources, observer);
                let (line, json) = stream_split(asked, count, &destination, observer)?;
                (line, json, Vec::new())
            }
            (_, input) => {
                let made = forms::protect(recipe, input, observer)?;
                let Planned { package, line, json, warnings } = made.plan(recipe)?;
                observer.stage("writing the package");
                destination.publish(|staging| package.write(staging, observer))?;
                // Giving millions of small pieces back one by one would only take time.
                std::mem::forget(made);
                (line, json, warnings)
            }
        };
        let mut answer = Answer::new(Page::of_text(&line), &json)?;
        let path = |part: Part| recipe.output.folder.join(part.folder());
        if let Some(fields) = answer.json.as_object_mut() {
            fields.insert("release".into(), path(Part::Release).to_string_lossy().into());
            fields.insert("custody".into(), path(Part::Custody).to_string_lossy().into());
            fields.insert("replaced".into(), destination.replaces().into());
        }
        answer.warnings = warnings;
        answer.wrote = vec![path(Part::Release), path(Part::Custody)];
        Ok(answer)
    })
}
