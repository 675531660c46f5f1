//! Set-valued data made safe by generalising terms to groups of terms, and by leaving terms out.

mod coat;
mod constrained;
mod pcta;
mod suppression;

pub use coat::coat;
pub use constrained::{Outcome, Params, Stats};
pub use pcta::pcta;
pub use suppression::{Deleted, PartlySuppressed, Suppressed, suppress, suppress_partially};
