//! A table that is only looked at: every row is shown once, in order, and nothing is kept.
//!
//! Promises:   the cells are those that `read_table` would read, and so are the refusals. Memory does not grow with the rows of a text
//! Departs:    Parquet is read whole, as everywhere
//! Cost:       one pass
//! Checked by: tests in this file, `tests/it/roles`

use std::borrow::Cow;
use std::collections::HashSet;
use std::io::{self, Read};
use std::path::Path;

use super::stream::{BLOCK, Source};
use super::{Declared, parquet};
use crate::data::table::Role;
use crate::error::{Error, Result};
use crate::location::scheme;
use crate::memory::open_file;
use crate::observer::Observer;
use crate::read::long::wrong_width;
use crate::read::opened::by_rows;
use crate::read::readings::of_beginning;
use crate::read::recognise::{self, Kind, kind_of};
use crate::read::source::{Incoming, Rows as Texts};
use crate::read::text::{Rows, check_separator, is_blank_row, validate, validate_part};
use crate::read::{Format, Options, Sources, bytes_of};

/// What is shown of a table.
#[derive(Debug)]
pub enum Seen<'a> {
    /// The names of its columns, and the places of those that are lists by their type. Comes first.
    Header(&'a [String], &'a [usize]),
    /// The cells of a row, empty where there is no value.
    Row(&'a [Cow<'a, str>]),
}

/// What a location seems to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Records of terms, or something that only their reader can speak of.
    Sets,
    /// A table with a header and several columns, none of which is named as the list of terms.
    Table,
}

/// Shows every row of a table.
pub fn scan_table(
    location: &Path,
    options: &Options,
    sources: &dyn Sources,
    observer: &dyn Observer,
    see: &mut dyn FnMut(Seen<'_>),
) -> Result<()> {
    check_separator("separator", options.separator)?;
    if let Some(rows) = sources.open(&location.to_string_lossy(), observer) {
        return scan_rows(rows?, observer, see);
    }
    let name = location.display().to_string();
    let mut raw = opened(location)?;
    let mut source = Source::open(&name, location, &mut *raw, observer.memory())?;
    if source.is_table(options)? {
        return scan_text(source, &name, options.separator, observer, see);
    }
    source.hold(usize::MAX)?;
    let bytes = std::mem::take(&mut source.held);
    if let Some(seen) = by_rows(&name, &bytes, options, observer, &mut |rows| scan_rows(rows, observer, see)) {
        return seen.map(|_| ());
    }
    let (names, lists) = parquet::header(&name, &bytes, observer.memory())?;
    see(Seen::Header(&names, &lists));
    parquet::scan(&name, &bytes, observer, &mut |row| see(Seen::Row(row)))
}

/// Looks at the beginning of a location.
pub fn shape_of(location: &Path, options: &Options, sources: &dyn Sources, observer: &dyn Observer) -> Result<Shape> {
    let is_named = options.column.is_some() || options.id_column.is_some() || options.item_column.is_some();
    let text = location.to_string_lossy();
    if is_named || !matches!(options.format, None | Some(Format::Table | Format::Parquet)) {
        return Ok(Shape::Sets);
    }
    if scheme(&text).is_some() {
        let rows = sources.open(&text, observer).ok_or(Error::Internal("a URL is no file"))??;
        return Ok(shape_of_header(&rows.header, &rows.arrays));
    }
    if location == Path::new("-") {
        let is_table = options.format == Some(Format::Table);
        return Ok(if is_table { Shape::Table } else { Shape::Sets });
    }
    let name = location.display().to_string();
    let mut raw = opened(location)?;
    let mut source = Source::open(&name, location, &mut *raw, observer.memory())?;
    if source.is_table(options)? {
        return Ok(shape_of_text(&name, &source.held, options));
    }
    let (names, lists) = parquet::header(&name, &bytes_of(location, observer)?, observer.memory())?;
    Ok(shape_of_header(&names, &lists))
}

fn opened(location: &Path) -> Result<Box<dyn Read + Send>> {
    Ok(if location == Path::new("-") { Box::new(io::stdin()) } else { Box::new(open_file(location, "read")?) })
}

fn scan_rows(rows: Texts<'_>, observer: &dyn Observer, see: &mut dyn FnMut(Seen<'_>)) -> Result<()> {
    see(Seen::Header(&rows.header, &rows.arrays));
    for row in Incoming::new(&rows.name, rows.header.len(), rows.rows, rows.told, observer) {
        let row: Vec<Cow<'_, str>> = row?.1.into_iter().map(|cell| Cow::Owned(cell.unwrap_or_default())).collect();
        see(Seen::Row(&row));
    }
    Ok(())
}

