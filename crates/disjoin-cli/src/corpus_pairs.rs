//! Pairs of items in `disjoin corpus`: read, looked up, and their distances.

use std::path::Path;

use disjoin::data::Dataset;
use disjoin::knowledge::relatedness::corpus::Meaning;
use disjoin::knowledge::relatedness::cosine::between_units;
use disjoin::knowledge::relatedness::vectors::Kind;
use disjoin::knowledge::relatedness::{Known, between};
use disjoin::memory::{Memory, read_file};
use disjoin::run::meaning::Words;
use disjoin::{Error, Place, Result};
use serde_json::json;

/// The distances of pairs.
pub(crate) fn distances(words: &Words, pairs: &[(String, String, f64)]) -> Result<Vec<f64>> {
    Ok(match words {
        Words::Corpus(corpus) => {
            let distance =
                |(a, b, _): &(String, String, f64)| between(corpus.postings(), &corpus.meaning(a), &corpus.meaning(b));
            pairs.iter().map(distance).collect()
        }
        Words::Vectors(vectors) => {
            let distance = |(a, b, _): &(String, String, f64)| match (vectors.meaning(a).1, vectors.meaning(b).1) {
                (Some(a), Some(b)) => between_units(&a, &b),
                _ => f64::NAN,
            };
            pairs.iter().map(distance).collect()
        }
        words => {
            let items = Dataset::from_texts(pairs.iter().map(|(a, b, _)| [a, b])).dictionary;
            let told = words.of_terms(&items)?;
            let of = |(a, b, _): &(String, String, f64)| match (&told, items.get(a), items.get(b)) {
                (Some(told), Some(a), Some(b)) => (told.distance)(a, b),
                _ => f64::NAN,
            };
            pairs.iter().map(of).collect()
        }
    })
}

/// How an item was looked up, and in how many documents it is.
pub(crate) fn looked_up(words: &Words, item: &str) -> Result<serde_json::Value> {
    let kind = match words {
        Words::Corpus(corpus) => {
            let count = |of| corpus.postings().count(of);
            let (kind, documents) = match corpus.meaning(item) {
                Meaning::Unknown => ("unknown", 0),
                Meaning::Word(of) => ("word", count(&of)),
                Meaning::Phrase(of) => ("phrase", count(&of)),
                Meaning::Head(of) => ("last word", count(&of)),
                Meaning::Words(of) => ("words", of.iter().map(count).max().unwrap_or_default()),
            };
            return Ok(json!({ "item": item, "as": kind, "documents": documents }));
        }
        Words::Vectors(vectors) => vectors.meaning(item).0,
        words => {
            let told = words.of_terms(&Dataset::from_texts([[item]]).dictionary)?;
            told.map_or(Kind::Unknown, |told| match told.known {
                Known { words: 1, .. } => Kind::Word,
                Known { pieces: 1, .. } => Kind::Pieces,
                Known { phrases: 1, .. } => Kind::Phrase,
                Known { heads: 1, .. } => Kind::Head,
                Known { means: 1, .. } => Kind::Words,
                _ => Kind::Unknown,
            })
        }
    };
    let kind = match kind {
        Kind::Unknown => "unknown",
        Kind::Word => "word",
        Kind::Pieces => "pieces",
        Kind::Phrase => "phrase",
        Kind::Head => "last word",
        Kind::Words => "words",
    };
    Ok(json!({ "item": item, "as": kind }))
}

/// Two items a line and perhaps a number; a first line whose third field is not a number is a header.
pub(crate) fn read_pairs(file: &Path) -> Result<Vec<(String, String, f64)>> {
    let name = file.display().to_string();
    let text = String::from_utf8(read_file(file, "read", Memory::default())?)
        .map_err(|_| Error::input(Place::file(&name), "is not valid UTF-8"))?;
    let mut pairs = Vec::new();
    for (at, line) in (1..).zip(text.lines()) {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let fields: Vec<&str> = line.split(if line.contains('\t') { '\t' } else { ',' }).map(str::trim).collect();
        let [first, second, ref rest @ ..] = fields[..] else {
            return Err(Error::input(Place::line(name, at), "two items were expected, with a tab or comma between"));
        };
        let rating = rest.first().map_or(Ok(f64::NAN), |rating| rating.parse());
        match rating {
            Ok(rating) => pairs.push((first.to_owned(), second.to_owned(), rating)),
            Err(_) if at == 1 => {}
            Err(_) => return Err(Error::input(Place::line(name, at), "the third field is not a number")),
        }
    }
    Ok(pairs)
}
