//! What an adversary knows about words, as flags and files name it.

use std::io::Read;
use std::path::{Path, PathBuf};

use disjoin::knowledge::relatedness::{Corpus, Vectors};
use disjoin::run::meaning::{Files, Words};
use disjoin::{Error, Result};

/// Where it is found. Who attacks knows one of them; who mends may look at several.
#[derive(clap::Args)]
#[group(id = "words")]
pub(crate) struct Sources {
    /// What words mean: a file that disjoin corpus build wrote
    #[arg(long, value_name = "FILE", help_heading = "What words mean")]
    corpus: Option<PathBuf>,
    /// What words mean: a table first,second,count of how often items are met, alone and together
    #[arg(long, value_name = "FILE", help_heading = "What words mean")]
    counts: Option<PathBuf>,
    /// What words mean: static vectors, as wordllama's wheel, a folder, or a safetensors file with --tokenizer
    #[arg(long, value_name = "PATH", help_heading = "What words mean")]
    vectors: Option<PathBuf>,
    /// How words are cut into pieces: the tokenizer's JSON, where it is not beside the vectors
    #[arg(long, value_name = "FILE", help_heading = "What words mean", requires = "vectors")]
    tokenizer: Option<PathBuf>,
    /// What words mean: a sentence transformer, as a folder with config.json, tokenizer.json and model.safetensors
    #[cfg_attr(feature = "sentences", arg(long, value_name = "DIR", help_heading = "What words mean"))]
    #[cfg_attr(not(feature = "sentences"), arg(skip))]
    sentences: Option<PathBuf>,
}

impl Sources {
    pub(crate) fn is_given(&self) -> bool {
        !self.flags().is_empty()
    }

    /// What is named.
    fn flags(&self) -> Vec<&'static str> {
        let given = [
            ("--corpus", &self.corpus),
            ("--counts", &self.counts),
            ("--vectors", &self.vectors),
            ("--sentences", &self.sentences),
        ];
        given.into_iter().filter(|(_, path)| path.is_some()).map(|(flag, _)| flag).collect()
    }

    /// Reads what is named, one source at most; if nothing is, only a release can tell.
    pub(crate) fn read(&self) -> Result<Words> {
        if let [first, second, ..] = self.flags()[..] {
            let problem = format!("tells what words mean, and so does {first}");
            return Err(Error::recipe(second, problem, "name one of them"));
        }
        Ok(self.read_all()?.pop().unwrap_or(Words::Release))
    }

    /// Reads all that are named.
    pub(crate) fn read_all(&self) -> Result<Vec<Words>> {
        let files = [
            Files { corpus: self.corpus.as_deref(), ..Files::default() },
            Files { counts: self.counts.as_deref(), ..Files::default() },
            Files { vectors: self.vectors.as_deref(), tokenizer: self.tokenizer.as_deref(), ..Files::default() },
        ];
        let named = |files: &Files<'_>| files.corpus.is_some() || files.counts.is_some() || files.vectors.is_some();
        let files = files.iter().filter(|files| named(files)).map(Words::read);
        files.chain(self.sentences.iter().map(|folder| read_sentences(folder))).collect()
    }
}

/// Reads a corpus or vectors, whichever the file is.
pub(crate) fn recognise(path: &Path, tokenizer: Option<&Path>) -> Result<Words> {
    if cfg!(feature = "sentences") && path.join("config.json").exists() {
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

#[cfg(not(feature = "sentences"))]
fn read_sentences(_: &Path) -> Result<Words> {
    Err(Error::recipe("--sentences", "is not built in", "build disjoin with --features sentences"))
}
