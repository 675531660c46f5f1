//! `disjoin attack`: what could an adversary learn from a release?

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use disjoin::attack::judge::concerned;
use disjoin::attack::summary::{Choice, Summary, find, likeliest};
use disjoin::attack::{Findings, Knowledge, Rate, Says, Truth, View, Worlds};
use disjoin::data::RecordId;
use disjoin::publish::{Kept, find_release, write_file};
use disjoin::release::{CutRule, Disassociated};
use disjoin::{Error, Result};

use crate::Outcome;
use crate::args::{Input, MultiplicityChoice, name_original};
use crate::reconstruct::Loaded;
use crate::table::KnowledgeFlags;
use crate::talk::{Talk, count, number};
use crate::verify::{custody_of, read_original};

/// Attack a release as an adversary would: what can be learned that was not meant to be?
///
/// cover, closure and worlds reckon back through the algorithm: which terms of different chunks go together in fewer than
/// k records, so that whoever knows them of a person has fewer than k candidates? Each finds what the one before does, and
/// more; worlds also proves for which groups there is nothing left to find. reassociate guesses which parts of records
/// belong together; with --corpus, --vectors or --counts also by what words mean. identity asks how likely the likeliest row is a person's of whom two terms are known: more than 1/k
/// is too much.
///
/// With the original, statements are compared with the truth, and with guesses of somebody who knows nothing. That fewer
/// than k have some terms counts as right only if somebody has them. The result then tells about the original: it is for
/// whoever holds it, and does not belong into the release.
///
/// A table is attacked with background knowledge: what becomes of beliefs about people, for somebody who knows how sensitive
/// values go with quasi-identifiers? That needs the original, in which these people stand. Exit code 1 then means that beliefs
/// became truer, by more than chance explains.
///
/// Of a split table the knowledge breach probability is told: how likely are all sensitive values of a person guessed by somebody
/// who knows the group, and perhaps one of the values? A value that fills its group is certain. The release alone is enough.
/// Beside it stands what somebody believes who knows how sensitive values go together: from --outside, a table of other people,
/// or else from the release itself.
///
/// With --dependencies, a table or a split table is searched for rules between columns that tell sensitive values: networks of
/// quasi-identifiers, of sensitive columns and of both, Algorithm 1 of Nadimpalli and Vatsavayi, and which of its rules are more
/// than chance. With --target, what follows for a person: how likely each sensitive value is for everybody, in the rows that fit,
/// and with what else is known.
///
/// Generalised sets are attacked by what words mean: which members of a generalised item go with the items beside it, and which
/// were added? --corpus or --vectors names what the adversary knows about words. With the original it is told how many of the eliminated
/// members were added; exit code 1 then means that an attack is right more often than blind guesses, by more than chance explains.
/// Where parts of the records have recodings of their own (lra), that needs the custody folder: it alone knows who is in which.
///
/// Ends with exit code 1 if anything certain is found (more than --limit), if a row is likelier than 1/k, if values are likelier
/// than --most-likely, or if more than --limit rules tell sensitive values.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The package that disjoin protect wrote, or the folder release in it
    release: PathBuf,
    /// The data that the release was made from, to compare with; "-" is standard input
    #[arg(long, value_name = "FILE")]
    original: Option<PathBuf>,
    /// The custody folder [default: the one beside the release, if there is one]
    #[arg(long, value_name = "DIR")]
    custody: Option<PathBuf>,
    /// Which attacks to run, with commas between
    #[arg(long, value_name = "NAME", value_enum, value_delimiter = ',', default_values_t = AttackChoice::value_variants().to_vec())]
    attack: Vec<AttackChoice>,
    /// How the adversary believes that groups were cut into chunks
    #[arg(long, value_name = "RULE", value_enum, default_value_t = Assumed::Claimed)]
    assume: Assumed,
    /// How long worlds searches for each set of terms before it is left open
    #[arg(long, value_name = "N", default_value_t = Worlds::default().steps)]
    steps: u64,
    /// How many certain statements, or rules that tell sensitive values, are put up with
    #[arg(long, value_name = "N", default_value_t = 0)]
    limit: u64,
    /// Of a split table: how likely all sensitive values of a person may be guessed [default: what the claim promises]
    #[arg(long, value_name = "P")]
    most_likely: Option<f64>,
    /// Of a split table or generalised sets: other people's data, from which the adversary learns what goes together
    #[arg(long, value_name = "FILE", conflicts_with = "dependencies")]
    outside: Option<PathBuf>,
    /// Show the terms of the statements, not just how many there are
    #[arg(long)]
    show_terms: bool,
    /// Write whom the true statements are about to findings.csv in the custody folder, or dependencies with their pictures to
    /// dependencies.html, over an older one
    #[arg(long)]
    keep: bool,
    #[command(flatten)]
    dependency: crate::dependency::Flags,
    #[command(flatten)]
    knowledge: KnowledgeFlags,
    #[command(flatten)]
    semantic: crate::semantic::Flags,
    #[command(flatten)]
    input: Input,
}

