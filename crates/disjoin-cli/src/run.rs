//! `disjoin run`: the whole way, from one recipe.

use std::path::{Path, PathBuf};

use disjoin::recipe::{Recipe, read_recipe, resolve};
use disjoin::run::{self, Input};
use disjoin::{Error, Result};
use serde_json::json;

use crate::Outcome;
use crate::flags::input::SOURCES;
use crate::talk::Talk;

/// Go the whole way with one recipe: protect, verify, attack, repair, measure, publish
///
/// Reads the data that the recipe names, protects it, proves the promise, tries the attacks, repairs what they broke until the
/// limits hold or the rounds are used up, measures what is left, and writes the package with its reports:
/// release/report.html may leave with the release, custody/report.html shows everything and must not.
///
/// Stopped by Ctrl-C, it leaves what was there before. Ends with exit code 1 if the promise or a limit does not hold: the
/// package is written all the same, for you to look into, and its reports show so first.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The recipe [default: recipe.toml]
    recipe: Option<PathBuf>,
    /// The folder of the package, instead of the recipe's
    #[arg(short, long, value_name = "OUT")]
    out: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  disjoin recipe new patients.csv --column diagnoses     write recipe.toml
  disjoin run                                            do what recipe.toml says
  disjoin run strict.toml -o out/strict --json";

pub(crate) fn run(args: &Args, talk: &Talk) -> Result<Outcome> {
    let file = recipe_file(args.recipe.as_deref());
    let mut recipe = read(file, talk)?;
    if let Some(out) = &args.out {
        recipe.output.folder.clone_from(out);
    }
    make_parent(&recipe.output.folder)?;
    let run = run::run(&recipe, Input::Named(SOURCES), talk).map_err(|error| in_recipe(error, file))?;
    tell(&run, &recipe.output.folder, talk)
}

/// The recipe that was named, or the usual one.
pub(crate) fn recipe_file(named: Option<&Path>) -> &Path {
    named.unwrap_or(Path::new(disjoin::recipe::FILE))
}

/// Reads a recipe, and says which keys have other names now.
pub(crate) fn read(file: &Path, talk: &Talk) -> Result<Recipe> {
    let recipe = read_recipe(file)?;
    recipe.notes.iter().for_each(|note| talk.warn(&format!("{}: {note}", file.display())));
    Ok(recipe)
}

/// Prints a run: as JSON with where its package is, or in a few lines.
pub(crate) fn tell(run: &disjoin::report::Run, out: &Path, talk: &Talk) -> Result<Outcome> {
    let holds = run.judgement.holds;
    if talk.is_json() {
        let path = |part: &str| out.join(part).to_string_lossy().into_owned();
        talk.print_json(&json!({
            "holds": holds,
            "limits": run.judgement.limits,
            "release": path("release"),
            "custody": path("custody"),
            "report": path("custody/report.html"),
            "run": run.json(),
        }))?;
    } else {
        talk.print(&run.headline(out).text())?;
    }
    Ok(Outcome::of(holds))
}

/// A parameter that does not fit the data stands in the recipe.
pub(crate) fn in_recipe(error: Error, file: &Path) -> Error {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    resolve::in_file(error, &text, &file.display().to_string())
}

/// Needed where an output folder is chosen by us.
pub(crate) fn make_parent(out: &Path) -> Result<()> {
    match out.parent() {
        Some(parent) => std::fs::create_dir_all(parent).map_err(|e| Error::io(parent, "make the folder", e)),
        None => Ok(()),
    }
}
