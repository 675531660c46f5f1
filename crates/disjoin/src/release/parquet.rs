//! data.parquet: the same content as data.jsonl in one flat table, for large releases.
//!
//! Promises:   what is written reads back as the same roots in the same order; a file that is not such a table is an
//!             error with its row, never a panic
//! Assumes:    a root fits into memory; a file does not need to
//! Cost:       one pass; the memory of a row group on writing, of a batch and a root on reading
//! Checked by: tests in this file (odd shapes; truncated, corrupt and wrong files), tests/it/verify.rs (jsonl to Parquet
//!             and back without a byte changed)
//!
//! Three kinds of rows, in this order for each root: a cluster is a `node` row, followed by its chunks and then by its
//! members; a chunk is a `chunk` row, followed by one `subrecord` row for each distinct subrecord. Nodes and chunks
//! are numbered from 0 in the order of their rows. A root is a node without `parent`.
//!
//! | column | node | chunk | subrecord |
//! |---|---|---|---|
//! | `kind` | `node` | `chunk` | `subrecord` |
//! | `node` | its number | of its cluster | of its cluster |
//! | `parent` | of the joint cluster around it, null for a root | null | null |
//! | `size` | number of records | null | null |
//! | `chunk` | null | its number | of its chunk |
//! | `role` | null | `record`, `shared` or `term` | null |
//! | `terms` | null | the domain | the terms |
//! | `count` | null | null | how often it stands there |
//!
//! A term chunk is a chunk without subrecords; an empty one is not written. Format, version, k, m, records and, if
//! they are published, occurrences stand in the key-value metadata under the names that they have in the header of data.jsonl.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder, UInt32Builder, UInt64Builder};
use arrow_array::cast::AsArray;
use arrow_array::types::{UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch, StringArray, UInt32Array, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReader};
use parquet::arrow::{ArrowWriter, ProjectionMask};
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::ChunkReader;

use super::disassociated::{Chunk, Header, Joint, Node, Simple};
use super::open::{RootSink, RootStream};
pub use super::parquet_claims::is_guarded;
use super::parquet_claims::{guarded, open_parquet};
use super::{FORMAT, VERSION, check_version};
use crate::data::{Dictionary, TermId};
use crate::error::{Error, Place, Result};
use crate::memory::Memory;
use crate::observer::{Observer, Unobserved};

/// Rows that are handed over at a time, on writing and on reading.
const BATCH_ROWS: usize = 8192;

/// Rows of a row group: what the writer holds back, compressed.
const GROUP_ROWS: usize = 1 << 19;

/// Clusters nest no deeper than this: about what parsers of data.jsonl can follow.
const MAX_DEPTH: u32 = 60;

const COLUMNS: [&str; 8] = ["kind", "node", "parent", "size", "chunk", "role", "terms", "count"];

/// Writes data.parquet root by root, compressed with Zstandard.
pub struct Writer<W: Write + Send> {
    out: ArrowWriter<W>,
    file: String,
    schema: SchemaRef,
    rows: Rows,
    n_nodes: u32,
    n_chunks: u32,
}

impl<W: Write + Send> Writer<W> {
    /// Begins a file. `file` is named in errors.
    pub fn new(out: W, header: &Header, file: &str) -> Result<Self> {
        let Header { k, m, records, occurrences } = header;
        let mut pairs = vec![
            ("format", FORMAT.to_owned()),
            ("version", VERSION.to_string()),
            ("k", k.to_string()),
            ("m", m.to_string()),
            ("records", records.to_string()),
        ];
        pairs.extend(occurrences.map(|n| ("occurrences", n.to_string())));
        let metadata = pairs.into_iter().map(|(key, value)| KeyValue::new(key.to_owned(), value)).collect();
        let schema = schema();
        let begin = || {
            let properties = WriterProperties::builder()
                .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
                .set_max_row_group_row_count(Some(GROUP_ROWS))
                .set_key_value_metadata(Some(metadata))
                .build();
            ArrowWriter::try_new(out, Arc::clone(&schema), Some(properties))
        };
        let out = begin().map_err(|error| unwritable(file, error))?;
        Ok(Writer { out, file: file.into(), schema, rows: Rows::default(), n_nodes: 0, n_chunks: 0 })
    }

