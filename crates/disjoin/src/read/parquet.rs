//! Parquet: a list column of texts or integers, or a flat table with an id and an item column.
//!
//! The list column is the one named in the options, else the only one. A null list is an empty record, a null item an
//! error with its row. If no column is a list, the file is read like the long format: the named id and item columns,
//! else the only two columns, in this order unless their names say otherwise. Rows are counted from 1.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Schema};
use bytes::Bytes;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReader};
use parquet::arrow::{ArrowWriter, ProjectionMask};
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use super::Options;
use super::builder::{Builder, Counts};
use super::long::Groups;
use super::recognise::{Kind, kind_of};
use crate::data::Dataset;
use crate::error::{Error, Place, Result};
use crate::observer::Observer;
use crate::release::parquet_claims::{guarded, open_parquet};

/// Reads a Parquet file.
pub(super) fn read(name: &str, bytes: &[u8], options: &Options, observer: &dyn Observer) -> Result<(Dataset, Counts)> {
    let bytes = Bytes::copy_from_slice(bytes);
    let file = open_parquet(bytes, name, ArrowReaderOptions::new(), observer.memory())?;
    let columns = choose_columns(name, file.schema(), options)?;
    let mask = ProjectionMask::roots(file.parquet_schema(), columns.positions());
    let batches = guarded(name, || file.with_projection(mask).with_batch_size(8192).build())?;
    match columns {
        Columns::List { list, person } => read_lists(name, batches, (list, person), options, observer),
        Columns::Long { id, item } => read_pairs(name, batches, id > item, options, observer),
    }
}

/// Writes one list column, `items`, compressed with Zstandard.
pub(super) fn write(dataset: &Dataset, path: &Path, out: &mut dyn Write) -> Result<()> {
    // The writer wants to own a thread-safe sink, so the file is made in memory.
    let file = make_file(dataset).map_err(|_| Error::Internal("the Parquet writer failed in memory"))?;
    out.write_all(&file).and_then(|()| out.flush()).map_err(|source| Error::io(path, "write", source))
}

enum Columns {
    List { list: usize, person: Option<usize> },
    Long { id: usize, item: usize },
}

impl Columns {
    fn positions(&self) -> Vec<usize> {
        match *self {
            Columns::List { list, person } => person.into_iter().chain([list]).collect(),
            Columns::Long { id, item } => vec![id, item],
        }
    }
}

fn choose_columns(name: &str, schema: &Schema, options: &Options) -> Result<Columns> {
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    let fault = |problem: String| {
        Error::input(Place::file(name), problem).with_hint(format!(
            "name the list column with --column, or an --id-column and an --item-column; the file has {}",
            names.join(", ")
        ))
    };
    let find = |column: &str| {
        names.iter().position(|name| *name == column).ok_or_else(|| fault(format!("has no column {column}")))
    };
    let with_person = |list: usize| {
        let person = options.person.as_ref().map(|person| find(person)).transpose()?;
        match person == Some(list) {
            true => Err(fault("has the list of terms in the column that shall name people".to_owned())),
            false => Ok(Columns::List { list, person }),
        }
    };
    if let Some(column) = &options.column {
        let position = find(column)?;
        if !is_list(schema.field(position).data_type()) {
            return Err(fault(format!("the column {column} is not a list")));
        }
        return with_person(position);
    }
    if let (Some(id), Some(item)) = (&options.id_column, &options.item_column) {
        let (id, item) = (find(id)?, find(item)?);
        if id == item {
            return Err(Error::recipe("item-column", "is the same as the id column", "name two different columns"));
        }
        return Ok(Columns::Long { id, item });
    }
    if options.id_column.is_some() || options.item_column.is_some() {
        return Err(fault("needs both an id and an item column".to_owned()));
    }
    let lists: Vec<usize> = (0..names.len()).filter(|&position| is_list(schema.field(position).data_type())).collect();
    match (lists.as_slice(), names.as_slice()) {
        ([position], _) => with_person(*position),
        ([], [first, second]) => match (kind_of(first), kind_of(second)) {
            (Some(Kind::Item), Some(Kind::Id)) => Ok(Columns::Long { id: 1, item: 0 }),
            (Some(Kind::Id), Some(Kind::Item)) => Ok(Columns::Long { id: 0, item: 1 }),
            _ => Err(fault("cannot tell which column is the id and which the item".to_owned())),
        },
        ([], _) => Err(fault("has no list column".to_owned())),
        _ => Err(fault("has several list columns".to_owned())),
    }
}

