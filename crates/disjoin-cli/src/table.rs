//! Tables of people, in the verbs that know them: the flags of `protect`, and what the other verbs do with a table's release.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use disjoin::attack::Surviving;
use disjoin::data::{Partition, Table};
use disjoin::knowledge::background::{Estimator, Knowledge};
use disjoin::measure::{TableOptions, TableReport, measure_table};
use disjoin::protect::tabular::Method;
use disjoin::publish::{
    Destination, KeptTable, TableCustody, TablePackage, TableParameters, find_table_release, release_folder,
};
use disjoin::read::rows::{Declared, TableIntake, read_table, table_from_cells};
use disjoin::recipe::table::Splitting;
use disjoin::recipe::{self, noise, recoding, table};
use disjoin::release::generalized::Associations;
use disjoin::release::generalized::{FORM, form_of};
use disjoin::release::privacy_models::Distance;
use disjoin::report::{TableStory, Tried};
use disjoin::run::table::{attack_table, protect_table};
use disjoin::verify::{SetsVerdict, TableTruth, TableVerdict, open_table, published_sets, verify_sets, verify_table};
use disjoin::{Error, Place, Result};
use serde::Serialize;
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::Outcome;
use crate::args::{Input, name_of};
use crate::database;
use crate::run::{before_line, ending, tell_story};
use crate::talk::{Talk, count, number, percent};

/// What each column of a table is for, and what its classes must be like.
#[derive(clap::Args)]
#[command(next_help_heading = "Tables (rows of people; needs --quasi)")]
pub(crate) struct Flags {
    /// Columns that others may know, and with which people can be found: they are generalised
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    quasi: Vec<String>,
    /// Columns that name people: never published
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "quasi")]
    identifier: Vec<String>,
    /// Columns that neither help to find people nor are worth hiding: published as they are
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "quasi")]
    other: Vec<String>,
    /// A column with a list of terms of each person: published in chunks, inside the classes
    #[arg(long, value_name = "COLUMN", requires = "quasi")]
    set: Option<String>,
    /// Columns of numbers
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "quasi")]
    numeric: Vec<String>,
    /// A text that means that there is no value, besides empty cells; may be repeated
    #[arg(long, value_name = "TEXT", requires = "quasi")]
    missing: Vec<String>,
    /// What generalises what in a column: an ARX CSV file or an Amnesia text file; may be repeated. Of terms (apriori, lra, vpa): a
    /// file alone
    #[arg(long, value_name = "[COLUMN=]FILE")]
    hierarchy: Vec<String>,
    /// No sensitive value has a share above this in a class
    #[arg(long, value_name = "SHARE", requires = "quasi")]
    alpha: Option<f64>,
    /// Sensitive values of a class as uncertain as so many equally likely ones
    #[arg(long, value_name = "L", requires = "quasi")]
    entropy_l: Option<f64>,
    /// Recursive (c,l)-diversity
    #[arg(long, value_name = "C,L", requires = "quasi", value_parser = recursive)]
    recursive_l: Option<(f64, u32)>,
    /// t-closeness: how far the sensitive values of a class may be from those of all rows
    #[arg(long, value_name = "T", requires = "quasi")]
    t_closeness: Option<f64>,
    /// How far apart two sensitive values are, for t-closeness
    #[arg(long, value_enum, requires = "t_closeness")]
    distance: Option<DistanceChoice>,
    /// beta-likeness: by how much more frequent, relatively, a sensitive value may be in a class than in all rows
    #[arg(long, value_name = "BETA", requires = "quasi")]
    beta: Option<f64>,
    /// beta-likeness in its basic form: frequent values are not bounded more tightly
    #[arg(long, requires = "beta")]
    basic: bool,
    /// How far beliefs about two rows of a class may be apart, in bits, for somebody with background knowledge
    #[arg(long, value_name = "T", requires = "quasi")]
    background: Option<f64>,
    /// With --method break-merge or anatomy: how likely all sensitive values of a person may be guessed, also if one is known
    #[arg(long, value_name = "P", requires = "quasi")]
    knowledge_breach: Option<f64>,
    /// With --method break-merge or association-hiding: the method that makes the groups [default: least-loss]
    #[arg(long, value_name = "METHOD", requires = "quasi", value_parser = class_method_parser())]
    groups_by: Option<Method>,
    /// With --method break-merge: the table is anonymous already, rows with the same quasi-identifiers are the groups
    #[arg(long, requires = "quasi", conflicts_with = "groups_by")]
    as_is: bool,
    /// With --method association-hiding: from which share on quasi-identifiers tell a sensitive value too surely [default: 0.5]
    #[arg(long, value_name = "SHARE", requires = "quasi")]
    confidence: Option<f64>,
    /// With --method association-hiding: in how many rows a rule must be seen to count [default: 2]
    #[arg(long, value_name = "N", requires = "quasi")]
    support: Option<u32>,
    #[command(flatten)]
    knowledge: KnowledgeFlags,
    /// The greatest share of rows that may be removed because they fit into no class [default: 0.05]
    #[arg(long, value_name = "SHARE", requires = "quasi")]
    most_removed: Option<f64>,
    /// The seed of methods that draw; of noise with --demonstration only
    #[arg(long, value_name = "SEED")]
    pub(crate) seed: Option<u64>,
}

