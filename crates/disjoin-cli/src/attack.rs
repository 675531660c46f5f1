//! `disjoin attack`: what could an adversary learn from a release?

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use disjoin::attack::identity::{Risk, pairs_of_release, worst};
use disjoin::attack::judge::{concerned, judge};
use disjoin::attack::reassociate::{Matching, Reassociate, co_occurrence};
use disjoin::attack::{
    Attack, Closure, Cover, Coverage, Finding, Findings, Knowledge, Rate, Says, Score, Truth, View, Worlds, baseline,
};
use disjoin::data::{RecordId, TermId};
use disjoin::publish::{Kept, find_release, write_file};
use disjoin::release::{CutRule, Disassociated};
use disjoin::{Error, Result};
use serde::Serialize;

use crate::Outcome;
use crate::args::{Input, MultiplicityChoice, name_original};
use crate::reconstruct::Loaded;
use crate::talk::{Talk, count, number};
use crate::verify::{custody_of, read_original};

/// Attack a release as an adversary would: what can be learned that was not meant to be?
///
/// cover, closure and worlds reckon back through the algorithm: which terms of different chunks go together in fewer than
/// k records, so that whoever knows them of a person has fewer than k candidates? Each finds what the one before does, and
/// more; worlds also proves for which groups there is nothing left to find. reassociate guesses which parts of records
/// belong together. identity asks how likely the likeliest row is a person's of whom two terms are known: more than 1/k
/// is too much.
///
/// With the original, statements are compared with the truth, and with guesses of somebody who knows nothing. That fewer
/// than k have some terms counts as right only if somebody has them. The result then tells about the original: it is for
/// whoever holds it, and does not belong into the release.
///
/// Ends with exit code 1 if anything certain is found (more than --limit), or if a row is likelier than 1/k.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The package that disjoin protect wrote, or the folder release in it
    release: PathBuf,
    /// The data that the release was made from, to compare with; "-" is standard input
    #[arg(long, value_name = "FILE")]
    original: Option<PathBuf>,
    /// The custody folder [default: the one beside the release, if there is one]
    #[arg(long, value_name = "DIR", requires = "original")]
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
    /// How many certain statements are put up with
    #[arg(long, value_name = "N", default_value_t = 0)]
    limit: u64,
    /// Show the terms of the statements, not just how many there are
    #[arg(long)]
    show_terms: bool,
    /// Write whom the true statements are about to findings.csv in the custody folder, over an older one
    #[arg(long, requires = "original")]
    keep: bool,
    #[command(flatten)]
    input: Input,
}

const EXAMPLES: &str = "\
Examples:
  disjoin attack out
  disjoin attack out --attack cover,identity --show-terms
  disjoin attack out --original baskets.dat --keep
  disjoin attack out/release --original patients.csv --column diagnoses --json";

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

/// Blind guesses are random, and the same for everybody.
const BASELINE_SEED: u64 = 1;

