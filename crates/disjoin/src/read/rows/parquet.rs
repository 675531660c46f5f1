//! Parquet: flat columns of texts, numbers, truth values, dates and times; a list column may be the set-valued one.
//!
//! A null has no value, and neither has a number that is none (NaN). Dates are written as 2024-12-31, times as
//! 2024-12-31 23:59:59 in UTC. Rows are counted from 1. Of identifiers only those are decoded that might show several rows a person, and
//! nothing of them is kept.
//!
//! Checked by: tests in this file

use std::borrow::Cow;
use std::fmt::Write as _;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, TimeUnit};
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ArrowReaderOptions;

use super::roles::plan;
use super::sink::{Lists, Sink};
use super::{Body, Declared, Planned};
use crate::data::table::Role;
use crate::error::{Error, Place, Result};
use crate::memory::Memory;
use crate::observer::Observer;
use crate::read::parquet::{is_list, list_range, list_values, next_batch};
use crate::release::parquet_claims::{guarded, open_parquet};

/// Reads a table.
pub(super) fn read(name: &str, bytes: &[u8], declared: &Declared, observer: &dyn Observer) -> Result<Body> {
    let bytes = Bytes::copy_from_slice(bytes);
    let file = open_parquet(bytes, name, ArrowReaderOptions::new(), observer.memory())?;
    let header: Vec<String> = file.schema().fields().iter().map(|field| field.name().clone()).collect();
    let mut body = Body::new(plan(name, &header, declared)?);
    for (column, field) in body.plan.iter().zip(file.schema().fields()) {
        check_type(name, column, field.data_type())?;
    }
    let is_read = |at: usize| {
        let (column, kind) = (&body.plan[at], file.schema().field(at).data_type());
        column.role != Role::Identifier || column.person || (column.watched && has_text(kind))
    };
    let kept: Vec<usize> = (0..header.len()).filter(|&at| is_read(at)).collect();
    let n_rows = file.metadata().file_metadata().num_rows();
    let mask = ProjectionMask::roots(file.parquet_schema(), kept.iter().copied());
    let mut batches = guarded(name, || file.with_projection(mask).with_batch_size(8192).build())?;
    while let Some(batch) = next_batch(name, &mut batches)? {
        observer.check();
        // A projection keeps the order of the file.
        for (array, &i) in batch.columns().iter().zip(&kept) {
            read_column(array, &mut body.sinks[i], &body.plan[i], &declared.missing, name, body.n_rows as u64)?;
        }
        body.n_rows += batch.num_rows();
    }
    if kept.is_empty() {
        body.n_rows = usize::try_from(n_rows).unwrap_or_default();
    }
    Ok(body)
}

/// The names of the columns, and the places of those that are lists.
pub(super) fn header(name: &str, bytes: &[u8], memory: Memory) -> Result<(Vec<String>, Vec<usize>)> {
    let file = open_parquet(Bytes::copy_from_slice(bytes), name, ArrowReaderOptions::new(), memory)?;
    let fields = file.schema().fields();
    let lists = fields.iter().enumerate().filter(|(_, field)| is_list(field.data_type())).map(|(at, _)| at);
    Ok((fields.iter().map(|field| field.name().clone()).collect(), lists.collect()))
}

