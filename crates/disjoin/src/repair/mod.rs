//! Can a release be mended, though its original is gone? It can only tell less: what it tells is never made up.

pub mod set_aside;

pub use set_aside::{Mended, Stats, set_aside};