    fn node(&mut self, node: &Node, parent: Option<u32>, texts: &Texts<'_>) -> Result<()> {
        let number = self.n_nodes;
        self.n_nodes = number.checked_add(1).ok_or_else(|| self.too_many("clusters"))?;
        self.rows.node(number, parent, node.size());
        match node {
            Node::Simple(simple) => {
                self.chunks(&simple.record_chunks, "record", number, texts)?;
                if !simple.term_chunk.is_empty() {
                    self.chunk(&simple.term_chunk, "term", number, texts)?;
                }
            }
            Node::Joint(joint) => {
                if joint.members.is_empty() {
                    let problem = "a joint cluster without members cannot be written as Parquet";
                    return Err(Error::input(Place::file(&self.file), problem));
                }
                self.chunks(&joint.shared_chunks, "shared", number, texts)?;
                if !joint.term_chunk.is_empty() {
                    self.chunk(&joint.term_chunk, "term", number, texts)?;
                }
                for member in &joint.members {
                    self.node(member, Some(number), texts)?;
                }
            }
        }
        self.write_if(BATCH_ROWS, texts.observer)
    }

    fn chunks(&mut self, chunks: &[Chunk], role: &str, node: u32, texts: &Texts<'_>) -> Result<()> {
        for chunk in chunks {
            let number = self.chunk(&chunk.terms, role, node, texts)?;
            for (terms, count) in chunk.subrecords() {
                self.rows.subrecord(node, number, terms, count, texts.dictionary);
                self.write_if(BATCH_ROWS, texts.observer)?;
            }
        }
        Ok(())
    }

    fn chunk(&mut self, terms: &[TermId], role: &str, node: u32, texts: &Texts<'_>) -> Result<u32> {
        let number = self.n_chunks;
        self.n_chunks = number.checked_add(1).ok_or_else(|| self.too_many("chunks"))?;
        self.rows.chunk(node, number, role, terms, texts.dictionary);
        Ok(number)
    }

    /// Hands over the rows if there are at least `least`.
    fn write_if(&mut self, least: usize, observer: &dyn Observer) -> Result<()> {
        if self.rows.n < least {
            return Ok(());
        }
        observer.check();
        let columns = self.rows.finish();
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns).map_err(ParquetError::from);
        batch.and_then(|batch| self.out.write(&batch)).map_err(|error| unwritable(&self.file, error))
    }

    fn too_many(&self, what: &str) -> Error {
        Error::input(Place::file(&self.file), format!("more than 2^32 {what} cannot be numbered"))
    }
}

impl<W: Write + Send> RootSink for Writer<W> {
    fn write_root(&mut self, root: &Node, dictionary: &Dictionary, observer: &dyn Observer) -> Result<()> {
        self.node(root, None, &Texts { dictionary, observer })
    }

    fn finish(mut self) -> Result<()> {
        self.write_if(1, &Unobserved)?;
        let mut out = self.out.into_inner().map_err(|error| unwritable(&self.file, error))?;
        out.flush().map_err(|error| Error::io(Path::new(&self.file), "write", error))
    }
}

fn schema() -> SchemaRef {
    let item = Arc::new(Field::new("item", DataType::Utf8, true));
    Arc::new(Schema::new(vec![
        Field::new("kind", DataType::Utf8, false),
        Field::new("node", DataType::UInt32, false),
        Field::new("parent", DataType::UInt32, true),
        Field::new("size", DataType::UInt64, true),
        Field::new("chunk", DataType::UInt32, true),
        Field::new("role", DataType::Utf8, true),
        Field::new("terms", DataType::List(item), true),
        Field::new("count", DataType::UInt32, true),
    ]))
}

/// What terms are called, and who may end their writing.
struct Texts<'a> {
    dictionary: &'a Dictionary,
    observer: &'a dyn Observer,
}

/// Rows that are being collected, column by column.
#[derive(Default)]
struct Rows {
    n: usize,
    kind: StringBuilder,
    node: UInt32Builder,
    parent: UInt32Builder,
    size: UInt64Builder,
    chunk: UInt32Builder,
    role: StringBuilder,
    terms: ListBuilder<StringBuilder>,
    count: UInt32Builder,
}

impl Rows {
    fn node(&mut self, node: u32, parent: Option<u32>, size: u64) {
        self.start("node", node);
        self.parent.append_option(parent);
        self.size.append_value(size);
        self.chunk.append_null();
        self.role.append_null();
        self.terms.append(false);
        self.count.append_null();
    }

    fn chunk(&mut self, node: u32, chunk: u32, role: &str, terms: &[TermId], dictionary: &Dictionary) {
        self.start("chunk", node);
        self.parent.append_null();
        self.size.append_null();
        self.chunk.append_value(chunk);
        self.role.append_value(role);
        self.append_terms(terms, dictionary);
        self.count.append_null();
    }

    fn subrecord(&mut self, node: u32, chunk: u32, terms: &[TermId], count: u32, dictionary: &Dictionary) {
        self.start("subrecord", node);
        self.parent.append_null();
        self.size.append_null();
        self.chunk.append_value(chunk);
        self.role.append_null();
        self.append_terms(terms, dictionary);
        self.count.append_value(count);
    }