/// What an adversary knows of how sensitive values go with quasi-identifiers.
#[derive(clap::Args)]
pub(crate) struct KnowledgeFlags {
    /// What an adversary knows of how sensitive values go with quasi-identifiers: kernel, naive-bayes, or a file of shares
    #[arg(long, value_name = "kernel|naive-bayes|FILE", help_heading = "Tables (rows of people; needs --quasi)")]
    knowledge: Option<String>,
    /// For the kernel: how near rows must be to tell of each other; small is a strong adversary [default: 0.3]
    #[arg(long, value_name = "SHARE", help_heading = "Tables (rows of people; needs --quasi)")]
    bandwidth: Option<f64>,
}

impl KnowledgeFlags {
    /// Whether one was given.
    pub(crate) fn is_given(&self) -> bool {
        self.knowledge.is_some() || self.bandwidth.is_some()
    }

    fn knowledge(&self) -> Knowledge {
        let defaults = Knowledge::default();
        Knowledge {
            estimator: match self.knowledge.as_deref() {
                None | Some("kernel") => Estimator::Kernel,
                Some("naive-bayes") => Estimator::NaiveBayes,
                Some(file) => Estimator::File(PathBuf::from(file)),
            },
            bandwidth: self.bandwidth.unwrap_or(defaults.bandwidth),
            ..defaults
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DistanceChoice {
    /// By rank, as numbers have one
    Ordered,
    /// All values are equally far apart
    Equal,
    /// By the hierarchy of the sensitive column
    Hierarchical,
}

/// A method, as the user writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MethodChoice {
    Disassociation,
    Table(Method),
    Split(Splitting),
    AssociationHiding,
    Recoding(recoding::Method),
    Noise(noise::Method),
}

/// Its name on the command line.
const ASSOCIATION_HIDING: &str = "association-hiding";

/// The methods that publish quasi-identifiers and sensitive columns apart.
const SPLITTING: [Splitting; 2] = [Splitting::BreakMerge, Splitting::Anatomy];

/// The names of all methods.
pub(crate) fn method_parser() -> impl TypedValueParser<Value = MethodChoice> {
    let split = SPLITTING.iter().map(|split| split.name());
    let names = std::iter::once("disassociation")
        .chain(Method::ALL.iter().map(|(name, _)| *name))
        .chain(split)
        .chain([ASSOCIATION_HIDING])
        .chain(recoding::Method::ALL.iter().map(|(name, _)| *name))
        .chain(noise::Method::ALL.iter().map(|(name, _)| *name));
    PossibleValuesParser::new(names).map(|name| {
        let split = SPLITTING.into_iter().find(|split| split.name() == name).map(MethodChoice::Split);
        let known = Method::ALL.iter().find(|(known, _)| *known == name);
        let hiding = (name == ASSOCIATION_HIDING).then_some(MethodChoice::AssociationHiding);
        let recodes = recoding::Method::ALL.iter().find(|(known, _)| *known == name);
        let noise = noise::Method::ALL.iter().find(|(known, _)| *known == name);
        split
            .or(hiding)
            .or(recodes.map(|(_, method)| MethodChoice::Recoding(*method)))
            .or(noise.map(|(_, method)| MethodChoice::Noise(*method)))
            .or(known.map(|(_, method)| MethodChoice::Table(*method)))
            .unwrap_or(MethodChoice::Disassociation)
    })
}

/// The names of the methods that make classes.
fn class_method_parser() -> impl TypedValueParser<Value = Method> {
    PossibleValuesParser::new(Method::ALL.iter().map(|(name, _)| *name)).map(|name| {
        let known = Method::ALL.iter().find(|(known, _)| *known == name);
        known.map_or_else(Method::default, |(_, method)| *method)
    })
}

fn hierarchy(text: &str) -> Result<(String, String)> {
    let parts = text.split_once('=').filter(|(column, file)| !column.is_empty() && !file.is_empty());
    parts
        .map(|(column, file)| (column.to_owned(), file.to_owned()))
        .ok_or_else(|| Error::recipe("--hierarchy", "does not say which column it is for", "write COLUMN=FILE"))
}

fn recursive(text: &str) -> std::result::Result<(f64, u32), String> {
    let parts = text.split_once(',').and_then(|(c, l)| Some((c.trim().parse().ok()?, l.trim().parse().ok()?)));
    parts.ok_or_else(|| String::from("expected two numbers, as 3,3"))
}

impl Flags {
    /// Whether the input is to be read as a table.
    pub(crate) fn is_table(&self) -> bool {
        !self.quasi.is_empty()
    }

    /// Whether a column of it is sets of terms.
    pub(crate) fn has_sets(&self) -> bool {
        self.set.is_some()
    }

    /// The hierarchy of terms: a file, and nothing said about columns.
    pub(crate) fn hierarchy_of_terms(&self) -> Result<Option<PathBuf>> {
        match &self.hierarchy[..] {
            [] => Ok(None),
            [file] => Ok(Some(PathBuf::from(file))),
            _ => Err(Error::recipe("--hierarchy", "terms have one hierarchy", "name one file")),
        }
    }

    /// Which rules are to be hidden, if the method does that.
    fn hide(&self, method: Option<MethodChoice>) -> Result<Option<Associations>> {
        match (method, self.confidence.is_some() || self.support.is_some()) {
            (Some(MethodChoice::AssociationHiding), _) => Ok(Some(Associations {
                confidence: self.confidence.unwrap_or(0.5),
                support: self.support.unwrap_or(2),
            })),
            (_, false) => Ok(None),
            (_, true) => {
                let key = if self.confidence.is_some() { "--confidence" } else { "--support" };
                Err(Error::recipe(key, "is for --method association-hiding", "leave it out, or choose that method"))
            }
        }
    }

    /// The same structure that a recipe fills: the same defaults, the same meaning.
    pub(crate) fn resolve(
        &self,
        protect: &recipe::Protect,
        choice: Option<MethodChoice>,
        sensitive: Option<&str>,
        list_separator: Option<u8>,
    ) -> Result<table::Table> {
        let (method, split) = match choice {
            Some(MethodChoice::Table(method)) => (Some(method), None),
            // What splits a table or hides rules takes its classes from another method.
            Some(MethodChoice::Split(split)) => (self.groups_by, Some(split)),
            Some(MethodChoice::AssociationHiding) => (self.groups_by, None),
            Some(MethodChoice::Disassociation | MethodChoice::Recoding(_) | MethodChoice::Noise(_)) | None => {
                (None, None)
            }
        };
        if self.groups_by.is_some() && !matches!(choice, Some(MethodChoice::Split(_) | MethodChoice::AssociationHiding))
        {
            let problem = "is for --method break-merge or association-hiding";
            return Err(Error::recipe("--groups-by", problem, "name the method with --method"));
        }
        let list = |text: &str| text.split(',').map(|name| name.trim().to_owned()).filter(|n| !n.is_empty()).collect();
        let written = table::Written {
            quasi: self.quasi.clone(),
            sensitive: sensitive.map(list).unwrap_or_default(),
            identifier: self.identifier.clone(),
            other: self.other.clone(),
            set: self.set.clone(),
            numeric: self.numeric.clone(),
            missing: self.missing.clone(),
            hierarchies: self.hierarchy.iter().map(|text| hierarchy(text)).collect::<Result<BTreeMap<_, _>>>()?,
            method,
            split,
            as_is: self.as_is,
            hide: self.hide(choice)?,
            most_removed: self.most_removed,
            seed: self.seed,
            criteria: table::Criteria {
                l: protect.l_diversity,
                entropy_l: self.entropy_l,
                recursive: self.recursive_l,
                alpha: self.alpha,
                t: self.t_closeness,
                distance: self.distance.map(|distance| match distance {
                    DistanceChoice::Ordered => Distance::Ordered,
                    DistanceChoice::Equal => Distance::Equal,
                    DistanceChoice::Hierarchical => Distance::Hierarchical,
                }),
                beta: self.beta,
                enhanced: self.beta.map(|_| !self.basic),
                background: self.background,
                knowledge_breach: self.knowledge_breach,
            },
            knowledge: Some(self.knowledge.knowledge()),
            dependencies: table::Dependencies::default(),
            at_most: table::AtMost::default(),
        };
        table::resolve(&written, protect.k, Path::new(""), list_separator).map_err(as_flag)
    }
}

/// Keys of the recipe become flags.
fn as_flag(error: Error) -> Error {
    let Error::Recipe { key, problem, hint } = error else { return error };
    let key = match key {
        "protect.k" => "-k",
        "table.quasi" => "--quasi",
        "table.sensitive" => "--sensitive",
        "table.most_removed" => "--most-removed",
        "table.criteria.l" => "--l-diversity",
        "table.criteria.entropy_l" => "--entropy-l",
        "table.criteria.recursive" => "--recursive-l",
        "table.criteria.alpha" => "--alpha",
        "table.criteria.t" | "table.criteria.distance" => "--t-closeness",
        "table.criteria.beta" | "table.criteria.enhanced" => "--beta",
        "table.criteria.background" => "--background",
        "table.criteria.knowledge_breach" => "--knowledge-breach",
        "table.other" => "--other",
        "table.set" => "--set",
        "table.as_is" => "--as-is",
        "table.hide" => "--method",
        "table.hide.confidence" => "--confidence",
        "table.hide.support" => "--support",
        "table.method" => "--groups-by",
        other => other,
    };
    Error::Recipe { key, problem, hint }
}

/// Reads a table from a file, or from a database by its URL.
pub(crate) fn read(file: &Path, input: &Input, declared: &Declared, talk: &Talk) -> Result<(Table, TableIntake)> {
    let url = file.to_string_lossy();
    let (table, intake) = match database::is_url(&url) {
        false => {
            talk.step(&format!("reading {}", name_of(file)));
            read_table(file, &input.options(), declared)?
        }
        true => from_database(&url, declared, talk)?,
    };
    note_intake(&intake, talk);
    Ok((table, intake))
}

/// Tells what was read.
pub(crate) fn note_intake(intake: &TableIntake, talk: &Talk) {
    talk.note(&format!(
        "{} of {}",
        count(intake.rows, "row", "rows"),
        count(intake.columns.len() as u64, "column", "columns")
    ));
    if intake.missing > 0 {
        talk.note(&format!("{} without a value", count(intake.missing, "cell", "cells")));
    }
}

fn from_database(url: &str, declared: &Declared, talk: &Talk) -> Result<(Table, TableIntake)> {
    talk.step("reading the database");
    let (header, rows) = database::read(url, None)?;
    // What the digest of a file is for: to know the same rows again.
    let (mut digest, mut bytes) = (Sha256::new(), 0_u64);
    let rows = rows.inspect(|row| {
        for cell in row.iter().flatten() {
            let text = cell.as_deref().unwrap_or("\u{0}");
            digest.update(text.as_bytes());
            digest.update([0xff]);
            bytes += text.len() as u64;
        }
    });
    let shown = database::shown(url);
    let table = table_from_cells(&shown, &header, rows, declared)?;
    let sha256 = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    let missing = 0;
    let rows = table.n_rows() as u64;
    Ok((table, TableIntake { file: shown, format: "database".into(), bytes, sha256, rows, columns: header, missing }))
}

/// `disjoin protect` for a table.
pub(crate) fn protect(
    file: &Path,
    out: &Path,
    asked: &table::Table,
    sets: &recipe::Protect,
    input: &Input,
    talk: &Talk,
) -> Result<Outcome> {
    let destination = Destination::check(out)?;
    destination.check_outside(file)?;
    let (table, intake) = read(file, input, &asked.declared, talk)?;
    let made = protect_table(asked, sets, &table, &mut |step| talk.step(step))?;
    talk.step("writing the package");
    let mut custody = TableCustody::new(intake, asked.declared.clone(), TableParameters::from(asked), made.seconds);
    custody.hidden = made.hidden.as_ref().map(|hidden| hidden.loss.clone());
    let package = TablePackage {
        claim: &made.claim,
        table: made.hidden.as_ref().map_or(&table, |hidden| &hidden.table),
        partition: &made.partition,
        sets: made.sets.as_ref(),
        custody: &custody,
        pages: &[],
    };
    package.publish(&destination)?;
    let (removed, rows) = (made.partition.removed.len() as u64, table.n_rows() as u64);
    talk.note(&format!(
        "{}: {} in {}; {} removed ({})",
        made.claim.method,
        count(made.claim.records, "row", "rows"),
        count(made.partition.len() as u64, "class", "classes"),
        count(removed, "row", "rows"),
        percent(removed, rows),
    ));
    for (column, loss) in custody.hidden.iter().flat_map(|hidden| &hidden.columns) {
        talk.note(&format!("hiding rules cost {column} {loss:.4} of its levels"));
    }
    talk.note_places(out);
    if talk.is_json() {
        let path = |part| out.join(part).to_string_lossy().into_owned();
        talk.print_json(&json!({
            "release": path("release"),
            "custody": path("custody"),
            "replaced": destination.replaces(),
            "input": custody.input,
            "parameters": custody.parameters,
            "promised": made.claim.promised,
            "records": made.claim.records,
            "classes": made.partition.len(),
            "removed": removed,
            "hidden": custody.hidden,
            "seconds": made.seconds,
        }))?;
    }
    std::mem::forget((table, made));
    Ok(Outcome::Holds)
}

/// The release folder, if a package is that of a table.
pub(crate) fn release_of(path: &Path) -> Result<Option<PathBuf>> {
    let folder = release_folder(path)?;
    match form_of(&folder.join("claim.json"))? == FORM {
        true => find_table_release(path).map(Some),
        false => Ok(None),
    }
}

/// The original of a table's release, and which of its rows are in which class.
pub(crate) struct Original {
    pub(crate) table: Table,
    pub(crate) kept: KeptTable,
}

impl Original {
    pub(crate) fn read(folder: &Path, file: &Path, custody: Option<&Path>, input: &Input, talk: &Talk) -> Result<Self> {
        let Some(custody) = crate::verify::custody_of(custody, folder) else {
            let problem = "the custody folder is needed: it says what each column is, and which row went where";
            return Err(Error::recipe("--custody", problem, "name the custody folder that disjoin protect wrote"));
        };
        let kept = KeptTable::read(&custody)?;
        let (table, intake) = read(file, input, &kept.declared, talk)?;
        let problem = match () {
            () if kept.input_sha256 != intake.sha256 => "is not the file that was protected: its digest differs",
            () if kept.class_of.len() != table.n_rows() => "was read in another way: the number of rows differs",
            () => return Ok(Original { table, kept }),
        };
        Err(Error::input(Place::file(name_of(file)), problem).with_hint("give the file that was protected"))
    }

    pub(crate) fn partition(&self) -> Partition {
        self.kept.partition()
    }
}

/// `disjoin verify` for a table's release.
pub(crate) fn verify(
    folder: &Path,
    original: Option<&Path>,
    custody: Option<&Path>,
    input: &Input,
    talk: &Talk,
) -> Result<Outcome> {
    #[derive(Serialize)]
    struct Verdicts {
        holds: bool,
        #[serde(flatten)]
        table: TableVerdict,
        #[serde(skip_serializing_if = "Option::is_none")]
        sets: Option<SetsVerdict>,
    }
    let original = match original {
        Some(file) => Some(Original::read(folder, file, custody, input, talk)?),
        None => None,
    };
    talk.step("checking every class");
    let (claim, table) = open_table(folder)?;
    let truth =
        original.as_ref().map(|original| TableTruth { table: &original.table, class_of: &original.kept.class_of });
    let verdict = verify_table(&claim, &table, truth);
    let told = original
        .as_ref()
        .and_then(|original| original.table.sets.as_ref().map(|sets| published_sets(sets, &original.kept.class_of)));
    let sets = verify_sets(folder, &claim, &table, told.as_ref())?;
    let holds = verdict.holds && sets.as_ref().is_none_or(|sets| sets.holds);
    if talk.is_json() {
        talk.print_json(&Verdicts { holds, table: verdict, sets })?;
    } else {
        talk.print(&verdict_text(&verdict, sets.as_ref(), &claim.promised, holds))?;
    }
    Ok(if holds { Outcome::Holds } else { Outcome::Broken })
}

/// How many findings are shown as text; --json has all.
const SHOWN: usize = 10;

pub(crate) fn verdict_text(verdict: &TableVerdict, sets: Option<&SetsVerdict>, promised: &str, holds: bool) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "{} in {}, the smallest of {}\n",
        count(verdict.records, "row", "rows"),
        count(verdict.classes, "class", "classes"),
        count(verdict.smallest_class, "row", "rows"),
    );
    for line in &verdict.criteria {
        let told = match (line.checkable, line.worst) {
            (false, _) => String::from("cannot be seen in a release"),
            (true, None) => String::from("no class"),
            (true, Some(worst)) => format!(
                "{} ({:.4}, limit {:.4})",
                if line.violated == 0 { "holds" } else { "VIOLATED" },
                worst.value,
                worst.limit
            ),
        };
        let _ = writeln!(text, "  {}: {told}", line.text);
    }
    if let Some(sets) = sets {
        let told = if sets.holds { "hold" } else { "do NOT hold" };
        let _ = writeln!(
            text,
            "  sets: {} in {}; they {told}, inside every class",
            count(sets.clusters.records, "record", "records"),
            count(sets.clusters.clusters, "cluster", "clusters"),
        );
    }
    if !verdict.findings.is_empty() {
        text.push('\n');
    }
    for finding in verdict.findings.iter().take(SHOWN) {
        let line = finding.line.map_or(String::new(), |line| format!("line {line}: "));
        let _ = writeln!(text, "{line}{}", finding.problem);
    }
    let hidden = verdict.violations.saturating_sub(verdict.findings.len().min(SHOWN) as u64);
    if hidden > 0 {
        let _ = writeln!(text, "... and {} more", number(hidden));
    }
    let _ = match holds {
        true => writeln!(text, "\nThe promise holds: {promised}"),
        false => writeln!(text, "\nThe promise does NOT hold."),
    };
    text
}