fn scan_text(
    mut source: Source<'_>,
    name: &str,
    separator: Option<u8>,
    observer: &dyn Observer,
    see: &mut dyn FnMut(Seen<'_>),
) -> Result<()> {
    // Nothing is published here.
    let anything = Declared { rest: Some(Role::Identifier), ..Declared::default() };
    let (plan, reading) = source.header(separator, &anything)?;
    let separator = reading.separator.map_or(b',', |separator| separator as u8);
    let names: Vec<String> = plan.into_iter().map(|column| column.name).collect();
    see(Seen::Header(&names, &[]));
    while let Some((block, lines)) = source.block(BLOCK, separator)? {
        let text = validate_part(name, &block, lines)?;
        let mut rows = Rows::from_line(name, text, separator, lines);
        let mut row = Vec::with_capacity(names.len());
        while let Some(line) = rows.next(&mut row)? {
            observer.check();
            if is_blank_row(&row) && names.len() != 1 {
                continue;
            }
            if row.len() != names.len() {
                return Err(wrong_width(name, line, row.len(), &names));
            }
            see(Seen::Row(&row));
        }
    }
    Ok(())
}

fn shape_of_header(header: &[String], lists: &[usize]) -> Shape {
    let kinds: Vec<Option<Kind>> = header.iter().map(|name| kind_of(name)).collect();
    let is_pair = header.len() == 2 && kinds.contains(&Some(Kind::Id)) && kinds.contains(&Some(Kind::Item));
    match header.len() {
        0 | 1 => Shape::Sets,
        2 if is_pair || lists.len() == 1 => Shape::Sets,
        _ => Shape::Table,
    }
}

/// By the beginning of a text: what its reader knows as a list of records is none, and what has a header and rows as wide is.
fn shape_of_text(name: &str, head: &[u8], options: &Options) -> Shape {
    let whole = head.iter().rposition(|&byte| byte == b'\n').map_or(head, |end| &head[..=end]);
    let Ok(text) = validate(name, whole) else { return Shape::Sets };
    let known = recognise::text_format(name, text, &Options { format: None, ..options.clone() });
    if options.format.is_none() && known.is_ok_and(|(format, _)| format != Format::Table) {
        return Shape::Sets;
    }
    let Some(separator) = options.separator.or_else(|| of_beginning(name, text, false).ok()) else {
        return Shape::Sets;
    };
    let Ok(rows) = recognise::sample_rows(name, text, separator) else { return Shape::Sets };
    let Some((first, others)) = rows.split_first() else { return Shape::Sets };
    let later: HashSet<&str> = others.iter().flatten().map(|field| &**field).collect();
    let is_header = first.iter().all(|field| !field.is_empty() && !later.contains(&**field));
    let is_table = first.len() > 1 && !others.is_empty() && others.iter().all(|row| row.len() == first.len());
    if is_table && is_header { Shape::Table } else { Shape::Sets }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observer::Unobserved;
    use crate::read::Files;

    fn seen(name: &str, text: &str) -> (Shape, Result<Vec<Vec<String>>>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let options = Options::default();
        let shape = shape_of(&path, &options, &Files, &Unobserved).unwrap();
        let mut rows = Vec::new();
        let done = scan_table(&path, &options, &Files, &Unobserved, &mut |seen| match seen {
            Seen::Header(names, _) => rows.push(names.to_vec()),
            Seen::Row(row) => rows.push(row.iter().map(|cell| cell.to_string()).collect()),
        });
        (shape, done.map(|()| rows))
    }

    #[test]
    fn every_row_is_shown_once() {
        let (shape, rows) = seen("x.csv", "a;b\n1;\"x\ny\"\n\n2;\n");
        assert_eq!(
            (shape, rows.unwrap()),
            (
                Shape::Table,
                vec![vec!["a".into(), "b".into()], vec!["1".into(), "x\ny".into()], vec!["2".into(), String::new()]]
            )
        );
        assert!(seen("x.csv", "a,b\n1,2,3\n").1.unwrap_err().to_string().contains(":2"));
    }

    #[test]
    fn tables_are_told_from_records() {
        for (name, text, shape) in [
            ("x.csv", "age,sex,codes\n30,f,a;b\n40,m,c\n", Shape::Table),
            ("x.csv", "patient,diagnoses\n1,a;b\n2,c\n", Shape::Table),
            ("x.csv", "patient,diagnosis\n1,a\n1,b\n", Shape::Sets),
            ("x.csv", "a,b\nb,c\nc,a\n", Shape::Sets),
            ("x.dat", "1 2 3\n4 5\n", Shape::Sets),
            ("x.jsonl", "[1]\n", Shape::Sets),
        ] {
            assert_eq!(seen(name, text).0, shape, "{text:?}");
        }
    }
}
