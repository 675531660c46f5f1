//! Recoded transactions, in the verbs that know them: the flags of `protect`, and what the other verbs do with such a release.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use disjoin::data::{Dataset, TermId, Transactions};
use disjoin::measure::{RecodedOptions, RecodedReport, measure_recoded};
use disjoin::protect::recoding::CostRule;
use disjoin::publish::{Destination, KeptRecoded, RecodedPackage, release_folder};
use disjoin::read::Format;
use disjoin::recipe::recoding::{Method, Recoding};
use disjoin::release::generalized::form_of;
use disjoin::release::recoded::{FORM, Recoded};
use disjoin::report::RecodedStory;
use disjoin::run::recoded::{MadeRecoded, protect_recoded};
use disjoin::verify::{RecodedTruth, RecodedVerdict, open_recoded, verify_recoded};
use disjoin::{Error, Place, Result, read};
use serde_json::json;

use crate::Outcome;
use crate::args::{Crowd, Input, name_of};
use crate::convert::exists;
use crate::run::{ending, tell_story};
use crate::sink::{format_of, write_to};
use crate::talk::{Talk, count, number, percent};
use crate::verify::custody_of;

/// How many findings are shown as text; --json has more.
const SHOWN: usize = 10;

/// Members of a group that a label shows; more are counted.
const MEMBERS: usize = 8;

/// What is asked of methods that recode terms.
#[derive(clap::Args)]
#[command(next_help_heading = "Recoding (sets of terms; needs --method)")]
pub(crate) struct RecodingFlags {
    /// apriori, lra, vpa: make a hierarchy with so many children a node, over the sorted terms, instead of --hierarchy; diffpart: of
    /// the items [default: 10]
    #[arg(long, value_name = "N")]
    pub(crate) fanout: Option<usize>,
    /// apriori, lra, vpa: what a way to mend a set costs
    #[arg(long, value_enum, value_name = "RULE")]
    cost: Option<CostChoice>,
    /// lra: the least number of records of a block [default: 1000 K]
    #[arg(long, value_name = "N")]
    block: Option<usize>,
    /// vpa: in how many parts the terms are looked at first [default: 4]
    #[arg(long, value_name = "N")]
    parts: Option<usize>,
    /// coat, pcta: the privacy constraints, sets of terms that somebody may know of a person: a file with one set a line
    #[arg(long, value_name = "FILE")]
    privacy: Option<PathBuf>,
    /// coat, pcta: protect constraints as a whole only, and not every part of them
    #[arg(long)]
    whole_constraints: bool,
    /// coat, pcta: the largest share of terms that may be suppressed [default: 0]
    #[arg(long, value_name = "SHARE")]
    max_suppressed: Option<f64>,
    /// coat, pcta: suppress more terms than that where constraints cannot be satisfied otherwise
    #[arg(long)]
    force: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CostChoice {
    /// How much is lost beyond what is lost already
    Increment,
    /// How much is lost by it alone
    Alone,
    /// How many nodes are generalised
    Count,
}

impl RecodingFlags {
    /// The same structure that a recipe fills.
    pub(crate) fn asked(
        &self,
        method: Method,
        crowd: &Crowd,
        utility: Option<&str>,
        hierarchy: Option<PathBuf>,
    ) -> Recoding {
        Recoding {
            method,
            k: crowd.k,
            m: crowd.m,
            hierarchy,
            fanout: self.fanout,
            cost: match self.cost {
                None | Some(CostChoice::Increment) => CostRule::Increment,
                Some(CostChoice::Alone) => CostRule::Alone,
                Some(CostChoice::Count) => CostRule::Count,
            },
            block: self.block,
            parts: self.parts,
            privacy: self.privacy.clone(),
            utility: utility.map(PathBuf::from),
            whole_constraints: self.whole_constraints,
            max_suppressed: self.max_suppressed.unwrap_or(0.0),
            force: self.force,
        }
    }

