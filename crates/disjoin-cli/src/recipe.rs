//! `disjoin recipe`: write one, check one, describe what one may hold.

use std::path::PathBuf;

use clap::Subcommand;
use disjoin::location::scheme;
use disjoin::recipe::written;
use disjoin::{Error, Result};

use crate::Outcome;
use crate::recipe_new::{New, new};
use crate::run::{read, recipe_file};
use crate::talk::Talk;

/// Write a recipe, check one, or print what one may hold
#[derive(Subcommand)]
pub(crate) enum Args {
    New(New),
    Check(Check),
    Schema(Schema),
}

/// Say whether a recipe can be run, and what it means with all defaults
#[derive(clap::Args)]
#[command(after_help = CHECK_EXAMPLES)]
pub(crate) struct Check {
    /// The recipe [default: recipe.toml]
    recipe: Option<PathBuf>,
}

const CHECK_EXAMPLES: &str = "\
Examples:
  disjoin recipe check
  disjoin recipe check strict.toml --json";

/// Print the JSON schema of recipes, for editors
#[derive(clap::Args)]
#[command(after_help = SCHEMA_EXAMPLES)]
pub(crate) struct Schema {}

const SCHEMA_EXAMPLES: &str = "\
Examples:
  disjoin recipe schema > recipe.schema.json";

pub(crate) fn run(args: &Args, talk: &Talk) -> Result<Outcome> {
    match args {
        Args::New(args) => new(args, talk),
        Args::Check(args) => check(args, talk),
        Args::Schema(Schema {}) => {
            talk.print_json(&written::schema())?;
            Ok(Outcome::Holds)
        }
    }
}

fn check(args: &Check, talk: &Talk) -> Result<Outcome> {
    let file = recipe_file(args.recipe.as_deref());
    let mut recipe = read(file, talk)?;
    let location = recipe.input.file.to_string_lossy();
    if scheme(&location).is_none() && !recipe.input.file.exists() {
        talk.warn(&format!("{location}: there is no such file yet"));
    }
    // How many is enough: the list says what somebody wants to hide.
    let n_sensitive = std::mem::take(&mut recipe.protect.sensitive).len();
    if talk.is_json() {
        talk.print_json(&recipe)?;
        return Ok(Outcome::Holds);
    }
    let text = toml::to_string_pretty(&recipe).map_err(|_| Error::Internal("a recipe is always TOML"))?;
    talk.print(&format!("# {} with all defaults; {n_sensitive} sensitive terms\n{text}", file.display()))?;
    Ok(Outcome::Holds)
}
