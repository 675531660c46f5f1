//! How does a file become data? Each format has one file with its reader and its writer.
//!
//! Nothing is dropped silently: what a reader leaves out it counts in [`Intake`], and where a file can be read in two
//! ways it asks instead of guessing. Messages name places, columns and headers, never values.

mod array;
mod basket;
mod builder;
#[cfg(feature = "parquet")]
mod columnar;
mod documents;
pub(crate) mod encoding;
pub mod extract;
pub mod flat;
mod hierarchy;
mod interest;
mod items;
mod join;
mod jsonl;
mod long;
mod opened;
#[cfg(feature = "parquet")]
mod parquet;
mod people;
pub mod policy;
mod reading;
pub(crate) mod readings;
mod recognise;
mod records;
pub mod rows;
mod source;
mod spmf;
mod table;
pub(crate) mod text;
pub mod values;
mod wide;
pub mod wordnet;
pub mod words;
#[cfg(feature = "workbooks")]
mod workbook;

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::data::{Dataset, Evidence, People, Visits};
use crate::error::{Error, Place, Result};
use crate::memory::{open_file, over};
use crate::observer::{Observer, Unobserved};
use builder::Counts;
use opened::{OfFile, by_rows, check_unpacked};
use records::sets_of_rows_with;

pub use documents::documents;
pub use encoding::Encoding;
pub use hierarchy::{
    HierarchyStyle, hierarchy, hierarchy_terms, parse_hierarchy, parse_hierarchy_terms, rooted_hierarchy,
    write_hierarchy,
};
pub use interest::{clusters, interest};
pub use items::items;
pub use reading::{Joined, Reading};
pub use records::sets_of_rows;
pub use source::{Files, Row, Rows, Sources, Told, count_table_from, read_sets, read_table_from};

/// A way to store records of terms in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// One record a line, terms separated by a character; FIMI is the case of numbers and spaces.
    Basket,
    /// The text format of the SPMF library, as transactions or sequences.
    Spmf,
    /// A CSV file with one (id, item) pair a row.
    Long,
    /// A CSV file with a header, where one column holds a list of terms.
    #[serde(rename = "csv")]
    Table,
    /// One JSON array, or object with an array, a line.
    #[serde(rename = "jsonl")]
    JsonLines,
    /// A Parquet file with a list column, or with an id and an item column.
    Parquet,
    /// An Arrow IPC file or stream (Feather), with the same.
    Arrow,
    /// A sheet of an Excel workbook.
    Xlsx,
    /// A sheet of an OpenDocument spreadsheet.
    Ods,
    /// No file: rows of a database. Nothing can be written in it, and nobody can ask for it.
    #[serde(skip_deserializing)]
    Database,
}

/// How to read a file, where its name and content do not say it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Options {
    /// The format, instead of recognising it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
    /// What stands between the fields of a line.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "as_character")]
    pub separator: Option<u8>,
    /// The column (or JSON field) that holds the list of terms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// The column that says whose row it is, in the long format; with a list column, the same as `person`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id_column: Option<String>,
    /// The column of terms, in the long format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item_column: Option<String>,
    /// What stands between the terms inside a list cell.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "as_character")]
    pub list_separator: Option<u8>,
    /// How the text is encoded, instead of finding it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<Encoding>,
    /// The sheet of a workbook, if it has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sheet: Option<String>,
    /// Columns that are one set-valued column together, `*` standing for anything: `DX*`, or `diagnoses=DX*` to name it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub set_columns: Vec<String>,
    /// Whether these columns hold zeros and ones, and their names are the terms.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub indicators: bool,
    /// A second table, joined by a key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub join: Option<Join>,
    /// A longer record is an error: most often the separator is wrong.
    pub max_record_terms: usize,
    /// The column that names people, who may have several rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
    /// What becomes of several rows of one person.
    #[serde(skip_serializing_if = "Visits::is_usual")]
    pub visits: Visits,
}

