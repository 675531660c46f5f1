//! `disjoin attack` for generalised sets: what do neighbours give away?

use std::fmt::Write as _;
use std::path::Path;

use clap::ValueEnum;
use disjoin::attack::reassociate::{Matching, Reassociate};
use disjoin::attack::semantic::calibrated::{calibrated, learn};
use disjoin::attack::semantic::judge::{Score, Truth, align, judge};
use disjoin::attack::semantic::{Coverage, Distance, METHODS, Method, Tables, Trace, View, eliminate, tables};
use disjoin::attack::{self, Attack, Findings};
use disjoin::data::{Dictionary, TermId, Transactions};
use disjoin::reconstruct::relatedness::{Known, by_records};
use disjoin::release::recoded::{Recoded, TRANSACTIONS, read_recoded};
use disjoin::{Error, Result};
use serde_json::json;

use crate::Outcome;
use crate::args::{Input, name_original};
use crate::talk::{Talk, count, number};
use crate::words::Sources;

/// What the adversary knows about words, and what is done with it.
#[derive(clap::Args)]
#[group(id = "semantic")]
pub(crate) struct Flags {
    #[command(flatten)]
    words: Sources,
    /// Which attacks to run, with commas between
    #[arg(long, value_name = "METHOD", help_heading = "Generalised sets", value_enum, value_delimiter = ',', default_values_t = Eliminate::value_variants().to_vec())]
    eliminate: Vec<Eliminate>,
    /// How many items beside a generalised one count, the rarest first [default: all]
    #[arg(long, value_name = "N", help_heading = "Generalised sets", value_parser = clap::value_parser!(u32).range(1..))]
    context: Option<u32>,
    /// Where the randomness of attacks starts
    #[arg(long, value_name = "N", help_heading = "Generalised sets", default_value_t = 0)]
    seed: u64,
}

impl Flags {
    /// Whether something is asked for that only generalised sets have.
    pub(crate) fn is_given(&self) -> bool {
        self.words.is_given() || self.context.is_some()
    }
}

/// An attack on generalised sets, as the user writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Eliminate {
    /// By the toss of a coin: what others are compared with
    Random,
    /// The member that is farthest from its context
    Largest,
    /// All that are farther than on average
    Threshold,
    /// The farthest first, with weights
    Weighted,
    /// The farthest of the row or column that falls apart most clearly
    Group,
    /// As that, but only near members inherit weight
    Redistribution,
    /// By a probability that is learned from what was not generalised
    Calibrated,
}

impl Eliminate {
    fn method(self) -> Method {
        METHODS[Eliminate::value_variants().iter().position(|&other| other == self).unwrap_or(0)]
    }
}

/// What is asked of a release of generalised sets.
pub(crate) struct Asked<'a> {
    pub(crate) flags: &'a Flags,
    pub(crate) original: Option<&'a Path>,
    pub(crate) outside: Option<&'a Path>,
    pub(crate) show_terms: bool,
    pub(crate) input: &'a Input,
}

/// What one attack found in all blocks.
struct Found {
    method: Method,
    traces: Vec<Vec<Trace>>,
    score: Option<Score>,
}

