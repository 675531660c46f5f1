//! What may the original have been? Random reconstructions, and estimates with bounds that need none.
//!
//! A release says which subrecords there were and in which cluster, not which of them belonged to the same person. Two
//! readings of that are kept apart here:
//!
//! * *Possible originals* (reading I0): every dataset that fits the release and has no empty record. [`Estimate`]'s
//!   bounds speak of all of them: they hold whatever the original was.
//! * *The placement law*: every subrecord lies in each record where it may lie with the same probability, and chunks
//!   are placed independently. [`expectation`] is its mean in closed form, and [`reconstruct`](reconstruct()) draws
//!   from it.
//!
//! [`Model`] is the release laid out for both. Of split tables, [`deal`] assigns sensitive values; [`Spread`] asks recoded
//! transactions, and [`mod@table`] counts records of tables by predicates and draws tables.

pub mod aware;
mod dealt;
mod estimate;
mod fit;
mod kind;
mod level;
mod mine;
mod model;
mod own;
mod pairs;
mod rounding;
mod sample;
mod spread;
mod spread_top;
pub mod table;

pub use dealt::deal;
pub(crate) use estimate::for_each_leaf;
pub use estimate::{Estimate, estimate, expectation};
pub(crate) use level::{Work, expected_in_leaf};
pub(crate) use mine::to_a_millionth;
pub use mine::top_expected;
pub use model::Model;
pub(crate) use model::{Bag, Entry, TERM_CHUNK, popcount};
pub(crate) use own::common_mask;
pub use pairs::pair_expectations;
pub(crate) use pairs::pair_expectations_if;
pub use sample::{Multiplicity, Reconstruction, Sampling, Selection, reconstruct, reconstruct_terms};
pub use spread::Spread;
pub use spread_top::top_spread;
