//! `disjoin attack` for generalised sets: what do neighbours give away?

use std::fmt::Write as _;
use std::path::Path;

use clap::ValueEnum;
use disjoin::Result;
use disjoin::attack::reassociate::{Matching, Reassociate};
use disjoin::attack::semantic::summary::Summary;
use disjoin::attack::semantic::{Attacked, Eliminated, METHODS, Method, Options, ROWS};
use disjoin::attack::{self, Attack, Findings};
use disjoin::data::{Dataset, TermId};
use disjoin::publish::KeptRecoded;
use disjoin::release::recoded::{Recoded, TRANSACTIONS, read_recoded};
use disjoin::run::meaning::{Words, attack_words};

use crate::Outcome;
use crate::args::{Input, name_original};
use crate::talk::{Talk, count, number};
use crate::verify::custody_of;
use crate::words::Sources;

/// What the adversary knows about words, and what is done with it.
#[derive(clap::Args)]
#[group(id = "semantic")]
pub(crate) struct Flags {
    #[command(flatten)]
    pub(crate) words: Sources,
    /// Which attacks to run, with commas between
    #[arg(long, value_name = "METHOD", help_heading = "Generalised sets", value_enum, value_delimiter = ',', default_values_t = Eliminate::value_variants().to_vec())]
    eliminate: Vec<Eliminate>,
    /// How many items beside a generalised one count, the rarest first [default: all]
    #[arg(long, value_name = "N", help_heading = "Generalised sets", value_parser = clap::value_parser!(u32).range(1..))]
    context: Option<u32>,
    /// How many records of a generalised item are looked at, evenly spread
    #[arg(long, value_name = "N", help_heading = "Generalised sets", default_value_t = ROWS as u32, value_parser = clap::value_parser!(u32).range(1..))]
    rows: u32,
    /// Where the randomness of attacks starts
    #[arg(long, value_name = "N", help_heading = "Generalised sets", default_value_t = 0)]
    seed: u64,
}

impl Flags {
    /// What attacks are asked for.
    pub(crate) fn options(&self) -> Options {
        Options {
            methods: self.eliminate.iter().map(|choice| choice.method()).collect(),
            context: self.context.map(|n| n as usize),
            rows: self.rows as usize,
            seed: self.seed,
        }
    }

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
    pub(crate) custody: Option<&'a Path>,
    pub(crate) outside: Option<&'a Path>,
    pub(crate) show_terms: bool,
    pub(crate) input: &'a Input,
}

pub(crate) fn attack(folder: &Path, asked: &Asked<'_>, talk: &Talk) -> Result<Outcome> {
    talk.step("reading the release");
    let release = read_recoded(&folder.join(TRANSACTIONS))?;
    let words = match (asked.flags.words.read()?, asked.outside) {
        (Words::Release, Some(file)) => Words::Others(asked.input.read(file, talk)?.0),
        (words, _) => words,
    };
    let original = match asked.original {
        Some(file) => Some(read_original(file, folder, &release, asked, talk)?),
        None => None,
    };
    let beside = original.as_ref().map(|(data, line_of)| (data, line_of.as_deref()));
    let options = asked.flags.options();
    let found = attack_words(&release, &words.distances(&release)?, &options, beside, &mut |step| talk.step(step));
    let (attacked, summary) = found.map_err(|error| match asked.original {
        Some(file) => name_original(error, file),
        None => error,
    })?;
    if !summary.left_out.is_empty() {
        talk.warn("too little is not generalised to learn from: the calibrated attack was left out");
    }
    if summary.coverage.generalised > 0 && summary.coverage.attacked == 0 {
        talk.warn("nothing could be attacked: no distance is known (see --corpus and --vectors), or records hold nothing beside");
    }
    if talk.is_json() {
        talk.print_json(&summary)?;
    } else {
        let mut text = text(&summary);
        if asked.show_terms
            && let Some(found) = attacked.found.last()
        {
            let _ = writeln!(text, "\n  surest of {}:", found.method.name());
            surest(&mut text, &release, &attacked, found);
        }
        talk.print(&text)?;
    }
    Ok(if summary.worst().is_some() { Outcome::Broken } else { Outcome::Holds })
}

/// The original, and which line shows each of its records if custody tells.
fn read_original(
    file: &Path,
    folder: &Path,
    release: &Recoded,
    asked: &Asked<'_>,
    talk: &Talk,
) -> Result<(Dataset, Option<Vec<u32>>)> {
    let kept = custody_of(asked.custody, folder).map(|custody| KeptRecoded::read(&custody)).transpose()?;
    let (data, intake) = asked.input.read(file, talk)?;
    let line_of = match kept {
        Some(kept) if kept.input_sha256 == intake.sha256 => Some(kept.line_of),
        // With one recoding its records tell themselves which they were.
        Some(_) if release.blocks.len() > 1 => return Err(crate::recoding::other_file(file)),
        _ => None,
    };
    Ok((data, line_of))
}

/// Parts of records put together by what words mean, if somebody said what they mean.
pub(crate) fn reassociate(flags: &Flags, view: &attack::View<'_>, talk: &Talk) -> Result<Option<Findings>> {
    let words = flags.words.read()?;
    let Some(told) = words.of_terms(&view.release.dictionary)? else { return Ok(None) };
    talk.step("attacking: reassociate-words");
    let score = |a: TermId, b: TermId| -(told.distance)(a, b);
    let found = Reassociate { score, matching: Matching::Optimal }.run(view);
    Ok(Some(Findings { attack: "reassociate-words", ..found }))
}

/// How many eliminations are shown.
const SHOWN: usize = 10;

fn text(summary: &Summary) -> String {
    let Summary { distances, terms: known, coverage, .. } = summary;
    // Writing to a String cannot fail.
    let mut text = format!("distances from {distances}\n");
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
    let recodings = match summary.recodings.len() {
        0 => String::new(),
        n => format!(" in {} recodings", number(n as u64)),
    };
    let _ = writeln!(
        text,
        "  generalised items   {}{recodings}, of which {} attacked ({} with one record, {} of unknown meaning)",
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
    if coverage.rows_left_out > 0 {
        let rows = count(coverage.rows_left_out, "record", "records");
        let _ = writeln!(text, "  a sample            {rows} of items in many left out (--rows)");
    }
    let _ = writeln!(
        text,
        "\n  {:<16}{:>11}{:>11}{:>17}{:>9}{:>8}{:>9}",
        "attack", "eliminated", "precision", "95 % interval", "recall", "F", "mean F"
    );
    for found in &summary.attacks {
        let _ = write!(text, "  {:<16}{:>11}", found.attack.name(), number(found.eliminated));
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
    if let Some((score, blind)) = summary.attacks.iter().find_map(|found| Some((found.score.as_ref()?, found.blind?))) {
        let _ = writeln!(
            text,
            "\n  eliminating blindly is right in {:.3} of cases: the density is {:.3}",
            blind.precision, score.density
        );
    }
    text
}

/// The eliminations with the highest scores, in words.
fn surest(text: &mut String, release: &Recoded, attacked: &Attacked, found: &Eliminated) {
    let mut steps = Vec::new();
    for (table, trace) in attacked.tables.iter().zip(&found.traces) {
        steps.extend(trace.steps.iter().map(|step| (step.score, table, step)));
    }
    steps.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (score, table, step) in steps.into_iter().take(SHOWN) {
        let members: Vec<&str> = table.members.iter().map(|&term| release.dictionary.text(term)).collect();
        let _ = writeln!(text, "    {score:.3}  ({}) is not {}", members.join(", "), members[step.column]);
    }
}
