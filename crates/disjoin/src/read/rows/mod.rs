//! A table of people in which every column has a declared role: from CSV, from Parquet, or from any rows of cells.
//!
//! Promises:   no role is guessed: a column that nobody declared is an error. Columns of identifiers are never stored.
//!             Messages name files, lines and columns, never the value of a cell
//! Assumes:    a header; cells of CSV follow `text.rs`. An empty cell has no value, nor has one with a text that was
//!             declared to mean so
//! Departs:    a table of one column may have blank lines, which are no rows; a missing value is written as `""`
//! Cost:       one pass, on all cores if the file has no quote; four bytes a cell, and each different text of a column once
//! Checked by: tests in this file, and `tests/it/table_release.rs`

mod cells;
mod csv;
mod gather;
#[cfg(feature = "parquet")]
mod parquet;
mod roles;
mod scan;
mod sink;
mod stream;
mod typed;

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::builder::check_count;
use super::encoding::decode;
use super::opened::{OfFile, by_rows, check_unpacked};
use super::people::strongest;
use super::reading::Reading;
use super::recognise::kind_of_bytes;
use super::text::check_separator;
use super::values::{DateOrder, Decimal};
use super::{Format, Options, bytes_of, decompress, digest};
use crate::data::table::{Column, Domain, Role};
use crate::data::{Evidence, People, Table, Visits};
use crate::error::{Error, Place, Result};
use crate::observer::{Observer, Unobserved};
pub use cells::table_of_rows;
pub(super) use cells::table_of_rows_with;
pub use gather::Renumbered;
#[cfg(feature = "parquet")]
pub(super) use parquet::{has_text, value_text};
use roles::Planned;
pub use scan::{Seen, Shape, scan_table, shape_of};
use sink::Sink;
pub use stream::{RowLog, Streamed, count_bytes, count_rows, count_table};

/// What somebody says about the columns of a table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Declared {
    /// What each column is for. All of them must be named, and each once.
    pub roles: Vec<(String, Role)>,
    /// What columns are for that are not named, where data are only looked at; without it they are refused.
    #[serde(skip)]
    pub rest: Option<Role>,
    /// Columns whose values are numbers.
    pub numeric: Vec<String>,
    /// Texts that mean that there is no value, besides empty cells.
    pub missing: Vec<String>,
    /// Columns with the file that says what generalises what in them.
    pub hierarchies: Vec<(String, PathBuf)>,
    /// What stands between the terms of a cell of the set-valued column, where its cells do not tell.
    pub list_separator: Option<u8>,
    /// Columns of dates: generalised by month, quarter, year and decade.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dates: Vec<String>,
    /// Columns of codes: generalised by what they begin with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prefixes: Vec<String>,
    /// Columns whose cells are names, also if they look like numbers or dates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
    /// The order of day and month, where the dates of a column do not show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date_order: Option<DateOrder>,
    /// What stands before decimals, where the numbers of a column do not show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decimal: Option<Decimal>,
    /// Columns that somebody confirmed may be published as they are, though they are near-unique or free text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub publish_as_is: Vec<String>,
    /// Whether quasi-identifiers of which nobody said what they are are read as the numbers or dates that they look like. What was
    /// found so is declared in custody, so that the original is read in the same way again.
    #[serde(skip)]
    pub detect: bool,
    /// The column that names people, who may have several rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
    /// What becomes of several rows of one person.
    #[serde(default, skip_serializing_if = "Visits::is_usual")]
    pub visits: Visits,
}

impl Declared {
    /// Whether a column is one of sets.
    pub fn has_sets(&self) -> bool {
        self.roles.iter().any(|(_, role)| *role == Role::Set)
    }

    /// The same, with what was found on reading said.
    #[must_use]
    pub fn with_readings(&self, readings: &[ColumnReading]) -> Declared {
        let mut declared = self.clone();
        for reading in readings.iter().filter(|reading| !reading.declared) {
            match reading.kind {
                ColumnType::Numbers => declared.numeric.push(reading.column.clone()),
                ColumnType::Dates => declared.dates.push(reading.column.clone()),
                ColumnType::Codes | ColumnType::Words => {}
            }
        }
        declared
    }
}

/// How a column was read, where that is not plain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ColumnReading {
    /// The column.
    pub column: String,
    /// What its cells are.
    pub kind: ColumnType,
    /// In words.
    pub text: String,
    /// Whether somebody declared it; what was found by itself is worth a warning.
    pub declared: bool,
}

