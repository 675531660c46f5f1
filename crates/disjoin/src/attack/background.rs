//! What adversaries of three strengths know about people beforehand.
//!
//! This sees the original, as no attack does: it stands for what the adversary already knows, and discloses no more
//! than that. Attacks get the result.
//!
//! Paper:      barakat2016, sections 4 and 6
//! Promises:   the same seed gives the same knowledge
//! Assumes:    nouns that are not terms of the release were no terms of the original
//! Departs:    the paper does not tell of how many people the moderate attacker knows something, so this is a parameter;
//!             the nouns are ours instead of WordNet's. An adversary who knows m terms of a person knows any two of them
//! Cost:       a pass over the chosen records
//! Checked by: tests/it/attack.rs

use std::collections::HashSet;

use rand::seq::{IteratorRandom, index};

use super::Knowledge;
use super::judge::Truth;
use crate::data::{RecordId, TermId};
use crate::generate::stream;

/// How much an adversary knows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Attacker {
    /// Just those terms of each person that serve best.
    Strong,
    /// m random terms of each of some people.
    Moderate {
        /// The share of people, below 1: at least one person remains unknown. People with fewer than m terms are among
        /// them, but nothing is known of those.
        share: f64,
    },
    /// Nobody in particular: sets of m words that may or may not be somebody's.
    Weak,
}

/// Terms of the original, and words from outside, of the weak attacker.
const WORDS: usize = 10;

/// Plain nouns; those that are terms of a release are not outside of it.
const OUTSIDE: [&str; 40] = [
    "anchor", "apron", "attic", "barrel", "basket", "beetle", "bridge", "bucket", "candle", "canyon", "carpet",
    "castle", "cedar", "chimney", "cradle", "curtain", "feather", "fiddle", "garden", "hammer", "harbour", "ladder",
    "lantern", "meadow", "mitten", "nutmeg", "orchard", "paddle", "pebble", "pillow", "puddle", "quarry", "ribbon",
    "saddle", "teapot", "thimble", "tunnel", "umbrella", "valley", "walnut",
];

/// What an attacker knows who may know m terms of a person.
pub fn knowledge(attacker: Attacker, truth: &Truth<'_>, m: usize, seed: u64) -> Knowledge {
    match attacker {
        Attacker::Strong => Knowledge::Anything,
        Attacker::Moderate { share } => Knowledge::Itemsets(of_some_people(share, truth, m, seed)),
        Attacker::Weak => Knowledge::Itemsets(of_nobody(truth, m, seed)),
    }
}

fn of_some_people(share: f64, truth: &Truth<'_>, m: usize, seed: u64) -> HashSet<Vec<TermId>> {
    let mut rng = stream(seed, "attack/moderate", 0);
    let records = truth.records();
    let known = ((share * records.len() as f64).round() as usize).min(records.len().saturating_sub(1));
    let mut itemsets = HashSet::new();
    for id in index::sample(&mut rng, records.len(), known) {
        let record = records.record(id as RecordId);
        if record.len() >= m {
            let mut terms: Vec<TermId> =
                index::sample(&mut rng, record.len(), m).into_iter().map(|position| record[position]).collect();
            terms.sort_unstable();
            add_parts(&terms, m, &mut itemsets);
        }
    }
    itemsets
}

fn of_nobody(truth: &Truth<'_>, m: usize, seed: u64) -> HashSet<Vec<TermId>> {
    let mut rng = stream(seed, "attack/weak", 0);
    let dictionary = &truth.release().dictionary;
    let mut inside: Vec<TermId> = truth.records().all_terms().to_vec();
    inside.sort_unstable();
    inside.dedup();
    let outside = OUTSIDE.iter().filter(|noun| dictionary.get(noun).is_none()).count().min(WORDS);
    let mut words: Vec<TermId> = inside.into_iter().sample(&mut rng, WORDS);
    words.sort_unstable();
    // Words from outside get the ids after those of the release, where nothing can match them.
    words.extend((dictionary.len() as TermId..).take(outside));
    let mut itemsets = HashSet::new();
    add_parts(&words, m, &mut itemsets);
    itemsets
}

/// Adds all sets of two to m of the terms, which are ascending; of one term, if m is 1.
fn add_parts(terms: &[TermId], m: usize, itemsets: &mut HashSet<Vec<TermId>>) {
    let mut parts: Vec<Vec<TermId>> = vec![Vec::new()];
    for &term in terms {
        let longer: Vec<Vec<TermId>> =
            parts.iter().filter(|part| part.len() < m).map(|part| [&part[..], &[term]].concat()).collect();
        parts.extend(longer);
    }
    itemsets.extend(parts.into_iter().filter(|part| part.len() >= m.min(2) && !part.is_empty()));
}
