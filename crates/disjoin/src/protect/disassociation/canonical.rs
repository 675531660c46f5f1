//! The same records whatever the order of lines and the numbers of terms: what is published is a function of the bag of records.
//!
//! Ties are broken by term numbers and by positions in many places. Here terms are numbered by their texts and records ordered by
//! their content, before anything else looks at them. So two inputs with the same bag of records give the same bytes, and the
//! order of lines, which may follow time or names, cannot show.
//!
//! Paper:      ours; terrovitis2012 breaks ties as it likes
//! Promises:   equal for all inputs with the same bag of records, up to which of equal records is which
//! Cost:       O(L log L) for L incidences
//! Checked by: tests/it/canonical.rs (shuffled lines, thousands of tiny datasets, every grouping)

use rayon::prelude::*;

use super::{Grouping, Params};
use crate::data::{Dataset, Interest, RecordId, TermId, Transactions};

/// Data in canonical order, with the parameters that speak of its terms.
pub(super) struct Canonical {
    pub(super) data: Dataset,
    pub(super) params: Params,
    /// For each record of it, the record of the input.
    pub(super) places: Vec<RecordId>,
}

impl Canonical {
    /// Orders a dataset.
    pub(super) fn new(input: &Dataset, params: &Params) -> Self {
        let (dictionary, rank) = input.dictionary.sorted();
        let mut renamed = Transactions::default();
        renamed.append_renamed(&input.records, &rank);
        let mut places: Vec<RecordId> = (0..renamed.len() as RecordId).collect();
        // Guarded grouping breaks no tie by position.
        if params.grouping == Grouping::Guarded {
            return Canonical {
                data: Dataset { dictionary, records: renamed },
                params: renumbered(params, &rank),
                places,
            };
        }
        places.par_sort_by(|&a, &b| renamed.record(a).cmp(renamed.record(b)));
        let mut records = Transactions::default();
        let mut record = Vec::new();
        for &place in &places {
            record.clear();
            record.extend_from_slice(renamed.record(place));
            records.push(&mut record);
        }
        Canonical { data: Dataset { dictionary, records }, params: renumbered(params, &rank), places }
    }
}

/// The same parameters, terms renumbered.
fn renumbered(params: &Params, rank: &[TermId]) -> Params {
    let rename = |terms: &[TermId]| -> Vec<TermId> {
        let mut renamed: Vec<TermId> = terms.iter().map(|&term| rank[term as usize]).collect();
        renamed.sort_unstable();
        renamed
    };
    let Interest { sets, weights } = &params.interest;
    let mut weights: Vec<(TermId, f64)> = weights.iter().map(|&(term, weight)| (rank[term as usize], weight)).collect();
    weights.sort_by_key(|&(term, _)| term);
    let interest = Interest { sets: sets.iter().map(|set| rename(set)).collect(), weights };
    Params { sensitive: rename(&params.sensitive), interest, ..params.clone() }
}
