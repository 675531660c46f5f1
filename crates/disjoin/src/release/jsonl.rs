//! data.jsonl: a header line, then one root cluster a line. Written in parallel, read line by line or many at a time.

use std::borrow::Cow;
use std::fmt;
use std::io::{BufRead, Read, Write};

use memchr::memchr;
use rayon::prelude::*;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::disassociated::{Chunk, Disassociated, Header, Joint, Node, Simple};
use super::{FORMAT, VERSION, check_version};
use crate::data::{Dictionary, TermId};
use crate::error::{Error, Place, Result};
use crate::memory::Memory;
use crate::observer::{Observer, Unobserved};

/// Roots that one task turns into text at a time. The bytes do not depend on it.
const BLOCK: usize = 512;

/// Bytes of a line that are read at a time.
const PIECE: u64 = 1 << 22;

/// Bytes that a byte of a line takes about, once it is read.
const A_BYTE: u64 = 10;

/// Bytes of lines that are parsed in parallel at a time. What is read does not depend on it.
const BATCH: usize = 1 << 22;

/// Writes a release. Errors of the writer are handed back as they are: only the caller knows the file's name.
pub fn write(release: &Disassociated, out: &mut (impl Write + Send)) -> std::io::Result<()> {
    let texts = JsonTexts::new(&release.dictionary);
    out.write_all(&header_line(&release.header))?;
    let to_text = |roots: &[Node]| {
        let mut text = Vec::with_capacity(256 * roots.len());
        for root in roots {
            write_node(root, &texts, &mut text);
            text.push(b'\n');
        }
        text
    };
    // A window of blocks at a time: memory stays small, and the order is the order of the roots. While one window is
    // written, the next one is made.
    let window = BLOCK * 2 * rayon::current_num_threads();
    let mut ready: Vec<Vec<u8>> = Vec::new();
    for roots in release.roots.chunks(window) {
        let (written, made) = rayon::join(
            || ready.iter().try_for_each(|block| out.write_all(block)),
            || roots.par_chunks(BLOCK).map(to_text).collect(),
        );
        written?;
        ready = made;
    }
    ready.iter().try_for_each(|block| out.write_all(block))
}

/// The first line, with its line feed.
pub fn header_line(header: &Header) -> Vec<u8> {
    let Header { k, m, records, occurrences } = header;
    let told = occurrences.map(|n| format!(",\"occurrences\":{n}")).unwrap_or_default();
    format!("{{\"format\":\"{FORMAT}\",\"version\":{VERSION},\"k\":{k},\"m\":{m},\"records\":{records}{told}}}\n")
        .into_bytes()
}

/// Appends one root as JSON, without a line feed.
pub fn write_node(node: &Node, texts: &JsonTexts, out: &mut Vec<u8>) {
    match node {
        Node::Simple(simple) => {
            out.extend_from_slice(b"{\"size\":");
            write_number(u64::from(simple.size), out);
            out.extend_from_slice(b",\"record_chunks\":");
            write_list(&simple.record_chunks, out, |chunk, out| write_chunk(chunk, texts, out));
            out.extend_from_slice(b",\"term_chunk\":");
            write_list(&simple.term_chunk, out, |&term, out| out.extend_from_slice(texts.get(term)));
        }
        Node::Joint(joint) => {
            out.extend_from_slice(b"{\"size\":");
            write_number(joint.size, out);
            out.extend_from_slice(b",\"members\":");
            write_list(&joint.members, out, |member, out| write_node(member, texts, out));
            out.extend_from_slice(b",\"shared_chunks\":");
            write_list(&joint.shared_chunks, out, |chunk, out| write_chunk(chunk, texts, out));
            if !joint.term_chunk.is_empty() {
                out.extend_from_slice(b",\"term_chunk\":");
                write_list(&joint.term_chunk, out, |&term, out| out.extend_from_slice(texts.get(term)));
            }
        }
    }
    out.push(b'}');
}

