//! What leaves the building? Each form of release, with its claim; every format is versioned, read and written here.

pub mod cells;
pub mod claim;
pub mod class_sets;
pub mod disassociated;
pub mod generalized;
pub mod jsonl;
pub mod noisy;
pub mod occurrences;
pub mod open;
#[cfg(feature = "parquet")]
pub mod parquet;
#[cfg(feature = "parquet")]
pub(crate) mod parquet_claims;
pub mod privacy_models;
pub mod recoded;
pub mod spelling;
pub mod split;

pub use claim::{Claim, CutRule, Form, Promise, form_of};
pub use disassociated::{Chunk, Disassociated, Header, Joint, Node, Simple};
pub use generalized::{Generalized, TableClaim};
pub use noisy::{Noisy, NoisyClaim};
pub use occurrences::Occurrences;
pub use privacy_models::{Criterion, Judge};
pub use recoded::{Recoded, RecodedClaim};
pub use split::{Split, SplitClaim};

/// The `format` of a disassociated dataset, in every encoding.
pub const FORMAT: &str = "disjoin/disassociated";

/// The version of the disassociated format that this crate writes, and the only one that it reads.
pub const VERSION: u64 = 1;

/// Refuses a release whose format or version is not the one that is `known`.
fn check_version(found: (&str, u64), known: (&str, u64), place: &crate::error::Place) -> crate::error::Result<()> {
    use crate::error::Error;
    let ((format, version), (known, reads)) = (found, known);
    if format != known {
        return Err(Error::input(place.clone(), format!("the format is not \"{known}\"")));
    }
    if version != reads {
        let problem = format!("version {version} of the format is not known here; this program reads version {reads}");
        return Err(Error::input(place.clone(), problem).with_hint("use the version of disjoin that wrote the release"));
    }
    Ok(())
}
