//! Small changes: to bytes, to the pieces of a text, and to the values of a tree.
//!
//! Numbers stay small. What a claimed count of billions does to memory is a question of its own, and a reader that refuses it
//! late would only be slow here.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde_json::{Map, Number, Value};

use crate::targets::Text;

/// Numbers at which programs break.
const NUMBERS: [&str; 16] =
    ["0", "1", "2", "3", "5", "-1", "255", "256", "0.5", "1e-9", "1e3", "-0", "00", "1.5", "65536", "NaN"];

/// Words that mean something to one of the formats.
const WORDS: [&str; 24] = [
    "null", "true", "false", "\"\"", "[]", "{}", "*", "a", "b", "é", "\u{feff}", "\"", "'", ",", ";", "\t", " ", "\n",
    "\r\n", "-1", "-2", "|", "..", "\u{0}",
];

/// Changes an input, once or a few times. `other` is another input of the same target.
pub(crate) fn mutate(bytes: &[u8], other: &[u8], text: Text, rng: &mut ChaCha8Rng) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    // Most changes are single ones: of two, one is often enough to be refused.
    for _ in 0..[1, 1, 1, 1, 1, 2, 2, 4][rng.random_range(0..8_usize)] {
        let one = rng.random_range(0..16_u32);
        bytes = match (text, one) {
            (Text::Json, 0..11) => json_line(&bytes, rng),
            (Text::Toml, 0..11) => toml(&bytes, rng),
            (Text::Json | Text::Toml | Text::Plain, 0..13) => pieces(&bytes, rng),
            (Text::Json | Text::Toml | Text::Plain, 13 | 14) => lines(&bytes, other, rng),
            _ => raw(&bytes, other, rng),
        };
    }
    bytes.truncate(1 << 14);
    bytes
}

/// A bit, a byte or a stretch of bytes.
pub(crate) fn raw(bytes: &[u8], other: &[u8], rng: &mut ChaCha8Rng) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let at = rng.random_range(0..bytes.len() + 1);
    let end = (at + rng.random_range(0..16_usize)).min(bytes.len());
    match rng.random_range(0..7_u32) {
        0 | 1 if at < bytes.len() => bytes[at] ^= 1 << rng.random_range(0..8_u32),
        2 if at < bytes.len() => bytes[at] = rng.random(),
        3 => bytes.insert(at, rng.random()),
        4 => drop(bytes.drain(at..end)),
        5 => {
            let again = bytes[at..end].to_vec();
            bytes.splice(at..at, again);
        }
        _ => {
            let from = rng.random_range(0..other.len() + 1);
            let to = (from + rng.random_range(0..64_usize)).min(other.len());
            bytes.splice(at..end, other[from..to].iter().copied());
        }
    }
    bytes
}

/// A piece of a text, which is a word, a number or a single other character.
pub(crate) fn pieces(bytes: &[u8], rng: &mut ChaCha8Rng) -> Vec<u8> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 128;
    let mut cut: Vec<&[u8]> = bytes.chunk_by(|&a, &b| is_word(a) && is_word(b)).collect();
    if cut.is_empty() {
        return WORDS[rng.random_range(0..WORDS.len())].into();
    }
    let any = |rng: &mut ChaCha8Rng| rng.random_range(0..cut.len());
    let (at, from) = (any(rng), any(rng));
    match rng.random_range(0..8_u32) {
        0 => cut.swap(at, from),
        1 => drop(cut.remove(at)),
        // Words for words keep most texts readable.
        2..6 => {
            let words: Vec<usize> = (0..cut.len()).filter(|&at| is_word(cut[at][0])).collect();
            if !words.is_empty() {
                let any = |rng: &mut ChaCha8Rng| words[rng.random_range(0..words.len())];
                let (at, from) = (any(rng), any(rng));
                let is_number = cut[at].iter().all(u8::is_ascii_digit);
                cut[at] = if is_number { NUMBERS[rng.random_range(0..NUMBERS.len())].as_bytes() } else { cut[from] };
            }
        }
        6 if from % 2 == 0 => cut.insert(at, cut[from]),
        6 => cut[at] = WORDS[rng.random_range(0..WORDS.len())].as_bytes(),
        _ => cut.insert(at, WORDS[rng.random_range(0..WORDS.len())].as_bytes()),
    }
    cut.concat()
}

/// A line of a text.
fn lines(bytes: &[u8], other: &[u8], rng: &mut ChaCha8Rng) -> Vec<u8> {
    let mut all: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
    let others: Vec<&[u8]> = other.split_inclusive(|&byte| byte == b'\n').collect();
    if all.is_empty() || others.is_empty() {
        return other.to_vec();
    }
    let (at, to) = (rng.random_range(0..all.len()), rng.random_range(0..all.len()));
    match rng.random_range(0..4_u32) {
        0 => all.swap(at, to),
        1 => drop(all.remove(at)),
        2 => all.insert(at, all[to]),
        _ => all.insert(at, others[rng.random_range(0..others.len())]),
    }
    all.concat()
}

