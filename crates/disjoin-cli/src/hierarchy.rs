//! `disjoin hierarchy`: what generalises what, built from data, checked, and written for other programs.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use disjoin::data::{Dictionary, Hierarchy, NodeId};
use disjoin::generate::{by_cooccurrence, by_prefix};
use disjoin::read::{self, HierarchyStyle};
use disjoin::{Error, Result};
use serde::Serialize;

use crate::Outcome;
use crate::convert::exists;
use crate::flags::input::{Input, name_of};
use crate::sink::{To, write_to};
use crate::talk::{Talk, count};

/// Build, check and convert hierarchies: what generalises what
///
/// A hierarchy is a tree whose leaves are the terms of the data; generalising puts a label in the place of all terms below
/// it. Files are those of ARX (a line for each term: flu;virus;*) or of Amnesia (a line for each label: virus has flu hiv).
#[derive(clap::Subcommand)]
#[command(after_long_help = EXAMPLES, after_help = EXAMPLES)]
pub(crate) enum Args {
    Build(BuildArgs),
    Check(CheckArgs),
    Convert(ConvertArgs),
}

const EXAMPLES: &str = "\
Examples:
  disjoin hierarchy build baskets.dat --fanout 10 -o hierarchy.csv
  disjoin hierarchy build diagnoses.csv --by prefix -o codes.csv
  disjoin hierarchy check codes.csv --data diagnoses.csv
  disjoin hierarchy convert codes.csv codes.txt --style amnesia";

/// Build a hierarchy over the terms of a dataset
///
/// It has one root. Trees by support and by co-occurrence are made of the records: their labels and groups disclose something
/// about them, beside what a release shows. Look at them before you publish them.
#[derive(clap::Args)]
#[command(after_long_help = BUILD_EXAMPLES, after_help = BUILD_EXAMPLES)]
pub(crate) struct BuildArgs {
    /// The data: a file, or "-" for standard input
    data: PathBuf,
    /// What stands below one label
    #[arg(long, value_enum, value_name = "HOW", default_value_t = By::Fanout)]
    by: By,
    /// The most children a node may have [default: 10]
    #[arg(long, value_name = "N")]
    fanout: Option<usize>,
    /// Whose files to write
    #[arg(long, value_enum, default_value_t = Style::Arx)]
    style: Style,
    #[command(flatten)]
    to: To,
    #[command(flatten)]
    input: Input,
}

const BUILD_EXAMPLES: &str = "\
Examples:
  disjoin hierarchy build baskets.dat
  disjoin hierarchy build baskets.dat --by support --fanout 5 -o hierarchy.csv
  disjoin hierarchy build diagnoses.csv --by prefix --style amnesia -o codes.txt";

/// Check a hierarchy: one root, no cycle, and every term of the data in it
///
/// What is wrong is shown with its line. Without --data, the terms are those of the file.
#[derive(clap::Args)]
#[command(after_long_help = CHECK_EXAMPLES, after_help = CHECK_EXAMPLES)]
pub(crate) struct CheckArgs {
    /// The hierarchy: a file of ARX or Amnesia
    hierarchy: PathBuf,
    /// The data whose terms it must have
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// Several roots will do, as for metrics
    #[arg(long)]
    several_roots: bool,
    #[command(flatten)]
    input: Input,
}

const CHECK_EXAMPLES: &str = "\
Examples:
  disjoin hierarchy check hierarchy.csv
  disjoin hierarchy check hierarchy.csv --data baskets.dat --json";

/// Write a hierarchy for another program
///
/// Labels that two nodes have in common are told apart by an apostrophe.
#[derive(clap::Args)]
#[command(after_long_help = CONVERT_EXAMPLES, after_help = CONVERT_EXAMPLES)]
pub(crate) struct ConvertArgs {
    /// The hierarchy: a file of ARX or Amnesia
    from: PathBuf,
    /// The file to write ("-" is standard output)
    to: PathBuf,
    /// Whose files to write
    #[arg(long, value_enum)]
    style: Style,
    /// Replace TO if it exists
    #[arg(long)]
    force: bool,
}

const CONVERT_EXAMPLES: &str = "\
Examples:
  disjoin hierarchy convert hierarchy.csv hierarchy.txt --style amnesia
  disjoin hierarchy convert hierarchy.txt - --style arx";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
enum By {
    /// Neighbours by text, or by value if all terms are integers; as many below each node
    Fanout,
    /// The same, but every node is full except for the last of a level, as in other programs
    Consecutive,
    /// Neighbours by how many records have them: rare terms with rare ones
    Support,
    /// Terms that are often together in a record
    Cooccurrence,
    /// Codes that begin alike, with the chapters of ICD-9 if all are such codes
    Prefix,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
enum Style {
    /// A line for each term: the term, then its labels, with semicolons
    Arx,
    /// A line for each label: the label, "has", then what is below it
    Amnesia,
}

impl From<Style> for HierarchyStyle {
    fn from(style: Style) -> Self {
        match style {
            Style::Arx => HierarchyStyle::Arx,
            Style::Amnesia => HierarchyStyle::Amnesia,
        }
    }
}

/// What there is to say about a hierarchy.
#[derive(Serialize)]
struct Told<'a> {
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<By>,
    #[serde(skip_serializing_if = "Option::is_none")]
    style: Option<Style>,
    #[serde(flatten)]
    shape: &'a Shape,
}

