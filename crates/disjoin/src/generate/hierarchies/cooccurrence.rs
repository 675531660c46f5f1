//! A hierarchy from the records themselves: terms that are often together stand below one node.
//!
//! Level by level, pairs of nodes are joined in the order of their Jaccard similarity (of the records that hold one, the
//! share that holds both), as long as no group has more than `fanout` nodes. Small groups that are left are put
//! together, rare with rare, so that the tree is shallow.
//!
//! Such a tree tells about the records it was made of: which terms go together, and, by the labels, which of them is the most
//! frequent. Whoever publishes labels publishes that, beside the promise of the release.
//!
//! Promises:   one root, every term a leaf, at most `fanout` children a node; depends on the records alone
//! Cost:       for each of a few levels as many steps as records have pairs, and memory for `2 * fanout` pairs a node
//! Checked by: tests in this file

use std::cmp::{Ordering, Reverse};

use crate::data::hierarchy::NONE;
use crate::data::{Dictionary, Hierarchy, NodeId, RecordId, Transactions, supports};
use crate::error::{Error, Result};

/// A node of the current level.
struct Node {
    id: NodeId,
    /// The most frequent term below, for the label.
    first: NodeId,
    n_terms: u32,
}

/// Two nodes of a level, and how many records hold both, out of those that hold one.
struct Pair {
    both: u32,
    either: u32,
    nodes: (u32, u32),
}

impl Pair {
    /// The most similar pair first.
    fn order(&self, other: &Self) -> Ordering {
        let crossed = |pair: &Pair, by: &Pair| u64::from(pair.both) * u64::from(by.either);
        crossed(other, self).cmp(&crossed(self, other)).then(self.nodes.cmp(&other.nodes))
    }
}

/// Builds a tree in which terms that are often together are near each other. Inner nodes are named by their most
/// frequent term and the number of others: `flu +8`.
pub fn by_cooccurrence(dictionary: &Dictionary, records: &Transactions, fanout: usize) -> Result<Hierarchy> {
    if fanout < 2 {
        return Err(Error::recipe("--fanout", "must be at least 2", "for example 10"));
    }
    let n_terms = dictionary.len();
    if records.all_terms().iter().any(|&term| term as usize >= n_terms) {
        return Err(Error::Internal("records have terms beyond the dictionary"));
    }
    let of_terms = supports(records, n_terms);
    let mut parents = vec![NONE; n_terms];
    let mut labels = Vec::new();
    let mut level: Vec<Node> = (0..n_terms as NodeId).map(|id| Node { id, first: id, n_terms: 1 }).collect();
    // Records of nodes of the current level.
    let mut on_level = records.clone();
    while level.len() > 1 {
        let group_of = group(&on_level, level.len(), fanout);
        let mut groups: Vec<Vec<Node>> = Vec::new();
        for (node, &group) in level.into_iter().zip(&group_of) {
            groups.resize_with(groups.len().max(group as usize + 1), Vec::new);
            groups[group as usize].push(node);
        }
        level = groups
            .into_iter()
            .map(|nodes| match <[Node; 1]>::try_from(nodes) {
                Ok([only]) => only,
                Err(nodes) => {
                    let id = parents.len() as NodeId;
                    nodes.iter().for_each(|node| parents[node.id as usize] = id);
                    parents.push(NONE);
                    let most = |node: &&Node| (of_terms[node.first as usize], Reverse(node.first));
                    let first = nodes.iter().max_by_key(most).map_or(0, |node| node.first);
                    let n_terms = nodes.iter().map(|node| node.n_terms).sum();
                    labels.push(format!("{} +{}", dictionary.text(first), n_terms - 1));
                    Node { id, first, n_terms }
                }
            })
            .collect();
        let mut higher = Transactions::default();
        for record in on_level.iter() {
            higher.push(&mut record.iter().map(|&node| group_of[node as usize]).collect());
        }
        on_level = higher;
    }
    Ok(Hierarchy::number(n_terms, parents, labels))
}

/// For each node its group, of at most `fanout` nodes; always fewer groups than nodes.
fn group(records: &Transactions, n_nodes: usize, fanout: usize) -> Vec<u32> {
    let supports = supports(records, n_nodes);
    let mut pairs = similar(records, &supports, fanout.saturating_mul(2));
    pairs.sort_unstable_by(Pair::order);

    // Groups as trees of nodes that point towards their representative.
    let mut above: Vec<u32> = (0..n_nodes as u32).collect();
    let mut sizes = vec![1; n_nodes];
    for pair in pairs {
        let (one, other) = (representative(&mut above, pair.nodes.0), representative(&mut above, pair.nodes.1));
        if one != other && sizes[one as usize] + sizes[other as usize] <= fanout {
            above[other as usize] = one;
            sizes[one as usize] += sizes[other as usize];
        }
    }

    // What is left small is put together, rare with rare.
    let mut rest: Vec<u32> = (0..n_nodes as u32).filter(|&node| above[node as usize] == node).collect();
    rest.sort_by_key(|&node| supports[node as usize]);
    let mut bin_of = vec![0; n_nodes];
    let (mut n_bins, mut room) = (0, 0);
    for node in rest {
        let size = sizes[node as usize];
        if size > room {
            n_bins += 1;
            room = fanout;
        }
        room -= size;
        bin_of[node as usize] = n_bins - 1;
    }
    (0..n_nodes as u32).map(|node| bin_of[representative(&mut above, node) as usize]).collect()
}

