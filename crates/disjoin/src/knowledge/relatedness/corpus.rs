//! A corpus: documents of words, from which it is told how often words and phrases are met, alone and together.
//!
//! Promises:   saved to one file of a known version, and read back the same; a damaged file is refused
//! Assumes:    English: words are folded as in `data::words`
//! Cost:       four bytes a word of text in memory, and four a word and document it is in; the file is compressed
//! Checked by: tests in this file, tests/it/relatedness.rs

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;

use super::postings::{Documents, Postings};
use crate::data::Dictionary;
use crate::error::{Error, Place, Result};
use crate::memory::open_file;
use crate::read::words::words;

/// What stands at the beginning of a file, before the version.
const MAGIC: &str = "disjoin/corpus";

/// The version of the file's format that is written, and the only one that is read.
pub const VERSION: u32 = 1;

/// Documents of words, for asking.
pub struct Corpus {
    dictionary: Dictionary,
    text: Text,
    postings: Postings,
    /// What it was made from, in the maker's words.
    pub sources: Vec<String>,
}

/// Documents one after the other.
#[derive(Default)]
struct Text {
    words: Vec<u32>,
    ends: Vec<u32>,
}

impl Text {
    fn document(&self, id: u32) -> &[u32] {
        let id = id as usize;
        let start = if id == 0 { 0 } else { self.ends[id - 1] };
        &self.words[start as usize..self.ends[id] as usize]
    }
}

/// A corpus in the making.
#[derive(Default)]
pub struct Builder {
    dictionary: Dictionary,
    text: Text,
}

impl Builder {
    /// Adds a document; one without a word is not counted.
    pub fn add(&mut self, text: &str) {
        let before = self.text.words.len();
        self.text.words.extend(words(text).map(|word| self.dictionary.intern(&word)));
        if self.text.words.len() > before && u32::try_from(self.text.words.len()).is_ok() {
            self.text.ends.push(self.text.words.len() as u32);
        }
    }

    /// The number of documents so far.
    pub fn len(&self) -> usize {
        self.text.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.text.ends.is_empty()
    }

    /// The corpus, ready to be asked.
    pub fn finish(mut self, sources: Vec<String>) -> Result<Corpus> {
        if u32::try_from(self.text.words.len()).is_err() {
            let problem = "more than four billion words cannot be indexed";
            return Err(Error::recipe("corpus", problem, "leave sources out"));
        }
        if self.is_empty() {
            return Err(Error::recipe("corpus", "the sources hold no document", "name other files"));
        }
        self.text.words.shrink_to_fit();
        Ok(Corpus::new(self.dictionary, self.text, sources))
    }
}

/// How an item is looked up.
#[derive(Debug, Clone)]
pub enum Meaning {
    /// Nobody knows.
    Unknown,
    /// As a word.
    Word(Documents),
    /// As a phrase: its words one after the other.
    Phrase(Documents),
    /// By its last word: the phrase is nowhere.
    Head(Documents),
    /// By the mean over those of its words that are known: its last one is nowhere.
    Words(Vec<Documents>),
}

impl Corpus {
    fn new(dictionary: Dictionary, text: Text, sources: Vec<String>) -> Self {
        let documents = (0..text.ends.len() as u32).map(|id| text.document(id));
        let postings = Postings::new(documents, dictionary.len());
        Corpus { dictionary, text, postings, sources }
    }

    /// The number of documents.
    pub fn n_documents(&self) -> u64 {
        self.postings.n_documents()
    }

    /// The number of distinct words.
    pub fn n_words(&self) -> usize {
        self.dictionary.len()
    }

    /// The number of words of all documents.
    pub fn length(&self) -> usize {
        self.text.words.len()
    }

    /// Who holds what.
    pub fn postings(&self) -> &Postings {
        &self.postings
    }

