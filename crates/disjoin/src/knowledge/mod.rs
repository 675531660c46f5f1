//! What does an adversary know beforehand? How sensitive values go with quasi-identifiers (`background`), which columns depend
//! on which (`network`), which terms are near in meaning (`relatedness`).

pub mod background;
pub mod network;
pub mod relatedness;

pub use background::{Beliefs, jensen_shannon};
