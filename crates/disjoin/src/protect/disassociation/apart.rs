//! Several records a person that stay apart: no cluster has two of one person.
//!
//! Paper:      ours, on top of terrovitis2012, which assumes one record a person
//! Promises:   records are dealt into layers, none of which has two records of a person, and each layer is disassociated by itself.
//!             A root, with all clusters that share chunks in it, is of one layer: its records are of different people, and so
//!             are the k records of every possible original that Guarantee 1 speaks of
//! Assumes:    every layer has k records: `People::join_beyond` sees to it
//! Departs:    the number of occurrences is not published: its proof is for one dataset, not for several
//! Cost:       one disassociation a layer
//! Checked by: `tests/it/person.rs`, by a count of people by hand

use super::{Outcome, Params, Stats, disassociate_with};
use crate::data::people::layers;
use crate::data::{Dataset, Dictionary, Interest, TermId, Transactions};
use crate::error::Result;
use crate::observer::Observer;
use crate::release::{Disassociated, Header, Node};

/// Disassociates records that are those of `of_record`, so that nobody is twice in what belongs together.
pub fn disassociate_apart(
    data: &Dataset,
    params: &Params,
    of_record: &[u32],
    observer: &dyn Observer,
) -> Result<Outcome> {
    params.check()?;
    let (dictionary, _) = data.dictionary.sorted();
    let mut stats = Stats::default();
    // Each root with the records of its leaves.
    let mut built: Vec<(Node, Vec<Vec<u32>>)> = Vec::new();
    for rows in layers(of_record) {
        let own = layer(data, &rows);
        let made = disassociate_with(&own, &renamed(params, &data.dictionary, &own.dictionary), observer)?;
        stats = add(stats, made.stats);
        let n_leaves = made.leaf_of.iter().max().map_or(0, |&last| last as usize + 1);
        let mut records: Vec<Vec<u32>> = vec![Vec::new(); n_leaves];
        made.leaf_of.iter().zip(&rows).for_each(|(&leaf, &row)| records[leaf as usize].push(row));
        let names: Vec<TermId> = made.release.dictionary.iter().filter_map(|text| dictionary.get(text)).collect();
        let mut records = records.into_iter();
        for mut root in made.release.roots {
            // Both dictionaries are sorted: what was in order stays so, and leaves keep their places.
            root.rename(&names);
            let n = root.leaves().len();
            built.push((root, records.by_ref().take(n).collect()));
        }
    }
    observer.check();
    built.sort_unstable();
    let mut leaf_of = vec![0; data.records.len()];
    for (records, leaf) in built.iter().flat_map(|(_, leaves)| leaves).zip(0..) {
        records.iter().for_each(|&record| leaf_of[record as usize] = leaf);
    }
    let roots: Vec<Node> = built.into_iter().map(|(root, _)| root).collect();
    let header = Header { k: params.k, m: params.m, records: data.records.len() as u64, occurrences: None };
    Ok(Outcome { release: Disassociated { header, dictionary, roots }, leaf_of, stats })
}

/// Some records with a dictionary of their own: terms that a layer does not have must not be among those its cut depends on.
fn layer(data: &Dataset, rows: &[u32]) -> Dataset {
    let (mut dictionary, mut records) = (Dictionary::default(), Transactions::default());
    let mut terms = Vec::new();
    for &row in rows {
        terms.clear();
        terms.extend(data.records.record(row).iter().map(|&term| dictionary.intern(data.dictionary.text(term))));
        records.push(&mut terms);
    }
    Dataset { dictionary, records }
}

/// The parameters with the terms of another dictionary; terms that it lacks need no care there.
fn renamed(params: &Params, from: &Dictionary, to: &Dictionary) -> Params {
    let name = |&term: &TermId| to.get(from.text(term));
    let mut sensitive: Vec<TermId> = params.sensitive.iter().filter_map(name).collect();
    sensitive.sort_unstable();
    let sets = params.interest.sets.iter().map(|set| {
        let mut set: Vec<TermId> = set.iter().filter_map(name).collect();
        set.sort_unstable();
        set
    });
    let weights = params.interest.weights.iter().filter_map(|(term, weight)| Some((name(term)?, *weight)));
    let interest = Interest { sets: sets.filter(|set| set.len() > 1).collect(), weights: weights.collect() };
    // Where a layer has no sensitive term, nothing has to be diverse.
    let diversity = params.diversity.filter(|_| !sensitive.is_empty());
    Params { sensitive, interest, diversity, ..params.clone() }
}

fn add(a: Stats, b: Stats) -> Stats {
    Stats {
        clusters: a.clusters + b.clusters,
        small_clusters_merged: a.small_clusters_merged + b.small_clusters_merged,
        clusters_merged_for_diversity: a.clusters_merged_for_diversity + b.clusters_merged_for_diversity,
        terms_moved_by_lemma_2: a.terms_moved_by_lemma_2 + b.terms_moved_by_lemma_2,
        terms_set_aside: a.terms_set_aside + b.terms_set_aside,
        joins: a.joins + b.joins,
        joins_refused_for_promise: a.joins_refused_for_promise + b.joins_refused_for_promise,
        refine_rounds: a.refine_rounds + b.refine_rounds,
        joint_roots: a.joint_roots + b.joint_roots,
    }
}
