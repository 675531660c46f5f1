//! WordNet's nouns as a tree of meanings, and how alike two of them are.
//!
//! Paper:      wu1994, as shao2017, section 6.2.3, uses it
//! Promises:   a similarity above 0 and at most 1: twice the depth of what both are, by their depths; the best of all senses
//! Assumes:    English nouns. A term of several words is looked up whole, then by its last word
//! Departs:    the root has depth 1, where the paper counts from 0, so that nothing is divided by nothing; a synset with several
//!             hypernyms is as deep as its shortest way from the root
//! Cost:       for a pair, senses * senses * the depth of the tree
//! Checked by: tests in this file

use std::collections::HashMap;
use std::path::Path;

use super::text;
use crate::error::{Error, Place, Result};
use crate::memory::{Memory, read_file};
use crate::read::words::singular;

/// Nouns and what they are kinds of.
pub struct WordNet {
    /// For each lemma its synsets.
    senses: HashMap<String, Vec<u32>>,
    /// For each synset itself and all that it is a kind of, with depths, ascending.
    ancestors: Vec<Vec<u32>>,
    depth: Vec<u32>,
}

impl WordNet {
    /// Reads `data.noun` in a folder.
    pub fn read(folder: &Path) -> Result<Self> {
        let path = folder.join("data.noun");
        let bytes = read_file(&path, "read", Memory::default())?;
        WordNet::parse(&path.display().to_string(), &bytes)
    }

    /// Reads the text of `data.noun`; `name` is for messages.
    pub fn parse(name: &str, bytes: &[u8]) -> Result<Self> {
        let mut senses: HashMap<String, Vec<u32>> = HashMap::new();
        let mut number: HashMap<String, u32> = HashMap::new();
        let mut above: Vec<Vec<String>> = Vec::new();
        for (line_number, line) in (1..).zip(text::validate(name, bytes)?.lines()) {
            if line.starts_with("  ") {
                continue;
            }
            let wrong = || Error::input(Place::line(name, line_number), "is not a line of WordNet's data");
            let fields: Vec<&str> = line.split('|').next().unwrap_or_default().split_ascii_whitespace().collect();
            let n_words = fields.get(3).and_then(|count| usize::from_str_radix(count, 16).ok()).ok_or_else(wrong)?;
            let synset = above.len() as u32;
            for word in fields.iter().skip(4).step_by(2).take(n_words) {
                senses.entry(word.replace('_', " ").to_lowercase()).or_default().push(synset);
            }
            let pointers = 4 + 2 * n_words;
            let n_pointers: usize = fields.get(pointers).and_then(|count| count.parse().ok()).ok_or_else(wrong)?;
            let mut hypernyms = Vec::new();
            for pointer in fields.get(pointers + 1..pointers + 1 + 4 * n_pointers).ok_or_else(wrong)?.chunks(4) {
                if matches!(pointer[0], "@" | "@i") && pointer[2] == "n" {
                    hypernyms.push(pointer[1].to_owned());
                }
            }
            number.insert(fields[0].to_owned(), synset);
            above.push(hypernyms);
        }
        let above: Vec<Vec<u32>> =
            above.iter().map(|of| of.iter().filter_map(|offset| number.get(offset).copied()).collect()).collect();
        let depth = depths(&above);
        let ancestors = (0..above.len() as u32).map(|synset| ancestors(&above, synset)).collect();
        Ok(WordNet { senses, ancestors, depth })
    }

    /// The synsets of a term: of the whole, or else of its last word.
    pub fn senses(&self, term: &str) -> &[u32] {
        let of = |text: &str| self.senses.get(text).or_else(|| self.senses.get(&singular(text)));
        let lower = term.to_lowercase();
        of(&lower).or_else(|| of(lower.rsplit(' ').next().unwrap_or_default())).map_or(&[], Vec::as_slice)
    }

    /// How alike two terms are; none if one is unknown.
    pub fn similarity(&self, a: &str, b: &str) -> Option<f64> {
        self.of_senses(self.senses(a), self.senses(b))
    }

    /// How alike the most alike of two lists of synsets are; none if one is empty.
    pub fn of_senses(&self, a: &[u32], b: &[u32]) -> Option<f64> {
        let pairs = a.iter().flat_map(|&a| b.iter().map(move |&b| (a, b)));
        pairs.map(|(a, b)| self.wu_palmer(a, b)).max_by(f64::total_cmp)
    }

