//! `disjoin audit`: what does somebody else's file keep?

use std::path::PathBuf;

use disjoin::Result;
use disjoin::audit::Asked;
use disjoin::run::{self, AuditOptions};

use crate::Outcome;
use crate::choices::from_one;
use crate::flags::input::{Input, SOURCES};
use crate::talk::Talk;

/// Show what a table or a file of sets keeps, whoever made it with whatever tool
///
/// Of a table, records with equal cells in all quasi-identifiers are a class. Prints k; distinct, entropy and recursive l-diversity;
/// t-closeness by three distances; basic and enhanced beta-likeness; delta-disclosure; (alpha, k)-anonymity; prosecutor, journalist and marketer
/// risk; unique and suppressed records; the worst classes, without values unless asked for; what an adversary guesses by class. Generalised cells
/// are recognised as ARX, Amnesia, sdcMicro, anonypy, pycanon and disjoin write them: *, [20, 30[, 20-29, 20..29, {a,b}, 2****, NA.
/// Cells that overlap without being equal are reported with the risk over all classes that may hold a person.
///
/// Of sets of terms (-m), counts the itemsets that fewer than K records have: k^m-anonymity for every m up to M.
///
/// Ends with exit code 1 if something that is required is not kept, and 0 otherwise.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The data: a file ("-" is standard input), or the URL of a table in a database
    file: PathBuf,
    /// Quasi-identifiers: columns that others may know of a person
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    quasi: Vec<String>,
    /// Sensitive columns: what nobody may learn of a person
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    sensitive: Vec<String>,
    /// What generalises what in a column: an ARX CSV file or an Amnesia text file; may be repeated. Of sets: a file alone
    #[arg(long, value_name = "[COLUMN=]FILE")]
    hierarchy: Vec<String>,
    /// What must be kept, as k=5,l=2,t=0.3: exit code 1 if it is not
    ///
    /// At least: k, l, entropy-l. At most: recursive=C:L, t, t-equal, t-ordered, t-hierarchical, beta, enhanced-beta, delta, alpha, prosecutor,
    /// prosecutor-mean, journalist, marketer, unique, at-risk, guess.
    #[arg(long, value_name = "LIST")]
    require: Option<String>,
    /// The data that it was made from: what was kept, and which records disagree?
    #[arg(long, value_name = "FILE")]
    original: Option<PathBuf>,
    /// How many people the records are a sample of, for journalist risk [default: the records are all]
    #[arg(long, value_name = "N")]
    population: Option<u64>,
    #[arg(long, value_name = "RISK", help = format!("Count records with a higher re-identification risk [default: {}]", Asked::default().threshold))]
    threshold: Option<f64>,
    /// Leave records out whose quasi-identifiers are all suppressed (*)
    #[arg(long)]
    without_suppressed: bool,
    /// Look for dependencies between columns that lead to sensitive values
    #[arg(long)]
    dependencies: bool,
    /// Show the cells of the worst classes, and the values of dependencies
    #[arg(long)]
    name_values: bool,
    /// Of sets: count itemsets in fewer than K records
    #[arg(short, value_name = "K", value_parser = from_one())]
    k: Option<u32>,
    /// Of sets: how many terms of background knowledge an adversary has
    #[arg(short, value_name = "M", value_parser = from_one())]
    m: Option<u32>,
    /// Write a report: .html, .md or .txt
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Write a package with a claim of what was found, for disjoin verify and disjoin attack
    #[arg(long, value_name = "DIR")]
    claim: Option<PathBuf>,
    /// Replace the report and the package if they exist
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    input: Input,
}

const EXAMPLES: &str = "\
Examples:
  disjoin audit anonymised.csv --quasi age,sex,zip --sensitive disease
  disjoin audit anonymised.csv --quasi age,sex,zip --sensitive disease --require k=5,l=2,t=0.3
  disjoin audit anonymised.csv --quasi age,sex --original people.csv --report audit.html
  disjoin audit anonymised.csv --quasi age,sex --sensitive disease --claim audited
  disjoin audit baskets.dat -m 3 --hierarchy items.csv --require k=5";

pub(crate) fn run(args: &Args, talk: &Talk) -> Result<Outcome> {
    let usual = Asked::default();
    let hierarchy = |text: &String| match text.split_once('=') {
        Some((column, file)) => (Some(column.to_owned()), PathBuf::from(file)),
        None => (None, PathBuf::from(text)),
    };
    let asked = AuditOptions {
        quasi: args.quasi.clone(),
        sensitive: args.sensitive.clone(),
        hierarchies: args.hierarchy.iter().map(hierarchy).collect(),
        asked: Asked {
            threshold: args.threshold.unwrap_or(usual.threshold),
            population: args.population,
            name_values: args.name_values,
            ..usual
        },
        without_suppressed: args.without_suppressed,
        k: args.k,
        m: args.m,
        require: args.require.clone(),
        original: args.original.clone(),
        dependencies: args.dependencies,
        report: args.report.clone(),
        claim: args.claim.clone(),
        force: args.force,
        input: args.input.options(),
    };
    talk.answer(&run::audit(&args.file, &asked, SOURCES, talk)?)
}
