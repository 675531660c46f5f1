//! Can a release be repaired? From itself alone it can only show less: nothing that it shows is invented.
//!
//! [`set_aside`](set_aside()) makes a disassociated release that keeps a promise, without its original;
//! [`suppress`] is for the lab, to compare it with. [`regroup`](regroup()) makes generalised sets of the original whose
//! neighbours give less away.

pub mod regroup;
pub mod set_aside;
pub mod suppress;

pub use regroup::{Regrouped, regroup};
pub use set_aside::{Mended, Stats, set_aside};