const EXAMPLES: &str = "\
Examples:
  disjoin attack out
  disjoin attack out --attack cover,identity --show-terms
  disjoin attack out --original baskets.dat --keep
  disjoin attack out/release --original patients.csv --column diagnoses --json
  disjoin attack split --most-likely 0.4
  disjoin attack split --outside census.csv
  disjoin attack recoded --corpus words.corpus --original baskets.dat
  disjoin attack table --dependencies --alpha 0.8 --network-svg network.svg
  disjoin attack table --dependencies --target age=30-50,sex=F --known government=State --json";

/// An attack, as the user writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum AttackChoice {
    /// The cover problem
    Cover,
    /// All that single refusals of the algorithm show
    Closure,
    /// All possible originals that the algorithm cuts in this way
    Worlds,
    /// Parts of records put together by their terms: guesses
    Reassociate,
    /// The probability that a row is a person's
    Identity,
}

impl From<AttackChoice> for Choice {
    fn from(choice: AttackChoice) -> Self {
        match choice {
            AttackChoice::Cover => Choice::Cover,
            AttackChoice::Closure => Choice::Closure,
            AttackChoice::Worlds => Choice::Worlds,
            AttackChoice::Reassociate => Choice::Reassociate,
            AttackChoice::Identity => Choice::Identity,
        }
    }
}

/// A belief about how groups were cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Assumed {
    /// As the claim says
    Claimed,
    /// By the paper's rule, which offers every term to every chunk: wrong about --promise algorithm-aware
    Greedy,
}

impl Assumed {
    fn rule(self, claimed: CutRule) -> CutRule {
        match self {
            Assumed::Claimed => claimed,
            Assumed::Greedy => CutRule::Greedy,
        }
    }
}

/// How many clusters are shown as text, and how many statements of each; --json has all.
const SHOWN: usize = 10;
const SHOWN_STATEMENTS: usize = 5;

pub(crate) fn run(args: &Args, talk: &Talk) -> Result<Outcome> {
    if args.dependency.is_given() {
        return dependencies(args, talk);
    }
    if (args.keep || args.custody.is_some()) && args.original.is_none() {
        let key = if args.keep { "--keep" } else { "--custody" };
        let hint = "name the data that the release was made from: --original FILE";
        return Err(Error::recipe(key, "needs the original, but for --dependencies", hint));
    }
    if let Some(folder) = crate::recoding::release_of(&args.release)? {
        if args.keep {
            let problem = "is for disassociated data and for --dependencies, and these are recoded transactions";
            return Err(Error::recipe("--keep", problem, "leave it out; --json tells everything"));
        }
        let asked = crate::semantic::Asked {
            flags: &args.semantic,
            original: args.original.as_deref(),
            custody: args.custody.as_deref(),
            outside: args.outside.as_deref(),
            show_terms: args.show_terms,
            input: &args.input,
        };
        return crate::semantic::attack(&folder, &asked, talk);
    }
    let refuse_words = || match args.semantic.is_given() {
        true => {
            let problem = "are for sets, and this is a table";
            Err(Error::recipe("--corpus, --counts, --vectors and --context", problem, "leave them out"))
        }
        false => Ok(()),
    };
    if let Some(folder) = crate::split::release_of(&args.release)? {
        refuse_words()?;
        let outside = args.outside.as_deref();
        return crate::split::attack(&folder, args.most_likely, args.limit, outside, &args.input, talk);
    }
    for (key, is_given) in [("--most-likely", args.most_likely.is_some()), ("--outside", args.outside.is_some())] {
        if is_given {
            let problem = "is for split tables, and this is a release of another form";
            return Err(Error::recipe(key, problem, "leave it out"));
        }
    }
    if let Some(folder) = crate::table::release_of(&args.release)? {
        refuse_words()?;
        let (original, custody) = (args.original.as_deref(), args.custody.as_deref());
        return crate::table::attack(&folder, original, custody, &args.knowledge, &args.input, talk);
    }
    if args.knowledge.is_given() {
        let problem = "is for tables, and this is a release of sets";
        return Err(Error::recipe("--knowledge", problem, "leave it out"));
    }
    let (folder, _) = find_release(&args.release)?;
    let loaded = Loaded::read(&args.release, talk)?;
    let release = &loaded.release;
    let custody = args.original.as_ref().and_then(|_| custody_of(args.custody.as_deref(), &folder));
    if args.keep && custody.is_none() {
        let hint = "name the custody folder that disjoin protect wrote with --custody";
        return Err(Error::recipe("--keep", "there is no custody folder beside the release", hint));
    }
    let truth = match &args.original {
        Some(file) => Some(read_truth(file, custody.as_deref(), release, args, talk)?),
        None => None,
    };
    if loaded.claim.parameters.sensitive.is_some() && args.attack.contains(&AttackChoice::Worlds) {
        // It takes terms without a count for rare, which bounds how many records can be without anything else.
        talk.warn("sensitive terms may be frequent; worlds takes them for rare, and may state too much");
    }
    let claimed = loaded.claim.parameters.cut;
    let view = View { release, cut: args.assume.rule(claimed), knowledge: &Knowledge::Anything };
    if view.cut != claimed {
        talk.warn(
            "the claim says that groups were cut by another rule: what is stated does not follow, but may be true",
        );
    }
    let chosen: Vec<Choice> = args.attack.iter().map(|&choice| choice.into()).collect();
    let mut found = find(&view, &chosen, args.steps, &mut |name| talk.step(&format!("attacking: {name}")));
    found.extend(crate::semantic::reassociate(&args.semantic, &view, talk)?);
    let identity = match args.attack.contains(&AttackChoice::Identity) {
        true => {
            talk.step("asking whose row it may be");
            Some(likeliest(&loaded.model(MultiplicityChoice::Told)?))
        }
        false => None,
    };
    if truth.is_some() {
        talk.step("comparing with the original");
    }
    let report = Summary::new(&found, identity, truth.as_ref(), release, args.limit);
    if let (true, Some(truth), Some(custody)) = (args.keep, &truth, &custody) {
        let file = custody.join("findings.csv");
        keep(&found, truth, release.header.k, &file)?;
        talk.note(&format!("wrote {}", file.display()));
    }
    if talk.is_json() {
        talk.print_json(&report)?;
    } else {
        talk.print(&text(&report, args.show_terms))?;
    }
    Ok(if report.holds { Outcome::Holds } else { Outcome::Broken })
}

