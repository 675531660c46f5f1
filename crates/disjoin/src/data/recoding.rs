//! Which sets of terms stand in for terms: a global recoding of set-valued data.
//!
//! Promises:   every term is in one group, or suppressed; groups are disjoint, sorted and not empty
//! Checked by: tests in this file

use crate::data::{TermId, Transactions};

/// Stands for the group of a suppressed term.
const SUPPRESSED: u32 = u32::MAX;

/// What each term became: one of a group, of which a reader cannot tell which, or nothing.
///
/// A group of one is the term itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recoding {
    /// For each term its group.
    of_term: Vec<u32>,
    /// For each group its terms, ascending.
    groups: Vec<Vec<TermId>>,
}

impl Recoding {
    /// Every term is itself.
    pub fn identity(n_terms: usize) -> Self {
        let n_terms = n_terms as u32;
        Recoding { of_term: (0..n_terms).collect(), groups: (0..n_terms).map(|term| vec![term]).collect() }
    }

    /// From the terms of each group, in any order; terms of none are suppressed. None if a term is in two.
    pub fn from_groups(n_terms: usize, groups: impl IntoIterator<Item = Vec<TermId>>) -> Option<Self> {
        let mut groups: Vec<Vec<TermId>> = groups.into_iter().filter(|group| !group.is_empty()).collect();
        groups.iter_mut().for_each(|group| group.sort_unstable());
        groups.sort_unstable();
        let mut of_term = vec![SUPPRESSED; n_terms];
        for (at, group) in (0..).zip(&groups) {
            for &term in group {
                if std::mem::replace(of_term.get_mut(term as usize)?, at) != SUPPRESSED {
                    return None;
                }
            }
        }
        Some(Recoding { of_term, groups })
    }

    /// The group of a term; none if it is suppressed.
    pub fn group_of(&self, term: TermId) -> Option<u32> {
        self.of_term.get(term as usize).copied().filter(|&group| group != SUPPRESSED)
    }

    /// The terms of each group, ascending.
    pub fn groups(&self) -> &[Vec<TermId>] {
        &self.groups
    }

    /// The number of terms, suppressed ones too.
    pub fn n_terms(&self) -> usize {
        self.of_term.len()
    }

    /// The terms that are suppressed, ascending.
    pub fn suppressed(&self) -> impl Iterator<Item = TermId> {
        (0..).zip(&self.of_term).filter(|(_, group)| **group == SUPPRESSED).map(|(term, _)| term)
    }

    /// Records of groups in place of terms; records of which nothing is left are left out.
    pub fn apply(&self, records: &Transactions) -> Transactions {
        let mut recoded = Transactions::default();
        let mut groups = Vec::new();
        for record in records.iter() {
            groups.clear();
            groups.extend(record.iter().filter_map(|&term| self.group_of(term)));
            recoded.push(&mut groups);
        }
        recoded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_become_groups_or_nothing() {
        let mut records = Transactions::default();
        for mut record in [vec![0, 1, 3], vec![2], vec![1, 4]] {
            records.push(&mut record);
        }
        let recoding = Recoding::from_groups(5, [vec![4], vec![3, 0], vec![], vec![1]]).unwrap();
        assert_eq!(recoding.groups(), [vec![0, 3], vec![1], vec![4]]);
        assert_eq!(recoding.suppressed().collect::<Vec<_>>(), [2]);
        // 0 and 3 are one now, and nothing is left of the second record.
        assert_eq!(recoding.apply(&records).iter().collect::<Vec<_>>(), [&[0, 1][..], &[1, 2]]);
        assert_eq!(Recoding::identity(5).apply(&records), records);
        assert_eq!(Recoding::from_groups(5, [vec![0, 1], vec![1]]), None);
        assert_eq!(Recoding::from_groups(2, [vec![2]]), None);
    }
}
