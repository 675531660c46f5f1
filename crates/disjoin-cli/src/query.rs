//! `disjoin query`: how many people have all of these terms?

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use clap::ArgGroup;
use disjoin::data::{Dictionary, TermId};
use disjoin::inspect::{Itemset, Mining};
use disjoin::reconstruct::{Estimate, Model, Spread, estimate, top_expected, top_spread};
use disjoin::release::recoded::Suppression;
use disjoin::verify::open_recoded;
use disjoin::{Error, Place, Result};
use rayon::prelude::*;
use serde::Serialize;

use crate::Outcome;
use crate::args::{MultiplicityChoice, name_of};
use crate::reconstruct::Loaded;
use crate::talk::{Talk, count, number};

/// Estimate how many people have all of some terms, from the release alone
///
/// Four numbers are given for each set of terms. LOWER and UPPER are certain: whatever the original was, no fewer and
/// no more people had all of the terms. EXPECTED is the mean if, within a cluster, anybody may have had what others had:
/// the release does not say who, so every way to put its parts together counts the same. +/- is the standard deviation
/// of that: how far a typical way lies from the mean. The expectation is as good as this assumption, which mostly makes it
/// too small: people who share one rare term often share others. The bounds need no assumption.
///
/// Recoded transactions tell groups of terms. There EXPECTED is the mean if each term of a group is as likely, and the upper bound
/// are all records that show the groups, or all records where terms were suppressed.
///
/// An itemset is written as its terms with commas between; a term that contains a comma goes in double quotes.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, after_help = EXAMPLES)]
#[command(group(ArgGroup::new("source").required(true)))]
#[command(override_usage = "disjoin query [OPTIONS] <RELEASE> <ITEMSET...|--file <FILE>|--top <N>>")]
pub(crate) struct Args {
    /// The package that disjoin protect wrote, or the folder release in it
    release: PathBuf,
    /// The sets of terms, each with commas between its terms
    #[arg(value_name = "ITEMSET", group = "source")]
    itemsets: Vec<String>,
    /// Read the sets of terms from a file, one a line; "-" is standard input
    #[arg(long, value_name = "FILE", group = "source")]
    file: Option<PathBuf>,
    /// The N sets of terms that most people are expected to have
    #[arg(long, value_name = "N", group = "source", value_parser = clap::value_parser!(u32).range(1..))]
    top: Option<u32>,
    // Where another source excludes --top, clap no longer asks for it: the sizes exclude that source themselves.
    /// With --top: sets of so many terms only
    #[arg(long, value_name = "S", requires = "top", value_parser = clap::value_parser!(u32).range(1..),
        conflicts_with_all = ["itemsets", "file", "min_size", "max_size"])]
    size: Option<u32>,
    /// With --top: sets of at least so many terms [default: 1]
    #[arg(long, value_name = "A", requires = "top", value_parser = clap::value_parser!(u32).range(1..),
        conflicts_with_all = ["itemsets", "file"])]
    min_size: Option<u32>,
    /// With --top: sets of at most so many terms [default: no limit]
    #[arg(long, value_name = "B", requires = "top", value_parser = clap::value_parser!(u32).range(1..),
        conflicts_with_all = ["itemsets", "file"])]
    max_size: Option<u32>,
    /// How often a term without a count is taken to occur in its group; the bounds do not depend on it
    #[arg(long, value_enum, default_value_t = MultiplicityChoice::Told)]
    multiplicity: MultiplicityChoice,
}

const EXAMPLES: &str = "\
Examples:
  disjoin query out \"flu, asthma\" gout
  disjoin query out/release --top 20 --size 2
  disjoin query out --file itemsets.txt --json
  disjoin query out '\"bread, sliced\", butter'";

/// The width that the itemset column grows to.
const WIDEST: usize = 48;

/// How many warnings of one kind are shown.
const SHOWN: usize = 10;

/// What is printed with --json.
#[derive(Serialize)]
struct Report<'a> {
    records: u64,
    /// Whether the release has every term of its original.
    #[serde(skip)]
    is_whole: bool,
    itemsets: Vec<Answer<'a>>,
}

