//! The pieces that `disjoin` cuts words into are those of the library `tokenizers`.

#![allow(clippy::unwrap_used)]

use disjoin::knowledge::relatedness::pieces::Pieces;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::json;
use tokenizers::Tokenizer;

/// A tokenizer as wordllama has one: letters, and merges of what there is already, drawn at random.
fn drawn(rng: &mut ChaCha8Rng, letters: &[char], n_merges: usize, whole_first: bool) -> serde_json::Value {
    let mut pieces: Vec<String> = vec!["<unk>".into(), "▁".into()];
    pieces.extend(letters.iter().map(char::to_string));
    pieces.extend((0..=255).map(|byte| format!("<0x{byte:02X}>")));
    let mut parts: Vec<String> = pieces[1..2 + letters.len()].to_vec();
    let mut merges = Vec::new();
    while merges.len() < n_merges {
        let [a, b] = std::array::from_fn(|_| parts[rng.random_range(0..parts.len())].clone());
        let merge = (a.clone(), b.clone());
        if b.contains('▁') || a.chars().count() + b.chars().count() > 6 || merges.contains(&merge) {
            continue;
        }
        let both = a + &b;
        if !pieces.contains(&both) {
            pieces.push(both.clone());
            parts.push(both);
        }
        merges.push(merge);
    }
    let vocabulary: serde_json::Map<_, _> =
        pieces.iter().enumerate().map(|(id, piece)| (piece.clone(), id.into())).collect();
    json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
        "normalizer": { "type": "Sequence", "normalizers": [
            { "type": "Prepend", "prepend": "▁" },
            { "type": "Replace", "pattern": { "String": " " }, "content": "▁" },
        ] },
        "pre_tokenizer": null, "post_processor": null, "decoder": null,
        "model": {
            "type": "BPE", "dropout": null, "unk_token": "<unk>", "continuing_subword_prefix": null,
            "end_of_word_suffix": null, "fuse_unk": true, "byte_fallback": true, "ignore_merges": whole_first,
            "vocab": vocabulary, "merges": merges.iter().map(|(a, b)| format!("{a} {b}")).collect::<Vec<_>>(),
        },
    })
}

#[test]
fn words_are_cut_as_the_library_cuts_them() {
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    let letters = ['a', 'b', 'c', 'é', 'D', '7'];
    let (mut known, mut unknown) = (0, 0);
    for round in 0..60 {
        let json = drawn(&mut rng, &letters, 3 + round, round % 3 == 0).to_string();
        let ours = Pieces::read(json.as_bytes(), "x").unwrap();
        let theirs = Tokenizer::from_bytes(&json).unwrap();
        assert_eq!(ours.len(), theirs.get_vocab_size(true));
        for _ in 0..300 {
            let n = rng.random_range(1..10);
            let mut word: String = (0..n).map(|_| letters[rng.random_range(0..letters.len())]).collect();
            if rng.random_bool(0.05) {
                word.push('ß');
            }
            let encoding = theirs.encode_fast(word.as_str(), false).unwrap();
            let texts: Vec<String> = encoding.get_ids().iter().map(|&id| theirs.id_to_token(id).unwrap()).collect();
            let is_strange = texts.iter().any(|piece| piece.starts_with('<'));
            let is_letter = |piece: &String| {
                let rest = piece.trim_start_matches('▁');
                rest.is_empty() || rest.len() == 1 && rest.as_bytes()[0].is_ascii_alphanumeric()
            };
            let is_spelled = texts.len() > 1 && texts.iter().all(is_letter);
            match ours.cut(&word) {
                Some(pieces) => {
                    assert_eq!(pieces, encoding.get_ids(), "{word} {texts:?}");
                    known += 1;
                }
                None => {
                    assert!(is_strange || is_spelled, "{word} {texts:?}");
                    unknown += 1;
                }
            }
            assert_eq!(ours.cut(&word).is_none(), is_strange || is_spelled, "{word} {texts:?}");
        }
    }
    assert!(known > 2_000 && unknown > 200, "{known} {unknown}");
}
