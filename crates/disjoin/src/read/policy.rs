//! What must be hidden and what must stay useful: privacy and utility constraints over the terms of a dataset.
//!
//! A privacy constraint is a set of terms that an adversary may know of a person. A utility constraint is a set of
//! terms that may stand in for each other: a term is only ever generalised together with terms of its own set, and a
//! term of no set is not generalised at all.
//!
//! A file has one constraint a line, terms separated as in basket text: by the tab, semicolon or comma that stands in
//! most lines outside quotes, or by spaces if there is none. Quoted terms follow CSV but end in their line. Every line
//! is a constraint: there is no header and no comment.
//!
//! Paper:      loukides2011 (COAT), which calls them the privacy and the utility policy
//! Promises:   what is read has no empty constraint and no unknown term; utility sets are disjoint; terms ascend
//! Assumes:    the dictionary is the one of the data to be protected
//! Departs:    nothing
//! Cost:       linear in the file; `random_singletons`: linear in the terms; `all_pairs`: quadratic in its list
//! Checked by: tests in this file

/// What `disjoin policy` does if nothing is said.
pub mod default {
    /// The share of all terms that is chosen at random.
    pub const SHARE: f64 = 0.1;
    /// Where randomness starts.
    pub const SEED: u64 = 1;
    /// The depth of the nodes of a hierarchy whose terms are sets.
    pub const DEPTH: u32 = 1;
    /// Where WordNet is on most systems.
    pub const WORDNET: &str = "/usr/share/wordnet";
    /// How many other terms a set of inconspicuous ones has.
    pub const SIZE: usize = 12;
}

use std::path::Path;

use crate::data::{Dictionary, Hierarchy, TermId};
use crate::error::{Error, Place, Result};
use crate::memory::{Memory, read_file};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Separators in the order in which ties are decided.
const SEPARATORS: [char; 3] = ['\t', ';', ','];

/// Privacy and utility constraints over the same terms.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Policy {
    /// Sets of terms that must be in no record of the release or in k and more.
    pub privacy: Vec<Vec<TermId>>,
    /// Disjoint sets of terms; only terms of one set may be generalised together.
    pub utility: Vec<Vec<TermId>>,
}

impl Policy {
    /// The constraints of two files. Without a file of utility constraints all terms may stand in for each other.
    pub fn read(privacy: &Path, utility: Option<&Path>, dictionary: &Dictionary) -> Result<Self> {
        let read = |path: &Path| -> Result<(String, String)> {
            let name = path.display().to_string();
            let text = String::from_utf8(read_file(path, "read", Memory::default())?).map_err(|_| {
                Error::input(Place::file(&name), "is not valid UTF-8").with_hint("convert the file to UTF-8")
            })?;
            Ok((name, text))
        };
        let (name, text) = read(privacy)?;
        let privacy = parse_privacy(&name, &text, dictionary)?;
        let utility = match utility {
            Some(path) => {
                let (name, text) = read(path)?;
                parse_utility(&name, &text, dictionary)?
            }
            None => one_utility_set(dictionary.len()),
        };
        Ok(Policy { privacy, utility })
    }

    /// Refuses constraints that cannot be meant for data with so many terms.
    pub fn check(&self, n_terms: usize) -> Result<()> {
        for (key, constraints) in [("privacy constraints", &self.privacy), ("utility constraints", &self.utility)] {
            for (constraint, number) in constraints.iter().zip(1_usize..) {
                if constraint.is_empty() {
                    let hint = "leave it out, or give it the terms it is for";
                    return Err(Error::recipe(key, format!("constraint {number} is empty"), hint));
                }
                if constraint.iter().any(|&term| term as usize >= n_terms) {
                    let problem = format!("constraint {number} has a term that the data do not have");
                    return Err(Error::recipe(key, problem, "use the constraints and the dictionary of one dataset"));
                }
            }
        }
        match self.shared(n_terms) {
            Some((one, other)) => Err(Error::recipe(
                "utility constraints",
                format!("constraints {} and {} have a term in common", one + 1, other + 1),
                "put every term in one utility constraint at most",
            )),
            None => Ok(()),
        }
    }

    /// For each term its utility set, if it is in one.
    pub fn utility_of_terms(&self, n_terms: usize) -> Vec<Option<u32>> {
        let mut of_term = vec![None; n_terms];
        for (set, at) in self.utility.iter().zip(0_u32..) {
            for &term in set {
                if let Some(place) = of_term.get_mut(term as usize) {
                    *place = Some(at);
                }
            }
        }
        of_term
    }

