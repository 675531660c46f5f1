//! Hostile files against every reader and every verb.
//!
//! A target is a plain function from bytes to whether they got past the parser; it panics where something is wrong. There are
//! three kinds: readers get the bytes as a file; formats, claims and recipes get them as text; releases and the pipeline are
//! *built* from bytes, so that nearly all of them are well formed and reach the engine.
//!
//! [`fuzz`] runs them on any toolchain: mutated seeds, everything from one number.

mod build;
mod check;
mod draw;
mod fuzz;
mod mutate;
mod scratch;
mod targets;
mod verbs;

pub use fuzz::{Budget, Crash, Report, fuzz, replay};
pub use targets::{TARGETS, Target, Text};
