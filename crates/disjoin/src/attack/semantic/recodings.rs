//! A whole release attacked: every generalised item of every recoding, by one method after the other.
//!
//! Where parts of the records have recodings of their own, a generalised item is a pair of a recoding and a group of it: the same
//! terms may stand together in one and apart in another. Each pair has a table of its own, with the records of its part as rows.
//!
//! Paper:      shao2017, section 4, has one recoding; several are those of terrovitis2011 (LRA)
//! Promises:   with one recoding the same as attacking its tables one by one; records are counted over all recodings, in the
//!             order of the file, without those that show nothing
//! Departs:    of an item in more records than [`Options::rows`], so many are looked at, evenly spread: a sample is enough to
//!             know how often an attack is right, and the attacks would take days on all
//! Cost:       that of the methods, for each pair
//! Checked by: tests/it/semantic.rs, against tables and counts by definition

use super::calibrated::{calibrated, learn_watched};
use super::{Coverage, Distance, GroupTable, METHODS, Method, Trace, View, eliminate_with, tables_of_rows};
use crate::observer::Observer;
use crate::release::recoded::Recoded;

/// So many records of a generalised item are looked at if it is not said.
pub const ROWS: usize = 500;

/// What is asked of an attack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The methods.
    pub methods: Vec<Method>,
    /// How many items beside a generalised one count, the rarest first; all if none.
    pub context: Option<usize>,
    /// How many records of a generalised item are looked at.
    pub rows: usize,
    /// Where randomness starts.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options { methods: METHODS.to_vec(), context: None, rows: ROWS, seed: 0 }
    }
}

/// What attacks made of a release.
#[derive(Debug, Clone)]
pub struct Attacked {
    /// The tables, those of the first recoding first. Their records are numbered over all recodings.
    pub tables: Vec<GroupTable>,
    /// For each table the number of its recoding.
    pub recoding_of: Vec<u32>,
    /// What of each recoding could be attacked.
    pub coverage: Vec<Coverage>,
    /// What each method takes for added.
    pub found: Vec<Eliminated>,
    /// Methods that had too little to learn from.
    pub left_out: Vec<Method>,
}

/// What one method takes for added.
#[derive(Debug, Clone)]
pub struct Eliminated {
    /// The method.
    pub method: Method,
    /// For each table what is eliminated, in order.
    pub traces: Vec<Trace>,
}

/// Attacks all generalised items of a release; tells the name of each method before it starts.
pub fn attack_release(
    release: &Recoded,
    distance: &Distance<'_>,
    options: &Options,
    observer: &dyn Observer,
) -> Attacked {
    let records: Vec<_> = release.blocks.iter().map(|block| block.bag.transactions()).collect();
    let views = release.blocks.iter().zip(&records).map(|(block, records)| View { groups: &block.groups, records });
    let views: Vec<View<'_>> = views.collect();
    let (mut tables, mut recoding_of, mut coverage) = (Vec::new(), Vec::new(), Vec::new());
    let (mut first_record, mut ends) = (0, vec![0]);
    for (view, recoding) in views.iter().zip(0_u32..) {
        let mut laid = tables_of_rows(view, distance, options.context, Some(options.rows.max(1)), observer);
        laid.tables.iter_mut().flat_map(|table| &mut table.records).for_each(|record| *record += first_record);
        first_record += view.records.len() as u32;
        recoding_of.extend(laid.tables.iter().map(|_| recoding));
        coverage.push(laid.coverage);
        tables.append(&mut laid.tables);
        ends.push(tables.len());
    }
    let (mut found, mut left_out) = (Vec::new(), Vec::new());
    for &method in &options.methods {
        observer.stage(&format!("attacking: {}", method.name()));
        let traces = eliminate_with(&tables, method, options.seed, observer).or_else(|| {
            let of_recodings: Vec<_> =
                views.iter().zip(ends.windows(2)).map(|(view, of)| (*view, &tables[of[0]..of[1]])).collect();
            let model = learn_watched(&of_recodings, distance, options.context, options.seed, observer)?;
            observer.check();
            Some(calibrated(&tables, &model))
        });
        match traces {
            Some(traces) => found.push(Eliminated { method, traces }),
            None => left_out.push(method),
        }
    }
    Attacked { tables, recoding_of, coverage, found, left_out }
}