    /// Other methods know none of these flags, but for one.
    pub(crate) fn refuse(&self, is_fanout_known: bool) -> Result<()> {
        let given = [
            ("--privacy", self.privacy.is_some()),
            ("--whole-constraints", self.whole_constraints),
            ("--max-suppressed", self.max_suppressed.is_some()),
            ("--force", self.force),
        ];
        let of_hierarchies = [
            ("--fanout", self.fanout.is_some() && !is_fanout_known),
            ("--cost", self.cost.is_some()),
            ("--block", self.block.is_some()),
            ("--parts", self.parts.is_some()),
        ];
        if let Some((key, _)) = of_hierarchies.into_iter().find(|(_, is_given)| *is_given) {
            let hint = "name the method: --method apriori, lra or vpa";
            return Err(Error::recipe(key, "is for methods that generalise terms", hint));
        }
        match given.into_iter().find(|(_, is_given)| *is_given) {
            Some((key, _)) => {
                Err(Error::recipe(key, "is for privacy constraints", "name the method: --method coat or pcta"))
            }
            None => Ok(()),
        }
    }
}

/// `disjoin protect` by recoding.
pub(crate) fn protect(file: &Path, out: &Path, asked: &Recoding, input: &Input, talk: &Talk) -> Result<Outcome> {
    asked.check()?;
    let destination = Destination::check(out)?;
    destination.check_outside(file)?;
    let (data, intake) = input.read(file, talk)?;
    let made = protect_recoded(asked, &data, &mut |step| talk.step(step))?;
    talk.step("writing the package");
    let custody = made.custody(asked, intake);
    let MadeRecoded { claim, release, line_of, .. } = &made;
    RecodedPackage { claim, release, custody: &custody, line_of, pages: &[] }.publish(&destination)?;
    let generalized = release.blocks.iter().flat_map(|block| &block.groups).filter(|group| group.len() > 1);
    let groups = generalized.count() as u64;
    talk.note(&format!(
        "{}, k = {}: {}, {} published, {}, {} suppressed",
        claim.method,
        claim.k,
        count(claim.records, "record", "records"),
        count(release.dictionary.len() as u64, "term", "terms"),
        count(groups, "group of two or more", "groups of two or more"),
        count(made.suppressed.len() as u64, "term", "terms"),
    ));
    if made.stats["is_over_limit"] == true {
        talk.warn("more terms were suppressed than allowed (--force)");
    }
    talk.note(&format!("{}  may leave the building", out.join("release").display()));
    talk.note(&format!("{}  must not", out.join("custody").display()));
    talk.note(&format!("next: disjoin verify {}", out.display()));
    if talk.is_json() {
        let path = |part| out.join(part).to_string_lossy().into_owned();
        talk.print_json(&json!({
            "release": path("release"),
            "custody": path("custody"),
            "replaced": destination.replaces(),
            "input": custody.input,
            "parameters": custody.parameters,
            "promised": claim.promised,
            "records": claim.records,
            "blocks": claim.blocks,
            "terms": release.dictionary.len(),
            "groups": groups,
            "suppressed_terms": made.suppressed.len(),
            "stats": made.stats,
            "seconds": made.seconds,
        }))?;
    }
    // The program ends here: giving millions of small pieces back one by one would only take time.
    std::mem::forget((data, made));
    Ok(Outcome::Holds)
}

/// The release folder, if a package is that of recoded transactions.
pub(crate) fn release_of(path: &Path) -> Result<Option<PathBuf>> {
    let folder = release_folder(path)?;
    Ok((form_of(&folder.join("claim.json"))? == FORM).then_some(folder))
}

/// The custody map beside a release, if there is one.
pub(crate) fn line_of(folder: &Path) -> Result<Option<Vec<u32>>> {
    let custody = custody_of(None, folder);
    Ok(custody.map(|custody| KeptRecoded::read(&custody)).transpose()?.map(|kept| kept.line_of))
}

/// `disjoin verify` for recoded transactions.
pub(crate) fn verify(
    folder: &Path,
    original: Option<&Path>,
    custody: Option<&Path>,
    input: &Input,
    talk: &Talk,
) -> Result<Outcome> {
    let kept = match (original, custody_of(custody, folder)) {
        (Some(_), Some(custody)) => Some(KeptRecoded::read(&custody)?),
        _ => None,
    };
    let data = match original {
        Some(file) => Some(read_original(file, kept.as_ref(), input, talk)?),
        None => None,
    };
    talk.step("counting sets of items");
    let (claim, release) = open_recoded(folder)?;
    let line_of = kept.as_ref().map(|kept| &kept.line_of[..]);
    let truth = data.as_ref().map(|original| RecodedTruth { original, line_of });
    let verdict = verify_recoded(&claim, &release, truth);
    if talk.is_json() {
        talk.print_json(&verdict)?;
    } else {
        talk.print(&verdict_text(&verdict, &claim.promised))?;
    }
    Ok(if verdict.holds { Outcome::Holds } else { Outcome::Broken })
}

/// Reads the original; if custody was kept, another file than the one that was protected is refused.
fn read_original(file: &Path, kept: Option<&KeptRecoded>, input: &Input, talk: &Talk) -> Result<Dataset> {
    let (data, intake) = input.read(file, talk)?;
    match kept {
        Some(kept) if kept.input_sha256 != intake.sha256 => Err(other_file(file)),
        _ => Ok(data),
    }
}

/// What is said of another file than the one that was protected.
pub(crate) fn other_file(file: &Path) -> Error {
    Error::input(Place::file(name_of(file)), "is not the file that was protected: its digest differs")
        .with_hint("give the file that disjoin protect was given")
}

fn verdict_text(verdict: &RecodedVerdict, promised: &str) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let blocks = if verdict.blocks > 1 { format!(" in {} blocks", number(verdict.blocks)) } else { String::new() };
    let _ = writeln!(
        text,
        "{} of {}, {} of them in groups{blocks}; {}",
        count(verdict.records, "record", "records"),
        count(verdict.terms, "term", "terms"),
        number(verdict.generalized_terms),
        count(verdict.empty_records, "record is empty", "records are empty"),
    );
    let _ = writeln!(text, "\n  {:<44}{:>14}{:>12}", "rule", "checked", "violated");
    for check in &verdict.checks {
        let (rule, checked, violated) = (check.rule.to_string(), number(check.checked), number(check.violated));
        let _ = writeln!(text, "  {rule:<44}{checked:>14}{violated:>12}");
    }
    if !verdict.findings.is_empty() {
        text.push('\n');
    }
    for finding in verdict.findings.iter().take(SHOWN) {
        let _ = writeln!(text, "{}: {}", finding.rule, finding.detail);
    }
    let hidden = verdict.violations.saturating_sub(verdict.findings.len().min(SHOWN) as u64);
    if hidden > 0 {
        let _ = writeln!(text, "and {} more", number(hidden));
    }
    if verdict.against_original && !verdict.against_records {
        let _ = writeln!(text, "\nSingle records were not compared with the original: that needs its custody.");
    }
    let _ = match verdict.holds {
        true => writeln!(text, "\nThe promise holds. {promised}"),
        false => {
            writeln!(text, "\nThe promise does NOT hold: {}.", count(verdict.violations, "violation", "violations"))
        }
    };
    text
}