    fn start(&mut self, kind: &str, node: u32) {
        self.n += 1;
        self.kind.append_value(kind);
        self.node.append_value(node);
    }

    fn append_terms(&mut self, terms: &[TermId], dictionary: &Dictionary) {
        terms.iter().for_each(|&t| self.terms.values().append_value(dictionary.text(t)));
        self.terms.append(true);
    }

    fn finish(&mut self) -> Vec<ArrayRef> {
        self.n = 0;
        vec![
            Arc::new(self.kind.finish()),
            Arc::new(self.node.finish()),
            Arc::new(self.parent.finish()),
            Arc::new(self.size.finish()),
            Arc::new(self.chunk.finish()),
            Arc::new(self.role.finish()),
            Arc::new(self.terms.finish()),
            Arc::new(self.count.finish()),
        ]
    }
}

/// Reads data.parquet root by root.
pub struct Reader {
    file: String,
    header: Header,
    batches: ParquetRecordBatchReader,
    batch: Option<Columns>,
    /// The next row of the batch.
    next: usize,
    /// The row that was read last, counted from 1 through the file.
    row: u64,
    n_nodes: u32,
    n_chunks: u32,
}

impl Reader {
    /// Reads the metadata. `file` is named in errors.
    pub fn new<R: ChunkReader + 'static>(input: R, file: &str) -> Result<Self> {
        Self::within(input, file, Memory::default())
    }

    /// The same for a file that may ask for so much memory.
    pub fn within<R: ChunkReader + 'static>(input: R, file: &str, memory: Memory) -> Result<Self> {
        // Types are taken from Parquet's own schema: a writer's Arrow types may vary, and say nothing more.
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let table = open_parquet(input, file, options, memory)?;
        let header = read_header(table.metadata().file_metadata().key_value_metadata(), file)?;
        check_schema(table.schema(), file)?;
        // Columns that are not known are ignored, like unknown fields in JSON.
        let mask = ProjectionMask::columns(table.parquet_schema(), COLUMNS);
        let batches = guarded(file, || table.with_projection(mask).with_batch_size(BATCH_ROWS).build())?;
        Ok(Reader { file: file.into(), header, batches, batch: None, next: 0, row: 0, n_nodes: 0, n_chunks: 0 })
    }

    /// What the metadata say.
    pub fn header(&self) -> Header {
        self.header
    }

    /// The row that was read last, counted from 1.
    pub fn row(&self) -> u64 {
        self.row
    }

    /// The next root; its terms are interned into `dictionary`. `None` at the end.
    ///
    /// As with data.jsonl, what cannot be represented is refused, and the rest is for `verify` to judge.
    pub fn next_root(&mut self, dictionary: &mut Dictionary, observer: &dyn Observer) -> Result<Option<Node>> {
        let mut growing: Option<Growing> = None;
        while self.has_row()? {
            observer.check();
            let Some(columns) = &self.batch else { break };
            let row = self.next;
            let is_root = columns.is_root(row);
            if is_root && growing.is_some() {
                break;
            }
            self.row += 1;
            self.next += 1;
            let place = || Place::line(&self.file, self.row);
            let added = match &mut growing {
                Some(growing) => columns.add(row, growing, dictionary),
                None if is_root => {
                    let mut new = Growing::new(self.n_nodes, self.n_chunks);
                    let added = columns.add(row, &mut new, dictionary);
                    growing = Some(new);
                    added
                }
                None => Err("the first row is not a root: a node without parent"),
            };
            added.map_err(|problem| Error::input(place(), problem))?;
        }
        let Some(growing) = growing else { return Ok(None) };
        let (n_nodes, n_chunks) = (growing.nodes.len() as u32, growing.n_chunks);
        self.n_nodes += n_nodes;
        self.n_chunks = n_chunks;
        growing.finish().map(Some).map_err(|problem| Error::input(Place::line(&self.file, self.row), problem))
    }

    /// Reads the next batch if the last one is used up; false at the end.
    fn has_row(&mut self) -> Result<bool> {
        while self.batch.as_ref().is_none_or(|columns| self.next == columns.n_rows) {
            let batch = guarded(&self.file, || self.batches.next().transpose().map_err(ParquetError::from))?;
            let Some(batch) = batch else { return Ok(false) };
            self.batch = Some(Columns::new(&batch, &self.file)?);
            self.next = 0;
        }
        Ok(true)
    }
}

impl RootStream for Reader {
    fn header(&self) -> Header {
        Reader::header(self)
    }

    fn next_root(&mut self, dictionary: &mut Dictionary, observer: &dyn Observer) -> Result<Option<Node>> {
        Reader::next_root(self, dictionary, observer)
    }

