//! What a Parquet file says of itself, looked at before anything is allocated by it.
//!
//! The Parquet crate (59) reserves memory by counts that a file states: how many row groups there are, how large a page is when it is
//! unpacked, how many values a dictionary has. Here these numbers are read first, and compared with the size of the file.
//!
//! Promises:   no list is longer than what is left of the bytes it stands in; no page, dictionary or column asks for more than the file
//!             may; types do not nest so deep that walking them fills the stack
//! Assumes:    nothing. What this reader of headers does not know (maps, sets, lists of truth values) no Parquet header has
//! Cost:       one look at each page header
//! Checked by: tests in this file, `crates/disjoin-cli/tests/it/hostile.rs`

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::ChunkReader;

use crate::error::{Error, Place, Result};
use crate::memory::Memory;

/// Types do not nest deeper than this.
const DEEPEST: usize = 60;

/// Row groups are numbered with 16 bits.
const ROW_GROUPS: u64 = 1 << 15;

/// So much is read to find the end of a page header, and so much if that is not enough.
const HEADERS: [u64; 2] = [1 << 12, 1 << 24];

/// Bytes that a value of a column takes at least, once it is read.
const A_VALUE: u64 = 4;

/// Bytes that a value of a dictionary takes.
const AN_ENTRY: u64 = 16;

/// Opens a Parquet file, if what it says of itself can be.
pub(crate) fn open_parquet<R: ChunkReader + 'static>(
    input: R,
    file: &str,
    options: ArrowReaderOptions,
    memory: Memory,
) -> Result<ParquetRecordBatchReaderBuilder<R>> {
    let footer = guarded(file, || footer(&input))?;
    check_footer(&footer).ok_or_else(|| Error::input(Place::file(file), "has a damaged footer: not a Parquet file"))?;
    let metadata = guarded(file, || ArrowReaderMetadata::load(&input, options))?;
    let mut n_values = 0_u64;
    for column in metadata.metadata().row_groups().iter().flat_map(|group| group.columns()) {
        let (start, length) = guarded(file, || Ok(column.byte_range()))?;
        n_values = n_values.saturating_add(u64::try_from(column.num_values()).unwrap_or(u64::MAX));
        check_pages(&input, (start, length), column, file, memory)?;
    }
    memory.check(n_values.saturating_mul(A_VALUE), input.len(), || Place::file(file), "the table that it declares")?;
    Ok(ParquetRecordBatchReaderBuilder::new_with_metadata(input, metadata))
}

thread_local! {
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic on this thread is expected, and becomes an error: a shell that prints panics keeps silent.
pub fn is_guarded() -> bool {
    IS_GUARDED.get()
}

/// Runs a part of the Parquet crate, which panics on some damaged files (parquet 59) where it should return an error.
pub(crate) fn guarded<T>(file: &str, part: impl FnOnce() -> std::result::Result<T, ParquetError>) -> Result<T> {
    let before = IS_GUARDED.replace(true);
    let done = catch_unwind(AssertUnwindSafe(part));
    IS_GUARDED.set(before);
    let problem = match done {
        Ok(Ok(value)) => return Ok(value),
        // The crate's own message may quote the file, so only its kind is passed on.
        Ok(Err(ParquetError::EOF(_) | ParquetError::NeedMoreData(_))) => {
            "is not a whole Parquet file: it ends too early"
        }
        Ok(Err(ParquetError::NYI(_))) => "uses a part of Parquet that is not supported",
        Ok(Err(_)) | Err(_) => {
            "is not a Parquet file, or is corrupt, or is compressed otherwise than with Snappy, gzip, Zstandard or LZ4"
        }
    };
    Err(Error::input(Place::file(file), problem))
}

/// The bytes of the footer.
fn footer(input: &impl ChunkReader) -> std::result::Result<bytes::Bytes, ParquetError> {
    let end = input.len().checked_sub(8).ok_or(ParquetError::EOF(String::new()))?;
    let tail = input.get_bytes(end, 8)?;
    let length = u64::from(u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]));
    let start = end.checked_sub(length).filter(|_| tail.ends_with(b"PAR1"));
    input.get_bytes(start.ok_or(ParquetError::EOF(String::new()))?, length as usize)
}

/// Whether the footer can be read without asking for more than it holds.
fn check_footer(bytes: &[u8]) -> Option<()> {
    let mut footer = Thrift { bytes };
    let mut children = Vec::new();
    footer.each_field(&mut |id, kind, footer| match (id, kind) {
        (2, LIST) => {
            let (n, of) = footer.list()?;
            (of == STRUCT).then_some(())?;
            (0..n).try_for_each(|_| {
                let mut of_this = 0;
                footer.each_field(&mut |id, kind, footer| match (id, kind) {
                    (5, I32) => footer.number().map(|n| of_this = n),
                    _ => footer.skip(kind, DEEPEST),
                })?;
                children.push(of_this);
                Some(())
            })
        }
        (4, LIST) => {
            let (n, of) = footer.list()?;
            (n <= ROW_GROUPS).then_some(())?;
            (0..n).try_for_each(|_| footer.skip(of, DEEPEST))
        }
        _ => footer.skip(kind, DEEPEST),
    })?;
    is_flat(&children).then_some(())
}

/// Whether a tree, given as the number of children of each node before them, is not too deep.
fn is_flat(children: &[i64]) -> bool {
    let mut open: Vec<i64> = Vec::new();
    children.iter().all(|&n| {
        while open.last() == Some(&0) {
            open.pop();
        }
        if let Some(left) = open.last_mut() {
            *left -= 1;
        }
        if n > 0 {
            open.push(n);
        }
        open.len() <= DEEPEST
    })
}