/// `disjoin measure` for recoded transactions.
pub(crate) fn measure(folder: &Path, original: &Dataset, options: &RecodedOptions<'_>, talk: &Talk) -> Result<Outcome> {
    let (claim, release) = open_recoded(folder)?;
    talk.step("comparing the release with its original");
    let report = measure_recoded(&claim, &release, original, options)?;
    if talk.is_json() {
        talk.print_json(&report)?;
    } else {
        talk.print(&measured_text(&report))?;
    }
    Ok(Outcome::Holds)
}

fn measured_text(report: &RecodedReport) -> String {
    let mut text = String::new();
    let m = report.m.map_or_else(|| String::from("privacy constraints"), |m| format!("m = {m}"));
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "{}, {}, k = {}, {m}\n",
        count(report.records, "record", "records"),
        count(report.terms as u64, "term", "terms"),
        report.k,
    );
    let became = &report.became;
    let _ = writeln!(text, "  {:<26}{:>10}{:>14}", "what became of", "terms", "occurrences");
    let mut row = |name: &str, terms: usize, share: f64| {
        let _ = writeln!(text, "  {name:<26}{:>10}{share:>14.4}", number(terms as u64));
    };
    row("themselves", became.terms_kept, became.occurrences_kept);
    row("in groups", became.terms_generalized, became.occurrences_generalized);
    row("suppressed", became.terms_suppressed, became.occurrences_suppressed);
    let _ = writeln!(text, "  {:<26}{:>10}", "records that are empty", number(became.empty_records));
    let _ = writeln!(text, "\n  {:<26}{:>10.4}   {:.4} with what is suppressed", "NCP", report.ncp, report.ncp_all);
    let log2 = report.ul.log2_generalized.map_or(String::from("no groups"), |log2| format!("groups 2^{log2:.1}"));
    let _ = writeln!(text, "  {:<26}{:>10.4}   {log2}, suppressed {:.4}", "UL", report.ul.total, report.ul.suppressed);
    let _ = writeln!(text, "  {:<26}{:>10.4}   not published as themselves, of those with k", "tlost", became.tlost);
    let top = &report.top_k;
    let _ = writeln!(
        text,
        "\n  {:<26}{:>10}{:>10}{:>10}",
        format!("top {}", number(top.k as u64)),
        "all",
        "2+ terms",
        "ties"
    );
    for (name, deviation) in [("tKd", Some(&top.tkd)), ("tKd-ML2", top.tkd_ml2.as_ref())] {
        if let Some(d) = deviation {
            let _ = writeln!(text, "  {name:<26}{:>10.4}{:>10.4}{:>10.4}", d.all, d.at_least_two_terms, d.generous);
        }
    }
    let _ = writeln!(text, "\n  {:<26}{:>10}", "terms by rank", "re");
    for window in &report.relative_error {
        let ranks = format!("{}-{}", window.first, window.first + window.terms);
        let shown = window.re.mean.map_or(String::from("-"), |mean| format!("{mean:.4}"));
        let _ = writeln!(text, "  {ranks:<26}{shown:>10}");
    }
    let queries = &report.queries;
    let _ = writeln!(
        text,
        "\n  {:<26}{:>10.4}   median {:.4}, of {}\n  {:<26}{:>10.4}",
        "query error",
        queries.mean,
        queries.median,
        count(queries.queries as u64, "itemset", "itemsets"),
        "truth within the bounds",
        queries.within_bounds,
    );
    text
}