    fn file(&self) -> &str {
        &self.file
    }
}

fn read_header(metadata: Option<&Vec<KeyValue>>, file: &str) -> Result<Header> {
    let find = |key: &str| -> Result<&str> {
        let pair = metadata.into_iter().flatten().find(|pair| pair.key == key);
        pair.and_then(|pair| pair.value.as_deref()).ok_or_else(|| {
            Error::input(Place::file(file), format!("the metadata have no `{key}`: not the data of a release"))
        })
    };
    let bad = |key: &str| Error::input(Place::file(file), format!("`{key}` in the metadata is not a number it can be"));
    let number = |key: &str| find(key)?.parse::<u64>().map_err(|_| bad(key));
    let small = |key: &str| u32::try_from(number(key)?).map_err(|_| bad(key));
    check_version((find("format")?, number("version")?), (FORMAT, VERSION), &Place::file(file))?;
    let is_told = metadata.into_iter().flatten().any(|pair| pair.key == "occurrences");
    let occurrences = is_told.then(|| number("occurrences")).transpose()?;
    Ok(Header { k: small("k")?, m: small("m")?, records: number("records")?, occurrences })
}

fn check_schema(found: &Schema, file: &str) -> Result<()> {
    for expected in schema().fields() {
        let name = expected.name();
        let problem = match found.field_with_name(name) {
            Err(_) => format!("has no column `{name}`"),
            Ok(field) if !is_like(field.data_type(), expected.data_type()) => {
                format!("the column `{name}` is of type {}, not {}", field.data_type(), expected.data_type())
            }
            Ok(_) => continue,
        };
        return Err(Error::input(Place::file(file), problem));
    }
    Ok(())
}

/// Lists may call their items as they like.
fn is_like(found: &DataType, expected: &DataType) -> bool {
    match (found, expected) {
        (DataType::List(found), DataType::List(expected)) => found.data_type() == expected.data_type(),
        _ => found == expected,
    }
}

/// One batch of rows.
struct Columns {
    n_rows: usize,
    kind: StringArray,
    node: UInt32Array,
    parent: UInt32Array,
    size: UInt64Array,
    chunk: UInt32Array,
    role: StringArray,
    lists: arrow_array::ListArray,
    texts: StringArray,
    count: UInt32Array,
}

type Fallible<T> = std::result::Result<T, &'static str>;

impl Columns {
    fn new(batch: &RecordBatch, file: &str) -> Result<Self> {
        let read = || {
            let numbers = |name: &str| batch.column_by_name(name)?.as_primitive_opt::<UInt32Type>().cloned();
            let texts = |name: &str| batch.column_by_name(name)?.as_string_opt::<i32>().cloned();
            let lists = batch.column_by_name("terms")?.as_list_opt::<i32>()?.clone();
            Some(Columns {
                n_rows: batch.num_rows(),
                kind: texts("kind")?,
                node: numbers("node")?,
                parent: numbers("parent")?,
                size: batch.column_by_name("size")?.as_primitive_opt::<UInt64Type>()?.clone(),
                chunk: numbers("chunk")?,
                role: texts("role")?,
                texts: lists.values().as_string_opt::<i32>()?.clone(),
                lists,
                count: numbers("count")?,
            })
        };
        read().ok_or_else(|| Error::input(Place::file(file), "a column is not of the type that the schema declares"))
    }

    fn is_root(&self, row: usize) -> bool {
        self.kind.is_valid(row) && self.kind.value(row) == "node" && self.parent.is_null(row)
    }

    /// Adds one row to the root it belongs to.
    fn add(&self, row: usize, root: &mut Growing, dictionary: &mut Dictionary) -> Fallible<()> {
        let kind = if self.kind.is_valid(row) { self.kind.value(row) } else { "" };
        let node = number(&self.node, row).ok_or("the node is null")?;
        match kind {
            "node" => {
                let size = if self.size.is_valid(row) { self.size.value(row) } else { 0 };
                root.add_node(node, number(&self.parent, row), size)
            }
            "chunk" => {
                let chunk = number(&self.chunk, row).ok_or("the chunk is null")?;
                let role = match self.role.is_valid(row).then(|| self.role.value(row)) {
                    Some("record") => Role::Record,
                    Some("shared") => Role::Shared,
                    Some("term") => Role::Term,
                    _ => return Err("the role of a chunk is not record, shared or term"),
                };
                root.add_chunk(node, chunk, role, self.terms(row, dictionary)?)
            }
            "subrecord" => {
                let chunk = number(&self.chunk, row).ok_or("the chunk is null")?;
                let count = number(&self.count, row).ok_or("the count is null")?;
                root.add_subrecord(node, chunk, self.terms(row, dictionary)?, count)
            }
            _ => Err("the kind is not node, chunk or subrecord"),
        }
    }

