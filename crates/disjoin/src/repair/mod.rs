//! Can a release be mended, though its original is gone? It can only tell less: what it tells is never made up.
//!
//! Only [`set_aside`](set_aside()) makes a release that keeps a promise; [`suppress`](suppress()) is there to compare it with.

pub mod set_aside;
pub mod suppress;

pub use set_aside::{Mended, Stats, set_aside};
pub use suppress::{Suppressed, suppress};
