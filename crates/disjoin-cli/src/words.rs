//! What an adversary knows about words, as flags and files name it.

use std::io::Read;
use std::path::{Path, PathBuf};

use disjoin::attack::semantic::Distance;
use disjoin::data::Dictionary;
use disjoin::reconstruct::relatedness::{Corpus, Counts, Known, Vectors, by_corpus, by_counts, by_vectors};
use disjoin::{Error, Result};

/// Where it is found: at most one is named.
#[derive(clap::Args)]
#[group(id = "words")]
pub(crate) struct Sources {
    /// What words mean: a file that disjoin corpus build wrote
    #[arg(long, value_name = "FILE", help_heading = "What words mean", conflicts_with_all = ["counts", "vectors"])]
    corpus: Option<PathBuf>,
    /// What words mean: a table first,second,count of how often items are met, alone and together
    #[arg(long, value_name = "FILE", help_heading = "What words mean", conflicts_with = "vectors")]
    counts: Option<PathBuf>,
    /// What words mean: static vectors, as wordllama's wheel, a folder, or a safetensors file with --tokenizer
    #[arg(long, value_name = "PATH", help_heading = "What words mean")]
    vectors: Option<PathBuf>,
    /// How words are cut into pieces: the tokenizer's JSON, where it is not beside the vectors
    #[arg(long, value_name = "FILE", help_heading = "What words mean", requires = "vectors")]
    tokenizer: Option<PathBuf>,
}

/// What is found there.
pub(crate) enum Knowledge {
    Corpus(Corpus),
    Counts(Counts),
    Vectors(Vectors),
}

impl Sources {
    pub(crate) fn is_given(&self) -> bool {
        self.corpus.is_some() || self.counts.is_some() || self.vectors.is_some()
    }

    /// Reads what is named, if something is.
    pub(crate) fn read(&self) -> Result<Option<Knowledge>> {
        Ok(match (&self.corpus, &self.counts, &self.vectors) {
            (Some(file), ..) => Some(Knowledge::Corpus(Corpus::read(file)?)),
            (None, Some(file), _) => Some(Knowledge::Counts(read_counts(file)?)),
            (None, None, Some(path)) => Some(Knowledge::Vectors(Vectors::read(path, self.tokenizer.as_deref())?)),
            (None, None, None) => None,
        })
    }
}

impl Knowledge {
    /// The distances of a dictionary's terms, and how these were looked up.
    pub(crate) fn distances(&self, dictionary: &Dictionary) -> Result<(Box<Distance<'_>>, Known)> {
        Ok(match self {
            Knowledge::Corpus(corpus) => {
                let (distance, known) = by_corpus(corpus, dictionary);
                (Box::new(distance), known)
            }
            Knowledge::Counts(counts) => {
                let (distance, known) = by_counts(counts, dictionary);
                (Box::new(distance), known)
            }
            Knowledge::Vectors(vectors) => {
                let (distance, known) = by_vectors(vectors, dictionary);
                (Box::new(distance), known)
            }
        })
    }

    /// What it is, in words.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Knowledge::Corpus(_) => "a corpus",
            Knowledge::Counts(_) => "a table of counts",
            Knowledge::Vectors(_) => "vectors of words",
        }
    }
}

/// Reads a corpus or vectors, whichever the file is.
pub(crate) fn recognise(path: &Path, tokenizer: Option<&Path>) -> Result<Knowledge> {
    let mut head = [0; 9];
    let is_read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok();
    // A wheel is a zip file; a safetensors file begins with the length of its header, which is JSON.
    let is_vectors = is_read && (head.starts_with(b"PK\x03\x04") || head[8] == b'{');
    if path.is_dir() || tokenizer.is_some() || is_vectors {
        return Ok(Knowledge::Vectors(Vectors::read(path, tokenizer)?));
    }
    Ok(Knowledge::Corpus(Corpus::read(path)?))
}

fn read_counts(file: &Path) -> Result<Counts> {
    let text = std::fs::read(file).map_err(|e| Error::io(file, "read the counts", e))?;
    Counts::read(&text, &file.display().to_string())
}
