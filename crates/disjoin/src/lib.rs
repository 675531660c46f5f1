//! disjoin: publish person-level data that nobody can join back to a person, and try to, before anyone else does.
//!
//! The engine is eleven verbs. Each takes any form of release, or says which it takes; shells call them and render what comes back.
//! [`fn@inspect`] shows who is at risk, [`fn@protect`] makes a release, [`fn@verify`] proves its promise, [`fn@attack`] tries to break it,
//! [`fn@measure`] says what utility is left, [`fn@repair`] removes what an attack found, [`fn@query`] and [`fn@reconstruct`] are for
//! analysts, [`fn@run`] goes the whole way with one [`Recipe`], [`fn@sweep`] tries many, and [`fn@open`] is the way into a package.
//!
//! The modules in reading order: [`error`], [`data`] (what are we protecting?), [`release`] (what leaves the building?),
//! [`read`] (how does a file become data?), [`generate`] (what could an original look like?), [`mod@inspect`] (who is at risk?),
//! [`knowledge`] (what does an adversary know beforehand?), [`mod@reconstruct`] (what may the original have been?), [`mod@protect`] (how is
//! data made safe?), [`mod@verify`] (does a release keep its promise?), [`mod@attack`] (what could an adversary learn?), [`mod@measure`] (how
//! useful is what remains?), [`mod@repair`] (can a release be repaired?), [`mod@audit`] (what
//! does a file promise that somebody else made?), [`recipe`] (what was asked for?), [`report`] (what is said of
//! it?), [`publish`] (how does it get out, whole?), [`mod@run`] (all of it, from one recipe).
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
pub mod audit;
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
pub use recipe::Recipe;
pub use run::sweep::sweep;
pub use run::{Answer, Input, Opened};
pub use run::{attack, inspect, measure, open, protect, query, reconstruct, repair, run, verify};

/// The examples of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;

/// The examples of the book's guide for researchers, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/src/guides/researcher.md")]
pub struct Researcher;
