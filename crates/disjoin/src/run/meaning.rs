//! What an adversary knows about words, and what he makes of recoded transactions with it.
//!
//! Promises:   the attack sees the release and what is known about words; only its judge sees the original
//! Checked by: tests/semantic.rs, `crates/disjoin-cli/tests/semantic.rs`

use std::path::Path;

use crate::attack::semantic::judge::Original;
use crate::attack::semantic::summary::{RELEASE, Summary};
use crate::attack::semantic::{Attacked, Distance, Options, attack_release};
use crate::data::{Dataset, Dictionary, TermId, Transactions};
use crate::error::{Error, Result};
use crate::recipe::meaning::Meaning;
use crate::reconstruct::relatedness::{Corpus, Counts, Known, by_corpus, by_counts, by_records};
use crate::release::recoded::Recoded;

/// What somebody knows about words.
pub enum Words {
    /// From texts.
    Corpus(Corpus),
    /// From a table of how often items are met.
    Counts(Counts),
    /// From records of other people.
    Others(Dataset),
    /// From what the release tells ungeneralised.
    Release,
}

impl Words {
    /// Reads the file of one of both, if there is one.
    pub fn read(corpus: Option<&Path>, counts: Option<&Path>) -> Result<Self> {
        Ok(match (corpus, counts) {
            (Some(file), _) => Words::Corpus(Corpus::read(file)?),
            (None, Some(file)) => {
                let text = std::fs::read(file).map_err(|e| Error::io(file, "read the counts", e))?;
                Words::Counts(Counts::read(&text, &file.display().to_string())?)
            }
            (None, None) => Words::Release,
        })
    }

    /// The distances of a release's terms.
    pub fn distances<'a>(&'a self, release: &Recoded) -> Distances<'a> {
        let dictionary = &release.dictionary;
        match self {
            Words::Corpus(corpus) => {
                let (distance, known) = by_corpus(corpus, dictionary);
                Distances { distance: Box::new(distance), known, source: "a corpus" }
            }
            Words::Counts(counts) => {
                let (distance, known) = by_counts(counts, dictionary);
                Distances { distance: Box::new(distance), known, source: "a table of counts" }
            }
            Words::Others(data) => told_by(&in_terms_of(dictionary, data), dictionary, "other people's records"),
            Words::Release => told_by(&release.ungeneralised(), dictionary, RELEASE),
        }
    }
}

/// How far apart the terms of a release are in meaning.
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
    tell: &mut dyn FnMut(&str),
) -> Result<(Attacked, Summary)> {
    // What cannot be judged is refused before the work is done.
    let original = original.map(|(data, line_of)| Original::new(release, data, line_of)).transpose()?;
    tell("laying out distances");
    let attacked = attack_release(release, &*told.distance, options, &mut |name| tell(&format!("attacking: {name}")));
    let truth = original.as_ref().map(Original::truth);
    let summary = Summary::new(&attacked, told.source, told.known, truth.as_ref());
    Ok((attacked, summary))
}

/// The same as a recipe asks for it; nothing where it asks for no attack.
pub(super) fn attack_as_asked(
    asked: Option<(&Meaning, &Words)>,
    release: &Recoded,
    original: Beside<'_>,
    tell: &mut dyn FnMut(&str),
) -> Result<Option<Summary>> {
    let Some((asked, words)) = asked.filter(|(asked, _)| !asked.eliminate.is_empty()) else { return Ok(None) };
    let told = words.distances(release);
    attack_words(release, &told, &asked.options(), Some(original), tell).map(|(_, summary)| Some(summary))
}
