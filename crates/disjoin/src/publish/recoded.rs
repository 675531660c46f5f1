//! The package of recoded transactions: what leaves, and what is kept to be able to check it.
//!
//! Promises:   release/ holds claim.json and transactions.jsonl, and tells nothing about the order of the input. custody/ holds how
//!             it was made (custody.json) and which line shows each record (line_of.csv)
//! Checked by: tests in this file, and `tests/recoded.rs`

use std::io::{BufWriter, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::destination::{Destination, Part, Staging};
use super::package::{Page, write_bytes};
use crate::error::{Error, Place, Result};
use crate::read::Intake;
use crate::recipe::recoding::Recoding;
use crate::release::jsonl::write_number;
use crate::release::recoded::{FORM, Recoded, RecodedClaim, TRANSACTIONS, write_recoded};
use crate::repair::Regrouped;

const FORMAT: &str = "disjoin/custody";
const VERSION: u64 = 1;

/// The first line of line_of.csv.
const HEADING: &str = "record,line";

/// How recoded transactions were made: custody.json.
#[derive(Debug, Clone, Serialize)]
pub struct RecodedCustody {
    format: &'static str,
    version: u64,
    form: &'static str,
    /// The program that made the package, with its version.
    pub made_by: String,
    /// Where randomness started, if the method used any: none does.
    pub seed: Option<u64>,
    /// What was read, with its digest.
    pub input: Intake,
    /// What was asked for.
    pub parameters: Recoding,
    /// What happened on the way.
    pub stats: serde_json::Value,
    /// Terms that are not published. They must not be known outside.
    pub suppressed: Vec<String>,
    /// How long it took.
    pub seconds: f64,
}

impl RecodedCustody {
    /// Gathers what is to be kept.
    pub fn new(
        made_by: &str,
        input: Intake,
        parameters: &Recoding,
        stats: serde_json::Value,
        suppressed: Vec<String>,
        seconds: f64,
    ) -> Self {
        RecodedCustody {
            format: FORMAT,
            version: VERSION,
            form: FORM,
            made_by: made_by.to_owned(),
            seed: None,
            input,
            parameters: parameters.clone(),
            stats,
            suppressed,
            seconds,
        }
    }
}

/// All that is published and kept of one run.
#[derive(Debug, Clone, Copy)]
pub struct RecodedPackage<'a> {
    /// What is promised.
    pub claim: &'a RecodedClaim,
    /// The records.
    pub release: &'a Recoded,
    /// How they were made.
    pub custody: &'a RecodedCustody,
    /// For each record of the original the line that shows it.
    pub line_of: &'a [u32],
    /// Reports about it.
    pub pages: &'a [Page],
}

impl RecodedPackage<'_> {
    /// Writes the package to its destination, as a whole or not at all.
    pub fn publish(&self, destination: &Destination) -> Result<()> {
        if self.claim.records != self.release.n_records() {
            return Err(Error::Internal("a claim speaks of other transactions than those that are published"));
        }
        destination.publish(|staging| {
            let (data, custody) =
                rayon::join(|| write_release(staging, self.claim, self.release), || self.write_custody(staging));
            data.and(custody)
        })
    }

    fn write_custody(&self, staging: &Staging) -> Result<()> {
        let text = serde_json::to_string_pretty(self.custody).map_err(|_| Error::Internal("custody is always JSON"))?;
        write_bytes(staging, Part::Custody, "custody.json", (text + "\n").as_bytes())?;
        write_map(staging, self.line_of)?;
        for page in self.pages {
            write_bytes(staging, page.part, page.name, page.text.as_bytes())?;
        }
        Ok(())
    }
}

/// Writes the package of a release whose groups were changed. `from` is the custody of the former one, if it was kept: it goes
/// on, with what happened and where each record is now; its reports speak of the groups as they were and are left behind.
pub fn publish_regrouped(destination: &Destination, mended: &Regrouped, from: Option<&Path>) -> Result<()> {
    let internal = |_| Error::Internal("custody is always JSON");
    let custody = match from {
        Some(folder) => {
            KeptRecoded::read(folder)?;
            let path = folder.join("custody.json");
            let text = std::fs::read(&path).map_err(|e| Error::io(&path, "read", e))?;
            let mut written: serde_json::Map<String, serde_json::Value> =
                serde_json::from_slice(&text).map_err(internal)?;
            written.insert("repaired".into(), serde_json::to_value(&mended.stats).map_err(internal)?);
            Some(serde_json::to_string_pretty(&written).map_err(internal)? + "\n")
        }
        None => None,
    };
    destination.publish(|staging| {
        write_release(staging, &mended.claim, &mended.release)?;
        custody.as_ref().map_or(Ok(()), |custody| {
            write_bytes(staging, Part::Custody, "custody.json", custody.as_bytes())?;
            write_map(staging, &mended.line_of)
        })
    })
}

