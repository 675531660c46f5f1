//! A table that is counted while it is read: its rows are never in memory all at once.
//!
//! Text is taken in blocks of whole rows. While one batch of them is counted on all cores, the next is read; gzip and Zstandard are
//! unpacked on the way. What is left of a row is the number of its group, which goes to a file.
//!
//! Promises:   the counts of `Counted::of_table` of the table that `read_table` reads, and the same refusals; a file with several
//!             faults may be refused for another of them
//! Assumes:    quasi-identifiers, sensitive columns and identifiers only
//! Departs:    Parquet is read whole, and then counted
//! Cost:       one pass. Memory: a few blocks a core, each different text of a column once, and what `data/class_counts.rs` keeps of
//!             groups; a quoted cell makes a block as long as it is
//! Checked by: tests in this file, and `streams_are_what_is_in_memory` in `tests/it/break_merge.rs`

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Write};
use std::path::Path;

use memchr::{memchr, memchr_iter, memrchr};
use rayon::prelude::*;
use sha2::{Digest, Sha256};

use super::csv::{Parsed, parse};
use super::gather::{Gather, Part, Renumbered};
use super::roles::{Planned, plan};
use super::{Declared, TableIntake, put_hierarchy, table_of_bytes};
use crate::data::{Counted, Table};
use crate::error::{Error, Place, Result};
use crate::memory::{Memory, open_file, over};
use crate::observer::{Observer, Unobserved};
use crate::read::builder::check_count;
use crate::read::encoding::Incoming;
use crate::read::reading::Reading;
use crate::read::readings::of_beginning;
use crate::read::recognise::kind_of_bytes;
use crate::read::text::{HEAD, Rows, check_separator, is_blank_row, validate_part, whole_rows};
use crate::read::{Format, MAGIC, Options, Packing, corrupt, hexadecimal, packing, zstandard};

/// So much text is counted at a time by one core.
pub(super) const BLOCK: usize = 1 << 20;

/// A table that was counted while it was read.
pub struct Streamed {
    /// Its counts.
    pub counted: Counted,
    /// What was read.
    pub intake: TableIntake,
    /// What the numbers mean that were written for the rows.
    pub renumbered: Renumbered,
}

/// What is written for each row while it is counted: the number of its group, in four bytes; and of its first sensitive value, if
/// `with_values` says so, in four more. [`Renumbered`] tells what the numbers mean.
pub struct RowLog<'a> {
    /// Where to.
    pub file: &'a mut File,
    /// Where that is, for messages.
    pub place: &'a Path,
    /// Whether the value is needed.
    pub with_values: bool,
}

/// Reads and counts a table; `-` is standard input.
pub fn count_table(
    path: &Path,
    options: &Options,
    declared: &Declared,
    rows: RowLog<'_>,
    observer: &dyn Observer,
) -> Result<Streamed> {
    let name = path.display().to_string();
    if path == Path::new("-") {
        return count((&name, path), &mut io::stdin(), options, declared, rows, BLOCK, observer);
    }
    count((&name, path), &mut open_file(path, "read")?, options, declared, rows, BLOCK, observer)
}

/// The same for any bytes, in blocks of a given size; `name` serves to recognise the format and in messages.
pub fn count_bytes(
    name: &str,
    bytes: &[u8],
    options: &Options,
    declared: &Declared,
    rows: RowLog<'_>,
    block: usize,
) -> Result<Streamed> {
    count((name, Path::new(name)), &mut &bytes[..], options, declared, rows, block, &Unobserved)
}

/// Counts a table that is in memory, as if it had been read.
pub fn count_rows(table: Table, intake: TableIntake, rows: RowLog<'_>) -> Result<Streamed> {
    let first = table.sensitive().first().map(|column| (column.codes.clone(), column.domain.n_codes()));
    let (codes, n_codes) = first.unwrap_or_default();
    let (counted, group_of) = Counted::of_table(table);
    let mut bytes = Vec::with_capacity(8 * group_of.len());
    for (row, group) in group_of.iter().enumerate() {
        bytes.extend_from_slice(&group.to_le_bytes());
        if rows.with_values {
            bytes.extend_from_slice(&codes[row].to_le_bytes());
        }
    }
    rows.file.write_all(&bytes).map_err(|source| Error::io(rows.place, "write", source))?;
    let renumbered = Renumbered::not(counted.n_groups(), n_codes);
    Ok(Streamed { counted, intake, renumbered })
}