pub(super) fn is_list(data_type: &DataType) -> bool {
    matches!(data_type, DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(_, _))
}

fn read_lists(
    name: &str,
    mut batches: ParquetRecordBatchReader,
    (list, person): (usize, Option<usize>),
    options: &Options,
    observer: &dyn Observer,
) -> Result<(Dataset, Counts)> {
    let mut builder = Builder::new(name, options.max_record_terms, observer);
    let mut row = 0;
    let (mut buffer, mut id_buffer) = (String::new(), String::new());
    while let Some(batch) = next_batch(name, &mut batches)? {
        // A projection keeps the order of the file.
        let (lists, people) = match (batch.columns(), person) {
            ([lists], None) => (lists, None),
            ([first, second], Some(person)) if person < list => (second, Some(first)),
            ([first, second], Some(_)) => (first, Some(second)),
            _ => return Err(Error::Internal("a Parquet batch lacks its column")),
        };
        let people = people.map(|people| Texts::new(name, people)).transpose()?;
        let values = list_values(lists).ok_or(Error::Internal("a list column is not a list"))?;
        let texts = Texts::new(name, &values)?;
        for index in 0..lists.len() {
            row += 1;
            if let Some(people) = &people {
                builder.person(people.get(index, &mut id_buffer).unwrap_or_default(), row)?;
            }
            for item in list_range(lists, index) {
                let term = texts.get(item, &mut buffer).ok_or_else(|| null_item(name, row))?;
                builder.term(term);
            }
            builder.end_record(row)?;
        }
    }
    Ok(builder.finish())
}

fn read_pairs(
    name: &str,
    mut batches: ParquetRecordBatchReader,
    item_first: bool,
    options: &Options,
    observer: &dyn Observer,
) -> Result<(Dataset, Counts)> {
    let mut groups = Groups::new(name, options.max_record_terms, observer);
    let mut row = 0;
    let (mut id_buffer, mut item_buffer) = (String::new(), String::new());
    while let Some(batch) = next_batch(name, &mut batches)? {
        // A projection keeps the order of the file.
        let (ids, items) = match batch.columns() {
            [first, second] if item_first => (second, first),
            [first, second] => (first, second),
            _ => return Err(Error::Internal("a Parquet batch lacks a column")),
        };
        let (ids, items) = (Texts::new(name, ids)?, Texts::new(name, items)?);
        for index in 0..batch.num_rows() {
            row += 1;
            let id = ids.get(index, &mut id_buffer).unwrap_or_default();
            let item = items.get(index, &mut item_buffer).ok_or_else(|| null_item(name, row))?;
            groups.add(id, item, row)?;
        }
    }
    groups.finish()
}

pub(super) fn next_batch(name: &str, batches: &mut ParquetRecordBatchReader) -> Result<Option<RecordBatch>> {
    guarded(name, || batches.next().transpose().map_err(ParquetError::from))
}

pub(super) fn list_values(lists: &ArrayRef) -> Option<ArrayRef> {
    if let Some(lists) = lists.as_list_opt::<i32>() {
        return Some(Arc::clone(lists.values()));
    }
    if let Some(lists) = lists.as_list_opt::<i64>() {
        return Some(Arc::clone(lists.values()));
    }
    lists.as_fixed_size_list_opt().map(|lists| Arc::clone(lists.values()))
}

/// Where the items of one list stand among the values; nowhere if the list is null.
pub(super) fn list_range(lists: &ArrayRef, index: usize) -> std::ops::Range<usize> {
    if lists.is_null(index) {
        0..0
    } else if let Some(lists) = lists.as_list_opt::<i32>() {
        lists.value_offsets()[index] as usize..lists.value_offsets()[index + 1] as usize
    } else if let Some(lists) = lists.as_list_opt::<i64>() {
        lists.value_offsets()[index] as usize..lists.value_offsets()[index + 1] as usize
    } else if let Some(lists) = lists.as_fixed_size_list_opt() {
        let start = lists.value_offset(index) as usize;
        start..start + lists.value_length() as usize
    } else {
        0..0
    }
}

/// Values as texts, whatever type they are stored in; `keys` leads to them through a dictionary.
struct Texts<'a> {
    array: &'a dyn Array,
    keys: Option<(&'a dyn Array, Vec<usize>)>,
}

