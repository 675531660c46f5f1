//! How does a result reach the disk? As a whole or not at all: packages of release and custody, and single files.
//!
//! Everything is written to a temporary sibling first, made durable, and then put in place by one rename. A run that
//! is killed, or a disk that fills, leaves what was there before; the next run removes what the killed one left behind.
//! What we did not write is neither replaced nor removed, and symbolic links are not followed.

mod access;
mod custody;
mod destination;
mod file;
mod lock;
mod manifest;
mod ours;
mod package;
mod people;
mod results;
mod staging;

pub use access::Readers;
pub use custody::{Custody, Kept, renumber};
pub use destination::Destination;
pub use file::{check_file, write_file};
pub use manifest::Hashed;
pub(crate) use package::{BLOCK, flush_block};
pub use package::{
    Encoding, Package, Watched, carry, custody_folder, encoding_of, everywhere, release_folder, somewhere,
};
pub use results::Results;
pub use staging::{Part, Staging};
