//! Noisy releases: records that nobody has, or itemsets with supports that are a little wrong.
//!
//! Format `disjoin/noisy`, version 1. The first line of data.jsonl is the header, every further one a row:
//!
//! ```text
//! {"format":"disjoin/noisy","version":1,"rows":"records"}
//! {"terms":["flu","gout"],"count":12}
//! ```
//!
//! `rows` says what a row is: `records` (so many records have exactly these terms) or `itemsets` (so many records have these terms
//! and maybe others). The number of records of the original is not published: between neighbours it differs. If the items are
//! listed, universe.txt has one a line.
//!
//! Promises:   the order of rows depends on the rows alone: records by their terms, itemsets by falling count, then by their terms
//! Checked by: tests in this file, and `tests/it/noise.rs`

mod amount;
mod claim;

use std::io::{self, Write};

use serde::{Deserialize, Serialize};

pub use amount::Amount;
pub use claim::{Accounting, Entry, Mechanism, NEIGHBOURS, Noise, NoiseParameters, NoisyClaim, Spent, Universe};

use crate::error::{Error, Place, Result};

/// The `format` of a noisy dataset.
pub const FORMAT: &str = "disjoin/noisy";

/// The version that is written, and the only one that is read.
pub const VERSION: u64 = 1;

/// The file of the rows.
pub const DATA: &str = "data.jsonl";

/// The file of the items, if they are listed.
pub const UNIVERSE: &str = "universe.txt";

/// What a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rows {
    /// So many records have exactly these terms.
    Records,
    /// So many records have these terms, and maybe others.
    Itemsets,
}

/// Terms, and how many records have them, with noise.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The terms, ascending.
    pub terms: Vec<String>,
    /// The noisy count, at least 1.
    pub count: u64,
}

/// A noisy release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Noisy {
    /// What rows are.
    pub kind: Rows,
    /// The rows, in order.
    pub rows: Vec<Row>,
}

/// The first line. Whatever else it might tell would not be covered by the promise.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    format: String,
    version: u64,
    rows: Rows,
}

impl Noisy {
    /// Puts rows into the order of the format.
    pub fn new(kind: Rows, mut rows: Vec<Row>) -> Self {
        rows.iter_mut().for_each(|row| row.terms.sort_unstable());
        rows.sort_by(|a, b| order(kind, a, b));
        Noisy { kind, rows }
    }

    /// Writes data.jsonl.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let head = Head { format: FORMAT.into(), version: VERSION, rows: self.kind };
        let mut text = serde_json::to_vec(&head)?;
        text.push(b'\n');
        for row in &self.rows {
            serde_json::to_writer(&mut text, row)?;
            text.push(b'\n');
        }
        out.write_all(&text)
    }

    /// Reads data.jsonl. What is in it is not checked: that is for `verify`. A field that the format does not have is refused.
    pub fn read(text: &str, file: &str) -> Result<Self> {
        /// Looked at first, so that a future version is refused for its version.
        #[derive(Deserialize)]
        struct Known {
            format: String,
            version: u64,
        }
        let fault = |line: u64, error: &serde_json::Error| {
            let problem = format!("not a line of a noisy release: {}", crate::release::jsonl::describe(error));
            Error::input(Place::line(file, line), problem)
        };
        let mut lines = text.lines().zip(1_u64..);
        let Some((first, _)) = lines.next() else {
            return Err(Error::input(Place::file(file), "is empty, where a noisy release was expected"));
        };
        let known: Known = serde_json::from_str(first).map_err(|e| fault(1, &e))?;
        if known.format != FORMAT {
            return Err(Error::input(Place::line(file, 1), format!("the format is not \"{FORMAT}\"")));
        }
        if known.version != VERSION {
            let problem = format!("version {} of the format is not known here; expected {VERSION}", known.version);
            let hint = "use the version of disjoin that wrote the release";
            return Err(Error::input(Place::line(file, 1), problem).with_hint(hint));
        }
        let head: Head = serde_json::from_str(first).map_err(|e| fault(1, &e))?;
        let row = |(line, number): (&str, u64)| serde_json::from_str(line).map_err(|e| fault(number, &e));
        Ok(Noisy { kind: head.rows, rows: lines.map(row).collect::<Result<_>>()? })
    }
}

/// The order of rows in a file.
pub fn order(kind: Rows, a: &Row, b: &Row) -> std::cmp::Ordering {
    match kind {
        Rows::Records => a.terms.cmp(&b.terms),
        Rows::Itemsets => b.count.cmp(&a.count).then_with(|| a.terms.cmp(&b.terms)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(terms: &[&str], count: u64) -> Row {
        Row { terms: terms.iter().map(|term| term.to_string()).collect(), count }
    }

    #[test]
    fn releases_are_written_in_order_and_read_back() {
        let rows = vec![row(&["b"], 3), row(&["c", "a"], 9), row(&["a"], 3)];
        for (kind, first) in [(Rows::Records, 3), (Rows::Itemsets, 9)] {
            let release = Noisy::new(kind, rows.clone());
            assert_eq!(release.rows[0].count, first);
            let mut text = Vec::new();
            release.write(&mut text).unwrap();
            let text = String::from_utf8(text).unwrap();
            assert!(text.contains("{\"terms\":[\"a\",\"c\"],\"count\":9}\n"), "{text}");
            assert_eq!(Noisy::read(&text, "data.jsonl").unwrap(), release);
        }
    }

    #[test]
    fn what_the_format_does_not_have_is_refused() {
        let head = r#"{"format":"disjoin/noisy","version":1,"rows":"records"}"#;
        for (text, place) in [
            (String::new(), "data.jsonl"),
            (head.replace("noisy", "other"), "data.jsonl:1"),
            (head.replace(":1,", ":2,"), "data.jsonl:1"),
            (head.replace("}", ",\"records\":59602}"), "data.jsonl:1"),
            (format!("{head}\n{{\"terms\":[\"a\"],\"count\":1,\"exact\":4}}"), "data.jsonl:2"),
            (format!("{head}\n{{\"terms\":[\"a\"],\"count\":-1}}"), "data.jsonl:2"),
            (format!("{head}\n\n"), "data.jsonl:2"),
        ] {
            let error = Noisy::read(&text, "data.jsonl").unwrap_err();
            assert!(error.to_string().starts_with(place), "{text}: {error}");
        }
    }
}
