//! CSV: a header, and a row of cells for each person.
//!
//! What separates cells is found out by `readings.rs`. A text without quotes is cut at line ends and read on all cores; a quote may make any line end part of a cell.
//!
//! Checked by: tests of `rows/mod.rs`

use std::borrow::Cow;

use memchr::{memchr, memchr_iter};
use rayon::prelude::*;

use super::roles::plan;
use super::sink::Sink;
use super::{Body, Declared, Planned};
use crate::error::{Error, Place, Result};
use crate::observer::Observer;
use crate::read::long::wrong_width;
use crate::read::readings::of_table;
use crate::read::text::{Rows, is_blank_row};

/// So much text is read at a time: less of a small file, so that all cores have some of it.
const CHUNK: usize = 4 << 20;
const LEAST: usize = 1 << 18;

/// Reads a table.
pub(super) fn read(
    name: &str,
    text: &str,
    separator: Option<u8>,
    declared: &Declared,
    observer: &dyn Observer,
) -> Result<Body> {
    let separator = match separator {
        Some(separator) => separator,
        None => of_table(name, text)?,
    };
    let mut rows = Rows::new(name, text, separator);
    let (mut header, mut blank_lines) = (Vec::new(), 0);
    loop {
        match rows.next(&mut header)? {
            None => return Err(Error::input(Place::file(name), "is empty: it holds no table")),
            Some(_) if is_blank_row(&header) => blank_lines += 1,
            Some(_) => break,
        }
    }
    let header: Vec<String> = header.into_iter().map(Cow::into_owned).collect();
    let mut body = Body::new(plan(name, &header, declared)?);
    body.reading.separator = Some(char::from(separator));
    (body.reading.blank_lines, body.reading.trimmed_cells) = (blank_lines, rows.trimmed());
    let parse = |&(chunk, line): &(&str, u64)| {
        parse(Rows::from_line(name, chunk, separator, line), chunk, &body.plan, &declared.missing, name, observer)
    };
    let rest = text.get(rows.at()..).unwrap_or_default();
    let lines = memchr_iter(b'\n', &text.as_bytes()[..text.len() - rest.len()]).count() as u64;
    let parts: Vec<Result<Parsed>> = chunks(rest, lines).par_iter().map(parse).collect();
    let mut columns: Vec<Vec<Sink>> = body.plan.iter().map(|_| Vec::new()).collect();
    for part in parts {
        // The first error is that of the lowest line.
        let Parsed { sinks, n_rows, blank_lines, trimmed_cells } = part?;
        body.n_rows += n_rows;
        body.reading.blank_lines += blank_lines;
        body.reading.trimmed_cells += trimmed_cells;
        columns.iter_mut().zip(sinks).for_each(|(column, sink)| column.push(sink));
    }
    let join = |(mut sink, parts): (Sink, Vec<Sink>)| {
        for part in parts {
            observer.check();
            sink.append(part);
        }
        sink
    };
    body.sinks = body.sinks.into_par_iter().zip(columns).map(join).collect();
    Ok(body)
}

/// What was read of a part of the text.
pub(super) struct Parsed {
    pub(super) sinks: Vec<Sink>,
    pub(super) n_rows: usize,
    pub(super) blank_lines: u64,
    pub(super) trimmed_cells: u64,
}

/// Reads the rows of a part of the text.
pub(super) fn parse(
    mut rows: Rows<'_>,
    text: &str,
    plan: &[Planned],
    missing: &[String],
    name: &str,
    observer: &dyn Observer,
) -> Result<Parsed> {
    let mut sinks: Vec<Sink> = plan.iter().map(Sink::new).collect();
    let (mut n_rows, mut blank_lines, mut row) = (0, 0, Vec::with_capacity(plan.len()));
    loop {
        observer.check();
        let start = rows.at();
        let Some(line) = rows.next(&mut row)? else {
            return Ok(Parsed { sinks, n_rows, blank_lines, trimmed_cells: rows.trimmed() });
        };
        // A blank line is no row; of a single column, two quotes are.
        if is_blank_row(&row) && !text[start..].trim_start_matches([' ', '\t', '\r']).starts_with('"') {
            blank_lines += 1;
            continue;
        }
        if row.len() != plan.len() {
            let header: Vec<String> = plan.iter().map(|column| column.name.clone()).collect();
            return Err(wrong_width(name, line, row.len(), &header));
        }
        for ((sink, column), cell) in sinks.iter_mut().zip(plan).zip(&row) {
            sink.push(cell, column, missing, name, line)?;
        }
        n_rows += 1;
    }
}

/// Parts of whole lines, each with the number of lines before it.
fn chunks(text: &str, lines: u64) -> Vec<(&str, u64)> {
    if memchr(b'"', text.as_bytes()).is_some() {
        return vec![(text, lines)];
    }
    let size = (text.len() / (2 * rayon::current_num_threads())).clamp(LEAST, CHUNK);
    let (mut chunks, mut rest, mut lines) = (Vec::new(), text, lines);
    while !rest.is_empty() {
        let from = size.min(rest.len());
        let end = memchr(b'\n', &rest.as_bytes()[from..]).map_or(rest.len(), |offset| from + offset + 1);
        let (chunk, after) = rest.split_at(end);
        chunks.push((chunk, lines));
        lines += memchr_iter(b'\n', chunk.as_bytes()).count() as u64;
        rest = after;
    }
    chunks
}
