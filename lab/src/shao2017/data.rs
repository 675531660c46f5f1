//! What is attacked in place of the paper's data, and how.

use std::path::PathBuf;

use disjoin::Unobserved;
use disjoin::attack::semantic::calibrated::{calibrated, learn};
use disjoin::attack::semantic::judge::{Counts, Score, Truth, judge};
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

use crate::estimate::Estimate;
use crate::page::Table;
use crate::papers::Given;

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
    groceries: PathBuf,
    wordnet: PathBuf,
}

impl Sources {
    pub(crate) fn read(given: &Given) -> Result<Self> {
        let corpus = given.corpus.as_ref().ok_or_else(|| {
            Error::recipe("corpus", "is not given", "name the file that disjoin corpus build made: --corpus")
        })?;
        let mut texts = Vec::new();
        documents(&given.file("medical-abstracts.csv"), Some("medical_abstract"), &mut |text| {
            texts.push(text.to_owned())
        })?;
        let vectors = given.vectors.as_ref().map(|path| Vectors::read(path, None)).transpose()?;
        let (groceries, wordnet) = (given.file("groceries.csv"), given.wordnet.clone());
        Ok(Sources { corpus: Corpus::read(corpus)?, vectors, texts, groceries, wordnet })
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
        let (all, _) = read::read(&self.groceries, &read::Options::default())?;
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

/// Who eliminates: an attack, or somebody who looks at nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Who {
    By(Method),
    /// Every member: what cannot be worse in recall.
    All,
    /// All members of a row but one, by lot: whoever knows only that each row has one of its members.
    AllButOne,
}

/// Those who look at nothing.
pub(crate) const BASELINES: [Who; 2] = [Who::All, Who::AllButOne];

impl Who {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Who::By(method) => method.short(),
            Who::All => "all",
            Who::AllButOne => "all but one",
        }
    }

    /// For each table how many members are eliminated, how many of these were added, and how many were.
    fn tables(self, scores: &Scores) -> Vec<[f64; 3]> {
        let method = if let Who::By(method) = self { method } else { Method::Random };
        let of_table = |counts: &Counts| {
            let Counts { rows, cells, added, eliminated, right } = counts;
            let [rows, cells, added] = [rows, cells, added].map(|&n| n as f64);
            match self {
                Who::By(_) => [*eliminated as f64, *right as f64, added],
                Who::All => [cells, added, added],
                Who::AllButOne => [cells - rows, added * (cells - rows) / cells.max(1.0), added],
            }
        };
        of(scores, method).of_tables.iter().map(of_table).collect()
    }
}

/// A share of what was eliminated, was right, and was added.
pub(crate) type Share = fn([f64; 3]) -> f64;

pub(crate) const PRECISION: Share = |[eliminated, right, _]| if eliminated == 0.0 { 0.0 } else { right / eliminated };
pub(crate) const RECALL: Share = |[_, right, added]| if added == 0.0 { 0.0 } else { right / added };
pub(crate) const F: Share = |[eliminated, right, added]| {
    if eliminated + added == 0.0 { 0.0 } else { 2.0 * right / (eliminated + added) }
};

/// A share over some of the tables.
fn over(tables: &[[f64; 3]], drawn: &[usize], share: Share) -> f64 {
    share(drawn.iter().fold([0.0; 3], |sum, &at| [0, 1, 2].map(|i: usize| sum[i] + tables[at][i])))
}

/// A share, with the interval over tables.
pub(crate) fn of_tables(scores: &Scores, who: Who, share: Share) -> Estimate {
    let tables = who.tables(scores);
    Estimate::bootstrap(tables.len(), |drawn| over(&tables, drawn, share))
}

/// By how much somebody is ahead of the best of others, with the interval over tables.
pub(crate) fn ahead(scores: &Scores, one: Who, others: &[Who], share: Share) -> Estimate {
    ahead_in(scores, one, (scores, others), share)
}

/// The same where others have attacked the same tables with something else.
pub(crate) fn ahead_in(
    scores: &Scores,
    one: Who,
    (others_scores, others): (&Scores, &[Who]),
    share: Share,
) -> Estimate {
    let tables = one.tables(scores);
    let of_others: Vec<Vec<[f64; 3]>> = others.iter().map(|who| who.tables(others_scores)).collect();
    if of_others.iter().any(|of_other| of_other.len() != tables.len()) {
        return Estimate::missing();
    }
    Estimate::bootstrap(tables.len(), |drawn| {
        let best = of_others.iter().map(|of_other| over(of_other, drawn, share)).fold(f64::NEG_INFINITY, f64::max);
        over(&tables, drawn, share) - best
    })
}

/// The tables from one place to another, by rising density.
pub(crate) fn by_density(all: &[Scores], from: f64, to: f64) -> Scores {
    let density: Vec<f64> = all.iter().flat_map(|scores| scores[0].1.of_tables.iter().map(Counts::density)).collect();
    let mut order: Vec<usize> = (0..density.len()).collect();
    order.sort_by(|&a, &b| density[a].total_cmp(&density[b]));
    let place = |share: f64| (order.len() as f64 * share).round() as usize;
    let chosen = &order[place(from)..place(to)];
    let of_method = |at: usize| {
        let (method, score) = &all[0][at];
        let pooled: Vec<Counts> = all.iter().flat_map(|scores| scores[at].1.of_tables.iter().copied()).collect();
        (*method, Score { of_tables: chosen.iter().map(|&table| pooled[table]).collect(), ..score.clone() })
    };
    (0..METHODS.len()).map(of_method).collect()
}

impl Table {
    /// Recall, precision and F of some in each row; those of baselines first.
    pub(crate) fn attacked(self, all: &[&Scores], methods: &[Method]) -> Self {
        let who: Vec<Who> = BASELINES.into_iter().chain(methods.iter().map(|&method| Who::By(method))).collect();
        who.into_iter().fold(self, |table, who| {
            let column = |share: Share| all.iter().map(|scores| of_tables(scores, who, share)).collect();
            table
                .measured(format!("{} recall", who.name()), column(RECALL))
                .measured(format!("{} precision", who.name()), column(PRECISION))
                .measured(format!("{} F", who.name()), column(F))
        })
    }
}
