//! How useful is what remains? A release against its original, by the measures of the papers and by ours.
//!
//! One pass over the flow: [`measure`] lays the release out in the original's terms, refuses an original that is not the
//! release's, draws reconstructions, and compares. Everything here may see the original, so its results are for the
//! steward: nothing of it belongs into the release, except what is said about no single person.

mod align;
pub mod joint;
mod kept;
mod links;
mod noisy;
mod queries;
pub mod recoded;
mod relative_error;
pub mod split;
pub mod table;
mod terms_lost;
mod top_k;
pub mod whereabouts;

use serde::Serialize;

pub use joint::{JointLoss, joint_loss};
pub use kept::Kept;
pub use links::{Link, Links};
pub use noisy::{NoisyReport, NoisyWindow, measure_noisy};
pub use queries::{Asked, QueryError};
pub use recoded::{RecodedOptions, RecodedReport, measure_recoded};
pub use relative_error::{Averaged, Error as RelativeError, Window};
pub use split::{SplitReport, measure_split};
pub use table::{TableOptions, TableReport, measure_table};
pub use terms_lost::TermsLost;
pub use top_k::{Deviation, OfLength, TopK};

use crate::data::{Dataset, Hierarchy, Interest};
use crate::error::Result;
use crate::observer::{Observer, Unobserved};
use crate::reconstruct::{Model, Multiplicity, Sampling, reconstruct};
use crate::release::open::RootStream;

/// What to measure, and with how much effort.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// How many itemsets tKd compares.
    pub top: usize,
    /// How many reconstructions re averages at most.
    pub reconstructions: u64,
    /// How many random queries are asked; five times as many links are drawn.
    pub queries: usize,
    /// Everything random follows from it.
    pub seed: u64,
    /// How often terms of term chunks are taken to occur.
    pub multiplicity: Multiplicity,
    /// Whether tlost is about terms with more than k records, as the paper prints, instead of k or more.
    pub more_than_k: bool,
    /// A taxonomy of the original's terms, for tKd-ML2.
    pub hierarchy: Option<&'a Hierarchy>,
    /// What matters most, in the original's terms.
    pub interest: Option<&'a Interest>,
    /// Who watches, and may stop it.
    pub observer: &'a dyn Observer,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options {
            top: 1000,
            reconstructions: 10,
            queries: 200,
            seed: 1,
            multiplicity: Multiplicity::Told,
            more_than_k: false,
            hierarchy: None,
            interest: None,
            observer: &Unobserved,
        }
    }
}

/// What was found.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// The number of records.
    pub records: u64,
    /// The number of terms.
    pub terms: usize,
    /// The release's k.
    pub k: u32,
    /// The release's m.
    pub m: u32,
    /// The seed of all that is random.
    pub seed: u64,
    /// Which of the most frequent itemsets are still the most frequent.
    pub top_k: TopK,
    /// How far the supports of pairs are off.
    pub relative_error: Vec<Window>,
    /// Which terms are in no record chunk or shared chunk.
    pub terms_lost: TermsLost,
    /// How far answers to random queries are off, and whether the truth is within their bounds.
    pub queries: QueryError,
    /// What is left of the links between terms that records hold.
    pub links: Links,
    /// How much of what matters most is kept, if something does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<Kept>,
}

/// Compares a release with its original. `stream` has not been read from yet.
pub fn measure(stream: &mut impl RootStream, original: &Dataset, options: &Options<'_>) -> Result<Report> {
    let (release, best) = rayon::join(
        || align::in_terms_of(original, stream, options.observer),
        || top_k::Best::of_original(original, options.top, options.observer),
    );
    let release = release?;
    let (model, chunks) =
        rayon::join(|| Model::watched(&release, options.observer), || align::chunk_records(&release, options.observer));
    let model = model?.with_multiplicity(options.multiplicity);
    // The law that the closed forms are about: empty records stay empty.
    let sampling = Sampling { seed: options.seed, fill_empty: false };
    let law = (&model, options.multiplicity);
    let ((top_k, relative_error), (terms_lost, queries, links)) = rayon::join(
        || {
            let first = reconstruct(&model, &sampling, 0).records;
            rayon::join(
                || top_k::compare(original, &best, &model, &first, &chunks, options),
                || relative_error::windows(original, law, &first, &chunks, options),
            )
        },
        || {
            let terms_lost = terms_lost::count(original, &release, &chunks, options.more_than_k);
            let queries = queries::ask(original, &model, options.queries, options.seed);
            (terms_lost, queries, links::compare(original, &model, &chunks, options.queries, options.seed))
        },
    );
    options.observer.check();
    let kept = |interest| kept::count(&original.records, &chunks, original.n_terms(), interest);
    Ok(Report {
        kept: options.interest.and_then(kept),
        records: release.header.records,
        terms: original.n_terms(),
        k: release.header.k,
        m: release.header.m,
        seed: options.seed,
        top_k: top_k?,
        relative_error,
        terms_lost,
        queries,
        links,
    })
}