    /// The first two utility sets with a common term.
    fn shared(&self, n_terms: usize) -> Option<(usize, usize)> {
        let mut seen = vec![usize::MAX; n_terms];
        for (set, at) in self.utility.iter().zip(0..) {
            for &term in set {
                let before = std::mem::replace(seen.get_mut(term as usize)?, at);
                if before != usize::MAX && before != at {
                    return Some((before, at));
                }
            }
        }
        None
    }
}

/// Privacy constraints of a text. `name` is the file's, for errors.
pub fn parse_privacy(name: &str, text: &str, dictionary: &Dictionary) -> Result<Vec<Vec<TermId>>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let separator = separator(text);
    let mut constraints = Vec::new();
    for (line, number) in text.lines().zip(1_u64..) {
        let place = || Place::line(name, number);
        let fields = fields(line, separator)
            .map_err(|problem| Error::input(place(), problem).with_hint("double a quote inside a quoted term"))?;
        let mut constraint = Vec::with_capacity(fields.len());
        for (field, position) in fields.iter().zip(1_usize..).filter(|(field, _)| !field.is_empty()) {
            // The text is not repeated: whoever wrote it has the file, and the log may go further.
            let unknown = || {
                Error::input(place(), format!("field {position} is not a term of the data"))
                    .with_hint("write terms as the data have them, case included, and quote those with separators")
            };
            constraint.push(dictionary.get(field).ok_or_else(unknown)?);
        }
        if constraint.is_empty() {
            return Err(Error::input(place(), "is an empty constraint").with_hint("remove the line"));
        }
        constraint.sort_unstable();
        constraint.dedup();
        constraints.push(constraint);
    }
    Ok(constraints)
}

/// Utility constraints of a text: no term may be in two. `name` is the file's, for errors.
pub fn parse_utility(name: &str, text: &str, dictionary: &Dictionary) -> Result<Vec<Vec<TermId>>> {
    let policy = Policy { privacy: Vec::new(), utility: parse_privacy(name, text, dictionary)? };
    match policy.shared(dictionary.len()) {
        // Every line is a constraint, so their numbers are those of the lines.
        Some((one, other)) => Err(Error::input(
            Place::line(name, other as u64 + 1),
            format!("has a term that is also in the utility constraint of line {}", one + 1),
        )
        .with_hint("put every term in one utility constraint at most")),
        None => Ok(policy.utility),
    }
}

/// The text of a file with these constraints, one a line, as they are read back.
pub fn write_constraints(sets: &[Vec<TermId>], dictionary: &Dictionary) -> Result<String> {
    // What could separate terms in any file, also where all lines have one term.
    let needs_quotes = |term: &str| term.contains(|c: char| SEPARATORS.contains(&c) || c == '"' || c.is_whitespace());
    let mut text = String::new();
    for set in sets {
        for (&term, at) in set.iter().zip(0..) {
            let term = dictionary.text(term);
            if term.contains(['\n', '\r']) {
                let hint = "replace line ends inside terms by blanks";
                return Err(Error::input(
                    Place::file("the data"),
                    "a term has a line end, which no constraint can have",
                )
                .with_hint(hint));
            }
            text.push_str(if at == 0 { "" } else { "," });
            match needs_quotes(term) {
                true => text.extend(["\"", &term.replace('"', "\"\""), "\""]),
                false => text.push_str(term),
            }
        }
        text.push('\n');
    }
    Ok(text)
}

/// Privacy constraints of one term each, for a share of all terms chosen at random. The seed decides which.
pub fn random_singletons(n_terms: usize, share: f64, seed: u64) -> Result<Vec<Vec<TermId>>> {
    if !(0.0..=1.0).contains(&share) {
        return Err(Error::recipe("share of terms", "must be from 0 to 1", "0.1 is a tenth of the terms"));
    }
    let chosen = (share * n_terms as f64).round() as usize;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut terms: Vec<TermId> = (0..n_terms as TermId).collect();
    for at in 0..chosen {
        terms.swap(at, random.random_range(at..n_terms));
    }
    terms.truncate(chosen);
    terms.sort_unstable();
    Ok(terms.into_iter().map(|term| vec![term]).collect())
}

/// Privacy constraints of two terms each: all pairs of different terms of a list.
pub fn all_pairs(terms: &[TermId]) -> Vec<Vec<TermId>> {
    let mut terms = terms.to_vec();
    terms.sort_unstable();
    terms.dedup();
    let after = |at: usize| terms[at + 1..].iter();
    terms.iter().enumerate().flat_map(|(at, &one)| after(at).map(move |&other| vec![one, other])).collect()
}

