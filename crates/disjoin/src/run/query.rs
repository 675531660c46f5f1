//! `query`: how many people have all of these terms?

use std::io::Read as _;
use std::path::Path;

use rayon::prelude::*;
use serde::Serialize;

use super::open::Release;
use super::{Answer, open};
use crate::data::{Dictionary, TermId};
use crate::error::{Error, Place, Result};
use crate::inspect::{Itemset, Mining};
use crate::memory::{MOST, Memory, read_file};
use crate::observer::{Observer, Unobserved, observed};
use crate::reconstruct::{Estimate, Multiplicity, Spread, estimate, top_expected, top_spread};
use crate::release::Form;
use crate::release::recoded::Suppression;
use crate::report::{Known, count, number, query_page};

/// What is asked for.
#[derive(Clone)]
pub enum Questions {
    /// Itemsets: different terms in the order in which they are written.
    Written(Vec<Vec<String>>),
    /// The itemsets with the greatest expectations.
    Top(Mining<'static>),
}

/// How many warnings of one kind are given.
const SHOWN: usize = 10;

/// Estimates how many people have all of some terms, from the release alone.
pub fn query(
    path: &Path,
    questions: &Questions,
    multiplicity: Multiplicity,
    observer: &dyn Observer,
) -> Result<Answer> {
    #[derive(Serialize)]
    struct Report<'a> {
        records: u64,
        itemsets: &'a [Known],
    }
    observed(|| {
        observer.stage("reading the release");
        let opened = open(path, None, observer.memory())?;
        let (records, is_whole, itemsets) = match &opened.release {
            Release::Disassociated(stored) => {
                let release = stored.load(observer)?;
                let model = stored.model(&release, multiplicity, observer)?;
                let found = match questions {
                    Questions::Written(itemsets) => itemsets.clone(),
                    Questions::Top(mining) => {
                        observer.stage("searching for the greatest expectations");
                        let found = top_expected(&model, &Mining { observer, ..*mining });
                        texts(found.map_err(|error| stored.named(error))?, &release.dictionary)
                    }
                };
                observer.stage(&format!("estimating {}", count(found.len() as u64, "itemset", "itemsets")));
                // A release has every term of its original.
                let nobody = Estimate { lower: 0, upper: 0, expected: 0.0, deviation: 0.0 };
                let of = |known: &[TermId]| estimate(&model, known);
                (release.header.records, true, answers(found, &release.dictionary, of, nobody, observer))
            }
            Release::Recoded(claim, release) => {
                let spread = Spread::new(release, claim.suppression);
                let found = match questions {
                    Questions::Written(itemsets) => itemsets.clone(),
                    Questions::Top(mining) => {
                        observer.stage("searching for the greatest expectations");
                        texts(top_spread(&spread, &Mining { observer, ..*mining }), &release.dictionary)
                    }
                };
                let of = |known: &[TermId]| spread.estimate(known);
                let answers = answers(found, &release.dictionary, of, spread.unknown(), observer);
                (claim.records, claim.suppression == Suppression::None, answers)
            }
            Release::Classes(..) => {
                let hint = "data.csv in it is a table that any program counts";
                return opened.refuse("query", &[Form::Disassociated, Form::Recoded], hint);
            }
            Release::Split(..) => {
                let hint = "quasi.csv and the sensitive tables in it are counted by any program, group by group";
                return opened.refuse("query", &[Form::Disassociated, Form::Recoded], hint);
            }
            Release::Noisy(_) => {
                let hint = "data.jsonl in it lists what there is, with noisy counts";
                return opened.refuse("query", &[Form::Disassociated, Form::Recoded], hint);
            }
        };
        let page = query_page(records, &itemsets);
        let mut answer = Answer::new(page, &Report { records, itemsets: &itemsets })?;
        answer.warnings = unknown(&itemsets, is_whole);
        Ok(answer)
    })
}

fn texts<S>(found: Vec<Itemset<S>>, dictionary: &Dictionary) -> Vec<Vec<String>> {
    let texts = |found: Itemset<S>| found.terms.iter().map(|&term| dictionary.text(term).to_owned()).collect();
    found.into_iter().map(texts).collect()
}

