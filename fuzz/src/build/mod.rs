//! Releases from bytes, of every form. Most are well formed and many keep their promise; a few of the decisions break something.

mod disassociated;
mod noisy;
mod recoded;
mod tables;

pub(crate) use disassociated::{disassociated, disassociated_parquet};
pub(crate) use noisy::noisy;
pub(crate) use recoded::recoded;
pub(crate) use tables::{generalized, people, split};

use disjoin::data::Dictionary;
use rand::RngExt;

use crate::draw::Draw;
use crate::mutate::{json_line, pieces, raw};
use crate::scratch::Files;

/// Terms, a few of which are awkward to write.
pub(crate) const TERMS: [&str; 12] = ["a", "b", "c", "d", "e", "f", "g", "h", "a b", "\u{e9}", "\"q\"", "10"];

/// Different terms, in any order.
fn terms(draw: &mut Draw<'_>, most: usize) -> Vec<&'static str> {
    let mut all = TERMS.to_vec();
    (1..all.len()).rev().for_each(|at| all.swap(at, draw.below(at + 1)));
    all.truncate(most);
    all
}

fn dictionary(names: &[&str]) -> Dictionary {
    let mut dictionary = Dictionary::default();
    for name in names {
        dictionary.intern(name);
    }
    dictionary
}

/// Changes one of the files in three of eight cases: a value of a JSON text, a piece of another one, or a byte.
pub(crate) fn perturbed(mut files: Files, draw: &mut Draw<'_>) -> Files {
    if !draw.chance(96) || files.0.is_empty() {
        return files;
    }
    let at = draw.below(files.0.len());
    let mut rng = draw.rng();
    let (name, bytes) = &mut files.0[at];
    let is_json = name.ends_with(".json") || name.ends_with(".jsonl");
    *bytes = match rng.random_range(0..8_u32) {
        0..6 if is_json => json_line(bytes, &mut rng),
        0..7 if !name.ends_with(".parquet") => pieces(bytes, &mut rng),
        _ => raw(&bytes.clone(), bytes, &mut rng),
    };
    files
}
