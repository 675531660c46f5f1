//! Itemsets of a query: how they are written, and how many people have them.

use rayon::prelude::*;

use super::Line;
use crate::data::{Dictionary, TermId};
use crate::error::Result;
use crate::inspect::Itemset;
use crate::observer::Observer;
use crate::reconstruct::Estimate;
use crate::report::{Known, number};

/// How many warnings of one kind are given.
const SHOWN: usize = 10;

const HOW_TO_WRITE: &str = "write terms with commas between, and a term that contains a comma as \"a, b\"";

/// The terms of lines that are itemsets.
pub(super) fn parsed(lines: &[Line]) -> Result<Vec<Vec<String>>> {
    let one = |line: &Line| parse(&line.text).map_err(|problem| line.fault("itemset", problem, HOW_TO_WRITE));
    lines.iter().map(one).collect()
}

pub(super) fn texts<S>(found: Vec<Itemset<S>>, dictionary: &Dictionary) -> Vec<Vec<String>> {
    let texts = |found: Itemset<S>| found.terms.iter().map(|&term| dictionary.text(term).to_owned()).collect();
    found.into_iter().map(texts).collect()
}

pub(super) fn answers(
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
pub(super) fn unknown(itemsets: &[Known], is_whole: bool) -> Vec<String> {
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
