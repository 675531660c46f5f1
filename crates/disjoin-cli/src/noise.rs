//! Differential privacy, in the verbs that know it: the flags of `protect`, and what the other verbs do with a noisy release.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use disjoin::measure::{NoisyReport, measure_noisy};
use disjoin::protect::noise::Made;
use disjoin::publish::{Destination, NoisyPackage, release_folder};
use disjoin::recipe::noise::{self, Decimal, Method, Noise};
use disjoin::release::generalized::form_of;
use disjoin::release::noisy::{Accounting, Amount, FORM, NoisyClaim, Rows, Universe};
use disjoin::report::NoisyStory;
use disjoin::run::noisy::protect_noisy;
use disjoin::verify::{NoisyVerdict, open_noisy, verify_noisy};
use disjoin::{Error, Result};
use serde_json::json;

use crate::Outcome;
use crate::args::Input;
use crate::talk::{Talk, count, number};

/// How many findings are shown as text; --json has more.
const SHOWN: usize = 10;

/// What is asked of methods that add noise.
#[derive(clap::Args)]
#[command(next_help_heading = "Noise (differential privacy; needs --method diffpart or privbasis)")]
pub(crate) struct NoiseFlags {
    /// The privacy budget: the presence of one record changes the probability of any release by a factor of at most exp(E)
    #[arg(long, value_name = "E", allow_hyphen_values = true, value_parser = amount)]
    epsilon: Option<Decimal>,
    /// privbasis: a probability that is left out of account, well below one in the number of records
    #[arg(long, value_name = "D", allow_hyphen_values = true, value_parser = amount)]
    delta: Option<Decimal>,
    /// privbasis: how many of the most frequent itemsets to publish [default: 100]
    #[arg(long, value_name = "K")]
    top: Option<u32>,
    /// All items that a record could hold, one a line, from elsewhere than the data; without it those of the data are assumed to be public
    #[arg(long, value_name = "FILE")]
    universe: Option<PathBuf>,
    /// privbasis: pure needs no --delta; approximate does, and finds far more [default: as --delta says]
    #[arg(long, value_enum)]
    accounting: Option<AccountingChoice>,
    /// diffpart: how many deviations of the noise a part must have to be split, and a set to be published [default: 6.75,2.75]
    #[arg(long, value_name = "C1,C2", value_parser = thresholds)]
    thresholds: Option<[Decimal; 2]>,
    /// Draw noise from --seed: for demonstrations and tests. The release promises nothing, and says so
    #[arg(long, requires = "seed")]
    demonstration: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum AccountingChoice {
    Pure,
    Approximate,
}

fn amount(text: &str) -> std::result::Result<Decimal, String> {
    text.parse::<Amount>().map(Decimal)
}

fn thresholds(text: &str) -> std::result::Result<[Decimal; 2], String> {
    let parts = text
        .split_once(',')
        .and_then(|(keep, publish)| Some([Decimal(keep.trim().parse().ok()?), Decimal(publish.trim().parse().ok()?)]));
    parts.ok_or_else(|| String::from("expected two numbers, as 6.75,2.75"))
}

impl NoiseFlags {
    /// Refuses flags of noise beside a method that adds none.
    pub(crate) fn check_unused(&self) -> Result<()> {
        let given = [
            ("--epsilon", self.epsilon.is_some()),
            ("--delta", self.delta.is_some()),
            ("--top", self.top.is_some()),
            ("--universe", self.universe.is_some()),
            ("--accounting", self.accounting.is_some()),
            ("--thresholds", self.thresholds.is_some()),
            ("--demonstration", self.demonstration),
        ];
        match given.iter().find(|(_, given)| *given) {
            Some((flag, _)) => {
                let problem = "is for methods that add noise";
                Err(Error::recipe(flag, problem, "add --method diffpart or --method privbasis, or leave it out"))
            }
            None => Ok(()),
        }
    }

