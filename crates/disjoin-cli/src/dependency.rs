//! Dependencies that survive, in `disjoin attack` on tables: the networks, the rules, and what follows for a person.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use disjoin::attack::dependency::{Options, Structure};
use disjoin::attack::surviving::{
    BeliefTold, DependencyTold, NetworkTold, Of, Published, RuleTold, Surviving, Valued, beliefs_about, surviving,
};
use disjoin::publish::write_file;
use disjoin::reconstruct::deal;
use disjoin::report::{dependencies_html, network_picture};
use disjoin::verify::{open_split, open_table};
use disjoin::{Error, Result};
use serde::Serialize;

use crate::Outcome;
use crate::talk::{Talk, count, number};

/// How many rules, dependencies and values are shown as text; --json has all.
const SHOWN: usize = 10;

/// How dependencies are looked for.
#[derive(clap::Args)]
#[command(next_help_heading = "Dependencies (tables and split tables)")]
pub(crate) struct Flags {
    /// Look for rules between columns that tell sensitive values: from the release alone
    #[arg(long)]
    dependencies: bool,
    /// Who has a sensitive value with a probability above it is at risk [default: 0.5]
    #[arg(long, value_name = "P", requires = "dependencies")]
    alpha: Option<f64>,
    /// How likely it may be that anything is reported where there is nothing [default: 0.05]
    #[arg(long, value_name = "P", requires = "dependencies")]
    level: Option<f64>,
    /// Leave out rules from fewer rows [default: 2]
    #[arg(long, value_name = "N", requires = "dependencies")]
    min_support: Option<u32>,
    /// How networks are learned [default: hill-climbing]
    #[arg(long, value_name = "WAY", value_enum, requires = "dependencies")]
    structure: Option<StructureChoice>,
    /// Columns that may make two others independent, for --structure ics [default: 2, as in Weka; the paper's figures need 0]
    #[arg(long, value_name = "N", requires = "structure")]
    max_cardinality: Option<usize>,
    /// The most columns that lead to one in a network [default: 3]
    #[arg(long, value_name = "N", requires = "dependencies")]
    max_parents: Option<usize>,
    /// Report what all rows suggest, chance or not, instead of what one half suggests and the other confirms
    #[arg(long, requires = "dependencies")]
    unconfirmed: bool,
    /// A person: published values, as age=30-50,sex=F; may be repeated
    #[arg(long, value_name = "COLUMN=VALUE,...", requires = "dependencies")]
    target: Vec<String>,
    /// What else is known of that person, in the same form
    #[arg(long, value_name = "COLUMN=VALUE,...", requires = "target")]
    known: Vec<String>,
    /// Draw the network of all columns: an SVG file, over an older one
    #[arg(long, value_name = "FILE", requires = "dependencies")]
    network_svg: Option<PathBuf>,
}

/// A way to learn networks, as the user writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum StructureChoice {
    /// By hill climbing
    HillClimbing,
    /// By conditional independences, as the paper and Weka do
    Ics,
}

impl Flags {
    /// Whether dependencies are to be looked for.
    pub(crate) fn is_given(&self) -> bool {
        self.dependencies
    }

    fn options(&self) -> Result<Options> {
        let defaults = Options::default();
        let structure = match (self.structure, self.max_cardinality) {
            (Some(StructureChoice::Ics), n) => Structure::Ics { max_cardinality: n.unwrap_or(2) },
            (_, None) => Structure::HillClimbing,
            (_, Some(_)) => {
                return Err(Error::recipe("--max-cardinality", "is for --structure ics", "leave it out"));
            }
        };
        let options = Options {
            alpha: self.alpha.unwrap_or(defaults.alpha),
            level: self.level.unwrap_or(defaults.level),
            min_support: self.min_support.unwrap_or(defaults.min_support),
            max_parents: self.max_parents.unwrap_or(defaults.max_parents),
            confirm: !self.unconfirmed,
            structure,
            ..defaults
        };
        for (key, share) in [("--alpha", options.alpha), ("--level", options.level)] {
            if !(0.0..=1.0).contains(&share) {
                return Err(Error::recipe(key, "must be from 0 to 1", "for example 0.5"));
            }
        }
        Ok(options)
    }
}

/// What is printed as JSON.
#[derive(Serialize)]
struct Report<'a> {
    #[serde(flatten)]
    found: &'a Surviving,
    #[serde(skip_serializing_if = "Option::is_none")]
    person: Option<&'a Person>,
}

/// A person of whom something is known, and what follows.
#[derive(Serialize)]
struct Person {
    target: Vec<Valued>,
    known: Vec<Valued>,
    beliefs: Vec<BeliefTold>,
}