pub(crate) fn attack(folder: &Path, asked: &Asked<'_>, talk: &Talk) -> Result<Outcome> {
    talk.step("reading the release");
    let release = read_recoded(&folder.join(TRANSACTIONS))?;
    let records: Vec<Transactions> = release.blocks.iter().map(|block| block.bag.transactions()).collect();
    let words = asked.flags.words.read()?;
    let outside = match asked.outside {
        Some(file) => Some(in_terms_of(&release.dictionary, &asked.input.read(file, talk)?.0)),
        None => None,
    };
    let (distance, known, by): (Box<Distance<'_>>, Known, &str) = match &words {
        Some(words) => {
            let (distance, known) = words.distances(&release.dictionary)?;
            (distance, known, words.name())
        }
        None => {
            let own = singles(&release);
            let records = outside.as_ref().unwrap_or(&own);
            let known = records.all_terms().iter().collect::<std::collections::HashSet<_>>().len() as u64;
            let unknown = release.dictionary.len() as u64 - known;
            let by = if outside.is_some() { "other people's records" } else { "the release itself" };
            let distance = by_records(records, release.dictionary.len());
            (Box::new(distance), Known { words: known, unknown, ..Known::default() }, by)
        }
    };
    talk.step("laying out distances");
    let most = asked.flags.context.map(|n| n as usize);
    let views: Vec<View<'_>> =
        release.blocks.iter().zip(&records).map(|(block, records)| View { groups: &block.groups, records }).collect();
    let laid: Vec<Tables> = views.iter().map(|view| tables(view, &*distance, most)).collect();
    let coverage = laid.iter().fold(Coverage::default(), |all, of| all.with(&of.coverage));
    let truth = match asked.original {
        None => None,
        Some(file) => {
            let [view] = views[..] else {
                let problem = "a release with several recodings cannot be compared: who is in which is not published";
                return Err(Error::recipe("--original", problem, "attack it without the original"));
            };
            let (original, _) = asked.input.read(file, talk)?;
            Some(align(&view, &release.dictionary, &original).map_err(|error| name_original(error, file))?)
        }
    };
    talk.step("attacking");
    let mut learned = true;
    let mut all = Vec::new();
    for choice in &asked.flags.eliminate {
        let method = choice.method();
        let attack = |(view, laid): (&View<'_>, &Tables)| match eliminate(&laid.tables, method, asked.flags.seed) {
            Some(traces) => traces,
            None => match learn(view, &laid.tables, &*distance, most, asked.flags.seed) {
                Some(model) => calibrated(&laid.tables, &model),
                None => {
                    learned = false;
                    Vec::new()
                }
            },
        };
        let traces: Vec<Vec<Trace>> = views.iter().zip(&laid).map(attack).collect();
        let score = match (&truth, &laid[..], &traces[..]) {
            (Some((original, origin)), [laid], [traces]) if traces.len() == laid.tables.len() => {
                Some(judge(&laid.tables, traces, &Truth::new(original, Some(origin))))
            }
            _ => None,
        };
        all.push(Found { method, traces, score });
    }
    if !learned {
        talk.warn("too little is not generalised to learn from: the calibrated attack was left out");
        all.retain(|found| found.method != Method::Calibrated);
    }
    if coverage.generalised > 0 && coverage.attacked == 0 {
        talk.warn("nothing could be attacked: no distance is known (see --corpus and --vectors), or records hold nothing beside");
    }
    tell(asked, &release, &laid, &all, (by, known, coverage), talk)?;
    let wins = |found: &Found| found.score.as_ref().is_some_and(|score| score.precision.low > share_added(score));
    Ok(if all.iter().any(wins) { Outcome::Broken } else { Outcome::Holds })
}

/// Parts of records put together by what words mean, if somebody said what they mean.
pub(crate) fn reassociate(flags: &Flags, view: &attack::View<'_>, talk: &Talk) -> Result<Option<Findings>> {
    let Some(words) = flags.words.read()? else { return Ok(None) };
    let (distance, _) = words.distances(&view.release.dictionary)?;
    talk.step("attacking: reassociate-words");
    let score = |a: TermId, b: TermId| -distance(a, b);
    let found = Reassociate { score, matching: Matching::Optimal }.run(view);
    Ok(Some(Findings { attack: "reassociate-words", ..found }))
}

/// How often somebody is right who eliminates blindly.
fn share_added(score: &Score) -> f64 {
    score.added as f64 / (score.added + score.original).max(1) as f64
}

/// Records of others, as far as the release has their terms.
fn in_terms_of(dictionary: &Dictionary, data: &disjoin::data::Dataset) -> Transactions {
    let names: Vec<Option<TermId>> = data.dictionary.iter().map(|text| dictionary.get(text)).collect();
    let mut records = Transactions::default();
    for record in data.records.iter() {
        records.push(&mut record.iter().filter_map(|&term| names[term as usize]).collect());
    }
    records
}

/// What the release tells ungeneralised.
fn singles(release: &Recoded) -> Transactions {
    let mut records = Transactions::default();
    for block in &release.blocks {
        for record in block.bag.transactions().iter() {
            let single = |&group: &u32| {
                block.groups[group as usize].first().copied().filter(|_| block.groups[group as usize].len() == 1)
            };
            records.push(&mut record.iter().filter_map(single).collect());
        }
    }
    records
}

