//! How far apart in meaning are two terms? What an adversary knows without knowing anybody.
//!
//! A scorer gives the distance of two terms of a dictionary, 0 and more, not a number if it does not know one of them: from
//! a [`Corpus`] of documents ([`by_corpus`]), from a table of counts that somebody else made ([`by_counts`]), from
//! [`Vectors`] of words ([`by_vectors`]) or of whole terms ([`by_embeddings`]), or from records themselves
//! ([`by_records`]). Each is a function; attacks take any.
//!
//! Terms of several words are looked up as a phrase, by their last word if the phrase is nowhere, and by the mean over
//! their words if that is nowhere either. [`Known`] tells how many of a dictionary's terms were looked up in which way.

mod agreement;
pub mod corpus;
pub mod cosine;
mod counts;
pub mod ngd;
pub mod pieces;
pub mod postings;
pub mod vectors;

use serde::Serialize;

use crate::data::{Dictionary, TermId, Transactions};
pub use agreement::spearman;
pub use corpus::Corpus;
use corpus::Meaning;
pub use cosine::by_embeddings;
pub use counts::Counts;
use postings::{Documents, Postings};
pub use vectors::Vectors;

/// How terms of a dictionary were looked up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Known {
    /// As a single word.
    pub words: u64,
    /// As a single word that is put together from pieces.
    pub pieces: u64,
    /// As a phrase.
    pub phrases: u64,
    /// By the last word.
    pub heads: u64,
    /// By the mean over words.
    pub means: u64,
    /// Not at all.
    pub unknown: u64,
}

/// The distances of a dictionary's terms in a corpus.
pub fn by_corpus<'a>(
    corpus: &'a Corpus,
    dictionary: &Dictionary,
) -> (impl Fn(TermId, TermId) -> f64 + Sync + use<'a>, Known) {
    let mut known = Known::default();
    let look_up = |text: &str| {
        let meaning = corpus.meaning(text);
        let kind = match &meaning {
            Meaning::Unknown => &mut known.unknown,
            Meaning::Word(_) => &mut known.words,
            Meaning::Phrase(_) => &mut known.phrases,
            Meaning::Head(_) => &mut known.heads,
            Meaning::Words(_) => &mut known.means,
        };
        *kind += 1;
        meaning
    };
    let meanings: Vec<Meaning> = dictionary.iter().map(look_up).collect();
    (move |a: TermId, b: TermId| between(corpus.postings(), &meanings[a as usize], &meanings[b as usize]), known)
}

/// The distance of two meanings: the mean over words where they are looked up by words.
pub fn between(postings: &Postings, a: &Meaning, b: &Meaning) -> f64 {
    let (a, b) = (documents(a), documents(b));
    let (mut sum, mut n) = (0.0, 0.0);
    for a in a {
        for b in b {
            let counts = (postings.count(a), postings.count(b), postings.both(a, b));
            let distance = ngd::smoothed(counts.0, counts.1, counts.2, postings.n_documents());
            if distance.is_finite() {
                sum += distance;
                n += 1.0;
            }
        }
    }
    // Nothing known is 0 / 0, which is not a number.
    sum / n
}

fn documents(meaning: &Meaning) -> &[Documents] {
    match meaning {
        Meaning::Unknown => &[],
        Meaning::Word(one) | Meaning::Phrase(one) | Meaning::Head(one) => std::slice::from_ref(one),
        Meaning::Words(all) => all,
    }
}

/// The distances of a dictionary's terms by a table of counts.
pub fn by_counts<'a>(
    counts: &'a Counts,
    dictionary: &Dictionary,
) -> (impl Fn(TermId, TermId) -> f64 + Sync + use<'a>, Known) {
    let items: Vec<Option<TermId>> = dictionary.iter().map(|text| counts.item(text)).collect();
    let unknown = items.iter().filter(|item| item.is_none()).count() as u64;
    let known = Known { words: items.len() as u64 - unknown, unknown, ..Known::default() };
    let distance = move |a: TermId, b: TermId| match (items[a as usize], items[b as usize]) {
        (Some(a), Some(b)) => counts.distance(a, b),
        _ => f64::NAN,
    };
    (distance, known)
}

/// The distances of a dictionary's terms by vectors of their words.
pub fn by_vectors(
    vectors: &Vectors,
    dictionary: &Dictionary,
) -> (impl Fn(TermId, TermId) -> f64 + Sync + use<>, Known) {
    let mut known = Known::default();
    let look_up = |text: &str| {
        let (kind, vector) = vectors.meaning(text);
        let kind = match kind {
            vectors::Kind::Unknown => &mut known.unknown,
            vectors::Kind::Word => &mut known.words,
            vectors::Kind::Pieces => &mut known.pieces,
            vectors::Kind::Phrase => &mut known.phrases,
            vectors::Kind::Head => &mut known.heads,
            vectors::Kind::Words => &mut known.means,
        };
        *kind += 1;
        vector
    };
    let of_terms: Vec<Option<Vec<f32>>> = dictionary.iter().map(look_up).collect();
    (by_embeddings(of_terms), known)
}

/// The distances of terms by the records that hold them: a release's own, or other people's.
///
/// What no record holds is not known.
pub fn by_records(records: &Transactions, n_terms: usize) -> impl Fn(TermId, TermId) -> f64 + Sync + use<> {
    let lists: Vec<&[TermId]> = records.iter().collect();
    let postings = Postings::new(lists.into_iter(), n_terms);
    move |a, b| {
        let (a, b) = (Documents::Word(a), Documents::Word(b));
        ngd::smoothed(postings.count(&a), postings.count(&b), postings.both(&a, &b), postings.n_documents())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dataset;

    #[test]
    fn related_terms_are_nearer() {
        let mut builder = corpus::Builder::default();
        for text in ["flu and fever", "flu, fever", "fever with flu", "wheel and car", "a car wheel", "fever and car"] {
            builder.add(text);
        }
        let corpus = builder.finish(Vec::new()).unwrap();
        let terms =
            Dataset::from_texts([["flu", "fever", "car", "jet lag", "old car", "nothing car unheard"]]).dictionary;
        let (distance, known) = by_corpus(&corpus, &terms);
        assert_eq!(known, Known { words: 3, pieces: 0, phrases: 0, heads: 1, means: 1, unknown: 1 });
        assert!(distance(0, 1) < distance(1, 2) && distance(1, 2) < distance(0, 2));
        assert!(distance(0, 3).is_nan());
        assert_eq!(distance(4, 1), distance(2, 1));
        assert_eq!(distance(5, 1), distance(2, 1));
    }

    #[test]
    fn records_tell_what_goes_together() {
        let data = Dataset::from_texts([vec!["a", "b"], vec!["a", "b"], vec!["c"], vec!["c", "a"], vec!["d"]]);
        let distance = by_records(&data.records, 5);
        assert!(distance(0, 1) < distance(0, 2));
        assert_eq!(distance(0, 1), ngd::smoothed(3, 2, 2, 5));
        assert!(distance(0, 4).is_nan());
    }
}
