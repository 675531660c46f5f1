//! PCTA: of all merges that can help a privacy constraint, the cheapest is made, until the constraint holds.
//!
//! With one utility constraint of all terms this is PCTA, with several it is CBA, its form for utility constraints.
//!
//! Paper:      gkoulalas-divanis2012 (PCTA), of which the abstract was read; loukides2010 (CBA), Algorithm 1; see
//!             spec D.2
//! Promises:   as `constrained.rs`: all privacy constraints hold, generalisation stays within utility constraints
//! Assumes:    as `constrained.rs`
//! Departs:    as `constrained.rs`; the order of constraints and the suppression, which the listing of CBA does not
//!             show, are those of COAT
//! Cost:       for each merge a pass over the records that hold any group of the constraint
//! Checked by: tests/it/constrained.rs

use crate::data::Transactions;
use crate::error::Result;

use super::constrained::{GroupId, Groups, Outcome, Params, protect};
use crate::observer::Observer;
use crate::read::policy::Policy;
use crate::release::recoded::utility_loss::Loss;

/// Generalises and suppresses terms until the records satisfy a policy.
///
/// Refuses if more terms would have to be suppressed than allowed, and says how many.
pub fn pcta(
    records: &Transactions,
    n_terms: usize,
    policy: &Policy,
    params: &Params,
    observer: &dyn Observer,
) -> Result<Outcome> {
    protect(records, n_terms, policy, params, cheapest, observer)
}

/// The groups whose merge costs least; on a tie the one with the smaller ids.
fn cheapest(groups: &mut Groups<'_>, of_constraint: &[GroupId]) -> Option<(GroupId, GroupId)> {
    let mut best: Option<(Loss, GroupId, GroupId)> = None;
    for &group in of_constraint {
        if let Some((loss, other)) = groups.best_partner(group, of_constraint)
            && best.is_none_or(|(least, ..)| loss < least)
        {
            best = Some((loss, group, other));
        }
    }
    best.map(|(_, group, other)| (group, other))
}
