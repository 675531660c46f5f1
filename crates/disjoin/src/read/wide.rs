//! Wide tables: columns such as DX1 ... DX20 become one set-valued column.
//!
//! Promises:   empty cells are no terms; columns of zeros and ones are never taken for terms: what is a term there is the name of
//!             the column, and only if somebody says so
//! Cost:       the first rows are held, to tell zeros and ones from terms
//! Checked by: tests in this file, `crates/disjoin-cli/tests/it/messy.rs`

use super::Options;
use super::source::{Row, Rows, Told};
use crate::error::{Error, Place, Result};

/// So many rows are looked at.
const SAMPLE: usize = 1000;

/// The rows with the columns that the options name put together; as they are if they name none.
pub(super) fn shaped<'a>(rows: Rows<'a>, options: &Options) -> Result<Rows<'a>> {
    if options.set_columns.is_empty() {
        return match options.indicators {
            true => Err(Error::recipe(
                "input.indicators",
                "says nothing without set columns",
                "name them with --set-columns",
            )),
            false => Ok(rows),
        };
    }
    let Rows { name, header, arrays, mut rows, format, told } = rows;
    let (label, positions) = chosen(&name, &header, &options.set_columns)?;
    if let Some(&at) = positions.iter().find(|at| arrays.contains(at)) {
        return Err(Error::input(Place::file(&name).in_column(&header[at]), "is a list already")
            .with_hint("name it with --column, or with --set"));
    }
    // Each with its line, which is told again when it is taken.
    let sample: Vec<(u64, Result<Row>)> = rows.by_ref().take(SAMPLE).map(|row| (told.line(), row)).collect();
    if !options.indicators {
        refuse_indicators(&name, &header, &positions, &sample)?;
    }
    told.note(|reading| reading.set_columns = positions.iter().map(|&at| header[at].clone()).collect());
    let first = positions[0];
    let kept: Vec<usize> = (0..header.len()).filter(|at| *at == first || !positions.contains(at)).collect();
    let new_header: Vec<String> =
        kept.iter().map(|&at| if at == first { label.clone() } else { header[at].clone() }).collect();
    let place = |old: usize| kept.iter().position(|&at| at == old);
    let arrays = arrays.iter().copied().chain([first]).filter_map(place).collect();
    let columns =
        Together { file: name.clone(), header, positions, is_indicators: options.indicators, told: told.clone() };
    let put = move |row: Result<Row>| -> Result<Row> {
        let mut row = row?;
        let list = columns.list(&mut row)?;
        let cell = |&at: &usize| if at == first { Some(list.clone()) } else { row.get_mut(at).and_then(Option::take) };
        Ok(kept.iter().map(cell).collect())
    };
    let again = told.clone();
    let sample = sample.into_iter().map(move |(line, row)| {
        again.at_line(line);
        row
    });
    let rows = Box::new(sample.chain(rows).map(put));
    Ok(Rows { name, header: new_header, arrays, rows, format, told })
}

/// Zeros and ones say whether somebody has what the column is named after: they are no terms.
fn refuse_indicators(name: &str, header: &[String], positions: &[usize], sample: &[(u64, Result<Row>)]) -> Result<()> {
    let rows = || sample.iter().filter_map(|(_, row)| row.as_ref().ok());
    let cells = || rows().flat_map(|row| positions.iter().filter_map(|&at| row.get(at)?.as_deref()));
    if cells().next().is_none() || !cells().all(|cell| is_truth(cell).is_some()) {
        return Ok(());
    }
    let problem = format!("the columns {} hold nothing but zeros and ones", shown(header, positions));
    Err(Error::input(Place::file(name), problem).with_hint(
        "if a one says that a person has what the column is named after, say --indicators; otherwise choose other columns",
    ))
}

/// Columns that are put together.
struct Together {
    file: String,
    header: Vec<String>,
    positions: Vec<usize>,
    is_indicators: bool,
    told: Told,
}

