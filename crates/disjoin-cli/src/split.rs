//! Split tables, in the verbs that know them: quasi-identifiers in one file, each sensitive column in another.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use disjoin::attack::knowledge_breach::{Breach, BreachReport, knowledge_breach};
use disjoin::attack::network_breach::{self, NetworkBreach, Source};
use disjoin::data::Table;
use disjoin::data::table::Role;
use disjoin::measure::{SplitReport, TableOptions, measure_split};
use disjoin::publish::{Destination, SplitPackage, TableCustody, TableParameters, find_split_release, release_folder};
use disjoin::read::rows::{Declared, RowLog, Streamed, count_rows, count_table};
use disjoin::recipe::table;
use disjoin::release::SplitClaim;
use disjoin::release::generalized::form_of;
use disjoin::release::split::FORM;
use disjoin::report::SplitStory;
use disjoin::run::split::protect_split;
use disjoin::run::stream::{is_streamed, stream_split};
use disjoin::verify::{TableTruth, open_split, verify_split};
use disjoin::{Error, Result};
use serde::Serialize;
use serde_json::json;

use crate::Outcome;
use crate::args::{Input, name_of};
use crate::database;
use crate::run::{before_line, ending, tell_story};
use crate::table::{Original, dependencies_line, note_intake, read, verdict_text};
use crate::talk::{Talk, count, number, percent};

/// By which a release is put together again to learn from it.
const SEED: u64 = 0;

/// How many groups are shown as text; --json has more.
const SHOWN: usize = 10;

/// `disjoin protect` for a table that is to be split.
pub(crate) fn protect(file: &Path, out: &Path, asked: &table::Table, input: &Input, talk: &Talk) -> Result<Outcome> {
    let destination = Destination::check(out)?;
    destination.check_outside(file)?;
    if is_streamed(asked) {
        let count = |rows: RowLog<'_>| count_rows_of(file, &asked.declared, input, rows, talk);
        let made = stream_split(asked, count, &destination, &mut |step| talk.step(step))?;
        return tell_made(&made.claim, &made.custody, out, &destination, talk);
    }
    let (table, intake) = read(file, input, &asked.declared, talk)?;
    let made = protect_split(asked, &table, &mut |step| talk.step(step))?;
    talk.step("writing the package");
    let custody = TableCustody::new(intake, asked.declared.clone(), TableParameters::from(asked), made.seconds);
    let package = SplitPackage { claim: &made.claim, split: &made.split, custody: &custody, pages: &[] };
    package.publish(&destination)?;
    let outcome = tell_made(&made.claim, &custody, out, &destination, talk);
    // The program ends here: giving millions of small pieces back one by one would only take time.
    std::mem::forget(made);
    std::mem::forget(table);
    outcome
}

/// Counts the rows of a file while they are read, or those of a database.
fn count_rows_of(file: &Path, declared: &Declared, input: &Input, rows: RowLog<'_>, talk: &Talk) -> Result<Streamed> {
    if database::is_url(&file.to_string_lossy()) {
        let (table, intake) = read(file, input, declared, talk)?;
        return count_rows(table, intake, rows);
    }
    talk.step(&format!("reading {}", name_of(file)));
    let streamed = count_table(file, &input.options(), declared, rows)?;
    note_intake(&streamed.intake, talk);
    Ok(streamed)
}

/// Tells what was made, and where it is.
fn tell_made(
    claim: &SplitClaim,
    custody: &TableCustody,
    out: &Path,
    destination: &Destination,
    talk: &Talk,
) -> Result<Outcome> {
    let rows = custody.input.rows;
    let removed = rows - claim.records;
    talk.note(&format!(
        "{}: {} in {}, {}; {} removed ({})",
        claim.method,
        count(claim.records, "row", "rows"),
        count(claim.groups, "group", "groups"),
        count(claim.files.len() as u64, "sensitive table", "sensitive tables"),
        count(removed, "row", "rows"),
        percent(removed, rows),
    ));
    talk.note_places(out);
    if talk.is_json() {
        let path = |part| out.join(part).to_string_lossy().into_owned();
        talk.print_json(&json!({
            "release": path("release"),
            "custody": path("custody"),
            "replaced": destination.replaces(),
            "input": custody.input,
            "parameters": custody.parameters,
            "promised": claim.promised,
            "records": claim.records,
            "groups": claim.groups,
            "files": claim.files,
            "removed": removed,
            "seconds": custody.seconds,
        }))?;
    }
    Ok(Outcome::Holds)
}

/// The release folder, if a package is that of a split table.
pub(crate) fn release_of(path: &Path) -> Result<Option<PathBuf>> {
    let folder = release_folder(path)?;
    match form_of(&folder.join("claim.json"))? == FORM {
        true => find_split_release(path).map(Some),
        false => Ok(None),
    }
}

