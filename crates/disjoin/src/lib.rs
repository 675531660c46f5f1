//! disjoin: publish person-level data that nobody can join back to a person, and try to, before anyone else does.
//!
//! The modules in reading order: [`error`], [`data`] (what are we protecting?), [`release`] (what leaves the
//! building?), [`read`] (how does a file become data?), [`generate`] (what could an original look like?),
//! [`reconstruct`] (what may the original have been?), [`protect`] (how is data made safe?), [`verify`] (does a release
//! keep its promise?), [`attack`] (what could an adversary learn?), [`measure`] (how useful is what remains?),
//! [`repair`] (can a release be repaired?), [`recipe`] (what was asked for?), [`publish`] (how does it get out, whole?),
//! [`run`] (all of it, from one recipe).
//!
//! A release in ten lines:
//!
//! ```
//! use disjoin::data::Dataset;
//! use disjoin::protect::disassociation::{Params, disassociate};
//! use disjoin::release::jsonl;
//!
//! let records = ["flu,asthma", "flu,asthma", "flu,hiv", "flu,asthma,gout", "gout,flu", "gout,asthma"];
//! let data = Dataset::from_texts(records.map(|record| record.split(',')));
//! let outcome = disassociate(&data, &Params::new(3, 2))?;
//! let mut text = Vec::new();
//! jsonl::write(&outcome.release, &mut text).expect("writing to memory does not fail");
//! assert!(text.starts_with(b"{\"format\":\"disjoin/disassociated\",\"version\":1,\"k\":3,\"m\":2,\"records\":6}"));
//! # Ok::<(), disjoin::Error>(())
//! ```

/// Two structs of counts added up, field by field.
macro_rules! sum_fields {
    ($of:ident { $($field:ident),+ }, $a:expr, $b:expr) => {
        $of { $($field: $a.$field + $b.$field),+ }
    };
}

pub mod error;
pub mod location;
pub mod memory;
pub mod observer;

pub mod attack;
pub mod data;
pub mod generate;
pub mod inspect;
pub mod knowledge;
pub mod measure;
pub mod protect;
pub mod publish;
pub mod read;
pub mod recipe;
pub mod reconstruct;
pub mod release;
pub mod repair;
pub mod report;
pub mod run;
pub mod verify;

pub use error::{Error, Place, Result};
pub use memory::Memory;
pub use observer::{Observer, Unobserved};

/// The examples of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;

/// The examples of the book's guide for researchers, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/src/guides/researcher.md")]
pub struct Researcher;
