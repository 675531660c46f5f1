//! A release as a stream of roots: opened from its folder, held in memory, or copied from one encoding to another.
//!
//! Promises:   roots come in the order of the file, members and leaves within them too; a custody map stays valid
//! Assumes:    nothing about the content: what cannot be represented is an error, the rest is for `verify` to judge
//! Cost:       the memory of one root, whatever the size of the file
//! Checked by: tests in this file, tests/it/verify.rs (jsonl to Parquet and back, byte for byte)

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;

use rayon::prelude::*;

use super::disassociated::{Chunk, Disassociated, Header, Joint, Node, Simple};
use super::{Claim, jsonl};
use crate::data::{Dictionary, TermId};
use crate::error::{Error, Place, Result};
use crate::memory::{Memory, open_file};
use crate::observer::Observer;

/// Opens a release folder: reads claim.json, and the header of data.jsonl or data.parquet.
pub fn open(folder: &Path) -> Result<Package> {
    let claim = Claim::read(&folder.join("claim.json"))?;
    let (lines, columns) = (folder.join("data.jsonl"), folder.join("data.parquet"));
    let path = match (lines.exists(), columns.exists()) {
        (true, true) => {
            let problem = "the release has both data.jsonl and data.parquet, and they may differ";
            return Err(Error::input(Place::file(folder.display().to_string()), problem)
                .with_hint("keep the one that the claim is about, remove the other"));
        }
        (false, true) => columns,
        _ => lines,
    };
    Ok(Package { claim, roots: Roots::open(&path, Memory::default())? })
}

/// An opened release.
pub struct Package {
    /// What claim.json says.
    pub claim: Claim,
    /// The data, of which the header has been read.
    pub roots: Roots,
}

/// A source of roots, one after the other. The readers of both encodings are, and a release in memory is.
pub trait RootStream: Send {
    /// What is said before the first root.
    fn header(&self) -> Header;

    /// The next root as it stands there; its terms are interned into `dictionary`. `None` at the end. One root may be the whole file.
    fn next_root(&mut self, dictionary: &mut Dictionary, observer: &dyn Observer) -> Result<Option<Node>>;

    /// The next roots, as many as are handy, as if one after the other was asked for; none at the end.
    fn next_roots(&mut self, dictionary: &mut Dictionary, observer: &dyn Observer) -> Result<Vec<Node>> {
        Ok(self.next_root(dictionary, observer)?.into_iter().collect())
    }

    /// The name to give in errors.
    fn file(&self) -> &str;
}

/// A target for roots, one after the other.
pub trait RootSink {
    /// Writes one root, whose terms are those of `dictionary`.
    fn write_root(&mut self, root: &Node, dictionary: &Dictionary, observer: &dyn Observer) -> Result<()>;

    /// Writes what is still held back. A sink that was not finished has not written a release.
    fn finish(self) -> Result<()>;
}

/// Reads a whole release into memory. The dictionary is sorted, so that nothing depends on the encoding; the roots keep
/// their places, which errors name.
pub fn load(from: &mut impl RootStream, observer: &dyn Observer) -> Result<Disassociated> {
    let mut release = load_into(Dictionary::default(), from, observer)?;
    let (dictionary, rank) = release.dictionary.sorted();
    release.dictionary = dictionary;
    release.roots.par_iter_mut().for_each(|root| {
        observer.check();
        root.rename(&rank);
    });
    Ok(release)
}

/// Reads a whole release into memory, its terms numbered on from those of `dictionary`.
pub fn load_into(dictionary: Dictionary, from: &mut impl RootStream, observer: &dyn Observer) -> Result<Disassociated> {
    let mut release = Disassociated { header: from.header(), dictionary, roots: Vec::new() };
    loop {
        observer.check();
        let roots = from.next_roots(&mut release.dictionary, observer)?;
        if roots.is_empty() {
            return Ok(release);
        }
        release.roots.extend(roots);
    }
}

/// Copies a release root by root, each in canonical order, and finishes it; returns the number of roots.
///
/// The order of the roots is kept: it is canonical already if the source was, and cannot be made so without holding
/// them all.
pub fn copy(from: &mut impl RootStream, mut to: impl RootSink, observer: &dyn Observer) -> Result<u64> {
    let mut n_roots = 0;
    loop {
        observer.check();
        let mut dictionary = Dictionary::default();
        let Some(mut root) = from.next_root(&mut dictionary, observer)? else { break };
        let (sorted, rank) = dictionary.sorted();
        root.rename(&rank);
        to.write_root(&root, &sorted, observer)?;
        n_roots += 1;
    }
    to.finish()?;
    Ok(n_roots)
}

/// A file of roots in one of the encodings.
pub struct Roots {
    encoding: Encoding,
    file: String,
}

enum Encoding {
    Jsonl(Box<jsonl::Reader<BufReader<File>>>),
    #[cfg(feature = "parquet")]
    Parquet(Box<super::parquet::Reader>),
}