/// `disjoin verify` for a split table.
pub(crate) fn verify(
    folder: &Path,
    original: Option<&Path>,
    custody: Option<&Path>,
    input: &Input,
    talk: &Talk,
) -> Result<Outcome> {
    let original = match original {
        Some(file) => Some(Original::read(folder, file, custody, input, talk)?),
        None => None,
    };
    talk.step("checking every group");
    let (claim, tables) = open_split(folder)?;
    let truth =
        original.as_ref().map(|original| TableTruth { table: &original.table, class_of: &original.kept.class_of });
    let verdict = verify_split(&claim, &tables, truth);
    if talk.is_json() {
        talk.print_json(&verdict)?;
    } else {
        talk.print(&verdict_text(&verdict, None, &claim.promised, verdict.holds))?;
    }
    Ok(if verdict.holds { Outcome::Holds } else { Outcome::Broken })
}

/// `disjoin attack` for a split table.
pub(crate) fn attack(
    folder: &Path,
    most_likely: Option<f64>,
    most_certain: u64,
    outside: Option<&Path>,
    input: &Input,
    talk: &Talk,
) -> Result<Outcome> {
    /// What is printed as JSON.
    #[derive(Serialize)]
    struct Report<'a> {
        #[serde(flatten)]
        breach: &'a BreachReport,
        network: &'a NetworkBreach,
    }
    if most_likely.is_some_and(|limit| !(limit > 0.0 && limit <= 1.0)) {
        return Err(Error::recipe("--most-likely", "must be above 0 and at most 1", "for example 0.4"));
    }
    let (claim, tables) = open_split(folder)?;
    talk.step("guessing sensitive values");
    let limit = most_likely.or(claim.breach_limit());
    let mut report = knowledge_breach(&tables, limit)?;
    let law = match outside {
        Some(file) => {
            let other = read_outside(file, &claim, input, talk)?;
            network_breach::outside(&tables, &other, &name_of(file))?
        }
        None => network_breach::of_release(&tables, SEED)?,
    };
    let network = network_breach::network_breach(&tables, &law, limit)?;
    // What somebody made of the release alone is a guess; what is known of other people is at hand.
    let above = if outside.is_some() { network.above } else { 0 };
    report.holds = report.certain <= most_certain && report.above == 0 && above == 0;
    if talk.is_json() {
        talk.print_json(&Report { breach: &report, network: &network })?;
    } else {
        talk.print(&breach_text(&report, &network, above, &claim))?;
    }
    Ok(if report.holds { Outcome::Holds } else { Outcome::Broken })
}

/// Other people: their sensitive columns, and nothing else of them.
fn read_outside(file: &Path, claim: &SplitClaim, input: &Input, talk: &Talk) -> Result<Table> {
    let columns = claim.columns.iter().filter(|column| column.role == Role::Sensitive);
    let declared = Declared {
        roles: columns.clone().map(|column| (column.name.clone(), Role::Sensitive)).collect(),
        rest: Some(Role::Identifier),
        numeric: columns.filter(|column| column.numeric).map(|column| column.name.clone()).collect(),
        ..Declared::default()
    };
    Ok(read(file, input, &declared, talk)?.0)
}

fn breach_text(report: &BreachReport, network: &NetworkBreach, above_network: u64, claim: &SplitClaim) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "{} in {}, {}\n",
        count(report.people, "person", "people"),
        count(report.groups, "group", "groups"),
        count(claim.files.len() as u64, "sensitive table", "sensitive tables"),
    );
    let _ = writeln!(text, "  {:<44}{:>10}{:>10}", "how likely are sensitive values guessed?", "worst", "mean");
    let mut line = |known: &str, breach: &Breach| {
        let _ = writeln!(text, "  {known:<44}{:>10.4}{:>10.4}", breach.worst, breach.mean);
    };
    line("all, if the group is known", &report.group_known);
    if let Some(breach) = &report.value_known {
        line("all others, if one of them is known, too", breach);
    }
    for column in &report.columns {
        line(&format!("{}, if the group is known", column.column), &column.alone);
    }
    let source = match network.source {
        Source::Release => "the release",
        Source::Outside => "other people",
    };
    let rows = number(network.rows);
    let _ = writeln!(text, "\n  by somebody who learned how values go together from {rows} rows of {source}");
    let mut line = |known: &str, breach: &Breach| {
        let _ = writeln!(text, "  {known:<44}{:>10.4}{:>10.4}", breach.worst, breach.mean);
    };
    line("all, if the group is known", &network.group_known);
    if let Some(breach) = &network.value_known {
        line("all others, if one of them is known, too", breach);
    }
    let worst = report.worst_groups.iter().filter(|group| {
        let likely = group.value_known.map_or(group.group_known.worst, |breach| breach.worst);
        !group.certain.is_empty() || report.limit.is_some_and(|limit| likely > limit)
    });
    for (i, group) in worst.take(SHOWN).enumerate() {
        if i == 0 {
            let _ = writeln!(text, "\n  {:<14}{:>8}{:>10}  certain", "worst groups", "people", "worst");
        }
        let likely = group.value_known.map_or(group.group_known.worst, |breach| breach.worst);
        let name = format!("group {}", group.group);
        let _ = writeln!(text, "  {name:<14}{:>8}{likely:>10.4}  {}", group.size, group.certain.join(", "));
    }
    let above = count(report.above, "group is", "groups are");
    let _ = match (report.holds, report.limit) {
        (true, _) if report.certain > 0 => writeln!(
            text,
            "\n{} certain, no more than is put up with.",
            count(report.certain, "value of a person is", "values of people are")
        ),
        (true, Some(limit)) => writeln!(text, "\nNothing is certain, and no group is above {limit}."),
        (true, None) => writeln!(text, "\nNothing is certain."),
        (false, limit) => {
            let mut found = Vec::new();
            if report.certain > 0 {
                let values = count(report.certain, "value of a person is", "values of people are");
                found.push(format!("{values} certain"));
            }
            if let (true, Some(limit)) = (report.above > 0, limit) {
                found.push(format!("{above} above {limit}"));
            }
            if let (true, Some(limit)) = (above_network > 0, limit) {
                let groups = count(above_network, "group is", "groups are");
                found.push(format!("{groups} above {limit} for those who know how values go together"));
            }
            writeln!(text, "\nThe release can be BREACHED: {}.", found.join("; "))
        }
    };
    text
}