fn count(
    (name, path): (&str, &Path),
    raw: &mut (dyn Read + Send),
    options: &Options,
    declared: &Declared,
    rows: RowLog<'_>,
    block: usize,
    observer: &dyn Observer,
) -> Result<Streamed> {
    check_separator("separator", options.separator)?;
    check_separator("list-separator", declared.list_separator)?;
    if declared.person.is_some() {
        let problem = "cannot be counted while a table is split as it is";
        return Err(Error::recipe("input.person", problem, "let a method make the groups: leave as-is out"));
    }
    let mut source = Source::open(name, path, raw, observer.memory())?;
    if source.is_table(options)? {
        return count_text(source, options.separator, declared, rows, block, observer);
    }
    source.hold(usize::MAX)?;
    let (table, intake) = table_of_bytes(name, &std::mem::take(&mut source.held), options, declared, observer)?;
    let (bytes, sha256) = source.finish()?;
    count_rows(table, TableIntake { bytes, sha256, ..intake }, rows)
}

fn count_text(
    mut source: Source<'_>,
    separator: Option<u8>,
    declared: &Declared,
    rows: RowLog<'_>,
    block: usize,
    observer: &dyn Observer,
) -> Result<Streamed> {
    let (plan, mut reading) = source.header(separator, declared)?;
    let separator = reading.separator.map_or(b',', |separator| separator as u8);
    let mut gather = Gather::new(&plan);
    let name = source.name.to_owned();
    let part = |(text, lines): &(Vec<u8>, u64)| -> Result<(Part, u64, u64)> {
        let text = validate_part(&name, text, *lines)?;
        let Parsed { sinks, n_rows, blank_lines, trimmed_cells } =
            parse(Rows::from_line(&name, text, separator, *lines), text, &plan, &declared.missing, &name, observer)?;
        Ok((Part::new(sinks, &plan, n_rows), blank_lines, trimmed_cells))
    };
    let width = rayon::current_num_threads();
    let mut batch = source.blocks(width, block, separator)?;
    while !batch.is_empty() {
        observer.check();
        let counted = || -> Result<()> {
            let parts: Vec<Result<(Part, u64, u64)>> = batch.par_iter().map(part).collect();
            for part in parts {
                let (part, blank_lines, trimmed_cells) = part?;
                reading.blank_lines += blank_lines;
                reading.trimmed_cells += trimmed_cells;
                let added = gather.add(part, rows.with_values, rows.file);
                added.map_err(|source| Error::io(rows.place, "write", source))?;
                check_count(&name, gather.n_rows as usize)?;
            }
            Ok(())
        };
        let (counted, next) = rayon::join(counted, || source.blocks(width, block, separator));
        counted?;
        batch = next?;
    }
    if gather.n_rows == 0 {
        return Err(Error::input(Place::file(&name), "holds a header, and no row"));
    }
    if let Some(incoming) = &source.incoming {
        reading.set_encoding(incoming.known());
    }
    let (bytes, sha256) = source.finish()?;
    let intake = TableIntake { file: name, bytes, sha256, reading, ..intake_of(&gather, &plan) };
    intake.reading.notes().iter().for_each(|note| observer.warn(note));
    let (mut counted, renumbered, readings) = gather.finish(&plan, declared, &intake.file)?;
    let intake = TableIntake { column_readings: readings, ..intake };
    put_hierarchies(&mut counted, declared)?;
    Ok(Streamed { counted, intake, renumbered })
}

/// What was counted of a table.
fn intake_of(gather: &Gather, plan: &[Planned]) -> TableIntake {
    TableIntake {
        format: Format::Table.to_string(),
        rows: gather.n_rows,
        columns: plan.iter().map(|column| column.name.clone()).collect(),
        missing: gather.missing,
        several: gather.several(plan),
        ..TableIntake::default()
    }
}

fn put_hierarchies(counted: &mut Counted, declared: &Declared) -> Result<()> {
    for (named, path) in &declared.hierarchies {
        if let Some(column) = counted.columns.columns.iter_mut().find(|column| column.name == *named) {
            put_hierarchy(&mut column.domain, named, path)?;
        }
    }
    Ok(())
}

