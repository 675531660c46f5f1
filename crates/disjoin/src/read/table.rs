//! CSV with a header, where one column holds a list of terms and the others are ignored.
//!
//! A cell is a small basket line: terms between list separators, quoted inside the cell where they hold one. The list
//! separator is the one of `;`, `|` and `,` that occurs in the column outside quotes; if several occur, or none but
//! blanks do, it must be named. A column in which every cell is a JSON list is read as such. Other arrays (`{...}`) are an error.

use std::borrow::Cow;
use std::io::{self, Write};

use super::builder::{Builder, Counts};
use super::jsonl::is_exact;
use super::long::{position_of, wrong_width};
use super::people::Repeats;
use super::readings::{of_table, spelled};
use super::recognise::{Kind, kind_of};
use super::text::{Rows, bad_quote, field, is_blank_row, lines_with, write_fields};
use super::{Options, Separated};
use crate::data::{Dataset, Evidence};
use crate::error::{Error, Place, Result};
use crate::observer::Observer;

/// Reads the list column of a CSV table; also says what separates its cells.
pub(super) fn read(name: &str, text: &str, options: &Options, observer: &dyn Observer) -> Result<Separated> {
    let separator = options.separator_or(|| of_table(name, text))?;
    let Listed { column, cells, persons, several, left_out } = list_cells(name, text, separator, options, observer)?;
    let (dataset, mut counts) = records(name, &column, &cells, persons.as_deref(), options, observer)?;
    counts.add(left_out);
    counts.several.extend(several);
    Ok((dataset, counts, separator))
}

/// Takes the cells of a list column apart: each is a record, of a person if that is known.
pub(super) fn records(
    name: &str,
    column: &str,
    cells: &Cells<'_>,
    persons: Option<&[Cow<'_, str>]>,
    options: &Options,
    observer: &dyn Observer,
) -> Result<(Dataset, Counts)> {
    let lists = find_lists(name, column, cells, options.list_separator)?;
    let mut builder = Builder::new(name, options.max_record_terms, observer);
    for (row, (line, cell)) in cells.iter().enumerate() {
        if let Some(person) = persons.and_then(|persons| persons.get(row)) {
            builder.person(person, *line)?;
        }
        lists.each_term(name, column, *line, cell, &mut |term| builder.term(term))?;
        builder.end_record(*line)?;
    }
    Ok(builder.finish())
}

/// How the cells of a list column are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lists {
    /// Terms with this between them.
    Separated(u8),
    /// JSON lists of strings and numbers.
    Json,
}

impl Lists {
    /// Hands every term of a cell on; those without text too, but for what a run of spaces makes.
    pub(super) fn each_term(
        self,
        name: &str,
        column: &str,
        line: u64,
        cell: &str,
        take: &mut dyn FnMut(&str),
    ) -> Result<()> {
        let separator = match self {
            Lists::Separated(separator) => separator,
            Lists::Json if cell.trim().is_empty() => return Ok(()),
            Lists::Json => {
                let fault = |problem: &str| Error::input(Place::line(name, line).in_column(column), problem);
                for term in json_terms(cell).map_err(fault)? {
                    take(&term);
                }
                return Ok(());
            }
        };
        let mut at = 0;
        loop {
            let (term, stop) = field(cell, at, separator, true).map_err(|problem| bad_quote(name, line, problem))?;
            if separator != b' ' || !term.is_empty() {
                take(&term);
            }
            at = stop + 1;
            if stop >= cell.len() {
                return Ok(());
            }
        }
    }
}

/// The terms of a JSON list, or what is wrong with it.
fn json_terms(cell: &str) -> std::result::Result<Vec<String>, &'static str> {
    let values: Vec<serde_json::Value> =
        serde_json::from_str(cell.trim()).map_err(|_| "the cell is written as an array, but is no JSON list")?;
    let term = |value| match value {
        serde_json::Value::String(text) => Ok(text),
        serde_json::Value::Number(number) if is_exact(&number) => Ok(number.to_string()),
        serde_json::Value::Number(_) => Err("a number is too large to be kept exactly"),
        _ => Err("a term of the JSON list is neither a string nor a number"),
    };
    values.into_iter().map(term).collect()
}

