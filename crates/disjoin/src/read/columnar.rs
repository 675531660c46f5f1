//! Columns in batches, from Parquet and Arrow IPC (files and streams), as rows of texts.
//!
//! Texts are those of `rows/parquet.rs`: categories are their values, dates 2024-12-31, times 2024-12-31 23:59:59 in UTC. Lists are arrays.
//!
//! Promises:   what a compressed buffer of an Arrow file says of its size is compared with the limit before it is unpacked
//! Assumes:    Parquet as `release/parquet_claims.rs` checks it
//! Checked by: tests in this file, `crates/disjoin-cli/tests/it/messy.rs`

use std::io::{Cursor, Read};

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_ipc::reader::StreamReader;
use arrow_schema::{ArrowError, DataType, Schema};
use bytes::Bytes;
use parquet::arrow::arrow_reader::ArrowReaderOptions;
use parquet::errors::ParquetError;

use super::Format;
use super::parquet::{is_list, list_range, list_values, next_batch};
use super::rows::{has_text, value_text};
use super::source::{Row, Rows, Told};
use super::wide::array;
use crate::error::{Error, Place, Result};
use crate::memory::Memory;
use crate::observer::Observer;
use crate::release::parquet_claims::{guarded, open_parquet};

/// The rows of a Parquet file.
pub(super) fn of_parquet(name: &str, bytes: &[u8], observer: &dyn Observer) -> Result<Rows<'static>> {
    let file = open_parquet(Bytes::copy_from_slice(bytes), name, ArrowReaderOptions::new(), observer.memory())?;
    let schema = file.schema().clone();
    let mut batches = guarded(name, || file.with_batch_size(8192).build())?;
    let file = name.to_owned();
    rows(name, &schema, Format::Parquet, std::iter::from_fn(move || next_batch(&file, &mut batches).transpose()))
}

/// The rows of an Arrow IPC file or stream.
pub(super) fn of_arrow(name: &str, bytes: &[u8], observer: &dyn Observer) -> Result<Rows<'static>> {
    check_claims(name, bytes, observer.memory())?;
    // Behind its mark, a file is a stream; the directory at its end says nothing that is needed.
    let (input, file) = (Cursor::new(messages(bytes).to_vec()), name.to_owned());
    let mut reader = read_arrow(name, || StreamReader::try_new(input, None))?;
    let schema = reader.schema();
    let next = move || read_arrow(&file, || reader.next().transpose()).transpose();
    rows(name, &schema, Format::Arrow, std::iter::from_fn(next))
}

/// What follows the mark of a file, and the zeros that fill it up; a stream has none of them.
fn messages(bytes: &[u8]) -> &[u8] {
    if !bytes.starts_with(b"ARROW1") {
        return bytes;
    }
    let mut rest = bytes.get(8..).unwrap_or_default();
    while let Some(after) = rest.strip_prefix(&[0; 8]) {
        rest = after;
    }
    rest
}

/// Runs a part of the Arrow crate; its own message may quote the file.
fn read_arrow<T>(name: &str, part: impl FnOnce() -> std::result::Result<T, ArrowError>) -> Result<T> {
    guarded(name, || part().map_err(ParquetError::from)).map_err(|_| damaged(name))
}

fn damaged(name: &str) -> Error {
    Error::input(Place::file(name), "is not a whole Arrow file or stream, or is corrupt").with_hint("write it again")
}

fn rows(
    name: &str,
    schema: &Schema,
    format: Format,
    batches: impl Iterator<Item = Result<RecordBatch>> + Send + 'static,
) -> Result<Rows<'static>> {
    let header: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    let mut arrays = Vec::new();
    for (at, field) in schema.fields().iter().enumerate() {
        let kind = match field.data_type() {
            DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
                arrays.push(at);
                item.data_type()
            }
            kind => kind,
        };
        if !has_text(kind) {
            let problem = format!("is of type {kind}");
            return Err(Error::input(Place::file(name).in_column(field.name()), problem)
                .with_hint("store it as a string, a number, a truth value or a date"));
        }
    }
    let told = Told::default();
    let teller = told.clone();
    let mut line = 0;
    let of_batch = move |batch: Result<RecordBatch>| -> Vec<Result<Row>> {
        match batch {
            Ok(batch) => {
                (0..batch.num_rows()).map(|row| Ok(batch.columns().iter().map(|c| cell(c, row)).collect())).collect()
            }
            Err(error) => vec![Err(error)],
        }
    };
    let all = batches.flat_map(of_batch).inspect(move |_| {
        line += 1;
        teller.at_line(line);
    });
    Ok(Rows { arrays, format, told, ..Rows::new(name, header, all) })
}

/// The text of a cell, none if it has no value.
fn cell(array_of: &ArrayRef, row: usize) -> Option<String> {
    let mut buffer = String::new();
    if !is_list(array_of.data_type()) {
        let text = value_text(array_of, row, &mut buffer);
        return (!text.is_empty()).then(|| text.to_owned());
    }
    if array_of.is_null(row) {
        return None;
    }
    let values = list_values(array_of)?;
    let items: Vec<Option<String>> = list_range(array_of, row)
        .map(|at| {
            let mut buffer = String::new();
            let text = value_text(&values, at, &mut buffer);
            (!values.is_null(at)).then(|| text.to_owned())
        })
        .collect();
    Some(array(items.iter().map(Option::as_deref)))
}

/// Bytes that a row takes at least, once it is read.
const A_ROW: u64 = 24;

