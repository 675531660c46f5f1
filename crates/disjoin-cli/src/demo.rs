//! `disjoin demo`: the whole way once, on a synthetic hospital.

use std::path::{Path, PathBuf};

use disjoin::generate::hospital::{self, Params};
use disjoin::read::{Options, read_bytes};
use disjoin::recipe::written::parse;
use disjoin::recipe::{Recipe, resolve};
use disjoin::report::demo_page;
use disjoin::run::{Input, run_with};
use disjoin::{Error, Result};

use crate::Outcome;
use crate::run::{make_parent, tell};
use crate::talk::Talk;

/// See the whole way once: a synthetic hospital, its risk, a release, an attack, its repair, the proof, and what is left
///
/// Generates patients who do not exist, shows how many of them two diagnoses would single out, protects them with k = 5 and
/// m = 2 as the paper does, attacks the release, repairs what the attack found, proves the promise, measures what is left, and
/// writes a report.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, after_help = EXAMPLES)]
pub(crate) struct Args {
    #[arg(long, value_name = "N", help = format!("Number of patients [default: {}]", Params::default().patients))]
    patients: Option<u64>,
    /// Where randomness starts
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[arg(short, long, value_name = "OUT", help = format!("The folder to write the package to [default: {FOLDER}]"))]
    out: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  disjoin demo
  disjoin demo --patients 100000 --seed 7 -o /tmp/demo";

const FOLDER: &str = "out/demo";

/// The paper's cut, which an adversary who knows it can attack, so that there is something to repair.
const RECIPE: &str = "\
[input]
file = \"custody/original.csv\"
column = \"diagnoses\"

[protect]
k = 5
m = 2
promise = \"published\"
grouping = \"paper\"
";

pub(crate) fn run(args: &Args, talk: &Talk) -> Result<Outcome> {
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from(FOLDER));
    make_parent(&out)?;
    talk.step("generating patients");
    let patients = args.patients.unwrap_or(Params::default().patients);
    let register = hospital::hospital(&Params { patients, seed: args.seed.unwrap_or(disjoin::generate::DEMO_SEED) })?;
    let mut original = Vec::new();
    register.write_csv(&mut original).map_err(|e| Error::io(Path::new("original.csv"), "write", e))?;
    // Read back as a user's file would be, so that the last step can be repeated by hand.
    let options = Options { column: Some("diagnoses".into()), ..Options::default() };
    let (data, intake) = read_bytes("original.csv", &original, &options)?;
    let run = run_with(&recipe(&out)?, Input::Sets(data, intake), Some(&original), talk)?;
    match demo_page(&run, &out).filter(|_| !talk.is_json()) {
        None => tell(&run, &out, talk),
        Some(page) => {
            talk.print(&page.text())?;
            Ok(Outcome::of(run.judgement.holds))
        }
    }
}

fn recipe(out: &Path) -> Result<Recipe> {
    let mut recipe = resolve(&parse(RECIPE, "the demonstration")?, out)?;
    recipe.output.folder = out.to_path_buf();
    Ok(recipe)
}
