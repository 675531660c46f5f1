//! Files that are read as rows of texts: workbooks, Arrow, and every table whose columns are put together or joined with another.
//!
//! CSV and Parquet have readers of their own, which are faster; this way is taken where they do not suffice. From here on a file is
//! what a table in a database is.
//!
//! Promises:   the same records and the same table as by the other readers; faults name the line or row of the file
//! Cost:       a text for each cell of a row, one row at a time; of a joined table, all of it
//! Checked by: `crates/disjoin-cli/tests/it/messy.rs`

use std::borrow::Cow;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::encoding::decode;
use super::long::wrong_width;
use super::readings::of_table;
use super::recognise::kind_of_bytes;
use super::source::{Row, Rows, Told};
use super::text::{self, is_blank_row};
use super::{Format, Options, bytes_of, columnar, decompress, digest, hexadecimal, join, wide, workbook};
use crate::error::{Error, Place, Result};
use crate::observer::Observer;

/// What is known of a file besides its rows.
pub(super) struct OfFile {
    pub(super) format: Format,
    /// As stored, and of all files that were joined.
    pub(super) bytes: u64,
    pub(super) sha256: String,
}

/// Hands the rows of a file on, if it is to be read this way; returns what came of it.
pub(super) fn by_rows<T>(
    name: &str,
    raw: &[u8],
    options: &Options,
    observer: &dyn Observer,
    take: &mut dyn FnMut(Rows<'_>) -> Result<T>,
) -> Option<Result<(T, OfFile)>> {
    match is_by_rows(name, raw, options) {
        Ok(false) => None,
        Ok(true) => Some(read(name, raw, options, observer, take)),
        Err(error) => Some(Err(error)),
    }
}

fn is_by_rows(name: &str, raw: &[u8], options: &Options) -> Result<bool> {
    if options.needs_rows() {
        return Ok(true);
    }
    let is_other = |format| matches!(format, Format::Arrow | Format::Xlsx | Format::Ods);
    match options.format {
        // A sheet may be a table of pairs.
        None | Some(Format::Long | Format::Table) => Ok(kind_of_bytes(name, raw)?.is_some_and(is_other)),
        Some(format) => Ok(is_other(format)),
    }
}

/// Refuses what is of another kind in a packed file, where it is not looked for.
pub(super) fn check_unpacked(name: &str, kind: Option<Format>) -> Result<()> {
    match kind {
        Some(Format::Arrow | Format::Xlsx | Format::Ods) => {
            Err(Error::input(Place::file(name), "is a workbook or an Arrow file in a packed file")
                .with_hint("unpack it"))
        }
        _ => Ok(()),
    }
}

fn read<T>(
    name: &str,
    raw: &[u8],
    options: &Options,
    observer: &dyn Observer,
    take: &mut dyn FnMut(Rows<'_>) -> Result<T>,
) -> Result<(T, OfFile)> {
    let sha256 = digest(raw, observer);
    let mut format = Format::Table;
    let Some(asked) = &options.join else {
        let taken = with_rows(name, raw, options, observer, &mut |rows| {
            format = rows.format;
            take(wide::shaped(rows, options)?)
        })?;
        return Ok((taken, OfFile { format, bytes: raw.len() as u64, sha256 }));
    };
    let other_name = asked.file.display().to_string();
    let other_raw = other_bytes(&asked.file, observer)?;
    // What is said of the first file is not said of this one: it is read by what it shows.
    let plain = Options::default();
    let other =
        with_rows(&other_name, &other_raw, &plain, observer, &mut |rows| join::Other::new(rows, asked, options))?;
    let mut other = Some(other);
    let taken = with_rows(name, raw, options, observer, &mut |rows| {
        format = rows.format;
        let other = other.take().ok_or(Error::Internal("a table is joined once"))?;
        take(wide::shaped(join::joined(rows, other, asked)?, options)?)
    })?;
    let mut both = Sha256::new();
    both.update(&sha256);
    both.update(digest(&other_raw, observer));
    let bytes = (raw.len() + other_raw.len()) as u64;
    Ok((taken, OfFile { format, bytes, sha256: hexadecimal(&both.finalize()) }))
}

fn other_bytes(path: &Path, observer: &dyn Observer) -> Result<Vec<u8>> {
    match path == Path::new("-") {
        true => Err(Error::recipe("input.join", "cannot be the standard input", "save the table in a file")),
        false => bytes_of(path, observer),
    }
}

/// The rows of one file.
fn with_rows<T>(
    name: &str,
    raw: &[u8],
    options: &Options,
    observer: &dyn Observer,
    take: &mut dyn FnMut(Rows<'_>) -> Result<T>,
) -> Result<T> {
    let bytes = decompress(name, raw, observer)?;
    if bytes.is_empty() {
        return Err(Error::input(Place::file(name), "is empty: it holds no table"));
    }
    let format = match options.format {
        Some(format) if !matches!(format, Format::Long | Format::Table) => format,
        _ => kind_of_bytes(name, &bytes)?.unwrap_or(Format::Table),
    };
    match format {
        Format::Table => {
            let (text, known) = decode(name, &bytes, options.encoding)?;
            let rows = of_text(name, &text, options)?;
            rows.told.note(|reading| reading.set_encoding(known.clone()));
            take(rows)
        }
        Format::Parquet => take(columnar::of_parquet(name, &bytes, observer)?),
        Format::Arrow => take(columnar::of_arrow(name, &bytes, observer)?),
        Format::Xlsx | Format::Ods => take(workbook::rows(name, &bytes, format, options.sheet.as_deref(), observer)?),
        Format::Basket | Format::Spmf | Format::JsonLines | Format::Long | Format::Database => Err(Error::recipe(
            "format",
            "has no columns that could be joined or put together",
            "use a table: csv, parquet, arrow, xlsx or ods",
        )),
    }
}

/// The rows of CSV.
fn of_text<'a>(name: &'a str, text: &'a str, options: &Options) -> Result<Rows<'a>> {
    let separator = options.separator_or(|| of_table(name, text))?;
    let mut rows = text::Rows::new(name, text, separator);
    let (mut first, mut blank_lines) = (Vec::new(), 0);
    while rows.next(&mut first)?.is_some() && is_blank_row(&first) {
        blank_lines += 1;
    }
    if is_blank_row(&first) || first.is_empty() {
        return Err(Error::input(Place::file(name), "is empty: it holds no table"));
    }
    let header: Vec<String> = first.into_iter().map(Cow::into_owned).collect();
    let told = Told::default();
    told.note(|reading| {
        reading.separator = Some(char::from(separator));
        reading.blank_lines = blank_lines;
    });
    let (names, teller) = (header.clone(), told.clone());
    let mut trimmed = 0;
    let cells = std::iter::from_fn(move || -> Option<Result<Row>> {
        let mut row = Vec::with_capacity(names.len());
        loop {
            let line = match rows.next(&mut row) {
                Ok(Some(line)) => line,
                Ok(None) => return None,
                Err(error) => return Some(Err(error)),
            };
            let fresh = rows.trimmed() - std::mem::replace(&mut trimmed, rows.trimmed());
            if is_blank_row(&row) && names.len() > 1 {
                teller.note(|reading| reading.blank_lines += 1);
                continue;
            }
            if row.len() != names.len() {
                return Some(Err(wrong_width(name, line, row.len(), &names)));
            }
            if fresh > 0 {
                teller.note(|reading| reading.trimmed_cells += fresh);
            }
            teller.at_line(line);
            let cell = |cell: Cow<'_, str>| (!cell.is_empty()).then(|| cell.into_owned());
            return Some(Ok(row.drain(..).map(cell).collect()));
        }
    });
    Ok(Rows { format: Format::Table, told, ..Rows::new(name, header, cells) })
}