/// What the cells of a column were read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ColumnType {
    /// Numbers, generalised to ranges.
    Numbers,
    /// Dates, generalised by month, quarter, year and decade.
    Dates,
    /// Codes, generalised by what they begin with.
    Codes,
    /// Names.
    Words,
}

/// What a reader found in a table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TableIntake {
    /// The file's name as given; `-` is standard input.
    pub file: String,
    /// What it was read as: `csv`, `parquet`, or where else the rows came from.
    pub format: String,
    /// Its size as stored, before decompression.
    pub bytes: u64,
    /// SHA-256 of its bytes as stored, in hexadecimal.
    pub sha256: String,
    /// Rows; of people, if a column names them and their rows do not stay apart.
    pub rows: u64,
    /// The names of all columns, identifiers included, in order.
    pub columns: Vec<String>,
    /// Cells without a value, in the columns that are kept; empty sets are not among them.
    pub missing: u64,
    /// How it was read, and what was repaired on the way.
    pub reading: Reading,
    /// How columns were read, where that is not plain.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub column_readings: Vec<ColumnReading>,
    /// Whose rows they were, if a column names people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub people: Option<People>,
    /// Signs of several rows a person, if none does.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub several: Vec<Evidence>,
}

/// Reads a table, gzip and Zstandard included; `-` is standard input.
pub fn read_table(path: &Path, options: &Options, declared: &Declared) -> Result<(Table, TableIntake)> {
    read_table_file(path, options, declared, &Unobserved)
}

pub(in crate::read) fn read_table_file(
    path: &Path,
    options: &Options,
    declared: &Declared,
    observer: &dyn Observer,
) -> Result<(Table, TableIntake)> {
    let bytes = bytes_of(path, observer)?;
    table_of_bytes(&path.display().to_string(), &bytes, options, declared, observer)
}

/// Reads a table's bytes from memory; `name` serves to recognise the format and in messages. Of the options the format and
/// the separator count, and how many terms a set may have.
pub fn table_bytes(name: &str, bytes: &[u8], options: &Options, declared: &Declared) -> Result<(Table, TableIntake)> {
    table_of_bytes(name, bytes, options, declared, &Unobserved)
}

fn table_of_bytes(
    name: &str,
    bytes: &[u8],
    options: &Options,
    declared: &Declared,
    observer: &dyn Observer,
) -> Result<(Table, TableIntake)> {
    check_separator("separator", options.separator)?;
    check_separator("list-separator", declared.list_separator)?;
    if let Some(parsed) = table_of_other_rows(name, bytes, options, declared, observer) {
        return parsed;
    }
    let (sha256, parsed) = rayon::join(|| digest(bytes, observer), || parse(name, bytes, options, declared, observer));
    let (format, body) = parsed?;
    observer.check();
    let columns = body.plan.iter().map(|column| column.name.clone()).collect();
    let Finished { table, reading, readings, people, several } =
        body.finish(name, declared, options.max_record_terms)?;
    reading.notes().iter().for_each(|note| observer.warn(note));
    let intake = TableIntake {
        file: name.to_owned(),
        format: format.to_string(),
        bytes: bytes.len() as u64,
        sha256,
        rows: table.n_rows() as u64,
        columns,
        missing: n_missing(&table),
        reading,
        column_readings: readings,
        people,
        several,
    };
    Ok((table, intake))
}

/// The table of a file that is read as rows of texts, if this is one.
fn table_of_other_rows(
    name: &str,
    bytes: &[u8],
    options: &Options,
    declared: &Declared,
    observer: &dyn Observer,
) -> Option<Result<(Table, TableIntake)>> {
    by_rows(name, bytes, options, observer, &mut |rows| table_of_rows_with(rows, options, declared, observer)).map(
        |read| {
            let ((table, intake), of_file) = read?;
            let OfFile { format, bytes, sha256 } = of_file;
            Ok((table, TableIntake { file: name.to_owned(), format: format.to_string(), bytes, sha256, ..intake }))
        },
    )
}

/// How many cells of the columns have no value.
fn n_missing(table: &Table) -> u64 {
    let missing = |column: &&Column| column.domain.has_missing();
    let count = |column: &Column| {
        let missing = column.domain.missing();
        column.codes.iter().filter(|&&code| code == missing).count() as u64
    };
    table.columns.iter().filter(missing).map(count).sum()
}