/// `disjoin convert` for recoded transactions: a file of data, in which groups are terms of their own.
pub(crate) fn convert(from: &Path, to: &Path, format: Option<Format>, force: bool, talk: &Talk) -> Result<Outcome> {
    let Some(format) = format.or_else(|| format_of(to)) else {
        let problem = "recoded transactions become a file, and its name does not say in which format";
        return Err(Error::recipe("--to", problem, "name one of basket, spmf, long, csv, jsonl, parquet"));
    };
    let is_stdout = to == Path::new("-");
    if talk.is_json() && is_stdout {
        let problem = "the data and the result would both go to stdout";
        return Err(Error::recipe("--json", problem, "name a file for the data"));
    }
    if !force && !is_stdout && to.exists() {
        return Err(exists(to));
    }
    talk.step("reading the release");
    let (claim, release) = open_recoded(&release_folder(from)?)?;
    let data = labelled(&release);
    let empty = claim.records - data.records.len() as u64;
    write_to(Some(to), force, |out| read::write(&data, format, to, out))?;
    talk.note(&format!("wrote {} as {format}", count(data.records.len() as u64, "record", "records")));
    if empty > 0 {
        talk.warn(&format!(
            "{} left out: a file of data has none",
            count(empty, "empty record was", "empty records were")
        ));
    }
    if talk.is_json() {
        let file = to.to_string_lossy();
        talk.print_json(&json!({ "file": file, "format": format, "records": data.records.len(), "empty": empty }))?;
    }
    Ok(Outcome::Holds)
}

