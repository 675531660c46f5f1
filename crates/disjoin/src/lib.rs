//! disjoin: publish person-level data that nobody can join back to a person, and try to, before anyone else does.

pub mod error;

pub mod data;
pub mod generate;
pub mod protect;
pub mod read;
pub mod release;

pub use error::{Error, Place, Result};