/// `disjoin attack` for a table's release.
pub(crate) fn attack(
    folder: &Path,
    original: Option<&Path>,
    custody: Option<&Path>,
    knowledge: &KnowledgeFlags,
    input: &Input,
    talk: &Talk,
) -> Result<Outcome> {
    let Some(file) = original else {
        let problem = "is needed: whoever attacks a table knows the quasi-identifiers of the people in it";
        return Err(Error::recipe("--original", problem, "name the file that was protected"));
    };
    let original = Original::read(folder, file, custody, input, talk)?;
    talk.step("attacking with background knowledge");
    let tried = attack_table(&original.table, &original.partition(), &knowledge.knowledge())?;
    if talk.is_json() {
        talk.print_json(&tried)?;
    } else {
        talk.print(&tried_text(&tried))?;
    }
    Ok(if tried.gain.beats { Outcome::Broken } else { Outcome::Holds })
}

fn tried_text(tried: &Tried) -> String {
    let mut text = String::new();
    let loss = &tried.loss;
    let _ = writeln!(text, "Somebody knows everybody's quasi-identifiers, and how {} goes with them.\n", tried.column);
    let _ = writeln!(text, "  beliefs change by (bits)       {:.4} on average, {:.4} at most", loss.mean, loss.max);
    let _ = writeln!(text, "  surest belief                  {:.4}", loss.posterior);
    let _ = writeln!(text, "  surer than {:<20.2}{}", tried.nearly_sure, count(loss.above, "person", "people"));
    for (name, gain) in [("than before", &tried.gain), ("than by class shares", &tried.beyond_class)] {
        let score = &gain.log_score;
        let _ = writeln!(
            text,
            "  truer {name:<25}{:+.4} bits a person ({:+.4} to {:+.4}); right {:.1} %, was {:.1} %",
            score.mean,
            score.low,
            score.high,
            100.0 * gain.right_after,
            100.0 * gain.right_before
        );
    }
    let _ = match tried.gain.beats {
        true => writeln!(text, "\nThe release tells somebody with background knowledge more than they knew."),
        false => writeln!(text, "\nThe release does not make beliefs about people truer than they were."),
    };
    text
}

