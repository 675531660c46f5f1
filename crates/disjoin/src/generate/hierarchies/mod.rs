//! Hierarchies of terms that nobody wrote: by their first letters, or by which terms records hold together.

mod cooccurrence;

pub use crate::data::by_prefix;
pub use cooccurrence::by_cooccurrence;