/// Writes a table of the one column `items`, with semicolons between the terms of a cell.
pub(super) fn write(dataset: &Dataset, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "items")?;
    let mut cell = Vec::new();
    // Where no cell has a semicolon, quotes say that blanks and commas belong to the terms.
    let is_plain = dataset.records.iter().all(|record| record.len() < 2);
    for record in dataset.records.iter() {
        cell.clear();
        let texts = record.iter().map(|&term| dataset.dictionary.text(term));
        match is_plain {
            true => texts.into_iter().for_each(|text| {
                cell.extend_from_slice(format!("\"{}\"", text.replace('"', "\"\"")).as_bytes());
            }),
            false => write_fields(texts, b';', &mut cell)?,
        }
        let cell = str::from_utf8(&cell).map_err(io::Error::other)?;
        writeln!(out, "\"{}\"", cell.replace('"', "\"\""))?;
    }
    Ok(())
}

/// Cells with their lines, or rows.
pub(super) type Cells<'a> = Vec<(u64, Cow<'a, str>)>;

/// A list column: its name, its cells with their lines, whose they are if that is asked for, and signs that it should be.
struct Listed<'a> {
    column: String,
    cells: Cells<'a>,
    persons: Option<Vec<Cow<'a, str>>>,
    several: Option<Evidence>,
    /// What was left out on the way.
    left_out: Counts,
}

fn list_cells<'a>(
    name: &'a str,
    text: &'a str,
    separator: u8,
    options: &Options,
    observer: &dyn Observer,
) -> Result<Listed<'a>> {
    let mut rows = Rows::new(name, text, separator);
    let (mut header, mut left_out) = (Vec::new(), Counts::default());
    while rows.next(&mut header)?.is_some() && is_blank_row(&header) {
        left_out.blank_lines += 1;
    }
    let position = match &options.column {
        Some(column) => position_of(name, &header, column)?,
        None if header.len() == 1 => 0,
        None => {
            let problem = "the table has several columns, and none is named as the list of terms";
            return Err(Error::input(Place::line(name, 1), problem)
                .with_hint(format!("name it with --column; the header has {}", header.join(", "))));
        }
    };
    let person = options.person.as_ref().map(|person| position_of(name, &header, person)).transpose()?;
    let mut persons = person.map(|_| Vec::new());
    // A column that is called an id, if nothing is said about people.
    let id = |at: &usize| *at != position && person.is_none() && kind_of(&header[*at]) == Some(Kind::Id);
    let mut repeats = (0..header.len()).find(id).map(|at| (at, Repeats::default()));
    let mut cells = Vec::new();
    let mut row = Vec::new();
    while let Some(line) = rows.next(&mut row)? {
        observer.check();
        if row.len() == header.len() {
            if let (Some(at), Some(persons)) = (person, &mut persons) {
                persons.push(row[at].clone());
            }
            if let Some((at, repeats)) = &mut repeats {
                repeats.push(row[*at].trim());
            }
            cells.push((line, row.swap_remove(position)));
        } else if !is_blank_row(&row) {
            let header: Vec<String> = header.into_iter().map(Cow::into_owned).collect();
            return Err(wrong_width(name, line, row.len(), &header));
        } else {
            left_out.blank_lines += 1;
        }
    }
    left_out.trimmed_cells = rows.trimmed();
    let several = repeats.and_then(|(at, repeats)| repeats.evidence(&header[at]));
    Ok(Listed { column: header.swap_remove(position).into_owned(), cells, persons, several, left_out })
}

/// How these cells are written, if somebody said it or they tell.
pub(super) fn find_lists(name: &str, column: &str, cells: &Cells<'_>, separator: Option<u8>) -> Result<Lists> {
    if let Some(separator) = separator {
        return Ok(Lists::Separated(separator));
    }
    let is_json = |cell: &str| cell.starts_with('[') && json_terms(cell).is_ok();
    let mut filled = cells.iter().map(|(_, cell)| cell.trim()).filter(|cell| !cell.is_empty()).peekable();
    if filled.peek().is_some() && filled.all(is_json) {
        return Ok(Lists::Json);
    }
    find_separator(name, column, cells).map(Lists::Separated)
}