/// The records of a release with a term for each group. Groups of the same terms are the same, in whichever block.
fn labelled(release: &Recoded) -> Dataset {
    let mut data = Dataset::default();
    let mut known: HashMap<&[TermId], TermId> = HashMap::new();
    let mut record = Vec::new();
    let mut records = Transactions::default();
    for block in &release.blocks {
        let mut ids = Vec::with_capacity(block.groups.len());
        for group in &block.groups {
            let n_known = known.len();
            ids.push(*known.entry(group).or_insert_with(|| {
                let texts: Vec<&str> = group.iter().take(MEMBERS).map(|&term| release.dictionary.text(term)).collect();
                let label = match group.len() - texts.len() {
                    0 => texts.join("|"),
                    more => format!("{}|+{more}#{}", texts.join("|"), n_known + 1),
                };
                data.dictionary.intern(&label)
            }));
        }
        for (items, count) in block.bag.iter() {
            for _ in 0..count {
                record.clear();
                record.extend(items.iter().map(|&item| ids[item as usize]));
                records.push(&mut record);
            }
        }
    }
    data.records = records;
    data
}

/// Prints the story of a run with recoded transactions.
pub(crate) fn tell(story: &RecodedStory, out: &Path, talk: &Talk) -> Result<Outcome> {
    tell_story(story.holds, json!(story), || story_text(story, out), out, talk)
}

fn story_text(story: &RecodedStory, out: &Path) -> String {
    let mut text = String::new();
    let mut line = |label: &str, told: String| {
        let _ = writeln!(text, "{label:<11}{told}");
    };
    let (k, m) = (story.before.k, story.before.m);
    line(
        "before",
        format!(
            "{} of {} ({}) have up to {} that fewer than {k} share",
            number(story.before.at_risk),
            count(story.records, "record", "records"),
            percent(story.before.at_risk, story.records),
            count(u64::from(m), "term", "terms"),
        ),
    );
    let became = &story.utility.became;
    line(
        "protect",
        format!(
            "{}: {} as themselves, {} in groups, {} suppressed; the promise is {}",
            story.claim.method,
            count(became.terms_kept as u64, "term", "terms"),
            number(became.terms_generalized as u64),
            number(became.terms_suppressed as u64),
            if story.verdict.holds { "proved" } else { "NOT proved" }
        ),
    );
    if let Some(stats) = &story.repaired {
        let (before, after) = stats.beyond_blind();
        let told = match stats.exchanges {
            0 => format!("nothing helps: attacks are right beyond blind guesses by {before:.3}"),
            n => format!(
                "groups were mended in {}: attacks were right beyond blind guesses by {before:.3}, and are by {after:.3}",
                count(n, "exchange", "exchanges"),
            ),
        };
        line("repair", told);
    }
    if let Some(found) = &story.attacks {
        let told = match found.worst().and_then(|of| Some((of, of.score.as_ref()?, of.blind?))) {
            Some((of, score, blind)) => format!(
                "{} tells by what words mean what was not in a record: right in {:.3}, blind guesses in {:.3}",
                of.attack.name(),
                score.precision.share,
                blind.precision
            ),
            None if found.coverage.attacked == 0 => {
                format!("nothing could be tried by what words mean: distances come from {}", found.distances)
            }
            None => String::from("what words mean gives nothing away: no attack is better than blind guesses"),
        };
        line("attack", told);
    }
    line(
        "utility",
        format!(
            "NCP {:.4}; {} of the most frequent itemsets are lost; counts of itemsets are off by {} on the median",
            story.utility.ncp_all,
            percent((1000.0 * story.utility.top_k.tkd.all).round() as u64, 1000),
            percent((1000.0 * story.utility.queries.median).round() as u64, 1000),
        ),
    );
    text + &ending(&story.limits, story.holds, out)
}
