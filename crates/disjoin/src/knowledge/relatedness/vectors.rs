//! A table of word vectors that somebody else made, and the meaning of items in it.
//!
//! The table has one row a piece; a tokenizer says how words are cut into pieces. `stored.rs` reads both.
//!
//! An item of one word is the mean over the rows of its pieces, one of several words the mean over the pieces of all
//! (that is how such tables are trained, so this is the phrase); if a word of it is not known it is looked up by its last
//! word, and if that is not known by the mean over the words that are.
//!
//! Assumes:    English; of a word in lower case, in singular, with a capital, and in capitals the form of the fewest pieces
//!             counts, for tables know Jerusalem and DNA, but not jerusalem and dna
//! Cost:       four bytes a number of the table
//! Checked by: tests of `stored.rs`

#[cfg(feature = "vectors")]
mod stored;

use super::cosine::unit;
use super::pieces::Pieces;
use crate::read::words::{as_written, singular};

/// A table of vectors, for asking.
pub struct Vectors {
    pieces: Pieces,
    rows: Vec<f32>,
    n_dimensions: usize,
}

/// How an item was looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Nobody knows.
    Unknown,
    /// As a word that has a row.
    Word,
    /// As a word that is put together from pieces.
    Pieces,
    /// As a phrase: all of its words.
    Phrase,
    /// By its last word.
    Head,
    /// By the mean over those of its words that are known.
    Words,
}

impl Vectors {
    /// The number of vectors.
    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// How many numbers a vector has.
    pub fn n_dimensions(&self) -> usize {
        self.n_dimensions
    }

    /// How an item is looked up, and its vector, of length 1.
    pub fn meaning(&self, item: &str) -> (Kind, Option<Vec<f32>>) {
        let of_words: Vec<Option<Vec<u32>>> = as_written(item).map(|word| self.cut(&word)).collect();
        let (kind, pieces) = match &of_words[..] {
            [] => (Kind::Unknown, Vec::new()),
            [None] => (Kind::Unknown, Vec::new()),
            [Some(pieces)] if pieces.len() == 1 => (Kind::Word, pieces.clone()),
            [Some(pieces)] => (Kind::Pieces, pieces.clone()),
            all if all.iter().all(Option::is_some) => {
                (Kind::Phrase, of_words.into_iter().flatten().flatten().collect())
            }
            [.., Some(head)] => (Kind::Head, head.clone()),
            _ => (Kind::Words, of_words.into_iter().flatten().flatten().collect()),
        };
        let vector = if pieces.is_empty() { None } else { unit(self.mean(&pieces)) };
        (if vector.is_some() { kind } else { Kind::Unknown }, vector)
    }

    /// The pieces of a word, in the form that has the fewest.
    fn cut(&self, word: &str) -> Option<Vec<u32>> {
        let mut letters = word.chars();
        let first = letters.next()?;
        let capital: String = first.to_uppercase().chain(letters).collect();
        let mut best = self.pieces.cut(word);
        for form in [singular(word), capital, word.to_uppercase()] {
            if best.as_ref().is_some_and(|best| best.len() == 1) {
                break;
            }
            let is_better = |pieces: &Vec<u32>| best.as_ref().is_none_or(|best| pieces.len() < best.len());
            if let Some(pieces) = self.pieces.cut(&form).filter(is_better) {
                best = Some(pieces);
            }
        }
        best
    }

    fn mean(&self, pieces: &[u32]) -> Vec<f32> {
        let mut sum = vec![0.0; self.n_dimensions];
        for &piece in pieces {
            let row = &self.rows[piece as usize * self.n_dimensions..][..self.n_dimensions];
            sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += value / pieces.len() as f32);
        }
        sum
    }
}

#[cfg(not(feature = "vectors"))]
impl Vectors {
    /// Stands in for the reader where it is not compiled in.
    pub fn read(path: &std::path::Path, _: Option<&std::path::Path>) -> crate::error::Result<Vectors> {
        let place = crate::error::Place::file(path.display().to_string());
        Err(crate::error::Error::input(place, "this build of disjoin reads no word vectors")
            .with_hint("build it with the feature `vectors`, or name a corpus or a table of counts"))
    }
}