/// A table that is joined with the first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Join {
    /// Its file.
    pub file: PathBuf,
    /// The column that both have, or `FIRST=OTHER`.
    pub on: String,
}

impl Join {
    /// The name of the key in the first table and in this one.
    pub(crate) fn keys(&self) -> (&str, &str) {
        self.on.split_once('=').unwrap_or((&self.on, &self.on))
    }
}

impl Options {
    /// What stands between fields: as somebody said, or as it is found out.
    fn separator_or(&self, found: impl FnOnce() -> Result<u8>) -> Result<u8> {
        self.separator.map_or_else(found, Ok)
    }

    /// Whether columns are put together or joined, so that a file is read row by row.
    pub(crate) fn needs_rows(&self) -> bool {
        !self.set_columns.is_empty() || self.indicators || self.join.is_some()
    }
}

impl Default for Options {
    fn default() -> Self {
        Options {
            format: None,
            separator: None,
            column: None,
            id_column: None,
            item_column: None,
            list_separator: None,
            encoding: None,
            sheet: None,
            set_columns: Vec::new(),
            indicators: false,
            join: None,
            max_record_terms: 100_000,
            person: None,
            visits: Visits::default(),
        }
    }
}

/// As [`separator`] reads it back.
fn as_character<S: serde::Serializer>(separator: &Option<u8>, to: S) -> std::result::Result<S::Ok, S::Error> {
    separator.map(|byte| char::from(byte).to_string()).serialize(to)
}

/// What somebody wrote for a character between fields: the character itself, or the word tab or space.
pub fn separator(text: &str) -> Option<u8> {
    match text {
        "tab" | "\\t" => Some(b'\t'),
        "space" => Some(b' '),
        _ if text.len() == 1 => Some(text.as_bytes()[0]),
        _ => None,
    }
}

/// What a reader did with a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Intake {
    /// The file's name as given; `-` is standard input.
    pub file: String,
    /// The format it was read as.
    pub format: Format,
    /// Its size as stored, before decompression.
    pub bytes: u64,
    /// SHA-256 of its bytes as stored, in hexadecimal.
    pub sha256: String,
    /// Records kept.
    pub records: u64,
    /// Records without a term, left out.
    pub empty_records: u64,
    /// Fields without text in the records kept (two separators in a row, an empty string), left out.
    pub empty_terms: u64,
    /// Repetitions of a term within its record, collapsed.
    pub duplicate_terms: u64,
    /// How it was read, and what was repaired on the way.
    pub reading: Reading,
    /// Whose rows they were, if a column names people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub people: Option<People>,
    /// Signs of several rows a person, if none does.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub several: Vec<Evidence>,
}

impl Intake {
    /// What somebody should know, in sentences.
    pub fn notes(&self) -> Vec<String> {
        let counts = [
            (self.empty_records, "record without a term was left out", "records without a term were left out"),
            (self.empty_terms, "field without text was left out", "fields without text were left out"),
            (
                self.duplicate_terms,
                "repetition of a term within its record was collapsed",
                "repetitions of a term within its record were collapsed",
            ),
        ];
        reading::told(&counts).into_iter().chain(self.reading.notes()).collect()
    }
}

/// Reads a file, gzip and Zstandard included; `-` is standard input.
pub fn read(path: &Path, options: &Options) -> Result<(Dataset, Intake)> {
    read_file(path, options, &Unobserved)
}

fn read_file(path: &Path, options: &Options, observer: &dyn Observer) -> Result<(Dataset, Intake)> {
    let bytes = bytes_of(path, observer)?;
    bytes_read(&path.display().to_string(), &bytes, options, observer)
}

/// So much is read, unpacked or digested between two questions.
const PIECE: usize = 1 << 20;

