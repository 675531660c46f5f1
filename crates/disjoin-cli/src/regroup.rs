//! `disjoin repair` for generalised sets: groups in which nothing stands out.

use std::fmt::Write as _;
use std::path::Path;

use disjoin::attack::semantic::Distance;
use disjoin::publish::{Destination, Part, publish_regrouped};
use disjoin::repair::regroup::{Asked, Ended, Fared, Regrouped, Stats, regroup};
use disjoin::verify::open_recoded;
use disjoin::{Error, Result};
use serde_json::json;

use crate::Outcome;
use crate::args::{Input, name_original};
use crate::semantic::Flags;
use crate::talk::{Talk, count};
use crate::verify::custody_of;

/// What is asked of a release of generalised sets.
pub(crate) struct Job<'a> {
    pub(crate) folder: &'a Path,
    pub(crate) out: &'a Path,
    pub(crate) original: Option<&'a Path>,
    pub(crate) flags: &'a Flags,
    pub(crate) limit: f64,
    pub(crate) input: &'a Input,
}

pub(crate) fn run(job: &Job<'_>, destination: &Destination, talk: &Talk) -> Result<Outcome> {
    let Some(file) = job.original else {
        let problem = "is missing: generalised sets are grouped anew from what they were made of";
        return Err(Error::recipe("--original", problem, "give the file that disjoin protect was given"));
    };
    if !(job.limit >= 1.0 && job.limit.is_finite()) {
        return Err(Error::recipe("--limit", "must be a number of 1 or more", "1.5 lets NCP grow by a half"));
    }
    talk.step("reading the release");
    let (claim, release) = open_recoded(job.folder)?;
    let words = job.flags.words.read_all()?;
    let (original, _) = job.input.read(file, talk)?;
    let mut told = Vec::new();
    for words in &words {
        told.extend(words.of_terms(&original.dictionary)?);
    }
    if told.is_empty() {
        let problem = "is missing: what attackers may know about words";
        return Err(Error::recipe("--corpus", problem, "name a corpus, or --vectors, or --counts, or several of them"));
    }
    let adversaries: Vec<&Distance<'_>> = told.iter().map(|told| &*told.distance).collect();
    let options = job.flags.options();
    let asked = Asked {
        claim: &claim,
        release: &release,
        original: &original,
        adversaries: &adversaries,
        options: &options,
        most: 0.0,
        limit: job.limit,
    };
    let mended = regroup(&asked, &mut |step| talk.step(step)).map_err(|error| name_original(error, file))?;
    talk.step("writing the package");
    let custody = custody_of(None, job.folder);
    publish_regrouped(destination, &mended, custody.as_deref())?;
    let sources: Vec<&str> = told.iter().map(|told| told.source).collect();
    tell(job, &mended, &sources, custody.is_some(), talk)
}

fn tell(job: &Job<'_>, mended: &Regrouped, sources: &[&str], with_custody: bool, talk: &Talk) -> Result<Outcome> {
    let Regrouped { claim, stats, .. } = mended;
    let path = |part: Part| job.out.join(part.folder());
    let is_mended = stats.ended == Ended::Baseline;
    if talk.is_json() {
        let custody = with_custody.then(|| path(Part::Custody).to_string_lossy().into_owned());
        talk.print_json(&json!({
            "release": path(Part::Release).to_string_lossy(),
            "custody": custody,
            "promised": claim.promised,
            "records": claim.records,
            "adversaries": sources,
            "stats": stats,
        }))?;
    } else {
        talk.print(&text(stats, sources))?;
    }
    talk.note(&format!("{}  may leave the building", path(Part::Release).display()));
    if with_custody {
        talk.note(&format!("{}  must not", path(Part::Custody).display()));
    }
    talk.note(&format!("next: disjoin verify {}", job.out.display()));
    Ok(if is_mended { Outcome::Holds } else { Outcome::Broken })
}

fn text(stats: &Stats, sources: &[&str]) -> String {
    let mut text = format!("  {:<16}{:>26}{:>22}\n", "", "precision", "beyond blind");
    let _ = writeln!(text, "  {:<16}{:>13}{:>13}{:>11}{:>11}", "attack", "before", "after", "before", "after");
    for (number, source) in sources.iter().enumerate() {
        // Writing to a String cannot fail.
        if sources.len() > 1 {
            let _ = writeln!(text, "  with {source}");
        }
        for Fared { attack, before, after, .. } in stats.attacks.iter().filter(|fared| fared.adversary == number) {
            let _ = writeln!(
                text,
                "  {:<16}{:>13.3}{:>13.3}{:>11.3}{:>11.3}",
                attack.name(),
                before.score.as_ref().map_or(0.0, |score| score.precision.share),
                after.score.as_ref().map_or(0.0, |score| score.precision.share),
                before.beyond_blind().max(0.0),
                after.beyond_blind().max(0.0)
            );
        }
    }
    let _ = writeln!(
        text,
        "\n  {} in {}; NCP {:.5}, was {:.5}\n",
        count(stats.exchanges, "exchange", "exchanges"),
        count(u64::from(stats.rounds), "round", "rounds"),
        stats.ncp.1,
        stats.ncp.0
    );
    text.push_str(match stats.ended {
        Ended::Baseline => "No attack is right more often than eliminating blindly, by more than chance explains.\n",
        Ended::Limit => "An attack still wins: what would help costs more utility than --limit allows.\n",
        Ended::Exhausted => "An attack still wins: nothing that was tried helps and keeps the promise.\n",
    });
    text
}
