//! Hierarchies of terms that nobody wrote: by their first letters, or by which terms records hold together.

mod cooccurrence;
mod prefixes;

pub use cooccurrence::by_cooccurrence;
pub use prefixes::by_prefix;