/// What separates the terms of cells that are not JSON.
fn find_separator(name: &str, column: &str, cells: &Cells<'_>) -> Result<u8> {
    const CANDIDATES: [u8; 3] = [b';', b'|', b','];
    let ask = |line, problem: &str, hint: &str| {
        let place = Place::line(name, line).in_column(column);
        Err(Error::input(place, problem).with_hint(format!("say what separates the terms of a cell: {hint}")))
    };
    let mut found = None;
    let mut with_blank = None;
    for (line, cell) in cells {
        let trimmed = cell.trim();
        if (trimmed.starts_with('[') && trimmed.ends_with(']')) || (trimmed.starts_with('{') && trimmed.ends_with('}'))
        {
            let problem = "the cell is written as an array";
            return Err(Error::input(Place::line(name, *line).in_column(column), problem).with_hint(
                "write plain lists such as a;b in all cells, or JSON lists such as [\"a\",\"b\"] in all of them",
            ));
        }
        let counts = lines_with(cell, CANDIDATES, true);
        for (&candidate, _) in CANDIDATES.iter().zip(counts).filter(|(_, count)| *count > 0) {
            let first = *found.get_or_insert(candidate);
            if first != candidate {
                return ask(
                    *line,
                    "semicolons, bars and commas occur in the cells: cannot tell which one separates terms",
                    &format!("--list-separator {} or --list-separator {}", spelled(first), spelled(candidate)),
                );
            }
        }
        if with_blank.is_none() && !trimmed.starts_with('"') && trimmed.contains([' ', '\t', '\n']) {
            with_blank = Some(*line);
        }
    }
    match (found, with_blank) {
        (Some(separator), _) => Ok(separator),
        (None, Some(line)) => ask(
            line,
            "cannot tell whether blanks separate terms or belong to them",
            "--list-separator space if they separate, --list-separator ';' if they belong to the terms",
        ),
        (None, None) => Ok(b';'),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check_fault, read_as, round_trip, texts};
    use super::super::{Format, read_bytes};
    use super::*;

    fn column(column: &str) -> Options {
        Options { column: Some(column.to_owned()), ..Options::default() }
    }

    #[test]
    fn one_column_is_read_and_the_others_are_not() {
        for text in [
            "age,codes,note\n30,b;a;b,x\n\n40,,\"two\nlines\"\n50, c ;a,\n",
            "age\tcodes\tnote\n30\tb|a|b\tx\n40\t\ty\n50\tc|a\t\n",
            "age;codes;note\n30;b,a,b;x\n40;;y\n50;\"c,a\";\n",
        ] {
            let (dataset, intake) = read_bytes("x.csv", text.as_bytes(), &column("codes")).unwrap();
            assert_eq!(texts(&dataset), [["b", "a"], ["a", "c"]].map(|record| record.map(str::to_owned)), "{text}");
            assert_eq!((intake.format, intake.empty_records, intake.duplicate_terms), (Format::Table, 1, 1));
        }
    }

    #[test]
    fn list_separators_may_be_named() {
        let options = Options { list_separator: Some(b' '), ..column("codes") };
        let (dataset, intake) = read_bytes("x.csv", b"age,codes\n30, a  b \n40,\"c;d\"\n", &options).unwrap();
        assert_eq!(texts(&dataset), [vec!["a", "b"], vec!["c;d"]]);
        assert_eq!(intake.empty_terms, 0);
    }

    #[test]
    fn faults_name_their_line() {
        for (text, line) in [
            ("age,codes\n30,a;b\n40,a|b\n", 3),
            ("age,codes\n30,a\n40,a b\n", 3),
            ("age,codes\n30,\"['a', 'b']\"\n", 2),
            ("age,codes\n30,a,b\n", 2),
            ("age,codes\n30,\"a;\nb\"\n40,\"\"\"a\"\n", 4),
            ("age,diagnoses\n30,a\n", 1),
            ("codes,codes\n30,a\n", 1),
        ] {
            let error = read_bytes("x.csv", text.as_bytes(), &column("codes")).unwrap_err();
            assert!(matches!(&error, Error::Input { place, .. } if place.line == Some(line)), "{text:?}: {error}");
        }
        check_fault("x.csv", "age,codes,note\n30,a;b,x\n40,a;c,y\n", Some(1));
        let error = read_bytes("x", b"age,codes\n30,a;b\n", &read_as(Format::Table)).unwrap_err();
        assert!(error.hint().is_some_and(|hint| hint.contains("age, codes")));
    }

    #[test]
    fn round_trips() {
        round_trip(Format::Table, "x.csv", &column("items"));
        round_trip(Format::Table, "x", &read_as(Format::Table));
    }
}