    /// How an item is to be looked up: as a phrase, or else by its last word, or else by its words.
    pub fn meaning(&self, item: &str) -> Meaning {
        let of_item: Vec<Option<u32>> = words(item).map(|word| self.dictionary.get(&word)).collect();
        let known: Vec<u32> = of_item.iter().copied().flatten().collect();
        match (&of_item[..], &known[..]) {
            (_, []) => Meaning::Unknown,
            ([_], &[word]) => Meaning::Word(Documents::Word(word)),
            (all, known) => {
                let phrase = if all.len() == known.len() { self.phrase(known) } else { Vec::new() };
                if !phrase.is_empty() {
                    return Meaning::Phrase(Documents::List(phrase));
                }
                match all.last() {
                    Some(&Some(head)) => Meaning::Head(Documents::Word(head)),
                    _ => Meaning::Words(known.iter().map(|&word| Documents::Word(word)).collect()),
                }
            }
        }
    }

    /// The documents that hold the words one after the other, ascending.
    fn phrase(&self, phrase: &[u32]) -> Vec<u32> {
        let rarest = phrase.iter().min_by_key(|&&word| self.postings.list(word).len());
        let holds = |&id: &u32| self.text.document(id).windows(phrase.len()).any(|window| window == phrase);
        rarest.map_or(Vec::new(), |&word| self.postings.list(word).iter().copied().filter(holds).collect())
    }

    /// Writes one file.
    pub fn write(&self, out: &mut dyn Write, path: &Path) -> Result<()> {
        self.write_to(out).map_err(|source| Error::io(path, "write the corpus", source))
    }

    fn write_to(&self, out: &mut dyn Write) -> std::io::Result<()> {
        writeln!(out, "{MAGIC} {VERSION}")?;
        let mut out = zstd::stream::Encoder::new(out, 3)?;
        out.include_checksum(true)?;
        let sources = serde_json::to_string(&self.sources)?;
        let texts: Vec<&str> = self.dictionary.iter().collect();
        for part in [sources.as_bytes(), texts.join("\n").as_bytes()] {
            out.write_all(&(part.len() as u64).to_le_bytes())?;
            out.write_all(part)?;
        }
        for numbers in [&self.text.ends, &self.text.words] {
            out.write_all(&(numbers.len() as u64).to_le_bytes())?;
            for block in numbers.chunks(1 << 16) {
                let bytes: Vec<u8> = block.iter().flat_map(|number| number.to_le_bytes()).collect();
                out.write_all(&bytes)?;
            }
        }
        out.finish()?.flush()
    }

    /// Reads what [`Corpus::write`] wrote. Another version is refused.
    pub fn read(path: &Path) -> Result<Corpus> {
        let file = open_file(path, "read the corpus")?;
        Corpus::read_from(&mut BufReader::new(file), &path.display().to_string())
    }

    /// As [`Corpus::read`], from anywhere; `name` is for messages.
    pub fn read_from(input: &mut dyn BufRead, name: &str) -> Result<Corpus> {
        let refuse = |problem: &str| {
            Error::input(Place::file(name), problem).with_hint("make the file again with disjoin corpus build")
        };
        let mut head = Vec::new();
        let damaged = || refuse("is damaged: it is not what disjoin corpus build wrote");
        input.take(64).read_until(b'\n', &mut head).map_err(|_| damaged())?;
        let head = String::from_utf8(head).map_err(|_| refuse("is not a corpus of disjoin"))?;
        let version = head.strip_prefix(MAGIC).ok_or_else(|| refuse("is not a corpus of disjoin"))?.trim();
        if version != VERSION.to_string() {
            let problem = "is a corpus of another version: this program reads version 1";
            return Err(refuse(problem));
        }
        let mut input = zstd::stream::Decoder::with_buffer(input).map_err(|_| damaged())?;
        let sources: Vec<String> =
            serde_json::from_slice(&block(&mut input, 1).ok_or_else(damaged)?).map_err(|_| damaged())?;
        let texts = String::from_utf8(block(&mut input, 1).ok_or_else(damaged)?).map_err(|_| damaged())?;
        let mut dictionary = Dictionary::default();
        for text in texts.split('\n') {
            dictionary.intern(text);
        }
        let ends = numbers(&block(&mut input, 4).ok_or_else(damaged)?);
        let words = numbers(&block(&mut input, 4).ok_or_else(damaged)?);
        // Reading to the end checks the sum.
        let at_end = matches!(input.read(&mut [0]), Ok(0));
        let is_sound = at_end
            && ends.is_sorted_by(|a, b| a < b)
            && ends.first().is_some_and(|&end| end > 0)
            && ends.last().is_some_and(|&end| end as usize == words.len())
            && words.iter().all(|&word| (word as usize) < dictionary.len());
        if !is_sound {
            return Err(damaged());
        }
        Ok(Corpus::new(dictionary, Text { words, ends }, sources))
    }
}