pub(crate) fn run(args: &Args, talk: &Talk) -> Result<Outcome> {
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
    let found = find(args, release, claimed, talk);
    let identity = match args.attack.contains(&AttackChoice::Identity) {
        true => {
            talk.step("asking whose row it may be");
            let model = loaded.model(MultiplicityChoice::One)?;
            let singles = || (0..release.dictionary.len() as TermId).map(|term| [term]);
            // Whoever is promised to know one term only is not asked about two.
            Some(if release.header.m < 2 { worst(&model, singles()) } else { pairs_of_release(&model) })
        }
        false => None,
    };
    if truth.is_some() {
        talk.step("comparing with the original");
    }
    let report = Report::new(&found, identity, truth.as_ref(), release, args.limit);
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

/// Runs the attacks that make statements.
fn find(args: &Args, release: &Disassociated, claimed: CutRule, talk: &Talk) -> Vec<Findings> {
    let view = View { release, cut: args.assume.rule(claimed), knowledge: &Knowledge::Anything };
    let run = |choice: &AttackChoice| {
        let step = |attack: &dyn Attack| {
            talk.step(&format!("attacking: {}", attack.name()));
            attack.run(&view)
        };
        Some(match choice {
            AttackChoice::Cover => step(&Cover),
            AttackChoice::Closure => step(&Closure),
            AttackChoice::Worlds => step(&Worlds { steps: args.steps }),
            AttackChoice::Reassociate => {
                step(&Reassociate { score: co_occurrence(release), matching: Matching::Greedy })
            }
            AttackChoice::Identity => return None,
        })
    };
    // In the order of strength, each once, whatever the user wrote.
    AttackChoice::value_variants().iter().filter(|choice| args.attack.contains(choice)).filter_map(run).collect()
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

/// What was found. Nothing in it is about one person.
#[derive(Serialize)]
struct Report {
    k: u32,
    m: u32,
    records: u64,
    clusters: u64,
    /// Nothing certain beyond the limit, and no row likelier than 1/k.
    holds: bool,
    /// How many different statements are certain.
    certain: u64,
    limit: u64,
    attacks: Vec<OfAttack>,
    identity: Option<Risk>,
    /// Clusters with certain statements, the worst first.
    worst: Vec<Cluster>,
}

/// What one attack found.
#[derive(Serialize)]
struct OfAttack {
    attack: &'static str,
    says: Says,
    statements: u64,
    clusters_touched: u64,
    coverage: Coverage,
    /// With the original: how true it is.
    score: Option<Score>,
    /// With the original: how true blind guesses are.
    baseline: Option<Rate>,
}

/// What is certain about one cluster.
#[derive(Serialize)]
struct Cluster {
    /// Numbered from 0, depth first through the release.
    cluster: u32,
    attacks: BTreeSet<&'static str>,
    /// Different terms that whoever has those of a statement has as well.
    learned: u64,
    /// With the original: how many people true statements are about.
    people: Option<u64>,
    statements: Vec<Statement>,
}

/// Fewer than k people of the cluster have these terms.
#[derive(Serialize)]
struct Statement {
    terms: Vec<String>,
    learned: Vec<String>,
}

impl Report {
    fn new(
        found: &[Findings],
        identity: Option<Risk>,
        truth: Option<&Truth<'_>>,
        release: &Disassociated,
        limit: u64,
    ) -> Self {
        let header = release.header;
        let of_attack = |findings: &Findings| OfAttack {
            attack: findings.attack,
            says: findings.says,
            statements: findings.found.len() as u64,
            clusters_touched: findings.found.iter().map(|finding| finding.leaf).collect::<HashSet<_>>().len() as u64,
            coverage: findings.coverage,
            score: truth.map(|truth| judge(findings, truth, header.k)),
            baseline: truth.map(|truth| baseline(findings, truth, header.k, BASELINE_SEED)),
        };
        let worst = clusters(found, truth, release);
        let certain = worst.iter().map(|cluster| cluster.statements.len() as u64).sum();
        Report {
            k: header.k,
            m: header.m,
            records: header.records,
            clusters: release.roots.iter().map(|root| root.leaves().len() as u64).sum(),
            holds: certain <= limit && identity.is_none_or(|risk| risk.above == 0),
            certain,
            limit,
            attacks: found.iter().map(of_attack).collect(),
            identity,
            worst,
        }
    }
}

/// Clusters with what is certain about them: those with most people touched first, if that is known, otherwise those with
/// most terms learned.
fn clusters(found: &[Findings], truth: Option<&Truth<'_>>, release: &Disassociated) -> Vec<Cluster> {
    type OfCluster<'f> = BTreeMap<&'f [TermId], (BTreeSet<TermId>, &'f Finding)>;
    let mut by_cluster: HashMap<u32, (BTreeSet<&'static str>, OfCluster<'_>)> = HashMap::new();
    for findings in found.iter().filter(|findings| findings.says == Says::FewerThanK) {
        for finding in &findings.found {
            let (attacks, statements) = by_cluster.entry(finding.leaf).or_default();
            attacks.insert(findings.attack);
            // What several attacks state is one statement; they may have learned different terms.
            let (learned, _) = statements.entry(&finding.terms).or_insert_with(|| (BTreeSet::new(), finding));
            learned.extend(&finding.learned);
        }
    }
    let texts = |terms: &mut dyn Iterator<Item = TermId>| -> Vec<String> {
        terms.map(|term| release.dictionary.text(term).to_owned()).collect()
    };
    let cluster = |(cluster, (attacks, statements)): (u32, (BTreeSet<&'static str>, OfCluster<'_>))| {
        let people = truth.map(|truth| {
            let of_statement =
                |(_, finding): &(_, &Finding)| concerned(Says::FewerThanK, finding, truth, release.header.k);
            statements.values().flat_map(of_statement).collect::<HashSet<_>>().len() as u64
        });
        let learned: HashSet<TermId> = statements.values().flat_map(|(learned, _)| learned).copied().collect();
        let statement = |(terms, (learned, _)): (&&[TermId], &(BTreeSet<TermId>, &Finding))| Statement {
            terms: texts(&mut terms.iter().copied()),
            learned: texts(&mut learned.iter().copied()),
        };
        let learned = learned.len() as u64;
        Cluster { cluster, attacks, learned, people, statements: statements.iter().map(statement).collect() }
    };
    let mut clusters: Vec<Cluster> = by_cluster.into_iter().map(cluster).collect();
    clusters.sort_by_key(|cluster| {
        std::cmp::Reverse((cluster.people, cluster.learned, std::cmp::Reverse(cluster.cluster)))
    });
    clusters
}

fn text(report: &Report, show_terms: bool) -> String {
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

fn add_attacks(text: &mut String, report: &Report) {
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

fn add_clusters(text: &mut String, report: &Report, show_terms: bool) {
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
