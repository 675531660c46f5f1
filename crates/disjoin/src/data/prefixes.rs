//! A hierarchy from the texts of codes: what begins alike stands below one node.
//!
//! A node for every beginning that codes have in common and after which they differ: `250.01` stands below `250.0*`, that
//! below `250*`, as long as there are others. Codes that all look like ICD-9 have its chapters above their categories.
//!
//! Promises:   one root, every term a leaf; an inner node stands above two nodes or more, but for chapters
//! Cost:       a sort of the terms, then linear in their texts
//! Checked by: tests in this file

use std::collections::HashSet;

use super::{Dictionary, Fault, Hierarchy, HierarchyBuilder};
use crate::error::{Error, Result};

/// First categories of the chapters of ICD-9 that have numbers.
const CHAPTERS: [u32; 17] = [1, 140, 240, 280, 290, 320, 390, 460, 520, 580, 630, 680, 710, 740, 760, 780, 800];

/// Builds a tree of codes by what they begin with.
pub fn by_prefix(dictionary: &Dictionary) -> Result<Hierarchy> {
    let mut codes: Vec<&str> = dictionary.iter().collect();
    codes.sort_unstable();
    let chapters: Option<Vec<(usize, String)>> = dictionary.iter().map(icd9).collect();
    let mut prefixes: HashSet<&str> = codes.windows(2).map(|pair| common(pair[0], pair[1])).collect();
    prefixes.remove("");

    let mut builder = HierarchyBuilder::new(dictionary);
    for (term, code) in dictionary.iter().enumerate() {
        let chapter = chapters.as_ref().map(|chapters| &chapters[term]);
        let least = chapter.map_or(1, |(category, _)| *category);
        let ends = code.char_indices().map(|(at, c)| at + c.len_utf8());
        let ends = ends.filter(|&end| end >= least && prefixes.contains(&code[..end]));
        let mut path: Vec<String> = ends.map(|end| format!("{}*", &code[..end])).collect();
        path.reverse();
        path.extend(chapter.map(|(_, chapter)| chapter.clone()));
        path.push("*".to_owned());
        builder.path(code, path.iter().map(String::as_str)).map_err(refuse)?;
    }
    builder.finish().map_err(refuse)
}

fn refuse(fault: Fault) -> Error {
    match fault {
        Fault::TooDeep => Error::Infeasible {
            problem: "terms have beginnings in common at too many places: they are no codes".into(),
            hint: "build the hierarchy in another way, for example by fan-out".into(),
        },
        // Beginnings are ordered by length, and each has one that is next.
        _ => Error::Internal("prefixes are no tree"),
    }
}

/// What two codes begin with, without a separator at its end.
fn common<'a>(one: &'a str, other: &str) -> &'a str {
    let same = one.char_indices().zip(other.chars()).take_while(|((_, a), b)| a == b);
    let end = same.last().map_or(0, |((at, c), _)| at + c.len_utf8());
    one[..end].trim_end_matches(|c: char| !c.is_alphanumeric())
}

/// How long the category of an ICD-9 code is, and its chapter; none if it is no such code.
fn icd9(code: &str) -> Option<(usize, String)> {
    let (category, detail) = code.split_once('.').unwrap_or((code, "0"));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !(1..=2).contains(&detail.len()) || !is_digits(detail) || !category.is_ascii() || category.len() < 3 {
        return None;
    }
    let chapter = match category.split_at(1) {
        ("V", number) if number.len() == 2 && is_digits(number) => "V01-V91".to_owned(),
        ("E", number) if number.len() == 3 && is_digits(number) => "E000-E999".to_owned(),
        _ if category.len() == 3 && is_digits(category) => {
            let number: u32 = category.parse().ok()?;
            let next = CHAPTERS.partition_point(|&first| first <= number);
            let first = CHAPTERS[next.checked_sub(1)?];
            format!("{first:03}-{:03}", CHAPTERS.get(next).map_or(999, |next| next - 1))
        }
        _ => return None,
    };
    Some((category.len(), chapter))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Dataset, NodeId};

    fn check(terms: &[&str], expected: &[&str]) {
        let dictionary = Dataset::from_texts([terms]).dictionary;
        let hierarchy = by_prefix(&dictionary).unwrap();
        let chain = |term| {
            let nodes = std::iter::once(term).chain(hierarchy.ancestors(term));
            nodes.map(|node| hierarchy.text(node, &dictionary)).collect::<Vec<_>>().join(" < ")
        };
        assert_eq!((0..dictionary.len() as NodeId).map(chain).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn codes_stand_below_what_they_begin_with() {
        check(
            &["E11.9", "E11.65", "E10", "J45", "E11"],
            &["E11.9 < E11* < E1* < *", "E11.65 < E11* < E1* < *", "E10 < E1* < *", "J45 < *", "E11 < E11* < E1* < *"],
        );
        // The point alone is no difference.
        check(&["a.b", "a.c", "a"], &["a.b < a* < *", "a.c < a* < *", "a < a* < *"]);
        check(&["été", "étage", "x"], &["été < ét* < *", "étage < ét* < *", "x < *"]);
        check(&["x"], &["x < *"]);
        check(&[], &[]);
    }

    #[test]
    fn icd_9_has_chapters() {
        check(
            &["250.01", "250.02", "250.1", "272", "V10", "V10.1", "E950.1", "001", "999.9"],
            &[
                "250.01 < 250.0* < 250* < 240-279 < *",
                "250.02 < 250.0* < 250* < 240-279 < *",
                "250.1 < 250* < 240-279 < *",
                "272 < 240-279 < *",
                "V10 < V10* < V01-V91 < *",
                "V10.1 < V10* < V01-V91 < *",
                "E950.1 < E000-E999 < *",
                "001 < 001-139 < *",
                "999.9 < 800-999 < *",
            ],
        );
        // One that is none, and there are no chapters.
        check(
            &["250.01", "250.02", "272", "flu"],
            &["250.01 < 250.0* < 2* < *", "250.02 < 250.0* < 2* < *", "272 < 2* < *", "flu < *"],
        );
        for code in ["000", "25", "250.", "250.123", "V1", "E95", "2500", "V1x", ".1", "25é"] {
            assert_eq!(icd9(code), None, "{code}");
        }
    }

    #[test]
    fn texts_that_are_no_codes_are_refused() {
        let terms: Vec<String> = (1..300).map(|length| "x".repeat(length)).collect();
        let dictionary = Dataset::from_texts([&terms]).dictionary;
        assert!(matches!(by_prefix(&dictionary), Err(Error::Infeasible { .. })));
    }
}