impl Together {
    /// Takes their cells out of a row: the terms of its set.
    fn list(&self, row: &mut Row) -> Result<String> {
        let mut terms = Vec::new();
        for &at in &self.positions {
            let cell = row.get_mut(at).and_then(Option::take).filter(|cell| !cell.trim().is_empty());
            let Some(cell) = cell else { continue };
            match (self.is_indicators, is_truth(&cell)) {
                (false, _) => terms.push(cell),
                (true, Some(true)) => terms.push(self.header[at].clone()),
                (true, Some(false)) => {}
                (true, None) => {
                    let place = Place::line(&self.file, self.told.line()).in_column(&self.header[at]);
                    return Err(Error::input(place, "the cell is neither zero nor one")
                        .with_hint("leave --indicators out if the cells are terms, or repair the cell"));
                }
            }
        }
        Ok(array(terms.iter().map(|term| Some(term.as_str()))))
    }
}

/// What the new column is called, and which columns it is made of.
fn chosen(name: &str, header: &[String], patterns: &[String]) -> Result<(String, Vec<usize>)> {
    let (label, patterns) = match patterns[0].split_once('=') {
        Some((label, first)) => (label.to_owned(), [&[first.to_owned()], &patterns[1..]].concat()),
        None => (patterns[0].replace('*', "").trim_end_matches(['_', '-', '.', ' ']).to_owned(), patterns.to_vec()),
    };
    let mut positions = Vec::new();
    for pattern in &patterns {
        let found: Vec<usize> = (0..header.len()).filter(|&at| matches(pattern, &header[at])).collect();
        if found.is_empty() {
            let problem = format!("no column is called {pattern}");
            return Err(
                Error::input(Place::file(name), problem).with_hint(format!("the table has {}", header.join(", ")))
            );
        }
        positions.extend(found);
    }
    positions.sort_unstable();
    positions.dedup();
    let is_taken = header.iter().enumerate().any(|(at, column)| *column == label && !positions.contains(&at));
    if label.is_empty() || is_taken {
        let problem = "the new column needs a name that no other column has";
        let hint = format!("name it: --set-columns 'NAME={}'", patterns.join(","));
        return Err(Error::recipe("input.set_columns", problem, hint));
    }
    Ok((label, positions))
}

/// Whether a name fits a pattern, in which `*` stands for anything.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.len() >= last.len() && rest.ends_with(last)
}

fn is_truth(cell: &str) -> Option<bool> {
    match cell.trim() {
        "1" | "true" | "TRUE" | "True" | "1.0" => Some(true),
        "0" | "false" | "FALSE" | "False" | "0.0" => Some(false),
        _ => None,
    }
}

fn shown(header: &[String], positions: &[usize]) -> String {
    match positions {
        [first, .., last] => format!("{} to {}", header[*first], header[*last]),
        _ => positions.iter().map(|&at| header[at].as_str()).collect::<Vec<_>>().join(", "),
    }
}

/// A list as databases write it, which `array.rs` takes apart.
pub(super) fn array<'a>(terms: impl Iterator<Item = Option<&'a str>>) -> String {
    let mut out = String::from("{");
    for (i, term) in terms.enumerate() {
        if i > 0 {
            out.push(',');
        }
        match term {
            None => out.push_str("NULL"),
            Some(term) => {
                out.push('"');
                for c in term.chars() {
                    if matches!(c, '"' | '\\') {
                        out.push('\\');
                    }
                    out.push(c);
                }
                out.push('"');
            }
        }
    }
    out.push('}');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::array::elements;

    #[test]
    fn patterns_fit_names() {
        for (pattern, name, fits) in [
            ("DX*", "DX1", true),
            ("DX*", "dx1", false),
            ("DX*", "ADX1", false),
            ("*DX", "ADX", true),
            ("D*X*1", "DIAX21", true),
            ("D*X*1", "DIA21", false),
            ("DX1", "DX1", true),
            ("DX1", "DX12", false),
            ("a*a", "a", false),
        ] {
            assert_eq!(matches(pattern, name), fits, "{pattern} {name}");
        }
    }

    #[test]
    fn lists_are_taken_apart_as_they_were() {
        let terms = ["a", "b c", "say \"x\"", "back\\slash", "{}", "a,b", "NULL", ""];
        let list = array(terms.iter().map(|term| Some(*term)));
        let again: Vec<String> = elements(&list).unwrap().into_iter().flatten().collect();
        assert_eq!(again, terms);
        assert_eq!(elements(&array(std::iter::empty())).unwrap(), Vec::<Option<String>>::new());
    }
}
