//! Do the sets of a table keep their promise, and in every class by itself? From the release alone.
//!
//! Paper:      terrovitis2012, inside classes
//! Promises:   if the verdict holds, the clusters of every class are such as disassociation promises, no cluster reaches beyond
//!             its class, and every class has no record with a set or at least k
//! Cost:       that of verifying the clusters
//! Checked by: `tests/it/within.rs`

use std::io::{BufRead, BufReader};
use std::path::Path;

use serde::Serialize;

use super::{Truth, Verdict, verify_with};
use crate::data::Dataset;
use crate::data::table::{Sets, Table};
use crate::error::Result;
use crate::memory::open_file;
use crate::observer::Observer;
use crate::release::class_sets::{FILE_NAME, sizes};
use crate::release::generalized::{SetsClaim, TableClaim};
use crate::release::{Claim, jsonl};

/// Whether the sets of a table keep their promise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SetsVerdict {
    /// The clusters keep theirs, and each stays in its class.
    pub holds: bool,
    /// Classes with sets.
    pub classes: u64,
    /// Classes that are not published, whose sets are more than its rows, or of which fewer than k have one.
    pub violated: u64,
    /// The clusters, looked at as any disassociated data.
    pub clusters: Verdict,
}

/// Checks the sets of a release, if it has some; `table` is its data.csv, `truth` the sets of the original that are published.
pub fn verify_sets(
    folder: &Path,
    claim: &TableClaim,
    table: &Table,
    truth: Option<&Dataset>,
    observer: &dyn Observer,
) -> Result<Option<SetsVerdict>> {
    let path = folder.join(FILE_NAME);
    let open = || open_file(&path, "open the sets of the release").map(BufReader::new);
    match &claim.sets {
        Some(told) => verify_sets_in(told, table, &path.display().to_string(), open, truth, observer).map(Some),
        None => Ok(None),
    }
}

/// The same for a sets.jsonl that need not be a file: `open` reads it from the beginning, and is called twice.
pub fn verify_sets_in<R: BufRead + Send>(
    told: &SetsClaim,
    table: &Table,
    name: &str,
    open: impl Fn() -> Result<R>,
    truth: Option<&Dataset>,
    observer: &dyn Observer,
) -> Result<SetsVerdict> {
    observer.check();
    let sizes = sizes(open()?, name)?;
    observer.check();
    let rows = super::table::class_sizes(table);
    let fits = |&(class, records): &(u64, u64)| {
        let rows = usize::try_from(class).ok().and_then(|class| rows.get(class.checked_sub(1)?)).copied();
        records >= u64::from(told.parameters.k) && rows.is_some_and(|rows| records <= rows)
    };
    let violated = sizes.iter().filter(|size| !fits(size)).count() as u64;
    let of_clusters = Claim::disassociation(told.parameters.clone(), told.promise, told.records);
    let truth = truth.map(|original| Truth { original, leaf_of: None });
    let clusters = verify_with(&of_clusters, jsonl::Reader::new(open()?, name)?, truth, observer)?;
    Ok(SetsVerdict { holds: clusters.holds && violated == 0, classes: sizes.len() as u64, violated, clusters })
}

/// The sets of the rows that are published, as a dataset of their own.
pub fn published_sets(sets: &Sets, class_of: &[Option<u32>]) -> Dataset {
    let mut data = Dataset { dictionary: sets.dictionary.clone(), ..Dataset::default() };
    let mut terms = Vec::new();
    for (record, _) in sets.of_row.iter().zip(class_of).filter(|(_, class)| class.is_some()) {
        terms.clear();
        terms.extend(record.iter().flat_map(|&record| sets.records.record(record)));
        data.records.push(&mut terms);
    }
    data
}
