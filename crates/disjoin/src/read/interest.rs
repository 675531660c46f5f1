//! What the analyst cares about: sets of terms, and weights of terms.
//!
//! A file of utility sets has one set a line, its terms separated by commas, semicolons or tabs. A file of weights has a term and
//! a number in each line; a first line `term,weight` is a header. Fields are quoted as in CSV. What the data do not have is an
//! error: most often it is misspelt.

use std::collections::HashSet;
use std::path::Path;

use super::text::{Rows, detect_separator, head, is_blank_row, validate};
use crate::data::{Dictionary, Interest, TermId};
use crate::error::{Error, Place, Result};
use crate::memory::{Memory, read_file};

/// Reads a file of utility sets and one of weights, as far as there are any.
pub fn interest(sets: Option<&Path>, weights: Option<&Path>, dictionary: &Dictionary) -> Result<Interest> {
    let sets = sets.map_or(Ok(Vec::new()), |path| utility_sets(path, dictionary))?;
    let weights = weights.map_or(Ok(Vec::new()), |path| term_weights(path, dictionary))?;
    Ok(Interest { sets, weights })
}

/// The clusters of records, one name a line in the order of the records; numbers are by first appearance.
pub fn clusters(path: &Path) -> Result<Vec<u32>> {
    let name = path.display().to_string();
    let text = String::from_utf8(read_file(path, "read", Memory::default())?)
        .map_err(|_| Error::input(Place::file(&name), "is not valid UTF-8").with_hint("convert the file to UTF-8"))?;
    let mut names = Dictionary::default();
    let number = |(line, text): (usize, &str)| match text.trim() {
        "" => Err(Error::input(Place::line(&name, line as u64 + 1), "names no cluster")
            .with_hint("write the cluster of one record in each line")),
        cluster => Ok(names.intern(cluster)),
    };
    text.lines().enumerate().map(number).collect()
}

/// The terms of each line, ascending and each once.
fn utility_sets(path: &Path, dictionary: &Dictionary) -> Result<Vec<Vec<TermId>>> {
    let mut sets = Vec::new();
    read_rows(path, |place, row| {
        let mut set = Vec::with_capacity(row.len());
        for (text, position) in row.iter().zip(1..) {
            if text.is_empty() {
                return Err(Error::input(place, format!("field {position} is empty, a term was expected"))
                    .with_hint("remove the separator before or after it"));
            }
            set.push(dictionary.get(text).ok_or_else(|| unknown(place.clone(), position))?);
        }
        set.sort_unstable();
        set.dedup();
        sets.push(set);
        Ok(())
    })?;
    match sets.is_empty() {
        true => Err(Error::input(Place::file(path.display().to_string()), "names no set of terms")
            .with_hint("write the terms of a set in one line, with commas between")),
        false => Ok(sets),
    }
}

/// Weights of terms, from 0 on.
fn term_weights(path: &Path, dictionary: &Dictionary) -> Result<Vec<(TermId, f64)>> {
    let mut weights = Vec::new();
    let mut seen = HashSet::new();
    let mut is_first = true;
    read_rows(path, |place, row| {
        let is_header = std::mem::take(&mut is_first) && row[0].trim() == "term" && row[1..] == ["weight"];
        if is_header {
            return Ok(());
        }
        let fail = |problem: &str, hint: &str| Err(Error::input(place.clone(), problem).with_hint(hint));
        let [text, weight] = row else {
            let problem = format!("has {} fields, two were expected: a term and its weight", row.len());
            return fail(&problem, "quote a term that holds the separator");
        };
        let Some(term) = dictionary.get(text) else { return Err(unknown(place, 1)) };
        let Ok(weight) = weight.trim().parse::<f64>() else {
            return fail("the weight is not a number", "write a number from 0 on, as 2.5");
        };
        if !weight.is_finite() || weight < 0.0 {
            return fail(
                "the weight is negative or infinite",
                "write a number from 0 on: 0 is a term that does not matter",
            );
        }
        if !seen.insert(term) {
            return fail("the term has a weight already", "keep one line for each term");
        }
        weights.push((term, weight));
        Ok(())
    })?;
    match weights.is_empty() {
        true => Err(Error::input(Place::file(path.display().to_string()), "holds no weight")
            .with_hint("write a term and its weight in each line, with a comma between")),
        false => Ok(weights),
    }
}

fn unknown(place: Place, position: usize) -> Error {
    Error::input(place, format!("the term in field {position} does not occur in the data"))
        .with_hint("check the spelling, or remove it")
}

/// Calls `each` with every row that is not blank, and where it is.
fn read_rows(path: &Path, mut each: impl FnMut(Place, &[String]) -> Result<()>) -> Result<()> {
    let name = path.display().to_string();
    let bytes = read_file(path, "read", Memory::default())?;
    let text = validate(&name, &bytes)?;
    let separator = detect_separator(head(text), [b',', b';', b'\t'], true).unwrap_or(b',');
    let mut rows = Rows::new(&name, text, separator);
    let mut row = Vec::new();
    while let Some(line) = rows.next(&mut row)? {
        if !is_blank_row(&row) {
            let fields: Vec<String> = row.iter().map(|field| field.as_ref().to_owned()).collect();
            each(Place::line(&name, line), &fields)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dataset;

    /// Reads a file of this content with `read`, over the terms a, b, c and "d, e".
    fn read<T>(content: &str, read: impl Fn(&Path, &Dictionary) -> Result<T>) -> std::result::Result<T, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, content).unwrap();
        let data = Dataset::from_texts([["a", "b", "c", "d, e"]]);
        let message = |error: Error| match &error {
            Error::Input { place, problem, .. } => format!("{}: {problem}", place.line.unwrap_or(0)),
            other => other.to_string(),
        };
        read(&path, &data.dictionary).map_err(message)
    }

    #[test]
    fn sets_are_lines_of_terms() {
        assert_eq!(read("a,b\n\nc;x", utility_sets).unwrap_err(), "3: the term in field 1 does not occur in the data");
        assert_eq!(read("b, a ,b\n\n\"d, e\",c\n", utility_sets).unwrap(), [vec![0, 1], vec![2, 3]]);
        assert_eq!(read("a;b\nc\n", utility_sets).unwrap(), [vec![0, 1], vec![2]]);
        assert_eq!(read("a,b\nc,,a\n", utility_sets).unwrap_err(), "2: field 2 is empty, a term was expected");
        assert_eq!(read("\n", utility_sets).unwrap_err(), "0: names no set of terms");
    }

    #[test]
    fn weights_are_numbers_from_0_on() {
        assert_eq!(read("term,weight\na,2.5\n\"d, e\",0\n", term_weights).unwrap(), [(0, 2.5), (3, 0.0)]);
        for (content, problem) in [
            ("a,1\nb,-1\n", "2: the weight is negative or infinite"),
            ("a,inf\n", "1: the weight is negative or infinite"),
            ("a,NaN\n", "1: the weight is negative or infinite"),
            ("a,much\n", "1: the weight is not a number"),
            ("a,1\nx,1\n", "2: the term in field 1 does not occur in the data"),
            ("a,1\nb,1\na,2\n", "3: the term has a weight already"),
            ("a,1,2\n", "1: has 3 fields, two were expected: a term and its weight"),
            ("a\n", "1: has 1 fields, two were expected: a term and its weight"),
            ("term,weight\n", "0: holds no weight"),
        ] {
            assert_eq!(read(content, term_weights).unwrap_err(), problem, "{content}");
        }
    }
}
