//! What an adversary knows about the meaning of terms, and what is done with it.

use std::io::Read;
use std::path::{Path, PathBuf};

use disjoin::Result;
use disjoin::attack::semantic::Method;
use disjoin::knowledge::relatedness::{Corpus, Vectors};
use disjoin::run::AttackOptions;
use disjoin::run::meaning::{Embed, Files, Words};

use crate::choices::{choice, from_one};

/// Where it is found. Who attacks knows one of them; who repairs may look at several.
#[derive(clap::Args)]
#[command(next_help_heading = "Knowledge of semantic attacks")]
pub(crate) struct Sources {
    /// The meaning of terms: a file that disjoin corpus build wrote
    #[arg(long, value_name = "FILE")]
    pub(crate) corpus: Option<PathBuf>,
    /// The meaning of terms: a table first,second,count of how often items are met, alone and together
    #[arg(long, value_name = "FILE")]
    pub(crate) counts: Option<PathBuf>,
    /// The meaning of terms: static vectors, as wordllama's wheel, a folder, or a safetensors file with --tokenizer
    #[arg(long, value_name = "PATH")]
    pub(crate) vectors: Option<PathBuf>,
    /// How words are cut into pieces: the tokenizer's JSON, where it is not beside the vectors
    #[arg(long, value_name = "FILE", requires = "vectors")]
    pub(crate) tokenizer: Option<PathBuf>,
    /// The meaning of terms: a sentence transformer, as a folder with config.json, tokenizer.json and model.safetensors
    #[cfg_attr(feature = "sentences", arg(long, value_name = "DIR"))]
    #[cfg_attr(not(feature = "sentences"), arg(skip))]
    pub(crate) sentences: Option<PathBuf>,
}

/// Semantic attacks on recoded sets.
#[derive(clap::Args)]
#[command(next_help_heading = "Semantic attacks (recoded sets)")]
pub(crate) struct Semantic {
    #[command(flatten)]
    pub(crate) words: Sources,
    /// Which attacks to run, with commas between [default: all]
    #[arg(long, value_name = "METHOD", value_parser = choice::<Method>(), value_delimiter = ',')]
    eliminate: Option<Vec<Method>>,
    /// How many items beside a generalised one count, the rarest first [default: all]
    #[arg(long, value_name = "N", value_parser = from_one())]
    context: Option<u32>,
    /// How many records of a generalised item are looked at, evenly spread
    #[arg(long, value_name = "N", value_parser = from_one())]
    rows: Option<u32>,
    /// Where the randomness of attacks starts
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

impl Sources {
    /// The one that is named; if none is, only a release can tell.
    pub(crate) fn read_one(&self) -> Result<Words> {
        let mut asked = AttackOptions::default();
        self.write(&mut asked)?;
        asked.words()
    }

    /// Into what an attack is asked.
    pub(crate) fn write(&self, asked: &mut AttackOptions) -> Result<()> {
        asked.corpus.clone_from(&self.corpus);
        asked.counts.clone_from(&self.counts);
        asked.vectors.clone_from(&self.vectors);
        asked.tokenizer.clone_from(&self.tokenizer);
        asked.sentences = self.sentences.as_deref().map(read_sentences).transpose()?;
        Ok(())
    }
}

impl Semantic {
    /// Into what an attack is asked.
    pub(crate) fn write(&self, asked: &mut AttackOptions) -> Result<()> {
        asked.eliminate.clone_from(&self.eliminate);
        asked.context = self.context.map(|n| n as usize);
        asked.rows = self.rows.map(|n| n as usize);
        asked.seed = self.seed;
        self.words.write(asked)
    }
}

/// Reads a corpus, vectors or a table of counts, whichever the file is.
pub(crate) fn recognise(path: &Path, tokenizer: Option<&Path>) -> Result<Words> {
    if cfg!(feature = "sentences") && path.join("config.json").exists() {
        return read_sentences(path).map(Words::Embedded);
    }
    let mut head = [0; 9];
    let is_read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok();
    if is_read && head == *b"first,sec" {
        return Words::read(&Files { counts: Some(path), ..Files::default() });
    }
    // A wheel is a zip file; a safetensors file begins with the length of its header, which is JSON.
    let is_vectors = is_read && (head.starts_with(b"PK\x03\x04") || head[8] == b'{');
    if path.is_dir() || tokenizer.is_some() || is_vectors {
        return Ok(Words::Vectors(Vectors::read(path, tokenizer)?));
    }
    Ok(Words::Corpus(Corpus::read(path)?))
}

#[cfg(feature = "sentences")]
fn read_sentences(folder: &Path) -> Result<Embed> {
    let sentences = disjoin_sentences::Sentences::read(folder)?;
    Ok(std::sync::Arc::new(move |dictionary: &disjoin::data::Dictionary| sentences.vectors_of(dictionary)))
}

#[cfg(not(feature = "sentences"))]
fn read_sentences(_: &Path) -> Result<Embed> {
    Err(disjoin::Error::recipe("sentences", "is not built in", "build disjoin with --features sentences"))
}
