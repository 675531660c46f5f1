//! What are we protecting? Records of terms, coded as integers.

pub mod cell;
mod cooccurrence;
pub mod counted;
mod cut;
mod dictionary;
mod hierarchy;
mod interest;
pub mod mine;
mod ordered;
pub mod partition;
mod prefixes;
mod recoding;
pub mod risk;
mod support;
pub mod table;
mod transactions;
pub mod utility_loss;
pub mod words;

pub use cell::Cell;
pub use cooccurrence::by_cooccurrence;
pub use counted::Counted;
pub use cut::Cut;
pub use dictionary::{Dictionary, TermId};
pub use hierarchy::{Fault, Hierarchy, HierarchyBuilder, NodeId};
pub use interest::Interest;
pub use mine::{Itemset, Mining, top_k};
pub use partition::Partition;
pub use prefixes::by_prefix;
pub use recoding::Recoding;
pub use risk::{Profile, Risk, TableRisk, profile, risk, rows_at_risk, table_risk};
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
