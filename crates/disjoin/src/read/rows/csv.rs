//! CSV: a header, and a row of cells for each person.
//!
//! The separator is that of comma, tab, semicolon and bar which stands in the header and in most lines. A text without
//! quotes is cut at line ends and read on all cores; a quote may make any line end part of a cell.
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
use crate::read::text::{Rows, head, is_blank_row, lines_with};

/// So much text is read at a time: less of a small file, so that all cores have some of it.
const CHUNK: usize = 4 << 20;
const LEAST: usize = 1 << 18;

/// Candidates, the first wins where several stand in as many lines.
const SEPARATORS: [u8; 4] = [b',', b'\t', b';', b'|'];

/// Reads a table.
pub(super) fn read(
    name: &str,
    text: &str,
    separator: Option<u8>,
    declared: &Declared,
    observer: &dyn Observer,
) -> Result<Body> {
    let separator = separator.unwrap_or_else(|| find_separator(text));
    let mut rows = Rows::new(name, text, separator);
    let mut header = Vec::new();
    loop {
        match rows.next(&mut header)? {
            None => return Err(Error::input(Place::file(name), "is empty: it holds no table")),
            Some(_) if is_blank_row(&header) => {}
            Some(_) => break,
        }
    }
    let header: Vec<String> = header.into_iter().map(Cow::into_owned).collect();
    let mut body = Body::new(plan(name, &header, declared)?);
    let parse = |&(chunk, line): &(&str, u64)| {
        parse(Rows::from_line(name, chunk, separator, line), chunk, &body.plan, &declared.missing, name, observer)
    };
    let rest = text.get(rows.at()..).unwrap_or_default();
    let lines = memchr_iter(b'\n', &text.as_bytes()[..text.len() - rest.len()]).count() as u64;
    let parts: Vec<Result<(Vec<Sink>, usize)>> = chunks(rest, lines).par_iter().map(parse).collect();
    let mut columns: Vec<Vec<Sink>> = body.plan.iter().map(|_| Vec::new()).collect();
    for part in parts {
        // The first error is that of the lowest line.
        let (sinks, n_rows) = part?;
        body.n_rows += n_rows;
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

/// Reads the rows of a part of the text.
pub(super) fn parse(
    mut rows: Rows<'_>,
    text: &str,
    plan: &[Planned],
    missing: &[String],
    name: &str,
    observer: &dyn Observer,
) -> Result<(Vec<Sink>, usize)> {
    let mut sinks: Vec<Sink> = plan.iter().map(Sink::new).collect();
    let (mut n_rows, mut row) = (0, Vec::with_capacity(plan.len()));
    loop {
        observer.check();
        let start = rows.at();
        let Some(line) = rows.next(&mut row)? else { return Ok((sinks, n_rows)) };
        // A blank line is no row; of a single column, two quotes are.
        if is_blank_row(&row) && !text[start..].trim_start_matches([' ', '\t', '\r']).starts_with('"') {
            continue;
        }
        if row.len() != plan.len() {
            return Err(wrong_width(name, line, row.len(), plan.len()));
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

/// What stands between cells, judged by the header and the lines after it.
pub(super) fn find_separator(text: &str) -> u8 {
    let header = text.trim_start().lines().next().unwrap_or_default();
    let (in_header, in_lines) = (lines_with(header, SEPARATORS, true), lines_with(head(text), SEPARATORS, true));
    let stands = (0..SEPARATORS.len()).filter(|&i| in_header[i] > 0);
    // The last of the greatest is the first where the order is reversed.
    stands.rev().max_by_key(|&i| in_lines[i]).map_or(b',', |i| SEPARATORS[i])
}
