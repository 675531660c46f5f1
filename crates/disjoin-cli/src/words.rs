//! What an adversary knows about words, as flags and files name it.

use std::io::Read;
use std::path::{Path, PathBuf};

use disjoin::Result;
use disjoin::reconstruct::relatedness::{Corpus, Vectors};
use disjoin::run::meaning::{Files, Words};

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
    /// What words mean: a sentence transformer, as a folder with config.json, tokenizer.json and model.safetensors
    #[cfg(feature = "sentences")]
    #[arg(long, value_name = "DIR", help_heading = "What words mean", conflicts_with_all = ["corpus", "counts", "vectors"])]
    sentences: Option<PathBuf>,
}

impl Sources {
    pub(crate) fn is_given(&self) -> bool {
        #[cfg(feature = "sentences")]
        if self.sentences.is_some() {
            return true;
        }
        self.corpus.is_some() || self.counts.is_some() || self.vectors.is_some()
    }

    /// Reads what is named; if nothing is, only a release can tell.
    pub(crate) fn read(&self) -> Result<Words> {
        #[cfg(feature = "sentences")]
        if let Some(folder) = &self.sentences {
            return read_sentences(folder);
        }
        Words::read(&Files {
            corpus: self.corpus.as_deref(),
            counts: self.counts.as_deref(),
            vectors: self.vectors.as_deref(),
            tokenizer: self.tokenizer.as_deref(),
        })
    }
}

/// Reads a corpus or vectors, whichever the file is.
pub(crate) fn recognise(path: &Path, tokenizer: Option<&Path>) -> Result<Words> {
    #[cfg(feature = "sentences")]
    if path.join("config.json").exists() {
        return read_sentences(path);
    }
    let mut head = [0; 9];
    let is_read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok();
    // A wheel is a zip file; a safetensors file begins with the length of its header, which is JSON.
    let is_vectors = is_read && (head.starts_with(b"PK\x03\x04") || head[8] == b'{');
    if path.is_dir() || tokenizer.is_some() || is_vectors {
        return Ok(Words::Vectors(Vectors::read(path, tokenizer)?));
    }
    Ok(Words::Corpus(Corpus::read(path)?))
}

#[cfg(feature = "sentences")]
fn read_sentences(folder: &Path) -> Result<Words> {
    let sentences = disjoin_sentences::Sentences::read(folder)?;
    Ok(Words::Embedded(Box::new(move |dictionary| sentences.vectors_of(dictionary))))
}
