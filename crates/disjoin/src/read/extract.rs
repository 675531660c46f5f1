//! Text becomes records: the noun phrases of a document, or what somebody searched for.
//!
//! Paper:      shao2017, sections 6.1.1 and 6.1.2, which use a tagger that was trained
//! Promises:   terms are nouns, two nouns, or an adjective and a noun, in lower case and singular; no stop words, and no term
//!             that is contained in another term of its record
//! Assumes:    English. Without a tagger: words that are in lists, or end like verbs and adverbs, cut a sentence; words that
//!             end like adjectives are adjectives; all others are nouns
//! Departs:    a run of more than two words gives its last two, and the words before them one by one, where the paper's
//!             tagger would decide
//! Cost:       a pass over the text, and a comparison of each term of a record with each other
//! Checked by: tests in this file

use std::collections::BTreeMap;

use crate::data::Dataset;
use crate::read::words::{is_stop_word, singular};

/// What a word can be in a phrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Noun,
    Adjective,
    /// Anything else: phrases end before it.
    Other,
}

/// Queries of at most so many words are taken whole.
const SHORT_QUERY: usize = 2;

/// The terms of a text, in order of first appearance.
pub fn phrases(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for sentence in text.split(|c: char| !c.is_alphanumeric() && !matches!(c, ' ' | '\'' | '-' | '\n' | '’')) {
        let words: Vec<&str> = sentence.split_whitespace().flat_map(parts).collect();
        let kinds: Vec<(String, Kind)> = words.iter().map(|word| kind(word)).collect();
        for run in kinds.split(|(_, kind)| *kind == Kind::Other) {
            found.extend(of_run(run));
        }
    }
    without_contained(found)
}

/// Records of texts, one for each text; texts without a term give none. Also how many of those there were.
pub fn records_of_texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> (Dataset, u64) {
    collect(texts.into_iter().map(phrases))
}

/// Records of what people searched for, one for each person, from pairs of a person and a query.
///
/// A query of one or two words is one term; longer ones are taken apart as texts are.
pub fn records_of_queries<'a>(queries: impl IntoIterator<Item = (&'a str, &'a str)>) -> (Dataset, u64) {
    let mut of_person: BTreeMap<&str, usize> = BTreeMap::new();
    let mut terms: Vec<Vec<String>> = Vec::new();
    for (person, query) in queries {
        let at = *of_person.entry(person).or_insert_with(|| {
            terms.push(Vec::new());
            terms.len() - 1
        });
        let words: Vec<String> = query.split_whitespace().map(|word| singular(&word.to_lowercase())).collect();
        if words.len() > SHORT_QUERY {
            terms[at].extend(phrases(query));
        } else if words.iter().any(|word| !is_stop_word(word) && word.chars().any(char::is_alphanumeric)) {
            terms[at].push(words.join(" "));
        }
    }
    collect(terms.into_iter().map(without_contained))
}

fn collect(records: impl Iterator<Item = Vec<String>>) -> (Dataset, u64) {
    let mut empty = 0;
    let kept = records.filter(|terms| {
        empty += u64::from(terms.is_empty());
        !terms.is_empty()
    });
    let data = Dataset::from_texts(kept);
    (data, empty)
}

/// A word without what is stuck to it; hyphens hold a word together unless they begin or end it.
fn parts(word: &str) -> Option<&str> {
    let word = word.trim_matches(['-', '\'', '’']);
    let word = word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word);
    (!word.is_empty()).then_some(word)
}

/// A word as it stands in a term, and what it can be.
fn kind(word: &str) -> (String, Kind) {
    let lower = word.to_lowercase();
    let folded = singular(&lower);
    let is_word = lower.chars().filter(|c| c.is_alphabetic()).count() >= 3
        || (lower.len() >= 2 && word.chars().all(char::is_uppercase));
    let is_noun_ending = NOUN_ENDINGS.iter().any(|end| lower.ends_with(end));
    let kind = match lower.as_str() {
        _ if !is_word || is_stop_word(&lower) || is_stop_word(&folded) => Kind::Other,
        _ if OTHERS.binary_search(&lower.as_str()).is_ok() => Kind::Other,
        _ if is_noun_ending => Kind::Noun,
        _ if lower.ends_with("ly") || lower.ends_with("ing") || lower.ends_with("ed") => Kind::Other,
        _ if ADJECTIVES.binary_search(&lower.as_str()).is_ok() => Kind::Adjective,
        _ if ADJECTIVE_ENDINGS.iter().any(|end| lower.ends_with(end)) => Kind::Adjective,
        _ => Kind::Noun,
    };
    if kind == Kind::Adjective { (lower, kind) } else { (folded, kind) }
}