#[derive(Serialize)]
struct Answer<'a> {
    terms: Vec<Cow<'a, str>>,
    #[serde(flatten)]
    estimate: Estimate,
    unknown_terms: usize,
}

pub(crate) fn run(args: &Args, talk: &Talk) -> Result<Outcome> {
    // What is cheap to refuse is refused before the release is read.
    let questions = args.questions()?;
    if let Some(folder) = crate::recoding::release_of(&args.release)? {
        return recoded(&folder, questions, talk);
    }
    let loaded = Loaded::read(&args.release, talk)?;
    let model = loaded.model(args.multiplicity)?;
    let itemsets = match questions {
        Questions::Written(itemsets) => {
            talk.step(&format!("estimating {}", count(itemsets.len() as u64, "itemset", "itemsets")));
            itemsets.into_par_iter().map(|terms| answer(&model, terms)).collect()
        }
        Questions::Top(mining) => {
            talk.step("searching for the greatest expectations");
            let found = top_expected(&model, &mining)?;
            found.into_par_iter().map(|found| answer_found(&model, &found.terms)).collect()
        }
    };
    Report { records: loaded.release.header.records, is_whole: true, itemsets }.tell(talk)
}

/// The same for recoded transactions.
fn recoded(folder: &Path, questions: Questions, talk: &Talk) -> Result<Outcome> {
    talk.step("reading the release");
    let (claim, release) = open_recoded(folder)?;
    let spread = Spread::new(&release, claim.suppression);
    let itemsets = match questions {
        Questions::Written(itemsets) => itemsets,
        Questions::Top(mining) => {
            talk.step("searching for the greatest expectations");
            let found = top_spread(&spread, &mining);
            let texts =
                |found: Itemset<f64>| found.terms.iter().map(|&t| release.dictionary.text(t).to_owned()).collect();
            found.into_iter().map(texts).collect()
        }
    };
    let answer = |terms: Vec<String>| {
        let mut known: Vec<TermId> = terms.iter().filter_map(|term| release.dictionary.get(term)).collect();
        known.sort_unstable();
        let unknown_terms = terms.len() - known.len();
        let estimate = if unknown_terms == 0 { spread.estimate(&known) } else { spread.unknown() };
        Answer { terms: terms.into_iter().map(Cow::Owned).collect(), estimate, unknown_terms }
    };
    let itemsets = itemsets.into_iter().map(answer).collect();
    Report { records: claim.records, is_whole: claim.suppression == Suppression::None, itemsets }.tell(talk)
}

impl Report<'_> {
    fn tell(&self, talk: &Talk) -> Result<Outcome> {
        self.warn(talk);
        if talk.is_json() {
            talk.print_json(self)?;
        } else if self.itemsets.is_empty() {
            talk.note("there is no such itemset");
        } else {
            talk.print(&self.text())?;
        }
        Ok(Outcome::Holds)
    }
}

