//! How a word is cut into the pieces that a table of vectors has rows for: byte-pair encoding.
//!
//! A word begins as its letters, with a mark before the first; the two neighbours that the list of merges names earliest
//! become one, until none is named. The list comes with the table, as the JSON of a tokenizer.
//!
//! Paper:      sennrich2016, algorithm 1, as files of the library `tokenizers` have it
//! Promises:   the pieces are those that `tokenizers` cuts
//! Assumes:    words are marked by ▁, as in sentencepiece; other kinds of tokenizers are refused
//! Departs:    a word with a letter that the vocabulary lacks is not known, where `tokenizers` goes on with its bytes: bytes
//!             have no meaning. Nor is a word known that is cut into single letters and digits
//! Cost:       letters of a word, squared
//! Checked by: tests in this file; against `tokenizers` in crates/disjoin-sentences/tests/pieces.rs

use std::collections::HashMap;

use serde_json::Value;

use crate::error::{Error, Place, Result};

/// Stands before a word.
const MARK: char = '▁';

/// What a tokenizer knows.
#[derive(Debug, Clone)]
pub struct Pieces {
    ids: HashMap<String, u32, foldhash::fast::RandomState>,
    /// What two neighbours become, and how early they are named.
    merges: HashMap<(u32, u32), Merge, foldhash::fast::RandomState>,
    /// Pieces of one letter or digit, by id.
    letters: Vec<bool>,
    /// Whether a word that is a piece is never cut.
    whole_first: bool,
}

#[derive(Debug, Clone, Copy)]
struct Merge {
    rank: u32,
    into: u32,
}

impl Pieces {
    /// Reads a tokenizer's JSON; `name` is for messages.
    pub fn read(text: &[u8], name: &str) -> Result<Self> {
        let refuse = |problem: String| Error::input(Place::file(name), problem).with_hint(HINT);
        let json: Value = serde_json::from_slice(text).map_err(|error| {
            Error::input(Place::line(name, error.line() as u64), "is not JSON, or not all of it").with_hint(HINT)
        })?;
        let model = &json["model"];
        let (Some(vocabulary), Some(merges)) = (model["vocab"].as_object(), model["merges"].as_array()) else {
            let kind = model["type"].as_str().filter(|kind| *kind != "BPE");
            let found = kind.map_or_else(|| "no vocabulary with merges".to_owned(), |kind| format!("a model {kind}"));
            return Err(refuse(format!("holds {found}: byte-pair encoding was expected")));
        };
        if !is_marked(&json) {
            return Err(refuse(format!("does not mark words by {MARK}: it is a tokenizer of another kind")));
        }
        let is_plain = ["continuing_subword_prefix", "end_of_word_suffix"]
            .iter()
            .all(|key| model[key].as_str().is_none_or(str::is_empty));
        if !is_plain {
            return Err(refuse("marks pieces inside of words: it is a tokenizer of another kind".into()));
        }
        let mut ids = HashMap::default();
        for (piece, id) in vocabulary {
            let id = id.as_u64().and_then(|id| u32::try_from(id).ok()).filter(|&id| id < MOST);
            let id = id.ok_or_else(|| refuse("numbers a piece by what is not a number of a row".into()))?;
            ids.insert(piece.clone(), id);
        }
        let n = ids.values().max().map_or(0, |&id| id as usize + 1);
        let mut letters = vec![false; n];
        for (piece, &id) in &ids {
            let mut rest = piece.strip_prefix(MARK).unwrap_or(piece).chars();
            let first = rest.next();
            letters[id as usize] = rest.next().is_none() && first.is_none_or(|letter| letter.is_ascii_alphanumeric());
        }
        let mut ranked = HashMap::default();
        for (rank, merge) in (0..).zip(merges) {
            let pair = match merge {
                Value::String(pair) => pair.split_once(' '),
                Value::Array(pair) => pair.first().and_then(Value::as_str).zip(pair.get(1).and_then(Value::as_str)),
                _ => None,
            };
            let found = pair.and_then(|(a, b)| Some((*ids.get(a)?, *ids.get(b)?, *ids.get(&format!("{a}{b}"))?)));
            let Some((a, b, into)) = found else {
                return Err(refuse(format!("merge {} is not one of two pieces into a third", rank + 1)));
            };
            // Of a pair that is named twice the last counts, as in the library.
            ranked.insert((a, b), Merge { rank, into });
        }
        Ok(Pieces { ids, merges: ranked, letters, whole_first: model["ignore_merges"] == true })
    }

    /// The number of rows that a table of vectors must have.
    pub fn len(&self) -> usize {
        self.letters.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.letters.is_empty()
    }