    fn wu_palmer(&self, a: u32, b: u32) -> f64 {
        let (mut i, mut j, mut common) = (0, 0, 0);
        let (of_a, of_b) = (&self.ancestors[a as usize], &self.ancestors[b as usize]);
        while i < of_a.len() && j < of_b.len() {
            let (x, y) = (of_a[i], of_b[j]);
            if x == y {
                common = common.max(self.depth[x as usize]);
            }
            i += usize::from(x <= y);
            j += usize::from(y <= x);
        }
        // A short way from the root may miss what both have in common.
        (2.0 * f64::from(common) / f64::from(self.depth[a as usize] + self.depth[b as usize])).min(1.0)
    }
}

/// The length of the shortest way from a root, which has depth 1. What is above itself counts as a root.
fn depths(above: &[Vec<u32>]) -> Vec<u32> {
    let mut below: Vec<Vec<u32>> = vec![Vec::new(); above.len()];
    for (synset, of) in (0..).zip(above) {
        of.iter().for_each(|&hypernym| below[hypernym as usize].push(synset));
    }
    let mut depth = vec![0; above.len()];
    let mut level: Vec<u32> = (0..).zip(above).filter(|(_, of)| of.is_empty()).map(|(synset, _)| synset).collect();
    let mut now = 1;
    while !level.is_empty() {
        let mut next = Vec::new();
        for synset in level {
            if depth[synset as usize] == 0 {
                depth[synset as usize] = now;
                next.extend(&below[synset as usize]);
            }
        }
        (level, now) = (next, now + 1);
    }
    depth.iter_mut().filter(|depth| **depth == 0).for_each(|depth| *depth = 1);
    depth
}

/// A synset and all above it, ascending.
fn ancestors(above: &[Vec<u32>], synset: u32) -> Vec<u32> {
    let mut found = vec![synset];
    let mut at = 0;
    while at < found.len() {
        for &hypernym in &above[found[at] as usize] {
            if !found.contains(&hypernym) {
                found.push(hypernym);
            }
        }
        at += 1;
    }
    found.sort_unstable();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const TREE: &str = "  1 licence\n\
        1 03 n 01 entity 0 000 | all\n\
        2 03 n 01 illness 0 001 @ 1 n 0000 | not well\n\
        3 03 n 02 flu 0 grippe 0 001 @ 2 n 0000 | fever\n\
        4 03 n 01 heart_disease 0 001 @ 2 n 0000 | heart\n\
        5 03 n 01 tool 0 002 @ 1 n 0000 ~ 6 n 0000 | for work\n\
        6 03 n 01 pump 0 001 @ 5 n 0000 | moves\n";

    #[test]
    fn similarity_is_by_depths() {
        let tree = WordNet::parse("x", TREE.as_bytes()).unwrap();
        let of = |a, b| tree.similarity(a, b);
        assert_eq!(of("flu", "flu"), Some(1.0));
        assert_eq!(of("flu", "grippe"), Some(1.0));
        // Both illnesses: 2 * 2 / (3 + 3).
        assert_eq!(of("flu", "heart disease"), Some(4.0 / 6.0));
        assert_eq!(of("flu", "pump"), Some(2.0 / 6.0));
        assert_eq!(of("Illness", "flu"), Some(4.0 / 5.0));
        // By the last word, in singular.
        assert_eq!(of("bicycle pumps", "tool"), Some(4.0 / 5.0));
        assert_eq!(of("unheard", "tool"), None);
    }

    #[test]
    fn damaged_data_are_refused_where_they_are() {
        for line in ["1 03 n zz entity", "1 03 n 01 entity 0", "1 03 n 01 entity 0 002 @ 1 n 0000 | x"] {
            let error = WordNet::parse("x", line.as_bytes()).err().unwrap();
            assert!(error.to_string().starts_with("x:1"), "{error}");
        }
        // A circle is no tree, but no reason to run forever.
        let circle = "1 03 n 01 a 0 001 @ 2 n 0000 | x\n2 03 n 01 b 0 001 @ 1 n 0000 | x\n";
        assert!(WordNet::parse("x", circle.as_bytes()).unwrap().similarity("a", "b").is_some());
    }
}
