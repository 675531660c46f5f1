//! Can a release be mended? From itself alone it can only tell less: what it tells is never made up.
//!
//! [`set_aside`](set_aside()) makes a disassociated release that keeps a promise, without its original;
//! [`suppress`](suppress()) is there to compare it with. [`regroup`](regroup()) makes generalised sets of the original whose
//! neighbours give less away.

pub mod regroup;
pub mod set_aside;
pub mod suppress;

pub use regroup::{Regrouped, regroup};
pub use set_aside::{Mended, Stats, set_aside};
pub use suppress::{Suppressed, suppress};