/// All bytes of a file, or of the standard input; how much of a file is read is told.
fn bytes_of(path: &Path, observer: &dyn Observer) -> Result<Vec<u8>> {
    let cannot_read = |source| Error::io(path, "read", source);
    let name = path.display().to_string();
    if path == Path::new("-") {
        // How much there is shows at its end.
        return pieces(io::stdin().lock(), 0, (&name, observer.memory().limit(u64::MAX)), observer, cannot_read);
    }
    let file = open_file(path, "read")?;
    let size = file.metadata().map_or(0, |file| file.len());
    observer.memory().check(size, size, || Place::file(&name), "the file")?;
    pieces(file, size as usize, (&name, observer.memory().limit(u64::MAX)), observer, cannot_read)
}

/// Reads to the end, piece by piece, up to a limit; `size` is how much there is, if that is known. What the system says is `refused`.
fn pieces(
    mut from: impl Read,
    size: usize,
    (name, limit): (&str, u64),
    observer: &dyn Observer,
    refused: impl Fn(io::Error) -> Error,
) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(size);
    loop {
        observer.check();
        if from.by_ref().take(PIECE as u64).read_to_end(&mut bytes).map_err(&refused)? == 0 {
            return Ok(bytes);
        }
        if bytes.len() as u64 > limit {
            return Err(over(Place::file(name), "what is read asks for more", limit));
        }
        if size > 0 {
            observer.progress((bytes.len() as f64 / size as f64).min(1.0));
        }
    }
}

/// The digest of what was read.
fn digest(bytes: &[u8], observer: &dyn Observer) -> String {
    let mut hash = Sha256::new();
    for piece in bytes.chunks(PIECE) {
        observer.check();
        hash.update(piece);
    }
    hexadecimal(&hash.finalize())
}

/// Reads a file's bytes from memory; `name` serves to recognise the format and in messages.
pub fn read_bytes(name: &str, bytes: &[u8], options: &Options) -> Result<(Dataset, Intake)> {
    bytes_read(name, bytes, options, &Unobserved)
}

fn bytes_read(name: &str, bytes: &[u8], options: &Options, observer: &dyn Observer) -> Result<(Dataset, Intake)> {
    text::check_separator("separator", options.separator)?;
    text::check_separator("list-separator", options.list_separator)?;
    let options = &options.with_person()?;
    let by_rows = by_rows(name, bytes, options, observer, &mut |rows| sets_of_rows_with(rows, options, observer));
    if let Some(read) = by_rows {
        let ((dataset, intake), OfFile { format, bytes, sha256 }) = read?;
        return Ok((dataset, Intake { file: name.to_owned(), format, bytes, sha256, ..intake }));
    }
    let (sha256, parsed) = rayon::join(|| digest(bytes, observer), || parse(name, bytes, options, observer));
    made(name, (bytes.len() as u64, sha256), parsed?, options, observer)
}

/// Records of people, if a column names them, and what was read.
fn made(
    name: &str,
    (bytes, sha256): (u64, String),
    parsed: Parsed,
    options: &Options,
    observer: &dyn Observer,
) -> Result<(Dataset, Intake)> {
    let Parsed { format, dataset, mut counts, reading } = parsed;
    options.check_person(name, format)?;
    let (dataset, people) = people::by_person(dataset, &mut counts, options);
    let several = std::mem::take(&mut counts.several);
    let intake = intake((name, format), (bytes, sha256), &dataset, counts, reading, observer)?;
    let intake = Intake { people, several, ..intake };
    Ok((dataset, intake))
}

/// What was read, if there is a record in it.
fn intake(
    (name, format): (&str, Format),
    (bytes, sha256): (u64, String),
    dataset: &Dataset,
    counts: Counts,
    mut reading: Reading,
    observer: &dyn Observer,
) -> Result<Intake> {
    if dataset.records.is_empty() {
        return Err(Error::input(Place::file(name), "holds no record"));
    }
    reading.blank_lines += counts.blank_lines;
    reading.trimmed_cells += counts.trimmed_cells;
    let intake = Intake {
        file: name.to_owned(),
        format,
        bytes,
        sha256,
        records: dataset.records.len() as u64,
        empty_records: counts.empty_records,
        empty_terms: counts.empty_terms,
        duplicate_terms: counts.duplicate_terms,
        reading,
        people: None,
        several: Vec::new(),
    };
    intake.notes().iter().for_each(|note| observer.warn(note));
    Ok(intake)
}

