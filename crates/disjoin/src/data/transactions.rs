//! Records of terms in compressed rows: one array of terms, one array of ends.

use super::TermId;

/// A record: its position in a [`Transactions`].
pub type RecordId = u32;

/// Records as sorted, duplicate-free, non-empty runs of term ids.
///
/// Invariant: every record is non-empty and strictly ascending. [`Transactions::push`] is the only way in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Transactions {
    terms: Vec<TermId>,
    ends: Vec<usize>,
}

impl Transactions {
    /// Appends a record after sorting it and collapsing duplicates; returns how many duplicates there were.
    /// An empty record is not stored.
    pub fn push(&mut self, record: &mut Vec<TermId>) -> usize {
        let given = record.len();
        if !record.is_sorted_by(|a, b| a < b) {
            record.sort_unstable();
            record.dedup();
        }
        if !record.is_empty() {
            self.terms.extend_from_slice(record);
            self.ends.push(self.terms.len());
        }
        given - record.len()
    }

    /// Appends all records of `other`.
    pub fn append(&mut self, other: &Transactions) {
        let offset = self.terms.len();
        self.terms.extend_from_slice(&other.terms);
        self.ends.extend(other.ends.iter().map(|end| end + offset));
    }

    /// Appends all records of `other`, with every term renamed by `rename`.
    pub fn append_renamed(&mut self, other: &Transactions, rename: &[TermId]) {
        self.terms.reserve(other.terms.len());
        self.ends.reserve(other.ends.len());
        for record in other.iter() {
            let start = self.terms.len();
            self.terms.extend(record.iter().map(|&t| rename[t as usize]));
            self.terms[start..].sort_unstable();
            self.ends.push(self.terms.len());
        }
    }

    /// The terms of one record, ascending.
    #[inline]
    pub fn record(&self, id: RecordId) -> &[TermId] {
        let id = id as usize;
        let start = if id == 0 { 0 } else { self.ends[id - 1] };
        &self.terms[start..self.ends[id]]
    }

    /// The number of records.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The number of (record, term) incidences.
    pub fn n_incidences(&self) -> usize {
        self.terms.len()
    }

    /// All incidences' terms, record after record.
    pub fn all_terms(&self) -> &[TermId] {
        &self.terms
    }

    /// All records in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[TermId]> {
        (0..self.len()).map(|id| self.record(id as RecordId))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn push_sorts_collapses_and_skips_empty() {
        let mut records = Transactions::default();
        assert_eq!(records.push(&mut vec![3, 1, 3, 2]), 1);
        assert_eq!(records.push(&mut vec![]), 0);
        assert_eq!(records.push(&mut vec![5]), 0);
        assert_eq!(records.iter().collect::<Vec<_>>(), [&[1, 2, 3][..], &[5]]);
        assert_eq!(records.n_incidences(), 4);
    }
}
