//! A small model with random weights, against loops over numbers; and what is said of folders that hold no model.

#![allow(clippy::unwrap_used)]

use std::collections::HashMap;
use std::path::Path;

use disjoin::data::Dataset;
use disjoin::knowledge::relatedness::Known;
use disjoin::knowledge::relatedness::by_embeddings;
use disjoin::knowledge::relatedness::vectors::Kind;
use disjoin_sentences::Sentences;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::json;

const HIDDEN: usize = 8;
const HEADS: usize = 2;
const LAYERS: usize = 2;
const INNER: usize = 12;
const POSITIONS: usize = 10;
const PIECES: [&str; 10] = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "heart", "knee", "##s", "pain", "x", "##y"];
const EPSILON: f64 = 1e-12;

type Weights = HashMap<String, (Vec<usize>, Vec<f32>)>;

fn weights(seed: u64) -> Weights {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut all = Weights::new();
    let mut add = |name: String, shape: &[usize]| {
        // Some scales and shifts other than one and zero.
        let n = shape.iter().product();
        all.insert(name, (shape.to_vec(), (0..n).map(|_| rng.random_range(-1.0_f32..1.0)).collect()));
    };
    for (name, n) in [("word", PIECES.len()), ("position", POSITIONS), ("token_type", 2)] {
        add(format!("embeddings.{name}_embeddings.weight"), &[n, HIDDEN]);
    }
    let mut norms = vec![String::from("embeddings")];
    for layer in 0..LAYERS {
        let of = format!("encoder.layer.{layer}");
        for (name, from, to) in [
            ("attention.self.query", HIDDEN, HIDDEN),
            ("attention.self.key", HIDDEN, HIDDEN),
            ("attention.self.value", HIDDEN, HIDDEN),
            ("attention.output.dense", HIDDEN, HIDDEN),
            ("intermediate.dense", HIDDEN, INNER),
            ("output.dense", INNER, HIDDEN),
        ] {
            add(format!("{of}.{name}.weight"), &[to, from]);
            add(format!("{of}.{name}.bias"), &[to]);
        }
        norms.extend([format!("{of}.attention.output"), format!("{of}.output")]);
    }
    for norm in norms {
        add(format!("{norm}.LayerNorm.weight"), &[HIDDEN]);
        add(format!("{norm}.LayerNorm.bias"), &[HIDDEN]);
    }
    all
}

/// A safetensors file.
fn saved(weights: &Weights) -> Vec<u8> {
    let (mut header, mut data) = (serde_json::Map::new(), Vec::new());
    for (name, (shape, values)) in weights {
        let start = data.len();
        data.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        header.insert(name.clone(), json!({ "dtype": "F32", "shape": shape, "data_offsets": [start, data.len()] }));
    }
    let header = serde_json::Value::Object(header).to_string();
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &data].concat()
}

fn config() -> serde_json::Value {
    json!({
        "vocab_size": PIECES.len(), "hidden_size": HIDDEN, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
        "intermediate_size": INNER, "hidden_act": "gelu", "hidden_dropout_prob": 0.1, "max_position_embeddings": POSITIONS,
        "type_vocab_size": 2, "initializer_range": 0.02, "layer_norm_eps": EPSILON, "pad_token_id": 0, "model_type": "bert",
    })
}

fn tokenizer() -> serde_json::Value {
    let special = |id: usize| json!({ "id": PIECES[id], "ids": [id], "tokens": [PIECES[id]] });
    let added = |id: usize| {
        json!({ "id": id, "content": PIECES[id], "single_word": false, "lstrip": false, "rstrip": false,
                "normalized": false, "special": true })
    };
    json!({
        "version": "1.0",
        "truncation": { "max_length": 3, "strategy": "LongestFirst", "stride": 0, "direction": "Right" },
        "padding": { "strategy": { "Fixed": 8 }, "direction": "Right", "pad_to_multiple_of": null, "pad_id": 0,
                     "pad_type_id": 0, "pad_token": "[PAD]" },
        "added_tokens": [added(0), added(1), added(2), added(3)],
        "normalizer": { "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null,
                        "lowercase": true },
        "pre_tokenizer": { "type": "BertPreTokenizer" },
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [{ "SpecialToken": { "id": "[CLS]", "type_id": 0 } }, { "Sequence": { "id": "A", "type_id": 0 } },
                       { "SpecialToken": { "id": "[SEP]", "type_id": 0 } }],
            "pair": [{ "Sequence": { "id": "A", "type_id": 0 } }, { "Sequence": { "id": "B", "type_id": 1 } }],
            "special_tokens": { "[CLS]": special(2), "[SEP]": special(3) },
        },
        "decoder": null,
        "model": {
            "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
            "vocab": PIECES.iter().enumerate().map(|(id, piece)| ((*piece).to_owned(), id.into()))
                .collect::<serde_json::Map<_, _>>(),
        },
    })
}