fn write_chunk(chunk: &Chunk, texts: &JsonTexts, out: &mut Vec<u8>) {
    let write_term = |&term: &TermId, out: &mut Vec<u8>| out.extend_from_slice(texts.get(term));
    out.extend_from_slice(b"{\"terms\":");
    write_list(&chunk.terms, out, write_term);
    out.extend_from_slice(b",\"subrecords\":[");
    for (i, (terms, count)) in chunk.subrecords().enumerate() {
        out.extend_from_slice(if i == 0 { b"{\"terms\":" } else { b",{\"terms\":" });
        write_list(terms, out, write_term);
        out.extend_from_slice(b",\"count\":");
        write_number(u64::from(count), out);
        out.push(b'}');
    }
    out.extend_from_slice(b"]}");
}

fn write_list<T>(items: &[T], out: &mut Vec<u8>, mut write_item: impl FnMut(&T, &mut Vec<u8>)) {
    out.push(b'[');
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        write_item(item, out);
    }
    out.push(b']');
}

/// Decimal digits by hand: the general formatting would take most of the time of writing.
pub(crate) fn write_number(mut number: u64, out: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[start..]);
}

/// Every term as a JSON string: escaped once, copied often.
pub struct JsonTexts {
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl JsonTexts {
    /// Escapes all terms of a dictionary.
    pub fn new(dictionary: &Dictionary) -> Self {
        let mut texts = JsonTexts { text: Vec::new(), ends: Vec::with_capacity(dictionary.len()) };
        dictionary.iter().for_each(|term| texts.push(term));
        texts
    }

    /// Escapes one more term.
    fn push(&mut self, term: &str) {
        self.text.push(b'"');
        for c in term.chars() {
            match c {
                '"' => self.text.extend_from_slice(b"\\\""),
                '\\' => self.text.extend_from_slice(b"\\\\"),
                '\u{0}'..='\u{1f}' => self.text.extend_from_slice(format!("\\u{:04x}", c as u32).as_bytes()),
                _ => self.text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        self.text.push(b'"');
        self.ends.push(self.text.len());
    }

    fn get(&self, term: TermId) -> &[u8] {
        let term = term as usize;
        &self.text[if term == 0 { 0 } else { self.ends[term - 1] }..self.ends[term]]
    }
}

/// The lines of a release, one after the other; none is empty.
pub(super) struct Lines<R> {
    input: R,
    pub(super) file: String,
    /// The line that was read last, counted from 1.
    pub(super) line: u64,
    pub(super) buffer: Vec<u8>,
    /// What a line after the header holds, for errors.
    holds: &'static str,
    /// How long a line may be.
    memory: Memory,
}

impl<R: BufRead> Lines<R> {
    /// Reads the header: a line that tells the format, its version and a `Header`; `what` it is a header of is named in errors.
    pub(super) fn open<H: serde::de::DeserializeOwned>(
        input: R,
        file: &str,
        known: (&str, u64),
        (what, holds): (&str, &'static str),
    ) -> Result<(Self, H)> {
        #[derive(Deserialize)]
        struct Head {
            format: String,
            version: u64,
        }
        let mut lines =
            Lines { input, file: file.into(), line: 0, buffer: Vec::new(), holds, memory: Memory::default() };
        if !lines.next()? {
            return Err(Error::input(Place::file(file), "the file is empty, a header line was expected"));
        }
        let bad = |e: serde_json::Error| lines.error(format!("not a header of {what}: {}", describe(&e)));
        let head: Head = serde_json::from_slice(&lines.buffer).map_err(bad)?;
        check_version((&head.format, head.version), known, &lines.place())?;
        let header = serde_json::from_slice(&lines.buffer).map_err(bad)?;
        Ok((lines, header))
    }

    /// Puts the next line into the buffer, without its end; false if there is none.
    pub(super) fn next(&mut self) -> Result<bool> {
        self.buffer.clear();
        self.line += 1;
        let mut read = 0;
        // Piece by piece: what is no text is refused before all of it is in memory.
        loop {
            let piece = self.input.by_ref().take(PIECE).read_until(b'\n', &mut self.buffer);
            let piece = piece.map_err(|e| self.error(format!("cannot be read: {e}")))?;
            if memchr(0, &self.buffer[read..]).is_some() {
                return Err(self.error("holds a control character: not a text file"));
            }
            read += piece;
            if (piece as u64) < PIECE || self.buffer.ends_with(b"\n") {
                break;
            }
            self.memory.check((read as u64).saturating_mul(A_BYTE), u64::MAX, || self.place(), "the line")?;
        }
        while self.buffer.last().is_some_and(|&b| b == b'\n' || b == b'\r') {
            self.buffer.pop();
        }
        if read > 0 && self.buffer.is_empty() {
            return Err(self.error(format!("an empty line, a {} was expected", self.holds)));
        }
        Ok(read > 0)
    }

    fn place(&self) -> Place {
        Place::line(&self.file, self.line)
    }

    pub(super) fn error(&self, problem: impl Into<String>) -> Error {
        Error::input(self.place(), problem)
    }
}

/// Reads a release line by line: memory is that of the longest line, and of the dictionary the caller keeps.
pub struct Reader<R> {
    lines: Lines<R>,
    header: Header,
}

impl<R: BufRead> Reader<R> {
    /// Reads the header. `file` is named in errors.
    pub fn new(input: R, file: &str) -> Result<Self> {
        #[derive(Deserialize)]
        struct Written {
            k: u32,
            m: u32,
            records: u64,
            occurrences: Option<u64>,
        }
        let (lines, written) = Lines::open(input, file, (FORMAT, VERSION), ("a release", "cluster"))?;
        let Written { k, m, records, occurrences } = written;
        Ok(Reader { lines, header: Header { k, m, records, occurrences } })
    }

    /// The same, with lines that may be as long as memory allows.
    #[must_use]
    pub fn within(mut self, memory: Memory) -> Self {
        self.lines.memory = memory;
        self
    }

    /// What the first line says.
    pub fn header(&self) -> Header {
        self.header
    }

    /// The next root; its terms are interned into `dictionary`. `None` at the end.
    ///
    /// The structure is as it stands in the file: whether it makes sense is for `verify` to say. Only what cannot be
    /// represented is refused here: a negative or zero count or size, an empty subrecord, a number out of range.
    pub fn next_root(&mut self, dictionary: &mut Dictionary, observer: &dyn Observer) -> Result<Option<Node>> {
        if !self.lines.next()? {
            return Ok(None);
        }
        let written = WrittenNode::parse(&self.lines.buffer, observer).map_err(|problem| self.lines.error(problem))?;
        written.intern(dictionary, observer).map(Some).map_err(|problem| self.lines.error(problem))
    }

    /// The next roots, those of a few megabytes, as [`next_root`](Self::next_root) would give them one after the other;
    /// none at the end. Lines are parsed in parallel.
    pub fn next_roots(&mut self, dictionary: &mut Dictionary, observer: &dyn Observer) -> Result<Vec<Node>> {
        let first = self.lines.line + 1;
        let (mut text, mut ends) = (Vec::new(), Vec::new());
        let mut has_more = Ok(true);
        while text.len() < BATCH {
            has_more = self.lines.next();
            if !matches!(has_more, Ok(true)) {
                break;
            }
            text.extend_from_slice(&self.lines.buffer);
            ends.push(text.len());
        }
        let lines: Vec<&[u8]> = (0..ends.len()).map(|i| &text[if i == 0 { 0 } else { ends[i - 1] }..ends[i]]).collect();
        let known = &*dictionary;
        let parsed: Vec<_> = lines.par_iter().with_max_len(1).map(|line| Parsed::new(line, known, observer)).collect();
        let mut roots = Vec::with_capacity(lines.len());
        for (parsed, line) in parsed.into_iter().zip(first..) {
            let root = match parsed {
                Ok(Parsed::Whole(root)) => Ok(root),
                Ok(Parsed::Open(written)) => written.intern(dictionary, observer).map_err(String::from),
                Err(problem) => Err(problem),
            };
            roots.push(root.map_err(|problem| Error::input(Place::line(&self.lines.file, line), problem))?);
        }
        // What is wrong with a line is said after what is wrong with those before it.
        has_more.map(|_| roots)
    }

    /// The line that was read last, counted from 1.
    pub fn line(&self) -> u64 {
        self.lines.line
    }
}

/// Reads a whole release into memory, in canonical order.
pub fn read(input: impl BufRead, file: &str) -> Result<Disassociated> {
    let mut reader = Reader::new(input, file)?;
    let mut dictionary = Dictionary::default();
    let mut roots = Vec::new();
    while let Some(root) = reader.next_root(&mut dictionary, &Unobserved)? {
        roots.push(root);
    }
    Ok(Disassociated { header: reader.header(), dictionary, roots }.canonical())
}

/// What serde_json says, without the values it quotes: they may be a person's.
pub(crate) fn describe(error: &serde_json::Error) -> String {
    let kind = match error.classify() {
        serde_json::error::Category::Syntax => "the text is not JSON",
        serde_json::error::Category::Eof => "the JSON ends too early",
        serde_json::error::Category::Data => "a field is missing or has the wrong type or sign",
        serde_json::error::Category::Io => "the file cannot be read",
    };
    format!("{kind} (column {})", error.column())
}

#[derive(Default)]
struct WrittenNode<'a> {
    size: u64,
    record_chunks: Option<Vec<WrittenChunk<'a>>>,
    term_chunk: Option<Vec<Text<'a>>>,
    members: Option<Vec<WrittenNode<'a>>>,
    shared_chunks: Option<Vec<WrittenChunk<'a>>>,
}

#[derive(Deserialize)]
struct WrittenChunk<'a> {
    #[serde(borrow)]
    terms: Vec<Text<'a>>,
    #[serde(borrow)]
    subrecords: Vec<WrittenSubrecord<'a>>,
}

#[derive(Deserialize)]
struct WrittenSubrecord<'a> {
    #[serde(borrow)]
    terms: Vec<Text<'a>>,
    count: u32,
}

impl<'a> WrittenNode<'a> {
    fn parse(line: &'a [u8], observer: &dyn Observer) -> std::result::Result<Self, String> {
        let mut json = serde_json::Deserializer::from_slice(line);
        let node = Cluster(observer).deserialize(&mut json).and_then(|node| json.end().map(|()| node));
        node.map_err(|e| format!("not a cluster: {}", describe(&e)))
    }
}

/// Reads a cluster and asks at each whether to go on: one root may be the whole file.
#[derive(Clone, Copy)]
struct Cluster<'o>(&'o dyn Observer);

