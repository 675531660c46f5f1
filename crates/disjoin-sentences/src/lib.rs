//! What terms mean by a sentence transformer: BERT, and the mean over what it makes of a term's pieces.
//!
//! A folder holds config.json, tokenizer.json and model.safetensors, as all-MiniLM-L6-v2 is published; nothing is fetched
//! from anywhere. [`Sentences::vectors_of`] gives the vectors of a dictionary's terms, for `disjoin::run::meaning`.
//!
//! Paper:      devlin2019 (the model), reimers2019 (the mean), salton1975 (the cosine)
//! Promises:   the same vectors for a term, whatever stands beside it; what cannot be used is refused, with the file
//! Assumes:    a tokenizer with the vocabulary of the model; absolute positions
//! Departs:    a word is not known if the tokenizer does not know it, or if nothing but single letters and digits is left of
//!             it. Terms with such words are looked up by their last word, and else by the words that are known
//! Cost:       a run of the model a term
//! Checked by: tests/it/bert.rs, against loops over numbers

use std::path::Path;

use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::{BertModel, Config};
use disjoin::data::Dictionary;
use disjoin::knowledge::relatedness::Known;
use disjoin::knowledge::relatedness::vectors::Kind;
use disjoin::{Error, Place, Result};
use tokenizers::Tokenizer;

/// A model, ready to be asked.
pub struct Sentences {
    model: BertModel,
    tokenizer: Tokenizer,
    n_dimensions: usize,
    longest: usize,
}

impl Sentences {
    /// Reads the three files of a folder.
    pub fn read(folder: &Path) -> Result<Sentences> {
        let config = read_config(&folder.join("config.json"))?;
        let file = folder.join("tokenizer.json");
        let refuse = |problem: String| Error::input(Place::file(file.display().to_string()), problem);
        let mut tokenizer = Tokenizer::from_bytes(bytes_of(&file)?)
            .map_err(|_| refuse("is not a tokenizer that the library tokenizers reads".into()))?;
        let n = tokenizer.get_vocab(true).values().max().map_or(0, |&id| id as usize + 1);
        if n > config.vocab_size {
            let problem = format!("has {n} pieces, but the model {} vectors", config.vocab_size);
            return Err(refuse(problem).with_hint("name the folder of one model"));
        }
        let whole = tokenizer.with_padding(None).with_truncation(None);
        whole.map_err(|_| refuse("cannot be told to leave texts as they are".into()))?;

        let file = folder.join("model.safetensors");
        let refuse = |error: candle_core::Error| {
            let error = error.to_string();
            let problem = format!("does not hold the model of config.json: {}", error.lines().next().unwrap_or(""));
            Error::input(Place::file(file.display().to_string()), problem)
        };
        let weights =
            VarBuilder::from_buffered_safetensors(bytes_of(&file)?, DType::F32, &Device::Cpu).map_err(refuse)?;
        let model = BertModel::load(weights, &config).map_err(refuse)?;
        Ok(Sentences { model, tokenizer, n_dimensions: config.hidden_size, longest: config.max_position_embeddings })
    }

    /// The vectors of a dictionary's terms, and how these were looked up.
    pub fn vectors_of(&self, dictionary: &Dictionary) -> Result<(Vec<Option<Vec<f32>>>, Known)> {
        let terms: Vec<&str> = dictionary.iter().collect();
        let mut known = Known::default();
        let mut vectors = Vec::with_capacity(terms.len());
        for (kind, vector) in self.meanings(&terms)? {
            let kind = match kind {
                Kind::Unknown => &mut known.unknown,
                Kind::Word => &mut known.words,
                Kind::Pieces => &mut known.pieces,
                Kind::Phrase => &mut known.phrases,
                Kind::Head => &mut known.heads,
                Kind::Words => &mut known.means,
            };
            *kind += 1;
            vectors.push(vector);
        }
        Ok((vectors, known))
    }

    /// How many numbers a vector has.
    pub fn n_dimensions(&self) -> usize {
        self.n_dimensions
    }

    /// How each item is looked up, and its vector.
    pub fn meanings(&self, items: &[&str]) -> Result<Vec<(Kind, Option<Vec<f32>>)>> {
        let texts: Vec<(Kind, String)> = items.iter().map(|item| self.text_of(item)).collect();
        let known: Vec<&str> =
            texts.iter().filter(|(kind, _)| *kind != Kind::Unknown).map(|(_, text)| text.as_str()).collect();
        let mut vectors = self.embed(&known)?.into_iter();
        let meaning = |(kind, _)| match kind {
            Kind::Unknown => (kind, None),
            kind => (kind, vectors.next()),
        };
        Ok(texts.into_iter().map(meaning).collect())
    }

