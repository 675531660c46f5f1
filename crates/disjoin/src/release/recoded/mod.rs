//! Recoded transactions: records of groups of terms in place of terms, with what each group stands for.
//!
//! Paper:      the form of terrovitis2008 (AA), loukides2011 (COAT) and of suppression; spec C.1 to C.3 and D.1
//! Promises:   the file is a function of which recoding each record got and of what it holds: neither the order of the input nor
//!             that of blocks or groups in the making changes a byte. Terms that no record shows any more leave no trace.
//!             Records of which nothing is left are counted as what they are
//! Assumes:    terms are texts that `read` accepts
//! Departs:    equal records stand once, with their count: a bag has no order to leak. A group tells the terms that the original
//!             has, and not all leaves of a hierarchy
//! Cost:       sorting the records
//! Checked by: tests in this file, and `tests/it/recoded.rs`
//!
//! transactions.jsonl has a header, then for each block a line with its groups, and a line for each different record:
//!
//! ```text
//! {"format":"disjoin/recoded","version":1,"records":5,"blocks":1}
//! {"records":5,"groups":[{"terms":["asthma","gout"],"label":"chronic"},{"terms":["flu"]}]}
//! {"items":[1],"count":2}
//! {"items":[1,2],"count":3}
//! ```
//!
//! A block is a part of the records with a recoding of its own; most methods have one recoding for all. Items are the numbers of
//! groups, from 1. A group stands for any non-empty set of its terms; a group of one is the term itself.

mod claim;
mod jsonl;
pub mod utility_loss;

use rayon::prelude::*;

use crate::data::{Dictionary, Recoding, RecordId, TermId, Transactions};
use crate::error::{Error, Result};
pub use claim::{Promised, RecodedClaim, Recodings, Suppression, utility_as_published};
pub use jsonl::{parse_recoded, read_recoded, write_recoded};

/// The name of the file with the records.
pub const TRANSACTIONS: &str = "transactions.jsonl";

/// The `format` in its first line.
pub const FORMAT: &str = "disjoin/recoded";

/// The version of the format that this crate writes, and the only one that it reads.
pub const VERSION: u64 = 1;

/// Records of groups of terms, as they are published.
#[derive(Debug, Clone, Default)]
pub struct Recoded {
    /// The terms that are published, sorted where the release was made here.
    pub dictionary: Dictionary,
    /// The blocks.
    pub blocks: Vec<Block>,
}

/// Records with one recoding.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Block {
    /// The terms of each group, ascending.
    pub groups: Vec<Vec<TermId>>,
    /// What each group is called in the hierarchy that it comes from, if it does.
    pub labels: Vec<Option<String>>,
    /// The different records, as numbers of groups.
    pub bag: Bag,
}

/// Different records with their counts; a record may be empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bag {
    items: Vec<u32>,
    ends: Vec<usize>,
    counts: Vec<u32>,
}

impl Bag {
    /// Appends a record whose items ascend.
    pub fn push(&mut self, items: &[u32], count: u32) {
        debug_assert!(items.is_sorted_by(|a, b| a < b));
        self.items.extend_from_slice(items);
        self.ends.push(self.items.len());
        self.counts.push(count);
    }

    /// The number of different records.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The items of a record, ascending.
    pub fn items(&self, at: usize) -> &[u32] {
        &self.items[if at == 0 { 0 } else { self.ends[at - 1] }..self.ends[at]]
    }

    /// How often a record occurs.
    pub fn count(&self, at: usize) -> u32 {
        self.counts[at]
    }

    /// All different records with their counts.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&[u32], u32)> {
        (0..self.len()).map(|at| (self.items(at), self.counts[at]))
    }

    /// The number of records, equal ones included.
    pub fn n_records(&self) -> u64 {
        self.counts.iter().map(|&count| u64::from(count)).sum()
    }

    /// Every record as often as it occurs, in the order of the bag; without those that are empty.
    pub fn transactions(&self) -> Transactions {
        let mut records = Transactions::default();
        let mut record = Vec::new();
        for (items, count) in self.iter() {
            for _ in 0..count {
                record.clear();
                record.extend_from_slice(items);
                records.push(&mut record);
            }
        }
        records
    }
}