/// Whether the pages of a column can be unpacked.
fn check_pages(
    input: &impl ChunkReader,
    (start, length): (u64, u64),
    column: &ColumnChunkMetaData,
    file: &str,
    memory: Memory,
) -> Result<()> {
    let place = || Place::file(file).in_column(column.column_path().string());
    let damaged = || Error::input(place(), "has a damaged page header");
    let (mut at, end) = (start, start.saturating_add(length).min(input.len()));
    let mut left = u64::try_from(column.num_values()).map_err(|_| damaged())?;
    while at < end {
        let page = HEADERS.iter().find_map(|&most| {
            let bytes = guarded(file, || input.get_bytes(at, most.min(end - at) as usize)).ok()?;
            Page::read(&bytes)
        });
        let page = page.ok_or_else(damaged)?;
        let asked = page.unpacked.max(page.n_entries.saturating_mul(AN_ENTRY));
        memory.check(asked, input.len(), place, "a page")?;
        left = left.checked_sub(page.n_values).ok_or_else(damaged)?;
        at = at.saturating_add(page.header + page.packed);
    }
    Ok(())
}

/// What a page header says.
#[derive(Debug, Default, PartialEq, Eq)]
struct Page {
    header: u64,
    unpacked: u64,
    packed: u64,
    n_values: u64,
    n_entries: u64,
}

impl Page {
    fn read(bytes: &[u8]) -> Option<Self> {
        let (mut page, mut reader) = (Page::default(), Thrift { bytes });
        let whole = |n: i64| u64::try_from(n).ok();
        reader.each_field(&mut |id, kind, reader| match (id, kind) {
            (2, I32) => whole(reader.number()?).map(|n| page.unpacked = n),
            (3, I32) => whole(reader.number()?).map(|n| page.packed = n),
            (5 | 7 | 8, STRUCT) => reader.each_field(&mut |inner, kind, reader| match (inner, kind) {
                (1, I32) if id == 7 => whole(reader.number()?).map(|n| page.n_entries = n),
                (1, I32) => whole(reader.number()?).map(|n| page.n_values = n),
                _ => reader.skip(kind, DEEPEST),
            }),
            _ => reader.skip(kind, DEEPEST),
        })?;
        page.header = (bytes.len() - reader.bytes.len()) as u64;
        Some(page)
    }
}

const TRUE: u8 = 1;
const FALSE: u8 = 2;
const I8: u8 = 3;
const I16: u8 = 4;
const I32: u8 = 5;
const I64: u8 = 6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// What is left of a text in Thrift's compact protocol.
struct Thrift<'a> {
    bytes: &'a [u8],
}

impl Thrift<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(first)
    }

    fn pass(&mut self, n: u64) -> Option<()> {
        self.bytes = self.bytes.get(usize::try_from(n).ok()?..)?;
        Some(())
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn number(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// The length of a list, which is no more than there are bytes, and the kind of its elements.
    fn list(&mut self) -> Option<(u64, u8)> {
        let head = self.byte()?;
        let n = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
        (n <= self.bytes.len() as u64).then_some((n, head & 15))
    }

    /// Calls `take` with the number and the kind of each field of a structure, to read it or to skip it.
    fn each_field(&mut self, take: &mut dyn FnMut(i64, u8, &mut Self) -> Option<()>) -> Option<()> {
        let mut id = 0;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(());
            }
            id = if head >> 4 == 0 { self.number()? } else { id + i64::from(head >> 4) };
            take(id, head & 15, self)?;
        }
    }

    fn skip(&mut self, kind: u8, depth: usize) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        match kind {
            TRUE | FALSE => Some(()),
            I8 => self.pass(1),
            I16 | I32 | I64 => self.varint().map(|_| ()),
            DOUBLE => self.pass(8),
            BINARY => self.varint().and_then(|n| self.pass(n)),
            LIST => {
                let (n, of) = self.list()?;
                // Readers differ in how long truth values in lists are; no header has some.
                (n == 0 || !matches!(of, TRUE | FALSE)).then_some(())?;
                (0..n).try_for_each(|_| self.skip(of, depth))
            }
            STRUCT => self.each_field(&mut |_, kind, reader| reader.skip(kind, depth)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_no_longer_than_the_bytes_that_hold_them() {
        // Field 4, a list of 2^31 - 1 structures, and nothing.
        let row_groups = [0x49, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07, 0x00];
        assert_eq!(check_footer(&row_groups), None);
        // Field 5, a list of two structures without fields.
        assert_eq!(check_footer(&[0x59, 0x2c, 0x00, 0x00, 0x00]), Some(()));
        // A text that is longer than the rest.
        assert_eq!(check_footer(&[0x18, 0xff, 0xff, 0x03, b'a', 0x00]), None);
        // Structures in each other.
        assert_eq!(check_footer(&[0x1c; 100_000]), None);
    }

    #[test]
    fn types_nest_only_so_deep() {
        assert!(is_flat(&[3, 0, 0, 0]));
        assert!(is_flat(&[2, 2, 0, 0, 1, 0]));
        assert!(is_flat(&[1000; 30]));
        assert!(!is_flat(&[1; 100]));
        assert!(!is_flat(&vec![2; 100_000]));
    }

    #[test]
    fn pages_say_how_large_they_are() {
        // type 0, unpacked 100, packed 60, a data page of 7 values.
        let header = [0x15, 0x00, 0x15, 0xc8, 0x01, 0x15, 0x78, 0x2c, 0x15, 0x0e, 0x00, 0x00, 9, 9];
        let page = Page { header: 12, unpacked: 100, packed: 60, n_values: 7, n_entries: 0 };
        assert_eq!(Page::read(&header), Some(page));
        assert_eq!(Page::read(&header[..11]), None);
        // A negative size.
        assert_eq!(Page::read(&[0x25, 0x01, 0x00]), None);
    }
}