    /// What is asked for, checked; nothing has been read yet.
    pub(crate) fn asked(&self, method: Method, fanout: Option<usize>, seed: Option<u64>) -> Result<Noise> {
        match (self.accounting, self.delta) {
            (Some(_), _) if method == Method::Diffpart => {
                let hint = "leave it out, or choose --method privbasis";
                return Err(Error::recipe("--accounting", "is not for diffpart", hint));
            }
            (Some(AccountingChoice::Pure), Some(_)) => {
                let problem = "has no place in the pure accounting";
                return Err(Error::recipe("--delta", problem, "leave out one of the two"));
            }
            (Some(AccountingChoice::Approximate), None) => {
                let hint = "for example --delta 1e-6, well below one in the number of records";
                return Err(Error::recipe("--accounting", "approximate needs a --delta", hint));
            }
            _ => {}
        }
        let written = noise::Written {
            epsilon: self.epsilon,
            delta: self.delta,
            top: self.top,
            universe: self.universe.clone(),
            fanout: fanout.map(|fanout| u32::try_from(fanout).unwrap_or(u32::MAX)),
            thresholds: self.thresholds,
            demonstration: Some(self.demonstration),
            seed,
        };
        noise::resolve(method, &written)
    }
}

/// `disjoin protect` by a method that adds noise.
pub(crate) fn protect(file: &Path, out: &Path, asked: &Noise, input: &Input, talk: &Talk) -> Result<Outcome> {
    let destination = Destination::check(out)?;
    destination.check_outside(file)?;
    let (data, intake) = input.read(file, talk)?;
    if asked.universe.is_none() {
        talk.warn(
            "which items there are is taken from the data, and assumed to be public: the claim says so; \
             list them with --universe",
        );
    }
    talk.step("adding noise");
    let (known, Made { release, claim }) = protect_noisy(asked, &data)?;
    talk.step("writing the package");
    let package = NoisyPackage {
        claim: &claim,
        release: &release,
        items: &known.items,
        input: &intake,
        seed: asked.seed,
        pages: &[],
    };
    package.publish(&destination)?;
    let rows = rows(release.kind, release.rows.len() as u64);
    talk.note(&format!("{}: {rows}, {}", claim.method, promise_of(&claim)));
    if claim.demonstration {
        talk.warn("this release promises nothing (--demonstration): do not publish it");
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
            "input": intake,
            "method": claim.method,
            "epsilon": claim.epsilon,
            "delta": claim.delta,
            "universe": claim.universe,
            "demonstration": claim.demonstration,
            "promised": claim.promised,
            "rows": release.rows.len(),
        }))?;
    }
    Ok(Outcome::Holds)
}

fn promise_of(claim: &NoisyClaim) -> String {
    match claim.delta.units() {
        0 => format!("epsilon = {}", claim.epsilon),
        _ => format!("epsilon = {}, delta = {}", claim.epsilon, claim.delta),
    }
}

fn rows(kind: Rows, n: u64) -> String {
    match kind {
        Rows::Records => count(n, "different record", "different records"),
        Rows::Itemsets => count(n, "itemset", "itemsets"),
    }
}

/// Prints the story of a run.
pub(crate) fn tell(story: &NoisyStory, out: &Path, talk: &Talk) -> Result<Outcome> {
    crate::run::tell_story(story.holds, json!(story), || story_text(story, out), out, talk)
}

fn story_text(story: &NoisyStory, out: &Path) -> String {
    let NoisyStory { claim, verdict, utility, .. } = story;
    let mut text = String::new();
    let mut line = |label: &str, told: String| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{label:<11}{told}");
    };
    line("protect", format!("{}: {}, {}", claim.method, rows(utility.kind, verdict.rows), promise_of(claim)));
    line(
        "public",
        match claim.universe {
            Universe::Listed => "which items there are: they are listed beside the release".into(),
            Universe::AssumedPublic => "which items there are: taken from the data, and assumed to be known".into(),
        },
    );
    line(
        "utility",
        format!(
            "{:.4} of the best {} are missed; no promise covers this number",
            utility.missed,
            count(utility.top as u64, "itemset", "itemsets")
        ),
    );
    let out = out.display();
    let may = if story.holds { "may leave the building" } else { "must NOT leave the building" };
    line("release", format!("{out}/release   {may}"));
    line("report", format!("{out}/custody/report.html   for you; {out}/release/report.html   for everybody"));
    let _ = match (story.holds, verdict.violations) {
        (true, _) => writeln!(text, "\nThe promise holds, if noise was drawn as the ledger says."),
        (false, 0) => writeln!(text, "\nNothing is promised: this is a demonstration."),
        (false, _) => writeln!(text, "\nThe promise does NOT hold: the report says why."),
    };
    text
}

/// The release folder, if a package is that of a noisy release.
pub(crate) fn release_of(path: &Path) -> Result<Option<PathBuf>> {
    let folder = release_folder(path)?;
    Ok((form_of(&folder.join("claim.json"))? == FORM).then_some(folder))
}