/// A file on its way in: hashed as stored, unpacked, and cut into blocks.
pub(super) struct Source<'a> {
    name: &'a str,
    path: &'a Path,
    reader: Unpacked<'a>,
    packing: Packing,
    memory: Memory,
    /// Bytes that were read, unpacked.
    unpacked: u64,
    /// What was read and not yet handed over.
    pub(super) held: Vec<u8>,
    /// How the text is encoded; none if it is no text.
    incoming: Option<Incoming>,
    is_at_end: bool,
    /// Lines before that.
    pub(super) lines: u64,
}

enum Unpacked<'a> {
    Plain(Hashed<'a>),
    Gzip(Box<flate2::bufread::MultiGzDecoder<BufReader<Hashed<'a>>>>),
    Zstandard(zstd::stream::read::Decoder<'a, BufReader<Hashed<'a>>>),
}

/// Bytes as stored: counted, and hashed.
struct Hashed<'a> {
    raw: io::Chain<Cursor<Vec<u8>>, &'a mut (dyn Read + Send)>,
    hash: Sha256,
    bytes: u64,
}

impl Read for Hashed<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let n = self.raw.read(to)?;
        self.hash.update(&to[..n]);
        self.bytes += n as u64;
        Ok(n)
    }
}

impl Unpacked<'_> {
    fn read(&mut self, to: &mut Vec<u8>, most: usize) -> io::Result<usize> {
        match self {
            Unpacked::Plain(reader) => reader.take(most as u64).read_to_end(to),
            Unpacked::Gzip(reader) => reader.take(most as u64).read_to_end(to),
            Unpacked::Zstandard(reader) => reader.take(most as u64).read_to_end(to),
        }
    }

    /// Bytes as stored that were read.
    fn stored(&self) -> u64 {
        match self {
            Unpacked::Plain(reader) => reader.bytes,
            Unpacked::Gzip(reader) => reader.get_ref().get_ref().bytes,
            Unpacked::Zstandard(reader) => reader.get_ref().get_ref().bytes,
        }
    }
}

impl<'a> Source<'a> {
    pub(super) fn open(name: &'a str, path: &'a Path, raw: &'a mut (dyn Read + Send), memory: Memory) -> Result<Self> {
        let mut first = Vec::new();
        (&mut *raw).take(MAGIC as u64).read_to_end(&mut first).map_err(|source| Error::io(path, "read", source))?;
        let packing = packing(name, &first)?;
        let hashed = Hashed { raw: Cursor::new(first).chain(raw), hash: Sha256::new(), bytes: 0 };
        let reader = match packing {
            Packing::Plain => Unpacked::Plain(hashed),
            Packing::Gzip => {
                Unpacked::Gzip(Box::new(flate2::bufread::MultiGzDecoder::new(BufReader::with_capacity(HEAD, hashed))))
            }
            Packing::Zstandard => {
                let buffered = BufReader::with_capacity(HEAD, hashed);
                let decoder = zstandard(buffered);
                Unpacked::Zstandard(decoder.map_err(|_| corrupt(name, packing))?)
            }
        };
        let (held, incoming) = (Vec::new(), None);
        Ok(Source { name, path, reader, packing, memory, unpacked: 0, held, incoming, is_at_end: false, lines: 0 })
    }

    /// Reads on until so much is held, or nothing is left.
    pub(super) fn hold(&mut self, least: usize) -> Result<()> {
        while self.held.len() < least && !self.is_at_end {
            if let Some(Incoming::Other(..)) = &self.incoming {
                // What is held is text already: the next piece is turned into text behind it.
                let held = std::mem::take(&mut self.held);
                let mut text = String::from_utf8(held).map_err(|_| Error::Internal("what is held is text"))?;
                self.load(BLOCK)?;
                let Some(Incoming::Other(_, transcoder)) = &mut self.incoming else { continue };
                transcoder.put(self.name, &self.held, self.is_at_end, (&mut text, self.lines))?;
                self.held = text.into_bytes();
                self.check_held()?;
                continue;
            }
            let from = self.held.len();
            self.load(least)?;
            self.find_encoding(from)?;
        }
        Ok(())
    }

    /// Looks at what was just read; where it is not UTF-8, it is turned into it.
    fn find_encoding(&mut self, from: usize) -> Result<()> {
        let Some(wanted) = self.incoming.as_ref().and_then(|incoming| incoming.wants(&self.held, from)) else {
            return Ok(());
        };
        self.load(wanted)?;
        let is_beginning = self.held.len() as u64 == self.unpacked;
        let Some(incoming) = &mut self.incoming else { return Ok(()) };
        incoming.decide(self.name, &self.held, is_beginning)?;
        if let Incoming::Other(_, transcoder) = incoming {
            let mut text = String::with_capacity(self.held.len());
            transcoder.put(self.name, &self.held, self.is_at_end, (&mut text, self.lines))?;
            self.held = text.into_bytes();
        }
        Ok(())
    }