/// `disjoin measure` for a table's release.
pub(crate) fn measure(
    folder: &Path,
    file: &Path,
    queries: usize,
    seed: u64,
    input: &Input,
    talk: &Talk,
) -> Result<Outcome> {
    let original = Original::read(folder, file, None, input, talk)?;
    talk.step("comparing the release with its original");
    let options = TableOptions { k: original.kept.k(), queries, seed, ..TableOptions::default() };
    let report = measure_table(&original.table, &original.partition(), &options);
    if talk.is_json() {
        talk.print_json(&report)?;
    } else {
        talk.print(&measured_text(&report))?;
    }
    Ok(Outcome::Holds)
}

fn measured_text(report: &TableReport) -> String {
    let mut text = String::new();
    let optional = |value: Option<f64>| value.map_or_else(|| String::from("-"), |value| format!("{value:.4}"));
    let sizes = &report.classes;
    let _ = writeln!(
        text,
        "{} of {} in {}, {} removed",
        number(report.published as u64),
        count(report.rows as u64, "row", "rows"),
        count(sizes.number as u64, "class", "classes"),
        number(report.removed as u64)
    );
    let [quarter, half, most] = sizes.quartiles;
    let _ = writeln!(
        text,
        "classes have {} to {} rows; a quarter up to {quarter}, half up to {half}, three quarters up to {most}\n",
        sizes.least, sizes.most
    );
    let _ = writeln!(text, "  GCP    {:>8}   the mean loss of a published cell", optional(report.gcp));
    let _ = writeln!(text, "         {:>8.4}   the same, removed rows counting as lost", report.gcp_all);
    let _ =
        writeln!(text, "  RGCP   {:>8.4}   removed rows counting as if in the class that suffers least", report.rgcp);
    let _ = writeln!(text, "  RGCP'  {:>8.4}   removed rows counting as that class does", report.rgcp_own);
    let _ =
        writeln!(text, "  C_avg  {:>8}   the mean size of a class, in multiples of k", optional(report.average_class));
    let _ = writeln!(text, "  DM     {:>8}   discernibility", number(report.discernibility));
    let _ = writeln!(
        text,
        "  counts {:>8}   the median relative error of {}; nine of ten are within {}\n",
        optional(report.queries.median),
        count(report.queries.queries as u64, "query", "queries"),
        optional(report.queries.p90)
    );
    for column in &report.columns {
        let _ = writeln!(text, "  {:<24}{:.4}", column.column, column.ncp);
    }
    text
}