/// `disjoin measure` for a split table.
pub(crate) fn measure(
    folder: &Path,
    file: &Path,
    queries: usize,
    seed: u64,
    input: &Input,
    talk: &Talk,
) -> Result<Outcome> {
    let claim = SplitClaim::read(&folder.join("claim.json"))?;
    let original = Original::read(folder, file, None, input, talk)?;
    talk.step("comparing the release with its original");
    let options = TableOptions { k: original.kept.k(), queries, seed, ..TableOptions::default() };
    let report = measure_split(&original.table, &original.partition(), claim.exact, &options);
    if talk.is_json() {
        talk.print_json(&report)?;
    } else {
        talk.print(&measured_text(&report))?;
    }
    Ok(Outcome::Holds)
}

fn measured_text(report: &SplitReport) -> String {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{} of {} in {}, {} removed\n",
        number(report.published),
        count(report.rows, "row", "rows"),
        count(report.groups, "group", "groups"),
        number(report.removed)
    );
    let joint = &report.joint;
    let _ =
        writeln!(text, "  joint  {:>8.4}   how far sensitive values together are from what their tables", joint.mean);
    let _ = writeln!(text, "                    suggest (total variation), on average over rows");
    let worst = joint.worst_group.map_or(String::from("-"), |group| format!("group {group}"));
    let _ = writeln!(text, "         {:>8.4}   the same in the worst group: {worst}", joint.worst);
    let exact = percent((1000.0 * joint.exact_rows).round() as u64, 1000);
    let _ = writeln!(text, "         {exact:>8}   of rows are in groups where nothing is lost");
    match &report.quasi {
        None => {
            let _ = writeln!(text, "\nQuasi-identifiers stand as they were: nothing of them is lost.");
        }
        Some(quasi) => {
            let optional = |value: Option<f64>| value.map_or_else(|| String::from("-"), |value| format!("{value:.4}"));
            let _ = writeln!(text, "  GCP    {:>8}   the mean loss of a published cell", optional(quasi.gcp));
            let _ = writeln!(text, "         {:>8.4}   the same, removed rows counting as lost", quasi.gcp_all);
            for column in &quasi.columns {
                let _ = writeln!(text, "  {:<24}{:.4}", column.column, column.ncp);
            }
        }
    }
    text
}

/// Prints the story of a run with a split table.
pub(crate) fn tell(story: &SplitStory, out: &Path, talk: &Talk) -> Result<Outcome> {
    tell_story(story.holds, json!(story), || story_text(story, out), out, talk)
}

fn story_text(story: &SplitStory, out: &Path) -> String {
    let mut text = String::new();
    let mut line = |label: &str, told: String| {
        let _ = writeln!(text, "{label:<11}{told}");
    };
    line("before", before_line(story.at_risk, story.rows, story.recipe.protect.k));
    line(
        "protect",
        format!(
            "{}: {}, the smallest of {}; {} removed; the promise is {}",
            story.claim.method,
            count(story.verdict.classes, "group", "groups"),
            count(story.verdict.smallest_class, "row", "rows"),
            count(story.utility.removed, "row", "rows"),
            if story.verdict.holds { "proved" } else { "NOT proved" }
        ),
    );
    let breach = story.breach.value_known.unwrap_or(story.breach.group_known);
    line(
        "attack",
        format!(
            "all sensitive values of a person are guessed with {:.4} at most, {:.4} on average; {} certain",
            breach.worst,
            breach.mean,
            count(story.breach.certain, "value is", "values are")
        ),
    );
    line("", dependencies_line(&story.dependencies));
    line(
        "utility",
        format!("sensitive values together are {:.4} from what their tables suggest", story.utility.joint.mean),
    );
    text + &ending(&story.limits, story.holds, out)
}
