//! COAT: the rarest term of a privacy constraint is generalised with whatever costs least, until the constraint holds.
//!
//! Paper:      loukides2011 (COAT), of which the abstract was read; the loop is that of spec D.1
//! Promises:   as `constrained.rs`: all privacy constraints hold, generalisation stays within utility constraints
//! Assumes:    as `constrained.rs`
//! Departs:    as `constrained.rs`; and where no merge of the rarest group can help, the next rarest is generalised
//! Cost:       for each merge a pass over the records that hold the rarest group
//! Checked by: tests/it/constrained.rs

use crate::data::Transactions;
use crate::error::Result;

use super::constrained::{GroupId, Groups, Outcome, Params, protect};
use crate::observer::Observer;
use crate::read::policy::Policy;

/// Generalises and suppresses terms until the records satisfy a policy.
///
/// Refuses if more terms would have to be suppressed than allowed, and says how many.
pub fn coat(
    records: &Transactions,
    n_terms: usize,
    policy: &Policy,
    params: &Params,
    observer: &dyn Observer,
) -> Result<Outcome> {
    protect(records, n_terms, policy, params, rarest_first, observer)
}

/// The rarest group that can help, with its best partner.
fn rarest_first(groups: &mut Groups<'_>, of_constraint: &[GroupId]) -> Option<(GroupId, GroupId)> {
    let mut order = of_constraint.to_vec();
    order.sort_unstable_by_key(|&group| groups.rarity(group));
    order.into_iter().find_map(|group| groups.best_partner(group, of_constraint).map(|(_, other)| (group, other)))
}
