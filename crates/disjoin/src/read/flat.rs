//! Plain tables for other programs: CSV, Parquet and Arrow, with a type for each column.
//!
//! Promises:   what is written is read by pandas, DuckDB and the readers here without an option
//! Departs:    CSV has no lists: terms stand in one cell with `;` between, or as a JSON list if some term has a `;` itself
//! Cost:       linear; Parquet and Arrow files are made in memory, as their writers want it
//! Checked by: tests in this file, `crates/disjoin-cli/tests/it/analysts.rs`

use std::io::Write;
use std::path::Path;

use super::Format;
use crate::data::table::Table;
use crate::data::{Dictionary, TermId};
use crate::error::{Error, Result};
use crate::release::generalized::write_row;

/// A plain table.
#[derive(Debug, Clone, Default)]
pub struct Flat {
    /// Its columns, of the same length.
    pub columns: Vec<FlatColumn>,
}

/// A column of a plain table.
#[derive(Debug, Clone)]
pub struct FlatColumn {
    /// Its name.
    pub name: String,
    /// Its values.
    pub values: FlatValues,
}

/// The values of a column, by type.
#[derive(Debug, Clone)]
pub enum FlatValues {
    /// Texts; `u32::MAX` is a missing one.
    Texts(Dictionary, Vec<u32>),
    /// Numbers.
    Numbers(Vec<Option<f64>>),
    /// Whole numbers.
    Integers(Vec<Option<i64>>),
    /// Lists of texts; none is a missing one.
    Lists(Dictionary, Vec<Option<Vec<TermId>>>),
}

impl FlatValues {
    /// The type in a word.
    pub fn type_name(&self) -> &'static str {
        match self {
            FlatValues::Texts(..) => "text",
            FlatValues::Numbers(_) => "number",
            FlatValues::Integers(_) => "integer",
            FlatValues::Lists(..) => "list of texts",
        }
    }

    fn len(&self) -> usize {
        match self {
            FlatValues::Texts(_, codes) => codes.len(),
            FlatValues::Numbers(numbers) => numbers.len(),
            FlatValues::Integers(numbers) => numbers.len(),
            FlatValues::Lists(_, lists) => lists.len(),
        }
    }
}

impl Flat {
    /// The number of rows.
    pub fn n_rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.values.len())
    }

    /// The table with a column more.
    #[must_use]
    pub fn with(mut self, name: &str, values: FlatValues) -> Self {
        self.columns.push(FlatColumn { name: name.to_owned(), values });
        self
    }

    /// The columns of a table, numbers as such, and its sets as lists.
    pub fn of_table(table: &Table) -> Self {
        let mut flat = Flat::default();
        for column in &table.columns {
            let domain = &column.domain;
            let missing = domain.missing();
            let values = match domain.numbers() {
                Some(numbers) => {
                    let number = |code: &u32| numbers.get(*code as usize).copied();
                    FlatValues::Numbers(column.codes.iter().map(number).collect())
                }
                None => {
                    let code = |code: &u32| if *code == missing { u32::MAX } else { *code };
                    FlatValues::Texts(domain.texts().clone(), column.codes.iter().map(code).collect())
                }
            };
            flat = flat.with(&column.name, values);
        }
        match &table.sets {
            Some(sets) => {
                let list = |record: &Option<u32>| record.map(|record| sets.records.record(record).to_vec());
                let lists = sets.of_row.iter().map(list).collect();
                flat.with(&sets.name, FlatValues::Lists(sets.dictionary.clone(), lists))
            }
            None => flat,
        }
    }

    /// Writes it; `path` serves in messages. Formats that hold no plain table are refused.
    pub fn write(&self, format: Format, path: &Path, out: &mut dyn Write) -> Result<()> {
        let bytes = match format {
            Format::Table => self.csv(),
            Format::Parquet => columnar::parquet(self)?,
            Format::Arrow => columnar::arrow(self)?,
            other => {
                let problem = format!("{other} does not hold tables");
                return Err(Error::recipe("to_format", problem, "name one of csv, parquet, arrow"));
            }
        };
        out.write_all(&bytes).and_then(|()| out.flush()).map_err(|source| Error::io(path, "write", source))
    }

    fn csv(&self) -> Vec<u8> {
        let mut out = Vec::new();
        write_row(self.columns.iter().map(|column| column.name.as_str()), &mut out);
        let has_mark = |texts: &Dictionary| texts.iter().any(|text| text.contains([';', '|', '[', '"']));
        let as_json: Vec<bool> = self
            .columns
            .iter()
            .map(|column| matches!(&column.values, FlatValues::Lists(texts, _) if has_mark(texts)))
            .collect();
        let text = |column: &FlatColumn, as_json: bool, row: usize| match &column.values {
            FlatValues::Texts(texts, codes) if codes[row] == u32::MAX => {
                let _ = texts;
                String::new()
            }
            FlatValues::Texts(texts, codes) => texts.text(codes[row]).to_owned(),
            FlatValues::Numbers(numbers) => numbers[row].map_or(String::new(), |number| number.to_string()),
            FlatValues::Integers(numbers) => numbers[row].map_or(String::new(), |number| number.to_string()),
            FlatValues::Lists(texts, lists) => {
                let terms: Vec<&str> = lists[row].iter().flatten().map(|&term| texts.text(term)).collect();
                match as_json {
                    true if lists[row].is_some() => serde_json::to_string(&terms).unwrap_or_default(),
                    _ => terms.join(";"),
                }
            }
        };
        for row in 0..self.n_rows() {
            let fields: Vec<String> =
                self.columns.iter().zip(&as_json).map(|(column, &as_json)| text(column, as_json, row)).collect();
            write_row(fields.iter().map(String::as_str), &mut out);
        }
        out
    }
}