/// Shows every row; the items of a list have semicolons between.
pub(super) fn scan(
    name: &str,
    bytes: &[u8],
    observer: &dyn Observer,
    see: &mut dyn FnMut(&[Cow<'_, str>]),
) -> Result<()> {
    let file = open_parquet(Bytes::copy_from_slice(bytes), name, ArrowReaderOptions::new(), observer.memory())?;
    let mut batches = guarded(name, || file.with_batch_size(8192).build())?;
    let (mut row, mut buffer) = (Vec::new(), String::new());
    while let Some(batch) = next_batch(name, &mut batches)? {
        for index in 0..batch.num_rows() {
            observer.check();
            row.clear();
            for array in batch.columns() {
                let cell = match list_values(array).filter(|_| is_list(array.data_type())) {
                    Some(values) => {
                        let mut items = Vec::new();
                        for item in list_range(array, index) {
                            items.push(value_text(&values, item, &mut buffer).to_owned());
                        }
                        items.join(";")
                    }
                    None => value_text(array, index, &mut buffer).to_owned(),
                };
                row.push(Cow::Owned(cell));
            }
            see(&row);
        }
    }
    Ok(())
}

/// Adds a batch of a column, before which there were so many rows.
fn read_column(
    array: &ArrayRef,
    sink: &mut Sink,
    column: &Planned,
    missing: &[String],
    name: &str,
    rows: u64,
) -> Result<()> {
    let mut buffer = String::new();
    if !is_list(array.data_type()) {
        for (index, row) in (0..array.len()).zip(rows + 1..) {
            sink.push(value_text(array, index, &mut buffer), column, missing, name, row)?;
        }
        return Ok(());
    }
    if !matches!(sink, Sink::Lists(_)) {
        *sink = Sink::Lists(Lists::default());
    }
    let (Sink::Lists(lists), Some(values)) = (sink, list_values(array)) else {
        return Err(Error::Internal("a list column is not a list"));
    };
    for (index, row) in (0..array.len()).zip(rows + 1..) {
        for item in list_range(array, index) {
            lists.term(value_text(&values, item, &mut buffer), column, name, row)?;
        }
        lists.end_row();
    }
    Ok(())
}

/// Refuses types that have no text of their own, and lists where no set was declared.
fn check_type(name: &str, column: &Planned, kind: &DataType) -> Result<()> {
    let refuse = |problem: String, hint: &str| {
        Err(Error::input(Place::file(name).in_column(&column.name), problem).with_hint(hint))
    };
    let inner = match kind {
        _ if column.role == Role::Identifier && !column.person => return Ok(()),
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            if column.role != Role::Set {
                return refuse("is a list".into(), "lists can be the set-valued column (--set) or an identifier");
            }
            item.data_type()
        }
        kind => kind,
    };
    match has_text(inner) {
        true => Ok(()),
        false => refuse(format!("is of type {inner}"), "store it as a string, a number, a truth value or a date"),
    }
}

/// Whether values of a type have a text of their own.
pub(in crate::read) fn has_text(kind: &DataType) -> bool {
    match if let DataType::Dictionary(_, values) = kind { values } else { kind } {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Boolean | DataType::Null => true,
        DataType::Float32 | DataType::Float64 | DataType::Date32 | DataType::Date64 => true,
        DataType::Timestamp(_, _) => true,
        kind => kind.is_integer(),
    }
}

/// The text of a value, empty if there is none.
pub(in crate::read) fn value_text<'a>(array: &'a ArrayRef, index: usize, buffer: &'a mut String) -> &'a str {
    let (array, index): (&dyn Array, usize) = match array.as_any_dictionary_opt() {
        Some(dictionary) if dictionary.is_null(index) => return "",
        Some(dictionary) => match key(dictionary.keys(), index) {
            Some(key) => (&**dictionary.values(), key),
            None => return "",
        },
        None => (&**array, index),
    };
    if array.is_null(index) {
        return "";
    }
    if let Some(texts) = array.as_string_opt::<i32>() {
        return texts.value(index);
    }
    if let Some(texts) = array.as_string_opt::<i64>() {
        return texts.value(index);
    }
    if let Some(texts) = array.as_string_view_opt() {
        return texts.value(index);
    }
    buffer.clear();
    // Writing to a String cannot fail.
    let _ = write_value(array, index, buffer);
    buffer
}

/// A key of a dictionary.
fn key(keys: &dyn Array, index: usize) -> Option<usize> {
    fn of<T: ArrowPrimitiveType>(keys: &dyn Array, index: usize) -> Option<usize>
    where
        T::Native: TryInto<usize>,
    {
        keys.as_primitive_opt::<T>()?.value(index).try_into().ok()
    }
    of::<Int32Type>(keys, index)
        .or_else(|| of::<Int8Type>(keys, index))
        .or_else(|| of::<Int16Type>(keys, index))
        .or_else(|| of::<Int64Type>(keys, index))
        .or_else(|| of::<UInt8Type>(keys, index))
        .or_else(|| of::<UInt16Type>(keys, index))
        .or_else(|| of::<UInt32Type>(keys, index))
        .or_else(|| of::<UInt64Type>(keys, index))
}

fn write_value(array: &dyn Array, index: usize, out: &mut String) -> std::fmt::Result {
    macro_rules! plain {
        ($kind:ty) => {
            write!(out, "{}", array.as_primitive::<$kind>().value(index))
        };
    }
    macro_rules! date {
        ($kind:ty) => {
            array.as_primitive::<$kind>().value_as_date(index).map_or(Ok(()), |date| write!(out, "{date}"))
        };
    }
    macro_rules! time {
        ($kind:ty) => {
            array.as_primitive::<$kind>().value_as_datetime(index).map_or(Ok(()), |time| write!(out, "{time}"))
        };
    }
    match array.data_type() {
        DataType::Boolean => write!(out, "{}", array.as_boolean().value(index)),
        DataType::Int8 => plain!(Int8Type),
        DataType::Int16 => plain!(Int16Type),
        DataType::Int32 => plain!(Int32Type),
        DataType::Int64 => plain!(Int64Type),
        DataType::UInt8 => plain!(UInt8Type),
        DataType::UInt16 => plain!(UInt16Type),
        DataType::UInt32 => plain!(UInt32Type),
        DataType::UInt64 => plain!(UInt64Type),
        DataType::Float32 if array.as_primitive::<Float32Type>().value(index).is_nan() => Ok(()),
        DataType::Float32 => plain!(Float32Type),
        DataType::Float64 if array.as_primitive::<Float64Type>().value(index).is_nan() => Ok(()),
        DataType::Float64 => plain!(Float64Type),
        DataType::Date32 => date!(Date32Type),
        DataType::Date64 => date!(Date64Type),
        DataType::Timestamp(TimeUnit::Second, _) => time!(TimestampSecondType),
        DataType::Timestamp(TimeUnit::Millisecond, _) => time!(TimestampMillisecondType),
        DataType::Timestamp(TimeUnit::Microsecond, _) => time!(TimestampMicrosecondType),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => time!(TimestampNanosecondType),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::builder::{ListBuilder, StringBuilder};
    use arrow_array::{
        BinaryArray, BooleanArray, Date32Array, DictionaryArray, Float64Array, Int64Array, RecordBatch, StringArray,
        TimestampSecondArray,
    };
    use parquet::arrow::ArrowWriter;

    use super::super::table_bytes;
    use super::*;
    use crate::data::{Evidence, Table};
    use crate::read::Options;

    fn file(columns: Vec<(&str, Role, ArrayRef)>, numeric: &[&str]) -> (Vec<u8>, Declared) {
        let batch = RecordBatch::try_from_iter_with_nullable(columns.iter().map(|(n, _, c)| (*n, c.clone(), true)));
        let batch = batch.unwrap();
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        let roles = columns.iter().map(|(name, role, _)| (name.to_string(), *role)).collect();
        let numeric = numeric.iter().map(|name| name.to_string()).collect();
        (writer.into_inner().unwrap(), Declared { roles, numeric, ..Declared::default() })
    }

    fn read_columns(columns: Vec<(&str, Role, ArrayRef)>, numeric: &[&str]) -> Result<Table> {
        let (bytes, declared) = file(columns, numeric);
        let read = table_bytes("x.parquet", &bytes, &Options::default(), &declared);
        read.map(|(table, intake)| {
            assert_eq!((intake.format.as_str(), intake.rows), ("parquet", table.n_rows() as u64));
            table
        })
    }

    fn texts(table: &Table, column: usize) -> Vec<&str> {
        let column = &table.columns[column];
        column.codes.iter().map(|&code| column.domain.text(code)).collect()
    }

    #[test]
    fn flat_columns_of_all_kinds() {
        let mut sets = ListBuilder::new(StringBuilder::new());
        sets.append_value([Some("b"), Some("a"), Some("b"), None]);
        sets.append_null();
        sets.append_value(Vec::<Option<&str>>::new());
        let words: DictionaryArray<Int8Type> = vec![Some("x"), None, Some("y")].into_iter().collect();
        let columns: Vec<(&str, Role, ArrayRef)> = vec![
            ("id", Role::Identifier, Arc::new(BinaryArray::from_vec(vec![b"1", b"2", b"3"]))),
            ("words", Role::Quasi, Arc::new(words)),
            ("age", Role::Quasi, Arc::new(Int64Array::from(vec![Some(30), Some(-4), None]))),
            ("pay", Role::Sensitive, Arc::new(Float64Array::from(vec![Some(1.5), Some(f64::NAN), Some(2.0)]))),
            ("on", Role::Other, Arc::new(BooleanArray::from(vec![true, false, true]))),
            ("day", Role::Other, Arc::new(Date32Array::from(vec![0, 19_723, -1]))),
            ("time", Role::Other, Arc::new(TimestampSecondArray::from(vec![0, 1, 86_400]))),
            ("set", Role::Set, Arc::new(sets.finish())),
            ("text", Role::Other, Arc::new(StringArray::from(vec!["a,b", " c ", "d"]))),
        ];
        let table = read_columns(columns, &["age", "pay"]).unwrap();
        let expected: [&[&str]; 7] = [
            &["x", "", "y"],
            &["30", "-4", ""],
            &["1.5", "", "2"],
            &["true", "false", "true"],
            &["1970-01-01", "2024-01-01", "1969-12-31"],
            &["1970-01-01 00:00:00", "1970-01-01 00:00:01", "1970-01-02 00:00:00"],
            &["a,b", " c ", "d"],
        ];
        for (i, expected) in expected.iter().enumerate() {
            assert_eq!(texts(&table, i), *expected);
        }
        assert_eq!(table.columns[1].domain.numbers().unwrap(), [-4.0, 30.0]);
        let sets = table.sets.unwrap();
        assert_eq!((sets.of_row, sets.records.record(0).len()), (vec![Some(0), None, None], 2));
    }

    #[test]
    fn identifiers_that_come_back_are_a_sign_of_several_rows_a_person() {
        let id = |each: i64| -> ArrayRef { Arc::new(Int64Array::from_iter_values((0..40).map(|row| row / each))) };
        let age: ArrayRef = Arc::new(Int64Array::from_iter_values((0..40).map(|row| 20 + row % 7)));
        let read = |each: i64| {
            let columns = vec![("id", Role::Identifier, id(each)), ("age", Role::Quasi, Arc::clone(&age))];
            let (bytes, declared) = file(columns, &["age"]);
            table_bytes("x.parquet", &bytes, &Options::default(), &declared).unwrap().1.several
        };
        assert_eq!(read(1), []);
        let expected = Evidence::Identifier { column: "id".into(), rows: 40, different: 20, most_rows: 2 };
        assert_eq!(read(2), [expected]);
    }

    #[test]
    fn what_has_no_text_is_refused_with_its_column() {
        let binary: ArrayRef = Arc::new(BinaryArray::from_vec(vec![b"secret"]));
        let control: ArrayRef = Arc::new(StringArray::from(vec!["sec\u{1}ret"]));
        let mut list = ListBuilder::new(StringBuilder::new());
        list.append_value([Some("secret")]);
        let infinite: ArrayRef = Arc::new(Float64Array::from(vec![f64::INFINITY]));
        for array in [binary, control, Arc::new(list.finish()), infinite] {
            let error = read_columns(vec![("col", Role::Quasi, array)], &["col"]).unwrap_err().to_string();
            assert!(error.contains("(column col)") && !error.contains("secret"), "{error}");
        }
    }
}