    /// What is asked of the model for an item.
    fn text_of(&self, item: &str) -> (Kind, String) {
        let words: Vec<(&str, Option<usize>)> =
            item.split_whitespace().map(|word| (word, self.n_pieces(word))).filter(|word| word.1 != Some(0)).collect();
        let known: Vec<&str> = words.iter().filter(|(_, n)| n.is_some()).map(|(word, _)| *word).collect();
        match (&words[..], &known[..]) {
            (_, []) => (Kind::Unknown, String::new()),
            ([(word, Some(1))], _) => (Kind::Word, (*word).to_owned()),
            ([(word, Some(_))], _) => (Kind::Pieces, (*word).to_owned()),
            (all, known) if all.len() == known.len() => (Kind::Phrase, known.join(" ")),
            ([.., (head, Some(_))], _) => (Kind::Head, (*head).to_owned()),
            (_, known) => (Kind::Words, known.join(" ")),
        }
    }

    /// How many pieces a word has; none if it is not known.
    fn n_pieces(&self, word: &str) -> Option<usize> {
        let encoding = self.tokenizer.encode_fast(word, false).ok()?;
        let pieces: Vec<String> =
            encoding.get_ids().iter().map(|&id| self.tokenizer.id_to_token(id)).collect::<Option<_>>()?;
        let bare = |piece: &str| piece.trim_start_matches("##").trim_start_matches('▁').to_owned();
        let is_letter = |piece: &String| {
            let piece = bare(piece);
            piece.len() == 1 && piece.as_bytes()[0].is_ascii_alphanumeric()
        };
        let is_strange = |piece: &String| ["[UNK]", "<unk>"].contains(&piece.as_str());
        let is_spelled = pieces.len() > 1 && pieces.iter().all(is_letter);
        (!pieces.iter().any(is_strange) && !is_spelled).then_some(pieces.len())
    }

    /// The vectors of texts: means over all that the model makes of their pieces.
    pub fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        let mut ids = Vec::with_capacity(texts.len());
        for text in texts {
            let encoding = self.tokenizer.encode_fast(*text, true);
            let encoding = encoding.map_err(|_| Error::Internal("a text could not be cut into pieces"))?;
            let mut of_text = encoding.get_ids().to_vec();
            if let Some(&end) = of_text.last().filter(|_| of_text.len() > self.longest) {
                // What is too long loses its end, but not the piece that marks it.
                of_text.truncate(self.longest);
                of_text[self.longest - 1] = end;
            }
            ids.push(of_text);
        }
        // Texts of the same length go together: nothing must be filled up, so that no text depends on its neighbours.
        let mut order: Vec<usize> = (0..texts.len()).collect();
        order.sort_by_key(|&at| ids[at].len());
        let mut vectors = vec![Vec::new(); texts.len()];
        for same in order.chunk_by(|&a, &b| ids[a].len() == ids[b].len()) {
            for batch in same.chunks(BATCH) {
                let of_batch: Vec<u32> = batch.iter().flat_map(|&at| ids[at].iter().copied()).collect();
                let run = || self.run(of_batch, batch.len());
                let found = run().map_err(|_| Error::Internal("the model could not be run"))?;
                batch.iter().zip(found).for_each(|(&at, vector)| vectors[at] = vector);
            }
        }
        Ok(vectors)
    }

    fn run(&self, ids: Vec<u32>, n: usize) -> candle_core::Result<Vec<Vec<f32>>> {
        let length = ids.len() / n;
        if length == 0 {
            return Ok(vec![vec![0.0; self.n_dimensions]; n]);
        }
        let ids = Tensor::from_vec(ids, (n, length), &Device::Cpu)?;
        self.model.forward(&ids, &ids.zeros_like()?, None)?.mean(1)?.to_vec2()
    }
}

/// How many texts are run at a time.
const BATCH: usize = 64;

fn read_config(file: &Path) -> Result<Config> {
    let refuse = |problem: &str| Error::input(Place::file(file.display().to_string()), problem);
    let config: Config = serde_json::from_slice(&bytes_of(file)?)
        .map_err(|_| refuse("is not the configuration of a BERT model").with_hint("as all-MiniLM-L6-v2 has it"))?;
    let sizes =
        [config.hidden_size, config.num_attention_heads, config.max_position_embeddings, config.type_vocab_size];
    if sizes.contains(&0) || !config.hidden_size.is_multiple_of(config.num_attention_heads) {
        return Err(refuse("has sizes that no model can have"));
    }
    Ok(config)
}

fn bytes_of(file: &Path) -> Result<Vec<u8>> {
    std::fs::read(file).map_err(|source| Error::io(file, "read the model", source))
}