/// The terms of a run of adjectives and nouns.
fn of_run(run: &[(String, Kind)]) -> Vec<String> {
    let mut found = Vec::new();
    let Some(last) = run.iter().rposition(|(_, kind)| *kind == Kind::Noun) else { return found };
    // What follows the last noun describes nothing.
    let run = &run[..=last];
    for (word, kind) in run.iter().take(run.len().saturating_sub(2)) {
        if *kind == Kind::Noun {
            found.push(word.clone());
        }
    }
    let tail: Vec<&str> = run[run.len().saturating_sub(2)..].iter().map(|(word, _)| word.as_str()).collect();
    found.push(tail.join(" "));
    found
}

/// Each term once, and none whose words stand side by side in a longer one.
fn without_contained(mut terms: Vec<String>) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    terms.retain(|term| seen.insert(term.clone()));
    let is_inside =
        |inner: &str, outer: &str| inner.len() < outer.len() && format!(" {outer} ").contains(&format!(" {inner} "));
    let all = terms.clone();
    terms.retain(|term| !all.iter().any(|other| is_inside(term, other)));
    terms
}

/// Endings of nouns that others would take away.
const NOUN_ENDINGS: [&str; 9] = ["seed", "need", "blood", "bed", "family", "anomaly", "ring", "wing", "imaging"];

const ADJECTIVE_ENDINGS: [&str; 14] =
    ["ic", "al", "ous", "ive", "able", "ible", "ary", "ful", "less", "ish", "ant", "ent", "eal", "ular"];

/// Common adjectives that do not end like one, ascending.
const ADJECTIVES: [&str; 40] = [
    "acute", "adult", "bad", "benign", "big", "cold", "dark", "deep", "dense", "early", "elderly", "false", "fast",
    "female", "free", "good", "great", "high", "hot", "human", "large", "late", "left", "little", "long", "low",
    "male", "mild", "new", "old", "poor", "rare", "right", "severe", "short", "slow", "small", "strong", "white",
    "young",
];

/// Verbs and other words that are in no phrase, ascending.
const OTHERS: [&str; 74] = [
    "accurate",
    "appear",
    "appears",
    "apply",
    "became",
    "become",
    "becomes",
    "best",
    "better",
    "came",
    "case",
    "cases",
    "come",
    "compare",
    "conclude",
    "data",
    "describe",
    "determine",
    "develop",
    "differ",
    "different",
    "discuss",
    "effective",
    "evidence",
    "examine",
    "find",
    "findings",
    "found",
    "gave",
    "get",
    "give",
    "given",
    "gives",
    "greater",
    "higher",
    "important",
    "include",
    "includes",
    "increase",
    "indicate",
    "investigate",
    "keep",
    "larger",
    "let",
    "lower",
    "made",
    "make",
    "makes",
    "mean",
    "method",
    "methods",
    "occur",
    "older",
    "present",
    "produce",
    "provide",
    "provides",
    "receive",
    "remain",
    "report",
    "require",
    "result",
    "results",
    "said",
    "see",
    "seen",
    "show",
    "shows",
    "significant",
    "similar",
    "studies",
    "study",
    "suggest",
    "take",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_of_a_clinical_note() {
        let text = "Ms. Pizzo is a 63-year-old woman with peripheral vascular disease who recently underwent revision of \
                    her femoral artery. She has a long history of diabetes, and the history was reviewed. Diseases of arteries.";
        let found = phrases(text);
        for expected in ["vascular disease", "femoral artery", "long history", "diabete"] {
            assert!(found.iter().any(|term| term == expected), "{expected} is not in {found:?}");
        }
        // Contained in a longer term, a stop word, a number.
        for absent in ["history", "disease", "artery", "who", "63"] {
            assert!(!found.iter().any(|term| term == absent), "{absent} is in {found:?}");
        }
        // A known limit: there is no tagger, and a verb that is in no list is taken for a noun. The paper's figure 11 has no such term.
        assert!(found.iter().any(|term| term.contains("underwent")), "the limit is gone: say so in PAPERS.md");
    }

    #[test]
    fn runs_give_their_last_two_words() {
        assert_eq!(phrases("left tibial bypass graft"), ["bypass graft"]);
        assert_eq!(phrases("prostate cancer cells"), ["prostate", "cancer cell"]);
        assert_eq!(phrases("cancer; cancers, Cancer"), ["cancer"]);
        assert!(phrases("the and of 12 3.5 %").is_empty());
    }

    #[test]
    fn queries_become_records_of_people() {
        let queries = [
            ("7", "good wine"),
            ("9", "knee"),
            ("7", "accent marks"),
            ("7", "accent marks"),
            ("7", "sudden loss of body weight"),
            ("8", "the"),
        ];
        let (data, empty) = records_of_queries(queries);
        let texts: Vec<Vec<&str>> =
            data.records.iter().map(|record| record.iter().map(|&term| data.dictionary.text(term)).collect()).collect();
        assert_eq!(texts, [vec!["good wine", "accent mark", "sudden loss", "body weight"], vec!["knee"]]);
        assert_eq!(empty, 1);
    }

    #[test]
    fn lists_are_sorted() {
        assert!(ADJECTIVES.is_sorted() && OTHERS.is_sorted());
    }
}
