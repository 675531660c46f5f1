//! Which character separates? Where a text can be read in two ways, nobody guesses: the error shows both, without a value.
//!
//! Baskets have lines of any length, so that a separator is known only by what it would make of them. One of tab, semicolon, comma
//! and bar is the separator if no other of them occurs and blanks stand beside it only; or if it stands in most lines and no term would be
//! made of several codes or numbers. Where none of them occurs, spaces separate. Tables are known by their width: the separator
//! is the one that stands in the header and gives every row as many cells as it has.
//!
//! Promises:   a separator that is returned is the only one that fits; an error names the flag for each of the others, and no text
//! Assumes:    the first 64 KiB are like the rest; what contradicts them further down is for readers to refuse
//! Departs:    nothing is asked on a terminal: an answer would be lost with the next run, a flag or a key of the recipe stays
//! Checked by: tests in this file, tests of basket.rs and recognise.rs, `crates/disjoin-cli/tests/it/messy.rs`

use std::borrow::Cow;
use std::collections::HashSet;

use super::text::{Rows, field, head, is_blank_row, line_of, lines_with};
use crate::error::{Error, Place, Result};

/// What may separate, besides blanks.
pub(crate) const SEPARATORS: [u8; 4] = [b',', b'\t', b';', b'|'];

/// So many of the first records are described in an error.
const SHOWN: usize = 5;

/// From so many records on, uniqueness means something.
const MANY: usize = 10;

/// How somebody writes a separator on a command line.
pub(super) fn spelled(separator: u8) -> &'static str {
    match separator {
        b'\t' => "tab",
        b' ' => "space",
        b';' => "';'",
        b'|' => "'|'",
        _ => ",",
    }
}

/// Its name in a sentence.
pub(super) fn named(separator: u8) -> &'static str {
    match separator {
        b'\t' => "tabs",
        b' ' => "spaces",
        b';' => "semicolons",
        b'|' => "bars",
        _ => "commas",
    }
}

/// What separates the terms of basket text, or an error that shows all readings; `is_stated` if somebody said that it is basket text.
pub(super) fn of_baskets(name: &str, text: &str, is_stated: bool) -> Result<u8> {
    let head = head(text);
    let n_lines = head.lines().filter(|line| !line.trim().is_empty()).count();
    let counts = lines_with(head, SEPARATORS, false);
    let found: Vec<(u8, usize)> = SEPARATORS.into_iter().zip(counts).filter(|(_, count)| *count > 0).collect();
    let separator = match found[..] {
        [] => only_spaces(name, text, head)?,
        [(separator, count)] => match blanks(head, separator) {
            Blanks::None => separator,
            Blanks::InWords if 2 * count >= n_lines => separator,
            _ => return Err(two_ways(name, head, &[separator, b' '])),
        },
        _ => {
            let mut all: Vec<u8> = found.iter().map(|(separator, _)| *separator).collect();
            if blanks(head, all[0]) != Blanks::None {
                all.push(b' ');
            }
            return Err(two_ways(name, head, &all));
        }
    };
    if !is_stated {
        looks_like_a_table(name, head, separator)?;
    }
    Ok(separator)
}

/// Spaces separate where nothing else does; the rest decides nothing, but if it contradicts, the file can be read in two ways.
fn only_spaces(name: &str, text: &str, head: &str) -> Result<u8> {
    let rest = &text[head.len()..];
    let candidates = |byte: &u8| SEPARATORS.contains(byte);
    if memchr::memchr3(b',', b'\t', b';', rest.as_bytes()).is_none() && memchr::memchr(b'|', rest.as_bytes()).is_none()
    {
        return Ok(b' ');
    }
    let mut offset = head.len();
    for line in rest.split_inclusive('\n') {
        if line.bytes().any(|byte| candidates(&byte)) && lines_with(line, SEPARATORS, false).iter().any(|&n| n > 0) {
            let problem = "holds a tab, semicolon, comma or bar, though the lines before have only spaces";
            return Err(Error::input(Place::line(name, line_of(text.as_bytes(), offset)), problem)
                .with_hint("say what separates the terms with --separator: --separator space if spaces do"));
        }
        offset += line.len();
    }
    Ok(b' ')
}

/// What blanks there are outside of quotes, besides those around separators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Blanks {
    None,
    /// Between words.
    InWords,
    /// Between codes and numbers: such a term is a list, most likely.
    InCodes,
}