/// Walks the messages of an Arrow file or stream: none may be longer than what is left, and together they must not ask for more
/// than the file may.
fn check_claims(name: &str, bytes: &[u8], memory: Memory) -> Result<()> {
    let mut rest = messages(bytes);
    let mut asked = 0_u64;
    while let Some((message, body, after)) = next_message(rest).ok_or_else(|| damaged(name))? {
        asked = asked.saturating_add(claimed(message, body).ok_or_else(|| damaged(name))?);
        rest = after;
    }
    memory.check(asked, bytes.len() as u64, || Place::file(name), "what it declares")
}

/// A message, its body, and what follows.
type Message<'a> = (&'a [u8], &'a [u8], &'a [u8]);

/// The next message, if there is one; none at all if it is not whole.
fn next_message(bytes: &[u8]) -> Option<Option<Message<'_>>> {
    let mut input = bytes;
    let mut word = [0; 4];
    if input.is_empty() {
        return Some(None);
    }
    input.read_exact(&mut word).ok()?;
    if word == [0xff; 4] {
        input.read_exact(&mut word).ok()?;
    }
    let length = usize::try_from(i32::from_le_bytes(word)).ok()?;
    if length == 0 {
        return Some(None);
    }
    let (message, rest) = input.split_at_checked(length)?;
    let body = usize::try_from(arrow_ipc::root_as_message(message).ok()?.bodyLength()).ok()?;
    let (body, after) = rest.split_at_checked(body)?;
    Some(Some((message, body, after)))
}

/// What the rows and the compressed buffers of a message ask for; none if they lie outside of it.
fn claimed(message: &[u8], body: &[u8]) -> Option<u64> {
    let message = arrow_ipc::root_as_message(message).ok()?;
    let batch = match message.header_as_record_batch() {
        Some(batch) => batch,
        None => match message.header_as_dictionary_batch().and_then(|dictionary| dictionary.data()) {
            Some(batch) => batch,
            None => return Some(0),
        },
    };
    let mut sum = u64::try_from(batch.length()).ok()?.saturating_mul(A_ROW);
    for node in batch.nodes()? {
        sum = sum.saturating_add(u64::try_from(node.length()).ok()?);
    }
    if batch.compression().is_none() {
        return Some(sum);
    }
    for buffer in batch.buffers()? {
        let (start, length) = (usize::try_from(buffer.offset()).ok()?, usize::try_from(buffer.length()).ok()?);
        if length >= 8 {
            let word: [u8; 8] = body.get(start..start.checked_add(8)?)?.try_into().ok()?;
            // A buffer that is stored as it is says -1.
            sum = sum.saturating_add(u64::try_from(i64::from_le_bytes(word)).unwrap_or(0));
        }
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::types::Int8Type;
    use arrow_array::{DictionaryArray, Int64Array, TimestampSecondArray};
    use arrow_ipc::CompressionType;
    use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};

    use super::*;
    use crate::observer::Unobserved;

    fn batch() -> RecordBatch {
        let words: DictionaryArray<Int8Type> = vec![Some("flu"), None, Some("gout")].into_iter().collect();
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("id", Arc::new(Int64Array::from(vec![1, 2, 3]))),
            ("ill", Arc::new(words)),
            ("at", Arc::new(TimestampSecondArray::from(vec![0, 1, 86_400]))),
        ];
        RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, c)| (n, c, true))).unwrap()
    }

    fn files() -> Vec<Vec<u8>> {
        let batch = batch();
        let packed = IpcWriteOptions::default().try_with_compression(Some(CompressionType::LZ4_FRAME)).unwrap();
        let mut all = Vec::new();
        for options in [IpcWriteOptions::default(), packed] {
            let mut file = FileWriter::try_new_with_options(Vec::new(), &batch.schema(), options.clone()).unwrap();
            file.write(&batch).unwrap();
            all.push(file.into_inner().unwrap());
            let mut stream = StreamWriter::try_new_with_options(Vec::new(), &batch.schema(), options).unwrap();
            stream.write(&batch).unwrap();
            all.push(stream.into_inner().unwrap());
        }
        all
    }

    #[test]
    fn files_and_streams_are_rows() {
        for bytes in files() {
            let rows = of_arrow("f", &bytes, &Unobserved).unwrap();
            assert_eq!(rows.header, ["id", "ill", "at"]);
            let all: Vec<Row> = rows.rows.collect::<Result<_>>().unwrap();
            let texts: Vec<Vec<&str>> =
                all.iter().map(|row| row.iter().map(|c| c.as_deref().unwrap_or("-")).collect()).collect();
            assert_eq!(texts[0], ["1", "flu", "1970-01-01 00:00:00"]);
            assert_eq!(texts[1], ["2", "-", "1970-01-01 00:00:01"]);
        }
    }

    #[test]
    fn damaged_files_are_input_errors() {
        for whole in files() {
            for end in (1..whole.len()).step_by(5) {
                let read =
                    of_arrow("f", &whole[..end], &Unobserved).and_then(|rows| rows.rows.collect::<Result<Vec<_>>>());
                assert!(matches!(read, Ok(_) | Err(Error::Input { .. })), "{end}");
            }
            for position in (0..whole.len()).step_by(3) {
                for flip in [0x40, 0xff] {
                    let mut bytes = whole.clone();
                    bytes[position] ^= flip;
                    let read =
                        of_arrow("f", &bytes, &Unobserved).and_then(|rows| rows.rows.collect::<Result<Vec<_>>>());
                    assert!(matches!(read, Ok(_) | Err(Error::Input { .. })), "{position}");
                }
            }
        }
    }
}
