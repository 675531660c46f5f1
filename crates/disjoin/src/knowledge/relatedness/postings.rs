//! Which documents hold a word, and how many hold two.
//!
//! Promises:   counts of documents that hold both of two words, in microseconds for a million documents
//! Cost:       common words are rows of bits, the others ascending lists; two rows take n / 64 steps, two lists as many as
//!             the shorter has, times the logarithm of how often it goes into the longer
//! Checked by: tests in this file, tests/it/relatedness.rs

/// For each word its documents.
#[derive(Debug, Clone, Default)]
pub struct Postings {
    n_documents: u32,
    documents: Vec<u32>,
    ends: Vec<usize>,
    /// Rows of bits of the words that are in more than a [`COMMON`]th of all documents, by place in `rows`.
    bits: Vec<u64>,
    row_of: Vec<u32>,
    words_a_row: usize,
}

/// A word that is in more than one of so many documents is common.
const COMMON: usize = 128;

/// No row of bits.
const NONE: u32 = u32::MAX;

/// Documents of something that is asked for.
#[derive(Debug, Clone)]
pub enum Documents {
    /// Those of a word.
    Word(u32),
    /// Others, ascending.
    List(Vec<u32>),
}

impl Postings {
    /// From documents of words, which may repeat.
    pub fn new<'a>(documents: impl Iterator<Item = &'a [u32]> + Clone, n_words: usize) -> Self {
        // A word counts once a document: where it was met last is remembered.
        let mut last = vec![NONE; n_words];
        let mut counts = vec![0_usize; n_words];
        let mut n_documents = 0;
        for (document, words) in (0..).zip(documents.clone()) {
            n_documents = document + 1;
            for &word in words {
                if std::mem::replace(&mut last[word as usize], document) != document {
                    counts[word as usize] += 1;
                }
            }
        }
        let mut next: Vec<usize> = counts
            .iter()
            .scan(0, |sum, &count| {
                *sum += count;
                Some(*sum - count)
            })
            .collect();
        let mut lists = vec![0; counts.iter().sum()];
        last.fill(NONE);
        for (document, words) in (0..).zip(documents) {
            for &word in words {
                if std::mem::replace(&mut last[word as usize], document) != document {
                    lists[next[word as usize]] = document;
                    next[word as usize] += 1;
                }
            }
        }
        let mut postings = Postings { n_documents, documents: lists, ends: next, ..Postings::default() };
        postings.lay_out_bits();
        postings
    }

    fn lay_out_bits(&mut self) {
        self.words_a_row = (self.n_documents as usize).div_ceil(64);
        self.row_of = vec![NONE; self.ends.len()];
        let mut n_rows = 0;
        for word in 0..self.ends.len() {
            if self.list(word as u32).len() * COMMON <= self.n_documents as usize {
                continue;
            }
            self.row_of[word] = n_rows;
            n_rows += 1;
            let mut row = vec![0_u64; self.words_a_row];
            self.list(word as u32).iter().for_each(|&document| row[document as usize / 64] |= 1 << (document % 64));
            self.bits.extend(row);
        }
    }

    /// The number of documents.
    pub fn n_documents(&self) -> u64 {
        u64::from(self.n_documents)
    }

    /// The documents of a word, ascending.
    pub fn list(&self, word: u32) -> &[u32] {
        let word = word as usize;
        let start = if word == 0 { 0 } else { self.ends[word - 1] };
        &self.documents[start..self.ends[word]]
    }

    /// How many documents.
    pub fn count(&self, of: &Documents) -> u64 {
        self.documents_of(of).len() as u64
    }

    /// How many documents are among both.
    pub fn both(&self, a: &Documents, b: &Documents) -> u64 {
        let (list_a, list_b) = (self.documents_of(a), self.documents_of(b));
        match (self.row(a), self.row(b)) {
            (Some(a), Some(b)) => a.iter().zip(b).map(|(a, b)| u64::from((a & b).count_ones())).sum(),
            (Some(row), None) => hits(row, list_b),
            (None, Some(row)) => hits(row, list_a),
            (None, None) if list_a.len() <= list_b.len() => common(list_a, list_b),
            (None, None) => common(list_b, list_a),
        }
    }

    fn documents_of<'a>(&'a self, of: &'a Documents) -> &'a [u32] {
        match of {
            Documents::Word(word) => self.list(*word),
            Documents::List(list) => list,
        }
    }

    fn row(&self, of: &Documents) -> Option<&[u64]> {
        let Documents::Word(word) = of else { return None };
        let row = self.row_of[*word as usize];
        (row != NONE).then(|| &self.bits[row as usize * self.words_a_row..][..self.words_a_row])
    }
}

fn hits(row: &[u64], list: &[u32]) -> u64 {
    list.iter().map(|&document| row[document as usize / 64] >> (document % 64) & 1).sum()
}

/// How many are in both ascending lists.
fn common(short: &[u32], mut long: &[u32]) -> u64 {
    if short.len() * 8 < long.len() {
        let mut n = 0;
        for document in short {
            // Leaps that double, then halves: what is skipped is never looked at again.
            let mut leap = 1;
            while leap < long.len() && long[leap] < *document {
                leap *= 2;
            }
            let window = &long[leap / 2..long.len().min(leap + 1)];
            let at = leap / 2 + window.partition_point(|other| other < document);
            n += u64::from(long.get(at) == Some(document));
            long = &long[at..];
        }
        return n;
    }
    let (mut i, mut j, mut n) = (0, 0, 0);
    while i < short.len() && j < long.len() {
        let (a, b) = (short[i], long[j]);
        n += u64::from(a == b);
        i += usize::from(a <= b);
        j += usize::from(b <= a);
    }
    n
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};

    #[test]
    fn counts_are_those_of_looking_everywhere() {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
        for round in 0..30 {
            let n_words = 12;
            // Some words are everywhere, some almost nowhere.
            let n_documents = if round % 2 == 0 { 30 } else { 2_000 };
            let documents: Vec<Vec<u32>> = (0..n_documents)
                .map(|_| {
                    let is_met = |word: &u32| rng.random_bool(1.0 / f64::from(1_u32 << word));
                    let mut words: Vec<u32> = (0..n_words).filter(is_met).collect();
                    words.extend(words.clone());
                    words
                })
                .collect();
            let postings = Postings::new(documents.iter().map(Vec::as_slice), n_words as usize);
            assert_eq!(postings.n_documents(), n_documents);
            let has = |of: &Documents, id: u32, words: &[u32]| match of {
                Documents::Word(word) => words.contains(word),
                Documents::List(list) => list.contains(&id),
            };
            let mut all: Vec<Documents> = (0..n_words).map(Documents::Word).collect();
            all.push(Documents::List((0..n_documents as u32).step_by(7).collect()));
            all.push(Documents::List(Vec::new()));
            for a in &all {
                let met = (0..).zip(&documents).filter(|(id, words)| has(a, *id, words)).count();
                assert_eq!(postings.count(a), met as u64);
                for b in &all {
                    let both = (0..).zip(&documents).filter(|(id, words)| has(a, *id, words) && has(b, *id, words));
                    assert_eq!(postings.both(a, b), both.count() as u64, "{a:?} {b:?}");
                }
            }
        }
    }
}