impl Block {
    /// For each of `n_terms` terms its group, if it has one here.
    pub fn group_of_terms(&self, n_terms: usize) -> Vec<Option<u32>> {
        let mut of_term = vec![None; n_terms];
        for (terms, group) in self.groups.iter().zip(0..) {
            for &term in terms {
                if let Some(place) = of_term.get_mut(term as usize) {
                    *place = Some(group);
                }
            }
        }
        of_term
    }
}

impl Recoded {
    /// The number of records, those of which nothing is left included.
    pub fn n_records(&self) -> u64 {
        self.blocks.iter().map(|block| block.bag.n_records()).sum()
    }

    /// The number of different records, of each block.
    pub fn n_lines(&self) -> usize {
        self.blocks.iter().map(|block| block.bag.len()).sum()
    }

    /// What is published ungeneralised: of every record that shows some, the terms that stand for themselves.
    pub fn ungeneralised(&self) -> Transactions {
        let mut records = Transactions::default();
        let mut terms = Vec::new();
        for block in &self.blocks {
            let alone = |&item: &u32| match block.groups[item as usize][..] {
                [term] => Some(term),
                _ => None,
            };
            for (items, count) in block.bag.iter() {
                for _ in 0..count {
                    terms.clear();
                    terms.extend(items.iter().filter_map(alone));
                    records.push(&mut terms);
                }
            }
        }
        records
    }

    /// The same with the terms of another dictionary, which gets those that it lacks.
    #[must_use]
    pub fn in_terms_of(mut self, mut dictionary: Dictionary) -> Recoded {
        let rename: Vec<TermId> = self.dictionary.iter().map(|text| dictionary.intern(text)).collect();
        for group in self.blocks.iter_mut().flat_map(|block| &mut block.groups) {
            group.iter_mut().for_each(|term| *term = rename[*term as usize]);
            group.sort_unstable();
        }
        Recoded { dictionary, blocks: self.blocks }
    }
}

/// A block in the making: records of the original, each with the groups that it is to show.
#[derive(Debug, Clone, Default)]
pub struct Draft {
    groups: Vec<Vec<TermId>>,
    labels: Vec<Option<String>>,
    ids: Vec<RecordId>,
    items: Vec<u32>,
    ends: Vec<usize>,
}

impl Draft {
    /// No record yet. `labels` are those of the groups; none at all where groups have no names.
    pub fn new(groups: Vec<Vec<TermId>>, labels: Vec<Option<String>>) -> Self {
        let mut labels = labels;
        labels.resize(groups.len(), None);
        Draft { groups, labels, ..Draft::default() }
    }

    /// A record of the original with its groups, in any order.
    pub fn push(&mut self, id: RecordId, items: &mut Vec<u32>) {
        items.sort_unstable();
        items.dedup();
        self.ids.push(id);
        self.items.extend_from_slice(items);
        self.ends.push(self.items.len());
    }

    /// These records by a recoding.
    pub fn of_recoding(
        records: &Transactions,
        ids: impl IntoIterator<Item = RecordId>,
        recoding: &Recoding,
        labels: Vec<Option<String>>,
    ) -> Self {
        let mut draft = Draft::new(recoding.groups().to_vec(), labels);
        let mut items = Vec::new();
        for id in ids {
            items.clear();
            items.extend(records.record(id).iter().filter_map(|&term| recoding.group_of(term)));
            draft.push(id, &mut items);
        }
        draft
    }

    fn record(&self, at: usize) -> &[u32] {
        &self.items[if at == 0 { 0 } else { self.ends[at - 1] }..self.ends[at]]
    }