impl<'de> DeserializeSeed<'de> for Cluster<'_> {
    type Value = WrittenNode<'de>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> std::result::Result<Self::Value, D::Error> {
        self.0.check();
        json.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Cluster<'_> {
    type Value = WrittenNode<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a cluster")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> std::result::Result<Self::Value, A::Error> {
        const NAMES: [&str; 5] = ["size", "record_chunks", "term_chunk", "members", "shared_chunks"];
        let (mut node, mut is_there) = (WrittenNode::default(), [false; NAMES.len()]);
        while let Some(Text(name)) = fields.next_key()? {
            let field = NAMES.iter().position(|known| *known == name);
            if field.is_some_and(|field| std::mem::replace(&mut is_there[field], true)) {
                return Err(A::Error::custom("a field stands twice"));
            }
            match field {
                Some(0) => node.size = fields.next_value()?,
                Some(1) => node.record_chunks = fields.next_value()?,
                Some(2) => node.term_chunk = fields.next_value()?,
                Some(3) => node.members = fields.next_value_seed(Members(self))?,
                Some(_) => node.shared_chunks = fields.next_value()?,
                None => drop(fields.next_value::<IgnoredAny>()?),
            }
        }
        if is_there[0] { Ok(node) } else { Err(A::Error::missing_field("size")) }
    }
}