/// A value somewhere in a JSON text; where each line is one, in one of the lines.
pub(crate) fn json_line(bytes: &[u8], rng: &mut ChaCha8Rng) -> Vec<u8> {
    if let Ok(mut tree) = serde_json::from_slice::<Value>(bytes) {
        change(&mut tree, rng);
        return tree.to_string().into_bytes();
    }
    let mut all: Vec<Vec<u8>> = bytes.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
    let at = rng.random_range(0..all.len());
    match serde_json::from_slice::<Value>(&all[at]) {
        Ok(mut tree) => {
            change(&mut tree, rng);
            all[at] = tree.to_string().into_bytes();
        }
        Err(_) => return pieces(bytes, rng),
    }
    all.join(&b'\n')
}

fn toml(bytes: &[u8], rng: &mut ChaCha8Rng) -> Vec<u8> {
    let parsed = std::str::from_utf8(bytes).ok().and_then(|text| toml::from_str::<Value>(text).ok());
    let Some(mut tree) = parsed else { return pieces(bytes, rng) };
    change(&mut tree, rng);
    // JSON knows null, which TOML does not.
    toml::to_string(&tree).map_or_else(|_| pieces(bytes, rng), String::into_bytes)
}

/// One value of a tree: another one, none at all, twice, or that of another place.
fn change(tree: &mut Value, rng: &mut ChaCha8Rng) {
    let nodes = count(tree);
    let donor = nth(tree, &mut rng.random_range(0..nodes)).map(|value| value.clone());
    let Some(value) = nth(tree, &mut rng.random_range(0..nodes)) else { return };
    match (value, rng.random_range(0..6_u32)) {
        // Another text of the same place's kind keeps most trees readable.
        (Value::String(text), 0..4) => {
            if let Some(Value::String(other)) = donor {
                *text = other;
            } else {
                *text = String::from_utf8_lossy(&pieces(text.as_bytes(), rng)).into_owned();
            }
        }
        (value, 0) => *value = donor.filter(|donor| count(donor) < 64).unwrap_or(Value::Null),
        (Value::Array(all), 1..6) if !all.is_empty() => {
            let (at, to) = (rng.random_range(0..all.len()), rng.random_range(0..all.len()));
            match rng.random_range(0..3_u32) {
                0 => all.swap(at, to),
                1 => drop(all.remove(at)),
                _ => all.insert(at, all[to].clone()),
            }
        }
        (Value::Object(fields), 1..6) if !fields.is_empty() => change_fields(fields, rng),
        (Value::Number(number), 1..6) => *number = near(number, rng),
        (Value::Bool(is), 1..6) => *is = !*is,
        (value, _) => *value = serde_json::from_str(WORDS[rng.random_range(0..6)]).unwrap_or(Value::Null),
    }
}

fn change_fields(fields: &mut Map<String, Value>, rng: &mut ChaCha8Rng) {
    let names: Vec<String> = fields.keys().cloned().collect();
    let (name, other) = (&names[rng.random_range(0..names.len())], &names[rng.random_range(0..names.len())]);
    match rng.random_range(0..3_u32) {
        0 => drop(fields.remove(name)),
        1 => {
            let value = fields[other].clone();
            fields.insert(name.clone(), value);
        }
        _ => drop(fields.insert(format!("{name}_"), Value::Null)),
    }
}

/// A number beside this one, or one at which programs break.
fn near(number: &Number, rng: &mut ChaCha8Rng) -> Number {
    let broken = serde_json::from_str(NUMBERS[rng.random_range(0..12)]).unwrap_or_else(|_| Number::from(0));
    match (number.as_i64(), rng.random_range(0..3_u32)) {
        (Some(n), 0) => Number::from(n.saturating_add(1)),
        (Some(n), 1) => Number::from(n.saturating_sub(1)),
        _ => broken,
    }
}

fn count(tree: &Value) -> usize {
    1 + match tree {
        Value::Array(all) => all.iter().map(count).sum(),
        Value::Object(fields) => fields.values().map(count).sum::<usize>(),
        _ => 0,
    }
}

/// The value at a place, counted from the root down.
fn nth<'t>(tree: &'t mut Value, left: &mut usize) -> Option<&'t mut Value> {
    if *left == 0 {
        return Some(tree);
    }
    *left -= 1;
    match tree {
        Value::Array(all) => all.iter_mut().find_map(|value| nth(value, left)),
        Value::Object(fields) => fields.values_mut().find_map(|value| nth(value, left)),
        _ => None,
    }
}