fn answers(
    itemsets: Vec<Vec<String>>,
    dictionary: &Dictionary,
    of: impl Fn(&[TermId]) -> Estimate + Sync,
    unknown: Estimate,
    observer: &dyn Observer,
) -> Vec<Known> {
    let answer = |terms: Vec<String>| {
        observer.check();
        let mut known: Vec<TermId> = terms.iter().filter_map(|term| dictionary.get(term)).collect();
        known.sort_unstable();
        let unknown_terms = terms.len() - known.len();
        let estimate = if unknown_terms == 0 { of(&known) } else { unknown };
        Known { terms, estimate, unknown_terms }
    };
    itemsets.into_par_iter().map(answer).collect()
}

/// Where terms are unknown, by position: what somebody asks for may say something about a person.
fn unknown(itemsets: &[Known], is_whole: bool) -> Vec<String> {
    let mut unknown = itemsets.iter().zip(1_u64..).filter(|(known, _)| known.unknown_terms > 0);
    let warn = |(known, position): (&Known, u64)| {
        format!(
            "itemset {}: {} of its terms {} not in the release; {}",
            number(position),
            number(known.unknown_terms as u64),
            if known.unknown_terms == 1 { "is" } else { "are" },
            if is_whole { "nobody has it" } else { "whether somebody has it is not disclosed" }
        )
    };
    let mut warnings: Vec<String> = unknown.by_ref().take(SHOWN).map(warn).collect();
    let rest = unknown.count() as u64;
    if rest > 0 {
        let has = if rest == 1 { "itemset has" } else { "itemsets have" };
        warnings.push(format!("{} more {has} terms that are not in the release", number(rest)));
    }
    warnings
}

const HOW_TO_WRITE: &str = "write terms with commas between, and a term that contains a comma as \"a, b\"";

impl Questions {
    /// Itemsets as somebody writes them: terms with commas between.
    pub fn written(itemsets: &[String]) -> Result<Self> {
        let itemsets = itemsets.iter().zip(1_u64..).map(|(written, position)| {
            let refuse =
                |problem| Error::recipe("itemset", format!("number {}: {problem}", number(position)), HOW_TO_WRITE);
            parse(written).map_err(refuse)
        });
        itemsets.collect::<Result<_>>().map(Questions::Written)
    }

    /// A file with one itemset a line; blank lines are skipped, `-` is standard input.
    pub fn read(file: &Path) -> Result<Self> {
        let name = if file == Path::new("-") { String::from("standard input") } else { file.display().to_string() };
        let bytes = if file == Path::new("-") {
            let mut bytes = Vec::new();
            let read = std::io::stdin().lock().take(MOST).read_to_end(&mut bytes);
            read.map_err(|e| Error::io(file, "read the itemsets", e))?;
            bytes
        } else {
            read_file(file, "read the itemsets", Memory::default())?
        };
        let text = String::from_utf8(bytes).map_err(|_| {
            Error::input(Place::file(&name), "is not valid UTF-8").with_hint("convert the file to UTF-8")
        })?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
        let itemsets: Vec<Vec<String>> = lines
            .map(|(line, at)| {
                parse(line).map_err(|problem| Error::input(Place::line(&name, at), problem).with_hint(HOW_TO_WRITE))
            })
            .collect::<Result<_>>()?;
        match itemsets.is_empty() {
            true => Err(Error::input(Place::file(&name), "holds no itemset").with_hint(HOW_TO_WRITE)),
            false => Ok(Questions::Written(itemsets)),
        }
    }

    /// The `n` itemsets of `min` to `max` terms that most people are expected to have.
    pub fn top(n: usize, min: Option<usize>, max: Option<usize>) -> Result<Self> {
        let (min_length, max_length) = (min.unwrap_or(1), max.unwrap_or(usize::MAX));
        match min_length > max_length {
            true => Err(Error::recipe("min_size", "is greater than the largest size", "exchange them")),
            false => Ok(Questions::Top(Mining { k: n, min_length, max_length, excludes: None, observer: &Unobserved })),
        }
    }
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
}
