//! How does a result reach the disk? As a whole or not at all: packages of release and custody, and single files.
//!
//! Everything is written to a temporary sibling first, made durable, and then put in place by one rename. A run that
//! is killed, or a disk that fills, leaves what was there before; the next run removes what the killed one left behind.

mod custody;
mod destination;
mod file;
mod kept;
mod noisy;
mod package;
mod recoded;
mod split;
mod table;

pub use custody::{Custody, Kept, renumber};
pub use destination::{Destination, Part, Staging};
pub use file::write_file;
pub use noisy::NoisyPackage;
pub use package::{
    Encoding, Package, Page, carry_custody, copy_release, find_release, find_split_release, find_table_release,
    release_folder, write_release,
};
pub use recoded::{KeptRecoded, RecodedCustody, RecodedPackage, publish_regrouped};
pub use split::{CountedPackage, SplitPackage};
pub use table::{KeptTable, TableCustody, TablePackage, TableParameters};