/// What is asked for.
enum Questions {
    /// Different terms in the order in which they are written.
    Written(Vec<Vec<String>>),
    Top(Mining<'static>),
}

impl Args {
    fn questions(&self) -> Result<Questions> {
        if let Some(top) = self.top {
            let min_length = self.size.or(self.min_size).unwrap_or(1) as usize;
            let max_length = self.size.or(self.max_size).map_or(usize::MAX, |size| size as usize);
            if min_length > max_length {
                return Err(Error::recipe("--min-size", "is greater than --max-size", "exchange them, or use --size"));
            }
            return Ok(Questions::Top(Mining { k: top as usize, min_length, max_length, excludes: None }));
        }
        if let Some(file) = &self.file {
            return read_itemsets(file).map(Questions::Written);
        }
        let itemsets = self.itemsets.iter().zip(1_u64..).map(|(written, position)| {
            parse(written).map_err(|problem| {
                Error::recipe("ITEMSET", format!("itemset {}: {problem}", number(position)), HOW_TO_WRITE)
            })
        });
        itemsets.collect::<Result<_>>().map(Questions::Written)
    }
}

const HOW_TO_WRITE: &str = "write terms with commas between, and a term that contains a comma as \"a, b\"";

/// One itemset a line; blank lines are skipped.
fn read_itemsets(file: &Path) -> Result<Vec<Vec<String>>> {
    let bytes = if file == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        std::fs::read(file)
    };
    let bytes = bytes.map_err(|e| Error::io(file, "read the itemsets", e))?;
    let text = String::from_utf8(bytes).map_err(|_| {
        Error::input(Place::file(name_of(file)), "is not valid UTF-8").with_hint("convert the file to UTF-8")
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
    let itemsets: Vec<Vec<String>> = lines
        .map(|(line, at)| {
            parse(line).map_err(|problem| Error::input(Place::line(name_of(file), at), problem).with_hint(HOW_TO_WRITE))
        })
        .collect::<Result<_>>()?;
    if itemsets.is_empty() {
        return Err(Error::input(Place::file(name_of(file)), "holds no itemset").with_hint(HOW_TO_WRITE));
    }
    Ok(itemsets)
}

/// The terms of an itemset, each once. Quotes are those of the readers of data: a field that starts with one ends with
/// one, doubles those inside, and keeps its blanks; elsewhere a quote is an ordinary character.
fn parse(written: &str) -> std::result::Result<Vec<String>, &'static str> {
    let mut terms: Vec<String> = Vec::new();
    let mut rest = Some(written);
    while let Some(text) = rest {
        let text = text.trim_start();
        let term = match text.strip_prefix('"') {
            Some(quoted) => {
                let (term, after) = unquote(quoted).ok_or("a quote is not closed")?;
                let after = after.trim_start();
                if !after.is_empty() && !after.starts_with(',') {
                    return Err("something other than a comma follows a closing quote");
                }
                rest = after.strip_prefix(',');
                term
            }
            None => {
                let (term, after) = text.split_once(',').map_or((text, None), |(term, after)| (term, Some(after)));
                rest = after;
                term.trim_end().to_owned()
            }
        };
        if !term.is_empty() && !terms.contains(&term) {
            terms.push(term);
        }
    }
    if terms.is_empty() { Err("has no term") } else { Ok(terms) }
}

/// The text up to the closing quote, and what follows.
fn unquote(text: &str) -> Option<(String, &str)> {
    let mut term = String::new();
    let mut rest = text;
    loop {
        let (inside, after) = rest.split_once('"')?;
        term.push_str(inside);
        match after.strip_prefix('"') {
            Some(more) => {
                term.push('"');
                rest = more;
            }
            None => return Some((term, after)),
        }
    }
}

fn answer<'a>(model: &Model, terms: Vec<String>) -> Answer<'a> {
    let dictionary = &model.release().dictionary;
    let mut known: Vec<TermId> = terms.iter().filter_map(|term| dictionary.get(term)).collect();
    known.sort_unstable();
    let unknown_terms = terms.len() - known.len();
    let estimate = match unknown_terms {
        0 => estimate(model, &known),
        // A release has every term of its original.
        _ => Estimate { lower: 0, upper: 0, expected: 0.0, deviation: 0.0 },
    };
    Answer { terms: terms.into_iter().map(Cow::Owned).collect(), estimate, unknown_terms }
}

fn answer_found<'a>(model: &Model<'a>, itemset: &[TermId]) -> Answer<'a> {
    let dictionary: &'a Dictionary = &model.release().dictionary;
    let terms = itemset.iter().map(|&term| Cow::Borrowed(dictionary.text(term))).collect();
    Answer { terms, estimate: estimate(model, itemset), unknown_terms: 0 }
}