fn parse(
    name: &str,
    raw: &[u8],
    options: &Options,
    declared: &Declared,
    observer: &dyn Observer,
) -> Result<(Format, Body)> {
    let bytes = decompress(name, raw, observer)?;
    if bytes.is_empty() {
        return Err(Error::input(Place::file(name), "is empty: it holds no table"));
    }
    let format = match options.format {
        Some(format @ (Format::Table | Format::Parquet)) => format,
        Some(_) => {
            let hint = "use csv, parquet, arrow, xlsx or ods";
            return Err(Error::recipe("format", "a table of people is a file with columns", hint));
        }
        None => kind_of_bytes(name, &bytes)?.unwrap_or(Format::Table),
    };
    check_unpacked(name, Some(format))?;
    if format == Format::Parquet {
        return Ok((format, parquet::read(name, &bytes, declared, observer)?));
    }
    let (text, known) = decode(name, &bytes, options.encoding)?;
    let mut body = csv::read(name, &text, options.separator, declared, observer)?;
    body.reading.set_encoding(known);
    Ok((format, body))
}

/// A table in the making.
struct Body {
    /// What each column of the file is.
    plan: Vec<Planned>,
    /// What has been read of each.
    sinks: Vec<Sink>,
    n_rows: usize,
    reading: Reading,
}

/// A table, and what is known of how it was read.
struct Finished {
    table: Table,
    reading: Reading,
    readings: Vec<ColumnReading>,
    /// Whose rows they were, and signs of several rows a person.
    people: Option<People>,
    several: Vec<Evidence>,
}

impl Body {
    fn new(plan: Vec<Planned>) -> Self {
        let sinks = plan.iter().map(Sink::new).collect();
        Body { plan, sinks, n_rows: 0, reading: Reading::default() }
    }

    fn finish(mut self, name: &str, declared: &Declared, most_terms: usize) -> Result<Finished> {
        if self.n_rows == 0 {
            return Err(Error::input(Place::file(name), "holds a header, and no row"));
        }
        check_count(name, self.n_rows)?;
        let mut n_rows = self.n_rows;
        let (mut columns, mut sets, mut people) = (Vec::new(), None, None);
        let mut several = Vec::new();
        for (column, sink) in self.plan.iter().zip(self.sinks) {
            match (column.role, sink) {
                (_, sink) if column.person => {
                    let of_row = sink.into_cells().map(|(_, codes)| codes).unwrap_or_default();
                    people = Some(People::new(&column.name, of_row, declared.visits));
                }
                (Role::Identifier, Sink::Watch(repeats)) => several.extend(repeats.evidence(&column.name)),
                (Role::Identifier, _) => {}
                (Role::Set, sink) => {
                    sets = sink.into_sets(column, name, declared.list_separator, most_terms, &mut self.reading)?
                }
                (_, sink) => columns.push((column, sink)),
            }
        }
        let made = columns.into_par_iter().filter_map(|(column, sink)| sink.into_column(column, declared, name));
        let made: Vec<(Column, Option<ColumnReading>)> = made.collect::<Result<_>>()?;
        let (mut columns, readings): (Vec<Column>, Vec<Option<ColumnReading>>) = made.into_iter().unzip();
        if let Some(people) = &mut people {
            (n_rows, columns, sets) = people.fold_table(columns, sets)?;
        }
        for (named, path) in &declared.hierarchies {
            if let Some(column) = columns.iter_mut().find(|column| column.name == *named) {
                put_hierarchy(&mut column.domain, named, path)?;
            }
        }
        let table = Table::new(n_rows, columns, sets);
        let readings = readings.into_iter().flatten().collect();
        Ok(Finished { table, reading: self.reading, readings, people, several: strongest(several) })
    }
}

fn put_hierarchy(domain: &mut Domain, column: &str, path: &Path) -> Result<()> {
    let hierarchy = super::hierarchy(path, domain.texts()).map_err(|error| match error {
        Error::Input { place, problem, hint } => Error::Input { place: place.in_column(column), problem, hint },
        other => other,
    })?;
    domain.set_hierarchy(hierarchy);
    Ok(())
}