/// `disjoin attack --dependencies`; `custody` is where to keep what was found.
pub(crate) fn attack(
    folder: &Path,
    is_split: bool,
    flags: &Flags,
    limit: u64,
    custody: Option<&Path>,
    talk: &Talk,
) -> Result<Outcome> {
    let options = flags.options()?;
    talk.step("reading the release");
    let (table, made_by) = match is_split {
        true => {
            let (claim, tables) = open_split(folder)?;
            (deal(&tables, options.seed)?, claim.made_by)
        }
        false => {
            let (claim, table) = open_table(folder)?;
            (table, claim.made_by)
        }
    };
    let published = Published::new(&table, !is_split).map_err(|error| match error {
        Error::Recipe { problem, hint, .. } => Error::Recipe { key: "--dependencies", problem, hint },
        other => other,
    })?;
    // What the user wrote is looked at before the work begins.
    let target = values_of("--target", &flags.target, &published)?;
    let known = values_of("--known", &flags.known, &published)?;
    if let Some(&(column, _)) = known.iter().find(|(column, _)| target.iter().any(|(other, _)| other == column)) {
        let problem = format!("tells {} again, which --target has", published.names[column]);
        return Err(Error::recipe("--known", problem, "name each column once"));
    }
    talk.step("learning how columns go together");
    let found = surviving(&published, &options, Some(limit))?;
    let person = match target.is_empty() {
        true => None,
        false => {
            talk.step("drawing conclusions about the person");
            let beliefs = beliefs_about(&published, &found, &target, &known)?;
            let named = |pairs: &[(usize, u32)]| pairs.iter().map(|pair| valued(&published, *pair)).collect();
            Some(Person { target: named(&target), known: named(&known), beliefs })
        }
    };
    if let Some(file) = &flags.network_svg
        && let Some(network) = found.networks.iter().find(|network| network.of == Of::Both)
    {
        write(file, &network_picture(network))?;
        talk.note(&format!("wrote {}", file.display()));
    }
    if let Some(custody) = custody {
        let file = custody.join("dependencies.html");
        write(&file, &dependencies_html(&found, &made_by))?;
        talk.note(&format!("wrote {}", file.display()));
    }
    if talk.is_json() {
        talk.print_json(&Report { found: &found, person: person.as_ref() })?;
    } else {
        talk.print(&text(&found, person.as_ref()))?;
    }
    Ok(if found.holds { Outcome::Holds } else { Outcome::Broken })
}

fn write(file: &Path, text: &str) -> Result<()> {
    write_file(file, true, |out| {
        std::io::Write::write_all(out, text.as_bytes()).map_err(|e| Error::io(file, "write", e))
    })
}

fn valued(published: &Published, (column, code): (usize, u32)) -> Valued {
    Valued { column: published.names[column].clone(), value: published.texts[column][code as usize].clone() }
}

/// Columns and codes from what the user wrote.
fn values_of(key: &'static str, written: &[String], published: &Published) -> Result<Vec<(usize, u32)>> {
    let mut values: Vec<(usize, u32)> = Vec::new();
    for (name, text) in written.iter().flat_map(|text| pairs(text)) {
        let Some(text) = text else {
            return Err(Error::recipe(
                key,
                "expected COLUMN=VALUE, with commas between",
                "for example age=30-50,sex=F",
            ));
        };
        let Some(column) = published.names.iter().position(|other| *other == name) else {
            let hint = match nearest(&name, &published.names) {
                Some(meant) => format!("did you mean {meant}? The release has {}", published.names.join(", ")),
                None => format!("the release has {}", published.names.join(", ")),
            };
            return Err(Error::recipe(key, format!("there is no column {name} in the release"), hint));
        };
        if values.iter().any(|(other, _)| *other == column) {
            return Err(Error::recipe(key, format!("tells {name} twice"), "name each column once"));
        }
        let texts = &published.texts[column][..published.data.size(column) as usize];
        let Some(code) = texts.iter().position(|other| *other == text) else {
            let hint = match nearest(&text, texts) {
                Some(meant) => format!("did you mean {meant}? Values are written as the release shows them"),
                None => match texts.len() {
                    0..=12 => format!("the release has {}", texts.join(", ")),
                    n => format!("the release has {n} values of it, and none is like that"),
                },
            };
            return Err(Error::recipe(key, format!("{name} has no such value in the release"), hint));
        };
        values.push((column, code as u32));
    }
    Ok(values)
}

/// `a=1,b=2` in pairs. A piece without `=` belongs to the value before: values may have commas.
fn pairs(text: &str) -> Vec<(String, Option<String>)> {
    let mut pairs: Vec<(String, Option<String>)> = Vec::new();
    for piece in text.split(',') {
        match (piece.split_once('='), pairs.last_mut()) {
            (Some((name, value)), _) => pairs.push((name.trim().to_owned(), Some(value.trim().to_owned()))),
            (None, Some((_, Some(value)))) => {
                value.push(',');
                value.push_str(piece.trim_end());
            }
            (None, _) => pairs.push((piece.trim().to_owned(), None)),
        }
    }
    pairs
}

/// What was meant, if something is like it.
fn nearest<'t>(text: &str, known: &'t [String]) -> Option<&'t str> {
    let far = |other: &&String| strsim::damerau_levenshtein(&text.to_lowercase(), &other.to_lowercase());
    known.iter().min_by_key(far).filter(|other| far(other) <= 1 + text.chars().count() / 3).map(String::as_str)
}

