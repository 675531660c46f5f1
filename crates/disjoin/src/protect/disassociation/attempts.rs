//! Grouping is tried, and tried again where terms are lost: those that are in no chunk though k records hold them.
//!
//! Only the cut tells which terms are in a chunk. So clusters are cut, terms that are lost get k records of one cluster, and so on,
//! until none is lost or nothing helps; what loses the fewest terms is taken.

use super::{Grouped, Params, Partition, Stats, Work, regain, similar};
use crate::data::{TermId, Transactions, supports};
use crate::error::Result;

/// How often grouping is tried anew at most, so that terms get clusters that were in no chunk before.
const ROUNDS: u32 = 5;

/// How many steps are taken at most to regain terms after clusters exchanged records.
const STEPS: u32 = 8;

/// Where one record in so many was taken out for rare terms, clusters have holes, and exchange records once more.
const HOLES: usize = 10;

/// How clusters exchange records.
type Exchange<'e, 'a> = dyn Fn(&Partition, &Work<'a>) -> Partition + 'e;

/// Groups records, looks which terms that k of them hold are in no chunk, and groups them again with clusters for these first:
/// what is not lost needs no cluster of its own, and its records stay where they fit best.
pub(super) fn rescuing<'a>(
    records: &Transactions,
    work: &mut Work<'a>,
    group: impl Fn(&[bool], &Work<'a>) -> Partition,
    finish: &impl Fn(Partition, &mut Work<'a>) -> Result<Grouped>,
) -> Result<(Partition, Attempt)> {
    let mut wanted = vec![false; work.rank.len()];
    loop {
        let clusters = group(&wanted, work);
        let attempt = Attempt::new(clusters.clone(), records, work, finish)?;
        let mut is_new = false;
        attempt.lost.iter().for_each(|&t| is_new |= !std::mem::replace(&mut wanted[t as usize], true));
        if !is_new || work.round == ROUNDS {
            return Ok((clusters, attempt));
        }
        work.round += 1;
    }
}

/// Has clusters cut, and gives terms that are then in no chunk k records of one cluster, in two ways: clusters for all of them at
/// once, and as few moved records as possible. Where one does not help the other is tried, from the best clusters so far.
pub(super) fn regaining<'a>(
    mut clusters: Partition,
    records: &Transactions,
    work: &mut Work<'a>,
    finish: &impl Fn(Partition, &mut Work<'a>) -> Result<Grouped>,
    exchange: Option<&Exchange<'_, 'a>>,
) -> Result<Attempt> {
    let &Params { k, max_cluster, .. } = work.params;
    let mut best = Attempt::new(clusters.clone(), records, work, finish)?;
    // Many terms are lost if none got its cluster before: `exchange` says so.
    let (mut takes_out, mut n_failed) = (exchange.is_some(), 0);
    for step in 0..STEPS {
        if best.lost.is_empty() || n_failed == 2 {
            break;
        }
        work.round = work.round.max(1);
        let weights = &work.preference.weights;
        let next = if takes_out {
            let (next, n_taken) =
                similar::taken_out(&clusters, records, (k, max_cluster), weights, &best.lost, work.observer);
            let has_holes = step == 0 && n_taken * HOLES >= records.len();
            exchange.filter(|_| has_holes).map_or(next.clone(), |exchange| exchange(&next, work))
        } else {
            regain::regain(&clusters, records, (k, max_cluster), weights, &best.lost, work.observer)
        };
        let attempt = Attempt::new(next.clone(), records, work, finish)?;
        if attempt.lost.len() < best.lost.len() {
            (best, clusters, takes_out, n_failed) = (attempt, next, false, 0);
        } else {
            (takes_out, n_failed) = (!takes_out, n_failed + 1);
        }
    }
    Ok(best)
}

/// Clusters that were cut, and what came of it.
pub(super) struct Attempt {
    grouped: Grouped,
    stats: Stats,
    /// The terms that are in no chunk though k records hold them, ascending.
    pub(super) lost: Vec<TermId>,
}

impl Attempt {
    /// Tries clusters; the counts of `work` stay as they are.
    fn new<'a>(
        clusters: Partition,
        records: &Transactions,
        work: &mut Work<'a>,
        finish: &impl Fn(Partition, &mut Work<'a>) -> Result<Grouped>,
    ) -> Result<Self> {
        work.observer.check();
        let before = work.stats.clone();
        let grouped = finish(clusters, work)?;
        let stats = std::mem::replace(work.stats, before);
        let mut is_shown = vec![false; work.rank.len()];
        grouped.trees.iter().for_each(|tree| tree.mark_shown(&mut is_shown));
        let is_lost = |(t, support): (usize, &u32)| {
            let can_be_shown = *support >= work.params.k && work.preference.weights[t] > 0.0;
            (can_be_shown && !is_shown[work.rank[t] as usize]).then_some(t as TermId)
        };
        let lost = supports(records, work.rank.len()).iter().enumerate().filter_map(is_lost).collect();
        Ok(Attempt { grouped, stats, lost })
    }

    /// Takes it for good.
    pub(super) fn take(self, work: &mut Work<'_>) -> Grouped {
        work.round = 0;
        *work.stats = self.stats;
        self.grouped
    }
}
