//! `disjoin demo`: the whole way once, on a made-up hospital.

use std::path::{Path, PathBuf};

use disjoin::data::{Risk, risk};
use disjoin::generate::hospital;
use disjoin::measure::{self, Report, measure};
use disjoin::protect::disassociation::Params;
use disjoin::publish::{Destination, Encoding, find_release};
use disjoin::read::{Options, read_bytes};
use disjoin::release::open::open;
use disjoin::verify::{Truth, Verdict};
use disjoin::{Error, Result};
use serde_json::json;

use crate::Outcome;
use crate::protect::{Made, disassociate, make_parent};
use crate::talk::{Talk, count, number, percent};
use crate::verify::check;

/// See the whole way once: a made-up hospital, its risk, a release, the proof, and what is left
///
/// Generates patients who do not exist, shows how many of them two diagnoses would single out, protects them with k = 5
/// and m = 2, verifies the release against the original, and measures what it is still good for.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Number of patients
    #[arg(long, value_name = "N", default_value_t = 5000)]
    patients: u64,
    /// Where randomness starts
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// The folder to write the package to
    #[arg(short, long, value_name = "OUT", default_value = "out/demo")]
    out: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  disjoin demo
  disjoin demo --patients 100000 --seed 7 -o /tmp/demo";

const K: u32 = 5;
const M: u32 = 2;

pub(crate) fn run(args: &Args, talk: &Talk) -> Result<Outcome> {
    make_parent(&args.out)?;
    let destination = Destination::check(&args.out)?;
    talk.step("making up patients");
    let register = hospital::hospital(&hospital::Params { patients: args.patients, seed: args.seed })?;
    let mut original = Vec::new();
    register.write_csv(&mut original).map_err(|e| Error::io(Path::new("original.csv"), "write", e))?;
    // Read back as a user's file would be, so that the last step can be repeated by hand.
    let options = Options { column: Some("diagnoses".into()), ..Options::default() };
    let (data, intake) = read_bytes("original.csv", &original, &options)?;

    talk.step("looking for patients whom two diagnoses single out");
    let before = risk(&data, K, M);
    let params = Params { algorithm_aware: true, ..Params::new(K, M) };
    let made = disassociate(&data, &params, talk)?;
    let leaf_of = made.leaf_of.clone();
    talk.step("writing the package");
    let made = Made::new(&data, &params, made, intake);
    made.publish(&destination, Encoding::JsonLines, Some(&original))?;

    talk.step("verifying the release from its files");
    let (folder, _) = find_release(&args.out)?;
    let verdict = check(&folder, Some(Truth { original: &data, leaf_of: Some(&leaf_of) }))?;
    talk.step("measuring what is left");
    let mut roots = open(&folder)?.roots;
    let utility = measure(&mut roots, &data, &measure::Options { reconstructions: 1, ..measure::Options::default() })?;
    if talk.is_json() {
        talk.print_json(&json!({
            "out": args.out.to_string_lossy(),
            "before": before,
            "promised": made.claim().promised,
            "stats": made.stats(),
            "verdict": verdict,
            "utility": utility,
        }))?;
    } else {
        talk.print(&text(&args.out, &before, &made, &verdict, &utility))?;
    }
    Ok(if verdict.holds { Outcome::Holds } else { Outcome::Broken })
}

fn text(out: &Path, before: &Risk, made: &Made, verdict: &Verdict, utility: &Report) -> String {
    let out = out.display();
    let after = match verdict.holds {
        true => format!(
            "Proven from the published files alone: whatever two diagnoses of a patient you\n\
             \x20 know, at least {K} patients may be the one. Checked: {}.",
            count(verdict.clusters, "group of patients", "groups of patients")
        ),
        false => String::from("The promise does NOT hold. This is a defect of disjoin: please report it."),
    };
    format!(
        "{patients} made-up patients, each with a set of diagnoses.

BEFORE: the data as it is
  {at_risk} patients ({share}) have two diagnoses that fewer than {K} patients share.
  Whoever knows these two, a neighbour or an employer, can find out all the others.

AFTER: the same diagnoses, none lost, but cut into chunks that are no longer linked
  {after}
  {joins} groups share chunks, so that rarer diagnoses keep their counts, too.

STILL THERE: what an analyst can ask of it
  {kept} of the {top} most frequent sets of diagnoses still are the most frequent ones.
  Counts of {queries} random sets are off by {error} on the median; bounds held for {bounded}.

FILES
  {out}/release   may leave the building: the data, and a claim that says what is promised
  {out}/custody   must not: the original, and which patient went to which group

TRY NEXT
  disjoin verify {out} --original {out}/custody/original.csv --column diagnoses
  disjoin query {out} --top 10 --size 2
  disjoin measure {out} --original {out}/custody/original.csv --column diagnoses
  disjoin protect YOUR_FILE -k {K} -m {M} -o out/mine
",
        patients = number(before.records),
        at_risk = number(before.at_risk),
        share = percent(before.at_risk, before.records),
        joins = number(made.stats().joint_roots),
        kept = number(((1.0 - utility.top_k.tkd_e.all) * utility.top_k.k as f64).round() as u64),
        top = number(utility.top_k.k as u64),
        queries = number(utility.queries.queries as u64),
        bounded = percent((1000.0 * utility.queries.within_bounds).floor() as u64, 1000),
        error = percent((1000.0 * utility.queries.median).round() as u64, 1000),
    )
}
