//! `disjoin demo`: the whole way once, on a made-up hospital.

use std::path::{Path, PathBuf};

use disjoin::generate::hospital;
use disjoin::publish::Destination;
use disjoin::read::{Options, read_bytes};
use disjoin::recipe::written::parse;
use disjoin::recipe::{Recipe, resolve};
use disjoin::report::Story;
use disjoin::run::run_on;
use disjoin::{Error, Result};

use crate::Outcome;
use crate::protect::make_parent;
use crate::run::tell as tell_story;
use crate::talk::{Talk, count, number, percent};

/// See the whole way once: a made-up hospital, its risk, a release, an attack, its repair, the proof, and what is left
///
/// Generates patients who do not exist, shows how many of them two diagnoses would single out, protects them with k = 5 and
/// m = 2 as the paper does, attacks the release, mends what the attack found, proves the promise, measures what is left, and
/// writes a report.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Number of patients
    #[arg(long, value_name = "N", default_value_t = 5000)]
    patients: u64,
    /// Where randomness starts
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// The folder to write the package to
    #[arg(short, long, value_name = "OUT", default_value = "out/demo")]
    out: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  disjoin demo
  disjoin demo --patients 100000 --seed 7 -o /tmp/demo";

/// As in the recipe below.
const K: u32 = 5;

pub(crate) fn run(args: &Args, talk: &Talk) -> Result<Outcome> {
    make_parent(&args.out)?;
    let destination = Destination::check(&args.out)?;
    talk.step("making up patients");
    let register = hospital::hospital(&hospital::Params { patients: args.patients, seed: args.seed })?;
    let mut original = Vec::new();
    register.write_csv(&mut original).map_err(|e| Error::io(Path::new("original.csv"), "write", e))?;
    // Read back as a user's file would be, so that the last step can be repeated by hand.
    let options = Options { column: Some("diagnoses".into()), ..Options::default() };
    let (data, intake) = read_bytes("original.csv", &original, &options)?;

    let recipe = recipe(&args.out)?;
    let tell = &mut |stage: &str| talk.step(stage);
    let story = run_on(&recipe, &data, intake, Some(&original), &destination, tell)?;
    if talk.is_json() {
        return tell_story(&story, &args.out, talk);
    }
    talk.print(&text(&args.out, &story))?;
    Ok(if story.holds { Outcome::Holds } else { Outcome::Broken })
}

/// The paper's cut, which an adversary who knows it can attack, so that there is something to mend.
const RECIPE: &str = "\
[input]
file = \"custody/original.csv\"
column = \"diagnoses\"

[protect]
k = 5
m = 2
promise = \"published\"
grouping = \"paper\"

[repair]
rounds = 3
";

fn recipe(out: &Path) -> Result<Recipe> {
    let written = parse(RECIPE, "the demonstration")?;
    let mut recipe = resolve(&written, out, &|_| disjoin::Place::file("the demonstration"))?;
    recipe.output.folder = out.to_path_buf();
    Ok(recipe)
}

fn text(out: &Path, story: &Story) -> String {
    let (out, before, utility) = (out.display(), &story.before, &story.utility);
    let first = story.rounds.first().map(|round| &round.attacks);
    let last = story.rounds.last();
    let tried = match (first, last.and_then(|round| round.repaired)) {
        (Some(attacks), Some(stats)) => format!(
            "Somebody who knows how the paper's algorithm cuts could be certain of {}: that fewer than {K}\n\
             \x20 patients of a group share two diagnoses. Mended: {} set aside. Attacked again: nothing.",
            count(attacks.certain, "thing", "things"),
            count(stats.terms_set_aside, "diagnosis of a group was", "diagnoses of groups were"),
        ),
        _ => String::from("Nothing certain was found."),
    };
    let proved = match last.filter(|round| round.verdict.holds) {
        Some(round) => format!(
            "Proven from the published files alone: whatever two diagnoses of a patient you\n\
             \x20 know, at least {K} patients may be the one. Checked: {}.",
            count(round.verdict.clusters, "group of patients", "groups of patients")
        ),
        None => String::from("The promise does NOT hold. This is a defect of disjoin: please report it."),
    };
    format!(
        "{patients} made-up patients, each with a set of diagnoses.

BEFORE: the data as it is
  {at_risk} patients ({share}) have two diagnoses that fewer than {K} patients share.
  Whoever knows these two, a neighbour or an employer, can find out all the others.

ATTACKED, before anyone else does it
  {tried}

AFTER: the same diagnoses, none lost, but cut into chunks that are no longer linked
  {proved}

STILL THERE: what an analyst can ask of it
  {kept} of the most frequent sets of diagnoses ({top} at most) still are the most frequent ones.
  Counts of {queries} random sets are off by {error} on the median; bounds held for {bounded}.

FILES
  {out}/custody/report.html   the whole story, for you and your ethics board: open it in a browser
  {out}/release   may leave the building: the data, a claim that says what is promised, a page about it
  {out}/custody   must not: the original, and which patient went to which group

TRY NEXT
  disjoin recipe new YOUR_FILE
  disjoin run
  disjoin verify {out} --original {out}/custody/original.csv --column diagnoses
  disjoin query {out} --top 10 --size 2
",
        patients = number(before.records),
        at_risk = number(before.at_risk),
        share = percent(before.at_risk, before.records),
        kept = percent((1000.0 * (1.0 - utility.top_k.tkd_e.all)).round() as u64, 1000),
        top = number(utility.top_k.k as u64),
        queries = number(utility.queries.queries as u64),
        bounded = percent((1000.0 * utility.queries.within_bounds).floor() as u64, 1000),
        error = percent((1000.0 * utility.queries.median).round() as u64, 1000),
    )
}