fn text(found: &Surviving, person: Option<&Person>) -> String {
    let mut text = String::new();
    let columns = found.networks.iter().map(|network| network.columns.len()).max().unwrap_or(0);
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "{} of {}{}",
        count(found.rows, "row", "rows"),
        count(columns as u64, "column", "columns"),
        if found.are_rows { "" } else { ", put together from the tables by chance" }
    );
    for network in &found.networks {
        add_network(&mut text, network);
    }
    if let Some(person) = person {
        add_person(&mut text, person);
    }
    let rules = count(found.risks, "rule tells", "rules tell");
    let told = format!("{rules} sensitive values of {}", count(found.people, "person", "people"));
    let _ = match (found.holds, found.risks) {
        (true, 0) => {
            writeln!(text, "\nNo rule that is more than chance tells a sensitive value with more than {}.", found.alpha)
        }
        (true, _) => writeln!(text, "\n{told}, no more than is put up with."),
        (false, _) => writeln!(text, "\nThe release can be BREACHED: {told} with more than {}.", found.alpha),
    };
    text
}

fn add_network(text: &mut String, network: &NetworkTold) {
    let _ = writeln!(text, "\n{}: {}", network.of.words(), count(network.arrows.len() as u64, "arrow", "arrows"));
    if !network.sensible.is_empty() {
        let _ = writeln!(
            text,
            "  {:<44}{:>8}{:>9}{:>8}  {:<10}{:>9}  beyond chance",
            "rules of Algorithm 1", "highest", "rows", "lift", "risk", "people"
        );
    }
    for rule in network.sensible.iter().take(SHOWN) {
        add_rule(text, rule);
    }
    add_hidden(text, network.sensible.len(), "rule", "rules");
    let literal = &network.literal;
    if !network.sensible.is_empty() || !literal.is_empty() {
        let _ = writeln!(text, "  as printed, Algorithm 1 has {}", count(literal.len() as u64, "rule", "rules"));
    }
    if !network.dependencies.is_empty() {
        let _ = writeln!(
            text,
            "  {:<44}{:>8}{:>9}{:>8}  {:<10}{:>9}",
            "who has these has", "share", "of all", "lift", "risk", "people"
        );
    }
    for found in network.dependencies.iter().take(SHOWN) {
        add_dependency(text, found);
    }
    add_hidden(text, network.dependencies.len(), "dependency", "dependencies");
}

fn add_hidden(text: &mut String, all: usize, one: &str, many: &str) {
    if all > SHOWN {
        let _ = writeln!(text, "  ... and {} besides; --json has all", count((all - SHOWN) as u64, one, many));
    }
}

/// A name in a column of text; longer ones get a line of their own.
fn add_name(text: &mut String, name: &str) {
    let _ = match name.chars().count() <= 43 {
        true => write!(text, "  {name:<44}"),
        false => write!(text, "  {name}\n  {:<44}", ""),
    };
}

fn add_rule(text: &mut String, rule: &RuleTold) {
    add_name(text, &format!("{} -> {}", rule.given.join(", "), rule.column));
    let _ = writeln!(
        text,
        "{:>8.4}{:>9}{:>8.2}  {:<10}{:>9}  {}",
        rule.highest,
        number(rule.support),
        rule.lift,
        rule.risk.to_string(),
        number(rule.people),
        if rule.confirmed { "yes" } else { "no" }
    );
}

fn add_dependency(text: &mut String, found: &DependencyTold) {
    let named = |valued: &Valued| format!("{}={}", valued.column, valued.value);
    let given: Vec<String> = found.given.iter().map(named).collect();
    add_name(text, &format!("{} -> {}", given.join(", "), named(&found.told)));
    let risk = if found.is_risk { found.risk.to_string() } else { String::from("-") };
    let _ = writeln!(
        text,
        "{:>8.4}{:>9.4}{:>8.2}  {risk:<10}{:>9}",
        found.confidence,
        found.baseline,
        found.lift,
        number(found.people)
    );
}

fn add_person(text: &mut String, person: &Person) {
    let named = |valued: &Valued| format!("{} = {}", valued.column, valued.value);
    let list = |all: &[Valued]| all.iter().map(named).collect::<Vec<_>>().join(", ");
    let _ = write!(text, "\nA person with {}", list(&person.target));
    if !person.known.is_empty() {
        let _ = write!(text, ", of whom {} is known", list(&person.known));
    }
    let rows = person.beliefs.first().map_or(0, |belief| belief.rows);
    let _ = writeln!(text, ": {} fit", count(u64::from(rows), "row", "rows"));
    for belief in &person.beliefs {
        let _ = writeln!(
            text,
            "  {:<30}{:>11}{:>13}{:>13}{:>10}",
            belief.column, "everybody", "these rows", "with known", "counted"
        );
        for value in belief.values.iter().take(SHOWN) {
            let optional = |share: Option<f64>| share.map_or_else(|| String::from("-"), |share| format!("{share:.4}"));
            let _ = writeln!(
                text,
                "    {:<28}{:>11.4}{:>13.4}{:>13}{:>10}",
                value.value,
                value.baseline,
                value.before,
                optional(value.after),
                optional(value.counted)
            );
        }
        add_hidden(text, belief.values.len(), "value", "values");
    }
}