/// One utility constraint of all terms: any term may stand in for any other.
pub fn one_utility_set(n_terms: usize) -> Vec<Vec<TermId>> {
    if n_terms == 0 { Vec::new() } else { vec![(0..n_terms as TermId).collect()] }
}

/// A utility constraint for each node of a depth: all terms below it. Terms above that depth are alone in theirs.
///
/// Depth 0 are the roots; a depth at which there are only terms allows nothing to be generalised.
pub fn utility_sets_at(hierarchy: &Hierarchy, depth: u32) -> Vec<Vec<TermId>> {
    let mut sets = vec![Vec::new(); hierarchy.n_nodes()];
    for term in 0..hierarchy.n_terms() as TermId {
        let mut above = std::iter::once(term).chain(hierarchy.ancestors(term));
        let node = above.find(|&node| hierarchy.depth(node) <= depth);
        sets[node.unwrap_or(term) as usize].push(term);
    }
    sets.retain(|set| !set.is_empty());
    sets.sort_unstable();
    sets
}

/// What separates the terms of a text.
fn separator(text: &str) -> char {
    let is_in = |line: &str, candidate: char| {
        let (mut is_quoted, mut starts_field) = (false, true);
        line.chars().any(|character| {
            // Inside an unquoted field a quote is a character like others.
            is_quoted ^= character == '"' && (is_quoted || starts_field);
            starts_field = SEPARATORS.contains(&character) || character == ' ' || (character == '"' && !is_quoted);
            character == candidate && !is_quoted
        })
    };
    let mut best = (0, ' ');
    for candidate in SEPARATORS {
        let lines = text.lines().filter(|line| is_in(line, candidate)).count();
        if lines > best.0 {
            best = (lines, candidate);
        }
    }
    best.1
}