impl Roots {
    /// Opens a data file, which is Parquet if its name ends so, and reads its header; it may ask for so much memory.
    pub fn open(path: &Path, memory: Memory) -> Result<Self> {
        let file = path.display().to_string();
        let input = open_file(path, "open the data of the release")?;
        let is_parquet = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("parquet"));
        let encoding = match is_parquet {
            false => Encoding::Jsonl(Box::new(
                jsonl::Reader::new(BufReader::with_capacity(1 << 18, input), &file)?.within(memory),
            )),
            #[cfg(feature = "parquet")]
            true => Encoding::Parquet(Box::new(super::parquet::Reader::within(input, &file, memory)?)),
            #[cfg(not(feature = "parquet"))]
            true => {
                return Err(Error::input(Place::file(&file), "this build of disjoin does not read Parquet")
                    .with_hint("build it with the feature `parquet`, or convert the release to data.jsonl"));
            }
        };
        Ok(Roots { encoding, file })
    }
}

impl RootStream for Roots {
    fn header(&self) -> Header {
        match &self.encoding {
            Encoding::Jsonl(reader) => reader.header(),
            #[cfg(feature = "parquet")]
            Encoding::Parquet(reader) => reader.header(),
        }
    }

    fn next_root(&mut self, dictionary: &mut Dictionary, observer: &dyn Observer) -> Result<Option<Node>> {
        match &mut self.encoding {
            Encoding::Jsonl(reader) => reader.next_root(dictionary, observer),
            #[cfg(feature = "parquet")]
            Encoding::Parquet(reader) => reader.next_root(dictionary, observer),
        }
    }

    fn next_roots(&mut self, dictionary: &mut Dictionary, observer: &dyn Observer) -> Result<Vec<Node>> {
        match &mut self.encoding {
            Encoding::Jsonl(reader) => reader.next_roots(dictionary, observer),
            #[cfg(feature = "parquet")]
            Encoding::Parquet(reader) => Ok(reader.next_root(dictionary, observer)?.into_iter().collect()),
        }
    }

    fn file(&self) -> &str {
        &self.file
    }
}

impl<R: BufRead + Send> RootStream for jsonl::Reader<R> {
    fn header(&self) -> Header {
        jsonl::Reader::header(self)
    }

    fn next_root(&mut self, dictionary: &mut Dictionary, observer: &dyn Observer) -> Result<Option<Node>> {
        jsonl::Reader::next_root(self, dictionary, observer)
    }

    fn next_roots(&mut self, dictionary: &mut Dictionary, observer: &dyn Observer) -> Result<Vec<Node>> {
        jsonl::Reader::next_roots(self, dictionary, observer)
    }

    fn file(&self) -> &str {
        "data.jsonl"
    }
}

/// A release in memory as a stream: for those who have just made it.
pub struct InMemory<'a> {
    release: &'a Disassociated,
    next: usize,
}

impl<'a> InMemory<'a> {
    /// Streams the roots of `release` in their order.
    pub fn new(release: &'a Disassociated) -> Self {
        InMemory { release, next: 0 }
    }
}

impl RootStream for InMemory<'_> {
    fn header(&self) -> Header {
        self.release.header
    }

    fn next_root(&mut self, dictionary: &mut Dictionary, observer: &dyn Observer) -> Result<Option<Node>> {
        let Some(root) = self.release.roots.get(self.next) else { return Ok(None) };
        self.next += 1;
        let mut names = Names { from: &self.release.dictionary, to: dictionary, observer };
        let root =
            names.node(root).map_err(|problem| Error::input(Place::line(self.file(), self.next as u64), problem));
        root.map(Some)
    }

    fn file(&self) -> &str {
        "the release in memory"
    }
}

/// Translates ids between dictionaries. Unlike [`Node::rename`] it leaves members and chunks in their order.
struct Names<'a> {
    from: &'a Dictionary,
    to: &'a mut Dictionary,
    observer: &'a dyn Observer,
}

impl Names<'_> {
    fn node(&mut self, node: &Node) -> std::result::Result<Node, &'static str> {
        self.observer.check();
        Ok(match node {
            Node::Simple(simple) => Node::Simple(Simple {
                size: simple.size,
                record_chunks: self.chunks(&simple.record_chunks)?,
                term_chunk: self.terms(&simple.term_chunk),
            }),
            Node::Joint(joint) => Node::Joint(Joint {
                size: joint.size,
                members: joint.members.iter().map(|member| self.node(member)).collect::<std::result::Result<_, _>>()?,
                shared_chunks: self.chunks(&joint.shared_chunks)?,
                term_chunk: self.terms(&joint.term_chunk),
            }),
        })
    }

    fn chunks(&mut self, chunks: &[Chunk]) -> std::result::Result<Vec<Chunk>, &'static str> {
        let translate = |chunk: &Chunk| {
            let subrecords = chunk.subrecords().map(|(terms, count)| (self.terms(terms), count)).collect();
            Chunk::from_parts(self.terms(&chunk.terms), subrecords)
        };
        chunks.iter().map(translate).collect()
    }

    fn terms(&mut self, terms: &[TermId]) -> Vec<TermId> {
        let mut translated: Vec<TermId> = terms.iter().map(|&t| self.to.intern(self.from.text(t))).collect();
        translated.sort_unstable();
        translated
    }
}