    /// Reads on until so many bytes are held as they are stored, or nothing is left.
    fn load(&mut self, least: usize) -> Result<()> {
        while self.held.len() < least && !self.is_at_end {
            let missing = (least - self.held.len()).min(BLOCK);
            self.held.reserve(missing);
            let read = self.reader.read(&mut self.held, missing).map_err(|source| match self.packing {
                Packing::Plain => Error::io(self.path, "read", source),
                packing => corrupt(self.name, packing),
            })?;
            self.is_at_end = read < missing;
            self.unpacked += read as u64;
            let most = self.memory.unpacked(self.reader.stored());
            if self.packing != Packing::Plain && self.unpacked > most {
                return Err(over(Place::file(self.name), "what is unpacked asks for more", most));
            }
            self.check_held()?;
        }
        Ok(())
    }

    /// A row that is too long to be held.
    fn check_held(&self) -> Result<()> {
        let limit = self.memory.limit(u64::MAX);
        match self.held.len() as u64 > limit {
            true => Err(over(Place::line(self.name, self.lines + 1), "the row asks for more", limit)),
            false => Ok(()),
        }
    }

    /// Whether this is a text, and not a file of another kind.
    pub(super) fn is_table(&mut self, options: &Options) -> Result<bool> {
        self.load(HEAD + 4)?;
        if self.held.is_empty() {
            return Err(Error::input(Place::file(self.name), "is empty: it holds no table"));
        }
        let is_text = match options.format {
            Some(format) => format == Format::Table,
            None => kind_of_bytes(self.name, &self.held)?.is_none(),
        };
        if is_text && !options.needs_rows() {
            self.incoming = Some(Incoming::Open(options.encoding));
            self.find_encoding(0)?;
            return Ok(true);
        }
        Ok(false)
    }

    /// Takes the header off, and finds out what stands between cells.
    pub(super) fn header(&mut self, separator: Option<u8>, declared: &Declared) -> Result<(Vec<Planned>, Reading)> {
        if self.held.starts_with("\u{feff}".as_bytes()) {
            self.held.drain(..3);
        }
        let mut least = HEAD;
        loop {
            self.hold(least)?;
            let end = if self.is_at_end { self.held.len() } else { memrchr(b'\n', &self.held).map_or(0, |at| at + 1) };
            let text = validate_part(self.name, &self.held[..end], 0)?;
            let separator = match separator {
                Some(separator) => separator,
                None => of_beginning(self.name, text, self.is_at_end)?,
            };
            let known = if self.is_at_end { text.len() } else { whole_rows(text, separator) };
            let mut rows = Rows::new(self.name, &text[..known], separator);
            let mut header = Vec::new();
            let mut reading = Reading { separator: Some(char::from(separator)), ..Reading::default() };
            while rows.next(&mut header)?.is_some() {
                if is_blank_row(&header) {
                    reading.blank_lines += 1;
                    continue;
                }
                reading.trimmed_cells = rows.trimmed();
                let header: Vec<String> = header.into_iter().map(Cow::into_owned).collect();
                let at = rows.at().min(known);
                self.lines = memchr_iter(b'\n', &self.held[..at]).count() as u64;
                self.held.drain(..at);
                return Ok((plan(self.name, &header, declared)?, reading));
            }
            if self.is_at_end {
                return Err(Error::input(Place::file(self.name), "is empty: it holds no table"));
            }
            least *= 2;
        }
    }

    /// Up to so many blocks of whole rows, each with the number of lines before it.
    fn blocks(&mut self, width: usize, size: usize, separator: u8) -> Result<Vec<(Vec<u8>, u64)>> {
        let mut blocks = Vec::with_capacity(width);
        while blocks.len() < width {
            match self.block(size.max(1), separator)? {
                Some(block) => blocks.push(block),
                None => break,
            }
        }
        Ok(blocks)
    }