    /// The groups that a record holds, in the order of their texts, and the records in theirs; for each record its line here.
    fn finish(self, rank: &[TermId]) -> Finished {
        let mut is_held = vec![false; self.groups.len()];
        self.items.iter().for_each(|&group| is_held[group as usize] = true);
        let mut groups: Vec<(Vec<TermId>, u32)> = (self.groups.iter().zip(0..))
            .filter(|&(_, group)| is_held[group as usize])
            .map(|(terms, group)| {
                let mut terms: Vec<TermId> = terms.iter().map(|&term| rank[term as usize]).collect();
                terms.sort_unstable();
                (terms, group)
            })
            .collect();
        groups.sort_unstable();
        let mut number = vec![0; self.groups.len()];
        groups.iter().zip(0..).for_each(|((_, group), new)| number[*group as usize] = new);
        let labels = groups.iter().map(|&(_, group)| self.labels[group as usize].clone()).collect();

        let mut renamed = Draft { items: Vec::with_capacity(self.items.len()), ..Draft::default() };
        let mut items = Vec::new();
        for (at, &id) in self.ids.iter().enumerate() {
            items.clear();
            items.extend(self.record(at).iter().map(|&group| number[group as usize]));
            renamed.push(id, &mut items);
        }
        let mut order: Vec<u32> = (0..self.ids.len() as u32).collect();
        order.par_sort_unstable_by(|&a, &b| renamed.record(a as usize).cmp(renamed.record(b as usize)));
        let (mut bag, mut lines) = (Bag::default(), Vec::with_capacity(order.len()));
        for &at in &order {
            let items = renamed.record(at as usize);
            match bag.len().checked_sub(1).filter(|&last| bag.items(last) == items) {
                Some(last) => bag.counts[last] += 1,
                None => bag.push(items, 1),
            }
            lines.push((renamed.ids[at as usize], bag.len() as u32 - 1));
        }
        let block = Block { groups: groups.into_iter().map(|(terms, _)| terms).collect(), labels, bag };
        Finished { block, lines }
    }
}

struct Finished {
    block: Block,
    /// Records of the original, each with its line in the block.
    lines: Vec<(RecordId, u32)>,
}