/// A length and so many times `size` bytes.
fn block(input: &mut impl Read, size: u64) -> Option<Vec<u8>> {
    let mut length = [0; 8];
    input.read_exact(&mut length).ok()?;
    let length = u64::from_le_bytes(length).checked_mul(size)?;
    let mut bytes = Vec::new();
    input.take(length).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 == length).then_some(bytes)
}

fn numbers(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|number| u32::from_le_bytes([number[0], number[1], number[2], number[3]])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> Corpus {
        let mut builder = Builder::default();
        for text in
            ["High blood pressures harm hearts.", "The heart pumps blood.", "", "A knee injury", "pressure, blood"]
        {
            builder.add(text);
        }
        assert_eq!(builder.len(), 4);
        builder.finish(vec!["by hand".into()]).unwrap()
    }

    fn saved(corpus: &Corpus) -> Vec<u8> {
        let mut bytes = Vec::new();
        corpus.write(&mut bytes, Path::new("x")).unwrap();
        bytes
    }

    #[test]
    fn items_are_phrases_then_heads_then_words() {
        let corpus = small();
        let count = |item: &str| match corpus.meaning(item) {
            Meaning::Unknown => "unknown".to_owned(),
            Meaning::Word(of) => format!("word {}", corpus.postings().count(&of)),
            Meaning::Phrase(of) => format!("phrase {}", corpus.postings().count(&of)),
            Meaning::Head(of) => format!("head {}", corpus.postings().count(&of)),
            Meaning::Words(all) => format!("words {}", all.len()),
        };
        assert_eq!(count("Blood"), "word 3");
        assert_eq!(count("blood pressure"), "phrase 1");
        assert_eq!(count("knee pressure"), "head 2");
        assert_eq!(count("unheard-of heart"), "head 2");
        assert_eq!(count("heart blood unheard"), "words 2");
        assert_eq!(count("unheard"), "unknown");
        assert_eq!(count("!"), "unknown");
    }

    #[test]
    fn what_is_written_is_read() {
        let bytes = saved(&small());
        let again = Corpus::read_from(&mut &bytes[..], "x").unwrap();
        assert_eq!((again.n_documents(), again.n_words(), again.length()), (4, 10, 14));
        assert_eq!(again.sources, ["by hand"]);
        assert_eq!(saved(&again), bytes);
    }

    #[test]
    fn other_versions_and_damaged_files_are_refused() {
        let bytes = saved(&small());
        let of_version_2 = [b"disjoin/corpus 2\n", &bytes[17..]].concat();
        let error = |bytes: &[u8]| Corpus::read_from(&mut &bytes[..], "x").err().unwrap().to_string();
        assert!(error(&of_version_2).contains("another version"));
        assert!(error(b"word,count\n").contains("not a corpus"));
        for end in 0..bytes.len() {
            error(&bytes[..end]);
        }
        for at in 17..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            // Some bytes of the frame's header mean nothing; whatever is read must be sound.
            if let Ok(corpus) = Corpus::read_from(&mut &damaged[..], "x") {
                assert_eq!(saved(&corpus), bytes);
            }
        }
    }
}