/// Writes the records in a format that [`read`] takes back, with the same ids; `path` serves in messages only.
///
/// The long format numbers the records, the table has the one column `items`.
pub fn write(dataset: &Dataset, format: Format, path: &Path, out: &mut dyn Write) -> Result<()> {
    if !matches!(format, Format::JsonLines | Format::Parquet) && !dataset.dictionary.iter().all(fits_in_a_line) {
        let problem = format!("a term is empty or holds a line break or control character, which {format} cannot hold");
        return Err(Error::input(Place::file(path.display().to_string()), problem).with_hint("write jsonl or parquet"));
    }
    match format {
        Format::Basket => basket::write(dataset, out),
        Format::Spmf => spmf::write(dataset, out),
        Format::Long => long::write(dataset, out),
        Format::Table => table::write(dataset, out),
        Format::JsonLines => jsonl::write(dataset, out),
        Format::Parquet => return parquet::write(dataset, path, out),
        Format::Database => return Err(not_of_files()),
        Format::Arrow | Format::Xlsx | Format::Ods => {
            let hint = "write csv or parquet: every program that reads this format reads one of them";
            return Err(Error::recipe("to_format", format!("{format} is read, and not written"), hint));
        }
    }
    .and_then(|()| out.flush())
    .map_err(|source| Error::io(path, "write", source))
}

/// Records, what was left out of them, and what separates them.
type Separated = (Dataset, Counts, u8);

/// What a file holds.
struct Parsed {
    format: Format,
    dataset: Dataset,
    counts: Counts,
    reading: Reading,
}

fn parse(name: &str, raw: &[u8], options: &Options, observer: &dyn Observer) -> Result<Parsed> {
    let bytes = decompress(name, raw, observer)?;
    if bytes.is_empty() {
        return Err(Error::input(Place::file(name), "is empty: it holds no record"));
    }
    let kind = if options.format.is_none() { recognise::kind_of_bytes(name, &bytes)? } else { options.format };
    let mut reading = Reading::default();
    check_unpacked(name, kind)?;
    if kind == Some(Format::Parquet) {
        let (dataset, counts) = parquet::read(name, &bytes, options, observer)?;
        return Ok(Parsed { format: Format::Parquet, dataset, counts, reading });
    }
    observer.check();
    let (text, known) = encoding::decode(name, &bytes, options.encoding)?;
    reading.set_encoding(known);
    observer.check();
    let (format, separator) = recognise::text_format(name, &text, options)?;
    let is_stated = options.format.is_some() || recognise::is_named_basket(name);
    options.check_person(name, format)?;
    // In the long format whoever is named by an id is a person.
    let ids = if format == Format::Long { &options.person } else { &None };
    let id_column = options.id_column.clone().or_else(|| ids.clone());
    let options = Options { separator, id_column, format: is_stated.then_some(format), ..options.clone() };
    let separated = |(dataset, counts, separator)| (dataset, counts, Some(separator));
    let plain = |(dataset, counts)| (dataset, counts, None);
    let (dataset, counts, separator) = match format {
        Format::Basket => basket::read(name, &text, &options, observer).map(separated),
        Format::Long => long::read(name, &text, &options, observer).map(separated),
        Format::Table => table::read(name, &text, &options, observer).map(separated),
        Format::Spmf => spmf::read(name, &text, &options, observer).map(plain),
        Format::JsonLines => jsonl::read(name, &text, &options, observer).map(plain),
        Format::Parquet | Format::Arrow | Format::Xlsx | Format::Ods => {
            Err(Error::Internal("a file of another kind was taken for text"))
        }
        Format::Database => Err(not_of_files()),
    }?;
    reading.separator = separator.map(char::from);
    Ok(Parsed { format, dataset, counts, reading })
}

