//! Differential privacy, in the verbs that know it: the flags of `protect`, and what the other verbs do with a noisy release.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use disjoin::data::Dictionary;
use disjoin::measure::{NoisyReport, measure_noisy};
use disjoin::protect::noise::{Known, Made, Source, diffpart, privbasis};
use disjoin::publish::{Destination, NoisyPackage, release_folder};
use disjoin::release::generalized::form_of;
use disjoin::release::noisy::{Accounting, Amount, FORM, NoisyClaim, Rows};
use disjoin::verify::{NoisyVerdict, open_noisy, verify_noisy};
use disjoin::{Error, Place, Result};
use serde_json::json;

use crate::Outcome;
use crate::args::Input;
use crate::talk::{Talk, count, number};

/// How many findings are shown as text; --json has more.
const SHOWN: usize = 10;

/// How many itemsets PrivBasis looks for, if it is not said.
const TOP: u32 = 100;

/// The methods that add noise, by their names.
pub(crate) const METHODS: [(&str, NoiseMethod); 2] =
    [("diffpart", NoiseMethod::DiffPart), ("privbasis", NoiseMethod::PrivBasis)];

/// A method that adds noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoiseMethod {
    DiffPart,
    PrivBasis,
}

/// What is asked of methods that add noise.
#[derive(clap::Args)]
#[command(next_help_heading = "Noise (differential privacy; needs --method diffpart or privbasis)")]
pub(crate) struct NoiseFlags {
    /// The privacy budget: the presence of one record changes the probability of any release by a factor of at most exp(E)
    #[arg(long, value_name = "E", allow_hyphen_values = true, value_parser = amount)]
    epsilon: Option<Amount>,
    /// privbasis: a probability that is left out of account, well below one in the number of records
    #[arg(long, value_name = "D", allow_hyphen_values = true, value_parser = amount)]
    delta: Option<Amount>,
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
    thresholds: Option<(u64, u64)>,
    /// Draw noise from --seed: for demonstrations and tests. The release promises nothing, and says so
    #[arg(long, requires = "seed")]
    demonstration: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum AccountingChoice {
    Pure,
    Approximate,
}

fn amount(text: &str) -> std::result::Result<Amount, String> {
    text.parse()
}

fn thresholds(text: &str) -> std::result::Result<(u64, u64), String> {
    let millionths = |text: &str| text.trim().parse::<Amount>().ok().map(|amount| amount.units() / 1_000_000);
    let parts = text.split_once(',').and_then(|(keep, publish)| Some((millionths(keep)?, millionths(publish)?)));
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

    /// The budget, and which noise; nothing has been read yet.
    fn source(&self, seed: Option<u64>) -> Result<Source> {
        match (self.demonstration, seed) {
            (true, Some(seed)) => Ok(Source::demonstration(seed)),
            (_, None) => Source::secure(),
            (false, Some(_)) => {
                let problem = "would give noise that can be drawn again, and taken off: that protects nobody";
                Err(Error::recipe(
                    "--seed",
                    problem,
                    "leave it out, or add --demonstration to make a release that promises nothing",
                ))
            }
        }
    }

    fn epsilon(&self) -> Result<Amount> {
        match self.epsilon {
            Some(epsilon) if epsilon.units() > 0 => Ok(epsilon),
            Some(_) => Err(Error::recipe("--epsilon", "must be above 0", "for example 1; less protects more")),
            None => Err(Error::recipe(
                "--epsilon",
                "is missing: how much may be told?",
                "for example --epsilon 1; less protects more",
            )),
        }
    }

    fn diffpart(&self, fanout: Option<usize>) -> Result<diffpart::Params> {
        for (flag, given) in [
            ("--delta", self.delta.is_some()),
            ("--top", self.top.is_some()),
            ("--accounting", self.accounting.is_some()),
        ] {
            if given {
                return Err(Error::recipe(flag, "is not for diffpart", "leave it out, or choose --method privbasis"));
            }
        }
        let mut params = diffpart::Params::new(self.epsilon()?);
        params.fan_out = fanout.map_or(params.fan_out, |fanout| u32::try_from(fanout).unwrap_or(u32::MAX));
        if let Some((keep, publish)) = self.thresholds {
            (params.keep_millionths, params.publish_millionths) = (keep, publish);
        }
        Ok(params)
    }

    fn privbasis(&self, fanout: Option<usize>) -> Result<privbasis::Params> {
        for (flag, given) in [("--fanout", fanout.is_some()), ("--thresholds", self.thresholds.is_some())] {
            if given {
                return Err(Error::recipe(flag, "is not for privbasis", "leave it out, or choose --method diffpart"));
            }
        }
        let one = Amount::from_units(Amount::UNITS);
        if self.delta.is_some_and(|delta| delta.units() == 0 || delta >= one) {
            let hint = "for example 1e-6; or leave it out, for the pure accounting";
            return Err(Error::recipe("--delta", "must be above 0 and below 1", hint));
        }
        let delta = match (self.accounting, self.delta) {
            (Some(AccountingChoice::Pure), Some(_)) => {
                return Err(Error::recipe(
                    "--delta",
                    "has no place in the pure accounting",
                    "leave out one of the two",
                ));
            }
            (Some(AccountingChoice::Approximate), None) => {
                let hint = "for example --delta 1e-6, well below one in the number of records";
                return Err(Error::recipe("--accounting", "approximate needs a --delta", hint));
            }
            (_, delta) => delta,
        };
        Ok(privbasis::Params::new(self.epsilon()?, delta, self.top.unwrap_or(TOP)))
    }
}

/// What is asked for, checked.
enum Asked {
    DiffPart(diffpart::Params),
    PrivBasis(privbasis::Params),
}

/// `disjoin protect` by a method that adds noise.
pub(crate) fn protect(
    method: NoiseMethod,
    (flags, fanout): (&NoiseFlags, Option<usize>),
    seed: Option<u64>,
    (file, out): (&Path, &Path),
    input: &Input,
    talk: &Talk,
) -> Result<Outcome> {
    let asked = match method {
        NoiseMethod::DiffPart => Asked::DiffPart(flags.diffpart(fanout)?),
        NoiseMethod::PrivBasis => Asked::PrivBasis(flags.privbasis(fanout)?),
    };
    let mut source = flags.source(seed)?;
    let destination = Destination::check(out)?;
    destination.check_outside(file)?;
    let listed = flags.universe.as_deref().map(read_items).transpose()?;
    let (data, intake) = input.read(file, talk)?;
    let known = match (&listed, &flags.universe) {
        (Some(listed), Some(path)) => Known::listed(&data, listed, &Place::file(path.display().to_string()))?,
        _ => {
            talk.warn(
                "which items there are is taken from the data, and assumed to be public: the claim says so; \
                 list them with --universe",
            );
            Known::occurring(&data)
        }
    };
    talk.step("adding noise");
    let Made { release, claim } = match asked {
        Asked::DiffPart(params) => diffpart::diffpart(&known, &params, &mut source)?,
        Asked::PrivBasis(params) => privbasis::privbasis(&known, &params, &mut source)?,
    };
    talk.step("writing the package");
    let package = NoisyPackage { claim: &claim, release: &release, items: &known.items, input: &intake, seed };
    package.publish(&destination)?;
    let rows = match release.kind {
        Rows::Records => count(release.rows.len() as u64, "different record", "different records"),
        Rows::Itemsets => count(release.rows.len() as u64, "itemset", "itemsets"),
    };
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

/// A list of items, one a line.
fn read_items(path: &Path) -> Result<Dictionary> {
    let name = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|e| Error::io(path, "read the items", e))?;
    let text = String::from_utf8(bytes).map_err(|e| {
        let line = 1 + e.as_bytes()[..e.utf8_error().valid_up_to()].iter().filter(|&&byte| byte == b'\n').count();
        Error::input(Place::line(&name, line as u64), "is not valid UTF-8").with_hint("convert the file to UTF-8")
    })?;
    let mut items = Dictionary::default();
    for (line, at) in text.strip_prefix('\u{feff}').unwrap_or(&text).lines().zip(1_u64..) {
        let item = line.trim();
        if item.chars().any(char::is_control) {
            let problem = "holds a control character, where one item was expected";
            return Err(Error::input(Place::line(&name, at), problem).with_hint("write one item a line"));
        }
        if !item.is_empty() {
            items.intern(item);
        }
    }
    match items.is_empty() {
        true => Err(Error::input(Place::file(name), "lists no item").with_hint("write one item a line")),
        false => Ok(items),
    }
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