/// `disjoin verify` for a noisy release.
pub(crate) fn verify(folder: &Path, original: Option<&Path>, talk: &Talk) -> Result<Outcome> {
    if original.is_some() {
        let problem = "cannot tell more of a noisy release: any count may come of any data";
        return Err(Error::recipe("--original", problem, "leave it out; disjoin measure compares both"));
    }
    talk.step("adding up the budget");
    let files = open_noisy(folder)?;
    let verdict = verify_noisy(&files);
    if talk.is_json() {
        talk.print_json(&verdict)?;
    } else {
        talk.print(&verdict_text(&verdict, &files.claim))?;
    }
    Ok(if verdict.holds { Outcome::Holds } else { Outcome::Broken })
}

fn verdict_text(verdict: &NoisyVerdict, claim: &NoisyClaim) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let measure = if claim.accounting == Accounting::Pure { "epsilon" } else { "rho" };
    let rows = count(verdict.rows, "row", "rows");
    let _ = writeln!(text, "{}, {rows}, {}\n", verdict.method, promise_of(claim));
    let _ = writeln!(text, "  {:<44}{:>26}", "spent on", measure);
    for entry in &claim.ledger {
        let _ = writeln!(text, "  {:<44}{:>26}", entry.step, entry.cost.to_string());
    }
    let _ = writeln!(text, "  {:<44}{:>26}", "nothing", claim.unspent.to_string());
    let _ = writeln!(text, "  {:<44}{:>26}", "may be spent", verdict.budget.to_string());
    let _ = writeln!(text, "\n  {:<44}{:>14}{:>12}", "rule", "checked", "violated");
    for check in &verdict.checks {
        let (checked, violated) = (number(check.checked), number(check.violated));
        let _ = writeln!(text, "  {:<44}{checked:>14}{violated:>12}", check.rule.to_string());
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
    let _ = match (verdict.holds, verdict.demonstration) {
        (true, _) => writeln!(
            text,
            "\nThe promise holds, if noise was drawn as the ledger says: that cannot be seen in a release. {}",
            claim.promised
        ),
        (false, true) if verdict.violations == 0 => writeln!(text, "\nNothing is promised: {}", claim.promised),
        (false, _) => {
            writeln!(text, "\nThe promise does NOT hold: {}.", count(verdict.violations, "violation", "violations"))
        }
    };
    text
}

/// `disjoin measure` for a noisy release.
pub(crate) fn measure(folder: &Path, file: &Path, top: u32, input: &Input, talk: &Talk) -> Result<Outcome> {
    let files = open_noisy(folder)?;
    let (original, _) = input.read(file, talk)?;
    talk.step("comparing the release with its original");
    // No more itemsets are looked for than were asked for.
    let top = files.claim.parameters.top.map_or(top, |asked| asked.min(top));
    let report = measure_noisy(&files.data, &original, top as usize);
    if talk.is_json() {
        talk.print_json(&report)?;
    } else {
        talk.print(&measured_text(&report, &files.claim))?;
    }
    Ok(Outcome::Holds)
}

fn measured_text(report: &NoisyReport, claim: &NoisyClaim) -> String {
    let mut text = String::new();
    let optional = |value: Option<f64>| value.map_or_else(|| String::from("-"), |value| format!("{value:.4}"));
    let records = count(report.records, "record", "records");
    let _ = writeln!(
        text,
        "{records}, {}; {}, {}\n",
        count(report.terms as u64, "term", "terms"),
        claim.method,
        promise_of(claim)
    );
    let top = format!("of the best {}", number(report.top as u64));
    let _ = writeln!(text, "  {:<26}{:>10.4}   {top} itemsets", "missed", report.missed);
    let _ = writeln!(text, "  {:<26}{:>10}   of those with 2+ terms", "", optional(report.missed_larger));
    let _ = writeln!(
        text,
        "  {:<26}{:>10}   relative, on average over those found",
        "error of supports",
        optional(report.support_error)
    );
    if let Some(tkd) = &report.tkd {
        let _ = writeln!(
            text,
            "\n  {:<26}{:>10}{:>10}{:>10}",
            format!("top {}", number(report.top as u64)),
            "all",
            "2+ terms",
            "ties"
        );
        let _ =
            writeln!(text, "  {:<26}{:>10.4}{:>10.4}{:>10.4}", "tKd", tkd.all, tkd.at_least_two_terms, tkd.generous);
        let _ = writeln!(text, "\n  {:<16}{:>9}", "terms by rank", "re");
        for window in &report.relative_error {
            let ranks = format!("{}-{}", window.first, window.first + window.terms);
            let _ = writeln!(text, "  {ranks:<16}{:>9}", optional(window.re.mean));
        }
    }
    text
}