/// The error for a file that shall be a database.
fn not_of_files() -> Error {
    Error::recipe("format", "files are not read or written as a database", format!("one of {FORMATS}"))
}

/// How a file is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Packing {
    Plain,
    Gzip,
    Zstandard,
}

/// How a SQLite database begins.
const SQLITE: &[u8] = b"SQLite format 3\0";

/// As many bytes of a file as tell what it is.
const MAGIC: usize = SQLITE.len();

/// Known by the first bytes, whatever the file's name.
fn packing(name: &str, head: &[u8]) -> Result<Packing> {
    if head.starts_with(&[0x1f, 0x8b]) {
        return Ok(Packing::Gzip);
    }
    if head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        return Ok(Packing::Zstandard);
    }
    if head.starts_with(SQLITE) {
        return Err(Error::input(Place::file(name), "is a SQLite database, not data in a known format")
            .with_hint("name one of its tables by a URL, sqlite:FILE?table=NAME, or export the table as CSV"));
    }
    Ok(Packing::Plain)
}

/// Unpacks gzip and Zstandard.
fn decompress<'a>(name: &str, raw: &'a [u8], observer: &dyn Observer) -> Result<Cow<'a, [u8]>> {
    let packing = packing(name, raw)?;
    let limit = (name, observer.memory().limit(raw.len() as u64));
    let corrupt = |_| corrupt(name, packing);
    let unpacked = match packing {
        Packing::Plain => return Ok(Cow::Borrowed(raw)),
        Packing::Gzip => pieces(flate2::read::MultiGzDecoder::new(raw), 0, limit, observer, corrupt),
        Packing::Zstandard => pieces(zstandard(raw).map_err(corrupt)?, 0, limit, observer, corrupt),
    };
    unpacked.map(Cow::Owned)
}

/// A frame may ask the decoder for a window of 2^27 bytes, which is what the strongest level writes, and for no more.
const WINDOW_LOG: u32 = 27;

/// Unpacks Zstandard.
fn zstandard<'a, R: io::BufRead>(from: R) -> io::Result<zstd::stream::read::Decoder<'a, R>> {
    let mut decoder = zstd::stream::read::Decoder::with_buffer(from)?;
    decoder.window_log_max(WINDOW_LOG)?;
    Ok(decoder)
}

fn corrupt(name: &str, packing: Packing) -> Error {
    let kind = if packing == Packing::Gzip { "gzip" } else { "Zstandard" };
    let problem = format!("cannot be unpacked: the {kind} data are truncated or corrupt");
    Error::input(Place::file(name), problem).with_hint("copy or download the file again")
}

fn fits_in_a_line(term: &str) -> bool {
    !term.is_empty() && !term.bytes().any(|byte| byte < b' ' && byte != b'\t')
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The formats of files by name, for messages.
const FORMATS: &str = "basket, spmf, long, csv, jsonl, parquet, arrow, xlsx, ods";

/// The formats that somebody can ask for.
const NAMES: [(&str, Format); 9] = [
    ("basket", Format::Basket),
    ("spmf", Format::Spmf),
    ("long", Format::Long),
    ("csv", Format::Table),
    ("jsonl", Format::JsonLines),
    ("parquet", Format::Parquet),
    ("arrow", Format::Arrow),
    ("xlsx", Format::Xlsx),
    ("ods", Format::Ods),
];

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NAMES.iter().find(|(_, format)| format == self).map_or("database", |(name, _)| name))
    }
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        NAMES
            .iter()
            .find(|(name, _)| *name == text)
            .map(|&(_, format)| format)
            .ok_or_else(|| Error::recipe("format", "unknown format", format!("one of {FORMATS}")))
    }
}

/// Stands in for the Parquet reader where it is not compiled in.
#[cfg(not(feature = "parquet"))]
mod parquet {
    use super::{Counts, Dataset, Error, Observer, Options, Path, Result, Write};

