//! How are the texts of a column to be read: as numbers, as dates, or as words? Used by those who read tables and by those who
//! profile them, so that both say the same.

pub mod dates;
pub mod numbers;

pub use dates::{Date, DateEvidence, DateOrder, DateStyle, choose_dates};
pub use numbers::{Decimal, NumberEvidence, NumberStyle, choose_numbers};

/// What the texts of a column say about how they are to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice<Style> {
    /// In this way, and in no other that differs.
    Read(Style),
    /// In two ways that differ, and nothing tells which is meant.
    Ambiguous,
    /// No way reads all of them, though each is read by some.
    Mixed,
    /// Some text is read in no way.
    Unread,
}

/// The texts that mean that there is no value, in any table.
pub const MISSING_TEXTS: [&str; 20] = [
    "NA", "N/A", "n/a", "na", "#N/A", "NaN", "nan", "NULL", "null", "None", "none", "-", "--", "?", ".", "unknown",
    "Unknown", "missing", "k.A.", "k. A.",
];