/// What a story tells of dependencies.
pub(crate) fn dependencies_line(found: &Surviving) -> String {
    format!(
        "{} to sensitive values with a probability above {}, right about {}",
        count(found.risks, "rule between columns leads", "rules between columns lead"),
        found.alpha,
        count(found.people, "person", "people")
    )
}

/// Prints the story of a run with a table.
pub(crate) fn tell(story: &TableStory, out: &Path, talk: &Talk) -> Result<Outcome> {
    tell_story(story.holds, json!(story), || story_text(story, out), out, talk)
}

fn story_text(story: &TableStory, out: &Path) -> String {
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
            count(story.verdict.classes, "class", "classes"),
            count(story.verdict.smallest_class, "row", "rows"),
            count(story.utility.removed as u64, "row", "rows"),
            if story.kept { "proved" } else { "NOT proved" }
        ),
    );
    if let Some(tried) = &story.tried {
        let truer = if tried.gain.beats { "become truer" } else { "do not become truer" };
        line(
            "attack",
            format!(
                "beliefs about {} {truer} by the release ({:+.4} bits a person, {:+.4} to {:+.4}); {} nearly sure",
                tried.column,
                tried.gain.log_score.mean,
                tried.gain.log_score.low,
                tried.gain.log_score.high,
                count(tried.loss.above, "is", "are")
            ),
        );
    }
    if let Some(found) = &story.dependencies {
        line(if story.tried.is_some() { "" } else { "attack" }, dependencies_line(found));
    }
    line(
        "utility",
        format!(
            "cells lose {:.4} on average (GCP); counts are off by {} on the median",
            story.utility.gcp_all,
            story.utility.queries.median.map_or_else(|| String::from("-"), |m| format!("{:.1} %", 100.0 * m)),
        ),
    );
    text + &ending(&story.limits, story.holds, out)
}