fn blanks(text: &str, separator: u8) -> Blanks {
    let mut found = Blanks::None;
    for line in text.lines() {
        let mut at = 0;
        while at <= line.len() {
            // What is wrong with a quote is told by whoever reads it.
            let Ok((term, stop)) = field(line, at, separator, false) else { break };
            let is_quoted = line[at..].trim_start().starts_with('"');
            at = stop + 1;
            if is_quoted || !term.contains([' ', '\t']) {
                continue;
            }
            let is_code = |word: &str| word.bytes().any(|byte| byte.is_ascii_digit());
            let codes = term.split_ascii_whitespace().filter(|word| is_code(word)).count();
            if codes > 1 {
                return Blanks::InCodes;
            }
            found = Blanks::InWords;
        }
    }
    found
}

/// The error for baskets that can be read in several ways.
fn two_ways(name: &str, head: &str, separators: &[u8]) -> Error {
    let names: Vec<&str> = separators.iter().map(|&separator| named(separator)).collect();
    let problem = format!("can be read in {} ways: {} may separate the terms", names.len(), listed(&names, "or"));
    let ways: Vec<String> = separators
        .iter()
        .map(|&separator| {
            format!("--separator {} reads the first records as {}", spelled(separator), shape(head, separator))
        })
        .collect();
    Error::input(Place::line(name, first_line_of_two(head, separators)), problem)
        .with_hint(format!("say what separates them: {}", ways.join("; ")))
}

/// The first line in which two of them stand.
fn first_line_of_two(head: &str, separators: &[u8]) -> u64 {
    let has = |line: &str, separator: u8| line.trim().as_bytes().contains(&separator);
    let both = |line: &str| separators.iter().filter(|&&separator| has(line, separator)).count() > 1;
    head.lines().position(both).map_or(1, |at| at as u64 + 1)
}

/// How many terms the first records would have, and how long the longest of them: what shows a wrong separator, and no person.
fn shape(text: &str, separator: u8) -> String {
    let (mut counts, mut longest) = (Vec::new(), 0);
    for line in text.lines().filter(|line| !line.trim().is_empty()).take(SHOWN) {
        let (mut at, mut n) = (0, 0);
        while at <= line.len() {
            let Ok((term, stop)) = field(line, at, separator, false) else { break };
            n += u64::from(!term.is_empty());
            longest = longest.max(term.chars().count());
            at = stop + 1;
        }
        counts.push(n.to_string());
    }
    let terms = if counts == ["1"] { "term" } else { "terms" };
    format!("{} {terms}, the longest of {longest} characters", listed(&counts, "and"))
}

/// Words of a sentence.
pub(super) fn listed<T: AsRef<str>>(words: &[T], and: &str) -> String {
    match words {
        [] => String::new(),
        [only] => only.as_ref().to_owned(),
        [others @ .., last] => {
            let others: Vec<&str> = others.iter().map(AsRef::as_ref).collect();
            format!("{} {and} {}", others.join(", "), last.as_ref())
        }
    }
}