    pub(super) fn read(_: &str, _: &[u8], _: &Options, _: &dyn Observer) -> Result<(Dataset, Counts)> {
        Err(absent())
    }

    pub(super) fn write(_: &Dataset, _: &Path, _: &mut dyn Write) -> Result<()> {
        Err(absent())
    }

    fn absent() -> Error {
        Error::recipe("format", "this build of disjoin has no Parquet", "build with the feature parquet, or use jsonl")
    }
}

/// Stands in for the reader of workbooks where it is not compiled in.
#[cfg(not(feature = "workbooks"))]
mod workbook {
    use super::{Error, Format, Observer, Result, Rows};

    pub(super) fn rows(_: &str, _: &[u8], _: Format, _: Option<&str>, _: &dyn Observer) -> Result<Rows<'static>> {
        let hint = "build with the feature workbooks, or save the sheet as csv";
        Err(Error::recipe("format", "this build of disjoin reads no workbooks", hint))
    }
}

/// Stands in for the readers of columns in batches where they are not compiled in.
#[cfg(not(feature = "parquet"))]
mod columnar {
    use super::{Error, Observer, Result, Rows};

    pub(super) fn of_parquet(_: &str, _: &[u8], _: &dyn Observer) -> Result<Rows<'static>> {
        Err(absent())
    }

    pub(super) fn of_arrow(_: &str, _: &[u8], _: &dyn Observer) -> Result<Rows<'static>> {
        Err(absent())
    }

    fn absent() -> Error {
        let hint = "build with the feature parquet, or use csv";
        Error::recipe("format", "this build of disjoin has neither Parquet nor Arrow", hint)
    }
}

/// What the tests of all formats use.
#[cfg(test)]
mod testing {
    use super::*;
    use rand::{RngExt, SeedableRng};

    pub(super) fn read_as(format: Format) -> Options {
        Options { format: Some(format), ..Options::default() }
    }

    /// The records as texts, in order of id.
    pub(super) fn texts(dataset: &Dataset) -> Vec<Vec<String>> {
        let text = |&term| dataset.dictionary.text(term).to_owned();
        dataset.records.iter().map(|record| record.iter().map(text).collect()).collect()
    }

    /// Reads `text` and compares with `expected`, texts and ids.
    pub(super) fn check(name: &str, text: &str, expected: &[&[&str]]) {
        let (dataset, _) = read_bytes(name, text.as_bytes(), &Options::default()).unwrap();
        let expected = Dataset::from_texts(expected.iter().map(|record| record.iter()));
        assert_eq!(texts(&dataset), texts(&expected), "{name} {text:?}");
        assert!(dataset.dictionary.iter().eq(expected.dictionary.iter()), "{name} {text:?}");
    }

    /// Expects an input error at the line, or at the whole file.
    pub(super) fn check_fault(name: &str, text: &str, line: Option<u64>) -> Error {
        match read_bytes(name, text.as_bytes(), &Options::default()) {
            Err(Error::Input { place, problem, hint }) => {
                assert_eq!(place.line, line, "{problem}: {}", &text[..text.len().min(200)]);
                Error::Input { place, problem, hint }
            }
            other => panic!("{name}: {other:?}"),
        }
    }