/// How large a hierarchy is.
#[derive(Serialize)]
struct Shape {
    terms: u64,
    labels: u64,
    /// Labels above a term, at most.
    levels: u32,
    roots: u64,
    largest_fanout: u64,
}

impl Shape {
    fn of(hierarchy: &Hierarchy) -> Self {
        let nodes = 0..hierarchy.n_nodes() as NodeId;
        let mut children = vec![0; hierarchy.n_nodes()];
        nodes.clone().filter_map(|node| hierarchy.parent(node)).for_each(|parent| children[parent as usize] += 1);
        Shape {
            terms: hierarchy.n_terms() as u64,
            labels: (hierarchy.n_nodes() - hierarchy.n_terms()) as u64,
            levels: nodes.clone().map(|node| hierarchy.depth(node)).max().unwrap_or_default(),
            roots: nodes.filter(|&node| hierarchy.parent(node).is_none()).count() as u64,
            largest_fanout: children.into_iter().max().unwrap_or_default(),
        }
    }

    fn words(&self) -> String {
        let parts = [
            count(self.terms, "term", "terms"),
            count(self.labels, "label", "labels"),
            count(self.levels.into(), "level", "levels"),
            count(self.roots, "root", "roots"),
        ];
        format!("{}; up to {} right below a label", parts.join(", "), self.largest_fanout)
    }
}

pub(crate) fn run(args: &Args, talk: &Talk) -> Result<Outcome> {
    match args {
        Args::Build(args) => build(args, talk),
        Args::Check(args) => check(args, talk),
        Args::Convert(args) => convert(args, talk),
    }
}

fn build(args: &BuildArgs, talk: &Talk) -> Result<Outcome> {
    let out = Destination { path: args.to.out.as_deref(), force: args.to.force, style: args.style };
    out.check(talk)?;
    if let (By::Prefix, Some(_)) = (args.by, args.fanout) {
        let problem = "codes that begin alike are as many as they are";
        return Err(Error::recipe("--fanout", problem, "leave it out, or choose another --by"));
    }
    let fanout = args.fanout.unwrap_or(10);
    let (data, _) = args.input.read(&args.data, talk)?;
    talk.step("building the hierarchy");
    let hierarchy = talk.in_memory(|| match args.by {
        By::Fanout => Hierarchy::uniform(&data.dictionary, fanout),
        By::Consecutive => Hierarchy::consecutive(&data.dictionary, fanout),
        By::Support => Hierarchy::by_support(&data.dictionary, &data.records, fanout),
        By::Cooccurrence => by_cooccurrence(&data.dictionary, &data.records, fanout),
        By::Prefix => by_prefix(&data.dictionary),
    })?;
    out.write(&hierarchy, &data.dictionary, Some(args.by), talk)
}

fn check(args: &CheckArgs, talk: &Talk) -> Result<Outcome> {
    let dictionary = match &args.data {
        Some(data) => args.input.read(data, talk)?.0.dictionary,
        None => read::hierarchy_terms(&args.hierarchy)?,
    };
    talk.step(&format!("reading {}", name_of(&args.hierarchy)));
    let hierarchy = if args.several_roots {
        read::hierarchy(&args.hierarchy, &dictionary)?
    } else {
        read::rooted_hierarchy(&args.hierarchy, &dictionary)?
    };
    let shape = Shape::of(&hierarchy);
    if talk.is_json() {
        let file = Some(args.hierarchy.display().to_string());
        talk.print_json(&Told { file, by: None, style: None, shape: &shape })?;
    } else {
        talk.print(&format!("{}\n", shape.words()))?;
    }
    Ok(Outcome::Holds)
}

fn convert(args: &ConvertArgs, talk: &Talk) -> Result<Outcome> {
    let out = Destination { path: Some(&args.to), force: args.force, style: args.style };
    out.check(talk)?;
    talk.step(&format!("reading {}", name_of(&args.from)));
    let dictionary = read::hierarchy_terms(&args.from)?;
    let hierarchy = read::hierarchy(&args.from, &dictionary)?;
    out.write(&hierarchy, &dictionary, None, talk)
}

/// Where a hierarchy goes, and how it is written.
struct Destination<'a> {
    path: Option<&'a Path>,
    force: bool,
    style: Style,
}

impl Destination<'_> {
    fn file(&self) -> Option<&Path> {
        self.path.filter(|path| *path != Path::new("-"))
    }

    /// Refuses what cannot be, before anything is read.
    fn check(&self, talk: &Talk) -> Result<()> {
        match self.file() {
            None if talk.is_json() => {
                let problem = "the hierarchy and the result would both go to stdout";
                Err(Error::recipe("--json", problem, "name a file for the hierarchy"))
            }
            Some(path) if !self.force && path.is_file() => Err(exists(path)),
            _ => Ok(()),
        }
    }

    fn write(&self, hierarchy: &Hierarchy, dictionary: &Dictionary, by: Option<By>, talk: &Talk) -> Result<Outcome> {
        let path = self.path.unwrap_or(Path::new("-"));
        talk.end_steps();
        write_to(self.path, self.force, talk, |out| {
            read::write_hierarchy(hierarchy, dictionary, self.style.into(), path, out)
        })?;
        let shape = Shape::of(hierarchy);
        if let Some(file) = self.file() {
            talk.note(&format!("wrote {}: {}", file.display(), shape.words()));
            if talk.is_json() {
                let file = Some(file.display().to_string());
                talk.print_json(&Told { file, by, style: Some(self.style), shape: &shape })?;
            }
        }
        Ok(Outcome::Holds)
    }
}