/// Reads the members of a cluster, if it has some.
struct Members<'o>(Cluster<'o>);

impl<'de> DeserializeSeed<'de> for Members<'_> {
    type Value = Option<Vec<WrittenNode<'de>>>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> std::result::Result<Self::Value, D::Error> {
        json.deserialize_option(self)
    }
}

impl<'de> Visitor<'de> for Members<'_> {
    type Value = Option<Vec<WrittenNode<'de>>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of clusters")
    }

    fn visit_none<E>(self) -> std::result::Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, json: D) -> std::result::Result<Self::Value, D::Error> {
        json.deserialize_seq(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> std::result::Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = list.next_element_seed(self.0)? {
            members.push(member);
        }
        Ok(Some(members))
    }
}

/// A root, as far as it can be had without a change to the dictionary.
enum Parsed<'a> {
    Whole(Node),
    /// It has new terms, or something is wrong with it.
    Open(WrittenNode<'a>),
}

impl<'a> Parsed<'a> {
    fn new(line: &'a [u8], known: &Dictionary, observer: &dyn Observer) -> std::result::Result<Self, String> {
        let written = WrittenNode::parse(line, observer)?;
        Ok(match written.to_node(&mut |text| known.get(text).ok_or("a new term"), observer) {
            Ok(root) => Parsed::Whole(root),
            Err(_) => Parsed::Open(written),
        })
    }
}