fn write_release(staging: &Staging, claim: &RecodedClaim, release: &Recoded) -> Result<()> {
    let place = staging.place(Part::Release, TRANSACTIONS);
    staging.write(Part::Release, TRANSACTIONS, |file| {
        write_recoded(release, file).map_err(|e| Error::io(&place, "write", e))
    })?;
    write_bytes(staging, Part::Release, "claim.json", claim.to_json()?.as_bytes())
}

fn write_map(staging: &Staging, line_of: &[u32]) -> Result<()> {
    let place = staging.place(Part::Custody, "line_of.csv");
    staging.write(Part::Custody, "line_of.csv", |file| {
        write_line_of(line_of, file).map_err(|e| Error::io(&place, "write", e))
    })
}

/// What a custody folder holds that helps to verify and to measure the release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptRecoded {
    /// SHA-256 of the file that was protected, in hexadecimal.
    pub input_sha256: String,
    /// For each record the line that shows it, counted from 0.
    pub line_of: Vec<u32>,
}

impl KeptRecoded {
    /// Reads a custody folder.
    pub fn read(folder: &Path) -> Result<Self> {
        #[derive(Deserialize)]
        struct Head {
            format: String,
            version: u64,
            #[serde(default)]
            form: String,
        }
        #[derive(Deserialize)]
        struct Written {
            input: Input,
        }
        #[derive(Deserialize)]
        struct Input {
            sha256: String,
        }
        let path = folder.join("custody.json");
        let text = std::fs::read(&path).map_err(|e| Error::io(&path, "read", e))?;
        let place = Place::file(path.display().to_string());
        let bad = |_| Error::input(place.clone(), "is not a custody file of disjoin");
        let head: Head = serde_json::from_slice(&text).map_err(bad)?;
        if head.format != FORMAT || head.form != FORM {
            return Err(Error::input(place, "is not the custody of recoded transactions"));
        }
        if head.version != VERSION {
            let problem = format!("version {} of the custody is not known here; expected {VERSION}", head.version);
            return Err(Error::input(place, problem).with_hint("use the version of disjoin that wrote it"));
        }
        let written: Written = serde_json::from_slice(&text).map_err(bad)?;
        let path = folder.join("line_of.csv");
        let text = std::fs::read(&path).map_err(|e| Error::io(&path, "read", e))?;
        let line_of = parse_line_of(&text, &path.display().to_string())?;
        Ok(KeptRecoded { input_sha256: written.input.sha256, line_of })
    }
}

/// Writes a line `record,line` for each record, both numbered from 1.
fn write_line_of(line_of: &[u32], out: &mut impl Write) -> std::io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, out);
    writeln!(out, "{HEADING}")?;
    let mut text = Vec::new();
    for (&line, record) in line_of.iter().zip(1_u64..) {
        text.clear();
        write_number(record, &mut text);
        text.push(b',');
        write_number(u64::from(line) + 1, &mut text);
        text.push(b'\n');
        out.write_all(&text)?;
    }
    out.flush()
}

fn parse_line_of(text: &[u8], name: &str) -> Result<Vec<u32>> {
    let bad = |line| Error::input(Place::line(name, line), format!("expected the lines of \"{HEADING}\", in order"));
    let mut lines = std::str::from_utf8(text).map_err(|_| bad(1))?.lines();
    if lines.next() != Some(HEADING) {
        return Err(bad(1));
    }
    let mut line_of = Vec::new();
    for (line, number) in lines.zip(1_u64..) {
        let shown = line
            .split_once(',')
            .filter(|(record, _)| record.parse() == Ok(number))
            .and_then(|(_, shown)| shown.parse::<u32>().ok()?.checked_sub(1));
        line_of.push(shown.ok_or_else(|| bad(number + 1))?);
    }
    Ok(line_of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_map_is_read_back_and_a_bad_one_is_refused_with_its_line() {
        let mut text = Vec::new();
        write_line_of(&[0, 7, 12], &mut text).unwrap();
        assert_eq!(text, b"record,line\n1,1\n2,8\n3,13\n");
        assert_eq!(parse_line_of(&text, "x").unwrap(), [0, 7, 12]);
        for (text, line) in [("", 1), ("a,b\n", 1), ("record,line\n1,1\n3,1\n", 3), ("record,line\n1,0\n", 2)] {
            let error = parse_line_of(text.as_bytes(), "x").unwrap_err().to_string();
            assert!(error.starts_with(&format!("x:{line}:")), "{error}");
        }
    }
}