impl<'a> Texts<'a> {
    fn new(name: &str, array: &'a ArrayRef) -> Result<Self> {
        let texts = match array.as_any_dictionary_opt() {
            Some(dictionary) if dictionary.values().is_empty() => {
                Texts { array: &**dictionary.values(), keys: Some((dictionary.keys(), vec![0; array.len()])) }
            }
            Some(dictionary) => {
                Texts { array: &**dictionary.values(), keys: Some((dictionary.keys(), dictionary.normalized_keys())) }
            }
            None => Texts { array: &**array, keys: None },
        };
        let kind = texts.array.data_type();
        let is_text = matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
        if is_text || kind.is_integer() {
            return Ok(texts);
        }
        let problem = format!("the column's values are of type {kind}, not texts or integers");
        Err(Error::input(Place::file(name), problem).with_hint("store them as strings, or name another column"))
    }

    /// The text at `index`, or none if it is null; integers are written into the buffer.
    fn get<'b>(&'b self, index: usize, buffer: &'b mut String) -> Option<&'b str> {
        let index = match &self.keys {
            Some((keys, _)) if keys.is_null(index) => return None,
            Some((_, normalized)) => normalized[index],
            None => index,
        };
        if self.array.is_null(index) {
            return None;
        }
        if let Some(texts) = self.array.as_string_opt::<i32>() {
            return Some(texts.value(index));
        }
        if let Some(texts) = self.array.as_string_opt::<i64>() {
            return Some(texts.value(index));
        }
        if let Some(texts) = self.array.as_string_view_opt() {
            return Some(texts.value(index));
        }
        *buffer = integer(self.array, index)?;
        Some(buffer)
    }
}

fn integer(array: &dyn Array, index: usize) -> Option<String> {
    match array.data_type() {
        DataType::Int8 => Some(array.as_primitive::<Int8Type>().value(index).to_string()),
        DataType::Int16 => Some(array.as_primitive::<Int16Type>().value(index).to_string()),
        DataType::Int32 => Some(array.as_primitive::<Int32Type>().value(index).to_string()),
        DataType::Int64 => Some(array.as_primitive::<Int64Type>().value(index).to_string()),
        DataType::UInt8 => Some(array.as_primitive::<UInt8Type>().value(index).to_string()),
        DataType::UInt16 => Some(array.as_primitive::<UInt16Type>().value(index).to_string()),
        DataType::UInt32 => Some(array.as_primitive::<UInt32Type>().value(index).to_string()),
        DataType::UInt64 => Some(array.as_primitive::<UInt64Type>().value(index).to_string()),
        _ => None,
    }
}

fn null_item(name: &str, row: u64) -> Error {
    Error::input(Place::line(name, row), "an item is null").with_hint("remove the nulls, or give them a name")
}