/// A string, borrowed from the line unless it has escapes.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// Finds the id of a term, or says why it has none.
type IdOf<'d> = dyn FnMut(&str) -> std::result::Result<TermId, &'static str> + 'd;

impl WrittenNode<'_> {
    fn to_node(&self, id_of: &mut IdOf<'_>, observer: &dyn Observer) -> std::result::Result<Node, &'static str> {
        observer.check();
        if self.size == 0 {
            return Err("a cluster of size 0");
        }
        match (&self.record_chunks, &self.term_chunk, &self.members, &self.shared_chunks) {
            (Some(record_chunks), Some(term_chunk), None, None) => {
                let size = u32::try_from(self.size).map_err(|_| "a simple cluster of more than 2^32 records")?;
                let term_chunk = terms(term_chunk, id_of)?;
                Ok(Node::Simple(Simple { size, record_chunks: chunks(record_chunks, id_of)?, term_chunk }))
            }
            (None, listed, Some(members), Some(shared_chunks)) => {
                let members = members.iter().map(|member| member.to_node(id_of, observer));
                let members: Vec<Node> = members.collect::<std::result::Result<_, _>>()?;
                let shared_chunks = chunks(shared_chunks, id_of)?;
                let term_chunk = listed.as_ref().map_or(Ok(Vec::new()), |listed| terms(listed, id_of))?;
                Ok(Node::Joint(Joint { size: self.size, members, shared_chunks, term_chunk }))
            }
            _ => Err("a cluster needs either record_chunks and term_chunk, or members and shared_chunks"),
        }
    }

    fn intern(&self, dictionary: &mut Dictionary, observer: &dyn Observer) -> std::result::Result<Node, &'static str> {
        self.to_node(&mut |text| Ok(dictionary.intern(text)), observer)
    }
}

fn chunks(written: &[WrittenChunk<'_>], id_of: &mut IdOf<'_>) -> std::result::Result<Vec<Chunk>, &'static str> {
    written
        .iter()
        .map(|chunk| {
            let mut subrecords = Vec::with_capacity(chunk.subrecords.len());
            for subrecord in &chunk.subrecords {
                subrecords.push((terms(&subrecord.terms, id_of)?, subrecord.count));
            }
            Chunk::from_parts(terms(&chunk.terms, id_of)?, subrecords)
        })
        .collect()
}