    /// Writes and reads back random data whose terms are as awkward as the format allows.
    pub(super) fn round_trip(format: Format, name: &str, options: &Options) {
        const AWKWARD: [&str; 22] = [
            "a",
            "1",
            "01",
            "-1",
            "-2",
            "whole milk",
            " padded ",
            "a,b",
            "a;b",
            "a|b",
            "a\tb",
            "\"",
            "say \"x\"",
            "é",
            "日本",
            "@ITEM=1=x",
            "#x",
            "%",
            "\u{feff}",
            "[",
            "item",
            "x -1 y",
        ];
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(format as u64);
        for round in 0..300 {
            let pool: Vec<String> = match round % 3 {
                0 => AWKWARD.map(str::to_owned).to_vec(),
                1 => (0..30).map(|number| number.to_string()).collect(),
                _ => (0..5).map(|_| AWKWARD[rng.random_range(0..AWKWARD.len())].to_owned()).collect(),
            };
            let longest = rng.random_range(1..7);
            let records: Vec<Vec<&String>> = (0..rng.random_range(1..12))
                .map(|_| (0..rng.random_range(1..=longest)).map(|_| &pool[rng.random_range(0..pool.len())]).collect())
                .collect();
            let dataset = Dataset::from_texts(records);
            let mut bytes = Vec::new();
            write(&dataset, format, Path::new(name), &mut bytes).unwrap();
            let (again, intake) = read_bytes(name, &bytes, options).unwrap();
            let shown = String::from_utf8_lossy(&bytes);
            assert_eq!(intake.format, format, "{shown}");
            assert_eq!(texts(&again), texts(&dataset), "{shown}");
            assert_eq!(again.records, dataset.records, "{shown}");
            assert_eq!((intake.empty_records, intake.duplicate_terms), (0, 0), "{shown}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{check_fault, read_as, texts};
    use super::*;

    #[test]
    fn compression_is_known_by_content() {
        let plain = b"a b\nb c\n";
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(plain).unwrap();
        let gzip = gzip.finish().unwrap();
        let zstd = zstd::stream::encode_all(&plain[..], 1).unwrap();
        for packed in [&gzip, &zstd] {
            for name in ["x.dat", "x.dat.gz", "x.txt.zst", "-"] {
                let (dataset, intake) = read_bytes(name, packed, &Options::default()).unwrap();
                assert_eq!(texts(&dataset), [["a", "b"], ["b", "c"]]);
                assert_eq!(intake.bytes, packed.len() as u64);
            }
            for end in 4..packed.len() {
                let error = read_bytes("x.dat", &packed[..end], &Options::default()).unwrap_err();
                assert!(matches!(error, Error::Input { .. }), "{end}: {error}");
            }
        }
        let two_members = [gzip.clone(), gzip].concat();
        assert_eq!(read_bytes("x.dat", &two_members, &Options::default()).unwrap().1.records, 4);
    }

    #[test]
    fn nothing_is_not_a_dataset() {
        for text in ["", "\n\n", "\u{feff}"] {
            let error = check_fault("x.dat", text, None);
            assert!(error.to_string().contains("holds no record"));
        }
        for format in NAMES.map(|(_, format)| format) {
            assert!(matches!(read_bytes("x", b"", &read_as(format)), Err(Error::Input { .. })), "{format}");
        }
    }

    #[test]
    fn binary_junk_is_refused() {
        check_fault("x.dat", "1 2\n3 \0\n", Some(2));
        check_fault("x.dat", "PK\u{3}\u{4}", None);
        for format in NAMES.map(|(_, format)| format) {
            let (is_columnar, is_workbook) =
                (matches!(format, Format::Parquet | Format::Arrow), matches!(format, Format::Xlsx | Format::Ods));
            if cfg!(not(feature = "parquet")) && is_columnar || cfg!(not(feature = "workbooks")) && is_workbook {
                continue;
            }
            let error = read_bytes("x", b"a\n\xff\xfe\n", &read_as(format)).unwrap_err();
            let is_text = !matches!(format, Format::Parquet | Format::Arrow | Format::Xlsx | Format::Ods);
            let line = is_text.then_some(2);
            assert!(matches!(error, Error::Input { place, .. } if place.line == line), "{format}");
        }
    }

    #[test]
    fn files_are_read_and_missing_ones_reported() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.dat");
        std::fs::write(&path, "abc").unwrap();
        let (_, intake) = read(&path, &Options::default()).unwrap();
        assert_eq!(intake.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(intake.file, path.display().to_string());
        for path in [folder.path(), &folder.path().join("none.csv")] {
            assert!(matches!(read(path, &Options::default()), Err(Error::Io { .. })));
        }
    }

    #[test]
    fn separators_are_checked() {
        for byte in [b'"', b'\n', b'\r', b'a', b'5', 0, 0xe9] {
            let options = Options { separator: Some(byte), ..Options::default() };
            assert!(matches!(read_bytes("x.dat", b"a", &options), Err(Error::Recipe { .. })));
        }
    }

    #[test]
    fn text_formats_refuse_terms_that_break_lines() {
        let dataset = Dataset::from_texts([["a\nb"]]);
        for format in [Format::Basket, Format::Spmf, Format::Long, Format::Table] {
            assert!(matches!(write(&dataset, format, Path::new("x"), &mut Vec::new()), Err(Error::Input { .. })));
        }
        let mut bytes = Vec::new();
        write(&dataset, Format::JsonLines, Path::new("x"), &mut bytes).unwrap();
        assert_eq!(texts(&read_bytes("x.jsonl", &bytes, &Options::default()).unwrap().0), [["a\nb"]]);
    }

    #[test]
    fn formats_have_names() {
        for (name, format) in NAMES {
            assert_eq!(name.parse::<Format>().unwrap(), format);
            assert_eq!(format.to_string(), name);
            assert_eq!(serde_json::to_string(&format).unwrap(), format!("\"{name}\""));
        }
        assert!("xml".parse::<Format>().is_err());
        assert_eq!(FORMATS, NAMES.map(|(name, _)| name).join(", "));
    }

    #[test]
    fn nobody_can_ask_for_a_database_in_a_file() {
        assert_eq!(Format::Database.to_string(), "database");
        assert_eq!(serde_json::to_string(&Format::Database).unwrap(), "\"database\"");
        assert!("database".parse::<Format>().is_err());
        assert!(serde_json::from_str::<Format>("\"database\"").is_err());
        let dataset = Dataset::from_texts([["a"]]);
        let written = write(&dataset, Format::Database, Path::new("x"), &mut Vec::new());
        assert!(matches!(written, Err(Error::Recipe { .. })));
        assert!(matches!(read_bytes("x", b"a", &read_as(Format::Database)), Err(Error::Recipe { .. })));
    }

    #[test]
    fn sqlite_files_are_known_by_content() {
        let bytes = [SQLITE, &[16, 0, 1, 1, 0]].concat();
        let declared = rows::Declared::default();
        let mut file = tempfile::tempfile().unwrap();
        let log = rows::RowLog { file: &mut file, place: Path::new("rows"), with_values: false };
        let errors = [
            read_bytes("x.csv", &bytes, &Options::default()).unwrap_err(),
            rows::table_bytes("x.csv", &bytes, &Options::default(), &declared).unwrap_err(),
            rows::count_bytes("x.csv", &bytes, &Options::default(), &declared, log, 1000).err().unwrap(),
        ];
        for error in errors {
            assert!(error.to_string().starts_with("x.csv: is a SQLite database"), "{error}");
            assert!(error.hint().unwrap().contains("?table="), "{error:?}");
        }
    }

    #[test]
    fn no_bytes_make_a_reader_panic() {
        use rand::{RngExt, SeedableRng};
        let pieces = [
            "\"", ",", ";", "|", " ", "\t", "\n", "\r\n", "a", "1", "-1", "-2", "é", "[", "]", "{", "}", ":", "id",
            "item", "@ITEM=1=", "null", "\\",
        ];
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(2);
        for round in 0..4000 {
            let text: String =
                (0..rng.random_range(0..25)).map(|_| pieces[rng.random_range(0..pieces.len())]).collect();
            for format in NAMES.map(|(_, format)| format) {
                let _ = read_bytes("x", text.as_bytes(), &read_as(format));
            }
            let column = (round % 2 == 0).then(|| "item".to_owned());
            let list_separator = (round % 3 == 0).then_some(b' ');
            let options = Options { column, list_separator, ..Options::default() };
            for name in ["x.csv", "x.tsv", "x.dat", "-"] {
                let _ = read_bytes(name, text.as_bytes(), &options);
            }
        }
    }
}
