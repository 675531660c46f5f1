//! What an adversary knows about words, and what he makes of recoded transactions with it.
//!
//! Promises:   the attack sees the release and what is known about words; only its judge sees the original
//! Checked by: tests/it/semantic.rs, `crates/disjoin-cli/tests/it/semantic.rs`

use std::path::Path;
use std::sync::Arc;

use crate::attack::semantic::judge::Original;
use crate::attack::semantic::summary::{RELEASE, Summary};
use crate::attack::semantic::{Attacked, Distance, GroupTable, Options, attack_release};
use crate::data::{Dataset, Dictionary, TermId, Transactions};
use crate::error::Result;
use crate::knowledge::relatedness::{
    Corpus, Counts, Known, Vectors, by_corpus, by_counts, by_embeddings, by_records, by_vectors,
};
use crate::memory::{Memory, read_file};
use crate::observer::Observer;
use crate::release::recoded::Recoded;

/// For each term of a dictionary its vector, if it is known, and how terms were looked up.
pub type Embed = Arc<dyn Fn(&Dictionary) -> Result<(Vec<Option<Vec<f32>>>, Known)> + Send + Sync>;

/// What somebody knows about words.
pub enum Words {
    /// From texts.
    Corpus(Corpus),
    /// From a table of how often items are met.
    Counts(Counts),
    /// From vectors of words.
    Vectors(Vectors),
    /// From vectors of terms that something else makes, such as a model of language.
    Embedded(Embed),
    /// From records of other people.
    Others(Dataset),
    /// From what the release tells ungeneralised.
    Release,
}

/// The files that tell what words mean: at most one of the first three.
#[derive(Debug, Clone, Copy, Default)]
pub struct Files<'a> {
    /// A corpus.
    pub corpus: Option<&'a Path>,
    /// A table of counts.
    pub counts: Option<&'a Path>,
    /// Vectors of words.
    pub vectors: Option<&'a Path>,
    /// How words are cut into pieces, where that is not beside the vectors.
    pub tokenizer: Option<&'a Path>,
}

impl Files<'_> {
    /// Whether something is named.
    pub fn is_named(&self) -> bool {
        self.corpus.is_some() || self.counts.is_some() || self.vectors.is_some()
    }
}

impl Words {
    /// Reads the file that is named; if none is, the release itself tells.
    pub fn read(files: &Files<'_>) -> Result<Self> {
        Ok(match (files.corpus, files.counts, files.vectors) {
            (Some(file), ..) => Words::Corpus(Corpus::read(file)?),
            (None, Some(file), _) => {
                let text = read_file(file, "read the counts", Memory::default())?;
                Words::Counts(Counts::read(&text, &file.display().to_string())?)
            }
            (None, None, Some(path)) => Words::Vectors(Vectors::read(path, files.tokenizer)?),
            (None, None, None) => Words::Release,
        })
    }

    /// The distances of a release's terms.
    pub fn distances<'a>(&'a self, release: &Recoded) -> Result<Distances<'a>> {
        let dictionary = &release.dictionary;
        let told = self.of_terms(dictionary)?;
        Ok(told.unwrap_or_else(|| told_by(&release.ungeneralised(), dictionary, RELEASE)))
    }

    /// The distances of any terms; none if only a release can tell.
    pub fn of_terms<'a>(&'a self, dictionary: &Dictionary) -> Result<Option<Distances<'a>>> {
        Ok(Some(match self {
            Words::Corpus(corpus) => {
                let (distance, known) = by_corpus(corpus, dictionary);
                Distances { distance: Box::new(distance), known, source: "a corpus" }
            }
            Words::Counts(counts) => {
                let (distance, known) = by_counts(counts, dictionary);
                Distances { distance: Box::new(distance), known, source: "a table of counts" }
            }
            Words::Vectors(vectors) => {
                let (distance, known) = by_vectors(vectors, dictionary);
                Distances { distance: Box::new(distance), known, source: "vectors of words" }
            }
            Words::Embedded(embed) => {
                let (vectors, known) = embed(dictionary)?;
                Distances { distance: Box::new(by_embeddings(vectors)), known, source: "a model of language" }
            }
            Words::Others(data) => told_by(&in_terms_of(dictionary, data), dictionary, "other people's records"),
            Words::Release => return Ok(None),
        }))
    }
}

/// How far apart terms are in meaning.
pub struct Distances<'a> {
    /// The distance of two of them.
    pub distance: Box<Distance<'a>>,
    /// How they were looked up.
    pub known: Known,
    /// Where that comes from, in words.
    pub source: &'static str,
}

fn told_by(records: &Transactions, dictionary: &Dictionary, source: &'static str) -> Distances<'static> {
    let mut is_known = vec![false; dictionary.len()];
    records.all_terms().iter().for_each(|&term| is_known[term as usize] = true);
    let words = is_known.iter().filter(|&&is_known| is_known).count() as u64;
    let known = Known { words, unknown: dictionary.len() as u64 - words, ..Known::default() };
    Distances { distance: Box::new(by_records(records, dictionary.len())), known, source }
}

/// Records of others, as far as the release has their terms.
fn in_terms_of(dictionary: &Dictionary, data: &Dataset) -> Transactions {
    let names: Vec<Option<TermId>> = data.dictionary.iter().map(|text| dictionary.get(text)).collect();
    let mut records = Transactions::default();
    for record in data.records.iter() {
        records.push(&mut record.iter().filter_map(|&term| names[term as usize]).collect());
    }
    records
}

/// The original of a release, and for each of its records the line that shows it.
pub type Beside<'a> = (&'a Dataset, Option<&'a [u32]>);

/// Attacks a release; with its original, what is found is judged.
pub fn attack_words(
    release: &Recoded,
    told: &Distances<'_>,
    options: &Options,
    original: Option<Beside<'_>>,
    observer: &dyn Observer,
) -> Result<(Attacked, Summary)> {
    // What cannot be judged is refused before the work is done.
    let original = original.map(|(data, line_of)| Original::new(release, data, line_of)).transpose()?;
    observer.stage("laying out distances");
    let attacked = attack_release(release, &*told.distance, options, observer);
    let truth = original.as_ref().map(Original::truth);
    let summary = Summary::new(&attacked, told.source, told.known, truth.as_ref());
    Ok((attacked, summary))
}

/// How many eliminations are shown.
const SHOWN: usize = 10;

/// The eliminations of the last attack with the highest scores, in words.
pub(super) fn surest(release: &Recoded, attacked: &Attacked) -> Vec<String> {
    let Some(found) = attacked.found.last() else { return Vec::new() };
    let mut steps = Vec::new();
    for (table, trace) in attacked.tables.iter().zip(&found.traces) {
        steps.extend(trace.steps.iter().map(|step| (step.score, table, step)));
    }
    steps.sort_by(|a, b| b.0.total_cmp(&a.0));
    let words = |(score, table, step): (f64, &GroupTable, &crate::attack::semantic::Step)| {
        let members: Vec<&str> = table.members.iter().map(|&term| release.dictionary.text(term)).collect();
        format!("{score:.3}  ({}) is not {}", members.join(", "), members[step.column])
    };
    steps.into_iter().take(SHOWN).map(words).collect()
}