/// Looks for dependencies, in the forms that have columns.
fn dependencies(args: &Args, talk: &Talk) -> Result<Outcome> {
    let (folder, is_split) = match crate::split::release_of(&args.release)? {
        Some(folder) => (folder, true),
        None => match crate::table::release_of(&args.release)? {
            Some(folder) => (folder, false),
            None => {
                let problem = "is for tables, and this is a release of sets";
                return Err(Error::recipe("--dependencies", problem, "leave it out"));
            }
        },
    };
    let custody = match args.keep {
        false => None,
        true => Some(custody_of(args.custody.as_deref(), &folder).ok_or_else(|| {
            let hint = "name the custody folder that disjoin protect wrote with --custody";
            Error::recipe("--keep", "there is no custody folder beside the release", hint)
        })?),
    };
    crate::dependency::attack(&folder, is_split, &args.dependency, args.limit, custody.as_deref(), talk)
}

fn read_truth<'r>(
    file: &Path,
    custody: Option<&Path>,
    release: &'r Disassociated,
    args: &Args,
    talk: &Talk,
) -> Result<Truth<'r>> {
    let kept = custody.map(Kept::read).transpose()?;
    let original = read_original(file, kept.as_ref(), &args.input, talk)?;
    let leaf_of = kept.as_ref().map(|kept| &kept.leaf_of[..]);
    Truth::new(&original, leaf_of, release).map_err(|error| name_original(error, file))
}

/// Whom the true statements are about: never to stdout.
fn keep(found: &[Findings], truth: &Truth<'_>, k: u32, file: &Path) -> Result<()> {
    let mut lines: BTreeSet<(RecordId, &str, u32)> = BTreeSet::new();
    for findings in found {
        for finding in &findings.found {
            let people = concerned(findings.says, finding, truth, k);
            lines.extend(people.into_iter().map(|record| (record, findings.attack, finding.leaf)));
        }
    }
    let mut csv = String::from("record,attack,cluster\n");
    for (record, attack, cluster) in lines {
        let _ = writeln!(csv, "{record},{attack},{cluster}");
    }
    write_file(file, true, |out| {
        std::io::Write::write_all(out, csv.as_bytes()).map_err(|e| Error::io(file, "write", e))
    })
}

