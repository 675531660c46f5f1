//! `disjoin verify`: does the release keep its promise?

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use disjoin::data::Dataset;
use disjoin::publish::{Kept, find_release};
use disjoin::release::Promise;
use disjoin::release::open::open;
use disjoin::verify::{Truth, Verdict, verify};
use disjoin::{Error, Place, Result};

use crate::Outcome;
use crate::args::{Input, name_of};
use crate::talk::{Talk, count, number};

/// Prove or refute what a release promises, from the release alone
///
/// Reads the claim and every cluster, and checks each rule that the promise rests on. With the original, also checks
/// that the release tells the truth about it: no term invented, none lost.
///
/// Ends with exit code 0 if the promise holds and 1 if it does not.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The package that disjoin protect wrote, or the folder release in it
    release: PathBuf,
    /// The data that the release was made from; "-" is standard input
    #[arg(long, value_name = "FILE")]
    original: Option<PathBuf>,
    /// The custody folder [default: the one beside the release, if there is one]
    #[arg(long, value_name = "DIR", requires = "original")]
    custody: Option<PathBuf>,
    #[command(flatten)]
    input: Input,
}

const EXAMPLES: &str = "\
Examples:
  disjoin verify out
  disjoin verify out/release --json
  disjoin verify out --original baskets.dat";

/// How many findings are shown as text; --json has all.
const SHOWN: usize = 10;

pub(crate) fn run(args: &Args, talk: &Talk) -> Result<Outcome> {
    if let Some(folder) = crate::split::release_of(&args.release)? {
        return crate::split::verify(&folder, args.original.as_deref(), args.custody.as_deref(), &args.input, talk);
    }
    if let Some(folder) = crate::table::release_of(&args.release)? {
        return crate::table::verify(&folder, args.original.as_deref(), args.custody.as_deref(), &args.input, talk);
    }
    if let Some(folder) = crate::recoding::release_of(&args.release)? {
        return crate::recoding::verify(&folder, args.original.as_deref(), args.custody.as_deref(), &args.input, talk);
    }
    if let Some(folder) = crate::noise::release_of(&args.release)? {
        return crate::noise::verify(&folder, args.original.as_deref(), talk);
    }
    let (folder, _) = find_release(&args.release)?;
    let kept = match (&args.original, custody_of(args.custody.as_deref(), &folder)) {
        (Some(_), Some(custody)) => Some(Kept::read(&custody)?),
        _ => None,
    };
    let original = match &args.original {
        Some(file) => Some(read_original(file, kept.as_ref(), &args.input, talk)?),
        None => None,
    };
    talk.step("checking every cluster");
    let leaf_of = kept.as_ref().map(|kept| &kept.leaf_of[..]);
    let truth = original.as_ref().map(|original| Truth { original, leaf_of });
    let verdict = check(&folder, truth)?;
    if talk.is_json() {
        talk.print_json(&verdict)?;
    } else {
        talk.print(&text(&verdict))?;
    }
    Ok(if verdict.holds { Outcome::Holds } else { Outcome::Broken })
}

/// Runs the verifier on a release folder.
pub(crate) fn check(folder: &Path, truth: Option<Truth<'_>>) -> Result<Verdict> {
    let package = open(folder)?;
    verify(&package.claim, package.roots, truth)
}

/// The custody folder that the user named, or the one beside the release folder.
pub(crate) fn custody_of(named: Option<&Path>, release: &Path) -> Option<PathBuf> {
    let beside = || release.parent().map(|parent| parent.join("custody")).filter(|folder| folder.is_dir());
    named.map(Path::to_path_buf).or_else(beside)
}

/// Reads the original; if custody was kept, another file than the one that was protected is refused.
pub(crate) fn read_original(file: &Path, kept: Option<&Kept>, input: &Input, talk: &Talk) -> Result<Dataset> {
    let (data, intake) = input.read(file, talk)?;
    let problem = match kept {
        Some(kept) if kept.input_sha256 != intake.sha256 => "is not the file that was protected: its digest differs",
        Some(kept) if kept.leaf_of.len() != data.records.len() => {
            "is the file that was protected, but was read in another way: the number of records differs"
        }
        _ => return Ok(data),
    };
    Err(Error::input(Place::file(name_of(file)), problem)
        .with_hint("give the file and the input flags that disjoin protect was given"))
}

fn text(verdict: &Verdict) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "{} in {}, {} of them joint",
        count(verdict.records, "record", "records"),
        count(verdict.clusters, "cluster", "clusters"),
        number(verdict.joint_clusters)
    );
    let _ = writeln!(text, "\n  {:<44}{:>14}{:>12}", "rule", "checked", "violated");
    for check in &verdict.checks {
        let _ = writeln!(
            text,
            "  {:<44}{:>14}{:>12}",
            check.rule.to_string(),
            number(check.checked),
            number(check.violated)
        );
    }
    if !verdict.findings.is_empty() {
        text.push('\n');
    }
    for finding in verdict.findings.iter().take(SHOWN) {
        let _ = writeln!(text, "line {}: {}: {}", finding.line, finding.rule, finding.detail);
    }
    let hidden = verdict.violations.saturating_sub(verdict.findings.len().min(SHOWN) as u64);
    if hidden > 0 {
        let _ = writeln!(text, "and {} more", number(hidden));
    }
    let (k, m) = (verdict.k, verdict.m);
    let _ = match (verdict.holds, verdict.promise) {
        (true, promise) => writeln!(text, "\nThe promise holds (k = {k}, m = {m}). {}", promise.text(k, m)),
        (false, Promise::None) => writeln!(text, "\nNothing is promised: {}", Promise::None.text(k, m)),
        (false, _) => {
            writeln!(text, "\nThe promise does NOT hold: {}.", count(verdict.violations, "violation", "violations"))
        }
    };
    text
}