    fn terms(&self, row: usize, dictionary: &mut Dictionary) -> Fallible<Vec<TermId>> {
        if self.lists.is_null(row) {
            return Err("the terms are null");
        }
        let offsets = self.lists.value_offsets();
        let mut terms = Vec::with_capacity((offsets[row + 1] - offsets[row]) as usize);
        for item in offsets[row] as usize..offsets[row + 1] as usize {
            if self.texts.is_null(item) {
                return Err("a term is null");
            }
            terms.push(dictionary.intern(self.texts.value(item)));
        }
        terms.sort_unstable();
        match terms.windows(2).any(|pair| pair[0] == pair[1]) {
            true => Err("a term stands twice in one list"),
            false => Ok(terms),
        }
    }
}

fn number(column: &UInt32Array, row: usize) -> Option<u32> {
    column.is_valid(row).then(|| column.value(row))
}

/// A root of which not all rows have been read.
struct Growing {
    first_node: u32,
    n_chunks: u32,
    nodes: Vec<GrowingNode>,
    /// The chunk whose subrecords are being read.
    open: Option<GrowingChunk>,
}

struct GrowingNode {
    /// Position among the root's nodes, and so always before this one.
    parent: Option<usize>,
    depth: u32,
    size: u64,
    record_chunks: Vec<Chunk>,
    shared_chunks: Vec<Chunk>,
    term_chunk: Option<Vec<TermId>>,
}

struct GrowingChunk {
    node: usize,
    role: Role,
    terms: Vec<TermId>,
    subrecords: Vec<(Vec<TermId>, u32)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Record,
    Shared,
    Term,
}

impl Growing {
    /// `first_node` and `n_chunks` are the numbers that come next in the file.
    fn new(first_node: u32, n_chunks: u32) -> Self {
        Growing { first_node, n_chunks, nodes: Vec::new(), open: None }
    }

    /// The position of a node of this root, which must have been read.
    fn position(&self, node: u32) -> Option<usize> {
        let position = node.checked_sub(self.first_node)? as usize;
        (position < self.nodes.len()).then_some(position)
    }

    fn add_node(&mut self, node: u32, parent: Option<u32>, size: u64) -> Fallible<()> {
        self.close_chunk()?;
        if u64::from(self.first_node) + self.nodes.len() as u64 != u64::from(node) {
            return Err("the nodes are not numbered in the order of their rows");
        }
        if size == 0 {
            return Err("a cluster of size 0, or without size");
        }
        let parent = match parent {
            None => None,
            Some(parent) => Some(self.position(parent).ok_or("the parent is not a node before it in the same root")?),
        };
        let depth = parent.map_or(0, |parent| self.nodes[parent].depth + 1);
        // Trees are built, checked and dropped by recursion.
        if depth > MAX_DEPTH {
            return Err("clusters are nested too deep");
        }
        let (record_chunks, shared_chunks, term_chunk) = (Vec::new(), Vec::new(), None);
        self.nodes.push(GrowingNode { parent, depth, size, record_chunks, shared_chunks, term_chunk });
        Ok(())
    }

    fn add_chunk(&mut self, node: u32, chunk: u32, role: Role, terms: Vec<TermId>) -> Fallible<()> {
        self.close_chunk()?;
        let node = self.position(node).ok_or("the node of a chunk is not one before it in the same root")?;
        if chunk != self.n_chunks {
            return Err("the chunks are not numbered in the order of their rows");
        }
        self.n_chunks = chunk.checked_add(1).ok_or("more chunks than can be numbered")?;
        self.open = Some(GrowingChunk { node, role, terms, subrecords: Vec::new() });
        Ok(())
    }

    fn add_subrecord(&mut self, node: u32, chunk: u32, terms: Vec<TermId>, count: u32) -> Fallible<()> {
        let node = self.position(node);
        match &mut self.open {
            Some(open) if Some(open.node) == node && self.n_chunks.checked_sub(1) == Some(chunk) => {
                open.subrecords.push((terms, count));
                Ok(())
            }
            _ => Err("a subrecord that does not follow its chunk"),
        }
    }

    fn close_chunk(&mut self) -> Fallible<()> {
        let Some(GrowingChunk { node, role, terms, subrecords }) = self.open.take() else { return Ok(()) };
        let node = &mut self.nodes[node];
        match role {
            Role::Record => node.record_chunks.push(Chunk::from_parts(terms, subrecords)?),
            Role::Shared => node.shared_chunks.push(Chunk::from_parts(terms, subrecords)?),
            Role::Term if !subrecords.is_empty() => return Err("a term chunk with subrecords"),
            Role::Term if node.term_chunk.is_some() => return Err("a cluster with two term chunks"),
            Role::Term => node.term_chunk = Some(terms),
        }
        Ok(())
    }