fn make_file(dataset: &Dataset) -> std::result::Result<Vec<u8>, ParquetError> {
    let properties = WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?)).build();
    let mut lists = ListBuilder::new(StringBuilder::new());
    let empty: ArrayRef = Arc::new(lists.finish());
    let schema = RecordBatch::try_from_iter([("items", empty)])?.schema();
    let mut writer = ArrowWriter::try_new(Vec::new(), Arc::clone(&schema), Some(properties))?;
    for (position, record) in dataset.records.iter().enumerate() {
        for &term in record {
            lists.values().append_value(dataset.dictionary.text(term));
        }
        lists.append(true);
        if (position + 1) % 8192 == 0 {
            writer.write(&RecordBatch::try_new(Arc::clone(&schema), vec![Arc::new(lists.finish())])?)?;
        }
    }
    writer.write(&RecordBatch::try_new(schema, vec![Arc::new(lists.finish())])?)?;
    writer.into_inner()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{round_trip, texts};
    use super::super::{Format, Intake, read_bytes};
    use super::*;
    use arrow_array::builder::{FixedSizeListBuilder, Int64Builder, LargeListBuilder, StringDictionaryBuilder};
    use arrow_array::{DictionaryArray, Int32Array, LargeStringArray, StringArray, StringViewArray};

    fn file(columns: Vec<(&str, ArrayRef)>) -> Vec<u8> {
        let batch = RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, c)| (n, c, true))).unwrap();
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.into_inner().unwrap()
    }

    fn read_columns(columns: Vec<(&str, ArrayRef)>, options: &Options) -> Result<(Vec<Vec<String>>, Intake)> {
        read_bytes("x.bin", &file(columns), options).map(|(dataset, intake)| (texts(&dataset), intake))
    }

    fn lists(records: &[Option<&[Option<&str>]>]) -> ArrayRef {
        let mut builder = ListBuilder::new(StringBuilder::new());
        for record in records {
            for item in record.unwrap_or_default() {
                builder.values().append_option(*item);
            }
            builder.append(record.is_some());
        }
        Arc::new(builder.finish())
    }

    #[test]
    fn lists_of_all_kinds() {
        let options = Options::default();
        let texts = lists(&[Some(&[Some("b"), Some("a"), Some("b")]), None, Some(&[]), Some(&[Some("c")])]);
        let (records, intake) =
            read_columns(vec![("n", Arc::new(Int32Array::from(vec![1; 4]))), ("l", texts)], &options).unwrap();
        assert_eq!(records, [vec!["b", "a"], vec!["c"]]);
        assert_eq!((intake.format, intake.empty_records, intake.duplicate_terms), (Format::Parquet, 2, 1));

        let mut numbers = LargeListBuilder::new(Int64Builder::new());
        numbers.append_value([Some(7), Some(-1)]);
        assert_eq!(read_columns(vec![("l", Arc::new(numbers.finish()))], &options).unwrap().0, [["7", "-1"]]);

        let mut pairs = FixedSizeListBuilder::new(StringDictionaryBuilder::<Int32Type>::new(), 2);
        for term in ["x", "y", "x", "z"] {
            pairs.values().append_value(term);
        }
        pairs.append(true);
        pairs.append(true);
        assert_eq!(read_columns(vec![("l", Arc::new(pairs.finish()))], &options).unwrap().0, [["x", "y"], ["x", "z"]]);
    }

    #[test]
    fn two_flat_columns_are_long() {
        let ids: ArrayRef = Arc::new(Int32Array::from(vec![7, 3, 7]));
        let kinds: [ArrayRef; 4] = [
            Arc::new(StringArray::from(vec!["a", "b", "c"])),
            Arc::new(LargeStringArray::from(vec!["a", "b", "c"])),
            Arc::new(StringViewArray::from(vec!["a", "b", "c"])),
            Arc::new(["a", "b", "c"].into_iter().collect::<DictionaryArray<Int32Type>>()),
        ];
        for items in kinds {
            let options = Options::default();
            for columns in [
                vec![("id", Arc::clone(&ids)), ("item", Arc::clone(&items))],
                vec![("item", Arc::clone(&items)), ("id", Arc::clone(&ids))],
            ] {
                assert_eq!(read_columns(columns, &options).unwrap().0, [vec!["a", "c"], vec!["b"]]);
            }
            let options = Options { id_column: Some("p".into()), item_column: Some("q".into()), ..options };
            let columns = vec![("q", items), ("r", Arc::clone(&ids)), ("p", Arc::clone(&ids))];
            assert_eq!(read_columns(columns, &options).unwrap().0, [vec!["a", "c"], vec!["b"]]);
        }
    }

    #[test]
    fn faults_name_row_or_columns() {
        let error = read_columns(vec![("l", lists(&[Some(&[Some("a")]), Some(&[None])]))], &Options::default());
        assert!(matches!(error, Err(Error::Input { place, .. }) if place.line == Some(2)));
        let number: ArrayRef = Arc::new(Int32Array::from(vec![1]));
        let list = lists(&[Some(&[Some("a")])]);
        for columns in [
            vec![("a", Arc::clone(&list)), ("b", Arc::clone(&list))],
            vec![("a", Arc::clone(&number)), ("b", Arc::clone(&number))],
            vec![("id", Arc::clone(&number))],
        ] {
            let error = read_columns(columns, &Options::default()).unwrap_err();
            assert!(error.hint().is_some_and(|hint| hint.contains("--column")), "{error}");
        }
        for column in ["b", "none"] {
            let options = Options { column: Some(column.to_owned()), ..Options::default() };
            assert!(read_columns(vec![("a", Arc::clone(&list)), ("b", Arc::clone(&number))], &options).is_err());
        }
    }

    #[test]
    fn damaged_files_are_input_errors() {
        let whole = file(vec![("l", lists(&[Some(&[Some("a"), Some("b")]), Some(&[Some("c")])]))]);
        for end in 4..whole.len() {
            let result = read_bytes("x.parquet", &whole[..end], &Options::default());
            assert!(matches!(result, Err(Error::Input { .. })), "{end}");
        }
        for position in 0..whole.len() {
            for flip in [1, 0x40, 0xff] {
                let mut bytes = whole.clone();
                bytes[position] ^= flip;
                let result = read_bytes("x.parquet", &bytes, &Options::default());
                assert!(matches!(result, Ok(_) | Err(Error::Input { .. })), "{position}");
            }
        }
    }

    #[test]
    fn round_trips() {
        round_trip(Format::Parquet, "x.parquet", &Options::default());
        round_trip(Format::Parquet, "-", &Options::default());
    }
}
