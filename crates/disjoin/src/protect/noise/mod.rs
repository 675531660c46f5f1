//! Differential privacy: whether one record is there or not hardly changes what is published.

mod bases;
mod counts;
pub mod diffpart;
pub mod discrete;
pub mod ledger;
pub mod privbasis;

pub use discrete::{Source, fresh_seed};
pub use ledger::Ledger;

use crate::data::{Dataset, Dictionary, Transactions};
use crate::error::{Error, Place, Result};
use crate::release::noisy::{Noisy, NoisyClaim, Universe};

/// Records over items that everybody knows.
#[derive(Debug, Clone)]
pub struct Known {
    /// The items, in an order that does not depend on the records.
    pub items: Dictionary,
    /// The records, by items.
    pub records: Transactions,
    /// Where the items come from.
    pub universe: Universe,
}

/// What a method made.
#[derive(Debug, Clone)]
pub struct Made {
    /// The data.
    pub release: Noisy,
    /// What they promise.
    pub claim: NoisyClaim,
}

impl Known {
    /// Over items that are listed somewhere. An item of the data that is not listed is an error, at `place`: it cannot be published, nor
    /// can it be told that it was left out.
    pub fn listed(data: &Dataset, listed: &Dictionary, place: &Place) -> Result<Self> {
        let known: Option<Vec<u32>> = data.dictionary.iter().map(|text| listed.get(text)).collect();
        let Some(known) = known else {
            let is_unknown = |&term: &u32| listed.get(data.dictionary.text(term)).is_none();
            let first = data.records.iter().position(|record| record.iter().any(is_unknown)).unwrap_or(0) + 1;
            let missing = data.dictionary.iter().filter(|text| listed.get(text).is_none()).count();
            let problem = format!(
                "{missing} of the {} terms of the data are not in this list; the first is in record {first} of the data",
                data.n_terms()
            );
            let hint =
                "list every term that a record could hold, one a line; take the list from elsewhere than the data";
            return Err(Error::input(place.clone(), problem).with_hint(hint));
        };
        Ok(Known::renamed(data, listed, &known, Universe::Listed))
    }

    /// Over the items that occur: that they do is then assumed to be public.
    pub fn occurring(data: &Dataset) -> Self {
        let same: Vec<u32> = (0..data.n_terms() as u32).collect();
        Known::renamed(data, &data.dictionary, &same, Universe::AssumedPublic)
    }

    /// Items in the order of their texts, or of their values if all are integers: the order in which they were met, in the data or in
    /// a list, is not to matter.
    fn renamed(data: &Dataset, items: &Dictionary, known: &[u32], universe: Universe) -> Self {
        let values: Option<Vec<i128>> = items.iter().map(|text| text.parse().ok()).collect();
        let mut order: Vec<u32> = (0..items.len() as u32).collect();
        order.sort_by_key(|&item| (values.as_ref().map(|values| values[item as usize]), items.text(item)));
        let mut sorted = Dictionary::default();
        let mut rank = vec![0; items.len()];
        order.iter().for_each(|&item| rank[item as usize] = sorted.intern(items.text(item)));
        let rename: Vec<u32> = known.iter().map(|&item| rank[item as usize]).collect();
        let mut records = Transactions::default();
        records.append_renamed(&data.records, &rename);
        Known { items: sorted, records, universe }
    }
}
