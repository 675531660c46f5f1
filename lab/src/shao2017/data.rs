//! What is attacked in place of the paper's data, and how.

use std::path::{Path, PathBuf};

use disjoin::Unobserved;
use disjoin::attack::semantic::calibrated::{calibrated, learn};
use disjoin::attack::semantic::judge::{Score, Truth, judge};
use disjoin::attack::semantic::{Distance, METHODS, Method, View, eliminate, tables};
use disjoin::data::{Dataset, Recoding};
use disjoin::generate::stream;
use disjoin::knowledge::relatedness::corpus::Builder;
use disjoin::knowledge::relatedness::{Corpus, Vectors};
use disjoin::protect::recoding::{Params, coat};
use disjoin::read::extract::records_of_texts;
use disjoin::read::policy::{Policy, one_utility_set, random_singletons};
use disjoin::read::wordnet::WordNet;
use disjoin::read::{self, documents};
use disjoin::{Error, Result};

/// The values of k that the paper tries.
pub(crate) const KS: [u32; 5] = [2, 3, 4, 5, 6];

/// How many abstracts are attacked, at most; the others are held out.
const ATTACKED: usize = 600;

/// The share of terms that are protected, in abstracts and elsewhere.
pub(crate) const FEW: f64 = 0.03;
pub(crate) const MANY: f64 = 0.3;

/// What is at hand.
pub(crate) struct Sources {
    pub(crate) corpus: Corpus,
    pub(crate) vectors: Option<Vectors>,
    /// Abstracts: those that are attacked first.
    texts: Vec<String>,
    folder: PathBuf,
    wordnet: PathBuf,
}

impl Sources {
    pub(crate) fn read(folder: &Path, corpus: &Path, vectors: Option<&Path>, wordnet: &Path) -> Result<Self> {
        let inner = folder.join("medical-text/medical-abstracts.csv");
        let file = if inner.exists() { inner } else { folder.join("medical-abstracts.csv") };
        let mut texts = Vec::new();
        documents(&file, Some("medical_abstract"), &mut |text| texts.push(text.to_owned()))?;
        let (folder, wordnet) = (folder.to_owned(), wordnet.to_owned());
        let vectors = vectors.map(|path| Vectors::read(path, None)).transpose()?;
        Ok(Sources { corpus: Corpus::read(corpus)?, vectors, texts, folder, wordnet })
    }

    pub(crate) fn n_attacked(&self) -> usize {
        ATTACKED.min(self.texts.len() / 2)
    }

    /// The abstracts that figures are about.
    pub(crate) fn abstracts(&self) -> Dataset {
        self.records(0, self.n_attacked())
    }

    /// Those that were never looked at while the attacks were made, in parts.
    pub(crate) fn held_out(&self) -> Vec<Dataset> {
        let (start, size) = (self.n_attacked(), (self.n_attacked() / 2).max(1));
        let parts = (self.texts.len() - start) / size;
        (0..parts).map(|part| self.records(start + part * size, size)).collect()
    }

    /// The texts that are not attacked.
    pub(crate) fn others(&self) -> &[String] {
        &self.texts[self.n_attacked()..]
    }

    /// What words those go with, as a corpus.
    pub(crate) fn other_corpus(&self) -> Result<Corpus> {
        let mut builder = Builder::default();
        self.others().iter().for_each(|text| builder.add(text));
        builder.finish(Vec::new())
    }

    fn records(&self, start: usize, n: usize) -> Dataset {
        records_of_texts(self.texts[start..start + n].iter().map(String::as_str)).0
    }

    /// Some baskets.
    pub(crate) fn groceries(&self) -> Result<Dataset> {
        let (all, _) = read::read(&self.folder.join("groceries.csv"), &read::Options::default())?;
        let texts =
            |record: &[u32]| record.iter().map(|&term| all.dictionary.text(term).to_owned()).collect::<Vec<_>>();
        Ok(Dataset::from_texts(all.records.iter().take(300).map(texts)))
    }

    pub(crate) fn wordnet(&self) -> Result<WordNet> {
        WordNet::read(&self.wordnet)
    }
}

/// Generated texts, each of some of the words of one of some topics; the first words of a topic are the commonest.
pub(crate) fn topics(n: usize, topics: usize, words: usize, seed: u64) -> Vec<Vec<String>> {
    use rand::RngExt;
    let mut rng = stream(seed, "lab/shao2017/topics", 0);
    let text = |_| {
        let topic = rng.random_range(0..topics);
        let length = rng.random_range(8..16);
        let mut word = || ((words / topics) as f64 * rng.random_range(0.0_f64..1.0).powi(2)) as usize;
        (0..length).map(|_| format!("topic{topic}word{}", word())).collect()
    };
    (0..n).map(text).collect()
}

/// Generalises a share of the terms, with any others or within these sets; terms of no set may be suppressed.
pub(crate) fn generalise(data: &Dataset, k: u32, share: f64, seed: u64, sets: Option<&[Vec<u32>]>) -> Result<Recoding> {
    let privacy = random_singletons(data.n_terms(), share, seed)?;
    let utility = sets.map_or_else(|| one_utility_set(data.n_terms()), <[Vec<u32>]>::to_vec);
    let params = Params { max_suppressed: 1.0, ..Params::new(k) };
    Ok(coat(&data.records, data.n_terms(), &Policy { privacy, utility }, &params, &Unobserved)?.recoding)
}

/// What each method makes of a release.
pub(crate) type Scores = Vec<(Method, Score)>;

/// What every method makes of a release.
pub(crate) fn scores(
    data: &Dataset,
    recoding: &Recoding,
    distance: &Distance<'_>,
    most: Option<usize>,
) -> Result<Scores> {
    let records = recoding.apply(&data.records);
    if records.len() != data.records.len() {
        return Err(Error::Internal("a record lost all of its terms"));
    }
    let view = View { groups: recoding.groups(), records: &records };
    let laid = tables(&view, distance, most);
    let truth = Truth::new(&data.records, None);
    let of_method = |method: Method| {
        let learned = || match learn(&view, &laid.tables, distance, most, 1) {
            Some(model) => calibrated(&laid.tables, &model),
            // Too little to learn from: as RBA.
            None => eliminate(&laid.tables, Method::Redistribution, 1).unwrap_or_default(),
        };
        let traces = eliminate(&laid.tables, method, 1).unwrap_or_else(learned);
        (method, judge(&laid.tables, &traces, &truth))
    };
    Ok(METHODS.map(of_method).to_vec())
}

/// The score of a method.
pub(crate) fn of(scores: &[(Method, Score)], method: Method) -> &Score {
    &scores[METHODS.iter().position(|&other| other == method).unwrap_or(0)].1
}

/// How often somebody is right who eliminates blindly.
pub(crate) fn blind(score: &Score) -> f64 {
    score.added as f64 / (score.added + score.original).max(1) as f64
}