/// Refuses lines of one width with a column of identifiers: read as baskets, they would be published as terms.
fn looks_like_a_table(name: &str, head: &str, separator: u8) -> Result<()> {
    let mut rows = Rows::new(name, head, separator);
    let (mut row, mut sample): (_, Vec<Vec<Cow<'_, str>>>) = (Vec::new(), Vec::new());
    // Where a quote is wrong, whoever reads the baskets says so.
    while let Ok(Some(_)) = rows.next(&mut row) {
        if is_blank_row(&row) {
            continue;
        }
        if row.len() < 2 || sample.first().is_some_and(|first| first.len() != row.len()) {
            return Ok(());
        }
        sample.push(std::mem::take(&mut row));
    }
    if sample.len() < MANY {
        return Ok(());
    }
    let width = sample[0].len();
    let refuse =
        |what: &str, hint: &str| Err(Error::input(Place::line(name, 1), what.to_owned()).with_hint(hint.to_owned()));
    if let Some(at) = (0..width).find(|&at| is_identifier(&sample, at)) {
        let what = format!(
            "looks like a table without a header: every line has {width} fields, and field {} is another in every line, as \
             identifiers are",
            at + 1
        );
        return refuse(
            &what,
            "if every line is a record of terms, say --format basket; if it is a table, write the names of its columns in the first \
             line, and name their roles (--quasi ...) or the list (--column)",
        );
    }
    let ids: Vec<&str> = sample.iter().map(|row| &*row[0]).collect();
    let runs = 1 + ids.windows(2).filter(|pair| pair[0] != pair[1]).count();
    let distinct = ids.iter().collect::<HashSet<_>>().len();
    if width == 2 && runs == distinct && distinct > 1 && distinct < ids.len() && sample.len() >= 2 * MANY {
        return refuse(
            "looks like pairs of an identifier and an item: every line has two fields, and lines with the same first field stand together",
            "say --format long if each line is one item of somebody, or --format basket if every line is a record of two terms",
        );
    }
    Ok(())
}

/// Whether a column has another value in every row; a later column also none of the values of others, and in more rows.
fn is_identifier(sample: &[Vec<Cow<'_, str>>], at: usize) -> bool {
    let mut met = HashSet::new();
    if !sample.iter().all(|row| !row[at].is_empty() && met.insert(&*row[at])) {
        return false;
    }
    let others =
        || sample.iter().flat_map(|row| row.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, cell)| &**cell));
    at == 0 || (sample.len() >= 2 * MANY && others().all(|cell| !met.contains(cell)))
}

/// What separates the cells of a table, or an error that shows all readings. A table of one column has commas, which do not occur.
pub(crate) fn of_table(name: &str, text: &str) -> Result<u8> {
    of_beginning(name, text, true)
}

/// The same of the beginning of a text, which may be all of it.
pub(crate) fn of_beginning(name: &str, text: &str, is_all: bool) -> Result<u8> {
    let whole = head(text);
    let is_cut = whole.len() < text.len() || !is_all;
    let header = whole.trim_start().lines().next().unwrap_or_default();
    let in_header = lines_with(header, SEPARATORS, true);
    let candidates: Vec<u8> =
        SEPARATORS.into_iter().zip(in_header).filter(|(_, n)| *n > 0).map(|(byte, _)| byte).collect();
    if candidates.len() < 2 {
        return Ok(candidates.first().copied().unwrap_or(b','));
    }
    let widths: Vec<(u8, Option<usize>)> =
        candidates.iter().map(|&separator| (separator, width(name, whole, is_cut, separator))).collect();
    let fits: Vec<(u8, usize)> = widths.iter().filter_map(|&(separator, width)| Some((separator, width?))).collect();
    match fits[..] {
        [(separator, _)] => Ok(separator),
        _ => {
            let way = |&(separator, width): &(u8, Option<usize>)| match width {
                Some(width) => format!("--separator {} gives every row {width} cells", spelled(separator)),
                None => format!("--separator {} gives rows of several lengths", spelled(separator)),
            };
            let names: Vec<&str> = candidates.iter().map(|&separator| named(separator)).collect();
            let problem =
                format!("can be read in {} ways: {} may separate the cells", names.len(), listed(&names, "or"));
            let ways: Vec<String> = widths.iter().map(way).collect();
            Err(Error::input(Place::line(name, 1), problem).with_hint(format!(
                "say what separates them: {}; quotes hide separators inside a cell",
                ways.join("; ")
            )))
        }
    }
}

/// How many cells every row has, if all have as many as the header.
fn width(name: &str, text: &str, is_cut: bool, separator: u8) -> Option<usize> {
    let mut rows = Rows::new(name, text, separator);
    let (mut row, mut width) = (Vec::new(), None);
    loop {
        match rows.next(&mut row) {
            Ok(None) => return width,
            Ok(Some(_)) if is_blank_row(&row) => {}
            Ok(Some(_)) if *width.get_or_insert(row.len()) != row.len() => return None,
            Ok(Some(_)) => {}
            // The head may end inside a quoted field.
            Err(_) if is_cut => return width,
            Err(_) => return None,
        }
    }
}