/// How many eliminations are shown.
const SHOWN: usize = 10;

fn tell(
    asked: &Asked<'_>,
    release: &Recoded,
    laid: &[Tables],
    all: &[Found],
    (by, known, coverage): (&str, Known, Coverage),
    talk: &Talk,
) -> Result<()> {
    let eliminated = |found: &Found| found.traces.iter().flatten().map(|trace| trace.steps.len() as u64).sum::<u64>();
    if talk.is_json() {
        let attacks: Vec<_> = all
            .iter()
            .map(|found| json!({ "attack": found.method, "eliminated": eliminated(found), "score": found.score }))
            .collect();
        return talk.print_json(&json!({ "distances": by, "terms": known, "coverage": coverage, "attacks": attacks }));
    }
    let mut text = format!("distances from {by}\n");
    let _ = writeln!(
        text,
        "  terms known         {} as words, {} as phrases, {} by their last word, {} by their words, {} unknown",
        number(known.words),
        number(known.phrases),
        number(known.heads),
        number(known.means),
        number(known.unknown)
    );
    if known.pieces > 0 {
        let _ = writeln!(text, "  and from pieces     {}", count(known.pieces, "word", "words"));
    }
    let _ = writeln!(
        text,
        "  generalised items   {}, of which {} attacked ({} with one record, {} of unknown meaning)",
        number(coverage.generalised),
        number(coverage.attacked),
        number(coverage.single_row),
        number(coverage.unknown)
    );
    let _ = writeln!(
        text,
        "  their members       {} in all records, {} unknown; {} left out: nothing stands beside",
        number(coverage.cells),
        number(coverage.unknown_cells),
        count(coverage.rows_without_context, "record", "records")
    );
    let _ = writeln!(
        text,
        "\n  {:<16}{:>11}{:>11}{:>17}{:>9}{:>8}{:>9}",
        "attack", "eliminated", "precision", "95 % interval", "recall", "F", "mean F"
    );
    for found in all {
        let name = name_of(found.method);
        let _ = write!(text, "  {name:<16}{:>11}", number(eliminated(found)));
        if let Some(score) = &found.score {
            let interval = format!("{:.3}-{:.3}", score.precision.low, score.precision.high);
            let _ = write!(
                text,
                "{:>11.3}{interval:>17}{:>9.3}{:>8.3}{:>9.3}",
                score.precision.share, score.recall.share, score.f, score.mean_f
            );
        }
        text.push('\n');
    }
    if let Some(score) = all.iter().find_map(|found| found.score.as_ref()) {
        let _ = writeln!(
            text,
            "\n  eliminating blindly is right in {:.3} of cases: the density is {:.3}",
            share_added(score),
            score.density
        );
    }
    if asked.show_terms
        && let Some(found) = all.last()
    {
        let _ = writeln!(text, "\n  surest of {}:", name_of(found.method));
        surest(&mut text, release, laid, found);
    }
    talk.print(&text)
}

/// The eliminations with the highest scores, in words.
fn surest(text: &mut String, release: &Recoded, laid: &[Tables], found: &Found) {
    let mut steps = Vec::new();
    for (laid, traces) in laid.iter().zip(&found.traces) {
        for (table, trace) in laid.tables.iter().zip(traces) {
            steps.extend(trace.steps.iter().map(|step| (step.score, table, step)));
        }
    }
    steps.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (score, table, step) in steps.into_iter().take(SHOWN) {
        let members: Vec<&str> = table.members.iter().map(|&term| release.dictionary.text(term)).collect();
        let _ = writeln!(text, "    {score:.3}  ({}) is not {}", members.join(", "), members[step.column]);
    }
}

/// The name of a method as it is written.
fn name_of(method: Method) -> String {
    let at = METHODS.iter().position(|&other| other == method).unwrap_or(0);
    let value = Eliminate::value_variants()[at].to_possible_value();
    value.map_or(String::new(), |value| value.get_name().to_owned())
}
