//! Both at once: the sets of a table's rows, disassociated inside each class of its quasi-identifiers.
//!
//! Paper:      terrovitis2012, inside the classes of any tabular method; (k, k^m)-anonymity as in Poulis et al. 2013
//! Promises:   Guarantee 1 in every class by itself: an adversary who knows the quasi-identifiers of a person and up to m terms
//!             of the set finds, in a possible original of that class, k rows that fit
//! Assumes:    every class has no row with a set, or k; the criteria of tables see to it
//! Departs:    the number of occurrences is not told: its proof is for one dataset, not for many classes
//! Cost:       one disassociation a class, classes in parallel
//! Checked by: `tests/it/within.rs`

use rayon::prelude::*;

use super::disassociation::{Grouping, Params, disassociate};
use crate::data::table::Sets;
use crate::data::{Dataset, Dictionary, Partition, Transactions};
use crate::error::{Error, Result};
use crate::release::class_sets::ClassSets;
use crate::release::{Disassociated, Header, Node};

/// Disassociates the sets of each class for itself. Classes are numbered as in `partition`.
pub fn disassociate_within(sets: &Sets, partition: &Partition, params: &Params) -> Result<ClassSets> {
    params.check()?;
    if params.grouping == Grouping::Guarded {
        let problem =
            "guarded is not for sets in tables: which rows are a class follows from what they hold, and is not covered";
        return Err(Error::recipe("protect.grouping", problem, "layered"));
    }
    let (dictionary, _) = sets.dictionary.sorted();
    let classes: Vec<Vec<Node>> = (0..partition.len())
        .into_par_iter()
        .map(|class| one_class(sets, partition.class(class), &dictionary, params))
        .collect::<Result<_>>()?;
    let (mut roots, mut class_of_root) = (Vec::new(), Vec::new());
    for (class, nodes) in classes.into_iter().enumerate() {
        class_of_root.resize(class_of_root.len() + nodes.len(), class as u32);
        roots.extend(nodes);
    }
    let header = Header { k: params.k, m: params.m, records: roots.iter().map(Node::size).sum(), occurrences: None };
    Ok(ClassSets { release: Disassociated { header, dictionary, roots }, class_of_root })
}

/// The clusters of one class, with the terms of `dictionary`.
fn one_class(sets: &Sets, rows: &[u32], dictionary: &Dictionary, params: &Params) -> Result<Vec<Node>> {
    let records = rows.iter().filter_map(|&row| sets.of_row[row as usize]);
    // Terms that the class does not have must not be among those that its cut is reckoned with.
    let (mut texts, mut own) = (Dictionary::default(), Transactions::default());
    let mut terms = Vec::new();
    for record in records {
        terms.clear();
        terms.extend(sets.records.record(record).iter().map(|&term| texts.intern(sets.dictionary.text(term))));
        own.push(&mut terms);
    }
    if own.is_empty() {
        return Ok(Vec::new());
    }
    let sensitive = params.sensitive.iter().filter_map(|&term| texts.get(sets.dictionary.text(term))).collect();
    let params = Params { sensitive, ..params.clone() };
    let release = disassociate(&Dataset { dictionary: texts, records: own }, &params)?.release;
    let names: Vec<u32> = release.dictionary.iter().filter_map(|text| dictionary.get(text)).collect();
    let mut roots = release.roots;
    // Both dictionaries are sorted: what was in order stays so.
    roots.iter_mut().for_each(|root| root.rename(&names));
    Ok(roots)
}
