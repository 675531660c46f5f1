//! JSON lines: each line an array of terms, or an object with an array of terms in one field.
//!
//! The field is the one named in the options, else the only array of the first object; all further objects must have
//! it. Terms are strings, taken as they are, or numbers, which become their text; null, true, false and nested values
//! are errors. A null in place of the array is an empty record; a blank line is none. A number that a 64-bit float
//! cannot hold exactly is an error, since two of them could become one term.

use std::fmt;
use std::io::{self, Write};

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::Options;
use super::builder::{Builder, Counts};
use crate::data::Dataset;
use crate::error::{Error, Place, Result};
use crate::observer::Observer;

/// Reads JSON lines.
pub(super) fn read(name: &str, text: &str, options: &Options, observer: &dyn Observer) -> Result<(Dataset, Counts)> {
    let mut builder = Builder::new(name, options.max_record_terms, observer);
    let mut field = options.column.clone();
    for (index, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            builder.blank_line();
            continue;
        }
        let number = index as u64 + 1;
        // The parser's own message may quote the text, so only its position is passed on.
        let parsed: Line = serde_json::from_str(line).map_err(|error| {
            let problem = format!("is not one JSON array or object (character {})", error.column());
            Error::input(Place::line(name, number), problem).with_hint("write one record a line")
        })?;
        if let Some(column) = &options.person {
            let person = person_of(&parsed, column).ok_or_else(|| {
                let problem = "lacks the field that names a person, or it is neither a string nor a number";
                Error::input(Place::line(name, number).in_column(column), problem)
                    .with_hint("name the field of people with --person, and write it in every line")
            })?;
            builder.person(&person, number)?;
        }
        let items = choose_array(parsed, &mut field).map_err(|problem| {
            Error::input(Place::line(name, number), problem).with_hint("name the field of the terms with --column")
        })?;
        for item in items {
            match item {
                Value::String(text) => builder.term(&text),
                Value::Number(number) if is_exact(&number) => builder.term(&number.to_string()),
                Value::Number(_) => {
                    return Err(Error::input(Place::line(name, number), "a number is too large to be kept exactly")
                        .with_hint("write it as a string"));
                }
                _ => {
                    let problem = "a term is neither a string nor a number";
                    return Err(Error::input(Place::line(name, number), problem));
                }
            }
        }
        builder.end_record(number)?;
    }
    Ok(builder.finish())
}

/// Writes an array of strings a line.
pub(super) fn write(dataset: &Dataset, out: &mut dyn Write) -> io::Result<()> {
    for record in dataset.records.iter() {
        let terms: Vec<&str> = record.iter().map(|&term| dataset.dictionary.text(term)).collect();
        // A control character that JSON allows, and no text file holds.
        let line = serde_json::to_string(&terms)?.replace('\u{7f}', "\\u007f");
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// Whom a line is about.
fn person_of(line: &Line, column: &str) -> Option<String> {
    let Line::Object(fields) = line else { return None };
    match &fields.iter().find(|(key, _)| key == column)?.1 {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) if is_exact(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The array of terms in a line; `field` is fixed by the first object.
fn choose_array(line: Line, field: &mut Option<String>) -> std::result::Result<Vec<Value>, &'static str> {
    let fields = match (line, &field) {
        (Line::Array(items), None) => return Ok(items),
        (Line::Array(_), Some(_)) => return Err("is an array where an object is expected"),
        (Line::Object(fields), _) => fields,
    };
    let wanted = field.clone();
    let mut matching = fields.into_iter().filter(|(key, value)| match &wanted {
        Some(wanted) => key == wanted,
        None => value.is_array(),
    });
    match (matching.next(), matching.next()) {
        (Some((key, value)), None) => {
            *field = Some(key);
            match value {
                Value::Array(items) => Ok(items),
                Value::Null => Ok(Vec::new()),
                _ => Err("the field of the terms is not an array"),
            }
        }
        (Some(_), Some(_)) => Err("several fields could be the array of terms"),
        (None, _) if wanted.is_some() => Err("lacks the field of the terms"),
        (None, _) => Err("no field is an array of terms"),
    }
}

pub(super) fn is_exact(number: &serde_json::Number) -> bool {
    const LIMIT: f64 = (1_u64 << 53) as f64;
    !number.is_f64() || number.as_f64().is_some_and(|value| value.abs() < LIMIT)
}

/// A line of the file; an object keeps repeated keys, which a map would drop.
enum Line {
    Array(Vec<Value>),
    Object(Vec<(String, Value)>),
}

impl<'de> Deserialize<'de> for Line {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(LineVisitor)
    }
}

struct LineVisitor;

impl<'de> Visitor<'de> for LineVisitor {
    type Value = Line;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array or an object")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> std::result::Result<Line, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(Line::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> std::result::Result<Line, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = access.next_entry()? {
            fields.push(field);
        }
        Ok(Line::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, check_fault, round_trip, texts};
    use super::super::{Format, read_bytes};
    use super::*;

    #[test]
    fn arrays_and_objects() {
        check("x.jsonl", "[\"b\",\"a b\"]\r\n\n[]\n[1, -2, 0.5, \"1\"]", &[&["b", "a b"], &["1", "-2", "0.5"]]);
        check("x.json", "{\"id\":1,\"terms\":[\"a\"]}\n{\"terms\":null}\n{\"terms\":[\"b\"]}\n", &[&["a"], &["b"]]);
        check("-", "[\"a\"]\n", &[&["a"]]);
        let options = Options { column: Some("b".to_owned()), ..Options::default() };
        let (dataset, _) = read_bytes("x.jsonl", b"{\"a\":[1],\"b\":[2]}", &options).unwrap();
        assert_eq!(texts(&dataset), [["2"]]);
    }

    #[test]
    fn faults_name_their_line_and_no_value() {
        for line in [
            "[\"secret\"",
            "[null]",
            "[true]",
            "[[\"secret\"]]",
            "[{\"secret\":1}]",
            "\"secret\"",
            "7",
            "[12345678901234567890123]",
            "{\"a\":[1],\"b\":[2]}",
            "{\"a\":[1],\"a\":[2]}",
            "{\"a\":\"secret\"}",
            "[1] [2]",
        ] {
            let error = check_fault("x.jsonl", &format!("[\"a\"]\n\n{line}\n"), Some(3));
            assert!(!format!("{error:?}").contains("secret"), "{error:?}");
        }
        check_fault("x.jsonl", "{\"a\":[1]}\n{\"b\":[1]}\n", Some(2));
        check_fault("x.jsonl", "{\"a\":[1]}\n[1]\n", Some(2));
        check_fault("x.jsonl", &"[".repeat(100_000), Some(1));
    }

    #[test]
    fn round_trips() {
        let odd = Dataset::from_texts([["a\u{7f}b"]]);
        let mut written = Vec::new();
        write(&odd, &mut written).unwrap();
        assert_eq!(texts(&read_bytes("x.jsonl", &written, &Options::default()).unwrap().0), [["a\u{7f}b"]]);
        round_trip(Format::JsonLines, "x.jsonl", &Options::default());
        round_trip(Format::JsonLines, "-", &Options::default());
    }
}