fn representative(above: &mut [u32], node: u32) -> u32 {
    let mut node = node;
    while above[node as usize] != node {
        // Halves the way for the next one.
        above[node as usize] = above[above[node as usize] as usize];
        node = above[node as usize];
    }
    node
}

/// The most similar partners of each node, up to so many; pairs of nodes that no record has together are none.
fn similar(records: &Transactions, supports: &[u32], most: usize) -> Vec<Pair> {
    let mut holders: Vec<Vec<RecordId>> =
        supports.iter().map(|&support| Vec::with_capacity(support as usize)).collect();
    for (record, id) in records.iter().zip(0..) {
        record.iter().for_each(|&node| holders[node as usize].push(id));
    }
    let mut counts = vec![0; supports.len()];
    let mut met: Vec<u32> = Vec::new();
    let mut pairs = Vec::new();
    for (node, holders) in (0_u32..).zip(&holders) {
        for &record in holders {
            for &other in records.record(record) {
                let count = &mut counts[other as usize];
                if *count == 0 {
                    met.push(other);
                }
                *count += 1;
            }
        }
        let start = pairs.len();
        for other in met.drain(..) {
            let both = std::mem::take(&mut counts[other as usize]);
            if other != node {
                let either = supports[node as usize] + supports[other as usize] - both;
                pairs.push(Pair { both, either, nodes: (node.min(other), node.max(other)) });
            }
        }
        if pairs.len() - start > most {
            pairs[start..].select_nth_unstable_by(most, Pair::order);
            pairs.truncate(start + most);
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dataset;
    use rand::{RngExt, SeedableRng};

    #[test]
    fn terms_that_go_together_stand_below_one_node() {
        // Three illnesses with their drugs, in an order that has nothing to do with it.
        let sets = [["flu", "rest", "tea"], ["gout", "diet", "colchicine"], ["asthma", "spray", "cortisone"]];
        let records = (0..60).map(|i| {
            let set = sets[i % 3];
            if i % 5 == 0 { vec![set[0], set[1], sets[(i + 1) % 3][0]] } else { set.to_vec() }
        });
        let data = Dataset::from_texts(records);
        let hierarchy = by_cooccurrence(&data.dictionary, &data.records, 3).unwrap();
        let parent = |text: &str| hierarchy.parent(data.dictionary.get(text).unwrap());
        for set in sets {
            assert!(set.iter().all(|term| parent(term).is_some() && parent(term) == parent(set[0])), "{set:?}");
        }
        assert_eq!(hierarchy.n_nodes(), 9 + 3 + 1);
        assert_eq!(hierarchy.text(parent("tea").unwrap(), &data.dictionary), "flu +2");
    }

    #[test]
    fn trees_have_one_root_and_a_bounded_fanout() {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(2);
        for n_terms in [1_u32, 2, 3, 7, 30, 90] {
            let mut data = Dataset::from_texts([(0..n_terms).map(|term| term.to_string()).collect::<Vec<_>>()]);
            for _ in 0..rng.random_range(0..100) {
                let length = rng.random_range(1..5);
                data.records.push(&mut (0..length).map(|_| rng.random_range(0..n_terms)).collect());
            }
            for fanout in 2..6 {
                let hierarchy = by_cooccurrence(&data.dictionary, &data.records, fanout).unwrap();
                let mut children = vec![0; hierarchy.n_nodes()];
                let nodes = 0..hierarchy.n_nodes() as NodeId;
                let roots = nodes.filter(|&node| match hierarchy.parent(node) {
                    Some(parent) => {
                        children[parent as usize] += 1;
                        false
                    }
                    None => true,
                });
                assert_eq!(roots.count(), 1);
                assert!(children[n_terms as usize..].iter().all(|&n| (2..=fanout).contains(&n)), "{n_terms} {fanout}");
                assert_eq!(hierarchy.leaves_below(hierarchy.n_nodes() as NodeId - 1), n_terms);
            }
        }
        let none = Dataset::default();
        assert_eq!(by_cooccurrence(&none.dictionary, &none.records, 5).unwrap().n_nodes(), 0);
        assert!(matches!(by_cooccurrence(&none.dictionary, &none.records, 1), Err(Error::Recipe { .. })));
    }
}
