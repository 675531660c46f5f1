//! `disjoin run`: the whole way, from one recipe.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use disjoin::recipe::read_recipe;
use disjoin::report::{Limit, Story};
use disjoin::{Error, Result, run};
use serde_json::json;

use crate::Outcome;
use crate::protect::make_parent;
use crate::talk::{Talk, count, number, percent};

/// Go the whole way with one recipe: protect, verify, attack, repair, measure, publish
///
/// Reads the data that the recipe names, protects it, proves the promise, tries the attacks, mends what they broke until the
/// limits hold or the rounds are used up, measures what is left, and writes the package with its reports:
/// release/report.html may leave with the release, custody/report.html tells everything and must not.
///
/// Stopped by Ctrl-C, it leaves what was there before. Ends with exit code 1 if the promise or a limit does not hold: the
/// package is written all the same, for you to look into, and its reports say so first.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The recipe
    #[arg(default_value = "recipe.toml")]
    recipe: PathBuf,
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
    let mut recipe = read_recipe(&args.recipe)?;
    if let Some(out) = &args.out {
        recipe.output.folder.clone_from(out);
    }
    make_parent(&recipe.output.folder)?;
    if recipe.table.as_ref().is_some_and(|table| table.split.is_some()) {
        let story = run::split::run_split(&recipe, &mut |stage| talk.step(stage));
        let story = story.map_err(|error| in_recipe(error, &args.recipe))?;
        return crate::split::tell(&story, &recipe.output.folder, talk);
    }
    if recipe.table.is_some() {
        let story = run::table::run_table(&recipe, &mut |stage| talk.step(stage));
        return crate::table::tell(
            &story.map_err(|error| in_recipe(error, &args.recipe))?,
            &recipe.output.folder,
            talk,
        );
    }
    if recipe.protect.recoding.is_some() {
        let story = run::recoded::run_recoded(&recipe, &mut |stage| talk.step(stage));
        let story = story.map_err(|error| in_recipe(error, &args.recipe))?;
        return crate::recoding::tell(&story, &recipe.output.folder, talk);
    }
    if recipe.protect.noise.is_some() {
        let story = run::noisy::run_noisy(&recipe, &mut |stage| talk.step(stage));
        let story = story.map_err(|error| in_recipe(error, &args.recipe))?;
        return crate::noise::tell(&story, &recipe.output.folder, talk);
    }
    let story = run::run(&recipe, &mut |stage| talk.step(stage)).map_err(|error| in_recipe(error, &args.recipe))?;
    tell(&story, &recipe.output.folder, talk)
}

/// A parameter that does not fit the data stands in the recipe.
fn in_recipe(error: Error, file: &Path) -> Error {
    match error {
        Error::Recipe { key, problem, hint } => {
            let key = if key == "--privacy" { "protect.privacy" } else { key };
            let place = std::fs::read_to_string(file).map_or_else(
                |_| disjoin::Place::file(file.display().to_string()),
                |text| disjoin::recipe::written::place_of(&text, &file.display().to_string(), key),
            );
            Error::Input { place, problem: format!("{key}: {problem}"), hint }
        }
        other => other,
    }
}

/// Prints the story of a run.
pub(crate) fn tell(story: &Story, out: &Path, talk: &Talk) -> Result<Outcome> {
    let inside = disjoin::report::json(story, disjoin::report::Audience::Inside);
    tell_story(story.holds, json!(inside), || text(story, out), out, talk)
}

/// Prints a story of any kind: as JSON with where its package is, or in a few lines.
pub(crate) fn tell_story(
    holds: bool,
    story: serde_json::Value,
    text: impl FnOnce() -> String,
    out: &Path,
    talk: &Talk,
) -> Result<Outcome> {
    if talk.is_json() {
        let path = |part: &str| out.join(part).to_string_lossy().into_owned();
        talk.print_json(&json!({
            "holds": holds,
            "release": path("release"),
            "custody": path("custody"),
            "report": path("custody/report.html"),
            "story": story,
        }))?;
    } else {
        talk.print(&text())?;
    }
    Ok(if holds { Outcome::Holds } else { Outcome::Broken })
}

/// How many rows of a table stand out by their quasi-identifiers.
pub(crate) fn before_line(at_risk: u64, rows: u64, k: u32) -> String {
    format!(
        "{} of {} ({}) share their quasi-identifiers with fewer than {k}",
        number(at_risk),
        count(rows, "row", "rows"),
        percent(at_risk, rows),
    )
}

/// How a story of any kind ends: which limits are broken, and where its package is.
pub(crate) fn ending(limits: &[Limit], holds: bool, out: &Path) -> String {
    let mut text = String::new();
    let mut line = |label: &str, told: String| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{label:<11}{told}");
    };
    for Limit { key, meaning, value, at_most, .. } in limits.iter().filter(|limit| !limit.holds) {
        line("LIMIT", format!("{key}: {meaning} is {value:.4}, at most {at_most:.4} is allowed"));
    }
    let may = if holds { "may leave the building" } else { "must NOT leave the building" };
    let out = out.display();
    line("release", format!("{out}/release   {may}"));
    line("report", format!("{out}/custody/report.html   for you; {out}/release/report.html   for everybody"));
    text.push_str(match holds {
        true => "\nThe promise holds and every limit is kept.\n",
        false => "\nThe promise or a limit is NOT kept: the report says which.\n",
    });
    text
}

/// The story in a few lines.
pub(crate) fn text(story: &Story, out: &Path) -> String {
    let mut text = String::new();
    let mut line = |label: &str, told: String| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{label:<11}{told}");
    };
    let (k, m) = (story.claim.parameters.k, story.claim.parameters.m);
    let terms = if m == 1 { String::from("1 term") } else { format!("{m} terms") };
    line(
        "before",
        format!(
            "{} of {} ({}) have up to {terms} that fewer than {k} share",
            number(story.before.at_risk),
            count(story.records, "record", "records"),
            percent(story.before.at_risk, story.records),
        ),
    );
    for (round, n) in story.rounds.iter().zip(0_u32..) {
        let did = match &round.repaired {
            None => format!("protected with k = {k}, m = {m}"),
            Some(stats) => format!("mended: {} set aside", count(stats.terms_set_aside, "term", "terms")),
        };
        let proved = if round.verdict.holds { "proved" } else { "NOT proved" };
        let likely = round
            .attacks
            .identity
            .map_or(String::new(), |risk| format!(", a row is a person's with {:.3} at most", risk.worst));
        let found = count(round.attacks.certain, "certain statement", "certain statements");
        let label = if n == 0 { String::from("protect") } else { format!("repair {n}") };
        line(&label, format!("{did}; the promise is {proved}; attacks: {found}{likely}"));
    }
    let top = &story.utility.top_k;
    line(
        "utility",
        format!(
            "{} of the most frequent itemsets ({} at most) are still the most frequent; counts of itemsets are off by {} on the median",
            percent((1000.0 * (1.0 - top.tkd_e.all)).round() as u64, 1000),
            number(top.k as u64),
            percent((1000.0 * story.utility.queries.median).round() as u64, 1000),
        ),
    );
    text + &ending(&story.limits, story.holds, out)
}
