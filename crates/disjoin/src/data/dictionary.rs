//! The texts of terms, met once on the way in and once on the way out.

use std::hash::BuildHasher;

use hashbrown::HashTable;

/// A term inside the toolkit: its position in a [`Dictionary`].
pub type TermId = u32;

/// A two-way map between terms' texts and dense ids in order of first appearance.
///
/// Texts lie one after the other in one buffer, so that a million terms cost a million texts and not a million
/// allocations.
#[derive(Clone, Default)]
pub struct Dictionary {
    text: String,
    /// End of each term in `text`; a term starts where the one before it ends.
    ends: Vec<usize>,
    index: HashTable<TermId>,
    /// Seeded at random: a file cannot be made to collide on purpose. Order never depends on it.
    hasher: foldhash::fast::RandomState,
}

impl Dictionary {
    /// The id of `term`, which is given one if it is new.
    pub fn intern(&mut self, term: &str) -> TermId {
        let hash = self.hasher.hash_one(term);
        let (text, ends) = (&self.text, &self.ends);
        if let Some(&id) = self.index.find(hash, |&id| slice(text, ends, id) == term) {
            return id;
        }
        let id = TermId::try_from(self.ends.len()).unwrap_or_else(|_| {
            // 2^32 distinct terms need more than 16 GB in this index alone; the readers' memory gives out first.
            unreachable!("more than 2^32 distinct terms")
        });
        self.text.push_str(term);
        self.ends.push(self.text.len());
        let (text, ends, hasher) = (&self.text, &self.ends, &self.hasher);
        self.index.insert_unique(hash, id, |&other| hasher.hash_one(slice(text, ends, other)));
        id
    }

    /// The id of `term`, if it has one.
    pub fn get(&self, term: &str) -> Option<TermId> {
        let hash = self.hasher.hash_one(term);
        self.index.find(hash, |&id| self.text(id) == term).copied()
    }

    /// The text of a term. The id must come from this dictionary.
    pub fn text(&self, id: TermId) -> &str {
        slice(&self.text, &self.ends, id)
    }

    /// The number of terms.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no term.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All texts in order of id.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.ends.len()).map(|id| self.text(id as TermId))
    }

    /// The same texts in lexicographic order, and for each id here its id there.
    ///
    /// Releases use the sorted dictionary: their order of terms then tells nothing about the order of the input.
    pub fn sorted(&self) -> (Dictionary, Vec<TermId>) {
        let mut order: Vec<TermId> = (0..self.len() as TermId).collect();
        order.sort_unstable_by_key(|&id| self.text(id));
        let mut sorted = Dictionary::default();
        let mut rank = vec![0; self.len()];
        for id in order {
            rank[id as usize] = sorted.intern(self.text(id));
        }
        (sorted, rank)
    }
}

impl std::fmt::Debug for Dictionary {
    /// Shows the size only: texts may be sensitive, and debug output ends up in logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Dictionary({} terms)", self.len())
    }
}

fn slice<'a>(text: &'a str, ends: &[usize], id: TermId) -> &'a str {
    let id = id as usize;
    let start = if id == 0 { 0 } else { ends[id - 1] };
    &text[start..ends[id]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_follow_first_appearance() {
        let mut dictionary = Dictionary::default();
        let ids: Vec<_> = ["b", "a", "b", "", "é"].iter().map(|t| dictionary.intern(t)).collect();
        assert_eq!(ids, [0, 1, 0, 2, 3]);
        assert_eq!(dictionary.iter().collect::<Vec<_>>(), ["b", "a", "", "é"]);
        assert_eq!(dictionary.get("é"), Some(3));
        assert_eq!(dictionary.get("c"), None);
    }

    #[test]
    fn sorting_keeps_texts_and_maps_ids() {
        let mut dictionary = Dictionary::default();
        for term in ["pear", "apple", "fig"] {
            dictionary.intern(term);
        }
        let (sorted, rank) = dictionary.sorted();
        assert_eq!(sorted.iter().collect::<Vec<_>>(), ["apple", "fig", "pear"]);
        assert_eq!(rank, [2, 0, 1]);
    }

    #[test]
    fn debug_output_hides_texts() {
        let mut dictionary = Dictionary::default();
        dictionary.intern("hiv");
        assert!(!format!("{dictionary:?}").contains("hiv"));
    }
}