#[cfg(feature = "parquet")]
mod columnar {
    use std::sync::Arc;

    use arrow_array::builder::{ListBuilder, StringBuilder};
    use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch};
    use arrow_ipc::writer::FileWriter;
    use parquet::arrow::ArrowWriter;
    use parquet::basic::{Compression, ZstdLevel};
    use parquet::file::properties::WriterProperties;

    use super::{Error, Flat, FlatValues, Result};

    fn array(values: &FlatValues) -> ArrayRef {
        match values {
            FlatValues::Texts(texts, codes) => {
                let mut built = StringBuilder::new();
                codes.iter().for_each(|&code| built.append_option((code != u32::MAX).then(|| texts.text(code))));
                Arc::new(built.finish())
            }
            FlatValues::Numbers(numbers) => Arc::new(Float64Array::from(numbers.clone())),
            FlatValues::Integers(numbers) => Arc::new(Int64Array::from(numbers.clone())),
            FlatValues::Lists(texts, lists) => {
                let mut built = ListBuilder::new(StringBuilder::new());
                for list in lists {
                    list.iter().flatten().for_each(|&term| built.values().append_value(texts.text(term)));
                    built.append(list.is_some());
                }
                Arc::new(built.finish())
            }
        }
    }

    fn batch(flat: &Flat) -> Result<RecordBatch> {
        let columns = flat.columns.iter().map(|column| (column.name.as_str(), array(&column.values), true));
        RecordBatch::try_from_iter_with_nullable(columns).map_err(|_| Error::Internal("columns have the same length"))
    }

    pub(super) fn parquet(flat: &Flat) -> Result<Vec<u8>> {
        let failed = |_| Error::Internal("the Parquet writer failed in memory");
        let level = Compression::ZSTD(ZstdLevel::try_new(3).map_err(failed)?);
        let properties = WriterProperties::builder().set_compression(level).build();
        let batch = batch(flat)?;
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).map_err(failed)?;
        writer.write(&batch).map_err(failed)?;
        writer.into_inner().map_err(failed)
    }

    pub(super) fn arrow(flat: &Flat) -> Result<Vec<u8>> {
        let failed = |_| Error::Internal("the Arrow writer failed in memory");
        let batch = batch(flat)?;
        let mut writer = FileWriter::try_new(Vec::new(), &batch.schema()).map_err(failed)?;
        writer.write(&batch).map_err(failed)?;
        writer.into_inner().map_err(failed)
    }
}

/// Stands in where these formats are not compiled in.
#[cfg(not(feature = "parquet"))]
mod columnar {
    use super::{Error, Flat, Result};

    pub(super) fn parquet(_: &Flat) -> Result<Vec<u8>> {
        Err(Error::recipe(
            "to_format",
            "this build of disjoin has no Parquet",
            "build with the feature parquet, or write csv",
        ))
    }

    pub(super) fn arrow(flat: &Flat) -> Result<Vec<u8>> {
        parquet(flat)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_missing_values_have_a_spelling_in_csv() {
        let mut terms = Dictionary::default();
        ["a", "b;c"].iter().for_each(|term| {
            terms.intern(term);
        });
        let lists = vec![Some(vec![0, 1]), None, Some(vec![0])];
        let flat = |terms: Dictionary, lists| {
            Flat::default()
                .with("n", FlatValues::Integers(vec![Some(1), None, Some(3)]))
                .with("x", FlatValues::Numbers(vec![Some(1.5), None, Some(2.0)]))
                .with("t", FlatValues::Lists(terms, lists))
        };
        let text = |flat: &Flat| String::from_utf8(flat.csv()).unwrap();
        let shown = text(&flat(terms, lists));
        assert_eq!(shown, "n,x,t\n1,1.5,\"[\"\"a\"\",\"\"b;c\"\"]\"\n,,\n3,2,\"[\"\"a\"\"]\"\n");
        let mut plain = Dictionary::default();
        ["a", "b"].iter().for_each(|term| {
            plain.intern(term);
        });
        let shown = text(&flat(plain, vec![Some(vec![0, 1]), None, Some(vec![1])]));
        assert_eq!(shown, "n,x,t\n1,1.5,a;b\n,,\n3,2,b\n");
    }
}