fn text(report: &Summary, show_terms: bool) -> String {
    let (k, m) = (report.k, report.m);
    let mut text = format!(
        "{} in {}, k = {k}, m = {m}\n",
        count(report.records, "record", "records"),
        count(report.clusters, "cluster", "clusters"),
    );
    add_attacks(&mut text, report);
    if let Some(risk) = &report.identity {
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "\n  {:<20}{:>12}{:>12}{:>12}{:>14}\n  {:<20}{:>12}{:>12.4}{:>12.4}{:>14}",
            "whose row is it?",
            "asked",
            "worst",
            "mean",
            format!("above 1/{k}"),
            "identity",
            number(risk.itemsets),
            risk.worst,
            risk.mean,
            number(risk.above)
        );
    }
    add_clusters(&mut text, report, show_terms);
    let above = report.identity.map_or(0, |risk| risk.above);
    let _ = match (report.holds, report.certain) {
        (true, 0) => writeln!(text, "\nNothing certain was found."),
        (true, certain) => {
            let statements = count(certain, "certain statement", "certain statements");
            writeln!(text, "\n{statements}, no more than the {} put up with.", number(report.limit))
        }
        (false, certain) => {
            let by: BTreeSet<&str> = report.worst.iter().flat_map(|cluster| &cluster.attacks).copied().collect();
            let statements = count(certain, "certain statement", "certain statements");
            let mut found = Vec::new();
            if certain > report.limit {
                found.push(format!("{statements} by {}", by.into_iter().collect::<Vec<_>>().join(", ")));
            }
            if above > 0 {
                found.push(format!("identity: {} above 1/{k}", count(above, "probability", "probabilities")));
            }
            writeln!(text, "\nThe release can be BREACHED: {}.", found.join("; "))
        }
    };
    text
}

fn add_attacks(text: &mut String, report: &Summary) {
    if report.attacks.is_empty() {
        return;
    }
    let _ =
        writeln!(text, "\n  {:<20}{:>12}{:>12}{:>12}{:>14}", "attack", "statements", "clusters", "left open", "says");
    for of in &report.attacks {
        let says = match of.says {
            Says::FewerThanK => format!("fewer than {}", report.k),
            Says::Together => String::from("a guess"),
        };
        let _ = writeln!(
            text,
            "  {:<20}{:>12}{:>12}{:>12}{says:>14}",
            of.attack,
            number(of.statements),
            number(of.clusters_touched),
            number(of.coverage.open)
        );
    }
    if report.attacks.iter().all(|of| of.score.is_none()) {
        return;
    }
    let _ = writeln!(
        text,
        "\n  {:<20}{:>10}{:>11}{:>18}{:>10}{:>9}{:>10}",
        "by the original", "right", "precision", "95 %", "blindly", "recall", "people"
    );
    for of in &report.attacks {
        let (Some(score), Some(baseline)) = (&of.score, &of.baseline) else { continue };
        let share = |rate: &Rate| if rate.of == 0 { String::from("-") } else { format!("{:.4}", rate.share) };
        let interval = match score.precision.of {
            0 => String::from("-"),
            _ => format!("{:.4}-{:.4}", score.precision.low, score.precision.high),
        };
        let _ = writeln!(
            text,
            "  {:<20}{:>10}{:>11}{interval:>18}{:>10}{:>9}{:>10}",
            of.attack,
            number(score.right),
            share(&score.precision),
            share(baseline),
            score.recall.as_ref().map_or(String::from("-"), share),
            number(score.people)
        );
    }
}

fn add_clusters(text: &mut String, report: &Summary, show_terms: bool) {
    if report.worst.is_empty() {
        return;
    }
    let _ = write!(text, "\n  {:<20}{:>12}{:>12}", "worst clusters", "statements", "learned");
    let knows_people = report.worst.iter().any(|cluster| cluster.people.is_some());
    let _ = writeln!(text, "{:>12}  found by", if knows_people { "people" } else { "" });
    for cluster in report.worst.iter().take(SHOWN) {
        let _ = writeln!(
            text,
            "  {:<20}{:>12}{:>12}{:>12}  {}",
            format!("cluster {}", cluster.cluster),
            number(cluster.statements.len() as u64),
            number(cluster.learned),
            cluster.people.map_or(String::new(), number),
            cluster.attacks.iter().copied().collect::<Vec<_>>().join(", ")
        );
        let shown = if show_terms { SHOWN_STATEMENTS } else { 0 };
        for statement in cluster.statements.iter().take(shown) {
            let _ = write!(text, "    {}", statement.terms.join(" + "));
            let _ = match statement.learned.is_empty() {
                true => writeln!(text),
                false => writeln!(text, "  =>  {}", statement.learned.join(", ")),
            };
        }
        if show_terms && cluster.statements.len() > shown {
            let _ = writeln!(text, "    and {} more", number((cluster.statements.len() - shown) as u64));
        }
    }
    if report.worst.len() > SHOWN {
        let _ = writeln!(text, "  and {} more", number((report.worst.len() - SHOWN) as u64));
    }
}