fn write(folder: &Path, weights: &Weights) {
    std::fs::write(folder.join("config.json"), config().to_string()).unwrap();
    std::fs::write(folder.join("tokenizer.json"), tokenizer().to_string()).unwrap();
    std::fs::write(folder.join("model.safetensors"), saved(weights)).unwrap();
}

type Rows = Vec<Vec<f64>>;

/// The model as devlin2019 tells it, one number after the other.
struct Naive<'a>(&'a Weights);

impl Naive<'_> {
    fn get(&self, name: &str, at: usize) -> f64 {
        f64::from(self.0[name].1[at])
    }

    fn linear(&self, name: &str, rows: &Rows) -> Rows {
        let shape = &self.0[&format!("{name}.weight")].0;
        let (to, from) = (shape[0], shape[1]);
        let one = |row: &Vec<f64>, i: usize| {
            let sum: f64 = (0..from).map(|j| self.get(&format!("{name}.weight"), i * from + j) * row[j]).sum();
            sum + self.get(&format!("{name}.bias"), i)
        };
        rows.iter().map(|row| (0..to).map(|i| one(row, i)).collect()).collect()
    }

    fn norm(&self, name: &str, rows: &Rows) -> Rows {
        let one = |row: &Vec<f64>| {
            let mean = row.iter().sum::<f64>() / HIDDEN as f64;
            let variance = row.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / HIDDEN as f64;
            let scaled = |i: usize| (row[i] - mean) / (variance + EPSILON).sqrt();
            let weight = |i: usize| self.get(&format!("{name}.LayerNorm.weight"), i);
            (0..HIDDEN).map(|i| scaled(i) * weight(i) + self.get(&format!("{name}.LayerNorm.bias"), i)).collect()
        };
        rows.iter().map(one).collect()
    }

    fn attention(&self, name: &str, rows: &Rows) -> Rows {
        let [query, key, value] = ["query", "key", "value"].map(|part| self.linear(&format!("{name}.{part}"), rows));
        let size = HIDDEN / HEADS;
        let mut out = vec![vec![0.0; HIDDEN]; rows.len()];
        for head in 0..HEADS {
            let of = head * size..(head + 1) * size;
            for (at, out) in out.iter_mut().enumerate() {
                let dot = |other: usize| of.clone().map(|i| query[at][i] * key[other][i]).sum::<f64>();
                let powers: Vec<f64> = (0..rows.len()).map(|other| (dot(other) / (size as f64).sqrt()).exp()).collect();
                let sum: f64 = powers.iter().sum();
                for i in of.clone() {
                    out[i] = (0..rows.len()).map(|other| powers[other] / sum * value[other][i]).sum();
                }
            }
        }
        out
    }

    fn run(&self, ids: &[usize]) -> Vec<f64> {
        let embedding = |kind: &str, id: usize, i: usize| {
            self.get(&format!("embeddings.{kind}_embeddings.weight"), id * HIDDEN + i)
        };
        let row = |at: usize| {
            let sum = |i| embedding("word", ids[at], i) + embedding("position", at, i) + embedding("token_type", 0, i);
            (0..HIDDEN).map(sum).collect()
        };
        let mut rows: Rows = self.norm("embeddings", &(0..ids.len()).map(row).collect());
        for layer in 0..LAYERS {
            let of = format!("encoder.layer.{layer}");
            let attended = self.attention(&format!("{of}.attention.self"), &rows);
            let attended = self.linear(&format!("{of}.attention.output.dense"), &attended);
            rows = self.norm(&format!("{of}.attention.output"), &plus(&attended, &rows));
            let mut inner = self.linear(&format!("{of}.intermediate.dense"), &rows);
            inner.iter_mut().flatten().for_each(|value| *value *= 0.5 * (1.0 + erf(*value / 2.0_f64.sqrt())));
            rows =
                self.norm(&format!("{of}.output"), &plus(&self.linear(&format!("{of}.output.dense"), &inner), &rows));
        }
        (0..HIDDEN).map(|i| rows.iter().map(|row| row[i]).sum::<f64>() / rows.len() as f64).collect()
    }
}

fn plus(a: &Rows, b: &Rows) -> Rows {
    a.iter().zip(b).map(|(a, b)| a.iter().zip(b).map(|(a, b)| a + b).collect()).collect()
}

/// The error function, by Simpson's rule.
fn erf(x: f64) -> f64 {
    const STEPS: usize = 2_000;
    let width = x / STEPS as f64;
    let weight = |i: usize| match i {
        0 | STEPS => 1.0,
        i if i % 2 == 1 => 4.0,
        _ => 2.0,
    };
    let sum: f64 = (0..=STEPS).map(|i| weight(i) * (-(i as f64 * width).powi(2)).exp()).sum();
    2.0 / std::f64::consts::PI.sqrt() * sum * width / 3.0
}

