//! `disjoin sweep`: many recipes on the same data, and the best of them.

use std::path::PathBuf;

use disjoin::Result;
use disjoin::recipe::written::Promised;
use disjoin::run::sweep::{FOLDER, Grid, sweep};

use crate::Outcome;
use crate::choices::choice;
use crate::flags::input::SOURCES;
use crate::run::{in_recipe, read, recipe_file};
use crate::talk::Talk;

/// Try many recipes on the same data: what does more privacy cost, and which is best within the limits?
///
/// Every combination of the lists is protected, verified, attacked, repaired and measured, as a run would; what a list does not
/// say, the recipe does. Sets, tables, split tables and recoded sets alike; a method that does not know a list refuses it. Each result
/// is kept in DIR/rows.jsonl as soon as it is there: a sweep that was stopped goes on where it was. At the end DIR/sweep.csv has all
/// rows and DIR/frontier.svg shows them.
///
/// The rows show what was counted in the original: they are for those who hold it. Ends with exit code 1 if no recipe keeps the
/// limits.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The recipe to vary [default: recipe.toml]
    recipe: Option<PathBuf>,
    /// Values of k, with commas between
    #[arg(short, value_name = "LIST", value_delimiter = ',')]
    k: Vec<u32>,
    /// Values of m
    #[arg(short, value_name = "LIST", value_delimiter = ',')]
    m: Vec<u32>,
    /// Sizes of clusters
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    max_cluster: Vec<u32>,
    /// Promises
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = choice::<Promised>())]
    promise: Vec<Promised>,
    #[arg(short, long, value_name = "DIR", help = format!("The folder for the results, made if it is missing [default: {FOLDER}]"))]
    out: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  disjoin sweep -k 3,5,10 -m 2,3
  disjoin sweep strict.toml -k 5,10,20 --max-cluster 20,30,50,100 -o sweeps/strict
  disjoin sweep -k 5 --promise published,algorithm-aware --json";

pub(crate) fn run(args: &Args, talk: &Talk) -> Result<Outcome> {
    let file = recipe_file(args.recipe.as_deref());
    let base = read(file, talk)?;
    let (k, m, max_cluster) = (args.k.clone(), args.m.clone(), args.max_cluster.clone());
    let grid = Grid { k, m, max_cluster, promise: args.promise.iter().map(|&promise| promise.into()).collect() };
    let folder = args.out.clone().unwrap_or_else(|| PathBuf::from(FOLDER));
    let answer = sweep(&base, &grid, &folder, SOURCES, talk).map_err(|error| in_recipe(error, file))?;
    talk.answer(&answer)
}
