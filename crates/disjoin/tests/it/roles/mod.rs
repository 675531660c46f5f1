//! What columns hold, what they are for, and what may be published as it is.

mod kinds;
mod published;
mod reading;
mod shown;
mod written;

use std::borrow::Cow;

use disjoin::inspect::{Profiler, TableProfile};
use disjoin::read::rows::Seen;

/// A number for each row that looks drawn.
pub(crate) fn mixed(row: u64) -> u64 {
    let x = (row + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (x ^ (x >> 31)) >> 33
}

/// The profile of a table in memory.
pub(crate) fn profile(header: &[&str], rows: &[Vec<String>]) -> TableProfile {
    let names: Vec<String> = header.iter().map(|name| name.to_string()).collect();
    let mut profiler = Profiler::default();
    profiler.see(Seen::Header(&names, &[]));
    for row in rows {
        let row: Vec<Cow<'_, str>> = row.iter().map(|cell| Cow::Borrowed(cell.as_str())).collect();
        profiler.see(Seen::Row(&row));
    }
    profiler.finish()
}