    /// Builds the tree from the last node to the first: members come after the cluster that they are in.
    fn finish(mut self) -> Fallible<Node> {
        self.close_chunk()?;
        let mut members: Vec<Vec<Node>> = self.nodes.iter().map(|_| Vec::new()).collect();
        while let Some(growing) = self.nodes.pop() {
            let mut members_here = members.pop().unwrap_or_default();
            members_here.reverse();
            let parent = growing.parent;
            let node = growing.build(members_here)?;
            match parent.and_then(|parent| members.get_mut(parent)) {
                Some(siblings) => siblings.push(node),
                None => return Ok(node),
            }
        }
        Err("a root without a node")
    }
}

impl GrowingNode {
    fn build(self, members: Vec<Node>) -> Fallible<Node> {
        let GrowingNode { size, record_chunks, shared_chunks, term_chunk, .. } = self;
        if members.is_empty() {
            if !shared_chunks.is_empty() {
                return Err("a cluster without members has a shared chunk");
            }
            let size = u32::try_from(size).map_err(|_| "a simple cluster of more than 2^32 records")?;
            return Ok(Node::Simple(Simple { size, record_chunks, term_chunk: term_chunk.unwrap_or_default() }));
        }
        if !record_chunks.is_empty() {
            return Err("a cluster with members has a record chunk");
        }
        Ok(Node::Joint(Joint { size, members, shared_chunks, term_chunk: term_chunk.unwrap_or_default() }))
    }
}

/// The system's own words if it refused; the writer has no other reason to fail.
fn unwritable(file: &str, error: ParquetError) -> Error {
    if let ParquetError::External(source) = error
        && let Ok(source) = source.downcast::<std::io::Error>()
    {
        return Error::io(Path::new(file), "write", *source);
    }
    Error::Internal("the Parquet writer failed")
}

#[cfg(test)]
mod tests {
    use super::super::jsonl;
    use super::super::open::{JsonlWriter, copy};
    use super::*;
    use bytes::Bytes;

    const HEAD: &str = "{\"format\":\"disjoin/disassociated\",\"version\":1,\"k\":3,\"m\":2,\"records\":15}\n";

    fn to_parquet(text: &[u8]) -> Vec<u8> {
        let mut reader = jsonl::Reader::new(text, "x").unwrap();
        let (mut file, header) = (Vec::new(), reader.header());
        copy(&mut reader, Writer::new(&mut file, &header, "x").unwrap(), &crate::observer::Unobserved).unwrap();
        file
    }

    fn to_jsonl(file: &[u8]) -> Result<Vec<u8>> {
        let mut reader = Reader::new(Bytes::copy_from_slice(file), "f")?;
        let (mut text, header) = (Vec::new(), reader.header());
        copy(&mut reader, JsonlWriter::new(&mut text, &header, "x")?, &crate::observer::Unobserved)?;
        Ok(text)
    }