impl Report<'_> {
    /// Tells where terms are unknown, by position: what somebody asks for may say something about a person.
    fn warn(&self, talk: &Talk) {
        let mut unknown = self.itemsets.iter().zip(1_u64..).filter(|(answer, _)| answer.unknown_terms > 0);
        for (answer, position) in unknown.by_ref().take(SHOWN) {
            let are = if answer.unknown_terms == 1 { "is" } else { "are" };
            talk.warn(&format!(
                "itemset {}: {} of its terms {are} not in the release; {}",
                number(position),
                number(answer.unknown_terms),
                if self.is_whole { "nobody has it" } else { "whether somebody has it is not told" }
            ));
        }
        match unknown.count() as u64 {
            0 => {}
            1 => talk.warn("1 more itemset has terms that are not in the release"),
            n => talk.warn(&format!("{} more itemsets have terms that are not in the release", number(n))),
        }
    }

    fn text(&self) -> String {
        let mut rows = vec![["itemset", "lower", "expected", "+/-", "upper"].map(String::from)];
        rows.extend(self.itemsets.iter().map(|answer| {
            let Estimate { lower, upper, expected, deviation } = answer.estimate;
            [shown(&answer.terms), number(lower), tenths(expected), tenths(deviation), number(upper)]
        }));
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths = [0, 1, 2, 3, 4].map(width);
        let people = count(self.records, "person", "people");
        let mut text = format!("Of {people}, so many have all terms of the itemset:\n\n");
        for [itemset, lower, expected, deviation, upper] in &rows {
            let [w, x, y, z, u] = widths;
            // Writing to a String cannot fail.
            let _ = writeln!(text, "  {itemset:<w$}   {lower:>x$}   {expected:>y$}   {deviation:>z$}   {upper:>u$}");
        }
        text
    }
}

/// An itemset as it is written in a query, without what would confuse a terminal, and cut where it is too long.
fn shown(terms: &[Cow<str>]) -> String {
    let quoted = |term: &Cow<str>| match term.contains(',') || term.starts_with('"') || term.trim() != term.as_ref() {
        true => format!("\"{}\"", term.replace('"', "\"\"")),
        false => term.to_string(),
    };
    let written = terms.iter().map(quoted).collect::<Vec<_>>().join(", ");
    let mut shown: String =
        written.chars().take(WIDEST + 1).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if shown.chars().count() > WIDEST {
        shown = shown.chars().take(WIDEST - 1).chain(['…']).collect();
    }
    shown
}

/// A number that is not negative, with one decimal.
fn tenths(x: f64) -> String {
    let tenths = (10.0 * x).round() as u64;
    format!("{}.{}", number(tenths / 10), tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn itemsets_are_parsed_like_csv() {
        let good: [(&str, &[&str]); 9] = [
            ("flu", &["flu"]),
            (" flu ,madonna", &["flu", "madonna"]),
            ("12 15", &["12 15"]),
            ("b,a,b", &["b", "a"]),
            ("a,,b,", &["a", "b"]),
            ("\"a, b\",c", &["a, b", "c"]),
            ("c, \"a, b\" ", &["c", "a, b"]),
            ("\"say \"\"hi\"\"\"", &["say \"hi\""]),
            ("5\" nail", &["5\" nail"]),
        ];
        for (written, expected) in good {
            assert_eq!(parse(written).as_deref().unwrap(), expected, "{written}");
        }
        for written in ["", "  ", ",", " , ,", "\"\"", "\"a", "\"a\"\"", "\"a\"b", "x, \"a\" b, y"] {
            assert!(parse(written).is_err(), "{written}");
        }
    }

    #[test]
    fn itemsets_are_shown_as_they_are_written() {
        let show = |terms: &[&str]| shown(&terms.iter().map(|&term| term.into()).collect::<Vec<_>>());
        assert_eq!(show(&["a, b", "c"]), "\"a, b\", c");
        assert_eq!(show(&["a\u{1b}[1m"]), "a\u{fffd}[1m");
        assert_eq!(show(&[&"x".repeat(48)]), "x".repeat(48));
        assert_eq!(show(&[&"ä".repeat(49)]), "ä".repeat(47) + "…");
    }

    #[test]
    fn decimals_are_rounded_and_grouped() {
        assert_eq!([0.0, 0.04, 0.05, 9.96, 1234.56].map(tenths), ["0.0", "0.0", "0.1", "10.0", "1,234.6"]);
    }
}