impl Recoded {
    /// What is published of these drafts, which have every record of the original once; and for each record the number of its
    /// line, counted from 0 over all blocks.
    pub fn of_drafts(dictionary: &Dictionary, drafts: Vec<Draft>) -> Result<(Recoded, Vec<u32>)> {
        let (sorted, rank) = dictionary.sorted();
        let mut finished: Vec<Finished> =
            drafts.into_par_iter().filter(|draft| !draft.ids.is_empty()).map(|draft| draft.finish(&rank)).collect();
        finished.sort_unstable_by(|a, b| {
            (&a.block.groups, &a.block.labels, &a.block.bag).cmp(&(&b.block.groups, &b.block.labels, &b.block.bag))
        });
        let n_records = finished.iter().map(|one| one.lines.len()).sum();
        let mut line_of = vec![u32::MAX; n_records];
        let mut first = 0;
        for one in &finished {
            for &(id, line) in &one.lines {
                let place = line_of.get_mut(id as usize).filter(|place| **place == u32::MAX);
                *place.ok_or(Error::Internal("a record is in two blocks, or in none"))? = first + line;
            }
            first += one.block.bag.len() as u32;
        }
        // Only what is published may be in the dictionary: it is written out, and tells.
        let mut blocks: Vec<Block> = finished.into_iter().map(|one| one.block).collect();
        let mut is_published = vec![false; sorted.len()];
        let terms = blocks.iter().flat_map(|block| block.groups.iter().flatten());
        terms.for_each(|&term| is_published[term as usize] = true);
        let mut published = Dictionary::default();
        let rename: Vec<TermId> = (sorted.iter().zip(&is_published))
            .map(|(text, &is_published)| if is_published { published.intern(text) } else { TermId::MAX })
            .collect();
        for group in blocks.iter_mut().flat_map(|block| &mut block.groups) {
            group.iter_mut().for_each(|term| *term = rename[*term as usize]);
        }
        Ok((Recoded { dictionary: published, blocks }, line_of))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dataset;

    fn data() -> Dataset {
        Dataset::from_texts([vec!["d", "b"], vec!["c"], vec!["a", "b"], vec!["b", "d", "a"], vec!["c", "d"], vec!["e"]])
    }

    fn text(release: &Recoded) -> String {
        let mut text = Vec::new();
        write_recoded(release, &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn the_file_depends_on_nothing_but_content() {
        let data = data();
        let id = |text| data.dictionary.get(text).unwrap();
        let groups = [vec![id("d"), id("a")], vec![id("b")], vec![id("c")]];
        let recoding = Recoding::from_groups(data.n_terms(), groups).unwrap();
        let draft = |ids: Vec<u32>| Draft::of_recoding(&data.records, ids, &recoding, Vec::new());
        let (release, line_of) = Recoded::of_drafts(&data.dictionary, vec![draft((0..6).collect())]).unwrap();
        assert_eq!(
            text(&release),
            "{\"format\":\"disjoin/recoded\",\"version\":1,\"records\":6,\"blocks\":1}\n\
             {\"records\":6,\"groups\":[{\"terms\":[\"a\",\"d\"]},{\"terms\":[\"b\"]},{\"terms\":[\"c\"]}]}\n\
             {\"items\":[],\"count\":1}\n{\"items\":[1,2],\"count\":3}\n{\"items\":[1,3],\"count\":1}\n{\"items\":[3],\"count\":1}\n"
        );
        // What became of e is told nowhere, and e neither.
        assert!(!text(&release).contains("\"e\"") && release.dictionary.get("e").is_none());
        assert_eq!(line_of, [1, 3, 1, 1, 2, 0]);
        let (other, _) = Recoded::of_drafts(&data.dictionary, vec![draft(vec![5, 2, 4, 0, 3, 1])]).unwrap();
        assert_eq!(text(&other), text(&release));
        // Blocks stand in the order of their content, too.
        let parts = [vec![0, 2, 5], vec![1, 3, 4]];
        let (one, _) = Recoded::of_drafts(&data.dictionary, parts.clone().map(draft).to_vec()).unwrap();
        let (two, _) = Recoded::of_drafts(&data.dictionary, vec![draft(vec![4, 3, 1]), draft(vec![2, 0, 5])]).unwrap();
        assert_eq!(text(&one), text(&two));
        assert_eq!((one.blocks.len(), one.n_records(), one.n_lines()), (2, 6, 5));
        assert!(Recoded::of_drafts(&data.dictionary, vec![draft(vec![0, 1]), draft(vec![1])]).is_err());
        let mut strange = Draft::new(vec![vec![0]], Vec::new());
        strange.push(7, &mut vec![0]);
        assert!(Recoded::of_drafts(&data.dictionary, vec![strange]).is_err());
    }

    #[test]
    fn what_is_written_is_read_back() {
        let data = data();
        let mut draft = Draft::new(vec![vec![0, 1], vec![2], vec![3]], vec![Some(String::from("\"two\""))]);
        for (id, mut items) in [(0, vec![0]), (1, vec![1]), (2, vec![0, 2]), (3, vec![2, 0]), (4, vec![]), (5, vec![1])]
        {
            draft.push(id, &mut items);
        }
        let (release, _) = Recoded::of_drafts(&data.dictionary, vec![draft]).unwrap();
        let read = parse_recoded(text(&release).as_bytes(), "x").unwrap();
        assert_eq!(text(&read), text(&release));
        // Terms are numbered as they are met.
        assert_eq!(read.blocks[0].bag, release.blocks[0].bag);
        assert_eq!(read.in_terms_of(release.dictionary.clone()).blocks, release.blocks);
        let read = parse_recoded(text(&release).as_bytes(), "x").unwrap();
        let renamed = read.in_terms_of(data.dictionary.clone());
        assert_eq!(renamed.blocks[0].groups.iter().map(Vec::len).sum::<usize>(), 4);
        assert_eq!(renamed.dictionary.len(), data.n_terms());
        assert_eq!(release.blocks[0].bag.transactions().len(), 5);
    }
}