    /// A release of some size that makes no sense.
    fn sample() -> Vec<u8> {
        let root = |i: u32| {
            let terms: Vec<String> = (0..4).map(|j| format!(r#""t{:03}""#, i * 37 % 211 + j * 211)).collect();
            let list = terms.join(",");
            format!(
                r#"{{"size":{},"record_chunks":[{{"terms":[{list}],"subrecords":[{{"terms":[{list}],"count":{}}}]}}],"term_chunk":["é \"{i}\""]}}"#,
                i + 1,
                i % 7 + 1
            )
        };
        let lines: String = (0..150)
            .map(|i| format!("{}\n{{\"size\":9,\"members\":[{}],\"shared_chunks\":[]}}\n", root(i), root(i)))
            .collect();
        format!("{HEAD}{lines}").into_bytes()
    }

    /// What the algorithm does not make: nested joints, joints without shared chunks, clusters without chunks, no root.
    #[test]
    fn odd_shapes_survive() {
        let chunk = r#"{"terms":["a \"b\"\\","c\u000a"],"subrecords":[{"terms":["a \"b\"\\"],"count":2}]}"#;
        let simple = format!(r#"{{"size":5,"record_chunks":[{chunk}],"term_chunk":["z","é"]}}"#);
        let empty = r#"{"size":7,"record_chunks":[],"term_chunk":[]}"#;
        let joint = format!(r#"{{"size":5,"members":[{simple}],"shared_chunks":[]}}"#);
        let nested = format!(
            r#"{{"size":99,"members":[{simple},{joint},{joint}],"shared_chunks":[{chunk},{chunk}],"term_chunk":["q","r"]}}"#
        );
        for roots in [vec![], vec![&nested, &simple, &joint], vec![&joint, &nested, &nested]] {
            let lines: String = roots.iter().map(|root| format!("{root}\n")).collect();
            let text = format!("{HEAD}{lines}{empty}\n");
            let back = to_jsonl(&to_parquet(text.as_bytes())).unwrap();
            assert_eq!(String::from_utf8(back).unwrap(), text);
        }
        let told = HEAD.replace("15}", "15,\"occurrences\":40}");
        for head in [HEAD, &told] {
            assert_eq!(to_jsonl(&to_parquet(head.as_bytes())).unwrap(), head.as_bytes());
        }
        let childless = format!("{HEAD}{{\"size\":5,\"members\":[],\"shared_chunks\":[]}}\n");
        let mut reader = jsonl::Reader::new(childless.as_bytes(), "x").unwrap();
        let writer = Writer::new(Vec::new(), &reader.header(), "x").unwrap();
        assert!(
            copy(&mut reader, writer, &crate::observer::Unobserved)
                .unwrap_err()
                .to_string()
                .contains("without members")
        );
    }

    /// More rows than a batch: a root that stretches over several of them, and many that lie within one.
    #[test]
    fn reading_goes_batch_by_batch() {
        let subrecords: Vec<String> =
            (0..20_000).map(|i| format!(r#"{{"terms":["t{i:05}"],"count":{}}}"#, i + 1)).collect();
        let terms: Vec<String> = (0..20_000).map(|i| format!(r#""t{i:05}""#)).collect();
        let long = format!(
            r#"{{"size":9,"record_chunks":[{{"terms":[{}],"subrecords":[{}]}}],"term_chunk":[]}}"#,
            terms.join(","),
            subrecords.join(",")
        );
        let short: String = (0..9_000)
            .map(|i| format!("{{\"size\":{},\"record_chunks\":[],\"term_chunk\":[\"x{i}\"]}}\n", i + 1))
            .collect();
        let text = format!("{HEAD}{short}{long}\n{short}");
        let file = to_parquet(text.as_bytes());
        assert_eq!(to_jsonl(&file).unwrap(), text.as_bytes());
        let mut reader = Reader::new(Bytes::from(file), "f").unwrap();
        let mut dictionary = Dictionary::default();
        reader.next_root(&mut dictionary, &Unobserved).unwrap().unwrap();
        assert_eq!((reader.row(), dictionary.len()), (2, 1), "more than one root was read");
    }

    #[test]
    fn truncated_files_are_errors() {
        let file = to_parquet(&sample());
        assert!(file.len() > 20 * 97, "{}", file.len());
        for end in (0..file.len()).step_by(97) {
            assert!(matches!(to_jsonl(&file[..end]), Err(Error::Input { .. })), "{end} of {} bytes", file.len());
        }
    }

    /// A changed byte may go unnoticed, for Parquet has no checksums here, but it never ends in a panic.
    #[test]
    fn corrupt_files_never_panic() {
        let file = to_parquet(&sample());
        assert_eq!(to_jsonl(&file).unwrap(), sample());
        let mut n_errors = 0;
        for (i, bits) in (0..file.len()).step_by(3).zip([0x01, 0x80, 0xff].into_iter().cycle()) {
            let mut corrupt = file.clone();
            corrupt[i] ^= bits;
            match to_jsonl(&corrupt) {
                Ok(_) => {}
                Err(Error::Input { .. }) => n_errors += 1,
                Err(other) => panic!("byte {i}: {other:?}"),
            }
        }
        assert!(n_errors > 100, "{n_errors}");
    }

    /// A row as a test writes it.
    type Row = (
        &'static str,
        u32,
        Option<u32>,
        Option<u64>,
        Option<u32>,
        Option<&'static str>,
        Option<&'static str>,
        Option<u32>,
    );

    fn table(version: &str, rows: &[Row]) -> Vec<u8> {
        let mut columns = Rows::default();
        for &(kind, node, parent, size, chunk, role, terms, count) in rows {
            columns.start(kind, node);
            columns.parent.append_option(parent);
            columns.size.append_option(size);
            columns.chunk.append_option(chunk);
            columns.role.append_option(role);
            terms.unwrap_or("").chars().for_each(|t| columns.terms.values().append_value(t.to_string()));
            columns.terms.append(terms.is_some());
            columns.count.append_option(count);
        }
        let batch = RecordBatch::try_new(schema(), columns.finish()).unwrap();
        file(version, &batch)
    }

    fn file(version: &str, batch: &RecordBatch) -> Vec<u8> {
        let pairs = [("format", FORMAT), ("version", version), ("k", "2"), ("m", "2"), ("records", "4")];
        let metadata = pairs.map(|(key, value)| KeyValue::new(key.to_owned(), value.to_owned())).to_vec();
        let properties = WriterProperties::builder().set_key_value_metadata(Some(metadata)).build();
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
        writer.write(batch).unwrap();
        writer.into_inner().unwrap()
    }

    #[test]
    fn wrong_tables_are_refused_with_their_row() {
        let node = |node, parent| ("node", node, parent, Some(4), None, None, None, None);
        let chunk = |node, chunk, role| ("chunk", node, None, None, Some(chunk), Some(role), Some("ab"), None);
        let sub =
            |node, chunk, terms, count| ("subrecord", node, None, None, Some(chunk), None, Some(terms), Some(count));
        let good = [node(0, None), chunk(0, 0, "record"), sub(0, 0, "a", 4), sub(0, 0, "ab", 1), chunk(0, 1, "term")];
        assert!(to_jsonl(&table("1", &good)).is_ok());
        let cases: Vec<(&str, u64, Vec<Row>)> = vec![
            ("first row", 1, vec![chunk(0, 0, "record")]),
            ("parent", 2, vec![node(0, None), node(1, Some(7))]),
            ("parent", 2, vec![node(0, None), node(1, Some(2)), node(2, Some(0))]),
            ("parent", 2, vec![node(0, None), node(1, Some(1))]),
            ("parent", 3, vec![node(0, None), node(1, None), node(2, Some(0))]),
            ("numbered", 2, vec![node(0, None), node(2, Some(0))]),
            ("numbered", 1, vec![node(1, None)]),
            ("size 0", 1, vec![("node", 0, None, Some(0), None, None, None, None)]),
            ("size", 1, vec![("node", 0, None, None, None, None, None, None)]),
            ("role", 2, vec![node(0, None), chunk(0, 0, "other")]),
            ("kind", 2, vec![node(0, None), ("other", 0, None, None, None, None, None, None)]),
            ("node of a chunk", 2, vec![node(0, None), chunk(1, 0, "record")]),
            ("chunks are not numbered", 2, vec![node(0, None), chunk(0, 1, "record")]),
            ("follow", 2, vec![node(0, None), sub(0, 0, "a", 4)]),
            ("follow", 3, vec![node(0, None), chunk(0, 0, "record"), sub(0, 1, "a", 4)]),
            ("count of 0", 3, vec![node(0, None), chunk(0, 0, "record"), sub(0, 0, "a", 0)]),
            ("empty subrecord", 3, vec![node(0, None), chunk(0, 0, "record"), sub(0, 0, "", 1)]),
            ("outside", 3, vec![node(0, None), chunk(0, 0, "record"), sub(0, 0, "c", 1)]),
            ("twice", 3, vec![node(0, None), chunk(0, 0, "record"), sub(0, 0, "aa", 1)]),
            ("term chunk with", 3, vec![node(0, None), chunk(0, 0, "term"), sub(0, 0, "a", 1)]),
            ("two term chunks", 3, vec![node(0, None), chunk(0, 0, "term"), chunk(0, 1, "term")]),
            ("without members", 2, vec![node(0, None), chunk(0, 0, "shared")]),
            ("with members", 3, vec![node(0, None), chunk(0, 0, "record"), node(1, Some(0))]),
        ];
        for (expected, row, rows) in cases {
            let error = to_jsonl(&table("1", &rows)).unwrap_err().to_string();
            assert!(error.starts_with(&format!("f:{row}:")) && error.contains(expected), "{error} / {row} {expected}");
        }
        let deep: Vec<Row> = (0..200).map(|i| node(i, i.checked_sub(1))).collect();
        assert!(to_jsonl(&table("1", &deep)).unwrap_err().to_string().contains("too deep"));
    }

    #[test]
    fn other_files_and_versions_are_refused() {
        let error = |file: &[u8]| to_jsonl(file).unwrap_err().to_string();
        let good = [("node", 0, None, Some(4), None, None, None, None)];
        assert!(error(&table("2", &good)).contains("version 2"));
        assert!(error(&table("x", &good)).contains("`version`"));
        assert!(error(b"PAR1 no table PAR1").contains("Parquet"));
        let numbers: ArrayRef = Arc::new(UInt32Array::from(vec![1]));
        let batch = RecordBatch::try_from_iter([("kind", Arc::clone(&numbers))]).unwrap();
        assert!(error(&file("1", &batch)).contains("`kind` is of type"));
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["node"]));
        let batch = RecordBatch::try_from_iter([("kind", texts), ("other", numbers)]).unwrap();
        assert!(error(&file("1", &batch)).contains("no column `node`"));
        let mut plain = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
        plain.write(&batch).unwrap();
        assert!(error(&plain.into_inner().unwrap()).contains("not the data of a release"));
    }
}