/// Refuses records that are nearly all one term of their own, where nobody said what separates: a wrong separator makes such records.
pub(super) fn check_shape(name: &str, separator: u8, records: usize, terms: usize, distinct: usize) -> Result<()> {
    if records < 2 * MANY || 10 * terms > 11 * records || 10 * distinct < 9 * records {
        return Ok(());
    }
    let problem = format!(
        "nearly every record is one term that no other record has ({distinct} terms in {records} records, if {} separate)",
        named(separator)
    );
    Err(Error::input(Place::file(name), problem).with_hint(format!(
        "say what separates the terms with --separator; if the records are meant to be like that, say --separator {}",
        spelled(separator)
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(result: Result<u8>) -> String {
        let error = result.unwrap_err();
        format!("{error} / {}", error.hint().unwrap())
    }

    #[test]
    fn the_only_reading_is_taken() {
        for (text, expected) in [
            ("1 2 3\n4 5\n", b' '),
            ("1,2,3\n4,5\n", b','),
            ("a, b\nb,c\n", b','),
            ("whole milk,bread\nbutter\nmilk,other vegetables\n", b','),
            ("\"a, b\" c\nd\n", b' '),
            ("a\tb c\nd\te\n", b'\t'),
            ("a|b\nc\n", b'|'),
            ("milk\nbread\n", b' '),
        ] {
            assert_eq!(of_baskets("f", text, false).unwrap(), expected, "{text:?}");
        }
    }

    #[test]
    fn other_readings_are_shown_without_a_value() {
        let one_comma = format!("{}7 secret,8 9\n", "11 12 13\n".repeat(300));
        for (text, expected) in [
            (&*one_comma, "f:301: can be read in 2 ways: commas or spaces"),
            ("1,5 secret 2,5\n3,5 4,5\n", "f:1: can be read in 2 ways"),
            ("I10 E11,J45\nI10\n", "f:1: can be read in 2 ways"),
            ("a;secret,c\nd;e\n", "f:1: can be read in 2 ways: commas or semicolons"),
            ("secret milk\nbread\nbutter,flour\ncheese\n", "f:1: can be read in 2 ways"),
        ] {
            let told = told(of_baskets("f", text, false));
            assert!(told.starts_with(expected) && !told.contains("secret"), "{told}");
            assert!(told.contains("--separator"), "{told}");
        }
        let told = told(of_baskets("f", &one_comma, false));
        assert!(
            told.contains("--separator , reads the first records as 1, 1, 1, 1 and 1 terms, the longest of 8"),
            "{told}"
        );
        assert!(told.contains("--separator space reads the first records as 3, 3, 3, 3 and 3 terms"), "{told}");
    }

    #[test]
    fn tables_without_a_header_are_no_baskets() {
        let ids: String = (0..12).map(|i| format!("{} {} {}\n", 1000 + i, 30 + i % 3, i % 2)).collect();
        let later: String = (0..24).map(|i| format!("{},{},{}\n", i % 2, 30 + i % 3, 1000 + i)).collect();
        let pairs: String = (0..24).map(|i| format!("{} {}\n", 1 + i / 3, 7 + i % 5)).collect();
        assert!(told(of_baskets("f", &ids, false)).contains("field 1 is another in every line"));
        assert!(told(of_baskets("f", &later, false)).contains("field 3 is another in every line"));
        assert!(told(of_baskets("f", &pairs, false)).contains("--format long"));
        let baskets: String = (0..24).map(|i| format!("{} {} {}\n", i % 4, 4 + i % 3, 7 + i % 11)).collect();
        assert_eq!(of_baskets("f", &baskets, false).unwrap(), b' ');
    }

    #[test]
    fn tables_are_known_by_their_width() {
        for (text, expected) in [
            ("a,b\n1,2\n", b','),
            ("a;b\n1,5;2\n", b';'),
            ("a, first;b\n1;2\n3;4\n", b';'),
            ("a|b;c\n\"1;2|3\"|4\n", b'|'),
            ("a\n1\n", b','),
        ] {
            assert_eq!(of_table("f", text).unwrap(), expected, "{text:?}");
        }
        let told = told(of_table("f", "a,b;c\n1,2;secret\n"));
        assert!(
            told.contains("--separator , gives every row 2 cells; --separator ';' gives every row 2 cells"),
            "{told}"
        );
        assert!(!told.contains("secret"), "{told}");
    }

    #[test]
    fn records_that_are_all_one_term_are_refused() {
        assert!(check_shape("f", b',', 100, 100, 95).is_err());
        assert!(check_shape("f", b',', 100, 300, 95).is_ok());
        assert!(check_shape("f", b',', 100, 100, 50).is_ok());
    }
}
