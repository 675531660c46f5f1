//! `disjoin repair`: a release that promises more, made from the release alone.

use std::path::PathBuf;

use clap::ValueEnum;
use disjoin::publish::{Destination, Part, carry_custody, find_release, write_release};
use disjoin::release::open::{InMemory, Package, RootStream, load_into, open};
use disjoin::release::{Claim, Promise};
use disjoin::repair::{Mended, Stats, set_aside};
use disjoin::verify::verify;
use disjoin::{Error, Place, Result};
use serde_json::json;

use crate::args::Input;
use crate::convert::exists;
use crate::recoding::release_of;
use crate::talk::{Talk, count, number};
use crate::verify::custody_of;
use crate::{Outcome, regroup};

/// Mend a release that gives people away
///
/// Disassociated data are mended without their original. Somebody who knows how clusters are cut into chunks may learn that
/// fewer than k people have some terms. Such terms are set aside: they move to the term chunk of their cluster, where only
/// their presence is told, until nothing is given away. What is left in the chunks keeps its counts.
///
/// Generalised sets are grouped anew, from the original. Somebody who knows what words mean tells which members of a group were
/// added (disjoin attack). Such members change places with terms that fit the same records, until no attack is right more
/// often than blindly, or nothing helps any more: exit code 1 then. The promise is proven after every exchange. Of several
/// sources of what words mean each is an adversary's, and none shall win.
///
/// Writes a package like that of disjoin protect: OUT/release, and OUT/custody if RELEASE has one. It is written only if its
/// promise was proven. Whoever has the old release still knows what it tells: withdraw it, or mend it before it leaves.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The package that disjoin protect wrote, or the folder release in it
    release: PathBuf,
    /// The folder to write the package to
    #[arg(short, long, value_name = "OUT")]
    out: PathBuf,
    /// Which reading of the guarantee the mended release promises
    #[arg(long, value_enum, default_value_t = PromiseChoice::AlgorithmAware)]
    promise: PromiseChoice,
    /// Replace OUT if it exists
    #[arg(long)]
    force: bool,
    /// What generalised sets were made from
    #[arg(long, value_name = "FILE", help_heading = "Generalised sets")]
    original: Option<PathBuf>,
    /// NCP may become so many times what it was
    #[arg(long, value_name = "TIMES", help_heading = "Generalised sets", default_value_t = 1.5)]
    limit: f64,
    #[command(flatten)]
    semantic: crate::semantic::Flags,
    #[command(flatten)]
    input: Input,
}

const EXAMPLES: &str = "\
Examples:
  disjoin repair out -o mended
  disjoin repair out/release -o mended --promise algorithm-aware --json
  disjoin repair out -o mended --original notes.jsonl --corpus words.corpus
  disjoin repair out -o mended --original notes.jsonl --corpus words.corpus --vectors wordllama.whl --limit 2";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PromiseChoice {
    /// Also against somebody who knows how clusters are cut into chunks
    AlgorithmAware,
}

pub(crate) fn run(args: &Args, talk: &Talk) -> Result<Outcome> {
    let PromiseChoice::AlgorithmAware = args.promise;
    let destination = Destination::check(&args.out)?;
    if destination.replaces() && !args.force {
        return Err(exists(&args.out));
    }
    if let Some(folder) = release_of(&args.release)? {
        let Args { out, original, limit, semantic, input, .. } = args;
        let original = original.as_deref();
        let job = regroup::Job { folder: &folder, out, original, flags: semantic, limit: *limit, input };
        return regroup::run(&job, &destination, talk);
    }
    if args.original.is_some() || args.semantic.is_given() {
        let problem = "is for generalised sets, and this release is mended without";
        return Err(Error::recipe("--original or --corpus", problem, "leave it out"));
    }
    let (folder, encoding) = find_release(&args.release)?;
    talk.step("reading the release");
    let Package { claim, mut roots } = open(&folder)?;
    claim.check_header(&roots.header(), roots.file())?;
    let release = load_into(disjoin::data::Dictionary::default(), &mut roots)?;
    talk.step("setting terms aside");
    let Mended { release, leaves, stats } = set_aside(&release, &claim.parameters);
    let claim = Claim::disassociation(claim.parameters.clone(), Promise::AlgorithmAware, claim.records);
    talk.step("proving the promise");
    if !verify(&claim, InMemory::new(&release), None)?.holds {
        let problem = "breaks conditions that setting terms aside does not mend; nothing was written";
        return Err(Error::input(Place::file(folder.display().to_string()), problem)
            .with_hint("disjoin verify names them; protect the original again"));
    }
    talk.step("writing the package");
    let custody = custody_of(None, &folder);
    destination.publish(|staging| {
        write_release(staging, &claim, &release, encoding)?;
        custody.as_ref().map_or(Ok(()), |custody| carry_custody(staging, custody, &leaves, claim.promise))
    })?;
    report(args, &claim, stats, custody.is_some(), talk)
}

fn report(args: &Args, claim: &Claim, stats: Stats, with_custody: bool, talk: &Talk) -> Result<Outcome> {
    let Stats { clusters, clusters_changed, terms_set_aside, occurrences_hidden } = stats;
    match clusters_changed {
        0 => talk.note(&format!("nothing was given away in {}", count(clusters, "cluster", "clusters"))),
        _ => talk.note(&format!(
            "{} set aside in {} of {}: {} told no longer",
            count(terms_set_aside, "term", "terms"),
            number(clusters_changed),
            count(clusters, "cluster", "clusters"),
            count(occurrences_hidden, "occurrence is", "occurrences are"),
        )),
    }
    let path = |part: Part| args.out.join(part.folder());
    talk.note(&format!("{}  may leave the building", path(Part::Release).display()));
    if with_custody {
        talk.note(&format!("{}  must not", path(Part::Custody).display()));
    }
    talk.note(&format!("next: disjoin verify {}", args.out.display()));
    if talk.is_json() {
        let custody = with_custody.then(|| path(Part::Custody).to_string_lossy().into_owned());
        talk.print_json(&json!({
            "release": path(Part::Release).to_string_lossy(),
            "custody": custody,
            "promise": claim.promise,
            "promised": claim.promised,
            "records": claim.records,
            "stats": stats,
        }))?;
    }
    Ok(Outcome::Holds)
}