    pub(super) fn block(&mut self, size: usize, separator: u8) -> Result<Option<(Vec<u8>, u64)>> {
        let mut least = size;
        loop {
            self.hold(least)?;
            if self.held.is_empty() {
                return Ok(None);
            }
            let is_all = self.is_at_end && self.held.len() <= least;
            let within = least.min(self.held.len());
            let mut end = if is_all { within } else { memrchr(b'\n', &self.held[..within]).map_or(0, |at| at + 1) };
            if !is_all && memchr(b'"', &self.held[..end]).is_some() {
                end = whole_rows(validate_part(self.name, &self.held[..end], self.lines)?, separator);
            }
            if end > 0 {
                let rest = self.held.split_off(end);
                let block = std::mem::replace(&mut self.held, rest);
                let lines = self.lines;
                self.lines += memchr_iter(b'\n', &block).count() as u64;
                return Ok(Some((block, lines)));
            }
            // A row is longer than a block.
            least = least.saturating_mul(2);
        }
    }

    /// The size of the file as stored, and its digest.
    fn finish(self) -> Result<(u64, String)> {
        let mut hashed = match self.reader {
            Unpacked::Plain(hashed) => hashed,
            Unpacked::Gzip(decoder) => decoder.into_inner().into_inner(),
            Unpacked::Zstandard(decoder) => decoder.finish().into_inner(),
        };
        io::copy(&mut hashed, &mut io::sink()).map_err(|source| Error::io(self.path, "read", source))?;
        Ok((hashed.bytes, hexadecimal(&hashed.hash.finalize())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::table::Role;

    fn given() -> Declared {
        let roles = [("a", Role::Quasi), ("b", Role::Sensitive)].map(|(name, role)| (name.to_owned(), role)).to_vec();
        Declared { roles, numeric: vec!["a".into()], ..Declared::default() }
    }

    fn counted(name: &str, bytes: &[u8], block: usize) -> Result<Streamed> {
        let mut file = tempfile::tempfile().unwrap();
        let rows = RowLog { file: &mut file, place: Path::new("rows"), with_values: true };
        count_bytes(name, bytes, &Options::default(), &given(), rows, block)
    }

    #[test]
    fn faults_are_those_of_the_whole() {
        let long = format!("a,b\n{}x,\"y\n\n\"\n", "1,\"u\nv\"\n".repeat(9000));
        for text in [
            "a,b\n1,x\nsecret,y\n",
            "a,b\n\"1\",\"x\n\"\n12345678901234567,secret\n",
            "a,b\n1,x\n2,secret,3\n",
            "a,b\n1,x\n2\n",
            "a,b\n1,\"secret\n2,x\n",
            "a,b\n1,\"x\"y\n2,x\n",
            "a,b\n",
            "\"a\n",
            "",
            "\n\n",
            "a,b\n1,\u{0}\n",
            "a,b\n1,x\r1,y\n",
            "a,c\n1,x\n",
            "PK\u{3}\u{4}",
            &long,
        ] {
            let whole = super::super::table_bytes("x.csv", text.as_bytes(), &Options::default(), &given()).unwrap_err();
            for block in [1, 3, 20, BLOCK] {
                let error = counted("x.csv", text.as_bytes(), block).err().unwrap();
                let told = |error: &Error| format!("{error} {:?}", error.hint());
                assert_eq!(told(&error), told(&whole), "{block} of {:?}", &text[..text.len().min(50)]);
            }
        }
    }

    #[test]
    fn packed_files_are_unpacked_on_the_way() {
        let text = format!("\u{feff}a,b\n{}", "1,x\n2.0,\"y\n\"\n2,\n".repeat(20_000));
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(text.as_bytes()).unwrap();
        let (gzip, zstandard) = (gzip.finish().unwrap(), zstd::encode_all(text.as_bytes(), 1).unwrap());
        for bytes in [text.as_bytes(), &gzip, &zstandard] {
            let Streamed { counted, intake, .. } = counted("x.csv", bytes, 5000).unwrap();
            let (_, whole) = super::super::table_bytes("x.csv", bytes, &Options::default(), &given()).unwrap();
            assert_eq!(intake, whole);
            assert_eq!((counted.n_groups(), counted.size(1), counted.n_rows()), (2, 40_000, 60_000));
            assert_eq!(counted.values(1, 0), [(1, 20_000), (2, 20_000)]);
        }
        for (bytes, kind) in [(&gzip, "gzip"), (&zstandard, "Zstandard")] {
            let error = counted("x.csv", &bytes[..bytes.len() / 2], BLOCK).err().unwrap();
            assert!(error.to_string().contains(kind) && error.to_string().contains("truncated"), "{error}");
        }
    }
}
