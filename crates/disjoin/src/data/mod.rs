//! What are we protecting? Records of terms, coded as integers.

pub mod cell;
pub mod class_counts;
mod cut;
mod dictionary;
pub(crate) mod hierarchy;
mod interest;
mod ordered;
pub mod partition;
pub mod people;
mod prefixes;
mod recoding;
mod support;
pub mod table;
mod transactions;

pub use cell::Cell;
pub use class_counts::Counted;
pub use cut::Cut;
pub use dictionary::{Dictionary, TermId};
pub use hierarchy::{Fault, Hierarchy, HierarchyBuilder, NodeId};
pub use interest::Interest;
pub use partition::Partition;
pub use people::{Evidence, People, Visits};
pub use prefixes::by_prefix;
pub use recoding::Recoding;
pub use support::{itemset_supports, supports};
pub use table::Table;
pub use transactions::{RecordId, Transactions};

/// A set-valued dataset: who has which terms.
#[derive(Debug, Clone, Default)]
pub struct Dataset {
    /// The terms' texts; ids are given by first appearance in the input.
    pub dictionary: Dictionary,
    /// The records.
    pub records: Transactions,
}

impl Dataset {
    /// Builds a dataset from records of texts: duplicates within a record collapse, empty records are left out.
    pub fn from_texts<R, T>(records: impl IntoIterator<Item = R>) -> Self
    where
        R: IntoIterator<Item = T>,
        T: AsRef<str>,
    {
        let mut dataset = Dataset::default();
        let mut terms = Vec::new();
        for record in records {
            terms.clear();
            terms.extend(record.into_iter().map(|term| dataset.dictionary.intern(term.as_ref())));
            dataset.records.push(&mut terms);
        }
        dataset
    }

    /// The number of distinct terms.
    pub fn n_terms(&self) -> usize {
        self.dictionary.len()
    }
}