    /// The pieces of a word; none if it is not known.
    pub fn cut(&self, word: &str) -> Option<Vec<u32>> {
        let marked = format!("{MARK}{word}");
        if let Some(&whole) = self.ids.get(&marked).filter(|_| self.whole_first) {
            return Some(vec![whole]);
        }
        let letter = |letter: char| self.ids.get(letter.encode_utf8(&mut [0; 4]) as &str).copied();
        let mut pieces = marked.chars().map(letter).collect::<Option<Vec<u32>>>()?;
        loop {
            let merge = |(at, pair): (usize, &[u32])| Some((self.merges.get(&(pair[0], pair[1]))?, at));
            let Some((merge, at)) =
                pieces.windows(2).enumerate().filter_map(merge).min_by_key(|(merge, at)| (merge.rank, *at))
            else {
                break;
            };
            pieces[at] = merge.into;
            pieces.remove(at + 1);
        }
        let is_spelled = pieces.len() > 1 && pieces.iter().all(|&piece| self.letters[piece as usize]);
        (!word.is_empty() && !is_spelled).then_some(pieces)
    }
}

/// No table has as many rows.
const MOST: u32 = 1 << 24;

const HINT: &str = "name the tokenizer that the vectors came with";

/// Whether a mark stands before words: put there by the normalizer, or in place of blanks.
fn is_marked(json: &Value) -> bool {
    let all =
        |part: &Value, key: &str| -> Vec<Value> { part[key].as_array().cloned().unwrap_or_else(|| vec![part.clone()]) };
    let mark = MARK.to_string();
    let by_normalizer = all(&json["normalizer"], "normalizers")
        .iter()
        .any(|step| step["type"] == "Prepend" && step["prepend"].as_str() == Some(&mark));
    let by_blanks = all(&json["pre_tokenizer"], "pretokenizers").iter().any(|step| {
        let before =
            step["prepend_scheme"].as_str().map_or(step["add_prefix_space"] != false, |scheme| scheme != "never");
        step["type"] == "Metaspace" && step["replacement"].as_str() == Some(&mark) && before
    });
    by_normalizer || by_blanks
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = r#"{
        "normalizer": {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"}]},
        "model": {
            "type": "BPE",
            "vocab": {"<unk>": 0, "▁": 1, "l": 2, "o": 3, "w": 4, "e": 5, "r": 6, "lo": 7, "er": 8, "▁lo": 9, "▁low": 10, "we": 11},
            "merges": ["l o", "e r", "▁ lo", ["▁lo", "w"], "w e"]
        }
    }"#;

    #[test]
    fn pieces_are_merged_in_the_order_of_the_list() {
        let pieces = Pieces::read(SMALL.as_bytes(), "x").unwrap();
        assert_eq!(pieces.len(), 12);
        for (word, expected) in [
            ("low", Some(vec![10])),
            ("lower", Some(vec![10, 8])),
            // "we" is named after "er": no letter is left for it.
            ("lowe", Some(vec![10, 5])),
            ("wer", Some(vec![1, 4, 8])),
            ("wewer", Some(vec![1, 11, 4, 8])),
            // Single letters, an unknown one, and nothing.
            ("rl", None),
            ("lowx", None),
            ("", None),
        ] {
            assert_eq!(pieces.cut(word), expected, "{word}");
        }
    }

    #[test]
    fn words_that_are_pieces_may_stay_whole() {
        let text = SMALL.replace("\"BPE\",", "\"BPE\", \"ignore_merges\": true,").replace("[\"▁lo\", \"w\"], ", "");
        assert_eq!(Pieces::read(text.as_bytes(), "x").unwrap().cut("low"), Some(vec![10]));
        let text = text.replace("true", "false");
        assert_eq!(Pieces::read(text.as_bytes(), "x").unwrap().cut("low"), Some(vec![9, 4]));
    }

    #[test]
    fn other_tokenizers_are_refused() {
        for (from, to, problem) in [
            ("{", "", "x:2: is not JSON"),
            ("\"BPE\"", "\"BPE\", \"continuing_subword_prefix\": \"##\"", "inside of words"),
            ("Prepend", "Lowercase", "does not mark words"),
            ("merges\"", "none\"", "no vocabulary with merges"),
            ("\"e r\"", "\"e q\"", "merge 2 is not"),
            ("\"lo\": 7", "\"lo\": -7", "not a number of a row"),
            ("\"lo\": 7", "\"lo\": 70000000000", "not a number of a row"),
        ] {
            let text = SMALL.replacen(from, to, 1);
            assert_ne!(text, SMALL);
            let error = Pieces::read(text.as_bytes(), "x").unwrap_err().to_string();
            assert!(error.contains(problem), "{problem}: {error}");
        }
        let error = Pieces::read(br#"{"model": {"type": "WordPiece", "vocab": {}}}"#, "x").unwrap_err().to_string();
        assert!(error.contains("a model WordPiece: byte-pair encoding was expected"), "{error}");
        let spaced = SMALL.replace(
            r#""normalizer": {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"}]}"#,
            r#""pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"}"#,
        );
        assert!(Pieces::read(spaced.as_bytes(), "x").is_ok());
        assert!(Pieces::read(spaced.replace("always", "never").as_bytes(), "x").is_err());
    }
}