#[test]
fn the_model_is_the_naive_one() {
    for seed in 0..5 {
        let folder = tempfile::tempdir().unwrap();
        let weights = weights(seed);
        write(folder.path(), &weights);
        let sentences = Sentences::read(folder.path()).unwrap();
        assert_eq!(sentences.n_dimensions(), HIDDEN);
        let texts = ["heart", "Knees pain", "knee", "heart heart pain knees", "nothing", ""];
        let ids: [&[usize]; 6] =
            [&[2, 4, 3], &[2, 5, 6, 7, 3], &[2, 5, 3], &[2, 4, 4, 7, 5, 6, 3], &[2, 1, 3], &[2, 3]];
        let found = sentences.embed(&texts).unwrap();
        for ((text, ids), found) in texts.iter().zip(ids).zip(&found) {
            let expected = Naive(&weights).run(ids);
            for (a, b) in found.iter().zip(&expected) {
                assert!((f64::from(*a) - b).abs() < 1e-4, "{text}: {found:?} {expected:?}");
            }
            // Alone it is the same as beside others.
            assert_eq!(sentences.embed(&[text]).unwrap()[0].len(), HIDDEN);
        }
        // A text that is too long is cut.
        let long = ["heart"; 50].join(" ");
        let cut = [&[2][..], &[4; POSITIONS - 2], &[3]].concat();
        let found = &sentences.embed(&[&long]).unwrap()[0];
        let expected = Naive(&weights).run(&cut);
        assert!(found.iter().zip(&expected).all(|(a, b)| (f64::from(*a) - b).abs() < 1e-4));
    }
}

#[test]
fn terms_are_words_then_phrases_then_heads_then_words() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &weights(1));
    let sentences = Sentences::read(folder.path()).unwrap();
    let items = ["knee", "knees", "knee pain", "odd pain", "pain odd", "odd", "xy", "", "heart"];
    let meanings = sentences.meanings(&items).unwrap();
    let kinds: Vec<Kind> = meanings.iter().map(|meaning| meaning.0).collect();
    use Kind::{Head, Phrase, Pieces, Unknown, Word, Words};
    assert_eq!(kinds, [Word, Pieces, Phrase, Head, Words, Unknown, Unknown, Unknown, Word]);
    assert_eq!(meanings[3].1, meanings[4].1);
    assert!(meanings[5].1.is_none() && meanings[6].1.is_none());

    let data = Dataset::from_texts([["knee", "knees", "knee pain", "odd pain", "pain odd", "odd"]]);
    let (vectors, known) = sentences.vectors_of(&data.dictionary).unwrap();
    let distance = by_embeddings(vectors);
    assert_eq!(known, Known { words: 1, pieces: 1, phrases: 1, heads: 1, means: 1, unknown: 1 });
    assert!(distance(0, 0) < 1e-6 && distance(3, 4) < 1e-6 && distance(0, 5).is_nan());
    let vector = |at: usize| meanings[at].1.clone().unwrap();
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum::<f64>();
    let cosine = dot(&vector(0), &vector(2)) / (dot(&vector(0), &vector(0)) * dot(&vector(2), &vector(2))).sqrt();
    assert!((distance(0, 2) - 2.0 * (1.0 - cosine)).abs() < 1e-5);
}

#[test]
fn folders_without_a_model_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let error = || Sentences::read(folder.path()).err().unwrap().to_string();
    assert!(error().contains("config.json: cannot read the model"));
    let good = weights(1);
    let mut lacking = good.clone();
    lacking.remove("encoder.layer.1.output.dense.bias");
    let mut larger = tokenizer();
    larger["model"]["vocab"]["more"] = 10.into();
    let mut odd = config();
    odd["num_attention_heads"] = 3.into();
    let mut none = config();
    none["num_attention_heads"] = 0.into();
    let whole = saved(&good);
    for (file, bytes, problem) in [
        ("config.json", b"{}".to_vec(), "config.json: is not the configuration"),
        ("config.json", odd.to_string().into_bytes(), "config.json: has sizes"),
        ("config.json", none.to_string().into_bytes(), "config.json: has sizes"),
        ("tokenizer.json", b"{}".to_vec(), "tokenizer.json: is not a tokenizer"),
        ("tokenizer.json", larger.to_string().into_bytes(), "tokenizer.json: has 11 pieces, but the model 10 vectors"),
        ("model.safetensors", saved(&lacking), "model.safetensors: does not hold the model of config.json"),
        ("model.safetensors", whole[..whole.len() - 1].to_vec(), "model.safetensors: does not hold"),
        ("model.safetensors", Vec::new(), "model.safetensors: does not hold"),
    ] {
        write(folder.path(), &good);
        assert!(Sentences::read(folder.path()).is_ok());
        std::fs::write(at(file), bytes).unwrap();
        let error = error();
        assert!(error.contains(problem), "{problem}: {error}");
    }
}