fn terms(texts: &[Text<'_>], id_of: &mut IdOf<'_>) -> std::result::Result<Vec<TermId>, &'static str> {
    let mut ids: Vec<TermId> = texts.iter().map(|text| id_of(&text.0)).collect::<std::result::Result<_, _>>()?;
    ids.sort_unstable();
    match ids.windows(2).any(|pair| pair[0] == pair[1]) {
        true => Err("a term stands twice in one list"),
        false => Ok(ids),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Disassociated {
        let mut dictionary = Dictionary::default();
        for term in ["a \"b\"\\", "c\n", "z", "é"] {
            dictionary.intern(term);
        }
        let mut chunk = Chunk::new(vec![0, 1]);
        chunk.push(&[0], 2);
        chunk.push(&[0, 1], 3);
        let simple = Node::Simple(Simple { size: 5, record_chunks: vec![chunk.clone()], term_chunk: vec![2, 3] });
        let joint = Node::Joint(Joint {
            size: 10,
            members: vec![simple.clone(), simple.clone()],
            shared_chunks: vec![chunk],
            term_chunk: vec![0],
        });
        Disassociated {
            header: Header { k: 3, m: 2, records: 15, occurrences: None },
            dictionary,
            roots: vec![simple, joint],
        }
    }

    fn text_of(release: &Disassociated) -> String {
        let mut text = Vec::new();
        write(release, &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn what_is_written_is_the_documented_format() {
        let text = text_of(&sample());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], r#"{"format":"disjoin/disassociated","version":1,"k":3,"m":2,"records":15}"#);
        assert_eq!(
            lines[1],
            r#"{"size":5,"record_chunks":[{"terms":["a \"b\"\\","c\u000a"],"subrecords":[{"terms":["a \"b\"\\"],"count":2},{"terms":["a \"b\"\\","c\u000a"],"count":3}]}],"term_chunk":["z","é"]}"#
        );
        assert!(lines.iter().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()));
    }

    #[test]
    fn reading_gives_back_what_was_written() {
        let release = sample();
        let again = read(text_of(&release).as_bytes(), "x").unwrap();
        assert_eq!(again.header, release.header);
        assert_eq!(again.roots, release.roots);
        assert_eq!(text_of(&again), text_of(&release));
    }

    #[test]
    fn occurrences_stand_in_the_header_if_they_are_told() {
        let mut release = sample();
        release.header.occurrences = Some(40);
        let text = text_of(&release);
        let head = r#"{"format":"disjoin/disassociated","version":1,"k":3,"m":2,"records":15,"occurrences":40}"#;
        assert_eq!(text.lines().next(), Some(head));
        assert_eq!(read(text.as_bytes(), "x").unwrap().header, release.header);
        let bad = text.replacen(":40", ":-40", 1);
        assert!(read(bad.as_bytes(), "x").unwrap_err().to_string().starts_with("x:1:"));
    }

    #[test]
    fn bad_releases_are_refused_with_their_line() {
        let good = r#"{"size":5,"record_chunks":[],"term_chunk":["a"]}"#;
        let head = r#"{"format":"disjoin/disassociated","version":1,"k":3,"m":2,"records":15}"#;
        let chunk = |terms: &str, subrecords: &str| {
            format!(r#"{{"size":5,"record_chunks":[{{"terms":{terms},"subrecords":[{subrecords}]}}],"term_chunk":[]}}"#)
        };
        for (line, text, expected) in [
            (0, String::new(), "empty"),
            (1, head.replace("\"version\":1", "\"version\":2"), "version 2"),
            (1, head.replace("disassociated", "other"), "format"),
            (1, head.replace("\"k\":3", "\"k\":-3"), "header"),
            (2, format!("{head}\n{}", good.replace('5', "-5")), "not a cluster"),
            (2, format!("{head}\n{}", good.replace('5', "0")), "size 0"),
            (3, format!("{head}\n{good}\n{}", &good[..20]), "ends too early"),
            (3, format!("{head}\n{good}\n\n{good}"), "empty line"),
            (2, format!("{head}\n{{\"size\":3}}"), "either"),
            (2, format!("{head}\n{}", chunk(r#"["x"]"#, r#"{"terms":["x"],"count":0}"#)), "count of 0"),
            (2, format!("{head}\n{}", chunk(r#"["x"]"#, r#"{"terms":[],"count":4}"#)), "empty subrecord"),
            (2, format!("{head}\n{}", chunk(r#"["x"]"#, r#"{"terms":["y"],"count":4}"#)), "outside"),
            (2, format!("{head}\n{}", chunk(r#"["x","x"]"#, r#"{"terms":["x"],"count":4}"#)), "twice"),
            (
                2,
                format!("{head}\n{}", chunk(r#"["x"]"#, r#"{"terms":["x"],"count":4},{"terms":["x"],"count":4}"#)),
                "twice",
            ),
        ] {
            let error = read(text.as_bytes(), "f").unwrap_err().to_string();
            assert!(error.contains(expected), "{error} / {expected}");
            assert!(line == 0 || error.starts_with(&format!("f:{line}:")), "{error}");
        }
    }

    #[test]
    fn unknown_fields_are_ignored() {
        let text = "{\"format\":\"disjoin/disassociated\",\"version\":1,\"k\":3,\"m\":2,\"records\":5,\"x\":0}\n\
                    {\"size\":5,\"record_chunks\":[],\"term_chunk\":[\"a\"],\"note\":{\"y\":[1]}}\n";
        assert_eq!(read(text.as_bytes(), "f").unwrap().roots.len(), 1);
    }

    #[test]
    fn many_at_a_time_are_the_same_as_one_after_the_other() {
        let text = text_of(&sample());
        let bad = text.replacen("\"count\":3", "\"count\":0", 1);
        let (bad, later) = (format!("{bad}\n{{\n"), format!("{text}{{\n\n"));
        for (text, bad_line) in [(&text, None), (&bad, Some(2)), (&later, Some(4))] {
            for known in [&[][..], &["z", "c\n"], &["é", "z", "c\n", "a \"b\"\\"]] {
                let mut one = Dictionary::default();
                known.iter().for_each(|term| {
                    one.intern(term);
                });
                let mut many = one.clone();
                let mut reader = Reader::new(text.as_bytes(), "x").unwrap();
                let singly: Result<Vec<Node>> =
                    std::iter::from_fn(|| reader.next_root(&mut one, &Unobserved).transpose()).collect();
                let mut reader = Reader::new(text.as_bytes(), "x").unwrap();
                let at_once = reader.next_roots(&mut many, &Unobserved);
                match (singly, at_once) {
                    (Ok(singly), Ok(at_once)) => {
                        assert_eq!((singly, bad_line), (at_once, None));
                        assert!(one.iter().eq(many.iter()));
                        assert!(reader.next_roots(&mut many, &Unobserved).unwrap().is_empty());
                    }
                    (Err(singly), Err(at_once)) => {
                        assert_eq!(singly.to_string(), at_once.to_string());
                        let line = bad_line.map(|line: u32| format!("x:{line}"));
                        assert!(line.is_some_and(|line| singly.to_string().contains(&line)), "{singly}");
                    }
                    (singly, at_once) => panic!("{singly:?} and {at_once:?}"),
                }
            }
        }
    }

    #[test]
    fn deep_nesting_is_refused_and_does_not_overflow() {
        let head = r#"{"format":"disjoin/disassociated","version":1,"k":3,"m":2,"records":15}"#;
        let deep = r#"{"size":5,"shared_chunks":[],"members":["#.repeat(100_000);
        assert!(read(format!("{head}\n{deep}").as_bytes(), "f").is_err());
    }
}
