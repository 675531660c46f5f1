//! Set-valued data made safe by generalising terms to groups of terms, and by leaving terms out.

mod apriori;
mod coat;
mod constrained;
mod lists;
mod lra;
mod pcta;
mod subtree;
mod suppression;
pub mod utility;
mod vpa;

pub use crate::data::Cut;
pub use apriori::{AprioriParams, CostRule, apriori};
pub use coat::coat;
pub use constrained::{Outcome, Params, Stats};
pub use lra::{LocalParams, LocalRecoding, lra};
pub use pcta::pcta;
pub use suppression::{Deleted, PartlySuppressed, Suppressed, suppress, suppress_partially};
pub use vpa::vpa;