/// Stands in for the Parquet reader where it is not compiled in.
#[cfg(not(feature = "parquet"))]
mod parquet {
    use super::{Body, Declared, Error, Observer, Result};

    use crate::memory::Memory;

    pub(super) fn read(_: &str, _: &[u8], _: &Declared, _: &dyn Observer) -> Result<Body> {
        Err(absent())
    }

    pub(super) fn header(_: &str, _: &[u8], _: Memory) -> Result<(Vec<String>, Vec<usize>)> {
        Err(absent())
    }

    pub(super) fn scan(
        _: &str,
        _: &[u8],
        _: &dyn Observer,
        _: &mut dyn FnMut(&[std::borrow::Cow<'_, str>]),
    ) -> Result<()> {
        Err(absent())
    }

    fn absent() -> Error {
        Error::recipe("format", "this build of disjoin has no Parquet", "build with the feature parquet, or use csv")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    use Role::{Identifier, Other, Quasi, Sensitive, Set};

    fn declared(roles: &[(&str, Role)], numeric: &[&str]) -> Declared {
        let roles = roles.iter().map(|(name, role)| (name.to_string(), *role)).collect();
        let numeric = numeric.iter().map(|name| name.to_string()).collect();
        Declared { roles, numeric, ..Declared::default() }
    }

    fn read(text: &str, declared: &Declared) -> Result<(Table, TableIntake)> {
        table_bytes("x.csv", text.as_bytes(), &Options::default(), declared)
    }

    /// All columns as texts.
    fn texts<'a>(table: &'a Table) -> Vec<Vec<&'a str>> {
        let texts = |column: &'a Column| column.codes.iter().map(|&code| column.domain.text(code)).collect();
        table.columns.iter().map(texts).collect()
    }

    #[test]
    fn tables_are_read_with_any_separator() {
        let mut given = declared(&[("id", Identifier), ("age", Quasi), ("note", Other), ("ill", Sensitive)], &["age"]);
        given.missing = vec!["NA".into()];
        for (text, separator) in [
            ("id,age,note,ill\n1,30.0,\"a, \"\"b\"\"\",flu\n\n2,NA,,hiv\r\n3, -4 ,\" x \",NA\n", None),
            ("id\tage\tnote\till\n1\t30\ta, \"b\"\tflu\n2\t\tNA\thiv\n3\t-4.0\t\" x \"\t\n", None),
            ("id;age;note;ill\n1;3e1;a, \"b\";flu\n2;NA;;hiv\n3;-4;\" x \";NA", None),
            ("id|age|note|ill\n1|+30|a, \"b\"|flu\n2|NA|NA|hiv\n3|-4|\" x \"|NA", None),
            ("id/age/note/ill\n1/30/a, \"b\"/flu\n2/NA/NA/hiv\n3/-4/\" x \"/NA", Some(b'/')),
        ] {
            let options = Options { separator, ..Options::default() };
            let (table, intake) = table_bytes("x.csv", text.as_bytes(), &options, &given).unwrap();
            assert_eq!(texts(&table), [["30", "", "-4"], ["a, \"b\"", "", " x "], ["flu", "hiv", ""]], "{text}");
            assert_eq!((intake.rows, intake.missing, intake.columns.len()), (3, 3, 4));
            assert_eq!((intake.format.as_str(), intake.bytes), ("csv", text.len() as u64));
        }
    }

    #[test]
    fn compressed_tables_and_single_columns() {
        let plain = "a\n1\n\"\"\n\n2\n";
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(plain.as_bytes()).unwrap();
        let packed =
            [plain.as_bytes().to_vec(), gzip.finish().unwrap(), zstd::encode_all(plain.as_bytes(), 1).unwrap()];
        for bytes in packed {
            let (table, _) = table_bytes("-", &bytes, &Options::default(), &declared(&[("a", Quasi)], &[])).unwrap();
            assert_eq!(texts(&table), [["1", "", "2"]]);
        }
    }

    #[test]
    fn sets_are_taken_apart() {
        let given = declared(&[("age", Quasi), ("codes", Set)], &[]);
        for text in ["age,codes\n30,b;a;b\n40,\n50, c ;;a\n", "age;codes\n30;b|a|b\n40;\n50;c|a\n"] {
            let (table, intake) = read(text, &given).unwrap();
            let sets = table.sets.unwrap();
            let terms = |row: usize| -> Vec<&str> {
                let record = sets.of_row[row].map(|record| sets.records.record(record)).unwrap_or_default();
                record.iter().map(|&term| sets.dictionary.text(term)).collect()
            };
            assert_eq!([terms(0), terms(1), terms(2)], [vec!["b", "a"], vec![], vec!["a", "c"]]);
            assert_eq!((sets.name.as_str(), intake.missing, table.columns.len()), ("codes", 0, 1));
        }
        let given = Declared { list_separator: Some(b'/'), ..given };
        let sets = read("age,codes\n30,a;b/c\n", &given).unwrap().0.sets.unwrap();
        assert_eq!(sets.dictionary.iter().collect::<Vec<_>>(), ["a;b", "c"]);
    }

    /// Large enough for several parts: the same table, and the same line of a fault, with and without a quote.
    #[test]
    fn parts_make_the_table_that_the_whole_makes() {
        let given = declared(&[("n", Quasi), ("word", Sensitive), ("code", Set)], &["n"]);
        let mut text = String::from("n,word,code\n");
        for i in 0..700_000_u64 {
            let mixed = i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
            text.push_str(&format!("{},w{},{};{}\n", mixed % 1000, mixed % 77, mixed % 13, mixed % 7));
        }
        assert!(text.len() > 2 * (4 << 20));
        let quoted = text.clone() + "5,\"w5\",1;2\n";
        let (parts, whole) =
            (read(&(text.clone() + "5,w5,1;2\n"), &given).unwrap().0, read(&quoted, &given).unwrap().0);
        for (part, whole) in parts.columns.iter().zip(&whole.columns) {
            assert_eq!(part.codes, whole.codes);
            assert!(part.domain.texts().iter().eq(whole.domain.texts().iter()));
        }
        let (parts, whole) = (parts.sets.unwrap(), whole.sets.unwrap());
        assert_eq!((&parts.records, &parts.of_row), (&whole.records, &whole.of_row));
        assert!(parts.dictionary.iter().eq(whole.dictionary.iter()));
        for last in ["x,w,1\n", "x,\"w\",1\n"] {
            let error = read(&(text.clone() + last + "y,w\n"), &given).unwrap_err().to_string();
            assert_eq!(error, "x.csv:700002 (column n): the cell is not a number");
        }
    }

    #[test]
    fn faults_name_their_place_and_no_value() {
        let given = declared(&[("a", Quasi), ("b", Other)], &["a"]);
        for (text, place) in [
            ("a,b\n1,x\nsecret,y\n", "x.csv:3 (column a)"),
            ("a,b\n1,x\ninf,y\n", "x.csv:3 (column a)"),
            ("a,b\n1,x\nNaN,y\n", "x.csv:3 (column a)"),
            ("a,b\n\"1\",\"x\n\"\n12345678901234567,secret\n", "x.csv:4 (column a)"),
            ("a,b\n1,x\n2,secret,3\n", "x.csv:3"),
            ("a,b\n1,x\n2\n", "x.csv:3"),
            ("a,b\n1,\"secret\n", "x.csv:2"),
            ("a,b\n", "x.csv"),
            ("", "x.csv"),
            ("\n\n", "x.csv"),
            ("a,b\n1,\u{0}\n", "x.csv:2"),
        ] {
            let error = read(text, &given).unwrap_err();
            assert!(error.to_string().starts_with(&format!("{place}: ")), "{text:?}: {error}");
            assert!(!format!("{error} {:?}", error.hint()).contains("secret"), "{error}");
        }
        let basket = Options { format: Some(Format::Basket), ..Options::default() };
        assert!(matches!(table_bytes("x", b"a,b\n1,2\n", &basket, &given), Err(Error::Recipe { .. })));
    }

    #[test]
    fn hierarchies_must_have_every_value() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("h.csv");
        std::fs::write(&path, "1;low;*\n2;low;*\n30;high;*\n").unwrap();
        let mut given = declared(&[("a", Quasi)], &["a"]);
        given.hierarchies = vec![("a".into(), path)];
        let (table, _) = read("a\n2.0\n30\n\"\"\n", &given).unwrap();
        assert_eq!(table.columns[0].domain.hierarchy().unwrap().n_terms(), 2);
        let error = read("a\n2\n4711\n", &given).unwrap_err().to_string();
        assert!(error.contains("h.csv (column a): one term") && !error.contains("4711"), "{error}");
    }
}