/// The fields of a line, without the blanks around them.
fn fields(line: &str, separator: char) -> std::result::Result<Vec<String>, &'static str> {
    let is_blank = |character: char| matches!(character, ' ' | '\r' | '\t') && character != separator;
    let mut fields = Vec::new();
    let mut rest = line;
    loop {
        rest = rest.trim_start_matches(is_blank);
        let Some(mut quoted) = rest.strip_prefix('"') else {
            let (field, after) = rest.split_once(separator).map_or((rest, None), |(field, after)| (field, Some(after)));
            fields.push(field.trim_end_matches(is_blank).to_owned());
            match after {
                Some(after) => rest = after,
                None => return Ok(fields),
            }
            continue;
        };
        let mut field = String::new();
        loop {
            let (part, after) = quoted.split_once('"').ok_or("a quote is opened and never closed")?;
            field.push_str(part);
            match after.strip_prefix('"') {
                Some(after) => {
                    field.push('"');
                    quoted = after;
                }
                None => {
                    rest = after.trim_start_matches(is_blank);
                    break;
                }
            }
        }
        fields.push(field);
        match rest.strip_prefix(separator) {
            Some(after) => rest = after,
            None if rest.is_empty() => return Ok(fields),
            None => return Err("text follows a closing quote"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dictionary(terms: &[&str]) -> Dictionary {
        let mut dictionary = Dictionary::default();
        for term in terms {
            dictionary.intern(term);
        }
        dictionary
    }

    fn fault(parsed: Result<Vec<Vec<TermId>>>) -> (Option<u64>, String) {
        match parsed {
            Err(Error::Input { place, problem, .. }) => (place.line, problem),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn lines_are_constraints_in_every_separator() {
        let terms = dictionary(&["flu", "hiv", "whole milk", "5\" pipe", "a,b"]);
        let parse = |text| parse_privacy("p.txt", text, &terms).unwrap();
        assert_eq!(parse("hiv flu\nflu  \nhiv  hiv\n"), [vec![0, 1], vec![0], vec![1]]);
        assert_eq!(parse("\u{feff}whole milk, hiv\r\n,flu,"), [vec![1, 2], vec![0]]);
        assert_eq!(parse("\"5\"\" pipe\";\"a,b\"\nwhole milk;flu"), [vec![3, 4], vec![0, 2]]);
        assert_eq!(parse("\"whole milk\" \"a,b\""), [[2, 4]]);
        assert_eq!(parse("5\" pipe,\"a,b\""), [[3, 4]]);
        assert_eq!(parse("flu\thiv"), [[0, 1]]);
        assert_eq!(parse(""), [[0; 0]; 0]);
    }

    #[test]
    fn faults_name_their_line_and_no_term() {
        let terms = dictionary(&["flu", "hiv", "gout"]);
        assert_eq!(fault(parse_privacy("p", "flu\n\nhiv", &terms)).0, Some(2));
        assert_eq!(fault(parse_privacy("p", "flu,hiv\n,,\n", &terms)), (Some(2), "is an empty constraint".into()));
        let (line, problem) = fault(parse_privacy("p", "flu\nhiv,cancer", &terms));
        assert_eq!((line, problem.as_str()), (Some(2), "field 2 is not a term of the data"));
        assert_eq!(fault(parse_privacy("p", "flu\n\"hiv", &terms)).0, Some(2));
        assert_eq!(fault(parse_privacy("p", "\"flu\"x", &terms)).0, Some(1));
        let (line, problem) = fault(parse_utility("u", "flu\ngout\nhiv,flu", &terms));
        assert_eq!(line, Some(3));
        assert!(problem.contains("line 1") && !problem.contains("flu"), "{problem}");
        assert_eq!(parse_utility("u", "flu,hiv\ngout", &terms).unwrap(), [vec![0, 1], vec![2]]);
    }

    #[test]
    fn policies_are_checked() {
        let check = |privacy: &[&[TermId]], utility: &[&[TermId]]| {
            let owned = |sets: &[&[TermId]]| sets.iter().map(|set| set.to_vec()).collect();
            Policy { privacy: owned(privacy), utility: owned(utility) }.check(3)
        };
        assert!(check(&[&[0, 2]], &[&[0, 1], &[2]]).is_ok());
        for (privacy, utility) in [
            (&[&[][..]][..], &[][..]),
            (&[], &[&[0][..], &[]]),
            (&[&[3]], &[]),
            (&[], &[&[3]]),
            (&[], &[&[0, 1], &[1, 2]]),
        ] {
            assert!(matches!(check(privacy, utility), Err(Error::Recipe { .. })));
        }
    }

    #[test]
    fn constraints_can_be_written_for_you() {
        let chosen = random_singletons(200, 0.1, 7).unwrap();
        assert_eq!(chosen.len(), 20);
        assert!(chosen.is_sorted_by(|a, b| a < b) && chosen.iter().all(|set| set.len() == 1 && set[0] < 200));
        assert_eq!(random_singletons(200, 0.1, 7).unwrap(), chosen);
        assert_ne!(random_singletons(200, 0.1, 8).unwrap(), chosen);
        assert_eq!(random_singletons(5, 1.0, 1).unwrap().len(), 5);
        assert!(random_singletons(0, 1.0, 1).unwrap().is_empty());
        assert!(random_singletons(5, f64::NAN, 1).is_err());
        assert_eq!(all_pairs(&[4, 1, 4, 3]), [[1, 3], [1, 4], [3, 4]]);
        assert!(all_pairs(&[]).is_empty());
        assert_eq!(one_utility_set(3), [[0, 1, 2]]);
        assert!(one_utility_set(0).is_empty());
    }

    #[test]
    fn what_is_written_is_read_back() {
        let terms = dictionary(&["flu", "whole milk", "5\" pipe", "a,b", "c;d", "e\tf", " g ", "\"h\""]);
        let all = one_utility_set(terms.len());
        let singles: Vec<Vec<TermId>> = (0..terms.len() as TermId).map(|term| vec![term]).collect();
        for sets in [all, singles, all_pairs(&[0, 1, 2, 3, 4, 5, 6, 7]), vec![vec![0]], vec![vec![1]], vec![]] {
            let text = write_constraints(&sets, &terms).unwrap();
            assert_eq!(parse_privacy("p", &text, &terms).unwrap(), sets, "{text}");
        }
        assert!(write_constraints(&[vec![0]], &dictionary(&["two\nlines"])).is_err());
    }

    #[test]
    fn utility_sets_follow_a_hierarchy() {
        let terms = dictionary(&["a1", "a2", "b1", "b2", "c"]);
        let paths = [("a1", vec!["a", "ab", "all"]), ("a2", vec!["a", "ab", "all"]), ("b1", vec!["b", "ab", "all"])];
        let more = [("b2", vec!["b", "ab", "all"]), ("c", vec!["all"])];
        let hierarchy = Hierarchy::from_paths(&terms, paths.into_iter().chain(more)).unwrap();
        assert_eq!(utility_sets_at(&hierarchy, 0), [vec![0, 1, 2, 3, 4]]);
        assert_eq!(utility_sets_at(&hierarchy, 1), [vec![0, 1, 2, 3], vec![4]]);
        assert_eq!(utility_sets_at(&hierarchy, 2), [vec![0, 1], vec![2, 3], vec![4]]);
        assert_eq!(utility_sets_at(&hierarchy, 3).len(), 5);
    }
}