/// Writes data.jsonl root by root.
pub struct JsonlWriter<W> {
    out: W,
    file: String,
    line: Vec<u8>,
}

impl<W: Write> JsonlWriter<W> {
    /// Writes the header. `file` is named in errors.
    pub fn new(out: W, header: &Header, file: &str) -> Result<Self> {
        let mut writer = JsonlWriter { out, file: file.into(), line: jsonl::header_line(header) };
        writer.write_line()?;
        Ok(writer)
    }

    fn write_line(&mut self) -> Result<()> {
        self.out.write_all(&self.line).map_err(|e| Error::io(Path::new(&self.file), "write", e))
    }
}

impl<W: Write> RootSink for JsonlWriter<W> {
    fn write_root(&mut self, root: &Node, dictionary: &Dictionary, _: &dyn Observer) -> Result<()> {
        self.line.clear();
        jsonl::write_node(root, &jsonl::JsonTexts::new(dictionary), &mut self.line);
        self.line.push(b'\n');
        self.write_line()
    }

    fn finish(mut self) -> Result<()> {
        self.out.flush().map_err(|e| Error::io(Path::new(&self.file), "write", e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATA: &str = "{\"format\":\"disjoin/disassociated\",\"version\":1,\"k\":2,\"m\":2,\"records\":4}\n\
        {\"size\":4,\"members\":[{\"size\":2,\"record_chunks\":[],\"term_chunk\":[\"a\",\"b\"]},\
        {\"size\":2,\"record_chunks\":[{\"terms\":[\"c\"],\"subrecords\":[{\"terms\":[\"c\"],\"count\":2}]}],\
        \"term_chunk\":[\"d\"]}],\"shared_chunks\":[]}\n";

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        files.iter().for_each(|(name, text)| std::fs::write(folder.path().join(name), text).unwrap());
        folder
    }

    fn claim() -> String {
        let parameters = super::super::claim::Parameters {
            k: 2,
            m: 2,
            max_cluster: 30,
            refine: true,
            cut: super::super::CutRule::Greedy,
            sensitive: None,
        };
        Claim::disassociation(parameters, super::super::Promise::Published, 4).to_json().unwrap()
    }

    #[test]
    fn a_folder_is_opened_and_copied() {
        let folder = folder(&[("claim.json", &claim()), ("data.jsonl", DATA)]);
        let mut package = open(folder.path()).unwrap();
        assert_eq!(package.claim.records, 4);
        let mut copied = Vec::new();
        let header = package.roots.header();
        assert_eq!(
            copy(
                &mut package.roots,
                JsonlWriter::new(&mut copied, &header, "x").unwrap(),
                &crate::observer::Unobserved
            )
            .unwrap(),
            1
        );
        assert_eq!(String::from_utf8(copied).unwrap(), DATA);
    }

    #[test]
    fn copying_puts_a_root_into_canonical_order() {
        let shuffled = DATA.replace("\"a\",\"b\"", "\"b\",\"a\"");
        let mut reader = jsonl::Reader::new(shuffled.as_bytes(), "x").unwrap();
        let mut copied = Vec::new();
        let header = reader.header();
        copy(&mut reader, JsonlWriter::new(&mut copied, &header, "x").unwrap(), &crate::observer::Unobserved).unwrap();
        assert_eq!(String::from_utf8(copied).unwrap(), DATA);
    }

    #[test]
    fn memory_streams_what_the_file_says() {
        let release = jsonl::read(DATA.as_bytes(), "x").unwrap();
        let mut copied = Vec::new();
        copy(
            &mut InMemory::new(&release),
            JsonlWriter::new(&mut copied, &release.header, "x").unwrap(),
            &crate::observer::Unobserved,
        )
        .unwrap();
        assert_eq!(String::from_utf8(copied).unwrap(), DATA);
    }

    #[test]
    fn folders_that_are_no_release_are_refused_by_name() {
        let error = |files: &[(&str, &str)]| open(folder(files).path()).err().unwrap().to_string();
        assert!(error(&[]).contains("claim.json"));
        assert!(error(&[("claim.json", &claim())]).contains("data.jsonl"));
        assert!(error(&[("claim.json", &claim()), ("data.jsonl", DATA), ("data.parquet", "")]).contains("both"));
        let future = claim().replace("\"version\": 3", "\"version\": 4");
        assert!(error(&[("claim.json", &future), ("data.jsonl", DATA)]).contains("version 4"));
        let future = DATA.replace("\"version\":1", "\"version\":7");
        assert!(error(&[("claim.json", &claim()), ("data.jsonl", &future)]).contains("version 7"));
    }
}
