//! Releases that are built from bytes, changed a little, and carried through the verbs.

use crate::build::{self, perturbed};
use crate::draw::Draw;
use crate::scratch::{self, Files};
use crate::verbs::carry;

pub(super) fn disassociated(bytes: &[u8]) -> bool {
    built(bytes, build::disassociated)
}

pub(super) fn disassociated_parquet(bytes: &[u8]) -> bool {
    built(bytes, build::disassociated_parquet)
}

pub(super) fn generalized(bytes: &[u8]) -> bool {
    built(bytes, build::generalized)
}

pub(super) fn split(bytes: &[u8]) -> bool {
    built(bytes, build::split)
}

pub(super) fn recoded(bytes: &[u8]) -> bool {
    built(bytes, build::recoded)
}

pub(super) fn noisy(bytes: &[u8]) -> bool {
    built(bytes, build::noisy)
}

fn built(bytes: &[u8], build: fn(&mut Draw<'_>) -> Files) -> bool {
    // What is done comes first: however long the release is, there are bytes left to decide it.
    let (first, rest) = bytes.split_at(bytes.len().min(24));
    let files = perturbed(build(&mut Draw::new(rest)), &mut Draw::new(&first[..first.len() / 2]));
    carry(&files, &scratch::empty(), &mut Draw::new(&first[first.len() / 2..]))
}
